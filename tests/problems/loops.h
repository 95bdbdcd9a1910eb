/// Test problems with closed loops, redundant or contradictory constraints, and many bodies.
///
/// Unlike those of problems.h they take parameters: each function makes a problem on the heap, to
/// be given to loops_free(). exact and energy may be NULL where said so. They abort if memory runs
/// out.
#ifndef TESTS_PROBLEMS_LOOPS_H
#define TESTS_PROBLEMS_LOOPS_H

#include "problems/problems.h"

void loops_free(test_problem *p);

/// B^T lambda at t, n numbers: the generalized constraint force of the exact motion, f0 - M v'. It
/// is unique also where lambda is not.
void loops_constraint_force(const test_problem *p, double t, double *out);

// Planar rods, R^(3 (2 N + 1)) --------------------------------------------------------------------

/// N four-bar linkages in a row: 2 N + 1 equal rods of 1 kg and 1 m (x, y, angle each; crank 0,
/// coupler 0, crank 1, ... crank N), N + 1 cranks pinned to the ground at (i, 0), 6 N + 2
/// constraints, one degree of freedom. Upright, the tips start with 1 m/s; it revolves. With psi
/// the cranks' angle from upright:
///
///     psi'' = k sin(psi),    k = g/L ((N + 1)/2 + N) / ((N + 1)/3 + N)
///
/// The constraint Jacobian loses rank N times over at the flat positions psi = pi/2 + j pi. There
/// lambda is not unique, and for N >= 2 it grows like 1/cos(psi) on the way (for N = 1 it stays
/// bounded): compare lambda only away from them. Sparse from about N = 4 on.
test_problem *loops_nfourbar(int N);

/// The cranks' angle from upright [rad] and its rate [rad/s] at t.
void loops_nfourbar_angle(const test_problem *p, double t, double *psi, double *rate);

/// The same with the last crank's ground pin moved by `offset` [m]; the starting values stay, and
/// so are not consistent. (1e-3, 0) can be assembled near the start, (4, 0) not at all. Without
/// exact.
test_problem *loops_nfourbar_off(int N, const double offset[2]);

// Rigid bodies, (R^3 x SO(3))^n -------------------------------------------------------------------

/// A planar four-bar linkage in space: crank, coupler, rocker and four revolute joints with five
/// rows each (three of the point, two of the axis). 20 rows for 18 velocities and one degree of
/// freedom: three rows are redundant, always the same in number. The plane lies askew, gravity
/// points out of it, no body is symmetric. The crank revolves; nothing is ever singular. exact
/// gives NAN for lambda, which is not unique: see loops_constraint_force().
test_problem *loops_fourbar(void);

/// The same with the rocker's ground joint moved by `offset` in the mechanism's own axes (x along
/// the ground link, z across the plane) [m]; the starting values are not consistent. In the plane 1
/// mm can be assembled; across the plane nothing can, and the least residual is a fraction of the
/// offset. Without exact.
test_problem *loops_fourbar_off(const double offset[3]);

/// n x n rigid bodies, each joined to its right and its lower neighbour by a spherical joint, the
/// two upper corners to the ground: 3 (2 n (n - 1) + 2) independent rows that close (n - 1)^2
/// loops. With `springs`, springs between neighbours couple their bodies in F_Q. At rest. Without
/// exact.
test_problem *loops_lattice(int n, bool springs);

/// A tree of rigid bodies with spherical joints: body i hangs on body (i - 1)/branches, body 0 on
/// the ground; a chain for branches = 1. At rest. Without exact.
test_problem *loops_tree(int n_bodies, int branches);

// The pendulum with two rows, R^2 -----------------------------------------------------------------

/// The pendulum of [ABC] Example 1 with its row twice: g = s (x^2 + y^2 - 1)/2 with s = 1 and 3. The
/// rows are declared as two joints: a scale common to the rows of a joint would be another choice.
/// exact gives the multipliers with the least |lambda/d| for d_i = sqrt(m)/|B_i|: half of the force
/// from each row, lambda = (1/2, 1/6) Lambda, where Lambda is the multiplier of a single row.
test_problem *loops_pendulum_twice(void);

/// The multipliers at t with the least |lambda/d| for any scaling d of the rows:
/// lambda_i = Lambda s_i d_i^2 / (s_1^2 d_1^2 + s_2^2 d_2^2).
void loops_pendulum_twice_lambda(const test_problem *p, double t, const double d[2],
                                 double lambda[2]);

/// The pendulum with the contradictory rows x^2 + y^2 - 1 and x^2 + y^2 - 1.1. Without exact.
test_problem *loops_pendulum_contradictory(void);

#endif
