/// A small flexible body for tests of what holds one: copies, files.
#ifndef TESTS_FLEXIBLE_SAMPLE_H
#define TESTS_FLEXIBLE_SAMPLE_H

#include "alphastep/flexible.h"

enum { FLEXIBLE_SAMPLE_N = 7, FLEXIBLE_SAMPLE_POINTS = 3 };

/// A body with two nodes, one mode and three points, whose numbers mean nothing.
typedef struct flexible_sample {
  const char *names[2];
  double positions[2][3];
  bool rotations[2];
  double P[3 * FLEXIBLE_SAMPLE_N], A0[9], A[9 * FLEXIBLE_SAMPLE_N], H0[3 * FLEXIBLE_SAMPLE_N],
      H[3 * FLEXIBLE_SAMPLE_N * FLEXIBLE_SAMPLE_N], J0[9], J1[9 * FLEXIBLE_SAMPLE_N],
      J2[9 * FLEXIBLE_SAMPLE_N * FLEXIBLE_SAMPLE_N];
  double M[FLEXIBLE_SAMPLE_N * FLEXIBLE_SAMPLE_N], K[FLEXIBLE_SAMPLE_N * FLEXIBLE_SAMPLE_N],
      C[FLEXIBLE_SAMPLE_N * FLEXIBLE_SAMPLE_N];
  long ids[FLEXIBLE_SAMPLE_POINTS];
  double points[FLEXIBLE_SAMPLE_POINTS][3], shapes[FLEXIBLE_SAMPLE_POINTS * 3 * FLEXIBLE_SAMPLE_N],
      stress[6 * FLEXIBLE_SAMPLE_N];
  int triangles[1][3];
  as_flexible_data data;
} flexible_sample;

/// Fills it; `data` is then a body that is accepted, and points into it.
void flexible_sample_begin(flexible_sample *sample);

#endif
