// What the commands that take a model file share, see machine.h.
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/results.h"
#include "folder.h"
#include "json.h"

cli_exit machine_plugin_option(int argc, char **argv, int *i, machine_request *r) {
  const char *value = NULL;
  if (strcmp(argv[*i], "--allow-plugins") == 0) {
    r->plugins = true;
  } else if (strcmp(argv[*i], "--allow-fmus") == 0) {
    r->fmus = true;
  } else if (cli_option(argc, argv, i, "--plugins-from", &value)) {
    if (value == NULL) return CLI_USAGE;
    r->folders[r->n_folders++] = value;
  } else if (cli_option(argc, argv, i, "--fmus-from", &value)) {
    if (value == NULL) return CLI_USAGE;
    r->fmu_folders[r->n_fmu_folders++] = value;
  } else {
    return CLI_FELL_SHORT;
  }
  return CLI_DONE;
}

/// Room for folders, for as many as there are arguments, and the absolute ones of an environment variable.
static bool take_environment(int argc, const char *variable, const char ***folders, int *n_folders,
                             char **copy) {
  const char *list = getenv(variable);
  if (list == NULL) list = "";
  size_t n = (size_t)argc + 2;
  for (const char *c = list; *c; c++) n += *c == ':';
  *folders = calloc(n, sizeof **folders);
  *copy = calloc(strlen(list) + 1, 1);
  if (*folders == NULL || *copy == NULL) return false;
  memcpy(*copy, list, strlen(list));
  for (char *part = *copy, *end; part != NULL; part = end) {
    end = strchr(part, ':');
    if (end != NULL) *end++ = '\0';
    if (part[0] == '/') (*folders)[(*n_folders)++] = part; // others would depend on where one is
  }
  return true;
}

cli_exit machine_plugin_folders(int argc, machine_request *r) {
  if (take_environment(argc, "ALPHASTEP_PLUGINS", &r->folders, &r->n_folders, &r->environment[0]) &&
      take_environment(argc, "ALPHASTEP_FMUS", &r->fmu_folders, &r->n_fmu_folders,
                       &r->environment[1]))
    return CLI_DONE;
  return cli_complain_memory();
}

as_plugin_policy machine_policy(const machine_request *r) {
  return (as_plugin_policy){.all = r->plugins,
                            .folders = r->folders,
                            .n_folders = r->n_folders,
                            .fmus = r->fmus,
                            .fmu_folders = r->fmu_folders,
                            .n_fmu_folders = r->n_fmu_folders};
}

enum { MOST_THREADS = 64 };

static cli_exit take_threads(const char *text, machine_request *r) {
  char *end;
  const long n = text ? strtol(text, &end, 10) : 0;
  if (text == NULL) return CLI_USAGE;
  if (end == text || *end != '\0' || n < 1 || n > MOST_THREADS) {
    cli_complain("`--threads %s` is not like `--threads 4`, and at most %d.", text,
                 (int)MOST_THREADS);
    return CLI_USAGE;
  }
  r->threads = (int)n;
  return CLI_DONE;
}

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
  } else if (writes && strcmp(word, "--no-sync") == 0) {
    r->no_sync = true;
  } else if (writes && cli_option(argc, argv, i, "--threads", &value)) {
    return take_threads(value, r);
  } else if (writes && strcmp(word, "--accuracy") == 0) {
    r->accuracy = true;
    r->settings[r->n_settings++] = "simulate.accuracy=true";
  } else if (strcmp(word, "--json") == 0) {
    r->json = true;
  } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    r->help = true;
  } else {
    return machine_plugin_option(argc, argv, i, r);
  }
  return CLI_DONE;
}

cli_exit machine_arguments(int argc, char **argv, const char *command, bool writes,
                           machine_request *r) {
  *r = (machine_request){.settings = calloc((size_t)argc + 1, sizeof *r->settings), .threads = 1};
  if (r->settings == NULL || machine_plugin_folders(argc, r) != CLI_DONE)
    return cli_complain_memory();
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
  if (r->resume != NULL && r->accuracy) {
    cli_complain("`--resume %s` goes on with errors estimated or not, as that run began: leave "
                 "`--accuracy` away.",
                 r->resume);
    return CLI_USAGE;
  }
  if (r->model == NULL && r->resume == NULL && !r->help) {
    cli_complain("Which model file? See `alphastep help %s`.", command);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

void machine_arguments_free(machine_request *r) {
  free(r->settings);
  free(r->folders);
  free(r->fmu_folders);
  for (int i = 0; i < 2; i++) free(r->environment[i]);
}

/// AS_OK if n outputs are there.
static as_status find_outputs(const as_machine *machine, int first, int n, as_error *error) {
  as_channels *channels = NULL;
  as_status status = as_channels_create_with(machine->model, machine->rules,
                                             machine->output.channels + first, n, &channels, error);
  as_channels_destroy(channels);
  return status;
}

/// If an output is not there, looks for each alone, so that the first that are wrong are named. AS_ERR_MEMORY: it is not known.
static as_status check_outputs(const as_machine *machine, as_messages *messages) {
  const as_output *output = &machine->output;
  as_error error;
  as_status status = find_outputs(machine, 0, output->n_channels, &error);
  if (status == AS_OK || status == AS_ERR_MEMORY) return status;
  for (int i = 0; i < output->n_channels && !messages->more; i++) {
    status = find_outputs(machine, i, 1, &error);
    if (status == AS_ERR_MEMORY) return status;
    if (status == AS_OK) continue;
    messages->more = messages->n == AS_MESSAGES;
    if (messages->more) continue;
    const as_place at = output->channel_places[i];
    as_message *m = &messages->message[messages->n++];
    *m = (as_message){.line = at.line, .column = at.column};
    int used = snprintf(m->text, sizeof m->text, "%.400s", at.file);
    if (at.line > 0)
      used += snprintf(m->text + used, sizeof m->text - (size_t)used, ":%d:%d", at.line, at.column);
    snprintf(m->text + used, sizeof m->text - (size_t)used, ": error: %s", error.message);
  }
  return AS_OK;
}

void machine_tell(const machine_request *r, const as_messages *messages) {
  json_object o = json_begin(stdout, 0);
  json_add_string(&o, "model", r->model);
  json_add_string(&o, "status", "refused");
  json_key(&o, "errors");
  for (int i = 0; i < messages->n; i++) {
    fputs(i == 0 ? "[" : ", ", stdout);
    json_object inner = json_begin(stdout, o.indent);
    json_add_number(&inner, "line", messages->message[i].line);
    json_add_number(&inner, "column", messages->message[i].column);
    json_add_string(&inner, "message", messages->message[i].text);
    json_end(&inner);
  }
  putchar(']');
  json_end(&o);
  putchar('\n');
}

void machine_tell_messages(const machine_request *r, const as_messages *messages) {
  for (int i = 0; i < messages->n; i++) fprintf(stderr, "%s\n", messages->message[i].text);
  if (messages->more) cli_complain("There are more errors than these.");
  if (r->json) machine_tell(r, messages);
}

void machine_refuse(const machine_request *r) {
  if (!r->json) return;
  as_messages *messages = calloc(1, sizeof *messages);
  if (messages == NULL) return;
  messages->n = 1;
  snprintf(messages->message[0].text, sizeof messages->message[0].text, "%s", cli_last_complaint());
  machine_tell(r, messages);
  free(messages);
}

cli_exit machine_spare(const as_machine *machine, const char *output) {
  for (int i = 0; i < machine->n_files; i++) {
    if (!folder_same_file(machine->files[i].path, output)) continue;
    cli_complain("`%s` is a file that the machine is read from: choose another place with `-o`.",
                 output);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

cli_exit machine_open(const machine_request *r, as_machine **machine) {
  as_messages *messages = calloc(1, sizeof *messages);
  if (messages == NULL) return cli_complain_memory();
  const as_plugin_policy policy = machine_policy(r);
  as_status status =
      as_machine_load_with(r->model, r->settings, r->n_settings, &policy, machine, messages);
  as_status outputs = status == AS_OK ? check_outputs(*machine, messages) : AS_OK;
  if (outputs == AS_ERR_MEMORY) messages->n = 0;
  if (messages->n > 0) machine_tell_messages(r, messages);
  const bool wrong = messages->n > 0;
  free(messages);
  if (status != AS_OK) return cli_judge(status);
  if (!wrong && outputs == AS_OK) return CLI_DONE;
  as_machine_destroy(*machine);
  *machine = NULL;
  return outputs == AS_OK ? CLI_USAGE : cli_complain_memory();
}
