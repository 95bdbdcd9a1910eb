/// Products of sparse matrices whose patterns are known, carried out in pieces that have loops of their own.
#ifndef ALPHASTEP_CORE_PRODUCTS_H
#define ALPHASTEP_CORE_PRODUCTS_H

#include "core/kinematics/problem.h"

/// A piece of a product of sparse matrices: consecutive rows of some columns, for which the inner numbers follow each
/// other. For its columns c
///
///     value[dest + r + c dest_col] += factor * sum_k a[left + k left_step + r row_step + c left_col]
///                                                    * b[right + k right_step + c right_col]
///
/// and again for others of the same numbers that follow at equal distances: those of a row of equal bodies.
typedef struct asi_block_product {
  int dest, left, right;
  int shape;             ///< by which usual ones of these numbers find their own loop
  int rows, inner, cols; ///< so many r, k and c
  int row_step;          ///< 1 if there is a second factor
  int left_step, right_step;
  int dest_col, left_col, right_col;
  int count; ///< so many of them,
  int dest_next, left_next, right_next;
  bool adds; ///< to what others have written; otherwise it is the first one there
} asi_block_product;

/// A product of sparse matrices whose patterns are known, or one of them alone, as a list of pieces.
typedef struct asi_product_plan {
  int count; ///< multiplications
  int n_pieces;
  asi_block_product *piece;
} asi_product_plan;

/// Entries that are not set before others add to them: they have to be cleared.
typedef struct asi_zeros {
  int count;
  int *entry; ///< NULL: the first ones, that is all
} asi_zeros;

/// Makes pieces of products that are named one by one.
typedef struct asi_block_product_builder asi_block_product_builder;

/// Visits the products of a matrix product in a fixed order: column by column, in a column by inner number and row.
typedef void asi_visit_products_fn(asi_block_product_builder *b, const void *context);

/// Names a product: an entry `left` of one matrix, times an entry `right` of the other if there is one, goes to an
/// entry of the target.
void asi_add_product(asi_block_product_builder *b, int row, int col, int left, int right);
/// The next product does not follow the last one.
void asi_end_run(asi_block_product_builder *b);
as_status asi_products_build(asi_product_plan *p, const asi_pattern *target, bool two_factors,
                             asi_visit_products_fn *visit, const void *context, as_error *error);
void asi_products_free(asi_product_plan *p);
/// Finds which pieces of some products, carried out in this order, are the first ones, and which entries are to be cleared.
as_status asi_zeros_find(asi_zeros *zeros, asi_product_plan *products, int n_products,
                         const asi_pattern *target, as_error *error);
void asi_zeros_free(asi_zeros *zeros);
void asi_zeros_clear(const asi_zeros *zeros, double *value);
/// value += factor * a
void asi_products_copy(const asi_product_plan *p, double factor, const double *a, double *value);
/// value += factor * a * b
void asi_products_add(const asi_product_plan *p, double factor, const double *a, const double *b,
                      double *value);

#endif
