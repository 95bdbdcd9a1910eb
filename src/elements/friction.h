/// Friction in joints: Coulomb's by the joint's own reaction, and viscous.
#ifndef ALPHASTEP_ELEMENTS_FRICTION_H
#define ALPHASTEP_ELEMENTS_FRICTION_H

#include "elements/coefficient.h"
#include "elements/joint.h"

enum {
  ASI_FRICTION_PADS = 3,
  ASI_FRICTION_RATES = 3, ///< coordinates of a joint with Coulomb's friction
  ASI_LOADS = 6,          ///< force x, y, z and moment x, y, z in the axes of A
};

/// A place that rubs: what it is pressed with and how it slides.
typedef struct asi_pad {
  double press[3][ASI_LOADS];       ///< the vector of its normal force, by the joint's loads
  double lever[ASI_FRICTION_RATES]; ///< its sliding speed by each rate [m or 1]
} asi_pad;

typedef struct asi_friction {
  asi_frame frame[2];
  asi_coordinate coordinate[AS_JOINT_COORDINATES]; ///< of the joint
  double damping[AS_JOINT_COORDINATES];
  int n_coordinates;
  // Coulomb's friction:
  asi_pad pad[ASI_FRICTION_PADS];
  int n_pads;
  asi_coefficient coefficient;
  double speed;        ///< of the transition [m/s]
  double small;        ///< force below which it fades [N]
  bool in_world;       ///< the first three multipliers are a force in world axes
  int load[ASI_LOADS]; ///< which load each multiplier is
  int n_read;
} asi_friction;

extern const as_element_type asi_friction_type;

/// Sets loads and pads of a kind of joint. A pin of a radius turns in a bearing of a length (0: moments
/// are not counted) and rubs with its shoulder at `shoulder` (0: not at all).
void asi_friction_compose(asi_friction *f, as_joint_kind kind, double radius, double length,
                          double shoulder);
bool asi_friction_is_known(as_joint_kind kind);

/// Flags by rows: f_q and f_v 12 x 12, f_lambda 12 x n_read; all false on entry.
void asi_friction_pattern(const asi_friction *f, bool *f_q, bool *f_v, bool *f_lambda);

#endif
