/// Redundant constraints: scaling, rank, and the compliance that makes their multipliers unique.
#ifndef ALPHASTEP_CORE_REDUNDANCY_H
#define ALPHASTEP_CORE_REDUNDANCY_H

#include "alphastep/status.h"

typedef struct as_integrator as_integrator;

/// What is known of the constraint rows, g first, then k.
typedef struct asi_redundancy {
  int rows;
  double *column_scale; ///< n: 1, or 1 / lever arm for rotations
  double *inverse_D2;   ///< rows: 1 / D^2, the mean square of a scaled row
  double *inverse_d2;   ///< rows: the same over the mass that the row holds
  double *probe;        ///< n + rows: right-hand sides of the rank test
  int n_redundant;      ///< rows that the others imply
  int n_nearly;         ///< rows that they nearly imply
  int *redundant;       ///< rows: which, the redundant ones first, as of the start
  int *found;           ///< rows: the same, of the last search
} asi_redundancy;

as_status asi_redundancy_init(as_integrator *s, as_error *error);
void asi_redundancy_free(asi_redundancy *r);

/// Measures the rows with the blocks M, G_Q and K_V at hand.
void asi_redundancy_scale(as_integrator *s);

/// The singular value, relative to the largest, below which rows count as nearly redundant.
double asi_redundancy_near(const as_integrator *s);

/// How many redundant rows are looked for at the most: beyond, the cost would grow with their cube.
enum { ASI_MOST_REDUNDANT = 200 };

/// Finds the redundant and, up to the singular value `near`, the nearly redundant rows, `most` of them, with
/// the blocks at hand, which it overwrites.
as_status asi_redundancy_find(as_integrator *s, double t, double near, int most);

#endif
