/// Reads meshes.
///
///     STL, text      solid NAME / facet normal x y z / outer loop / vertex x y z, three times / endloop / endfacet
///     STL, binary    80 bytes, a number of triangles (32 bits), and of each 50 bytes: normal, three corners (12 floats
///                    of 32 bits, the lowest byte first), 16 bits that mean nothing
///     OBJ            v x y z / f a b c ...: corners of a polygon, counted from 1, or from the last one back if
///                    negative, each perhaps with /texture/normal behind it; other lines are of no concern
///
/// Only triangles are kept; a polygon becomes a fan. Nothing is guessed: what is not as announced is refused, with
/// its line.
#include "file/mesh.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

/// The text that is being read, and what has been found.
typedef struct reader {
  const char *at;
  int line; ///< from 1
  const char *name;
  as_error *error;
  double *vertex; ///< of an OBJ: 3 numbers each
  long n_vertices, room_vertices;
  asi_mesh *mesh;
  long room;
} reader;

static as_status refuse(const reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static as_status refuse(const reader *r, const char *format, ...) {
  char sentence[256];
  va_list arguments;
  va_start(arguments, format);
  asi_format(sentence, sizeof sentence, format, arguments); // NOLINT(clang-analyzer-valist.*)
  va_end(arguments);
  return asi_fail(r->error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%.200s:%d: %s", r->name, r->line,
                  sentence);
}

static as_status refuse_whole(const char *name, as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The mesh %.200s %s.", name, why);
}

// ---- what is found ----------------------------------------------------------------------------------

/// Room for one more group of `width` numbers.
static bool grow(double **array, long count, long *room, long width) {
  if (count < *room) return true;
  const long more = 2 * *room + 256;
  double *larger = realloc(*array, (size_t)(more * width) * sizeof(double));
  if (larger == NULL) return false;
  *array = larger;
  *room = more;
  return true;
}

static as_status add_triangle(reader *r, const double *a, const double *b, const double *c) {
  if (r->mesh->n == ASI_MOST_TRIANGLES)
    return refuse(r, "More than %d triangles; simplify the mesh.", ASI_MOST_TRIANGLES);
  if (!grow(&r->mesh->corner, r->mesh->n, &r->room, 9)) return asi_fail_memory(r->error);
  double *to = r->mesh->corner + 9 * (ptrdiff_t)r->mesh->n++;
  memcpy(to, a, 3 * sizeof(double));
  memcpy(to + 3, b, 3 * sizeof(double));
  memcpy(to + 6, c, 3 * sizeof(double));
  return AS_OK;
}

// ---- words ------------------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool ends_word(char c) { return is_blank(c) || c == '\n' || c == '\0'; }

/// Goes to the next word of the line; false at its end.
static bool seek_word(reader *r) {
  while (is_blank(*r->at)) ++r->at;
  return *r->at != '\n' && *r->at != '\0';
}

/// The same over line ends; false at the end of the text.
static bool seek(reader *r) {
  while (!seek_word(r)) {
    if (*r->at == '\0') return false;
    ++r->at;
    ++r->line;
  }
  return true;
}

static void skip_line(reader *r) {
  while (*r->at != '\n' && *r->at != '\0') ++r->at;
}

/// Takes a word if it is this one.
static bool take(reader *r, const char *word) {
  const size_t n = strlen(word);
  if (!seek(r) || strncasecmp(r->at, word, n) != 0 || !ends_word(r->at[n])) return false;
  r->at += n;
  return true;
}

static int word_length(const reader *r) {
  int n = 0;
  while (n < 40 && !ends_word(r->at[n])) ++n;
  return n;
}

static as_status take_numbers(reader *r, double out[3]) {
  for (int i = 0; i < 3; ++i) {
    if (!seek_word(r)) return refuse(r, "A number is missing.");
    const bool minus = *r->at == '-', sign = minus || *r->at == '+';
    const size_t n = asi_scan_number(r->at + sign, &out[i]);
    if (n == 0 || !ends_word(r->at[sign + n]))
      return refuse(r, "\"%.*s\" is no number.", word_length(r), r->at);
    if (!isfinite((float)out[i]))
      return refuse(r, "The number %.*s is too large.", word_length(r), r->at);
    if (minus) out[i] = -out[i];
    r->at += (ptrdiff_t)n + sign;
  }
  return AS_OK;
}

// ---- STL --------------------------------------------------------------------------------------------

static as_status expect(reader *r, const char *word) {
  if (take(r, word)) return AS_OK;
  if (!seek(r)) return refuse(r, "The file ends where `%s` is expected.", word);
  return refuse(r, "`%s` is expected, not \"%.*s\".", word, word_length(r), r->at);
}

/// What follows `facet`.
static as_status read_facet(reader *r) {
  double corner[3][3];
  as_status status = expect(r, "normal");
  // Some programs write normals that are not finite; nothing depends on them.
  if (status == AS_OK) skip_line(r);
  if (status == AS_OK) status = expect(r, "outer");
  if (status == AS_OK) status = expect(r, "loop");
  for (int i = 0; i < 3 && status == AS_OK; ++i) {
    status = expect(r, "vertex");
    if (status == AS_OK) status = take_numbers(r, corner[i]);
  }
  if (status == AS_OK) status = expect(r, "endloop");
  if (status == AS_OK) status = expect(r, "endfacet");
  return status ? status : add_triangle(r, corner[0], corner[1], corner[2]);
}

/// One solid after the other.
static as_status read_stl_text(reader *r) {
  as_status status;
  do {
    status = expect(r, "solid");
    skip_line(r);
    while (status == AS_OK && take(r, "facet")) status = read_facet(r);
    if (status == AS_OK) status = expect(r, "endsolid");
    if (status == AS_OK) skip_line(r);
  } while (status == AS_OK && seek(r));
  return status;
}

static uint32_t little_endian(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

enum { STL_HEAD = 84, STL_TRIANGLE = 50 };

static bool is_stl_binary(const char *text, size_t size) {
  if (size < STL_HEAD) return false;
  const size_t n = little_endian((const unsigned char *)text + 80);
  return size - STL_HEAD == n * STL_TRIANGLE;
}

static as_status read_stl_binary(reader *r, const char *text, size_t size) {
  as_status status = AS_OK;
  const unsigned char *at = (const unsigned char *)text + STL_HEAD;
  const unsigned char *end = (const unsigned char *)text + size;
  for (; at < end && status == AS_OK; at += STL_TRIANGLE) {
    double corner[9];
    for (int i = 0; i < 9; ++i) {
      const uint32_t bits = little_endian(at + 12 + 4 * (ptrdiff_t)i);
      float number;
      memcpy(&number, &bits, sizeof number);
      if (!isfinite(number))
        return asi_fail(r->error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "%.200s: Triangle %d has a number that is not finite.", r->name,
                        r->mesh->n + 1);
      corner[i] = (double)number;
    }
    status = add_triangle(r, corner, corner + 3, corner + 6);
  }
  return status;
}

static as_status read_stl(reader *r, const char *text, size_t size) {
  if (is_stl_binary(text, size)) return read_stl_binary(r, text, size);
  if (strlen(text) != size)
    return refuse_whole(r->name, r->error,
                        "is neither a text nor as long as a binary STL file of its number of "
                        "triangles would be");
  return read_stl_text(r);
}

// ---- OBJ --------------------------------------------------------------------------------------------

/// The next corner of a polygon: its number, and what it is called.
static as_status take_corner(reader *r, const double **out) {
  char *end;
  const long number = strtol(r->at, &end, 10);
  if (end == r->at || !(ends_word(*end) || *end == '/'))
    return refuse(r, "\"%.*s\" is no vertex.", word_length(r), r->at);
  const long index = number > 0                ? number - 1
                     : number < -r->n_vertices ? -1
                                               : r->n_vertices + number;
  if (number == 0 || index < 0 || index >= r->n_vertices)
    return refuse(r, "There is no vertex %.*s: up to here there are %ld.", word_length(r), r->at,
                  r->n_vertices);
  while (!ends_word(*r->at)) ++r->at;
  *out = r->vertex + 3 * index;
  return AS_OK;
}

static as_status read_polygon(reader *r) {
  static const double nowhere[3] = {0.0, 0.0, 0.0};
  const double *first = nowhere, *last = nowhere, *corner = nowhere;
  int corners = 0;
  for (; seek_word(r); ++corners) {
    as_status status = take_corner(r, &corner);
    if (status == AS_OK && corners >= 2) status = add_triangle(r, first, last, corner);
    if (status) return status;
    if (corners == 0) first = corner;
    last = corner;
  }
  return corners < 3 ? refuse(r, "A face with %d corners.", corners) : AS_OK;
}

static as_status read_vertex(reader *r) {
  if (!grow(&r->vertex, r->n_vertices, &r->room_vertices, 3)) return asi_fail_memory(r->error);
  return take_numbers(r, r->vertex + 3 * r->n_vertices++);
}

static as_status read_obj(reader *r) {
  as_status status = AS_OK;
  while (status == AS_OK && seek(r)) {
    if (take(r, "v"))
      status = read_vertex(r);
    else if (take(r, "f"))
      status = read_polygon(r);
    if (status == AS_OK) skip_line(r);
  }
  return status;
}

// ---- files ------------------------------------------------------------------------------------------

static bool ends_in(const char *name, const char *suffix) {
  const size_t n = strlen(name), m = strlen(suffix);
  return n >= m && strcasecmp(name + n - m, suffix) == 0;
}

as_status asi_mesh_parse(const char *text, size_t size, const char *name, asi_mesh *out,
                         as_error *error) {
  *out = (asi_mesh){NULL, 0};
  reader r = {.at = text, .line = 1, .name = name, .error = error, .mesh = out};
  as_status status;
  if (ends_in(name, ".stl"))
    status = read_stl(&r, text, size);
  else if (!ends_in(name, ".obj"))
    status = refuse_whole(name, error, "does not end in .stl or .obj");
  else if (strlen(text) != size)
    status = refuse_whole(name, error, "is no text");
  else
    status = read_obj(&r);
  if (status == AS_OK && out->n == 0) status = refuse_whole(name, error, "has no triangles");
  free(r.vertex);
  if (status) {
    free(out->corner);
    *out = (asi_mesh){NULL, 0};
  }
  return status;
}

static as_status read_whole(FILE *file, const char *path, char **text, size_t *size,
                            as_error *error) {
  size_t room = 0;
  *size = 0;
  for (;;) {
    if (*size + 1 >= room) {
      room = 2 * room + 65536;
      char *larger = realloc(*text, room);
      if (larger == NULL) return asi_fail_memory(error);
      *text = larger;
    }
    const size_t count = fread(*text + *size, 1, room - *size - 1, file);
    *size += count;
    if (count == 0) break;
    if (*size > ASI_MOST_MESH_BYTES) return refuse_whole(path, error, "has more than 128 MiB");
  }
  (*text)[*size] = '\0';
  return ferror(file) ? refuse_whole(path, error, "cannot be read") : AS_OK;
}

as_status asi_mesh_read(const char *path, asi_mesh *out, as_error *error) {
  *out = (asi_mesh){NULL, 0};
  const char *why;
  FILE *file = asi_file_open(path, &why);
  if (file == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (file == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "The mesh %.200s cannot be opened: %s.",
                    path, why);
  char *text = NULL;
  size_t size;
  as_status status = read_whole(file, path, &text, &size, error);
  fclose(file);
  if (status == AS_OK) status = asi_mesh_parse(text, size, path, out, error);
  free(text);
  return status;
}
