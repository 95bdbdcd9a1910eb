/// Whether flexible bodies stay in the range of one linear body.
#ifndef ALPHASTEP_RESULTS_FLEXIBLE_RANGE_H
#define ALPHASTEP_RESULTS_FLEXIBLE_RANGE_H

#include <stddef.h>

#include "alphastep/flexible_body.h"

/// One sentence on a body that has left it; false: it has not.
bool asi_flexible_range_text(const as_model *model, const as_state *state, as_flexible_id id,
                             char *text, size_t size);

#endif
