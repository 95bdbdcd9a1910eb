/// Rows of channels of states that are not a run's: as text, CSV and JSON.
#ifndef ALPHASTEP_CLI_ROWS_H
#define ALPHASTEP_CLI_ROWS_H

#include "linear.h"

/// Rows of channels.
typedef struct rows {
  const linear_request *request;
  const char *first; ///< what the first column is; NULL: there is none
  const char *first_unit;
  as_channels *channels;
  int n;
  int rows;
  double *value;                    ///< rows x (1 + n)
  const as_equilibrium *found;      ///< NULL: they are no equilibria
  const as_continuation_kind *kind; ///< of points of a branch; NULL: they are none
} rows;

double *rows_get(const rows *t, int row);
/// The channels asked for: on the command line, in the file, or the default set.
as_status rows_choose(const linear_request *r, const as_machine *machine, as_channels **out,
                      as_error *error);
/// Adds a row, for which there is room; `first` comes first.
as_status rows_read(rows *t, const as_model *model, const as_state *state, double first,
                    as_error *error);
/// To the file that was asked for, or standard output. Complains.
cli_exit rows_write(const linear_request *r, const rows *t);
/// A word for a kind of point, for stability.
const char *rows_kind_word(as_continuation_kind kind);
const char *rows_stability_word(as_stability stability);

#endif
