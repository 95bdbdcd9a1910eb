/// Measures what a step costs: time, Newton iterations, and time in units of one refactorization plus one
/// solve of the step's own matrix. See docs/performance.md.
///
/// usage: steps [table [NAME | --csv FILE]]        all problems, or one; all methods and policies
///        steps large [LINKS]                      a chain too large for anything but linear growth
///        steps decay                              a motion that dies out: no slower for being small
///        steps count NAME METHOD POLICY STEPS     takes steps, for a tool that counts instructions
///
/// The last one prints how many Newton iterations that took.
///
/// A run is repeated; of each step the fastest repetition counts, because other programs only ever add time.
/// The state after a step does not depend on the clock, so repetitions do the same work.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/driver/integrator.h"
#include "core/kinematics/ordering.h"
#include "subjects.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_names[] = {"index-3", "index-2"};
static const char *const policy_names[] = {"renew", "reuse"};

/// Nothing here is worth going on after a failure.
static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "steps: %s\n", error->message);
  exit(1);
}

static void stop_without_memory(const void *block) {
  if (block) return;
  fprintf(stderr, "steps: out of memory\n");
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- a run --------------------------------------------------------------------------------------------

typedef struct run {
  subject *s;
  as_problem *problem;
  as_integrator *integrator;
} run;

static void run_restart(const run *r) {
  as_error error;
  const as_initial initial = {.t = r->s->t0, .q = r->s->q0, .v = r->s->v0};
  stop_if(as_integrator_start(r->integrator, &initial, NULL, &error), &error);
}

static run run_open(subject *s, as_method method, bool reuse) {
  run r = {.s = s};
  as_error error;
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.newton.reuse = reuse;
  stop_if(as_problem_create(&s->def, &r.problem, &error), &error);
  stop_if(as_integrator_create(r.problem, &def, &r.integrator, &error), &error);
  run_restart(&r);
  return r;
}

static void run_close(run *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->problem);
}

static void run_steps(const run *r, int steps) {
  as_error error;
  for (int i = 0; i < steps; ++i)
    stop_if(as_integrator_step(r->integrator, r->s->h, &error), &error);
}

// ---- the table ----------------------------------------------------------------------------------------

typedef struct result {
  const char *problem, *method, *policy;
  const char *backend;
  double step;       ///< [s]
  double linear;     ///< one factorization and one solve [s]
  double klu;        ///< the same by KLU with the pivots it has; NAN: a dense system [s]
  double iterations; ///< per step
  double factorizations;
  long full; ///< factorizations with a search for pivots, in one repetition
  double error;
} result;

static as_status factor_again(as_integrator *s) {
  asi_solver *solver = s->stepper.active->solver, *eta = s->stepper.eta.solver;
  int culprit;
  const as_status status = solver->ops->factor(solver, s->stepper.active->value, &culprit);
  if (status || s->stepper.active == &s->stepper.step || eta == NULL) return status;
  return eta->ops->factor(eta, s->stepper.eta.value, &culprit);
}

/// Factorizes the step's matrix once more, as it is, and solves: the factors come out as they were. The first
/// solution after a factorization is checked; what is timed is a plain one.
static double time_linear(const run *r, double *b) {
  as_integrator *s = r->integrator;
  const size_t size = (size_t)s->stepper.unknowns * sizeof(double);
  const double start = seconds();
  const as_status factored = factor_again(s);
  const double factor_time = seconds() - start;
  memcpy(b, s->stepper.residual, size);
  const as_status solved = s->stepper.method->solve(&s->stepper, b);
  memcpy(b, s->stepper.residual, size);
  const double middle = seconds();
  const as_status again = s->stepper.method->solve(&s->stepper, b);
  const double solve_time = seconds() - middle;
  if (factored || solved || again) {
    fprintf(stderr, "steps: the matrix of a step is singular\n");
    exit(1);
  }
  return factor_time + solve_time;
}

static void keep_least(double *least, double x) {
  if (x < *least) *least = x;
}

/// One refactorization and one solve of a system's matrix by KLU, the yardstick.
static double time_klu(const run *r, const asi_system *system, double *b) {
  enum { REPETITIONS = 30 };
  asi_elimination graph;
  asi_solver *klu = NULL;
  as_error error;
  double least = (double)INFINITY;
  stop_if(asi_order_by_graph(r->problem, system->size, &graph, &error), &error);
  stop_if(asi_sparse_lu_create(system->size, system->pattern.col_start, system->pattern.row,
                               graph.order, ASI_ORDER_GIVEN, &klu, &error),
          &error);
  for (int i = 0; i < REPETITIONS; ++i) {
    int culprit;
    double time[2];
    for (int part = 0; part < 2; ++part) { // the first solution is checked, the second one is not
      for (int k = 0; k < system->size; ++k) b[k] = 1.0;
      const double start = seconds();
      const bool failed = part == 0 && klu->ops->factor(klu, system->value, &culprit);
      time[part] = seconds() - start;
      if (failed || klu->ops->solve(klu, b)) exit(1);
      if (part == 1) time[1] = seconds() - start;
    }
    keep_least(&least, time[0] + time[1]);
  }
  klu->ops->destroy(klu);
  asi_elimination_free(&graph);
  return least;
}

/// NAN if the systems are dense.
static double time_klu_of_step(const run *r, double *b) {
  const as_integrator *s = r->integrator;
  if (s->stepper.active->size < ASI_MIN_SPARSE) return (double)NAN;
  const bool decoupled = s->stepper.active == &s->stepper.shared && s->stepper.eta.solver != NULL;
  return time_klu(r, s->stepper.active, b) + (decoupled ? time_klu(r, &s->stepper.eta, b) : 0.0);
}

static double mean(const double *x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum / n;
}

static long full_factorizations(const run *r) {
  const asi_system *const systems[] = {&r->integrator->stepper.step,
                                       &r->integrator->stepper.shared};
  long sum = 0;
  for (int i = 0; i < 2; ++i) {
    asi_solver_info info;
    if (systems[i]->solver == NULL) continue;
    systems[i]->solver->ops->info(systems[i]->solver, &info);
    sum += info.full_factorizations;
  }
  return sum;
}

static result measure(subject *s, int method, bool reuse) {
  enum { REPETITIONS = 7, BETWEEN = 10 }; // linear algebra is timed after every tenth step
  run r = run_open(s, methods[method], reuse);
  const int steps = s->steps, samples = steps / BETWEEN;
  double *step_time = malloc((size_t)steps * sizeof(double));
  double *linear_time = malloc((size_t)samples * sizeof(double));
  double *b = malloc((size_t)r.integrator->stepper.unknowns * sizeof(double));
  stop_without_memory(step_time);
  stop_without_memory(linear_time);
  stop_without_memory(b);
  for (int i = 0; i < steps; ++i) step_time[i] = (double)INFINITY;
  for (int i = 0; i < samples; ++i) linear_time[i] = (double)INFINITY;
  as_statistics begin, end;
  as_error error;
  long full = 0;
  for (int repetition = 0; repetition < REPETITIONS; ++repetition) {
    run_restart(&r);
    stop_if(as_integrator_statistics(r.integrator, &begin, &error), &error);
    full = 0;
    for (int i = 0; i < steps; ++i) {
      const long full_before = full_factorizations(&r);
      const double start = seconds();
      stop_if(as_integrator_step(r.integrator, s->h, &error), &error);
      keep_least(&step_time[i], seconds() - start);
      full += full_factorizations(&r) - full_before;
      if (i % BETWEEN == BETWEEN - 1) keep_least(&linear_time[i / BETWEEN], time_linear(&r, b));
    }
    stop_if(as_integrator_statistics(r.integrator, &end, &error), &error);
  }
  asi_solver_info info;
  r.integrator->stepper.active->solver->ops->info(r.integrator->stepper.active->solver, &info);
  const result out = {
      .problem = s->name,
      .method = method_names[method],
      .policy = policy_names[reuse],
      .backend = info.backend,
      .step = mean(step_time, steps),
      .linear = mean(linear_time, samples),
      .klu = time_klu_of_step(&r, b),
      .iterations = (double)(end.newton_iterations - begin.newton_iterations) / steps,
      .factorizations = (double)(end.factorizations - begin.factorizations) / steps,
      .full = full,
      .error = s->error ? s->error(s, as_integrator_state(r.integrator)) : (double)NAN,
  };
  free(step_time);
  free(linear_time);
  free(b);
  run_close(&r);
  return out;
}

static void print_result(const result *r) {
  printf("%-12s %-8s %-6s %-12s %11.2f %11.2f %8.2f %11.2f %8.2f %8.2f %8.2f %5ld", r->problem,
         r->method, r->policy, r->backend, 1e6 * r->step, 1e6 * r->linear, r->step / r->linear,
         1e6 * r->klu, r->step / r->klu, r->iterations, r->factorizations, r->full);
  if (isnan(r->error))
    printf("          -\n");
  else
    printf(" %10.2e\n", r->error);
  fflush(stdout);
}

static void write_result(FILE *csv, const result *r) {
  fprintf(csv, "%s,%s,%s,%s,%.3f,%.3f,%.4f,%.3f,%.4f,%.4f,%.4f,%ld,", r->problem, r->method,
          r->policy, r->backend, 1e6 * r->step, 1e6 * r->linear, r->step / r->linear, 1e6 * r->klu,
          r->step / r->klu, r->iterations, r->factorizations, r->full);
  if (isnan(r->error))
    fprintf(csv, "\n"); // not known
  else
    fprintf(csv, "%.3e\n", r->error);
}

/// Prints the table, of one problem if `only` is not NULL.
static int table(const char *csv_path, const char *only) {
  result goal[2][2] = {{{0}}}; // of chain-1000
  const char *const all[] = {"chain-10", "chain-100",  "chain-1000", "chain-10000",
                             "top",      "fourbar-40", "andrews"};
  const char *const *names = only ? &only : all;
  const size_t n_names = only ? 1 : sizeof all / sizeof all[0];
  FILE *csv = NULL;
  if (csv_path) {
    csv = fopen(csv_path, "w");
    if (csv == NULL) {
      perror(csv_path);
      return 4;
    }
    fprintf(csv, "problem,method,policy,backend,step_us,factor_and_solve_us,ratio,klu_us,klu_ratio,"
                 "newton_iterations_per_step,factorizations_per_step,full_factorizations,error\n");
  }
  printf("%-12s %-8s %-6s %-12s %11s %11s %8s %11s %8s %8s %8s %5s %10s\n", "problem", "method",
         "policy", "solver", "step/us", "linear/us", "ratio", "KLU/us", "ratio", "newton", "factor",
         "full", "error");
  for (size_t i = 0; i < n_names; ++i) {
    subject s;
    if (!subject_open(&s, names[i])) {
      fprintf(stderr, "steps: no problem \"%s\"\n", names[i]);
      return 2;
    }
    for (int method = 0; method < 2; ++method) {
      for (int reuse = 0; reuse < 2; ++reuse) {
        const result r = measure(&s, method, reuse);
        print_result(&r);
        if (strcmp(names[i], "chain-1000") == 0) goal[method][reuse] = r;
        if (csv) write_result(csv, &r);
      }
    }
    subject_close(&s);
  }
  for (int method = 0; method < 2 && goal[0][0].problem; ++method) {
    const result *renew = &goal[method][0], *reuse = &goal[method][1];
    printf("1000 links, %s: a step takes %.2f (renew) or %.2f (reuse) times a factorization and a "
           "solve, %.2f or %.2f times one by KLU (goal: at most 2.5), and %.2f or %.2f Newton "
           "iterations (goal: at most 1.3)\n",
           method_names[method], renew->step / renew->linear, reuse->step / reuse->linear,
           renew->step / renew->klu, reuse->step / reuse->klu, renew->iterations,
           reuse->iterations);
  }
  if (csv && fclose(csv) != 0) {
    perror(csv_path);
    return 4;
  }
  return 0;
}

// ---- large --------------------------------------------------------------------------------------------

/// A line of /proc/self/status in MB; NAN where there is no such file.
static double memory_mb(const char *key) {
  FILE *file = fopen("/proc/self/status", "r");
  if (file == NULL) return (double)NAN;
  char line[256];
  double kb = (double)NAN;
  while (fgets(line, sizeof line, file))
    if (strncmp(line, key, strlen(key)) == 0) kb = strtod(line + strlen(key), NULL);
  fclose(file);
  return kb / 1024.0;
}

static void large(int n_links) {
  enum { STEPS = 10 };
  char name[32];
  snprintf(name, sizeof name, "chain-%d", n_links);
  for (int method = 0; method < 2; ++method) {
    subject s;
    double drift[2];
    as_error error;
    if (!subject_open(&s, name)) stop_without_memory(NULL);
    double start = seconds();
    run r = run_open(&s, methods[method], false);
    const double opened = seconds() - start;
    start = seconds();
    run_steps(&r, 1);
    const double first = seconds() - start;
    start = seconds();
    run_steps(&r, STEPS);
    const double step = (seconds() - start) / STEPS;
    stop_if(as_integrator_drift(r.integrator, &drift[0], &drift[1], &error), &error);
    printf("%s %s: create and start %.2f s, first step %.2f s, then %.3f s a step; "
           "|g| = %.1e; peak memory so far %.0f MB\n",
           name, method_names[method], opened, first, step, drift[0], memory_mb("VmHWM:"));
    fflush(stdout);
    run_close(&r);
    subject_close(&s);
  }
}

// ---- decay --------------------------------------------------------------------------------------------

static int compare_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/// Takes steps until t and reports on them, with the median time of a step.
static void print_stage(const run *r, const char *what, double t) {
  as_statistics begin, end;
  as_error error;
  const as_state *state = as_integrator_state(r->integrator);
  const int steps = (int)lround((t - state->t) / r->s->h);
  stop_if(as_integrator_statistics(r->integrator, &begin, &error), &error);
  double *time = malloc((size_t)steps * sizeof(double));
  stop_without_memory(time);
  for (int i = 0; i < steps; ++i) {
    const double start = seconds();
    run_steps(r, 1);
    time[i] = seconds() - start;
  }
  qsort(time, (size_t)steps, sizeof(double), compare_double);
  const double median = time[steps / 2];
  free(time);
  stop_if(as_integrator_statistics(r->integrator, &end, &error), &error);
  double largest = 0.0;
  for (int i = 0; i < r->s->part.count; ++i) largest = fmax(largest, fabs(state->v[i]));
  printf("  %-22s t = %5.1f s  max |v| = %8.1e  %7.2f us and %.2f Newton iterations a step\n", what,
         state->t, largest, 1e6 * median,
         (double)(end.newton_iterations - begin.newton_iterations) / steps);
}

static void decay(void) {
  enum { MASSES = 2000 };
  for (int spread = 1; spread >= 0; --spread) {
    subject s;
    if (!subject_open_bar(&s, MASSES, spread)) stop_without_memory(NULL);
    run r = run_open(&s, AS_METHOD_INDEX2, true);
    printf("bar of %d masses, %s displaced at the start\n", MASSES,
           spread ? "all" : "only the first");
    print_stage(&r, "at once", 20.0);
    print_stage(&r, "small", 40.0);
    print_stage(&r, "(on the way)", 680.0);
    print_stage(&r, "near 1e-300", 700.0);
    print_stage(&r, "(on the way)", 715.0);
    print_stage(&r, "below normal numbers", 735.0);
    print_stage(&r, "(on the way)", 760.0);
    print_stage(&r, "at the end", 780.0);
    run_close(&r);
    subject_close(&s);
  }
}

// ---- arguments ----------------------------------------------------------------------------------------

static int index_of(const char *text, const char *const *names) {
  for (int i = 0; i < 2; ++i)
    if (strcmp(text, names[i]) == 0) return i;
  return -1;
}

static int count(char **argument) {
  subject s;
  const int method = index_of(argument[1], method_names),
            policy = index_of(argument[2], policy_names);
  const long steps = strtol(argument[3], NULL, 10);
  if (method < 0 || policy < 0 || steps < 0 || !subject_open(&s, argument[0])) return 2;
  run r = run_open(&s, methods[method], policy == 1);
  run_steps(&r, (int)steps);
  as_statistics work;
  as_error error;
  stop_if(as_integrator_statistics(r.integrator, &work, &error), &error);
  printf("%ld\n", work.newton_iterations);
  run_close(&r);
  subject_close(&s);
  return 0;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "table";
  int status = 2;
  if (argc <= 3 && strcmp(mode, "table") == 0) {
    status = table(NULL, argc == 3 ? argv[2] : NULL);
  } else if (argc == 4 && strcmp(mode, "table") == 0 && strcmp(argv[2], "--csv") == 0) {
    status = table(argv[3], NULL);
  } else if (argc <= 3 && strcmp(mode, "large") == 0) {
    large(argc == 3 ? (int)strtol(argv[2], NULL, 10) : 100000);
    status = 0;
  } else if (argc == 2 && strcmp(mode, "decay") == 0) {
    decay();
    status = 0;
  } else if (argc == 6 && strcmp(mode, "count") == 0) {
    status = count(argv + 2);
  }
  if (status == 2)
    fprintf(stderr, "usage: steps [table [NAME | --csv FILE] | large [LINKS] | decay | "
                    "count NAME index-3|index-2 renew|reuse STEPS]\n");
  return status;
}
