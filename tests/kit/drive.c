#include "drive.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

as_integrator *drive_start(const as_model *m, as_method method, double step) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = method;
  def.step = step;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

const as_state *drive_to(const as_model *m, as_method method, double step, double t,
                         as_integrator **out) {
  as_error error;
  *out = drive_start(m, method, step);
  if (as_integrator_advance(*out, t, &error)) fail_msg("%s", error.message);
  return as_integrator_state(*out);
}

// ---- energy -----------------------------------------------------------------------------------------

double drive_imbalance(const as_model *m, as_method method, double step, double duration,
                       as_meter *meter) {
  as_integrator *integrator = drive_start(m, method, step);
  as_error error;
  double first = 0.0, worst = 0.0;
  *meter = (as_meter){0};
  for (long i = 0; i <= lround(duration / step); ++i) {
    if (i > 0 && as_integrator_step(integrator, step, &error)) fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    as_energy energy = {0};
    if (as_meter_update(meter, m, s, &error) || as_model_energy(m, s, &energy, &error))
      fail_msg("%s", error.message);
    const double sum =
        energy.kinetic + energy.potential + meter->dissipated - meter->forces - meter->motions;
    if (i == 0) first = sum;
    worst = fmax(worst, fabs(sum - first));
  }
  as_integrator_destroy(integrator);
  return worst;
}

void drive_balance(const as_model *m, as_method method, double step, double duration, double limit,
                   as_meter *meter) {
  const double coarse = drive_imbalance(m, method, step, duration, meter);
  const double fine = drive_imbalance(m, method, step / 2.0, duration, meter);
  print_message("  method %d: balance off by %.2e, %.2e J; dissipated %.4g, forces %.4g J\n",
                (int)method, coarse, fine, meter->dissipated, meter->forces);
  assert_true(coarse < limit);
  assert_true(log2(coarse / fine) > 1.8);
}

// ---- order ------------------------------------------------------------------------------------------

enum { PARTS = 4, ROOM = 64 };
static const char *const part_name[PARTS] = {"q", "v", "v'", "lambda"};

/// What is compared, with the numbers of each part.
typedef struct picture {
  double x[PARTS][ROOM];
  int n[PARTS];
} picture;

static void take(const as_model *m, as_method method, double step, double t, picture *out) {
  as_integrator *integrator;
  as_error error;
  const as_state *s = drive_to(m, method, step, t, &integrator);
  const as_space *space = as_problem_space(as_model_problem(m));
  double v[ROOM];
  int rows = 0;
  for (int j = 0; j < as_model_joints(m); ++j) rows += as_model_joint_rows(m, (as_joint_id){j});
  const int n[PARTS] = {as_space_nq(space), as_space_nv(space), as_space_nv(space), rows};
  assert_true(n[0] <= ROOM && rows <= ROOM);
  if (as_integrator_velocity(integrator, v, &error)) fail_msg("%s", error.message);
  const double *from[PARTS] = {s->q, v, s->vdot, s->lambda};
  for (int k = 0; k < PARTS; ++k) {
    out->n[k] = n[k];
    if (n[k] > 0) memcpy(out->x[k], from[k], (size_t)n[k] * sizeof(double));
  }
  as_integrator_destroy(integrator);
}

static double distance(const picture *a, const picture *b, int part) {
  double sum = 0.0;
  for (int i = 0; i < a->n[part]; ++i) sum += pow(a->x[part][i] - b->x[part][i], 2);
  return sqrt(sum);
}

void drive_orders(const char *what, const as_model *m, as_method method, double step, double t) {
  picture p[3];
  int failures = 0;
  for (int k = 0; k < 3; ++k) take(m, method, step / (1 << k), t, &p[k]);
  for (int part = 0; part < PARTS; ++part) {
    const double coarse = distance(&p[0], &p[1], part), fine = distance(&p[1], &p[2], part);
    const double order = log2(coarse / fine);
    if (p[0].n[part] == 0 || coarse < 1e-11) continue;
    print_message("  %s, method %d, %s: %.2e, %.2e, order %.2f\n", what, (int)method,
                  part_name[part], coarse, fine, order);
    if (!(order > 1.8 && order < 2.3)) ++failures;
  }
  if (failures) fail_msg("%s, method %d: not of second order", what, (int)method);
}

as_wrench drive_force(const as_model *m, const as_state *s, as_force_id force) {
  as_error error;
  as_wrench w = {{0}, {0}};
  if (as_model_force(m, s, force, 1, &w, &error)) fail_msg("%s", error.message);
  return w;
}

void expect_refused(as_status status, const as_error *error, const char *part) {
  if (status == AS_OK || strstr(error->message, part) == NULL)
    fail_msg("%s: \"%s\" instead of \"... %s ...\"", as_status_name(status), error->message, part);
}
