/// Marks what libalphastep exports for libalphastep-io of the same version, and for nobody else: the version script gives these
/// symbols a node of their own.
#ifndef ALPHASTEP_BASE_EXPORT_H
#define ALPHASTEP_BASE_EXPORT_H

#include "alphastep/export.h"

#define ASI_IO AS_API

#endif
