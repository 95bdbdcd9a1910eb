/// The JSON Schema (draft-07) of model files, from the table of keys.
///
/// Where a number is wanted a text is allowed: it is an expression. What only the reader can know (names of bodies,
/// expressions, finite numbers) the schema lets pass.
#include <string.h>

#include "alphastep/file.h"
#include "file/sink.h"
#include "file/table.h"

enum { MOST_TABLES = 160, MOST_RIVALS = 8 };

typedef struct writer {
  asi_sink sink;
  const asi_table *table[MOST_TABLES]; ///< all that are referred to
  int n_tables;
} writer;

// ---- pieces -----------------------------------------------------------------------------------------

static void put_string(asi_sink *s, const char *text) {
  asi_put(s, "\"");
  for (; *text; ++text) asi_put(s, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  asi_put(s, "\"");
}

/// Names of tables have blanks, those of definitions have not.
static void put_table_name(asi_sink *s, const char *name) {
  for (; *name; ++name) asi_put(s, "%c", *name == ' ' ? '_' : *name);
}

static void put_reference(writer *w, const asi_table *table) {
  asi_put(&w->sink, "{\"$ref\": \"#/definitions/");
  put_table_name(&w->sink, table->name);
  asi_put(&w->sink, "\"}");
  for (int i = 0; i < w->n_tables; ++i)
    if (w->table[i] == table) return;
  if (w->n_tables < MOST_TABLES) w->table[w->n_tables++] = table;
}

static void put_section_reference(asi_sink *s, const asi_section *section) {
  asi_put(s, "{\"$ref\": \"#/definitions/any_%s\"}", section->what);
}

static void put_description(asi_sink *s, const asi_key *key) {
  char text[512];
  asi_sink d = {text, sizeof text, 0};
  asi_put(&d, "%s", key->text);
  if (key->unit) asi_put(&d, " [%s]", key->unit);
  if (key->otherwise) asi_put(&d, "; otherwise %s", key->otherwise);
  asi_put(s, "\"description\": ");
  put_string(s, text);
}

static const char *range_of(asi_range range) {
  switch (range) {
  case ASI_POSITIVE: return ", \"exclusiveMinimum\": 0";
  case ASI_NOT_NEGATIVE: return ", \"minimum\": 0";
  case ASI_FRACTION: return ", \"minimum\": 0, \"maximum\": 1";
  case ASI_ANY: return "";
  }
  return "";
}

static void put_number(asi_sink *s, asi_range range) {
  asi_put(s, "{\"type\": [\"number\", \"string\"]%s}", range_of(range));
}

static void put_choices(asi_sink *s, const char *const *choices) {
  asi_put(s, ", \"enum\": [");
  for (int i = 0; choices[i]; ++i) {
    if (i > 0) asi_put(s, ", ");
    put_string(s, choices[i]);
  }
  asi_put(s, "]");
}

// ---- keys -------------------------------------------------------------------------------------------

static void put_array_of_numbers(asi_sink *s, int least, int most, asi_range range) {
  asi_put(s, "\"type\": \"array\", \"items\": ");
  put_number(s, range);
  asi_put(s, ", \"minItems\": %d", least);
  if (most > 0) asi_put(s, ", \"maxItems\": %d", most);
}

static void put_rows(asi_sink *s, const asi_key *key) {
  asi_put(s, "\"type\": \"array\", \"minItems\": %d, \"items\": {", key->least);
  put_array_of_numbers(s, key->most > 0 ? key->most : 1, key->most, key->range);
  asi_put(s, "}");
}

static void put_integer(asi_sink *s, const asi_key *key) {
  asi_put(s, "\"type\": [\"integer\", \"string\"]%s", range_of(key->range));
  if (key->most > 0) asi_put(s, ", \"minimum\": %d, \"maximum\": %d", key->least, key->most);
}

#define NAME_PATTERN "[A-Za-z_][A-Za-z0-9_]*"
// What an event may set: a parameter, a block or one of its outputs.
#define SET_PATTERN "(" NAME_PATTERN "|blocks\\\\.[^./]+(\\\\.[^./]+)?)"

/// A mapping of names to what follows.
static void put_names(asi_sink *s, const char *pattern) {
  asi_put(s,
          "\"type\": \"object\", \"propertyNames\": {\"pattern\": \"^%s$\"}, "
          "\"additionalProperties\": ",
          pattern);
}

/// What a value must be, behind its description.
static void put_value(writer *w, const asi_key *key) {
  asi_sink *s = &w->sink;
  switch (key->type) {
  case ASI_KEY_NUMBER:
  case ASI_KEY_FORMULA:
    asi_put(s, "\"type\": [\"number\", \"string\"]%s", range_of(key->range));
    break;
  case ASI_KEY_FORMULA_LIST:
    asi_put(s, "\"type\": [\"number\", \"string\", \"array\"], \"items\": {\"type\": "
               "[\"number\", \"string\"]}, \"minItems\": 1");
    break;
  case ASI_KEY_FORMULAS: put_array_of_numbers(s, key->most, key->most, key->range); break;
  case ASI_KEY_INTEGER: put_integer(s, key); break;
  case ASI_KEY_BOOLEAN:
  case ASI_KEY_ACTIVE: asi_put(s, "\"type\": \"boolean\""); break;
  case ASI_KEY_TEXT:
  case ASI_KEY_PATH:
  case ASI_KEY_NAME:
  case ASI_KEY_KIND: asi_put(s, "\"type\": \"string\""); break;
  case ASI_KEY_CHOICE:
    asi_put(s, "\"type\": \"string\"");
    put_choices(s, key->choices);
    break;
  case ASI_KEY_VECTOR: put_array_of_numbers(s, key->least, key->most, key->range); break;
  case ASI_KEY_NUMBERS: put_array_of_numbers(s, key->least, 0, key->range); break;
  case ASI_KEY_ROWS: put_rows(s, key); break;
  case ASI_KEY_TEXTS:
    asi_put(s, "\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1");
    break;
  case ASI_KEY_FILES:
  case ASI_KEY_NAME_LIST:
    asi_put(s, "\"type\": [\"string\", \"array\"], \"items\": {\"type\": \"string\"}, "
               "\"minItems\": 1");
    break;
  case ASI_KEY_NAMES:
    asi_put(s,
            "\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": %d, "
            "\"maxItems\": %d, \"uniqueItems\": true",
            key->most, key->most);
    break;
  case ASI_KEY_CURVE:
    asi_put(s, "\"anyOf\": [");
    put_number(s, key->range);
    asi_put(s, ", ");
    put_reference(w, &asi_curve_table);
    asi_put(s, "]");
    break;
  case ASI_KEY_SURFACE:
    asi_put(s, "\"anyOf\": [");
    put_number(s, ASI_ANY);
    asi_put(s, ", ");
    put_reference(w, &asi_surface_table);
    asi_put(s, "]");
    break;
  case ASI_KEY_OBJECT:
    asi_put(s, "\"allOf\": [");
    put_reference(w, key->table);
    asi_put(s, "]");
    break;
  case ASI_KEY_THINGS:
    asi_put(s, "\"type\": \"object\", \"additionalProperties\": ");
    put_section_reference(s, key->section);
    break;
  case ASI_KEY_SHAPES:
  case ASI_KEY_GROUND_SHAPES:
    asi_put(s, "\"type\": \"array\", \"items\": ");
    put_section_reference(s, key->section);
    break;
  case ASI_KEY_CHOSEN:
    asi_put(s, "\"allOf\": [");
    put_section_reference(s, key->section);
    asi_put(s, "]");
    break;
  case ASI_KEY_NUMBERED:
    put_names(s, "([0-9]+|.*[$][{].*)");
    asi_put(s, "{\"type\": \"string\"}");
    break;
  case ASI_KEY_GROUPS:
    asi_put(s, "\"type\": \"array\", \"items\": ");
    put_reference(w, key->table);
    break;
  case ASI_KEY_SETTINGS:
  case ASI_KEY_PARAMETERS:
    put_names(s, key->type == ASI_KEY_SETTINGS ? SET_PATTERN : NAME_PATTERN);
    put_number(s, ASI_ANY);
    break;
  case ASI_KEY_FORMULA_MAP:
    put_names(s, NAME_PATTERN);
    asi_put(s, "{\"type\": [\"number\", \"string\", \"null\"]}");
    break;
  case ASI_KEY_VALUE_MAP:
    asi_put(s,
            "\"type\": \"object\", \"additionalProperties\": {\"type\": [\"number\", \"string\", "
            "\"boolean\"]}");
    break;
  case ASI_KEY_TABLES:
    put_names(s, NAME_PATTERN);
    put_reference(w, key->table);
    break;
  }
}

// ---- tables -----------------------------------------------------------------------------------------

/// Begins an item of a list: a comma, unless it is the first.
static void comma(asi_sink *s, bool *first) {
  if (!*first) asi_put(s, ", ");
  *first = false;
}

/// Keys of which there is exactly one, or at most one: a key and those that take its place. Returns how many.
static int alternatives(const asi_table *table, const asi_key *key, const char *out[MOST_RIVALS]) {
  const asi_key *other;
  int n = 0;
  out[n++] = key->name;
  for (int i = 0; (other = asi_table_key(table, i)) != NULL && n < MOST_RIVALS; ++i)
    if (other->instead_of && strcmp(other->instead_of, key->name) == 0) out[n++] = other->name;
  return n;
}

static void put_required(asi_sink *s, const asi_table *table) {
  const char *names[MOST_RIVALS];
  bool first = true;
  const asi_key *key;
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i)
    if (key->required && key->with == NULL && alternatives(table, key, names) == 1) {
      asi_put(s, first ? ",\n      \"required\": [" : ", ");
      first = false;
      put_string(s, key->name);
    }
  if (!first) asi_put(s, "]");
}

static void put_one_of(asi_sink *s, const char *const *names, int n) {
  asi_put(s, "{\"oneOf\": [");
  for (int i = 0; i < n; ++i) asi_put(s, "%s{\"required\": [\"%s\"]}", i > 0 ? ", " : "", names[i]);
  asi_put(s, "]}");
}

static void put_never_two(asi_sink *s, const char *const *names, int n) {
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k)
      asi_put(s, "%s{\"not\": {\"required\": [\"%s\", \"%s\"]}}", i > 1 ? ", " : "", names[k],
              names[i]);
}

static void put_alternatives(asi_sink *s, const asi_table *table) {
  bool first = true;
  const asi_key *key;
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i) {
    const char *names[MOST_RIVALS];
    const int n = alternatives(table, key, names);
    if (n == 1) continue;
    asi_put(s, first ? ",\n      \"allOf\": [" : ", ");
    first = false;
    if (key->required)
      put_one_of(s, names, n);
    else
      put_never_two(s, names, n);
  }
  if (!first) asi_put(s, "]");
}

/// Keys that need each other: a key needs the one it is `with`, which needs it if it is required.
static void put_dependencies(asi_sink *s, const asi_table *table) {
  bool first = true;
  const asi_key *key, *other;
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i) {
    bool any = false;
    for (int k = -1; (other = k < 0 ? key : asi_table_key(table, k)) != NULL; ++k) {
      const bool needs =
          k < 0 ? key->with != NULL
                : other->required && other->with && strcmp(other->with, key->name) == 0;
      if (!needs) continue;
      if (!any) {
        asi_put(s, first ? ",\n      \"dependencies\": {\"%s\": [" : ", \"%s\": [", key->name);
        first = false;
      }
      asi_put(s, "%s\"%s\"", any ? ", " : "", k < 0 ? key->with : other->name);
      any = true;
    }
    if (any) asi_put(s, "]");
  }
  if (!first) asi_put(s, "}");
}

static void put_table(writer *w, const asi_table *table) {
  asi_sink *s = &w->sink;
  bool first = true;
  const asi_key *key;
  asi_put(s, "\"type\": \"object\",\n      \"properties\": {\n        ");
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i) {
    if (!first) asi_put(s, ",\n        ");
    first = false;
    put_string(s, key->name);
    asi_put(s, ": {");
    put_description(s, key);
    asi_put(s, ", ");
    put_value(w, key);
    asi_put(s, "}");
  }
  asi_put(s, "\n      },\n      \"additionalProperties\": false");
  put_required(s, table);
  put_alternatives(s, table);
  put_dependencies(s, table);
}

/// A thing of any kind: its type says which table holds.
static void put_section(writer *w, const asi_section *section) {
  asi_sink *s = &w->sink;
  bool first = true;
  if (section->kind[0]->type == NULL) {
    asi_put(s, "\"allOf\": [");
    put_reference(w, section->kind[0]->table);
    asi_put(s, "]");
    return;
  }
  asi_put(s, "\"type\": \"object\",\n      \"properties\": {\"type\": {\"enum\": [");
  for (int i = 0; i < section->n; ++i) {
    comma(s, &first);
    put_string(s, section->kind[i]->type);
  }
  asi_put(s, "]}},\n%s      \"allOf\": [\n        ",
          section->first_is_default ? "" : "      \"required\": [\"type\"],\n");
  if (section->first_is_default) {
    asi_put(s, "{\"if\": {\"not\": {\"required\": [\"type\"]}}, \"then\": ");
    put_reference(w, section->kind[0]->table);
    asi_put(s, "},\n        ");
  }
  for (int i = 0; i < section->n; ++i) {
    asi_put(s, "{");
    if (section->kind[i]->text) {
      asi_put(s, "\"description\": ");
      put_string(s, section->kind[i]->text);
      asi_put(s, ", ");
    }
    asi_put(s,
            "\"if\": {\"required\": [\"type\"], \"properties\": {\"type\": {\"const\": \"%s\"}}}, "
            "\"then\": ",
            section->kind[i]->type);
    put_reference(w, section->kind[i]->table);
    asi_put(s, i + 1 < section->n ? "},\n        " : "}\n      ]");
  }
}

static void put_definitions(writer *w) {
  static const asi_section *const sections[] = {
      &asi_bodies,          &asi_superelements, &asi_beam_things,
      &asi_flexible_things, &asi_beam_lines,    &asi_beam_section_kinds,
      &asi_frames,          &asi_roads,         &asi_joints,
      &asi_forces,          &asi_shapes,        &asi_block_section,
      &asi_event_section,   &asi_fmu_section};
  asi_put(&w->sink, ",\n  \"definitions\": {");
  for (int i = 0; i < ASI_COUNT(sections); ++i) {
    asi_put(&w->sink, "%s\n    \"any_%s\": {\n      ", i > 0 ? "," : "", sections[i]->what);
    put_section(w, sections[i]);
    asi_put(&w->sink, "\n    }");
  }
  for (int i = 0; i < w->n_tables; ++i) { // each may add more
    asi_put(&w->sink, ",\n    \"");
    put_table_name(&w->sink, w->table[i]->name);
    asi_put(&w->sink, "\": {\n      ");
    put_table(w, w->table[i]);
    asi_put(&w->sink, "\n    }");
  }
  asi_put(&w->sink, "\n  }\n}\n");
}

size_t as_file_schema(char *text, size_t room) {
  writer w = {.sink = {text, room, 0}};
  asi_put(&w.sink, "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
                   "  \"title\": \"alphastep model file\",\n      ");
  put_table(&w, &asi_root_table);
  put_definitions(&w);
  return w.sink.length;
}
