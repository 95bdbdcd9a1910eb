/// Measures what threads save in single large machines.
///
/// usage: threads [compare [BODIES [THREADS]]]           trees, lattices and chains: a step with one thread and with several
///        threads count MACHINE BODIES METHOD STEPS [THREADS]    takes steps, for a tool that counts instructions
///
/// MACHINE is tree, lattice or chain, METHOD index-2 or index-3. Runs to be compared take turns, and medians count: of wall time, which
/// means something on an idle computer only, and of the processor time of the caller's thread. That is wall time without others; with two threads
/// what it does alone, and about half of what is shared.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/alphastep.h"

static const as_method methods[] = {AS_METHOD_INDEX2, AS_METHOD_INDEX3};
static const char *const method_names[] = {"index-2", "index-3"};

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "threads: %s\n", error->message);
  exit(1);
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- machines -------------------------------------------------------------------------------------------

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static as_body_id add_body(as_builder *b, double x, double y, double z, uint64_t *state) {
  as_error error;
  as_body_id body;
  as_body_def def = as_default_body_def();
  def.mass = 1.0;
  memcpy(def.inertia, (double[]){0.08, 0.1, 0.12, 0.01, -0.02, 0.015}, sizeof def.inertia);
  def.position[0] = x + 0.1 * random_number(state);
  def.position[1] = y + 0.1 * random_number(state);
  def.position[2] = z + 0.1 * random_number(state);
  stop_if(as_builder_add_body(b, &def, &body, &error), &error);
  return body;
}

static void join(as_builder *b, as_body_id one, as_body_id two, double x, double y, double z,
                 uint64_t *state) {
  as_error error;
  as_joint_def def = as_default_joint_def();
  def.kind = AS_JOINT_SPHERICAL;
  def.body[0] = one;
  def.body[1] = two;
  def.point[0] = x + 0.2 * random_number(state);
  def.point[1] = y + 0.2 * random_number(state);
  def.point[2] = z + 0.2 * random_number(state);
  stop_if(as_builder_add_joint(b, &def, NULL, &error), &error);
}

/// Each body holds two others, which hang below it.
static void add_tree(as_builder *b, int n_bodies) {
  uint64_t state = 2;
  double *x = calloc((size_t)n_bodies, sizeof *x);
  stop_if(x ? AS_OK : AS_ERR_MEMORY, &(as_error){.message = "out of memory"});
  for (int i = 0, level = 0; i < n_bodies; ++i) {
    const int parent = (i - 1) / 2;
    if (i + 1 == 2 << level) ++level;
    const double above = i == 0 ? 0.0 : x[parent];
    x[i] = above + 0.7 * random_number(&state);
    const as_body_id body = add_body(b, x[i], 0.0, -0.7 * level, &state);
    join(b, i == 0 ? AS_GROUND : (as_body_id){parent}, body, 0.5 * (above + x[i]), 0.0,
         0.35 - 0.7 * level, &state);
  }
  free(x);
}

/// A square of bodies, each of which is joined to its neighbours; it hangs by two corners.
static void add_lattice(as_builder *b, int n_bodies) {
  const int n = (int)sqrt((double)n_bodies);
  uint64_t state = 1;
  for (int i = 0; i < n * n; ++i) add_body(b, i % n, 0.0, -(i / n), &state);
  for (int i = 0; i < n * n; ++i) {
    const double x = i % n, z = -(i / n);
    if (i % n + 1 < n) join(b, (as_body_id){i}, (as_body_id){i + 1}, x + 0.5, 0.0, z, &state);
    if (i / n + 1 < n) join(b, (as_body_id){i}, (as_body_id){i + n}, x, 0.0, z - 0.5, &state);
  }
  join(b, AS_GROUND, (as_body_id){0}, 0.0, 0.0, 0.0, &state);
  join(b, AS_GROUND, (as_body_id){n - 1}, n - 1, 0.0, 0.0, &state);
}

static void add_chain(as_builder *b, int n_bodies) {
  uint64_t state = 3;
  as_body_id last = AS_GROUND;
  for (int i = 0; i < n_bodies; ++i) {
    const as_body_id body = add_body(b, i, 0.0, 0.0, &state);
    join(b, last, body, i - 0.5, 0.0, 0.0, &state);
    last = body;
  }
}

static const struct {
  const char *name;
  void (*add)(as_builder *b, int n_bodies);
} machines[] = {{"tree", add_tree}, {"lattice", add_lattice}, {"chain", add_chain}};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static as_model *build(int machine, int n_bodies) {
  as_error error;
  as_builder *b = NULL;
  as_model *model = NULL;
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error), &error);
  machines[machine].add(b, n_bodies);
  stop_if(as_builder_build(b, &model, &error), &error);
  as_builder_destroy(b);
  return model;
}

static as_integrator *start(const as_model *m, int method, int threads) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = methods[method];
  def.threads = threads;
  stop_if(as_integrator_create(as_model_problem(m), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  return integrator;
}

static void step(as_integrator *s, int steps) {
  as_error error;
  for (int i = 0; i < steps; ++i) stop_if(as_integrator_step(s, 1e-3, &error), &error);
}

// ---- comparisons ----------------------------------------------------------------------------------------

/// What a step has taken: wall time, and processor time of the caller's thread and of all threads [s].
typedef struct times {
  double wall, own, all;
} times;

static times take_steps(as_integrator *s, int steps) {
  const times begin = {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_THREAD_CPUTIME_ID),
                       seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
  step(s, steps);
  return (times){(seconds_of(CLOCK_MONOTONIC) - begin.wall) / steps,
                 (seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin.own) / steps,
                 (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin.all) / steps};
}

static int compare_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { TURNS = 9, STEPS = 4 };

static double median(double *x) {
  qsort(x, TURNS, sizeof *x, compare_double);
  return x[TURNS / 2];
}

/// The same steps with one thread and with several, in turns.
static void compare(int machine, int method, int n_bodies, int threads) {
  double wall[2][TURNS], own[2][TURNS], ratio[TURNS];
  as_model *m = build(machine, n_bodies);
  as_integrator *s[2] = {start(m, method, 1), start(m, method, threads)};
  for (int k = 0; k < 2; ++k) step(s[k], 2);
  for (int i = 0; i < TURNS; ++i) {
    for (int k = 0; k < 2; ++k) {
      const times t = take_steps(s[k], STEPS);
      wall[k][i] = t.wall;
      own[k][i] = t.own;
    }
    ratio[i] = wall[0][i] / wall[1][i];
  }
  const as_state *one = as_integrator_state(s[0]), *other = as_integrator_state(s[1]);
  const size_t size = 6 * (size_t)as_model_bodies(m) * sizeof(double);
  const bool same =
      memcmp(one->v, other->v, size) == 0 && memcmp(one->vdot, other->vdot, size) == 0;
  printf("%-8s %6d bodies, %s: %9.3f ms a step, %9.3f with %d threads: %5.2f times; the caller's "
         "thread %.2f%s\n",
         machines[machine].name, n_bodies, method_names[method], 1e3 * median(wall[0]),
         1e3 * median(wall[1]), threads, median(ratio), median(own[0]) / median(own[1]),
         same ? "" : "; OTHER RESULTS");
  fflush(stdout);
  for (int k = 0; k < 2; ++k) as_integrator_destroy(s[k]);
  as_model_destroy(m);
}

static int count(char **argument, int threads) {
  int machine = 0, method = 0;
  while (machine < MACHINES && strcmp(argument[0], machines[machine].name) != 0) ++machine;
  while (method < 2 && strcmp(argument[2], method_names[method]) != 0) ++method;
  const int n_bodies = (int)strtol(argument[1], NULL, 10),
            steps = (int)strtol(argument[3], NULL, 10);
  if (machine == MACHINES || method == 2 || n_bodies < 1 || steps < 1 || threads < 1) return 2;
  as_model *m = build(machine, n_bodies);
  as_integrator *s = start(m, method, threads);
  as_error error;
  as_statistics work;
  const times t = take_steps(s, steps);
  stop_if(as_integrator_statistics(s, &work, &error), &error);
  printf("%ld iterations, %ld factorizations, %ld solutions; %.3f ms a step, %.3f of the caller's "
         "thread, %.3f of all\n",
         work.newton_iterations, work.factorizations, work.solves, 1e3 * t.wall, 1e3 * t.own,
         1e3 * t.all);
  as_integrator_destroy(s);
  as_model_destroy(m);
  return 0;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "compare";
  if (strcmp(mode, "compare") == 0 && argc <= 4) {
    const int n_bodies = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 10000;
    const int threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 2;
    for (int machine = 0; machine < MACHINES; ++machine)
      for (int method = 0; method < 2; ++method) compare(machine, method, n_bodies, threads);
    return 0;
  }
  if (strcmp(mode, "count") == 0 && (argc == 6 || argc == 7) &&
      count(argv + 2, argc == 7 ? (int)strtol(argv[6], NULL, 10) : 1) == 0)
    return 0;
  fprintf(stderr, "usage: threads [compare [BODIES [THREADS]] | count tree|lattice|chain BODIES "
                  "index-2|index-3 STEPS [THREADS]]\n");
  return 2;
}
