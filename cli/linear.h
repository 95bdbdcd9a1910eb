/// What `modes`, `linearize`, `response` and `equilibrium` share: arguments, the state that is looked at, its linear system.
#ifndef ALPHASTEP_CLI_LINEAR_H
#define ALPHASTEP_CLI_LINEAR_H

#include <stdio.h>

#include "alphastep/analysis.h"
#include "alphastep/linearization.h"
#include "alphastep/results.h"
#include "machine.h"
#include "resume.h"

enum { MOST_SIGNALS = 64, MOST_SWEEP = 2000 };

typedef enum linear_format {
  LINEAR_TEXT,
  LINEAR_JSON,
  LINEAR_CSV,
  LINEAR_MAT,
  LINEAR_NPZ
} linear_format;

typedef struct linear_request {
  const char *command;
  machine_request machine; ///< model, settings, json, help
  kept run;                ///< texts of a run's folder, which `machine.resume` is then
  double at;               ///< --at [s]; NAN: not given
  bool equilibrium;
  as_axes axes;
  double turning[3];
  linear_format format;
  const char *output;       ///< -o: a file, of `modes` and `response` a folder
  const char *const *names; ///< of the files in that folder, NULL at the end; NULL: it is a file
  int count;                ///< --count of modes; 0: all
  const char *inputs[MOST_SIGNALS], *outputs[MOST_SIGNALS];
  int n_inputs, n_outputs;
  char *sweep;  ///< what is swept, `parameters.v`; NULL: nothing
  char *follow; ///< what is followed by arc length, from `from` to `to`; NULL: nothing
  int branch;   ///< --branch of that
  double value[MOST_SWEEP];
  int n_values;
  double from, to; ///< --frequencies [Hz], --times [s]
  int points;
  const char *kind; ///< --kind of response
  bool descriptor;  ///< --descriptor
  char *copied[2 * MOST_SIGNALS + 2];
  int n_copied;
} linear_request;

/// Reads the arguments. `options`: letters of what the command knows beyond the usual: i inputs, d descriptor form, s sweep, f follow, r response. Complains.
cli_exit linear_arguments(int argc, char **argv, const char *command, const char *options,
                          linear_request *r);
void linear_arguments_free(linear_request *r);

/// A state of a machine.
typedef struct linear_place {
  as_machine *machine;
  as_initial initial;
  bool *active;
  double *kept; ///< numbers of `initial`
  double *zero; ///< accelerations at rest; NULL: not at rest
  as_equilibrium found;
  bool is_rest; ///< the equilibrium was searched for
} linear_place;

/// Loads the machine, with a setting `extra` if not NULL. Refuses to write over what it is read from, or over files of the run that is
/// looked at. Complains.
cli_exit linear_open(const linear_request *r, const char *extra, as_machine **machine);
/// Loads the machine, with a setting `extra` if not NULL, and goes to the state that is asked for. Complains.
cli_exit linear_find(const linear_request *r, const char *extra, linear_place *place);
void linear_place_free(linear_place *place);

/// Equilibria one after the other while a parameter is swept. Zero at first.
typedef struct linear_branch {
  double value, before_value;
  bool has_before;
  bool neutral; ///< the last has free motions
  as_sizes sizes;
  double *last; ///< q, x, y, u; then q of the one before, and u as the file has it
} linear_branch;

/// The equilibrium at a value of what is swept: the first from the file's start, the others next to the last one. Complains; also where a branch
/// ends and another one is taken (place->found.jumped).
cli_exit linear_branch_find(const linear_request *r, linear_branch *b, double value,
                            linear_place *place);
void linear_branch_free(linear_branch *b);

/// All inputs; f has height numbers for each. Complains.
cli_exit linear_find_inputs(const linear_request *r, const linear_place *place,
                            as_linear_input *input, double *f, size_t height);

/// The linear system there, with the inputs. Refuses a state that neither rests nor moves steadily, unless --at asks for it. Complains.
cli_exit linear_make(const linear_request *r, const linear_place *place, as_linearization **out);

/// The axes that are asked for.
as_linearization_def linear_def(const linear_request *r);
/// In words.
void linear_describe_axes(as_axes axes, const double *turning, char *text, size_t size);
/// What is said if there are sampled controllers; else nothing.
const char *linear_held(int n_samplers);
/// In words: which state, which axes, how steady.
void linear_describe(const linear_request *r, const as_linearization *l, char *text, size_t size);
/// Complains about a failure of the library.
cli_exit linear_fail(const linear_request *r, as_status status, const as_error *error);

/// Names and units of inputs.
const char *linear_input_unit(const linear_request *r, const linear_place *place, int input);

/// A matrix by columns as JSON, row by row.
void linear_json_matrix(FILE *out, const double *m, int rows, int columns);

#endif
