/// Blocks and forces of plugins in files. What a block is made of is known when its library has been opened, which is when names
/// of blocks are collected.
#include "file/plugins.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/kinds.h"
#include "file/libraries.h"

// ---- what a plugin has ------------------------------------------------------------------------------

/// The block or force of a name; without a name the only one. NULL: it was said why not.
#define FIND(sort, list)                                                                           \
  static const as_plugin_##sort *find_##sort(asi_reader *r, const asi_value *at,                   \
                                             const as_plugin *plugin, const char *name) {          \
    asi_hint hint = {.word = name ? name : ""};                                                    \
    int n = 0;                                                                                     \
    for (; plugin->list && plugin->list[n]; ++n) {                                                 \
      if (name && strcmp(plugin->list[n]->name, name) == 0) return plugin->list[n];                \
      asi_hint_try(&hint, plugin->list[n]->name);                                                  \
    }                                                                                              \
    if (name == NULL && n == 1) return plugin->list[0];                                            \
    if (n == 0)                                                                                    \
      asi_complain(r, at, "the plugin \"%s\" has no " #list, plugin->name);                        \
    else if (name)                                                                                 \
      asi_complain(r, at, "the plugin \"%s\" has no " #sort " \"%.60s\"%s", plugin->name, name,    \
                   asi_hint_text(&hint));                                                          \
    else                                                                                           \
      asi_complain(r, at, "the plugin \"%s\" has %d " #list ": say which one by `plugin:`",        \
                   plugin->name, n);                                                               \
    return NULL;                                                                                   \
  }
FIND(block, blocks)
FIND(force, forces)

/// Which of the quantities a key is; -1: none, which has been said.
static int find_quantity(asi_reader *r, const asi_value *key, const as_plugin_quantity *list, int n,
                         const char *what, const char *plugin) {
  asi_hint hint = {.word = key->text};
  for (int i = 0; i < n; ++i) {
    if (strcmp(list[i].name, key->text) == 0) return i;
    asi_hint_try(&hint, list[i].name);
  }
  asi_complain(r, key, "the plugin \"%s\" has no %s \"%.60s\"%s", plugin, what, key->text,
               asi_hint_text(&hint));
  return -1;
}

/// Numbers by their names, NAN where there is none, in the scratch arena; NULL: something is wrong.
static double *read_numbers(asi_reader *r, const asi_value *map, const as_plugin_quantity *list,
                            int n, const char *what, const char *plugin) {
  double *out = asi_arena_take(&r->scratch, ((size_t)n + 1) * sizeof *out);
  bool good = out != NULL;
  for (int i = 0; i < n && out; ++i) out[i] = (double)NAN;
  for (int i = 0; map && out && i < map->count; ++i) {
    const int k = find_quantity(r, map->item[2 * i], list, n, what, plugin);
    if (k < 0 || !asi_read_number(r, map->item[2 * i + 1], &out[k])) good = false;
  }
  return good ? out : NULL;
}

// ---- blocks -----------------------------------------------------------------------------------------

typedef struct block_thing {
  as_plugin_block_def def;
  const char *file, *plugin;
  const asi_value *parameters, *inputs, *start;
} block_thing;

#define AT(field) offsetof(block_thing, field)
static const asi_key block_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"file", ASI_KEY_PATH, AT(file), .required = true,
     .text = "the shared library, which the command opens with `--allow-plugins` or "
             "`--plugins-from` only"},
    {"plugin", ASI_KEY_TEXT, AT(plugin), .otherwise = "its only block",
     .text = "which of the library's blocks"},
    {"parameters", ASI_KEY_FORMULA_MAP, AT(parameters), .otherwise = "as the plugin has them",
     .text = "numbers by the plugin's names"},
    {"inputs", ASI_KEY_FORMULA_MAP, AT(inputs),
     .text = "formulas by the plugin's names, as that of a signal"},
    {"start", ASI_KEY_FORMULA_MAP, AT(start), .otherwise = "as the plugin has them",
     .text = "states and sampled numbers at the start"},
    {"period", ASI_KEY_NUMBER, AT(def.period), .range = ASI_POSITIVE, .unit = "s",
     .text = "time between samples, if the plugin has sampled numbers"},
    {"offset", ASI_KEY_NUMBER, AT(def.offset), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .with = "period", .otherwise = "0", .text = "time of the first sample"},
    {"delay", ASI_KEY_NUMBER, AT(def.delay), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .with = "period", .otherwise = "0",
     .text = "from a sample to when it takes effect, less than the period"},
};
#undef AT
static const asi_table block_table = {"plugin block", NULL, block_keys, ASI_COUNT(block_keys)};

static void prepare_block(void *out) { ((block_thing *)out)->def = as_default_plugin_block_def(); }

/// Formulas of all inputs, those that are not given are zero pointers; NULL: something is wrong.
static const char **read_inputs(asi_reader *r, const asi_value *map, const as_plugin_block *p) {
  const char **out = asi_arena_take(&r->scratch, ((size_t)p->n_inputs + 1) * sizeof *out);
  bool good = out != NULL;
  for (int i = 0; map && out && i < map->count; ++i) {
    const int k = find_quantity(r, map->item[2 * i], p->input, p->n_inputs, "input", p->name);
    if (k < 0 || !asi_read_formula(r, map->item[2 * i + 1], &out[k])) good = false;
  }
  return good ? out : NULL;
}

/// Numbers that states and sampled numbers start with.
static bool read_start(asi_reader *r, const asi_value *map, const as_plugin_block *p,
                       as_plugin_block_def *def) {
  const int n = p->n_states + p->n_sampled;
  as_plugin_quantity *all = asi_arena_take(&r->scratch, ((size_t)n + 1) * sizeof *all);
  if (all == NULL) return false;
  for (int i = 0; i < n; ++i) all[i] = i < p->n_states ? p->state[i] : p->sampled[i - p->n_states];
  const double *start = read_numbers(r, map, all, n, "state", p->name);
  if (start == NULL) return false;
  def->start = start;
  def->sampled_start = start + p->n_states;
  return true;
}

static as_status add_block(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  block_thing *thing = read;
  as_plugin_block_def *def = &thing->def;
  const asi_value *at = r->at;
  (void)kind;
  const as_plugin *library = asi_open_plugin(r, at, thing->file);
  const as_plugin_block *p = library ? find_block(r, at, library, thing->plugin) : NULL;
  if (p == NULL) return AS_OK; // it has been said
  const char **input = read_inputs(r, thing->inputs, p);
  const double *parameter =
      read_numbers(r, thing->parameters, p->parameter, p->n_parameters, "parameter", p->name);
  if (!read_start(r, thing->start, p, def) || input == NULL || parameter == NULL) return AS_OK;
  def->block = name;
  def->plugin = p;
  def->input = input;
  def->parameter = parameter;
  return as_builder_add_plugin_block(r->builder, def, error);
}

const asi_kind asi_plugin_block_kind = {
    "plugin",
    0,
    &block_table,
    sizeof(block_thing),
    prepare_block,
    add_block,
    true,
    .text = "a block of a shared library of your own: states, sampled numbers and outputs"};

static void declare(asi_reader *r, const asi_value *key, const char *name,
                    const as_plugin_quantity *list, int n) {
  for (int i = 0; i < n && !r->no_memory; ++i) {
    as_error error;
    const as_status status = as_builder_declare_signal(r->builder, name, list[i].name, &error);
    if (status == AS_ERR_MEMORY)
      r->no_memory = true;
    else if (status)
      asi_complain(r, key, "%s", error.message);
  }
}

void asi_declare_ports(asi_reader *r, const asi_value *key, const char *name,
                       const as_plugin_block *p) {
  declare(r, key, name, p->input, p->n_inputs);
  declare(r, key, name, p->state, p->n_states);
  declare(r, key, name, p->sampled, p->n_sampled);
  declare(r, key, name, p->output, p->n_outputs);
}

void asi_declare_plugin(asi_reader *r, const asi_value *key, const asi_value *v, const char *name) {
  const asi_value *file = asi_value_get(v, "file"), *which = asi_value_get(v, "plugin");
  if (file == NULL || file->type != ASI_TEXT) return; // that is said when it is read
  const char *path = asi_beside(r, file);
  const as_plugin *library = path ? asi_open_plugin(r, file, path) : NULL;
  const as_plugin_block *p = library
                                 ? find_block(r, which ? which : file, library,
                                              which && which->type == ASI_TEXT ? which->text : NULL)
                                 : NULL;
  if (p == NULL) {
    r->no_plugin = true;
    return;
  }
  asi_declare_ports(r, key, name, p);
}

// ---- forces -----------------------------------------------------------------------------------------

typedef struct force_thing {
  as_plugin_force_def def;
  const char *file, *plugin;
  const asi_value *parameters;
} force_thing;

#define AT(field) offsetof(force_thing, field)
static const asi_key force_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of force"},
    {"file", ASI_KEY_PATH, AT(file), .required = true, .mirror = ASI_MIRROR_REFUSED,
     .text = "the shared library, which the command opens with `--allow-plugins` or "
             "`--plugins-from` only"},
    {"plugin", ASI_KEY_TEXT, AT(plugin), .otherwise = "its only force",
     .text = "which of the library's forces"},
    {"parameters", ASI_KEY_FORMULA_MAP, AT(parameters), .otherwise = "as the plugin has them",
     .text = "numbers by the plugin's names"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "first and second body; either may be `ground`"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "bodies", .text = "frames on the first and the second body"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .text = "origin of both frames, in the world at the start"},
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .least = 3, .most = 3, .with = "bodies",
     .otherwise = "that of the world", .text = "z of both frames"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .otherwise = "any", .text = "x of both frames"},
};
#undef AT
static const asi_table force_table = {"plugin force", NULL, force_keys, ASI_COUNT(force_keys)};

static void prepare_force(void *out) { ((force_thing *)out)->def = as_default_plugin_force_def(); }

static as_status add_force(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  force_thing *thing = read;
  as_plugin_force_def *def = &thing->def;
  const asi_value *at = r->at;
  (void)kind;
  const as_plugin *library = asi_open_plugin(r, at, thing->file);
  const as_plugin_force *p = library ? find_force(r, at, library, thing->plugin) : NULL;
  if (p == NULL) return AS_OK; // it has been said
  const double *parameter =
      read_numbers(r, thing->parameters, p->parameter, p->n_parameters, "parameter", p->name);
  if (parameter == NULL) return AS_OK;
  def->name = name;
  def->plugin = p;
  def->parameter = parameter;
  return as_builder_add_plugin_force(r->builder, def, NULL, error);
}

const asi_kind asi_plugin_force_kind = {
    "plugin",
    0,
    &force_table,
    sizeof(force_thing),
    prepare_force,
    add_force,
    .text = "a force of a shared library of your own between two frames, of how they lie and move "
            "against each other"};
