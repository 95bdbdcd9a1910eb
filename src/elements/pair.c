/// Two frames on two bodies: what constraint rows share, see rows.h.
#include "elements/rows.h"
#include "elements/vector.h"

const double asi_at_rest[9] = {0};

void asi_local_rate(const as_body_motion *body, const double *a, const double *a1, double *out) {
  asi_cross(body->omega, a, out);
  if (a1 != asi_at_rest) asi_add(1.0, a1, out);
}

void asi_local_acceleration(const as_body_motion *body, const double *a, const double *a1,
                            const double *a2, double *out) {
  double once[3];
  asi_cross(body->omega, a, once);
  asi_add(2.0, a1, once);
  asi_cross(body->omega, once, out);
  asi_add(1.0, a2, out);
}

void asi_world_acceleration(const as_body_motion *body, const double *a, const double *a1,
                            const double *a2, double *out) {
  double sum[3];
  asi_local_acceleration(body, a, a1, a2, sum);
  asi_rotate(body->R, sum, out);
}

void asi_pair_turn(asi_pair *pair) { asi_multiply_transposed(pair->a->R, pair->b->R, pair->S); }

static void point(const as_body_motion *body, const double *p, double *out) {
  asi_rotate(body->R, p, out);
  asi_add(1.0, body->x, out);
}

void asi_pair_init(asi_pair *pair, const as_element_input *in, const as_element_output *out,
                   const asi_frame_now *A, const asi_frame_now *B, asi_need need) {
  const as_body_motion *a = in->body[0], *b = in->body[1];
  pair->a = a;
  pair->b = b;
  pair->A = *A;
  pair->B = *B;
  if (need == ASI_NEED_NOTHING) return;
  if (need == ASI_NEED_ALWAYS || out->g) {
    double Pa[3], Pb[3];
    point(a, A->p, Pa);
    point(b, B->p, Pb);
    asi_sum(Pa, -1.0, Pb, pair->D);
  }
  if (out->rate || out->gdot_q || out->acceleration) {
    double ra[3], rb[3];
    asi_local_rate(a, A->p, A->p1, pair->wa);
    asi_local_rate(b, B->p, B->p1, pair->wb);
    asi_rotate(a->R, pair->wa, ra);
    asi_rotate(b->R, pair->wb, rb);
    for (int k = 0; k < 3; ++k) pair->D1[k] = a->v[k] + ra[k] - b->v[k] - rb[k];
  }
  if (out->acceleration) {
    double za[3], zb[3];
    asi_world_acceleration(a, A->p, A->p1, A->p2, za);
    asi_world_acceleration(b, B->p, B->p1, B->p2, zb);
    asi_sum(za, -1.0, zb, pair->D2);
  }
}
