/// Checks and copies linear flexible bodies (alphastep/flexible.h).
#include "alphastep/flexible.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// How far a matrix may be from symmetric, of its largest entry.
#define ASYMMETRY 1e-9

enum {
  MOST_COORDINATES = 4000, // J_ij: 9 n^2 numbers, 1.2 GB
  MOST_POINTS = 100000000,
};

static as_status refuse(as_error *error, const char *what) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "A flexible body %s.", what);
}

static bool are_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool is_symmetric(const double *m, size_t n) {
  double largest = 0.0;
  for (size_t i = 0; i < n * n; ++i) largest = fmax(largest, fabs(m[i]));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      if (!(fabs(m[i * n + j] - m[j * n + i]) <= ASYMMETRY * largest)) return false;
  return true;
}

static bool has_positive_diagonal(const double *m, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!(m[i * n + i] > 0.0)) return false;
  return true;
}

static as_status check_interfaces(const as_flexible_data *d, as_error *error) {
  if (d->interface_count < 1 || d->interface_names == NULL || d->interface_positions == NULL ||
      d->interface_rotations == NULL)
    return refuse(error, "needs an interface node, its frame");
  long long n = d->mode_count;
  if (d->mode_count < 0) return refuse(error, "cannot have a negative number of modes");
  for (int i = 0; i < d->interface_count; ++i) {
    if (d->interface_names[i] == NULL || d->interface_names[i][0] == '\0')
      return refuse(error, "has an interface node without a name");
    for (int j = 0; j < i; ++j)
      if (strcmp(d->interface_names[i], d->interface_names[j]) == 0)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, d->interface_names[i],
                        "Two interface nodes of a flexible body are called \"%.60s\".",
                        d->interface_names[i]);
    if (!are_finite(d->interface_positions[i], 3))
      return refuse(error, "has an interface position that is not finite");
    if (i > 0) n += d->interface_rotations[i] ? 6 : 3;
    if (n > MOST_COORDINATES) break;
  }
  if (n > MOST_COORDINATES || d->mode_count > MOST_COORDINATES)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A flexible body may have %d coordinates; this one has more.",
                    (int)MOST_COORDINATES);
  if (n != d->coordinate_count)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A flexible body has %d coordinates, but its nodes and modes make %lld.",
                    d->coordinate_count, n);
  return AS_OK;
}

static as_status check_inertia(const as_flexible_data *d, as_error *error) {
  const size_t n = (size_t)d->coordinate_count;
  const struct {
    const double *at;
    size_t count;
    const char *name;
    bool optional;
  } all[] = {
      {d->P, 3 * n, "P", false},   {d->A0, 9, "A0", false},        {d->A, 9 * n, "A", false},
      {d->H0, 3 * n, "H0", false}, {d->H, 3 * n * n, "H", false},  {d->J0, 9, "J0", false},
      {d->J1, 9 * n, "J1", false}, {d->J2, 9 * n * n, "J2", true}, {d->M, n * n, "M", false},
      {d->K, n * n, "K", false},   {d->C, n * n, "C", true},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (all[i].at == NULL && (all[i].optional || all[i].count == 0)) continue;
    if (all[i].at == NULL || !are_finite(all[i].at, all[i].count))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, all[i].name,
                      "A flexible body's array %s %s.", all[i].name,
                      all[i].at ? "has an entry that is not finite" : "is missing");
  }
  if (!(d->mass > 0.0) || !isfinite(d->mass)) return refuse(error, "needs a mass m > 0");
  if (!is_symmetric(d->J0, 3) || !has_positive_diagonal(d->J0, 3))
    return refuse(error, "needs a symmetric J0 with a positive diagonal");
  if (!is_symmetric(d->M, n) || !has_positive_diagonal(d->M, n))
    return refuse(error, "needs a symmetric M with a positive diagonal");
  if (!is_symmetric(d->K, n) || !has_positive_diagonal(d->K, n))
    return refuse(error, "needs a symmetric K with a positive diagonal");
  if (d->C && !is_symmetric(d->C, n)) return refuse(error, "needs a symmetric C");
  return AS_OK;
}

static bool increase(const long *id, int n) {
  for (int i = 1; i < n; ++i)
    if (id[i] <= id[i - 1]) return false;
  return true;
}

static as_status check_mesh(const as_flexible_data *d, as_error *error) {
  const int count[] = {d->mesh_count, d->triangle_count, d->stress_count};
  for (int i = 0; i < 3; ++i)
    if (count[i] < 0 || count[i] > MOST_POINTS) return refuse(error, "has an impossible mesh");
  const size_t n = (size_t)d->coordinate_count, points = (size_t)d->mesh_count;
  if (points > 0 &&
      (d->mesh_ids == NULL || d->mesh_positions == NULL || (n > 0 && d->mesh_shapes == NULL)))
    return refuse(error, "has a mesh without numbers, positions or shapes");
  if (points > 0 && !increase(d->mesh_ids, d->mesh_count))
    return refuse(error, "has mesh points whose numbers do not increase");
  if (points > 0 && (!are_finite(d->mesh_positions[0], 3 * points) ||
                     !are_finite(d->mesh_shapes, 3 * n * points)))
    return refuse(error, "has a mesh with numbers that are not finite");
  if (d->triangle_count > 0 && d->triangles == NULL)
    return refuse(error, "has triangles that are missing");
  for (int i = 0; i < d->triangle_count; ++i)
    for (int c = 0; c < 3; ++c)
      if (d->triangles[i][c] < 0 || d->triangles[i][c] >= d->mesh_count)
        return refuse(error, "has a triangle with a point that is not in its mesh");
  if (d->stress_count > 0 && d->stress_ids == NULL)
    return refuse(error, "has stresses without points");
  if (d->stress_count > 0 && !increase(d->stress_ids, d->stress_count))
    return refuse(error, "has points with stresses whose numbers do not increase");
  if (d->stress_count > 0 && n > 0 &&
      (d->stress_matrices == NULL ||
       !are_finite(d->stress_matrices, 6 * n * (size_t)d->stress_count)))
    return refuse(error, "has stress matrices that are missing or not finite");
  return AS_OK;
}

as_status as_flexible_check(const as_flexible_data *data, as_error *error) {
  if (data == NULL) return refuse(error, "is missing");
  as_status status = check_interfaces(data, error);
  if (status == AS_OK) status = check_inertia(data, error);
  if (status == AS_OK) status = check_mesh(data, error);
  return status;
}

// ---- copies: one block, the struct first -------------------------------------------------------------

/// Counts the room of arrays if there is no block yet, else copies them there.
typedef struct arena {
  char *block;
  size_t used;
} arena;

static void *put(arena *a, const void *from, size_t count, size_t size) {
  const size_t bytes = (count * size + 15) & ~(size_t)15;
  if (from == NULL || count == 0) return NULL;
  char *to = a->block ? a->block + a->used : NULL;
  a->used += bytes;
  if (to) memcpy(to, from, count * size);
  return to;
}

static void visit(arena *a, const as_flexible_data *from, as_flexible_data *to) {
  const size_t n = (size_t)from->coordinate_count, nodes = (size_t)from->interface_count,
               points = (size_t)from->mesh_count, stresses = (size_t)from->stress_count;
  const double *const *const given[] = {&from->P,
                                        &from->A0,
                                        &from->A,
                                        &from->H0,
                                        &from->H,
                                        &from->J0,
                                        &from->J1,
                                        &from->J2,
                                        &from->M,
                                        &from->K,
                                        &from->C,
                                        &from->mesh_shapes,
                                        &from->stress_matrices};
  const double **const taken[] = {&to->P,
                                  &to->A0,
                                  &to->A,
                                  &to->H0,
                                  &to->H,
                                  &to->J0,
                                  &to->J1,
                                  &to->J2,
                                  &to->M,
                                  &to->K,
                                  &to->C,
                                  &to->mesh_shapes,
                                  &to->stress_matrices};
  const size_t count[] = {3 * n, 9,     9 * n, 3 * n,          3 * n * n,       9, 9 * n, 9 * n * n,
                          n * n, n * n, n * n, 3 * n * points, 6 * n * stresses};
  put(a, from, 1, sizeof *from);
  for (size_t i = 0; i < sizeof count / sizeof count[0]; ++i)
    *taken[i] = put(a, *given[i], count[i], sizeof(double));
  const char *const *names = put(a, from->interface_names, nodes, sizeof(char *));
  for (size_t i = 0; i < nodes; ++i) {
    const char *name = put(a, from->interface_names[i], strlen(from->interface_names[i]) + 1, 1);
    if (names) memcpy((char *)(uintptr_t)(names + i), &name, sizeof name);
  }
  to->interface_names = names;
  to->interface_positions = put(a, from->interface_positions, nodes, 3 * sizeof(double));
  to->interface_rotations = put(a, from->interface_rotations, nodes, sizeof(bool));
  to->mesh_ids = put(a, from->mesh_ids, points, sizeof(long));
  to->mesh_positions = put(a, from->mesh_positions, points, 3 * sizeof(double));
  to->triangles = put(a, from->triangles, (size_t)from->triangle_count, 3 * sizeof(int));
  to->stress_ids = put(a, from->stress_ids, stresses, sizeof(long));
}

as_status as_flexible_copy(const as_flexible_data *data, as_flexible_data **out, as_error *error) {
  *out = NULL;
  const as_status status = as_flexible_check(data, error);
  if (status) return status;
  as_flexible_data copy = *data;
  arena a = {0};
  visit(&a, data, &copy);
  a = (arena){asi_calloc(a.used, 1), 0};
  if (a.block == NULL) return asi_fail_memory(error);
  visit(&a, data, &copy);
  memcpy(a.block, &copy, sizeof copy);
  *out = (as_flexible_data *)(void *)a.block;
  return AS_OK;
}

void as_flexible_destroy(as_flexible_data *data) { free(data); }
