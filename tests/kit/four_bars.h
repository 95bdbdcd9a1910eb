/// N four-bars in a row, of revolutes in space: N + 1 cranks and N couplers, rods of 1 m and 1 kg, parallel at all times. They lie
/// flat where the cranks are level. For tests and benchmarks.
#ifndef TESTS_FOUR_BARS_H
#define TESTS_FOUR_BARS_H

#include "alphastep/alphastep.h"

/// With cranks at the angle psi from upright, which grows with `rate`; NULL: see the error.
as_model *four_bars_build(int N, double psi, double rate, as_error *error);

/// Takes psi and rate on by the time t: psi'' = k sin(psi), by Runge and Kutta's method.
void four_bars_move(int N, double t, double *psi, double *rate);

/// How far the cranks are from where these say, and from how fast, over 1 m and 3.5 m/s, which is their largest speed.
double four_bars_error(const as_model *model, const as_state *state, double psi, double rate);

#endif
