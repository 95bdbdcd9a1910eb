/// A few threads that wait for work and share it out: parts of a task that do not depend on each other.
///
/// Whoever owns a pool runs tasks in it, one after the other, and works on them, too. Which thread takes which part is left to chance: results
/// must not depend on it. Threads spin for a moment before they sleep, so that tasks of a tenth of a millisecond are worth while.
/// pthreads/ has threads, plain/ is for platforms without them: there a pool has one.
#ifndef ALPHASTEP_BASE_POOL_H
#define ALPHASTEP_BASE_POOL_H

#include "alphastep/status.h"

typedef struct asi_pool asi_pool;

/// So many threads at most, the caller's included, and so many parts of a task.
enum { ASI_MOST_THREADS = 64, ASI_MOST_PARTS = 4096 };

/// Works on one part. `thread` is below that of asi_pool_threads(), and no other part is worked on with the same number at the same time.
typedef void asi_task_fn(int part, int thread, void *context);

/// Starts threads beside the caller's, so that there are `threads`.
as_status asi_pool_create(int threads, asi_pool **out, as_error *error);
void asi_pool_destroy(asi_pool *pool);
/// How many threads there are; a pool that is NULL has one.
int asi_pool_threads(const asi_pool *pool);
/// Works on parts 0 ... n_parts - 1, begun in this order, and returns when all are done. Floating-point numbers are treated as in the caller's thread.
/// Not from inside a task.
void asi_pool_run(asi_pool *pool, int n_parts, asi_task_fn *task, void *context);

#endif
