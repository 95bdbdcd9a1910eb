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
#include "core/problem.h"
#include "files.h"
#include "random_machine.h"
#include "units.h"

static const char *const examples[] = {
    "andrews",   "chain",        "double-pendulum", "four-bar",  "free-body",    "gearbox",
    "governor",  "heavy-top",    "landing-gear",    "n-four-bar", "pendulum",    "quarter-car",
    "robot-arm", "rolling-disk", "sleigh",          "slider-crank", "stewart", "trebuchet"};
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

static double difference(const double *a, const double *b, int n) {
  double d = 0.0, size = DBL_MIN;
  for (int i = 0; i < n; ++i) {
    d = fmax(d, fabs(a[i] - b[i]));
    size = fmax(size, fabs(a[i]));
  }
  return d / size;
}

static const units scales[] = {{1, 1, 1},
                               {0x1p20, 1, 1},
                               {0x1p-26, 1, 1},
                               {1, 0x1p30, 1},
                               {1, 0x1p-30, 1},
                               {1, 1, 0x1p10},
                               {0x1p10, 0x1p10, 0x1p10},
                               {1000, 1, 1},
                               {0.001, 1, 1},
                               {1, 1000, 1},
                               {1, 1, 1000},
                               {1000, 1000, 1000},
                               {1e6, 1e9, 1}, {1e-8, 1e-9, 1}};
enum { SCALES = sizeof scales / sizeof scales[0] };

static void report(const char *name, const as_machine *m, as_method method, double t_end) {
  as_integrator_def def = m->simulation.integrator;
  def.method = method;
  def.step = (double)NAN;
  if (isnan(def.tolerance.span)) def.tolerance.span = t_end;
  const as_problem *in = as_model_problem(m->model);
  outcome first = {0};
  for (int k = 0; k < SCALES; ++k) {
    outcome o = run(in, as_model_initial(m->model), def, scales[k], t_end);
    if (k == 0) first = o;
    const bool same = o.status == first.status &&
                      o.statistics.steps == first.statistics.steps &&
                      o.statistics.newton_iterations == first.statistics.newton_iterations;
    if (k == 0 || !same || getenv("ALL"))
      printf("%-16s %9.3g %9.3g %9.3g: %d %ld steps %ld it %ld rej, q %.2g v %.2g lambda %.2g %.120s\n", name,
             scales[k].length, scales[k].mass, scales[k].time, (int)o.status,
             o.statistics.steps, o.statistics.newton_iterations,
             o.statistics.rejected_steps, difference(first.q, o.q, in->nq),
             difference(first.v, o.v, in->n), difference(first.lambda, o.lambda, in->def.n_lambda),
             o.message);
    if (k > 0) free_outcome(&o);
  }
  fflush(stdout);
  free_outcome(&first);
}

int main(int argc, char **argv) {
  const int first = argc > 1 ? atoi(argv[1]) : -1, count = argc > 2 ? atoi(argv[2]) : EXAMPLES;
  const as_method method = argc > 3 ? (as_method)atoi(argv[3]) : AS_METHOD_INDEX2;
  for (int i = 0; i < count && first < 0; ++i) {
    const int e = i - first - 1;
    char path[128];
    if (e >= EXAMPLES) break;
    snprintf(path, sizeof path, "examples/machines/%s/model.yaml", examples[e]);
    as_machine *m = files_load(path, NULL, 0);
    report(examples[e], m, method, m->simulation.t_end / 20.0);
    as_machine_destroy(m);
  }
  for (int seed = first; seed < first + count && first >= 0; ++seed) {
    random_machine made = random_machine_make((uint64_t)seed);
    as_machine *m = NULL;
    as_messages messages = {0};
    char name[32];
    snprintf(name, sizeof name, "random %d", seed);
    if (made.sort == RANDOM_FREE &&
        as_machine_parse(made.text, strlen(made.text), "random", NULL, 0, &m, &messages) == AS_OK) {
      report(name, m, method, made.t_end);
      as_machine_destroy(m);
    }

    random_machine_free(&made);
  }
  return 0;
}
