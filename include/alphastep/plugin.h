/// Plugins: blocks and forces of your own in a shared library, which a model file names. Includes nothing but libc.
///
///     static int evaluate(const as_plugin_point *at, double *rate, double *output, char *why) {
///       if (rate) rate[0] = (at->input[0] - at->state[0])/at->parameter[0];
///       if (output) output[0] = at->state[0];
///       return AS_PLUGIN_DONE;
///     }
///     static const as_plugin_quantity parameter[] = {{"time_constant", "s", AS_PLUGIN_REQUIRED, 0, "T"}}, input[] = {{"input"}},
///                                     state[] = {{"lag"}}, output[] = {{""}};
///     static const as_plugin_block lag = {.name = "lag", .n_parameters = 1, .parameter = parameter, .n_inputs = 1, .input = input,
///                                         .n_states = 1, .state = state, .n_outputs = 1, .output = output, .evaluate = evaluate};
///     static const as_plugin_block *const blocks[] = {&lag, NULL};
///     static const as_plugin plugin = {AS_PLUGIN_COOKIE, AS_PLUGIN_VERSION, "lag", "1.0", blocks, NULL};
///     AS_PLUGIN_EXPORT const as_plugin *alphastep_plugin(void) { return &plugin; }
///
/// Rules. A plugin has no memory: all that changes is in states and sampled numbers, which alphastep keeps, saves, takes back
/// when a step is rejected and restores when a run is resumed. A function computes from its arguments alone, the same again
/// for the same arguments to the last bit: no static variables, no files, no clock, no random numbers without a seed of their own. It may be
/// called at any time, in any order, for any number of blocks, by several threads at once. It does not print, exit, raise
/// signals, change the floating-point mode or the locale. What the structs below point to is const and stays where it is.
///
/// docs/plugins.md is the guide, examples/plugin-damper a project to begin with.
#ifndef ALPHASTEP_PLUGIN_H
#define ALPHASTEP_PLUGIN_H

#include <math.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AS_PLUGIN_COOKIE 0x41535047u ///< the first number of an as_plugin
#define AS_PLUGIN_VERSION 1u         ///< of this interface: it must be that of the program

/// Marks the one function that a plugin exports.
#if defined(__GNUC__)
#define AS_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define AS_PLUGIN_EXPORT
#endif

/// What functions return.
enum {
  AS_PLUGIN_DONE = 0,
  AS_PLUGIN_RETRY =
      1, ///< not at this point, but a smaller step may do; also any other positive number
  AS_PLUGIN_FAIL = -1, ///< the run ends; also any other negative number
};

enum {
  AS_PLUGIN_WHY = 256, ///< characters of `why`: what went wrong, in one sentence without its end
  AS_PLUGIN_MOST =
      64, ///< inputs and states of a block together, states and outputs, sampled numbers, events
  AS_PLUGIN_PARAMETERS = 1000, ///< parameters, and constants
};

#define AS_PLUGIN_REQUIRED ((double)NAN) ///< of a parameter: the file must give it

/// A number with a name: letters, digits and _, no digit first, at most 47. All names of a block differ. One output may have the
/// name "": formulas call it `blocks.NAME`, the others `blocks.NAME.OUTPUT`.
typedef struct as_plugin_quantity {
  const char *name;
  const char *unit; ///< NULL: `-`
  double
      value; ///< of a parameter: without it in the file; of a state or a sampled number: at the start
  double scale;     ///< of an input or state: its usual size, for differences; 0: 1
  const char *text; ///< what it is; NULL: nothing to say
} as_plugin_quantity;

/// Where a block is evaluated.
typedef struct as_plugin_point {
  double t;                ///< [s]; NAN unless the block says that it reads it
  const double *parameter; ///< as given in the file
  const double *constant;  ///< what `prepare` has made of them
  const double *input;
  const double *state;
  const double *sampled; ///< held between samples
  void *user;            ///< NULL; blocks that are not a plugin's have something there
} as_plugin_point;

/// What `prepare` writes: constants are zero on entry, states and sampled numbers what they start with without it.
typedef struct as_plugin_start {
  double *constant, *state, *sampled;
} as_plugin_start;

/// Derivatives, by rows, zero on entry.
typedef struct as_plugin_jacobian {
  double *rate_by_state;   ///< n_states x n_states
  double *rate_by_input;   ///< n_states x n_inputs
  double *output_by_state; ///< n_outputs x n_states
  double *output_by_input; ///< n_outputs x n_inputs
} as_plugin_jacobian;

/// An event: an output crosses zero. Steps end there, and `act` may change states and sampled numbers.
typedef struct as_plugin_event {
  const char *name;
  int output;    ///< number of the output
  int direction; ///< +1: rising only, -1: falling only, 0: both
  /// Changes `state` and `sampled`, which on entry are what `at` has. NULL: the run ends there.
  int (*act)(const as_plugin_point *at, int direction, double *state, double *sampled, char *why);
} as_plugin_event;

/// A kind of block.
///
///     x' = rate(t, w, x, s)      y = output(t, w, x, s)      s+ = sample(t, w, x, s) at samples
///
/// with inputs w, states x, outputs y and sampled numbers s.
typedef struct as_plugin_block {
  const char *name;
  const char *text; ///< what it is; NULL: nothing to say
  int n_parameters, n_constants, n_inputs, n_states, n_sampled, n_outputs, n_events;
  const as_plugin_quantity *parameter, *input, *state, *sampled, *output;
  const as_plugin_event *event;
  int reads_time; ///< not zero: as_plugin_point.t is given
  /// n_outputs x n_inputs, by rows: not zero where an output depends on an input at once. NULL: all do. Without such an
  /// entry there is no algebraic loop by way of this block.
  const unsigned char *direct;
  /// Checks parameters, makes constants of them and starts states; called once for each block. NULL: nothing to do.
  int (*prepare)(const double *parameter, const as_plugin_start *start, char *why);
  /// Writes rates (n_states) and outputs (n_outputs); either may be NULL: it is not wanted. NULL: there are none of either.
  int (*evaluate)(const as_plugin_point *at, double *rate, double *output, char *why);
  /// The derivatives of what `evaluate` writes. NULL: they are found by differences.
  int (*jacobian)(const as_plugin_point *at, const as_plugin_jacobian *out, char *why);
  /// Changes the sampled numbers; on entry `sampled` is what `at` has. Required with n_sampled > 0.
  int (*sample)(const as_plugin_point *at, double *sampled, char *why);
} as_plugin_block;

/// Where a force is evaluated: how the second frame lies against the first.
typedef struct as_plugin_force_point {
  double t; ///< [s]; NAN unless the force says that it reads it
  const double *parameter, *constant;
  double z
      [6]; ///< displacement along x y z of the first frame [m], rotation vector [rad], below half a turn
  double rate[6]; ///< z'
} as_plugin_force_point;

/// A kind of force between two frames, without states; one with states is a block whose outputs are the force of loads or actuators.
typedef struct as_plugin_force {
  const char *name;
  const char *text; ///< what it is; NULL: nothing to say
  int n_parameters, n_constants;
  const as_plugin_quantity *parameter;
  int reads_time; ///< not zero: as_plugin_force_point.t is given
  int (*prepare)(const double *parameter, const as_plugin_start *start,
                 char *why); ///< constants alone
  /// S: what acts on the second frame is -S along z, on the first its reaction; the power that leaves the machine is S . z'.
  int (*evaluate)(const as_plugin_force_point *at, double S[6], char *why);
  /// dS_i/dz_j and dS_i/dz'_j by rows, zero on entry. NULL: found by differences.
  int (*jacobian)(const as_plugin_force_point *at, double by_z[36], double by_rate[36], char *why);
} as_plugin_force;

/// What a shared library offers.
typedef struct as_plugin {
  unsigned cookie;                      ///< AS_PLUGIN_COOKIE
  unsigned version;                     ///< AS_PLUGIN_VERSION
  const char *name;                     ///< of the whole
  const char *release;                  ///< its own version, for people; NULL: none
  const as_plugin_block *const *blocks; ///< NULL at the end; NULL: none
  const as_plugin_force *const *forces; ///< likewise
} as_plugin;

/// The one symbol of a plugin.
typedef const as_plugin *as_plugin_fn(void);
AS_PLUGIN_EXPORT const as_plugin *alphastep_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
