/// Steps a machine from a file through many samples: `samples FILE METHOD STEP STEPS [SETTING...]`. Prints Newton iterations,
/// factorizations, solutions and force evaluations per step; bench/samples.sh counts the instructions of `many_steps`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/file.h"

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

/// What is measured.
__attribute__((noinline)) static void many_steps(as_integrator *s, long steps) {
  as_error error;
  for (long i = 0; i < steps; ++i) stop_if(as_integrator_next(s, &error), &error);
}

static as_method method_of(const char *name) {
  return strcmp(name, "index-3") == 0 ? AS_METHOD_INDEX3
         : strcmp(name, "soi2") == 0  ? AS_METHOD_SOI2
                                      : AS_METHOD_INDEX2;
}

int main(int count, char **argument) {
  as_messages messages;
  as_machine *machine;
  as_integrator *s;
  as_error error;
  if (count < 5) {
    fprintf(stderr, "usage: samples FILE METHOD STEP STEPS [SETTING...]\n");
    return 2;
  }
  if (as_machine_load(argument[1], (const char *const *)argument + 5, count - 5, &machine,
                      &messages)) {
    for (int i = 0; i < messages.n; ++i) fprintf(stderr, "%s\n", messages.message[i].text);
    return 2;
  }
  as_integrator_def def = machine->simulation.integrator;
  def.method = method_of(argument[2]);
  def.step = strtod(argument[3], NULL);
  const long steps = strtol(argument[4], NULL, 10);
  stop_if(as_integrator_create(as_model_problem(machine->model), &def, &s, &error), &error);
  stop_if(as_integrator_start(s, as_model_initial(machine->model), NULL, &error), &error);
  many_steps(s, steps);
  as_statistics at;
  stop_if(as_integrator_statistics(s, &at, &error), &error);
  const double per = 1.0 / (double)at.steps;
  printf("%.3f %.3f %.3f %.3f\n", per * (double)at.newton_iterations,
         per * (double)at.factorizations, per * (double)at.solves,
         per * (double)at.force_evaluations);
  as_integrator_destroy(s);
  as_machine_destroy(machine);
  return 0;
}
