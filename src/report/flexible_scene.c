/// Meshes for drawing, thinned: points that lie in a cell of a grid are one, the first of them, and triangles whose corners are no longer
/// three are left out. Cells grow until what is written fits.
#include "report/flexible_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "report/array.h"

enum {
  MOST_NUMBERS = 400000, // of shapes and stresses of a body in a page
  MOST_POINTS = 12000,
};

typedef struct thin_mesh {
  const as_flexible_data *d;
  int *cell;   ///< of each point: the one that stands for it, or -1
  int *number; ///< of each point: its place among those that are kept, or -1
  int *kept;   ///< points that are kept
  int n_kept, n_triangles;
  int *triangle; ///< 3 n_triangles places among them
  int *slot;     ///< hash table of cells
  size_t n_slots;
} thin_mesh;

static size_t hash(const long key[3], size_t n) {
  unsigned long h = 1469598103934665603UL;
  for (int k = 0; k < 3; ++k) h = (h ^ (unsigned long)key[k]) * 1099511628211UL;
  return (size_t)(h ^ (h >> 29)) % n;
}

static void find_cell(const double *x, double size, long key[3]) {
  for (int k = 0; k < 3; ++k) key[k] = (long)floor(x[k] / size);
}

/// Finds who stands for each point of a triangle; returns how many there are. size 0: each for itself.
static int put_together(thin_mesh *m, double size) {
  int n = 0;
  for (int i = 0; i < m->d->mesh_count; ++i) m->cell[i] = -1;
  for (size_t i = 0; i < m->n_slots; ++i) m->slot[i] = -1;
  for (int t = 0; t < 3 * m->d->triangle_count; ++t) {
    const int point = m->d->triangles[t / 3][t % 3];
    long key[3], other[3];
    if (m->cell[point] >= 0) continue;
    if (size == 0.0) {
      m->cell[point] = point;
      ++n;
      continue;
    }
    find_cell(m->d->mesh_positions[point], size, key);
    size_t at = hash(key, m->n_slots);
    for (;; at = (at + 1) % m->n_slots) {
      if (m->slot[at] < 0) {
        m->slot[at] = point;
        ++n;
        break;
      }
      find_cell(m->d->mesh_positions[m->slot[at]], size, other);
      if (memcmp(key, other, sizeof key) == 0) break;
    }
    m->cell[point] = m->slot[at];
  }
  return n;
}

static double extent(const as_flexible_data *d) {
  double low[3] = {0}, high[3] = {0}, size = 0.0;
  for (int i = 0; i < d->mesh_count; ++i)
    for (int k = 0; k < 3; ++k) {
      low[k] = i ? fmin(low[k], d->mesh_positions[i][k]) : d->mesh_positions[i][k];
      high[k] = i ? fmax(high[k], d->mesh_positions[i][k]) : d->mesh_positions[i][k];
    }
  for (int k = 0; k < 3; ++k) size = fmax(size, high[k] - low[k]);
  return size;
}

/// Numbers the points that are kept, and takes the triangles that are left.
static void number_all(thin_mesh *m) {
  for (int i = 0; i < m->d->mesh_count; ++i) {
    m->number[i] = m->cell[i] == i ? m->n_kept : -1;
    if (m->cell[i] == i) m->kept[m->n_kept++] = i;
  }
  for (int t = 0; t < m->d->triangle_count; ++t) {
    int corner[3];
    for (int c = 0; c < 3; ++c) corner[c] = m->number[m->cell[m->d->triangles[t][c]]];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
    memcpy(m->triangle + 3 * (size_t)m->n_triangles++, corner, sizeof corner);
  }
}

static bool thin(thin_mesh *m) {
  const as_flexible_data *d = m->d;
  const size_t points = (size_t)d->mesh_count;
  m->n_slots = 2 * points + 1;
  m->cell = asi_calloc(points, sizeof(int));
  m->number = asi_calloc(points, sizeof(int));
  m->kept = asi_calloc(points, sizeof(int));
  m->triangle = asi_calloc(3 * (size_t)d->triangle_count, sizeof(int));
  m->slot = asi_calloc(m->n_slots, sizeof(int));
  if (!m->cell || !m->number || !m->kept || !m->triangle || !m->slot) return false;
  const int columns = 9 * (d->coordinate_count > 0 ? d->coordinate_count : 1);
  const int by_numbers = MOST_NUMBERS / columns,
            most = by_numbers < MOST_POINTS ? by_numbers : MOST_POINTS;
  const double whole = extent(d);
  double size = 0.0;
  while (put_together(m, size) > (most > 50 ? most : 50) && whole > 0.0)
    size = size == 0.0 ? whole / 100.0 : 1.2 * size;
  number_all(m);
  return true;
}

/// Writes n numbers of each of the points that are kept; `from` gives the first of a point.
static bool put_floats(FILE *out, const thin_mesh *m, const double *all, const int *place,
                       size_t n) {
  const size_t count = n * (size_t)m->n_kept;
  float *x = asi_calloc(count, sizeof *x);
  if (x == NULL) return false;
  for (int i = 0; i < m->n_kept; ++i) {
    const int at = place ? place[i] : m->kept[i];
    for (size_t k = 0; k < n; ++k) x[(size_t)i * n + k] = (float)all[(size_t)at * n + k];
  }
  asi_array_floats(out, x, count, n > 0 ? n : 1, n > 0 ? n : 1);
  free(x);
  return true;
}

static bool put_places(FILE *out, const thin_mesh *m) {
  const size_t count = 3 * (size_t)m->n_kept;
  float *x = asi_calloc(count, sizeof *x);
  if (x == NULL) return false;
  for (int i = 0; i < m->n_kept; ++i)
    for (int k = 0; k < 3; ++k)
      x[3 * i + k] = (float)(m->d->mesh_positions[m->kept[i]][k] - m->d->interface_positions[0][k]);
  asi_array_floats(out, x, count, 3, 3);
  free(x);
  return true;
}

/// Least x, y, z and greatest x, y, z in the frame.
static void put_bounds(FILE *out, const as_flexible_data *d) {
  double bounds[6];
  for (int k = 0; k < 3; ++k) {
    bounds[k] = (double)INFINITY;
    bounds[3 + k] = -(double)INFINITY;
    for (int i = 0; i < d->mesh_count; ++i) {
      const double x = d->mesh_positions[i][k] - d->interface_positions[0][k];
      bounds[k] = fmin(bounds[k], x);
      bounds[3 + k] = fmax(bounds[3 + k], x);
    }
  }
  fputs(",\"bounds\":", out);
  asi_json_numbers(out, bounds, 6);
}

static bool put_triangles(FILE *out, const thin_mesh *m) {
  const size_t count = 3 * (size_t)m->n_triangles;
  float *x = asi_calloc(count, sizeof *x);
  if (x == NULL) return false;
  for (size_t i = 0; i < count; ++i) x[i] = (float)m->triangle[i]; // exact: below 2^24
  asi_array_floats(out, x, count, 3, 3);
  free(x);
  return true;
}

/// Where the stresses of the points that are kept stand; NULL: not all have some.
static int *find_stresses(const thin_mesh *m) {
  int *place = m->d->stress_count > 0 ? asi_calloc((size_t)m->n_kept, sizeof *place) : NULL;
  for (int i = 0; place && i < m->n_kept; ++i) {
    place[i] = as_flexible_stress_point(m->d, m->d->mesh_ids[m->kept[i]]);
    if (place[i] >= 0) continue;
    free(place);
    return NULL;
  }
  return place;
}

bool asi_flexible_scene(FILE *out, const char *name, int body, const as_flexible_data *d) {
  thin_mesh m = {.d = d};
  const size_t n = (size_t)d->coordinate_count;
  bool good = thin(&m);
  int *stress = good ? find_stresses(&m) : NULL;
  if (good) {
    fputs("{\"name\":", out);
    asi_json_text(out, name);
    fprintf(out, ",\"body\":%d,\"coordinates\":%d", body, d->coordinate_count);
    put_bounds(out, d);
    fputs(",\"points\":", out);
    good = put_places(out, &m);
    fputs(",\"triangles\":", out);
    good = good && put_triangles(out, &m);
    fputs(",\"shapes\":", out);
    good = good && put_floats(out, &m, d->mesh_shapes, NULL, 3 * n);
    if (stress) fputs(",\"stresses\":", out);
    if (stress) good = good && put_floats(out, &m, d->stress_matrices, stress, 6 * n);
    fputs("}", out);
  }
  free(stress);
  free(m.cell);
  free(m.number);
  free(m.kept);
  free(m.triangle);
  free(m.slot);
  return good;
}
