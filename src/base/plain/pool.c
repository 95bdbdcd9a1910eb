/// Where there are no threads, see pool.h.
#include "base/pool.h"

#include <stddef.h>

as_status asi_pool_create(int threads, asi_pool **out, as_error *error) {
  (void)threads;
  (void)error;
  *out = NULL;
  return AS_OK;
}

void asi_pool_destroy(asi_pool *pool) { (void)pool; }

int asi_pool_threads(const asi_pool *pool) {
  (void)pool;
  return 1;
}

void asi_pool_run(asi_pool *pool, int n_parts, asi_task_fn *task, void *context) {
  (void)pool;
  for (int i = 0; i < n_parts; ++i) task(i, 0, context);
}
