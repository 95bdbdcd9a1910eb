/// Reductions of meshes: frequencies against the full matrices, rigid motion, inertia against sums over nodes, and what is refused.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "brick_mesh.h"

enum { MOST = 1000 };

/// Both ends of a mesh as interfaces of one kind.
typedef struct ends {
  as_interface interface[2];
  as_reduction_def def;
} ends;

static ends *hold(const brick_mesh *m, as_attachment kind, int modes) {
  ends *e = calloc(1, sizeof *e);
  const long *nodes[] = {m->first, m->last};
  for (int i = 0; i < 2; ++i)
    e->interface[i] = (as_interface){.name = i ? "right" : "left",
                                     .attachment = kind,
                                     .node_count = m->end_count,
                                     .nodes = nodes[i]};
  e->def = as_default_reduction_def();
  e->def.mass = m->M;
  e->def.stiffness = m->K;
  e->def.mesh = &m->mesh;
  e->def.interfaces = e->interface;
  e->def.interface_count = 2;
  e->def.modes = modes;
  return e;
}

static as_flexible_data *reduce(const as_reduction_def *def, as_reduction_info *info) {
  as_flexible_data *d = NULL;
  as_error error = {0};
  if (as_reduce(def, &d, info, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_flexible_check(d, &error), AS_OK);
  return d;
}

static void near(double a, double b, double tolerance) {
  if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g +- %.3g", a, b, tolerance);
}

// ---- frequencies ------------------------------------------------------------------------------------

/// The first eight frequencies, free in space, against the full matrices.
static void compare_free(const brick_mesh *m, const as_flexible_data *d, int count,
                         double tolerance) {
  double *full = calloc(MOST, sizeof *full), *own = calloc(MOST, sizeof *own);
  as_error error;
  brick_mesh_frequencies(m, NULL, full);
  assert_int_equal(as_flexible_frequencies(d, true, own, &error), AS_OK);
  assert_true(count <= d->coordinate_count);
  for (int i = 0; i < count; ++i) near(own[i] / full[i + 6], 1.0, tolerance);
  free(full);
  free(own);
}

/// The same with one end of the mesh held, as the frame of the body is then.
static void compare_clamped(const brick_mesh *m, const as_flexible_data *d, int count,
                            double tolerance) {
  double *full = calloc(MOST, sizeof *full), *own = calloc(MOST, sizeof *own);
  bool *held = calloc((size_t)m->K->rows, sizeof *held);
  as_error error;
  for (int i = 0; i < m->mesh.node_count; ++i)
    for (int d6 = 0; d6 < 6; ++d6)
      if (m->mesh.positions[i][0] == 0.0 && m->mesh.unknowns[i][d6] >= 0)
        held[m->mesh.unknowns[i][d6]] = true;
  brick_mesh_frequencies(m, held, full);
  assert_int_equal(as_flexible_frequencies(d, false, own, &error), AS_OK);
  for (int i = 0; i < count; ++i) near(own[i] / full[i], 1.0, tolerance);
  free(full);
  free(own);
  free(held);
}

/// A beam with rotations: the more modes, the better, and with all of them it is the full one.
static void a_beam_has_its_frequencies(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_beam(16);
  const int modes[] = {8, 24, 90};
  const double free_within[] = {5e-3, 1.5e-3, 1e-8}, clamped_within[] = {5e-3, 5e-4, 1e-8};
  for (int i = 0; i < 3; ++i) {
    ends *e = hold(&m, AS_ATTACH_NODE, modes[i]);
    as_flexible_data *d = reduce(&e->def, NULL);
    assert_int_equal(d->mode_count, modes[i]);
    assert_int_equal(d->coordinate_count, 6 + modes[i]);
    compare_free(&m, d, i == 2 ? 60 : 4, free_within[i]);
    compare_clamped(&m, d, i == 2 ? 60 : 4, clamped_within[i]);
    as_flexible_destroy(d);
    free(e);
  }
  brick_mesh_free(&m);
}

/// Fixed-interface modes are those of the full matrices with all interfaces held.
static void modes_are_those_of_the_held_mesh(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(8, 2, 2, 0.4, 0.05, 0.05, false); // square: frequencies in pairs
  ends *e = hold(&m, AS_ATTACH_RIGID, 12);
  double *full = calloc(MOST, sizeof *full);
  bool *held = calloc((size_t)m.K->rows, sizeof *held);
  for (int i = 0; i < m.mesh.node_count; ++i)
    for (int c = 0; c < 3; ++c)
      held[3 * i + c] = m.mesh.positions[i][0] == 0.0 || fabs(m.mesh.positions[i][0] - 0.4) < 1e-9;
  const int n = brick_mesh_frequencies(&m, held, full);
  as_flexible_data *d = reduce(&e->def, NULL);
  assert_int_equal(d->mode_count, 12);
  for (int i = 0; i < 12; ++i) {
    const int at = (6 + i) * (d->coordinate_count + 1);
    near(sqrt(d->K[at]) / (2.0 * acos(-1.0)) / full[i], 1.0, 1e-9);
    near(d->M[at], 1.0, 1e-9);
  }
  as_flexible_destroy(d);
  e->def.modes = -1; // up to a frequency
  e->def.frequency = 0.5 * (full[20] + full[21]);
  d = reduce(&e->def, NULL);
  assert_int_equal(d->mode_count, 21);
  near(sqrt(d->K[26 * 28]) / (2.0 * acos(-1.0)) / full[20], 1.0, 1e-9);
  as_flexible_destroy(d);
  e->def.frequency = 0.9 * full[0];
  d = reduce(&e->def, NULL);
  assert_int_equal(d->mode_count, 0);
  as_flexible_destroy(d);
  e->def.frequency = (double)NAN; // more than there are
  e->def.modes = 4000;
  d = reduce(&e->def, NULL);
  assert_int_equal(d->mode_count, n);
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(full);
  free(held);
  free(e);
}

/// Averages leave the ends as soft as they are: with all modes the free body is the full one. Rigid ends make it stiffer.
static void averages_do_not_stiffen(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(6, 2, 1, 0.3, 0.06, 0.03, false);
  double *full = calloc(MOST, sizeof *full), *own = calloc(MOST, sizeof *own);
  as_error error;
  const int n = brick_mesh_frequencies(&m, NULL, full);
  ends *e = hold(&m, AS_ATTACH_AVERAGE, 4000);
  as_flexible_data *d = reduce(&e->def, NULL);
  assert_int_equal(d->coordinate_count, n - 6);
  compare_free(&m, d, n - 20, 1e-7);
  as_flexible_destroy(d);
  e->def.modes = 20;
  d = reduce(&e->def, NULL);
  compare_free(&m, d, 4, 1e-2);
  as_flexible_destroy(d);
  e->interface[1].attachment = AS_ATTACH_RIGID; // one of each
  e->def.modes = 4000;
  d = reduce(&e->def, NULL);
  assert_int_equal(as_flexible_frequencies(d, true, own, &error), AS_OK);
  for (int i = 0; i < 4; ++i) {
    assert_true(own[i] > full[6 + i] * (1.0 - 1e-9));
    near(own[i] / full[6 + i], 1.0, 0.05);
  }
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(full);
  free(own);
  free(e);
}

/// A node of a solid has displacements only: three coordinates. With all modes kept the body with its frame held is the full one.
static void an_interface_may_be_a_node_of_a_solid(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(5, 1, 1, 0.3, 0.06, 0.03, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 4000);
  const long tip = m.last[2];
  e->interface[1] = (as_interface){.name = "tip", .node_count = 1, .nodes = &tip};
  as_flexible_data *d = reduce(&e->def, NULL);
  assert_false(d->interface_rotations[1]);
  assert_int_equal(d->coordinate_count, m.K->rows - 12);
  assert_int_equal(d->mode_count, m.K->rows - 15);
  compare_clamped(&m, d, 40, 1e-8);
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(e);
}

/// Which interface is the frame does not change the space of shapes: the free body has the same frequencies, to round-off.
static void the_frame_may_be_any_interface(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(6, 2, 1, 0.3, 0.06, 0.03, false);
  const double at[3] = {0.33, -0.05, 0.02};
  const as_attachment kinds[] = {AS_ATTACH_RIGID, AS_ATTACH_AVERAGE};
  for (int k = 0; k < 2; ++k) {
    ends *e = hold(&m, kinds[k], 6);
    double f[2][12];
    as_error error;
    e->interface[1].position = at;
    for (int turned = 0; turned < 2; ++turned) {
      as_flexible_data *d = reduce(&e->def, NULL);
      assert_int_equal(d->coordinate_count, 12);
      assert_int_equal(as_flexible_frequencies(d, true, f[turned], &error), AS_OK);
      as_flexible_destroy(d);
      const as_interface kept = e->interface[0];
      e->interface[0] = e->interface[1];
      e->interface[1] = kept;
    }
    for (int i = 0; i < 12; ++i) near(f[1][i] / f[0][i], 1.0, 1e-9);
    free(e);
  }
  brick_mesh_free(&m);
}

// ---- shapes -----------------------------------------------------------------------------------------

static int point_of(const as_flexible_data *d, long id) {
  for (int i = 0; i < d->mesh_count; ++i)
    if (d->mesh_ids[i] == id) return i;
  return -1;
}

static double shape_at(const as_flexible_data *d, int point, int axis, int j) {
  return d->mesh_shapes[((ptrdiff_t)point * 3 + axis) * d->coordinate_count + j];
}

/// A node of a rigid set moves as the body H_0 exp(d0 + z) does, to first order, and the frame's set not at all.
static void rigid_sets_follow_log_coordinates(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(4, 1, 2, 0.5, 0.05, 0.08, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 3);
  const double at[3] = {0.53, -0.02, 0.07}; // away from its nodes
  e->interface[1].position = at;
  as_flexible_data *d = reduce(&e->def, NULL);
  near(d->interface_positions[1][1], -0.02, 0.0);
  double p[3];
  for (int c = 0; c < 3; ++c) p[c] = at[c] - d->interface_positions[0][c];
  for (int i = 0; i < m.end_count; ++i) {
    const int left = point_of(d, m.first[i]), right = point_of(d, m.last[i]);
    for (int j = 0; j < d->coordinate_count; ++j) {
      double expected[3] = {0};
      if (j < 3) expected[j] = 1.0;
      if (j >= 3 && j < 6) { // e x (X - X_i) - p x e / 2
        const int a = j - 3, b = (a + 1) % 3, c = (a + 2) % 3;
        const double *X = d->mesh_positions[right];
        expected[c] = X[b] - at[b] + 0.5 * p[b];
        expected[b] = -(X[c] - at[c]) - 0.5 * p[c];
      }
      for (int a = 0; a < 3; ++a) {
        near(shape_at(d, left, a, j), 0.0, 0.0);
        near(shape_at(d, right, a, j), expected[a], 1e-14);
      }
    }
  }
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(e);
}

/// The mean of an averaging set moves as its interface node does, wherever that is; held, it does not.
static void averages_move_with_their_nodes(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(4, 2, 2, 0.5, 0.05, 0.08, false);
  ends *e = hold(&m, AS_ATTACH_AVERAGE, 5);
  const double elsewhere[3] = {0.52, 0.01, -0.03};
  double weights[9];
  for (int i = 0; i < 9; ++i) weights[i] = 1.0 + i;
  e->interface[1].weights = weights;
  for (int moved = 0; moved < 2; ++moved) {
    e->interface[1].position = moved ? elsewhere : NULL;
    as_flexible_data *d = reduce(&e->def, NULL);
    double centre[3] = {0};
    for (int i = 0; i < 9; ++i)
      for (int c = 0; c < 3; ++c)
        centre[c] += weights[i] / 45.0 * d->mesh_positions[point_of(d, m.last[i])][c];
    const double *from = d->interface_positions[0], *to = d->interface_positions[1];
    for (int c = 0; c < 3; ++c) near(to[c], moved ? elsewhere[c] : centre[c], 1e-14);
    for (int j = 0; j < d->coordinate_count; ++j)
      for (int a = 0; a < 3; ++a) {
        double left = 0.0, right = 0.0;
        for (int i = 0; i < 9; ++i) {
          left += shape_at(d, point_of(d, m.first[i]), a, j);
          right += weights[i] / 45.0 * shape_at(d, point_of(d, m.last[i]), a, j);
        }
        // columns of rotations: the node moves by -p x e / 2, the mean by e x (X_c - X_i) more
        double expected = j == a ? 1.0 : 0.0;
        if (j >= 3 && j < 6) {
          const int b = (j - 3 + 1) % 3, c = (j - 3 + 2) % 3;
          if (a == c) expected = 0.5 * (to[b] - from[b]) + centre[b] - to[b];
          if (a == b) expected = -0.5 * (to[c] - from[c]) - (centre[c] - to[c]);
        }
        const double size = j < 6 ? 1.0 : 10.0;
        near(left, 0.0, 1e-9 * size);
        near(right, expected, 1e-9 * size);
      }
    as_flexible_destroy(d);
  }
  brick_mesh_free(&m);
  free(e);
}

// ---- inertia ----------------------------------------------------------------------------------------

static double box_inertia(double m, double a, double b) { return m / 12.0 * (a * a + b * b); }

/// A box has its mass, its centre and its moments: trilinear shapes hold them exactly.
static void a_box_has_its_moments(void **state) {
  (void)state;
  const double a = 0.3, b = 0.04, c = 0.05, mass = 7800.0 * a * b * c;
  brick_mesh m = brick_mesh_make(5, 2, 3, a, b, c, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 2);
  as_reduction_info info;
  as_flexible_data *d = reduce(&e->def, &info);
  const double expected[] = {box_inertia(mass, b, c), box_inertia(mass, c, a),
                             box_inertia(mass, a, b)};
  const double centre[] = {a / 2.0, b / 2.0, c / 2.0};
  near(info.mass, mass, 1e-12 * mass);
  near(d->mass, mass, 1e-12 * mass);
  for (int i = 0; i < 3; ++i) {
    near(info.centre[i], centre[i], 1e-12 * a);
    for (int j = 0; j < 3; ++j)
      near(info.inertia[i][j], i == j ? expected[i] : 0.0, 1e-12 * expected[2]);
  }
  assert_true(info.residual < 1e-12);
  assert_int_equal(info.nodes, 72);
  assert_int_equal(info.unknowns, 216);
  assert_int_equal(info.modes, 2);
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(e);
}

static double any(unsigned *seed) {
  *seed = *seed * 1103515245u + 12345u;
  return (double)(*seed >> 16 & 0x7fff) / 16384.0 - 1.0;
}

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; ++i)
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/// Momentum, angular momentum about the frame and energy by the arrays, for v and omega of the frame, z and z'.
static void by_arrays(const as_flexible_data *d, const double v[3], const double w[3],
                      const double *z, const double *rate, double p[3], double L[3], double *T) {
  const int n = d->coordinate_count;
  double A[9], J[9], P[3] = {0}, H[3] = {0};
  memcpy(A, d->A0, sizeof A);
  memcpy(J, d->J0, sizeof J);
  *T = 0.0;
  for (int j = 0; j < n; ++j)
    for (int a = 0; a < 3; ++a) {
      P[a] += d->P[a * n + j] * rate[j];
      H[a] += d->H0[a * n + j] * rate[j];
      for (int b = 0; b < 3; ++b) {
        A[3 * a + b] += z[j] * d->A[9 * j + 3 * a + b];
        J[3 * a + b] += z[j] * (d->J1[9 * j + 3 * a + b] + d->J1[9 * j + 3 * b + a]);
      }
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      *T += 0.5 * rate[i] * d->M[i * n + j] * rate[j];
      for (int a = 0; a < 3; ++a) {
        H[a] += z[i] * d->H[(3 * i + a) * n + j] * rate[j];
        for (int b = 0; b < 3; ++b)
          J[3 * a + b] += z[i] * z[j] * d->J2[(i * n + j) * 9 + 3 * a + b];
      }
    }
  for (int a = 0; a < 3; ++a) {
    p[a] = d->mass * v[a] + P[a];
    L[a] = H[a];
    for (int b = 0; b < 3; ++b) {
      p[a] += A[3 * a + b] * w[b];
      L[a] += A[3 * b + a] * v[b] + J[3 * a + b] * w[b];
    }
  }
  for (int a = 0; a < 3; ++a) {
    *T += 0.5 * (d->mass * v[a] * v[a] + 2.0 * v[a] * P[a] + 2.0 * w[a] * H[a]);
    for (int b = 0; b < 3; ++b) *T += v[a] * A[3 * a + b] * w[b] + 0.5 * w[a] * J[3 * a + b] * w[b];
  }
}

/// With its mass at the nodes a body is a heap of points: v_k = v + omega x (X_k + u_k) + u_k'.
static void arrays_are_sums_over_points(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(4, 1, 1, 0.4, 0.05, 0.06, true);
  ends *e = hold(&m, AS_ATTACH_RIGID, 5);
  as_flexible_data *d = reduce(&e->def, NULL);
  const int n = d->coordinate_count;
  double z[16], rate[16], v[3], w[3], p[3] = {0}, L[3] = {0}, T = 0.0, own_p[3], own_L[3], own_T;
  unsigned seed = 5;
  assert_true(n <= 16);
  assert_int_equal(d->mesh_count, m.mesh.node_count);
  for (int j = 0; j < n; ++j) {
    z[j] = 0.1 * any(&seed);
    rate[j] = any(&seed);
  }
  for (int c = 0; c < 3; ++c) {
    v[c] = 3.0 * any(&seed);
    w[c] = 10.0 * any(&seed);
  }
  for (int k = 0; k < d->mesh_count; ++k) {
    double r[3], du[3], spin[3], turn[3];
    for (int c = 0; c < 3; ++c) {
      r[c] = d->mesh_positions[k][c] - d->interface_positions[0][c];
      du[c] = 0.0;
      for (int j = 0; j < n; ++j) {
        r[c] += shape_at(d, k, c, j) * z[j];
        du[c] += shape_at(d, k, c, j) * rate[j];
      }
    }
    cross(w, r, spin);
    const double mass = m.M->value[m.M->col_start[m.mesh.unknowns[k][0]]];
    for (int c = 0; c < 3; ++c) {
      spin[c] += v[c] + du[c];
      p[c] += mass * spin[c];
      T += 0.5 * mass * spin[c] * spin[c];
    }
    cross(r, spin, turn);
    for (int c = 0; c < 3; ++c) L[c] += mass * turn[c];
  }
  by_arrays(d, v, w, z, rate, own_p, own_L, &own_T);
  for (int c = 0; c < 3; ++c) {
    near(own_p[c], p[c], 1e-12 * 100.0);
    near(own_L[c], L[c], 1e-12 * 100.0);
  }
  near(own_T / T, 1.0, 1e-12);
  as_flexible_destroy(d);
  e->def.lower_order = true;
  d = reduce(&e->def, NULL);
  assert_null(d->J2);
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(e);
}

/// Matrices in mm, N, t give the same body as in m, N, kg; rotations too.
static void units_do_not_matter(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_beam(6);
  ends *e = hold(&m, AS_ATTACH_NODE, 4);
  as_flexible_data *d = reduce(&e->def, NULL);
  double(*X)[3] = calloc((size_t)m.mesh.node_count, sizeof *X);
  as_mesh mesh = m.mesh;
  for (int i = 0; i < mesh.node_count; ++i)
    for (int c = 0; c < 3; ++c) X[i][c] = 1e3 * mesh.positions[i][c];
  mesh.positions = (const double(*)[3])X;
  as_sparse *const both[] = {m.K, m.M};
  for (int k = 0; k < 2; ++k) // an energy of 1 J is 1000 N mm, a displacement of 1 m 1000 mm
    for (int j = 0; j < both[k]->cols; ++j)
      for (int i = both[k]->col_start[j]; i < both[k]->col_start[j + 1]; ++i)
        both[k]->value[i] *=
            1e3 * (j % 6 < 3 ? 1e-3 : 1.0) * (both[k]->row[i] % 6 < 3 ? 1e-3 : 1.0);
  e->def.mesh = &mesh;
  e->def.length = 1e-3;
  as_flexible_data *other = reduce(&e->def, NULL);
  const int n = d->coordinate_count;
  near(other->mass / d->mass, 1.0, 1e-12);
  near(other->interface_positions[1][0], 1.0, 1e-12);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i >= 6 || j >= 6) continue; // modes have no sign
      const double size = sqrt(d->K[i * (n + 1)] * d->K[j * (n + 1)]);
      near(other->K[i * n + j], d->K[i * n + j], 1e-9 * size);
      near(other->M[i * n + j], d->M[i * n + j],
           1e-9 * sqrt(d->M[i * (n + 1)] * d->M[j * (n + 1)]));
    }
  as_flexible_destroy(d);
  as_flexible_destroy(other);
  brick_mesh_free(&m);
  free(X);
  free(e);
}

// ---- damping, stresses, drawing ---------------------------------------------------------------------

static void damping_is_as_given(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_beam(6);
  ends *e = hold(&m, AS_ATTACH_NODE, 4);
  e->def.rayleigh_mass = 2.0;
  e->def.rayleigh_stiffness = 1e-5;
  as_flexible_data *d = reduce(&e->def, NULL);
  const int n = d->coordinate_count;
  for (int i = 0; i < n * n; ++i)
    near(d->C[i], 2.0 * d->M[i] + 1e-5 * d->K[i], 1e-12 * fabs(d->C[i]));
  as_flexible_destroy(d);
  // Ratios: C v = 2 zeta omega M v for the modes v of the held body; C M^-1 C = C K^-1 ... so its trace in M is known.
  const double ratios[] = {0.02, 0.03};
  e->def.rayleigh_mass = e->def.rayleigh_stiffness = 0.0;
  e->def.damping_ratios = ratios;
  e->def.damping_count = 1;
  d = reduce(&e->def, NULL);
  double f[64], work = 0.0, expected = 0.0;
  as_error error;
  assert_int_equal(as_flexible_frequencies(d, false, f, &error), AS_OK);
  // With one ratio C K^-1 C = 4 zeta^2 M: compare v^T M v with |C v| in K^-1 by solving K x = C v.
  double A[400] = {0}, x[20] = {0}, v[20] = {0};
  unsigned seed = 3;
  for (int i = 0; i < n; ++i) v[i] = any(&seed);
  for (int i = 0; i < n; ++i) {
    x[i] = 0.0;
    for (int j = 0; j < n; ++j) {
      A[i * n + j] = d->K[i * n + j];
      x[i] += d->C[i * n + j] * v[j];
      expected += 4.0 * 0.02 * 0.02 * v[i] * d->M[i * n + j] * v[j];
    }
  }
  double b[20];
  memcpy(b, x, sizeof b);
  for (int k = 0; k < n; ++k) // Gauss; K is positive definite
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      for (int j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      x[i] -= factor * x[k];
    }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) x[k] -= A[k * n + j] * x[j];
    x[k] /= A[k * n + k];
  }
  for (int i = 0; i < n; ++i) work += x[i] * b[i];
  near(work / expected, 1.0, 1e-8);
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(e);
}

/// "Stresses" that are the displacements of two nodes: their matrices are the shapes there.
static void stresses_follow_shapes(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(3, 1, 1, 0.3, 0.05, 0.06, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 2);
  const long ids[] = {m.mesh.ids[5], m.mesh.ids[9]};
  as_entry entry[6];
  for (int k = 0; k < 6; ++k)
    entry[k] = (as_entry){6 * (k / 3) + k % 3, m.mesh.unknowns[k < 3 ? 5 : 9][k % 3], 1e9};
  as_sparse *stress = NULL;
  assert_int_equal(as_sparse_create(12, m.K->rows, entry, 6, &stress, NULL), AS_OK);
  e->def.stress = stress;
  e->def.stress_ids = ids;
  e->def.stress_count = 2;
  as_flexible_data *d = reduce(&e->def, NULL);
  const int n = d->coordinate_count;
  assert_int_equal(d->stress_count, 2);
  for (int k = 0; k < 2; ++k)
    for (int c = 0; c < 6; ++c)
      for (int j = 0; j < n; ++j)
        near(d->stress_matrices[(6 * k + c) * n + j],
             c < 3 ? 1e9 * shape_at(d, point_of(d, ids[k]), c, j) : 0.0, 1e-3);
  as_flexible_destroy(d);
  as_sparse_destroy(stress);
  brick_mesh_free(&m);
  free(e);
}

static double volume(const as_flexible_data *d) {
  double sum = 0.0;
  for (int i = 0; i < d->triangle_count; ++i) {
    double n[3];
    const double *a = d->mesh_positions[d->triangles[i][0]];
    cross(d->mesh_positions[d->triangles[i][1]], d->mesh_positions[d->triangles[i][2]], n);
    sum += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6.0;
  }
  return sum;
}

/// A surface is kept as it is, or thinned; nodes that are asked for stay.
static void surfaces_are_thinned(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(12, 4, 4, 0.6, 0.1, 0.1, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 1);
  as_flexible_data *d = reduce(&e->def, NULL);
  assert_int_equal(d->mesh_count, 13 * 25 - 11 * 9);
  assert_int_equal(d->triangle_count, 4 * (48 + 48 + 16));
  near(volume(d), 0.006, 1e-12);
  as_flexible_destroy(d);
  const long inner = m.mesh.ids[6 + 13 * 2 + 65 * 2]; // in the middle of the bar
  e->def.most_points = 60;
  e->def.points = &inner;
  e->def.point_count = 1;
  d = reduce(&e->def, NULL);
  assert_true(d->mesh_count > 20 && d->mesh_count <= 61);
  assert_true(d->triangle_count > 30);
  assert_true(point_of(d, inner) >= 0);
  assert_true(volume(d) > 0.002);
  as_flexible_destroy(d);
  e->def.most_points = 0;
  d = reduce(&e->def, NULL);
  assert_int_equal(d->mesh_count, 1);
  assert_int_equal(d->triangle_count, 0);
  as_flexible_destroy(d);
  brick_mesh_free(&m);
  free(e);
}

// ---- what is refused --------------------------------------------------------------------------------

static void refused(const as_reduction_def *def, as_status status, const char *what) {
  as_flexible_data *d = NULL;
  as_error error = {0};
  assert_int_equal(as_reduce(def, &d, NULL, &error), status);
  assert_null(d);
  if (strstr(error.message, what) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error.message, what);
}

static void matrices_that_do_not_fit_are_refused(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(4, 1, 1, 0.4, 0.05, 0.05, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 2);
  as_mesh mesh = m.mesh;
  e->def.mesh = NULL;
  refused(&e->def, AS_ERR_ARGUMENT, "Give the table of the nodes");
  e->def.mesh = &mesh;
  const double kept = m.K->value[1];
  m.K->value[1] *= 1.001;
  refused(&e->def, AS_ERR_ARGUMENT, "K is not symmetric: entry (2, 1)");
  m.K->value[1] = kept;
  const double first = m.K->value[0];
  m.K->value[0] *= 1.01;
  refused(&e->def, AS_ERR_ARGUMENT, "The mesh is held");
  m.K->value[0] = -1.0;
  refused(&e->def, AS_ERR_ARGUMENT, "K is not positive: entry (1, 1) is -1");
  m.K->value[0] = first;
  m.M->value[0] *= 1.01;
  refused(&e->def, AS_ERR_ARGUMENT, "M is not that of a free body");
  m.M->value[0] /= 1.01;
  mesh.node_count -= 1;
  refused(&e->def, AS_ERR_ARGUMENT, "belongs to no node");
  mesh = m.mesh;
  double(*X)[3] = calloc((size_t)mesh.node_count, sizeof *X);
  memcpy(X, mesh.positions, (size_t)mesh.node_count * sizeof *X);
  X[3][1] += 0.01;
  mesh.positions = (const double(*)[3])X;
  refused(&e->def, AS_ERR_ARGUMENT, "positions are not those of K");
  X[3][1] = (double)NAN;
  refused(&e->def, AS_ERR_ARGUMENT, "not finite");
  free(X);
  mesh = m.mesh;
  long *ids = calloc((size_t)mesh.node_count, sizeof *ids);
  memcpy(ids, mesh.ids, (size_t)mesh.node_count * sizeof *ids);
  ids[7] = ids[2];
  mesh.ids = ids;
  refused(&e->def, AS_ERR_ARGUMENT, "Two nodes have the number 16.");
  free(ids);
  e->def.mesh = &m.mesh;
  as_sparse *small = NULL;
  assert_int_equal(as_sparse_create(1, 1, &(as_entry){0, 0, 1.0}, 1, &small, NULL), AS_OK);
  e->def.mass = small;
  refused(&e->def, AS_ERR_ARGUMENT, "they must be of the same mesh");
  as_sparse_destroy(small);
  brick_mesh_free(&m);
  free(e);
}

static void interfaces_that_do_not_fit_are_refused(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(4, 1, 1, 0.4, 0.05, 0.05, false);
  ends *e = hold(&m, AS_ATTACH_RIGID, 2);
  const long line[] = {m.first[0], m.first[1]}, unknown[] = {10, 11, 13};
  as_interface *left = &e->interface[0], *right = &e->interface[1];
  const as_interface kept = *left, other = *right;
  left->nodes = line;
  left->node_count = 2;
  refused(&e->def, AS_ERR_ARGUMENT, "\"left\" has nodes on one line");
  left->attachment = AS_ATTACH_AVERAGE;
  refused(&e->def, AS_ERR_ARGUMENT, "\"left\" has nodes on one line");
  left->attachment = AS_ATTACH_NODE;
  left->node_count = 1;
  refused(&e->def, AS_ERR_ARGUMENT, "needs rotations");
  *left = kept;
  left->nodes = unknown;
  left->node_count = 3;
  refused(&e->def, AS_ERR_ARGUMENT, "\"left\" has node 11, which the mesh has not");
  *left = kept;
  right->nodes = kept.nodes;
  refused(&e->def, AS_ERR_ARGUMENT, "belongs to the interfaces \"left\" and \"right\"");
  *right = other;
  right->name = "left";
  refused(&e->def, AS_ERR_ARGUMENT, "Two interfaces are called \"left\"");
  *right = other;
  right->name = "right.1"; // models could not call it that
  refused(&e->def, AS_ERR_ARGUMENT, "has a '.' or a '/' in its name");
  *right = other;
  e->def.interface_count = 0;
  refused(&e->def, AS_ERR_ARGUMENT, "needs an interface");
  e->def.interface_count = 2;
  e->def.frequency = 100.0;
  refused(&e->def, AS_ERR_ARGUMENT, "not by both");
  e->def.frequency = (double)NAN;
  e->def.rayleigh_mass = -1.0;
  refused(&e->def, AS_ERR_ARGUMENT, "Rayleigh");
  e->def = (as_reduction_def){.modes = 1};
  refused(&e->def, AS_ERR_ARGUMENT, "as_default_reduction_def");
  brick_mesh_free(&m);
  free(e);
}

/// Two bars that are not joined: rigid motions are fine, but the second is loose.
static void what_is_loose_is_named(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(4, 1, 1, 0.4, 0.05, 0.05, false);
  const int nodes = m.mesh.node_count, n = m.K->rows;
  long *ids = calloc(2 * (size_t)nodes, sizeof *ids);
  double(*X)[3] = calloc(2 * (size_t)nodes, sizeof *X);
  int(*of)[6] = calloc(2 * (size_t)nodes, sizeof *of);
  as_sparse *twice[2];
  for (int i = 0; i < 2 * nodes; ++i) {
    ids[i] = m.mesh.ids[i % nodes] + (i < nodes ? 0 : 1000);
    memcpy(X[i], m.mesh.positions[i % nodes], sizeof X[i]);
    X[i][1] += i < nodes ? 0.0 : 1.0;
    for (int d = 0; d < 6; ++d) of[i][d] = d < 3 ? 3 * i + d : -1;
  }
  for (int k = 0; k < 2; ++k) {
    const as_sparse *a = k ? m.M : m.K;
    as_entry *entry = calloc(2 * (size_t)a->col_start[n], sizeof *entry);
    size_t count = 0;
    for (int part = 0; part < 2; ++part)
      for (int j = 0; j < n; ++j)
        for (int i = a->col_start[j]; i < a->col_start[j + 1]; ++i)
          entry[count++] = (as_entry){a->row[i] + part * n, j + part * n, a->value[i]};
    assert_int_equal(as_sparse_create(2 * n, 2 * n, entry, count, &twice[k], NULL), AS_OK);
    free(entry);
  }
  const as_mesh mesh = {.node_count = 2 * nodes,
                        .ids = ids,
                        .positions = (const double(*)[3])X,
                        .unknowns = (const int(*)[6])of};
  ends *e = hold(&m, AS_ATTACH_RIGID, 2);
  e->def.mesh = &mesh;
  e->def.stiffness = twice[0];
  e->def.mass = twice[1];
  refused(&e->def, AS_ERR_SINGULAR, "node 10");
  as_sparse_destroy(twice[0]);
  as_sparse_destroy(twice[1]);
  free(ids);
  free(X);
  free(of);
  brick_mesh_free(&m);
  free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_beam_has_its_frequencies),
      cmocka_unit_test(modes_are_those_of_the_held_mesh),
      cmocka_unit_test(averages_do_not_stiffen),
      cmocka_unit_test(an_interface_may_be_a_node_of_a_solid),
      cmocka_unit_test(the_frame_may_be_any_interface),
      cmocka_unit_test(rigid_sets_follow_log_coordinates),
      cmocka_unit_test(averages_move_with_their_nodes),
      cmocka_unit_test(a_box_has_its_moments),
      cmocka_unit_test(arrays_are_sums_over_points),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(damping_is_as_given),
      cmocka_unit_test(stresses_follow_shapes),
      cmocka_unit_test(surfaces_are_thinned),
      cmocka_unit_test(matrices_that_do_not_fit_are_refused),
      cmocka_unit_test(interfaces_that_do_not_fit_are_refused),
      cmocka_unit_test(what_is_loose_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
