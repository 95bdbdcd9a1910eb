/// Subtrees of fronts that threads eliminate at the same time; the fronts above them come after them, one by one.
///
/// Results are those of one thread, to the last bit, whatever the subtrees are: each number is made of the same terms in the same order. What a
/// subtree has for the fronts above it is kept until their elimination has come to where the subtree stands in the order:
///
/// - the matrix that its last front leaves. Where that front works in its parent's, [its others are pivots of it in a row,] no front but those
///   of the subtree has done so before;
/// - the largest sizes of diagonals on the way;
/// - in forward substitution, what each front subtracts from unknowns above the subtree, term by term.
#ifndef ALPHASTEP_LINALG_FRONT_TASKS_H
#define ALPHASTEP_LINALG_FRONT_TASKS_H

#include "base/pool.h"
#include "linalg/fronts.h"

/// A subtree.
typedef struct asi_front_task {
  int first, last;      ///< its fronts are first ... last - 1, the last one is its root
  int from, to;         ///< places in the order between which its pivots are
  int border, n_border; ///< where the list of its fronts begins that have others outside
  size_t outside;       ///< where what they subtract from those begins
  size_t left;          ///< where what its root leaves begins
  size_t sizes;         ///< where sizes of the root's others begin
  double largest;       ///< diagonal
  bool doubtful, failed;
} asi_front_task;

/// What a thread works with.
typedef struct asi_front_scratch {
  double *stack, *size, *others; ///< n_stack, n, largest
} asi_front_scratch;

typedef struct asi_front_tasks {
  asi_pool *pool;
  int n_tasks, n_threads;
  asi_front_task *task; ///< in the order of elimination
  int *turn;            ///< the order in which they are begun: those with most work first
  int *border;          ///< fronts of tasks that have others outside
  int *inside; ///< for each front: how many of its others are in its task; of those above: all
  double *outside, *left, *sizes;
  asi_front_scratch *scratch; ///< n_threads
} asi_front_tasks;

/// Chooses subtrees for a pool's threads. *out is NULL if there are none worth while.
as_status asi_front_tasks_create(const asi_fronts *f, asi_pool *pool, asi_front_tasks **out,
                                 as_error *error);
void asi_front_tasks_destroy(asi_front_tasks *t);

#endif
