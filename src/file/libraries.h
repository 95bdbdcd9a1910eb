/// Shared libraries with plugins that a model file names.
#ifndef ALPHASTEP_FILE_LIBRARIES_H
#define ALPHASTEP_FILE_LIBRARIES_H

#include "file/reader.h"

/// A library that has been asked for, the newest first. It lives in the machine's arena.
struct asi_library {
  const char *path;        ///< as asi_beside() gives it
  const as_plugin *plugin; ///< NULL: it was refused
  void *handle;            ///< NULL: it was not opened
  struct asi_library *older;
};

/// The plugin of a path, which stands at `at`; NULL: it was said why not, or memory has run out.
const as_plugin *asi_open_plugin(asi_reader *r, const asi_value *at, const char *path);
/// Whether a path means a plugin that is part of the program.
bool asi_is_linked(const asi_reader *r, const char *path);
/// Closes all of them, when nothing uses them any more.
void asi_libraries_close(asi_library *library);

#endif
