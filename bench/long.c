/// Long runs: a million steps. What grows, and what does not: drift of the constraints, memory, time per step.
/// See docs/automatic-steps.md.
///
/// usage: long [STEPS]        a million unless given
///
/// For the fast heavy top and for a damped chain of three links, which comes to rest, each method, fixed and
/// automatic steps, a line at 1000, 10000, ... steps. The chain's automatic steps are at most 10 ms: at rest they would
/// grow without limit, and g with them.
///
///   |g|, |g'|    the largest in the last thousand steps, and after any hundred so far, in units of round-off:
///                2.2e-16 |q| and 2.2e-16 |v| with the largest components of the motion so far. Index-3 does not
///                impose g' = 0
///   |p|-1        of the worst quaternion in the last thousand steps, in units of 2.2e-16
///   live, new    blocks of memory that the program holds; the most that a hundred steps have allocated
///   RSS          resident memory [MB]
///   us           processor time of a step, the median over hundreds of steps since the last line, and its ratio
///                to that of the first line
///   newton, fac  Newton iterations and factorizations per step since the last line
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <alphastep/alphastep.h>

#include "chain.h"
#include "problems/problems.h"

// ---- memory: --wrap counts every allocation of this program and of the library ------------------------------

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static long live, allocations;

void *__wrap_malloc(size_t size) {
  ++live, ++allocations;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
  ++live, ++allocations;
  return __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t size) {
  if (block == NULL) ++live;
  ++allocations;
  return __real_realloc(block, size);
}

void __wrap_free(void *block) {
  if (block) --live;
  __real_free(block);
}

static double resident_mb(void) {
  FILE *file = fopen("/proc/self/status", "r");
  if (file == NULL) return (double)NAN;
  char line[256];
  double kb = (double)NAN;
  while (fgets(line, sizeof line, file))
    if (strncmp(line, "VmRSS:", 6) == 0) kb = strtod(line + 6, NULL);
  fclose(file);
  return kb / 1024.0;
}

// ---- runs -----------------------------------------------------------------------------------------------

typedef struct subject {
  const char *name;
  const as_problem_def *def;
  const double *q0, *v0;
  int bodies;      ///< on R^3xSO(3)
  double h;        ///< fixed steps [s]
  double rtol;     ///< automatic steps
  double max_step; ///< likewise [s]
} subject;

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "long: %s\n", error->message);
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/// What is looked at: the largest sizes and drifts.
typedef struct record {
  double q, v;
  double position, velocity, quaternion;
} record;

static void keep_largest(record *r, const record *other) {
  r->q = fmax(r->q, other->q);
  r->v = fmax(r->v, other->v);
  r->position = fmax(r->position, other->position);
  r->velocity = fmax(r->velocity, other->velocity);
  r->quaternion = fmax(r->quaternion, other->quaternion);
}

static void look(record *r, as_integrator *integrator, int bodies, as_statistics *w) {
  as_error error;
  const as_state *state = as_integrator_state(integrator);
  for (int i = 0; i < 7 * bodies; ++i) r->q = fmax(r->q, fabs(state->q[i]));
  for (int i = 0; i < 6 * bodies; ++i) r->v = fmax(r->v, fabs(state->v[i]));
  stop_if(as_integrator_statistics(integrator, w, &error), &error);
  double position, velocity;
  stop_if(as_integrator_drift(integrator, &position, &velocity, &error), &error);
  r->position = fmax(r->position, position);
  r->velocity = fmax(r->velocity, velocity);
  for (int b = 0; b < bodies; ++b) {
    const double *p = state->q + 7 * b + 3;
    const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    r->quaternion = fmax(r->quaternion, fabs(length - 1.0));
  }
}

static as_integrator_def definition(const subject *s, as_method method, bool automatic) {
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  if (automatic) {
    def.tolerance.rtol = s->rtol;
    def.tolerance.max_step = s->max_step;
  } else {
    def.step = s->h;
  }
  return def;
}

static void run(const subject *s, as_method method, const char *method_name, bool automatic,
                long steps) {
  enum { BLOCK = 100, WINDOW = 1000, MOST_BLOCKS = 10000 };
  static double times[MOST_BLOCKS];
  as_error error;
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  const as_integrator_def def = definition(s, method, automatic);
  stop_if(as_problem_create(s->def, &problem, &error), &error);
  stop_if(as_integrator_create(problem, &def, &integrator, &error), &error);
  const as_initial initial = {.t = 0.0, .q = s->q0, .v = s->v0};
  stop_if(as_integrator_start(integrator, &initial, NULL, &error), &error);
  record ever = {0}, lately = {0};
  as_statistics before, now;
  look(&ever, integrator, s->bodies, &before);
  long most_allocated = 0;
  double first_time = (double)NAN;
  int n_times = 0;
  for (long next = WINDOW, step = 0; step < steps;) {
    const bool every_step = step >= next - WINDOW;
    double start = seconds(), spent = 0.0;
    const long allocated = allocations;
    for (int i = 0; i < BLOCK; ++i) {
      stop_if(as_integrator_next(integrator, &error), &error);
      if (!every_step) continue;
      spent += seconds() - start;
      look(&lately, integrator, s->bodies, &now);
      start = seconds();
    }
    if (!every_step) spent += seconds() - start;
    if (allocations - allocated > most_allocated) most_allocated = allocations - allocated;
    if (n_times < MOST_BLOCKS) times[n_times++] = spent / BLOCK;
    step += BLOCK;
    look(&ever, integrator, s->bodies, &now);
    if (step < next) continue;
    keep_largest(&ever, &lately);
    qsort(times, (size_t)n_times, sizeof(double), compare_double);
    const double median = times[n_times / 2], count = (double)(now.steps - before.steps);
    const double of_q = DBL_EPSILON * ever.q, of_v = DBL_EPSILON * ever.v;
    if (isnan(first_time)) first_time = median;
    printf("%-6s %-8s %-5s %8ld %9.4g %8.2g %8.2g %8.2g %8.2g %5.1f %5ld %3ld %5.1f %6.2f %5.2f "
           "%6.2f %5.2f\n",
           s->name, method_name, automatic ? "auto" : "fixed", step,
           as_integrator_state(integrator)->t, lately.position / of_q, lately.velocity / of_v,
           ever.position / of_q, ever.velocity / of_v, lately.quaternion / DBL_EPSILON, live,
           most_allocated, resident_mb(), 1e6 * median, median / first_time,
           (double)(now.newton_iterations - before.newton_iterations) / count,
           (double)(now.factorizations - before.factorizations) / count);
    fflush(stdout);
    lately = (record){0};
    before = now;
    next *= 10;
    n_times = 0;
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

int main(int argc, char **argv) {
  enum { LINKS = 3 };
  const long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
  if (steps < 1 || argc > 2) {
    fprintf(stderr, "usage: long [STEPS]\n");
    return 2;
  }
  const test_problem *top = problem_heavy_top_fast();
  chain links;
  double q0[7 * LINKS];
  if (!chain_init(&links, LINKS)) {
    fprintf(stderr, "long: out of memory\n");
    return 1;
  }
  links.damping = 0.02;
  chain_straight(&links, q0);
  const subject subjects[] = {
      {"top", &top->def, top->q0, top->v0, 1, 1e-3, 1.4e-3, (double)INFINITY},
      {"chain", &links.def, q0, NULL, LINKS, 1e-3, 1.4e-3, 1e-2},
  };
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  const char *const names[] = {"index-3", "index-2", "SOI2"};
  printf("%42s %17s\n", "last thousand", "ever");
  printf("%-6s %-8s %-5s %8s %9s %8s %8s %8s %8s %5s %5s %3s %5s %6s %5s %6s %5s\n", "", "", "",
         "steps", "t", "|g|", "|g'|", "|g|", "|g'|", "|p|-1", "live", "new", "RSS", "us", "ratio",
         "newton", "fac");
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i)
    for (int m = 0; m < 3; ++m)
      for (int automatic = 0; automatic < 2; ++automatic)
        run(&subjects[i], methods[m], names[m], automatic, steps);
  chain_free(&links);
  return 0;
}
