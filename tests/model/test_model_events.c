/// Machines with automatic steps, events and saved states: they are problems of the integrator like any other.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

/// A bar of 1 m on a hinge at the origin, from horizontal.
static as_model *bar(void) {
  as_error error = {0};
  as_builder *b = NULL;
  as_model *model = NULL;
  must(as_builder_create(&(as_model_def){.gravity = {0.0, 0.0, -9.81}}, &b, &error), &error);
  as_body_def body = as_default_body_def();
  body.name = "bar";
  body.mass = 2.0;
  body.inertia[0] = 0.01;
  body.inertia[1] = body.inertia[2] = 2.0 / 12.0;
  body.position[0] = 0.5;
  as_body_id id = {0};
  must(as_builder_add_body(b, &body, &id, &error), &error);
  as_joint_def hinge = as_default_joint_def();
  hinge.name = "hinge";
  hinge.kind = AS_JOINT_REVOLUTE;
  hinge.body[0] = AS_GROUND;
  hinge.body[1] = id;
  hinge.axis[1] = 1.0;
  must(as_builder_add_joint(b, &hinge, NULL, &error), &error);
  must(as_builder_build(b, &model, &error), &error);
  as_builder_destroy(b);
  return model;
}

/// Upright it meets a stop and comes back as fast as it came.
static int upright(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0];
  return AS_DONE;
}

static int turn_back(as_event *event, void *user) {
  ++*(int *)user;
  for (int i = 0; i < 6; ++i) event->v[i] = -event->v[i];
  return AS_EVENT_CHANGE;
}

static as_integrator *integrator_of(const as_model *model, as_method method, int *hits) {
  as_error error = {0};
  as_integrator *integrator = NULL;
  const as_event_def stop = {
      .name = "stop", .value = upright, .direction = -1, .act = turn_back, .user = hits};
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.tolerance.rtol = 3e-4;
  how.rho_inf = 0.9;
  how.events = &stop;
  how.n_events = 1;
  must(as_integrator_create(as_model_problem(model), &how, &integrator, &error), &error);
  return integrator;
}

/// It swings between horizontal and the stop: a quarter of a full swing takes T. At 2 T it is back where it began,
/// at rest.
static double quarter(void) {
  // phi'' = 1.5 g cos(phi), from rest at phi = 0 to pi/2: T = K(1/sqrt 2) / sqrt(1.5 g), K = 1.854074677301372
  return 1.854074677301372 / sqrt(1.5 * 9.81);
}

static void test_hits(void **state) {
  (void)state;
  as_model *model = bar();
  for (int m = 0; m < 3; ++m) {
    as_error error = {0};
    int hits = 0;
    as_integrator *integrator = integrator_of(model, methods[m], &hits);
    must(as_integrator_start(integrator, as_model_initial(model), NULL, &error), &error);
    must(as_integrator_advance(integrator, 0.999 * quarter(), &error), &error);
    assert_int_equal(hits, 0);
    must(as_integrator_advance(integrator, 1.001 * quarter(), &error), &error);
    assert_int_equal(hits, 1);
    assert_true(fabs(as_integrator_event(integrator).t - quarter()) < 1e-4);
    for (int k = 1; k <= 3; ++k) {
      must(as_integrator_advance(integrator, 2.0 * k * quarter(), &error), &error);
      const as_state *s = as_integrator_state(integrator);
      assert_int_equal(hits, k);
      assert_true(fabs(s->q[0] - 0.5) < 1e-3 && fabs(s->q[2]) < 1e-2);
    }
    as_integrator_destroy(integrator);
  }
  as_model_destroy(model);
}

/// Saved and loaded at every tenth of a second, around the hits too: the same bits.
static void test_saved(void **state) {
  (void)state;
  as_model *model = bar();
  for (int m = 0; m < 3; ++m) {
    as_error error = {0};
    int hits[2] = {0, 0};
    as_integrator *one = integrator_of(model, methods[m], &hits[0]);
    as_integrator *other = integrator_of(model, methods[m], &hits[1]);
    must(as_integrator_start(one, as_model_initial(model), NULL, &error), &error);
    must(as_integrator_start(other, as_model_initial(model), NULL, &error), &error);
    for (int k = 1; k <= 20; ++k) {
      size_t size = 0;
      must(as_integrator_advance(one, 0.1 * k, &error), &error);
      must(as_integrator_advance(other, 0.1 * k, &error), &error);
      const as_state *x = as_integrator_state(one), *y = as_integrator_state(other);
      assert_memory_equal(x->q, y->q, 7 * sizeof(double));
      assert_memory_equal(x->v, y->v, 6 * sizeof(double));
      assert_memory_equal(x->lambda, y->lambda, 5 * sizeof(double));
      must(as_integrator_save(other, NULL, &size, &error), &error);
      unsigned char *bytes = malloc(size);
      assert_non_null(bytes);
      must(as_integrator_save(other, bytes, &size, &error), &error);
      as_integrator_destroy(other);
      other = integrator_of(model, methods[m], &hits[1]);
      must(as_integrator_load(other, bytes, size, &error), &error);
      free(bytes);
    }
    assert_true(hits[0] >= 2 && hits[0] == hits[1]);
    as_integrator_destroy(one);
    as_integrator_destroy(other);
  }
  as_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hits), cmocka_unit_test(test_saved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
