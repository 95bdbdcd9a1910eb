/// The test problems: mechanical systems with known solutions, written against the public headers.
///
/// Each problem carries its callbacks (with Jacobian blocks by formula), consistent starting values
/// and a solution that owes nothing to the integrator: a closed form, or the equations of motion in
/// minimal coordinates integrated to about 1e-12 (reference_ode.h). Everything is const and static;
/// nothing is to be freed.
#ifndef TESTS_PROBLEMS_PROBLEMS_H
#define TESTS_PROBLEMS_PROBLEMS_H

#include "alphastep/problem.h"

typedef struct test_problem test_problem;

struct test_problem {
  const char *name;
  as_problem_def def; ///< def.user points to the parameters
  double t0;          ///< [s]
  double t_end;       ///< a suggestion; exact() holds beyond it unless said otherwise [s]
  const double *q0;   ///< consistent starting values
  const double *v0;
  /// Writes the solution at t: q, v, v' and lambda; any pointer may be NULL. From a table where the
  /// problem says so: NAN at other times.
  void (*exact)(const test_problem *p, double t, double *q, double *v, double *vdot,
                double *lambda);
  /// The conserved energy, NULL if there is none.
  double (*energy)(const test_problem *p, const double *q, const double *v);
};

/// All problems below but problem_stiff_pendulum(), one by one.
int problem_count(void);
const test_problem *problem_get(int index);

// Unconstrained, R^n.
const test_problem *problem_oscillator(void);                ///< linear, R^1, constant mass
const test_problem *problem_double_pendulum(void);           ///< in angles, M(q)
const test_problem *problem_spherical_pendulum_angles(void); ///< in angles, M(q)

// Constrained, R^n.
const test_problem *problem_pendulum(void);               ///< [ABC] Example 1, x0 = 0.2
const test_problem *problem_pendulum_bottom(void);        ///< [ABC] Example 1, x0 = 0
const test_problem *problem_pendulum_horizontal(void);    ///< from rest at (-1, 0)
const test_problem *problem_pendulum_over_top(void);      ///< turns over, slowly at the top
const test_problem *problem_spherical_pendulum(void);     ///< in R^3
const test_problem *problem_driven_pendulum(void);        ///< g(t,q): the pivot is moved
const test_problem *problem_double_pendulum_slider(void); ///< M(q) and a constraint
const test_problem *problem_double_pendulum_points(void); ///< two points in R^2, two rods
const test_problem *problem_friction_wire(void);          ///< f not linear in lambda
const test_problem *problem_slider_crank(void);           ///< spring and damper
const test_problem *problem_car_axis(void);               ///< g(t,q), stiff springs
const test_problem *problem_andrews(void);                ///< 7 bodies, M(q); exact() from a table

/// The same with a stiff, damped spring as its second rod, on its slow motion. Its reference is good to
/// 1e-8 in lambda.
const test_problem *problem_stiff_pendulum(void);

// Lie groups.
const test_problem *problem_free_rotation(void);      ///< SO(3), Dzhanibekov's flips
const test_problem *problem_free_body(void);          ///< SE(3)
const test_problem *problem_heavy_top_slow(void);     ///< R^3xSO(3)
const test_problem *problem_heavy_top_fast(void);     ///< R^3xSO(3), [ABC] section 5
const test_problem *problem_heavy_top_slow_se3(void); ///< SE(3)
const test_problem *problem_heavy_top_fast_se3(void); ///< SE(3)
const test_problem *problem_two_bodies(void);         ///< (R^3xSO(3))^2
const test_problem *problem_two_bodies_se3(void);     ///< SE(3)^2

#endif
