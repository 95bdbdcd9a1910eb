/// A user's program, built against the installed library: a rotation, out to the group and back.
/// Prints the version of the library that runs.
#include <math.h>
#include <stdio.h>

#include <alphastep/alphastep.h>

int main(void) {
  const as_space_part part = {.kind = AS_SPACE_SO3, .count = 1};
  as_space *space = NULL;
  as_error error;
  if (as_space_create(&part, 1, &space, &error) != AS_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }

  const double xi[3] = {0.1, -0.2, 0.3};
  double q[4];
  double back[3];
  as_space_exp(space, xi, q);
  as_space_log(space, q, back);
  as_space_destroy(space);

  for (int i = 0; i < 3; ++i) {
    if (!(fabs(back[i] - xi[i]) < 1e-14)) {
      fprintf(stderr, "log(exp(xi))[%d] = %.17g, not %.17g\n", i, back[i], xi[i]);
      return 1;
    }
  }
  puts(as_version());
  return 0;
}
