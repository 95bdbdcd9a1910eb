/// Which number of a row goes where in results.h5.
///
/// A line is what is known at one time: the time, the n numbers of the channels, the poses of the bodies. A dataset takes
/// some numbers of each line, objects times columns of them; what was not chosen is NAN. With estimated errors, those of
/// the channels and of the poses follow in the same order, and each dataset but those of steps and drift has a twin.
#ifndef ALPHASTEP_RESULTS_LAYOUT_H
#define ALPHASTEP_RESULTS_LAYOUT_H

#include "alphastep/results_file.h"
#include "results/channels.h"
#include "results/hdf5.h"

typedef struct asi_dataset {
  asi_group group; ///< ASI_GROUPS: the time
  bool error;      ///< estimated errors, in the group `errors`
  int object;      ///< -1: none, or many
  const char *quantity, *unit;
  const char *frame; ///< in which axes; NULL: there is nothing to say
  int n_objects;     ///< 1 unless there are many
  int n_columns;
  char columns[ASI_HDF5_COLUMNS + 1]; ///< their names; "": it is one number
  int *objects;                       ///< n_objects numbers; NULL: not many
  int *pick;                          ///< n_objects x n_columns places in a line, -1: nowhere
} asi_dataset;

typedef struct asi_layout {
  const as_model *model;
  const asi_names *events; ///< NULL: there are none
  bool many;               ///< one dataset per quantity of all objects
  int width;               ///< numbers in a line
  asi_dataset *dataset;
  int n;
  char *text; ///< names of quantities
} asi_layout;

/// `errors`: with estimated errors.
as_status asi_layout_make(asi_layout *layout, const as_model *model, const as_channels *channels,
                          bool errors, as_error *error);
/// Whether there is something of this group.
bool asi_layout_has(const asi_layout *layout, asi_group group, bool error);
void asi_layout_free(asi_layout *layout);

#endif
