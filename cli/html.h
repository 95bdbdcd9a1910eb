/// Pieces of HTML beside those of base/json.h. What is written is well-formed XML too.
#ifndef ALPHASTEP_CLI_HTML_H
#define ALPHASTEP_CLI_HTML_H

#include <stdio.h>

/// Text with the markup of plot.h.
void html_text(FILE *out, const char *text);
/// A number in an element `data` whose value is the shortest decimal that reads back as x; a dash if there is
/// none. Shown are `digits` of it.
void html_number(FILE *out, double x, int digits);

#endif
