/// The integrator: many steps, their sizes, what happens in them and what is shown of them.
///
/// integrator.c  create, destroy, statistics
/// consistent_start.c  start: what is given is checked, projected and completed; restarts
/// advance.c     step, advance; what is done when a step fails
/// control.c     automatic steps: the size of the next;  step_error.c  the error of a step;  tolerances.c  what is asked for
/// extrapolation.c  steps of order 6
/// inside.c      inputs that the ends of a step do not show;  times.c  known times at which inputs change
/// interpolation.c  the state anywhere in the last step
/// between.c     its accelerations and multipliers, without a trace in later steps
/// events.c      what happens when functions cross zero;  crossings.c  where they do
/// zero_order_hold.c  sampled controllers
/// state.c       the declared state: one list, for saved states and for what is undone;  save.c  states in memory and in files
#ifndef ALPHASTEP_CORE_DRIVER_INTEGRATOR_H
#define ALPHASTEP_CORE_DRIVER_INTEGRATOR_H

#include "base/archive.h"
#include "base/denormals.h"
#include "core/stepper/stepper.h"

/// Where steps of a given size end: at t0 + i h.
typedef struct asi_mesh {
  double t0, h; ///< h is NAN: none yet [s]
  long count;   ///< i of the last one
  double
      jump; ///< the known time that was passed last; there a step begins, but the mesh goes on; NAN: none [s]
} asi_mesh;

struct as_integrator {
  asi_kinematics kin;
  asi_stepper stepper;
  as_integrator_def def;
  bool started;
  long most_steps; ///< a call that goes to a time stops when statistics.steps has come so far
  double *arena;   ///< all arrays of numbers, here, of kinematics and of the stepper
  size_t arena_size;
  struct {
    unsigned char *bytes;
    size_t size;
  } snapshot; ///< the declared state before something that may fail, see state.c
  struct {
    double *move;     ///< n
    double *work;     ///< n
    double *rhs;      ///< n + n_lambda + n_psi + n_x + n_y
    double *unknowns; ///< one for each unknown of a step
  } scratch;          ///< of step control, events and output

  // What the caller sees: at t, or interpolated inside the last step.
  as_state state; ///< points into now or shown
  asi_values shown;
  /// Hears of each event that has changed something or stops the run, by its number; NULL: nobody does.
  as_status (*happened)(int index, int direction, double t, void *user);
  void *happened_user;
  bool
      late_reactions; ///< those of redundant joints are shown by asi_show_reactions() only, when they are asked for
  struct {
    asi_system kkt, consistent, projection; ///< as those of steps
    asi_system stiff;                       ///< [DO.3]
    asi_values lines;                       ///< v', lambda, psi, x' and y by straight lines
    double *block;                          ///< what blocks of steps hold
    double *velocity;                       ///< n: index-3: v on the constraints
    double *rest;                           ///< what lines leave of all equations
  } output;                                 ///< for the state between steps, see between.c
  asi_mesh mesh;

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
    double *noise[3];   ///< n + n_x: round-off in these means
    double
        amplified;  ///< by how much constraints amplified it in the last step; 0: it did not matter
    double longest; ///< of the steps since the start [s]
    double share, slow_share; ///< what counts of errors of v, and of those by windows,
    double share_h;           ///< in steps of this size [s]; 0: not known
    int by_shares;            ///< steps for which they have served since,
    int most_by_shares;       ///< and for which they may
    double
        *slow[3]; ///< n: mean v' of the window of steps that is being filled, and of the last two
    double slow_h[3]; ///< lengths of these windows [s]; 0: not known
    double *third;    ///< n: v''' by windows
    bool third_known;
    double *held;         ///< n: what counts of an error that constraints take up; scratch
    double *vibrating[5]; ///< n: scratch of vibration.c
    double expected; ///< [SC.15] speed that forces at the start lead to, over typical sizes [1/s]
    double
        *inputs; ///< 3 (n + n_x + n_lambda) + 2 n_lambda + n: scratch of inside.c, zeros at its end
  } control;

  // Steps of order 6, extrapolation.c; for order 2 there is no memory.
  struct {
    double *start,
        *rate; ///< 2 n + n_x: the rate of (theta, v, x) where the step begins, and at a point of it
    double *before, *point; ///< likewise: the last two points
    double *middle;         ///< likewise: the point in the middle of the step,
    double *middle_rate;    ///< and the rate there
    double *end_row[ASI_ROWS], *middle_row[ASI_ROWS]; ///< likewise: the last rows of the tableaus
    bool by_method;                                   ///< steps are the method's for now
    bool compares; ///< and are looked at, or those of order 6 are: they go on if they cost less
    long count;    ///< steps since
    long wait;     ///< after so many the others are looked at,
    long wait_for_method, wait_for_high; ///< and after so many the next time
    double h;                            ///< the size that the last step of order 6 proposed [s]
    double vdot_size;            ///< the largest v' where such a step began, in typical sizes
    double until;                ///< at least up to here steps are the method's, if they are [s]
    double h_settling;           ///< of steps of the method when they were looked at last [s]
    double t, work, work_before; ///< when that was [s], what had been spent, and when they began
    double cost, cost_of_method; ///< what is spent per time [1/s]
  } high;

  // Sampled controllers.
  struct asi_zoh *sampler; ///< problem->def.n_samplers of them
  struct {
    double *result;         ///< results that wait for their delay
    double *before_samples; ///< u, for samples that fail
    double *shown;          ///< u as samplers are shown it
    double *before_event, *after_event;
  } held; ///< n_u each

  // Events.
  bool has_pending_events; ///< events and samples of the last step have not all happened yet
  double processed_until;  ///< those up to here have [s]
  struct asi_event *event; ///< def.n_events of them
  as_event_report report;  ///< the last one
  double *impulse;         ///< n_lambda + n_psi
  double *restitution;     ///< n_lambda + n_psi
  bool *holds;             ///< n_lambda + n_psi: constraints, as actions want them
  bool *was_inactive;      ///< n_lambda + n_psi
};

// consistent_start.c ---------------------------------------------------------------------------------

/// Goes on from t, where q, v and x are those of s->next, and lambda, psi and y there are first guesses, with
/// the constraints that are active (n_lambda + n_psi) and those that are struck: finds all that belongs to
/// it. If that fails, nothing has changed.
as_status asi_restart(as_integrator *s, const bool *active, const double *restitution);
/// Goes on from t, where only forces have jumped.
as_status asi_restart_forces(as_integrator *s);
/// Goes on from t with v', and in index-3 form v, of the equations of motion there, not those of a step.
as_status asi_restart_exactly(as_integrator *s);

// reach.c -----------------------------------------------------------------------------------------

/// [RE.12] Whether no position close to s->now.q satisfies the constraints at t1; then s->next.q is where they are closest.
bool asi_is_out_of_reach(as_integrator *s, double t1);
/// Fails if automatic steps have become short because the machine's reach ends close ahead, before `until`; s->t1 is then where.
as_status asi_reach_look(as_integrator *s, double until);

// advance.c ---------------------------------------------------------------------------------------

/// Makes the step that was solved last the new state.
void asi_accept_step(as_integrator *s);

// tolerances.c ------------------------------------------------------------------------------------

/// Checks tolerances and spreads them over the components.
as_status asi_control_create(as_integrator *s, as_error *error);
/// Absolute tolerances that are not given, from typical sizes.
void asi_control_sizes(as_integrator *s);
/// [SZ.2] before a start
double asi_rate_at_rest(const as_integrator *s);
/// Forgets what was learned; sizes are those of the current state.
void asi_control_start(as_integrator *s);
/// The size of s->control.estimate and of a gap of constraints, in tolerances.
double asi_control_measure(const as_integrator *s, double gap);

// step_error.c ------------------------------------------------------------------------------------

/// Notes a step of given size that has been solved, for later automatic ones.
void asi_control_note(as_integrator *s);
/// Moves what is known of v' in earlier steps as it has jumped now.
void asi_control_move(as_integrator *s);

// vibration.c -------------------------------------------------------------------------------------

/// [SC.15] At a start: the speed that forces lead to. Only failing callbacks are errors.
as_status asi_expect_speed(as_integrator *s);

// control.c ---------------------------------------------------------------------------------------

/// Takes one step as large as the tolerance allows. It does not pass `stop`, which may be infinite; `hint` is a
/// time that is of interest, for the first step of a system at rest.
as_status asi_automatic_step(as_integrator *s, double stop, double hint);

// extrapolation.c ---------------------------------------------------------------------------------

/// Forgets what was learned of steps of order 6.
void asi_extrapolation_start(as_integrator *s);
/// The same as asi_automatic_step() with a step of order 6, unless one of the method costs less or no other can be taken.
as_status asi_extrapolated_step(as_integrator *s, double stop, double hint);

// inside.c ----------------------------------------------------------------------------------------

/// Looks at so many points inside the step that was solved last for inputs that move more than so many tolerances: the
/// share of the step up to the first; 1: there are none.
double asi_look_inside(as_integrator *s, int points, double allowed);

// interpolation.c ----------------------------------------------------------------------------------

/// Keeps the values at the end of the last step, which are about to jump.
void asi_interpolation_keep_end(as_integrator *s);
/// Lets the state show the values at t, inside the last step or at its end; inside, v', lambda, psi, x' and y are straight
/// lines until they are asked for.
ASI_IO void asi_interpolation_show(as_integrator *s, double t);

/// Lets the state show what it was at the end of the last step before it jumped there.
ASI_IO void asi_interpolation_show_end(as_integrator *s);

// between.c ---------------------------------------------------------------------------------------

/// What evaluations and solutions for output change, as it was.
typedef struct asi_output {
  bool of_a_row; ///< not of an event
  as_statistics statistics;
  double mass_size, compliance;
  bool mass_known;
  double *u, *norm_weight;
  bool *inactive, *implied;
  int n_inactive, n_implied;
  asi_float_mode mode;
} asi_output;

/// Makes the systems of output: as those of steps, and that of [DO.3].
as_status asi_output_create(as_integrator *s, as_error *error);
/// How many numbers there are in the blocks that are put back.
size_t asi_output_block_size(const as_problem *p);
/// Keeps blocks that steps do not evaluate anew before they use them, or puts them back.
void asi_keep_blocks(as_integrator *s, bool back);
/// Factorizes S of [DO.3] at a point with q alone, which moves by `by_q` v': M + by_q K between constraints, in s->output.stiff.
/// Leaves blocks of that point.
as_status asi_spring_matrix(as_integrator *s, const as_point *at, double by_q);
/// Between these two systems may be solved at the time that is shown, with the constraints and held signals that it has:
/// steps do not notice. For events, which are part of the run, the systems are those of steps.
void asi_output_begin(as_integrator *s, bool of_a_row, asi_output *was);
void asi_output_end(as_integrator *s, const asi_output *was);
/// Leads positions back to where stiff springs have their force, [DO.3], and solves for v', lambda, psi, x' and y of the
/// state that is shown, if it is inside a step; where that cannot be done all is as interpolated.
ASI_IO as_status asi_interpolation_complete(as_integrator *s, bool of_a_row, bool with_rates);
/// Whether springs, by the matrix of the last step, are what decides on a change of v' from one value to another: then it is
/// that of a vibration which no step resolves. M is that of a point.
bool asi_jumps_over(as_integrator *s, double t, const double *q, const double *from,
                    const double *to);
/// Lets the state show multipliers of least norm.
ASI_IO as_status asi_show_reactions(as_integrator *s);

// zero_order_hold.c ---------------------------------------------------------------------------------

as_status asi_zoh_create(as_integrator *s, as_error *error);
void asi_zoh_free(as_integrator *s);
/// Saves or loads where the samplers stand.
void asi_zoh_serialize(as_integrator *s, asi_archive *a);
/// Forgets what is pending; samples before t are over.
void asi_zoh_start(as_integrator *s, double t);
/// The next time at which something is sampled or takes effect; infinity if there is none [s].
double asi_zoh_next(const as_integrator *s);
/// Whether a time at which something is sampled is t, to round-off.
bool asi_zoh_is_at(const as_integrator *s, double time, double t);
/// Takes the samples that are due at the current time and lets results take effect; if u has changed, v',
/// lambda, psi, x' and y are found anew and the next step is a first one; `jumped` says so.
as_status asi_zoh_act(as_integrator *s, bool *jumped);

// state.c -----------------------------------------------------------------------------------------

/// Counts, writes or reads all that an integrator knows, factors included.
void asi_state_serialize(as_integrator *s, asi_archive *a);
/// Takes the memory of snapshots.
as_status asi_snapshot_create(as_integrator *s, as_error *error);
/// Copies the declared state, started or not, without factors; puts it back.
void asi_snapshot_take(as_integrator *s);
void asi_snapshot_restore(as_integrator *s);

// times.c -----------------------------------------------------------------------------------------

/// The next known time, of an input or an event, at which a step has to end; infinity if there is none [s].
double asi_times_next(const as_integrator *s);
/// The first known time behind now, and not behind `until`, at which inputs may jump; infinity if there is none [s].
as_known_time asi_times_jump(const as_integrator *s, double until);
/// If inputs may jump now, goes on behind that, where v', lambda, psi, x' and y are found anew; `passed` says so.
as_status asi_times_pass(as_integrator *s, bool *passed);

/// Before the first given step: passes a jump at the start. Where nothing jumps, the start stays what it was.
as_status asi_times_start(as_integrator *s);

// events.c ----------------------------------------------------------------------------------------

/// The next time behind t at which an event happens by the clock or its function turns; infinity if there is none [s].
double asi_events_next(const as_integrator *s, double t);

as_status asi_events_create(as_integrator *s, as_error *error);
void asi_events_free(as_integrator *s);
/// Saves or loads what is known of the events.
void asi_events_serialize(as_integrator *s, asi_archive *a);
/// Takes the signs of all functions at the current state.
as_status asi_events_start(as_integrator *s);
/// Takes the signs again, after something has jumped.
as_status asi_events_look(as_integrator *s);
/// Lets the events of the last step happen that lie at or before `until`, in their order. AS_STOPPED: one
/// asked to stop, and its state is shown.
as_status asi_events_act(as_integrator *s, double until);

// integrator.c ------------------------------------------------------------------------------------

/// Refuses an integrator that is NULL or has not been started.
ASI_IO as_status asi_check_started(const as_integrator *s, as_error *error);
/// Lets the state point to some values.
void asi_publish(as_integrator *s, double t, const asi_values *at);

#endif
