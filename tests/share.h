/// Long lists of cases are shared out between the three builds of `make test` (gcc, clang, sanitizers): each looks at every third case,
/// beginning with another one, so that all of them together look at all cases.
#ifndef TESTS_SHARE_H
#define TESTS_SHARE_H

enum { SHARES = 3 };
#if defined(__SANITIZE_ADDRESS__)
enum { SHARE = 2 };
#elif defined(__clang__)
enum { SHARE = 1 };
#else
enum { SHARE = 0 };
#endif

#endif
