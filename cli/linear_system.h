/// A, B, C and D with names: what `linearize` writes and `response` reads.
#ifndef ALPHASTEP_CLI_LINEAR_SYSTEM_H
#define ALPHASTEP_CLI_LINEAR_SYSTEM_H

#include "linear.h"

enum { LINEAR_NAME = 256 };

typedef struct linear_system {
  linear_place place;
  as_linearization *l;       ///< A and B
  as_descriptor *descriptor; ///< --descriptor; else NULL
  as_channels *channels;
  const double *e, *a, *b;   ///< of the linearization (e: NULL) or of the descriptor form
  int n, m, p;               ///< states or unknowns, inputs, outputs
  double *c, *d;             ///< p x n, p x m, by columns
  double *y0;                ///< p: the outputs at the state
  double *zero_re, *zero_im; ///< n_zeros: transmission zeros, both of each pair
  int n_zeros;
  const char **state, **input, **output; ///< names with units
  char (*text)[LINEAR_NAME];
  char about[640];
} linear_system;

/// Finds the system that is asked for. Complains. To be freed in any case.
cli_exit linear_system_find(const linear_request *r, linear_system *s);
void linear_system_free(linear_system *s);

#endif
