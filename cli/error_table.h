/// Estimated errors of a run: for the summary, and as the last lines that `alphastep run` prints.
#ifndef ALPHASTEP_CLI_ERROR_TABLE_H
#define ALPHASTEP_CLI_ERROR_TABLE_H

#include "job.h"

/// With the digits that an estimate has.
double error_table_rounded(double x);
/// The member `accuracy` of the summary.
void error_table_write(FILE *out, const job *j);
/// The largest error of each sort of channels, the worst first.
void error_table_print(const job *j);

#endif
