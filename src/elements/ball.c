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

#include "base/simd.h"
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
  asi_store_three(value + at[1],
                  asi_minus_three(asi_times_three(z, R->c[0]), asi_times_three(x, R->c[2])));
  asi_store_three(value + at[2],
                  asi_minus_three(asi_times_three(x, R->c[1]), asi_times_three(y, R->c[0])));
}

/// Adds (P . l) I - l P^T by columns.
ASI_INLINED void add_curvature(const double *P, asi_three l, double *value, const int *at) {
  const double dot = P[0] * l.xy[0] + P[1] * l.xy[1] + P[2] * l.z;
  double *to[3] = {value + at[0], value + at[1], value + at[2]};
  asi_three c[3];
  for (int j = 0; j < 3; ++j)
    c[j] = asi_minus_three(asi_load_three(to[j]), asi_times_three(P[j], l));
  c[0].xy += (asi_simd2){dot, 0.0};
  c[1].xy += (asi_simd2){0.0, dot};
  c[2].z += dot;
  for (int j = 0; j < 3; ++j) asi_store_three(to[j], c[j]);
}

/// Adds -s l~ by columns.
ASI_INLINED void add_pull(double s, asi_three l, double *value, const int *at) {
  const double x = s * l.xy[0], y = s * l.xy[1], z = s * l.z;
  double *c0 = value + at[0], *c1 = value + at[1], *c2 = value + at[2];
  c0[1] -= z;
  c0[2] += y;
  c1[0] += z;
  c1[2] -= x;
  c2[0] -= y;
  c2[1] += x;
}

/// The rows of an end.
typedef struct rows {
  asi_three g, rate, acceleration;
} rows;

ASI_INLINED void find_rates(bool se3, double s, const asi_ball_end *end, const three_by_three *R,
                            const as_body_motion *body, const asi_ball_output *out, rows *r) {
  double W[3], u[3], Z[3];
  asi_cross(body->omega, end->P, W);
  if (se3) {
    asi_rotate_back(body->R, body->v, u);
    asi_add(s, u, W);
  }
  if (out->rate) {
    const asi_three turning = times(R, W), v = asi_times_three(s, asi_load_three(body->v));
    r->rate = se3 ? turning : asi_plus_three(v, turning);
  }
  if (out->gdot_q) set_turns(R, W, out->gdot_q, end->gdot_turn);
  if (out->acceleration) {
    asi_cross(body->omega, W, Z);
    r->acceleration = times(R, Z);
  }
}

ASI_INLINED void set_moves(bool se3, double s, const three_by_three *R, double *value,
                           const int *at) {
  for (int i = 0; i < 3; ++i) {
    if (se3)
      asi_store_three(value + at[i], asi_times_three(s, R->c[i]));
    else
      value[at[i]] = s;
  }
}

ASI_INLINED rows find_end(bool se3, bool rates, double s, const asi_ball_end *end,
                          const as_body_motion *body, const double *lambda,
                          const asi_ball_output *out) {
  const asi_three zero = {{0.0, 0.0}, 0.0};
  rows r = {zero, zero, zero};
  if (!end->moves) {
    r.g = asi_load_three(end->P);
    return r;
  }
  const three_by_three R = columns_of(body->R);
  r.g = asi_plus_three(asi_times_three(s, asi_load_three(body->x)), times(&R, end->P));
  if (out->g_q) {
    set_moves(se3, s, &R, out->g_q, end->g_move);
    set_turns(&R, end->P, out->g_q, end->g_turn);
  }
  if (out->f_q && lambda) {
    const three_by_three back = {
        {asi_load_three(body->R), asi_load_three(body->R + 3), asi_load_three(body->R + 6)}};
    const asi_three l = times(&back, lambda);
    if (se3) add_pull(s, l, out->f_q, end->f_move);
    add_curvature(end->P, l, out->f_q, end->f_turn);
  }
  if (rates) find_rates(se3, s, end, &R, body, out, &r);
  return r;
}

ASI_INLINED void evaluate(bool se3, bool rates, const asi_ball *ball, const as_body_motion *first,
                          const as_body_motion *second, const double *lambda,
                          const asi_ball_output *out) {
  const int row = ball->row;
  if (lambda) lambda += row;
  const rows a = find_end(se3, rates, 1.0, &ball->end[0], first, lambda, out);
  const rows b = find_end(se3, rates, -1.0, &ball->end[1], second, lambda, out);
  if (out->g) asi_store_three(out->g + row, asi_plus_three(a.g, b.g));
  if (rates && out->rate) asi_store_three(out->rate + row, asi_plus_three(a.rate, b.rate));
  if (rates && out->acceleration)
    asi_store_three(out->acceleration + row, asi_plus_three(a.acceleration, b.acceleration));
}

ASI_INLINED void evaluate_any(bool se3, const asi_ball *ball, const as_body_motion *first,
                              const as_body_motion *second, const double *lambda,
                              const asi_ball_output *out) {
  if (out->rate || out->gdot_q || out->acceleration)
    evaluate(se3, true, ball, first, second, lambda, out);
  else
    evaluate(se3, false, ball, first, second, lambda, out);
}

static void evaluate_ball(const asi_ball *ball, const as_body_motion *first,
                          const as_body_motion *second, const double *lambda,
                          const asi_ball_output *out) {
  evaluate_any(false, ball, first, second, lambda, out);
}

static void evaluate_se3_ball(const asi_ball *ball, const as_body_motion *first,
                              const as_body_motion *second, const double *lambda,
                              const asi_ball_output *out) {
  evaluate_any(true, ball, first, second, lambda, out);
}

asi_ball asi_ball_place(const asi_joint *joint, bool se3, int row, const bool moves[2],
                        const int *g_q, const int *gdot_q, const int *f_q) {
  asi_ball ball = {.evaluate = se3 ? evaluate_se3_ball : evaluate_ball, .row = row};
  const int n = moves[0] + moves[1];
  for (int e = 0, k = 0; e < 2; ++e) {
    asi_ball_end *end = &ball.end[e];
    *end = (asi_ball_end){.moves = moves[e]};
    for (int i = 0; i < 3; ++i) {
      end->P[i] = e == 0 ? joint->frame[e].p[i] : -joint->frame[e].p[i];
      if (!moves[e]) continue;
      end->g_turn[i] = g_q[se3 ? 18 * k + 9 + 3 * i : 9 * k + 3 * i];
      end->g_move[i] = g_q[se3 ? 18 * k + 3 * i : 9 * n + k + i * n];
      end->gdot_turn[i] = gdot_q[9 * k + 3 * i];
      end->f_turn[i] = f_q[se3 ? 18 * k + 3 + 6 * i : 9 * k + 3 * i];
      if (se3) end->f_move[i] = f_q[18 * k + 6 * i];
    }
    k += moves[e];
  }
  return ball;
}
