/// FMUs in files.
#ifndef ALPHASTEP_FILE_FMUS_H
#define ALPHASTEP_FILE_FMUS_H

#include "file/reader.h"

/// Opens the FMUs of `fmus:` and makes their signals known. If one cannot be opened r->no_plugin is set.
void asi_declare_fmus(asi_reader *r, const asi_value *map);
/// Ends all of them, when no model uses them any more.
void asi_fmus_close(asi_open_fmu *list);

#endif
