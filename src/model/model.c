/// What a model tells about itself: counts, names, places.
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "elements/coupling.h"
#include "model/blocks.h"

const as_problem *as_model_problem(const as_model *m) { return m->problem; }
const as_initial *as_model_initial(const as_model *m) { return &m->initial; }

static bool is_body(const as_model *m, as_body_id body) {
  return body.index >= 0 && body.index < m->n_bodies;
}
static bool is_joint(const as_model *m, as_joint_id joint) {
  return joint.index >= 0 && joint.index < m->n_joints;
}

int as_model_bodies(const as_model *m) { return m->n_bodies; }
int as_model_joints(const as_model *m) { return m->n_joints; }
int as_model_forces(const as_model *m) { return m->n_forces; }

int as_model_frames(const as_model *m) { return m->n_frames; }
const char *as_model_frame_name(const as_model *m, as_frame_id frame) {
  return asi_names_get(&m->names[ASI_SORT_FRAME], frame.index);
}
bool as_model_frame_used(const as_model *m, as_frame_id frame) {
  return frame.index >= 0 && frame.index < m->n_frames && m->frame[frame.index].used;
}

static int find(const as_model *m, asi_entity_kind sort, const char *name) {
  const int number = asi_names_find(&m->names[sort], name);
  return number >= 0 ? number : ASI_NONE;
}

as_body_id as_model_find_body(const as_model *m, const char *name) {
  return (as_body_id){find(m, ASI_SORT_BODY, name)};
}
as_frame_id as_model_find_frame(const as_model *m, const char *name) {
  return (as_frame_id){find(m, ASI_SORT_FRAME, name)};
}
as_joint_id as_model_find_joint(const as_model *m, const char *name) {
  return (as_joint_id){find(m, ASI_SORT_JOINT, name)};
}
as_force_id as_model_find_force(const as_model *m, const char *name) {
  return (as_force_id){find(m, ASI_SORT_FORCE, name)};
}

const char *as_model_body_name(const as_model *m, as_body_id body) {
  return body.index == ASI_GROUND ? "ground" : asi_names_get(&m->names[ASI_SORT_BODY], body.index);
}
const char *as_model_joint_name(const as_model *m, as_joint_id joint) {
  return asi_names_get(&m->names[ASI_SORT_JOINT], joint.index);
}
bool as_model_joint_remark(const as_model *m, as_joint_id joint, char *out, size_t size) {
  const asi_joint_info *info = is_joint(m, joint) ? &m->joint[joint.index] : NULL;
  if (info == NULL || info->remark == NULL) return false;
  const char *remark = info->remark, *name = as_model_joint_name(m, joint);
  const asi_coupling *coupling = m->element[info->element].data;
  if (coupling->tooth.kind != ASI_TOOTH_NONE)
    snprintf(out, size, "Joint \"%.60s\" %s.", name, remark);
  else
    snprintf(
        out, size,
        "Joint \"%.60s\" exchanges torques only, bearings do not carry its tooth force: %s. If "
        "that is meant, say so with `force: torque`.",
        name, remark);
  return true;
}
bool as_model_joint_is_active(const as_model *m, as_joint_id joint) {
  return is_joint(m, joint) && !m->joint[joint.index].released;
}
int as_model_parameters(const as_model *m) { return m->n_parameters; }
as_parameter_id as_model_find_parameter(const as_model *m, const char *name) {
  return (as_parameter_id){find(m, ASI_SORT_PARAMETER, name)};
}
const char *as_model_parameter_name(const as_model *m, as_parameter_id parameter) {
  return asi_names_get(&m->names[ASI_SORT_PARAMETER], parameter.index);
}
const char *as_model_force_name(const as_model *m, as_force_id force) {
  return asi_names_get(&m->names[ASI_SORT_FORCE], force.index);
}

int as_model_body_q(const as_model *m, as_body_id body) {
  return is_body(m, body) && !asi_body_is_node(&m->body[body.index]) ? m->body[body.index].q : -1;
}
int as_model_body_v(const as_model *m, as_body_id body) {
  return is_body(m, body) && !asi_body_is_node(&m->body[body.index]) ? m->body[body.index].v : -1;
}

int as_model_joint_row(const as_model *m, as_joint_id joint) {
  return is_joint(m, joint) ? m->element[m->joint[joint.index].element].row : -1;
}
int as_model_joint_rows(const as_model *m, as_joint_id joint) {
  return is_joint(m, joint) ? m->element[m->joint[joint.index].element].e.n_rows : 0;
}
int as_model_joint_velocity_row(const as_model *m, as_joint_id joint) {
  return is_joint(m, joint) ? m->element[m->joint[joint.index].element].velocity_row : -1;
}
int as_model_joint_velocity_rows(const as_model *m, as_joint_id joint) {
  return is_joint(m, joint) ? m->element[m->joint[joint.index].element].e.n_velocity_rows : 0;
}
as_joint_id as_model_row_joint(const as_model *m, int row) {
  const bool there = row >= 0 && row < m->n_lambda + m->n_psi;
  return (as_joint_id){there ? m->row_joint[row] : AS_NO_JOINT.index};
}

// ---- signals ----------------------------------------------------------------------------------------

static const asi_signal *signal_of(const as_model *m, as_signal_id id) {
  return m->blocks && id.index >= 0 && id.index < m->blocks->n_signals
             ? &m->blocks->signal[id.index]
             : NULL;
}

int as_model_signals(const as_model *m) { return m->blocks ? m->blocks->n_signals : 0; }

void as_model_signal_name(const as_model *m, as_signal_id id, char *text, size_t size) {
  const asi_signal *s = signal_of(m, id);
  if (s)
    snprintf(text, size, "blocks.%s%s%s", asi_names_get(&m->names[ASI_SORT_BLOCK], s->block),
             s->output[0] ? "." : "", s->output);
  else if (size > 0)
    text[0] = '\0';
}

as_signal_kind as_model_signal_kind(const as_model *m, as_signal_id id) {
  const asi_signal *s = signal_of(m, id);
  return s ? s->kind : AS_SIGNAL_OUTPUT;
}

const char *as_model_signal_unit(const as_model *m, as_signal_id id) {
  const asi_signal *s = signal_of(m, id);
  return s ? s->unit : "";
}

as_signal_id as_model_find_signal(const as_model *m, const char *block, const char *output) {
  const int number = find(m, ASI_SORT_BLOCK, block);
  for (int i = number >= 0 && m->blocks ? m->blocks->block[number].first : -1; i >= 0;
       i = m->blocks->signal[i].next)
    if (strcmp(m->blocks->signal[i].output, output ? output : "") == 0) return (as_signal_id){i};
  return AS_NO_SIGNAL;
}

int as_model_signal_place(const as_model *m, as_signal_id id) {
  const asi_signal *s = signal_of(m, id);
  return s ? s->place : -1;
}

double as_model_signal_value(const as_model *m, const as_state *state, as_signal_id id) {
  const asi_signal *s = signal_of(m, id);
  if (s == NULL) return (double)NAN;
  const double *of = s->kind == AS_SIGNAL_OUTPUT  ? state->y
                     : s->kind == AS_SIGNAL_STATE ? state->x
                                                  : state->u;
  return of ? of[s->place] : (double)NAN;
}

int as_model_signal_loop(const as_model *m, as_signal_id id) {
  return signal_of(m, id) ? m->blocks->loop[id.index] : -1;
}
