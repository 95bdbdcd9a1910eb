/// Beams from files: a blade and a rod built a second time in C; lines of every kind where they should be; axes of sections; channels by
/// their names, in CSV and HDF5 alike; nodes in formulas, joints, sensors and events.
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
#include "alphastep/beam.h"
#include "alphastep/io.h"
#include "alphastep/results.h"
#include "beams.h"
#include "elements/vector.h"
#include "files.h"
#include "machines.h"
#include "model/model.h"
#include "rig.h"

#define PI 3.14159265358979323846

// ---- twins ------------------------------------------------------------------------------------------

#define BODIES                                                                                     \
  "alphastep: 1\ngravity: [0, 0, -9.81]\nparameters: {n: 4, width: 0.03, push: 20}\n"              \
  "tables:\n  taper: {points: [[0, 1], [1, 0.6], [2, 0.5]], interpolation: linear}\n"              \
  "bodies:\n"                                                                                      \
  "  hub: {mass: 2, inertia: [0.1, 0.2, 0.15], position: [-0.1, 0, 0.05], angular_velocity: [0, "  \
  "0, 3]}\n"                                                                                       \
  "  ring: {mass: 0.5, inertia: [0.01, 0.01, 0.01], position: [3, 1, 0], space: se3}\n"

static const char twins[] = BODIES
    "beams:\n"
    "  blade:\n"
    "    line: {points: [[0, 0, 0], [2, 0, 0]]}\n"
    "    elements: n\n"
    "    section: {type: rectangle, width: \"width*(1 - 0.2*s)\", height: \"0.01*taper(s)\"}\n"
    "    material: aluminium\n"
    "    orientation: [0, 1, 0.5]\n"
    "    twist: 0.3*s\n"
    "    first: hub\n"
    "    damping: 1e-4\n"
    "    load: [0, \"push*(1 - s/2)*sin(3*t)\", 0]\n"
    "    following: [0, 0, 2]\n"
    "    angular_velocity: [0, 0, 3]\n"
    "    about: [-0.1, 0, 0.05]\n"
    "  rod:\n"
    "    line: {type: arc, center: [3, 0, 0], axis: [0, 0, 2], start: [4, 0, 0], angle_deg: 90}\n"
    "    stations: [0, 0.2, 0.5, 1]\n"
    "    section: {type: tube, diameter: 0.04, wall: 0.005}\n"
    "    end_section: {type: tube, diameter: 0.03, wall: 0.004}\n"
    "    E: 70e9\n"
    "    G: 27e9\n"
    "    density: 2700\n"
    "    last: ring\n"
    "    mass: lumped\n"
    "    plain: true\n"
    "    velocity: [0.1, 0, 0]\n"
    "simulate: {t_end: 0.1, step: 1e-3}\n";

static int blade_section(double s, as_beam_section *out, void *user) {
  as_material m;
  as_error error;
  (void)user;
  assert_true(as_material_find("aluminium", &m));
  const double taper = s < 1.0 ? 1.0 - 0.4 * s : 0.6 - 0.1 * (s - 1.0);
  const as_profile p = {AS_PROFILE_RECTANGLE, 0.03 * (1.0 - 0.2 * s), 0.01 * taper, 0.0, 0.0};
  return as_beam_section_of_profile(&p, &m, out, &error);
}

static int rod_section(double s, as_beam_section *out, void *user) {
  const as_material m = {70e9, 27e9, 2700.0};
  as_error error;
  (void)user;
  const double part = s / (PI / 2.0);
  const as_profile p = {AS_PROFILE_TUBE, 0.04 - 0.01 * part, 0.0, 0.005 - 0.001 * part, 0.0};
  return as_beam_section_of_profile(&p, &m, out, &error);
}

static as_model *by_hand(void) {
  as_builder *b = machine_builder(0.0, 0.0, -9.81);
  as_error error;
  as_body_id id[2];
  as_body_def hub = as_default_body_def(), ring = as_default_body_def();
  hub.name = "hub";
  hub.mass = 2.0;
  asi_set(0.1, 0.2, 0.15, hub.inertia);
  asi_set(-0.1, 0.0, 0.05, hub.position);
  asi_set(0.0, 0.0, 3.0, hub.angular_velocity);
  ring.name = "ring";
  ring.mass = 0.5;
  asi_set(0.01, 0.01, 0.01, ring.inertia);
  asi_set(3.0, 1.0, 0.0, ring.position);
  ring.space = AS_SPACE_SE3;
  assert_int_equal(as_builder_add_body(b, &hub, &id[0], &error), AS_OK);
  assert_int_equal(as_builder_add_body(b, &ring, &id[1], &error), AS_OK);
  as_beam_station blade[5], rod[4];
  for (int i = 0; i < 5; ++i) {
    const double s = 0.5 * i, turn = atan2(0.5, 1.0) + 0.3 * s;
    blade[i] = (as_beam_station){.position = {s, 0, 0}, .body = i == 0 ? id[0] : AS_NO_BODY};
    beam_axes((double[3]){1, 0, 0}, (double[3]){0, cos(turn), sin(turn)}, blade[i].quaternion);
  }
  const as_curve load = {.formula = "20*(1 - s/2)*sin(3*t)"}, following = {.constant = 2.0};
  as_beam_def def = as_default_beam_def();
  def.name = "blade";
  def.station = blade;
  def.n_stations = 5;
  def.section_at = blade_section;
  def.damping = 1e-4;
  def.load[1] = &load;
  def.following[2] = &following;
  asi_set(0.0, 0.0, 3.0, def.angular_velocity);
  asi_set(-0.1, 0.0, 0.05, def.about);
  if (as_builder_add_beam(b, &def, NULL, &error)) fail_msg("%s", error.message);
  static const double part[4] = {0.0, 0.2, 0.5, 1.0};
  for (int i = 0; i < 4; ++i) {
    const double a = part[i] * PI / 2.0;
    rod[i] = (as_beam_station){.position = {3.0 + cos(a), sin(a), 0},
                               .body = i == 3 ? id[1] : AS_NO_BODY};
    // z is along the axis of the arc, so y points inwards.
    beam_axes((double[3]){-sin(a), cos(a), 0}, (double[3]){-cos(a), -sin(a), 0}, rod[i].quaternion);
  }
  def = as_default_beam_def();
  def.name = "rod";
  def.station = rod;
  def.n_stations = 4;
  def.section_at = rod_section;
  def.mass = AS_BEAM_LUMPED;
  def.plain = true;
  def.velocity[0] = 0.1;
  if (as_builder_add_beam(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_twins(void **state) {
  (void)state;
  as_machine *m = files_parse(twins);
  as_model *twin = by_hand();
  for (int k = 0; k < 3; ++k) files_same_motion(m->model, twin, rig_methods[k], 1e-3, 20, 1e-9);
  assert_string_equal(as_model_body_name(m->model, (as_body_id){5}), "blade.4");
  assert_int_equal(as_model_beams(m->model), 2);
  as_model_destroy(twin);
  as_machine_destroy(m);
}

// ---- lines ------------------------------------------------------------------------------------------

static as_machine *with_line(const char *line, const char *more) {
  char text[1024];
  snprintf(text, sizeof text,
           "alphastep: 1\nbeams:\n  a:\n    line: %s\n    elements: 4\n    section: {type: circle, "
           "diameter: 0.01}\n    material: steel\n%ssimulate: {t_end: 1}\n",
           line, more);
  return files_parse(text);
}

static void station(const as_machine *m, int i, double x[3], double R[9]) {
  as_beam_state at;
  as_error error;
  const as_initial *start = as_model_initial(m->model);
  const as_state state = {.q = start->q, .v = start->v};
  if (as_model_beam_state(m->model, &state, (as_beam_id){0}, i, &at, &error))
    fail_msg("%s", error.message);
  asi_copy(at.position, x);
  memcpy(R, at.R, 9 * sizeof *R);
  // Unloaded at the start.
  assert_true(asi_norm(at.force) < 1e-3 && asi_norm(at.moment) < 1e-6);
}

static void check_station(const as_machine *m, int i, const double x[3], const double tangent[3],
                          const double y[3]) {
  double at[3], R[9];
  station(m, i, at, R);
  for (int k = 0; k < 3; ++k) {
    assert_near("place", at[k], x[k], 1e-10);
    assert_near("tangent", R[3 * k], tangent[k] / asi_norm(tangent), 1e-10);
    if (y) assert_near("y", R[3 * k + 1], y[k] / asi_norm(y), 1e-10);
  }
}

static void test_lines(void **state) {
  (void)state;
  // Straight, level: z is up; upright: y is the world's.
  as_machine *m = with_line("{points: [[1, 0, 0], [1, 2, 0]]}", "");
  check_station(m, 1, (double[]){1, 0.5, 0}, (double[]){0, 1, 0}, (double[]){-1, 0, 0});
  as_machine_destroy(m);
  m = with_line("{points: [[1, 0, 0], [1, 0, 4]]}", "");
  check_station(m, 3, (double[]){1, 0, 3}, (double[]){0, 0, 1}, (double[]){0, 1, 0});
  as_machine_destroy(m);
  // A helix about an axis beside the origin; equal parts of its length are equal angles.
  m = with_line("{type: helix, center: [0, 1, 0], axis: [0, 0, -1], start: [2, 1, 3], turns: 0.25, "
                "pitch: 8}",
                "");
  for (int i = 0; i <= 4; ++i) {
    const double a = i * PI / 8.0, rise = 8.0 / (2.0 * PI);
    check_station(m, i, (double[]){2 * cos(a), 1 - 2 * sin(a), 3 - rise * a},
                  (double[]){-2 * sin(a), -2 * cos(a), -rise}, (double[]){-cos(a), sin(a), 0});
  }
  as_machine_destroy(m);
  // A parabola by formulas, whose length is known: s = asinh(2u)/4 + u sqrt(1 + 4u^2)/2.
  m = with_line("{type: curve, position: [u, 0, u^2]}", "");
  const double length = asinh(2.0) / 4.0 + sqrt(5.0) / 2.0;
  double x[3], R[9];
  for (int i = 0; i <= 4; ++i) {
    station(m, i, x, R);
    const double u = x[0], s = asinh(2.0 * u) / 4.0 + u * sqrt(1.0 + 4.0 * u * u) / 2.0;
    assert_near("length", s, length * i / 4.0, 1e-10);
    check_station(m, i, (double[]){u, 0, u * u}, (double[]){1, 0, 2 * u}, (double[]){0, 1, 0});
  }
  as_machine_destroy(m);
  // A spline through points of a circle is close to it; of a straight line it is the line.
  m = with_line("{points: [[0, 0, 0], [1, 1, 0], [4, 4, 0]]}", "");
  check_station(m, 2, (double[]){2, 2, 0}, (double[]){1, 1, 0}, (double[]){-1, 1, 0});
  as_machine_destroy(m);
}

static void test_axes(void **state) {
  (void)state;
  as_machine *m = with_line("{points: [[0, 0, 0], [4, 0, 0]]}",
                            "    orientation: [5, 0, 2]\n    twist: \"s/4\"\n");
  for (int i = 0; i <= 4; ++i)
    check_station(m, i, (double[]){i, 0, 0}, (double[]){1, 0, 0},
                  (double[]){0, -sin(i / 4.0), cos(i / 4.0)});
  as_machine_destroy(m);
  // Carried along a helix, axes turn against its normal and binormal by its torsion: by -tau s.
  m = with_line("{type: curve, position: [cos(u), sin(u), 0.5*u], to: 3}", "");
  const double size = hypot(1.0, 0.5), tau = 0.5 / (size * size);
  for (int i = 0; i <= 4; ++i) {
    const double u = 3.0 * i / 4.0, phi = -tau * size * u, c = cos(u), d = sin(u);
    const double N[3] = {-c, -d, 0}, B[3] = {0.5 * d / size, -0.5 * c / size, 1.0 / size};
    double R[9], x[3];
    station(m, i, x, R);
    for (int k = 0; k < 3; ++k)
      assert_near("carried", R[3 * k + 1], cos(phi) * N[k] + sin(phi) * B[k], 2e-5);
  }
  as_machine_destroy(m);
}

// ---- sections ---------------------------------------------------------------------------------------

/// Stiffness and mass at a station, as the machine has them.
static void check_section(const char *section, int i, const double K[6], double mass) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "alphastep: 1\nbeams:\n  a:\n    line: {points: [[0, 0, 0], [1, 0, 0]]}\n    elements: 2\n"
      "    mass: lumped\n    %s\nsimulate: {t_end: 1}\n",
      section);
  as_machine *m = files_parse(text);
  for (int k = 0; k < 6; ++k)
    assert_near("stiffness", m->model->station[i].compliance[7 * k] * K[k], 1.0, 1e-10);
  double sum = 0.0;
  for (int b = 0; b < 3; ++b) sum += m->model->body[b].mass;
  assert_near("mass", sum / mass, 1.0, 1e-12);
  as_machine_destroy(m);
}

static void test_sections(void **state) {
  (void)state;
  static const char properties[] =
      "section: {type: properties, area: 2e-4*(1+s), Iy: 1e-9, Iz: 3e-9, J: 2e-9, shear_z: 0.5}\n"
      "    E: 1e11\n    G: 4e10\n    density: 1000\n    ";
  const double A = 2e-4;
  check_section(properties, 0, (double[]){1e11 * A, 4e10 * A, 2e10 * A, 80, 100, 300}, 0.3);
  check_section(properties, 2, (double[]){2e11 * A, 8e10 * A, 4e10 * A, 80, 100, 300}, 0.3);
  static const char stiffness[] =
      "section: {type: stiffness, diagonal: [1, 2, 3, 4, 5, 6 + s], "
      "mass: 2, inertia: [1, 1, 1]}\n"
      "    end_section: {type: stiffness, diagonal: [2, 4, 6, 8, 10, 12], "
      "mass: 4, inertia: [1, 1, 1]}";
  check_section(stiffness, 0, (double[]){1, 2, 3, 4, 5, 6}, 3.0);
  check_section(stiffness, 1, (double[]){1.5, 3, 4.5, 6, 7.5, 9.25}, 3.0);
  check_section(stiffness, 2, (double[]){2, 4, 6, 8, 10, 12}, 3.0);
  // By name, with what is given besides in its place; nu = 0.25: G = 2 E/5.
  static const char rectangle[] =
      "section: {type: rectangle, width: 0.2, height: 0.1, shear_y: 0.5}\n    material: steel\n"
      "    nu: 0.25\n    density: 1000";
  const double E = 210e9, G = 84e9;
  as_profile_properties shape;
  const as_profile outline = {AS_PROFILE_RECTANGLE, 0.2, 0.1, 0.0, 0.0};
  as_error error;
  assert_int_equal(as_profile_compute(&outline, &shape, &error), AS_OK);
  check_section(rectangle, 1,
                (double[]){E * 0.02, G * 0.01, G * 0.02 * 5.0 / 6.0, G * shape.J,
                           E * 0.2 * 1e-3 / 12.0, E * 0.1 * 8e-3 / 12.0},
                20.0);
  static const char beam[] =
      "section: {type: i, width: 0.1, height: 0.2, web: 0.006, flange: 0.009}\n    E: 1\n    G: 1\n"
      "    density: 1";
  const as_profile i_outline = {AS_PROFILE_I, 0.1, 0.2, 0.006, 0.009};
  assert_int_equal(as_profile_compute(&i_outline, &shape, &error), AS_OK);
  check_section(beam, 1,
                (double[]){shape.area, shape.area * shape.shear_y, shape.area * shape.shear_z,
                           shape.J, shape.Iy, shape.Iz},
                shape.area);
}

// ---- channels ---------------------------------------------------------------------------------------

static int count(const as_machine *m, const char *selection) {
  as_channels *c = NULL;
  as_error error;
  if (as_channels_create(m->model, &selection, 1, &c, &error)) return -1;
  const int n = as_channels_count(c);
  as_channels_destroy(c);
  return n;
}

static void test_channels(void **state) {
  (void)state;
  as_machine *m = files_parse(twins);
  assert_int_equal(count(m, "beams.blade.3.force.x"), 1);
  assert_int_equal(count(m, "beams.blade.3.force"), 3);
  assert_int_equal(count(m, "beams.blade.3"), 23);
  assert_int_equal(count(m, "beams.blade.*.moment.y"), 5);
  assert_int_equal(count(m, "beams.blade.*.moment"), 15);
  assert_int_equal(count(m, "beams.blade.moment.y"), 5);
  assert_int_equal(count(m, "beams.blade"), 5 * 23);
  assert_int_equal(count(m, "beams.*.moment.y"), 9);
  assert_int_equal(count(m, "beams.*.*.stress"), 9);
  assert_int_equal(count(m, "beams"), 9 * 23);
  assert_int_equal(count(m, "bodies.blade.3.position.x"), 1);
  assert_int_equal(count(m, "bodies.blade.*.position.x"), 4);
  assert_int_equal(count(m, "bodies.blade.*.position"), 12);
  assert_int_equal(count(m, "bodies.*.position.x"), 9);
  assert_int_equal(count(m, "bodies.hub.*"), 19);
  assert_int_equal(count(m, "*.*.position.x"), 9 + 9);
  static const char *const wrong[][2] = {
      {"beams.blade.7.force", "names the beam `blade.7`, which is not there; did you mean"},
      {"beams.blase.3.force", "names the beam `blase.3`, which is not there; did you mean"},
      {"beams.blade.3.forse",
       "names the quantity `forse`, which is not there; did you mean `force`?"},
      {"beams.blade.3.force.u", "names the component `u`"},
      {"beams.blade.3.stress.x", "names the component `x`"},
      {"bodies.hub.position.x.y", "is not like"},
      {"bodies.blade.3.position.x.y", "is not like"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    as_channels *c = NULL;
    as_error error;
    assert_int_equal(as_channels_create(m->model, &wrong[i][0], 1, &c, &error), AS_ERR_ARGUMENT);
    if (!strstr(error.message, wrong[i][1])) fail_msg("%s", error.message);
  }
  as_machine_destroy(m);
}

static as_machine *hanging(void) {
  return files_parse("alphastep: 1\ngravity: [0, 0, -10]\nbeams:\n  bar:\n"
                     "    line: {points: [[0, 0, 0], [2, 0, 0]]}\n    elements: 4\n"
                     "    section: {type: rectangle, width: 0.02, height: 0.1}\n"
                     "    E: 2e11\n    nu: 0.3\n    density: 8000\n    first: ground\n"
                     "simulate: {t_end: 1}\n");
}

/// At rest under its weight w per length: force w (l - s) up, moment -w (l - s)^2/2 about y, deflection and stress by the book.
static void test_values(void **state) {
  (void)state;
  as_machine *m = hanging();
  as_analysis *a = NULL;
  as_error error;
  const as_analysis_def def = as_default_analysis_def();
  as_equilibrium found;
  assert_int_equal(as_analysis_create(as_model_problem(m->model), &def, &a, &error), AS_OK);
  if (as_analysis_equilibrium(a, as_model_initial(m->model), &found, &error))
    fail_msg("%s", error.message);
  static const char *const names[] = {"beams.bar.*.force.z", "beams.bar.*.moment.y",
                                      "beams.bar.*.deflection.z", "beams.bar.*.stress_top",
                                      "beams.bar.*.stress"};
  as_channels *c = NULL;
  double out[25];
  assert_int_equal(as_channels_create(m->model, names, 5, &c, &error), AS_OK);
  const as_view view = {.state = as_analysis_state(a)};
  assert_int_equal(as_channels_evaluate(c, &view, out, &error), AS_OK);
  const double w = 8000.0 * 0.002 * 10.0, EI = 2e11 * 0.02 * 1e-3 / 12.0, l = 2.0;
  const double GA = 2e11 / 2.6 * 0.002 * 5.0 / 6.0;
  for (int i = 0; i <= 4; ++i) {
    const double s = 0.5 * i, r = l - s, M = w * r * r / 2.0;
    const double bent = w * s * s * (6.0 * l * l - 4.0 * l * s + s * s) / (24.0 * EI);
    const double sheared = w * (l * s - s * s / 2.0) / GA;
    // What is behind pulls this part down and bends it down: z is up, y to the left.
    assert_near("force", out[i], -w * r, 2e-3 * w);
    assert_near("moment", out[5 + i], M, 2e-3 * w);
    assert_near("deflection", out[10 + i], -(bent + sheared), 1e-4 * bent + 1e-9);
    assert_near("top", out[15 + i], 0.05 * M / (EI / 2e11), 1e4);
    assert_near("largest", fabs(out[20 + i]), fabs(out[15 + i]), 1e3);
  }
  as_channels_destroy(c);
  as_analysis_destroy(a);
  as_machine_destroy(m);
}

// ---- nodes are bodies -------------------------------------------------------------------------------

static void test_nodes(void **state) {
  (void)state;
  as_machine *m = files_parse(
      "alphastep: 1\nbeams:\n"
      "  bar: {line: {points: [[0, 0, 0], [2, 0, 0]]}, elements: 4, section: {type: circle, "
      "diameter: 0.05}, material: steel, first: ground}\n"
      "  arm: {line: {points: [[2, 0, 0], [2, 1, 0]]}, elements: 2, section: {type: circle, "
      "diameter: 0.05}, material: steel, first: bar.4}\n"
      "  cross: {line: {points: [[1, -1, 0], [1, 1, 0]]}, elements: 4, section: {type: circle, "
      "diameter: 0.05}, material: steel, inner: {2: bar.2}}\n"
      "bodies: {weight: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2, 1, 0]}}\n"
      "frames: {end: {body: arm.2}}\n"
      "joints: {ball: {type: spherical, bodies: [arm.2, weight], point: [2, 1, 0]}}\n"
      "forces:\n"
      "  push: {type: load, body: bar.4, force: [0, 0, \"10*bodies.bar.3.velocity.z + "
      "bodies.bar.4.position.x\"]}\n"
      "  pull: {type: spring, bodies: [ground, cross.4], point: [1, 2, 0], second_point: [1, 1, "
      "0], "
      "stiffness: 100}\n"
      "blocks:\n"
      "  rate: {type: gyro, frame: end}\n"
      "  reads: {type: signal, formula: bodies.arm.1.acceleration.z}\n"
      "events: {bent: {when: \"beams.bar.0.moment.y - 1\", stop: true}}\n"
      "simulate: {t_end: 0.05, step: 1e-3}\n");
  // Two beams on one body, a cross in the middle of a bar: no body is there twice.
  assert_int_equal(as_model_bodies(m->model), 4 + 2 + 4 + 1);
  const as_beam_id cross = as_model_find_beam(m->model, "cross");
  assert_string_equal(as_model_body_name(m->model, as_model_beam_node(m->model, cross, 2)),
                      "bar.2");
  assert_string_equal(as_model_body_name(m->model, as_model_beam_node(m->model, cross, 3)),
                      "cross.3");
  as_machine_destroy(m);
}

// ---- meshes that spin -------------------------------------------------------------------------------

typedef struct heard {
  int count;
  char text[512];
} heard;

static void hear(as_log_level level, const char *message, void *user) {
  heard *h = user;
  if (level != AS_LOG_WARNING) return;
  ++h->count;
  snprintf(h->text, sizeof h->text, "%s", message);
}

static as_status take_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)user, (void)error;
  return AS_OK;
}

/// What a run says in which a motion brings the hub of a blade, whose first frequency is about 52.5 rad/s, from rest to a speed.
static heard spin_up(int n, double speed) {
  static const char *const channels[] = {"drift"};
  char text[1024];
  heard out = {0};
  as_run_def def = as_default_run_def();
  as_run *run;
  as_error error;
  snprintf(
      text, sizeof text,
      "alphastep: 1\nbodies: {hub: {mass: 1, inertia: [0.01, 0.01, 0.01]}}\n"
      "beams:\n  blade: {line: {points: [[0, 0, 0], [1, 0, 0]]}, elements: %d, section: "
      "{type: rectangle, width: 0.01, height: 0.01}, material: steel, first: hub}\n"
      "joints:\n  axle: {type: revolute, bodies: [ground, hub], point: [0, 0, 0], axis: [0, 0, "
      "1]}\n  up: {type: motion, joint: axle, law: \"if(t < 0.4, %g*(t^2/0.8 + "
      "0.2/(pi*pi)*(cos(5*pi*t) - 1)/2), %g*(t - 0.2))\"}\n",
      n, speed, speed);
  as_machine *m = files_parse(text);
  def.integrator.step = 1e-3;
  def.integrator.log = hear;
  def.integrator.log_user = &out;
  def.t_end = 0.5;
  def.interval = 0.01;
  def.channels = channels;
  def.n_channels = 1;
  if (as_run_create(m->model, &def, &run, &error) || as_run_go(run, take_row, NULL, NULL, &error))
    fail_msg("%s", error.message);
  as_run_destroy(run);
  as_machine_destroy(m);
  return out;
}

static void test_spin(void **state) {
  (void)state;
  const heard fast = spin_up(3, 55.0);
  assert_int_equal(fast.count, 1);
  assert_non_null(strstr(fast.text, "Beam \"blade\" turns at 5"));
  assert_non_null(strstr(fast.text, "has 3 elements"));
  assert_int_equal(spin_up(3, 50.0).count, 0);
  assert_int_equal(spin_up(4, 55.0).count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_twins),    cmocka_unit_test(test_lines),
      cmocka_unit_test(test_axes),     cmocka_unit_test(test_sections),
      cmocka_unit_test(test_channels), cmocka_unit_test(test_values),
      cmocka_unit_test(test_nodes),    cmocka_unit_test(test_spin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
