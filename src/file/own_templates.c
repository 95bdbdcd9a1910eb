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

/// Expands a text in its place.
static as_status fill(filling *f, const asi_value *key, const char *block, const char **text) {
  asi_reader *r = f->r;
  char missing[64];
  const int length = asi_expand(*text, block, look_up, f, NULL, 0, missing);
  if (length < 0) {
    asi_complain(r, key, "{%.60s} is no key of the template", missing);
    return AS_OK;
  }
  char *filled = asi_arena_take(&r->scratch, (size_t)length + 1);
  if (filled == NULL) return AS_ERR_MEMORY;
  asi_expand(*text, block, look_up, f, filled, (size_t)length + 1, NULL);
  *text = filled;
  return AS_OK;
}

static as_status add_one(filling *f, const asi_value *key, const asi_value *v, const char *block,
                         as_error *error) {
  asi_reader *r = f->r;
  const asi_kind *kind = asi_kind_of(r, v, key, &asi_block_section);
  if (kind == NULL) return AS_OK;
  if (kind != &asi_signal_kind && kind != &asi_state_kind && kind != &asi_sampled_kind &&
      kind != &asi_held_kind) {
    asi_complain(r, key, "a template is made of signals, states, samples and what is held");
    return AS_OK;
  }
  asi_signal_thing *thing = asi_arena_take(&r->scratch, kind->size);
  if (thing == NULL) return AS_ERR_MEMORY;
  kind->prepare(thing);
  asi_read_object(r, v, key, kind->table, thing);
  if (r->broken) return AS_OK;
  as_signal_def *def = &thing->def;
  as_status status = def->formula ? fill(f, key, block, &def->formula) : AS_OK;
  for (int i = 0; i < thing->when.n && status == AS_OK; ++i)
    status = fill(f, key, block, &thing->when.text[i]);
  for (int i = 0; i < thing->to.n && status == AS_OK; ++i)
    status = fill(f, key, block, &thing->to.text[i]);
  if (status || r->broken) return status;
  def->block = block;
  def->output = output_of(key);
  def->kind = (as_signal_kind)kind->code;
  status = as_builder_add_signal(r->builder, def, NULL, error);
  return status ? status : asi_add_switches(r, thing, error);
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  const use_thing *thing = read;
  asi_hint hint = {.word = thing->name};
  const asi_value *of = find_template(r, thing->name, &hint), *at = r->at;
  (void)kind;
  if (of == NULL) {
    asi_complain(r, at, "there is no template \"%.60s\"%s", thing->name, asi_hint_text(&hint));
    return AS_OK;
  }
  template_thing body = {NULL, NULL};
  asi_read_object(r, of, of, &asi_own_template_table, &body);
  filling f = {r, body.keys, thing->with};
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
