/// A user's program, built against the installed libraries: a rotation, out to the group and back; a file and a report
/// that are not there, so that all that the libraries link to is needed. WITHOUT_IO: libalphastep alone.
/// Prints the version of the library that runs.
#include <math.h>
#include <stdio.h>

#include <alphastep/alphastep.h>
#ifndef WITHOUT_IO
#include <alphastep/io.h>
#endif

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

#ifndef WITHOUT_IO
  as_machine *machine = NULL;
  as_messages messages;
  as_report_def report = as_default_report_def();
  report.results = "not there.h5";
  report.output = "not there.html";
  if (as_machine_load("not there.yaml", NULL, 0, &machine, &messages) == AS_OK ||
      as_report_write(&report, &error) != AS_ERR_FILE) {
    fputs("What is not there was found.\n", stderr);
    return 1;
  }
#endif
  puts(as_version());
  return 0;
}
