/// Lines between a point on one body and a point on another, as springs, actuators and distance joints have them.
#ifndef ALPHASTEP_ELEMENTS_LINE_H
#define ALPHASTEP_ELEMENTS_LINE_H

#include "alphastep/element.h"

/// P_a - P_b of points that are given in the axes of their bodies.
void asi_line_find(const as_element_input *in, const double *p_a, const double *p_b, double D[3]);

/// [EL.1] Whether the straight path from D_0 to D_1 passes D = 0 closely, in world axes, and the line does not turn with either body.
bool asi_line_turns_over(const as_element_input *from, const double D_0[3],
                         const as_element_input *to, const double D_1[3]);

#endif
