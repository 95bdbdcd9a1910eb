/// With C = R_a^T (x_b + R_b p - x_a) the point as seen from the first body, S = R_a^T R_b and c = C - centre,
///
///     g_0 = -c_z        g_1 = (1 - c_x^2/a^2 - c_y^2/b^2) sqrt(ab)/2       rows: y_0 = (0, 0, -1), y_1 = dg_1/dc
///
///     c_q = J = [-R_a^T, C~, R_a^T, -S p~]             g_q = y^T J
///     c'  = r - omega_a x C,  r = R_a^T (v_b + R_b (omega_b x p) - v_a)          g' = y . c'
///     c'' = -omega_a x (r + c') + S (omega_b x (omega_b x p))   at v' = 0        g'' = y . c'' + c' . H c'
///     c'_q = -omega_a~ J + [0, r~, 0, -S (omega_b x p)~]                         g'_q = y^T c'_q + (H c')^T J
///
/// H = d^2 g/dc^2, only of g_1. The constraint force is -J^T Y with Y = sum of lambda y; its derivative is
///
///     -J^T (lambda_1 H) J - D(J^T Y):   of J^T Y = (-R_a Y, -C x Y, R_a Y, p x S^T Y) at fixed Y
///     D = (R_a Y~ dtheta_a,  Y~ J dq,  -R_a Y~ dtheta_a,  p~ ((S^T Y)~ dtheta_b - S^T Y~ dtheta_a))
#include "ellipse.h"

#include <math.h>
#include <string.h>

#include "vector.h"

/// The point as seen from the first body, and the rows there.
typedef struct track {
  double C[3], c[3], S[9], J[3 * COLUMNS];
  double row[2][3]; ///< dg/dc
  double bend[2];   ///< H of g_1: its entries xx and yy
} track;

static void look(const as_element_input *in, const ellipse *e, track *t) {
  const as_body_motion *a = in->body[0], *b = in->body[1];
  double reach[3], back[9], tilde[9], turned[9];
  *t = (track){{0}, {0}, {0}, {0}, {{0}}, {0}};
  rotate(b->R, e->point, reach);
  for (int i = 0; i < 3; ++i) reach[i] += b->x[i] - a->x[i];
  rotate_back(a->R, reach, t->C);
  for (int i = 0; i < 3; ++i) {
    t->c[i] = t->C[i] - e->center[i];
    for (int j = 0; j < 3; ++j) back[3 * i + j] = a->R[3 * j + i];
  }
  multiply(back, b->R, t->S);
  add_block(-1.0, back, t->J, 0, XA);
  add_block(1.0, back, t->J, 0, XB);
  skew(t->C, tilde);
  add_block(1.0, tilde, t->J, 0, TA);
  skew(e->point, tilde);
  multiply(t->S, tilde, turned);
  add_block(-1.0, turned, t->J, 0, TB);
  const double size = sqrt(e->half[0] * e->half[1]);
  t->row[0][2] = -1.0;
  for (int k = 0; k < 2; ++k) {
    t->bend[k] = -size / (e->half[k] * e->half[k]);
    t->row[1][k] = t->bend[k] * t->c[k];
  }
}

/// r and c'.
static void rates(const as_element_input *in, const ellipse *e, const track *t, double r[3],
                  double c1[3]) {
  const as_body_motion *a = in->body[0], *b = in->body[1];
  double swing[3], speed[3], carried[3];
  cross(b->omega, e->point, swing);
  rotate(b->R, swing, speed);
  for (int i = 0; i < 3; ++i) speed[i] += b->v[i] - a->v[i];
  rotate_back(a->R, speed, r);
  cross(a->omega, t->C, carried);
  for (int i = 0; i < 3; ++i) c1[i] = r[i] - carried[i];
}

/// y^T A for both rows, and (H c1)^T J for the second; c1 may be NULL.
static void write_rows(const track *t, const double *A, const double *c1, double *out) {
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < COLUMNS; ++j) {
      double *sum = &out[k * COLUMNS + j];
      for (int i = 0; i < 3; ++i) *sum += t->row[k][i] * A[i * COLUMNS + j];
      for (int i = 0; i < 2 && k == 1 && c1; ++i)
        *sum += t->bend[i] * c1[i] * t->J[i * COLUMNS + j];
    }
}

static void add_acceleration(const as_element_input *in, const ellipse *e, const track *t,
                             const double *r, const double *c1, double *out) {
  const as_body_motion *a = in->body[0], *b = in->body[1];
  double both[3], turn[3], swing[3], inward[3], c2[3];
  for (int i = 0; i < 3; ++i) both[i] = r[i] + c1[i];
  cross(a->omega, both, turn);
  cross(b->omega, e->point, swing);
  cross(b->omega, swing, inward);
  rotate(t->S, inward, c2);
  for (int i = 0; i < 3; ++i) c2[i] -= turn[i];
  for (int k = 0; k < 2; ++k) out[k] += dot(t->row[k], c2);
  for (int i = 0; i < 2; ++i) out[1] += t->bend[i] * c1[i] * c1[i];
}

static void add_gdot_q(const as_element_input *in, const ellipse *e, const track *t,
                       const double *r, const double *c1, double *gdot_q) {
  double A[3 * COLUMNS] = {0}, omega[9], tilde[9], turned[9], swing[3];
  skew(in->body[0]->omega, omega);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      for (int k = 0; k < 3; ++k) A[i * COLUMNS + j] -= omega[3 * i + k] * t->J[k * COLUMNS + j];
  skew(r, tilde);
  add_block(1.0, tilde, A, 0, TA);
  cross(in->body[1]->omega, e->point, swing);
  skew(swing, tilde);
  multiply(t->S, tilde, turned);
  add_block(-1.0, turned, A, 0, TB);
  write_rows(t, A, c1, gdot_q);
}

static void add_f_q(const as_element_input *in, const ellipse *e, const track *t, double *f_q) {
  double Y[3], tilde[9], turned[9], back[9], p[9], held[9], S_Y[3], HJ[3 * COLUMNS] = {0};
  for (int i = 0; i < 3; ++i) Y[i] = in->lambda[0] * t->row[0][i] + in->lambda[1] * t->row[1][i];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < COLUMNS; ++j) HJ[i * COLUMNS + j] = t->bend[i] * t->J[i * COLUMNS + j];
  add_product(-in->lambda[1], t->J, HJ, f_q);
  skew(Y, tilde);
  multiply(in->body[0]->R, tilde, turned);
  add_block(-1.0, turned, f_q, XA, TA);
  add_block(1.0, turned, f_q, XB, TA);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      for (int k = 0; k < 3; ++k)
        f_q[(TA + i) * COLUMNS + j] -= tilde[3 * i + k] * t->J[k * COLUMNS + j];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) back[3 * i + j] = t->S[3 * j + i];
  skew(e->point, p);
  multiply(back, tilde, turned);
  multiply(p, turned, held);
  add_block(1.0, held, f_q, TB, TA);
  rotate(back, Y, S_Y);
  skew(S_Y, tilde);
  multiply(p, tilde, held);
  add_block(-1.0, held, f_q, TB, TB);
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const ellipse *e = data;
  track t;
  double r[3], c1[3];
  look(in, e, &t);
  rates(in, e, &t, r, c1);
  if (out->g) {
    out->g[0] = -t.c[2];
    out->g[1] = sqrt(e->half[0] * e->half[1]) / 2.0;
    for (int k = 0; k < 2; ++k) out->g[1] += t.bend[k] * t.c[k] * t.c[k] / 2.0;
  }
  if (out->g_q) write_rows(&t, t.J, NULL, out->g_q);
  for (int k = 0; k < 2 && out->rate; ++k) out->rate[k] = dot(t.row[k], c1);
  if (out->acceleration) add_acceleration(in, e, &t, r, c1, out->acceleration);
  if (out->gdot_q) add_gdot_q(in, e, &t, r, c1, out->gdot_q);
  if (out->f_q) add_f_q(in, e, &t, out->f_q);
  return AS_DONE;
}

const as_element_type ellipse_type = {"ellipse", evaluate, NULL, NULL};
