/// Memory of analyses: wherever it runs out there is AS_ERR_MEMORY, no leak, and the state stays.
///
/// The linker sends every malloc, calloc, realloc and free through the functions here (-Wl,--wrap).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "counting.h"
#include "machines.h"

/// A parallelogram, with three redundant rows; its crank is driven or held by a spring.
static as_model *parallelogram(bool driven) {
  const double origin[3] = {0}, z_axis[3] = {0, 0, 1}, angle = 0.7;
  const double A[3] = {0.4 * cos(angle), 0.4 * sin(angle), 0}, D[3] = {1, 0, 0};
  const double C[3] = {A[0] + 1.0, A[1], 0};
  const as_curve law = {.slope = 1.0};
  as_builder *b = machine_builder(0, -9.81, 0);
  const as_body_id left = bench_link(b, "left", 1.0, 0.4, 0, 0, angle, false);
  const as_body_id bar = bench_link(b, "bar", 2.0, 1.0, A[0], A[1], 0.0, true);
  const as_body_id right = bench_link(b, "right", 1.0, 0.4, D[0], D[1], angle, false);
  const as_joint_id main =
      machine_joint(b, "O", AS_JOINT_REVOLUTE, AS_GROUND, left, origin, z_axis);
  machine_joint(b, "A", AS_JOINT_REVOLUTE, left, bar, A, z_axis);
  machine_joint(b, "C", AS_JOINT_REVOLUTE, bar, right, C, z_axis);
  machine_joint(b, "D", AS_JOINT_REVOLUTE, AS_GROUND, right, D, z_axis);
  if (driven)
    bench_motion(b, "drive", main, &law);
  else
    bench_torsion(b, "spring", AS_GROUND, left, 20.0);
  return machine_build(b);
}

/// Everything that an analysis of a machine does; the last status.
static as_status do_all(const as_model *model, bool driven, as_error *error) {
  const as_analysis_def def = as_default_analysis_def();
  const as_initial *initial = as_model_initial(model);
  const double values[2] = {0.0, 0.5};
  as_sweep_def sweep = as_default_sweep_def();
  as_continuation_def branch = as_default_continuation_def();
  as_analysis *a = NULL;
  branch.from = 0.0;
  branch.to = 0.5;
  sweep.values = values;
  sweep.n_values = 2;
  as_status status = as_analysis_create(as_model_problem(model), &def, &a, error);
  if (status == AS_OK && driven) status = as_analysis_begin_motion(a, initial, NULL, error);
  if (status == AS_OK && driven) status = as_analysis_follow_motion(a, 0.3, NULL, error);
  if (status == AS_OK && !driven) status = as_analysis_equilibrium(a, initial, NULL, error);
  if (status == AS_OK && !driven) status = as_analysis_sweep(a, initial, &sweep, NULL, error);
  if (status == AS_OK && !driven) status = as_analysis_continue(a, initial, &branch, NULL, error);
  as_analysis_destroy(a);
  return status;
}

/// A linearization with an input, its modes by both ways, blocks, responses.
static as_status linearize_all(const as_model *model, bool resting, as_error *error) {
  const as_problem *p = as_model_problem(model);
  as_initial initial = *as_model_initial(model);
  const as_analysis_def analysis_def = as_default_analysis_def();
  double force[18] = {1.0}, out[8];
  const as_linear_input input = {.signal = -1, .force = force};
  as_linearization_def def = as_default_linearization_def();
  as_analysis *a = NULL;
  as_linearization *l = NULL;
  as_modes *modes = NULL, *slow = NULL;
  as_descriptor *form = NULL;
  as_matrix block[AS_BLOCK_COUNT] = {{0}};
  def.inputs = &input;
  def.n_inputs = 1;
  as_status status = AS_OK;
  if (resting) status = as_analysis_create(p, &analysis_def, &a, error);
  if (resting && status == AS_OK) status = as_analysis_equilibrium(a, &initial, NULL, error);
  if (resting && status == AS_OK) {
    initial.q = as_analysis_state(a)->q;
    initial.v = NULL;
  }
  if (status == AS_OK) status = as_linearize(p, &initial, &def, &l, error);
  if (status == AS_OK) status = as_modes_create(l, &modes, error);
  if (status == AS_OK) status = as_descriptor_create(l, &form, error);
  if (status == AS_OK && resting) status = as_modes_slowest(p, &initial, &def, 1, &slow, error);
  if (status == AS_OK)
    status =
        as_problem_blocks(p, as_linearization_state(l), AS_BLOCK_BIT(AS_BLOCK_M), block, error);
  if (status == AS_OK) as_blocks_free(block);
  const double a2[] = {0.0, -4.0, 1.0, 0.0}, b2[] = {0.0, 1.0}, c2[] = {1.0, 0.0}, d2[] = {0.0};
  const as_linear_system system = {2, 1, 1, a2, b2, c2, d2};
  if (status == AS_OK) status = as_frequency_response(&system, (double[]){1.0}, 1, out, error);
  if (status == AS_OK) status = as_time_response(&system, AS_INPUT_STEP, 0.1, 3, out, error);
  as_modes_destroy(slow);
  as_modes_destroy(modes);
  as_descriptor_destroy(form);
  as_linearization_destroy(l);
  as_analysis_destroy(a);
  return status;
}

static void linearization_runs_out_of_memory(void **state) {
  (void)state;
  for (int driven = 0; driven < 2; ++driven) {
    as_model *model = parallelogram(driven);
    as_error error = {0};
    const long live = memory.live;
    long places = 0;
    for (long at = 1;; at += at < 200 ? 1 : 11, ++places) { // not all of thousands
      memory.fail_on = true;
      memory.fail_at = at;
      const as_status status = linearize_all(model, !driven, &error);
      memory.fail_at = 0;
      assert_int_equal(memory.live, live);
      if (status == AS_OK) break;
      if (status != AS_ERR_MEMORY) fail_msg("place %ld: %s", at, error.message);
      assert_int_equal(error.status, AS_ERR_MEMORY);
    }
    printf("  linearization: memory fails in %ld places\n", places);
    assert_true(places > 50);
    as_model_destroy(model);
  }
}

static void memory_runs_out_everywhere(void **state) {
  (void)state;
  for (int driven = 0; driven < 2; ++driven) {
    as_model *model = parallelogram(driven);
    as_error error = {0};
    const long live = memory.live;
    long places = 0;
    for (long at = 1;; ++at, ++places) {
      memory.fail_on = true;
      memory.fail_at = at;
      const as_status status = do_all(model, driven, &error);
      memory.fail_at = 0;
      assert_int_equal(memory.live, live);
      if (status == AS_OK) break;
      if (status != AS_ERR_MEMORY) fail_msg("place %ld: %s", at, error.message);
      assert_int_equal(error.status, AS_ERR_MEMORY);
    }
    printf("  %s: memory fails in %ld places\n", driven ? "motion" : "equilibrium", places);
    assert_true(places > 50);
    as_model_destroy(model);
  }
}

static void state_survives_a_failure(void **state) {
  (void)state;
  as_model *model = parallelogram(true);
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *a = NULL;
  as_error error;
  if (as_analysis_create(as_model_problem(model), &def, &a, &error) ||
      as_analysis_begin_motion(a, as_model_initial(model), NULL, &error))
    fail_msg("%s", error.message);
  const double before = as_analysis_state(a)->q[0];
  memory.fail_on = true;
  memory.fail_at = 1;
  const as_status status = as_analysis_follow_motion(a, 0.3, NULL, &error);
  memory.fail_at = 0;
  assert_int_equal(status, AS_ERR_MEMORY);
  assert_true(as_analysis_state(a)->t == 0.0 && as_analysis_state(a)->q[0] == before);
  assert_int_equal(as_analysis_follow_motion(a, 0.3, NULL, &error), AS_OK);
  as_analysis_destroy(a);
  as_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_runs_out_everywhere),
      cmocka_unit_test(linearization_runs_out_of_memory),
      cmocka_unit_test(state_survives_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
