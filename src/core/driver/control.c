/// Automatic steps: the error of a step, and the size of the next one.
///
/// The error that one step adds is known to leading order from the method's coefficients and from v'' and
/// v''', which differences of v' give. A step whose error is too large is taken again with a smaller size;
/// otherwise the error decides the next size. Small changes are not made, so that factors can be kept.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/driver/integrator.h"
#include "lie/space.h"

// [SC.4] h <- 0.85 h e^(-1/4) (e_old/e)^0.1, within these limits, and not at all within the last two
#define SAFETY 0.85
#define LEAST_FACTOR 0.3
#define MOST_FACTOR 1.5
#define HOLD_FROM 0.95
#define HOLD_TO 1.1
// Within these where changes excite a stiff spring, [GA.15].
#define LEAST_CALM 0.9
#define MOST_CALM 1.1
// After a rejection: h <- h max(0.2, 0.85 e^(-1/3)); after a step that could not be solved: a quarter.
#define LEAST_AFTER_REJECTION 0.2
#define AFTER_FAILURE 0.25
// Errors below this are as good as this.
#define LEAST_ERROR 1e-2
// After a rejection h does not grow for some steps.
#define PATIENCE 5
// Components smaller than this share of the largest of their kind are measured by that, in typical sizes.
#define LEAST_SIZE 1e-2

// [SC.5] A first step is looked for within this share of the whole run. A machine that would move by its tolerance in no less
// than so many times the way to the time that is asked for is at rest, whatever round-off says: for it, of that way.
#define FIRST_SHARE 0.01
#define AT_REST 1e3
// [SC.10] Where functions may depend on the time, no step is longer than this share of the whole run, so that what lasts as
// long as three of them is seen;
#define LONGEST_SHARE 0.02
// [SC.11] and those longer than this share are looked into for what is shorter.
#define LOOK_SHARE 0.0025
enum { MOST_POINTS = 50 };

// [SC.9] How much of what constraints and stiff springs take up of an error of v counts.
#define TAKEN_UP_SHARE 0.03
// [SC.15] Vibrations of stiff springs that are slower than this share of the tolerance of v at the end are not followed.
#define SMALL_VIBRATION 0.1
// Those faster than this share of v are motion.
#define MOTION 0.1
// By how much less each radian of them lets the error of a step be than the last one was, at the most.
#define DECAY 0.02
#define LEAST_TURN 0.2

// [SC.12] A step may add 3^(-3/2) (tau/size)^(3/2) of its size to what is to be exact to tau at the end. Errors of steps add up
// to 0.3 to 40 times their (2/3)th power on the accuracy set (docs/automatic-steps.md), mostly to 1 to 6 times: 3 is the middle.
#define STEP_SHARE 0.19245008972987526

// [SC.13] Round-off in a step may be taken off its error up to this share of the largest component of q and v: where
// constraints hardly determine a velocity it leaves the square of that in the others, a hundredth of rtol = 1e-8. It is followed from
// step to step while it is more than this share of the tolerance. A step that ends where it is so many times what it was
// where the step began (if that is not known: what it usually is, then what it was in the first attempt) ends too close to a
// singular position, and is taken again with this size of it (halves would meet the same position again), at most so many times.
#define MOST_ROUND_OFF 1e-5
#define LEAST_NOISE 0.1
#define TOO_CLOSE 5.0
#define USUAL 100.0
#define PAST_SINGULAR 0.6
enum { MOST_TOO_CLOSE = 4 };

// [RE.11] Steps that are this share of the longest so far, and end where constraints amplify round-off so much, are those of a
// machine that jams. Elsewhere they amplify it 5 to 100 times, and a thousand times within a step of a flat position; where cranks
// that rub jam, steps of 1e-5 end at 1e6, and both go on to round-off.
#define JAMMED_STEP 1e-5
#define JAMMED 1e5

// Newton's relative tolerance for v' and the constraint forces, whose errors do not add up over steps: this times rtol, which is
// what q and v are exact to at the end.
#define NEWTON_RTOL 0.01
#define MOST_NEWTON_RTOL 1e-4
#define LEAST_NEWTON_RTOL 1e-10
// [NW.1] Steps iterate to this part of the bound of round-off, which is a tenth to a twentieth of it as a rule: what is left in
// directions that constraints do not rule, where there is none, adds up over steps. All of it does where a step has failed.
#define FLOOR_SHARE 0.1

// Absolute tolerances that are not given, over rtol and typical sizes.
#define DEFAULT_ATOL 1e-3
// The same of Newton's method, over typical accelerations.
#define NEWTON_ATOL 1e-12

/// fmax and fmin without a call: b where a is NaN.
static double larger(double a, double b) { return a > b ? a : b; }
static double lesser(double a, double b) { return a < b ? a : b; }

// ---- tolerances -----------------------------------------------------------------------------------

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
static double least_size(const as_integrator *s, const double *size, int first, int count) {
  const as_problem *p = s->kin.problem;
  return LEAST_SIZE *
         (first < 2 * p->n ? asi_max_motion(p, size + first) : asi_max_abs(size + first, count));
}

/// Sizes of q, v and x somewhere, not smaller than `least`.
static void measure(const as_integrator *s, const asi_values *at, const double *least,
                    double *size) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  asi_space_sizes(p->space, at->q, at->v, size, size + n);
  for (int i = 0; i < nx; ++i) size[2 * n + i] = fabs(at->x[i]);
  for (int i = 0; i < 2 * n + nx && least; ++i) size[i] = larger(size[i], least[i]);
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
  s->control.vibration = 0.0;
  s->control.patience = 0;
  s->control.amplified = s->control.longest = 0.0;
  memset(s->control.slow_h, 0, sizeof s->control.slow_h);
  s->control.third_known = false;
  measure(s, &s->stepper.now, NULL, s->control.size);
}

/// [SC.12] what a step may add to the error of a component that is to be exact to `tau` at the end
static double step_tolerance(double tau, double size) {
  return STEP_SHARE * tau * (tau < size ? sqrt(tau / size) : 1.0);
}

/// What the mean of a_i b_i / w_i^2 over components from `first` on is measured by: w_i of [SC.12], where the size is not
/// below a hundredth of the largest one; or tau_i.
typedef enum measured_by { BY_STEP, BY_END } measured_by;

static double product(const as_integrator *s, const double *a, const double *b, const double *size,
                      int first, int count, measured_by by) {
  const double *atol = s->control.atol + first;
  const double least = least_size(s, size, first, count), rtol = s->def.tolerance.rtol;
  const double *const typical = s->kin.problem->typical;
  const bool moves = first < 2 * s->kin.problem->n; // else they are states
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    const double at_least = larger(size[first + i], moves ? least * typical[i] : least);
    const double per_tau = 1.0 / (rtol * at_least + atol[i]);
    const double both = a[i] * per_tau * (b[i] * per_tau);
    sum += by == BY_END ? both : both * larger(at_least * per_tau, 1.0); // [SC.12] squared
  }
  return count > 0 ? sum / (by == BY_END ? count : STEP_SHARE * STEP_SHARE * count) : 0.0;
}

/// [SC.3] sqrt(mean((e_i / w_i)^2)) of the estimate
static double norm(const as_integrator *s, const double *size, int first, int count) {
  const double *e = s->control.estimate + first;
  return sqrt(product(s, e, e, size, first, count, BY_STEP));
}

// ---- the error of a step --------------------------------------------------------------------------

/// [SC.6] the mean rates of v and x over the trial step; before there are two older ones, v'_0 - h v''_0/2 and
/// v'_0 - 3 h v''_0/2
static void find_means(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  double *const *mean = s->control.mean, *const *noise = s->control.noise;
  const double per_h = 1.0 / s->stepper.h;
  for (int i = 0; i < n; ++i) mean[0][i] = (s->stepper.next.v[i] - s->stepper.v0[i]) * per_h;
  for (int i = 0; i < nx; ++i)
    mean[0][n + i] = (s->stepper.next.x[i] - s->stepper.now.x[i]) * per_h;
  s->control.mean_h[0] = s->stepper.h;
  const double r = asi_round_off(&s->stepper, 0, s->stepper.h);
  for (int i = 0; i < n; ++i) noise[0][i] = r * p->typical[i];
  for (int k = 1; k < 3 && s->stepper.first; ++k) {
    const double back = (k - 0.5) * s->stepper.h;
    for (int i = 0; i < n; ++i)
      mean[k][i] = s->stepper.now.vdot[i] - back * s->stepper.rate.vdot[i];
    for (int i = 0; i < nx; ++i)
      mean[k][n + i] = s->stepper.now.xdot[i] - back * s->stepper.rate.xdot[i];
    memset(noise[k], 0, (size_t)n * sizeof(double));
    s->control.mean_h[k] = s->stepper.h;
  }
}

/// The newest of three becomes the second, the oldest is given up.
static void shift(double *three[3]) {
  double *const oldest = three[2];
  three[2] = three[1];
  three[1] = three[0];
  three[0] = oldest;
}

/// [SC.14] v''' by three windows of steps.
static void find_third(as_integrator *s) {
  double *const *slow = s->control.slow;
  const double *h = s->control.slow_h;
  const double late = 0.5 * (h[0] + h[1]), early = 0.5 * (h[1] + h[2]);
  for (int i = 0; i < s->kin.problem->n; ++i) {
    const double second = (slow[0][i] - slow[1][i]) / late;
    s->control.third[i] = (second - (slow[1][i] - slow[2][i]) / early) / (0.5 * (late + early));
  }
  s->control.third_known = true;
}

/// Adds the mean v' of a step to the window, and begins another where it has become that long; 0: there are none.
static void fill_window(as_integrator *s, double length) {
  double *slow = s->control.slow[0], *window = s->control.slow_h;
  const double *mean = s->control.mean[0];
  if (!(length > 0.0)) {
    memset(window, 0, sizeof s->control.slow_h);
    s->control.third_known = false;
    return;
  }
  const double share = s->control.mean_h[0] / (window[0] + s->control.mean_h[0]);
  for (int i = 0; i < s->kin.problem->n; ++i)
    slow[i] = share < 1.0 ? slow[i] + share * (mean[i] - slow[i]) : mean[i];
  window[0] += s->control.mean_h[0];
  if (window[0] < length) return;
  if (window[1] > 0.0 && window[2] > 0.0) find_third(s);
  shift(s->control.slow);
  window[2] = window[1];
  window[1] = window[0];
  window[0] = 0.0;
}

static void remember_means(as_integrator *s) {
  shift(s->control.mean);
  shift(s->control.noise);
  s->control.mean_h[2] = s->control.mean_h[1];
  s->control.mean_h[1] = s->control.mean_h[0];
}

void asi_control_note(as_integrator *s) {
  find_means(s);
  remember_means(s);
}

void asi_control_move(as_integrator *s) {
  const asi_jump_memory *jump = &s->stepper.jump;
  double back = 0.0;
  for (int k = 1; k < 3; ++k) {
    const double middle = back + 0.5 * s->control.mean_h[k];
    for (int i = 0; i < s->kin.problem->n; ++i) {
      s->control.mean[k][i] += jump->change[i] - middle * jump->slope[i];
      s->control.slow[k][i] += jump->change[i];
    }
    back += s->control.mean_h[k];
  }
  for (int i = 0; i < s->kin.problem->n; ++i) s->control.slow[0][i] += jump->change[i];
}

/// [SC.8] What Newton's method may leave of q, v and x.
static void set_allowed(as_integrator *s) {
  const int n = s->kin.problem->n;
  const double *size = s->control.size, *atol = s->control.atol, rtol = s->def.tolerance.rtol;
  const double *const typical = s->kin.problem->typical;
  const double least_q = least_size(s, size, 0, n), least_v = least_size(s, size, n, n);
  double *const allowed = s->stepper.allowed;
  for (int i = 0; i < n; ++i) {
    const double size_q = larger(size[i], least_q * typical[i]);
    const double size_v = larger(size[n + i], least_v * typical[i]);
    allowed[i] = step_tolerance(rtol * size_q + atol[i], size_q);
    allowed[n + i] = step_tolerance(rtol * size_v + atol[n + i], size_v);
  }
  s->stepper.state_rtol = step_tolerance(rtol, 1.0);
}

static double by_v(const as_integrator *s) {
  return 1.0 / 12.0 - s->stepper.D * (0.5 - s->stepper.c.alpha_f);
}
static double by_x(const as_integrator *s) {
  return 1.0 / 12.0 - s->stepper.Dx * (0.5 - s->stepper.cx.delta_f);
}

/// Takes `part` off a number, not beyond zero.
static double reduced(double x, double part) {
  return fabs(x) > part ? x - copysign(part, x) : isnan(x) ? x : 0.0;
}

/// [SC.1] e_q = h^3 {[1/6 - (1/2 - beta) d_n/h - beta (1 + d_{n+1}/h)] v'' + [v,v']/12}
/// [SC.2] e_v = h^3 [1/12 - D (1/2 - alpha_f)] v''', x alike with D_x and delta_f
/// [SC.13] both less what round-off in the means makes of them
static void find_errors(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  const double h = s->stepper.h, beta = s->stepper.c.beta, h3 = h * h * h;
  const double by_q =
      1.0 / 6.0 - (0.5 - beta) * s->stepper.d0 / h - beta * (1.0 + s->stepper.d1 / h);
  const double of_v = by_v(s), of_x = by_x(s);
  const double *m0 = s->control.mean[0], *m1 = s->control.mean[1], *m2 = s->control.mean[2];
  const double *r0 = s->control.noise[0], *r1 = s->control.noise[1], *r2 = s->control.noise[2];
  // [SC.6] from the middle of one step to that of the next
  const double h1 = s->control.mean_h[1], h2 = s->control.mean_h[2];
  const double late = 0.5 * (h + h1), early = 0.5 * (h1 + h2);
  // In a first step the older means know nothing of v''': what differs is h^2 v'''/6, not h^2 v'''.
  const double between = 0.5 * (late + early) / (s->stepper.first ? 6.0 : 1.0);
  double *e_q = s->control.estimate, *e_v = e_q + n;
  as_space_bracket(p->space, s->stepper.v0, s->stepper.now.vdot, e_q);
  for (int i = 0; i < n + nx; ++i) {
    const double second = (m0[i] - m1[i]) / late;
    const double third = (second - (m1[i] - m2[i]) / early) / between;
    e_v[i] = h3 * (i < n ? of_v : of_x) * third;
    if (i >= n) continue;
    const double in_second = (r0[i] + r1[i]) / late;
    const double in_third = (in_second + (r1[i] + r2[i]) / early) / between;
    e_q[i] = reduced(h3 * (by_q * second + e_q[i] / 12.0), h3 * fabs(by_q) * in_second);
    e_v[i] = reduced(e_v[i], h3 * fabs(of_v) * in_third);
  }
}

/// How much of what constraints take up counts. A motion that they prescribe has to be seen: where v' changes so much over
/// steps that it is not followed any more, h^2 v''' ~ |v'| + h |v''|, all of it does.
static double projected_weight(const as_integrator *s, int i) {
  const double *m0 = s->control.mean[0], *m1 = s->control.mean[1], *m2 = s->control.mean[2];
  const double late = m0[i] - m1[i], early = m1[i] - m2[i];
  const double ratio = fabs(late - early) / (fabs(m0[i]) + fabs(late) + DBL_MIN);
  return lesser(larger(ratio * ratio, TAKEN_UP_SHARE), 1.0);
}

/// M e in the rows of motion of each stage.
static void find_momentum(const as_integrator *s, const double *e, double *r) {
  const as_problem *p = s->kin.problem;
  const int again = asi_second_stage(&s->stepper);
  const double mass = s->def.method == AS_METHOD_SOI2 ? 1.0 - s->stepper.c.alpha_m : 1.0;
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin.block[AS_BLOCK_M].value, mass, e, r);
  if (again < s->stepper.active->size) memcpy(r + again, r, (size_t)p->n * sizeof(double));
}

/// [SC.9] A (e', mu, ...) = A (e, 0, ...) but for zeros in the rows of constraints, with the matrix A of the step, so that
/// B e' = 0; with `springs` M e stands in the rows of motion, so that these take up a part, too. Puts e - e' into `taken`.
/// Factors of an earlier step will do; false: there is no solution.
static bool find_taken(as_integrator *s, const double *e, bool springs, double *taken) {
  const asi_system *a = s->stepper.active;
  const as_problem_def *def = &s->kin.problem->def;
  const int n = s->kin.problem->n, states = a->size - def->n_x - def->n_y,
            again = asi_second_stage(&s->stepper);
  double *left = s->scratch.unknowns;
  memset(left, 0, (size_t)a->size * sizeof(double));
  if (springs) find_momentum(s, e, left);
  for (int j = 0; j < n; ++j)
    for (int k = a->pattern.col_start[j]; k < a->pattern.col_start[j + 1]; ++k) {
      const int i = a->pattern.row[k];
      if (i >= states || (!springs && asi_is_motion(i, n, again))) left[i] += a->value[k] * e[j];
    }
  if (asi_solve(&s->kin, s->stepper.active, s->stepper.t1, left) != AS_OK) return false;
  for (int i = 0; i < n; ++i) taken[i] = e[i] - left[i];
  return true;
}

/// [SC.15] What counts of the part of e_v that stiff springs vibrate with, as a share of what they have `taken` of e_v: that
/// part is taken/g. Where there is no telling, g = 1.
static double vibration_share(as_integrator *s, const double *taken, double *g) {
  const int n = s->kin.problem->n;
  const double *size = s->control.new_size,
               kap = (1.0 - s->stepper.c.alpha_f) / (1.0 - s->stepper.c.alpha_m);
  double *const again = s->stepper.path.change;
  *g = 1.0;
  if (isnan(s->stepper.factor_h) || !find_taken(s, taken, true, again)) return TAKEN_UP_SHARE;
  const double all = product(s, taken, taken, size, n, n, BY_STEP);
  const double part = product(s, taken, again, size, n, n, BY_STEP) / all;
  if (!(part > 0.0 && part < 1.0)) return TAKEN_UP_SHARE; // springs push
  *g = part;
  const double turn =
      sqrt(part / ((1.0 - part) * kap * s->stepper.c.beta)) * s->stepper.h / s->stepper.factor_h;
  const double seen = part * fabs(by_v(s)) * pow(lesser(turn, 1.0), 3.0);
  const double speed = sqrt(product(s, taken, taken, size, n, n, BY_END)) / seen;
  const double followed = lesser(speed / SMALL_VIBRATION, 1.0) * (1.0 - part) / part;
  const double share = followed + TAKEN_UP_SHARE;
  if (speed * s->def.tolerance.rtol < MOTION && share * sqrt(all) > s->control.fast) {
    s->control.fast = share * sqrt(all);
    s->control.turn = lesser(larger(turn, LEAST_TURN), 1.0);
  }
  return share;
}

/// [SC.9] What counts of e_v, in tolerances, beside of_q: a little of what constraints and springs take up.
static double measure_v(as_integrator *s, double of_q) {
  const int n = s->kin.problem->n;
  const double *size = s->control.new_size, of_v = norm(s, size, n, n);
  double *const e = s->control.estimate + n, *const taken = s->stepper.work_n,
                *const held = s->control.held;
  if (!(of_v > of_q && (s->kin.redundancy.rows > 0 || s->stepper.path.excites))) return of_v;
  memset(held, 0, (size_t)n * sizeof(double));
  if (s->kin.redundancy.rows > 0 && find_taken(s, e, false, taken))
    for (int i = 0; i < n; ++i) {
      e[i] -= taken[i];
      held[i] = projected_weight(s, i) * taken[i];
    }
  if (s->stepper.path.excites && find_taken(s, e, true, taken)) {
    double g;
    const double share = vibration_share(s, taken, &g);
    for (int i = 0; i < n; ++i) e[i] += (share - 1.0 / g) * taken[i];
  }
  for (int i = 0; i < n; ++i) e[i] += held[i];
  return norm(s, size, n, n);
}

/// [SC.14] the same of e_v with v''' by windows
static double measure_slow(as_integrator *s, double of_q) {
  const double factor = s->stepper.h * s->stepper.h * s->stepper.h * by_v(s);
  double *const e_v = s->control.estimate + s->kin.problem->n;
  if (!s->control.third_known || s->stepper.first) return 0.0;
  for (int i = 0; i < s->kin.problem->n; ++i) e_v[i] = factor * s->control.third[i];
  return measure_v(s, of_q);
}

/// The error of the step that was solved last, in tolerances, from what find_errors() has left.
static double measure_errors(as_integrator *s) {
  const int n = s->kin.problem->n, nx = s->kin.problem->def.n_x;
  const double *size = s->control.new_size;
  const double of_q = norm(s, size, 0, n), of_v = measure_v(s, of_q);
  return asi_max_nan(asi_max_nan(of_q, asi_max_nan(of_v, measure_slow(s, of_q))),
                     norm(s, size, 2 * n, nx));
}

/// [SC.14] How long windows are to be for round-off of v' to make no more than LEAST_NOISE of e_v; 0: it does not by steps. In
/// index-3 form its bound is large enough without what constraints make of it.
static double window_length(as_integrator *s) {
  const int n = s->kin.problem->n;
  const bool index3 = s->def.method == AS_METHOD_INDEX3;
  const double *const typical = s->kin.problem->typical, *const noise_0 = s->control.noise[0];
  double *const e_v = s->control.estimate + n;
  const double r = 4.0 * asi_round_off(&s->stepper, 0, s->stepper.h),
               factor = s->stepper.h * by_v(s);
  for (int i = 0; i < n; ++i)
    e_v[i] = factor * (index3 ? r * typical[i] : larger(noise_0[i], r * typical[i]));
  const double noise = norm(s, s->control.new_size, n, n);
  return noise > LEAST_NOISE ? s->stepper.h * sqrt(noise / LEAST_NOISE) : 0.0;
}

double asi_control_measure(const as_integrator *s, double gap) {
  const int n = s->kin.problem->n;
  const double *size = s->control.new_size, rtol = s->def.tolerance.rtol;
  const double moved = asi_max_nan(norm(s, size, 0, n), norm(s, size, n, n));
  const double largest = asi_max_motion(s->kin.problem, size);
  const double atol = asi_max_motion(s->kin.problem, s->control.atol);
  const double length = step_tolerance(rtol * largest + atol, largest);
  return asi_max_nan(asi_max_nan(moved, gap / length),
                     norm(s, size, 2 * n, s->kin.problem->def.n_x));
}

/// [SC.13] Puts round-off in v' as constraints amplify it in the place of what it is without them, and returns by how much
/// they do; 0: it does not matter to the error.
static double amplify_noise(as_integrator *s) {
  const int n = s->kin.problem->n;
  const double *size = s->control.new_size;
  double *noise = s->control.noise[0], *e_v = s->control.estimate + n;
  const double amplified = asi_amplify_round_off(&s->stepper, 0, noise, s->scratch.unknowns);
  const as_problem *p = s->kin.problem;
  const double most_v = asi_max_motion(p, size + n) / s->stepper.h,
               most_q = asi_max_motion(p, size);
  const double most = MOST_ROUND_OFF * fmin(most_v, most_q / (s->stepper.h * s->stepper.h));
  for (int i = 0; i < n; ++i) {
    noise[i] = lesser(noise[i], most * p->typical[i]);
    e_v[i] = s->stepper.h * by_v(s) * noise[i];
  }
  return norm(s, size, n, n) > LEAST_NOISE ? amplified : 0.0;
}

/// Whether forces depend on multipliers, as friction in joints does.
static bool rubs(const as_integrator *s) { return s->kin.problem->present & asi_multiplier_blocks; }

/// [SC.4] by how much a step with error e asks for another size
static double proposed_factor(const as_integrator *s, double e) {
  return SAFETY * pow(1.0 / e, 0.25) * pow(s->control.error / e, 0.1);
}

/// The error of the step that was solved last, in tolerances. Where it is too large, and then on for as long as it matters,
/// round-off is looked at more closely; so it is if `closely`, and, close to a singular position, where steps would become smaller.
static double estimate_error(as_integrator *s, bool closely, double *amplified) {
  find_means(s);
  find_errors(s);
  measure(s, &s->stepper.next, s->control.size, s->control.new_size);
  *amplified = 0.0;
  s->control.fast = 0.0;
  s->control.turn = 1.0;
  const double error = measure_errors(s);
  const bool needed = closely || error > 1.0 || s->control.amplified > 0.0;
  if (!needed && !(proposed_factor(s, fmax(error, LEAST_ERROR)) < HOLD_FROM)) return error;
  *amplified = amplify_noise(s);
  // Machines that rub may jam, and what is taken off their errors there could lead them through: only close to a singular position.
  if (!needed && rubs(s) && !(*amplified > USUAL)) {
    find_means(s); // with the usual round-off
    *amplified = 0.0;
    return error;
  }
  find_errors(s);
  return fmin(error, measure_errors(s));
}

// ---- the size of the next step --------------------------------------------------------------------

/// [SC.10] the longest step
static double longest_step(const as_integrator *s) {
  const double most = s->def.tolerance.max_step, span = s->def.tolerance.span;
  return s->kin.problem->def.autonomous || isnan(span) ? most : fmin(most, LONGEST_SHARE * span);
}

/// [SC.11] A step that was solved with error e: the size with which it is to be taken again, because something happens inside
/// that its ends do not show; 0: nothing does.
static double find_input(as_integrator *s, double h, double e) {
  const double points = floor(h / (LOOK_SHARE * s->def.tolerance.span));
  if (s->kin.problem->def.autonomous || !(points >= 1.0)) return 0.0; // the span may be unknown
  // The error of a motion that is followed shows there, too.
  const double share = asi_look_inside(s, (int)fmin(points, MOST_POINTS), 1.0 + 10.0 * e);
  return share < 1.0 ? share * h : 0.0;
}

/// [SC.5] a first step: one whose v'' makes a tenth of the tolerated error, where v'' is looked at over the
/// time in which v' (or, if that is zero, v) moves q by its tolerance. At rest either may be round-off.
static as_status choose_first_step(as_integrator *s, double stop, double hint, double *h) {
  const as_problem *p = s->kin.problem;
  const int n = p->n;
  const asi_values *now = &s->stepper.now;
  double *e = s->control.estimate;
  memcpy(e, now->vdot, (size_t)n * sizeof(double));
  double guess = 1.0 / sqrt(norm(s, s->control.size, 0, n));
  memcpy(e, now->v, (size_t)n * sizeof(double));
  if (!isfinite(guess)) guess = 10.0 / norm(s, s->control.size, 0, n);
  const double way =
      isfinite(fmin(stop, hint)) ? fmin(stop, hint) - s->stepper.t : 1.0 / s->kin.eval.rate;
  if (!(guess <= AT_REST * way)) guess = FIRST_SHARE * way;
  const double run = s->def.tolerance.span;
  guess = fmin(fmin(guess, isnan(run) ? guess : FIRST_SHARE * run), stop - s->stepper.t);
  guess = fmin(guess, s->def.tolerance.max_step);
  const as_status status = asi_start_rates(&s->stepper, guess, guess);
  if (status) return status;
  memcpy(e, s->stepper.rate.vdot, (size_t)n * sizeof(double));
  const double factor = fabs(1.0 / 6.0 - s->stepper.c.beta - 0.5 * s->stepper.D);
  const double error = factor * norm(s, s->control.size, 0, n) * guess * guess * guess;
  const double by_rate = guess * cbrt(0.1 / error); // a root of a number without unit
  *h = fmin(by_rate, 10.0 * guess);
  return AS_OK;
}

/// [SC.4] after an accepted step. The error of a vibration comes and goes; steps that grew with it would excite that, [SC.15].
static void propose(as_integrator *s, double h, double e, bool shortened) {
  const double decay = 1.0 - DECAY * s->control.turn;
  const double bounded = fmax(e, LEAST_ERROR);
  double factor = proposed_factor(s, bounded);
  s->control.vibration = fmax(s->control.fast, decay * s->control.vibration);
  if (factor > 1.0)
    factor = fmax(1.0, fmin(factor, SAFETY * pow(1.0 / s->control.vibration, 0.25)));
  if (factor >= HOLD_FROM && factor <= HOLD_TO) factor = 1.0;
  factor = fmax(factor, s->stepper.path.excited ? LEAST_CALM : LEAST_FACTOR);
  factor = fmin(factor, s->control.patience > 0 || s->control.amplified > USUAL ? 1.0
                        : s->stepper.path.excited                               ? MOST_CALM
                                                                                : MOST_FACTOR);
  // A step that was cut short to land somewhere says little against the size before.
  s->control.h = shortened && factor >= 1.0 ? fmax(s->control.h, h * factor) : h * factor;
  s->control.error = bounded;
  if (s->control.patience > 0) --s->control.patience;
}

static as_status fail_tolerance(as_integrator *s, double h, double least) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, total = 2 * n + p->def.n_x;
  int worst = 0;
  double largest = 0.0;
  for (int i = 0; i < total; ++i) {
    const double size = s->control.new_size[i];
    const double ratio = fabs(s->control.estimate[i]) /
                         step_tolerance(s->def.tolerance.rtol * size + s->control.atol[i], size);
    if (ratio <= largest) continue;
    largest = ratio;
    worst = i;
  }
  char name[64];
  if (worst < 2 * n)
    asi_component_name(p, AS_QUANTITY_V, worst % n, name, sizeof name);
  else
    asi_component_name(p, AS_QUANTITY_X, worst - 2 * n, name, sizeof name);
  return asi_fail(
      s->kin.eval.error, AS_ERR_TOLERANCE, s->stepper.t, name,
      "The tolerance cannot be met at t = %.9g s: the error of a step of %.3g s is too large, most "
      "of it in the %s of %s, and steps below %.3g s are not allowed.",
      s->stepper.t, h,
      worst < n       ? "position"
      : worst < 2 * n ? "velocity"
                      : "value",
      name, least);
}

/// The size of the attempt that begins a step; the last before `stop` is stretched a little or halved, so
/// that no tiny one is left.
static double first_attempt(const as_integrator *s, double stop) {
  const as_tolerance *tol = &s->def.tolerance;
  const double most = longest_step(s), rest = stop - s->stepper.t;
  const double h = fmin(fmax(s->control.h, tol->min_step), most);
  if (rest <= fmin(1.001 * h, most)) return rest;
  return rest < 2.0 * h ? 0.5 * rest : h;
}

// [RE.5] A step that could not be solved is tried again with so many smaller sizes, which end elsewhere, and then with these
// compliances and smaller sizes in turn.
static const double compliances[] = {0.0, 1e-4, 1e-2};
enum { COMPLIANCES = 3, SIZES = 3, MAX_FAILURES = 8 * COMPLIANCES };

/// [RE.11] Where something rubs constraints that give way would lead to reactions that the motion does not have.
static double compliance_of(const as_integrator *s, int failures) {
  if (rubs(s)) return s->stepper.base_compliance;
  const int round = failures < SIZES ? 0 : (failures - SIZES) % COMPLIANCES;
  return fmax(compliances[round], s->stepper.base_compliance);
}

/// The size of the next attempt after a step that could not be solved for the n-th time.
static double after_failure(const as_integrator *s, double h, as_status status, int n) {
  const bool singular = status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE;
  if (!singular || s->kin.redundancy.rows == 0) return AFTER_FAILURE * h;
  return rubs(s) || n < SIZES || (n - SIZES) % COMPLIANCES == 0 ? PAST_SINGULAR * h : h;
}

/// [RE.11] Whether a step that was solved is so short because reactions grow without bound.
static bool is_jammed(as_integrator *s, double h) {
  return rubs(s) && h < JAMMED_STEP * s->control.longest &&
         asi_amplify_round_off(&s->stepper, 0, s->scratch.work, s->scratch.unknowns) > JAMMED;
}

/// The row with the largest multiplier, and its name.
static int largest_row(const as_problem *p, const double *lambda, char *name, size_t size) {
  int worst = 0;
  for (int i = 1; i < p->def.n_lambda; ++i)
    if (fabs(lambda[i]) > fabs(lambda[worst])) worst = i;
  asi_component_name(p, AS_QUANTITY_LAMBDA, worst, name, size);
  return worst;
}

static as_status fail_jammed(as_integrator *s, double h) {
  char name[64];
  const double *lambda = s->stepper.next.lambda;
  const int row = largest_row(s->kin.problem, lambda, name, sizeof name);
  return asi_fail(s->kin.eval.error, AS_ERR_SINGULAR, s->stepper.t, name,
                  "The machine jams at t = %.9g s: friction and the reactions that it depends on "
                  "grow without bound, that of %s to %.3g in a step of %.3g s.",
                  s->stepper.t, name, fabs(lambda[row]), h);
}

/// The first of many failures; where something rubs, with the largest reaction there.
static as_status fail_for_good(const as_integrator *s, as_status status, const as_error *first) {
  as_error *const error = s->kin.eval.error;
  if (error == NULL) return status;
  *error = *first;
  const bool singular = status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE;
  if (!singular || !rubs(s) || s->kin.problem->def.n_lambda == 0) return status;
  char name[64];
  const int row = largest_row(s->kin.problem, s->stepper.now.lambda, name, sizeof name);
  const size_t used = strlen(error->message);
  asi_print(error->message + used, sizeof error->message - used,
            " The largest reaction before it is that of %s, %.3g.", name,
            fabs(s->stepper.now.lambda[row]));
  return status;
}

as_status asi_automatic_step(as_integrator *s, double stop, double hint) {
  const as_tolerance *tol = &s->def.tolerance;
  as_error first_error = {0};
  int failures = 0, too_close = 0;
  as_status first_status = AS_OK;
  if (isnan(s->control.h)) {
    const as_status status = choose_first_step(s, stop, hint, &s->control.h);
    if (status) return status;
  }
  s->stepper.controlled = true;
  s->stepper.newton_rtol = s->def.newton.rtol;
  if (isnan(s->stepper.newton_rtol))
    s->stepper.newton_rtol =
        fmin(fmax(NEWTON_RTOL * tol->rtol, LEAST_NEWTON_RTOL), MOST_NEWTON_RTOL);
  double h = first_attempt(s, stop), usual = fmax(s->control.amplified, USUAL);
  bool shortened = h < 0.999 * s->control.h;
  set_allowed(s);
  const double least = fmax(tol->min_step, 16.0 * DBL_EPSILON * fmax(fabs(s->stepper.t), h));
  for (;;) {
    const double rest = stop - s->stepper.t;
    const double e = compliance_of(s, failures);
    s->stepper.floor_share = failures == 0 ? FLOOR_SHARE : 1.0;
    const as_status status = asi_solve_step(&s->stepper, h, h == rest ? stop : s->stepper.t + h, e);
    double smaller = AFTER_FAILURE * h;
    if (status == AS_OK) {
      double amplified;
      const double error = estimate_error(s, too_close + failures > 0, &amplified);
      s->kin.statistics.error = error;
      if (amplified > TOO_CLOSE * usual && ++too_close <= MOST_TOO_CLOSE) {
        ++s->kin.statistics.rejected_steps;
        if (!(s->control.amplified > 0.0)) usual = amplified;
        h *= PAST_SINGULAR;
        shortened = true;
        continue;
      }
      const double part = error <= 1.0 ? find_input(s, h, error) : 0.0;
      if (is_jammed(s, h)) return fail_jammed(s, h);
      if (error <= 1.0 && part == 0.0) {
        s->control.longest = fmax(s->control.longest, h);
        const bool filled = !s->stepper.first && !(amplified > USUAL);
        const double window = filled ? window_length(s) : 0.0;
        asi_accept_step(s);
        s->control.amplified = amplified;
        fill_window(s, window);
        remember_means(s);
        if (e > s->stepper.base_compliance)
          asi_log(&s->kin, AS_LOG_INFO,
                  "The step from t = %.9g s to %.9g s could be taken only with compliant "
                  "constraints: %s",
                  s->stepper.last.t0, s->stepper.t, first_error.message);
        double *const size = s->control.size;
        s->control.size = s->control.new_size;
        s->control.new_size = size;
        if (failures > 0 && amplified > USUAL) { // it could not be solved on a singular position
          s->control.patience = 0;
          shortened = true;
        }
        propose(s, h, error, shortened);
        return AS_OK;
      }
      ++s->kin.statistics.rejected_steps;
      smaller = part > 0.0 ? part : h * fmax(LEAST_AFTER_REJECTION, SAFETY * cbrt(1.0 / error));
      // What was excited by growing is not there without.
      if (s->stepper.path.excited && h > 1.01 * s->stepper.last_h && part == 0.0)
        smaller = fmax(smaller, s->stepper.last_h);
      if (!(smaller < h)) smaller = AFTER_FAILURE * h; // the error is not a number
      if (smaller < least && h > least) smaller = least;
      if (h <= least && part == 0.0) return fail_tolerance(s, h, least);
    } else {
      if (!as_status_is_recoverable(status)) return status;
      if (failures == 0) first_status = status;
      if (failures == 0) first_error = s->kin.eval.error ? *s->kin.eval.error : first_error;
      smaller = after_failure(s, h, status, ++failures);
      if (failures == MAX_FAILURES || smaller < least)
        return fail_for_good(s, first_status, &first_error);
      if (smaller == h) continue;
    }
    s->control.patience = PATIENCE;
    shortened = false;
    h = smaller < rest && rest < 2.0 * smaller ? 0.5 * rest : smaller;
  }
}
