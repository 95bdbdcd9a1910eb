/// Measures flexible bodies: what a step of one with n elastic coordinates costs beside dense algebra of that size.
///
/// usage: flexible table                              CPU time of a step, of the LU of an n x n matrix, of a product of two
///        flexible count METHOD POLICY N POINTS STEPS takes steps, for a tool that counts instructions
///        flexible lu|product N TIMES                 the same for dense algebra
///
/// The body hangs on a hinge and swings. Its arrays are sums over point masses whose shapes are random: full, and consistent. POINTS of
/// the mesh are kept beside it. LU: LAPACK's, as the library's, or its own without it; the product: three loops.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/alphastep.h"
#include "elements/vector.h"
#include "linalg/dense_lu.h"

enum { MASSES = 100 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "soi2"};

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "flexible: %s\n", error->message);
  exit(1);
}

static void *take(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (block) return block;
  fprintf(stderr, "flexible: out of memory\n");
  exit(1);
}

static double *numbers(size_t count) { return take(count, sizeof(double)); }

/// Between -1 and 1.
static double next(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

// ---- a body -----------------------------------------------------------------------------------------

typedef struct part {
  as_flexible_data data;
  double *P, *A0, *A, *H0, *H, *J0, *J1, *J2, *M, *K, *C, (*place)[3], *shapes;
  long *ids;
} part;

/// -m a~ b~ = m ((a . b) I - b a^T)
static void add_moment(double m, const double a[3], const double b[3], double out[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] += m * ((i == j ? asi_dot(a, b) : 0.0) - b[i] * a[j]);
}

/// Columns m a~ psi_j of a 3 x n matrix.
static void add_turning(double m, const double a[3], double (*psi)[3], size_t n, double *out) {
  for (size_t j = 0; j < n; ++j) {
    double x[3];
    asi_cross(a, psi[j], x);
    for (size_t k = 0; k < 3; ++k) out[k * n + j] += m * x[k];
  }
}

static void add_mass(part *p, double m, const double r[3], double (*psi)[3], size_t n) {
  p->data.mass += m;
  asi_add_skew(-m, r, p->A0, 3);
  add_turning(m, r, psi, n, p->H0);
  add_moment(m, r, r, p->J0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < 3; ++k) p->P[k * n + i] += m * psi[i][k];
    asi_add_skew(-m, psi[i], p->A + 9 * i, 3);
    add_turning(m, psi[i], psi, n, p->H + 3 * n * i);
    add_moment(m, r, psi[i], p->J1 + 9 * i);
    for (size_t j = 0; j < n; ++j) {
      add_moment(m, psi[i], psi[j], p->J2 + 9 * (n * i + j));
      p->M[n * i + j] += m * asi_dot(psi[i], psi[j]);
    }
  }
}

static part make_part(size_t n, int points) {
  static const char *const names[] = {"root"};
  static const double origin[1][3] = {{0.0, 0.0, 0.0}};
  static const bool turns[] = {true};
  unsigned seed = 1;
  part p = {.P = numbers(3 * n),
            .A0 = numbers(9),
            .A = numbers(9 * n),
            .H0 = numbers(3 * n),
            .H = numbers(3 * n * n),
            .J0 = numbers(9),
            .J1 = numbers(9 * n),
            .J2 = numbers(9 * n * n),
            .M = numbers(n * n),
            .K = numbers(n * n),
            .C = numbers(n * n),
            .place = take((size_t)points + 1, sizeof *p.place),
            .shapes = numbers(3 * n * (size_t)points + 1),
            .ids = take((size_t)points + 1, sizeof *p.ids)};
  double(*psi)[3] = take(n, sizeof *psi);
  for (int i = 0; i < MASSES; ++i) {
    const double r[3] = {0.5 + 0.5 * next(&seed), 0.1 * next(&seed), 0.1 * next(&seed)};
    for (size_t j = 0; j < n; ++j)
      for (int k = 0; k < 3; ++k) psi[j][k] = next(&seed);
    add_mass(&p, 1.0 / MASSES, r, psi, n);
  }
  free(psi);
  // Stiffness W M W with W of 200 to 2000 rad/s.
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const double a = 200.0 + 1800.0 * (double)i / (double)n,
                   b = 200.0 + 1800.0 * (double)j / (double)n;
      p.K[n * i + j] = a * b * p.M[n * i + j];
      p.C[n * i + j] = 1e-4 * p.K[n * i + j];
    }
  for (int i = 0; i < points; ++i) {
    p.ids[i] = i + 1;
    for (int k = 0; k < 3; ++k) p.place[i][k] = next(&seed);
  }
  for (size_t i = 0; i < 3 * n * (size_t)points; ++i) p.shapes[i] = next(&seed);
  const double mass = p.data.mass;
  p.data = (as_flexible_data){.interface_count = 1,
                              .interface_names = names,
                              .interface_positions = origin,
                              .interface_rotations = turns,
                              .mode_count = (int)n,
                              .coordinate_count = (int)n,
                              .mass = mass,
                              .P = p.P,
                              .A0 = p.A0,
                              .A = p.A,
                              .H0 = p.H0,
                              .H = p.H,
                              .J0 = p.J0,
                              .J1 = p.J1,
                              .J2 = p.J2,
                              .M = p.M,
                              .K = p.K,
                              .C = p.C,
                              .mesh_count = points,
                              .mesh_ids = p.ids,
                              .mesh_positions = (const double(*)[3])p.place,
                              .mesh_shapes = p.shapes};
  return p;
}

static void free_part(part *p) {
  double *const all[] = {p->P,  p->A0, p->A, p->H0, p->H, p->J0,
                         p->J1, p->J2, p->M, p->K,  p->C, p->shapes};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
  free(p->place);
  free(p->ids);
}

// ---- steps ------------------------------------------------------------------------------------------

static as_model *make_model(int n, int points) {
  as_error error;
  as_builder *b = NULL;
  as_model *m = NULL;
  as_flexible_id id;
  part p = make_part((size_t)n, points);
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error), &error);
  as_flexible_def def = as_default_flexible_def();
  def.name = "body";
  def.data = &p.data;
  asi_set(0.0, 1.0, 0.0, def.angular_velocity);
  stop_if(as_builder_add_flexible(b, &def, &id, &error), &error);
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_REVOLUTE;
  joint.body[0] = AS_GROUND;
  joint.body[1] = as_builder_flexible_node(b, id, 0);
  joint.axis[1] = 1.0;
  stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  stop_if(as_builder_build(b, &m, &error), &error);
  as_builder_destroy(b);
  free_part(&p);
  return m;
}

static as_integrator *start(const as_model *m, as_method method, bool reuse) {
  as_error error;
  as_integrator *integrator = NULL;
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.newton.reuse = reuse;
  if (!reuse)
    def.newton.rtol = def.newton.atol = 1e-3; // one iteration with new factors in each step
  stop_if(as_integrator_create(as_model_problem(m), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  return integrator;
}

static void take_steps(as_integrator *integrator, int steps) {
  as_error error;
  for (int i = 0; i < steps; ++i) stop_if(as_integrator_step(integrator, 1e-3, &error), &error);
}

static int count(const char *method, const char *policy, int n, int points, int steps) {
  int chosen = 0;
  while (chosen < 3 && strcmp(method, method_names[chosen]) != 0) ++chosen;
  const bool reuse = strcmp(policy, "reuse") == 0;
  if (chosen == 3 || n < 1 || points < 0 || steps < 0 || !(reuse || strcmp(policy, "renew") == 0))
    return 2;
  as_error error;
  as_statistics work;
  as_model *m = make_model(n, points);
  as_integrator *integrator = start(m, methods[chosen], reuse);
  take_steps(integrator, steps);
  stop_if(as_integrator_statistics(integrator, &work, &error), &error);
  printf("%ld\n", work.newton_iterations);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return 0;
}

// ---- dense algebra of the same size -----------------------------------------------------------------

typedef struct square {
  double *a, *b, *out;
  int *pivot;
} square;

static square make_square(int n) {
  const size_t size = (size_t)n * (size_t)n;
  unsigned seed = 2;
  square s = {numbers(size), numbers(size), numbers(size), take((size_t)n, sizeof(int))};
  for (size_t i = 0; i < size; ++i) {
    s.a[i] = next(&seed) + (i % ((size_t)n + 1) == 0 ? (double)n : 0.0);
    s.b[i] = next(&seed);
  }
  return s;
}

static void free_square(square *s) {
  free(s->a);
  free(s->b);
  free(s->out);
  free(s->pivot);
}

static void factorize(square *s, int n) {
  memcpy(s->out, s->a, (size_t)n * (size_t)n * sizeof(double));
  if (asi_lu_factor(n, s->out, s->pivot)) exit(1);
}

static void multiply(square *s, int n) {
  memset(s->out, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) s->out[i * n + j] += s->a[i * n + k] * s->b[k * n + j];
}

typedef void work(square *s, int n);

static void repeat(work *what, int n, int times) {
  square s = make_square(n);
  for (int i = 0; i < times; ++i) what(&s, n);
  free_square(&s);
}

// ---- times ------------------------------------------------------------------------------------------

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { ROUNDS = 7, STEPS = 100 };

/// Microseconds of one, the least of several rounds.
static double time_of(work *what, int n) {
  double least = (double)INFINITY;
  square s = make_square(n);
  for (int round = 0; round < ROUNDS; ++round) {
    const double from = cpu_seconds();
    for (int i = 0; i < STEPS; ++i) what(&s, n);
    least = fmin(least, cpu_seconds() - from);
  }
  free_square(&s);
  return 1e6 * least / STEPS;
}

static double time_of_step(as_method method, int n) {
  double least = (double)INFINITY;
  as_model *m = make_model(n, 0);
  as_integrator *integrator = start(m, method, false);
  take_steps(integrator, 20);
  for (int round = 0; round < ROUNDS; ++round) {
    const double from = cpu_seconds();
    take_steps(integrator, STEPS);
    least = fmin(least, cpu_seconds() - from);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return 1e6 * least / STEPS;
}

static int table(void) {
  printf("CPU time [us]: steps with one iteration and new factors\n%4s %10s %10s %10s %10s %10s\n",
         "n", "index-3", "index-2", "soi2", "LU", "product");
  for (int n = 10; n <= 80; n *= 2) {
    printf("%4d", n);
    for (int k = 0; k < 3; ++k) printf(" %10.1f", time_of_step(methods[k], n));
    printf(" %10.1f %10.1f\n", time_of(factorize, n), time_of(multiply, n));
    fflush(stdout);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "table") == 0) return table();
  if (argc == 7 && strcmp(argv[1], "count") == 0)
    return count(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]), atoi(argv[6]));
  const bool lu = argc == 4 && strcmp(argv[1], "lu") == 0;
  if (argc != 4 || !(lu || strcmp(argv[1], "product") == 0)) return 2;
  repeat(lu ? factorize : multiply, atoi(argv[2]), atoi(argv[3]));
  return 0;
}
