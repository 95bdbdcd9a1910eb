/// The two frames of a force element at a time, see ends.h.
#include "elements/ends.h"

#include "alphastep/problem.h"
#include "elements/vector.h"

int asi_ends_move(const asi_ends *ends, double t, asi_ends_now *now) {
  const int code = asi_frame_move(&ends->frame[0], &ends->motion[0], t, now->store[0], &now->A);
  return code ? code : asi_frame_move(&ends->frame[1], &ends->motion[1], t, now->store[1], &now->B);
}

double asi_pair_power(const as_element_input *in, const double *f) {
  double sum = 0.0;
  for (int b = 0; b < 2; ++b)
    sum += asi_dot(f + 6 * b, in->body[b]->v) + asi_dot(f + 6 * b + 3, in->body[b]->omega);
  return sum;
}
