/// Panels: columns of a sparse matrix that belong together, found once from its pattern, for products without a look at
/// every single entry.
///
/// The columns of a panel follow each other and have as many entries each: in the same rows (the three rotations of
/// a body in the rows of its joints), or each one row further than the column before (its translations, a diagonal).
#ifndef ALPHASTEP_LINALG_PANELS_H
#define ALPHASTEP_LINALG_PANELS_H

#include "base/pool.h"
#include "linalg/matrix.h"

typedef struct asi_panel {
  int col, cols;
  int start;   ///< where the entries of the first column begin
  int entries; ///< of a column
  int shift;   ///< 0: the same rows; 1: one row further from column to column
  int shape;   ///< a usual one of these numbers, which has its own loop; 0: another
} asi_panel;

typedef struct asi_panels {
  const asi_pattern *pattern;
  int count;
  asi_panel *panel;
  int n_apart; ///< groups of panels, about the same in number, that have no rows in common; 0: they were not looked for
  int *apart;  ///< n_apart + 1: where they begin
} asi_panels;

/// The pattern has to outlive the panels.
as_status asi_panels_init(asi_panels *p, const asi_pattern *pattern, as_error *error);
void asi_panels_free(asi_panels *p);

/// y += factor A x, with the given values of A
void asi_panels_multiply_add(const asi_panels *p, const double *value, double factor,
                             const double *x, double *y);
/// y += factor A^T x
void asi_panels_multiply_transposed_add(const asi_panels *p, const double *value, double factor,
                                        const double *x, double *y);
/// The same; returns the largest |A^T x|_i unit_i, which does not see NaN.
double asi_panels_multiply_transposed_add_sized(const asi_panels *p, const double *value,
                                                double factor, const double *x, double *y,
                                                const double *unit);
/// The largest |A^T x|_i unit_i; NaN if one is not finite, nor the sum of all.
double asi_panels_transposed_size(const asi_panels *p, const double *value, const double *x,
                                  const double *unit);

// The same by a pool's threads, with the same bits. Where rows are not apart y += factor A x goes by one of them.
void asi_panels_multiply_add_by(asi_pool *pool, const asi_panels *p, const double *value,
                                double factor, const double *x, double *y);
void asi_panels_multiply_transposed_add_by(asi_pool *pool, const asi_panels *p, const double *value,
                                           double factor, const double *x, double *y);
double asi_panels_multiply_transposed_add_sized_by(asi_pool *pool, const asi_panels *p,
                                                   const double *value, double factor,
                                                   const double *x, double *y, const double *unit);
double asi_panels_transposed_size_by(asi_pool *pool, const asi_panels *p, const double *value,
                                     const double *x, const double *unit);

#endif
