/// See drawing.h.
///
/// A surface of too many nodes is thinned by clusters: of the nodes in each cell of a cubic grid the first one, by its id, stands for all;
/// triangles whose corners fall together go. The grid is the finest that leaves few enough.
#include "reduction/drawing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MOST_CELLS = 1 << 20 }; // along an axis

typedef struct cell {
  uint64_t key;
  int place; ///< among the nodes that are sorted by id
} cell;

typedef struct thinner {
  const asi_mesh_index *x;
  int *corner; ///< 3 triangle_count: places among the sorted nodes
  bool *used;  ///< by the sorted nodes: on the surface
  int *stands; ///< by the sorted nodes: which one stands for it; -1: none
  cell *list;
  int count;
} thinner;

static int compare_cells(const void *a, const void *b) {
  const cell *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->place - y->place;
}

static int place_of(const asi_mesh_index *x, long id) {
  int low = 0, high = x->mesh->node_count - 1;
  while (low <= high) {
    const int middle = low + (high - low) / 2;
    const long at = x->mesh->ids[x->sorted[middle]];
    if (at == id) return middle;
    if (at < id)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

static const double *position_at(const asi_mesh_index *x, int place) {
  return x->position[x->sorted[place]];
}

/// Lets one node of each cell stand for the others; returns how many do.
static int cluster(thinner *t, const double low[3], double size) {
  for (int i = 0; i < t->count; ++i) {
    uint64_t key = 0;
    for (int c = 0; c < 3; ++c) {
      const double at = (position_at(t->x, t->list[i].place)[c] - low[c]) / size;
      key = key * MOST_CELLS + (at < MOST_CELLS - 1 ? (uint64_t)at : MOST_CELLS - 1);
    }
    t->list[i].key = key;
  }
  qsort(t->list, (size_t)t->count, sizeof *t->list, compare_cells);
  int kept = 0;
  for (int i = 0, from = 0; i < t->count; ++i) {
    if (i == 0 || t->list[i].key != t->list[i - 1].key) {
      from = i;
      ++kept;
    }
    t->stands[t->list[i].place] = t->list[from].place;
  }
  return kept;
}

/// The finest grid that leaves `most` or fewer, by bisection of its size.
static void thin(thinner *t, int most) {
  double low[3], high[3], extent = 0.0;
  for (int c = 0; c < 3; ++c) low[c] = (double)INFINITY, high[c] = -(double)INFINITY;
  for (int i = 0; i < t->count; ++i)
    for (int c = 0; c < 3; ++c) {
      low[c] = fmin(low[c], position_at(t->x, t->list[i].place)[c]);
      high[c] = fmax(high[c], position_at(t->x, t->list[i].place)[c]);
    }
  for (int c = 0; c < 3; ++c) extent = fmax(extent, high[c] - low[c]);
  if (t->count <= most || !(extent > 0.0)) return;
  double small = extent / MOST_CELLS, large = 2.0 * extent;
  for (int step = 0; step < 40 && large > 1.01 * small; ++step) {
    const double middle = sqrt(small * large);
    if (cluster(t, low, middle) > most)
      small = middle;
    else
      large = middle;
  }
  cluster(t, low, large);
}

static as_status list_surface(thinner *t, as_error *error) {
  const as_mesh *m = t->x->mesh;
  for (int i = 0; i < m->triangle_count; ++i)
    for (int c = 0; c < 3; ++c) {
      const int place = place_of(t->x, m->triangles[i][c]);
      if (place < 0)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "A triangle of the surface has node %ld, which the mesh has not.",
                        m->triangles[i][c]);
      t->corner[3 * (ptrdiff_t)i + c] = place;
      t->used[place] = true;
    }
  // Without a surface all nodes that move are what is seen.
  for (int i = 0; i < m->node_count && m->triangle_count == 0; ++i)
    t->used[i] = m->unknowns[t->x->sorted[i]][0] >= 0;
  return AS_OK;
}

static as_status keep_points(thinner *t, const as_reduction_def *def, as_error *error) {
  for (int i = 0; i < def->point_count; ++i) {
    const int place = place_of(t->x, def->points[i]);
    if (place < 0)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "Node %ld is to be kept, but the mesh has not got it.", def->points[i]);
    t->stands[place] = place;
  }
  return AS_OK;
}

/// Lists the nodes that stand for themselves, and triangles between different ones.
static as_status collect(const thinner *t, asi_drawing *d, as_error *error) {
  const as_mesh *m = t->x->mesh;
  int *number = asi_calloc((size_t)m->node_count, sizeof *number);
  d->node = asi_calloc((size_t)m->node_count, sizeof *d->node);
  d->triangles = asi_calloc((size_t)m->triangle_count, sizeof *d->triangles);
  if (!number || !d->node || !d->triangles) {
    free(number);
    return asi_fail_memory(error);
  }
  for (int i = 0; i < m->node_count; ++i) {
    number[i] = d->count;
    if (t->stands[i] == i) d->node[d->count++] = t->x->sorted[i];
  }
  for (int i = 0; i < m->triangle_count; ++i) {
    int corner[3];
    bool whole = true;
    for (int c = 0; c < 3; ++c) {
      const int stands = t->stands[t->corner[3 * (ptrdiff_t)i + c]];
      whole = whole && stands >= 0;
      corner[c] = whole ? number[stands] : 0;
    }
    if (!whole || corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
      continue;
    memcpy(d->triangles[d->triangle_count++], corner, sizeof corner);
  }
  free(number);
  return AS_OK;
}

as_status asi_drawing_init(asi_drawing *d, const asi_mesh_index *x, const as_reduction_def *def,
                           as_error *error) {
  const size_t nodes = (size_t)x->mesh->node_count;
  *d = (asi_drawing){0};
  thinner t = {.x = x};
  t.corner = asi_calloc(3 * (size_t)x->mesh->triangle_count, sizeof *t.corner);
  t.used = asi_calloc(nodes, sizeof *t.used);
  t.stands = asi_calloc(nodes, sizeof *t.stands);
  t.list = asi_calloc(nodes, sizeof *t.list);
  as_status status = t.corner && t.used && t.stands && t.list ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = list_surface(&t, error);
  if (status == AS_OK) {
    for (int i = 0; i < x->mesh->node_count; ++i) {
      t.stands[i] = t.used[i] && def->most_points > 0 ? i : -1;
      if (t.stands[i] == i) t.list[t.count++].place = i;
    }
    thin(&t, def->most_points);
    status = keep_points(&t, def, error);
  }
  if (status == AS_OK) status = collect(&t, d, error);
  free(t.corner);
  free(t.used);
  free(t.stands);
  free(t.list);
  return status;
}

void asi_drawing_free(asi_drawing *d) {
  free(d->node);
  free(d->triangles);
  *d = (asi_drawing){0};
}
