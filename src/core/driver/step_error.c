/// The error of a step of given size, in tolerances.
///
/// It is known to leading order from the method's coefficients and from v'' and v''', which differences of v' give; less what
/// constraints and stiff springs take up of it and what round-off makes of it.
#include <float.h>

#include "core/driver/control.h"

// [SC.17] A step below this share of the one before sees what it changes itself.
#define MUCH_SHORTER 0.5

// [SC.15] Errors below this do not keep steps from growing.
#define LIMITS 0.25

// [SC.18] Steps for which shares may serve.
enum { MOST_BY_SHARES = 3 };

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
  for (int i = 0; i < nx; ++i) noise[0][n + i] = 0.0; // what they read is not known
  for (int k = 1; k < 3 && s->stepper.first; ++k) {
    const double back = (k - 0.5) * s->stepper.h;
    for (int i = 0; i < n; ++i)
      mean[k][i] = s->stepper.now.vdot[i] - back * s->stepper.rate.vdot[i];
    for (int i = 0; i < nx; ++i)
      mean[k][n + i] = s->stepper.now.xdot[i] - back * s->stepper.rate.xdot[i];
    memset(noise[k], 0, (size_t)(n + nx) * sizeof(double));
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
void asi_fill_window(as_integrator *s, double length) {
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

void asi_remember_means(as_integrator *s) {
  shift(s->control.mean);
  shift(s->control.noise);
  s->control.mean_h[2] = s->control.mean_h[1];
  s->control.mean_h[1] = s->control.mean_h[0];
}

void asi_control_note(as_integrator *s) {
  find_means(s);
  asi_remember_means(s);
}

void asi_control_move(as_integrator *s) {
  const asi_jump_memory *jump = &s->stepper.jump;
  const as_problem_def *def = &s->kin.problem->def;
  const int n = s->kin.problem->n, nx = def->n_x, xdot = n + def->n_lambda + def->n_psi;
  double back = 0.0;
  for (int k = 1; k < 3; ++k) {
    const double middle = back + 0.5 * s->control.mean_h[k];
    for (int i = 0; i < n; ++i) {
      s->control.mean[k][i] += jump->change[i] - middle * jump->slope[i];
      s->control.slow[k][i] += jump->change[i];
    }
    for (int i = 0; i < nx; ++i)
      s->control.mean[k][n + i] += jump->change[xdot + i] - middle * jump->slope[xdot + i];
    back += s->control.mean_h[k];
  }
  for (int i = 0; i < s->kin.problem->n; ++i) s->control.slow[0][i] += jump->change[i];
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

/// [SC.17] What changes the mean v' (or x') of a much shorter step against those before it, and v' inside it, too: more than both
/// predict, less round-off; 0: nothing, or no such step.
static double sudden_change(const as_integrator *s, int i, double late, double early) {
  const int n = s->kin.problem->n;
  const double *m0 = s->control.mean[0], *m1 = s->control.mean[1], *m2 = s->control.mean[2];
  const double *r0 = s->control.noise[0], *r1 = s->control.noise[1], *r2 = s->control.noise[2];
  if (s->stepper.first || !(s->stepper.h < MUCH_SHORTER * s->control.mean_h[1])) return 0.0;
  const asi_values *now = &s->stepper.now, *next = &s->stepper.next;
  const double slope = (m1[i] - m2[i]) / early;
  const double between = m0[i] - m1[i] - late * slope;
  const double inside =
      (i < n ? next->vdot[i] - now->vdot[i] : next->xdot[i - n] - now->xdot[i - n]) -
      s->stepper.h * slope;
  if (!(between * inside > 0.0)) return 0.0;
  const double noise = r0[i] + r1[i] + (r1[i] + r2[i]) * late / early;
  return reduced(copysign(asi_lesser(fabs(between), fabs(inside)), between), noise);
}

static double larger_of(double a, double b) { return fabs(b) > fabs(a) ? b : a; }

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
    const double sudden = sudden_change(s, i, late, early);
    const double factor = i < n ? of_v : of_x;
    const double in_second = (r0[i] + r1[i]) / late;
    const double in_third = (in_second + (r1[i] + r2[i]) / early) / between;
    e_v[i] = reduced(h3 * factor * third, h3 * fabs(factor) * in_third);
    e_v[i] = larger_of(e_v[i], h * factor * sudden);
    if (i >= n) continue;
    e_q[i] = reduced(h3 * (by_q * second + e_q[i] / 12.0), h3 * fabs(by_q) * in_second);
    e_q[i] = larger_of(e_q[i], h * h * by_q * sudden);
  }
}

/// How much of what constraints take up counts. A motion that they prescribe has to be seen: where v' changes so much over
/// steps that it is not followed any more, h^2 v''' ~ |v'| + h |v''|, all of it does.
static double projected_weight(const as_integrator *s, int i) {
  const double *m0 = s->control.mean[0], *m1 = s->control.mean[1], *m2 = s->control.mean[2];
  const double late = m0[i] - m1[i], early = m1[i] - m2[i];
  const double ratio = fabs(late - early) / (fabs(m0[i]) + fabs(late) + DBL_MIN);
  return asi_lesser(asi_larger(ratio * ratio, s->stepper.expert.projected_share), 1.0);
}

/// left += A e for a column of A and its rows from `first` to before `end`; rows of a column rise.
static void add_column(const asi_system *a, int j, int first, int end, double e, double *left) {
  const int *row = a->pattern.row;
  const int last = a->pattern.col_start[j + 1];
  int k = a->pattern.col_start[j];
  while (k < last && row[k] < first) ++k;
  for (; k < last && row[k] < end; ++k) left[row[k]] += a->value[k] * e;
}

/// [SC.9] A (e', mu, ...) = A (e, 0, ...) but for zeros in the rows of constraints, with the matrix A of the step, so that
/// B e' = 0. Puts e - e' into `taken`. Factors of an earlier step will do.
bool asi_find_taken(as_integrator *s, const double *e, double *taken) {
  const asi_system *a = s->stepper.active;
  const as_problem_def *def = &s->kin.problem->def;
  const int n = s->kin.problem->n, states = a->size - def->n_x - def->n_y,
            again = asi_second_stage(&s->stepper);
  double *left = s->scratch.unknowns;
  memset(left, 0, (size_t)a->size * sizeof(double));
  for (int j = 0; j < n; ++j) {
    add_column(a, j, 0, n, e[j], left);
    if (again < a->size) add_column(a, j, again, again + n, e[j], left);
    if (states < a->size) add_column(a, j, states, a->size, e[j], left);
  }
  if (asi_solve(&s->kin, s->stepper.active, s->stepper.t1, left) != AS_OK) return false;
  for (int i = 0; i < n; ++i) taken[i] = e[i] - left[i];
  return true;
}

/// [SC.9] What counts of e_v, in tolerances, beside of_q: a little of what constraints take up, and no vibrations that steps let go.
static double measure_v(as_integrator *s, double of_q) {
  const int n = s->kin.problem->n;
  const double *size = s->control.new_size, of_v = asi_error_norm(s, size, n, n);
  double *const e = s->control.estimate + n, *const taken = s->stepper.work_n,
                *const held = s->control.held;
  if (!(of_v > of_q)) return of_v;
  memset(held, 0, (size_t)n * sizeof(double));
  if (s->kin.redundancy.rows > 0 && asi_find_taken(s, e, taken))
    for (int i = 0; i < n; ++i) {
      e[i] -= taken[i];
      held[i] = projected_weight(s, i) * taken[i];
    }
  if (asi_error_norm(s, size, n, n) > fmax(of_q, LIMITS)) asi_let_go(s, by_v(s), LIMITS);
  for (int i = 0; i < n; ++i) e[i] += held[i];
  return asi_error_norm(s, size, n, n);
}

/// [SC.14] e_v with v''' by windows, and its norm; 0: there are none
static double find_slow(as_integrator *s) {
  const int n = s->kin.problem->n;
  const double factor = s->stepper.h * s->stepper.h * s->stepper.h * by_v(s);
  double *const e_v = s->control.estimate + n;
  if (!s->control.third_known || s->stepper.first) return 0.0;
  for (int i = 0; i < n; ++i) e_v[i] = factor * s->control.third[i];
  return asi_error_norm(s, s->control.new_size, n, n);
}

/// What of an error counts, as a share of all of it, into *share; returns whether that has hardly changed.
static bool note_share(double *share, double counted, double all, double steady) {
  const double before = *share;
  *share = all > 0.0 ? counted / all : 1.0;
  return fabs(*share - before) <= steady * before;
}

/// The error of the step that was solved last, in tolerances, from what find_errors() has left.
static double measure_errors(as_integrator *s) {
  const int n = s->kin.problem->n, nx = s->kin.problem->def.n_x;
  const double *size = s->control.new_size;
  const double all_of_q = asi_error_norm(s, size, 0, n), all_of_v = asi_error_norm(s, size, n, n);
  const double of_v = measure_v(s, all_of_q), of_q = asi_error_norm(s, size, 0, n),
               of_x = asi_error_norm(s, size, 2 * n, nx);
  const double most = asi_max_nan(asi_max_nan(of_q, of_v), of_x);
  const double all_of_slow = find_slow(s), slow = all_of_slow > 0.0 ? measure_v(s, all_of_q) : 0.0;
  const double most_change = s->stepper.expert.share_steady;
  const bool steady = note_share(&s->control.share, of_v, all_of_v, most_change),
             slow_steady = note_share(&s->control.slow_share, slow, all_of_slow, most_change);
  const int longer = 2 * s->control.most_by_shares + 1;
  s->control.share_h = s->stepper.h;
  s->control.by_shares = 0;
  s->control.most_by_shares =
      steady && slow_steady ? (longer < MOST_BY_SHARES ? longer : MOST_BY_SHARES) : 0;
  return asi_max_nan(most, slow);
}

/// [SC.18] The same by the shares that were found last.
static double measure_by_shares(as_integrator *s) {
  const int n = s->kin.problem->n, nx = s->kin.problem->def.n_x;
  const double *size = s->control.new_size;
  const double of_q = asi_error_norm(s, size, 0, n),
               of_v = s->control.share * asi_error_norm(s, size, n, n),
               of_x = asi_error_norm(s, size, 2 * n, nx);
  return asi_max_nan(asi_max_nan(asi_max_nan(of_q, of_v), of_x),
                     s->control.slow_share * find_slow(s));
}

/// [SC.14] How long windows are to be for round-off of v' to make no more than round_off_least of e_v; 0: it does not by steps. In
/// index-3 form its bound is large enough without what constraints make of it.
double asi_window_length(as_integrator *s) {
  const int n = s->kin.problem->n;
  const bool index3 = s->def.method == AS_METHOD_INDEX3;
  const double *const typical = s->kin.problem->typical, *const noise_0 = s->control.noise[0];
  double *const e_v = s->control.estimate + n;
  const double r = 4.0 * asi_round_off(&s->stepper, 0, s->stepper.h),
               factor = s->stepper.h * by_v(s);
  for (int i = 0; i < n; ++i)
    e_v[i] = factor * (index3 ? r * typical[i] : asi_larger(noise_0[i], r * typical[i]));
  const double noise = asi_error_norm(s, s->control.new_size, n, n);
  return noise > s->stepper.expert.round_off_least
             ? s->stepper.h * sqrt(noise / s->stepper.expert.round_off_least)
             : 0.0;
}

/// [SC.13] Puts round-off in v' as constraints amplify it in the place of what it is without them, and in x' what follows from it;
/// returns by how much they do; 0: it does not matter to the error.
static double amplify_noise(as_integrator *s) {
  const int n = s->kin.problem->n, nx = s->kin.problem->def.n_x;
  const double *size = s->control.new_size;
  double *noise = s->control.noise[0], *e_v = s->control.estimate + n;
  const double amplified =
      asi_amplify_round_off(&s->stepper, 0, noise, noise + n, s->scratch.unknowns);
  const as_problem *p = s->kin.problem;
  const double most_v = fmax(asi_max_motion(p, size + n), s->kin.eval.rate) / s->stepper.h,
               most_q = asi_max_motion(p, size);
  const double most =
      s->stepper.expert.round_off_most * fmin(most_v, most_q / (s->stepper.h * s->stepper.h));
  const double largest = fmax(asi_max_motion(p, noise), DBL_MIN);
  for (int i = 0; i < n; ++i) {
    noise[i] = asi_lesser(noise[i], most * p->typical[i]);
    e_v[i] = s->stepper.h * by_v(s) * noise[i];
  }
  for (int i = n; i < n + nx; ++i) {
    noise[i] *= fmin(1.0, most / largest); // as much as is left of the largest in v'
    e_v[i] = s->stepper.h * by_x(s) * noise[i];
  }
  const double counts = fmax(asi_error_norm(s, size, n, n), asi_error_norm(s, size, 2 * n, nx));
  return counts > s->stepper.expert.round_off_least ? amplified : 0.0;
}

/// Whether forces depend on multipliers, as friction in joints does.
bool asi_rubs(const as_integrator *s) { return s->kin.problem->present & asi_multiplier_blocks; }

/// [SC.4] by how much a step with error e asks for another size
double asi_proposed_factor(const as_integrator *s, double e) {
  return s->stepper.expert.step_safety * pow(1.0 / e, 0.25) * pow(s->control.error / e, 0.1);
}

/// [SC.18] The error by the shares of the last step where these are those of equal steps of machines without loops, which have no
/// singular positions, and without stiff springs, which vibrate; false: there are none, or this error asks for another size.
static bool estimate_by_shares(as_integrator *s, double *error) {
  const as_expert *expert = &s->stepper.expert;
  if (s->control.by_shares >= s->control.most_by_shares || !s->kin.problem->is_forest ||
      s->control.amplified > expert->usual_amplification || s->stepper.first ||
      s->stepper.path.excites || s->stepper.path.stiff || s->stepper.path.excited ||
      s->stepper.h != s->control.share_h)
    return false;
  if (s->control.amplified > 0.0)
    memcpy(s->control.noise[0], s->control.noise[1],
           (size_t)(s->kin.problem->n + s->kin.problem->def.n_x) * sizeof(double));
  find_errors(s);
  *error = measure_by_shares(s);
  const double factor = asi_proposed_factor(s, fmax(*error, expert->step_least_error));
  return fabs(*error - s->control.error) <= expert->share_steady * s->control.error &&
         factor >= expert->step_hold_from && factor <= expert->step_hold_to;
}

/// The error of the step that was solved last, in tolerances. Where it is too large, and then on for as long as it matters,
/// round-off is looked at more closely; so it is if `closely`, and, close to a singular position, where steps would become smaller.
double asi_estimate_error(as_integrator *s, bool closely, double *amplified) {
  double error;
  find_means(s);
  asi_measure_sizes(s, &s->stepper.next, s->control.size, s->control.new_size);
  *amplified = s->control.amplified;
  if (!closely && estimate_by_shares(s, &error)) {
    ++s->control.by_shares;
    return error;
  }
  *amplified = 0.0;
  find_means(s); // with the usual round-off
  find_errors(s);
  error = measure_errors(s);
  const bool needed = closely || error > 1.0 || s->control.amplified > 0.0;
  if (!needed && !(asi_proposed_factor(s, fmax(error, s->stepper.expert.step_least_error)) <
                   s->stepper.expert.step_hold_from))
    return error;
  *amplified = amplify_noise(s);
  // Machines that rub may jam, and what is taken off their errors there could lead them through: only close to a singular position.
  if (!needed && asi_rubs(s) && !(*amplified > s->stepper.expert.usual_amplification)) {
    find_means(s);
    *amplified = 0.0;
    return error;
  }
  find_errors(s);
  return fmin(error, measure_errors(s));
}
