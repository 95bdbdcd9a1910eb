/// Other forms of a linear system: A against short runs, the descriptor form against the reduced one, forces that depend on reactions of
/// redundant joints, transmission zeros.
///
///     test_linear_forms              all
///     test_linear_forms FIRST COUNT  other random machines, with what became of them
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "analysis/linearization.h"
#include "core/kinematics/problem.h"
#include "files.h"
#include "linear_differences.h"
#include "random_machine.h"
#include "share.h"

void dggev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
            double *b, const int *ldb, double *alphar, double *alphai, double *beta, double *vl,
            const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info,
            size_t jobvl_length, size_t jobvr_length);

/// The linear system about where a machine is after some time; NULL: it does not get there, or is refused.
static as_linearization *in_motion(const as_machine *machine, double t,
                                   const as_linearization_def *how, as_error *error) {
  const as_problem *p = as_model_problem(machine->model);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *run = NULL;
  as_linearization *l = NULL;
  def.step = t > 0.0 ? t / 50.0 : 1e-3;
  assert_int_equal(as_integrator_create(p, &def, &run, error), AS_OK);
  as_status status = as_integrator_start(run, as_model_initial(machine->model), NULL, error);
  if (status == AS_OK && t > 0.0) status = as_integrator_advance(run, t, error);
  if (status == AS_OK) {
    const as_state *at = as_integrator_state(run);
    const as_initial initial = {.t = at->t,
                                .q = at->q,
                                .v = at->v,
                                .x = at->x,
                                .lambda = at->lambda,
                                .psi = at->psi,
                                .y = at->y,
                                .u = at->u};
    as_linearize(p, &initial, how, &l, error);
  }
  as_integrator_destroy(run);
  return l;
}

// ---- descriptor form --------------------------------------------------------------------------------

/// The unknowns of the descriptor form that belong to a column of the reduced one.
static void unknowns_of(const as_linearization *l, const as_descriptor *d, int j, double *z) {
  const asi_linear *inside = l->inside;
  const asi_linear_column of = asi_linear_column_at(inside, j);
  const int n = inside->n, m = l->problem->def.n_lambda;
  double *seen = calloc(2 * (size_t)n + 1, sizeof *seen);
  memcpy(seen, of.xi, (size_t)n * sizeof *seen);
  memcpy(seen + n, of.dv, (size_t)n * sizeof *seen);
  asi_axes_to(&inside->axes, seen);
  asi_axes_to(&inside->axes, seen + n);
  for (int i = 0; i < d->n; ++i) {
    const as_linear_state u = d->unknown[i];
    const bool same = j < l->n_states && l->state[j].kind == u.kind && l->state[j].index == u.index;
    z[i] = u.kind == AS_LINEAR_POSITION   ? seen[u.index]
           : u.kind == AS_LINEAR_VELOCITY ? seen[n + u.index]
           : u.kind == AS_LINEAR_STATE    ? of.dx[u.index]
           : u.kind == AS_LINEAR_LAMBDA   ? of.multiplier[u.index]
           : u.kind == AS_LINEAR_PSI      ? of.multiplier[m + u.index]
           : u.kind == AS_LINEAR_OUTPUT   ? of.dy[u.index]
                                          : (double)same;
  }
  free(seen);
}

static void add_product(const double *m, int rows, int cols, double factor, const double *x,
                        double *out, double *size) {
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) {
      const double term = factor * m[(size_t)j * (size_t)rows + (size_t)i] * x[j];
      out[i] += term;
      size[i] += fabs(term);
    }
}

/// What Z, the completions of the reduced states, leaves of E Z A = A_z Z and E Z B = A_z Z_u + B_z, relative to the largest term of
/// each row or of the column.
static double descriptor_error(as_linearization *l) {
  as_descriptor *d = NULL;
  as_error error;
  if (as_descriptor_create(l, &d, &error)) fail_msg("%s", error.message);
  const int n = d->n, states = l->n_states;
  double *z = calloc((size_t)n * (size_t)states + 1, sizeof *z), worst = 0.0;
  double *line = calloc(4 * (size_t)n + 1, sizeof *line);
  for (int j = 0; j < states; ++j) {
    unknowns_of(l, d, j, z + (size_t)j * (size_t)n);
    for (int i = 0; i < states; ++i) // its states are unknowns
      assert_true(fabs(z[(size_t)j * (size_t)n + (size_t)d->place[i]] - (i == j)) < 1e-12);
  }
  for (int j = 0; j < states + l->n_inputs; ++j) {
    double *rate = line, *left = line + n, *size = line + 2 * n, *at = line + 3 * n, most = 0.0;
    memset(line, 0, 4 * (size_t)n * sizeof *line);
    const double *reduced = j < states ? l->a + (size_t)j * (size_t)states
                                       : l->b + (size_t)(j - states) * (size_t)states;
    add_product(z, n, states, 1.0, reduced, rate, size); // z' in the space as it is now
    memset(size, 0, (size_t)n * sizeof *size);
    unknowns_of(l, d, j, at);
    add_product(d->e, n, n, 1.0, rate, left, size);
    add_product(d->a, n, n, -1.0, at, left, size);
    for (int i = 0; i < n && j >= states; ++i)
      left[i] -= d->b[(size_t)(j - states) * (size_t)n + (size_t)i];
    for (int i = 0; i < n; ++i) most = fmax(most, size[i]);
    for (int i = 0; i < n; ++i) {
      const double off = fabs(left[i]) / (size[i] + 1e-6 * most + 1e-9);
      worst = off <= worst ? worst : off; // NaN counts
    }
  }
  free(z);
  free(line);
  as_descriptor_destroy(d);
  return worst;
}

static bool descriptor_one(uint64_t seed, bool tell) {
  random_machine made = random_machine_make(seed);
  bool compared = false;
  if (made.sort == RANDOM_FREE) {
    as_machine *machine = files_parse(made.text);
    as_linearization_def how = as_default_linearization_def();
    as_error error;
    const int n = as_problem_sizes(as_model_problem(machine->model)).v;
    double *force = calloc((size_t)n, sizeof *force);
    for (int i = 0; i < n; ++i) force[i] = cos(i + 1.0);
    const as_linear_input input = {.signal = -1, .force = force};
    how.inputs = &input;
    how.n_inputs = 1;
    how.axes = seed % 2 ? AS_AXES_OWN : AS_AXES_TURNING;
    if (seed % 4 == 0) how.turning[0] = 0.3, how.turning[2] = -1.1;
    as_linearization *l = in_motion(machine, made.t_end / 4.0, &how, &error);
    const double off = l ? descriptor_error(l) : 0.0;
    compared = l && l->n_states > 0;
    if (tell || off > 1e-6)
      print_message("seed %lu: %d states, %d redundant, off by %.2g %s\n", (unsigned long)seed,
                    l ? l->n_states : 0, l ? l->n_redundant : 0, off, l ? "" : error.message);
    if (!tell) assert_true(off <= 1e-6);
    as_linearization_destroy(l);
    free(force);
    as_machine_destroy(machine);
  }
  random_machine_free(&made);
  return compared;
}

static void test_descriptor_random(void **state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed)
    if (share_has((long)seed)) compared += descriptor_one(seed, false);
  print_message("%d machines compared\n", compared);
  assert_true(compared > 2);
}

/// A rod on a cart whose motion is prescribed: what moves a constraint is an unknown of the descriptor form, too.
static void test_descriptor_law(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
      "  cart: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
      "  rod: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0, 0, -0.6]}\n"
      "joints:\n  rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, 0], axis: [1, 0, "
      "0]}\n"
      "  move: {type: motion, joint: rail, law: {slope: 1.5}}\n"
      "  pin: {type: revolute, bodies: [cart, rod], point: [0, 0, 0], axis: [0, 1, 0]}\n");
  const int rows = as_problem_sizes(as_model_problem(machine->model)).lambda;
  double *moves = calloc((size_t)rows, sizeof *moves);
  moves[as_model_joint_row(machine->model, as_model_find_joint(machine->model, "move"))] = 1.0;
  const as_linear_input input = {.signal = -1, .moves = moves};
  as_linearization_def how = as_default_linearization_def();
  as_error error;
  how.inputs = &input;
  how.n_inputs = 1;
  as_linearization *l = in_motion(machine, 0.3, &how, &error);
  assert_non_null(l);
  assert_true(descriptor_error(l) < 1e-8);
  as_linearization_destroy(l);
  free(moves);
  as_machine_destroy(machine);
}

/// Each eigenvalue of A is one of the pencil; the others are infinite.
static void test_descriptor_eigenvalues(void **state) {
  (void)state;
  static const char *const settings[] = {"parameters.v=5"};
  as_machine *machine = files_load("examples/machines/bicycle/model.yaml", settings, 1);
  const as_linearization_def how = as_default_linearization_def();
  as_error error;
  as_linearization *l = in_motion(machine, 0.0, &how, &error);
  as_modes *modes = NULL;
  as_descriptor *d = NULL;
  assert_non_null(l);
  assert_int_equal(as_modes_create(l, &modes, &error), AS_OK);
  assert_int_equal(as_descriptor_create(l, &d, &error), AS_OK);
  assert_true(descriptor_error(l) < 1e-8);
  const int n = d->n, one = 1, size = 16 * n;
  const size_t all = (size_t)n * (size_t)n;
  double *a = calloc(2 * all + 3 * (size_t)n + (size_t)size, sizeof *a), *e = a + all, none = 0.0;
  double *re = e + all, *im = re + n, *beta = im + n, *work = beta + n;
  int info = 0, finite = 0;
  memcpy(a, d->a, all * sizeof *a);
  memcpy(e, d->e, all * sizeof *e);
  dggev_("N", "N", &n, a, &n, e, &n, re, im, beta, &none, &one, &none, &one, work, &size, &info, 1,
         1);
  assert_int_equal(info, 0);
  for (int i = 0; i < modes->n; ++i) {
    const as_mode *m = &modes->mode[i];
    double nearest = (double)INFINITY;
    if (m->free) continue; // double zeros are as sensitive as they are
    for (int k = 0; k < n; ++k)
      nearest = fmin(nearest, hypot(re[k] / beta[k] - m->re, im[k] / beta[k] - m->im));
    assert_true(nearest < 1e-7 * hypot(m->re, m->im));
  }
  for (int k = 0; k < n; ++k) finite += hypot(re[k], im[k]) < 1e3 * fabs(beta[k]);
  assert_int_equal(finite, l->n_states);
  free(a);
  as_descriptor_destroy(d);
  as_modes_destroy(modes);
  as_linearization_destroy(l);
  as_machine_destroy(machine);
}

// ---- forces that depend on reactions of redundant joints ----------------------------------------------

/// A four-bar of revolutes in space (three rows too many), its coupler out of plane and all pins dry: how its joints share the load
/// changes with the position, and friction with that.
static const char *const dry_four_bar =
    "alphastep: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
    "  crank: {mass: 1, inertia: [0.01, 0.02, 0.02], position: [0, 0.2, 0]}\n"
    "  coupler: {mass: 3, inertia: [0.1, 0.3, 0.25], position: [0.55, 0.47, 0.21]}\n"
    "  rocker: {mass: 1.5, inertia: [0.02, 0.03, 0.04], position: [1.0, 0.3, -0.05]}\n"
    "joints:\n"
    "  p: {type: revolute, bodies: [ground, crank], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  q: {type: revolute, bodies: [crank, coupler], point: [0, 0.4, 0], axis: [0, 0, 1]}\n"
    "  r: {type: revolute, bodies: [coupler, rocker], point: [1.0, 0.6, 0.1], axis: [0, 0, 1]}\n"
    "  s: {type: revolute, bodies: [rocker, ground], point: [1.1, 0, 0.02], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  a: {type: joint_friction, joint: p, coefficient: 0.3, radius: 0.02, length: 0.05, "
    "transition_speed: 0.1}\n"
    "  b: {type: joint_friction, joint: q, coefficient: 0.2, radius: 0.03, length: 0.04, "
    "transition_speed: 0.1}\n"
    "  c: {type: joint_friction, joint: r, coefficient: 0.25, radius: 0.02, length: 0.05, "
    "transition_speed: 0.1}\n"
    "  d: {type: joint_friction, joint: s, coefficient: 0.3, radius: 0.025, length: 0.05, "
    "transition_speed: 0.1}\n";

static void test_dry_redundant(void **state) {
  (void)state;
  as_machine *machine = files_parse(dry_four_bar);
  as_linearization_def how = as_default_linearization_def();
  as_error error;
  how.axes = AS_AXES_OWN;
  for (int k = 1; k < 4; ++k) {
    int i = 0, j = 0;
    as_linearization *l = in_motion(machine, 0.15 * k, &how, &error);
    if (l == NULL) fail_msg("%s", error.message);
    assert_int_equal(l->n_redundant, 3);
    assert_int_equal(l->n_states, 2);
    const double off = linear_compare(l, 0.1, &i, &j), form = descriptor_error(l);
    print_message("at %g s: off by %.2g, descriptor form by %.2g\n", 0.15 * k, off, form);
    assert_true(off >= 0.0 && off < 1e-6);
    assert_true(form < 1e-6);
    as_linearization_destroy(l);
  }
  as_machine_destroy(machine);
}

// ---- short runs -------------------------------------------------------------------------------------

enum {
  ROWS = 4,
  STEPS = 24
}; // points after the start; steps to each, of runs that are finer if that is not enough

/// A state that is being run on, from a start.
static as_integrator *run_from(const as_problem *p, const as_state *at, double step,
                               as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *run = NULL;
  const as_initial initial = {.t = at->t,
                              .q = at->q,
                              .v = at->v,
                              .x = at->x,
                              .lambda = at->lambda,
                              .psi = at->psi,
                              .y = at->y,
                              .u = at->u};
  def.step = step;
  def.newton.rtol = 1e-13;
  def.newton.atol = 1e-14;
  if (as_integrator_create(p, &def, &run, error)) return NULL;
  if (as_integrator_start(run, &initial, NULL, error) == AS_OK) return run;
  as_integrator_destroy(run);
  return NULL;
}

/// States of a run, as increments to another: ROWS + 1 rows of n_states numbers.
static bool follow(const as_linearization *l, const as_state *from, const as_state *other, double h,
                   double step, double *out) {
  const as_problem *p = l->problem;
  as_error error;
  as_integrator *a = run_from(p, from, step, &error), *b = run_from(p, other, step, &error);
  double *xi = calloc((size_t)p->n, sizeof *xi);
  bool ok = a && b && xi;
  for (int k = 0; k <= ROWS && ok; ++k) {
    const double t = from->t + k * h;
    if (k > 0)
      ok = as_integrator_advance(a, t, &error) == AS_OK &&
           as_integrator_advance(b, t, &error) == AS_OK;
    const as_state *x = as_integrator_state(a), *y = as_integrator_state(b);
    as_space_difference(p->space, x->q, y->q, xi);
    for (int i = 0; i < l->n_states; ++i) {
      const as_linear_state s = l->state[i];
      out[(size_t)k * (size_t)l->n_states + (size_t)i] = s.kind == AS_LINEAR_POSITION ? xi[s.index]
                                                         : s.kind == AS_LINEAR_VELOCITY
                                                             ? y->v[s.index] - x->v[s.index]
                                                             : y->x[s.index] - x->x[s.index];
    }
  }
  as_integrator_destroy(a);
  as_integrator_destroy(b);
  free(xi);
  return ok;
}

/// The rate of the states along a column: central differences of runs over 4 h. The derivative at the start is that of the polynomial through the
/// five points.
static bool run_difference(as_linearization *l, int j, double h, double step, double *out) {
  static const double weight[ROWS + 1] = {-25.0 / 12.0, 4.0, -3.0, 4.0 / 3.0, -0.25};
  const size_t n = (size_t)l->n_states;
  double *x = calloc((ROWS + 1) * n + 1, sizeof *x);
  const double e = 0.1 * as_linearization_reach(l, j);
  bool ok = true;
  memset(out, 0, n * sizeof *out);
  for (int side = -1; side <= 1 && ok; side += 2) {
    const as_state *moved;
    as_error error;
    assert_int_equal(as_linearization_moved(l, j, side * e, &moved, &error), AS_OK);
    ok = follow(l, as_linearization_state(l), moved, h, step, x);
    for (int k = 0; k <= ROWS; ++k)
      for (size_t i = 0; i < n; ++i)
        out[i] += side * weight[k] * x[(size_t)k * n + i] / (2.0 * e * h);
  }
  free(x);
  return ok;
}

static double run_error(as_linearization *l, int finer) {
  const size_t n = (size_t)l->n_states;
  double *out = calloc(n + 1, sizeof *out), worst = 0.0;
  as_modes *modes = NULL;
  as_error error;
  assert_int_equal(as_modes_create(l, &modes, &error), AS_OK);
  double fastest = 1.0;
  for (int i = 0; i < modes->n; ++i)
    fastest = fmax(fastest, hypot(modes->mode[i].re, modes->mode[i].im));
  const double h = 0.005 / fastest / finer;
  for (size_t j = 0; j < n && worst >= 0.0; ++j) {
    double size = 1.0;
    if (!run_difference(l, (int)j, h, h / STEPS / finer, out)) worst = -1.0;
    for (size_t i = 0; i < n; ++i) size = fmax(size, fabs(l->a[j * n + i]));
    for (size_t i = 0; i < n && worst >= 0.0; ++i)
      worst = fmax(worst, fabs(out[i] - l->a[j * n + i]) / size);
  }
  as_modes_destroy(modes);
  free(out);
  return worst;
}

static bool run_one(uint64_t seed, bool tell) {
  random_machine made = random_machine_make(seed);
  bool compared = false;
  if (made.sort == RANDOM_FREE && !made.rough) {
    as_machine *machine = files_parse(made.text);
    as_linearization_def how = as_default_linearization_def();
    as_error error;
    how.axes = AS_AXES_OWN;
    as_linearization *l = in_motion(machine, made.t_end / 4.0, &how, &error);
    double off = l ? run_error(l, 1) : -1.0;
    if (off > 3e-7) off = fmin(off, run_error(l, 2));
    compared = off >= 0.0;
    if (tell || off > 1e-6)
      print_message("seed %lu: %d states, runs off by %.2g\n", (unsigned long)seed,
                    l ? l->n_states : 0, off);
    if (!tell) assert_true(off <= 1e-6);
    as_linearization_destroy(l);
    as_machine_destroy(machine);
  }
  random_machine_free(&made);
  return compared;
}

/// Machines of all joints in motion; stiff ones, whose fastest motion is over before the others have begun, are left to test_linearization.
static void test_short_runs(void **state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 1; seed <= 80; ++seed)
    if (share_has((long)seed)) compared += run_one(seed, false);
  print_message("%d machines compared\n", compared);
  assert_true(compared > 2);
}

// ---- zeros ------------------------------------------------------------------------------------------

enum { MOST = 12 };

typedef struct zeros {
  int n;
  double re[MOST], im[MOST];
} zeros;

static zeros zeros_of(const as_linear_system *s) {
  zeros z;
  as_error error;
  if (as_transmission_zeros(s, z.re, z.im, &z.n, &error)) fail_msg("%s", error.message);
  return z;
}

static void assert_zero(const zeros *z, double re, double im, double within) {
  double nearest = (double)INFINITY;
  for (int i = 0; i < z->n; ++i) nearest = fmin(nearest, hypot(z->re[i] - re, z->im[i] - im));
  if (!(nearest <= within)) {
    for (int i = 0; i < z->n; ++i) print_message("%.15g %.15g\n", z->re[i], z->im[i]);
    fail_msg("no zero %.15g + %.15g i", re, im);
  }
}

static void assert_same_zeros(const zeros *a, const zeros *b, double within) {
  assert_int_equal(a->n, b->n);
  for (int i = 0; i < a->n; ++i) assert_zero(b, a->re[i], a->im[i], within);
}

/// Two masses of 2 and 3 kg between walls, springs of 40, 50 and 70 N/m, in units that are out of proportion by `unit`.
static void test_zeros_of_masses(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    const double unit = k == 0 ? 1.0 : k == 1 ? 1e6 : 1e-9;
    const double a[] = {0, 0, -45, 50.0 / 3, 0, 0, 25, -40, 1, 0, 0, 0, 0, 1, 0, 0};
    const double b[] = {0, 0, unit / 2, 0}, x1[] = {unit, 0, 0, 0}, x2[] = {0, unit, 0, 0};
    const double a1[] = {-45 / unit, 25 / unit, 0, 0}, d0 = 0.0, d1 = 0.5;
    const as_linear_system own = {4, 1, 1, a, b, x1, &d0}, other = {4, 1, 1, a, b, x2, &d0};
    const as_linear_system acceleration = {4, 1, 1, a, b, a1, &d1};
    zeros z = zeros_of(&own); // where the second swings alone
    assert_int_equal(z.n, 2);
    assert_zero(&z, 0.0, sqrt(40.0), 1e-9);
    z = zeros_of(&other);
    assert_int_equal(z.n, 0);
    if (k > 0) continue; // D has its own unit
    z = zeros_of(&acceleration);
    assert_int_equal(z.n, 4);
    assert_zero(&z, 0.0, sqrt(40.0), 1e-9);
    assert_zero(&z, 0.0, 0.0, 1e-12); // a double one
  }
}

/// Zeros stay where states or inputs are fed back: A + B K, C + D K and A + L C, B + L D. They stay where outputs are told twice.
static void test_zeros_stay(void **state) {
  (void)state;
  enum { N = 6, M = 2, P = 2 };
  double a[N * N], b[N * M], c[P * N], k[M * N];
  for (int rank = 0; rank <= 2; ++rank) {
    double d[P * M] = {0.0}, c2[2 * P * N], d2[2 * P * M];
    for (int i = 0; i < N * N; ++i) a[i] = sin(3.1 * i + 0.4);
    for (int i = 0; i < N * M; ++i) b[i] = cos(1.7 * i), k[i] = sin(0.9 * i + 2.0);
    for (int i = 0; i < P * N; ++i) c[i] = sin(2.3 * i + 1.0);
    if (rank > 0) d[0] = 1.0, d[1] = 0.5, d[2] = 2.0, d[3] = 1.0;
    if (rank > 1) d[3] = -1.0;
    const as_linear_system plain = {N, M, P, a, b, c, d};
    const zeros z = zeros_of(&plain);
    assert_int_equal(z.n, N - M + rank);
    for (int i = 0; i < P; ++i)
      for (int j = 0; j < N + M; ++j) {
        const double x = j < N ? c[j * P + i] : d[(j - N) * P + i];
        double *to = j < N ? c2 + (size_t)j * 2 * P : d2 + (size_t)(j - N) * 2 * P;
        to[i] = x;
        to[P + i] = -3.0 * x;
      }
    const as_linear_system twice = {N, M, 2 * P, a, b, c2, d2};
    const zeros same = zeros_of(&twice);
    assert_same_zeros(&z, &same, 1e-7);
    double a3[N * N], c3[P * N];
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N + P; ++i) {
        double sum = i < N ? a[j * N + i] : c[j * P + i - N];
        for (int l = 0; l < M; ++l) sum += (i < N ? b[l * N + i] : d[l * P + i - N]) * k[j * M + l];
        *(i < N ? a3 + j * N + i : c3 + j * P + i - N) = sum;
      }
    const as_linear_system fed = {N, M, P, a3, b, c3, d};
    const zeros back = zeros_of(&fed);
    assert_same_zeros(&z, &back, 1e-7);
  }
  as_error error;
  assert_int_equal(as_transmission_zeros(NULL, a, a, &(int){0}, &error), AS_ERR_ARGUMENT);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    const uint64_t first = strtoull(argv[1], NULL, 10);
    for (int i = 0; i < atoi(argv[2]); ++i) {
      descriptor_one(first + (uint64_t)i, true);
      run_one(first + (uint64_t)i, true);
    }
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_descriptor_law),    cmocka_unit_test(test_descriptor_eigenvalues),
      cmocka_unit_test(test_descriptor_random), cmocka_unit_test(test_dry_redundant),
      cmocka_unit_test(test_short_runs),        cmocka_unit_test(test_zeros_of_masses),
      cmocka_unit_test(test_zeros_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
