/// See mesh_index.h.
#include "reduction/mesh_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/sparse.h"
#include "reduction/dense.h"
#include "reduction/held.h"

// How far a matrix may be from symmetric, of its largest entry; how far from zero the forces of a rigid motion, of |K| times it; how far from
// the same in all directions the mass.
#define ASYMMETRY 1e-9
#define NOT_FREE 1e-6
#define NOT_ISOTROPIC 1e-6

// ---- matrices ---------------------------------------------------------------------------------------

static double value_at(const as_sparse *a, int i, int j) {
  int low = a->col_start[j], high = a->col_start[j + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (a->row[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low < a->col_start[j + 1] && a->row[low] == i ? a->value[low] : 0.0;
}

static as_status check_matrix(const as_sparse *a, const char *name, as_error *error) {
  double largest = 0.0;
  if (a->rows != a->cols)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "%s is %d x %d; mass and stiffness are square.", name, a->rows, a->cols);
  for (int k = 0; k < asi_sparse_nnz(a); ++k) largest = fmax(largest, fabs(a->value[k]));
  for (int j = 0; j < a->cols; ++j)
    for (int k = a->col_start[j]; k < a->col_start[j + 1]; ++k) {
      const int i = a->row[k];
      const double other = i == j ? a->value[k] : value_at(a, j, i);
      if (fabs(a->value[k] - other) <= ASYMMETRY * largest) continue;
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "%s is not symmetric: entry (%d, %d) is %.9g, (%d, %d) is %.9g; one triangle "
                      "by itself is given as symmetric.",
                      name, i + 1, j + 1, a->value[k], j + 1, i + 1, other);
    }
  for (int j = 0; j < a->cols; ++j) {
    const double d = value_at(a, j, j);
    const bool mass = name[0] == 'M';
    if (d > 0.0 || (mass && d == 0.0)) continue;
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "%s is not positive: entry (%d, %d) is %.9g.", name, j + 1, j + 1, d);
  }
  return AS_OK;
}

static as_status check_matrices(const as_reduction_def *def, as_error *error) {
  const as_sparse *K = def->stiffness, *M = def->mass;
  if (K == NULL || M == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A reduction needs a mass and a stiffness matrix.");
  if (def->mesh == NULL || def->mesh->node_count < 1)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, NULL,
        "K and M alone do not make a body that travels: the inertia of its deformed shape "
        "follows from where the unknowns are. Give the table of the nodes.");
  as_status status = check_matrix(K, "K", error);
  if (status == AS_OK) status = check_matrix(M, "M", error);
  if (status == AS_OK && K->rows != M->rows)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "K has %d rows, M has %d; they must be of the same mesh.", K->rows, M->rows);
  return status;
}

// ---- nodes ------------------------------------------------------------------------------------------

typedef struct pair {
  long id;
  int node;
} pair;

static int compare_pairs(const void *a, const void *b) {
  const pair *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : x->node - y->node;
}

static as_status sort_nodes(asi_mesh_index *x, as_error *error) {
  const as_mesh *m = x->mesh;
  pair *list = asi_calloc((size_t)m->node_count, sizeof *list);
  if (list == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->node_count; ++i) list[i] = (pair){m->ids[i], i};
  qsort(list, (size_t)m->node_count, sizeof *list, compare_pairs);
  as_status status = AS_OK;
  for (int i = 0; i < m->node_count; ++i) {
    x->sorted[i] = list[i].node;
    if (i > 0 && list[i].id == list[i - 1].id)
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "Two nodes have the number %ld.",
                        list[i].id);
  }
  free(list);
  return status;
}

int asi_mesh_find(const asi_mesh_index *x, long id) {
  int low = 0, high = x->mesh->node_count - 1;
  while (low <= high) {
    const int middle = low + (high - low) / 2, node = x->sorted[middle];
    if (x->mesh->ids[node] == id) return node;
    if (x->mesh->ids[node] < id)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

static as_status match_unknowns(asi_mesh_index *x, as_error *error) {
  const as_mesh *m = x->mesh;
  for (int u = 0; u < x->n; ++u) x->node[u] = -1;
  for (int i = 0; i < m->node_count; ++i)
    for (int d = 0; d < 6; ++d) {
      const int u = m->unknowns[i][d];
      if (u == -1) continue;
      if (u < 0 || u >= x->n)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "Node %ld has the unknown %d, but the matrices have %d rows.", m->ids[i],
                        u + 1, x->n);
      if (x->node[u] >= 0)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "The unknown %d belongs to the nodes %ld and %ld.", u + 1,
                        m->ids[x->node[u]], m->ids[i]);
      x->node[u] = i;
      x->direction[u] = (unsigned char)d;
    }
  for (int u = 0; u < x->n; ++u)
    if (x->node[u] < 0)
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, NULL,
          "Row %d of the matrices belongs to no node: where it is and which way it moves "
          "must be known.",
          u + 1);
  return AS_OK;
}

static as_status place_nodes(asi_mesh_index *x, double length, as_error *error) {
  for (int i = 0; i < x->mesh->node_count; ++i)
    for (int c = 0; c < 3; ++c) {
      x->position[i][c] = length * x->mesh->positions[i][c];
      if (!isfinite(x->position[i][c]))
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "Node %ld has a position that is not finite.", x->mesh->ids[i]);
    }
  return AS_OK;
}

/// A copy in SI units: an energy is force times length, displacements are in lengths, rotations in rad.
static as_sparse *in_si(const asi_mesh_index *x, const as_sparse *a, double length, double force) {
  as_sparse *out = asi_sparse_copy(a);
  if (out == NULL || (length == 1.0 && force == 1.0)) return out;
  for (int j = 0; j < out->cols; ++j)
    for (int k = out->col_start[j]; k < out->col_start[j + 1]; ++k) {
      const double row = x->direction[out->row[k]] < 3 ? length : 1.0;
      const double col = x->direction[j] < 3 ? length : 1.0;
      out->value[k] *= force * length / (row * col);
    }
  return out;
}

as_status asi_mesh_index_init(asi_mesh_index *x, const as_reduction_def *def, as_error *error) {
  *x = (asi_mesh_index){.mesh = def->mesh};
  as_status status = check_matrices(def, error);
  if (status) return status;
  const size_t nodes = (size_t)def->mesh->node_count;
  x->n = def->stiffness->rows;
  x->sorted = asi_calloc(nodes, sizeof *x->sorted);
  x->position = asi_calloc(nodes, sizeof *x->position);
  x->node = asi_calloc((size_t)x->n, sizeof *x->node);
  x->direction = asi_calloc((size_t)x->n, sizeof *x->direction);
  if (!x->sorted || !x->position || !x->node || !x->direction) return asi_fail_memory(error);
  status = sort_nodes(x, error);
  if (status == AS_OK) status = match_unknowns(x, error);
  if (status == AS_OK) status = place_nodes(x, def->length, error);
  if (status) return status;
  x->K = in_si(x, def->stiffness, def->length, def->force);
  x->M = in_si(x, def->mass, def->length, def->force);
  return x->K && x->M ? AS_OK : asi_fail_memory(error);
}

void asi_mesh_index_free(asi_mesh_index *x) {
  free(x->sorted);
  free(x->position);
  free(x->node);
  free(x->direction);
  as_sparse_destroy(x->K);
  as_sparse_destroy(x->M);
  *x = (asi_mesh_index){0};
}

// ---- rigid motions ----------------------------------------------------------------------------------

void asi_mesh_rigid(const asi_mesh_index *x, const double about[3], double *out) {
  const size_t n = (size_t)x->n;
  memset(out, 0, 6 * n * sizeof *out);
  for (size_t u = 0; u < n; ++u) {
    const int d = x->direction[u];
    const double *X = x->position[x->node[u]];
    if (d >= 3) {
      out[(size_t)d * n + u] = 1.0;
      continue;
    }
    out[(size_t)d * n + u] = 1.0;
    const int next = (d + 1) % 3, last = (d + 2) % 3;
    // (e x r)_d = e_(d+1) r_(d+2) - e_(d+2) r_(d+1)
    out[(size_t)(3 + next) * n + u] = X[last] - about[last];
    out[(size_t)(3 + last) * n + u] = -(X[next] - about[next]);
  }
}

static double length_of(const double *x, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

/// |K r| <= 1e-6 | |K| |r| | for each rigid motion.
static as_status check_free(const asi_mesh_index *x, const double *rigid, double *force,
                            as_reduction_info *info, as_error *error) {
  static const char *const motion[] = {"moved along x",  "moved along y",  "moved along z",
                                       "turned about x", "turned about y", "turned about z"};
  const size_t n = (size_t)x->n;
  double *magnitude = force + n;
  for (int r = 0; r < 6; ++r) {
    const double *by = rigid + (size_t)r * n;
    memset(force, 0, 2 * n * sizeof *force);
    for (int j = 0; j < x->n; ++j)
      for (int k = x->K->col_start[j]; k < x->K->col_start[j + 1]; ++k) {
        force[x->K->row[k]] += x->K->value[k] * by[j];
        magnitude[x->K->row[k]] += fabs(x->K->value[k] * by[j]);
      }
    const double residual = length_of(force, n) / length_of(magnitude, n);
    if (!(residual <= NOT_FREE))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "K",
                      "The mesh is held, or its positions are not those of K: %s as a whole, it "
                      "resists with %.2g of |K| |r|, more than %g. Export the matrices without "
                      "supports.",
                      motion[r], residual, NOT_FREE);
    info->residual = fmax(info->residual, residual);
  }
  return AS_OK;
}

/// The mass matrix of rigid motions about the centre of mass, from that about another point.
static void take_centre(const double inertia[36], const double about[3], as_reduction_info *info) {
  const double m = info->mass;
  double c[3];
  // S^T M W_0 = -m c~: (1, 2), (2, 0), (0, 1) entries are m c_x, m c_y, m c_z
  for (int a = 0; a < 3; ++a) c[a] = inertia[((a + 1) % 3) + 6 * (3 + (a + 2) % 3)] / m;
  const double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  for (int a = 0; a < 3; ++a) {
    info->centre[a] = about[a] + c[a];
    for (int b = 0; b < 3; ++b)
      info->inertia[a][b] =
          inertia[(3 + a) + 6 * (3 + b)] - m * ((a == b ? square : 0.0) - c[a] * c[b]);
  }
}

static as_status check_mass(const double inertia[36], const double about[3],
                            as_reduction_info *info, as_error *error) {
  const double m = (inertia[0] + inertia[7] + inertia[14]) / 3.0;
  if (!(m > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "M", "M has the mass %.9g kg.", m);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      if (!(fabs(inertia[a + 6 * b] - (a == b ? m : 0.0)) <= NOT_ISOTROPIC * m))
        return asi_fail(
            error, AS_ERR_ARGUMENT, (double)NAN, "M",
            "M is not that of a free body: its masses along x, y and z are %.9g, %.9g and "
            "%.9g kg, (%c, %c) %.2g kg; they must be the same, and 0.",
            inertia[0], inertia[7], inertia[14], "xyz"[a], "xyz"[b], inertia[a + 6 * b]);
  info->mass = m;
  take_centre(inertia, about, info);
  double J[9], lambda[3];
  memcpy(J, info->inertia, sizeof J);
  if (!asi_dense_eigen(3, J, lambda)) return asi_fail_memory(error);
  if (lambda[0] > 0.0 && lambda[2] <= (lambda[0] + lambda[1]) * (1.0 + 1e-6)) return AS_OK;
  return asi_fail(
      error, AS_ERR_ARGUMENT, (double)NAN, "M",
      "The principal inertias about the centre of mass, %.6g, %.6g and %.6g kg m^2, are "
      "those of no body: they are positive, and none exceeds the sum of the others.",
      lambda[0], lambda[1], lambda[2]);
}

as_status asi_mesh_check_rigid(const asi_mesh_index *x, const double about[3], const double *rigid,
                               double inertia[36], as_reduction_info *info, as_error *error) {
  const size_t n = (size_t)x->n;
  double *work = asi_calloc(6 * n, sizeof *work);
  if (work == NULL) return asi_fail_memory(error);
  as_status status = check_free(x, rigid, work, info, error);
  if (status == AS_OK) {
    asi_sparse_multiply(x->M, rigid, work, 6);
    memset(inertia, 0, 36 * sizeof *inertia);
    asi_dense_multiply(true, false, 6, 6, x->n, 1.0, rigid, x->n, work, x->n, inertia, 6);
    status = check_mass(inertia, about, info, error);
  }
  free(work);
  return status;
}
