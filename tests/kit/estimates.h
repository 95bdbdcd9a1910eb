/// How good the estimated errors of a run are: a run with estimates against a very fine one, channel by channel.
#ifndef ALPHASTEP_TESTS_ESTIMATES_H
#define ALPHASTEP_TESTS_ESTIMATES_H

#include "alphastep/file.h"
#include "alphastep/results.h"

enum { ESTIMATES_NAME = 96 };

typedef struct estimates {
  int channels;           ///< that have an error above what Newton's method leaves
  int good;               ///< whose estimate is within a factor 3 of it
  double lowest, highest; ///< estimated error / true error
  char lowest_name[ESTIMATES_NAME], highest_name[ESTIMATES_NAME];
  double relative; ///< the largest true error, of a channel's size
  as_accuracy accuracy;
} estimates;

/// Runs a machine with the default channels as `how` says, and again with steps 16 times smaller, or a tolerance 1000
/// times smaller. Largest errors over all rows that have an estimate are compared. Errors below 1e-7 of a channel's size do
/// not count if both say so.
as_status estimates_measure(const as_machine *machine, const as_integrator_def *how, double t_end,
                            estimates *out, as_error *error);

#endif
