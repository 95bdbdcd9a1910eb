/// Rules, see rule.h: descriptions are checked, formulas compiled, points put into body axes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/locale.h"
#include "core/kinematics/problem.h"
#include "elements/vector.h"
#include "model/look.h"
#include "results/channels.h"
#include "results/rules.h"

as_rule_impulse as_default_rule_impulse(void) {
  return (as_rule_impulse){.cookie = ASI_COOKIE(as_rule_impulse),
                           .frame = AS_NO_FRAME,
                           .body = AS_NO_BODY,
                           .point = {(double)NAN, (double)NAN, (double)NAN}};
}

as_rule_def as_default_rule_def(void) {
  return (as_rule_def){.cookie = ASI_COOKIE(as_rule_def), .gap = 1e-6};
}

/// What is being made.
typedef struct maker {
  as_rules *rules;
  const as_rules_def *def;
  const asi_scope *more; ///< further names; may be NULL
  int number;            ///< of the rule
  asi_rule *rule;
  bool no_memory;
  const char *text; ///< the formula that is wrong
  asi_parse_error slip;
  as_error *error;
  const asi_rule_listener *listener; ///< NULL: the first mistake ends it
  as_status wrong;                   ///< of what the listener has been told
} maker;

/// With a listener a mistake is told, and what follows is looked at, too.
static as_status note(maker *m, as_status status) {
  if (status == AS_OK || status == AS_ERR_MEMORY || m->listener == NULL) return status;
  m->listener->tell(m->number, m->text, &m->slip, m->error, m->listener->user);
  m->text = NULL;
  m->wrong = status;
  return AS_OK;
}

/// Zeros that are freed with the rules; NULL: memory has run out.
static void *take(maker *m, size_t count, size_t size) {
  asi_block *block = asi_calloc(1, sizeof *block + count * size);
  if (block == NULL) {
    m->no_memory = true;
    return NULL;
  }
  block->next = m->rules->block;
  m->rules->block = block;
  return block + 1;
}

static const char *take_text(maker *m, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = take(m, size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

static const char *name_of(const maker *m) { return m->def->rule[m->number].name; }

// ---- names in formulas ------------------------------------------------------------------------------

/// Why a channel is no function of the state; NULL: it is one.
static const char *objection(const as_channels *c) {
  switch (c->source[0].kind) {
  case ASI_SOURCE_SOLVER: return "belongs to the steps, not to the state";
  case ASI_SOURCE_DRIFT: return "is known at the ends of steps only";
  case ASI_SOURCE_EVENT: return "counts events: it is no function of the state";
  case ASI_SOURCE_ENERGY:
    return c->pick[0] >= 2 ? "is summed up along the run: it is no function of the state" : NULL;
  default: return NULL;
  }
}

/// The slot of a channel; a new one if the rule has not used it yet.
static asi_meaning find_channel(maker *m, const char *name, asi_named *named) {
  asi_rule *rule = m->rule;
  as_channels *found = NULL;
  as_error error;
  for (int i = 0; i < rule->n_channels; ++i)
    if (strcmp(rule->channel[i], name) == 0) {
      named->index = 1 + m->rules->model->n_parameters + i;
      return ASI_MEANS_SLOT;
    }
  const as_status status =
      asi_channels_create(m->rules->model, &m->rules->names, &name, 1, &found, &error);
  const char *why = status ? NULL : objection(found);
  const int n = status ? 0 : found->n;
  as_channels_destroy(found);
  if (status == AS_ERR_MEMORY) m->no_memory = true;
  if (status) { // without `The output` at its beginning
    const char *from = strchr(error.message, '`');
    snprintf(named->sentence, ASI_SENTENCE_LENGTH, "%.*s", ASI_SENTENCE_LENGTH - 1,
             from ? from : error.message);
  } else if (n > 1) {
    snprintf(named->sentence, ASI_SENTENCE_LENGTH, "\"%.80s\" is %d numbers: choose one", name, n);
  } else if (why) {
    snprintf(named->sentence, ASI_SENTENCE_LENGTH, "\"%.80s\" %s", name, why);
  }
  if (status || n > 1 || why) return ASI_MEANS_MISTAKE;
  void *array = (void *)rule->channel;
  const bool room = asi_grow(&array, rule->n_channels, &rule->room_channels, sizeof *rule->channel);
  rule->channel = array;
  const char *copy = room ? take_text(m, name) : NULL;
  if (copy == NULL) {
    m->no_memory = true;
    return ASI_MEANS_MISTAKE;
  }
  named->index = 1 + m->rules->model->n_parameters + rule->n_channels;
  rule->channel[rule->n_channels++] = copy;
  return ASI_MEANS_SLOT;
}

static asi_meaning find_name(const char *name, asi_named *named, void *user) {
  maker *m = user;
  const int table =
      named->called ? asi_names_find(&m->rules->model->names[ASI_SORT_TABLE], name) : -1;
  if (table >= 0) {
    named->index = table;
    named->arguments = m->rules->model->table[table].surface ? 2 : 1;
    return ASI_MEANS_TABLE;
  }
  if (strcmp(name, "t") == 0 && !named->called) {
    named->index = 0;
    return ASI_MEANS_SLOT;
  }
  if (strchr(name, '.') && !named->called) return find_channel(m, name, named);
  const asi_meaning given = m->more ? m->more->find(name, named, m->more->user) : ASI_MEANS_NOTHING;
  if (given != ASI_MEANS_NOTHING) return given;
  const int parameter = as_model_find_parameter(m->rules->model, name).index;
  if (parameter >= 0 && !named->called) {
    named->index = 1 + parameter;
    return ASI_MEANS_SLOT;
  }
  for (int i = 0; i < m->def->n_constants && !named->called; ++i)
    if (strcmp(m->def->constant[i].name, name) == 0) {
      named->number = m->def->constant[i].value;
      return ASI_MEANS_CONSTANT;
    }
  return ASI_MEANS_NOTHING;
}

/// For "did you mean": t, parameters, tables, constants, then those of the file.
static const char *candidate(int i, void *user) {
  const maker *m = user;
  const as_model *model = m->rules->model;
  if (i == 0) return "t";
  if (--i < model->n_parameters) return as_model_parameter_name(model, (as_parameter_id){i});
  i -= model->n_parameters;
  if (i < model->n_tables) return asi_names_get(&model->names[ASI_SORT_TABLE], i);
  i -= model->n_tables;
  if (i < m->def->n_constants) return m->def->constant[i].name;
  i -= m->def->n_constants;
  return m->more && m->more->candidate ? m->more->candidate(i, m->more->user) : NULL;
}

static as_status compile(maker *m, const char *text, const char *what, asi_clause *out) {
  const asi_scope scope = {.find = find_name, .candidate = candidate, .user = m};
  asi_parse_error *slip = &m->slip;
  if (text == NULL) return AS_OK;
  out->text = take_text(m, text);
  out->what = what;
  if (out->text == NULL) return asi_fail_memory(m->error);
  const as_status status =
      asi_expression_compile(out->text, strlen(out->text), &scope, &out->code, slip);
  if (m->no_memory || status == AS_ERR_MEMORY) return asi_fail_memory(m->error);
  if (status == AS_OK) return AS_OK;
  m->text = text;
  return asi_fail(m->error, status, (double)NAN, name_of(m),
                  "Event \"%s\", %s, line %d, column %d: %s.", name_of(m), what, slip->line,
                  slip->column, slip->sentence);
}

/// Whoever writes a comparison means the place where it begins to hold, but there is nothing to cross.
static as_status check_when(maker *m, const char *text) {
  const asi_clause *when = &m->rule->when;
  if (when->code == NULL || !asi_expression_is_truth(when->code)) return AS_OK;
  m->text = text;
  m->slip = (asi_parse_error){.line = 1, .column = 1};
  snprintf(m->slip.sentence, sizeof m->slip.sentence,
           "a comparison is 0 or 1 and crosses zero nowhere: write `a - b` for `a > b`, with a "
           "direction; more conditions go to `only_if`");
  return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m), "Event \"%s\", when: %s.",
                  name_of(m), m->slip.sentence);
}

// ---- actions ----------------------------------------------------------------------------------------

static as_status take_joints(maker *m, const as_joint_id *joint, int n, const char *what,
                             asi_joint_list *out) {
  out->joint = take(m, (size_t)n, sizeof *out->joint);
  if (out->joint == NULL) return asi_fail_memory(m->error);
  out->n = n;
  for (int i = 0; i < n; ++i) {
    if (joint[i].index < 0 || joint[i].index >= m->rules->model->n_joints)
      return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
                      "Event \"%s\" is to %s joint %d, which is not there.", name_of(m), what,
                      joint[i].index);
    out->joint[i] = joint[i];
  }
  return AS_OK;
}

static as_status take_settings(maker *m, const as_rule_def *def) {
  asi_rule *rule = m->rule;
  rule->parameter = take(m, (size_t)def->n_set, sizeof *rule->parameter);
  rule->signal = take(m, (size_t)def->n_set, sizeof *rule->signal);
  rule->value = take(m, (size_t)def->n_set, sizeof *rule->value);
  if (rule->parameter == NULL || rule->signal == NULL || rule->value == NULL)
    return asi_fail_memory(m->error);
  rule->n_set = def->n_set;
  as_status status = AS_OK;
  for (int i = 0; i < def->n_set && status == AS_OK; ++i) {
    const as_parameter_id parameter = rule->parameter[i] = def->set[i].parameter;
    const as_signal_id signal = rule->signal[i] = def->set[i].signal;
    if (parameter.index == ASI_NONE && def->set[i].value) {
      const as_model *model = m->rules->model;
      if (signal.index < 0 || signal.index >= as_model_signals(model) ||
          as_model_signal_kind(model, signal) == AS_SIGNAL_OUTPUT)
        return asi_fail(
            m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
            "Event \"%s\" is to set a signal that is not there, or that is no state and "
            "not sampled.",
            name_of(m));
    } else if (parameter.index < 0 || parameter.index >= m->rules->model->n_parameters ||
               def->set[i].value == NULL)
      return asi_fail(
          m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
          "Event \"%s\" is to set parameter %d, which is not there, or there is no value for it.",
          name_of(m), parameter.index);
    status = note(m, compile(m, def->set[i].value, "set", &rule->value[i]));
  }
  return status;
}

/// Where an impulse acts: by frame, or a point of a body.
static as_status place_impulse(maker *m, const as_rule_impulse *def, asi_rule_impulse *out) {
  const as_model *model = m->rules->model;
  if (def->frame.index != ASI_NONE && (def->frame.index < 0 || def->frame.index >= model->n_frames))
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
                    "Event \"%s\" has an impulse at frame %d, which is not there.", name_of(m),
                    def->frame.index);
  out->frame = def->frame;
  out->follows = def->follows;
  out->body.index =
      def->frame.index != ASI_NONE ? model->frame[def->frame.index].body : def->body.index;
  if (out->body.index < 0 || out->body.index >= model->n_bodies)
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
                    "Event \"%s\" has an impulse on %s.", name_of(m),
                    out->body.index == ASI_GROUND ? "the ground, which does not move"
                                                  : "a body that is not there");
  if (model->body[out->body.index].view || model->body[out->body.index].flexible)
    return asi_fail(m->error, AS_ERR_UNSUPPORTED, (double)NAN, name_of(m),
                    "Event \"%s\" has an impulse on \"%s\", which is a node of a flexible body and "
                    "shares its mass with it: put it on a body that is fixed to it.",
                    name_of(m), as_model_body_name(model, out->body));
  if (model->body[out->body.index].node)
    return asi_fail(m->error, AS_ERR_UNSUPPORTED, (double)NAN, name_of(m),
                    "Event \"%s\" has an impulse on \"%s\", which is a node of a superelement and "
                    "has no mass of its own: put it on a body that is fixed to it.",
                    name_of(m), as_model_body_name(model, out->body));
  for (int i = 0; i < model->n_massive; ++i) {
    const asi_element *e = &model->element[model->massive[i].element].e;
    for (int k = 0; k < e->n_bodies; ++k)
      if (e->body[k] == out->body.index)
        return asi_fail(
            m->error, AS_ERR_UNSUPPORTED, (double)NAN, name_of(m),
            "Event \"%s\" has an impulse on \"%s\", which shares its mass with a beam or "
            "another element: put it on a body that is fixed to it.",
            name_of(m), as_model_body_name(model, out->body));
  }
  if (out->frame.index != ASI_NONE || isnan(def->point[0])) return AS_OK;
  as_body_motion at;
  double from[3];
  asi_model_motion(model, out->body.index, model->q0, NULL, &at);
  asi_sum(def->point, -1.0, at.x, from);
  asi_rotate_back(at.R, from, out->point);
  if (isfinite(asi_norm(out->point))) return AS_OK;
  return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
                  "Event \"%s\" has an impulse at (%g, %g, %g) m.", name_of(m), def->point[0],
                  def->point[1], def->point[2]);
}

static as_status take_impulse(maker *m, const as_rule_impulse *def, asi_rule_impulse *out) {
  as_status status = ASI_CHECK_DEFINITION(as_rule_impulse, def, m->error);
  if (status == AS_OK) status = place_impulse(m, def, out);
  const bool turns = status == AS_OK && m->rules->model->body[out->body.index].n == 6;
  for (int k = 0; k < 6 && status == AS_OK; ++k) {
    const char *text = k < 3 ? def->force[k] : def->torque[k - 3];
    if (k >= 3 && text && !turns)
      return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name_of(m),
                      "Event \"%s\" has a torque on the point mass \"%s\", which does not turn.",
                      name_of(m), as_model_body_name(m->rules->model, out->body));
    status = note(m, compile(m, text, k < 3 ? "impulse, force" : "impulse, torque", &out->part[k]));
  }
  return status;
}

static as_status take_actions(maker *m, const as_rule_def *def) {
  asi_rule *rule = m->rule;
  as_status status = note(m, take_settings(m, def));
  if (status == AS_OK)
    status = note(m, take_joints(m, def->release, def->n_release, "release", &rule->release));
  if (status == AS_OK)
    status = note(m, take_joints(m, def->activate, def->n_activate, "activate", &rule->activate));
  if (status == AS_OK)
    status = note(m, take_joints(m, def->strike, def->n_strike, "strike", &rule->strike));
  rule->impulse = status ? NULL : take(m, (size_t)def->n_impulse, sizeof *rule->impulse);
  if (status == AS_OK && rule->impulse == NULL) status = asi_fail_memory(m->error);
  rule->n_impulse = status ? 0 : def->n_impulse;
  for (int i = 0; i < rule->n_impulse && status == AS_OK; ++i)
    status = note(m, take_impulse(m, &def->impulse[i], &rule->impulse[i]));
  return status;
}

// ---- the whole --------------------------------------------------------------------------------------

static as_status check_numbers(maker *m, const as_rule_def *def) {
  const char *name = def->name;
  if (def->when == NULL && def->every == 0.0)
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Event \"%s\" has no formula that says when, nor a time `every` so many "
                    "seconds.",
                    name);
  if (def->when && def->every != 0.0)
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Event \"%s\" has both a formula that says when and a time `every` %g s.", name,
                    def->every);
  if (def->when == NULL && !asi_is_clock(def->offset, def->every))
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Event \"%s\" happens every %g s from %g s on: it needs a positive period that "
                    "is not lost in the digits of the offset.",
                    name, def->every, def->offset);
  if (def->when == NULL && def->direction != 0)
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Event \"%s\" happens at given times: it has no direction.", name);
  if (def->direction < -1 || def->direction > 1 || def->times < 0)
    return asi_fail(
        m->error, AS_ERR_ARGUMENT, (double)NAN, name,
        "Event \"%s\" has the direction %d, not -1, 0 or 1, or happens %d times at most.", name,
        def->direction, def->times);
  if (!(def->restitution >= 0.0 && def->restitution <= 1.0))
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The restitution of event \"%s\" is %g, not 0 to 1.", name, def->restitution);
  if (!(def->gap >= 0.0))
    return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The gap that event \"%s\" may close is %g m.", name, def->gap);
  return AS_OK;
}

static as_status make_rule(maker *m, const as_rule_def *def) {
  asi_rule *rule = m->rule;
  // A listener knows already that `when` is missing, and `every`.
  const bool missing = def->when == NULL && def->every == 0.0;
  as_status status = missing && m->listener ? AS_OK : note(m, check_numbers(m, def));
  if (status) return status;
  rule->direction = def->direction;
  rule->every = def->every;
  rule->offset = def->offset;
  rule->times = def->times;
  rule->stop = def->stop;
  rule->gap = def->gap;
  rule->restitution = def->restitution;
  rule->message = def->message ? take_text(m, def->message) : NULL;
  if (m->no_memory) return asi_fail_memory(m->error);
  status = note(m, compile(m, def->when, "when", &rule->when));
  if (status == AS_OK) status = note(m, check_when(m, def->when));
  rule->timed = rule->when.code && asi_expression_has_times(rule->when.code, 0, true);
  if (status == AS_OK) status = note(m, compile(m, def->only_if, "only_if", &rule->only_if));
  return status ? status : take_actions(m, def);
}

/// Makes all of them; with a listener also those behind one that is wrong.
static as_status make_each(maker *m) {
  as_rules *rules = m->rules;
  for (; rules->n < m->def->n; ++rules->n) {
    m->number = rules->n;
    m->rule = &rules->rule[rules->n];
    m->text = NULL;
    const as_status status = make_rule(m, &m->def->rule[rules->n]);
    if (status) return status;
  }
  return m->wrong;
}

static as_status make_rules(maker *m) {
  as_rules *rules = m->rules;
  const as_rules_def *def = m->def;
  rules->rule = take(m, (size_t)def->n, sizeof *rules->rule);
  if (rules->rule == NULL) return asi_fail_memory(m->error);
  as_status status = AS_OK;
  for (int i = 0; i < def->n && status == AS_OK; ++i) {
    status = ASI_CHECK_DEFINITION(as_rule_def, &def->rule[i], m->error);
    if (status) return status;
    if (def->rule[i].name == NULL)
      return asi_fail(m->error, AS_ERR_ARGUMENT, (double)NAN, NULL, "Event %d has no name.", i);
    status = asi_names_add(&rules->names, ASI_SORT_EVENT, def->rule[i].name, m->error);
    if (status == AS_ERR_ARGUMENT && m->listener)
      m->listener->tell(i, NULL, NULL, m->error, m->listener->user);
  }
  return status ? status : make_each(m);
}

as_status asi_rules_create(const as_model *model, const as_rules_def *def, const asi_scope *more,
                           const asi_rule_listener *listener, as_rules **out, as_error *error) {
  *out = NULL;
  as_rules *rules = asi_calloc(1, sizeof *rules);
  if (rules == NULL) return asi_fail_memory(error);
  rules->model = model;
  maker m = {.rules = rules, .def = def, .more = more, .error = error, .listener = listener};
  const as_status status = make_rules(&m);
  if (status) {
    as_rules_destroy(rules);
    return status;
  }
  *out = rules;
  return AS_OK;
}

as_status as_rules_create(const as_model *model, const as_rules_def *def, as_rules **out,
                          as_error *error) {
  asi_locale locale; // of numbers in formulas
  *out = NULL;
  if (!asi_locale_set_plain(&locale)) return asi_fail_memory(error);
  const as_status status = asi_rules_create(model, def, NULL, NULL, out, error);
  asi_locale_restore(&locale);
  return status;
}

static void free_rule(asi_rule *rule) {
  free(rule->when.code);
  free(rule->only_if.code);
  for (int i = 0; i < rule->n_set; ++i) free(rule->value[i].code);
  for (int i = 0; i < rule->n_impulse; ++i)
    for (int k = 0; k < 6; ++k) free(rule->impulse[i].part[k].code);
  free((void *)rule->channel);
}

void as_rules_destroy(as_rules *rules) {
  if (rules == NULL) return;
  // The one that failed has not been counted.
  for (int i = 0; rules->rule && i <= rules->n && i < rules->names.count; ++i)
    free_rule(&rules->rule[i]);
  asi_names_free(&rules->names);
  for (asi_block *block = rules->block; block;) {
    asi_block *next = block->next;
    free(block);
    block = next;
  }
  free(rules);
}

int as_rules_count(const as_rules *rules) { return rules ? rules->n : 0; }
const char *as_rules_name(const as_rules *rules, int rule) {
  return asi_names_get(&rules->names, rule);
}
const char *as_rules_message(const as_rules *rules, int rule) {
  return rule >= 0 && rule < rules->n ? rules->rule[rule].message : NULL;
}
