/// Problems made to have a given solution: one for each combination of space, constraints, mass, force and
/// states.
///
/// The motion q(t) and the multipliers lambda(t), psi(t) are chosen; forces and constraints are made to
/// fit them. With E(t) for a quantity E on the chosen motion:
///
///     g = G(q) - G(c)          two rows on bodies, one on R^4
///     k = K(q, v) - K(c)       one row, quadratic in v
///     f = M(t) v'(t) + r(t) - damper(v - v(t)) - spring(q(t)^-1 q) [- r(t,q,v,lambda,psi)]
///
/// c is the time t in moving constraints. In the others it is a clock that the motion carries with it:
/// its first coordinate is sinh(t), so c = asinh(q_0). These g and k do not know t, and the motion still
/// satisfies them.
///
/// r is what the constraints exert: B^T lambda + k_v^T psi in the additive case, where the library
/// subtracts it; in the general case the cubics lambda + lambda^3/5, psi + psi^3/5 stand for lambda, psi
/// and a friction grows with the size of both, so that f_lambda is not a multiple of -B^T.
///
/// With first-order states x(t) and outputs y(t) are chosen too. dx is x - x(t), and so on:
///
///     phi = x'(t) + terms in dx, dx^3, dq, dv, dv', dlambda, dpsi, dy
///     chi = y(t) + terms in dx, dq, dv, dv', dlambda, dpsi, dy, dy^3    implicit in y
///     f has -E dx - F dy besides
///
/// where dx^3 stands for x^3 - x(t)^3. So accelerations and multipliers feed through to the force. Gains are
/// small enough for the loop to be regular and well damped.
///
/// On both groups the body moves alike. B and k_v are given by formula, all else is differenced.
#ifndef TESTS_PROBLEMS_MANUFACTURED_H
#define TESTS_PROBLEMS_MANUFACTURED_H

#include <stdbool.h>

#include "alphastep/problem.h"

/// The largest numbers of entries of q, v, lambda, psi, x, y.
enum {
  MANUFACTURED_NQ = 7,
  MANUFACTURED_NV = 6,
  MANUFACTURED_NLAMBDA = 2,
  MANUFACTURED_NPSI = 1,
  MANUFACTURED_NX = 2,
  MANUFACTURED_NY = 2,
};

/// Which of the problems.
typedef struct manufactured {
  as_space_kind space; ///< AS_SPACE_RN (of dimension 4), AS_SPACE_R3SO3 or AS_SPACE_SE3: one body
  bool holonomic;      ///< has g
  bool nonholonomic;   ///< has k
  bool moving;         ///< g and k depend on t
  bool mass_varies;    ///< M(t,q) instead of a constant
  bool general;        ///< f is general in the multipliers
  bool states;         ///< has x and y
} manufactured;

/// The description of `m`, to which it points; callbacks only read it.
as_problem_def manufactured_def(manufactured *m);

/// The solution at t, for every t; any pointer may be NULL.
void manufactured_exact(const manufactured *m, double t, double *q, double *v, double *vdot,
                        double *lambda, double *psi);
/// Likewise of the states and outputs, the same in all problems that have them.
void manufactured_exact_states(double t, double *x, double *xdot, double *y);

#endif
