/// Reads bodies, frames, joints, forces and shapes: finds the kind of each, reads it by its table, and adds it.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "file/reader.h"

static void complain_type(asi_reader *r, const asi_value *at, const char *type,
                          const asi_section *section) {
  asi_hint hint = {.word = type};
  char all[512];
  asi_text list = asi_text_begin(all, sizeof all);
  asi_text_add(&list, "; there are: ");
  for (int i = 0; i < section->n; ++i) {
    const char *known = section->kind[i]->type;
    asi_hint_try(&hint, known);
    asi_text_add(&list, "%s%s", i > 0 ? ", " : "", known);
  }
  const char *nearest = asi_hint_text(&hint);
  asi_complain(r, at, "there is no %s of type \"%.60s\"%s", section->what, type,
               *nearest ? nearest : all);
}

const asi_kind *asi_kind_of(asi_reader *r, const asi_value *v, const asi_value *at,
                            const asi_section *section) {
  if (v->type != ASI_MAP) {
    asi_complain(r, v, "must be a mapping, not %s", asi_value_what(v));
    return NULL;
  }
  const asi_value *type = asi_value_get(v, "type");
  if (section->kind[0]->type == NULL || (type == NULL && section->first_is_default))
    return section->kind[0];
  if (type == NULL) {
    asi_complain(r, at, "missing: \"type\"");
    return NULL;
  }
  const char *text = asi_read_text(r, type);
  if (text == NULL) return NULL;
  for (int i = 0; i < section->n; ++i)
    if (strcmp(section->kind[i]->type, text) == 0) return section->kind[i];
  complain_type(r, type, text, section);
  return NULL;
}

/// Reads one thing and adds it; `at` is its key, or itself in a list.
static void read_thing(asi_reader *r, const asi_value *v, const asi_value *at, const char *name,
                       const asi_kind *kind) {
  as_error error;
  void *thing = asi_arena_take(&r->scratch, kind->size);
  if (thing == NULL) return;
  r->n_formulas = 0;
  r->inactive = false;
  r->at = at;
  r->value = v;
  if (kind->prepare) kind->prepare(thing);
  asi_read_object(r, v, at, kind->table, thing);
  const bool is_event =
      kind == asi_event_section.kind[0]; // its formulas are looked at all the same
  if ((r->broken && !is_event) || asi_out_of_memory(r)) return;
  as_status status = kind->add(r, kind, name, thing, &error);
  if (status == AS_OK && r->inactive)
    status =
        as_builder_set_active(r->builder, (as_joint_id){r->builder->n_joints - 1}, false, &error);
  if (status == AS_ERR_MEMORY)
    r->no_memory = true;
  else if (status && !asi_complain_formula(r))
    asi_complain(r, at, "%s", error.message);
}

bool asi_too_many(asi_reader *r, const asi_value *at) {
  if (r->things < ASI_MOST_THINGS) {
    ++r->things;
    return false;
  }
  if (r->things == ASI_MOST_THINGS) asi_complain(r, at, "more than %d things", ASI_MOST_THINGS);
  r->things = ASI_MOST_THINGS + 1;
  return true;
}

/// Others may name what could not be added without further complaints.
static void note_failed(asi_reader *r, const asi_section *section, const char *name) {
  as_error error;
  if (name && asi_names_find(&r->builder->names[section->sort], name) < 0 &&
      asi_names_add(&r->failed[section->sort], section->sort, name, &error) == AS_ERR_MEMORY)
    r->no_memory = true;
}

static void read_named(asi_reader *r, const asi_value *key, const asi_value *v,
                       const asi_section *section, bool late) {
  const asi_path path = {key->text, 0, r->path};
  r->path = &path;
  r->broken = false;
  const asi_kind *kind = asi_kind_of(r, v, key, section);
  if (kind ? kind->late == late : !late) {
    const char *name = asi_read_key(r, key);
    if (section->sort == ASI_SORT_BODY && name && strcmp(name, "ground") == 0)
      asi_complain(r, key, "\"ground\" is the body that does not move; choose another name");
    if (kind && name) read_thing(r, v, key, name, kind);
    if (r->broken) note_failed(r, section, name);
    r->lost = r->lost || name == NULL;
  }
  r->path = path.outer;
  asi_arena_reset(&r->scratch);
}

void asi_read_things(asi_reader *r, const asi_value *map, const asi_section *section, bool late) {
  if (map == NULL) return;
  if (map->type != ASI_MAP) {
    asi_complain(r, map, "must be a mapping of names, not %s", asi_value_what(map));
    r->lost = true;
    return;
  }
  for (int i = 0; i < map->count && !asi_out_of_memory(r); ++i) {
    if (asi_too_many(r, map->item[2 * i])) return;
    read_named(r, map->item[2 * i], map->item[2 * i + 1], section, late);
  }
}

void asi_read_list(asi_reader *r, const asi_value *list, const asi_section *section) {
  const asi_path *outer = r->path;
  if (list == NULL) return;
  if (list->type != ASI_LIST) {
    asi_complain(r, list, "must be a list, not %s", asi_value_what(list));
    return;
  }
  for (int i = 0; i < list->count && !asi_out_of_memory(r); ++i) {
    const asi_path path = {NULL, i, outer};
    r->path = &path;
    const asi_kind *kind = asi_kind_of(r, list->item[i], list->item[i], section);
    if (kind) read_thing(r, list->item[i], list->item[i], NULL, kind);
    r->path = outer;
  }
}
