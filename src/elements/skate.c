/// A skate (knife edge) on a plane: its point does not move sideways, one velocity row.
///
/// n = z_a is the plane's normal, x_b the blade's direction, beta = (x_a . x_b, y_a . x_b) its direction along the
/// plane, m = |beta|. To its left is l = (-beta_2, beta_1)/m along x_a, y_a. With e_i the rates of the displacements of
/// P_b along the axes of A,
///
///     k = -(l_1 e_x + l_2 e_y) = (beta_2 e_x - beta_1 e_y)/m         psi is the force to the left on the skate
///     D (beta_2/m) = (beta_1^2 D beta_2 - beta_1 beta_2 D beta_1)/m^3
///     D (beta_1/m) = (beta_2^2 D beta_1 - beta_1 beta_2 D beta_2)/m^3
///
/// A blade across the plane (m = 0) has no side.
#include <math.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/rolling.h"
#include "elements/sliding.h"
#include "elements/why.h"

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  static const asi_coordinate shift[2] = {{ASI_COORDINATE_SHIFT, 0}, {ASI_COORDINATE_SHIFT, 1}};
  const asi_skate *skate = data;
  const asi_pair pair = asi_rate_pair(in, skate->joint.frame);
  const asi_sliding k = {&pair, out, out->f_q ? in->psi[0] : 0.0, 0};
  const asi_cosine b1 = asi_cosine_of(&pair, 0, 0), b2 = asi_cosine_of(&pair, 1, 0);
  const double m = hypot(b1.value, b2.value), m3 = m * m * m;
  if (!(m > 0.0)) return asi_retry(in, "the blade stands across its plane");
  asi_rate e[2];
  for (int i = 0; i < 2; ++i) asi_rate_evaluate(&pair, shift[i], &e[i]);
  asi_sliding_add(&k, b2.value / m, shift[0], &e[0]);
  asi_sliding_add(&k, -b1.value / m, shift[1], &e[1]);
  asi_sliding_slope(&k, b1.value * b1.value / m3, &b2, &e[0]);
  asi_sliding_slope(&k, -b1.value * b2.value / m3, &b1, &e[0]);
  asi_sliding_slope(&k, -b2.value * b2.value / m3, &b1, &e[1]);
  asi_sliding_slope(&k, b1.value * b2.value / m3, &b2, &e[1]);
  return AS_DONE;
}

const as_element_type asi_skate_type = {"skate", evaluate, NULL, NULL};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("skate", ((const asi_skate *)data)->joint.frame, out);
}

const asi_descriptor asi_skate_descriptor = {.type = &asi_skate_type, .draw = draw};
