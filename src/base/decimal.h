/// Numbers as text: the shortest decimal that is read as the same number, and of these the nearest.
#ifndef ALPHASTEP_BASE_DECIMAL_H
#define ALPHASTEP_BASE_DECIMAL_H

#include <stddef.h>

#include "base/export.h"

enum { ASI_DECIMAL = 25 }; ///< the most characters of a number: -1.2345678901234567e-308 has 24

/// Writes x as %.17g would, with no more digits than it needs, with a point whatever the locale has, without an end. Says how many
/// characters there are. NAN has no sign, which depends on the processor.
ASI_IO size_t asi_decimal(char *to, double x);

#endif
