/// `events:` in files. They are read with the other things; their formulas are compiled when the model has been built.
#include "file/events.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/compile.h"
#include "results/rules.h"

// ---- keys -------------------------------------------------------------------------------------------

typedef struct event_thing {
  as_rule_def def;
  int direction;
  asi_settings set;
  asi_ids release, activate, strike;
  as_rule_impulse impulse; ///< neither frame nor body: there is none
} event_thing;

static const char *const directions[] = {"both", "rising", "falling", NULL};
static const int direction_of[] = {0, +1, -1};

#define AT(field) offsetof(as_rule_impulse, field)
static const asi_key impulse_keys[] = {
    {"body", ASI_KEY_NAME, AT(body), .required = true, .sort = ASI_SORT_BODY,
     .text = "the body that is struck"},
    {"frame", ASI_KEY_NAME, AT(frame), .sort = ASI_SORT_FRAME, .instead_of = "body",
     .text = "the frame at whose origin it acts"},
    {"point", ASI_KEY_VECTOR, AT(point), .least = 3, .most = 3, .with = "body", .unit = "m",
     .otherwise = "the centre of mass",
     .text = "where it acts, in the world at the start; it moves with the body"},
    {"force", ASI_KEY_FORMULAS, AT(force), .most = 3, .unit = "N s", .otherwise = "[0, 0, 0]",
     .text = "force times time"},
    {"torque", ASI_KEY_FORMULAS, AT(torque), .most = 3, .unit = "N m s", .otherwise = "[0, 0, 0]",
     .text = "torque times time"},
    {"follows", ASI_KEY_BOOLEAN, AT(follows), .otherwise = "false",
     .text = "components are along the axes of the frame or body, not of the world"},
};
#undef AT
static const asi_table impulse_table = {"impulse", NULL, impulse_keys, ASI_COUNT(impulse_keys)};

#define AT(field) offsetof(event_thing, field)
static const asi_key event_keys[] = {
    {"when", ASI_KEY_FORMULA, AT(def.when), .required = true,
     .text = "it happens where this crosses zero: of t, parameters, tables and channels"},
    {"every", ASI_KEY_NUMBER, AT(def.every), .range = ASI_POSITIVE, .instead_of = "when",
     .unit = "s", .text = "it happens at these times: `offset`, and then again and again"},
    {"offset", ASI_KEY_NUMBER, AT(def.offset), .with = "every", .unit = "s", .otherwise = "0",
     .text = "the first of these times; what is not behind the start does not happen"},
    {"direction", ASI_KEY_CHOICE, AT(direction), .choices = directions, .otherwise = "both",
     .text = "which crossings count"},
    {"only_if", ASI_KEY_FORMULA, AT(def.only_if), .otherwise = "1",
     .text = "nothing happens where this is 0: `joints.crank.angle_rate > 2`"},
    {"times", ASI_KEY_INTEGER, AT(def.times), .range = ASI_POSITIVE, .otherwise = "no limit",
     .text = "how often it happens at most"},
    {"stop", ASI_KEY_BOOLEAN, AT(def.stop), .otherwise = "false", .text = "the run ends there"},
    {"log", ASI_KEY_TEXT, AT(def.message), .text = "what is said when it happens"},
    {"set", ASI_KEY_SETTINGS, AT(set),
     .text = "parameters, states and samples of blocks (`blocks.NAME`), and what they are from "
             "then on"},
    {"release", ASI_KEY_NAME_LIST, AT(release), .sort = ASI_SORT_JOINT,
     .text = "joints that hold no more from then on; motions, gears too"},
    {"activate", ASI_KEY_NAME_LIST, AT(activate), .sort = ASI_SORT_JOINT,
     .text = "joints that hold from then on; velocities jump as where something locks"},
    {"gap", ASI_KEY_NUMBER, AT(def.gap), .range = ASI_NOT_NEGATIVE, .with = "activate", .unit = "m",
     .otherwise = "1e-6",
     .text =
         "how far such a joint may be open: the bodies are moved to close it, a wider gap is an "
         "error"},
    {"strike", ASI_KEY_NAME_LIST, AT(strike), .sort = ASI_SORT_JOINT,
     .text =
         "joints, active or not, that are struck: their rates are reversed, times `restitution`"},
    {"restitution", ASI_KEY_NUMBER, AT(def.restitution), .range = ASI_FRACTION, .with = "strike",
     .otherwise = "0", .text = "what is left of the rates"},
    {"impulse", ASI_KEY_OBJECT, AT(impulse), .table = &impulse_table,
     .text = "a blow on a body; joints pass on their share"},
};
#undef AT
static const asi_table event_table = {"event", NULL, event_keys, ASI_COUNT(event_keys)};

static void prepare_event(void *out) {
  event_thing *thing = out;
  thing->def = as_default_rule_def();
  thing->impulse = as_default_rule_impulse();
}

// ---- reading ----------------------------------------------------------------------------------------

static as_status check_event(const event_thing *thing, const char *name, as_error *error) {
  const as_rule_impulse *hit = &thing->impulse;
  const bool given = hit->body.index != ASI_NONE || hit->frame.index != ASI_NONE;
  if (given && hit->force[0] == NULL && hit->torque[0] == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The impulse of event \"%s\" has neither a force nor a torque.", name);
  return AS_OK;
}

/// Keeps what was read until the model has been built.
static as_status add_event(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  const event_thing *thing = read;
  (void)kind;
  const as_status status = check_event(thing, name, error);
  void *array = r->events;
  if (!asi_grow(&array, r->n_events, &r->room_events, sizeof *r->events)) return AS_ERR_MEMORY;
  r->events = array;
  asi_event event = {
      .def = thing->def, .at = r->at, .n_formulas = r->n_formulas, .broken = r->broken};
  as_rule_impulse *hit = asi_arena_take(r->arena, sizeof *hit);
  event.formula = asi_arena_take(r->arena, (size_t)r->n_formulas * sizeof *event.formula);
  event.def.name = asi_arena_text(r->arena, name, strlen(name));
  if (hit == NULL || event.formula == NULL || event.def.name == NULL) return AS_ERR_MEMORY;
  memcpy(event.formula, r->formula, (size_t)r->n_formulas * sizeof *event.formula);
  *hit = thing->impulse;
  event.def.direction = direction_of[thing->direction];
  event.def.set = thing->set.setting;
  event.def.n_set = thing->set.n;
  event.def.release = thing->release.id;
  event.def.n_release = thing->release.n;
  event.def.activate = thing->activate.id;
  event.def.n_activate = thing->activate.n;
  event.def.strike = thing->strike.id;
  event.def.n_strike = thing->strike.n;
  event.def.impulse = hit;
  event.def.n_impulse = hit->body.index != ASI_NONE || hit->frame.index != ASI_NONE;
  r->events[r->n_events++] = event;
  return status;
}

static const asi_kind event_kind = {
    .table = &event_table,
    .size = sizeof(event_thing),
    .prepare = prepare_event,
    .add = add_event,
    .text = "something that happens when a formula crosses zero, or by the clock"};
static const asi_kind *const kinds[] = {&event_kind};
const asi_section asi_event_section = {"event", ASI_SORT_EVENT, kinds, 1, false};

/// blocks.NAME or blocks.NAME.OUTPUT: a state or sampled signal.
static bool find_signal(asi_reader *r, const asi_value *key, as_signal_id *out) {
  char block[ASI_EXPRESSION_NAME];
  snprintf(block, sizeof block, "%s", key->text + strlen("blocks."));
  char *output = strchr(block, '.');
  if (output) *output++ = '\0';
  const as_builder *b = r->builder;
  const asi_names *names = &b->names[ASI_SORT_BLOCK];
  const int number = asi_names_find(names, block);
  out->index = number >= 0 ? asi_builder_find_signal(b, number, output ? output : "") : ASI_NONE;
  if (number < 0) {
    asi_hint hint = {.word = block};
    for (int i = 0; i < names->count; ++i) asi_hint_try(&hint, asi_names_get(names, i));
    asi_complain(r, key, "there is no block \"%.60s\"%s", block, asi_hint_text(&hint));
  } else if (out->index < 0) {
    asi_hint hint = {.word = output ? output : ""};
    for (int i = b->block[number].first; i >= 0; i = b->signal[i].next)
      asi_hint_try(&hint, b->signal[i].output);
    asi_complain(r, key, "the block \"%.60s\" has no \"%.60s\"%s", block, output ? output : "value",
                 asi_hint_text(&hint));
  } else if (!b->signal[out->index].declared && b->signal[out->index].kind == AS_SIGNAL_OUTPUT) {
    asi_complain(r, key,
                 "\"%.60s\" follows from its formula: only states and sampled blocks can be set",
                 key->text);
    *out = AS_NO_SIGNAL;
  }
  return out->index >= 0;
}

bool asi_read_settings(asi_reader *r, const asi_value *v, asi_settings *out) {
  bool good = true;
  const asi_path *outer = r->path;
  if (v->type != ASI_MAP) {
    asi_complain(r, v, "must be a mapping of parameters to formulas, not %s", asi_value_what(v));
    return false;
  }
  out->setting = asi_arena_take(r->arena, (size_t)v->count * sizeof *out->setting);
  if (out->setting == NULL) return false;
  for (int i = 0; i < v->count; ++i) {
    const asi_value *key = v->item[2 * i];
    const asi_path path = {key->text, 0, outer};
    as_rule_setting *setting = &out->setting[out->n];
    setting->parameter =
        (as_parameter_id){asi_names_find(&r->builder->names[ASI_SORT_PARAMETER], key->text)};
    setting->signal = AS_NO_SIGNAL;
    r->path = &path;
    if (strncmp(key->text, "blocks.", 7) == 0) {
      setting->parameter = AS_NO_PARAMETER;
      good = find_signal(r, key, &setting->signal) &&
             asi_read_formula(r, v->item[2 * i + 1], &setting->value) && good;
      ++out->n;
    } else if (setting->parameter.index >= 0) {
      good = asi_read_formula(r, v->item[2 * i + 1], &setting->value) && good;
      ++out->n;
    } else if (asi_names_find(&r->parameter_names, key->text) < 0) {
      asi_hint hint = {.word = key->text};
      for (int k = 0; k < r->n_parameters; ++k)
        asi_hint_try(&hint, asi_names_get(&r->parameter_names, k));
      asi_complain(r, key, "there is no parameter \"%.60s\"%s", key->text, asi_hint_text(&hint));
      good = false;
    } else {
      good = false; // its value is wrong, which has been said
    }
    r->path = outer;
  }
  return good;
}

// ---- before and after -------------------------------------------------------------------------------

static void mark(asi_reader *r, const asi_value *event, const char *name) {
  const asi_value *set = asi_value_get(event, "set");
  for (int i = 0; set && set->type == ASI_MAP && i < set->count; ++i) {
    const int found = asi_names_find(&r->parameter_names, set->item[2 * i]->text);
    if (found >= 0 && r->parameters[found].set_by == NULL) r->parameters[found].set_by = name;
  }
}

void asi_mark_live(asi_reader *r) {
  for (int i = 0; r->compile && i < r->compile->n_live; ++i) {
    const int found = asi_names_find(&r->parameter_names, r->compile->live[i]);
    if (found >= 0) r->parameters[found].set_by = "";
  }
  for (int f = 0; f < r->n_order; ++f) {
    const asi_value *map = asi_value_get(r->file[r->order[f]].root, "events");
    for (int i = 0; map && map->type == ASI_MAP && i < map->count; ++i)
      mark(r, map->item[2 * i + 1], map->item[2 * i]->text);
  }
}

/// Whether a thing is in a text, as in `joints.NAME.angle`.
static bool names(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
    if (at > text && at[-1] == '.' && (at[length] == '.' || at[length] == '\0')) return true;
  return false;
}

/// Whether a formula names a thing that could not be made, which has been said: then nothing is known of it.
static bool names_failed(const asi_reader *r, const char *text) {
  for (int s = 0; s < ASI_SORTS && text; ++s)
    for (int i = 0; i < r->failed[s].count; ++i)
      if (names(text, asi_names_get(&r->failed[s], i))) return true;
  return false;
}

/// Says what is wrong with an event at its formula, or at its name.
static void complain(int rule, const char *text, const asi_parse_error *slip, const as_error *error,
                     void *user) {
  asi_reader *r = user;
  const asi_event *event = &r->events[rule];
  if (names_failed(r, text)) return;
  const asi_path section = {"events", 0, NULL}, path = {event->def.name, 0, &section};
  r->path = &path;
  const asi_formula_value *formula = NULL;
  for (int i = 0; i < event->n_formulas && text; ++i)
    if (event->formula[i].text == text) formula = &event->formula[i];
  if (formula == NULL && !event->broken)
    asi_complain(r, event->at, "%s", error->message);
  else if (formula)
    asi_report_parse_error(r, formula, slip);
  r->path = NULL;
}

static as_status make_rules(asi_reader *r, const as_model *model, as_rules **out, as_error *error) {
  if (r->n_events == 0) return AS_OK;
  as_rule_def *rule = asi_arena_take(&r->scratch, (size_t)r->n_events * sizeof *rule);
  if (rule == NULL) return AS_ERR_MEMORY;
  for (int i = 0; i < r->n_events; ++i) rule[i] = r->events[i].def;
  const as_rules_def def = {.rule = rule, .n = r->n_events};
  const asi_rule_listener listener = {complain, r};
  const as_status status = asi_rules_create(model, &def, &r->constants, &listener, out, error);
  return status == AS_ERR_MEMORY ? status : AS_OK; // all else has been said
}

as_status asi_build_events(asi_reader *r, as_error *error) {
  return make_rules(r, r->machine->model, &r->machine->rules, error);
}

/// What of the outputs is not there. Those of events are known when all is well.
static void check_outputs(asi_reader *r, const as_model *model) {
  const as_output *output = &r->machine->output;
  const asi_path outer = {"output", 0, NULL}, inner = {"channels", 0, &outer};
  const asi_value *list = asi_value_get(r->output, "channels");
  for (int i = 0; list && list->type == ASI_LIST && i < output->n_channels && i < list->count;
       ++i) {
    as_channels *channels = NULL;
    as_error error;
    const char *text = output->channels[i];
    if (text == NULL || strncmp(text, "events", 6) == 0 || names_failed(r, text)) continue;
    const as_status status = as_channels_create(model, &text, 1, &channels, &error);
    as_channels_destroy(channels);
    if (status != AS_ERR_ARGUMENT) continue;
    const asi_path path = {NULL, i, &inner};
    r->path = &path;
    asi_complain(r, list->item[i], "%s", error.message);
    r->path = NULL;
  }
}

void asi_check_rest(asi_reader *r) {
  as_model *made = NULL;
  as_rules *rules = NULL;
  as_error error;
  if (r->lost || r->unreadable || r->builder == NULL) return;
  if (r->machine->model == NULL) { // what could be made; failures of the rest have been said
    if (as_builder_build(r->builder, &made, &error) == AS_OK)
      (void)make_rules(r, made, &rules, &error);
    as_rules_destroy(rules);
  }
  const as_model *model = made ? made : r->machine->model;
  if (model) check_outputs(r, model);
  as_model_destroy(made);
}
