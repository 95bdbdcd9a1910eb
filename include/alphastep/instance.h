/// Instances: a machine at a moment, that the caller moves on: for controllers, learning, co-simulation.
///
///     as_instance_def def = as_default_instance_def();
///     def.channels = names, def.n_channels = n;
///     as_instance_create(model, &def, &instance, &error);
///     as_instance_start(instance, NULL, &error);
///     for (int i = 1; i <= 100; ++i) {
///       u[0] = -k*row[0];
///       as_instance_set(instance, u, &error);             // held signals
///       as_instance_advance(instance, 0.01*i, &error);
///       as_instance_read(instance, row, &error);          // channels
///     }
///
/// Steps, events and channels are those of a run (alphastep/results.h). What is summed up along a run is not there: energy.dissipated, .work
/// and .balance, drift and solver.newton_iterations are NAN.
#ifndef ALPHASTEP_INSTANCE_H
#define ALPHASTEP_INSTANCE_H

#include "alphastep/results.h"

#ifdef __cplusplus
extern "C" {
#endif

/// From as_default_instance_def(). Copied by create.
typedef struct as_instance_def {
  unsigned cookie;              ///< set by as_default_instance_def(): leave it as it is
  as_integrator_def integrator; ///< how
  const as_rules *rules;        ///< events, which have to outlive the instance; NULL: none
  const char *const *channels;  ///< selections
  int n_channels;               ///< 0: no channels
} as_instance_def;

AS_API as_instance_def as_default_instance_def(void);

typedef struct as_instance as_instance;

/// Takes all memory. The model has to outlive the instance.
AS_API as_status as_instance_create(const as_model *model, const as_instance_def *def,
                                    as_instance **out, as_error *error);
AS_API void as_instance_destroy(as_instance *instance);
AS_API as_integrator *as_instance_integrator(as_instance *instance);
/// How many numbers as_instance_read() writes.
AS_API int as_instance_width(const as_instance *instance);
/// NULL: there are none.
AS_API const as_channels *as_instance_channels(const as_instance *instance);

/// Starts, again if need be; `initial` NULL: as the model does.
AS_API as_status as_instance_start(as_instance *instance, const as_initial *initial,
                                   as_error *error);
/// Goes to t. AS_STOPPED: an event has stopped it before; the next call goes on.
AS_API as_status as_instance_advance(as_instance *instance, double t, as_error *error);
/// One step, to its end.
AS_API as_status as_instance_next(as_instance *instance, as_error *error);
/// Sets all held signals, see as_integrator_set_signals().
AS_API as_status as_instance_set(as_instance *instance, const double *u, as_error *error);
/// Writes the channels, as_instance_width() numbers.
AS_API as_status as_instance_read(as_instance *instance, double *row, as_error *error);

/// How many events there have been since the start, and the first AS_RUN_EVENTS of them (another number: all zero).
AS_API long as_instance_events(const as_instance *instance);
AS_API as_event_record as_instance_event(const as_instance *instance, long number);

/// Writes all that the instance knows to `data`: one that is made of the same model and description, and loads it, goes on bit for bit. `size`
/// is the room there is, and becomes the bytes needed; with data NULL nothing else happens.
AS_API as_status as_instance_save(as_instance *instance, void *data, size_t *size, as_error *error);
/// Takes up a saved instance; needs no start. One that is damaged or does not fit is refused, and nothing has changed.
AS_API as_status as_instance_load(as_instance *instance, const void *data, size_t size,
                                  as_error *error);

#ifdef __cplusplus
}
#endif

#endif
