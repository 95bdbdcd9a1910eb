/// The library's version.
#ifndef ALPHASTEP_VERSION_H
#define ALPHASTEP_VERSION_H

#include "alphastep/export.h"

#define AS_VERSION_MAJOR 0
#define AS_VERSION_MINOR 1
#define AS_VERSION_PATCH 0
#define AS_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the library that runs, which may differ from the header's AS_VERSION.
AS_API const char *as_version(void);

#ifdef __cplusplus
}
#endif

#endif
