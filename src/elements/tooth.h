/// The part of a tooth force that is no constraint force: what presses wheels apart, and the thrust of a rack.
#ifndef ALPHASTEP_ELEMENTS_TOOTH_H
#define ALPHASTEP_ELEMENTS_TOOTH_H

#include "alphastep/element.h"
#include "elements/rows.h"

/// The teeth of two wheels on parallel axes, or of a pinion and a rack across its axis.
typedef struct asi_tooth {
  bool acts; ///< otherwise there are torques only
  bool rack;
  asi_frame
      wheel[2];  ///< z: the wheel's axis, the rack's direction; origins in the plane of the teeth
  double share;  ///< P = C_1 + share (C_2 - C_1), of wheels
  double radius; ///< P = C_1 + radius u x z_1, of a rack [m]
  double separating; ///< along e on the second wheel, by |lambda| [1/m or 1]
  double thrust;     ///< of a rack: along z_1, by lambda [1]
  double small;      ///< |lambda| below which the force along e fades [N m or N]
} asi_tooth;

/// Whether it has a force that reads the multiplier.
bool asi_tooth_reads(const asi_tooth *tooth);

/// Adds its force and tangents: f_q 12 x 12, f_lambda 12 x 1; in->read[0] is the multiplier.
void asi_tooth_evaluate(const asi_tooth *tooth, const as_element_input *in,
                        const as_element_output *out);

/// The pitch point and the axes there: x along the force of a positive multiplier on the second wheel across its axis, y
/// where the teeth press the second wheel, z = x x y.
void asi_tooth_frame(const asi_tooth *tooth, const as_element_input *in, double point[3],
                     double axis[3][3]);

#endif
