/// What a library that was built without LAPACK says to those who want a mesh reduced: one sentence.
#include <math.h>
#include <stddef.h>

#include "alphastep/reduction.h"
#include "base/error.h"

static as_status fail_without_lapack(const char *what, as_error *error) {
  return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
                  "%s needs LAPACK, and this library was built without it.", what);
}

as_reduction_def as_default_reduction_def(void) { return (as_reduction_def){.modes = -1}; }

as_status as_reduce(const as_reduction_def *def, as_flexible_data **out, as_reduction_info *info,
                    as_error *error) {
  (void)def;
  *out = NULL;
  if (info) *info = (as_reduction_info){0};
  return fail_without_lapack("The reduction of a mesh", error);
}

as_status as_flexible_frequencies(const as_flexible_data *data, bool is_free, double *out,
                                  as_error *error) {
  (void)data;
  (void)is_free;
  (void)out;
  return fail_without_lapack("The search for frequencies", error);
}
