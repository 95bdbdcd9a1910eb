// The method itself: Chung, Hulbert, "A time integration algorithm for structural dynamics with improved numerical
// dissipation: the generalized-alpha method", J. Applied Mechanics 60, 1993.
//
// The oscillator q'' = -q is integrated with the step h = Omega. The q_n obey a linear recursion
//
//     q_{n+3} + c_2 q_{n+2} + c_1 q_{n+1} + c_0 q_n = 0,
//
// whose coefficients are found from six of them. The roots z of z^3 + c_2 z^2 + c_1 z + c_0 tell all: the spectral
// radius is the largest |z|; of the pair exp(Omega' (-xi + i)), which stands for the oscillation, xi is the
// numerical damping ratio and Omega/Omega' - 1 the error of the period.
#include <complex.h>
#include <math.h>
#include <stddef.h>

#include "alphastep/alphastep.h"
#include "papers.h"
#include "simulation.h"

static const double TWO_PI = 6.283185307179586;

typedef struct setting {
  double rho_inf;
  bool hht;       ///< Hilber, Hughes and Taylor's set with this spectral radius instead
  double omega;   ///< h times the oscillator's frequency [rad]
  double longest; ///< of the runs for the errors: h [s]
} setting;

// ---- the oscillator

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->q[0];
  return AS_DONE;
}

static as_status oscillator_problem(as_problem **out, as_error *error) {
  as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.mass_constant = true;
  def.mass = mass;
  def.force = force;
  return as_problem_create(&def, out, error);
}

/// End the simulation also if this fails.
static as_status begin(simulation *sim, const setting *s, double h, as_error *error) {
  *sim = (simulation){NULL, NULL};
  as_integrator_def def = as_default_integrator_def();
  double r = s->rho_inf;
  as_status status = s->hht ? as_coefficients_hht((r - 1.0) / (r + 1.0), &def.coefficients, error)
                            : as_coefficients_chung_hulbert(r, &def.coefficients, error);
  if (status != AS_OK) return status;
  def.method = AS_METHOD_INDEX3;
  def.step = h;
  def.improved_start = false;
  def.perturbed_start = false;
  def.newton.rtol = 1e-14;
  def.newton.atol = 1e-15;
  const double q = 1.0, v = 0.0;
  return simulation_begin(sim, oscillator_problem, &def, &q, &v, error);
}

// ---- spectra

/// The roots of z^3 + c[2] z^2 + c[1] z + c[0], by Durand and Kerner's iteration.
static void find_roots(const double *c, double complex *z) {
  z[0] = 1.0;
  z[1] = 0.4 + 0.9 * csqrt(-1.0);
  z[2] = z[1] * z[1];
  for (int pass = 0; pass < 500; pass++) {
    for (int i = 0; i < 3; i++) {
      double complex value = ((z[i] + c[2]) * z[i] + c[1]) * z[i] + c[0];
      double complex others = (z[i] - z[(i + 1) % 3]) * (z[i] - z[(i + 2) % 3]);
      if (others != 0.0) z[i] -= value / others;
    }
  }
}

static double det3(const double *a, const double *b, const double *c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) +
         c[0] * (a[1] * b[2] - a[2] * b[1]);
}

enum { RADIUS, DAMPING, PERIOD };

static as_status measure_spectrum(const void *data, double *out, as_error *error) {
  const setting *s = data;
  double q[6] = {1.0};
  simulation sim;
  as_status status = begin(&sim, s, s->omega, error);
  for (int n = 1; n < 6 && status == AS_OK; n++) {
    status = as_integrator_step(sim.integrator, s->omega, error);
    if (status == AS_OK) q[n] = as_integrator_state(sim.integrator)->q[0];
  }
  simulation_end(&sim);
  if (status != AS_OK) return status;
  // Columns q_n, q_{n+1}, q_{n+2} of three equations; Cramer's rule.
  double d = det3(q, q + 1, q + 2);
  double c[3] = {-det3(q + 3, q + 1, q + 2) / d, -det3(q, q + 3, q + 2) / d,
                 -det3(q, q + 1, q + 3) / d};
  double complex z[3];
  find_roots(c, z);
  double complex turning = z[0];
  out[RADIUS] = 0.0;
  for (int i = 0; i < 3; i++) {
    out[RADIUS] = fmax(out[RADIUS], cabs(z[i]));
    if (cimag(z[i]) > cimag(turning)) turning = z[i];
  }
  out[DAMPING] = -log(cabs(turning)) / carg(turning);
  out[PERIOD] = s->omega / carg(turning) - 1.0;
  return AS_OK;
}

/// One of these numbers against log10 of h over the period.
static as_status trace_spectrum(const void *data, int output, double *t, double *out, int *n,
                                as_error *error) {
  setting s = *(const setting *)data;
  double low = output == RADIUS ? -1.5 : 0.02, high = output == RADIUS ? 2.5 : 0.4;
  enum { POINTS = 120 };
  for (*n = 0; *n < POINTS; ++*n) {
    double x = low + (high - low) * *n / (POINTS - 1);
    t[*n] = x;
    s.omega = TWO_PI * (output == RADIUS ? pow(10.0, x) : x);
    double numbers[PAPER_OUTPUTS];
    as_status status = measure_spectrum(&s, numbers, error);
    if (status != AS_OK) return status;
    out[*n] = numbers[output];
  }
  return AS_OK;
}

/// The largest spectral radius for rho_inf 0.1 to 0.9 and h from 0.03 to 100 periods.
static as_status measure_stability(const void *data, double *out, as_error *error) {
  (void)data;
  out[0] = 0.0;
  for (int i = 1; i <= 9; i++) {
    setting s = {.rho_inf = 0.1 * i};
    double t[PAPER_POINTS], radius[PAPER_POINTS];
    int n;
    as_status status = trace_spectrum(&s, RADIUS, t, radius, &n, error);
    if (status != AS_OK) return status;
    for (int k = 0; k < n; k++) out[0] = fmax(out[0], radius[k]);
  }
  return AS_OK;
}

// ---- errors

enum { Q, V };

/// Errors of q and v at t = 10 s.
static as_status measure_errors(const void *data, double *out, as_error *error) {
  const setting *s = data;
  const double t_end = 10.0;
  simulation sim;
  as_status status = begin(&sim, s, s->longest, error);
  int n = (int)lround(t_end / s->longest);
  for (int i = 0; i < n && status == AS_OK; i++) {
    status = as_integrator_step(sim.integrator, s->longest, error);
  }
  if (status == AS_OK) {
    const as_state *state = as_integrator_state(sim.integrator);
    out[Q] = fabs(state->q[0] - cos(t_end));
    out[V] = fabs(state->v[0] + sin(t_end));
  }
  simulation_end(&sim);
  return status;
}

// ---- the tables

enum {
  INFINITE_02,
  INFINITE_05,
  INFINITE_08,
  INFINITE_09,
  STABILITY,
  LOW_05,
  LOW_08,
  LOW_09,
  LOW_HHT_08,
  ERRORS_01,
  ERRORS_005,
  ERRORS_0025,
  ERRORS_00125,
  N_RUNS,
};

// clang-format off
#define SPECTRUM(rho, om) measure_spectrum, &(const setting){.rho_inf = (rho), .omega = (om)}
#define ERRORS(h) measure_errors, &(const setting){.rho_inf = 0.8, .longest = (h)}
// clang-format on

static const paper_run runs[N_RUNS] = {
    [INFINITE_02] = {SPECTRUM(0.2, 3e3), PAPER_NONE},
    [INFINITE_05] = {SPECTRUM(0.5, 3e3), PAPER_NONE},
    [INFINITE_08] = {SPECTRUM(0.8, 3e3), PAPER_NONE},
    [INFINITE_09] = {SPECTRUM(0.9, 3e3), PAPER_NONE},
    [STABILITY] = {measure_stability, NULL, PAPER_NONE},
    [LOW_05] = {SPECTRUM(0.5, 0.5), PAPER_NONE},
    [LOW_08] = {SPECTRUM(0.8, 0.5), PAPER_NONE},
    [LOW_09] = {SPECTRUM(0.9, 0.5), PAPER_NONE},
    [LOW_HHT_08] = {measure_spectrum, &(const setting){.rho_inf = 0.8, .hht = true, .omega = 0.5},
                    PAPER_NONE},
    [ERRORS_01] = {ERRORS(0.1), PAPER_NONE},
    [ERRORS_005] = {ERRORS(0.05), ERRORS_01},
    [ERRORS_0025] = {ERRORS(0.025), ERRORS_005},
    [ERRORS_00125] = {ERRORS(0.0125), ERRORS_0025},
};

#define NO_NUMBER ((double)NAN)

// clang-format off
static const paper_row rows[] = {
    // id, what, run, output, published, expected, judge
    {"ch-infinity-rho0.2",
     "oscillator, h omega 3000, rho_inf 0.2: spectral radius",
     INFINITE_02, RADIUS, 0.2, 0.203070, PAPER_WITHIN},
    {"ch-infinity-rho0.5",
     "oscillator, h omega 3000, rho_inf 0.5: spectral radius",
     INFINITE_05, RADIUS, 0.5, 0.503761, PAPER_WITHIN},
    {"ch-infinity-rho0.8",
     "oscillator, h omega 3000, rho_inf 0.8: spectral radius",
     INFINITE_08, RADIUS, 0.8, 0.803729, PAPER_WITHIN},
    {"ch-infinity-rho0.9",
     "oscillator, h omega 3000, rho_inf 0.9: spectral radius",
     INFINITE_09, RADIUS, 0.9, 0.903221, PAPER_WITHIN},
    {"ch-stability",
     "oscillator, h 0.03 to 300 periods, rho_inf 0.1 to 0.9: largest spectral radius",
     STABILITY, 0, NO_NUMBER, 1.0, PAPER_AT_MOST},
    {"ch-low-damping-rho0.5",
     "oscillator, h omega 0.5, rho_inf 0.5: numerical damping ratio",
     LOW_05, DAMPING, NO_NUMBER, 2.03781812286e-3, PAPER_WITHIN},
    {"ch-low-damping-rho0.8",
     "oscillator, h omega 0.5, rho_inf 0.8: numerical damping ratio",
     LOW_08, DAMPING, NO_NUMBER, 8.15050757102e-5, PAPER_WITHIN},
    {"ch-low-damping-rho0.9",
     "oscillator, h omega 0.5, rho_inf 0.9: numerical damping ratio",
     LOW_09, DAMPING, NO_NUMBER, 8.73167379623e-6, PAPER_WITHIN},
    {"ch-low-damping-hht",
     "oscillator, h omega 0.5, HHT with rho_inf 0.8: numerical damping ratio",
     LOW_HHT_08, DAMPING, NO_NUMBER, 1.2219593256e-3, PAPER_WITHIN},
    {"ch-low-period-rho0.5",
     "oscillator, h omega 0.5, rho_inf 0.5: relative error of the period",
     LOW_05, PERIOD, NO_NUMBER, 3.01476617151e-2, PAPER_WITHIN},
    {"ch-low-period-rho0.8",
     "oscillator, h omega 0.5, rho_inf 0.8: relative error of the period",
     LOW_08, PERIOD, NO_NUMBER, 2.16239315537e-2, PAPER_WITHIN},
    {"ch-low-period-rho0.9",
     "oscillator, h omega 0.5, rho_inf 0.9: relative error of the period",
     LOW_09, PERIOD, NO_NUMBER, 2.07511958321e-2, PAPER_WITHIN},
    {"ch-order-q",
     "oscillator, rho_inf 0.8, t = 10, h 0.0125: error of q",
     ERRORS_00125, Q, NO_NUMBER, 7.4750e-5, PAPER_SECOND_ORDER},
    {"ch-order-v",
     "oscillator, rho_inf 0.8, t = 10, h 0.0125: error of q'",
     ERRORS_00125, V, NO_NUMBER, 1.1546e-4, PAPER_SECOND_ORDER},
};
// clang-format on

static const paper_figure figures[] = {
    {
        .name = "ch-infinity",
        .title = "Spectral radius against the step",
        .note = "To Chung, Hulbert 1993: oscillator of period *T*; read off runs of the library",
        .x_label = "log_{10}(*h*/*T*)",
        .trace = trace_spectrum,
        .smooth = true,
        .n_curves = 4,
        .label = {"*\u03c1*_{\u221e} = 0.9", "0.8", "0.5", "0.2"},
        .n_panels = 1,
        .panel = {{"Spectral radius",
                   "spectral radius",
                   {{INFINITE_09, RADIUS},
                    {INFINITE_08, RADIUS},
                    {INFINITE_05, RADIUS},
                    {INFINITE_02, RADIUS}}}},
    },
    {
        .name = "ch-low",
        .title = "Damping and period of what the step resolves",
        .note = "To Chung, Hulbert 1993: oscillator of period *T*, spectral radius 0.8 at infinity",
        .x_label = "*h*/*T*",
        .trace = trace_spectrum,
        .smooth = true,
        .n_curves = 2,
        .label = {"generalized-\u03b1", "Hilber, Hughes, Taylor"},
        .n_panels = 2,
        .panel =
            {
                {"Numerical damping ratio",
                 "damping ratio *\u03be*",
                 {{LOW_08, DAMPING}, {LOW_HHT_08, DAMPING}}},
                {"Relative error of the period",
                 "error of the period",
                 {{LOW_08, PERIOD}, {LOW_HHT_08, PERIOD}}},
            },
    },
    {
        .name = "ch-order",
        .title = "Oscillator: errors at *t* = 10 s",
        .note = "To Chung, Hulbert 1993: *\u03c1*_{\u221e} = 0.8",
        .x_label = "step *h* [s]",
        .step = 0.0125,
        .n_curves = 2,
        .label = {"*q*", "*q*\u2032"},
        .n_panels = 1,
        .panel = {{"Errors", "error", {{ERRORS_00125, Q}, {ERRORS_00125, V}}}},
    },
};

const paper paper_ch = {
    .name = "ch",
    .citation = "Chung, Hulbert 1993",
    .title = "A time integration algorithm for structural dynamics with improved numerical "
             "dissipation: the "
             "generalized-alpha method, J. Applied Mechanics",
    .subject = "The method for linear structures: second order, stable for every step, with a "
               "damping of what the "
               "step does not resolve that the user chooses by one number, *\u03c1*_{\u221e}.",
    .claims = ch_claims,
    .n_claims = N_CH_CLAIMS,
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
    .runs = runs,
    .n_runs = N_RUNS,
    .figures = figures,
    .n_figures = sizeof figures / sizeof figures[0],
};
