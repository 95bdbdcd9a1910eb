/// Finds the fronts of a pattern, see fronts.h.
#include "linalg/fronts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/block_tree.h"

static void set_order(asi_fronts *f, const asi_block_tree *b) {
  int count = 0;
  for (int turn = 0; turn < b->n; ++turn)
    for (int k = b->first[b->turn[turn]]; k < b->first[b->turn[turn] + 1]; ++k)
      f->order[count++] = b->order[k];
}

static int even(int n) { return n + (n & 1); }

/// Makes the fronts; `front_of` receives the front of each turn that has one.
static as_status list_fronts(asi_fronts *f, const asi_block_tree *b, const asi_block_coupling *c,
                             int *front_of, as_error *error) {
  int *place = asi_calloc((size_t)b->n + 1, sizeof(int)); // of a turn's first unknown
  f->front = asi_calloc((size_t)b->n, sizeof *f->front);
  for (int turn = 0; turn < b->n; ++turn)
    if (asi_block_has_front(b, turn) && (turn + 1 == b->n || !asi_block_joins(b, c, turn + 1)))
      f->n_rest += (size_t)even(asi_block_others(b, c, turn));
  f->rest = asi_calloc(f->n_rest, sizeof(int));
  f->place = asi_calloc(f->n_rest, sizeof(int));
  if (!place || !f->front || !f->rest || !f->place) {
    free(place);
    return asi_fail_memory(error);
  }
  for (int turn = 0; turn < b->n; ++turn) place[turn + 1] = place[turn] + asi_block_width(b, turn);
  size_t rest = 0;
  for (int turn = 0; turn < b->n; ++turn) {
    if (!asi_block_has_front(b, turn)) continue;
    const bool more = asi_block_joins(b, c, turn);
    asi_front *front = &f->front[more ? f->n_fronts - 1 : f->n_fronts++];
    if (!more) *front = (asi_front){.first = place[turn]};
    front->w += asi_block_width(b, turn);
    front_of[turn] = f->n_fronts - 1;
    if (turn + 1 < b->n && asi_block_joins(b, c, turn + 1)) continue;
    front->rest = rest = rest + (rest & 1);
    for (size_t k = c->start[turn]; k < c->start[turn + 1]; ++k)
      for (int i = 0; i < asi_block_width(b, c->later[k]); ++i)
        f->rest[rest++] = place[c->later[k]] + i;
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
static as_status list_singles(asi_fronts *f, const asi_block_tree *b, const int *n_l,
                              const int *n_u, int *single_at, as_error *error) {
  int at = 0;
  f->single = asi_calloc((size_t)f->n, sizeof *f->single);
  if (f->single == NULL) return asi_fail_memory(error);
  for (int turn = 0; turn < b->n; ++turn)
    for (int i = 0; i < asi_block_width(b, turn); ++i)
      single_at[at++] = asi_block_has_front(b, turn) ? -1 : 0;
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
static as_status place_all(asi_fronts *f, const asi_block_tree *b, const int *col_start,
                           const int *row, const int *front_at, as_error *error) {
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

static as_status make_fronts(asi_fronts *f, const asi_block_tree *b, const asi_block_coupling *c,
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
      for (int i = 0; i < asi_block_width(b, turn); ++i) front_at[at++] = front_of[turn];
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
  asi_block_tree b = {0};
  asi_block_coupling c = {0};
  f->order = asi_calloc((size_t)n, sizeof(int));
  as_status status = f->order ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = asi_block_tree_init(&b, &c, n, col_start, row, elimination, error);
  if (status == AS_OK) {
    set_order(f, &b);
    status = make_fronts(f, &b, &c, col_start, row, error);
  }
  asi_block_tree_free(&b, &c);
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
