// What the commands that take a model file share, see machine.h.
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/results.h"

/// Takes an option; CLI_FELL_SHORT: it is none of ours.
static cli_exit take_option(int argc, char **argv, int *i, bool writes, machine_request *r) {
  const char *word = argv[*i], *value = NULL;
  if (cli_option(argc, argv, i, "--set", &value)) {
    if (value == NULL) return CLI_USAGE;
    if (strchr(value, '=') == NULL || value[0] == '=') {
      cli_complain("`--set %s` is not like `--set path.to.value=1.5`.", value);
      return CLI_USAGE;
    }
    r->settings[r->n_settings++] = value;
  } else if (writes && (cli_option(argc, argv, i, "-o", &value) ||
                        cli_option(argc, argv, i, "--output", &value))) {
    if (value == NULL) return CLI_USAGE;
    r->folder = value;
  } else if (writes && cli_option(argc, argv, i, "--resume", &value)) {
    if (value == NULL) return CLI_USAGE;
    r->resume = value;
  } else if (writes && strcmp(word, "--force") == 0) {
    r->force = true;
  } else if (writes && (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0)) {
    r->quiet = true;
  } else if (writes && strcmp(word, "--no-report") == 0) {
    r->no_report = true;
  } else if (strcmp(word, "--json") == 0) {
    r->json = true;
  } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    r->help = true;
  } else {
    return CLI_FELL_SHORT;
  }
  return CLI_DONE;
}

cli_exit machine_arguments(int argc, char **argv, const char *command, bool writes,
                           machine_request *r) {
  *r = (machine_request){.settings = calloc((size_t)argc + 1, sizeof *r->settings)};
  if (r->settings == NULL) return cli_complain_memory();
  bool options = true; // until `--`
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (options && strcmp(word, "--") == 0) {
      options = false;
    } else if (options && word[0] == '-') {
      cli_exit status = take_option(argc, argv, &i, writes, r);
      if (status == CLI_FELL_SHORT) {
        cli_complain("Unknown option `%s`; see `alphastep help %s`.", word, command);
        return CLI_USAGE;
      }
      if (status != CLI_DONE) return status;
    } else if (r->model != NULL) {
      cli_complain("One model file at a time: `%s` follows `%s`.", word, r->model);
      return CLI_USAGE;
    } else {
      r->model = word;
    }
  }
  if (r->resume != NULL && (r->folder != NULL || r->force)) {
    cli_complain("`--resume %s` goes on in that folder: leave `-o` and `--force` away.", r->resume);
    return CLI_USAGE;
  }
  if (r->model == NULL && r->resume == NULL && !r->help) {
    cli_complain("Which model file? See `alphastep help %s`.", command);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

void machine_arguments_free(machine_request *r) { free(r->settings); }

/// Looks for each output alone, so that all that are wrong are named.
static bool outputs_are_there(const as_machine *machine) {
  bool ok = true;
  for (int i = 0; i < machine->output.n_channels; i++) {
    as_channels *channels = NULL;
    as_error error;
    as_place at = machine->output.channel_places[i];
    if (as_channels_create_with(machine->model, machine->rules, &machine->output.channels[i], 1,
                                &channels, &error) != AS_OK) {
      fputs(at.file, stderr);
      if (at.line > 0) fprintf(stderr, ":%d:%d", at.line, at.column);
      fprintf(stderr, ": error: %s\n", error.message);
      ok = false;
    }
    as_channels_destroy(channels);
  }
  return ok;
}

cli_exit machine_open(const machine_request *r, as_machine **machine) {
  as_messages *messages = calloc(1, sizeof *messages);
  if (messages == NULL) return cli_complain_memory();
  as_status status = as_machine_load(r->model, r->settings, r->n_settings, machine, messages);
  for (int i = 0; i < messages->n; i++) fprintf(stderr, "%s\n", messages->message[i].text);
  if (messages->more) cli_complain("There are more errors than these.");
  free(messages);
  if (status != AS_OK) return status == AS_ERR_ARGUMENT ? CLI_USAGE : CLI_OUTPUT;
  if (!outputs_are_there(*machine)) {
    as_machine_destroy(*machine);
    *machine = NULL;
    return CLI_USAGE;
  }
  return CLI_DONE;
}
