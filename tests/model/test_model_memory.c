/// Memory of models: nothing allocates once a machine runs, wherever memory runs out there is AS_ERR_MEMORY and
/// no leak, and one model serves several threads.
///
/// The linker sends every malloc, calloc, realloc and free through the functions here (-Wl,--wrap).
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "counting.h"
#include "flexible_part.h"
#include "plugins.h"
#include "share.h"

// ---- a machine with one of everything -------------------------------------------------------------------

static as_status add_bodies(as_builder *b, as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < 4 && status == AS_OK; ++i) {
    as_body_def body = as_default_body_def();
    body.kind = i == 2 ? AS_BODY_POINT : AS_BODY_RIGID;
    body.space = i == 1 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
    body.mass = 1.0;
    body.inertia[0] = 0.2;
    body.inertia[1] = body.inertia[2] = 0.3;
    body.position[0] = i + 0.5;
    status = as_builder_add_body(b, &body, NULL, error);
  }
  return status;
}

static as_status add_joints(as_builder *b, as_error *error) {
  const as_curve law = {.slope = 0.5};
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.shift[0] = &law;
  as_frame_id moving;
  as_status status = as_builder_add_frame(b, &frame, &moving, error);
  as_joint_def joint = as_default_joint_def();
  as_motion_def motion = as_default_motion_def();
  joint.name = "shoulder";
  joint.kind = AS_JOINT_REVOLUTE;
  joint.body[0] = AS_GROUND;
  joint.body[1] = (as_body_id){0};
  joint.axis[1] = 1.0;
  if (status == AS_OK) status = as_builder_add_joint(b, &joint, &motion.joint, error);
  motion.law = &law;
  if (status == AS_OK) status = as_builder_add_motion(b, &motion, NULL, error);
  joint.name = NULL;
  joint.kind = AS_JOINT_SPHERICAL;
  joint.body[0] = (as_body_id){0};
  joint.body[1] = (as_body_id){1};
  joint.point[0] = 1.0;
  if (status == AS_OK) status = as_builder_add_joint(b, &joint, NULL, error);
  as_skate_def skate = as_default_skate_def();
  skate.body[0] = AS_GROUND;
  skate.body[1] = (as_body_id){1};
  skate.point[0] = 2.0;
  skate.normal[2] = skate.direction[0] = 1.0;
  if (status == AS_OK) status = as_builder_add_skate(b, &skate, NULL, error);
  as_gear_def gear = as_default_gear_def();
  gear.joint[0] = motion.joint;
  gear.teeth[0] = 20;
  gear.teeth[1] = 30;
  joint.kind = AS_JOINT_CYLINDRICAL;
  joint.body[0] = AS_GROUND;
  joint.body[1] = (as_body_id){3};
  if (status == AS_OK) status = as_builder_add_joint(b, &joint, &gear.joint[1], error);
  if (status == AS_OK) status = as_builder_add_gear(b, &gear, NULL, error);
  return status;
}

static as_status add_forces(as_builder *b, as_error *error) {
  static const double x[] = {-1.0, 0.0, 2.0}, y[] = {-5.0, 0.0, 20.0};
  const as_curve table = {.x = x, .y = y, .n = 3};
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = (as_body_id){1};
  spring.body[1] = (as_body_id){2};
  spring.point[0][0] = 2.0;
  spring.point[1][0] = 2.5;
  spring.spring = &table;
  spring.damping = 0.1;
  as_load_def load = as_default_load_def();
  load.body = (as_body_id){1};
  load.torque[2] = 0.1;
  as_joint_friction_def friction = as_default_joint_friction_def();
  friction.joint = (as_joint_id){0};
  friction.coefficient = 0.1;
  friction.radius = 0.02;
  as_status status = as_builder_add_spring(b, &spring, NULL, error);
  if (status == AS_OK) status = as_builder_add_load(b, &load, NULL, error);
  return status ? status : as_builder_add_joint_friction(b, &friction, NULL, error);
}

/// A bushing, a stop and a contact; laws with tables.
static as_status add_more_forces(as_builder *b, as_error *error) {
  static const double x[] = {-1.0, 0.0, 2.0}, y[] = {0.0, 0.0, 20.0}, z[9] = {0.0, 0.0, 1.0};
  const as_curve table = {.x = x, .y = y, .n = 3, .interpolation = AS_LINEAR};
  const as_surface law = {.x = x, .y = x, .z = z, .nx = 3, .ny = 3, .interpolation = AS_MONOTONE};
  as_torsion_def torsion = as_default_torsion_def();
  torsion.body[0] = (as_body_id){0};
  torsion.body[1] = (as_body_id){1};
  torsion.axis[2] = 1.0;
  torsion.law = &law;
  as_bushing_def bushing = as_default_bushing_def();
  bushing.body[0] = (as_body_id){0};
  bushing.body[1] = (as_body_id){1};
  bushing.stiffness[3] = bushing.damping[3] = 0.1;
  as_stop_def stop = as_default_stop_def();
  stop.joint = (as_joint_id){0};
  stop.upper = -0.1;
  stop.law.curve = &table;
  as_contact_def contact = as_default_contact_def();
  contact.body[0] = (as_body_id){1};
  contact.body[1] = (as_body_id){2};
  contact.normal[0] = contact.radius = 1.0;
  contact.center[0] = 2.5;
  contact.law.stiffness = contact.friction = contact.slip_speed = 0.1;
  as_status status = as_builder_add_torsion(b, &torsion, NULL, error);
  if (status == AS_OK) status = as_builder_add_bushing(b, &bushing, NULL, error);
  if (status == AS_OK) status = as_builder_add_stop(b, &stop, NULL, error);
  return status ? status : as_builder_add_contact(b, &contact, NULL, error);
}

/// Forces by formula, of angles that are remembered too.
static as_status add_actuators(as_builder *b, as_error *error) {
  as_actuator_def motor = as_default_actuator_def();
  motor.joint = (as_joint_id){0};
  motor.force = "-joints.shoulder.angle - soft('bodies.body 1.velocity.x')*k";
  as_load_def load = as_default_load_def();
  load.body = (as_body_id){1};
  load.force_formula[0] = "k*'bodies.body 2.position.y'";
  load.torque_formula[2] = "sin(t)*joints.shoulder.angle_rate";
  const as_status status = as_builder_add_actuator(b, &motor, NULL, error);
  return status ? status : as_builder_add_load(b, &load, NULL, error);
}

/// Formulas in most places where one may stand.
static as_status add_formulas(as_builder *b, as_error *error) {
  static const double x[] = {-1.0, 0.0, 2.0}, y[] = {0.0, 0.0, 20.0};
  const as_curve table = {.x = x, .y = y, .n = 3}, rub = {.formula = "0.1 + 0.1*exp(-speed)"},
                 wave = {.formula = "0.1*sin(t)"};
  const as_surface law = {.formula = "k*deflection + soft(length_rate)"},
                   along = {.formula = "soft(displacement)*t"};
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = (as_body_id){1};
  spring.body[1] = (as_body_id){2};
  spring.point[0][0] = 2.0;
  spring.point[1][0] = 2.5;
  spring.law = &law;
  as_bushing_def bushing = as_default_bushing_def();
  bushing.body[0] = (as_body_id){0};
  bushing.body[1] = (as_body_id){1};
  bushing.law[0] = bushing.law[2] = &along;
  as_joint_friction_def friction = as_default_joint_friction_def();
  friction.joint = (as_joint_id){0};
  friction.coefficient_law = &rub;
  friction.radius = 0.02;
  as_load_def load = as_default_load_def();
  load.body = (as_body_id){1};
  load.torque[2] = 0.1;
  load.factor = &wave;
  as_status status = as_builder_add_parameter(b, "k", 2.0, NULL, error);
  if (status == AS_OK) status = as_builder_add_table(b, "soft", &table, error);
  if (status == AS_OK) status = as_builder_add_spring(b, &spring, NULL, error);
  if (status == AS_OK) status = as_builder_add_bushing(b, &bushing, NULL, error);
  if (status == AS_OK) status = as_builder_add_load(b, &load, NULL, error);
  if (status == AS_OK) status = add_actuators(b, error);
  return status ? status : as_builder_add_joint_friction(b, &friction, NULL, error);
}

static bool no_blocks; ///< SOI2 refuses them

/// A block and a force of a plugin.
static as_status add_plugins(as_builder *b, as_error *error) {
  static const char *const input[] = {"'bodies.body 1.position.x'", "'bodies.body 2.velocity.y'"};
  static const double parameter[] = {1.0, 0.1};
  as_plugin_block_def block = as_default_plugin_block_def();
  block.block = "wild";
  block.plugin = plugins_block("wild");
  block.input = input;
  block.parameter = parameter;
  block.period = 0.1;
  as_plugin_force_def force = as_default_plugin_force_def();
  force.plugin = plugins_force("bush");
  force.body[0] = (as_body_id){0};
  force.body[1] = (as_body_id){1};
  const as_status status = no_blocks ? AS_OK : as_builder_add_plugin_block(b, &block, error);
  return status ? status : as_builder_add_plugin_force(b, &force, NULL, error);
}

/// A bar of two coordinates along x between the point mass and nothing.
static as_status add_superelement(as_builder *b, as_error *error) {
  static const as_entry mass[] = {{0, 0, 0.2}, {1, 1, 0.2}};
  static const as_entry stiffness[] = {{0, 0, 9.0}, {0, 1, -9.0}, {1, 0, -9.0}, {1, 1, 9.0}};
  static const char load[] = "%%MatrixMarket matrix array real general\n2 1\n0\n0.3\n";
  static const as_superelement_node node = {{2.5, 0, 0}, {0, -1, -1, -1, -1, -1}};
  const as_curve rising = {.slope = 1.0};
  as_sparse *m[3] = {NULL, NULL, NULL};
  as_status status = as_sparse_create(2, 2, mass, 2, &m[0], error);
  if (status == AS_OK) status = as_sparse_create(2, 2, stiffness, 4, &m[1], error);
  if (status == AS_OK) status = as_sparse_parse(load, sizeof load - 1, "load", &m[2], error);
  as_superelement_def bar = as_default_superelement_def();
  bar.mass = m[0];
  bar.stiffness = bar.damping = m[1];
  bar.load = m[2];
  bar.factor = &rising;
  bar.node = &node;
  bar.n_nodes = 1;
  as_node_def end = {0};
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_SPHERICAL;
  joint.body[0] = (as_body_id){2};
  joint.point[0] = 2.5;
  if (status == AS_OK) status = as_builder_add_superelement(b, &bar, &end.superelement, error);
  if (status == AS_OK) status = as_builder_add_node(b, &end, &joint.body[1], error);
  if (status == AS_OK) status = as_builder_add_joint(b, &joint, NULL, error);
  for (int i = 0; i < 3; ++i) as_sparse_destroy(m[i]);
  return status;
}

static part bar; ///< made once, while memory does not run out

/// A bar that hangs on a ball joint, with a load that swings and a spring to the first body.
static as_status add_flexible(as_builder *b, as_error *error) {
  const as_curve swing = {.formula = "sin(3*t)"};
  const as_flexible_load load = {.node = 3, .force = {0, 1, 0}, .factor = &swing};
  const long shown[] = {1, 7};
  as_flexible_def def = as_default_flexible_def();
  def.name = "bar";
  def.data = bar.data;
  def.load = &load;
  def.point = shown;
  def.n_loads = 1;
  def.n_points = 2;
  def.position[1] = 3.0;
  as_flexible_id id;
  as_status status = as_builder_add_flexible(b, &def, &id, error);
  if (status) return status;
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_SPHERICAL;
  joint.body[0] = AS_GROUND;
  joint.body[1] = as_builder_flexible_node(b, id, 1);
  joint.point[0] = 0.5;
  joint.point[1] = 3.0;
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = as_builder_flexible_node(b, id, 0);
  spring.body[1] = (as_body_id){0};
  spring.point[0][1] = 3.0;
  spring.stiffness = 2.0;
  status = as_builder_add_joint(b, &joint, NULL, error);
  return status ? status : as_builder_add_spring(b, &spring, NULL, error);
}

static as_status make(as_model **out, as_error *error) {
  as_builder *b = NULL;
  *out = NULL;
  as_status status = as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, error);
  if (status == AS_OK) status = add_bodies(b, error);
  if (status == AS_OK) status = add_joints(b, error);
  if (status == AS_OK) status = add_forces(b, error);
  if (status == AS_OK) status = add_more_forces(b, error);
  if (status == AS_OK) status = add_formulas(b, error);
  if (status == AS_OK) status = add_plugins(b, error);
  if (status == AS_OK) status = add_superelement(b, error);
  if (status == AS_OK) status = add_flexible(b, error);
  as_coordinate_def wanted = as_default_coordinate_def();
  wanted.joint = (as_joint_id){0};
  wanted.rate = 0.5;
  if (status == AS_OK) status = as_builder_set_coordinate(b, &wanted, error);
  if (status == AS_OK) status = as_builder_assemble(b, NULL, error);
  if (status == AS_OK) status = as_builder_build(b, out, error);
  as_builder_destroy(b);
  return status;
}

/// An actuator that reads an angle, where one allocation alone fails.
static void test_short_of_memory(void **state) {
  (void)state;
  as_status status = AS_ERR_MEMORY;
  memory.fail_on = false;
  for (long n = 1; status != AS_OK; ++n) {
    as_builder *b = NULL;
    as_error error;
    assert_int_equal(as_builder_create(&(as_model_def){0}, &b, &error), AS_OK);
    assert_int_equal(add_bodies(b, &error), AS_OK);
    assert_int_equal(add_joints(b, &error), AS_OK);
    as_actuator_def motor = as_default_actuator_def();
    motor.joint = (as_joint_id){0};
    motor.force = "-joints.shoulder.angle";
    memory.failed = 0;
    memory.fail_at = n;
    status = as_builder_add_actuator(b, &motor, NULL, &error);
    memory.fail_at = 0;
    assert_int_equal(status, memory.failed ? AS_ERR_MEMORY : AS_OK);
    as_builder_destroy(b);
  }
}

static void test_out_of_memory(void **state) {
  (void)state;
  as_model *m = NULL;
  as_error error;
  const long live = memory.live, before = memory.taken;
  if (make(&m, &error)) fail_msg("%s", error.message);
  const long needed = memory.taken - before;
  as_model_destroy(m);
  assert_int_equal(memory.live, live);
  for (long n = 1; n <= needed; ++n) {
    if (!share_has(n)) continue;
    memory.failed = 0;
    memory.fail_on = true;
    memory.fail_at = n;
    const as_status status = make(&m, &error);
    memory.fail_at = 0;
    assert_true(memory.failed > 0);
    if (status != AS_ERR_MEMORY || m != NULL)
      fail_msg("allocation %ld of %ld fails, but the status is %s: %s", n, needed,
               as_status_name(status), error.message);
    if (memory.live != live)
      fail_msg("allocation %ld of %ld fails: %ld blocks leak", n, needed, memory.live - live);
  }
  print_message("  %ld allocations\n", needed);
}

// ---- nothing allocates --------------------------------------------------------------------------------

static void read_all(const as_model *m, const as_state *s, as_meter *meter) {
  as_error error;
  as_energy energy;
  as_momentum momentum;
  as_reaction reaction;
  as_gap gap;
  double c[AS_JOINT_COORDINATES], rate[AS_JOINT_COORDINATES];
  as_status status = as_meter_update(meter, m, s, &error);
  if (status == AS_OK) status = as_model_energy(m, s, &energy, &error);
  as_model_momentum(m, s, &momentum);
  for (int j = 0; j < as_model_joints(m) && status == AS_OK; ++j) {
    status = as_model_coordinates(m, s, (as_joint_id){j}, NULL, c, rate, &error);
    if (status == AS_OK) status = as_model_reaction(m, s, (as_joint_id){j}, &reaction, &error);
    if (status == AS_OK) status = as_model_gap(m, s, (as_joint_id){j}, &gap, &error);
  }
  for (int f = 0; f < as_model_forces(m) && status == AS_OK; ++f) {
    as_wrench wrench;
    status = as_model_force(m, s, (as_force_id){f}, 1, &wrench, &error);
  }
  if (status) fail_msg("%s", error.message);
}

static void test_no_allocation(void **state) {
  (void)state;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  for (int k = 0; k < 3; ++k) {
    as_model *m = NULL;
    as_error error;
    no_blocks = methods[k] == AS_METHOD_SOI2;
    if (make(&m, &error)) fail_msg("%s", error.message);
    no_blocks = false;
    as_integrator_def def = as_default_integrator_def();
    as_integrator *integrator = NULL;
    as_meter meter = {0};
    def.method = methods[k];
    assert_int_equal(as_integrator_create(as_model_problem(m), &def, &integrator, &error), AS_OK);
    assert_int_equal(as_integrator_start(integrator, as_model_initial(m), NULL, &error), AS_OK);
    const long taken = memory.taken;
    for (int i = 0; i < 20; ++i) {
      if (as_integrator_step(integrator, 1e-3, &error)) fail_msg("%s", error.message);
      read_all(m, as_integrator_state(integrator), &meter);
    }
    assert_int_equal(memory.taken, taken);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- threads ------------------------------------------------------------------------------------------

enum { THREADS = 4, NUMBERS = 40 };

typedef struct job {
  const as_model *model;
  as_status status;
  double q[NUMBERS];
} job;

static void *run(void *argument) {
  job *j = argument;
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  def.step = 1e-3;
  j->status = as_integrator_create(as_model_problem(j->model), &def, &integrator, NULL);
  if (j->status == AS_OK)
    j->status = as_integrator_start(integrator, as_model_initial(j->model), NULL, NULL);
  if (j->status == AS_OK) j->status = as_integrator_advance(integrator, 0.3, NULL);
  if (j->status == AS_OK) memcpy(j->q, as_integrator_state(integrator)->q, sizeof j->q);
  as_integrator_destroy(integrator);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  as_model *m = NULL;
  as_error error;
  if (make(&m, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_space_nq(as_problem_space(as_model_problem(m))), NUMBERS);
  job alone = {.model = m}, jobs[THREADS];
  pthread_t thread[THREADS];
  run(&alone);
  assert_int_equal(alone.status, AS_OK);
  for (int i = 0; i < THREADS; ++i) {
    jobs[i] = (job){.model = m};
    assert_int_equal(pthread_create(&thread[i], NULL, run, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(thread[i], NULL);
    assert_int_equal(jobs[i].status, AS_OK);
    assert_memory_equal(jobs[i].q, alone.q, sizeof alone.q);
  }
  as_model_destroy(m);
}

static int make_bar(void **state) {
  (void)state;
  const part_def def = {.length = 0.5,
                        .elements = 2,
                        .modes = 1,
                        .stiffness = {200, 100, 100, 1, 1, 1},
                        .mass = 1,
                        .inertia = {0.01, 0.01}};
  bar = part_make(&def);
  return 0;
}

static int free_bar(void **state) {
  (void)state;
  part_free(&bar);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_short_of_memory), cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, make_bar, free_bar);
}
