/// Beams in motion: mass by elements, frequencies, rotating beams, whirl, free flight, references of dynamics.
///
/// References: roots of Timoshenko's transfer matrix; Cosserat equations linearized about steady rotation, by shooting; motions
/// by spectral elements and explicit Runge-Kutta of order 8, which have nothing in common with this element.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "beams.h"
#include "drive.h"
#include "elements/vector.h"
#include "machines.h"
#include "rig.h"

static const double none[3] = {0.0, 0.0, 0.0}, ex[3] = {1.0, 0.0, 0.0}, ey[3] = {0.0, 1.0, 0.0};

/// Circular frequencies of a model about its start, increasing; zeros left out. Returns how many.
static int frequencies(const as_model *m, const as_initial *from, double *out, int most) {
  as_linearization *l;
  as_modes *modes;
  as_error error;
  as_linearization_def def = as_default_linearization_def();
  if (as_linearize(as_model_problem(m), from, &def, &l, &error)) fail_msg("%s", error.message);
  if (as_modes_create(l, &modes, &error)) fail_msg("%s", error.message);
  int n = 0;
  for (int i = 0; i < modes->n && n < most; ++i)
    if (modes->mode[i].im > 1e-3) out[n++] = modes->mode[i].im;
  as_modes_destroy(modes);
  as_linearization_destroy(l);
  return n;
}

/// Section of the slender beam of timoshenko_modes: bending about y is the one of the reference, the other 9 times as stiff.
static as_beam_section slender(void) {
  return beam_section(
      (double[6]){1.05e9, 336538461.53846157, 336538461.53846157, 3e6, 218750.0, 9.0 * 218750.0},
      39.25, (double[3]){0.081770833, 0.008177083333333333, 0.0735937});
}

static as_builder *cantilever(const as_beam_section *section, int n, double length,
                              as_beam_mass mass, bool plain) {
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_beam_def def = as_default_beam_def();
  def.section = section;
  def.mass = mass;
  def.plain = plain;
  beam_straight(b, &def, n, none, (double[3]){length, 0.0, 0.0}, ey, AS_GROUND, AS_NO_BODY);
  return b;
}

static void test_timoshenko(void **state) {
  (void)state;
  static const double exact[3] = {65.5886257411218, 409.819348308763, 1142.07357007059};
  const as_beam_section section = slender();
  // Relative errors of modes 1 and 2: K* with Hermite mass, n = 4 and 8; K with lumped mass, n = 8.
  for (int c = 0; c < 3; ++c) {
    as_model *m = machine_build(cantilever(&section, c == 0 ? 4 : 8, 2.0,
                                           c < 2 ? AS_BEAM_HERMITE : AS_BEAM_LUMPED, c == 2));
    double w[24];
    const int n = frequencies(m, as_model_initial(m), w, 24);
    for (int k = 0; k < 2; ++k) {
      double best = 1.0;
      for (int i = 0; i < n; ++i)
        if (fabs(w[i] / exact[k] - 1.0) < fabs(best)) best = w[i] / exact[k] - 1.0;
      static const double limit[3][2] = {{6e-5, 2e-3}, {8e-6, 2e-4}, {8e-3, 8e-3}};
      assert_true(fabs(best) < limit[c][k]);
    }
    as_model_destroy(m);
  }
}

/// The frequency that is nearest to a wanted one, as a relative error.
static double nearest(const double *w, int n, double wanted) {
  double best = 1.0;
  for (int i = 0; i < n; ++i)
    if (fabs(w[i] / wanted - 1.0) < fabs(best)) best = w[i] / wanted - 1.0;
  return best;
}

/// Frequencies of a beam of 1 m that turns with a hub about z, as relative errors.
static void rotating(const as_beam_section *section, double Omega, int n, const double *exact,
                     int count, double *error) {
  const double k = Omega * sqrt(section->mass / section->stiffness[0]);
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_body_def def = machine_round_body("hub", 1.0, 1.0, false);
  asi_set(0.0, 0.0, Omega, def.angular_velocity);
  const as_body_id hub = machine_body(b, &def);
  const as_joint_id axle =
      machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, hub, none, (double[3]){0, 0, 1});
  const as_curve law = {.slope = Omega};
  bench_motion(b, "drive", axle, &law);
  as_beam_def beam = as_default_beam_def();
  beam.section = section;
  asi_set(0.0, 0.0, Omega, beam.angular_velocity);
  beam_straight(b, &beam, n, none, ex, ey, hub, AS_NO_BODY);
  as_model *m = machine_build(b);
  // The stretched state: x = sin(k s)/(k cos(k L)).
  as_initial from = *as_model_initial(m);
  double *q = malloc(300 * sizeof *q), *v = malloc(300 * sizeof *v);
  const as_space *space = as_problem_space(as_model_problem(m));
  memcpy(q, from.q, (size_t)as_space_nq(space) * sizeof *q);
  memcpy(v, from.v, (size_t)as_space_nv(space) * sizeof *v);
  for (int i = 1; i <= n; ++i) {
    const as_body_id node = as_model_beam_node(m, (as_beam_id){0}, i);
    const double x = sin(k * i / n) / (k * cos(k));
    q[as_model_body_q(m, node)] = x;
    v[as_model_body_v(m, node) + 1] = Omega * x;
  }
  from.q = q;
  from.v = v;
  as_linearization *l;
  as_modes *modes;
  as_error slip;
  as_linearization_def how = as_default_linearization_def();
  how.axes = AS_AXES_TURNING;
  how.turning[2] = Omega;
  if (as_linearize(as_model_problem(m), &from, &how, &l, &slip)) fail_msg("%s", slip.message);
  if (as_modes_create(l, &modes, &slip)) fail_msg("%s", slip.message);
  double *w = malloc((size_t)modes->n * sizeof *w);
  for (int i = 0; i < modes->n; ++i) w[i] = modes->mode[i].im;
  for (int i = 0; i < count; ++i) error[i] = fabs(nearest(w, modes->n, exact[i]));
  as_modes_destroy(modes);
  as_linearization_destroy(l);
  as_model_destroy(m);
  free(w);
  free(q);
  free(v);
}

static void test_rotating(void **state) {
  (void)state;
  // Flap is bending about y, lag about z; the axis is z.
  const as_beam_section section =
      beam_section((double[6]){1.4e7, 4487179.487179487, 4487179.487179487, 200.0,
                               116.6666666666667, 466.6666666666667},
                   0.54, (double[3]){2.25e-5, 4.5e-6, 1.8e-5});
  static const double exact[3] = {74.9819716945, 347.79924615, 105.58694636};
  double error[2][3];
  for (int c = 0; c < 2; ++c) rotating(&section, 50.0, 4 << c, exact, 3, error[c]);
  for (int i = 0; i < 3; ++i) assert_true(error[0][i] < 2e-3 && error[1][i] < 0.3 * error[0][i]);
}

/// A wire of 1 m, 0.2 mm thick: nearly a string, whose tension is 2e4 times 12 E I/L^2 of the whole, 70 times that of an element. Flap, by
/// the power series of the rotating beam of Euler.
static void test_rotating_wire(void **state) {
  (void)state;
  const as_beam_section section =
      beam_section((double[6]){6597.0, 2250.0, 2250.0, 1.27e-5, 1.649e-5, 1.649e-5}, 2.466e-4,
                   (double[3]){1.2e-12, 6e-13, 6e-13});
  static const double exact[2] = {50.275458816275396, 123.19415206199609};
  double error[2][2];
  for (int c = 0; c < 2; ++c) rotating(&section, 50.0, 8 << c, exact, 2, error[c]);
  for (int i = 0; i < 2; ++i) assert_true(error[0][i] < 8e-3 && error[1][i] < 0.4 * error[0][i]);
}

/// A steel block of a rod, swinging: the steps are thousands of periods of its vibrations. It is the rigid body of its mass and
/// inertia; what is between them goes with the square of the step.
static double stiff_rod(as_method method, double step) {
  const double L = 0.1, mass = 19.625, axial = 8.177e-3, across = 4.0885e-3;
  const as_beam_section section =
      beam_section((double[6]){5.25e8, 1.68e8, 1.68e8, 7.1e4, 1.09e5, 1.09e5}, mass,
                   (double[3]){axial, across, across});
  double tip[2][3];
  for (int c = 0; c < 2; ++c) {
    as_builder *b = machine_builder(0.0, 0.0, -9.81);
    as_body_id held, end;
    if (c == 0) {
      as_beam_def def = as_default_beam_def();
      def.section = &section;
      asi_set(4.0, 1.0, 3.0, def.angular_velocity);
      beam_straight(b, &def, 2, none, (double[3]){L, 0, 0}, ey, AS_NO_BODY, AS_NO_BODY);
      held = as_builder_beam_node(b, (as_beam_id){0}, 0);
      end = as_builder_beam_node(b, (as_beam_id){0}, 2);
    } else {
      as_body_def def = as_default_body_def();
      def.mass = mass * L;
      asi_set(axial * L, across * L + def.mass * L * L / 12.0, across * L + def.mass * L * L / 12.0,
              def.inertia);
      def.position[0] = L / 2.0;
      asi_set(4.0, 1.0, 3.0, def.angular_velocity);
      asi_cross(def.angular_velocity, def.position, def.velocity);
      held = end = machine_body(b, &def);
    }
    machine_joint(b, "pivot", AS_JOINT_SPHERICAL, AS_GROUND, held, none, NULL);
    as_model *m = machine_build(b);
    as_integrator *run;
    as_body_motion at;
    const as_state *s = drive_to(m, method, step, 0.5, &run);
    as_model_body_motion(m, s, end, &at);
    asi_rotate(at.R, (double[3]){c == 0 ? 0.0 : L / 2.0, 0.0, 0.0}, tip[c]);
    asi_add(1.0, at.x, tip[c]);
    as_integrator_destroy(run);
    as_model_destroy(m);
  }
  asi_add(-1.0, tip[1], tip[0]);
  return asi_norm(tip[0]);
}

static void test_stiff_rod(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    const double coarse = stiff_rod(rig_methods[i], 2e-3), fine = stiff_rod(rig_methods[i], 1e-3);
    assert_true(coarse < 6e-5);
    assert_near("order", log2(coarse / fine), 2.0, 0.1);
  }
}

/// A spinning shaft on two simple supports: forward and backward whirl.
static void test_whirl(void **state) {
  (void)state;
  const double Omega = 2000.0, EI = 64427.19309119693, GA = 142731012.38665166,
               rhoI = 0.002408349836980457;
  const as_beam_section section =
      beam_section((double[6]){412334035.78366035, GA, GA, 49559.379300920715, EI, EI},
                   15.413438956674923, (double[3]){2.0 * rhoI, rhoI, rhoI});
  static const double exact[4] = {633.146090063855, 639.250745901064, 2510.61883185625,
                                  2534.30036513776};
  double error[2][4];
  for (int c = 0; c < 2; ++c) {
    const int n = 8 << c;
    as_builder *b = machine_builder(0.0, 0.0, 0.0);
    as_beam_def def = as_default_beam_def();
    def.section = &section;
    def.angular_velocity[0] = Omega;
    beam_straight(b, &def, n, none, ex, ey, AS_NO_BODY, AS_NO_BODY);
    machine_joint(b, "left", AS_JOINT_SPHERICAL, AS_GROUND,
                  as_builder_beam_node(b, (as_beam_id){0}, 0), none, NULL);
    machine_joint(b, "right", AS_JOINT_POINT_ON_LINE, AS_GROUND,
                  as_builder_beam_node(b, (as_beam_id){0}, n), ex, ex);
    as_model *m = machine_build(b);
    as_linearization *l;
    as_modes *modes;
    as_error slip;
    as_linearization_def how = as_default_linearization_def();
    how.axes = AS_AXES_TURNING;
    if (as_linearize(as_model_problem(m), as_model_initial(m), &how, &l, &slip))
      fail_msg("%s", slip.message);
    if (as_modes_create(l, &modes, &slip)) fail_msg("%s", slip.message);
    double w[128];
    int count = 0;
    for (int i = 0; i < modes->n && count < 128; ++i) w[count++] = modes->mode[i].im;
    for (int i = 0; i < 4; ++i) {
      error[c][i] = fabs(nearest(w, count, exact[i]));
    }
    as_modes_destroy(modes);
    as_linearization_destroy(l);
    as_model_destroy(m);
  }
  for (int i = 0; i < 4; ++i)
    assert_true(error[0][i] < 3e-5 && error[1][i] < 3e-6 && error[1][i] < 0.3 * error[0][i] + 1e-7);
}

/// A soft beam that is thrown and spun, and bends; at another observer's speed.
static as_model *thrown(double speed, as_beam_mass mass) {
  const as_beam_section section =
      beam_section((double[6]){2e4, 1e4, 1e4, 8.0, 10.0, 14.0}, 1.0, (double[3]){0.03, 0.01, 0.02});
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_beam_def def = as_default_beam_def();
  def.section = &section;
  def.mass = mass;
  asi_set(speed, 0.0, 2.0, def.velocity);
  asi_set(0.5, 3.0, 1.0, def.angular_velocity);
  beam_straight(b, &def, 4, none, (double[3]){2, 0, 0}, ey, AS_NO_BODY, AS_NO_BODY);
  beam_push(b, as_builder_beam_node(b, (as_beam_id){0}, 4), (double[3]){0, 0, 4.0}, none, true,
            NULL);
  return machine_build(b);
}

static void test_galilei(void **state) {
  (void)state;
  double x[2][3];
  for (int c = 0; c < 2; ++c) {
    as_model *m = thrown(c ? 100.0 : 0.0, AS_BEAM_HERMITE);
    as_integrator *run;
    as_body_motion tip;
    const as_state *s = drive_to(m, AS_METHOD_INDEX2, 0.01, 2.0, &run);
    as_model_body_motion(m, s, as_model_beam_node(m, (as_beam_id){0}, 4), &tip);
    asi_copy(tip.x, x[c]);
    as_integrator_destroy(run);
    as_model_destroy(m);
  }
  x[1][0] -= 200.0;
  for (int k = 0; k < 3; ++k) assert_near("shifted", x[1][k], x[0][k], 1e-9);
}

/// Without the load: energy and momenta stay, and are those of a rigid rod at the start.
static void test_free_flight(void **state) {
  (void)state;
  const as_beam_section section =
      beam_section((double[6]){2e4, 1e4, 1e4, 8.0, 10.0, 14.0}, 1.0, (double[3]){0.03, 0.01, 0.02});
  as_builder *b = machine_builder(0.0, 0.0, -2.0);
  as_beam_def def = as_default_beam_def();
  def.section = &section;
  asi_set(1.0, 0.0, 2.0, def.velocity);
  asi_set(0.5, 3.0, 1.0, def.angular_velocity);
  asi_set(1.0, 0.0, 0.0, def.about);
  beam_straight(b, &def, 4, none, (double[3]){2, 0, 0}, ey, AS_NO_BODY, AS_NO_BODY);
  as_model *m = machine_build(b);
  double drift[2] = {0.0, 0.0};
  for (int c = 0; c < 2; ++c) {
    as_error error;
    as_integrator *run = drive_start(m, AS_METHOD_INDEX2, 0.01 / (1 << c));
    as_momentum first, now;
    as_energy start, energy;
    as_model_momentum(m, as_integrator_state(run), &first);
    assert_int_equal(as_model_energy(m, as_integrator_state(run), &start, &error), AS_OK);
    assert_near("mass", first.mass, 2.0, 1e-12);
    assert_near("centre of mass", first.center_of_mass[0], 1.0, 1e-12);
    assert_near("linear momentum", first.linear[2], 4.0, 1e-12);
    // J = (0.06, 0.02 + 2/3, 0.04 + 2/3) about the centre, which is at (1, 0, 0) with (1, 0, 2) m/s
    assert_near("angular momentum x", first.angular[0], 0.06 * 0.5, 1e-12);
    assert_near("angular momentum y", first.angular[1], (0.02 + 2.0 / 3.0) * 3.0 - 4.0, 1e-12);
    assert_near("angular momentum z", first.angular[2], 0.04 + 2.0 / 3.0, 1e-12);
    assert_near("kinetic energy", start.kinetic,
                5.0 + (0.06 * 0.25 + (0.02 + 2.0 / 3.0) * 9.0 + 0.04 + 2.0 / 3.0) / 2.0, 1e-12);
    for (int i = 1; i <= 20; ++i) {
      if (as_integrator_advance(run, 0.1 * i, &error)) fail_msg("%s", error.message);
      as_model_momentum(m, as_integrator_state(run), &now);
      assert_int_equal(as_model_energy(m, as_integrator_state(run), &energy, &error), AS_OK);
      assert_near("falls", now.linear[2], 4.0 - 2.0 * 2.0 * 0.1 * i, 1e-7);
      assert_near("goes on", now.linear[0], 2.0, 1e-7);
      drift[c] =
          fmax(drift[c], fabs(energy.kinetic + energy.potential - start.kinetic - start.potential));
      double spin[3];
      asi_copy(now.angular, spin);
      asi_add_cross(-1.0, now.center_of_mass, now.linear, spin);
      assert_near("own angular momentum", spin[0], 0.06 * 0.5, 0.02);
    }
    as_integrator_destroy(run);
  }
  assert_true(drift[0] < 0.05 && drift[1] < 0.35 * drift[0]);
  as_model_destroy(m);
}

static int taper(double s, as_beam_section *out, void *user) {
  const double h = 1.0 - 0.5 * s;
  (void)user;
  *out = beam_section((double[6]){1e5, 4e4, 4e4, 50, 80, 60}, 2.0 * h,
                      (double[3]){0.02 * h, 0.01 * h, 0.012 * h});
  return 0;
}

/// A taper that turns about its own axis has the sum of its sections' inertia, whatever its mass is like.
static void test_rotary(void **state) {
  (void)state;
  for (int c = 0; c < 4; ++c) {
    as_builder *b = machine_builder(0.0, 0.0, 0.0);
    as_beam_def def = as_default_beam_def();
    as_error error;
    def.section_at = taper;
    def.mass = c % 2 ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
    def.angular_velocity[c < 2 ? 0 : 2] = 3.0;
    beam_straight(b, &def, 5, none, ex, ey, AS_NO_BODY, AS_NO_BODY);
    as_model *m = machine_build(b);
    as_integrator *run = drive_start(m, AS_METHOD_INDEX2, 0.01);
    as_energy energy;
    assert_int_equal(as_model_energy(m, as_integrator_state(run), &energy, &error), AS_OK);
    // int 0.02 h, and int 0.012 h + 2 h s^2; lumped masses are at the ends of the elements
    const double J = c < 2 ? 0.015 : 0.009 + 2.0 / 3.0 - 0.25;
    assert_near("energy", energy.kinetic, 4.5 * J, c == 3 ? 0.05 : 1e-12);
    as_integrator_destroy(run);
    as_model_destroy(m);
  }
}

/// The damped pendulum in three dimensions: tip at t = 0.4.
static double pendulum(int n, double step, as_method method, bool lumped, double *force) {
  static const double reference[3] = {0.217644084722, 0.469506428435, -0.855941609899};
  const as_beam_section section = beam_section(
      (double[6]){15707.963267948964, 4712.38898038469, 4712.38898038469, 0.2617993877991494,
                  0.39269908169872414, 0.39269908169872414},
      0.3455751918948773,
      (double[3]){1.7278759594743865e-05, 8.639379797371932e-06, 8.639379797371932e-06});
  as_builder *b = machine_builder(0.0, 0.0, -9.81);
  as_beam_def def = as_default_beam_def();
  def.section = &section;
  def.damping = 0.002;
  def.mass = lumped ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
  def.plain = lumped;
  def.angular_velocity[2] = 2.0;
  beam_straight(b, &def, n, none, ex, ey, AS_NO_BODY, AS_NO_BODY);
  machine_joint(b, "pivot", AS_JOINT_SPHERICAL, AS_GROUND,
                as_builder_beam_node(b, (as_beam_id){0}, 0), none, NULL);
  as_model *m = machine_build(b);
  as_integrator *run;
  as_body_motion tip;
  as_beam_state at;
  as_reaction reaction;
  as_error error;
  const as_state *s = drive_to(m, method, step, 0.4, &run);
  as_model_body_motion(m, s, as_model_beam_node(m, (as_beam_id){0}, n), &tip);
  // The pivot carries what the first section does.
  assert_int_equal(as_model_beam_state(m, s, (as_beam_id){0}, 0, &at, &error), AS_OK);
  assert_int_equal(as_model_reaction(m, s, (as_joint_id){0}, &reaction, &error), AS_OK);
  double world[3];
  asi_rotate(at.R, at.force, world);
  asi_add(1.0, reaction.force, world);
  *force = asi_norm(world) / asi_norm(reaction.force);
  assert_int_equal(as_model_beam_state(m, s, (as_beam_id){0}, n, &at, &error), AS_OK);
  *force = fmax(*force, asi_norm(at.force) / asi_norm(reaction.force));
  asi_add(-1.0, reference, tip.x);
  as_integrator_destroy(run);
  as_model_destroy(m);
  return asi_norm(tip.x);
}

static void test_pendulum(void **state) {
  (void)state;
  double force;
  const double four = pendulum(4, 2e-4, AS_METHOD_INDEX2, false, &force),
               eight = pendulum(8, 2e-4, AS_METHOD_INDEX2, false, &force);
  assert_true(force < 1e-6);
  assert_true(four < 3e-5 && eight < four / 8.0);
  for (int i = 0; i < 3; ++i) {
    const double coarse = pendulum(8, 2e-3, rig_methods[i], false, &force);
    assert_true(coarse < 3e-3);
  }
  const double lumped = pendulum(8, 5e-4, AS_METHOD_INDEX2, true, &force);
  assert_true(lumped < 2e-2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_timoshenko),    cmocka_unit_test(test_rotating),
      cmocka_unit_test(test_rotating_wire), cmocka_unit_test(test_stiff_rod),
      cmocka_unit_test(test_whirl),         cmocka_unit_test(test_galilei),
      cmocka_unit_test(test_free_flight),   cmocka_unit_test(test_rotary),
      cmocka_unit_test(test_pendulum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
