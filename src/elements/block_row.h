/// A formula of a block as an element: it touches bodies, but acts on none.
#ifndef ALPHASTEP_ELEMENTS_BLOCK_ROW_H
#define ALPHASTEP_ELEMENTS_BLOCK_ROW_H

#include "elements/curve.h"
#include "elements/gauge.h"

/// The element's data.
typedef struct asi_block_row {
  asi_curve_ref formula;
  int signal;   ///< the number of the signal that it is of; -1: the input of a sampled system
  int n_gauges; ///< behind this struct
} asi_block_row;

/// What it depends on.
static inline const asi_gauge *asi_block_row_gauges(const asi_block_row *row) {
  return (const asi_gauge *)(const void *)(row + 1);
}

extern const as_element_type asi_block_row_type;

#endif
