/// What a machine does: poses, joint coordinates, reactions, energies, momenta, gaps.
///
/// Every function reads a model and a state (as_integrator_state(), or a copy of it with other pointers:
/// v from as_integrator_velocity() after index-3 steps), allocates nothing and keeps nothing.
#ifndef ALPHASTEP_QUANTITIES_H
#define ALPHASTEP_QUANTITIES_H

#include "alphastep/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a body's centre of mass is and how it moves; of AS_GROUND too.
AS_API void as_model_body_motion(const as_model *model, const as_state *state, as_body_id body,
                                 as_body_motion *out);

/// A frame: its origin and axes in the world, and how they move.
typedef struct as_frame_motion {
  double position[3];         ///< [m]
  double R[9];                ///< frame to world, by rows
  double velocity[3];         ///< of the origin, world axes [m/s]
  double angular_velocity[3]; ///< world axes [rad/s]
} as_frame_motion;

AS_API as_status as_model_frame_motion(const as_model *model, const as_state *state,
                                       as_frame_id frame, as_frame_motion *out, as_error *error);

/// How many coordinates a joint has, see as_joint_kind.
AS_API int as_model_joint_coordinates(const as_model *model, as_joint_id joint);

/// A joint's coordinates [m, rad] and rates, as many numbers as it has; either may be NULL. Angles come within
/// half a turn of `near`, the coordinates when last looked at (may be the same array as `coordinates`);
/// NULL: of zero. A rotation vector's rates are the angular velocity of B against A in A's axes.
AS_API as_status as_model_coordinates(const as_model *model, const as_state *state,
                                      as_joint_id joint, const double *near, double *coordinates,
                                      double *rates, as_error *error);

/// What the first body of a joint exerts on the second, at the origin of the second frame.
typedef struct as_reaction {
  double point[3];           ///< where, world [m]
  double force[3];           ///< world axes [N]
  double torque[3];          ///< about the point, world axes [N m]
  double force_in_joint[3];  ///< in the axes of frame A
  double torque_in_joint[3]; ///< likewise
} as_reaction;

/// Of an element of your own: on its second body, about that body's centre of mass, in the axes of the first.
/// Of a gear or a rack: on its second wheel (the rack). With a tooth force at the pitch point, in the axes of the teeth: x
/// tangential, positive with the multiplier, y where they press the second wheel, z = x x y. With torques only at the
/// origin of frame B of its second joint, in the axes of A there.
AS_API as_status as_model_reaction(const as_model *model, const as_state *state, as_joint_id joint,
                                   as_reaction *out, as_error *error);

/// A force and a torque on a body.
typedef struct as_wrench {
  double force[3];  ///< world axes [N]
  double torque[3]; ///< about the centre of mass, world axes [N m]
} as_wrench;

/// What a force exerts on one of its bodies: 0 the first, 1 the second, ... Of a load: 0 its body, 1 the one that its
/// torque acts back on.
AS_API as_status as_model_force(const as_model *model, const as_state *state, as_force_id force,
                                int body, as_wrench *out, as_error *error);

/// Writes the bodies of a force, at most `most`, AS_GROUND among them; returns how many there are.
AS_API int as_model_force_bodies(const as_model *model, as_force_id force, as_body_id *body,
                                 int most);

typedef struct as_energy {
  double kinetic;   ///< [J]
  double potential; ///< of gravity, zero at the origin, and of what is elastic [J]
} as_energy;

AS_API as_status as_model_energy(const as_model *model, const as_state *state, as_energy *out,
                                 as_error *error);

/// Energy that flows, all per second [W].
typedef struct as_power {
  double dissipated; ///< in dampers, by damping in contacts and by friction
  double forces;     ///< brought in by applied forces, and by springs whose ends are moved
  double motions;    ///< brought in by prescribed motions; not known without lambda and psi: 0
} as_power;

AS_API as_status as_model_power(const as_model *model, const as_state *state, as_power *out,
                                as_error *error);

/// Adds up the work of a run by the trapezoidal rule, which is of second order as the integrator is: call
/// update with the state at the start and after every step. Then
///     kinetic + potential + dissipated - forces - motions
/// stays what it was at the start, to second order.
typedef struct as_meter {
  bool started;
  double t;          ///< when last updated [s]
  as_power power;    ///< at that time
  double dissipated; ///< so far [J]
  double forces;
  double motions;
} as_meter;

AS_API as_status as_meter_update(as_meter *meter, const as_model *model, const as_state *state,
                                 as_error *error);

typedef struct as_momentum {
  double mass;              ///< of all bodies [kg]
  double center_of_mass[3]; ///< world [m]
  double linear[3];         ///< [kg m/s]
  double angular[3];        ///< about the origin, world axes [kg m^2/s]
} as_momentum;

AS_API void as_model_momentum(const as_model *model, const as_state *state, as_momentum *out);

/// How far a joint is from holding: the largest of its rows.
typedef struct as_gap {
  double position; ///< |g| [m, or sine of an angle]
  double velocity; ///< |g'|, and |k| of velocity rows
} as_gap;

AS_API as_status as_model_gap(const as_model *model, const as_state *state, as_joint_id joint,
                              as_gap *out, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
