/// Analyses: what a machine does without being integrated.
///
///     equilibrium   where it comes to rest from a start, and whether it stays there
///     motion        positions, velocities, accelerations where all freedom is prescribed (kinematics),
///                   with the multipliers that drive it (inverse dynamics)
///     sweep         equilibria followed while a parameter changes
///     continuation  the same by arc length: through limit points, with limit points and branchings (buckling loads) found
///
/// All of them take any problem, of R^n or a Lie group, with redundant constraints too, and end with a state
/// that as_model_reaction() and its like read as they read the integrator's. Equations, limits and examples
/// with numbers: docs/analyses.md.
///
///     as_analysis *analysis;
///     const as_analysis_def def = as_default_analysis_def();
///     as_analysis_create(as_model_problem(model), &def, &analysis, &error);
///     as_analysis_equilibrium(analysis, as_model_initial(model), &found, &error);
///     const as_state *rest = as_analysis_state(analysis);
///
/// An analysis belongs to one thread. A call that fails leaves the state as it was.
#ifndef ALPHASTEP_ANALYSIS_H
#define ALPHASTEP_ANALYSIS_H

#include <stdbool.h>

#include "alphastep/export.h"
#include "alphastep/integrator.h"
#include "alphastep/problem.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from as_default_analysis_def(). Copied by create.
typedef struct as_analysis_def {
  unsigned cookie;      ///< set by as_default_analysis_def(): leave it as it is
  int max_iterations;   ///< of one search for an equilibrium
  int stability_limit;  ///< stability is computed, densely, for up to so many velocity components
  double shortest_part; ///< of a wanted step of a motion or sweep, before it counts as impossible
  /// Asked in each iteration: true ends the call with AS_INTERRUPTED. May be NULL.
  as_interrupt_fn *interrupt;
  void *interrupt_user;
} as_analysis_def;

AS_API as_analysis_def as_default_analysis_def(void);

typedef struct as_analysis as_analysis;

/// The problem must outlive the analysis.
AS_API as_status as_analysis_create(const as_problem *problem, const as_analysis_def *def,
                                    as_analysis **out, as_error *error);
AS_API void as_analysis_destroy(as_analysis *analysis);

/// What the last successful call has found; no arrays before the first. They belong to the analysis and change with the next call.
AS_API const as_state *as_analysis_state(const as_analysis *analysis);

// ---- equilibrium ------------------------------------------------------------------------------------

/// What happens to a machine that is pushed off its equilibrium a little.
typedef enum as_stability {
  AS_STABILITY_UNKNOWN, ///< not computed: too large, or there are states x or outputs y
  AS_STABLE,            ///< it is pushed back, whatever the direction
  AS_NEUTRAL,  ///< in some directions nothing happens (a free motion), in the others it is stable
  AS_UNSTABLE, ///< in some direction it goes away
} as_stability;

typedef struct as_equilibrium {
  as_stability stability;
  int degrees_of_freedom; ///< velocities less the rank of the constraints
  int n_redundant;        ///< constraint rows that others imply
  int n_negative;         ///< directions in which it is unstable; -1 if not computed, as below
  int n_neutral;          ///< directions without stiffness
  /// The smallest of the stiffnesses over mass, the squares of circular frequencies [1/s^2]; NAN if not
  /// computed or without freedom.
  double softest;
  char softest_component[64]; ///< what moves most in that direction
  double unbalanced;          ///< the largest |f| left over [N] or [N m]
  double position_drift;      ///< max |g|
  double moved;               ///< sqrt(d^T M d) of the way d from the start
  int iterations;
  bool pushed; ///< the search met an unstable equilibrium, pushed off and went on
  bool jumped; ///< a sweep lost its branch and this is another one
} as_equilibrium;

/// Finds where the problem comes to rest from a start, with v = 0 and time held at initial->t:
///
///     f(t,q,0,lambda,psi,x,y) = 0,   g(t,q) = 0,   phi = 0,   y = chi
///
/// q moves along the nonholonomic constraints on its way, forces let it down slowly (docs/analyses.md), so
/// that a stable equilibrium is found. A start that is an equilibrium itself is kept, stable or not; the
/// report says which. If none is found, AS_ERR_CONVERGENCE and a sentence about what keeps accelerating.
/// `found` may be NULL.
AS_API as_status as_analysis_equilibrium(as_analysis *analysis, const as_initial *initial,
                                         as_equilibrium *found, as_error *error);

/// The equilibrium next to a start, stable or not, by Newton's method alone: the next of a branch that is followed by other means than
/// as_analysis_sweep(), as when each value of a parameter makes another problem. `from`: q of the equilibrium before, if the start is
/// where a branch was expected to lead; then the new one has to be within half of that way. NULL: nothing was foreseen. `neutral`: the equilibrium before has free motions. AS_ERR_CONVERGENCE: there is none nearby.
AS_API as_status as_analysis_follow_equilibrium(as_analysis *analysis, const as_initial *near,
                                                const double *from, bool neutral,
                                                as_equilibrium *found, as_error *error);

// ---- motion: kinematics and inverse dynamics --------------------------------------------------------

typedef struct as_motion_report {
  /// Zero; or how many directions are not determined just here, in a singular position: v and v' are
  /// continued there.
  int degrees_of_freedom;
  int n_redundant; ///< constraint rows that others imply, here
  const int
      *redundant; ///< which: numbers of g, then n_lambda + numbers of k; belong to the analysis
  int parts;      ///< in how many parts the way was made
  double position_drift;
  double velocity_drift;
} as_motion_report;

/// Where the problem is at initial->t if all its freedom is prescribed: q, the one near initial->q, from
/// g(t,q) = 0; v from g_t + B v = 0; v' from its time derivative; lambda, the smallest if redundant, from
/// M v' = f. With freedom left it is AS_ERR_UNSUPPORTED, and the sentence says how much and what can move.
AS_API as_status as_analysis_begin_motion(as_analysis *analysis, const as_initial *initial,
                                          as_motion_report *report, as_error *error);
/// The same at another time, earlier or later, reached along the motion from where it is now.
AS_API as_status as_analysis_follow_motion(as_analysis *analysis, double t,
                                           as_motion_report *report, as_error *error);

// ---- sweep ------------------------------------------------------------------------------------------

/// Sets a parameter of the problem in the caller's memory. Not 0: it cannot have this value.
typedef int as_parameter_fn(double value, void *user);
/// Receives an equilibrium. Not 0: stop, with AS_STOPPED.
typedef int as_sweep_fn(double value, const as_state *state, const as_equilibrium *found,
                        void *user);

/// A parameter and the values it takes. From as_default_sweep_def().
typedef struct as_sweep_def {
  unsigned cookie;      ///< set by as_default_sweep_def(): leave it as it is
  const double *values; ///< at which equilibria are wanted, in this order
  int n_values;
  as_parameter_fn *set; ///< NULL: the parameter is `signal`
  int signal; ///< number of a held signal u, as of a model's parameter (as_model_find_parameter()); -1: the time t, as for load factors and motions
  as_sweep_fn *receive; ///< called at each value; may be NULL
  void *user;           ///< passed to both
  /// Where the equilibrium ceases to exist (snap-through): false: stop with AS_ERR_CONVERGENCE; true: let go
  /// and take the equilibrium that is found at the next value.
  bool jump;
} as_sweep_def;

AS_API as_sweep_def as_default_sweep_def(void);

typedef struct as_sweep_report {
  int n_done;     ///< values that were reached
  int n_jumps;    ///< how often another branch was taken
  double last;    ///< the last value with an equilibrium, on the way too
  double lost[2]; ///< the first loss of a branch lies between these; NAN: there was none
  int equilibria; ///< solved, those on the way counted
} as_sweep_report;

/// Finds the equilibrium at the first value as as_analysis_equilibrium() does and follows it, stable or not,
/// to the others, in parts where that is needed. Whatever happens, the state is the last equilibrium, and the
/// parameter is set accordingly. `report` may be NULL; it is filled on failure too.
AS_API as_status as_analysis_sweep(as_analysis *analysis, const as_initial *initial,
                                   const as_sweep_def *def, as_sweep_report *report,
                                   as_error *error);

// ---- continuation -----------------------------------------------------------------------------------

/// What a point of a branch is.
typedef enum as_continuation_kind {
  AS_POINT_REGULAR,
  AS_POINT_LIMIT,     ///< the parameter turns round here: a limit load
  AS_POINT_BRANCHING, ///< another branch crosses: a buckling load
  AS_POINT_FLUTTER,   ///< the number of unstable directions changes otherwise
} as_continuation_kind;

typedef struct as_continuation_point {
  as_continuation_kind kind;
  double value; ///< of the parameter
  double arc;   ///< length of the branch up to here, in typical sizes and spans of the parameter
  double turn;  ///< how the parameter changes with it, in spans: 0 at a limit point
  const as_state *state; ///< until the callback returns
  as_equilibrium found;  ///< what is known of it; `moved` from where the first one was sought
} as_continuation_point;

/// Receives a point. Not 0: stop, with AS_STOPPED.
typedef int as_continuation_fn(const as_continuation_point *point, void *user);

/// A parameter and the way it goes. From as_default_continuation_def().
typedef struct as_continuation_def {
  unsigned cookie; ///< set by as_default_continuation_def(): leave it as it is
  double from, to; ///< values of the parameter, required
  double turned;   ///< the branch is given up behind this value, before `from`; NAN: 2 from - to
  as_parameter_fn *set; ///< as in as_sweep_def
  int signal;
  as_continuation_fn *receive; ///< called at each point, special ones included; may be NULL
  void *user;                  ///< passed to both
  double first_step; ///< of arc length: 1 is a change of all positions by typical sizes, or of the
                     ///< parameter from `from` to `to`
  double longest_step;
  int max_points;
  /// 0: pass branchings. 1 or -1: at the first one take the other branch, to one side or to the other.
  int branch;
} as_continuation_def;

AS_API as_continuation_def as_default_continuation_def(void);

typedef struct as_continuation_report {
  int n_points;     ///< delivered
  int n_limits;     ///< limit points among them
  int n_branchings; ///< branchings among them
  int n_left;       ///< how often another branch was taken
  double last;      ///< the last value with an equilibrium
  bool arrived;     ///< at `to`
} as_continuation_report;

/// Finds the equilibrium at `from` as as_analysis_equilibrium() does and follows its branch by arc length until the parameter is `to`, whatever
/// it does in between: limit points (snap-through) are passed. Limit points and branchings are found and delivered; branchings only
/// where stability is known (stability_limit, no states x or y). AS_ERR_CONVERGENCE if the branch ends, turns back or has too many
/// points. The state is the last equilibrium in any case, and the parameter is set accordingly. `report` may be NULL; it is filled on failure
/// too.
AS_API as_status as_analysis_continue(as_analysis *analysis, const as_initial *initial,
                                      const as_continuation_def *def,
                                      as_continuation_report *report, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
