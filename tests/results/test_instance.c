/// Instances: the numbers and events of a run, however the time is cut; inputs, saved states, what is refused.
#include "alphastep/instance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"

/// A ball of 10 m/s^2 from 5 m: on the floor at 1 s, 2 s and 2.5 s with half its speed each time. A wheel that is spun up, its angle 10 t^3.
static const char ball[] =
    "alphastep: 1\ngravity: [0, 0, -10]\nparameters: {hits: 0}\n"
    "bodies: {ball: {type: point, mass: 1, position: [0, 0, 5]}, wheel: {mass: 1, inertia: [1, 1, "
    "1]}}\n"
    "frames: {table: {body: ground}, middle: {body: ball}}\n"
    "joints:\n"
    "  floor: {type: point_on_plane, frames: [table, middle], active: false}\n"
    "  hub: {type: revolute, bodies: [ground, wheel], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "forces: {motor: {type: actuator, joint: hub, force: 60*t}, wind: {type: load, body: ball, "
    "force: [blocks.wind, 0, 0]}}\n"
    "blocks: {wind: {type: input}}\n"
    "events:\n"
    "  hit: {when: bodies.ball.position.z, direction: falling, strike: floor, restitution: 0.5, "
    "set: {hits: hits + 1}}\n"
    "  low: {when: bodies.ball.position.z - 1, direction: falling, times: 1, log: low}\n"
    "  turned: {when: joints.hub.angle - 40}\n"
    "simulate: {t_end: 2.6, tol: {rtol: 1e-6}}\n";
static const char *const names[] = {"bodies.ball.position.z", "events.hit.count", "events.hit.time",
                                    "joints.hub.angle", "bodies.ball.position.x"};
enum { WIDTH = 5 };

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static as_instance *open(const as_machine *m, as_method method) {
  as_instance_def def = as_default_instance_def();
  as_instance *out = NULL;
  as_error error;
  def.integrator = m->simulation.integrator;
  def.integrator.method = method;
  def.rules = m->rules;
  def.channels = names;
  def.n_channels = WIDTH;
  must(as_instance_create(m->model, &def, &out, &error), &error);
  assert_int_equal(as_instance_width(out), WIDTH);
  return out;
}

typedef struct rows {
  double row[4][WIDTH];
  int n;
} rows;

static as_status keep(double t, const double *row, int n, void *user, as_error *error) {
  rows *r = user;
  (void)t, (void)error;
  assert_int_equal(n, WIDTH);
  memcpy(r->row[r->n++], row, sizeof r->row[0]);
  return AS_OK;
}

static void test_is_a_run(void **state) {
  (void)state;
  as_machine *m = files_parse(ball);
  for (int method = 0; method < 3; ++method) {
    if (method == AS_METHOD_SOI2) continue; // it takes no blocks
    const double times[] = {0.0, 1.5, 2.6};
    as_run_def def = as_default_run_def();
    as_run *run = NULL;
    as_error error;
    rows found = {.n = 0};
    def.integrator = m->simulation.integrator;
    def.integrator.method = (as_method)method;
    def.rules = m->rules;
    def.t_end = 2.6;
    def.times = times;
    def.n_times = 3;
    def.channels = names;
    def.n_channels = WIDTH;
    must(as_run_create(m->model, &def, &run, &error), &error);
    must(as_run_go(run, keep, &found, NULL, &error), &error);
    static const int cuts[] = {1, 13, 100};
    for (int c = 0; c < 3; ++c) {
      as_instance *s = open(m, (as_method)method);
      double row[WIDTH];
      must(as_instance_start(s, NULL, &error), &error);
      for (int i = 1; i <= cuts[c]; ++i)
        must(as_instance_advance(s, 2.6 * i / cuts[c], &error), &error);
      must(as_instance_read(s, row, &error), &error);
      for (int i = 0; i < WIDTH; ++i) assert_true(fabs(row[i] - found.row[2][i]) <= 2e-4);
      assert_true(row[1] == 3.0 && fabs(row[2] - 2.5) <= 1e-5 &&
                  fabs(row[3] - 10.0 * 17.576) < 1e-3);
      assert_int_equal(as_instance_events(s), as_run_events(run));
      for (long k = 0; k < as_run_events(run); ++k) {
        const as_event_record one = as_instance_event(s, k), other = as_run_event(run, k);
        assert_string_equal(one.name, other.name);
        assert_true(fabs(one.t - other.t) <= 1e-5 && one.direction == other.direction);
      }
      as_instance_destroy(s);
    }
    as_run_destroy(run);
  }
  as_machine_destroy(m);
}

static void test_saved(void **state) {
  (void)state;
  as_machine *m = files_parse(ball);
  as_instance *one = open(m, AS_METHOD_INDEX2), *other = open(m, AS_METHOD_INDEX2);
  double wanted[WIDTH], row[WIDTH], u[2] = {0.0, 0.0};
  size_t size = 0, little = 1;
  as_error error;
  assert_int_not_equal(as_instance_read(other, row, &error), AS_OK); // nothing has started
  must(as_instance_start(one, NULL, &error), &error);
  must(as_instance_advance(one, 1.7, &error), &error);
  must(as_instance_save(one, NULL, &size, &error), &error);
  unsigned char *bytes = malloc(size), *spoiled = malloc(size);
  assert_true(bytes && spoiled);
  assert_int_equal(as_instance_save(one, bytes, &little, &error), AS_ERR_ARGUMENT);
  must(as_instance_save(one, bytes, &size, &error), &error);
  memcpy(u, as_integrator_state(as_instance_integrator(one))->u, sizeof u);
  assert_true(u[0] == 1.0); // hits
  u[1] = 3.0;
  must(as_instance_set(one, u, &error), &error);
  must(as_instance_advance(one, 2.6, &error), &error);
  must(as_instance_read(one, wanted, &error), &error);
  assert_true(fabs(wanted[4] - 1.5 * 0.81) < 1e-4); // wind from 1.7 s on
  for (size_t cut = 0; cut < size;
       cut += cut < 40 ? 1 : 997) // what is cut off or spoiled is refused, and nothing has changed
    assert_int_equal(as_instance_load(one, bytes, cut, &error), AS_ERR_FILE);
  for (size_t at = 0; at < size; at += at < 200 ? 7 : 997) {
    memcpy(spoiled, bytes, size);
    spoiled[at] ^= 0x10;
    assert_int_not_equal(as_instance_load(one, spoiled, size, &error), AS_OK);
  }
  must(as_instance_read(one, row, &error), &error);
  assert_memory_equal(row, wanted, sizeof row);
  for (int k = 0; k < 2; ++k) {
    as_instance *s = k ? one : other;
    must(as_instance_load(s, bytes, size, &error), &error);
    must(as_instance_read(s, row, &error), &error);
    assert_true(row[1] == 1.0 && as_instance_events(s) == 3); // low, hit, turned
    must(as_instance_set(s, u, &error), &error);
    must(as_instance_advance(s, 2.6, &error), &error);
    must(as_instance_read(s, row, &error), &error);
    assert_memory_equal(row, wanted, sizeof row);
  }
  must(as_instance_start(one, NULL, &error), &error); // again, from nothing
  must(as_instance_read(one, row, &error), &error);
  assert_true(as_instance_events(one) == 0 && row[1] == 0.0 && row[3] == 0.0 && row[0] == 5.0);
  must(as_instance_advance(one, 1.5, &error), &error);
  must(as_instance_read(one, row, &error), &error);
  assert_true(row[1] == 1.0);
  free(bytes);
  free(spoiled);
  as_instance_destroy(one);
  as_instance_destroy(other);
  as_machine_destroy(m);
}

static void test_refused(void **state) {
  (void)state;
  as_machine *m = files_parse(ball), *twin = files_parse(ball);
  as_instance_def def = as_default_instance_def();
  as_instance *s = NULL;
  as_error error;
  assert_int_equal(as_instance_create(m->model, &(as_instance_def){0}, &s, &error),
                   AS_ERR_ARGUMENT);
  def.rules = twin->rules;
  assert_int_equal(as_instance_create(m->model, &def, &s, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "another model"));
  def.rules = NULL;
  def.channels = &(const char *){"bodies.bell"};
  def.n_channels = 1;
  assert_int_equal(as_instance_create(m->model, &def, &s, &error), AS_ERR_ARGUMENT);
  assert_null(s);
  s = open(m, AS_METHOD_INDEX2);
  must(as_instance_start(s, NULL, &error), &error);
  const double wrong[2] = {0.0, (double)NAN};
  assert_int_equal(as_instance_set(s, wrong, &error), AS_ERR_ARGUMENT);
  must(as_instance_next(s, &error), &error);
  assert_int_equal(as_instance_advance(s, -1.0, &error), AS_ERR_ARGUMENT);
  as_instance_destroy(s);
  as_instance_destroy(NULL);
  as_machine_destroy(m);
  as_machine_destroy(twin);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_is_a_run),
      cmocka_unit_test(test_saved),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
