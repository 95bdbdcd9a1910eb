/// Flexible bodies in HDF5 files (alphastep/flexible_file.h).
///
///     /                attributes format = "alphastep flexible body", format_version = 1, version, mass [kg], mode_count
///     /interfaces      names [k + 1], positions [k + 1, 3], rotations [k + 1]: 0 or 1
///     /inertia         P [3, n], A0 [3, 3], A [n, 3, 3], H0 [3, n], H [n, 3, n], J0 [3, 3], J1 [n, 3, 3], J2 [n, n, 3, 3], M [n, n]
///     /elasticity      K [n, n], C [n, n]
///     /mesh            ids [points], positions [points, 3], shapes [points, 3, n], triangles [triangles, 3]
///     /stress          ids [points], matrices [points, 6, n]
///
/// What is NULL or empty is not there. A digest stands behind the whole, as in results.h5. Nothing in a file is trusted: a dataset has the size that follows
/// from the interfaces and modes, and no more numbers than the file's own size allows, before memory is taken.
#define _POSIX_C_SOURCE 200809L // stat

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "alphastep/flexible_file.h"
#include "alphastep/version.h"
#include "base/error.h"
#include "base/file.h"
#include "results/hdf5.h"

#define FORMAT "alphastep flexible body"
enum {
  FORMAT_VERSION = 1,
  RANK = 4,
  RATIO = 1100,           // deflate makes nothing smaller than by this
  CHUNK = 1 << 16,        // numbers
  MOST_INTERFACES = 1334, // the frame and 1333 nodes of three coordinates
  MOST_NAME = 256,
};

/// A dataset: where it is, and its dimensions.
typedef struct array {
  const char *name;
  int rank;
  size_t size[RANK];
} array;

static size_t count_of(const array *a) {
  size_t n = 1;
  for (int i = 0; i < a->rank; ++i) n *= a->size[i];
  return n;
}

enum { N_ARRAYS = 13 };

/// The arrays of doubles but the positions, as far as sizes are known.
static void list_arrays(const as_flexible_data *d, array out[N_ARRAYS]) {
  const size_t n = (size_t)d->coordinate_count, points = (size_t)d->mesh_count;
  const array all[N_ARRAYS] = {
      {"inertia/P", 2, {3, n}},
      {"inertia/A0", 2, {3, 3}},
      {"inertia/A", 3, {n, 3, 3}},
      {"inertia/H0", 2, {3, n}},
      {"inertia/H", 3, {n, 3, n}},
      {"inertia/J0", 2, {3, 3}},
      {"inertia/J1", 3, {n, 3, 3}},
      {"inertia/J2", 4, {n, n, 3, 3}},
      {"inertia/M", 2, {n, n}},
      {"elasticity/K", 2, {n, n}},
      {"elasticity/C", 2, {n, n}},
      {"mesh/shapes", 3, {points, 3, n}},
      {"stress/matrices", 3, {(size_t)d->stress_count, 6, n}},
  };
  memcpy(out, all, sizeof all);
}

/// Where the arrays of that list are in the struct.
static void place_arrays(as_flexible_data *d, const double **out[N_ARRAYS]) {
  const double **const all[N_ARRAYS] = {&d->P,
                                        &d->A0,
                                        &d->A,
                                        &d->H0,
                                        &d->H,
                                        &d->J0,
                                        &d->J1,
                                        &d->J2,
                                        &d->M,
                                        &d->K,
                                        &d->C,
                                        &d->mesh_shapes,
                                        &d->stress_matrices};
  memcpy(out, all, sizeof all);
}

// ---- writing ----------------------------------------------------------------------------------------

/// A dataset of a type in memory, as another one in the file; NULL or empty: none. Large ones are compressed.
static bool put(hid_t file, const array *a, hid_t in_file, hid_t in_memory, const void *data) {
  hsize_t size[RANK] = {0}, chunk[RANK] = {0}, inner = 1;
  const size_t n = count_of(a);
  if (data == NULL || n == 0) return true;
  for (int i = a->rank - 1; i >= 0; --i) {
    const hsize_t room = inner > 0 && inner < CHUNK ? CHUNK / inner : 1;
    size[i] = a->size[i];
    chunk[i] = size[i] < room ? size[i] : room;
    inner *= chunk[i];
  }
  const hid_t space = H5Screate_simple(a->rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  if (n > 64) {
    H5Pset_chunk(how, a->rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 4);
  }
  const hid_t set = H5Dcreate2(file, a->name, in_file, space, H5P_DEFAULT, how, H5P_DEFAULT);
  const bool ok = set >= 0 && H5Dwrite(set, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  H5Dclose(set);
  H5Pclose(how);
  H5Sclose(space);
  return ok;
}

static bool put_attribute(hid_t file, const char *name, hid_t in_file, hid_t in_memory,
                          const void *value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Acreate2(file, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = made >= 0 && H5Awrite(made, in_memory, value) >= 0;
  H5Aclose(made);
  H5Sclose(space);
  return ok;
}

static bool put_text(hid_t file, const char *name, const char *text) {
  const hid_t type = asi_hdf5_text_type(strlen(text) + 1, H5T_CSET_UTF8);
  const bool ok = put_attribute(file, name, type, type, text);
  H5Tclose(type);
  return ok;
}

static bool put_names(hid_t file, const as_flexible_data *d) {
  size_t longest = 1;
  const size_t count = (size_t)d->interface_count;
  for (size_t i = 0; i < count; ++i)
    if (strlen(d->interface_names[i]) > longest) longest = strlen(d->interface_names[i]);
  char *text = asi_calloc(count, longest + 1);
  if (text == NULL) return false;
  for (size_t i = 0; i < count; ++i)
    memcpy(text + i * (longest + 1), d->interface_names[i], strlen(d->interface_names[i]));
  const array a = {"interfaces/names", 1, {count}};
  const hid_t type = asi_hdf5_text_type(longest + 1, H5T_CSET_UTF8);
  const bool ok = put(file, &a, type, type, text);
  H5Tclose(type);
  free(text);
  return ok;
}

static bool put_interfaces(hid_t file, const as_flexible_data *d) {
  const size_t count = (size_t)d->interface_count;
  unsigned char *rotations = asi_calloc(count, 1);
  for (size_t i = 0; rotations && i < count; ++i) rotations[i] = d->interface_rotations[i];
  const array positions = {"interfaces/positions", 2, {count, 3}},
              flags = {"interfaces/rotations", 1, {count}};
  const bool ok =
      rotations && put_names(file, d) &&
      put(file, &positions, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, d->interface_positions) &&
      put(file, &flags, H5T_STD_U8LE, H5T_NATIVE_UCHAR, rotations);
  free(rotations);
  return ok;
}

static bool put_mesh(hid_t file, const as_flexible_data *d) {
  const size_t points = (size_t)d->mesh_count;
  const array ids = {"mesh/ids", 1, {points}}, positions = {"mesh/positions", 2, {points, 3}},
              triangles = {"mesh/triangles", 2, {(size_t)d->triangle_count, 3}},
              stressed = {"stress/ids", 1, {(size_t)d->stress_count}};
  return put(file, &ids, H5T_STD_I64LE, H5T_NATIVE_LONG, d->mesh_ids) &&
         put(file, &positions, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, d->mesh_positions) &&
         put(file, &triangles, H5T_STD_I32LE, H5T_NATIVE_INT, d->triangles) &&
         put(file, &stressed, H5T_STD_I64LE, H5T_NATIVE_LONG, d->stress_ids);
}

static bool put_groups(hid_t file) {
  static const char *const name[] = {"interfaces", "inertia", "elasticity", "mesh", "stress"};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof name / sizeof name[0]; ++i) {
    const hid_t group = H5Gcreate2(file, name[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ok = group >= 0;
    H5Gclose(group);
  }
  return ok;
}

static bool put_body(hid_t file, const as_flexible_data *d) {
  as_flexible_data copy = *d;
  const int version = FORMAT_VERSION;
  array list[N_ARRAYS];
  const double **from[N_ARRAYS];
  list_arrays(d, list);
  place_arrays(&copy, from);
  bool ok = put_text(file, "format", FORMAT) && put_text(file, "version", as_version()) &&
            put_attribute(file, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, &version) &&
            put_attribute(file, "mode_count", H5T_STD_I32LE, H5T_NATIVE_INT, &d->mode_count) &&
            put_attribute(file, "mass", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &d->mass) &&
            put_groups(file) && put_interfaces(file, d) && put_mesh(file, d);
  for (int i = 0; ok && i < N_ARRAYS; ++i)
    ok = put(file, &list[i], H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, *from[i]);
  return ok;
}

/// Writes a file that is there; false: errno says why, or is 0.
static bool fill_file(const char *path, const as_flexible_data *d) {
  errno = 0;
  const hid_t access = asi_hdf5_access();
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  bool ok = file >= 0 && put_body(file, d);
  if (file >= 0 && H5Fclose(file) < 0) ok = false;
  H5Pclose(access);
  return ok;
}

/// Puts the digest behind a closed file.
static bool seal_file(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && asi_hdf5_seal(path, (uint64_t)about.st_size, true);
}

/// HDF5 opens the draft by its name; what is open here keeps it locked until it has its own.
static as_status write_draft(const char *path, const as_flexible_data *d, as_error *error) {
  asi_draft draft;
  as_status status = asi_draft_open(&draft, path, error);
  if (status) return status;
  const asi_hdf5_voice voice = asi_hdf5_hush();
  if (!fill_file(draft.beside, d) || !seal_file(draft.beside))
    status = asi_fail_write(path, errno, error);
  asi_hdf5_restore(voice);
  return asi_draft_close(&draft, status, true, error);
}

as_status as_flexible_write(const char *path, const as_flexible_data *data, as_error *error) {
  if (path == NULL) return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The path is NULL.");
  as_status status = as_flexible_check(data, error);
  if (status) return status;
  asi_hdf5_lock();
  status = H5open() >= 0 ? write_draft(path, data, error) : asi_fail_memory(error);
  asi_hdf5_unlock();
  return status;
}

// ---- reading ----------------------------------------------------------------------------------------

/// A file that is being read, and what has been taken from it.
typedef struct source {
  const char *path;
  hid_t file;
  double most; ///< bytes that its datasets may have
  as_flexible_data d;
  void *taken[32];
  int n_taken;
  as_error *error;
} source;

static as_status fail(const source *s, const char *name, const char *why) {
  if (asi_hdf5_lacks_memory()) return asi_fail_memory(s->error);
  if (name == NULL)
    asi_fail(s->error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be read: %.200s.", s->path,
             why);
  else
    asi_fail(s->error, AS_ERR_FILE, (double)NAN, name, "%.300s cannot be read: %.60s %.200s.",
             s->path, name, why);
  return AS_ERR_FILE;
}

static void *keep(source *s, void *block) {
  s->taken[s->n_taken++] = block;
  return block;
}

/// Whether each part of a path is a link to something in this file, by no detour.
static bool is_linked(hid_t file, const char *name) {
  char part[64];
  for (const char *end = name; *end; end += *end == '/') {
    end += strcspn(end, "/");
    const size_t n = (size_t)(end - name);
    if (n >= sizeof part) return false;
    memcpy(part, name, n);
    part[n] = '\0';
    H5L_info_t info;
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0 ||
        H5Lget_info(file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      return false;
  }
  return true;
}

static bool is_inside(hid_t set) {
  const hid_t how = H5Dget_create_plist(set);
  const bool inside = H5Pget_external_count(how) == 0 && H5Pget_layout(how) != H5D_VIRTUAL;
  H5Pclose(how);
  return inside;
}

static int rank_of(hid_t set, hsize_t size[RANK]) {
  const hid_t space = H5Dget_space(set);
  int rank = H5Sget_simple_extent_type(space) == H5S_SIMPLE ? H5Sget_simple_extent_ndims(space) : 0;
  if (rank > RANK) rank = 0;
  if (rank > 0) H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  return rank;
}

/// A dataset that is in the file itself; -1: there is none.
static hid_t open_set(const source *s, const char *name) {
  if (!is_linked(s->file, name)) return -1;
  const hid_t set = H5Dopen2(s->file, name, H5P_DEFAULT);
  if (set < 0 || is_inside(set)) return set;
  H5Dclose(set);
  return -1;
}

/// The length of the first dimension of a dataset, 0 if it is not there.
static as_status read_length(const source *s, const char *name, hsize_t most, int *out) {
  hsize_t size[RANK] = {0};
  *out = 0;
  const hid_t set = open_set(s, name);
  if (set < 0) return AS_OK;
  const int rank = rank_of(set, size);
  H5Dclose(set);
  if (rank < 1 || size[0] > most) return fail(s, name, "has an impossible size");
  *out = (int)size[0];
  return AS_OK;
}

/// Reads numbers of a dataset that has to have these dimensions; NULL if it is not there, or empty.
static as_status read_set(source *s, const array *a, hid_t type, size_t bytes, const void *out) {
  hsize_t size[RANK] = {0};
  const size_t n = count_of(a);
  const void *data = NULL;
  memcpy((void *)(uintptr_t)out, &data, sizeof data);
  const hid_t set = n > 0 ? open_set(s, a->name) : -1;
  if (set < 0) return AS_OK;
  bool fits = rank_of(set, size) == a->rank;
  double count = 1.0; // as n, which may be too large for its type
  for (int i = 0; i < a->rank; ++i) {
    fits = fits && size[i] == a->size[i];
    count *= (double)a->size[i];
  }
  const hid_t stored = H5Dget_type(set);
  fits = fits && count * (double)H5Tget_size(stored) <= s->most && count < (double)SIZE_MAX &&
         H5Tget_class(stored) == H5Tget_class(type);
  H5Tclose(stored);
  as_status status = fits ? AS_OK : fail(s, a->name, "has not the size and type that it should");
  void *block = fits ? keep(s, asi_calloc(n, bytes)) : NULL;
  if (fits && block == NULL) status = asi_fail_memory(s->error);
  if (block && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0)
    status = fail(s, a->name, "is damaged");
  H5Dclose(set);
  memcpy((void *)(uintptr_t)out, &block, sizeof block);
  return status;
}

static as_status read_attribute(const source *s, const char *name, hid_t type, void *out) {
  const hid_t at =
      H5Aexists(s->file, name) > 0 ? H5Aopen(s->file, name, H5P_DEFAULT) : H5I_INVALID_HID;
  if (at < 0) return fail(s, name, "is missing");
  const hid_t space = H5Aget_space(at), stored = H5Aget_type(at);
  const bool ok = H5Sget_simple_extent_npoints(space) == 1 &&
                  H5Tget_class(stored) == H5Tget_class(type) && H5Aread(at, type, out) >= 0;
  H5Tclose(stored);
  H5Sclose(space);
  H5Aclose(at);
  return ok ? AS_OK : fail(s, name, "is not what it should be");
}

static as_status check_format(const source *s) {
  char format[sizeof FORMAT] = "";
  int version = 0;
  const hid_t type = asi_hdf5_text_type(sizeof format, H5T_CSET_UTF8);
  const hid_t at =
      H5Aexists(s->file, "format") > 0 ? H5Aopen(s->file, "format", H5P_DEFAULT) : H5I_INVALID_HID;
  const hid_t stored = at < 0 ? H5I_INVALID_HID : H5Aget_type(at);
  const hid_t space = at < 0 ? H5I_INVALID_HID : H5Aget_space(at);
  if (at >= 0 && H5Tequal(stored, type) > 0 && H5Sget_simple_extent_npoints(space) == 1)
    (void)H5Aread(at, type, format);
  H5Sclose(space);
  H5Tclose(stored);
  H5Aclose(at);
  H5Tclose(type);
  if (memcmp(format, FORMAT, sizeof format) != 0)
    return fail(s, NULL, "it is an HDF5 file, but holds no flexible body of alphastep");
  const as_status status = read_attribute(s, "format_version", H5T_NATIVE_INT, &version);
  if (status || version == FORMAT_VERSION) return status;
  return fail(s, "format_version", "is not 1, the one that this library reads");
}

static as_status read_names(source *s) {
  const size_t count = (size_t)s->d.interface_count;
  const hid_t set = open_set(s, "interfaces/names");
  if (set < 0) return fail(s, "interfaces/names", "is missing");
  const hid_t stored = H5Dget_type(set);
  const size_t length = H5Tget_size(stored);
  hsize_t size[RANK] = {0};
  const bool fits = H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0 &&
                    length <= MOST_NAME && rank_of(set, size) == 1 &&
                    (double)count * (double)length <= s->most;
  char *text = fits ? keep(s, asi_calloc(count, length + 1)) : NULL;
  const char **names = fits ? keep(s, asi_calloc(count, sizeof *names)) : NULL;
  as_status status = !fits           ? fail(s, "interfaces/names", "is not what it should be")
                     : text && names ? AS_OK
                                     : asi_fail_memory(s->error);
  if (status == AS_OK && text && names) {
    const hid_t wanted = asi_hdf5_text_type(length + 1, H5Tget_cset(stored));
    if (H5Dread(set, wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0)
      status = fail(s, "interfaces/names", "is damaged");
    H5Tclose(wanted);
    for (size_t i = 0; i < count; ++i) names[i] = text + i * (length + 1);
    s->d.interface_names = names;
  }
  H5Tclose(stored);
  H5Dclose(set);
  return status;
}

static as_status read_interfaces(source *s) {
  as_flexible_data *d = &s->d;
  as_status status = read_length(s, "interfaces/names", MOST_INTERFACES, &d->interface_count);
  if (status) return status;
  const size_t count = (size_t)d->interface_count;
  const array positions = {"interfaces/positions", 2, {count, 3}},
              flags = {"interfaces/rotations", 1, {count}};
  const unsigned char *rotations = NULL;
  status = read_names(s);
  if (status == AS_OK)
    status = read_set(s, &positions, H5T_NATIVE_DOUBLE, sizeof(double), &d->interface_positions);
  if (status == AS_OK) status = read_set(s, &flags, H5T_NATIVE_UCHAR, 1, &rotations);
  if (status == AS_OK && rotations == NULL) return fail(s, "interfaces/rotations", "is missing");
  if (status) return status;
  bool *has = keep(s, asi_calloc(count, sizeof *has));
  if (has == NULL) return asi_fail_memory(s->error);
  for (size_t i = 0; i < count; ++i) {
    has[i] = rotations[i] != 0;
    if (i > 0) d->coordinate_count += has[i] ? 6 : 3;
  }
  d->interface_rotations = has;
  return AS_OK;
}

static as_status read_mesh(source *s) {
  as_flexible_data *d = &s->d;
  const hsize_t most = 100000000;
  as_status status = read_length(s, "mesh/ids", most, &d->mesh_count);
  if (status == AS_OK) status = read_length(s, "mesh/triangles", most, &d->triangle_count);
  if (status == AS_OK) status = read_length(s, "stress/ids", most, &d->stress_count);
  const size_t points = (size_t)d->mesh_count;
  const array ids = {"mesh/ids", 1, {points}}, positions = {"mesh/positions", 2, {points, 3}},
              triangles = {"mesh/triangles", 2, {(size_t)d->triangle_count, 3}},
              stressed = {"stress/ids", 1, {(size_t)d->stress_count}};
  if (status == AS_OK) status = read_set(s, &ids, H5T_NATIVE_LONG, sizeof(long), &d->mesh_ids);
  if (status == AS_OK)
    status = read_set(s, &positions, H5T_NATIVE_DOUBLE, sizeof(double), &d->mesh_positions);
  if (status == AS_OK) status = read_set(s, &triangles, H5T_NATIVE_INT, sizeof(int), &d->triangles);
  return status ? status : read_set(s, &stressed, H5T_NATIVE_LONG, sizeof(long), &d->stress_ids);
}

static as_status read_body(source *s) {
  as_flexible_data *d = &s->d;
  array list[N_ARRAYS];
  const double **to[N_ARRAYS];
  as_status status = check_format(s);
  if (status == AS_OK) status = read_attribute(s, "mass", H5T_NATIVE_DOUBLE, &d->mass);
  if (status == AS_OK) status = read_attribute(s, "mode_count", H5T_NATIVE_INT, &d->mode_count);
  if (status == AS_OK && (d->mode_count < 0 || d->mode_count > 4000))
    status = fail(s, "mode_count", "is impossible");
  if (status == AS_OK) status = read_interfaces(s);
  d->coordinate_count += d->mode_count;
  if (status == AS_OK && d->coordinate_count > 4000)
    status = fail(s, NULL, "it has more than 4000 coordinates");
  if (status == AS_OK) status = read_mesh(s);
  list_arrays(d, list);
  place_arrays(d, to);
  for (int i = 0; i < N_ARRAYS && status == AS_OK; ++i)
    status = read_set(s, &list[i], H5T_NATIVE_DOUBLE, sizeof(double), to[i]);
  return status;
}

static as_status open_and_read(source *s) {
  uint64_t size = 0;
  const char *wrong = asi_hdf5_verify(s->path, &size);
  if (wrong) return fail(s, NULL, wrong);
  const hid_t access = asi_hdf5_access();
  s->file = H5Fopen(s->path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (s->file < 0) return fail(s, NULL, "it is damaged, or no HDF5 file");
  s->most = (double)RATIO * (double)size;
  as_status status = read_body(s);
  if (status == AS_OK && asi_hdf5_lacks_memory()) // what seems not to be there may be
    status = asi_fail_memory(s->error);
  H5Fclose(s->file);
  return status;
}

as_status as_flexible_read(const char *path, as_flexible_data **out, as_error *error) {
  *out = NULL;
  if (path == NULL) return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The path is NULL.");
  source s = {.path = path, .file = -1, .error = error};
  asi_hdf5_lock();
  as_status status = AS_ERR_MEMORY;
  if (H5open() >= 0) {
    const asi_hdf5_voice voice = asi_hdf5_hush();
    status = open_and_read(&s);
    asi_hdf5_forget();
    asi_hdf5_restore(voice);
  } else {
    (void)asi_fail_memory(error); // HDF5 could not take what it needs for itself
  }
  asi_hdf5_unlock();
  if (status == AS_OK) {
    as_error why = {0};
    status = as_flexible_copy(&s.d, out, &why);
    if (status == AS_ERR_ARGUMENT)
      status = asi_fail(error, AS_ERR_FILE, (double)NAN, why.component, "%.300s cannot be used: %s",
                        path, why.message);
    else if (status)
      status = asi_fail_memory(error);
  }
  for (int i = 0; i < s.n_taken; ++i) free(s.taken[i]);
  return status;
}
