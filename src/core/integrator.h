/// What the integrator's files share: its workspace and the parts of a step.
///
/// integrator.c  create, destroy, statistics
/// initial.c     start: what is given is checked, projected and completed
/// step.c        step, advance; what is done when a step fails
/// start.c       the systems behind it: projection, consistent accelerations, corrections
/// newton.c      solves one step's equations
/// collocated.c  the index-3 and stabilized index-2 methods: the equations of one step
/// soi2.c        the SOI2 method
/// sampling.c    sampled controllers
/// save.c        states in memory and in files
/// events.c      what happens when functions cross zero
/// control.c     automatic steps: the error of a step, the size of the next
/// dense.c       the state anywhere in the last step
/// between.c     its accelerations and multipliers, without a trace in later steps
/// times.c       known times at which inputs change
/// inside.c      inputs that the ends of a step do not show
#ifndef ALPHASTEP_CORE_INTEGRATOR_H
#define ALPHASTEP_CORE_INTEGRATOR_H

#include "alphastep/integrator.h"
#include "base/archive.h"
#include "base/denormals.h"
#include "base/export.h"
#include "core/evaluate.h"
#include "core/predictor.h"
#include "core/redundancy.h"
#include "core/system.h"

/// The variables of a state, or of a trial for the next one.
typedef struct asi_values {
  double *q;
  double *v;
  double *vdot;
  double *a;
  double *lambda;
  double *psi;
  double *eta;
  double *x;
  double *xdot;
  double *w;
  double *y;
} asi_values;

/// A method: residual and iteration matrix of one step, nothing else.
typedef struct asi_method {
  const char *name;
  /// Makes integrator->step and what else the method needs; called once, by create.
  as_status (*create)(as_integrator *s, as_error *error);
  /// Sets up a step of size h from the current state.
  as_status (*begin)(as_integrator *s, double h);
  /// Predicts its unknowns, integrator->z.
  void (*predict)(as_integrator *s);
  /// Evaluates the step's equations at z into integrator->residual; `tangents`: linearize comes next, and what it
  /// needs may be evaluated with them.
  as_status (*evaluate)(as_integrator *s, bool tangents);
  /// Assembles and factorizes the iteration matrix at the z that was evaluated last; `again`: not for the
  /// first time in this step.
  as_status (*linearize)(as_integrator *s, bool again);
  /// Solves with the iteration matrix, in place.
  as_status (*solve)(as_integrator *s, double *b);
  /// Fills the trial, integrator->next, from z.
  void (*update)(as_integrator *s);
  /// Makes the trial the new state.
  void (*accept)(as_integrator *s);
} asi_method;

enum { ASI_PATH = 3 }; ///< steps that a path is followed over

/// What was seen of Newton's method in the steps so far: decides on factors and on iterations.
typedef struct asi_seen {
  double contraction;       ///< last observed with the factors at hand, when they were
  long contraction_age;     ///< this old; 0: not observed since the step they were made in
  double ageing;            ///< contraction over age, as observed last, for
  double ageing_norm;       ///< an increment of this size
  int ageing_left;          ///< how many more factors are expected to age like that; 0: not known
  double fresh_contraction; ///< observed with new factors, or
  bool fresh_seen;          ///< if not, assumed
  double fresh_norm;        ///< of the increment that it was observed for
  double first_norm;        ///< of the first increment of the last step
  double refining;          ///< contraction of [ST.6]'s refinements when it was seen last,
  long refining_age;        ///< with factors this old; 0: not yet
} asi_seen;

/// What a trial leaves of the equations, in typical sizes: of motion, of positions, of velocities.
typedef struct asi_left {
  double dynamics, position, velocity;
} asi_left;

enum { ASI_PARASITE_STEPS = 6 }; ///< that a parasitic mode is watched for

/// [GA.18] What is known of parasitic modes of index-3.
typedef struct asi_parasite {
  double *past[3]; ///< n_lambda: lambda after the last steps, the latest first
  double *swing;   ///< n_lambda: what alternates in it
  int known;       ///< steps of one size that these come from; no more than 4
  int count;       ///< of them in a row, lambda has alternated; no more than ASI_PARASITE_STEPS
  double least;    ///< the smallest share of lambda that did, meanwhile
} asi_parasite;

struct as_integrator {
  const as_problem *problem;
  as_integrator_def def;
  as_coefficients c;
  double D; ///< alpha_m - alpha_f
  as_state_coefficients cx;
  double Dx; ///< delta_m - delta_f
  const asi_method *method;
  bool started;
  bool first; ///< no step taken since start
  /// Energies [J] of vibrations in the states that first steps begin from, of the step that is tried and of all taken since the start.
  struct {
    double kinetic[2]; ///< [ST.11] what they begin with beyond what the state has
    double stored[2];  ///< [ST.10] in springs, and not resolved
  } blow;

  as_statistics statistics;
  asi_evaluator eval;
  as_matrix block[AS_BLOCK_COUNT]; ///< at the point that was evaluated last
  as_block_set at_trial;           ///< those of them that belong to the residual's z
  bool mass_known;                 ///< a constant mass matrix has been evaluated
  asi_motion motion;
  as_matrix b_n;         ///< index-2: B at the start of the step; its values are in the arena
  double *b_trial;       ///< and those that the step being solved leaves for the next one
  bool b_lost;           ///< rows have changed since: B has to be evaluated again
  asi_system kkt;        ///< [M -f_lambda -f_psi; B 0 0; k_v 0 0]
  asi_system consistent; ///< kkt with x' and y, if there are any
  asi_system projection; ///< [M B^T k_v^T; B 0 0; k_v 0 0], if it differs from kkt
  asi_system step;       ///< the method's iteration matrix
  asi_system shared;     ///< SOI2: a smaller one that serves both stages; index-2: one without eta
  asi_system eta;        ///< index-2: that of eta alone
  int coupled_steps;     ///< index-2: successive steps that took `step` although there is `shared`
  double *eta_part;      ///< its right side, and another one of `shared`
  double *eta_path;      ///< index-2: B_n^T eta/h of z; NULL: there is none
  double *eta_change;    ///< and of the last increment,
  double *metric;        ///< over the pattern of B: W of its columns [GA.19]
  double position_norm;  ///< [NW.9] its size
  asi_system *active;    ///< the one that is in use
  asi_redundancy redundancy;
  double compliance;      ///< e of [RE.3] in use; 0: none
  double base_compliance; ///< what a step begins with

  double *arena; ///< all the arrays below
  size_t arena_size;
  double *backup;     ///< a copy of the arena, while a step is split
  double *atol;       ///< n
  double *given_atol; ///< n: NAN where it is not given

  double t;        ///< end of the last step [s]
  double a_offset; ///< now.a ~ v'(t + a_offset) [s]
  double w_offset; ///< now.w ~ x'(t + w_offset) [s]
  asi_values now;  ///< at t
  asi_values next; ///< a trial for the end of the next step; scratch otherwise

  // What the caller sees: at t, or interpolated inside the last step.
  as_state state; ///< points into now or shown
  asi_values shown;
  bool
      late_reactions; ///< those of redundant joints are shown by asi_show_reactions() only, when they are asked for
  struct {
    bool known;         ///< there is one
    double t0, h;       ///< from t0 to t0 + h [s]
    double a_offset[2]; ///< at its ends
    double w_offset[2];
    asi_values from; ///< the values at t0
    asi_values to;   ///< those at its end, if now has jumped since
    bool jumped;
    double *xi;        ///< q_1 = q_0 o exp(xi)
    double *rate[2];   ///< n: rates of q at its ends
    double *u;         ///< held signals during the step, if they have changed since
    bool *inactive;    ///< n_lambda + n_psi: constraints during the step likewise,
    int n_inactive;    ///< how many of them did not hold,
    bool *implied;     ///< which were left out,
    int n_implied;     ///< how many,
    double compliance; ///< and what it was
    double factor_h;   ///< of the matrix that it was solved with; NAN: there is none
  } last;              ///< the last step
  struct {
    asi_system kkt, consistent, projection; ///< as those of steps
    asi_system stiff;                       ///< [DO.3]
    asi_values lines;                       ///< v', lambda, psi, x' and y by straight lines
    double *block;                          ///< what blocks of steps hold
    double *velocity;                       ///< n: index-3: v on the constraints
    double *rest;                           ///< what lines leave of all equations
  } output;                                 ///< for the state between steps, see between.c
  /// Time derivatives of v', lambda, psi, x' and y at the start, by differences.
  struct {
    double *vdot, *lambda, *psi, *xdot, *y;
  } rate;
  double *calm_vdot; ///< n: v'_0 of a first step without what it does not resolve, [ST.10]
  double *calm_lambda, *calm_psi; ///< those of a first step, behind a blow, [ST.11]
  const double *vdot0;            ///< v'_0 that [GA.2] takes: this one, or that of the state
  double *a_rate;                 ///< of v', seen through a over the last step
  asi_parasite parasite;
  struct {
    double *mean[ASI_PATH]; ///< n: of v over the last steps, by q; the latest first
    double h[ASI_PATH];     ///< their sizes [s]
    int count;              ///< how many there are
    double lag;             ///< what the last one's v_0 lags behind, over v'' [s^2]
    bool stiff;             ///< there may have been something stiff in it, where steps have changed
    bool stiffens;          ///< the same with this one
    bool excited;           ///< since the start a change of the step would have excited something
    bool excites;           ///< the same with this one
    double *extra;          ///< n: how constraints have moved q in it beyond v and a, over h
    double *change;         ///< n: scratch
    double *foretold;       ///< n: xi of this step as extrapolated, [NW.15]
    bool leads;             ///< the path foretells steps better than that
  } path;                   ///< where stiff directions come from, [GA.15]
  asi_predictor predictor;

  struct {
    double t0, h; ///< steps of a given size end at t0 + i h; h is NAN: none yet [s]
    long count;   ///< i of the last one
  } mesh;

  // One step.
  double t1;        ///< end of the step [s]
  double h;         ///< its size [s]
  double gamma;     ///< gamma_n
  double d0;        ///< a_n ~ v'(t_n + d0) [s]
  double d1;        ///< a_{n+1} ~ v'(t_{n+1} + d1) [s]
  double theta;     ///< theta_n
  double dx0;       ///< w_n ~ x'(t_n + dx0) [s]
  double dx1;       ///< w_{n+1} ~ x'(t_{n+1} + dx1) [s]
  double last_h;    ///< of the last accepted step [s]
  bool varying;     ///< index-3, index-2: steps have differed since the start
  bool varies;      ///< the same with this step
  int unknowns;     ///< how many a step has
  double *v0;       ///< v_n with its start or step-change correction
  double *w0;       ///< w_n likewise
  double *a0;       ///< a_n likewise
  double *p;        ///< SOI2: M_1 a of the last step
  double *p0;       ///< SOI2: p_n with its step-change correction
  double *a_before; ///< SOI2: a0 and p0 of the last step
  double *p_before;
  double *f0;        ///< SOI2: the force at the start of the step
  double *v_tilde;   ///< SOI2: the velocity of the tilde stage
  double *xi;        ///< q_{n+1} = q_n o exp(xi)
  double *z;         ///< unknowns
  double *residual;  ///< of the step's equations
  double *increment; ///< of z
  double *turns;     ///< n: 1 for rotations of bodies, 0 for all else
  double *weight;    ///< n: the tolerance of each component of v'
  double *work_n;    ///< n
  double *q_best;    ///< nq: the best position of a projection so far
  double *q_given;   ///< nq: what start was given, quaternions normalized
  double *kkt_rhs;   ///< n + n_lambda + n_psi
  struct {
    const unsigned char *keep; ///< as_initial.keep, while a start projects; NULL: nothing is held
    bool positions;            ///< positions are being projected
    bool keeps_given;          ///< velocities that are given are held, too
    bool weighs;               ///< velocities that are not given weigh little
    double *rows; ///< 2 n_lambda + n_psi: as_start_report.position_rows, then velocity_rows
    bool noted;   ///< rows are known already
  } given;        ///< what a start does with what it was given [ST.9]

  // Automatic steps.
  struct {
    double h;           ///< proposed for the next step; NAN: none yet
    double error;       ///< of the last accepted step, in tolerances; at least a hundredth
    int patience;       ///< steps for which h does not grow after a rejection
    double *size;       ///< n + n + n_x: the largest sizes of q, v and x so far
    double *new_size;   ///< the same with the trial
    double *atol;       ///< n + n + n_x
    double *given_atol; ///< n + n + n_x: NAN where it is not given
    double *estimate;   ///< n + n + n_x: the error of a step
    double *mean[3];    ///< n + n_x: mean v' and x' of the trial and of the last two steps
    double mean_h[3];   ///< sizes of these steps [s]
    double *noise[3];   ///< n: round-off in these mean v'
    double
        amplified;  ///< by how much constraints amplified it in the last step; 0: it did not matter
    double longest; ///< of the steps since the start [s]
    double
        *slow[3]; ///< n: mean v' of the window of steps that is being filled, and of the last two
    double slow_h[3]; ///< lengths of these windows [s]; 0: not known
    double *third;    ///< n: v''' by windows
    bool third_known;
    double *held; ///< n: what counts of an error that constraints take up; scratch
    double
        fast; ///< what counts of the error of a vibration of stiff springs in the trial, in tolerances
    double turn;      ///< how far that turns in it, within 0.2 and 1 [rad]
    double vibration; ///< the largest of these lately
    double
        *inputs; ///< 3 (n + n_x + n_lambda) + 2 n_lambda + n: scratch of inside.c, zeros at its end
  } control;

  // Sampled controllers.
  struct asi_sampler *sampler; ///< problem->def.n_samplers of them
  double *held;                ///< n_u: results that wait for their delay
  bool forward;                ///< a restart: do not look back

  // Events.
  bool open;               ///< events and samples of the last step have not all happened yet
  double settled;          ///< those up to here have [s]
  struct asi_event *event; ///< def.n_events of them
  as_event_report report;  ///< the last one
  double *impulse;         ///< n_lambda + n_psi
  double *restitution;     ///< n_lambda + n_psi
  double *target; ///< n_lambda + n_psi: what g_t + B v and k are projected to; zero but in impacts
  bool *holds;    ///< n_lambda + n_psi: constraints, as actions want them
  bool *was_inactive; ///< n_lambda + n_psi

  // Newton.
  double newton_rtol;
  asi_left left;      ///< as evaluated last
  bool controlled;    ///< the step's error is
  double floor_share; ///< of the bound of round-off: to what automatic steps iterate
  double factor_h;    ///< h, gamma and compliance of the last factorization; NAN: none
  double factor_gamma;
  double factor_compliance;
  long factor_age;        ///< steps since the factors at hand were made; 0: made in this one
  long factor_iterations; ///< iterations with them
  asi_seen seen;
  double noise;        ///< what round-off may leave of an increment, in tolerances
  double round_off[2]; ///< in v' of a step, by stage, in typical sizes
  double q_size;       ///< of q where the step begins, in typical sizes
  double mass_size;    ///< of M where it was evaluated last, likewise
};

extern const asi_method asi_method_index3;
extern const asi_method asi_method_index2;
extern const asi_method asi_method_soi2;

// initial.c ----------------------------------------------------------------------------------------

/// Refuses a start with numbers that are missing or not finite.
as_status asi_check_initial(const as_problem *p, const as_initial *initial, as_error *error);
/// Says which constraints hold, n_lambda + n_psi flags; NULL: all.
void asi_set_active(as_integrator *s, const bool *active);
/// Lists names of constraint rows, up to eight of them.
void asi_name_rows(const as_problem *p, const int *rows, int count, char *text, size_t size);
/// Finds rows that others imply, or nearly (up to the singular value `near`), at most `most`, at a point.
as_status asi_find_redundancy(as_integrator *s, double t, const double *q, const double *v,
                              double near, int most);

/// Goes on from t, where q, v and x are those of s->next, and lambda, psi and y there are first guesses, with
/// the constraints that are active (n_lambda + n_psi) and those that are struck: finds all that belongs to
/// it. If that fails, nothing has changed.
as_status asi_restart(as_integrator *s, const bool *active, const double *restitution);
/// Goes on from t, where only forces have jumped.
as_status asi_restart_forces(as_integrator *s);

// start.c ------------------------------------------------------------------------------------------

/// [RE.3] Subtracts e / d^2 from the diagonal of the rows of an assembled matrix with unknowns v',
/// lambda, psi.
void asi_add_compliance(const as_integrator *s, asi_system *system, double e);
/// [ST.8] Lists the terms of the system for v', lambda, psi, x' and y; returns how many.
int asi_consistent_terms(const as_problem *p, asi_term *term);
/// The system that projects: kkt, if that is symmetric.
asi_system *asi_projection_system(as_integrator *s);
/// Makes kkt and projection.
as_status asi_start_create(as_integrator *s, as_error *error);
/// Brings q onto g = 0; q0 is where it comes from. Unless it may be moved, only checks it.
as_status asi_project_position(as_integrator *s, double t, const double *q0, double *q,
                               bool may_move, as_start_report *report);
/// Brings v onto the constraints at a start, by s->given; `from` is room for n numbers.
as_status asi_project_start_velocity(as_integrator *s, double t, const double *q, double *v,
                                     bool may_move, double *from, as_start_report *report);
/// Brings g_t + B v and k to s->target; unless v may be moved, only checks it. At a start the rows are
/// measured anew. Leaves the multipliers of the change in s->residual.
as_status asi_project_velocity(as_integrator *s, double t, const double *q, double *v,
                               bool may_move, bool measure, as_start_report *report);
/// How accelerations are found: a set of bits.
enum {
  ASI_TIME_STANDS = 1, ///< the constraints are at rest: their rows say B v' = 0, k_v v' = 0
  ASI_EXACT_ROWS = 2,  ///< [RE.4] compliance acts on the change of lambda and psi only, and fades
};
/// Solves for v', lambda, psi, x' and y where t, q, v and x are as given; takes them as a first guess.
as_status asi_solve_acceleration(as_integrator *s, double t, const asi_values *at, unsigned how);
/// The state a step begins from, or the same with another v.
as_point asi_point_at_start(const as_integrator *s, const double *v);
/// The rates of v', lambda and psi at the current state for a step of size h, by differences over +-reach.
as_status asi_start_rates(as_integrator *s, double h, double reach);
/// The same where other velocities and what follows from them are in place of the current ones.
as_status asi_start_rates_from(as_integrator *s, const asi_values *now, double h, double reach);
/// What B dv and k_v dv are to be in that correction, n_lambda + n_psi numbers behind the first n of s->kkt_rhs.
as_status asi_index3_rows(as_integrator *s, const double *vddot, const double *v);
/// The blocks of that correction.
as_status asi_index3_blocks(as_integrator *s, const double *v);
/// Corrects v so that the first or a changed index-3 step does not excite oscillations of lambda. With
/// vddot NULL it is only projected.
as_status asi_index3_velocity(as_integrator *s, const double *vddot, double *v);
/// out = B^T lambda + k_v^T psi, or minus its counterpart f_lambda lambda + f_psi psi if f is general.
void asi_constraint_force(const as_integrator *s, const double *lambda, const double *psi,
                          double *out);
/// The largest |g|, and the largest |g_t + B v| and |k|.
as_status asi_drift(as_integrator *s, double t, const double *q, const double *v, double *position,
                    double *velocity);

// step.c -------------------------------------------------------------------------------------------

/// Solves the equations of a step of size h that ends at t1 (t + h to round-off), with compliance e. Nothing
/// is accepted.
as_status asi_solve_step(as_integrator *s, double h, double t1, double e);
/// Makes the step that was solved last the new state.
void asi_accept_step(as_integrator *s);
/// Lets the problem note in its held signals where it is. What it cannot tell stays as it was.
void asi_follow(as_integrator *s, double t, const asi_values *now);

// stiff.c ------------------------------------------------------------------------------------------

/// Forgets the path: a start, or a jump.
void asi_path_forget(as_integrator *s);
/// Begins to look for parasitic modes anew, [GA.18].
void asi_parasite_forget(as_integrator *s);
/// Notes the step that has just been solved, before it is accepted.
void asi_path_note(as_integrator *s);
/// [NW.15] How far behind the means over the last two steps the middle of this one lies, in their distances; and the mean of
/// component i of v over this step that they foretell.
double asi_path_reach(const as_integrator *s);
double asi_path_mean(const as_integrator *s, double far, int i);
/// [NW.15] Keeps xi of a prediction with a_1 (SOI2: a~) = by_z z + by_vdot v'_0 + by_a a_0.
void asi_path_foretell(as_integrator *s, const double *z, double by_z, double by_vdot, double by_a);
/// [NW.15] a_1 (SOI2: a~) with which a step goes on as the path did.
void asi_path_predict(const as_integrator *s, double *a);
/// Changes v0 of a step whose size has changed, now or earlier, by what its size adds to velocities where something is stiff, and
/// sets v0 and a0 to what the path says where positions are held, [GA.15].
as_status asi_follow_stiff(as_integrator *s, bool changed);
/// What springs and dampers have in a change w of v' over a step beside what inertia has, by the matrix of steps and M as it was
/// evaluated last. Spoils s->z.
double asi_stiff_share(as_integrator *s, const double *w);
/// Makes the matrix of a step in s->active, perhaps without dampers.
typedef as_status asi_assemble_start(as_integrator *s, bool dampers);
/// Takes out of v0, of a0, which is v' at a start, and of the rates there what a step of size h does not resolve. The factors of
/// s->active are those of the start afterwards.
as_status asi_calm_start(as_integrator *s, asi_assemble_start *assemble);

// control.c ----------------------------------------------------------------------------------------

/// Checks tolerances and spreads them over the components.
as_status asi_control_create(as_integrator *s, as_error *error);
/// Forgets what was learned; sizes are those of the current state.
void asi_control_start(as_integrator *s);
/// Absolute tolerances that are not given, from typical sizes.
void asi_control_sizes(as_integrator *s);
/// [SZ.2] before a start
double asi_rate_at_rest(const as_integrator *s);
/// Notes a step of given size that has been solved, for later automatic ones.
void asi_control_note(as_integrator *s);
/// [SC.8] Newton's tolerance for v' in automatic steps: not more than a tenth of what q and v are allowed.
void asi_control_limit_weights(as_integrator *s);
/// The same for x: relative to it, what a step's x may be off by.
double asi_control_state_rtol(const as_integrator *s);
/// Takes one step as large as the tolerance allows. It does not pass `stop`, which may be infinite; `hint` is a
/// time that is of interest, for the first step of a system at rest.
as_status asi_automatic_step(as_integrator *s, double stop, double hint);

/// The size of s->control.estimate and of a gap of constraints, in tolerances.
double asi_control_measure(const as_integrator *s, double gap);

// inside.c -----------------------------------------------------------------------------------------

/// Looks at so many points inside the step that was solved last for inputs that move more than so many tolerances: the
/// share of the step up to the first; 1: there are none.
double asi_look_inside(as_integrator *s, int points, double allowed);

// dense.c ------------------------------------------------------------------------------------------

/// Remembers a step that has just been accepted; the values at its start are in s->next.
void asi_dense_remember(as_integrator *s, double t0, double a_offset, double w_offset);
/// Keeps the values at the end of the last step, which are about to jump.
void asi_dense_keep_end(as_integrator *s);
/// Lets the state show the values at t, inside the last step or at its end; inside, v', lambda, psi, x' and y are straight
/// lines until they are asked for.
ASI_IO void asi_dense_show(as_integrator *s, double t);

// between.c ----------------------------------------------------------------------------------------

/// What evaluations and solutions for output change, as it was.
typedef struct asi_output {
  bool of_a_row; ///< not of an event
  as_statistics statistics;
  double mass_size, compliance;
  bool mass_known;
  double *u;
  bool *inactive, *implied;
  int n_inactive, n_implied;
  asi_float_mode mode;
} asi_output;

/// Makes the system of [DO.3]; asi_start_create() makes the others.
as_status asi_output_create(as_integrator *s, as_error *error);
/// How many numbers there are in the blocks that are put back.
size_t asi_output_block_size(const as_problem *p);
/// Between these two systems may be solved at the time that is shown, with the constraints and held signals that it has:
/// steps do not notice. For events, which are part of the run, the systems are those of steps.
void asi_output_begin(as_integrator *s, bool of_a_row, asi_output *was);
void asi_output_end(as_integrator *s, const asi_output *was);
/// Leads positions back to where stiff springs have their force, [DO.3], and solves for v', lambda, psi, x' and y of the
/// state that is shown, if it is inside a step; where that cannot be done all is as interpolated.
ASI_IO as_status asi_dense_complete(as_integrator *s, bool of_a_row, bool with_rates);
/// Whether springs, by the matrix of the last step, are what decides on a change of v' from one value to another: then it is
/// that of a vibration which no step resolves. M is that of a point.
ASI_IO bool asi_jumps_over(as_integrator *s, double t, const double *q, const double *from,
                           const double *to);

// sampling.c ---------------------------------------------------------------------------------------

as_status asi_sampling_create(as_integrator *s, as_error *error);
void asi_sampling_free(as_integrator *s);
/// Copies where the samplers stand, and u, for a start that may fail; puts the copy back.
void asi_sampling_keep(as_integrator *s);
void asi_sampling_take_back(as_integrator *s);
/// Saves or loads where the samplers stand.
void asi_sampling_visit(as_integrator *s, asi_archive *a);
/// Forgets what is pending; samples before t are over.
void asi_sampling_start(as_integrator *s, double t);
/// The next time at which something is sampled or takes effect; infinity if there is none [s].
double asi_sampling_next(const as_integrator *s);
/// Whether a time at which something is sampled is t, to round-off.
bool asi_sampling_is_at(const as_integrator *s, double time, double t);
/// Takes the samples that are due at the current time and lets results take effect; if u has changed, v',
/// lambda, psi, x' and y are found anew and the next step is a first one; `jumped` says so.
as_status asi_sampling_act(as_integrator *s, bool *jumped);

// times.c ------------------------------------------------------------------------------------------

/// The next known time, of an input or an event, at which a step has to end; infinity if there is none [s].
double asi_times_next(const as_integrator *s);
/// If inputs may jump now, goes on behind that, where v', lambda, psi, x' and y are found anew; `passed` says so.
as_status asi_times_pass(as_integrator *s, bool *passed);

// events.c -----------------------------------------------------------------------------------------

/// The next time behind t at which an event happens by the clock or its function turns; infinity if there is none [s].
double asi_events_next(const as_integrator *s, double t);

as_status asi_events_create(as_integrator *s, as_error *error);
void asi_events_free(as_integrator *s);
/// Copies what is known of the events; puts the copy back.
void asi_events_keep(as_integrator *s);
void asi_events_take_back(as_integrator *s);
/// Saves or loads what is known of the events.
void asi_events_visit(as_integrator *s, asi_archive *a);
/// Takes the signs of all functions at the current state.
as_status asi_events_start(as_integrator *s);
/// Takes the signs again, after something has jumped.
as_status asi_events_look(as_integrator *s);
/// Whether there are events in the last step that have not happened yet.
as_status asi_events_pending(as_integrator *s, bool *pending);
/// Lets the events of the last step happen that lie at or before `until`, in their order. AS_STOPPED: one
/// asked to stop, and its state is shown.
as_status asi_events_act(as_integrator *s, double until);

// collocated.c -------------------------------------------------------------------------------------

enum {
  ASI_ALWAYS_COUPLED = 5
}; ///< so many steps in a row with index-2's full matrix, and all others follow

/// Whether a step leaves B for the next one: its equations evaluate it.
bool asi_index2_keeps_b(const as_integrator *s);
/// Keeps B as it was last evaluated in a step, for the next one.
void asi_index2_keep_b(as_integrator *s);
/// Finds B_n^T eta/h of z.
void asi_index2_path(as_integrator *s);
/// [GA.19] what eta moves, at a start.
void asi_index2_metric(as_integrator *s);
/// Makes index-2's matrix of all unknowns, if there is only that without eta so far.
as_status asi_index2_couple(as_integrator *s, as_error *error);

// newton.c -----------------------------------------------------------------------------------------

enum { ASI_AGEING_BELIEVED = 10 }; ///< of so many factors in a row, [NW.12]

/// Round-off in v' of a step of size h; `stage` counts those of SOI2, otherwise 0.
double asi_round_off(const as_integrator *s, int stage, double h);
/// [SC.13] Round-off in v' as constraints amplify it, with the matrix of the step, of which there is a
/// factorization; `w` is scratch for all unknowns. Returns by how much they do; 0: that is not known.
double asi_amplify_round_off(as_integrator *s, int stage, double *noise, double *w);
/// Where the full matrix of SOI2 has the equations of motion, and v', once more: those of its second stage. Otherwise its size.
int asi_second_stage(const as_integrator *s);
/// Whether i belongs to the n equations of motion, or to v', of a stage; the second one begins at `again`.
bool asi_is_motion(int i, int n, int again);
/// Finds B_n^T d(eta/h), in s->eta_change, and its size in tolerances.
double asi_position_norm(as_integrator *s, const double *eta);
/// Predicts z and solves the step's equations.
as_status asi_newton(as_integrator *s);

// integrator.c -------------------------------------------------------------------------------------

void asi_copy_values(const as_problem *p, const asi_values *from, const asi_values *to);
/// Tells the log callback, if there is one.
ASI_IO void asi_log(const as_integrator *s, as_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// Clears an error that a failed first attempt may have left; returns AS_OK.
ASI_IO as_status asi_succeed(as_error *error);
/// Refuses an integrator that is NULL or has not been started.
as_status asi_check_started(const as_integrator *s, as_error *error);
/// Lets the state point to some values.
ASI_IO void asi_publish(as_integrator *s, double t, const asi_values *at);
/// Evaluates blocks into s->block, a constant mass matrix only once.
as_status asi_blocks(as_integrator *s, const as_point *at, as_block_set wanted);
/// Evaluates functions at a point, out[function] where it is not NULL, with the blocks that they need and those wanted.
as_status asi_functions(as_integrator *s, const as_point *at, double *const out[ASI_FUNCTIONS],
                        as_block_set wanted);
/// Notes the largest of some constraint residuals, from row `first` on, and in typical sizes, and multiplies them.
void asi_finish_rows(const as_integrator *s, double *r, int first, int count, double factor,
                     double *largest, double *left);
/// Factorizes an assembled system; `what` says in a message what could not be determined.
as_status asi_factor(as_integrator *s, asi_system *system, double t, const char *what);
/// The same of a matrix that knows no units.
as_status asi_factor_as_is(as_integrator *s, asi_system *system, double t, const char *what);
as_status asi_solve(as_integrator *s, asi_system *system, double t, double *b);
/// The largest |x_i|; NaN if there is one among them.
double asi_max_abs(const double *x, int n);
/// The largest component of a motion, of a configuration, of a force and of a mass matrix, in typical sizes [SZ.1].
double asi_max_motion(const as_problem *p, const double *x);
double asi_max_position(const as_problem *p, const double *q);
double asi_max_force(const as_problem *p, const double *f);
double asi_max_mass(const as_problem *p, const as_matrix *m);
/// The larger of two numbers; NaN if one is.
double asi_worse(double a, double b);

#endif
