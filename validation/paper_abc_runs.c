// The experiments of Arnold, Bruels, Cardona, "Error analysis of generalized-alpha Lie group time
// integration methods for constrained mechanical systems", Numer. Math., 2014.
//
// Their subject is the transient phase of the multipliers. With exact starting values the index-3
// method makes an error of lambda that follows
//
//     E_{n+1} = T+^-1 T0 E_n,   E_0 = O(h)
//
//     T+ = [ 0  0          -beta      ]     T0 = [ 1   0         1/2 - beta ]
//          [ 1  0          -gamma     ]          [ 1   0         1 - gamma  ]      their (46)
//          [ 0  1-alpha_f   1-alpha_m ]          [ 0  -alpha_f   -alpha_m   ]
//
// and whose powers grow before they decay: lambda oscillates. Perturbed starting values (their (56)
// and (57)) or the stabilized index-2 form avoid it.
//
// Errors are 2-norms over the components, and maxima over mesh points t_1, t_2, ...
#include <math.h>
#include <stddef.h>

#include "alphastep/alphastep.h"
#include "paper_abc.h"
#include "paper_problems.h"
#include "papers.h"
#include "simulation.h"

// ---- shared by the simulations

static as_status begin(simulation *sim, paper_problem_fn *make, const abc_setting *s,
                       const double *q, const double *v, as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  def.method = s->variant == INDEX2 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
  def.step = s->step;
  def.rho_inf = s->rho_inf;
  def.improved_start = s->variant == SHIFTED || s->variant == PERTURBED;
  def.perturbed_start = s->variant == PERTURBED;
  if (s->loose) {
    def.newton.rtol = 1e-6;
    def.newton.atol *= 100.0;
  }
  return simulation_begin(sim, make, &def, q, v, error);
}

/// The larger of a maximum so far and a new value; a NAN stays.
static double larger(double most, double x) { return isnan(most) || most >= x ? most : x; }

static double norm3(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

// ---- the recursion of the multipliers

/// E <- T+^-1 T0 E
static void amplify(const as_coefficients *c, double *e) {
  double r0 = e[0] + (0.5 - c->beta) * e[2];
  double r1 = e[0] + (1.0 - c->gamma) * e[2];
  double r2 = -c->alpha_f * e[1] - c->alpha_m * e[2];
  e[2] = -r0 / c->beta;
  e[0] = r1 + c->gamma * e[2];
  e[1] = (r2 - (1.0 - c->alpha_m) * e[2]) / (1.0 - c->alpha_f);
}

/// The 2-norm of a 3 x 3 matrix given by its columns: the root of the largest eigenvalue of its
/// Gram matrix S, in closed form: tr S/3 + 2 p cos(acos(det((S - tr S/3)/p)/2)/3).
static double norm33(double column[3][3]) {
  double s[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      s[i][j] = 0.0;
      for (int k = 0; k < 3; k++) s[i][j] += column[i][k] * column[j][k];
    }
  }
  double mean = (s[0][0] + s[1][1] + s[2][2]) / 3.0;
  double square = 0.0;
  for (int i = 0; i < 3; i++) {
    s[i][i] -= mean;
    for (int j = 0; j < 3; j++) square += s[i][j] * s[i][j];
  }
  double p = sqrt(square / 6.0);
  if (p == 0.0) return sqrt(mean);
  double det = s[0][0] * (s[1][1] * s[2][2] - s[1][2] * s[2][1]) -
               s[0][1] * (s[1][0] * s[2][2] - s[1][2] * s[2][0]) +
               s[0][2] * (s[1][0] * s[2][1] - s[1][1] * s[2][0]);
  double cosine = fmax(-1.0, fmin(1.0, 0.5 * det / (p * p * p)));
  return sqrt(mean + 2.0 * p * cos(acos(cosine) / 3.0));
}

/// The recursion of the stabilized index-2 form for (e_lambda, e_a), their (59), likewise; e[0] is not used.
static void amplify_index2(const as_coefficients *c, double *e) {
  double r1 = (1.0 - c->gamma) * e[2];
  double r2 = -c->alpha_f * e[1] - c->alpha_m * e[2];
  e[2] = -r1 / c->gamma;
  e[1] = (r2 - (1.0 - c->alpha_m) * e[2]) / (1.0 - c->alpha_f);
}

enum { POWERS = 1000 }; // for rho_inf = 0.99 the largest norm is at n = 151

as_status abc_amplification(const void *data, double *out, as_error *error) {
  const abc_setting *s = data;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(s->rho_inf, &c, error);
  if (status != AS_OK) return status;
  double column[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  for (int i = 0; i < PAPER_OUTPUTS; i++) out[i] = 0.0;
  for (int n = 1; n <= POWERS; n++) {
    for (int j = 0; j < 3; j++) {
      amplify(&c, column[j]);
      out[ROW_1 + j] = larger(out[ROW_1 + j], fabs(column[j][1]));
    }
    double norm = norm33(column);
    if (norm > out[GROWTH]) out[GROWTH_STEP] = n;
    out[GROWTH] = larger(out[GROWTH], norm);
    out[JORDAN] = larger(out[JORDAN], 0.5 * n * (n - 1.0) * pow(s->rho_inf, n - 2.0));
  }
  return AS_OK;
}

/// The eigenvalues of the triangular recursion, and of the tangential part of a, are -(1 - gamma)/gamma,
/// -alpha_f/(1 - alpha_f) and -alpha_m/(1 - alpha_m).
as_status abc_index2_amplification(const void *data, double *out, as_error *error) {
  const abc_setting *s = data;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(s->rho_inf, &c, error);
  if (status != AS_OK) return status;
  double column[3][3] = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  out[GROWTH] = 0.0;
  for (int n = 1; n <= POWERS; n++) {
    for (int j = 1; j < 3; j++) amplify_index2(&c, column[j]);
    out[GROWTH] = larger(out[GROWTH], norm33(column));
  }
  out[RADIUS] = fmax(fabs(1.0 - 1.0 / c.gamma), fabs(c.alpha_m / (1.0 - c.alpha_m)));
  out[RADIUS] = fmax(out[RADIUS], fabs(c.alpha_f / (1.0 - c.alpha_f)));
  return AS_OK;
}

static double fitted(double rho_inf) { return 0.9 / (1.0 - sqrt(sqrt(rho_inf))); }

/// For rho_inf = 0.300, 0.301, ..., 0.990: the error has kinks, where the largest norm moves from one n to the next.
as_status abc_trace_fit(const void *data, int output, double *t, double *out, int *n,
                        as_error *error) {
  (void)data;
  *n = 0;
  for (int thousandth = 300; thousandth <= 990; thousandth++) {
    abc_setting s = {.rho_inf = thousandth / 1000.0};
    double numbers[PAPER_OUTPUTS];
    as_status status = abc_amplification(&s, numbers, error);
    if (status != AS_OK) return status;
    t[*n] = s.rho_inf;
    switch (output) {
    case TRACE_NORM: out[*n] = numbers[GROWTH]; break;
    case TRACE_FORMULA: out[*n] = 100.0 * fabs(fitted(s.rho_inf) / numbers[GROWTH] - 1.0); break;
    default: out[*n] = 3.0; break;
    }
    ++*n;
  }
  return AS_OK;
}

as_status abc_fit(const void *data, double *out, as_error *error) {
  double rho[PAPER_POINTS], norm[PAPER_POINTS];
  int n;
  as_status status = abc_trace_fit(data, TRACE_NORM, rho, norm, &n, error);
  out[0] = 0.0;
  for (int i = 0; i < n; i++) out[0] = larger(out[0], fabs(fitted(rho[i]) / norm[i] - 1.0));
  return status;
}

as_status abc_trace_amplification(const void *data, int output, double *t, double *out, int *n,
                                  as_error *error) {
  const abc_setting *s = data;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(s->rho_inf, &c, error);
  if (status != AS_OK) return status;
  bool index3 = output == TRACE_INDEX3;
  double column[3][3] = {{index3 ? 1.0 : 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  for (*n = 0; *n < 80; ++*n) {
    t[*n] = *n;
    out[*n] = norm33(column);
    for (int j = 0; j < 3; j++) (index3 ? amplify : amplify_index2)(&c, column[j]);
  }
  return AS_OK;
}

// ---- the pendulum

/// The error of lambda, exact less numerical, at the mesh points t_0, t_1, ... up to t_end.
as_status abc_trace_pendulum(const void *data, int output, double *t, double *out, int *n,
                             as_error *error) {
  (void)output; // there is only one
  const abc_setting *s = data;
  pendulum_motion reference = pendulum_start(s->x0);
  double q[2], v[2];
  pendulum_coordinates(&reference, q, v);
  simulation sim;
  as_status status = begin(&sim, pendulum_problem, s, q, v, error);
  int steps = (int)lround(s->t_end / s->step);
  *n = 0;
  for (int i = 0; i <= steps && *n < PAPER_POINTS && status == AS_OK; i++) {
    if (i > 0) {
      status = as_integrator_step(sim.integrator, s->step, error);
      if (status != AS_OK) break;
      pendulum_advance(&reference, s->step);
    }
    const as_state *state = as_integrator_state(sim.integrator);
    t[*n] = state->t;
    out[*n] = pendulum_multiplier(&reference) - state->lambda[0];
    ++*n;
  }
  simulation_end(&sim);
  return status;
}

as_status abc_pendulum(const void *data, double *out, as_error *error) {
  double t[PAPER_POINTS], e[PAPER_POINTS];
  int n;
  as_status status = abc_trace_pendulum(data, 0, t, e, &n, error);
  out[PENDULUM_LAMBDA] = out[PENDULUM_STEP] = out[PENDULUM_LATER] = 0.0;
  for (int i = 1; i < n; i++) {
    if (fabs(e[i]) > out[PENDULUM_LAMBDA]) out[PENDULUM_STEP] = i;
    out[PENDULUM_LAMBDA] = larger(out[PENDULUM_LAMBDA], fabs(e[i]));
    if (i > 100) out[PENDULUM_LATER] = larger(out[PENDULUM_LATER], fabs(e[i]));
  }
  return status;
}

as_status abc_trace_energy(const void *data, int output, double *t, double *out, int *n,
                           as_error *error) {
  (void)output; // there is only one
  const abc_setting *s = data;
  const double gravity = 9.81, first = 0.5 - gravity;
  pendulum_motion start = pendulum_start(s->x0);
  double q[2], v[2];
  pendulum_coordinates(&start, q, v);
  simulation sim;
  as_status status = begin(&sim, pendulum_problem, s, q, v, error);
  int steps = (int)lround(s->t_end / s->step);
  int stride = steps > 500 ? steps / 500 : 1;
  *n = 0;
  for (int i = 1; i <= steps && status == AS_OK; i++) {
    status = as_integrator_step(sim.integrator, s->step, error);
    if (status != AS_OK || i % stride != 0) continue;
    const as_state *state = as_integrator_state(sim.integrator);
    double kinetic = 0.5 * (state->v[0] * state->v[0] + state->v[1] * state->v[1]);
    t[*n] = state->t;
    out[*n] = kinetic + gravity * state->q[1] - first;
    ++*n;
  }
  simulation_end(&sim);
  return status;
}

as_status abc_energy(const void *data, double *out, as_error *error) {
  double t[PAPER_POINTS], change[PAPER_POINTS] = {0.0};
  int n = 0;
  as_status status = abc_trace_energy(data, 0, t, change, &n, error);
  if (n > 0) out[0] = -change[n - 1];
  return status;
}

// ---- q = t^3

/// The error of lambda, or the second row of (T+^-1 T0)^n E_0, errors being exact minus numerical values.
///
/// v'' = 6 is constant, so that the shifted start has a_0 = v'(t_0 + D h) without error, and what
/// is left in E_0 is the local error of q, (1 - 6 beta - 3 D) h v''/6.
as_status abc_trace_cubic(const void *data, int output, double *t, double *out, int *n,
                          as_error *error) {
  const abc_setting *s = data;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(s->rho_inf, &c, error);
  if (status != AS_OK) return status;
  double shift = c.alpha_m - c.alpha_f;
  double e[3] = {(1.0 - 6.0 * c.beta - 3.0 * shift) * s->step, 0.0, 0.0};
  simulation sim;
  const double zero = 0.0;
  status = begin(&sim, cubic_problem, s, &zero, &zero, error);
  int steps = (int)lround(s->t_end / s->step);
  for (*n = 0; *n < steps && *n < PAPER_POINTS && status == AS_OK; ++*n) {
    status = as_integrator_step(sim.integrator, s->step, error);
    if (status != AS_OK) break;
    amplify(&c, e);
    const as_state *state = as_integrator_state(sim.integrator);
    t[*n] = *n + 1;
    out[*n] = output == TRACE_RECURSION ? e[1] : cubic_multiplier(state->t) - state->lambda[0];
  }
  simulation_end(&sim);
  return status;
}

as_status abc_cubic(const void *data, double *out, as_error *error) {
  double t[PAPER_POINTS], e[PAPER_POINTS] = {0.0}, theory[PAPER_POINTS] = {0.0};
  int n = 0;
  as_status status = abc_trace_cubic(data, TRACE_ERROR, t, e, &n, error);
  if (status == AS_OK) status = abc_trace_cubic(data, TRACE_RECURSION, t, theory, &n, error);
  out[0] = 0.0;
  for (int i = 0; i < n && status == AS_OK; i++) out[0] = larger(out[0], fabs(e[i] - theory[i]));
  return status;
}

// ---- the heavy top

as_status abc_top(const void *data, double *out, as_error *error) {
  const abc_setting *s = data;
  top_motion reference = top_start();
  double q[7], v[6];
  top_coordinates(&reference, q, v);
  simulation sim;
  as_status status = begin(&sim, top_problem, s, q, v, error);
  int steps = (int)lround(s->t_end / s->step);
  int later = (int)lround(0.1 / s->step) + 1;
  for (int i = 0; i < PAPER_OUTPUTS; i++) out[i] = 0.0;
  for (int n = 1; n <= steps && status == AS_OK; n++) {
    status = as_integrator_step(sim.integrator, s->step, error);
    if (status != AS_OK) break;
    top_advance(&reference, s->step);
    const as_state *state = as_integrator_state(sim.integrator);
    double e[3];
    top_multipliers(&reference, e);
    for (int i = 0; i < 3; i++) e[i] -= state->lambda[i];
    if (n <= 60) {
      if (norm3(e) > out[TRANSIENT_LAMBDA]) out[TRANSIENT_STEP] = n;
      out[TRANSIENT_LAMBDA] = larger(out[TRANSIENT_LAMBDA], norm3(e));
    }
    if (n >= later) {
      out[LATER_LAMBDA] = larger(out[LATER_LAMBDA], norm3(e));
      out[LATER_Q] = larger(out[LATER_Q], top_distance(state->q, &reference));
      if (state->eta != NULL) out[LATER_ETA] = larger(out[LATER_ETA], norm3(state->eta));
    }
  }
  simulation_end(&sim);
  return status;
}

/// The end of a run alone.
as_status abc_top_end(const void *data, double *out, as_error *error) {
  const abc_setting *s = data;
  top_motion start = top_start();
  double q[7], v[6];
  top_coordinates(&start, q, v);
  simulation sim;
  as_status status = begin(&sim, top_problem, s, q, v, error);
  int steps = (int)lround(s->t_end / s->step);
  for (int n = 1; n <= steps && status == AS_OK; n++)
    status = as_integrator_step(sim.integrator, s->step, error);
  if (status == AS_OK) {
    const as_state *state = as_integrator_state(sim.integrator);
    out[END_X3] = state->q[2];
    for (int i = 0; i < 3; i++) out[END_LAMBDA + i] = state->lambda[i];
  }
  simulation_end(&sim);
  return status;
}

as_status abc_top_loose(const void *data, double *out, as_error *error) {
  abc_setting s = *(const abc_setting *)data;
  double usual[PAPER_OUTPUTS], loose[PAPER_OUTPUTS];
  as_status status = abc_top(&s, usual, error);
  if (status != AS_OK) return status;
  s.loose = true;
  status = abc_top(&s, loose, error);
  out[0] = loose[LATER_LAMBDA] / usual[LATER_LAMBDA];
  return status;
}

/// At every step, or at every second, third, ... one if there are too many.
as_status abc_trace_top(const void *data, int output, double *t, double *out, int *n,
                        as_error *error) {
  const abc_setting *s = data;
  top_motion reference = top_start();
  double q[7], v[6];
  top_coordinates(&reference, q, v);
  simulation sim;
  as_status status = begin(&sim, top_problem, s, q, v, error);
  int steps = (int)lround(s->t_end / s->step);
  int stride = 1 + steps / PAPER_POINTS;
  *n = 0;
  for (int i = 1; i <= steps && status == AS_OK; i++) {
    status = as_integrator_step(sim.integrator, s->step, error);
    if (status != AS_OK) break;
    top_advance(&reference, s->step);
    if (i % stride != 0) continue;
    const as_state *state = as_integrator_state(sim.integrator);
    double exact[3];
    top_multipliers(&reference, exact);
    t[*n] = state->t;
    switch (output) {
    case TRACE_LAMBDA: out[*n] = state->lambda[2]; break;
    case TRACE_REFERENCE: out[*n] = exact[2]; break;
    case TRACE_X3: out[*n] = state->q[2]; break;
    case TRACE_LAMBDA_1: out[*n] = state->lambda[0]; break;
    case TRACE_LAMBDA_2: out[*n] = state->lambda[1]; break;
    default: out[*n] = norm3(state->eta); break;
    }
    ++*n;
  }
  simulation_end(&sim);
  return status;
}
