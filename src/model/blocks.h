/// The blocks of a model: signals with their places, formulas, linear systems, samplers, and who reads them.
#ifndef ALPHASTEP_MODEL_BLOCKS_H
#define ALPHASTEP_MODEL_BLOCKS_H

#include "model/builder.h"
#include "model/model.h"
#include "model/plugin_blocks.h"

enum { ASI_SWITCH_NAME = 64 };

/// A formula of a block in its place.
typedef struct asi_row_place {
  int element;
  as_signal_kind kind;
  int row;            ///< of phi or chi
  bool rates, reacts; ///< it depends on velocities, on reactions
  bool accelerates;   ///< on accelerations
  bool stateful;      ///< on states of elements
  asi_scatter_map
      shape; ///< of its element, with one velocity row: what it depends on is transformed as such a row is
  size_t
      position; ///< where its list of positions begins: by q, v and v' (6 n_bodies each), by slots, by multipliers, by states of elements
} asi_row_place;

/// Who depends on states and outputs: a force with formulas.
typedef struct asi_reader_place {
  int element;
  int n;           ///< states and outputs that it reads
  size_t slot;     ///< where their list begins
  size_t position; ///< where its list of positions begins: rows of two bodies, for each of them
} asi_reader_place;

/// An element that has states, which stand behind those of blocks.
typedef struct asi_stateful_place {
  int element;
  int state; ///< its first one in x
  size_t
      position; ///< where its list of positions begins: by q and v (6 n_bodies each) and x of each state, then f_x
  asi_scatter_map
      shape; ///< of its element; its states as velocity rows, f_x as by multipliers that it reads
} asi_stateful_place;

/// A sampler of the problem: a signal or a linear system.
typedef struct asi_sampler_place {
  const as_model *model;
  int signal; ///< -1: a linear system
  int linear;
} asi_sampler_place;

/// A switch in its place.
typedef struct asi_switch_place {
  const as_model *model;
  asi_switch of;
  char name[ASI_SWITCH_NAME];
} asi_switch_place;

struct asi_control {
  int n_x, n_y, n_held; ///< held signals behind parameters and turns
  int n_signals, n_blocks;
  asi_signal *signal;
  asi_block_signals *block;
  asi_linear_block *linear;
  int n_linear;
  int *loop; ///< of each signal: as_model_signal_loop()
  asi_row_place *row;
  int n_rows;
  int *row_of_y;                    ///< n_y: the row of an output; -1: of a linear system
  const asi_formula **formula_of_y; ///< n_y: the formula of an output; NULL: of a linear system
  bool *fresh; ///< n_y: at samples it is found anew, since it depends on what is sampled
  asi_reader_place *reader;
  int n_readers;
  int *held_reader; ///< n_held_readers: elements whose forces read sampled signals
  int n_held_readers;
  asi_stateful_place *stateful;
  int n_stateful;
  asi_sampler_place *sampler;
  as_sampler_def *sampler_def;
  int n_samplers;
  asi_switch_place *switch_;
  as_event_def *switch_def;
  int n_switches;
  int *list; ///< slots and positions
  size_t n_list;
  size_t *linear_position; ///< n_linear: where positions of its entries begin
  double *x0, *y0;         ///< at the start; y0 is a first guess
  asi_plugin_event_place *event;
  int n_events; ///< of plugins
  int *order;   ///< n_y: outputs, each behind those that it reads unless they are in a loop
  bool held;    ///< asi_blocks_hold()
};

enum { ASI_READER_SLOTS = ASI_ELEMENT_FORMULAS * ASI_FORMULA_SLOTS };

/// Columns of the bodies that a force that reads blocks acts on.
static inline int asi_reader_columns(const asi_scatter_map *shape) {
  return shape->n_bodies > 2 ? 6 * shape->n_bodies : ASI_PAIR;
}

/// Lists elements that have states, and numbers these (states.c).
as_status asi_stateful_list(as_model *m, as_error *error);
/// Takes over the shapes of these elements, once they are known.
void asi_stateful_shape(as_model *m);
/// What an element with states writes of them. Not to be copied.
typedef struct asi_state_local {
  double rate[AS_ELEMENT_STATES], x[AS_ELEMENT_STATES * AS_ELEMENT_STATES];
  asi_local local; ///< k_q and k_v: by q and v; f_lambda: f_x
} asi_state_local;
/// Points an element's output there, as wanted.
void asi_stateful_begin(const asi_stateful_place *s, unsigned wanted, asi_state_local *local,
                        as_element_output *out);
/// Takes it to the problem's x' (NULL: not wanted) and its blocks.
void asi_stateful_scatter(const as_model *m, const asi_stateful_place *s,
                          const as_element_input *in, const as_point *at, unsigned wanted,
                          asi_state_local *local, double *rate, as_block_set set,
                          as_matrix *blocks);

/// How many held signals a builder's blocks will have; -1: too many.
int asi_blocks_held(const as_builder *b);
/// Gives signals their places and formulas their slots, and starting values to x and u: when elements, parameters and turns
/// are numbered. m->blocks stays NULL if there are none.
as_status asi_blocks_number(as_model *m, const as_builder *b, as_error *error);
/// Adds numbers and samplers to the description of the problem, and finds the patterns of what blocks depend on, once shapes
/// are known.
as_status asi_blocks_describe(as_model *m, as_problem_def *def, asi_pattern pattern[AS_BLOCK_COUNT],
                              as_error *error);
void asi_blocks_free(asi_control *blocks);

/// Adds what blocks give: states' rates, outputs and their derivatives, and the forces' derivatives by states and outputs.
int asi_blocks_evaluate(const as_model *m, const as_point *at, const as_evaluation *out);

/// Checks what motions and factors read of blocks, and tells all formulas where the formulas of outputs are.
as_status asi_time_blocks_link(as_model *m, as_error *error);

/// Finds the first guess of the outputs at the start.
as_status asi_blocks_guess(as_model *m, as_error *error);
/// From now on outputs are what they were guessed to be, and states stay: where only poses and velocities are wanted.
void asi_blocks_hold(as_model *m);
/// Why a formula could not be evaluated, in one sentence without its end.
void asi_blocks_explain(const as_model *m, const as_point *at, int element, char *why);

/// Values of the quantities of the machine that a formula depends on, ASI_GAUGES numbers.
int asi_blocks_measure(const as_model *m, const as_point *at, int element, double *out);
/// The value of an output as it is at a sample, from formulas if it depends on what is sampled.
int asi_blocks_output_at_sample(const as_model *m, const as_point *at, int y, double *out);
/// The value of a formula. `fresh`: outputs that depend on held signals are found anew from those in at->u.
int asi_blocks_value(const as_model *m, const as_point *at, int element, bool fresh, double *out);
/// The name of an event of a block: those of plugins come first, as in as_model_events, then switches.
ASI_IO const char *asi_block_event_name(const as_model *m, int number);
/// The events of switches, when formulas have their slots.
as_status asi_switches_make(as_model *m, const as_builder *b, as_error *error);
/// as_sampler_def.sample; `user` is an asi_sampler_place.
int asi_blocks_sample(const as_point *at, double *out, void *user);

#endif
