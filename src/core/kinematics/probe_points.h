/// Random points near a given one, for checking formulas and detecting patterns.
#ifndef ALPHASTEP_CORE_SAMPLE_H
#define ALPHASTEP_CORE_SAMPLE_H

#include <stdint.h>

#include "alphastep/check.h"
#include "core/kinematics/problem.h"

typedef struct asi_sampler {
  const as_problem *problem;
  const as_check_def *def;
  uint64_t state; ///< of the random numbers
  double *memory; ///< of the arrays that follow
  double *move;   ///< n: from near.q to q
  double *q, *v, *vdot, *lambda, *psi, *x, *y;
} asi_sampler;

/// Checks `def`, which must outlive the sampler, and takes memory.
as_status asi_sampler_init(asi_sampler *s, const as_problem *p, const as_check_def *def,
                           as_error *error);
void asi_sampler_free(asi_sampler *s);

/// The point number `index`, always the same. Its arrays hold until the next one is asked for.
as_point asi_sampler_point(asi_sampler *s, int index);

/// A random number of size 0.5 .. 1 and either sign.
double asi_draw(uint64_t *state);

#endif
