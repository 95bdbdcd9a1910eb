#include "problems/automatic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "problems/loops.h"
#include "problems/mechatronic.h"
#include "problems/nonholonomic.h"

// ---- the list ----------------------------------------------------------------------------------------

typedef enum source { PLAIN, FOUR_BAR, NONHOLONOMIC, MECHATRONIC } source;

typedef double sizes[AUTOMATIC_MAX]; ///< of components; a single number stands for all

typedef struct entry {
  const char *name;
  source from;
  const test_problem *(*plain)(void);
  double t_end; ///< [s]
  bool varies;
  sizes size[AUTOMATIC_VARIABLES];
} entry;

// Ends: of the pendulum and the four-bar such that no error happens to pass through zero there. Sizes are the largest on the
// way, rounded; of whole vectors where a body has one, and not below a hundredth of the largest.
static const entry list[] = {
    {"swinging_pendulum", PLAIN, problem_pendulum_over_top, 2.6, true, {{1}, {6}, {50}}},
    {"double_pendulum",
     PLAIN,
     problem_double_pendulum_points,
     3.0,
     false,
     {{1, 1, 2, 2}, {3, 3, 8, 5}, {70}}},
    {"heavy_top_slow", PLAIN, problem_heavy_top_slow, 2.0, false, {{1}, {5, 5, 5, 6, 6, 6}, {450}}},
    {"heavy_top_fast",
     PLAIN,
     problem_heavy_top_fast,
     1.0,
     false,
     {{1}, {6, 6, 6, 150, 150, 150}, {750}}},
    {"andrews",
     PLAIN,
     problem_andrews,
     0.03,
     true,
     {{16, 16, 0.5, 0.5, 0.5, 0.5, 1}, {1100, 1400, 170, 290, 17, 290, 70}, {200}}},
    {"car_axis",
     PLAIN,
     problem_car_axis,
     3.0,
     false,
     {{0.05, 0.5, 1, 0.6}, {0.5, 0.03, 0.5, 2}, {0.006}}},
    {"four_bar",
     FOUR_BAR,
     NULL,
     1.8,
     true,
     {{0.5, 0.5, 5, 1.5, 1, 0.05, 1.5, 0.5, 5}, {3.5, 3, 7, 7, 5, 0.07, 3.5, 3, 7}, {60}}},
    {"slider_crank",
     PLAIN,
     problem_slider_crank,
     10.0,
     false,
     {{1.5, 1.5, 0.5}, {1, 0.4, 0.5}, {2}}},
    {"chaplygin_sleigh", NONHOLONOMIC, NULL, 5.0, false, {{4, 7, 2.5}, {1.5, 1.7, 2}, {0}, {1.8}}},
    {"controlled_spring", MECHATRONIC, NULL, 5.0, false, {{5}, {4}, {0}, {0}, {5}}},
    {"stiff_pendulum",
     PLAIN,
     problem_stiff_pendulum,
     2.0,
     false,
     {{1, 1, 1.5, 2}, {2.5, 1.5, 4.5, 2.5}, {40}}},
};

int automatic_count(void) { return (int)(sizeof list / sizeof list[0]); }

const char *automatic_name(int index) {
  assert(index >= 0 && index < automatic_count());
  return list[index].name;
}

const char *automatic_variable_name(int variable) {
  static const char *const names[AUTOMATIC_VARIABLES] = {"q", "v", "lambda", "psi", "x"};
  return names[variable];
}

// ---- opening -----------------------------------------------------------------------------------------

/// A problem and what has to be freed with it.
typedef struct opened {
  automatic_problem p; ///< first: the caller holds a pointer to it
  test_problem *four_bar;
} opened;

#define TAKE_FROM(p, from)                                                                         \
  ((p)->def = (from)->def, (p)->t0 = (from)->t0, (p)->q0 = (from)->q0, (p)->v0 = (from)->v0)

/// Fills exact[i], the solution at times[i].
static void solve(automatic_problem *p, const entry *e, const test_problem *four_bar, int i) {
  const double t = p->times[i];
  double(*x)[AUTOMATIC_MAX] = p->exact[i];
  double *q = x[AUTOMATIC_Q], *v = x[AUTOMATIC_V], *lambda = x[AUTOMATIC_LAMBDA];
  const test_problem *plain = four_bar;
  switch (e->from) {
  case NONHOLONOMIC:
    nonholonomic_sleigh()->exact(nonholonomic_sleigh(), t, q, v, NULL, lambda, x[AUTOMATIC_PSI]);
    break;
  case MECHATRONIC:
    mechatronic_spring()->exact(mechatronic_spring(), t, q, v, NULL, lambda, x[AUTOMATIC_X], NULL);
    break;
  case PLAIN: plain = e->plain(); // fall through
  case FOUR_BAR: plain->exact(plain, t, q, v, NULL, lambda); break;
  }
}

automatic_problem *automatic_open(int index) {
  assert(index >= 0 && index < automatic_count());
  const entry *e = &list[index];
  opened *o = calloc(1, sizeof *o);
  if (o == NULL) abort();
  automatic_problem *p = &o->p;
  p->name = e->name;
  p->t_end = e->t_end;
  p->varies = e->varies;
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k)
    for (int i = 0; i < AUTOMATIC_MAX; ++i)
      p->size[k][i] = e->size[k][1] > 0.0 ? e->size[k][i] : e->size[k][0];
  if (e->from == FOUR_BAR) o->four_bar = loops_nfourbar(1);
  switch (e->from) {
  case PLAIN: TAKE_FROM(p, e->plain()); break;
  case FOUR_BAR: TAKE_FROM(p, o->four_bar); break;
  case NONHOLONOMIC: TAKE_FROM(p, nonholonomic_sleigh()); break;
  case MECHATRONIC:
    TAKE_FROM(p, mechatronic_spring());
    p->x0 = mechatronic_spring()->x0;
    break;
  }
  as_space *space = NULL;
  if (as_space_create(p->def.parts, p->def.n_parts, &space, NULL)) abort();
  assert(as_space_nq(space) <= AUTOMATIC_MAX);
  p->count[AUTOMATIC_Q] = p->count[AUTOMATIC_V] = as_space_nv(space);
  p->count[AUTOMATIC_LAMBDA] = p->def.n_lambda;
  p->count[AUTOMATIC_PSI] = p->def.n_psi;
  p->count[AUTOMATIC_X] = p->def.n_x;
  as_space_destroy(space);
  for (int i = 0; i < AUTOMATIC_TIMES; ++i) {
    p->times[i] = p->t0 + (p->t_end - p->t0) * (i + 1) / AUTOMATIC_TIMES;
    solve(p, e, o->four_bar, i);
  }
  return p;
}

void automatic_close(automatic_problem *p) {
  if (p == NULL) return;
  opened *o = (opened *)p;
  if (o->four_bar) loops_free(o->four_bar);
  free(o);
}

// ---- running -----------------------------------------------------------------------------------------

void automatic_compare(const automatic_problem *p, const as_space *space, const as_state *s, int i,
                       double *off) {
  double d[AUTOMATIC_MAX];
  const double zero[AUTOMATIC_MAX] = {0}, *const values[] = {d, s->v, s->lambda, s->psi, s->x};
  as_space_difference(space, p->exact[i][AUTOMATIC_Q], s->q, d);
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) {
    off[k] = 0.0;
    if (p->count[k] == 0) continue;
    const double *exact = k == AUTOMATIC_Q ? zero : p->exact[i][k];
    double sum = 0.0;
    for (int j = 0; j < p->count[k]; ++j) {
      const double e = (values[k][j] - exact[j]) / p->size[k][j];
      sum += e * e;
    }
    off[k] = sqrt(sum / p->count[k]);
  }
}

/// The root of the mean square over times first, first + every, ...; where the solution is not known there is no error.
static void take_means(const automatic_problem *p, double (*off)[AUTOMATIC_VARIABLES], int first,
                       int every, double *mean) {
  int known = 0;
  for (int i = first; i < AUTOMATIC_TIMES; i += every) {
    if (isnan(p->exact[i][AUTOMATIC_Q][0])) continue;
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) mean[k] += off[i][k] * off[i][k];
    ++known;
  }
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) mean[k] = sqrt(mean[k] / known);
}

automatic_run automatic_integrate(const automatic_problem *p, const as_integrator_def *def,
                                  int looks) {
  const int every = AUTOMATIC_TIMES / looks;
  double off[AUTOMATIC_TIMES][AUTOMATIC_VARIABLES];
  for (int i = 0; i < AUTOMATIC_TIMES; ++i)
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) off[i][k] = (double)NAN;
  automatic_run r = {.status = AS_OK};
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  r.status = as_problem_create(&p->def, &problem, &r.error);
  if (r.status == AS_OK) r.status = as_integrator_create(problem, def, &integrator, &r.error);
  if (r.status == AS_OK) {
    const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0, .x = p->x0};
    r.status = as_integrator_start(integrator, &initial, NULL, &r.error);
  }
  for (int i = every - 1; i < AUTOMATIC_TIMES && r.status == AS_OK; i += every) {
    r.status = as_integrator_advance(integrator, p->times[i], &r.error);
    if (r.status) break;
    automatic_compare(p, as_problem_space(problem), as_integrator_state(integrator), i, off[i]);
  }
  enum { THIRD = AUTOMATIC_TIMES / AUTOMATIC_THIRDS };
  take_means(p, off, AUTOMATIC_TIMES - AUTOMATIC_TIMES / 10, 1, r.at_end);
  take_means(p, off, THIRD - 1, THIRD, r.at_thirds);
  take_means(p, off, 0, 1, r.overall);
  if (r.status == AS_OK) r.status = as_integrator_statistics(integrator, &r.work, &r.error);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return r;
}

double automatic_slope(const double *x, const double *y, int n) {
  double mean_x = 0.0, mean_y = 0.0, xy = 0.0, xx = 0.0;
  for (int i = 0; i < n; ++i) {
    mean_x += log(x[i]) / n;
    mean_y += log(y[i]) / n;
  }
  for (int i = 0; i < n; ++i) {
    xy += (log(x[i]) - mean_x) * (log(y[i]) - mean_y);
    xx += (log(x[i]) - mean_x) * (log(x[i]) - mean_x);
  }
  return xy / xx;
}
