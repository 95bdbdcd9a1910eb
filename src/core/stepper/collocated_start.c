/// Where a step of a collocated method begins: offsets, gamma, v_0 and a_0, and what is corrected when steps change.
#include <string.h>

#include "base/simd.h"
#include "core/stepper/collocated.h"

/// [GA.5] d_{n+1} = (D h - alpha_m d_n) / (1 - alpha_m)
static double next_offset(const asi_stepper *s, double h, double d) {
  return (s->D * h - s->c.alpha_m * d) / (1.0 - s->c.alpha_m);
}

/// [GA.6] gamma_n = (h/2 - d_n) / (h + d_{n+1} - d_n), which is 1/2 - D for a constant step
static double second_order_gamma(const asi_stepper *s, double h, double d0, double d1) {
  const double nominal = s->c.gamma;
  if (fabs(d0 - s->D * h) <= 1e-9 * h) return nominal;
  return (h / 2.0 - d0) / (h + d1 - d0) + (nominal - (0.5 - s->D));
}

/// Two points to extrapolate from, before there are steps: the start, with this v', and the start less h times the
/// rates.
static void begin_history(asi_stepper *s, double h, const double *vdot) {
  const as_problem *p = s->kin->problem;
  const asi_step_layout at = asi_step_layout_of(s);
  asi_predictor_reset(&s->predictor);
  for (int back = 1; back >= 0; --back) {
    const double e = back * h;
    memset(s->z, 0, (size_t)at.size * sizeof(double));
    for (int i = 0; i < p->n; ++i) s->z[i] = vdot[i] - e * s->rate.vdot[i];
    for (int i = 0; i < p->def.n_lambda; ++i)
      s->z[at.lambda + i] = s->now.lambda[i] - e * s->rate.lambda[i];
    for (int i = 0; i < p->def.n_psi; ++i) s->z[at.psi + i] = s->now.psi[i] - e * s->rate.psi[i];
    for (int i = 0; i < p->def.n_x; ++i) s->z[at.x + i] = s->now.xdot[i] - e * s->rate.xdot[i];
    for (int i = 0; i < p->def.n_y; ++i) s->z[at.y + i] = s->now.y[i] - e * s->rate.y[i];
    asi_rows_clear(s->kin, s->z + at.lambda);
    s->z = asi_predictor_push(&s->predictor, s->t - e, s->z);
  }
}

/// [GA.12] dx_{n+1} = (D_x h - delta_m dx_n) / (1 - delta_m), theta_n = (h/2 - dx_n) / (h + dx_{n+1} - dx_n):
/// as d_n and gamma_n; and w_n, moved to D_x h instead where theta_n runs away
static void start_of_states(asi_stepper *s, double h) {
  const int nx = s->kin->problem->def.n_x;
  if (nx == 0) return;
  s->dx0 = s->first || !s->def->step_corrections ? s->Dx * h : s->w_offset;
  s->dx1 = (s->Dx * h - s->cx.delta_m * s->dx0) / (1.0 - s->cx.delta_m);
  s->theta = s->cx.theta;
  if (fabs(s->dx0 - s->Dx * h) > 1e-9 * h)
    s->theta += (h / 2.0 - s->dx0) / (h + s->dx1 - s->dx0) - (0.5 - s->Dx);
  memcpy(s->w0, s->now.w, (size_t)nx * sizeof(double));
  if (s->first || (s->theta >= 0.4 && s->theta <= 1.6 * s->cx.theta)) return;
  // x'' from x' and w of the last step would need more history; x' itself is at hand.
  for (int i = 0; i < nx; ++i) {
    const double rate = s->dx0 != 0.0 ? (s->now.w[i] - s->now.xdot[i]) / s->dx0 : 0.0;
    s->w0[i] = s->now.xdot[i] + s->Dx * h * rate;
  }
  s->dx0 = s->dx1 = s->Dx * h;
  s->theta = s->cx.theta;
}

// How often [ST.6] is improved with the factors of a step, and how fast that has to become better.
enum { MAX_REFINEMENTS = 12 };

/// What is missing in [ST.6]: r = -(M dv - f_lambda mu - f_psi nu) and kap (wanted - B dv), kap (wanted - k_v dv)
static void index3_residual(asi_stepper *s, const double *dv, const double *mu,
                            const double *wanted, double *r) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi;
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  memset(r, 0, (size_t)s->step.size * sizeof(double));
  asi_constraint_force(s->kin, mu, mu + m, r);
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value, 1.0, dv, r);
  asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], s->kin->block[AS_BLOCK_G_Q].value, 1.0, dv,
                          r + n);
  if (rows > m)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_K_V], s->kin->block[AS_BLOCK_K_V].value, 1.0, dv,
                            r + n + m);
  for (int i = 0; i < n; ++i) r[i] = -r[i];
  for (int i = 0; i < rows; ++i) {
    const double give = s->kin->compliance * s->kin->redundancy.inverse_d2[i] * mu[i];
    r[n + i] = kap * (wanted[i] - r[n + i] + give);
  }
}

/// The first of these, where dv and mu are zero.
static void index3_first_residual(const asi_stepper *s, const double *wanted, double *r) {
  const int n = s->kin->problem->n,
            rows = s->kin->problem->def.n_lambda + s->kin->problem->def.n_psi;
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  memset(r, 0, (size_t)s->step.size * sizeof(double));
  for (int i = 0; i < rows; ++i) r[n + i] = kap * wanted[i];
}

/// [GA.16] what a part of dv makes of v', |part| / (beta h), in tolerances of Newton's method: rotations of bodies and all
/// else are measured by the largest v' of their kind, or by dv itself, in typical sizes
static double effect(const asi_stepper *s, const double *part, const double *dv) {
  const as_problem *p = s->kin->problem;
  double largest[2] = {0.0, 0.0}, vdot[2] = {0.0, 0.0}, worst = 0.0;
  for (int i = 0; i < p->n; ++i) {
    const int kind = p->is_rotation[i];
    const double x = fabs(part[i]) * p->per_typical[i];
    const double size = fabs(s->now.vdot[i]) * p->per_typical[i];
    if (!(x <= largest[kind])) largest[kind] = x; // NaN, too
    if (size > vdot[kind]) vdot[kind] = size;
  }
  const double least = asi_max_motion(p, dv), by = s->c.beta * s->h;
  for (int kind = 0; kind < 2; ++kind)
    if (!(largest[kind] <= 0.0))
      worst = asi_max_nan(worst, largest[kind] / (s->newton_rtol * fmax(by * vdot[kind], least)));
  return worst;
}

/// What a first refinement will leave, if that was seen with factors of this step size that were at least as old.
static double expected_refining(const asi_stepper *s) {
  return s->factor_age <= s->history.refining_age && asi_same_step(s->factor_h, s->h)
             ? s->history.refining
             : 1.0;
}

/// [GA.16] whether the refinement r of dv, which changes v' by `change` tolerances, was the last one. Stiff directions come
/// slowly, and hide behind others: where there are any, dv itself has to be exact.
static bool is_refined(const asi_stepper *s, const double *r, const double *dv, double change,
                       double contraction) {
  if (s->path.stiff)
    return asi_max_motion(s->kin->problem, r) <=
           s->newton_rtol * asi_max_motion(s->kin->problem, dv);
  return change * contraction <=
         (contraction <= s->expert.refining_close ? s->expert.refining_enough : 1.0);
}

/// [ST.6] by the factors of a step, as long as they are close enough: its matrix differs by terms in h and by what has
/// changed since. *done: that has served.
static as_status refine_index3(asi_stepper *s, const double *vddot, bool *done) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, rows = p->def.n_lambda + p->def.n_psi;
  double *dv = s->z, *mu = dv + n, *r = s->residual; // z is found later
  double contraction = expected_refining(s), before = 0.0;
  as_status status = asi_index3_rows(s, vddot, s->v0);
  memset(dv, 0, (size_t)(n + rows) * sizeof(double));
  for (int i = 0; i < MAX_REFINEMENTS && status == AS_OK; ++i) {
    if (i == 0) index3_first_residual(s, s->kkt_rhs + n, r);
    if (i == 1) status = asi_index3_blocks(s, s->v0);
    if (i > 0 && status == AS_OK) index3_residual(s, dv, mu, s->kkt_rhs + n, r);
    if (status == AS_OK) status = asi_solve(s->kin, &s->step, s->t, r);
    if (status) break;
    for (int k = 0; k < n + rows; ++k) dv[k] += r[k];
    const double change = effect(s, r, dv);
    if (i > 0) contraction = change / before;
    if (i == 1) {
      s->history.refining = contraction;
      s->history.refining_age = s->factor_age;
    }
    *done = is_refined(s, r, dv, change, contraction);
    if (*done || (i > 0 && !(contraction <= s->expert.refining_slowest))) break;
    before = change;
  }
  for (int i = 0; i < n && *done && status == AS_OK; ++i) s->v0[i] += dv[i];
  return status;
}

static as_status correct_index3(asi_stepper *s, const double *vddot) {
  bool done = false;
  if (s->def->newton.reuse && !isnan(s->factor_h) && !asi_forces_see_least_norm(s->kin)) {
    const as_status status = refine_index3(s, vddot, &done);
    if (status) return status;
  }
  return done ? AS_OK : asi_index3_velocity(s, vddot, s->v0);
}

/// The matrix of a step, but where eta, which moves positions onto constraints and is nothing of the motion, moves nothing
/// else.
static as_status assemble_start(asi_stepper *s, bool dampers) {
  asi_term terms[ASI_MAX_TERMS];
  const bool with_eta = asi_has_eta(s) && s->active == &s->step;
  const asi_step_layout at = asi_step_layout_of(s);
  asi_system *system = s->active;
  asi_system_set_factors(system, terms, asi_list_terms(s, with_eta, terms));
  if (!dampers) asi_system_leave_out(system, AS_BLOCK_F_V);
  as_status status = with_eta ? asi_find_b_n(s) : AS_OK;
  if (status == AS_OK) status = asi_collocated_assemble(s);
  for (int j = at.eta; j < at.x && with_eta && status == AS_OK; ++j)
    for (int k = system->pattern.col_start[j]; k < system->pattern.col_start[j + 1]; ++k)
      if (system->pattern.row[k] < at.eta || system->pattern.row[k] >= at.x) system->value[k] = 0.0;
  return status;
}

/// Sets d0, d1, gamma, v0 and a0 for a step of size h.
as_status asi_start_of_step(asi_stepper *s, double h) {
  const as_problem *p = s->kin->problem;
  const bool index3 = s->def->method == AS_METHOD_INDEX3 && p->def.n_lambda > 0;
  as_status status = AS_OK;
  s->h = h;
  s->path.is_stiff = s->path.stiff;
  s->path.excites = s->path.excited;
  s->d0 = s->first || !s->def->step_corrections ? s->D * h : s->a_offset;
  s->d1 = next_offset(s, h, s->d0);
  s->gamma = second_order_gamma(s, h, s->d0, s->d1);
  start_of_states(s, h);
  memcpy(s->v0, s->now.v, (size_t)p->n * sizeof(double));
  const bool improved = s->first && s->def->improved_start;
  memcpy(s->a0, improved ? s->now.vdot : s->now.a, (size_t)p->n * sizeof(double));
  s->vdot0 = s->now.vdot;
  if (s->first) {
    status = asi_start_rates(s, h, h);
    if (status == AS_OK && improved) status = asi_calm_start(s, assemble_start);
    if (improved) memcpy(s->calm_vdot, s->a0, (size_t)p->n * sizeof(double));
    if (improved) s->vdot0 = s->calm_vdot;
    if (status == AS_OK) begin_history(s, h, s->vdot0);
    // [ST.7] a_0 = v'_0 + D h v''_0
    if (status == AS_OK && improved)
      for (int i = 0; i < p->n; ++i) s->a0[i] += s->D * h * s->rate.vdot[i];
    if (status == AS_OK && s->def->improved_start)
      for (int i = 0; i < p->def.n_x; ++i) s->w0[i] = s->now.xdot[i] + s->Dx * h * s->rate.xdot[i];
    if (status == AS_OK && s->def->perturbed_start && index3)
      status = asi_index3_velocity(s, s->rate.vdot, s->v0);
    return status;
  }
  if (!(s->gamma >= 0.4 && s->gamma <= 1.6 * s->c.gamma)) {
    // [GA.7] a run of shrinking steps: move a_n to where a constant step has it instead
    for (int i = 0; i < p->n; ++i) s->a0[i] += (s->D * h - s->d0) * s->a_rate[i];
    s->d0 = s->d1 = s->D * h;
    s->gamma = s->c.gamma;
  }
  // Once steps have changed, every step is corrected: offset and gamma take a while to settle.
  const bool changed = !asi_same_step(h, s->last_h);
  s->varies = s->varying || changed;
  // [GA.10] beyond the ratio up to which this is stable, v is only projected
  const bool with_lag = h <= s->last_h * s->c.beta / fabs(1.0 / 6.0 - s->c.beta - 0.5 * s->D);
  if (!s->varies || !s->def->step_corrections) return AS_OK;
  // Automatic steps begin with v that is right everywhere, and [ST.6] changes little of it.
  if (with_lag && s->controlled) status = asi_correct_stiff_modes(s, changed);
  if (index3 && status == AS_OK) status = correct_index3(s, with_lag ? s->a_rate : NULL);
  if (with_lag && !s->controlled && status == AS_OK) status = asi_correct_stiff_modes(s, changed);
  return status;
}
