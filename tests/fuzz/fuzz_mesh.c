/// Fuzzes asi_mesh_parse(): whatever a file holds, there are triangles with finite corners, or a sentence. The first
/// byte of an input chooses the format.
///
/// `fuzz_mesh --seeds=FOLDER` writes inputs to begin with.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/mesh.h"
#include "fuzz/seeds.h"

static const char *const seeds[] = {
    "ov 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1/1/1 2//2 3 4\nf -1 -2 -3\n# x\ng y\n",
    "ssolid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e-1 0\n"
    "endloop\nendfacet\nendsolid a\n",
};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const size_t n = sizeof seeds / sizeof seeds[0];
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, n);
  unsigned char binary[1 + 84 + 50] = {'s'};
  binary[1 + 80] = 1;
  seeds_write(folder, n, binary, sizeof binary);
  exit(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  as_error error = {0};
  asi_mesh mesh;
  if (size == 0) return 0;
  char *text = malloc(size); // of the exact size, so that reading beyond it shows
  must(text != NULL, "out of memory");
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  const as_status status =
      asi_mesh_parse(text, size - 1, data[0] == 'o' ? "input.obj" : "input.stl", &mesh, &error);
  free(text);
  if (status == AS_OK) {
    must(mesh.n > 0 && mesh.n <= ASI_MOST_TRIANGLES, "the number of triangles is wrong");
    for (int i = 0; i < 9 * mesh.n; ++i)
      must(isfinite((float)mesh.corner[i]), "a corner is not finite");
  } else {
    must(mesh.corner == NULL && error.message[0] != '\0', "it is refused without a sentence");
  }
  free(mesh.corner);
  return 0;
}
