/// The collocated methods: generalized-alpha with the equilibrium at the end of the step, for
/// constraints in index-3 or stabilized index-2 (Gear-Gupta-Leimkuhler) form.
///
/// O. Bruels, M. Arnold, The generalized-alpha scheme as a linear multistep integrator, 2008;
/// M. Arnold, O. Bruels, A. Cardona, Error analysis of generalized-alpha Lie group time integration
/// methods for constrained mechanical systems, Numer. Math. 2014.
///
/// alpha_m and alpha_f weight the OLD value; D = alpha_m - alpha_f. The auxiliary variable a_n is
/// close to v'(t_n + d_n), d_n = D h for a constant step.
///
/// Unknowns of a step: z = (v', lambda, psi, eta/h), the last only in index-2. Equations, scaled so
/// that no block of the iteration matrix depends on h to leading order:
///     index-3: M v' - f,  g / (beta h^2),       k / (gamma h)
///     index-2: M v' - f,  g' / (gamma h),       k / (gamma h),  g / (beta h^2)
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"
#include "core/stepper/collocated.h"

/// The blocks that the equations themselves take at the trial.
as_block_set asi_equation_blocks(const asi_stepper *s) {
  as_block_set needs =
      asi_eval_needs(s->kin->problem, ASI_FN_MA) | asi_eval_needs(s->kin->problem, ASI_FN_F);
  if (asi_is_stabilized(s)) needs |= asi_eval_needs(s->kin->problem, ASI_FN_GDOT);
  return needs;
}

static as_status collocated_begin(asi_stepper *s, double h) {
  asi_term terms[ASI_MAX_TERMS];
  as_status status = asi_start_of_step(s, h);
  if (status) return status;
  asi_system_set_factors(s->active, terms,
                         asi_list_terms(s, asi_has_eta(s) && s->active == &s->step, terms));
  if (asi_has_eta(s) && (s->first || s->b_lost || !asi_index2_keeps_b(s))) status = asi_find_b_n(s);
  if (status == AS_OK) s->b_lost = false;
  return status;
}

/// [GA.9] extrapolation of v', lambda, psi and eta/h
static void collocated_predict(asi_stepper *s) {
  const double am = s->c.alpha_m, af = s->c.alpha_f;
  const bool calmed = s->first && s->def->improved_start;
  asi_predictor_extrapolate(&s->predictor, s->t1, s->z);
  asi_path_extrapolate(s, s->z, (1.0 - af) / (1.0 - am), af / (1.0 - am), -am / (1.0 - am));
  // A path, [NW.15], and what is calm, [ST.10], are those of a: v'_1 follows by [GA.2].
  if (s->path.leads)
    asi_path_predict(s, s->z);
  else if (calmed)
    for (int i = 0; i < s->kin->problem->n; ++i) s->z[i] = s->a0[i] + s->h * s->rate.vdot[i];
  for (int i = 0; i < s->kin->problem->n && (s->path.leads || calmed); ++i)
    s->z[i] = ((1.0 - am) * s->z[i] + am * s->a0[i] - af * s->vdot0[i]) / (1.0 - af);
  // Nothing would bring back what round-off has left in rows that are left out.
  asi_rows_clear(s->kin, s->z + asi_step_layout_of(s).lambda);
  for (int i = 0;
       i < s->kin->problem->def.n_lambda && asi_has_eta(s) && s->kin->eval.n_left_out > 0; ++i)
    if (s->kin->eval.left_out[i]) s->z[asi_step_layout_of(s).eta + i] = 0.0;
  if (asi_has_eta(s)) asi_distrust_eta(s);
}

/// a, v and xi of the trial from v' of both ends, two components at a time; there is room behind an odd number of them.
static void update_motion(const asi_stepper *s) {
  const int n = s->kin->problem->n;
  const double h = s->h, beta = s->c.beta, gamma = s->gamma;
  const double am = s->c.alpha_m, af = s->c.alpha_f;
  // [GA.2] (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) v'_1 + alpha_f v'_0
  const asi_simd2 by_new = asi_simd_splat((1.0 - af) / (1.0 - am)),
                  by_old = asi_simd_splat(af / (1.0 - am));
  const asi_simd2 by_a = asi_simd_splat(am / (1.0 - am));
  // [GA.3] v_1 = v_0 + h [(1 - gamma) a_0 + gamma a_1]
  const asi_simd2 v_a0 = asi_simd_splat(h * (1.0 - gamma)), v_a1 = asi_simd_splat(h * gamma);
  // [GA.4] xi = h v_0 + h^2 [(1/2 - beta) a_0 + beta a_1] - h B_n^T eta
  const asi_simd2 q_v = asi_simd_splat(h), q_a0 = asi_simd_splat(h * h * (0.5 - beta)),
                  q_a1 = asi_simd_splat(h * h * beta), q_path = asi_simd_splat(h * h);
  const double *const z = s->z, *const from_v = s->v0, *const from_a = s->a0,
                      *const from_vdot = s->vdot0;
  const double *const path = s->eta_path;
  double *const xi = s->xi;
  const asi_values next = s->next;
  for (int i = 0; i < n; i += 2) {
    const asi_simd2 v0 = asi_simd_load(from_v + i), a0 = asi_simd_load(from_a + i);
    const asi_simd2 vdot = asi_simd_load(z + i);
    const asi_simd2 a1 = by_new * vdot + by_old * asi_simd_load(from_vdot + i) - by_a * a0;
    asi_simd_store(next.vdot + i, vdot);
    asi_simd_store(next.a + i, a1);
    asi_simd_store(next.v + i, v0 + v_a0 * a0 + v_a1 * a1);
    asi_simd2 moved = q_v * v0 + q_a0 * a0 + q_a1 * a1;
    if (path) moved -= q_path * asi_simd_load(path + i);
    asi_simd_store(xi + i, moved);
  }
}

/// Fills the trial from z.
static void update(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const asi_step_layout at = asi_step_layout_of(s);
  const double h = s->h;
  const asi_values *now = &s->now, *next = &s->next;
  update_motion(s);
  memcpy(next->lambda, s->z + at.lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(next->psi, s->z + at.psi, (size_t)p->def.n_psi * sizeof(double));
  for (int i = 0; i < p->def.n_x; ++i) {
    // [GA.11] (1 - delta_m) w_1 + delta_m w_0 = (1 - delta_f) x'_1 + delta_f x'_0,
    //         x_1 = x_0 + h [(1 - theta) w_0 + theta w_1]
    const double dm = s->cx.delta_m, df = s->cx.delta_f;
    next->xdot[i] = s->z[at.x + i];
    next->w[i] = ((1.0 - df) * next->xdot[i] + df * now->xdot[i] - dm * s->w0[i]) / (1.0 - dm);
    next->x[i] = now->x[i] + h * ((1.0 - s->theta) * s->w0[i] + s->theta * next->w[i]);
  }
  memcpy(next->y, s->z + at.y, (size_t)p->def.n_y * sizeof(double));
  for (int i = 0; i < p->def.n_lambda && asi_has_eta(s); ++i) next->eta[i] = h * s->z[at.eta + i];
  as_space_move(p->space, now->q, s->xi, next->q);
}

as_point asi_trial_point(const asi_stepper *s) {
  return (as_point){.t = s->t1,
                    .q = s->next.q,
                    .v = s->next.v,
                    .vdot = s->next.vdot,
                    .lambda = s->next.lambda,
                    .psi = s->next.psi,
                    .x = s->next.x,
                    .y = s->next.y};
}

/// [RE.3] what a multiplier may move the constraint in its place: e/d^2 for lambda and psi,
/// e L^2/(beta D^2) for eta/h
double asi_softness(const asi_stepper *s, int i) {
  const asi_step_layout at = asi_step_layout_of(s);
  const asi_redundancy *r = &s->kin->redundancy;
  const double length = s->kin->problem->length;
  return i < at.eta ? s->kin->compliance * r->inverse_d2[i - at.lambda]
                    : s->kin->compliance * r->inverse_D2[i - at.eta] * length * length / s->c.beta;
}

static as_status collocated_evaluate(asi_stepper *s, bool tangents) {
  const as_problem *p = s->kin->problem;
  const asi_step_layout at = asi_step_layout_of(s);
  const int m = p->def.n_lambda;
  double *r = s->residual, *f = s->work_n, *g = r + (asi_is_stabilized(s) ? at.eta : at.lambda);
  double *gdot = asi_is_stabilized(s) ? r + at.lambda : NULL;
  as_statistics *log = &s->kin->statistics;
  assert(r != NULL);
  update(s);
  as_status status = asi_see_least_norm(s, s->next.lambda, s->next.psi);
  if (status) return status;
  const as_point point = asi_trial_point(s);
  s->at_trial = asi_equation_blocks(s) | (tangents ? asi_system_blocks(s->active) : 0);
  double *const out[ASI_FUNCTIONS] = {[ASI_FN_MA] = r,
                                      [ASI_FN_F] = f,
                                      [ASI_FN_G] = m > 0 ? g : NULL,
                                      [ASI_FN_GDOT] = m > 0 ? gdot : NULL,
                                      [ASI_FN_K] = p->def.n_psi > 0 ? r + at.psi : NULL,
                                      [ASI_FN_PHI] = p->def.n_x > 0 ? r + at.x : NULL,
                                      [ASI_FN_CHI] = p->def.n_y > 0 ? r + at.y : NULL};
  status = asi_functions(s->kin, &point, out, s->at_trial);
  if (status) return status;
  for (int i = 0; i < p->n; ++i) r[i] -= f[i];
  const double per_v = 1.0 / (s->gamma * s->h);
  asi_left *left = &s->left;
  log->dynamics_residual = asi_max_abs(r, p->n);
  *left = (asi_left){.dynamics = asi_max_force(p, r)};
  log->position_residual = log->velocity_residual = 0.0;
  asi_finish_rows(s->kin, g, 0, m, 1.0 / (s->c.beta * s->h * s->h), &log->position_residual,
                  &left->position);
  if (gdot) asi_finish_rows(s->kin, gdot, 0, m, per_v, &log->velocity_residual, &left->velocity);
  asi_finish_rows(s->kin, r + at.psi, m, p->def.n_psi, per_v, &log->velocity_residual,
                  &left->velocity);
  for (int i = at.lambda; i < at.x && s->kin->compliance > 0.0; ++i)
    r[i] -= asi_softness(s, i) * s->z[i];
  for (int i = at.x; i < at.size; ++i) r[i] = s->z[i] - r[i];
  return AS_OK;
}

static void collocated_accept(asi_stepper *s) {
  const asi_values old = s->now;
  const double per_time = 1.0 / (s->h + s->d1 - s->d0);
  double *const rate = s->work_n;
  for (int i = 0; i < s->kin->problem->n; ++i) rate[i] = (s->next.a[i] - s->a0[i]) * per_time;
  const bool watched = s->def->method == AS_METHOD_INDEX3 && s->kin->problem->def.n_lambda > 0 &&
                       s->def->step_corrections && s->def->perturbed_start;
  const bool varies = !s->first && s->varies;
  if (s->first || varies) asi_parasite_forget(s);
  const bool undamped = watched && (s->kin->problem->present & asi_multiplier_blocks) &&
                        s->c.alpha_f > s->expert.parasite_rho * (1.0 - s->c.alpha_f);
  const bool grows = watched && !undamped && !varies && asi_parasite_grows(s);
  if (grows)
    asi_log(s->kin, AS_LOG_INFO,
            "Multipliers alternate from step to step at t = %.9g s: velocities are corrected from "
            "here on.",
            s->t1);
  memcpy(s->a_rate, rate, (size_t)s->kin->problem->n * sizeof(double));
  asi_predictor_learn(&s->predictor, s->t1, s->z);
  s->z = asi_predictor_push(&s->predictor, s->t1, s->z);
  s->now = s->next;
  s->next = old;
  if (asi_index2_keeps_b(s)) {
    double *const used = s->b_n.value;
    s->b_n.value = s->b_trial;
    s->b_trial = used;
  }
  s->a_offset = s->d1;
  s->w_offset = s->dx1;
  s->varying = undamped || (!s->first && (s->varies || grows));
  asi_return_to_decoupled(s);
}

static void collocated_solver_info(const asi_stepper *s, asi_solver_info *out) {
  asi_solver_info eta;
  s->active->solver->ops->info(s->active->solver, out);
  if (s->active != &s->shared) return;
  s->eta.solver->ops->info(s->eta.solver, &eta);
  out->solve_operations += eta.solve_operations;
  out->factor_operations += eta.factor_operations;
}

const asi_method asi_method_index3 = {.name = "index-3",
                                      .position_stage = 0,
                                      .shared_is_exact = true,
                                      .create = asi_collocated_create,
                                      .begin = collocated_begin,
                                      .predict = collocated_predict,
                                      .evaluate = collocated_evaluate,
                                      .linearize = asi_collocated_linearize,
                                      .solve = asi_collocated_solve,
                                      .update = update,
                                      .accept = collocated_accept,
                                      .solver_info = collocated_solver_info};
const asi_method asi_method_index2 = {.name = "index-2",
                                      .position_stage = -1,
                                      .shared_is_exact = true,
                                      .residuals_tell = true,
                                      .create = asi_collocated_create,
                                      .begin = collocated_begin,
                                      .predict = collocated_predict,
                                      .evaluate = collocated_evaluate,
                                      .linearize = asi_collocated_linearize,
                                      .solve = asi_collocated_solve,
                                      .update = update,
                                      .accept = collocated_accept,
                                      .solver_info = collocated_solver_info,
                                      .other_norm = asi_eta_norm,
                                      .check = asi_check_eta};
