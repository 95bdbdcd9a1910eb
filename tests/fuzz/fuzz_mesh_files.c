/// Fuzzes as_mesh_files_*(): whatever texts hold, there are a mesh and matrices that fit each other, or a sentence.
///
/// An input is parts, each a letter and a text up to the next zero byte: i an input file, t a table of nodes, d unknowns, k and m matrices.
/// `fuzz_mesh_files --seeds=FOLDER` writes inputs to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "fuzz/seeds.h"

#define PART "\0"
static const char calculix[] =
    "i** c\n*NODE, NSET=all\n1, 0, 0, 0\n2, 1., 0\n3, 0, 1e0, 0\n4, 0, 0, 1\n*ELEMENT, "
    "TYPE=C3D4\n1, 1, 2,\n3, 4\n*NSET, NSET=s, GENERATE\n1, 3, 2\n*NSET, NSET=t\ns, 4\n" PART
    "d1.1\n1.2\n2.3\n" PART "k1 1 2.0\n1 2 -1e3\n2 2 4D+00\n3 3 1.\n" PART "m1 1 1\n2 2 1\n3 3 1\n";
static const char abaqus[] =
    "t1 0 0 0\n2 1 0 0\n" PART "k** K\n1,1, 1,1, 2.0\n2,1, 1,1, -1.\n2,1, 2,1, 2\n" PART
    "m1,1, 1,1, 1.0\n2,1, 2,1, 1\n";
static const char market[] =
    "tid,x,y,z,a,b,c\n7, 0, 0, 0, 1, 2, 0\n" PART
    "k%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 2 3\n" PART
    "m%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n";
static const char punched[] =
    "t1;0;0;0\n2;1;0;0\n" PART "kDMIG    KAAX           0       6       1       0\n"
    "DMIG*   KAAX                           1               1\n"
    "*                      1               1 1.000000000D+00\n"
    "*                      2               3-2.000000000-03\n" PART
    "m$ x\nDMIG    MAAX           0       1       2       0\n"
    "DMIG*   MAAX                           2               3\n"
    "*                      2               3 1.000000000E+00\n";
static const char shells[] = "i*NODE\n1,\n2,1\n3,1,1\n4,0,1\n*ELEMENT,TYPE=S4R\n1,1,2,3,4\n*"
                             "ELEMENT,TYPE=C3D20R\n2,1,2,3,4,1,2,3,"
                             "4,1,2,3,4,1,2,3,\n4,1,2,3,4\n*INCLUDE, INPUT=x\n" PART
                             "k3 3 1\n1 2 1\n2 1 1\n" PART "m1 1 1\n";

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write(folder, 0, calculix, sizeof calculix - 1);
  seeds_write(folder, 1, abaqus, sizeof abaqus - 1);
  seeds_write(folder, 2, market, sizeof market - 1);
  seeds_write(folder, 3, punched, sizeof punched - 1);
  seeds_write(folder, 4, shells, sizeof shells - 1);
  exit(0);
}

static void check_matrix(const as_sparse *a) {
  must(a != NULL && a->rows > 0 && a->cols > 0, "a matrix is missing");
  for (int k = 0; k < a->col_start[a->cols]; ++k)
    must(isfinite(a->value[k]) && a->row[k] >= 0 && a->row[k] < a->rows, "an entry is wrong");
}

static void check(as_mesh_files *f) {
  static const char *const names[] = {"all", "s", "t"};
  const as_mesh *m = as_mesh_files_mesh(f);
  must(m->node_count > 0, "there are no nodes");
  for (int i = 0; i < m->node_count; ++i) {
    must(m->ids[i] > 0, "a node has no number");
    for (int c = 0; c < 3; ++c) must(isfinite(m->positions[i][c]), "a position is not finite");
    for (int d = 0; d < 6; ++d) must(m->unknowns[i][d] >= -1, "an unknown is negative");
  }
  check_matrix(as_mesh_files_stiffness(f));
  check_matrix(as_mesh_files_mass(f));
  for (int i = 0; i < 3; ++i) {
    const long *nodes;
    const double *areas;
    int n;
    as_error error;
    if (as_mesh_files_set(f, names[i], &nodes, &n, &areas, &error)) continue;
    for (int k = 0; k < n; ++k)
      must((k == 0 || nodes[k] > nodes[k - 1]) && (areas == NULL || areas[k] >= 0.0),
           "a set is wrong");
  }
}

/// Reads one part.
static as_status read_part(as_mesh_files *f, char kind, const char *text, size_t n,
                           as_error *error) {
  switch (kind) {
  case 'i': return as_mesh_files_parse_nodes(f, text, n, "x.inp", error);
  case 't': return as_mesh_files_parse_nodes(f, text, n, "x.csv", error);
  case 'd': return as_mesh_files_parse_unknowns(f, text, n, "x.dof", error);
  case 'k': return as_mesh_files_parse_matrix(f, AS_STIFFNESS, text, n, "x.sti", NULL, error);
  default: return as_mesh_files_parse_matrix(f, AS_MASS, text, n, "x.mas", "MAAX", error);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  as_mesh_files *f = NULL;
  as_error error = {0};
  as_status status = as_mesh_files_create(&f, &error);
  const char *at = (const char *)data, *end = at + size;
  while (status == AS_OK && at < end) {
    const char *stop = memchr(at, '\0', (size_t)(end - at));
    const size_t n = (size_t)((stop ? stop : end) - at);
    char *text = malloc(n > 1 ? n - 1 : 1); // of the exact size, so that reading beyond it shows
    must(text != NULL, "out of memory");
    if (n > 1) memcpy(text, at + 1, n - 1);
    status = read_part(f, *at, text, n > 0 ? n - 1 : 0, &error);
    free(text);
    at += n + 1;
  }
  if (status == AS_OK) status = as_mesh_files_finish(f, &error);
  if (status == AS_OK)
    check(f);
  else
    must(error.message[0] != '\0', "it is refused without a sentence");
  as_mesh_files_destroy(f);
  return 0;
}
