/// .tir files: what is read, units, warnings, each mistake on its line; tyres and roads in model files, and what they refuse.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"
#include "machines.h"
#include "rig.h"
#include "tyres.h"

#define CORE                                                                                       \
  "PROPERTY_FILE_FORMAT = 'PAC2002'\nUNLOADED_RADIUS = 0.3\nVERTICAL_STIFFNESS = 2e5\nFNOMIN = "   \
  "4000\nPCX1 = 1.6\nPDX1 = 1\nPKX1 = 20\nPCY1 = 1.3\nPDY1 = 1\nPKY1 = -20\nPKY2 = 2\n"
enum { CORE_LINES = 11 };

typedef struct told {
  int n;
  char text[10][400];
} told;

static void note(const char *sentence, void *user) {
  told *all = user;
  if (all->n < 10) snprintf(all->text[all->n++], sizeof all->text[0], "%s", sentence);
}

static as_status parse(const char *text, as_tyre *out, told *all, as_error *error) {
  all->n = 0;
  return as_tyre_parse(text, strlen(text), "x.tir", note, all, out, error);
}

/// Defaults, units, cases, comments, tables that are passed over.
static void test_read(void **state) {
  (void)state;
  as_tyre t;
  as_error error;
  told all;
  if (parse("$ a comment\n[units]\nlength = 'mm' ! here too\nFORCE = "
            "\"kN\"\nANGLE='degrees'\r\nMASS = 'kg'\nTIME "
            "= 'second'\n(COMMENTS)\n{comment_string}\n'no key here'\n[MODEL]\nfittyp = "
            "6\nUse_Mode = 3\n"
            "TYRESIDE = 'Right'\nLONGVL=16600\nunloaded_radius = 344.\nVERTICAL_STIFFNESS = 0.28\n"
            "VERTICAL_DAMPING=5D-4\nFNOMIN = 4.85 $ kN\n[SHAPE]\n{radial width}\n1.0 0.0\n1.0 "
            "0.4\n[X]\n"
            "PCX1 = 1.6\nPDX1 = 1\nPKX1 = 20\nPCY1 = 1.3\nPDY1 = 1\nPKY1 = -20\nPKY2 = +2e0\n",
            &t, &all, &error))
    fail_msg("%s", error.message);
  assert_int_equal(all.n, 0);
  assert_near("R", t.UNLOADED_RADIUS, 0.344, 1e-15);
  assert_near("k", t.VERTICAL_STIFFNESS, 280000.0, 1e-8);
  assert_near("c", t.VERTICAL_DAMPING, 500.0, 1e-10);
  assert_near("FNOMIN", t.FNOMIN, 4850.0, 1e-10);
  assert_near("LONGVL", t.LONGVL, 16.6, 1e-13);
  assert_near("VXLOW", t.VXLOW, 1.0, 0.0);
  assert_near("LFZO", t.LFZO, 1.0, 0.0);
  assert_near("QSY1", t.QSY1, 0.0, 0.0);
  assert_true(t.measured_right && t.steady && t.mode == 3 && isinf(t.FZMAX) && isnan(t.PTX1));
}

static void test_modes(void **state) {
  (void)state;
  as_tyre t;
  as_error error;
  told all;
  assert_int_equal(parse(CORE, &t, &all, &error), AS_OK);
  assert_true(t.mode == 4 && !t.steady && !t.measured_right);
  assert_int_equal(parse(CORE "USE_MODE = 12\n", &t, &all, &error), AS_OK);
  assert_true(t.mode == 2 && !t.steady);
}

static void test_warnings(void **state) {
  (void)state;
  as_tyre t;
  as_error error;
  told all;
  assert_int_equal(parse(CORE
                         "PPX1 = 0\nPPY2 = 0.3\nQPZ1 = 0.1\nMY_KEY = 7\nPDXP1 = 0.4\nQSX12 = 1\n"
                         "[UNITS]\nSPEED = 'kph'\n",
                         &t, &all, &error),
                   AS_OK);
  assert_int_equal(all.n, 4);
  assert_string_equal(all.text[0],
                      "x.tir:13: PPY2 depends on the pressure, which is not computed with.");
  assert_string_equal(all.text[1],
                      "x.tir:14: QPZ1 depends on the pressure, which is not computed with.");
  assert_string_equal(all.text[2], "x.tir:15: the key MY_KEY is not known and passed over.");
  assert_string_equal(all.text[3], "x.tir:19: the unit of SPEED is passed over.");
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } wrong[] = {
      {"", "x.tir:0: the file ends without PROPERTY_FILE_FORMAT"},
      {"PROPERTY_FILE_FORMAT = 'SWIFT'\n", "the format of this tyre is \"SWIFT\""},
      {"FITTYP = 61\n", "x.tir:1: the format of this tyre is FITTYP 61"},
      {CORE "PCX1 = 2\n", "x.tir:12: PCX1 is given twice."},
      {CORE "TYRESIDE='LEFT'\nTYRESIDE='LEFT'\n", "x.tir:13: TYRESIDE is given twice."},
      {CORE "PEX1 = abc\n", "x.tir:12: \"abc\", the value of PEX1, is no number."},
      {CORE "PEX1 = 1e999\n", "is no number"},
      {CORE "PEX1 = nan\n", "is no number"},
      {CORE "PEX1 =\n", "x.tir:12: PEX1 has no value."},
      {CORE "= 4\n", "x.tir:12: there is no key"},
      {CORE "rubbish\n", "x.tir:12: \"rubbish\" is neither a section nor KEY = VALUE."},
      {CORE "[OPEN\n", "x.tir:12: a section's name ends with ]"},
      {CORE "FZMAX = -1\n", "x.tir:12: FZMAX is -1; it must be positive."},
      {CORE "VERTICAL_DAMPING = -1\n", "must not be negative"},
      {CORE "LMUY = 0\n", "LMUY is 0; it must not be zero."},
      {CORE "USE_MODE = 5\n", "x.tir:12: USE_MODE is 5"},
      {CORE "USE_MODE = 114\n", "USE_MODE is 114"},
      {CORE "TYRESIDE = 'TOP'\n", "x.tir:12: TYRESIDE is \"TOP\"; it must be LEFT or RIGHT."},
      {CORE "[UNITS]\nLENGTH = 'inch'\n", "x.tir:13: the unit \"inch\" of LENGTH is not known"},
      {CORE "[UNITS]\nMASS = 'pound'\n", "the unit \"pound\" of MASS"},
      {CORE "[UNITS]\nTIME = 'second'\nTIME = 'second'\n", "x.tir:14: TIME is given twice."},
      {"PROPERTY_FILE_FORMAT = 'MF_05'\nUNLOADED_RADIUS = -0.3\n",
       "x.tir:2: UNLOADED_RADIUS is -0.3; it must be positive."},
      {"PROPERTY_FILE_FORMAT = 'MF_05'\nFNOMIN = 1\n",
       "x.tir:2: the file ends without UNLOADED_RADIUS"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    as_tyre t = {.mode = 77};
    as_error error;
    told all;
    assert_int_equal(parse(wrong[i].text, &t, &all, &error), AS_ERR_FILE);
    if (strstr(error.message, wrong[i].says) == NULL)
      fail_msg("\"%s\" instead of \"%s\"", error.message, wrong[i].says);
    assert_int_equal(t.mode, 77); // nothing was written
  }
  as_tyre t;
  as_error error;
  assert_int_equal(as_tyre_parse("PCX1 = 1\0", 9, "x.tir", NULL, NULL, &t, &error), AS_ERR_FILE);
  assert_int_equal(as_tyre_read("/nothing.tir", NULL, NULL, &t, &error), AS_ERR_FILE);
  assert_int_equal(as_tyre_read("/dev/zero", NULL, NULL, &t, &error), AS_ERR_FILE);
}

// ---- model files ------------------------------------------------------------------------------------

#define FOLDER SOURCE_DIR "/tests/files/tyres/"
#define HEAD "alphastep: 1\nbodies:\n  w: {mass: 20, inertia: [1, 1, 1], position: [0, 0, 0.33]}\n"

static as_machine *load(const char *text, as_messages *messages) {
  as_machine *m = NULL;
  (void)as_machine_parse(text, strlen(text), FOLDER "model.yaml", NULL, 0, &m, messages);
  return m;
}

static void test_model_refused(void **state) {
  (void)state;
  static as_messages messages;
  static const struct {
    const char *text, *says;
  } wrong[] = {{HEAD "forces: {t: {type: tyre, wheel: w}}\n", "missing: \"file\""},
               {HEAD "forces: {t: {type: tyre, wheel: w, file: no.tir}}\n",
                "no.tir cannot be read: No such file"},
               {HEAD "forces: {t: {type: tyre, wheel: w, file: car.csv}}\n", "car.csv:1: "},
               {HEAD "forces: {t: {type: tyre, wheel: w, file: car.tir, side: top}}\n",
                "\"top\" is none of left, right"},
               {HEAD "forces: {t: {type: tyre, wheel: ground, file: car.tir}}\n",
                "The wheel of the tyre \"t\" is the ground"},
               {HEAD "forces: {t: {type: tyre, wheel: w, file: car.tir, road: r}}\n",
                "there is no road \"r\""},
               {HEAD "forces: {t: {type: tyre, wheel: w, file: car.tir, crown_radius: 0.4}}\n",
                "The crown radius of the tyre \"t\" is 0.4 m"},
               {HEAD "forces: {t: {type: tyre, wheel: w, file: car.tir, axis: [0, 0, 0, 1]}}\n",
                "must be 3 numbers"},
               {HEAD "roads: {r: {type: plane, normal: [1, 0, 0]}}\n", "it must point upwards"},
               {HEAD "roads: {r: {type: formula, height: 'x*t'}}\n", "t cannot be used here"},
               {HEAD "roads: {r: {type: formula, height: 'x*k'}}\n", "\"k\""},
               {HEAD "tables: {f: {points: [[0, 0], [1, 1], [2, 0]], interpolation: "
                     "linear}}\nroads: {r: {type: formula, height: 'f(x)'}}\n",
                "a table with straight pieces: its slope would jump"},
               {HEAD "roads: {r: {type: rough}}\n", "missing: \"class\""},
               {HEAD "roads: {r: {type: rough, class: Z}}\n", "\"Z\" is none of A, B"},
               {HEAD "roads: {r: {type: bump, height: 0.1}}\n", "missing: \"length\""},
               {HEAD "roads: {r: {type: table, height: 'x'}}\n", "needs a table of points"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    as_machine *m = load(wrong[i].text, &messages);
    assert_null(m);
    if (strstr(messages.message[0].text, wrong[i].says) == NULL)
      fail_msg("\"%s\" instead of \"%s\"", messages.message[0].text, wrong[i].says);
  }
}

/// A table that ends before the wheel: said where it is evaluated.
static void test_small_table(void **state) {
  (void)state;
  static as_messages messages;
  as_machine *m =
      load(HEAD "roads: {r: {type: table, height: {x: [1, 2], y: [-1, 1], z: [[0, 0], [0, 0]]}}}\n"
                "forces: {t: {type: tyre, wheel: w, file: car.tir, road: r}}\n",
           &messages);
  if (m == NULL) fail_msg("%s", messages.message[0].text);
  as_error error;
  as_integrator *integrator = NULL;
  as_integrator_def def = as_default_integrator_def();
  def.step = 0.01;
  if (as_integrator_create(as_model_problem(m->model), &def, &integrator, &error))
    fail_msg("%s", error.message);
  assert_int_not_equal(as_integrator_start(integrator, as_model_initial(m->model), NULL, &error),
                       AS_OK);
  assert_non_null(strstr(error.message, "its road has no height at x = 0 m, y = 0 m"));
  as_integrator_destroy(integrator);
  as_machine_destroy(m);
}

/// In a mirrored group the side flips by itself, given or not; and roads of every kind are read.
static void test_mirrored(void **state) {
  (void)state;
  static as_messages messages;
  static const char *const sides[] = {"", ", side: left", ", side: right"};
  for (int i = 0; i < 3; ++i) {
    char text[2000];
    snprintf(
        text, sizeof text,
        "alphastep: 1\nroads:\n  a: {type: rough, class: C, start: 3}\n  b: {type: bump, height: "
        "0.02, length: 0.5, start: 3}\n  c: {type: formula, height: 0.1*x + 0.02*y}\n  d: {type: "
        "table, height: {x: [-9, 9], y: "
        "[-9, 9], z: [[0, 0], [0, 0]]}}\n  e: {type: plane, normal: [0.1, 0, 1]}\nrepeat:\n  - "
        "mirror: y\n    names: "
        "[left, right]\n    bodies: {'${side}': {mass: 20, inertia: [1, 1, 1], position: [0, 0.8, "
        "0.33], velocity: [9, 0.5, 0], angular_velocity: [0, 28, 0]}}\n    forces: {'t ${side}': "
        "{type: tyre, wheel: '${side}', file: all_terms.tir%s, axis: [0, 1, 0.1]}}\n",
        sides[i]);
    as_machine *m = load(text, &messages);
    if (m == NULL) fail_msg("%s", messages.message[0].text);
    const as_initial *initial = as_model_initial(m->model);
    double x[4] = {0.01, 0.02, 0.01, -0.02};
    const as_state s = {.q = initial->q, .v = initial->v, .x = x};
    const as_tyre_contact l = tyre_look(m->model, &s, (as_force_id){0}),
                          r = tyre_look(m->model, &s, (as_force_id){1});
    assert_true(fabs(l.force[1]) > 100.0);
    assert_near("Fx", r.force[0], l.force[0], 1e-9 * fabs(l.force[0]));
    assert_near("Fy", r.force[1], -l.force[1], 1e-9 * fabs(l.force[1]));
    assert_near("camber", r.camber, -l.camber, 1e-12);
    assert_near("Mz", r.moment[2], -l.moment[2], 1e-8);
    as_machine_destroy(m);
  }
}

/// Formulas of blocks and of forces read what a tyre shows: derivatives by positions, velocities and states.
static void test_formulas(void **state) {
  (void)state;
  static as_messages messages;
  static const char *const slips[] = {"transient", "steady"};
  for (int i = 0; i < 2; ++i) {
    char text[3000];
    snprintf(
        text, sizeof text,
        "alphastep: 1\nbodies: {w: {mass: 20, inertia: [1, 2, 1], position: [0, 0, 0.33], "
        "velocity: [9, "
        "0.5, 0], angular_velocity: [0.1, 28, 0.2]}}\nforces:\n  t: {type: tyre, wheel: w, file: "
        "all_terms.tir, slip: %s, center: [0.01, 0, 0.34]}\n  l: {type: load, body: w, force: "
        "[0.1*forces.t.contact_force.z, "
        "'1000*forces.t.camber + 1e4*forces.t.deflection', "
        "'30*forces.t.contact_velocity.y*forces.t.rolling_radius + 0.2*blocks.a']}\nblocks:\n  a: "
        "{type: signal, formula: "
        "'forces.t.contact_force.x + 0.5*forces.t.contact_force.y*forces.t.slip_angle'}\n  b: "
        "{type: state, rate: "
        "'forces.t.slip + 0.01*forces.t.contact_moment.z + 30*forces.t.string.y - blocks.b'}\n  c: "
        "{type: signal, formula: "
        "'0.1*forces.t.contact_moment.x*forces.t.contact_moment.y + forces.t.string.x + "
        "forces.t.contact_velocity.x'}\n",
        slips[i]);
    as_machine *m = load(text, &messages);
    if (m == NULL) fail_msg("%s", messages.message[0].text);
    const as_initial *initial = as_model_initial(m->model);
    as_check_def def = as_default_check_def();
    as_error error;
    double y[2] = {300.0, 2.0}, x[3] = {0.4, 0.01, -0.02};
    def.near = (as_point){.q = initial->q, .v = initial->v, .x = x, .y = y};
    def.spread = 1e-4;
    def.increment = 2e-5;
    def.tolerance = 2e-6;
    if (as_problem_check(as_model_problem(m->model), &def, NULL, &error))
      fail_msg("%s: %s", slips[i], error.message);
    as_machine_destroy(m);
  }
  as_machine *m =
      load(HEAD "forces:\n  t: {type: tyre, wheel: w, file: car.tir}\n  l: {type: load, body: "
                "w, force: [forces.t.slip, 0, 0]}\n",
           &messages);
  assert_null(m);
  assert_non_null(strstr(messages.message[0].text, "it depends on the tyre's states"));
}

/// Reports draw a wheel with a tyre, about its axis, where its body has no shapes of its own.
static void test_drawn(void **state) {
  (void)state;
  static as_messages messages;
  for (int own = 0; own < 2; ++own) {
    char text[600], *scene = NULL;
    snprintf(text, sizeof text,
             "alphastep: 1\nbodies: {w: {mass: 20, inertia: [1, 1, 1], position: [0, 0, "
             "0.33]%s}}\nforces: {t: "
             "{type: tyre, wheel: w, file: car.tir, axis: [1, 0, 0]}}\n",
             own ? ", shapes: [{type: sphere, radius: 0.3}]" : "");
    as_machine *m = load(text, &messages);
    if (m == NULL) fail_msg("%s", messages.message[0].text);
    as_error error;
    assert_int_equal(as_scene_text(m, &scene, &error), AS_OK);
    const char *wheel = strstr(scene, "\"kind\":\"wheel\"");
    assert_int_equal(wheel != NULL, own == 0);
    if (wheel) {
      double q[4];
      assert_int_equal(sscanf(strstr(wheel, "\"quaternion\":["), "\"quaternion\":[%lf,%lf,%lf,%lf",
                              &q[0], &q[1], &q[2], &q[3]),
                       4);
      assert_near("axis", fabs(2.0 * (q[1] * q[3] + q[0] * q[2])), 1.0, 1e-12); // R z along x
      assert_non_null(strstr(wheel, "\"radius\":0.344"));
    }
    free(scene);
    as_machine_destroy(m);
  }
}

/// The strip of the scene of a wheel at 10 m/s on a bump, or none; how many there are into *n. To be freed.
static char *draw_road(const char *ground, int *n) {
  static as_messages messages;
  char text[700], *scene = NULL;
  as_error error;
  snprintf(text, sizeof text,
           "alphastep: 1\nbodies: {w: {mass: 20, inertia: [1, 1, 1], position: [0, 0, 0.33], "
           "velocity: [10, 0, 0]}}\n"
           "roads: {bump: {type: bump, height: 0.02, length: 0.5, start: 3}}\n"
           "forces: {t: {type: tyre, wheel: w, file: car.tir, road: bump}, o: {type: tyre, wheel: "
           "w, file: car.tir, "
           "road: bump}}\n"
           "%ssimulate: {t_end: 3, step: 1e-3}\n",
           ground);
  as_machine *m = load(text, &messages);
  if (m == NULL) fail_msg("%s", messages.message[0].text);
  assert_int_equal(as_scene_text(m, &scene, &error), AS_OK);
  as_machine_destroy(m);
  *n = 0;
  for (const char *at = scene; (at = strstr(at, "\"kind\":\"strip\"")) != NULL; ++at) ++*n;
  return scene;
}

/// A road is drawn once, as far as the wheel rolls and as high as it is, unless the ground has a strip.
static void test_road_drawn(void **state) {
  (void)state;
  int n;
  char *scene = draw_road("", &n);
  assert_int_equal(n, 1);
  const char *at =
      strstr(strstr(scene, "\"kind\":\"strip\""), "\"points\":[") + strlen("\"points\":[");
  double x = 0.0, y, z, top = 0.0, last = 0.0, first = (double)NAN;
  for (int used = 0; sscanf(at, "[%lf,%lf,%lf]%n", &x, &y, &z, &used) == 3;
       at += used + (at[used] == ',')) {
    if (isnan(first)) first = x;
    assert_near("middle", y, 0.0, 1e-12);
    const double bump =
        x > 3.0 && x < 3.5 ? 0.01 * (1.0 - cos(4.0 * 3.14159265358979 * (x - 3.0))) : 0.0;
    assert_near("height", z, bump, 1e-6);
    top = fmax(top, z);
    last = x;
  }
  assert_near("begins", first, -5.0, 1e-9);
  assert_near("ends", last, 30.0, 1e-9);
  assert_true(top > 0.019);
  free(scene);
  scene = draw_road("shapes: [{type: strip, points: [[0, 0, 0], [9, 0, 0]], width: 2}]\n", &n);
  assert_int_equal(n, 1);
  assert_non_null(strstr(scene, "\"points\":[[0,0,0],[9,0,0]]"));
  free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read),          cmocka_unit_test(test_modes),
      cmocka_unit_test(test_warnings),      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_model_refused), cmocka_unit_test(test_small_table),
      cmocka_unit_test(test_mirrored),      cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_drawn),         cmocka_unit_test(test_road_drawn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
