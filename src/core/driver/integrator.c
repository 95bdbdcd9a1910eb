/// The integrator's memory, and what a caller may ask of it. consistent_start.c starts it, advance.c steps it.
#include "core/driver/integrator.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/simd.h"
#include "base/text.h"

// ---- create and destroy ---------------------------------------------------------------------------

as_integrator_def as_default_integrator_def(void) {
  const double unset = (double)NAN;
  return (as_integrator_def){
      .cookie = ASI_COOKIE(as_integrator_def),
      .method = AS_METHOD_INDEX2,
      .order = 2,
      .step = unset,
      .rho_inf = 0.8,
      .coefficients = {unset, unset, unset, unset},
      .state_rho_inf = unset,
      .state_coefficients = {unset, unset, unset},
      .check_coefficients = true,
      .step_corrections = true,
      .improved_start = true,
      .perturbed_start = true,
      .project_start = true,
      .tolerance = {.rtol = 2e-5,
                    .atol_position = unset,
                    .atol_rotation = unset,
                    .atol_velocity = unset,
                    .atol_state = unset,
                    .first_step = unset,
                    .min_step = 0.0,
                    .max_step = (double)INFINITY,
                    .span = (double)NAN},
      .event_tolerance = unset,
      .newton = {.rtol = unset, .atol = unset, .max_iterations = 20, .reuse = true},
      .threads = 1,
  };
}

static as_status check_def(const as_problem *p, const as_integrator_def *def, as_error *error) {
  if (!(isnan(def->step) || (def->step > 0.0 && isfinite(def->step))))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "step",
                    "step = %g s is not a positive number.", def->step);
  if (def->order != 2 && def->order != 6)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "order",
                    "order = %d is neither 2, the method's own, nor 6, that of extrapolated steps.",
                    def->order);
  if (def->order == 6 && !isnan(def->step))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "order",
                    "Steps of order 6 are automatic: leave the step of %g s out, or the order.",
                    def->step);
  if (def->method != AS_METHOD_INDEX3 && def->method != AS_METHOD_INDEX2 &&
      def->method != AS_METHOD_SOI2)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "method", "There is no method %d.",
                    (int)def->method);
  if (def->method == AS_METHOD_SOI2 && p->def.n_x + p->def.n_y > 0) {
    char name[64];
    const bool states = p->def.n_x > 0;
    asi_component_name(p, states ? AS_QUANTITY_X : AS_QUANTITY_Y, 0, name, sizeof name);
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, name,
        "SOI2 does not take first-order states and outputs, such as %s: its accelerations belong "
        "to t + D h, not to t, where a controller sees them; use index-2.",
        name);
  }
  if (!isnan(def->newton.rtol) && !(def->newton.rtol >= 0.0 && def->newton.rtol < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.rtol",
                    "newton.rtol = %g is not in [0, 1).", def->newton.rtol);
  if (def->threads < 1 || def->threads > ASI_MOST_THREADS)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "threads",
                    "threads = %d is not a number from 1 to %d.", def->threads,
                    (int)ASI_MOST_THREADS);
  if (def->newton.max_iterations < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.max_iterations",
                    "newton.max_iterations = %d is not positive.", def->newton.max_iterations);
  for (int i = 0; i < (def->newton.atol_component ? p->n : 1); ++i) {
    const double atol =
        def->newton.atol_component ? def->newton.atol_component[i] : def->newton.atol;
    const bool derived = isnan(atol) && !def->newton.atol_component;
    if (!derived && !(atol > 0.0 && isfinite(atol)))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.atol",
                      "newton.atol = %g (component %d) is not a positive number.", atol, i);
  }
  return AS_OK;
}

/// Lays out all arrays; a first pass counts.
static void lay_out(as_integrator *s, asi_layout *layout) {
  const as_problem *p = s->kin.problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, k = (size_t)p->def.n_psi;
  const size_t nx = (size_t)p->def.n_x, ny = (size_t)p->def.n_y;
  asi_stepper_lay_out(&s->stepper, layout);
  asi_kinematics_lay_out(&s->kin, layout);
  asi_values_lay_out(&s->shown, p, layout);
  asi_values_lay_out(&s->output.lines, p, layout);
  s->output.velocity = asi_layout_take(layout, n);
  s->output.rest = asi_layout_take(layout, n + m + k + nx + ny);
  s->output.block = asi_layout_take(layout, asi_output_block_size(p));
  s->scratch.move = asi_layout_take(layout, n);
  s->scratch.work = asi_layout_take(layout, n);
  s->scratch.rhs = asi_layout_take(layout, n + m + k + nx + ny);
  s->scratch.unknowns = asi_layout_take(layout, asi_stepper_unknowns(&s->stepper));
  s->control.size = asi_layout_take(layout, 2 * n + nx);
  s->control.new_size = asi_layout_take(layout, 2 * n + nx);
  s->control.atol = asi_layout_take(layout, 2 * n + nx);
  s->control.given_atol = asi_layout_take(layout, 2 * n + nx);
  s->control.estimate = asi_layout_take(layout, 2 * n + nx);
  for (int i = 0; i < 3; ++i) s->control.mean[i] = asi_layout_take(layout, n + nx);
  for (int i = 0; i < 3; ++i) s->control.noise[i] = asi_layout_take(layout, n + nx);
  for (int i = 0; i < 3; ++i) s->control.slow[i] = asi_layout_take(layout, n);
  s->control.third = asi_layout_take(layout, n);
  s->control.held = asi_layout_take(layout, n);
  for (int i = 0; i < 5; ++i) s->control.vibrating[i] = asi_layout_take(layout, n);
  s->control.inputs = asi_layout_take(layout, 3 * (n + nx + m) + 2 * m + n);
  double **const high[] = {&s->high.start, &s->high.rate,   &s->high.before,
                           &s->high.point, &s->high.middle, &s->high.middle_rate};
  const size_t of_high = s->def.order > 2 ? 2 * n + nx : 0;
  for (int i = 0; i < 6; ++i) *high[i] = asi_layout_take(layout, of_high);
  for (int i = 0; i < ASI_ROWS; ++i) s->high.end_row[i] = asi_layout_take(layout, of_high);
  for (int i = 0; i < ASI_ROWS; ++i) s->high.middle_row[i] = asi_layout_take(layout, of_high);
  s->impulse = asi_layout_take(layout, m + k);
  s->restitution = asi_layout_take(layout, m + k);
}

/// Machines that are too small for threads stay on one.
static as_status start_threads(as_integrator *s, as_error *error) {
  const as_problem_def *def = &s->kin.problem->def;
  const int size = s->kin.problem->n + def->n_lambda + def->n_psi;
  if (size < s->stepper.expert.least_threaded) return AS_OK;
  return asi_pool_create(s->def.threads, &s->kin.pool, error);
}

static as_status create_parts(as_integrator *s, as_error *error) {
  const as_problem *p = s->kin.problem;
  as_status status = asi_stepper_choose(&s->stepper, error);
  if (status) return status;
  asi_layout layout = {0};
  lay_out(s, &layout);
  s->arena_size = layout.used;
  s->arena = asi_calloc(s->arena_size, sizeof(double));
  if (s->arena == NULL) return asi_fail_memory(error);
  layout = (asi_layout){.memory = s->arena};
  lay_out(s, &layout);
  status = start_threads(s, error);
  if (status) return status;
  const bool has_eta = s->def.method == AS_METHOD_INDEX2 && p->def.n_lambda > 0;
  status = asi_kinematics_create(&s->kin, has_eta, error);
  if (status == AS_OK) status = asi_stepper_create(&s->stepper, error);
  s->def.newton.atol_component = NULL; // it has been copied
  if (status == AS_OK) status = asi_output_create(s, error);
  if (status == AS_OK) status = asi_zoh_create(s, error);
  if (status == AS_OK) status = asi_control_create(s, error);
  if (status == AS_OK) status = asi_events_create(s, error);
  return status ? status : asi_snapshot_create(s, error);
}

as_status as_integrator_create(const as_problem *problem, const as_integrator_def *def,
                               as_integrator **out, as_error *error) {
  if (problem == NULL || def == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_integrator_create needs a problem, a description and a place for the "
                    "integrator.");
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_integrator_def, def, error);
  as_expert expert;
  if (status == AS_OK) status = check_def(problem, def, error);
  if (status == AS_OK) status = asi_constants_take(&expert, def->expert, error);
  if (status) return status;
  as_integrator *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  s->def = *def;
  s->kin.problem = problem;
  s->kin.log = def->log;
  s->kin.log_user = def->log_user;
  s->most_steps = LONG_MAX;
  s->stepper.kin = &s->kin;
  s->stepper.def = &s->def;
  s->stepper.expert = expert;
  s->def.expert = NULL; // it has been copied
  status = create_parts(s, error);
  if (status) {
    as_integrator_destroy(s);
    return status;
  }
  *out = s;
  return AS_OK;
}

void as_integrator_destroy(as_integrator *s) {
  if (s == NULL) return;
  asi_system_free(&s->output.kkt);
  asi_system_free(&s->output.projection);
  asi_system_free(&s->output.consistent);
  asi_system_free(&s->output.stiff);
  asi_stepper_free(&s->stepper);
  asi_kinematics_free(&s->kin);
  asi_zoh_free(s);
  asi_events_free(s);
  free(s->arena);
  free(s->snapshot.bytes);
  asi_pool_destroy(s->kin.pool);
  free(s);
}

// ---- what the other files share -------------------------------------------------------------------

as_status asi_check_started(const as_integrator *s, as_error *error) {
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The integrator is NULL.");
  if (!s->started)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The integrator has not been started: call as_integrator_start first.");
  return AS_OK;
}

void asi_publish(as_integrator *s, double t, const asi_values *at) {
  s->state = (as_state){.t = t,
                        .q = at->q,
                        .v = at->v,
                        .vdot = at->vdot,
                        .a = at->a,
                        .a_offset = s->stepper.a_offset,
                        .lambda = at->lambda,
                        .psi = at->psi,
                        .eta = s->def.method == AS_METHOD_INDEX2 ? at->eta : NULL,
                        .x = at->x,
                        .xdot = at->xdot,
                        .w = at->w,
                        .w_offset = s->stepper.w_offset,
                        .y = at->y,
                        .u = s->kin.eval.u};
}

// ---- what a caller may ask ------------------------------------------------------------------------

const as_state *as_integrator_state(const as_integrator *s) { return &s->state; }

void as_integrator_active(const as_integrator *s, bool *active) {
  for (int i = 0; i < s->kin.redundancy.rows; ++i) active[i] = !s->kin.eval.inactive[i];
}

as_status as_integrator_velocity(as_integrator *s, double *v, as_error *error) {
  const as_status started = asi_check_started(s, error);
  if (started) return started;
  if (v == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, "v",
                    "as_integrator_velocity needs a place for the velocity.");
  const as_problem *p = s->kin.problem;
  as_start_report report;
  asi_output steps;
  s->kin.eval.error = error;
  asi_output_begin(s, true, &steps);
  memcpy(v, s->state.v, (size_t)p->n * sizeof(double));
  as_status status = AS_OK;
  if (p->def.n_lambda + p->def.n_psi > 0)
    status = asi_project_velocity(&s->kin, s->state.t, s->state.q, v, true, false, &report);
  asi_output_end(s, &steps);
  return status;
}

as_status as_integrator_statistics(const as_integrator *s, as_statistics *out, as_error *error) {
  if (s == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_integrator_statistics needs an integrator and a place for the numbers.");
  *out = s->kin.statistics;
  out->next_step = s->def.order > 2 && !s->high.by_method ? s->high.h : s->control.h;
  if (!isnan(out->next_step))
    out->next_step =
        fmin(fmax(out->next_step, s->def.tolerance.min_step), s->def.tolerance.max_step);
  return asi_error_clear(error);
}

as_status as_integrator_drift(as_integrator *s, double *position, double *velocity,
                              as_error *error) {
  const as_status started = asi_check_started(s, error);
  if (started) return started;
  if (position == NULL || velocity == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, NULL,
                    "as_integrator_drift needs places for two numbers.");
  asi_output steps;
  s->kin.eval.error = error;
  asi_output_begin(s, true, &steps);
  const as_status status =
      asi_drift(&s->kin, s->state.t, s->state.q, s->state.v, position, velocity);
  asi_output_end(s, &steps);
  return status ? status : asi_error_clear(error);
}
