/// Values of results.h5: datasets are read in pieces, of which some are kept.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/results_reader.h"

enum {
  CACHE = 1 << 26, ///< bytes of a dataset that are read in one piece
};

/// All rows of some objects of a dataset, `columns` from `column` on.
static as_status read_strip(const as_results_reader *r, hid_t data, const asi_reader_source *s,
                            hsize_t object, hsize_t count, hsize_t column, hsize_t columns,
                            double *out, as_error *error) {
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
  return ok ? AS_OK : asi_reader_fail(r, "it is damaged: a dataset cannot be read", error);
}

/// Reads a piece of a dataset that has an object, as many objects as CACHE has room for: neighbours are wanted next, and a
/// chunk, which has a thousand objects, is not inflated for each of them.
static as_status read_piece(as_results_reader *r, hid_t data, int which, hsize_t object,
                            hsize_t most, as_error *error) {
  const asi_reader_source *s = &r->source[which];
  r->last = (r->last + 1) % ASI_READER_PIECES;
  asi_reader_piece *p = &r->piece[r->last];
  const hsize_t first = object - object % most;
  const hsize_t count = s->objects - first < most ? s->objects - first : most;
  double *values =
      realloc(p->values, (size_t)r->rows * (size_t)count * (size_t)s->columns * sizeof *values);
  if (values == NULL) return asi_fail_memory(error);
  *p = (asi_reader_piece){.source = -1, .first = first, .objects = count, .values = values};
  const as_status status = read_strip(r, data, s, first, count, 0, s->columns, values, error);
  if (status == AS_OK) p->source = which;
  return status;
}

static const asi_reader_piece *find_piece(const as_results_reader *r, int which, hsize_t object) {
  for (int i = 0; i < ASI_READER_PIECES; ++i) {
    const asi_reader_piece *p = &r->piece[i];
    if (p->source == which && object >= p->first && object - p->first < p->objects) return p;
  }
  return NULL;
}

static as_status read_source(as_results_reader *r, int which, int object, int column, double *out,
                             as_error *error) {
  if (r->rows == 0) return AS_OK;
  const asi_reader_source *s = &r->source[which];
  // of one object; a source has 1 to 4 columns, and as many rows as the file has room for
  const size_t bytes = (size_t)r->rows * (size_t)s->columns * sizeof(double);
  const hsize_t room = CACHE / bytes, chunk = ASI_HDF5_CHUNK_OBJECTS;
  const hsize_t most = room > chunk ? room - room % chunk : room;
  const hsize_t wanted = (hsize_t)object;
  const asi_reader_piece *p = find_piece(r, which, wanted);
  if (p == NULL) {
    const asi_hdf5_voice voice = asi_hdf5_hush();
    const hid_t data = H5Dopen2(r->file, r->text + s->path, H5P_DEFAULT);
    as_status status = AS_OK;
    if (data < 0)
      status = asi_reader_fail(r, "it is damaged: a dataset cannot be read", error);
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

as_status as_results_reader_time(as_results_reader *r, double *out, as_error *error) {
  return read_source(r, 0, 0, 0, out, error);
}

as_status as_results_reader_read(as_results_reader *r, int i, double *out, as_error *error) {
  if (i < 0 || i >= r->n_channels)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "There is no channel %d; there are %d.", i, r->n_channels);
  const asi_reader_channel *c = &r->channel[i];
  return read_source(r, c->source, c->object, c->column, out, error);
}

as_status as_results_reader_check(as_results_reader *r, as_error *error) {
  double *column = asi_calloc((size_t)r->rows, sizeof *column);
  if (column == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  for (int i = 0; i < r->n_channels && status == AS_OK; ++i)
    status = as_results_reader_read(r, i, column, error);
  free(column);
  return status;
}

as_status as_results_reader_poses(as_results_reader *r, int i, double *out, as_error *error) {
  if (i < 0 || i >= r->n_bodies)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no body %d; there are %d.",
                    i, r->n_bodies);
  double *column = asi_calloc((size_t)r->rows, sizeof *column);
  if (column == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  for (int k = 0; k < AS_POSE && status == AS_OK; ++k) {
    const int from = k < 3 ? r->body[i].position + k : r->body[i].quaternion + k - 3;
    const bool known = k < 3 || r->body[i].quaternion >= 0;
    if (known) status = as_results_reader_read(r, from, column, error);
    for (long row = 0; row < r->rows; ++row)
      out[row * AS_POSE + k] = known ? column[row] : k == 3 ? 1.0 : 0.0;
  }
  free(column);
  return status;
}

static char *read_long_text(as_results_reader *r, const char *name) {
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const hid_t group =
      asi_reader_is_linked(r->file, "texts") ? H5Gopen2(r->file, "texts", H5P_DEFAULT) : -1;
  char *text = NULL;
  if (group >= 0 && strchr(name, '/') == NULL && asi_reader_is_linked(group, name)) {
    const hid_t data = H5Dopen2(group, name, H5P_DEFAULT);
    hsize_t n = 0;
    size_t size = 0;
    if (data >= 0) text = asi_reader_texts(r, data, false, 1, &n, &size);
    H5Dclose(data);
  }
  H5Gclose(group);
  asi_hdf5_restore(voice);
  errno = text == NULL && asi_hdf5_lacks_memory() ? ENOMEM : 0;
  return text;
}

const char *as_results_reader_text(as_results_reader *r, const char *name) {
  errno = ENOMEM; // until it is known better
  for (int i = 0; i < r->n_held; ++i)
    if (strcmp(r->held[i].name, name) == 0) return r->held[i].text;
  void *list = r->held;
  if (!asi_grow(&list, r->n_held, &r->room_held, sizeof *r->held)) return NULL;
  r->held = list;
  char *text = read_long_text(r, name), *copy = text ? asi_calloc(strlen(name) + 1, 1) : NULL;
  if (copy == NULL) {
    if (text) errno = ENOMEM;
    free(text);
    return NULL;
  }
  memcpy(copy, name, strlen(name) + 1);
  r->held[r->n_held++] = (asi_reader_text){copy, text};
  return text;
}
