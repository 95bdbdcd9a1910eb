/// Who depends on whom: an order in which each comes after what it reads, and the loops in it.
#ifndef ALPHASTEP_CONTROL_ORDER_H
#define ALPHASTEP_CONTROL_ORDER_H

#include <stdbool.h>

/// Finds the strongly connected components of a graph in which i reads edge[start[i]] ... edge[start[i + 1] - 1].
/// `component[i]` is the number of its component, so that a component reads only those of smaller numbers; returns how many
/// there are, -1: memory has run out.
int asi_components(int n, const int *start, const int *edge, int *component);

#endif
