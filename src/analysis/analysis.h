/// What the analyses share: a problem at a point (core/kinematics), and one more system, that of statics.
///
/// analysis.c     create, destroy; starts; what every analysis does first
/// statics.c      forces at rest, one step towards balance, the search for an equilibrium
/// stability.c    stiffness on what the constraints leave free
/// equilibrium.c  as_analysis_equilibrium
/// sweep.c        as_analysis_sweep
/// continuation.c as_analysis_continue
/// parameter.c    what changes in both
/// motion.c       as_analysis_begin_motion, as_analysis_follow_motion
#ifndef ALPHASTEP_ANALYSIS_ANALYSIS_H
#define ALPHASTEP_ANALYSIS_ANALYSIS_H

#include "alphastep/analysis.h"
#include "core/kinematics/kinematics.h"

/// A position, with all that belongs to it when nothing moves.
typedef struct asi_rest {
  asi_values at;     ///< v = 0; v' is how it would start to move
  double *force;     ///< n: M v', what is out of balance
  double unbalanced; ///< the largest |force_i| times the typical size of i, and |x'|
  double forces;     ///< the largest |f0_i| and |(B^T lambda)_i|, likewise
} asi_rest;

struct as_analysis {
  as_analysis_def def;
  const as_problem *problem;
  asi_kinematics kin;
  asi_system statics; ///< [AN.2], unknowns as those of kin.consistent
  as_state state;     ///< what the caller sees: `now`
  asi_values now;
  asi_values places[2]; ///< of here and trial
  asi_values kept;      ///< of a sweep: the equilibrium to come back to
  bool *was_inactive;   ///< n_lambda + n_psi: scratch of motions
  bool in_motion;       ///< the state is one of a motion
  asi_rest here;        ///< where a search is; points into places
  asi_rest trial;       ///< where it may go; points into the other
  double stiffness;     ///< max |f_q| / max |M|, as last evaluated [1/s^2]
  double fastest;       ///< max |phi_x|, likewise [1/s]
  double state_rate;    ///< of a search: 1/tau of states beyond that of the machine [1/s]
  double noise;         ///< what round-off leaves of forces and rates, measured as `unbalanced`
  double *arena;        ///< all the arrays below, and those of force
  double *step;         ///< n + n_lambda + n_psi + n_x + n_y: solution of [AN.2]
  double *mode;         ///< n: the softest direction, or
  int wanted_mode;      ///< the one with so many softer ones
  double kappa;         ///< its eigenvalue; NAN: not computed
  double *work;         ///< n
  double *way;          ///< n: of a predictor
  double *q_start;      ///< nq
  double *q_before;     ///< nq: the equilibrium before the last
  double *q_predicted;  ///< nq
  double *u_kept;       ///< n_u: held signals of a place to come back to
  double *u_start;      ///< n_u: of a start with a parameter
  double *by_value;     ///< as `step`: the solution's derivative by the parameter of a continuation
  double *tangent;      ///< n: of a continuation, at its last point
  double *direction;    ///< n: the same at a->here
};

/// Whether the caller wants to stop; then the status to return.
as_status asi_analysis_interrupted(const as_analysis *a, double t);
/// Refuses a NULL analysis or a bad start, takes over the start, with v = 0, and projects its position.
as_status asi_analysis_start(as_analysis *a, const as_initial *initial, as_error *error);
/// Projects a position, in place, from where it is.
as_status asi_analysis_project(as_analysis *a, double t, double *q);
/// Finds the rank of the constraints at a position and lets them give if it is short; returns the degrees of
/// freedom.
as_status asi_analysis_rank(as_analysis *a, double t, const asi_values *at, int *freedom);
/// Shows values to the caller.
void asi_analysis_show(as_analysis *a, double t, const asi_values *at);
/// Keeps the held signals of a place to come back to, in a->u_kept; puts them back.
void asi_analysis_keep_signals(as_analysis *a);
void asi_analysis_restore_signals(as_analysis *a);

/// Rows that give, where they have to: e of [RE.4].
#define ASI_ANALYSIS_COMPLIANCE 1e-8

// statics.c ----------------------------------------------------------------------------------------

/// [AN.1] lambda, psi and y at rest, and what is out of balance.
as_status asi_balance(as_analysis *a, double t, asi_rest *rest);
/// [AN.2] Solves for a->step at a->here, with the inertia w M.
as_status asi_statics_solve(as_analysis *a, double t, double w);
/// The largest component of a->step in typical sizes.
double asi_statics_size(const as_analysis *a);
/// Puts a->trial where `factor` times a->step leads, on the constraints and in balance as far as they go.
as_status asi_statics_move(as_analysis *a, double t, double factor);
/// Makes the trial the place where the search is, and lets held signals follow.
void asi_statics_accept(as_analysis *a, double t);
/// Lets go at a->here until forces balance. AS_ERR_CONVERGENCE: they do not.
as_status asi_statics_settle(as_analysis *a, double t, int *iterations);
/// Newton's method at a->here, until round-off stops it.
as_status asi_statics_polish(as_analysis *a, double t, double w);

// parameter.c --------------------------------------------------------------------------------------

/// The parameter of a sweep or a continuation.
typedef struct asi_parameter {
  as_parameter_fn *set; ///< NULL: it is `signal`
  void *user;
  int signal; ///< -1: it is the time
  double t;   ///< where time is held, unless it is the parameter [s]
} asi_parameter;

/// Refuses a signal that is not there.
as_status asi_parameter_check(const as_analysis *a, const asi_parameter *p, as_error *error);
double asi_parameter_time(const asi_parameter *p, double value);
/// AS_ERR_RETRY: it cannot have this value. To be called again after asi_analysis_restore_signals().
as_status asi_parameter_set(as_analysis *a, const asi_parameter *p, double value);
/// The equilibrium from a start with the parameter at a value.
as_status asi_parameter_begin(as_analysis *a, asi_parameter *p, double value,
                              const as_initial *initial, as_equilibrium *found, as_error *error);

// stability.c --------------------------------------------------------------------------------------

/// Fills what `found` says about stability, and a->mode and a->kappa.
as_status asi_stability(as_analysis *a, double t, as_equilibrium *found);

// equilibrium.c ------------------------------------------------------------------------------------

/// From a->here: settles, judges, and pushes off if it is unstable and not where it began.
as_status asi_find_equilibrium(as_analysis *a, double t, as_equilibrium *found);
/// The same from a start that the caller gives.
as_status asi_equilibrium_from(as_analysis *a, const as_initial *initial, as_equilibrium *found,
                               as_error *error);
/// What can be said of the equilibrium at a->here.
as_status asi_judge(as_analysis *a, double t, as_equilibrium *found);

#endif
