/// The picture of an FMU.
#ifndef ALPHASTEP_FMU_ICON_H
#define ALPHASTEP_FMU_ICON_H

#include <stdbool.h>
#include <stddef.h>

/// A PNG file; to be freed. NULL: no memory.
unsigned char *asi_exported_icon(size_t *size);

#endif
