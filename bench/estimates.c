/// Measures estimated errors (`alphastep run --accuracy`) against true ones: the share of channels whose estimate is
/// within a factor 3 of the error against a very fine run. See docs/choosing.md.
///
/// usage: estimates MODEL ...
///
/// Each machine is run with all methods, fixed steps (its own, or a thousandth of its time) and four times these, and
/// tolerances of 1e-3 ... 1e-6. Exit status: 0; 1 if a run fails.
#include <math.h>
#include <stdio.h>

#include "estimates.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double tolerances[] = {1e-3, 1e-4, 1e-5, 1e-6};

typedef struct sum {
  int channels, good, runs, failed;
} sum;

static void measure(const as_machine *machine, const char *path, int method, double step,
                    double rtol, sum *all) {
  as_integrator_def how = machine->simulation.integrator;
  how.method = methods[method];
  how.step = step;
  how.tolerance.rtol = rtol;
  estimates e;
  as_error error;
  ++all->runs;
  printf("%-44s %-8s %4s %7.1e ", path, method_names[method], isnan(step) ? "rtol" : "h",
         isnan(step) ? rtol : step);
  const as_status status = estimates_measure(machine, &how, machine->simulation.t_end, &e, &error);
  if (status) {
    printf("%s\n", error.message);
    all->failed += status != AS_ERR_UNSUPPORTED;
    return;
  }
  printf("%4d of %4d  error %7.1e  %6.2g %-30.30s %6.2g %-30.30s %s\n", e.good, e.channels,
         e.relative, e.lowest, e.lowest_name, e.highest, e.highest_name, e.accuracy.message);
  all->channels += e.channels;
  all->good += e.good;
}

static void measure_machine(const char *path, sum *fixed, sum *automatic) {
  as_messages messages;
  as_machine *machine;
  if (as_machine_load(path, NULL, 0, &machine, &messages)) {
    printf("%s\n", messages.message[0].text);
    ++fixed->failed;
    return;
  }
  const as_simulation *s = &machine->simulation;
  const double step = isnan(s->integrator.step) ? 1e-3 * s->t_end : s->integrator.step;
  for (int m = 0; m < 3; ++m) {
    measure(machine, path, m, step, 1e-4, fixed);
    measure(machine, path, m, 4.0 * step, 1e-4, fixed);
    for (size_t i = 0; i < sizeof tolerances / sizeof tolerances[0]; ++i)
      measure(machine, path, m, (double)NAN, tolerances[i], automatic);
    fflush(stdout);
  }
  as_machine_destroy(machine);
}

static void print_sum(const char *name, const sum *s) {
  printf("%s: %d of %d channels within a factor 3 (%.1f %%), %d runs, %d failed\n", name, s->good,
         s->channels, 100.0 * s->good / s->channels, s->runs, s->failed);
}

int main(int argc, char **argv) {
  sum fixed = {0}, automatic = {0};
  for (int i = 1; i < argc; ++i) measure_machine(argv[i], &fixed, &automatic);
  print_sum("fixed steps", &fixed);
  print_sum("automatic steps", &automatic);
  return fixed.failed + automatic.failed > 0;
}
