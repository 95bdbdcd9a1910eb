// `alphastep fmu`: a machine as an FMU for other programs.
#include "alphastep/fmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "machine.h"

static const char *const help =
    "Usage: alphastep fmu MODEL -o FILE.fmu [--fmi 2|3] [--inputs NAME,...] [--outputs NAME,...]\n"
    "                     [--tunable NAME,...] [--input-derivatives] [--set PATH=VALUE]...\n"
    "                     [--quiet] [--json]\n"
    "\n"
    "Makes a co-simulation FMU of a machine: one file that Simulink, Dymola, OpenModelica, FMPy "
    "and\n"
    "other programs run. It needs nothing but the C library where it runs.\n"
    "\n"
    "  -o FILE.fmu         where to write it, in place of a file of that name; it names the FMU\n"
    "  --fmi 2|3           version of the standard, 2.0 (the default) or 3.0\n"
    "  --inputs NAME,...   blocks of type `input` (`blocks.demand`) and parameters that formulas\n"
    "                      read (`parameters.load`); otherwise all such blocks\n"
    "  --outputs NAME,...  channels, as in `output.channels` (`joints.hinge.angle`, "
    "`bodies.*.position`);\n"
    "                      otherwise those of the model file and all blocks\n"
    "  --tunable NAME,...  parameters that may change while the machine runs (`parameters.gain`);\n"
    "                      all others that are written as numbers may until it starts\n"
    "  --input-derivatives importers may give first derivatives of inputs that are blocks\n"
    "  --set PATH=VALUE    set a value of the model, as in `run`; may be repeated\n"
    "  --quiet, --json     no summary; the summary as JSON\n"
    "\n"
    "docs/fmu-export.md says what importers see, with recipes.\n";

typedef struct fmu_request {
  machine_request machine;
  as_fmu_def def;
  const char **names[3]; // inputs, outputs, tunable
  int n[3];
  char *copied[3];
} fmu_request;

static void free_request(fmu_request *r) {
  for (int k = 0; k < 3; k++) {
    free(r->names[k]);
    free(r->copied[k]);
  }
  machine_arguments_free(&r->machine);
}

/// Splits `a,b,c`; each list is given once.
static cli_exit take_list(fmu_request *r, int k, const char *option, const char *text) {
  if (text == NULL) return CLI_USAGE;
  if (r->copied[k] != NULL) {
    cli_complain("`%s` is given twice: put all names into one list, `%s a,b,c`.", option, option);
    return CLI_USAGE;
  }
  const size_t length = strlen(text);
  r->copied[k] = malloc(length + 1);
  r->names[k] = calloc(length + 1, sizeof *r->names[k]);
  if (r->copied[k] == NULL || r->names[k] == NULL) return cli_complain_memory();
  memcpy(r->copied[k], text, length + 1);
  for (char *word = r->copied[k], *end; word != NULL; word = end) {
    end = strchr(word, ',');
    if (end != NULL) *end++ = '\0';
    if (*word == '\0') {
      cli_complain("`%s %s` has an empty name in it.", option, text);
      return CLI_USAGE;
    }
    r->names[k][r->n[k]++] = word;
  }
  return CLI_DONE;
}

static cli_exit take_version(fmu_request *r, const char *text) {
  if (text == NULL) return CLI_USAGE;
  r->def.version = strcmp(text, "2") == 0 || strcmp(text, "2.0") == 0   ? 2
                   : strcmp(text, "3") == 0 || strcmp(text, "3.0") == 0 ? 3
                                                                        : 0;
  if (r->def.version != 0) return CLI_DONE;
  cli_complain("`--fmi %s` is neither `2` nor `3`.", text);
  return CLI_USAGE;
}

static cli_exit take_option(int argc, char **argv, int *i, fmu_request *r) {
  machine_request *m = &r->machine;
  const char *word = argv[*i], *value = NULL;
  if (cli_option(argc, argv, i, "--inputs", &value)) return take_list(r, 0, "--inputs", value);
  if (cli_option(argc, argv, i, "--outputs", &value)) return take_list(r, 1, "--outputs", value);
  if (cli_option(argc, argv, i, "--tunable", &value)) return take_list(r, 2, "--tunable", value);
  if (cli_option(argc, argv, i, "--fmi", &value)) return take_version(r, value);
  if (cli_option(argc, argv, i, "-o", &m->folder) ||
      cli_option(argc, argv, i, "--output", &m->folder))
    return m->folder ? CLI_DONE : CLI_USAGE;
  if (cli_option(argc, argv, i, "--set", &value)) {
    if (value == NULL) return CLI_USAGE;
    m->settings[m->n_settings++] = value;
    if (strchr(value, '=') != NULL && value[0] != '=') return CLI_DONE;
    cli_complain("`--set %s` is not like `--set path.to.value=1.5`.", value);
    return CLI_USAGE;
  }
  if (strcmp(word, "--input-derivatives") == 0)
    r->def.input_derivatives = true;
  else if (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0)
    m->quiet = true;
  else if (strcmp(word, "--json") == 0)
    m->json = true;
  else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    m->help = true;
  else {
    cli_complain("Unknown option `%s`; see `alphastep help fmu`.", word);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

static cli_exit read_arguments(int argc, char **argv, fmu_request *r) {
  machine_request *m = &r->machine;
  m->settings = calloc((size_t)argc + 1, sizeof *m->settings);
  if (m->settings == NULL) return cli_complain_memory();
  bool options = true; // until `--`
  for (int i = 0; i < argc; i++) {
    if (options && strcmp(argv[i], "--") == 0) {
      options = false;
    } else if (options && argv[i][0] == '-') {
      const cli_exit status = take_option(argc, argv, &i, r);
      if (status != CLI_DONE) return status;
    } else if (m->model != NULL) {
      cli_complain("One model file at a time: `%s` follows `%s`.", argv[i], m->model);
      return CLI_USAGE;
    } else {
      m->model = argv[i];
    }
  }
  if (m->help) return CLI_DONE;
  if (m->model == NULL) {
    cli_complain("Which model file? See `alphastep help fmu`.");
    return CLI_USAGE;
  }
  const size_t length = m->folder ? strlen(m->folder) : 0;
  if (length < 5 || strcmp(m->folder + length - 4, ".fmu") != 0) {
    if (m->folder)
      cli_complain("`-o %s` does not end in `.fmu`, which importers ask for: say `-o FILE.fmu`.",
                   m->folder);
    else
      cli_complain("Where to? Say it with `-o FILE.fmu`.");
    return CLI_USAGE;
  }
  return CLI_DONE;
}

static void print_report(const fmu_request *r, const as_fmu_report *report) {
  const machine_request *m = &r->machine;
  if (m->json) {
    json_object o = json_begin(stdout, 0);
    json_add_string(&o, "model", m->model);
    json_add_string(&o, "fmu", m->folder);
    json_add_number(&o, "fmi", r->def.version);
    json_add_number(&o, "inputs", report->inputs);
    json_add_number(&o, "parameters", report->parameters);
    json_add_number(&o, "tunable", report->tunable);
    json_add_number(&o, "outputs", report->outputs);
    json_add_number(&o, "files", report->files);
    json_end(&o);
    putchar('\n');
  } else if (!m->quiet) {
    printf("%s: FMI %d.0, co-simulation; inputs: %d, parameters: %d (tunable: %d), outputs: %d\n",
           m->folder, r->def.version, report->inputs, report->parameters, report->tunable,
           report->outputs);
  }
}

static cli_exit export_fmu(fmu_request *r) {
  const machine_request *m = &r->machine;
  as_fmu_report report;
  as_error error;
  as_messages *messages = calloc(1, sizeof *messages);
  if (messages == NULL) return cli_complain_memory();
  r->def.model = m->model;
  r->def.settings = m->settings;
  r->def.n_settings = m->n_settings;
  r->def.inputs = r->names[0];
  r->def.n_inputs = r->n[0];
  r->def.outputs = r->names[1];
  r->def.n_outputs = r->n[1];
  r->def.tunable = r->names[2];
  r->def.n_tunable = r->n[2];
  const as_status status = as_fmu_export(&r->def, m->folder, &report, messages, &error);
  if (status == AS_OK) {
    print_report(r, &report);
  } else if (messages->n > 0) {
    machine_tell_messages(m, messages);
  } else {
    cli_complain("%s: %s", m->model, error.message);
    machine_refuse(m);
  }
  free(messages);
  return cli_judge(status);
}

cli_exit fmu_command(int argc, char **argv) {
  fmu_request r = {.def = as_default_fmu_def()};
  cli_exit status = read_arguments(argc, argv, &r);
  if (status == CLI_DONE && r.machine.help)
    fputs(help, stdout);
  else if (status == CLI_DONE)
    status = export_fmu(&r);
  free_request(&r);
  return status;
}
