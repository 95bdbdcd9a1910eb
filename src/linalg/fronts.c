/// Finds the fronts of a pattern, see fronts.h.
#include "linalg/fronts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/// The graph of blocks, numbered as they are eliminated, and what elimination makes of it.
typedef struct blocks {
  int n;
  int *order;    ///< unknowns as they are eliminated
  int *first;    ///< n + 1: their unknowns, by place in the order
  bool *single;  ///< whether it is an unknown without a front
  int *of;       ///< the block of each unknown
  size_t *start; ///< n + 1: neighbours, without doubles
  int *neighbour;
  int *parent; ///< the tree; -1: a root
  int *rank;   ///< when a block's turn comes after the tree is walked through
  int *turn;   ///< the block whose turn it is
} blocks;

static void blocks_free(blocks *b) {
  free(b->order);
  free(b->first);
  free(b->single);
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

// ---- parts of blocks --------------------------------------------------------------------------------

// An unknown that touches so many others that there are more products is left to a front.
enum { MOST_PRODUCTS = 36 };

/// What splits blocks: each an array over unknowns, but the first.
typedef struct parts {
  bool *late;          ///< of each block: it comes after one that it touches
  int *of;             ///< block of an unknown
  int *root;           ///< another unknown of its part, or itself
  int *size;           ///< of the part that it is the root of
  int *below, *beside; ///< entries in its column and in its row, without the diagonal
} parts;

static void parts_free(parts *p) {
  free(p->late);
  free(p->of);
  free(p->root);
  free(p->size);
  free(p->below);
  free(p->beside);
}

static int root_of(int *root, int i) {
  while (root[i] != i) i = root[i] = root[root[i]];
  return i;
}

static as_status find_parts(parts *p, int n, const int *col_start, const int *row,
                            const asi_elimination *e, as_error *error) {
  const size_t count = (size_t)n;
  p->late = asi_calloc((size_t)e->n_blocks, sizeof(bool));
  p->of = asi_calloc(count, sizeof(int));
  p->root = asi_calloc(count, sizeof(int));
  p->size = asi_calloc(count, sizeof(int));
  p->below = asi_calloc(count, sizeof(int));
  p->beside = asi_calloc(count, sizeof(int));
  if (!p->late || !p->of || !p->root || !p->size || !p->below || !p->beside)
    return asi_fail_memory(error);
  for (int i = 0; i < e->n_blocks; ++i)
    for (int k = e->first[i]; k < e->first[i + 1]; ++k) p->of[e->order[k]] = i;
  for (int i = 0; i < n; ++i) p->root[i] = i;
  for (int j = 0; j < n; ++j)
    for (int k = col_start[j]; k < col_start[j + 1]; ++k) {
      const int i = row[k], x = p->of[j], y = p->of[i];
      if (i == j) continue;
      ++p->below[j];
      ++p->beside[i];
      if (x == y)
        p->root[root_of(p->root, i)] = root_of(p->root, j);
      else
        p->late[x > y ? x : y] = true;
    }
  for (int i = 0; i < n; ++i) ++p->size[root_of(p->root, i)];
  return AS_OK;
}

static bool is_single(parts *p, int i) {
  const double products = (double)p->below[i] * (double)p->beside[i];
  return p->size[root_of(p->root, i)] == 1 && products >= 1.0 && products <= MOST_PRODUCTS;
}

/// Whether a block is to be split: it touches nothing before it, and its parts of one unknown are singles.
static bool is_split(parts *p, const asi_elimination *e, int block) {
  bool ok = !p->late[block];
  for (int k = e->first[block]; k < e->first[block + 1] && ok; ++k)
    ok = p->size[root_of(p->root, e->order[k])] > 1 || is_single(p, e->order[k]);
  return ok;
}

/// Appends a block that begins at place `from` and ends before `to`.
static void append_block(blocks *b, int from, int to, bool single) {
  for (int k = from; k < to; ++k) b->of[b->order[k]] = b->n;
  b->single[b->n] = single;
  b->first[++b->n] = to;
}

/// Makes the blocks: those given, or their parts.
static void split_blocks(blocks *b, parts *p, const asi_elimination *e) {
  for (int block = 0; block < e->n_blocks; ++block) {
    const int from = e->first[block], to = e->first[block + 1];
    int count = from;
    if (!is_split(p, e, block)) {
      memcpy(b->order + from, e->order + from, (size_t)(to - from) * sizeof(int));
      append_block(b, from, to, false);
      continue;
    }
    for (int i = from; i < to; ++i) {
      const int root = root_of(p->root, e->order[i]), begin = count;
      if (p->size[root] == 0) continue; // is in a part already
      for (int k = i; k < to; ++k)
        if (root_of(p->root, e->order[k]) == root) b->order[count++] = e->order[k];
      append_block(b, begin, count, p->size[root] == 1);
      p->size[root] = 0;
    }
  }
}

static as_status make_blocks(blocks *b, int n, const int *col_start, const int *row,
                             const asi_elimination *e, as_error *error) {
  parts p = {0};
  b->order = asi_calloc((size_t)n, sizeof(int));
  b->first = asi_calloc((size_t)n + 1, sizeof(int));
  b->single = asi_calloc((size_t)n, sizeof(bool));
  b->of = asi_calloc((size_t)n, sizeof(int));
  as_status status = b->order && b->first && b->single && b->of ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = find_parts(&p, n, col_start, row, e, error);
  if (status == AS_OK) split_blocks(b, &p, e);
  parts_free(&p);
  return status;
}

// ---- the tree of blocks -----------------------------------------------------------------------------

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

static bool has_front(const blocks *b, int turn) { return !b->single[b->turn[turn]]; }

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
  if (turn == 0 || !has_front(b, turn - 1) || b->parent[b->turn[turn - 1]] != b->turn[turn])
    return false;
  return others(b, c, turn - 1) == width(b, turn) + others(b, c, turn);
}

// ---- fronts -----------------------------------------------------------------------------------------

static void set_order(asi_fronts *f, const blocks *b) {
  int count = 0;
  for (int turn = 0; turn < b->n; ++turn)
    for (int k = b->first[b->turn[turn]]; k < b->first[b->turn[turn] + 1]; ++k)
      f->order[count++] = b->order[k];
}

static int even(int n) { return n + (n & 1); }

/// Makes the fronts; `front_of` receives the front of each turn that has one.
static as_status list_fronts(asi_fronts *f, const blocks *b, const coupling *c, int *front_of,
                             as_error *error) {
  int *place = asi_calloc((size_t)b->n + 1, sizeof(int)); // of a turn's first unknown
  f->front = asi_calloc((size_t)b->n, sizeof *f->front);
  for (int turn = 0; turn < b->n; ++turn)
    if (has_front(b, turn) && (turn + 1 == b->n || !joins(b, c, turn + 1)))
      f->n_rest += (size_t)even(others(b, c, turn));
  f->rest = asi_calloc(f->n_rest, sizeof(int));
  f->place = asi_calloc(f->n_rest, sizeof(int));
  if (!place || !f->front || !f->rest || !f->place) {
    free(place);
    return asi_fail_memory(error);
  }
  for (int turn = 0; turn < b->n; ++turn) place[turn + 1] = place[turn] + width(b, turn);
  size_t rest = 0;
  for (int turn = 0; turn < b->n; ++turn) {
    if (!has_front(b, turn)) continue;
    const bool more = joins(b, c, turn);
    asi_front *front = &f->front[more ? f->n_fronts - 1 : f->n_fronts++];
    if (!more) *front = (asi_front){.first = place[turn]};
    front->w += width(b, turn);
    front_of[turn] = f->n_fronts - 1;
    if (turn + 1 < b->n && joins(b, c, turn + 1)) continue;
    front->rest = rest = rest + (rest & 1);
    for (size_t k = c->start[turn]; k < c->start[turn + 1]; ++k)
      for (int i = 0; i < width(b, c->later[k]); ++i) f->rest[rest++] = place[c->later[k]] + i;
    front->r = front->split = (int)(rest - front->rest);
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

/// Lends a front those parts of its parent's P, L and S that its own S is: its others are the last of the parent's
/// pivots and the first of its others.
static void lend_parts(const asi_fronts *f, asi_front *front, const asi_front *parent) {
  const int *rest = f->rest + front->rest, first = f->place[front->rest];
  if (!parent->direct || parent->split < parent->r ||
      rest[front->r - 1] - rest[front->inside] != front->r - 1 - front->inside)
    return;
  front->direct = true;
  front->split = front->inside;
  front->below = parent->store + (size_t)(parent->w * parent->length + first);
  front->below_stride = parent->width;
  front->beyond = parent->work;
  front->beyond_stride = parent->stride;
}

/// Finds the places of a front's others in its parent's front, and lends it parts of that for S if they follow
/// each other.
static void find_places(asi_fronts *f, asi_front *front, const asi_front *parent) {
  int *place = f->place + front->rest;
  for (int k = 0; k < front->r; ++k) {
    place[k] = place_in(f, parent, f->rest[front->rest + (size_t)k]);
    front->inside += place[k] < parent->w;
  }
  if (place[front->r - 1] - place[0] != front->r - 1) return;
  if (front->inside == front->r)
    front->direct = true;
  else
    lend_parts(f, front, parent);
  if (!front->direct) return;
  front->stride = parent->length;
  front->work = parent->store + (size_t)place[0] * (size_t)(parent->length + 1);
}

static as_status find_parents(asi_fronts *f, const int *front_at, as_error *error) {
  f->child = asi_calloc((size_t)f->n_fronts, sizeof(int));
  if (f->child == NULL) return asi_fail_memory(error);
  for (int i = f->n_fronts - 1; i >= 0; --i) { // parents first
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

/// Where in the store an entry goes, given by places in the order: to the front that eliminates its row or its
/// column first.
static int target_of(const asi_fronts *f, const int *front_at, int row, int column) {
  const asi_front *front = &f->front[front_at[row < column ? row : column]];
  const int i = place_in(f, front, row), c = place_in(f, front, column);
  const int at = i < front->w ? i * front->length + c
                              : front->w * front->length + (i - front->w) * front->width + c;
  return (int)front->store + at;
}

/// Lists the singles in the order that fronts.h tells. single_at receives the single of a place in the order, or -1;
/// n_l and n_u are those of a place.
static as_status list_singles(asi_fronts *f, const blocks *b, const int *n_l, const int *n_u,
                              int *single_at, as_error *error) {
  int at = 0;
  f->single = asi_calloc((size_t)f->n, sizeof *f->single);
  if (f->single == NULL) return asi_fail_memory(error);
  for (int turn = 0; turn < b->n; ++turn)
    for (int i = 0; i < width(b, turn); ++i) single_at[at++] = has_front(b, turn) ? -1 : 0;
  for (int entries = 2; entries >= 0; --entries)
    for (int k = 0; k < f->n; ++k) {
      const int same = n_l[k] == n_u[k] && n_l[k] <= 2 ? n_l[k] : 0;
      if (single_at[k] < 0 || same != entries) continue;
      single_at[k] = f->n_singles;
      f->single[f->n_singles++] = (asi_single){.place = k, .n_l = n_l[k], .n_u = n_u[k]};
      f->n_double += entries == 2;
      f->n_simple += entries == 1;
    }
  return AS_OK;
}

/// Gives singles room.
static as_status plan_singles(asi_fronts *f, as_error *error) {
  int count = 0;
  for (int i = 0; i < f->n_singles; ++i) {
    asi_single *s = &f->single[i];
    s->other = count;
    s->store = (int)f->n_store;
    s->product = f->n_products;
    count += s->n_l + s->n_u;
    f->n_store += (size_t)(1 + s->n_l + s->n_u);
    f->n_products += s->n_l * s->n_u;
  }
  f->other = asi_calloc((size_t)count, sizeof(int));
  f->product = asi_calloc((size_t)f->n_products, sizeof(int));
  return f->other && f->product ? AS_OK : asi_fail_memory(error);
}

/// Where the products of singles go, and the first front that each touches.
static void place_products(asi_fronts *f, const int *front_at) {
  for (int i = 0; i < f->n_singles; ++i) {
    asi_single *s = &f->single[i];
    const int *l = f->other + s->other, *u = l + s->n_l;
    int count = s->product, first = f->n;
    for (int a = 0; a < s->n_l; ++a)
      for (int b = 0; b < s->n_u; ++b) f->product[count++] = target_of(f, front_at, l[a], u[b]);
    for (int a = 0; a < s->n_l + s->n_u; ++a)
      if (l[a] < first) first = l[a];
    s->front = front_at[first];
    f->operations += s->n_u + 2.0 * s->n_l * s->n_u;
    f->entries += 1.0 + s->n_l + s->n_u;
  }
}

/// Where each entry of the matrix goes: to a single, or to a front. `seen` is scratch for the singles, all zero.
static void place_entries(asi_fronts *f, const int *col_start, const int *row, const int *front_at,
                          const int *place, const int *single_at, int *seen) {
  for (int j = 0; j < f->n; ++j) {
    int below = 0; // in a single's column
    for (int k = col_start[j]; k < col_start[j + 1]; ++k) {
      const int at_row = place[row[k]], at_column = place[j];
      const int x = single_at[at_column], y = single_at[at_row];
      const asi_single *s = &f->single[x >= 0 ? x : y];
      if (x < 0 && y < 0) {
        f->target[k] = target_of(f, front_at, at_row, at_column);
      } else if (x == y) {
        f->target[k] = s->store;
      } else if (x >= 0) {
        f->other[s->other + below] = at_row;
        f->target[k] = s->store + 1 + below++;
      } else {
        const int at = s->n_l + seen[y]++;
        f->other[s->other + at] = at_column;
        f->target[k] = s->store + 1 + at;
      }
    }
  }
}

/// Singles, and where entries and products go.
static as_status place_all(asi_fronts *f, const blocks *b, const int *col_start, const int *row,
                           const int *front_at, as_error *error) {
  const size_t n = (size_t)f->n;
  int *place = asi_calloc(n, sizeof(int)), *single_at = asi_calloc(n, sizeof(int));
  int *seen = asi_calloc(n, sizeof(int));
  int *n_l = asi_calloc(n, sizeof(int)), *n_u = asi_calloc(n, sizeof(int));
  f->target = asi_calloc((size_t)col_start[f->n], sizeof(int));
  as_status status =
      place && single_at && seen && n_l && n_u && f->target ? AS_OK : asi_fail_memory(error);
  for (int k = 0; k < f->n && status == AS_OK; ++k) place[f->order[k]] = k;
  for (int j = 0; j < f->n && status == AS_OK; ++j)
    for (int k = col_start[j]; k < col_start[j + 1]; ++k) {
      n_l[place[j]] += row[k] != j;
      n_u[place[row[k]]] += row[k] != j;
    }
  if (status == AS_OK) status = list_singles(f, b, n_l, n_u, single_at, error);
  if (status == AS_OK) status = plan_singles(f, error);
  if (status == AS_OK) {
    place_entries(f, col_start, row, front_at, place, single_at, seen);
    place_products(f, front_at);
  }
  free(place);
  free(single_at);
  free(seen);
  free(n_l);
  free(n_u);
  return status;
}

static as_status make_fronts(asi_fronts *f, const blocks *b, const coupling *c,
                             const int *col_start, const int *row, as_error *error) {
  int *front_of = asi_calloc((size_t)b->n, sizeof(int)); // of a turn
  int *front_at = asi_calloc((size_t)f->n, sizeof(int)); // of a place in the order
  as_status status = front_of && front_at ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = list_fronts(f, b, c, front_of, error);
  // Singles take less room than the entries and the unknowns.
  const bool possible = f->largest <= ASI_LARGEST_FRONT &&
                        f->n_store + (size_t)col_start[f->n] + (size_t)f->n < INT_MAX;
  if (status == AS_OK && possible) {
    int at = 0;
    for (int turn = 0; turn < b->n; ++turn)
      for (int i = 0; i < width(b, turn); ++i) front_at[at++] = front_of[turn];
    status = find_parents(f, front_at, error);
  }
  if (status == AS_OK && possible) {
    plan_work(f);
    status = place_all(f, b, col_start, row, front_at, error);
  }
  free(front_of);
  free(front_at);
  return status;
}

as_status asi_fronts_init(asi_fronts *f, int n, const int *col_start, const int *row,
                          const asi_elimination *elimination, as_error *error) {
  *f = (asi_fronts){.n = n};
  blocks b = {0};
  coupling c = {0};
  f->order = asi_calloc((size_t)n, sizeof(int));
  as_status status = f->order ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = make_blocks(&b, n, col_start, row, elimination, error);
  if (status == AS_OK) status = find_neighbours(&b, n, col_start, row, error);
  if (status == AS_OK) status = find_tree(&b, error);
  if (status == AS_OK) status = walk_tree(&b, error);
  if (status == AS_OK) status = find_couplings(&b, &c, error);
  if (status == AS_OK) {
    set_order(f, &b);
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
  free(f->single);
  free(f->other);
  free(f->product);
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
