/// Tables of two variables in formulas: against surfaces as laws use them, products that they meet exactly, and differences.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "elements/surface.h"

static as_machine *parse_at(const char *path, const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), path, NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}
static as_machine *parse(const char *text) { return parse_at("test.yaml", text); }

static void expect(const char *text, int line, int column, const char *words) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages) == AS_OK)
    fail_msg("no complaint, but there should be: %s", words);
  if (strstr(messages.message[0].text, words) && messages.message[0].line == line &&
      (column == 0 || messages.message[0].column == column))
    return;
  fail_msg("%d:%d: %s, not: %s", messages.message[0].line, messages.message[0].column,
           messages.message[0].text, words);
}

/// The block `l` at a time.
static double at(const as_machine *machine, double t) {
  as_integrator *integrator = NULL;
  as_error error;
  as_integrator_def def = machine->simulation.integrator;
  const as_model *m = machine->model;
  def.step = 0.05;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      (t > 0.0 && as_integrator_advance(integrator, t, &error)))
    fail_msg("%s", error.message);
  const double y =
      as_model_signal_value(m, as_integrator_state(integrator), as_model_find_signal(m, "l", NULL));
  as_integrator_destroy(integrator);
  return y;
}

static void assert_near(double got, double wanted, double tolerance) {
  if (!(fabs(got - wanted) <= tolerance)) fail_msg("%.17g, not %.17g", got, wanted);
}

static const double xs[] = {-1.0, 0.5, 2.0, 2.5}, ys[] = {0.0, 1.0, 3.0},
                    zs[] = {1, 2, 0, 3, -1, 4, 2, 2, 1, 0, 5, 2};
#define GRID "grid: [[0, 0, 1, 3], [-1, 1, 2, 0], [0.5, 3, -1, 4], [2, 2, 2, 1], [2.5, 0, 5, 2]]"
#define BODY "alphastep: 1\nbodies: {c: {type: point, mass: 2, position: [0.3, 0.7, 0]}}\n"

/// The same surface by the code that laws use.
static asi_surface *surface(as_interpolation how) {
  asi_surface *s = NULL;
  as_error error;
  const as_surface def = {.x = xs, .y = ys, .z = zs, .nx = 4, .ny = 3, .interpolation = how};
  if (asi_surface_make(&def, "It", &s, &error)) fail_msg("%s", error.message);
  return s;
}

static void test_values(void **state) {
  (void)state;
  for (int monotone = 0; monotone < 2; ++monotone) {
    char text[1024];
    snprintf(text, sizeof text,
             BODY "tables: {map: {%s, interpolation: %s}}\nblocks:\n"
                  "  l: {type: lookup_two, x: 4*t - 1.5, y: 4 - 5*t, table: map}\n",
             GRID, monotone ? "monotone" : "linear");
    as_machine *machine = parse(text);
    asi_surface *s = surface(monotone ? AS_MONOTONE : AS_LINEAR);
    for (double t = 0.0; t < 1.21; t += 0.1) {
      double z[3];
      asi_surface_evaluate(s, 4.0 * t - 1.5, 4.0 - 5.0 * t, z);
      assert_near(at(machine, t), z[0], 1e-12);
    }
    free(s);
    as_machine_destroy(machine);
  }
}

/// First derivatives are those of laws; second ones are differences of them, also beyond the ends.
static void test_derivatives(void **state) {
  (void)state;
  const double d = 1e-5;
  for (int monotone = 0; monotone < 2; ++monotone) {
    asi_surface *s = surface(monotone ? AS_MONOTONE : AS_LINEAR);
    for (double x = -1.63; x < 3.5; x += 0.37)
      for (double y = -0.71; y < 4.0; y += 0.43) {
        double all[6], z[3], more[2][3], less[2][3];
        asi_surface_all(s, x, y, all);
        asi_surface_evaluate(s, x, y, z);
        asi_surface_evaluate(s, x + d, y, more[0]);
        asi_surface_evaluate(s, x - d, y, less[0]);
        asi_surface_evaluate(s, x, y + d, more[1]);
        asi_surface_evaluate(s, x, y - d, less[1]);
        for (int i = 0; i < 3; ++i) assert_near(all[i], z[i], 1e-12);
        assert_near(all[3], (more[0][1] - less[0][1]) / (2.0 * d), 1e-6);
        assert_near(all[4], (more[0][2] - less[0][2]) / (2.0 * d), 1e-6);
        assert_near(all[4], (more[1][1] - less[1][1]) / (2.0 * d), 1e-6);
        assert_near(all[5], (more[1][2] - less[1][2]) / (2.0 * d), 1e-6);
      }
    free(s);
  }
}

/// In forces, laws, blocks and conditions; a product is met exactly, so it moves as without a table.
static void test_machines(void **state) {
  (void)state;
  static const char *const force[] = {"times(bodies.c.position.x, bodies.c.velocity.y + t)",
                                      "bodies.c.position.x*(bodies.c.velocity.y + t)"};
  double q[2][3];
  for (int k = 0; k < 2; ++k) {
    char text[2048];
    snprintf(text, sizeof text,
             BODY "tables: {times: {grid: [[0, -1, 0.5, 3], [-2, 2, -1, -6], [1, -1, 0.5, 3], [2, "
                  "-2, 1, 6]]}, bent: {%s}}\n"
                  "parameters: {a: \"times(2, 3)\"}\n"
                  "forces:\n  f: {type: load, body: c, force: [\"%s - a\", \"%s\", 0]}\n"
                  "  g: {type: load, body: c, force: [0, 0, 1], factor: \"times(t, 1 + t)\"}\n"
                  "blocks:\n  l: {type: state, rate: \"%s\"}\n"
                  "  b: {type: signal, formula: \"bent(bodies.c.position.x, blocks.l)\"}\n",
             GRID, force[k], force[k], force[k]);
    as_machine *machine = parse(text);
    const as_model *m = machine->model;
    as_integrator *integrator = NULL;
    as_integrator_def def = machine->simulation.integrator;
    as_check_def check = as_default_check_def();
    as_error error;
    const as_initial *initial = as_model_initial(m);
    check.near =
        (as_point){.t = 0.3, .q = initial->q, .v = initial->v, .x = initial->x, .u = initial->u};
    check.spread = 0.2;
    check.tolerance = 2e-6;
    def.step = 0.02;
    if (as_problem_check(as_model_problem(m), &check, NULL, &error) ||
        as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
        as_integrator_start(integrator, initial, NULL, &error) ||
        as_integrator_advance(integrator, 1.0, &error))
      fail_msg("%s", error.message);
    memcpy(q[k], as_integrator_state(integrator)->q, sizeof q[k]);
    // a = 6 and z = the integral of the integral of t (1 + t)/2
    assert_near(q[k][2], 0.5 * (1.0 / 6.0 + 1.0 / 12.0), 1e-3);
    as_integrator_destroy(integrator);
    as_machine_destroy(machine);
  }
  for (int i = 0; i < 3; ++i) assert_near(q[0][i], q[1][i], 1e-9);
}

static void test_file(void **state) {
  (void)state;
  char folder[] = "/tmp/alphastep-lookup-XXXXXX", path[256], model[256];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/map.csv", folder);
  snprintf(model, sizeof model, "%s/model.yaml", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("# speed over torque\n0,0,1,3\n-1,1,2,0\n0.5,3,-1,4\n2,2,2,1\n2.5,0,5,2\n", file);
  fclose(file);
  as_machine *one = parse_at(model, BODY "tables: {map: {grid_file: map.csv}}\nblocks:\n"
                                         "  l: {type: lookup_two, x: 1.1, y: 0.7, table: map}\n");
  as_machine *other = parse(BODY "tables: {map: {" GRID "}}\nblocks:\n"
                                 "  l: {type: lookup_two, x: 1.1, y: 0.7, table: map}\n");
  assert_true(at(one, 0.0) == at(other, 0.0) && at(one, 0.0) != 0.0);
  as_machine_destroy(one);
  as_machine_destroy(other);
  unlink(path);
  rmdir(folder);
}

static void test_mistakes(void **state) {
  (void)state;
#define USE(text)                                                                                  \
  BODY "tables: {map: {" GRID "}, line: {points: [[0, 1], [1, 2]]}}\nblocks: {l: {type: " text     \
       "}}\n"
  expect(USE("signal, formula: map(1)"), 4, 42, "takes 2 numbers");
  expect(USE("signal, formula: \"line(1, 2)\""), 4, 0, "takes 1 number");
  expect(USE("lookup_two, x: 1, y: 2, table: line"), 4, 0, "takes 1 number");
  expect(USE("lookup_two, x: 1, table: map"), 4, 0, "missing");
  expect(BODY "tables: {map: {grid: [[0, 1, 2], [1, 2, 3]]}}\n", 3, 0, "at least 3");
  expect(BODY "tables: {map: {grid: [[0, 1], [1, 2], [2, 2]]}}\n", 3, 0, "two columns");
  expect(BODY "tables: {map: {grid: [[0, 1, 2], [1, 2, 3], [1, 2, 3]]}}\n", 3, 0,
         "does not increase");
  expect(BODY "tables: {map: {grid: [[0, 1, 2], [1, 2, 3], [2, 2]]}}\n", 3, 0, "3");
  expect(BODY "tables: {map: {" GRID ", interpolation: spline}}\n", 3, 0, "linear or monotone");
  expect(BODY "tables: {map: {" GRID ", points: [[0, 1], [1, 2]]}}\n", 3, 0, "points");
  expect(BODY "tables: {map: {grid_file: none.csv}}\n", 3, 0, "cannot be read");
  expect("alphastep: 1\nbodies: {c: {mass: 2, inertia: [1, 1, 1]}}\ntables: {map: {" GRID "}}\n"
         "joints:\n  h: {type: revolute, bodies: [ground, c], point: [0, 0, 0], axis: [0, 0, 1]}\n"
         "  m: {type: motion, joint: h, law: \"map(t, 1)\"}\n",
         6, 0, "it uses a table of two variables: its acceleration would jump");
}

static void test_builder(void **state) {
  (void)state;
  as_error error;
  as_builder *b = NULL;
  const as_surface good = {.x = xs, .y = ys, .z = zs, .nx = 4, .ny = 3, .interpolation = AS_LINEAR},
                   formula = {.formula = "1"};
  if (as_builder_create(&(as_model_def){.gravity = {0, 0, 0}}, &b, &error) ||
      as_builder_add_surface(b, "map", &good, &error))
    fail_msg("%s", error.message);
  assert_int_equal(as_builder_add_surface(b, "map", &good, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_builder_add_surface(b, "other", &formula, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_builder_add_surface(b, "t", &good, &error), AS_ERR_ARGUMENT);
  as_signal_def def = as_default_signal_def();
  def.block = "z";
  def.formula = "map(0.5, 1) + map(2.5, 3)";
  as_body_def body = as_default_body_def();
  body.kind = AS_BODY_POINT;
  body.mass = 1.0;
  as_model *m = NULL;
  as_integrator *integrator = NULL;
  as_integrator_def how = as_default_integrator_def();
  if (as_builder_add_body(b, &body, NULL, &error) || as_builder_add_signal(b, &def, NULL, &error) ||
      as_builder_build(b, &m, &error) ||
      as_integrator_create(as_model_problem(m), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  as_builder_destroy(b);
  assert_near(as_integrator_state(integrator)->y[0], -1.0 + 2.0, 1e-14);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),   cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_machines), cmocka_unit_test(test_file),
      cmocka_unit_test(test_mistakes), cmocka_unit_test(test_builder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
