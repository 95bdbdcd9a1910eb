/// What is measured: problems of several sizes, each with a step size, a duration and its exact end.
#ifndef BENCH_SUBJECTS_H
#define BENCH_SUBJECTS_H

#include <alphastep/alphastep.h>

#include "chain.h"

typedef struct subject {
  char name[32];
  as_problem_def def;
  double t0;  ///< [s]
  double h;   ///< [s]
  int steps;  ///< of one measurement
  double *q0; ///< consistent start; v0 may be NULL: at rest
  double *v0;
  /// How far the state is from the exact one after all steps; NULL: not known.
  double (*error)(const struct subject *s, const as_state *state);
  const void *data;           ///< for error()
  chain links;                ///< if it is a chain
  struct test_problem *loops; ///< if it is made of four-bar linkages
  as_space_part part;         ///< if it is a bar
  int *pattern;               ///< likewise
} subject;

/// The subject of that name: `chain-N` (N links), `fourbar-N` (N four-bar linkages in a row, with a singular
/// position on the way), `top` or `andrews`; false if there is none. It must stay where it is until it is
/// closed.
bool subject_open(subject *s, const char *name);
void subject_close(subject *s);

/// A bar, n masses and springs in a row, damped so that all motion dies out like exp(-t); h = 0.1 s.
/// `spread`: every mass is displaced at the start, else the first one only.
bool subject_open_bar(subject *s, int n, bool spread);

#endif
