/// The stepper's memory and coefficients.
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/stepper/stepper.h"

static as_status choose_coefficients(asi_stepper *s, as_error *error) {
  const as_coefficients *given = &s->def->coefficients;
  as_status status = AS_OK;
  s->c = *given;
  if (isnan(given->alpha_m) && isnan(given->alpha_f) && isnan(given->beta) && isnan(given->gamma))
    status = as_coefficients_chung_hulbert(s->def->rho_inf, &s->c, error);
  if (status == AS_OK && s->def->check_coefficients) status = as_coefficients_check(&s->c, error);
  if (status) return status;
  const as_problem *p = s->kin->problem;
  if (!(isfinite(s->c.alpha_m) && isfinite(s->c.alpha_f) && isfinite(s->c.beta) &&
        isfinite(s->c.gamma) && s->c.beta >= 0.0 && s->c.gamma > 0.0 && s->c.alpha_m < 1.0 &&
        s->c.alpha_f < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "coefficients",
                    "alpha_m = %g and alpha_f = %g must be below 1, beta = %g not negative and "
                    "gamma = %g positive.",
                    s->c.alpha_m, s->c.alpha_f, s->c.beta, s->c.gamma);
  if (s->c.beta == 0.0 && p->def.n_lambda > 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "beta",
                    "beta = 0 (an explicit position update) cannot satisfy %d holonomic "
                    "constraints: choose beta > 0.",
                    p->def.n_lambda);
  s->D = s->c.alpha_m - s->c.alpha_f;
  if (p->def.n_lambda > 0 && s->def->method == AS_METHOD_INDEX3 &&
      (s->D >= 0.0 || s->c.beta <= 0.25 - 0.5 * s->D))
    asi_log(s->kin, AS_LOG_WARNING,
            "These coefficients do not damp high frequencies (as with rho_inf = 1): errors of "
            "index-3 multipliers will oscillate and not die out.");
  return AS_OK;
}

static as_status choose_state_coefficients(asi_stepper *s, as_error *error) {
  const as_state_coefficients *given = &s->def->state_coefficients;
  const double rho = isnan(s->def->state_rho_inf) ? s->def->rho_inf : s->def->state_rho_inf;
  as_status status = AS_OK;
  s->cx = *given;
  if (isnan(given->delta_m) && isnan(given->delta_f) && isnan(given->theta))
    status = as_coefficients_jansen(rho, &s->cx, error);
  if (status == AS_OK && s->def->check_coefficients)
    status = as_state_coefficients_check(&s->cx, error);
  if (status) return status;
  if (!(s->cx.delta_m < 1.0 && s->cx.delta_f < 1.0 && s->cx.theta > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "state_coefficients",
                    "delta_m = %g and delta_f = %g must be below 1, theta = %g positive.",
                    s->cx.delta_m, s->cx.delta_f, s->cx.theta);
  s->Dx = s->cx.delta_m - s->cx.delta_f;
  return AS_OK;
}

/// [NW.13] how errors of v' ring on where q, in index-2 form v, is ruled by constraints
///
///     v'_n:  (1 - alpha_f) r + alpha_f = 0
///     q = 0:  beta r^2 + (1/2 + gamma - 2 beta) r + 1/2 - gamma + beta = 0,   v = 0:  gamma r + 1 - gamma = 0
static void set_parasitic_roots(asi_predictor *p, as_method method, const as_coefficients *c) {
  double rule[ASI_MOST_PARASITIC_ROOTS] = {1.0, (1.0 - c->gamma) / c->gamma};
  const double root = c->alpha_f / (1.0 - c->alpha_f);
  if (method == AS_METHOD_SOI2 || c->beta == 0.0) return;
  if (method == AS_METHOD_INDEX3) {
    rule[1] = (0.5 + c->gamma - 2.0 * c->beta) / c->beta;
    rule[2] = (0.5 - c->gamma + c->beta) / c->beta;
  }
  p->n_parasitic_roots = method == AS_METHOD_INDEX3 ? 3 : 2;
  p->parasitic_roots[0] = 1.0;
  for (int i = 1; i <= p->n_parasitic_roots; ++i)
    p->parasitic_roots[i] = (i < p->n_parasitic_roots ? rule[i] : 0.0) + root * rule[i - 1];
}

static const asi_method *const methods[] = {[AS_METHOD_INDEX3] = &asi_method_index3,
                                            [AS_METHOD_INDEX2] = &asi_method_index2,
                                            [AS_METHOD_SOI2] = &asi_method_soi2};

static as_status begin_calmly(asi_stepper *s, double h) {
  const as_status status = methods[s->def->method]->begin(s, h);
  if (s->jump.calm) s->vdot0 = s->calm_vdot; // [SA.9]
  return status;
}

static void accept_and_keep(asi_stepper *s) {
  methods[s->def->method]->accept(s);
  asi_jump_keep(s);
}

as_status asi_stepper_choose(asi_stepper *s, as_error *error) {
  const as_status status = choose_coefficients(s, error);
  s->method = methods[s->def->method];
  if (asi_jump_applies(s)) {
    s->keeping = *s->method;
    s->keeping.begin = begin_calmly;
    s->keeping.accept = accept_and_keep;
    s->method = &s->keeping;
  }
  return status || s->kin->problem->def.n_x == 0 ? status : choose_state_coefficients(s, error);
}

/// The arrays of index-2's eta.
static void lay_out_eta(asi_stepper *s, asi_layout *layout) {
  const as_problem *p = s->kin->problem;
  const asi_pattern *b = &p->pattern[AS_BLOCK_G_Q];
  const size_t n = (size_t)p->n, entries = (size_t)asi_pattern_nnz(b);
  if (s->def->method != AS_METHOD_INDEX2 || p->def.n_lambda == 0) return;
  s->eta_path = asi_layout_take(layout, n);
  s->eta_change = asi_layout_take(layout, n);
  s->b_n = (as_matrix){.rows = b->rows, .cols = b->cols, .col_start = b->col_start, .row = b->row};
  s->b_n.value = asi_layout_take(layout, entries);
  s->b_trial = asi_layout_take(layout, entries);
  s->metric = asi_layout_take(layout, entries);
}

size_t asi_stepper_unknowns(const asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, k = (size_t)p->def.n_psi;
  const size_t states = (size_t)p->def.n_x + (size_t)p->def.n_y;
  return s->def->method == AS_METHOD_SOI2 ? 2 * (n + m + k) : n + 2 * m + k + states;
}

void asi_stepper_lay_out(asi_stepper *s, asi_layout *layout) {
  const as_problem *p = s->kin->problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, k = (size_t)p->def.n_psi;
  const size_t nx = (size_t)p->def.n_x, ny = (size_t)p->def.n_y;
  const size_t unknowns = asi_stepper_unknowns(s);
  const size_t soi2 = s->def->method == AS_METHOD_SOI2 ? n : 0;
  const size_t watched = s->def->method == AS_METHOD_INDEX3 ? m : 0;
  asi_values_lay_out(&s->now, p, layout);
  asi_values_lay_out(&s->next, p, layout);
  asi_values_lay_out(&s->last.from, p, layout);
  asi_values_lay_out(&s->last.to, p, layout);
  s->last.xi = asi_layout_take(layout, n);
  for (int i = 0; i < 2; ++i) s->last.rate[i] = asi_layout_take(layout, n);
  s->last.middle = asi_layout_take(layout, s->def->order > 2 ? 2 * (2 * n + nx) : 0);
  s->last.u = asi_layout_take(layout, (size_t)p->def.n_u);
  s->last.norm_weight = asi_layout_take(layout, m + k);
  s->rate.vdot = asi_layout_take(layout, n);
  s->rate.lambda = asi_layout_take(layout, m);
  s->rate.psi = asi_layout_take(layout, k);
  s->rate.xdot = asi_layout_take(layout, nx);
  s->rate.y = asi_layout_take(layout, ny);
  s->calm_vdot = asi_layout_take(layout, n);
  s->calm_lambda = asi_layout_take(layout, m);
  s->calm_psi = asi_layout_take(layout, k);
  s->a_rate = asi_layout_take(layout, n);
  for (int i = 0; i < 3; ++i) s->parasite.past[i] = asi_layout_take(layout, watched);
  s->parasite.swing = asi_layout_take(layout, watched);
  for (int i = 0; i < ASI_PATH; ++i) s->path.mean[i] = asi_layout_take(layout, n);
  s->path.extra = asi_layout_take(layout, n);
  s->path.change = asi_layout_take(layout, n);
  s->path.extrapolated = asi_layout_take(layout, n);
  s->w0 = asi_layout_take(layout, nx);
  s->atol = asi_layout_take(layout, n);
  s->given_atol = asi_layout_take(layout, n);
  s->allowed = asi_layout_take(layout, 2 * n);
  s->v0 = asi_layout_take(layout, n);
  s->a0 = asi_layout_take(layout, n);
  s->xi = asi_layout_take(layout, n);
  lay_out_eta(s, layout);
  s->p = asi_layout_take(layout, soi2);
  s->p0 = asi_layout_take(layout, soi2);
  s->a_before = asi_layout_take(layout, soi2);
  s->p_before = asi_layout_take(layout, soi2);
  s->f0 = asi_layout_take(layout, soi2);
  s->v_tilde = asi_layout_take(layout, soi2);
  s->is_rotation = asi_layout_take(layout, n);
  s->weight = asi_layout_take(layout, n);
  s->work_n = asi_layout_take(layout, n);
  s->z = asi_layout_take(layout, unknowns);
  s->residual = asi_layout_take(layout, unknowns);
  s->increment = asi_layout_take(layout, unknowns);
  s->damping.z = asi_layout_take(layout, unknowns);
  s->damping.ordinary = asi_layout_take(layout, unknowns);
  s->damping.scale = asi_layout_take(layout, unknowns);
  s->kkt_rhs = asi_layout_take(layout, n + m + k + nx + ny);
  for (int i = 0; i < ASI_HISTORY; ++i) s->predictor.z[i] = asi_layout_take(layout, unknowns);
  asi_jump_lay_out(s, layout);
}

as_status asi_stepper_create(asi_stepper *s, as_error *error) {
  const as_problem *p = s->kin->problem;
  const double *const given = s->def->newton.atol_component;
  for (int i = 0; i < p->n; ++i) s->given_atol[i] = given ? given[i] : s->def->newton.atol;
  for (int i = 0; i < p->n; ++i) s->is_rotation[i] = p->is_rotation[i] ? 1.0 : 0.0;
  // What stands behind an odd number is not seen by comparisons.
  if (p->n % 2) s->is_rotation[p->n] = s->atol[p->n] = (double)NAN;
  const as_status status = s->method->create(s, error);
  s->predictor.size = s->unknowns;
  s->predictor.n = p->n;
  s->predictor.per = p->per_typical;
  set_parasitic_roots(&s->predictor, s->def->method, &s->c);
  if (status) return status;
  if (asi_jump_applies(s)) {
    const as_status made = asi_kinematics_make_start_system(s->kin, &s->jump.system, error);
    if (made) return made;
  }
  const size_t rows = (size_t)s->kin->redundancy.rows;
  s->last.inactive = asi_calloc(rows, sizeof(bool));
  s->last.implied = asi_calloc(rows, sizeof(bool));
  return s->last.inactive && s->last.implied ? AS_OK : asi_fail_memory(error);
}

void asi_stepper_free(asi_stepper *s) {
  asi_system_free(&s->step);
  asi_system_free(&s->shared);
  asi_system_free(&s->eta);
  asi_system_free(&s->jump.system);
  free(s->eta_part);
  free(s->last.inactive);
  free(s->last.implied);
}
