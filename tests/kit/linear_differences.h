/// A of a linearization against differences of the nonlinear equations at consistent states close by.
#ifndef TESTS_LINEAR_DIFFERENCES_H
#define TESTS_LINEAR_DIFFERENCES_H

#include "alphastep/alphastep.h"

/// The largest difference, each column relative to its largest entry, and where it is; -1: a start failed. `factor`: steps are so
/// many times as_linearization_reach().
double linear_compare(as_linearization *l, double factor, int *worst_i, int *worst_j);

#endif
