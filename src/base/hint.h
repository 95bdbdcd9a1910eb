/// `; did you mean "mass"?`: keeps the candidate that is nearest to a word.
#ifndef ALPHASTEP_BASE_HINT_H
#define ALPHASTEP_BASE_HINT_H

#include "base/export.h"

typedef struct asi_hint {
  const char *word;
  const char *best;
  int distance;
  char text[112];
} asi_hint;

ASI_IO void asi_hint_try(asi_hint *hint, const char *candidate);
/// The words to put at the end of a sentence, or "".
ASI_IO const char *asi_hint_text(asi_hint *hint);

#endif
