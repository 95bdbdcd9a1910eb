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

/// Whose code may be run: plugins, FMUs.
typedef struct asi_trust {
  const char *what, *option; ///< "plugin": as sentences and options call it
  const char *hint;          ///< behind "is not there"
  bool all;
  const char *const *folders; ///< n_folders
  int n_folders;
} asi_trust;

/// The resolved path of a file with code that may be run, whose digest is noted; NULL: it was said why not. `because` receives the folder that
/// it is in, NULL: all are trusted.
const char *asi_find_trusted(asi_reader *r, const asi_value *at, const asi_trust *trust,
                             const char *path, const char **because);
/// The plugin of a path, which stands at `at`; NULL: it was said why not, or memory has run out.
const as_plugin *asi_open_plugin(asi_reader *r, const asi_value *at, const char *path);
/// Whether a path means a plugin that is part of the program.
bool asi_is_linked(const asi_reader *r, const char *path);
/// Closes all of them, when nothing uses them any more.
void asi_libraries_close(asi_library *library);

#endif
