/// FMUs in files: `fmus:`. What one is made of is known when its archive has been opened, which is when names of blocks are collected; its
/// library is loaded when the block is added.
#include "file/fmus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hint.h"
#include "file/blocks.h"
#include "file/libraries.h"
#include "file/plugins.h"
#include "fmi/block.h"
#include "model/add_block.h"

/// An FMU that has been opened, the newest first. It lives in the machine's arena.
struct asi_open_fmu {
  const char *name, *path;
  const char *folder; ///< that it may be used from; NULL: all may be
  asi_fmu_block *block;
  asi_open_fmu *older;
};

typedef struct fmu_thing {
  const char *file;
  int kind, coupling;
  double every;
  const asi_value *inputs, *parameters, *outputs;
} fmu_thing;

enum { EXCHANGE, SIMULATION };
static const char *const kinds_of_fmu[] = {"model_exchange", "co_simulation", NULL};
static const char *const couplings[] /* asi_fmu_coupling */ = {"hold", "linear", "iterate", NULL};

#define AT(field) offsetof(fmu_thing, field)
static const asi_key keys[] = {
    {"file", ASI_KEY_PATH, AT(file), .required = true,
     .text = "the FMU, which the command opens with `--allow-fmus` or `--fmus-from` only"},
    {"kind", ASI_KEY_CHOICE, AT(kind), .choices = kinds_of_fmu,
     .otherwise = "model_exchange if it is that and has no `every`",
     .text = "solved with the machine, or by itself from one communication point to the next"},
    {"every", ASI_KEY_NUMBER, AT(every), .range = ASI_POSITIVE, .unit = "s",
     .text = "of co-simulation: from one communication point to the next"},
    {"coupling", ASI_KEY_CHOICE, AT(coupling), .choices = couplings, .with = "every",
     .otherwise = "hold",
     .text = "linear: between communication points outputs go on by their last slope, and the FMU "
             "sees inputs between those at both ends: second order in `every`; iterate: steps of "
             "the FMU are taken back until they agree with the machine"},
    {"inputs", ASI_KEY_VALUE_MAP, AT(inputs), .otherwise = "they stay at their start values",
     .text = "formulas by the FMU's names, as that of a signal"},
    {"parameters", ASI_KEY_VALUE_MAP, AT(parameters), .otherwise = "as the FMU has them",
     .text = "parameters and start values by the FMU's names"},
    {"outputs", ASI_KEY_VALUE_MAP, AT(outputs), .otherwise = "all outputs, by their own names",
     .text = "names for formulas and channels, and which variable of the FMU each is"},
};
#undef AT
static const asi_table table = {"FMU", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) {
  fmu_thing *thing = out;
  thing->kind = -1;
  thing->every = (double)NAN;
}

// ---- opening ----------------------------------------------------------------------------------------

static bool complain(asi_reader *r, const asi_value *at, const asi_open_fmu *f, const char *why) {
  const bool named = strncmp(why, "the FMU", 7) == 0; // it was asked
  r->no_memory = r->no_memory || (!named && strstr(why, ASI_FMU_NO_MEMORY));
  asi_complain(r, at, named ? "%s%s" : "the FMU \"%s\": %s", named ? "" : f->path, why);
  return false;
}

static asi_open_fmu *find_open(const asi_reader *r, const char *name) {
  for (asi_open_fmu *f = *r->fmus; f; f = f->older)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

void asi_fmus_close(asi_open_fmu *list) {
  for (; list; list = list->older) asi_fmu_block_destroy(list->block);
}

/// Which kind it is used as: as it is said, or as it can.
static bool choose_kind(asi_reader *r, const asi_value *v, const asi_open_fmu *f,
                        const asi_fmu *fmu, bool *exchange) {
  const asi_value *kind = asi_value_get(v, "kind"), *every = asi_value_get(v, "every");
  const bool can[2] = {fmu->about.exchange.identifier != NULL,
                       fmu->about.simulation.identifier != NULL};
  char why[ASI_FMU_WHY];
  int chosen = can[EXCHANGE] && every == NULL ? EXCHANGE : SIMULATION;
  if (kind && (kind->type != ASI_TEXT || !asi_read_choice(r, kind, kinds_of_fmu, &chosen)))
    return false;
  *exchange = chosen == EXCHANGE;
  if (!can[chosen])
    snprintf(why, sizeof why, "it is not for %s; %s",
             *exchange ? "model exchange" : "co-simulation",
             *exchange ? "give `every`, the communication step"
                       : "leave `every` away: it is solved with the machine");
  else if (*exchange && every)
    snprintf(why, sizeof why,
             "`every` is of co-simulation; by model exchange it is solved with the machine");
  else if (!*exchange && every == NULL && isfinite(fmu->about.step))
    snprintf(why, sizeof why,
             "co-simulation needs `every`, the communication step; it suggests %g s",
             fmu->about.step);
  else if (!*exchange && every == NULL)
    snprintf(why, sizeof why, "co-simulation needs `every`, the communication step");
  else
    return true;
  return complain(r, kind ? kind : every ? every : v, f, why);
}

/// Says that a name is none, with the one that may be meant.
static bool complain_name(asi_reader *r, const asi_value *at, const asi_open_fmu *f,
                          const asi_fmu *fmu, const char *name, int causality, const char *why) {
  asi_hint hint = {.word = name};
  int element;
  if (asi_fmu_lookup(&fmu->about, name, &element) < 0)
    for (int i = 0; i < fmu->about.n_variables; ++i)
      if (causality < 0 || (int)fmu->about.variable[i].causality == causality)
        asi_hint_try(&hint, fmu->about.variable[i].name);
  char text[ASI_FMU_WHY];
  snprintf(text, sizeof text, "%.380s%s", why, hint.best ? asi_hint_text(&hint) : "");
  return complain(r, at, f, text);
}

/// Adds inputs and outputs by the names that are given.
static bool add_ports(asi_reader *r, const asi_value *v, const asi_open_fmu *f) {
  const asi_value *inputs = asi_value_get(v, "inputs"), *outputs = asi_value_get(v, "outputs");
  const asi_fmu *fmu = asi_fmu_block_fmu(f->block);
  char why[ASI_FMU_WHY];
  bool good = true;
  for (int i = 0; inputs && inputs->type == ASI_MAP && i < inputs->count; ++i) {
    const asi_value *key = inputs->item[2 * i];
    if (!asi_fmu_block_add_input(f->block, key->text, why))
      good = complain_name(r, key, f, fmu, key->text, ASI_FMU_INPUT, why);
  }
  for (int i = 0; outputs && outputs->type == ASI_MAP && i < outputs->count; ++i) {
    const asi_value *key = outputs->item[2 * i], *of = outputs->item[2 * i + 1];
    const char *text = asi_read_text(r, of);
    if (text == NULL) {
      good = false;
    } else if (!asi_is_parameter_name(key->text) || strlen(key->text) > 47) {
      asi_complain(
          r, key,
          "\"%.60s\" cannot name an output: letters, digits and _, no digit first, at most 47",
          key->text);
      good = false;
    } else if (!asi_fmu_block_add_output(f->block, key->text, text, why)) {
      good = complain_name(r, of, f, fmu, text, -1, why);
    }
  }
  if (good && !asi_fmu_block_describe(f->block, why)) good = complain(r, v, f, why);
  return good;
}

static const char *keep_text(asi_reader *r, const char *text) {
  return asi_arena_text(r->arena, text, strlen(text));
}

/// Opens one. NULL: it was said why not.
static asi_open_fmu *open_one(asi_reader *r, const asi_value *v, const char *name) {
  const as_plugin_policy none = {0}, *policy = r->policy ? r->policy : &none;
  const asi_trust trust = {.what = "FMU",
                           .option = "fmu",
                           .hint = "",
                           .all = policy->fmus,
                           .folders = policy->fmu_folders,
                           .n_folders = policy->n_fmu_folders};
  const asi_value *file = asi_value_get(v, "file"), *every = asi_value_get(v, "every"),
                  *coupling = asi_value_get(v, "coupling");
  asi_open_fmu *f = asi_arena_take(r->arena, sizeof *f);
  const char *path = f ? asi_beside(r, file) : NULL;
  if (path == NULL) return NULL;
  f->name = keep_text(r, name);
  f->path = asi_find_trusted(r, file, &trust, path, &f->folder);
  if (f->path == NULL || f->name == NULL) return NULL;
  char why[ASI_FMU_WHY];
  bool exchange;
  double period = 1.0;
  asi_fmu *fmu = asi_fmu_open(f->path, name, why);
  if (fmu == NULL) {
    complain(r, file, f, why);
    return NULL;
  }
  int way = ASI_FMU_HOLD;
  for (int i = 0; couplings[i] && coupling && coupling->type == ASI_TEXT; ++i)
    if (strcmp(coupling->text, couplings[i]) == 0) way = i;
  if (!choose_kind(r, v, f, fmu, &exchange) || (every && !asi_read_number(r, every, &period))) {
    asi_fmu_close(fmu);
    return NULL;
  }
  f->block = asi_fmu_block_create(fmu, exchange, period, (asi_fmu_coupling)way);
  if (f->block == NULL) {
    r->no_memory = true;
    return NULL;
  }
  f->older = *r->fmus;
  *r->fmus = f;
  return add_ports(r, v, f) ? f : NULL;
}

void asi_declare_fmus(asi_reader *r, const asi_value *map) {
  if (map == NULL || map->type != ASI_MAP) return; // that is said when they are read
  if (r->compile && map->count > 0) {
    asi_complain(r, map, "an FMU cannot have FMUs of its own");
    r->no_plugin = true;
    return;
  }
  for (int i = 0; i < map->count && !asi_out_of_memory(r); ++i) {
    const asi_value *key = map->item[2 * i], *v = map->item[2 * i + 1];
    const asi_value *file = v->type == ASI_MAP ? asi_value_get(v, "file") : NULL;
    const char *name = asi_read_key(r, key);
    if (name == NULL || file == NULL || file->type != ASI_TEXT) continue; // likewise
    const asi_path path = {key->text, 0, r->path};
    r->path = &path;
    const asi_open_fmu *f = find_open(r, name) ? NULL : open_one(r, v, name);
    if (f) {
      asi_declare_ports(r, key, name, asi_fmu_block_plugin(f->block));
    } else if (!find_open(r, name) || r->wrong) {
      r->no_plugin = true;
    }
    r->path = path.outer;
    asi_arena_reset(&r->scratch);
  }
}

// ---- adding -----------------------------------------------------------------------------------------

/// Formulas of the inputs, an array's by its elements. NULL: something is wrong.
static const char **read_inputs(asi_reader *r, const asi_value *map, const asi_open_fmu *f) {
  const as_plugin_block *p = asi_fmu_block_plugin(f->block);
  const asi_fmu *fmu = asi_fmu_block_fmu(f->block);
  const char **out = asi_arena_take(&r->scratch, ((size_t)p->n_inputs + 1) * sizeof *out);
  bool good = out != NULL;
  for (int i = 0; map && out && i < map->count; ++i) {
    char own[48];
    int element, k = 0;
    const int v = asi_fmu_lookup(&fmu->about, map->item[2 * i]->text, &element);
    if (v < 0 || element < 0) {
      asi_complain(r, map->item[2 * i],
                   "the input \"%.60s\" is an array: give its elements, as \"%.50s[1]\"",
                   map->item[2 * i]->text, map->item[2 * i]->text);
      good = false;
      continue;
    }
    asi_fmu_port_name(&fmu->about.variable[v], element, own);
    while (k < p->n_inputs && strcmp(asi_fmu_block_input(f->block, k), own) != 0) ++k;
    if (k == p->n_inputs || !asi_read_formula(r, map->item[2 * i + 1], &out[k])) good = false;
  }
  for (int k = 0; good && k < p->n_inputs; ++k)
    if (out[k] == NULL) {
      asi_complain(
          r, map,
          "the element \"%s\" of an input that is an array is missing: all are given, or none",
          asi_fmu_block_input(f->block, k));
      good = false;
    }
  return good ? out : NULL;
}

static bool set_one(asi_reader *r, const asi_open_fmu *f, const asi_value *key,
                    const asi_value *v) {
  char why[ASI_FMU_WHY];
  double number = 0.0;
  const char *text = NULL;
  if (asi_fmu_block_is_text(f->block, key->text))
    text = asi_read_text(r, v);
  else if (v->type == ASI_BOOLEAN)
    number = v->number != 0.0;
  else if (!asi_read_number(r, v, &number))
    return false;
  if (text == NULL && asi_fmu_block_is_text(f->block, key->text)) return false;
  if (asi_fmu_block_set(f->block, key->text, text, number, why)) return true;
  return complain_name(r, key, f, asi_fmu_block_fmu(f->block), key->text, -1, why);
}

/// Notes it in the machine.
static void note(asi_reader *r, const asi_open_fmu *f) {
  as_machine *m = r->machine;
  const asi_fmu *fmu = asi_fmu_block_fmu(f->block);
  const asi_fmu_kind *kind = fmu->kind;
  as_used_fmu *more =
      asi_arena_take(r->arena, ((size_t)m->n_fmus + 1) * sizeof *more); // there are few
  if (more == NULL) return;
  if (m->n_fmus > 0) memcpy(more, m->fmus, (size_t)m->n_fmus * sizeof *more);
  const char *can = kind->state && kind->serial ? "its state can be saved: runs can be resumed"
                    : kind->state ? "it can be brought back, but runs cannot be resumed"
                                  : "it cannot be brought back, and runs cannot be resumed";
  more[m->n_fmus++] = (as_used_fmu){.name = f->name,
                                    .path = f->path,
                                    .model = keep_text(r, fmu->about.name ? fmu->about.name : ""),
                                    .version = fmu->about.version,
                                    .exchange = fmu->exchange,
                                    .can = can,
                                    .folder = f->folder};
  m->fmus = more;
  char sentence[400];
  if (fmu->exchange && kind->each_step) {
    snprintf(sentence, sizeof sentence,
             "the FMU \"%.60s\" does not say that it does without completedIntegratorStep; it is "
             "told of events only, and with delays inside its numbers are wrong",
             f->name);
    asi_warn(r, sentence);
  }
  if (fmu->warned[0] == '\0') return;
  snprintf(sentence, sizeof sentence, "the FMU \"%.60s\" says: %.250s", f->name, fmu->warned);
  asi_warn(r, sentence);
}

/// Whether another one of the same library is there already, though there may be one only.
static bool is_second(const asi_reader *r, const asi_open_fmu *f) {
  for (const asi_open_fmu *o = *r->fmus; o; o = o->older)
    if (o != f && strcmp(o->path, f->path) == 0) return true;
  return false;
}

static as_status add_fmu(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                         as_error *error) {
  fmu_thing *thing = read;
  const asi_open_fmu *f = find_open(r, name);
  const asi_value *at = r->at;
  char why[ASI_FMU_WHY];
  double state[AS_PLUGIN_MOST], sampled;
  (void)kind;
  if (f == NULL) return AS_OK; // it has been said
  const asi_fmu *fmu = asi_fmu_block_fmu(f->block);
  if (fmu->component)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "There are two FMUs \"%s\".", name);
  if (fmu->kind->once && is_second(r, f)) {
    complain(r, at, f, "it can be there only once in a process");
    return AS_OK;
  }
  const char **input = read_inputs(r, thing->inputs, f);
  if (input == NULL) return AS_OK;
  bool good = asi_fmu_block_load(f->block, f->path, why) || complain(r, at, f, why);
  for (int i = 0; good && thing->parameters && i < thing->parameters->count; ++i)
    good =
        set_one(r, f, thing->parameters->item[2 * i], thing->parameters->item[2 * i + 1]) && good;
  if (good && !asi_fmu_block_begin(f->block, state, &sampled, why)) good = complain(r, at, f, why);
  if (!good) return AS_OK;
  if (!isnan(thing->every)) asi_check_period(r, thing->every);
  as_plugin_block_def def = as_default_plugin_block_def();
  def.block = name;
  def.plugin = asi_fmu_block_plugin(f->block);
  def.input = input;
  def.start = state;
  def.sampled_start = &sampled;
  def.period = fmu->exchange ? 1e9 : thing->every; // model exchange: at the start alone
  const as_status status =
      asi_builder_add_plugin_block(r->builder, &def, asi_fmu_block_memory(f->block), error);
  if (status == AS_OK) note(r, f);
  return status;
}

static const asi_kind fmu_kind = {
    NULL,
    0,
    &table,
    sizeof(fmu_thing),
    prepare,
    add_fmu,
    true,
    .text = "a model of another tool, an FMU of FMI 2.0 or 3.0 ([fmu-import.md](fmu-import.md))"};
static const asi_kind *const kinds[] = {&fmu_kind};
const asi_section asi_fmu_section = {"FMU", ASI_SORT_BLOCK, kinds, 1, true};
