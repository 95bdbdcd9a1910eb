/// The page of keys, from the table: Markdown for docs/model-file.md.
#include <string.h>

#include "alphastep/file.h"
#include "file/sink.h"
#include "file/table.h"

enum { MOST_ROWS = 256 };

static void put_type(asi_sink *s, const asi_key *key) {
  switch (key->type) {
  case ASI_KEY_NUMBER: asi_put(s, "number"); break;
  case ASI_KEY_INTEGER: asi_put(s, "whole number"); break;
  case ASI_KEY_BOOLEAN:
  case ASI_KEY_ACTIVE: asi_put(s, "true or false"); break;
  case ASI_KEY_TEXT: asi_put(s, "text"); break;
  case ASI_KEY_PATH: asi_put(s, "path"); break;
  case ASI_KEY_KIND: asi_put(s, "see above"); break;
  case ASI_KEY_CHOICE:
    for (int i = 0; key->choices[i]; ++i) asi_put(s, "%s`%s`", i > 0 ? ", " : "", key->choices[i]);
    break;
  case ASI_KEY_VECTOR:
    if (key->least == key->most)
      asi_put(s, "%d numbers", key->least);
    else
      asi_put(s, "%d to %d numbers", key->least, key->most);
    break;
  case ASI_KEY_NUMBERS: asi_put(s, "list of numbers"); break;
  case ASI_KEY_ROWS:
    if (key->most > 0)
      asi_put(s, "list of lists of %d numbers", key->most);
    else
      asi_put(s, "list of lists of numbers");
    break;
  case ASI_KEY_TEXTS: asi_put(s, "list of texts"); break;
  case ASI_KEY_FILES: asi_put(s, "path or list of paths"); break;
  case ASI_KEY_NAME: asi_put(s, "name of a %s", asi_entity_kind_name(key->sort)); break;
  case ASI_KEY_NAMES:
    asi_put(s, "%d names of %s", key->most, asi_entity_kind_plural(key->sort));
    break;
  case ASI_KEY_NAME_LIST:
    asi_put(s, "name of a %s or list of names", asi_entity_kind_name(key->sort));
    break;
  case ASI_KEY_SETTINGS: asi_put(s, "parameters and [formulas](expressions.md)"); break;
  case ASI_KEY_CURVE: asi_put(s, "[function](#function)"); break;
  case ASI_KEY_SURFACE: asi_put(s, "[function](#function-of-two-variables)"); break;
  case ASI_KEY_FORMULA: asi_put(s, "[formula](expressions.md)"); break;
  case ASI_KEY_FORMULA_LIST: asi_put(s, "[formula](expressions.md) or list of them"); break;
  case ASI_KEY_FORMULAS: asi_put(s, "%d [formulas](expressions.md)", key->most); break;
  case ASI_KEY_OBJECT: {
    asi_put(s, "[keys](#");
    for (const char *c = key->table->name; *c; ++c) asi_put(s, "%c", *c == ' ' ? '-' : *c);
    asi_put(s, ")");
    break;
  }
  case ASI_KEY_THINGS: asi_put(s, "names of [%s](#%s)", key->name, key->name); break;
  case ASI_KEY_CHOSEN:
    asi_put(s, "one of the [%ss](#%ss)", key->section->what, key->section->what);
    break;
  case ASI_KEY_NUMBERED:
    asi_put(s, "whole numbers and names of %s", asi_entity_kind_plural(key->sort));
    break;
  case ASI_KEY_SHAPES:
  case ASI_KEY_GROUND_SHAPES: asi_put(s, "list of [shapes](#shapes)"); break;
  case ASI_KEY_GROUPS: asi_put(s, "list of [groups](#group)"); break;
  case ASI_KEY_PARAMETERS: asi_put(s, "names of numbers"); break;
  case ASI_KEY_TABLES:
    if (key->table == &asi_points_table)
      asi_put(s, "names of [tables](#table)");
    else
      asi_put(s, "names of [templates](#template)");
    break;
  case ASI_KEY_VALUE_MAP: asi_put(s, "names and numbers, texts or booleans"); break;
  case ASI_KEY_FORMULA_MAP: asi_put(s, "names and [formulas](expressions.md)"); break;
  }
}

static const char *range_of(asi_range range) {
  switch (range) {
  case ASI_POSITIVE: return ", > 0";
  case ASI_NOT_NEGATIVE: return ", >= 0";
  case ASI_FRACTION: return ", 0 to 1";
  case ASI_ANY: return "";
  }
  return "";
}

static void put_need(asi_sink *s, const asi_key *key) {
  if (key->required && key->with)
    asi_put(s, "required with `%s`", key->with);
  else if (key->required)
    asi_put(s, "**required**");
  else if (key->instead_of)
    asi_put(s, "instead of `%s`", key->instead_of);
  else if (key->with)
    asi_put(s, "with `%s`%s%s", key->with, key->otherwise ? "; otherwise " : "",
            key->otherwise ? key->otherwise : "");
  else if (key->otherwise)
    asi_put(s, "%s", key->otherwise);
}

static void put_row(asi_sink *s, const asi_key *key) {
  asi_put(s, "| `%s` | ", key->name);
  put_type(s, key);
  asi_put(s, "%s | %s | ", range_of(key->range), key->unit ? key->unit : "");
  put_need(s, key);
  asi_put(s, " | %s |", key->text);
}

static void put_table(asi_sink *s, const asi_table *table) {
  const asi_key *key;
  asi_put(
      s,
      "\n### %s\n\n| key | value | unit | if it is left out | meaning |\n|---|---|---|---|---|\n",
      table->name);
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i) {
    put_row(s, key);
    asi_put(s, "\n");
  }
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i)
    if (key->type == ASI_KEY_OBJECT && key->table != &asi_turn_table) put_table(s, key->table);
}

// ---- things of several kinds ------------------------------------------------------------------------

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/// Whether two rows say the same.
static bool same_row(const asi_key *a, const asi_key *b) {
  return a == b || (a->type == b->type && a->type != ASI_KEY_OBJECT && a->required == b->required &&
                    a->range == b->range && a->least == b->least && a->most == b->most &&
                    a->sort == b->sort && a->choices == b->choices &&
                    strcmp(a->name, b->name) == 0 && same_text(a->instead_of, b->instead_of) &&
                    same_text(a->with, b->with) && same_text(a->unit, b->unit) &&
                    same_text(a->otherwise, b->otherwise) && same_text(a->text, b->text));
}

static bool has_row(const asi_kind *kind, const asi_key *row) {
  const asi_key *key;
  for (int i = 0; (key = asi_table_key(kind->table, i)) != NULL; ++i)
    if (same_row(key, row)) return true;
  return false;
}

/// Which kinds have a key.
static void put_kinds(asi_sink *s, const asi_section *section, const asi_key *row) {
  int count = 0;
  for (int i = 0; i < section->n; ++i) count += has_row(section->kind[i], row);
  if (count == section->n) {
    asi_put(s, " all |\n");
    return;
  }
  for (int i = 0, first = 1; i < section->n; ++i)
    if (has_row(section->kind[i], row)) {
      asi_put(s, "%s%s", first ? " " : ", ", section->kind[i]->type);
      first = 0;
    }
  asi_put(s, " |\n");
}

static void put_section_rows(asi_sink *s, const asi_section *section) {
  const asi_key *seen[MOST_ROWS], *key;
  int n = 0;
  asi_put(
      s,
      "\n| key | value | unit | if it is left out | meaning | of |\n|---|---|---|---|---|---|\n");
  for (int k = 0; k < section->n; ++k)
    for (int i = 0; (key = asi_table_key(section->kind[k]->table, i)) != NULL; ++i) {
      bool known = key->type == ASI_KEY_KIND;
      for (int j = 0; j < n && !known; ++j) known = same_row(seen[j], key);
      if (known || n == MOST_ROWS) continue;
      seen[n++] = key;
      put_row(s, key);
      put_kinds(s, section, key);
    }
  for (int j = 0; j < n; ++j) {
    bool first = seen[j]->type == ASI_KEY_OBJECT && seen[j]->table != &asi_turn_table;
    for (int i = 0; i < j && first; ++i) first = seen[i]->table != seen[j]->table;
    if (first) put_table(s, seen[j]->table);
  }
}

static void put_section(asi_sink *s, const char *name, const asi_section *section) {
  asi_put(s, "\n### %s\n\n", name);
  if (section->kind[0]->type == NULL) {
    asi_put(s,
            "Each is %s.\n\n| key | value | unit | if it is left out | meaning |\n"
            "|---|---|---|---|---|\n",
            section->kind[0]->text);
    const asi_key *key;
    for (int i = 0; (key = asi_table_key(section->kind[0]->table, i)) != NULL; ++i) {
      put_row(s, key);
      asi_put(s, "\n");
    }
    for (int i = 0; (key = asi_table_key(section->kind[0]->table, i)) != NULL; ++i)
      if (key->type == ASI_KEY_OBJECT && key->table != &asi_turn_table) put_table(s, key->table);
    return;
  }
  asi_put(s, "| `type` | |\n|---|---|\n");
  for (int i = 0; i < section->n; ++i)
    asi_put(s, "| `%s`%s | %s |\n", section->kind[i]->type,
            i == 0 && section->first_is_default ? " (if there is none)" : "",
            section->kind[i]->text);
  put_section_rows(s, section);
}

size_t as_file_reference(char *text, size_t room) {
  asi_sink s = {text, room, 0};
  put_table(&s, &asi_root_table);
  put_table(&s, &asi_group_table);
  put_section(&s, "bodies", &asi_bodies);
  put_section(&s, "superelements", &asi_superelements);
  put_section(&s, "flexible", &asi_flexible_things);
  put_section(&s, "beams", &asi_beam_things);
  put_section(&s, "lines", &asi_beam_lines);
  put_section(&s, "sections", &asi_beam_section_kinds);
  put_section(&s, "frames", &asi_frames);
  put_section(&s, "roads", &asi_roads);
  put_section(&s, "joints", &asi_joints);
  put_section(&s, "forces", &asi_forces);
  put_section(&s, "blocks", &asi_block_section);
  put_table(&s, &asi_own_template_table);
  put_section(&s, "fmus", &asi_fmu_section);
  put_section(&s, "events", &asi_event_section);
  put_section(&s, "shapes", &asi_shapes);
  put_table(&s, &asi_points_table);
  put_table(&s, &asi_curve_table);
  put_table(&s, &asi_surface_table);
  put_table(&s, &asi_turn_table);
  return s.length;
}
