/// Reports of runs.
#ifndef ALPHASTEP_CLI_REPORT_H
#define ALPHASTEP_CLI_REPORT_H

#include "cli.h"

/// Makes the report of a folder; `output` NULL: report.html there. Complains.
cli_exit report_make(const char *folder, const char *output, bool plain, bool no_sync);
/// Takes away the report of an earlier run.
void report_forget(const char *folder);

#endif
