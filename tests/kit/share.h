/// Long lists of cases, shared out between the builds of `make test`: gcc looks at one half, clang at the other, and the sanitizers, under
/// which everything takes five times as long, at every 13th case once more. `make test-all`, which sets ALPHASTEP_ALL_CASES in the
/// environment, looks at all of them in each build.
#ifndef TESTS_SHARE_H
#define TESTS_SHARE_H

#include <stdbool.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHARE_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SHARE_SANITIZED)
enum { SHARE = 5, SHARES = 13 };
#elif defined(__clang__)
enum { SHARE = 1, SHARES = 2 };
#else
enum { SHARE = 0, SHARES = 2 };
#endif

static inline bool share_is_all(void) { return getenv("ALPHASTEP_ALL_CASES") != NULL; }

/// Whether this build looks at case i = 0, 1, ...
static inline bool share_has(long i) { return share_is_all() || i % SHARES == SHARE; }

/// Whether this build looks at a sample only of what gcc looks at as a whole.
static inline bool share_is_sample(void) { return !share_is_all() && (SHARES > 2 || SHARE > 0); }

#endif
