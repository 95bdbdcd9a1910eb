/// Results: channels by name, runs that fill them, tables that keep them.
///
///     as_run_def def = as_default_run_def();
///     def.t_end = 1.0;
///     as_run_create(model, &def, &run, &error);
///     as_csv_create("results.csv", as_run_channels(run), &csv, &error);
///     as_run_go(run, as_csv_row, csv, NULL, &error);
///     as_csv_close(csv, &error);
///
/// A channel is one number that changes along a run. Its name says where it is found:
///
///     bodies.NAME.position.x       centre of mass, world [m]; .quaternion.w .velocity.x (world)
///                                  .angular_velocity.x (body axes) .acceleration.x .angular_acceleration.x
///     frames.NAME.position.x       origin, world [m]; .velocity.x .angular_velocity.x (all in world axes)
///     joints.NAME.force.x          on the second body, world [N]; .torque.x; .force_in_joint.x .torque_in_joint.x
///     joints.NAME.angle            or .displacement .rotation.x ..., and .angle_rate ...: what the joint leaves free
///     joints.NAME.drive            of a prescribed motion: the force or torque that drives
///     forces.NAME.force.x          on the second body (a load: on its body), world [N]; .torque.x about its centre
///                                  of mass; .length .tension ... of springs; .energy .dissipated .supplied
///     energy.kinetic               .potential .dissipated .work .balance [J]
///     momentum.linear.x            .angular.x .center_of_mass.x
///     solver.h                     .newton_iterations .error: of the step that a time lies in
///     drift.position               .velocity: of the constraints, at the end of that step
///     events.NAME.count            how often it has happened; .time: when last [s], NAN before
///
/// A selection may leave the last parts away (`joints.crank` is all of that joint) and use * for any text
/// (`bodies.*.position`). A name that has a * of its own is found first.
#ifndef ALPHASTEP_RESULTS_H
#define ALPHASTEP_RESULTS_H

#include "alphastep/integrator.h"
#include "alphastep/linearization.h"
#include "alphastep/model.h"
#include "alphastep/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- channels ---------------------------------------------------------------------------------------

typedef struct as_channel {
  const char *name; ///< `bodies.top.position.x`
  const char *unit; ///< `m`; `-` if there is none
} as_channel;

/// Channels that were chosen. They remember how often joints have turned: one set belongs to one run.
typedef struct as_channels as_channels;

enum {
  AS_DEFAULT_BODIES = 1000
}; ///< with more bodies than these, the default set has no bodies and joints

/// Finds `n` selections in a model, which has to outlive the channels. n = 0: the default set, which is positions,
/// quaternions and velocities of bodies, coordinates and reactions of joints, energies, drift and the step. A
/// channel that is selected twice is there once.
AS_API as_status as_channels_create(const as_model *model, const char *const *selections, int n,
                                    as_channels **out, as_error *error);
/// The same with `events.NAME`, of rules that have to outlive the channels; NULL: there are none.
AS_API as_status as_channels_create_with(const as_model *model, const as_rules *rules,
                                         const char *const *selections, int n, as_channels **out,
                                         as_error *error);
AS_API void as_channels_destroy(as_channels *channels);
AS_API int as_channels_count(const as_channels *channels);
AS_API as_channel as_channels_get(const as_channels *channels, int index);

/// What channels are read from.
typedef struct as_view {
  const as_state *state;    ///< with v on the constraints
  double dissipated;        ///< energy turned into heat since the start [J]
  double work;              ///< energy brought in since the start [J]
  double start_energy;      ///< kinetic and potential energy at the start [J]
  double h;                 ///< the step [s]
  double newton_iterations; ///< that it took, with attempts that failed
  double error;             ///< of an automatic step, in tolerances
  double position_drift;    ///< at its end
  double velocity_drift;
  const double *events; ///< of each rule: how often it has happened, and when last [s]
} as_view;

/// Writes as_channels_count() numbers. Nothing is allocated.
AS_API as_status as_channels_evaluate(as_channels *channels, const as_view *view, double *out,
                                      as_error *error);
/// Lets angles follow between evaluations: once a step, so that they never jump.
AS_API as_status as_channels_follow(as_channels *channels, const as_state *state, as_error *error);

/// What channels remember of how often joints have turned, to go with a saved state of the integrator: writes it to `data`; `size` is the
/// room there is, and becomes the bytes needed; with data NULL nothing else happens. AS_ERR_ARGUMENT: too little room.
AS_API as_status as_channels_save(as_channels *channels, void *data, size_t *size, as_error *error);
/// Takes it up again, of the same channels of the same machine. AS_ERR_FILE: it is not that; nothing has changed.
AS_API as_status as_channels_load(as_channels *channels, const void *data, size_t size,
                                  as_error *error);

/// Derivatives of all channels about a state: c has a row per channel and a column per state of the linear system, d a column per
/// input, both by columns. Accelerations, reactions and whatever else a channel reads follow the equations of motion.
AS_API as_status as_channels_linearize(as_channels *channels, as_linearization *linearization,
                                       double *c, double *d, as_error *error);
/// The name of a state of a machine's linear system, as in `bodies.arm.rotation.x`, and its unit.
AS_API void as_linear_state_name(const as_model *model, const as_linearization *linearization,
                                 int state, char *text, size_t size);
AS_API const char *as_linear_state_unit(const as_model *model,
                                        const as_linearization *linearization, int state);
/// The same of any component, unknowns of a descriptor form too.
AS_API void as_linear_name(const as_model *model, const as_linearization *linearization,
                           as_linear_state component, char *text, size_t size);
AS_API const char *as_linear_unit(const as_model *model, const as_linearization *linearization,
                                  as_linear_state component);

// ---- runs -------------------------------------------------------------------------------------------

/// Receives one row of results. Anything but AS_OK, with a sentence, ends the run.
typedef as_status as_row_fn(double t, const double *row, int n, void *user, as_error *error);
/// Hears of each step: the end of it.
typedef void as_progress_fn(double t, void *user);

/// An event that has happened.
typedef struct as_event_record {
  const char *name;
  int rule;      ///< its number; below 0: a block has switched, or an event of a plugin's block
  int direction; ///< +1: rising, -1: falling
  double t;      ///< [s]
  const char *message; ///< of the rule; NULL: none
} as_event_record;

enum { AS_RUN_EVENTS = 1000 }; ///< how many are kept by a run, the first ones

/// Hears of each event, when it has been carried out.
typedef void as_event_record_fn(const as_event_record *event, void *user);

/// What to run and what to write down. From as_default_run_def().
typedef struct as_run_def {
  unsigned cookie;              ///< set by as_default_run_def(): leave it as it is
  as_integrator_def integrator; ///< how; its interrupt callback ends the run after a whole step
  double t_end;                 ///< > 0 [s], required
  long max_steps;               ///< give up after so many steps; 0: never
  const char *const *channels;  ///< selections; copied
  int n_channels;               ///< 0: the default set
  /// Rows come at the start, at multiples of `interval` [s] (NAN: t_end/500), at t_end and where an event stops the
  /// run or a failure ends it (what `row` then returns does not matter). Steps do not depend on it. At the time of an
  /// event a row shows what is after it.
  double interval;
  const double *times; ///< n_times increasing times from 0 to t_end instead [s]; copied
  int n_times;
  /// One more row at the end of each step that has none; such rows do not count (as_run_rows()).
  bool every_step;
  /// Estimate the error of each number, see as_run_errors(): a second, finer run is made alongside, which takes about twice as
  /// long again and is not seen otherwise. Events of `integrator` are asked and act for both.
  bool accuracy;
  bool poses;             ///< find poses of all bodies for each row, see as_run_poses()
  unsigned long long tag; ///< a saved run is loaded only where this is the same; any number
  bool no_sync; ///< saved runs are not forced to the disk: they may be lost with the power
  as_progress_fn *progress; ///< may be NULL
  void *progress_user;
  /// Events by formulas, which come behind those of `integrator`; they have to outlive the run. May be NULL.
  const as_rules *rules;
  as_event_record_fn *happened; ///< may be NULL
  void *happened_user;
} as_run_def;

AS_API as_run_def as_default_run_def(void);

typedef struct as_run as_run;

/// Makes integrator and channels. The model has to outlive the run.
AS_API as_status as_run_create(const as_model *model, const as_run_def *def, as_run **out,
                               as_error *error);
AS_API void as_run_destroy(as_run *run);
AS_API const as_channels *as_run_channels(const as_run *run);
AS_API as_integrator *as_run_integrator(as_run *run);
/// What the start has changed of what was given, see as_model_start_changes(); after a run was loaded: nothing is known.
AS_API const as_start_change *as_run_start_changes(const as_run *run, int *n);
/// Rows given so far.
AS_API long as_run_rows(const as_run *run);
/// While a row is given: positions and quaternions of all bodies, AS_POSE numbers each (alphastep/results_file.h). NULL
/// unless def.poses.
AS_API const double *as_run_poses(const as_run *run);

/// How many events there have been, and the first AS_RUN_EVENTS of them (another number: all zero).
AS_API long as_run_events(const as_run *run);
AS_API as_event_record as_run_event(const as_run *run, long number);

/// Starts and goes to t_end, giving each row to `row`. Returns AS_OK, AS_STOPPED (an event) or
/// AS_INTERRUPTED, then call it again to go on; or a failure. Rows up to where it came have been given. `report`
/// (of the start) may be NULL.
AS_API as_status as_run_go(as_run *run, as_row_fn *row, void *user, as_start_report *report,
                           as_error *error);

// ---- estimated errors -------------------------------------------------------------------------------

/// The estimated error of a channel along a run. NAN: it is not known, or it has none (steps, drift, counts).
typedef struct as_channel_error {
  double largest; ///< absolute error, in the channel's unit
  double t;       ///< when [s]
  double rms;     ///< root mean square over the rows
  double
      size; ///< largest absolute value of all channels of its group with its unit, such as all joint forces
  double relative; ///< largest / size
} as_channel_error;

/// How the errors of a run were estimated.
typedef struct as_accuracy {
  long rows; ///< that could be compared
  long
      rows_between_events; ///< that could not: an event had happened in one of the two runs and not in the other
  double until;      ///< the last row that was [s]; NAN: none
  long steps;        ///< of the finer run
  double step;       ///< of the finer run [s]; NAN: automatic
  double rtol;       ///< of the finer run
  char message[512]; ///< what went wrong with it; "": nothing
} as_accuracy;

/// While a row is given: the estimated error of each channel, value minus true value; NAN: not known. NULL unless
/// def.accuracy.
AS_API const double *as_run_errors(const as_run *run);
/// The same of as_run_poses().
AS_API const double *as_run_pose_errors(const as_run *run);
/// Of all rows so far.
AS_API as_channel_error as_run_channel_error(const as_run *run, int channel);
/// The estimated error of the time of an event [s]; NAN: not known.
AS_API double as_run_event_error(const as_run *run, long number);
AS_API as_accuracy as_run_accuracy(const as_run *run);

/// What is in a table so far.
typedef struct as_csv_mark {
  unsigned long long bytes, digest;
} as_csv_mark;

// ---- saving -----------------------------------------------------------------------------------------

/// Saves the whole run, its integrator included, in a file that is replaced in one piece; while a row is given it
/// is not known whether that row counts, so do it from `progress` or between two calls of go.
AS_API as_status as_run_save_file(as_run *run, const char *path, as_error *error);
/// Of a run whose go has returned AS_STOPPED: whether the next go, also after it was saved and loaded, does so once more, with the
/// same message. A process that saves a run before it has told anybody of the stop, and is killed, so ends as it would have. From
/// `progress` runs are saved like that anyway; go sets it back.
AS_API void as_run_keep_stop(as_run *run, bool keep);
/// Numbers of the caller that are saved and loaded with the run: the mark of a table (as_csv_marked) that has all rows so far.
AS_API void as_run_set_mark(as_run *run, as_csv_mark mark);
AS_API as_csv_mark as_run_mark(const as_run *run);
/// Takes up a saved run instead of starting: rows go on behind row as_run_rows(), bit for bit as if nothing had been. It
/// needs the same model, channels, output times and tag; t_end may be later than it was (then a last row that was
/// there only because of the old one is given back). Damaged or foreign files are refused; then destroy the run.
AS_API as_status as_run_load_file(as_run *run, const char *path, as_error *error);

// ---- tables -----------------------------------------------------------------------------------------

/// A file of comma-separated values: a line of names, `time [s]` first, then a line per row, each number with 17
/// digits whatever the locale. There are only whole lines in it, also after a disk was full.
typedef struct as_csv as_csv;

AS_API as_status as_csv_create(const char *path, const as_channels *channels, as_csv **out,
                               as_error *error);
/// Goes on with a file of the same channels behind its first `rows` rows; others are cut off.
AS_API as_status as_csv_continue(const char *path, const as_channels *channels, long rows,
                                 as_csv **out, as_error *error);
/// An as_row_fn whose user is the as_csv.
AS_API as_status as_csv_row(double t, const double *row, int n, void *csv, as_error *error);
/// Hands over what is waiting to the file.
AS_API as_status as_csv_flush(as_csv *csv, as_error *error);
/// Flushes, and forces the file to the disk.
AS_API as_status as_csv_sync(as_csv *csv, as_error *error);

AS_API as_csv_mark as_csv_marked(const as_csv *csv);
/// Whether the first bytes of a file are those that were marked. AS_ERR_FILE with a sentence if not.
AS_API as_status as_csv_verify(const char *path, as_csv_mark mark, as_error *error);
/// Whole rows that are in the file.
AS_API long as_csv_rows(const as_csv *csv);
/// Flushes, closes and frees; NULL is fine.
AS_API as_status as_csv_close(as_csv *csv, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
