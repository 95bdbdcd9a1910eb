/// Beams: slender parts that bend, twist and stretch by any amount (geometrically exact).
///
///     as_beam_station station[] = {{.position = {0, 0, 0}, .quaternion = {1, 0, 0, 0}, .body = AS_GROUND}, ...};
///     as_beam_def def = as_default_beam_def();          // station, n_stations, section ...
///     as_builder_add_beam(b, &def, &beam, &error);
///     as_body_id tip = as_builder_beam_node(b, beam, n); // any joint, load, sensor
///
/// A beam is a line of stations with an element between neighbours. A station is a node, which is a body of the model like others
/// and has the name `blade.3`, or is fixed to a body or to the ground. Its axes are those of the section: x along the
/// line, y and z across. Equations: docs/elements/beams.md.
#ifndef ALPHASTEP_BEAM_H
#define ALPHASTEP_BEAM_H

#include <stdbool.h>

#include "alphastep/model.h"
#include "alphastep/quantities.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A section: per length of the beam, in its own axes, about the reference line.
typedef struct as_beam_section {
  /// Forces and moments by strains: stretch, shear along y and z, twist, bending about y and z [N, N m, N m^2]; by rows,
  /// symmetric and positive definite.
  double stiffness[36];
  double mass; ///< [kg/m]
  double inertia
      [3]; ///< about x, y, z of its centre of mass [kg m]; x is the sum of the others for a plane section
  double center[2]; ///< of mass, along y and z [m]
  // For stresses, which only a section of one material with a known outline has.
  double modulus;   ///< Young's [Pa]; NAN: stresses are not known
  double height[2]; ///< extent of the outline along y and z, which it has about the line [m]
  bool round;       ///< the outline is a circle, else a rectangle
} as_beam_section;

AS_API as_beam_section as_default_beam_section(void);

// ---- sections of known outline ----------------------------------------------------------------------

/// Outlines, symmetric about y and z. See docs/elements/beams.md for the formulas.
typedef enum as_profile_kind {
  AS_PROFILE_RECTANGLE, ///< width, height
  AS_PROFILE_CIRCLE,    ///< width: the diameter
  AS_PROFILE_TUBE,      ///< width: the outer diameter; wall
  AS_PROFILE_BOX,       ///< a hollow rectangle: width, height, wall
  AS_PROFILE_I,         ///< width and height outside, flange across z, wall of its web
} as_profile_kind;

typedef struct as_profile {
  as_profile_kind kind;
  double width;  ///< along y [m]
  double height; ///< along z [m]
  double wall;   ///< [m]
  double flange; ///< [m]
} as_profile;

/// What a cross section is by its shape.
typedef struct as_profile_properties {
  double area;    ///< [m^2]
  double Iy, Iz;  ///< second moments about y, int z^2 dA, and about z [m^4]
  double J;       ///< torsion constant [m^4]
  double shear_y; ///< factors of the area for shear along y and z [-]
  double shear_z;
} as_profile_properties;

/// Refuses sizes that are not positive, and walls that leave no room between them.
AS_API as_status as_profile_compute(const as_profile *profile, as_profile_properties *out,
                                    as_error *error);

typedef struct as_material {
  double E;       ///< Young's modulus [Pa]
  double G;       ///< shear modulus [Pa]
  double density; ///< [kg/m^3]
} as_material;

/// `steel`, `stainless steel`, `aluminium`, `titanium`, `brass`, `copper`, `nylon`, `acrylic`: common values.
/// false: there is none of this name.
AS_API bool as_material_find(const char *name, as_material *out);
/// The i-th name, NULL behind the last.
AS_API const char *as_material_name(int i);

/// diag(E A, shear_y G A, shear_z G A, G J, E Iy, E Iz), and mass and inertia.
AS_API as_beam_section as_beam_section_of(const as_profile_properties *shape,
                                          const as_material *material);
/// The same of an outline, with what stresses need.
AS_API as_status as_beam_section_of_profile(const as_profile *profile, const as_material *material,
                                            as_beam_section *out, as_error *error);

// ---- beams ------------------------------------------------------------------------------------------

/// Writes the section at an arc length s [m]; not 0: there is none.
typedef int as_beam_section_fn(double s, as_beam_section *out, void *user);

/// Where a section is at the start, unloaded.
typedef struct as_beam_station {
  double position[3];   ///< of the reference line [m]
  double quaternion[4]; ///< section to world, w x y z; x is along the line
  as_body_id body;      ///< AS_NO_BODY: a node; else fixed to this body, or to AS_GROUND
} as_beam_station;

/// How a beam's mass is spread.
typedef enum as_beam_mass {
  AS_BEAM_HERMITE, ///< along cubic lines between the nodes, which have to be on R^3xSO(3)
  AS_BEAM_LUMPED,  ///< half of an element's at each end; on any bodies
} as_beam_mass;

/// A beam. Start from as_default_beam_def(). Copied.
typedef struct as_beam_def {
  unsigned cookie;                ///< set by as_default_beam_def(): leave it as it is
  const char *name;               ///< NULL: `beam 3`
  const as_beam_station *station; ///< n_stations of them, required
  int n_stations;                 ///< 2 or more
  const as_beam_section *section; ///< the same everywhere; or
  as_beam_section_fn *section_at; ///< one that varies
  void *user;                     ///< passed to it
  as_beam_mass mass;
  /// The stiffness of an element is its section's at mid-length; otherwise that which is exact in linear statics.
  bool plain;
  double damping; ///< >= 0: stress K (strain + damping strain') [s]
  /// Forces along it against the arc length s [N/m], along world axes, and along those of the section, which they follow. In
  /// formulas s, t and parameters may stand. NULL: none.
  const as_curve *load[3];
  const as_curve *following[3];
  double velocity[3];         ///< of all nodes at the start, world axes [m/s]
  double angular_velocity[3]; ///< likewise, about `about`, world axes [rad/s]
  double about[3];            ///< [m]
} as_beam_def;

AS_API as_beam_def as_default_beam_def(void);
AS_API as_status as_builder_add_beam(as_builder *builder, const as_beam_def *def, as_beam_id *id,
                                     as_error *error);
/// The body of a station, from 0: a node, or what it is fixed to. AS_NO_BODY: there is no such thing.
AS_API as_body_id as_builder_beam_node(const as_builder *builder, as_beam_id beam, int station);

AS_API int as_model_beams(const as_model *model); ///< how many
AS_API as_beam_id as_model_find_beam(const as_model *model, const char *name);
AS_API const char *as_model_beam_name(const as_model *model, as_beam_id beam);
AS_API int as_model_beam_stations(const as_model *model, as_beam_id beam);
AS_API as_body_id as_model_beam_node(const as_model *model, as_beam_id beam, int station);

/// A section of a beam while it runs: what the part behind it (larger s) exerts on the part before it, in the section's axes.
typedef struct as_beam_state {
  double position[3]; ///< of the reference line, world [m]
  double R[9];        ///< section to world, by rows
  double force[3];    ///< tension, shear along y and z [N]
  double moment[3];   ///< twisting, bending about y and z [N m]
  double strain[3];   ///< stretch, shear along y and z [-]
  double bend[3];     ///< twist, bending about y and z [rad/m]
  /// How far the station has moved against the first one, as if the beam had moved as a rigid body with that, in axes of the
  /// first section [m].
  double deflection[3];
  /// Normal stress at the fibres of the outline on +z, -z, +y, -y, and the one that is largest in size [Pa]; NAN: not known.
  double stress[5];
} as_beam_state;

/// Of a station: at the end of the element behind it, of the last station before it, with what loads, weight and inertia do
/// between the nodes. Without state->vdot inertia is left out, as in equilibrium.
AS_API as_status as_model_beam_state(const as_model *model, const as_state *state, as_beam_id beam,
                                     int station, as_beam_state *out, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
