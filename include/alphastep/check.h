/// Tools for writing a problem: are its formulas right, and where do its blocks have entries?
///
///     as_check_def def = as_default_check_def();
///     def.near.q = q0;
///     if (as_problem_check(problem, &def, NULL, &error)) puts(error.message);
///
/// Both look at random points near a given one, which lie off the constraints: every callback must be
/// defined there. The same seed gives the same points.
#ifndef ALPHASTEP_CHECK_H
#define ALPHASTEP_CHECK_H

#include "alphastep/export.h"
#include "alphastep/problem.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where to look. Start from as_default_check_def().
typedef struct as_check_def {
  unsigned cookie;  ///< set by as_default_check_def(): leave it as it is
  as_point near;    ///< q is required; what else is NULL counts as zero
  double spread;    ///< how far from there the points lie, in typical sizes, > 0 [-]; later in time
  int n_points;     ///< > 0
  unsigned seed;    ///< of the random numbers
  double increment; ///< of differences, in typical sizes, > 0 [-]
  double tolerance; ///< on relative errors, 0..1 [-]
} as_check_def;

/// spread 0.1, 3 points, increment 1e-3, tolerance 1e-6.
AS_API as_check_def as_default_check_def(void);

/// What is wrong.
typedef struct as_check_fault {
  const char *what;   ///< a block ("F_Q"), a callback ("constraint_rate") or a flag; NULL: nothing
  int row;            ///< a row of the block or of the function
  int col;            ///< a column of the block, or -1
  double given;       ///< what the problem says; of a flag: the value at the first point
  double differenced; ///< what differences, or single callbacks, say; of a flag: the other value
  double t;           ///< [s]
} as_check_fault;

/// The largest relative error of each formula; NAN where there was nothing to compare.
typedef struct as_check_report {
  double block[AS_BLOCK_COUNT];
  double constraint_rate;
  double constraint_acceleration;
  double nonholonomic_acceleration;
  double mass_constant; ///< the largest relative change of an entry of M
  double scleronomic;   ///< the largest relative change of g or k with t
  double evaluate; ///< the largest relative difference between that callback and the single ones
  as_check_fault fault;
} as_check_report;

/// Compares every formula of a problem with differences of the function it belongs to: given blocks,
/// constraint_rate, constraint_acceleration, nonholonomic_acceleration. Finds entries outside a block's
/// pattern, also of differenced blocks; blocks that are not AS_BLOCK_ZERO as declared; flags
/// (mass_constant, scleronomic) that are not true; and, last, numbers of the evaluate callback that are not those of
/// the single ones. M itself has nothing to be compared with.
///
/// AS_OK, or AS_ERR_ARGUMENT with a sentence on the worst entry of the first wrong formula, in an order
/// in which no formula rests on a later one. `report` may be NULL; it is complete in both cases.
AS_API as_status as_problem_check(const as_problem *problem, const as_check_def *def,
                                  as_check_report *report, as_error *error);

/// Patterns that were detected; a description points to them.
typedef struct as_patterns as_patterns;

/// Finds a pattern for each block of a description that has none and is not zero, and points
/// def->block[...].pattern to it. Destroy the patterns after as_problem_create(), which copies them.
///
/// M and given blocks have the entries that their callback adds with as_matrix_add() or
/// as_matrix_add_block(), zeros too. A callback that writes straight into `value` must give its pattern
/// itself: there is no `value` while entries are recorded. Differenced blocks have the entries that
/// change when a component of the argument is moved; an entry that happens to vanish at all points is
/// missed, so let as_problem_check() look at other points. Memory goes with the number of entries; work
/// with the entries per row and the logarithm of the number of columns.
///
/// On failure the description is unchanged and *out is NULL.
AS_API as_status as_problem_detect(as_problem_def *def, const as_check_def *how, as_patterns **out,
                                   as_error *error);
AS_API void as_patterns_destroy(as_patterns *patterns);

#ifdef __cplusplus
}
#endif

#endif
