/// What a superelement must not be: each refused with a sentence that names it, the builder as it was.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "structures.h"

static as_builder *builder;

static as_sparse *matrix(int rows, int cols, const as_entry *entries, size_t n) {
  as_error error;
  as_sparse *m = NULL;
  if (as_sparse_create(rows, cols, entries, n, &m, &error)) fail_msg("%s", error.message);
  return m;
}

/// Adding must fail with this sentence.
static void refuse(const as_superelement_def *def, const char *sentence) {
  as_error error = {0};
  as_superelement_id id = {77};
  assert_int_equal(as_builder_add_superelement(builder, def, &id, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, sentence);
  assert_int_equal(id.index, 77);
}

/// One good superelement of two coordinates.
static structure good;
static as_superelement_def def;

static int open(void **state) {
  (void)state;
  as_error error;
  good = structure_bar(2, 1.0, 1.0, 1.0, false, true);
  def = structure_def(&good);
  def.name = "bar";
  return (int)as_builder_create(&(as_model_def){.gravity = {0}}, &builder, &error);
}

/// After everything that was refused the builder takes the good one and builds.
static int close(void **state) {
  (void)state;
  as_error error;
  as_model *m = NULL;
  as_superelement_id id = AS_NO_SUPERELEMENT;
  def = structure_def(&good);
  def.name = "bar";
  if (as_builder_add_superelement(builder, &def, &id, &error)) fail_msg("%s", error.message);
  assert_int_equal(id.index, 0);
  if (as_builder_build(builder, &m, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_model_superelements(m), 1);
  assert_int_equal(as_model_bodies(m), 0);
  assert_int_equal(as_model_find_superelement(m, "bar").index, 0);
  assert_int_equal(as_model_find_superelement(m, "rod").index, AS_NO_SUPERELEMENT.index);
  assert_string_equal(as_model_superelement_name(m, (as_superelement_id){0}), "bar");
  assert_int_equal(as_model_superelement_size(m, (as_superelement_id){0}), 2);
  assert_int_equal(as_model_superelement_q(m, (as_superelement_id){0}), 0);
  assert_int_equal(as_model_superelement_v(m, (as_superelement_id){0}), 0);
  assert_int_equal(as_model_superelement_size(m, (as_superelement_id){1}), -1);
  as_model_destroy(m);
  as_builder_destroy(builder);
  structure_free(&good);
  return 0;
}

static void test_sizes(void **state) {
  (void)state;
  as_sparse *wide = matrix(2, 3, NULL, 0), *small = matrix(1, 1, NULL, 0);
  def.mass = NULL;
  refuse(&def, "The superelement \"bar\" has no mass matrix.");
  def.mass = wide;
  refuse(&def, "The mass of superelement \"bar\" is 2 x 3 instead of 2 x 2.");
  def.mass = good.mass;
  def.stiffness = small;
  refuse(&def, "The stiffness of superelement \"bar\" is 1 x 1 instead of 2 x 2.");
  def.stiffness = good.stiffness;
  def.damping = wide;
  refuse(&def, "The damping of superelement \"bar\" is 2 x 3 instead of 2 x 2.");
  def.damping = NULL;
  def.load = small;
  refuse(&def, "The load of superelement \"bar\" is 1 x 1 instead of 2 x 1.");
  as_sparse_destroy(wide);
  as_sparse_destroy(small);
}

static void test_values(void **state) {
  (void)state;
  const as_entry negative[] = {{0, 0, 1.0}, {1, 1, -2.0}};
  const as_entry indefinite[] = {{0, 0, 1.0}, {1, 1, 4.0}, {0, 1, 2.1}, {1, 0, 2.1}};
  const as_entry skew[] = {{0, 0, 1.0}, {1, 0, 0.5}, {0, 1, -0.5}};
  as_sparse *m[3] = {matrix(2, 2, negative, 2), matrix(2, 2, indefinite, 4), matrix(2, 2, skew, 3)};
  def.mass = m[0];
  refuse(&def, "The mass of superelement \"bar\" has the negative entry -2 at (1, 1).");
  def.mass = m[1];
  refuse(&def,
         "The mass of superelement \"bar\" is not positive semidefinite: (1, 0) is 2.1 between "
         "the diagonal entries 4 and 1.");
  def.mass = good.mass;
  def.stiffness = m[2];
  refuse(&def,
         "The stiffness of superelement \"bar\" is not symmetric: (1, 0) is 0.5, (0, 1) is -0.5.");
  def.stiffness = good.stiffness;
  const double u[2] = {0.0, (double)NAN};
  def.displacement = u;
  refuse(&def, "Component 1 of the displacement of superelement \"bar\" is nan.");
  def.displacement = NULL;
  def.velocity = u;
  refuse(&def, "Component 1 of the velocity of superelement \"bar\" is nan.");
  def.velocity = NULL;
  def.quaternion[1] = 0.1;
  refuse(&def, "The quaternion of superelement \"bar\" has the length 1.00498756 instead of 1.");
  def.quaternion[1] = 0.0;
  const double x[] = {0.0, 0.0}, y[] = {1.0, 2.0};
  const as_curve table = {.x = x, .y = y, .n = 2};
  def.factor = &table;
  as_error error = {0};
  assert_int_equal(as_builder_add_superelement(builder, &def, NULL, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "The factor of superelement \"bar\""));
  def.factor = NULL;
  def.name = "b.r";
  assert_int_equal(as_builder_add_superelement(builder, &def, NULL, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "The name \"b.r\" of a superelement"));
  for (int i = 0; i < 3; ++i) as_sparse_destroy(m[i]);
}

static void test_nodes(void **state) {
  (void)state;
  as_superelement_node node[2] = {{{0}, {0, -1, -1, -1, -1, -1}}, {{0}, {0, 1, -1, -1, -1, -1}}};
  def.node = node;
  def.n_nodes = 2;
  refuse(&def, "Coordinate 0 of superelement \"bar\" belongs to node 0 and to node 1.");
  node[1].coordinate[0] = 2;
  refuse(&def,
         "Node 1 of superelement \"bar\" has coordinate 2, which is none of 0 to 1 and not -1.");
  node[1].coordinate[0] = -2;
  refuse(&def,
         "Node 1 of superelement \"bar\" has coordinate -2, which is none of 0 to 1 and not -1.");
  node[1].coordinate[0] = 1;
  node[1].coordinate[1] = -1;
  node[1].position[2] = (double)INFINITY;
  refuse(&def, "Node 1 of superelement \"bar\" has the position inf.");
  def.node = NULL;
  refuse(&def, "The superelement \"bar\" has 2 nodes, but no list of them.");
}

/// Nodes as bodies, in a builder of their own.
static void test_bodies(void **state) {
  (void)state;
  static const struct {
    as_node_def node;
    const char *sentence;
  } cases[] = {
      {{"n", {1}, 0}, "The body \"n\" is a node of superelement 1, which is not there."},
      {{"n", {-2}, 0}, "The body \"n\" is a node of superelement -2, which is not there."},
      {{"n", {0}, 3}, "The body \"n\" is node 3 of superelement \"bar\", which has 3."},
      {{"n", {0}, 0},
       "The body \"n\" is node 0 of superelement \"bar\", which has no coordinates."},
      {{"n", {0}, 2}, "The body \"n\" is node 2 of superelement \"bar\", as body \"tip\" is."},
      {{"tip", {0}, 1}, "There are two bodies named \"tip\"."},
  };
  as_builder *b = NULL;
  as_error error = {0};
  as_body_id tip, id;
  as_model *m = NULL;
  assert_int_equal(as_builder_create(&(as_model_def){.gravity = {0}}, &b, &error), AS_OK);
  assert_int_equal(as_builder_build(b, &m, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_builder_add_superelement(b, &def, NULL, &error), AS_OK);
  assert_int_equal(as_builder_add_node(b, &(as_node_def){"tip", {0}, 2}, &tip, &error), AS_OK);
  assert_int_equal(as_builder_add_superelement(b, &def, NULL, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "There are two superelements named \"bar\".");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    id = (as_body_id){77};
    assert_int_equal(as_builder_add_node(b, &cases[i].node, &id, &error), AS_ERR_ARGUMENT);
    assert_string_equal(error.message, cases[i].sentence);
    assert_int_equal(id.index, 77);
  }
  // A node without rotations has no axes.
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_REVOLUTE;
  joint.body[0] = AS_GROUND;
  joint.body[1] = tip;
  joint.axis[2] = 1.0;
  assert_int_equal(as_builder_add_joint(b, &joint, NULL, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_builder_build(b, &m, &error), AS_OK);
  assert_int_equal(as_model_bodies(m), 1);
  assert_int_equal(as_model_joints(m), 0);
  assert_int_equal(as_model_find_body(m, "tip").index, tip.index);
  assert_int_equal(as_model_body_q(m, tip), -1);
  assert_int_equal(as_model_body_v(m, tip), -1);
  as_model_destroy(m);
  as_builder_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_sizes, open, close),
                                     cmocka_unit_test_setup_teardown(test_values, open, close),
                                     cmocka_unit_test_setup_teardown(test_nodes, open, close),
                                     cmocka_unit_test_setup_teardown(test_bodies, open, close)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
