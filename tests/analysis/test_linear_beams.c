/// Modes of beams about rest and steady motion, against references that have nothing in common with the elements: roots of Timoshenko's
/// transfer matrix, Cosserat equations linearized about steady rotation, the closed form of a spinning shaft. Errors fall with at least the square
/// of the number of elements; the sparse matrix has the eigenvalues of the dense one.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "analyses.h"
#include "beams.h"
#include "machines.h"
#include "rig.h"

static const double none[3] = {0.0, 0.0, 0.0}, ex[3] = {1.0, 0.0, 0.0}, ey[3] = {0.0, 1.0, 0.0};

/// Circular frequencies about a state, in axes that are found, and by the sparse matrix: the slowest have to be the same.
static int frequencies(const as_model *m, const as_initial *from, double *out, int most,
                       const double *turning) {
  enum { SLOWEST = 3 };
  as_linearization *l;
  as_modes *modes, *slow;
  as_error error;
  const as_linearization_def def = as_default_linearization_def();
  const as_problem *p = as_model_problem(m);
  if (as_linearize(p, from, &def, &l, &error)) fail_msg("%s", error.message);
  if (as_modes_create(l, &modes, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < 3 && turning; ++i)
    if (!(fabs(l->turning[i] - turning[i]) < 1e-6))
      fail_msg("turning[%d] %.9g, unsteady %g", i, l->turning[i], l->unsteady);
  assert_int_equal(modes->n_unstable, 0);
  if (as_modes_slowest(p, from, &def, SLOWEST, &slow, &error)) fail_msg("%s", error.message);
  int n = 0, found = 0;
  for (int i = 0; i < modes->n && n < most; ++i)
    if (modes->mode[i].im > 1e-3) out[n++] = modes->mode[i].im;
  for (int i = 0; i < slow->n; ++i) {
    double off = (double)INFINITY;
    for (int k = 0; k < n; ++k) off = fmin(off, fabs(slow->mode[i].im / out[k] - 1.0));
    if (slow->mode[i].free) continue;
    if (off > 1e-7) fail_msg("%.12g is off by %g", slow->mode[i].im, off);
    ++found;
  }
  assert_int_equal(found, SLOWEST);
  as_modes_destroy(slow);
  as_modes_destroy(modes);
  as_linearization_destroy(l);
  return n;
}

static double nearest(const double *w, int n, double wanted) {
  double best = 1.0;
  for (int i = 0; i < n; ++i) best = fmin(best, fabs(w[i] / wanted - 1.0));
  return best;
}

/// Errors of the coarse and of a line of twice as many elements; the fine ones are below `limit`. Below 3e-6, errors of either sign meet.
static void assert_order(const char *what, const double *coarse, const double *fine, int n,
                         double limit) {
  for (int i = 0; i < n; ++i) {
    print_message("%s %d: %.2e %.2e, order %.2f\n", what, i + 1, coarse[i], fine[i],
                  log2(coarse[i] / fine[i]));
    assert_true(fine[i] < limit && (fine[i] < 0.36 * coarse[i] || fine[i] < 3e-6));
  }
}

enum { CANTILEVER, FREE_FREE, CLAMPED_CLAMPED };

static void test_timoshenko(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int ends;
    bool thick;
    double exact[4], limit;
  } cases[] = {
      {"slender cantilever",
       CANTILEVER,
       false,
       {65.5886257411218, 409.819348308763, 1142.07357007059, 2222.76471529107},
       2e-5},
      {"free-free",
       FREE_FREE,
       false,
       {416.613723189541, 1143.55356964998, 2228.05483913305, 3653.46164160709},
       5e-6},
      {"clamped-clamped",
       CLAMPED_CLAMPED,
       false,
       {415.764838043201, 1139.65204778984, 2217.56757845309, 3631.73763265273},
       1.3e-4},
      {"thick cantilever",
       CANTILEVER,
       true,
       {509.109213410008, 2741.85483877724, 6526.13242771949, 10834.8629080841},
       1.4e-3},
      {"the same, turned",
       CANTILEVER,
       true,
       {509.109213410008, 2741.85483877724, 6526.13242771949, 10834.8629080841},
       1.4e-3},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    const double EI = cases[c].thick ? 1.12e8 : 218750.0, mass = cases[c].thick ? 314.0 : 39.25,
                 GA = cases[c].thick ? 2692307692.3076925 : 336538461.53846157,
                 rhoI = cases[c].thick ? 4.1866666666666665 : 0.008177083333333333;
    // The other plane is far stiffer.
    const double stiff = 50.0 * EI;
    const bool turned = c == 4;
    const as_beam_section section =
        beam_section((double[6]){3.0 * GA, GA, GA, EI, turned ? stiff : EI, turned ? EI : stiff},
                     mass, (double[3]){2.0 * rhoI, rhoI, rhoI});
    double error[2][4];
    for (int fine = 0; fine < 2; ++fine) {
      const int n = 8 << fine;
      as_builder *b = machine_builder(0.0, 0.0, 0.0);
      as_beam_def def = as_default_beam_def();
      def.section = &section;
      beam_straight(b, &def, n, none, (double[3]){2.0, 0.0, 0.0}, ey,
                    cases[c].ends == FREE_FREE ? AS_NO_BODY : AS_GROUND,
                    cases[c].ends == CLAMPED_CLAMPED ? AS_GROUND : AS_NO_BODY);
      as_model *m = machine_build(b);
      double w[200];
      const int count = frequencies(m, as_model_initial(m), w, 200, NULL);
      for (int i = 0; i < 4; ++i) error[fine][i] = nearest(w, count, cases[c].exact[i]);
      as_model_destroy(m);
    }
    assert_order(cases[c].name, error[0], error[1], 4, cases[c].limit);
  }
}

/// Puts the nodes of a blade of length 1 where nothing accelerates along it: Newton's method with differences, from the exact line.
static void stretch(const as_model *m, const as_initial *from, double *q, double *v, int n,
                    double k, double rate) {
  enum { MOST = 16 };
  double x[MOST], base[MOST], moved[MOST], jacobian[MOST * MOST];
  for (int i = 0; i < n; ++i) x[i] = sin(k * (i + 1) / n) / (k * cos(k));
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (int column = -1; column < n; ++column) {
      double *out = column < 0 ? base : moved;
      as_integrator_def def = as_default_integrator_def();
      as_integrator *s;
      as_error error;
      for (int i = 0; i < n; ++i) {
        const as_body_id node = as_model_beam_node(m, (as_beam_id){0}, i + 1);
        q[as_model_body_q(m, node)] = x[i] + (i == column ? 1e-6 : 0.0);
        v[as_model_body_v(m, node) + 1] = rate * q[as_model_body_q(m, node)];
      }
      if (as_integrator_create(as_model_problem(m), &def, &s, &error) ||
          as_integrator_start(s, from, NULL, &error))
        fail_msg("%s", error.message);
      for (int i = 0; i < n; ++i) {
        const as_body_id node = as_model_beam_node(m, (as_beam_id){0}, i + 1);
        out[i] = as_integrator_state(s)->vdot[as_model_body_v(m, node)] +
                 rate * rate * q[as_model_body_q(m, node)];
        if (column >= 0) jacobian[i * MOST + column] = (moved[i] - base[i]) / 1e-6;
      }
      as_integrator_destroy(s);
    }
    for (int c = 0; c < n; ++c) // no pivots are needed
      for (int r = c + 1; r < n; ++r) {
        const double f = jacobian[r * MOST + c] / jacobian[c * MOST + c];
        for (int j = c; j < n; ++j) jacobian[r * MOST + j] -= f * jacobian[c * MOST + j];
        base[r] -= f * base[c];
      }
    for (int r = n - 1; r >= 0; --r) {
      for (int j = r + 1; j < n; ++j) base[r] -= jacobian[r * MOST + j] * base[j];
      base[r] /= jacobian[r * MOST + r];
      x[r] -= base[r];
    }
  }
  for (int i = 0; i < n; ++i) {
    const as_body_id node = as_model_beam_node(m, (as_beam_id){0}, i + 1);
    q[as_model_body_q(m, node)] = x[i];
    v[as_model_body_v(m, node) + 1] = rate * x[i];
  }
}

/// A blade on a hub that turns at a constant rate: flap and lag in axes that turn with it. Without geometric stiffening flap would not change.
static void test_blade(void **state) {
  (void)state;
  static const struct {
    double rate, exact[5]; ///< three of flap, two of lag
  } cases[] = {{25, {58.4299688062, 329.886457773, 911.789930229, 103.905064351, 648.947716871}},
               {100, {119.240339449, 411.683721145, 998.738131142, 111.681058648, 687.217339916}},
               {150, {167.589121493, 500.009247695, 1102.97830997, 120.141022829, 735.13808726}}};
  const as_beam_section section =
      beam_section((double[6]){1.4e7, 4487179.487179487, 4487179.487179487, 200.0,
                               116.6666666666667, 466.6666666666667},
                   0.54, (double[3]){2.25e-5, 4.5e-6, 1.8e-5});
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    const double rate = cases[c].rate, k = rate * sqrt(0.54 / 1.4e7);
    double error[2][5];
    for (int fine = 0; fine < 2; ++fine) {
      const int n = 8 << fine;
      as_builder *b = machine_builder(0.0, 0.0, 0.0);
      as_body_def def = machine_round_body("hub", 1.0, 1.0, false);
      def.angular_velocity[2] = rate;
      const as_body_id hub = machine_body(b, &def);
      const as_joint_id axle =
          machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, hub, none, (double[3]){0, 0, 1});
      const as_curve law = {.slope = rate};
      bench_motion(b, "drive", axle, &law);
      as_beam_def beam = as_default_beam_def();
      beam.section = &section;
      beam.angular_velocity[2] = rate;
      beam_straight(b, &beam, n, none, ex, ey, hub, AS_NO_BODY);
      as_model *m = machine_build(b);
      const as_space *space = as_problem_space(as_model_problem(m));
      as_initial from = *as_model_initial(m);
      double *q = malloc((size_t)as_space_nq(space) * sizeof *q),
             *v = malloc((size_t)as_space_nv(space) * sizeof *v);
      memcpy(q, from.q, (size_t)as_space_nq(space) * sizeof *q);
      memcpy(v, from.v, (size_t)as_space_nv(space) * sizeof *v);
      from.q = q;
      from.v = v;
      stretch(m, &from, q, v, n, k, rate);
      double w[200];
      const int count = frequencies(m, &from, w, 200, (double[3]){0.0, 0.0, rate});
      for (int i = 0; i < 5; ++i) error[fine][i] = nearest(w, count, cases[c].exact[i]);
      as_model_destroy(m);
      free(q);
      free(v);
    }
    char name[40];
    snprintf(name, sizeof name, "blade at %g rad/s", rate);
    assert_order(name, error[0], error[1], 5, 1.1e-5);
  }
}

/// A shaft that spins between simple supports: forward and backward whirl, seen from the ground.
static void test_whirl(void **state) {
  (void)state;
  const double EI = 64427.19309119693, GA = 142731012.38665166, rhoI = 0.002408349836980457;
  static const struct {
    double rate, exact[4];
  } cases[] = {{500, {635.428593094839, 636.954757636661, 2519.47518338955, 2525.39557517324}},
               {1000, {634.666859470315, 637.71918832095, 2516.51983306317, 2528.36061324522}},
               {2000, {633.146090063855, 639.250745901064, 2510.61883185625, 2534.30036513776}}};
  const as_beam_section section =
      beam_section((double[6]){412334035.78366035, GA, GA, 49559.379300920715, EI, EI},
                   15.413438956674923, (double[3]){2.0 * rhoI, rhoI, rhoI});
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    double error[2][4];
    for (int fine = 0; fine < 2; ++fine) {
      const int n = 8 << fine;
      as_builder *b = machine_builder(0.0, 0.0, 0.0);
      as_beam_def def = as_default_beam_def();
      def.section = &section;
      def.angular_velocity[0] = cases[c].rate;
      beam_straight(b, &def, n, none, ex, ey, AS_NO_BODY, AS_NO_BODY);
      machine_joint(b, "left", AS_JOINT_SPHERICAL, AS_GROUND,
                    as_builder_beam_node(b, (as_beam_id){0}, 0), none, NULL);
      machine_joint(b, "right", AS_JOINT_POINT_ON_LINE, AS_GROUND,
                    as_builder_beam_node(b, (as_beam_id){0}, n), ex, ex);
      as_model *m = machine_build(b);
      double w[200];
      const int count = frequencies(m, as_model_initial(m), w, 200, none);
      for (int i = 0; i < 4; ++i) error[fine][i] = nearest(w, count, cases[c].exact[i]);
      as_model_destroy(m);
    }
    char name[40];
    snprintf(name, sizeof name, "whirl at %g rad/s", cases[c].rate);
    assert_order(name, error[0], error[1], 4, 3e-6);
  }
}

/// A rod on two hinges, whose axes go by the centres of its ends at a distance of round-off: that is no lever, and says nothing about the size of the
/// machine.
static void test_hinges(void **state) {
  (void)state;
  static const double off[] = {0.0, 1e-17, 1e-15, 1e-12};
  const as_beam_section section = beam_section((double[6]){4e7, 1.3e7, 1.3e7, 400.0, 300.0, 1400.0},
                                               1.57, (double[3]){6.5e-5, 1.3e-5, 5.2e-5});
  double first[4];
  for (size_t c = 0; c < sizeof off / sizeof off[0]; ++c) {
    as_builder *b = machine_builder(0.0, 0.0, 0.0);
    as_beam_def def = as_default_beam_def();
    def.section = &section;
    beam_straight(b, &def, 4, none, ex, ey, AS_NO_BODY, AS_NO_BODY);
    machine_joint(b, "left", AS_JOINT_REVOLUTE, AS_GROUND,
                  as_builder_beam_node(b, (as_beam_id){0}, 0), none, ey);
    machine_joint(b, "right", AS_JOINT_REVOLUTE, AS_GROUND,
                  as_builder_beam_node(b, (as_beam_id){0}, 4), (double[3]){1.0, 0.0, off[c]}, ey);
    as_model *m = machine_build(b);
    double w[60];
    const int n = frequencies(m, as_model_initial(m), w, 60, NULL);
    first[c] = (double)INFINITY;
    for (int i = 0; i < n; ++i) first[c] = fmin(first[c], w[i]);
    as_model_destroy(m);
  }
  assert_near("first", first[0], 9.8696044 * sqrt(300.0 / 1.57), 0.5);
  for (int c = 1; c < 4; ++c) assert_near("off", first[c], first[0], 1e-6 * first[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_timoshenko),
      cmocka_unit_test(test_blade),
      cmocka_unit_test(test_whirl),
      cmocka_unit_test(test_hinges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
