/// The same machine in other units: the examples and 200 random machines (random_machine.h) in lengths from 1e-6 to 1e8 m, masses
/// from 1e-9 to 1e9 kg and other times take the same steps to the same result.
///
/// In units that differ by powers of two all numbers differ by powers of two, and nothing is rounded otherwise: the runs are
/// the same in every bit. In mm, km, g, t and ms numbers are rounded otherwise: the results differ by what a
/// start that is off by round-off makes of them.
///
///     test_scale                       the test
///     test_scale FIRST COUNT [METHOD]  random machines, with what became of them; FIRST < 0: examples
#include <float.h>
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
#include "core/kinematics/problem.h"
#include "files.h"
#include "random_machine.h"
#include "rig.h"
#include "units.h"

static const char *const examples[] = {
    "andrews",   "chain",        "double-pendulum", "four-bar",     "free-body", "gearbox",
    "governor",  "heavy-top",    "landing-gear",    "n-four-bar",   "pendulum",  "quarter-car",
    "robot-arm", "rolling-disk", "sleigh",          "slider-crank", "stewart",   "trebuchet"};
enum { EXAMPLES = sizeof examples / sizeof examples[0], RANDOM = 200 };

/// What a run came to.
typedef struct outcome {
  as_status status;
  char message[1024];
  as_statistics statistics;
  double t;
  double *q, *v, *lambda;
} outcome;

static outcome run(const as_problem *in, const as_initial *initial, as_integrator_def def, units by,
                   double t_end) {
  outcome out = {0};
  units_problem *p = units_make(in, by);
  as_integrator *s = NULL;
  as_error error = {0};
  def = units_integrator(p, def);
  out.q = calloc((size_t)in->nq, sizeof(double));
  out.v = calloc((size_t)in->n, sizeof(double));
  out.lambda = calloc((size_t)in->def.n_lambda + 1, sizeof(double));
  out.status = as_integrator_create(units_of(p), &def, &s, &error);
  if (out.status == AS_OK)
    out.status = as_integrator_start(s, units_initial(p, initial), NULL, &error);
  if (out.status == AS_OK) {
    out.status = as_integrator_advance(s, t_end * by.time, &error);
    as_integrator_statistics(s, &out.statistics, NULL);
    const as_state *state = as_integrator_state(s);
    units_back(p, state, out.q, out.v, out.lambda);
    out.t = state->t / by.time;
  }
  snprintf(out.message, sizeof out.message, "%s", error.message);
  as_integrator_destroy(s);
  units_free(p);
  return out;
}

static void free_outcome(outcome *o) {
  free(o->q);
  free(o->v);
  free(o->lambda);
}

/// Relative to the largest, or to something that is small for all of these machines: one that is locked has round-off for v.
static double difference(const double *a, const double *b, int n) {
  double d = 0.0, size = 1e-6;
  for (int i = 0; i < n; ++i) {
    d = fmax(d, fabs(a[i] - b[i]));
    size = fmax(size, fabs(a[i]));
  }
  return d / size;
}

/// All units that are looked at: powers of two first.
static const units scales[] = {
    {0x1p20, 1, 1},
    {0x1p-26, 1, 1},
    {1, 0x1p30, 1},
    {1, 0x1p-30, 1},
    {1, 1, 0x1p10},
    {0x1p10, 0x1p10, 0x1p-10},
    {1e3, 1e3, 1e3},
    {1e-3, 1e-3, 1},
    {1e6, 1e9, 1},
    {1e-8, 1e-9, 1e-3},
    // The same units but for the last bits: what round-off of the data makes of a run.
    {1 + 0x1p-50, 1 - 0x1p-50, 1},
    {1 - 0x1p-50, 1 + 0x1p-49, 1 + 0x1p-51}};
enum { SCALES = sizeof scales / sizeof scales[0], EXACT = 6 };

// In other units numbers are rounded otherwise, and round-off decides whether a step that is just accurate enough is taken, or an
// iteration more: the number of steps may differ by this share, and two more (10 of 439 was the most that was seen in whole runs of
// random machines), and results by this many times rtol. Numbers that differ in their last bits only do the same: `test_scale -1 18` and
// `test_scale 0 60`, three methods, differ by one step at the most in decimal units and in these, and by 3e-5 and 1e-5 in q and v.
#define SHARE 0.05
#define LIKE 5.0

/// Whether only one of two runs could begin. A machine at a position that its joints contradict, as a straight chain that has to fold, is put
/// together or not by round-off: random machine 165 is in 12 of 200 units near {1e-8, 1e-9, 1e-3}, and in none near its own.
static bool one_begins(const outcome *a, const outcome *b) {
  return (a->statistics.steps == 0) != (b->statistics.steps == 0) &&
         (a->status == AS_ERR_INCONSISTENT || b->status == AS_ERR_INCONSISTENT);
}

static int lucky; ///< of those in other than exact units, machines of which only one began

/// Runs a machine in its own units and in some others. Returns how many were not the same.
static int compare(const char *name, const as_machine *m, as_method method, double t_end, int first,
                   int last, bool loud) {
  as_integrator_def def = m->simulation.integrator;
  def.method = method;
  def.step = (double)NAN;
  def.log = NULL;
  def.tolerance.span = t_end;
  const as_problem *in = as_model_problem(m->model);
  const as_initial *initial = as_model_initial(m->model);
  outcome own = run(in, initial, def, (units){1, 1, 1}, t_end);
  int failures = 0;
  for (int k = first; k < last; ++k) {
    outcome o = run(in, initial, def, scales[k], t_end);
    const double q = difference(own.q, o.q, in->nq), v = difference(own.v, o.v, in->n);
    const double lambda = difference(own.lambda, o.lambda, in->def.n_lambda);
    const long steps = own.statistics.steps, more = labs(o.statistics.steps - steps);
    const double rtol = def.tolerance.rtol;
    const bool same =
        o.status == own.status &&
        (k < EXACT ? q == 0.0 && v == 0.0 && lambda == 0.0 && more == 0 &&
                         o.statistics.newton_iterations == own.statistics.newton_iterations
                   : (double)more <= SHARE * (double)steps + 2.0 && fmax(q, v) <= LIKE * rtol);
    if (!same || loud)
      print_message(
          "%s, method %d, units %g %g %g: %ld steps and %ld, %ld iterations and %ld, q %.2g "
          "v %.2g lambda %.2g %s\n",
          name, (int)method, scales[k].length, scales[k].mass, scales[k].time, steps,
          o.statistics.steps, own.statistics.newton_iterations, o.statistics.newton_iterations, q,
          v, lambda, o.message);
    const bool luck = !same && k >= EXACT && one_begins(&own, &o);
    lucky += luck;
    failures += !same && !luck;
    free_outcome(&o);
  }
  free_outcome(&own);
  return failures;
}

static int compare_example(int i, as_method method, int first, int last, bool loud) {
  char path[128];
  snprintf(path, sizeof path, "examples/machines/%s/model.yaml", examples[i]);
  as_machine *m = files_load(path, NULL, 0);
  const double part = m->simulation.t_end / 40.0;
  const int failures = compare(examples[i], m, method, part, first, last, loud);
  as_machine_destroy(m);
  return failures;
}

static int compare_random(int seed, as_method method, int first, int last, bool loud) {
  random_machine made = random_machine_make((uint64_t)seed);
  as_machine *m = NULL;
  as_messages messages = {0};
  char name[32];
  int failures = 0;
  snprintf(name, sizeof name, "random machine %d", seed);
  const as_status status =
      as_machine_parse(made.text, strlen(made.text), "random", NULL, 0, &m, &messages);
  if (status == AS_OK) {
    failures = compare(name, m, method, made.t_end / 10.0, first, last, loud);
    as_machine_destroy(m);
  }
  random_machine_free(&made);
  return failures;
}

/// Every machine in units of each sort, in turn: two that are powers of two, and one that is not.
static void test_examples(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < EXAMPLES; ++i)
    for (int k = 0; k < 3; ++k) {
      const int exact = (2 * i + k) % EXACT, other = EXACT + (i + k) % (SCALES - EXACT);
      failures += compare_example(i, rig_methods[k], exact, exact + 1, false);
      failures += compare_example(i, rig_methods[k], other, other + 1, false);
    }
  assert_int_equal(failures, 0);
  assert_int_equal(lucky, 0);
}

static void test_random(void **state) {
  (void)state;
  int failures = 0;
  lucky = 0;
  for (int i = 0; i < RANDOM; ++i) {
    const int exact = i % EXACT, other = EXACT + i % (SCALES - EXACT);
    failures += compare_random(i, rig_methods[i / EXACT % 3], exact, exact + 1, false);
    failures += compare_random(i, rig_methods[i / EXACT % 3], other, other + 1, false);
  }
  assert_int_equal(failures, 0);
  assert_true(lucky <= RANDOM / 100);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),
                                     cmocka_unit_test(test_random)};
  if (argc < 3) return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
  const int first = atoi(argv[1]), count = atoi(argv[2]);
  const as_method method = argc > 3 ? rig_methods[atoi(argv[3]) % 3] : AS_METHOD_INDEX2;
  for (int i = 0; i < count; ++i) {
    if (first >= 0) (void)compare_random(first + i, method, 0, SCALES, true);
    if (first < 0 && i < EXAMPLES) (void)compare_example(i, method, 0, SCALES, true);
  }
  return 0;
}
