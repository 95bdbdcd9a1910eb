/// What adding the different blocks shares.
#ifndef ALPHASTEP_MODEL_ADD_BLOCK_H
#define ALPHASTEP_MODEL_ADD_BLOCK_H

#include "model/builder.h"

/// The number of a block, a new one if its name is new.
as_status asi_builder_block(as_builder *b, const char *name, int *out, as_error *error);
/// A signal of a block, new or declared only; `output` may be NULL or "": the block's own.
as_status asi_builder_new_signal(as_builder *b, const char *block, const char *output, int *out,
                                 as_error *error);
/// Takes back what a failure has left of signals: the first `n` were there, and those of a linear system that is not.
void asi_builder_take_back(as_builder *b, int n);

/// as_builder_add_plugin_block() of a block that has a memory (NULL: none), which must outlive the models that are built.
ASI_IO as_status asi_builder_add_plugin_block(as_builder *b, const as_plugin_block_def *def,
                                              const asi_plugin_memory *memory, as_error *error);

as_status asi_check_sampling(const char *block, double period, double offset, double delay,
                             as_error *error);
as_status asi_check_start(const char *block, double start, as_error *error);
as_status asi_signal_set_unit(asi_signal *s, const char *block, const char *unit, as_error *error);

#endif
