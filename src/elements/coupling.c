/// One row that couples the coordinates of two joints, on up to four bodies; or the two wheels of these joints.
///
/// A state does not know how often a wheel has turned: angles are known up to whole turns. Wheels have whole
/// numbers of teeth. So the sum
///
///     gear   z_1 phi_1 +- z_2 phi_2,     z_1, z_2 without a common factor
///     rack   s/r - phi
///
/// changes by whole turns when an angle does, or a rack moves on by a whole turn of its pinion, and
///
///     g = -unit wrap(k_0 c_0 + k_1 c_1 - offset),   wrap to (-pi, pi]        unit = 1/z_2 [rad] or r [m]
///
/// is one number, smooth where it is small, that vanishes where the teeth mesh as they did at the start.
/// lambda is the torque on the second wheel about its axis, or the force on the rack along it. All derivatives
/// are sums of those of coordinate.c with the factors -unit k.
///
/// These are coordinates of the joints: the row pulls at the wheels and, the other way, at what carries them, with torques.
/// Where a tooth force is to act and the wheels have a carrier in common, that is taken away again, and the force of tooth.c
/// acts at the pitch point instead, on the wheels alone. Both do the same work in all motions that the joints allow, so that the
/// motion is the same; joints carry the difference. Of a helical wheel that can move along its axis,
/// k_1 tan(beta)/r_1 (s_2 - s_1) is added to the sum, s the displacements along the first axis.
///
/// Where wheels are on different bodies, the same angles are seen from the line of centres (from the rack), and the row is one
/// between the wheels alone:
///
///     gear   phi_1 = -direction of C_2 in the axes of wheel 1, phi_2 likewise;   k_1 tan(beta)/r_1 (s_2 - s_1) is added
///     rack   phi = -heading of the rack in the axes of the pinion, s = -z_2 . (C_1 - P_2)
///     bevel  phi_1 = -heading of z_2 in the axes of wheel 1, phi_2 likewise
///
/// with C_i a point of wheel i on its axis and s_2 - s_1 the displacement of the pitch point with wheel 2 against wheel 1 along
/// the axis: (1 - share) of it is taken at C_1, share at C_2. Its gradient is a force across the line of centres (along the
/// rack) at the pitch point, and tan(beta) of it along the axis; of bevel wheels a couple, see tooth.c.
///
/// A long step could slip: begin where teeth mesh and end where they mesh too, but a tooth further. Each coordinate
/// tells by its rates how far it has gone, at least up to half a turn, so
///
///     slip = sum of k (c_1 - c_0),   angles: within half a turn of h (phi'_0 + phi'_1)/2
///
/// is zero, or a whole turn or more after a slip. Screws are looked at in the same way: k = 1/p, -1.
#include "elements/coupling.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/coordinate.h"
#include "elements/descriptor.h"
#include "elements/vector.h"
#include "elements/why.h"

/// A side's coordinate; false where there is none.
static bool measure(const asi_coupling_side *side, const as_element_input *in, asi_measure *x) {
  const asi_frame_now A = asi_frame_at_rest(&side->frame[0]),
                      B = asi_frame_at_rest(&side->frame[1]);
  const as_element_input two = {.t = in->t,
                                .body = {in->body[side->body[0]], in->body[side->body[1]]}};
  return asi_measure_coordinate(x, side->of, &two, &A, &B, 0.0);
}

double asi_coupling_sum(const asi_coupling *c, const as_element_input *in) {
  double sum = 0.0;
  for (int s = 0; s < c->n_sides; ++s) {
    asi_measure x;
    if (!measure(&c->side[s], in, &x)) return (double)NAN;
    sum += c->side[s].factor * x.value;
  }
  return sum;
}

bool asi_coupling_slips(const asi_coupling *c, const as_element_input *from,
                        const as_element_input *to) {
  double slip = 0.0;
  for (int s = 0; s < c->n_sides; ++s) {
    const asi_coupling_side *side = &c->side[s];
    asi_measure x0, x1;
    if (!measure(side, from, &x0) || !measure(side, to, &x1)) return true;
    const double moved = x1.value - x0.value,
                 expected = (to->t - from->t) * (x0.rate + x1.rate) / 2.0;
    slip += side->factor *
            (side->of.kind == ASI_COORDINATE_SHIFT ? moved : asi_unwrap(moved, expected));
  }
  return !(fabs(slip) < 3.0); // half a turn or so
}

asi_coupling asi_coupling_of_screw(const asi_joint *joint) {
  asi_coupling c = {.n_sides = 2, .n_bodies = 2, .unit = joint->advance};
  for (int s = 0; s < 2; ++s) {
    c.side[s] = (asi_coupling_side){
        .body = {0, 1}, .of = {s == 0 ? ASI_COORDINATE_ANGLE : ASI_COORDINATE_SHIFT, 2}};
    memcpy(c.side[s].frame, joint->frame, sizeof joint->frame);
  }
  c.side[0].factor = -1.0;
  c.side[1].factor = 1.0 / joint->advance;
  return c;
}

/// The column of the element where column j of a pair stands.
static int place(const asi_coupling_side *side, int j) { return 6 * side->body[j / 6] + j % 6; }

/// Adds a side's part of the tangents; f_q with the multiplier `lambda`, where it is wanted.
static void add_tangents(const asi_coupling_side *side, double factor, double lambda,
                         const asi_measure *x, int columns, const as_element_output *out) {
  double f_q[ASI_PAIR * ASI_PAIR] = {0};
  if (lambda != 0.0) asi_measure_curvature(x, factor * lambda, f_q);
  for (int i = 0; i < ASI_PAIR; ++i) {
    const int row = place(side, i);
    if (out->g_q) out->g_q[row] += factor * x->q[i];
    if (out->gdot_q) out->gdot_q[row] += factor * x->rate_q[i];
    for (int j = 0; j < ASI_PAIR && lambda != 0.0; ++j)
      out->f_q[row * columns + place(side, j)] += f_q[i * ASI_PAIR + j];
  }
}

/// Takes away what a side's part of the row does, -g_q^T lambda: the tooth force is there instead.
static void take_away(const asi_coupling_side *side, double factor, const asi_measure *x,
                      const as_element_input *in, const as_element_output *out) {
  for (int i = 0; i < ASI_PAIR; ++i) {
    if (out->force) out->force[place(side, i)] += factor * x->q[i] * in->read[0];
    if (out->f_lambda) out->f_lambda[place(side, i)] += factor * x->q[i];
  }
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_coupling *c = data;
  const double lambda = out->f_q && !c->tooth.whole ? in->lambda[0] : 0.0;
  double sum = -c->offset;
  asi_tooth_evaluate(&c->tooth, in, out, 6 * c->n_bodies);
  for (int s = 0; s < c->n_sides; ++s) {
    const double factor = -c->unit * c->side[s].factor;
    asi_measure x;
    if (!measure(&c->side[s], in, &x)) return asi_retry(in, ASI_WHY_ANGLE);
    sum += c->side[s].factor * x.value;
    if (out->rate) out->rate[0] += factor * x.rate;
    if (out->acceleration) out->acceleration[0] += factor * x.acceleration;
    if (c->tooth.whole) take_away(&c->side[s], factor, &x, in, out);
    if (out->g_q || out->gdot_q || out->f_q)
      add_tangents(&c->side[s], factor, lambda, &x, 6 * c->n_bodies, out);
  }
  if (out->g == NULL) return AS_DONE;
  out->g[0] = -c->unit * asi_unwrap(sum, 0.0);
  return AS_DONE;
}

void asi_coupling_pattern(const asi_coupling *c, bool *f_q, bool *g_q, bool *gdot_q) {
  const bool wheels = c->tooth.kind != ASI_TOOTH_NONE && !c->tooth.whole; // a row between them
  for (int i = 0; i < ASI_PAIR && c->tooth.kind != ASI_TOOTH_NONE; ++i) {
    if (wheels) g_q[i] = gdot_q[i] = true;
    for (int j = 0; j < ASI_PAIR; ++j) f_q[i * 6 * c->n_bodies + j] = true;
  }
  if (wheels) return;
  for (int s = 0; s < c->n_sides; ++s) {
    const asi_coupling_side *side = &c->side[s];
    const bool shift = side->of.kind == ASI_COORDINATE_SHIFT;
    const asi_row row_of = {shift ? ASI_ROW_SEPARATION : ASI_ROW_TWIST, 2, 0, 1};
    const asi_joint alone = {.part = {row_of}, .n_parts = 1};
    bool f[ASI_PAIR * ASI_PAIR] = {0}, g[ASI_PAIR] = {0}, gdot[ASI_PAIR] = {0};
    asi_joint_pattern(&alone, f, g, gdot);
    for (int i = 0; i < ASI_PAIR; ++i) {
      const int row = place(side, i);
      g_q[row] = g_q[row] || g[i];
      gdot_q[row] = gdot_q[row] || gdot[i];
      for (int j = 0; j < ASI_PAIR; ++j)
        if (f[i * ASI_PAIR + j] && !c->tooth.whole)
          f_q[row * 6 * c->n_bodies + place(side, j)] = true;
    }
  }
}

/// Nothing, as long as bearings hold the wheels.
static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_coupling *c = data;
  double force[24] = {0}; // of four bodies
  if (!asi_tooth_reads(&c->tooth)) return;
  if (evaluate(in, &(as_element_output){.force = force}, data)) out->supplied = (double)NAN;
  for (int b = 0; b < c->n_bodies; ++b)
    out->supplied +=
        asi_dot(force + 6 * b, in->body[b]->v) + asi_dot(force + 6 * b + 3, in->body[b]->omega);
}

const as_element_type asi_coupling_type = {"coupling", evaluate, NULL, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("coupling", ((const asi_coupling *)data)->wheel, out);
}

const asi_descriptor asi_coupling_descriptor = {.type = &asi_coupling_type, .draw = draw};
