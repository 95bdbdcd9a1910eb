/// Tyres from .tir files, the property files of PAC2002 and MF-Tyre 5.2.
///
///     as_tyre tyre;
///     if (as_tyre_read("car.tir", NULL, NULL, &tyre, &error)) puts(error.message);
///
/// Sentences about a file begin with `file:line: `.
#ifndef ALPHASTEP_TYRE_FILE_H
#define ALPHASTEP_TYRE_FILE_H

#include <stddef.h>

#include "alphastep/export.h"
#include "alphastep/status.h"
#include "alphastep/tyre.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Told of what is read but not computed with, one sentence each, place included.
typedef void as_tyre_warning_fn(const char *sentence, void *user);

/// Reads a file; `warn` may be NULL. AS_ERR_FILE: it cannot be read, or what is in it is no such tyre. Relaxation lengths (PTX1, PTY1, PTY2)
/// that it does not have are NAN: then it can only be used in steady state.
AS_API as_status as_tyre_read(const char *path, as_tyre_warning_fn *warn, void *user, as_tyre *out,
                              as_error *error);
/// The same from memory; `name` is for messages.
AS_API as_status as_tyre_parse(const char *text, size_t size, const char *name,
                               as_tyre_warning_fn *warn, void *user, as_tyre *out, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
