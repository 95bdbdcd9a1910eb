/// How accurate the machines of examples/machines are with automatic steps: each is run twice, with a tolerance and with a
/// smaller one, and its positions and reactions are compared at every output time of its file.
#ifndef TESTS_PROBLEMS_EXAMPLES_H
#define TESTS_PROBLEMS_EXAMPLES_H

#include "alphastep/alphastep.h"

/// The largest difference of a kind, over rows and vectors of a machine.
typedef struct example_worst {
  double off;    ///< relative to the largest size of the vector on the way
  double time;   ///< of that row [s]
  char name[80]; ///< of that vector: `joints.crank.force`
} example_worst;

typedef struct example_accuracy {
  as_status status; ///< AS_OK, or why there is nothing to compare
  char message[1600];
  example_worst position; ///< of bodies, and their rotations, relative to half a turn
  example_worst reaction; ///< forces and torques of joints
  long rows;              ///< compared
  long steps;             ///< with the larger tolerance
  long newton_iterations;
} example_accuracy;

/// Times around which reactions are not compared: positions at which joints depend on each other.
typedef struct example_windows {
  const double *times; ///< [s]
  int count;
  double half; ///< to both sides [s]
} example_windows;

/// Runs a model file from its start to its end, with the default integrator but for the method and the tolerances
/// `rtol` and `fine`. A vector is measured by its largest length in the fine run; by a hundredth of the largest position of
/// the machine, a thousandth of its largest force, or of its largest torque or that force at that position, if that is more.
/// Reactions are compared outside of `windows`; NULL: there are none.
example_accuracy example_compare(const char *path, as_method method, double rtol, double fine,
                                 const example_windows *windows);

#endif
