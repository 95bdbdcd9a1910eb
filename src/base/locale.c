#define _POSIX_C_SOURCE 200809L // newlocale

#include "base/locale.h"

#include <locale.h>

bool asi_locale_set_plain(asi_locale *l) {
  l->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  l->before = l->plain ? uselocale(l->plain) : NULL;
  return l->plain != NULL;
}

void asi_locale_restore(asi_locale *l) {
  uselocale(l->before);
  freelocale(l->plain);
}
