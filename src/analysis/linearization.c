/// The linear system about a state, [LI.1] to [LI.7].
///
/// A borrowed integrator starts at the state: it brings q and v onto the constraints and finds v', lambda, psi, x' and y. Around that
/// the increments xi of q, dv of v and dx of x obey
///
///     [LI.1] xi' = dv - [v, xi]
///     [LI.2] M dv' = (f_q - (M v')_q) xi + f_v dv + f_lambda dlambda + f_psi dpsi + f_x dx + f_y dy,   dx' = ...,   dy = ...
///     [LI.3] C dv' = -(c_q' xi + c_q xi' + C' dv),     C = [B; k_v],  c_q = [D_q (g_t + B v); k_q],  ' along the motion
///     [LI.4] B xi = 0,   C dv = -c_q xi: some components are free, the others follow
///
/// Each free component, and each input, gives a column: the rest follows by [LI.4], then [LI.2] and [LI.3] are solved for dv',
/// dlambda, dpsi and dy (linear_rows.c, linear_columns.c).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/number.h"
#include "lie/space.h"

as_linearization_def as_default_linearization_def(void) {
  return (as_linearization_def){
      .cookie = ASI_COOKIE(as_linearization_def), .axes = AS_AXES_AUTOMATIC, .limit = 1500};
}

int asi_most_accelerated(const as_problem *p, const double *vdot, const double *xdot,
                         double *most) {
  int which = -1;
  double worst = 0.0;
  *most = 0.0;
  for (int i = 0; i < p->n; ++i)
    if (fabs(vdot[i]) / p->typical[i] > worst) {
      worst = fabs(vdot[i]) / p->typical[i];
      *most = fabs(vdot[i]);
      which = i;
    }
  for (int i = 0; i < p->def.n_x; ++i)
    if (fabs(xdot[i]) > worst) {
      worst = *most = fabs(xdot[i]);
      which = p->n + i;
    }
  return which;
}

as_point asi_linear_point(const asi_linear *l) {
  const asi_values *at = &l->s->stepper.now;
  return (as_point){.t = l->s->stepper.t,
                    .q = at->q,
                    .v = at->v,
                    .vdot = at->vdot,
                    .lambda = l->lambda,
                    .psi = l->psi,
                    .x = at->x,
                    .y = at->y};
}

static bool take_memory(asi_linear *l) {
  const as_problem *p = l->s->kin.problem;
  const size_t n = (size_t)l->n, nq = (size_t)p->nq, inputs = (size_t)l->out.n_inputs;
  const size_t size[] = {nq,
                         n,
                         n,
                         n + (size_t)p->nq,
                         (size_t)p->def.n_lambda,
                         (size_t)p->def.n_psi,
                         (size_t)l->nx,
                         (size_t)l->nx,
                         (size_t)l->ny,
                         (size_t)p->def.n_u};
  double **const place[] = {&l->moved.q,      &l->moved.v,   &l->moved.vdot, &l->moved.a,
                            &l->moved.lambda, &l->moved.psi, &l->moved.x,    &l->moved.xdot,
                            &l->moved.y,      &l->moved_u};
  enum { ARRAYS = sizeof size / sizeof size[0] };
  size_t all = 1;
  for (int i = 0; i < ARRAYS; ++i) all += size[i];
  all += (size_t)l->rows; // moved.v is scratch of as many rows, too
  l->arena = asi_calloc(all, sizeof *l->arena);
  l->axes.turned = asi_calloc(n + 1, sizeof *l->axes.turned);
  l->input = asi_calloc((n + (size_t)l->nx + (size_t)l->ny) * inputs + 1, sizeof *l->input);
  l->signal = asi_calloc(inputs + 1, sizeof *l->signal);
  l->moves = asi_calloc((size_t)p->def.n_lambda * inputs + 1, sizeof *l->moves);
  l->driving = asi_calloc(inputs + 1, sizeof *l->driving);
  if (!l->arena || !l->axes.turned || !l->input || !l->signal || !l->moves || !l->driving)
    return false;
  double *next = l->arena;
  for (int i = 0; i < ARRAYS; next += size[i++]) {
    *place[i] = next;
    if (i == 1) next += l->rows;
  }
  return true;
}

static void free_linear(asi_linear *l) {
  if (l == NULL) return;
  as_integrator_destroy(l->s);
  free(l->state);
  free(l->a);
  free(l->b);
  free(l->full);
  free(l->input);
  free(l->signal);
  free(l->moves);
  free(l->driving);
  free(l->multiplier);
  free(l->null);
  free(l->null_q);
  free(l->axes.turned);
  free(l->arena);
  asi_tangent_free(&l->position);
  asi_tangent_free(&l->velocity);
  free(l);
}

static as_status start(asi_linear *l, const as_problem *p, const as_initial *initial,
                       const as_linearization_def *def, as_error *error) {
  as_integrator_def how = as_default_integrator_def();
  as_start_report report = {0};
  how.method = AS_METHOD_INDEX3; // the smallest
  as_status status = as_integrator_create(p, &how, &l->s, error);
  if (status == AS_OK) status = as_integrator_start(l->s, initial, &report, error);
  if (status) return status;
  l->s->kin.eval.error = error;
  l->n = p->n;
  l->rows = l->s->kin.redundancy.rows;
  l->nx = p->def.n_x;
  l->ny = p->def.n_y;
  l->height = 3 * l->n + l->rows + 2 * l->nx + l->ny;
  l->out.problem = p;
  l->out.n_inputs = def->n_inputs;
  l->out.n_redundant = report.n_redundant;
  l->out.degrees_of_freedom = report.degrees_of_freedom;
  l->sees = asi_forces_see_least_norm(&l->s->kin);
  l->lambda = l->s->stepper.now.lambda;
  l->psi = l->s->stepper.now.psi;
  if (l->sees) {
    status = asi_show_reactions(l->s);
    if (status) return status;
    l->lambda = l->s->state.lambda;
    l->psi = l->s->state.psi;
  }
  return take_memory(l) ? AS_OK : asi_fail_memory(error);
}

static void publish(asi_linear *l) {
  const asi_values *now = &l->s->stepper.now;
  l->out.state = l->state;
  l->out.a = l->a;
  l->out.b = l->b;
  l->out.n_samplers = l->s->kin.problem->def.n_samplers;
  l->out.inside = l;
  l->out.accelerated =
      asi_most_accelerated(l->s->kin.problem, now->vdot, now->xdot, &l->out.acceleration);
}

/// Refuses a matrix A or B that is not finite: some forces or masses are too large, or too small, to compute with.
static as_status check_finite(const asi_linear *l, as_error *error) {
  const int n = l->out.n_states;
  if (asi_are_finite(l->a, (size_t)n * (size_t)n) &&
      asi_are_finite(l->b, (size_t)n * (size_t)l->out.n_inputs))
    return AS_OK;
  char name[128] = "an input";
  for (int j = n; j-- > 0;) {
    const as_linear_state state = l->state[j];
    if (!asi_are_finite(l->a + (size_t)j * (size_t)n, (size_t)n))
      as_problem_describe(l->out.problem,
                          state.kind == AS_LINEAR_STATE ? AS_QUANTITY_X : AS_QUANTITY_V,
                          state.index, name, sizeof name);
  }
  return asi_fail(
      error, AS_ERR_NONFINITE, l->s->stepper.t, NULL,
      "The linear system at t = %.9g s has entries that are not finite: accelerations by "
      "%s are too large to compute with.",
      l->s->stepper.t, name);
}

/// `later` than that by so much time are axes that turn.
static as_status make(const as_problem *p, const as_initial *initial,
                      const as_linearization_def *def, as_axes axes, const asi_linear *like,
                      double later, asi_linear **out, as_error *error) {
  asi_linear *l = asi_calloc(1, sizeof *l);
  if (l == NULL) return asi_fail_memory(error);
  as_status status = start(l, p, initial, def, error);
  l->out.axes = axes;
  memcpy(l->out.turning, def->turning, sizeof l->out.turning);
  if (status == AS_OK)
    asi_axes_find(&l->axes, p, axes, def->turning, later, l->s->stepper.now.q, l->s->stepper.now.v);
  if (status == AS_OK) status = asi_linear_find_columns(l, def, like);
  if (status == AS_OK) publish(l);
  if (status == AS_OK) status = check_finite(l, error);
  if (status) {
    free_linear(l);
    return status;
  }
  *out = l;
  return AS_OK;
}

/// The size of a state: typical ones, and those moved in the time that they are moved in.
static double unit_of(const asi_linear *l, int i) {
  const as_linear_state state = l->state[i];
  const double *typical = l->s->kin.problem->typical;
  return state.kind == AS_LINEAR_POSITION   ? typical[state.index]
         : state.kind == AS_LINEAR_VELOCITY ? typical[state.index] * l->s->kin.eval.rate
                                            : 1.0;
}

/// How A changes along the motion: it is found once more, a little later.
static as_status find_unsteady(asi_linear *l, const as_problem *p, const as_initial *initial,
                               const as_linearization_def *def, as_error *error) {
  as_integrator *s = l->s;
  const asi_values *now = &s->stepper.now;
  if (asi_linear_is_zero(now->v, l->n)) return AS_OK;
  const double scale = 1e3 * asi_time_increment(&s->kin.eval, now->v),
               h = 1e-3 * ASI_ONWARD * scale;
  as_initial later = *initial;
  for (int i = 0; i < l->n; ++i) l->moved.a[i] = h * now->v[i] + 0.5 * h * h * now->vdot[i];
  as_space_move(p->space, now->q, l->moved.a, l->moved.q);
  for (int i = 0; i < l->n; ++i) l->moved.v[i] = now->v[i] + h * now->vdot[i];
  for (int i = 0; i < l->nx; ++i) l->moved.x[i] = now->x[i] + h * now->xdot[i];
  later.t = s->stepper.t + h;
  later.q = l->moved.q;
  later.v = l->moved.v;
  later.x = l->moved.x;
  later.lambda = now->lambda;
  later.psi = now->psi;
  later.y = now->y;
  later.u = s->kin.eval.u;
  later.keep = NULL;
  asi_linear *next = NULL;
  const as_status status = make(p, &later, def, l->out.axes, l, h, &next, error);
  if (status) return status == AS_ERR_MEMORY ? status : asi_error_clear(error);
  const int n = l->out.n_states;
  double change = 0.0, size = 0.0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const size_t at = (size_t)j * (size_t)n + (size_t)i;
      const double unit = unit_of(l, j) / unit_of(l, i);
      change = fmax(change, fabs(next->a[at] - l->a[at]) * unit);
      size = fmax(size, fabs(l->a[at]) * unit);
    }
  l->out.unsteady = size > 0.0 ? change / size * (scale / h) : 0.0;
  free_linear(next);
  return AS_OK;
}

static as_status make_steady(const as_problem *p, const as_initial *initial,
                             const as_linearization_def *def, as_axes axes, asi_linear **out,
                             as_error *error) {
  as_status status = make(p, initial, def, axes, NULL, 0.0, out, error);
  if (status) return status;
  status = find_unsteady(*out, p, initial, def, error);
  if (status) {
    free_linear(*out);
    *out = NULL;
  }
  return status;
}

/// Whether a body turns.
static bool turns(const asi_linear *l) {
  const as_space *space = l->s->kin.problem->space;
  const double *v = l->s->stepper.now.v;
  for (int part = 0; part < space->n_parts; ++part)
    for (int i = 0; i < space->parts[part].count; ++i) {
      const as_space_kind kind = space->parts[part].kind;
      const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
      if (kind != AS_SPACE_RN && !asi_linear_is_zero(v + ahead, 3)) return true;
      v += kind == AS_SPACE_RN ? 1 : ahead + 3;
    }
  return false;
}

/// Takes other axes if A is constant in these, or changes much less.
static as_status try_turning(const as_problem *p, const as_initial *initial,
                             const as_linearization_def *def, const double *turning, asi_linear **l,
                             as_error *error) {
  asi_linear *other = NULL;
  as_linearization_def in_these = *def;
  memcpy(in_these.turning, turning, sizeof in_these.turning);
  const as_status status = make_steady(p, initial, &in_these, AS_AXES_TURNING, &other, error);
  const bool better = status == AS_OK && (other->out.unsteady <= ASI_UNSTEADY ||
                                          other->out.unsteady < 0.01 * (*l)->out.unsteady);
  free_linear(better ? *l : other);
  if (better) *l = other;
  return status == AS_ERR_MEMORY ? status : AS_OK;
}

as_status asi_linear_check_turning(const as_linearization_def *def, as_error *error) {
  for (int i = 0; i < 3; ++i)
    if (!isfinite(def->turning[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "turning[%d] = %g.", i,
                      def->turning[i]);
  return AS_OK;
}

static as_status check(const as_problem *p, const as_linearization_def *def, as_error *error) {
  if (p->n > def->limit)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
                    "The problem has %d velocity components; dense matrices are made for up to "
                    "%d. as_modes_slowest() finds modes of large problems.",
                    p->n, def->limit);
  if (def->n_inputs < 0 || (def->n_inputs > 0 && def->inputs == NULL))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "n_inputs = %d, but inputs %s.",
                    def->n_inputs, def->inputs ? "are given" : "is NULL");
  return asi_linear_check_turning(def, error);
}

as_status as_linearize(const as_problem *problem, const as_initial *initial,
                       const as_linearization_def *def, as_linearization **out, as_error *error) {
  if (problem == NULL || def == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_linearize needs a problem, a description and a place for the result.");
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_linearization_def, def, error);
  if (status == AS_OK) status = check(problem, def, error);
  if (status) return status;
  asi_linear *l = NULL;
  const bool automatic = def->axes == AS_AXES_AUTOMATIC;
  status = make_steady(problem, initial, def, automatic ? AS_AXES_OWN : def->axes, &l, error);
  if (status) return status;
  const double still[3] = {0.0, 0.0, 0.0};
  double turning[3];
  if (automatic && turns(l)) status = try_turning(problem, initial, def, still, &l, error);
  const asi_values *now = &l->s->stepper.now;
  if (status == AS_OK && automatic && l->out.unsteady > ASI_UNSTEADY &&
      asi_axes_guess(problem, now->q, now->v, now->vdot, turning))
    status = try_turning(problem, initial, def, turning, &l, error);
  if (status) {
    free_linear(l);
    return status;
  }
  l->s->kin.eval.error = NULL;
  *out = &l->out;
  return asi_error_clear(error);
}

void as_linearization_destroy(as_linearization *linearization) {
  if (linearization) free_linear(linearization->inside);
}
