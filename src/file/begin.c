/// `start:`: a machine that starts where it comes to rest, with the velocities that are written; wheels that roll.
///
/// The search is as_analysis_equilibrium() on the model as built: what it finds are positions, states and outputs, and the
/// model starts there from then on. Joints that do not hold in the run may hold during the search.
#include <stdlib.h>
#include <string.h>

#include "alphastep/analysis.h"
#include "alphastep/linearization.h"
#include "alphastep/tyre.h"
#include "base/error.h"
#include "file/reader.h"

#define AT(field) offsetof(asi_begin, field)
static const asi_key begin_keys[] = {
    {"equilibrium", ASI_KEY_BOOLEAN, AT(equilibrium), .otherwise = "false",
     .text = "positions and states are those where the machine comes to rest from what is written, "
             "with time held at 0; velocities are those that are written"},
    {"hold", ASI_KEY_TEXTS, AT(hold), .with = "equilibrium",
     .text = "joints with `active: false` that hold while it is looked for, and no longer"},
    {"rolling", ASI_KEY_BOOLEAN, AT(rolling), .otherwise = "false",
     .text = "wheels with tyres turn as fast as they roll: the speed over the effective radius, "
             "about their axes"},
};
#undef AT
const asi_table asi_begin_table = {"start", NULL, begin_keys, ASI_COUNT(begin_keys)};

/// Makes the rows of a joint hold.
static void hold_joint(const as_model *m, as_joint_id joint, int n_lambda, bool *active) {
  for (int k = 0; k < as_model_joint_rows(m, joint); ++k)
    active[as_model_joint_row(m, joint) + k] = true;
  for (int k = 0; k < as_model_joint_velocity_rows(m, joint); ++k)
    active[n_lambda + as_model_joint_velocity_row(m, joint) + k] = true;
}

/// Which rows hold during the search. What is wrong with a name is said.
static void mark_rows(asi_reader *r, as_sizes n, bool *active) {
  const as_model *m = r->machine->model;
  const asi_path start = {"start", 0, NULL}, hold = {"hold", 0, &start};
  const asi_texts *names = &r->begin.hold;
  const bool *before = as_model_initial(m)->active;
  for (int i = 0; i < n.lambda + n.psi; ++i) active[i] = before == NULL || before[i];
  for (int i = 0; i < names->n; ++i) {
    const asi_path path = {NULL, i, &hold};
    as_joint_id joint;
    r->path = &path; // cppcheck-suppress autoVariables; behind the loop it is NULL
    if (!asi_read_name(r, names->value[i], ASI_SORT_JOINT, &joint.index)) continue;
    if (as_model_joint_is_active(m, joint))
      asi_complain(r, names->value[i],
                   "the joint \"%.80s\" holds anyway; with `active: false` it would hold only here",
                   names->text[i]);
    hold_joint(m, joint, n.lambda, active);
  }
  r->path = NULL;
}

/// The search itself. A failure's sentence is in `error`.
static as_status search(asi_reader *r, const bool *active, as_error *error) {
  as_machine *m = r->machine;
  const as_problem *problem = as_model_problem(m->model);
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  as_initial initial = *as_model_initial(m->model);
  if (r->begin.hold.n > 0) initial.active = active;
  as_status status = as_analysis_create(problem, &def, &analysis, error);
  if (status == AS_OK) status = as_analysis_equilibrium(analysis, &initial, &m->rest, error);
  if (status == AS_OK) as_model_start_elsewhere(m->model, as_analysis_state(analysis));
  as_analysis_destroy(analysis);
  return status;
}

/// What has no such place, or no such wheels.
static void complain(asi_reader *r, const char *key, const char *sentence) {
  const asi_path path = {"start", 0, NULL};
  r->path = &path;
  asi_complain(r, asi_value_get(r->begin.value, key), "%s", sentence);
  r->path = NULL;
}

static as_status find_rest(asi_reader *r, as_error *error) {
  const as_sizes n = as_problem_sizes(as_model_problem(r->machine->model));
  bool *active = calloc((size_t)n.lambda + (size_t)n.psi + 1, sizeof *active);
  if (active == NULL) return AS_ERR_MEMORY;
  mark_rows(r, n, active);
  const as_status status = r->wrong ? AS_OK : search(r, active, error);
  free(active);
  r->machine->rested = status == AS_OK;
  return status;
}

as_status asi_begin_model(asi_reader *r, as_error *error) {
  as_status status = r->begin.equilibrium ? find_rest(r, error) : AS_OK;
  if (status == AS_ERR_MEMORY) return status;
  if (status) complain(r, "equilibrium", error->message);
  if (r->wrong || !r->begin.rolling) return AS_OK;
  int wheels = 0;
  status = as_model_start_rolling(r->machine->model, &wheels, error);
  if (status)
    complain(r, "rolling", error->message);
  else if (wheels == 0)
    complain(r, "rolling", "there is no tyre");
  return AS_OK;
}
