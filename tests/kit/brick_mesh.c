#include "brick_mesh.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"

void dsygv_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a,
            const int *lda, double *b, const int *ldb, double *w, double *work, const int *lwork,
            int *info, size_t jobz_length, size_t uplo_length);

static const double E = 2e11, NU = 0.3, RHO = 7800.0;

/// Unit-cube corners in the order of node numbers within a brick.
static void corner(int i, int out[3]) {
  out[0] = i & 1;
  out[1] = i >> 1 & 1;
  out[2] = i >> 2;
}

static double shape(int i, const double at[3], double gradient[3]) {
  int c[3];
  double f[3], value = 1.0;
  corner(i, c);
  for (int k = 0; k < 3; ++k) {
    f[k] = c[k] ? at[k] : 1.0 - at[k];
    value *= f[k];
  }
  for (int k = 0; k < 3; ++k) gradient[k] = (c[k] ? 1.0 : -1.0) * f[(k + 1) % 3] * f[(k + 2) % 3];
  return value;
}

/// 24 x 24 matrices of one brick of size s; 2 x 2 x 2 Gauss points.
static void brick(const double s[3], bool lumped, double K[24][24], double M[24][24]) {
  const double lame = E * NU / (1.0 + NU) / (1.0 - 2.0 * NU), mu = E / 2.0 / (1.0 + NU);
  memset(K, 0, 24 * sizeof K[0]);
  memset(M, 0, 24 * sizeof M[0]);
  const double volume = s[0] * s[1] * s[2];
  for (int g = 0; g < 8; ++g) {
    int c[3];
    double at[3], N[8], B[8][3];
    corner(g, c);
    for (int k = 0; k < 3; ++k) at[k] = 0.5 + (c[k] ? 0.5 : -0.5) / sqrt(3.0);
    for (int i = 0; i < 8; ++i) {
      N[i] = shape(i, at, B[i]);
      for (int k = 0; k < 3; ++k) B[i][k] /= s[k];
    }
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        const double dot = B[i][0] * B[j][0] + B[i][1] * B[j][1] + B[i][2] * B[j][2];
        for (int a = 0; a < 3; ++a) {
          if (!lumped) M[3 * i + a][3 * j + a] += RHO * volume / 8.0 * N[i] * N[j];
          for (int b = 0; b < 3; ++b)
            K[3 * i + a][3 * j + b] +=
                volume / 8.0 *
                (lame * B[i][a] * B[j][b] + mu * B[i][b] * B[j][a] + (a == b ? mu * dot : 0.0));
        }
      }
  }
  for (int i = 0; i < 24 && lumped; ++i) M[i][i] = RHO * volume / 8.0;
}

/// Entries of a matrix that is being put together.
typedef struct entries {
  as_entry *entry;
  size_t n;
} entries;

static as_sparse *finish(entries *e, int n) {
  as_sparse *out = NULL;
  if (as_sparse_create(n, n, e->entry, e->n, &out, NULL)) abort();
  free(e->entry);
  return out;
}

static void number_nodes(brick_mesh *m, int nodes, int unknowns, long first, long step) {
  long *ids = calloc((size_t)nodes, sizeof *ids);
  int(*of)[6] = calloc((size_t)nodes, sizeof *of);
  for (int i = 0; i < nodes; ++i) {
    ids[i] = first + step * i;
    for (int d = 0; d < 6; ++d) of[i][d] = d < unknowns ? unknowns * i + d : -1;
  }
  m->mesh.node_count = nodes;
  m->mesh.ids = ids;
  m->mesh.unknowns = (const int(*)[6])of;
}

/// Two triangles of a quadrilateral of nodes, turned so that they are seen from `outside`.
static void quad(const brick_mesh *m, long (*out)[3], const int node[4], bool outside) {
  const int order[2][3] = {{0, 1, 2}, {0, 2, 3}};
  for (int t = 0; t < 2; ++t)
    for (int c = 0; c < 3; ++c) out[t][c] = m->mesh.ids[node[order[t][outside ? c : 2 - c]]];
}

static void make_surface(brick_mesh *m, const int n[3]) {
  const int faces = 2 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]);
  long(*out)[3] = calloc(2 * (size_t)faces, sizeof *out);
  const int step[3] = {1, n[0] + 1, (n[0] + 1) * (n[1] + 1)};
  int count = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < n[u]; ++i)
        for (int j = 0; j < n[v]; ++j, count += 2) {
          const int at = side * n[axis] * step[axis] + i * step[u] + j * step[v];
          const int node[4] = {at, at + step[u], at + step[u] + step[v], at + step[v]};
          quad(m, out + count, node, side == 1);
        }
  }
  m->mesh.triangle_count = count;
  m->mesh.triangles = (const long(*)[3])out;
}

brick_mesh brick_mesh_make(int nx, int ny, int nz, double a, double b, double c, bool lumped) {
  brick_mesh m = {0};
  const int n[3] = {nx, ny, nz}, step[3] = {1, nx + 1, (nx + 1) * (ny + 1)};
  const int nodes = (nx + 1) * (ny + 1) * (nz + 1);
  const double s[3] = {a / nx, b / ny, c / nz};
  double(*X)[3] = calloc((size_t)nodes, sizeof *X);
  double K[24][24], M[24][24];
  const size_t bricks = (size_t)nx * (size_t)ny * (size_t)nz;
  entries k = {calloc(576 * bricks, sizeof(as_entry)), 0};
  entries mass = {calloc(576 * bricks, sizeof(as_entry)), 0};
  number_nodes(&m, nodes, 3, 10, 3);
  m.end_count = (ny + 1) * (nz + 1);
  m.first = calloc((size_t)m.end_count, sizeof *m.first);
  m.last = calloc((size_t)m.end_count, sizeof *m.last);
  for (int i = 0; i < nodes; ++i) {
    const int place[3] = {i % (nx + 1), i / step[1] % (ny + 1), i / step[2]};
    for (int d = 0; d < 3; ++d) X[i][d] = s[d] * place[d];
    if (place[0] == 0) m.first[i / step[1]] = m.mesh.ids[i];
    if (place[0] == nx) m.last[i / step[1]] = m.mesh.ids[i];
  }
  m.mesh.positions = (const double(*)[3])X;
  brick(s, lumped, K, M);
  for (int e = 0; e < nx * ny * nz; ++e) {
    const int from = e % nx * step[0] + e / nx % ny * step[1] + e / (nx * ny) * step[2];
    int unknown[24];
    for (int i = 0; i < 8; ++i) {
      int at[3];
      corner(i, at);
      for (int d = 0; d < 3; ++d)
        unknown[3 * i + d] = 3 * (from + at[0] * step[0] + at[1] * step[1] + at[2] * step[2]) + d;
    }
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j) {
        k.entry[k.n++] = (as_entry){unknown[i], unknown[j], K[i][j]};
        if (M[i][j] != 0.0) mass.entry[mass.n++] = (as_entry){unknown[i], unknown[j], M[i][j]};
      }
  }
  m.K = finish(&k, 3 * nodes);
  m.M = finish(&mass, 3 * nodes);
  make_surface(&m, n);
  return m;
}

/// Adds the bending of an element of length l in one plane: displacements `u`, rotations `t`; sign: of t to the slope of u.
static void bend(entries *k, entries *mass, double l, double EI, double rho_A, const int u[2],
                 const int t[2], double sign) {
  const int at[4] = {u[0], t[0], u[1], t[1]};
  const double f[4] = {1.0, sign * l, 1.0, sign * l};
  const double K[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
  const double M[4][4] = {
      {156, 22, 54, -13}, {22, 4, 13, -3}, {54, 13, 156, -22}, {-13, -3, -22, 4}};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      k->entry[k->n++] = (as_entry){at[i], at[j], EI / (l * l * l) * f[i] * f[j] * K[i][j]};
      mass->entry[mass->n++] = (as_entry){at[i], at[j], rho_A * l / 420.0 * f[i] * f[j] * M[i][j]};
    }
}

static void stretch(entries *k, entries *mass, double stiffness, double inertia, int i, int j) {
  const int at[2] = {i, j};
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c) {
      k->entry[k->n++] = (as_entry){at[r], at[c], r == c ? stiffness : -stiffness};
      mass->entry[mass->n++] = (as_entry){at[r], at[c], inertia / (r == c ? 3.0 : 6.0)};
    }
}

brick_mesh brick_mesh_beam(int n) {
  brick_mesh m = {0};
  const double b = 0.02, h = 0.03, A = b * h, Iy = b * h * h * h / 12.0, Iz = h * b * b * b / 12.0;
  const double l = 1.0 / n, G = E / 2.0 / (1.0 + NU), J = 0.1957 * h * b * b * b;
  double(*X)[3] = calloc((size_t)n + 1, sizeof *X);
  entries k = {calloc(80 * (size_t)n, sizeof(as_entry)), 0};
  entries mass = {calloc(80 * (size_t)n, sizeof(as_entry)), 0};
  number_nodes(&m, n + 1, 6, 1, 1);
  m.end_count = 1;
  m.first = calloc(1, sizeof *m.first);
  m.last = calloc(1, sizeof *m.last);
  m.first[0] = 1;
  m.last[0] = n + 1;
  for (int i = 0; i <= n; ++i) X[i][0] = l * i;
  m.mesh.positions = (const double(*)[3])X;
  for (int e = 0; e < n; ++e) {
    const int i = 6 * e, j = i + 6;
    stretch(&k, &mass, E * A / l, RHO * A * l, i, j);
    stretch(&k, &mass, G * J / l, RHO * (Iy + Iz) * l, i + 3, j + 3);
    bend(&k, &mass, l, E * Iz, RHO * A, (int[]){i + 1, j + 1}, (int[]){i + 5, j + 5}, 1.0);
    bend(&k, &mass, l, E * Iy, RHO * A, (int[]){i + 2, j + 2}, (int[]){i + 4, j + 4}, -1.0);
  }
  m.K = finish(&k, 6 * (n + 1));
  m.M = finish(&mass, 6 * (n + 1));
  return m;
}

static void discard(const void *p) {
  void *block;
  memcpy(&block, &p, sizeof block);
  free(block);
}

void brick_mesh_free(brick_mesh *m) {
  discard(m->mesh.ids);
  discard(m->mesh.positions);
  discard(m->mesh.unknowns);
  discard(m->mesh.triangles);
  free(m->first);
  free(m->last);
  as_sparse_destroy(m->K);
  as_sparse_destroy(m->M);
}

static double *dense(const as_sparse *a, const int *index, int n) {
  double *out = calloc((size_t)n * (size_t)n + 1, sizeof *out);
  for (int j = 0; j < a->cols; ++j)
    for (int k = a->col_start[j]; k < a->col_start[j + 1]; ++k)
      if (index[j] >= 0 && index[a->row[k]] >= 0)
        out[(ptrdiff_t)index[j] * n + index[a->row[k]]] = a->value[k];
  return out;
}

int brick_mesh_frequencies(const brick_mesh *m, const bool *held, double *out) {
  int n = 0, info = 0, *index = calloc((size_t)m->K->rows, sizeof *index);
  for (int i = 0; i < m->K->rows; ++i) index[i] = held && held[i] ? -1 : n++;
  double *K = dense(m->K, index, n), *M = dense(m->M, index, n);
  const int one = 1, size = 34 * n;
  double *work = calloc((size_t)size, sizeof *work);
  dsygv_(&one, "N", "L", &n, K, &n, M, &n, out, work, &size, &info, 1, 1);
  if (info != 0) abort();
  for (int i = 0; i < n; ++i) out[i] = sqrt(fmax(0.0, out[i])) / (2.0 * acos(-1.0));
  free(index);
  free(K);
  free(M);
  free(work);
  return n;
}
