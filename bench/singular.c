/// N four-bars in a row, of revolutes in space, that pass flat positions with automatic steps: errors at the end of 10 s and
/// steps, for docs/automatic-steps.md.
///
///     singular [--end T] [--methods LIST] [--rtol FROM TO] N...      LIST: of index-3, index-2 and SOI2 the letters 3, 2 and S
///
/// prints a row for each N and method, with the powers of ten of rtol from FROM to TO (1e-3 to 1e-8).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"

static const double gravity = 9.81, pi = 3.14159265358979323846;
static const double z_axis[3] = {0, 0, 1};

static void stop(const as_error *error) {
  fprintf(stderr, "singular: %s\n", error->message);
  exit(1);
}

// ---- the machine ------------------------------------------------------------------------------------

/// A rod of 1 m and 1 kg along x or y.
static as_body_id add_rod(as_builder *b, const char *kind, int number, bool along_x, double x,
                          double y, double velocity, double rate) {
  as_error error;
  as_body_id id = AS_NONE;
  as_body_def def = as_default_body_def();
  char name[32];
  snprintf(name, sizeof name, "%s %d", kind, number);
  def.name = name;
  def.mass = 1.0;
  for (int k = 0; k < 3; ++k) def.inertia[k] = 1.0 / 12.0;
  def.inertia[along_x ? 0 : 1] = 1e-4;
  def.position[0] = x;
  def.position[1] = y;
  def.velocity[0] = velocity;
  def.angular_velocity[2] = rate;
  if (as_builder_add_body(b, &def, &id, &error)) stop(&error);
  return id;
}

static void add_pin(as_builder *b, const char *kind, int number, as_body_id first,
                    as_body_id second, double x, double y) {
  as_error error;
  as_joint_def def = as_default_joint_def();
  char name[32];
  snprintf(name, sizeof name, "%s %d", kind, number);
  def.name = name;
  def.kind = AS_JOINT_REVOLUTE;
  def.body[0] = first;
  def.body[1] = second;
  def.point[0] = x;
  def.point[1] = y;
  memcpy(def.axis, z_axis, sizeof def.axis);
  if (as_builder_add_joint(b, &def, NULL, &error)) stop(&error);
}

/// N + 1 cranks, upright, N couplers across their tops, which move with 1 m/s.
static as_model *build(int N) {
  as_error error;
  as_builder *b = NULL;
  as_model *model = NULL;
  if (as_builder_create(&(as_model_def){.gravity = {0, -gravity, 0}}, &b, &error)) stop(&error);
  as_body_id left = add_rod(b, "crank", 0, false, 0.0, 0.5, 0.5, -1.0);
  add_pin(b, "pin", 0, AS_GROUND, left, 0, 0);
  for (int i = 1; i <= N; ++i) {
    const as_body_id right = add_rod(b, "crank", i, false, i, 0.5, 0.5, -1.0);
    const as_body_id coupler = add_rod(b, "coupler", i, true, i - 0.5, 1.0, 1.0, 0.0);
    add_pin(b, "left", i, left, coupler, i - 1, 1);
    add_pin(b, "right", i, coupler, right, i, 1);
    add_pin(b, "pin", i, AS_GROUND, right, i, 0);
    left = right;
  }
  if (as_builder_build(b, &model, &error)) stop(&error);
  as_builder_destroy(b);
  return model;
}

/// Their angle from upright has psi'' = k sin(psi): by Runge and Kutta's method.
static void solve(int N, double t, double *psi, double *rate) {
  const double k = gravity * (0.5 * (N + 1) + N) / ((N + 1) / 3.0 + N);
  enum { STEPS = 200000 };
  const double h = t / STEPS;
  double p = 0.0, w = 1.0;
  for (int i = 0; i < STEPS; ++i) {
    const double a1 = k * sin(p), w2 = w + 0.5 * h * a1, a2 = k * sin(p + 0.5 * h * w);
    const double w3 = w + 0.5 * h * a2, a3 = k * sin(p + 0.5 * h * w2);
    const double w4 = w + h * a3, a4 = k * sin(p + h * w3);
    p += h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4);
    w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  *psi = p;
  *rate = w;
}

// ---- runs -------------------------------------------------------------------------------------------

/// The error of the first crank's angle, or of its rate over 6 rad/s, whichever is larger.
static double error_of(const as_model *model, const as_state *state, int N) {
  double psi, rate;
  as_body_motion motion;
  solve(N, state->t, &psi, &rate);
  as_model_body_motion(model, state, 0, &motion);
  const double angle = remainder(atan2(motion.x[0], motion.x[1]) - psi, 2.0 * pi);
  return fmax(fabs(angle), fabs(-motion.omega[2] - rate) / 6.0);
}

static void run(int N, as_method method, double rtol, double end) {
  as_error error;
  as_model *model = build(N);
  as_integrator *integrator = NULL;
  as_integrator_def how = as_default_integrator_def();
  as_statistics work;
  how.method = method;
  how.tolerance.rtol = rtol;
  how.tolerance.span = end;
  if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
      as_integrator_advance(integrator, end, &error)) {
    printf(" fails |");
    fprintf(stderr, "N = %d, method %d, rtol %g: %s\n", N, method, rtol, error.message);
  } else {
    if (as_integrator_statistics(integrator, &work, &error)) stop(&error);
    printf(" %.2g, %ld |", error_of(model, as_integrator_state(integrator), N) / rtol, work.steps);
  }
  fflush(stdout);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

int main(int argc, char **argv) {
  static const char letters[] = "32S";
  static const char *const names[] = {"index-3", "index-2", "SOI2"};
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  const char *wanted = letters;
  double end = 10.0, from = 1e-3, to = 1e-8;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--end") && i + 1 < argc) {
      end = atof(argv[++i]);
    } else if (!strcmp(argv[i], "--methods") && i + 1 < argc) {
      wanted = argv[++i];
    } else if (!strcmp(argv[i], "--rtol") && i + 2 < argc) {
      from = atof(argv[++i]);
      to = atof(argv[++i]);
    } else {
      const int N = atoi(argv[i]);
      for (int m = 0; m < 3 && N > 0; ++m) {
        if (!strchr(wanted, letters[m])) continue;
        printf("| %d | %s |", N, names[m]);
        for (double rtol = from; rtol > 0.9 * to; rtol /= 10.0) run(N, methods[m], rtol, end);
        printf("\n");
      }
    }
  }
  return 0;
}
