// The experiments with the SOI2 method of
//
// - Jay, Negrut, "A second order extension of the generalized-alpha method for constrained systems in
//   mechanics", 2008: steps that alternate between H/3 and 2H/3, with and without their corrections
//   (15) and (16) for steps that change;
// - Jay, "Convergence of the generalized-alpha method for constrained systems in mechanics with
//   nonholonomic constraints", 2011: constant steps.
//
// rho_inf = 0.2 everywhere. Both print no numbers, only figures. Errors are 2-norms over the
// components at the end of the run; a_n stands for the acceleration at t_n + D h, D = alpha_m -
// alpha_f, with the last step h. The first a is v'_0.
#include <math.h>
#include <stddef.h>

#include "alphastep/alphastep.h"
#include "paper_problems.h"
#include "papers.h"
#include "simulation.h"

static const double RHO_INF = 0.2;

/// The numbers that a run gives: errors at the end, and how much the energy has changed.
enum { Y, Z, A, LAMBDA, PSI, ENERGY };

typedef struct setting {
  paper_problem_fn *problem;
  double step;      ///< h, or the length H of two steps H/3 and 2H/3 [s]
  bool alternating; ///< H/3, 2H/3, H/3, ...
  bool corrections; ///< when the step changes
} setting;

/// The 2-norm of x - y.
static double distance(int n, const double *x, const double *y) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

/// Runs from t = 0 to t_end. End the simulation also if this fails.
static as_status simulate(simulation *sim, const setting *s, const double *q, const double *v,
                          double t_end, as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  def.method = AS_METHOD_SOI2;
  def.step = s->step;
  def.rho_inf = RHO_INF;
  def.step_corrections = s->corrections;
  def.improved_start = false;
  def.soi2.implicit_start = false;
  def.soi2.reevaluate_mass = false;
  as_status status = simulation_begin(sim, s->problem, &def, q, v, error);
  int n = (int)lround(t_end / s->step);
  for (int i = 0; i < n && status == AS_OK; i++) {
    if (s->alternating) {
      status = as_integrator_step(sim->integrator, s->step / 3.0, error);
      if (status != AS_OK) break;
      status = as_integrator_step(sim->integrator, 2.0 * s->step / 3.0, error);
    } else {
      status = as_integrator_step(sim->integrator, s->step, error);
    }
  }
  return status;
}

/// The problems with the motion q = (exp(t), exp(-2t)), at t = 1.
static as_status measure_exponential(const void *data, double *out, as_error *error) {
  const setting *s = data;
  as_coefficients c;
  as_status status = as_coefficients_chung_hulbert(RHO_INF, &c, error);
  if (status != AS_OK) return status;
  double q[2], v[2], a[2];
  exponential_coordinates(0.0, q, v, a);
  simulation sim;
  status = simulate(&sim, s, q, v, 1.0, error);
  if (status == AS_OK) {
    const as_state *state = as_integrator_state(sim.integrator);
    double last = s->alternating ? 2.0 * s->step / 3.0 : s->step;
    double t = state->t + (c.alpha_m - c.alpha_f) * last;
    exponential_coordinates(t, q, v, a);
    out[A] = distance(2, state->a, a);
    exponential_coordinates(state->t, q, v, a);
    out[Y] = distance(2, state->q, q);
    out[Z] = distance(2, state->v, v);
    if (s->problem == exponential_problem) {
      out[LAMBDA] = fabs(state->lambda[0] - exp(-state->t));
      out[PSI] = fabs(state->psi[0] - exp(state->t));
    } else {
      out[PSI] = fabs(state->psi[0] - exp(-state->t));
    }
  }
  simulation_end(&sim);
  return status;
}

/// The rolling disk, at t = 10.
static as_status measure_disk(const void *data, double *out, as_error *error) {
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

#define NO_NUMBER ((double)NAN)

// ---- Jay and Negrut

enum {
  WITH_01,
  WITH_005,
  WITH_0025,
  WITH_00125,
  WITH_000625,
  WITHOUT_01,
  WITHOUT_005,
  WITHOUT_0025,
  WITHOUT_00125,
  WITHOUT_000625,
  N_JN_RUNS,
};

// clang-format off
#define ALTERNATING(length, correct) \
  measure_exponential, \
  &(const setting){.problem = exponential_problem, .step = (length), .alternating = true, \
                   .corrections = (correct)}
// clang-format on

static const paper_run jn_runs[N_JN_RUNS] = {
    [WITH_01] = {ALTERNATING(0.1, true), PAPER_NONE},
    [WITH_005] = {ALTERNATING(0.05, true), WITH_01},
    [WITH_0025] = {ALTERNATING(0.025, true), WITH_005},
    [WITH_00125] = {ALTERNATING(0.0125, true), WITH_0025},
    [WITH_000625] = {ALTERNATING(0.00625, true), WITH_00125},
    [WITHOUT_01] = {ALTERNATING(0.1, false), PAPER_NONE},
    [WITHOUT_005] = {ALTERNATING(0.05, false), WITHOUT_01},
    [WITHOUT_0025] = {ALTERNATING(0.025, false), WITHOUT_005},
    [WITHOUT_00125] = {ALTERNATING(0.0125, false), WITHOUT_0025},
    [WITHOUT_000625] = {ALTERNATING(0.00625, false), WITHOUT_00125},
};

// clang-format off
static const paper_row jn_rows[] = {
    // id, what, run, output, published, expected, judge
    {"jn-soi2-with-y",
     "section 8, H 0.00625, with (15) and (16): error of y",
     WITH_000625, Y, NO_NUMBER, 1.734e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-with-z",
     "section 8, H 0.00625, with (15) and (16): error of z",
     WITH_000625, Z, NO_NUMBER, 1.759e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-with-a",
     "section 8, H 0.00625, with (15) and (16): error of a",
     WITH_000625, A, NO_NUMBER, 4.507e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-with-lambda",
     "section 8, H 0.00625, with (15) and (16): error of lambda",
     WITH_000625, LAMBDA, NO_NUMBER, 4.844e-6, PAPER_SECOND_ORDER},
    {"jn-soi2-with-psi",
     "section 8, H 0.00625, with (15) and (16): error of psi",
     WITH_000625, PSI, NO_NUMBER, 1.054e-6, PAPER_SECOND_ORDER},
    {"jn-soi2-without-y",
     "section 8, H 0.00625, without (15) and (16): error of y",
     WITHOUT_000625, Y, NO_NUMBER, 1.568e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-without-z",
     "section 8, H 0.00625, without (15) and (16): error of z",
     WITHOUT_000625, Z, NO_NUMBER, 1.591e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-without-a",
     "section 8, H 0.00625, without (15) and (16): error of a",
     WITHOUT_000625, A, NO_NUMBER, 5.42e-4, PAPER_WITHIN},
    {"jn-soi2-without-lambda",
     "section 8, H 0.00625, without (15) and (16): error of lambda",
     WITHOUT_000625, LAMBDA, NO_NUMBER, 5.72e-4, PAPER_WITHIN},
    {"jn-soi2-without-psi",
     "section 8, H 0.00625, without (15) and (16): error of psi",
     WITHOUT_000625, PSI, NO_NUMBER, 2.08e-5, PAPER_WITHIN},
};
// clang-format on

static const paper_figure jn_figures[] = {
    {
        .name = "jn-soi2",
        .title = "SOI2 with steps that alternate between *H*/3 and 2*H*/3",
        .note = "After Jay, Negrut 2008, figures 1 and 2: errors at *t* = 1, "
                "*\u03c1*_{\u221e} = 0.2",
        .x_label = "length *H* of two steps",
        .step = 0.00625,
        .same_scale = true,
        .n_curves = 5,
        .label = {"*y*", "*z*", "*a*", "*\u03bb*", "*\u03c8*"},
        .n_panels = 2,
        .panel =
            {
                {"With the corrections (15) and (16)",
                 "error",
                 {{WITH_000625, Y},
                  {WITH_000625, Z},
                  {WITH_000625, A},
                  {WITH_000625, LAMBDA},
                  {WITH_000625, PSI}}},
                {"Without them",
                 "error",
                 {{WITHOUT_000625, Y},
                  {WITHOUT_000625, Z},
                  {WITHOUT_000625, A},
                  {WITHOUT_000625, LAMBDA},
                  {WITHOUT_000625, PSI}}},
            },
    },
};

const paper paper_jn = {
    .citation = "Jay, Negrut 2008",
    .title = "A second order extension of the generalized-alpha method for constrained systems in "
             "mechanics",
    .rows = jn_rows,
    .n_rows = sizeof jn_rows / sizeof jn_rows[0],
    .runs = jn_runs,
    .n_runs = N_JN_RUNS,
    .figures = jn_figures,
    .n_figures = sizeof jn_figures / sizeof jn_figures[0],
};

// ---- Jay

enum {
  J71_01,
  J71_005,
  J71_0025,
  J71_00125,
  J71_000625,
  DISK_00125,
  DISK_000625,
  DISK_0003125,
  DISK_00015625,
  DISK_000078125,
  DISK_PRINTED,
  N_J_RUNS,
};

// clang-format off
#define CONSTANT(measure, make, h) \
  measure, &(const setting){.problem = (make), .step = (h), .corrections = true}
#define J71(h) CONSTANT(measure_exponential, exponential_nonholonomic_problem, h)
#define DISK(h) CONSTANT(measure_disk, disk_problem, h)
// clang-format on

static const paper_run j_runs[N_J_RUNS] = {
    [J71_01] = {J71(0.1), PAPER_NONE},
    [J71_005] = {J71(0.05), J71_01},
    [J71_0025] = {J71(0.025), J71_005},
    [J71_00125] = {J71(0.0125), J71_0025},
    [J71_000625] = {J71(0.00625), J71_00125},
    [DISK_00125] = {DISK(0.0125), PAPER_NONE},
    [DISK_000625] = {DISK(0.00625), DISK_00125},
    [DISK_0003125] = {DISK(0.003125), DISK_000625},
    [DISK_00015625] = {DISK(0.0015625), DISK_0003125},
    [DISK_000078125] = {DISK(0.00078125), DISK_00015625},
    [DISK_PRINTED] = {CONSTANT(measure_disk, disk_printed_problem, 0.003125), PAPER_NONE},
};

// clang-format off
static const paper_row j_rows[] = {
    // id, what, run, output, published, expected, judge
    {"j-71-y",
     "(7.1), h 0.00625: error of y",
     J71_000625, Y, NO_NUMBER, 1.488e-4, PAPER_SECOND_ORDER},
    {"j-71-z",
     "(7.1), h 0.00625: error of z",
     J71_000625, Z, NO_NUMBER, 1.281e-3, PAPER_SECOND_ORDER},
    {"j-71-a",
     "(7.1), h 0.00625: error of a",
     J71_000625, A, NO_NUMBER, 1.19e-2, PAPER_SECOND_ORDER},
    {"j-71-psi",
     "(7.1), h 0.00625: error of psi",
     J71_000625, PSI, NO_NUMBER, 1.719e-3, PAPER_SECOND_ORDER},
    {"j-disk-y-h0.0125",
     "rolling disk, h 0.0125: error of y",
     DISK_00125, Y, NO_NUMBER, 5.64e-3, PAPER_WITHIN},
    {"j-disk-y-h0.00625",
     "rolling disk, h 0.00625: error of y",
     DISK_000625, Y, NO_NUMBER, 8.27e-4, PAPER_SECOND_ORDER},
    {"j-disk-y-h0.003125",
     "rolling disk, h 0.003125: error of y",
     DISK_0003125, Y, NO_NUMBER, 1.342e-4, PAPER_SECOND_ORDER},
    {"j-disk-printed-energy",
     "rolling disk as printed, h 0.003125: change of energy",
     DISK_PRINTED, ENERGY, NO_NUMBER, 4.434e-3, PAPER_WITHIN},
};
// clang-format on

static const paper_figure j_figures[] = {
    {
        .name = "j-71",
        .title = "A nonholonomic constraint: test problem (7.1)",
        .note = "After Jay 2011, figure 7.1: *\u03c1*_{\u221e} = 0.2",
        .x_label = "step *h*",
        .step = 0.00625,
        .n_curves = 4,
        .label = {"*y*", "*z*", "*a*", "*\u03c8*"},
        .n_panels = 1,
        .panel = {{"Errors at *t* = 1",
                   "error",
                   {{J71_000625, Y}, {J71_000625, Z}, {J71_000625, A}, {J71_000625, PSI}}}},
    },
    {
        .name = "j-disk",
        .title = "Two nonholonomic constraints: rolling disk",
        .note = "After Jay 2011, figure 7.2, fourth force completed: "
                "*\u03c1*_{\u221e} = 0.2",
        .x_label = "step *h*",
        .step = 0.00078125,
        .n_curves = 3,
        .label = {"*y*", "*z*", "*\u03c8*"},
        .n_panels = 1,
        .panel = {{"Errors at *t* = 10",
                   "error",
                   {{DISK_000078125, Y}, {DISK_000078125, Z}, {DISK_000078125, PSI}}}},
    },
};

const paper paper_j = {
    .citation = "Jay 2011",
    .title =
        "Convergence of the generalized-alpha method for constrained systems in mechanics with "
        "nonholonomic constraints",
    .rows = j_rows,
    .n_rows = sizeof j_rows / sizeof j_rows[0],
    .runs = j_runs,
    .n_runs = N_J_RUNS,
    .figures = j_figures,
    .n_figures = sizeof j_figures / sizeof j_figures[0],
};
