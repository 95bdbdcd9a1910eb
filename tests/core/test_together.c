/// The evaluate callback, all functions and tangents of a point at once: runs are the same in every bit as with the
/// single callbacks, by all methods, of models with all kinds of elements and of problems of the user's own; where it
/// cannot be used, the single ones are asked and say why; as_problem_check() finds one that is wrong.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/kinematics/problem.h"
#include "files.h"
#include "random_machine.h"
#include "rig.h"
#include "subject.h"

// ---- runs in numbers ----------------------------------------------------------------------------------

/// What a run has come to.
typedef struct outcome {
  uint64_t digest; ///< of all states
  int steps;
  as_statistics work;
  as_status status;
  as_error error;
} outcome;

static void digest(uint64_t *sum, const double *x, int n) {
  for (int i = 0; i < n && x; ++i) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    *sum = (*sum ^ bits) * 1099511628211u;
    *sum ^= *sum >> 29;
  }
}

static void digest_state(uint64_t *sum, const as_problem *p, const as_state *s) {
  digest(sum, &s->t, 1);
  digest(sum, s->q, p->nq);
  digest(sum, s->v, p->n);
  digest(sum, s->vdot, p->n);
  digest(sum, s->a, p->n);
  digest(sum, s->lambda, p->def.n_lambda);
  digest(sum, s->psi, p->def.n_psi);
  digest(sum, s->eta, p->def.n_lambda);
  digest(sum, s->x, p->def.n_x);
  digest(sum, s->y, p->def.n_y);
}

/// Up to `steps` steps from a start; steps are automatic if h is NAN.
static outcome go(const as_problem *p, const as_initial *initial, const as_integrator_def *def,
                  double h, int steps) {
  outcome out = {0};
  as_integrator *integrator = NULL;
  out.status = as_integrator_create(p, def, &integrator, &out.error);
  if (out.status == AS_OK) out.status = as_integrator_start(integrator, initial, NULL, &out.error);
  while (out.status == AS_OK && out.steps < steps) {
    ++out.steps;
    digest_state(&out.digest, p, as_integrator_state(integrator));
    out.status = isnan(h) ? as_integrator_next(integrator, &out.error)
                          : as_integrator_step(integrator, h, &out.error);
  }
  if (out.status == AS_OK) digest_state(&out.digest, p, as_integrator_state(integrator));
  if (integrator) (void)as_integrator_statistics(integrator, &out.work, &(as_error){0});
  as_integrator_destroy(integrator);
  return out;
}

static void assert_same(const char *name, const outcome *one, const outcome *other) {
  if (one->status != other->status || strcmp(one->error.message, other->error.message) != 0)
    fail_msg("%s: \"%s\" or \"%s\"", name, one->error.message, other->error.message);
  if (one->digest != other->digest || one->steps != other->steps)
    fail_msg("%s: the runs of %d and %d steps differ", name, one->steps, other->steps);
  const as_statistics *a = &one->work, *b = &other->work;
  assert_int_equal(a->newton_iterations, b->newton_iterations);
  assert_int_equal(a->factorizations, b->factorizations);
  assert_int_equal(a->force_evaluations, b->force_evaluations);
  assert_int_equal(a->constraint_evaluations, b->constraint_evaluations);
  assert_true(a->dynamics_residual == b->dynamics_residual);
  assert_true(a->position_residual == b->position_residual);
  assert_true(a->velocity_residual == b->velocity_residual);
}

// ---- models -------------------------------------------------------------------------------------------

static as_evaluate_fn *evaluate_model;
static long calls, failures;

static int counted(const as_point *at, const as_evaluation *out, void *user) {
  const int code = evaluate_model(at, out, user);
  ++calls;
  failures += code != AS_DONE;
  return code;
}

enum { MOST_ROWS = 256 };

/// A run with the model's evaluate callback, and one without; every `every`th constraint does not hold.
static void compare_model(const char *name, const as_model *model, const as_integrator_def *def,
                          double h, int steps, int every) {
  const as_problem *p = as_model_problem(model);
  as_initial initial = *as_model_initial(model);
  bool active[MOST_ROWS];
  assert_in_range(p->def.n_lambda + p->def.n_psi, 0, MOST_ROWS);
  for (int i = 0; i < MOST_ROWS; ++i) active[i] = every == 0 || i % every != 0;
  if (every) initial.active = active;
  as_problem without = *p;
  evaluate_model = p->def.evaluate;
  assert_non_null(evaluate_model);
  as_problem with = *p;
  with.def.evaluate = counted;
  without.def.evaluate = NULL;
  const long before = calls;
  const outcome one = go(&with, &initial, def, h, steps);
  assert_true(calls > before || one.steps < 2);
  const outcome other = go(&without, &initial, def, h, steps);
  assert_same(name, &one, &other);
}

/// Joints and forces of all kinds, on both spaces, in loops, with friction: general forces too.
static void random_machines(void **state) {
  (void)state;
  static as_messages messages;
  int ran = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    random_machine made = random_machine_make(seed);
    as_machine *machine = NULL;
    char name[32];
    snprintf(name, sizeof name, "seed %d", (int)seed);
    if (as_machine_parse(made.text, strlen(made.text), "random.yaml", NULL, 0, &machine,
                         &messages) == AS_OK) {
      const double h = seed % 2 ? made.t_end / 64.0 : (double)NAN;
      as_integrator_def def = rig_how(rig_methods[seed % 3], (double)NAN, NULL, 0);
      def.newton.reuse = seed % 5 != 0;
      compare_model(name, machine->model, &def, h, 10, 0);
      compare_model(name, machine->model, &def, h, 5, 4);
      ++ran;
    }
    as_machine_destroy(machine);
    random_machine_free(&made);
  }
  printf("   %d machines, %ld calls, %ld failed\n", ran, calls, failures);
  assert_true(ran > 100);
}

/// Superelements, contacts, tables, actuators, rolling, parameters: model files that are here.
static void model_files(void **state) {
  (void)state;
  static const char *const names[] = {
      "andrews",      "chain",        "double-pendulum", "four-bar", "free-body",   "governor",
      "heavy-top",    "landing-gear", "n-four-bar",      "pendulum", "quarter-car", "robot-arm",
      "rolling-disk", "sleigh",       "slider-crank",    "stewart",  "trebuchet"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    for (int method = 0; method < 3; ++method) {
      char path[64];
      snprintf(path, sizeof path, "examples/machines/%s/model.yaml", names[i]);
      as_machine *machine = files_load(path, NULL, 0);
      const as_integrator_def def = rig_how(rig_methods[method], (double)NAN, NULL, 0);
      compare_model(names[i], machine->model, &def, 1e-3, 5, 0);
      as_machine_destroy(machine);
    }
}

// ---- problems of the user's own -------------------------------------------------------------------------

/// How the evaluate callback does its work.
typedef enum manner {
  RIGHT,
  RETRIES,    ///< it never can
  NO_NUMBERS, ///< a NaN in the force
  STRAYS,     ///< an entry outside a pattern
  WRONG,      ///< the force is another one
  WRONG_BLOCK
} manner;

/// A problem whose single callbacks are counted, and one that calls them all.
typedef struct bundle {
  as_problem_def def; ///< the original
  manner how;
  long single, together;
} bundle;

#define COUNTED(name)                                                                              \
  static int name(const as_point *at, double *out, void *user) {                                   \
    bundle *b = user;                                                                              \
    ++b->single;                                                                                   \
    return b->def.name(at, out, b->def.user);                                                      \
  }
COUNTED(force)
COUNTED(constraint)
COUNTED(constraint_rate)
COUNTED(constraint_acceleration)
COUNTED(nonholonomic)
COUNTED(nonholonomic_acceleration)
COUNTED(state_rate)
COUNTED(output)

static int mass(const as_point *at, as_matrix *m, void *user) {
  bundle *b = user;
  return b->def.mass(at, m, b->def.user);
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  bundle *b = user;
  ++b->single;
  return b->def.jacobian(at, wanted, blocks, b->def.user);
}

static int evaluate(const as_point *at, const as_evaluation *out, void *user) {
  bundle *b = user;
  const as_problem_def *d = &b->def;
  int code = AS_DONE;
  ++b->together;
  if (b->how == RETRIES) return AS_RETRY;
  if (out->force) code |= d->force(at, out->force, d->user);
  if (out->constraint) code |= d->constraint(at, out->constraint, d->user);
  if (out->constraint_rate) code |= d->constraint_rate(at, out->constraint_rate, d->user);
  if (out->nonholonomic) code |= d->nonholonomic(at, out->nonholonomic, d->user);
  if (out->state_rate) code |= d->state_rate(at, out->state_rate, d->user);
  if (out->output) code |= d->output(at, out->output, d->user);
  if (out->block_set) code |= d->jacobian(at, out->block_set, out->blocks, d->user);
  assert_false(out->block_set & AS_BLOCK_BIT(AS_BLOCK_M));
  if (b->how == NO_NUMBERS && out->force) out->force[0] = (double)NAN;
  if (b->how == WRONG && out->force) out->force[0] *= 1.0 + 1e-5;
  for (int block = 0; block < AS_BLOCK_COUNT && out->block_set; ++block) {
    if (!(out->block_set & AS_BLOCK_BIT(block))) continue;
    if (b->how == STRAYS) as_matrix_add(&out->blocks[block], -1, 0, 1.0);
    if (b->how == WRONG_BLOCK) out->blocks[block].value[0] += 1.0;
    break;
  }
  return code;
}

/// The same problem through a bundle; `at_once` with the callback under test.
static as_problem *make(bundle *b, bool at_once) {
  as_problem_def def = b->def;
  as_problem *p = NULL;
  as_error error;
  b->single = b->together = 0;
  def.user = b;
  def.describe = NULL;
  def.explain = NULL;
  def.check_step = NULL;
  def.mass = mass;
  if (def.force) def.force = force;
  if (def.constraint) def.constraint = constraint;
  if (def.constraint_rate) def.constraint_rate = constraint_rate;
  if (def.constraint_acceleration) def.constraint_acceleration = constraint_acceleration;
  if (def.nonholonomic) def.nonholonomic = nonholonomic;
  if (def.nonholonomic_acceleration) def.nonholonomic_acceleration = nonholonomic_acceleration;
  if (def.state_rate) def.state_rate = state_rate;
  if (def.output) def.output = output;
  if (def.jacobian) def.jacobian = jacobian;
  if (at_once) def.evaluate = evaluate;
  if (as_problem_create(&def, &p, &error)) fail_msg("%s", error.message);
  return p;
}

static bool can_use(const subject *s, as_method method) {
  return method != AS_METHOD_SOI2 || s->def.n_x + s->def.n_y == 0;
}

/// Runs with and without; returns how often single callbacks were called less.
static long compare_subject(const subject *s, as_method method, manner how) {
  bundle b = {.def = s->def, .how = how};
  as_integrator_def def = rig_how(method, (double)NAN, NULL, 0);
  const as_initial initial = subject_initial(s);
  as_problem *alone = make(&b, false);
  const double h = (s->t_end - s->t0) / 200.0;
  const outcome one = go(alone, &initial, &def, h, 5);
  const long single = b.single;
  assert_int_equal(b.together, 0);
  as_problem *p = make(&b, true);
  const outcome other = go(p, &initial, &def, h, 5);
  assert_true(b.together > 0 || other.steps < 2);
  assert_same(s->name, &one, &other);
  as_problem_destroy(alone);
  as_problem_destroy(p);
  return single - b.single;
}

static void for_all_subjects(void (*check)(const subject *s, as_method method)) {
  for (int method = 0; method < 3; ++method) {
    for (int i = 0; i < problem_count(); ++i) {
      const subject s = subject_plain(problem_get(i));
      check(&s, rig_methods[method]);
    }
    for (int i = 0; i < nonholonomic_count(); ++i) {
      const subject s = subject_rolling(nonholonomic_get(i));
      check(&s, rig_methods[method]);
    }
    for (int i = 0; i < mechatronic_count(); ++i) {
      const subject s = subject_mechatronic(mechatronic_get(i));
      if (can_use(&s, rig_methods[method])) check(&s, rig_methods[method]);
    }
  }
}

static void check_right(const subject *s, as_method method) {
  if (compare_subject(s, method, RIGHT) <= 0) fail_msg("%s: nothing is saved", s->name);
}

static void own_problems(void **state) {
  (void)state;
  for_all_subjects(check_right);
}

/// Blocks that are not given are differenced as before.
static void check_differenced(const subject *s, as_method method) {
  subject t = *s;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (block % 2 && t.def.block[block].source == AS_BLOCK_GIVEN)
      t.def.block[block].source = AS_BLOCK_DIFFERENCED;
  t.def.constraint_rate = NULL;
  compare_subject(&t, method, RIGHT);
}

static void differenced_blocks(void **state) {
  (void)state;
  for_all_subjects(check_differenced);
}

/// Where it fails, the single callbacks do what they always did.
static void check_failing(const subject *s, as_method method) {
  compare_subject(s, method, RETRIES);
  compare_subject(s, method, NO_NUMBERS);
  compare_subject(s, method, STRAYS);
}

static void failing_callbacks(void **state) {
  (void)state;
  for_all_subjects(check_failing);
}

/// A wrong one is found, and named.
static void wrong_callbacks(void **state) {
  (void)state;
  const subject s = subject_mechatronic(mechatronic_cart_pole());
  as_check_def check = as_default_check_def();
  as_check_report report;
  as_error error;
  check.near = (as_point){.t = s.t0, .q = s.q0, .v = s.v0, .x = s.x0};
  for (manner how = RIGHT; how <= WRONG_BLOCK; ++how) {
    bundle b = {.def = s.def, .how = how};
    as_problem *p = make(&b, true);
    const as_status status = as_problem_check(p, &check, &report, &error);
    if (how == RIGHT) {
      assert_int_equal(status, AS_OK);
      assert_true(report.evaluate == 0.0);
    } else if (how < WRONG) {
      assert_int_equal(status, AS_ERR_CALLBACK);
      assert_non_null(strstr(error.message, "The evaluate callback could not be evaluated"));
    } else {
      assert_int_equal(status, AS_ERR_ARGUMENT);
      assert_true(report.evaluate > 1e-6);
      assert_non_null(strstr(error.message, how == WRONG ? "the force callback" : "Block "));
      assert_non_null(strstr(error.message, "the evaluate callback gives"));
    }
    as_problem_destroy(p);
  }
}

/// What has to be differenced for it, B of g' = B v here, is.
static void checked_with_differences(void **state) {
  (void)state;
  const subject s = subject_plain(problem_pendulum());
  as_check_def check = as_default_check_def();
  as_check_report report;
  as_error error;
  bundle b = {.def = s.def, .how = RIGHT};
  b.def.constraint_rate = NULL;
  b.def.block[AS_BLOCK_G_Q] = b.def.block[AS_BLOCK_GDOT_Q] = (as_block_def){0};
  check.near = (as_point){.t = s.t0, .q = s.q0, .v = s.v0};
  as_problem *p = make(&b, true);
  if (as_problem_check(p, &check, &report, &error)) fail_msg("%s", error.message);
  assert_true(report.evaluate == 0.0);
  as_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_machines),
      cmocka_unit_test(model_files),
      cmocka_unit_test(own_problems),
      cmocka_unit_test(differenced_blocks),
      cmocka_unit_test(failing_callbacks),
      cmocka_unit_test(wrong_callbacks),
      cmocka_unit_test(checked_with_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
