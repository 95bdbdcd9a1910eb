/// alphastep: generalized-alpha time integration of constrained mechanical systems.
/// This header includes all others of libalphastep; those of libalphastep-io are in alphastep/io.h.
#ifndef ALPHASTEP_ALPHASTEP_H
#define ALPHASTEP_ALPHASTEP_H

#include "alphastep/analysis.h"
#include "alphastep/beam.h"
#include "alphastep/check.h"
#include "alphastep/coefficients.h"
#include "alphastep/drag.h"
#include "alphastep/element.h"
#include "alphastep/flexible.h"
#include "alphastep/flexible_body.h"
#include "alphastep/folder.h"
#include "alphastep/id.h"
#include "alphastep/integrator.h"
#include "alphastep/linearization.h"
#include "alphastep/matrix.h"
#include "alphastep/model.h"
#include "alphastep/problem.h"
#include "alphastep/quantities.h"
#include "alphastep/reduction.h"
#include "alphastep/response.h"
#include "alphastep/space.h"
#include "alphastep/sparse.h"
#include "alphastep/status.h"
#include "alphastep/superelement.h"
#include "alphastep/tyre.h"
#include "alphastep/version.h"
#include "alphastep/words.h"

#endif
