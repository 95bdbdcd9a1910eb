/// Local matrices of elements with bodies on SE(3).
///
/// Elements write for x and v in world axes. On SE(3) the body is moved by dx = R drho, and u = R^T v is held
/// while it turns, so that dv = R du - R u~ dtheta. Hence, for each such body, with F any row
///
///     F_rho = F_x R      F_theta += F_v (-R u~)      F_u = F_v R       of g' F_v is g_x
///     force rows: f_u = R^T f,   D f_u = R^T D f + (R^T f)~ dtheta,   f with the constraint forces in it
///     at u' = 0 there is v' = R (omega x u):   g'' += g_x R (omega x u),   k' += k_v R (omega x u)
#include "elements/vector.h"
#include "model/model.h"

unsigned asi_se3_needs(const asi_scatter_map *shape, unsigned wanted) {
  if (wanted & (ASI_WANT_GDOT_Q | ASI_WANT_ACCELERATION)) wanted |= ASI_WANT_G_Q;
  if (wanted & (ASI_WANT_K_Q | ASI_WANT_K_RATE)) wanted |= ASI_WANT_K_V;
  if (wanted & ASI_WANT_F_Q) {
    if (shape->n_rows > 0) wanted |= ASI_WANT_G_Q;
    if (shape->n_velocity_rows > 0) wanted |= ASI_WANT_K_V;
    if (shape->force) wanted |= ASI_WANT_FORCE;
    if (shape->count[ASI_F_V] > 0) wanted |= ASI_WANT_F_V;
  }
  return wanted;
}

typedef const bool block_flags[2 * AS_ELEMENT_BODIES];

/// Columns x of body b times R, in rows `first` ... `first + rows - 1`.
static void turn_columns(double *m, int columns, int first, int rows, int b, const double *R) {
  double *x = m + first * columns + 6 * b, turned[3];
  for (int i = 0; i < rows; ++i, x += columns) {
    asi_rotate_back(R, x, turned); // x^T R
    asi_copy(turned, x);
  }
}

/// The same for a square matrix, where the element has written blocks.
static void turn_column_blocks(double *m, block_flags *written, int columns, int b,
                               const double *R) {
  for (int i = 0; 3 * i < columns; ++i)
    if (written[i][2 * b]) turn_columns(m, columns, 3 * i, 3, b, R);
}

/// Rows x of body b in column j: R^T from the left.
static void turn_rows(double *m, int columns, int b, int j, const double *R) {
  double *at = m + 6 * b * columns + j;
  const double x[3] = {at[0], at[columns], at[2 * columns]};
  double turned[3];
  asi_rotate_back(R, x, turned);
  for (int k = 0; k < 3; ++k) at[k * columns] = turned[k];
}

/// The same in all columns of a square matrix, where the element has written blocks.
static void turn_row_blocks(double *m, block_flags *written, int columns, int b, const double *R) {
  for (int j = 0; 3 * j < columns; ++j)
    for (int k = 0; k < 3 && written[2 * b][j]; ++k) turn_rows(m, columns, b, 3 * j + k, R);
}

/// target_theta += by_v (-R u~) in some rows: x^T (-R u~) = (u x R^T x)^T
static void add_turning(double *target, const double *by_v, int columns, int first, int rows, int b,
                        const double *R, const double *u) {
  for (int i = first; i < first + rows; ++i) {
    double back[3];
    asi_rotate_back(R, by_v + i * columns + 6 * b, back);
    asi_add_cross(1.0, u, back, target + i * columns + 6 * b + 3);
  }
}

/// Rows f_u of body b: R^T, and (R^T f)~ where f_q is wanted.
static void turn_force(const asi_scatter_map *shape, const as_element_input *in, unsigned wanted,
                       int b, asi_local *local) {
  const int columns = 6 * shape->n_bodies, first = 6 * b;
  const double *R = in->body[b]->R;
  if (wanted & ASI_WANT_F_V) turn_row_blocks(local->f_v, shape->f_v_block, columns, b, R);
  for (int k = 0; k < shape->n_read && (wanted & ASI_WANT_F_LAMBDA); ++k)
    turn_rows(local->f_lambda, shape->n_read, b, k, R);
  if (wanted & ASI_WANT_F_Q) {
    double f[3] = {0}, f_in_body[3];
    if (wanted & ASI_WANT_FORCE) asi_copy(local->force + first, f);
    for (int r = 0; r < shape->n_rows; ++r)
      asi_add(-in->lambda[r], local->g_q + r * columns + first, f);
    for (int r = 0; r < shape->n_velocity_rows; ++r)
      asi_add(-in->psi[r], local->k_v + r * columns + first, f);
    asi_rotate_back(R, f, f_in_body);
    turn_row_blocks(local->f_q, shape->f_q_block, columns, b, R);
    asi_add_skew(1.0, f_in_body, local->f_q + first * columns + first + 3, columns);
  }
}

/// Columns of body b of the square matrices.
static void turn_tangents(const asi_scatter_map *shape, unsigned wanted, int b, const double *R,
                          const double *u, asi_local *local) {
  const int columns = 6 * shape->n_bodies;
  if (wanted & ASI_WANT_F_Q) {
    for (int i = 0; 3 * i < columns && (wanted & ASI_WANT_F_V); ++i)
      if (shape->f_v_block[i][2 * b])
        add_turning(local->f_q, local->f_v, columns, 3 * i, 3, b, R, u);
    turn_column_blocks(local->f_q, shape->f_q_block, columns, b, R);
  }
  if (wanted & ASI_WANT_F_V) turn_column_blocks(local->f_v, shape->f_v_block, columns, b, R);
}

/// Columns of body b of the velocity rows; v1 is v' at u' = 0.
static void turn_velocity_rows(const asi_scatter_map *shape, unsigned wanted, int b,
                               const double *R, const double *u, const double *v1,
                               asi_local *local) {
  const int columns = 6 * shape->n_bodies, rows = shape->n_velocity_rows;
  for (int r = 0; r < rows && (wanted & ASI_WANT_K_RATE); ++r)
    local->k_rate[r] += asi_dot(local->k_v + r * columns + 6 * b, v1);
  if (wanted & ASI_WANT_K_Q) {
    add_turning(local->k_q, local->k_v, columns, 0, rows, b, R, u);
    turn_columns(local->k_q, columns, 0, rows, b, R);
  }
  if (wanted & ASI_WANT_K_V) turn_columns(local->k_v, columns, 0, rows, b, R);
}

void asi_se3_transform(const asi_scatter_map *shape, const as_element_input *in, unsigned wanted,
                       asi_local *local) {
  const int columns = 6 * shape->n_bodies, rows = shape->n_rows;
  // Rows first: they need g_q and the force as the element wrote them.
  for (int b = 0; b < shape->n_bodies; ++b)
    if (shape->role[b] == ASI_ROLE_SE3) turn_force(shape, in, wanted, b, local);
  for (int b = 0; b < shape->n_bodies; ++b) {
    if (shape->role[b] != ASI_ROLE_SE3) continue;
    const as_body_motion *body = in->body[b];
    const int first = 6 * b;
    double u[3], turned[3], spin[3], v1[3] = {0};
    asi_rotate_back(body->R, body->v, u);
    if (wanted & ASI_WANT_FORCE) {
      asi_rotate_back(body->R, local->force + first, turned);
      asi_copy(turned, local->force + first);
    }
    if (wanted & (ASI_WANT_ACCELERATION | ASI_WANT_K_RATE)) {
      asi_cross(body->omega, u, spin);
      asi_rotate(body->R, spin, v1);
    }
    for (int r = 0; r < rows && (wanted & ASI_WANT_ACCELERATION); ++r)
      local->acceleration[r] += asi_dot(local->g_q + r * columns + first, v1);
    if (shape->n_velocity_rows > 0) turn_velocity_rows(shape, wanted, b, body->R, u, v1, local);
    turn_tangents(shape, wanted, b, body->R, u, local);
    if (wanted & ASI_WANT_GDOT_Q) {
      add_turning(local->gdot_q, local->g_q, columns, 0, rows, b, body->R, u);
      turn_columns(local->gdot_q, columns, 0, rows, b, body->R);
    }
    if (wanted & ASI_WANT_G_Q) turn_columns(local->g_q, columns, 0, rows, b, body->R);
  }
}
