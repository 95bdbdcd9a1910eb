/// A linear structure given by its matrices.
#ifndef ALPHASTEP_ELEMENTS_SUPERELEMENT_H
#define ALPHASTEP_ELEMENTS_SUPERELEMENT_H

#include "alphastep/superelement.h"
#include "elements/curve.h"
#include "elements/node.h"

typedef struct asi_superelement {
  int n;          ///< coordinates
  int q, v;       ///< where they begin
  as_sparse *M;   ///< mass
  as_sparse *C;   ///< damping; NULL: none
  as_sparse *K;   ///< stiffness; NULL: none
  double *load;   ///< n; NULL: none
  double *weight; ///< n: of gravity
  double *
      rigid; ///< 6 n: M times displacements along world axes and rotations about them at the origin
  double *u0, *v0; ///< n each: start
  bool displaced;  ///< u0 was given
  bool moving;     ///< v0 was given
  asi_curve_ref factor;
  as_superelement_node *node;
  int n_nodes;
  double x[3], Q[9];     ///< its frame in the world
  int *K_place;          ///< where its entries stand in the values of F_Q; only in a model
  int *C_place;          ///< of F_V
  double mass;           ///< of a rigid displacement
  double center[3];      ///< mass times centre of mass at u = 0, world
  double weight_at_rest; ///< weight times position of the nodes at u = 0
} asi_superelement;

/// Takes everything from a description that has been checked (not the curve); false if memory runs out.
bool asi_superelement_init(asi_superelement *s, const as_superelement_def *def, const double Q[9],
                           const double *gravity);
bool asi_superelement_copy(asi_superelement *s, const asi_superelement *from);
void asi_superelement_free(asi_superelement *s);

/// A node with the coordinates' places in v.
asi_node asi_superelement_node(const asi_superelement *s, int node);

/// f0 of its n coordinates: load + weight - K u - C u'. AS_DONE or what the curve returns.
int asi_superelement_force(const asi_superelement *s, double t, const double *q, const double *v,
                           double *out);

double asi_superelement_kinetic(const asi_superelement *s, const double *v);
double asi_superelement_potential(const asi_superelement *s, const double *q);
/// False where the factor of the load cannot be evaluated.
bool asi_superelement_power(const asi_superelement *s, double t, const double *v,
                            as_element_power *out);

/// What it adds: mass, mass times centre of mass, linear and angular momentum about the origin.
void asi_superelement_momentum(const asi_superelement *s, const double *q, const double *v,
                               double *mass, double center[3], double linear[3], double angular[3]);

#endif
