#include "analysis/modes.h"
#include "analysis/linearization.h"
#include "base/error.h"
as_status as_modes_slowest(const as_problem *problem, const as_initial *initial, int count,
                           as_modes **out, as_error *error) {
  (void)problem, (void)initial, (void)count, (void)out;
  return asi_fail(error, AS_ERR_UNSUPPORTED, 0, NULL, "todo");
}
