/// A chain of rigid links with spherical joints, hanging from the origin, on (R^3 x SO(3))^N.
///
/// Link i has its centre of mass at x_i, its axis along its own x axis, and joint i at its left end:
///     g_0 = x_0 + R_0 s_-,    g_i = x_i + R_i s_- - x_{i-1} - R_{i-1} s_+,    s_-+ = (-+ length/2, 0, 0)
/// Everything is given by formula, over sparse patterns; callbacks write to positions they know.
#ifndef EXAMPLES_CHAIN_H
#define EXAMPLES_CHAIN_H

#include <alphastep/alphastep.h>

typedef struct chain {
  int n_links;
  double length;          ///< of a link [m]
  double mass;            ///< of a link [kg]
  double inertia_axial;   ///< [kg m^2]
  double inertia_lateral; ///< [kg m^2]
  double gravity;         ///< along -z [m/s^2]
  double damping; ///< of each link's motion: force per velocity [N s/m], torque likewise [N m s]
  as_problem_def def; ///< for as_problem_create; user points to this struct
  int *pattern;       ///< memory of the patterns
  as_space_part part;
} chain;

/// A chain of n links of 1 m, 1 kg and radius 5 cm, without damping. False if memory runs out. The
/// struct must stay where it is while its problem is used.
bool chain_init(chain *c, int n_links);
void chain_free(chain *c);

/// Horizontal, along x: fills 7 n numbers.
void chain_straight(const chain *c, double *q);
/// Position of the free end.
void chain_tip(const chain *c, const double *q, double tip[3]);
double chain_energy(const chain *c, const double *q, const double *v);

#endif
