/// Finds the fronts of a pattern, see fronts.h.
#include "linalg/fronts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/// The graph of blocks, numbered as they are eliminated, and what elimination makes of it.
typedef struct blocks {
  int n;
  const int *first; ///< n + 1: their unknowns, by place in the order
  int *of;          ///< the block of each unknown
  size_t *start;    ///< n + 1: neighbours, without doubles
  int *neighbour;
  int *parent; ///< the tree; -1: a root
  int *rank;   ///< when a block's turn comes after the tree is walked through
  int *turn;   ///< the block whose turn it is
} blocks;

static void blocks_free(blocks *b) {
  free(b->of);
  free(b->start);
  free(b->neighbour);
  free(b->parent);
  free(b->rank);
  free(b->turn);
}

static int compare_int(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// Sorts a list and drops doubles; returns how many are left.
static int make_set(int *list, int count) {
  int kept = 0;
  if (count > 1) qsort(list, (size_t)count, sizeof(int), compare_int);
  for (int i = 0; i < count; ++i)
    if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
  return kept;
}

/// Two blocks are neighbours if the matrix has an entry in a row of one and a column of the other.
static as_status find_neighbours(blocks *b, int n, const int *col_start, const int *row,
                                 as_error *error) {
  b->start = asi_calloc((size_t)b->n + 1, sizeof *b->start);
  b->neighbour = asi_calloc(2 * (size_t)col_start[n], sizeof(int));
  size_t *next = asi_calloc((size_t)b->n + 1, sizeof *next);
  if (!b->start || !b->neighbour || !next) {
    free(next);
    return asi_fail_memory(error);
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (int j = 0; j < n; ++j)
      for (int k = col_start[j]; k < col_start[j + 1]; ++k) {
        const int x = b->of[j], y = b->of[row[k]];
        if (x == y) continue;
        if (pass == 1) {
          b->neighbour[next[x]] = y;
          b->neighbour[next[y]] = x;
        }
        ++next[x];
        ++next[y];
      }
    size_t sum = 0;
    for (int i = 0; i <= b->n && pass == 0; ++i) {
      const size_t count = next[i];
      b->start[i] = next[i] = sum;
      sum += count;
    }
  }
  size_t kept = 0;
  for (int i = 0; i < b->n; ++i) {
    const size_t from = b->start[i];
    const int count = make_set(b->neighbour + from, (int)(b->start[i + 1] - from));
    memmove(b->neighbour + kept, b->neighbour + from, (size_t)count * sizeof(int));
    b->start[i] = kept;
    kept += (size_t)count;
  }
  b->start[b->n] = kept;
  free(next);
  return AS_OK;
}

/// The tree of elimination: the parent is the first block coupled to when it is a block's turn (Liu).
static as_status find_tree(blocks *b, as_error *error) {
  int *ancestor = asi_calloc((size_t)b->n, sizeof(int));
  b->parent = asi_calloc((size_t)b->n, sizeof(int));
  if (!ancestor || !b->parent) {
    free(ancestor);
    return asi_fail_memory(error);
  }
  for (int i = 0; i < b->n; ++i) {
    b->parent[i] = ancestor[i] = -1;
    for (size_t k = b->start[i]; k < b->start[i + 1]; ++k) {
      int at = b->neighbour[k];
      while (at >= 0 && at < i) {
        const int next = ancestor[at];
        ancestor[at] = i;
        if (next < 0) b->parent[at] = i;
        at = next;
      }
    }
  }
  free(ancestor);
  return AS_OK;
}

/// Children right before their parent: what a front leaves is then on top of a stack when it is needed.
static as_status walk_tree(blocks *b, as_error *error) {
  const size_t n = (size_t)b->n;
  int *child = asi_calloc(n + 1, sizeof(int)), *sibling = asi_calloc(n + 1, sizeof(int));
  b->rank = asi_calloc(n, sizeof(int));
  b->turn = asi_calloc(n, sizeof(int));
  if (!child || !sibling || !b->rank || !b->turn) {
    free(child);
    free(sibling);
    return asi_fail_memory(error);
  }
  for (int i = 0; i <= b->n; ++i) child[i] = -1;
  for (int i = b->n - 1; i >= 0; --i) { // lists of children; roots hang on block n
    const int parent = b->parent[i] < 0 ? b->n : b->parent[i];
    sibling[i] = child[parent];
    child[parent] = i;
  }
  int count = 0;
  int at = child[b->n];
  while (at >= 0) {
    while (child[at] >= 0) { // down to a leaf, each edge once
      const int down = child[at];
      child[at] = -1;
      at = down;
    }
    b->rank[at] = count;
    b->turn[count++] = at;
    if (sibling[at] >= 0)
      at = sibling[at];
    else
      at = b->parent[at];
  }
  free(child);
  free(sibling);
  return AS_OK;
}

/// For each block in its turn: the blocks that it is coupled to then and that come later, by their turns.
typedef struct coupling {
  size_t *start; ///< n + 1
  int *later;
  size_t room;
} coupling;

/// Appends what a block touches itself and what its children leave to it. first_child and sibling: lists of
/// children by turns.
static bool couple(coupling *c, const blocks *b, int turn, const int *first_child,
                   const int *sibling) {
  const int block = b->turn[turn];
  size_t most = b->start[block + 1] - b->start[block];
  for (int k = first_child[turn]; k >= 0; k = sibling[k]) most += c->start[k + 1] - c->start[k];
  const size_t from = c->start[turn];
  if (c->later == NULL || from + most > c->room) {
    const size_t room = 2 * c->room + most + 64;
    int *grown = realloc(c->later, room * sizeof(int));
    if (grown == NULL) return false;
    c->later = grown;
    c->room = room;
  }
  int count = 0, *list = c->later + from;
  for (size_t k = b->start[block]; k < b->start[block + 1]; ++k)
    if (b->rank[b->neighbour[k]] > turn) list[count++] = b->rank[b->neighbour[k]];
  for (int k = first_child[turn]; k >= 0; k = sibling[k])
    for (size_t i = c->start[k]; i < c->start[k + 1]; ++i)
      if (c->later[i] > turn) list[count++] = c->later[i];
  c->start[turn + 1] = from + (size_t)make_set(list, count);
  return true;
}

static as_status find_couplings(const blocks *b, coupling *c, as_error *error) {
  const size_t n = (size_t)b->n;
  int *first_child = asi_calloc(n, sizeof(int)), *sibling = asi_calloc(n, sizeof(int));
  c->start = asi_calloc(n + 1, sizeof *c->start);
  bool ok = first_child && sibling && c->start;
  for (int i = 0; i < b->n && ok; ++i) first_child[i] = -1;
  for (int turn = 0; turn < b->n && ok; ++turn) {
    ok = couple(c, b, turn, first_child, sibling);
    const int parent = b->parent[b->turn[turn]];
    if (parent < 0 || !ok) continue;
    sibling[turn] = first_child[b->rank[parent]];
    first_child[b->rank[parent]] = turn;
  }
  free(first_child);
  free(sibling);
  return ok ? AS_OK : asi_fail_memory(error);
}

static int width(const blocks *b, int turn) {
  const int block = b->turn[turn];
  return b->first[block + 1] - b->first[block];
}

static int others(const blocks *b, const coupling *c, int turn) {
  int count = 0;
  for (size_t k = c->start[turn]; k < c->start[turn + 1]; ++k) count += width(b, c->later[k]);
  return count;
}

/// Whether a block can join the front of the one before it: it is the parent, and touches all the same.
static bool joins(const blocks *b, const coupling *c, int turn) {
  if (turn == 0 || b->parent[b->turn[turn - 1]] != b->turn[turn]) return false;
  return others(b, c, turn - 1) == width(b, turn) + others(b, c, turn);
}

// ---- fronts -----------------------------------------------------------------------------------------

static void set_order(asi_fronts *f, const blocks *b, const int *order) {
  int count = 0;
  for (int turn = 0; turn < b->n; ++turn)
    for (int k = b->first[b->turn[turn]]; k < b->first[b->turn[turn] + 1]; ++k)
      f->order[count++] = order[k];
}

static int even(int n) { return n + (n & 1); }

/// Makes the fronts; `front_of` receives the front of each turn.
static as_status list_fronts(asi_fronts *f, const blocks *b, const coupling *c, int *front_of,
                             as_error *error) {
  int *place = asi_calloc((size_t)b->n + 1, sizeof(int)); // of a turn's first unknown
  f->front = asi_calloc((size_t)b->n, sizeof *f->front);
  for (int turn = 0; turn < b->n; ++turn)
    if (turn + 1 == b->n || !joins(b, c, turn + 1)) f->n_rest += (size_t)even(others(b, c, turn));
  f->rest = asi_calloc(f->n_rest, sizeof(int));
  f->place = asi_calloc(f->n_rest, sizeof(int));
  if (!place || !f->front || !f->rest || !f->place) {
    free(place);
    return asi_fail_memory(error);
  }
  for (int turn = 0; turn < b->n; ++turn) place[turn + 1] = place[turn] + width(b, turn);
  size_t rest = 0;
  for (int turn = 0; turn < b->n; ++turn) {
    const bool more = joins(b, c, turn);
    asi_front *front = &f->front[more ? f->n_fronts - 1 : f->n_fronts++];
    if (!more) *front = (asi_front){.first = place[turn]};
    front->w += width(b, turn);
    front_of[turn] = f->n_fronts - 1;
    if (turn + 1 < b->n && joins(b, c, turn + 1)) continue;
    front->rest = rest = rest + (rest & 1);
    for (size_t k = c->start[turn]; k < c->start[turn + 1]; ++k)
      for (int i = 0; i < width(b, c->later[k]); ++i) f->rest[rest++] = place[c->later[k]] + i;
    front->r = (int)(rest - front->rest);
    front->stride = even(front->r);
    front->width = even(front->w);
    front->length = front->width + front->stride;
    front->store = f->n_store;
    f->n_store +=
        (size_t)front->w * (size_t)front->length + (size_t)front->r * (size_t)front->width;
    if (front->w + front->r > f->largest) f->largest = front->w + front->r;
  }
  free(place);
  return AS_OK;
}

/// Where an unknown stands in a front.
static int place_in(const asi_fronts *f, const asi_front *front, int unknown) {
  if (unknown < front->first + front->w) return unknown - front->first;
  const int *rest = f->rest + front->rest;
  int low = 0, high = front->r - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (rest[middle] < unknown)
      low = middle + 1;
    else
      high = middle;
  }
  return front->w + low;
}

/// The parent of a front is the front of the first of its others.
static const asi_front *parent_of(const asi_fronts *f, const asi_front *front,
                                  const int *front_at) {
  return &f->front[front_at[f->rest[front->rest]]];
}

/// Finds the places of a front's others in its parent's front, and lends it a part of that for S if they follow
/// each other among its pivots.
static void find_places(asi_fronts *f, asi_front *front, const asi_front *parent) {
  int *place = f->place + front->rest;
  for (int k = 0; k < front->r; ++k) {
    place[k] = place_in(f, parent, f->rest[front->rest + (size_t)k]);
    front->inside += place[k] < parent->w;
  }
  front->direct = front->inside == front->r && place[front->r - 1] - place[0] == front->r - 1;
  if (!front->direct) return;
  front->stride = parent->length;
  front->work = parent->store + (size_t)place[0] * (size_t)(parent->length + 1);
}

static as_status find_parents(asi_fronts *f, const int *front_at, as_error *error) {
  f->child = asi_calloc((size_t)f->n_fronts, sizeof(int));
  if (f->child == NULL) return asi_fail_memory(error);
  for (int i = 0; i < f->n_fronts; ++i) {
    asi_front *front = &f->front[i];
    if (front->r == 0) continue;
    const asi_front *parent = parent_of(f, front, front_at);
    find_places(f, front, parent);
    f->front[parent - f->front].n_children += !front->direct;
  }
  size_t count = 0;
  for (int i = 0; i < f->n_fronts; ++i) {
    f->front[i].child = count;
    count += (size_t)f->front[i].n_children;
    f->front[i].n_children = 0;
  }
  for (int i = 0; i < f->n_fronts; ++i) {
    if (f->front[i].r == 0 || f->front[i].direct) continue;
    asi_front *parent = &f->front[parent_of(f, &f->front[i], front_at) - f->front];
    f->child[parent->child + (size_t)parent->n_children++] = i;
  }
  return AS_OK;
}

/// Places what fronts leave on a stack, and counts.
static void plan_work(asi_fronts *f) {
  size_t top = 0;
  for (int i = 0; i < f->n_fronts; ++i) {
    asi_front *front = &f->front[i];
    const size_t bottom = front->n_children > 0 ? f->front[f->child[front->child]].left : top;
    const size_t size = front->direct ? 0 : (size_t)front->r * (size_t)front->stride;
    if (!front->direct) front->work = top;
    if (top + size > f->n_stack) f->n_stack = top + size;
    front->left = bottom;
    top = bottom + size;
    for (int k = 0; k < front->w; ++k) {
      const double left = front->w + front->r - k - 1;
      f->operations += left + 2.0 * left * left;
      f->entries += 2.0 * left + 1.0;
    }
  }
}

/// Where each entry of the matrix goes: to the front that eliminates its row or its column first.
static as_status place_entries(asi_fronts *f, const int *col_start, const int *row,
                               const int *front_at, as_error *error) {
  int *place = asi_calloc((size_t)f->n, sizeof(int));
  f->target = asi_calloc((size_t)col_start[f->n], sizeof(int));
  if (!place || !f->target) {
    free(place);
    return asi_fail_memory(error);
  }
  for (int k = 0; k < f->n; ++k) place[f->order[k]] = k;
  for (int j = 0; j < f->n; ++j)
    for (int k = col_start[j]; k < col_start[j + 1]; ++k) {
      const int y = place[row[k]], x = place[j];
      const asi_front *front = &f->front[front_at[x < y ? x : y]];
      const int i = place_in(f, front, y), c = place_in(f, front, x);
      const int at = i < front->w ? i * front->length + c
                                  : front->w * front->length + (i - front->w) * front->width + c;
      f->target[k] = (int)front->store + at;
    }
  free(place);
  return AS_OK;
}

static as_status make_fronts(asi_fronts *f, const blocks *b, const coupling *c,
                             const int *col_start, const int *row, as_error *error) {
  int *front_of = asi_calloc((size_t)b->n, sizeof(int)); // of a turn
  int *front_at = asi_calloc((size_t)f->n, sizeof(int)); // of a place in the order
  as_status status = front_of && front_at ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = list_fronts(f, b, c, front_of, error);
  const bool possible = f->largest <= ASI_LARGEST_FRONT && f->n_store < INT_MAX;
  if (status == AS_OK && possible) {
    int at = 0;
    for (int turn = 0; turn < b->n; ++turn)
      for (int i = 0; i < width(b, turn); ++i) front_at[at++] = front_of[turn];
    status = find_parents(f, front_at, error);
  }
  if (status == AS_OK && possible) {
    plan_work(f);
    status = place_entries(f, col_start, row, front_at, error);
  }
  free(front_of);
  free(front_at);
  return status;
}

as_status asi_fronts_init(asi_fronts *f, int n, const int *col_start, const int *row,
                          const asi_elimination *elimination, as_error *error) {
  *f = (asi_fronts){.n = n};
  blocks b = {.n = elimination->n_blocks, .first = elimination->first};
  coupling c = {0};
  f->order = asi_calloc((size_t)n, sizeof(int));
  b.of = asi_calloc((size_t)n, sizeof(int));
  as_status status = f->order && b.of ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) {
    for (int i = 0; i < b.n; ++i)
      for (int k = b.first[i]; k < b.first[i + 1]; ++k) b.of[elimination->order[k]] = i;
    status = find_neighbours(&b, n, col_start, row, error);
  }
  if (status == AS_OK) status = find_tree(&b, error);
  if (status == AS_OK) status = walk_tree(&b, error);
  if (status == AS_OK) status = find_couplings(&b, &c, error);
  if (status == AS_OK) {
    set_order(f, &b, elimination->order);
    status = make_fronts(f, &b, &c, col_start, row, error);
  }
  blocks_free(&b);
  free(c.start);
  free(c.later);
  return status;
}

void asi_fronts_free(asi_fronts *f) {
  free(f->order);
  free(f->front);
  free(f->child);
  free(f->rest);
  free(f->place);
  free(f->target);
  *f = (asi_fronts){0};
}

void asi_elimination_free(asi_elimination *e) {
  free(e->order);
  free(e->first);
  *e = (asi_elimination){0};
}
