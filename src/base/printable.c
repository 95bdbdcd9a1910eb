/// See printable.h.
#include "base/printable.h"

#include <stdint.h>
#include <string.h>

/// Decodes the character at `text`; returns its length, 0 if it is not UTF-8.
static size_t decode(const unsigned char *text, uint32_t *character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; // that need so many bytes
  const unsigned char lead = text[0];
  const size_t length = lead < 0x80             ? 1
                        : (lead & 0xe0) == 0xc0 ? 2
                        : (lead & 0xf0) == 0xe0 ? 3
                        : (lead & 0xf8) == 0xf0 ? 4
                                                : 0;
  *character = length <= 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0; // the final zero too
    *character = *character << 6 | (text[i] & 0x3fu);
  }
  return length > 0 && *character >= least[length] && *character <= 0x10ffff ? length : 0;
}

bool asi_printable(const char *text, size_t *length) {
  static const uint32_t bad[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x200e, 0x200f},
                                    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xd800, 0xdfff}};
  uint32_t character = 0;
  const size_t found = decode((const unsigned char *)text, &character);
  *length = found > 0 ? found : 1;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    if (character >= bad[i][0] && character <= bad[i][1]) return false;
  return found > 0;
}

void asi_make_printable(char *text) {
  char *to = text;
  size_t length = 0;
  for (const char *from = text; *from; from += length) {
    const bool good = asi_printable(from, &length);
    if (good) memmove(to, from, length);
    if (!good) *to = '?';
    to += good ? length : 1;
  }
  *to = '\0';
}
