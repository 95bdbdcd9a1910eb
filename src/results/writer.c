/// Writing results.h5, so that a process may be killed, or a machine lose its power, at any time.
///
/// HDF5 changes many places of a file when it grows, in an order of its own; a file that is cut short in between may be
/// unreadable. So HDF5 works on a file of its own, PATH.new, which nobody else reads. To flush is to copy that file, whole, to
/// PATH.copy, force it to the disk and give it the name PATH. At the end the file itself gets that name. What was called PATH
/// once is never written to again: whoever has it open reads on in it.
///
/// Behind the contents stands a digest of them (hdf5.h).
///
/// Whole chunks are compressed here (pack.h) and handed over as they are stored; HDF5's own filters, which read them, take several
/// times as long. Parts of chunks, as at a flush, go through HDF5.
///
/// HDF5 does not recover from a write that fails: it would try again at the end of the process, and crash. So there is
/// room for all that may come, on the disk and in memory, before it is asked to write.
#define _POSIX_C_SOURCE 200809L // posix_fallocate

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/version.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/file.h"
#include "results/layout.h"
#include "results/pack.h"

enum {
  WAITING = 1 << 22,     ///< bytes of lines that may wait
  CHUNK_ROWS = 256,      ///< of a dataset of one object, and the most of many
  CHUNK_ROWS_LEAST = 4,  ///< of many objects
  CHUNK = 1 << 16,       ///< numbers of a chunk of many objects, about
  HDF5_MEMORY = 1 << 23, ///< bytes that HDF5 takes for itself
  DEFLATE = 1,           ///< more takes three times as long and saves a few percent of doubles
  SHOWN_SHARE = 4,       ///< PATH is shown by itself where it has less than this part of the rows
};

struct as_results_writer {
  asi_layout layout;
  bool errors;              ///< estimated errors are kept, too
  bool sync;                ///< files are forced to the disk
  char *path, *work, *copy; ///< PATH, PATH.new, PATH.copy
  hid_t file;               ///< PATH.new
  hid_t *dataset;           ///< of each of the layout's
  bool *ours;               ///< it has our chunks; a file of an earlier version may have others
  long shown;               ///< rows in PATH
  bool longer;              ///< PATH has more rows than are to be kept
  double *lines;            ///< of rows first ... rows - 1, which are not in PATH.new yet
  long first, rows;
  long room;      ///< in lines
  double *values; ///< for one dataset, as many as fit
  size_t n_values;
  unsigned char *planes, *packed; ///< a chunk, shuffled and compressed
  asi_packer *packer;
  bool closing; ///< no more rows will come
  bool broken;  ///< something could not be written,
  int reason;   ///< because of this error number; 0: HDF5 did not say
};

as_results_writer_def as_default_results_writer_def(void) {
  return (as_results_writer_def){.cookie = ASI_COOKIE(as_results_writer_def), .model = NULL};
}

static as_status fail_write(as_results_writer *r, as_error *error) {
  r->broken = true;
  r->reason = errno;
  return asi_fail_write(r->path, r->reason, error);
}

/// Makes sure of `size` bytes on the disk behind the first `end` of a file; true also where that cannot be known.
static bool reserve(const char *path, hsize_t end, size_t size) {
  const int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  const off_t before = lseek(file, 0, SEEK_END);
  int number = posix_fallocate(file, (off_t)end, (off_t)size);
  if (number == EOPNOTSUPP || number == EINVAL) number = 0;
  if (number && ftruncate(file, before) != 0) number = errno;
  close(file);
  errno = number;
  return number == 0;
}

/// Whether there is so much memory; HDF5 may take it now.
static bool reserve_memory(size_t size) {
  void *room = malloc(size + HDF5_MEMORY);
  free(room);
  if (room == NULL) errno = ENOMEM;
  return room != NULL;
}

/// A power of two, so that whole chunks of all datasets fit into what may wait.
static long chunk_rows(const asi_layout *l, const asi_dataset *d) {
  if (d->objects == NULL) return CHUNK_ROWS;
  const long objects =
      d->n_objects < ASI_HDF5_CHUNK_OBJECTS ? d->n_objects : ASI_HDF5_CHUNK_OBJECTS;
  const long most = WAITING / (long)sizeof(double) / l->width; // lines
  long rows = CHUNK_ROWS;
  while (rows > CHUNK_ROWS_LEAST && (rows > most || rows * objects * d->n_columns > CHUNK))
    rows /= 2;
  return rows;
}

/// The most bytes that rows add: chunks and nodes of the index that are written anew elsewhere.
static size_t most_bytes(const asi_layout *l, long rows) {
  size_t sum = 0;
  for (int i = 0; i < l->n; ++i) {
    const asi_dataset *d = &l->dataset[i];
    const size_t width = (size_t)d->n_objects * (size_t)d->n_columns * sizeof(double);
    const size_t chunk = (size_t)chunk_rows(l, d);
    const size_t chunks = (size_t)rows / chunk + 2;
    sum += chunks * (asi_pack_bound(chunk * width) + 256) + 4096;
  }
  return sum;
}

/// The most bytes of a file without rows.
static size_t most_bytes_at_start(const asi_layout *l, const as_results_writer_def *def) {
  size_t sum = 65536 + 4096 * (size_t)l->n;
  for (int i = 0; i < def->n_texts; ++i) sum += strlen(def->texts[i].text) + 1024;
  for (int g = 0; g < ASI_GROUPS && l->many; ++g) {
    const int n = asi_group_objects(l->model, l->events, (asi_group)g);
    size_t longest = 8;
    for (int i = 0; i < n; ++i) {
      const size_t length =
          strlen(asi_names_get(asi_group_names(l->model, l->events, (asi_group)g), i));
      longest = length > longest ? length : longest;
    }
    sum += (def->errors ? 2 : 1) * (longest + 32) * (size_t)n;
  }
  return sum;
}

// ---- making a file ----------------------------------------------------------------------------------

/// ASCII where that is enough: Octave reads nothing else.
static hid_t text_type(const char *text, size_t n, size_t size) {
  H5T_cset_t set = H5T_CSET_ASCII;
  for (size_t i = 0; i < n; ++i)
    if ((unsigned char)text[i] > 127) set = H5T_CSET_UTF8;
  return asi_hdf5_text_type(size, set);
}

static bool put_texts(hid_t place, const char *name, const char *const *text, int n) {
  size_t size = 1;
  for (int i = 0; i < n; ++i) size = size > strlen(text[i]) + 1 ? size : strlen(text[i]) + 1;
  const hsize_t count = (hsize_t)n;
  char *all = asi_calloc((size_t)n, size);
  for (int i = 0; i < n && all; ++i) memcpy(all + (size_t)i * size, text[i], strlen(text[i]));
  const hid_t type = text_type(all, all ? (size_t)n * size : 0, size);
  const hid_t space = n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  const hid_t at = H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = all && at >= 0 && H5Awrite(at, type, all) >= 0;
  free(all);
  H5Aclose(at);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

static bool put_text(hid_t place, const char *name, const char *text) {
  return put_texts(place, name, &text, 1);
}

/// What things are made with: links in UTF-8, in the order of making; no times, so that files can be compared.
typedef struct makers {
  hid_t link, group, data;
} makers;

static makers make_makers(void) {
  makers m = {H5Pcreate(H5P_LINK_CREATE), H5Pcreate(H5P_GROUP_CREATE),
              H5Pcreate(H5P_DATASET_CREATE)};
  H5Pset_char_encoding(m.link, H5T_CSET_UTF8);
  H5Pset_link_creation_order(m.group, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(m.group, false);
  H5Pset_obj_track_times(m.data, false);
  return m;
}

static void free_makers(makers *m) {
  H5Pclose(m->link);
  H5Pclose(m->group);
  H5Pclose(m->data);
}

static hid_t make_group(hid_t in, const char *name, const makers *m) {
  return H5Gcreate2(in, name, m->link, m->group, H5P_DEFAULT);
}

/// A dataset that does not change; NULL data: none.
static bool put_fixed(hid_t in, const char *name, hid_t type, hid_t space, const void *data,
                      const makers *m) {
  const hid_t how = H5Pcopy(m->data);
  hsize_t count = 0;
  if (H5Sget_simple_extent_ndims(space) == 1 &&
      H5Sget_simple_extent_dims(space, &count, NULL) == 1) {
    H5Pset_chunk(how, 1, &count);
    H5Pset_fletcher32(how);
  }
  const hid_t made = H5Dcreate2(in, name, type, space, m->link, how, H5P_DEFAULT);
  H5Pclose(how);
  const bool ok = made >= 0 && H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  H5Dclose(made);
  return ok;
}

static bool put_long_text(hid_t in, const char *name, const char *text, const makers *m) {
  const size_t size = strlen(text) + 1;
  const hid_t type = text_type(text, size, size), space = H5Screate(H5S_SCALAR);
  const bool ok = put_fixed(in, name, type, space, text, m);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

static bool put_all_texts(hid_t file, const as_results_writer_def *def, const makers *m) {
  const int version = ASI_HDF5_VERSION;
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t at =
      H5Acreate2(file, "format_version", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = H5Awrite(at, H5T_NATIVE_INT, &version) >= 0;
  H5Aclose(at);
  H5Sclose(space);
  ok = ok && put_text(file, "format", ASI_HDF5_FORMAT) && put_text(file, "version", as_version());
  if (def->title) ok = ok && put_text(file, "title", def->title);
  const hid_t texts = make_group(file, "texts", m);
  for (int i = 0; i < def->n_texts && ok; ++i)
    ok = put_long_text(texts, def->texts[i].name, def->texts[i].text, m);
  H5Gclose(texts);
  return ok;
}

/// The names of all objects of a group, and the numbers of those that a dataset has.
static bool put_names(hid_t group, const asi_names *names, const makers *m) {
  size_t size = 1;
  for (int i = 0; i < names->count; ++i) {
    const size_t length = strlen(asi_names_get(names, i)) + 1;
    size = size > length ? size : length;
  }
  char *all = asi_calloc((size_t)names->count, size);
  if (all == NULL) return false;
  for (int i = 0; i < names->count; ++i)
    memcpy(all + (size_t)i * size, asi_names_get(names, i), strlen(asi_names_get(names, i)));
  const hsize_t count = (hsize_t)names->count;
  const hid_t type = text_type(all, (size_t)names->count * size, size);
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const bool ok = put_fixed(group, "names", type, space, all, m);
  free(all);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

static bool put_numbers(hid_t group, const asi_dataset *d, const makers *m) {
  char name[64];
  snprintf(name, sizeof name, "%s_of", d->quantity);
  const hsize_t count = (hsize_t)d->n_objects;
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const bool ok = put_fixed(group, name, H5T_NATIVE_INT, space, d->objects, m);
  H5Sclose(space);
  return ok;
}

/// Row, object if there are many, component if it has some; returns how many dimensions.
static int dimensions(const asi_dataset *d, hsize_t rows, hsize_t out[3]) {
  int n = 0;
  out[n++] = rows;
  if (d->objects) out[n++] = (hsize_t)d->n_objects;
  if (d->columns[0]) out[n++] = (hsize_t)d->n_columns;
  return n;
}

static int chunk_dimensions(const asi_layout *l, const asi_dataset *d, hsize_t out[3]) {
  const int n = dimensions(d, (hsize_t)chunk_rows(l, d), out);
  if (d->objects && out[1] > ASI_HDF5_CHUNK_OBJECTS) out[1] = ASI_HDF5_CHUNK_OBJECTS;
  return n;
}

static bool make_dataset(hid_t group, const asi_layout *l, const asi_dataset *d, const makers *m) {
  hsize_t now[3], most[3], chunk[3];
  const int n = dimensions(d, 0, now);
  dimensions(d, H5S_UNLIMITED, most);
  chunk_dimensions(l, d, chunk);
  const hid_t space = H5Screate_simple(n, now, most);
  const hid_t how = H5Pcopy(m->data);
  H5Pset_chunk(how, n, chunk);
  H5Pset_shuffle(how);
  H5Pset_deflate(how, DEFLATE);
  H5Pset_fletcher32(how);
  const hid_t made =
      H5Dcreate2(group, d->quantity, H5T_IEEE_F64LE, space, m->link, how, H5P_DEFAULT);
  bool ok = made >= 0 && put_text(made, "unit", d->unit);
  if (d->frame) ok = ok && put_text(made, "frame", d->frame);
  if (d->columns[0]) {
    char letter[ASI_HDF5_COLUMNS][2] = {{0}};
    const char *column[ASI_HDF5_COLUMNS];
    for (int i = 0; i < d->n_columns; ++i) letter[i][0] = d->columns[i], column[i] = letter[i];
    ok = ok && put_texts(made, "columns", column, d->n_columns);
  }
  H5Dclose(made);
  H5Pclose(how);
  H5Sclose(space);
  return ok;
}

/// Where a dataset is: opens its group.
static hid_t open_place(hid_t file, const asi_layout *l, const asi_dataset *d) {
  const hid_t root = H5Gopen2(file, d->error ? ASI_HDF5_ERRORS : "/", H5P_DEFAULT);
  if (d->group == ASI_GROUPS) return root;
  const hid_t group = H5Gopen2(root, asi_group_name(d->group), H5P_DEFAULT);
  H5Gclose(root);
  if (d->object < 0) return group;
  const char *name = asi_names_get(asi_group_names(l->model, l->events, d->group), d->object);
  const hid_t object = H5Gopen2(group, name, H5P_DEFAULT);
  H5Gclose(group);
  return object;
}

/// The groups of values in `root`, or of errors.
static bool make_groups(hid_t root, const asi_layout *l, bool error, const makers *m) {
  bool ok = root >= 0;
  for (int g = 0; g < ASI_GROUPS && ok; ++g) {
    if (!asi_layout_has(l, (asi_group)g, error)) continue;
    const hid_t group = make_group(root, asi_group_name((asi_group)g), m);
    ok = group >= 0;
    if (ok && l->many && g != ASI_GROUP_BLOCKS && asi_group_has_objects((asi_group)g))
      ok = put_names(group, asi_group_names(l->model, l->events, (asi_group)g), m);
    for (int i = 0, last = -1; i < l->n && ok; ++i) {
      const asi_dataset *d = &l->dataset[i];
      if ((int)d->group != g || d->error != error || d->object < 0 || d->object == last) continue;
      const char *name = asi_names_get(asi_group_names(l->model, l->events, d->group), d->object);
      const hid_t object = make_group(group, name, m);
      ok = object >= 0;
      H5Gclose(object);
      last = d->object;
    }
    H5Gclose(group);
  }
  return ok;
}

static bool make_error_groups(hid_t file, const asi_layout *l, const makers *m) {
  const hid_t group = make_group(file, ASI_HDF5_ERRORS, m);
  const bool ok =
      group >= 0 &&
      put_text(
          group, "description",
          "estimated errors, value minus true value, by a second, finer run; NaN: not known") &&
      make_groups(group, l, true, m);
  H5Gclose(group);
  return ok;
}

static bool fill_file(hid_t file, const asi_layout *l, const as_results_writer_def *def) {
  makers m = make_makers();
  bool ok = put_all_texts(file, def, &m) && make_groups(file, l, false, &m);
  if (ok && def->errors) ok = make_error_groups(file, l, &m);
  for (int i = 0; i < l->n && ok; ++i) {
    const asi_dataset *d = &l->dataset[i];
    const hid_t place = open_place(file, l, d);
    ok = place >= 0 && make_dataset(place, l, d, &m);
    if (ok && d->objects && d->n_objects < asi_group_objects(l->model, l->events, d->group))
      ok = put_numbers(place, d, &m);
    H5Gclose(place);
  }
  free_makers(&m);
  return ok;
}

/// Makes PATH.new without rows.
static bool make_file(as_results_writer *r, const as_results_writer_def *def) {
  const size_t size = most_bytes_at_start(&r->layout, def);
  const int made = asi_file_create(r->work);
  if (made < 0) return false;
  close(made);
  if (!reserve(r->work, 0, size) || !reserve_memory(size)) return false;
  const hid_t access = asi_hdf5_access(), how = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_istore_k(how, 8); // small nodes of the chunks' index: there may be thousands of datasets
  H5Pset_obj_track_times(how, false);
  const hid_t file = H5Fcreate(r->work, H5F_ACC_TRUNC, how, access);
  bool ok = file >= 0 && fill_file(file, &r->layout, def);
  if (file >= 0) ok = H5Fclose(file) >= 0 && ok;
  H5Pclose(how);
  H5Pclose(access);
  return ok;
}

// ---- PATH.new ---------------------------------------------------------------------------------------

static bool fits(hid_t dataset, const asi_dataset *d, long rows, bool *longer) {
  hsize_t wanted[3], found[3] = {0};
  const int n = dimensions(d, (hsize_t)rows, wanted);
  const hid_t space = H5Dget_space(dataset);
  bool ok = H5Sget_simple_extent_ndims(space) == n;
  if (ok) H5Sget_simple_extent_dims(space, found, NULL);
  for (int i = 1; i < n; ++i) ok = ok && found[i] == wanted[i];
  H5Sclose(space);
  *longer = *longer || found[0] > wanted[0];
  return ok && found[0] >= wanted[0];
}

/// Whether a dataset has the chunks and filters that make_dataset() gives it.
static bool has_our_chunks(hid_t dataset, const asi_layout *l, const asi_dataset *d) {
  static const H5Z_filter_t filter[] = {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE,
                                        H5Z_FILTER_FLETCHER32};
  hsize_t wanted[3], found[3] = {0};
  const int n = chunk_dimensions(l, d, wanted);
  const hid_t how = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
  bool same = H5Pget_chunk(how, 3, found) == n && H5Pget_nfilters(how) == 3 &&
              H5Tequal(type, H5T_IEEE_F64LE) > 0;
  for (int i = 0; i < n; ++i) same = same && found[i] == wanted[i];
  for (unsigned i = 0; i < 3 && same; ++i) {
    unsigned flags, values[8];
    size_t n_values = 8;
    same = H5Pget_filter2(how, i, &flags, &n_values, values, 0, NULL, NULL) == filter[i];
  }
  H5Tclose(type);
  H5Pclose(how);
  return same;
}

/// Opens PATH.new and its datasets.
static bool open_work(as_results_writer *r, long rows) {
  const asi_layout *l = &r->layout;
  const hid_t access = asi_hdf5_access(), cache = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_chunk_cache(cache, 1, (size_t)1 << 20, 1.0); // only the last chunk is written again
  r->file = H5Fopen(r->work, H5F_ACC_RDWR, access);
  bool ok = r->file >= 0;
  for (int i = 0; i < l->n && ok; ++i) {
    const hid_t place = open_place(r->file, l, &l->dataset[i]);
    r->dataset[i] = H5Dopen2(place, l->dataset[i].quantity, cache);
    H5Gclose(place);
    ok = r->dataset[i] >= 0 && fits(r->dataset[i], &l->dataset[i], rows, &r->longer);
    r->ours[i] = ok && has_our_chunks(r->dataset[i], l, &l->dataset[i]);
  }
  H5Pclose(cache);
  H5Pclose(access);
  return ok;
}

static bool close_work(as_results_writer *r) {
  if (r->file < 0) return true;
  for (int i = 0; i < r->layout.n; ++i)
    if (r->dataset[i] >= 0) H5Dclose(r->dataset[i]);
  for (int i = 0; i < r->layout.n; ++i) r->dataset[i] = -1;
  const bool ok = H5Fclose(r->file) >= 0;
  r->file = -1;
  return ok;
}

/// Goes on with a copy of PATH.
static as_status take_up(as_results_writer *r, long rows, as_error *error) {
  uint64_t size = 0;
  const char *why = asi_hdf5_verify(r->path, &size);
  if (why)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be continued: %s.",
                    r->path, why);
  errno = 0;
  if (!asi_hdf5_copy(r->path, r->work, size, false, false) || !reserve_memory(0))
    return fail_write(r, error);
  if (open_work(r, rows)) return AS_OK;
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                  "%.300s cannot be continued: it does not hold %ld rows of these channels.",
                  r->path, rows);
}

// ---- rows -------------------------------------------------------------------------------------------

/// Numbers of `rows` lines for `objects` objects of a dataset, from `object` on.
static double *gather(const as_results_writer *r, const asi_dataset *d, long row, long rows,
                      int object, int objects, double *to) {
  const int *pick = d->pick + (ptrdiff_t)object * d->n_columns;
  const int n = objects * d->n_columns;
  for (long k = row; k < row + rows; ++k) {
    const double *line = r->lines + (size_t)(k - r->first) * (size_t)r->layout.width;
    for (int c = 0; c < n; ++c) *to++ = pick[c] < 0 ? (double)NAN : line[pick[c]];
  }
  return to;
}

/// HDF5's checksum of a chunk: sums of words of two bytes, the high one first, and of these sums, both modulo 65535.
static uint32_t fletcher32(const unsigned char *byte, size_t size) {
  uint32_t sum = 0, sum_of_sums = 0;
  for (size_t i = 0; i < size;) {
    const size_t most = size - i < 720 ? size : i + 720; // 360 words do not overflow
    for (; i < most; i += 2) {
      sum += (uint32_t)byte[i] << 8 | (i + 1 < size ? byte[i + 1] : 0u);
      sum_of_sums += sum;
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum_of_sums = (sum_of_sums & 0xffff) + (sum_of_sums >> 16);
  }
  sum = (sum & 0xffff) + (sum >> 16);
  sum_of_sums = (sum_of_sums & 0xffff) + (sum_of_sums >> 16);
  return sum_of_sums << 16 | sum;
}

/// Writes a chunk of `n` numbers, `columns` of an object, `width` of a row, as HDF5's filters would.
static bool write_chunk(as_results_writer *r, int i, const hsize_t *begin, size_t n, size_t columns,
                        size_t width) {
  asi_shuffle(r->values, n, sizeof(double), r->planes);
  size_t size = asi_pack(r->packer, r->planes, n * sizeof(double), n, columns, width, r->packed);
  const uint32_t sum = fletcher32(r->packed, size);
  for (int k = 0; k < 4; ++k) r->packed[size++] = (unsigned char)(sum >> 8 * k);
  return H5Dwrite_chunk(r->dataset[i], H5P_DEFAULT, 0, begin, size, r->packed) >= 0;
}

/// Writes all chunks of a dataset that begin at a row; what is not there yet is zero.
static bool write_chunks(as_results_writer *r, int i, long row, long rows) {
  const asi_dataset *d = &r->layout.dataset[i];
  const long chunk = chunk_rows(&r->layout, d);
  const int most = d->n_objects < ASI_HDF5_CHUNK_OBJECTS ? d->n_objects : ASI_HDF5_CHUNK_OBJECTS;
  const size_t width = (size_t)most * (size_t)d->n_columns, n = (size_t)chunk * width;
  bool ok = true;
  for (int object = 0; object < d->n_objects && ok; object += most) {
    const int objects = d->n_objects - object < most ? d->n_objects - object : most;
    const hsize_t begin[3] = {(hsize_t)row, d->objects ? (hsize_t)object : 0, 0};
    if (objects < most || rows < chunk) memset(r->values, 0, n * sizeof *r->values);
    for (long k = 0; k < rows; ++k)
      gather(r, d, row + k, 1, object, objects, r->values + (size_t)k * width);
    ok = write_chunk(r, i, begin, n, (size_t)d->n_columns, width);
  }
  return ok;
}

/// Writes a part of a chunk: HDF5 keeps it for what comes next.
static bool write_part(as_results_writer *r, int i, long row, long rows) {
  const asi_dataset *d = &r->layout.dataset[i];
  hsize_t size[3], begin[3] = {(hsize_t)row, 0, 0};
  const int n = dimensions(d, (hsize_t)rows, size);
  const size_t width = (size_t)d->n_objects * (size_t)d->n_columns;
  const long most = (long)(r->n_values / width); // rows at a time
  const hid_t space = H5Dget_space(r->dataset[i]);
  bool ok = true;
  for (long done = 0; done < rows && ok; done += (long)size[0]) {
    size[0] = (hsize_t)(rows - done < most ? rows - done : most);
    begin[0] = (hsize_t)(row + done);
    gather(r, d, row + done, (long)size[0], 0, d->n_objects, r->values);
    const hid_t memory = H5Screate_simple(n, size, NULL);
    ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, size, NULL) >= 0 &&
         H5Dwrite(r->dataset[i], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, r->values) >= 0;
    H5Sclose(memory);
  }
  H5Sclose(space);
  return ok;
}

/// Writes the lines to one of the datasets.
static bool write_lines(as_results_writer *r, int i) {
  const long chunk = chunk_rows(&r->layout, &r->layout.dataset[i]);
  bool ok = true;
  for (long row = r->first, end; row < r->rows && ok; row = end) {
    end = row - row % chunk + chunk;
    const bool whole = row % chunk == 0 && (end <= r->rows || r->closing);
    if (end > r->rows) end = r->rows;
    ok =
        whole && r->ours[i] ? write_chunks(r, i, row, end - row) : write_part(r, i, row, end - row);
  }
  return ok;
}

/// Brings all rows into PATH.new.
static bool catch_up(as_results_writer *r) {
  const size_t most = most_bytes(&r->layout, r->rows - r->first);
  hsize_t size = 0;
  bool ok =
      H5Fget_filesize(r->file, &size) >= 0 && reserve(r->work, size, most) && reserve_memory(most);
  for (int i = 0; i < r->layout.n && ok; ++i) {
    hsize_t extent[3];
    dimensions(&r->layout.dataset[i], (hsize_t)r->rows, extent);
    ok = H5Dset_extent(r->dataset[i], extent) >= 0 && write_lines(r, i);
  }
  r->first = r->rows; // no line is needed any more
  return ok;
}

/// The same, and gives its size.
static bool complete(as_results_writer *r, hsize_t *size) {
  return catch_up(r) && H5Fflush(r->file, H5F_SCOPE_LOCAL) >= 0 &&
         H5Fget_filesize(r->file, size) >= 0;
}

static bool is_shown(const as_results_writer *r) { return r->shown == r->rows && !r->longer; }

static as_status note_shown(as_results_writer *r) {
  r->shown = r->rows;
  r->longer = false;
  return AS_OK;
}

/// Shows a copy of PATH.new as PATH.
static as_status flush(as_results_writer *r, as_error *error) {
  hsize_t size = 0;
  if (r->broken) return asi_fail_write(r->path, r->reason, error);
  if (is_shown(r)) return AS_OK;
  errno = 0;
  const bool ok = complete(r, &size) && asi_hdf5_copy(r->work, r->copy, size, true, r->sync) &&
                  asi_file_rename(r->copy, r->path, r->sync);
  return ok ? note_shown(r) : fail_write(r, error);
}

/// Makes PATH.new PATH.
static as_status finish(as_results_writer *r, as_error *error) {
  hsize_t size = 0;
  if (r->broken || is_shown(r)) return AS_OK;
  errno = 0;
  r->closing = true;
  const bool ok = complete(r, &size) && close_work(r) && asi_hdf5_seal(r->work, size, r->sync) &&
                  asi_file_rename(r->work, r->path, r->sync);
  return ok ? note_shown(r) : fail_write(r, error);
}

/// Makes room for lines, and shows what has come since it was shown last where that is most of it.
static as_status make_room(as_results_writer *r, as_error *error) {
  if (r->broken || r->rows >= SHOWN_SHARE * r->shown) return flush(r, error);
  errno = 0;
  return catch_up(r) ? AS_OK : fail_write(r, error);
}

as_status as_results_writer_flush(as_results_writer *r, as_error *error) {
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const as_status status = flush(r, error);
  asi_hdf5_restore(voice);
  return status;
}

as_status as_results_writer_row(as_results_writer *r, double t, const double *row, int n,
                                const double *poses, as_error *error) {
  return as_results_writer_row_errors(r, t, row, n, poses, NULL, NULL, error);
}

/// Numbers, or as many NANs.
static void put_numbers_or_none(double *to, const double *from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = from ? from[i] : (double)NAN;
}

as_status as_results_writer_row_errors(as_results_writer *r, double t, const double *row, int n,
                                       const double *poses, const double *errors,
                                       const double *pose_errors, as_error *error) {
  const int numbers = (r->layout.width - 1) / (r->errors ? 2 : 1);
  const int expected = numbers - AS_POSE * r->layout.model->n_bodies;
  if (n != expected)
    return asi_fail(error, AS_ERR_ARGUMENT, t, NULL, "A row of %d numbers for a file of %d.", n,
                    expected);
  if (r->broken || r->rows - r->first >= r->room) {
    const asi_hdf5_voice voice = asi_hdf5_hush();
    const as_status status = make_room(r, error);
    asi_hdf5_restore(voice);
    if (status) return status;
  }
  double *line = r->lines + (size_t)(r->rows - r->first) * (size_t)r->layout.width;
  line[0] = t;
  memcpy(line + 1, row, (size_t)n * sizeof *line);
  memcpy(line + 1 + n, poses, (size_t)(numbers - n) * sizeof *line);
  if (r->errors) {
    put_numbers_or_none(line + 1 + numbers, errors, (size_t)n);
    put_numbers_or_none(line + 1 + numbers + n, pose_errors, (size_t)(numbers - n));
  }
  ++r->rows;
  return AS_OK;
}

long as_results_writer_rows(const as_results_writer *r) { return r->shown; }

// ---- create and close -------------------------------------------------------------------------------

static bool take_memory(as_results_writer *r, const char *path) {
  const size_t width = (size_t)r->layout.width;
  r->path = asi_file_beside(path, "");
  r->work = asi_file_beside(path, ".new");
  r->copy = asi_file_beside(path, ".copy");
  r->room = (long)(WAITING / (width * sizeof(double)));
  long whole = r->layout.many ? CHUNK_ROWS_LEAST : CHUNK_ROWS; // chunks
  while (whole < CHUNK_ROWS && 2 * whole <= r->room) whole *= 2;
  r->room = r->room < whole ? whole : r->room - r->room % whole;
  r->lines = asi_calloc((size_t)r->room * width, sizeof *r->lines);
  r->n_values = width > CHUNK ? width : CHUNK;
  r->values = asi_calloc(r->n_values, sizeof *r->values);
  r->planes = asi_calloc(CHUNK, sizeof(double));
  r->packed = asi_calloc(asi_pack_bound(CHUNK * sizeof(double)) + 4, 1); // and a checksum
  r->packer = asi_calloc(1, sizeof *r->packer);
  r->dataset = asi_calloc((size_t)r->layout.n, sizeof(hid_t));
  r->ours = asi_calloc((size_t)r->layout.n, sizeof *r->ours);
  for (int i = 0; i < r->layout.n && r->dataset; ++i) r->dataset[i] = -1;
  return r->path && r->work && r->copy && r->lines && r->values && r->planes && r->packed &&
         r->packer && r->dataset && r->ours;
}

/// Frees without writing anything more.
static void destroy(as_results_writer *r) {
  if (r->dataset) (void)close_work(r);
  if (r->work) (void)remove(r->work);
  if (r->copy) (void)remove(r->copy);
  asi_layout_free(&r->layout);
  free(r->dataset);
  free(r->path);
  free(r->work);
  free(r->copy);
  free(r->ours);
  free(r->lines);
  free(r->values);
  free(r->planes);
  free(r->packed);
  free(r->packer);
  free(r);
}

/// A new file, which is shown at once.
static as_status make(as_results_writer *r, const as_results_writer_def *def, as_error *error) {
  const char *obstacle = asi_file_obstacle(r->path);
  if (obstacle)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be written: %s.", r->path,
                    obstacle);
  errno = 0;
  if (!make_file(r, def) || !open_work(r, 0)) return fail_write(r, error);
  r->shown = -1;
  return flush(r, error);
}

/// rows < 0: a new file.
static as_status begin(const char *path, const as_results_writer_def *def, long rows,
                       as_results_writer **out, as_error *error) {
  *out = NULL;
  const as_status made = ASI_CHECK_DEFINITION(as_results_writer_def, def, error);
  if (made) return made;
  if (path == NULL || def->model == NULL || def->channels == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "Results need a path, a model and channels.");
  as_results_writer *r = asi_calloc(1, sizeof *r);
  if (r == NULL) return asi_fail_memory(error);
  r->file = -1;
  r->errors = def->errors;
  r->sync = !def->no_sync;
  r->rows = r->first = r->shown = rows < 0 ? 0 : rows;
  const asi_hdf5_voice voice = asi_hdf5_hush();
  as_status status = asi_layout_make(&r->layout, def->model, def->channels, def->errors, error);
  if (status == AS_OK && !take_memory(r, path)) status = asi_fail_memory(error);
  if (status == AS_OK) status = rows < 0 ? make(r, def, error) : take_up(r, rows, error);
  if (status) destroy(r);
  asi_hdf5_restore(voice);
  if (status == AS_OK) *out = r;
  return status;
}

as_status as_results_writer_create(const char *path, const as_results_writer_def *def,
                                   as_results_writer **out, as_error *error) {
  return begin(path, def, -1, out, error);
}

as_status as_results_writer_continue(const char *path, const as_results_writer_def *def, long rows,
                                     as_results_writer **out, as_error *error) {
  if (rows < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%ld rows cannot be kept.", rows);
  return begin(path, def, rows, out, error);
}

as_status as_results_writer_close(as_results_writer *r, as_error *error) {
  if (r == NULL) return AS_OK;
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const as_status status = finish(r, error);
  destroy(r);
  asi_hdf5_restore(voice);
  return status;
}
