/// Calls a problem's callbacks: checks what comes back, counts, and differences what is not given.
#ifndef ALPHASTEP_CORE_EVALUATE_H
#define ALPHASTEP_CORE_EVALUATE_H

#include "alphastep/integrator.h"
#include "core/kinematics/problem.h"

/// Scratch for one level of differencing.
typedef struct asi_difference_work {
  double *q;        ///< a moved configuration
  double *argument; ///< any other moved argument, or a direction of motion
  double *plus;     ///< function values
  double *minus;
} asi_difference_work;

typedef struct asi_evaluator {
  const as_problem *problem;
  asi_pool *pool; ///< threads for products; callbacks belong to the caller's. NULL: there is one
  as_statistics *count; ///< where evaluations are counted
  as_error *error;      ///< where failures go; set by each public function
  double rate;          ///< [SZ.2] of the motion: typical sizes are moved in its inverse [1/s]
  double relative; ///< increment of differenced blocks over typical sizes; 0: the best for each
  /// Differencing f needs B at moved points, which may be differenced itself: two levels.
  asi_difference_work work[2];
  as_matrix moved[AS_BLOCK_COUNT]; ///< M, G_Q and K_V at moved points
  double *moved_q;                 ///< for derivatives along the motion
  double *moved_value;
  double *u; ///< held signals, part of every point
  /// n_lambda + n_psi: constraint rows that do not hold at present.
  bool *inactive;
  int n_inactive;
  /// n_lambda + n_psi: these and, in a run, rows that others imply; values and Jacobians of such rows are zero.
  bool *left_out;
  int n_left_out;
  int *part_code;          ///< what parts of the problem have returned; NULL: they are not asked
  double constraint_force; ///< max |B^T lambda| in the force that was evaluated last
} asi_evaluator;

as_status asi_evaluator_init(asi_evaluator *e, const as_problem *problem, as_statistics *count,
                             as_error *error);
void asi_evaluator_free(asi_evaluator *e);
/// From now on it works in a pool's threads, which must outlive it.
as_status asi_evaluator_use_threads(asi_evaluator *e, asi_pool *pool, as_error *error);

/// How many numbers there are besides q: an array that long holds any function or argument.
size_t asi_total_size(const as_problem *p);

/// What a function's components are called after.
as_quantity asi_function_quantity(asi_function function);

/// What a callback's code means: AS_OK, or a failure with a sentence that says who is to blame and why, if the problem can.
as_status asi_eval_code(asi_evaluator *e, int code, const char *callback, const as_point *at);

/// The blocks that asi_eval_function() takes as current at its point.
as_block_set asi_eval_needs(const as_problem *p, asi_function function);

/// Evaluates blocks, by formula or by differences.
as_status asi_eval_blocks(asi_evaluator *e, const as_point *at, as_block_set wanted,
                          as_matrix *blocks);

/// Evaluates a function; `blocks` holds asi_eval_needs() at the same point.
as_status asi_eval_function(asi_evaluator *e, asi_function function, const as_point *at,
                            const as_matrix *blocks, double *out);

/// Evaluates what held signals change of the force, by the problem's callback.
as_status asi_eval_force_change(asi_evaluator *e, const as_point *at, const double *u_before,
                                double *out);

/// Evaluates functions, out[function] where it is not NULL, and given blocks by the callback that does so at once.
/// False, with nothing evaluated, if there is none or it did not work: then one by one will tell why. Constraint
/// forces, and what else rests on blocks, are added by asi_eval_complete().
bool asi_eval_together(asi_evaluator *e, const as_point *at, double *const out[ASI_FUNCTIONS],
                       as_block_set given, as_matrix *blocks);
as_status asi_eval_complete(asi_evaluator *e, const as_point *at, double *const out[ASI_FUNCTIONS],
                            const as_matrix *blocks);

/// `relative` times the size of each component of an argument at a point: |component| or its typical
/// size; for directions of motion the latter.
void asi_increments(const as_problem *p, asi_argument argument, const as_point *at, double relative,
                    double *out);

/// Evaluates a block's function where the components `columns` of its argument are moved by `factor`
/// times their increments, along the group for q.
as_status asi_eval_moved(asi_evaluator *e, as_block block, const as_point *at, const int *columns,
                         int n_columns, double factor, const double *increment, double *out);

/// A thousandth of the time over which the motion changes, for derivatives along it.
double asi_time_increment(const asi_evaluator *e, const double *v);

/// Differences g, g_t + B v or k along q o exp(s v), t + s, at fixed v.
as_status asi_eval_along_motion(asi_evaluator *e, asi_function function, const as_point *at,
                                double increment, double *out);

/// d/dt (g_t + B v) at v' = 0, and d/dt k at v' = 0; uses at->t, q and v.
as_status asi_eval_constraint_acceleration(asi_evaluator *e, const as_point *at, double *out);
as_status asi_eval_nonholonomic_acceleration(asi_evaluator *e, const as_point *at, double *out);

#endif
