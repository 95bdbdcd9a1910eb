#include "subjects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/loops.h"
#include "problems/problems.h"

static double *copied(const double *x, int n) {
  double *const copy = malloc((size_t)n * sizeof(double));
  if (copy && x) memcpy(copy, x, (size_t)n * sizeof(double));
  return copy;
}

// ---- the chain, from horizontal at rest -------------------------------------------------------------

/// Tips after a second, from an independent program.
static const struct {
  int n_links;
  double x, z; // [m]
} tips[] = {{10, 7.527507986527, -4.906153396808},
            {100, 99.037539198921, -4.905},
            {1000, 999.564837964703, -4.905}};

static double chain_error(const subject *s, const as_state *state) {
  double tip[3];
  chain_tip(&s->links, state->q, tip);
  for (size_t i = 0; i < sizeof tips / sizeof tips[0]; ++i)
    if (tips[i].n_links == s->links.n_links)
      return sqrt((tip[0] - tips[i].x) * (tip[0] - tips[i].x) + tip[1] * tip[1] +
                  (tip[2] - tips[i].z) * (tip[2] - tips[i].z));
  return (double)NAN;
}

static bool open_chain(subject *s, int n_links) {
  if (!chain_init(&s->links, n_links)) return false;
  s->def = s->links.def;
  s->h = 1e-3;
  s->steps = n_links <= 1000 ? 1000 : 100;
  if (n_links <= 1000) s->error = chain_error;
  s->q0 = copied(NULL, 7 * n_links);
  if (s->q0) chain_straight(&s->links, s->q0);
  return s->q0 != NULL;
}

// ---- problems of the tests --------------------------------------------------------------------------

static double q_error(const subject *s, const as_state *state) {
  enum { MOST = 512 };
  const test_problem *p = s->data;
  double q[MOST], d[MOST], sum = 0.0;
  as_space *space = NULL;
  if (as_space_create(p->def.parts, p->def.n_parts, &space, NULL)) return (double)NAN;
  const int n = as_space_nv(space);
  const bool fits = n <= MOST && as_space_nq(space) <= MOST;
  if (fits) {
    p->exact(p, state->t, q, NULL, NULL, NULL);
    as_space_difference(space, q, state->q, d);
    for (int i = 0; i < n; ++i) sum += d[i] * d[i];
  }
  as_space_destroy(space);
  return fits ? sqrt(sum) : (double)NAN;
}

static bool open_test_problem(subject *s, const test_problem *p, double h, double t_end) {
  as_space *space = NULL;
  if (as_space_create(p->def.parts, p->def.n_parts, &space, NULL)) return false;
  s->def = p->def;
  s->data = p;
  s->t0 = p->t0;
  s->h = h;
  s->steps = (int)lround((t_end - p->t0) / h);
  s->error = q_error;
  s->q0 = copied(p->q0, as_space_nq(space));
  s->v0 = copied(p->v0, as_space_nv(space));
  as_space_destroy(space);
  return s->q0 && s->v0;
}

bool subject_open(subject *s, const char *name) {
  *s = (subject){0};
  snprintf(s->name, sizeof s->name, "%s", name);
  if (strncmp(name, "chain-", 6) == 0) {
    const long n = strtol(name + 6, NULL, 10);
    return n > 0 && n <= 10000000 && open_chain(s, (int)n);
  }
  if (strncmp(name, "fourbar-", 8) == 0) {
    const long n = strtol(name + 8, NULL, 10);
    if (n < 1 || n > 100000) return false;
    s->loops = loops_nfourbar((int)n);
    return open_test_problem(s, s->loops, 1e-3, 1.0);
  }
  if (strcmp(name, "top") == 0) return open_test_problem(s, problem_heavy_top_fast(), 1e-3, 1.0);
  if (strcmp(name, "andrews") == 0) return open_test_problem(s, problem_andrews(), 1e-5, 0.03);
  return false;
}

void subject_close(subject *s) {
  chain_free(&s->links);
  if (s->loops) loops_free(s->loops);
  free(s->pattern);
  free(s->q0);
  free(s->v0);
  *s = (subject){0};
}

// ---- a decaying bar -----------------------------------------------------------------------------------

/// M = I, f = -2 v - q - K q with K = tridiag(-1, 2, -1): every mode obeys l^2 + 2 l + 1 + k = 0, so that
/// l = -1 +- i sqrt(k).
static int bar_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < m->cols; ++i) m->value[i] = 1.0;
  return AS_DONE;
}

static int bar_force(const as_point *at, double *f, void *user) {
  const int n = ((const subject *)user)->part.count;
  for (int i = 0; i < n; ++i) {
    const double left = i > 0 ? at->q[i - 1] : 0.0, right = i + 1 < n ? at->q[i + 1] : 0.0;
    f[i] = -2.0 * at->v[i] - 3.0 * at->q[i] + left + right;
  }
  return AS_DONE;
}

static int bar_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at, (void)user;
  const as_matrix *f_q = &blocks[AS_BLOCK_F_Q], *f_v = &blocks[AS_BLOCK_F_V];
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q))
    for (int j = 0; j < f_q->cols; ++j)
      for (int k = f_q->col_start[j]; k < f_q->col_start[j + 1]; ++k)
        f_q->value[k] = f_q->row[k] == j ? -3.0 : 1.0;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V))
    for (int j = 0; j < f_v->cols; ++j) f_v->value[j] = -2.0;
  return AS_DONE;
}

/// The pattern with all |row - column| <= width, from *memory on.
static as_pattern band(int n, int width, int **memory) {
  int *const col_start = *memory, *const row = col_start + n + 1;
  int count = 0;
  col_start[0] = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = j - width; i <= j + width; ++i)
      if (i >= 0 && i < n) row[count++] = i;
    col_start[j + 1] = count;
  }
  *memory = row + count;
  return (as_pattern){col_start, row};
}

bool subject_open_bar(subject *s, int n, bool spread) {
  *s = (subject){.name = "bar", .h = 0.1, .part = {AS_SPACE_RN, n}};
  s->q0 = copied(NULL, n);
  s->pattern = malloc(sizeof(int) * 9 * ((size_t)n + 1));
  if (s->q0 == NULL || s->pattern == NULL) return false;
  for (int i = 0; i < n; ++i) s->q0[i] = spread ? cos((double)i * i) : i == 0;
  as_problem_def *def = &s->def;
  *def = as_default_problem_def();
  def->parts = &s->part;
  def->n_parts = 1;
  def->mass_constant = true;
  def->mass = bar_mass;
  def->force = bar_force;
  def->jacobian = bar_jacobian;
  def->user = s;
  const struct {
    as_block block;
    int width;
  } blocks[] = {{AS_BLOCK_M, 0}, {AS_BLOCK_F_V, 0}, {AS_BLOCK_F_Q, 1}};
  int *memory = s->pattern;
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) {
    def->block[blocks[i].block].source = AS_BLOCK_GIVEN;
    def->block[blocks[i].block].pattern = band(n, blocks[i].width, &memory);
  }
  return true;
}
