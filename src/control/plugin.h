/// Blocks of plugins: whether a description makes sense, values, derivatives given or differenced (alphastep/plugin.h).
#ifndef ALPHASTEP_CONTROL_PLUGIN_H
#define ALPHASTEP_CONTROL_PLUGIN_H

#include <stdbool.h>

#include "alphastep/plugin.h"
#include "alphastep/status.h"
#include "base/archive.h"
#include "base/export.h"

enum {
  ASI_PLUGIN_ENTRIES = AS_PLUGIN_MOST * AS_PLUGIN_MOST, ///< of all four matrices together, at most
  ASI_FORCE_ENTRIES = 36,
};

/// What a block has that a plugin cannot have: a memory outside of states and sampled numbers, and events that are not of outputs. Its
/// functions still compute from their arguments alone: the one sampled number says which of the memory's states is meant.
typedef struct asi_plugin_memory {
  void *user;               ///< as_plugin_point.user
  const char *const *event; ///< n_events names
  int n_events;
  bool conditions; ///< they happen where they begin to be positive, also by a jump at a sample
  int (*event_value)(const as_plugin_point *at, int event, double *value, char *why);
  /// AS_EVENT_STOP: done, and the run ends.
  int (*event_act)(const as_plugin_point *at, int event, int direction, double *state,
                   double *sampled, char *why);
  /// A time of the event that is known; infinity: there is none. Steps end there. May be NULL.
  double (*event_time)(const as_plugin_point *at, int event);
  /// Counts, writes or reads what the sampled number stands for; `sampled` is NULL when reading.
  as_status (*serialize)(void *user, const double *sampled, asi_archive *a, as_error *error);
} asi_plugin_memory;

/// Whether a description can be used; the sentence begins with `what`: the plugin's file.
ASI_IO as_status asi_plugin_check(const as_plugin *plugin, const char *what, as_error *error);
as_status asi_plugin_check_block(const as_plugin_block *block, as_error *error);
as_status asi_plugin_check_force(const as_plugin_force *force, as_error *error);

/// Parameters as they were given (NAN: not), and constants behind them. `start` has states and sampled numbers, what they start
/// with unless `prepare` says otherwise; constants are set here. `owner` begins sentences: `block "x"`.
as_status asi_plugin_prepare(const as_plugin_quantity *parameter, int n_parameters, int n_constants,
                             int (*prepare)(const double *, const as_plugin_start *, char *),
                             const char *owner, const double *given, double *number,
                             as_plugin_start start, as_error *error);

/// Values, which are finite: AS_DONE, AS_RETRY or AS_FATAL; `why` (AS_PLUGIN_WHY characters, or NULL) then says why. Either array
/// may be NULL.
int asi_plugin_evaluate(const as_plugin_block *block, const as_plugin_point *at, double *rate,
                        double *output, char *why);

/// The matrices rate_by_state, rate_by_input, output_by_state, output_by_input, by rows, one behind another: ASI_PLUGIN_ENTRIES
/// numbers at most. By differences where the block gives none, or if `differences`.
int asi_plugin_jacobian(const as_plugin_block *block, const as_plugin_point *at, bool differences,
                        double *out, char *why);

/// Sampled numbers after a sample.
int asi_plugin_sample(const as_plugin_block *block, const as_plugin_point *at, double *sampled,
                      char *why);
/// What an event makes of states and sampled numbers.
int asi_plugin_act(const as_plugin_block *block, int event, const as_plugin_point *at,
                   int direction, double *state, double *sampled, char *why);

/// Of forces: S, and its derivatives by z and z'.
int asi_plugin_force(const as_plugin_force *force, const as_plugin_force_point *at, double S[6],
                     char *why);
int asi_plugin_force_jacobian(const as_plugin_force *force, const as_plugin_force_point *at,
                              bool differences, double by_z[36], double by_rate[36], char *why);

/// A derivative that is given, and is not what differences say beyond what rounding and truncation explain.
typedef struct asi_plugin_fault {
  int row, column; ///< -1: none
  double given, found;
} asi_plugin_fault;

/// Compares the derivatives that a block gives at a point, and its `direct`, with differences; also a number of points near by.
/// Rows are rates, then outputs; columns states, then inputs. A point that cannot be evaluated is left out.
asi_plugin_fault asi_plugin_compare(const as_plugin_block *block, const as_plugin_point *at);
/// Likewise of a force: rows are S, columns z, then z'.
asi_plugin_fault asi_plugin_force_compare(const as_plugin_force *force,
                                          const as_plugin_force_point *at);

#endif
