/// Strongly connected components by Tarjan's algorithm (SIAM J. Comput. 1, 1972), without recursion, see order.h.
#include "control/order.h"

#include <stdlib.h>

#include "base/error.h"

int asi_components(int n, const int *start, const int *edge, int *component) {
  // Of each node: when it was found, the earliest that it reaches, its next edge; then two stacks.
  int *work = asi_calloc(5 * (size_t)n + 1, sizeof(int));
  if (work == NULL) return -1;
  int *found = work, *low = work + n, *next = work + 2 * n, *open = work + 3 * n,
      *path = work + 4 * n;
  int count = 0, time = 0, n_open = 0;
  for (int i = 0; i < n; ++i) component[i] = -1;
  for (int root = 0; root < n; ++root) {
    int depth = 0;
    if (found[root]) continue;
    path[depth] = root;
    while (depth >= 0) {
      const int i = path[depth];
      if (found[i] == 0) {
        found[i] = low[i] = ++time;
        next[i] = start[i];
        open[n_open++] = i;
      }
      bool deeper = false;
      while (next[i] < start[i + 1] && !deeper) {
        const int j = edge[next[i]];
        if (found[j] == 0) {
          path[++depth] = j;
          deeper = true; // this edge is looked at again afterwards
        } else {
          if (component[j] < 0 && low[j] < low[i]) low[i] = low[j];
          ++next[i];
        }
      }
      if (deeper) continue;
      if (low[i] == found[i]) {
        int j;
        do {
          j = open[--n_open];
          component[j] = count;
        } while (j != i);
        ++count;
      }
      --depth;
    }
  }
  free(work);
  return count;
}
