/// N four-bars in a row, of revolutes in space, that pass flat positions with automatic steps: errors at the end of 10 s and
/// steps, for docs/automatic-steps.md.
///
///     singular [--end T] [--methods LIST] [--rtol FROM TO] N...      LIST: of index-3, index-2 and SOI2 the letters 3, 2 and S
///
/// prints a row for each N and method, with the powers of ten of rtol from FROM to TO (1e-3 to 1e-8).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "four_bars.h"

static const double pi = 3.14159265358979323846;

static void stop(const as_error *error) {
  fprintf(stderr, "singular: %s\n", error->message);
  exit(1);
}

// ---- runs -------------------------------------------------------------------------------------------

/// The error of the first crank's angle, or of its rate over 6 rad/s, whichever is larger.
static double error_of(const as_model *model, const as_state *state, int N) {
  double psi = 0.0, rate = 1.0;
  as_body_motion motion;
  four_bars_move(N, state->t, &psi, &rate);
  as_model_body_motion(model, state, 0, &motion);
  const double angle = remainder(atan2(motion.x[0], motion.x[1]) - psi, 2.0 * pi);
  return fmax(fabs(angle), fabs(-motion.omega[2] - rate) / 6.0);
}

static void run(int N, as_method method, double rtol, double end) {
  as_error error;
  as_model *model = four_bars_build(N, 0.0, 1.0, &error);
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
    fprintf(stderr, "N = %d, method %d, rtol %g: %s\n", N, method, rtol, error.message);
  } else {
    if (as_integrator_statistics(integrator, &work, &error)) stop(&error);
    printf(" %.2g, %ld |", error_of(model, as_integrator_state(integrator), N) / rtol, work.steps);
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
  double end = 10.0, from = 1e-3, to = 1e-8;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--end") && i + 1 < argc) {
      end = atof(argv[++i]);
    } else if (!strcmp(argv[i], "--methods") && i + 1 < argc) {
      wanted = argv[++i];
    } else if (!strcmp(argv[i], "--rtol") && i + 2 < argc) {
      from = atof(argv[++i]);
      to = atof(argv[++i]);
    } else {
      const int N = atoi(argv[i]);
      for (int m = 0; m < 3 && N > 0; ++m) {
        if (!strchr(wanted, letters[m])) continue;
        printf("| %d | %s |", N, names[m]);
        for (double rtol = from; rtol > 0.9 * to; rtol /= 10.0) run(N, methods[m], rtol, end);
        printf("\n");
      }
    }
  }
  return 0;
}
