/// "Did you mean": see hint.h.
#include "base/hint.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/words.h"

void asi_hint_try(asi_hint *hint, const char *candidate) {
  const int distance = as_word_distance(hint->word, candidate);
  if (hint->best && distance >= hint->distance) return;
  hint->best = candidate;
  hint->distance = distance;
}

const char *asi_hint_text(asi_hint *hint) {
  const bool close = hint->best && as_word_is_close(hint->word, hint->distance) &&
                     hint->distance < (int)strlen(hint->word);
  if (!close) return "";
  snprintf(hint->text, sizeof hint->text, "; did you mean \"%.80s\"?", hint->best);
  return hint->text;
}
