/// A superelement from a file: the machine of tests/files/good/superelement.yaml, built by hand; and what channels
/// and the survey say of nodes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "machines.h"
#include "rig.h"
#include "structures.h"

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

/// A symmetric matrix of two nodes from that of two numbers, the same along x, y, z.
static as_sparse *along_all(double first, double both, double second) {
  as_entry entries[12];
  as_sparse *out = NULL;
  as_error error;
  for (int k = 0; k < 3; ++k) {
    entries[4 * k] = (as_entry){k, k, first};
    entries[4 * k + 1] = (as_entry){k, k + 3, both};
    entries[4 * k + 2] = (as_entry){k + 3, k, both};
    entries[4 * k + 3] = (as_entry){k + 3, k + 3, second};
  }
  must(as_sparse_create(6, 6, entries, 12, &out, &error), &error);
  return out;
}

static as_model *by_hand(void) {
  as_error error;
  as_superelement_id post;
  as_body_id top;
  as_sparse *mass = along_all(2, 1, 2), *stiffness = along_all(5000, -3000, 3000);
  as_sparse *damping = along_all(5, -3, 3);
  as_sparse *load = sparse_column((const double[]){0, 0, 0, 10, 0, -5}, 6);
  const as_superelement_node nodes[] = {{{0, 0, 0}, {0, 1, 2, -1, -1, -1}},
                                        {{0, 0, 2}, {3, 4, 5, -1, -1, -1}}};
  const as_curve factor = {.n = 3,
                           .x = (const double[]){0, 0.5, 1},
                           .y = (const double[]){0, 1, 0},
                           .interpolation = AS_MONOTONE};
  as_superelement_def def = as_default_superelement_def();
  def.name = "post";
  def.mass = mass;
  def.stiffness = stiffness;
  def.damping = damping;
  def.load = load;
  def.factor = &factor;
  def.node = nodes;
  def.n_nodes = 2;
  def.position[0] = 1;
  def.position[1] = -1;
  def.quaternion[0] = def.quaternion[3] = sqrt(0.5);
  def.displacement = (const double[]){0, 0, 0, 0, 0, 0.01};
  def.velocity = (const double[]){0, 0.1, 0, 0, 0.1, 0};
  as_builder *b = machine_builder(0, 0, -9.81);
  must(as_builder_add_superelement(b, &def, &post, &error), &error);
  must(as_builder_add_node(b, &(as_node_def){"top", post, 1}, &top, &error), &error);
  as_body_def bar = as_default_body_def();
  bar.name = "bar";
  bar.mass = 1.5;
  memcpy(bar.inertia, (const double[]){0.1, 0.2, 0.3}, 3 * sizeof(double));
  memcpy(bar.position, (const double[]){1.5, -1, 2}, 3 * sizeof(double));
  const as_body_id id = machine_body(b, &bar);
  as_joint_def ball = as_default_joint_def();
  ball.name = "ball";
  ball.kind = AS_JOINT_SPHERICAL;
  ball.body[0] = top;
  ball.body[1] = id;
  memcpy(ball.point, (const double[]){1, -1, 2.01}, 3 * sizeof(double));
  must(as_builder_add_joint(b, &ball, NULL, &error), &error);
  as_sparse_destroy(mass);
  as_sparse_destroy(stiffness);
  as_sparse_destroy(damping);
  as_sparse_destroy(load);
  return machine_build(b);
}

static void test_by_hand(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/superelement.yaml", NULL, 0);
  as_model *model = by_hand();
  assert_int_equal(as_model_superelements(m->model), 1);
  assert_int_equal(as_model_find_superelement(m->model, "post").index, 0);
  assert_int_equal(m->n_shapes, 1);
  assert_int_equal(m->shapes[0].body.index, as_model_find_body(m->model, "top").index);
  const int q = as_model_superelement_q(model, (as_superelement_id){0}),
            v = as_model_superelement_v(model, (as_superelement_id){0});
  for (int i = 0; i < 6; ++i) {
    assert_near("u", as_model_initial(m->model)->q[q + i], as_model_initial(model)->q[q + i], 0.0);
    assert_near("u'", as_model_initial(m->model)->v[v + i], as_model_initial(model)->v[v + i], 0.0);
  }
  files_same_motion(m->model, model, AS_METHOD_INDEX2, 1e-3, 60,
                    1e-9); // but for the turn's last bit
  as_model_destroy(model);
  as_machine_destroy(m);
}

/// The model needs files of its own: without one it cannot be read, which is not what is written in it.
static void test_missing_matrix(void **state) {
  (void)state;
  static as_messages messages;
  static const char text[] = "alphastep: 1\nsuperelements: {a: {mass: missing.mtx}}\n";
  as_machine *m = NULL;
  assert_int_equal(as_machine_parse(text, sizeof text - 1, "a.yaml", NULL, 0, &m, &messages),
                   AS_ERR_FILE);
  assert_string_equal(messages.message[0].text, "a.yaml:2:17: error: superelements.a: missing.mtx "
                                                "cannot be opened: No such file or directory.");
}

// ---- what is said of nodes --------------------------------------------------------------------------

enum {
  TIP_NUMBERS = 19
}; ///< position 3, quaternion 4, velocity 3, angular velocity 3, accelerations 6

/// A clamped beam in a frame that is turned by almost half a turn; its tip is pushed and twisted.
static as_model *turned_beam(void) {
  as_error error;
  as_superelement_id beam;
  as_body_id root, tip;
  const beam_section section = {1, 0.02, 0.03, 0.04, 1.5, 0.02};
  structure s = structure_beam(2, 1.0, &section);
  as_superelement_def def = structure_def(&s);
  double displacement[18] = {0}, velocity[18] = {0};
  for (int i = 0; i < 6; ++i) velocity[12 + i] = 0.3 * i - 0.8;
  for (int i = 3; i < 6; ++i) displacement[12 + i] = 1.5 - 0.4 * i;
  def.name = "beam";
  def.displacement = displacement;
  def.velocity = velocity;
  def.quaternion[0] = 0.02;
  def.quaternion[1] = 0.6;
  def.quaternion[2] = -0.5;
  def.quaternion[3] = sqrt(1.0 - 0.0004 - 0.36 - 0.25);
  as_builder *b = machine_builder(0, 0, -9.81);
  must(as_builder_add_superelement(b, &def, &beam, &error), &error);
  must(as_builder_add_node(b, &(as_node_def){"root", beam, 0}, &root, &error), &error);
  must(as_builder_add_node(b, &(as_node_def){"tip", beam, s.n_nodes - 1}, &tip, &error), &error);
  as_joint_def clamp = as_default_joint_def();
  clamp.name = "clamp";
  clamp.kind = AS_JOINT_FIXED;
  clamp.body[0] = AS_GROUND;
  clamp.body[1] = root;
  memset(clamp.point, 0, sizeof clamp.point);
  must(as_builder_add_joint(b, &clamp, NULL, &error), &error);
  structure_free(&s);
  return machine_build(b);
}

typedef struct rows {
  double row[3][TIP_NUMBERS];
  double axis[3]; ///< x axis of the tip at the end, in the world
  int n;
} rows;

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  rows *all = user;
  (void)t, (void)error;
  assert_int_equal(n, TIP_NUMBERS);
  memcpy(all->row[all->n++], row, sizeof all->row[0]);
  return AS_OK;
}

/// The tip's rows at three times, dt apart, at the ends of steps.
static rows run_beam(const as_model *model, double dt) {
  as_error error;
  as_run *run = NULL;
  rows all = {.n = 0};
  const double middle = 20 * dt, times[] = {middle - dt, middle, middle + dt};
  static const char *const channels[] = {
      "bodies.tip.position",         "bodies.tip.quaternion",   "bodies.tip.velocity",
      "bodies.tip.angular_velocity", "bodies.tip.acceleration", "bodies.tip.angular_acceleration"};
  as_run_def def = as_default_run_def();
  def.integrator.step = dt;
  def.t_end = 21 * dt;
  def.times = times;
  def.n_times = 3;
  def.channels = channels;
  def.n_channels = 6;
  must(as_run_create(model, &def, &run, &error), &error);
  must(as_run_go(run, keep_row, &all, NULL, &error), &error);
  assert_int_equal(all.n, 3);
  as_body_motion tip;
  as_model_body_motion(model, as_integrator_state(as_run_integrator(run)),
                       as_model_find_body(model, "tip"), &tip);
  for (int k = 0; k < 3; ++k) all.axis[k] = tip.R[3 * k];
  as_run_destroy(run);
  return all;
}

/// Each channel is the rate of another: central differences, which are off by dt^2.
static void test_channels(void **state) {
  (void)state;
  const double dt = 1e-4;
  as_model *model = turned_beam();
  const rows r = run_beam(model, dt);
  const double *before = r.row[0], *at = r.row[1], *after = r.row[2], *q = at + 3, *w = at + 10;
  const double *e = after + 3;
  for (int k = 0; k < 3; ++k) {
    const double scale = 1.0 + fabs(at[13 + k]) + fabs(at[16 + k]);
    assert_near("velocity", (after[k] - before[k]) / (2 * dt), at[7 + k], 1e-6);
    assert_near("acceleration", (after[7 + k] - before[7 + k]) / (2 * dt), at[13 + k],
                1e-5 * scale);
    assert_near("angular acceleration", (after[10 + k] - before[10 + k]) / (2 * dt), at[16 + k],
                1e-5 * scale);
  }
  // R x of the quaternion is the first column of the matrix
  const double x[3] = {1 - 2 * (e[2] * e[2] + e[3] * e[3]), 2 * (e[1] * e[2] + e[0] * e[3]),
                       2 * (e[1] * e[3] - e[0] * e[2])};
  for (int k = 0; k < 3; ++k) assert_near("x axis", x[k], r.axis[k], 1e-9);
  // q' = q o (0, omega)/2
  const double rate[4] = {
      -q[1] * w[0] - q[2] * w[1] - q[3] * w[2], q[0] * w[0] + q[2] * w[2] - q[3] * w[1],
      q[0] * w[1] + q[3] * w[0] - q[1] * w[2], q[0] * w[2] + q[1] * w[1] - q[2] * w[0]};
  for (int k = 0; k < 4; ++k)
    assert_near("quaternion", (after[3 + k] - before[3 + k]) / (2 * dt), 0.5 * rate[k], 1e-5);
  as_model_destroy(model);
}

/// A node has no mass of its own, which is nothing to warn of; and it is somewhere.
static void test_survey(void **state) {
  (void)state;
  as_error error;
  as_survey *survey = NULL;
  as_machine *m = files_load("tests/files/good/superelement.yaml", NULL, 0);
  must(as_survey_create(m->model, &m->simulation.integrator, m->simulation.t_end, &survey, &error),
       &error);
  assert_int_equal(survey->n_warnings, 0);
  assert_near("size", survey->size, 0.5, 1e-9); // from the ball to the bar's centre of mass
  assert_near("mass", survey->mass, 7.5, 1e-12);
  as_survey_destroy(survey);
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_missing_matrix),
      cmocka_unit_test(test_channels),
      cmocka_unit_test(test_survey),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
