/// Redundant constraints: scaling and rank (redundancy.c), the rows that a run does without and multipliers of least norm
/// (independent.c).
#ifndef ALPHASTEP_CORE_REDUNDANCY_H
#define ALPHASTEP_CORE_REDUNDANCY_H

#include <stdbool.h>

#include "alphastep/status.h"
#include "base/export.h"
#include "core/kinematics/system.h"

typedef struct asi_kinematics asi_kinematics;

/// What is known of the constraint rows, g first, then k.
typedef struct asi_redundancy {
  int rows;
  double *column_scale; ///< n: 1, or 1 / lever arm for rotations
  double *inverse_D2;   ///< rows: 1 / D^2, the mean square of a scaled row
  double *inverse_d2;   ///< rows: the same over the mass that the row holds
  double *per_row;      ///< rows: 1 / (typical sizes of what they hold), for residuals
  double *favour;       ///< rows: how much each counts where some are left out
  double *probe;        ///< n + rows: right-hand sides of the rank test
  double limit;         ///< sigma/sigma_1 below which a row counts as implied
  int n_redundant;      ///< rows that the others imply
  int n_nearly;         ///< rows that they nearly imply
  int *redundant;       ///< rows: which, the redundant ones first, as of the start
  int *found;           ///< rows: the same, of the last search
  double
      found_rounded;  ///< of the redundant ones of that search: how far they are from being implied
  double found_apart; ///< of the nearly redundant ones
  int *group;         ///< rows: of that search, the group of rows that imply each other; -1: none

  // Rows that a run does without.
  bool *implied;     ///< rows: these
  bool *was_implied; ///< rows: a copy, for a start or a step that fails
  bool *old_implied; ///< rows: a copy, for a choice that fails
  bool close;        ///< the others are close to dependent, but are not
  int n_implied;     ///< how many; 0: none, and `implied` may hold anything
  double
      rounded; ///< how far they are from being implied, relative to lengths; 0: they are, to round-off
  double
      response; ///< the least since they were chosen of velocities to rates of the others; 0: not known yet
  bool doubtful; ///< it has become much larger

  // [RE.7] Multipliers of least norm.
  bool norm_known;     ///< the next two are
  double *norm_weight; ///< rows: w
  double length;       ///< of the largest lever arm; 0: there is none [m]
  asi_system least;    ///< [RE.8]; made when it is needed first
  double t;            ///< of the point that it was factorized for [s]
  bool prepared;       ///< its factors are those of the step that is being solved
  double *image;       ///< n + rows: its product with a vector
  double *force;       ///< n
  double *shown;       ///< rows: multipliers of the state that is shown
  double *seen;        ///< rows: those that a force was given
} asi_redundancy;

as_status asi_redundancy_init(asi_kinematics *s, as_error *error);
void asi_redundancy_free(asi_redundancy *r);

/// Measures the rows with the blocks M, G_Q and K_V at hand.
void asi_redundancy_scale(asi_kinematics *s);

/// Says which rows are left out before others, with the blocks G_Q, K_V, F_LAMBDA and F_PSI at hand.
void asi_redundancy_favour(asi_kinematics *s);

/// The singular value, relative to the largest, below which rows count as nearly redundant.
double asi_redundancy_near(const asi_kinematics *s);

/// The limit where positions are exact.
#define ASI_REDUNDANT 1e-10

/// [RE.10] The limit of rows that are meant to be implied, but were given with so many digits.
double asi_redundancy_rounded(const asi_kinematics *s);

/// How many redundant rows are looked for at the most: beyond, the cost would grow with their cube.
enum { ASI_MOST_REDUNDANT = 300 };

/// Finds the redundant and, up to the singular value `near`, the nearly redundant rows, `most` of them, with
/// the blocks at hand, which it overwrites.
as_status asi_redundancy_find(asi_kinematics *s, double t, double near, int most);

/// out += [B; k_v]^T multiplier with the blocks at hand.
void asi_rows_force(const asi_kinematics *s, const double *multiplier, double *out);

/// Finds rows that others imply, or nearly (up to the singular value `near`), at most `most`, at a point: its t, q, v, x and y.
as_status asi_find_redundancy(asi_kinematics *s, const as_point *where, double near, int most);

// independent.c ------------------------------------------------------------------------------------

/// Says which rows the equations leave out: those that do not hold and, unless `all` others are wanted for a moment, those
/// that are implied.
void asi_rows_update(asi_kinematics *s, bool all);
/// Sets the multipliers of rows that are left out, of lambda and then of psi, to zero.
void asi_rows_clear(const asi_kinematics *s, double *multiplier);
/// Leaves no row out that holds.
void asi_rows_take_all(asi_kinematics *s);
/// Leaves the rows out that the last search found to be redundant.
void asi_rows_leave_out(asi_kinematics *s);
/// [RE.10] How far rows that are left out may be off because they are implied by `rounded` only, relative to lengths or speeds.
double asi_rows_slack(const asi_kinematics *s);

/// [RE.8] Factorizes for a point; then replaces multipliers by those of least norm.
as_status asi_least_norm_prepare(asi_kinematics *s, double t, const double *q, const double *v);
as_status asi_least_norm(asi_kinematics *s, double *lambda, double *psi);
/// Both, without being counted.
as_status asi_least_norm_at(asi_kinematics *s, double t, const double *q, const double *v,
                            double *lambda, double *psi);
/// Whether forces depend on multipliers that are not determined.
bool asi_forces_see_least_norm(const asi_kinematics *s);
/// If so, takes the memory for what that adds to a matrix.
as_status asi_sharing_reserve(asi_kinematics *s, asi_system *system);
/// asi_factor(), with what forces that see them add to the matrix. If there are any, least norms have been prepared for.
as_status asi_factor_shared(asi_kinematics *s, asi_system *system, double t, const char *what);

#endif
