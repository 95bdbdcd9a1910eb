/// Numerical constants by rows, see constants.c.
#ifndef ALPHASTEP_CORE_STEPPER_CONSTANTS_H
#define ALPHASTEP_CORE_STEPPER_CONSTANTS_H

#include <stddef.h>

#include "alphastep/expert.h"
#include "alphastep/status.h"

typedef struct asi_constant {
  const char *name;
  size_t offset; ///< in as_expert
  double value;
  const char *label; ///< in docs/theory.md
  const char *why, *measured;
} asi_constant;

const asi_constant *asi_constants(int *count);
/// Copies numbers, NULL: the defaults; refuses what is not finite or has the wrong sign.
as_status asi_constants_take(as_expert *to, const as_expert *from, as_error *error);

#endif
