/// A counting allocator: programs that are linked with -Wl,--wrap=malloc,... send every allocation of their own
/// and of the library through it. Shared libraries keep their own: what LAPACK and KLU take is not seen.
#ifndef TESTS_COUNTING_H
#define TESTS_COUNTING_H

typedef struct counting {
  long taken;   ///< allocations so far, failed ones too
  long live;    ///< blocks not yet freed
  long fail_at; ///< which of the coming ones fails: 1 is the next; 0: none
} counting;

extern counting memory;

#endif
