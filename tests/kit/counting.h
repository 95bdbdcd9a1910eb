/// A counting allocator: programs that are linked with -Wl,--wrap=malloc,... send every allocation of their own
/// and of the library through it. Shared libraries keep their own: what LAPACK and KLU take is not seen.
#ifndef TESTS_COUNTING_H
#define TESTS_COUNTING_H

#include <stdbool.h>

typedef struct counting {
  _Atomic long taken; ///< allocations so far, failed ones too
  _Atomic long live;  ///< blocks not yet freed
  long fail_at;       ///< which of the coming ones fails: 1 is the next; 0: none
  bool fail_on;       ///< and all after it
  long failed;        ///< how many have
} counting;

extern counting memory;

#endif
