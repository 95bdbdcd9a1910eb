/// Whole files.
#ifndef ALPHASTEP_FILE_ROOT_H
#define ALPHASTEP_FILE_ROOT_H

#include "file/reader.h"

/// Reads all files by the table and fills the machine and its builder.
as_status asi_read_roots(asi_reader *r, as_error *error);

#endif
