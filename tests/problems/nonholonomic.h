/// The test problems with nonholonomic constraints, written against the public headers.
///
/// As in problems.h, each carries its callbacks with all Jacobian blocks by formula, consistent
/// starting values and a solution that owes nothing to the integrator: a closed form, or the
/// equations of motion in minimal coordinates, which satisfy the constraints by construction,
/// integrated to about 1e-12 (reference_ode.h). Everything is const and static; nothing is to be
/// freed.
///
/// [JN] Jay, Negrut: A second order extension of the generalized-alpha method for constrained
/// systems in mechanics, 2008.
/// [J] Jay: Convergence of the generalized-alpha method for constrained systems in mechanics with
/// nonholonomic constraints, 2011.
#ifndef TESTS_PROBLEMS_NONHOLONOMIC_H
#define TESTS_PROBLEMS_NONHOLONOMIC_H

#include "alphastep/problem.h"

typedef struct nonholonomic_problem nonholonomic_problem;

struct nonholonomic_problem {
  const char *name;
  as_problem_def def; ///< def.user points to the parameters
  double t0;          ///< [s]
  double t_end;       ///< a suggestion; exact() holds beyond it [s]
  const double *q0;   ///< consistent starting values
  const double *v0;
  /// Writes the solution at t: q, v, v', lambda and psi; any pointer may be NULL.
  void (*exact)(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                double *lambda, double *psi);
  /// The conserved energy, NULL if there is none.
  double (*energy)(const nonholonomic_problem *p, const double *q, const double *v);
};

/// All problems below, one by one.
int nonholonomic_count(void);
const nonholonomic_problem *nonholonomic_get(int index);

// R^n, f not additive in the multipliers, M(t,q) not symmetric; closed forms.
const nonholonomic_problem *nonholonomic_jn8(void); ///< [JN] section 8: g and k
const nonholonomic_problem *nonholonomic_j71(void); ///< [J] (7.1): k alone

// The rolling disk in R^5, M(q).
const nonholonomic_problem *nonholonomic_disk(void);          ///< [J] (7.2), f4 corrected
const nonholonomic_problem *nonholonomic_disk_printed(void);  ///< [J] (7.2) as printed; no energy
const nonholonomic_problem *nonholonomic_disk_physical(void); ///< rolls the way it spins
const nonholonomic_problem *nonholonomic_disk_held(void);     ///< g: its lean is kept; closed form
const nonholonomic_problem *nonholonomic_disk_guided(void);   ///< g(q): lean and heading coupled
const nonholonomic_problem *nonholonomic_disk_driven(void);   ///< g(t,q): its lean is prescribed

// A sleigh in the plane: (x, y, angle).
const nonholonomic_problem *nonholonomic_sleigh(void);        ///< Chaplygin's; closed form
const nonholonomic_problem *nonholonomic_sleigh_moving(void); ///< k(t,q,v): on a moving slope

// A point in R^3 whose speed is prescribed: k is nonlinear in v.
const nonholonomic_problem *nonholonomic_speed_constant(void); ///< closed form
const nonholonomic_problem *nonholonomic_speed_varied(void);   ///< k(t,v)

// Bodies that roll, in maximal coordinates: g and k.
const nonholonomic_problem *nonholonomic_rolling_disk(void);      ///< R^3xSO(3)
const nonholonomic_problem *nonholonomic_rolling_disk_se3(void);  ///< SE(3), the same motion
const nonholonomic_problem *nonholonomic_rolling_disk_slow(void); ///< moves as disk_physical
const nonholonomic_problem *nonholonomic_rolling_ball(void);      ///< SE(3), out of balance

// A body with a fin: it falls, but does not move sideways.
const nonholonomic_problem *nonholonomic_fin(void); ///< R^3xSO(3)
const nonholonomic_problem *
nonholonomic_fin_se3(void); ///< SE(3), the same motion; k linear in v alone

#endif
