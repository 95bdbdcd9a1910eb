/// What bench/ratios.sh puts side by side, for a machine from a file:
///
/// usage: ratios cpu COMMAND...                     runs a command: user and system seconds of it and its children, kB at most
///        ratios steps FILE METHOD STEP STEPS [SETTING...]    microseconds of a step, the fastest of several runs; Newton
///                                                  iterations and factorizations per step
///        ratios same FILE METHOD RTOL [SETTING...] automatic steps against the fewest equal ones with the same error at the
///                                                  end: seconds, and their ratio. The equal ones by the default Newton
///                                                  tolerance and by 1e-3 and 1e-4, relative and absolute
///
/// The error is the root of the mean square of what positions and velocities are off by at the end, from a run with a rtol of a
/// thousandth. CPU time; runs to be compared take turns, and the fastest of each counts.
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alphastep/alphastep.h"
#include "alphastep/file.h"
#include "core/kinematics/problem.h"

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "ratios: %s\n", error->message);
  exit(1);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_command(char **argument) {
  struct rusage used;
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(127);
    execvp(argument[0], argument);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &used) < 0) return 1;
  printf("%.6f %.6f %ld\n", (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec,
         (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec, used.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static as_machine *load(const char *file, char **settings, int n_settings) {
  as_messages messages;
  as_machine *machine;
  if (as_machine_load(file, (const char *const *)settings, n_settings, &machine, &messages)) {
    for (int i = 0; i < messages.n; ++i) fprintf(stderr, "%s\n", messages.message[i].text);
    exit(1);
  }
  return machine;
}

static as_method method_of(const char *name) {
  return strcmp(name, "index-3") == 0 ? AS_METHOD_INDEX3
         : strcmp(name, "soi2") == 0  ? AS_METHOD_SOI2
                                      : AS_METHOD_INDEX2;
}

typedef struct outcome {
  double seconds, error;
  long steps, factorizations, iterations, rejected;
} outcome;

/// The end of a run, and where it should be.
typedef struct ends {
  double *q, *v, *difference;
} ends;

static double *numbers(int n) {
  double *x = calloc((size_t)n, sizeof *x);
  if (x) return x;
  fprintf(stderr, "ratios: out of memory\n");
  exit(1);
}

/// Steps to the machine's end: `steps` equal ones, 0: automatic ones. `wanted`: NULL, or the right end. `end` receives it.
static outcome run(const as_machine *m, as_integrator *s, long steps, const ends *wanted,
                   ends *end) {
  const as_problem *p = as_model_problem(m->model);
  const double t_end = m->simulation.t_end;
  as_error error;
  as_statistics work;
  const double start = cpu_seconds();
  stop_if(as_integrator_start(s, as_model_initial(m->model), NULL, &error), &error);
  for (long i = 0; i < steps; ++i) {
    const as_status status = as_integrator_step(s, t_end / (double)steps, &error);
    if (status) return (outcome){.seconds = (double)INFINITY, .error = (double)INFINITY};
  }
  if (steps == 0) stop_if(as_integrator_advance(s, t_end, &error), &error);
  outcome o = {.seconds = cpu_seconds() - start};
  stop_if(as_integrator_statistics(s, &work, &error), &error);
  o.steps = work.steps;
  o.factorizations = work.factorizations;
  o.iterations = work.newton_iterations;
  o.rejected = work.rejected_steps;
  const as_state *state = as_integrator_state(s);
  if (end) {
    memcpy(end->q, state->q, (size_t)p->nq * sizeof(double));
    memcpy(end->v, state->v, (size_t)p->n * sizeof(double));
  }
  if (wanted == NULL) return o;
  as_space_difference(p->space, wanted->q, state->q, wanted->difference);
  double sum = 0.0;
  for (int i = 0; i < p->n; ++i) {
    const double dv = state->v[i] - wanted->v[i];
    sum += wanted->difference[i] * wanted->difference[i] + dv * dv;
  }
  o.error = sqrt(sum / p->n);
  return o;
}

static as_integrator *create(const as_machine *m, as_method method, double rtol, double newton) {
  as_integrator_def def = m->simulation.integrator;
  as_integrator *s;
  as_error error;
  def.method = method;
  def.step = (double)NAN;
  def.tolerance.rtol = rtol;
  def.tolerance.land = true;
  def.tolerance.span = m->simulation.t_end;
  if (newton > 0.0) def.newton.rtol = def.newton.atol = newton;
  stop_if(as_integrator_create(as_model_problem(m->model), &def, &s, &error), &error);
  return s;
}

/// The fewest equal steps with an error of at most `goal`.
static long fewest_steps(const as_machine *m, as_integrator *s, const ends *wanted, double goal,
                         long guess) {
  long low = guess / 8 + 1, high = guess;
  while (high < 256 * guess && !(run(m, s, high, wanted, NULL).error <= goal)) {
    low = high;
    high *= 2;
  }
  while (high - low > high / 30 + 1) {
    const long middle = (low + high) / 2;
    if (run(m, s, middle, wanted, NULL).error <= goal)
      high = middle;
    else
      low = middle;
  }
  return high;
}

static int same_error(const as_machine *m, as_method method, double rtol) {
  enum { POLICIES = 4, REPETITIONS = 7 };
  static const double newton[POLICIES] = {0.0, 0.0, 1e-3, 1e-4}; // the first one is automatic
  static const char *const what[POLICIES] = {"automatic", "equal, default", "equal, 1e-3",
                                             "equal, 1e-4"};
  const as_problem *p = as_model_problem(m->model);
  ends wanted = {numbers(p->nq), numbers(p->n), numbers(p->n)};
  as_integrator *fine = create(m, method, 1e-3 * rtol, 0.0);
  run(m, fine, 0, NULL, &wanted);
  as_integrator_destroy(fine);
  as_integrator *s[POLICIES];
  outcome best[POLICIES];
  long steps[POLICIES] = {0};
  for (int i = 0; i < POLICIES; ++i) {
    s[i] = create(m, method, rtol, newton[i]);
    if (i > 0) steps[i] = fewest_steps(m, s[i], &wanted, best[0].error, best[0].steps);
    best[i] = run(m, s[i], steps[i], &wanted, NULL);
  }
  for (int k = 1; k < REPETITIONS; ++k)
    for (int i = 0; i < POLICIES; ++i)
      best[i].seconds = fmin(best[i].seconds, run(m, s[i], steps[i], &wanted, NULL).seconds);
  double least = (double)INFINITY;
  for (int i = 1; i < POLICIES; ++i) least = fmin(least, best[i].seconds);
  for (int i = 0; i < POLICIES; ++i) {
    printf("  %-15s %9.3f ms  %6ld steps  %4ld rejected  %6ld factorizations  %6ld iterations  "
           "error %.1e\n",
           what[i], 1e3 * best[i].seconds, best[i].steps, best[i].rejected, best[i].factorizations,
           best[i].iterations, best[i].error);
    as_integrator_destroy(s[i]);
  }
  printf("  automatic / best equal: %.2f; default / best equal: %.2f\n", best[0].seconds / least,
         best[1].seconds / least);
  free(wanted.q);
  free(wanted.v);
  free(wanted.difference);
  return 0;
}

static int time_steps(const as_machine *m, as_method method, double h, long steps) {
  enum { REPETITIONS = 15 };
  as_integrator_def def = m->simulation.integrator;
  as_integrator *s;
  as_error error;
  as_statistics work;
  double best = (double)INFINITY;
  def.method = method;
  stop_if(as_integrator_create(as_model_problem(m->model), &def, &s, &error), &error);
  for (int k = 0; k < REPETITIONS; ++k) {
    stop_if(as_integrator_start(s, as_model_initial(m->model), NULL, &error), &error);
    const double start = cpu_seconds();
    for (long i = 0; i < steps; ++i) stop_if(as_integrator_step(s, h, &error), &error);
    best = fmin(best, cpu_seconds() - start);
  }
  stop_if(as_integrator_statistics(s, &work, &error), &error);
  printf("%.3f us  %.2f iterations  %.2f factorizations\n", 1e6 * best / (double)steps,
         (double)work.newton_iterations / (double)work.steps,
         (double)work.factorizations / (double)work.steps);
  as_integrator_destroy(s);
  return 0;
}

int main(int count, char **argument) {
  const char *mode = count > 1 ? argument[1] : "";
  int status = 2;
  if (strcmp(mode, "cpu") == 0 && count > 2) return run_command(argument + 2);
  if (strcmp(mode, "steps") == 0 && count >= 6) {
    as_machine *m = load(argument[2], argument + 6, count - 6);
    status = time_steps(m, method_of(argument[3]), strtod(argument[4], NULL),
                        strtol(argument[5], NULL, 10));
    as_machine_destroy(m);
  } else if (strcmp(mode, "same") == 0 && count >= 5) {
    as_machine *m = load(argument[2], argument + 5, count - 5);
    status = same_error(m, method_of(argument[3]), strtod(argument[4], NULL));
    as_machine_destroy(m);
  }
  if (status == 2)
    fprintf(stderr, "usage: ratios cpu COMMAND... | steps FILE METHOD STEP STEPS [SETTING...] | "
                    "same FILE METHOD RTOL [SETTING...]\n");
  return status;
}
