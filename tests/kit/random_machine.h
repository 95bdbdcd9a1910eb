/// Random machines, as model files: trees and loops of all kinds of joints, with springs, dampers, bushings, stops,
/// contacts, friction, loads and prescribed motions, in any pose. The same seed gives the same text.
#ifndef TESTS_RANDOM_MACHINE_H
#define TESTS_RANDOM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/// What is to be expected of it.
typedef enum random_sort {
  RANDOM_FREE, ///< joints fit, motions begin where the joints are and have something to move: it runs
  RANDOM_DRIVEN,  ///< likewise, but motions may be more than the joints leave free
  RANDOM_AGAINST, ///< something contradicts something
} random_sort;

typedef struct random_machine {
  random_sort sort;
  bool rough;   ///< forces change within less than a step: dry friction, contacts, stops
  double t_end; ///< [s]
  char *text;   ///< YAML
} random_machine;

random_machine random_machine_make(uint64_t seed);
void random_machine_free(random_machine *machine);

#endif
