#include "fmu/runtime/uri.h"

#include <stdlib.h>
#include <string.h>

static int digit(char c) {
  const char *const digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
  return at ? (int)((at - digits) % 16) : -1;
}

char *asi_exported_path_of_uri(const char *uri) {
  const char *from = uri;
  const int plain = strncmp(uri, "file:", 5) != 0;
  if (plain && strstr(uri, "://")) return NULL;
  if (!plain) {
    from += 5;
    if (strncmp(from, "//", 2) == 0) { // behind it a host, which may be left away
      from += 2;
      if (strncmp(from, "localhost/", 10) == 0) from += 9;
    }
    if (*from != '/') return NULL;
  }
  char *path = malloc(strlen(from) + 1), *to = path;
  for (; path && *from; ++to) {
    const int high = !plain && from[0] == '%' ? digit(from[1]) : -1;
    const int low = high >= 0 ? digit(from[2]) : -1;
    *to = low >= 0 ? (char)(16 * high + low) : *from;
    from += low >= 0 ? 3 : 1;
  }
  if (path) *to = '\0';
#ifdef _WIN32 // file:///C:/folder
  if (path && path[0] == '/' && path[1] && path[2] == ':') memmove(path, path + 1, strlen(path));
#endif
  return path;
}
