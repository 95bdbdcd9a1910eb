// The page of `alphastep modes -o`, see modes_page.h.
#include "modes_page.h"

void modes_page_write(FILE *out, const void *user) {
  (void)user;
  fputs("<!doctype html>\n", out);
}
