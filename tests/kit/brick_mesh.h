/// Finite-element meshes that tests make themselves: a bar of bricks with eight nodes, and a beam along x whose nodes have rotations.
#ifndef TESTS_BRICK_MESH_H
#define TESTS_BRICK_MESH_H

#include <stdbool.h>

#include "alphastep/reduction.h"

typedef struct brick_mesh {
  as_mesh mesh;
  as_sparse *K, *M;
  int end_count;      ///< nodes of one end face
  long *first, *last; ///< ids of the nodes at x = 0 and at x = the length
} brick_mesh;

/// nx x ny x nz bricks of E = 2e11 Pa, nu = 0.3, rho = 7800 kg/m^3 over a x b x c [m]; consistent mass, or lumped at the nodes. Node ids are
/// 10, 13, 16, ...
brick_mesh brick_mesh_make(int nx, int ny, int nz, double a, double b, double c, bool lumped);
/// A straight Euler beam of n elements along x with six unknowns a node: length 1 m, 20 mm x 30 mm, of the same steel; ids 1 ... n + 1.
brick_mesh brick_mesh_beam(int n);
void brick_mesh_free(brick_mesh *m);

/// Dense eigenvalues of K u = lambda M u, as frequencies [Hz], increasing, for the unknowns for which `held` is false (NULL: all). Returns
/// how many there are.
int brick_mesh_frequencies(const brick_mesh *m, const bool *held, double *out);

#endif
