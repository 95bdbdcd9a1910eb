/// Motions and laws by formula: the same as those that are built in, order, energy, messages.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/quantities.h"
#include "drive.h"
#include "files.h"
#include "machines.h"
#include "rig.h"

static const double origin[3] = {0, 0, 0}, along_y[3] = {0, 1, 0};
static const double strains[] = {-1.0, -0.1, 0.0, 0.2, 1.0},
                    pulls[] = {-80.0, -5.0, 0.0, 9.0, 70.0};
static const as_curve table = {.x = strains, .y = pulls, .n = 5, .interpolation = AS_MONOTONE};

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

static as_body_id add_body(as_builder *b, bool se3) {
  as_body_def def = machine_round_body("block", 2.0, 0.0, se3);
  const double inertia[3] = {0.2, 0.3, 0.4}, position[3] = {0.3, 0.1, -0.2},
               velocity[3] = {0.4, -0.2, 0.3}, omega[3] = {0.5, -0.3, 0.7};
  memcpy(def.inertia, inertia, sizeof inertia);
  memcpy(def.position, position, sizeof position);
  memcpy(def.velocity, velocity, sizeof velocity);
  memcpy(def.angular_velocity, omega, sizeof omega);
  return machine_body(b, &def);
}

// ---- the same as what is built in -------------------------------------------------------------------

typedef void add_fn(as_builder *b, as_body_id body, bool by_formula);

static void add_spring(as_builder *b, as_body_id body, bool by_formula) {
  const as_surface law = {.formula = "300*deflection + 4*length_rate"};
  as_error error;
  as_spring_def def = as_default_spring_def();
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.length = 0.2;
  def.point[1][0] = 0.35;
  if (by_formula) {
    def.law = &law;
  } else {
    def.stiffness = 300.0;
    def.damping = 4.0;
  }
  must(as_builder_add_spring(b, &def, NULL, &error), &error);
}

static void add_tabled_spring(as_builder *b, as_body_id body, bool by_formula) {
  const as_curve spring = {.formula = "curve(length - 0.2)"},
                 damper = {.formula = "curve(length_rate)"};
  as_error error;
  as_spring_def def = as_default_spring_def();
  must(as_builder_add_table(b, "curve", &table, &error), &error);
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.length = 0.2;
  def.point[1][0] = 0.35;
  def.spring = by_formula ? &spring : &table;
  def.damper = by_formula ? &damper : &table;
  must(as_builder_add_spring(b, &def, NULL, &error), &error);
}

static void add_torsion(as_builder *b, as_body_id body, bool by_formula) {
  const as_surface law = {.formula = "7*(angle - 0.1) + 0.2*angle_rate"};
  as_error error;
  as_torsion_def def = as_default_torsion_def();
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.axis[1] = 1.0;
  def.angle = 0.1;
  if (by_formula) {
    def.law = &law;
  } else {
    def.stiffness = 7.0;
    def.damping = 0.2;
  }
  must(as_builder_add_torsion(b, &def, NULL, &error), &error);
}

static void add_bushing(as_builder *b, as_body_id body, bool by_formula) {
  const as_surface along = {.formula = "500*displacement + 3*displacement_rate"},
                   about = {.formula = "6*angle + 0.1*angle_rate"};
  as_error error;
  as_bushing_def def = as_default_bushing_def();
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  for (int i = 0; i < 6; ++i) {
    def.stiffness[i] = by_formula ? 0.0 : i < 3 ? 500.0 : 6.0;
    def.damping[i] = by_formula ? 0.0 : i < 3 ? 3.0 : 0.1;
    def.law[i] = !by_formula ? NULL : i < 3 ? &along : &about;
  }
  must(as_builder_add_bushing(b, &def, NULL, &error), &error);
}

static void add_contact(as_builder *b, as_body_id body, bool by_formula) {
  const as_curve curve = {.formula = "push(depth)"}, rub = {.formula = "0.4 + 0*speed"};
  as_error error;
  as_contact_def def = as_default_contact_def();
  must(as_builder_add_table(b, "push", &table, &error), &error);
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.normal[2] = 1.0;
  def.center[0] = 0.3;
  def.center[2] = -0.2;
  def.radius = 0.25;
  def.slip_speed = 0.05;
  def.law.curve = by_formula ? &curve : &table;
  def.law.damping = 0.3;
  def.friction = 0.4;
  def.friction_law = by_formula ? &rub : NULL;
  must(as_builder_add_contact(b, &def, NULL, &error), &error);
}

static void add_stop(as_builder *b, as_body_id body, bool by_formula) {
  const as_surface whole = {.formula = "800*depth*if(depth_rate >= 0, 1 + 0.5*depth_rate,"
                                       "             1/(1 - 0.5*depth_rate + (0.5*depth_rate)^2))"};
  as_error error;
  as_stop_def def = as_default_stop_def();
  def.joint = machine_joint(b, "slide", AS_JOINT_PRISMATIC, AS_GROUND, body, origin, along_y);
  def.upper = -0.05;
  def.law = (as_penalty){.stiffness = 800.0, .exponent = 1.0, .damping = 0.5};
  if (by_formula) def.law.surface = &whole;
  must(as_builder_add_stop(b, &def, NULL, &error), &error);
}

static void add_friction(as_builder *b, as_body_id body, bool by_formula) {
  const as_curve rub = {.formula = "0.3 + 0*speed"};
  as_error error;
  as_joint_friction_def def = as_default_joint_friction_def();
  def.joint = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, body, origin, along_y);
  def.coefficient = by_formula ? 0.0 : 0.3;
  def.coefficient_law = by_formula ? &rub : NULL;
  def.radius = 0.05;
  def.transition_speed = 0.01;
  must(as_builder_add_joint_friction(b, &def, NULL, &error), &error);
}

static int wave(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.3 * sin(4.0 * t);
  out[1] = 1.2 * cos(4.0 * t);
  out[2] = -4.8 * sin(4.0 * t);
  return AS_DONE;
}

static void add_moving_frame(as_builder *b, as_body_id body, bool by_formula) {
  const as_curve curve = {.function = wave}, formula = {.formula = "0.3*sin(4*t)"};
  const as_curve *law = by_formula ? &formula : &curve;
  as_error error;
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.shift[2] = frame.turn = law;
  frame.turn_axis = 0;
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_REVOLUTE;
  must(as_builder_add_frame(b, &frame, &joint.frame[0], &error), &error);
  frame = as_default_frame_def();
  frame.body = body;
  must(as_builder_add_frame(b, &frame, &joint.frame[1], &error), &error);
  must(as_builder_add_joint(b, &joint, NULL, &error), &error);
}

static void add_motion(as_builder *b, as_body_id body, bool by_formula) {
  const as_curve curve = {.function = wave}, formula = {.formula = "0.3*sin(4*t)"};
  const as_curve *law = by_formula ? &formula : &curve;
  as_error error;
  as_motion_def motion = as_default_motion_def();
  motion.joint = machine_joint(b, "slide", AS_JOINT_CYLINDRICAL, AS_GROUND, body, origin, along_y);
  motion.law = law;
  must(as_builder_add_motion(b, &motion, NULL, &error), &error);
  as_load_def load = as_default_load_def();
  load.body = body;
  load.force[0] = 3.0;
  load.factor = law;
  must(as_builder_add_load(b, &load, NULL, &error), &error);
}

/// Every state of a run, with both on R^3 x SO(3) and on SE(3).
static void test_same(void **state) {
  (void)state;
  static const struct {
    const char *name;
    add_fn *add;
  } all[] = {{"spring", add_spring},         {"spring with tables", add_tabled_spring},
             {"torsion", add_torsion},       {"bushing", add_bushing},
             {"contact", add_contact},       {"stop", add_stop},
             {"friction", add_friction},     {"moving frame", add_moving_frame},
             {"motion and load", add_motion}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    for (int m = 0; m < 3; ++m) {
      as_model *model[2];
      as_integrator *integrator[2];
      const as_state *s[2];
      as_error error;
      for (int k = 0; k < 2; ++k) {
        as_builder *b = machine_builder(0, 0, -9.81);
        all[i].add(b, add_body(b, m == 1), k == 1);
        model[k] = machine_build(b);
        s[k] = drive_to(model[k], rig_methods[m], 2e-3, 0.3, &integrator[k]);
      }
      const as_space *space = as_problem_space(as_model_problem(model[0]));
      as_energy energy[2];
      for (int j = 0; j < as_space_nq(space); ++j)
        assert_near(all[i].name, s[1]->q[j], s[0]->q[j], 1e-12);
      for (int j = 0; j < as_space_nv(space); ++j)
        assert_near(all[i].name, s[1]->v[j], s[0]->v[j], 1e-11);
      for (int k = 0; k < 2; ++k) {
        must(as_model_energy(model[k], s[k], &energy[k], &error), &error);
        as_integrator_destroy(integrator[k]);
        as_model_destroy(model[k]);
      }
      assert_near("potential", energy[1].potential, energy[0].potential, 1e-10);
    }
}

// ---- order and energy -------------------------------------------------------------------------------

/// A block on a driven hinge, held by springs and a bushing whose laws depend on everything they may depend on.
static as_model *make_machine(void) {
  const as_curve swing = {.formula = "0.4*sin(3*t) + step(t, 0, 0, 0.4, 0.2)*profile(t)"},
                 knots = {.x = (double[]){-1.0, 0.3, 0.9, 2.0},
                          .y = (double[]){0.0, 0.3, -0.2, 0.4},
                          .n = 4},
                 factor = {.formula = "1 + 0.5*cos(5*t)"};
  const as_surface law = {.formula = "gain*deflection + 300*deflection^3 + 2*length_rate"},
                   moving = {.formula = "(gain + 20*sin(7*t))*deflection + 3*tanh(length_rate)"};
  as_error error;
  as_builder *b = machine_builder(0, 0, -9.81);
  must(as_builder_add_parameter(b, "gain", 60.0, NULL, &error), &error);
  must(as_builder_add_table(b, "profile", &knots, &error), &error);
  as_body_def def = machine_round_body("arm", 1.5, 0.1, false);
  def.position[0] = 0.5;
  const as_body_id arm = machine_body(b, &def);
  def = machine_round_body("bob", 0.8, 0.05, true);
  def.position[0] = 1.2;
  def.position[2] = 0.2;
  def.velocity[1] = 0.3;
  const as_body_id bob = machine_body(b, &def);
  as_motion_def motion = as_default_motion_def();
  motion.joint = machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, along_y);
  motion.law = &swing;
  must(as_builder_add_motion(b, &motion, NULL, &error), &error);
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = arm;
  spring.body[1] = bob;
  spring.point[0][0] = 0.8;
  spring.point[1][0] = 1.2;
  spring.point[1][2] = 0.2;
  spring.law = &law;
  must(as_builder_add_spring(b, &spring, NULL, &error), &error);
  spring.body[0] = AS_GROUND;
  spring.point[0][2] = 1.5;
  spring.law = &moving;
  must(as_builder_add_spring(b, &spring, NULL, &error), &error);
  as_load_def load = as_default_load_def();
  load.body = bob;
  load.force[1] = 2.0;
  load.factor = &factor;
  must(as_builder_add_load(b, &load, NULL, &error), &error);
  return machine_build(b);
}

static void test_orders(void **state) {
  (void)state;
  as_model *m = make_machine();
  for (int k = 0; k < 3; ++k) drive_orders("formulas", m, rig_methods[k], 4e-3, 0.8);
  as_model_destroy(m);
}

static void test_balance(void **state) {
  (void)state;
  as_model *m = make_machine();
  as_meter meter;
  for (int k = 0; k < 3; ++k) drive_balance(m, rig_methods[k], 2e-3, 1.0, 1e-2, &meter);
  assert_true(fabs(meter.forces) > 0.1 && fabs(meter.motions) > 0.1 && meter.dissipated > 0.01);
  as_model_destroy(m);
}

/// A block that swings between two stops whose stiffness changes with time: by curve and damping, and as a whole.
static void test_stops(void **state) {
  (void)state;
  const as_curve elastic = {.formula = "(900 + 300*sin(9*t))*depth^2"};
  const as_surface whole = {.formula = "(900 + 300*sin(9*t))*depth^2*(1 + 0.2*depth_rate)"};
  for (int k = 0; k < 2; ++k) {
    as_error error;
    as_meter meter;
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def body = machine_round_body("block", 0.5, 0.1, false);
    body.velocity[1] = 1.0;
    as_stop_def def = as_default_stop_def();
    def.joint = machine_joint(b, "slide", AS_JOINT_PRISMATIC, AS_GROUND, machine_body(b, &body),
                              origin, along_y);
    def.lower = -0.05;
    def.upper = 0.05;
    def.law.damping = 0.2;
    def.law.curve = k ? &elastic : NULL;
    def.law.surface = k ? NULL : &whole;
    must(as_builder_add_stop(b, &def, NULL, &error), &error);
    as_model *m = machine_build(b);
    drive_balance(m, AS_METHOD_INDEX2, 2e-3, 1.0, 1e-2, &meter);
    assert_true(fabs(meter.forces) > 0.01 && meter.dissipated > 0.01);
    as_model_destroy(m);
  }
}

/// The coefficient falls with the speed (Stribeck): a hinge that is driven, and a ball that slides on a plane.
static void test_friction(void **state) {
  (void)state;
  const as_curve rub = {.formula = "0.2 + 0.3*exp(-(speed/0.1)^2)"};
  as_error error;
  as_meter meter;
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def def = machine_round_body("arm", 1.5, 0.1, false);
  def.position[0] = 0.5;
  as_joint_friction_def friction = as_default_joint_friction_def();
  friction.joint = machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, machine_body(b, &def),
                                 origin, along_y);
  friction.coefficient_law = &rub;
  friction.radius = 0.1;
  friction.transition_speed = 0.05;
  must(as_builder_add_joint_friction(b, &friction, NULL, &error), &error);
  def = machine_round_body("ball", 1.0, 0.004, true);
  def.position[1] = 2.0;
  def.position[2] = 0.09;
  def.velocity[0] = 0.4;
  as_contact_def contact = as_default_contact_def();
  contact.body[0] = AS_GROUND;
  contact.body[1] = machine_body(b, &def);
  contact.normal[2] = 1.0;
  memcpy(contact.center, def.position, sizeof contact.center);
  contact.radius = 0.1;
  contact.law.stiffness = 1e3;
  contact.law.exponent = 1.0;
  contact.friction_law = &rub;
  contact.slip_speed = 0.05;
  must(as_builder_add_contact(b, &contact, NULL, &error), &error);
  as_model *m = machine_build(b);
  for (int k = 0; k < 3; ++k) drive_orders("Stribeck", m, rig_methods[k], 1e-3, 0.1);
  drive_balance(m, AS_METHOD_INDEX2, 1e-3, 0.3, 1e-2, &meter);
  assert_true(meter.dissipated > 0.05);
  as_model_destroy(m);
}

/// mu(v) N of a block on a guide: at 0.3 m/s with mu = 0.5 - v the force is 0.2 m g, but for the transition.
static void test_coefficient(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double mu;
  } all[] = {{"0.5 - speed", 0.2}, {"0.1 - speed", 0.0}, {"0.25", 0.25}, {"mu(speed)", 0.4}};
  const as_curve falling = {
      .x = (double[]){0.0, 0.6}, .y = (double[]){0.6, 0.2}, .n = 2, .interpolation = AS_LINEAR};
  for (int i = 0; i < 4; ++i) {
    const as_curve rub = {.formula = all[i].text};
    as_error error;
    as_builder *b = machine_builder(0, 0, -10.0);
    must(as_builder_add_table(b, "mu", &falling, &error), &error);
    as_body_def def = machine_round_body("block", 2.0, 0.1, false);
    def.velocity[1] = 0.3;
    as_joint_friction_def friction = as_default_joint_friction_def();
    friction.joint = machine_joint(b, "slide", AS_JOINT_PRISMATIC, AS_GROUND, machine_body(b, &def),
                                   origin, along_y);
    friction.coefficient_law = &rub;
    friction.transition_speed = 1e-5;
    friction.small_force = 1e-5;
    must(as_builder_add_joint_friction(b, &friction, NULL, &error), &error);
    as_model *m = machine_build(b);
    as_integrator *integrator = drive_start(m, AS_METHOD_INDEX2, 1e-3);
    assert_near(all[i].text, as_integrator_state(integrator)->vdot[1], -all[i].mu * 10.0, 1e-6);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- stored energy ----------------------------------------------------------------------------------

/// A law with a kink: V = 50 e^2 + 450 (e - 0.05)^2 beyond it; and one of 1/l^2, V = c (1/l0 - 1/l).
static void test_potential(void **state) {
  (void)state;
  static const double e = 0.31;
  const struct {
    const char *text;
    double exact;
  } all[] = {
      {"100*deflection + if(deflection > 0.05, 900*(deflection - 0.05), 0)",
       50.0 * e * e + 450.0 * (e - 0.05) * (e - 0.05)},
      {"2/length^2", 2.0 * (1.0 / 0.4 - 1.0 / (0.4 + e))},
      {"7*abs(sin(40*deflection))", (double)NAN},
      {"2/length^2 + 0*length_rate", 2.0 * (1.0 / 0.4 - 1.0 / (0.4 + e))},
      {"3*deflection*t", 0.0},
      {"2/deflection^2", 0.0}, // V would begin at infinity
      // A kink and a jump close to an eighth of the way, where no point of a whole piece looks.
      {"80*max(deflection - 0.999*0.31/8, 0)", 40.0 * pow(e - 0.999 * 0.31 / 8.0, 2.0)},
      {"5*(deflection > 1.001*0.31/8)", 5.0 * (e - 1.001 * 0.31 / 8.0)},
  };
  for (int i = 0; i < 8; ++i) {
    const as_surface law = {.formula = all[i].text};
    as_error error;
    as_energy energy;
    as_builder *b = machine_builder(0, 0, 0);
    as_spring_def def = as_default_spring_def();
    def.body[0] = AS_GROUND;
    def.body[1] = machine_point(b, "mass", 1.0, (double[]){0.4 + e, 0, 0}, origin);
    def.point[1][0] = 0.4 + e;
    def.length = 0.4;
    def.law = &law;
    must(as_builder_add_spring(b, &def, NULL, &error), &error);
    as_model *m = machine_build(b);
    as_integrator *integrator = drive_start(m, AS_METHOD_INDEX2, 1e-3);
    must(as_model_energy(m, as_integrator_state(integrator), &energy, &error), &error);
    double exact = all[i].exact;
    if (isnan(exact)) { // arcs of 2/40 each, and a part of one
      const double turns = floor(40.0 * e / 3.14159265358979323846);
      exact = 7.0 / 40.0 * (2.0 * turns + 1.0 - cos(40.0 * e - turns * 3.14159265358979323846));
    }
    assert_near(all[i].text, energy.potential, exact, 1e-12);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A parameter jumps while the spring is stretched: the balance stays closed.
static int passes(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0] - 0.9;
  return AS_DONE;
}

static int stiffen(as_event *event, void *user) {
  (void)user;
  event->u[0] = 50.0;
  return AS_EVENT_CHANGE;
}

static double jump_imbalance(double step) {
  const as_surface law = {.formula = "k*deflection + 0.1*length_rate"};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  must(as_builder_add_parameter(b, "k", 10.0, NULL, &error), &error);
  as_spring_def def = as_default_spring_def();
  def.body[0] = AS_GROUND;
  def.body[1] = machine_point(b, "mass", 1.0, (double[]){1.0, 0, 0}, origin);
  def.point[1][0] = 1.0;
  def.length = 0.5;
  def.law = &law;
  must(as_builder_add_spring(b, &def, NULL, &error), &error);
  as_model *m = machine_build(b);
  const as_event_def event = {.name = "stiffen", .value = passes, .direction = -1, .act = stiffen};
  const as_integrator_def how = rig_how(AS_METHOD_INDEX2, step, &event, 1);
  as_integrator *integrator = NULL;
  must(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
  must(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  as_meter meter = {0};
  as_energy energy;
  double imbalance = 0.0;
  must(as_meter_update(&meter, m, as_integrator_state(integrator), &error), &error);
  while (as_integrator_state(integrator)->t < 0.8 - step / 2.0) {
    must(as_integrator_step(integrator, step, &error), &error);
    const as_state *s = as_integrator_state(integrator);
    must(as_meter_update(&meter, m, s, &error), &error);
    must(as_model_energy(m, s, &energy, &error), &error);
    assert_true(energy.potential == 0.0);
    imbalance = fabs(energy.kinetic + meter.dissipated - meter.forces);
  }
  assert_true(as_integrator_state(integrator)->u[0] == 50.0);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return imbalance;
}

static void test_jump(void **state) {
  (void)state;
  const double coarse = jump_imbalance(2e-3), fine = jump_imbalance(5e-4);
  print_message("  balance off by %.2e, %.2e J\n", coarse, fine);
  assert_true(coarse < 0.02 && fine < coarse / 12.0);
}

// ---- what is refused --------------------------------------------------------------------------------

static void refuse_motion(const char *formula, const char *sentence) {
  const double x[] = {0.0, 1.0, 2.0}, y[] = {0.0, 1.0, 0.0};
  const as_curve kinked = {.x = x, .y = y, .n = 3, .interpolation = AS_LINEAR},
                 law = {.formula = formula};
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, 0);
  must(as_builder_add_table(b, "kinked", &kinked, &error), &error);
  must(as_builder_add_parameter(b, "gain", 1.0, NULL, &error), &error);
  as_motion_def def = as_default_motion_def();
  def.name = "drive";
  def.joint =
      machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, add_body(b, false), origin, along_y);
  def.law = &law;
  expect_refused(as_builder_add_motion(b, &def, NULL, &error), &error, sentence);
  const as_curve good = {.formula = "kinked(0.5) + t"}; // the builder is as before
  def.law = &good;
  expect_refused(as_builder_add_motion(b, &def, NULL, &error), &error, "straight pieces");
  def.law = &(as_curve){.formula = "0.5*t"};
  must(as_builder_add_motion(b, &def, NULL, &error), &error);
  as_model_destroy(machine_build(b));
}

static void refuse_law(const char *formula, const char *sentence) {
  const as_surface law = {.formula = formula};
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, 0);
  as_spring_def def = as_default_spring_def();
  def.name = "strut";
  def.body[0] = AS_GROUND;
  def.body[1] = add_body(b, false);
  def.law = &law;
  expect_refused(as_builder_add_spring(b, &def, NULL, &error), &error, sentence);
  as_builder_destroy(b);
}

static void test_refused(void **state) {
  (void)state;
  refuse_motion("sin(t", "\"drive\": the expression ends where ) should follow (column 6)");
  refuse_motion("2*gain", "gain cannot be used here: it must be a function of t alone");
  refuse_motion("2*angle", "there is no quantity \"angle\" (column 3)");
  refuse_motion("joints.axle.angle/2",
                "joints.axle.angle cannot be used here: it must be a function of t alone");
  refuse_law("joints.axle.angle", "cannot be used here: a law depends on quantities of its own");
  refuse_motion("kinked(t)", "it uses a table with straight pieces: its velocity would jump");
  refuse_motion("kinkt(t)", "there is no function kinkt; did you mean \"kinked\"? (column 1)");
  refuse_law("3*lenght",
             "law of force \"strut\": there is no quantity \"lenght\"; did you mean \"length\"?");
  refuse_law("1/(2 - 2)", "1 / 0 is not a number (column 2)");
  refuse_law("1 +\n depth", "there is no quantity \"depth\" (line 2, column 2)");
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, 0);
  expect_refused(as_builder_add_table(b, "sin", &table, &error), &error,
                 "\"sin\" cannot name a table");
  expect_refused(as_builder_add_table(b, "t", &table, &error), &error, "\"t\" cannot name a table");
  expect_refused(as_builder_add_table(b, "f", &(as_curve){.formula = "t"}, &error), &error,
                 "must be made of points");
  must(as_builder_add_table(b, "f", &table, &error), &error);
  expect_refused(as_builder_add_table(b, "f", &table, &error), &error, "\"f\"");
  as_builder_destroy(b);
}

/// A law of its own deflection and of 63 parameters, and of one more.
static void test_limit(void **state) {
  (void)state;
  static char text[1024];
  for (int n = 63; n <= 64; ++n) {
    as_error error = {0};
    as_builder *b = machine_builder(0, 0, 0);
    as_spring_def def = as_default_spring_def();
    size_t used = (size_t)snprintf(text, sizeof text, "deflection");
    for (int i = 0; i < n; ++i) {
      char name[16];
      snprintf(name, sizeof name, "p%d", i);
      must(as_builder_add_parameter(b, name, i, NULL, &error), &error);
      used += (size_t)snprintf(text + used, sizeof text - used, "+%s", name);
    }
    def.name = "strut";
    def.body[0] = AS_GROUND;
    def.body[1] = machine_point(b, "mass", 1.0, (double[]){0.5, 0, 0}, (double[]){0, 0, 0});
    memcpy(def.point[1], (double[]){0.5, 0, 0}, sizeof def.point[1]);
    def.length = 0.2;
    def.law = &(as_surface){.formula = text};
    const as_status status = as_builder_add_spring(b, &def, NULL, &error);
    if (n == 64) {
      expect_refused(status, &error, "it depends on more than 64 quantities");
      as_builder_destroy(b);
      continue;
    }
    must(status, &error);
    as_model *m = machine_build(b);
    const as_initial *start = as_model_initial(m);
    const as_state at = {.q = start->q, .v = start->v, .u = start->u};
    as_wrench on;
    must(as_model_force(m, &at, (as_force_id){0}, 1, &on, &error), &error);
    assert_near("tension", on.force[0], -(0.3 + 62.0 * 63.0 / 2.0), 1e-9);
    as_model_destroy(m);
  }
}

// ---- kinks ------------------------------------------------------------------------------------------

/// A motion |t - 0.50137| of a mass on a guide: its position follows at every step, its velocity is 1 again behind the
/// kink, and the force there is a few times m 2/h.
static void test_kink(void **state) {
  (void)state;
  const as_curve law = {.formula = "abs(t - 0.50137)"};
  for (int k = 0; k < 3; ++k)
    for (int fine = 0; fine < 2; ++fine) {
      const double h = fine ? 2.5e-4 : 1e-3, mass = 2.0;
      as_error error;
      as_builder *b = machine_builder(0, 0, 0);
      as_body_def def = machine_round_body("block", mass, 0.1, false);
      as_motion_def motion = as_default_motion_def();
      motion.joint = machine_joint(b, "slide", AS_JOINT_PRISMATIC, AS_GROUND, machine_body(b, &def),
                                   origin, along_y);
      motion.law = &law;
      must(as_builder_add_motion(b, &motion, NULL, &error), &error);
      as_model *m = machine_build(b);
      as_integrator *integrator = drive_start(m, rig_methods[k], h);
      const int row = as_model_joint_row(m, (as_joint_id){1});
      double worst = 0.0, force = 0.0;
      while (as_integrator_state(integrator)->t < 0.6) {
        must(as_integrator_step(integrator, h, &error), &error);
        const as_state *s = as_integrator_state(integrator);
        worst = fmax(worst, fabs(s->q[1] - fabs(s->t - 0.50137)));
        force = fmax(force, fabs(s->lambda[row]));
      }
      const double v = as_integrator_state(integrator)->v[1], size = force / (mass * 2.0 / h);
      print_message("  method %d, h = %g: position off by %.1e, v = %.9f, force %.3g m 2/h\n", k, h,
                    worst, v, size);
      assert_true(worst < 1e-9 && fabs(v - 1.0) < 1e-6 && size > 0.5 && size < 20.0);
      as_integrator_destroy(integrator);
      as_model_destroy(m);
    }
}

// ---- what is no number ------------------------------------------------------------------------------

static void expect_failure(as_builder *b, as_status status, const char *sentence) {
  as_error error = {0};
  as_model *m = machine_build(b);
  as_integrator *integrator = drive_start(m, AS_METHOD_INDEX2, 0.01);
  const as_status found = as_integrator_advance(integrator, 1.0, &error);
  expect_refused(found, &error, sentence);
  assert_int_equal(found, status);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_no_number(void **state) {
  (void)state;
  const as_curve root = {.formula = "sqrt(0.305 - t)"};
  const as_surface law = {.formula = "1 + log(0.42 - length)"};
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, -9.81);
  as_motion_def motion = as_default_motion_def();
  motion.name = "drive";
  motion.joint =
      machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, add_body(b, false), origin, along_y);
  motion.law = &root;
  must(as_builder_add_motion(b, &motion, NULL, &error), &error);
  expect_failure(
      b, AS_ERR_CALLBACK,
      "joint \"drive\" cannot be evaluated: The law of motion \"drive\": sqrt(-0.005) is not a "
      "number, at line 1, column 1 of its formula.");
  b = machine_builder(0, 0, -9.81);
  as_load_def load = as_default_load_def();
  load.name = "push";
  load.body = add_body(b, false);
  load.force[0] = 1.0;
  load.factor = &root;
  must(as_builder_add_load(b, &load, NULL, &error), &error);
  expect_failure(b, AS_ERR_CALLBACK, "The factor of load \"push\": sqrt(-0.005) is not a number");
  b = machine_builder(0, 0, -9.81);
  as_spring_def spring = as_default_spring_def();
  spring.name = "strut";
  spring.body[0] = AS_GROUND;
  spring.body[1] = add_body(b, false);
  memcpy(spring.point[1], (double[]){0.3, 0.1, -0.2}, sizeof spring.point[1]);
  spring.law = &law;
  must(as_builder_add_spring(b, &spring, NULL, &error), &error);
  expect_failure(b, AS_ERR_RETRY,
                 "force \"strut\" cannot be evaluated: The law of force \"strut\": log(-");
}

// ---- files ------------------------------------------------------------------------------------------

static void test_file(void **state) {
  (void)state;
  as_machine *one = files_load("tests/files/good/formulas.yaml", NULL, 0);
  as_machine *other = files_load("tests/files/good/formulas_plain.yaml", NULL, 0);
  for (int k = 0; k < 3; ++k)
    files_same_motion(one->model, other->model, rig_methods[k], 1e-3, 100, 1e-11);
  as_machine_destroy(one);
  as_machine_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same),        cmocka_unit_test(test_orders),
      cmocka_unit_test(test_balance),     cmocka_unit_test(test_friction),
      cmocka_unit_test(test_coefficient), cmocka_unit_test(test_potential),
      cmocka_unit_test(test_jump),        cmocka_unit_test(test_refused),
      cmocka_unit_test(test_limit),       cmocka_unit_test(test_no_number),
      cmocka_unit_test(test_file),        cmocka_unit_test(test_kink),
      cmocka_unit_test(test_stops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
