/// A disk or a sphere of radius r that rolls on a plane without slipping: one row g, two velocity rows.
///
/// n = z_a is the plane's normal, w = z_b the disk's axis, D = P_a - P_b with P_a on the plane and P_b the centre.
/// With sigma = (x_a . w, y_a . w, z_a . w), c = sigma_3 and s = sqrt(1 - c^2), the lowest point of a thin disk is
/// rho = -(r/s) (n - c w) from its centre, that of a sphere rho = -r n. It touches the plane:
///
///     g = n . D + r s      or   g = n . D + r               lambda presses the disk away from the plane
///
/// g_q and so on are those of a separation row and, by way of s_c = -c/s, s_cc = -1/s^3, of an axes row:
///
///     (r s)_q = r s_c c_q     (r s)'_q = r (s_cc c' c_q + s_c c'_q)     (r s)'' = r (s_cc c'^2 + s_c c'')
///
/// The material point of the disk there moves against the plane with (P_b - P_a)' seen from A and Omega x rho, Omega
/// the angular velocity of B against A. Along x_a and y_a, with e_i the rate of the displacement along axis i,
///
///     k_x = -e_x + r (s Omega_y + p sigma_2 Omega_z)         p = c/s,  p_c = 1/s^3
///     k_y = -e_y - r (s Omega_x + p sigma_1 Omega_z)         of a sphere s = 1, p = 0
///
/// so that psi is the force along x_a and y_a on the disk. A disk that lies flat has no lowest point.
#include "elements/rolling.h"

#include <math.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/sliding.h"
#include "elements/vector.h"
#include "elements/why.h"

enum { X, Y, Z };

static const asi_coordinate shift[2] = {{ASI_COORDINATE_SHIFT, X}, {ASI_COORDINATE_SHIFT, Y}};
static const asi_coordinate spin[3] = {
    {ASI_COORDINATE_ROTATION, X}, {ASI_COORDINATE_ROTATION, Y}, {ASI_COORDINATE_ROTATION, Z}};

/// n . D, and the constant r of a sphere.
static void height_row(const asi_pair *pair, const as_element_input *in,
                       const as_element_output *out, double r) {
  if (out->g) out->g[0] += r;
  asi_separation_row(pair, (asi_row){ASI_ROW_SEPARATION, Z, 0, 1}, in, out, 0);
}

/// r s: what an axes row c becomes with s(c).
static void add_tilt(const asi_pair *pair, const as_element_input *in, const as_element_output *out,
                     double r, double c, double s) {
  const asi_row row = {ASI_ROW_AXES, Z, Z, 1};
  const double slope = -r * c / s, bend = -r / (s * s * s);
  double c1 = 0.0, c2 = 0.0, c_q[ASI_PAIR] = {0}, c1_q[ASI_PAIR] = {0};
  const as_element_output want = {.rate = &c1, .acceleration = &c2, .g_q = c_q, .gdot_q = c1_q};
  asi_axes_row(pair, row, in, &want, 0);
  if (out->g) out->g[0] += r * s;
  if (out->rate) out->rate[0] += slope * c1;
  if (out->acceleration) out->acceleration[0] += bend * c1 * c1 + slope * c2;
  for (int i = 0; i < ASI_PAIR && out->g_q; ++i) out->g_q[i] += slope * c_q[i];
  for (int i = 0; i < ASI_PAIR && out->gdot_q; ++i)
    out->gdot_q[i] += bend * c1 * c_q[i] + slope * c1_q[i];
  if (!out->f_q) return;
  asi_axes_curvature(pair, row, in->lambda[0] * slope, out->f_q);
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j)
      out->f_q[i * ASI_PAIR + j] -= in->lambda[0] * bend * c_q[i] * c_q[j];
}

static bool wants_sliding(const as_element_output *out) {
  return out->k || out->k_q || out->k_v || out->k_rate || out->f_q;
}

static asi_sliding row_of(const asi_pair *pair, const as_element_input *in,
                          const as_element_output *out, int row) {
  return (asi_sliding){pair, out, out->f_q ? in->psi[row] : 0.0, row};
}

/// Row i = x or y: -e_i +- r s Omega_j, j the other one.
static void add_rolling(const asi_sliding *k, double rs) {
  const int i = k->row, j = i == X ? Y : X;
  asi_rate e, turn;
  asi_rate_evaluate(k->pair, shift[i], &e);
  asi_rate_evaluate(k->pair, spin[j], &turn);
  asi_sliding_add(k, -1.0, shift[i], &e);
  asi_sliding_add(k, i == X ? rs : -rs, spin[j], &turn);
}

static int evaluate_sphere(const as_element_input *in, const as_element_output *out,
                           const void *data) {
  const asi_rolling *rolling = data;
  const asi_pair pair = asi_rate_pair(in, rolling->joint.frame);
  height_row(&pair, in, out, rolling->radius);
  for (int i = 0; i < 2 && wants_sliding(out); ++i) {
    const asi_sliding k = row_of(&pair, in, out, i);
    add_rolling(&k, rolling->radius);
  }
  return AS_DONE;
}

/// What the disk's tilt adds to row i: the slopes of r s, and r p sigma_j Omega_z.
static void add_pivoting(const asi_sliding *k, double r, double c, double s) {
  const int i = k->row, j = i == X ? Y : X;
  const double sign = i == X ? 1.0 : -1.0, p = c / s;
  const asi_cosine sigma = asi_cosine_of(k->pair, j, Z), tilt = asi_cosine_of(k->pair, Z, Z);
  asi_rate turn, pivot;
  asi_rate_evaluate(k->pair, spin[j], &turn);
  asi_rate_evaluate(k->pair, spin[Z], &pivot);
  asi_sliding_slope(k, -sign * r * p, &tilt, &turn);
  asi_sliding_add(k, sign * r * p * sigma.value, spin[Z], &pivot);
  asi_sliding_slope(k, sign * r * p, &sigma, &pivot);
  asi_sliding_slope(k, sign * r * sigma.value / (s * s * s), &tilt, &pivot);
}

static int evaluate_disk(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const asi_rolling *rolling = data;
  const double r = rolling->radius;
  const asi_pair pair = asi_rate_pair(in, rolling->joint.frame);
  double n[3], w[3], across[3];
  asi_rotate(in->body[0]->R, rolling->joint.frame[0].axis + 3 * Z, n);
  asi_rotate(in->body[1]->R, rolling->joint.frame[1].axis + 3 * Z, w);
  asi_cross(n, w, across);
  const double c = asi_dot(n, w), s = asi_norm(across);
  if (!(s > 0.0)) return asi_retry(in, "the disk lies flat on its plane");
  height_row(&pair, in, out, 0.0);
  add_tilt(&pair, in, out, r, c, s);
  for (int i = 0; i < 2 && wants_sliding(out); ++i) {
    const asi_sliding k = row_of(&pair, in, out, i);
    add_rolling(&k, r * s);
    add_pivoting(&k, r, c, s);
  }
  return AS_DONE;
}

const as_element_type asi_rolling_disk_type = {"rolling disk", evaluate_disk, NULL, NULL};
const as_element_type asi_rolling_sphere_type = {"rolling sphere", evaluate_sphere, NULL, NULL};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("rolling", ((const asi_rolling *)data)->joint.frame, out);
}

const asi_descriptor asi_rolling_disk_descriptor = {.type = &asi_rolling_disk_type, .draw = draw};
const asi_descriptor asi_rolling_sphere_descriptor = {.type = &asi_rolling_sphere_type,
                                                      .draw = draw};
