/// Linear elastodynamics: a bar of n linear elements, fixed at one end, that swings in its first form.
///
/// With elements of length l, stiffness s = EA/l and mass m: K = s [-1 2 -1], M = m/6 [1 4 1], the last diagonals half of these. The first
/// form q_i = sin(i theta), theta = pi/(2 n), is one of the elements' own, with omega^2 = 6 s/m (2 - 2 cos theta)/(4 + 2 cos theta): the
/// solution of the equations is q cos(omega t), and an error is one of time steps.
///
/// All of M, K and the step are constant: a matrix is to be factorized once.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alphastep/alphastep.h"
#include "peers.h"
#ifdef HAVE_PETSC
#include "petsc_bar.h"
#endif

enum { STEPS = 104, WARM = 4, PERIOD = 100, ROUNDS = 3 };
static const double RHO = 0.8, STIFFNESS = 1.0, MASS = 1.0;

typedef struct bar {
  int n;
  double omega, h;
  double *q; ///< at the start
  int *col_start, *row;
} bar;

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "peers: %s\n", error->message);
  exit(1);
}

static void *take(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (block) return block;
  fprintf(stderr, "peers: out of memory\n");
  exit(1);
}

static bar make_bar(int n) {
  const double pi = acos(-1.0), theta = pi / (2.0 * n);
  // 2 - 2 cos(theta) without its cancellation
  const double bend = 4.0 * sin(0.5 * theta) * sin(0.5 * theta);
  bar b = {.n = n, .omega = sqrt(6.0 * STIFFNESS / MASS * bend / (4.0 + 2.0 * cos(theta)))};
  b.h = 2.0 * pi / b.omega / PERIOD;
  b.q = take((size_t)n, sizeof *b.q);
  b.col_start = take((size_t)n + 1, sizeof *b.col_start);
  b.row = take(3 * (size_t)n, sizeof *b.row);
  int entries = 0;
  for (int j = 0; j < n; ++j) {
    b.q[j] = sin((j + 1) * theta);
    for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; ++i) b.row[entries++] = i;
    b.col_start[j + 1] = entries;
  }
  return b;
}

static void free_bar(bar *b) {
  free(b->q);
  free(b->col_start);
  free(b->row);
}

/// The largest difference from the solution at t.
static double find_error(const bar *b, const double *q, double t) {
  double most = 0.0;
  const double factor = cos(b->omega * t);
  for (int i = 0; i < b->n; ++i) most = fmax(most, fabs(q[i] - factor * b->q[i]));
  return most;
}

// ---- alphastep --------------------------------------------------------------------------------------

/// Adds a tridiagonal matrix in the order of its pattern.
static void add(const bar *b, as_matrix *m, double diagonal, double beside) {
  int k = 0;
  for (int j = 0; j < b->n; ++j) {
    if (j > 0) m->value[k++] += beside;
    m->value[k++] += j == b->n - 1 ? 0.5 * diagonal : diagonal;
    if (j + 1 < b->n) m->value[k++] += beside;
  }
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  add(user, m, MASS * 4.0 / 6.0, MASS / 6.0);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const bar *b = user;
  const double *q = at->q;
  const int n = b->n;
  out[0] = -STIFFNESS * (2.0 * q[0] - q[1]);
  for (int i = 1; i < n - 1; ++i) out[i] = -STIFFNESS * (2.0 * q[i] - q[i - 1] - q[i + 1]);
  out[n - 1] = -STIFFNESS * (q[n - 1] - q[n - 2]);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q))
    add(user, &blocks[AS_BLOCK_F_Q], -2.0 * STIFFNESS, STIFFNESS);
  return AS_DONE;
}

static peers_row run_ours(bar *b, const char *problem) {
  const as_space_part part = {AS_SPACE_RN, b->n};
  const as_pattern pattern = {b->col_start, b->row};
  as_problem_def def = as_default_problem_def();
  as_problem *p = NULL;
  as_error error;
  def.parts = &part;
  def.n_parts = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = mass;
  def.force = force;
  def.jacobian = jacobian;
  def.block[AS_BLOCK_M] = (as_block_def){AS_BLOCK_GIVEN, pattern};
  def.block[AS_BLOCK_F_Q] = (as_block_def){AS_BLOCK_GIVEN, pattern};
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
  def.time_scale = 1.0 / b->omega;
  def.user = b;
  stop_if(as_problem_create(&def, &p, &error), &error);
  as_integrator_def how = as_default_integrator_def();
  as_integrator *integrator = NULL;
  how.rho_inf = RHO;
  stop_if(as_integrator_create(p, &how, &integrator, &error), &error);
  double *rest = take((size_t)b->n, sizeof *rest);
  const as_initial initial = {.q = b->q, .v = rest};
  peers_row row = {.solver = PEERS_OURS, .steps = STEPS, .cpu = (double)INFINITY};
  as_statistics before, after;
  for (int i = 0; i < ROUNDS; ++i) {
    double start = 0.0;
    stop_if(as_integrator_start(integrator, &initial, NULL, &error), &error);
    for (int k = 0; k < STEPS; ++k) {
      if (k == WARM) {
        stop_if(as_integrator_statistics(integrator, &before, &error), &error);
        start = peers_cpu_seconds();
      }
      stop_if(as_integrator_step(integrator, b->h, &error), &error);
    }
    row.cpu = fmin(row.cpu, peers_cpu_seconds() - start);
  }
  stop_if(as_integrator_statistics(integrator, &after, &error), &error);
  const as_state *s = as_integrator_state(integrator);
  row.error = find_error(b, s->q, s->t);
  row.per_step = row.cpu / (STEPS - WARM) / b->n;
  snprintf(row.problem, sizeof row.problem, "%s", problem);
  snprintf(row.setting, sizeof row.setting, "%ld factorizations, %ld solves in %d steps",
           after.factorizations - before.factorizations, after.solves - before.solves,
           STEPS - WARM);
  as_integrator_destroy(integrator);
  as_problem_destroy(p);
  free(rest);
  return row;
}

// ---- PETSc ------------------------------------------------------------------------------------------

#ifdef HAVE_PETSC
static peers_row run_petsc(const bar *b, const char *problem) {
  peers_row row = {.solver = "TSALPHA2", .steps = STEPS, .cpu = (double)INFINITY};
  const petsc_bar in = {.n = b->n,
                        .mass = {MASS * 4.0 / 6.0, MASS / 6.0},
                        .stiffness = {2.0 * STIFFNESS, -STIFFNESS},
                        .q = b->q,
                        .h = b->h,
                        .rho_inf = RHO,
                        .steps = STEPS};
  double *q = take((size_t)b->n, sizeof *q);
  int timed = 1;
  for (int i = 0; i < ROUNDS; ++i) {
    double seconds = (double)NAN;
    const int failed = petsc_bar_run(&in, q, &seconds, &timed);
    row.cpu = fmin(row.cpu, seconds);
    row.error = failed ? (double)NAN : find_error(b, q, STEPS * b->h);
  }
  row.per_step = row.cpu / timed / b->n;
  snprintf(row.problem, sizeof row.problem, "%s", problem);
  snprintf(row.setting, sizeof row.setting, "matrix factorized once, LU in the given order");
  free(q);
  return row;
}
#endif

void peers_bar(peers_table *t) {
  const int n = t->quick ? 10000 : 100000;
  char problem[PEERS_TEXT];
  bar b = make_bar(n);
  snprintf(problem, sizeof problem, "bar of %d elements", n);
  peers_add(t, run_ours(&b, problem));
#ifdef HAVE_PETSC
  peers_add(t, run_petsc(&b, problem));
#endif
  peers_expect(t, problem, "TSALPHA2", 0.01, 0.2);
  free_bar(&b);
}
