#include "base/locale.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// `plain`: whether the thread had a locale of its own; `before`: the name of its locale.
bool asi_locale_set_plain(asi_locale *l) {
  const char *name = setlocale(LC_ALL, NULL);
  l->before = malloc(strlen(name) + 1);
  if (l->before == NULL) return false;
  strcpy(l->before, name);
  l->plain = (void *)(intptr_t)_configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
  setlocale(LC_ALL, "C");
  return true;
}

void asi_locale_restore(asi_locale *l) {
  setlocale(LC_ALL, l->before);
  _configthreadlocale((int)(intptr_t)l->plain);
  free(l->before);
}
