/// libalphastep-io: model files, runs with their results, reports, studies. This header includes all of its headers.
#ifndef ALPHASTEP_IO_H
#define ALPHASTEP_IO_H

#include "alphastep/file.h"
#include "alphastep/flexible_file.h"
#include "alphastep/fmu.h"
#include "alphastep/instance.h"
#include "alphastep/mesh_file.h"
#include "alphastep/plot.h"
#include "alphastep/report.h"
#include "alphastep/results.h"
#include "alphastep/results_file.h"
#include "alphastep/rule.h"
#include "alphastep/study.h"
#include "alphastep/survey.h"
#include "alphastep/tyre_file.h"

#endif
