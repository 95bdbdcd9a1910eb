/// Flexible bodies: what is refused, and copies.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "flexible_sample.h"

enum { N = FLEXIBLE_SAMPLE_N, POINTS = FLEXIBLE_SAMPLE_POINTS };

static void a_copy_is_the_same(void **state) {
  (void)state;
  flexible_sample *s = malloc(sizeof *s);
  as_flexible_data *copy = NULL;
  as_error error;
  flexible_sample_begin(s);
  assert_int_equal(as_flexible_copy(&s->data, &copy, &error), AS_OK);
  assert_string_equal(copy->interface_names[1], "small");
  assert_ptr_not_equal(copy->interface_names[1], s->names[1]);
  assert_memory_equal(copy->J2, s->J2, sizeof s->J2);
  assert_memory_equal(copy->mesh_shapes, s->shapes, sizeof s->shapes);
  assert_memory_equal(copy->stress_matrices, s->stress, sizeof s->stress);
  assert_memory_equal(copy->triangles, s->triangles, sizeof s->triangles);
  assert_int_equal(copy->mesh_ids[2], 21);
  as_flexible_destroy(copy);
  s->data.J2 = s->data.C = NULL;
  s->data.mesh_count = s->data.triangle_count = s->data.stress_count = 0;
  assert_int_equal(as_flexible_copy(&s->data, &copy, &error), AS_OK);
  assert_null(copy->J2);
  assert_null(copy->mesh_shapes);
  as_flexible_destroy(copy);
  as_flexible_destroy(NULL);
  free(s);
}

static void spoil(flexible_sample *s, int fault) {
  switch (fault) {
  case 0: s->data.interface_count = 0; break;
  case 1: s->names[1] = "big"; break;
  case 2: s->names[1] = ""; break;
  case 3: s->data.coordinate_count = 8; break;
  case 4: s->rotations[1] = false; break;
  case 5: s->data.mode_count = 1000000000; break;
  case 6: s->data.mass = 0.0; break;
  case 7: s->data.mass = (double)NAN; break;
  case 8: s->data.H = NULL; break;
  case 9: s->H[20] = (double)NAN; break;
  case 10: s->M[1] += 1e-6; break;
  case 11: s->K[N + 1] = 0.0; break;
  case 12: s->J0[1] = 0.5; break;
  case 13: s->C[3] = 1.0; break;
  case 14: s->ids[1] = 1; break;
  case 15: s->triangles[0][1] = 3; break;
  case 16: s->triangles[0][2] = -1; break;
  case 17: s->data.mesh_shapes = NULL; break;
  case 18: s->data.stress_matrices = NULL; break;
  case 19: s->data.mesh_count = -1; break;
  case 20: s->positions[1][2] = (double)INFINITY; break;
  default: s->shapes[5] = (double)INFINITY; break;
  }
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  flexible_sample *s = malloc(sizeof *s);
  for (int fault = 0; fault <= 21; ++fault) {
    as_flexible_data *copy = &s->data;
    as_error error = {0};
    flexible_sample_begin(s);
    assert_int_equal(as_flexible_check(&s->data, &error), AS_OK);
    spoil(s, fault);
    if (as_flexible_copy(&s->data, &copy, &error) != AS_ERR_ARGUMENT)
      fail_msg("fault %d is not seen", fault);
    assert_null(copy);
    assert_true(error.message[0] != '\0');
  }
  as_error error;
  assert_int_equal(as_flexible_check(NULL, &error), AS_ERR_ARGUMENT);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_is_the_same),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
