/// What happens when things go wrong: every caller's mistake, every misbehaving callback and every
/// numerical failure ends in the right status and in one sentence that names the culprit, and it
/// leaves the state bitwise as it was.
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
#include "problems/problems.h"
#include "share.h"

static const double nan_value = (double)NAN;

// ---- what a failure must look like --------------------------------------------------------------

/// One whole sentence that contains `culprit`, and the same status in both places.
static void expect_failure(as_status status, as_status expected, const as_error *error,
                           const char *culprit) {
  const size_t length = strlen(error->message);
  if (status != expected || error->status != expected)
    fail_msg("got %s (in the error: %s) instead of %s: %s", as_status_name(status),
             as_status_name(error->status), as_status_name(expected), error->message);
  if (length < 10 || length + 1 >= sizeof error->message || error->message[length - 1] != '.' ||
      strchr(error->message, '\n') || strstr(error->message, ". "))
    fail_msg("not one whole sentence: '%s'", error->message);
  if (strstr(error->message, culprit) == NULL)
    fail_msg("'%s' does not name '%s'", error->message, culprit);
}

static as_error blank(void) { return (as_error){.status = AS_OK}; }

static void expect_ok(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static void test_status(void **state) {
  (void)state;
  const struct {
    as_status status;
    const char *name;
    bool recoverable;
  } all[] = {
      {AS_OK, "AS_OK", false},
      {AS_ERR_ARGUMENT, "AS_ERR_ARGUMENT", false},
      {AS_ERR_UNSUPPORTED, "AS_ERR_UNSUPPORTED", false},
      {AS_ERR_MEMORY, "AS_ERR_MEMORY", false},
      {AS_ERR_CALLBACK, "AS_ERR_CALLBACK", false},
      {AS_ERR_RETRY, "AS_ERR_RETRY", true},
      {AS_ERR_NONFINITE, "AS_ERR_NONFINITE", true},
      {AS_ERR_CONVERGENCE, "AS_ERR_CONVERGENCE", true},
      {AS_ERR_SINGULAR, "AS_ERR_SINGULAR", true},
      {AS_ERR_TOLERANCE, "AS_ERR_TOLERANCE", false},
      {AS_ERR_INCONSISTENT, "AS_ERR_INCONSISTENT", false},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    assert_string_equal(as_status_name(all[i].status), all[i].name);
    assert_int_equal(as_status_is_recoverable(all[i].status), all[i].recoverable);
  }
  assert_int_equal(all[sizeof all / sizeof all[0] - 1].status, sizeof all / sizeof all[0] - 1);
  assert_non_null(as_status_name((as_status)99));
}

// ---- a problem that uses every callback and every mechanical block ------------------------------

// A sled on a hill, q = (x, y, theta, z):
//   M = diag(2, 2, 0.5 + 0.1 sin(theta), 1.5),   g = z - 0.1 x^2 - 0.2 x,
//   k = -sin(theta) x' + cos(theta) y',
//   f0 = (-0.3 x', -0.2 y - 0.3 y', 0.5 - 0.4 theta', -1.5 * 9.81)

static int sled_mass(const as_point *at, as_matrix *m, void *user) {
  (void)user;
  as_matrix_add(m, 0, 0, 2.0);
  as_matrix_add(m, 1, 1, 2.0);
  as_matrix_add(m, 2, 2, 0.5 + 0.1 * sin(at->q[2]));
  as_matrix_add(m, 3, 3, 1.5);
  return AS_DONE;
}

static int sled_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -0.3 * at->v[0];
  out[1] = -0.2 * at->q[1] - 0.3 * at->v[1];
  out[2] = 0.5 - 0.4 * at->v[2];
  out[3] = -1.5 * 9.81;
  return AS_DONE;
}

/// The same with -B^T lambda - k_v^T psi in it.
static int sled_general_force(const as_point *at, double *out, void *user) {
  sled_force(at, out, user);
  out[0] += (0.2 * at->q[0] + 0.2) * at->lambda[0] + sin(at->q[2]) * at->psi[0];
  out[1] -= cos(at->q[2]) * at->psi[0];
  out[3] -= at->lambda[0];
  return AS_DONE;
}

static int sled_constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[3] - 0.1 * at->q[0] * at->q[0] - 0.2 * at->q[0];
  return AS_DONE;
}

static int sled_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[3] - (0.2 * at->q[0] + 0.2) * at->v[0];
  return AS_DONE;
}

static int sled_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -0.2 * at->v[0] * at->v[0];
  return AS_DONE;
}

static int sled_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -sin(at->q[2]) * at->v[0] + cos(at->q[2]) * at->v[1];
  return AS_DONE;
}

static int sled_nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->v[2] * (cos(at->q[2]) * at->v[0] + sin(at->q[2]) * at->v[1]);
  return AS_DONE;
}

static bool wants(as_block_set wanted, as_block block) {
  return (wanted & AS_BLOCK_BIT(block)) != 0;
}

static int sled_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  const double c = cos(at->q[2]), s = sin(at->q[2]), slope = 0.2 * at->q[0] + 0.2;
  if (wants(wanted, AS_BLOCK_MA_Q))
    as_matrix_add(&blocks[AS_BLOCK_MA_Q], 2, 2, 0.1 * c * at->vdot[2]);
  if (wants(wanted, AS_BLOCK_F_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, 0.2 * at->lambda[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 1, 1, -0.2);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 2, c * at->psi[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 1, 2, s * at->psi[0]);
  }
  if (wants(wanted, AS_BLOCK_F_V)) {
    as_matrix_add(&blocks[AS_BLOCK_F_V], 0, 0, -0.3);
    as_matrix_add(&blocks[AS_BLOCK_F_V], 1, 1, -0.3);
    as_matrix_add(&blocks[AS_BLOCK_F_V], 2, 2, -0.4);
  }
  if (wants(wanted, AS_BLOCK_F_LAMBDA)) {
    as_matrix_add(&blocks[AS_BLOCK_F_LAMBDA], 0, 0, slope);
    as_matrix_add(&blocks[AS_BLOCK_F_LAMBDA], 3, 0, -1.0);
  }
  if (wants(wanted, AS_BLOCK_F_PSI)) {
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 0, 0, s);
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 1, 0, -c);
  }
  if (wants(wanted, AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, -slope);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 3, 1.0);
  }
  if (wants(wanted, AS_BLOCK_GDOT_Q))
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 0, -0.2 * at->v[0]);
  if (wants(wanted, AS_BLOCK_K_Q))
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 2, -c * at->v[0] - s * at->v[1]);
  if (wants(wanted, AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, -s);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 1, c);
  }
  return AS_DONE;
}

static const as_space_part r1[] = {{AS_SPACE_RN, 1}};
static const as_space_part r2[] = {{AS_SPACE_RN, 2}};
static const as_space_part r4[] = {{AS_SPACE_RN, 4}};
static const double sled_q0[] = {0.3, 0.1, 0.4, 0.069};
static const double sled_v0[] = {1.0, 0.4, 0.5, 0.26}; // start projects it

static as_problem_def sled_def(as_force_kind kind, as_block_source source) {
  as_problem_def def = as_default_problem_def();
  def.parts = r4;
  def.n_parts = 1;
  def.n_lambda = def.n_psi = 1;
  def.scleronomic = true;
  def.force_kind = kind;
  def.mass = sled_mass;
  def.force = kind == AS_FORCE_GENERAL ? sled_general_force : sled_force;
  def.constraint = sled_constraint;
  def.nonholonomic = sled_nonholonomic;
  if (source == AS_BLOCK_GIVEN) {
    def.constraint_rate = sled_rate;
    def.constraint_acceleration = sled_acceleration;
    def.nonholonomic_acceleration = sled_nonholonomic_acceleration;
    def.jacobian = sled_jacobian;
  }
  for (int block = AS_BLOCK_MA_Q; block <= AS_BLOCK_K_V; ++block) def.block[block].source = source;
  return def;
}

// ---- callbacks that misbehave on demand ---------------------------------------------------------

typedef enum callback {
  MASS,
  FORCE,
  CONSTRAINT,
  RATE,
  ACCELERATION,
  NONHOLONOMIC,
  NONHOLONOMIC_ACCELERATION,
  JACOBIAN,
  N_CALLBACKS,
} callback;

static const struct {
  const char *name;
  const char *component; ///< what one of its numbers is called
} callback_info[N_CALLBACKS] = {
    [MASS] = {"mass", "block M"},
    [FORCE] = {"force", "v[1]"},
    [CONSTRAINT] = {"constraint", "lambda[0]"},
    [RATE] = {"constraint_rate", "lambda[0]"},
    [ACCELERATION] = {"constraint_acceleration", "lambda[0]"},
    [NONHOLONOMIC] = {"nonholonomic", "psi[0]"},
    [NONHOLONOMIC_ACCELERATION] = {"nonholonomic_acceleration", "psi[0]"},
    [JACOBIAN] = {"jacobian", "block "},
};

static const char *const block_name[] = {"M",   "MA_Q", "F_Q", "F_V",    "F_LAMBDA", "F_PSI",
                                         "F_X", "F_Y",  "G_Q", "GDOT_Q", "K_Q",      "K_V"};

/// How a callback misbehaves.
typedef struct fault {
  callback target;
  as_block block; ///< JACOBIAN: which
  int code;       ///< returned, if not 0
  bool stray;     ///< a matrix entry outside the pattern
  double value;   ///< otherwise written as one component
  int wait;       ///< calls that are still good; all later ones are bad
} fault;

/// Passes everything on to the functions of `inner`, except for what `fault` spoils.
typedef struct wrapper {
  as_problem_def inner;
  fault fault;
  bool armed;
  int hits;
} wrapper;

static bool strikes(wrapper *w, callback target) {
  if (!w->armed || w->fault.target != target) return false;
  if (w->fault.wait-- > 0) return false;
  w->fault.wait = 0;
  ++w->hits;
  return true;
}

static int spoil_vector(wrapper *w, callback target, int code, double *out) {
  if (!strikes(w, target)) return code;
  if (w->fault.code) return w->fault.code;
  out[target == FORCE ? 1 : 0] = w->fault.value;
  return code;
}

static int spoil_matrix(wrapper *w, callback target, int code, as_matrix *m) {
  if (!strikes(w, target)) return code;
  if (w->fault.code) return w->fault.code;
  as_matrix_add(m, w->fault.stray ? m->rows : 0, 0, w->fault.value);
  return code;
}

static int bad_mass(const as_point *at, as_matrix *m, void *user) {
  wrapper *w = user;
  return spoil_matrix(w, MASS, w->inner.mass(at, m, w->inner.user), m);
}

#define BAD_VECTOR(function, field, target)                                                        \
  static int function(const as_point *at, double *out, void *user) {                               \
    wrapper *w = user;                                                                             \
    return spoil_vector(w, target, w->inner.field(at, out, w->inner.user), out);                   \
  }
BAD_VECTOR(bad_force, force, FORCE)
BAD_VECTOR(bad_constraint, constraint, CONSTRAINT)
BAD_VECTOR(bad_rate, constraint_rate, RATE)
BAD_VECTOR(bad_acceleration, constraint_acceleration, ACCELERATION)
BAD_VECTOR(bad_nonholonomic, nonholonomic, NONHOLONOMIC)
BAD_VECTOR(bad_nonholonomic_acceleration, nonholonomic_acceleration, NONHOLONOMIC_ACCELERATION)

static int bad_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  wrapper *w = user;
  const int code = w->inner.jacobian(at, wanted, blocks, w->inner.user);
  if (!wants(wanted, w->fault.block)) return code;
  return spoil_matrix(w, JACOBIAN, code, &blocks[w->fault.block]);
}

static as_problem_def wrap(wrapper *w) {
  as_problem_def def = w->inner;
  def.user = w;
  def.mass = bad_mass;
  def.force = bad_force;
  if (def.constraint) def.constraint = bad_constraint;
  if (def.constraint_rate) def.constraint_rate = bad_rate;
  if (def.constraint_acceleration) def.constraint_acceleration = bad_acceleration;
  if (def.nonholonomic) def.nonholonomic = bad_nonholonomic;
  if (def.nonholonomic_acceleration) def.nonholonomic_acceleration = bad_nonholonomic_acceleration;
  if (def.jacobian) def.jacobian = bad_jacobian;
  return def;
}

// ---- a run with one failure in it ---------------------------------------------------------------

enum { MAX_NUMBERS = 256 };

/// All that as_state holds, as bytes to compare.
typedef struct snapshot {
  int count;
  double number[MAX_NUMBERS];
} snapshot;

static void keep(snapshot *s, const double *x, int n) {
  assert_true(s->count + n <= MAX_NUMBERS);
  if (x) memcpy(s->number + s->count, x, (size_t)n * sizeof(double));
  s->count += n;
}

static snapshot take_snapshot(const as_integrator *integrator, const as_problem *problem,
                              const as_problem_def *def) {
  const as_state *s = as_integrator_state(integrator);
  const int n = as_space_nv(as_problem_space(problem)), nq = as_space_nq(as_problem_space(problem));
  snapshot all = {0};
  keep(&all, &s->t, 1);
  keep(&all, &s->a_offset, 1);
  keep(&all, s->q, nq);
  keep(&all, s->v, n);
  keep(&all, s->vdot, n);
  keep(&all, s->a, n);
  keep(&all, s->lambda, def->n_lambda);
  keep(&all, s->psi, def->n_psi);
  keep(&all, s->eta, def->n_lambda);
  return all;
}

static bool same(const snapshot *a, const snapshot *b) {
  return a->count == b->count &&
         memcmp(a->number, b->number, (size_t)a->count * sizeof(double)) == 0;
}

/// Largest difference, relative to the largest number but at least absolute.
static double distance(const snapshot *a, const snapshot *b) {
  double largest = 0.0, scale = 1.0;
  for (int i = 0; i < a->count; ++i) scale = fmax(scale, fabs(a->number[i]));
  for (int i = 0; i < a->count; ++i) {
    const double d = fabs(a->number[i] - b->number[i]) / scale;
    if (isnan(d)) return d;
    largest = fmax(largest, d);
  }
  return largest;
}

/// When the failure comes.
typedef enum phase {
  START,
  RESTART,
  FIRST_STEP,
  LATER_STEP,
  CHANGED_STEP,
  FIRST_AUTOMATIC_STEP,
  LATER_AUTOMATIC_STEP,
  N_PHASES,
} phase;

typedef struct subject {
  const char *name;
  as_problem_def def;
  const double *q0, *v0;
  double h;
} subject;

static const char *expected_component(const fault *f, char *text, size_t size) {
  if (f->code) return "it returned";
  if (f->target == JACOBIAN)
    snprintf(text, size, "block %s", block_name[f->block]);
  else
    snprintf(text, size, "%s", callback_info[f->target].component);
  return text;
}

static void check_fault_message(const fault *f, as_status status, const as_error *error) {
  char text[64], component[32];
  const as_status expected = f->code > 0   ? AS_ERR_RETRY
                             : f->code < 0 ? AS_ERR_CALLBACK
                             : f->stray    ? AS_ERR_ARGUMENT
                                           : AS_ERR_NONFINITE;
  snprintf(text, sizeof text, "The %s callback", callback_info[f->target].name);
  expect_failure(status, expected, error, text);
  expect_failure(status, expected, error, expected_component(f, component, sizeof component));
  assert_true(isfinite(error->t));
  assert_true(error->component[0] != '\0');
}

static as_status start(as_integrator *integrator, const subject *p, double t, double stretch,
                       as_error *error) {
  double v[16];
  for (int i = 0; i < 16 && stretch != 1.0; ++i) v[i] = 0.0;
  return as_integrator_start(
      integrator, &(as_initial){.t = t, .q = p->q0, .v = stretch == 1.0 ? p->v0 : v}, NULL, error);
}

static void steps(as_integrator *integrator, double h, int count) {
  as_error error = blank();
  for (int i = 0; i < count; ++i) expect_ok(as_integrator_step(integrator, h, &error), &error);
}

/// The call that is to fail, in its phase.
static as_status perform(as_integrator *integrator, const subject *p, phase when, as_error *error) {
  switch (when) {
  case START: return start(integrator, p, 0.0, 1.0, error);
  case RESTART: return start(integrator, p, 7.0, 0.0, error); // elsewhere: at rest
  case FIRST_STEP:
  case LATER_STEP: return as_integrator_step(integrator, p->h, error);
  case CHANGED_STEP: return as_integrator_step(integrator, 1.3 * p->h, error);
  case FIRST_AUTOMATIC_STEP:
  case LATER_AUTOMATIC_STEP: return as_integrator_next(integrator, error);
  case N_PHASES: break;
  }
  return AS_OK;
}

/// Runs `p` with a fault (NULL: without) in the given phase and then to its end without it. False
/// if the fault was never called for.
static bool run(const subject *p, as_method method, bool reuse, phase when, const fault *f,
                snapshot *end) {
  wrapper w = {.inner = p->def};
  const as_problem_def def = wrap(&w);
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  how.method = method;
  how.newton.reuse = reuse;
  how.newton.rtol = 1e-11; // see CONTINUED
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  if (when != START) expect_ok(start(integrator, p, 0.0, 1.0, &error), &error);
  for (int i = 0; i < 4 && when == LATER_AUTOMATIC_STEP; ++i)
    expect_ok(as_integrator_next(integrator, &error), &error);
  if (when == RESTART || when == LATER_STEP || when == CHANGED_STEP) steps(integrator, p->h, 4);
  bool reached = true;
  if (f) {
    const bool started = when != START;
    snapshot before = {0};
    if (started) before = take_snapshot(integrator, problem, &def);
    w.fault = *f;
    w.armed = true;
    error = blank();
    const as_status status = perform(integrator, p, when, &error);
    w.armed = false;
    reached = w.hits > 0;
    if (!reached) {
      expect_ok(status, &error);
    } else {
      check_fault_message(f, status, &error);
      if (started) {
        const snapshot after = take_snapshot(integrator, problem, &def);
        if (!same(&before, &after))
          fail_msg("%s, method %d, phase %d: a failure of the %s callback changes the state",
                   p->name, (int)method, (int)when, callback_info[f->target].name);
      } else {
        // A start that failed is none.
        expect_failure(as_integrator_step(integrator, p->h, &error), AS_ERR_ARGUMENT, &error,
                       "as_integrator_start");
      }
    }
  }
  if (reached && when != RESTART) expect_ok(perform(integrator, p, when, &error), &error);
  if (reached) steps(integrator, p->h, 4);
  if (reached) *end = take_snapshot(integrator, problem, &def);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return reached;
}

/// A failed step loses the factors kept from the step before, and if Newton's method has moved by
/// then, the guess of their contraction changes: the run goes on equal to the undisturbed one only
/// to Newton's tolerance. A failed start leaves no trace at all (with a general force it costs the kept
/// factors). After a failure before Newton's method moves, without kept factors, only the pivots may be others, which
/// earlier factorizations have left: the run is the same to round-off.
#define CONTINUED 1e-9
#define ROUNDED 1e-13

/// Puts one fault everywhere; returns in how many places it was called for.
static int try_everywhere(const subject *p, as_method method, fault f) {
  static const int waits[] = {0, 1, 2, 5, 9};
  int reached = 0;
  for (int when = 0; when < N_PHASES; ++when) {
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; ++i) {
      for (int reuse = 0; reuse < 2; ++reuse) {
        snapshot disturbed = {0}, undisturbed = {0};
        if (when >= FIRST_AUTOMATIC_STEP && !reuse) continue; // nothing new
        f.wait = waits[i];
        if (!run(p, method, reuse, (phase)when, &f, &disturbed)) continue;
        ++reached;
        run(p, method, reuse, (phase)when, NULL, &undisturbed);
        const bool keeps = p->def.force_kind == AS_FORCE_ADDITIVE || !reuse;
        const bool bitwise = when == START || (when == RESTART && keeps);
        const double limit = !reuse && waits[i] == 0 ? ROUNDED : CONTINUED;
        const double d = distance(&undisturbed, &disturbed);
        if (bitwise ? !same(&disturbed, &undisturbed) : !(d <= limit))
          fail_msg("%s, method %d, phase %d, wait %d, reuse %d: after a failure of the %s callback "
                   "the run ends elsewhere, by %.3g",
                   p->name, (int)method, when, waits[i], reuse, callback_info[f.target].name, d);
      }
    }
  }
  return reached;
}

static bool has_callback(const as_problem_def *def, callback target) {
  switch (target) {
  case MASS:
  case FORCE: return true;
  case CONSTRAINT: return def->constraint != NULL;
  case RATE: return def->constraint_rate != NULL;
  case ACCELERATION: return def->constraint_acceleration != NULL;
  case NONHOLONOMIC: return def->nonholonomic != NULL;
  case NONHOLONOMIC_ACCELERATION: return def->nonholonomic_acceleration != NULL;
  case JACOBIAN: return def->jacobian != NULL;
  case N_CALLBACKS: break;
  }
  return false;
}

static bool has_block(const as_problem_def *def, as_block block, as_method method) {
  if (block == AS_BLOCK_F_X || block == AS_BLOCK_F_Y) return false;
  if (block == AS_BLOCK_MA_Q && def->mass_constant) return false;
  if ((block == AS_BLOCK_F_LAMBDA || block == AS_BLOCK_F_PSI) &&
      def->force_kind == AS_FORCE_ADDITIVE)
    return false;
  if (block == AS_BLOCK_GDOT_Q && method == AS_METHOD_INDEX3) return false; // not in its equations
  if ((block == AS_BLOCK_K_Q || block == AS_BLOCK_K_V || block == AS_BLOCK_F_PSI) &&
      def->n_psi == 0)
    return false;
  return def->block[block].source == AS_BLOCK_GIVEN;
}

/// Puts the fault into each callback and each block that the problem has, as far as they are this build's share.
static void try_all_callbacks(const subject *p, fault f) {
  static long count = 0;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int m = 0; m < 2; ++m) {
    for (int target = 0; target < N_CALLBACKS; ++target) {
      if (!has_callback(&p->def, (callback)target)) continue;
      if (f.stray && target != MASS && target != JACOBIAN) continue;
      f.target = (callback)target;
      f.block = AS_BLOCK_M;
      if (target != JACOBIAN) {
        if (share_has(count++) && try_everywhere(p, methods[m], f) == 0)
          fail_msg("%s, method %d: the %s callback is never called", p->name, (int)methods[m],
                   callback_info[target].name);
        continue;
      }
      for (int block = AS_BLOCK_MA_Q; block <= AS_BLOCK_K_V; ++block) {
        if (!has_block(&p->def, (as_block)block, methods[m])) continue;
        f.block = (as_block)block;
        if (share_has(count++) && try_everywhere(p, methods[m], f) == 0)
          fail_msg("%s, method %d: block %s is never asked for", p->name, (int)methods[m],
                   block_name[block]);
      }
    }
  }
}

static void try_all_problems(fault f) {
  const test_problem *pendulum = problem_pendulum(), *top = problem_heavy_top_slow();
  const test_problem *driven = problem_driven_pendulum();
  const subject subjects[] = {
      {"sled", sled_def(AS_FORCE_ADDITIVE, AS_BLOCK_GIVEN), sled_q0, sled_v0, 0.01},
      {"sled, general force", sled_def(AS_FORCE_GENERAL, AS_BLOCK_GIVEN), sled_q0, sled_v0, 0.01},
      {"sled, differenced", sled_def(AS_FORCE_ADDITIVE, AS_BLOCK_DIFFERENCED), sled_q0, sled_v0,
       0.01},
      {pendulum->name, pendulum->def, pendulum->q0, pendulum->v0, 0.01},
      {driven->name, driven->def, driven->q0, driven->v0, 0.01},
      {top->name, top->def, top->q0, top->v0, 0.01},
  };
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i)
    try_all_callbacks(&subjects[i], f);
}

static void test_nan(void **state) {
  (void)state;
  try_all_problems((fault){.value = nan_value});
}

static void test_infinity(void **state) {
  (void)state;
  try_all_problems((fault){.value = -(double)INFINITY});
}

static void test_retry(void **state) {
  (void)state;
  try_all_problems((fault){.code = AS_RETRY});
  try_all_problems((fault){.code = 17});
}

static void test_fatal(void **state) {
  (void)state;
  try_all_problems((fault){.code = AS_FATAL});
  try_all_problems((fault){.code = -5});
}

static void test_stray_entry(void **state) {
  (void)state;
  try_all_problems((fault){.stray = true, .value = 1.0});
}

/// Steps that succeeded before a failure inside as_integrator_advance stay.
static void test_failure_inside_advance(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  wrapper w = {.inner = p->def, .fault = {.target = CONSTRAINT, .value = nan_value, .wait = 30}};
  const as_problem_def def = wrap(&w);
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  as_statistics statistics;
  how.step = 0.01;
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  expect_ok(as_integrator_start(integrator, &initial, NULL, &error), &error);
  w.armed = true;
  check_fault_message(&w.fault, as_integrator_advance(integrator, 1.0, &error), &error);
  w.armed = false;
  const double t = as_integrator_state(integrator)->t;
  assert_true(t >= 0.02 && t <= 0.3);
  expect_ok(as_integrator_statistics(integrator, &statistics, &error), &error);
  assert_int_equal(statistics.steps, lround(t / 0.01));
  assert_true(statistics.failed_steps > 1); // tried again in smaller parts
  expect_ok(as_integrator_advance(integrator, 1.0, &error), &error);
  assert_true(as_integrator_state(integrator)->t == 1.0);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

/// as_integrator_velocity and _statistics report what a callback does, and change nothing.
static void test_failure_of_output(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  wrapper w = {.inner = p->def, .fault = {.target = RATE, .value = nan_value}};
  const as_problem_def def = wrap(&w);
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  double drift[2];
  double v[2];
  how.method = AS_METHOD_INDEX3;
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  expect_ok(as_integrator_start(integrator, &initial, NULL, &error), &error);
  steps(integrator, 0.01, 3);
  const snapshot before = take_snapshot(integrator, problem, &def);
  w.armed = true;
  check_fault_message(&w.fault, as_integrator_velocity(integrator, v, &error), &error);
  check_fault_message(&w.fault, as_integrator_drift(integrator, &drift[0], &drift[1], &error),
                      &error);
  w.armed = false;
  expect_ok(as_integrator_velocity(integrator, v, &error), &error);
  expect_ok(as_integrator_drift(integrator, &drift[0], &drift[1], &error), &error);
  const snapshot after = take_snapshot(integrator, problem, &def);
  assert_true(same(&before, &after));
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

// ---- mistakes in a description ------------------------------------------------------------------

static void refuse_problem(const as_problem_def *def, as_status expected, const char *culprit) {
  as_problem *problem = (as_problem *)(uintptr_t)1;
  as_error error = blank();
  expect_failure(as_problem_create(def, &problem, &error), expected, &error, culprit);
  assert_null(problem);
  assert_int_equal(as_problem_create(def, &problem, NULL), expected); // an error is not required
}

static as_problem_def good_def(void) { return sled_def(AS_FORCE_ADDITIVE, AS_BLOCK_GIVEN); }

static void test_problem_arguments(void **state) {
  (void)state;
  as_problem *problem = NULL;
  as_error error = blank();
  as_problem_def def = good_def();
  expect_failure(as_problem_create(NULL, &problem, &error), AS_ERR_ARGUMENT, &error,
                 "as_problem_create");
  expect_failure(as_problem_create(&def, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "as_problem_create");

  def.parts = NULL;
  refuse_problem(&def, AS_ERR_ARGUMENT, "parts");
  def = good_def();
  def.n_parts = 0;
  refuse_problem(&def, AS_ERR_ARGUMENT, "n_parts = 0");
  def = good_def();
  def.parts = (as_space_part[]){{AS_SPACE_RN, -4}};
  refuse_problem(&def, AS_ERR_ARGUMENT, "parts[0].count = -4");
  def.parts = (as_space_part[]){{(as_space_kind)9, 1}};
  refuse_problem(&def, AS_ERR_ARGUMENT, "parts[0].kind = 9");

  int *counts[] = {&def.n_lambda, &def.n_psi, &def.n_x, &def.n_y};
  const char *const count_names[] = {"n_lambda = -1", "n_psi = -1", "n_x = -1", "n_y = -1"};
  for (int i = 0; i < 4; ++i) {
    def = good_def();
    *counts[i] = -1;
    refuse_problem(&def, AS_ERR_ARGUMENT, count_names[i]);
  }

  def = good_def();
  def.mass = NULL;
  refuse_problem(&def, AS_ERR_ARGUMENT, "mass callback");
  def = good_def();
  def.force = NULL;
  refuse_problem(&def, AS_ERR_ARGUMENT, "force callback");
  def = good_def();
  def.constraint = NULL;
  refuse_problem(&def, AS_ERR_ARGUMENT, "constraint callback");
  def = good_def();
  def.nonholonomic = NULL;
  refuse_problem(&def, AS_ERR_ARGUMENT, "nonholonomic callback");
  def = good_def();
  def.jacobian = NULL;
  refuse_problem(&def, AS_ERR_ARGUMENT, "jacobian callback");
  def = good_def();
  def.n_x = 1;
  refuse_problem(&def, AS_ERR_ARGUMENT, "state_rate callback");
  def = good_def();
  def.n_y = 1;
  refuse_problem(&def, AS_ERR_ARGUMENT, "output callback");

  def = good_def();
  def.time_scale = 0.0;
  refuse_problem(&def, AS_ERR_ARGUMENT, "time_scale");
  def.time_scale = (double)INFINITY;
  refuse_problem(&def, AS_ERR_ARGUMENT, "time_scale");
  def = good_def();
  def.typical = (double[]){1.0, 1.0, nan_value, 1.0};
  refuse_problem(&def, AS_ERR_ARGUMENT, "typical[2]");
  def.typical = (double[]){1.0, 1.0, 1.0, -1.0};
  refuse_problem(&def, AS_ERR_ARGUMENT, "typical[3]");
  def = good_def();
  def.block[AS_BLOCK_F_V].source = (as_block_source)7;
  refuse_problem(&def, AS_ERR_ARGUMENT, "F_V");
  def = good_def();
  def.force_kind = (as_force_kind)7;
  refuse_problem(&def, AS_ERR_ARGUMENT, "force_kind");
}

static void test_problem_patterns(void **state) {
  (void)state;
  const int two_columns[] = {0, 1, 1, 1, 2}, from_one[] = {1, 1, 1, 1, 2};
  const int shrinking[] = {0, 1, 0, 1, 2}, double_column[] = {0, 2, 2, 2, 2};
  const int rows_good[] = {0, 0}, row_high[] = {0, 1}, row_low[] = {-1, 0};
  const struct {
    as_pattern pattern;
    const char *culprit;
  } bad[] = {
      {{two_columns, NULL}, "G_Q"},           {{NULL, rows_good}, "G_Q"},
      {{from_one, rows_good}, "starts at 1"}, {{shrinking, rows_good}, "column 1"},
      {{two_columns, row_high}, "row 1"},     {{two_columns, row_low}, "row -1"},
      {{double_column, rows_good}, "row 0"}, // the same row twice
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    as_problem_def def = good_def();
    def.block[AS_BLOCK_G_Q].pattern = bad[i].pattern;
    refuse_problem(&def, AS_ERR_ARGUMENT, bad[i].culprit);
    refuse_problem(&def, AS_ERR_ARGUMENT, "G_Q");
  }
}

/// An entry that the formula has but the pattern has not, and entries that no pattern can have.
static void test_entry_outside_pattern(void **state) {
  (void)state;
  const int col_start[] = {0, 1, 1, 1, 1}, row[] = {0}; // B without its last column
  as_problem_def def = good_def();
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  def.block[AS_BLOCK_G_Q].pattern = (as_pattern){col_start, row};
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  const as_initial initial = {.q = sled_q0, .v = sled_v0};
  const as_status status = as_integrator_start(integrator, &initial, NULL, &error);
  expect_failure(status, AS_ERR_ARGUMENT, &error, "entry (0, 3) of block G_Q");
  assert_string_equal(error.component, "G_Q");
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

static int mass_at(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const int *entry = user;
  for (int i = 0; i < 4; ++i) as_matrix_add(m, i, i, 1.0);
  as_matrix_add(m, entry[0], entry[1], 1.0);
  return AS_DONE;
}

static void test_entry_outside_matrix(void **state) {
  (void)state;
  int entries[][2] = {{4, 0}, {0, 4}, {-1, 2}, {2, -1}, {-1, -1}, {-7, -3}};
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; ++i) {
    as_problem_def def = good_def();
    as_integrator_def how = as_default_integrator_def();
    as_problem *problem = NULL;
    as_integrator *integrator = NULL;
    as_error error = blank();
    char culprit[64];
    def.mass = mass_at;
    def.user = entries[i];
    expect_ok(as_problem_create(&def, &problem, &error), &error);
    expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
    const as_initial initial = {.q = sled_q0, .v = sled_v0};
    const as_status status = as_integrator_start(integrator, &initial, NULL, &error);
    snprintf(culprit, sizeof culprit, "entry (%d, %d) of block M", entries[i][0], entries[i][1]);
    expect_failure(status, AS_ERR_ARGUMENT, &error, culprit);
    as_integrator_destroy(integrator);
    as_problem_destroy(problem);
  }
}

static void refuse_integrator(const as_problem *problem, const as_integrator_def *def,
                              as_status expected, const char *culprit) {
  as_integrator *integrator = (as_integrator *)(uintptr_t)1;
  as_error error = blank();
  expect_failure(as_integrator_create(problem, def, &integrator, &error), expected, &error,
                 culprit);
  assert_null(integrator);
  assert_int_equal(as_integrator_create(problem, def, &integrator, NULL), expected);
}

static void test_integrator_arguments(void **state) {
  (void)state;
  const as_integrator_def good = as_default_integrator_def();
  as_problem_def problem_def = good_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  expect_ok(as_problem_create(&problem_def, &problem, &error), &error);
  expect_failure(as_integrator_create(NULL, &good, &integrator, &error), AS_ERR_ARGUMENT, &error,
                 "as_integrator_create");
  expect_failure(as_integrator_create(problem, NULL, &integrator, &error), AS_ERR_ARGUMENT, &error,
                 "as_integrator_create");
  expect_failure(as_integrator_create(problem, &good, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "as_integrator_create");

  as_integrator_def def = good;
  const double bad_steps[] = {0.0, -1e-3, (double)INFINITY};
  for (int i = 0; i < 3; ++i) {
    def.step = bad_steps[i];
    refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "step = ");
  }
  def = good;
  const double bad_radii[] = {-0.01, 1.01, nan_value, (double)INFINITY};
  for (int i = 0; i < 4; ++i) {
    def.rho_inf = bad_radii[i];
    refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "rho_inf = ");
  }
  def = good;
  def.method = (as_method)42;
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "method 42");

  def = good;
  def.coefficients = (as_coefficients){0.0, 0.0, 0.25, 0.6};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "gamma = 0.6");
  def.coefficients = (as_coefficients){0.0, 0.0, 0.1, 0.5};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "beta = 0.1");
  def.coefficients = (as_coefficients){0.3, 0.1, 0.5, 0.3};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "alpha_m = 0.3");
  def.coefficients = (as_coefficients){0.0, 0.6, 1.0, 1.1};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "alpha_f = 0.6");
  def.coefficients = (as_coefficients){0.0, nan_value, 0.25, 0.5}; // only some are set
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "alpha_f = nan");
  def.coefficients = (as_coefficients){0.0, 0.0, 0.0, 0.5};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "beta = 0 ");
  def.check_coefficients = false;
  def.coefficients = (as_coefficients){1.0, 0.0, 0.25, 0.5};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "alpha_m = 1");
  def.coefficients = (as_coefficients){0.0, 0.0, nan_value, 0.5};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "beta = nan");
  def.coefficients = (as_coefficients){0.0, 0.0, 0.25, 0.0};
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "gamma = 0");

  const double bad_rtol[] = {-1e-8, 1.0, (double)INFINITY};
  for (int i = 0; i < 3; ++i) {
    def = good;
    def.newton.rtol = bad_rtol[i];
    refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "newton.rtol");
  }
  const double good_rtol[] = {nan_value, 0.0, 1e-3}; // NAN: derived
  for (int i = 0; i < 3; ++i) {
    def = good;
    def.newton.rtol = good_rtol[i];
    expect_ok(as_integrator_create(problem, &def, &integrator, &error), &error);
    as_integrator_destroy(integrator);
  }
  const double bad_atol[] = {0.0, -1e-8, nan_value, (double)INFINITY};
  for (int i = 0; i < 4; ++i) {
    def = good;
    def.newton.atol = bad_atol[i]; // NAN: derived
    if (!isnan(bad_atol[i])) refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "newton.atol");
    def = good;
    def.newton.atol_component = (double[]){1.0, 1.0, bad_atol[i], 1.0};
    refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "component 2");
  }
  def = good;
  def.newton.max_iterations = 0;
  refuse_integrator(problem, &def, AS_ERR_ARGUMENT, "newton.max_iterations = 0");
  as_problem_destroy(problem);
}

static int no_rate(const as_point *at, double *out, void *user) {
  (void)at;
  (void)user;
  out[0] = 0.0;
  return AS_DONE;
}

static void test_states_and_outputs_refused(void **state) {
  (void)state;
  as_integrator_def how = as_default_integrator_def();
  how.method = AS_METHOD_SOI2; // whose accelerations are not those that a controller sees
  for (int i = 0; i < 2; ++i) {
    as_problem_def def = good_def();
    as_problem *problem = NULL;
    as_error error = blank();
    def.n_x = i == 0;
    def.n_y = i == 1;
    def.state_rate = def.output = no_rate;
    expect_ok(as_problem_create(&def, &problem, &error), &error);
    refuse_integrator(problem, &how, AS_ERR_UNSUPPORTED, "SOI2 does not take");
    as_problem_destroy(problem);
  }
}

static void test_run_arguments(void **state) {
  (void)state;
  const as_problem_def def = good_def();
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  double v[4];
  how.step = 0.01;
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);

  // Before start.
  const char *const unstarted = "not been started";
  expect_failure(as_integrator_step(integrator, 0.1, &error), AS_ERR_ARGUMENT, &error, unstarted);
  expect_failure(as_integrator_advance(integrator, 1.0, &error), AS_ERR_ARGUMENT, &error,
                 unstarted);
  expect_failure(as_integrator_advance(integrator, 0.0, &error), AS_ERR_ARGUMENT, &error,
                 unstarted);
  expect_failure(as_integrator_next(integrator, &error), AS_ERR_ARGUMENT, &error, unstarted);
  expect_failure(as_integrator_interpolate(integrator, 0.0, &error), AS_ERR_ARGUMENT, &error,
                 unstarted);
  expect_failure(as_integrator_velocity(integrator, v, &error), AS_ERR_ARGUMENT, &error, unstarted);
  assert_int_equal(as_integrator_step(integrator, 0.1, NULL), AS_ERR_ARGUMENT);

  // Bad starting values.
  expect_failure(as_integrator_start(integrator, NULL, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "configuration q");
  as_initial initial = {.t = 0.0, .q = NULL, .v = sled_v0};
  expect_failure(as_integrator_start(integrator, &initial, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "configuration q");
  initial = (as_initial){.t = nan_value, .q = sled_q0, .v = sled_v0};
  expect_failure(as_integrator_start(integrator, &initial, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "time nan");
  initial = (as_initial){.q = (double[]){0.3, nan_value, 0.4, 0.069}, .v = sled_v0};
  expect_failure(as_integrator_start(integrator, &initial, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "q[1]");
  initial = (as_initial){.q = sled_q0, .v = (double[]){1.0, 0.4, (double)INFINITY, 0.26}};
  expect_failure(as_integrator_start(integrator, &initial, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "v[2]");
  expect_failure(as_integrator_step(integrator, 0.1, &error), AS_ERR_ARGUMENT, &error, unstarted);

  // Bad steps.
  initial = (as_initial){.t = 2.0, .q = sled_q0, .v = sled_v0};
  expect_ok(as_integrator_start(integrator, &initial, NULL, &error), &error);
  const snapshot before = take_snapshot(integrator, problem, &def);
  const double bad_steps[] = {0.0, -0.1, nan_value, (double)INFINITY, 1e-30};
  for (int i = 0; i < 5; ++i)
    expect_failure(as_integrator_step(integrator, bad_steps[i], &error), AS_ERR_ARGUMENT, &error,
                   "step of ");
  const double bad_times[] = {1.9, -(double)INFINITY, nan_value, (double)INFINITY};
  for (int i = 0; i < 4; ++i)
    expect_failure(as_integrator_advance(integrator, bad_times[i], &error), AS_ERR_ARGUMENT, &error,
                   "t = 2 s");
  expect_failure(as_integrator_advance(integrator, 1e300, &error), AS_ERR_ARGUMENT, &error,
                 "too many steps");
  const double outside[] = {1.999, 2.001, nan_value, (double)INFINITY};
  for (int i = 0; i < 4; ++i)
    expect_failure(as_integrator_interpolate(integrator, outside[i], &error), AS_ERR_ARGUMENT,
                   &error, "not inside the last step");
  expect_ok(as_integrator_advance(integrator, 2.0, &error), &error); // no way to go
  expect_ok(as_integrator_interpolate(integrator, 2.0, &error), &error);
  const snapshot after = take_snapshot(integrator, problem, &def);
  assert_true(same(&before, &after));
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);

  // Destroying nothing is allowed.
  as_integrator_destroy(NULL);
  as_problem_destroy(NULL);
  as_space_destroy(NULL);
}

static void test_null_integrator(void **state) {
  (void)state;
  const as_problem_def def = good_def();
  const as_integrator_def how = as_default_integrator_def();
  const as_initial initial = {.q = sled_q0, .v = sled_v0};
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  as_statistics statistics;
  double v[4];
  expect_failure(as_integrator_start(NULL, &initial, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "integrator");
  expect_failure(as_integrator_step(NULL, 0.1, &error), AS_ERR_ARGUMENT, &error, "integrator");
  expect_failure(as_integrator_advance(NULL, 0.1, &error), AS_ERR_ARGUMENT, &error, "integrator");
  expect_failure(as_integrator_next(NULL, &error), AS_ERR_ARGUMENT, &error, "integrator");
  expect_failure(as_integrator_interpolate(NULL, 0.1, &error), AS_ERR_ARGUMENT, &error,
                 "integrator");
  expect_failure(as_integrator_velocity(NULL, v, &error), AS_ERR_ARGUMENT, &error, "integrator");
  expect_failure(as_integrator_statistics(NULL, &statistics, &error), AS_ERR_ARGUMENT, &error,
                 "integrator");
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  expect_ok(as_integrator_start(integrator, &initial, NULL, &error), &error);
  expect_failure(as_integrator_velocity(integrator, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "as_integrator_velocity");
  expect_failure(as_integrator_statistics(integrator, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "as_integrator_statistics");
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

static void test_quaternion_of_wrong_length(void **state) {
  (void)state;
  const test_problem *p = problem_heavy_top_slow();
  const as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  expect_ok(as_problem_create(&p->def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  const double q[] = {0.0, 1.0, 0.0, 1.1, 0.0, 0.0, 0.0};
  const as_initial initial = {.q = q, .v = p->v0};
  expect_failure(as_integrator_start(integrator, &initial, NULL, &error), AS_ERR_ARGUMENT, &error,
                 "quaternion");
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

// ---- numerical failures -------------------------------------------------------------------------

/// Starts a problem and takes `n_steps` steps of size h, or fewer if something fails.
static as_status attempt(const as_problem_def *def, const as_integrator_def *how,
                         const as_initial *initial, double h, int n_steps, as_error *error) {
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  *error = blank();
  expect_ok(as_problem_create(def, &problem, error), error);
  expect_ok(as_integrator_create(problem, how, &integrator, error), error);
  as_status status = as_integrator_start(integrator, initial, NULL, error);
  for (int i = 0; i < n_steps && status == AS_OK; ++i) {
    const snapshot before = take_snapshot(integrator, problem, def);
    status = as_integrator_step(integrator, h, error);
    const snapshot after = take_snapshot(integrator, problem, def);
    assert_int_equal(same(&before, &after), status != AS_OK);
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status;
}

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  for (int i = 0; i < m->rows; ++i) as_matrix_add(m, i, i, 1.0);
  return AS_DONE;
}

/// No inertia in y.
static int flat_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int weight(const as_point *at, double *out, void *user) {
  (void)at;
  (void)user;
  out[0] = 0.0;
  out[1] = -9.81;
  return AS_DONE;
}

static int circle(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0;
  return AS_DONE;
}

static int circle_twice(const as_point *at, double *out, void *user) {
  circle(at, out, user);
  out[1] = 3.0 * out[0];
  return AS_DONE;
}

static int nowhere(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->q[0] + at->q[1] * at->q[1] + 1.0;
  return AS_DONE;
}

static void name_parts(as_quantity quantity, int index, char *text, size_t size, void *user) {
  (void)user;
  const char *const kind[] = {"slide", "joint", "wheel", "filter", "signal"};
  snprintf(text, size, "%s \"%c\"", kind[quantity], 'A' + index);
}

/// A particle in the plane on `constraint`, everything differenced.
static as_problem_def particle(int n_lambda, as_vector_fn *constraint) {
  as_problem_def def = as_default_problem_def();
  def.parts = r2;
  def.n_parts = 1;
  def.n_lambda = n_lambda;
  def.constraint = constraint;
  def.mass_constant = def.scleronomic = true;
  def.mass = unit_mass;
  def.force = weight;
  return def;
}

static const as_initial on_circle = {.q = (const double[]){0.6, 0.8},
                                     .v = (const double[]){0.8, -0.6}};

static void test_singular(void **state) {
  (void)state;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int i = 0; i < 2; ++i) {
    as_integrator_def how = as_default_integrator_def();
    as_error error = blank();
    how.method = methods[i];

    // One constraint given twice is redundant, not singular: test_redundancy has more of it.
    as_problem_def def = particle(2, circle_twice);
    as_status status = attempt(&def, &how, &on_circle, 0.01, 1, &error);
    expect_ok(status, &error);

    // A direction that nothing holds and that has no inertia.
    def = particle(0, NULL);
    def.mass = flat_mass;
    status = attempt(&def, &how, &on_circle, 0.01, 1, &error);
    expect_failure(status, AS_ERR_SINGULAR, &error, "v[1]");
    assert_string_equal(error.component, "v[1]");
    def.describe = name_parts;
    status = attempt(&def, &how, &on_circle, 0.01, 1, &error);
    expect_failure(status, AS_ERR_SINGULAR, &error, "slide \"B\"");
    assert_true(error.t == 0.0);
  }
}

/// f = -4 (v_1, v_0): with gamma h = 1/4 the iteration matrix is [1 1; 1 1].
static int swapping_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -4.0 * at->v[1];
  out[1] = -4.0 * at->v[0];
  return AS_DONE;
}

static int swapping_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks,
                             void *user) {
  (void)at;
  (void)user;
  if (!wants(wanted, AS_BLOCK_F_V)) return AS_DONE;
  as_matrix_add(&blocks[AS_BLOCK_F_V], 0, 1, -4.0);
  as_matrix_add(&blocks[AS_BLOCK_F_V], 1, 0, -4.0);
  return AS_DONE;
}

static void test_singular_step(void **state) {
  (void)state;
  as_integrator_def how = as_default_integrator_def();
  as_problem_def def = particle(0, NULL);
  as_error error = blank();
  how.coefficients = (as_coefficients){0.0, 0.0, 0.25, 0.5};
  def.force = swapping_force;
  def.jacobian = swapping_jacobian;
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_F_Q].source = AS_BLOCK_ZERO;
  // Singular at this step only: taken in two parts instead.
  expect_ok(attempt(&def, &how, &on_circle, 0.5, 1, &error), &error);
  assert_int_equal(error.status, AS_OK);
  expect_ok(attempt(&def, &how, &on_circle, 0.4, 1, &error), &error);
}

/// A force that pushes back whatever side it is on: the step's equations have no solution.
static int chattering_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[0] > 0.0 ? -1e6 : 1e6;
  return AS_DONE;
}

static void test_convergence(void **state) {
  (void)state;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int i = 0; i < 2; ++i) {
    as_integrator_def how = as_default_integrator_def();
    as_problem_def def = as_default_problem_def();
    as_error error = blank();
    how.method = methods[i];
    how.improved_start = how.perturbed_start = false; // nothing to differentiate here
    def.parts = r1;
    def.n_parts = 1;
    def.mass = unit_mass;
    def.force = chattering_force;
    def.block[AS_BLOCK_F_Q].source = def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
    const as_initial initial = {.t = 3.0, .q = (const double[]){0.0}, .v = (const double[]){1.0}};
    as_status status = attempt(&def, &how, &initial, 0.25, 1, &error);
    expect_failure(status, AS_ERR_CONVERGENCE, &error, "v[0]");
    expect_failure(status, AS_ERR_CONVERGENCE, &error, "t = 3.25 s");
    expect_failure(status, AS_ERR_CONVERGENCE, &error, "20 iterations");
    assert_string_equal(error.component, "v[0]");
    assert_true(error.t == 3.25);

    def.describe = name_parts;
    how.newton.max_iterations = 3;
    status = attempt(&def, &how, &initial, 0.25, 1, &error);
    expect_failure(status, AS_ERR_CONVERGENCE, &error, "slide \"");
    expect_failure(status, AS_ERR_CONVERGENCE, &error, "3 iterations");
    assert_non_null(strstr(error.component, "slide \""));
  }
}

static void test_inconsistent(void **state) {
  (void)state;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int i = 0; i < 2; ++i) {
    as_integrator_def how = as_default_integrator_def();
    as_error error = blank();
    how.method = methods[i];

    // No solution at all.
    as_problem_def def = particle(1, nowhere);
    as_status status = attempt(&def, &how, &on_circle, 0.01, 0, &error);
    expect_failure(status, AS_ERR_INCONSISTENT, &error, "lambda[0]");
    assert_string_equal(error.component, "lambda[0]");

    // Off the constraints, and projection not wanted.
    how.project_start = false;
    def = particle(1, circle);
    def.describe = name_parts;
    const as_initial off = {.t = 1.5, .q = (const double[]){0.6, 0.80001}};
    status = attempt(&def, &how, &off, 0.01, 0, &error);
    expect_failure(status, AS_ERR_INCONSISTENT, &error, "position");
    expect_failure(status, AS_ERR_INCONSISTENT, &error, "joint \"A\"");
    assert_true(error.t == 1.5);
    const as_initial fast = {.q = on_circle.q, .v = (const double[]){0.8, -0.60001}};
    status = attempt(&def, &how, &fast, 0.01, 0, &error);
    expect_failure(status, AS_ERR_INCONSISTENT, &error, "velocity");
    expect_failure(status, AS_ERR_INCONSISTENT, &error, "joint \"A\"");
    def = good_def();
    const as_initial skid = {.q = sled_q0, .v = (const double[]){0.0, 1.0, 0.0, 0.0}};
    status = attempt(&def, &how, &skid, 0.01, 0, &error);
    expect_failure(status, AS_ERR_INCONSISTENT, &error, "psi[0]");

    // On them it is not needed.
    def = particle(1, circle);
    expect_ok(attempt(&def, &how, &on_circle, 0.01, 3, &error), &error);
  }
}

/// project_start is about starting values only: index-3 velocities are off by O(h^2) and
/// as_integrator_velocity brings them back.
static void test_velocity_without_projected_start(void **state) {
  (void)state;
  as_integrator_def how = as_default_integrator_def();
  const as_problem_def def = particle(1, circle);
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = blank();
  double v[2];
  how.method = AS_METHOD_INDEX3;
  how.project_start = false;
  expect_ok(as_problem_create(&def, &problem, &error), &error);
  expect_ok(as_integrator_create(problem, &how, &integrator, &error), &error);
  expect_ok(as_integrator_start(integrator, &on_circle, NULL, &error), &error);
  steps(integrator, 0.05, 3);
  const as_state *s = as_integrator_state(integrator);
  assert_true(fabs(s->q[0] * s->v[0] + s->q[1] * s->v[1]) > 1e-6);
  expect_ok(as_integrator_velocity(integrator, v, &error), &error);
  assert_true(fabs(s->q[0] * v[0] + s->q[1] * v[1]) < 1e-9); // B is differenced
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status),
      cmocka_unit_test(test_problem_arguments),
      cmocka_unit_test(test_problem_patterns),
      cmocka_unit_test(test_entry_outside_pattern),
      cmocka_unit_test(test_entry_outside_matrix),
      cmocka_unit_test(test_integrator_arguments),
      cmocka_unit_test(test_states_and_outputs_refused),
      cmocka_unit_test(test_run_arguments),
      cmocka_unit_test(test_quaternion_of_wrong_length),
      cmocka_unit_test(test_nan),
      cmocka_unit_test(test_infinity),
      cmocka_unit_test(test_retry),
      cmocka_unit_test(test_fatal),
      cmocka_unit_test(test_stray_entry),
      cmocka_unit_test(test_failure_inside_advance),
      cmocka_unit_test(test_failure_of_output),
      cmocka_unit_test(test_singular),
      cmocka_unit_test(test_singular_step),
      cmocka_unit_test(test_convergence),
      cmocka_unit_test(test_inconsistent),
      cmocka_unit_test(test_velocity_without_projected_start),
      cmocka_unit_test(test_null_integrator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
