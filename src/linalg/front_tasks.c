/// Chooses subtrees of fronts for threads, see front_tasks.h.
#include "linalg/front_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// So many subtrees at most for each thread: more of them are spread more evenly.
enum { TASKS_PER_THREAD = 24 };
// What a front takes beside its multiplications and additions, in these; and an entry of it, which is cleared, added to and moved.
#define COST_OF_FRONT 60.0
#define COST_OF_ENTRY 6.0

/// The tree, and the subtrees that have been chosen so far.
typedef struct choice {
  const asi_fronts *f;
  int *parent;          ///< -1: none
  int *first;           ///< the first front of the subtree
  int *child, *sibling; ///< lists, in ascending order; -1: the end
  double *cost, *all;   ///< of a front, and of its subtree
  int *root;            ///< chosen ones
  int n_roots;
  double above; ///< operations of the fronts above them
} choice;

static void choice_free(choice *c) {
  free(c->parent);
  free(c->first);
  free(c->child);
  free(c->sibling);
  free(c->cost);
  free(c->all);
  free(c->root);
}

static double cost_of(const asi_front *f) {
  const double size = f->w + f->r;
  double cost = COST_OF_FRONT + COST_OF_ENTRY * size * size;
  for (int k = 0; k < f->w; ++k) {
    const double left = f->w + f->r - k - 1;
    cost += left + 2.0 * left * left;
  }
  return cost;
}

/// `front_at` is scratch: the front of each place in the order.
static void find_tree(choice *c, int *front_at) {
  const asi_fronts *f = c->f;
  for (int i = 0; i < f->n_fronts; ++i) {
    for (int k = 0; k < f->front[i].w; ++k) front_at[f->front[i].first + k] = i;
    c->first[i] = i;
    c->child[i] = c->sibling[i] = -1;
    c->cost[i] = c->all[i] = cost_of(&f->front[i]);
  }
  for (int i = 0; i < f->n_fronts; ++i) { // children come before their parents
    const asi_front *front = &f->front[i];
    c->parent[i] = front->r > 0 ? front_at[f->rest[front->rest]] : -1;
    if (c->parent[i] < 0) continue;
    c->all[c->parent[i]] += c->all[i];
    if (c->first[i] < c->first[c->parent[i]]) c->first[c->parent[i]] = c->first[i];
  }
  for (int i = f->n_fronts - 1; i >= 0; --i) {
    if (c->parent[i] < 0) continue;
    c->sibling[i] = c->child[c->parent[i]];
    c->child[c->parent[i]] = i;
  }
}

/// Whether nobody writes where a front leaves what it does before it.
static bool may_be_root(const choice *c, int i) {
  const asi_front *front = &c->f->front[i];
  if (!front->direct) return true;
  if (front->split < front->r) return false;
  for (int k = c->child[c->parent[i]]; k < i; k = c->sibling[k])
    if (c->f->front[k].direct) return false;
  return true;
}

/// Replaces a root by its children.
static void split(choice *c, int at) {
  const int i = c->root[at];
  c->root[at] = c->root[--c->n_roots];
  c->above += c->cost[i];
  for (int k = c->child[i]; k >= 0; k = c->sibling[k]) c->root[c->n_roots++] = k;
}

static int largest_root(const choice *c) {
  int best = 0;
  for (int k = 1; k < c->n_roots; ++k)
    if (c->all[c->root[k]] > c->all[c->root[best]]) best = k;
  return best;
}

static void start(choice *c) {
  c->n_roots = 0;
  c->above = 0.0;
  for (int i = 0; i < c->f->n_fronts; ++i)
    if (c->parent[i] < 0) c->root[c->n_roots++] = i;
}

/// What the busiest thread does if each takes the next one: `load` is scratch.
static double busiest(const choice *c, double *load, int threads, int *turn) {
  double most = 0.0;
  for (int k = 0; k < c->n_roots; ++k) { // by insertion: they are few
    int at = k;
    for (; at > 0 && c->all[c->root[turn[at - 1]]] < c->all[c->root[k]]; --at)
      turn[at] = turn[at - 1];
    turn[at] = k;
  }
  for (int t = 0; t < threads; ++t) load[t] = 0.0;
  for (int k = 0; k < c->n_roots; ++k) {
    int least = 0;
    for (int t = 1; t < threads; ++t)
      if (load[t] < load[least]) least = t;
    load[least] += c->all[c->root[turn[k]]];
    if (load[least] > most) most = load[least];
  }
  return most;
}

/// Splits the largest subtree until the busiest thread and the fronts above have least to do.
static void choose(choice *c, double *load, int threads, int *turn) {
  const int most = TASKS_PER_THREAD * threads;
  double best = (double)INFINITY;
  int splits = 0;
  for (int pass = 0; pass < 2; ++pass) {
    start(c);
    for (int k = 0; c->n_roots > 0 && c->n_roots <= most && (pass == 0 || k < splits); ++k) {
      const double time = pass == 0 ? c->above + busiest(c, load, threads, turn) : 0.0;
      if (time < best && pass == 0) {
        best = time;
        splits = k;
      }
      split(c, largest_root(c));
    }
  }
  // Those that may be none are taken apart, too.
  for (int k = 0; k < c->n_roots;)
    if (may_be_root(c, c->root[k]))
      ++k;
    else
      split(c, k);
}

static int compare_int(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// Lists the tasks, and how much there is to be kept of them.
static void list_tasks(asi_front_tasks *t, const choice *c, size_t *outside, size_t *left,
                       size_t *sizes) {
  const asi_fronts *f = c->f;
  int n_border = 0;
  for (int i = 0; i < f->n_fronts; ++i) t->inside[i] = f->front[i].r;
  for (int k = 0; k < t->n_tasks; ++k) {
    asi_front_task *task = &t->task[k];
    const int i = c->root[k];
    const asi_front *root = &f->front[i];
    *task = (asi_front_task){.first = c->first[i],
                             .last = i + 1,
                             .from = f->front[c->first[i]].first,
                             .to = root->first + root->w,
                             .border = n_border,
                             .outside = *outside,
                             .left = *left,
                             .sizes = *sizes};
    for (int j = task->first; j < task->last; ++j) {
      const asi_front *front = &f->front[j];
      const int *rest = f->rest + front->rest;
      int inside = front->r;
      while (inside > 0 && rest[inside - 1] >= task->to) --inside;
      t->inside[j] = inside;
      *outside += (size_t)(front->r - inside);
      if (inside < front->r) t->border[n_border++] = j;
    }
    task->n_border = n_border - task->border;
    *left += root->direct ? 0 : (size_t)root->r * (size_t)root->stride;
    *sizes += (size_t)root->r;
  }
}

static as_status take_memory(asi_front_tasks *t, const asi_fronts *f, size_t outside, size_t left,
                             size_t sizes, as_error *error) {
  t->outside = asi_calloc(outside, sizeof(double));
  t->left = asi_calloc(left, sizeof(double));
  t->sizes = asi_calloc(sizes, sizeof(double));
  t->scratch = asi_calloc((size_t)t->n_threads, sizeof *t->scratch);
  if (!t->outside || !t->left || !t->sizes || !t->scratch) return asi_fail_memory(error);
  for (int k = 0; k < t->n_threads; ++k) {
    asi_front_scratch *s = &t->scratch[k];
    s->stack = asi_calloc(f->n_stack, sizeof(double));
    s->size = asi_calloc((size_t)f->n, sizeof(double));
    s->others = asi_calloc((size_t)f->largest, sizeof(double));
    if (!s->stack || !s->size || !s->others) return asi_fail_memory(error);
  }
  return AS_OK;
}

static as_status make_tasks(asi_front_tasks *t, choice *c, as_error *error) {
  const size_t n = (size_t)c->n_roots, n_fronts = (size_t)c->f->n_fronts;
  size_t outside = 0, left = 0, sizes = 0;
  t->n_tasks = c->n_roots;
  t->task = asi_calloc(n, sizeof *t->task);
  t->turn = asi_calloc(n, sizeof(int));
  t->border = asi_calloc(n_fronts, sizeof(int));
  t->inside = asi_calloc(n_fronts, sizeof(int));
  double *load = asi_calloc((size_t)t->n_threads, sizeof(double));
  as_status status =
      t->task && t->turn && t->border && t->inside && load ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) {
    qsort(c->root, n, sizeof(int), compare_int);
    (void)busiest(c, load, t->n_threads, t->turn);
    list_tasks(t, c, &outside, &left, &sizes);
    status = take_memory(t, c->f, outside, left, sizes, error);
  }
  free(load);
  return status;
}

as_status asi_front_tasks_create(const asi_fronts *f, asi_pool *pool, asi_front_tasks **out,
                                 as_error *error) {
  const int threads = asi_pool_threads(pool);
  const size_t n = (size_t)f->n_fronts;
  *out = NULL;
  if (threads < 2) return AS_OK;
  choice c = {.f = f};
  c.parent = asi_calloc(n, sizeof(int));
  c.first = asi_calloc(n, sizeof(int));
  c.child = asi_calloc(n, sizeof(int));
  c.sibling = asi_calloc(n, sizeof(int));
  c.cost = asi_calloc(n, sizeof(double));
  c.all = asi_calloc(n, sizeof(double));
  c.root = asi_calloc(n, sizeof(int));
  int *front_at = asi_calloc((size_t)f->n, sizeof(int)), *turn = asi_calloc(n, sizeof(int));
  double *load = asi_calloc((size_t)threads, sizeof(double));
  asi_front_tasks *t = asi_calloc(1, sizeof *t);
  as_status status = c.parent && c.first && c.child && c.sibling && c.cost && c.all && c.root &&
                             front_at && turn && load && t
                         ? AS_OK
                         : asi_fail_memory(error);
  if (status == AS_OK) {
    *t = (asi_front_tasks){.pool = pool, .n_threads = threads};
    find_tree(&c, front_at);
    choose(&c, load, threads, turn);
    if (c.n_roots > 1) status = make_tasks(t, &c, error);
  }
  free(front_at);
  free(turn);
  free(load);
  choice_free(&c);
  if (status == AS_OK && t->n_tasks > 1)
    *out = t;
  else
    asi_front_tasks_destroy(t);
  return status;
}

void asi_front_tasks_destroy(asi_front_tasks *t) {
  if (t == NULL) return;
  for (int k = 0; k < t->n_threads && t->scratch; ++k) {
    free(t->scratch[k].stack);
    free(t->scratch[k].size);
    free(t->scratch[k].others);
  }
  free(t->scratch);
  free(t->task);
  free(t->turn);
  free(t->border);
  free(t->inside);
  free(t->outside);
  free(t->left);
  free(t->sizes);
  free(t);
}
