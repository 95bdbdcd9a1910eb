/// N four-bars in a row, of revolutes in space: N + 1 cranks and N couplers, rods of 1 m and 1 kg, parallel at all times. They lie
/// flat where the cranks are level. For tests and benchmarks.
#ifndef TESTS_FOUR_BARS_H
#define TESTS_FOUR_BARS_H

#include "alphastep/alphastep.h"

typedef struct four_bars {
  int N;
  double
      bend; ///< coupler i is at arms of the cranks, turned by (i - 1) bend: each is flat at another time [rad]
  double stiffness; ///< of a spring at the first crank, at rest where it starts [N m/rad]
  double damping;   ///< of a damper there [N m s/rad]
} four_bars;

/// With cranks at the angle psi from upright, which grows with `rate`; NULL: see the error.
as_model *four_bars_build(const four_bars *f, double psi, double rate, as_error *error);

/// One crank alone that moves like those of f: its twin, which is never flat. Its angle is that of the others plus this.
as_model *four_bars_build_twin(const four_bars *f, double psi, double rate, double *ahead,
                               as_error *error);

/// Takes psi and rate on by the time t, with one coordinate and Runge and Kutta's method.
void four_bars_move(const four_bars *f, double t, double *psi, double *rate);

/// How far the cranks are from where these say, and from how fast, over 1 m and 3.5 m/s, which is their largest speed.
double four_bars_error(const as_model *model, const as_state *state, double psi, double rate);

/// The error of the first crank's angle, or of its rate over 6 rad/s, whichever is larger.
double four_bars_angle_error(const as_model *model, const as_state *state, double psi, double rate);

#endif
