/// Coordinates c of frame B against frame A, and a force or torque S(c, c') against them: f = -S c_q^T,
///
///     f_q = -c_q^T (S_c c_q + S_c' D_q c') - S D_q c_q^T           f_v = -S_c' c_q^T c_q
///
/// A displacement along an axis u of A is -u . (P_a - P_b), a separation row (separation.c). An angle is
/// phi = atan2(s, c) with sums s and c of axes rows (axes.c), whose gradients, rates and curvatures are known:
///
///     about z of both      s = y_a . x_b - x_a . y_b     c = x_a . x_b + y_a . y_b
///     about x of A         s = z_a . y_b                 c = y_a . y_b           (universal joint)
///     about y of B         s = x_a . z_b                 c = x_a . x_b           (universal joint)
///     direction of B       s = y_a . (P_b - P_a)         c = x_a . (P_b - P_a)   (wheels, see tooth.c)
///     heading of z_b       s = y_a . z_b                 c = x_a . z_b           (racks)
///
/// The first is the angle about z where the z axes agree, and smooth unless they are opposite. With n = s^2 + c^2 and
/// m = s s_q + c c_q
///
///     phi_q  = (c s_q - s c_q)/n                  phi' = (c s' - s c')/n
///     phi'_q = (c s'_q - s c'_q + s' c_q - c' s_q)/n - 2 phi' m/n
///     phi''  = (c s'' - s c'' - 2 phi' (s s' + c c'))/n
///     D phi_q^T = (c D s_q^T - s D c_q^T + s_q^T c_q - c_q^T s_q)/n - 2 phi_q^T m/n
#include "elements/coordinate.h"

#include <math.h>
#include <string.h>

#include "elements/vector.h"

enum { X, Y, Z };

asi_family asi_coordinate_family(asi_coordinate_kind kind) {
  switch (kind) {
  case ASI_COORDINATE_SHIFT:
    return (asi_family){"displacement", "m", "displacement_rate", "m/s",
                        "displacement_acceleration"};
  case ASI_COORDINATE_ROTATION:
    return (asi_family){"rotation", "rad", "rotation_rate", "rad/s", "rotation_acceleration"};
  case ASI_COORDINATE_ANGLE:
  case ASI_COORDINATE_ANGLE_A:
  case ASI_COORDINATE_ANGLE_B:
  case ASI_COORDINATE_DIRECTION:
  case ASI_COORDINATE_HEADING: break;
  }
  return (asi_family){"angle", "rad", "angle_rate", "rad/s", "angle_acceleration"};
}

static bool is_like(const asi_coordinate *all, int n, int i, int other) {
  return other >= 0 && other < n &&
         asi_coordinate_family(all[other].kind).name == asi_coordinate_family(all[i].kind).name;
}

char asi_coordinate_letter(const asi_coordinate *all, int n, int i) {
  const bool several = is_like(all, n, i, i - 1) || is_like(all, n, i, i + 1);
  return several ? "xyz"[all[i].axis] : '\0';
}

/// The rows of an angle's sine and cosine.
typedef struct angle_rows {
  int n;
  asi_row sine[2], cosine[2];
} angle_rows;

static const angle_rows *rows_of(asi_coordinate_kind kind) {
  static const angle_rows about_z = {2,
                                     {{ASI_ROW_AXES, Y, X, 1}, {ASI_ROW_AXES, X, Y, -1}},
                                     {{ASI_ROW_AXES, X, X, 1}, {ASI_ROW_AXES, Y, Y, 1}}};
  static const angle_rows about_x = {1, {{ASI_ROW_AXES, Z, Y, 1}}, {{ASI_ROW_AXES, Y, Y, 1}}};
  static const angle_rows about_y = {1, {{ASI_ROW_AXES, X, Z, 1}}, {{ASI_ROW_AXES, X, X, 1}}};
  static const angle_rows direction = {
      1, {{ASI_ROW_SEPARATION, Y, 0, -1}}, {{ASI_ROW_SEPARATION, X, 0, -1}}};
  static const angle_rows heading = {1, {{ASI_ROW_AXES, Y, Z, 1}}, {{ASI_ROW_AXES, X, Z, 1}}};
  if (kind == ASI_COORDINATE_DIRECTION) return &direction;
  if (kind == ASI_COORDINATE_HEADING) return &heading;
  if (kind == ASI_COORDINATE_ANGLE_A) return &about_x;
  return kind == ASI_COORDINATE_ANGLE_B ? &about_y : &about_z;
}

static void add_rows(const asi_pair *pair, const asi_row *rows, int n, const as_element_input *in,
                     const as_element_output *out) {
  for (int k = 0; k < n; ++k) {
    if (rows[k].kind == ASI_ROW_SEPARATION)
      asi_separation_row(pair, rows[k], in, out, 0);
    else
      asi_axes_row(pair, rows[k], in, out, 0);
  }
}

asi_row_sum asi_axes_sum(const asi_pair *pair, const asi_row *rows, int n,
                         const as_element_input *in, unsigned wanted) {
  asi_row_sum x = {0};
  const as_element_output out = {.g = &x.value,
                                 .g_q = wanted & ASI_SUM_Q ? x.q : NULL,
                                 .rate = wanted & ASI_SUM_RATE ? &x.rate : NULL,
                                 .gdot_q = wanted & ASI_SUM_RATE_Q ? x.rate_q : NULL,
                                 .acceleration =
                                     wanted & ASI_SUM_ACCELERATION ? &x.acceleration : NULL};
  add_rows(pair, rows, n, in, &out);
  return x;
}

double asi_unwrap(double angle, double near) {
  const double turn = 6.283185307179586477;
  return angle - turn * ceil((angle - near) / turn - 0.5);
}

static asi_row displacement(asi_coordinate of) {
  return (asi_row){ASI_ROW_SEPARATION, (signed char)of.axis, 0, -1};
}

static bool measure_angle(asi_measure *x, const as_element_input *in, double near) {
  const unsigned all = ASI_SUM_TANGENTS | ASI_SUM_ACCELERATION;
  const angle_rows *rows = rows_of(x->of.kind);
  x->sine = asi_axes_sum(&x->pair, rows->sine, rows->n, in, all);
  x->cosine = asi_axes_sum(&x->pair, rows->cosine, rows->n, in, all);
  const asi_row_sum *S = &x->sine, *C = &x->cosine;
  const double s = S->value, c = C->value;
  x->n = s * s + c * c;
  if (!(x->n > 0.0)) return false;
  x->value = asi_unwrap(atan2(s, c), near);
  x->rate = (c * S->rate - s * C->rate) / x->n;
  x->acceleration =
      (c * S->acceleration - s * C->acceleration - 2.0 * x->rate * (s * S->rate + c * C->rate)) /
      x->n;
  for (int i = 0; i < ASI_PAIR; ++i) {
    x->q[i] = (c * S->q[i] - s * C->q[i]) / x->n;
    x->m[i] = s * S->q[i] + c * C->q[i];
    x->rate_q[i] = (c * S->rate_q[i] - s * C->rate_q[i] + S->rate * C->q[i] - C->rate * S->q[i] -
                    2.0 * x->rate * x->m[i]) /
                   x->n;
  }
  return true;
}

bool asi_measure_coordinate(asi_measure *x, asi_coordinate of, const as_element_input *in,
                            const asi_frame_now *A, const asi_frame_now *B, double near) {
  const bool shift = of.kind == ASI_COORDINATE_SHIFT;
  const bool apart = shift || of.kind == ASI_COORDINATE_DIRECTION;
  x->of = of;
  x->value = x->rate = x->acceleration = 0.0;
  memset(x->q, 0, sizeof x->q);
  memset(x->rate_q, 0, sizeof x->rate_q);
  const as_element_output out = {.g = &x->value,
                                 .g_q = x->q,
                                 .rate = &x->rate,
                                 .gdot_q = x->rate_q,
                                 .acceleration = &x->acceleration};
  asi_pair_init(&x->pair, in, &out, A, B, apart ? ASI_NEED_ALWAYS : ASI_NEED_NOTHING);
  if (!shift) {
    asi_pair_turn(&x->pair);
    return measure_angle(x, in, near);
  }
  asi_separation_row(&x->pair, displacement(of), in, &out, 0);
  return true;
}

bool asi_measure_place(asi_measure *x, asi_coordinate of, const as_element_input *in,
                       const asi_frame_now *A, const asi_frame_now *B, double near) {
  const bool shift = of.kind == ASI_COORDINATE_SHIFT;
  const bool apart = shift || of.kind == ASI_COORDINATE_DIRECTION;
  x->of = of;
  x->value = 0.0;
  memset(x->q, 0, sizeof x->q);
  const as_element_output out = {.g = &x->value, .g_q = x->q};
  asi_pair_init(&x->pair, in, &out, A, B, apart ? ASI_NEED_ALWAYS : ASI_NEED_NOTHING);
  if (shift) {
    asi_separation_row(&x->pair, displacement(of), in, &out, 0);
    return true;
  }
  asi_pair_turn(&x->pair);
  const angle_rows *rows = rows_of(of.kind);
  asi_row_sum *const sums[2] = {&x->sine, &x->cosine};
  for (int k = 0; k < 2; ++k) {
    sums[k]->value = 0.0;
    memset(sums[k]->q, 0, sizeof sums[k]->q);
    add_rows(&x->pair, k == 0 ? rows->sine : rows->cosine, rows->n, in,
             &(as_element_output){.g = &sums[k]->value, .g_q = sums[k]->q});
  }
  const double s = x->sine.value, c = x->cosine.value;
  x->n = s * s + c * c;
  if (!(x->n > 0.0)) return false;
  x->value = asi_unwrap(atan2(s, c), near);
  for (int i = 0; i < ASI_PAIR; ++i) {
    x->q[i] = (c * x->sine.q[i] - s * x->cosine.q[i]) / x->n;
    x->m[i] = s * x->sine.q[i] + c * x->cosine.q[i];
  }
  return true;
}

/// The sum of axes rows and its rate, by the same operations as theirs.
static double sum_axes(const asi_pair *pair, const asi_row *rows, int n, double *rate) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) {
    const double *a = pair->A.axis + 3 * rows[k].i, *b = pair->B.axis + 3 * rows[k].j;
    const double sign = rows[k].sign;
    double m_[3], n_[3], Wa[3], Wb[3];
    asi_rotate(pair->S, b, m_);
    sum += sign * asi_dot(a, m_);
    if (rate == NULL) continue;
    asi_rotate_back(pair->S, a, n_);
    asi_local_rate(pair->a, a, pair->A.axis1 + 3 * rows[k].i, Wa);
    asi_local_rate(pair->b, b, pair->B.axis1 + 3 * rows[k].j, Wb);
    *rate += sign * (asi_dot(Wa, m_) + asi_dot(Wb, n_));
  }
  return sum;
}

bool asi_coordinate_value(asi_coordinate of, const as_element_input *in, const asi_frame_now *A,
                          const asi_frame_now *B, double near, bool wants_rate, double *out) {
  const bool shift = of.kind == ASI_COORDINATE_SHIFT;
  const bool apart = shift || of.kind == ASI_COORDINATE_DIRECTION;
  const bool separate = of.kind == ASI_COORDINATE_DIRECTION;
  double s = 0.0, c = 0.0, s_rate = 0.0, c_rate = 0.0;
  const as_element_output line = {.g = wants_rate ? NULL : out, .rate = wants_rate ? out : NULL};
  const as_element_output sine = {.g = &s, .rate = wants_rate ? &s_rate : NULL};
  const as_element_output cosine = {.g = &c, .rate = wants_rate ? &c_rate : NULL};
  asi_pair pair;
  *out = 0.0;
  asi_pair_init(&pair, in, shift ? &line : &sine, A, B, apart ? ASI_NEED_ALWAYS : ASI_NEED_NOTHING);
  if (shift) {
    asi_separation_row(&pair, displacement(of), in, &line, 0);
    return true;
  }
  asi_pair_turn(&pair);
  const angle_rows *rows = rows_of(of.kind);
  if (separate) {
    add_rows(&pair, rows->sine, rows->n, in, &sine);
    add_rows(&pair, rows->cosine, rows->n, in, &cosine);
  } else {
    s = sum_axes(&pair, rows->sine, rows->n, sine.rate);
    c = sum_axes(&pair, rows->cosine, rows->n, cosine.rate);
  }
  const double n = s * s + c * c;
  if (!(n > 0.0)) return false;
  *out = wants_rate ? (c * s_rate - s * c_rate) / n : asi_unwrap(atan2(s, c), near);
  return true;
}

static void add_row_curvature(const asi_measure *x, asi_row row, double force, double *f_q) {
  if (row.kind != ASI_ROW_SEPARATION) {
    asi_axes_curvature(&x->pair, row, force, f_q);
    return;
  }
  const as_element_input in = {.body = {x->pair.a, x->pair.b}, .lambda = &force};
  const as_element_output out = {.f_q = f_q};
  asi_separation_row(&x->pair, row, &in, &out, 0);
}

void asi_measure_curvature(const asi_measure *x, double force, double *f_q) {
  if (x->of.kind == ASI_COORDINATE_SHIFT) {
    add_row_curvature(x, displacement(x->of), force, f_q);
    return;
  }
  const angle_rows *rows = rows_of(x->of.kind);
  const double s = x->sine.value / x->n, c = x->cosine.value / x->n;
  const double *s_q = x->sine.q, *c_q = x->cosine.q;
  for (int k = 0; k < rows->n; ++k) {
    add_row_curvature(x, rows->sine[k], force * c, f_q);
    add_row_curvature(x, rows->cosine[k], -force * s, f_q);
  }
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j)
      f_q[i * ASI_PAIR + j] -=
          force / x->n * (s_q[i] * c_q[j] - c_q[i] * s_q[j] - 2.0 * x->q[i] * x->m[j]);
}

void asi_act_along(const asi_measure *x, const double law[3], const as_element_output *out) {
  for (int i = 0; i < ASI_PAIR; ++i) {
    if (out->force) out->force[i] -= law[0] * x->q[i];
    for (int j = 0; j < ASI_PAIR; ++j) {
      if (out->f_q)
        out->f_q[i * ASI_PAIR + j] -= x->q[i] * (law[1] * x->q[j] + law[2] * x->rate_q[j]);
      if (out->f_v) out->f_v[i * ASI_PAIR + j] -= law[2] * x->q[i] * x->q[j];
    }
  }
  if (out->f_q) asi_measure_curvature(x, law[0], out->f_q);
}
