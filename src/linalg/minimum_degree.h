/// An order of elimination with little fill: by AMD (klu/) or by code of our own (plain/), whichever the library was built with.
#ifndef ALPHASTEP_LINALG_MINIMUM_DEGREE_H
#define ALPHASTEP_LINALG_MINIMUM_DEGREE_H

#include <stdbool.h>

/// The pattern of an n x n matrix by columns, one triangle of it or both; order[k] is the k-th to eliminate. Returns false if memory runs out.
bool asi_minimum_degree(int n, const int *start, const int *row, int *order);

#endif
