/// Continuation: a branch of equilibria followed by its arc length, through limit points.
///
/// [AN.8] With z = (q, x) at rest and mu the parameter, arc length is measured by (typical sizes s_i, N components, span S of mu)
///
///     |(d, m)|^2 = sum (d_i/s_i)^2 / N + (m/S)^2
///
/// and the tangent is (d_mu, 1) / |(d_mu, 1)|, A d_mu = F_mu: A of [AN.2] with w = 0, F_mu the change of what is out of
/// balance, and of the positions on g(mu, q) = 0, by mu. A step goes along the tangent (T, T_mu); Newton's corrections stay in
/// the plane at right angles to it,
///
///     d = d_1 + m d_mu,   A d_1 = F,   (T, d_1) + m ((T, d_mu) + T_mu) = 0
///
/// with one factorization for both solutions. This is regular where mu turns round (T_mu = 0) although A is not.
///
/// [AN.9] A change of sign of T_mu is a limit point; a change of the number of unstable directions elsewhere is a branching (buckling)
/// if the eigenvalue kappa of [AN.4] goes through zero, else the onset of flutter. Both are found by false position on T_mu and kappa in the arc
/// length from the point before. Where another branch is to be taken, the direction of that eigenvalue replaces the tangent.
#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/definition.h"
#include "base/error.h"

enum { MOST_CORRECTIONS = 12, EASY_CORRECTIONS = 4, MOST_LOOKS = 60 };
// Corrections that are this small, in typical sizes and spans, have converged. The first two may be as large as the step (the second one takes
// back what stiff directions make of the curvature of the first); from then on they have to shrink like this.
#define CONVERGED 1e-10
#define SLOWEST 0.5
// How far the parameter is moved to see what it does, in spans.
#define PEEK 1e-6
// Neighbouring tangents have at least this cosine; steps grow and shrink like this.
#define STRAIGHT 0.9
#define GROW 2.0
#define SHRINK 0.5
// A rotation in one step [rad], and the parameter in spans.
#define MOST_ROTATION 0.3
#define MOST_VALUE 0.05
// Limit points and branchings are found to this part of the step they lie in.
#define LOCATED 1e-9
// So far from one where the equations are singular, or too nearly so for round-off; ten and a hundred times as far if need be.
#define NEARBY 1e-7
#define NOT_SO_NEARBY 1.1e-5
// An eigenvalue that is this small a part of those beside it counts as zero at a branching.
#define VANISHED 1e-4

as_continuation_def as_default_continuation_def(void) {
  return (as_continuation_def){.cookie = ASI_COOKIE(as_continuation_def),
                               .from = (double)NAN,
                               .to = (double)NAN,
                               .turned = (double)NAN,
                               .signal = -1,
                               .first_step = 0.02,
                               .longest_step = (double)INFINITY,
                               .max_points = 1000};
}

/// A continuation under way. The last point is at a->kept, with its tangent in a->tangent.
typedef struct path {
  as_analysis *a;
  const as_continuation_def *def;
  asi_parameter parameter;
  double span;    ///< S
  double inertia; ///< w that holds free motions
  double value;   ///< mu of the last point
  double turn;    ///< T_mu there, times S
  double h;       ///< arc length of the next step
  int freedom;
  as_continuation_point last; ///< as delivered
  double here;                ///< mu at a->here
  double here_turn;           ///< T_mu there, times S
  int corrections;            ///< that the last step took
  as_continuation_report report;
} path;

static double time_at(const path *c, double value) {
  return asi_parameter_time(&c->parameter, value);
}

static as_status set_parameter(path *c, double value) {
  c->here = value;
  return asi_parameter_set(c->a, &c->parameter, value);
}

/// The product of two directions without their parts of the parameter.
static double product(const as_analysis *a, const double *x, const double *y) {
  const as_problem *p = a->problem;
  double sum = 0.0;
  for (int i = 0; i < p->n; ++i) sum += x[i] * y[i] / (p->typical[i] * p->typical[i]);
  return p->n > 0 ? sum / p->n : 0.0;
}

/// Where the state part of a solution of [AN.2] begins.
static int first_x(const as_analysis *a) { return a->problem->n + a->kin.redundancy.rows; }

/// F_mu at a->here, and the move of the positions that the constraints ask for, into a->by_value and a->way.
static as_status peek(path *c) {
  as_analysis *a = c->a;
  const as_problem *p = a->problem;
  const asi_rest *here = &a->here, *there = &a->trial;
  const double value = c->here, d = PEEK * c->span;
  as_status status = set_parameter(c, value + d);
  if (status == AS_OK) {
    asi_copy_values(p, &here->at, &there->at);
    status = asi_analysis_project(a, time_at(c, value + d), there->at.q);
  }
  if (status == AS_OK) status = asi_balance(a, time_at(c, value + d), &a->trial);
  const as_status back = set_parameter(c, value);
  if (status || back) return status ? status : back;
  memset(a->by_value, 0, asi_total_size(p) * sizeof(double));
  as_space_difference(p->space, here->at.q, there->at.q, a->way);
  for (int i = 0; i < p->n; ++i) {
    a->way[i] /= d;
    a->by_value[i] = (there->force[i] - here->force[i]) / d;
  }
  for (int i = 0; i < p->def.n_x; ++i)
    a->by_value[first_x(a) + i] = (there->at.xdot[i] - here->at.xdot[i]) / d;
  return AS_OK;
}

/// Solves for d_1 (a->step) and d_mu (a->by_value) at a->here.
static as_status solve(path *c) {
  as_analysis *a = c->a;
  const double t = time_at(c, c->here);
  as_status status = peek(c);
  if (status == AS_OK) status = asi_statics_solve(a, t, c->inertia);
  if (status == AS_OK) status = asi_solve(&a->kin, &a->statics, t, a->by_value);
  for (int i = 0; i < a->problem->n && status == AS_OK; ++i) a->by_value[i] += a->way[i];
  return status;
}

/// The tangent at a->here from d_mu, forwards along the one of the last point, into a->direction; T_mu S into c->here_turn. Returns the
/// cosine between the two; `forwards` is the sign of T_mu if there is none before.
static double make_tangent(path *c, bool first, double forwards) {
  as_analysis *a = c->a;
  const double length = sqrt(product(a, a->by_value, a->by_value) + 1.0 / (c->span * c->span));
  for (int i = 0; i < a->problem->n; ++i) a->direction[i] = a->by_value[i] / length;
  c->here_turn = 1.0 / (length * c->span);
  const double cosine = first ? forwards * c->here_turn
                              : product(a, a->direction, a->tangent) + c->here_turn * c->turn;
  if (cosine >= 0.0) return cosine;
  for (int i = 0; i < a->problem->n; ++i) a->direction[i] = -a->direction[i];
  c->here_turn = -c->here_turn;
  return -cosine;
}

static as_status fail_far(const path *c, const char *what) {
  const as_analysis *a = c->a;
  int worst = 0;
  char name[64];
  for (int i = 1; i < a->problem->n; ++i)
    if (fabs(a->step[i]) / a->problem->typical[i] >
        fabs(a->step[worst]) / a->problem->typical[worst])
      worst = i;
  asi_component_name(a->problem, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(a->kin.eval.error, AS_ERR_CONVERGENCE, time_at(c, c->here), name, "%s %s.", name,
                  what);
}

/// The largest move along a->tangent, in typical sizes and spans.
static double longest_move(const path *c, double h) {
  const as_problem *p = c->a->problem;
  double most = fabs(h * c->turn);
  for (int i = 0; i < p->n; ++i) most = fmax(most, fabs(h * c->a->tangent[i]) / p->typical[i]);
  return most;
}

/// Newton's method from a->here, a way of h from the last point, in the plane at right angles to a->tangent; or, with `fixed`, for the
/// parameter as it is.
static as_status correct(path *c, double h, bool fixed) {
  as_analysis *a = c->a;
  double last = longest_move(c, h);
  as_status status = asi_analysis_project(a, time_at(c, c->here), a->here.at.q);
  if (status == AS_OK) status = asi_balance(a, time_at(c, c->here), &a->here);
  for (c->corrections = 0; c->corrections < MOST_CORRECTIONS && status == AS_OK; ++c->corrections) {
    status = solve(c);
    if (status) return status;
    const double along = product(a, a->tangent, a->by_value) + c->turn / c->span;
    const double m = fixed ? 0.0 : -product(a, a->tangent, a->step) / along;
    const size_t total = asi_total_size(a->problem);
    for (size_t i = 0; i < total; ++i) a->step[i] += m * a->by_value[i];
    const double size = asi_max_nan(asi_statics_size(a), fabs(m) / c->span);
    if (!(size <= fmax(last, CONVERGED))) break;
    if (c->corrections > 0) last = SLOWEST * size;
    status = set_parameter(c, c->here + m);
    if (status == AS_OK) status = asi_statics_move(a, time_at(c, c->here), 1.0);
    if (status) return status;
    asi_statics_accept(a, time_at(c, c->here));
    if (size <= CONVERGED) return AS_OK;
  }
  return status ? status : fail_far(c, "does not find its balance nearby");
}

/// Puts a->here at the last point.
static as_status go_back(path *c) {
  asi_copy_values(c->a->problem, &c->a->kept, &c->a->here.at);
  asi_analysis_restore_signals(c->a);
  return set_parameter(c, c->value);
}

/// From the last point by an arc length h along a->tangent, the tangent there into a->direction.
static as_status take_step(path *c, double h) {
  as_analysis *a = c->a;
  const as_problem *p = a->problem;
  as_status status = go_back(c);
  if (status) return status;
  for (int i = 0; i < p->n; ++i) a->way[i] = h * a->tangent[i];
  as_space_move(p->space, a->kept.q, a->way, a->here.at.q);
  status = set_parameter(c, c->value + h * c->turn * c->span);
  if (status == AS_OK) status = correct(c, h, false);
  const int corrections = c->corrections;
  if (status == AS_OK) status = solve(c);
  if (status) return status;
  c->corrections = corrections;
  if (make_tangent(c, false, 0.0) < STRAIGHT) return fail_far(c, "turns too far in one step");
  return AS_OK;
}

static as_continuation_point describe(path *c, as_continuation_kind kind, double arc,
                                      const as_equilibrium *found) {
  return (as_continuation_point){
      .kind = kind, .value = c->here, .arc = arc, .turn = c->here_turn, .found = *found};
}

/// Judges a->here; the k-th softest direction, from 0, goes to a->mode and its eigenvalue to a->kappa.
static as_status judge(path *c, int k, as_equilibrium *found) {
  as_analysis *a = c->a;
  *found = (as_equilibrium){.iterations = c->corrections};
  a->wanted_mode = k;
  const as_status status = asi_judge(a, time_at(c, c->here), found);
  a->wanted_mode = 0;
  return status;
}

static as_status deliver(path *c, as_continuation_point *point) {
  as_analysis *a = c->a;
  asi_analysis_show(a, time_at(c, point->value), &a->here.at);
  ++c->report.n_points;
  c->report.n_limits += point->kind == AS_POINT_LIMIT;
  c->report.n_branchings += point->kind == AS_POINT_BRANCHING;
  if (c->def->receive == NULL) return AS_OK;
  point->state = as_analysis_state(a);
  return c->def->receive(point, c->def->user) ? AS_STOPPED : AS_OK;
}

/// a->here becomes the last point, a->direction its tangent.
static void keep(path *c, const as_continuation_point *point) {
  as_analysis *a = c->a;
  asi_copy_values(a->problem, &a->here.at, &a->kept);
  asi_analysis_keep_signals(a);
  memcpy(a->tangent, a->direction, (size_t)a->problem->n * sizeof(double));
  c->value = c->report.last = c->here;
  c->turn = c->here_turn;
  c->last = *point;
}

// ---- special points -------------------------------------------------------------------------------

/// What is sought between the last point and one behind it.
typedef struct special {
  as_continuation_kind kind;
  int mode; ///< of a branching: which eigenvalue, from the smallest
} special;

/// Its function at a->here.
static as_status look(path *c, special what, as_equilibrium *found, double *value) {
  const as_status status = judge(c, what.mode, found);
  *value = what.kind == AS_POINT_LIMIT ? c->here_turn : c->a->kappa;
  return status;
}

static bool is_local(as_status status) {
  return as_status_is_recoverable(status) || status == AS_ERR_INCONSISTENT;
}

/// Looks a little behind an arc length *h where there is no balance to be found, since the equations are next to singular.
static as_status look_beside(path *c, special what, double step, double *h, as_equilibrium *found) {
  const double there = *h;
  double value, gap = NEARBY;
  as_status status;
  do {
    *h = there + gap * step;
    status = take_step(c, *h);
    if (status == AS_OK) return look(c, what, found, &value);
    gap *= 10.0;
  } while (gap < NOT_SO_NEARBY && (is_local(status) || status == AS_ERR_SINGULAR));
  return status;
}

/// [AN.9] False position (with Illinois' halving) on a function that has the values `at[0]` at the last point and `at[1]` an arc length *h behind it.
/// a->here is the point in the end, at the arc length *h.
static as_status locate(path *c, special what, double *h, const double at[2],
                        as_equilibrium *found) {
  const double step = *h, margin = 0.3 * LOCATED * step;
  double left = 0.0, right = step, l = at[0], r = at[1];
  as_status status = AS_OK;
  for (int i = 0; i < MOST_LOOKS && right - left > LOCATED * step; ++i) {
    double value = 0.0;
    *h = fmin(fmax((left * r - right * l) / (r - l), left + margin), right - margin);
    status = take_step(c, *h);
    if (status == AS_OK) status = look(c, what, found, &value);
    if (status == AS_ERR_SINGULAR || is_local(status)) return look_beside(c, what, step, h, found);
    if (status || value == 0.0) return status;
    if (signbit(value) == signbit(r)) {
      right = *h;
      r = value;
      l *= 0.5;
    } else {
      left = *h;
      l = value;
      r *= 0.5;
    }
  }
  return status;
}

/// What the step from the last point to a->here has passed; AS_POINT_REGULAR: nothing.
static special passed(const path *c, const as_equilibrium *found) {
  const int before = c->last.found.n_negative, now = found->n_negative;
  if (c->turn * c->here_turn < 0.0) return (special){.kind = AS_POINT_LIMIT};
  if (before < 0 || now < 0 || before == now) return (special){.kind = AS_POINT_REGULAR};
  return (special){.kind = AS_POINT_BRANCHING, .mode = before < now ? before : now};
}

/// The branch that crosses at a->here, delivered as `point`, becomes the one to follow.
static void take_branch(path *c, as_continuation_point *point) {
  as_analysis *a = c->a;
  const double length = (c->def->branch > 0 ? 1.0 : -1.0) * sqrt(product(a, a->mode, a->mode));
  for (int i = 0; i < a->problem->n; ++i) a->direction[i] = a->mode[i] / length;
  c->here_turn = 0.0;
  point->found.n_negative = -1; // it changes here: the next point is not compared with this one
  keep(c, point);
  ++c->report.n_left;
}

/// Finds and delivers what lies within a step of the length h. *left: goes on from there, on the other branch.
static as_status show_special(path *c, special what, double h, bool *left) {
  as_analysis *a = c->a;
  as_equilibrium found;
  double at[2];
  as_status status = look(c, what, &found, &at[1]);
  if (status == AS_OK) status = go_back(c);
  if (status == AS_OK) status = asi_balance(a, time_at(c, c->value), &a->here);
  c->here_turn = c->turn;
  if (status == AS_OK) status = look(c, what, &found, &at[0]);
  if (status || at[0] * at[1] > 0.0) return status;
  const double size = fmax(fabs(at[0]), fabs(at[1]));
  status = locate(c, what, &h, at, &found);
  if (status) return status;
  if (what.kind == AS_POINT_BRANCHING && !(fabs(a->kappa) <= VANISHED * size))
    what.kind = AS_POINT_FLUTTER;
  as_continuation_point point = describe(c, what.kind, c->last.arc + h, &found);
  *left = what.kind == AS_POINT_BRANCHING && c->def->branch != 0 && c->report.n_left == 0;
  status = deliver(c, &point);
  if (status == AS_OK && *left) take_branch(c, &point);
  return status;
}

// ---- the path -------------------------------------------------------------------------------------

/// Whether the parameter has come to the end, from the side that it began on.
static bool is_behind(const path *c, double value) {
  return c->def->to > c->def->from ? value >= c->def->to : value <= c->def->to;
}

/// The last point: at the wanted value, from a->here close behind it.
static as_status finish(path *c, double arc) {
  as_analysis *a = c->a;
  as_equilibrium found;
  const double share = (c->def->to - c->value) / (c->here - c->value), h = c->h;
  as_status status = go_back(c);
  if (status) return status;
  for (int i = 0; i < a->problem->n; ++i) a->way[i] = share * h * a->tangent[i];
  as_space_move(a->problem->space, a->kept.q, a->way, a->here.at.q);
  status = set_parameter(c, c->def->to);
  if (status == AS_OK) status = correct(c, share * h, true);
  if (status == AS_OK) status = solve(c);
  if (status) return status;
  make_tangent(c, false, 0.0);
  status = judge(c, 0, &found);
  if (status) return status;
  as_continuation_point point = describe(c, AS_POINT_REGULAR, arc + share * h, &found);
  keep(c, &point);
  c->report.arrived = true;
  return deliver(c, &point);
}

/// One step of the path: the next point, and the special one before it.
static as_status advance(path *c) {
  const double h = c->h;
  as_equilibrium found;
  bool left = false;
  as_status status = take_step(c, h);
  if (status == AS_OK) status = judge(c, 0, &found);
  if (status) return status;
  const special what = passed(c, &found);
  if (what.kind != AS_POINT_REGULAR) {
    status = show_special(c, what, h, &left);
    if (status || left) return status;
    status = take_step(c, h);
    if (status) return status;
  }
  const int corrections = c->corrections;
  if (is_behind(c, c->here)) return finish(c, c->last.arc);
  as_continuation_point point = describe(c, AS_POINT_REGULAR, c->last.arc + h, &found);
  keep(c, &point);
  status = deliver(c, &point);
  if (corrections <= EASY_CORRECTIONS) c->h = GROW * h;
  return status;
}

static as_status fail_branch(const path *c, as_status status) {
  as_error *error = c->a->kin.eval.error;
  if (!is_local(status) || error == NULL) return status;
  const as_error inner = *error;
  return asi_fail(error, status, inner.t, inner.component,
                  "The branch of equilibria cannot be followed beyond %.9g. %.300s", c->value,
                  inner.message);
}

static as_status fail_end(const path *c, const char *why) {
  return asi_fail(c->a->kin.eval.error, AS_ERR_CONVERGENCE, time_at(c, c->value), NULL,
                  "The branch of equilibria did not come to %.9g: %s; the last one is at %.9g.",
                  c->def->to, why, c->value);
}

/// The arc length of the next step: no rotation and no change of the parameter is too large for what lies between to be seen.
static double limit(const path *c, double h) {
  const as_problem *p = c->a->problem;
  double most = 1.0 / MOST_VALUE * fabs(c->turn);
  for (int i = 0; i < p->n; ++i)
    if (p->is_rotation[i]) most = fmax(most, fabs(c->a->tangent[i]) / MOST_ROTATION);
  h = fmin(h, c->def->longest_step);
  return most * h > 1.0 ? 1.0 / most : h;
}

static as_status follow(path *c) {
  const double shortest = c->a->def.shortest_part * c->def->first_step;
  const double turned = isnan(c->def->turned) ? 2.0 * c->def->from - c->def->to : c->def->turned;
  while (!c->report.arrived) {
    as_status status = asi_analysis_interrupted(c->a, time_at(c, c->value));
    if (status) return status;
    if (c->report.n_points >= c->def->max_points) return fail_end(c, "there are enough points");
    if ((turned - c->value) * (c->def->to - c->def->from) > 0.0)
      return fail_end(c, "it turned back");
    c->h = limit(c, c->h);
    status = advance(c);
    if (status == AS_OK) continue;
    c->h *= SHRINK;
    if (!is_local(status)) return status;
    if (c->h < shortest) return fail_branch(c, status);
  }
  return AS_OK;
}

static as_status begin(path *c, const as_initial *initial, as_error *error) {
  as_analysis *a = c->a;
  as_equilibrium found = {0};
  c->here = c->def->from;
  as_status status = asi_parameter_begin(a, &c->parameter, c->here, initial, &found, error);
  if (status) return status;
  c->inertia = found.n_neutral > 0 ? 1e-8 * a->stiffness : 0.0;
  asi_analysis_keep_signals(a);
  status = solve(c);
  if (status) return status;
  make_tangent(c, true, c->def->to > c->def->from ? 1.0 : -1.0);
  as_continuation_point point = describe(c, AS_POINT_REGULAR, 0.0, &found);
  keep(c, &point);
  return deliver(c, &point);
}

static as_status check_def(const as_continuation_def *def, as_error *error) {
  if (!isnormal(def->to - def->from) || !isfinite(def->from) || !isfinite(def->to)) // NaN, too
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "to",
                    "A continuation goes from one value of its parameter to another, not from %g "
                    "to %g.",
                    def->from, def->to);
  if (!(isfinite(def->first_step) && def->first_step > 0.0 && def->longest_step >= def->first_step))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, "first_step",
        "Steps of a continuation are positive and finite, and the first one (%g) is not "
        "longer than the longest (%g).",
        def->first_step, def->longest_step);
  if (!isnan(def->turned) && !((def->turned - def->from) * (def->to - def->from) <= 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "turned",
                    "turned = %g of a continuation lies on its way from %g to %g.", def->turned,
                    def->from, def->to);
  if (def->max_points < 2)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "max_points",
                    "max_points = %d of a continuation is below 2.", def->max_points);
  return AS_OK;
}

as_status as_analysis_continue(as_analysis *a, const as_initial *initial,
                               const as_continuation_def *def, as_continuation_report *report,
                               as_error *error) {
  if (a == NULL || initial == NULL || def == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A continuation needs an analysis, a start and a description.");
  as_status status = ASI_CHECK_DEFINITION(as_continuation_def, def, error);
  if (status == AS_OK) status = check_def(def, error);
  const asi_parameter parameter = {def->set, def->user, def->signal, initial->t};
  if (status == AS_OK) status = asi_parameter_check(a, &parameter, error);
  if (status) return status;
  path c = {.a = a,
            .def = def,
            .parameter = parameter,
            .span = fabs(def->to - def->from),
            .value = def->from,
            .h = def->first_step,
            .report = {.last = (double)NAN}};
  status = begin(&c, initial, error);
  if (status == AS_OK) status = follow(&c);
  if (status && c.report.n_points > 0) { // back to the last point
    if (def->set) def->set(c.value, def->user);
    asi_analysis_restore_signals(a);
    asi_analysis_show(a, time_at(&c, c.value), &a->kept);
  }
  if (report) *report = c.report;
  return status ? status : asi_error_clear(error);
}
