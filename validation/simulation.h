/// A problem and its integrator, made and destroyed together.
#ifndef ALPHASTEP_VALIDATION_SIMULATION_H
#define ALPHASTEP_VALIDATION_SIMULATION_H

#include "alphastep/integrator.h"
#include "paper_problems.h"

typedef struct simulation {
  as_problem *problem;
  as_integrator *integrator;
} simulation;

/// Makes both and starts at t = 0. End the simulation also if this fails.
as_status simulation_begin(simulation *sim, paper_problem_fn *make, const as_integrator_def *def,
                           const double *q, const double *v, as_error *error);
void simulation_end(simulation *sim);

#endif
