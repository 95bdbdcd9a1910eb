/// Joints: constraint rows between two frames, put together.
#ifndef ALPHASTEP_ELEMENTS_JOINT_H
#define ALPHASTEP_ELEMENTS_JOINT_H

#include "alphastep/model.h"
#include "base/export.h"
#include "elements/curve.h"
#include "elements/rows.h"

enum { ASI_JOINT_PARTS = 6 };

/// A joint's data. A part is one row, or three where it is ASI_ROW_POINT.
typedef struct asi_joint {
  asi_frame frame[2];
  double length;  ///< of a distance row that does not change
  double advance; ///< of a screw [m/rad]
  double offset;  ///< of a screw: displacement at angle 0 [m]
  asi_row part[ASI_JOINT_PARTS];
  int n_parts;
  asi_need need; ///< what its rows need of the origins
  bool turns;    ///< it has axes rows
} asi_joint;

/// How a frame moves against its body: p + shift along its axes, then a turn about one of them.
typedef struct asi_frame_motion {
  asi_curve_ref shift[3];
  asi_curve_ref turn;
  int turn_axis;
  double turn_sign;
} asi_frame_motion;

/// A joint with a part that moves in a given way.
typedef struct asi_moving_joint {
  asi_joint joint;
  asi_frame_motion motion[2];
  asi_curve_ref length;
} asi_moving_joint;

extern const as_element_type asi_joint_type;
extern const as_element_type asi_moving_joint_type;

/// Sets the parts of a kind (not of AS_JOINT_MOTION); returns the number of rows.
int asi_joint_compose(asi_joint *joint, as_joint_kind kind);
/// Counts rows and sets `need` and `turns`.
int asi_joint_rows(asi_joint *joint);

/// Flags by rows: f_q 12 x 12, g_q and gdot_q rows x 12; all false on entry.
void asi_joint_pattern(const asi_joint *joint, bool *f_q, bool *g_q, bool *gdot_q);

/// A frame and its derivatives at t; `store` holds 36 numbers. AS_DONE or what a curve returns.
int asi_frame_move(const asi_frame *frame, const asi_frame_motion *motion, double t, double *store,
                   asi_frame_now *now);

// ---- coordinates ------------------------------------------------------------------------------------

/// What a coordinate is.
typedef enum asi_coordinate_kind {
  ASI_COORDINATE_SHIFT,    ///< along an axis of A
  ASI_COORDINATE_ANGLE,    ///< about z of both
  ASI_COORDINATE_ANGLE_A,  ///< about x of A
  ASI_COORDINATE_ANGLE_B,  ///< about y of B
  ASI_COORDINATE_ROTATION, ///< a component of the rotation vector
  // Of teeth, not of joints:
  ASI_COORDINATE_DIRECTION, ///< in which the origin of B is seen, about z of A
  ASI_COORDINATE_HEADING    ///< of z of B, about z of A
} asi_coordinate_kind;

typedef struct asi_coordinate {
  asi_coordinate_kind kind;
  int axis;
} asi_coordinate;

/// The coordinates of a kind of joint; returns how many.
ASI_IO int asi_joint_coordinates(as_joint_kind kind, asi_coordinate out[AS_JOINT_COORDINATES]);
/// What model files call one of them; "" if there is none.
ASI_IO const char *asi_joint_coordinate_name(as_joint_kind kind, int coordinate);
ASI_IO const char *asi_joint_kind_name(as_joint_kind kind);

#endif
