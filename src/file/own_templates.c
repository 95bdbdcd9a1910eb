/// Templates of the user's, `templates:` in a file: keys, and the signals that a block of `type: template` makes, with
/// {key}, {} and {.signal} in their formulas as in our own (templates.c).
///
///     templates:
///       leaky: {keys: {input: null, rate: 1}, blocks: {value: {type: state, rate: "{input} - {rate}*{}"}}}
///     blocks:
///       speed: {type: template, template: leaky, with: {input: blocks.acceleration}}
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "control/expand.h"
#include "file/blocks.h"
#include "file/kinds.h"
#include "file/templates.h"
#include "model/scope.h"

typedef struct template_thing {
  const asi_value *keys, *blocks;
} template_thing;

#define AT(field) offsetof(template_thing, field)
static const asi_key template_keys[] = {
    {"keys", ASI_KEY_FORMULA_MAP, AT(keys),
     .text = "what may be given, with what holds otherwise; null: it must be given"},
    {"blocks", ASI_KEY_THINGS, AT(blocks), .required = true, .section = &asi_block_section,
     .text = "signals, states, samples and held numbers that it makes; `value` is the block's own"},
};
#undef AT
const asi_table asi_own_template_table = {"template", NULL, template_keys,
                                          ASI_COUNT(template_keys)};

/// A block that is made of one.
typedef struct use_thing {
  const char *name;
  const asi_value *with;
} use_thing;

#define AT(field) offsetof(use_thing, field)
static const asi_key use_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"template", ASI_KEY_TEXT, AT(name), .required = true, .text = "one of `templates`"},
    {"with", ASI_KEY_FORMULA_MAP, AT(with), .text = "its keys and what is given for them"},
};
#undef AT
static const asi_table use_table = {"template block", NULL, use_keys, ASI_COUNT(use_keys)};

// ---- finding ----------------------------------------------------------------------------------------

static const asi_value *find_template(asi_reader *r, const char *name, asi_hint *hint) {
  for (int f = r->n_order - 1; f >= 0; --f) {
    const asi_value *root = r->file[r->order[f]].root;
    const asi_value *map = root ? asi_value_get(root, "templates") : NULL;
    for (int i = 0; map && map->type == ASI_MAP && i < map->count; ++i) {
      if (strcmp(map->item[2 * i]->text, name) == 0) return map->item[2 * i + 1];
      if (hint) asi_hint_try(hint, map->item[2 * i]->text);
    }
  }
  return NULL;
}

static const char *output_of(const asi_value *key) {
  return strcmp(key->text, "value") == 0 ? NULL : key->text;
}

static const asi_value *blocks_of(const asi_value *template) {
  const asi_value *blocks =
      template && template->type == ASI_MAP ? asi_value_get(template, "blocks") : NULL;
  return blocks && blocks->type == ASI_MAP ? blocks : NULL;
}

void asi_declare_own(asi_reader *r, const asi_value *v, const char *name) {
  const asi_value *of = asi_value_get(v, "template");
  const asi_value *blocks =
      of && of->type == ASI_TEXT ? blocks_of(find_template(r, of->text, NULL)) : NULL;
  as_error error;
  if (blocks == NULL) (void)as_builder_declare_signal(r->builder, name, NULL, &error);
  for (int i = 0; blocks && i < blocks->count; ++i)
    if (as_builder_declare_signal(r->builder, name, output_of(blocks->item[2 * i]), &error) ==
        AS_ERR_MEMORY)
      r->no_memory = true;
}

// ---- filling ----------------------------------------------------------------------------------------

typedef struct filling {
  asi_reader *r;
  const asi_value *keys, *with;
} filling;

static const char *look_up(const char *key, void *user) {
  filling *f = user;
  const asi_value *given = f->with ? asi_value_get(f->with, key) : NULL;
  if (given == NULL) given = f->keys ? asi_value_get(f->keys, key) : NULL;
  return given && given->type != ASI_NULL ? asi_read_key(f->r, given) : NULL;
}

/// Keys that are not known, or not given.
static bool check_keys(asi_reader *r, const filling *f, const asi_value *at, const char *name) {
  bool good = true;
  for (int i = 0; f->with && i < f->with->count; ++i) {
    const asi_value *key = f->with->item[2 * i];
    if (f->keys && asi_value_get(f->keys, key->text)) continue;
    asi_hint hint = {.word = key->text};
    for (int k = 0; f->keys && k < f->keys->count; ++k)
      asi_hint_try(&hint, f->keys->item[2 * k]->text);
    asi_complain(r, key, "the template \"%.60s\" has no key \"%.60s\"%s", name, key->text,
                 asi_hint_text(&hint));
    good = false;
  }
  for (int k = 0; f->keys && k < f->keys->count; ++k) {
    const asi_value *key = f->keys->item[2 * k], *value = f->keys->item[2 * k + 1];
    if (value->type != ASI_NULL || (f->with && asi_value_get(f->with, key->text))) continue;
    asi_complain(r, at, "missing: \"%.60s\", which the template \"%.60s\" needs", key->text, name);
    good = false;
  }
  return good;
}

/// What is given is compiled by itself first, so that a mistake is told at its place.
static as_status check_given(asi_reader *r, const asi_value *with, const char *block,
                             as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; with && i < with->count && status == AS_OK; ++i) {
    const char *text;
    if (!asi_read_formula(r, with->item[2 * i + 1], &text)) return AS_OK; // it has been said
    status = asi_builder_check_block_formula(r->builder, block, text, error);
  }
  return status;
}

/// The text of a value with what stands for its keys; NULL: there is no memory, or a key is none, which is said.
static const char *fill(filling *f, const asi_value *v, const char *block) {
  char missing[64] = "";
  const int length = asi_expand(v->text, block, look_up, f, NULL, 0, missing);
  if (length < 0) {
    asi_complain(f->r, v, "{%.60s} is no key of the template", missing);
    return NULL;
  }
  char *text = asi_arena_take(&f->r->scratch, (size_t)length + 1);
  if (text) asi_expand(v->text, block, look_up, f, text, (size_t)length + 1, NULL);
  return text;
}

/// A value with all its texts filled; those that have nothing to fill are as they were. NULL: likewise.
static asi_value *fill_all(filling *f, asi_value *v, const char *block) {
  asi_arena *arena = &f->r->scratch;
  const bool map = v->type == ASI_MAP, text = v->type == ASI_TEXT && strchr(v->text, '{');
  if (!map && !text && v->type != ASI_LIST) return v;
  asi_value *out = asi_arena_take(arena, sizeof *out);
  if (out == NULL) return NULL;
  *out = *v;
  if (text) {
    out->text = fill(f, v, block);
    return out->text ? out : NULL;
  }
  const int n = map ? 2 * v->count : v->count;
  out->item = asi_arena_take(arena, (size_t)n * sizeof *out->item);
  for (int i = 0; i < n && out->item; ++i) {
    const bool is_key = map && i % 2 == 0;
    out->item[i] = is_key ? v->item[i] : fill_all(f, v->item[i], block);
    if (out->item[i] == NULL) return NULL;
  }
  return out->item ? out : NULL;
}

/// The kind of a signal that a template makes; NULL: it cannot be, and that has been said.
static const asi_kind *kind_of(asi_reader *r, const asi_value *key, const asi_value *v) {
  const asi_kind *kind = asi_kind_of(r, v, key, &asi_block_section);
  if (kind == NULL || kind == &asi_signal_kind || kind == &asi_state_kind ||
      kind == &asi_sampled_kind || kind == &asi_held_kind)
    return kind;
  asi_complain(r, key, "a template is made of signals, states, samples and what is held");
  return NULL;
}

/// Where a formula stands that the builder has refused; NULL: it is none of these. The text that was compiled is not the one in the file.
static const asi_value *slip_of(const asi_reader *r, const asi_signal_thing *thing,
                                const asi_kind *kind, const asi_value *v) {
  const char *text = r->builder->slip_text;
  if (text == NULL) return NULL;
  if (text == thing->def.formula)
    return asi_value_get(v, kind == &asi_state_kind ? "rate" : "formula");
  for (int i = 0; i < thing->when.n; ++i)
    if (text == thing->when.text[i]) return asi_value_get(v, "when");
  for (int i = 0; i < thing->to.n; ++i)
    if (text == thing->to.text[i]) return asi_value_get(v, "to");
  return NULL;
}

static as_status add_one(filling *f, const asi_value *key, asi_value *v, const char *block,
                         as_error *error) {
  asi_reader *r = f->r;
  const asi_kind *kind = kind_of(r, key, v);
  if (kind == NULL) return AS_OK;
  asi_signal_thing *thing = asi_arena_take(&r->scratch, kind->size);
  const asi_value *filled = fill_all(f, v, block);
  if (thing == NULL || asi_out_of_memory(r)) return AS_ERR_MEMORY;
  if (filled == NULL) return AS_OK;
  as_signal_def *def = &thing->def;
  kind->prepare(thing);
  asi_read_object(r, filled, key, kind->table, thing);
  if (!r->broken) asi_check_period(r, def->period);
  if (r->broken) return AS_OK;
  def->block = block;
  def->output = output_of(key);
  def->kind = (as_signal_kind)kind->code;
  as_status status = as_builder_add_signal(r->builder, def, NULL, error);
  if (status == AS_OK) status = asi_add_switches(r, thing, error);
  const asi_value *at = status == AS_ERR_ARGUMENT ? slip_of(r, thing, kind, v) : NULL;
  if (at == NULL) return status;
  asi_complain(r, at, "as the template is used here: %s", r->builder->slip.sentence);
  return AS_OK;
}

// ---- templates that nobody uses ---------------------------------------------------------------------

static const char *any(const char *key, void *user) {
  const filling *f = user;
  return f->keys && asi_value_get(f->keys, key) ? "0" : NULL;
}

static void check_template(asi_reader *r, const asi_value *name, const asi_value *of) {
  template_thing body = {NULL, NULL};
  r->broken = false;
  asi_read_object(r, of, name, &asi_own_template_table, &body);
  const asi_value *blocks = blocks_of(of);
  filling f = {r, body.keys, NULL};
  for (int i = 0; i < (blocks && !r->broken ? blocks->count : 0); ++i) {
    const asi_value *v = blocks->item[2 * i + 1];
    if (kind_of(r, blocks->item[2 * i], v) == NULL) continue;
    for (int k = 0; k < v->count; ++k) {
      const asi_value *text = v->item[2 * k + 1];
      char missing[64];
      if (text->type == ASI_TEXT && asi_expand(text->text, "", any, &f, NULL, 0, missing) < 0)
        asi_complain(r, text, "{%.60s} is no key of the template", missing);
    }
  }
}

void asi_check_templates(asi_reader *r) {
  const asi_path *outer = r->path, templates = {"templates", 0, outer};
  for (int f = 0; f < r->n_order; ++f) {
    const asi_value *root = r->file[r->order[f]].root;
    const asi_value *map = root ? asi_value_get(root, "templates") : NULL;
    for (int i = 0; map && map->type == ASI_MAP && i < map->count; ++i) {
      const asi_path path = {map->item[2 * i]->text, 0, &templates};
      r->path = &path;
      check_template(r, map->item[2 * i], map->item[2 * i + 1]);
    }
  }
  r->path = outer;
}

// ---- blocks of them ---------------------------------------------------------------------------------

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  const use_thing *thing = read;
  asi_hint hint = {.word = thing->name};
  const asi_value *of = find_template(r, thing->name, &hint), *at = r->at;
  (void)kind;
  if (of == NULL) {
    asi_complain(r, asi_value_get(r->thing, "template"), "there is no template \"%.60s\"%s",
                 thing->name, asi_hint_text(&hint));
    return AS_OK;
  }
  filling f = {r, asi_value_get(of, "keys"), thing->with};
  const asi_value *blocks = blocks_of(of);
  if (r->broken || blocks == NULL || !check_keys(r, &f, at, thing->name)) return AS_OK;
  as_status status = check_given(r, thing->with, name, error);
  for (int i = 0; i < blocks->count && status == AS_OK && !r->broken; ++i)
    status = add_one(&f, blocks->item[2 * i], blocks->item[2 * i + 1], name, error);
  return status;
}

const asi_kind asi_own_template_kind = {
    "template", 0,   &use_table, sizeof(use_thing),
    NULL,       add, true,       .text = "one of the file's own `templates`"};
