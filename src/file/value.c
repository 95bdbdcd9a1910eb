/// Values from libyaml's events, see value.h. JSON is YAML, and takes the same way.
///
/// Of YAML's scalars only these are more than text, and only without quotes: null, true, false, and decimal
/// numbers as in JSON, which may also begin with + or end or begin with the point (.5, 5.). So `no`, `on`, `~`, 0x1F,
/// 017, 1_000, 1:30 and .inf are texts, and refused wherever a number or true or false is wanted.
#include "file/value.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/number.h"

// ---- scalars ----------------------------------------------------------------------------------------

static void set_type(asi_value *v) {
  const char *text = v->text;
  v->type = ASI_TEXT;
  if (v->quoted) return;
  const bool yes = strcmp(text, "true") == 0;
  const bool minus = text[0] == '-', sign = minus || text[0] == '+';
  const size_t n = asi_scan_number(text + sign, &v->number);
  if (text[0] == '\0' || strcmp(text, "null") == 0) {
    v->type = ASI_NULL;
  } else if (yes || strcmp(text, "false") == 0) {
    v->type = ASI_BOOLEAN;
    v->number = yes;
  } else if (n > 0 && text[sign + n] == '\0') {
    v->type = ASI_NUMBER;
    if (minus) v->number = -v->number;
  }
}

// ---- the tree ---------------------------------------------------------------------------------------

enum { MOST_TOLD = 100 }; ///< double keys of a mapping

/// A list or a mapping whose end has not come.
typedef struct open_value {
  asi_value *value;
  int first; ///< where its items begin on the stack
} open_value;

typedef struct anchor {
  const char *name;
  asi_value *value;
} anchor;

typedef struct parse {
  asi_arena *arena;
  asi_fault_fn *fault;
  void *user;
  int file;
  asi_value **stack; ///< items of all that is open
  int n_stack, room_stack;
  open_value open[ASI_MOST_DEPTH];
  int depth;
  anchor *anchors;
  int n_anchors;
  long values; ///< so far, what aliases repeat counted each time
  asi_value *root;
} parse;

/// Tells what is wrong; false, for callers that cannot go on.
static bool refuse(const parse *p, yaml_mark_t mark, const char *sentence) {
  p->fault(p->file, (int)mark.line + 1, (int)mark.column + 1, sentence, p->user);
  return false;
}

/// Puts a value where the next one belongs.
static bool push(parse *p, asi_value *v, yaml_mark_t mark) {
  char sentence[128];
  p->values += v->weight;
  if (p->values > ASI_MOST_VALUES) {
    snprintf(sentence, sizeof sentence,
             "more than %d values, counting what aliases repeat; use `repeat`", ASI_MOST_VALUES);
    return refuse(p, mark, sentence);
  }
  if (p->depth == 0) {
    p->root = v;
    return true;
  }
  if (p->n_stack == p->room_stack) {
    const int room = 2 * p->room_stack + 64;
    asi_value **stack = realloc(p->stack, (size_t)room * sizeof(asi_value *));
    if (stack == NULL) {
      p->arena->failed = true;
      return false;
    }
    p->stack = stack;
    p->room_stack = room;
  }
  p->stack[p->n_stack++] = v;
  return true;
}

static bool remember(parse *p, const yaml_char_t *name, asi_value *v, yaml_mark_t mark) {
  if (name == NULL) return true;
  if (p->anchors == NULL)
    p->anchors = asi_arena_take(p->arena, ASI_MOST_ANCHORS * sizeof *p->anchors);
  if (p->n_anchors == ASI_MOST_ANCHORS) return refuse(p, mark, "more than 1000 anchors");
  const char *text = (const char *)name;
  char *copy = asi_arena_text(p->arena, text, strlen(text));
  if (p->anchors == NULL || copy == NULL) return false;
  p->anchors[p->n_anchors++] = (anchor){copy, v};
  return true;
}

static asi_value *new_value(parse *p, const yaml_event_t *event, asi_value_type type) {
  asi_value *v = asi_arena_take(p->arena, sizeof *v);
  if (v == NULL) return NULL;
  v->type = type;
  v->file = p->file;
  v->line = (int)event->start_mark.line + 1;
  v->column = (int)event->start_mark.column + 1;
  v->weight = 1;
  return v;
}

static bool take_alias(parse *p, const yaml_event_t *event) {
  const char *name = (const char *)event->data.alias.anchor;
  char sentence[192];
  asi_value *v = NULL;
  for (int i = p->n_anchors - 1; i >= 0 && v == NULL; --i)
    if (strcmp(p->anchors[i].name, name) == 0) v = p->anchors[i].value;
  for (int i = 0; i < p->depth; ++i)
    if (v && p->open[i].value == v) {
      snprintf(sentence, sizeof sentence, "the alias *%.60s stands inside what it repeats", name);
      return refuse(p, event->start_mark, sentence);
    }
  if (v == NULL) {
    snprintf(sentence, sizeof sentence,
             "there is no anchor &%.60s before this alias (a text that begins with * needs quotes)",
             name);
    return refuse(p, event->start_mark, sentence);
  }
  return push(p, v, event->start_mark);
}

static bool take_scalar(parse *p, const yaml_event_t *event) {
  const yaml_mark_t mark = event->start_mark;
  const char *text = (const char *)event->data.scalar.value;
  const size_t length = event->data.scalar.length;
  if (event->data.scalar.tag) refuse(p, mark, "tags (!...) are not supported");
  if (strlen(text) != length) refuse(p, mark, "a text may not hold the character \\0");
  asi_value *v = new_value(p, event, ASI_TEXT);
  char *copy = v ? asi_arena_text(p->arena, text, length) : NULL;
  if (copy == NULL) return false;
  v->text = copy;
  v->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  set_type(v);
  return remember(p, event->data.scalar.anchor, v, mark) && push(p, v, mark);
}

static bool begin(parse *p, const yaml_event_t *event, asi_value_type type, const yaml_char_t *name,
                  const yaml_char_t *tag) {
  const yaml_mark_t mark = event->start_mark;
  if (tag) refuse(p, mark, "tags (!...) are not supported");
  if (p->depth == ASI_MOST_DEPTH)
    return refuse(p, mark, "lists and mappings stand more than 64 deep inside each other");
  asi_value *v = new_value(p, event, type);
  if (v == NULL || !remember(p, name, v, mark)) return false;
  p->open[p->depth++] = (open_value){v, p->n_stack};
  return true;
}

static int by_text(const void *a, const void *b) {
  const asi_value *x = *(const asi_value *const *)a, *y = *(const asi_value *const *)b;
  const int order = strcmp(x->text, y->text);
  if (order != 0) return order;
  return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                            : (x->column > y->column) - (x->column < y->column);
}

static yaml_mark_t mark_of(const asi_value *v) {
  return (yaml_mark_t){.line = (size_t)v->line - 1, .column = (size_t)v->column - 1};
}

/// Can it be a key?
static bool check_key(const parse *p, const asi_value *key) {
  if (key->text == NULL)
    return refuse(p, mark_of(key), "a key must be a text, not a list or a mapping");
  if (!key->quoted && strcmp(key->text, "<<") == 0)
    return refuse(p, mark_of(key), "merge keys (<<) are not supported");
  return true;
}

/// Takes away what has no good key.
static void drop_bad_keys(const parse *p, asi_value *map) {
  int n = 0;
  for (int i = 0; i < map->count; ++i) {
    asi_value *key = map->item[2 * i], *value = map->item[2 * i + 1];
    if (!check_key(p, key)) continue;
    map->item[2 * n] = key;
    map->item[2 * n + 1] = value;
    ++n;
  }
  map->count = n;
}

/// Takes away a key that is there already.
static void drop_key(asi_value *map, const asi_value *key) {
  int i = map->count - 1;
  while (i > 0 && map->item[2 * i] != key) --i;
  for (; i + 1 < map->count; ++i) {
    map->item[2 * i] = map->item[2 * i + 2];
    map->item[2 * i + 1] = map->item[2 * i + 3];
  }
  --map->count;
}

/// The keys of a mapping are texts and all different; what is not is told and left out.
static bool check_keys(parse *p, asi_value *map) {
  char sentence[160];
  drop_bad_keys(p, map);
  const int n = map->count;
  asi_value **key = malloc(((size_t)n + 1) * sizeof(asi_value *));
  if (key == NULL) {
    p->arena->failed = true;
    return false;
  }
  for (int i = 0; i < n; ++i) key[i] = map->item[2 * i];
  qsort(key, (size_t)n, sizeof(asi_value *), by_text);
  for (int i = 1, told = 0; i < n; ++i) {
    if (strcmp(key[i - 1]->text, key[i]->text) != 0 || ++told > MOST_TOLD) continue;
    snprintf(sentence, sizeof sentence, "the key \"%.60s\" is there already, in line %d",
             key[i]->text, key[i - 1]->line);
    refuse(p, mark_of(key[i]), sentence);
    drop_key(map, key[i]);
  }
  free(key);
  return true;
}

static bool end(parse *p, yaml_mark_t mark) {
  const open_value *open = &p->open[--p->depth];
  asi_value *v = open->value;
  assert(v);
  const int n = p->n_stack - open->first;
  v->item = asi_arena_take(p->arena, (size_t)n * sizeof(asi_value *));
  if (v->item == NULL) return false;
  for (int i = 0; i < n; ++i) {
    v->item[i] = p->stack[open->first + i];
    v->weight += v->item[i]->weight;
  }
  v->count = v->type == ASI_MAP ? n / 2 : n;
  p->n_stack = open->first;
  if (v->type == ASI_MAP && !check_keys(p, v)) return false;
  p->values -= v->weight - 1; // its items have been counted
  return push(p, v, mark);
}

static bool take_event(parse *p, const yaml_event_t *event) {
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    return p->root == NULL || refuse(p, event->start_mark, "a second document begins here");
  case YAML_SCALAR_EVENT: return take_scalar(p, event);
  case YAML_ALIAS_EVENT: return take_alias(p, event);
  case YAML_SEQUENCE_START_EVENT:
    return begin(p, event, ASI_LIST, event->data.sequence_start.anchor,
                 event->data.sequence_start.tag);
  case YAML_MAPPING_START_EVENT:
    return begin(p, event, ASI_MAP, event->data.mapping_start.anchor,
                 event->data.mapping_start.tag);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT: return end(p, event->start_mark);
  default: return true;
  }
}

/// Where a byte is; columns count characters, as libyaml's do. Of UTF-16 only the beginning is known.
static yaml_mark_t mark_of_byte(const yaml_parser_t *parser) {
  yaml_mark_t mark = {0};
  const unsigned char *text = parser->input.string.start;
  const size_t size = (size_t)(parser->input.string.end - text);
  if (parser->encoding != YAML_UTF8_ENCODING) return mark;
  for (size_t i = 0; i < parser->problem_offset && i < size; ++i) {
    if (text[i] == '\n') {
      ++mark.line;
      mark.column = 0;
    } else if ((text[i] & 0xc0) != 0x80) {
      ++mark.column;
    }
  }
  return mark;
}

/// What libyaml is at, from there to the end of the line; `before` gets the last character before it that is no blank.
static const char *text_at(const yaml_parser_t *parser, yaml_mark_t mark, char *before) {
  const char *at = (const char *)parser->input.string.start;
  const char *end = (const char *)parser->input.string.end;
  for (size_t line = 0; line < mark.line && at < end; ++at) line += *at == '\n';
  *before = '\0';
  for (size_t column = 0; at < end && *at != '\n'; ++at) {
    if ((*at & 0xc0) == 0x80) continue; // inside a character
    if (column++ == mark.column) break;
    if (*at != ' ') *before = *at;
  }
  return at < end ? at : "";
}

/// Mistakes that many make, in words that help.
static const char *advice(const yaml_parser_t *parser) {
  if (parser->encoding != YAML_UTF8_ENCODING) return "";
  char before;
  const char *at = text_at(parser, parser->problem_mark, &before);
  if (*at == '\t') return ": a tab; use blanks";
  if (*at == '%' || *at == '@' || *at == '`') return ": a text that begins with it needs quotes";
  if (before == '"' || before == '\'')
    return ": the text ended at its second quote; a formula with quotes in it needs others around "
           "it";
  // Else a bracket is not closed.
  const bool one_line = !parser->context || parser->context_mark.line == parser->problem_mark.line;
  if (*at == ':' && one_line) return ": a text with a colon in it needs quotes";
  return "";
}

/// What libyaml found wrong.
static bool refuse_syntax(parse *p, const yaml_parser_t *parser) {
  char sentence[300];
  if (parser->error == YAML_MEMORY_ERROR) {
    p->arena->failed = true;
    return false;
  }
  const char *problem = parser->problem ? parser->problem : "not YAML";
  const bool unreadable = parser->error == YAML_READER_ERROR;
  if (!unreadable && parser->context)
    snprintf(sentence, sizeof sentence, "%s %s (line %zu)%s", problem, parser->context,
             parser->context_mark.line + 1, advice(parser));
  else
    snprintf(sentence, sizeof sentence, "%s%s", problem, unreadable ? "" : advice(parser));
  return refuse(p, unreadable ? mark_of_byte(parser) : parser->problem_mark, sentence);
}

static bool take_events(parse *p, yaml_parser_t *parser) {
  bool good = true, last = false;
  while (good && !last) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) return refuse_syntax(p, parser);
    last = event.type == YAML_STREAM_END_EVENT;
    good = take_event(p, &event);
    yaml_event_delete(&event);
  }
  if (good && p->root == NULL) return refuse(p, (yaml_mark_t){0}, "nothing is written here");
  return good;
}

// ---- JSON -------------------------------------------------------------------------------------------

/// The number of \uXXXX, or -1 if there is no such thing.
static long escape_at(const char *text) {
  char digits_of[5] = {0};
  if (strncmp(text, "\\u", 2) != 0 || strspn(text + 2, "0123456789abcdefABCDEF") < 4) return -1;
  memcpy(digits_of, text + 2, 4);
  return strtol(digits_of, NULL, 16);
}

/// JSON writes characters beyond 16 bits as two escapes, \uD83D\uDE00, YAML as one, \U0001F600: turns the former
/// into the latter, in place. `text` ends with a zero.
static size_t join_escapes(char *text, size_t size) {
  size_t to = 0;
  for (size_t from = 0; from < size;) {
    const long high = escape_at(text + from), low = high >= 0 ? escape_at(text + from + 6) : -1;
    if (high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
      to += (size_t)snprintf(text + to, 12, "\\U%08lX",
                             0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
      from += 12;
      continue;
    }
    const size_t n = text[from] == '\\' && from + 1 < size ? 2 : 1; // an escape is not looked into
    memmove(text + to, text + from, n);
    to += n;
    from += n;
  }
  return to;
}

/// A copy with such escapes joined, if the text is JSON and may have some; otherwise NULL.
static char *json_copy(const char *text, size_t *size, asi_arena *arena) {
  const size_t blank = strspn(text, " \t\r\n");
  if (text[blank] != '{' || strstr(text, "\\u") == NULL) return NULL;
  char *copy = asi_arena_text(arena, text, *size);
  if (copy) *size = join_escapes(copy, *size);
  return copy;
}

asi_value *asi_value_parse(const char *text, size_t size, int file, asi_arena *arena,
                           asi_fault_fn *fault, void *user) {
  yaml_parser_t parser;
  const char *joined = json_copy(text, &size, arena);
  if (joined) text = joined;
  if (!yaml_parser_initialize(&parser)) {
    arena->failed = true;
    return NULL;
  }
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
  parse p = {.arena = arena, .fault = fault, .user = user, .file = file};
  const bool good = take_events(&p, &parser);
  yaml_parser_delete(&parser);
  free(p.stack);
  return good && !arena->failed ? p.root : NULL;
}
