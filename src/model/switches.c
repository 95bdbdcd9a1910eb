/// Switches of blocks: events of the problem that set states and held signals where a condition begins to hold.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/event.h"
#include "base/definition.h"
#include "base/error.h"
#include "elements/block_row.h"
#include "elements/probe.h"
#include "model/blocks.h"

as_switch_def as_default_switch_def(void) {
  return (as_switch_def){.cookie = ASI_COOKIE(as_switch_def)};
}

// ---- adding -----------------------------------------------------------------------------------------

static as_status add_setting(as_builder *b, const char *block, const as_setting *set,
                             asi_switch *to, as_error *error) {
  char what[96];
  const char *output = set->output ? set->output : "";
  const int number = asi_builder_find_signal(b, to->block, output);
  const bool there = number >= 0 && !b->signal[number].declared;
  if (!there || b->signal[number].kind == AS_SIGNAL_OUTPUT)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "A switch of block \"%s\" sets its signal \"%.60s\", which %s.", block, output,
                    there ? "is solved for: only states, sampled and held signals can be set"
                          : "has not been added");
  if (set->formula == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "A switch of block \"%s\" does not say to what it sets \"%.60s\".", block,
                    output);
  snprintf(what, sizeof what, "What block \"%.48s\" is set to", block);
  to->signal[to->n] = number;
  return asi_builder_block_formula(b, set->formula, what, -1, false, &to->value[to->n], error);
}

as_status as_builder_add_switch(as_builder *b, const as_switch_def *def, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_switch_def, def, error);
  if (made) return made;
  const char *block = def->block ? def->block : "";
  asi_switch to = {.block = asi_names_find(&b->names[ASI_SORT_BLOCK], block)};
  char what[96];
  if (to.block < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "There is no block \"%.60s\" for a switch.", block);
  if (def->when == NULL || def->n_set < 1 || def->n_set > ASI_SETTINGS || def->set == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "A switch of block \"%s\" needs a condition and 1 to %d settings.", block,
                    (int)ASI_SETTINGS);
  void *array = b->switch_;
  if (!asi_grow(&array, b->n_switches, &b->room_switches, sizeof *b->switch_))
    return asi_fail_memory(error);
  b->switch_ = array;
  const asi_mark mark = asi_builder_mark(b);
  snprintf(what, sizeof what, "A condition of block \"%.48s\"", block);
  as_status status = asi_builder_block_formula(b, def->when, what, -1, true, &to.when, error);
  for (; to.n < def->n_set && status == AS_OK; ++to.n)
    status = add_setting(b, block, &def->set[to.n], &to, error);
  if (status)
    asi_builder_reset(b, mark);
  else
    b->switch_[b->n_switches++] = to;
  return status;
}

// ---- as events --------------------------------------------------------------------------------------

/// An as_event_value_fn: positive where the condition holds.
static int find_condition(const as_state *state, double *out, void *user) {
  const asi_switch_place *s = user;
  const as_point at = as_state_point(state);
  return asi_blocks_value(s->model, &at, s->of.when, false, out);
}

/// An as_event_fn. Other switches at the same time see what this one has set, but the machine as it was before.
static int act(as_event *event, void *user) {
  const asi_switch_place *s = user;
  const asi_control *c = s->model->blocks;
  as_point at = as_state_point(event->state);
  double value[ASI_SETTINGS];
  bool changed = false;
  at.u = event->u;
  for (int i = 0; i < s->of.n; ++i) {
    const int code = asi_blocks_value(s->model, &at, s->of.value[i], true, &value[i]);
    if (code) return AS_FATAL;
  }
  for (int i = 0; i < s->of.n; ++i) {
    const asi_signal *x = &c->signal[s->of.signal[i]];
    double *to = (x->kind == AS_SIGNAL_STATE ? event->x : event->u) + x->place;
    changed = changed || *to != value[i];
    *to = value[i];
  }
  return changed ? AS_EVENT_CHANGE : AS_EVENT_CONTINUE;
}

/// Whether a formula depends on t, q, v, x and u alone.
static bool reads_motion_only(const as_model *m, int element) {
  const asi_block_row *row = m->element[element].data;
  const asi_expression *e = asi_formula_expression(row->formula.curve->formula);
  for (int i = 0; i < row->n_gauges; ++i) {
    const asi_gauge *g = &asi_block_row_gauges(row)[i];
    if (asi_gauge_reads_acceleration(g) || asi_gauge_reads_reaction(g)) return false;
  }
  for (int k = 0; k < e->n_slots; ++k)
    if (asi_expression_slots(e)[k] >= ASI_SLOT_OUTPUT) return false;
  return true;
}

as_status asi_switches_make(as_model *m, const as_builder *b, as_error *error) {
  asi_control *c = m->blocks;
  const size_t n = (size_t)b->n_switches;
  c->switch_ = asi_calloc(n, sizeof *c->switch_);
  c->switch_def = asi_calloc(n, sizeof *c->switch_def);
  if (c->switch_ == NULL || c->switch_def == NULL) return asi_fail_memory(error);
  c->n_switches = b->n_switches;
  for (int i = 0; i < b->n_switches; ++i) {
    asi_switch_place *s = &c->switch_[i];
    s->model = m;
    s->of = b->switch_[i];
    snprintf(s->name, sizeof s->name, "blocks.%.54s",
             asi_names_get(&m->names[ASI_SORT_BLOCK], s->of.block));
    c->switch_def[i] = (as_event_def){.name = s->name,
                                      .value = find_condition,
                                      .direction = 1,
                                      .act = act,
                                      .user = s,
                                      .reads_motion_only = reads_motion_only(m, s->of.when),
                                      .condition = true};
  }
  return AS_OK;
}

const char *asi_block_event_name(const as_model *m, int number) {
  const asi_control *c = m->blocks;
  return number < c->n_events ? c->event[number].name : c->switch_[number - c->n_events].name;
}
