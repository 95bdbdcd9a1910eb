/// Fuzzes what a model file says to a plugin: parameters, inputs, states, samples. The reader gives a machine, which evaluates or says why not,
/// or messages. The plugin is that of the tests; it is trusted, the file is not.
///
/// `fuzz_plugins --seeds=FOLDER` writes texts to begin with.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/seeds.h"
#include "plugins.h"

#define HEAD                                                                                       \
  "alphastep: 1\nbodies: {a: {type: point, mass: 2}, c: {mass: 1, inertia: [1, 1, 1]}}\n"          \
  "simulate: {t_end: 1, step: 0.1}\n"
#define BLOCK(keys)                                                                                \
  HEAD "blocks:\n  w: {type: signal, formula: t}\n"                                                \
       "  b: {type: plugin, file: test_plugin.so, " keys "}\n"

static const char *const seeds[] = {
    BLOCK("plugin: wild, inputs: {p: blocks.w, v: 1}, parameters: {gain: 2}"),
    BLOCK("plugin: given, inputs: {p: blocks.w, v: t}, period: 0.1, offset: 0.05"),
    BLOCK("plugin: given, inputs: {p: blocks.b.second, v: 1}, start: {one: 1, two: 2}"),
    BLOCK("plugin: triangle"),
    BLOCK("plugin: failing, inputs: {}, parameters: {at: 1}"),
    BLOCK("plugin: nothing, parameters: {gain: nan, gain: [1], x: {y: z}}"),
    HEAD "forces:\n  f: {type: plugin, file: test_plugin.so, plugin: bush, bodies: [a, c], "
         "parameters: {stiffness: 10}}\n",
    HEAD "forces:\n  f: {type: plugin, file: test_plugin.so, plugin: bush_given, bodies: "
         "[ground, c], point: [1, 2, 3]}\n",
};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  exit(0);
}

/// The problem's functions at the start.
static void evaluate(const as_machine *machine) {
  const as_problem *problem = as_model_problem(machine->model);
  const as_initial *initial = as_model_initial(machine->model);
  const as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error = {.message = ""};
  as_status status = as_integrator_create(problem, &def, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, initial, NULL, &error);
  must(status == AS_OK || error.message[0], "a failure without a sentence");
  as_integrator_destroy(integrator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static as_messages messages;
  as_machine *machine = NULL;
  if (size > 4096 || memchr(data, '\0', size)) return 0;
  char *text = calloc(size + 1, 1);
  must(text != NULL, "no memory");
  memcpy(text, data, size);
  if (strstr(text, "repeat")) { // slow, not interesting
    free(text);
    return 0;
  }
  const as_status status = plugins_load(text, &machine, &messages);
  must((status == AS_OK) == (machine != NULL), "neither a machine nor a failure");
  must((status == AS_OK) == (messages.n == 0), "a failure without messages, or the other way");
  for (int i = 0; i < messages.n; ++i)
    must(strstr(messages.message[i].text, "error: ") != NULL, "a message without its mark");
  if (machine && as_problem_sizes(as_model_problem(machine->model)).v < 200) evaluate(machine);
  as_machine_destroy(machine);
  free(text);
  return 0;
}
