/// Measures machines: a chain of links built with the model interface, against IDA of SUNDIALS in the same run
/// (if it was there when this was built), and large chains.
///
/// usage: machines [compare [LINKS...]]      CPU time to the same error of the tip, 1e-5 m
///        machines parts [LINKS]             what evaluations cost beside the linear algebra of a step
///        machines large [LINKS]             100000 links
///        machines count LINKS METHOD STEPS [automatic]  takes steps, for a tool that counts instructions
///
/// Each run is repeated and the fastest counts. Times are CPU time of this process, one thread. To compare, both
/// sides are tuned: IDA's tolerance and KLU's order; our number of steps, rho_inf, Newton's tolerance, and whether factors
/// are kept.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/alphastep.h"
#include "chain_model.h"
#include "core/driver/integrator.h"
#ifdef HAVE_IDA
#include "ida_chain.h"
#endif

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_names[] = {"index-3", "index-2"};
#define USUAL_RHO 0.8

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "machines: %s\n", error->message);
  exit(1);
}

static void *take(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (block) return block;
  fprintf(stderr, "machines: out of memory\n");
  exit(1);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// `tolerance`: of Newton's method, relative and absolute; 0: as usual.
static as_integrator *create(const as_model *m, int method, double rho_inf, bool reuse,
                             double tolerance) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  if (tolerance > 0.0) def.newton.rtol = def.newton.atol = tolerance;
  def.method = methods[method];
  def.rho_inf = rho_inf;
  def.newton.reuse = reuse;
  stop_if(as_integrator_create(as_model_problem(m), &def, &integrator, &error), &error);
  return integrator;
}

// ---- to the same error ------------------------------------------------------------------------------------

typedef struct outcome {
  double seconds, error;
  long steps, factorizations, iterations;
} outcome;

/// A second in equal steps; the start counts.
static outcome run(const as_model *m, as_integrator *integrator, int steps) {
  as_error error;
  as_statistics work;
  const double start = cpu_seconds();
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  for (int i = 0; i < steps; ++i)
    stop_if(as_integrator_step(integrator, 1.0 / steps, &error), &error);
  const double seconds = cpu_seconds() - start;
  stop_if(as_integrator_statistics(integrator, &work, &error), &error);
  double tip[3];
  chain_tip(m, as_integrator_state(integrator), tip);
  return (outcome){seconds, chain_tip_error(as_model_bodies(m), tip), work.steps,
                   work.factorizations, work.newton_iterations};
}

enum { REPETITIONS = 3 };

/// The fewest steps with an error of at most `goal`, by bisection; then the fastest of some runs.
static outcome run_to(const as_model *m, as_integrator *integrator, double goal) {
  int low = 50, high = 500;
  while (high - low > 2) {
    const int middle = (low + high) / 2;
    if (run(m, integrator, middle).error <= goal)
      high = middle;
    else
      low = middle;
  }
  outcome best = run(m, integrator, high);
  for (int i = 1; i < REPETITIONS; ++i) {
    const outcome again = run(m, integrator, high);
    if (again.seconds < best.seconds) best = again;
  }
  return best;
}

#ifdef HAVE_IDA
/// The fastest of all tolerances that reach the goal, with unknowns as they are numbered; then of all orders. IDA's error
/// does not fall evenly with the tolerance: `safe` is the first one from which on all smaller ones reach it, too.
static outcome run_ida(const as_model *m, double goal, outcome *safe) {
  enum { TOLERANCES = 14, CHOICES = 4 };
  as_error error;
  outcome best = {.seconds = (double)INFINITY};
  double best_rtol = 1e-5;
  *safe = (outcome){0};
  as_integrator *integrator = create(m, 0, USUAL_RHO, true, 0.0);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  const as_state *s = as_integrator_state(integrator);
  for (int k = 0; k < TOLERANCES + CHOICES; ++k) {
    const int choice = k < TOLERANCES ? 0 : k - TOLERANCES; // natural; natural, btf; AMD; COLAMD
    const double rtol = k < TOLERANCES ? 1e-3 * pow(10.0, -k / 4.0) : best_rtol;
    const ida_options o = {as_model_bodies(m), 1.0,     rtol,     choice < 2 ? 2 : choice - 2,
                           choice == 1,        s->vdot, s->lambda};
    const ida_result r = ida_chain_run(&o);
    const double e = chain_tip_error(o.n_links, r.tip);
    const bool reached = r.status == 0 && e <= goal;
    const outcome this = {r.seconds, e, r.steps, r.jacobians, r.iterations};
    if (k < TOLERANCES && !(reached && safe->seconds > 0.0)) *safe = reached ? this : (outcome){0};
    if (!reached || !(r.seconds < best.seconds)) continue;
    best = this;
    best_rtol = rtol;
  }
  as_integrator_destroy(integrator);
  return best;
}
#endif

static void print_outcome(const char *what, const outcome *o, double seconds_of_ida) {
  printf("  %-37s %9.4f s  %5ld steps  %5ld matrices  %5ld iterations  error %.1e", what,
         o->seconds, o->steps, o->factorizations, o->iterations, o->error);
  if (seconds_of_ida > 0.0) printf("  1/%.1f of IDA", seconds_of_ida / o->seconds);
  printf("\n");
  fflush(stdout);
}

static void compare(int n_links) {
  const double goal = 1e-5;
  double ida_time = 0.0;
  as_model *m = chain_model(n_links, AS_JOINT_SPHERICAL, AS_SPACE_R3SO3);
  printf("%d links, 1 s, tip within %.0e m\n", n_links, goal);
#ifdef HAVE_IDA
  outcome safe;
  const outcome ida = run_ida(m, goal, &safe);
  print_outcome("IDA", &ida, 0.0);
  print_outcome("IDA, smaller tolerances too", &safe, 0.0);
  ida_time = ida.seconds;
#endif
  static const double tolerances[] = {1e-3, 1e-4, 1e-5}, rhos[] = {0.6, 0.7, USUAL_RHO, 0.9};
  for (int method = 0; method < 2; ++method) {
    outcome best = {.seconds = (double)INFINITY};
    char what[64] = "";
    for (int k = 0; k < 24; ++k) {
      const double tolerance = tolerances[k / 8], rho_inf = rhos[k / 2 % 4];
      as_integrator *integrator = create(m, method, rho_inf, k % 2, tolerance);
      const outcome o = run_to(m, integrator, goal);
      as_integrator_destroy(integrator);
      if (!(o.error <= goal && o.seconds < best.seconds)) continue;
      best = o;
      snprintf(what, sizeof what, "%s, rho %.1f, Newton %.0e%s", method_names[method], rho_inf,
               tolerance, k % 2 ? ", reuse" : "");
    }
    print_outcome(what, &best, ida_time);
  }
  as_model_destroy(m);
}

// ---- what evaluations cost --------------------------------------------------------------------------------

/// Mean time of a call, from enough of them to be seen.
#define MEASURE(call, result)                                                                      \
  do {                                                                                             \
    const double start_ = cpu_seconds();                                                           \
    for (int i_ = 0; i_ < CALLS; ++i_) (void)(call);                                               \
    (result) = (cpu_seconds() - start_) / CALLS;                                                   \
  } while (0)

static void parts(int n_links, as_joint_kind kind, as_space_kind space) {
  enum { CALLS = 50 };
  as_model *m = chain_model(n_links, kind, space);
  for (int method = 0; method < 2; ++method) {
    as_integrator *integrator = create(m, method, USUAL_RHO, false, 0.0);
    as_error error;
    stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
    double step, evaluation, linear;
    MEASURE(as_integrator_step(integrator, 1e-3, &error), step);
    const as_state *s = as_integrator_state(integrator);
    const as_point at = {.t = s->t, .q = s->q, .v = s->v, .vdot = s->vdot, .lambda = s->lambda};
    const as_problem_def *def = &as_model_problem(m)->def;
    double *f = take((size_t)integrator->stepper.unknowns, sizeof(double));
    double *rows = take(2 * (size_t)def->n_lambda, sizeof(double));
    as_block_set tangents = AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_F_Q);
    tangents |= AS_BLOCK_BIT(AS_BLOCK_F_V);
    if (method == 1) tangents |= AS_BLOCK_BIT(AS_BLOCK_GDOT_Q);
    const as_evaluation out = {.force = f,
                               .constraint = rows,
                               .constraint_rate = method == 1 ? rows + def->n_lambda : NULL,
                               .blocks = integrator->kin.block,
                               .block_set = tangents};
    MEASURE(def->evaluate(&at, &out, def->user), evaluation);
    const size_t size = (size_t)integrator->stepper.unknowns * sizeof(double);
    asi_solver *solver = integrator->stepper.active->solver, *eta = integrator->stepper.eta.solver;
    int culprit;
    MEASURE((solver->ops->factor(solver, integrator->stepper.active->value, &culprit),
             eta ? eta->ops->factor(eta, integrator->stepper.eta.value, &culprit) : AS_OK,
             memcpy(f, integrator->stepper.residual, size),
             integrator->stepper.method->solve(&integrator->stepper, f)),
            linear);
    printf("%d links, %s, %s, %s: step %.1f us; residual and Jacobian %.1f, factorization and "
           "solve %.1f us: evaluation/linear algebra = %.2f (goal: at most 1)\n",
           n_links, kind == AS_JOINT_SPHERICAL ? "balls" : "hinges",
           space == AS_SPACE_SE3 ? "SE(3)" : "R^3xSO(3)", method_names[method], 1e6 * step,
           1e6 * evaluation, 1e6 * linear, evaluation / linear);
    free(rows);
    free(f);
    as_integrator_destroy(integrator);
  }
  as_model_destroy(m);
}

// ---- large ------------------------------------------------------------------------------------------------

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
  double start = cpu_seconds();
  as_error error;
  as_model *m = chain_model(n_links, AS_JOINT_SPHERICAL, AS_SPACE_R3SO3);
  printf("%d links: built in %.2f s, %.0f MB\n", n_links, cpu_seconds() - start,
         memory_mb("VmRSS:"));
  for (int method = 0; method < 2; ++method) {
    start = cpu_seconds();
    as_integrator *integrator = create(m, method, USUAL_RHO, false, 0.0);
    stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
    const double opened = cpu_seconds() - start;
    stop_if(as_integrator_step(integrator, 1e-3, &error), &error);
    start = cpu_seconds();
    for (int i = 0; i < STEPS; ++i) stop_if(as_integrator_step(integrator, 1e-3, &error), &error);
    printf("  %s: create and start %.2f s, then %.3f s a step; peak memory so far %.0f MB\n",
           method_names[method], opened, (cpu_seconds() - start) / STEPS, memory_mb("VmHWM:"));
    fflush(stdout);
    as_integrator_destroy(integrator);
  }
  as_model_destroy(m);
}

static int count(char **argument, bool automatic) {
  const int n_links = (int)strtol(argument[0], NULL, 10),
            steps = (int)strtol(argument[2], NULL, 10);
  const int method = strcmp(argument[1], method_names[1]) == 0;
  if (n_links < 1 || steps < 0 || strcmp(argument[1], method_names[method]) != 0) return 2;
  as_model *m = chain_model(n_links, AS_JOINT_SPHERICAL, AS_SPACE_R3SO3);
  as_integrator *integrator = create(m, method, USUAL_RHO, automatic, automatic ? 0.0 : 1e-3);
  as_error error;
  as_statistics work;
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  for (int i = 0; i < steps; ++i)
    stop_if(automatic ? as_integrator_next(integrator, &error)
                      : as_integrator_step(integrator, 5e-3, &error),
            &error);
  stop_if(as_integrator_statistics(integrator, &work, &error), &error);
  printf("%ld iterations, %ld factorizations, %ld solutions\n", work.newton_iterations,
         work.factorizations, work.solves);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return 0;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "compare";
  if (strcmp(mode, "compare") == 0) {
    for (int i = 2; i < argc; ++i) compare((int)strtol(argv[i], NULL, 10));
    if (argc <= 2) {
      compare(100);
      compare(1000);
    }
    return 0;
  }
  if (strcmp(mode, "parts") == 0 && argc <= 3) {
    const int n_links = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 1000;
    parts(n_links, AS_JOINT_SPHERICAL, AS_SPACE_R3SO3);
    parts(n_links, AS_JOINT_REVOLUTE, AS_SPACE_R3SO3);
    parts(n_links, AS_JOINT_SPHERICAL, AS_SPACE_SE3);
    parts(n_links, AS_JOINT_REVOLUTE, AS_SPACE_SE3);
    return 0;
  }
  if (strcmp(mode, "large") == 0 && argc <= 3) {
    large(argc == 3 ? (int)strtol(argv[2], NULL, 10) : 100000);
    return 0;
  }
  if (strcmp(mode, "count") == 0 &&
      (argc == 5 || (argc == 6 && strcmp(argv[5], "automatic") == 0)) &&
      count(argv + 2, argc == 6) == 0)
    return 0;
  fprintf(stderr,
          "usage: machines [compare [LINKS...] | parts [LINKS] | large [LINKS] | count LINKS "
          "index-3|index-2 STEPS [automatic]]\n");
  return 2;
}
