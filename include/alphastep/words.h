/// Which known word is nearest to a mistyped one: for "did you mean".
#ifndef ALPHASTEP_WORDS_H
#define ALPHASTEP_WORDS_H

#include <stdbool.h>

#include "alphastep/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How many characters must be inserted, deleted, replaced or swapped with their neighbour to turn `a` into
/// `b`; capitals and small letters of ASCII count as the same.
AS_API int as_word_distance(const char *a, const char *b);

/// Is a word at this distance close enough to `typed` to ask "did you mean"?
AS_API bool as_word_is_close(const char *typed, int distance);

#ifdef __cplusplus
}
#endif

#endif
