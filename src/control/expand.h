/// Templates of blocks: texts with places where others are put in.
///
///     {input}       what was given for a key, in parentheses
///     {!table}      the same as it is, for names
///     {}            the block's own signal
///     {.integral}   another signal of the block
///     ${n}          stays as it is
#ifndef ALPHASTEP_CONTROL_EXPAND_H
#define ALPHASTEP_CONTROL_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/// What stands for a key; NULL: nothing does.
typedef const char *asi_lookup_fn(const char *key, void *user);

/// Writes the text of a template for a block, with the zero behind it, as far as it fits in `size`; its length without that,
/// or -1 if a key stands for nothing: then `missing` is that key, if there is room for 64 characters.
ASI_IO int asi_expand(const char *text, const char *block, asi_lookup_fn *look_up, void *user,
                      char *out, size_t size, char *missing);

#endif
