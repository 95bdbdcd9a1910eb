/// Meshes: triangles from STL and OBJ files.
#ifndef ALPHASTEP_FILE_MESH_H
#define ALPHASTEP_FILE_MESH_H

#include <stddef.h>

#include "alphastep/status.h"

/// Limits, so that no file can take all memory.
enum {
  ASI_MOST_MESH_BYTES = 128 << 20, ///< of a file
  ASI_MOST_TRIANGLES = 500000,     ///< of a mesh, and of all meshes of a machine
};

typedef struct asi_mesh {
  double *corner; ///< 9 numbers each, in the file's unit; free with free()
  int n;          ///< triangles
} asi_mesh;

/// Reads a file. AS_ERR_FILE: it cannot be opened; AS_ERR_ARGUMENT: what is in it is no mesh; AS_ERR_MEMORY.
as_status asi_mesh_read(const char *path, asi_mesh *out, as_error *error);
/// The same from `size` bytes with a zero behind them; `name` ends in .stl or .obj. Needs the C locale.
as_status asi_mesh_parse(const char *text, size_t size, const char *name, asi_mesh *out,
                         as_error *error);

#endif
