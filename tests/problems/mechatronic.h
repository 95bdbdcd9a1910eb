/// The test problems with first-order states x and outputs y, written against
/// the public headers.
///
/// As in problems.h, each carries its callbacks with all Jacobian blocks by
/// formula, consistent starting values and a solution that owes nothing to the
/// integrator: the equations in minimal coordinates, which satisfy the
/// constraints by construction, with algebraic loops solved inside, integrated
/// to about 1e-12 (reference_ode.h). Everything is const and static; nothing is
/// to be freed.
///
/// [BA] Bruels, Arnold: The generalized-alpha scheme as a linear multistep
/// integrator: toward a general mechatronic simulator, 2008.
#ifndef TESTS_PROBLEMS_MECHATRONIC_H
#define TESTS_PROBLEMS_MECHATRONIC_H

#include "alphastep/problem.h"

typedef struct mechatronic_problem mechatronic_problem;

struct mechatronic_problem {
  const char *name;
  as_problem_def def; ///< def.user points to the parameters
  double t0;          ///< [s]
  double t_end;       ///< a suggestion; exact() holds beyond it [s]
  int steps;          ///< over which order 2 shows; twice as many still do not meet round-off
  const double *q0;   ///< consistent starting values
  const double *v0;
  const double *x0;
  /// Writes the solution at t: q, v, v', lambda, x and y; any pointer may be NULL.
  void (*exact)(const mechatronic_problem *p, double t, double *q, double *v, double *vdot,
                double *lambda, double *x, double *y);
};

/// All problems below but mechatronic_circuit(), one by one.
int mechatronic_count(void);
const mechatronic_problem *mechatronic_get(int index);

/// [BA]: a mass on a spring with a controller that is fed its acceleration; y1 enters y2. No
/// constraints.
const mechatronic_problem *mechatronic_spring(void);
/// An inverted pendulum on a cart, in Cartesian coordinates: LQR gain and Luenberger observer.
const mechatronic_problem *mechatronic_cart_pole(void);
/// A four-bar, M(q), with a DC motor on its crank, a PI current loop and a speed loop around it.
const mechatronic_problem *mechatronic_fourbar(void);
/// A pendulum whose tangential acceleration is measured and fed back as a force at the same
/// instant: a saturated algebraic loop of gain 0.6.
const mechatronic_problem *mechatronic_accelerometer(void);
/// A pendulum whose tension is measured, lagged, and brakes it; with feed-through of lambda.
const mechatronic_problem *mechatronic_force_sensor(void);
/// A heavy top on R^3xSO(3) with a reaction wheel; the torque is fed the angular acceleration too.
const mechatronic_problem *mechatronic_wheel_top(void);

/// A pendulum driven by a circuit with a time constant of 1e-6 s, on its slow solution. The
/// reference of the current is good to 1e-12.
const mechatronic_problem *mechatronic_circuit(void);

/// Sources of blocks, for def.block.
#define MECHATRONIC_GIVEN(name) [AS_BLOCK_##name] = {.source = AS_BLOCK_GIVEN}
#define MECHATRONIC_ZERO(name) [AS_BLOCK_##name] = {.source = AS_BLOCK_ZERO}

#endif
