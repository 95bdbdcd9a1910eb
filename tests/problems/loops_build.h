/// What the files behind loops.h share: memory that lives as long as a problem, and patterns.
#ifndef TESTS_PROBLEMS_LOOPS_BUILD_H
#define TESTS_PROBLEMS_LOOPS_BUILD_H

#include <stddef.h>

#include "problems/loops.h"

/// An empty problem with the default description.
test_problem *loops_new(const char *name);

/// Zeroed memory that loops_free() gives back.
void *loops_take(test_problem *p, size_t count, size_t size);

/// Places of a matrix, in any order and with repetitions.
typedef struct place_list {
  struct place *places;
  size_t count, capacity;
} place_list;

/// Adds the rows x cols places with their corner at (row, col).
void places_add(place_list *list, int row, int col, int rows, int cols);

/// Makes the list the pattern of a block that the jacobian or mass callback fills; empties the
/// list.
void places_give(place_list *list, test_problem *p, as_block block, int cols);

#endif
