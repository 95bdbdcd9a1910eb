/// Inputs from outside: held signals that a program sets between two calls, and blocks of type `input`. A signal that is set is what an event
/// that sets it at the same time is, to the last bit; the motion is second order across it; what is refused changes nothing.
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

enum { PULSES = 4 };
static const double value[PULSES] = {3.0, -2.0, 0.5, 7.0};

static const char *const cart =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  cart: {mass: 2, inertia: [1, 1, 1]}\n"
    "  bob: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, 0, -1]}\n"
    "joints:\n"
    "  rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0]}\n"
    "  pin: {type: revolute, bodies: [cart, bob], point: [0, 0, 0], axis: [0, 1, 0], start: "
    "{angle: 0.4}}\n"
    "forces:\n"
    "  push: {type: actuator, joint: rail, force: blocks.in}\n"
    "blocks:\n"
    "  in: {type: input, start: 1, unit: N}\n";

/// A cart alone on its rail.
#define ALONE(force, blocks)                                                                       \
  "alphastep: 1\n"                                                                                 \
  "bodies: {cart: {mass: 2, inertia: [1, 1, 1]}}\n"                                                \
  "joints: {rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0]}}\n" \
  "forces: {push: {type: actuator, joint: rail, force: " force "}}\n"                              \
  "blocks: {in: {type: input}" blocks "}\n"

static as_integrator *begin(const as_model *model, as_method method, double h,
                            const as_event_def *event) {
  as_error error;
  as_integrator *s = NULL;
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.step = h;
  how.tolerance.rtol = 1e-6;
  how.tolerance.land = true;
  how.events = event;
  how.n_events = event ? 1 : 0;
  if (as_integrator_create(as_model_problem(model), &how, &s, &error) ||
      as_integrator_start(s, as_model_initial(model), NULL, &error))
    fail_msg("%s", error.message);
  return s;
}

static void set(as_integrator *s, double u) {
  as_error error;
  if (as_integrator_set_signals(s, &u, &error)) fail_msg("%s", error.message);
}

static void go(as_integrator *s, double t) {
  as_error error;
  if (as_integrator_advance(s, t, &error)) fail_msg("%s", error.message);
}

static int next_value(as_event *event, void *user) {
  int *count = user;
  event->u[0] = value[(*count)++ % PULSES];
  return AS_EVENT_CHANGE;
}

/// A timed event at 0.125, 0.25, ... and the same set by hand there: to the last bit, with automatic steps.
static void test_as_events(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX2, AS_METHOD_INDEX3, AS_METHOD_SOI2};
  as_machine *machine = files_parse(cart);
  for (int k = 0; k < 3; ++k) {
    int count = 0;
    const as_event_def event = {
        .name = "next", .act = next_value, .user = &count, .period = 0.125, .offset = 0.125};
    as_integrator *by_event = begin(machine->model, methods[k], (double)NAN, &event),
                  *by_hand = begin(machine->model, methods[k], (double)NAN, NULL);
    for (int i = 1; i <= 2 * PULSES; ++i) {
      go(by_event, 0.125 * i);
      go(by_hand, 0.125 * i);
      set(by_hand, value[(i - 1) % PULSES]);
      const as_state *a = as_integrator_state(by_event), *b = as_integrator_state(by_hand);
      assert_true(a->t == b->t && a->u[0] == b->u[0]);
      assert_memory_equal(a->q, b->q, 14 * sizeof(double));
      assert_memory_equal(a->v, b->v, 12 * sizeof(double));
      assert_memory_equal(a->vdot, b->vdot, 12 * sizeof(double));
      assert_memory_equal(a->lambda, b->lambda, 10 * sizeof(double));
    }
    assert_int_equal(count, 2 * PULSES);
    as_integrator_destroy(by_event);
    as_integrator_destroy(by_hand);
  }
  as_machine_destroy(machine);
}

/// v' jumps at once, and positions are those of constant forces: a cart alone.
static void test_exact(void **state) {
  (void)state;
  as_machine *machine = files_parse(ALONE("blocks.in", ""));
  for (int fixed = 0; fixed < 2; ++fixed) {
    as_integrator *s = begin(machine->model, AS_METHOD_INDEX2, fixed ? 0.013 : (double)NAN, NULL);
    double x = 0.0, v = 0.0, f = 0.0;
    for (int i = 0; i < 3 * PULSES; ++i) {
      const double dt = 0.07;
      f = value[i % PULSES];
      set(s, f);
      assert_true(fabs(as_integrator_state(s)->vdot[0] - f / 2.0) < 1e-12);
      go(s, dt * (i + 1));
      x += dt * v + dt * dt * f / 4.0;
      v += dt * f / 2.0;
      assert_true(fabs(as_integrator_state(s)->q[0] - x) < 1e-12);
      assert_true(fabs(as_integrator_state(s)->v[0] - v) < 1e-12);
    }
    as_integrator_destroy(s);
  }
  as_machine_destroy(machine);
}

/// Numbers that are none, and a call before the start, are refused; the run goes on as if they had not been.
static void test_refused(void **state) {
  (void)state;
  as_machine *machine = files_parse(cart);
  as_integrator *s = begin(machine->model, AS_METHOD_INDEX2, (double)NAN, NULL),
                *other = begin(machine->model, AS_METHOD_INDEX2, (double)NAN, NULL);
  as_integrator *raw = NULL;
  as_integrator_def how = as_default_integrator_def();
  as_error error;
  const double bad = (double)NAN, good = 1.0;
  go(s, 0.25);
  go(other, 0.25);
  assert_int_equal(as_integrator_set_signals(s, &bad, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "signal 0 cannot be"));
  go(s, 0.5);
  go(other, 0.5);
  assert_memory_equal(as_integrator_state(s)->q, as_integrator_state(other)->q,
                      14 * sizeof(double));
  assert_int_equal(as_integrator_create(as_model_problem(machine->model), &how, &raw, &error),
                   AS_OK);
  assert_int_equal(as_integrator_set_signals(raw, &good, &error), AS_ERR_ARGUMENT);
  as_integrator_destroy(raw);
  as_integrator_destroy(other);
  as_integrator_destroy(s);
  as_machine_destroy(machine);
}

/// Behind what has already happened signals cannot be set: the step's end is shown, then a time inside it.
static void test_too_late(void **state) {
  (void)state;
  as_machine *machine = files_parse(cart);
  as_integrator *s = begin(machine->model, AS_METHOD_INDEX2, 0.02, NULL);
  as_error error;
  const double u = 2.0;
  if (as_integrator_next(s, &error) || as_integrator_interpolate(s, 0.01, &error))
    fail_msg("%s", error.message);
  assert_int_equal(as_integrator_set_signals(s, &u, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "happened already"));
  as_integrator_destroy(s);
  as_machine_destroy(machine);
}

static int cart_speed(const as_state *now, double *out, void *user) {
  (void)user;
  *out = now->v[0];
  return AS_DONE;
}

static int stop_here(as_event *event, void *user) {
  (void)event, (void)user;
  return AS_EVENT_STOP;
}

/// Where an event has stopped the run signals may be set any number of times; it is not that event again, nor when the run goes on.
static void test_at_a_stop(void **state) {
  (void)state;
  as_machine *machine = files_parse(cart);
  const as_event_def event = {.name = "turn", .value = cart_speed, .act = stop_here};
  as_integrator *s = begin(machine->model, AS_METHOD_INDEX2, (double)NAN, &event);
  as_error error;
  assert_int_equal(as_integrator_advance(s, 10.0, &error), AS_STOPPED);
  const double stopped = as_integrator_state(s)->t;
  for (int i = 0; i < 10; ++i) set(s, 1.0);
  go(s, stopped + 0.05);
  assert_int_equal(as_integrator_event(s).count, 1);
  as_integrator_destroy(s);
  as_machine_destroy(machine);
}

/// A sample that is due where an event has stopped the run is taken after signals were set there.
static void test_sample_at_a_stop(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      ALONE("blocks.in + blocks.n", ", n: {type: sampled, formula: blocks.n + 1, period: 0.125}"));
  const as_event_def event = {.name = "stop", .act = stop_here, .period = 0.5, .offset = 0.5};
  const int n = as_model_signal_place(machine->model,
                                      as_model_find_signal(machine->model, "n", NULL)),
            in = as_model_signal_place(machine->model,
                                       as_model_find_signal(machine->model, "in", NULL));
  for (int fixed = 0; fixed < 2; ++fixed) {
    as_integrator *s =
        begin(machine->model, AS_METHOD_INDEX2, fixed ? 0.03125 : (double)NAN, &event);
    as_error error;
    double u[2];
    assert_int_equal(as_integrator_advance(s, 1.0, &error), AS_STOPPED);
    u[n] = as_integrator_state(s)->u[n];
    u[in] = 3.0;
    if (as_integrator_set_signals(s, u, &error)) fail_msg("%s", error.message);
    go(s, 0.9375);
    assert_true(as_integrator_state(s)->u[n] == 8.0); // samples at 0, 0.125, ... 0.875
    assert_true(as_integrator_state(s)->u[in] == 3.0);
    as_integrator_destroy(s);
  }
  as_machine_destroy(machine);
}

/// A force without bound at one value: the change fails, and nothing has changed.
static void test_fails_undone(void **state) {
  (void)state;
  as_machine *machine = files_parse(ALONE("1/(blocks.in - 5)", ""));
  as_integrator *s = begin(machine->model, AS_METHOD_INDEX2, (double)NAN, NULL),
                *other = begin(machine->model, AS_METHOD_INDEX2, (double)NAN, NULL);
  as_error error;
  const double bad = 5.0;
  go(s, 0.33);
  go(other, 0.33);
  assert_true(as_status_is_failure(as_integrator_set_signals(s, &bad, &error)));
  assert_true(as_integrator_state(s)->t == 0.33 && as_integrator_state(s)->u[0] == 0.0);
  assert_true(as_integrator_state(s)->vdot[0] == as_integrator_state(other)->vdot[0]);
  go(s, 0.9);
  go(other, 0.9);
  assert_memory_equal(as_integrator_state(s)->q, as_integrator_state(other)->q, 7 * sizeof(double));
  as_integrator_destroy(other);
  as_integrator_destroy(s);
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_events), cmocka_unit_test(test_exact),
      cmocka_unit_test(test_refused),   cmocka_unit_test(test_fails_undone),
      cmocka_unit_test(test_too_late),  cmocka_unit_test(test_sample_at_a_stop),
      cmocka_unit_test(test_at_a_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
