/// Templates of blocks.
#ifndef ALPHASTEP_FILE_TEMPLATES_H
#define ALPHASTEP_FILE_TEMPLATES_H

#include "file/reader.h"

/// The i-th signal that one makes, "" is the block's own; NULL: there are no more, or it is no template.
const char *asi_template_output(const asi_kind *kind, int i);

#endif
