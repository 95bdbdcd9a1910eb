/// Approximate minimum degree, by AMD of SuiteSparse.
#include "linalg/minimum_degree.h"

#include <stddef.h>

#include <amd.h>

bool asi_minimum_degree(int n, const int *start, const int *row, int *order) {
  return amd_order(n, start, row, order, NULL, NULL) >= AMD_OK;
}
