/// Machines: bodies, joints and forces, built into a model that is one problem of the integrator.
///
///     as_builder *b;
///     as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error);
///     as_body_def top = as_default_body_def();     // name, mass, inertia, position ...
///     as_builder_add_body(b, &top, &body, &error);
///     as_joint_def tip = as_default_joint_def();   // kind, bodies, point ...
///     as_builder_add_joint(b, &tip, &joint, &error);
///     as_model *model;
///     as_builder_build(b, &model, &error);
///     as_integrator_create(as_model_problem(model), ...);
///     as_integrator_start(integrator, as_model_initial(model), ...);
///
/// A model is const once built: it may be shared between threads and integrators. Every failure is a
/// status and a sentence that names the thing. Descriptions are copied, with what they point to.
///
/// Conventions. A body's pose takes body to world. Inertia is about the centre of mass in body axes;
/// angular velocity is in body axes, velocity is that of the centre of mass in world axes. A joint joins
/// a frame on the first body (A) with one on the second (B); its axis is z of both. Its reaction is the
/// force and torque that the first body exerts on the second, at the second frame's origin.
#ifndef ALPHASTEP_MODEL_H
#define ALPHASTEP_MODEL_H

#include <stdbool.h>

#include "alphastep/element.h"
#include "alphastep/export.h"
#include "alphastep/id.h"
#include "alphastep/integrator.h"
#include "alphastep/plugin.h"
#include "alphastep/problem.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- functions of one and two variables -------------------------------------------------------------

/// Writes value, first and second derivative at x.
typedef int as_curve_fn(double x, double out[3], void *user);

typedef enum as_interpolation {
  AS_SPLINE,   ///< cubic, two continuous derivatives: for motions
  AS_MONOTONE, ///< cubic, one continuous derivative, no overshoot: for characteristics
  AS_LINEAR, ///< straight pieces; the slope jumps at the points: for characteristics, not for motions
} as_interpolation;

/// A smooth function: by formula, by C function, by table, or constant + slope x, in this order. Beyond its ends a
/// table goes on straight.
///
/// A formula is a text, `0.1*sin(2*pi*t)`, see docs/expressions.md. The variable has the name that is said where the
/// function is used: `t` of motions and factors. Tables that were added before may be used as functions: profile(t). In
/// the function of a law t and the model's parameters may stand besides.
typedef struct as_curve {
  double constant;
  double slope;
  const double *x; ///< n increasing numbers
  const double *y;
  int n; ///< 0: no table
  as_interpolation interpolation;
  as_curve_fn *function;
  void *user;
  const char *formula; ///< NULL: none
} as_curve;

/// Writes z and its derivatives by x and by y.
typedef int as_surface_fn(double x, double y, double out[3], void *user);

/// A function of two variables: by formula, by C function, or by a table over a grid, linear or monotone. Beyond its
/// ends a table goes on straight.
typedef struct as_surface {
  const double *x; ///< nx increasing numbers
  const double *y; ///< ny increasing numbers
  const double *z; ///< z[i ny + j] at x[i], y[j]
  int nx, ny;
  as_interpolation interpolation; ///< AS_LINEAR or AS_MONOTONE
  as_surface_fn *function;
  void *user;
  const char *formula; ///< NULL: none; likewise
} as_surface;

// ---- bodies and frames ------------------------------------------------------------------------------

typedef enum as_body_kind {
  AS_BODY_RIGID,
  AS_BODY_POINT, ///< a point mass: three translations, nothing to turn
} as_body_kind;

/// What of a body's start is given, as bits.
enum {
  AS_GIVEN_POSITION = 1,
  AS_GIVEN_QUATERNION = 2,
  AS_GIVEN_VELOCITY = 4,
  AS_GIVEN_ANGULAR_VELOCITY = 8,
};

/// A body and its starting pose. Start from as_default_body_def().
typedef struct as_body_def {
  unsigned cookie;  ///< set by as_default_body_def(): leave it as it is
  const char *name; ///< unique, printable, without . and /; NULL: `body 3`
  as_body_kind kind;
  as_space_kind space; ///< AS_SPACE_R3SO3 or AS_SPACE_SE3, of a rigid body
  double mass;         ///< > 0 [kg], required
  double inertia
      [6]; ///< about the centre of mass, body axes: xx yy zz xy xz yz [kg m^2]; xx yy zz required
  double center_of_mass[3];   ///< in the body's frame [m]
  double position[3];         ///< of the body's frame in the world [m]
  double quaternion[4];       ///< body to world, w x y z
  double velocity[3];         ///< of the centre of mass, world axes [m/s]
  double angular_velocity[3]; ///< body axes [rad/s]
  /// AS_GIVEN_...: these count as given also where they are zero (a quaternion: 1, 0, 0, 0); others count as given if
  /// they are not. Velocities that are not given are found from the joints at the start; given ones are kept if that
  /// can be, and as_model_start_changes() tells if not.
  unsigned given;
  /// The body starts exactly as described here. If a joint then cannot hold, the start fails and names it.
  bool fixed;
} as_body_def;

AS_API as_body_def as_default_body_def(void);

/// A frame fixed to a body (a marker), or moved against it in a given way. From as_default_frame_def().
typedef struct as_frame_def {
  unsigned cookie;      ///< set by as_default_frame_def(): leave it as it is
  const char *name;     ///< NULL: `frame 3`
  as_body_id body;      ///< required
  bool in_world;        ///< position and quaternion are in the world at the bodies' starting pose
  double position[3];   ///< in the body's frame [m]
  double quaternion[4]; ///< frame to body
  /// Prescribed motion, functions of time [s]: shift along its axes as they are at rest [m], then a turn
  /// [rad] about its axis `turn_axis` (0 x, 1 y, 2 z). NULL: none.
  const as_curve *shift[3];
  const as_curve *turn;
  int turn_axis;
} as_frame_def;

AS_API as_frame_def as_default_frame_def(void);

// ---- joints -----------------------------------------------------------------------------------------

/// What a joint leaves free; its coordinates, in this order, are of frame B as seen from frame A.
typedef enum as_joint_kind {
  AS_JOINT_NOT_GIVEN = -1, ///< of as_default_joint_def(): it has to be said
  AS_JOINT_FIXED = 0,      ///< nothing
  AS_JOINT_REVOLUTE,       ///< angle about z
  AS_JOINT_PRISMATIC,      ///< displacement along z
  AS_JOINT_CYLINDRICAL,    ///< displacement along z, angle about z
  AS_JOINT_SPHERICAL,      ///< rotation vector
  AS_JOINT_UNIVERSAL,      ///< angle about x of A, angle about y of B
  AS_JOINT_PLANAR,         ///< displacements along x and y of A, angle about z
  AS_JOINT_POINT_ON_LINE,  ///< displacement along z of A, rotation vector
  AS_JOINT_POINT_ON_PLANE, ///< displacements along x and y of A, rotation vector
  AS_JOINT_DISTANCE,       ///< everything but the distance of the origins; no coordinates
  AS_JOINT_SCREW,          ///< displacement along z, angle about z, which go together
  /// Rotation vector, across z; both bodies turn alike about their z.
  AS_JOINT_CONSTANT_VELOCITY,
  AS_JOINT_MOTION,   ///< a joint's coordinate follows a function of time
  AS_JOINT_COUPLING, ///< coordinates of two joints go together: gears, racks
  AS_JOINT_OTHER,    ///< no coordinates: rolling, skates, elements of one's own
} as_joint_kind;

enum { AS_JOINT_COORDINATES = 5 }; ///< the most that a joint has

/// A joint between two frames; or, without frames, between two bodies at a place in the world at the
/// starting pose. From as_default_joint_def().
typedef struct as_joint_def {
  unsigned cookie;  ///< set by as_default_joint_def(): leave it as it is
  const char *name; ///< NULL: `joint 3`
  as_joint_kind kind;
  as_frame_id frame[2];   ///< on the first and the second body; AS_NO_FRAME: from what follows
  as_body_id body[2];     ///< the first may be AS_GROUND, the second too
  double point[3];        ///< [m]; of a distance joint: on the first body
  double second_point[3]; ///< of a distance joint, on the second body [m]
  double axis[3];         ///< z of both frames; of a universal joint x of A; of any length
  /// x of both frames, made perpendicular to the axis; of a universal joint y of B. All zero: any. Of a
  /// constant-velocity joint z of B. All zero: the shafts are in line.
  double second_axis[3];
  const as_curve *length; ///< of a distance joint, against time; NULL: as at the start
  /// Of a screw: how far the second body advances along z in a turn about z [m]; negative: left-handed.
  double lead;
} as_joint_def;

AS_API as_joint_def as_default_joint_def(void);

/// Makes a coordinate of a joint follow a function of time. It counts as a joint itself: its reaction is
/// the force or torque that drives.
typedef struct as_motion_def {
  unsigned cookie;     ///< set by as_default_motion_def(): leave it as it is
  const char *name;    ///< NULL: `joint 3`
  as_joint_id joint;   ///< required
  int coordinate;      ///< which one, a displacement or an angle, from 0
  const as_curve *law; ///< coordinate [m or rad] against time [s]; required
} as_motion_def;

AS_API as_motion_def as_default_motion_def(void);

// ---- rolling and skating ----------------------------------------------------------------------------

typedef enum as_rolling_shape {
  AS_ROLLING_DISK, ///< thin: it touches with its rim
  AS_ROLLING_SPHERE,
} as_rolling_shape;

/// A disk or a sphere of the second body rolls on a plane of the first without slipping. It counts as a joint: one
/// row g (it touches) and two velocity rows (it does not slip), along x and y of the plane's frame. By frames, z of the
/// first is the plane's normal, the second is at the centre and its z is a disk's axis; or by bodies and
/// what follows, in the world at the starting pose. From as_default_rolling_def().
typedef struct as_rolling_def {
  unsigned cookie;  ///< set by as_default_rolling_def(): leave it as it is
  const char *name; ///< NULL: `joint 3`
  as_rolling_shape shape;
  as_frame_id frame[2]; ///< AS_NO_FRAME: from what follows
  as_body_id body[2];   ///< of the plane, may be AS_GROUND; and of what rolls
  double point[3];      ///< of the plane [m]
  double normal[3];     ///< of the plane, to the side on which it rolls; of any length
  double direction[3];  ///< x of the plane's frame, made perpendicular to the normal; all zero: any
  double center[3];     ///< of what rolls [m]
  double axis[3];       ///< of a disk; of any length
  double radius;        ///< > 0 [m], required
} as_rolling_def;

AS_API as_rolling_def as_default_rolling_def(void);

/// A skate, or knife edge: a point of the second body moves over a plane of the first along its blade, not
/// sideways. It counts as a joint with one velocity row; what keeps it on the plane is another joint. By frames, z
/// of the first is the plane's normal, the second is at the point and its x is along the blade; or by bodies
/// and what follows, in the world at the starting pose. From as_default_skate_def().
typedef struct as_skate_def {
  unsigned cookie;      ///< set by as_default_skate_def(): leave it as it is
  const char *name;     ///< NULL: `joint 3`
  as_frame_id frame[2]; ///< AS_NO_FRAME: from what follows
  as_body_id body[2];   ///< of the plane, may be AS_GROUND; and of the blade
  double point[3];      ///< of the blade [m]
  double normal[3];     ///< of the plane; of any length
  double direction[3];  ///< of the blade; of any length
} as_skate_def;

AS_API as_skate_def as_default_skate_def(void);

// Couplings. Each lets a coordinate of one joint go with that of another, and counts as a joint itself, with one
// row. A body that both joints have is the carrier, and the other two are the wheels (or wheel and rack); if
// there is none, the second bodies of the joints are. Angles and displacements are those of the wheels as seen
// from what carries them, about and along the joints' z axes. They mesh as they are at the starting pose.

/// What teeth exchange.
typedef enum as_tooth_kind {
  AS_TOOTH_AUTOMATIC, ///< AS_TOOTH_FORCE where the pitch point is known, AS_TOOTH_TORQUE elsewhere
  /// A force at the pitch point, on both wheels: bearings, guides and frames carry it. For wheels on axes that are
  /// parallel or meet, and racks across the axis of the pinion.
  AS_TOOTH_FORCE,
  /// Torques (on a rack: a force along it), and their opposite on what carries the wheels. The axes may be anywhere.
  AS_TOOTH_TORQUE,
} as_tooth_kind;

/// The force between teeth: F_t across the line of centres, F_t tan(helix_angle) along the axis, and |F_t|
/// tan(pressure_angle)/cos(helix_angle) that presses the wheels apart. From as_default_gear_def() or as_default_rack_def().
typedef struct as_tooth_def {
  as_tooth_kind kind;
  double
      pressure_angle; ///< in the section across the teeth, 0 ... 1.5 [rad]; 20 degrees; 0: nothing presses apart
  double
      helix_angle; ///< positive: the teeth of the first wheel are right-handed; -1.5 ... 1.5 [rad]; 0
  /// Where the teeth meet, in the world at the starting pose [m]. NAN: at the origins of the joints' frames, midway
  /// along the axis; of a rack at that of the pinion. Bevel wheels need it.
  double point[3];
  double small_force; ///< F_t below which the force that presses apart fades, > 0 [N]; 1e-3
} as_tooth_def;

/// Two toothed wheels. The multiplier is the torque on the second wheel about its axis [N m].
typedef struct as_gear_def {
  unsigned cookie;      ///< set by as_default_gear_def(): leave it as it is
  const char *name;     ///< NULL: `joint 3`
  as_joint_id joint[2]; ///< with an angle about z: revolute, cylindrical, ...; required
  int teeth[2];         ///< of the first and the second wheel, > 0; required
  bool internal;        ///< they turn the same way about their axes; otherwise opposite ways
  as_tooth_def tooth;
} as_gear_def;

AS_API as_gear_def as_default_gear_def(void);

/// A pinion that moves a rack. The multiplier is the force on the rack along its axis [N].
typedef struct as_rack_def {
  unsigned cookie;    ///< set by as_default_rack_def(): leave it as it is
  const char *name;   ///< NULL: `joint 3`
  as_joint_id pinion; ///< with an angle about z: revolute, cylindrical, ...; required
  as_joint_id rack;   ///< with a displacement along z: prismatic, cylindrical, ...; required
  /// The rack's way per radian of the pinion: its pitch radius, or minus that if it goes backwards [m]; required.
  double radius;
  as_tooth_def tooth;
} as_rack_def;

AS_API as_rack_def as_default_rack_def(void);

// ---- forces -----------------------------------------------------------------------------------------

/// A spring and damper between the origins of two frames: tension
///     stiffness (l - length) + damping l' + spring(l - length) + damper(l') + law(l - length, l').
/// In formulas l is `length`, l' is `length_rate` and l - length is `deflection`.
typedef struct as_spring_def {
  unsigned cookie;      ///< set by as_default_spring_def(): leave it as it is
  const char *name;     ///< NULL: `force 3`
  as_frame_id frame[2]; ///< AS_NO_FRAME: from what follows
  as_body_id body[2];
  double point[2][3];     ///< in the world at the starting pose [m]
  double stiffness;       ///< [N/m]
  double damping;         ///< [N s/m]
  double length;          ///< unstretched, >= 0 [m]; NAN: as at the start
  const as_curve *spring; ///< tension [N] against extension [m]
  const as_curve *damper; ///< tension [N] against its rate [m/s]
  const as_surface *law;  ///< tension [N] against extension [m] and rate [m/s]
} as_spring_def;

AS_API as_spring_def as_default_spring_def(void);

/// A torsional spring and damper about z of two frames, which stays within half a turn of its angle at
/// rest: torque on the first body about z, its opposite on the second,
///     stiffness (phi - angle) + damping phi' + spring(phi - angle) + damper(phi') + law(phi - angle, phi').
/// In formulas phi is `angle`, phi' is `angle_rate` and phi - angle is `deflection`.
typedef struct as_torsion_def {
  unsigned cookie; ///< set by as_default_torsion_def(): leave it as it is
  const char *name;
  as_frame_id frame[2]; ///< AS_NO_FRAME: from what follows
  as_body_id body[2];
  double axis[3];         ///< in the world at the starting pose
  double second_axis[3];  ///< x of both frames; all zero: any
  double stiffness;       ///< [N m/rad]
  double damping;         ///< [N m s/rad]
  double angle;           ///< of B against A at rest [rad]; NAN: as at the start
  const as_curve *spring; ///< torque [N m] against angle [rad]
  const as_curve *damper; ///< torque [N m] against rate [rad/s]
  const as_surface *law;  ///< torque [N m] against angle [rad] and rate [rad/s]
} as_torsion_def;

AS_API as_torsion_def as_default_torsion_def(void);

/// A force and a torque on a body, times a function of time. The torque may have its opposite on another.
typedef struct as_load_def {
  unsigned cookie; ///< set by as_default_load_def(): leave it as it is
  const char *name;
  as_frame_id frame; ///< acts at its origin; AS_NO_FRAME: from what follows
  as_body_id body;
  double point[3];  ///< in the world at the starting pose [m]; only a force needs it
  bool follows;     ///< force and torque are in the frame's axes; otherwise in the world's
  double force[3];  ///< [N]
  double torque[3]; ///< [N m]
  /// Components by formula instead, of the time, parameters and quantities of the machine; NULL: as above. See
  /// docs/elements/actuator.md.
  const char *force_formula[3];
  const char *torque_formula[3];
  as_body_id reaction;    ///< the body that the torque acts back on; AS_NO_BODY, AS_GROUND: nobody
  const as_curve *factor; ///< of time [s]; NULL: 1
} as_load_def;

AS_API as_load_def as_default_load_def(void);

/// A force by formula along the line between two points, or along or about a coordinate of a joint: F > 0 makes the
/// distance or the coordinate grow. A formula is a text, `-200*joints.elbow.angle - 3*joints.elbow.angle_rate`: it may use t,
/// the model's parameters and tables, and quantities of the machine that depend on positions and velocities alone, by the
/// names of their channels, at most eight bodies together with those that it acts on. See docs/elements/actuator.md.
typedef struct as_actuator_def {
  unsigned cookie;      ///< set by as_default_actuator_def(): leave it as it is
  const char *name;     ///< NULL: `force 3`
  as_joint_id joint;    ///< AS_NO_JOINT: along a line
  int coordinate;       ///< of the joint, a displacement or an angle, from 0
  as_frame_id frame[2]; ///< ends of the line; AS_NO_FRAME: from what follows
  as_body_id body[2];
  double point[2][3]; ///< in the world at the starting pose [m]
  const char *force;  ///< [N, N m]; required
} as_actuator_def;

AS_API as_actuator_def as_default_actuator_def(void);

/// Friction in a joint that does not move in a given way: dry (Coulomb) and viscous, against the rates of its
/// coordinates. Dry friction of a revolute, prismatic, cylindrical or spherical joint is
///     coefficient N sliding/sqrt(sliding^2 + transition_speed^2)
/// where it rubs; N comes from the joint's own reaction, so that it is solved for together with it. See
/// docs/elements/joint-friction.md. From as_default_joint_friction_def().
typedef struct as_joint_friction_def {
  unsigned cookie;    ///< set by as_default_joint_friction_def(): leave it as it is
  const char *name;   ///< NULL: `force 3`
  as_joint_id joint;  ///< required
  double coefficient; ///< of dry friction [-]; 0: none
  /// The coefficient against the speed of sliding [m/s], `speed`, instead; where it is negative it counts as zero.
  const as_curve *coefficient_law;
  double
      radius; ///< of the pin or ball [m]; of a guide half its width, 0: torque about it does not count
  double length; ///< of the bearing or guide, its middle at B [m]; 0: bending moments do not count
  double
      shoulder_radius; ///< mean radius at which a pin's shoulder rubs [m]; 0: axial force does not count
  double transition_speed; ///< sliding speed at which friction is 0.7 of its full size [m/s]; 1e-3
  double small_force;      ///< normal force below which friction fades [N]; 1e-3
  double damping[AS_JOINT_COORDINATES]; ///< of each coordinate [N s/m or N m s]
} as_joint_friction_def;

AS_API as_joint_friction_def as_default_joint_friction_def(void);

/// A bushing: stiffness and damping in six directions between two frames that coincide when it is unloaded. Its
/// coordinates are the displacement of frame B in the axes of A and its rotation vector against A (below half a turn).
typedef struct as_bushing_def {
  unsigned cookie;      ///< set by as_default_bushing_def(): leave it as it is
  const char *name;     ///< NULL: `force 3`
  as_frame_id frame[2]; ///< AS_NO_FRAME: from what follows
  as_body_id body[2];
  double point[3];       ///< in the world at the starting pose [m]
  double axis[3];        ///< z of both frames; all zero: the world's
  double second_axis[3]; ///< x of both frames; all zero: any
  double stiffness[6];   ///< along x y z [N/m], about x y z [N m/rad]
  double damping[6];     ///< [N s/m], [N m s/rad]
  /// 6 x 6 instead, symmetric and without negative eigenvalues; NULL: the diagonals above.
  const double *stiffness_matrix;
  const double *damping_matrix;
  /// Forces and torques besides, each against its own coordinate and rate: `displacement` [m] and `displacement_rate`
  /// along x y z, `angle` [rad] and `angle_rate` about x y z. NULL: none.
  const as_surface *law[6];
} as_bushing_def;

AS_API as_bushing_def as_default_bushing_def(void);

/// A force of a plugin (alphastep/plugin.h) between two frames, in the coordinates of a bushing. From
/// as_default_plugin_force_def().
typedef struct as_plugin_force_def {
  unsigned cookie;  ///< set by as_default_plugin_force_def(): leave it as it is
  const char *name; ///< NULL: `force 3`
  const as_plugin_force
      *plugin;             ///< required; stays where it is as long as builder and models are used
  const double *parameter; ///< n_parameters; NAN: as the plugin has it; NULL: all of them
  as_frame_id frame[2];    ///< AS_NO_FRAME: from what follows
  as_body_id body[2];
  double point[3];       ///< in the world at the starting pose [m]
  double axis[3];        ///< z of both frames; all zero: the world's
  double second_axis[3]; ///< x of both frames; all zero: any
} as_plugin_force_def;

AS_API as_plugin_force_def as_default_plugin_force_def(void);

/// What stops and contacts push with, at the depth x: an elastic force E = stiffness x^exponent, times 1 + damping x'
/// while the depth grows; while it shrinks times less than one, but never negative: it does not pull. With an onset
/// the stiffness comes up smoothly over that depth: x above is then x less half the onset, beyond it.
typedef struct as_penalty {
  double stiffness; ///< > 0 [N/m^exponent, N m/rad^exponent], required unless there is a table
  double exponent;  ///< >= 1 [-]
  double damping;   ///< >= 0 [s/m, s/rad]
  double onset;     ///< >= 0 [m, rad]
  const as_curve
      *curve; ///< E [N, N m] against `depth` [m, rad] instead; zero at zero; negative: zero
  /// All of it [N, N m] against `depth` and `depth_rate` [m/s, rad/s] instead; where it is negative it counts as zero.
  const as_surface *surface;
} as_penalty;

/// Stops of a coordinate of a joint, a displacement or an angle, beyond an upper and a lower limit. An angle is looked
/// at within half a turn of the middle of the limits, or of the only one.
typedef struct as_stop_def {
  unsigned cookie; ///< set by as_default_stop_def(): leave it as it is
  const char *name;
  as_joint_id joint; ///< required
  int coordinate;    ///< which one, from 0
  double lower;      ///< [m, rad]; NAN: none
  double upper;      ///< likewise
  as_penalty law;    ///< exponent 1.5, no damping
} as_stop_def;

AS_API as_stop_def as_default_stop_def(void);

/// A sphere or a point against a plane, with friction: friction N h(s), h = s/sqrt(s^2 + slip_speed^2), against the
/// slip s where they touch. The plane's first body may be the ground; z of the first frame is its outward normal.
typedef struct as_contact_def {
  unsigned cookie; ///< set by as_default_contact_def(): leave it as it is
  const char *name;
  as_frame_id
      frame[2]; ///< of the plane, and at the centre of the sphere; AS_NO_FRAME: from what follows
  as_body_id body[2];
  double point[3];  ///< on the plane, in the world at the starting pose [m]
  double normal[3]; ///< out of the plane, of any length
  double center[3]; ///< of the sphere, in the world at the starting pose [m]
  double radius;    ///< >= 0 [m]; 0: a point
  as_penalty law;   ///< exponent 1.5, no damping
  double friction;  ///< coefficient >= 0 [-]
  /// The coefficient against the slip [m/s], `speed`, instead; where it is negative it counts as zero.
  const as_curve *friction_law;
  double slip_speed; ///< > 0 [m/s], required with friction
} as_contact_def;

AS_API as_contact_def as_default_contact_def(void);

/// An element of your own, see alphastep/element.h. From as_default_element_def().
typedef struct as_element_def {
  unsigned cookie;             ///< set by as_default_element_def(): leave it as it is
  const char *name;            ///< NULL: `force 3`
  const as_element_type *type; ///< required; must outlive the model
  as_body_id body[AS_ELEMENT_BODIES];
  int n_bodies;
  int n_rows;          ///< of constraints g(t, q)
  int n_velocity_rows; ///< of constraints k(t, q, v)
  int n_states;        ///< of its own, 0 at the start
  const void *data;    ///< data_size bytes, copied
  size_t data_size;
  bool rheonomic; ///< g or k depends on t
  bool
      forceless; ///< it writes no force, f_q only of its constraints, and f_v only if pattern.f_v is set
  /// Its force depends on the multipliers of this joint's rows g; AS_SELF: of its own; AS_NO_JOINT: of none.
  as_joint_id reads;
  as_element_pattern pattern;
  as_element_inertia_fn *inertia; ///< NULL: it has no mass
} as_element_def;

AS_API as_element_def as_default_element_def(void);

// ---- building ---------------------------------------------------------------------------------------

typedef struct as_model_def {
  double gravity[3]; ///< [m/s^2]
} as_model_def;

typedef struct as_builder as_builder;
typedef struct as_model as_model;

AS_API as_status as_builder_create(const as_model_def *def, as_builder **out, as_error *error);
AS_API void as_builder_destroy(as_builder *builder);

/// Each adds one thing and writes its id; `id` may be NULL. On failure the builder is unchanged.
AS_API as_status as_builder_add_body(as_builder *builder, const as_body_def *def, as_body_id *id,
                                     as_error *error);
AS_API as_status as_builder_add_frame(as_builder *builder, const as_frame_def *def, as_frame_id *id,
                                      as_error *error);
AS_API as_status as_builder_add_joint(as_builder *builder, const as_joint_def *def, as_joint_id *id,
                                      as_error *error);
AS_API as_status as_builder_add_motion(as_builder *builder, const as_motion_def *def,
                                       as_joint_id *id, as_error *error);
AS_API as_status as_builder_add_rolling(as_builder *builder, const as_rolling_def *def,
                                        as_joint_id *id, as_error *error);
AS_API as_status as_builder_add_skate(as_builder *builder, const as_skate_def *def, as_joint_id *id,
                                      as_error *error);

AS_API as_status as_builder_add_gear(as_builder *builder, const as_gear_def *def, as_joint_id *id,
                                     as_error *error);
AS_API as_status as_builder_add_rack(as_builder *builder, const as_rack_def *def, as_joint_id *id,
                                     as_error *error);
AS_API as_status as_builder_add_spring(as_builder *builder, const as_spring_def *def,
                                       as_force_id *id, as_error *error);
AS_API as_status as_builder_add_torsion(as_builder *builder, const as_torsion_def *def,
                                        as_force_id *id, as_error *error);
AS_API as_status as_builder_add_load(as_builder *builder, const as_load_def *def, as_force_id *id,
                                     as_error *error);
AS_API as_status as_builder_add_actuator(as_builder *builder, const as_actuator_def *def,
                                         as_force_id *id, as_error *error);
AS_API as_status as_builder_add_joint_friction(as_builder *builder,
                                               const as_joint_friction_def *def, as_force_id *id,
                                               as_error *error);

AS_API as_status as_builder_add_bushing(as_builder *builder, const as_bushing_def *def,
                                        as_force_id *id, as_error *error);
AS_API as_status as_builder_add_plugin_force(as_builder *builder, const as_plugin_force_def *def,
                                             as_force_id *id, as_error *error);
AS_API as_status as_builder_add_stop(as_builder *builder, const as_stop_def *def, as_force_id *id,
                                     as_error *error);
AS_API as_status as_builder_add_contact(as_builder *builder, const as_contact_def *def,
                                        as_force_id *id, as_error *error);
/// Whether a joint (a motion, a coupling) holds at the start; otherwise an event may activate it (as_event.active).
/// Without this it does.
AS_API as_status as_builder_set_active(as_builder *builder, as_joint_id joint, bool active,
                                       as_error *error);
/// A number that elements read while the model runs (as_element_input.u) and that an event may set (as_event.u): it
/// is one of the problem's held signals, the one of this number, and starts with `value` (as_model_initial()). The name
/// is like those of other things, and not `t`.
AS_API as_status as_builder_add_parameter(as_builder *builder, const char *name, double value,
                                          as_parameter_id *id, as_error *error);
/// Adds a table, or a C function, that formulas added later may use as a function of one number: name(x).
AS_API as_status as_builder_add_table(as_builder *builder, const char *name, const as_curve *table,
                                      as_error *error);
/// Adds a table of two variables, which must be one of points, for formulas added later: name(x, y).
AS_API as_status as_builder_add_surface(as_builder *builder, const char *name,
                                        const as_surface *table, as_error *error);
/// With constraint rows it counts as a joint, else as a force.
AS_API as_status as_builder_add_element(as_builder *builder, const as_element_def *def,
                                        as_element_id *id, as_error *error);

// ---- blocks -----------------------------------------------------------------------------------------

/// A number that a block makes, in the words of alphastep/problem.h.
typedef enum as_signal_kind {
  AS_SIGNAL_OUTPUT,  ///< y = formula, solved for together with the motion
  AS_SIGNAL_STATE,   ///< x' = formula
  AS_SIGNAL_SAMPLED, ///< u = formula at t = offset + k period, k = 0, 1, ..., and held in between
  AS_SIGNAL_HELD,    ///< u: stays as it is until a switch (as_switch_def) or an event sets it
} as_signal_kind;

/// Formulas of blocks, actuators and loads call it `blocks.BLOCK`, or `blocks.BLOCK.OUTPUT`. From as_default_signal_def().
///
/// Its own formula may depend on t, parameters, tables, quantities of the machine, accelerations and reactions too, and on
/// signals, in loops if need be. A sampled one reads them just before the sample; but of other sampled signals without a
/// delay that are sampled at the same time, and of outputs that depend on these, the new values. Its own name is what it was
/// before.
typedef struct as_signal_def {
  unsigned cookie;    ///< set by as_default_signal_def(): leave it as it is
  const char *block;  ///< required
  const char *output; ///< NULL: the block's own
  as_signal_kind kind;
  const char *formula; ///< required; NULL of a held one
  const char *unit;    ///< for channels; NULL: `-`
  double
      start; ///< of a state or a held one; of a sampled signal before its first sample takes effect
  double period; ///< of a sampled signal, required: > 0 [s]
  double offset; ///< likewise: time of the first sample [s]
  double delay;  ///< likewise: from a sample to when it takes effect, >= 0 [s]
  bool after;    ///< likewise: other samples at the same time still read what it was before
} as_signal_def;

AS_API as_signal_def as_default_signal_def(void);

/// A linear system of states x, inputs w and outputs y; matrices by rows, NULL: zeros. From as_default_linear_def().
///
///     x' = A x + B w    or at samples x+ = A x + B w         y = C x + D w
///
/// Its signals are `x1`, ... and `y1`, ... (a single output is the block's own), and of a continuous one `u1`, ..., its inputs.
typedef struct as_linear_def {
  unsigned cookie;   ///< set by as_default_linear_def(): leave it as it is
  const char *block; ///< required
  int n_states, n_inputs, n_outputs;
  const double *A, *B, *C, *D;
  const char *const *input;  ///< n_inputs formulas
  const char *const *output; ///< n_outputs names; NULL: as above
  const char *const *unit;   ///< n_outputs, of outputs; NULL: `-`
  const double *start;       ///< n_states; NULL: zeros
  double period;             ///< > 0: it is sampled; NAN: continuous [s]
  double offset, delay;      ///< as those of a signal
} as_linear_def;

AS_API as_linear_def as_default_linear_def(void);

/// A block of a plugin: its equations are C functions (alphastep/plugin.h), from a shared library or from your program.
/// From as_default_plugin_block_def(). Its signals have the names that the plugin gives its inputs, states, sampled numbers and outputs.
typedef struct as_plugin_block_def {
  unsigned cookie;   ///< set by as_default_plugin_block_def(): leave it as it is
  const char *block; ///< required
  const as_plugin_block
      *plugin;              ///< required; stays where it is as long as builder and models are used
  const char *const *input; ///< n_inputs formulas
  const double *parameter;  ///< n_parameters; NAN: as the plugin has it; NULL: all of them
  const double *start;      ///< n_states; likewise
  const double *sampled_start; ///< n_sampled; likewise
  double period;               ///< of its samples: > 0, required if there are sampled numbers [s]
  double offset, delay;        ///< as those of a signal; a delay less than the period
} as_plugin_block_def;

AS_API as_plugin_block_def as_default_plugin_block_def(void);

/// What a switch sets: a state, a sampled or a held signal of its block.
typedef struct as_setting {
  const char *output; ///< NULL: the block's own
  const char *
      formula; ///< of what there was before, but for what earlier switches of the same time have set in u
} as_setting;

/// Sets signals where a condition begins to hold: an event of the model's problem. The condition is a formula like that of a
/// signal: a comparison, a product of such, or any that is positive where it holds. It is located to round-off, also where it
/// begins to hold by a jump (by another switch, a sample, an event, at a known time), and it happens at the start if it holds
/// there. The new values count at once; a condition that they make hold happens at the same time. Where conditions make each
/// other hold without end the integration ends with AS_ERR_ZENO. From as_default_switch_def().
typedef struct as_switch_def {
  unsigned cookie;   ///< set by as_default_switch_def(): leave it as it is
  const char *block; ///< required: one that has been added
  const char *when;  ///< required
  const as_setting *set;
  int n_set; ///< 1 to 4
} as_switch_def;

AS_API as_switch_def as_default_switch_def(void);

/// Makes a signal known before it is added, so that formulas may use it. `output` may be NULL: the block's own.
AS_API as_status as_builder_declare_signal(as_builder *builder, const char *block,
                                           const char *output, as_error *error);
AS_API as_status as_builder_add_signal(as_builder *builder, const as_signal_def *def,
                                       as_signal_id *id, as_error *error);
AS_API as_status as_builder_add_linear(as_builder *builder, const as_linear_def *def,
                                       as_error *error);
AS_API as_status as_builder_add_plugin_block(as_builder *builder, const as_plugin_block_def *def,
                                             as_error *error);
AS_API as_status as_builder_add_switch(as_builder *builder, const as_switch_def *def,
                                       as_error *error);

// ---- start ------------------------------------------------------------------------------------------

/// Where a joint's coordinate is to start, besides the bodies' poses. From as_default_coordinate_def().
typedef struct as_coordinate_def {
  unsigned cookie;   ///< set by as_default_coordinate_def(): leave it as it is
  as_joint_id joint; ///< required
  int coordinate;    ///< a displacement or an angle, from 0
  double value;      ///< [m or rad]; NAN: whatever it is
  double rate;       ///< [m/s or rad/s]; NAN: likewise
} as_coordinate_def;

AS_API as_coordinate_def as_default_coordinate_def(void);

/// Notes a wanted start, for as_builder_assemble().
AS_API as_status as_builder_set_coordinate(as_builder *builder, const as_coordinate_def *def,
                                           as_error *error);

enum { AS_REDUNDANT_JOINTS = 16 };

/// What assembly found and did.
typedef struct as_assembly_report {
  double gap; ///< the largest row of a joint before, at the poses given [m, or sine of an angle]
  as_joint_id gap_joint;  ///< its joint; AS_NO_JOINT if there are no joints
  double largest_move;    ///< how far a centre of mass was moved at most [m]
  as_body_id moved_body;  ///< which one
  double velocity_change; ///< sqrt(d^T M d) of the change of the velocities
  int degrees_of_freedom; ///< velocities less the rank of the constraints
  int n_redundant;        ///< constraint rows that others imply
  int n_redundant_joints; ///< joints with such rows; the first few are
  as_joint_id redundant_joint[AS_REDUNDANT_JOINTS];
} as_assembly_report;

/// Moves the bodies' starting poses and velocities so that all joints hold at t = 0 and the wanted coordinates
/// have their values, with the least mass-weighted change. Coordinates are led to their values in small
/// steps, so that a mechanism stays in the branch it is drawn in. Motions count as joints. If it fails, the
/// sentence names the joints with the largest gaps, and the builder is unchanged. `report` may be NULL.
AS_API as_status as_builder_assemble(as_builder *builder, as_assembly_report *report,
                                     as_error *error);

/// What of a start is not as it was given.
typedef enum as_start_quantity {
  AS_START_POSITION,         ///< of the body's frame, world [m]
  AS_START_QUATERNION,       ///< body to world, w x y z
  AS_START_VELOCITY,         ///< of the centre of mass, world axes [m/s]
  AS_START_ANGULAR_VELOCITY, ///< body axes [rad/s]
  AS_START_DISPLACEMENT,     ///< of a coordinate of a superelement [m, rad]
  AS_START_RATE,             ///< likewise [m/s, rad/s]
} as_start_quantity;

enum { AS_START_JOINTS = 4 }; ///< how many joints a change names at most

typedef struct as_start_change {
  as_start_quantity quantity;
  as_body_id body;                 ///< AS_NO_BODY: of a superelement
  as_superelement_id superelement; ///< AS_NO_SUPERELEMENT: of a body
  int coordinate;                  ///< of a superelement, from 0: the one that differs most
  int n;                           ///< how many numbers: 3, of a quaternion 4, of a coordinate 1
  double given[4];                 ///< as described
  double taken[4];                 ///< at the start
  bool assembled;                  ///< as_builder_assemble() has moved it, as it was asked to
  int n_joints;                    ///< joints that contradict what was given, the worst first
  as_joint_id joint[AS_START_JOINTS];
} as_start_change;

/// What a start has changed of what was given, by more than 1e-6 of its size (of a rotation: 1e-6 rad). `state` is what
/// as_integrator_start() has come to from as_model_initial(), and `report` what it reported. Writes an array, to be
/// freed by as_start_changes_free(), and how many there are; bodies come in their order.
AS_API as_status as_model_start_changes(const as_model *model, const as_state *state,
                                        const as_start_report *report, as_start_change **out,
                                        int *n, as_error *error);
AS_API void as_start_changes_free(as_start_change *changes);
/// One sentence that says it.
AS_API void as_start_change_text(const as_model *model, const as_start_change *change, char *text,
                                 size_t size);

/// Makes the model; the builder stays as it is and may be added to and built again.
AS_API as_status as_builder_build(const as_builder *builder, as_model **out, as_error *error);
AS_API void as_model_destroy(as_model *model);

// ---- the model --------------------------------------------------------------------------------------

/// The problem that the integrator takes; it belongs to the model.
AS_API const as_problem *as_model_problem(const as_model *model);
/// The starting pose, velocities and parameters as given, at t = 0; as_integrator_start() brings them onto the constraints.
AS_API const as_initial *as_model_initial(const as_model *model);
/// From now on the model starts with the positions, states, outputs and held signals of `at`, e.g. of an equilibrium (as_analysis_state());
/// velocities stay those that were given. Only before the model is shared.
AS_API void as_model_start_elsewhere(as_model *model, const as_state *at);

AS_API int as_model_bodies(const as_model *model); ///< how many, without the ground
AS_API int as_model_joints(const as_model *model);
AS_API int as_model_forces(const as_model *model);
AS_API int as_model_frames(const as_model *model);
AS_API const char *as_model_frame_name(const as_model *model, as_frame_id frame);
/// Whether a joint or a force is attached to a frame.
AS_API bool as_model_frame_used(const as_model *model, as_frame_id frame);
/// Ids by name; AS_NO_BODY, ... if there is none.
AS_API as_body_id as_model_find_body(const as_model *model, const char *name);
AS_API as_frame_id as_model_find_frame(const as_model *model, const char *name);
AS_API as_joint_id as_model_find_joint(const as_model *model, const char *name);
AS_API as_force_id as_model_find_force(const as_model *model, const char *name);
AS_API const char *as_model_body_name(const as_model *model, as_body_id body);
AS_API const char *as_model_joint_name(const as_model *model, as_joint_id joint);
/// What had to be assumed of a joint since its description does not say it, in one sentence; false: nothing.
AS_API bool as_model_joint_remark(const as_model *model, as_joint_id joint, char *out, size_t size);
/// Whether it holds at the start.
AS_API bool as_model_joint_is_active(const as_model *model, as_joint_id joint);
/// Signals of blocks: how many, and what they are. `blocks.NAME` or `blocks.NAME.OUTPUT` is written to `text`.
/// The events of plugins' blocks, of which `out` (NULL: only to be counted) has room for all: to be put among
/// as_integrator_def.events. They belong to the model. Runs of alphastep/results.h add them by themselves.
AS_API int as_model_events(const as_model *model, as_event_def *out);
AS_API int as_model_signals(const as_model *model);
AS_API void as_model_signal_name(const as_model *model, as_signal_id signal, char *text,
                                 size_t size);
AS_API as_signal_kind as_model_signal_kind(const as_model *model, as_signal_id signal);
AS_API const char *as_model_signal_unit(const as_model *model, as_signal_id signal);
/// `output` NULL: the block's own. AS_NO_SIGNAL: there is none.
AS_API as_signal_id as_model_find_signal(const as_model *model, const char *block,
                                         const char *output);
AS_API int as_model_signal_place(const as_model *model,
                                 as_signal_id signal); ///< in y, x or u, by its kind
AS_API double as_model_signal_value(const as_model *model, const as_state *state,
                                    as_signal_id signal);
/// The algebraic loop that an output is in: outputs with the same number depend on each other at once; -1: in none.
AS_API int as_model_signal_loop(const as_model *model, as_signal_id signal);

AS_API int as_model_parameters(const as_model *model);
AS_API as_parameter_id as_model_find_parameter(const as_model *model, const char *name);
AS_API const char *as_model_parameter_name(const as_model *model, as_parameter_id parameter);
AS_API const char *as_model_force_name(const as_model *model, as_force_id force);
/// Where a body's numbers stand in q and v, and a joint's rows in lambda; -1 if there is no such thing.
AS_API int as_model_body_q(const as_model *model, as_body_id body);
AS_API int as_model_body_v(const as_model *model, as_body_id body);
AS_API int as_model_joint_row(const as_model *model, as_joint_id joint);
AS_API int as_model_joint_rows(const as_model *model, as_joint_id joint); ///< how many
/// Where a joint's velocity rows stand in psi, and how many it has.
AS_API int as_model_joint_velocity_row(const as_model *model, as_joint_id joint);
AS_API int as_model_joint_velocity_rows(const as_model *model, as_joint_id joint);
/// The joint that a row belongs to, e.g. one that as_start_report calls redundant: rows of g, then those of k.
AS_API as_joint_id as_model_row_joint(const as_model *model, int row);

#ifdef __cplusplus
}
#endif

#endif
