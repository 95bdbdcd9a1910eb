/// Numbers are written and read with a decimal point, whatever locale the program has.
#ifndef ALPHASTEP_BASE_LOCALE_H
#define ALPHASTEP_BASE_LOCALE_H

#include <stdbool.h>

#include "base/export.h"

/// What a thread had before.
typedef struct asi_locale {
  void *plain, *before;
} asi_locale;

/// Gives this thread the locale "C". False: memory has run out, and nothing has changed.
ASI_IO bool asi_locale_set_plain(asi_locale *locale);
/// Gives it back the one that it had.
ASI_IO void asi_locale_restore(asi_locale *locale);

#endif
