/// The equations of a rigid body, about its centre of mass.
///
///     R^3 x SO(3):  m x'' = m gravity + ...               J omega' = -omega x J omega + ...
///     SE(3), u = R^T x':  m u' = R^T m gravity - m omega x u + ...,   the same for omega
///
///     f_v:  D(-omega x J omega) = ((J omega)~ - omega~ J) domega,   D(-m omega x u) = m u~ domega - m omega~ du
///     f_q:  D(R^T m gravity) = (R^T m gravity)~ dtheta on SE(3), else none
#include "elements/body.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "lie/rotation.h"

const as_body_motion asi_ground_motion = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/// Eigenvalues of a symmetric matrix, increasing, by Jacobi's rotations.
static void principal_moments(const double J[9], double moment[3]) {
  double A[9];
  for (int i = 0; i < 9; ++i) A[i] = J[i];
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int p = 0; p < 2; ++p)
      for (int q = p + 1; q < 3; ++q) {
        const double off = A[3 * p + q];
        if (off == 0.0) continue;
        const double theta = (A[4 * q] - A[4 * p]) / (2.0 * off);
        const double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
        const double c = 1.0 / hypot(t, 1.0), s = t * c;
        for (int k = 0; k < 3; ++k) { // columns
          const double x = A[3 * k + p], y = A[3 * k + q];
          A[3 * k + p] = c * x - s * y;
          A[3 * k + q] = s * x + c * y;
        }
        for (int k = 0; k < 3; ++k) { // rows
          const double x = A[3 * p + k], y = A[3 * q + k];
          A[3 * p + k] = c * x - s * y;
          A[3 * q + k] = s * x + c * y;
        }
      }
  const double a = A[0], b = A[4], c = A[8];
  moment[0] = fmin(a, fmin(b, c));
  moment[2] = fmax(a, fmax(b, c));
  moment[1] = a + b + c - moment[0] - moment[2];
}

as_status asi_inertia_check(const double J[9], const char *name, as_error *error) {
  double moment[3];
  for (int i = 0; i < 9; ++i)
    if (!isfinite(J[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The inertia of body \"%s\" has an entry %g kg m^2.", name, J[i]);
  principal_moments(J, moment);
  if (!(moment[0] > 0.0))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, name,
        "The inertia of body \"%s\" is not positive definite: its principal moments are %g, %g "
        "and %g kg m^2.",
        name, moment[0], moment[1], moment[2]);
  if (!(moment[0] + moment[1] >= moment[2] * (1.0 - 1e-9)))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, name,
        "No body has the inertia of body \"%s\": its largest principal moment %g kg m^2 is "
        "more than the sum of the others, %g and %g kg m^2.",
        name, moment[2], moment[0], moment[1]);
  return AS_OK;
}

static const double at_rest[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};

void asi_body_motion(const asi_body *body, const double *q, const double *v, as_body_motion *out) {
  if (body->node) {
    asi_node_motion(body->node, q, v, out);
    return;
  }
  if (body->view) {
    asi_view_motion(body->view, q, v, out);
    return;
  }
  const bool rigid = body->n == 6;
  q += body->q;
  asi_copy(q, out->x);
  if (rigid)
    asi_so3_matrix(q + 3, out->R);
  else
    memcpy(out->R, asi_ground_motion.R, sizeof out->R);
  v = v ? v + body->v : at_rest;
  if (body->se3)
    asi_rotate(out->R, v, out->v);
  else
    asi_copy(v, out->v);
  asi_copy(rigid ? v + 3 : at_rest, out->omega);
}

/// In principal axes -omega x J omega = ((J_y - J_z) omega_y omega_z, ...): the differences.
typedef struct principal_terms {
  double x, y, z;
} principal_terms;

static inline principal_terms differences(const double J[9]) {
  return (principal_terms){J[4] - J[8], J[8] - J[0], J[0] - J[4]};
}

static void set_force(const asi_body *body, const as_body_motion *at, const double *omega,
                      const double *gravity, double *out) {
  const double weight[3] = {body->mass * gravity[0], body->mass * gravity[1],
                            body->mass * gravity[2]};
  if (!body->se3) {
    asi_copy(weight, out);
  } else {
    double u[3];
    asi_rotate_back(at->R, weight, out);
    asi_rotate_back(at->R, at->v, u);
    asi_add_cross(-body->mass, omega, u, out);
  }
  if (body->n < 6) return;
  if (body->principal) {
    const double x = omega[0], y = omega[1], z = omega[2];
    const principal_terms d = differences(body->J);
    asi_set(d.x * (y * z), d.y * (z * x), d.z * (x * y), out + 3);
  } else {
    double momentum[3];
    asi_rotate(body->J, omega, momentum);
    asi_cross(momentum, omega, out + 3);
  }
}

/// The torque by omega, by columns.
static void set_turning(const asi_body *body, const double *omega, double *value,
                        const int column[3]) {
  double *c0 = value + column[0], *c1 = value + column[1], *c2 = value + column[2];
  if (body->principal) {
    const double x = omega[0], y = omega[1], z = omega[2];
    const principal_terms d = differences(body->J);
    asi_set(0.0, d.y * z, d.z * y, c0);
    asi_set(d.x * z, 0.0, d.z * x, c1);
    asi_set(d.x * y, d.y * x, 0.0, c2);
    return;
  }
  double h[3], turned[9]; // J omega, omega~ J
  asi_rotate(body->J, omega, h);
  asi_skew_times(omega, body->J, turned);
  asi_set(-turned[0], h[2] - turned[3], -h[1] - turned[6], c0);
  asi_set(-h[2] - turned[1], -turned[4], h[0] - turned[7], c1);
  asi_set(h[1] - turned[2], -h[0] - turned[5], -turned[8], c2);
}

/// factor a~ by columns
static void set_skew(double factor, const double *a, double *value, const int column[3]) {
  const double x = factor * a[0], y = factor * a[1], z = factor * a[2];
  asi_set(0.0, z, -y, value + column[0]);
  asi_set(-z, 0.0, x, value + column[1]);
  asi_set(y, -x, 0.0, value + column[2]);
}

void asi_body_evaluate(const asi_body *body, const asi_body_place *place, const as_body_motion *at,
                       const double *omega, const double *gravity, const asi_body_output *out) {
  if (out->force) set_force(body, at, omega, gravity, out->force + body->v);
  if (out->f_v && place->turn_turn[0] >= 0) set_turning(body, omega, out->f_v, place->turn_turn);
  if (out->f_v && place->move_move[0] >= 0) {
    double u[3];
    asi_rotate_back(at->R, at->v, u);
    set_skew(-body->mass, omega, out->f_v, place->move_move);
    set_skew(body->mass, u, out->f_v, place->move_turn);
  }
  if (out->f_q && place->pull[0] >= 0) {
    double pull[3];
    asi_rotate_back(at->R, gravity, pull);
    set_skew(body->mass, pull, out->f_q, place->pull);
  }
}

double asi_body_kinetic(const asi_body *body, const as_body_motion *at) {
  double momentum[3];
  asi_rotate(body->J, at->omega, momentum);
  return (body->mass * asi_dot(at->v, at->v) + asi_dot(momentum, at->omega)) / 2.0;
}
