/// Constraints that begin to hold in the middle of a motion, and let go, against calculations by hand: a falling
/// rod that is caught, a clutch, a skate, a joint that locks.
///
/// Signs: M v' = f0 - B^T lambda, and impulses likewise: M (v+ - v-) = -B^T L.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "observe.h"
#include "problems/reference_ode.h"
#include "rig.h"

static const double gravity = 9.81;          // [m/s^2]
static const double automatic = (double)NAN; // a step

// ---- a falling rod that is caught at one end ------------------------------------------------------------

static const double rod_mass = 1.5, rod_length = 0.8; // [kg], [m]

/// A rigid body in space; the rod lies along its x axis, thin but not infinitely so.
static const double rod_inertia[] = {1e-3, 1.5 * 0.8 * 0.8 / 12.0, 1.5 * 0.8 * 0.8 / 12.0};

typedef struct falling_rod {
  bool caught;
} falling_rod;

static int rod_mass_matrix(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, rod_mass);
  for (int i = 0; i < 3; ++i) as_matrix_add(m, 3 + i, 3 + i, rod_inertia[i]);
  return AS_DONE;
}

static int rod_force(const as_point *at, double *f, void *user) {
  (void)user;
  const double *w = at->v + 3, *J = rod_inertia;
  f[0] = f[1] = 0.0;
  f[2] = -rod_mass * gravity;
  f[3] = (J[1] - J[2]) * w[1] * w[2];
  f[4] = (J[2] - J[0]) * w[2] * w[0];
  f[5] = (J[0] - J[1]) * w[0] * w[1];
  return AS_DONE;
}

/// The end at x = -length/2 of the body is at the origin; p: quaternion of the body.
static int rod_end(const as_point *at, double *g, void *user) {
  (void)user;
  const double *r = at->q, *p = at->q + 3, a = 0.5 * rod_length;
  g[0] = r[0] - a * (1.0 - 2.0 * (p[2] * p[2] + p[3] * p[3]));
  g[1] = r[1] - a * 2.0 * (p[1] * p[2] + p[0] * p[3]);
  g[2] = r[2] - a * 2.0 * (p[1] * p[3] - p[0] * p[2]);
  return AS_DONE;
}

static int rod_height(const as_state *at, double *out, void *user) {
  const falling_rod *rod = user;
  double g[3];
  const as_point point = as_state_point(at);
  rod_end(&point, g, user);
  *out = rod->caught ? 1.0 : g[2];
  return AS_DONE;
}

static int catch_rod(as_event *event, void *user) {
  falling_rod *rod = user;
  rod->caught = true;
  for (int i = 0; i < 3; ++i) event->active[i] = true;
  return AS_EVENT_CHANGE | AS_EVENT_STOP;
}

static void compound_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t, (void)context;
  dy[0] = y[1];
  dy[1] = -1.5 * gravity / rod_length * cos(y[0]);
}

/// A uniform rod that falls flat with u and is caught at one end turns with 3 u/(2 length); the impulse of the
/// pin is a quarter of its momentum. Then it swings as a compound pendulum: angle'' = -3 g/(2 l) cos(angle).
static void test_rod_is_caught(void **state) {
  (void)state;
  static const as_space_part body = {AS_SPACE_R3SO3, 1};
  static const double height = 1.1, after = 0.25;
  static const bool nothing[3] = {false};
  for (int m = 0; m < 3; ++m) {
    double error[2] = {0}, error_lambda[2] = {0};
    for (int level = 0; level < 2; ++level) {
      falling_rod rod = {false};
      const as_event_def event = {
          .name = "catch", .value = rod_height, .direction = -1, .act = catch_rod, .user = &rod};
      const as_integrator_def how = rig_how(rig_methods[m], level ? 0.0025 : 0.005, &event, 1);
      as_problem_def def = as_default_problem_def();
      def.parts = &body;
      def.n_parts = 1;
      def.n_lambda = 3;
      def.mass_constant = def.scleronomic = true;
      def.mass = rod_mass_matrix;
      def.force = rod_force;
      def.constraint = rod_end;
      const double q0[] = {0.5 * rod_length, 0.0, height, 1.0, 0.0, 0.0, 0.0};
      const as_initial initial = {.q = q0, .active = nothing};
      rig r = rig_make(&def, &how, &initial);
      const as_state *s = rig_advance_to(&r, 2.0, AS_STOPPED);
      const double t = sqrt(2.0 * height / gravity), u = gravity * t;
      assert_near("when", s->t, t, 1e-10);
      const double *L = as_integrator_event(r.integrator).impulse;
      const double turn = 1.5 * u / rod_length; // about -y: the free end goes on down
      const double expected[] = {0.0, 0.0, -0.75 * u, 0.0, turn, 0.0};
      for (int i = 0; i < 6; ++i) assert_near("v after", s->v[i], expected[i], 1e-9);
      assert_near("impulse x", L[0], 0.0, 1e-9);
      assert_near("impulse y", L[1], 0.0, 1e-9);
      assert_near("impulse z", L[2], -0.25 * rod_mass * u, 1e-9);
      // The pin at once carries the weight, less what falls, and the centripetal force.
      assert_near("pin, along", s->lambda[0], rod_mass * turn * turn * 0.5 * rod_length, 1e-5);
      assert_near("pin, across", s->lambda[2], -0.25 * rod_mass * gravity, 1e-5);
      double y[2] = {0.0, -turn}, dy[2];
      s = rig_advance(&r, t + after);
      reference_ode(compound_rhs, NULL, 2, 0.0, after, 0.02, y);
      compound_rhs(after, y, dy, NULL);
      const double a = 0.5 * rod_length, c = cos(y[0]), sn = sin(y[0]);
      error[level] = hypot(s->q[0] - a * c, s->q[2] - a * sn);
      // m r'' = (0, 0, -m g) - lambda
      error_lambda[level] =
          hypot(s->lambda[0] + rod_mass * a * (-sn * dy[1] - c * y[1] * y[1]),
                s->lambda[2] + rod_mass * (gravity + a * (c * dy[1] - sn * y[1] * y[1])));
      rig_free(&r);
    }
    const double order = observed_order(error[0], error[1]);
    const double order_lambda = observed_order(error_lambda[0], error_lambda[1]);
    printf("rod, method %d: q %.1e order %.2f, lambda %.1e order %.2f\n", m, error[1], order,
           error_lambda[1], order_lambda);
    assert_true(order > 1.85 && order_lambda > 1.8);
  }
}

// ---- a clutch ---------------------------------------------------------------------------------------------

/// Two wheels on one shaft, the first driven. Locked either by k = v_0 - v_1 or by g = q_0 - q_1 - offset,
/// where the offset is what the wheels have turned against each other when the clutch closes.
typedef struct clutch {
  double inertia[2]; ///< [kg m^2]
  double torque;     ///< [N m]
  double offset;     ///< [rad]
  bool holonomic;
  double closes, opens; ///< [s]
  double before[2];     ///< speeds before the last change [rad/s]
} clutch;

static int clutch_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const clutch *c = user;
  for (int i = 0; i < 2; ++i) as_matrix_add(m, i, i, c->inertia[i]);
  return AS_DONE;
}

static int clutch_force(const as_point *at, double *f, void *user) {
  (void)at;
  const clutch *c = user;
  f[0] = c->torque;
  f[1] = 0.0;
  return AS_DONE;
}

static int clutch_angle(const as_point *at, double *g, void *user) {
  const clutch *c = user;
  g[0] = at->q[0] - at->q[1] - c->offset;
  return AS_DONE;
}

static int clutch_speed(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = at->v[0] - at->v[1];
  return AS_DONE;
}

static int clutch_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at;
  const clutch *c = user;
  const as_block block = c->holonomic ? AS_BLOCK_G_Q : AS_BLOCK_K_V;
  if (!(wanted & AS_BLOCK_BIT(block))) return AS_DONE;
  as_matrix_add(&blocks[block], 0, 0, 1.0);
  as_matrix_add(&blocks[block], 0, 1, -1.0);
  return AS_DONE;
}

static int clutch_closes(const as_state *at, double *out, void *user) {
  const clutch *c = user;
  *out = at->t - c->closes;
  return AS_DONE;
}

static int clutch_opens(const as_state *at, double *out, void *user) {
  const clutch *c = user;
  *out = at->t - c->opens;
  return AS_DONE;
}

static int switch_clutch(as_event *event, void *user) {
  clutch *c = user;
  memcpy(c->before, event->state->v, sizeof c->before);
  assert_int_equal(event->active[0], event->index);
  event->active[0] = !event->active[0];
  c->offset = event->q[0] - event->q[1];
  return AS_EVENT_CHANGE | AS_EVENT_STOP;
}

/// The common speed keeps J_0 w_0 + J_1 w_1; J_0 J_1/(J_0 + J_1) (w_0 - w_1)^2/2 is lost; while it is locked the
/// clutch carries J_1/(J_0 + J_1) of the torque; letting go changes no speed.
static void run_clutch(as_method method, double step, bool holonomic) {
  clutch c = {.inertia = {0.2, 0.5},
              .torque = 3.0,
              .holonomic = holonomic,
              .closes = 0.4321,
              .opens = 0.9876};
  static const as_space_part plane = {AS_SPACE_RN, 2};
  const as_event_def events[] = {
      {.name = "close", .value = clutch_closes, .direction = 1, .act = switch_clutch, .user = &c},
      {.name = "open", .value = clutch_opens, .direction = 1, .act = switch_clutch, .user = &c}};
  const as_integrator_def how = rig_how(method, step, events, 2);
  const bool open = false;
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = holonomic;
  def.n_psi = !holonomic;
  def.mass_constant = def.scleronomic = true;
  def.mass = clutch_mass;
  def.force = clutch_force;
  def.constraint = holonomic ? clutch_angle : NULL;
  def.nonholonomic = holonomic ? NULL : clutch_speed;
  def.jacobian = clutch_jacobian;
  def.block[AS_BLOCK_G_Q].source = def.block[AS_BLOCK_K_V].source = AS_BLOCK_GIVEN;
  def.user = &c;
  const double q0[] = {0.0, 0.0}, v0[] = {10.0, -2.0};
  const as_initial initial = {.q = q0, .v = v0, .active = &open};
  rig r = rig_make(&def, &how, &initial);
  const double J0 = c.inertia[0], J1 = c.inertia[1], J = J0 + J1;

  const as_state *s = rig_advance_to(&r, 2.0, AS_STOPPED);
  assert_near("closes", s->t, c.closes, 1e-12);
  const double w0 = v0[0] + c.torque / J0 * c.closes, w1 = v0[1];
  const double common = (J0 * w0 + J1 * w1) / J;
  assert_near("speed 0 before", c.before[0], w0, 1e-10);
  assert_near("speed 1 before", c.before[1], w1, 1e-12);
  assert_near("common speed", s->v[0], common, 1e-10);
  assert_true(fabs(s->v[1] - s->v[0]) <= 1e-14);
  assert_near("angular momentum", J0 * s->v[0] + J1 * s->v[1], J0 * c.before[0] + J1 * c.before[1],
              1e-14);
  const double energy[] = {0.5 * (J0 * w0 * w0 + J1 * w1 * w1),
                           0.5 * (J0 * s->v[0] * s->v[0] + J1 * s->v[1] * s->v[1])};
  assert_near("energy lost", energy[0] - energy[1], 0.5 * J0 * J1 / J * pow(w0 - w1, 2), 1e-9);
  assert_near("impulse", as_integrator_event(r.integrator).impulse[0], J0 * (w0 - common), 1e-9);
  const double carried = c.torque * J1 / J;
  assert_near("torque at once", holonomic ? s->lambda[0] : s->psi[0], carried, 1e-12);
  assert_near("acceleration", s->vdot[1], c.torque / J, 1e-12);

  s = rig_advance_to(&r, 2.0, AS_STOPPED);
  assert_near("opens", s->t, c.opens, 1e-12);
  const double w = common + c.torque / J * (c.opens - c.closes);
  assert_near("speed when it opens", s->v[0], w, 1e-9);
  assert_true(s->v[0] == c.before[0] && s->v[1] == c.before[1]);
  assert_true(as_integrator_event(r.integrator).impulse[0] == 0.0);
  assert_true((holonomic ? s->lambda[0] : s->psi[0]) == 0.0);
  assert_near("acceleration of 0", s->vdot[0], c.torque / J0, 1e-12);
  assert_near("acceleration of 1", s->vdot[1], 0.0, 1e-12);

  s = rig_advance(&r, 2.0);
  assert_near("speed 0 at the end", s->v[0], w + c.torque / J0 * (2.0 - c.opens), 1e-9);
  assert_near("speed 1 at the end", s->v[1], w, 1e-9);
  assert_int_equal(as_integrator_event(r.integrator).count, 2);
  rig_free(&r);
}

static void test_clutch(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 4; ++k) run_clutch(rig_methods[m], k % 2 ? automatic : 0.01, k < 2);
}

// ---- a skate that begins to hold ---------------------------------------------------------------------------

// q = (x, y, heading) with unit mass 2 kg and moment 0.1 kg m^2; k: no motion across the blade.

static int skate_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 2.0);
  as_matrix_add(m, 1, 1, 2.0);
  as_matrix_add(m, 2, 2, 0.1);
  return AS_DONE;
}

static int skate_force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = f[1] = f[2] = 0.0;
  return AS_DONE;
}

static int skate_across(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = -sin(at->q[2]) * at->v[0] + cos(at->q[2]) * at->v[1];
  return AS_DONE;
}

static int skate_place(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0] - 0.5;
  return AS_DONE;
}

static int skate_holds(as_event *event, void *user) {
  (void)user;
  event->active[0] = true;
  return AS_EVENT_CHANGE | AS_EVENT_STOP;
}

/// It slides and turns freely until x = 0.5 m; then only the velocity along the blade, s, is left; the impulse
/// is m times the one across; from there it runs on a circle of radius s/omega, and the ice pushes with m s omega.
static void test_skate_begins_to_hold(void **state) {
  (void)state;
  static const as_space_part plane = {AS_SPACE_RN, 3};
  static const bool slides = false;
  static const double q0[] = {0.0, 0.2, 0.3}, v0[] = {1.25, 0.6, 1.7};
  for (int m = 0; m < 3; ++m) {
    double error[2] = {0};
    for (int level = 0; level < 3; ++level) {
      const as_event_def event = {
          .name = "ice", .value = skate_place, .direction = 1, .act = skate_holds};
      const double h = level == 2 ? automatic : 0.01 / (1 + level);
      as_integrator_def how = rig_how(rig_methods[m], h, &event, 1);
      how.tolerance.rtol = 3e-4;
      as_problem_def def = as_default_problem_def();
      def.parts = &plane;
      def.n_parts = 1;
      def.n_psi = 1;
      def.mass_constant = def.scleronomic = true;
      def.mass = skate_mass;
      def.force = skate_force;
      def.nonholonomic = skate_across;
      rig r = rig_make(&def, &how, &(as_initial){.q = q0, .v = v0, .active = &slides});
      const as_state *s = rig_advance_to(&r, 2.0, AS_STOPPED);
      const double t = 0.4, heading = q0[2] + v0[2] * t, c = cos(heading), sn = sin(heading);
      const double along = c * v0[0] + sn * v0[1], across = -sn * v0[0] + c * v0[1];
      assert_near("when", s->t, t, 1e-10);
      assert_near("x'", s->v[0], along * c, 1e-9);
      assert_near("y'", s->v[1], along * sn, 1e-9);
      assert_near("turning", s->v[2], v0[2], 1e-12);
      assert_near("impulse", as_integrator_event(r.integrator).impulse[0], 2.0 * across, 1e-9);
      // m v' = -psi (-sin, cos), v' = s omega (-sin, cos)
      assert_near("push of the ice", s->psi[0], -2.0 * along * v0[2], 1e-8);
      s = rig_advance(&r, 2.0);
      const double end = q0[2] + v0[2] * 2.0, radius = along / v0[2];
      const double x = 0.5 + radius * (sin(end) - sn);
      const double y = q0[1] + v0[1] * t - radius * (cos(end) - c);
      assert_near("push at the end", s->psi[0], -2.0 * along * v0[2], 1e-2);
      if (level < 2) error[level] = hypot(s->q[0] - x, s->q[1] - y);
      if (level == 2) assert_near("automatic", hypot(s->q[0] - x, s->q[1] - y), 0.0, 1e-4);
      rig_free(&r);
    }
    const double order = observed_order(error[0], error[1]);
    printf("skate, method %d: %.1e %.1e order %.2f\n", m, error[0], error[1], order);
    assert_true(order > 1.9);
  }
}

// ---- a joint that locks --------------------------------------------------------------------------------------

/// A body on a ball joint at the origin, its centre at 0.1 along its x axis. Two more rows of the same joint keep
/// its y axis across the world's x and z; the second holds only while the joint is locked.
typedef struct locked {
  double before[6];
} locked;

static const double locked_inertia[] = {0.1, 0.2, 0.3}; // about its centre [kg m^2]

static int locked_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, 2.0);
  for (int i = 0; i < 3; ++i) as_matrix_add(m, 3 + i, 3 + i, locked_inertia[i]);
  return AS_DONE;
}

static int locked_force(const as_point *at, double *f, void *user) {
  (void)user;
  const double *w = at->v + 3, *J = locked_inertia;
  f[0] = f[1] = f[2] = 0.0;
  f[3] = (J[1] - J[2]) * w[1] * w[2];
  f[4] = (J[2] - J[0]) * w[2] * w[0];
  f[5] = (J[0] - J[1]) * w[0] * w[1];
  return AS_DONE;
}

static int locked_joint(const as_point *at, double *g, void *user) {
  (void)user;
  const double *r = at->q, *p = at->q + 3, a = 0.1;
  g[0] = r[0] - a * (1.0 - 2.0 * (p[2] * p[2] + p[3] * p[3]));
  g[1] = r[1] - a * 2.0 * (p[1] * p[2] + p[0] * p[3]);
  g[2] = r[2] - a * 2.0 * (p[1] * p[3] - p[0] * p[2]);
  g[3] = 2.0 * (p[2] * p[3] + p[0] * p[1]); // z of the y axis: no turning about x
  g[4] = 2.0 * (p[1] * p[2] - p[0] * p[3]); // x of the y axis: none about z
  return AS_DONE;
}

static int locked_angle(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[6]; // the sine of half the angle about z
  return AS_DONE;
}

static int lock(as_event *event, void *user) {
  locked *l = user;
  memcpy(l->before, event->state->v, sizeof l->before);
  event->active[4] = true;
  return AS_EVENT_CHANGE | AS_EVENT_STOP;
}

/// It turns about z from -0.3 rad on and locks at 0: all its angular momentum about the joint, (J_z + m a^2) w, goes
/// into the lock. The start is 1e-4 off, so that it is projected with a row that does not hold.
static void test_joint_locks(void **state) {
  (void)state;
  static const as_space_part space = {AS_SPACE_R3SO3, 1};
  static const bool free_to_turn[] = {true, true, true, true, false};
  const double q0[] = {0.1001 * cos(0.3), -0.1 * sin(0.3), 0.0, cos(0.15), 0.0, 0.0, -sin(0.15)};
  const double w = 1.5, v0[] = {0.1 * w * sin(0.3), 0.1 * w * cos(0.3), 0.0, 0.0, 0.0, w};
  for (int m = 0; m < 3; ++m) {
    locked l = {{0}};
    const as_event_def event = {
        .name = "lock", .value = locked_angle, .direction = 1, .act = lock, .user = &l};
    const as_integrator_def how = rig_how(rig_methods[m], 0.01, &event, 1);
    as_problem_def def = as_default_problem_def();
    def.parts = &space;
    def.n_parts = 1;
    def.n_lambda = 5;
    def.mass_constant = def.scleronomic = true;
    def.mass = locked_mass;
    def.force = locked_force;
    def.constraint = locked_joint;
    rig r = rig_make(&def, &how, &(as_initial){.q = q0, .v = v0, .active = free_to_turn});
    const as_state *s = rig_advance_to(&r, 1.0, AS_STOPPED);
    assert_near("when", s->t, 0.2, 1e-4);
    const double turning = l.before[5];
    assert_near("turning before", turning, w, 1e-3);
    for (int i = 0; i < 6; ++i) assert_near("v after", s->v[i], 0.0, 1e-9);
    // The centre, which moves with a w, is stopped by the joint, m a w; the lock takes the rest. Row 4 changes
    // by -1 per angle.
    const double *L = as_integrator_event(r.integrator).impulse;
    const double momentum = (0.3 + 2.0 * 0.01) * turning;
    assert_near("impulse of the lock", L[4], -momentum, 1e-4);
    assert_near("impulse of the joint", L[1], 2.0 * 0.1 * turning, 1e-4);
    rig_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rod_is_caught),
      cmocka_unit_test(test_clutch),
      cmocka_unit_test(test_skate_begins_to_hold),
      cmocka_unit_test(test_joint_locks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
