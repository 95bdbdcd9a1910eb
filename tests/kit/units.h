/// The same problem in other units: of length, mass and time.
#ifndef TESTS_UNITS_H
#define TESTS_UNITS_H

#include "alphastep/alphastep.h"

/// What one unit of the problem is in the new units: 1000 if metres become millimetres.
typedef struct units {
  double length, mass, time;
} units;

/// A problem in other units, around one whose numbers are in its own.
typedef struct units_problem units_problem;

/// Bodies may be points or rigid bodies. The problem has to stay.
units_problem *units_make(const as_problem *problem, units by);
void units_free(units_problem *p);
const as_problem *units_of(const units_problem *p);
/// The same start in the new units, until the next call.
const as_initial *units_initial(units_problem *p, const as_initial *initial);
/// Times and absolute tolerances that are given in the new units; no events.
as_integrator_def units_integrator(const units_problem *p, as_integrator_def def);
/// q, v and lambda of a state in the old units: nq, n and n_lambda numbers.
void units_back(const units_problem *p, const as_state *state, double *q, double *v,
                double *lambda);

#endif
