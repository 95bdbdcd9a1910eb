/// Sampled controllers: held signals u that change at sample times only.
///
/// Steps end on sample times, exactly. There the inputs are read from the converged state; the new u jumps,
/// and v', lambda, psi, x' and y jump with it: they are solved for anew, and the next step starts as the
/// first one does, looking forward only. So second order holds between samples and across them.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/driver/integrator.h"

/// Where a sampler stands.
struct asi_zoh {
  long long next; ///< number of its next sample
  bool pending;   ///< a result waits
  double due;     ///< until then [s]
};

as_status asi_zoh_create(as_integrator *s, as_error *error) {
  const as_problem_def *def = &s->kin.problem->def;
  const size_t n = (size_t)def->n_u;
  s->sampler = asi_calloc((size_t)def->n_samplers, sizeof *s->sampler);
  double *const room = asi_calloc(5 * n, sizeof(double));
  if (!s->sampler || !room) {
    free(room);
    return asi_fail_memory(error);
  }
  s->held.result = room;
  s->held.before_samples = room + n;
  s->held.shown = room + 2 * n;
  s->held.before_event = room + 3 * n;
  s->held.after_event = room + 4 * n;
  return AS_OK;
}

void asi_zoh_free(as_integrator *s) {
  free(s->sampler);
  free(s->held.result);
}

/// [SA.1] sample k of a controller is at offset + k period: multiplied, not summed up
static double sample_time(const as_sampler_def *def, long long k) {
  return def->offset + (double)k * def->period;
}

/// Whether two times are the same to round-off.
static double slack(double t, double period) {
  return fmin(fmax(1e-10 * period, 1e-11 * fmax(1.0, fabs(t))), 1e-3 * period);
}

static bool is_at(double t, double time, double period) {
  return fabs(t - time) <= slack(t, period);
}

bool asi_zoh_is_at(const as_integrator *s, double time, double t) {
  const int n = s->kin.problem->def.n_samplers;
  bool all = n > 0;
  for (int i = 0; i < n; ++i) all = all && is_at(t, time, s->kin.problem->sampler[i].period);
  return all;
}

/// Whether what was read can be: no sample and no result is overdue, and counting does not overflow.
static bool makes_sense(const struct asi_zoh *x, const as_sampler_def *def, double t) {
  const double least = t - 2.0 * slack(t, def->period);
  return (double)x->next <= 0x1p53 && sample_time(def, x->next) >= least &&
         (!x->pending || (x->due >= least && x->due <= t + 2.0 * def->period));
}

void asi_zoh_serialize(as_integrator *s, asi_archive *a) {
  const as_problem_def *def = &s->kin.problem->def;
  asi_archive_doubles(a, s->held.result, (size_t)def->n_u);
  for (int i = 0; i < def->n_samplers; ++i) {
    struct asi_zoh *x = &s->sampler[i];
    uint64_t next = (uint64_t)x->next;
    asi_archive_word(a, &next);
    asi_archive_bool(a, &x->pending);
    asi_archive_double(a, &x->due);
    if (a->mode != ASI_ARCHIVE_READ || a->damaged) continue;
    x->next = next <= INT64_MAX ? (long long)next : LLONG_MAX;
    if (!a->trusted && !makes_sense(x, &s->kin.problem->sampler[i], s->stepper.t))
      a->damaged = true;
  }
}

void asi_zoh_start(as_integrator *s, double t) {
  const as_problem_def *def = &s->kin.problem->def;
  for (int i = 0; i < def->n_samplers; ++i) {
    const as_sampler_def *one = &s->kin.problem->sampler[i];
    long long k = (long long)fmax(0.0, floor((t - one->offset) / one->period) - 1.0);
    while (sample_time(one, k) < t && !is_at(t, sample_time(one, k), one->period)) ++k;
    s->sampler[i] = (struct asi_zoh){.next = k};
  }
}

double asi_zoh_next(const as_integrator *s) {
  double next = (double)INFINITY;
  for (int i = 0; i < s->kin.problem->def.n_samplers; ++i) {
    next = fmin(next, sample_time(&s->kin.problem->sampler[i], s->sampler[i].next));
    if (s->sampler[i].pending) next = fmin(next, s->sampler[i].due);
  }
  return next;
}

static bool is_due(const as_integrator *s, int i) {
  const as_sampler_def *def = &s->kin.problem->sampler[i];
  return is_at(s->stepper.t, sample_time(def, s->sampler[i].next), def->period);
}

/// Calls the controllers that are due, all with the same point, and keeps their results.
static as_status take_samples(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  bool due = false, reads = false;
  for (int i = 0; i < p->def.n_samplers; ++i)
    if (is_due(s, i)) due = true, reads = reads || !p->sampler[i].without_reactions;
  if (!due) return AS_OK;
  asi_publish(s, s->stepper.t, &s->stepper.now);
  const as_status shown = reads ? asi_show_reactions(s) : AS_OK;
  if (shown) return shown;
  as_point at = asi_point_at_start(&s->stepper, s->stepper.now.v);
  at.lambda = s->state.lambda;
  at.psi = s->state.psi;
  double *const shown_u = s->held.shown;
  memcpy(shown_u, s->kin.eval.u, (size_t)p->def.n_u * sizeof(double));
  at.u = shown_u;
  for (int i = 0; i < p->def.n_samplers; ++i) {
    if (!is_due(s, i)) continue;
    const as_sampler_def *one = &p->sampler[i];
    const double time = sample_time(one, s->sampler[i].next);
    double *result = s->held.result + one->first;
    memcpy(result, s->kin.eval.u + one->first, (size_t)one->count * sizeof(double));
    const int code = one->sample(&at, result, one->user ? one->user : p->def.user);
    if (code < AS_FATAL || code > AS_RETRY) // the problem knows who is to blame
      return asi_eval_code(&s->kin.eval, code, "sample", &at);
    if (code != AS_DONE)
      return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, at.t, "sample",
                      "The sample callback of sampler %d failed at t = %.9g s (it returned %d).", i,
                      at.t, code);
    for (int k = 0; k < one->count; ++k)
      if (!isfinite(result[k]))
        return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, at.t, "u",
                        "The sample callback of sampler %d returned %g for u[%d] at t = %.9g s.", i,
                        result[k], one->first + k, at.t);
    if (one->delay == 0.0 && !one->hidden)
      memcpy(shown_u + one->first, result, (size_t)one->count * sizeof(double));
    s->sampler[i].pending = true;
    s->sampler[i].due = time + one->delay;
    ++s->sampler[i].next;
  }
  return AS_OK;
}

/// What the force has changed by since held signals were `before`.
static as_status force_change(as_integrator *s, const double *before, double *change) {
  const as_problem_def *def = &s->kin.problem->def;
  const int n = s->kin.problem->n;
  asi_evaluator *e = &s->kin.eval;
  as_point at = asi_point_at_start(&s->stepper, s->stepper.now.v);
  double *const now = e->u, *const u = s->held.shown;
  if (def->force_change) {
    at.u = now;
    at.lambda = s->stepper.now.lambda;
    at.vdot = NULL;
    return asi_eval_force_change(e, &at, before, change);
  }
  memcpy(u, before, (size_t)def->n_u * sizeof(double));
  e->u = u;
  as_status status = asi_eval_function(e, ASI_FN_F, &at, s->kin.block, s->scratch.work);
  e->u = now;
  if (status == AS_OK) status = asi_eval_function(e, ASI_FN_F, &at, s->kin.block, change);
  for (int i = 0; i < n && status == AS_OK; ++i) change[i] -= s->scratch.work[i];
  return status;
}

/// Goes on where held signals have changed.
static as_status jump(as_integrator *s, const double *before) {
  const double rtol = isnan(s->def.newton.rtol) ? 1e-8 : s->def.newton.rtol;
  const bool automatic = isnan(s->def.step), possible = asi_jump_is_possible(&s->stepper);
  double *const change = s->stepper.jump.force;
  bool done = false;
  as_status status = AS_OK;
  if (possible && !asi_jump_is_coupled(&s->stepper)) {
    status = force_change(s, before, change);
    if (status == AS_OK && asi_max_force(s->kin.problem, change) == 0.0) return AS_OK;
    if (status == AS_OK) status = asi_jump(&s->stepper, change, rtol, automatic, &done);
  }
  if (possible && status == AS_OK && asi_jump_is_coupled(&s->stepper))
    status = asi_jump_all(&s->stepper, rtol, automatic, &done);
  if (status) return status;
  if (!done) return asi_restart_forces(s);
  if (automatic) asi_control_move(s);
  asi_publish(s, s->stepper.t, &s->stepper.now);
  return AS_OK;
}

as_status asi_zoh_act(as_integrator *s, bool *jumped) {
  const as_problem *p = s->kin.problem;
  bool changed = *jumped = false;
  double *const old_u = s->held.before_samples;
  as_status status = take_samples(s);
  if (status) return status;
  memcpy(old_u, s->kin.eval.u, (size_t)p->def.n_u * sizeof(double));
  for (int i = 0; i < p->def.n_samplers; ++i) {
    const as_sampler_def *one = &p->sampler[i];
    if (!s->sampler[i].pending || !is_at(s->stepper.t, s->sampler[i].due, one->period)) continue;
    const size_t size = (size_t)one->count * sizeof(double);
    if (!changed) asi_interpolation_keep_end(s);
    changed = changed || memcmp(s->kin.eval.u + one->first, s->held.result + one->first, size) != 0;
    memcpy(s->kin.eval.u + one->first, s->held.result + one->first, size);
    s->sampler[i].pending = false;
  }
  *jumped = changed;
  if (changed) status = jump(s, old_u);
  if (status == AS_OK) return AS_OK;
  // The results still wait, and so they will be tried again.
  memcpy(s->kin.eval.u, old_u, (size_t)p->def.n_u * sizeof(double));
  for (int i = 0; i < p->def.n_samplers; ++i)
    if (is_at(s->stepper.t, s->sampler[i].due, p->sampler[i].period)) s->sampler[i].pending = true;
  return status;
}
