#include "fmu/units.h"

#include <stdlib.h>
#include <string.h>

const char *const asi_base_unit_name[ASI_BASE_UNITS] = {"kg", "m", "s", "A", "K", "rad"};

static const struct {
  const char *name;
  int power[ASI_BASE_UNITS];
} known[] = {
    {"kg", {1}},         {"m", {0, 1}},          {"s", {0, 0, 1}},
    {"A", {0, 0, 0, 1}}, {"K", {0, 0, 0, 0, 1}}, {"rad", {0, 0, 0, 0, 0, 1}},
    {"N", {1, 1, -2}},   {"J", {1, 2, -2}},      {"W", {1, 2, -3}},
    {"Pa", {1, -1, -2}}, {"Hz", {0, 0, -1}},     {"V", {1, 2, -3, -1}},
    {"1", {0}},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

// One factor after another: a blank multiplies, behind a slash all are divided by.
bool asi_unit_exponents(const char *unit, int out[ASI_BASE_UNITS]) {
  int sign = 1;
  memset(out, 0, ASI_BASE_UNITS * sizeof out[0]);
  if (*unit == '\0') return false;
  while (*unit) {
    const size_t length = strcspn(unit, " /^");
    int which = -1, power = 1;
    for (int i = 0; i < N_KNOWN; ++i)
      if (strlen(known[i].name) == length && strncmp(known[i].name, unit, length) == 0) which = i;
    if (which < 0) return false;
    unit += length;
    if (*unit == '^') {
      char *end;
      power = (int)strtol(unit + 1, &end, 10);
      if (end == unit + 1 || abs(power) > 9) return false;
      unit = end;
    }
    for (int k = 0; k < ASI_BASE_UNITS; ++k) out[k] += sign * power * known[which].power[k];
    if (*unit == '/') {
      if (sign < 0) return false;
      sign = -1;
    } else if (*unit && *unit != ' ') {
      return false;
    }
    if (*unit && *++unit == '\0') return false;
  }
  return true;
}
