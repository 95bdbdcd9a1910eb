/// Numbers: in texts, and whether they are finite.
#ifndef ALPHASTEP_BASE_NUMBER_H
#define ALPHASTEP_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/// Reads a decimal number at the start of a text: digits, a point, more digits, an exponent; no sign.
/// Returns its length; 0: there is none. Needs the C locale. The number is infinite if it is too large.
ASI_IO size_t asi_scan_number(const char *text, double *number);

/// Whether all n numbers are finite. LAPACK ends the process where some are not.
bool asi_are_finite(const double *x, size_t n);

#endif
