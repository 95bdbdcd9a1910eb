/// Whether beams spin faster than their meshes are fine enough for.
#ifndef ALPHASTEP_RESULTS_BEAM_SPIN_H
#define ALPHASTEP_RESULTS_BEAM_SPIN_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/beam.h"

/// One sentence on a beam that does; false: it does not.
bool asi_beam_spin_text(const as_model *model, const as_state *state, int beam, char *text,
                        size_t size);

#endif
