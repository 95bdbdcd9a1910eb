/// Prints the JSON Schema of model files, for generate_parts.py while the package is built.
#include <stdio.h>
#include <stdlib.h>

#include "alphastep/file.h"

int main(void) {
  const size_t length = as_file_schema(NULL, 0);
  char *text = malloc(length + 1);
  if (text == NULL) return 1;
  as_file_schema(text, length + 1);
  const int written = fputs(text, stdout);
  free(text);
  return written < 0 || fflush(stdout) != 0;
}
