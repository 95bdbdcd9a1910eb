/// Blocks in files.
#ifndef ALPHASTEP_FILE_BLOCKS_H
#define ALPHASTEP_FILE_BLOCKS_H

#include "file/reader.h"

/// Makes the names of a mapping's blocks known to the builder: before formulas are read that use them.
void asi_declare_blocks(asi_reader *r, const asi_value *map);

#endif
