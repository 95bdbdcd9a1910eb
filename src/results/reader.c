/// Reading results.h5 back, see hdf5.h for its layout. Nothing in a file is trusted: what does not fit is refused, and
/// so is what leads to other files: links, data kept elsewhere.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/words.h"
#include "results/results_reader.h"

enum { RATIO = 1100 }; ///< deflate makes nothing smaller than by this

as_status asi_reader_fail(const as_results_reader *r, const char *why, as_error *error) {
  if (asi_hdf5_lacks_memory() || errno == ENOMEM) // it may have swallowed that
    return asi_fail_memory(error);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be read: %.200s.", r->path,
                  why);
}

/// Appends a text to the reader's; gives its place. SIZE_MAX: memory has run out.
size_t asi_reader_keep_text(as_results_reader *r, const char *text) {
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
char *asi_reader_join(const char *const part[4]) {
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
bool asi_reader_is_linked(hid_t group, const char *name) {
  H5L_info_t info;
  return H5Lexists(group, name, H5P_DEFAULT) > 0 &&
         H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

/// Whether a dataset's data is in the same file.
bool asi_reader_is_inside(hid_t data) {
  const hid_t how = H5Dget_create_plist(data);
  const bool inside = H5Pget_external_count(how) == 0 && H5Pget_layout(how) != H5D_VIRTUAL;
  H5Pclose(how);
  return inside;
}

/// Texts of an attribute or dataset, each of `size` bytes with its end; to be freed. NULL: they are not like that.
char *asi_reader_texts(const as_results_reader *r, hid_t from, bool attribute, hsize_t most,
                       hsize_t *n, size_t *size) {
  const hid_t type = attribute ? H5Aget_type(from) : H5Dget_type(from);
  const hid_t space = attribute ? H5Aget_space(from) : H5Dget_space(from);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  char *out = NULL;
  size_t stored = 0;
  const bool known = attribute || asi_reader_is_inside(from);
  if (known && is_text(type, &stored) && count > 0 && (hsize_t)count <= most &&
      (double)count * (double)stored <= r->most) {
    *n = (hsize_t)count;
    *size = stored + 1;
    const hid_t wanted = asi_hdf5_text_type(*size, H5Tget_cset(type));
    out = asi_calloc((size_t)count, *size);
    if (out == NULL) asi_hdf5_note_lack();
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
char *asi_reader_attribute(const as_results_reader *r, hid_t of, const char *name) {
  if (H5Aexists(of, name) <= 0) return NULL;
  const hid_t at = H5Aopen(of, name, H5P_DEFAULT);
  hsize_t n = 0;
  size_t size = 0;
  char *text = at >= 0 ? asi_reader_texts(r, at, true, 1, &n, &size) : NULL;
  if (at >= 0) H5Aclose(at);
  return text;
}

typedef struct entry {
  const char *name;
  int channel;
} entry;

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static bool sort_channels(as_results_reader *r) {
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

int as_results_reader_find(const as_results_reader *r, const char *name) {
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

int as_results_reader_error(const as_results_reader *r, int i) {
  const char *const part[4] = {ASI_HDF5_ERRORS, as_results_reader_channel(r, i).name, NULL, NULL};
  if (i < 0 || i >= r->n_values || r->n_values == r->n_channels) return -1;
  char *name = asi_reader_join(part);
  const int found = name ? as_results_reader_find(r, name) : -1;
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

as_status as_results_reader_select(const as_results_reader *r, const char *selection, bool *chosen,
                                   as_error *error) {
  const int exact = as_results_reader_find(r, selection);
  int nearest = -1, distance = INT_MAX;
  bool found = exact >= 0;
  if (found) chosen[exact] = true;
  for (int i = 0; i < r->n_channels && exact < 0 && selection[0]; ++i) {
    if (!is_selected(selection, as_results_reader_channel(r, i).name)) continue;
    found = chosen[i] = true;
  }
  if (found) return AS_OK;
  for (int i = 0; i < r->n_channels; ++i) {
    const int d = as_word_distance(selection, as_results_reader_channel(r, i).name);
    if (d < distance) nearest = i, distance = d;
  }
  const bool hint = nearest >= 0 && as_word_is_close(selection, distance);
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, selection,
                  "`%.100s` is no channel of %.200s%s%.100s%s", selection, r->path,
                  hint ? "; did you mean `" : ".",
                  hint ? as_results_reader_channel(r, nearest).name : "", hint ? "`?" : "");
}

/// Bodies are what has a position, in the order of the file.
static bool find_bodies(as_results_reader *r) {
  for (int i = 0; i < r->n_channels; ++i) {
    const char *name = r->text + r->channel[i].name;
    const char *end = strstr(name, ".position.x");
    if (strncmp(name, "bodies.", 7) != 0 || end == NULL || end <= name + 7 || end[11] != '\0')
      continue;
    const size_t length = (size_t)(end - name);
    char *who = asi_calloc(length + 1, 1);
    if (who) memcpy(who, name, length);
    const char *const part[4] = {who, "quaternion", "w", NULL};
    char *other = who ? asi_reader_join(part) : NULL;
    const int quaternion = other ? as_results_reader_find(r, other) : -1;
    const size_t place = other ? asi_reader_keep_text(r, who + 7) : SIZE_MAX;
    free(other);
    free(who);
    if (place == SIZE_MAX) return false;
    void *list = r->body;
    if (!asi_grow(&list, r->n_bodies, &r->room_bodies, sizeof *r->body)) return false;
    r->body = list;
    r->body[r->n_bodies++] = (asi_reader_body){place, i, quaternion};
  }
  return true;
}

static as_status check_format(as_results_reader *r, as_error *error) {
  char *format = asi_reader_attribute(r, r->file, "format");
  const bool ours = format && strcmp(format, ASI_HDF5_FORMAT) == 0;
  free(format);
  if (!ours) return asi_reader_fail(r, "it is an HDF5 file, but not of alphastep", error);
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
    return asi_reader_fail(r, why, error);
  }
  r->title = asi_reader_attribute(r, r->file, "title");
  r->version = asi_reader_attribute(r, r->file, "version");
  return AS_OK;
}

static as_status read_rows(as_results_reader *r, as_error *error) {
  const hid_t data =
      asi_reader_is_linked(r->file, "time") ? H5Dopen2(r->file, "time", H5P_DEFAULT) : -1;
  if (data < 0) return asi_reader_fail(r, "it is damaged: there is no time", error);
  const hid_t space = H5Dget_space(data);
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space) == 1) H5Sget_simple_extent_dims(space, &rows, NULL);
  H5Sclose(space);
  r->rows = rows < (hsize_t)LONG_MAX / 64 ? (long)rows : -1;
  const as_status status = r->rows < 0 ? asi_reader_fail(r, "it has too many rows", error)
                                       : asi_reader_add_time(r, data, error);
  H5Dclose(data);
  return status;
}

/// Times never fall; what is none was damaged, or made up.
static as_status check_times(as_results_reader *r, as_error *error) {
  double *t = asi_calloc((size_t)r->rows, sizeof *t);
  if (t == NULL) return asi_fail_memory(error);
  as_status status = as_results_reader_time(r, t, error);
  for (long i = 0; i < r->rows && status == AS_OK; ++i) {
    if (isfinite(t[i]) && (i == 0 || t[i] >= t[i - 1])) continue;
    char why[120];
    snprintf(why, sizeof why, "it is damaged: the time of row %ld, %g s, %s", i, t[i],
             isfinite(t[i]) ? "is before that of the row before" : "is none");
    status = asi_reader_fail(r, why, error);
  }
  free(t);
  return status;
}

static as_status read_all(as_results_reader *r, as_error *error) {
  uint64_t size = 0;
  const char *wrong = asi_hdf5_verify(r->path, &size);
  if (wrong) return asi_reader_fail(r, wrong, error);
  const hid_t access = asi_hdf5_access();
  r->file = H5Fopen(r->path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (r->file < 0) return asi_reader_fail(r, "it is damaged, or no HDF5 file", error);
  r->most = (double)RATIO * (double)size;
  as_status status = check_format(r, error);
  if (status == AS_OK) status = read_rows(r, error);
  if (status == AS_OK) status = check_times(r, error);
  if (status == AS_OK) status = asi_reader_read_groups(r, error);
  if (status == AS_OK && !(sort_channels(r) && find_bodies(r))) status = asi_fail_memory(error);
  if (status == AS_OK && asi_hdf5_lacks_memory()) // what seems not to be there may be
    status = asi_fail_memory(error);
  return status;
}

as_status as_results_reader_open(const char *path, as_results_reader **out, as_error *error) {
  *out = NULL;
  if (path == NULL) return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The path is NULL.");
  as_results_reader *r = asi_calloc(1, sizeof *r);
  if (r == NULL) return asi_fail_memory(error);
  if (H5open() < 0) { // HDF5 could not take what it needs for itself
    free(r);
    return asi_fail_memory(error);
  }
  r->file = -1;
  for (int i = 0; i < ASI_READER_PIECES; ++i) r->piece[i].source = -1;
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
    as_results_reader_close(r);
    return status;
  }
  *out = r;
  return AS_OK;
}

void as_results_reader_close(as_results_reader *r) {
  if (r == NULL) return;
  if (r->file >= 0) H5Fclose(r->file);
  asi_hdf5_forget();
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
  for (int i = 0; i < ASI_READER_PIECES; ++i) free(r->piece[i].values);
  free(r);
}

// ---- reading ----------------------------------------------------------------------------------------

long as_results_reader_rows(const as_results_reader *r) { return r->rows; }
int as_results_reader_count(const as_results_reader *r) { return r->n_channels; }
int as_results_reader_values(const as_results_reader *r) { return r->n_values; }
int as_results_reader_bodies(const as_results_reader *r) { return r->n_bodies; }
const char *as_results_reader_title(const as_results_reader *r) { return r->title; }
const char *as_results_reader_version(const as_results_reader *r) {
  return r->version ? r->version : "";
}

as_channel as_results_reader_channel(const as_results_reader *r, int i) {
  if (i < 0 || i >= r->n_channels) return (as_channel){"", ""};
  return (as_channel){r->text + r->channel[i].name, r->text + r->channel[i].unit};
}

const char *as_results_reader_body_name(const as_results_reader *r, int i) {
  return i >= 0 && i < r->n_bodies ? r->text + r->body[i].name : "";
}
