// The `alphastep` command: finds the subcommand and hands over.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/version.h"
#include "alphastep/words.h"
#include "cli.h"
#include "guard.h"

typedef struct subcommand {
  const char *name;
  const char *summary;
  cli_exit (*run)(int argc, char **argv);
} subcommand;

static const subcommand subcommands[] = {
    {"run", "simulate a machine from a model file and write its results", run_command},
    {"study", "run a machine many times, with other values, and make a table of results",
     study_command},
    {"check", "look at a machine without running it", check_command},
    {"export", "write chosen results of a run as CSV or MAT", export_command},
    {"fmu", "make an FMU of a machine, for other simulation programs", fmu_command},
    {"report", "make the report of a run again", report_command},
    {"equilibrium", "find where a machine comes to rest, and whether it stays there",
     equilibrium_command},
    {"inverse", "positions, forces and reactions of a machine whose motion is prescribed",
     inverse_command},
    {"modes", "tell the modes of small motions: frequencies, damping, stability", modes_command},
    {"linearize", "write A, B, C and D about a state", linearize_command},
    {"response", "how outputs follow inputs: Bode, Nyquist, step, impulse", response_command},
    {"reduce", "make a flexible body of a finite-element model", reduce_command},
    {"papers", "repeat the papers' experiments and compare with their numbers", papers_command},
    {"schema", "print the JSON Schema of model files", schema_command},
};
enum { N_SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static char complaint[1024]; // the last one
static bool no_memory;       // something has failed for want of it
static bool incomplete;      // something was written without a part of it, for want of memory

void cli_complain(const char *format, ...) {
  fputs("alphastep: ", stderr);
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  vfprintf(stderr, format, arguments);
  vsnprintf(complaint, sizeof complaint, format, again);
  va_end(again);
  va_end(arguments);
  fputc('\n', stderr);
}

const char *cli_last_complaint(void) { return complaint; }

cli_exit cli_complain_memory(void) {
  cli_complain("Out of memory.");
  return cli_judge(AS_ERR_MEMORY);
}

bool cli_lacks_memory(void) { return no_memory; }

void cli_note_incomplete(void) { incomplete = true; }
bool cli_is_incomplete(void) { return incomplete; }

cli_exit cli_judge(as_status status) {
  no_memory = no_memory || status == AS_ERR_MEMORY;
  switch (status) {
  case AS_OK: return CLI_DONE;
  case AS_ERR_ARGUMENT: return CLI_USAGE;
  case AS_ERR_FILE: return CLI_OUTPUT;
  default: return CLI_SIMULATION;
  }
}

bool cli_option(int argc, char **argv, int *i, const char *name, const char **value) {
  const char *word = argv[*i];
  size_t n = strlen(name);
  if (strncmp(word, name, n) != 0 || (word[n] != '\0' && word[n] != '=')) return false;
  *value = NULL;
  if (word[n] == '=') {
    *value = word + n + 1;
  } else if (*i + 1 < argc && argv[*i + 1][0] != '-') {
    *value = argv[++*i];
  } else {
    cli_complain("`%s` needs a value.", name);
  }
  return true;
}

static void print_help(void) {
  fputs("Usage: alphastep COMMAND [ARGUMENT...]\n"
        "       alphastep help [COMMAND]\n"
        "       alphastep --help | --version\n"
        "\n"
        "Generalized-alpha time integration of constrained mechanical systems.\n"
        "\n"
        "Commands (`alphastep help COMMAND` explains each):\n",
        stdout);
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    printf("  %-11s  %s\n", subcommands[i].name, subcommands[i].summary);
  }
  fputs(
      "\n"
      "Exit status: 0 done; 1 a check fell short; 2 bad usage or input; 3 a simulation could not\n"
      "go on; 4 a file could not be read or written; 130 interrupted by Ctrl-C.\n",
      stdout);
}

static cli_exit refuse(const char *word) {
  if (word[0] == '-') {
    cli_complain("Unknown option `%s`; see `alphastep --help`.", word);
    return CLI_USAGE;
  }
  int nearest = 0;
  for (int i = 1; i < N_SUBCOMMANDS; i++) {
    if (as_word_distance(word, subcommands[i].name) <
        as_word_distance(word, subcommands[nearest].name)) {
      nearest = i;
    }
  }
  const char *name = subcommands[nearest].name;
  if (as_word_is_close(word, as_word_distance(word, name))) {
    cli_complain("Unknown command `%s`; did you mean `%s`?", word, name);
  } else {
    cli_complain("Unknown command `%s`; see `alphastep --help`.", word);
  }
  return CLI_USAGE;
}

static const subcommand *find_subcommand(const char *word) {
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    if (strcmp(word, subcommands[i].name) == 0) return &subcommands[i];
  }
  return NULL;
}

/// `alphastep help [COMMAND]`; argv holds what follows `help`.
static cli_exit help_command(int argc, char **argv) {
  if (argc == 0) {
    print_help();
    return CLI_DONE;
  }
  if (argc > 1) {
    cli_complain("One command at a time: `%s` follows `%s`.", argv[1], argv[0]);
    return CLI_USAGE;
  }
  const subcommand *command = find_subcommand(argv[0]);
  if (command == NULL) return refuse(argv[0]);
  char option[] = "--help";
  return command->run(1, (char *[]){option});
}

static cli_exit dispatch(int argc, char **argv) {
  if (argc < 2) {
    cli_complain("Which command? See `alphastep --help`.");
    return CLI_USAGE;
  }
  const char *word = argv[1];
  const subcommand *command = find_subcommand(word);
  if (command != NULL) return command->run(argc - 2, argv + 2);
  if (strcmp(word, "help") == 0) return help_command(argc - 2, argv + 2);
  int help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
  int version = strcmp(word, "--version") == 0;
  if (!help && !version) return refuse(word);
  if (argc > 2) {
    cli_complain("`%s` stands alone, but `%s` follows.", word, argv[2]);
    return CLI_USAGE;
  }
  if (help) print_help();
  if (version) printf("alphastep %s\n", as_version());
  return CLI_DONE;
}

static int work(int argc, char **argv) {
  cli_exit status = dispatch(argc, argv);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    cli_complain("The output could not be written.");
    return CLI_OUTPUT;
  }
  if (status == CLI_DONE && incomplete) status = cli_complain_memory();
  return (int)status;
}

int main(int argc, char **argv) {
  return guard_is_needed(argc, argv) ? guard_run(work, argc, argv) : work(argc, argv);
}
