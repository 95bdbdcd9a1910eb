/// The integrator: takes a problem and steps it through time.
///
///     as_integrator_def def = as_default_integrator_def();
///     def.step = 1e-3;
///     as_integrator_create(problem, &def, &integrator, &error);
///     as_integrator_start(integrator, &(as_initial){.t = 0, .q = q0, .v = v0}, NULL, &error);
///     as_integrator_advance(integrator, 1.0, &error);
///     const as_state *s = as_integrator_state(integrator);
///
/// All memory is taken by create and start; no step allocates (but the sparse solver may, when it looks for new pivots, and a step that needs
/// another matrix or other redundant rows). An integrator belongs to one thread. A step that fails leaves the state as it was: a call that takes
/// several steps, or parts of one, stays at the end of the last good one.
/// While a step is taken, denormal numbers are flushed to zero, in callbacks too.
#ifndef ALPHASTEP_INTEGRATOR_H
#define ALPHASTEP_INTEGRATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/coefficients.h"
#include "alphastep/event.h"
#include "alphastep/expert.h"
#include "alphastep/export.h"
#include "alphastep/problem.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum as_method {
  AS_METHOD_INDEX2, ///< stabilized index-2: position and velocity level (the default)
  AS_METHOD_INDEX3, ///< constraints at position level: cheapest; v violates B v = 0 by O(h^2)
  AS_METHOD_SOI2,   ///< Jay and Negrut's SOI2
} as_method;

/// When a Newton iteration is accurate enough, and how it is run.
typedef struct as_newton_def {
  double rtol;                  ///< relative tolerance on v' [-]; NAN: 1e-8, or 0.01 tolerance.rtol
  double atol;                  ///< absolute tolerance on v'; NAN: 1e-12, in typical sizes
  const double *atol_component; ///< n numbers instead of atol; NULL: atol for all; copied
  int max_iterations;           ///< per step and factorization
  bool reuse;                   ///< keep a factorization over steps while it contracts
} as_newton_def;

/// Choices of the SOI2 method.
typedef struct as_soi2_def {
  /// M_alpha of the momentum p = M_alpha a: false: the matrix that the last step used; true: evaluated
  /// again at t + D h. The same if the mass is constant.
  bool reevaluate_mass;
  /// First step: solve M_alpha a = (1 - D) f_0 + D f_1 together with the step, as Jay and Negrut do,
  /// instead of improved_start.
  bool implicit_start;
} as_soi2_def;

/// How accurate automatic steps are. The error of a component of q, v or x at the end of a run is to be about
///
///     rtol * (the largest size of the component so far) + atol
///
/// in the root mean square over q, over v and over x, and in proportion to it: 0.1 to 10 times as large in most runs, more
/// where errors grow with time (docs/automatic-steps.md). The size of a rotation is 1 rad; the components of a
/// body's position, velocity or angular velocity have the size of the whole vector.
typedef struct as_tolerance {
  double rtol;          ///< [-]
  double atol_position; ///< [m]; here and below NAN: a thousandth of rtol, in typical sizes
  double atol_rotation; ///< [rad]
  double atol_velocity; ///< [m/s] and [rad/s]
  double atol_state;    ///< of x
  const double *atol_q; ///< n numbers instead, one per direction of motion; copied
  const double *atol_v; ///< n numbers instead; copied
  const double *atol_x; ///< n_x numbers instead; copied
  double first_step;    ///< [s]; NAN: chosen
  double min_step;      ///< a step that would have to be smaller is an error [s]
  double max_step;      ///< [s]
  /// How long the whole integration will be [s]; NAN: not known. Unless the problem is autonomous, inputs that last a
  /// hundredth of it are then seen whatever the motion does; see docs/automatic-steps.md. Runs set it to t_end.
  double span;
  /// as_integrator_advance(): end a step at t, and evaluate nothing behind it, instead of stepping past t and
  /// interpolating.
  bool land;
} as_tolerance;

/// What is told of each step that has been taken.
typedef void as_step_taken_fn(const as_state *end, void *user);

/// How to integrate. Start from as_default_integrator_def(). Copied by create.
typedef struct as_integrator_def {
  unsigned cookie; ///< set by as_default_integrator_def(): leave it as it is
  as_method method;
  /// 2: steps are the method's. 6: automatic steps are extrapolated where that costs less: for rtol of 1e-5 and less and machines without
  /// stiff parts; the method's elsewhere (docs/automatic-steps.md).
  int order;
  double step;    ///< h > 0 [s] of as_integrator_advance(); NAN: automatic, by `tolerance`
  double rho_inf; ///< spectral radius at infinite frequency, 0..1 [-]; 1: no damping
  /// Instead of rho_inf: all four by hand or from as_coefficients_*(); NAN: from rho_inf.
  as_coefficients coefficients;
  /// For first-order states: spectral radius, NAN: rho_inf; or all three by hand, NAN: from it.
  double state_rho_inf;
  as_state_coefficients state_coefficients;
  bool check_coefficients; ///< refuse coefficients that are not second order and stable
  bool step_corrections;   ///< keep second order when h changes; off only to see what happens
  bool improved_start;     ///< a_0 = v'_0 + D h v''_0 instead of v'_0
  bool perturbed_start;    ///< index-3: perturb v_0 by O(h^2) so that lambda does not oscillate
  bool project_start;      ///< bring q_0, v_0 onto the constraints; otherwise refuse them if off
  as_tolerance tolerance;  ///< of automatic steps
  as_soi2_def soi2;
  as_newton_def newton;
  const as_expert *expert; ///< numerical constants, docs/constants.md; NULL: the defaults; copied
  const as_event_def *events; ///< n_events of them; copied
  int n_events;
  double event_tolerance; ///< how closely events are located [s]; NAN: to round-off
  /// Inside steps v', lambda, psi, x' and y are straight lines between the ends instead of solutions there: costs nothing,
  /// and is off by whatever they do in between.
  bool straight_lines;
  /// Called after each step with the state at its end, before events in it happen. It may show other times of the step by
  /// as_integrator_interpolate(). May be NULL.
  as_step_taken_fn *step_taken;
  void *step_user;
  as_log_fn *log; ///< receives remarks; may be NULL
  void *log_user;
  /// Asked before each step: true ends the call with AS_INTERRUPTED. May be NULL.
  as_interrupt_fn *interrupt;
  void *interrupt_user;
  /// Threads that work on each step of a large machine, the caller's included; 1 to 64. The results are the same for any number, to the last
  /// bit. Small machines stay on one, docs/performance.md. Callbacks, and the problem's functions, are called by the caller's thread.
  int threads;
} as_integrator_def;

AS_API as_integrator_def as_default_integrator_def(void);

/// What a start may do to a component of the configuration and of the velocity.
enum {
  AS_START_FIXED_POSITION = 1, ///< q does not move along it
  AS_START_FIXED_VELOCITY = 2, ///< v is not changed
  /// v is not given here: it is found from the constraints, and what is given is kept if that can be.
  AS_START_FREE_VELOCITY = 4,
};

/// Where to start. Velocities and states may be NULL: zero.
typedef struct as_initial {
  double t;        ///< [s]
  const double *q; ///< required
  const double *v;
  const double *x;
  /// First guesses of the multipliers, for forces that depend on them nonlinearly; NULL: zero, and one if
  /// that does not serve.
  const double *lambda;
  const double *psi;
  const double *y; ///< first guess of the outputs; NULL: zero
  const double *u; ///< held signals before the first samples; NULL: zero
  /// n_lambda + n_psi: which constraints hold; the multipliers of the others are zero. NULL: all.
  const bool *active;
  /// n: AS_START_... of each component; NULL: all are given, and all may be changed. It belongs to q and v: who
  /// replaces these, replaces it too.
  const unsigned char *keep;
} as_initial;

/// What as_integrator_start() did to the values it was given.
typedef struct as_start_report {
  double position_residual; ///< max |g| before projection
  double velocity_residual; ///< max |g_t + B v|, |k| before projection, at the projected q
  double position_change;   ///< sqrt(d^T M d) of the move d of q
  double velocity_change;   ///< sqrt(d^T M d) of the change d of v
  int position_iterations;
  int velocity_iterations;
  double position_drift;  ///< max |g| after projection
  double velocity_drift;  ///< max |g_t + B v|, |k| after projection
  int degrees_of_freedom; ///< n less the rank of the constraints
  int n_redundant;        ///< constraint rows that others imply
  int n_nearly_redundant; ///< rows that others nearly imply; or the start is nearly singular
  /// Which rows, the redundant ones first: numbers of g, then n_lambda + numbers of k. Belongs to the
  /// integrator.
  const int *redundant;
  /// For each row, of g and then of k, the number of the group of rows that imply each other; -1: none. Belongs to the
  /// integrator.
  const int *redundancy_group;
  /// By how much each row contradicts what was given, in units of its gradient: n_lambda rows of g with the positions,
  /// n_lambda + n_psi of g_t + B v and k with the velocities (those that are not given as the rest demands). Both
  /// belong to the integrator; NULL: not known.
  const double *position_rows;
  const double *velocity_rows;
} as_start_report;

/// Work done since start.
typedef struct as_statistics {
  long steps;
  long failed_steps;   ///< attempts that could not be solved
  long rejected_steps; ///< attempts whose error was too large
  long newton_iterations;
  long factorizations;
  long solves;
  long mass_evaluations;
  long force_evaluations;
  long constraint_evaluations; ///< g, g_t + B v, k and their time derivatives
  long jacobian_evaluations;   ///< assemblies of an iteration matrix
  double last_step;            ///< [s]
  double next_step;            ///< what an automatic step would begin with [s]; NAN: not known
  double error;                ///< of the last automatic step, in tolerances
  double dynamics_residual;    ///< max |M v' - f| as last evaluated, before the last correction
  double position_residual;    ///< max |g| likewise
  double velocity_residual;    ///< max |g_t + B v|, |k| likewise (index-3: k only)
  double contraction;          ///< last observed ratio of two Newton increments; 0 if none
} as_statistics;

typedef struct as_integrator as_integrator;

/// Takes all memory. The problem must outlive the integrator.
AS_API as_status as_integrator_create(const as_problem *problem, const as_integrator_def *def,
                                      as_integrator **out, as_error *error);
AS_API void as_integrator_destroy(as_integrator *integrator);

/// Sets the state: projects q and v onto the constraints with the least mass-weighted change, [ST.9] where not
/// everything is given or something is fixed, then solves for v', lambda, psi. `report` may be NULL. May be called again at any time.
AS_API as_status as_integrator_start(as_integrator *integrator, const as_initial *initial,
                                     as_start_report *report, as_error *error);

/// One step of size h > 0; successive steps may differ. Where samples lie inside, it is taken in parts that
/// end on them; samples at its end are taken too. A step that cannot be taken is tried again with
/// compliant constraints and in smaller parts, each of which is a step; if one of them fails, the state is that at the end of the part before.
AS_API as_status as_integrator_step(as_integrator *integrator, double h, as_error *error);

/// Takes steps until t and shows the state there. On failure it is the one after the last good step.
///
/// Steps of def.step: the last one is stretched or shortened to land on t exactly (a first step after an event
/// that would be short passes t instead, and the state there is interpolated); with samplers the steps
/// between two samples are equal, and at most def.step.
///
/// Automatic steps: as large as def.tolerance allows. They do not depend on t: the last one may end behind it,
/// and the state at t is interpolated; the next call goes on from where the steps are. With tolerance.land
/// the last one lands on t.
AS_API as_status as_integrator_advance(as_integrator *integrator, double t, as_error *error);

/// Takes the next of the steps that as_integrator_advance() to t would take, or, where the state is inside the last one, goes to its
/// end; shows the state there, or at t if that comes first. Many of these end with the same bits as one as_integrator_advance().
AS_API as_status as_integrator_step_towards(as_integrator *integrator, double t, as_error *error);

/// One step of the size that the integrator chooses, or of def.step; shows the state at its end.
AS_API as_status as_integrator_next(as_integrator *integrator, as_error *error);

/// Shows the state at a time inside the last step, ends included: q, v and x by cubics (q on the group); v', lambda, psi,
/// x' and y are those that belong to them by the equations of motion, at the cost of a factorization (but see
/// def.straight_lines). Later steps do not notice.
AS_API as_status as_integrator_interpolate(as_integrator *integrator, double t, as_error *error);

/// Sets all held signals, n_u finite numbers, at the time that is shown, as an event would: the last step ends there, v', the multipliers
/// and outputs are those of the new signals, and the next step is a first one. For inputs from outside, between two calls of
/// as_integrator_advance(). Those of samplers hold until their next sample. AS_STOPPED: what they are now lets an event stop.
AS_API as_status as_integrator_set_signals(as_integrator *integrator, const double *u,
                                           as_error *error);

/// The last event. The array belongs to the integrator.
AS_API as_event_report as_integrator_event(const as_integrator *integrator);

AS_API const as_state *as_integrator_state(const as_integrator *integrator);
/// Which constraints hold now, for as_initial.active: n_lambda + n_psi flags.
AS_API void as_integrator_active(const as_integrator *integrator, bool *active);

/// v projected onto g_t + B v = 0 and k = 0 with the least mass-weighted change, n numbers: for
/// output after index-3 steps. The state stays as it is.
AS_API as_status as_integrator_velocity(as_integrator *integrator, double *v, as_error *error);

/// Fills `out`.
AS_API as_status as_integrator_statistics(const as_integrator *integrator, as_statistics *out,
                                          as_error *error);

/// How well the constraints hold in the state that is shown: the largest |g|, and the largest |g_t + B v| and |k|. Evaluates them once;
/// later steps do not notice.
AS_API as_status as_integrator_drift(as_integrator *integrator, double *position, double *velocity,
                                     as_error *error);

/// Writes all that the integrator knows to `data`: one that is made from the same problem and description, in
/// another process too, and loads it goes on bit for bit. `size` is the room there is, and becomes the bytes
/// needed; with data NULL nothing else happens. What callbacks keep for themselves is not in it.
AS_API as_status as_integrator_save(as_integrator *integrator, void *data, size_t *size,
                                    as_error *error);
/// Takes up a saved state; needs no start. One that is damaged or does not fit is refused, and nothing has
/// changed.
AS_API as_status as_integrator_load(as_integrator *integrator, const void *data, size_t size,
                                    as_error *error);
/// The same with a file, which is replaced in one piece.
AS_API as_status as_integrator_save_file(as_integrator *integrator, const char *path,
                                         as_error *error);
AS_API as_status as_integrator_load_file(as_integrator *integrator, const char *path,
                                         as_error *error);

#ifdef __cplusplus
}
#endif

#endif
