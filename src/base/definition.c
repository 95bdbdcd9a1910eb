#include "base/definition.h"

#include <math.h>

#include "base/error.h"

unsigned asi_definition_cookie(const char *type, size_t size) {
  unsigned hash = 2166136261u ^ (unsigned)size; // FNV-1a
  for (const char *c = type; *c; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
  return hash | 1u; // never zero
}

as_status asi_definition_check(unsigned cookie, const char *type, size_t size, as_error *error) {
  if (cookie == asi_definition_cookie(type, size)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                  "This %s was not made by as_default_%s() of this version of the library.", type,
                  type + sizeof "as_" - 1);
}
