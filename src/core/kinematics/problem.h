/// The problem as the integrator sees it: checked, with patterns, colourings and names.
#ifndef ALPHASTEP_CORE_PROBLEM_H
#define ALPHASTEP_CORE_PROBLEM_H

#include "alphastep/event.h"
#include "alphastep/problem.h"
#include "base/export.h"
#include "linalg/matrix.h"
#include "linalg/panels.h"

/// The functions of a problem that have Jacobian blocks.
typedef enum asi_function {
  ASI_FN_MA,   ///< M(t,q) v'
  ASI_FN_F,    ///< f, constraint forces included
  ASI_FN_G,    ///< g
  ASI_FN_GDOT, ///< g_t + B v
  ASI_FN_K,    ///< k
  ASI_FN_PHI,  ///< phi
  ASI_FN_CHI,  ///< chi
} asi_function;
enum { ASI_FUNCTIONS = ASI_FN_CHI + 1 };

/// The arguments they are differentiated by.
typedef enum asi_argument {
  ASI_ARG_Q,
  ASI_ARG_V,
  ASI_ARG_VDOT,
  ASI_ARG_LAMBDA,
  ASI_ARG_PSI,
  ASI_ARG_X,
  ASI_ARG_Y,
} asi_argument;

/// What a block is the derivative of, and by what.
typedef struct asi_block_info {
  const char *name;
  asi_function function;
  asi_argument argument;
} asi_block_info;

/// Columns of one colour share no row: one pair of differences serves them all.
typedef struct asi_colouring {
  int n_colours;
  int *start;  ///< n_colours + 1
  int *column; ///< the columns, colour by colour
} asi_colouring;

struct as_problem {
  as_problem_def def; ///< parts, typical and patterns are not to be used: see below
  as_space *space;
  int n;                   ///< velocities
  int nq;                  ///< numbers of a configuration
  double *typical;         ///< n
  double *per_typical;     ///< n: 1 / typical
  double *per_typical_q;   ///< nq: 1 / the typical size of each number in q; 1 for quaternions
  double length;           ///< the largest typical size of what does not turn a body
  as_sampler_def *sampler; ///< def.n_samplers
  as_event_def *event;     ///< def.n_events; their names stand behind them
  int n_bodies;
  int *body_of;      ///< n: the body of each velocity component
  bool *is_rotation; ///< n: it turns a body that can also be moved
  bool *vector;      ///< n: the first of three of R^n that are a vector
  int n_joints;
  int *joint_of;        ///< n_lambda: the joint of each row of g
  int *reaction_of;     ///< n_lambda: its reaction
  bool is_forest;       ///< joints make no loops: they are independent everywhere
  as_block_set present; ///< blocks with entries
  as_block_set given;   ///< of these, the ones that the callback fills
  bool joins_inertia;   ///< F_Q can be had with -MA_Q in it
  asi_pattern pattern[AS_BLOCK_COUNT];
  asi_panels panels[AS_BLOCK_COUNT];       ///< of these patterns
  asi_colouring colouring[AS_BLOCK_COUNT]; ///< of differenced blocks
  asi_row_view g_q_rows;                   ///< B by rows, for B^T
  asi_row_view k_v_rows;
};

asi_block_info asi_block_describe(as_block block);
int asi_function_size(const as_problem *p, asi_function function);
int asi_argument_size(const as_problem *p, asi_argument argument);

/// Whether there are times offset + k period that can be told apart.
ASI_IO bool asi_is_clock(double offset, double period);

/// Room for the name of a component; more for that of an output, which is told with the loop that it is in.
enum { ASI_LOOP_NAME = 240 };
/// Writes a component's name: the problem's own, or like `lambda[3]`.
ASI_IO void asi_component_name(const as_problem *p, as_quantity quantity, int index, char *text,
                               size_t size);

#endif
