/// Wherever memory runs out in a reduction, in a file of a body or in files of a mesh, there is AS_ERR_MEMORY and no leak.
///
/// The linker sends every malloc, calloc, realloc and free through tests/kit/counting.c (-Wl,--wrap).
#define _POSIX_C_SOURCE 200809L // mkdtemp

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "brick_mesh.h"
#include "counting.h"
#include "flexible_sample.h"
#include "share.h"

typedef as_status attempt_fn(void *user, as_error *error);

/// Lets each allocation fail in turn, alone and with all after it.
static void fail_in_turn(attempt_fn *attempt, void *user) {
  as_error error = {0};
  assert_int_equal(attempt(user, &error), AS_OK); // what libraries keep is taken by now
  const long before = memory.live;
  memory.taken = 0;
  assert_int_equal(attempt(user, &error), AS_OK);
  const long count = memory.taken;
  assert_true(count > 10);
  assert_int_equal(memory.live, before);
  for (long i = 1; i <= count; ++i) {
    if (!share_has((int)i)) continue;
    for (int on = 0; on < 2; ++on) {
      memory.fail_at = i;
      memory.fail_on = on;
      const as_status status = attempt(user, &error);
      memory.fail_at = 0;
      if (status != AS_ERR_MEMORY && !(on == 0 && status == AS_OK))
        fail_msg("allocation %ld of %ld: %s", i, count, as_status_name(status));
      if (memory.live != before)
        fail_msg("allocation %ld of %ld leaves something behind", i, count);
    }
  }
}

static as_status reduce(void *user, as_error *error) {
  as_flexible_data *d = NULL;
  const as_status status = as_reduce(user, &d, NULL, error);
  assert_true((status == AS_OK) == (d != NULL));
  as_flexible_destroy(d);
  return status;
}

static void reductions_leave_nothing_behind(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(3, 1, 1, 0.3, 0.05, 0.06, false);
  const double ratio = 0.01;
  const as_interface ends[] = {
      {.name = "l", .attachment = AS_ATTACH_AVERAGE, .node_count = 4, .nodes = m.first},
      {.name = "r", .attachment = AS_ATTACH_RIGID, .node_count = 4, .nodes = m.last}};
  as_reduction_def def = as_default_reduction_def();
  def.mass = m.M;
  def.stiffness = m.K;
  def.mesh = &m.mesh;
  def.interfaces = ends;
  def.interface_count = 2;
  def.modes = 3;
  def.damping_ratios = &ratio;
  def.damping_count = 1;
  def.most_points = 10;
  fail_in_turn(reduce, &def);
  brick_mesh_free(&m);
}

static as_status read_mesh(void *user, as_error *error) {
  static const char nodes[] = "*NODE, NSET=all\n1, 0, 0, 0\n2, 1., 0\n3, 0, 1e0, 0\n4, 0, 0, 1\n"
                              "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n*NSET, NSET=s\n1, 2, 3\n";
  static const char dofs[] = "1.1\n1.2\n2.3\n", K[] = "1 1 2.0\n1 2 -1e3\n2 2 4D+00\n3 3 1.\n",
                    M[] = "1 1 1\n2 2 1\n3 3 1\n";
  as_mesh_files *f = NULL;
  const long *list;
  const double *areas;
  int n;
  (void)user;
  as_status status = as_mesh_files_create(&f, error);
  if (status == AS_OK)
    status = as_mesh_files_parse_nodes(f, nodes, sizeof nodes - 1, "n.inp", error);
  if (status == AS_OK) status = as_mesh_files_parse_unknowns(f, dofs, sizeof dofs - 1, "d", error);
  if (status == AS_OK)
    status = as_mesh_files_parse_matrix(f, AS_STIFFNESS, K, sizeof K - 1, "k", NULL, error);
  if (status == AS_OK)
    status = as_mesh_files_parse_matrix(f, AS_MASS, M, sizeof M - 1, "m", NULL, error);
  if (status == AS_OK) status = as_mesh_files_finish(f, error);
  if (status == AS_OK) status = as_mesh_files_set(f, "S", &list, &n, &areas, error);
  as_mesh_files_destroy(f);
  return status;
}

static void meshes_leave_nothing_behind(void **state) {
  (void)state;
  fail_in_turn(read_mesh, NULL);
}

static char path[64];

static as_status write_and_read(void *user, as_error *error) {
  as_flexible_data *d = NULL;
  as_status status = as_flexible_write(path, &((flexible_sample *)user)->data, error);
  if (status == AS_OK) status = as_flexible_read(path, &d, error);
  // What could not be read is not left out.
  if (status == AS_OK && (d->J2 == NULL || d->C == NULL || d->mesh_count == 0))
    fail_msg("without memory a part of the body is not read, and nothing said");
  as_flexible_destroy(d);
  return status;
}

static void files_leave_nothing_behind(void **state) {
  (void)state;
  char folder[] = "/tmp/reduction-XXXXXX";
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/body.h5", folder);
  flexible_sample *s = malloc(sizeof *s);
  flexible_sample_begin(s);
  fail_in_turn(write_and_read, s);
  free(s);
  (void)remove(path);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reductions_leave_nothing_behind),
      cmocka_unit_test(meshes_leave_nothing_behind),
      cmocka_unit_test(files_leave_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
