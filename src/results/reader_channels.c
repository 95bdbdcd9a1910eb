/// Lists the datasets and channels of results.h5.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/results_reader.h"

/// Names of objects, all of the same size; none unless there are many.
typedef struct objects {
  char *names;
  hsize_t n;
  size_t size;
  int *numbers; ///< of a dataset's objects; NULL: all
} objects;

static bool add_channel(as_results_reader *r, const char *const part[4], size_t unit, int object,
                        int column) {
  void *list = r->channel;
  if (!asi_grow(&list, r->n_channels, &r->room_channels, sizeof *r->channel)) return false;
  r->channel = list;
  char *name = asi_reader_join(part);
  const size_t place = name ? asi_reader_keep_text(r, name) : SIZE_MAX;
  free(name);
  if (place == SIZE_MAX) return false;
  r->channel[r->n_channels++] = (asi_reader_channel){place, unit, r->n_sources - 1, object, column};
  return true;
}

/// The channels of the last source: `begin` is `bodies` or `bodies.NAME`.
static bool add_channels(as_results_reader *r, const char *begin, const char *quantity,
                         const objects *of, const char *columns, size_t unit) {
  const asi_reader_source s = r->source[r->n_sources - 1];
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
static const char *measure(const as_results_reader *r, hid_t data, bool many,
                           asi_reader_source *out) {
  hsize_t size[3] = {0};
  const hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  const char *wrong = NULL;
  out->many = many;
  out->objects = out->columns = 1;
  out->rank = H5Sget_simple_extent_ndims(space);
  const int least = many ? 2 : 1;
  if (!asi_reader_is_inside(data) || H5Tget_class(type) != H5T_FLOAT || out->rank < least ||
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
static char *read_columns(const as_results_reader *r, hid_t data, hsize_t n) {
  if (H5Aexists(data, "columns") <= 0) return NULL;
  const hid_t at = H5Aopen(data, "columns", H5P_DEFAULT);
  hsize_t count = 0;
  size_t size = 0;
  char *text = asi_reader_texts(r, at, true, ASI_HDF5_COLUMNS, &count, &size);
  H5Aclose(at);
  if (text && count == n && size >= 2 && size <= 3) { // one letter and its end
    for (hsize_t i = 0; i < n; ++i) text[2 * i] = text[i * size], text[2 * i + 1] = '\0';
    return text;
  }
  free(text);
  return NULL;
}

static as_status add_source(as_results_reader *r, hid_t data, const char *begin,
                            const char *quantity, const objects *of, as_error *error) {
  asi_reader_source s = {.path = 0};
  const char *wrong = measure(r, data, of && of->names, &s);
  if (wrong) return asi_reader_fail(r, wrong, error);
  if (s.many && (of->numbers == NULL) && s.objects != of->n)
    return asi_reader_fail(r, "it is damaged: there are more or fewer names than objects", error);
  char *columns = s.rank > (s.many ? 2 : 1) ? read_columns(r, data, s.columns) : NULL;
  char *unit = asi_reader_attribute(r, data, "unit");
  const bool named = s.rank == (s.many ? 2 : 1) || columns != NULL;
  as_status status = named && unit ? AS_OK : asi_reader_fail(r, "a dataset has no unit", error);
  void *list = r->source;
  const ssize_t length = H5Iget_name(data, NULL, 0);
  char *path = asi_calloc((size_t)(length > 0 ? length : 0) + 1, 1);
  if (path) H5Iget_name(data, path, (size_t)length + 1);
  bool ok = path && asi_grow(&list, r->n_sources, &r->room_sources, sizeof *r->source);
  r->source = list;
  if (ok && status == AS_OK && unit) {
    s.path = asi_reader_keep_text(r, path);
    const size_t at = asi_reader_keep_text(r, unit);
    r->source[r->n_sources++] = s;
    ok = s.path != SIZE_MAX && at != SIZE_MAX &&
         (begin == NULL || add_channels(r, begin, quantity, of, columns, at));
  }
  free(path);
  free(columns);
  free(unit);
  return status == AS_OK && !ok ? asi_fail_memory(error) : status;
}

/// What is being looked at while links are gone through.
typedef struct visit {
  as_results_reader *r;
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
    v->status = asi_reader_fail(v->r, "it is damaged", v->error);
  }
  return v->status;
}

/// Numbers of the objects of `quantity`, if it has not all of them; false: they are wrong.
static bool read_numbers(hid_t group, const char *quantity, hsize_t n, objects *of) {
  char name[256];
  snprintf(name, sizeof name, "%s_of", quantity);
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return true;
  if (!asi_reader_is_linked(group, name)) return false;
  const hid_t data = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(data);
  bool ok = data >= 0 && asi_reader_is_inside(data) &&
            H5Sget_simple_extent_npoints(space) == (hssize_t)n && n <= of->n;
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
    status = asi_reader_fail(v->r, "it is damaged: numbers of objects are wrong", v->error);
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
    v->status = asi_reader_fail(v->r, "it is damaged", v->error);
  } else if (H5Iget_type(object) == H5I_DATASET) {
    v->status = visit_dataset(v, group, object, name);
  } else if (H5Iget_type(object) == H5I_GROUP && !v->inside) {
    const char *const part[4] = {v->begin, name, NULL, NULL};
    char *begin = asi_reader_join(part);
    visit below = {.r = v->r, .begin = begin, .inside = true, .error = v->error};
    v->status = begin ? visit_group(&below, object) : asi_fail_memory(v->error);
    free(begin);
  }
  H5Oclose(object);
  return v->status ? -1 : 0;
}

/// Reads a group of `root`; `begin` is what its channels' names begin with.
static as_status read_group(as_results_reader *r, hid_t root, asi_group g, const char *begin,
                            as_error *error) {
  const char *name = asi_group_name(g);
  if (H5Lexists(root, name, H5P_DEFAULT) <= 0) return AS_OK;
  const hid_t group = asi_reader_is_linked(root, name) ? H5Gopen2(root, name, H5P_DEFAULT) : -1;
  if (group < 0) return asi_reader_fail(r, "it is damaged", error);
  visit v = {.r = r, .begin = begin, .error = error};
  as_status status = AS_OK;
  if (asi_group_has_objects(g) && asi_reader_is_linked(group, "names")) {
    const hid_t data = H5Oopen(group, "names", H5P_DEFAULT);
    if (H5Iget_type(data) == H5I_DATASET) { // a body may be called like that
      v.of.names = asi_reader_texts(r, data, false, INT_MAX, &v.of.n, &v.of.size);
      if (v.of.names == NULL) status = asi_reader_fail(r, "its names cannot be read", error);
    }
    H5Oclose(data);
  }
  if (status == AS_OK) status = visit_group(&v, group);
  free(v.of.names);
  H5Gclose(group);
  return status;
}

as_status asi_reader_read_groups(as_results_reader *r, as_error *error) {
  as_status status = AS_OK;
  for (int g = 0; g < ASI_GROUPS && status == AS_OK; ++g)
    status = read_group(r, r->file, (asi_group)g, asi_group_name((asi_group)g), error);
  r->n_values = r->n_channels;
  if (status || H5Lexists(r->file, ASI_HDF5_ERRORS, H5P_DEFAULT) <= 0) return status;
  const bool own = asi_reader_is_linked(r->file, ASI_HDF5_ERRORS);
  const hid_t errors = own ? H5Gopen2(r->file, ASI_HDF5_ERRORS, H5P_DEFAULT) : -1;
  if (errors < 0) return asi_reader_fail(r, "it is damaged", error);
  for (int g = 0; g < ASI_GROUPS && status == AS_OK; ++g) {
    char begin[64];
    snprintf(begin, sizeof begin, "%s.%s", ASI_HDF5_ERRORS, asi_group_name((asi_group)g));
    status = read_group(r, errors, (asi_group)g, begin, error);
  }
  H5Gclose(errors);
  return status;
}

as_status asi_reader_add_time(as_results_reader *r, hid_t data, as_error *error) {
  return add_source(r, data, NULL, "time", NULL, error);
}
