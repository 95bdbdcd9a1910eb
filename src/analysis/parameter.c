/// The parameter of a sweep or a continuation: a number in the caller's memory, a held signal, or the time.
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/error.h"

as_status asi_parameter_check(const as_analysis *a, const asi_parameter *p, as_error *error) {
  if (p->set || (p->signal >= -1 && p->signal < a->problem->def.n_u)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "signal",
                  "There is no held signal u[%d]: the problem has %d.", p->signal,
                  a->problem->def.n_u);
}

double asi_parameter_time(const asi_parameter *p, double value) {
  return p->set || p->signal >= 0 ? p->t : value;
}

as_status asi_parameter_set(as_analysis *a, const asi_parameter *p, double value) {
  a->kin.mass_known = false;
  if (p->set == NULL && p->signal >= 0) a->kin.eval.u[p->signal] = value;
  if (p->set == NULL || p->set(value, p->user) == 0) return AS_OK;
  return asi_fail(a->kin.eval.error, AS_ERR_RETRY, p->t, NULL,
                  "The parameter cannot be set to %.9g.", value);
}

as_status asi_parameter_begin(as_analysis *a, asi_parameter *p, double value,
                              const as_initial *initial, as_equilibrium *found, as_error *error) {
  const size_t n_u = (size_t)a->problem->def.n_u;
  as_initial start = *initial;
  p->t = start.t;
  start.t = asi_parameter_time(p, value);
  a->kin.eval.error = error;
  if (p->set == NULL && p->signal >= 0) {
    memset(a->u_start, 0, n_u * sizeof(double));
    if (initial->u) memcpy(a->u_start, initial->u, n_u * sizeof(double));
    a->u_start[p->signal] = value;
    start.u = a->u_start;
  }
  const as_status status = asi_parameter_set(a, p, value);
  return status ? status : asi_equilibrium_from(a, &start, found, error);
}
