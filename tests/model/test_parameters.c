/// Held signals as parameters: elements read them, events set them, states carry them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/quantities.h"
#include "machines.h"
#include "rig.h"

static const double pi = 3.14159265358979323846;

// ---- a mass on a spring whose stiffness is a parameter ---------------------------------------------------------

typedef struct pull {
  as_parameter_id stiffness;
  double most; ///< beyond it the element cannot be evaluated [N/m]
} pull;

static int pull_evaluate(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const pull *p = data;
  const double k = in->u[p->stiffness.index];
  if (k > p->most) return AS_FATAL;
  for (int i = 0; i < 3; ++i) {
    if (out->force) out->force[i] = -k * in->body[0]->x[i];
    if (out->f_q) out->f_q[7 * i] = -k;
  }
  return AS_DONE;
}

static double pull_potential(const as_element_input *in, const void *data) {
  const pull *p = data;
  const double *x = in->body[0]->x;
  return 0.5 * in->u[p->stiffness.index] * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static const as_element_type pull_type = {"pull", pull_evaluate, pull_potential, NULL};

/// A mass of 2 kg at x = 1 m, at rest; k = 8 N/m: omega = 2 rad/s. In front of k stands another parameter.
static as_model *make_model(void) {
  as_builder *b = machine_builder(0, 0, 0);
  as_error error = {0};
  pull data = {.most = 100.0};
  as_parameter_id other = {-1};
  if (as_builder_add_parameter(b, "offset", -3.0, &other, &error) ||
      as_builder_add_parameter(b, "stiffness", 8.0, &data.stiffness, &error))
    fail_msg("%s", error.message);
  as_element_def def = as_default_element_def();
  def.name = "pull";
  def.type = &pull_type;
  def.n_bodies = 1;
  def.body[0] = machine_point(b, "mass", 2.0, (double[]){1, 0, 0}, (double[]){0, 0, 0});
  def.data = &data;
  def.data_size = sizeof data;
  if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

/// What the event does when the mass passes x = 0.
typedef struct deed {
  double stiffness;
  int answer;
  int calls;
} deed;

static int place(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0];
  return AS_DONE;
}

static int stiffen(as_event *event, void *user) {
  deed *d = user;
  ++d->calls;
  assert_true(event->u[0] == -3.0 && event->state->u[0] == -3.0);
  event->u[1] = d->stiffness;
  assert_true(event->state->u[1] != d->stiffness);
  return d->answer;
}

static as_integrator *make_integrator(const as_model *model, as_method method, double step,
                                      deed *d) {
  const as_event_def event = {
      .name = "middle", .value = place, .direction = -1, .act = stiffen, .user = d};
  const as_integrator_def how = rig_how(method, step, &event, 1);
  as_error error = {0};
  as_integrator *integrator = NULL;
  if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

static void advance(as_integrator *integrator, double t) {
  as_error error = {0};
  if (as_integrator_advance(integrator, t, &error)) fail_msg("%s", error.message);
}

/// omega = 2 until pi/4, where v = -2; then k = 32, omega = 4: x = -0.5 sin(4 (t - pi/4)).
static double error_at_end(const as_model *model, as_method method, double step, bool *changed) {
  deed d = {32.0, AS_EVENT_CHANGE, 0};
  as_integrator *integrator = make_integrator(model, method, step, &d);
  advance(integrator, 1.0);
  const as_state *s = as_integrator_state(integrator);
  const double phase = 4.0 * (1.0 - pi / 4.0);
  const double error = fmax(fabs(s->q[0] + 0.5 * sin(phase)), fabs(s->v[0] + 2.0 * cos(phase)));
  *changed = s->u[0] == -3.0 && s->u[1] == 32.0 && d.calls == 1;
  as_integrator_destroy(integrator);
  return error;
}

static void test_order(void **state) {
  (void)state;
  as_model *model = make_model();
  for (int m = 0; m < 3; ++m) {
    bool changed[2];
    const double coarse = error_at_end(model, rig_methods[m], 0.01, &changed[0]),
                 fine = error_at_end(model, rig_methods[m], 0.005, &changed[1]);
    assert_true(changed[0] && changed[1]);
    assert_true(coarse < 1e-2);
    assert_near("order", log2(coarse / fine), 2.0, 0.15);
  }
  as_model_destroy(model);
}

/// Inside the step before the event the old value is shown, and quantities use what is shown.
static void test_shown(void **state) {
  (void)state;
  as_model *model = make_model();
  deed d = {32.0, AS_EVENT_CHANGE | AS_EVENT_STOP, 0};
  as_integrator *integrator = make_integrator(model, AS_METHOD_INDEX2, 0.01, &d);
  as_error error = {0};
  assert_int_equal(as_integrator_advance(integrator, 1.0, &error), AS_STOPPED);
  const as_state *s = as_integrator_state(integrator);
  const double t = s->t;
  as_energy energy;
  assert_true(s->u[1] == 32.0 && s->vdot[0] == -16.0 * s->q[0]);
  if (as_integrator_interpolate(integrator, t - 1e-3, &error)) fail_msg("%s", error.message);
  assert_true(s->u[1] == 8.0);
  if (as_model_energy(model, s, &energy, &error)) fail_msg("%s", error.message);
  assert_near("energy", energy.potential, 4.0 * s->q[0] * s->q[0], 1e-15);
  as_integrator_destroy(integrator);

  // Without AS_EVENT_CHANGE nothing has changed, to the bit.
  deed nothing = {32.0, AS_EVENT_CONTINUE, 0}, never = {0};
  as_integrator *one = make_integrator(model, AS_METHOD_INDEX2, 0.01, &nothing);
  advance(one, 1.0);
  assert_int_equal(nothing.calls, 1);
  assert_true(as_integrator_state(one)->u[1] == 8.0);
  as_integrator_destroy(one);
  one = make_integrator(model, AS_METHOD_INDEX2, 0.01, &never);
  assert_true(as_integrator_state(one)->u[1] == 8.0);
  as_integrator_destroy(one);
  as_model_destroy(model);
}

/// What cannot be done leaves u as it was, and a later try may succeed.
static void test_failures(void **state) {
  (void)state;
  as_model *model = make_model();
  static const struct {
    double stiffness;
    int answer;
    as_status status;
    const char *message;
  } wrong[] = {
      {32.0, -1, AS_ERR_CALLBACK, "The action of event \"middle\" failed"},
      {(double)NAN, AS_EVENT_CHANGE, AS_ERR_CALLBACK, "An event has set u[1] to nan at t = 0.785"},
      {200.0, AS_EVENT_CHANGE, AS_ERR_CALLBACK, "force \"pull\""}};
  for (int k = 0; k < 3; ++k) {
    deed d = {wrong[k].stiffness, wrong[k].answer, 0};
    as_integrator *integrator = make_integrator(model, AS_METHOD_INDEX2, 0.01, &d);
    as_error error = {0};
    assert_int_equal(as_integrator_advance(integrator, 1.0, &error), wrong[k].status);
    if (strstr(error.message, wrong[k].message) == NULL) fail_msg("%s", error.message);
    assert_true(as_integrator_state(integrator)->u[1] == 8.0);
    d.stiffness = 32.0;
    d.answer = AS_EVENT_CHANGE;
    advance(integrator, 1.2);
    const as_state *s = as_integrator_state(integrator);
    assert_true(s->u[1] == 32.0);
    assert_near("place", s->q[0], -0.5 * sin(4.0 * (1.2 - pi / 4.0)), 2e-4);
    as_integrator_destroy(integrator);
  }
  as_model_destroy(model);
}

/// Saved before and after the event, loaded into another: the same bits.
static void test_saved(void **state) {
  (void)state;
  as_model *model = make_model();
  for (int m = 0; m < 3; ++m) {
    deed d[2] = {{32.0, AS_EVENT_CHANGE, 0}, {32.0, AS_EVENT_CHANGE, 0}};
    as_integrator *one = make_integrator(model, rig_methods[m], (double)NAN, &d[0]);
    for (int k = 1; k <= 4; ++k) {
      as_error error = {0};
      size_t size = 0;
      as_integrator *other = make_integrator(model, rig_methods[m], (double)NAN, &d[1]);
      assert_int_equal(as_integrator_save(one, NULL, &size, &error), AS_OK);
      unsigned char *bytes = malloc(size);
      assert_non_null(bytes);
      assert_int_equal(as_integrator_save(one, bytes, &size, &error), AS_OK);
      if (as_integrator_load(other, bytes, size, &error)) fail_msg("%s", error.message);
      free(bytes);
      advance(one, 0.3 * k);
      advance(other, 0.3 * k);
      const as_state *x = as_integrator_state(one), *y = as_integrator_state(other);
      assert_memory_equal(x->q, y->q, 3 * sizeof(double));
      assert_memory_equal(x->u, y->u, 2 * sizeof(double));
      assert_true(x->u[1] == (k < 3 ? 8.0 : 32.0));
      as_integrator_destroy(other);
    }
    as_integrator_destroy(one);
  }
  as_model_destroy(model);
}

// ---- beside a sampled signal --------------------------------------------------------------------------------------

/// q'' = u[0] + u[1]: the first is sampled each 0.5 s as the number of samples so far, the second is set when q passes
/// 0.5; and so is the first, which lasts until its next sample.
static int one_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int both_forces(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = at->u[0] + at->u[1];
  return AS_DONE;
}

static int count_sample(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = 1.0 + round(at->t / 0.5);
  return AS_DONE;
}

static int beyond_half(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0] - 0.5;
  return AS_DONE;
}

static int set_both(as_event *event, void *user) {
  (void)user;
  event->u[0] = 20.0;
  event->u[1] = 10.0;
  return AS_EVENT_CHANGE;
}

static void test_beside_samples(void **state) {
  (void)state;
  static const as_sampler_def sampler = {
      .period = 0.5, .first = 0, .count = 1, .sample = count_sample};
  static const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.n_u = 2;
  def.mass = one_mass;
  def.mass_constant = true;
  def.force = both_forces;
  def.samplers = &sampler;
  def.n_samplers = 1;
  const as_event_def event = {
      .name = "half", .value = beyond_half, .direction = 1, .act = set_both};
  const double zero = 0.0, u0[2] = {7.0, 0.5};
  const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.01, &event, 1);
  rig r = rig_make(&def, &how, &(as_initial){.q = &zero, .v = &zero, .u = u0});
  // 1.5 up to 0.5 s: q = 0.1875, v = 0.75; then 2.5: q = 0.5 after s: 0.1875 + 0.75 s + 1.25 s^2 = 0.5
  const double s = (-0.75 + sqrt(0.75 * 0.75 + 4.0 * 1.25 * 0.3125)) / 2.5;
  const double v = 0.75 + 2.5 * s, rest = 0.5 - s;
  const as_state *at = rig_advance(&r, 0.99);
  assert_true(at->u[0] == 20.0 && at->u[1] == 10.0);
  at = rig_advance(&r, 1.0);
  assert_true(at->u[0] == 3.0 && at->u[1] == 10.0);
  assert_near("v", at->v[0], v + 30.0 * rest, 1e-9);
  assert_near("q", at->q[0], 0.5 + v * rest + 15.0 * rest * rest, 1e-9);
  rig_free(&r);
}

// ---- what follows the motion ---------------------------------------------------------------------------------------

/// A free mass whose problem notes the time at the end of each step, and how often it was asked; no step may end behind
/// 0.55 s.
static int note_time(const as_point *at, double *u, void *user) {
  int *calls = user;
  ++*calls;
  assert_true(at->q && at->v && at->u != u && at->u[1] == u[1]);
  u[0] = at->t;
  u[1] = (double)NAN; // cannot be told: it stays
  return *calls == 3 ? AS_RETRY : AS_DONE;
}

static int ends_early(const as_point *from, const as_point *to, const bool *inactive, int *row,
                      char *text, size_t size, void *user) {
  (void)inactive, (void)row, (void)text, (void)size, (void)user;
  assert_true(from->u && to->u && from->u[1] == 0.5);
  return to->t > 0.55 ? AS_RETRY : AS_DONE;
}

static void test_follow(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  for (int m = 0; m < 3; ++m) {
    int calls = 0;
    as_problem_def def = as_default_problem_def();
    def.parts = &line;
    def.n_parts = 1;
    def.n_u = 2;
    def.mass = one_mass;
    def.mass_constant = true;
    def.force = both_forces;
    def.follow = note_time;
    def.check_step = ends_early;
    def.user = &calls;
    const double zero = 0.0, u0[2] = {0.25, 0.5};
    const as_integrator_def how = rig_how(rig_methods[m], 0.1, NULL, 0);
    rig r = rig_make(&def, &how, &(as_initial){.q = &zero, .v = &zero, .u = u0});
    assert_true(as_integrator_state(r.integrator)->u[0] == 0.25);
    const as_state *at = rig_advance(&r, 0.2);
    assert_true(calls == 2 && at->u[0] == at->t && at->u[1] == 0.5);
    at = rig_advance(&r, 0.3);
    assert_near("kept", at->u[0], 0.2, 1e-15); // the third answer does not count
    at = rig_advance(&r, 0.5);
    const double before = at->t;
    assert_true(at->u[0] == before);
    // Parts of the next step can be taken, but not all of it: each that can is a step of its own, and noted.
    calls = 3;
    at = rig_advance_to(&r, 0.6, AS_ERR_RETRY);
    assert_true(calls > 3);
    assert_true(at->t > before && at->t <= 0.55 && at->u[0] == at->t && at->u[1] == 0.5);
    rig_free(&r);
  }
}

// ---- names ---------------------------------------------------------------------------------------------------------

static void test_names(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error = {0};
  as_parameter_id id = {-5};
  assert_int_equal(as_builder_add_parameter(b, "gain", 1.5, &id, &error), AS_OK);
  assert_int_equal(id.index, 0);
  assert_int_equal(as_builder_add_parameter(b, "gain", 2.0, &id, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "There are two parameters named \"gain\".");
  assert_int_equal(as_builder_add_parameter(b, "t", 2.0, &id, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "A parameter cannot have the name \"t\": that is the time.");
  assert_int_equal(as_builder_add_parameter(b, "a.b", 2.0, &id, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_builder_add_parameter(b, "far", (double)INFINITY, &id, &error),
                   AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "The parameter \"far\" is inf.");
  assert_int_equal(as_builder_add_parameter(b, NULL, -2.0, NULL, &error), AS_OK);
  assert_int_equal(id.index, 0);
  machine_point(b, "mass", 1.0, (double[]){0, 0, 0}, (double[]){0, 0, 0});
  as_model *model = machine_build(b);
  assert_int_equal(as_model_parameters(model), 2);
  assert_int_equal(as_model_find_parameter(model, "gain").index, 0);
  assert_int_equal(as_model_find_parameter(model, "far").index, AS_NO_PARAMETER.index);
  assert_string_equal(as_model_parameter_name(model, (as_parameter_id){1}), "parameter 1");
  assert_true(as_model_initial(model)->u[0] == 1.5 && as_model_initial(model)->u[1] == -2.0);
  as_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),    cmocka_unit_test(test_shown),
      cmocka_unit_test(test_failures), cmocka_unit_test(test_saved),
      cmocka_unit_test(test_follow),   cmocka_unit_test(test_beside_samples),
      cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
