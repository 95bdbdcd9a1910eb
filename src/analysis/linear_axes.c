/// [LI.6] The axes that increments of positions and rotations are seen in.
#include <string.h>

#include "analysis/linearization.h"
#include "lie/rotation.h"
#include "lie/space.h"

/// [LI.6] seen = S^T R x for body axes, S^T x for world axes; S = 1 now and turns with w.
static void add_triple(asi_linear *l, int at, const double *quaternion, const double *omega) {
  asi_linear_triple *t = &l->turned[l->n_turned++];
  double back[4], all[4], world[3] = {0.0, 0.0, 0.0};
  asi_so3_inverse(l->turned_by, back);
  memcpy(all, back, sizeof all);
  if (quaternion) asi_so3_compose(back, quaternion, all);
  if (quaternion) asi_so3_rotate(quaternion, omega, world);
  for (int i = 0; i < 3; ++i) world[i] -= l->out.turning[i];
  t->at = at;
  asi_so3_matrix(all, t->r);
  asi_so3_rotate(back, world, t->w);
}

void asi_linear_find_axes(asi_linear *l) {
  const as_space *space = l->s->kin.problem->space;
  const double *q = l->s->stepper.now.q, *v = l->s->stepper.now.v;
  l->n_turned = 0;
  if (l->out.axes != AS_AXES_TURNING) return;
  int at = 0, at_q = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    if (kind == AS_SPACE_RN) {
      at += space->parts[part].count;
      at_q += space->parts[part].count;
      continue;
    }
    for (int i = 0; i < space->parts[part].count; ++i) {
      const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
      const double *quaternion = q + at_q + ahead, *omega = v + at + ahead;
      if (kind == AS_SPACE_R3SO3) add_triple(l, at, NULL, NULL);
      if (kind == AS_SPACE_SE3) add_triple(l, at, quaternion, omega);
      add_triple(l, at + ahead, quaternion, omega);
      at += ahead + 3;
      at_q += ahead + 4;
    }
  }
}

void asi_linear_to_axes(const asi_linear *l, double *x) {
  for (int k = 0; k < l->n_turned; ++k) {
    const asi_linear_triple *t = &l->turned[k];
    double *y = x + t->at;
    const double z[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i)
      y[i] = t->r[3 * i] * z[0] + t->r[3 * i + 1] * z[1] + t->r[3 * i + 2] * z[2];
  }
}

void asi_linear_from_axes(const asi_linear *l, double *x) {
  for (int k = 0; k < l->n_turned; ++k) {
    const asi_linear_triple *t = &l->turned[k];
    double *y = x + t->at;
    const double z[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i) y[i] = t->r[i] * z[0] + t->r[3 + i] * z[1] + t->r[6 + i] * z[2];
  }
}

void asi_linear_add_turning(const asi_linear *l, const double *seen, double *rate) {
  for (int k = 0; k < l->n_turned; ++k) {
    double product[3];
    asi_cross3(l->turned[k].w, seen + l->turned[k].at, product);
    for (int i = 0; i < 3; ++i) rate[l->turned[k].at + i] += product[i];
  }
}
