/// Products of sparse matrices (products.h) in parts for threads: each part has a range of the target's entries to itself.
///
/// Pieces of a part stay in their order, so each entry is made of the same terms in the same order as without parts.
#ifndef ALPHASTEP_CORE_PRODUCT_PARTS_H
#define ALPHASTEP_CORE_PRODUCT_PARTS_H

#include "base/pool.h"
#include "core/kinematics/products.h"

typedef struct asi_product_parts {
  int n_parts; ///< 0: there are none
  int *entry;  ///< n_parts + 1: where the ranges of entries begin
  int *piece;  ///< of each plan n_parts + 1: where the pieces of a part begin
} asi_product_parts;

/// Sorts the pieces of some plans, of one target, into parts for a pool's threads. Does nothing if there is one thread.
as_status asi_product_parts_make(asi_product_parts *parts, const asi_pool *pool,
                                 asi_product_plan *plan, int n_plans, const asi_pattern *target,
                                 as_error *error);
void asi_product_parts_free(asi_product_parts *parts);
/// The pieces of a part of one of the plans.
asi_product_plan asi_product_part(const asi_product_parts *parts, const asi_product_plan *plan,
                                  int number, int part);
/// Clears the entries of a part.
void asi_product_part_clear(const asi_product_parts *parts, int part, double *value);

#endif
