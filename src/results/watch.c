/// Rules while a run goes on: conditions are evaluated, actions carried out, events counted.
///
/// Conditions are asked for anywhere in a step, forwards and backwards in time. What their channels remember (how often
/// angles have turned) is as of the end of the step before and is put back after each look, so that the value depends on
/// where it is looked at only.
///
/// What happens in a step is pending until the step and all that follows from its events have been carried out.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/error.h"
#include "core/driver/integrator.h"
#include "elements/formula.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "results/channels.h"
#include "results/rules.h"

static const asi_rule *rule_of(const asi_rule_state *s) { return &s->watch->rules->rule[s->index]; }
static const char *name_of(const asi_rule_state *s) {
  return as_rules_name(s->watch->rules, s->index);
}

// ---- formulas ---------------------------------------------------------------------------------------

/// All channels of a rule at a state; what they remember stays.
static as_status measure(asi_rule_state *s, const as_state *state) {
  as_channels *c = s->channels;
  const as_view view = {.state = state};
  if (c == NULL) return AS_OK;
  const size_t size = (size_t)c->n_values * sizeof(double);
  const double t = c->t;
  const bool followed = c->followed;
  memcpy(s->memory, c->values, size);
  const as_status status = as_channels_evaluate(c, &view, s->value, &s->watch->trouble);
  memcpy(c->values, s->memory, size);
  c->t = t;
  c->followed = followed;
  return status;
}

/// The value of a formula; the channels have been looked at. A failure is in watch->trouble.
static as_status value_of(asi_rule_state *s, const asi_clause *f, double t, const double *u,
                          double *out) {
  const as_rules *rules = s->watch->rules;
  const int n_parameters = rules->model->n_parameters;
  const int *slot = asi_expression_slots(f->code);
  double x[ASI_EXPRESSION_VALUES];
  asi_table_list list = {rules->model->table};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  for (int i = 0; i < f->code->n_slots; ++i) {
    const int k = slot[i] - 1;
    x[i] = k < 0 ? t : k < n_parameters ? u[k] : s->value[k - n_parameters];
  }
  const as_status status = asi_expression_value(f->code, x, &tables, out);
  if (status == AS_OK) return AS_OK;
  asi_parse_error slip = {.line = 1, .column = 1, .sentence = "a table cannot be evaluated"};
  if (status == AS_ERR_NONFINITE) asi_expression_blame(f->code, f->text, x, &tables, &slip);
  return asi_fail(&s->watch->trouble, AS_ERR_CALLBACK, t, name_of(s),
                  "Event \"%s\" at t = %.9g s, %s, line %d, column %d: %s.", name_of(s), t, f->what,
                  slip.line, slip.column, slip.sentence);
}

static long count_of(const asi_rule_state *s) {
  const asi_watch *w = s->watch;
  long count = s->count;
  for (int i = 0; i < w->n_pending; ++i) count += w->pending[i].rule == s->index;
  return count;
}

static bool is_over(const asi_rule_state *s) {
  return rule_of(s)->times > 0 && count_of(s) >= rule_of(s)->times;
}

/// An as_event_value_fn. A rule that is over has nothing to say.
static int evaluate(const as_state *at, double *out, void *user) {
  asi_rule_state *s = user;
  *out = 1.0;
  if (is_over(s)) return AS_DONE;
  as_status status = measure(s, at);
  if (status == AS_OK) status = value_of(s, &rule_of(s)->when, at->t, at->u, out);
  return status ? AS_FATAL : AS_DONE;
}

/// An as_time_fn: where `when` turns or jumps by t alone. A step ends behind a jump, so that its end shows it.
static void next_time(double t, const double *u, as_known_time *out, void *user) {
  const asi_rule_state *s = user;
  const as_rules *rules = s->watch->rules;
  const asi_expression *e = rule_of(s)->when.code;
  const int *slot = asi_expression_slots(e);
  double x[ASI_EXPRESSION_VALUES];
  asi_table_list list = {rules->model->table};
  asi_known_time next = {(double)INFINITY, (double)INFINITY, true};
  for (int i = 0; i < e->n_slots; ++i)
    x[i] = slot[i] > 0 && slot[i] <= rules->model->n_parameters ? u[slot[i] - 1] : (double)NAN;
  if (!is_over(s)) asi_expression_next_time(e, 0, t, x, asi_table_point, &list, true, &next);
  *out = (as_known_time){next.after, next.after, true};
}

// ---- actions ----------------------------------------------------------------------------------------

/// Sets parameters; all values are found first.
static as_status set(asi_rule_state *s, as_event *event, bool *changed) {
  const asi_rule *rule = rule_of(s);
  double *value = s->watch->scratch;
  as_status status = AS_OK;
  for (int i = 0; i < rule->n_set && status == AS_OK; ++i)
    status = value_of(s, &rule->value[i], event->state->t, event->u, &value[i]);
  for (int i = 0; i < rule->n_set && status == AS_OK; ++i) {
    if (rule->parameter[i].index != ASI_NONE) {
      event->u[rule->parameter[i].index] = value[i];
    } else {
      const as_model *model = s->watch->rules->model;
      const bool state = as_model_signal_kind(model, rule->signal[i]) == AS_SIGNAL_STATE;
      (state ? event->x : event->u)[as_model_signal_place(model, rule->signal[i])] = value[i];
    }
    *changed = true;
  }
  return status;
}

/// Rows of a joint among those of g and k: `n` of g from `row` on, `n_velocity` of k from `velocity_row` on.
typedef struct rows {
  int row, n, velocity_row, n_velocity;
} rows;

static rows rows_of(const as_model *m, as_joint_id joint) {
  const asi_placed *p = &m->element[m->joint[joint.index].element];
  return (rows){p->row, p->e.n_rows, m->n_lambda + p->velocity_row, p->e.n_velocity_rows};
}

static bool switch_joint(const as_model *m, as_joint_id joint, bool active, bool *rows_active) {
  const rows r = rows_of(m, joint);
  bool changed = false;
  for (int i = 0; i < r.n + r.n_velocity; ++i) {
    bool *now = &rows_active[i < r.n ? r.row + i : r.velocity_row + i - r.n];
    changed = changed || *now != active;
    *now = active;
  }
  return changed;
}

static as_status switch_joints(asi_rule_state *s, as_event *event, bool *changed) {
  const asi_rule *rule = rule_of(s);
  const as_model *m = s->watch->rules->model;
  for (int i = 0; i < rule->release.n; ++i)
    *changed = switch_joint(m, rule->release.joint[i], false, event->active) || *changed;
  for (int i = 0; i < rule->activate.n; ++i) {
    as_gap gap;
    const as_joint_id joint = rule->activate.joint[i];
    const as_status status = as_model_gap(m, event->state, joint, &gap, &s->watch->trouble);
    if (status) return status;
    if (!(gap.position <= rule->gap))
      return asi_fail(
          &s->watch->trouble, AS_ERR_CALLBACK, event->state->t, name_of(s),
          "Event \"%s\" cannot activate joint \"%s\" at t = %.9g s: its gap is %.3g, more than the "
          "%.3g that may be closed by moving bodies.",
          name_of(s), as_model_joint_name(m, joint), event->state->t, gap.position, rule->gap);
    *changed = switch_joint(m, joint, true, event->active) || *changed;
  }
  return AS_OK;
}

static void strike(const asi_rule *rule, const as_model *m, as_event *event, bool *changed) {
  for (int i = 0; i < rule->strike.n; ++i) {
    const rows r = rows_of(m, rule->strike.joint[i]);
    for (int k = 0; k < r.n; ++k) event->restitution[r.row + k] = rule->restitution;
    for (int k = 0; k < r.n_velocity; ++k)
      event->restitution[r.velocity_row + k] = rule->restitution;
    *changed = true;
  }
}

/// Solves J x = b, J symmetric and positive definite: J^-1 = [b x c, c x a, a x b]/(a . b x c) with J's columns.
static void solve3(const double *J, const double *b, double *x) {
  double c[3][3];
  for (int k = 0; k < 3; ++k) asi_cross(J + 3 * ((k + 1) % 3), J + 3 * ((k + 2) % 3), c[k]);
  const double determinant = asi_dot(J, c[0]);
  for (int k = 0; k < 3; ++k) x[k] = asi_dot(c[k], b) / determinant;
}

/// m dv = P, J domega = R^T (L + r x P): P and L in world axes, at r from the centre of mass.
static void push(const asi_body *body, const as_body_motion *at, const double *r, const double *P,
                 const double *L, double *v) {
  double torque[3], local[3], turn[3], move[3];
  if (body->se3)
    asi_rotate_back(at->R, P, move);
  else
    asi_copy(P, move);
  asi_add(1.0 / body->mass, move, v + body->v);
  if (body->n < 6) return;
  asi_copy(L, torque);
  asi_add_cross(1.0, r, P, torque);
  asi_rotate_back(at->R, torque, local);
  solve3(body->J, local, turn);
  asi_add(1.0, turn, v + body->v + 3);
}

static as_status give_impulse(asi_rule_state *s, const asi_rule_impulse *impulse, as_event *event) {
  const as_model *m = s->watch->rules->model;
  as_body_motion at;
  double part[6] = {0}, arm[3];
  as_status status = AS_OK;
  for (int k = 0; k < 6 && status == AS_OK; ++k)
    if (impulse->part[k].text)
      status = value_of(s, &impulse->part[k], event->state->t, event->u, &part[k]);
  if (status) return status;
  as_model_body_motion(m, event->state, impulse->body, &at);
  as_frame_motion frame;
  memcpy(frame.R, at.R, sizeof frame.R);
  asi_rotate(at.R, impulse->point, arm);
  if (impulse->frame.index != ASI_NONE) {
    status = as_model_frame_motion(m, event->state, impulse->frame, &frame, &s->watch->trouble);
    if (status) return status;
    asi_sum(frame.position, -1.0, at.x, arm);
  }
  double P[3], L[3];
  asi_copy(part, P);
  asi_copy(part + 3, L);
  if (impulse->follows) {
    asi_rotate(frame.R, part, P);
    asi_rotate(frame.R, part + 3, L);
  }
  push(&m->body[impulse->body.index], &at, arm, P, L, event->v);
  return AS_OK;
}

/// All actions of a rule.
static as_status do_all(asi_rule_state *s, as_event *event, bool *changed) {
  const asi_rule *rule = rule_of(s);
  as_status status = AS_OK;
  for (int i = 0; i < rule->n_impulse && status == AS_OK; ++i) {
    status = give_impulse(s, &rule->impulse[i], event);
    *changed = true;
  }
  if (status == AS_OK) status = switch_joints(s, event, changed);
  if (status == AS_OK) status = set(s, event, changed);
  if (status == AS_OK) strike(rule, s->watch->rules->model, event, changed);
  return status;
}

/// Room for one more that is pending: a rule without changes may happen many times in a long step.
static bool make_room(asi_watch *w) {
  if (w->n_pending < w->room_pending) return true;
  void *array = w->pending;
  const bool grown = asi_grow(&array, w->n_pending, &w->room_pending, sizeof *w->pending);
  w->pending = array;
  if (!grown) asi_fail_memory(&w->trouble);
  return grown;
}

/// An as_event_fn.
static int act(as_event *event, void *user) {
  asi_rule_state *s = user;
  asi_watch *w = s->watch;
  w->acting = event->state->t;
  const asi_rule *rule = rule_of(s);
  double holds = 1.0;
  bool changed = false;
  if (is_over(s)) return AS_EVENT_CONTINUE;
  as_status status = measure(s, event->state);
  if (status == AS_OK && rule->only_if.text)
    status = value_of(s, &rule->only_if, event->state->t, event->u, &holds);
  if (status == AS_OK && holds == 0.0) return AS_EVENT_CONTINUE;
  if (status == AS_OK) status = do_all(s, event, &changed);
  if (status) return AS_FATAL;
  // Joints that are so already: nothing happens, as when a body at rest on a floor trembles by rounding errors.
  if (!changed && !rule->stop && rule->release.n + rule->activate.n > 0) return AS_EVENT_CONTINUE;
  if (!make_room(w)) return AS_FATAL;
  w->pending[w->n_pending++] = (as_event_record){.name = name_of(s),
                                                 .rule = s->index,
                                                 .direction = event->direction,
                                                 .t = event->state->t,
                                                 .message = rule->message};
  return (changed ? AS_EVENT_CHANGE : AS_EVENT_CONTINUE) |
         (rule->stop ? AS_EVENT_STOP : AS_EVENT_CONTINUE);
}

static bool reads_motion_only(const asi_rule_state *s) {
  const as_channels *c = s->channels;
  for (int i = 0; c && i < c->n_sources; ++i)
    if (asi_source_reads_rates(s->watch->rules->model, c->source[i])) return false;
  return true;
}

void asi_watch_events(asi_watch *w, as_event_def *out) {
  for (int i = 0; i < w->rules->n; ++i)
    out[i] = (as_event_def){.name = as_rules_name(w->rules, i),
                            .value = w->rules->rule[i].when.code ? evaluate : NULL,
                            .direction = w->rules->rule[i].direction,
                            .act = act,
                            .user = &w->state[i],
                            .reads_motion_only = reads_motion_only(&w->state[i]),
                            .period = w->rules->rule[i].every,
                            .offset = w->rules->rule[i].offset,
                            .next_time = w->rules->rule[i].timed ? next_time : NULL};
}

// ---- the run ----------------------------------------------------------------------------------------

static as_status open_state(asi_watch *w, int index, as_error *error) {
  const asi_rule *rule = &w->rules->rule[index];
  asi_rule_state *s = &w->state[index];
  s->watch = w;
  s->index = index;
  s->time = (double)NAN;
  if (rule->n_channels == 0) return AS_OK; // none would be the default set
  const as_status status =
      as_channels_create(w->rules->model, rule->channel, rule->n_channels, &s->channels, error);
  if (status) return status;
  s->value = asi_calloc((size_t)s->channels->n, sizeof(double));
  s->memory = asi_calloc((size_t)s->channels->n_values, sizeof(double));
  return s->value && s->memory ? AS_OK : asi_fail_memory(error);
}

/// What the integrator tells of blocks.
static as_status note_block(int index, int direction, double t, void *user) {
  asi_watch *w = user;
  as_event_record event = {.rule = w->first_of_blocks - 1 - index, .direction = direction, .t = t};
  if (index < w->first_of_blocks) return AS_OK;
  if (!make_room(w)) return w->trouble.status;
  w->acting = t;
  asi_watch_name(w, &event);
  w->pending[w->n_pending++] = event;
  return AS_OK;
}

void asi_watch_blocks(asi_watch *w, const as_model *model, as_integrator *s, int first) {
  w->model = model;
  w->n_of_blocks = s->def.n_events - first;
  w->first_of_blocks = first;
  s->happened = note_block;
  s->happened_user = w;
}

void asi_watch_name(const asi_watch *w, as_event_record *event) {
  const bool block = event->rule < 0;
  event->name = block ? asi_block_event_name(w->model, -1 - event->rule)
                      : as_rules_name(w->rules, event->rule);
  event->message = block ? NULL : as_rules_message(w->rules, event->rule);
}

as_status asi_watch_create(const as_rules *given, asi_watch **out, as_error *error) {
  static const as_rules none = {.n = 0};
  const as_rules *rules = given ? given : &none;
  const size_t n = (size_t)rules->n;
  *out = NULL;
  asi_watch *w = asi_calloc(1, sizeof *w);
  if (w == NULL) return asi_fail_memory(error);
  w->rules = rules;
  // Mostly, a rule happens at most once in what is left of a step after a stop, and once in the next.
  w->room_pending = 2 * rules->n;
  int most = 0;
  for (int i = 0; i < rules->n; ++i)
    most = rules->rule[i].n_set > most ? rules->rule[i].n_set : most;
  w->state = asi_calloc(n, sizeof *w->state);
  w->list = asi_calloc(AS_RUN_EVENTS, sizeof *w->list);
  w->pending = asi_calloc(2 * n, sizeof *w->pending);
  w->shown = asi_calloc(2 * n, sizeof *w->shown);
  w->scratch = asi_calloc((size_t)most, sizeof *w->scratch);
  as_status status =
      w->state && w->list && w->pending && w->shown && w->scratch ? AS_OK : asi_fail_memory(error);
  for (int i = 0; i < rules->n && status == AS_OK; ++i) status = open_state(w, i, error);
  if (status) {
    asi_watch_destroy(w);
    return status;
  }
  *out = w;
  return AS_OK;
}

void asi_watch_destroy(asi_watch *w) {
  if (w == NULL) return;
  for (int i = 0; i < w->rules->n && w->state; ++i) {
    as_channels_destroy(w->state[i].channels);
    free(w->state[i].value);
    free(w->state[i].memory);
  }
  free(w->state);
  free(w->list);
  free(w->pending);
  free(w->shown);
  free(w->scratch);
  free(w);
}

as_status asi_watched_integrator(const as_model *model, const as_rules *rules,
                                 const as_integrator_def *given, asi_watch **watch,
                                 as_integrator **out, as_error *error) {
  const as_problem *problem = as_model_problem(model);
  const int first = given->n_events, n = as_rules_count(rules);
  const int plugins = as_model_events(model, NULL);
  as_integrator_def how = *given;
  if (n + plugins + problem->def.n_events == 0)
    return as_integrator_create(problem, &how, out, error);
  if (n > 0 && rules->model != model)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "rules",
                    "The rules were made for another model.");
  as_status status = asi_watch_create(n > 0 ? rules : NULL, watch, error);
  if (status) return status;
  as_event_def *events = asi_calloc((size_t)first + (size_t)n + (size_t)plugins, sizeof *events);
  if (events == NULL) return asi_fail_memory(error);
  if (first > 0) memcpy(events, how.events, (size_t)first * sizeof *events);
  if (n > 0) asi_watch_events(*watch, events + first);
  as_model_events(model, events + first + n);
  how.events = events;
  how.n_events = first + n + plugins;
  status = as_integrator_create(problem, &how, out, error);
  free(events);
  if (status == AS_OK) asi_watch_blocks(*watch, model, *out, first + n);
  return status;
}

void asi_watch_forget(asi_watch *w) {
  for (int i = 0; i < w->rules->n; ++i) {
    w->state[i].count = 0;
    w->state[i].time = (double)NAN;
    if (w->state[i].channels) w->state[i].channels->followed = false;
  }
  w->n_pending = 0;
  w->n_happened = 0;
  w->trouble.status = AS_OK;
}

as_status asi_watch_follow(asi_watch *w, const as_state *state, as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < w->rules->n && status == AS_OK; ++i)
    if (w->state[i].channels) status = as_channels_follow(w->state[i].channels, state, error);
  return status;
}

const double *asi_watch_show(asi_watch *w, double t) {
  for (int i = 0; i < w->rules->n; ++i) {
    w->shown[2 * i] = (double)w->state[i].count;
    w->shown[2 * i + 1] = w->state[i].time;
  }
  for (int i = 0; i < w->n_pending && asi_is_reached(w->pending[i].t, t); ++i) {
    if (w->pending[i].rule < 0) continue;
    w->shown[2 * w->pending[i].rule] += 1.0;
    w->shown[2 * w->pending[i].rule + 1] = w->pending[i].t;
  }
  return w->shown;
}

void asi_watch_commit(asi_watch *w, as_event_record_fn *happened, void *user) {
  for (int i = 0; i < w->n_pending; ++i) {
    const as_event_record *event = &w->pending[i];
    if (event->rule >= 0) {
      w->state[event->rule].count += 1;
      w->state[event->rule].time = event->t;
    }
    if (w->n_happened < AS_RUN_EVENTS) w->list[w->n_happened] = *event;
    ++w->n_happened;
    if (happened) happened(event, user);
  }
  w->n_pending = 0;
}

void asi_watch_fail(asi_watch *w, as_status status, as_error *error) {
  // Events of one instant fail together, unless they have been carried out once too often.
  const char *culprit = NULL;
  while (status != AS_ERR_ZENO && error->t == w->acting && w->n_pending > 0 &&
         w->pending[w->n_pending - 1].t == w->acting)
    culprit = w->pending[--w->n_pending].name;
  if (status == AS_ERR_CALLBACK && w->trouble.status != AS_OK) {
    *error = w->trouble;
  } else if (culprit) {
    const as_error why = *error;
    asi_fail(error, status, why.t, culprit,
             "Event \"%.60s\" cannot be carried out at t = %.9g s: %.380s", culprit, why.t,
             why.message);
  }
  w->trouble.status = AS_OK;
}
