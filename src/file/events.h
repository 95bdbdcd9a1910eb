/// Events of a file, between reading and building.
#ifndef ALPHASTEP_FILE_EVENTS_H
#define ALPHASTEP_FILE_EVENTS_H

#include "file/reader.h"

/// Notes which parameters events set: before any number is read.
void asi_mark_live(asi_reader *r);
/// Makes the machine's rules, when its model has been built; complains about formulas. AS_ERR_MEMORY.
as_status asi_build_events(asi_reader *r, as_error *error);
/// When something is wrong: complains about formulas of events and about outputs, too, as far as the machine is known.
void asi_check_rest(asi_reader *r);

#endif
