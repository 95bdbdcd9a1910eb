/// [LI.6] The axes that increments of positions and rotations are seen in.
#include <math.h>
#include <string.h>

#include "analysis/linearization.h"
#include "lie/rotation.h"
#include "lie/space.h"

/// What all triples of a state share.
typedef struct frame {
  double back[4]; ///< S^-1
  const double *turning;
} frame;

/// [LI.6] seen = S^T R x for body axes, S^T x for world axes; S = 1 now and turns with w.
static void add_triple(asi_axes *a, const frame *f, int at, const double *quaternion,
                       const double *omega) {
  asi_linear_triple *t = &a->turned[a->n_turned++];
  double all[4], world[3] = {0.0, 0.0, 0.0};
  memcpy(all, f->back, sizeof all);
  if (quaternion) asi_so3_compose(f->back, quaternion, all);
  if (quaternion) asi_so3_rotate(quaternion, omega, world);
  for (int i = 0; i < 3; ++i) world[i] -= f->turning[i];
  t->at = at;
  asi_so3_matrix(all, t->r);
  asi_so3_rotate(f->back, world, t->w);
}

void asi_axes_find(asi_axes *a, const as_problem *p, as_axes axes, const double *turning,
                   double later, const double *q, const double *v) {
  const as_space *space = p->space;
  a->n_turned = 0;
  if (axes != AS_AXES_TURNING) return;
  const double turn[3] = {-later * turning[0], -later * turning[1], -later * turning[2]};
  frame f = {.turning = turning};
  asi_so3_exp(turn, f.back);
  int at = 0, at_q = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    if (kind == AS_SPACE_RN) {
      for (int i = 0; i < space->parts[part].count; ++i)
        if (p->vector[at + i]) add_triple(a, &f, at + i, NULL, NULL);
      at += space->parts[part].count;
      at_q += space->parts[part].count;
      continue;
    }
    for (int i = 0; i < space->parts[part].count; ++i) {
      const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
      const double *quaternion = q + at_q + ahead, *omega = v + at + ahead;
      if (kind == AS_SPACE_R3SO3) add_triple(a, &f, at, NULL, NULL);
      if (kind == AS_SPACE_SE3) add_triple(a, &f, at, quaternion, omega);
      add_triple(a, &f, at + ahead, quaternion, omega);
      at += ahead + 3;
      at_q += ahead + 4;
    }
  }
}

/// Sums of a x b and |a|^2 - a a^T over vectors a of the world that change by b.
typedef struct turning_sums {
  double product[3], square[9];
} turning_sums;

static void add_vector(turning_sums *s, const double *a, const double *b, double unit) {
  double c[3];
  asi_cross3(a, b, c);
  for (int i = 0; i < 3; ++i) {
    s->product[i] += c[i] / (unit * unit);
    for (int j = 0; j < 3; ++j)
      s->square[3 * i + j] +=
          ((i == j) * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) - a[i] * a[j]) / (unit * unit);
  }
}

/// A vector in body axes that turn with omega.
static void add_turned(turning_sums *s, const double *quaternion, const double *omega,
                       const double *a, const double *b, double unit) {
  double change[3], world[3], rate[3];
  asi_cross3(omega, a, change);
  for (int i = 0; i < 3; ++i) change[i] += b[i];
  asi_so3_rotate(quaternion, a, world);
  asi_so3_rotate(quaternion, change, rate);
  add_vector(s, world, rate, unit);
}

/// All velocities of a problem.
static turning_sums sum_velocities(const as_problem *p, const double *q, const double *v,
                                   const double *vdot) {
  const as_space *space = p->space;
  turning_sums s = {{0.0}, {0.0}};
  int at = 0, at_q = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    for (int i = 0; i < space->parts[part].count; ++i) {
      if (kind == AS_SPACE_RN) {
        if (p->vector[at]) add_vector(&s, v + at, vdot + at, p->typical[at]);
        ++at;
        ++at_q;
        continue;
      }
      const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
      const double *turned = q + at_q + ahead, *omega = v + at + ahead;
      if (kind == AS_SPACE_R3SO3) add_vector(&s, v + at, vdot + at, p->typical[at]);
      if (kind == AS_SPACE_SE3) add_turned(&s, turned, omega, v + at, vdot + at, p->typical[at]);
      add_turned(&s, turned, omega, omega, vdot + at + ahead, 1.0);
      at += ahead + 3;
      at_q += ahead + 4;
    }
  }
  return s;
}

/// [LI.6] w of least squares in b = w x a; the part along an axis that all a have in common does not matter and is left out.
bool asi_axes_guess(const as_problem *p, const double *q, const double *v, const double *vdot,
                    double turning[3]) {
  const turning_sums s = sum_velocities(p, q, v, vdot);
  const double *m = s.square, *b = s.product;
  const double trace = m[0] + m[4] + m[8], e = 1e-12 * trace; // where m is singular b has no part
  const double k[9] = {m[0] + e, m[1], m[2], m[3], m[4] + e, m[5], m[6], m[7], m[8] + e};
  double c[3], sum = 0.0;
  asi_cross3(k + 3, k + 6, c);
  const double det = k[0] * c[0] + k[1] * c[1] + k[2] * c[2];
  if (!(det > 0.0)) return false;
  double x[3], y[3];
  asi_cross3(k + 6, k, x); // columns of the inverse are cross products of rows
  asi_cross3(k, k + 3, y);
  for (int i = 0; i < 3; ++i) {
    turning[i] = (c[i] * b[0] + x[i] * b[1] + y[i] * b[2]) / det;
    sum += turning[i] * turning[i];
  }
  for (int i = 0; i < 3; ++i)
    if (fabs(turning[i]) <= 1e-9 * sqrt(sum)) turning[i] = 0.0;
  return isfinite(sum) && sum > 1e-18 * trace; // else it is round-off of v'
}

void asi_axes_to(const asi_axes *a, double *x) {
  for (int k = 0; k < a->n_turned; ++k) {
    const asi_linear_triple *t = &a->turned[k];
    double *y = x + t->at;
    const double z[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i)
      y[i] = t->r[3 * i] * z[0] + t->r[3 * i + 1] * z[1] + t->r[3 * i + 2] * z[2];
  }
}

void asi_axes_from(const asi_axes *a, double *x) {
  for (int k = 0; k < a->n_turned; ++k) {
    const asi_linear_triple *t = &a->turned[k];
    double *y = x + t->at;
    const double z[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i) y[i] = t->r[i] * z[0] + t->r[3 + i] * z[1] + t->r[6 + i] * z[2];
  }
}

void asi_axes_add_turning(const asi_axes *a, const double *seen, double *rate) {
  for (int k = 0; k < a->n_turned; ++k) {
    double product[3];
    asi_cross3(a->turned[k].w, seen + a->turned[k].at, product);
    for (int i = 0; i < 3; ++i) rate[a->turned[k].at + i] += product[i];
  }
}
