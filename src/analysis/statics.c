/// Statics: how a machine that is let go comes to rest.
///
/// [AN.1] What is out of balance at a position is how it would start to move from there,
///
///     M v' = f(t,q,0,lambda,psi,x,y),   B v' = 0,   k_v v' = 0,   y = chi,   x' = phi
///
/// [AN.2] One step is one step of the implicit Euler method from rest, of the size tau, w = 1/tau^2, linearized:
///
///     [w M - f_q   -f_lambda  -f_psi] [d      ]   [M v']
///     [B                            ] [dlambda] = [0   ]      q <- q o exp(d), projected onto g = 0
///     [k_v                          ] [dpsi   ]   [0   ]
///
/// with rows (sqrt(w) - phi_x) dx - ... = phi and dy - ... = 0 where there are states. It is as if the machine
/// were let go for a time tau and then stopped: it goes downhill. As tau grows the step becomes Newton's.
#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/error.h"

// Forces that balance to this part of the largest one seen count as balanced; the rest is left to polishing.
#define BALANCED 1e-11
// So does a step that is mostly stiffness and this small, in typical sizes.
#define SETTLED 1e-9
// The longest step: of a rotation [rad], and to begin with of anything else, in typical sizes.
#define LONGEST 0.5
// Whoever has come this far, in typical sizes, does not come to rest.
#define FARTHEST 1e7
// How much of the power at the start of a step may be pulled back at its end.
#define OVERSHOOT 0.5

static as_point point_of(double t, const asi_values *at) {
  return (as_point){.t = t,
                    .q = at->q,
                    .v = at->v,
                    .vdot = at->vdot,
                    .lambda = at->lambda,
                    .psi = at->psi,
                    .x = at->x,
                    .y = at->y};
}

static void guess_multipliers(const as_problem *p, const asi_values *at, double value) {
  memset(at->v, 0, (size_t)p->n * sizeof(double));
  memset(at->vdot, 0, (size_t)p->n * sizeof(double));
  for (int i = 0; i < p->def.n_lambda; ++i) at->lambda[i] = value;
  for (int i = 0; i < p->def.n_psi; ++i) at->psi[i] = value;
  memset(at->xdot, 0, (size_t)p->def.n_x * sizeof(double));
}

/// What is out of balance, and the size of what is balanced, from solved accelerations.
static void measure(as_analysis *a, asi_rest *rest) {
  const as_problem *p = a->problem;
  memset(rest->force, 0, (size_t)p->n * sizeof(double));
  asi_matrix_multiply_add(&a->kin.block[AS_BLOCK_M], 1.0, rest->at.vdot, rest->force);
  asi_constraint_force(&a->kin, rest->at.lambda, rest->at.psi, a->work);
  rest->unbalanced = asi_max_abs(rest->at.xdot, p->def.n_x);
  rest->forces = 0.0;
  for (int i = 0; i < p->n; ++i) {
    const double left = fabs(rest->force[i]), held = fabs(a->work[i]);
    const double given = fabs(rest->force[i] + a->work[i]);
    rest->unbalanced = fmax(rest->unbalanced, left * p->typical[i]);
    rest->forces = fmax(rest->forces, fmax(given, held) * p->typical[i]);
  }
}

as_status asi_balance(as_analysis *a, double t, asi_rest *rest) {
  const as_problem *p = a->problem;
  const unsigned how = ASI_TIME_STANDS | ASI_EXACT_ROWS;
  guess_multipliers(p, &rest->at, 0.0);
  as_status status = asi_solve_acceleration(&a->kin, t, &rest->at, how);
  if (status == AS_ERR_SINGULAR && a->kin.compliance == 0.0 && a->kin.redundancy.rows > 0) {
    a->kin.compliance = ASI_ANALYSIS_COMPLIANCE; // rows have become dependent on the way
    guess_multipliers(p, &rest->at, 0.0);
    status = asi_solve_acceleration(&a->kin, t, &rest->at, how);
  }
  if ((status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE) &&
      p->def.force_kind == AS_FORCE_GENERAL) { // a power of a multiplier has no slope at zero
    guess_multipliers(p, &rest->at, 1.0);
    status = asi_solve_acceleration(&a->kin, t, &rest->at, how);
  }
  if (status == AS_OK) measure(a, rest);
  return status;
}

static double largest_entry(const as_matrix *m) {
  return m->value ? asi_max_abs(m->value, m->col_start[m->cols]) : 0.0;
}

/// The largest of the rates' derivatives, each times the size of what it is by.
static double largest_rate(const as_matrix *by, const double *size) {
  double largest = 0.0;
  for (int j = 0; by->value && j < by->cols; ++j)
    for (int k = by->col_start[j]; k < by->col_start[j + 1]; ++k)
      largest = fmax(largest, fabs(by->value[k] * size[j]));
  return largest;
}

/// What round-off of positions does to forces that cancel, and that of states and outputs to rates, measured like `unbalanced`.
static double round_off(const as_analysis *a) {
  const as_matrix *m = &a->kin.block[AS_BLOCK_F_Q];
  const double *typical = a->problem->typical;
  double largest = 0.0;
  for (int j = 0; m->value && j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      largest = fmax(largest, fabs(m->value[k]) * typical[j] * typical[m->row[k]]);
  largest = fmax(largest, largest_rate(&a->kin.block[AS_BLOCK_PHI_X], a->here.at.x));
  largest = fmax(largest, largest_rate(&a->kin.block[AS_BLOCK_PHI_Y], a->here.at.y));
  return 4.0 * DBL_EPSILON * largest;
}

as_status asi_statics_solve(as_analysis *a, double t, double w) {
  const as_problem *p = a->problem;
  asi_kinematics *s = &a->kin;
  asi_system *system = &a->statics;
  const int x = p->n + s->redundancy.rows, y = x + p->def.n_x;
  const as_point at = point_of(t, &a->here.at);
  system->term[0].factor = w;
  const as_status status = asi_blocks(s, &at, asi_system_blocks(system) | AS_BLOCK_BIT(AS_BLOCK_M));
  if (status) return status;
  a->stiffness =
      largest_entry(&s->block[AS_BLOCK_F_Q]) / fmax(largest_entry(&s->block[AS_BLOCK_M]), DBL_MIN);
  a->fastest = largest_entry(&s->block[AS_BLOCK_PHI_X]);
  a->noise = round_off(a);
  asi_system_assemble(system, s->block, &s->tangent);
  if (s->compliance > 0.0) asi_add_compliance(s, system, s->compliance / (w + a->stiffness));
  for (int i = x; i < system->size; ++i)
    system->value[system->diagonal[i]] += i < y ? sqrt(w) + a->state_rate : 1.0;
  memset(a->step, 0, (size_t)system->size * sizeof(double));
  memcpy(a->step, a->here.force, (size_t)p->n * sizeof(double));
  memcpy(a->step + x, a->here.at.xdot, (size_t)p->def.n_x * sizeof(double));
  const as_status factored = asi_factor(s, system, t, "the equilibrium");
  return factored ? factored : asi_solve(s, system, t, a->step);
}

double asi_statics_size(const as_analysis *a) {
  const as_problem *p = a->problem;
  const int x = p->n + a->kin.redundancy.rows;
  double size = 0.0;
  for (int i = 0; i < p->n; ++i) size = asi_max_nan(size, fabs(a->step[i]) / p->typical[i]);
  for (int i = 0; i < p->def.n_x; ++i)
    size = asi_max_nan(size, fabs(a->step[x + i]) / fmax(1.0, fabs(a->here.at.x[i])));
  return size;
}

as_status asi_statics_move(as_analysis *a, double t, double factor) {
  const as_problem *p = a->problem;
  const double *dx = a->step + p->n + a->kin.redundancy.rows, *dy = dx + p->def.n_x;
  const asi_values *from = &a->here.at, *to = &a->trial.at;
  for (int i = 0; i < p->n; ++i) a->work[i] = factor * a->step[i];
  as_space_move(p->space, from->q, a->work, to->q);
  for (int i = 0; i < p->def.n_x; ++i) to->x[i] = from->x[i] + factor * dx[i];
  for (int i = 0; i < p->def.n_y; ++i) to->y[i] = from->y[i] + factor * dy[i];
  const as_status status = asi_analysis_project(a, t, to->q);
  return status ? status : asi_balance(a, t, &a->trial);
}

void asi_statics_accept(as_analysis *a, double t) {
  const asi_rest old = a->here;
  a->here = a->trial;
  a->trial = old;
  asi_follow(&a->kin, t, &a->here.at);
}

// ---- the search -----------------------------------------------------------------------------------

/// A failure that a shorter step may avoid.
static bool is_local(as_status status) {
  return as_status_is_recoverable(status) || status == AS_ERR_INCONSISTENT;
}

/// One step of a search.
typedef struct search {
  double w;       ///< inertia
  double radius;  ///< the longest step of all but rotations
  double forces;  ///< the largest that were seen
  double way;     ///< so far
  double size;    ///< of the last step
  double inertia; ///< its share in what held the last step back, 0 to 1
  bool limited;   ///< it was cut
  bool accepted;
} search;

/// What a step has to be divided by.
static double excess(const as_analysis *a, double radius) {
  const as_problem *p = a->problem;
  double most = 1.0;
  for (int i = 0; i < p->n; ++i) {
    const double limit = p->is_rotation[i] ? LONGEST : radius * p->typical[i];
    most = fmax(most, fabs(a->step[i]) / limit);
  }
  return most;
}

static double dot(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// d^T M d of the step, with the mass matrix at hand.
static double step_mass(as_analysis *a) {
  memset(a->work, 0, (size_t)a->problem->n * sizeof(double));
  asi_matrix_multiply_add(&a->kin.block[AS_BLOCK_M], 1.0, a->step, a->work);
  return dot(a->step, a->work, a->problem->n);
}

/// [AN.3] A step has to go with the forces, d . M v' > 0, and may not go far beyond where they turn round. A
/// machine with states of its own may go against them for a while, but not away from balance.
static as_status try_step(as_analysis *a, double t, search *r) {
  const as_problem *p = a->problem;
  const bool passive = p->def.n_x + p->def.n_y == 0;
  r->accepted = false;
  as_status status = asi_statics_solve(a, t, r->w);
  if (status) return status;
  const double power = dot(a->step, a->here.force, p->n);
  r->size = asi_statics_size(a);
  if (!isfinite(r->size) || (passive && !(power > 0.0))) return AS_OK;
  r->inertia = r->w * step_mass(a) / power;
  const double factor = 1.0 / excess(a, r->radius);
  r->limited = factor < 1.0;
  status = asi_statics_move(a, t, factor);
  if (status) return status;
  const double power_there = dot(a->step, a->trial.force, p->n);
  r->accepted =
      passive ? power_there >= -OVERSHOOT * power : a->trial.unbalanced <= 2.0 * a->here.unbalanced;
  r->size *= factor;
  if (r->accepted && r->limited && power_there > 0.5 * power) r->radius *= 2.0;
  return AS_OK;
}

/// Says what would move first, if nothing comes to rest.
static as_status fail_to_settle(as_analysis *a, double t, int iterations) {
  const as_problem *p = a->problem;
  const asi_values *at = &a->here.at;
  int worst = 0;
  char name[64];
  double left = 0.0;
  for (int i = 0; i < p->n; ++i) left = fmax(left, fabs(a->here.force[i]) * p->typical[i]);
  if (asi_max_abs(at->xdot, p->def.n_x) > left) {
    for (int i = 1; i < p->def.n_x; ++i)
      if (fabs(at->xdot[i]) > fabs(at->xdot[worst])) worst = i;
    asi_component_name(p, AS_QUANTITY_X, worst, name, sizeof name);
    return asi_fail(a->kin.eval.error, AS_ERR_CONVERGENCE, t, name,
                    "No equilibrium was found from this start at t = %.9g s: after %d iterations "
                    "%s still has the rate %.6g (is there a rest for this state, and only one?).",
                    t, iterations, name, at->xdot[worst]);
  }
  for (int i = 1; i < p->n; ++i)
    if (at->vdot[i] * a->here.force[i] > at->vdot[worst] * a->here.force[worst]) worst = i;
  asi_component_name(p, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(a->kin.eval.error, AS_ERR_CONVERGENCE, t, name,
                  "No equilibrium was found from this start at t = %.9g s: after %d iterations %s "
                  "keeps accelerating, by %.6g.",
                  t, iterations, name, at->vdot[worst]);
}

/// The first step is as long as inertia alone would make it a tenth of the typical sizes.
static double first_inertia(const as_analysis *a) {
  double w = 0.0;
  for (int i = 0; i < a->problem->n; ++i)
    w = fmax(w, fabs(a->here.at.vdot[i]) / (0.1 * a->problem->typical[i]));
  return w;
}

/// Less inertia after a step that brought balance closer, more after one that did not work.
static double next_inertia(const as_analysis *a, const search *r, double before) {
  if (!r->accepted) return fmax(8.0 * r->w, 1e-3 * a->stiffness);
  if (r->limited) return r->w;
  return r->w * fmin(fmax(a->here.unbalanced / before, 1e-4), 0.25);
}

/// [AN.2] States go by steps of their own where the machine's are too long for them, as long as those do not work.
static double next_state_rate(const as_analysis *a, const search *r, double before) {
  const double now = a->state_rate;
  const double ratio = a->here.unbalanced / before;
  if (!r->accepted || ratio > 1.1) return fmin(fmax(8.0 * now, 1e-3 * a->fastest), a->fastest);
  const double next = 0.7 * fmin(ratio, 1.0) * now; // longer steps while rates fall, or hardly rise
  return next > 1e-9 * a->fastest ? next : 0.0;
}

as_status asi_statics_settle(as_analysis *a, double t, int *iterations) {
  as_status status = asi_balance(a, t, &a->here);
  if (status) return status;
  search r = {.w = first_inertia(a), .radius = LONGEST};
  int refused = 0;
  a->noise = a->state_rate = 0.0;
  for (;; ++*iterations) {
    r.forces = fmax(r.forces, a->here.forces);
    if (a->here.unbalanced <= fmax(BALANCED * r.forces, a->noise)) break;
    if (*iterations >= a->def.max_iterations || refused > 60 || r.way > FARTHEST)
      return fail_to_settle(a, t, *iterations);
    status = asi_analysis_interrupted(a, t);
    if (status == AS_OK) status = try_step(a, t, &r);
    if (status && !is_local(status)) return status;
    const double before = a->here.unbalanced;
    refused = r.accepted ? 0 : refused + 1;
    if (r.accepted) asi_statics_accept(a, t);
    r.w = next_inertia(a, &r, before);
    a->state_rate = next_state_rate(a, &r, before);
    if (!r.accepted) continue;
    r.way += r.size;
    if (!r.limited && r.size <= SETTLED && r.inertia <= 0.1) break;
  }
  a->state_rate = 0.0;
  return asi_statics_polish(a, t, r.w);
}

as_status asi_statics_polish(as_analysis *a, double t, double w) {
  for (int i = 0; i < 10 && a->here.unbalanced > 0.0; ++i) {
    w = fmax(1e-3 * w, 1e-13 * a->stiffness);
    as_status status = asi_statics_solve(a, t, w);
    if (status == AS_OK && asi_statics_size(a) > LONGEST) break;
    if (status == AS_OK) status = asi_statics_move(a, t, 1.0);
    if (status && !is_local(status)) return status;
    if (status || !(a->trial.unbalanced < 0.5 * a->here.unbalanced)) break;
    asi_statics_accept(a, t);
  }
  return AS_OK;
}
