/// Messages: the first ones by place are kept, one per place and kind, so that a mistake inside `repeat` is told
/// once. Those about parameters come before all others, which may follow from them.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/text.h"
#include "file/reader.h"

enum { MOST_WALKS = 1000 }; ///< to places inside a text

typedef struct spot {
  int file, line, column;
  bool later; ///< it is no parameter
} spot;

static int compare(spot a, spot b) {
  if (a.later != b.later) return a.later ? 1 : -1;
  if (a.file != b.file) return a.file < b.file ? -1 : 1;
  if (a.line != b.line) return a.line < b.line ? -1 : 1;
  return (a.column > b.column) - (a.column < b.column);
}

static spot spot_of(const asi_reader *r, int i) {
  const as_message *m = &r->messages->message[i];
  return (spot){r->file_of[i], m->line, m->column, r->later[i]};
}

static bool is_about_parameters(const asi_reader *r) {
  const asi_path *path = r->path;
  while (path && path->outer) path = path->outer;
  return path && path->key && strcmp(path->key, "parameters") == 0;
}

static bool is_full(const asi_reader *r) { return r->messages->n == AS_MESSAGES; }

/// Makes room where a message belongs; NULL: it is there already, or comes too late.
static as_message *insert(asi_reader *r, spot at, const char *format) {
  as_messages *all = r->messages;
  int i = all->n;
  while (i > 0 && compare(at, spot_of(r, i - 1)) < 0) --i;
  for (int k = i - 1; k >= 0 && compare(at, spot_of(r, k)) == 0; --k)
    if (strcmp(r->format[k], format) == 0)
      return NULL; // not by address: compilers may keep equal texts apart
  if (is_full(r)) all->more = true;
  if (i == AS_MESSAGES) return NULL;
  const int last = is_full(r) ? AS_MESSAGES - 1 : all->n++;
  for (int k = last; k > i; --k) {
    all->message[k] = all->message[k - 1];
    r->format[k] = r->format[k - 1];
    r->file_of[k] = r->file_of[k - 1];
    r->later[k] = r->later[k - 1];
  }
  r->format[i] = format;
  r->file_of[i] = at.file;
  r->later[i] = at.later;
  all->message[i] = (as_message){.line = at.line, .column = at.column};
  return &all->message[i];
}

// ---- sentences --------------------------------------------------------------------------------------

typedef struct pen {
  char *text;
  size_t used, room;
} pen;

__attribute__((format(printf, 2, 0))) static void put_list(pen *p, const char *format,
                                                           va_list arguments) {
  if (p->used + 1 >= p->room) return;
  asi_format(p->text + p->used, p->room - p->used, format, arguments);
  p->used += strlen(p->text + p->used);
}

__attribute__((format(printf, 2, 3))) static void put(pen *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put_list(p, format, arguments);
  va_end(arguments);
}

static void put_path(pen *p, const asi_path *path) {
  if (path->outer) {
    put_path(p, path->outer);
    put(p, ".");
  }
  if (path->key)
    put(p, "%.80s", path->key);
  else
    put(p, "%d", path->number);
}

/// Long paths lose their beginning.
static void put_place(pen *p, const asi_reader *r, spot at) {
  const char *path = r->file[at.file].path;
  const size_t length = strlen(path), most = 400;
  put(p, "%s%s", length > most ? "..." : "", length > most ? path + length - most : path);
  if (at.line > 0) put(p, ":%d:%d", at.line, at.column);
  put(p, ": error: ");
}

static void put_indices(pen *p, const asi_index *index) {
  for (const asi_index *k = index; k; k = k->outer) {
    put(p, "%s%s = ", k == index ? " (" : ", ", k->name);
    if (k->text)
      put(p, "%.40s", k->text);
    else
      put(p, "%d", k->number);
  }
  if (index) put(p, ")");
}

__attribute__((format(printf, 3, 0))) static void complain(asi_reader *r, spot at,
                                                           const char *format, va_list arguments) {
  r->wrong = r->broken = true;
  at.later = !is_about_parameters(r);
  as_message *message = insert(r, at, format);
  if (message == NULL) return;
  pen p = {message->text, 0, sizeof message->text};
  put_place(&p, r, at);
  if (r->path) {
    put_path(&p, r->path);
    put(&p, ": ");
  }
  put_list(&p, format, arguments);
  put_indices(&p, r->index);
  // What a file says must not end the line or command the terminal.
  asi_make_printable(message->text);
}

static spot spot_of_value(const asi_reader *r, const asi_value *at) {
  if (r->file[at->file].setting) return (spot){.file = at->file};
  return (spot){.file = at->file, .line = at->line, .column = at->column};
}

// ---- places inside a text ---------------------------------------------------------------------------

/// Walks through a file and counts lines and columns in characters, as libyaml does.
typedef struct walker {
  const char *at;
  int line, column;
} walker;

static void advance(walker *w) {
  if (*w->at == '\n') {
    ++w->line;
    w->column = 0;
  }
  do ++w->at;
  while ((*w->at & 0xc0) == 0x80);
  ++w->column;
}

static void advance_by(walker *w, int n) {
  while (n-- > 0 && *w->at) advance(w);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(walker *w) {
  while (*w->at && is_blank(*w->at)) advance(w);
}

/// Stands at a value: goes to the first character of its text, past an anchor, a quote or the line of | or >; which
/// of these it is.
static char enter(walker *w) {
  if (*w->at == '&') {
    while (*w->at && !is_blank(*w->at)) advance(w);
    skip_blanks(w);
  }
  const char style = *w->at;
  if (style == '|' || style == '>')
    while (*w->at && *w->at != '\n') advance(w);
  else if (style == '"' || style == '\'')
    advance(w);
  else
    return ' ';
  return style;
}

/// Goes behind a character of the text that is no blank.
static void pass(walker *w, char style) {
  if (style == '"' && *w->at == '\\')
    advance_by(w, w->at[1] == 'x' ? 4 : w->at[1] == 'u' ? 6 : w->at[1] == 'U' ? 10 : 2);
  else
    advance_by(w, style == '\'' && w->at[0] == '\'' && w->at[1] == '\'' ? 2 : 1);
}

/// Blanks between the characters of a text, or what stands for them in the file.
static void skip_between(walker *w, char style) {
  skip_blanks(w);
  while (style == '"' && *w->at == '\\' && w->at[1] && strchr("\n ntr", w->at[1])) {
    advance_by(w, 2);
    skip_blanks(w);
  }
}

/// Where a byte of a value's text stands in the file. Lines are folded and blanks dropped on the way from one to the
/// other, but all other characters stay: it is these that are counted.
static spot spot_in_text(asi_reader *r, const asi_value *v, size_t byte) {
  const spot start = spot_of_value(r, v);
  if (r->file[v->file].text == NULL || v->text == NULL || start.line == 0) return start;
  if (r->walks++ >= MOST_WALKS) return start; // all of 100000 turns may be wrong
  walker w = {r->file[v->file].text, 1, 1};
  if (strncmp(w.at, "\xef\xbb\xbf", 3) == 0) w.at += 3;
  while (*w.at && w.line < start.line) advance(&w);
  while (*w.at && w.column < start.column) advance(&w);
  const char style = enter(&w);
  for (size_t i = 0; i < byte && v->text[i]; ++i) {
    if (is_blank(v->text[i]) || (v->text[i] & 0xc0) == 0x80) continue;
    skip_between(&w, style);
    pass(&w, style);
  }
  if (v->text[byte] && !is_blank(v->text[byte]))
    skip_between(&w, style); // else behind the last one
  return (spot){.file = v->file, .line = w.line, .column = w.column};
}

void asi_complain_at(asi_reader *r, const asi_value *at, size_t byte, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(r, spot_in_text(r, at, byte), format, arguments);
  va_end(arguments);
}

void asi_complain(asi_reader *r, const asi_value *at, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(r, spot_of_value(r, at), format, arguments);
  va_end(arguments);
}

void asi_complain_file(asi_reader *r, int file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(r, (spot){.file = file}, format, arguments);
  va_end(arguments);
}

void asi_complain_fault(int file, int line, int column, const char *sentence, void *user) {
  asi_reader *r = user;
  const asi_path *path = r->path;
  const asi_value at = {.file = file, .line = line, .column = column};
  r->path = NULL; // of a tree that is not there yet
  asi_complain(r, &at, "%s", sentence);
  r->path = path;
}

bool asi_would_keep(const asi_reader *r, const asi_value *at) {
  spot here = spot_of_value(r, at);
  here.later = !is_about_parameters(r);
  for (int i = 0; i < r->messages->n; ++i)
    if (compare(here, spot_of(r, i)) == 0) return false;
  return !is_full(r) || compare(here, spot_of(r, AS_MESSAGES - 1)) < 0;
}

as_place asi_place(const asi_reader *r, const asi_value *at) {
  const spot s = spot_of_value(r, at);
  return (as_place){r->file[s.file].path, s.line, s.column};
}

// ---- warnings ---------------------------------------------------------------------------------------

enum { MOST_WARNINGS = 20 };

void asi_warn(asi_reader *r, const char *sentence) {
  as_machine *m = r->machine;
  for (int i = 0; i < m->n_warnings; ++i)
    if (strcmp(m->warnings[i], sentence) == 0) return;
  if (m->n_warnings == MOST_WARNINGS) return;
  const char **all = asi_arena_take(r->arena, MOST_WARNINGS * sizeof *all);
  char *text = asi_arena_text(r->arena, sentence, strlen(sentence));
  if (all == NULL || text == NULL) return; // the arena has noted it
  if (m->n_warnings > 0) memcpy(all, m->warnings, (size_t)m->n_warnings * sizeof *all);
  all[m->n_warnings] = text;
  m->warnings = all;
  ++m->n_warnings;
}
