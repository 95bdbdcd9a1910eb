/// Sweeps: an equilibrium followed while a parameter changes.
///
/// [AN.7] From one value to the next the last two equilibria, extrapolated on the group, lead; if that does not work
/// the last one alone. Newton's method [AN.2] with w = 0 must halve its steps each time, and end within half of what
/// was predicted: then there is one equilibrium nearby, and it is the continuation. Otherwise the parameter goes a
/// part of the way only. Where parts become too short the branch has ended.
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/definition.h"
#include "base/error.h"

enum { MOST_CORRECTIONS = 15 };
#define SLOWEST 0.5
#define CONVERGED 1e-10

as_sweep_def as_default_sweep_def(void) {
  return (as_sweep_def){.cookie = ASI_COOKIE(as_sweep_def), .signal = -1};
}

/// A sweep under way.
typedef struct sweep {
  as_analysis *a;
  const as_sweep_def *def;
  asi_parameter parameter;
  double value;           ///< of the last equilibrium
  double before;          ///< of the one before, at a->q_before; NAN: there is none
  double inertia;         ///< w that holds free motions
  const asi_values *kept; ///< the equilibrium at `value`
  as_sweep_report report;
} sweep;

static double time_at(const sweep *w, double value) {
  return asi_parameter_time(&w->parameter, value);
}

/// Newton's method from a->here, which is projected first. `way` is how far it came from the equilibrium before;
/// infinite: nothing was predicted.
static as_status correct(sweep *w, double t, double way) {
  as_analysis *a = w->a;
  double last = (double)INFINITY, sum = 0.0;
  as_status status = asi_analysis_project(a, t, a->here.at.q);
  if (status == AS_OK) status = asi_balance(a, t, &a->here);
  for (int i = 0; i < MOST_CORRECTIONS && status == AS_OK; ++i) {
    status = asi_statics_solve(a, t, w->inertia);
    if (status) return status;
    const double size = asi_statics_size(a);
    sum += size;
    const bool converged = size <= CONVERGED;
    if (!converged && !(size <= SLOWEST * last && sum <= fmax(SLOWEST * way, 1e3 * CONVERGED)))
      break;
    last = size;
    status = asi_statics_move(a, t, 1.0);
    if (status) return status;
    asi_statics_accept(a, t);
    if (converged) return asi_statics_polish(a, t, w->inertia);
  }
  if (status) return status;
  char name[64];
  int worst = 0;
  for (int i = 1; i < a->problem->n; ++i)
    if (fabs(a->step[i]) / a->problem->typical[i] >
        fabs(a->step[worst]) / a->problem->typical[worst])
      worst = i;
  asi_component_name(a->problem, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(a->kin.eval.error, AS_ERR_CONVERGENCE, t, name, "%s would have to move far.",
                  name);
}

/// Puts a->here where the last two equilibria lead; returns the length of the way, in typical sizes.
static double extrapolate(sweep *w, double value) {
  as_analysis *a = w->a;
  const as_problem *p = a->problem;
  const double factor = (value - w->value) / (w->value - w->before);
  double way = 0.0;
  as_space_difference(p->space, a->q_before, w->kept->q, a->way);
  for (int i = 0; i < p->n; ++i) {
    a->way[i] *= factor;
    way = fmax(way, fabs(a->way[i]) / p->typical[i]);
  }
  as_space_move(p->space, w->kept->q, a->way, a->here.at.q);
  return way;
}

/// Puts a->here at the last equilibrium, with the parameter at another value.
static as_status go_back(sweep *w, double value) {
  asi_copy_values(w->a->problem, w->kept, &w->a->here.at);
  asi_analysis_restore_signals(w->a);
  return asi_parameter_set(w->a, &w->parameter, value);
}

/// From the last equilibrium to one at another value.
static as_status follow_part(sweep *w, double value) {
  as_status status = go_back(w, value);
  if (status) return status;
  if (isfinite(w->before)) {
    const double way = extrapolate(w, value);
    status = correct(w, time_at(w, value), way);
    if (status == AS_OK) return AS_OK;
    status = go_back(w, value);
    if (status) return status;
  }
  return correct(w, time_at(w, value), (double)INFINITY);
}

static bool is_local(as_status status) {
  return as_status_is_recoverable(status) || status == AS_ERR_INCONSISTENT;
}

/// a->here is an equilibrium.
static void keep(sweep *w, double value) {
  asi_copy_values(w->a->problem, &w->a->here.at, w->kept);
  asi_analysis_keep_signals(w->a);
  w->value = w->report.last = value;
  ++w->report.equilibria;
}

/// Goes to a value in as many parts as it takes.
static as_status follow(sweep *w, double value) {
  as_analysis *a = w->a;
  double h = value - w->value;
  const double shortest = a->def.shortest_part * fabs(h);
  while (w->value != value) {
    as_status status = asi_analysis_interrupted(a, time_at(w, w->value));
    if (status) return status;
    const double next = fabs(h) >= fabs(value - w->value) ? value : w->value + h;
    status = follow_part(w, next);
    if (status == AS_OK) {
      memcpy(a->q_before, w->kept->q, (size_t)a->problem->nq * sizeof(double));
      w->before = w->value;
      keep(w, next);
      h *= 2.0;
      continue;
    }
    h = 0.5 * (next - w->value);
    if (is_local(status) && fabs(h) >= shortest) continue;
    if (isnan(w->report.lost[0])) {
      w->report.lost[0] = w->value;
      w->report.lost[1] = next;
    }
    return status;
  }
  return AS_OK;
}

static as_status fail_branch(sweep *w, as_status status) {
  as_error *error = w->a->kin.eval.error;
  if (!is_local(status) || error == NULL) return status;
  const as_error inner = *error;
  return asi_fail(error, status, inner.t, inner.component,
                  "The equilibrium cannot be followed beyond %.9g: at %.9g there is none nearby. "
                  "%.300s",
                  w->report.lost[0], w->report.lost[1], inner.message);
}

/// Lets go where the branch has ended.
static as_status jump(sweep *w, double value, as_equilibrium *found) {
  as_analysis *a = w->a;
  const double t = time_at(w, value);
  as_status status = go_back(w, value);
  if (status == AS_OK) status = asi_analysis_project(a, t, a->here.at.q);
  if (status == AS_OK) status = asi_find_equilibrium(a, t, found);
  if (status) return status;
  found->jumped = true;
  ++w->report.n_jumps;
  keep(w, value);
  w->before = (double)NAN;
  return AS_OK;
}

/// Shows an equilibrium at a wanted value.
static as_status deliver(sweep *w, const as_equilibrium *found) {
  as_analysis *a = w->a;
  w->inertia = found->n_neutral > 0 ? 1e-8 * a->stiffness : 0.0;
  ++w->report.n_done;
  asi_analysis_show(a, time_at(w, w->value), w->kept);
  if (w->def->receive == NULL) return AS_OK;
  return w->def->receive(w->value, as_analysis_state(a), found, w->def->user) ? AS_STOPPED : AS_OK;
}

static as_status reach(sweep *w, double value) {
  as_equilibrium found = {0};
  as_status status = follow(w, value);
  if (status == AS_OK)
    status = asi_judge(w->a, time_at(w, value), &found);
  else if (is_local(status) && w->def->jump)
    status = jump(w, value, &found);
  else
    status = fail_branch(w, status);
  if (status == AS_OK) return deliver(w, &found);
  if (w->def->set) w->def->set(w->value, w->def->user); // back to the last equilibrium
  asi_analysis_restore_signals(w->a);
  asi_analysis_show(w->a, time_at(w, w->value), w->kept);
  return status;
}

static as_status check_def(const as_sweep_def *def, as_error *error) {
  if (def->values == NULL || def->n_values < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "values",
                    "A sweep needs values of its parameter.");
  for (int i = 0; i < def->n_values; ++i)
    if (!isfinite(def->values[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "values", "values[%d] of a sweep is %g.",
                      i, def->values[i]);
  return AS_OK;
}

/// The first equilibrium.
static as_status begin(sweep *w, const as_initial *initial, as_error *error) {
  as_equilibrium found = {0};
  const double value = w->def->values[0];
  const as_status status = asi_parameter_begin(w->a, &w->parameter, value, initial, &found, error);
  if (status) return status;
  keep(w, value);
  return deliver(w, &found);
}

as_status as_analysis_sweep(as_analysis *a, const as_initial *initial, const as_sweep_def *def,
                            as_sweep_report *report, as_error *error) {
  if (a == NULL || initial == NULL || def == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A sweep needs an analysis, a start and a description.");
  as_status status = ASI_CHECK_DEFINITION(as_sweep_def, def, error);
  if (status == AS_OK) status = check_def(def, error);
  const asi_parameter parameter = {def->set, def->user, def->signal, initial->t};
  if (status == AS_OK) status = asi_parameter_check(a, &parameter, error);
  if (status) return status;
  const double unknown = (double)NAN;
  sweep w = {.a = a, .def = def, .parameter = parameter, .before = unknown, .kept = &a->kept};
  w.report = (as_sweep_report){.last = unknown, .lost = {unknown, unknown}};
  status = begin(&w, initial, error);
  for (int i = 1; i < def->n_values && status == AS_OK; ++i) status = reach(&w, def->values[i]);
  if (report) *report = w.report;
  return status ? status : asi_error_clear(error);
}

as_status as_analysis_follow_equilibrium(as_analysis *a, const as_initial *near, const double *from,
                                         bool neutral, as_equilibrium *found, as_error *error) {
  as_equilibrium own = {0};
  int freedom = 0;
  as_status status = asi_analysis_start(a, near, error);
  if (status == AS_OK) status = asi_analysis_rank(a, near->t, &a->here.at, &freedom);
  if (status) return status;
  sweep w = {.a = a, .kept = &a->kept};
  memcpy(a->q_start, a->here.at.q, (size_t)a->problem->nq * sizeof(double));
  if (neutral) { // as a sweep does from its second equilibrium on
    status = asi_balance(a, near->t, &a->here);
    if (status == AS_OK) status = asi_statics_solve(a, near->t, 1.0);
    if (status) return status;
    w.inertia = 1e-8 * a->stiffness;
  }
  double way = from ? 0.0 : (double)INFINITY;
  if (from) as_space_difference(a->problem->space, from, a->here.at.q, a->way);
  for (int i = 0; i < a->problem->n && from; ++i)
    way = fmax(way, fabs(a->way[i]) / a->problem->typical[i]);
  status = correct(&w, near->t, way);
  if (status == AS_OK) status = asi_judge(a, near->t, &own);
  if (status) return status;
  a->in_motion = false;
  asi_analysis_show(a, near->t, &a->here.at);
  if (found) *found = own;
  return asi_error_clear(error);
}
