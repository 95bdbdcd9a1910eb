/// Minimum degree on the graph of elimination: the node with the fewest neighbours goes next, and its neighbours become neighbours of each
/// other. The first of several.
#include "linalg/minimum_degree.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct node {
  int *neighbour; ///< count of them, sorted
  int count;
  bool gone;
} node;

static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// The neighbours of x become those of x and of y, without x, y and what is gone. `room` is scratch for all nodes.
static bool join(node *nodes, int x, int y, int *room) {
  const node *const a = &nodes[x], *const b = &nodes[y];
  int count = 0;
  for (int i = 0, j = 0; i < a->count || j < b->count;) {
    const bool first = j == b->count || (i < a->count && a->neighbour[i] <= b->neighbour[j]);
    const int next = first ? a->neighbour[i] : b->neighbour[j];
    while (i < a->count && a->neighbour[i] == next) ++i;
    while (j < b->count && b->neighbour[j] == next) ++j;
    if (next != x && next != y && !nodes[next].gone) room[count++] = next;
  }
  int *const taken = asi_calloc((size_t)count + 1, sizeof *taken);
  if (taken == NULL) return false;
  memcpy(taken, room, (size_t)count * sizeof *taken);
  free(nodes[x].neighbour);
  nodes[x].neighbour = taken;
  nodes[x].count = count;
  return true;
}

static bool make_nodes(node *nodes, int n, const int *start, const int *row) {
  for (int j = 0; j < n; ++j)
    for (int k = start[j]; k < start[j + 1]; ++k) {
      ++nodes[j].count;
      ++nodes[row[k]].count;
    }
  for (int i = 0; i < n; ++i) {
    nodes[i].neighbour = asi_calloc((size_t)nodes[i].count + 1, sizeof(int));
    if (nodes[i].neighbour == NULL) return false;
    nodes[i].count = 0;
  }
  for (int j = 0; j < n; ++j)
    for (int k = start[j]; k < start[j + 1]; ++k) {
      if (row[k] == j) continue;
      nodes[j].neighbour[nodes[j].count++] = row[k];
      nodes[row[k]].neighbour[nodes[row[k]].count++] = j;
    }
  for (int i = 0; i < n; ++i) {
    node *const x = &nodes[i];
    int kept = 0;
    qsort(x->neighbour, (size_t)x->count, sizeof(int), compare);
    for (int k = 0; k < x->count; ++k)
      if (k == 0 || x->neighbour[k] != x->neighbour[k - 1]) x->neighbour[kept++] = x->neighbour[k];
    x->count = kept;
  }
  return true;
}

bool asi_minimum_degree(int n, const int *start, const int *row, int *order) {
  node *const nodes = asi_calloc((size_t)n + 1, sizeof *nodes);
  int *const room = asi_calloc((size_t)n + 1, sizeof *room);
  bool done = nodes && room && make_nodes(nodes, n, start, row);
  for (int k = 0; k < n && done; ++k) {
    int next = -1;
    for (int i = 0; i < n; ++i)
      if (!nodes[i].gone && (next < 0 || nodes[i].count < nodes[next].count)) next = i;
    order[k] = next;
    nodes[next].gone = true;
    for (int i = 0; i < nodes[next].count && done; ++i)
      done = join(nodes, nodes[next].neighbour[i], next, room);
  }
  for (int i = 0; nodes && i < n; ++i) free(nodes[i].neighbour);
  free(nodes);
  free(room);
  return done;
}
