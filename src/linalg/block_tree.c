/// Finds the tree of blocks of a pattern, see block_tree.h.
#include "linalg/block_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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
static void append_block(asi_block_tree *b, int from, int to, bool single) {
  for (int k = from; k < to; ++k) b->of[b->order[k]] = b->n;
  b->single[b->n] = single;
  b->first[++b->n] = to;
}

/// Makes the blocks: those given, or their parts.
static void split_blocks(asi_block_tree *b, parts *p, const asi_elimination *e) {
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

static as_status make_blocks(asi_block_tree *b, int n, const int *col_start, const int *row,
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
static as_status find_neighbours(asi_block_tree *b, int n, const int *col_start, const int *row,
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
static as_status find_tree(asi_block_tree *b, as_error *error) {
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
static as_status walk_tree(asi_block_tree *b, as_error *error) {
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

/// Appends what a block touches itself and what its children leave to it. first_child and sibling: lists of
/// children by turns.
static bool couple(asi_block_coupling *c, const asi_block_tree *b, int turn, const int *first_child,
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

static as_status find_couplings(const asi_block_tree *b, asi_block_coupling *c, as_error *error) {
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

bool asi_block_has_front(const asi_block_tree *b, int turn) { return !b->single[b->turn[turn]]; }

int asi_block_width(const asi_block_tree *b, int turn) {
  const int block = b->turn[turn];
  return b->first[block + 1] - b->first[block];
}

int asi_block_others(const asi_block_tree *b, const asi_block_coupling *c, int turn) {
  int count = 0;
  for (size_t k = c->start[turn]; k < c->start[turn + 1]; ++k)
    count += asi_block_width(b, c->later[k]);
  return count;
}

/// Whether a block can join the front of the one before it: it is the parent, and touches all the same.
bool asi_block_joins(const asi_block_tree *b, const asi_block_coupling *c, int turn) {
  if (turn == 0 || !asi_block_has_front(b, turn - 1) ||
      b->parent[b->turn[turn - 1]] != b->turn[turn])
    return false;
  return asi_block_others(b, c, turn - 1) ==
         asi_block_width(b, turn) + asi_block_others(b, c, turn);
}

as_status asi_block_tree_init(asi_block_tree *b, asi_block_coupling *c, int n, const int *col_start,
                              const int *row, const asi_elimination *e, as_error *error) {
  as_status status = make_blocks(b, n, col_start, row, e, error);
  if (status == AS_OK) status = find_neighbours(b, n, col_start, row, error);
  if (status == AS_OK) status = find_tree(b, error);
  if (status == AS_OK) status = walk_tree(b, error);
  return status ? status : find_couplings(b, c, error);
}

void asi_block_tree_free(asi_block_tree *b, asi_block_coupling *c) {
  free(b->order);
  free(b->first);
  free(b->single);
  free(b->of);
  free(b->start);
  free(b->neighbour);
  free(b->parent);
  free(b->rank);
  free(b->turn);
  free(c->start);
  free(c->later);
}
