/// What the types of the interface keep apart: ids by their kinds, descriptions by their cookies, failures by their signs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"

// ---- ids --------------------------------------------------------------------------------------------

/// Whether an id of one type is one of another.
#define IS(id, type) _Generic((id), type : 1, default : 0)

static void ids_are_of_their_kind(void **state) {
  (void)state;
  const as_body_id body = {3};
  const as_joint_id joint = {3};
  assert_true(IS(body, as_body_id) && IS(AS_GROUND, as_body_id) && IS(AS_NO_BODY, as_body_id));
  assert_false(IS(joint, as_body_id) || IS(AS_NO_JOINT, as_body_id) || IS(3, as_body_id));
  assert_true(IS(joint, as_joint_id) && IS(AS_SELF, as_joint_id));
  assert_true(IS(AS_NO_FRAME, as_frame_id) && IS(AS_NO_FORCE, as_force_id) &&
              IS(AS_NO_PARAMETER, as_parameter_id) && IS(AS_NO_SIGNAL, as_signal_id) &&
              IS(AS_NO_SUPERELEMENT, as_superelement_id));
  assert_true(as_body_equal(body, (as_body_id){3}) && !as_body_equal(body, AS_GROUND));
  assert_false(as_body_equal(AS_GROUND, AS_NO_BODY));
  assert_true(AS_GROUND.index < 0 && AS_NO_BODY.index < 0 && AS_NO_JOINT.index < 0);
}

// ---- descriptions -----------------------------------------------------------------------------------

static void refused(as_status status, const as_error *error, const char *type) {
  char sentence[200];
  snprintf(sentence, sizeof sentence,
           "This %s was not made by as_default_%s() of this version of the library.", type,
           type + 3);
  assert_int_equal(status, AS_ERR_ARGUMENT);
  assert_string_equal(error->message, sentence);
}

/// A description of zeros, and one whose cookie is that of another type.
#define REFUSED(type, call)                                                                        \
  do {                                                                                             \
    type def;                                                                                      \
    memset(&def, 0, sizeof def);                                                                   \
    refused((call), &error, #type);                                                                \
    def.cookie = other;                                                                            \
    refused((call), &error, #type);                                                                \
  } while (0)

static void descriptions_come_from_their_defaults(void **state) {
  (void)state;
  as_error error = {0};
  as_builder *b = NULL;
  assert_int_equal(as_builder_create(&(as_model_def){.gravity = {0}}, &b, &error), AS_OK);
  unsigned other = as_default_body_def().cookie;
  REFUSED(as_frame_def, as_builder_add_frame(b, &def, NULL, &error));
  REFUSED(as_joint_def, as_builder_add_joint(b, &def, NULL, &error));
  REFUSED(as_motion_def, as_builder_add_motion(b, &def, NULL, &error));
  REFUSED(as_rolling_def, as_builder_add_rolling(b, &def, NULL, &error));
  REFUSED(as_skate_def, as_builder_add_skate(b, &def, NULL, &error));
  REFUSED(as_gear_def, as_builder_add_gear(b, &def, NULL, &error));
  REFUSED(as_rack_def, as_builder_add_rack(b, &def, NULL, &error));
  REFUSED(as_spring_def, as_builder_add_spring(b, &def, NULL, &error));
  REFUSED(as_torsion_def, as_builder_add_torsion(b, &def, NULL, &error));
  REFUSED(as_load_def, as_builder_add_load(b, &def, NULL, &error));
  REFUSED(as_actuator_def, as_builder_add_actuator(b, &def, NULL, &error));
  REFUSED(as_joint_friction_def, as_builder_add_joint_friction(b, &def, NULL, &error));
  REFUSED(as_bushing_def, as_builder_add_bushing(b, &def, NULL, &error));
  REFUSED(as_stop_def, as_builder_add_stop(b, &def, NULL, &error));
  REFUSED(as_contact_def, as_builder_add_contact(b, &def, NULL, &error));
  REFUSED(as_element_def, as_builder_add_element(b, &def, NULL, &error));
  REFUSED(as_signal_def, as_builder_add_signal(b, &def, NULL, &error));
  REFUSED(as_linear_def, as_builder_add_linear(b, &def, &error));
  REFUSED(as_coordinate_def, as_builder_set_coordinate(b, &def, &error));
  REFUSED(as_beam_def, as_builder_add_beam(b, &def, NULL, &error));
  REFUSED(as_superelement_def, as_builder_add_superelement(b, &def, NULL, &error));
  other = as_default_frame_def().cookie;
  REFUSED(as_body_def, as_builder_add_body(b, &def, NULL, &error));
  refused(as_builder_add_body(b, NULL, NULL, &error), &error, "as_body_def");

  as_body_def ball = as_default_body_def();
  ball.kind = AS_BODY_POINT;
  ball.mass = 1.0;
  assert_int_equal(as_builder_add_body(b, &ball, NULL, &error), AS_OK);
  as_model *model = NULL;
  assert_int_equal(as_builder_build(b, &model, &error), AS_OK);
  const as_problem *problem = as_model_problem(model);
  const as_initial *initial = as_model_initial(model);

  as_problem *made = NULL;
  as_integrator *integrator = NULL;
  as_linearization *linear = NULL;
  as_analysis *analysis = NULL;
  as_run *run = NULL;
  as_results_writer *results = NULL;
  as_patterns *patterns = NULL;
  const as_analysis_def analysis_def = as_default_analysis_def();
  const as_check_def check_def = as_default_check_def();
  as_problem_def problem_def = as_default_problem_def();
  REFUSED(as_problem_def, as_problem_create(&def, &made, &error));
  REFUSED(as_problem_def, as_problem_detect(&def, &check_def, &patterns, &error));
  REFUSED(as_check_def, as_problem_detect(&problem_def, &def, &patterns, &error));
  REFUSED(as_check_def, as_problem_check(problem, &def, NULL, &error));
  REFUSED(as_integrator_def, as_integrator_create(problem, &def, &integrator, &error));
  REFUSED(as_linearization_def, as_linearize(problem, initial, &def, &linear, &error));
  REFUSED(as_analysis_def, as_analysis_create(problem, &def, &analysis, &error));
  assert_int_equal(as_analysis_create(problem, &analysis_def, &analysis, &error), AS_OK);
  REFUSED(as_sweep_def, as_analysis_sweep(analysis, initial, &def, NULL, &error));
  REFUSED(as_run_def, as_run_create(model, &def, &run, &error));
  REFUSED(as_results_writer_def, as_results_writer_create("nowhere.h5", &def, &results, &error));
  REFUSED(as_report_def, as_report_write(&def, &error));
  as_rules *rules = NULL;
  REFUSED(as_rule_def,
          as_rules_create(model, &(as_rules_def){.rule = &def, .n = 1}, &rules, &error));
  as_rule_def rule = as_default_rule_def();
  rule.name = "hit";
  rule.when = "t - 1";
  rule.n_impulse = 1;
  REFUSED(as_rule_impulse,
          (rule.impulse = &def,
           as_rules_create(model, &(as_rules_def){.rule = &rule, .n = 1}, &rules, &error)));
  assert_true(made == NULL && integrator == NULL && linear == NULL && run == NULL &&
              results == NULL && rules == NULL && patterns == NULL);
  as_analysis_destroy(analysis);
  as_model_destroy(model);
  as_builder_destroy(b);
}

static void forgotten_kind_is_refused(void **state) {
  (void)state;
  as_error error = {0};
  as_builder *b = NULL;
  assert_int_equal(as_builder_create(&(as_model_def){.gravity = {0}}, &b, &error), AS_OK);
  as_joint_def joint = as_default_joint_def();
  joint.name = "elbow";
  assert_int_equal(as_builder_add_joint(b, &joint, NULL, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "The kind of the joint \"elbow\" is not given.");
  as_builder_destroy(b);
}

// ---- numbers ----------------------------------------------------------------------------------------

static void defaults_are_zero_and_stops_are_no_failures(void **state) {
  (void)state;
  assert_int_equal(AS_METHOD_INDEX2, 0);
  assert_int_equal(as_default_integrator_def().method, AS_METHOD_INDEX2);
  assert_false(as_status_is_failure(AS_OK) || as_status_is_failure(AS_STOPPED) ||
               as_status_is_failure(AS_INTERRUPTED));
  assert_true(AS_STOPPED < 0 && AS_INTERRUPTED < 0);
  for (int i = AS_ERR_ARGUMENT; i <= AS_ERR_FILE; ++i) {
    assert_true(as_status_is_failure((as_status)i));
    assert_memory_equal(as_status_name((as_status)i), "AS_ERR_", 7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_are_of_their_kind),
      cmocka_unit_test(descriptions_come_from_their_defaults),
      cmocka_unit_test(forgotten_kind_is_refused),
      cmocka_unit_test(defaults_are_zero_and_stops_are_no_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
