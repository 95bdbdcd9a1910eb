/// An instance of an FMU, for both versions of the standard: a machine that is set up, started, stepped and looked at from outside.
///
/// open.c    the interface is read; the machine is built and started
/// step.c    communication steps
/// values.c  what is set and got, derivatives
/// keep.c    the state as bytes
/// fmi2.c, fmi3.c  the functions that importers call, with the order of calls that each standard allows
#ifndef ALPHASTEP_FMU_RUNTIME_INSTANCE_H
#define ALPHASTEP_FMU_RUNTIME_INSTANCE_H

#include <math.h>

#include "alphastep/file.h"
#include "alphastep/results.h"
#include "fmu/interface.h"
#include "results/channels.h"
#include "results/rules.h"

/// Marks a function that importers call.
#ifdef _WIN32
#define ASI_EXPORTED_FUNCTION __declspec(dllexport)
#else
#define ASI_EXPORTED_FUNCTION AS_API
#endif

/// Where an instance is in its life.
typedef enum asi_exported_phase {
  ASI_EXPORTED_INSTANTIATED,
  ASI_EXPORTED_INITIALIZING,
  ASI_EXPORTED_STEPPING,
  ASI_EXPORTED_IN_EVENT,      ///< FMI 3: event mode
  ASI_EXPORTED_RECONFIGURING, ///< FMI 3: configuration mode, which has nothing to configure
  ASI_EXPORTED_TERMINATED,
  ASI_EXPORTED_BROKEN, ///< after an error: reset or free it
} asi_exported_phase;

typedef enum asi_exported_category {
  ASI_EXPORTED_LOG_ERROR,
  ASI_EXPORTED_LOG_DISCARD,
  ASI_EXPORTED_LOG_WARNING,
  ASI_EXPORTED_LOG_EVENT,
  ASI_EXPORTED_LOG_INFO,
  ASI_EXPORTED_CATEGORIES
} asi_exported_category;
extern const char *const asi_exported_category_name[ASI_EXPORTED_CATEGORIES];

/// Hears one sentence.
typedef void asi_exported_log_fn(asi_exported_category category, const char *sentence, void *user);

/// An event of the machine in the last call of asi_exported_step().
typedef struct asi_exported_step_end {
  double t;     ///< how far it came [s]
  bool event;   ///< something has happened there that changed the machine
  bool stopped; ///< an event ends the simulation there
  bool early;   ///< it was asked to end there
} asi_exported_step_end;

/// Asked after each inner step but the last: whether to end there, or at *t, which may be later [s].
typedef bool asi_exported_inner_fn(double now, double *t, void *user);

typedef struct asi_exported {
  asi_arena arena; ///< of the interface
  asi_exported_interface face;
  char *folder; ///< resources, with / behind it
  asi_exported_phase phase;
  asi_exported_log_fn *log;
  void *log_user;
  bool wants[ASI_EXPORTED_CATEGORIES];

  double start_time, stop_time; ///< stop_time NAN: not known
  double tolerance;             ///< NAN: that of the model
  double made[3];   ///< tolerance, start_time, stop_time that the integrator was made with
  double *value;    ///< of each variable that can be set, as last set
  double *slope;    ///< of each input: its derivative
  int *place;       ///< of each that is a held signal: where in u; of an output: where in the row
  double since;     ///< when slopes were given [s]
  double *built;    ///< values of parameters that the machine has been built with
  bool new_start;   ///< it is to be started anew
  bool new_signals; ///< inputs or tunable parameters have changed
  bool stale;       ///< the row is not that of the state

  as_machine *machine; ///< NULL: not built
  as_integrator *integrator;
  as_channels *channels; ///< NULL: no outputs
  asi_watch *watch;      ///< NULL: no events
  bool reads_rates, index3;
  double *row, *u, *v; ///< of channels; held signals; velocities of index-3
  double t;            ///< the communication point [s]
  long steps;          ///< inner ones, so far
  bool event;          ///< something has happened in the inner step
  bool stopped;        ///< an event has ended the simulation

  unsigned char *scratch; ///< for asi_exported_derivatives(): a saved state
  size_t scratch_room;
} asi_exported;

/// Tells a sentence to whoever listens.
void asi_exported_tell(asi_exported *f, asi_exported_category category, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Turns categories on or off; none: all. False: there is no such category, which has been said.
bool asi_exported_listen(asi_exported *f, bool on, size_t n, const char *const *categories);
/// Who hears, first of errors and of what is discarded; `on`: of the others, too.
void asi_exported_listen_first(asi_exported *f, asi_exported_log_fn *log, void *user, bool on);
/// What a failure is for an importer: with another value or a smaller step it may go better (discarded), or not (an error).
asi_exported_category asi_exported_judge(as_status status);

/// Reads the interface in the folder `resources`; the token has to be its own. NULL: *why says why.
asi_exported *asi_exported_open(const char *resources, const char *token, as_error *why);
void asi_exported_close(asi_exported *f);
/// A number that may be given; NAN: it is not. One that is given as NAN is out of every range.
static inline double asi_exported_given(bool has, double x) {
  return !has ? (double)NAN : isnan(x) ? -(double)INFINITY : x;
}
/// What is to be simulated; NAN: stop or tolerance are not known.
as_status asi_exported_set_up(asi_exported *f, double start, double stop, double tolerance,
                              as_error *error);
/// As it was when it was opened.
void asi_exported_reset(asi_exported *f);
/// Makes machine and integrator for a state that is to be loaded.
as_status asi_exported_prepare(asi_exported *f, as_error *error);
/// Ends derivatives of inputs that were given at an earlier communication point.
void asi_exported_settle(asi_exported *f);
/// Puts what is set into f->u.
void asi_exported_place_signals(asi_exported *f);
/// Builds and starts the machine, as far as that has not been done with these parameters and inputs.
as_status asi_exported_ready(asi_exported *f, as_error *error);

/// From `t`, which has to be where it is, by h; `inner` may be NULL. With `at_events` it ends where an event has changed something. Failures
/// leave it at end->t, in good order.
as_status asi_exported_step(asi_exported *f, double t, double h, bool at_events,
                            asi_exported_inner_fn *inner, void *user, asi_exported_step_end *end,
                            as_error *error);

/// Numbers of variables.
as_status asi_exported_get(asi_exported *f, const unsigned *vr, size_t n, double *out,
                           as_error *error);
as_status asi_exported_set(asi_exported *f, const unsigned *vr, size_t n, const double *value,
                           as_error *error);
/// First derivatives of inputs from now on; of outputs, as the last inner step had them.
as_status asi_exported_set_slopes(asi_exported *f, const unsigned *vr, size_t n, const int *order,
                                  const double *value, as_error *error);
as_status asi_exported_get_slopes(asi_exported *f, const unsigned *vr, size_t n, const int *order,
                                  double *out, as_error *error);
/// Takes over changed inputs: the state, and all that is got, is that with them.
as_status asi_exported_apply(asi_exported *f, as_error *error);
/// Derivatives of outputs along a direction of inputs and tunable parameters, by central differences.
as_status asi_exported_derivatives(asi_exported *f, const unsigned *unknown, size_t n,
                                   const unsigned *known, size_t n_known, const double *seed,
                                   double *out, as_error *error);

/// The state: counts, or writes to `data`.
as_status asi_exported_save(asi_exported *f, unsigned char *data, size_t *size, as_error *error);
/// Takes one up; what does not fit is refused, and nothing has changed.
as_status asi_exported_load(asi_exported *f, const unsigned char *data, size_t size,
                            as_error *error);

/// A saved state, as importers hold it.
typedef struct asi_exported_state {
  size_t size, room;
  unsigned char *bytes;
} asi_exported_state;

/// Saves into *state, which is made if it is NULL.
as_status asi_exported_state_take(asi_exported *f, void **state, as_error *error);
/// The same from bytes, which have to be a state of this FMU.
as_status asi_exported_state_read(asi_exported *f, const void *bytes, size_t size, void **state,
                                  as_error *error);
/// Takes it up.
as_status asi_exported_state_use(asi_exported *f, const void *state, as_error *error);
/// Copies its bytes; there is room for `size`.
as_status asi_exported_state_write(const asi_exported *f, const void *state, void *bytes,
                                   size_t size, as_error *error);
void asi_exported_state_free(void **state);

#endif
