/// N four-bars in a row, of revolutes in space, that pass flat positions with automatic steps: errors at the end of 10 s and
/// steps, for docs/automatic-steps.md.
///
///     singular [--end T] [--methods LIST] [--rtol FROM TO] [--bend A] [--spring K] [--damper D] [--twin] N...
///
/// prints a row for each N and method, with the powers of ten of rtol from FROM to TO (1e-3 to 1e-8). LIST: of index-3, index-2 and
/// SOI2 the letters 3, 2 and S. With --twin it is one crank alone that moves like those of the four-bars.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "four_bars.h"

static void stop(const as_error *error) {
  fprintf(stderr, "singular: %s\n", error->message);
  exit(1);
}

// ---- runs -------------------------------------------------------------------------------------------

static void run(const four_bars *f, bool twin, as_method method, double rtol, double end) {
  as_error error;
  double ahead = 0.0, psi = 0.0, rate = 1.0;
  as_model *model = twin ? four_bars_build_twin(f, psi, rate, &ahead, &error)
                         : four_bars_build(f, psi, rate, &error);
  if (model == NULL) stop(&error);
  as_integrator *integrator = NULL;
  as_integrator_def how = as_default_integrator_def();
  as_statistics work;
  how.method = method;
  how.tolerance.rtol = rtol;
  how.tolerance.span = end;
  if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
      as_integrator_advance(integrator, end, &error)) {
    printf(" fails |");
    fprintf(stderr, "N = %d, method %d, rtol %g: %s\n", f->N, method, rtol, error.message);
  } else {
    const as_state *state = as_integrator_state(integrator);
    if (as_integrator_statistics(integrator, &work, &error)) stop(&error);
    four_bars_move(f, end, &psi, &rate);
    printf(" %.2g, %ld |", four_bars_angle_error(model, state, psi + ahead, rate) / rtol,
           work.steps);
  }
  fflush(stdout);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

int main(int argc, char **argv) {
  static const char letters[] = "32S";
  static const char *const names[] = {"index-3", "index-2", "SOI2"};
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  const char *wanted = letters;
  four_bars f = {0};
  bool twin = false;
  double end = 10.0, from = 1e-3, to = 1e-8;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--end") && i + 1 < argc) {
      end = atof(argv[++i]);
    } else if (!strcmp(argv[i], "--methods") && i + 1 < argc) {
      wanted = argv[++i];
    } else if (!strcmp(argv[i], "--bend") && i + 1 < argc) {
      f.bend = atof(argv[++i]);
    } else if (!strcmp(argv[i], "--spring") && i + 1 < argc) {
      f.stiffness = atof(argv[++i]);
    } else if (!strcmp(argv[i], "--damper") && i + 1 < argc) {
      f.damping = atof(argv[++i]);
    } else if (!strcmp(argv[i], "--twin")) {
      twin = true;
    } else if (!strcmp(argv[i], "--rtol") && i + 2 < argc) {
      from = atof(argv[++i]);
      to = atof(argv[++i]);
    } else {
      f.N = atoi(argv[i]);
      for (int m = 0; m < 3 && f.N > 0; ++m) {
        if (!strchr(wanted, letters[m])) continue;
        printf("| %d | %s |", f.N, names[m]);
        for (double rtol = from; rtol > 0.9 * to; rtol /= 10.0)
          run(&f, twin, methods[m], rtol, end);
        printf("\n");
      }
    }
  }
  return 0;
}
