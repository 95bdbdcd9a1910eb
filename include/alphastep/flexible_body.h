/// Linear flexible bodies in a model: parts from finite elements that travel and turn.
///
///     as_flexible_def def = as_default_flexible_def();     // data, position, velocity ...
///     as_builder_add_flexible(b, &def, &rod, &error);
///     as_body_id small_end = as_builder_flexible_node(b, rod, 1); // any joint, force, sensor
///
/// Its interface nodes are bodies of the model like others and have the names `rod.big end`, `rod.small end`. Node 0, the frame, has
/// six velocities of its own on R^3 x SO(3); the others follow from it and from n elastic coordinates z, which stand behind all
/// bodies in q and v. A node with displacements only is to joints and forces what a point mass is. What the data hold:
/// alphastep/flexible.h; equations: docs/elements/flexible.md.
#ifndef ALPHASTEP_FLEXIBLE_BODY_H
#define ALPHASTEP_FLEXIBLE_BODY_H

#include "alphastep/flexible.h"
#include "alphastep/model.h"
#include "alphastep/quantities.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A force on a point of the mesh.
typedef struct as_flexible_load {
  long node;              ///< its number in the finite-element program
  double force[3];        ///< [N]
  bool follows;           ///< along the axes of the frame, else of the world
  const as_curve *factor; ///< against time [s]; NULL: 1
} as_flexible_load;

/// A flexible body. Start from as_default_flexible_def(). Copied, the data too.
typedef struct as_flexible_def {
  unsigned cookie;              ///< set by as_default_flexible_def(): leave it as it is
  const char *name;             ///< NULL: `flexible body 3`
  const as_flexible_data *data; ///< required
  bool lower_order;           ///< leave out J_ij: centrifugal forces do not know of the deformation
  double position[3];         ///< of the origin of the mesh's coordinates at the start, world [m]
  double quaternion[4];       ///< mesh to world, w x y z
  double velocity[3];         ///< of the frame's origin, world [m/s]
  double angular_velocity[3]; ///< in the axes of the frame [rad/s]
  bool fixed;                 ///< assembly may not move the frame
  unsigned given;             ///< AS_GIVEN_..., of the frame; what is not zero is given anyway
  const double *z;            ///< elastic coordinates at the start, n numbers; NULL: 0
  const double *rate;         ///< z' at the start; NULL: 0
  const as_flexible_load *load; ///< n_loads of them
  int n_loads;
  const long *point; ///< numbers of n_points points of the mesh that results have channels of
  int n_points;
} as_flexible_def;

AS_API as_flexible_def as_default_flexible_def(void);
AS_API as_status as_builder_add_flexible(as_builder *builder, const as_flexible_def *def,
                                         as_flexible_id *id, as_error *error);
/// The body of an interface node, 0: the frame. AS_NO_BODY: there is no such thing.
AS_API as_body_id as_builder_flexible_node(const as_builder *builder, as_flexible_id id, int node);

AS_API int as_model_flexibles(const as_model *model); ///< how many
AS_API as_flexible_id as_model_find_flexible(const as_model *model, const char *name);
AS_API const char *as_model_flexible_name(const as_model *model, as_flexible_id id);
/// NULL: there is no such thing.
AS_API const as_flexible_data *as_model_flexible_data(const as_model *model, as_flexible_id id);
/// Where its elastic coordinates begin in q and in v; -1 if there is no such thing.
AS_API int as_model_flexible_q(const as_model *model, as_flexible_id id);
AS_API int as_model_flexible_v(const as_model *model, as_flexible_id id);
AS_API as_body_id as_model_flexible_node(const as_model *model, as_flexible_id id, int node);

/// The place of a point of the mesh by its number, among the points, or among those with stresses; -1: there is none.
AS_API int as_flexible_point(const as_flexible_data *data, long number);
AS_API int as_flexible_stress_point(const as_flexible_data *data, long number);

/// A point of the mesh while it runs.
typedef struct as_flexible_point_state {
  double position[3];   ///< world [m]
  double velocity[3];   ///< world [m/s]
  double deflection[3]; ///< Psi z, in the axes of the frame [m]
} as_flexible_point_state;

AS_API void as_model_flexible_point(const as_model *model, const as_state *state, as_flexible_id id,
                                    int point, as_flexible_point_state *out);
/// xx yy zz xy yz zx in the axes of the frame, and the equivalent stress of von Mises [Pa].
AS_API void as_model_flexible_stress(const as_model *model, const as_state *state,
                                     as_flexible_id id, int point, double out[7]);

/// What one linear body may do, and does. Beyond that its deformation stiffens or softens it, which it does not know: cut the part into two
/// to four bodies along its length.
typedef struct as_flexible_range {
  double frequency; ///< the first, with the frame held [rad/s]
  double spin;      ///< angular velocity of the frame: up to a fifth of it [rad/s]
  double
      size; ///< of the part: the largest distance of an interface node or point of the mesh from the frame [m]
  double
      deflection; ///< the largest displacement of an interface node: up to a tenth of the size [m]
  double turn;    ///< the largest rotation of an interface node: up to 0.2 rad
  double
      buckling; ///< of a uniform cantilever of this mass, size and frequency: 0.2 frequency^2 mass size [N]
  double
      axial; ///< the largest force between the frame and an interface node along their line: up to a twentieth of that [N]
} as_flexible_range;

/// False: it has left the range.
AS_API bool as_model_flexible_range(const as_model *model, const as_state *state, as_flexible_id id,
                                    as_flexible_range *out);

#ifdef __cplusplus
}
#endif

#endif
