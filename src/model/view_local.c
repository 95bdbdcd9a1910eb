/// Local matrices of elements with bodies that are nodes of flexible bodies.
///
/// Elements write for moves (dx world, dtheta body) of the node. With P of elements/view.c, (v; omega) = P (v_0; omega_0; z'), F any
/// row, f with the constraint forces in it, and w = (v_0, omega_0, z') held while q changes,
///
///     F_(frame, z) = F P     F_(frame, z) += F_velocity D_q(P w)     of g' F_velocity is g_q
///     force rows: P^T f,     D(P^T f) = P^T D f + D_q(P^T f)
///     at w' = 0 there is (v'; omega') = D_q(P w) w:   g'' += g_q (v'; omega'),   k' += k_v (v'; omega')
///
/// The six columns of the node become those of z; the frame's are added, behind the element's own bodies if it is not among them.
#include <string.h>

#include "elements/vector.h"
#include "model/model.h"

/// Rows of `from` columns to rows of `to`, in place; what is new is zero.
static void widen(double *m, int rows, int from, int to) {
  for (int i = rows - 1; i >= 0 && from < to; --i) {
    memmove(m + i * to, m + i * from, (size_t)from * sizeof *m);
    memset(m + i * to + from, 0, (size_t)(to - from) * sizeof *m);
  }
}

static void widen_all(const asi_scatter_map *shape, int from, unsigned wanted, asi_local *local) {
  const int to = 6 * shape->n_bodies;
  if (wanted & ASI_WANT_F_Q) widen(local->f_q, from, from, to);
  if (wanted & ASI_WANT_F_V) widen(local->f_v, from, from, to);
  if (wanted & ASI_WANT_G_Q) widen(local->g_q, shape->n_rows, from, to);
  if (wanted & ASI_WANT_GDOT_Q) widen(local->gdot_q, shape->n_rows, from, to);
  if (wanted & ASI_WANT_K_Q) widen(local->k_q, shape->n_velocity_rows, from, to);
  if (wanted & ASI_WANT_K_V) widen(local->k_v, shape->n_velocity_rows, from, to);
}

/// A node among the bodies of an element.
typedef struct place {
  int columns, node, frame; ///< where its columns and those of its frame begin
  asi_view_now now;
} place;

static void spread_row(const place *p, double *row) {
  double z[6];
  asi_view_spread(&p->now, row + p->node, row + p->frame, z);
  memcpy(row + p->node, z, sizeof z);
}

static void spread_columns(const place *p, double *m, int rows) {
  for (int i = 0; i < rows; ++i) spread_row(p, m + i * p->columns);
}

/// Rows of the node: P^T from the left.
static void spread_rows(const place *p, double *m, int columns) {
  for (int j = 0; j < columns; ++j) {
    double x[6], frame[6] = {0}, z[6];
    for (int k = 0; k < 6; ++k) x[k] = m[(p->node + k) * columns + j];
    asi_view_spread(&p->now, x, frame, z);
    for (int k = 0; k < 6; ++k) {
      m[(p->node + k) * columns + j] = z[k];
      m[(p->frame + k) * columns + j] += frame[k];
    }
  }
}

/// Rows by q, once they are by the frame and z, by those by velocities, which are not yet.
static void add_rates(const place *p, const double *by_v, double *by_q, int rows) {
  for (int i = 0; i < rows; ++i) {
    double *to = by_q + i * p->columns;
    asi_view_add_rate(&p->now, by_v + i * p->columns + p->node, to + p->frame + 3, to + p->node);
  }
}

static void add_curvature(const place *p, const double f[6], double *f_q) {
  double out[81];
  asi_view_curvature(&p->now, f, out);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      const int row = i < 3 ? p->frame + 3 + i : p->node + i - 3;
      const int column = j < 3 ? p->frame + 3 + j : p->node + j - 3;
      f_q[row * p->columns + column] += out[9 * i + j];
    }
}

static void transform_forces(const asi_scatter_map *shape, const as_element_input *in,
                             unsigned wanted, const place *p, asi_local *local) {
  const int columns = p->columns;
  double f[6] = {0};
  if (wanted & ASI_WANT_FORCE) memcpy(f, local->force + p->node, sizeof f);
  if (wanted & ASI_WANT_F_V) spread_rows(p, local->f_v, columns);
  if (wanted & ASI_WANT_F_LAMBDA) spread_rows(p, local->f_lambda, shape->n_read);
  if (wanted & ASI_WANT_F_Q) {
    for (int r = 0; r < shape->n_rows; ++r)
      for (int k = 0; k < 6; ++k) f[k] -= in->lambda[r] * local->g_q[r * columns + p->node + k];
    for (int r = 0; r < shape->n_velocity_rows; ++r)
      for (int k = 0; k < 6; ++k) f[k] -= in->psi[r] * local->k_v[r * columns + p->node + k];
    spread_rows(p, local->f_q, columns);
    spread_columns(p, local->f_q, columns);
    if (wanted & ASI_WANT_F_V) add_rates(p, local->f_v, local->f_q, columns);
    add_curvature(p, f, local->f_q);
  }
  if (wanted & ASI_WANT_F_V) spread_columns(p, local->f_v, columns);
  if (wanted & ASI_WANT_FORCE) spread_row(p, local->force);
}

/// Rows by q and by velocities, and their rate; NULL: not wanted. The others need `by_v`, which is turned last.
static void transform_rows(const place *p, double *by_q, double *by_v, double *rate, int rows) {
  if (by_v == NULL || rows == 0) return;
  if (by_q) {
    spread_columns(p, by_q, rows);
    add_rates(p, by_v, by_q, rows);
  }
  if (rate) {
    double bias[6];
    asi_view_bias(&p->now, bias);
    for (int r = 0; r < rows; ++r) {
      const double *row = by_v + r * p->columns + p->node;
      rate[r] += asi_dot(row, bias) + asi_dot(row + 3, bias + 3);
    }
  }
  spread_columns(p, by_v, rows);
}

void asi_view_transform(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                        const as_element_input *in, const double *q, const double *v,
                        unsigned wanted, asi_local *local) {
  widen_all(shape, 6 * e->e.n_bodies, wanted, local);
  for (int b = 0; b < e->e.n_bodies; ++b) {
    if (shape->role[b] != ASI_ROLE_VIEW) continue;
    place p = {.columns = 6 * shape->n_bodies, .node = 6 * b, .frame = 6 * shape->frame[b]};
    asi_view_look(m->body[e->e.body[b]].view, q, v, &p.now);
    transform_forces(shape, in, wanted, &p, local);
    transform_rows(&p, wanted & ASI_WANT_GDOT_Q ? local->gdot_q : NULL,
                   wanted & ASI_WANT_G_Q ? local->g_q : NULL,
                   wanted & ASI_WANT_ACCELERATION ? local->acceleration : NULL, shape->n_rows);
    transform_rows(&p, wanted & ASI_WANT_K_Q ? local->k_q : NULL,
                   wanted & ASI_WANT_K_V ? local->k_v : NULL,
                   wanted & ASI_WANT_K_RATE ? local->k_rate : NULL, shape->n_velocity_rows);
  }
}

// ---- patterns ---------------------------------------------------------------------------------------

static void widen_flags(bool *m, int rows, int from, int to) {
  for (int i = rows - 1; i >= 0 && from < to; --i) {
    memmove(m + i * to, m + i * from, (size_t)from * sizeof *m);
    memset(m + i * to + from, 0, (size_t)(to - from) * sizeof *m);
  }
}

static bool any_of_six(const bool *row) {
  return row[0] || row[1] || row[2] || row[3] || row[4] || row[5];
}

static void set_six(bool *row) {
  for (int k = 0; k < 6; ++k) row[k] = true;
}

/// Rows that the node's motion is in have all columns of node and frame, by q too.
static bool fill_rows(bool *by_q, bool *by_v, int columns, int rows, int node, int frame) {
  bool any = false;
  for (int r = 0; r < rows; ++r) {
    const bool there = any_of_six(by_v + r * columns + node);
    any = any || there;
    if (there) {
      set_six(by_v + r * columns + node);
      set_six(by_v + r * columns + frame);
    }
    if (there || any_of_six(by_q + r * columns + node)) {
      set_six(by_q + r * columns + node);
      set_six(by_q + r * columns + frame);
    }
  }
  return any;
}

static bool any_in_block(const bool *m, int columns, int row, int column) {
  for (int i = 0; i < 6; ++i)
    if (any_of_six(m + (row + i) * columns + column)) return true;
  return false;
}

static void fill_block(bool *m, int columns, int row, int column) {
  for (int i = 0; i < 6; ++i) set_six(m + (row + i) * columns + column);
}

/// A square matrix: what the node has with a body, node and frame have.
static void fill_square(bool *m, const bool *also, int columns, int node, int frame, bool own) {
  for (int k = 0; k < columns; k += 6) {
    const bool there = any_in_block(m, columns, k, node) || any_in_block(m, columns, node, k) ||
                       any_in_block(also, columns, k, node) ||
                       any_in_block(also, columns, node, k) || (own && k == node);
    if (!there) continue;
    fill_block(m, columns, k, node);
    fill_block(m, columns, k, frame);
    fill_block(m, columns, node, k);
    fill_block(m, columns, frame, k);
    if (k == node) fill_block(m, columns, frame, frame);
  }
}

void asi_view_spread_flags(const asi_scatter_map *shape, int n_element_bodies,
                           asi_element_flags *f) {
  const int from = 6 * n_element_bodies, columns = 6 * shape->n_bodies;
  widen_flags(f->f_q, from, from, columns);
  widen_flags(f->f_v, from, from, columns);
  widen_flags(f->g_q, f->n_rows, from, columns);
  widen_flags(f->gdot_q, f->n_rows, from, columns);
  widen_flags(f->k_q, f->n_velocity_rows, from, columns);
  widen_flags(f->k_v, f->n_velocity_rows, from, columns);
  for (int b = 0; b < n_element_bodies; ++b) {
    if (shape->role[b] != ASI_ROLE_VIEW) continue;
    const int node = 6 * b, frame = 6 * shape->frame[b];
    const bool by_g = fill_rows(f->gdot_q, f->g_q, columns, f->n_rows, node, frame);
    const bool by_k = fill_rows(f->k_q, f->k_v, columns, f->n_velocity_rows, node, frame);
    for (int k = 0; k < f->n_read; ++k)
      for (int i = 0; i < 6; ++i) {
        f->f_lambda[(node + i) * f->n_read + k] = true;
        f->f_lambda[(frame + i) * f->n_read + k] = true;
      }
    fill_square(f->f_v, f->f_v, columns, node, frame, false);
    fill_square(f->f_q, f->f_v, columns, node, frame, f->force || by_g || by_k);
  }
}
