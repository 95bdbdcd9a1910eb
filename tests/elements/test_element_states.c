/// Elements with states of their own: a spring and a dashpot in a row, against its exact motion; derivatives on all spaces; refusals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "machines.h"
#include "rig.h"

/// Along a direction d in the second body, e = R d: x' = e . v - x/tau + slip x^2 e . w, force -k x e there and k x e on the first.
typedef struct row {
  double d[3], k, tau, slip;
} row;

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; ++i)
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const row *r = data;
  const as_body_motion *b = in->body[1];
  const double x = in->state ? in->state[0] : 0.0;
  double e[3], v_in_body[3], by_turn[3];
  for (int i = 0; i < 3; ++i) e[i] = dot(b->R + 3 * i, r->d);
  for (int i = 0; i < 3; ++i)
    v_in_body[i] = b->R[i] * b->v[0] + b->R[3 + i] * b->v[1] + b->R[6 + i] * b->v[2];
  cross(r->d, v_in_body, by_turn);
  const double spin = dot(r->d, b->omega);
  for (int i = 0; i < 3; ++i) {
    if (out->force) out->force[6 + i] = -r->k * x * e[i];
    if (out->force) out->force[i] = r->k * x * e[i];
    if (out->f_x) out->f_x[6 + i] = -r->k * e[i];
    if (out->f_x) out->f_x[i] = r->k * e[i];
    if (out->state_q) out->state_q[9 + i] = by_turn[i];
    if (out->state_v) out->state_v[6 + i] = e[i];
    if (out->state_v) out->state_v[9 + i] = r->slip * x * x * r->d[i];
  }
  for (int i = 0; i < 3 && out->f_q; ++i) // D(R d) = -R d~ dtheta
    for (int j = 0; j < 3; ++j) {
      const double *R = b->R + 3 * i, *d = r->d;
      const double turned[3] = {R[2] * d[1] - R[1] * d[2], R[0] * d[2] - R[2] * d[0],
                                R[1] * d[0] - R[0] * d[1]};
      out->f_q[12 * (6 + i) + 9 + j] = -r->k * x * turned[j];
      out->f_q[12 * i + 9 + j] = r->k * x * turned[j];
    }
  if (out->state_rate) out->state_rate[0] = dot(e, b->v) - x / r->tau + r->slip * x * x * spin;
  if (out->state_x) out->state_x[0] = -1.0 / r->tau + 2.0 * r->slip * x * spin;
  return AS_DONE;
}

static const as_element_type type = {"row", evaluate, NULL, NULL};

static void add(as_builder *b, as_body_id first, as_body_id second, const row *data) {
  as_error error;
  as_element_def def = as_default_element_def();
  def.type = &type;
  def.body[0] = first;
  def.body[1] = second;
  def.n_bodies = 2;
  def.n_states = 1;
  def.data = data;
  def.data_size = sizeof *data;
  if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
}

/// m v' = -k x, x' = v - x/tau: x = v0 exp(-t/(2 tau)) sin(w t)/w, w^2 = k/m - 1/(4 tau^2).
static void test_exact(void **state) {
  (void)state;
  const row data = {{1, 0, 0}, 90.0, 0.4, 0.0};
  const double m = 2.0, v0 = 0.7, t = 1.3;
  double off[2];
  for (int i = 0; i < 2; ++i) {
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def def = machine_round_body("body", m, 1.0, false);
    def.velocity[0] = v0;
    add(b, AS_GROUND, machine_body(b, &def), &data);
    as_model *model = machine_build(b);
    as_integrator *integrator;
    const as_state *s = drive_to(model, AS_METHOD_INDEX2, i ? 1e-3 : 2e-3, t, &integrator);
    const double w = sqrt(data.k / m - 1.0 / (4.0 * data.tau * data.tau));
    off[i] = fabs(s->x[0] - v0 * exp(-t / (2.0 * data.tau)) * sin(w * t) / w);
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
  print_message("  off by %.2e, %.2e\n", off[0], off[1]);
  assert_true(off[0] < 1e-5 && log2(off[0] / off[1]) > 1.9);
}

static void test_tangents(void **state) {
  (void)state;
  const row data = {{0.48, -0.6, 0.64}, 3.0, 0.8, 2.0};
  for (int se3 = 0; se3 < 4; ++se3) {
    as_builder *b = machine_builder(0, 0, -9.81);
    as_body_def first = machine_round_body("first", 1.0, 0.7, se3 & 1),
                second = machine_round_body("second", 1.5, 0.5, se3 & 2);
    second.position[0] = 0.4;
    second.quaternion[0] = 0.6;
    second.quaternion[2] = 0.8;
    const as_body_id one = machine_body(b, &first), other = machine_body(b, &second);
    add(b, one, other, &data);
    add(b, AS_GROUND, one, &data);
    as_model *m = machine_build(b);
    double v[12], x[2] = {0.4, -0.7};
    for (int i = 0; i < 12; ++i) v[i] = sin(1.0 + 3.0 * i);
    as_check_def def = as_default_check_def();
    as_check_report report;
    as_error error;
    def.near = (as_point){.q = as_model_initial(m)->q, .v = v, .x = x};
    if (as_problem_check(as_model_problem(m), &def, &report, &error)) fail_msg("%s", error.message);
    static const as_block blocks[] = {AS_BLOCK_F_X, AS_BLOCK_PHI_Q, AS_BLOCK_PHI_V, AS_BLOCK_PHI_X};
    for (int k = 0; k < 4; ++k) assert_true(report.block[blocks[k]] < 1e-6); // and there
    as_model_destroy(m);
  }
}

static void test_refused(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_def body = machine_round_body("body", 1.0, 1.0, false);
  as_element_def def = as_default_element_def();
  as_error error;
  def.type = &type;
  def.body[0] = machine_body(b, &body);
  def.n_bodies = 1;
  def.n_states = AS_ELEMENT_STATES + 1;
  expect_refused(as_builder_add_element(b, &def, NULL, &error), &error, "has 5 states: 0 to 4");
  as_builder_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_tangents),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
