/// Fuzzes as_flexible_read(): whatever an HDF5 file says, there is a body that is accepted, or a sentence, and no more memory is taken than a
/// file of its size may ask for.
///
/// An input is not the bytes of a file, on which HDF5 itself would be tried, but a list of things to do to the file of a small body. Each is
/// four bytes: what, to which dataset or attribute, and two that say of which type and shape.
/// `fuzz_flexible_file --seeds=FOLDER` writes lists to begin with.
#define _POSIX_C_SOURCE 200809L // mkstemp

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "flexible_sample.h"
#include "fuzz/seeds.h"
#include "results/hdf5.h"

enum { STEP = 4, MOST_STEPS = 30 };
enum { DATASET, OUTSIDE, ATTRIBUTE, DELETE, SOFT, HARD, SCALE, THINGS };

static char path[] = "body-XXXXXX"; // where it runs
static char *image;                 // of the file that all begin with
static size_t image_size;

static const char *const place[] = {"interfaces/names",
                                    "interfaces/positions",
                                    "interfaces/rotations",
                                    "inertia/P",
                                    "inertia/A0",
                                    "inertia/A",
                                    "inertia/H0",
                                    "inertia/H",
                                    "inertia/J0",
                                    "inertia/J1",
                                    "inertia/J2",
                                    "inertia/M",
                                    "elasticity/K",
                                    "elasticity/C",
                                    "mesh/ids",
                                    "mesh/positions",
                                    "mesh/shapes",
                                    "mesh/triangles",
                                    "stress/ids",
                                    "stress/matrices",
                                    "interfaces",
                                    "inertia",
                                    "mesh",
                                    "stress"};
enum { PLACES = sizeof place / sizeof place[0] };
static const char *const attribute[] = {"format", "format_version", "mass", "mode_count"};
enum { ATTRIBUTES = sizeof attribute / sizeof attribute[0] };

static hid_t type_of(unsigned kind) {
  switch (kind % 7) {
  case 0: return H5Tcopy(H5T_IEEE_F64LE);
  case 1: return H5Tcopy(H5T_STD_I32LE);
  case 2: return H5Tcopy(H5T_STD_I64BE);
  case 3: return asi_hdf5_text_type(1 + kind / 7, H5T_CSET_UTF8);
  case 4: return asi_hdf5_text_type(H5T_VARIABLE, H5T_CSET_ASCII);
  case 5: return H5Tcopy(H5T_STD_U8LE);
  default: return H5Tcopy(H5T_IEEE_F32BE);
  }
}

static hid_t space_of(unsigned kind) {
  static const hsize_t first[] = {FLEXIBLE_SAMPLE_N, 1, 2, 3, 0, 8, 4000, (hsize_t)1 << 40};
  static const hsize_t next[] = {3, FLEXIBLE_SAMPLE_N, 1, (hsize_t)1 << 33};
  const hsize_t size[4] = {first[kind % 8], next[kind / 8 % 4], next[kind / 16 % 4], 3};
  if (kind >= 240) return H5Screate(kind % 2 ? H5S_SCALAR : H5S_NULL);
  return H5Screate_simple(1 + (int)(kind / 64), size, NULL);
}

static const char filling[1 << 15] = "x\0y\0z\0w";

static bool is_small(hid_t type, hid_t space) {
  return (double)H5Sget_simple_extent_npoints(space) * (double)H5Tget_size(type) <= sizeof filling;
}

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
}

static void put_attribute(hid_t file, const char *name, unsigned kind, unsigned shape) {
  const hid_t type = type_of(kind), space = space_of(shape);
  H5Adelete(file, name);
  if (is_small(type, space)) { // HDF5 keeps them in memory
    const hid_t made = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Tis_variable_str(type) == 0) H5Awrite(made, type, filling);
    H5Aclose(made);
  }
  H5Sclose(space);
  H5Tclose(type);
}

/// Changes numbers of a dataset, which keeps its type and shape.
static void scale(hid_t file, const char *where, unsigned by) {
  double number[4096] = {0};
  const hid_t data = H5Dopen2(file, where, H5P_DEFAULT), space = H5Dget_space(data);
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  if (n > 0 && n <= 4096 &&
      H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >= 0) {
    number[by % (unsigned)n] *= by % 2 ? -1.0 : 1e200;
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, number);
  }
  H5Sclose(space);
  H5Dclose(data);
}

static void do_step(hid_t file, const uint8_t *step) {
  const char *where = place[step[1] % PLACES], *other = place[step[2] % PLACES];
  switch (step[0] % THINGS) {
  case DATASET: put_dataset(file, where, step[2], step[3], false); break;
  case OUTSIDE: put_dataset(file, where, step[2], step[3], true); break;
  case ATTRIBUTE: put_attribute(file, attribute[step[1] % ATTRIBUTES], step[2], step[3]); break;
  case DELETE: H5Ldelete(file, where, H5P_DEFAULT); break;
  case SOFT: H5Lcreate_soft(other, file, where, H5P_DEFAULT, H5P_DEFAULT); break;
  case HARD: H5Lcreate_hard(file, other, file, where, H5P_DEFAULT, H5P_DEFAULT); break;
  default: scale(file, where, step[2]);
  }
}

static const uint8_t seeds[][3 * STEP + 1] = {
    {THINGS},
    {DATASET, 0, 3, 7, THINGS},        // names without end
    {DATASET, 14, 2, 7, THINGS},       // ids without end
    {DATASET, 16, 0, 64 + 24, THINGS}, // shapes of many points
    {ATTRIBUTE, 3, 1, 241, THINGS},    // no modes
    {ATTRIBUTE, 0, 4, 241, THINGS},    // a format of any length
    {OUTSIDE, 11, 0, 64 + 8, THINGS},  // M elsewhere
    {DELETE, 10, 0, 0, DELETE, 13, 0, 0, THINGS},
    {DELETE, 11, 0, 0, SOFT, 11, 12, 0, THINGS},
    {DELETE, 7, 0, 0, HARD, 7, 10, 0, THINGS},
    {SCALE, 11, 1, 0, THINGS},
    {SCALE, 17, 1, 0, THINGS},
    {DELETE, 20, 0, 0, THINGS},
};

static void remove_file(void) {
  (void)remove(path);
  free(image);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  for (size_t i = 0; folder && i < sizeof seeds / sizeof seeds[0]; ++i) {
    size_t n = 0;
    while (seeds[i][n] != THINGS) n += STEP;
    seeds_write(folder, i, seeds[i], n);
  }
  if (folder) exit(0);
  flexible_sample *s = malloc(sizeof *s);
  must(s != NULL, "out of memory");
  const int made = mkstemp(path);
  must(made >= 0 && close(made) == 0, "there is no place for a file");
  flexible_sample_begin(s);
  must(as_flexible_write(path, &s->data, NULL) == AS_OK, "the body is not written");
  free(s);
  FILE *file = fopen(path, "rb");
  image = malloc(1 << 20);
  must(file != NULL && image != NULL, "the body is not there");
  image_size = fread(image, 1, 1 << 20, file) - 32; // without its digest
  fclose(file);
  atexit(remove_file);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  as_flexible_data *body = NULL;
  as_error error = {.message = ""};
  FILE *out = fopen(path, "wb");
  must(out != NULL && fwrite(image, 1, image_size, out) == image_size && fclose(out) == 0,
       "a file cannot be made");
  const asi_hdf5_voice voice = asi_hdf5_hush();
  const hid_t access = asi_hdf5_access();
  H5Pset_fapl_core(access, 1 << 16, true);
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
  must(file >= 0, "a file cannot be opened");
  for (size_t i = 0; i + STEP <= size && i < (size_t)MOST_STEPS * STEP; i += STEP)
    do_step(file, data + i);
  H5Fclose(file);
  H5Pclose(access);
  asi_hdf5_restore(voice);
  const as_status status = as_flexible_read(path, &body, &error);
  if (status == AS_OK)
    must(as_flexible_check(body, &error) == AS_OK, "a body is read that is none");
  else
    must(body == NULL && status == AS_ERR_FILE && error.message[0] != '\0', "no sentence");
  as_flexible_destroy(body);
  return 0;
}
