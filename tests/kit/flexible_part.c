#include "flexible_part.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elements/vector.h"

enum { GAUSS = 4, CORNERS = 4 };

static double *numbers(size_t n) {
  double *x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

// ---- dense algebra ----------------------------------------------------------------------------------

/// x of A x = B, B of m columns, by elimination with pivots; both are destroyed, B becomes x.
static void solve(double *A, double *B, size_t n, size_t m) {
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i)
      if (fabs(A[i * n + k]) > fabs(A[pivot * n + k])) pivot = i;
    for (size_t j = 0; j < n; ++j) {
      const double x = A[k * n + j];
      A[k * n + j] = A[pivot * n + j];
      A[pivot * n + j] = x;
    }
    for (size_t j = 0; j < m; ++j) {
      const double x = B[k * m + j];
      B[k * m + j] = B[pivot * m + j];
      B[pivot * m + j] = x;
    }
    for (size_t i = 0; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      if (i == k || factor == 0.0) continue;
      for (size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      for (size_t j = 0; j < m; ++j) B[i * m + j] -= factor * B[k * m + j];
    }
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) B[i * m + j] /= A[i * n + i];
}

/// Eigenvalues on the diagonal of A, vectors in the columns of V.
static void jacobi(double *A, double *V, size_t n) {
  for (size_t i = 0; i < n * n; ++i) V[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0.0, all = 0.0;
    for (size_t i = 0; i < n * n; ++i) {
      all += A[i] * A[i];
      if (i % (n + 1) != 0) off += A[i] * A[i];
    }
    if (off <= 1e-32 * all) return;
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        if (A[p * n + q] == 0.0) continue;
        const double theta = (A[q * n + q] - A[p * n + p]) / (2.0 * A[p * n + q]);
        const double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
        const double c = 1.0 / hypot(t, 1.0), s = t * c;
        for (size_t k = 0; k < n; ++k) {
          const double x = A[k * n + p], y = A[k * n + q];
          A[k * n + p] = c * x - s * y;
          A[k * n + q] = s * x + c * y;
          const double u = V[k * n + p], v = V[k * n + q];
          V[k * n + p] = c * u - s * v;
          V[k * n + q] = s * u + c * v;
        }
        for (size_t k = 0; k < n; ++k) {
          const double x = A[p * n + k], y = A[q * n + k];
          A[p * n + k] = c * x - s * y;
          A[q * n + k] = s * x + c * y;
        }
      }
  }
}

/// The lowest `modes` vectors of K x = w^2 M x, of unit mass, into columns of `out` (n x modes).
static void find_modes(const double *K, const double *M, size_t n, size_t modes, double *out) {
  double *L = numbers(n * n), *A = numbers(n * n), *V = numbers(n * n), *X = numbers(n * n);
  memcpy(L, M, n * n * sizeof *L);
  for (size_t j = 0; j < n; ++j) { // Cholesky
    for (size_t k = 0; k < j; ++k) L[j * n + j] -= L[j * n + k] * L[j * n + k];
    assert_true(L[j * n + j] > 0.0);
    L[j * n + j] = sqrt(L[j * n + j]);
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) L[i * n + j] -= L[i * n + k] * L[j * n + k];
      L[i * n + j] /= L[j * n + j];
    }
  }
  // A = L^-1 K L^-T: forward substitution of columns, twice.
  memcpy(A, K, n * n * sizeof *A);
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) A[i * n + j] -= L[i * n + k] * A[k * n + j];
        A[i * n + j] /= L[i * n + i];
      }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < i; ++j) {
        const double x = A[i * n + j];
        A[i * n + j] = A[j * n + i];
        A[j * n + i] = x;
      }
  }
  jacobi(A, V, n);
  for (size_t m = 0; m < modes; ++m) {
    size_t least = n;
    for (size_t i = 0; i < n; ++i)
      if (A[i * n + i] > 0.0 && (least == n || A[i * n + i] < A[least * n + least])) least = i;
    assert_true(least < n);
    for (size_t i = n; i-- > 0;) { // L^T x = v
      X[i] = V[i * n + least];
      for (size_t k = i + 1; k < n; ++k) X[i] -= L[k * n + i] * X[k];
      X[i] /= L[i * n + i];
    }
    for (size_t i = 0; i < n; ++i) out[i * modes + m] = X[i];
    A[least * n + least] = -1.0; // taken
  }
  free(L);
  free(A);
  free(V);
  free(X);
}

// ---- the beam ---------------------------------------------------------------------------------------

/// Bending in a plane: displacement and slope of each end; of Timoshenko.
static void add_bending(double *K, size_t n, const size_t at[4], const double sign[4], double EI,
                        double GA, double l) {
  const double phi = 12.0 * EI / (GA * l * l), e = EI / (l * l * l * (1.0 + phi));
  const double k[4][4] = {{12, 6 * l, -12, 6 * l},
                          {6 * l, (4 + phi) * l * l, -6 * l, (2 - phi) * l * l},
                          {-12, -6 * l, 12, -6 * l},
                          {6 * l, (2 - phi) * l * l, -6 * l, (4 + phi) * l * l}};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) K[at[i] * n + at[j]] += e * sign[i] * sign[j] * k[i][j];
}

static void add_spring(double *K, size_t n, size_t a, size_t b, double k) {
  K[a * n + a] += k;
  K[b * n + b] += k;
  K[a * n + b] -= k;
  K[b * n + a] -= k;
}

static void add_element(double *K, size_t n, int e, const part_def *d, double l) {
  const size_t a = 6 * (size_t)e, b = a + 6;
  const double *s = d->stiffness;
  add_spring(K, n, a, b, s[0] / l);
  add_spring(K, n, a + 3, b + 3, s[3] / l);
  add_bending(K, n, (size_t[4]){a + 1, a + 5, b + 1, b + 5}, (double[4]){1, 1, 1, 1}, s[5], s[1],
              l);
  add_bending(K, n, (size_t[4]){a + 2, a + 4, b + 2, b + 4}, (double[4]){1, -1, 1, -1}, s[4], s[2],
              l);
}

/// Displacements of a point at s in 0 ... 1 of element e, off the line by y and z: 3 x n.
static void set_shape(double *N, size_t n, int e, double s, double y, double z, double l) {
  const double H[4] = {1 - 3 * s * s + 2 * s * s * s, l * s * (1 - s) * (1 - s),
                       s * s * (3 - 2 * s), l * s * s * (s - 1)};
  const double D[4] = {6 * s * (s - 1) / l, 1 - 4 * s + 3 * s * s, 6 * s * (1 - s) / l,
                       s * (3 * s - 2)};
  memset(N, 0, 3 * n * sizeof *N);
  for (int end = 0; end < 2; ++end) {
    double *u = N + 6 * (size_t)(e + end), *v = u + n, *w = v + n;
    const double linear = end ? s : 1 - s;
    u[0] = linear;
    u[1] = -y * D[2 * end]; // section turned by v'
    u[5] = -y * D[2 * end + 1];
    u[2] = -z * D[2 * end]; // and by -w'
    u[4] = z * D[2 * end + 1];
    v[1] = H[2 * end];
    v[5] = H[2 * end + 1];
    v[3] = -z * linear;
    w[2] = H[2 * end];
    w[4] = -H[2 * end + 1];
    w[3] = y * linear;
  }
}

/// A = B^T C B in full
static void square(const double *C, const double *B, size_t n, size_t m, double *out) {
  double *CB = numbers(n * m);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < m && C[i * n + k] != 0.0; ++j)
        CB[i * m + j] += C[i * n + k] * B[k * m + j];
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j)
      for (size_t k = 0; k < n; ++k) out[i * m + j] += B[k * m + i] * CB[k * m + j];
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < i; ++j)
      out[i * m + j] = out[j * m + i] = (out[i * m + j] + out[j * m + i]) / 2.0;
  free(CB);
}

typedef struct mesh {
  size_t full, n; ///< unknowns of the mesh and coordinates
  int points;
  double (*X)[3], *mass, *N; ///< N: 3 x full each
  double *K, *M, *basis;     ///< basis: full x n
} mesh;

static void make_mesh(const part_def *d, mesh *m) {
  static const double at[GAUSS] = {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626,
                                   0.86113631159405258};
  static const double weight[GAUSS] = {0.34785484513745386, 0.65214515486254614,
                                       0.65214515486254614, 0.34785484513745386};
  const double l = d->length / d->elements, y = sqrt(d->inertia[1] / d->mass),
               z = sqrt(d->inertia[0] / d->mass);
  m->full = 6 * (size_t)(d->elements + 1);
  m->points = GAUSS * CORNERS * d->elements;
  m->X = calloc((size_t)m->points, sizeof *m->X);
  assert_non_null(m->X);
  m->mass = numbers((size_t)m->points);
  m->N = numbers((size_t)m->points * 3 * m->full);
  m->K = numbers(m->full * m->full);
  m->M = numbers(m->full * m->full);
  for (int p = 0; p < m->points; ++p) {
    const int e = p / (GAUSS * CORNERS), g = p / CORNERS % GAUSS, c = p % CORNERS;
    const double s = (1.0 + at[g]) / 2.0, yc = c == 0 || c == 3 ? y : -y, zc = c < 2 ? z : -z;
    double *N = m->N + (size_t)p * 3 * m->full;
    asi_set(d->from[0] + l * (e + s), d->from[1] + yc, d->from[2] + zc, m->X[p]);
    m->mass[p] = d->mass * l * weight[g] / (2.0 * CORNERS);
    set_shape(N, m->full, e, s, yc, zc, l);
    for (size_t r = 0; r < 3; ++r)
      for (size_t i = 0; i < m->full; ++i)
        for (size_t j = 0; j < m->full && N[r * m->full + i] != 0.0; ++j)
          m->M[i * m->full + j] += m->mass[p] * N[r * m->full + i] * N[r * m->full + j];
  }
  for (int e = 0; e < d->elements; ++e) add_element(m->K, m->full, e, d, l);
}

/// Craig and Bampton's basis; columns of interface nodes are those of their log coordinates.
static void reduce(const part_def *d, const int *node, int nodes, mesh *m) {
  const size_t full = m->full, per = d->displacements ? 3 : 6;
  const size_t boundary = per * (size_t)(nodes - 1), modes = (size_t)d->modes;
  size_t *inner = calloc(full, sizeof *inner), *outer = calloc(full, sizeof *outer), count = 0,
         kept = 0;
  assert_true(inner && outer);
  for (int i = 1; i < nodes; ++i)
    for (size_t k = 0; k < per; ++k) outer[kept++] = 6 * (size_t)node[i] + k;
  for (size_t i = 0; i < full; ++i) {
    bool held = i / 6 == (size_t)node[0];
    for (size_t k = 0; k < kept; ++k) held = held || outer[k] == i;
    if (!held) inner[count++] = i;
  }
  double *Kii = numbers(count * count), *Mii = numbers(count * count),
         *X = numbers(count * boundary), *modal = numbers(count * modes);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      Kii[i * count + j] = m->K[inner[i] * full + inner[j]];
      Mii[i * count + j] = m->M[inner[i] * full + inner[j]];
    }
    for (size_t j = 0; j < boundary; ++j) X[i * boundary + j] = -m->K[inner[i] * full + outer[j]];
  }
  if (modes > 0) find_modes(Kii, Mii, count, modes, modal);
  solve(Kii, X, count, boundary);
  m->n = boundary + modes;
  m->basis = numbers(full * m->n);
  for (size_t j = 0; j < boundary; ++j) m->basis[outer[j] * m->n + j] = 1.0;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < boundary; ++j) m->basis[inner[i] * m->n + j] = X[i * boundary + j];
    for (size_t j = 0; j < modes; ++j)
      m->basis[inner[i] * m->n + boundary + j] = modal[i * modes + j];
  }
  for (int i = 1; i < nodes && !d->displacements; ++i) { // u = z_u - d0~ z_w / 2
    const double x = d->length / d->elements * (node[i] - node[0]);
    for (size_t r = 0; r < full; ++r) {
      double *row = m->basis + r * m->n + 6 * (size_t)(i - 1);
      row[4] -= row[2] * x / 2.0;
      row[5] += row[1] * x / 2.0;
    }
  }
  free(inner);
  free(outer);
  free(Kii);
  free(Mii);
  free(X);
  free(modal);
}

/// The arrays of alphastep/flexible.h as sums over mass points, and points with stresses E du/dx between neighbours.
part part_make(const part_def *d) {
  static const char *const names[PART_NODES] = {"root", "tip", "third", "fourth"};
  static const bool turns[2][PART_NODES] = {{true, true, true, true}, {true, false, false, false}};
  mesh m = {0};
  const int standard[2] = {0, d->elements};
  const int nodes = d->interface_count > 0 ? d->interface_count : 2;
  const int *node = d->interface_count > 0 ? d->interface : standard;
  make_mesh(d, &m);
  reduce(d, node, nodes, &m);
  const size_t n = m.n, points = (size_t)m.points;
  double *P = numbers(3 * n), A0[9] = {0}, *A = numbers(9 * n), *H0 = numbers(3 * n),
         *H = numbers(3 * n * n), J0[9] = {0}, *J1 = numbers(9 * n), *J2 = numbers(9 * n * n),
         *M = numbers(n * n), *K = numbers(n * n), *C = numbers(n * n),
         *psi = numbers(3 * n * points), total = 0.0, position[PART_NODES][3];
  for (int i = 0; i < nodes; ++i)
    asi_set(d->from[0] + d->length / d->elements * node[i], d->from[1], d->from[2], position[i]);
  for (size_t p = 0; p < points; ++p) {
    double *S = psi + 3 * n * p, x[3], a[3], b[3], cross[3];
    const double mass = m.mass[p];
    for (size_t r = 0; r < 3; ++r)
      for (size_t i = 0; i < m.full; ++i)
        for (size_t j = 0; j < n && m.N[(3 * p + r) * m.full + i] != 0.0; ++j)
          S[r * n + j] += m.N[(3 * p + r) * m.full + i] * m.basis[i * n + j];
    asi_sum(m.X[p], -1.0, position[0], x);
    total += mass;
    asi_add_skew(-mass, x, A0, 3);
    asi_add_skew_skew(-mass, x, x, J0, 3);
    for (size_t i = 0; i < n; ++i) {
      asi_set(S[i], S[n + i], S[2 * n + i], a);
      asi_cross(x, a, cross);
      for (size_t r = 0; r < 3; ++r) {
        P[r * n + i] += mass * a[r];
        H0[r * n + i] += mass * cross[r];
      }
      asi_add_skew(-mass, a, A + 9 * i, 3);
      asi_add_skew_skew(-mass, x, a, J1 + 9 * i, 3);
      for (size_t j = 0; j < n; ++j) {
        asi_set(S[j], S[n + j], S[2 * n + j], b);
        asi_cross(a, b, cross);
        for (size_t r = 0; r < 3; ++r) H[(3 * i + r) * n + j] += mass * cross[r];
        asi_add_skew_skew(-mass, a, b, J2 + 9 * (i * n + j), 3);
        M[i * n + j] += mass * asi_dot(a, b);
      }
    }
  }
  square(m.K, m.basis, m.full, n, K);
  for (size_t i = 0; i < n * n; ++i) C[i] = d->alpha * M[i] + d->beta * K[i];
  long *id = calloc(points, sizeof *id);
  const int rings = m.points / CORNERS;
  int(*triangle)[3] = calloc(2 * points, sizeof *triangle), count = 0;
  double *stress = numbers(6 * n * points);
  assert_true(id && triangle);
  for (size_t p = 0; p < points; ++p) id[p] = (long)p + 1;
  const double area = d->stiffness[0] / 7e10, E = d->stiffness[0] / area;
  for (int r = 0; r + 1 < rings; ++r)
    for (int c = 0; c < CORNERS; ++c) {
      const int a = CORNERS * r + c, b = CORNERS * r + (c + 1) % CORNERS, e = a + CORNERS,
                f = b + CORNERS;
      const double l = m.X[e][0] - m.X[a][0];
      memcpy(triangle[count++], (int[3]){a, b, f}, sizeof *triangle);
      memcpy(triangle[count++], (int[3]){a, f, e}, sizeof *triangle);
      for (size_t j = 0; j < n; ++j)
        stress[6 * n * (size_t)a + j] =
            E * (psi[3 * n * (size_t)e + j] - psi[3 * n * (size_t)a + j]) / l;
    }
  const as_flexible_data data = {
      .interface_count = nodes,
      .interface_names = names,
      .interface_positions = (const double(*)[3])position,
      .interface_rotations = turns[d->displacements],
      .mode_count = d->modes,
      .coordinate_count = (int)n,
      .mass = total,
      .P = P,
      .A0 = A0,
      .A = A,
      .H0 = H0,
      .H = H,
      .J0 = J0,
      .J1 = J1,
      .J2 = J2,
      .M = M,
      .K = K,
      .C = d->alpha > 0.0 || d->beta > 0.0 ? C : NULL,
      .mesh_count = m.points,
      .mesh_ids = id,
      .mesh_positions = (const double(*)[3])m.X,
      .mesh_shapes = psi,
      .triangle_count = count,
      .triangles = (const int(*)[3])triangle,
      .stress_count = m.points - CORNERS,
      .stress_ids = id,
      .stress_matrices = stress,
  };
  part out = {NULL, m.mass};
  as_error error = {0};
  if (as_flexible_copy(&data, &out.data, &error)) fail_msg("%s", error.message);
  double *const all[] = {P, A, H0, H, J1, J2, M, K, C, psi, stress, m.N, m.K, m.M, m.basis};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
  free(id);
  free(triangle);
  free(m.X);
  return out;
}

void part_free(part *p) {
  as_flexible_destroy(p->data);
  free(p->mass);
  *p = (part){NULL, NULL};
}

part_def part_blade(double from, double length, int elements, int modes) {
  return (part_def){.from = {from, 0.0, 0.0},
                    .length = length,
                    .elements = elements,
                    .modes = modes,
                    .stiffness = {1.4e7, 4487179.487179487, 4487179.487179487, 200.0,
                                  116.6666666666667, 466.6666666666667},
                    .mass = 0.54,
                    .inertia = {4.5e-6, 1.8e-5}};
}

as_flexible_id part_add(as_builder *b, const char *name, const part *p, const double position[3],
                        const double velocity[3], const double angular_velocity[3]) {
  as_flexible_def def = as_default_flexible_def();
  as_flexible_id id = AS_NO_FLEXIBLE;
  as_error error = {0};
  double frame[3];
  def.name = name;
  def.data = p->data;
  asi_copy(position, def.position);
  asi_sum(position, 1.0, p->data->interface_positions[0], frame);
  asi_copy(velocity, def.velocity);
  asi_add_cross(1.0, angular_velocity, frame, def.velocity);
  asi_copy(angular_velocity, def.angular_velocity);
  if (as_builder_add_flexible(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}
