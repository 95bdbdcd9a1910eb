/// Numbers in texts.
#ifndef ALPHASTEP_BASE_NUMBER_H
#define ALPHASTEP_BASE_NUMBER_H

#include <stddef.h>

#include "base/export.h"

/// Reads a decimal number at the start of a text: digits, a point, more digits, an exponent; no sign.
/// Returns its length; 0: there is none. Needs the C locale. The number is infinite if it is too large.
ASI_IO size_t asi_scan_number(const char *text, double *number);

#endif
