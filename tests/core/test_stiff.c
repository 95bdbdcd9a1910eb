/// Stiff springs where steps change, [GA.15]: their forces are second order, in every method, and automatic steps
/// are no smaller than without the spring.
///
/// A mass on a spring so stiff that no step resolves it swings like a pendulum. Released where it is horizontal, its
/// tension follows from energy: T = 3 m g (-z)/l, to 1/k; so the force at any moment is compared with the position.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"

static const double mass = 2.0, length = 1.5, gravity = 9.81, stiffness = 1e9;

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const names[] = {"index-3", "index-2", "SOI2"};

static int mass_matrix(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 2; ++i) as_matrix_add(out, i, i, mass);
  return AS_DONE;
}

static double tension(const double *q) { return stiffness * (hypot(q[0], q[1]) - length); }

static int force(const as_point *at, double *out, void *user) {
  (void)user;
  const double r = hypot(at->q[0], at->q[1]), t = tension(at->q);
  out[0] = -t * at->q[0] / r;
  out[1] = -t * at->q[1] / r - mass * gravity;
  return AS_DONE;
}

static as_problem *make_problem(void) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = mass_matrix;
  def.force = force;
  as_problem *problem = NULL;
  as_error error;
  if (as_problem_create(&def, &problem, &error)) fail_msg("%s", error.message);
  return problem;
}

static as_integrator *start(const as_problem *problem, const as_integrator_def *how) {
  const double q[2] = {length, 0.0}, v[2] = {0.0, 0.0};
  const as_initial initial = {.q = q, .v = v};
  as_integrator *integrator = NULL;
  as_error error;
  as_status status = as_integrator_create(problem, how, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  if (status) fail_msg("%s", error.message);
  return integrator;
}

/// The largest error of the tension on the way to 2 s, from 0.5 s on, with steps h times a pattern.
static double tension_error(as_method method, double h) {
  static const double pattern[] = {1.0, 1.4, 1.4, 0.8, 1.1, 0.6, 0.6, 1.3};
  as_problem *problem = make_problem();
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  as_integrator *integrator = start(problem, &how);
  const as_state *state = as_integrator_state(integrator);
  double worst = 0.0;
  for (int i = 0; state->t < 2.0; ++i) {
    as_error error;
    if (as_integrator_step(integrator, h * pattern[i % 8], &error)) fail_msg("%s", error.message);
    const double exact = -3.0 * mass * gravity * state->q[1] / length;
    if (state->t > 0.5) worst = fmax(worst, fabs(tension(state->q) - exact));
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return worst;
}

static void test_order(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    const double coarse = tension_error(methods[m], 8e-3), fine = tension_error(methods[m], 2e-3);
    const double order = log(coarse / fine) / log(4.0);
    printf("%-8s tension off by %.2e, %.2e N: order %.2f\n", names[m], coarse, fine, order);
    if (!(order > 1.8)) fail_msg("%s: order %.2f", names[m], order);
    assert_true(fine < 0.04); // 0.3 to 0.4 if the spring rings
  }
}

/// Automatic steps do not ring: forces are as good as with as many given steps, and few are rejected.
static void test_automatic(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    as_problem *problem = make_problem();
    as_integrator_def how = as_default_integrator_def();
    how.method = methods[m];
    how.tolerance.rtol = 1.4e-3;
    as_integrator *integrator = start(problem, &how);
    double worst = 0.0;
    as_error error;
    for (int i = 1; i <= 40; ++i) {
      if (as_integrator_advance(integrator, 0.05 * i, &error)) fail_msg("%s", error.message);
      const as_state *s = as_integrator_state(integrator);
      // M v' less the weight, and k times the elongation: an interpolated position would be off by 1e3 N.
      const double pull =
          -(s->vdot[0] * s->q[0] + (s->vdot[1] + gravity) * s->q[1]) * mass / length;
      const double exact = -3.0 * mass * gravity * s->q[1] / length;
      worst = fmax(worst, fmax(fabs(pull - exact), fabs(tension(s->q) - exact)));
    }
    as_statistics work;
    if (as_integrator_statistics(integrator, &work, &error)) fail_msg("%s", error.message);
    printf("%-8s %ld steps, %ld rejected, tension off by %.1e N\n", names[m], work.steps,
           work.rejected_steps, worst);
    assert_true(worst < tension_error(methods[m], 2.0 / (double)work.steps)); // 9 N if it vibrates
    assert_true(work.rejected_steps <= 10 && work.steps < 500);
    as_integrator_destroy(integrator);
    as_problem_destroy(problem);
  }
}

/// Without a damper what is left of a vibration stays where steps resolve it: they must not come to follow it, whatever the
/// tolerance happens to be.
static void test_tolerances(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 8; ++k) {
      as_problem *problem = make_problem();
      as_integrator_def how = as_default_integrator_def();
      how.method = methods[m];
      how.tolerance.rtol = 5e-6 * pow(2.7, k / 7.0);
      as_integrator *integrator = start(problem, &how);
      double worst = 0.0;
      as_error error;
      for (int i = 1; i <= 300; ++i) {
        if (as_integrator_advance(integrator, 0.00617 * i, &error)) fail_msg("%s", error.message);
        const as_state *s = as_integrator_state(integrator);
        const double exact = -3.0 * mass * gravity * s->q[1] / length;
        worst = fmax(worst, fabs(tension(s->q) - exact));
      }
      as_statistics work;
      if (as_integrator_statistics(integrator, &work, &error)) fail_msg("%s", error.message);
      printf("%-8s rtol %.2e: %ld steps, %ld rejected, tension off by %.1e N\n", names[m],
             how.tolerance.rtol, work.steps, work.rejected_steps, worst);
      assert_true(worst < 0.05 && work.steps < 8000); // up to 4 N and 1e5 steps if they do
      as_integrator_destroy(integrator);
      as_problem_destroy(problem);
    }
}

// ---- a mass on springs and a damper --------------------------------------------------------------

/// A mass of 1 kg in a carriage that moves with cos 2t in both directions, or rests; springs along two directions that
/// are turned against the coordinates, a damper, and an output y that measures the first spring and may take its force
/// away.
typedef struct carriage {
  double k[2];  ///< of the springs [N/m]
  double c;     ///< of the damper, in all directions [N s/m]
  double gives; ///< which part of the first spring's force the output takes away
  bool rests;
} carriage;

static const double along[2][2] = {{0.6, 0.8}, {-0.8, 0.6}};

static int unit_mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 2; ++i) as_matrix_add(out, i, i, 1.0);
  return AS_DONE;
}

static double elongation(double t, const double *q, const carriage *on, int i) {
  const double moved = on->rests ? 0.0 : 0.5 * sin(2.0 * t);
  return along[i][0] * (q[0] - moved) + along[i][1] * (q[1] - moved);
}

static int carriage_force(const as_point *at, double *out, void *user) {
  const carriage *on = user;
  const double speed = on->rests ? 0.0 : cos(2.0 * at->t);
  const double given = on->gives > 0.0 ? on->gives * at->y[0] : 0.0;
  const double f[2] = {-on->k[0] * (elongation(at->t, at->q, on, 0) - given),
                       -on->k[1] * elongation(at->t, at->q, on, 1)};
  for (int i = 0; i < 2; ++i)
    out[i] = along[0][i] * f[0] + along[1][i] * f[1] - on->c * (at->v[i] - speed);
  return AS_DONE;
}

static int measure(const as_point *at, double *out, void *user) {
  out[0] = elongation(at->t, at->q, user, 0);
  return AS_DONE;
}

static double energy_of(const as_state *now, const carriage *on) {
  double energy = 0.5 * (now->v[0] * now->v[0] + now->v[1] * now->v[1]);
  for (int i = 0; i < 2; ++i) {
    const double long_by = elongation(now->t, now->q, on, i);
    energy += 0.5 * on->k[i] * (i == 0 ? 1.0 - on->gives : 1.0) * long_by * long_by;
  }
  return energy;
}

/// Steps to `end`. One that rests: the first step has 1.01 h, the others h; returns the largest energy in the last
/// quarter, of 1e-6 J at the start. One that moves: steps change always; returns the largest error of v' there.
static double ride(carriage *on, as_method method, double h, double end) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  static const double pattern[] = {1.0, 1.4, 1.4, 0.8, 1.1, 0.6, 0.6, 1.3};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.mass_constant = true;
  def.mass = unit_mass;
  def.force = carriage_force;
  if (on->gives > 0.0) def.n_y = 1, def.output = measure;
  def.user = on;
  as_problem *problem = NULL;
  as_error error;
  if (as_problem_create(&def, &problem, &error)) fail_msg("%s", error.message);
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  const double speed = on->rests ? 1e-3 : 1.0, v[2] = {speed, speed}, q[2] = {0.0, 0.0};
  const as_initial initial = {.q = q, .v = v};
  as_integrator *integrator = NULL;
  as_status status = as_integrator_create(problem, &how, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  if (status) fail_msg("%s", error.message);
  const as_state *now = as_integrator_state(integrator);
  double worst = 0.0;
  for (int i = 0; now->t < end; ++i) {
    const double step = !on->rests ? pattern[i % 8] : i == 0 ? 1.01 : 1.0;
    if (as_integrator_step(integrator, h * step, &error)) fail_msg("%s", error.message);
    if (now->t < 0.75 * end) continue;
    if (on->rests) worst = fmax(worst, energy_of(now, on));
    for (int k = 0; k < 2 && !on->rests; ++k)
      worst = fmax(worst, fabs(now->vdot[k] + 2.0 * sin(2.0 * now->t)));
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return worst;
}

/// Vibrations that a step does not quite resolve are not fed, alone or beside a stiff spring, once steps have changed.
static void test_vibrations(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int i = 0; i <= 20; ++i) { // steps of 1 s
      const double k = pow(1.2, i);
      carriage alone = {.k = {k, k}, .rests = true}, beside = {.k = {1e6, k}, .rests = true};
      const double energy =
          fmax(ride(&alone, methods[m], 1.0, 300.0), ride(&beside, methods[m], 1.0, 300.0));
      if (!(energy < 3e-6)) fail_msg("%s, k = %g: %.2e J out of 1e-6", names[m], k, energy);
    }
}

/// A damper holds velocities: its force is second order without any correction, and stays so.
static void test_damper(void **state) {
  (void)state;
  carriage on = {.c = 1e6};
  for (int m = 0; m < 3; ++m) {
    const double coarse = ride(&on, methods[m], 8e-3, 2.0), fine = ride(&on, methods[m], 2e-3, 2.0);
    const double order = log(coarse / fine) / log(4.0);
    printf("%-8s with a damper v' off by %.2e, %.2e m/s2: order %.2f\n", names[m], coarse, fine,
           order);
    if (!(order > 1.8))
      fail_msg("%s: order %.2f", names[m], order); // 1.0 if it is taken for a spring
  }
}

/// A spring whose force an output takes away holds nothing, however stiff it looks without that output.
static void test_output(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    carriage on = {.k = {1e6, 0.1}, .gives = 1.0 - 1e-7, .rests = true};
    const double energy = ride(&on, methods[m], 1.0, 60.0);
    if (!(energy < 3e-6)) fail_msg("%s: %.2e J out of 1e-6", names[m], energy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),      cmocka_unit_test(test_automatic),
      cmocka_unit_test(test_tolerances), cmocka_unit_test(test_vibrations),
      cmocka_unit_test(test_damper),     cmocka_unit_test(test_output),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
