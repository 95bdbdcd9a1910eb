/// The list of the test problems.
#include "problems/problems.h"

#include <assert.h>

typedef const test_problem *problem_fn(void);

static problem_fn *const list[] = {
    problem_oscillator,
    problem_double_pendulum,
    problem_spherical_pendulum_angles,
    problem_pendulum,
    problem_pendulum_bottom,
    problem_pendulum_horizontal,
    problem_pendulum_over_top,
    problem_spherical_pendulum,
    problem_driven_pendulum,
    problem_double_pendulum_slider,
    problem_double_pendulum_points,
    problem_friction_wire,
    problem_slider_crank,
    problem_car_axis,
    problem_andrews,
    problem_free_rotation,
    problem_free_body,
    problem_heavy_top_slow,
    problem_heavy_top_fast,
    problem_heavy_top_slow_se3,
    problem_heavy_top_fast_se3,
    problem_two_bodies,
    problem_two_bodies_se3,
};

int problem_count(void) { return (int)(sizeof list / sizeof list[0]); }

const test_problem *problem_get(int index) {
  assert(index >= 0 && index < problem_count());
  return list[index]();
}
