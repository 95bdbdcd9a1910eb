// A problem and its integrator, made and destroyed together.
#include <stddef.h>

#include "simulation.h"

as_status simulation_begin(simulation *sim, paper_problem_fn *make, const as_integrator_def *def,
                           const double *q, const double *v, as_error *error) {
  *sim = (simulation){NULL, NULL};
  as_status status = make(&sim->problem, error);
  if (status != AS_OK) return status;
  status = as_integrator_create(sim->problem, def, &sim->integrator, error);
  if (status != AS_OK) return status;
  return as_integrator_start(sim->integrator, &(as_initial){.t = 0.0, .q = q, .v = v}, NULL, error);
}

void simulation_end(simulation *sim) {
  if (sim->integrator != NULL) as_integrator_destroy(sim->integrator);
  if (sim->problem != NULL) as_problem_destroy(sim->problem);
}
