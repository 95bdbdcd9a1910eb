/// Automatic steps: the error of a step, and the size of the next one.
///
/// The error that one step adds is known to leading order from the method's coefficients and from v'' and
/// v''', which differences of v' give. A step whose error is too large is taken again with a smaller size;
/// otherwise the error decides the next size. Small changes are not made, so that factors can be kept.
#include <float.h>

#include "base/text.h"
#include "core/driver/control.h"

// After a rejection h does not grow for some steps.
#define PATIENCE 5

// [SC.11] A step is looked into at so many points at most.
enum { MOST_POINTS = 50 };

// [SC.13] Round-off that constraints amplify by this more than in the last step is that of a singular position ahead.
#define STEADY 1.1

// [SC.13] A step that ends too close to a singular position is taken again so often at most.
enum { MOST_TOO_CLOSE = 4 };

/// [SC.10] the longest step
double asi_longest_step(const as_integrator *s) {
  const double most = s->def.tolerance.max_step, span = s->def.tolerance.span;
  return s->kin.problem->def.autonomous || isnan(span)
             ? most
             : fmin(most, s->stepper.expert.longest_share * span);
}

/// [SC.11] A step that was solved with error e: the size with which it is to be taken again, because something happens inside
/// that its ends do not show; 0: nothing does.
double asi_find_input(as_integrator *s, double h, double e) {
  const double points = floor(h / (s->stepper.expert.look_share * s->def.tolerance.span));
  if (s->kin.problem->def.autonomous || !(points >= 1.0)) return 0.0; // the span may be unknown
  // The error of a motion that is followed shows there, too.
  const double share = asi_look_inside(s, (int)fmin(points, MOST_POINTS), 1.0 + 10.0 * e);
  return share < 1.0 ? share * h : 0.0;
}

/// [SC.5] a first step: one whose v'' makes a tenth of the tolerated error, where v'' is looked at over the
/// time in which v' (or, if that is zero, v) moves q by its tolerance. At rest either may be round-off.
as_status asi_choose_first_step(as_integrator *s, double stop, double hint, double *h) {
  const as_problem *p = s->kin.problem;
  const int n = p->n;
  const asi_values *now = &s->stepper.now;
  double *e = s->control.estimate;
  memcpy(e, now->vdot, (size_t)n * sizeof(double));
  double guess = 1.0 / sqrt(asi_error_norm(s, s->control.size, 0, n));
  memcpy(e, now->v, (size_t)n * sizeof(double));
  if (!isfinite(guess)) guess = 10.0 / asi_error_norm(s, s->control.size, 0, n);
  const double way =
      isfinite(fmin(stop, hint)) ? fmin(stop, hint) - s->stepper.t : 1.0 / s->kin.eval.rate;
  if (!(guess <= s->stepper.expert.first_at_rest * way))
    guess = s->stepper.expert.first_share * way;
  const double run = s->def.tolerance.span;
  guess = fmin(fmin(guess, isnan(run) ? guess : s->stepper.expert.first_share * run),
               stop - s->stepper.t);
  guess = fmin(guess, s->def.tolerance.max_step);
  const as_status status = asi_start_rates(&s->stepper, guess, guess);
  if (status) return status;
  memcpy(e, s->stepper.rate.vdot, (size_t)n * sizeof(double));
  const double factor = fabs(1.0 / 6.0 - s->stepper.c.beta - 0.5 * s->stepper.D);
  const double error = factor * asi_error_norm(s, s->control.size, 0, n) * guess * guess * guess;
  const double by_rate = guess * cbrt(0.1 / error); // a root of a number without unit
  *h = fmin(by_rate, 10.0 * guess);
  return AS_OK;
}

/// [SC.4] after an accepted step; `closer`: to a singular position
static void propose(as_integrator *s, double h, double e, bool shortened, bool closer) {
  const double bounded = fmax(e, s->stepper.expert.step_least_error);
  double factor = asi_proposed_factor(s, bounded);
  if (factor >= s->stepper.expert.step_hold_from && factor <= s->stepper.expert.step_hold_to)
    factor = 1.0;
  factor = fmax(factor, s->stepper.path.excited ? s->stepper.expert.step_least_calm
                                                : s->stepper.expert.step_least_factor);
  factor = fmin(factor, s->control.patience > 0 || closer ? 1.0
                        : s->stepper.path.excited         ? s->stepper.expert.step_most_calm
                                                          : s->stepper.expert.step_most_factor);
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
    const double ratio =
        fabs(s->control.estimate[i]) /
        asi_step_tolerance(s->def.tolerance.rtol * size + s->control.atol[i], size);
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
  const double most = asi_longest_step(s), rest = stop - s->stepper.t;
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
  if (asi_rubs(s)) return s->stepper.base_compliance;
  const int round = failures < SIZES ? 0 : (failures - SIZES) % COMPLIANCES;
  return fmax(compliances[round], s->stepper.base_compliance);
}

/// The size of the next attempt after a step that could not be solved for the n-th time.
static double after_failure(const as_integrator *s, double h, as_status status, int n) {
  const bool singular = status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE;
  if (!singular || s->kin.redundancy.rows == 0) return s->stepper.expert.step_after_failure * h;
  return asi_rubs(s) || n < SIZES || (n - SIZES) % COMPLIANCES == 0
             ? s->stepper.expert.singular_share * h
             : h;
}

/// [RE.11] Whether a step that was solved is so short because reactions grow without bound.
static bool is_jammed(as_integrator *s, double h) {
  return asi_rubs(s) && h < s->stepper.expert.jammed_step * s->control.longest &&
         asi_amplify_round_off(&s->stepper, 0, s->scratch.work, NULL, s->scratch.unknowns) >
             s->stepper.expert.jammed_amplification;
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
  if (!singular || !asi_rubs(s) || s->kin.problem->def.n_lambda == 0) return status;
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
    const as_status status = asi_choose_first_step(s, stop, hint, &s->control.h);
    if (status) return status;
  }
  const as_status reaches = asi_reach_look(s, fmin(stop, hint));
  if (reaches) return reaches;
  s->stepper.controlled = true;
  s->stepper.newton_rtol = s->def.newton.rtol;
  if (isnan(s->stepper.newton_rtol))
    s->stepper.newton_rtol =
        fmin(fmax(s->stepper.expert.newton_rtol * tol->rtol, s->stepper.expert.newton_rtol_least),
             s->stepper.expert.newton_rtol_most);
  double h = first_attempt(s, stop),
         usual = fmax(s->control.amplified, s->stepper.expert.usual_amplification);
  bool shortened = h < 0.999 * s->control.h;
  asi_set_allowed(s);
  const double least = fmax(tol->min_step, 16.0 * DBL_EPSILON * fmax(fabs(s->stepper.t), h));
  for (;;) {
    const double rest = stop - s->stepper.t;
    const double e = compliance_of(s, failures);
    s->stepper.floor_share = failures == 0 ? s->stepper.expert.newton_floor : 1.0;
    const as_status status = asi_solve_step(&s->stepper, h, h == rest ? stop : s->stepper.t + h, e);
    double smaller = s->stepper.expert.step_after_failure * h;
    if (status == AS_OK) {
      double amplified;
      const double error = asi_estimate_error(s, too_close + failures > 0, &amplified);
      s->kin.statistics.error = error;
      if (amplified > s->stepper.expert.singular_close * usual && ++too_close <= MOST_TOO_CLOSE) {
        ++s->kin.statistics.rejected_steps;
        if (!(s->control.amplified > 0.0)) usual = amplified;
        h *= s->stepper.expert.singular_share;
        shortened = true;
        continue;
      }
      const double part = error <= 1.0 ? asi_find_input(s, h, error) : 0.0;
      if (is_jammed(s, h)) return fail_jammed(s, h);
      if (error <= 1.0 && part == 0.0) {
        s->control.longest = fmax(s->control.longest, h);
        const bool filled =
            !s->stepper.first && !(amplified > s->stepper.expert.usual_amplification);
        const double window = filled ? asi_window_length(s) : 0.0;
        asi_accept_step(s);
        // [SC.13] As much as before: light parts amplify it everywhere.
        const bool closer = amplified > s->stepper.expert.usual_amplification &&
                            !(amplified <= STEADY * s->control.amplified);
        s->control.amplified = amplified;
        asi_fill_window(s, window);
        asi_remember_means(s);
        if (e > s->stepper.base_compliance)
          asi_log(&s->kin, AS_LOG_INFO,
                  "The step from t = %.9g s to %.9g s could be taken only with compliant "
                  "constraints: %s",
                  s->stepper.last.t0, s->stepper.t, first_error.message);
        double *const size = s->control.size;
        s->control.size = s->control.new_size;
        s->control.new_size = size;
        if (failures > 0 && !asi_rubs(s) &&
            amplified > s->stepper.expert
                            .usual_amplification) { // it could not be solved on a singular position
          s->control.patience = 0;
          shortened = true;
        }
        propose(s, h, error, shortened, closer);
        return AS_OK;
      }
      ++s->kin.statistics.rejected_steps;
      smaller = part > 0.0 ? part
                           : h * fmax(s->stepper.expert.step_after_rejection,
                                      s->stepper.expert.step_safety * cbrt(1.0 / error));
      // What was excited by growing is not there without.
      if (s->stepper.path.excited && h > 1.01 * s->stepper.last_h && part == 0.0)
        smaller = fmax(smaller, s->stepper.last_h);
      if (!(smaller < h))
        smaller = s->stepper.expert.step_after_failure * h; // the error is not a number
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
