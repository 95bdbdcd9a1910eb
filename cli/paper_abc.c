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
#include "paper_problems.h"
#include "papers.h"
#include "simulation.h"

/// The method and how it starts.
typedef enum variant {
  PLAIN,     ///< index-3 from v_0 = v(t_0), a_0 = v'(t_0)
  SHIFTED,   ///< index-3 from v_0 = v(t_0), a_0 = v'(t_0) + D h v''(t_0)
  PERTURBED, ///< index-3 with v_0 perturbed as well
  INDEX2,    ///< stabilized index-2 from v_0 = v(t_0), a_0 = v'(t_0)
} variant;

typedef struct setting {
  variant variant;
  double rho_inf; ///< [-]
  double step;    ///< h [s]
  double t_end;   ///< [s]
  double x0;      ///< the pendulum's first coordinate at the start [m]
} setting;

// ---- shared by the simulations

static as_status begin(simulation *sim, paper_problem_fn *make, const setting *s, const double *q,
                       const double *v, as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  def.method = s->variant == INDEX2 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
  def.step = s->step;
  def.rho_inf = s->rho_inf;
  def.improved_start = s->variant == SHIFTED || s->variant == PERTURBED;
  def.perturbed_start = s->variant == PERTURBED;
  return simulation_begin(sim, make, &def, q, v, error);
}

/// The larger of a maximum so far and a new value; a NAN stays.
static double larger(double most, double x) { return isnan(most) || most >= x ? most : x; }

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

/// max over n of the 2-norm of (T+^-1 T0)^n.
static as_status measure_amplification(const void *data, double *out, as_error *error) {
  const setting *s = data;
  enum { POWERS = 1000 }; // the maximum is reached at n = 151 for rho_inf = 0.99
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(s->rho_inf, &c, error);
  if (status != AS_OK) return status;
  double column[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  out[0] = 0.0;
  for (int n = 1; n <= POWERS; n++) {
    for (int j = 0; j < 3; j++) amplify(&c, column[j]);
    out[0] = larger(out[0], norm33(column));
  }
  return AS_OK;
}

// ---- the pendulum

/// The error of lambda, exact less numerical, at the mesh points t_0, t_1, ... up to t_end.
static as_status trace_pendulum(const void *data, int output, double *t, double *out, int *n,
                                as_error *error) {
  (void)output; // there is only one
  const setting *s = data;
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

/// The largest error of lambda up to t_end.
static as_status measure_pendulum(const void *data, double *out, as_error *error) {
  double t[PAPER_POINTS], e[PAPER_POINTS];
  int n;
  as_status status = trace_pendulum(data, 0, t, e, &n, error);
  out[0] = 0.0;
  for (int i = 1; i < n; i++) out[0] = larger(out[0], fabs(e[i]));
  return status;
}

// ---- q = t^3

/// The largest difference between the error of lambda and the second row of (T+^-1 T0)^n E_0,
/// errors being exact minus numerical values.
///
/// v'' = 6 is constant, so that the shifted start has a_0 = v'(t_0 + D h) without error, and what
/// is left in E_0 is the local error of q, (1 - 6 beta - 3 D) h v''/6.
static as_status measure_cubic(const void *data, double *out, as_error *error) {
  const setting *s = data;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(s->rho_inf, &c, error);
  if (status != AS_OK) return status;
  double shift = c.alpha_m - c.alpha_f;
  double e[3] = {(1.0 - 6.0 * c.beta - 3.0 * shift) * s->step, 0.0, 0.0};
  simulation sim;
  const double zero = 0.0;
  status = begin(&sim, cubic_problem, s, &zero, &zero, error);
  int steps = (int)lround(s->t_end / s->step);
  double most = 0.0;
  for (int n = 1; n <= steps && status == AS_OK; n++) {
    status = as_integrator_step(sim.integrator, s->step, error);
    if (status != AS_OK) break;
    amplify(&c, e);
    const as_state *state = as_integrator_state(sim.integrator);
    most = larger(most, fabs(cubic_multiplier(state->t) - state->lambda[0] - e[1]));
  }
  simulation_end(&sim);
  out[0] = most;
  return status;
}

// ---- the heavy top

/// The numbers that one run of the top gives.
enum { TRANSIENT_LAMBDA, LATER_Q, LATER_LAMBDA };

/// The largest errors of lambda in the first 60 steps, and of q and lambda beyond the transient
/// phase, at mesh points n >= 0.1 s/h + 1.
static as_status measure_top(const void *data, double *out, as_error *error) {
  const setting *s = data;
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
    double exact[3], sum = 0.0;
    top_multipliers(&reference, exact);
    for (int i = 0; i < 3; i++) {
      sum += (state->lambda[i] - exact[i]) * (state->lambda[i] - exact[i]);
    }
    if (n <= 60) out[TRANSIENT_LAMBDA] = larger(out[TRANSIENT_LAMBDA], sqrt(sum));
    if (n >= later) {
      out[LATER_LAMBDA] = larger(out[LATER_LAMBDA], sqrt(sum));
      out[LATER_Q] = larger(out[LATER_Q], top_distance(state->q, &reference));
    }
  }
  simulation_end(&sim);
  return status;
}

// ---- the tables

enum {
  AMPLIFICATION_06,
  AMPLIFICATION_09,
  AMPLIFICATION_099,
  PENDULUM_PLAIN_2E2,
  PENDULUM_PLAIN_1E2,
  PENDULUM_PERTURBED_2E2,
  PENDULUM_PERTURBED_1E2,
  EQUILIBRIUM_PLAIN_2E2,
  EQUILIBRIUM_PLAIN_1E2,
  EQUILIBRIUM_PERTURBED_2E2,
  EQUILIBRIUM_PERTURBED_1E2,
  CUBIC,
  TRANSIENT_PLAIN_06,
  TRANSIENT_PERTURBED_06,
  TRANSIENT_INDEX2_06,
  TRANSIENT_PLAIN_09,
  TRANSIENT_PERTURBED_09,
  TRANSIENT_INDEX2_09,
  TOP_PLAIN_2E3,
  TOP_PLAIN_1E3,
  TOP_PLAIN_5E4,
  TOP_PLAIN_25E5,
  TOP_PERTURBED_2E3,
  TOP_PERTURBED_1E3,
  TOP_PERTURBED_5E4,
  TOP_PERTURBED_25E5,
  TOP_INDEX2_2E3,
  TOP_INDEX2_1E3,
  TOP_INDEX2_5E4,
  TOP_INDEX2_25E5,
  N_RUNS,
};

// clang-format off
#define AMPLIFICATION(rho) measure_amplification, &(const setting){.rho_inf = (rho)}
#define PENDULUM(start, h, x) \
  measure_pendulum, \
  &(const setting){.variant = (start), .rho_inf = 0.9, .step = (h), .t_end = 2.0, .x0 = (x)}
#define TOP(start, rho, h, t) \
  measure_top, &(const setting){.variant = (start), .rho_inf = (rho), .step = (h), .t_end = (t)}
// clang-format on

static const paper_run runs[N_RUNS] = {
    [AMPLIFICATION_06] = {AMPLIFICATION(0.6), PAPER_NONE},
    [AMPLIFICATION_09] = {AMPLIFICATION(0.9), PAPER_NONE},
    [AMPLIFICATION_099] = {AMPLIFICATION(0.99), PAPER_NONE},
    [PENDULUM_PLAIN_2E2] = {PENDULUM(PLAIN, 2e-2, 0.2), PAPER_NONE},
    [PENDULUM_PLAIN_1E2] = {PENDULUM(PLAIN, 1e-2, 0.2), PENDULUM_PLAIN_2E2},
    [PENDULUM_PERTURBED_2E2] = {PENDULUM(PERTURBED, 2e-2, 0.2), PAPER_NONE},
    [PENDULUM_PERTURBED_1E2] = {PENDULUM(PERTURBED, 1e-2, 0.2), PENDULUM_PERTURBED_2E2},
    [EQUILIBRIUM_PLAIN_2E2] = {PENDULUM(PLAIN, 2e-2, 0.0), PAPER_NONE},
    [EQUILIBRIUM_PLAIN_1E2] = {PENDULUM(PLAIN, 1e-2, 0.0), EQUILIBRIUM_PLAIN_2E2},
    [EQUILIBRIUM_PERTURBED_2E2] = {PENDULUM(PERTURBED, 2e-2, 0.0), PAPER_NONE},
    [EQUILIBRIUM_PERTURBED_1E2] = {PENDULUM(PERTURBED, 1e-2, 0.0), EQUILIBRIUM_PERTURBED_2E2},
    [CUBIC] = {measure_cubic,
               &(const setting){.variant = SHIFTED, .rho_inf = 0.9, .step = 1e-2, .t_end = 0.6},
               PAPER_NONE},
    [TRANSIENT_PLAIN_06] = {TOP(PLAIN, 0.6, 1e-3, 0.06), PAPER_NONE},
    [TRANSIENT_PERTURBED_06] = {TOP(PERTURBED, 0.6, 1e-3, 0.06), PAPER_NONE},
    [TRANSIENT_INDEX2_06] = {TOP(INDEX2, 0.6, 1e-3, 0.06), PAPER_NONE},
    [TRANSIENT_PLAIN_09] = {TOP(PLAIN, 0.9, 1e-3, 0.06), PAPER_NONE},
    [TRANSIENT_PERTURBED_09] = {TOP(PERTURBED, 0.9, 1e-3, 0.06), PAPER_NONE},
    [TRANSIENT_INDEX2_09] = {TOP(INDEX2, 0.9, 1e-3, 0.06), PAPER_NONE},
    [TOP_PLAIN_2E3] = {TOP(PLAIN, 0.9, 2e-3, 1.0), PAPER_NONE},
    [TOP_PLAIN_1E3] = {TOP(PLAIN, 0.9, 1e-3, 1.0), TOP_PLAIN_2E3},
    [TOP_PLAIN_5E4] = {TOP(PLAIN, 0.9, 5e-4, 1.0), TOP_PLAIN_1E3},
    [TOP_PLAIN_25E5] = {TOP(PLAIN, 0.9, 2.5e-4, 1.0), TOP_PLAIN_5E4},
    [TOP_PERTURBED_2E3] = {TOP(PERTURBED, 0.9, 2e-3, 1.0), PAPER_NONE},
    [TOP_PERTURBED_1E3] = {TOP(PERTURBED, 0.9, 1e-3, 1.0), TOP_PERTURBED_2E3},
    [TOP_PERTURBED_5E4] = {TOP(PERTURBED, 0.9, 5e-4, 1.0), TOP_PERTURBED_1E3},
    [TOP_PERTURBED_25E5] = {TOP(PERTURBED, 0.9, 2.5e-4, 1.0), TOP_PERTURBED_5E4},
    [TOP_INDEX2_2E3] = {TOP(INDEX2, 0.9, 2e-3, 1.0), PAPER_NONE},
    [TOP_INDEX2_1E3] = {TOP(INDEX2, 0.9, 1e-3, 1.0), TOP_INDEX2_2E3},
    [TOP_INDEX2_5E4] = {TOP(INDEX2, 0.9, 5e-4, 1.0), TOP_INDEX2_1E3},
    [TOP_INDEX2_25E5] = {TOP(INDEX2, 0.9, 2.5e-4, 1.0), TOP_INDEX2_5E4},
};

#define NO_NUMBER ((double)NAN)

// clang-format off
static const paper_row rows[] = {
    // id, what, run, output, published, expected, judge
    {"abc-amplification-rho0.6",
     "max 2-norm of (T+^-1 T0)^n, rho_inf 0.6",
     AMPLIFICATION_06, 0, 7.4, 7.39, PAPER_WITHIN},
    {"abc-amplification-rho0.9",
     "max 2-norm of (T+^-1 T0)^n, rho_inf 0.9",
     AMPLIFICATION_09, 0, 34.3, 34.27, PAPER_WITHIN},
    {"abc-amplification-rho0.99",
     "max 2-norm of (T+^-1 T0)^n, rho_inf 0.99",
     AMPLIFICATION_099, 0, NO_NUMBER, 358.72, PAPER_WITHIN},
    {"abc-pendulum-plain-h2e-2",
     "pendulum, x0 0.2, plain start, h 2e-2: error of lambda",
     PENDULUM_PLAIN_2E2, 0, 2.48e-1, 2.476e-1, PAPER_WITHIN},
    {"abc-pendulum-plain-h1e-2",
     "pendulum, x0 0.2, plain start, h 1e-2: error of lambda",
     PENDULUM_PLAIN_1E2, 0, 1.23e-1, 1.227e-1, PAPER_WITHIN},
    {"abc-pendulum-perturbed-h2e-2",
     "pendulum, x0 0.2, perturbed start, h 2e-2: error of lambda",
     PENDULUM_PERTURBED_2E2, 0, 3.99e-3, 3.989e-3, PAPER_WITHIN},
    {"abc-pendulum-perturbed-h1e-2",
     "pendulum, x0 0.2, perturbed start, h 1e-2: error of lambda",
     PENDULUM_PERTURBED_1E2, 0, 9.96e-4, 9.959e-4, PAPER_WITHIN},
    {"abc-pendulum-equilibrium-plain-h2e-2",
     "pendulum, x0 0, plain start, h 2e-2: error of lambda",
     EQUILIBRIUM_PLAIN_2E2, 0, 3.95e-3, 3.92e-3, PAPER_WITHIN},
    {"abc-pendulum-equilibrium-plain-h1e-2",
     "pendulum, x0 0, plain start, h 1e-2: error of lambda",
     EQUILIBRIUM_PLAIN_1E2, 0, 9.85e-4, 9.80e-4, PAPER_WITHIN},
    {"abc-pendulum-equilibrium-perturbed-h2e-2",
     "pendulum, x0 0, perturbed start, h 2e-2: error of lambda",
     EQUILIBRIUM_PERTURBED_2E2, 0, 3.95e-3, 3.94e-3, PAPER_WITHIN},
    {"abc-pendulum-equilibrium-perturbed-h1e-2",
     "pendulum, x0 0, perturbed start, h 1e-2: error of lambda",
     EQUILIBRIUM_PERTURBED_1E2, 0, 9.85e-4, 9.85e-4, PAPER_WITHIN},
    {"abc-cubic",
     "q = t^3: error of lambda less (T+^-1 T0)^n E_0",
     CUBIC, 0, NO_NUMBER, 1e-8, PAPER_AT_MOST},
    {"abc-top-transient-index3-plain-rho0.9",
     "top, index-3, plain start, rho_inf 0.9, 60 steps: error of lambda",
     TRANSIENT_PLAIN_09, TRANSIENT_LAMBDA, NO_NUMBER, 122.4, PAPER_WITHIN},
    {"abc-top-transient-index3-perturbed-rho0.9",
     "top, index-3, perturbed start, rho_inf 0.9, 60 steps: error of lambda",
     TRANSIENT_PERTURBED_09, TRANSIENT_LAMBDA, NO_NUMBER, 2.12, PAPER_WITHIN},
    {"abc-top-transient-index2-rho0.9",
     "top, index-2, rho_inf 0.9, 60 steps: error of lambda",
     TRANSIENT_INDEX2_09, TRANSIENT_LAMBDA, NO_NUMBER, 1.24, PAPER_WITHIN},
    {"abc-top-transient-index3-plain-rho0.6",
     "top, index-3, plain start, rho_inf 0.6, 60 steps: error of lambda",
     TRANSIENT_PLAIN_06, TRANSIENT_LAMBDA, NO_NUMBER, 26.4, PAPER_WITHIN},
    {"abc-top-transient-index3-perturbed-rho0.6",
     "top, index-3, perturbed start, rho_inf 0.6, 60 steps: error of lambda",
     TRANSIENT_PERTURBED_06, TRANSIENT_LAMBDA, NO_NUMBER, 2.17, PAPER_WITHIN},
    {"abc-top-transient-index2-rho0.6",
     "top, index-2, rho_inf 0.6, 60 steps: error of lambda",
     TRANSIENT_INDEX2_06, TRANSIENT_LAMBDA, NO_NUMBER, 1.89, PAPER_WITHIN},
    {"abc-top-index3-plain-q-h2e-3",
     "top, index-3, plain start, h 2e-3: error of q",
     TOP_PLAIN_2E3, LATER_Q, NO_NUMBER, 5.160e-2, PAPER_WITHIN},
    {"abc-top-index3-plain-q-h1e-3",
     "top, index-3, plain start, h 1e-3: error of q",
     TOP_PLAIN_1E3, LATER_Q, NO_NUMBER, 1.280e-2, PAPER_WITHIN},
    {"abc-top-index3-plain-q-h5e-4",
     "top, index-3, plain start, h 5e-4: error of q",
     TOP_PLAIN_5E4, LATER_Q, NO_NUMBER, 3.192e-3, PAPER_WITHIN},
    {"abc-top-index3-plain-q-h2.5e-4",
     "top, index-3, plain start, h 2.5e-4: error of q",
     TOP_PLAIN_25E5, LATER_Q, NO_NUMBER, 7.977e-4, PAPER_WITHIN},
    {"abc-top-index3-plain-lambda-h2e-3",
     "top, index-3, plain start, h 2e-3: error of lambda",
     TOP_PLAIN_2E3, LATER_LAMBDA, NO_NUMBER, 103.0, PAPER_WITHIN},
    {"abc-top-index3-plain-lambda-h1e-3",
     "top, index-3, plain start, h 1e-3: error of lambda",
     TOP_PLAIN_1E3, LATER_LAMBDA, NO_NUMBER, 8.723, PAPER_WITHIN},
    {"abc-top-index3-plain-lambda-h5e-4",
     "top, index-3, plain start, h 5e-4: error of lambda",
     TOP_PLAIN_5E4, LATER_LAMBDA, NO_NUMBER, 2.173, PAPER_WITHIN},
    {"abc-top-index3-plain-lambda-h2.5e-4",
     "top, index-3, plain start, h 2.5e-4: error of lambda",
     TOP_PLAIN_25E5, LATER_LAMBDA, NO_NUMBER, 0.5429, PAPER_WITHIN},
    {"abc-top-index3-perturbed-q-h2e-3",
     "top, index-3, perturbed start, h 2e-3: error of q",
     TOP_PERTURBED_2E3, LATER_Q, NO_NUMBER, 5.157e-2, PAPER_WITHIN},
    {"abc-top-index3-perturbed-q-h1e-3",
     "top, index-3, perturbed start, h 1e-3: error of q",
     TOP_PERTURBED_1E3, LATER_Q, NO_NUMBER, 1.279e-2, PAPER_WITHIN},
    {"abc-top-index3-perturbed-q-h5e-4",
     "top, index-3, perturbed start, h 5e-4: error of q",
     TOP_PERTURBED_5E4, LATER_Q, NO_NUMBER, 3.19e-3, PAPER_WITHIN},
    {"abc-top-index3-perturbed-q-h2.5e-4",
     "top, index-3, perturbed start, h 2.5e-4: error of q",
     TOP_PERTURBED_25E5, LATER_Q, NO_NUMBER, 7.976e-4, PAPER_WITHIN},
    {"abc-top-index3-perturbed-lambda-h2e-3",
     "top, index-3, perturbed start, h 2e-3: error of lambda",
     TOP_PERTURBED_2E3, LATER_LAMBDA, NO_NUMBER, 35.39, PAPER_WITHIN},
    {"abc-top-index3-perturbed-lambda-h1e-3",
     "top, index-3, perturbed start, h 1e-3: error of lambda",
     TOP_PERTURBED_1E3, LATER_LAMBDA, NO_NUMBER, 8.72, PAPER_WITHIN},
    {"abc-top-index3-perturbed-lambda-h5e-4",
     "top, index-3, perturbed start, h 5e-4: error of lambda",
     TOP_PERTURBED_5E4, LATER_LAMBDA, NO_NUMBER, 2.17, PAPER_WITHIN},
    {"abc-top-index3-perturbed-lambda-h2.5e-4",
     "top, index-3, perturbed start, h 2.5e-4: error of lambda",
     TOP_PERTURBED_25E5, LATER_LAMBDA, NO_NUMBER, 0.5429, PAPER_WITHIN},
    {"abc-top-index2-q-h2e-3",
     "top, index-2, h 2e-3: error of q",
     TOP_INDEX2_2E3, LATER_Q, NO_NUMBER, 3.342e-2, PAPER_WITHIN},
    {"abc-top-index2-q-h1e-3",
     "top, index-2, h 1e-3: error of q",
     TOP_INDEX2_1E3, LATER_Q, NO_NUMBER, 8.22e-3, PAPER_WITHIN},
    {"abc-top-index2-q-h5e-4",
     "top, index-2, h 5e-4: error of q",
     TOP_INDEX2_5E4, LATER_Q, NO_NUMBER, 2.04e-3, PAPER_WITHIN},
    {"abc-top-index2-q-h2.5e-4",
     "top, index-2, h 2.5e-4: error of q",
     TOP_INDEX2_25E5, LATER_Q, NO_NUMBER, 5.068e-4, PAPER_WITHIN},
    {"abc-top-index2-lambda-h2e-3",
     "top, index-2, h 2e-3: error of lambda",
     TOP_INDEX2_2E3, LATER_LAMBDA, NO_NUMBER, 16.75, PAPER_WITHIN},
    {"abc-top-index2-lambda-h1e-3",
     "top, index-2, h 1e-3: error of lambda",
     TOP_INDEX2_1E3, LATER_LAMBDA, NO_NUMBER, 4.13, PAPER_WITHIN},
    {"abc-top-index2-lambda-h5e-4",
     "top, index-2, h 5e-4: error of lambda",
     TOP_INDEX2_5E4, LATER_LAMBDA, NO_NUMBER, 1.02, PAPER_WITHIN},
    {"abc-top-index2-lambda-h2.5e-4",
     "top, index-2, h 2.5e-4: error of lambda",
     TOP_INDEX2_25E5, LATER_LAMBDA, NO_NUMBER, 0.2547, PAPER_WITHIN},
};
// clang-format on

static const paper_figure figures[] = {
    {
        .name = "abc-pendulum",
        .title = "Pendulum: error of *\u03bb* in the transient phase",
        .note =
            "After Arnold, Br\u00fcls, Cardona 2014, figure 1: index 3, *\u03c1*_{\u221e} = 0.9, "
            "*x*_{0} = 0.2; exact less numerical *\u03bb*; note the different scales",
        .x_label = "time *t* [s]",
        .trace = trace_pendulum,
        .n_curves = 2,
        .label = {"*h* = 0.02 s", "*h* = 0.01 s"},
        .n_panels = 2,
        .panel =
            {
                {"Plain start",
                 "error of *\u03bb*",
                 {{PENDULUM_PLAIN_2E2, 0}, {PENDULUM_PLAIN_1E2, 0}}},
                {"Perturbed start",
                 "error of *\u03bb*",
                 {{PENDULUM_PERTURBED_2E2, 0}, {PENDULUM_PERTURBED_1E2, 0}}},
            },
    },
    {
        .name = "abc-top",
        .title = "Heavy top: errors beyond the transient phase",
        .note =
            "After Arnold, Br\u00fcls, Cardona 2014, figure 6: maxima over 0.1 s < *t* \u2264 1 s, "
            "*\u03c1*_{\u221e} = 0.9",
        .x_label = "step *h* [s]",
        .step = 2.5e-4,
        .n_curves = 3,
        .label = {"index 3, plain start", "index 3, perturbed start", "index 2"},
        .n_panels = 2,
        .panel =
            {
                {"Configuration",
                 "error of *q*",
                 {{TOP_PLAIN_25E5, LATER_Q},
                  {TOP_PERTURBED_25E5, LATER_Q},
                  {TOP_INDEX2_25E5, LATER_Q}}},
                {"Multipliers",
                 "error of *\u03bb* [N]",
                 {{TOP_PLAIN_25E5, LATER_LAMBDA},
                  {TOP_PERTURBED_25E5, LATER_LAMBDA},
                  {TOP_INDEX2_25E5, LATER_LAMBDA}}},
            },
    },
};

const paper paper_abc = {
    .citation = "Arnold, Bruels, Cardona 2014",
    .title =
        "Error analysis of generalized-alpha Lie group time integration methods for constrained "
        "mechanical systems, Numer. Math.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
    .runs = runs,
    .n_runs = N_RUNS,
    .figures = figures,
    .n_figures = sizeof figures / sizeof figures[0],
};
