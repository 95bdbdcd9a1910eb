/// Reports of runs.
#ifndef ALPHASTEP_CLI_REPORT_H
#define ALPHASTEP_CLI_REPORT_H

#include "cli.h"

/// Makes the report of a folder; `output` NULL: report.html there. Complains.
cli_exit report_make(const char *folder, const char *output, bool plain, bool no_sync);
/// Removes what a process that was ended by a signal has begun: a report of a folder, or with `output` elsewhere.
void report_clean(const char *folder, const char *output);
/// The same by the arguments of `alphastep report`.
void report_clean_arguments(int argc, char **argv);
/// Takes away the report of an earlier run.
void report_forget(const char *folder);

#endif
