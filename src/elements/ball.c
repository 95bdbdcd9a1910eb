/// The rows of point.c where they are a joint by themselves: most joints of large machines are balls. With P = s p,
/// s = 1 on the first body and -1 on the second, and l = R^T lambda each end adds
///
///     g     s x + R P              g'    s v + R (omega x P)          g''  R (omega x (omega x P))
///     g_q   [ s I   -R P~ ]        g'_q  [ 0   -R (omega x P)~ ]      f_q  -P~ l~ = (P . l) I - l P^T
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

/// Adds (P . l) I - l P^T by columns.
ASI_INLINED void add_curvature(const double *P, asi_three l, double *value, const int *at) {
  const double dot = P[0] * l.xy[0] + P[1] * l.xy[1] + P[2] * l.z;
  double *to[3] = {value + at[0], value + at[3], value + at[6]};
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

/// One of the ends, and which of n moving bodies it is on.
typedef struct end {
  bool first;
  int k, n;
} end;

ASI_INLINED void add_rates(end e, const double *P, const three_by_three *R,
                           const as_body_motion *body, const asi_ball_place *place,
                           const asi_ball_output *out) {
  double W[3], Z[3];
  asi_cross(body->omega, P, W);
  if (out->rate) {
    const asi_three v = asi_times_three(e.first ? 1.0 : -1.0, asi_load_three(body->v));
    put(e.first, asi_plus_three(v, times(R, W)), out->rate + place->row);
  }
  if (out->gdot_q) set_turns(R, W, out->gdot_q, place->gdot_q + 9 * e.k);
  if (out->acceleration) {
    asi_cross(body->omega, W, Z);
    put(e.first, times(R, Z), out->acceleration + place->row);
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
    const int *at = place->g_q + 9 * e.n + e.k;
    for (int i = 0; i < 3; ++i) out->g_q[at[i * e.n]] = s;
    set_turns(&R, P, out->g_q, place->g_q + 9 * e.k);
  }
  if (out->f_q) {
    const three_by_three back = {
        {asi_load_three(body->R), asi_load_three(body->R + 3), asi_load_three(body->R + 6)}};
    add_curvature(P, times(&back, lambda), out->f_q, place->f_q + 9 * e.k);
  }
  if (out->rate || out->gdot_q || out->acceleration) add_rates(e, P, &R, body, place, out);
}

static void add_ground(bool first, const double *p, int row, const asi_ball_output *out) {
  const double s = first ? 1.0 : -1.0;
  if (out->g) put(first, asi_times_three(s, asi_load_three(p)), out->g + row);
  if (out->rate && first) asi_set(0.0, 0.0, 0.0, out->rate + row);
  if (out->acceleration && first) asi_set(0.0, 0.0, 0.0, out->acceleration + row);
}

void asi_ball_evaluate(const asi_joint *joint, const as_body_motion *const body[2],
                       const double *lambda, const asi_ball_place *place,
                       const asi_ball_output *out) {
  const double *a = joint->frame[0].p, *b = joint->frame[1].p;
  const int n = (body[0] != NULL) + (body[1] != NULL);
  if (body[0])
    add_end((end){true, 0, n}, a, body[0], lambda, place, out);
  else
    add_ground(true, a, place->row, out);
  if (body[1])
    add_end((end){false, n - 1, n}, b, body[1], lambda, place, out);
  else
    add_ground(false, b, place->row, out);
}
