/// Units of channels in the base units of the SI, as FMI describes them.
#ifndef ALPHASTEP_FMU_UNITS_H
#define ALPHASTEP_FMU_UNITS_H

#include <stdbool.h>

enum { ASI_BASE_UNITS = 6 }; ///< those that can appear here

extern const char *const asi_base_unit_name[ASI_BASE_UNITS];

/// Exponents of kg, m, s, A, K, rad in `kg m^2/s`, `N m`, `1/s` ...; false: there is something else in it.
bool asi_unit_exponents(const char *unit, int out[ASI_BASE_UNITS]);

#endif
