/// Many rigid bodies: lattices with loops and trees without, see loops.h.
///
/// Positions, turnings and joints are random, the same in every run: a joint is put somewhere
/// between the centres of its bodies, and its points follow, p = R^T (P - x). Nothing is aligned,
/// so no rows are redundant.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "problems/mechanism.h"
#include "problems/rotation.h"

/// Numbers in [-1, 1].
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/// Puts a body near (x, y, z) and turns it in any way.
static void place_body(mechanism_body *b, double x, double y, double z, double *q,
                       uint64_t *state) {
  const double at[3] = {x, y, z};
  double length = 0.0;
  for (int k = 0; k < 3; ++k) q[k] = at[k] + 0.1 * random_number(state);
  for (int k = 3; k < 7; ++k) {
    q[k] = random_number(state);
    length += q[k] * q[k];
  }
  for (int k = 3; k < 7; ++k) q[k] /= sqrt(length);
  const double J[9] = {0.08, 0.01, -0.02, 0.01, 0.10, 0.015, -0.02, 0.015, 0.12};
  b->m = 1.0;
  memcpy(b->J, J, sizeof J);
}

/// The point P in the frame of a body.
static void own_point(const double *q, const double *P, double *p) {
  const double arm[3] = {P[0] - q[0], P[1] - q[1], P[2] - q[2]};
  double R[9];
  mat_from_quaternion(q + 3, R);
  mat_t_vec(R, arm, p);
}

/// Somewhere near the point that divides the way from a to b.
static void between(const double *a, const double *b, double part, double *P, uint64_t *state) {
  for (int k = 0; k < 3; ++k) P[k] = a[k] + part * (b[k] - a[k]) + 0.2 * random_number(state);
}

/// A spherical joint between two bodies, or a body and the ground if b < 0.
static void join(mechanism_joint *j, int a, int b, const double *q, uint64_t *state) {
  double P[3];
  j->a = a;
  j->b = b;
  if (b < 0) {
    between(q + 7 * a, q + 7 * a, 0.0, P, state);
    memcpy(j->pb, P, sizeof P);
  } else {
    between(q + 7 * a, q + 7 * b, 0.5, P, state);
    own_point(q + 7 * b, P, j->pb);
  }
  own_point(q + 7 * a, P, j->pa);
}

static void tie(mechanism_spring *s, int a, int b, const double *q, uint64_t *state) {
  double P[3];
  s->a = a;
  s->b = b;
  s->k = 100.0;
  between(q + 7 * a, q + 7 * b, 0.25, P, state);
  own_point(q + 7 * a, P, s->pa);
  between(q + 7 * a, q + 7 * b, 0.75, P, state);
  own_point(q + 7 * b, P, s->pb);
}

static test_problem *finish(test_problem *p, const double *q) {
  mechanism *c = p->def.user;
  c->gravity[2] = -9.81;
  mechanism_define(p);
  p->def.time_scale = 0.1;
  p->t_end = 0.5;
  p->q0 = q;
  p->v0 = loops_take(p, 6 * (size_t)c->n_bodies, sizeof(double));
  return p;
}

test_problem *loops_lattice(int n, bool springs) {
  const int n_pairs = 2 * n * (n - 1), n_anchors = n > 1 ? 2 : 1;
  test_problem *p = mechanism_new("lattice", n * n, n_pairs + n_anchors, springs ? n_pairs : 0);
  mechanism *c = p->def.user;
  double *q = loops_take(p, 7 * (size_t)(n * n), sizeof *q);
  uint64_t state = 1;
  for (int i = 0; i < n * n; ++i) {
    const int column = i % n, row = i / n;
    place_body(&c->body[i], column, -row, 0.0, q + 7 * i, &state);
  }
  int count = 0;
  for (int i = 0; i < n * n; ++i) {
    const int other[2] = {i + 1, i + n};
    const bool is[2] = {i % n + 1 < n, i / n + 1 < n};
    for (int k = 0; k < 2; ++k) {
      if (!is[k]) continue;
      join(&c->joint[count], i, other[k], q, &state);
      if (springs) tie(&c->spring[count], i, other[k], q, &state);
      ++count;
    }
  }
  join(&c->joint[count++], 0, -1, q, &state);
  if (n > 1) join(&c->joint[count], n - 1, -1, q, &state);
  return finish(p, q);
}

test_problem *loops_tree(int n_bodies, int branches) {
  test_problem *p = mechanism_new("tree", n_bodies, n_bodies, 0);
  mechanism *c = p->def.user;
  double *q = loops_take(p, 7 * (size_t)n_bodies, sizeof *q);
  uint64_t state = 2;
  for (int i = 0; i < n_bodies; ++i) {
    const int before = i == 0 ? 0 : (i - 1) / branches;
    const double *from = q + 7 * before; // of body 0: zero still
    const double x = from[0] + 0.7 * random_number(&state),
                 y = from[1] + 0.7 * random_number(&state);
    place_body(&c->body[i], x, y, from[2] - 0.7, q + 7 * i, &state);
    join(&c->joint[i], i, i == 0 ? -1 : before, q, &state);
  }
  return finish(p, q);
}
