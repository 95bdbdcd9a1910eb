/// What is set and got. What is set is taken over before the next step, or before something is got that may depend on it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/driver/integrator.h"
#include "fmu/runtime/instance.h"

static as_status find(const asi_exported *f, unsigned vr, const asi_exported_variable **out,
                      as_error *error) {
  *out = vr < (unsigned)f->face.n ? &f->face.variable[vr] : NULL;
  if (*out) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL,
                  "There is no variable with the value reference %u: there are 0 to %d.", vr,
                  f->face.n - 1);
}

static bool is_running(const asi_exported *f) {
  return f->phase == ASI_EXPORTED_STEPPING || f->phase == ASI_EXPORTED_IN_EVENT ||
         f->phase == ASI_EXPORTED_TERMINATED;
}

// ---- setting ----------------------------------------------------------------------------------------

void asi_exported_place_signals(asi_exported *f) {
  for (int i = 0; i < f->face.n; ++i) {
    const asi_exported_kind kind = f->face.variable[i].kind;
    if (kind != ASI_EXPORTED_INPUT && kind != ASI_EXPORTED_DRIVEN && kind != ASI_EXPORTED_TUNABLE)
      continue;
    f->u[f->place[i]] = f->value[i];
    if (kind != ASI_EXPORTED_INPUT || !f->face.extrapolates) continue;
    f->u[f->place[i] + 1] = f->slope[i];
    f->u[f->place[i] + 2] = f->slope[i] == 0.0 ? 0.0 : f->since;
  }
}

/// A derivative lasts until the communication point that is reached: from there on the input stays where it is.
void asi_exported_settle(asi_exported *f) {
  for (int i = 0; i < f->face.n && f->t != f->since; ++i) {
    if (f->slope[i] == 0.0) continue;
    f->value[i] += f->slope[i] * (f->t - f->since);
    f->slope[i] = 0.0;
    f->new_signals = true;
  }
  f->since = f->t;
}

as_status asi_exported_set(asi_exported *f, const unsigned *vr, size_t n, const double *value,
                           as_error *error) {
  for (size_t i = 0; i < n; ++i) {
    const asi_exported_variable *v;
    const as_status status = find(f, vr[i], &v, error);
    if (status) return status;
    if (!asi_exported_is_settable(v->kind))
      return asi_fail(error, AS_ERR_ARGUMENT, f->t, v->name,
                      "\"%.80s\" cannot be set: it is neither an input nor a parameter.", v->name);
    if (v->kind == ASI_EXPORTED_PARAMETER && is_running(f) && value[i] != f->value[vr[i]])
      return asi_fail(error, AS_ERR_ARGUMENT, f->t, v->name,
                      "The parameter \"%.80s\" is fixed: set it before the initialization ends, or "
                      "export the FMU with it in --tunable.",
                      v->name);
    if (!isfinite(value[i]))
      return asi_fail(error, AS_ERR_NONFINITE, f->t, v->name,
                      "\"%.80s\" cannot be %g at t = %.9g s.", v->name, value[i], f->t);
  }
  asi_exported_settle(f);
  for (size_t i = 0; i < n; ++i) {
    if (f->value[vr[i]] == value[i]) continue;
    f->value[vr[i]] = value[i];
    f->new_signals = true;
    if (!is_running(f)) f->new_start = true;
  }
  return AS_OK;
}

as_status asi_exported_set_slopes(asi_exported *f, const unsigned *vr, size_t n, const int *order,
                                  const double *value, as_error *error) {
  for (size_t i = 0; i < n; ++i) {
    const asi_exported_variable *v;
    const as_status status = find(f, vr[i], &v, error);
    if (status) return status;
    if (order[i] != 1 || v->kind != ASI_EXPORTED_INPUT || !f->face.extrapolates)
      return asi_fail(error, AS_ERR_ARGUMENT, f->t, v->name,
                      "Derivative %d of \"%.80s\" cannot be set: %s.", order[i], v->name,
                      v->kind != ASI_EXPORTED_INPUT ? "only inputs that are blocks have derivatives"
                      : order[i] != 1               ? "only the first can"
                                                    : "export the FMU with --input-derivatives");
    if (!isfinite(value[i]))
      return asi_fail(error, AS_ERR_NONFINITE, f->t, v->name,
                      "The derivative of \"%.80s\" cannot be %g at t = %.9g s.", v->name, value[i],
                      f->t);
  }
  asi_exported_settle(f);
  for (size_t i = 0; i < n; ++i) f->slope[vr[i]] = value[i];
  f->new_signals = true;
  return AS_OK;
}

/// Whether signals differ from what they are now.
static bool have_changed(const asi_exported *f, const double *now) {
  const as_sizes n = as_problem_sizes(as_model_problem(f->machine->model));
  return n.u > 0 && memcmp(f->u, now, (size_t)n.u * sizeof(double)) != 0;
}

as_status asi_exported_apply(asi_exported *f, as_error *error) {
  const double *now = as_integrator_state(f->integrator)->u;
  const as_sizes n = as_problem_sizes(as_model_problem(f->machine->model));
  if (!f->new_signals) return AS_OK;
  if (n.u > 0) memcpy(f->u, now, (size_t)n.u * sizeof(double));
  asi_exported_place_signals(f);
  f->new_signals = false;
  if (!have_changed(f, now)) return AS_OK;
  f->stale = true;
  f->event = false;
  const as_status status = as_integrator_set_signals(f->integrator, f->u, error);
  if (f->watch) asi_watch_commit(f->watch, NULL, NULL);
  if (status == AS_STOPPED) f->stopped = true;
  return status == AS_STOPPED ? AS_OK : status;
}

// ---- getting ----------------------------------------------------------------------------------------

/// The state as channels see it, complete, with velocities on the constraints.
static as_status show(asi_exported *f, double t, as_state *out, as_error *error) {
  as_integrator *s = f->integrator;
  s->kin.eval.error = error;
  asi_interpolation_show(s, t);
  as_status status = asi_interpolation_complete(s, true, f->reads_rates);
  if (status == AS_OK && f->reads_rates) status = asi_show_reactions(s);
  *out = s->state;
  if (status == AS_OK && f->index3) {
    status = as_integrator_velocity(s, f->v, error);
    out->v = f->v;
  }
  return status;
}

static as_status evaluate(asi_exported *f, double t, as_error *error) {
  const double none = (double)NAN;
  as_statistics work;
  as_state state;
  as_status status = show(f, t, &state, error);
  if (status == AS_OK) status = as_integrator_statistics(f->integrator, &work, error);
  if (status) return status;
  const as_view view = {.state = &state,
                        .dissipated = none,
                        .work = none,
                        .start_energy = none,
                        .h = f->steps > 0 ? work.last_step : 0.0,
                        .newton_iterations = none,
                        .error = f->steps > 0 ? work.error : 0.0,
                        .position_drift = none,
                        .velocity_drift = none,
                        .events = f->watch ? asi_watch_show(f->watch, t) : NULL};
  return as_channels_evaluate(f->channels, &view, f->row, error);
}

/// The row of channels, as it is now.
static as_status refresh(asi_exported *f, as_error *error) {
  as_status status = AS_OK;
  if (f->phase == ASI_EXPORTED_INSTANTIATED)
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL,
                    "Outputs are not known before the initialization mode is entered.");
  if (f->phase == ASI_EXPORTED_INITIALIZING) status = asi_exported_ready(f, error);
  if (status == AS_OK && f->new_signals) status = asi_exported_apply(f, error);
  if (status || !f->stale || f->channels == NULL) return status;
  status = evaluate(f, f->t, error);
  f->stale = status != AS_OK;
  return status;
}

as_status asi_exported_get(asi_exported *f, const unsigned *vr, size_t n, double *out,
                           as_error *error) {
  for (size_t i = 0; i < n; ++i) {
    const asi_exported_variable *v;
    as_status status = find(f, vr[i], &v, error);
    if (status == AS_OK && v->kind == ASI_EXPORTED_OUTPUT) status = refresh(f, error);
    if (status) return status;
    out[i] = v->kind == ASI_EXPORTED_TIME ? f->t
             : v->kind == ASI_EXPORTED_OUTPUT
                 ? f->row[f->place[vr[i]]]
                 : f->value[vr[i]] + f->slope[vr[i]] * (f->t - f->since);
  }
  return AS_OK;
}

// ---- derivatives ------------------------------------------------------------------------------------

/// By the four points of the last inner step that a cubic goes through, [11 y0 - 18 y1 + 9 y2 - 2 y3]/(2 h) with h/3 between them.
as_status asi_exported_get_slopes(asi_exported *f, const unsigned *vr, size_t n, const int *order,
                                  double *out, as_error *error) {
  static const double weight[] = {11.0, -18.0, 9.0, -2.0};
  as_status status = refresh(f, error);
  for (size_t i = 0; i < n && status == AS_OK; ++i) {
    const asi_exported_variable *v;
    status = find(f, vr[i], &v, error);
    out[i] = 0.0;
    if (status == AS_OK && (v->kind != ASI_EXPORTED_OUTPUT || order[i] != 1))
      status = asi_fail(error, AS_ERR_ARGUMENT, f->t, v->name,
                        "Derivative %d of \"%.80s\" is not known: only the first of outputs is.",
                        order[i], v->name);
  }
  if (status) return status;
  const as_integrator *s = f->integrator;
  const double from = s->stepper.last.t0, h = f->t - from;
  if (f->steps == 0 || !s->stepper.last.known || !(h > 0.0))
    return asi_fail(error, AS_ERR_RETRY, f->t, NULL,
                    "Derivatives of outputs are those of a step, and none has been taken before "
                    "t = %.9g s since inputs or the state were set.",
                    f->t);
  for (int k = 3; k >= 0 && status == AS_OK; --k) {
    status = evaluate(f, k == 0 ? f->t : fmax(from, f->t - k * h / 3.0), error);
    for (size_t i = 0; i < n; ++i) out[i] += weight[k] * f->row[f->place[vr[i]]] / (2.0 * h);
  }
  f->stale = status != AS_OK;
  return status;
}

static as_status check_known(const asi_exported *f, const unsigned *known, size_t n,
                             as_error *error) {
  for (size_t i = 0; i < n; ++i) {
    const asi_exported_variable *v;
    const as_status status = find(f, known[i], &v, error);
    if (status) return status;
    if (!asi_exported_is_settable(v->kind) || v->kind == ASI_EXPORTED_PARAMETER)
      return asi_fail(error, AS_ERR_ARGUMENT, f->t, v->name,
                      "There are no derivatives by \"%.80s\": it is neither an input nor tunable.",
                      v->name);
  }
  return AS_OK;
}

// How far inputs are moved, in their size, for central differences.
#define MOVE 1e-5

/// The outputs with inputs moved by e along the direction; the state is no more that of the caller.
static as_status move(asi_exported *f, const unsigned *known, size_t n, const double *seed,
                      double e, as_error *error) {
  for (size_t i = 0; i < n; ++i) f->value[known[i]] += e * seed[i];
  f->new_signals = f->stale = true;
  const as_status status = refresh(f, error);
  for (size_t i = 0; i < n; ++i) f->value[known[i]] -= e * seed[i];
  return status;
}

static as_status take_scratch(asi_exported *f, size_t *size, as_error *error) {
  as_status status = asi_exported_save(f, NULL, size, error);
  if (status == AS_OK && *size > f->scratch_room) {
    free(f->scratch);
    f->scratch = malloc(*size);
    f->scratch_room = f->scratch ? *size : 0;
    if (f->scratch == NULL) return asi_fail_memory(error);
  }
  return status ? status : asi_exported_save(f, f->scratch, size, error);
}

as_status asi_exported_derivatives(asi_exported *f, const unsigned *unknown, size_t n,
                                   const unsigned *known, size_t n_known, const double *seed,
                                   double *out, as_error *error) {
  double e = (double)INFINITY;
  size_t size = 0;
  as_status status = check_known(f, known, n_known, error);
  for (size_t i = 0; i < n && status == AS_OK; ++i) {
    const asi_exported_variable *v;
    status = find(f, unknown[i], &v, error);
    out[i] = 0.0;
    if (status == AS_OK && v->kind != ASI_EXPORTED_OUTPUT)
      status = asi_fail(error, AS_ERR_ARGUMENT, f->t, v->name, "\"%.80s\" is no output.", v->name);
  }
  for (size_t i = 0; i < n_known && status == AS_OK; ++i)
    if (seed[i] != 0.0) e = fmin(e, MOVE * fmax(1.0, fabs(f->value[known[i]])) / fabs(seed[i]));
  if (status == AS_OK) status = refresh(f, error);
  if (status || n == 0 || !isfinite(e)) return status;
  status = take_scratch(f, &size, error);
  for (int side = 1; side >= -1 && status == AS_OK; side -= 2) {
    as_error ignored;
    status = move(f, known, n_known, seed, side * e, error);
    for (size_t i = 0; i < n && status == AS_OK; ++i)
      out[i] += side * f->row[f->place[unknown[i]]] / (2.0 * e);
    const as_status back = asi_exported_load(f, f->scratch, size, status ? &ignored : error);
    if (status == AS_OK) status = back;
  }
  return status;
}
