/// Reading results.h5 back, see hdf5.h for its layout. Nothing in a file is trusted: what does not fit is refused, and
/// so is what leads to other files: links, data kept elsewhere.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/recording.h"
#include "alphastep/words.h"
#include "base/error.h"
#include "results/channels.h"
#include "results/hdf5.h"

enum {
  CACHE = 1 << 26, ///< bytes of a dataset that are read in one piece
  SLOTS = 2,       ///< pieces that are kept: positions and quaternions of bodies are wanted in turn
  RATIO = 1100,    ///< deflate makes nothing smaller than by this
};

/// A dataset: its place, and which channels it has.
typedef struct source {
  size_t path; ///< in text
  int rank;
  hsize_t objects, columns;
  bool many; ///< it has a dimension for objects
} source;

/// A channel: a place in a dataset.
typedef struct channel {
  size_t name, unit; ///< in text
  int source;
  int object, column;
} channel;

typedef struct body {
  size_t name;
  int position, quaternion; ///< first channels; quaternion -1: a point mass
} body;

typedef struct held_text {
  char *name, *text;
} held_text;

/// A piece of a dataset that is kept: all rows of some objects.
typedef struct piece {
  int source; ///< -1: none
  hsize_t first, objects;
  double *values; ///< [row, object, column]
} piece;

struct as_recording {
  char *path;
  hid_t file;
  double most; ///< bytes that a dataset of a file of this size may have
  long rows;
  char *text; ///< names, paths, units
  size_t used, room;
  source *source;
  channel *channel;
  body *body;
  held_text *held;
  int n_sources, n_channels, n_bodies, n_held;
  int n_values; ///< channels that are not errors: the first ones
  int room_sources, room_channels, room_bodies, room_held;
  int *sorted; ///< channels by name
  char *title, *version;
  piece piece[SLOTS];
  int last; ///< the piece that was read last
};

static as_status fail_open(const as_recording *r, const char *why, as_error *error) {
  if (asi_hdf5_lacks_memory()) return asi_fail_memory(error);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be read: %.200s.", r->path,
                  why);
}

// ---- pieces -----------------------------------------------------------------------------------------

/// Appends a text to the recording's; gives its place. SIZE_MAX: memory has run out.
static size_t keep_text(as_recording *r, const char *text) {
  const size_t size = strlen(text) + 1, place = r->used;
  if (r->used + size > r->room) {
    const size_t room = 2 * (r->room + size) + 1024;
    char *grown = realloc(r->text, room);
    if (grown == NULL) return SIZE_MAX;
    r->text = grown;
    r->room = room;
  }
  memcpy(r->text + place, text, size);
  r->used += size;
  return place;
}

/// Parts joined by points, NULL parts left out; to be freed. NULL: memory has run out.
static char *join(const char *const part[4]) {
  size_t size = 1;
  for (int i = 0; i < 4; ++i) size += part[i] ? strlen(part[i]) + 1 : 0;
  char *text = asi_calloc(size, 1), *at = text;
  for (int i = 0; i < 4 && text; ++i) {
    if (part[i] == NULL) continue;
    const size_t length = strlen(part[i]);
    if (at > text) *at++ = '.';
    memcpy(at, part[i], length);
    at += length;
  }
  return text;
}

/// Whether a type is a text of fixed size; gives it with room for its end.
static bool is_text(hid_t type, size_t *size) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) return false;
  *size = H5Tget_size(type);
  return *size > 0 && *size < ((size_t)1 << 31);
}

/// Whether there is a link that leads to something in the same file, by no detour.
static bool is_linked(hid_t group, const char *name) {
  H5L_info_t info;
  return H5Lexists(group, name, H5P_DEFAULT) > 0 &&
         H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

/// Whether a dataset's data is in the same file.
static bool is_inside(hid_t data) {
  const hid_t how = H5Dget_create_plist(data);
  const bool inside = H5Pget_external_count(how) == 0 && H5Pget_layout(how) != H5D_VIRTUAL;
  H5Pclose(how);
  return inside;
}

/// Texts of an attribute or dataset, each of `size` bytes with its end; to be freed. NULL: they are not like that.
static char *read_texts(const as_recording *r, hid_t from, bool attribute, hsize_t most, hsize_t *n,
                        size_t *size) {
  const hid_t type = attribute ? H5Aget_type(from) : H5Dget_type(from);
  const hid_t space = attribute ? H5Aget_space(from) : H5Dget_space(from);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  char *out = NULL;
  size_t stored = 0;
  const bool known = attribute || is_inside(from);
  if (known && is_text(type, &stored) && count > 0 && (hsize_t)count <= most &&
      (double)count * (double)stored <= r->most) {
    *n = (hsize_t)count;
    *size = stored + 1;
    const hid_t wanted = asi_hdf5_text_type(*size, H5Tget_cset(type));
    out = asi_calloc((size_t)count, *size);
    const herr_t got = out == NULL ? -1
                       : attribute ? H5Aread(from, wanted, out)
                                   : H5Dread(from, wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    H5Tclose(wanted);
    if (got < 0) {
      free(out);
      out = NULL;
    }
  }
  H5Sclose(space);
  H5Tclose(type);
  return out;
}

/// A text that is an attribute; NULL: it is not there.
static char *read_attribute(const as_recording *r, hid_t of, const char *name) {
  if (H5Aexists(of, name) <= 0) return NULL;
  const hid_t at = H5Aopen(of, name, H5P_DEFAULT);
  hsize_t n = 0;
  size_t size = 0;
  char *text = at >= 0 ? read_texts(r, at, true, 1, &n, &size) : NULL;
  H5Aclose(at);
  return text;
}

// ---- datasets and channels --------------------------------------------------------------------------

/// Names of objects, all of the same size; none unless there are many.
typedef struct objects {
  char *names;
  hsize_t n;
  size_t size;
  int *numbers; ///< of a dataset's objects; NULL: all
} objects;

static bool add_channel(as_recording *r, const char *const part[4], size_t unit, int object,
                        int column) {
  void *list = r->channel;
  if (!asi_grow(&list, r->n_channels, &r->room_channels, sizeof *r->channel)) return false;
  r->channel = list;
  char *name = join(part);
  const size_t place = name ? keep_text(r, name) : SIZE_MAX;
  free(name);
  if (place == SIZE_MAX) return false;
  r->channel[r->n_channels++] = (channel){place, unit, r->n_sources - 1, object, column};
  return true;
}

/// The channels of the last source: `begin` is `bodies` or `bodies.NAME`.
static bool add_channels(as_recording *r, const char *begin, const char *quantity,
                         const objects *of, const char *columns, size_t unit) {
  const source s = r->source[r->n_sources - 1];
  const char *blocks = strstr(begin, asi_group_name(ASI_GROUP_BLOCKS));
  const bool of_block = blocks && (blocks == begin || strncmp(begin, ASI_HDF5_ERRORS ".",
                                                              strlen(ASI_HDF5_ERRORS ".")) == 0);
  if (of_block && strcmp(quantity, ASI_HDF5_VALUE) == 0) quantity = NULL;
  for (hsize_t object = 0; object < s.objects; ++object) {
    const hsize_t number = of && of->numbers ? (hsize_t)of->numbers[object] : object;
    const char *who = s.many && of ? of->names + number * of->size : NULL;
    for (hsize_t column = 0; column < s.columns; ++column) {
      const char *const part[4] = {begin, who, quantity, columns ? columns + 2 * column : NULL};
      if (!add_channel(r, part, unit, (int)object, (int)column)) return false;
    }
  }
  return true;
}

/// Reads the shape of a dataset. Returns what is wrong with it, or NULL.
static const char *measure(const as_recording *r, hid_t data, bool many, source *out) {
  hsize_t size[3] = {0};
  const hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  const char *wrong = NULL;
  out->many = many;
  out->objects = out->columns = 1;
  out->rank = H5Sget_simple_extent_ndims(space);
  const int least = many ? 2 : 1;
  if (!is_inside(data) || H5Tget_class(type) != H5T_FLOAT || out->rank < least ||
      out->rank > least + 1)
    wrong = "a dataset is not one of alphastep's";
  else
    H5Sget_simple_extent_dims(space, size, NULL);
  if (!wrong && size[0] != (hsize_t)r->rows) wrong = "it is damaged: datasets differ in length";
  if (many) out->objects = size[1];
  if (out->rank > least) out->columns = size[least];
  const double bytes = (double)size[0] * (double)out->objects * (double)sizeof(double);
  if (!wrong && (out->objects > INT_MAX || out->columns < 1 || out->columns > ASI_HDF5_COLUMNS ||
                 bytes * (double)out->columns > r->most))
    wrong = "a dataset has a size that cannot be";
  H5Sclose(space);
  H5Tclose(type);
  return wrong;
}

/// Letters of the columns, each with a zero behind it; to be freed.
static char *read_columns(const as_recording *r, hid_t data, hsize_t n) {
  if (H5Aexists(data, "columns") <= 0) return NULL;
  const hid_t at = H5Aopen(data, "columns", H5P_DEFAULT);
  hsize_t count = 0;
  size_t size = 0;
  char *text = read_texts(r, at, true, ASI_HDF5_COLUMNS, &count, &size);
  H5Aclose(at);
  if (text && count == n && size >= 2 && size <= 3) { // one letter and its end
    for (hsize_t i = 0; i < n; ++i) text[2 * i] = text[i * size], text[2 * i + 1] = '\0';
    return text;
  }
  free(text);
  return NULL;
}

static as_status add_source(as_recording *r, hid_t data, const char *begin, const char *quantity,
                            const objects *of, as_error *error) {
  source s = {.path = 0};
  const char *wrong = measure(r, data, of && of->names, &s);
  if (wrong) return fail_open(r, wrong, error);
  if (s.many && (of->numbers == NULL) && s.objects != of->n)
    return fail_open(r, "it is damaged: there are more or fewer names than objects", error);
  char *columns = s.rank > (s.many ? 2 : 1) ? read_columns(r, data, s.columns) : NULL;
  char *unit = read_attribute(r, data, "unit");
  const bool named = s.rank == (s.many ? 2 : 1) || columns != NULL;
  as_status status = named && unit ? AS_OK : fail_open(r, "a dataset has no unit", error);
  void *list = r->source;
  const ssize_t length = H5Iget_name(data, NULL, 0);
  char *path = asi_calloc((size_t)(length > 0 ? length : 0) + 1, 1);
  if (path) H5Iget_name(data, path, (size_t)length + 1);
  bool ok = path && asi_grow(&list, r->n_sources, &r->room_sources, sizeof *r->source);
  r->source = list;
  if (ok && status == AS_OK && unit) {
    s.path = keep_text(r, path);
    const size_t at = keep_text(r, unit);
    r->source[r->n_sources++] = s;
    ok = s.path != SIZE_MAX && at != SIZE_MAX &&
         (begin == NULL || add_channels(r, begin, quantity, of, columns, at));
  }
  free(path);
  free(columns);
  free(unit);
  return status == AS_OK && !ok ? asi_fail_memory(error) : status;
}

// ---- groups -----------------------------------------------------------------------------------------

/// What is being looked at while links are gone through.
typedef struct visit {
  as_recording *r;
  const char *begin; ///< of names of channels
  bool inside;       ///< an object
  objects of;
  as_status status;
  as_error *error;
} visit;

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *user);

static as_status visit_group(visit *v, hid_t group) {
  hsize_t at = 0;
  H5_index_t order = H5_INDEX_CRT_ORDER;
  if (H5Literate(group, order, H5_ITER_INC, &at, visit_link, v) < 0 && v->status == AS_OK) {
    v->status = fail_open(v->r, "it is damaged", v->error);
  }
  return v->status;
}

/// Numbers of the objects of `quantity`, if it has not all of them; false: they are wrong.
static bool read_numbers(hid_t group, const char *quantity, hsize_t n, objects *of) {
  char name[256];
  snprintf(name, sizeof name, "%s_of", quantity);
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return true;
  if (!is_linked(group, name)) return false;
  const hid_t data = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(data);
  bool ok = data >= 0 && is_inside(data) && H5Sget_simple_extent_npoints(space) == (hssize_t)n &&
            n <= of->n;
  of->numbers = ok ? asi_calloc((size_t)n, sizeof *of->numbers) : NULL;
  ok =
      of->numbers && H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, of->numbers) >= 0;
  for (hsize_t i = 0; i < n && ok; ++i) ok = of->numbers[i] >= 0 && (hsize_t)of->numbers[i] < of->n;
  H5Sclose(space);
  H5Dclose(data);
  return ok;
}

static as_status visit_dataset(visit *v, hid_t group, hid_t data, const char *name) {
  if (v->of.names == NULL) return add_source(v->r, data, v->begin, name, NULL, v->error);
  hsize_t size[3] = {0};
  const hid_t space = H5Dget_space(data);
  if (H5Sget_simple_extent_ndims(space) <= 3) H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  objects of = v->of;
  as_status status = AS_OK;
  if (!read_numbers(group, name, size[1], &of))
    status = fail_open(v->r, "it is damaged: numbers of objects are wrong", v->error);
  else
    status = add_source(v->r, data, v->begin, name, &of, v->error);
  free(of.numbers);
  return status;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *user) {
  visit *v = user;
  const size_t length = strlen(name);
  const bool helper =
      v->of.names && !v->inside &&
      (strcmp(name, "names") == 0 || (length > 3 && strcmp(name + length - 3, "_of") == 0));
  if (helper) return 0;
  const bool own = info->type == H5L_TYPE_HARD;
  const hid_t object = own ? H5Oopen(group, name, H5P_DEFAULT) : -1;
  if (object < 0) {
    v->status = fail_open(v->r, "it is damaged", v->error);
  } else if (H5Iget_type(object) == H5I_DATASET) {
    v->status = visit_dataset(v, group, object, name);
  } else if (H5Iget_type(object) == H5I_GROUP && !v->inside) {
    const char *const part[4] = {v->begin, name, NULL, NULL};
    char *begin = join(part);
    visit below = {.r = v->r, .begin = begin, .inside = true, .error = v->error};
    v->status = begin ? visit_group(&below, object) : asi_fail_memory(v->error);
    free(begin);
  }
  H5Oclose(object);
  return v->status ? -1 : 0;
}

/// Reads a group of `root`; `begin` is what its channels' names begin with.
static as_status read_group(as_recording *r, hid_t root, asi_group g, const char *begin,
                            as_error *error) {
  const char *name = asi_group_name(g);
  if (H5Lexists(root, name, H5P_DEFAULT) <= 0) return AS_OK;
  const hid_t group = is_linked(root, name) ? H5Gopen2(root, name, H5P_DEFAULT) : -1;
  if (group < 0) return fail_open(r, "it is damaged", error);
  visit v = {.r = r, .begin = begin, .error = error};
  as_status status = AS_OK;
  if (asi_group_has_objects(g) && is_linked(group, "names")) {
    const hid_t data = H5Oopen(group, "names", H5P_DEFAULT);
    if (H5Iget_type(data) == H5I_DATASET) { // a body may be called like that
      v.of.names = read_texts(r, data, false, INT_MAX, &v.of.n, &v.of.size);
      if (v.of.names == NULL) status = fail_open(r, "its names cannot be read", error);
    }
    H5Oclose(data);
  }
  if (status == AS_OK) status = visit_group(&v, group);
  free(v.of.names);
  H5Gclose(group);
  return status;
}

static as_status read_groups(as_recording *r, as_error *error) {
  as_status status = AS_OK;
  for (int g = 0; g < ASI_GROUPS && status == AS_OK; ++g)
    status = read_group(r, r->file, (asi_group)g, asi_group_name((asi_group)g), error);
  r->n_values = r->n_channels;
  if (status || H5Lexists(r->file, ASI_HDF5_ERRORS, H5P_DEFAULT) <= 0) return status;
  const bool own = is_linked(r->file, ASI_HDF5_ERRORS);
  const hid_t errors = own ? H5Gopen2(r->file, ASI_HDF5_ERRORS, H5P_DEFAULT) : -1;
  if (errors < 0) return fail_open(r, "it is damaged", error);
  for (int g = 0; g < ASI_GROUPS && status == AS_OK; ++g) {
    char begin[64];
    snprintf(begin, sizeof begin, "%s.%s", ASI_HDF5_ERRORS, asi_group_name((asi_group)g));
    status = read_group(r, errors, (asi_group)g, begin, error);
  }
  H5Gclose(errors);
  return status;
}

// ---- names ------------------------------------------------------------------------------------------

typedef struct entry {
  const char *name;
  int channel;
} entry;

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static bool sort_channels(as_recording *r) {
  const size_t n = (size_t)r->n_channels;
  entry *list = asi_calloc(n, sizeof *list);
  r->sorted = asi_calloc(n, sizeof *r->sorted);
  const bool ok = list && r->sorted;
  for (int i = 0; ok && i < r->n_channels; ++i) list[i] = (entry){r->text + r->channel[i].name, i};
  if (ok) qsort(list, n, sizeof *list, compare_entries);
  for (int i = 0; ok && i < r->n_channels; ++i) r->sorted[i] = list[i].channel;
  free(list);
  return ok;
}

int as_recording_find(const as_recording *r, const char *name) {
  int low = 0, high = r->n_channels - 1;
  while (low <= high) {
    const int middle = low + (high - low) / 2;
    const int order = strcmp(name, r->text + r->channel[r->sorted[middle]].name);
    if (order == 0) return r->sorted[middle];
    if (order < 0)
      high = middle - 1;
    else
      low = middle + 1;
  }
  return -1;
}

int as_recording_error(const as_recording *r, int i) {
  const char *const part[4] = {ASI_HDF5_ERRORS, as_recording_channel(r, i).name, NULL, NULL};
  if (i < 0 || i >= r->n_values || r->n_values == r->n_channels) return -1;
  char *name = join(part);
  const int found = name ? as_recording_find(r, name) : -1;
  free(name);
  return found;
}

/// Whether the parts of a name, from left to right, are what those of a selection say; it may have fewer.
static bool is_selected(const char *selection, const char *name) {
  char part[2][1024];
  while (*selection) {
    const size_t n = strcspn(selection, "."), m = strcspn(name, ".");
    if (n >= sizeof part[0] || m >= sizeof part[1] || m == 0) return false;
    snprintf(part[0], sizeof part[0], "%.*s", (int)n, selection);
    snprintf(part[1], sizeof part[1], "%.*s", (int)m, name);
    if (!asi_matches(part[0], part[1])) return false;
    selection += n + (selection[n] == '.');
    name += m + (name[m] == '.');
  }
  return true;
}

as_status as_recording_select(const as_recording *r, const char *selection, bool *chosen,
                              as_error *error) {
  const int exact = as_recording_find(r, selection);
  int nearest = -1, distance = INT_MAX;
  bool found = exact >= 0;
  if (found) chosen[exact] = true;
  for (int i = 0; i < r->n_channels && exact < 0 && selection[0]; ++i) {
    if (!is_selected(selection, as_recording_channel(r, i).name)) continue;
    found = chosen[i] = true;
  }
  if (found) return AS_OK;
  for (int i = 0; i < r->n_channels; ++i) {
    const int d = as_word_distance(selection, as_recording_channel(r, i).name);
    if (d < distance) nearest = i, distance = d;
  }
  const bool hint = nearest >= 0 && as_word_is_close(selection, distance);
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, selection,
                  "`%.100s` is no channel of %.200s%s%.100s%s", selection, r->path,
                  hint ? "; did you mean `" : ".",
                  hint ? as_recording_channel(r, nearest).name : "", hint ? "`?" : "");
}

/// Bodies are what has a position, in the order of the file.
static bool find_bodies(as_recording *r) {
  for (int i = 0; i < r->n_channels; ++i) {
    const char *name = r->text + r->channel[i].name;
    const char *end = strstr(name, ".position.x");
    if (strncmp(name, "bodies.", 7) != 0 || end == NULL || end <= name + 7 || end[11] != '\0')
      continue;
    const size_t length = (size_t)(end - name);
    char *who = asi_calloc(length + 1, 1);
    if (who) memcpy(who, name, length);
    const char *const part[4] = {who, "quaternion", "w", NULL};
    char *other = who ? join(part) : NULL;
    const int quaternion = other ? as_recording_find(r, other) : -1;
    const size_t place = other ? keep_text(r, who + 7) : SIZE_MAX;
    free(other);
    free(who);
    if (place == SIZE_MAX) return false;
    void *list = r->body;
    if (!asi_grow(&list, r->n_bodies, &r->room_bodies, sizeof *r->body)) return false;
    r->body = list;
    r->body[r->n_bodies++] = (body){place, i, quaternion};
  }
  return true;
}

// ---- open and close ---------------------------------------------------------------------------------

static as_status check_format(as_recording *r, as_error *error) {
  char *format = read_attribute(r, r->file, "format");
  const bool ours = format && strcmp(format, ASI_HDF5_FORMAT) == 0;
  free(format);
  if (!ours) return fail_open(r, "it is an HDF5 file, but not of alphastep", error);
  int version = 0;
  const hid_t at = H5Aopen(r->file, "format_version", H5P_DEFAULT);
  const hid_t space = H5Aget_space(at);
  const bool read = at >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                    H5Aread(at, H5T_NATIVE_INT, &version) >= 0;
  H5Sclose(space);
  H5Aclose(at);
  if (!read || version != ASI_HDF5_VERSION) {
    char why[80];
    snprintf(why, sizeof why, "its format is %d, this library reads %d", version, ASI_HDF5_VERSION);
    return fail_open(r, why, error);
  }
  r->title = read_attribute(r, r->file, "title");
  r->version = read_attribute(r, r->file, "version");
  return AS_OK;
}

static as_status read_rows(as_recording *r, as_error *error) {
  const hid_t data = is_linked(r->file, "time") ? H5Dopen2(r->file, "time", H5P_DEFAULT) : -1;
  if (data < 0) return fail_open(r, "it is damaged: there is no time", error);
  const hid_t space = H5Dget_space(data);
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space) == 1) H5Sget_simple_extent_dims(space, &rows, NULL);
  H5Sclose(space);
  r->rows = rows < (hsize_t)LONG_MAX / 64 ? (long)rows : -1;
  const as_status status = r->rows < 0 ? fail_open(r, "it has too many rows", error)
                                       : add_source(r, data, NULL, "time", NULL, error);
  H5Dclose(data);
  return status;
}

/// Times never fall; what is none was damaged, or made up.
static as_status check_times(as_recording *r, as_error *error) {
  double *t = asi_calloc((size_t)r->rows, sizeof *t);
  if (t == NULL) return asi_fail_memory(error);
  as_status status = as_recording_time(r, t, error);
  for (long i = 0; i < r->rows && status == AS_OK; ++i) {
    if (isfinite(t[i]) && (i == 0 || t[i] >= t[i - 1])) continue;
    char why[120];
    snprintf(why, sizeof why, "it is damaged: the time of row %ld, %g s, %s", i, t[i],
             isfinite(t[i]) ? "is before that of the row before" : "is none");
    status = fail_open(r, why, error);
  }
  free(t);
  return status;
}

static as_status read_all(as_recording *r, as_error *error) {
  uint64_t size = 0;
  const char *wrong = asi_hdf5_verify(r->path, &size);
  if (wrong) return fail_open(r, wrong, error);
  const hid_t access = asi_hdf5_access();
  r->file = H5Fopen(r->path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (r->file < 0) return fail_open(r, "it is damaged, or no HDF5 file", error);
  r->most = (double)RATIO * (double)size;
  as_status status = check_format(r, error);
  if (status == AS_OK) status = read_rows(r, error);
  if (status == AS_OK) status = check_times(r, error);
  if (status == AS_OK) status = read_groups(r, error);
  if (status == AS_OK && !(sort_channels(r) && find_bodies(r))) status = asi_fail_memory(error);
  return status;
}

as_status as_recording_open(const char *path, as_recording **out, as_error *error) {
  *out = NULL;
  if (path == NULL) return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The path is NULL.");
  as_recording *r = asi_calloc(1, sizeof *r);
  if (r == NULL) return asi_fail_memory(error);
  if (H5open() < 0) { // HDF5 could not take what it needs for itself
    free(r);
    return asi_fail_memory(error);
  }
  r->file = -1;
  for (int i = 0; i < SLOTS; ++i) r->piece[i].source = -1;
  r->path = asi_calloc(strlen(path) + 1, 1);
  as_status status = AS_OK;
  const asi_hdf5_voice voice = asi_hdf5_hush();
  if (r->path == NULL) {
    status = asi_fail_memory(error);
  } else {
    memcpy(r->path, path, strlen(path));
    status = read_all(r, error);
  }
  asi_hdf5_restore(voice);
  if (status) {
    as_recording_close(r);
    return status;
  }
  *out = r;
  return AS_OK;
}

void as_recording_close(as_recording *r) {
  if (r == NULL) return;
  if (r->file >= 0) H5Fclose(r->file);
  for (int i = 0; i < r->n_held; ++i) {
    free(r->held[i].name);
    free(r->held[i].text);
  }
  free(r->held);
  free(r->path);
  free(r->text);
  free(r->source);
  free(r->channel);
  free(r->body);
  free(r->sorted);
  free(r->title);
  free(r->version);
  for (int i = 0; i < SLOTS; ++i) free(r->piece[i].values);
  free(r);
}

// ---- reading ----------------------------------------------------------------------------------------

long as_recording_rows(const as_recording *r) { return r->rows; }
int as_recording_count(const as_recording *r) { return r->n_channels; }
int as_recording_values(const as_recording *r) { return r->n_values; }
int as_recording_bodies(const as_recording *r) { return r->n_bodies; }
const char *as_recording_title(const as_recording *r) { return r->title; }
const char *as_recording_version(const as_recording *r) { return r->version ? r->version : ""; }

as_channel as_recording_channel(const as_recording *r, int i) {
  if (i < 0 || i >= r->n_channels) return (as_channel){"", ""};
  return (as_channel){r->text + r->channel[i].name, r->text + r->channel[i].unit};
}

const char *as_recording_body_name(const as_recording *r, int i) {
  return i >= 0 && i < r->n_bodies ? r->text + r->body[i].name : "";
}

/// All rows of some objects of a dataset, `columns` from `column` on.
static as_status read_strip(const as_recording *r, hid_t data, const source *s, hsize_t object,
                            hsize_t count, hsize_t column, hsize_t columns, double *out,
                            as_error *error) {
  hsize_t begin[3] = {0}, size[3] = {(hsize_t)r->rows, 1, 1};
  begin[1] = s->many ? object : column;
  size[1] = s->many ? count : columns;
  begin[2] = column;
  size[2] = columns;
  const hid_t space = H5Dget_space(data);
  // HDF5 copies runs of numbers where both spaces have the same dimensions, single numbers otherwise.
  const hid_t memory = H5Screate_simple(H5Sget_simple_extent_ndims(space), size, NULL);
  const bool ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, size, NULL) >= 0 &&
                  H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return ok ? AS_OK : fail_open(r, "it is damaged: a dataset cannot be read", error);
}

/// Reads a piece of a dataset that has an object, as many objects as CACHE has room for: neighbours are wanted next, and a
/// chunk, which has a thousand objects, is not inflated for each of them.
static as_status read_piece(as_recording *r, hid_t data, int which, hsize_t object, hsize_t most,
                            as_error *error) {
  const source *s = &r->source[which];
  r->last = (r->last + 1) % SLOTS;
  piece *p = &r->piece[r->last];
  const hsize_t first = object - object % most;
  const hsize_t count = s->objects - first < most ? s->objects - first : most;
  double *values =
      realloc(p->values, (size_t)r->rows * (size_t)count * (size_t)s->columns * sizeof *values);
  if (values == NULL) return asi_fail_memory(error);
  *p = (piece){.source = -1, .first = first, .objects = count, .values = values};
  const as_status status = read_strip(r, data, s, first, count, 0, s->columns, values, error);
  if (status == AS_OK) p->source = which;
  return status;
}

static const piece *find_piece(const as_recording *r, int which, hsize_t object) {
  for (int i = 0; i < SLOTS; ++i) {
    const piece *p = &r->piece[i];
    if (p->source == which && object >= p->first && object - p->first < p->objects) return p;
  }
  return NULL;
}

static as_status read_source(as_recording *r, int which, int object, int column, double *out,
                             as_error *error) {
  if (r->rows == 0) return AS_OK;
  const source *s = &r->source[which];
  // of one object; a source has 1 to 4 columns, and as many rows as the file has room for
  const size_t bytes = (size_t)r->rows * (size_t)s->columns * sizeof(double);
  const hsize_t room = CACHE / bytes, chunk = ASI_HDF5_CHUNK_OBJECTS;
  const hsize_t most = room > chunk ? room - room % chunk : room;
  const hsize_t wanted = (hsize_t)object;
  const piece *p = find_piece(r, which, wanted);
  if (p == NULL) {
    const asi_hdf5_voice voice = asi_hdf5_hush();
    const hid_t data = H5Dopen2(r->file, r->text + s->path, H5P_DEFAULT);
    as_status status = AS_OK;
    if (data < 0)
      status = fail_open(r, "it is damaged: a dataset cannot be read", error);
    else if (most > 0)
      status = read_piece(r, data, which, wanted, most, error);
    else
      status = read_strip(r, data, s, wanted, 1, (hsize_t)column, 1, out, error);
    H5Dclose(data);
    asi_hdf5_restore(voice);
    if (status || most == 0) return status;
    p = find_piece(r, which, wanted);
  }
  const size_t width = (size_t)p->objects * (size_t)s->columns;
  const double *from = p->values + (wanted - p->first) * s->columns + (hsize_t)column;
  for (long i = 0; i < r->rows; ++i) out[i] = from[(size_t)i * width];
  return AS_OK;
}

as_status as_recording_time(as_recording *r, double *out, as_error *error) {
  return read_source(r, 0, 0, 0, out, error);
}

as_status as_recording_read(as_recording *r, int i, double *out, as_error *error) {
  if (i < 0 || i >= r->n_channels)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "There is no channel %d; there are %d.", i, r->n_channels);
  const channel *c = &r->channel[i];
  return read_source(r, c->source, c->object, c->column, out, error);
}

as_status as_recording_check(as_recording *r, as_error *error) {
  double *column = asi_calloc((size_t)r->rows, sizeof *column);
  if (column == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  for (int i = 0; i < r->n_channels && status == AS_OK; ++i)
    status = as_recording_read(r, i, column, error);
  free(column);
  return status;
}

as_status as_recording_poses(as_recording *r, int i, double *out, as_error *error) {
  if (i < 0 || i >= r->n_bodies)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no body %d; there are %d.",
                    i, r->n_bodies);
  double *column = asi_calloc((size_t)r->rows, sizeof *column);
  if (column == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  for (int k = 0; k < AS_POSE && status == AS_OK; ++k) {
    const int from = k < 3 ? r->body[i].position + k : r->body[i].quaternion + k - 3;
    const bool known = k < 3 || r->body[i].quaternion >= 0;
    if (known) status = as_recording_read(r, from, column, error);
    for (long row = 0; row < r->rows; ++row)
      out[row * AS_POSE + k] = known ? column[row] : k == 3 ? 1.0 : 0.0;
  }
  free(column);
  return status;
}

static char *read_long_text(as_recording *r, const char *name) {
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const hid_t group = is_linked(r->file, "texts") ? H5Gopen2(r->file, "texts", H5P_DEFAULT) : -1;
  char *text = NULL;
  if (group >= 0 && strchr(name, '/') == NULL && is_linked(group, name)) {
    const hid_t data = H5Dopen2(group, name, H5P_DEFAULT);
    hsize_t n = 0;
    size_t size = 0;
    if (data >= 0) text = read_texts(r, data, false, 1, &n, &size);
    H5Dclose(data);
  }
  H5Gclose(group);
  asi_hdf5_restore(voice);
  return text;
}

const char *as_recording_text(as_recording *r, const char *name) {
  for (int i = 0; i < r->n_held; ++i)
    if (strcmp(r->held[i].name, name) == 0) return r->held[i].text;
  void *list = r->held;
  if (!asi_grow(&list, r->n_held, &r->room_held, sizeof *r->held)) return NULL;
  r->held = list;
  char *text = read_long_text(r, name), *copy = text ? asi_calloc(strlen(name) + 1, 1) : NULL;
  if (copy == NULL) {
    free(text);
    return NULL;
  }
  memcpy(copy, name, strlen(name) + 1);
  r->held[r->n_held++] = (held_text){copy, text};
  return text;
}
