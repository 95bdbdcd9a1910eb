// `alphastep schema`: the JSON Schema of model files, or their keys as a page of Markdown.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/file.h"
#include "cli.h"

static const char help[] =
    "Usage: alphastep schema [--keys]\n"
    "\n"
    "Prints the JSON Schema (draft-07) of model files, for editors that complete and check them.\n"
    "\n"
    "  --keys    print all keys as tables of Markdown instead\n";

static cli_exit print_text(size_t (*make)(char *text, size_t room)) {
  const size_t length = make(NULL, 0);
  char *text = malloc(length + 1);
  if (text == NULL) {
    cli_complain("Out of memory.");
    return CLI_OUTPUT;
  }
  make(text, length + 1);
  fputs(text, stdout);
  free(text);
  return CLI_DONE;
}

cli_exit schema_command(int argc, char **argv) {
  int keys = 0;
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(help, stdout);
      return CLI_DONE;
    }
    if (strcmp(argv[i], "--keys") != 0) {
      cli_complain("`%s` is no option of `alphastep schema`; see `alphastep schema --help`.",
                   argv[i]);
      return CLI_USAGE;
    }
    keys = 1;
  }
  return print_text(keys ? as_file_reference : as_file_schema);
}
