/// A gas spring between two points: a cylinder with a piston that pushes.
#ifndef OWN_ELEMENT_GAS_SPRING_H
#define OWN_ELEMENT_GAS_SPRING_H

#include <alphastep/alphastep.h>

typedef struct gas_spring {
  double point[2][3]; ///< on each body, from its centre of mass, body axes [m]
  double force;       ///< with which it pushes at its reference length [N]
  double length;      ///< the reference length [m]
  double gas_length;  ///< length of the gas column there [m]
  double exponent;    ///< 1 isothermal, 1.4 adiabatic [-]
  double damping;     ///< of the oil [N s/m]
  double fault;       ///< 0; 1 makes a tangent wrong, to see the check find it
} gas_spring;

extern const as_element_type gas_spring_type;

#endif
