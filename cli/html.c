// Pieces of HTML, see html.h.
#include "html.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

void html_text(FILE *out, const char *text) {
  bool italic = false;
  const char *close = NULL; // of an index or exponent
  for (; *text != '\0'; text++) {
    if (*text == '*') {
      italic = !italic;
      fputs(italic ? "<i>" : "</i>", out);
    } else if ((*text == '_' || *text == '^') && text[1] == '{') {
      fputs(*text == '_' ? "<sub>" : "<sup>", out);
      close = *text == '_' ? "</sub>" : "</sup>";
      text++;
    } else if (*text == '}' && close != NULL) {
      fputs(close, out);
      close = NULL;
    } else {
      const size_t n = asi_utf8_size(text);
      char character[5] = "";
      memcpy(character, text, n > 0 ? n : 1);
      asi_html_text(out, character);
      text += n > 0 ? n - 1 : 0;
    }
  }
}

void html_number(FILE *out, double x, int digits) {
  if (!isfinite(x)) {
    fputs("\u2013", out);
    return;
  }
  char text[48];
  snprintf(text, sizeof text, "%.*g", digits, fabs(x));
  char *exponent = strchr(text, 'e');
  fputs("<data value=\"", out);
  asi_json_number(out, x);
  fputs("\">", out);
  if (x < 0.0) fputs("\u2212", out);
  if (exponent == NULL) {
    fputs(text, out);
  } else {
    *exponent = '\0';
    long power = strtol(exponent + 1, NULL, 10);
    if (strcmp(text, "1") != 0) fprintf(out, "%s\u00b7", text);
    fprintf(out, "10<sup>%s%ld</sup>", power < 0 ? "\u2212" : "", labs(power));
  }
  fputs("</data>", out);
}
