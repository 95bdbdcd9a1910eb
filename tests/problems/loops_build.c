/// Memory and patterns of the problems in loops.h.
#include "problems/loops_build.h"

#include <stdlib.h>
#include <string.h>

typedef struct memory {
  struct memory *next;
  max_align_t data[];
} memory;

typedef struct owner {
  test_problem problem; // first: a test_problem is its owner
  memory *first;
} owner;

struct place {
  int col, row;
};

static void *must(void *p) {
  if (p == NULL) abort();
  return p;
}

test_problem *loops_new(const char *name) {
  owner *o = must(calloc(1, sizeof *o));
  o->problem.name = name;
  o->problem.def = as_default_problem_def();
  return &o->problem;
}

void *loops_take(test_problem *p, size_t count, size_t size) {
  owner *o = (owner *)p;
  memory *m = must(calloc(1, sizeof *m + count * size));
  m->next = o->first;
  o->first = m;
  return m->data;
}

void loops_free(test_problem *p) {
  if (p == NULL) return;
  owner *o = (owner *)p;
  while (o->first != NULL) {
    memory *next = o->first->next;
    free(o->first);
    o->first = next;
  }
  free(o);
}

void places_add(place_list *list, int row, int col, int rows, int cols) {
  const size_t needed = list->count + (size_t)rows * (size_t)cols;
  if (needed > list->capacity) {
    list->capacity = 2 * needed;
    list->places = must(realloc(list->places, list->capacity * sizeof *list->places));
  }
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) list->places[list->count++] = (struct place){col + j, row + i};
}

static int compare_places(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  if (x->col != y->col) return x->col < y->col ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

void places_give(place_list *list, test_problem *p, as_block block, int cols) {
  int *col_start = loops_take(p, (size_t)cols + 1, sizeof *col_start);
  int *row = loops_take(p, list->count, sizeof *row);
  int count = 0;
  if (list->count > 0) qsort(list->places, list->count, sizeof *list->places, compare_places);
  for (size_t i = 0; i < list->count; ++i) {
    if (i > 0 && compare_places(&list->places[i - 1], &list->places[i]) == 0) continue;
    row[count++] = list->places[i].row;
    ++col_start[list->places[i].col + 1];
  }
  for (int j = 0; j < cols; ++j) col_start[j + 1] += col_start[j];
  p->def.block[block] = (as_block_def){AS_BLOCK_GIVEN, {col_start, row}};
  free(list->places);
  *list = (place_list){0};
}

/// f0 - M v' with a dense M.
void loops_constraint_force(const test_problem *p, double t, double *out) {
  as_space *space = NULL;
  if (as_space_create(p->def.parts, p->def.n_parts, &space, NULL) != AS_OK) abort();
  const size_t n = (size_t)as_space_nv(space), nq = (size_t)as_space_nq(space);
  double *q = must(calloc(nq + 2 * n + n * n, sizeof *q));
  double *v = q + nq, *vdot = v + n, *M = vdot + n;
  p->exact(p, t, q, v, vdot, NULL);
  as_matrix m = {.rows = (int)n, .cols = (int)n, .value = M, .dense = true, .stray_row = -1};
  const as_point at = {.t = t, .q = q, .v = v};
  if (p->def.mass(&at, &m, p->def.user) || p->def.force(&at, out, p->def.user)) abort();
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < n; ++i) out[i] -= M[j * n + i] * vdot[j];
  free(q);
  as_space_destroy(space);
}
