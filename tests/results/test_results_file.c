/// results.h5 and saved runs: what is written is read back bit for bit, what is cut off and gone on with is as if it
/// had never been, what is damaged is refused.
#define _POSIX_C_SOURCE 200809L // mkdtemp, truncate

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

#include "alphastep/file.h"
#include "alphastep/results_file.h"
#include "machines.h"
#include "rig.h"

static const char engine[] = //
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  'a b, \"c\" \xc3\xa9 *': {mass: 1, inertia: [0.1, 0.2, 0.3], position: [1, 0, 0],\n"
    "                     angular_velocity: [0, 12, 0], velocity: [0, 0, -12]}\n"
    "  names: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [2, 0, 0]}\n"
    "  bead: {type: point, mass: 0.5, position: [0, 0, 1], velocity: [0, 1, 0]}\n"
    "frames:\n"
    "  tip: {body: names, position: [2.5, 0, 0]}\n"
    "joints:\n"
    "  'pivot one': {type: revolute, bodies: [ground, 'a b, \"c\" \xc3\xa9 *'], point: [0, 0, 0], "
    "axis: [0, 1, 0]}\n"
    "  elbow: {type: spherical, bodies: ['a b, \"c\" \xc3\xa9 *', names], point: [1.5, 0, 0]}\n"
    "forces:\n"
    "  spring: {type: spring, bodies: [ground, bead], point: [0, 0, 2], second_point: [0, 0, 1],\n"
    "           stiffness: 20, damping: 0.1}\n"
    "simulate: {t_end: 1, step: 0.01}\n";

static as_machine *load(const char *text) {
  as_messages messages;
  as_machine *m = NULL;
  if (as_machine_parse(text, strlen(text), "engine.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  return m;
}

static char folder[64];
static char path[2][96]; ///< of files there

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "reader-XXXXXX");
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path[0], sizeof path[0], "%s/one.h5", folder);
  snprintf(path[1], sizeof path[1], "%s/two.h5", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) remove(path[i]);
  return rmdir(folder); // there is nothing else
}

// ---- runs that are recorded -------------------------------------------------------------------------

static const char *const everything[] = {"bodies", "frames", "joints",   "forces",
                                         "energy", "drift",  "momentum", "solver"};

/// What a run gave.
typedef struct heard {
  as_run *run;
  as_results_writer *results;
  double *lines; ///< time, row, poses
  int width, rows;
  int stop; ///< interrupt when there are so many rows; -1: never
} heard;

enum { MOST = 600 };

static as_status hear(double t, const double *row, int n, void *user, as_error *error) {
  heard *h = user;
  assert_true(h->rows < MOST);
  double *line = h->lines + (size_t)h->rows++ * (size_t)h->width;
  line[0] = t;
  memcpy(line + 1, row, (size_t)n * sizeof *line);
  memcpy(line + 1 + n, as_run_poses(h->run), (size_t)(h->width - 1 - n) * sizeof *line);
  if (h->results == NULL) return AS_OK;
  const as_status status =
      as_results_writer_row(h->results, t, row, n, as_run_poses(h->run), error);
  return h->rows % 7 == 0 && status == AS_OK ? as_results_writer_flush(h->results, error) : status;
}

static bool is_enough(void *user) {
  const heard *h = user;
  return h->stop >= 0 && h->rows >= h->stop;
}

static void begin(heard *h, const as_machine *m, double t_end, double step, as_method method,
                  double interval) {
  as_run_def def = as_default_run_def();
  as_error error;
  def.integrator.method = method;
  def.integrator.step = step;
  def.integrator.interrupt = is_enough;
  def.integrator.interrupt_user = h;
  def.t_end = t_end;
  def.interval = interval;
  def.channels = everything;
  def.n_channels = sizeof everything / sizeof everything[0];
  def.poses = true;
  def.tag = 42;
  if (as_run_create(m->model, &def, &h->run, &error)) fail_msg("%s", error.message);
  h->width = 1 + as_channels_count(as_run_channels(h->run)) + AS_POSE * as_model_bodies(m->model);
  h->lines = calloc((size_t)MOST * (size_t)h->width, sizeof *h->lines);
  h->rows = 0;
  h->stop = -1;
  h->results = NULL;
}

static void end(heard *h) {
  as_run_destroy(h->run);
  free(h->lines);
}

static as_status go(heard *h) {
  as_error error = {.message = ""};
  const as_status status = as_run_go(h->run, hear, h, NULL, &error);
  if (status != AS_OK && status != AS_INTERRUPTED) fail_msg("%s", error.message);
  return status;
}

static as_results_reader *open_results(const char *file) {
  as_error error;
  as_results_reader *r = NULL;
  if (as_results_reader_open(file, &r, &error)) fail_msg("%s", error.message);
  return r;
}

/// Whether a results has these rows, in all channels and poses, bit for bit.
static void assert_recorded(const char *file, const heard *h) {
  as_error error;
  as_results_reader *r = open_results(file);
  const as_channels *channels = as_run_channels(h->run);
  const int n = as_channels_count(channels), bodies = as_results_reader_bodies(r);
  double *out = calloc((size_t)h->rows * AS_POSE + 1, sizeof *out);
  assert_int_equal(as_results_reader_rows(r), h->rows);
  assert_int_equal(as_results_reader_time(r, out, &error), AS_OK);
  for (int i = 0; i < h->rows; ++i) assert_true(out[i] == h->lines[i * h->width]);
  assert_int_equal(as_results_reader_count(r), n);
  for (int c = 0; c < n; ++c) {
    const as_channel channel = as_channels_get(channels, c);
    const int at = as_results_reader_find(r, channel.name);
    assert_true(at >= 0);
    assert_string_equal(as_results_reader_channel(r, at).unit, channel.unit);
    assert_int_equal(as_results_reader_read(r, at, out, &error), AS_OK);
    for (int i = 0; i < h->rows; ++i) assert_true(out[i] == h->lines[i * h->width + 1 + c]);
  }
  assert_int_equal(h->width, 1 + n + AS_POSE * bodies);
  for (int b = 0; b < bodies; ++b) {
    assert_int_equal(as_results_reader_poses(r, b, out, &error), AS_OK);
    for (int i = 0; i < h->rows; ++i)
      assert_memory_equal(out + (ptrdiff_t)i * AS_POSE,
                          h->lines + i * h->width + 1 + n + b * AS_POSE, AS_POSE * sizeof *out);
  }
  free(out);
  as_results_reader_close(r);
}

static as_results_writer_def recorded(const as_machine *m, const heard *h) {
  as_results_writer_def def = as_default_results_writer_def();
  def.model = m->model;
  def.channels = as_run_channels(h->run);
  return def;
}

// ---- tests ------------------------------------------------------------------------------------------

static void test_round_trip(void **state) {
  (void)state;
  as_machine *m = load(engine);
  as_error error;
  heard h;
  begin(&h, m, 1.0, 0.01, AS_METHOD_INDEX2, 0.003);
  as_results_writer_def def = recorded(m, &h);
  const as_named_text texts[] = {{"model", engine}, {"empty", ""}, {"a name, \xc3\xa9", "x\ny"}};
  def.title = "An engine";
  def.texts = texts;
  def.n_texts = 3;
  if (as_results_writer_create(path[0], &def, &h.results, &error)) fail_msg("%s", error.message);
  assert_int_equal(go(&h), AS_OK);
  assert_true(h.rows > 256); // several chunks
  assert_int_equal(as_results_writer_rows(h.results), h.rows - h.rows % 7);
  assert_int_equal(as_results_writer_close(h.results, &error), AS_OK);
  assert_recorded(path[0], &h);
  as_results_reader *r = open_results(path[0]);
  assert_string_equal(as_results_reader_title(r), "An engine");
  for (int i = 0; i < 3; ++i)
    assert_string_equal(as_results_reader_text(r, texts[i].name), texts[i].text);
  assert_null(as_results_reader_text(r, "nothing"));
  assert_null(as_results_reader_text(r, "../bodies"));
  for (int i = 0; i < 3; ++i)
    assert_string_equal(as_results_reader_body_name(r, i),
                        as_model_body_name(m->model, (as_body_id){i}));
  as_results_reader_close(r);
  end(&h);
  as_machine_destroy(m);
}

static int count_selected(as_results_reader *r, const char *selection, as_status expected) {
  as_error error = {.message = ""};
  bool *chosen = calloc((size_t)as_results_reader_count(r), sizeof *chosen);
  assert_int_equal(as_results_reader_select(r, selection, chosen, &error), expected);
  if (expected) assert_non_null(strstr(error.message, selection));
  int n = 0;
  for (int i = 0; i < as_results_reader_count(r); ++i) n += chosen[i];
  free(chosen);
  return n;
}

static void test_selections(void **state) {
  (void)state;
  as_machine *m = load(engine);
  as_error error;
  heard h;
  begin(&h, m, 1.0, 0.01, AS_METHOD_INDEX2, 0.5);
  const as_results_writer_def def = recorded(m, &h);
  if (as_results_writer_create(path[0], &def, &h.results, &error)) fail_msg("%s", error.message);
  assert_int_equal(go(&h), AS_OK);
  assert_int_equal(as_results_writer_close(h.results, &error), AS_OK);
  as_results_reader *r = open_results(path[0]);
  assert_int_equal(count_selected(r, "bodies.*.position", AS_OK), 9);
  assert_int_equal(count_selected(r, "bodies.names", AS_OK), 19);
  assert_int_equal(count_selected(r, "*.*.*.x", AS_OK), 30);
  assert_int_equal(count_selected(r, "joints.pivot one.angle", AS_OK), 1);
  assert_int_equal(count_selected(r, "bodies.a b, \"c\" \xc3\xa9 *.velocity", AS_OK), 3);
  assert_int_equal(count_selected(r, "energy", AS_OK), 5);
  assert_int_equal(count_selected(r, "bodies.nmaes", AS_ERR_ARGUMENT), 0);
  assert_int_equal(count_selected(r, "", AS_ERR_ARGUMENT), 0);
  assert_int_equal(as_results_reader_find(r, "bodies"), -1);
  double out[8];
  assert_int_equal(as_results_reader_read(r, -1, out, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_results_reader_read(r, as_results_reader_count(r), out, &error),
                   AS_ERR_ARGUMENT);
  assert_int_equal(as_results_reader_poses(r, 3, out, &error), AS_ERR_ARGUMENT);
  as_results_reader_close(r);
  end(&h);
  as_machine_destroy(m);
}

/// A results that is cut at some row and goes on is like one that was never interrupted.
static void test_continue(void **state) {
  (void)state;
  as_machine *m = load(engine);
  as_error error;
  heard h;
  begin(&h, m, 1.0, 0.01, AS_METHOD_INDEX2, 0.003);
  const as_results_writer_def def = recorded(m, &h);
  if (as_results_writer_create(path[0], &def, &h.results, &error)) fail_msg("%s", error.message);
  assert_int_equal(go(&h), AS_OK);
  assert_int_equal(as_results_writer_close(h.results, &error), AS_OK);
  const int all = h.rows, n = as_channels_count(def.channels);
  as_results_writer *results = NULL;
  assert_int_equal(as_results_writer_continue(path[0], &def, all + 1, &results, &error),
                   AS_ERR_FILE);
  assert_non_null(strstr(error.message, "does not hold"));
  static const int cuts[] = {335, 334, 257, 256, 255, 128, 127, 100, 1, 0};
  for (size_t k = 0; k < sizeof cuts / sizeof cuts[0]; ++k) {
    h.rows = cuts[k] < all ? cuts[k] : all;
    if (as_results_writer_continue(path[0], &def, h.rows, &results, &error))
      fail_msg("%s", error.message);
    assert_int_equal(as_results_writer_close(results, &error), AS_OK);
    assert_recorded(path[0], &h); // nothing was added
    if (as_results_writer_continue(path[0], &def, h.rows, &results, &error))
      fail_msg("%s", error.message);
    for (int i = h.rows; i < all; ++i) {
      const double *line = h.lines + i * h.width;
      assert_int_equal(as_results_writer_row(results, line[0], line + 1, n, line + 1 + n, &error),
                       AS_OK);
      if (i % 31 == 0) assert_int_equal(as_results_writer_flush(results, &error), AS_OK);
    }
    h.rows = all;
    assert_int_equal(as_results_writer_close(results, &error), AS_OK);
    assert_recorded(path[0], &h);
  }
  double row[1] = {0};
  if (as_results_writer_continue(path[0], &def, 5, &results, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_results_writer_row(results, 1.0, row, 1, row, &error), AS_ERR_ARGUMENT);
  as_results_writer_close(results, &error);
  end(&h);
  as_machine_destroy(m);
}

enum { MANY = 1003, MANY_ROWS = 11 };

static double made_up(int row, int place) { return row + 1e-3 * place + 0.1; }

/// More than 1000 bodies: one dataset per quantity. What was not chosen is not there, or NAN beside what was.
static void test_many(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const double zero[3] = {0, 0, 0};
  for (int i = 0; i < MANY; ++i) {
    char name[32];
    snprintf(name, sizeof name, "p %d", i);
    machine_point(b, name, 1.0, zero, zero);
  }
  as_model *model = machine_build(b);
  static const char *const some[] = {"bodies.p 7.velocity.x", "bodies.p 900.velocity.y",
                                     "bodies.p 3.position", "energy.kinetic"};
  as_channels *channels = NULL;
  if (as_channels_create(model, some, 4, &channels, &error)) fail_msg("%s", error.message);
  as_results_writer_def def = as_default_results_writer_def();
  def.model = model;
  def.channels = channels;
  as_results_writer *results = NULL;
  if (as_results_writer_create(path[0], &def, &results, &error)) fail_msg("%s", error.message);
  double row[6], *poses = calloc((size_t)MANY * AS_POSE, sizeof *poses);
  for (int i = 0; i < MANY_ROWS; ++i) {
    for (int k = 0; k < 6; ++k) row[k] = made_up(i, k);
    for (int k = 0; k < MANY * AS_POSE; ++k) poses[k] = made_up(i, 10 + k);
    assert_int_equal(as_results_writer_row(results, i, row, 6, poses, &error), AS_OK);
  }
  assert_int_equal(as_results_writer_close(results, &error), AS_OK);
  as_results_reader *r = open_results(path[0]);
  assert_int_equal(as_results_reader_count(r), 7 * MANY + 4 + 1);
  assert_int_equal(as_results_reader_bodies(r), MANY);
  double out[MANY_ROWS * AS_POSE];
  static const struct {
    const char *name;
    int place;
  } expected[] = {{"bodies.p 7.velocity.x", 0},       {"bodies.p 900.velocity.y", 1},
                  {"bodies.p 7.velocity.y", -1},      {"energy.kinetic", 5},
                  {"bodies.p 3.position.z", 10 + 23}, {"bodies.p 1002.quaternion.z", 10 + 7020}};
  for (size_t k = 0; k < sizeof expected / sizeof expected[0]; ++k) {
    const int at = as_results_reader_find(r, expected[k].name);
    assert_int_equal(as_results_reader_read(r, at, out, &error), AS_OK);
    for (int i = 0; i < MANY_ROWS; ++i)
      if (expected[k].place < 0)
        assert_true(isnan(out[i]));
      else
        assert_true(out[i] == made_up(i, expected[k].place));
  }
  assert_string_equal(as_results_reader_body_name(r, 1002), "p 1002");
  assert_int_equal(as_results_reader_poses(r, 1002, out, &error), AS_OK);
  for (int k = 0; k < MANY_ROWS * AS_POSE; ++k)
    assert_true(out[k] == made_up(k / AS_POSE, 10 + 1002 * AS_POSE + k % AS_POSE));
  as_results_reader_close(r);
  free(poses);
  as_channels_destroy(channels);
  as_model_destroy(model);
}

static as_model *build_points(int n) {
  as_builder *b = machine_builder(0, 0, 0);
  const double zero[3] = {0, 0, 0};
  for (int i = 0; i < n; ++i) machine_point(b, NULL, 1.0, zero, zero);
  return machine_build(b);
}

/// Writes rows from `first` on, to `end`; flushes now and then.
static void write_made_up(as_results_writer *results, int bodies, int first, int end, int flush) {
  as_error error;
  double row[1], *poses = calloc((size_t)bodies * AS_POSE, sizeof *poses);
  for (int i = first; i < end; ++i) {
    row[0] = made_up(i, 0);
    for (int k = 0; k < bodies * AS_POSE; ++k) poses[k] = made_up(i, 10 + k);
    assert_int_equal(as_results_writer_row(results, i, row, 1, poses, &error), AS_OK);
    if (i % flush == flush - 1) assert_int_equal(as_results_writer_flush(results, &error), AS_OK);
  }
  free(poses);
  if (as_results_writer_close(results, &error)) fail_msg("%s", error.message);
}

static void assert_made_up(int bodies, int rows) {
  as_error error;
  as_results_reader *r = open_results(path[0]);
  double *out = calloc((size_t)rows * AS_POSE, sizeof *out);
  assert_int_equal(as_results_reader_rows(r), rows);
  assert_int_equal(
      as_results_reader_read(r, as_results_reader_find(r, "energy.kinetic"), out, &error), AS_OK);
  for (int i = 0; i < rows; ++i) assert_true(out[i] == made_up(i, 0));
  for (int b = 0; b < bodies; ++b) {
    assert_int_equal(as_results_reader_poses(r, b, out, &error), AS_OK);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k)
        assert_true(out[i * AS_POSE + k] == made_up(i, 10 + AS_POSE * b + k));
  }
  free(out);
  as_results_reader_close(r);
}

/// Whole chunks and parts of them, of bodies with datasets of their own (20) and together (21; 2500, in several chunks), with few and many
/// flushes, and cut off and continued anywhere.
static void test_chunks(void **state) {
  (void)state;
  static const char *const energy[] = {"energy.kinetic"};
  static const struct {
    int bodies, rows, channels, cuts[4];
  } cases[] = {{20, 520, 61, {519, 512, 300, 0}},
               {21, 600, 148, {599, 512, 257, 1}},
               {100, 300, 701, {256, 128, 65, 64}},
               {2500, 23, 17501, {20, 16, 7, 4}}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    const int bodies = cases[c].bodies, rows = cases[c].rows;
    as_error error;
    as_model *model = build_points(bodies);
    as_channels *channels = NULL;
    if (as_channels_create(model, energy, 1, &channels, &error)) fail_msg("%s", error.message);
    as_results_writer_def def = as_default_results_writer_def();
    def.model = model;
    def.channels = channels;
    as_results_writer *results = NULL;
    for (int flush = 37; flush < 100000; flush *= 1000) {
      if (as_results_writer_create(path[0], &def, &results, &error)) fail_msg("%s", error.message);
      write_made_up(results, bodies, 0, rows, flush);
      assert_made_up(bodies, rows);
    }
    as_results_reader *r = open_results(path[0]);
    assert_int_equal(as_results_reader_count(r),
                     cases[c].channels); // together, points have quaternions
    as_results_reader_close(r);
    for (int k = 0; k < 4; ++k) {
      const int cut = cases[c].cuts[k];
      if (as_results_writer_continue(path[0], &def, cut, &results, &error))
        fail_msg("%s", error.message);
      write_made_up(results, bodies, cut, rows, k % 2 ? 11 : 1000);
      assert_made_up(bodies, rows);
    }
    as_channels_destroy(channels);
    as_model_destroy(model);
  }
}

static size_t read_bytes(const char *file, unsigned char *to, size_t room) {
  FILE *in = fopen(file, "rb");
  assert_non_null(in);
  const size_t n = fread(to, 1, room, in);
  fclose(in);
  return n;
}

static void write_bytes(const char *file, const void *bytes, size_t n) {
  FILE *out = fopen(file, "wb");
  assert_non_null(out);
  assert_true(fwrite(bytes, 1, n, out) == n);
  assert_int_equal(fclose(out), 0);
}

static void test_damaged_files(void **state) {
  (void)state;
  as_machine *m = load(engine);
  as_error error;
  as_results_reader *r = NULL;
  heard h;
  begin(&h, m, 1.0, 0.01, AS_METHOD_INDEX2, 0.1);
  const as_results_writer_def def = recorded(m, &h);
  if (as_results_writer_create(path[0], &def, &h.results, &error)) fail_msg("%s", error.message);
  assert_int_equal(go(&h), AS_OK);
  assert_int_equal(as_results_writer_close(h.results, &error), AS_OK);
  static unsigned char bytes[1 << 20];
  const size_t size = read_bytes(path[0], bytes, sizeof bytes);
  assert_true(size > 10000 && size < sizeof bytes);
  for (int k = 0; k < 20; ++k) {
    write_bytes(path[1], bytes, size * (size_t)k / 20);
    assert_int_equal(as_results_reader_open(path[1], &r, &error), AS_ERR_FILE);
    assert_non_null(strstr(error.message, "two.h5 cannot be read: it is damaged"));
    assert_null(r);
  }
  write_bytes(path[1], engine, sizeof engine);
  assert_int_equal(as_results_reader_open(path[1], &r, &error), AS_ERR_FILE);
  assert_non_null(strstr(error.message, "no HDF5 file"));
  assert_int_equal(as_results_reader_open("nowhere/results.h5", &r, &error), AS_ERR_FILE);
  assert_non_null(strstr(error.message, "No such file"));
  as_results_writer *results = NULL;
  assert_int_equal(as_results_writer_create("nowhere/results.h5", &def, &results, &error),
                   AS_ERR_FILE);
  assert_non_null(strstr(error.message, "nowhere/results.h5 cannot be written: No such file"));
  end(&h);
  as_machine_destroy(m);
}

// ---- saved runs -------------------------------------------------------------------------------------

static void save(heard *h, const char *file) {
  as_error error;
  if (as_run_save_file(h->run, file, &error)) fail_msg("%s", error.message);
}

static as_status take_up(heard *h, const char *file, as_error *error) {
  const as_status status = as_run_load_file(h->run, file, error);
  if (status == AS_OK) h->rows = (int)as_run_rows(h->run);
  return status;
}

/// Rows of `h` from `first` on are those of `whole`.
static void assert_same_rows(const heard *h, const heard *whole, int first) {
  assert_int_equal(h->rows, whole->rows);
  const size_t begin_at = (size_t)first * (size_t)h->width;
  assert_memory_equal(h->lines + begin_at, whole->lines + begin_at,
                      ((size_t)h->rows * (size_t)h->width - begin_at) * sizeof *h->lines);
}

static void test_resume(void **state) {
  (void)state;
  static const struct {
    double step;
    as_method method;
    int stop;
  } cases[] = {{0.01, AS_METHOD_INDEX2, 0},         {0.01, AS_METHOD_INDEX3, 57},
               {0.01, AS_METHOD_SOI2, 90},          {(double)NAN, AS_METHOD_INDEX2, 1},
               {(double)NAN, AS_METHOD_INDEX2, 60}, {(double)NAN, AS_METHOD_INDEX3, 75},
               {(double)NAN, AS_METHOD_INDEX2, 80}, {0.01, AS_METHOD_INDEX2, 100}};
  as_machine *m = load(engine);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    heard whole, first, second;
    as_error error;
    begin(&whole, m, 1.0, cases[k].step, cases[k].method, 0.01);
    assert_int_equal(go(&whole), AS_OK);
    begin(&first, m, 1.0, cases[k].step, cases[k].method, 0.01);
    first.stop = cases[k].stop;
    assert_int_equal(go(&first), AS_INTERRUPTED);
    save(&first, path[0]);
    begin(&second, m, 1.0, cases[k].step, cases[k].method, 0.01);
    if (take_up(&second, path[0], &error)) fail_msg("%s", error.message);
    assert_int_equal(second.rows, first.rows);
    const int from = second.rows;
    assert_int_equal(go(&second), AS_OK);
    assert_same_rows(&second, &whole, from);
    end(&whole);
    end(&first);
    end(&second);
  }
  as_machine_destroy(m);
}

/// A run that was over and goes on to a later end is as if it had been meant to.
static void test_extend(void **state) {
  (void)state;
  static const struct {
    double step, t_end, interval;
    int kept; ///< rows that stay
  } cases[] = {
      {(double)NAN, 0.5, 0.01, 51},   // a row at both ends
      {(double)NAN, 0.333, 0.01, 34}, // the last row was there because of the end
      {(double)NAN, 0.3, 0.1, 3},     // 3 x 0.1 is not 0.3
      {0.03125, 0.5, 0.01, 51},       // whole steps
      {0.03125, 0.5, 0.125, 5},       //
  };
  as_machine *m = load(engine);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    heard whole, first, second;
    as_error error;
    begin(&whole, m, 1.0, cases[k].step, AS_METHOD_INDEX2, cases[k].interval);
    assert_int_equal(go(&whole), AS_OK);
    begin(&first, m, cases[k].t_end, cases[k].step, AS_METHOD_INDEX2, cases[k].interval);
    assert_int_equal(go(&first), AS_OK);
    assert_true(first.lines[(first.rows - 1) * first.width] == cases[k].t_end);
    save(&first, path[0]);
    begin(&second, m, 1.0, cases[k].step, AS_METHOD_INDEX2, cases[k].interval);
    if (take_up(&second, path[0], &error)) fail_msg("%s", error.message);
    assert_int_equal(second.rows, cases[k].kept);
    memcpy(second.lines, first.lines, (size_t)(second.rows * second.width) * sizeof(double));
    assert_int_equal(go(&second), AS_OK);
    assert_same_rows(&second, &whole, 0);
    end(&whole);
    end(&first);
    end(&second);
  }
  as_machine_destroy(m);
}

/// Without an interval of its own, a run keeps the one it had.
static void test_extend_default_interval(void **state) {
  (void)state;
  as_machine *m = load(engine);
  heard first, second;
  as_error error;
  begin(&first, m, 0.5, 0.01, AS_METHOD_INDEX2, (double)NAN);
  assert_int_equal(go(&first), AS_OK);
  assert_int_equal(first.rows, 501);
  save(&first, path[0]);
  begin(&second, m, 0.55, 0.01, AS_METHOD_INDEX2, (double)NAN);
  if (take_up(&second, path[0], &error)) fail_msg("%s", error.message);
  assert_int_equal(go(&second), AS_OK);
  assert_int_equal(second.rows, 551);
  end(&first);
  end(&second);
  as_machine_destroy(m);
}

/// Loads into a new run; it has to be refused with these words.
static void assert_refused(const as_machine *m, const char *file, double t_end, double interval,
                           as_method method, as_status status, const char *words) {
  heard h;
  as_error error = {.message = ""};
  begin(&h, m, t_end, 0.01, method, interval);
  assert_int_equal(take_up(&h, file, &error), status);
  if (strstr(error.message, words) == NULL) fail_msg("%s lacks %s", error.message, words);
  end(&h);
}

static void test_refused_states(void **state) {
  (void)state;
  as_machine *m = load(engine);
  heard h;
  as_error error;
  begin(&h, m, 1.0, 0.01, AS_METHOD_INDEX2, 0.01);
  assert_int_equal(as_run_save_file(h.run, path[0], &error), AS_ERR_ARGUMENT);
  h.stop = 30;
  assert_int_equal(go(&h), AS_INTERRUPTED);
  save(&h, path[0]);
  assert_int_equal(as_run_load_file(h.run, path[0], &error), AS_ERR_ARGUMENT); // started
  end(&h);
  const as_method same = AS_METHOD_INDEX2;
  assert_refused(m, "nowhere/state.bin", 1.0, 0.01, same, AS_ERR_FILE, "No such file");
  assert_refused(m, path[0], 0.2, 0.01, same, AS_ERR_ARGUMENT, "behind t_end = 0.2 s");
  assert_refused(m, path[0], 1.0, 0.02, same, AS_ERR_FILE,
                 "output interval is 0.01 s, here it is 0.02 s");
  assert_refused(m, path[0], 1.0, 0.01, AS_METHOD_INDEX3, AS_ERR_FILE, "the number of the method");
  as_run_def def = as_default_run_def();
  def.t_end = 1.0;
  def.integrator.step = 0.01;
  def.interval = 0.01;
  def.poses = true;
  def.channels = everything;
  def.n_channels = sizeof everything / sizeof everything[0];
  static const char *const words[] = {"the model or its settings", "the channels"};
  for (int k = 0; k < 2; ++k) {
    as_run *run = NULL;
    def.tag = k == 0 ? 41 : 42;
    if (k == 1) --def.n_channels;
    if (as_run_create(m->model, &def, &run, &error)) fail_msg("%s", error.message);
    assert_int_equal(as_run_load_file(run, path[0], &error), AS_ERR_FILE);
    if (strstr(error.message, words[k]) == NULL) fail_msg("%s", error.message);
    as_run_destroy(run);
  }
  static unsigned char bytes[1 << 20];
  const size_t size = read_bytes(path[0], bytes, sizeof bytes - 1);
  for (size_t k = 0; k < 40; ++k) {
    write_bytes(path[1], bytes, size * k / 40);
    assert_refused(m, path[1], 1.0, 0.01, same, AS_ERR_FILE, k == 0 ? "something else" : "cut off");
    const size_t at = size * k / 40;
    bytes[at] ^= 1;
    write_bytes(path[1], bytes, size);
    assert_refused(m, path[1], 1.0, 0.01, same, AS_ERR_FILE, "two.h5 cannot be used");
    bytes[at] ^= 1;
  }
  bytes[size] = 0;
  write_bytes(path[1], bytes, size + 1);
  assert_refused(m, path[1], 1.0, 0.01, same, AS_ERR_FILE, "behind its end");
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_selections),
      cmocka_unit_test(test_continue),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_chunks),
      cmocka_unit_test(test_damaged_files),
      cmocka_unit_test(test_resume),
      cmocka_unit_test(test_extend),
      cmocka_unit_test(test_extend_default_interval),
      cmocka_unit_test(test_refused_states),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
