/// Blocks of plugins in a model, see plugin_blocks.c. They stand among the linear systems; `number` is which one.
#ifndef ALPHASTEP_MODEL_PLUGIN_BLOCKS_H
#define ALPHASTEP_MODEL_PLUGIN_BLOCKS_H

#include "alphastep/event.h"
#include "model/model.h"

/// An event of a block.
typedef struct asi_plugin_event_place {
  const as_model *model;
  int linear, event;
  char name[112];
} asi_plugin_event_place;

/// Adds rates, outputs and derivatives.
int asi_plugin_block_evaluate(const as_model *m, const as_point *at, int number,
                              const as_evaluation *out);
/// One output with inputs that are given, not those of the point.
int asi_plugin_block_output(const asi_linear_block *l, const as_point *at, const double *input,
                            int output, double *out);
/// Its sampled numbers after a sample, likewise.
int asi_plugin_block_sample(const as_model *m, const as_point *at, int number, const double *input,
                            double *out);
/// Why it could not be evaluated.
void asi_plugin_block_explain(const as_model *m, const as_point *at, int number, char *why,
                              size_t size);
/// Lists the events.
as_status asi_plugin_events_list(as_model *m, as_error *error);
/// Counts, writes or reads what blocks remember besides x and u; `u` is NULL when reading.
ASI_IO as_status asi_plugin_memory_serialize(const as_model *m, const double *u, asi_archive *a,
                                             as_error *error);
/// Whether the derivatives that it gives are those of its values; a sentence if not.
ASI_IO bool asi_plugin_block_check(const as_model *m, const as_point *at, int number, char *text,
                                   size_t size);
/// Likewise of a force, if it is a plugin's.
ASI_IO bool asi_plugin_force_check(const as_model *m, const as_state *state, int force, char *text,
                                   size_t size);

#endif
