// The experiments with the SOI2 method of
//
// - Jay, Negrut, "A second order extension of the generalized-alpha method for constrained systems in
//   mechanics", 2008: steps that alternate between H/3 and 2H/3, with and without their corrections
//   (15) and (16) for steps that change;
// - Jay, "Convergence of the generalized-alpha method for constrained systems in mechanics with
//   nonholonomic constraints", 2011: constant steps.
//
// rho_inf = 0.2 unless a row says otherwise. Both print no numbers, only figures. Errors are 2-norms over the
// components at the end of the run, or maxima over its steps; a_n stands for the acceleration at t_n + D h,
// D = alpha_m - alpha_f, with the last step h. The first a is v'_0 unless a row says otherwise.
//
// How fast an error of the first a is forgotten is seen in the difference of two runs, one from v'_0 and one from
// v'_0 + D h v''_0.
#include <math.h>
#include <stddef.h>

#include "alphastep/alphastep.h"
#include "paper_jay.h"
#include "paper_problems.h"
#include "simulation.h"

static const double RHO_INF = 0.2;

/// The 2-norm of x - y.
static double distance(int n, const double *x, const double *y) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

static as_status find_coefficients(const jay_setting *s, as_coefficients *c, as_error *error) {
  if (s->hht != 0.0) return as_coefficients_hht(s->hht, c, error);
  return as_coefficients_chung_hulbert(s->rho_inf != 0.0 ? s->rho_inf : RHO_INF, c, error);
}

/// End the simulation also if this fails.
static as_status begin(simulation *sim, const jay_setting *s, const double *q, const double *v,
                       as_error *error) {
  *sim = (simulation){NULL, NULL};
  as_integrator_def def = as_default_integrator_def();
  as_status status = find_coefficients(s, &def.coefficients, error);
  if (status != AS_OK) return status;
  def.method = AS_METHOD_SOI2;
  def.step = s->step;
  def.step_corrections = s->corrections;
  def.improved_start = s->first == SHIFTED;
  def.soi2.implicit_start = s->first == IMPLICIT;
  def.soi2.reevaluate_mass = s->reevaluate;
  if (s->to > 0) { // differences of runs have to be resolved
    def.newton.rtol = 1e-14;
    def.newton.atol = 1e-15;
  }
  return simulation_begin(sim, s->problem, &def, q, v, error);
}

/// A step h, or the two steps that make H.
static as_status advance(simulation *sim, const jay_setting *s, as_error *error) {
  if (!s->alternating) return as_integrator_step(sim->integrator, s->step, error);
  as_status status = as_integrator_step(sim->integrator, s->step / 3.0, error);
  if (status != AS_OK) return status;
  return as_integrator_step(sim->integrator, 2.0 * s->step / 3.0, error);
}

/// Runs from t = 0 to t_end. End the simulation also if this fails.
static as_status simulate(simulation *sim, const jay_setting *s, const double *q, const double *v,
                          double t_end, as_error *error) {
  as_status status = begin(sim, s, q, v, error);
  int n = (int)lround(t_end / s->step);
  for (int i = 0; i < n && status == AS_OK; i++) status = advance(sim, s, error);
  return status;
}

/// The errors now, of the problems with the motion q = (exp(t), exp(-2t)).
static void find_errors(const simulation *sim, const jay_setting *s, const as_coefficients *c,
                        double *out) {
  const as_state *state = as_integrator_state(sim->integrator);
  double last = s->alternating ? 2.0 * s->step / 3.0 : s->step;
  double q[2], v[2], a[2];
  exponential_coordinates(state->t + (c->alpha_m - c->alpha_f) * last, q, v, a);
  out[A] = distance(2, state->a, a);
  exponential_coordinates(state->t, q, v, a);
  out[A_AT_T] = distance(2, state->a, a);
  out[Y] = distance(2, state->q, q);
  out[Z] = distance(2, state->v, v);
  if (s->problem == exponential_problem) {
    out[LAMBDA] = fabs(state->lambda[0] - exp(-state->t));
    out[PSI] = fabs(state->psi[0] - exp(state->t));
  } else {
    out[PSI] = fabs(state->psi[0] - exp(-state->t));
  }
}

/// The errors at t = 1.
as_status jay_errors(const void *data, double *out, as_error *error) {
  const jay_setting *s = data;
  as_coefficients c;
  as_status status = find_coefficients(s, &c, error);
  if (status != AS_OK) return status;
  double q[2], v[2], a[2];
  exponential_coordinates(0.0, q, v, a);
  simulation sim;
  status = simulate(&sim, s, q, v, 1.0, error);
  if (status == AS_OK) find_errors(&sim, s, &c, out);
  simulation_end(&sim);
  return status;
}

/// The largest errors over the steps up to t_end.
as_status jay_largest(const void *data, double *out, as_error *error) {
  const jay_setting *s = data;
  as_coefficients c;
  as_status status = find_coefficients(s, &c, error);
  if (status != AS_OK) return status;
  double q[2], v[2], a[2], now[PAPER_OUTPUTS] = {0.0};
  exponential_coordinates(0.0, q, v, a);
  simulation sim;
  status = begin(&sim, s, q, v, error);
  int n = (int)lround((s->t_end > 0.0 ? s->t_end : 1.0) / s->step);
  for (int k = 0; k < PAPER_OUTPUTS; k++) out[k] = 0.0;
  for (int i = 0; i < n && status == AS_OK; i++) {
    status = advance(&sim, s, error);
    if (status != AS_OK) break;
    find_errors(&sim, s, &c, now);
    for (int k = 0; k < PAPER_OUTPUTS; k++) out[k] = fmax(out[k], now[k]);
  }
  simulation_end(&sim);
  return status;
}

/// |x_n - x~_n| of a, lambda or psi, where x starts from v'_0 and x~ from v'_0 + D h v''_0, after each step.
static as_status find_differences(const jay_setting *s, double *difference, as_error *error) {
  double q[2], v[2], a[2];
  exponential_coordinates(0.0, q, v, a);
  jay_setting shifted = *s;
  shifted.first = SHIFTED;
  simulation plain, other = {NULL, NULL};
  as_status status = begin(&plain, s, q, v, error);
  if (status == AS_OK) status = begin(&other, &shifted, q, v, error);
  for (int i = 0; i < s->to && status == AS_OK; i++) {
    status = advance(&plain, s, error);
    if (status == AS_OK) status = advance(&other, s, error);
    if (status != AS_OK) break;
    const as_state *x = as_integrator_state(plain.integrator);
    const as_state *y = as_integrator_state(other.integrator);
    switch (s->output) {
    case LAMBDA: difference[i] = distance(1, x->lambda, y->lambda); break;
    case PSI: difference[i] = distance(1, x->psi, y->psi); break;
    default: difference[i] = distance(2, x->a, y->a); break;
    }
  }
  simulation_end(&plain);
  simulation_end(&other);
  return status;
}

/// The factor by which such a difference becomes smaller in a step, the geometric mean over some steps.
as_status jay_forgetting(const void *data, double *out, as_error *error) {
  const jay_setting *s = data;
  double difference[PAPER_POINTS];
  as_status status = find_differences(s, difference, error);
  if (status != AS_OK) return status;
  out[0] = pow(difference[s->to - 1] / difference[s->from - 1], 1.0 / (s->to - s->from));
  return AS_OK;
}

as_status jay_trace_forgetting(const void *data, int output, double *t, double *out, int *n,
                               as_error *error) {
  const jay_setting *s = data;
  as_coefficients c;
  as_status status = find_coefficients(s, &c, error);
  if (status != AS_OK) return status;
  double difference[PAPER_POINTS];
  status = find_differences(s, difference, error);
  if (status != AS_OK) return status;
  double rate = output == BY_ALPHA_M ? fabs(c.alpha_m / (1.0 - c.alpha_m))
                : output == BY_GAMMA ? fabs(1.0 - 1.0 / c.gamma)
                                     : fabs(c.alpha_f / (1.0 - c.alpha_f));
  for (*n = 0; *n < s->to; ++*n) {
    t[*n] = *n + 1;
    out[*n] = output == MEASURED ? log10(difference[*n] / difference[0]) : *n * log10(rate);
  }
  return AS_OK;
}

/// The rolling disk, at t = 10.
as_status jay_disk(const void *data, double *out, as_error *error) {
  const double t_end = 10.0;
  disk_motion reference = disk_start();
  double q[5], v[5], psi[2];
  disk_coordinates(&reference, q, v);
  double energy = disk_energy(q, v);
  simulation sim;
  as_status status = simulate(&sim, data, q, v, t_end, error);
  if (status == AS_OK) {
    const as_state *state = as_integrator_state(sim.integrator);
    disk_advance(&reference, t_end);
    disk_coordinates(&reference, q, v);
    disk_multipliers(&reference, psi);
    out[Y] = distance(5, state->q, q);
    out[Z] = distance(5, state->v, v);
    out[PSI] = distance(2, state->psi, psi);
    out[ENERGY] = fabs(disk_energy(state->q, state->v) - energy);
  }
  simulation_end(&sim);
  return status;
}

/// The energy over time, less that at the start.
as_status jay_trace_energy(const void *data, int output, double *t, double *out, int *n,
                           as_error *error) {
  (void)output; // there is only one
  const jay_setting *s = data;
  disk_motion start = disk_start();
  double q[5], v[5];
  disk_coordinates(&start, q, v);
  double energy = disk_energy(q, v);
  simulation sim;
  as_status status = begin(&sim, s, q, v, error);
  int steps = (int)lround(10.0 / s->step);
  int stride = 1 + steps / (PAPER_POINTS / 2);
  *n = 0;
  for (int i = 0; i <= steps && status == AS_OK; i++) {
    if (i > 0) status = advance(&sim, s, error);
    if (status != AS_OK || i % stride != 0) continue;
    const as_state *state = as_integrator_state(sim.integrator);
    t[*n] = state->t;
    out[*n] = disk_energy(state->q, state->v) - energy;
    ++*n;
  }
  simulation_end(&sim);
  return status;
}
