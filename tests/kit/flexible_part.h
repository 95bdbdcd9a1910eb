/// Flexible bodies for tests: a straight beam of finite elements, reduced by Craig and Bampton, whose mass is point masses.
///
/// Nothing of it is the library's: dense matrices, Jacobi's rotations. The mass points are at Gauss's points of each element, four in
/// each section, so that sums over them are exact to round-off.
#ifndef TESTS_FLEXIBLE_PART_H
#define TESTS_FLEXIBLE_PART_H

#include "alphastep/alphastep.h"

enum { PART_NODES = 4 };

typedef struct part_def {
  double from[3]; ///< place of the first node of the mesh; the beam is along x
  double length;
  int elements;
  int modes;
  double stiffness[6];       ///< EA, GAy, GAz, GJ, EIy, EIz
  double mass;               ///< per length
  double inertia[2];         ///< rho Iy, rho Iz, per length
  int interface_count;       ///< 0: the first node (the frame) and the last
  int interface[PART_NODES]; ///< numbers of nodes, the frame first
  bool displacements;        ///< the other interface nodes have displacements only
  double alpha, beta;        ///< C = alpha M + beta K
} part_def;

typedef struct part {
  as_flexible_data *data; ///< points of its mesh are the mass points, 1, 2, ...
  double *mass;           ///< of each
} part;

/// Fails the test if memory runs out.
part part_make(const part_def *def);
void part_free(part *p);

/// The beam of rotating_beam_frequencies: 1 m of 20 mm x 10 mm aluminium, 16 elements.
part_def part_blade(double from, double length, int elements, int modes);

/// Adds it as `name` with its mesh placed as given and a rigid motion about the world's origin.
as_flexible_id part_add(as_builder *b, const char *name, const part *p, const double position[3],
                        const double velocity[3], const double angular_velocity[3]);

#endif
