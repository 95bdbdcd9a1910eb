/// What has been read of files of finite-element programs (alphastep/mesh_file.h), before and after it is put together.
#ifndef ALPHASTEP_FILE_MESH_FILES_H
#define ALPHASTEP_FILE_MESH_FILES_H

#include "alphastep/mesh_file.h"
#include "file/fe_text.h"

/// An unknown by its node and its direction, 1 ... 6.
typedef struct asi_fe_label {
  long node;
  int direction;
} asi_fe_label;

/// An entry of a matrix whose rows are called by labels.
typedef struct asi_fe_entry {
  asi_fe_label row, column;
  double value;
} asi_fe_entry;

/// A matrix: by numbers or by labels.
typedef struct asi_fe_matrix {
  bool given;
  bool labelled;
  as_sparse *whole; ///< of a Matrix Market file
  as_entry *entry;  ///< by numbers, from 0
  asi_fe_entry *by_label;
  size_t n, room;
  char name[200]; ///< of its file
} asi_fe_matrix;

typedef struct asi_fe_set {
  char name[82];
  long *nodes;
  int n, room;
  double *areas; ///< made when they are asked for
} asi_fe_set;

struct as_mesh_files {
  long *ids;
  double (*positions)[3];
  int (*unknowns)[6]; ///< -1: none
  int n_nodes, room_nodes, room_positions, room_unknowns;
  bool numbered;       ///< unknowns are known
  asi_fe_label *label; ///< of each unknown, by a .dof file
  int n_labels, room_labels;
  asi_fe_set *set;
  int n_sets, room_sets;
  long (*triangle)[3]; ///< of shells, then of faces that two solids do not share
  int n_triangles, room_triangles;
  struct asi_fe_face *face; ///< of solids
  int n_faces, room_faces;
  asi_fe_matrix matrix[2]; ///< by role
  as_sparse *done[2];
  as_mesh mesh;
};

/// A face of a solid: its corners, then the nodes between them (or 0).
typedef struct asi_fe_face {
  long key[4]; ///< corners, increasing; the first is 0 for a triangle
  long node[8];
  int corners;
} asi_fe_face;

/// Room for one more; AS_ERR_MEMORY.
as_status asi_fe_grow(void *array, int n, int *room, size_t size, as_error *error);
as_status asi_fe_add_node(as_mesh_files *f, const asi_fe_text *t, long id, const double x[3],
                          const int unknowns[6]);
/// The set of that name, made if there is none. NULL: no memory, or too long a name.
asi_fe_set *asi_fe_find_set(as_mesh_files *f, asi_fe_word name, bool make);
as_status asi_fe_set_add(asi_fe_set *s, long node, as_error *error);

/// Reads an input file of CalculiX or Abaqus.
as_status asi_fe_parse_inp(as_mesh_files *f, asi_fe_text *t);
/// Nastran's DMIG.
as_status asi_fe_parse_dmig(asi_fe_matrix *m, as_matrix_role role, const char *wanted,
                            asi_fe_text *t);
as_status asi_fe_add_labelled(asi_fe_matrix *m, const asi_fe_text *t, asi_fe_entry entry);
/// Triangles of faces that two solids do not share.
as_status asi_fe_find_surface(as_mesh_files *f, as_error *error);

#endif
