/// What an FMU costs beside the library: the same communication steps of a machine, native or by fmi2DoStep, for callgrind.
///
///     alphastep fmu MODEL -o x.fmu --set ... && unzip x.fmu -d DIR
///     valgrind --tool=callgrind bench/fmu native MODEL T STEP [path=value]...
///     valgrind --tool=callgrind bench/fmu DIR GUID T STEP LIBRARY
///
/// The difference of two runs of different lengths T is free of reading and starting.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "fmi/fmi2.h"

static int fail(const char *text) {
  fprintf(stderr, "%s\n", text);
  return 1;
}

static int run_native(int argc, char **argv, double end, double h) {
  static as_messages messages;
  const char **settings = calloc((size_t)argc, sizeof *settings);
  as_machine *m;
  as_integrator *s;
  as_error error;
  int n = 0;
  if (settings == NULL) return fail("out of memory");
  for (int i = 5; i < argc; ++i) settings[n++] = argv[i];
  if (as_machine_load(argv[2], settings, n, &m, &messages)) return fail(messages.message[0].text);
  const as_integrator_def how = m->simulation.integrator;
  if (as_integrator_create(as_model_problem(m->model), &how, &s, &error) ||
      as_integrator_start(s, as_model_initial(m->model), NULL, &error))
    return fail(error.message);
  for (int k = 1; k * h <= end * (1.0 + 1e-9); ++k)
    if (as_integrator_advance(s, k * h, &error)) return fail(error.message);
  printf("%.17g\n", as_integrator_state(s)->q[0]);
  as_integrator_destroy(s);
  as_machine_destroy(m);
  free(settings);
  return 0;
}

static void *find(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (function == NULL) exit(fail(name));
  return function;
}

#define TAKE(name)                                                                                 \
  fmi2##name##TYPE *name;                                                                          \
  void *at_##name = find(library, "fmi2" #name);                                                   \
  memcpy(&name, &at_##name, sizeof name)

static int run_fmu(char **argv, double end, double h) {
  char uri[1000];
  void *library = dlopen(argv[5], RTLD_NOW);
  if (library == NULL) return fail(dlerror());
  TAKE(Instantiate);
  TAKE(SetupExperiment);
  TAKE(EnterInitializationMode);
  TAKE(ExitInitializationMode);
  TAKE(DoStep);
  TAKE(FreeInstance);
  const fmi2CallbackFunctions none = {0};
  snprintf(uri, sizeof uri, "%s/resources", argv[1]);
  fmi2Component c = Instantiate("x", fmi2CoSimulation, argv[2], uri, &none, fmi2False, fmi2False);
  if (c == NULL || SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0) ||
      EnterInitializationMode(c) || ExitInitializationMode(c))
    return fail("the FMU does not start");
  for (int k = 1; k * h <= end * (1.0 + 1e-9); ++k)
    if (DoStep(c, (k - 1) * h, k * h - (k - 1) * h, fmi2True)) return fail("a step fails");
  FreeInstance(c);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 5)
    return fail("fmu native MODEL T STEP [path=value]... | fmu DIR GUID T STEP LIBRARY");
  const double end = strtod(argv[3], NULL), h = strtod(argv[4], NULL);
  if (strcmp(argv[1], "native") == 0) return run_native(argc, argv, end, h);
  return argc == 6 ? run_fmu(argv, end, h) : fail("fmu DIR GUID T STEP LIBRARY");
}
