/// See inertia.h. W_j e_b has e_b x psi_j at the displacements of each node, and zero at its rotations.
#include "reduction/inertia.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reduction/dense.h"
#include "reduction/held.h"

/// What is summed: x->n numbers a column.
typedef struct sums {
  const asi_mesh_index *x;
  int n;
  const double *rigid, *psi;
  double *m_psi;     ///< M Psi
  double *turned[3]; ///< W_j e_a, column j
  double *m_turned;  ///< M W_j e_b
  double *product;   ///< n x n
} sums;

static void turn(const sums *s, int axis, double *out) {
  const asi_mesh_index *x = s->x;
  const size_t rows = (size_t)x->n;
  for (size_t j = 0; j < (size_t)s->n; ++j)
    for (size_t u = 0; u < rows; ++u) {
      const int d = x->direction[u], *of = x->mesh->unknowns[x->node[u]];
      double value = 0.0;
      if (d < 3 && d != axis) { // (e x psi)_d = e_(d+1) psi_(d+2) - e_(d+2) psi_(d+1)
        const int other = 3 - d - axis;
        if (of[other] >= 0) value = s->psi[j * rows + (size_t)of[other]];
        if ((d + 2) % 3 == axis) value = -value;
      }
      out[j * rows + u] = value;
    }
}

/// a^T b for columns of the mesh, na x nb by columns.
static void multiply(const sums *s, const double *a, int na, const double *b, int nb, double *out) {
  memset(out, 0, (size_t)na * (size_t)nb * sizeof *out);
  asi_dense_multiply(true, false, na, nb, s->x->n, 1.0, a, s->x->n, b, s->x->n, out, na);
}

/// Products with M Psi: P, H0, H_j, M_r.
static void sum_shapes(const sums *s, asi_inertia *out) {
  const int n = s->n;
  double *by = s->product;
  multiply(s, s->rigid, 6, s->m_psi, n, by);
  for (int j = 0; j < n; ++j)
    for (int a = 0; a < 3; ++a) {
      out->P[a * n + j] = by[6 * j + a];
      out->H0[a * n + j] = by[6 * j + 3 + a];
    }
  for (int a = 0; a < 3; ++a) {
    multiply(s, s->turned[a], n, s->m_psi, n, by);
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) out->H[((ptrdiff_t)j * 3 + a) * n + k] = by[(ptrdiff_t)k * n + j];
  }
  multiply(s, s->psi, n, s->m_psi, n, by);
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < n; ++k)
      out->M[(ptrdiff_t)j * n + k] = 0.5 * (by[(ptrdiff_t)k * n + j] + by[(ptrdiff_t)j * n + k]);
}

/// Products with M W_j e_b: A_j, J_j and, if they are wanted, J_ij.
static void sum_turned(const sums *s, int b, asi_inertia *out) {
  const int n = s->n;
  double *by = s->product;
  asi_sparse_multiply(s->x->M, s->turned[b], s->m_turned, n);
  multiply(s, s->rigid, 6, s->m_turned, n, by);
  for (int j = 0; j < n; ++j)
    for (int a = 0; a < 3; ++a) {
      out->A[9 * (ptrdiff_t)j + 3 * a + b] = by[6 * j + a];
      out->J1[9 * (ptrdiff_t)j + 3 * a + b] = by[6 * j + 3 + a];
    }
  for (int a = 0; a <= b && out->J2; ++a) {
    multiply(s, s->turned[a], n, s->m_turned, n, by);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double one = by[(ptrdiff_t)j * n + i], other = by[(ptrdiff_t)i * n + j];
        const double value = a == b ? 0.5 * (one + other) : one;
        out->J2[((ptrdiff_t)i * n + j) * 9 + 3 * a + b] = value;
        out->J2[((ptrdiff_t)j * n + i) * 9 + 3 * b + a] = value;
      }
  }
}

static void sum_rigid(const sums *s, asi_inertia *out, double *work) {
  double all[36];
  asi_sparse_multiply(s->x->M, s->rigid, work, 6);
  multiply(s, s->rigid, 6, work, 6, all);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      out->A0[3 * a + b] = all[a + 6 * (3 + b)];
      out->J0[3 * a + b] = 0.5 * (all[3 + a + 6 * (3 + b)] + all[3 + b + 6 * (3 + a)]);
    }
}

static bool take(asi_inertia *out, size_t n, bool exact) {
  out->P = asi_calloc(3 * n, sizeof(double));
  out->A0 = asi_calloc(9, sizeof(double));
  out->A = asi_calloc(9 * n, sizeof(double));
  out->H0 = asi_calloc(3 * n, sizeof(double));
  out->H = asi_calloc(3 * n * n, sizeof(double));
  out->J0 = asi_calloc(9, sizeof(double));
  out->J1 = asi_calloc(9 * n, sizeof(double));
  out->J2 = exact ? asi_calloc(9 * n * n, sizeof(double)) : NULL;
  out->M = asi_calloc(n * n, sizeof(double));
  return out->P && out->A0 && out->A && out->H0 && out->H && out->J0 && out->J1 && out->M &&
         (out->J2 || !exact);
}

as_status asi_inertia_init(asi_inertia *out, const asi_mesh_index *x, const double *rigid,
                           const double *psi, int n, bool exact, as_error *error) {
  const size_t rows = (size_t)x->n, columns = (size_t)n, more = n > 6 ? columns : 6;
  sums s = {.x = x, .n = n, .rigid = rigid, .psi = psi};
  *out = (asi_inertia){0};
  s.m_psi = asi_calloc(rows * columns, sizeof(double));
  s.m_turned = asi_calloc(rows * more, sizeof(double));
  s.product = asi_calloc(more * more, sizeof(double));
  bool ok = s.m_psi && s.m_turned && s.product && take(out, columns, exact);
  for (int a = 0; a < 3 && ok; ++a)
    ok = (s.turned[a] = asi_calloc(rows * columns, sizeof(double))) != NULL;
  if (ok) {
    for (int a = 0; a < 3; ++a) turn(&s, a, s.turned[a]);
    asi_sparse_multiply(x->M, psi, s.m_psi, n);
    sum_rigid(&s, out, s.m_turned);
    sum_shapes(&s, out);
    for (int b = 0; b < 3; ++b) sum_turned(&s, b, out);
  }
  free(s.m_psi);
  free(s.m_turned);
  free(s.product);
  for (int a = 0; a < 3; ++a) free(s.turned[a]);
  return ok ? AS_OK : asi_fail_memory(error);
}

void asi_inertia_free(asi_inertia *a) {
  double *const all[] = {a->P, a->A0, a->A, a->H0, a->H, a->J0, a->J1, a->J2, a->M};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
  *a = (asi_inertia){0};
}
