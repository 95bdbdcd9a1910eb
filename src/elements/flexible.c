/// The equations of a linear flexible body: a floating frame at its first interface node, elastic coordinates z.
///
/// With R of the frame, a = R^T (v' - g), and the arrays of alphastep/flexible.h, G_j = J_j + sum_i z_i J_ij,
/// A = A_0 + sum z_j A_j, H = H_0 + sum z_j H_j, J = J_0 + sum z_j (G_j + J_j^T):
///
/// [FB.2] frame: m (v' - g) + R [ A omega' + P z'' + omega x (A omega + 2 P z') ]
///        omega: A^T a + J omega' + H z'' + omega x J omega + 2 sum z_j' G_j omega
///        z_j:   P_j . a + (H^T omega')_j + (M z'')_j - omega^T G_j omega + 2 sum_i z_i' (H_i^T omega)_j + (K z + C z')_j
///
/// are the forces on it. What depends on v' is M(q) v', the rest, with its sign turned, is f. With accelerations
/// (alpha, beta, gamma) of v, omega and z, b = R^T alpha, the columns of D_q (M v') are
///
/// [FB.3] theta:  -R (A beta + P gamma)~ ;   A^T b~ ;                               P^T b~
///        z_i:    R A_i beta ;               A_i^T b + (G_i + G_i^T) beta + H_i gamma ;  (H_i^T beta)_j
///
/// and of the part that is quadratic in velocities, with c = A omega + 2 P z' and N = 2 sum z_j' G_j,
///
/// [FB.4] theta:  -R (omega x c)~ ;  0 ;  0
///        z_i:    R (omega x A_i omega) ;  omega x (G_i + G_i^T) omega + 2 sum_j z_j' J_ij omega ;  -omega^T J_ij omega
///        omega:  R (omega~ A - c~) ;  omega~ J - (J omega)~ + N ;  -(G_j + G_j^T) omega + 2 sum_i z_i' H_i(:, j)
///        z_i':   2 R (omega x P_i) ;  2 G_i omega ;  2 (H_i^T omega)_j
///
/// Without J_ij they are zero. All sums are over n or n^2 blocks: nothing touches the mesh but loads, each of which reads its own point.
#include "elements/flexible.h"

#include <string.h>

#include "elements/vector.h"

/// Rows of a column: six of the frame, n of z.
static double *frame_of(asi_flexible_block b, int column) { return b.value + b.place[2 * column]; }
static double *z_of(asi_flexible_block b, int column) { return b.value + b.place[2 * column + 1]; }

static const double *matrix_of(const double *all, int j) { return all + 9 * (size_t)j; }

/// G_j, 3 x 3; J_ij is the transpose of J_ji, whose neighbours follow each other.
static void set_G(const as_flexible_data *d, const double *z, int j, double G[9]) {
  const size_t n = (size_t)d->coordinate_count;
  double sum[9] = {0};
  memcpy(G, matrix_of(d->J1, j), 9 * sizeof *G);
  if (d->J2 == NULL) return;
  const double *J = d->J2 + 9 * n * (size_t)j;
  for (size_t i = 0; i < n; ++i, J += 9)
    for (int k = 0; k < 9; ++k) sum[k] += z[i] * J[k];
  asi_add_transposed(1.0, sum, G, 3);
}

static void set_A(const as_flexible_data *d, const double *z, double A[9]) {
  memcpy(A, d->A0, 9 * sizeof *A);
  for (int j = 0; j < d->coordinate_count; ++j)
    for (int k = 0; k < 9; ++k) A[k] += z[j] * d->A[9 * (size_t)j + (size_t)k];
}

/// out += factor (G + G^T) x
static void add_both(double factor, const double *G, const double *x, double *out) {
  double a[3], b[3];
  asi_rotate(G, x, a);
  asi_rotate_back(G, x, b);
  asi_add(factor, a, out);
  asi_add(factor, b, out);
}

/// J, A and 2 sum z_j' G_j; the last of z' may be NULL.
typedef struct inertia_now {
  double A[9], J[9], N[9];
} inertia_now;

static void start_shape(const as_flexible_data *d, const double *z, inertia_now *s) {
  set_A(d, z, s->A);
  memcpy(s->J, d->J0, sizeof s->J);
  memset(s->N, 0, sizeof s->N);
}

/// What z_j and its rate add, with G_j.
static void add_shape(const as_flexible_data *d, const asi_flexible_point *at, int j,
                      const double *G, inertia_now *s) {
  asi_add_matrix(at->z[j], G, s->J, 3);
  asi_add_transposed(at->z[j], matrix_of(d->J1, j), s->J, 3);
  if (at->z1) asi_add_matrix(2.0 * at->z1[j], G, s->N, 3);
}

static void set_shape(const asi_flexible *f, const asi_flexible_point *at, inertia_now *s) {
  start_shape(f->data, at->z, s);
  for (int j = 0; j < f->data->coordinate_count; ++j) {
    double G[9];
    set_G(f->data, at->z, j, G);
    add_shape(f->data, at, j, G, s);
  }
}

/// sum_j x_j H_j(r, :), or of H: `own` is H_0 or zero; n numbers are set.
static void set_H_row(const as_flexible_data *d, const double *x, int r, double factor,
                      const double *own, double *out) {
  const size_t n = (size_t)d->coordinate_count;
  for (size_t j = 0; j < n; ++j) out[j] = own ? own[j] : 0.0;
  for (size_t i = 0; i < n; ++i) {
    const double *H = d->H + (3 * i + (size_t)r) * n, a = factor * x[i];
    for (size_t j = 0; j < n; ++j) out[j] += a * H[j];
  }
}

static void times_P(const as_flexible_data *d, const double *x, double out[3]) {
  const size_t n = (size_t)d->coordinate_count;
  for (size_t r = 0; r < 3; ++r) {
    out[r] = 0.0;
    for (size_t j = 0; j < n; ++j) out[r] += d->P[r * n + j] * x[j];
  }
}

static void get_P(const as_flexible_data *d, int j, double out[3]) {
  for (int r = 0; r < 3; ++r) out[r] = d->P[r * d->coordinate_count + j];
}

void asi_flexible_mass(const asi_flexible *f, const asi_flexible_point *at, asi_flexible_block M) {
  const as_flexible_data *d = f->data;
  const int n = d->coordinate_count;
  inertia_now s;
  double RA[9];
  set_shape(f, &(asi_flexible_point){at->R, at->omega, at->z, NULL}, &s);
  asi_multiply(at->R, s.A, RA);
  for (int c = 0; c < 3; ++c) {
    double *move = frame_of(M, c), *turn = frame_of(M, 3 + c);
    for (int r = 0; r < 3; ++r) {
      move[r] += r == c ? d->mass : 0.0;
      move[3 + r] += RA[3 * c + r];
      turn[r] += RA[3 * r + c];
      turn[3 + r] += s.J[3 * r + c];
    }
    set_H_row(d, at->z, c, 1.0, d->H0 + c * n, z_of(M, 3 + c));
  }
  for (int j = 0; j < n; ++j) {
    double P[3], *column = frame_of(M, 6 + j);
    get_P(d, j, P);
    asi_rotate(at->R, P, column);
    for (int c = 0; c < 3; ++c) {
      z_of(M, c)[j] = column[c];
      column[3 + c] = z_of(M, 3 + c)[j];
    }
    memcpy(z_of(M, 6 + j), d->M + (size_t)j * (size_t)n, (size_t)n * sizeof(double));
  }
}

// [FB.3]
void asi_flexible_add_mass_rate(const asi_flexible *f, const asi_flexible_point *at, double factor,
                                const double *a, const double *alpha, const double *z2,
                                asi_flexible_block out) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  double b[3], A[9], e[3], turned[9], Rb[9] = {0};
  asi_rotate_back(at->R, a, b);
  set_A(d, at->z, A);
  asi_rotate(A, alpha, e);
  if (z2) {
    double Pz[3];
    times_P(d, z2, Pz);
    asi_add(1.0, Pz, e);
  }
  asi_times_skew(at->R, e, turned); // R e~
  double At[9];
  for (int k = 0; k < 9; ++k) At[k] = A[3 * (k % 3) + k / 3];
  asi_times_skew(At, b, Rb);
  for (int c = 0; c < 3; ++c) {
    double *column = frame_of(out, 3 + c), *z = z_of(out, 3 + c);
    for (int r = 0; r < 3; ++r) {
      column[r] -= factor * turned[3 * r + c];
      column[3 + r] += factor * Rb[3 * r + c];
    }
    // P^T b~: column c is P^T (b x e_c)
    double unit[3] = {c == 0, c == 1, c == 2}, x[3];
    asi_cross(b, unit, x);
    for (size_t j = 0; j < n; ++j)
      z[j] += factor * (d->P[j] * x[0] + d->P[n + j] * x[1] + d->P[2 * n + j] * x[2]);
  }
  const bool turns = alpha[0] != 0.0 || alpha[1] != 0.0 || alpha[2] != 0.0;
  for (size_t i = 0; i < n; ++i) {
    double *column = frame_of(out, 6 + (int)i), *z = z_of(out, 6 + (int)i);
    const double *Ai = matrix_of(d->A, (int)i), *H = d->H + 3 * i * n;
    double x[3];
    asi_rotate_back(Ai, b, x);
    asi_add(factor, x, column + 3);
    for (int r = 0; r < 3 && z2; ++r) {
      double sum = 0.0;
      for (size_t j = 0; j < n; ++j) sum += H[(size_t)r * n + j] * z2[j];
      column[3 + r] += factor * sum;
    }
    if (!turns) continue;
    double G[9], y[3];
    set_G(d, at->z, (int)i, G);
    add_both(factor, G, alpha, column + 3);
    asi_rotate(Ai, alpha, x);
    asi_rotate(at->R, x, y);
    asi_add(factor, y, column);
    for (size_t j = 0; j < n; ++j)
      z[j] += factor * (H[j] * alpha[0] + H[n + j] * alpha[1] + H[2 * n + j] * alpha[2]);
  }
}

void asi_flexible_force(const asi_flexible *f, const asi_flexible_point *at, const double *gravity,
                        double *frame, double *z) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  const double *w = at->omega;
  double A[9], g[3], c[3], Pz[3], Jw[3], Nw[3] = {0}, x[3], y[3];
  set_A(d, at->z, A);
  asi_rotate_back(at->R, gravity, g);
  times_P(d, at->z1, Pz);
  asi_rotate(A, w, c);
  asi_add(2.0, Pz, c);
  asi_cross(w, c, x);
  asi_rotate(at->R, x, y);
  asi_add(d->mass, gravity, frame);
  asi_add(-1.0, y, frame);
  asi_rotate_back(A, g, x);
  asi_add(1.0, x, frame + 3);
  for (size_t j = 0; j < n; ++j)
    z[j] = d->P[j] * g[0] + d->P[n + j] * g[1] + d->P[2 * n + j] * g[2];
  const bool turns = w[0] != 0.0 || w[1] != 0.0 || w[2] != 0.0;
  asi_rotate(d->J0, w, Jw);
  for (size_t i = 0; i < n; ++i) {
    const double *K = d->K + i * n, *C = d->C ? d->C + i * n : NULL, *H = d->H + 3 * i * n;
    const double zi = at->z[i], vi = at->z1[i];
    for (size_t j = 0; j < n; ++j) z[j] -= K[j] * zi;
    for (size_t j = 0; j < n && C; ++j) z[j] -= C[j] * vi;
    if (!turns) continue;
    double G[9];
    set_G(d, at->z, (int)i, G);
    asi_rotate(G, w, x);
    z[i] += asi_dot(w, x);
    asi_add(zi, x, Jw);
    asi_add(2.0 * vi, x, Nw);
    asi_rotate_back(matrix_of(d->J1, (int)i), w, x);
    asi_add(zi, x, Jw);
    for (int r = 0; r < 3; ++r) {
      const double factor = 2.0 * vi * w[r];
      for (size_t j = 0; j < n; ++j) z[j] -= factor * H[(size_t)r * n + j];
    }
  }
  asi_add_cross(-1.0, w, Jw, frame + 3);
  asi_add(-1.0, Nw, frame + 3);
}

/// The column of z_i' of [FB.4] and what its row has in those of omega, with the sign turned.
static void add_by_rate(const asi_flexible *f, const asi_flexible_point *at, size_t i,
                        const double *G, asi_flexible_block f_v) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  const double *w = at->omega, *H = d->H + 3 * i * n, *C = d->C ? d->C + i * n : NULL;
  double P[3], x[3], y[3] = {0}, *column = frame_of(f_v, 6 + (int)i), *z = z_of(f_v, 6 + (int)i);
  add_both(1.0, G, w, y);
  for (int k = 0; k < 3; ++k) z_of(f_v, 3 + k)[i] += y[k];
  get_P(d, (int)i, P);
  asi_cross(w, P, x);
  asi_rotate(at->R, x, y);
  asi_add(-2.0, y, column);
  asi_rotate(G, w, x);
  asi_add(-2.0, x, column + 3);
  for (size_t j = 0; j < n; ++j)
    z[j] -= 2.0 * (H[j] * w[0] + H[n + j] * w[1] + H[2 * n + j] * w[2]);
  for (size_t j = 0; j < n && C; ++j) z[j] -= C[j];
}

/// The columns of omega of [FB.4], with the sign turned.
static void add_by_omega(const asi_flexible *f, const asi_flexible_point *at, const inertia_now *s,
                         const double *c, asi_flexible_block f_v) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  const double *w = at->omega;
  double inner[9] = {0}, moved[9], turned[9], Jw[3];
  asi_add_skew_times(1.0, w, s->A, inner, 3);
  asi_add_skew(-1.0, c, inner, 3);
  asi_multiply(at->R, inner, moved);
  asi_rotate(s->J, w, Jw);
  memcpy(turned, s->N, sizeof turned);
  asi_add_skew_times(1.0, w, s->J, turned, 3);
  asi_add_skew(-1.0, Jw, turned, 3);
  for (int k = 0; k < 3; ++k) {
    double *column = frame_of(f_v, 3 + k), *z = z_of(f_v, 3 + k);
    for (int r = 0; r < 3; ++r) {
      column[r] -= moved[3 * r + k];
      column[3 + r] -= turned[3 * r + k];
    }
    for (size_t i = 0; i < n; ++i) {
      const double *H = d->H + (3 * i + (size_t)k) * n, factor = 2.0 * at->z1[i];
      for (size_t j = 0; j < n; ++j) z[j] -= factor * H[j];
    }
  }
}

/// The column of z_i of [FB.4], with the sign turned.
static void add_by_z(const asi_flexible *f, const asi_flexible_point *at, size_t i, const double *G,
                     asi_flexible_block f_q) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  const double *w = at->omega;
  double x[3], y[3], ww[9], both[3] = {0}, sum[9] = {0}, *column = frame_of(f_q, 6 + (int)i),
                            *z = z_of(f_q, 6 + (int)i);
  asi_rotate(matrix_of(d->A, (int)i), w, x);
  asi_cross(w, x, y);
  asi_rotate(at->R, y, x);
  asi_add(-1.0, x, column);
  add_both(1.0, G, w, both);
  asi_add_cross(-1.0, w, both, column + 3);
  if (d->J2 == NULL) return;
  for (int k = 0; k < 9; ++k) ww[k] = w[k / 3] * w[k % 3];
  const double *J = d->J2 + 9 * n * i;
  for (size_t j = 0; j < n; ++j, J += 9) {
    double square = 0.0; // omega^T J_ij omega
    for (int k = 0; k < 9; ++k) {
      sum[k] += at->z1[j] * J[k];
      square += ww[k] * J[k];
    }
    z[j] += square;
  }
  asi_rotate(sum, w, x);
  asi_add(-2.0, x, column + 3);
}

/// Columns of theta of [FB.4] and of K, with the sign turned.
static void add_by_theta_and_K(const asi_flexible *f, const asi_flexible_point *at, const double *c,
                               asi_flexible_block f_q) {
  const size_t n = (size_t)f->data->coordinate_count;
  double x[3], turned[9];
  asi_cross(at->omega, c, x);
  asi_times_skew(at->R, x, turned);
  for (int k = 0; k < 3; ++k)
    for (int r = 0; r < 3; ++r) frame_of(f_q, 3 + k)[r] += turned[3 * r + k];
  for (size_t i = 0; i < n; ++i) {
    double *z = z_of(f_q, 6 + (int)i);
    const double *K = f->data->K + i * n;
    for (size_t j = 0; j < n; ++j) z[j] -= K[j];
  }
}

void asi_flexible_add_tangents(const asi_flexible *f, const asi_flexible_point *at,
                               const double *gravity, asi_flexible_block f_q,
                               asi_flexible_block f_v) {
  static const double none[3] = {0.0, 0.0, 0.0};
  const as_flexible_data *d = f->data;
  const double *w = at->omega;
  const bool turns = w[0] != 0.0 || w[1] != 0.0 || w[2] != 0.0;
  inertia_now s;
  double c[3], Pz[3];
  start_shape(d, at->z, &s);
  for (int i = 0; i < d->coordinate_count && (turns || f_v.value); ++i) {
    double G[9];
    set_G(d, at->z, i, G);
    add_shape(d, at, i, G, &s);
    if (f_v.value) add_by_rate(f, at, (size_t)i, G, f_v);
    if (f_q.value && turns) add_by_z(f, at, (size_t)i, G, f_q);
  }
  times_P(d, at->z1, Pz);
  asi_rotate(s.A, w, c);
  asi_add(2.0, Pz, c);
  if (f_v.value) add_by_omega(f, at, &s, c, f_v);
  if (f_q.value == NULL) return;
  add_by_theta_and_K(f, at, c, f_q);
  // Weight is M times gravity: its D_q that of M v'.
  asi_flexible_add_mass_rate(f, at, 1.0, gravity, none, NULL, f_q);
}

// ---- loads ------------------------------------------------------------------------------------------

void asi_flexible_deflection(const as_flexible_data *d, int point, const double *z, double out[3]) {
  const size_t n = (size_t)d->coordinate_count;
  const double *shape = d->mesh_shapes + 3 * n * (size_t)point;
  for (size_t r = 0; r < 3; ++r) {
    out[r] = 0.0;
    for (size_t j = 0; j < n; ++j) out[r] += shape[r * n + j] * z[j];
  }
}

/// D_q of a load: with b its force in the frame, p its place, a load of the world turns b by b~.
static void add_load_rate(const as_flexible_data *d, const asi_flexible_load *load, const double *R,
                          const double *b, const double *p, asi_flexible_block f_q) {
  const size_t n = (size_t)d->coordinate_count;
  const double *shape = d->mesh_shapes + 3 * n * (size_t)load->point;
  for (int k = 0; k < 3; ++k) {
    const double unit[3] = {k == 0, k == 1, k == 2};
    double *column = frame_of(f_q, 3 + k), *z = z_of(f_q, 3 + k), turned[3], x[3];
    asi_cross(b, unit, turned); // b~ e
    if (load->follows) {
      asi_rotate(R, turned, x);
      asi_add(-1.0, x, column);
      continue;
    }
    asi_add_cross(1.0, p, turned, column + 3);
    for (size_t j = 0; j < n; ++j)
      z[j] += shape[j] * turned[0] + shape[n + j] * turned[1] + shape[2 * n + j] * turned[2];
  }
  for (size_t i = 0; i < n; ++i) {
    const double psi[3] = {shape[i], shape[n + i], shape[2 * n + i]};
    asi_add_cross(1.0, psi, b, frame_of(f_q, 6 + (int)i) + 3);
  }
}

int asi_flexible_add_loads(const asi_flexible *f, const asi_flexible_point *at, double t,
                           double *frame, double *z, const asi_flexible_block *f_q,
                           const asi_flexible_power *power) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  for (int i = 0; i < f->n_loads; ++i) {
    const asi_flexible_load *load = &f->load[i];
    double value[3] = {1.0, 0.0, 0.0}, b[3], F[3] = {0}, p[3];
    const int code = load->factor.curve ? asi_curve_evaluate(load->factor.curve, t, value) : 0;
    if (code) return code;
    asi_add(value[0], load->force, F);
    asi_copy(F, b);
    if (load->follows)
      asi_rotate(at->R, b, F);
    else
      asi_rotate_back(at->R, F, b);
    asi_flexible_deflection(d, load->point, at->z, p);
    asi_add(1.0, d->mesh_positions[load->point], p);
    asi_add(-1.0, d->interface_positions[0], p);
    if (power) {
      double moved[3], seen[3];
      asi_flexible_deflection(d, load->point, at->z1, moved);
      asi_add_cross(1.0, at->omega, p, moved);
      asi_rotate_back(at->R, power->v, seen);
      *power->sum += asi_dot(b, moved) + asi_dot(b, seen);
    }
    if (f_q) add_load_rate(d, load, at->R, b, p, *f_q);
    if (frame == NULL) continue;
    asi_add(1.0, F, frame);
    asi_add_cross(1.0, p, b, frame + 3);
    const double *shape = d->mesh_shapes + 3 * n * (size_t)load->point;
    for (size_t j = 0; j < n; ++j)
      z[j] += shape[j] * b[0] + shape[n + j] * b[1] + shape[2 * n + j] * b[2];
  }
  return 0;
}

// ---- quantities -------------------------------------------------------------------------------------

/// H z'
static void times_H(const asi_flexible *f, const asi_flexible_point *at, double out[3]) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  asi_set(0.0, 0.0, 0.0, out);
  for (size_t r = 0; r < 3; ++r)
    for (size_t j = 0; j < n; ++j) out[r] += d->H0[r * n + j] * at->z1[j];
  for (size_t i = 0; i < n; ++i)
    for (size_t r = 0; r < 3; ++r)
      for (size_t j = 0; j < n; ++j) out[r] += at->z[i] * d->H[(3 * i + r) * n + j] * at->z1[j];
}

void asi_flexible_momentum(const asi_flexible *f, const asi_flexible_point *at, const double *v,
                           double linear[3], double angular[3]) {
  inertia_now s;
  double b[3], x[3], y[3];
  set_shape(f, &(asi_flexible_point){at->R, at->omega, at->z, NULL}, &s);
  asi_rotate_back(at->R, v, b);
  asi_rotate(s.A, at->omega, x);
  times_P(f->data, at->z1, y);
  asi_add(1.0, y, x);
  asi_rotate(at->R, x, linear);
  asi_add(f->data->mass, v, linear);
  asi_rotate_back(s.A, b, angular);
  asi_rotate(s.J, at->omega, x);
  asi_add(1.0, x, angular);
  times_H(f, at, x);
  asi_add(1.0, x, angular);
}

static double square(const double *K, const double *x, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) sum += x[i] * K[i * n + j] * x[j];
  return sum;
}

// m v^2 + 2 b . (A omega + P z') + omega . (J omega + 2 H z') + z' . M z'
double asi_flexible_kinetic(const asi_flexible *f, const asi_flexible_point *at, const double *v) {
  inertia_now s;
  double b[3], moved[3], Pz[3], turned[3], Hz[3];
  set_shape(f, &(asi_flexible_point){at->R, at->omega, at->z, NULL}, &s);
  asi_rotate_back(at->R, v, b);
  asi_rotate(s.A, at->omega, moved);
  times_P(f->data, at->z1, Pz);
  asi_add(1.0, Pz, moved);
  asi_rotate(s.J, at->omega, turned);
  times_H(f, at, Hz);
  asi_add(2.0, Hz, turned);
  return (f->data->mass * asi_dot(v, v) + 2.0 * asi_dot(b, moved) + asi_dot(at->omega, turned) +
          square(f->data->M, at->z1, (size_t)f->data->coordinate_count)) /
         2.0;
}

double asi_flexible_strain_energy(const asi_flexible *f, const double *z) {
  return square(f->data->K, z, (size_t)f->data->coordinate_count) / 2.0;
}

double asi_flexible_dissipation(const asi_flexible *f, const double *z1) {
  return f->data->C ? square(f->data->C, z1, (size_t)f->data->coordinate_count) : 0.0;
}

// A = -(m c)~
void asi_flexible_center(const asi_flexible *f, const double *z, double out[3]) {
  double A[9];
  set_A(f->data, z, A);
  asi_set((A[5] - A[7]) / 2.0, (A[6] - A[2]) / 2.0, (A[1] - A[3]) / 2.0, out);
}
