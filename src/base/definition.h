/// Descriptions (as_..._def) that are known to come from their as_default_..._def().
///
/// The cookie is made of the name and the size of the type: a description that was set to zero, made by hand, of another type or
/// of another size has not got it.
#ifndef ALPHASTEP_BASE_DEFINITION_H
#define ALPHASTEP_BASE_DEFINITION_H

#include <stddef.h>

#include "alphastep/status.h"
#include "base/export.h"

ASI_IO unsigned asi_definition_cookie(const char *type, size_t size);

/// AS_ERR_ARGUMENT and a sentence if the cookie is not that of the type.
ASI_IO as_status asi_definition_check(unsigned cookie, const char *type, size_t size,
                                      as_error *error);

#define ASI_COOKIE(type) asi_definition_cookie(#type, sizeof(type))
/// Checks a `const type *`, which may be NULL.
#define ASI_CHECK_DEFINITION(type, def, error)                                                     \
  asi_definition_check((def) ? (def)->cookie : 0, #type, sizeof(type), error)

#endif
