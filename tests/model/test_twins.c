/// Random machines with a difficulty, each beside a twin without it, a thousand of them:
/// - redundant: a tree of joints in which one joint stands twice along its axis; the twin has it once. The motion is the same, and
///   the reactions are not larger than the twin's in the norm that is made least, and Newton's method iterates as it does there;
/// - singular: rows of parallelograms that pass their flat positions; the twin is their one equation of motion;
/// - stiff: a load towed by a spring that steps do not resolve; the twin is rigid (others: test_stiff_twins.c).
/// `test_twins SEED [COUNT]` tries others and tells of each that fails.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "machines.h"
#include "share.h"

enum { SEEDS = 1000, MOST_BODIES = 5 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double pi = 3.14159265358979323846;

// ---- numbers ----------------------------------------------------------------------------------------

static uint64_t next(uint64_t *state) { // splitmix64
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state, double from, double to) {
  return from + (to - from) * (double)(next(state) >> 11) * 0x1p-53;
}

/// As often between 1 and 10 as between 10 and 100.
static double magnitude(uint64_t *state, double from, double to) {
  return exp(uniform(state, log(from), log(to)));
}

static int below(uint64_t *state, int n) { return (int)(next(state) % (uint64_t)n); }

static void direction(uint64_t *state, double x[3]) {
  double length;
  do {
    for (int i = 0; i < 3; ++i) x[i] = uniform(state, -1.0, 1.0);
    length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  } while (length < 0.1 || length > 1.0);
  for (int i = 0; i < 3; ++i) x[i] /= length;
}

// ---- runs -------------------------------------------------------------------------------------------

/// How a machine is integrated.
typedef struct manner {
  int method;
  double rho_inf, h, rtol; ///< h NAN: automatic
} manner;

static manner choose_manner(uint64_t *state) {
  static const double rho[] = {0.0, 0.3, 0.8, 1.0};
  manner m = {.method = below(state, 3), .rho_inf = rho[below(state, 4)], .rtol = 1e-3};
  m.h = below(state, 3) == 0 ? (double)NAN : magnitude(state, 1e-3, 2e-2);
  if (isnan(m.h)) m.rtol = magnitude(state, 1e-5, 1e-2);
  return m;
}

typedef struct run {
  as_model *model;
  as_integrator *integrator;
} run;

static char fault[1200]; ///< what is wrong with the machine that was tried last; empty: nothing

static bool start_run(run *r, as_model *model, const manner *m) {
  as_error error;
  as_integrator_def how = as_default_integrator_def();
  how.method = methods[m->method];
  how.rho_inf = m->rho_inf;
  how.step = m->h;
  how.tolerance.rtol = m->rtol;
  *r = (run){model, NULL};
  if (as_integrator_create(as_model_problem(model), &how, &r->integrator, &error) == AS_OK &&
      as_integrator_start(r->integrator, as_model_initial(model), NULL, &error) == AS_OK)
    return true;
  snprintf(fault, sizeof fault, "start: %s", error.message);
  return false;
}

static bool advance(const run *r, double t) {
  as_error error;
  if (as_integrator_advance(r->integrator, t, &error) == AS_OK) return true;
  snprintf(fault, sizeof fault, "%s", error.message);
  return false;
}

static void end_run(run *r) {
  as_integrator_destroy(r->integrator);
  as_model_destroy(r->model);
}

// ---- redundant --------------------------------------------------------------------------------------

static as_model *build_tree(uint64_t seed, bool twin, double *unit_out) {
  static const as_joint_kind kinds[] = {AS_JOINT_REVOLUTE, AS_JOINT_CYLINDRICAL, AS_JOINT_PRISMATIC,
                                        AS_JOINT_SPHERICAL};
  static const double units[] = {1e-3, 1.0, 1e2};
  static const char *const names[] = {"b0", "b1", "b2", "b3", "b4"}, *const joints[] = {"j0", "j1",
                                                                                        "j2", "j3",
                                                                                        "j4"};
  uint64_t state = seed;
  const double unit = units[below(&state, 3)];
  const int n = 1 + below(&state, MOST_BODIES);
  as_builder *b = machine_builder(0, 0, -9.81 * unit);
  as_body_id body[MOST_BODIES];
  double center[MOST_BODIES][3], point[MOST_BODIES][3], axis[MOST_BODIES][3];
  as_joint_kind kind[MOST_BODIES];
  int parent[MOST_BODIES], twice = -1;
  for (int i = 0; i < n; ++i) {
    as_body_def def = as_default_body_def();
    double way[3];
    parent[i] = i == 0 ? -1 : below(&state, i + 1) - 1;
    kind[i] = kinds[below(&state, i == n - 1 && twice < 0 ? 3 : 4)];
    if (kind[i] != AS_JOINT_SPHERICAL) twice = twice < 0 || below(&state, 2) ? i : twice;
    direction(&state, way);
    direction(&state, axis[i]);
    for (int k = 0; k < 3; ++k) {
      const double from = parent[i] < 0 ? 0.0 : center[parent[i]][k];
      point[i][k] = from + unit * uniform(&state, 0.2, 1.0) * way[k];
    }
    direction(&state, way);
    for (int k = 0; k < 3; ++k)
      center[i][k] = point[i][k] + unit * uniform(&state, 0.2, 1.0) * way[k];
    def.name = names[i];
    def.space = below(&state, 2) ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
    def.mass = magnitude(&state, 0.1, 10.0);
    for (int k = 0; k < 3; ++k)
      def.inertia[k] = def.mass * unit * unit * uniform(&state, 0.1, 0.18);
    memcpy(def.position, center[i], sizeof def.position);
    body[i] = machine_body(b, &def);
  }
  for (int i = 0; i < n; ++i)
    machine_joint(b, joints[i], kind[i], parent[i] < 0 ? AS_GROUND : body[parent[i]], body[i],
                  point[i], axis[i]);
  if (!twin) {
    double other[3];
    const double along = unit * uniform(&state, 0.2, 1.5);
    for (int k = 0; k < 3; ++k) other[k] = point[twice][k] + along * axis[twice][k];
    machine_joint(b, "again", kind[twice], parent[twice] < 0 ? AS_GROUND : body[parent[twice]],
                  body[twice], other, axis[twice]);
  }
  *unit_out = unit;
  return machine_build(b);
}

/// The largest difference of positions and velocities, in units of length.
static double distance(const run *a, const run *b, double unit) {
  double largest = 0.0;
  for (int i = 0; i < as_model_bodies(a->model); ++i) {
    as_body_motion x, y;
    as_model_body_motion(a->model, as_integrator_state(a->integrator), (as_body_id){i}, &x);
    as_model_body_motion(b->model, as_integrator_state(b->integrator), (as_body_id){i}, &y);
    for (int k = 0; k < 3; ++k) {
      largest = asi_max_nan(largest, fabs(x.x[k] - y.x[k]) / unit);
      largest = asi_max_nan(largest, fabs(x.v[k] - y.v[k]) / unit);
    }
  }
  return largest;
}

/// The norm of the twin's reactions, which its redundant machine could have, too, over that of the machine's own.
static double norm_ratio(const run *a, const run *twin) {
  const as_problem *p = as_model_problem(a->model), *q = as_model_problem(twin->model);
  const double *w = a->integrator->kin.redundancy.norm_weight;
  const double *x = as_integrator_state(a->integrator)->lambda;
  const double *y = as_integrator_state(twin->integrator)->lambda;
  double own = 0.0, other = 0.0;
  for (int i = 0; i < p->def.n_lambda; ++i) own += w[i] * x[i] * x[i];
  for (int i = 0; i < q->def.n_lambda; ++i) other += w[i] * y[i] * y[i];
  return sqrt(own / fmax(other, 1e-300));
}

static long iterations[2]; ///< of all redundant machines that were tried, and of their twins
static int dear, tried; ///< how many took more than 1.5 times their twins' iterations, of how many

static void try_redundant(uint64_t seed) {
  uint64_t state = seed ^ UINT64_C(0x5851f42d4c957f2d);
  const manner m = choose_manner(&state);
  double unit = 1.0;
  run a, b;
  bool ok = start_run(&a, build_tree(seed, false, &unit), &m);
  ok = start_run(&b, build_tree(seed, true, &unit), &m) && ok;
  // Automatic steps are not the same; errors are those of the tolerance, times how fast neighbours part.
  const double most = isnan(m.h) ? 300.0 * m.rtol + 1e-3 : m.h > 5e-3 ? 3e-3 : 3e-4;
  for (int row = 1; row <= 6 && ok; ++row) {
    ok = advance(&a, 0.05 * row) && advance(&b, 0.05 * row);
    if (!ok) break;
    const double off = distance(&a, &b, unit), ratio = norm_ratio(&a, &b);
    if (!(off <= most))
      snprintf(fault, sizeof fault, "the motion is off by %g at %g s", off, 0.05 * row);
    else if (!(ratio <= (isnan(m.h) ? 1.05 : 1.001)))
      snprintf(fault, sizeof fault, "reactions are %g times the twin's at %g s", ratio, 0.05 * row);
    ok = fault[0] == '\0';
  }
  if (fault[0] == '\0') {
    const long own = a.integrator->kin.statistics.newton_iterations;
    const long other = b.integrator->kin.statistics.newton_iterations;
    iterations[0] += own;
    iterations[1] += other;
    dear += (double)own > 1.5 * (double)other;
    ++tried;
  }
  if (fault[0] == '\0' && a.integrator->kin.redundancy.n_implied < 4)
    snprintf(fault, sizeof fault, "redundant rows are not found");
  if (!ok || fault[0])
    printf("  redundant, %s, rho_inf %g, h %g, rtol %g\n", method_names[m.method], m.rho_inf, m.h,
           m.rtol);
  end_run(&a);
  end_run(&b);
}

// ---- singular ---------------------------------------------------------------------------------------

/// N parallelograms in a row, cranks of length l up, with angular velocity w to the right.
static as_model *build_parallelograms(int n, double l, double mass, double w) {
  static const double z_axis[3] = {0, 0, 1};
  as_builder *b = machine_builder(0, -9.81, 0);
  as_body_id crank[8], bar[8];
  char name[16];
  const double across = mass * l * l / 12.0, along = 0.01 * mass * l * l;
  for (int i = 0; i <= n; ++i) {
    as_body_def def = as_default_body_def();
    snprintf(name, sizeof name, "c%d", i);
    def.name = name;
    def.mass = mass;
    memcpy(def.inertia, (double[]){across, along, across}, 3 * sizeof(double));
    memcpy(def.position, (double[]){i * l, 0.5 * l, 0}, sizeof def.position);
    memcpy(def.velocity, (double[]){0.5 * l * w, 0, 0}, sizeof def.velocity);
    def.angular_velocity[2] = -w;
    crank[i] = machine_body(b, &def);
    if (i == n) break;
    snprintf(name, sizeof name, "b%d", i);
    memcpy(def.inertia, (double[]){along, across, across}, 3 * sizeof(double));
    memcpy(def.position, (double[]){(i + 0.5) * l, l, 0}, sizeof def.position);
    memcpy(def.velocity, (double[]){l * w, 0, 0}, sizeof def.velocity);
    def.angular_velocity[2] = 0.0;
    bar[i] = machine_body(b, &def);
  }
  for (int i = 0; i <= n; ++i) {
    const double foot[3] = {i * l, 0, 0}, head[3] = {i * l, l, 0};
    machine_joint(b, NULL, AS_JOINT_REVOLUTE, AS_GROUND, crank[i], foot, z_axis);
    if (i < n) machine_joint(b, NULL, AS_JOINT_REVOLUTE, crank[i], bar[i], head, z_axis);
    if (i > 0) machine_joint(b, NULL, AS_JOINT_REVOLUTE, bar[i - 1], crank[i], head, z_axis);
  }
  return machine_build(b);
}

/// The angle of the cranks at t: phi'' = c sin(phi), by Runge and Kutta.
static double crank_angle(double c, double w, double t) {
  enum { STEPS = 20000 };
  double y[2] = {0.0, w}, h = t / STEPS;
  for (int i = 0; i < STEPS; ++i) {
    const double k1[2] = {y[1], c * sin(y[0])};
    const double k2[2] = {y[1] + 0.5 * h * k1[1], c * sin(y[0] + 0.5 * h * k1[0])};
    const double k3[2] = {y[1] + 0.5 * h * k2[1], c * sin(y[0] + 0.5 * h * k2[0])};
    const double k4[2] = {y[1] + h * k3[1], c * sin(y[0] + h * k3[0])};
    for (int k = 0; k < 2; ++k) y[k] += h / 6.0 * (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]);
  }
  return y[0];
}

static void try_singular(uint64_t seed) {
  uint64_t state = seed;
  manner m = choose_manner(&state);
  const int n = 1 + below(&state, 5);
  const double l = magnitude(&state, 0.3, 3.0), mass = magnitude(&state, 0.1, 10.0);
  const double w = uniform(&state, 1.0, 3.0), t = uniform(&state, 1.0, 2.5);
  // What a singular position leaves of errors in multipliers would stay with rho_inf = 1.
  m.rho_inf = fmin(m.rho_inf, 0.8);
  if (isnan(m.h))
    m.rtol = fmin(m.rtol, 1e-3);
  else
    m.h = fmin(m.h, 2e-3);
  const double inertia = mass * l * l * ((n + 1) / 3.0 + n);
  const double phi = crank_angle(9.81 * mass * l * (0.5 * (n + 1) + n) / inertia, w, t);
  run r;
  as_body_motion crank;
  if (start_run(&r, build_parallelograms(n, l, mass, w), &m) && advance(&r, t)) {
    as_model_body_motion(r.model, as_integrator_state(r.integrator), (as_body_id){0}, &crank);
    const double off = hypot(crank.x[0] / l - 0.5 * sin(phi), crank.x[1] / l - 0.5 * cos(phi));
    const double most = isnan(m.h) ? 300.0 * m.rtol : 0.05;
    if (!(off <= most))
      snprintf(fault, sizeof fault, "the cranks are off by %g of their length, more than %g", off,
               most);
  }
  if (fault[0])
    printf("  %d parallelograms, %s, rho_inf %g, h %g, rtol %g\n", n, method_names[m.method],
           m.rho_inf, m.h, m.rtol);
  end_run(&r);
}

// ---- stiff ------------------------------------------------------------------------------------------

static const as_curve *towing_law(double v, char *text, size_t size, as_curve *curve) {
  snprintf(text, size, "%.17g*t", v);
  *curve = (as_curve){.formula = text};
  return curve;
}

/// A load on a rail, towed by an anchor on the same rail that moves with v from the start on.
static void try_stiff(uint64_t seed) {
  static const double x_axis[3] = {1, 0, 0};
  uint64_t state = seed;
  manner m = choose_manner(&state);
  const double mass = magnitude(&state, 0.1, 100.0), v = magnitude(&state, 0.1, 10.0);
  const double period = magnitude(&state, 1e-4, 1e-2), omega = 2.0 * pi / period;
  const double length = uniform(&state, 0.3, 1.0), stiffness = mass * omega * omega;
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def def = as_default_body_def();
  def.mass = mass;
  memcpy(def.inertia, (double[]){mass, mass, mass}, 3 * sizeof(double));
  def.name = "load";
  def.position[0] = -length;
  const as_body_id load = machine_body(b, &def);
  def.name = "anchor";
  def.position[0] = 0.0;
  def.velocity[0] = v;
  const as_body_id anchor = machine_body(b, &def);
  machine_joint(b, "rail", AS_JOINT_PRISMATIC, AS_GROUND, load, (double[]){-length, 0, 0}, x_axis);
  const as_joint_id guide =
      machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, anchor, (double[]){0, 0, 0}, x_axis);
  char text[64];
  as_curve curve;
  as_motion_def motion = as_default_motion_def();
  motion.joint = guide;
  motion.law = towing_law(v, text, sizeof text, &curve);
  if (as_builder_add_motion(b, &motion, NULL, &error)) fail_msg("%s", error.message);
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = load;
  spring.body[1] = anchor;
  spring.point[0][0] = -length;
  spring.stiffness = stiffness;
  spring.length = length;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  m.h = period * magnitude(&state, 0.3, 300.0);
  run r;
  double worst = 0.0, fastest = 0.0;
  bool ok = start_run(&r, machine_build(b), &m);
  for (int row = 1; row <= 40 && ok; ++row) {
    as_body_motion at;
    ok = advance(&r, 1.7 * m.h * row);
    if (!ok) break;
    as_model_body_motion(r.model, as_integrator_state(r.integrator), load, &at);
    worst = fmax(worst, fabs(at.x[0] + length - v * 1.7 * m.h * row));
    fastest = fmax(fastest, fabs(at.v[0]));
  }
  if (ok && !(worst <= 2.0 * v / omega && fastest <= 3.0 * v))
    snprintf(fault, sizeof fault, "the load lags by %g of the amplitude, and goes with %g of 2 v",
             worst * omega / v, 0.5 * fastest / v);
  if (fault[0])
    printf("  towed, %s, rho_inf %g, h %g of %g s\n", method_names[m.method], m.rho_inf, m.h,
           period);
  end_run(&r);
}

// ---- all of them ------------------------------------------------------------------------------------

static int try_many(uint64_t first, uint64_t count) {
  static void (*const sorts[])(uint64_t) = {try_redundant, try_redundant, try_singular, try_stiff};
  int faults = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    fault[0] = '\0';
    sorts[seed % 4](seed * UINT64_C(1000003));
    if (fault[0] == '\0') continue;
    printf("seed %llu: %s\n", (unsigned long long)seed, fault);
    ++faults;
  }
  return faults;
}

static void test_twins(void **state) {
  (void)state;
  assert_int_equal(try_many(1, share_is_sample() ? SEEDS / 12 : SEEDS), 0);
  printf("%ld iterations, without redundant joints %ld\n", iterations[0], iterations[1]);
  printf("%d of %d redundant machines take more than 1.5 times their twins' iterations\n", dear,
         tried);
  assert_true((double)iterations[0] <= 1.2 * (double)iterations[1]);
  assert_true(dear <= 1 + tried / 200); // whether factors are kept may hang on the last digit
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins)};
  if (argc > 1)
    return try_many(strtoull(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 1) > 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
