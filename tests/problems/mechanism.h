/// Rigid bodies on (R^3 x SO(3))^n with spherical and revolute joints and springs: equations by
/// formula.
///
/// A joint joins the point x + R pa of body a with the point x + R pb of body b; body -1 is the
/// ground, with x = 0 and R = I. Rows: the points' difference (three) and, if it is revolute, the
/// cosines between a's axis and two directions across in b (two):
///
///     g = P_a - P_b,    (R_a axis) . (R_b across_i),  i = 0, 1
///
/// A spring has zero natural length: potential k/2 |P_a - P_b|^2.
#ifndef TESTS_PROBLEMS_MECHANISM_H
#define TESTS_PROBLEMS_MECHANISM_H

#include <stdbool.h>

#include "problems/loops_build.h"

typedef struct mechanism_body {
  double m;    ///< [kg]
  double J[9]; ///< about the centre of mass, body frame [kg m^2]
} mechanism_body;

/// Two points, each in its body's frame, and what they have to do with each other.
typedef struct mechanism_joint {
  int a, b; ///< -1: the ground
  double pa[3], pb[3];
  bool revolute;
  double axis[3];      ///< in a's frame
  double across[2][3]; ///< in b's frame
} mechanism_joint;

typedef struct mechanism_spring {
  int a, b;
  double pa[3], pb[3];
  double k; ///< [N/m]
} mechanism_spring;

typedef struct mechanism {
  double gravity[3]; ///< [m/s^2]
  int n_bodies, n_joints, n_springs;
  mechanism_body *body;
  mechanism_joint *joint;
  mechanism_spring *spring;
  int *first_row; ///< of each joint, and the number of rows
} mechanism;

/// A problem and room for its parts, which the caller fills: user is the mechanism.
test_problem *mechanism_new(const char *name, int n_bodies, int n_joints, int n_springs);

/// Fills p->def and p->energy from the parts.
void mechanism_define(test_problem *p);

#endif
