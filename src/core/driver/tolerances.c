/// Tolerances of automatic steps: what is asked for, spread over components, and sizes in these.
#include "core/driver/control.h"
#include "lie/space.h"

// Components smaller than this share of the largest of their kind are measured by that, in typical sizes.
#define LEAST_SIZE 1e-2

// [SC.12] A step may add 3^(-3/2) (tau/size)^(3/2) of its size to what is to be exact to tau at the end. Errors of steps add up
// to 0.3 to 40 times their (2/3)th power on the accuracy set (docs/automatic-steps.md), mostly to 1 to 6 times: 3 is the middle.
#define STEP_SHARE 0.19245008972987526

// Absolute tolerances that are not given, over rtol and typical sizes.
#define DEFAULT_ATOL 1e-3
// The same of Newton's method, over typical accelerations.
#define NEWTON_ATOL 1e-12

static double or_default(double atol) { return isnan(atol) ? 1.0 : atol; }

static as_status check_tolerance(const as_tolerance *tol, as_error *error) {
  const struct {
    const char *name;
    double value;
    bool may_be_zero, may_be_infinite;
  } numbers[] = {{"rtol", tol->rtol, true, false},
                 {"atol_position", or_default(tol->atol_position), false, false},
                 {"atol_rotation", or_default(tol->atol_rotation), false, false},
                 {"atol_velocity", or_default(tol->atol_velocity), false, false},
                 {"atol_state", or_default(tol->atol_state), false, false},
                 {"first_step", isnan(tol->first_step) ? 1.0 : tol->first_step, false, false},
                 {"min_step", tol->min_step, true, false},
                 {"span", isnan(tol->span) ? 1.0 : tol->span, false, false},
                 {"max_step", tol->max_step, false, true}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    const double x = numbers[i].value;
    if ((x > 0.0 || (x == 0.0 && numbers[i].may_be_zero)) &&
        (isfinite(x) || (x > 0.0 && numbers[i].may_be_infinite)))
      continue;
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, numbers[i].name,
                    "tolerance.%s = %g is not a positive number.", numbers[i].name, x);
  }
  if (!(tol->rtol < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "rtol",
                    "tolerance.rtol = %g is not below 1.", tol->rtol);
  if (!(tol->min_step <= tol->max_step))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "min_step",
                    "tolerance.min_step = %g s exceeds max_step = %g s.", tol->min_step,
                    tol->max_step);
  return AS_OK;
}

as_status asi_control_create(as_integrator *s, as_error *error) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  as_tolerance *tol = &s->def.tolerance;
  as_status status = check_tolerance(tol, error);
  if (status) return status;
  double *atol = s->control.given_atol;
  asi_space_spread(p->space, tol->atol_position, tol->atol_rotation, atol);
  for (int i = 0; i < n; ++i) atol[n + i] = tol->atol_velocity;
  for (int i = 0; i < nx; ++i) atol[2 * n + i] = tol->atol_state;
  if (tol->atol_q) memcpy(atol, tol->atol_q, (size_t)n * sizeof(double));
  if (tol->atol_v) memcpy(atol + n, tol->atol_v, (size_t)n * sizeof(double));
  if (tol->atol_x) memcpy(atol + 2 * n, tol->atol_x, (size_t)nx * sizeof(double));
  const bool listed[] = {tol->atol_q != NULL, tol->atol_v != NULL, tol->atol_x != NULL};
  tol->atol_q = tol->atol_v = tol->atol_x = NULL;
  s->kin.eval.rate = asi_rate_at_rest(s);
  asi_control_sizes(s);
  for (int i = 0; i < 2 * n + nx; ++i) {
    const int kind = i < n ? 0 : i < 2 * n ? 1 : 2;
    const double number = listed[kind] ? atol[i] : s->control.atol[i];
    if (!(number > 0.0 && isfinite(number)))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "atol",
                      "The absolute tolerance of %c[%d], %g, is not a positive number.",
                      "qvx"[kind], i - kind * n, number);
  }
  return AS_OK;
}

void asi_control_sizes(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  const double least = DEFAULT_ATOL * s->def.tolerance.rtol;
  const double *given = s->control.given_atol;
  double *atol = s->control.atol;
  for (int i = 0; i < 2 * n + nx; ++i) {
    const double unit = i < n       ? p->typical[i]
                        : i < 2 * n ? p->typical[i - n] * s->kin.eval.rate
                                    : 1.0;
    atol[i] = isnan(given[i]) ? least * unit : given[i];
  }
  const double newton = NEWTON_ATOL * s->kin.eval.rate * s->kin.eval.rate;
  for (int i = 0; i < n; ++i)
    s->stepper.atol[i] =
        isnan(s->stepper.given_atol[i]) ? newton * p->typical[i] : s->stepper.given_atol[i];
}

/// Components smaller than this are measured by this, times the typical size of each: a share of the largest of their kind.
double asi_least_size(const as_integrator *s, const double *size, int first, int count) {
  const as_problem *p = s->kin.problem;
  return LEAST_SIZE *
         (first < 2 * p->n ? asi_max_motion(p, size + first) : asi_max_abs(size + first, count));
}

/// Sizes of q, v and x somewhere, not smaller than `least`.
void asi_measure_sizes(const as_integrator *s, const asi_values *at, const double *least,
                       double *size) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  asi_space_sizes(p->space, at->q, at->v, size, size + n);
  for (int i = 0; i < nx; ++i) size[2 * n + i] = fabs(at->x[i]);
  for (int i = 0; i < 2 * n + nx && least; ++i) size[i] = asi_larger(size[i], least[i]);
}

// [SZ.2] A speed counts if it moves something by this share of its typical size in the run, forces if they would move the
// heaviest body by that share of it. Else nothing moves by itself, and what comes is expected to last as long as this share of
// the run.
#define MOVES_BY_SPEED 1e-6
#define MOVES_BY_FORCE 1e-2
#define RATE_AT_REST 100.0

/// Where nothing is known of the motion. Without typical sizes one unit of time is as good as any.
double asi_rate_at_rest(const as_integrator *s) {
  const double span = s->kin.problem->def.typical ? s->def.tolerance.span : (double)NAN;
  const double time = s->kin.problem->def.time_scale;
  return !isnan(span) ? RATE_AT_REST / span : !isnan(time) ? 1.0 / time : 1.0;
}

/// [SZ.2] max |v|, sqrt(max |force| / max |M|), in typical sizes: of inertia and of constraints
static double find_rate(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const double span = s->def.tolerance.span, at_rest = asi_rate_at_rest(s);
  const double speed = asi_max_motion(p, s->stepper.now.v);
  asi_constraint_force(&s->kin, s->stepper.now.lambda, s->stepper.now.psi, s->scratch.work);
  double force = asi_max_force(p, s->scratch.work);
  memset(s->scratch.work, 0, (size_t)p->n * sizeof(double));
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin.block[AS_BLOCK_M].value, 1.0,
                          s->stepper.now.vdot, s->scratch.work);
  force = fmax(force, asi_max_force(p, s->scratch.work));
  const double by_force = s->kin.mass_size > 0.0 ? sqrt(force / s->kin.mass_size) : 0.0;
  if (p->def.typical == NULL) return at_rest;
  if (isnan(span)) return fmax(fmax(speed, by_force), at_rest);
  double rate = 0.0;
  if (speed * span > MOVES_BY_SPEED) rate = speed;
  if (by_force * span > MOVES_BY_FORCE) rate = fmax(rate, by_force);
  return rate > 0.0 && isfinite(rate) ? rate : at_rest;
}

void asi_control_start(as_integrator *s) {
  s->kin.eval.rate = find_rate(s);
  asi_control_sizes(s);
  s->control.h = s->def.tolerance.first_step;
  s->control.error = 1.0;
  s->control.expected = 0.0;
  s->control.patience = 0;
  s->control.amplified = s->control.longest = s->control.share_h = 0.0;
  s->control.share = s->control.slow_share = 0.0;
  s->control.by_shares = s->control.most_by_shares = 0;
  memset(s->control.slow_h, 0, sizeof s->control.slow_h);
  s->control.third_known = false;
  asi_measure_sizes(s, &s->stepper.now, NULL, s->control.size);
  asi_extrapolation_start(s);
}

/// [SC.12] what a step may add to the error of a component that is to be exact to `tau` at the end
double asi_step_tolerance(double tau, double size) {
  return STEP_SHARE * tau * (tau < size ? sqrt(tau / size) : 1.0);
}

double asi_error_product(const as_integrator *s, const double *a, const double *b,
                         const double *size, int first, int count, measured_by by) {
  const double *atol = s->control.atol + first;
  const double least = asi_least_size(s, size, first, count), rtol = s->def.tolerance.rtol;
  const double *const typical = s->kin.problem->typical;
  const bool moves = first < 2 * s->kin.problem->n; // else they are states
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    const double at_least = asi_larger(size[first + i], moves ? least * typical[i] : least);
    const double per_tau = 1.0 / (rtol * at_least + atol[i]);
    const double both = a[i] * per_tau * (b[i] * per_tau);
    sum += by == BY_END ? both : both * asi_larger(at_least * per_tau, 1.0); // [SC.12] squared
  }
  return count > 0 ? sum / (by == BY_END ? count : STEP_SHARE * STEP_SHARE * count) : 0.0;
}

/// [SC.3] sqrt(mean((e_i / w_i)^2)) of the estimate
double asi_error_norm(const as_integrator *s, const double *size, int first, int count) {
  const double *e = s->control.estimate + first;
  return sqrt(asi_error_product(s, e, e, size, first, count, BY_STEP));
}

/// [SC.8] What Newton's method may leave of q, v and x.
void asi_set_allowed(as_integrator *s) {
  const int n = s->kin.problem->n;
  const double *size = s->control.size, *atol = s->control.atol, rtol = s->def.tolerance.rtol;
  const double *const typical = s->kin.problem->typical;
  const double least_q = asi_least_size(s, size, 0, n), least_v = asi_least_size(s, size, n, n);
  double *const allowed = s->stepper.allowed;
  for (int i = 0; i < n; ++i) {
    const double size_q = asi_larger(size[i], least_q * typical[i]);
    const double size_v = asi_larger(size[n + i], least_v * typical[i]);
    allowed[i] = asi_step_tolerance(rtol * size_q + atol[i], size_q);
    allowed[n + i] = asi_step_tolerance(rtol * size_v + atol[n + i], size_v);
  }
  s->stepper.state_rtol = asi_step_tolerance(rtol, 1.0);
}

double asi_control_measure(const as_integrator *s, double gap) {
  const int n = s->kin.problem->n;
  const double *size = s->control.new_size, rtol = s->def.tolerance.rtol;
  const double moved = asi_max_nan(asi_error_norm(s, size, 0, n), asi_error_norm(s, size, n, n));
  const double largest = asi_max_motion(s->kin.problem, size);
  const double atol = asi_max_motion(s->kin.problem, s->control.atol);
  const double length = asi_step_tolerance(rtol * largest + atol, largest);
  return asi_max_nan(asi_max_nan(moved, gap / length),
                     asi_error_norm(s, size, 2 * n, s->kin.problem->def.n_x));
}
