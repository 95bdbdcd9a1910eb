/// The variables of an FMU: time, inputs, parameters, outputs, in this order.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hint.h"
#include "fmu/plan.h"

enum { NAME = 600 };

const char *asi_exported_parameter_of(const char *name) {
  return strncmp(name, "parameters.", 11) == 0 ? name + 11 : NULL;
}

// ---- names ------------------------------------------------------------------------------------------

static bool is_identifier(const char *text, size_t n) {
  bool good = n > 0 && (isalpha((unsigned char)text[0]) || text[0] == '_');
  for (size_t i = 0; i < n; ++i) good = good && (isalnum((unsigned char)text[i]) || text[i] == '_');
  return good;
}

// Parts between dots are identifiers, or any text in single quotes.
const char *asi_exported_structured(asi_arena *arena, const char *name) {
  char *out = asi_arena_take(arena, 4 * strlen(name) + 3), *to = out;
  for (const char *part = name; out; ++part) {
    const size_t n = strcspn(part, ".");
    const bool plain = is_identifier(part, n);
    if (!plain) *to++ = '\'';
    for (size_t i = 0; i < n; ++i) {
      if (!plain && (part[i] == '\'' || part[i] == '\\')) *to++ = '\\';
      *to++ = part[i];
    }
    if (!plain) *to++ = '\'';
    part += n;
    if (*part == '\0') break;
    *to++ = '.';
  }
  return out;
}

/// Adds one; the arena keeps copies. False: no memory, or too many.
static bool add(asi_exported_plan *p, asi_exported_kind kind, const char *name, const char *target,
                const char *unit, double start, bool feeds) {
  asi_exported_interface *f = &p->face;
  f->variable[f->n++] = (asi_exported_variable){kind,
                                                asi_exported_structured(&p->arena, name),
                                                asi_arena_text(&p->arena, target, strlen(target)),
                                                asi_arena_text(&p->arena, unit, strlen(unit)),
                                                start,
                                                feeds};
  return !p->arena.failed;
}

/// Whether there is a variable that the machine calls so.
static bool is_there(asi_exported_plan *p, const char *name) {
  const char *wanted = asi_exported_structured(&p->arena, name);
  for (int i = 0; i < p->face.n && wanted; ++i)
    if (strcmp(p->face.variable[i].name, wanted) == 0) return true;
  return false;
}

// ---- inputs and parameters ----------------------------------------------------------------------------

static as_status add_block(asi_exported_plan *p, int i, as_error *error) {
  const as_model *m = p->machine->model;
  const as_signal_id id = p->input[i];
  char name[NAME];
  as_model_signal_name(m, id, name, sizeof name);
  as_signal_id value = id;
  if (p->def->input_derivatives) value = as_model_find_signal(m, name + 7, "given");
  const double start = as_model_initial(m)->u[as_model_signal_place(m, value)];
  return add(p, ASI_EXPORTED_INPUT, name, name + 7, as_model_signal_unit(m, id), start, false)
             ? AS_OK
             : asi_fail_memory(error);
}

/// The number of a parameter that may be set from outside, -1 with a sentence.
static int find_parameter(const asi_exported_plan *p, const char *name, as_error *error) {
  asi_hint hint = {.word = name};
  for (int i = 0; i < p->n_parameters; ++i) {
    const asi_exported_parameter *x = &p->parameter[i];
    if (strcmp(x->name, name) == 0 && x->plain) return i;
    if (strcmp(x->name, name) == 0) {
      asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
               "The parameter \"%.60s\" follows from others: name one that is written as a number.",
               name);
      return -1;
    }
    asi_hint_try(&hint, x->name);
  }
  asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "There is no parameter \"%.60s\"%s.", name,
           asi_hint_text(&hint));
  return -1;
}

static as_status add_parameter(asi_exported_plan *p, asi_exported_kind kind, const char *name,
                               as_error *error) {
  char full[NAME];
  const int i = find_parameter(p, name, error);
  if (i < 0) return AS_ERR_ARGUMENT;
  snprintf(full, sizeof full, "parameters.%s", name);
  if (is_there(p, full))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The parameter \"%.60s\" is named twice.", name);
  return add(p, kind, full, name, "-", p->parameter[i].value, false) ? AS_OK
                                                                     : asi_fail_memory(error);
}

static as_status add_input(asi_exported_plan *p, const char *name, as_error *error) {
  const char *parameter = asi_exported_parameter_of(name);
  if (parameter) return add_parameter(p, ASI_EXPORTED_DRIVEN, parameter, error);
  char block[NAME];
  asi_hint hint = {.word = name};
  for (int i = 0; i < p->n_inputs; ++i) {
    as_model_signal_name(p->machine->model, p->input[i], block, sizeof block);
    asi_hint_try(&hint, block);
    if (strcmp(name, block) != 0) continue;
    if (is_there(p, name))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The input `%.80s` is named twice.", name);
    return add_block(p, i, error);
  }
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "There is no input `%.80s`%s: inputs are blocks of type `input` "
                  "(`blocks.demand`) and parameters that formulas read (`parameters.load`).",
                  name, asi_hint_text(&hint));
}

static as_status add_inputs(asi_exported_plan *p, as_error *error) {
  const as_fmu_def *def = p->def;
  as_status status = AS_OK;
  for (int i = 0; i < def->n_inputs && status == AS_OK; ++i)
    status = add_input(p, def->inputs[i], error);
  for (int i = 0; i < p->n_inputs && def->n_inputs == 0 && status == AS_OK; ++i)
    status = add_block(p, i, error);
  return status;
}

static as_status add_parameters(asi_exported_plan *p, as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < p->def->n_tunable && status == AS_OK; ++i) {
    const char *name = asi_exported_parameter_of(p->def->tunable[i]);
    status =
        name ? add_parameter(p, ASI_EXPORTED_TUNABLE, name, error)
             : asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "`%.80s` is no parameter, as in `parameters.gain`.", p->def->tunable[i]);
  }
  for (int i = 0; i < p->n_parameters && status == AS_OK; ++i) {
    char full[NAME];
    const asi_exported_parameter *x = &p->parameter[i];
    snprintf(full, sizeof full, "parameters.%s", x->name);
    if (x->plain && x->used && !is_there(p, full))
      status = add_parameter(p, ASI_EXPORTED_PARAMETER, x->name, error);
  }
  return status;
}

// ---- outputs ----------------------------------------------------------------------------------------

/// What is summed up along a run, or is of a run's own steps.
static bool is_of_runs(const char *channel) {
  static const char *const names[] = {"energy.dissipated", "energy.work", "energy.balance",
                                      "solver.newton_iterations"};
  bool found = strncmp(channel, "drift.", 6) == 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    found = found || strcmp(channel, names[i]) == 0;
  return found;
}

/// Whether it is an input, or a part of one.
static bool is_of_input(const asi_exported_plan *p, const char *channel) {
  for (int i = 0; i < p->n_inputs; ++i) {
    char name[NAME];
    as_model_signal_name(p->machine->model, p->input[i], name, sizeof name);
    const size_t n = strlen(name);
    if (strncmp(channel, name, n) != 0) continue;
    if (channel[n] == '\0') return true;
    if (p->def->input_derivatives &&
        (strcmp(channel + n, ".given") == 0 || strcmp(channel + n, ".slope") == 0 ||
         strcmp(channel + n, ".since") == 0))
      return true;
  }
  return false;
}

/// Whether motions are prescribed: positions may then follow inputs at once.
static bool has_motions(const as_model *m) {
  asi_channel_quantity list[ASI_QUANTITIES];
  for (int j = 0; j < asi_group_objects(m, NULL, ASI_GROUP_JOINTS); ++j) {
    const int n = asi_quantities(m, ASI_GROUP_JOINTS, j, list);
    for (int i = 0; i < n; ++i)
      if (list[i].source == ASI_SOURCE_DRIVE) return true;
  }
  return false;
}

/// Whether a number that channels are read from may change at once with an input: all but positions, velocities and what follows from them.
static bool feeds_through(const as_channels *c, int place) {
  const asi_source *s = NULL;
  for (int i = 0; i < c->n_sources; ++i)
    if (place >= c->source[i].first &&
        place < c->source[i].first + asi_source_size(c->model, c->source[i]))
      s = &c->source[i];
  if (s == NULL) return true;
  switch (s->kind) {
  case ASI_SOURCE_BODY:
  case ASI_SOURCE_FRAME:
  case ASI_SOURCE_DISTANCE:
  case ASI_SOURCE_COORDINATES:
  case ASI_SOURCE_MOMENTUM:
  case ASI_SOURCE_TURN:
  case ASI_SOURCE_FRAME_TURN:
  case ASI_SOURCE_ELASTIC:
  case ASI_SOURCE_SOLVER:
  case ASI_SOURCE_EVENT: return false;
  case ASI_SOURCE_MAGNITUDE: return feeds_through(c, s->other);
  case ASI_SOURCE_SIGNAL: {
    const as_signal_kind kind = as_model_signal_kind(c->model, (as_signal_id){s->object});
    return kind == AS_SIGNAL_OUTPUT;
  }
  default: return true;
  }
}

static as_status add_channels(asi_exported_plan *p, const as_channels *c, bool all_named,
                              as_error *error) {
  const bool moves = has_motions(p->machine->model);
  const int n = as_channels_count(c);
  asi_exported_variable *larger =
      asi_arena_take(&p->arena, (size_t)(p->face.n + n) * sizeof *p->face.variable);
  if (larger == NULL) return asi_fail_memory(error);
  memcpy(larger, p->face.variable, (size_t)p->face.n * sizeof *larger);
  p->face.variable = larger;
  for (int i = 0; i < n; ++i) {
    const as_channel channel = as_channels_get(c, i);
    if (is_of_runs(channel.name) && all_named)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, channel.name,
                      "`%.80s` is added up along a run: it cannot be an output of an FMU.",
                      channel.name);
    if (is_of_runs(channel.name) || is_of_input(p, channel.name)) continue;
    if (!add(p, ASI_EXPORTED_OUTPUT, channel.name, channel.name, channel.unit, (double)NAN,
             moves || feeds_through(c, c->pick[i])))
      return asi_fail_memory(error);
  }
  return AS_OK;
}

/// Whether there are blocks besides the inputs.
static bool has_blocks(const asi_exported_plan *p) {
  const int parts = p->def->input_derivatives ? 4 : 1;
  return as_model_signals(p->machine->model) > parts * p->n_inputs;
}

static as_status add_outputs(asi_exported_plan *p, as_error *error) {
  const as_fmu_def *def = p->def;
  const as_output *own = &p->machine->output;
  const bool named = def->n_outputs > 0;
  const int n = named ? def->n_outputs : own->n_channels;
  const char **list = asi_arena_take(&p->arena, ((size_t)n + 1) * sizeof *list);
  int count = n;
  as_channels *c = NULL;
  if (list == NULL) return asi_fail_memory(error);
  if (n > 0) memcpy(list, named ? def->outputs : own->channels, (size_t)n * sizeof *list);
  if (!named && has_blocks(p)) list[count++] = "blocks";
  as_status status =
      as_channels_create_with(p->machine->model, p->machine->rules, list, count, &c, error);
  if (status == AS_OK) status = add_channels(p, c, named, error);
  as_channels_destroy(c);
  return status;
}

as_status asi_exported_plan_variables(asi_exported_plan *p, as_error *error) {
  const size_t most = (size_t)p->def->n_inputs + (size_t)p->n_inputs + (size_t)p->def->n_tunable +
                      (size_t)p->n_parameters + 1;
  p->face.variable = asi_arena_take(&p->arena, most * sizeof *p->face.variable);
  if (p->face.variable == NULL) return asi_fail_memory(error);
  if (!add(p, ASI_EXPORTED_TIME, "time", "t", "s", 0.0, false)) return asi_fail_memory(error);
  as_status status = add_inputs(p, error);
  if (status == AS_OK) status = add_parameters(p, error);
  if (status == AS_OK) status = add_outputs(p, error);
  if (status == AS_OK && p->face.n > ASI_EXPORTED_MOST)
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The FMU would have %d variables, and %d are allowed: choose --outputs.",
                      p->face.n, (int)ASI_EXPORTED_MOST);
  return status;
}
