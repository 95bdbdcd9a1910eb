/// Matrices of bars and beams along x, for superelements in tests.
#ifndef TESTS_STRUCTURES_H
#define TESTS_STRUCTURES_H

#include "alphastep/alphastep.h"

typedef struct structure {
  int n; ///< coordinates
  as_sparse *mass, *stiffness;
  as_superelement_node *node;
  int n_nodes;
} structure;

/// Linear elements of a bar, one coordinate a node; a clamped one has none at its first node.
structure structure_bar(int elements, double length, double stiffness, double mass_per_length,
                        bool lumped, bool clamped);

typedef struct beam_section {
  double EA, GJ, EIy, EIz; ///< stiffness
  double mass, polar;      ///< per length; polar: moment of inertia about the axis
} beam_section;

/// Cubic elements of a slender beam, six coordinates a node.
structure structure_beam(int elements, double length, const beam_section *section);

/// a A + b B over the entries of both.
as_sparse *sparse_sum(double a, const as_sparse *A, double b, const as_sparse *B);
/// y += factor A x
void sparse_multiply_add(const as_sparse *A, double factor, const double *x, double *y);
/// A column of n numbers.
as_sparse *sparse_column(const double *x, int n);

/// A description of the structure.
as_superelement_def structure_def(const structure *s);
void structure_free(structure *s);

#endif
