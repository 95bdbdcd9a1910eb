/// Matrices and meshes of finite-element programs: what as_reduce() needs, from the files of CalculiX, Abaqus, Nastran, or as Matrix Market.
///
///     as_mesh_files *f;
///     as_mesh_files_create(&f, &error);
///     as_mesh_files_nodes(f, "rod.inp", &error);                            nodes, sets and the surface
///     as_mesh_files_unknowns(f, "rod.dof", &error);                         CalculiX: whose unknowns they are
///     as_mesh_files_matrix(f, AS_STIFFNESS, "rod.sti", NULL, &error);
///     as_mesh_files_matrix(f, AS_MASS, "rod.mas", NULL, &error);
///     as_mesh_files_finish(f, &error);
///     def.mesh = as_mesh_files_mesh(f); ...
///
/// Sentences about a file begin with `file:line: `. Memory goes with the size of the files, whatever they say of themselves.
#ifndef ALPHASTEP_MESH_FILE_H
#define ALPHASTEP_MESH_FILE_H

#include <stdbool.h>

#include "alphastep/export.h"
#include "alphastep/reduction.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct as_mesh_files as_mesh_files;

typedef enum as_matrix_role { AS_STIFFNESS, AS_MASS } as_matrix_role;

AS_API as_status as_mesh_files_create(as_mesh_files **out, as_error *error);
AS_API void as_mesh_files_destroy(as_mesh_files *files);

/// Reads nodes: an input file of CalculiX or Abaqus (.inp: *NODE, *NSET, *ELEMENT), or a table of comma-separated values whose rows are
/// `number, x, y, z` or `number, x, y, z` and three or six unknowns (rows of the matrices, from 1; 0 or -1: none). May be called again.
AS_API as_status as_mesh_files_nodes(as_mesh_files *files, const char *path, as_error *error);
/// Reads whose unknowns they are, one `node.direction` a line, as CalculiX writes (.dof).
AS_API as_status as_mesh_files_unknowns(as_mesh_files *files, const char *path, as_error *error);
/// Reads a matrix, by what is in the file: Matrix Market; `row column value` a line (.sti, .mas, Abaqus' FORMAT=COORDINATE); `node, direction,
/// node, direction, value` (Abaqus' FORMAT=MATRIX INPUT); Nastran's DMIG, of which `name` is the one to take (NULL: the only one whose name
/// begins with K or M, as it is stiffness or mass). One triangle is enough, but for Matrix Market,
/// whose head says what there is.
AS_API as_status as_mesh_files_matrix(as_mesh_files *files, as_matrix_role role, const char *path,
                                      const char *name, as_error *error);
/// The same from memory; `name_of_file` is for messages, and its ending says what nodes are.
AS_API as_status as_mesh_files_parse_nodes(as_mesh_files *files, const char *text, size_t size,
                                           const char *name_of_file, as_error *error);
AS_API as_status as_mesh_files_parse_unknowns(as_mesh_files *files, const char *text, size_t size,
                                              const char *name_of_file, as_error *error);
AS_API as_status as_mesh_files_parse_matrix(as_mesh_files *files, as_matrix_role role,
                                            const char *text, size_t size, const char *name_of_file,
                                            const char *name, as_error *error);
/// Puts together what has been read.
AS_API as_status as_mesh_files_finish(as_mesh_files *files, as_error *error);

/// Then: to be read only, as long as the files are.
AS_API const as_mesh *as_mesh_files_mesh(const as_mesh_files *files);
AS_API const as_sparse *as_mesh_files_stiffness(const as_mesh_files *files);
AS_API const as_sparse *as_mesh_files_mass(const as_mesh_files *files);
/// Nodes of a set by its name (capitals do not matter), and their parts of the surface between them; `areas` is NULL if none of the surface
/// is. AS_ERR_ARGUMENT if there is no such set.
AS_API as_status as_mesh_files_set(as_mesh_files *files, const char *name, const long **nodes,
                                   int *count, const double **areas, as_error *error);
/// Parts of the surface between any nodes: areas receives count numbers. *any: whether some of the surface is between them.
AS_API as_status as_mesh_files_areas(const as_mesh_files *files, const long *nodes, int count,
                                     double *areas, bool *any, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
