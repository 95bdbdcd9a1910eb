/// The parts of reports: texts that cannot break a page, arrays, thinning that keeps extremes, scenes.
#define _POSIX_C_SOURCE 200809L // fmemopen

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "base/json.h"
#include "elements/vector.h"
#include "file/value.h"
#include "files.h"
#include "lie/rotation.h"
#include "report/array.h"
#include "report/thin.h"
#include "rig.h"

// ---- texts --------------------------------------------------------------------------------------------

typedef void put_fn(FILE *out, const char *text);

static void expect(put_fn *put, const char *text, const char *expected) {
  char room[512] = "";
  FILE *out = fmemopen(room, sizeof room, "w");
  assert_non_null(out);
  put(out, text);
  assert_int_equal(fclose(out), 0);
  assert_string_equal(room, expected);
}

static void test_json_text(void **state) {
  (void)state;
  expect(asi_json_text, "a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"");
  expect(asi_json_text, "</script><img onerror=x>&",
         "\"\\u003c/script\\u003e\\u003cimg onerror=x\\u003e\\u0026\"");
  expect(asi_json_text, "x\xe2\x80\xa8y\xe2\x80\xa9z", "\"x\\u2028y\\u2029z\"");
  expect(asi_json_text, "\n\t\x01\x7f", "\"\\n\\u0009\\u0001\\u007f\"");
  expect(asi_json_text, "\xc3\xa9 \xf0\x9f\x98\x80", "\"\xc3\xa9 \xf0\x9f\x98\x80\"");
  expect(asi_json_text, "\xff \xc3 \xed\xa0\x80 \xc0\xbc",
         "\"\\ufffd \\ufffd \\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\"");
  expect(asi_json_text, "", "\"\"");
  expect(asi_json_text, NULL, "null");
}

static void test_json_copy(void **state) {
  (void)state;
  expect(asi_json_copy, "{\"a\":\"</script>\xe2\x80\xa8\"}",
         "{\"a\":\"\\u003c/script\\u003e\\u2028\"}");
  expect(asi_json_copy, "{\n\t\"a\": 1\r\n}", "{\n \"a\": 1 \n}");
}

static void test_html_text(void **state) {
  (void)state;
  expect(asi_html_text, "<b a=\"1\" c='2'>&amp;",
         "&#60;b a=&#34;1&#34; c=&#39;2&#39;&#62;&#38;amp;");
  expect(asi_html_text, "\x01\xff\xc3\xa9\n", "\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\n");
}

static void test_json_number(void **state) {
  (void)state;
  const double x[] = {0.0,         -1.5,   0.1,         1.0 / 3.0,       1e300,
                      123456789.0, 5e-324, (double)NAN, (double)INFINITY};
  char room[512] = "";
  FILE *out = fmemopen(room, sizeof room, "w");
  asi_json_numbers(out, x, 9);
  fclose(out);
  assert_string_equal(room, "[0,-1.5,0.1,0.3333333333333333,1e+300,123456789,5e-324,null,null]");
}

static void test_is_object(void **state) {
  (void)state;
  static const char *const good[] = {
      "{}", " {\n} ", "{\"a\":1}",
      "{\"a\":[1,-2.5e-3,true,false,null,{\"b\":[]}],\"c\":\"\\u12aF\\n\"}"};
  static const char *const bad[] = {"",
                                    "[]",
                                    "{",
                                    "{}}",
                                    "{\"a\"}",
                                    "{\"a\":}",
                                    "{\"a\":01}",
                                    "{\"a\":1,}",
                                    "{a:1}",
                                    "{\"a\":.5}",
                                    "{\"a\":1.}",
                                    "{\"a\":nan}",
                                    "{\"a\":\"\n\"}",
                                    "{\"a\":\"\\x\"}",
                                    "{\"a\":\"\\u12\"}",
                                    "{\"a\":[1 2]}",
                                    "{\"a\":1e}",
                                    "{\"a\":\"",
                                    "{\"a\":\"\\",
                                    "{} x"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i)
    assert_true(asi_json_is_object(good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    if (asi_json_is_object(bad[i])) fail_msg("%s is taken for JSON", bad[i]);
  char deep[400] = "{\"a\":";
  memset(deep + 5, '[', 200);
  assert_false(asi_json_is_object(deep));
}

// ---- arrays -------------------------------------------------------------------------------------------

static void test_small_array(void **state) {
  (void)state;
  char room[512] = "";
  float x[] = {1.0f, -2.0f};
  double y[] = {1.0};
  FILE *out = fmemopen(room, sizeof room, "w");
  asi_array_floats(out, x, 2, 1, 1);
  asi_array_doubles(out, y, 1);
  asi_array_floats(out, x, 0, 1, 1);
  fclose(out);
  assert_string_equal(room, "{\"type\":\"f32\",\"n\":2,\"base64\":\"AACAPwAAAMA=\"}"
                            "{\"type\":\"f64\",\"n\":1,\"base64\":\"AAAAAAAA8D8=\"}"
                            "{\"type\":\"f32\",\"n\":0,\"base64\":\"\"}");
}

/// Columns one after the other, each by the differences of its differences, with the sign in the lowest bit.
static void test_multiples(void **state) {
  (void)state;
  char room[512] = "";
  double x[] = {1.0, 0.5, 2.0, -0.5, 4.0, 0.0};
  FILE *out = fmemopen(room, sizeof room, "w");
  assert_true(asi_array_multiples(out, x, 3, 2, (const int[]){0, -1})); // 1 2 4, 1 -1 0
  fclose(out);
  assert_string_equal(room, "{\"type\":\"i32\",\"n\":6,\"columns\":2,\"exponents\":[0,-1],"
                            "\"base64\":\"AgAAAAAAAAACAAAAAgAAAAUAAAAGAAAA\"}"); // 2 0 2, 2 5 6
  for (double span = 1e-200; span < 1e200; span *= 7.3) {
    const double unit = ldexp(1.0, asi_array_exponent(span, 3.0 * span));
    assert_true(unit <= span * 1.2e-7 && unit >= span * 5.9e-8);
    assert_true(1e6 * span / ldexp(1.0, asi_array_exponent(span, 1e6 * span)) < 2147483647.0);
  }
}

static int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : 63;
}

/// Decodes the compressed planes that are in `room`.
static void decode(const char *room, unsigned char *planes, size_t expected) {
  static unsigned char packed[1 << 15];
  static const char mark[] = "\"deflate\":true,\"planes\":true,\"base64\":\"";
  const char *at = strstr(room, mark);
  assert_non_null(at);
  size_t n = 0;
  for (at += sizeof mark - 1; *at != '"' && *at != '='; at += 4) {
    unsigned bits = 0;
    for (int k = 0; k < 4; ++k) bits = bits << 6 | (unsigned)(at[k] == '=' ? 0 : digit_of(at[k]));
    packed[n++] = (unsigned char)(bits >> 16);
    packed[n++] = (unsigned char)(bits >> 8);
    packed[n++] = (unsigned char)bits;
  }
  uLongf size = expected;
  assert_int_equal(uncompress(planes, &size, packed, (uLong)n), Z_OK);
  assert_int_equal(size, expected);
}

/// The lowest byte of every number comes first, whatever the order in memory is.
static void test_compressed_arrays(void **state) {
  (void)state;
  enum { N = 2999 };
  static double x[N];
  static float y[N], sent[N];
  static unsigned char planes[8 * N];
  static char room[16 * N];
  for (int i = 0; i < N; ++i) {
    x[i] = floor(i / 8.0);
    y[i] = sent[i] = (float)sin(0.01 * (i / 7));
  }
  FILE *out = fmemopen(room, sizeof room, "w");
  asi_array_doubles(out, x, N);
  fclose(out);
  decode(room, planes, sizeof x);
  for (int i = 0; i < N; ++i) {
    uint64_t bits = 0;
    double back;
    for (int k = 0; k < 8; ++k) bits |= (uint64_t)planes[k * N + i] << 8 * k;
    memcpy(&back, &bits, sizeof back);
    assert_near("number", back, floor(i / 8.0), 0.0);
  }
  out = fmemopen(room, sizeof room, "w");
  asi_array_floats(out, sent, N, 7, 21);
  fclose(out);
  decode(room, planes, sizeof y);
  for (int i = 0; i < N; ++i) {
    uint32_t bits = 0;
    float back;
    for (int k = 0; k < 4; ++k) bits |= (uint32_t)planes[k * N + i] << 8 * k;
    memcpy(&back, &bits, sizeof back);
    assert_near("number", (double)back, (double)y[i], 0.0);
  }
}

// ---- thinning -----------------------------------------------------------------------------------------

static double page_size(const asi_thinning *t, int bodies, int channels) {
  const double arrays =
      t->frames * (28.0 * bodies + 4.0 * channels + 8.0) + 24.0 * t->buckets * channels;
  return 4.0 / 3.0 * arrays + 400.0 * channels + 800.0 * bodies + 1.2e6;
}

static void test_sizes(void **state) {
  (void)state;
  static const struct {
    long rows;
    int bodies, channels;
    double most;
  } runs[] = {{501, 1, 20, 2e6},
              {10001, 10, 300, 5e6},
              {1000000, 10, 300, 5e6},
              {1, 1, 20, 2e6},
              {2, 1, 20, 2e6},
              {501, 1000, 20000, 30e6},
              {100001, 1000, 14000, 30e6},
              {501, 1000, 9, 30e6},
              {501, 20000, 9, 30e6}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
    const asi_thinning t = asi_thin(runs[i].rows, runs[i].bodies, runs[i].channels);
    assert_true(page_size(&t, runs[i].bodies, runs[i].channels) < runs[i].most);
    assert_true(t.frames >= 1 && t.frames <= runs[i].rows);
    assert_int_equal(t.buckets > 0, t.frames < runs[i].rows);
    assert_int_equal(asi_thin_row(&t, 0), 0);
    assert_int_equal(asi_thin_row(&t, t.frames - 1), runs[i].rows - 1);
    for (int k = 1; k < t.frames; ++k) assert_true(asi_thin_row(&t, k) > asi_thin_row(&t, k - 1));
  }
  assert_int_equal(asi_thin(0, 1, 1).frames, 0);
  assert_int_equal(asi_thin(501, 10, 200).frames, 501); // what is not too large is shown whole
}

static double noise(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)*seed / 4294967296.0;
}

/// Of any data, each piece's extremes are there, and those of the whole.
static void test_extremes(void **state) {
  (void)state;
  enum { ROWS = 7001, PIECES = 50 };
  static double x[ROWS];
  static long out[2 * PIECES];
  uint32_t seed = 7;
  for (int i = 0; i < ROWS; ++i) {
    const double u = noise(&seed);
    x[i] = u < 0.01 ? (double)NAN : u < 0.02 ? 100.0 * noise(&seed) : noise(&seed);
  }
  x[0] = (double)INFINITY;
  const int n = asi_thin_extremes(x, ROWS, PIECES, out);
  assert_true(n > 0 && n <= 2 * PIECES);
  for (int i = 1; i < n; ++i) assert_true(out[i] > out[i - 1]);
  for (int i = 0; i < n; ++i) assert_true(isfinite(x[out[i]]));
  for (int k = 0; k < PIECES; ++k) {
    double low = (double)INFINITY, high = -low, kept_low = low, kept_high = -low;
    const long first = ROWS * (long)k / PIECES, behind = ROWS * (long)(k + 1) / PIECES;
    for (long i = first; i < behind; ++i) {
      if (!isfinite(x[i])) continue;
      low = fmin(low, x[i]);
      high = fmax(high, x[i]);
    }
    for (int i = 0; i < n; ++i) {
      if (out[i] < first || out[i] >= behind) continue;
      kept_low = fmin(kept_low, x[out[i]]);
      kept_high = fmax(kept_high, x[out[i]]);
    }
    assert_near("least", kept_low, low, 0.0);
    assert_near("greatest", kept_high, high, 0.0);
  }
}

static void test_flat_extremes(void **state) {
  (void)state;
  long out[8];
  const double flat[6] = {2, 2, 2, 2, 2, 2}, none[2] = {(double)NAN, (double)NAN};
  assert_int_equal(asi_thin_extremes(flat, 6, 3, out), 3); // one row a piece
  assert_int_equal(asi_thin_extremes(none, 2, 1, out), 0);
  assert_int_equal(asi_thin_extremes(flat, 2, 4, out), 2); // more pieces than rows
}

// ---- scenes -------------------------------------------------------------------------------------------

static void ignore(int file, int line, int column, const char *sentence, void *user) {
  (void)file;
  (void)user;
  fail_msg("scene:%d:%d: %s", line, column, sentence);
}

static void numbers(const asi_value *list, int n, double *out) {
  assert_int_equal(list->count, n);
  for (int i = 0; i < n; ++i) out[i] = list->item[i]->number;
}

/// A point of a body at the start.
static void in_world(const as_model *model, int body, const asi_value *point, double *out) {
  as_body_motion at;
  const as_initial *start = as_model_initial(model);
  const as_state state = {.q = start->q, .v = start->v};
  double p[3];
  numbers(point, 3, p);
  as_model_body_motion(model, &state, (as_body_id){body}, &at);
  asi_rotate(at.R, p, out);
  asi_add(1.0, at.x, out);
}

/// Joints that hold two points together have them at the same place, to the gap that the start closes.
static void check_joint(const as_machine *m, const asi_value *joint) {
  static const char *const held[] = {"fixed", "revolute", "spherical", "universal"};
  const asi_value *bodies = asi_value_get(joint, "bodies"),
                  *points = asi_value_get(joint, "points");
  for (size_t i = 0; i < 4; ++i) {
    double a[3], b[3];
    if (strcmp(asi_value_get(joint, "kind")->text, held[i]) != 0) continue;
    in_world(m->model, (int)bodies->item[0]->number, points->item[0], a);
    in_world(m->model, (int)bodies->item[1]->number, points->item[1], b);
    for (int k = 0; k < 3; ++k) assert_near("point", a[k], b[k], 1e-6);
  }
}

static void check_scene(const char *path) {
  as_machine *m = files_load(path, NULL, 0);
  asi_arena arena = {0};
  as_error error;
  char *text = NULL;
  assert_int_equal(as_scene_text(m, &text, &error), AS_OK);
  assert_true(asi_json_is_object(text));
  assert_null(strchr(text, '<'));
  const asi_value *all = asi_value_parse(text, strlen(text), 0, &arena, ignore, NULL);
  const asi_value *scene = asi_value_get(all, "scene");
  assert_int_equal(asi_value_get(all, "model")->count, m->n_sources);
  assert_string_equal(asi_value_get(asi_value_get(all, "model")->item[0], "text")->text,
                      m->sources[0].text);
  assert_int_equal(asi_value_get(scene, "bodies")->count, as_model_bodies(m->model));
  assert_int_equal(asi_value_get(scene, "frames")->count, as_model_frames(m->model));
  assert_int_equal(asi_value_get(scene, "shapes")->count, m->n_shapes);
  assert_int_equal(asi_value_get(scene, "forces")->count, as_model_forces(m->model));
  const asi_value *joints = asi_value_get(scene, "joints");
  assert_int_equal(joints->count, as_model_joints(m->model));
  for (int i = 0; i < joints->count; ++i) check_joint(m, joints->item[i]);
  assert_true(asi_value_get(scene, "size")->number > 0.0);
  as_scene_free(text);
  asi_arena_free(&arena);
  as_machine_destroy(m);
}

static void test_scenes(void **state) {
  (void)state;
  static const char *const names[] = {"andrews",      "chain",    "double-pendulum", "four-bar",
                                      "free-body",    "governor", "heavy-top",       "landing-gear",
                                      "n-four-bar",   "pendulum", "rolling-disk",    "sleigh",
                                      "slider-crank", "stewart"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char path[200];
    snprintf(path, sizeof path, "examples/machines/%s/model.yaml", names[i]);
    check_scene(path);
  }
  check_scene("tests/files/good/everything.yaml");
}

/// Hand-computed: a box of a body whose centre of mass is not its origin, a spring, a load, the size.
static void test_a_scene(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "bodies:\n"
      "  '<b>&': {mass: 2, inertia: [4, 5, 6, 0.1, 0.2, 0.3], center_of_mass: [1, 0, 0],\n"
      "    position: [0, 0, 5], shapes: [{type: box, size: [2, 1, 1], position: [3, 0, 0]}]}\n"
      "  p: {type: point, mass: 1}\n"
      "forces:\n"
      "  s: {type: spring, bodies: [ground, '<b>&'], point: [1, 0, 0], second_point: [1, 0, "
      "6],\n"
      "      stiffness: 1, length: 1}\n"
      "  l: {type: load, body: p, force: [1, 0, 0]}\n";
  as_machine *m = NULL;
  as_messages messages;
  if (as_machine_parse(text, sizeof text - 1, "m.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  char *json = NULL;
  as_error error;
  assert_int_equal(as_scene_text(m, &json, &error), AS_OK);
  assert_non_null(strstr(json, "{\"name\":\"\\u003cb\\u003e\\u0026\",\"mass\":2,"
                               "\"inertia\":[4,5,6,0.1,0.2,0.3],\"point\":false}"));
  assert_non_null(
      strstr(json, "{\"name\":\"p\",\"mass\":1,\"inertia\":[0,0,0,0,0,0],\"point\":true}"));
  assert_non_null(
      strstr(json, "{\"body\":0,\"kind\":\"box\",\"position\":[2,0,0],\"quaternion\":[1,0,0,0],"
                   "\"size\":[2,1,1],\"color\":null}"));
  assert_non_null(strstr(json, "{\"name\":\"s\",\"kind\":\"spring\",\"bodies\":[-1,0],"
                               "\"points\":[[1,0,0],[0,0,1]]"));
  assert_non_null(
      strstr(json, "{\"name\":\"l\",\"kind\":\"load\",\"bodies\":[1],\"points\":[[0,0,0]]"));
  assert_non_null(
      strstr(json, "\"size\":6}")); // from the point mass at 0 to the spring's end at z = 6
  as_scene_free(json);
  as_machine_destroy(m);
}

/// A beam is drawn as pieces of its bodies: half an element at its ends, which sit at the right places, with the section's sizes.
static void test_a_beam(void **state) {
  (void)state;
  static const char text[] = "alphastep: 1\n"
                             "shapes: [{type: sphere, radius: 0.1}]\n"
                             "beams:\n"
                             "  rod: {line: {points: [[0, 0, 0], [4, 0, 0]]}, elements: 2, "
                             "section: {type: rectangle, width: "
                             "0.5, height: 0.25}, material: steel, first: ground}\n"
                             "  pin: {line: {points: [[0, 0, 0], [0, 0, 2]]}, elements: 1, "
                             "section: {type: circle, diameter: "
                             "0.5}, material: steel, first: ground}\n";
  as_machine *m = NULL;
  as_messages messages;
  if (as_machine_parse(text, sizeof text - 1, "m.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  char *json = NULL;
  as_error error;
  assert_int_equal(as_scene_text(m, &json, &error), AS_OK);
  static const char *const pieces[] = {
      "{\"body\":-1,\"kind\":\"box\",\"position\":[0.5,0,0],\"quaternion\":[0.5,0.5,0.5,0.5],"
      "\"size\":[0.5,0.25,1]",
      "{\"body\":0,\"kind\":\"box\",\"position\":[0,0,0],\"quaternion\":[0.5,0.5,0.5,0.5],"
      "\"size\":[0.5,0.25,2]",
      "{\"body\":1,\"kind\":\"box\",\"position\":[-0.5,", "\"size\":[0.5,0.25,1],\"color\"",
      "{\"body\":2,\"kind\":\"cylinder\",\"position\":[-0.", "\"radius\":0.25,\"length\":",
      // Lines: body, place and axes in it, half sizes, place and axes at rest.
      "\"beams\":[\n{\"name\":\"rod\",\"shape\":1,\"round\":false,\"stations\":[[-1,0,0,0,1,0,0,0,"
      "0.25,0.125,0,0,0,1,0,0,0],\n"
      "[0,0,0,0,1,0,0,0,0.25,0.125,2,0,0,1,0,0,0],\n[1,",
      "{\"name\":\"pin\",\"shape\":4,\"round\":true,\"stations\":[[-1,0,0,0,"};
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; ++i)
    if (!strstr(json, pieces[i])) fail_msg("not drawn: %s\n%s", pieces[i], json);
  as_scene_free(json);
  as_machine_destroy(m);
}

/// A joint that is not there at the start, events that release and activate joints, and a torsional spring at its hinge.
static void test_switches(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "bodies:\n"
      "  door: {mass: 1, inertia: [1, 1, 1], position: [5.5, 0, 0]}\n"
      "joints:\n"
      "  latch: {type: fixed, bodies: [ground, door], point: [6, 0, 0], active: false}\n"
      "  hinge: {type: revolute, bodies: [door, ground], point: [5, 0, 0], axis: [0, 0, 1]}\n"
      "forces:\n"
      "  closer: {type: torsion, bodies: [ground, door], axis: [0, 0, 1], stiffness: 1}\n"
      "events:\n"
      "  slam: {when: t - 1, activate: latch}\n"
      "  '<open>': {when: t - 2, release: [latch, hinge]}\n";
  as_machine *m = NULL;
  as_messages messages;
  if (as_machine_parse(text, sizeof text - 1, "m.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  char *json = NULL;
  as_error error;
  assert_int_equal(as_scene_text(m, &json, &error), AS_OK);
  assert_non_null(
      strstr(json, "\"points\":[[6,0,0],[0.5,0,0]],\"axis\":[0,0,1],\"inactive\":true}"));
  assert_non_null(strstr(json, "\"points\":[[-0.5,0,0],[5,0,0]],\"axis\":[0,0,1]}"));
  assert_non_null(strstr(json, "{\"name\":\"closer\",\"kind\":\"torsion\",\"bodies\":[-1,0],"
                               "\"points\":[[5,0,0],[-0.5,0,0]],\"axis\":[0,0,1]}"));
  assert_non_null(strstr(json, "\"switches\":[\n{\"event\":\"slam\",\"joint\":0,\"active\":true},\n"
                               "{\"event\":\"\\u003copen\\u003e\",\"joint\":0,\"active\":false},\n"
                               "{\"event\":\"\\u003copen\\u003e\",\"joint\":1,\"active\":false}]"));
  as_scene_free(json);
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_json_text),     cmocka_unit_test(test_json_copy),
      cmocka_unit_test(test_html_text),     cmocka_unit_test(test_json_number),
      cmocka_unit_test(test_is_object),     cmocka_unit_test(test_small_array),
      cmocka_unit_test(test_multiples),     cmocka_unit_test(test_compressed_arrays),
      cmocka_unit_test(test_sizes),         cmocka_unit_test(test_extremes),
      cmocka_unit_test(test_flat_extremes), cmocka_unit_test(test_scenes),
      cmocka_unit_test(test_a_scene),       cmocka_unit_test(test_a_beam),
      cmocka_unit_test(test_switches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
