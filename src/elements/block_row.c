/// Formulas of blocks as elements, see block_row.h. What they are is found in model/blocks.c.
#include "elements/block_row.h"

#include "alphastep/problem.h"

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  (void)in;
  (void)out;
  (void)data;
  return AS_DONE;
}

const as_element_type asi_block_row_type = {"block", evaluate, NULL, NULL};
