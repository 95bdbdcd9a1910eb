// The experiments of Bruels, Arnold, "The generalized-alpha scheme as a linear multistep integrator:
// toward a general mechatronic simulator", J. Comput. Nonlinear Dynamics, 2008, with the controlled
// spring-mass system: a controller's first-order state x and its outputs are integrated together
// with the motion.
//
// rho_inf = 0.8 for the motion (Chung and Hulbert's set) and for x (Jansen's). The first a is v'_0 and
// the first w is x'_0. The paper prints no numbers, only figures. Some rows are values of q, q' and x
// with h = 0.1, which a second implementation of the method has given too; others are relative errors
// at t = 5 with steps that alternate between 0.3 H and 0.7 H, with and without the update (29) of
// gamma and theta for steps that change.
#include <math.h>
#include <stddef.h>

#include "alphastep/alphastep.h"
#include "paper_problems.h"
#include "papers.h"
#include "simulation.h"

/// The numbers that a run gives: values or relative errors at the end. A trace has g_a as well.
enum { Q, QDOT, X, QDDOT, ACTUATOR };

typedef struct setting {
  double step;      ///< h, or the length H of two steps 0.3 H and 0.7 H [s]
  double t_end;     ///< [s]
  bool alternating; ///< 0.3 H, 0.7 H, 0.3 H, ...
  bool corrections; ///< when the step changes
  double state_rho; ///< spectral radius for x; 0: 0.8
  double growth;    ///< h_n/h_{n-1}, for gamma_n alone
} setting;

/// End the simulation also if this fails.
static as_status begin(simulation *sim, paper_problem_fn *problem, const setting *s,
                       as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  def.step = s->step;
  def.rho_inf = 0.8;
  def.state_rho_inf = s->state_rho > 0.0 ? s->state_rho : 0.8;
  def.step_corrections = s->corrections;
  def.improved_start = false;
  def.perturbed_start = false;
  spring_motion start = spring_start(); // x = 0, as the integrator has it
  return simulation_begin(sim, problem, &def, &start.q, &start.v, error);
}

/// A step h, or the two steps that make H.
static as_status advance(simulation *sim, const setting *s, as_error *error) {
  if (!s->alternating) return as_integrator_step(sim->integrator, s->step, error);
  as_status status = as_integrator_step(sim->integrator, 0.3 * s->step, error);
  if (status != AS_OK) return status;
  return as_integrator_step(sim->integrator, 0.7 * s->step, error);
}

/// q, q' and x at t_end.
static as_status measure_values(const void *data, double *out, as_error *error) {
  const setting *s = data;
  simulation sim;
  as_status status = begin(&sim, spring_problem, s, error);
  int n = (int)lround(s->t_end / s->step);
  for (int i = 0; i < n && status == AS_OK; i++) status = advance(&sim, s, error);
  if (status == AS_OK) {
    const as_state *state = as_integrator_state(sim.integrator);
    out[Q] = state->q[0];
    out[QDOT] = state->v[0];
    out[X] = state->x[0];
    out[QDDOT] = state->vdot[0];
  }
  simulation_end(&sim);
  return status;
}

/// Their relative errors.
static as_status measure_errors(const void *data, double *out, as_error *error) {
  const setting *s = data;
  as_status status = measure_values(data, out, error);
  if (status != AS_OK) return status;
  spring_motion reference = spring_start();
  spring_advance(&reference, s->t_end);
  out[Q] = fabs(out[Q] / reference.q - 1.0);
  out[QDOT] = fabs(out[QDOT] / reference.v - 1.0);
  out[X] = fabs(out[X] / reference.x - 1.0);
  out[QDDOT] = fabs(out[QDDOT] / (tanh(reference.x) - reference.q) - 1.0);
  return AS_OK;
}

/// One of q, q', x and g_a from t = 0 to t_end.
static as_status trace(const void *data, int output, double *t, double *out, int *n,
                       as_error *error) {
  const setting *s = data;
  simulation sim;
  as_status status = begin(&sim, spring_problem, s, error);
  int steps = (int)lround(s->t_end / s->step);
  *n = 0;
  for (int i = 0; i <= steps && *n < PAPER_POINTS && status == AS_OK; i++) {
    if (i > 0) status = advance(&sim, s, error);
    if (status != AS_OK) break;
    const as_state *state = as_integrator_state(sim.integrator);
    t[*n] = state->t;
    switch (output) {
    case Q: out[*n] = state->q[0]; break;
    case QDOT: out[*n] = state->v[0]; break;
    case X: out[*n] = state->x[0]; break;
    default: out[*n] = state->y[1]; break;
    }
    ++*n;
  }
  simulation_end(&sim);
  return status;
}

/// Without the filter's sigma: the largest |x + b q'| and |x + b q''|.
static as_status measure_unfiltered(const void *data, double *out, as_error *error) {
  const setting *s = data;
  simulation sim;
  as_status status = begin(&sim, spring_unfiltered_problem, s, error);
  int n = (int)lround(s->t_end / s->step);
  out[0] = out[1] = 0.0;
  for (int i = 0; i < n && status == AS_OK; i++) {
    status = advance(&sim, s, error);
    if (status != AS_OK) break;
    const as_state *state = as_integrator_state(sim.integrator);
    out[0] = fmax(out[0], fabs(state->x[0] + SPRING_GAIN * state->v[0]));
    out[1] = fmax(out[1], fabs(state->x[0] + SPRING_GAIN * state->vdot[0]));
  }
  simulation_end(&sim);
  return status;
}

/// gamma_n by their (29) from a start 0.01 off the nominal value, for a constant h_n/h_{n-1} = s; rho_inf = 0.8.
static as_status trace_gamma(const void *data, int output, double *t, double *out, int *n,
                             as_error *error) {
  (void)output; // there is only one
  double s = ((const setting *)data)->growth;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(0.8, &c, error);
  if (status != AS_OK) return status;
  double star = 1.0 - c.alpha_m - c.gamma - 0.01;
  for (*n = 0; *n <= 40; ++*n) {
    t[*n] = *n;
    out[*n] = 1.0 - c.alpha_m - star;
    star = s * (1.0 - c.alpha_m) * (0.5 - c.alpha_f) * star /
           ((c.alpha_f + s * (1.0 - c.alpha_f)) * star - c.alpha_m * (0.5 - c.alpha_f));
  }
  return AS_OK;
}

/// Where gamma_n ends.
static as_status measure_gamma(const void *data, double *out, as_error *error) {
  double t[PAPER_POINTS], gamma[PAPER_POINTS];
  int n;
  as_status status = trace_gamma(data, 0, t, gamma, &n, error);
  if (status == AS_OK) out[0] = gamma[n - 1];
  return status;
}

// ---- the method as a multistep formula

/// The ends of the last steps, the latest first, and what the last two of these steps had.
typedef struct history {
  double q[4], v[4], vdot[4], x[4], xdot[4];
  double h[2], gamma[2], theta[2];
  int n; ///< how many ends there were
} history;

static void push(double *values, int n, double value) {
  for (int i = n - 1; i > 0; i--) values[i] = values[i - 1];
  values[0] = value;
}

static void push_state(history *at, const as_state *state) {
  push(at->q, 4, state->q[0]);
  push(at->v, 4, state->v[0]);
  push(at->vdot, 4, state->vdot[0]);
  push(at->x, 4, state->x[0]);
  push(at->xdot, 4, state->xdot[0]);
  at->n++;
}

/// gamma_n of a step h with the offset *d of a: d_{n+1} = (D h - alpha_m d_n)/(1 - alpha_m),
/// gamma_n = (h/2 - d_n)/(h + d_{n+1} - d_n), which is (29) without its 0/0. theta_n likewise.
static double next_gamma(double alpha_m, double alpha_f, double h, double *d) {
  double before = *d;
  *d = ((alpha_m - alpha_f) * h - alpha_m * before) / (1.0 - alpha_m);
  return (0.5 * h - before) / (h + *d - before);
}

/// What is left of (22), or (24): sum a_k y_{n+k-1} = h sum c_k f_{n+k-1}, k = 0, 1, 2.
static double first_order_defect(const double *y, const double *f, const double *h,
                                 const double *gamma, double alpha_m, double alpha_f) {
  double s = h[0] / h[1], r = s * (1.0 - alpha_m - gamma[0]) / (1.0 - alpha_m - gamma[1]);
  double left = (1.0 - alpha_m) * y[0] + (-1.0 + (1.0 + r) * alpha_m) * y[1] - r * alpha_m * y[2];
  double right = (1.0 - alpha_f) * gamma[0] * f[0] +
                 (r / s * (1.0 - alpha_f) * (1.0 - gamma[1]) + alpha_f * gamma[0]) * f[1] +
                 r / s * alpha_f * (1.0 - gamma[1]) * f[2];
  return left - h[0] * right;
}

/// What is left of (21), sum a_k q_{n+k-1} + h sum u_k q'_{n+k-1} = h^2 sum b_k q''_{n+k-1}, with beta constant.
static double position_defect(const history *at, const as_coefficients *c) {
  const double *q = at->q, *v = at->v, *f = at->vdot, h = at->h[0], s = h / at->h[1];
  double r = s * s, half = 0.5 - c->beta, m = c->alpha_m, a = c->alpha_f;
  double left = (1.0 - m) * q[0] + (-1.0 + (1.0 + r) * m) * q[1] - r * m * q[2];
  left += h * ((-1.0 + m) * v[1] - r / s * m * v[2]);
  double right = (1.0 - a) * c->beta * f[0] + ((1.0 - a) * half + a * c->beta) * f[1];
  return left - h * h * (right + a * half * f[2]);
}

/// What is left of (37) with the coefficients (38): three steps of one size, positions and accelerations alone.
static double three_step_defect(const history *at, const as_coefficients *c) {
  const double *q = at->q, *f = at->vdot, h = at->h[0], m = c->alpha_m, a = c->alpha_f;
  double early = 0.5 + c->beta - c->gamma, late = 0.5 - 2.0 * c->beta + c->gamma;
  double left = (1.0 - m) * q[0] + (-2.0 + 3.0 * m) * q[1] + (1.0 - 3.0 * m) * q[2] + m * q[3];
  double right = (1.0 - a) * c->beta * f[0] + ((1.0 - a) * late + a * c->beta) * f[1];
  right += ((1.0 - a) * early + a * late) * f[2] + a * early * f[3];
  return left - h * h * right;
}

enum { DEFECT_Q, DEFECT_V, DEFECT_X, DEFECT_THREE };

static double larger(double a, double b) { return isnan(b) || b > a ? b : a; }

/// The largest defects of (21), (22), (24) and, for steps of one size, (37), over a run.
static as_status measure_multistep(const void *data, double *out, as_error *error) {
  const setting *s = data;
  as_coefficients c;
  as_state_coefficients cx;
  as_status status = as_coefficients_chung_hulbert(0.8, &c, error);
  if (status == AS_OK) status = as_coefficients_jansen(0.8, &cx, error);
  if (status != AS_OK) return status;
  simulation sim;
  status = begin(&sim, spring_problem, s, error);
  history at = {.n = 0};
  double d = (double)NAN, dx = (double)NAN;
  for (int i = 0; i < PAPER_OUTPUTS; i++) out[i] = 0.0;
  if (status == AS_OK) push_state(&at, as_integrator_state(sim.integrator));
  int pairs = (int)lround(s->t_end / s->step);
  for (int i = 0; i < 2 * pairs && status == AS_OK; i++) {
    double h = !s->alternating ? 0.5 * s->step : (i % 2 == 0 ? 0.3 : 0.7) * s->step;
    if (i == 0) d = (c.alpha_m - c.alpha_f) * h;
    if (i == 0) dx = (cx.delta_m - cx.delta_f) * h;
    push(at.h, 2, h);
    push(at.gamma, 2, next_gamma(c.alpha_m, c.alpha_f, h, &d));
    push(at.theta, 2, next_gamma(cx.delta_m, cx.delta_f, h, &dx));
    status = as_integrator_step(sim.integrator, h, error);
    if (status != AS_OK) break;
    push_state(&at, as_integrator_state(sim.integrator));
    if (at.n < 4) continue;
    out[DEFECT_Q] = larger(out[DEFECT_Q], fabs(position_defect(&at, &c)));
    double v = first_order_defect(at.v, at.vdot, at.h, at.gamma, c.alpha_m, c.alpha_f);
    out[DEFECT_V] = larger(out[DEFECT_V], fabs(v));
    double x = first_order_defect(at.x, at.xdot, at.h, at.theta, cx.delta_m, cx.delta_f);
    out[DEFECT_X] = larger(out[DEFECT_X], fabs(x));
    if (!s->alternating)
      out[DEFECT_THREE] = larger(out[DEFECT_THREE], fabs(three_step_defect(&at, &c)));
  }
  simulation_end(&sim);
  return status;
}

// ---- runs and rows

enum {
  T5,
  T10,
  T20,
  CONSTANT_01,
  CONSTANT_005,
  CONSTANT_0025,
  CONSTANT_00125,
  CONSTANT_000625,
  CONSTANT_0003125,
  WITH_01,
  WITH_005,
  WITH_0025,
  WITH_00125,
  WITH_000625,
  WITH_0003125,
  WITHOUT_01,
  WITHOUT_005,
  WITHOUT_0025,
  WITHOUT_00125,
  WITHOUT_000625,
  WITHOUT_0003125,
  MIXED_000625,
  MIXED_0003125,
  UNFILTERED_000625,
  UNFILTERED_0003125,
  GAMMA_GROWING,
  GAMMA_CONSTANT,
  GAMMA_SHRINKING,
  GAMMA_BELOW,
  MULTISTEP_CONSTANT,
  MULTISTEP_ALTERNATING,
  N_RUNS,
};

// clang-format off
#define VALUES(t) \
  measure_values, &(const setting){.step = 0.1, .t_end = (t), .corrections = true}
#define CONSTANT(h) \
  measure_errors, &(const setting){.step = (h), .t_end = 5.0, .corrections = true}
#define ALTERNATING(length, correct) \
  measure_errors, \
  &(const setting){.step = (length), .t_end = 5.0, .alternating = true, .corrections = (correct)}
#define MIXED(h) \
  measure_errors, &(const setting){.step = (h), .t_end = 5.0, .corrections = true, .state_rho = 0.2}
#define UNFILTERED(h) \
  measure_unfiltered, &(const setting){.step = (h), .t_end = 5.0, .corrections = true}
#define MULTISTEP(different) \
  measure_multistep, \
  &(const setting){.step = 0.1, .t_end = 20.0, .alternating = (different), .corrections = true}
#define GAMMA(s) measure_gamma, &(const setting){.growth = (s)}
// clang-format on

static const paper_run runs[N_RUNS] = {
    [T5] = {VALUES(5.0), PAPER_NONE},
    [T10] = {VALUES(10.0), PAPER_NONE},
    [T20] = {VALUES(20.0), PAPER_NONE},
    [CONSTANT_01] = {CONSTANT(0.1), PAPER_NONE},
    [CONSTANT_005] = {CONSTANT(0.05), CONSTANT_01},
    [CONSTANT_0025] = {CONSTANT(0.025), CONSTANT_005},
    [CONSTANT_00125] = {CONSTANT(0.0125), CONSTANT_0025},
    [CONSTANT_000625] = {CONSTANT(0.00625), CONSTANT_00125},
    [CONSTANT_0003125] = {CONSTANT(0.003125), CONSTANT_000625},
    [WITH_01] = {ALTERNATING(0.1, true), PAPER_NONE},
    [WITH_005] = {ALTERNATING(0.05, true), WITH_01},
    [WITH_0025] = {ALTERNATING(0.025, true), WITH_005},
    [WITH_00125] = {ALTERNATING(0.0125, true), WITH_0025},
    [WITH_000625] = {ALTERNATING(0.00625, true), WITH_00125},
    [WITH_0003125] = {ALTERNATING(0.003125, true), WITH_000625},
    [WITHOUT_01] = {ALTERNATING(0.1, false), PAPER_NONE},
    [WITHOUT_005] = {ALTERNATING(0.05, false), WITHOUT_01},
    [WITHOUT_0025] = {ALTERNATING(0.025, false), WITHOUT_005},
    [WITHOUT_00125] = {ALTERNATING(0.0125, false), WITHOUT_0025},
    [WITHOUT_000625] = {ALTERNATING(0.00625, false), WITHOUT_00125},
    [WITHOUT_0003125] = {ALTERNATING(0.003125, false), WITHOUT_000625},
    [MIXED_000625] = {MIXED(0.00625), PAPER_NONE},
    [MIXED_0003125] = {MIXED(0.003125), MIXED_000625},
    [UNFILTERED_000625] = {UNFILTERED(0.00625), PAPER_NONE},
    [UNFILTERED_0003125] = {UNFILTERED(0.003125), UNFILTERED_000625},
    [GAMMA_GROWING] = {GAMMA(1.2), PAPER_NONE},
    [GAMMA_CONSTANT] = {GAMMA(1.0), PAPER_NONE},
    [GAMMA_SHRINKING] = {GAMMA(0.8), PAPER_NONE},
    [GAMMA_BELOW] = {GAMMA(0.4), PAPER_NONE},
    [MULTISTEP_CONSTANT] = {MULTISTEP(false), PAPER_NONE},
    [MULTISTEP_ALTERNATING] = {MULTISTEP(true), PAPER_NONE},
};

#define NO_NUMBER ((double)NAN)

// clang-format off
static const paper_row rows[] = {
    // id, what, run, output, published, expected, judge
    {"ba-spring-q-t5",
     "controlled spring-mass, h 0.1: q at t = 5",
     T5, Q, NO_NUMBER, -0.569897683826, PAPER_VALUE},
    {"ba-spring-q-t10",
     "controlled spring-mass, h 0.1: q at t = 10",
     T10, Q, NO_NUMBER, -0.336433366269, PAPER_VALUE},
    {"ba-spring-q-t20",
     "controlled spring-mass, h 0.1: q at t = 20",
     T20, Q, NO_NUMBER, -0.108927987694, PAPER_VALUE},
    {"ba-spring-qdot-t5",
     "controlled spring-mass, h 0.1: q' at t = 5",
     T5, QDOT, NO_NUMBER, 2.052987649185, PAPER_VALUE},
    {"ba-spring-qdot-t10",
     "controlled spring-mass, h 0.1: q' at t = 10",
     T10, QDOT, NO_NUMBER, -0.106062692013, PAPER_VALUE},
    {"ba-spring-qdot-t20",
     "controlled spring-mass, h 0.1: q' at t = 20",
     T20, QDOT, NO_NUMBER, 0.012644716875, PAPER_VALUE},
    {"ba-spring-x-t5",
     "controlled spring-mass, h 0.1: x at t = 5",
     T5, X, NO_NUMBER, -3.348650952505, PAPER_VALUE},
    {"ba-spring-x-t10",
     "controlled spring-mass, h 0.1: x at t = 10",
     T10, X, NO_NUMBER, -0.156954924400, PAPER_VALUE},
    {"ba-spring-x-t20",
     "controlled spring-mass, h 0.1: x at t = 20",
     T20, X, NO_NUMBER, -0.110579446471, PAPER_VALUE},
    {"ba-constant-q",
     "constant steps, h 0.003125: error of q",
     CONSTANT_0003125, Q, NO_NUMBER, 6.6974e-6, PAPER_SECOND_ORDER},
    {"ba-constant-x",
     "constant steps, h 0.003125: error of x",
     CONSTANT_0003125, X, NO_NUMBER, 2.4454e-6, PAPER_SECOND_ORDER},
    {"ba-constant-qddot",
     "constant steps, h 0.003125: error of q''",
     CONSTANT_0003125, QDDOT, NO_NUMBER, 8.6923e-6, PAPER_SECOND_ORDER},
    {"ba-mixed-q",
     "constant steps, h 0.003125, rho_inf 0.8 for the motion and 0.2 for x: error of q",
     MIXED_0003125, Q, NO_NUMBER, 3.1224e-6, PAPER_SECOND_ORDER},
    {"ba-mixed-x",
     "constant steps, h 0.003125, rho_inf 0.8 for the motion and 0.2 for x: error of x",
     MIXED_0003125, X, NO_NUMBER, 1.1144e-6, PAPER_SECOND_ORDER},
    {"ba-varstep-with-q",
     "steps 0.3 H, 0.7 H, H 0.003125, with (29): error of q",
     WITH_0003125, Q, NO_NUMBER, 2.48e-6, PAPER_SECOND_ORDER},
    {"ba-varstep-with-x",
     "steps 0.3 H, 0.7 H, H 0.003125, with (29): error of x",
     WITH_0003125, X, NO_NUMBER, 9.15e-7, PAPER_SECOND_ORDER},
    {"ba-varstep-without-q",
     "steps 0.3 H, 0.7 H, H 0.003125, without (29): error of q",
     WITHOUT_0003125, Q, NO_NUMBER, 6.7e-5, PAPER_WITHIN},
    {"ba-varstep-without-x",
     "steps 0.3 H, 0.7 H, H 0.003125, without (29): error of x",
     WITHOUT_0003125, X, NO_NUMBER, 2.89e-5, PAPER_WITHIN},
    {"ba-gamma-growing",
     "gamma_n by (29), each step 1.2 times the last: limit",
     GAMMA_GROWING, 0, NO_NUMBER, 0.61000000, PAPER_WITHIN},
    {"ba-gamma-shrinking",
     "gamma_n by (29), each step 0.8 times the last: limit",
     GAMMA_SHRINKING, 0, NO_NUMBER, 0.61250000, PAPER_WITHIN},
    {"ba-gamma-below",
     "gamma_n by (29), each step 0.4 times the last: limit",
     GAMMA_BELOW, 0, NO_NUMBER, 0.66666667, PAPER_WITHIN},
    {"ba-multistep-q",
     "steps 0.3 H, 0.7 H, H 0.1: largest defect of (21) in a run to t = 20",
     MULTISTEP_ALTERNATING, DEFECT_Q, NO_NUMBER, 1e-13, PAPER_AT_MOST},
    {"ba-multistep-qdot",
     "steps 0.3 H, 0.7 H, H 0.1: largest defect of (22)",
     MULTISTEP_ALTERNATING, DEFECT_V, NO_NUMBER, 1e-13, PAPER_AT_MOST},
    {"ba-multistep-x",
     "steps 0.3 H, 0.7 H, H 0.1: largest defect of (24)",
     MULTISTEP_ALTERNATING, DEFECT_X, NO_NUMBER, 1e-13, PAPER_AT_MOST},
    {"ba-multistep-three",
     "constant steps, h 0.05: largest defect of (37) with the coefficients (38)",
     MULTISTEP_CONSTANT, DEFECT_THREE, NO_NUMBER, 1e-13, PAPER_AT_MOST},
    {"ba-unfiltered-rate",
     "sigma 0, h 0.003125: largest |x + b q'|",
     UNFILTERED_0003125, 0, NO_NUMBER, 4.0229e-7, PAPER_SECOND_ORDER},
    {"ba-unfiltered-acceleration",
     "sigma 0, h 0.003125: largest |x + b q''|",
     UNFILTERED_0003125, 1, NO_NUMBER, 7.9437, PAPER_NUMBER},
};
// clang-format on

// ---- figures

static const paper_figure figures[] = {
    {
        .name = "ba-constant",
        .title = "Controlled spring-mass system: constant steps",
        .note = "After Br\u00fcls, Arnold 2008, figure 5, with *q*\u2033 besides: relative errors "
                "at *t* = 5 s, "
                "*\u03c1*_{\u221e} = 0.8",
        .x_label = "step *h* [s]",
        .step = 0.003125,
        .n_curves = 3,
        .label = {"position *q*", "controller *x*", "acceleration *q*\u2033"},
        .n_panels = 1,
        .panel = {{"Relative errors",
                   "relative error",
                   {{CONSTANT_0003125, Q}, {CONSTANT_0003125, X}, {CONSTANT_0003125, QDDOT}}}},
    },
    {
        .name = "ba-gamma",
        .title = "The sequence *\u03b3*_{n} for steps that keep growing or shrinking",
        .note = "To Br\u00fcls, Arnold 2008, equation (29): *\u03c1*_{\u221e} = 0.8, so that "
                "*s*_{min} = 0.5; from 0.01 "
                "above the nominal value",
        .x_label = "step *n*",
        .trace = trace_gamma,
        .n_curves = 4,
        .label = {"*s* = 1.2", "*s* = 1", "*s* = 0.8", "*s* = 0.4 < *s*_{min}"},
        .n_panels = 1,
        .panel =
            {{"*\u03b3*_{n}, each step *s* times the last",
              "*\u03b3*_{n}",
              {{GAMMA_GROWING, 0}, {GAMMA_CONSTANT, 0}, {GAMMA_SHRINKING, 0}, {GAMMA_BELOW, 0}}}},
    },
    {
        .name = "ba-spring",
        .title = "Controlled spring-mass system: saturation, then linear decay",
        .note = "After Br\u00fcls, Arnold 2008, figures 3 and 4: *h* = 0.1 s, "
                "*\u03c1*_{\u221e} = 0.8",
        .x_label = "time *t* [s]",
        .trace = trace,
        .smooth = true,
        .n_curves = 4,
        .label = {"position *q*", "velocity *q*\u2032", "desired force *g*^{d} = *x*",
                  "actuator force *g*^{a}"},
        .n_panels = 2,
        .panel =
            {
                {"Motion of the mass",
                 "*q* [m], *q*\u2032 [m/s]",
                 {{T20, Q}, {T20, QDOT}, {PAPER_NONE, 0}, {PAPER_NONE, 0}}},
                {"Controller and actuator",
                 "*g*^{d}, *g*^{a} [N]",
                 {{PAPER_NONE, 0}, {PAPER_NONE, 0}, {T20, X}, {T20, ACTUATOR}}},
            },
    },
    {
        .name = "ba-varstep",
        .title = "Controlled spring-mass system: constant and alternating steps",
        .note = "After Br\u00fcls, Arnold 2008, figures 5 and 6: relative errors at *t* = 5 s, "
                "*\u03c1*_{\u221e} = 0.8",
        .x_label = "step *h*, or length *H* of two steps [s]",
        .step = 0.003125,
        .same_scale = true,
        .n_curves = 3,
        .label = {"constant *h*", "0.3*H*, 0.7*H* with the update of *\u03b3* and *\u03b8*",
                  "0.3*H*, 0.7*H* without it"},
        .n_panels = 2,
        .panel =
            {
                {"Position",
                 "relative error of *q*",
                 {{CONSTANT_0003125, Q}, {WITH_0003125, Q}, {WITHOUT_0003125, Q}}},
                {"State of the controller",
                 "relative error of *x*",
                 {{CONSTANT_0003125, X}, {WITH_0003125, X}, {WITHOUT_0003125, X}}},
            },
    },
};

const paper paper_ba = {
    .name = "ba",
    .subject = "A machine and its controller in one system of equations, solved together in each "
               "step; the method "
               "as a multistep formula, from which follow its order and what has to change when "
               "the step changes. The paper shows figures and prints no numbers.",
    .claims = ba_claims,
    .n_claims = N_BA_CLAIMS,
    .citation = "Bruels, Arnold 2008",
    .title = "The generalized-alpha scheme as a linear multistep integrator: toward a general "
             "mechatronic simulator, J. Comput. Nonlinear Dynamics",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
    .runs = runs,
    .n_runs = N_RUNS,
    .figures = figures,
    .n_figures = sizeof figures / sizeof figures[0],
};
