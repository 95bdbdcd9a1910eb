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

#include "base/archive.h"
#include "base/error.h"
#include "file/reader.h"

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
  if (stat(path, &about) == 0 &&
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

char *asi_read_whole(asi_file *at, size_t *size, const char **why) {
  struct stat about;
  char *text = NULL;
  FILE *file = fopen(at->path, "rb");
  if (file && fstat(fileno(file), &about) == 0) {
    at->device = (unsigned long long)about.st_dev;
    at->number = (unsigned long long)about.st_ino;
    text = read_all(file, size);
  }
  *why = strerror(errno);
  if (file) fclose(file);
  return text;
}

void asi_note_data(asi_reader *r, const void *bytes, size_t size) {
  r->machine->data = 31 * r->machine->data + asi_checksum(bytes, size);
}

static bool keep_source(asi_reader *r, const char *path, const char *text, size_t size) {
  as_machine *m = r->machine;
  char *copy = asi_arena_text(r->arena, text, size);
  if (m->sources == NULL)
    m->sources = asi_arena_take(r->arena, ASI_MOST_FILES * sizeof *m->sources);
  if (copy == NULL || m->sources == NULL) return false;
  m->sources[m->n_sources++] = (as_source){path, copy, size};
  return true;
}

static void parse_file(asi_reader *r, int number, const char *text, size_t size) {
  if (size > ASI_MOST_BYTES) {
    asi_complain_file(r, number, "the file has more than %d MiB", ASI_MOST_BYTES >> 20);
    return;
  }
  if (!keep_source(r, r->file[number].path, text, size)) return;
  const char *copy = r->machine->sources[r->machine->n_sources - 1].text; // with a zero behind it
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
  char *text = asi_read_whole(&r->file[number], &size, &why);
  if (text == NULL) {
    --r->n_files;
    asi_complain(r, v, "\"%.200s\" cannot be read: %s", path, why);
    return AS_ERR_FILE;
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
  char *all = asi_read_whole(&r->file[0], &size, &why);
  if (all == NULL) {
    asi_complain_file(r, 0, "the file cannot be read: %s", why);
    return AS_ERR_FILE;
  }
  const as_status status = open_file(r, 0, all, size, NULL);
  free(all);
  return status;
}
