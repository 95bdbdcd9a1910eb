/// Forces by formula: tangents, equality with what is built in, order, angles beyond half a turn, messages.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "machines.h"
#include "rig.h"

static const double pi = 3.14159265358979323846;

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

// ---- random machines ------------------------------------------------------------------------------------------

static uint64_t seed = 1;

/// In [-1, 1].
static double random_number(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static void random_vector(double size, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = size * random_number();
}

static void random_quaternion(bool near_pi, double *q) {
  double axis[3];
  random_vector(1.0, axis);
  const double norm = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  const double half = near_pi ? pi / 2.0 + 5e-4 * random_number() : 3.0 * random_number();
  q[0] = cos(half);
  for (int i = 0; i < 3; ++i) q[1 + i] = sin(half) * axis[i] / norm;
}

static as_body_id add_body(as_builder *b, const char *name, as_space_kind space, bool near_pi) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = 1.5;
  for (int i = 0; i < 3; ++i) def.inertia[i] = 1.0 + 0.2 * i;
  def.space = space;
  random_vector(1.0, def.position);
  random_vector(1.0, def.velocity);
  random_vector(2.0, def.angular_velocity);
  random_quaternion(near_pi, def.quaternion);
  return machine_body(b, &def);
}

static as_frame_id add_frame(as_builder *b, const char *name, as_body_id body, bool moves) {
  static const as_curve swing = {.formula = "0.3*sin(2*t + 1)"}, turn = {.formula = "t - t^2"};
  as_error error = {0};
  as_frame_id id = AS_NO_FRAME;
  as_frame_def def = as_default_frame_def();
  def.name = name;
  def.body = body;
  random_vector(0.7, def.position);
  random_quaternion(false, def.quaternion);
  if (moves) {
    def.shift[1] = &swing;
    def.turn = &turn;
    def.turn_axis = 1;
  }
  must(as_builder_add_frame(b, &def, &id, &error), &error);
  return id;
}

static void add_joint(as_builder *b, const char *name, as_joint_kind kind, as_frame_id A,
                      as_frame_id B) {
  as_error error = {0};
  as_joint_def def = as_default_joint_def();
  def.name = name;
  def.kind = kind;
  def.frame[0] = A;
  def.frame[1] = B;
  must(as_builder_add_joint(b, &def, NULL, &error), &error);
}

/// Five bodies with frames, joints (which do not hold: only their coordinates matter), springs.
static as_builder *random_machine(bool near_pi, bool moves) {
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id one = add_body(b, "one", AS_SPACE_R3SO3, near_pi),
                   two = add_body(b, "two", AS_SPACE_SE3, near_pi),
                   three = add_body(b, "three", AS_SPACE_R3SO3, false),
                   point = machine_point(b, "point", 2.0, (double[]){0.4, -0.2, 0.9},
                                         (double[]){1, 2, 3}),
                   five = add_body(b, "5", AS_SPACE_SE3, false);
  const as_frame_id A = add_frame(b, "A", one, moves), B = add_frame(b, "B", two, false),
                    C = add_frame(b, "C", three, false), G = add_frame(b, "G", AS_GROUND, moves),
                    E = add_frame(b, "E", five, false);
  add_frame(b, "P", point, false);
  add_joint(b, "hinge", AS_JOINT_REVOLUTE, A, B);
  add_joint(b, "cardan", AS_JOINT_UNIVERSAL, C, B);
  add_joint(b, "ball", AS_JOINT_SPHERICAL, G, C);
  add_joint(b, "table", AS_JOINT_PLANAR, G, A);
  add_joint(b, "slider", AS_JOINT_PRISMATIC, B, E);
  add_joint(b, "knuckle", AS_JOINT_SPHERICAL, A, E);
  must(as_builder_add_parameter(b, "gain", 1.7, NULL, &error), &error);
  const double x[] = {-5.0, -1.0, 0.0, 2.0, 6.0}, y[] = {1.0, -2.0, 0.5, 1.5, -1.0};
  must(as_builder_add_table(b, "profile", &(as_curve){.x = x, .y = y, .n = 5}, &error), &error);
  as_spring_def spring = as_default_spring_def();
  spring.name = "spring";
  spring.frame[0] = A;
  spring.frame[1] = C;
  spring.stiffness = 3.0;
  spring.damping = 0.4;
  spring.length = 0.5;
  spring.law = &(as_surface){.formula = "gain*deflection^3 + length_rate^2/5 + sin(t)"};
  must(as_builder_add_spring(b, &spring, NULL, &error), &error);
  as_torsion_def torsion = as_default_torsion_def();
  torsion.name = "torsion";
  torsion.frame[0] = B;
  torsion.frame[1] = C;
  torsion.stiffness = 2.0;
  torsion.damping = 0.3;
  must(as_builder_add_torsion(b, &torsion, NULL, &error), &error);
  return b;
}

static const char *const formulas[] = {
    "gain*bodies.one.position.x*bodies.two.velocity.y + t",
    "sin(bodies.two.position.z)*bodies.point.velocity.x - bodies.point.position.y^2",
    "bodies.one.angular_velocity.y*bodies.two.angular_velocity.z",
    "frames.A.position.x*frames.B.velocity.y + frames.C.angular_velocity.z",
    "frames.A.angular_velocity.x + frames.A.velocity.z*frames.G.position.y",
    "frames.B.distance.G^2*frames.A.distance_rate.C + 0.2*frames.A.distance.P",
    "sin(joints.hinge.angle) + joints.hinge.angle_rate*joints.table.displacement.x",
    "cos(joints.cardan.angle.x)*joints.cardan.angle_rate.y + sin(joints.cardan.angle.y)",
    "joints.ball.rotation.x*joints.ball.rotation_rate.z - joints.ball.rotation.y",
    "joints.knuckle.rotation_rate.x*joints.knuckle.rotation_rate.y + joints.knuckle.rotation.z",
    "joints.slider.displacement*joints.slider.displacement_rate + joints.table.angle_rate",
    "forces.spring.length*forces.spring.length_rate + forces.spring.tension",
    "0.1*forces.torsion.moment*forces.torsion.angle_rate + cos(forces.torsion.angle)",
    "profile(bodies.three.position.x) + if(t > 100, bodies.one.position.x, gain)",
    "12.5 - t"};
enum { N_FORMULAS = sizeof formulas / sizeof formulas[0] };

static void add_actuator(as_builder *b, int aim, const char *formula) {
  as_error error = {0};
  as_actuator_def def = as_default_actuator_def();
  def.force = formula;
  if (aim == 0) {
    def.frame[0] = (as_frame_id){0};
    def.frame[1] = (as_frame_id){2};
  } else {
    static const as_joint_id number[] = {{0}, {1}, {3}, {4}}; // hinge, cardan, table, slider
    def.joint = number[aim % 4];
    def.coordinate = aim / 4;
  }
  must(as_builder_add_actuator(b, &def, NULL, &error), &error);
}

static void add_load(as_builder *b, int aim, const char *formula, const char *second) {
  as_error error = {0};
  as_load_def def = as_default_load_def();
  static const as_curve factor = {.formula = "1 + t/2"};
  if (aim % 2) def.factor = &factor;
  def.frame = (as_frame_id){aim % 3 == 0 ? 0 : 1};
  def.follows = aim % 2;
  def.reaction = aim % 4 < 2 ? AS_NO_BODY : AS_ID(as_body_id, 2);
  def.force[1] = 0.7;
  def.torque[2] = -0.4;
  def.force_formula[aim % 3] = formula;
  def.torque_formula[(aim / 2) % 3] = second;
  must(as_builder_add_load(b, &def, NULL, &error), &error);
}

static void check(as_builder *b, const char *what, const char *formula) {
  as_error error = {0};
  as_model *model = machine_build(b);
  as_check_def def = as_default_check_def();
  def.near.q = as_model_initial(model)->q;
  def.near.v = as_model_initial(model)->v;
  def.near.u = as_model_initial(model)->u;
  def.near.t = 0.3;
  def.seed = 3;
  if (as_problem_check(as_model_problem(model), &def, NULL, &error))
    fail_msg("%s, %s: %s", what, formula, error.message);
  as_model_destroy(model);
}

/// All quantities along all directions, on R^3 x SO(3), SE(3) and point masses; rotations near half a turn too, and
/// frames that move.
static void test_tangents(void **state) {
  (void)state;
  for (int k = 0; k < 4 * N_FORMULAS; ++k) {
    const char *formula = formulas[k % N_FORMULAS], *other = formulas[(k + 5) % N_FORMULAS];
    const bool near_pi = k / N_FORMULAS % 2, moves = k / N_FORMULAS > 1;
    as_builder *b = random_machine(near_pi, moves);
    add_actuator(b, 0, formula);
    check(b, "line", formula);
    b = random_machine(near_pi, moves);
    static const int aims[] = {1, 4, 5, 2, 6, 3, 10};
    add_actuator(b, aims[k % 7] == 4 ? 0 : aims[k % 7], formula);
    check(b, "joint", formula);
    b = random_machine(near_pi, moves);
    add_load(b, k, formula, other);
    check(b, "load", formula);
  }
}

// ---- the same as what is built in ----------------------------------------------------------------------------

/// A double pendulum of two bars about y; what is between or on them is added by the caller.
static as_builder *double_pendulum(bool se3) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_error error = {0};
  for (int i = 0; i < 2; ++i) {
    as_body_def bar = as_default_body_def();
    bar.name = i == 0 ? "upper" : "lower";
    bar.mass = 2.0 - i;
    for (int k = 0; k < 3; ++k) bar.inertia[k] = k == 0 ? 0.01 : 0.2;
    bar.position[0] = 0.5 + i;
    bar.space = se3 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
    machine_body(b, &bar);
    as_frame_def tip = as_default_frame_def();
    tip.name = i == 0 ? "elbow" : "tip";
    tip.body = (as_body_id){i};
    tip.position[0] = 0.5;
    must(as_builder_add_frame(b, &tip, NULL, &error), &error);
  }
  as_frame_def wall = as_default_frame_def();
  wall.name = "wall";
  wall.body = AS_GROUND;
  wall.position[0] = 1.0;
  wall.position[2] = 1.0;
  must(as_builder_add_frame(b, &wall, NULL, &error), &error);
  machine_joint(b, "shoulder", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){0}, (double[]){0, 0, 0},
                (double[]){0, 1, 0});
  machine_joint(b, "hand", AS_JOINT_REVOLUTE, (as_body_id){0}, (as_body_id){1}, (double[]){1, 0, 0},
                (double[]){0, 1, 0});
  return b;
}

static as_integrator *start(const as_model *model, as_method method, double step) {
  as_error error = {0};
  as_integrator *integrator = NULL;
  as_integrator_def how = rig_how(method, step, NULL, 0);
  how.newton.rtol = 1e-12; // what is left of the iteration is not to be seen
  must(as_integrator_create(as_model_problem(model), &how, &integrator, &error), &error);
  must(as_integrator_start(integrator, as_model_initial(model), NULL, &error), &error);
  return integrator;
}

/// Largest difference of q and v after a while.
static double difference(as_builder *one, as_builder *other, as_method method) {
  as_error error = {0};
  double largest = 0.0;
  as_model *model[2] = {machine_build(one), machine_build(other)};
  as_integrator *run[2];
  for (int i = 0; i < 2; ++i) {
    run[i] = start(model[i], method, 1e-3);
    must(as_integrator_advance(run[i], 0.5, &error), &error);
  }
  const as_state *x = as_integrator_state(run[0]), *y = as_integrator_state(run[1]);
  for (int i = 0; i < 14; ++i) largest = fmax(largest, fabs(x->q[i] - y->q[i]));
  for (int i = 0; i < 12; ++i) largest = fmax(largest, fabs(x->v[i] - y->v[i]));
  for (int i = 0; i < 2; ++i) {
    as_integrator_destroy(run[i]);
    as_model_destroy(model[i]);
  }
  return largest;
}

static void add_spring(as_builder *b) {
  as_error error = {0};
  as_spring_def def = as_default_spring_def();
  def.frame[0] = (as_frame_id){1}; // tip
  def.frame[1] = (as_frame_id){2}; // wall
  def.stiffness = 40.0;
  def.damping = 1.5;
  def.length = 0.6;
  must(as_builder_add_spring(b, &def, NULL, &error), &error);
}

static void add_torsion(as_builder *b) {
  as_error error = {0};
  as_torsion_def def = as_default_torsion_def();
  def.body[0] = (as_body_id){0};
  def.body[1] = (as_body_id){1};
  def.axis[1] = 1.0;
  def.stiffness = 12.0;
  def.damping = 0.2;
  def.angle = 0.3;
  must(as_builder_add_torsion(b, &def, NULL, &error), &error);
}

static void act_between(as_builder *b, as_joint_id joint, const char *formula) {
  as_error error = {0};
  as_actuator_def def = as_default_actuator_def();
  def.name = "motor";
  def.joint = joint;
  if (joint.index < 0) {
    def.frame[0] = (as_frame_id){1};
    def.frame[1] = (as_frame_id){2};
  }
  def.force = formula;
  must(as_builder_add_actuator(b, &def, NULL, &error), &error);
}

static void push(as_builder *b, bool by_formula, bool follows) {
  static const as_curve wave = {.formula = "7*sin(3*t)"};
  as_error error = {0};
  as_load_def def = as_default_load_def();
  def.frame = (as_frame_id){1};
  def.follows = follows;
  if (by_formula) {
    def.force_formula[2] = "7*sin(3*t)";
    def.torque_formula[1] = "7*sin(3*t)*0.25";
  } else {
    def.force[2] = 1.0;
    def.torque[1] = 0.25;
    def.factor = &wave;
  }
  must(as_builder_add_load(b, &def, NULL, &error), &error);
}

// Round-off of positions is 4e-16 m / (beta h^2) = 1e-9 m/s^2 in v' of a step of 1 ms; what 500 of them leave in v.
#define ROUND_OFF 5e-11

static void test_same_as_built_in(void **state) {
  (void)state;
  for (int k = 0; k < 6; ++k) {
    const as_method method = rig_methods[k % 3];
    as_builder *one = double_pendulum(k > 2), *other = double_pendulum(k > 2);
    add_spring(one);
    act_between(other, AS_NO_JOINT,
                "-40*(frames.tip.distance.wall - 0.6) - 1.5*frames.tip.distance_rate.wall");
    assert_near("spring", difference(one, other, method), 0.0, ROUND_OFF);
    one = double_pendulum(k > 2);
    other = double_pendulum(k > 2);
    add_torsion(one);
    act_between(other, (as_joint_id){1},
                "-12*(joints.hand.angle - 0.3) - 0.2*joints.hand.angle_rate");
    assert_near("torsion", difference(one, other, method), 0.0, ROUND_OFF);
    one = double_pendulum(k > 2);
    other = double_pendulum(k > 2);
    push(one, false, k % 2);
    push(other, true, k % 2);
    assert_near("load", difference(one, other, method), 0.0, ROUND_OFF);
  }
}

/// A force that is the tension of a spring doubles it.
static void test_spring_force(void **state) {
  (void)state;
  as_builder *one = double_pendulum(false), *other = double_pendulum(false);
  add_spring(one);
  add_spring(one);
  add_spring(other);
  act_between(other, AS_NO_JOINT, "-'forces.force 0.tension'");
  assert_near("twice", difference(one, other, AS_METHOD_INDEX2), 0.0, ROUND_OFF);
}

// ---- order and energy --------------------------------------------------------------------------------------------

/// A bar on a hinge about -y (angle up from x) whose weight is carried by the motor: I phi'' = -k phi - c phi', with
/// I = 2 (1/12 + 1/4) = 2/3: exact. k = 24, c = 2: phi'' + 3 phi' + 36 phi = 0.
static as_model *balanced_bar(bool se3) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_error error = {0};
  as_body_def bar = as_default_body_def();
  bar.name = "bar";
  bar.mass = 2.0;
  bar.inertia[0] = 0.01;
  bar.inertia[1] = bar.inertia[2] = 2.0 / 12.0;
  bar.position[0] = 0.5;
  bar.space = se3 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
  machine_body(b, &bar);
  const as_joint_id hinge = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){0},
                                          (double[]){0, 0, 0}, (double[]){0, -1, 0});
  as_coordinate_def where = as_default_coordinate_def();
  where.joint = hinge;
  where.value = 0.9;
  where.rate = 0.5;
  must(as_builder_set_coordinate(b, &where, &error), &error);
  must(as_builder_assemble(b, NULL, &error), &error);
  act_between(b, hinge,
              "2*9.81*bodies.bar.position.x - 24*joints.hinge.angle - 2*joints.hinge.angle_rate");
  return machine_build(b);
}

static void exact_bar(double t, double out[3]) {
  const double d = 1.5, w = sqrt(36.0 - d * d), A = 0.9, B = (0.5 + d * A) / w;
  const double c = cos(w * t), s = sin(w * t), e = exp(-d * t);
  out[0] = e * (A * c + B * s);
  out[1] = e * ((B * w - d * A) * c - (A * w + d * B) * s);
  out[2] = -3.0 * out[1] - 36.0 * out[0];
}

typedef struct bar_errors {
  double angle, rate, force, balance;
} bar_errors;

static bar_errors bar_error(as_method method, bool se3, double h) {
  as_error error = {0};
  as_model *model = balanced_bar(se3);
  as_integrator *integrator = start(model, method, h);
  as_meter meter = {0};
  as_energy before, after;
  double angle, rate, x[3];
  bar_errors e = {0};
  must(as_model_energy(model, as_integrator_state(integrator), &before, &error), &error);
  must(as_meter_update(&meter, model, as_integrator_state(integrator), &error), &error);
  const int steps = (int)round(0.8 / h);
  for (int i = 1; i <= steps; ++i) {
    must(as_integrator_advance(integrator, i * h, &error), &error);
    must(as_meter_update(&meter, model, as_integrator_state(integrator), &error), &error);
  }
  const as_state *s = as_integrator_state(integrator);
  must(as_model_energy(model, s, &after, &error), &error);
  must(as_model_coordinates(model, s, (as_joint_id){0}, NULL, &angle, &rate, &error), &error);
  exact_bar(0.8, x);
  as_reaction reaction;
  must(as_model_reaction(model, s, (as_joint_id){0}, &reaction, &error), &error);
  // m (x'' of the middle) = force of the hinge along x, on the bar
  const double ax = 0.5 * (-x[2] * sin(x[0]) - x[1] * x[1] * cos(x[0]));
  e.angle = fabs(angle - x[0]);
  e.rate = fabs(rate - x[1]);
  e.force = fabs(reaction.force[0] - 2.0 * ax);
  e.balance = fabs(after.kinetic + after.potential - before.kinetic - before.potential -
                   meter.forces + meter.dissipated);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
  return e;
}

static void test_order(void **state) {
  (void)state;
  for (int k = 0; k < 6; ++k) {
    const as_method method = rig_methods[k % 3];
    const bar_errors coarse = bar_error(method, k > 2, 0.004),
                     fine = bar_error(method, k > 2, 0.002);
    assert_true(coarse.angle < 1e-3 && coarse.rate < 1e-2 && coarse.force < 1e-1);
    assert_near("angle", log2(coarse.angle / fine.angle), 2.0, 0.2);
    assert_near("rate", log2(coarse.rate / fine.rate), 2.0, 0.2);
    assert_near("force", log2(coarse.force / fine.force), 2.0, 0.2);
    assert_true(coarse.balance < 2e-3);
    assert_near("balance", log2(coarse.balance / fine.balance), 2.0, 0.3);
  }
}

// ---- turns -----------------------------------------------------------------------------------------------------

/// A wheel that follows 40 t: phi = 40 t is exact as long as the formula sees all turns.
static as_model *wheel(void) {
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def body = machine_round_body("wheel", 1.0, 0.5, false);
  body.angular_velocity[2] = 40.0;
  machine_body(b, &body);
  const as_joint_id hinge = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){0},
                                          (double[]){0, 0, 0}, (double[]){0, 0, 1});
  act_between(b, hinge, "-30*(joints.hinge.angle - 40*t) - 2*(joints.hinge.angle_rate - 40)");
  return machine_build(b);
}

static void test_turns(void **state) {
  (void)state;
  as_model *model = wheel();
  for (int k = 0; k < 6; ++k) {
    // Steps of 0.4 rad, and of 2 rad: in these, half a turn is passed in two steps.
    as_error error = {0};
    as_integrator *one = start(model, rig_methods[k % 3], k < 3 ? 0.01 : 0.05);
    must(as_integrator_advance(one, 2.0, &error), &error);
    const as_state *s = as_integrator_state(one);
    assert_near("rate", s->v[5], 40.0, 1e-7);
    assert_near("angle", s->u[0], 80.0, 1e-6);
    // Saved and loaded it goes on with the same turns.
    size_t size = 0;
    must(as_integrator_save(one, NULL, &size, &error), &error);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    must(as_integrator_save(one, bytes, &size, &error), &error);
    as_integrator *other = start(model, rig_methods[k % 3], k < 3 ? 0.01 : 0.05);
    must(as_integrator_load(other, bytes, size, &error), &error);
    free(bytes);
    must(as_integrator_advance(one, 3.0, &error), &error);
    must(as_integrator_advance(other, 3.0, &error), &error);
    assert_memory_equal(s->q, as_integrator_state(other)->q, 7 * sizeof(double));
    assert_near("later", s->u[0], 120.0, 1e-6);
    assert_near("speed", s->v[5], 40.0, 1e-7);
    as_integrator_destroy(one);
    as_integrator_destroy(other);
  }
  // A step of 4 rad is more than half a turn: it is taken in parts.
  as_error error = {0};
  as_integrator *fast = start(model, AS_METHOD_INDEX2, 0.1);
  must(as_integrator_advance(fast, 1.0, &error), &error);
  as_statistics statistics;
  must(as_integrator_statistics(fast, &statistics, &error), &error);
  assert_int_equal(statistics.steps, 20);
  assert_near("fast", as_integrator_state(fast)->u[0], 40.0, 1e-6);
  as_integrator_destroy(fast);
  as_model_destroy(model);
}

/// Where a joint is to start says in which turn it is: for its formula and for its channel.
static void test_start(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double angle;
  } starts[] = {{"{angle_deg: 180}", 3.14159265358979323846},
                {"{angle_deg: -180}", -3.14159265358979323846},
                {"{angle: 40}", 40.0},
                {"{angle: -7}", -7.0}};
  static const char *const names[] = {"forces.motor.drive", "joints.hinge.angle"};
  for (int i = 0; i < 4; ++i) {
    char text[400];
    double out[2];
    as_messages messages;
    as_machine *one_wheel = NULL;
    as_channels *c = NULL;
    as_error error = {0};
    snprintf(text, sizeof text,
             "alphastep: 1\nbodies: {wheel: {mass: 1, inertia: [1, 1, 1]}}\n"
             "joints: {hinge: {type: revolute, bodies: [ground, wheel], point: [0, 0, 0],\n"
             "  axis: [0, 0, 1], start: %s}}\n"
             "forces: {motor: {type: actuator, joint: hinge, force: 2*joints.hinge.angle}}\n",
             starts[i].text);
    if (as_machine_parse(text, strlen(text), "wheel.yaml", NULL, 0, &one_wheel, &messages))
      fail_msg("%s", messages.message[0].text);
    as_integrator *one = start(one_wheel->model, AS_METHOD_INDEX3, 0.01);
    must(as_channels_create(one_wheel->model, names, 2, &c, &error), &error);
    const as_view view = {.state = as_integrator_state(one)};
    must(as_channels_evaluate(c, &view, out, &error), &error);
    assert_near("drive", out[0], 2.0 * starts[i].angle, 1e-12);
    assert_near("angle", out[1], starts[i].angle, 1e-12);
    as_channels_destroy(c);
    as_integrator_destroy(one);
    as_machine_destroy(one_wheel);
  }
}

static as_status expect_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)user;
  (void)error;
  assert_int_equal(n, 2);
  assert_near("angle", row[0], 40.0 * t, 1e-6);
  assert_near("drive", row[1], 0.0, 1e-4);
  return AS_OK;
}

/// Rows between steps that turn a wheel by more than half a turn.
static void test_rows(void **state) {
  (void)state;
  static const char *const names[] = {"joints.hinge.angle", "forces.*.drive"};
  as_model *model = wheel();
  as_error error = {0};
  as_run *run = NULL;
  as_run_def def = as_default_run_def();
  def.integrator.step = 0.1;
  def.t_end = 2.0;
  def.interval = 0.013;
  def.channels = names;
  def.n_channels = 2;
  must(as_run_create(model, &def, &run, &error), &error);
  must(as_run_go(run, expect_row, NULL, NULL, &error), &error);
  assert_int_equal(as_run_rows(run), 155);
  as_run_destroy(run);
  as_model_destroy(model);
}

// ---- messages --------------------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *formula, *message;
  } wrong[] = {
      {"2*(1 + joints.hnge.angle)",
       "The force of actuator \"motor\": there is no joint \"hnge\"; did "
       "you mean \"hinge\"? (column 8)."},
      {"joints.hinge.angel", "joints.hinge has no quantity \"angel\" for a formula; did you mean "
                             "\"angle\"? (column 1)"},
      {"joints.hinge.force.x", "cannot depend on joints.hinge.force.x: reactions follow from"},
      {"bodies.one.acceleration.x", "accelerations follow from the forces"},
      {"bodies.one.angular_acceleration.x", "accelerations follow from the forces"},
      {"bodies.one.quaternion.w", "its sign may change"},
      {"bodies.one.position", "bodies.one.position needs a component: .x, .y or .z"},
      {"bodies.one.position.w", "bodies.one.position.w needs a component: .x, .y or .z"},
      {"bodies.point.angular_velocity.x", "the point mass \"point\" does not turn"},
      {"joints.cardan.angle", "joints.cardan.angle needs a component"},
      {"joints.hinge.angle.x", "joints.hinge.angle.x is not there: no such component"},
      {"frames.A.distance", "frames.A.distance needs another frame"},
      {"frames.A.distance.X", "there is no frame \"X\""},
      {"frames.A.distance.A", "are on one body"},
      {"forces.spring.length.x", "forces.spring.length.x has no components"},
      {"forces.spring.energy", "forces.spring has no quantity \"energy\""},
      {"energy.kinetic", "it is of the whole machine"},
      {"solver.h", "it is known after a step only"},
      {"bodie.one.position.x",
       "there is no quantity \"bodie.one.position.x\"; did you mean \"bodies\"?"},
      {"gian + 1", "there is no quantity \"gian\"; did you mean \"gain\"? (column 1)"},
      {"1 +\n  gian", "(line 2, column 3)."},
      {"1/(2 - 2)", "not a number"},
      {"profile + 1", "profile"}};
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
    as_builder *b = random_machine(false, false);
    as_actuator_def def = as_default_actuator_def();
    as_error error = {0};
    def.name = "motor";
    def.joint = (as_joint_id){0};
    def.force = wrong[k].formula;
    assert_int_equal(as_builder_add_actuator(b, &def, NULL, &error), AS_ERR_ARGUMENT);
    if (strstr(error.message, wrong[k].message) == NULL)
      fail_msg("%s:\n  %s\nnot\n  %s", wrong[k].formula, error.message, wrong[k].message);
    // Nothing is left behind.
    as_model *model = machine_build(b);
    assert_int_equal(as_model_forces(model), 2);
    as_model_destroy(model);
  }
}

/// Eight bodies may be read, besides the ground: by a load on one of them, by an actuator from the ground.
static void test_eight_bodies(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error = {0};
  char text[512] = "0";
  for (int i = 0; i < 8; ++i) {
    char name[8];
    snprintf(name, sizeof name, "b%d", i);
    machine_point(b, name, 1.0, (double[]){i + 1, 0.1 * i, 0}, (double[]){0, 0.2, 0});
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, " + %d*bodies.b%d.position.y*bodies.b%d.velocity.y",
             i + 1, i, i);
  }
  as_load_def load = as_default_load_def();
  load.name = "many";
  load.body = (as_body_id){0};
  load.force_formula[0] = text;
  if (as_builder_add_load(b, &load, NULL, &error)) fail_msg("%s", error.message);
  as_actuator_def pull = as_default_actuator_def();
  pull.body[0] = AS_GROUND;
  pull.body[1] = (as_body_id){3};
  pull.point[1][0] = 4.0;
  pull.point[1][1] = 0.3;
  pull.force = text;
  if (as_builder_add_actuator(b, &pull, NULL, &error)) fail_msg("%s", error.message);
  as_model *model = machine_build(b);
  as_check_def def = as_default_check_def();
  def.near = (as_point){.q = as_model_initial(model)->q, .v = as_model_initial(model)->v};
  if (as_problem_check(as_model_problem(model), &def, NULL, &error)) fail_msg("%s", error.message);
  as_wrench on;
  const as_state at = {.q = def.near.q, .v = def.near.v};
  if (as_model_force(model, &at, (as_force_id){0}, 0, &on, &error)) fail_msg("%s", error.message);
  double expected = 0.0;
  for (int i = 0; i < 8; ++i) expected += (i + 1) * 0.1 * i * 0.2;
  assert_near("force", on.force[0], expected, 1e-12);
  as_model_destroy(model);
}

static void test_too_much(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error = {0};
  char text[512] = "0";
  for (int i = 0; i < 9; ++i) {
    char name[8];
    snprintf(name, sizeof name, "b%d", i);
    machine_point(b, name, 1.0, (double[]){i, 0, 0}, (double[]){0, 0, 0});
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, " + bodies.b%d.position.y", i);
  }
  as_load_def def = as_default_load_def();
  def.name = "many";
  def.body = (as_body_id){0};
  def.force_formula[0] = text;
  assert_int_equal(as_builder_add_load(b, &def, NULL, &error), AS_ERR_ARGUMENT);
  // b0 to b7; the ground has room of its own
  assert_non_null(strstr(error.message,
                         "The force x of load \"many\": with bodies.b8.position.y it "
                         "would depend on more than 8 bodies (column "));
  def.body = AS_GROUND;
  def.force_formula[0] = "1";
  assert_int_equal(as_builder_add_load(b, &def, NULL, &error), AS_ERR_ARGUMENT);
  def.body = (as_body_id){0};
  def.force_formula[0] = NULL;
  def.torque_formula[0] = "1";
  assert_int_equal(as_builder_add_load(b, &def, NULL, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "which does not turn"));
  as_actuator_def none = as_default_actuator_def();
  none.name = "none";
  assert_int_equal(as_builder_add_actuator(b, &none, NULL, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "The actuator \"none\" has no force.");
  as_builder_destroy(b);
  b = random_machine(false, false);
  none.force = "1";
  none.joint = (as_joint_id){77};
  assert_int_equal(as_builder_add_actuator(b, &none, NULL, &error), AS_ERR_ARGUMENT);
  none.joint = (as_joint_id){2};
  assert_int_equal(as_builder_add_actuator(b, &none, NULL, &error), AS_ERR_UNSUPPORTED);
  none.joint = (as_joint_id){0};
  none.coordinate = 1;
  assert_int_equal(as_builder_add_actuator(b, &none, NULL, &error), AS_ERR_ARGUMENT);
  as_builder_destroy(b);
}

/// A load on "bob" whose formula reads so many quantities of the machine and so many parameters: sum of k times each.
static as_status add_reader(as_builder *b, int quantities, int parameters, as_error *error) {
  static const char *const words[] = {"position", "velocity"};
  static char text[4096];
  size_t used = 0;
  as_load_def load = as_default_load_def();
  text[0] = '\0';
  for (int i = 0; i < quantities; ++i)
    used += (size_t)snprintf(text + used, sizeof text - used, "+%d*bodies.b%d.%s.%c", i + 1, i / 6,
                             words[i / 3 % 2], "xyz"[i % 3]);
  for (int i = 0; i < parameters; ++i)
    used += (size_t)snprintf(text + used, sizeof text - used, "+%d*p%d", quantities + i + 1, i);
  load.name = "reader";
  load.body = (as_body_id){0};
  load.force_formula[0] = text;
  return as_builder_add_load(b, &load, NULL, error);
}

/// 24 quantities of the machine, 64 of these and of parameters together: all are read, and one more is refused.
static void test_limits(void **state) {
  (void)state;
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, 0);
  for (int i = 0; i < 5; ++i) {
    char name[8];
    snprintf(name, sizeof name, "b%d", i);
    machine_point(b, name, 1.0, (double[]){0.1 * i, 0.2, 0.3}, (double[]){0.4, 0.5, 0.6 * i});
  }
  for (int i = 0; i < 41; ++i) {
    char name[8];
    snprintf(name, sizeof name, "p%d", i);
    if (as_builder_add_parameter(b, name, 0.01 * i, NULL, &error)) fail_msg("%s", error.message);
  }
  assert_int_equal(add_reader(b, 25, 0, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "more than 24 quantities of the machine"));
  assert_int_equal(add_reader(b, 24, 41, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "more than 64 quantities"));
  if (add_reader(b, 24, 40, &error)) fail_msg("%s", error.message);
  as_model *model = machine_build(b);
  const as_initial *start = as_model_initial(model);
  const as_state at = {.q = start->q, .v = start->v, .u = start->u};
  as_wrench on;
  if (as_model_force(model, &at, (as_force_id){0}, 0, &on, &error)) fail_msg("%s", error.message);
  double expected = 0.0;
  for (int i = 0; i < 24; ++i)
    expected += (i + 1) * (i / 3 % 2 ? start->v : start->q)[3 * (i / 6) + i % 3];
  for (int i = 0; i < 40; ++i) expected += (25 + i) * 0.01 * i;
  assert_near("force", on.force[0], expected, 1e-9);
  as_model_destroy(model);
}

/// A formula that has no value on the way.
static void test_no_number(void **state) {
  (void)state;
  as_builder *b = double_pendulum(false);
  as_error error = {0};
  act_between(b, (as_joint_id){1}, "3*sqrt(0.25 - t)");
  as_model *model = machine_build(b);
  as_integrator *integrator = start(model, AS_METHOD_INDEX2, 0.1);
  const as_status status = as_integrator_advance(integrator, 1.0, &error);
  assert_true(status != AS_OK);
  if (strstr(error.message, "The force of actuator \"motor\": sqrt(-0.") == NULL)
    fail_msg("%s", error.message);
  assert_true(as_integrator_state(integrator)->t <= 0.25);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

// ---- from a file, and in the results ----------------------------------------------------------------------------

static void test_file(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "gravity: [0, 0, -9.81]\n"
      "parameters: {gain: 12}\n"
      "bodies:\n"
      "  upper: {mass: 2, inertia: [0.01, 0.2, 0.2], position: [0.5, 0, 0]}\n"
      "  lower: {mass: 1, inertia: [0.01, 0.2, 0.2], position: [1.5, 0, 0]}\n"
      "frames:\n"
      "  elbow: {body: upper, position: [0.5, 0, 0]}\n"
      "  tip: {body: lower, position: [0.5, 0, 0]}\n"
      "  wall: {body: ground, position: [1, 0, 1]}\n"
      "joints:\n"
      "  shoulder: {type: revolute, bodies: [ground, upper], point: [0, 0, 0], axis: [0, 1, 0]}\n"
      "  hand: {type: revolute, bodies: [upper, lower], point: [1, 0, 0], axis: [0, 1, 0]}\n"
      "forces:\n"
      "  double: {type: actuator, frames: [tip, wall], force: -forces.spring.tension}\n"
      "  push: {type: load, frame: tip, force: [0, 0, 7*sin(3*t)], torque: [0, 7*sin(3*t)/4, 0]}\n"
      "  motor: {type: actuator, joint: hand, force: \"-gain*(joints.hand.angle - 0.3)\n"
      "    - 0.2*joints.hand.angle_rate\"}\n"
      "  spring: {type: spring, frames: [tip, wall], stiffness: 40, damping: 1.5, length: 0.6}\n";
  static as_messages messages;
  as_machine *arm = NULL;
  as_error error = {0};
  if (as_machine_parse(text, strlen(text), "arm.yaml", NULL, 0, &arm, &messages))
    fail_msg("%s", messages.message[0].text);
  as_builder *b = double_pendulum(false);
  add_spring(b);
  add_spring(b);
  add_torsion(b);
  push(b, false, false);
  as_model *model = machine_build(b);
  as_integrator *run[2] = {start(model, AS_METHOD_INDEX2, 1e-3),
                           start(arm->model, AS_METHOD_INDEX2, 1e-3)};
  for (int i = 0; i < 2; ++i) must(as_integrator_advance(run[i], 0.5, &error), &error);
  const as_state *x = as_integrator_state(run[0]), *y = as_integrator_state(run[1]);
  for (int i = 0; i < 14; ++i) assert_near("q", y->q[i], x->q[i], 1e-11);
  for (int i = 0; i < 12; ++i) assert_near("v", y->v[i], x->v[i], 1e-11);

  // What is recorded of it.
  static const char *const names[] = {
      "forces.motor.drive",           "joints.hand.angle", "joints.hand.angle_rate",
      "forces.double.drive",          "forces.spring",     "frames.tip.distance.*",
      "frames.wall.distance_rate.tip"};
  as_channels *c = NULL;
  must(as_channels_create(arm->model, names, 7, &c, &error), &error);
  double out[32];
  const as_view view = {.state = y};
  assert_true(as_channels_count(c) <= 32);
  must(as_channels_evaluate(c, &view, out, &error), &error);
  assert_string_equal(as_channels_get(c, 0).name, "forces.motor.drive");
  assert_string_equal(as_channels_get(c, 0).unit, "N m");
  assert_string_equal(as_channels_get(c, 3).unit, "N");
  assert_near("drive", out[0], -12.0 * (out[1] - 0.3) - 0.2 * out[2], 1e-12);
  double length = (double)NAN, rate = (double)NAN, tension = (double)NAN;
  for (int i = 0; i < as_channels_count(c); ++i) {
    const char *name = as_channels_get(c, i).name;
    if (strcmp(name, "forces.spring.length") == 0) length = out[i];
    if (strcmp(name, "forces.spring.length_rate") == 0) rate = out[i];
    if (strcmp(name, "forces.spring.tension") == 0) tension = out[i];
  }
  assert_near("double", out[3], -tension, 1e-12);
  const int n = as_channels_count(c);
  assert_string_equal(as_channels_get(c, n - 3).name, "frames.tip.distance.elbow");
  assert_string_equal(as_channels_get(c, n - 2).name, "frames.tip.distance.wall");
  assert_string_equal(as_channels_get(c, n - 1).name, "frames.wall.distance_rate.tip");
  assert_near("length", out[n - 2], length, 1e-14);
  assert_near("rate", out[n - 1], rate, 1e-13);
  as_channels_destroy(c);
  static const char *const along[] = {"forces.double.length", "forces.double.length_rate",
                                      "forces.spring.length", "forces.spring.length_rate"};
  must(as_channels_create(arm->model, along, 4, &c, &error), &error);
  must(as_channels_evaluate(c, &view, out, &error), &error);
  assert_int_equal(as_channels_count(c), 4);
  assert_near("length", out[0], out[2], 1e-14);
  assert_near("its rate", out[1], out[3], 1e-13);
  assert_true(fabs(out[3]) > 1e-3);
  assert_int_equal(as_model_signals(arm->model), 0);
  as_channels_destroy(c);
  c = NULL;
  static const char *const wrong[] = {"frames.tip.distance.wal"};
  assert_int_equal(as_channels_create(arm->model, wrong, 1, &c, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "did you mean `wall`?"));
  for (int i = 0; i < 2; ++i) as_integrator_destroy(run[i]);
  as_model_destroy(model);
  as_machine_destroy(arm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tangents),     cmocka_unit_test(test_same_as_built_in),
      cmocka_unit_test(test_spring_force), cmocka_unit_test(test_order),
      cmocka_unit_test(test_turns),        cmocka_unit_test(test_refused),
      cmocka_unit_test(test_eight_bodies), cmocka_unit_test(test_too_much),
      cmocka_unit_test(test_limits),       cmocka_unit_test(test_no_number),
      cmocka_unit_test(test_file),         cmocka_unit_test(test_start),
      cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
