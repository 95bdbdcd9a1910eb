/// A rope of points in R^3 that move in the plane z = 0, two to a body, with whatever index-2's systems have to
/// cope with: springs, coordinates without mass, a nonholonomic row, states and outputs, callbacks that fail.
///
///     rows 2 i:      z_i = 0
///     rows 2 i + 1:  (|p_i - p_(i-1)|^2 - 1)/2 = 0 in x and y, p_-1 = 0
///     forces:        -9.81 in y, -c p' in x and y, -dV/dy of V = k/2 sum (y_i - 2 y_(i-1) + y_(i-2))^2, y_-1 = 0
///     nonholonomic:  x_l' + 0.3 y_l y_l' = 0 of the last point l
///     states:        x_0' = (x_l - x_0)/0.1,  x_1' = y_l' - x_1 + Y,  Y = 0.2 y_l + x_0,
///                    which pull the last point with -0.5 x_0 in x and -0.3 Y - 0.1 x_1 in y
#ifndef TESTS_PROBLEMS_ROPE_H
#define TESTS_PROBLEMS_ROPE_H

#include <stdbool.h>

#include "alphastep/alphastep.h"

enum { ROPE_POINTS = 12, ROPE_N = 3 * ROPE_POINTS, ROPE_ROWS = 2 * ROPE_POINTS };

typedef struct rope {
  double stiffness;  ///< k against bending in y: a straight rope turns freely [N/m]
  double damping;    ///< c [N s/m]
  bool rolls;        ///< with the nonholonomic row
  bool senses;       ///< with states and the output
  double heavy_from; ///< until then z of every other point has no mass [s]
  double fails_from; ///< forces cannot be evaluated from then on [s]
  as_problem_def def;
  double q0[ROPE_N], v0[ROPE_N];
  int body[ROPE_N], joint[ROPE_ROWS];
  struct {
    int col_start[ROPE_N + 1], row[ROPE_N * ROPE_N];
  } pattern[AS_BLOCK_COUNT];
} rope;

/// Fills in def and the start, from what is set above them: straight, at an angle, turning by 2 rad/s.
void rope_init(rope *r);

#endif
