/// The list of the test problems with first-order states and outputs.
#include "problems/mechatronic.h"

#include <assert.h>

typedef const mechatronic_problem *problem_fn(void);

static problem_fn *const list[] = {
    mechatronic_spring,        mechatronic_cart_pole,    mechatronic_fourbar,
    mechatronic_accelerometer, mechatronic_force_sensor, mechatronic_wheel_top,
};

int mechatronic_count(void) { return (int)(sizeof list / sizeof list[0]); }

const mechatronic_problem *mechatronic_get(int index) {
  assert(index >= 0 && index < mechatronic_count());
  return list[index]();
}
