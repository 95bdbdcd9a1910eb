/// The part of a tooth force that is no constraint force: what presses wheels apart, the thrust of a rack, the force
/// across the apex of bevel wheels.
#ifndef ALPHASTEP_ELEMENTS_TOOTH_H
#define ALPHASTEP_ELEMENTS_TOOTH_H

#include "alphastep/element.h"
#include "elements/rows.h"

typedef enum asi_tooth_kind {
  ASI_TOOTH_NONE,   ///< torques only
  ASI_TOOTH_WHEELS, ///< on parallel axes
  ASI_TOOTH_RACK,   ///< across the axis of its pinion
  ASI_TOOTH_BEVEL,  ///< wheels whose axes meet
} asi_tooth_kind;

typedef struct asi_tooth {
  asi_tooth_kind kind;
  /// All of the force is here, and takes the place of what the row of the coupling would do, which is one of the joints'
  /// coordinates. Otherwise the row, one between the wheels, brings the part across and along the axis.
  bool whole;
  /// z: the wheel's axis, the rack's direction. Origins are on the axes in the plane of the teeth; of bevel wheels in
  /// their apex.
  asi_frame wheel[2];
  double share; ///< P = C_1 + share (C_2 - C_1), of wheels
  double
      reach; ///< P = C_1 + reach u x z_1 of a rack: the radius; P = C_1 + reach u of bevel wheels [m]
  double along
      [2]; ///< of bevel wheels: u = along_1 z_1 + along_2 z_2, the line in which their cones touch
  double apart[2]; ///< of bevel wheels: e likewise
  /// Along b, by lambda [1/m or 1]: z_1 x e of wheels, u of a rack, z_1 x z_2 of bevel wheels. If it is not the whole, only of
  /// bevel wheels, and at the apex.
  double across;
  double separating; ///< along e on the second wheel, by |lambda| [1/m or 1]
  double thrust;     ///< along z_1, of bevel wheels along u, by lambda [1 or 1/m]
  double small;      ///< |lambda| below which the force along e fades [N m or N]
} asi_tooth;

/// Whether it has a force that reads the multiplier.
bool asi_tooth_reads(const asi_tooth *tooth);

/// Adds its force and tangents, f_q in rows of `columns` numbers; in->read[0] is the multiplier.
void asi_tooth_evaluate(const asi_tooth *tooth, const as_element_input *in,
                        const as_element_output *out, int columns);

/// The pitch point and the axes there: x along the force of a positive multiplier on the second wheel across its axis, y
/// where the teeth press the second wheel, z = x x y.
void asi_tooth_frame(const asi_tooth *tooth, const as_element_input *in, double point[3],
                     double axis[3][3]);

#endif
