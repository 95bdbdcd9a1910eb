/// Inside of a product space, and its tangent operator as a sparse matrix.
#ifndef ALPHASTEP_LIE_SPACE_H
#define ALPHASTEP_LIE_SPACE_H

#include <stdbool.h>

#include "alphastep/space.h"

struct as_space {
  int nq;                ///< numbers in a configuration
  int nv;                ///< numbers in a velocity
  int tangent_nnz;       ///< structural nonzeros of T
  int n_parts;           ///< at least 1
  as_space_part parts[]; ///< n_parts, as the caller gave them
};

/// True if all parts are R^n: T is the identity and the bracket is zero.
bool asi_space_is_linear(const as_space *space);

/// For each number in q what `of_v` says of the direction of motion that it belongs to; 1 for quaternions.
void asi_space_each_number(const as_space *space, const double *of_v, double *of_q);

/// The size of each component of q along the directions of motion, and of v: of whole vectors for positions,
/// velocities and angular velocities of bodies; 1 rad for rotations.
void asi_space_sizes(const as_space *space, const double *q, const double *v, double *q_size,
                     double *v_size);
/// Writes `position` to the directions that move and `rotation` to those that turn; R^n moves.
void asi_space_spread(const as_space *space, double position, double rotation, double *out);

/// T(xi) as an nv x nv matrix in compressed columns, rows increasing, over a pattern that does not
/// depend on xi: the diagonal on R^n and on the positions of R^3 x SO(3), 3 x 3 blocks for
/// rotations, and for SE(3) the three nonzero blocks of [T U; 0 T].
int asi_space_tangent_nnz(const as_space *space);
void asi_space_tangent_pattern(const as_space *space, int *col_start, int *row);
void asi_space_tangent_fill(const as_space *space, const double *xi, double *value);

#endif
