#include "flexible_sample.h"

#include <stddef.h>
#include <string.h>

enum { N = FLEXIBLE_SAMPLE_N, POINTS = FLEXIBLE_SAMPLE_POINTS };

static void fill(double *x, size_t n, double from) {
  for (size_t i = 0; i < n; ++i) x[i] = from + 0.125 * (double)i;
}

void flexible_sample_begin(flexible_sample *s) {
  memset(s, 0, sizeof *s);
  s->names[0] = "big";
  s->names[1] = "small";
  s->positions[1][0] = 0.2;
  s->rotations[0] = s->rotations[1] = true;
  double *const arrays[] = {s->P, s->A0, s->A, s->H0, s->H, s->J1, s->J2};
  const size_t sizes[] = {3 * N, 9, 9 * N, 3 * N, 3 * N * N, 9 * N, 9 * N * N};
  for (size_t i = 0; i < 7; ++i) fill(arrays[i], sizes[i], (double)i);
  for (int i = 0; i < 3; ++i) s->J0[4 * i] = 1.0;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      s->M[i * N + j] = i == j ? 2.0 : 0.1;
      s->K[i * N + j] = i == j ? 20.0 : -0.1;
      s->C[i * N + j] = i == j ? 0.2 : 0.0;
    }
  for (int i = 0; i < POINTS; ++i) s->ids[i] = 10 * i + 1;
  fill(s->shapes, POINTS * 3 * N, 0.5);
  fill(s->stress, 6 * N, 1e9);
  for (int c = 0; c < 3; ++c) s->triangles[0][c] = c;
  s->data = (as_flexible_data){
      .interface_count = 2,
      .interface_names = s->names,
      .interface_positions = (const double(*)[3])s->positions,
      .interface_rotations = s->rotations,
      .mode_count = 1,
      .coordinate_count = N,
      .mass = 1.5,
      .P = s->P,
      .A0 = s->A0,
      .A = s->A,
      .H0 = s->H0,
      .H = s->H,
      .J0 = s->J0,
      .J1 = s->J1,
      .J2 = s->J2,
      .M = s->M,
      .K = s->K,
      .C = s->C,
      .mesh_count = POINTS,
      .mesh_ids = s->ids,
      .mesh_positions = (const double(*)[3])s->points,
      .mesh_shapes = s->shapes,
      .triangle_count = 1,
      .triangles = (const int(*)[3])s->triangles,
      .stress_count = 1,
      .stress_ids = s->ids,
      .stress_matrices = s->stress,
  };
}
