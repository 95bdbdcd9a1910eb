/// Says what the reader thinks of files: reads paths from stdin, prints for each the number of messages and then
/// these, a line each.
#include <stdio.h>
#include <string.h>

#include "alphastep/file.h"

int main(void) {
  static as_messages messages;
  static char path[4096];
  while (fgets(path, sizeof path, stdin)) {
    as_machine *machine = NULL;
    path[strcspn(path, "\n")] = '\0';
    (void)as_machine_load(path, NULL, 0, &machine, &messages);
    as_machine_destroy(machine);
    printf("%d\n", messages.n);
    for (int i = 0; i < messages.n; ++i) puts(messages.message[i].text);
    fflush(stdout);
  }
  return 0;
}
