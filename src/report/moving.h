/// Which channels change along a run, and which only tremble.
#ifndef ALPHASTEP_REPORT_MOVING_H
#define ALPHASTEP_REPORT_MOVING_H

#include "report/report.h"

typedef enum asi_moving {
  ASI_CONSTANT, ///< one number all along, or none
  ASI_TREMBLES, ///< by round-off beside the largest value of its unit, or by less than its estimated error
  ASI_MOVES,
} asi_moving;

/// Of each channel, in time linear in what is recorded.
as_status asi_find_moving(asi_report *r, asi_moving *out, as_error *error);

#endif
