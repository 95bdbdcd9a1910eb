/// Superelements: linear structures in a model, given by their matrices.
///
///     M u'' + C u' + K u = p(t) + weight
///
/// u are displacements (and small rotations) about a reference that stands still in the world; matrices come
/// from a finite-element program, whole or reduced. They are meant for parts that deform a little and are
/// held, not for parts that travel or turn: there is no floating frame.
///
///     as_superelement_def def = as_default_superelement_def();   // mass, stiffness, node ...
///     as_builder_add_superelement(b, &def, &frame, &error);
///     as_builder_add_node(b, &(as_node_def){"tip", frame, 12}, &tip, &error);
///     joint.body[0] = tip;                                       // any joint, spring, load
///
/// A node that is added is a body of the model like others, but that its inertia stands in the superelement:
/// joints, springs, loads, frames and elements of your own may be on it. A node with displacements only is
/// to them what a point mass is; one with rotations has axes. Its rotation is exp(theta~), so that a joint on
/// it holds exactly, whatever theta; only M, C and K are linear.
#ifndef ALPHASTEP_SUPERELEMENT_H
#define ALPHASTEP_SUPERELEMENT_H

#include "alphastep/model.h"
#include "alphastep/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A node: where it is and which coordinates move it.
typedef struct as_superelement_node {
  double position[3]; ///< at u = 0, in the superelement's frame [m]
  /// Numbers of the coordinates, from 0, that are its displacements along x, y, z and its rotations about
  /// x, y, z of the superelement's frame; -1: it does not move that way.
  int coordinate[6];
} as_superelement_node;

/// A superelement of n coordinates. Start from as_default_superelement_def(). Copied, matrices too.
///
/// Checked: sizes, symmetry (to 1e-9 of the largest entry of a matrix), and of M that no entry of its diagonal is
/// negative and that m_ij^2 <= m_ii m_jj, which every positive semidefinite matrix fulfils. A coordinate
/// without any mass must be held by joints to something that has some; otherwise the start names it.
typedef struct as_superelement_def {
  unsigned cookie;                  ///< set by as_default_superelement_def(): leave it as it is
  const char *name;                 ///< NULL: `superelement 3`
  const as_sparse *mass;            ///< n x n [kg], required
  const as_sparse *stiffness;       ///< n x n [N/m]; NULL: none
  const as_sparse *damping;         ///< n x n [N s/m]; NULL: none
  const as_sparse *load;            ///< n x 1 [N]; NULL: none
  const as_curve *factor;           ///< of the load, against time [s]; NULL: 1
  const as_superelement_node *node; ///< n_nodes of them
  int n_nodes;
  double position[3];         ///< of its frame in the world [m]
  double quaternion[4];       ///< frame to world, w x y z
  const double *displacement; ///< u at the start, n numbers; NULL: 0
  const double *velocity;     ///< u' at the start; NULL: 0
} as_superelement_def;

AS_API as_superelement_def as_default_superelement_def(void);

/// Gravity and momenta take the mass to be what M gives to rigid motions of the nodes: list all nodes of a mesh,
/// or the boundary nodes of a reduced one, whose other coordinates do not take part in rigid motions.
AS_API as_status as_builder_add_superelement(as_builder *builder, const as_superelement_def *def,
                                             as_superelement_id *id, as_error *error);

/// A node that others may be joined to.
typedef struct as_node_def {
  const char *name; ///< among the bodies; NULL: `body 3`
  as_superelement_id superelement;
  int node; ///< its number in the list of nodes
} as_node_def;

AS_API as_status as_builder_add_node(as_builder *builder, const as_node_def *def, as_body_id *id,
                                     as_error *error);

AS_API int as_model_superelements(const as_model *model); ///< how many
/// AS_NO_SUPERELEMENT if there is none.
AS_API as_superelement_id as_model_find_superelement(const as_model *model, const char *name);
AS_API const char *as_model_superelement_name(const as_model *model, as_superelement_id id);
/// How many coordinates it has, and where they begin in q and in v; -1 if there is no such thing. Of a body that
/// is a node as_model_body_q() and as_model_body_v() are -1: its numbers are these.
AS_API int as_model_superelement_size(const as_model *model, as_superelement_id id);
AS_API int as_model_superelement_q(const as_model *model, as_superelement_id id);
AS_API int as_model_superelement_v(const as_model *model, as_superelement_id id);

#ifdef __cplusplus
}
#endif

#endif
