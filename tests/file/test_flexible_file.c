/// Flexible bodies in files: what is written is read, and what was damaged, cut off or made up is refused.
#define _DEFAULT_SOURCE // mkdtemp, flock, symlink

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "flexible_sample.h"
#include "results/hdf5.h"

enum { N = FLEXIBLE_SAMPLE_N, POINTS = FLEXIBLE_SAMPLE_POINTS };

static char folder[] = "/tmp/flexible-XXXXXX";
static char path[64];

static int begin(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(path, sizeof path, "%s/body.h5", folder);
  return 0;
}

static int end(void **state) {
  (void)state;
  (void)remove(path);
  return rmdir(folder); // nothing else is left there
}

static flexible_sample *make(void) {
  flexible_sample *s = malloc(sizeof *s);
  flexible_sample_begin(s);
  return s;
}

static void same(const void *a, const void *b, size_t size) { assert_memory_equal(a, b, size); }

static void what_is_written_is_read(void **state) {
  (void)state;
  flexible_sample *s = make();
  as_flexible_data *d = NULL;
  as_error error = {0};
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  assert_int_equal(as_flexible_read(path, &d, &error), AS_OK);
  assert_int_equal(d->interface_count, 2);
  assert_string_equal(d->interface_names[0], "big");
  assert_string_equal(d->interface_names[1], "small");
  same(d->interface_positions, s->positions, sizeof s->positions);
  same(d->interface_rotations, s->rotations, sizeof s->rotations);
  assert_int_equal(d->mode_count, 1);
  assert_int_equal(d->coordinate_count, N);
  same(&d->mass, &s->data.mass, sizeof d->mass);
  const double *const read[] = {d->P,  d->A0, d->A, d->H0, d->H, d->J0,
                                d->J1, d->J2, d->M, d->K,  d->C};
  const double *const given[] = {s->P,  s->A0, s->A, s->H0, s->H, s->J0,
                                 s->J1, s->J2, s->M, s->K,  s->C};
  const size_t size[] = {sizeof s->P, sizeof s->A0, sizeof s->A,  sizeof s->H0,
                         sizeof s->H, sizeof s->J0, sizeof s->J1, sizeof s->J2,
                         sizeof s->M, sizeof s->K,  sizeof s->C};
  for (size_t i = 0; i < sizeof size / sizeof size[0]; ++i) same(read[i], given[i], size[i]);
  assert_int_equal(d->mesh_count, POINTS);
  same(d->mesh_ids, s->ids, sizeof s->ids);
  same(d->mesh_positions, s->points, sizeof s->points);
  same(d->mesh_shapes, s->shapes, sizeof s->shapes);
  assert_int_equal(d->triangle_count, 1);
  same(d->triangles, s->triangles, sizeof s->triangles);
  assert_int_equal(d->stress_count, 1);
  same(d->stress_matrices, s->stress, sizeof s->stress);
  as_flexible_destroy(d);
  free(s);
}

static void what_is_optional_may_be_missing(void **state) {
  (void)state;
  flexible_sample *s = make();
  as_flexible_data *d = NULL;
  as_error error = {0};
  s->data.J2 = s->data.C = NULL;
  s->data.mesh_count = s->data.triangle_count = s->data.stress_count = 0;
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  assert_int_equal(as_flexible_read(path, &d, &error), AS_OK);
  assert_null(d->J2);
  assert_null(d->C);
  assert_int_equal(d->mesh_count + d->triangle_count + d->stress_count, 0);
  as_flexible_destroy(d);
  free(s);
}

/// A rigid one: no coordinates at all.
static void a_body_may_have_no_coordinates(void **state) {
  (void)state;
  flexible_sample *s = make();
  as_flexible_data *d = NULL;
  as_error error = {0};
  s->data.interface_count = 1;
  s->data.mode_count = s->data.coordinate_count = 0;
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  assert_int_equal(as_flexible_read(path, &d, &error), AS_OK);
  assert_int_equal(d->coordinate_count, 0);
  same(d->J0, s->J0, sizeof s->J0);
  as_flexible_destroy(d);
  free(s);
}

static void refused(const char *what) {
  as_flexible_data *d = (as_flexible_data *)(uintptr_t)&refused;
  as_error error = {0};
  assert_int_equal(as_flexible_read(path, &d, &error), AS_ERR_FILE);
  assert_null(d);
  if (strstr(error.message, path) == NULL || strstr(error.message, what) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error.message, what);
}

static char *read_bytes(size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 20);
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

static void write_bytes(const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static void damage_is_refused(void **state) {
  (void)state;
  flexible_sample *s = make();
  size_t size = 0;
  as_error error = {0};
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  char *bytes = read_bytes(&size);
  for (int i = 1; i < 40; ++i) { // a byte somewhere
    const size_t at = (size - 48) / 40 * (size_t)i;
    bytes[at] ^= 0x11;
    write_bytes(bytes, size);
    refused("damaged");
    bytes[at] ^= 0x11;
  }
  for (int i = 0; i < 40; ++i) { // cut off
    write_bytes(bytes, (size - 48) / 40 * (size_t)i);
    refused("cannot be read");
  }
  write_bytes("Nothing of the kind.", 20);
  refused("no HDF5 file");
  (void)remove(path);
  refused("No such file");
  free(bytes);
  free(s);
}

/// A dataset in the place of another: zeros, in the file or elsewhere.
static void replace(hid_t file, const char *name, int rank, const hsize_t *size, bool outside) {
  static const double zeros[4096];
  const hid_t space = H5Screate_simple(rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  if (outside) H5Pset_external(how, "/dev/zero", 0, H5F_UNLIMITED);
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  const hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  assert_true(set >= 0);
  if (H5Sget_simple_extent_npoints(space) <= 4096 && !outside)
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
  H5Dclose(set);
  H5Pclose(how);
  H5Sclose(space);
}

/// Files that are whole but wrong: they have no digest, as if another program had written them.
static void what_lies_is_refused(void **state) {
  (void)state;
  flexible_sample *s = make();
  size_t size = 0;
  as_error error = {0};
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  char *bytes = read_bytes(&size);
  const struct {
    const char *name;
    int rank;
    hsize_t size[4];
    bool outside;
  } wrong[] = {
      {"inertia/M", 2, {N, N + 1}, false},
      {"inertia/M", 2, {N - 1, N}, false},
      {"inertia/M", 1, {N * N}, false},
      {"inertia/H", 3, {N, 3, (hsize_t)1 << 40}, false},
      {"mesh/shapes", 3, {POINTS + 1, 3, N}, false},
      {"mesh/positions", 2, {POINTS, 4}, false},
      {"elasticity/K", 2, {N, N}, true},
      {"interfaces/positions", 2, {3, 3}, false},
      {"interfaces/rotations", 1, {2}, false},
      {"mesh/ids", 1, {(hsize_t)1 << 40}, false},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    write_bytes(bytes, size - 32);
    const hid_t access = asi_hdf5_access(), file = H5Fopen(path, H5F_ACC_RDWR, access);
    replace(file, wrong[i].name, wrong[i].rank, wrong[i].size, wrong[i].outside);
    H5Fclose(file);
    H5Pclose(access);
    refused(wrong[i].outside ? "array K is missing" : wrong[i].name);
  }
  free(bytes);
  free(s);
}

static void what_is_no_body_is_not_written(void **state) {
  (void)state;
  flexible_sample *s = make();
  as_flexible_data *d = NULL;
  as_error error = {0};
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  s->M[1] += 1.0;
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_flexible_read(path, &d, &error), AS_OK); // the old one
  as_flexible_destroy(d);
  flexible_sample_begin(s);
  assert_int_equal(as_flexible_write("/nowhere/at/all.h5", &s->data, &error), AS_ERR_FILE);
  assert_non_null(strstr(error.message, "/nowhere/at/all.h5"));
  assert_int_equal(as_flexible_write(folder, &s->data, &error), AS_ERR_FILE);
  free(s);
}

/// A draft that another process is writing is left alone; what a killed one has left, or a link that somebody has put there, is in nobody's way.
static void a_file_has_one_writer(void **state) {
  (void)state;
  flexible_sample *s = make();
  as_flexible_data *d = NULL;
  as_error error = {0};
  char beside[80], victim[80];
  snprintf(beside, sizeof beside, "%s.new", path);
  snprintf(victim, sizeof victim, "%s/victim", folder);
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  const int other = open(beside, O_RDWR | O_CREAT | O_EXCL, 0600);
  assert_int_equal(write(other, "half", 4), 4);
  assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
  s->data.mass *= 2.0;
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_ERR_FILE);
  assert_non_null(
      strstr(error.message, "body.h5 cannot be written: another process is writing it"));
  char there[8] = "";
  assert_int_equal(pread(other, there, sizeof there, 0), 4);
  assert_string_equal(there, "half");
  assert_int_equal(close(other), 0);
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  assert_int_equal(symlink(victim, beside), 0);
  assert_int_equal(as_flexible_write(path, &s->data, &error), AS_OK);
  assert_int_not_equal(access(victim, F_OK), 0);
  assert_int_not_equal(access(beside, F_OK), 0);
  assert_int_equal(as_flexible_read(path, &d, &error), AS_OK);
  assert_true(d->mass == s->data.mass);
  as_flexible_destroy(d);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(what_is_optional_may_be_missing),
      cmocka_unit_test(a_body_may_have_no_coordinates),
      cmocka_unit_test(damage_is_refused),
      cmocka_unit_test(what_lies_is_refused),
      cmocka_unit_test(what_is_no_body_is_not_written),
      cmocka_unit_test(a_file_has_one_writer),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
