/// The SOI2 method: generalized-alpha with a weighted residual, second order in index-2 form.
///
/// L. O. Jay, D. Negrut, A second order extension of the generalized-alpha method for constrained systems
/// in mechanics, 2008; L. O. Jay, Convergence of the generalized-alpha method for constrained systems in
/// mechanics with nonholonomic constraints, 2011. On Lie groups: here.
///
/// alpha_m and alpha_f weight the OLD value; D = alpha_m - alpha_f. a is close to v' at t + D h, and
/// p = M_alpha a to the momentum balance there. With holonomic constraints a step has two stages that
/// share everything but their accelerations and multipliers: the tilde stage moves q onto g = 0, the other
/// one v onto g' = 0. Without them the stages coincide and there is one.
///
/// Unknowns: z = (a_1, lambda_1, psi_1; a~, lambda~, psi~). Equations, scaled to be independent of h:
///     R(a_1, lambda_1, psi_1),  g'/(gamma h),  k(v_1)/(gamma h);  R(a~, lambda~, psi~),  g/(beta h^2),
///     k(v~)/(gamma h)
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

static int stride_of(const as_problem *p) { return p->n + p->def.n_lambda + p->def.n_psi; }
static bool has_tilde(const asi_stepper *s) { return s->kin->problem->def.n_lambda > 0; }
static int size_of(const asi_stepper *s) {
  return stride_of(s->kin->problem) * (has_tilde(s) ? 2 : 1);
}

// ---- matrices -------------------------------------------------------------------------------------

/// [SO.6] the full matrix. q moves with a~ only, v with a_1 only, in the forces of both stages:
///
///             a_1                                       a~                                     lambda
///   R         (1-alpha_m) M_1 - (1-alpha_f) gamma h f_v  -(1-alpha_f) beta h^2 f_q T           *
///   g'/(gh)   B                                         (beta h/gamma) Z T
///   k/(gh)    k_v                                       (beta h/gamma) k_q T
///   R~        -(1-alpha_f) gamma h f_v                  (1-alpha_m) M_1 - (1-alpha_f) beta h^2 f_q T  *
///   g/(bh^2)                                            B T
///   k~/(gh)                                             k_v + (beta h/gamma) k_q T
///
/// * -(1-alpha_f) f_lambda, f_psi in the columns of the stage's own multipliers. Without holonomic
/// constraints a~ is a_1.
static int list_full(const asi_stepper *s, asi_term *term) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, l = p->n + p->def.n_lambda, stride = stride_of(p);
  const int tilde = has_tilde(s) ? stride : 0;
  const double h = s->h, beta = s->c.beta, gamma = s->c.gamma;
  const double wm = 1.0 - s->c.alpha_m, wf = 1.0 - s->c.alpha_f;
  int i = 0;
  for (int stage = 0; stage <= tilde; stage += stride) { // rows of a stage
    term[i++] = (asi_term){stage, stage, AS_BLOCK_M, false, ASI_CHAIN_IDENTITY, wm};
    term[i++] = (asi_term){stage, 0, AS_BLOCK_F_V, false, ASI_CHAIN_IDENTITY, -wf * gamma * h};
    term[i++] = (asi_term){stage, tilde, AS_BLOCK_F_Q, false, ASI_CHAIN_T, -wf * beta * h * h};
    if (p->def.force_kind == AS_FORCE_ADDITIVE) {
      term[i++] = (asi_term){stage, stage + n, AS_BLOCK_G_Q, true, ASI_CHAIN_IDENTITY, wf};
      term[i++] = (asi_term){stage, stage + l, AS_BLOCK_K_V, true, ASI_CHAIN_IDENTITY, wf};
    } else {
      term[i++] = (asi_term){stage, stage + n, AS_BLOCK_F_LAMBDA, false, ASI_CHAIN_IDENTITY, -wf};
      term[i++] = (asi_term){stage, stage + l, AS_BLOCK_F_PSI, false, ASI_CHAIN_IDENTITY, -wf};
    }
    term[i++] = (asi_term){stage + l, stage, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, 1.0};
    term[i++] = (asi_term){stage + l, tilde, AS_BLOCK_K_Q, false, ASI_CHAIN_T, beta * h / gamma};
  }
  if (has_tilde(s)) {
    term[i++] = (asi_term){n, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_IDENTITY, 1.0};
    term[i++] = (asi_term){n, tilde, AS_BLOCK_GDOT_Q, false, ASI_CHAIN_T, beta * h / gamma};
    term[i++] = (asi_term){tilde + n, tilde, AS_BLOCK_G_Q, false, ASI_CHAIN_T, 1.0};
  }
  return i;
}

/// [SO.7] the shared matrix, to leading order in h the diagonal block of both stages:
/// [(1-alpha_m) M_1, -(1-alpha_f) f_lambda, -(1-alpha_f) f_psi; B; k_v]
static int list_shared(const asi_stepper *s, asi_term *term) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, l = p->n + p->def.n_lambda;
  const double wm = 1.0 - s->c.alpha_m, wf = 1.0 - s->c.alpha_f;
  int i = 0;
  term[i++] = (asi_term){0, 0, AS_BLOCK_M, false, ASI_CHAIN_IDENTITY, wm};
  if (p->def.force_kind == AS_FORCE_ADDITIVE) {
    term[i++] = (asi_term){0, n, AS_BLOCK_G_Q, true, ASI_CHAIN_IDENTITY, wf};
    term[i++] = (asi_term){0, l, AS_BLOCK_K_V, true, ASI_CHAIN_IDENTITY, wf};
  } else {
    term[i++] = (asi_term){0, n, AS_BLOCK_F_LAMBDA, false, ASI_CHAIN_IDENTITY, -wf};
    term[i++] = (asi_term){0, l, AS_BLOCK_F_PSI, false, ASI_CHAIN_IDENTITY, -wf};
  }
  term[i++] = (asi_term){n, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_IDENTITY, 1.0};
  term[i++] = (asi_term){l, 0, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, 1.0};
  return i;
}

static as_status soi2_create(asi_stepper *s, as_error *error) {
  const as_problem *p = s->kin->problem;
  asi_term terms[ASI_MAX_TERMS];
  s->h = 1.0; // any: only the pattern counts here
  s->unknowns = size_of(s);
  s->stages = has_tilde(s) ? 2 : 1;
  int n_terms = list_full(s, terms);
  as_status status =
      asi_system_init(&s->step, p, &s->kin->tangent,
                      has_tilde(s) ? ASI_UNKNOWNS_TWO_STAGES : ASI_UNKNOWNS_ONE_STAGE, s->unknowns,
                      terms, n_terms, &s->kin->kkt, error);
  if (status == AS_OK && has_tilde(s)) {
    n_terms = list_shared(s, terms);
    status = asi_system_init(&s->shared, p, &s->kin->tangent, ASI_UNKNOWNS_ONE_STAGE, stride_of(p),
                             terms, n_terms, &s->kin->kkt, error);
  }
  s->active = has_tilde(s) ? &s->shared : &s->step;
  return status;
}

// ---- the start of a step --------------------------------------------------------------------------

/// M at time t_0 + e, where the motion is to first order: q_0 o exp(e v_0). Into block M.
static as_status mass_at(asi_stepper *s, double e) {
  const as_problem *p = s->kin->problem;
  for (int i = 0; i < p->n; ++i) s->xi[i] = e * s->now.v[i];
  as_space_move(p->space, s->now.q, s->xi, s->next.q);
  const as_point at = {.t = s->t + e, .q = s->next.q};
  return asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_M));
}

/// [SO.5] p = M(t_0 + e) a
static as_status momentum(asi_stepper *s, double e, const double *a, double *p) {
  const as_status status = mass_at(s, e);
  memset(p, 0, (size_t)s->kin->problem->n * sizeof(double));
  asi_panels_multiply_add(&s->kin->problem->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value,
                          1.0, a, p);
  return status;
}

/// Two points to extrapolate from, before there are steps.
static void begin_history(asi_stepper *s, double h) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, stride = stride_of(p);
  asi_predictor_reset(&s->predictor);
  for (int back = 1; back >= 0; --back) {
    // a_1 is close to v' at t_1 + D h.
    const double e = back * h, shift = s->def->improved_start ? s->D * h : 0.0;
    for (int stage = 0; stage < s->unknowns; stage += stride) {
      double *z = s->z + stage;
      for (int i = 0; i < n; ++i) z[i] = s->a0[i] + (shift - e) * s->rate.vdot[i];
      for (int i = 0; i < m; ++i) z[n + i] = s->calm_lambda[i] - e * s->rate.lambda[i];
      for (int i = 0; i < p->def.n_psi; ++i) z[n + m + i] = s->calm_psi[i] - e * s->rate.psi[i];
      asi_rows_clear(s->kin, z + n);
    }
    s->z = asi_predictor_push(&s->predictor, s->t - e, s->z);
  }
}

/// M_alpha a = p with the factors made by begin_implicit.
static as_status solve_mass(asi_stepper *s, const double *p, double *a) {
  const int n = s->kin->problem->n;
  memset(s->kkt_rhs, 0, (size_t)s->kin->kkt.size * sizeof(double));
  memcpy(s->kkt_rhs, p, (size_t)n * sizeof(double));
  const as_status status = asi_solve(s->kin, &s->kin->kkt, s->t, s->kkt_rhs);
  memcpy(a, s->kkt_rhs, (size_t)n * sizeof(double));
  return status;
}

/// Factorizes M_alpha alone, in the place of the starting matrix.
static as_status begin_implicit(asi_stepper *s) {
  const int n = s->kin->problem->n;
  as_status status = mass_at(s, s->D * s->h);
  if (status) return status;
  asi_system_assemble(&s->kin->kkt, s->kin->block, &s->kin->tangent);
  for (int j = 0; j < s->kin->kkt.size; ++j)
    for (int k = s->kin->kkt.pattern.col_start[j]; k < s->kin->kkt.pattern.col_start[j + 1]; ++k)
      if (j >= n || s->kin->kkt.pattern.row[k] >= n)
        s->kin->kkt.value[k] = s->kin->kkt.pattern.row[k] == j ? 1.0 : 0.0;
  return asi_factor(s->kin, &s->kin->kkt, s->t, "the first acceleration");
}

static as_status soi2_assemble(asi_stepper *s);

static as_status assemble_start(asi_stepper *s, bool dampers) {
  asi_term terms[ASI_MAX_TERMS];
  asi_system_set_factors(&s->step, terms, list_full(s, terms));
  if (!dampers) asi_system_leave_out(&s->step, AS_BLOCK_F_V);
  return soi2_assemble(s);
}

/// [ST.10] with the matrix of both stages: the shared one knows nothing of stiffness; as long as it serves there is none
static as_status calm_start(asi_stepper *s) {
  asi_system *const active = s->active;
  const bool is_shared = active != &s->step;
  if (!s->def->improved_start || (is_shared && s->h <= s->factor_h)) return AS_OK;
  if (is_shared) s->factor_h = (double)NAN;
  s->active = &s->step;
  const as_status status = asi_calm_start(s, assemble_start);
  s->active = active;
  return status;
}

/// The first step's a and p.
static as_status first_acceleration(asi_stepper *s, double h) {
  const int n = s->kin->problem->n;
  memcpy(s->a0, s->now.vdot, (size_t)n * sizeof(double));
  memcpy(s->calm_lambda, s->now.lambda, (size_t)s->kin->problem->def.n_lambda * sizeof(double));
  memcpy(s->calm_psi, s->now.psi, (size_t)s->kin->problem->def.n_psi * sizeof(double));
  as_status status = asi_start_rates(s, h, h);
  if (status == AS_OK) status = calm_start(s);
  if (status) return status;
  memcpy(s->calm_vdot, s->a0, (size_t)n * sizeof(double));
  begin_history(s, h);
  // [SO.4] a = v'_0 + D h v''_0, or v'_0
  for (int i = 0; i < n && s->def->improved_start; ++i) s->a0[i] += s->D * h * s->rate.vdot[i];
  status = momentum(s, s->D * h, s->a0, s->p0);
  if (status == AS_OK && s->def->soi2.implicit_start) status = begin_implicit(s);
  return status;
}

/// [GA.15] for a, and so for p
static as_status follow_stiff(asi_stepper *s, bool changed) {
  const int n = s->kin->problem->n;
  double *change = s->f0; // which is found later
  memcpy(change, s->a0, (size_t)n * sizeof(double));
  const as_status status = asi_correct_stiff_modes(s, changed);
  if (status) return status;
  for (int i = 0; i < n; ++i) change[i] = s->a0[i] - change[i];
  asi_panels_multiply_add(&s->kin->problem->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value,
                          1.0, change, s->p0);
  return AS_OK;
}

/// [SO.2] f_0. Of a first step whose v'_0 is not that of the state, [ST.10], the force that gives this one.
static as_status force_at_start(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const bool first = s->first; // [ST.11]
  if (first && memcmp(s->calm_vdot, s->now.vdot, (size_t)p->n * sizeof(double)) != 0)
    return momentum(s, 0.0, s->calm_vdot, s->f0);
  const as_point at = {.t = s->t,
                       .q = s->now.q,
                       .v = first ? s->v0 : s->now.v,
                       .lambda = first ? s->calm_lambda : s->now.lambda,
                       .psi = first ? s->calm_psi : s->now.psi};
  const as_status status = asi_blocks(s->kin, &at, asi_eval_needs(p, ASI_FN_F));
  return status ? status : asi_eval_function(&s->kin->eval, ASI_FN_F, &at, s->kin->block, s->f0);
}

static as_status soi2_begin(asi_stepper *s, double h) {
  const as_problem *p = s->kin->problem;
  const int n = p->n;
  asi_term terms[ASI_MAX_TERMS];
  as_status status = AS_OK;
  s->h = h;
  s->path.is_stiff = s->path.stiff;
  s->path.excites = s->path.excited;
  s->gamma = s->c.gamma;
  s->d0 = s->d1 = s->D * h;
  s->vdot0 = s->now.vdot;
  memcpy(s->v0, s->now.v, (size_t)n * sizeof(double));
  memcpy(s->a0, s->now.a, (size_t)n * sizeof(double));
  memcpy(s->p0, s->p, (size_t)n * sizeof(double));
  if (s->first) {
    status = first_acceleration(s, h);
  } else {
    // [SO.8] a <- a + D (h_n/h_{n-1} - 1) (a - a_before), p likewise: from t_n + D h_{n-1} to t_n + D h_n;
    // with larger ratios the extrapolation would be unstable
    const double ratio = fmin(h / s->last_h, s->expert.soi2_ratio);
    const double shift = s->def->step_corrections ? s->D * (ratio - 1.0) : 0.0;
    for (int i = 0; i < n; ++i) {
      s->a0[i] += shift * (s->a0[i] - s->a_before[i]);
      s->p0[i] += shift * (s->p0[i] - s->p_before[i]);
    }
    const bool changed = fabs(h - s->last_h) > 1e-9 * h;
    if (s->def->step_corrections && ratio < s->expert.soi2_ratio) status = follow_stiff(s, changed);
    if (status == AS_OK && s->def->soi2.reevaluate_mass)
      status = momentum(s, s->D * h, s->a0, s->p0);
  }
  if (status) return status;
  status = force_at_start(s);
  // [SO.3] M_1 = M(t_0 + (1 + D) h, q_0 o exp((1 + D) h v_0))
  if (status == AS_OK) status = mass_at(s, (1.0 + s->D) * h);
  if (status) return status;
  asi_system_set_factors(&s->step, terms, list_full(s, terms));
  return AS_OK;
}

static void soi2_predict(asi_stepper *s) {
  double *const tilde = s->z + (has_tilde(s) ? stride_of(s->kin->problem) : 0);
  asi_predictor_extrapolate(&s->predictor, s->t1, s->z);
  // Nothing would bring back what round-off has left in rows that are left out.
  asi_rows_clear(s->kin, s->z + s->kin->problem->n);
  asi_rows_clear(s->kin, tilde + s->kin->problem->n);
  asi_path_extrapolate(s, tilde, 1.0, 0.0, 0.0);
  if (!s->path.leads) return;
  asi_path_predict(s, s->z); // [NW.15]
  if (has_tilde(s)) memcpy(tilde, s->z, (size_t)s->kin->problem->n * sizeof(double));
}

// ---- the equations --------------------------------------------------------------------------------

/// Fills the trial from z.
static void update(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int n = p->n;
  const double h = s->h, beta = s->c.beta, gamma = s->c.gamma;
  const double *a1 = s->z, *tilde = s->z + (has_tilde(s) ? stride_of(p) : 0);
  for (int i = 0; i < n; ++i) {
    // [SO.1] v_1 = v_0 + h [(1 - gamma) a + gamma a_1], v~ likewise with a~;
    //        q_1 = q_0 o exp(h v_0 + h^2 [(1/2 - beta) a + beta a~])
    // [SO.10] v' at t_1, from a at t_0 + D h and t_1 + D h
    s->next.a[i] = a1[i];
    s->next.vdot[i] = a1[i] - s->D * (a1[i] - s->a0[i]);
    s->next.v[i] = s->v0[i] + h * ((1.0 - gamma) * s->a0[i] + gamma * a1[i]);
    s->v_tilde[i] = s->v0[i] + h * ((1.0 - gamma) * s->a0[i] + gamma * tilde[i]);
    s->xi[i] = h * s->v0[i] + h * h * ((0.5 - beta) * s->a0[i] + beta * tilde[i]);
  }
  memcpy(s->next.lambda, s->z + n, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(s->next.psi, s->z + n + p->def.n_lambda, (size_t)p->def.n_psi * sizeof(double));
  as_space_move(p->space, s->now.q, s->xi, s->next.q);
}

static as_point trial_point(const asi_stepper *s) {
  return (as_point){
      .t = s->t1, .q = s->next.q, .v = s->next.v, .lambda = s->next.lambda, .psi = s->next.psi};
}

static as_block_set equation_blocks(const asi_stepper *s) {
  return asi_eval_needs(s->kin->problem, ASI_FN_F) | asi_eval_needs(s->kin->problem, ASI_FN_GDOT);
}

/// f at (t_1, q_1, v_1) with the tilde stage's multipliers: if f is additive, from the one at hand.
static as_status tilde_force(asi_stepper *s, const double *f1, double *out) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda;
  const double *tilde = s->z + stride_of(p);
  if (p->def.force_kind == AS_FORCE_GENERAL) {
    double *const lambda = s->kin->redundancy.seen, *const psi = lambda + m;
    as_point at = trial_point(s);
    memcpy(lambda, tilde + n, (size_t)s->kin->redundancy.rows * sizeof(double));
    const as_status status = asi_see_least_norm(s, lambda, psi);
    if (status) return status;
    at.lambda = lambda;
    at.psi = psi;
    return asi_eval_function(&s->kin->eval, ASI_FN_F, &at, s->kin->block, out);
  }
  memcpy(out, f1, (size_t)n * sizeof(double));
  asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], s->kin->block[AS_BLOCK_G_Q].value,
                                     1.0, s->next.lambda, out);
  asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], s->kin->block[AS_BLOCK_G_Q].value,
                                     -1.0, tilde + n, out);
  if (p->def.n_psi > 0) {
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], s->kin->block[AS_BLOCK_K_V].value,
                                       1.0, s->next.psi, out);
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], s->kin->block[AS_BLOCK_K_V].value,
                                       -1.0, tilde + n + m, out);
  }
  return AS_OK;
}

/// [SO.2] R = (1 - alpha_m) M_1 a_1 + alpha_m p - (1 - alpha_f) f_1 - alpha_f f_0
static void weighted_residual(const asi_stepper *s, const double *a, const double *f, double *r) {
  const double am = s->c.alpha_m, af = s->c.alpha_f;
  for (int i = 0; i < s->kin->problem->n; ++i)
    r[i] = am * s->p0[i] - (1.0 - af) * f[i] - af * s->f0[i];
  asi_panels_multiply_add(&s->kin->problem->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value,
                          1.0 - am, a, r);
}

static as_status soi2_evaluate(asi_stepper *s, bool tangents) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, l = n + m, stride = stride_of(p);
  const double per_velocity = 1.0 / (s->c.gamma * s->h);
  const double per_position = 1.0 / (s->c.beta * s->h * s->h);
  double *r = s->residual, *r_tilde = r + stride, *f = s->work_n;
  const int k = p->def.n_psi;
  as_statistics *log = &s->kin->statistics;
  asi_left *left = &s->left;
  update(s);
  as_status status = asi_see_least_norm(s, s->next.lambda, s->next.psi);
  if (status) return status;
  as_point at = trial_point(s);
  // M_1 is that of another point.
  s->at_trial = equation_blocks(s) | (tangents ? asi_system_blocks(s->active) : 0);
  s->at_trial &= ~AS_BLOCK_BIT(AS_BLOCK_M);
  double *const out[ASI_FUNCTIONS] = {[ASI_FN_F] = f,
                                      [ASI_FN_G] = has_tilde(s) ? r_tilde + n : NULL,
                                      [ASI_FN_GDOT] = has_tilde(s) ? r + n : NULL,
                                      [ASI_FN_K] = p->def.n_psi > 0 ? r + l : NULL};
  status = asi_functions(s->kin, &at, out, s->at_trial);
  if (status == AS_OK && s->first && s->def->soi2.implicit_start) {
    // [SO.9] first step: p = M_alpha a = (1 - D) f_0 + D f_1, followed from iterate to iterate
    for (int i = 0; i < n; ++i) s->p0[i] = (1.0 - s->D) * s->f0[i] + s->D * f[i];
    status = solve_mass(s, s->p0, s->a0);
  }
  if (status) return status;
  log->position_residual = log->velocity_residual = 0.0;
  weighted_residual(s, s->z, f, r);
  log->dynamics_residual = asi_max_abs(r, n);
  *left = (asi_left){.dynamics = asi_max_force(p, r)};
  if (has_tilde(s)) {
    status = tilde_force(s, f, r_tilde); // r_tilde holds f~ for a moment
    if (status) return status;
    memcpy(f, r_tilde, (size_t)n * sizeof(double));
    weighted_residual(s, s->z + stride, f, r_tilde);
    asi_finish_rows(s->kin, r + n, 0, m, per_velocity, &log->velocity_residual, &left->velocity);
    asi_finish_rows(s->kin, r_tilde + n, 0, m, per_position, &log->position_residual,
                    &left->position);
  }
  asi_finish_rows(s->kin, r + l, m, k, per_velocity, &log->velocity_residual, &left->velocity);
  if (has_tilde(s) && p->def.n_psi > 0) {
    at.v = s->v_tilde;
    status = asi_eval_function(&s->kin->eval, ASI_FN_K, &at, s->kin->block, r_tilde + l);
    if (status) return status;
    asi_finish_rows(s->kin, r_tilde + l, m, k, per_velocity, &log->velocity_residual,
                    &left->velocity);
  }
  for (int i = 0; i < s->unknowns && s->kin->compliance > 0.0; ++i) // [RE.3]
    if (i % stride >= n)
      r[i] -= s->kin->compliance * s->kin->redundancy.inverse_d2[i % stride - n] * s->z[i];
  return status;
}

/// Assembles the matrix that is in use, at the trial.
static as_status soi2_assemble(asi_stepper *s) {
  const int stride = stride_of(s->kin->problem), n = s->kin->problem->n;
  const as_point at = trial_point(s);
  asi_system *system = s->active;
  const as_status status = asi_blocks(s->kin, &at, asi_system_blocks(system) & ~s->at_trial);
  if (status) return status;
  asi_tangent_map_update(&s->kin->tangent, s->kin->problem, s->xi, NULL);
  asi_system_assemble(system, s->kin->block, &s->kin->tangent);
  for (int i = 0; i < system->size && s->kin->compliance > 0.0; ++i)
    if (i % stride >= n)
      system->value[system->diagonal[i]] -=
          s->kin->compliance * s->kin->redundancy.inverse_d2[i % stride - n];
  return AS_OK;
}

static as_status soi2_linearize(asi_stepper *s, bool again) {
  // Stiff forces spoil the shared matrix, at every step.
  if (s->active == &s->shared &&
      (again ||
       (s->history.fresh_seen && s->history.fresh_contraction > s->expert.soi2_contraction))) {
    s->active = &s->step;
    s->history.fresh_seen = false;
    s->history.fresh_contraction = 0.1;
    s->history.factor_ages_left = 0;
  }
  s->at_trial |= AS_BLOCK_BIT(AS_BLOCK_M); // M_1 is at hand
  const as_status status = soi2_assemble(s);
  return status ? status : asi_factor_shared(s->kin, s->active, s->t1, "a step");
}

static as_status soi2_solve(asi_stepper *s, double *b) {
  const as_status status = asi_solve(s->kin, s->active, s->t1, b);
  if (status || s->active == &s->step) return status;
  return asi_solve(s->kin, s->active, s->t1, b + stride_of(s->kin->problem)); // the tilde stage
}

static void soi2_accept(asi_stepper *s) {
  const int n = s->kin->problem->n;
  const asi_values old = s->now;
  memcpy(s->a_before, s->a0, (size_t)n * sizeof(double));
  memcpy(s->p_before, s->p0, (size_t)n * sizeof(double));
  memset(s->p, 0, (size_t)n * sizeof(double));
  asi_panels_multiply_add(&s->kin->problem->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value,
                          1.0, s->next.a, s->p);
  asi_predictor_learn(&s->predictor, s->t1, s->z);
  s->z = asi_predictor_push(&s->predictor, s->t1, s->z);
  s->now = s->next;
  s->next = old;
  s->a_offset = s->d1;
}

static void soi2_solver_info(const asi_stepper *s, asi_solver_info *out) {
  s->active->solver->ops->info(s->active->solver, out);
  if (s->active == &s->shared) out->solve_operations *= 2.0; // one for each stage
}

const asi_method asi_method_soi2 = {.name = "SOI2",
                                    .position_stage = 1,
                                    .create = soi2_create,
                                    .begin = soi2_begin,
                                    .predict = soi2_predict,
                                    .evaluate = soi2_evaluate,
                                    .linearize = soi2_linearize,
                                    .solve = soi2_solve,
                                    .update = update,
                                    .accept = soi2_accept,
                                    .solver_info = soi2_solver_info};
