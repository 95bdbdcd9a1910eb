// The car of Bruels, Arnold, "The generalized-alpha scheme as a linear multistep integrator: toward a general
// mechatronic simulator", J. Comput. Nonlinear Dynamics, 2008, second application: figures 12 to 15 and what the text
// says of them, from runs of our own car (examples/car), since theirs is not public.
//
// h = 0.01 s, rho_inf = 0.9 and the index-3 form as in the paper. The lean car is also known from a program
// without joints, in minimal coordinates (DOP853 with 1e-10, with pressures Radau with 1e-9); its numbers are the expected
// ones. Of the bushed car nothing is known beforehand; limits are judged.
#include <math.h>
#include <stddef.h>

#include "car.h"
#include "papers.h"

#define PI 3.14159265358979323846
#define DEGREES (180.0 / PI)
#define BAR 1e5

// The damper's gas, as in the block `semi_active_damper`.
#define GAS_PRESSURE 4e5  // at the design's length [Pa]
#define GAS_VOLUME 1.2e-4 // [m^3]
#define GAS_EXPONENT 1.3
#define ROD_AREA 3.8e-4 // [m^2]

/// A damper extends or is compressed where its rate is above this [m/s]: below, check valves are neither open nor shut.
#define MOVING 0.03

#define MOST_CURRENT 1.6 // that a valve takes [A]
#define NEAR_LIMIT 0.08  // 5 % of it

// ---- numbers of a run

enum { END_Y, END_YAW, LARGEST_ACCELERATION, LARGEST_ROLL, LARGEST_PITCH };

/// Where the car ends, and the largest of what shakes it.
static as_status measure_motion(const void *setting, double *out, as_error *error) {
  const car_motion *m;
  as_status status = car_change_lane(setting, &m, error);
  if (status) return status;
  for (int i = 0; i < PAPER_OUTPUTS; i++) out[i] = 0.0;
  for (int i = 0; i < m->n; i++) {
    const double *at = m->at[i];
    out[LARGEST_ACCELERATION] = fmax(out[LARGEST_ACCELERATION], fabs(at[CAR_ACCELERATION]));
    out[LARGEST_ROLL] = fmax(out[LARGEST_ROLL], DEGREES * fabs(at[CAR_ROLL]));
    out[LARGEST_PITCH] = fmax(out[LARGEST_PITCH], DEGREES * fabs(at[CAR_PITCH]));
  }
  out[END_Y] = m->at[m->n - 1][CAR_Y];
  out[END_YAW] = 1e3 * m->at[m->n - 1][CAR_YAW];
  return AS_OK;
}

enum { LEAST_CURRENT, LARGEST_CURRENT, BETWEEN, EXTENDING, EXTENDING_GAS, REBOUND, COMPRESSING };

static double gas_pressure(double stroke) {
  return GAS_PRESSURE * pow(GAS_VOLUME / (GAS_VOLUME + ROD_AREA * stroke), GAS_EXPONENT);
}

/// Currents of all valves: least, largest, and the share of the time that they are between their limits. Pressures of the damper
/// at the rear right: while it extends the largest compression pressure, the same over the gas pressure, and the largest rebound
/// pressure; while it is compressed the largest difference of the two.
static as_status measure_dampers(const void *setting, double *out, as_error *error) {
  const car_motion *m;
  as_status status = car_change_lane(setting, &m, error);
  if (status) return status;
  for (int i = 0; i < PAPER_OUTPUTS; i++) out[i] = 0.0;
  out[LEAST_CURRENT] = (double)INFINITY;
  for (int i = 0; i < m->n; i++) {
    const double *at = m->at[i], low = at[CAR_COMPRESSION], high = at[CAR_REBOUND];
    for (int k = CAR_CURRENT; k < CAR_CURRENT + 4; k++) {
      out[LEAST_CURRENT] = fmin(out[LEAST_CURRENT], at[k]);
      out[LARGEST_CURRENT] = fmax(out[LARGEST_CURRENT], at[k]);
      out[BETWEEN] += (at[k] > NEAR_LIMIT && at[k] < MOST_CURRENT - NEAR_LIMIT) / (4.0 * m->n);
    }
    if (at[CAR_RATE] > MOVING) {
      out[EXTENDING] = fmax(out[EXTENDING], low / BAR);
      out[EXTENDING_GAS] = fmax(out[EXTENDING_GAS], low / gas_pressure(at[CAR_STROKE]));
      out[REBOUND] = fmax(out[REBOUND], high / BAR);
    }
    if (at[CAR_RATE] < -MOVING) out[COMPRESSING] = fmax(out[COMPRESSING], fabs(low - high) / BAR);
  }
  return AS_OK;
}

enum { ERROR_Y, ERROR_YAW, ERROR_ROLL, ERROR_ACCELERATION, N_ERRORS };

/// The lean car with linear dampers, by the program in minimal coordinates: t, y, yaw, roll, acceleration across the road.
static const double exact[][1 + N_ERRORS] = {
    {1.0, 0.0207037158126, 0.0123424004247, 0.00942957618929, 1.49508861174},
    {1.5, 0.459241476938, 0.146375421106, 0.0350175999711, 4.13726906513},
    {2.0, 1.76178542138, 0.301322490108, -0.000894272464026, -0.522337804466},
    {2.5, 2.96981464404, 0.197066660038, -0.0342306279486, -4.14609025589},
    {3.0, 3.29768261426, 0.0327763957555, -0.00774534964684, -0.892243957036},
};
enum { N_EXACT = sizeof exact / sizeof exact[0] };

/// The largest error at these times, relative to the largest of these values.
static as_status measure_errors(const void *setting, double *out, as_error *error) {
  static const int column[N_ERRORS] = {CAR_Y, CAR_YAW, CAR_ROLL, CAR_ACCELERATION};
  const car_motion *m;
  as_status status = car_change_lane(setting, &m, error);
  if (status) return status;
  for (int k = 0; k < N_ERRORS; k++) {
    double largest = 0.0;
    out[k] = 0.0;
    for (int i = 0; i < N_EXACT; i++) {
      const long row = lround(exact[i][0] / CAR_INTERVAL);
      const double off = row < m->n ? m->at[row][column[k]] - exact[i][1 + k] : (double)NAN;
      out[k] = isnan(off) ? off : fmax(out[k], fabs(off));
      largest = fmax(largest, fabs(exact[i][1 + k]));
    }
    out[k] /= largest;
  }
  return AS_OK;
}

// ---- curves

/// A column, in the units of its figure.
static double in_figure(const double *at, int column) {
  switch (column) {
  case CAR_ROLL:
  case CAR_PITCH: return DEGREES * at[column];
  case CAR_REBOUND:
  case CAR_COMPRESSION: return at[column] / BAR;
  default: return at[column];
  }
}

/// Over time.
static as_status trace(const void *setting, int output, double *t, double *out, int *n,
                       as_error *error) {
  const car_motion *m;
  as_status status = car_change_lane(setting, &m, error);
  if (status) return status;
  for (*n = 0; *n < m->n; ++*n) {
    t[*n] = m->t[*n];
    out[*n] = in_figure(m->at[*n], output);
  }
  return AS_OK;
}

/// Over the way along the road.
static as_status trace_path(const void *setting, int output, double *x, double *out, int *n,
                            as_error *error) {
  const car_motion *m;
  as_status status = trace(setting, output, x, out, n, error);
  if (status == AS_OK) status = car_change_lane(setting, &m, error);
  for (int i = 0; status == AS_OK && i < *n; i++) x[i] = m->at[i][CAR_X];
  return status;
}

// ---- runs and rows

enum {
  BUSHED_MOTION,
  BUSHED_DAMPERS,
  LEAN_MOTION,
  LEAN_DAMPERS,
  LINEAR_02,
  LINEAR_01,
  LINEAR_005,
  LINEAR_0025,
  N_RUNS,
};

static const car_setting bushed = {true, CAR_CONTROLLED, 0.01, 6.0},
                         lean = {false, CAR_CONTROLLED, 0.01, 6.0};

// clang-format off
#define LINEAR(h) \
  measure_errors, &(const car_setting){false, CAR_LINEAR, (h), 3.0}
// clang-format on

static const paper_run runs[N_RUNS] = {
    [BUSHED_MOTION] = {measure_motion, &bushed, PAPER_NONE},
    [BUSHED_DAMPERS] = {measure_dampers, &bushed, PAPER_NONE},
    [LEAN_MOTION] = {measure_motion, &lean, PAPER_NONE},
    [LEAN_DAMPERS] = {measure_dampers, &lean, PAPER_NONE},
    [LINEAR_02] = {LINEAR(0.02), PAPER_NONE},
    [LINEAR_01] = {LINEAR(0.01), LINEAR_02},
    [LINEAR_005] = {LINEAR(0.005), LINEAR_01},
    [LINEAR_0025] = {LINEAR(0.0025), LINEAR_005},
};

#define NO_NUMBER ((double)NAN)

// clang-format off
static const paper_row rows[] = {
    // id, what, run, output, published, expected, judge
    {"ba-car-path-y", "lean car, controlled: where it ends across the road, t = 6 [m]",
     LEAN_MOTION, END_Y, NO_NUMBER, 3.4883, PAPER_NUMBER},
    {"ba-car-path-yaw", "lean car, controlled: yaw that is left at t = 6 [mrad]",
     LEAN_MOTION, END_YAW, NO_NUMBER, 6.69, PAPER_NUMBER},
    {"ba-car-path-bushed-y", "bushed car, controlled: where it ends across the road, t = 6 [m]",
     BUSHED_MOTION, END_Y, NO_NUMBER, 4.0, PAPER_AT_MOST},
    {"ba-car-path-bushed-yaw", "bushed car, controlled: yaw that is left at t = 6 [mrad]",
     BUSHED_MOTION, END_YAW, NO_NUMBER, 15.0, PAPER_AT_MOST},
    {"ba-car-angles-roll", "lean car, controlled: largest roll [deg]",
     LEAN_MOTION, LARGEST_ROLL, NO_NUMBER, 2.001, PAPER_NUMBER},
    {"ba-car-angles-pitch", "lean car, controlled: largest pitch [deg]",
     LEAN_MOTION, LARGEST_PITCH, NO_NUMBER, 0.180, PAPER_NUMBER},
    {"ba-car-angles-acceleration", "lean car, controlled: largest acceleration across the road [m/s^2]",
     LEAN_MOTION, LARGEST_ACCELERATION, NO_NUMBER, 4.18, PAPER_NUMBER},
    {"ba-car-angles-bushed-roll", "bushed car, controlled: largest roll [deg]",
     BUSHED_MOTION, LARGEST_ROLL, NO_NUMBER, 2.4, PAPER_AT_MOST},
    {"ba-car-angles-bushed-pitch", "bushed car, controlled: largest pitch [deg]",
     BUSHED_MOTION, LARGEST_PITCH, NO_NUMBER, 0.4, PAPER_AT_MOST},
    {"ba-car-currents-least", "lean car: least current of a valve [A]",
     LEAN_DAMPERS, LEAST_CURRENT, NO_NUMBER, 0.05, PAPER_AT_MOST},
    {"ba-car-currents-largest", "lean car: largest current of a valve, of 1.6 [A]",
     LEAN_DAMPERS, LARGEST_CURRENT, NO_NUMBER, 1.597, PAPER_NUMBER},
    {"ba-car-currents-bushed-least", "bushed car: least current of a valve [A]",
     BUSHED_DAMPERS, LEAST_CURRENT, NO_NUMBER, 0.05, PAPER_AT_MOST},
    {"ba-car-currents-bushed-largest", "bushed car: largest current of a valve, of 1.6 [A]",
     BUSHED_DAMPERS, LARGEST_CURRENT, NO_NUMBER, 1.597, PAPER_NUMBER},
    {"ba-car-currents-bushed-between", "bushed car: share of the time that currents are more than 5 % away from both limits [-]",
     BUSHED_DAMPERS, BETWEEN, NO_NUMBER, 0.5, PAPER_AT_MOST},
    {"ba-car-pressures-extending", "lean car, rear right, extending by more than 0.03 m/s: largest compression pressure [bar]",
     LEAN_DAMPERS, EXTENDING, NO_NUMBER, 4.15, PAPER_AT_MOST},
    {"ba-car-pressures-rebound", "lean car, rear right, extending by more than 0.03 m/s: largest rebound pressure [bar]",
     LEAN_DAMPERS, REBOUND, NO_NUMBER, 8.1, PAPER_NUMBER},
    {"ba-car-pressures-compressing", "lean car, rear right, compressed by more than 0.03 m/s: largest difference of the two [bar]",
     LEAN_DAMPERS, COMPRESSING, NO_NUMBER, 0.13, PAPER_AT_MOST},
    {"ba-car-pressures-bushed-extending", "bushed car, rear right, extending: largest compression pressure over that of the gas [-]",
     BUSHED_DAMPERS, EXTENDING_GAS, NO_NUMBER, 1.2, PAPER_AT_MOST},
    {"ba-car-pressures-bushed-compressing", "bushed car, rear right, compressed: largest difference of the two [bar]",
     BUSHED_DAMPERS, COMPRESSING, NO_NUMBER, 1.0, PAPER_AT_MOST},
    {"ba-car-order-y", "lean car, linear dampers, h 0.0025: largest relative error of y",
     LINEAR_0025, ERROR_Y, NO_NUMBER, NO_NUMBER, PAPER_ORDER},
    {"ba-car-order-yaw", "lean car, linear dampers, h 0.0025: largest relative error of yaw",
     LINEAR_0025, ERROR_YAW, NO_NUMBER, NO_NUMBER, PAPER_ORDER},
    {"ba-car-order-roll", "lean car, linear dampers, h 0.0025: largest relative error of roll",
     LINEAR_0025, ERROR_ROLL, NO_NUMBER, NO_NUMBER, PAPER_ORDER},
    {"ba-car-order-acceleration", "lean car, linear dampers, h 0.0025: largest relative error of the acceleration across the road",
     LINEAR_0025, ERROR_ACCELERATION, NO_NUMBER, NO_NUMBER, PAPER_ORDER},
};
// clang-format on

// ---- figures

static const paper_figure figures[] = {
    {
        .name = "ba-car-path",
        .title = "A car with semi-active dampers changes lane: its path",
        .note = "After Br\u00fcls, Arnold 2008, figure 12, with a car of our own: *h* = 0.01 s, "
                "*\u03c1*_{\u221e} = 0.9, index 3, 10 m/s",
        .x_label = "along the road *x* [m]",
        .trace = trace_path,
        .smooth = true,
        .n_curves = 2,
        .label = {"with rubber and links (53 bodies)", "lean (9 bodies)"},
        .n_panels = 1,
        .panel = {{"Path of the centre of mass",
                   "across the road *y* [m]",
                   {{BUSHED_MOTION, CAR_Y}, {LEAN_MOTION, CAR_Y}}}},
    },
    {
        .name = "ba-car-angles",
        .title = "A car with semi-active dampers changes lane: angles",
        .note = "After Br\u00fcls, Arnold 2008, figure 13, with a car of our own",
        .x_label = "time *t* [s]",
        .trace = trace,
        .smooth = true,
        .n_curves = 2,
        .label = {"with rubber and links", "lean"},
        .n_panels = 2,
        .panel =
            {
                {"Pitch", "pitch [deg]", {{BUSHED_MOTION, CAR_PITCH}, {LEAN_MOTION, CAR_PITCH}}},
                {"Roll", "roll [deg]", {{BUSHED_MOTION, CAR_ROLL}, {LEAN_MOTION, CAR_ROLL}}},
            },
    },
    {
        .name = "ba-car-currents",
        .title = "A car with semi-active dampers changes lane: currents in the valves",
        .note = "After Br\u00fcls, Arnold 2008, figure 14, with a car of our own (with rubber and "
                "links); valves take 0 to 1.6 A",
        .x_label = "time *t* [s]",
        .trace = trace,
        .smooth = true,
        .n_curves = 4,
        .label = {"front left", "front right", "rear left", "rear right"},
        .n_panels = 2,
        .panel =
            {
                {"Front",
                 "current [A]",
                 {{BUSHED_DAMPERS, CAR_CURRENT},
                  {BUSHED_DAMPERS, CAR_CURRENT + 1},
                  {PAPER_NONE, 0},
                  {PAPER_NONE, 0}}},
                {"Rear",
                 "current [A]",
                 {{PAPER_NONE, 0},
                  {PAPER_NONE, 0},
                  {BUSHED_DAMPERS, CAR_CURRENT + 2},
                  {BUSHED_DAMPERS, CAR_CURRENT + 3}}},
            },
    },
    {
        .name = "ba-car-pressures",
        .title = "A car with semi-active dampers changes lane: the damper at the rear right",
        .note = "After Br\u00fcls, Arnold 2008, figure 15, with a car of our own (with rubber and "
                "links), and the rate at which the damper extends",
        .x_label = "time *t* [s]",
        .trace = trace,
        .smooth = true,
        .n_curves = 3,
        .label = {"rebound chamber", "compression chamber", "rate"},
        .n_panels = 2,
        .panel =
            {
                {"Pressures",
                 "pressure [bar]",
                 {{BUSHED_DAMPERS, CAR_REBOUND},
                  {BUSHED_DAMPERS, CAR_COMPRESSION},
                  {PAPER_NONE, 0}}},
                {"Extension",
                 "rate [m/s]",
                 {{PAPER_NONE, 0}, {PAPER_NONE, 0}, {BUSHED_DAMPERS, CAR_RATE}}},
            },
    },
    {
        .name = "ba-car-order",
        .title = "The lean car changes lane: errors against the step",
        .note = "To Br\u00fcls, Arnold 2008: largest errors at *t* = 1, 1.5, ... 3 s, relative to "
                "the largest values, of index 3 with *\u03c1*_{\u221e} = 0.9; linear dampers",
        .x_label = "step *h* [s]",
        .step = 0.0025,
        .n_curves = 4,
        .label = {"across the road *y*", "yaw", "roll", "acceleration *y*\u2033"},
        .n_panels = 1,
        .panel = {{"Relative errors",
                   "relative error",
                   {{LINEAR_0025, ERROR_Y},
                    {LINEAR_0025, ERROR_YAW},
                    {LINEAR_0025, ERROR_ROLL},
                    {LINEAR_0025, ERROR_ACCELERATION}}}},
    },
};

const paper paper_car = {
    .name = "ba-car",
    .subject = "The second application of that paper: a car with four semi-active dampers, their "
               "pressures, a controller that reads accelerometers, and tyres in one system of "
               "equations. Neither car nor dampers nor controller are public; these are runs of a "
               "car of our own, which docs/car.md defines. The paper shows figures and prints no "
               "numbers.",
    .claims = car_claims,
    .n_claims = N_CAR_CLAIMS,
    .citation = "Bruels, Arnold 2008, the car",
    .title = "The generalized-alpha scheme as a linear multistep integrator: toward a general "
             "mechatronic simulator, J. Comput. Nonlinear Dynamics, semi-active suspension",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
    .runs = runs,
    .n_runs = N_RUNS,
    .figures = figures,
    .n_figures = sizeof figures / sizeof figures[0],
};
