/// Work against error: steps of second order and of order 6, and IDA where SUNDIALS is installed (a chain of ten links). See
/// docs/automatic-steps.md.
///
/// usage: order [PROBLEM ...]
///
/// For each problem of the accuracy set and each tolerance: the error of the worst variable over 30 times, relative to its size, steps,
/// iterations and factorizations, and CPU time (the least of several runs); then the time that errors of 1e-6 and 1e-8 take, on a
/// straight line in logarithms between tolerances. Exit status: 1 if a run fails.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/alphastep.h"
#include "problems/automatic.h"
#include "subjects.h"
#ifdef HAVE_IDA
#include "ida_chain.h"
#endif

enum { TOLERANCES = 7, REPETITIONS = 3, LINKS = 10 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Errors and times of a series of runs.
typedef struct series {
  double error[TOLERANCES], seconds[TOLERANCES];
} series;

/// The time that an error takes: on the line through the two runs around it, or at the end next to it; NAN where none is as good.
static double time_of(const series *s, double error) {
  for (int i = 0; i < TOLERANCES; ++i) {
    if (!(s->error[i] <= error)) continue;
    if (i == 0) return s->seconds[0];
    const double share = log(s->error[i - 1] / error) / log(s->error[i - 1] / s->error[i]);
    return exp((1.0 - share) * log(s->seconds[i - 1]) + share * log(s->seconds[i]));
  }
  return (double)NAN;
}

static void print_run(const char *name, const char *what, double rtol, double error, double time,
                      const as_statistics *w) {
  printf("%-18s %-8s %6.0e %9.1e %7ld steps %7ld iterations %7ld factorizations %9.3f ms\n", name,
         what, rtol, error, w->steps, w->newton_iterations, w->factorizations, 1e3 * time);
}

static void print_times(const char *name, const char *what, const series *second, const series *s) {
  for (int k = 0; k < 2; ++k) {
    const double error = k ? 1e-8 : 1e-6, a = time_of(second, error), b = time_of(s, error);
    printf("%-18s error %.0e: second order %9.3f ms, %s %9.3f ms: %.3f\n", name, error, 1e3 * a,
           what, 1e3 * b, b / a);
  }
}

static as_integrator_def definition(int order, double rtol) {
  as_integrator_def def = as_default_integrator_def();
  def.order = order;
  def.tolerance.rtol = rtol;
  return def;
}

static void stop(const char *name, const as_error *error) {
  fprintf(stderr, "order: %s: %s\n", name, error->message);
  exit(1);
}

static series measure(const automatic_problem *p, int order) {
  series s;
  for (int i = 0; i < TOLERANCES; ++i) {
    const double rtol = pow(10.0, -3.0 - i);
    const as_integrator_def def = definition(order, rtol);
    automatic_run r;
    s.seconds[i] = (double)INFINITY;
    for (int k = 0; k < REPETITIONS; ++k) {
      const double start = seconds();
      r = automatic_integrate(p, &def, AUTOMATIC_TIMES);
      s.seconds[i] = fmin(s.seconds[i], seconds() - start);
    }
    if (r.status) stop(p->name, &r.error);
    s.error[i] = 0.0;
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) s.error[i] = fmax(s.error[i], r.overall[k]);
    print_run(p->name, order == 2 ? "2" : "6", rtol, s.error[i], s.seconds[i], &r.work);
  }
  return s;
}

// ---- a chain --------------------------------------------------------------------------------------------

/// One second of the chain: its tip, and the time it takes.
static double run_chain(const subject *links, const as_problem *problem, int order, double rtol,
                        double tip[3], as_statistics *work) {
  const as_integrator_def def = definition(order, rtol);
  as_integrator *s = NULL;
  as_error error;
  as_status status = as_integrator_create(problem, &def, &s, &error);
  const double start = seconds();
  if (status == AS_OK)
    status = as_integrator_start(s, &(as_initial){.q = links->q0, .v = links->v0}, NULL, &error);
  if (status == AS_OK) status = as_integrator_advance(s, 1.0, &error);
  const double time = seconds() - start;
  if (status == AS_OK) status = as_integrator_statistics(s, work, &error);
  if (status) stop(links->name, &error);
  chain_tip(&links->links, as_integrator_state(s)->q, tip);
  as_integrator_destroy(s);
  return time;
}

static double distance(const double *a, const double *b) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) / LINKS;
}

#ifdef HAVE_IDA
static series measure_ida(const as_problem *problem, const subject *links, const double *exact) {
  series s;
  const as_integrator_def def = definition(2, 1e-6);
  as_integrator *integrator = NULL;
  as_error error;
  as_status status = as_integrator_create(problem, &def, &integrator, &error);
  if (status == AS_OK)
    status = as_integrator_start(integrator, &(as_initial){.q = links->q0, .v = links->v0}, NULL,
                                 &error);
  if (status) stop(links->name, &error);
  const as_state *state = as_integrator_state(integrator);
  for (int i = 0; i < TOLERANCES; ++i) {
    const double rtol = pow(10.0, -3.0 - i);
    const ida_options o = {LINKS, 1.0, rtol, 2, 0, state->vdot, state->lambda};
    ida_result r;
    s.seconds[i] = (double)INFINITY;
    for (int k = 0; k < REPETITIONS; ++k) {
      r = ida_chain_run(&o);
      s.seconds[i] = fmin(s.seconds[i], r.seconds);
    }
    s.error[i] = r.status ? (double)NAN : distance(r.tip, exact);
    const as_statistics work = {
        .steps = r.steps, .newton_iterations = r.iterations, .factorizations = r.jacobians};
    print_run(links->name, "IDA", rtol, s.error[i], s.seconds[i], &work);
  }
  as_integrator_destroy(integrator);
  return s;
}
#endif

static void measure_chain(void) {
  subject links;
  as_problem *problem = NULL;
  as_error error;
  as_statistics work;
  double exact[3];
  series of[2];
  if (!subject_open(&links, "chain-10")) exit(1);
  if (as_problem_create(&links.def, &problem, &error)) stop(links.name, &error);
  (void)run_chain(&links, problem, 6, 1e-11, exact, &work);
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < TOLERANCES; ++i) {
      const double rtol = pow(10.0, -3.0 - i);
      double tip[3];
      of[k].seconds[i] = (double)INFINITY;
      for (int j = 0; j < REPETITIONS; ++j)
        of[k].seconds[i] =
            fmin(of[k].seconds[i], run_chain(&links, problem, k ? 6 : 2, rtol, tip, &work));
      of[k].error[i] = distance(tip, exact);
      print_run(links.name, k ? "6" : "2", rtol, of[k].error[i], of[k].seconds[i], &work);
    }
  print_times(links.name, "order 6", &of[0], &of[1]);
#ifdef HAVE_IDA
  const series ida = measure_ida(problem, &links, exact);
  print_times(links.name, "IDA", &of[0], &ida);
#endif
  as_problem_destroy(problem);
  subject_close(&links);
}

int main(int argc, char **argv) {
  for (int i = 0; i < automatic_count(); ++i) {
    bool wanted = argc < 2;
    for (int k = 1; k < argc; ++k) wanted = wanted || strcmp(argv[k], automatic_name(i)) == 0;
    if (!wanted) continue;
    automatic_problem *p = automatic_open(i);
    const series second = measure(p, 2), high = measure(p, 6);
    print_times(p->name, "order 6", &second, &high);
    fflush(stdout);
    automatic_close(p);
  }
  bool wanted = argc < 2;
  for (int k = 1; k < argc; ++k) wanted = wanted || strcmp(argv[k], "chain-10") == 0;
  if (wanted) measure_chain();
}
