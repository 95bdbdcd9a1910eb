/// `parameters:` numbers with names. They may depend on each other, in any order; a file's own hold over those of
/// the files it includes.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/events.h"

enum {
  MOST_WAITING = 100, ///< parameters that wait for one another
  MOST_HINTS = 1000,
};

static void define(asi_reader *r, const asi_value *key, const asi_value *value) {
  if (strcmp(key->text, "t") == 0) {
    asi_complain(r, key, "\"t\" cannot name a parameter: it is the time");
    return;
  }
  if (!asi_is_parameter_name(key->text)) {
    asi_complain(
        r, key,
        "\"%.60s\" cannot name a parameter: letters, digits and _, no digit first, fewer than "
        "%d, and neither pi nor a function",
        key->text, ASI_NAME_LENGTH);
    return;
  }
  int number = asi_names_find(&r->parameter_names, key->text);
  if (number < 0) {
    void *array = r->parameters;
    if (!asi_grow(&array, r->n_parameters, &r->room_parameters, sizeof *r->parameters) ||
        asi_names_add(&r->parameter_names, ASI_SORT_BODY, key->text, NULL)) {
      if (array) r->parameters = array;
      r->no_memory = true;
      return;
    }
    r->parameters = array;
    number = r->n_parameters++;
  }
  r->parameters[number] = (asi_definition){.value = value};
}

/// The number of a parameter, once those that it depends on have theirs. No sentence: what is wrong has been said.
static bool settle(asi_reader *r, int number, int depth, char sentence[ASI_SENTENCE_LENGTH]) {
  asi_definition *p = &r->parameters[number];
  const char *name = asi_names_get(&r->parameter_names, number);
  if (p->progress == ASI_READY) return true;
  if (p->progress == ASI_BUSY) {
    snprintf(sentence, ASI_SENTENCE_LENGTH, "the parameter %s depends on itself", name);
    return false;
  }
  if (p->progress == ASI_BROKEN) return false; // it has been said why
  if (r->lookups >= MOST_WAITING) {
    snprintf(sentence, ASI_SENTENCE_LENGTH, "more than %d parameters depend on one another",
             MOST_WAITING);
    return false;
  }
  const asi_path section = {"parameters", 0, NULL}, path = {name, 0, &section}, *back = r->path;
  const asi_index *index = r->index;
  const bool broken = r->broken;
  const int depth_before = r->depth;
  r->path = &path;
  r->index = NULL;
  p->progress = ASI_BUSY;
  ++r->lookups;
  r->depth = depth;
  const bool good = asi_read_number(r, p->value, &p->number);
  --r->lookups;
  r->depth = depth_before;
  p->progress = good ? ASI_READY : ASI_BROKEN;
  r->path = back;
  r->index = index;
  r->broken = broken;
  return good;
}

asi_meaning asi_find_number(asi_reader *r, const char *name, asi_named *named) {
  for (const asi_index *k = r->index; k; k = k->outer)
    if (strcmp(k->name, name) == 0) {
      named->number = k->number;
      return ASI_MEANS_CONSTANT;
    }
  const int found = asi_names_find(&r->parameter_names, name);
  if (found < 0) return ASI_MEANS_NOTHING;
  r->parameters[found].used = true;
  if (!settle(r, found, named->depth, named->sentence)) return ASI_MEANS_MISTAKE;
  named->number = r->parameters[found].number;
  return ASI_MEANS_CONSTANT;
}

asi_meaning asi_find_fixed(const char *name, asi_named *named, void *user) {
  asi_reader *r = user;
  const int found = asi_names_find(&r->parameter_names, name);
  const char *set_by = found >= 0 ? r->parameters[found].set_by : NULL;
  if (named->called) {
    const asi_meaning table = asi_find_table(r, name, named);
    if (table != ASI_MEANS_NOTHING) return table;
  }
  const asi_meaning meaning = asi_find_number(r, name, named);
  if (meaning == ASI_MEANS_CONSTANT && set_by) {
    snprintf(named->sentence, ASI_SENTENCE_LENGTH,
             "%s%.40s%s sets %s, but a number like this cannot change",
             *set_by ? "event \"" : "whoever imports the machine", set_by, *set_by ? "\"" : "",
             name);
    return ASI_MEANS_MISTAKE;
  }
  if (meaning != ASI_MEANS_NOTHING || named->called) return meaning;
  asi_hint hint = {.word = name};
  const bool look = r->hints++ < MOST_HINTS; // all of 100000 turns may be wrong
  for (int i = 0; i < r->n_parameters && look; ++i)
    asi_hint_try(&hint, asi_names_get(&r->parameter_names, i));
  snprintf(named->sentence, ASI_SENTENCE_LENGTH, "\"%.63s\" is neither a number nor a parameter%s",
           name, asi_hint_text(&hint));
  return ASI_MEANS_MISTAKE;
}

bool asi_evaluate(asi_reader *r, const char *text, size_t length, double *out,
                  asi_parse_error *slip) {
  const asi_tables tables = {asi_evaluate_table, r, asi_evaluate_grid};
  const asi_scope scope = {.find = asi_find_fixed, .user = r, .depth = r->depth, .tables = &tables};
  return asi_expression_number(text, length, &scope, out, slip) == AS_OK;
}

void asi_collect_parameters(asi_reader *r) {
  const asi_path path = {"parameters", 0, NULL};
  for (int f = 0; f < r->n_order; ++f) {
    const asi_value *map = asi_value_get(r->file[r->order[f]].root, "parameters");
    if (map == NULL) continue;
    r->path = &path;
    if (map->type != ASI_MAP)
      asi_complain(r, map, "must be a mapping of names to numbers, not %s", asi_value_what(map));
    else
      for (int i = 0; i < map->count; ++i) define(r, map->item[2 * i], map->item[2 * i + 1]);
    r->path = NULL;
  }
  asi_mark_live(r);
  char sentence[ASI_SENTENCE_LENGTH];
  for (int i = 0; i < r->n_parameters; ++i) (void)settle(r, i, 0, sentence);
}

void asi_publish_parameters(asi_reader *r) {
  as_machine *m = r->machine;
  m->parameters = asi_arena_take(r->arena, (size_t)r->n_parameters * sizeof *m->parameters);
  if (m->parameters == NULL) return;
  m->n_parameters = r->n_parameters;
  for (int i = 0; i < r->n_parameters; ++i) {
    const char *name = asi_names_get(&r->parameter_names, i);
    m->parameters[i] =
        (as_parameter){.name = asi_arena_text(r->arena, name, strlen(name)),
                       .value = r->parameters[i].number,
                       .used = r->parameters[i].used || r->parameters[i].value->file > 0,
                       .place = asi_place(r, r->parameters[i].value)};
  }
}
