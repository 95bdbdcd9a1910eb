// `alphastep report`: makes the report of a run again, from its folder alone.
#define _POSIX_C_SOURCE 200809L // unlink, access

#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/report.h"
#include "folder.h"
#include "resume.h"

typedef struct report_request {
  const char *folder;
  const char *output; ///< NULL: report.html in the folder
  bool plain, quiet, help;
} report_request;

cli_exit report_make(const char *folder, const char *output, bool plain, bool no_sync) {
  char *results = folder_path(folder, "results.h5"), *summary = folder_path(folder, "summary.json");
  char *page = folder_path(folder, "report.html");
  cli_exit result = CLI_DONE;
  if (results == NULL || summary == NULL || page == NULL) {
    result = cli_complain_memory();
  } else {
    as_report_def def = as_default_report_def();
    def.results = results;
    def.summary = summary;
    def.output = output != NULL ? output : page;
    def.plain = plain;
    def.no_sync = no_sync;
    as_error error;
    as_status status = as_report_write(&def, &error);
    if (status != AS_OK) {
      cli_complain("%s", error.message);
      result = cli_judge(status);
    }
  }
  free(results);
  free(summary);
  free(page);
  return result;
}

void report_forget(const char *folder) {
  char *page = folder_path(folder, "report.html");
  if (page != NULL) (void)unlink(page);
  free(page);
}

void report_clean(const char *folder, const char *output) {
  char *page = output ? NULL : folder_path(folder, "report.html");
  if (output || page) folder_drop_draft(output ? output : page);
  free(page);
}

static void print_help(void) {
  fputs("Usage: alphastep report DIR [--plain] [-o FILE] [--quiet]\n"
        "\n"
        "Makes the report of a run again, from the folder that `alphastep run` has written: its\n"
        "results.h5 and summary.json. The model file is not needed. The report is one HTML file "
        "that\n"
        "opens in any browser, without a network.\n"
        "\n"
        "--plain   tables, plots and drawings without a script, instead of the page that moves\n",
        stdout);
  if (!as_report_is_interactive()) {
    fputs("          (this alphastep was built without Node: its reports are always plain)\n",
          stdout);
  }
  fputs(
      "-o FILE   where to; default: report.html in the folder\n"
      "--quiet   say nothing but errors\n"
      "--help    this text\n"
      "\n"
      "Exit status: 0 done; 2 bad usage; 3 out of memory; 4 a file could not be read or written.\n",
      stdout);
}

/// Takes an option; false: complained.
static bool take_option(int argc, char **argv, int *i, report_request *r) {
  const char *word = argv[*i], *value = NULL;
  if (cli_option(argc, argv, i, "-o", &value) || cli_option(argc, argv, i, "--output", &value)) {
    r->output = value;
    return value != NULL;
  }
  if (strcmp(word, "--plain") == 0) {
    r->plain = true;
  } else if (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0) {
    r->quiet = true;
  } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    r->help = true;
  } else {
    cli_complain("Unknown option `%s`; see `alphastep help report`.", word);
    return false;
  }
  return true;
}

static cli_exit read_arguments(int argc, char **argv, report_request *r) {
  bool options = true; // until `--`
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (options && strcmp(word, "--") == 0) {
      options = false;
    } else if (options && word[0] == '-') {
      if (!take_option(argc, argv, &i, r)) return CLI_USAGE;
    } else if (r->folder != NULL) {
      cli_complain("One folder at a time: `%s` follows `%s`.", word, r->folder);
      return CLI_USAGE;
    } else {
      r->folder = word;
    }
  }
  if (r->folder != NULL || r->help) return CLI_DONE;
  cli_complain("Which folder? See `alphastep help report`.");
  return CLI_USAGE;
}

cli_exit report_command(int argc, char **argv) {
  report_request r = {.folder = NULL};
  cli_exit status = read_arguments(argc, argv, &r);
  if (status != CLI_DONE) return status;
  if (r.help) {
    print_help();
    return CLI_DONE;
  }
  if (r.output != NULL) status = folder_spare(r.folder, r.output, "report.html");
  if (status == CLI_DONE && r.output != NULL) status = resume_spare(r.folder, r.output);
  as_folder_lock *lock = NULL; // a page elsewhere disturbs nobody
  if (status == CLI_DONE && r.output == NULL && access(r.folder, F_OK) == 0) {
    status = folder_lock(r.folder, &lock);
  }
  if (status == CLI_DONE) status = report_make(r.folder, r.output, r.plain, false);
  as_folder_lock_give(lock);
  if (status != CLI_DONE || r.quiet) return status;
  if (r.output != NULL) {
    printf("The report is %s.\n", r.output);
  } else {
    printf("The report is %s/report.html.\n", r.folder);
  }
  return CLI_DONE;
}

void report_clean_arguments(int argc, char **argv) {
  report_request r = {.folder = NULL};
  if (read_arguments(argc, argv, &r) == CLI_DONE && r.folder) report_clean(r.folder, r.output);
}
