/// study.h5: what came of a study, made in memory and written in one piece.
///
///     /              attributes format = "alphastep study", format_version = 1, version, title; runs: of the whole study
///     /run           [run] number, from 1, of each run that is over
///     /status        [run] done, stopped or failed
///     /t             [run] how far it came [s]
///     /message       [run]
///     /parameters    [run, parameter] numbers; NAN: the value is none. Attribute names
///     /settings      [run, parameter] the same as texts, as in the table
///     /results       [run, result] attributes names, units, channels, measures, from, to [s]
///     /study         the study as a study file
///
/// Chunks have checksums, and a digest stands behind the whole, as in results.h5.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/version.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/file.h"
#include "results/hdf5.h"
#include "study/study.h"

#define FORMAT "alphastep study"
enum {
  FORMAT_VERSION = 1,
  CHUNK = 1 << 16, ///< bytes, about
  GROWTH = 1 << 20 ///< of the file in memory [bytes]
};

/// Runs that are over.
typedef struct rows {
  const as_study *study;
  long *run;
  size_t n;
} rows;

// ---- attributes and datasets ------------------------------------------------------------------------

/// Texts of the same size: that of the longest, with its end.
typedef struct column {
  char *text;
  size_t n, size;
} column;

static bool begin_column(column *c, size_t n, size_t longest) {
  *c = (column){asi_calloc(n, longest + 1), n, longest + 1};
  return c->text != NULL;
}

static void put_in_column(column *c, size_t i, const char *text) {
  memcpy(c->text + i * c->size, text, strlen(text));
}

static hid_t text_type(const char *text, size_t n, size_t size) {
  H5T_cset_t set = H5T_CSET_ASCII; // where that is enough: Octave reads nothing else
  for (size_t i = 0; i < n * size; ++i)
    if ((unsigned char)text[i] > 127) set = H5T_CSET_UTF8;
  return asi_hdf5_text_type(size, set);
}

/// An attribute of n things; n = 0: of one.
static bool put_attribute(hid_t place, const char *name, hid_t in_file, hid_t in_memory, size_t n,
                          const void *value) {
  const hsize_t count = n;
  const hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  const hid_t made = H5Acreate2(place, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = made >= 0 && H5Awrite(made, in_memory, value) >= 0;
  H5Aclose(made);
  H5Sclose(space);
  return ok;
}

static bool put_text(hid_t place, const char *name, const char *text) {
  const hid_t type = text_type(text, 1, strlen(text) + 1);
  const bool ok = put_attribute(place, name, type, type, 0, text);
  H5Tclose(type);
  return ok;
}

static bool put_texts(hid_t place, const char *name, const char *const *text, int n) {
  size_t longest = 0;
  column c;
  for (int i = 0; i < n; ++i) longest = strlen(text[i]) > longest ? strlen(text[i]) : longest;
  if (n == 0) return true;
  if (!begin_column(&c, (size_t)n, longest)) return false;
  for (int i = 0; i < n; ++i) put_in_column(&c, (size_t)i, text[i]);
  const hid_t type = text_type(c.text, c.n, c.size);
  const bool ok = put_attribute(place, name, type, type, c.n, c.text);
  H5Tclose(type);
  free(c.text);
  return ok;
}

/// A dataset [n, width], or [n] for width = 0; -1: it could not be made. An empty one has no chunks.
static hid_t put_data(hid_t file, const char *name, hid_t in_file, hid_t in_memory, size_t n,
                      size_t width, const void *data) {
  const size_t columns = width > 0 ? width : 1, bytes = columns * H5Tget_size(in_file);
  const size_t fit = bytes < CHUNK ? CHUNK / bytes : 1;
  const hsize_t size[2] = {n, width}, chunk[2] = {n < fit ? n : fit, width};
  const int rank = width > 0 ? 2 : 1;
  const hid_t space = H5Screate_simple(rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, false); // files can be compared
  if (n > 0) {
    H5Pset_chunk(how, rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    H5Pset_fletcher32(how);
  }
  hid_t set = H5Dcreate2(file, name, in_file, space, H5P_DEFAULT, how, H5P_DEFAULT);
  if (set >= 0 && n > 0 && H5Dwrite(set, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    H5Dclose(set);
    set = -1;
  }
  H5Pclose(how);
  H5Sclose(space);
  return set;
}

static bool end_data(hid_t set, bool ok) { return set >= 0 && H5Dclose(set) >= 0 && ok; }

static bool put_column(hid_t file, const char *name, const column *c, size_t width) {
  const hid_t type = text_type(c->text, c->n, c->size);
  const hid_t set =
      put_data(file, name, type, type, width > 0 ? c->n / width : c->n, width, c->text);
  H5Tclose(type);
  return end_data(set, true);
}

// ---- what a study has -------------------------------------------------------------------------------

static bool put_runs(hid_t file, const rows *r) {
  const as_study *s = r->study;
  size_t longest = 0;
  column status = {0}, message = {0};
  double *t = asi_calloc(r->n, sizeof *t);
  long *number = asi_calloc(r->n, sizeof *number);
  for (size_t i = 0; i < r->n; ++i) {
    const size_t length = strlen(as_study_run_get(s, r->run[i]).message);
    longest = length > longest ? length : longest;
  }
  bool ok = t && number && begin_column(&status, r->n, strlen("stopped")) &&
            begin_column(&message, r->n, longest);
  for (size_t i = 0; ok && i < r->n; ++i) {
    const as_study_run run = as_study_run_get(s, r->run[i]);
    number[i] = r->run[i] + 1;
    t[i] = run.t;
    put_in_column(&status, i, as_study_outcome_name(run.outcome));
    put_in_column(&message, i, run.message);
  }
  ok = ok && end_data(put_data(file, "run", H5T_STD_I64LE, H5T_NATIVE_LONG, r->n, 0, number), true);
  ok = ok && put_column(file, "status", &status, 0) && put_column(file, "message", &message, 0);
  if (ok) {
    const hid_t set = put_data(file, "t", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, r->n, 0, t);
    ok = end_data(set, set >= 0 && put_text(set, "unit", "s"));
  }
  free(status.text);
  free(message.text);
  free(number);
  free(t);
  return ok;
}

static bool put_parameters(hid_t file, const rows *r) {
  const as_study *s = r->study;
  const size_t n = (size_t)s->def.n_parameters;
  int longest = 0;
  column setting = {0};
  if (n == 0) return true;
  double *number = asi_calloc(r->n * n, sizeof *number);
  const char **name = asi_calloc(n, sizeof *name);
  for (size_t i = 0; i < r->n * n; ++i) {
    const int length = as_study_setting(s, r->run[i / n], (int)(i % n), NULL, 0);
    longest = length > longest ? length : longest;
  }
  bool ok = number && name && begin_column(&setting, r->n * n, (size_t)longest);
  for (size_t i = 0; ok && i < r->n * n; ++i) {
    number[i] = as_study_number(s, r->run[i / n], (int)(i % n));
    (void)as_study_setting(s, r->run[i / n], (int)(i % n), setting.text + i * setting.size,
                           setting.size);
  }
  for (size_t i = 0; ok && i < n; ++i) name[i] = s->def.parameters[i].path;
  if (ok) {
    const hid_t set =
        put_data(file, "parameters", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, r->n, n, number);
    ok = end_data(set, set >= 0 && put_texts(set, "names", name, (int)n));
  }
  ok = ok && put_column(file, "settings", &setting, n);
  free(setting.text);
  free(name);
  free(number);
  return ok;
}

/// Names, units and windows of the results.
static bool describe_results(hid_t set, const as_study *s) {
  const int n = s->def.n_results;
  const char **name = asi_calloc((size_t)n, sizeof *name);
  const char **measure = asi_calloc((size_t)n, sizeof *measure);
  double *window = asi_calloc(2 * (size_t)n, sizeof *window);
  bool ok = name && measure && window;
  for (int i = 0; ok && i < n; ++i) {
    const as_study_result *r = &s->def.results[i];
    name[i] = r->name;
    measure[i] = as_study_measure_name(r->measure);
    window[i] = r->from;
    window[n + i] = r->to;
  }
  ok = ok && put_texts(set, "names", name, n) && put_texts(set, "measures", measure, n);
  for (int i = 0; ok && i < n; ++i) name[i] = s->unit[i];
  ok = ok && put_texts(set, "units", name, n);
  for (int i = 0; ok && i < n; ++i) name[i] = s->channel[i];
  ok = ok && put_texts(set, "channels", name, n) &&
       put_attribute(set, "from", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (size_t)n, window) &&
       put_attribute(set, "to", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (size_t)n, window + n);
  free(name);
  free(measure);
  free(window);
  return ok;
}

static bool put_results(hid_t file, const rows *r) {
  const as_study *s = r->study;
  const size_t n = (size_t)s->def.n_results;
  double *value = asi_calloc(r->n * n, sizeof *value);
  if (value == NULL) return false;
  for (size_t i = 0; i < r->n; ++i)
    memcpy(value + i * n, as_study_run_get(s, r->run[i]).value, n * sizeof *value);
  const hid_t set = put_data(file, "results", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, r->n, n, value);
  free(value);
  return end_data(set, set >= 0 && describe_results(set, s));
}

/// The study as a study file.
static bool put_definition(hid_t file, const as_study *s) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return false;
  as_study_write_definition(out, s);
  const bool whole = !ferror(out);
  const bool ok = fclose(out) == 0 && whole;
  const column c = {text, 1, size + 1};
  const bool put = ok && put_column(file, "study", &c, 0);
  free(text);
  return put;
}

static bool put_all(hid_t file, const rows *r) {
  const as_study *s = r->study;
  const int version = FORMAT_VERSION;
  return put_text(file, "format", FORMAT) && put_text(file, "version", as_version()) &&
         put_attribute(file, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &version) &&
         put_attribute(file, "runs", H5T_STD_I64LE, H5T_NATIVE_LONG, 0, &s->runs) &&
         (s->def.title == NULL || put_text(file, "title", s->def.title)) && put_runs(file, r) &&
         put_parameters(file, r) && put_results(file, r) && put_definition(file, s);
}

// ---- the file ---------------------------------------------------------------------------------------

/// The bytes that HDF5 works on, which are ours when it closes the file. H5Fget_file_image() would spoil the checksum of the first block.
typedef struct image {
  unsigned char *bytes;
  size_t size;
} image;

static void *take_memory(size_t size, H5FD_file_image_op_t op, void *user) {
  (void)op, (void)user;
  return malloc(size);
}

static void *take_more(void *bytes, size_t size, H5FD_file_image_op_t op, void *user) {
  (void)op, (void)user;
  return realloc(bytes, size);
}

static herr_t give_back(void *bytes, H5FD_file_image_op_t op, void *user) {
  if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
    ((image *)user)->bytes = bytes;
  else
    free(bytes);
  return 0;
}

static void *copy_user(void *user) { return user; }

static herr_t free_user(void *user) {
  (void)user;
  return 0;
}

/// Makes the file; its bytes are to be freed. False: there is no memory.
static bool make_image(const rows *r, image *out) {
  H5FD_file_image_callbacks_t memory = {.image_malloc = take_memory,
                                        .image_realloc = take_more,
                                        .image_free = give_back,
                                        .udata_copy = copy_user,
                                        .udata_free = free_user,
                                        .udata = out};
  const hid_t access = asi_hdf5_access(), how = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_fapl_core(access, GROWTH, false);
  H5Pset_file_image_callbacks(access, &memory);
  H5Pset_obj_track_times(how, false);
  const hid_t file = H5Fcreate("study.h5", H5F_ACC_TRUNC, how, access);
  hsize_t size = 0;
  bool ok = file >= 0 && put_all(file, r) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 &&
            H5Fget_filesize(file, &size) >= 0;
  if (file >= 0 && H5Fclose(file) < 0) ok = false;
  H5Pclose(how);
  H5Pclose(access);
  out->size = (size_t)size;
  return ok && out->bytes != NULL;
}

static bool list_runs(rows *r) {
  const as_study *s = r->study;
  r->run = asi_calloc((size_t)s->runs, sizeof *r->run);
  for (long i = 0; r->run && i < s->runs; ++i)
    if (s->record[i].outcome != AS_STUDY_WAITING) r->run[r->n++] = i;
  return r->run != NULL;
}

as_status as_study_write_hdf5(FILE *out, const as_study *study, as_error *error) {
  rows r = {.study = study};
  image whole = {NULL, 0};
  if (!list_runs(&r)) return asi_fail_memory(error);
  asi_hdf5_lock();
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const bool made = make_image(&r, &whole);
  asi_hdf5_restore(voice);
  asi_hdf5_unlock();
  free(r.run);
  if (made) {
    unsigned char seal[ASI_HDF5_SEAL_SIZE];
    asi_hdf5_make_seal(whole.bytes, whole.size, seal);
    (void)fwrite(whole.bytes, 1, whole.size, out);
    (void)fwrite(seal, 1, sizeof seal, out);
  }
  free(whole.bytes);
  return made ? asi_error_clear(error) : asi_fail_memory(error);
}
