/// Fuzzes as_results_reader_open() and all that reads results: whatever an HDF5 file says, it is refused with a sentence,
/// or its channels, poses and texts can be read, into as much memory as its numbers of rows and bodies ask for.
///
/// An input is not the bytes of a file, on which HDF5 itself would be tried, but a list of things to do to a small
/// file. Each is five bytes: what, to which place, and three that say of which name, type and shape.
/// `fuzz_results_file --seeds=FOLDER` writes lists to begin with.
#define _POSIX_C_SOURCE 200809L // mkstemp

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "results/hdf5.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 3, STEP = 5, MOST_STEPS = 40 };
enum { DATASET, OUTSIDE, ATTRIBUTE, GROUP, DELETE, SOFT, HARD, EXTERNAL, THINGS };
enum { REAL, TEXT = 7 };                                                       // types
enum { COLUMN = 0, SCALAR = 241, VECTORS = 64 + 8 * 2, OBJECTS = 64 + 8 * 1 }; // shapes

static char path[] = "results-XXXXXX"; // where it runs

static const char *const place[] = {"/",
                                    "time",
                                    "texts",
                                    "texts/model",
                                    "bodies",
                                    "bodies/a",
                                    "bodies/a/position",
                                    "bodies/a/quaternion",
                                    "bodies/names",
                                    "bodies/position",
                                    "bodies/position_of",
                                    "joints",
                                    "joints/j",
                                    "joints/j/angle",
                                    "energy",
                                    "energy/kinetic",
                                    "energy/kinetic_of"};
enum { ROOT, TIME, TEXTS, MODEL, BODIES, A, A_POSITION, NAMES = 8, POSITION, POSITION_OF };
enum { ENERGY = 14, KINETIC, PLACES = sizeof place / sizeof place[0] };

static const char *const attribute[] = {"unit", "columns", "format", "format_version", "title"};
enum { UNIT, COLUMNS, FORMAT, VERSION, ATTRIBUTES = sizeof attribute / sizeof attribute[0] };

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fuzz_results_file: %s\n", what);
  abort();
}

// ---- making a file ----------------------------------------------------------------------------------

static hid_t type_of(unsigned kind) {
  switch (kind % 8) {
  case REAL: return H5Tcopy(H5T_IEEE_F64LE);
  case 1: return H5Tcopy(H5T_STD_I32LE);
  case 2: return asi_hdf5_text_type(1 + kind / 8, H5T_CSET_ASCII);
  case 3: return asi_hdf5_text_type(H5T_VARIABLE, H5T_CSET_UTF8);
  case 4: return H5Tcopy(H5T_IEEE_F32BE);
  case 5: return H5Tcopy(H5T_STD_U8LE);
  case 6: return H5Tcreate(H5T_OPAQUE, 1 + kind / 8);
  default: return asi_hdf5_text_type(2, H5T_CSET_ASCII);
  }
}

/// Up to four dimensions, some of them large.
static hid_t space_of(unsigned kind) {
  static const hsize_t first[] = {ROWS, 0, 1, 2, 4, 5, 3000, (hsize_t)1 << 40};
  static const hsize_t next[] = {1, 2, 3, (hsize_t)1 << 33};
  const hsize_t size[4] = {first[kind % 8], next[kind / 8 % 4], next[kind / 16 % 4], 2};
  if (kind >= 240) return H5Screate(kind % 2 ? H5S_SCALAR : H5S_NULL);
  return H5Screate_simple(1 + (int)(kind / 64), size, NULL);
}

/// What is written as far as it suffices: letters, if it is texts of two bytes; numbers that are 0, but for the first.
static const char filling[1 << 15] = "x\0y\0z\0w";

static bool is_small(hid_t type, hid_t space) {
  return (double)H5Sget_simple_extent_npoints(space) * (double)H5Tget_size(type) <= sizeof filling;
}

static void put_attribute(hid_t file, const char *where, unsigned name, unsigned kind,
                          unsigned shape, const void *value) {
  const hid_t object = H5Oopen(file, where, H5P_DEFAULT);
  const hid_t type = type_of(kind), space = space_of(shape);
  H5Adelete(object, attribute[name % ATTRIBUTES]);
  if (is_small(type, space)) { // HDF5 keeps them in memory
    const hid_t made =
        H5Acreate2(object, attribute[name % ATTRIBUTES], type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Tis_variable_str(type) == 0) H5Awrite(made, type, value);
    H5Aclose(made);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Oclose(object);
}

/// A dataset with a unit, in the place of what is there.
static void put_dataset(hid_t file, const char *where, unsigned kind, unsigned shape,
                        bool outside) {
  const hid_t type = type_of(kind), space = space_of(shape), how = H5Pcreate(H5P_DATASET_CREATE);
  if (outside) H5Pset_external(how, "/dev/zero", 0, H5F_UNLIMITED);
  H5Ldelete(file, where, H5P_DEFAULT);
  const hid_t data = H5Dcreate2(file, where, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  if (is_small(type, space) && H5Tis_variable_str(type) == 0 && !outside)
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, filling);
  H5Dclose(data);
  H5Pclose(how);
  H5Sclose(space);
  H5Tclose(type);
  put_attribute(file, where, UNIT, TEXT, SCALAR, filling);
}

static void put_group(hid_t file, const char *where) {
  const hid_t how = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Gclose(H5Gcreate2(file, where, H5P_DEFAULT, how, H5P_DEFAULT));
  H5Pclose(how);
}

/// The file that all begin with: one body, one energy.
static void put_file(hid_t file) {
  static const int version = ASI_HDF5_VERSION;
  const unsigned length = (unsigned)strlen(ASI_HDF5_FORMAT);
  put_attribute(file, "/", FORMAT, 2 + 8 * length, SCALAR, ASI_HDF5_FORMAT);
  put_attribute(file, "/", VERSION, 1, SCALAR, &version);
  put_dataset(file, place[TIME], REAL, COLUMN, false);
  put_group(file, place[BODIES]);
  put_group(file, place[A]);
  put_dataset(file, place[A_POSITION], REAL, VECTORS, false);
  put_attribute(file, place[A_POSITION], COLUMNS, TEXT, COLUMN, filling);
  put_group(file, place[ENERGY]);
  put_dataset(file, place[KINETIC], REAL, COLUMN, false);
}

static void do_step(hid_t file, const uint8_t *step) {
  const char *where = place[step[1] % PLACES], *other = place[step[2] % PLACES];
  const hid_t usual = H5P_DEFAULT;
  switch (step[0] % THINGS) {
  case DATASET: put_dataset(file, where, step[3], step[4], false); break;
  case OUTSIDE: put_dataset(file, where, step[3], step[4], true); break;
  case ATTRIBUTE: put_attribute(file, where, step[2], step[3], step[4], filling); break;
  case GROUP: put_group(file, where); break;
  case DELETE: H5Ldelete(file, where, usual); break;
  case SOFT: H5Lcreate_soft(other, file, where, usual, usual); break;
  case HARD: H5Lcreate_hard(file, other, file, where, usual, usual); break;
  default: H5Lcreate_external(path, other, file, where, usual, usual);
  }
}

static void make_file(const uint8_t *data, size_t size) {
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const hid_t access = asi_hdf5_access(), how = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_fapl_core(access, 1 << 16, true);
  H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, how, access);
  put_file(file);
  for (size_t i = 0; i + STEP <= size && i < (size_t)MOST_STEPS * STEP; i += STEP)
    do_step(file, data + i);
  must(H5Fclose(file) >= 0, "a file cannot be made");
  H5Pclose(how);
  H5Pclose(access);
  asi_hdf5_restore(voice);
}

// ---- inputs -----------------------------------------------------------------------------------------

/// Each ends with a thing that is none.
static const uint8_t seeds[][4 * STEP + 1] = {
    {THINGS},
    // the version is many numbers
    {ATTRIBUTE, ROOT, VERSION, 1, 6, THINGS},
    // datasets that are larger than the file
    {DATASET, TIME, 0, REAL, 7, DATASET, KINETIC, 0, REAL, 7, THINGS},
    {DATASET, A_POSITION, 0, REAL, 64 + 24, THINGS},
    // data and things that are elsewhere
    {OUTSIDE, KINETIC, 0, REAL, COLUMN, THINGS},
    {DELETE, KINETIC, 0, 0, 0, EXTERNAL, KINETIC, TIME, 0, 0, THINGS},
    {DELETE, KINETIC, 0, 0, 0, SOFT, KINETIC, TIME, 0, 0, THINGS},
    {DELETE, TIME, 0, 0, 0, EXTERNAL, TIME, KINETIC, 0, 0, THINGS},
    {DELETE, A, 0, 0, 0, HARD, A, BODIES, 0, 0, THINGS},
    // many bodies: names, a dataset of some of them
    {DATASET,     NAMES, 0, TEXT, COLUMN, DATASET, POSITION, 0, REAL, OBJECTS, DATASET,
     POSITION_OF, 0,     1, 3,    DELETE, A,       0,        0, 0,    THINGS},
    {DATASET, NAMES, 0, TEXT, 7, DATASET, POSITION, 0, REAL, OBJECTS, THINGS},
    // a position without a body
    {HARD, POSITION, A_POSITION, 0, 0, THINGS},
    // texts
    {GROUP, TEXTS, 0, 0, 0, DATASET, MODEL, 0, 2 + 8 * 20, SCALAR, THINGS},
    {GROUP, TEXTS, 0, 0, 0, OUTSIDE, MODEL, 0, 2 + 8 * 20, SCALAR, THINGS},
    // units and columns that are none
    {ATTRIBUTE, KINETIC, UNIT, 3, SCALAR, THINGS},
    {ATTRIBUTE, A_POSITION, COLUMNS, 2 + 8 * 3, COLUMN, THINGS},
};

static void write_seeds(const char *folder) {
  for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; ++i) {
    char name[512];
    size_t n = 0;
    while (seeds[i][n] != THINGS) n += STEP;
    snprintf(name, sizeof name, "%s/seed_%02zu", folder, i);
    FILE *file = fopen(name, "wb");
    must(file && fwrite(seeds[i], 1, n, file) == n && fclose(file) == 0, "cannot write a seed");
  }
}

static void remove_file(void) { (void)remove(path); }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static const char option[] = "--seeds=";
  if (*argc == 2 && strncmp((*argv)[1], option, sizeof option - 1) == 0) {
    write_seeds((*argv)[1] + sizeof option - 1);
    exit(0);
  }
  const int file = mkstemp(path);
  must(file >= 0 && close(file) == 0, "there is no place for a file");
  atexit(remove_file);
  return 0;
}

// ---- reading ----------------------------------------------------------------------------------------

static void read_all(as_results_reader *r) {
  const size_t rows = (size_t)as_results_reader_rows(r);
  const int n = as_results_reader_count(r);
  as_error error;
  double *out = malloc((rows * AS_POSE + 1) * sizeof *out);
  bool *chosen = calloc((size_t)n + 1, sizeof *chosen);
  must(out != NULL && chosen != NULL, "no memory");
  (void)as_results_reader_time(r, out, &error);
  for (int i = 0; i < n; ++i) {
    const as_channel c = as_results_reader_channel(r, i);
    must(strlen(c.name) > 0 && as_results_reader_find(r, c.name) >= 0, "a channel is not found");
    (void)as_results_reader_read(r, i, out, &error);
  }
  for (int i = 0; i < as_results_reader_bodies(r); ++i) {
    must(as_results_reader_body_name(r, i) != NULL, "a body has no name");
    (void)as_results_reader_poses(r, i, out, &error);
  }
  (void)as_results_reader_select(r, "bodies.*.position", chosen, &error);
  (void)as_results_reader_text(r, "model");
  free(out);
  free(chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  as_results_reader *r = NULL;
  as_error error = {.message = ""};
  make_file(data, size);
  const as_status status = as_results_reader_open(path, &r, &error);
  if (status == AS_OK)
    read_all(r);
  else
    must(r == NULL && status == AS_ERR_FILE && error.message[0] != '\0', "no sentence");
  as_results_reader_close(r);
  return 0;
}
