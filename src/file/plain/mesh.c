/// No meshes, see mesh.h: nothing is drawn in an FMU, and their files are not in it.
#include "file/mesh.h"

#include "base/error.h"

as_status asi_mesh_read(const char *path, asi_mesh *out, as_error *error) {
  (void)path;
  *out = (asi_mesh){NULL, 0};
  return asi_error_clear(error);
}
