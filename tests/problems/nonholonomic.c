/// The list of the test problems with nonholonomic constraints.
#include "problems/nonholonomic.h"

#include <assert.h>

typedef const nonholonomic_problem *problem_fn(void);

static problem_fn *const list[] = {
    nonholonomic_jn8,
    nonholonomic_j71,
    nonholonomic_disk,
    nonholonomic_disk_printed,
    nonholonomic_disk_physical,
    nonholonomic_disk_held,
    nonholonomic_disk_guided,
    nonholonomic_disk_driven,
    nonholonomic_sleigh,
    nonholonomic_sleigh_moving,
    nonholonomic_speed_constant,
    nonholonomic_speed_varied,
    nonholonomic_rolling_disk,
    nonholonomic_rolling_disk_se3,
    nonholonomic_rolling_disk_slow,
    nonholonomic_rolling_ball,
    nonholonomic_fin,
    nonholonomic_fin_se3,
};

int nonholonomic_count(void) { return (int)(sizeof list / sizeof list[0]); }

const nonholonomic_problem *nonholonomic_get(int index) {
  assert(index >= 0 && index < nonholonomic_count());
  return list[index]();
}
