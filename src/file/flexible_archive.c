#include "file/flexible_archive.h"

#include <limits.h>
#include <string.h>

#include "file/tree.h"

enum { MOST = 100000000 };

static bool is_reading(const asi_archive *a) { return a->mode == ASI_ARCHIVE_READ; }

/// Room for n things that are about to be read, each of which is a word.
static void *take(asi_archive *a, asi_arena *arena, size_t n, size_t size) {
  if (n > (a->size - a->used) / 8) a->damaged = true;
  return a->damaged ? NULL : asi_arena_take(arena, n * size);
}

/// `count` numbers, or none of them.
static void pass_doubles(asi_archive *a, const double **x, size_t count, asi_arena *arena) {
  bool there = *x != NULL && count > 0;
  asi_archive_bool(a, &there);
  if (a->damaged || !there) return;
  if (!is_reading(a)) {
    for (size_t i = 0; i < count; ++i) asi_archive_double(a, (double[]){(*x)[i]});
    return;
  }
  double *copy = take(a, arena, count, sizeof *copy);
  if (copy) asi_archive_doubles(a, copy, count);
  *x = copy;
}

static void pass_longs(asi_archive *a, const long **x, int count, asi_arena *arena) {
  long *copy = is_reading(a) ? take(a, arena, (size_t)count, sizeof *copy) : NULL;
  for (int i = 0; i < count && !a->damaged; ++i) {
    uint64_t word = is_reading(a) ? 0 : (uint64_t)(*x)[i];
    asi_archive_word(a, &word);
    if (copy) copy[i] = (long)word;
  }
  if (is_reading(a)) *x = copy;
}

static void pass_triangles(asi_archive *a, as_flexible_data *d, asi_arena *arena) {
  const size_t n = (size_t)d->triangle_count;
  int(*copy)[3] = is_reading(a) ? take(a, arena, 3 * n, sizeof(int)) : NULL;
  for (size_t i = 0; i < 3 * n && !a->damaged; ++i) {
    int corner = is_reading(a) ? 0 : d->triangles[i / 3][i % 3];
    asi_archive_int(a, &corner, 0, INT_MAX);
    if (copy) copy[i / 3][i % 3] = corner;
  }
  if (is_reading(a)) d->triangles = (const int(*)[3])copy;
}

/// Names of the interfaces, and which have rotations.
static void pass_interfaces(asi_archive *a, as_flexible_data *d, asi_arena *arena) {
  const size_t n = (size_t)d->interface_count;
  const char **names = is_reading(a) ? take(a, arena, n, sizeof *names) : NULL;
  bool *turns = is_reading(a) ? take(a, arena, n, sizeof *turns) : NULL;
  for (size_t i = 0; i < n && !a->damaged && !(arena && arena->failed); ++i) {
    size_t length = is_reading(a) ? 0 : strlen(d->interface_names[i]);
    char *text = asi_tree_text(a, is_reading(a) ? NULL : d->interface_names[i], &length, arena);
    bool turn = is_reading(a) ? false : d->interface_rotations[i];
    asi_archive_bool(a, &turn);
    if (names && turns) {
      names[i] = text;
      turns[i] = turn;
    }
  }
  if (!is_reading(a)) return;
  d->interface_names = names;
  d->interface_rotations = turns;
}

/// Positions, three numbers each.
static void pass_positions(asi_archive *a, const double (**x)[3], int n, asi_arena *arena) {
  bool there = *x != NULL;
  asi_archive_bool(a, &there);
  if (a->damaged || !there) return;
  const size_t count = 3 * (size_t)n;
  double(*copy)[3] = is_reading(a) ? take(a, arena, count, sizeof(double)) : NULL;
  for (size_t i = 0; i < count && !a->damaged; ++i) {
    double number = is_reading(a) ? 0.0 : (*x)[i / 3][i % 3];
    asi_archive_double(a, &number);
    if (copy) copy[i / 3][i % 3] = number;
  }
  if (is_reading(a)) *x = (const double(*)[3])copy;
}

bool asi_flexible_archive(asi_archive *a, as_flexible_data *d, asi_arena *arena) {
  int *const counts[] = {&d->interface_count, &d->mode_count,     &d->coordinate_count,
                         &d->mesh_count,      &d->triangle_count, &d->stress_count};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
    asi_archive_int(a, counts[i], 0, MOST);
  asi_archive_double(a, &d->mass);
  if (a->damaged) return false;
  const size_t n = (size_t)d->coordinate_count;
  const struct {
    const double **x;
    size_t count;
  } arrays[] = {{&d->P, 3 * n},
                {&d->A0, 9},
                {&d->A, 9 * n},
                {&d->H0, 3 * n},
                {&d->H, 3 * n * n},
                {&d->J0, 9},
                {&d->J1, 9 * n},
                {&d->J2, 9 * n * n},
                {&d->M, n * n},
                {&d->K, n * n},
                {&d->C, n * n},
                {&d->mesh_shapes, 3 * n * (size_t)d->mesh_count},
                {&d->stress_matrices, 6 * n * (size_t)d->stress_count}};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i)
    pass_doubles(a, arrays[i].x, arrays[i].count, arena);
  pass_interfaces(a, d, arena);
  pass_positions(a, &d->interface_positions, d->interface_count, arena);
  pass_positions(a, &d->mesh_positions, d->mesh_count, arena);
  pass_longs(a, &d->mesh_ids, d->mesh_count, arena);
  pass_longs(a, &d->stress_ids, d->stress_count, arena);
  pass_triangles(a, d, arena);
  return !a->damaged && !(arena && arena->failed);
}
