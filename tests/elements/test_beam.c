/// The beam element by itself: tangents against differences, rigid motions, a common velocity, exact linear statics.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elements/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "rig.h"

enum { N = 12 };

static void turn(as_body_motion *body, const double *w) {
  double q[4], by[9], R[9];
  asi_so3_exp(w, q);
  asi_so3_matrix(q, by);
  asi_multiply(body->R, by, R);
  memcpy(body->R, R, sizeof R);
}

static as_body_motion body_at(double x, double y, double z, const double *w) {
  as_body_motion body = {
      .x = {x, y, z}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .v = {x, -y, 0.3}, .omega = {1, z, -2}};
  turn(&body, w);
  return body;
}

/// Full, positive definite.
static void section(double *K) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) K[6 * i + j] = (i == j ? 10.0 + 3 * i : 0.7 * cos(i + j));
}

// Frames at the bodies' centres and along their axes, which has formulas of its own, too.
typedef enum end_frames {
  OFF,
  TILTED,
  OFF_AND_TILTED,
  PLAIN,
  DIAGONAL,
  TAPERED,
  FRAMES
} end_frames;

/// Curved, twisted.
static asi_beam make_with(end_frames frames, bool plain, double tau) {
  asi_beam b = {.frame = {{{0.1, -0.2, 0.05}, {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                          {{0.03, 0.1, -0.1}, {0.8, 0.6, 0, -0.6, 0.8, 0, 0, 0, 1}}}};
  const asi_frame none = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const asi_frame turned = {{-0.1, 0, 0.2}, {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}};
  if (frames == PLAIN) b.frame[0] = b.frame[1] = none;
  if (frames >= DIAGONAL) b.frame[0] = b.frame[1] = none;
  if (frames == TILTED) b.frame[0] = turned, b.frame[1] = none;
  if (frames == OFF_AND_TILTED) b.frame[0] = turned;
  double K[36];
  section(K);
  for (int k = 0; k < 36 && frames == DIAGONAL; ++k) K[k] = k % 7 == 0 ? K[k] : 0.0;
  const as_body_motion A = body_at(0, 0, 0, (double[3]){0.1, 0.2, -0.1});
  const as_body_motion B = body_at(1, 0.2, -0.1, (double[3]){0.3, -0.2, 0.3});
  assert_true(asi_beam_init(&b, &A, &B, K, plain, tau));
  if (frames == TAPERED) {
    double all[ASI_BEAM_POINTS][36];
    for (int i = 0; i < ASI_BEAM_POINTS; ++i)
      for (int k = 0; k < 36; ++k) all[i][k] = (1.0 + asi_beam_point[i]) * K[k];
    assert_true(asi_beam_stiffness(&b, (const double(*)[36])all, K, plain, tau));
  }
  return b;
}

static asi_beam make(bool plain, double tau) { return make_with(OFF, plain, tau); }

static void force_of(const asi_beam *b, const as_body_motion *A, const as_body_motion *B, double *f,
                     double *f_q, double *f_v) {
  const as_element_input in = {.body = {A, B}};
  const as_element_output out = {.force = f, .f_q = f_q, .f_v = f_v};
  memset(f, 0, N * sizeof *f);
  assert_int_equal(asi_beam_type.evaluate(&in, &out, b), AS_DONE);
}

static void move(as_body_motion body[2], int k, double by, bool velocity) {
  as_body_motion *at = &body[k / 6];
  double w[3] = {0};
  if (velocity)
    (k % 6 < 3 ? at->v : at->omega)[k % 3] += by;
  else if (k % 6 < 3)
    at->x[k % 3] += by;
  else {
    w[k % 3] = by;
    turn(at, w);
  }
}

/// What damping takes is the power of its forces.
static void assert_power(const asi_beam *b, const as_body_motion body[2], const double *f) {
  as_body_motion still[2] = {body[0], body[1]};
  double rest[N], power = 0.0;
  as_element_power out = {0};
  const as_element_input in = {.body = {&body[0], &body[1]}};
  for (int e = 0; e < 2; ++e) {
    asi_set(0.0, 0.0, 0.0, still[e].v);
    asi_set(0.0, 0.0, 0.0, still[e].omega);
  }
  force_of(b, &still[0], &still[1], rest, NULL, NULL);
  for (int e = 0; e < 2; ++e)
    for (int k = 0; k < 3; ++k)
      power += (f[6 * e + k] - rest[6 * e + k]) * body[e].v[k] +
               (f[6 * e + 3 + k] - rest[6 * e + 3 + k]) * body[e].omega[k];
  asi_beam_type.power(&in, &out, b);
  assert_true(out.dissipated > 0.0);
  assert_near("dissipated", out.dissipated, -power, 1e-11 * out.dissipated);
}

static double energy(const asi_beam *b, const as_body_motion body[2]) {
  const as_element_input in = {.body = {&body[0], &body[1]}};
  return asi_beam_type.potential(&in, b);
}

/// Near and far from rest, with and without damping; the undamped force is minus the gradient of the potential.
static void test_tangents(void **state) {
  (void)state;
  const double h = 1e-5, angle[] = {0.0, 1e-3, 0.3, 1.5, 2.0, 2.9};
  for (int c = 0; c < 6 * FRAMES; ++c)
    for (int damped = 0; damped < 2; ++damped) {
      const end_frames frames = (end_frames)(c / 6);
      const asi_beam b = make_with(frames, false, damped ? 0.3 : 0.0);
      const double w[3] = {0.48 * angle[c % 6], -0.6 * angle[c % 6], 0.64 * angle[c % 6]};
      as_body_motion body[2] = {body_at(0, 0, 0, (double[3]){0.1, 0.2, -0.1}),
                                body_at(1.1, 0.3, -0.2, (double[3]){0.1, 0.2, -0.1})};
      if (frames == OFF || frames == OFF_AND_TILTED)
        turn(&body[1], (double[3]){0, 0, -0.6435011087932844}); // the axes of frame B
      turn(&body[1], w);
      double f[N], f_q[N * N] = {0}, f_v[N * N] = {0}, up[N], down[N];
      force_of(&b, &body[0], &body[1], f, f_q, f_v);
      if (damped) assert_power(&b, body, f);
      double size = 0.0;
      for (int i = 0; i < N * N; ++i) size = fmax(size, fabs(f_q[i]));
      for (int k = 0; k < N; ++k)
        for (int velocity = 0; velocity < 2; ++velocity) {
          as_body_motion one[2] = {body[0], body[1]}, other[2] = {body[0], body[1]};
          move(one, k, h, velocity);
          move(other, k, -h, velocity);
          force_of(&b, &one[0], &one[1], up, NULL, NULL);
          force_of(&b, &other[0], &other[1], down, NULL, NULL);
          const double *tangent = velocity ? f_v : f_q;
          for (int i = 0; i < N; ++i)
            assert_near("tangent", tangent[N * i + k], (up[i] - down[i]) / (2.0 * h), 2e-8 * size);
          if (!damped && !velocity)
            assert_near("gradient", f[k], -(energy(&b, one) - energy(&b, other)) / (2.0 * h),
                        1e-8 * size);
        }
    }
}

/// Moved as a whole, with 100 m/s: no force at rest; loaded, the same force in the bodies' axes.
static void test_rigid_motion(void **state) {
  (void)state;
  const asi_beam b = make(false, 0.3);
  for (int loaded = 0; loaded < 2; ++loaded) {
    as_body_motion A = body_at(0, 0, 0, (double[3]){0.1, 0.2, -0.1});
    as_body_motion B = body_at(1, 0.2, -0.1, (double[3]){0.3, -0.2, 0.3});
    if (loaded) turn(&B, (double[3]){0.0, 0.4, 0.0});
    for (int k = 0; k < 3 && !loaded; ++k) A.v[k] = B.v[k] = A.omega[k] = B.omega[k] = 0.0;
    double f[N], moved[N], Q[9], q[4];
    force_of(&b, &A, &B, f, NULL, NULL);
    asi_so3_exp((double[3]){1.2, -0.8, 2.0}, q);
    asi_so3_matrix(q, Q);
    as_body_motion *const both[2] = {&A, &B};
    for (int s = 0; s < 2; ++s) {
      double x[3], v[3], R[9];
      asi_rotate(Q, both[s]->x, x);
      asi_rotate(Q, both[s]->v, v);
      asi_multiply(Q, both[s]->R, R);
      for (int k = 0; k < 3; ++k) {
        both[s]->x[k] = x[k] + 2.0;
        both[s]->v[k] = v[k] + 100.0;
      }
      memcpy(both[s]->R, R, sizeof R);
    }
    force_of(&b, &A, &B, moved, NULL, NULL);
    for (int s = 0; s < 2; ++s) {
      double turned[3];
      asi_rotate(Q, f + 6 * s, turned);
      for (int k = 0; k < 3; ++k) {
        assert_near("force", moved[6 * s + k], turned[k], 2e-12);
        assert_near("torque", moved[6 * s + 3 + k], f[6 * s + 3 + k], 2e-12);
        if (!loaded) assert_near("at rest", f[6 * s + k], 0.0, 1e-13);
      }
    }
  }
}

/// One straight element: its tangent at rest is the stiffness matrix of Timoshenko's beam; with the plain section the
/// shear flexibility lacks L^2/(12 EI).
static void test_exact_statics(void **state) {
  (void)state;
  const double L = 0.7, EA = 1e5, GA = 3e4, GJ = 20.0, EI2 = 50.0, EI3 = 30.0;
  const double diagonal[6] = {EA, GA, GA, GJ, EI2, EI3}, none[3] = {0, 0, 0};
  double K[36] = {0};
  for (int i = 0; i < 6; ++i) K[7 * i] = diagonal[i];
  const as_body_motion A = body_at(0, 0, 0, none), B = body_at(L, 0, 0, none);
  for (int plain = 0; plain < 2; ++plain) {
    asi_beam b = {
        .frame = {{{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}};
    assert_true(asi_beam_init(&b, &A, &B, K, plain, 0.0));
    double f[N], f_q[N * N] = {0};
    force_of(&b, &A, &B, f, f_q, NULL);
    const double bending = plain ? 0.0 : 1.0;
    const double k2 = 1.0 / (L / GA + bending * L * L * L / (12.0 * EI3));
    const double k3 = 1.0 / (L / GA + bending * L * L * L / (12.0 * EI2));
    assert_near("length", b.length, L, 1e-15);
    assert_near("axial", f_q[N * 6 + 6], -EA / L, 1e-12 * EA);
    assert_near("shear 2", f_q[N * 7 + 7], -k2, 1e-12 * k2);
    assert_near("shear 3", f_q[N * 8 + 8], -k3, 1e-12 * k3);
    assert_near("torsion", f_q[N * 9 + 9], -GJ / L, 1e-12 * GJ);
    assert_near("bending 3", f_q[N * 11 + 11], -(EI3 / L + k2 * L * L / 4.0), 1e-11 * GA);
    assert_near("shear 2 by bending", f_q[N * 7 + 11], k2 * L / 2.0, 1e-11 * GA);
  }
}

/// One element that is an arc of 0.5 rad, held at A, with a force across its plane at B, against Castigliano's theorem.
static void test_arc(void **state) {
  (void)state;
  const double r = 2.0, a = 0.5, GA = 3e4, GJ = 20.0, EI = 50.0;
  const double diagonal[6] = {1e5, 2e4, GA, GJ, EI, 30.0};
  double K[36] = {0}, f[N], f_q[N * N] = {0}, m[6][7];
  for (int i = 0; i < 6; ++i) K[7 * i] = diagonal[i];
  const as_body_motion A = body_at(0, 0, 0, (double[3]){0, 0, 0}),
                       B = body_at(r * sin(a), r * (1.0 - cos(a)), 0, (double[3]){0, 0, a});
  asi_beam b = {.frame = {{{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}};
  assert_true(asi_beam_init(&b, &A, &B, K, false, 0.0));
  assert_near("arc length", b.length, r * a, 1e-14);
  force_of(&b, &A, &B, f, f_q, NULL);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 7; ++j) m[i][j] = j < 6 ? -f_q[N * (6 + i) + 6 + j] : i == 2;
  for (int k = 0; k < 6; ++k)
    for (int i = 0; i < 6; ++i) {
      const double factor = i == k ? 0.0 : m[i][k] / m[k][k];
      for (int j = 0; j < 7; ++j) m[i][j] -= factor * m[k][j];
    }
  const double deflection = r * r * r * (a / 2.0 - sin(2.0 * a) / 4.0) / EI +
                            r * r * r * (1.5 * a - 2.0 * sin(a) + sin(2.0 * a) / 4.0) / GJ +
                            r * a / GA;
  assert_near("deflection", m[2][6] / m[2][2], deflection, 1e-12 * deflection);
}

/// Not a beam: no length, a section without stiffness, ends turned by half a turn.
static void test_refused(void **state) {
  (void)state;
  const double none[3] = {0, 0, 0}, half[3] = {0, 0, 3.14159265358979};
  double K[36];
  section(K);
  asi_beam b = {.frame = {{{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}};
  const as_body_motion A = body_at(0, 0, 0, none), B = body_at(1, 0, 0, none),
                       C = body_at(1, 0, 0, half);
  assert_false(asi_beam_init(&b, &A, &A, K, false, 0.0));
  assert_false(asi_beam_init(&b, &A, &C, K, false, 0.0));
  assert_true(asi_beam_init(&b, &A, &B, K, false, 0.0));
  const as_element_input in = {.body = {&A, &C}};
  double f[N] = {0};
  const as_element_output out = {.force = f};
  assert_int_equal(asi_beam_type.evaluate(&in, &out, &b), AS_RETRY);
  const as_body_motion D = body_at(-0.01, 0, 0, none), E = body_at(0.01, 0, 0, none);
  const as_element_input through = {.body = {&A, &D}}, short_of = {.body = {&A, &E}};
  assert_int_equal(asi_beam_type.evaluate(&through, &out, &b), AS_RETRY);
  assert_int_equal(asi_beam_type.evaluate(&short_of, &out, &b), AS_DONE);
  K[14] = -1.0;
  assert_false(asi_beam_init(&b, &A, &B, K, false, 0.0));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tangents),
                                     cmocka_unit_test(test_rigid_motion),
                                     cmocka_unit_test(test_exact_statics),
                                     cmocka_unit_test(test_arc), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
