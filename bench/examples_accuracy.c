/// How accurate the machines of examples/machines are at a tolerance: positions of bodies and reactions of joints against
/// a run with a hundredth of it, at every output time of the file. See docs/automatic-steps.md.
///
/// usage: examples_accuracy [--rtol RTOL] [--fine RTOL] MODEL ...
///
/// Exit status: 0 also if a goal (positions 1e-3, reactions 1e-2 of their size) is missed; 1 if a run fails.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/examples.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};

int main(int argc, char **argv) {
  double rtol = as_default_integrator_def().tolerance.rtol, fine = 0.0;
  int first = 1;
  for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
    double *to = strcmp(argv[first], "--rtol") == 0   ? &rtol
                 : strcmp(argv[first], "--fine") == 0 ? &fine
                                                      : NULL;
    if (to == NULL) break;
    *to = strtod(argv[first + 1], NULL);
  }
  if (!(fine > 0.0)) fine = 1e-2 * rtol;
  if (first >= argc || argv[first][0] == '-' || !(rtol > 0.0 && rtol < 1.0)) {
    fprintf(stderr, "usage: examples_accuracy [--rtol RTOL] [--fine RTOL] MODEL ...\n");
    return 2;
  }
  bool failed = false;
  printf("rtol %g against %g, errors relative to the size of a vector\n", rtol, fine);
  printf("%-44s %-8s %6s %7s %9s %9s\n", "model", "method", "steps", "newton", "position",
         "reaction");
  for (int i = first; i < argc; ++i)
    for (int m = 0; m < 3; ++m) {
      const example_accuracy a = example_compare(argv[i], methods[m], rtol, fine, NULL);
      const size_t n = strlen(argv[i]);
      printf("%-44s %-8s", n > 44 ? argv[i] + n - 44 : argv[i], method_names[m]);
      if (a.status) {
        printf(" %s\n", a.message);
        failed = failed || a.status != AS_ERR_UNSUPPORTED;
        continue;
      }
      printf(" %6ld %7ld %9.1e %9.1e  %s at %g s, %s at %g s%s\n", a.steps, a.newton_iterations,
             a.position.off, a.reaction.off, a.position.name, a.position.time, a.reaction.name,
             a.reaction.time, a.position.off <= 1e-3 && a.reaction.off <= 1e-2 ? "" : "  MISSED");
      fflush(stdout);
    }
  return failed ? 1 : 0;
}
