/// A torsional spring and damper about z of two frames: a torque S(phi, phi') on the first body about z, its
/// opposite on the second. With the angle phi and its derivatives of twist.c
///
///     f = -S phi_q^T,   f_q = -phi_q^T (S_phi phi_q + S_phi' phi'_q) - S D phi_q^T,   f_v = -S_phi' phi_q^T phi_q
#include <math.h>

#include "alphastep/problem.h"
#include "elements/spring.h"

static asi_pair pair_of(const asi_torsion *s, const as_element_input *in) {
  const as_element_output out = {0};
  const asi_frame_now A = asi_frame_at_rest(&s->frame[0]), B = asi_frame_at_rest(&s->frame[1]);
  asi_pair pair;
  asi_pair_init(&pair, in, &out, &A, &B, ASI_NEED_NOTHING);
  return pair;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_torsion *t = data;
  const asi_pair pair = pair_of(t, in);
  asi_twist_now x;
  double law[3];
  if (!asi_twist_measure(&pair, t->law.rest, ASI_TWIST_TANGENT | ASI_TWIST_RATE, &x))
    return AS_RETRY;
  const int code = asi_law_evaluate(&t->law, x.value - t->law.rest, x.rate, law);
  if (code) return code;
  for (int i = 0; i < ASI_PAIR; ++i) {
    if (out->force) out->force[i] -= law[0] * x.q[i];
    for (int j = 0; j < ASI_PAIR; ++j) {
      if (out->f_q) out->f_q[i * ASI_PAIR + j] -= x.q[i] * (law[1] * x.q[j] + law[2] * x.rate_q[j]);
      if (out->f_v) out->f_v[i * ASI_PAIR + j] -= law[2] * x.q[i] * x.q[j];
    }
  }
  if (out->f_q) asi_twist_curvature(&pair, &x, law[0], out->f_q);
  return AS_DONE;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_torsion *t = data;
  const asi_pair pair = pair_of(t, in);
  asi_twist_now x;
  if (!asi_twist_measure(&pair, t->law.rest, 0, &x)) return (double)NAN;
  return asi_law_potential(&t->law, x.value - t->law.rest);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_torsion *t = data;
  const asi_pair pair = pair_of(t, in);
  asi_twist_now x;
  out->dissipated = asi_twist_measure(&pair, t->law.rest, ASI_TWIST_RATE, &x)
                        ? asi_law_dissipated(&t->law, x.rate)
                        : (double)NAN;
}

const as_element_type asi_torsion_type = {"torsional spring", evaluate, potential, power};
