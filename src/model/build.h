/// What the files that build a model share.
///
/// build.c          copies what the builder has, numbers bodies and rows, has the rest done
/// build_scatter.c  scatter maps: which entries of its local matrices an element fills
/// build_places.c   patterns of the problem's blocks, and where each entry of an element goes in them
/// build_problem.c  the problem itself
#ifndef ALPHASTEP_MODEL_BUILD_H
#define ALPHASTEP_MODEL_BUILD_H

#include "model/model.h"

// build_scatter.c ---------------------------------------------------------------------------------

typedef struct asi_local_size {
  int rows, columns;
} asi_local_size;

/// How large an element's matrix is.
asi_local_size asi_local_block_size(const asi_scatter_map *shape, int block);
/// Who touches a body first.
as_status asi_build_find_first(as_model *m, as_error *error);
/// Finds the scatter maps of all elements; those that are alike share one.
as_status asi_build_find_shapes(as_model *m, const as_builder *b, as_error *error);

// build_places.c ----------------------------------------------------------------------------------

/// Which pattern a local block's entries are in: two go into F_LAMBDA.
int asi_pattern_of(int block);
as_matrix asi_matrix_over(const asi_pattern *p);
/// Patterns of all blocks; they are freed by asi_pattern_free().
as_status asi_build_find_patterns(const as_model *m, asi_pattern pattern[ASI_LOCAL_BLOCKS],
                                  as_error *error);
/// Where entries of elements, of bodies' own forces and of ball joints go; M.
as_status asi_build_place_elements(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                                   as_error *error);
as_status asi_build_place_balls(as_model *m, as_error *error);
void asi_build_place_bodies(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS]);
/// M: masses on the diagonal, inertia tensors without their zeros.
as_status asi_build_find_mass(as_model *m, asi_pattern *pattern, as_error *error);

// build_problem.c ---------------------------------------------------------------------------------

/// Makes m->problem, with the patterns of all blocks.
as_status asi_build_problem(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                            const asi_pattern *mass, const asi_pattern *mass_q, as_error *error);

#endif
