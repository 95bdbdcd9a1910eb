/// Opens a model file and what it includes.
///
/// Included paths are relative to the file that includes and stay inside its folder: neither absolute nor with
/// `..`. A file that is included more than once is read once; one that includes itself, directly or not, is
/// refused.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "file/libraries.h"

enum { LEAST_FILES = 16 }; ///< room for digests

int asi_add_file(asi_reader *r, asi_file file) {
  void *array = r->file;
  if (!asi_grow(&array, r->n_files, &r->room_files, sizeof *r->file)) {
    r->no_memory = true;
    return -1;
  }
  r->file = array;
  r->file[r->n_files] = file;
  return r->n_files++;
}

// ---- paths ------------------------------------------------------------------------------------------

static bool leads_out(const char *path) {
  if (path[0] == '/' || path[0] == '\0') return true;
  for (const char *part = path; part; part = strchr(part, '/')) {
    if (*part == '/') ++part;
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return true;
  }
  return false;
}

const char *asi_beside(asi_reader *r, const asi_value *v) {
  if (leads_out(v->text)) {
    asi_complain(
        r, v, "\"%.200s\" is no file below the folder of this one; paths are relative, without ..",
        v->text);
    return NULL;
  }
  const char *from = r->file[v->file].setting ? r->file[0].path : r->file[v->file].path;
  const char *slash = strrchr(from, '/');
  const size_t folder = slash ? (size_t)(slash - from) + 1 : 0, length = strlen(v->text);
  char *path = asi_arena_take(r->arena, folder + length + 1);
  if (path == NULL) return NULL;
  memcpy(path, from, folder);
  memcpy(path + folder, v->text, length);
  struct stat about;
  if (!asi_is_linked(r, path) && stat(path, &about) == 0 &&
      !S_ISREG(about.st_mode)) { // one that is not there is found by who reads it
    asi_complain(r, v, "\"%.200s\" is no file to read: a folder, a device or a pipe", v->text);
    return NULL;
  }
  return path;
}

// ---- contents ---------------------------------------------------------------------------------------

/// Reads to the end, or to one byte more than is allowed. NULL: errno says why.
static char *read_all(FILE *file, size_t *size) {
  char *text = NULL;
  size_t room = 0;
  *size = 0;
  for (;;) {
    if (*size == room) {
      room = 2 * room + 65536;
      char *more = realloc(text, room);
      if (more == NULL) break;
      text = more;
    }
    const size_t n = fread(text + *size, 1, room - *size, file);
    *size += n;
    if (ferror(file)) break;
    if (n == 0 || *size > ASI_MOST_BYTES) return text;
  }
  const int problem = errno;
  free(text);
  errno = problem;
  return NULL;
}

char *asi_read_whole(asi_reader *r, asi_file *at, size_t *size, const char **why) {
  char *text = NULL;
  FILE *file = asi_file_open(at->path, why);
  if (file && asi_file_identity(file, &at->device, &at->number)) {
    text = read_all(file, size);
    *why = strerror(errno);
  }
  r->no_memory = r->no_memory || (text == NULL && errno == ENOMEM);
  if (file) fclose(file);
  return text;
}

static void note_digest(asi_reader *r, const char *path, const asi_digest *digest) {
  as_machine *m = r->machine;
  const int n = m->n_files;
  if (n == 0 || (n >= LEAST_FILES && (n & (n - 1)) == 0)) { // a power of two: it is full
    as_file_digest *more =
        asi_arena_take(r->arena, (size_t)(n ? 2 * n : LEAST_FILES) * sizeof *more);
    if (more == NULL) return; // the arena has noted it
    if (n > 0) memcpy(more, m->files, (size_t)n * sizeof *more);
    m->files = more;
  }
  m->files[m->n_files++] = (as_file_digest){path, digest->bytes, asi_digest_end(digest)};
}

void asi_note_bytes(asi_reader *r, const char *path, const void *bytes, size_t size) {
  asi_digest digest = asi_digest_begin();
  asi_digest_add(&digest, bytes, size);
  note_digest(r, path, &digest);
}

void asi_note_file(asi_reader *r, const char *path) {
  asi_digest digest = asi_digest_begin();
  const char *why;
  unsigned char piece[1 << 14];
  FILE *file = asi_file_open(path, &why);
  r->no_memory = r->no_memory || (file == NULL && errno == ENOMEM);
  for (size_t n; file && (n = fread(piece, 1, sizeof piece, file)) > 0;)
    asi_digest_add(&digest, piece, n);
  if (file) fclose(file);
  note_digest(r, path, &digest);
}

/// Appends a character in UTF-8; returns its length.
static size_t put_utf8(char *to, unsigned long c) {
  static const unsigned char head[] = {0, 0, 0xc0, 0xe0, 0xf0};
  const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n; i-- > 1; c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)(head[n > 1 ? n : 0] | c);
  return n;
}

/// A text in UTF-16, which begins with a mark, as one in UTF-8 without.
static char *take_utf16(asi_reader *r, const unsigned char *text, size_t size, size_t *length) {
  const size_t low = text[0] == 0xff ? 0 : 1, n = size / 2;
  char *out = asi_arena_take(r->arena, 3 * n + 1);
  *length = 0;
  for (size_t i = 1; out && i < n; ++i) {
    unsigned long c = text[2 * i + low] | (unsigned long)text[2 * i + 1 - low] << 8;
    const unsigned long next =
        i + 1 < n ? text[2 * i + 2 + low] | (unsigned long)text[2 * i + 3 - low] << 8 : 0;
    const bool pair = c >> 10 == 0x36 && next >> 10 == 0x37;
    if (pair) c = 0x10000 + ((c & 0x3ff) << 10 | (next & 0x3ff));
    i += pair;
    if (c == 0 || c >> 11 == 0x1b) c = 0xfffd; // what cannot be there
    *length += put_utf8(out + *length, c);
  }
  return out;
}

/// Keeps what a file says, as it is for the parser and in UTF-8 for all others. Returns the first; NULL: no memory.
static const char *keep_source(asi_reader *r, const char *path, const char *text, size_t size) {
  as_machine *m = r->machine;
  const unsigned char *byte = (const unsigned char *)text;
  const bool wide =
      size >= 2 && ((byte[0] == 0xff && byte[1] == 0xfe) || (byte[0] == 0xfe && byte[1] == 0xff));
  char *raw = asi_arena_text(r->arena, text, size);
  size_t length = size;
  char *copy = wide ? take_utf16(r, byte, size, &length) : raw;
  if (m->sources == NULL)
    m->sources = asi_arena_take(r->arena, ASI_MOST_FILES * sizeof *m->sources);
  if (raw == NULL || copy == NULL || m->sources == NULL) return NULL;
  m->sources[m->n_sources++] = (as_source){path, copy, length};
  asi_note_bytes(r, path, text, size);
  return raw;
}

static void parse_file(asi_reader *r, int number, const char *text, size_t size) {
  if (size > ASI_MOST_BYTES) {
    asi_complain_file(r, number, "the file has more than %d MiB", ASI_MOST_BYTES >> 20);
    return;
  }
  const char *copy = keep_source(r, r->file[number].path, text, size); // with a zero behind it
  if (copy == NULL) return;
  r->file[number].text = copy;
  r->file[number].root = asi_value_parse(copy, size, number, r->arena, asi_complain_fault, r);
}

// ---- includes ---------------------------------------------------------------------------------------

/// The file that is being read and those that include it.
typedef struct chain {
  int file;
  const struct chain *outer;
} chain;

static as_status open_file(asi_reader *r, int number, const char *text, size_t size,
                           const chain *outer);

/// Has this file been opened before, as another path perhaps?
static int same_file(const asi_reader *r, int number) {
  for (int i = 0; i < number; ++i)
    if (r->file[i].number == r->file[number].number && r->file[i].device == r->file[number].device)
      return i;
  return -1;
}

static as_status include(asi_reader *r, const asi_value *v, const chain *outer) {
  size_t size;
  const char *why;
  const char *path = v->type == ASI_TEXT ? asi_beside(r, v) : NULL;
  if (path == NULL) return AS_OK; // said, or to be said by the table
  const int number = asi_add_file(r, (asi_file){.path = path});
  if (number < 0) return AS_ERR_MEMORY;
  char *text = asi_read_whole(r, &r->file[number], &size, &why);
  if (text == NULL) {
    --r->n_files;
    asi_complain(r, v, "\"%.200s\" cannot be read: %s", path, why);
    return r->no_memory ? AS_ERR_MEMORY : AS_ERR_FILE;
  }
  const int before = same_file(r, number);
  as_status status = AS_OK;
  if (before >= 0) {
    --r->n_files;
    for (const chain *k = outer; k; k = k->outer)
      if (k->file == before)
        asi_complain(r, v, "\"%.200s\" includes itself by way of this file", path);
  } else if (number >= ASI_MOST_FILES) {
    --r->n_files;
    asi_complain(r, v, "more than %d files", ASI_MOST_FILES);
  } else {
    status = open_file(r, number, text, size, outer);
  }
  free(text);
  return status;
}

static as_status open_file(asi_reader *r, int number, const char *text, size_t size,
                           const chain *outer) {
  const chain here = {number, outer};
  as_status status = AS_OK;
  parse_file(r, number, text, size);
  const asi_value *v = asi_value_get(r->file[number].root, "include");
  const asi_path path = {"include", 0, NULL};
  r->path = &path;
  if (v && v->type == ASI_LIST)
    for (int i = 0; i < v->count && status == AS_OK; ++i) {
      const asi_path item = {NULL, i, &path};
      r->path = &item;
      status = include(r, v->item[i], &here);
      r->path = &path;
    }
  else if (v)
    status = include(r, v, &here);
  r->path = NULL;
  if (r->n_order < ASI_MOST_FILES) r->order[r->n_order++] = number;
  return status;
}

as_status asi_read_sources(asi_reader *r, const char *path, const char *text, size_t size) {
  const char *why;
  const char *copy = asi_arena_text(r->arena, path, strlen(path));
  if (copy == NULL || asi_add_file(r, (asi_file){.path = copy}) < 0) return AS_ERR_MEMORY;
  if (text) return open_file(r, 0, text, size, NULL);
  char *all = asi_read_whole(r, &r->file[0], &size, &why);
  if (all == NULL) {
    asi_complain_file(r, 0, "the file cannot be read: %s", why);
    return r->no_memory ? AS_ERR_MEMORY : AS_ERR_FILE;
  }
  const as_status status = open_file(r, 0, all, size, NULL);
  free(all);
  return status;
}
