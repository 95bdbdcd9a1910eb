/// Steps of order 6: the explicit midpoint rule for the accelerations that the constraints leave, extrapolated.
///
/// A step of size H is taken three times, in 2, 6 and 10 parts, in the coordinates theta of q = q_0 o exp(theta): there all of (theta, v, x)
/// lives in R^n, and the error of the midpoint rule is a series in even powers of H/2, H/6, H/10. What is left of it after extrapolation
/// is O(H^7); q and v are then brought onto the constraints. The rule is explicit: what is stiff keeps its steps short, and it knows
/// nothing of singular positions. So now and then steps of the method are taken, and what they cost is compared; they also take over where
/// a step of order 6 cannot be taken. Between two steps nothing is remembered: each begins like a first one.
#include <float.h>

#include "core/driver/control.h"

// [EX.1] into how many parts a step is divided; up to the middle these are odd numbers, so that there are such powers there, too
static const int parts[ASI_ROWS] = {2, 6, 10};

// [EX.4] What a step may be off by, over what is asked for at the end.
#define SHARE (1.0 / 3.0)
// What v' may be off by, over rtol and the largest v' so far.
#define SHARE_OF_VDOT 2.0
// Error estimates below so many units of round-off mean nothing.
#define ROUND_OFF (64.0 * DBL_EPSILON)

// [EX.4] The next size over this one: safety factor, least and most.
#define SAFETY 0.8
#define LEAST_FACTOR 0.2
#define MOST_FACTOR 4.0
// A step after which the next one may not be larger.
#define AFTER_REJECTION 1.0
// A step that cannot be solved is tried again with this share of it, and so often at most; so often is one whose error is too large.
#define AFTER_FAILURE 0.25
enum { MOST_FAILURES = 2, MOST_REJECTIONS = 2 };

// theta is a good coordinate up to 2 pi; a step turns no body by more than this.
#define MOST_TURN 2.0

// [EX.5] Comparisons of costs: the first after so many steps of order 6, and then after four times as many each; so many steps of the
// method are looked at, the first of them until they have found their size, and more while they grow and what they cost is not more
// than a share of all that has been spent; so many steps of order 6.
#define LATER 4
enum { FIRST_LOOK = 8, LAST_LOOK = 16384, SETTLING = 12, SETTLED = 24, LOOKS_OF_HIGH = 6 };
#define MOST_SPENT 0.25
// Steps of order 6 are taken where they cost less than this share of the others: by about as much what springs allow decides on both.
#define MOST_COST 0.5
#define GROWS 1.1
// What steps of order 6 could not pass is behind after so many of the first that was tried.
#define PASSING 3.0
// Steps of order 6 begin with so many of the method's.
#define FIRST_FACTOR 4.0

static int size_of(const as_problem *p) { return 2 * p->n + p->def.n_x; }

static void copy(double *to, const double *from, int n) {
  memcpy(to, from, (size_t)n * sizeof(double));
}

// ---- one step -------------------------------------------------------------------------------------

/// y = (theta, v, x) and its rate where q = q_0 o exp(theta): theta' = T(theta)^-1 v; v' and x' by [ST.4] and [ST.8]. Leaves these in
/// s->stepper.next.
static as_status find_rate(as_integrator *s, double t, const double *y, double *rate) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x;
  const asi_values *at = &s->stepper.next;
  as_space_move(p->space, s->stepper.now.q, y, at->q);
  copy(at->v, y + n, n);
  copy(at->x, y + 2 * n, nx);
  const as_status status = asi_solve_acceleration(&s->kin, t, at, 0);
  as_space_tangent_inverse(p->space, y, at->v, rate);
  copy(rate + n, at->vdot, n);
  copy(rate + 2 * n, at->xdot, nx);
  return status;
}

/// [EX.1] The midpoint rule over H in some parts: y_1 = y_0 + h y'_0, y_(i+1) = y_(i-1) + 2 h y'(y_i); its end in s->high.point, and
/// the middle of the step in s->high.middle.
static as_status follow_midpoints(as_integrator *s, double step, int n_parts) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x, size = size_of(p);
  const double h = step / n_parts;
  double *const before = s->high.before, *const point = s->high.point, *const rate = s->high.rate;
  memset(before, 0, (size_t)n * sizeof(double));
  copy(before + n, s->stepper.now.v, n);
  copy(before + 2 * n, s->stepper.now.x, nx);
  for (int i = 0; i < size; ++i) point[i] = before[i] + h * s->high.start[i];
  for (int k = 1; k < n_parts; ++k) {
    if (2 * k == n_parts) copy(s->high.middle, point, size);
    const as_status status = find_rate(s, s->stepper.t + k * h, point, rate);
    if (status) return status;
    for (int i = 0; i < size; ++i) {
      const double next = before[i] + 2.0 * h * rate[i];
      before[i] = point[i];
      point[i] = next;
    }
  }
  return AS_OK;
}

/// [EX.2] T_j,l+1 = T_j,l + (T_j,l - T_j-1,l)/((n_j/n_j-l)^2 - 1): row j of a tableau takes the place of the row before. entry: T_j,0,
/// and then the last of the row; e: the last difference.
static void add_row(double *const row[ASI_ROWS], int j, double *entry, double *e, int size) {
  for (int l = 0; l < j; ++l) {
    const double ratio = (double)parts[j] / parts[j - l - 1], share = 1.0 / (ratio * ratio - 1.0);
    for (int i = 0; i < size; ++i) {
      const double old = row[l][i];
      row[l][i] = entry[i];
      e[i] = share * (entry[i] - old);
      entry[i] += e[i];
    }
  }
  copy(row[j], entry, size);
}

/// Extrapolates over a step, with its end in s->high.end and what the last row has changed there in s->control.estimate.
static as_status extrapolate(as_integrator *s, double h) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, size = size_of(p);
  const asi_values *now = &s->stepper.now;
  asi_copy_values(p, now, &s->stepper.next);
  copy(s->high.start, now->v, n);
  copy(s->high.start + n, now->vdot, n);
  copy(s->high.start + 2 * n, now->xdot, p->def.n_x);
  for (int j = 0; j < ASI_ROWS; ++j) {
    const as_status status = follow_midpoints(s, h, parts[j]);
    if (status) return status;
    add_row(s->high.middle_row, j, s->high.middle, s->control.estimate, size);
    add_row(s->high.end_row, j, s->high.point, s->control.estimate, size);
  }
  return AS_OK;
}

/// Puts the end of the step into s->stepper.next.
static void show_end(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const double *const end = s->high.end_row[ASI_ROWS - 1];
  const asi_values *next = &s->stepper.next;
  as_space_move(p->space, s->stepper.now.q, end, next->q);
  copy(next->v, end + p->n, p->n);
  copy(next->x, end + 2 * p->n, p->def.n_x);
}

/// The size of s->control.estimate, in what is asked for at the end.
static double size_of_estimate(const as_integrator *s) {
  const int n = s->kin.problem->n, nx = s->kin.problem->def.n_x;
  const int first[] = {0, n, 2 * n}, count[] = {n, n, nx};
  double most = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double *const e = s->control.estimate + first[k];
    most = asi_max_nan(most,
                       asi_error_product(s, e, e, s->control.new_size, first[k], count[k], BY_END));
  }
  return sqrt(most);
}

/// [EX.4] The error of the step that was extrapolated last, over what it may be.
static double measure(as_integrator *s) {
  const int n = s->kin.problem->n, size = size_of(s->kin.problem);
  double *const e = s->control.estimate;
  s->high.vdot_size = fmax(s->high.vdot_size, asi_max_motion(s->kin.problem, s->stepper.now.vdot));
  asi_measure_sizes(s, &s->stepper.next, s->control.size, s->control.new_size);
  for (int i = 0; i < size; ++i)
    e[i] = isnan(e[i]) ? e[i] : asi_larger(fabs(e[i]) - ROUND_OFF * s->control.new_size[i], 0.0);
  const double of_vdot = asi_max_motion(s->kin.problem, e + n) /
                         (s->stepper.h * s->def.tolerance.rtol * s->high.vdot_size);
  return asi_larger(size_of_estimate(s) / SHARE, of_vdot / SHARE_OF_VDOT);
}

/// Brings the end of the step onto the constraints; *e: what that changes, over what the step may be off by.
static as_status project(as_integrator *s, double *e) {
  const as_problem *p = s->kin.problem;
  const int n = p->n;
  const asi_values *next = &s->stepper.next;
  const double *const end = s->high.end_row[ASI_ROWS - 1];
  double *const change = s->control.estimate;
  as_start_report report;
  as_status status = AS_OK;
  copy(s->kin.q_given, next->q, p->nq);
  if (p->def.n_lambda > 0)
    status = asi_project_position(&s->kin, s->stepper.t1, s->kin.q_given, next->q, true, &report);
  if (status == AS_OK && s->kin.redundancy.rows > 0)
    status = asi_project_velocity(&s->kin, s->stepper.t1, next->q, next->v, true, false, &report);
  if (status) return status;
  as_space_difference(p->space, s->kin.q_given, next->q, change);
  for (int i = 0; i < n; ++i) change[n + i] = next->v[i] - end[n + i];
  memset(change + 2 * n, 0, (size_t)p->def.n_x * sizeof(double));
  *e = size_of_estimate(s) / SHARE;
  return AS_OK;
}

/// Finds all that belongs to the end of the step, and the rates in its middle.
static as_status complete(as_integrator *s, double *e) {
  const as_problem *p = s->kin.problem;
  const asi_values *next = &s->stepper.next;
  bool hold = true;
  as_status status = find_rate(s, s->stepper.t + 0.5 * s->stepper.h,
                               s->high.middle_row[ASI_ROWS - 1], s->high.middle_rate);
  if (status) return status;
  show_end(s);
  status = project(s, e);
  if (status || !(*e <= 1.0)) return status;
  status = asi_solve_acceleration(&s->kin, s->stepper.t1, next, 0);
  if (status) return status;
  as_space_difference(p->space, s->stepper.now.q, next->q, s->stepper.xi);
  copy(next->a, next->vdot, p->n);
  copy(next->w, next->xdot, p->def.n_x);
  memset(next->eta, 0, (size_t)p->def.n_lambda * sizeof(double));
  status = asi_rows_check(&s->stepper, &hold);
  if (status == AS_OK && !hold) return asi_rows_fail(&s->stepper);
  return status ? status : asi_check_end(&s->stepper);
}

/// Tries a step of size h that ends at t1; *e is its error. If that is not above 1 all of its end is known.
static as_status solve_step(as_integrator *s, double h, double t1, double *e) {
  s->stepper.h = h;
  s->stepper.t1 = t1;
  const as_status status = extrapolate(s, h);
  if (status) return status;
  show_end(s);
  *e = measure(s);
  double by_projection = 0.0;
  const as_status completed = *e <= 1.0 ? complete(s, &by_projection) : AS_OK;
  *e = asi_larger(by_projection, *e);
  return completed;
}

/// The longest step that turns no body too far.
static double most_by_turn(const as_integrator *s) {
  const double *const turns = s->stepper.is_rotation, *const v = s->stepper.now.v;
  double fastest = 0.0;
  for (int i = 0; i < s->kin.problem->n; ++i)
    if (turns[i] != 0.0) {
      fastest = fmax(fastest, sqrt(v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2]));
      i += 2;
    }
  return MOST_TURN / fastest;
}

/// [EX.3] x_m - (x_0 + x_1)/2 - h (x'_0 - x'_1)/8, and behind it h x'_m - 3 (x_1 - x_0)/2 + h (x'_0 + x'_1)/4
static void depart(double *out, int size, double h, const double *middle, const double *rate,
                   const double *x0, const double *rate0, const double *x1, const double *rate1,
                   int n) {
  for (int i = 0; i < n; ++i) {
    out[i] = middle[i] - 0.5 * (x0[i] + x1[i]) - 0.125 * h * (rate0[i] - rate1[i]);
    out[size + i] = h * rate[i] - 1.5 * (x1[i] - x0[i]) + 0.25 * h * (rate0[i] + rate1[i]);
  }
}

/// Keeps what the middle of the step that was accepted last says.
static void keep_middle(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, size = size_of(p);
  const double h = s->stepper.last.h, *const y = s->high.middle_row[ASI_ROWS - 1],
               *const rate = s->high.middle_rate;
  const asi_values *from = &s->stepper.last.from, *to = &s->stepper.now;
  double *const out = s->stepper.last.middle, *const end_rate = s->high.rate,
                *const zero = s->high.before;
  memset(zero, 0, (size_t)n * sizeof(double));
  as_space_tangent_inverse(p->space, s->stepper.last.xi, to->v, end_rate);
  depart(out, size, h, y, rate, zero, from->v, s->stepper.last.xi, end_rate, n);
  depart(out + n, size, h, y + n, rate + n, from->v, from->vdot, to->v, to->vdot, n);
  depart(out + 2 * n, size, h, y + 2 * n, rate + 2 * n, from->x, from->xdot, to->x, to->xdot,
         p->def.n_x);
  s->stepper.last.has_middle = true;
}

/// Makes the step that was solved last the new state.
static void accept(as_integrator *s, double h, double e, bool shortened, bool may_grow) {
  const double factor =
      fmin(fmax(SAFETY * pow(fmax(e, DBL_MIN), -1.0 / (2 * ASI_ROWS - 1)), LEAST_FACTOR),
           may_grow ? MOST_FACTOR : AFTER_REJECTION);
  double *const size = s->control.size;
  asi_stepper_accept_end(&s->stepper);
  keep_middle(s);
  asi_publish(s, s->stepper.t, &s->stepper.now);
  s->has_pending_events = true;
  s->processed_until = s->stepper.last.t0;
  s->control.size = s->control.new_size;
  s->control.new_size = size;
  s->control.longest = fmax(s->control.longest, h);
  s->high.h = shortened && factor >= 1.0 ? fmax(s->high.h, h * factor) : h * factor;
}

/// Takes a step of order 6 as large as the tolerance allows; *taken is false where none could be, and what has failed is in `error` then.
static as_status try_step(as_integrator *s, double stop, bool *taken) {
  int failures = 0, rejections = 0;
  *taken = false;
  asi_set_allowed(s);
  const double most = fmin(asi_longest_step(s), most_by_turn(s)),
               least = fmax(s->def.tolerance.min_step, 16.0 * DBL_EPSILON * fabs(s->stepper.t)),
               rest = stop - s->stepper.t, proposed = fmax(fmin(s->high.h, most), least);
  double h = rest <= fmin(1.001 * proposed, most) ? rest : fmin(proposed, 0.5 * rest);
  while (failures < MOST_FAILURES && rejections < MOST_REJECTIONS && (h >= least || h == rest)) {
    double e = 0.0;
    const as_status status = solve_step(s, h, h == rest ? stop : s->stepper.t + h, &e);
    if (status && !as_status_is_recoverable(status)) return status;
    if (status) {
      ++s->kin.statistics.failed_steps;
      ++failures;
      h *= AFTER_FAILURE;
      continue;
    }
    const double part = e <= 1.0 ? asi_find_input(s, h, e) : 0.0;
    s->kin.statistics.error = e;
    if (e <= 1.0 && part == 0.0) {
      *taken = true;
      accept(s, h, e, h < 0.999 * s->high.h, failures + rejections == 0);
      return AS_OK;
    }
    ++s->kin.statistics.rejected_steps;
    if (part == 0.0) ++rejections;
    const double factor = SAFETY * pow(e, -1.0 / (2 * ASI_ROWS - 1));
    h = part > 0.0 ? part : h * fmax(LEAST_FACTOR, factor > 0.0 ? factor : LEAST_FACTOR);
  }
  return AS_OK;
}

// ---- which steps ----------------------------------------------------------------------------------

/// [EX.5] What has been spent so far, in iterations of Newton's method.
static double spent(const as_integrator *s) {
  const as_statistics *w = &s->kin.statistics;
  return (double)w->newton_iterations + 3.0 * (double)w->factorizations;
}

/// [EX.5] What a step of order 6 has spent, in the same: its accelerations take a factorization each, of a matrix without stiffness.
static double spent_high(const as_integrator *s, long factorizations) {
  return (double)(s->kin.statistics.factorizations - factorizations);
}

/// The method goes on; it is looked at for so many steps before the next comparison.
static void turn_to_method(as_integrator *s, bool to_compare) {
  s->high.by_method = true;
  s->high.compares = to_compare;
  s->high.count = 0;
  s->high.work = s->high.work_before = spent(s);
  s->high.t = s->stepper.t;
  // Close to a singular position steps do not grow: they are what they were before.
  s->control.h = s->high.h_settling > 0.0 ? s->high.h_settling : (double)NAN;
  s->control.error = 1.0;
  s->control.patience = 0;
  s->control.amplified = s->control.share_h = 0.0;
  s->control.by_shares = s->control.most_by_shares = 0;
  memset(s->control.slow_h, 0, sizeof s->control.slow_h);
  s->control.third_known = false;
}

/// Steps of order 6 go on.
static void turn_to_high(as_integrator *s, bool to_compare) {
  s->high.by_method = false;
  s->high.compares = to_compare;
  s->high.count = 0;
  if (to_compare) s->high.h = FIRST_FACTOR * s->control.h;
}

/// The method is cheaper here, or nothing else goes: its steps are taken for a while.
static void stay_with_method(as_integrator *s, const char *why) {
  asi_log(&s->kin, AS_LOG_INFO, "From t = %.9g s on steps are of second order for a while: %s.",
          s->stepper.t, why);
  s->high.compares = false;
  s->high.count = 0;
  s->high.wait = s->high.wait_for_high;
  s->high.wait_for_high =
      s->high.wait_for_high < LAST_LOOK ? LATER * s->high.wait_for_high : LAST_LOOK;
  s->high.wait_for_method = FIRST_LOOK;
}

static void stay_with_high(as_integrator *s) {
  s->high.compares = false;
  s->high.count = 0;
  s->high.wait = s->high.wait_for_method;
  s->high.wait_for_method =
      s->high.wait_for_method < LAST_LOOK ? LATER * s->high.wait_for_method : LAST_LOOK;
  s->high.wait_for_high = FIRST_LOOK;
}

static bool pays(const as_integrator *s) {
  return s->high.cost < MOST_COST * s->high.cost_of_method;
}

/// [EX.5] After a step of the method.
static void judge_method(as_integrator *s) {
  const double h = s->control.h, t = s->stepper.t, work = spent(s);
  const bool grows = h > GROWS * s->high.h_settling;
  if (++s->high.count % SETTLING == 0) {
    s->high.cost_of_method = (work - s->high.work) / (t - s->high.t);
    s->high.h_settling = h;
    s->high.work = work;
    s->high.t = t;
  }
  if (!s->high.compares && s->high.count >= s->high.wait && t >= s->high.until)
    turn_to_high(s, true);
  if (!s->high.compares || s->high.count < SETTLED || s->high.count % SETTLING != 0) return;
  if (!pays(s)) {
    stay_with_method(s, "they cost less there, something is stiff");
  } else if (!grows || work - s->high.work_before > MOST_SPENT * work) {
    stay_with_high(s);
    turn_to_high(s, false);
  }
}

/// [EX.5] After a step of order 6 that has spent so much.
static void judge_high(as_integrator *s, double work) {
  ++s->high.count;
  s->high.cost = work / s->stepper.last.h;
  const bool costly = s->high.cost_of_method > 0.0 && !pays(s);
  if (s->high.compares) {
    if (pays(s)) stay_with_high(s);
    if (pays(s) || s->high.count < LOOKS_OF_HIGH) return;
    turn_to_method(s, false);
    stay_with_method(s, "they cost less there, something is stiff");
  } else if (s->high.count >= s->high.wait || costly) {
    turn_to_method(s, true);
  }
}

void asi_extrapolation_start(as_integrator *s) {
  s->high.by_method = s->high.compares = false;
  s->high.count = 0;
  s->high.wait = s->high.wait_for_method = s->high.wait_for_high = FIRST_LOOK;
  s->high.wait_for_method *= LATER;
  s->high.h = s->def.tolerance.first_step;
  s->high.until = -(double)INFINITY;
  s->high.vdot_size = s->high.h_settling = s->high.t = 0.0;
  s->high.work = s->high.work_before = s->high.cost = s->high.cost_of_method = 0.0;
}

/// A step of order 6, if one can be taken. Where one of the method came before, it goes on as if nothing had been if none can.
static as_status take_high(as_integrator *s, double stop, double hint, bool *taken) {
  const long before = s->kin.statistics.factorizations;
  const bool follows = !s->stepper.first;
  as_error *const error = s->kin.eval.error;
  as_error first = {0};
  as_status status = AS_OK;
  *taken = false;
  if (isnan(s->high.h)) {
    status = asi_choose_first_step(s, stop, hint, &s->high.h);
    if (status) return status;
    s->high.h *= FIRST_FACTOR;
  }
  s->kin.eval.error = &first;
  const double h = s->high.h;
  if (follows) asi_snapshot_take(s);
  if (follows) status = asi_restart_exactly(s);
  if (status == AS_OK) status = try_step(s, stop, taken);
  s->kin.eval.error = error;
  if (status && !as_status_is_recoverable(status)) {
    if (error) *error = first;
    return status;
  }
  if (*taken) {
    judge_high(s, spent_high(s, before));
    return AS_OK;
  }
  if (!follows) turn_to_method(s, false);
  if (follows) {
    const as_statistics statistics = s->kin.statistics; // work was done
    asi_snapshot_restore(s);
    s->kin.statistics = statistics;
    s->stepper.factor_h = (double)NAN;
    s->high.by_method = true;
  }
  stay_with_method(s, "one of order 6 could not be taken");
  s->high.until = s->stepper.t + PASSING * h;
  return AS_OK;
}

as_status asi_extrapolated_step(as_integrator *s, double stop, double hint) {
  for (;;) {
    as_status status = AS_OK;
    bool taken = false;
    if (!s->high.by_method) status = take_high(s, stop, hint, &taken);
    if (status || taken) return status;
    status = asi_automatic_step(s, stop, hint);
    if (status == AS_OK) judge_method(s);
    const bool fails = as_status_is_recoverable(status) || status == AS_ERR_TOLERANCE;
    if (!fails || !s->high.compares) return status;
    stay_with_high(s);
    turn_to_high(s, false);
  }
}
