/// Second order in q, v, v', a and lambda, for every test problem and every method.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "observe.h"

typedef struct order_case {
  const test_problem *(*problem)(void);
  double h;          ///< the coarser of two steps [s]
  double times[3];   ///< where errors are looked at; multiples of h [s]
  bool a_from_table; ///< exact() knows only certain times: a cannot be compared at t + D h
} order_case;

static const order_case cases[] = {
    {problem_oscillator, 0.01, {0.5, 1.0, 1.4}, false},
    {problem_double_pendulum, 0.002, {0.5, 1.0, 1.5}, false},
    {problem_spherical_pendulum_angles, 0.005, {0.5, 1.0, 1.5}, false},
    {problem_pendulum, 0.005, {0.5, 1.0, 1.5}, false},
    {problem_pendulum_horizontal, 0.005, {0.5, 1.0, 1.5}, false},
    {problem_spherical_pendulum, 0.005, {0.5, 1.0, 1.5}, false},
    {problem_driven_pendulum, 0.005, {0.5, 1.0, 1.5}, false},
    {problem_double_pendulum_slider, 0.002, {0.5, 1.0, 1.5}, false},
    {problem_friction_wire, 0.002, {0.2, 0.5, 1.0}, false},
    {problem_slider_crank, 0.01, {2.5, 5.0, 7.5}, false},
    {problem_car_axis, 0.0005, {0.5, 1.0, 1.5}, true},
    {problem_andrews, 1e-5, {0.01, 0.02, 0.03}, true},
    {problem_free_rotation, 0.002, {0.5, 1.0, 1.5}, false},
    {problem_free_body, 0.002, {0.5, 1.0, 1.5}, false},
    {problem_heavy_top_slow, 0.002, {0.3, 0.5, 0.7}, false},
    {problem_heavy_top_fast, 0.0005, {0.1, 0.15, 0.2}, false},
    {problem_heavy_top_slow_se3, 0.002, {0.3, 0.5, 0.7}, false},
    {problem_heavy_top_fast_se3, 0.0005, {0.1, 0.15, 0.2}, false},
    {problem_two_bodies, 0.002, {0.3, 0.5, 0.7}, false},
    {problem_two_bodies_se3, 0.002, {0.3, 0.5, 0.7}, false},
};

static int check(const char *problem, const char *variable, double coarse, double fine) {
  const double order = observed_order(coarse, fine);
  printf("  %-7s %10.3e %10.3e  order %.3f\n", variable, coarse, fine, order);
  if (order >= 1.9) return 0;
  print_error("%s: the error of %s falls from %g to %g: order %.3f < 1.9\n", problem, variable,
              coarse, fine, order);
  return 1;
}

static void check_orders(as_method method) {
  int failures = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const order_case *c = &cases[i];
    const test_problem *p = c->problem();
    as_integrator_def def = as_default_integrator_def();
    def.method = method;
    const errors coarse = observe(p, def, c->h, c->times, 3);
    const errors fine = observe(p, def, c->h / 2.0, c->times, 3);
    printf("%s\n", p->name);
    failures += check(p->name, "q", coarse.q, fine.q);
    failures += check(p->name, "v", coarse.v, fine.v);
    failures += check(p->name, "vdot", coarse.vdot, fine.vdot);
    if (!c->a_from_table) failures += check(p->name, "a", coarse.a, fine.a);
    if (p->def.n_lambda > 0) failures += check(p->name, "lambda", coarse.lambda, fine.lambda);
  }
  assert_int_equal(failures, 0);
}

static void test_index3(void **state) {
  (void)state;
  check_orders(AS_METHOD_INDEX3);
}

static void test_soi2(void **state) {
  (void)state;
  check_orders(AS_METHOD_SOI2);
}

static void test_index2(void **state) {
  (void)state;
  check_orders(AS_METHOD_INDEX2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_index3), cmocka_unit_test(test_index2),
                                     cmocka_unit_test(test_soi2)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
