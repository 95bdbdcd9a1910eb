/// The rows of point.c where they are a joint by themselves: most joints of large machines are balls. With P = s p,
/// s = 1 on the first body and -1 on the second, and l = R^T lambda each end adds
///
///     g     s x + R P              g'    s v + R (omega x P)          g''  R (omega x (omega x P))
///     g_q   [ s I   -R P~ ]        g'_q  [ 0   -R (omega x P)~ ]      f_q  of the torque: -P~ l~ = (P . l) I - l P^T
///
/// and on SE(3), where dx = R drho, v = R u and the force is seen from the body, with W = s u + omega x P
///
///     g_q   [ s R   -R P~ ]        g'    R W                          g''  R (omega x W)
///                                  g'_q  [ 0   -R W~ ]                f_q  and of the force: -s l~
#include "elements/ball.h"

#include "base/two.h"
#include "elements/vector.h"

bool asi_is_ball(const as_element_type *type, const void *data) {
  const asi_joint *joint = data;
  return type == &asi_joint_type && joint->n_parts == 1 && joint->part[0].kind == ASI_ROW_POINT;
}

/// A matrix: its columns, or its rows.
typedef struct three_by_three {
  asi_three c[3];
} three_by_three;

ASI_INLINED three_by_three columns_of(const double *R) {
  three_by_three m;
  for (int j = 0; j < 3; ++j) m.c[j] = (asi_three){{R[j], R[3 + j]}, R[6 + j]};
  return m;
}

/// The sum of the columns, each with its factor.
ASI_INLINED asi_three times(const three_by_three *m, const double *a) {
  return asi_plus_three(
      asi_plus_three(asi_times_three(a[0], m->c[0]), asi_times_three(a[1], m->c[1])),
      asi_times_three(a[2], m->c[2]));
}

/// -R P~ by columns, which begin at `at`.
ASI_INLINED void set_turns(const three_by_three *R, const double *P, double *value, const int *at) {
  const double x = P[0], y = P[1], z = P[2];
  asi_store_three(value + at[0],
                  asi_minus_three(asi_times_three(y, R->c[2]), asi_times_three(z, R->c[1])));
  asi_store_three(value + at[3],
                  asi_minus_three(asi_times_three(z, R->c[0]), asi_times_three(x, R->c[2])));
  asi_store_three(value + at[6],
                  asi_minus_three(asi_times_three(x, R->c[1]), asi_times_three(y, R->c[0])));
}

/// Adds (P . l) I - l P^T by columns, which begin at `at` and every `step` numbers further.
ASI_INLINED void add_curvature(const double *P, asi_three l, double *value, const int *at,
                               int step) {
  const double dot = P[0] * l.xy[0] + P[1] * l.xy[1] + P[2] * l.z;
  double *to[3] = {value + at[0], value + at[step], value + at[2 * step]};
  asi_three c[3];
  for (int j = 0; j < 3; ++j)
    c[j] = asi_minus_three(asi_load_three(to[j]), asi_times_three(P[j], l));
  c[0].xy += (asi_two){dot, 0.0};
  c[1].xy += (asi_two){0.0, dot};
  c[2].z += dot;
  for (int j = 0; j < 3; ++j) asi_store_three(to[j], c[j]);
}

/// Puts what the first end says, or adds what the second does.
ASI_INLINED void put(bool first, asi_three a, double *out) {
  asi_store_three(out, first ? a : asi_plus_three(asi_load_three(out), a));
}

/// Adds -s l~ by columns.
ASI_INLINED void add_pull(double s, asi_three l, double *value, const int *at) {
  const double x = s * l.xy[0], y = s * l.xy[1], z = s * l.z;
  double *c0 = value + at[0], *c1 = value + at[6], *c2 = value + at[12];
  c0[1] -= z;
  c0[2] += y;
  c1[0] += z;
  c1[2] -= x;
  c2[0] -= y;
  c2[1] += x;
}

/// One of the ends, and which of n moving bodies it is on.
typedef struct end {
  bool first, se3;
  int k, n;
} end;

ASI_INLINED void add_rates(end e, const double *P, const three_by_three *R,
                           const as_body_motion *body, const asi_ball_place *place,
                           const asi_ball_output *out) {
  const double s = e.first ? 1.0 : -1.0;
  double W[3], u[3], Z[3];
  asi_cross(body->omega, P, W);
  if (e.se3) {
    asi_rotate_back(body->R, body->v, u);
    asi_add(s, u, W);
  }
  if (out->rate) {
    const asi_three turning = times(R, W), v = asi_times_three(s, asi_load_three(body->v));
    put(e.first, e.se3 ? turning : asi_plus_three(v, turning), out->rate + place->row);
  }
  if (out->gdot_q) set_turns(R, W, out->gdot_q, place->gdot_q + 9 * e.k);
  if (out->acceleration) {
    asi_cross(body->omega, W, Z);
    put(e.first, times(R, Z), out->acceleration + place->row);
  }
}

/// g_q by x: an entry in each row, behind all columns; or three columns.
ASI_INLINED void set_moves(end e, double s, const three_by_three *R, double *value,
                           const int *g_q) {
  const int *at = g_q + (e.se3 ? 18 * e.k : 9 * e.n + e.k);
  for (int i = 0; i < 3; ++i) {
    if (e.se3)
      asi_store_three(value + at[3 * i], asi_times_three(s, R->c[i]));
    else
      value[at[i * e.n]] = s;
  }
}

ASI_INLINED void add_end(end e, const double *p, const as_body_motion *body, const double *lambda,
                         const asi_ball_place *place, const asi_ball_output *out) {
  const double s = e.first ? 1.0 : -1.0;
  const double P[3] = {s * p[0], s * p[1], s * p[2]};
  const three_by_three R = columns_of(body->R);
  if (out->g)
    put(e.first, asi_plus_three(asi_times_three(s, asi_load_three(body->x)), times(&R, P)),
        out->g + place->row);
  if (out->g_q) {
    set_moves(e, s, &R, out->g_q, place->g_q);
    set_turns(&R, P, out->g_q, place->g_q + (e.se3 ? 18 * e.k + 9 : 9 * e.k));
  }
  if (out->f_q) {
    const three_by_three back = {
        {asi_load_three(body->R), asi_load_three(body->R + 3), asi_load_three(body->R + 6)}};
    const asi_three l = times(&back, lambda);
    const int *at = place->f_q + (e.se3 ? 18 : 9) * e.k;
    if (e.se3) add_pull(s, l, out->f_q, at);
    add_curvature(P, l, out->f_q, at + (e.se3 ? 3 : 0), e.se3 ? 6 : 3);
  }
  if (out->rate || out->gdot_q || out->acceleration) add_rates(e, P, &R, body, place, out);
}

static void add_ground(bool first, const double *p, int row, const asi_ball_output *out) {
  const double s = first ? 1.0 : -1.0;
  if (out->g) put(first, asi_times_three(s, asi_load_three(p)), out->g + row);
  if (out->rate && first) asi_set(0.0, 0.0, 0.0, out->rate + row);
  if (out->acceleration && first) asi_set(0.0, 0.0, 0.0, out->acceleration + row);
}

ASI_INLINED void evaluate(bool se3, const asi_joint *joint, const as_body_motion *const body[2],
                          const double *lambda, const asi_ball_place *place,
                          const asi_ball_output *out) {
  const double *a = joint->frame[0].p, *b = joint->frame[1].p;
  const int n = (body[0] != NULL) + (body[1] != NULL);
  if (body[0])
    add_end((end){true, se3, 0, n}, a, body[0], lambda, place, out);
  else
    add_ground(true, a, place->row, out);
  if (body[1])
    add_end((end){false, se3, n - 1, n}, b, body[1], lambda, place, out);
  else
    add_ground(false, b, place->row, out);
}

void asi_ball_evaluate(const asi_joint *joint, const as_body_motion *const body[2],
                       const double *lambda, const asi_ball_place *place,
                       const asi_ball_output *out) {
  evaluate(false, joint, body, lambda, place, out);
}

void asi_se3_ball_evaluate(const asi_joint *joint, const as_body_motion *const body[2],
                           const double *lambda, const asi_ball_place *place,
                           const asi_ball_output *out) {
  evaluate(true, joint, body, lambda, place, out);
}
