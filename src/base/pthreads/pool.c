/// A pool of POSIX threads, see pool.h.
///
/// One word says which task it is, how many parts it has and how many of them are taken; a thread takes the next one if the word is still that of
/// the task it knows. So nobody waits for threads that have not come: a task is over when its parts are done.
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/denormals.h"
#include "base/error.h"

// So often a thread looks for a new task before it sleeps, and the caller for the last part before it lets others run: some 100 us.
enum { LOOKS = 4000 };

typedef struct worker {
  asi_pool *pool;
  int number;
  pthread_t thread;
} worker;

struct asi_pool {
  _Atomic uint64_t word;  ///< task number (32 bits), its parts (16), parts taken (16)
  _Atomic int unfinished; ///< parts
  _Atomic int sleeping;   ///< threads
  _Atomic bool over;
  asi_task_fn *task;
  void *context;
  asi_float_mode mode;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  int n_threads, n_workers; ///< those wanted, with the caller's; those that were started
  worker worker[];
};

static uint32_t number_of(uint64_t word) { return (uint32_t)(word >> 32); }
static int parts_of(uint64_t word) { return (int)(word >> 16 & 0xffff); }
static int taken_of(uint64_t word) { return (int)(word & 0xffff); }

static void pause_a_little(void) {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  __asm__ volatile("yield");
#endif
}

/// Takes parts of a task while there are some.
static void work_on(asi_pool *p, uint32_t number, int thread) {
  uint64_t word = atomic_load(&p->word);
  while (number_of(word) == number && taken_of(word) < parts_of(word)) {
    if (!atomic_compare_exchange_weak(&p->word, &word, word + 1)) continue;
    asi_restore_denormals(p->mode);
    p->task(taken_of(word), thread, p->context);
    atomic_fetch_sub(&p->unfinished, 1);
    word = atomic_load(&p->word);
  }
}

/// Waits for another task than that of this number; returns its number.
static uint32_t wait_for_task(asi_pool *p, uint32_t number) {
  for (int i = 0; i < LOOKS; ++i) {
    const uint32_t now = number_of(atomic_load(&p->word));
    if (now != number || atomic_load(&p->over)) return now;
    pause_a_little();
  }
  (void)pthread_mutex_lock(&p->mutex);
  atomic_fetch_add(&p->sleeping, 1);
  while (number_of(atomic_load(&p->word)) == number && !atomic_load(&p->over))
    (void)pthread_cond_wait(&p->wake, &p->mutex);
  atomic_fetch_sub(&p->sleeping, 1);
  (void)pthread_mutex_unlock(&p->mutex);
  return number_of(atomic_load(&p->word));
}

static void *work(void *argument) {
  const worker *w = argument;
  uint32_t number = 0;
  for (;;) {
    number = wait_for_task(w->pool, number);
    if (atomic_load(&w->pool->over)) return NULL;
    work_on(w->pool, number, w->number);
  }
}

static void wake_all(asi_pool *p) {
  (void)pthread_mutex_lock(&p->mutex);
  (void)pthread_cond_broadcast(&p->wake);
  (void)pthread_mutex_unlock(&p->mutex);
}

/// Signals go to the threads of the program.
static bool start_workers(asi_pool *p) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  bool ok = true;
  while (ok && p->n_workers < p->n_threads - 1) {
    worker *w = &p->worker[p->n_workers];
    *w = (worker){.pool = p, .number = p->n_workers + 1};
    ok = pthread_create(&w->thread, NULL, work, w) == 0;
    p->n_workers += ok;
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}

as_status asi_pool_create(int threads, asi_pool **out, as_error *error) {
  *out = NULL;
  if (threads <= 1) return AS_OK;
  asi_pool *p = asi_calloc(1, sizeof *p + (size_t)threads * sizeof p->worker[0]);
  if (p == NULL) return asi_fail_memory(error);
  p->n_threads = threads;
  if (pthread_mutex_init(&p->mutex, NULL) != 0) {
    free(p);
    return asi_fail_memory(error);
  }
  if (pthread_cond_init(&p->wake, NULL) != 0) {
    (void)pthread_mutex_destroy(&p->mutex);
    free(p);
    return asi_fail_memory(error);
  }
  if (!start_workers(p)) {
    const int started = p->n_workers;
    asi_pool_destroy(p);
    return asi_fail(error, AS_ERR_MEMORY, (double)NAN, "threads",
                    "Only %d of %d threads could be started.", started + 1, threads);
  }
  *out = p;
  return AS_OK;
}

void asi_pool_destroy(asi_pool *p) {
  if (p == NULL) return;
  atomic_store(&p->over, true);
  wake_all(p);
  for (int i = 0; i < p->n_workers; ++i) (void)pthread_join(p->worker[i].thread, NULL);
  (void)pthread_cond_destroy(&p->wake);
  (void)pthread_mutex_destroy(&p->mutex);
  free(p);
}

int asi_pool_threads(const asi_pool *p) { return p ? p->n_threads : 1; }

void asi_pool_run(asi_pool *p, int n_parts, asi_task_fn *task, void *context) {
  if (p == NULL || n_parts <= 1) {
    for (int i = 0; i < n_parts; ++i) task(i, 0, context);
    return;
  }
  const uint32_t number = number_of(atomic_load(&p->word)) + 1;
  p->task = task;
  p->context = context;
  p->mode = asi_float_mode_now();
  atomic_store(&p->unfinished, n_parts);
  atomic_store(&p->word, (uint64_t)number << 32 | (uint64_t)n_parts << 16);
  if (atomic_load(&p->sleeping) > 0) wake_all(p);
  work_on(p, number, 0);
  for (int i = 0; atomic_load(&p->unfinished) > 0; ++i) {
    pause_a_little();
    if (i % LOOKS == LOOKS - 1) (void)sched_yield();
  }
}
