/// Blocks in files.
#ifndef ALPHASTEP_FILE_BLOCKS_H
#define ALPHASTEP_FILE_BLOCKS_H

#include "file/reader.h"
#include "file/table.h"

/// What is read of a signal, a state, a sampled or a held block.
typedef struct asi_signal_thing {
  as_signal_def def;
  asi_texts when, to; ///< of a state or what is held
  int sampling;       ///< of a sampled block: 1: it is a signal instead
} asi_signal_thing;

/// Adds the switches of a signal that has been added.
as_status asi_add_switches(asi_reader *r, const asi_signal_thing *thing, as_error *error);

/// Makes the names of a mapping's blocks known to the builder: before formulas are read that use them.
void asi_declare_blocks(asi_reader *r, const asi_value *map);

/// Complains about a period that is too short for the time that is simulated; NAN: there is none.
void asi_check_period(asi_reader *r, double period);

/// The name of a block where the files have it; NULL: they have none.
const asi_value *asi_find_block(const asi_reader *r, const char *name);

#endif
