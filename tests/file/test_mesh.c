/// Meshes: what is read is what was written, in each format; what is not a mesh is refused with a sentence.
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
#include "file/mesh.h"
#include "files.h"
#include "rig.h"

static asi_mesh parse(const char *text, const char *name) {
  asi_mesh mesh;
  as_error error;
  if (asi_mesh_parse(text, strlen(text), name, &mesh, &error)) fail_msg("%s", error.message);
  return mesh;
}

static void expect(const asi_mesh *mesh, const double *corner, int n) {
  assert_int_equal(mesh->n, n);
  for (int i = 0; i < 9 * n; ++i) assert_near("corner", mesh->corner[i], corner[i], 0.0);
}

static const double two[18] = {0, 0, 0, 1, 0, 0, 0, 2.5, 0, 0, 0, 0, 0, 2.5, 0, -1, 0, 0.125};

// ---- good files ---------------------------------------------------------------------------------------

static void test_stl_text(void **state) {
  (void)state;
  static const char text[] =
      "solid a name\n"
      "facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 +2.5e0 0\n "
      "endloop\n"
      "endfacet\r\n"
      "FACET NORMAL nan nan nan\n OUTER LOOP\n VERTEX 0 0 0\n VERTEX 0 2.5 0\n\n VERTEX -1 0 .125\n"
      "ENDLOOP\nENDFACET\nendsolid a name\n";
  asi_mesh mesh = parse(text, "a.STL");
  expect(&mesh, two, 2);
  free(mesh.corner);
}

static void test_several_solids(void **state) {
  (void)state;
  static const char solid[] = "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                              "vertex 0 1 0\nendloop\nendfacet\nendsolid\n";
  char text[2 * sizeof solid];
  snprintf(text, sizeof text, "%s%s", solid, solid);
  asi_mesh mesh = parse(text, "a.stl");
  assert_int_equal(mesh.n, 2);
  free(mesh.corner);
}

/// Writes a binary STL of n triangles; returns its size.
static size_t make_binary(unsigned char *out, uint32_t n, const double *corner) {
  memset(out, ' ', 80);
  memcpy(out, "solid of some program", sizeof "solid of some program"); // as text files begin
  for (int k = 0; k < 4; ++k) out[80 + k] = (unsigned char)(n >> 8 * k);
  for (uint32_t i = 0; i < n; ++i) {
    unsigned char *at = out + 84 + (size_t)50 * i;
    memset(at, 0, 50);
    for (int k = 0; k < 9; ++k) {
      const float x = (float)corner[9 * i + (uint32_t)k];
      uint32_t bits;
      memcpy(&bits, &x, 4);
      for (int j = 0; j < 4; ++j) at[12 + 4 * k + j] = (unsigned char)(bits >> 8 * j);
    }
  }
  return 84 + (size_t)50 * n;
}

static void test_stl_binary(void **state) {
  (void)state;
  unsigned char data[84 + 100 + 1];
  asi_mesh mesh;
  as_error error;
  const size_t size = make_binary(data, 2, two);
  assert_int_equal(asi_mesh_parse((const char *)data, size, "b.stl", &mesh, &error), AS_OK);
  expect(&mesh, two, 2);
  free(mesh.corner);
  // One byte more or less is no binary file, and this one no text either.
  data[size] = '\0';
  assert_int_equal(asi_mesh_parse((const char *)data, size - 1, "b.stl", &mesh, &error),
                   AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "b.stl is neither a text nor as long as"));
  const double bad[9] = {0, 0, 0, 1, 0, 0, 0, (double)INFINITY, 0};
  const size_t small = make_binary(data, 1, bad);
  assert_int_equal(asi_mesh_parse((const char *)data, small, "b.stl", &mesh, &error),
                   AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "b.stl: Triangle 1 has a number that is not finite.");
}

static void test_obj(void **state) {
  (void)state;
  static const char text[] = "# a square and a triangle\nmtllib x.mtl\no thing\n"
                             "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
                             "f 1/1/1 2//1 3/1 4\ns off\nf -4 -3 -1\n";
  static const double corners[27] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1,
                                     0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  asi_mesh mesh = parse(text, "c.obj");
  expect(&mesh, corners, 3);
  free(mesh.corner);
}

// ---- bad files ----------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *text, *sentence;
  } bad[] = {
      {"x.stl", "", "x.stl:1: The file ends where `solid` is expected."},
      {"x.stl", "solid\nendsolid\n", "The mesh x.stl has no triangles."},
      {"x.stl", "solid\nfacet normal 0 0 1\nloop", "x.stl:3: `outer` is expected, not \"loop\"."},
      {"x.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2\nvertex",
       "x.stl:4: A number is missing."},
      {"x.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 x3\n",
       "x.stl:4: \"x3\" is no number."},
      {"x.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 1e300\n",
       "x.stl:4: The number 1e300 is too large."},
      {"x.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 3\nendloop\n",
       "x.stl:5: `vertex` is expected, not \"endloop\"."},
      {"x.obj", "v 0 0 0\n", "The mesh x.obj has no triangles."},
      {"x.obj", "v 0 0 0\nf 1 1 2\n", "x.obj:2: There is no vertex 2: up to here there are 1."},
      {"x.obj", "v 0 0 0\nf 1 1 -2\n", "x.obj:2: There is no vertex -2: up to here there are 1."},
      {"x.obj", "v 0 0 0\nf 1 1 0\n", "x.obj:2: There is no vertex 0: up to here there are 1."},
      {"x.obj", "v 0 0 0\nf 1 1\n", "x.obj:2: A face with 2 corners."},
      {"x.obj", "v 0 0 0\nf 1 a 1\n", "x.obj:2: \"a\" is no vertex."},
      {"x.obj", "v 0 nan 0\n", "x.obj:1: \"nan\" is no number."},
      {"x.obj", "f 9223372036854775807 99999999999999999999999 1\n",
       "x.obj:1: There is no vertex 9223372036854775807: up to here there are 0."},
      {"x.ply", "ply\n", "The mesh x.ply does not end in .stl or .obj."},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    asi_mesh mesh;
    as_error error = {.message = ""};
    assert_int_equal(asi_mesh_parse(bad[i].text, strlen(bad[i].text), bad[i].name, &mesh, &error),
                     AS_ERR_ARGUMENT);
    assert_string_equal(error.message, bad[i].sentence);
    assert_null(mesh.corner);
  }
}

static void test_too_many(void **state) {
  (void)state;
  static const char line[] = "f 1 1 1 1 1 1 1 1 1 1 1 1\n"; // ten triangles
  const size_t n = ASI_MOST_TRIANGLES / 10 + 1, width = sizeof line - 1;
  char *text = malloc(8 + n * width + 1);
  assert_non_null(text);
  memcpy(text, "v 0 0 0\n", 8);
  for (size_t i = 0; i < n; ++i) memcpy(text + 8 + i * width, line, width);
  text[8 + n * width] = '\0';
  asi_mesh mesh;
  as_error error;
  assert_int_equal(asi_mesh_parse(text, 8 + n * width, "x.obj", &mesh, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "x.obj:50002: More than 500000 triangles; simplify the mesh.");
  assert_int_equal(asi_mesh_parse(text, 8 + (n - 1) * width, "x.obj", &mesh, &error),
                   AS_ERR_ARGUMENT);
  text[8 + (n - 1) * width] = '\0';
  assert_int_equal(asi_mesh_parse(text, 8 + (n - 1) * width, "x.obj", &mesh, &error), AS_OK);
  assert_int_equal(mesh.n, ASI_MOST_TRIANGLES);
  free(mesh.corner);
  free(text);
}

// ---- in model files -----------------------------------------------------------------------------------

static void test_in_a_model(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/everything.yaml", NULL, 0);
  const as_shape *mesh = NULL;
  for (int i = 0; i < m->n_shapes; ++i)
    if (m->shapes[i].kind == AS_SHAPE_MESH) mesh = &m->shapes[i];
  if (mesh == NULL) fail_msg("the mesh is lost");
  assert_int_equal(mesh ? mesh->n_triangles : 0, 4);
  assert_near("scaled", mesh ? (double)mesh->triangles[4] : 0.0, 0.1, 1e-8); // 100 mm
  as_machine_destroy(m);
}

static void test_missing(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\nbodies:\n  a:\n    type: point\n    mass: 1\n    shapes:\n"
      "      - {type: mesh, file: nothing.stl}\n";
  as_machine *m = NULL;
  as_messages messages;
  assert_int_equal(as_machine_parse(text, sizeof text - 1, "model.yaml", NULL, 0, &m, &messages),
                   AS_ERR_FILE);
  assert_string_equal(messages.message[0].text,
                      "model.yaml:7:9: error: bodies.a.shapes.0: The mesh nothing.stl cannot be "
                      "opened: No such file or directory.");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stl_text),   cmocka_unit_test(test_several_solids),
      cmocka_unit_test(test_stl_binary), cmocka_unit_test(test_obj),
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_too_many),
      cmocka_unit_test(test_in_a_model), cmocka_unit_test(test_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
