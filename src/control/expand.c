/// Templates of blocks, see expand.h.
#include "control/expand.h"

#include <stdio.h>
#include <string.h>

/// A text that is being written.
typedef struct writer {
  char *out;
  size_t size, length;
} writer;

static void put(writer *w, const char *text, size_t n) {
  for (size_t i = 0; i < n; ++i, ++w->length)
    if (w->length + 1 < w->size) w->out[w->length] = text[i];
}

static void put_all(writer *w, const char *text) { put(w, text, strlen(text)); }

/// blocks.NAME.OUTPUT in quotes: a name may be anything, with quotes of one kind.
static void put_signal(writer *w, const char *block, const char *output) {
  const char *quote = strchr(block, '\'') ? "\"" : "'";
  put_all(w, quote);
  put_all(w, "blocks.");
  put_all(w, block);
  put_all(w, output);
  put_all(w, quote);
}

int asi_expand(const char *text, const char *block, asi_lookup_fn *look_up, void *user, char *out,
               size_t size, char *missing) {
  writer w = {out, size, 0};
  const char *const begin = text;
  while (*text) {
    const bool number = text > begin && text[-1] == '$'; // ${n} is not ours
    const char *end = *text == '{' && !number ? strchr(text, '}') : NULL;
    if (end == NULL) {
      put(&w, text++, 1);
      continue;
    }
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)(end - text - 1), text + 1);
    text = end + 1;
    if (key[0] == '\0' || key[0] == '.') {
      put_signal(&w, block, key);
      continue;
    }
    const bool plain = key[0] == '!';
    const char *value = look_up(key + plain, user);
    if (value == NULL) {
      if (missing) memcpy(missing, key, sizeof key);
      return -1;
    }
    if (!plain) put_all(&w, "(");
    put_all(&w, value);
    if (!plain) put_all(&w, ")");
  }
  if (size > 0) out[w.length < size ? w.length : size - 1] = '\0';
  return (int)w.length;
}
