/// Reads values by the table: from a mapping to a struct.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "file/reader.h"

// ---- tables -----------------------------------------------------------------------------------------

const asi_key *asi_table_key(const asi_table *table, int i) {
  int before = 0;
  for (const asi_table *t = table->base; t; t = t->base) before += t->n;
  if (i >= before) return i - before < table->n ? &table->key[i - before] : NULL;
  return asi_table_key(table->base, i);
}

const asi_key *asi_table_find(const asi_table *table, const char *name) {
  for (const asi_table *t = table; t; t = t->base)
    for (int i = 0; i < t->n; ++i)
      if (strcmp(t->key[i].name, name) == 0) return &t->key[i];
  return NULL;
}

const char *asi_entity_kind_plural(asi_entity_kind sort) {
  static const char *const name[ASI_SORTS] = {"bodies",
                                              "frames",
                                              "joints",
                                              "forces",
                                              "superelements",
                                              "parameters",
                                              "tables",
                                              "events",
                                              "blocks",
                                              "beams",
                                              "stations",
                                              "flexible bodies",
                                              "parts of flexible bodies"};
  return name[sort];
}

// ---- scalars ----------------------------------------------------------------------------------------

static bool wrong_type(asi_reader *r, const asi_value *v, const char *wanted) {
  if (v->type == ASI_TEXT)
    asi_complain(r, v, "must be %s, not the text \"%.60s\"", wanted, v->text);
  else if (v->text && v->type != ASI_NULL)
    asi_complain(r, v, "must be %s, not %s", wanted, v->text);
  else
    asi_complain(r, v, "must be %s, not %s", wanted, asi_value_what(v));
  return false;
}

/// Complains about an expression at its place inside the text.
static bool slipped(asi_reader *r, const asi_value *v, size_t shift, const asi_parse_error *slip) {
  r->broken = true;
  if (slip->sentence[0]) asi_complain_at(r, v, shift + slip->at, "%s", slip->sentence);
  return false;
}

static bool means_no_number(const char *text) {
  static const char *const word[] = {".nan", ".NaN", ".NAN", "nan", "NaN", "NAN",      ".inf",
                                     ".Inf", ".INF", "inf",  "Inf", "INF", "infinity", "Infinity"};
  if (text[0] == '-' || text[0] == '+') ++text;
  for (int i = 0; i < ASI_COUNT(word); ++i)
    if (strcmp(text, word[i]) == 0) return true;
  return false;
}

bool asi_read_plain(const char *text, double *out) {
  const bool minus = text[0] == '-', sign = minus || text[0] == '+';
  double number = (double)NAN;
  const size_t n = asi_scan_number(text + sign, &number);
  *out = minus ? -number : number;
  return n > 0 && text[sign + n] == '\0' && isfinite(number);
}

static bool is_number_in_quotes(const asi_value *v) {
  double number;
  const char *text = v->text + (v->text[0] == '-' || v->text[0] == '+');
  const size_t n = asi_scan_number(text, &number);
  return v->quoted && n > 0 && text[n] == '\0';
}

bool asi_read_number(asi_reader *r, const asi_value *v, double *out) {
  asi_parse_error slip;
  *out = (double)NAN;
  if (v->type == ASI_NUMBER) {
    if (!isfinite(v->number)) {
      asi_complain(r, v, "the number %.60s is too large", v->text);
      return false;
    }
    *out = v->number;
    return true;
  }
  if (v->type != ASI_TEXT) return wrong_type(r, v, "a number");
  if (means_no_number(v->text)) {
    asi_complain(r, v, "must be a finite number, not %s", v->text);
    return false;
  }
  if (is_number_in_quotes(v)) {
    asi_complain(r, v, "must be a number, not a text: write %s without quotes", v->text);
    return false;
  }
  return asi_evaluate(r, v->text, strlen(v->text), out, &slip) || slipped(r, v, 0, &slip);
}

bool asi_read_integer(asi_reader *r, const asi_value *v, int *out) {
  double number;
  if (!asi_read_number(r, v, &number)) return false;
  if (number != floor(number) || fabs(number) > INT_MAX) {
    asi_complain(r, v, "must be a whole number of at most %d, not %.17g", INT_MAX, number);
    return false;
  }
  *out = (int)number;
  return true;
}

static bool read_boolean(asi_reader *r, const asi_value *v, bool *out) {
  if (v->type != ASI_BOOLEAN) return wrong_type(r, v, "true or false");
  *out = v->number != 0.0;
  return true;
}

// ---- texts ------------------------------------------------------------------------------------------

/// What stands for an index whose values have names; NULL: it is none of these.
static const char *name_of_index(const asi_reader *r, const char *text, size_t length) {
  for (const asi_index *k = r->index; k; k = k->outer)
    if (k->text && strlen(k->name) == length && strncmp(k->name, text, length) == 0) return k->text;
  return NULL;
}

/// Replaces each ${...}; NULL if one is wrong.
static const char *fill_in(asi_reader *r, const asi_value *v) {
  char out[512];
  size_t used = 0;
  const char *from = v->text;
  for (const char *at = strstr(from, "${"); at; at = strstr(from, "${")) {
    const char *close = strchr(at, '}');
    const size_t shift = (size_t)(at - v->text) + 2;
    double number;
    asi_parse_error slip;
    const char *name = close ? name_of_index(r, at + 2, (size_t)(close - at) - 2) : NULL;
    if (name) {
      const int n = snprintf(out + used, sizeof out - used, "%.*s%s", (int)(at - from), from, name);
      if (n < 0 || (size_t)n >= sizeof out - used) break;
      used += (size_t)n;
      from = close + 1;
      continue;
    }
    if (close == NULL) {
      asi_complain(r, v, "a ${ without } in \"%.60s\"", v->text);
      return NULL;
    }
    if (!asi_evaluate(r, at + 2, (size_t)(close - at) - 2, &number, &slip)) {
      slipped(r, v, shift, &slip);
      return NULL;
    }
    if (number != floor(number) || fabs(number) > 1e15) {
      asi_complain_at(r, v, shift, "%.*s is %.17g; inside a text it must be a whole number",
                      (int)(close - at) + 1, at, number);
      return NULL;
    }
    const int n =
        snprintf(out + used, sizeof out - used, "%.*s%.0f", (int)(at - from), from, number);
    if (n < 0 || (size_t)n >= sizeof out - used) break;
    used += (size_t)n;
    from = close + 1;
  }
  const bool cut = strstr(from, "${") != NULL;
  if (cut || (size_t)snprintf(out + used, sizeof out - used, "%s", from) >= sizeof out - used) {
    asi_complain(r, v, "a text with ${...} that has more than %zu characters", sizeof out - 1);
    return NULL;
  }
  return asi_arena_text(&r->scratch, out, strlen(out));
}

const char *asi_read_key(asi_reader *r, const asi_value *key) {
  return strstr(key->text, "${") ? fill_in(r, key) : key->text;
}

const char *asi_read_text(asi_reader *r, const asi_value *v) {
  if (v->type == ASI_TEXT) return asi_read_key(r, v);
  if (v->text && v->type != ASI_NULL)
    asi_complain(r, v, "must be a text; put %.60s in quotes if it is one", v->text);
  else
    (void)wrong_type(r, v, "a text");
  return NULL;
}

bool asi_read_choice(asi_reader *r, const asi_value *v, const char *const *choices, int *out) {
  char all[256];
  asi_text list = asi_text_begin(all, sizeof all);
  const char *text = asi_read_text(r, v);
  if (text == NULL) return false;
  asi_hint hint = {.word = text};
  for (int i = 0; choices[i]; ++i) {
    if (strcmp(choices[i], text) == 0) {
      *out = i;
      return true;
    }
    asi_hint_try(&hint, choices[i]);
    asi_text_add(&list, "%s%s", i > 0 ? ", " : "", choices[i]);
  }
  asi_complain(r, v, "\"%.60s\" is none of %s%s", text, all, asi_hint_text(&hint));
  return false;
}

static bool read_text(asi_reader *r, const asi_value *v, const char **out) {
  const char *text = asi_read_text(r, v);
  if (text == NULL) return false;
  *out = text == v->text ? text : asi_arena_text(r->arena, text, strlen(text));
  return true;
}

static bool read_path(asi_reader *r, const asi_value *v, const char **out) {
  if (v->type != ASI_TEXT) return wrong_type(r, v, "the path of a file");
  *out = asi_beside(r, v);
  return *out != NULL;
}

// ---- names of things --------------------------------------------------------------------------------

static int find_thing(const asi_reader *r, asi_entity_kind sort, const char *name) {
  if (sort == ASI_SORT_BODY && strcmp(name, "ground") == 0) return ASI_GROUND;
  const int found = asi_names_find(&r->builder->names[sort], name);
  return found >= 0 ? found : ASI_NONE;
}

/// Is it a node of a beam or a flexible body that could not be added? That has been said.
static bool is_lost_node(const asi_reader *r, asi_entity_kind sort, const char *name) {
  char beam[256];
  const char *point = strchr(name, '.');
  if (sort != ASI_SORT_BODY || point == NULL) return false;
  snprintf(beam, sizeof beam, "%.*s", (int)(point - name), name);
  return asi_names_find(&r->failed[ASI_SORT_BEAM], beam) >= 0 ||
         asi_names_find(&r->failed[ASI_SORT_FLEXIBLE], beam) >= 0;
}

bool asi_read_name(asi_reader *r, const asi_value *v, asi_entity_kind sort, int *out) {
  const char *name = asi_read_text(r, v);
  if (name == NULL) return false;
  *out = find_thing(r, sort, name);
  if (*out != ASI_NONE) return true;
  r->broken = true;
  if (asi_names_find(&r->failed[sort], name) >= 0 || is_lost_node(r, sort, name) ||
      !asi_would_keep(r, v))
    return false;
  asi_hint hint = {.word = name};
  const asi_names *lists[2] = {&r->builder->names[sort], &r->failed[sort]};
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < lists[k]->count; ++i) asi_hint_try(&hint, asi_names_get(lists[k], i));
  if (sort == ASI_SORT_BODY) asi_hint_try(&hint, "ground");
  asi_complain(r, v, "there is no %s \"%.80s\"%s", asi_entity_kind_name(sort), name,
               asi_hint_text(&hint));
  return false;
}

/// YAML ends a text without quotes at a comma inside [ ] and { }: is this a piece of `max(a, b)`?
static bool is_torn(const asi_value *v) {
  int open = 0;
  if (v->type != ASI_TEXT || v->quoted) return false;
  for (const char *c = v->text; *c; ++c) open += (*c == '(') - (*c == ')');
  return open != 0;
}

static const char torn[] = "; inside [ ] and { } a text with a comma needs quotes";

static const char *hint_of_items(const asi_value *list) {
  for (int i = 0; i < list->count; ++i)
    if (is_torn(list->item[i])) return torn;
  return "";
}

// ---- lists ------------------------------------------------------------------------------------------

static bool check_count(asi_reader *r, const asi_value *v, int least, int most, const char *what) {
  if (v->type != ASI_LIST) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a list of %s", what);
    return wrong_type(r, v, wanted);
  }
  if (v->count >= least && v->count <= most) return true;
  const char *hint = v->count > most ? hint_of_items(v) : "";
  if (least == most)
    asi_complain(r, v, "must be %d %s, not %d%s", least, what, v->count, hint);
  else if (most == INT_MAX)
    asi_complain(r, v, "must be at least %d %s, not %d", least, what, v->count);
  else
    asi_complain(r, v, "must be %d to %d %s, not %d%s", least, most, what, v->count, hint);
  return false;
}

static bool in_range(asi_reader *r, const asi_value *v, asi_range range, double x,
                     const char *unit) {
  const char *blank = unit ? " " : "";
  if (unit == NULL) unit = "";
  if (range == ASI_POSITIVE && !(x > 0.0))
    asi_complain(r, v, "must be greater than 0%s%s, not %g", blank, unit, x);
  else if (range == ASI_NOT_NEGATIVE && !(x >= 0.0))
    asi_complain(r, v, "must not be negative, but is %g%s%s", x, blank, unit);
  else if (range == ASI_FRACTION && !(x >= 0.0 && x <= 1.0))
    asi_complain(r, v, "must be from 0 to 1, not %g", x);
  else
    return true;
  return false;
}

static bool read_numbers(asi_reader *r, const asi_value *v, const asi_key *key, double *out) {
  bool good = true;
  const asi_path *outer = r->path;
  for (int i = 0; i < v->count; ++i) {
    const asi_path path = {NULL, i, outer};
    r->path = &path;
    good = asi_read_number(r, v->item[i], &out[i]) &&
           in_range(r, v->item[i], key->range, out[i], key->unit) && good;
    r->path = outer;
  }
  return good;
}

static bool read_vector(asi_reader *r, const asi_value *v, const asi_key *key, double *out) {
  return check_count(r, v, key->least, key->most, "numbers") && read_numbers(r, v, key, out);
}

static bool read_formulas(asi_reader *r, const asi_value *v, const asi_key *key, const char **out) {
  bool good = true;
  const asi_path *outer = r->path;
  if (!check_count(r, v, key->most, key->most, "numbers or formulas")) return false;
  for (int i = 0; i < v->count; ++i) {
    const asi_path path = {NULL, i, outer};
    r->path = &path;
    good = asi_read_formula(r, v->item[i], &out[i]) && good;
    r->path = outer;
  }
  return good;
}

static bool read_list_of_numbers(asi_reader *r, const asi_value *v, const asi_key *key,
                                 asi_rows *out) {
  if (!check_count(r, v, key->least, INT_MAX, "numbers")) return false;
  out->n = v->count;
  out->number = asi_arena_take(&r->scratch, (size_t)v->count * sizeof(double));
  return out->number && read_numbers(r, v, key, out->number);
}

static bool read_rows(asi_reader *r, const asi_value *v, const asi_key *key, asi_rows *out) {
  bool good = true;
  const asi_path *outer = r->path;
  if (!check_count(r, v, key->least, INT_MAX, "lists")) return false;
  // Without a count of its own each row must be as long as the first.
  const bool like_first = key->most == 0 && v->item[0]->type == ASI_LIST && v->item[0]->count > 0;
  const int columns = like_first ? v->item[0]->count : key->most > 0 ? key->most : 1;
  out->n = v->count;
  out->columns = columns;
  out->number = asi_arena_take(&r->scratch, (size_t)v->count * (size_t)columns * sizeof(double));
  for (int i = 0; i < v->count && out->number; ++i) {
    const asi_path path = {NULL, i, outer};
    r->path = &path;
    const bool like = !like_first || v->item[i]->type != ASI_LIST || v->item[i]->count == columns;
    if (!like)
      asi_complain(r, v->item[i], "the first row has %d numbers, this one %d", columns,
                   v->item[i]->count);
    good = like && check_count(r, v->item[i], columns, columns, "numbers") &&
           read_numbers(r, v->item[i], key, out->number + (ptrdiff_t)i * columns) && good;
    r->path = outer;
  }
  return out->number && good;
}

const double *asi_keep_numbers(asi_reader *r, const double *number, int n) {
  if (n == 0) return NULL;
  double *kept = asi_arena_take(r->arena, (size_t)n * sizeof *kept);
  return kept ? memcpy(kept, number, (size_t)n * sizeof *kept) : NULL;
}

static bool read_names(asi_reader *r, const asi_value *v, const asi_key *key, int *out) {
  char what[32];
  bool good = true;
  const asi_path *outer = r->path;
  snprintf(what, sizeof what, "names of %s", asi_entity_kind_plural(key->sort));
  if (!check_count(r, v, key->most, key->most, what)) return false;
  for (int i = 0; i < key->most; ++i) {
    const asi_path path = {NULL, i, outer};
    r->path = &path;
    good = asi_read_name(r, v->item[i], key->sort, &out[i]) && good;
    for (int k = 0; k < i && good; ++k)
      if (out[k] == out[i]) {
        asi_complain(r, v->item[i], "\"%.80s\" is joined with itself", v->item[i]->text);
        good = false;
      }
    r->path = outer;
  }
  return good;
}

static bool read_name_list(asi_reader *r, const asi_value *v, asi_entity_kind sort, asi_ids *out) {
  const bool one = v->type != ASI_LIST;
  bool good = true;
  const asi_path *outer = r->path;
  char what[32];
  snprintf(what, sizeof what, "names of %s", asi_entity_kind_plural(sort));
  if (!one && !check_count(r, v, 1, INT_MAX, what)) return false;
  out->n = one ? 1 : v->count;
  out->id = asi_arena_take(r->arena, (size_t)out->n * sizeof *out->id);
  if (out->id == NULL) return false;
  for (int i = 0; i < out->n; ++i) {
    const asi_path path = {NULL, i, outer};
    if (!one) r->path = &path;
    good = asi_read_name(r, one ? v : v->item[i], sort, &out->id[i].index) && good;
    r->path = outer;
  }
  return good;
}

static bool read_active(asi_reader *r, const asi_value *v) {
  bool active = true;
  if (!read_boolean(r, v, &active)) return false;
  r->inactive = !active;
  return true;
}

static bool read_texts(asi_reader *r, const asi_value *v, bool one_will_do, asi_texts *out) {
  const bool one = one_will_do && v->type != ASI_LIST;
  bool good = true;
  const asi_path *outer = r->path;
  if (!one && !check_count(r, v, 1, INT_MAX, "texts")) return false;
  out->n = one ? 1 : v->count;
  out->text = asi_arena_take(r->arena, (size_t)out->n * sizeof *out->text);
  out->value = asi_arena_take(r->arena, (size_t)out->n * sizeof(asi_value *));
  if (out->text == NULL || out->value == NULL) return false;
  for (int i = 0; i < out->n; ++i) {
    const asi_path path = {NULL, i, outer};
    if (!one) r->path = &path;
    out->value[i] = one ? v : v->item[i];
    good = read_text(r, out->value[i], &out->text[i]) && good;
    r->path = outer;
  }
  return good;
}

static bool read_formula_list(asi_reader *r, const asi_value *v, asi_texts *out) {
  const bool one = v->type != ASI_LIST;
  bool good = true;
  const asi_path *outer = r->path;
  if (!one && !check_count(r, v, 1, INT_MAX, "numbers or formulas")) return false;
  out->n = one ? 1 : v->count;
  out->text = asi_arena_take(&r->scratch, (size_t)out->n * sizeof *out->text);
  out->value = asi_arena_take(&r->scratch, (size_t)out->n * sizeof(asi_value *));
  if (out->text == NULL || out->value == NULL) return false;
  for (int i = 0; i < out->n; ++i) {
    const asi_path path = {NULL, i, outer};
    if (!one) r->path = &path;
    out->value[i] = one ? v : v->item[i];
    good = asi_read_formula(r, out->value[i], &out->text[i]) && good;
    r->path = outer;
  }
  return good;
}

/// Whole numbers and names of things.
static bool read_numbered(asi_reader *r, const asi_value *v, asi_entity_kind sort,
                          asi_numbered *out) {
  if (v->type != ASI_MAP) return wrong_type(r, v, "a mapping of whole numbers to names");
  bool good = true;
  out->n = v->count;
  out->number = asi_arena_take(&r->scratch, (size_t)v->count * sizeof(int));
  out->id = asi_arena_take(&r->scratch, (size_t)v->count * sizeof(int));
  out->value = asi_arena_take(&r->scratch, (size_t)v->count * sizeof(asi_value *));
  if (out->number == NULL || out->id == NULL || out->value == NULL) return false;
  for (int i = 0; i < v->count; ++i) {
    const asi_value *key = v->item[2 * i];
    const char *text = asi_read_key(r, key);
    double number = 0.0;
    out->value[i] = v->item[2 * i + 1];
    const bool whole = text && asi_read_plain(text, &number) && number == floor(number) &&
                       number >= 0.0 && number <= INT_MAX;
    if (text && !whole)
      asi_complain(r, key, "must be a whole number, not the text \"%.60s\"", text);
    out->number[i] = whole ? (int)number : 0;
    good = whole && asi_read_name(r, out->value[i], sort, &out->id[i]) && good;
  }
  return good;
}

/// A thing inside another: its kind by its type, then by its table.
static bool read_chosen(asi_reader *r, const asi_value *v, const asi_section *section,
                        asi_chosen *out) {
  const asi_kind *kind = asi_kind_of(r, v, v, section);
  if (kind == NULL) return false;
  out->kind = kind;
  out->thing = asi_arena_take(&r->scratch, kind->size);
  if (out->thing == NULL) return false;
  if (kind->prepare) kind->prepare(out->thing);
  asi_read_object(r, v, v, kind->table, out->thing);
  return true; // it has set r->broken itself
}

/// They are compiled where they are used.
static bool read_formula_map(asi_reader *r, const asi_value *v, const asi_value **out) {
  if (v->type != ASI_MAP) return wrong_type(r, v, "a mapping of names to formulas");
  bool good = true;
  for (int i = 0; i < v->count; ++i) {
    const asi_value *x = v->item[2 * i + 1];
    if (x->type == ASI_NUMBER || x->type == ASI_TEXT || x->type == ASI_NULL) continue;
    asi_complain(r, x, "must be a number or a formula, not %s", asi_value_what(x));
    good = false;
  }
  *out = v;
  return good;
}

/// They are read by whoever knows the names.
static bool read_value_map(asi_reader *r, const asi_value *v, const asi_value **out) {
  if (v->type != ASI_MAP) return wrong_type(r, v, "a mapping of names to values");
  bool good = true;
  for (int i = 0; i < v->count; ++i) {
    const asi_value *x = v->item[2 * i + 1];
    if (x->type == ASI_NUMBER || x->type == ASI_TEXT || x->type == ASI_BOOLEAN) continue;
    asi_complain(r, x, "must be a number, a text or true or false, not %s", asi_value_what(x));
    good = false;
  }
  *out = v;
  return good;
}

// ---- objects ----------------------------------------------------------------------------------------

static bool read_value(asi_reader *r, const asi_value *v, const asi_key *key, void *out) {
  switch (key->type) {
  case ASI_KEY_NUMBER: {
    double *x = out;
    return asi_read_number(r, v, x) && in_range(r, v, key->range, *x, key->unit);
  }
  case ASI_KEY_INTEGER: {
    int *i = out;
    return asi_read_integer(r, v, i) && in_range(r, v, key->range, *i, key->unit);
  }
  case ASI_KEY_BOOLEAN: return read_boolean(r, v, out);
  case ASI_KEY_TEXT: return read_text(r, v, out);
  case ASI_KEY_CHOICE: return asi_read_choice(r, v, key->choices, out);
  case ASI_KEY_VECTOR: return read_vector(r, v, key, out);
  case ASI_KEY_ROWS: return read_rows(r, v, key, out);
  case ASI_KEY_NUMBERS: return read_list_of_numbers(r, v, key, out);
  case ASI_KEY_TEXTS: return read_texts(r, v, false, out);
  case ASI_KEY_PATH: return read_path(r, v, out);
  case ASI_KEY_FILES: return read_texts(r, v, true, out);
  case ASI_KEY_NAME: return asi_read_name(r, v, key->sort, out);
  case ASI_KEY_NAMES: return read_names(r, v, key, out);
  case ASI_KEY_NAME_LIST: return read_name_list(r, v, key->sort, out);
  case ASI_KEY_ACTIVE: return read_active(r, v);
  case ASI_KEY_SETTINGS: return asi_read_settings(r, v, out);
  case ASI_KEY_CURVE:
    return asi_read_curve(r, v, out) &&
           (v->type != ASI_NUMBER || in_range(r, v, key->range, v->number, key->unit));
  case ASI_KEY_SURFACE: return asi_read_surface(r, v, out);
  case ASI_KEY_FORMULA:
    return asi_read_formula(r, v, out) &&
           (v->type != ASI_NUMBER || in_range(r, v, key->range, v->number, key->unit));
  case ASI_KEY_FORMULA_LIST: return read_formula_list(r, v, out);
  case ASI_KEY_FORMULAS: return read_formulas(r, v, key, out);
  case ASI_KEY_OBJECT:
    asi_read_object(r, v, v, key->table, out);
    return true; // it has set r->broken itself
  case ASI_KEY_THINGS:
  case ASI_KEY_GROUND_SHAPES:
  case ASI_KEY_GROUPS:
  case ASI_KEY_TABLES:
  case ASI_KEY_PARAMETERS: *(const asi_value **)out = v; return true;
  case ASI_KEY_SHAPES:
    *(int *)out = r->machine->n_shapes;
    asi_read_list(r, v, key->section);
    return true; // likewise
  case ASI_KEY_FORMULA_MAP: return read_formula_map(r, v, out);
  case ASI_KEY_VALUE_MAP: return read_value_map(r, v, out);
  case ASI_KEY_CHOSEN: return read_chosen(r, v, key->section, out);
  case ASI_KEY_NUMBERED: return read_numbered(r, v, key->sort, out);
  case ASI_KEY_KIND: return true; // has been read to find the table
  }
  return false;
}

static void complain_unknown(asi_reader *r, const asi_value *key, const asi_table *table) {
  static const char *const in_blocks[] = {"states",     "state",   "signals", "controllers",
                                          "controller", "control", "sensors", "filters",
                                          "controls",   "samplers"};
  asi_hint hint = {.word = key->text};
  const asi_key *known;
  for (int i = 0; i < ASI_COUNT(in_blocks) && asi_table_find(table, "blocks"); ++i)
    if (strcmp(in_blocks[i], key->text) == 0) hint.word = "blocks";
  for (int i = 0; (known = asi_table_key(table, i)) != NULL; ++i) asi_hint_try(&hint, known->name);
  asi_complain(r, key, "there is no key \"%.60s\" here%s", key->text,
               is_torn(key) ? torn : asi_hint_text(&hint));
}

/// Does another key that is given take the place of this one?
static bool is_replaced(const asi_value *v, const asi_table *table, const asi_key *key) {
  const asi_key *other;
  for (int i = 0; (other = asi_table_key(table, i)) != NULL; ++i)
    if (other->instead_of && strcmp(other->instead_of, key->name) == 0 &&
        asi_value_get(v, other->name))
      return true;
  return false;
}

/// Another key that is given and that this one excludes: the one whose place it takes, or an earlier one that takes
/// the same place.
static const char *rival_of(const asi_value *v, const asi_table *table, const asi_key *key) {
  const asi_key *other;
  if (asi_value_get(v, key->instead_of)) return key->instead_of;
  for (int i = 0; (other = asi_table_key(table, i)) != key; ++i)
    if (other->instead_of && strcmp(other->instead_of, key->instead_of) == 0 &&
        asi_value_get(v, other->name))
      return other->name;
  return NULL;
}

/// Keys that exclude or need each other.
static void check_together(asi_reader *r, const asi_value *v, const asi_table *table,
                           const asi_key *key) {
  const asi_value *given = asi_value_get(v, key->name);
  const char *rival = given && key->instead_of ? rival_of(v, table, key) : NULL;
  if (rival) asi_complain(r, given, "only one of \"%s\" and \"%s\" can be given", rival, key->name);
  if (given && key->with && asi_value_get(v, key->with) == NULL)
    asi_complain(r, given, "\"%s\" can only be given with \"%s\"", key->name, key->with);
}

/// All that is missing in one sentence.
static void check_missing(asi_reader *r, const asi_value *v, const asi_value *at,
                          const asi_table *table) {
  char names[256];
  asi_text list = asi_text_begin(names, sizeof names);
  const asi_key *key;
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i) {
    const bool needed = key->required && (key->with == NULL || asi_value_get(v, key->with));
    if (!needed || asi_value_get(v, key->name) || is_replaced(v, table, key)) continue;
    asi_text_add(&list, "%s\"%s\"", list.used > 0 ? ", " : "", key->name);
  }
  if (list.used > 0) asi_complain(r, at, "missing: %s", names);
}

void asi_read_object(asi_reader *r, const asi_value *v, const asi_value *at, const asi_table *table,
                     void *out) {
  const asi_path *outer = r->path;
  const asi_key *key;
  if (v->type != ASI_MAP) {
    (void)wrong_type(r, v, "a mapping");
    return;
  }
  for (int i = 0; i < v->count; ++i) {
    key = asi_table_find(table, v->item[2 * i]->text);
    if (key == NULL) {
      complain_unknown(r, v->item[2 * i], table);
      continue;
    }
    const asi_path path = {key->name, 0, outer};
    r->path = &path;
    void *const value = (char *)out + key->offset;
    if (!read_value(r, v->item[2 * i + 1], key, value) ||
        (r->mirrored && !asi_mirror_value(r, v->item[2 * i + 1], key, value)))
      r->broken = true;
    r->path = outer;
  }
  for (int i = 0; (key = asi_table_key(table, i)) != NULL; ++i)
    if (key->instead_of || key->with) check_together(r, v, table, key);
  check_missing(r, v, at, table);
}
