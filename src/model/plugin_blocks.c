/// Evaluates blocks of plugins: values, derivatives at the places of their system's entries, samples, events, comparison of
/// derivatives that are given with differences. All numbers of an evaluation are on the stack.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/plugin_force.h"
#include "model/blocks.h"
#include "model/look.h"
#include "model/plugin_blocks.h"

/// Where a block is evaluated; without inputs, states or sampled numbers in `at` that part is NULL.
static as_plugin_point point_of(const asi_linear_block *l, const as_point *at) {
  return (as_plugin_point){.t = l->plugin->reads_time ? at->t : (double)NAN,
                           .parameter = l->number,
                           .constant = l->number + l->plugin->n_parameters,
                           .input = at->y ? at->y + l->input : NULL,
                           .state = at->x ? at->x + l->state : NULL,
                           .sampled = at->u ? at->u + l->held : NULL,
                           .user = l->memory ? l->memory->user : NULL};
}

/// What a failure returns: who is to blame.
static int blame(const as_model *m, int code, int number) {
  const int who = ASI_BLAMED + m->n_elements + m->n_superelements + m->n_flexibles + number;
  return code > 0 ? who : -who;
}

int asi_plugin_block_evaluate(const as_model *m, const as_point *at, int number,
                              const as_evaluation *out) {
  static const as_block target[4] = {AS_BLOCK_PHI_X, AS_BLOCK_PHI_Y, AS_BLOCK_CHI_X,
                                     AS_BLOCK_CHI_Y};
  const asi_linear_block *l = &m->blocks->linear[number];
  const asi_linear *s = &l->system;
  const as_plugin_point point = point_of(l, at);
  int code =
      asi_plugin_evaluate(l->plugin, &point, out->state_rate ? out->state_rate + l->state : NULL,
                          out->output ? out->output + l->output : NULL, NULL);
  unsigned wanted = 0;
  for (int k = 0; k < 4; ++k)
    if (out->block_set & AS_BLOCK_BIT(target[k]) && s->first[k + 1] > s->first[k])
      wanted |= 1u << k;
  if (wanted && code == AS_DONE) {
    double matrix[ASI_PLUGIN_ENTRIES];
    code = asi_plugin_jacobian(l->plugin, &point, false, matrix, NULL);
    const int *position = m->blocks->list + m->blocks->linear_position[number];
    const int cols[4] = {s->n_states, s->n_inputs, s->n_states, s->n_inputs};
    const int rows[4] = {s->n_states, s->n_states, s->n_outputs, s->n_outputs};
    const double *from = matrix;
    for (int k = 0; k < 4 && code == AS_DONE; from += rows[k] * cols[k], ++k) {
      if (!(wanted & 1u << k)) continue;
      double *to = out->blocks[target[k]].value;
      for (int i = s->first[k]; i < s->first[k + 1]; ++i)
        to[position[i]] += from[s->entry[i].row * cols[k] + s->entry[i].col];
    }
  }
  return code ? blame(m, code, number) : AS_DONE;
}

int asi_plugin_block_output(const asi_linear_block *l, const as_point *at, const double *input,
                            int output, double *out) {
  double all[AS_PLUGIN_MOST];
  as_plugin_point point = point_of(l, at);
  point.input = input;
  const int code = asi_plugin_evaluate(l->plugin, &point, NULL, all, NULL);
  if (code == AS_DONE) *out = all[output];
  return code;
}

int asi_plugin_block_sample(const as_model *m, const as_point *at, int number, const double *input,
                            double *out) {
  const asi_linear_block *l = &m->blocks->linear[number];
  as_plugin_point point = point_of(l, at);
  point.input = input;
  const int code = asi_plugin_sample(l->plugin, &point, out, NULL);
  return code ? blame(m, AS_FATAL, number) : AS_DONE;
}

void asi_plugin_block_explain(const as_model *m, const as_point *at, int number, char *why,
                              size_t size) {
  const asi_linear_block *l = &m->blocks->linear[number];
  const as_plugin_block *p = l->plugin;
  double rate[AS_PLUGIN_MOST], output[AS_PLUGIN_MOST], matrix[ASI_PLUGIN_ENTRIES];
  char text[AS_PLUGIN_WHY] = "";
  const as_plugin_point point = point_of(l, at);
  if ((p->n_inputs > 0 && !at->y) || (p->n_states > 0 && !at->x)) return;
  int code = asi_plugin_evaluate(p, &point, rate, output, text);
  if (code == AS_DONE) code = asi_plugin_jacobian(p, &point, false, matrix, text);
  if (code == AS_DONE && p->sample) code = asi_plugin_sample(p, &point, output, text);
  double value;
  for (int i = 0; l->memory && i < l->memory->n_events && code == AS_DONE; ++i)
    code = l->memory->event_value(&point, i, &value, text);
  for (int i = 0; i < 2 * p->n_events && code == AS_DONE; ++i)
    if (p->event[i / 2].act)
      code = asi_plugin_act(p, i / 2, &point, i % 2 ? 1 : -1, rate, output, text);
  if (code) snprintf(why, size, "%s", text);
}

// ---- events -----------------------------------------------------------------------------------------

/// Which of its memory's events an event is; negative: it is an output's.
static int of_memory(const asi_plugin_event_place *e) {
  return e->event - e->model->blocks->linear[e->linear].plugin->n_events;
}

static int event_value(const as_state *at, double *out, void *user) {
  const asi_plugin_event_place *e = user;
  const asi_linear_block *l = &e->model->blocks->linear[e->linear];
  const int own = of_memory(e);
  if (own < 0) {
    *out = at->y[l->output + l->plugin->event[e->event].output];
    return AS_DONE;
  }
  char why[AS_PLUGIN_WHY];
  const as_point now = as_state_point(at);
  const as_plugin_point point = point_of(l, &now);
  const int code = l->memory->event_value(&point, own, out, why);
  return code ? blame(e->model, code, e->linear) : AS_DONE;
}

/// The known time of an event.
static void event_time(double t, const double *u, as_known_time *out, void *user) {
  const asi_plugin_event_place *e = user;
  const asi_linear_block *l = &e->model->blocks->linear[e->linear];
  const as_point now = {.t = t, .u = u};
  const as_plugin_point point = point_of(l, &now);
  const double time = l->memory->event_time(&point, of_memory(e));
  *out = (as_known_time){.before = time, .after = time, .bends = true};
  if (!(time > t)) out->before = out->after = (double)INFINITY;
}

static int event_act(as_event *event, void *user) {
  const asi_plugin_event_place *e = user;
  const as_model *m = e->model;
  const asi_linear_block *l = &m->blocks->linear[e->linear];
  const as_plugin_block *p = l->plugin;
  const as_point at = as_state_point(event->state);
  const as_plugin_point point = point_of(l, &at);
  double state[AS_PLUGIN_MOST], sampled[AS_PLUGIN_MOST];
  char why[AS_PLUGIN_WHY];
  const size_t nx = (size_t)p->n_states * sizeof(double),
               nu = (size_t)p->n_sampled * sizeof(double);
  const int own = of_memory(e);
  if (own < 0 && p->event[e->event].act == NULL) return AS_EVENT_STOP;
  const int code = own < 0
                       ? asi_plugin_act(p, e->event, &point, event->direction, state, sampled, why)
                       : l->memory->event_act(&point, own, event->direction, state, sampled, why);
  const bool stops = own >= 0 && code == AS_EVENT_STOP;
  if (code && !stops) return blame(m, AS_FATAL, e->linear);
  const bool changed = (nx > 0 && memcmp(state, point.state, nx) != 0) ||
                       (nu > 0 && memcmp(sampled, point.sampled, nu) != 0);
  if (nx > 0) memcpy(event->x + l->state, state, nx);
  if (nu > 0) memcpy(event->u + l->held, sampled, nu);
  return (changed ? AS_EVENT_CHANGE : AS_EVENT_CONTINUE) | (stops ? AS_EVENT_STOP : 0);
}

static int count_events(const asi_linear_block *l) {
  return (l->plugin ? l->plugin->n_events : 0) + (l->memory ? l->memory->n_events : 0);
}

as_status asi_plugin_events_list(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  int n = 0;
  for (int i = 0; i < c->n_linear; ++i) n += count_events(&c->linear[i]);
  c->event = asi_calloc((size_t)n, sizeof *c->event);
  if (c->event == NULL) return asi_fail_memory(error);
  for (int i = 0; i < c->n_linear; ++i)
    for (int k = 0; k < count_events(&c->linear[i]); ++k) {
      const asi_linear_block *l = &c->linear[i];
      const int own = k - l->plugin->n_events;
      asi_plugin_event_place *e = &c->event[c->n_events++];
      *e = (asi_plugin_event_place){.model = m, .linear = i, .event = k};
      snprintf(e->name, sizeof e->name, "%.60s.%s",
               asi_names_get(&m->names[ASI_SORT_BLOCK], l->block),
               own < 0 ? l->plugin->event[k].name : l->memory->event[own]);
    }
  return AS_OK;
}

int as_model_events(const as_model *m, as_event_def *out) {
  asi_control *c = m->blocks;
  for (int i = 0; c && out && i < c->n_events; ++i) {
    const asi_plugin_event_place *e = &c->event[i];
    const asi_linear_block *l = &c->linear[e->linear];
    const int own = of_memory(e);
    out[i] = (as_event_def){.name = e->name,
                            .value = event_value,
                            .direction = own < 0 ? l->plugin->event[e->event].direction
                                                 : l->memory->conditions,
                            .act = event_act,
                            .condition = own >= 0 && l->memory->conditions,
                            .next_time = own >= 0 && l->memory->event_time ? event_time : NULL,
                            .user = &c->event[i]};
  }
  return c ? c->n_events : 0;
}

as_status asi_plugin_memory_serialize(const as_model *m, const double *u, asi_archive *a,
                                      as_error *error) {
  const asi_control *c = m->blocks;
  as_status status = asi_error_clear(error);
  for (int i = 0; c && i < c->n_linear && status == AS_OK; ++i) {
    const asi_linear_block *l = &c->linear[i];
    if (l->memory) status = l->memory->serialize(l->memory->user, u ? u + l->held : NULL, a, error);
  }
  return status;
}

// ---- comparison -------------------------------------------------------------------------------------

/// What row or column `i` of a comparison is: states, then others.
static const char *name_of(const as_plugin_block *p, int i, bool row) {
  if (i < p->n_states) return p->state[i].name;
  const char *name = row ? p->output[i - p->n_states].name : p->input[i - p->n_states].name;
  return name[0] ? name : "its output";
}

bool asi_plugin_block_check(const as_model *m, const as_point *at, int number, char *text,
                            size_t size) {
  const asi_linear_block *l = &m->blocks->linear[number];
  const as_plugin_block *p = l->plugin;
  if (p == NULL || p->n_states + p->n_outputs == 0) return true;
  const as_plugin_point point = point_of(l, at);
  const asi_plugin_fault f = asi_plugin_compare(p, &point);
  if (f.row < 0) return true;
  snprintf(text, size,
           "Block \"%.60s\": the %s \"%s\" gives %.6g for the derivative of %s%s by %s, "
           "differences of its values give %.6g.",
           asi_names_get(&m->names[ASI_SORT_BLOCK], l->block), l->memory ? "block" : "plugin",
           p->name, f.given, f.row < p->n_states ? "the rate of " : "", name_of(p, f.row, true),
           name_of(p, f.column, false), f.found);
  return false;
}

bool asi_plugin_force_check(const as_model *m, const as_state *state, int force, char *text,
                            size_t size) {
  static const char *const names[] = {"x",  "y",  "z",  "turn x",  "turn y",  "turn z",
                                      "x'", "y'", "z'", "turn x'", "turn y'", "turn z'"};
  const asi_placed *p = &m->element[m->force[force]];
  if (p->e.type != &asi_plugin_force_type) return true;
  const asi_plugin_force_data *d = p->data;
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = asi_look(m, state, p, body);
  asi_bend x;
  if (asi_bend_measure(&d->ends, &in, ASI_SUM_TANGENTS, &x)) return true;
  const as_plugin_force_point at = asi_plugin_force_point(d, state->t, &x);
  const asi_plugin_fault f = asi_plugin_force_compare(d->force, &at);
  if (f.row < 0) return true;
  snprintf(text, size,
           "Force \"%.60s\": the plugin \"%s\" gives %.6g for the derivative of its force along %s "
           "by %s, differences of its values give %.6g.",
           asi_names_get(&m->names[ASI_SORT_FORCE], force), d->force->name, f.given, names[f.row],
           names[f.column], f.found);
  return false;
}
