/// A user's own element may have mass: M(q), D_q (M v'), forces quadratic in velocities and weight, energy and momenta.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "drive.h"
#include "elements/vector.h"
#include "machines.h"
#include "rig.h"

enum { N = 12 };

/// A particle midway between a point of one body and a point of another: x = sum (x_b + R_b c_b)/2.
typedef struct particle {
  double mass, c[2][3], gravity[3];
} particle;

/// Its velocity by those of the bodies.
static void set_G(const as_element_input *in, const particle *p, double G[3][N]) {
  memset(G, 0, 3 * N * sizeof(double));
  for (int b = 0; b < 2; ++b) {
    asi_add_identity(0.5, &G[0][6 * b], N);
    asi_add_times_skew(-0.5, in->body[b]->R, p->c[b], &G[0][6 * b + 3], N);
  }
}

/// Adds factor times the torque and force of F on the particle, D_q of them at fixed F and D_q of F = sum R_b g_b / 2.
static void add_push(const as_element_input *in, const particle *p, double factor, const double *F,
                     double g[2][3], double *force, double *by_q) {
  double G[3][N];
  set_G(in, p, G);
  for (int j = 0; j < N && force; ++j)
    for (int i = 0; i < 3; ++i) force[j] += factor * G[i][j] * F[i];
  for (int e = 0; e < 2 && by_q; ++e) {
    double m[9], seen[3];
    asi_times_skew(in->body[e]->R, g[e], m);
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          by_q[j * N + 6 * e + 3 + k] -= factor * p->mass / 2.0 * G[i][j] * m[3 * i + k];
    asi_rotate_back(in->body[e]->R, F, seen);
    asi_add_skew_skew(factor / 2.0, p->c[e], seen, by_q + (6 * e + 3) * (N + 1), N);
  }
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const particle *p = data;
  double g[2][3],
      F[3] = {-p->mass * p->gravity[0], -p->mass * p->gravity[1], -p->mass * p->gravity[2]};
  double spin[2][3], G[3][N];
  for (int b = 0; b < 2; ++b) {
    double turned[3];
    asi_cross(in->body[b]->omega, p->c[b], spin[b]);
    asi_cross(in->body[b]->omega, spin[b], g[b]);
    asi_rotate(in->body[b]->R, g[b], turned);
    asi_add(p->mass / 2.0, turned, F);
  }
  add_push(in, p, -1.0, F, g, out->force, out->f_q);
  if (!out->f_v) return AS_DONE;
  set_G(in, p, G);
  for (int e = 0; e < 2; ++e) {
    double by[9] = {0}, m[9];
    asi_add_skew(1.0, spin[e], by, 3);
    asi_add_skew_skew(1.0, in->body[e]->omega, p->c[e], by, 3);
    asi_multiply(in->body[e]->R, by, m);
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          out->f_v[j * N + 6 * e + 3 + k] += p->mass / 2.0 * G[i][j] * m[3 * i + k];
  }
  return AS_DONE;
}

static int inertia(const as_element_input *in, const double *a, const as_element_inertia *out,
                   const void *data) {
  const particle *p = data;
  double G[3][N], g[2][3], F[3] = {0};
  set_G(in, p, G);
  for (int k = 0; k < N * N && out->M; ++k)
    for (int i = 0; i < 3; ++i) out->M[k] += p->mass * G[i][k / N] * G[i][k % N];
  if (!out->Ma_q) return AS_DONE;
  for (int b = 0; b < 2; ++b) asi_cross(a + 6 * b + 3, p->c[b], g[b]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < N; ++j) F[i] += p->mass * G[i][j] * a[j];
  add_push(in, p, 1.0, F, g, NULL, out->Ma_q);
  return AS_DONE;
}

static double potential(const as_element_input *in, const void *data) {
  const particle *p = data;
  double sum = 0.0;
  for (int b = 0; b < 2; ++b) {
    double y[3];
    asi_rotate(in->body[b]->R, p->c[b], y);
    asi_add(1.0, in->body[b]->x, y);
    sum -= p->mass / 2.0 * asi_dot(p->gravity, y);
  }
  return sum;
}

static const as_element_type particle_type = {"particle", evaluate, potential, NULL};
static const double gravity[3] = {1.0, 0.0, -9.0};
static const double turning[3] = {1.0, 2.0, -1.0}; ///< all bodies, about the origin

static as_status add_particle(as_builder *b, as_body_id first, as_body_id second, double mass,
                              const double c[2][3], as_error *error) {
  particle p = {.mass = mass};
  as_element_def def = as_default_element_def();
  memcpy(p.c, c, sizeof p.c);
  asi_copy(gravity, p.gravity);
  def.type = &particle_type;
  def.body[0] = first;
  def.body[1] = second;
  def.n_bodies = 2;
  def.data = &p;
  def.data_size = sizeof p;
  def.inertia = inertia;
  return as_builder_add_element(b, &def, NULL, error);
}

static as_body_id add_body(as_builder *b, const char *name, double mass, double y, bool se3) {
  as_body_def def = machine_round_body(name, mass, 0.2, se3);
  def.inertia[1] = 0.3;
  asi_set(0.5, y, 0.0, def.position);
  asi_copy(turning, def.angular_velocity);
  asi_cross(turning, def.position, def.velocity);
  return machine_body(b, &def);
}

/// Between two bodies on ball joints: blocks against differences, energy by the second order with all methods.
static void test_between_bodies(void **state) {
  (void)state;
  as_builder *b = machine_builder(gravity[0], gravity[1], gravity[2]);
  const as_body_id one = add_body(b, "one", 1.0, 0.0, false),
                   two = add_body(b, "two", 2.0, 1.0, false);
  machine_joint(b, "first", AS_JOINT_SPHERICAL, AS_GROUND, one, (double[3]){0, 0, 0}, NULL);
  machine_joint(b, "second", AS_JOINT_SPHERICAL, AS_GROUND, two, (double[3]){0, 1, 0}, NULL);
  as_error error;
  const double c[2][3] = {{0.4, 0.1, -0.2}, {0.3, -0.2, 0.1}};
  assert_int_equal(add_particle(b, one, two, 3.0, c, &error), AS_OK);
  as_model *m = machine_build(b);
  as_check_def check = as_default_check_def();
  as_check_report report;
  check.near = (as_point){.q = as_model_initial(m)->q, .v = as_model_initial(m)->v};
  if (as_problem_check(as_model_problem(m), &check, &report, &error)) fail_msg("%s", error.message);
  assert_true(report.block[AS_BLOCK_MA_Q] < 1e-6 && report.block[AS_BLOCK_F_V] < 1e-6);
  for (int i = 0; i < 3; ++i) {
    as_meter meter = {0};
    drive_balance(m, rig_methods[i], 0.004, 1.0, 0.05, &meter);
    drive_orders("particle", m, rig_methods[i], 0.01, 0.5);
  }
  as_model_destroy(m);
}

/// A particle between two bodies that are welded, and its twin, a point mass that is held there.
static as_model *welded(bool twin) {
  as_builder *b = machine_builder(gravity[0], gravity[1], gravity[2]);
  const as_body_id one = add_body(b, "one", 1.0, 0.0, false),
                   two = add_body(b, "two", 2.0, 1.0, false);
  const double middle[3] = {0.5, 0.5, 0.0}, c[2][3] = {{0, 0.5, 0}, {0, -0.5, 0}};
  as_error error;
  machine_joint(b, "weld", AS_JOINT_FIXED, one, two, middle, NULL);
  if (twin) {
    double v[3];
    asi_cross(turning, middle, v);
    const as_body_id point = machine_point(b, "point", 3.0, middle, v);
    machine_joint(b, "hold", AS_JOINT_SPHERICAL, one, point, middle, NULL);
  } else {
    assert_int_equal(add_particle(b, one, two, 3.0, c, &error), AS_OK);
  }
  return machine_build(b);
}

static void test_twin(void **state) {
  (void)state;
  double x[2][3], linear[2][3], angular[2][3], center[2][3], energy[2];
  for (int k = 0; k < 2; ++k) {
    as_model *m = welded(k == 1);
    as_integrator *run;
    const as_state *s = drive_to(m, AS_METHOD_INDEX2, 5e-4, 0.3, &run);
    as_body_motion at;
    as_momentum total;
    as_energy sum;
    as_error error;
    as_model_body_motion(m, s, as_model_find_body(m, "two"), &at);
    as_model_momentum(m, s, &total);
    assert_int_equal(as_model_energy(m, s, &sum, &error), AS_OK);
    asi_copy(at.x, x[k]);
    asi_copy(total.linear, linear[k]);
    asi_copy(total.angular, angular[k]);
    asi_copy(total.center_of_mass, center[k]);
    energy[k] = sum.kinetic + sum.potential;
    assert_near("mass", total.mass, 6.0, 1e-12);
    as_integrator_destroy(run);
    as_model_destroy(m);
  }
  for (int k = 0; k < 3; ++k) {
    assert_near("position", x[0][k], x[1][k], 1e-7);
    assert_near("centre of mass", center[0][k], center[1][k], 1e-7);
    assert_near("momentum", linear[0][k], linear[1][k], 1e-6);
    assert_near("angular momentum", angular[0][k], angular[1][k], 1e-6);
  }
  assert_near("energy", energy[0], energy[1], 1e-6);
}

static void test_refused(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id one = add_body(b, "one", 1.0, 0.0, true),
                   two = add_body(b, "two", 2.0, 1.0, false);
  const double c[2][3] = {{0}};
  as_error error;
  as_model *m;
  assert_int_equal(add_particle(b, one, two, 3.0, c, &error), AS_OK);
  expect_refused(as_builder_build(b, &m, &error), &error,
                 "has mass and is on body \"one\", which is on SE(3)");
  as_builder_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_between_bodies),
                                     cmocka_unit_test(test_twin), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
