/// No plugins, see libraries.h: in an FMU.
#include "file/libraries.h"

const as_plugin *asi_open_plugin(asi_reader *r, const asi_value *at, const char *path) {
  asi_complain(r, at, "\"%.200s\" is a plugin, which an FMU cannot have", path);
  return NULL;
}

bool asi_is_linked(const asi_reader *r, const char *path) {
  (void)r;
  (void)path;
  return false;
}

void asi_libraries_close(asi_library *library) { (void)library; }
