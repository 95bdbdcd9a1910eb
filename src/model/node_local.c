/// Local matrices of elements with bodies that are nodes of superelements.
///
/// Elements write for dx in world axes and rotations dphi in body axes. A node has dx = Q du, dphi = T(theta) dtheta,
/// and u', theta' are held while theta changes, so that domega = D(T theta') dtheta. With P = diag(Q, T), F any
/// row, and f with the constraint forces in it,
///
///     F_u,theta = F_x,phi P      F_theta += F_omega D(T theta')      of g' F_omega is g_phi
///     force rows: P^T f,   D(P^T f) = P^T D f,  and D(T^T f_phi) in theta by theta
///     at theta'' = 0 there is omega' = D(T theta') theta':   g'' += g_phi omega',   k' += k_omega omega'
#include "elements/vector.h"
#include "lie/rotation.h"
#include "model/model.h"

/// What the transformation of one node needs.
typedef struct node_now {
  const double *Q;
  double T[9];
  double theta[3], theta1[3];
  double spin[9]; ///< D(T theta')
} node_now;

static node_now look_at(const asi_node *node, const double *q, const double *v) {
  node_now now = {.Q = node->Q};
  double u[6], u1[6] = {0};
  asi_node_gather(node, node->shift, q, u);
  if (v) asi_node_gather(node, 0, v, u1);
  asi_copy(u + 3, now.theta);
  asi_copy(u1 + 3, now.theta1);
  asi_so3_tangent(now.theta, now.T);
  asi_tangent_rate(now.theta, now.theta1, false, now.spin);
  return now;
}

/// Columns of body b times P.
static void turn_columns(double *m, int columns, int rows, int b, const node_now *now) {
  for (int i = 0; i < rows; ++i) {
    double *x = m + i * columns + 6 * b, turned[6];
    asi_rotate_back(now->Q, x, turned);
    asi_rotate_back(now->T, x + 3, turned + 3);
    asi_copy(turned, x);
    asi_copy(turned + 3, x + 3);
  }
}

/// Rows of body b: P^T from the left.
static void turn_rows(double *m, int columns, int b, const node_now *now) {
  for (int j = 0; j < columns; ++j) {
    double *at = m + 6 * b * columns + j, x[6], turned[6];
    for (int k = 0; k < 6; ++k) x[k] = at[k * columns];
    asi_rotate_back(now->Q, x, turned);
    asi_rotate_back(now->T, x + 3, turned + 3);
    for (int k = 0; k < 6; ++k) at[k * columns] = turned[k];
  }
}

/// target_theta += by_omega D(T theta')
static void add_spin(double *target, const double *by_omega, int columns, int rows, int b,
                     const node_now *now) {
  for (int i = 0; i < rows; ++i) {
    double back[3];
    asi_rotate_back(now->spin, by_omega + i * columns + 6 * b + 3, back); // x^T spin
    asi_add(1.0, back, target + i * columns + 6 * b + 3);
  }
}

static void turn_tangents(const asi_scatter_map *shape, const as_element_input *in, unsigned wanted,
                          int b, const node_now *now, asi_local *local) {
  const int columns = 6 * shape->n_bodies;
  double torque[3] = {0}, curvature[9];
  if (wanted & ASI_WANT_F_V) turn_rows(local->f_v, columns, b, now);
  if (wanted & ASI_WANT_F_LAMBDA) turn_rows(local->f_lambda, shape->n_read, b, now);
  if (wanted & ASI_WANT_F_Q) {
    if (wanted & ASI_WANT_FORCE) asi_copy(local->force + 6 * b + 3, torque);
    for (int r = 0; r < shape->n_rows; ++r)
      asi_add(-in->lambda[r], local->g_q + r * columns + 6 * b + 3, torque);
    for (int r = 0; r < shape->n_velocity_rows; ++r)
      asi_add(-in->psi[r], local->k_v + r * columns + 6 * b + 3, torque);
    asi_tangent_rate(now->theta, torque, true, curvature);
    turn_rows(local->f_q, columns, b, now);
    turn_columns(local->f_q, columns, columns, b, now);
    if (wanted & ASI_WANT_F_V) add_spin(local->f_q, local->f_v, columns, columns, b, now);
    asi_add_matrix(1.0, curvature, local->f_q + (6 * b + 3) * columns + 6 * b + 3, columns);
  }
  if (wanted & ASI_WANT_F_V) turn_columns(local->f_v, columns, columns, b, now);
}

/// Rows by q and by velocities, and their rate; NULL: not wanted. The others need `by_v`, which is turned last.
static void turn_constraints(double *by_q, double *by_v, double *rate, int columns, int rows, int b,
                             const node_now *now) {
  if (by_v == NULL) return;
  if (by_q) {
    turn_columns(by_q, columns, rows, b, now);
    add_spin(by_q, by_v, columns, rows, b, now);
  }
  if (rate) {
    double omega1[3];
    asi_rotate(now->spin, now->theta1, omega1);
    for (int r = 0; r < rows; ++r) rate[r] += asi_dot(by_v + r * columns + 6 * b + 3, omega1);
  }
  turn_columns(by_v, columns, rows, b, now);
}

void asi_node_transform(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                        const as_element_input *in, const double *q, const double *v,
                        unsigned wanted, asi_local *local) {
  for (int b = 0; b < shape->n_bodies; ++b) {
    if (shape->role[b] != ASI_ROLE_NODE) continue;
    const node_now now = look_at(m->body[e->e.body[b]].node, q, v);
    turn_tangents(shape, in, wanted, b, &now, local);
    if (wanted & ASI_WANT_FORCE) {
      double *force = local->force + 6 * b, turned[6];
      asi_rotate_back(now.Q, force, turned);
      asi_rotate_back(now.T, force + 3, turned + 3);
      asi_copy(turned, force);
      asi_copy(turned + 3, force + 3);
    }
    const int columns = 6 * shape->n_bodies;
    turn_constraints(wanted & ASI_WANT_GDOT_Q ? local->gdot_q : NULL,
                     wanted & ASI_WANT_G_Q ? local->g_q : NULL,
                     wanted & ASI_WANT_ACCELERATION ? local->acceleration : NULL, columns,
                     shape->n_rows, b, &now);
    turn_constraints(
        wanted & ASI_WANT_K_Q ? local->k_q : NULL, wanted & ASI_WANT_K_V ? local->k_v : NULL,
        wanted & ASI_WANT_K_RATE ? local->k_rate : NULL, columns, shape->n_velocity_rows, b, &now);
  }
}

// ---- patterns ---------------------------------------------------------------------------------------

/// Flags rows x 3 entries if any of them is, or if `also`; says whether there are any.
static bool fill(bool *m, int columns, int row, int rows, int col, bool also) {
  bool any = also;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 3; ++j) any = any || m[(row + i) * columns + col + j];
  for (int i = 0; i < rows && any; ++i)
    for (int j = 0; j < 3; ++j) m[(row + i) * columns + col + j] = true;
  return any;
}

/// Rows by q and by velocities of the node at column `move`; says whether one of them is turned.
static bool fill_rows(bool *by_q, bool *by_v, int columns, int rows, int move) {
  bool any = false;
  for (int r = 0; r < rows; ++r) {
    const bool turns = fill(by_v, columns, r, 1, move + 3, false);
    fill(by_v, columns, r, 1, move, false);
    fill(by_q, columns, r, 1, move, false);
    fill(by_q, columns, r, 1, move + 3, turns);
    any = any || turns;
  }
  return any;
}

/// Three rows of one column, if any of them is flagged.
static void fill_column(bool *m, int columns, int row, int col) {
  bool any = false;
  for (int i = row; i < row + 3; ++i) any = any || m[i * columns + col];
  for (int i = row; i < row + 3; ++i) m[i * columns + col] = any;
}

void asi_node_spread(const asi_scatter_map *shape, asi_element_flags *f) {
  const int columns = 6 * shape->n_bodies;
  for (int b = 0; b < shape->n_bodies; ++b) {
    if (shape->role[b] != ASI_ROLE_NODE) continue;
    const int move = 6 * b, turn = move + 3;
    const bool by_g = fill_rows(f->gdot_q, f->g_q, columns, shape->n_rows, move);
    const bool by_k = fill_rows(f->k_q, f->k_v, columns, shape->n_velocity_rows, move);
    fill(f->f_q, columns, turn, 3, turn, f->force || by_g || by_k);
    for (int k = 0; k < shape->n_read; ++k) {
      fill_column(f->f_lambda, shape->n_read, move, k);
      fill_column(f->f_lambda, shape->n_read, turn, k);
    }
    for (int k = 0; k < columns; k += 3) {
      for (int c = move; c <= turn; c += 3) {
        const bool by_v = fill(f->f_v, columns, k, 3, c, false); // columns of the node
        fill(f->f_q, columns, k, 3, c, by_v && c == turn);
        fill(f->f_v, columns, c, 3, k, false); // its rows
        fill(f->f_q, columns, c, 3, k, false);
      }
    }
  }
}
