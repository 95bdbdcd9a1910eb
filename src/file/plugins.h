/// Blocks of plugins in files.
#ifndef ALPHASTEP_FILE_PLUGINS_H
#define ALPHASTEP_FILE_PLUGINS_H

#include "file/reader.h"

/// Makes the signals of a block of `type: plugin` known. If its library cannot be opened r->no_plugin is set.
void asi_declare_plugin(asi_reader *r, const asi_value *key, const asi_value *v, const char *name);
/// Makes known what a block has: inputs, states, sampled numbers, outputs.
void asi_declare_ports(asi_reader *r, const asi_value *key, const char *name,
                       const as_plugin_block *p);

#endif
