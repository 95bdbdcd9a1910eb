/// Consistent accelerations, multipliers, rates of states and outputs where t, q, v and x are given.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/kinematics/kinematics.h"

enum { MAX_ACCELERATION_ITERATIONS = 20, MAX_FADING_ITERATIONS = 200 };
static const double LEAST_SHARE = 1e-5; ///< of a term that x' and y are made of

/// The residual of [ST.4] at a guess, negative: what the increments have to bring. `acceleration` holds the
/// acceleration-level terms of the constraints without v', `give` the compliance that lambda and psi act on.
/// Returns the size of the force, in typical sizes.
static as_status acceleration_residual(asi_kinematics *s, const as_point *point,
                                       const double *acceleration, double give, double *r,
                                       double *force) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi, x = n + rows,
            y = x + p->def.n_x;
  as_status status = asi_eval_function(&s->eval, ASI_FN_F, point, s->block, r);
  if (status == AS_OK && p->def.n_x > 0)
    status = asi_eval_function(&s->eval, ASI_FN_PHI, point, s->block, r + x);
  if (status == AS_OK && p->def.n_y > 0)
    status = asi_eval_function(&s->eval, ASI_FN_CHI, point, s->block, r + y);
  if (status) return status;
  *force = asi_max_force(p, r);
  for (int i = 0; i < rows; ++i) r[n + i] = -acceleration[i];
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, -1.0, point->vdot, r);
  if (m > 0)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], s->block[AS_BLOCK_G_Q].value, -1.0,
                            point->vdot, r + n);
  if (p->def.n_psi > 0)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_K_V], s->block[AS_BLOCK_K_V].value, -1.0,
                            point->vdot, r + n + m);
  for (int i = 0; i < rows && give > 0.0; ++i)
    r[n + i] += give * s->redundancy.inverse_d2[i] * (i < m ? point->lambda[i] : point->psi[i - m]);
  return AS_OK;
}

/// The accelerations did not settle: if outputs run away, a loop of gain one is at fault, singular but for the
/// errors of differences; otherwise Newton's method, which outputs may be the cause of.
static as_status fail_unsettled(asi_kinematics *s, double t, const double *y, const double *dy,
                                int iterations, double change) {
  const as_problem *p = s->problem;
  const double largest = asi_max_abs(y, p->def.n_y);
  int worst = 0;
  for (int i = 1; i < p->def.n_y; ++i)
    if (!(fabs(dy[i]) <= fabs(dy[worst]))) worst = i;
  char name[ASI_LOOP_NAME];
  if (p->def.n_y > 0 && !(fabs(dy[worst]) <= 1e3)) {
    asi_component_name(p, AS_QUANTITY_Y, worst, name, sizeof name);
    return asi_fail(
        s->eval.error, AS_ERR_SINGULAR, t, name,
        "The outputs are not determined at t = %.9g s: %s still changes by %.3g after %d "
        "iterations (an algebraic loop of gain one?).",
        t, name, dy[worst], iterations);
  }
  if (p->def.n_y > 0 && fabs(dy[worst]) >= 0.5 * change * fmax(largest, fabs(dy[worst]))) {
    asi_component_name(p, AS_QUANTITY_Y, worst, name, sizeof name);
    return asi_fail(s->eval.error, AS_ERR_CONVERGENCE, t, name,
                    "The outputs could not be found at t = %.9g s: %s still changes by %.3g after "
                    "%d iterations (have the equations of this algebraic loop a solution?).",
                    t, name, dy[worst], iterations);
  }
  return asi_fail(s->eval.error, AS_ERR_CONVERGENCE, t, NULL,
                  "The accelerations and multipliers could not be found at t = %.9g s: they still "
                  "change by %.3g (relative) after %d iterations.",
                  t, change, iterations);
}

/// How much an increment of size `step` has changed some values, relative to them before or after, whichever is
/// more: at most about 1, also where they have become zero.
static double relative_change(double step, double size) {
  return step / fmax(fmax(size, step), DBL_MIN);
}

/// The largest of some multipliers, in typical sizes of the forces that they make.
static double multiplier_size(const asi_kinematics *s, const double *x, int first, int count) {
  double largest = 0.0;
  for (int i = 0; i < count; ++i)
    largest = asi_max_nan(largest, fabs(x[i]) / s->redundancy.per_row[first + i]);
  return largest;
}

/// The terms of [ST.4] in the rows that do not depend on v'.
static as_status acceleration_terms(asi_kinematics *s, const as_point *point, unsigned how,
                                    double *out) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda;
  as_status status = AS_OK;
  if (how & ASI_TIME_STANDS) {
    memset(out, 0, (size_t)s->redundancy.rows * sizeof(double));
    return AS_OK;
  }
  if (m > 0) status = asi_eval_constraint_acceleration(&s->eval, point, out);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_nonholonomic_acceleration(&s->eval, point, out + m);
  return status;
}

/// The accelerations that constraint forces of this size give to the heaviest, in typical sizes: near an equilibrium v' itself is
/// nothing but their round-off.
static double held_acceleration(const asi_kinematics *s, const asi_values *at) {
  asi_constraint_force(s, at->lambda, at->psi, s->work);
  return asi_max_force(s->problem, s->work) / fmax(s->mass_size, DBL_MIN);
}

/// The largest term of x' = phi (first: AS_BLOCK_PHI_Q) or y = chi (AS_BLOCK_CHI_Q) by what is solved for: the round-off that
/// these bring is relative to it.
static double largest_term(const asi_kinematics *s, const as_point *at, as_block first) {
  const as_problem *p = s->problem;
  const double *const by[] = {NULL, NULL, at->vdot, at->lambda, at->psi, NULL, at->y};
  double largest = 0.0;
  for (int k = 2; k < 7; ++k) {
    const as_block b = (as_block)((int)first + k);
    if (by[k] == NULL || !(p->present & AS_BLOCK_BIT(b))) continue;
    const as_matrix *m = &s->block[b];
    for (int j = 0; j < m->cols; ++j)
      for (int i = m->col_start[j]; i < m->col_start[j + 1]; ++i)
        largest = fmax(largest, fabs(m->value[i] * by[k][j]));
  }
  return largest;
}

/// relative_change() of x' or y; where they are next to nothing in comparison with their terms, as at rest, these count.
static double relative_output(const asi_kinematics *s, const as_point *at, as_block first,
                              const double *step, const double *value, int n) {
  const double change = asi_max_abs(step, n), size = asi_max_abs(value, n);
  if (!(relative_change(change, size) > 1e-9)) return relative_change(change, size);
  return relative_change(change, fmax(size, LEAST_SHARE * largest_term(s, at, first)));
}

/// The multipliers that forces are given for those of a guess.
static as_status see_guess(asi_kinematics *s, const asi_values *at) {
  const as_problem *p = s->problem;
  double *const lambda = s->redundancy.seen, *const psi = lambda + p->def.n_lambda;
  memcpy(lambda, at->lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(psi, at->psi, (size_t)p->def.n_psi * sizeof(double));
  return asi_least_norm(s, lambda, psi);
}

/// [ST.4] M v' = f(t,q,v,lambda,psi,x,y), B v' + (g_t + B v)' = 0, k_v v' + k' = 0, where the primes on
/// the right are total time derivatives at v' = 0; x' = phi, y = chi. One linear solve and one refinement
/// if f is additive and there are no x and y, Newton's method if not, or if compliance is to fade.
as_status asi_solve_acceleration(asi_kinematics *s, double t, const asi_values *at, unsigned how) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi, nx = p->def.n_x,
            ny = p->def.n_y;
  const int size = n + rows + nx + ny;
  asi_system *system = nx + ny > 0 ? &s->consistent : &s->kkt;
  const bool linear = p->def.force_kind == AS_FORCE_ADDITIVE && nx + ny == 0;
  const bool sees = asi_forces_see_least_norm(s);
  double *const lambda = sees ? s->redundancy.seen : at->lambda;
  double *const psi = sees ? lambda + m : at->psi;
  const as_point point = {.t = t,
                          .q = at->q,
                          .v = at->v,
                          .vdot = at->vdot,
                          .lambda = lambda,
                          .psi = psi,
                          .x = at->x,
                          .y = at->y};
  const bool exact = how & ASI_EXACT_ROWS, fades = exact && s->compliance > 0.0;
  const double give = exact ? 0.0 : s->compliance;
  const int most = fades && linear ? MAX_FADING_ITERATIONS : MAX_ACCELERATION_ITERATIONS;
  const as_block_set fixed = asi_projection_blocks;
  double *r = s->rhs, *acceleration = s->multiplier;
  as_status status = sees ? asi_least_norm_prepare(s, t, at->q, at->v) : AS_OK;
  if (status == AS_OK && sees) status = see_guess(s, at);
  if (status == AS_OK) status = asi_blocks(s, &point, asi_system_blocks(system));
  if (status == AS_OK) status = acceleration_terms(s, &point, how, acceleration);
  double change = (double)INFINITY;
  for (int iteration = 0; status == AS_OK; ++iteration) {
    double force = 0.0;
    if (!linear && iteration > 0)
      status = asi_blocks(s, &point, asi_system_blocks(system) & ~fixed);
    if (status == AS_OK) status = acceleration_residual(s, &point, acceleration, give, r, &force);
    for (int i = 0; i < nx; ++i) r[n + rows + i] -= at->xdot[i];
    for (int i = 0; i < ny; ++i) r[n + rows + nx + i] -= at->y[i];
    if (status == AS_OK && (!linear || iteration == 0)) {
      asi_system_assemble(system, s->block, &s->tangent);
      asi_add_compliance(s, system, s->compliance);
      for (int i = n + rows; i < size; ++i) system->value[system->diagonal[i]] += 1.0;
      status = asi_factor_shared(s, system, t, "the accelerations and multipliers");
    }
    if (status == AS_OK) status = asi_solve(s, system, t, r);
    if (status) break;
    for (int i = 0; i < n; ++i) at->vdot[i] += r[i];
    for (int i = 0; i < m; ++i) at->lambda[i] += r[n + i];
    for (int i = 0; i < p->def.n_psi; ++i) at->psi[i] += r[n + m + i];
    for (int i = 0; i < nx; ++i) at->xdot[i] += r[n + rows + i];
    for (int i = 0; i < ny; ++i) at->y[i] += r[n + rows + nx + i];
    memcpy(s->change, r, (size_t)size * sizeof(double));
    r = s->change; // kkt_rhs is taken by what follows
    if (sees) status = see_guess(s, at);
    const double previous = change;
    const double multipliers =
        fmax(multiplier_size(s, at->lambda, 0, m), multiplier_size(s, at->psi, m, p->def.n_psi));
    const double *dx = r + n + rows, *dy = dx + nx;
    change = relative_change(asi_max_motion(p, r),
                             fmax(asi_max_motion(p, at->vdot), held_acceleration(s, at)));
    change = asi_max_nan(change,
                         relative_change(multiplier_size(s, r + n, 0, rows), multipliers + force));
    change = asi_max_nan(change, relative_output(s, &point, AS_BLOCK_PHI_Q, dx, at->xdot, nx));
    change = asi_max_nan(change, relative_output(s, &point, AS_BLOCK_CHI_Q, dy, at->y, ny));
    if (linear && !fades && iteration == 1 && isfinite(change)) break;
    // Quadratic convergence: the step after this one would be below round-off, or already is.
    if ((!linear || fades) && isfinite(change) &&
        (change <= 1e-9 || (change <= 1e-6 && change > 0.1 * previous)))
      break;
    if (iteration == most || !isfinite(change))
      status = fail_unsettled(s, t, at->y, dy, iteration + 1, change);
    r = s->rhs;
  }
  if (status || !sees) return status;
  memcpy(at->lambda, lambda, (size_t)m * sizeof(double));
  memcpy(at->psi, psi, (size_t)p->def.n_psi * sizeof(double));
  return AS_OK;
}

void asi_constraint_force(const asi_kinematics *s, const double *lambda, const double *psi,
                          double *out) {
  const as_problem *p = s->problem;
  const bool general = p->def.force_kind == AS_FORCE_GENERAL;
  const as_block_set present = p->present;
  memset(out, 0, (size_t)p->n * sizeof(double));
  if (!general && p->def.n_lambda > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], s->block[AS_BLOCK_G_Q].value, 1.0,
                                       lambda, out);
  if (!general && p->def.n_psi > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], s->block[AS_BLOCK_K_V].value, 1.0,
                                       psi, out);
  if (general && (present & AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA)))
    asi_panels_multiply_add(&p->panels[AS_BLOCK_F_LAMBDA], s->block[AS_BLOCK_F_LAMBDA].value, -1.0,
                            lambda, out);
  if (general && (present & AS_BLOCK_BIT(AS_BLOCK_F_PSI)))
    asi_panels_multiply_add(&p->panels[AS_BLOCK_F_PSI], s->block[AS_BLOCK_F_PSI].value, -1.0, psi,
                            out);
}
