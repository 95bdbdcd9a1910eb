/// Lines between two points, see line.h.
#include "elements/line.h"

#include <math.h>

#include "elements/vector.h"

// [EL.1] Closer to its own point than this share of its length a chord does not lead from one true position to another in
// a step that follows the motion (as the chord of a turn by 151 degrees does).
#define CLOSEST 0.25

void asi_line_find(const as_element_input *in, const double *p_a, const double *p_b, double D[3]) {
  double a[3], b[3];
  asi_rotate(in->body[0]->R, p_a, a);
  asi_rotate(in->body[1]->R, p_b, b);
  for (int i = 0; i < 3; ++i) D[i] = in->body[0]->x[i] + a[i] - in->body[1]->x[i] - b[i];
}

/// Whether the chord from a to b passes the origin within a share of the shorter of them.
static bool passes_origin(const double a[3], const double b[3]) {
  const double aa = asi_dot(a, a), bb = asi_dot(b, b), ab = asi_dot(a, b);
  // The foot of the perpendicular is between the ends; its square is (|a|^2 |b|^2 - (a.b)^2) / |b - a|^2.
  const double chord = aa + bb - 2.0 * ab;
  return ab < 0.0 && aa * bb - ab * ab < CLOSEST * CLOSEST * fmin(aa, bb) * chord;
}

bool asi_line_turns_over(const as_element_input *from, const double D_0[3],
                         const as_element_input *to, const double D_1[3]) {
  bool passes = passes_origin(D_0, D_1);
  for (int k = 0; k < 2 && passes; ++k) {
    double seen[2][3];
    asi_rotate_back(from->body[k]->R, D_0, seen[0]);
    asi_rotate_back(to->body[k]->R, D_1, seen[1]);
    passes = asi_dot(seen[0], seen[1]) < 0.0;
  }
  return passes;
}
