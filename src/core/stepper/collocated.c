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
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"
#include "core/stepper/stepper.h"

/// Where each unknown starts in z; the equations of lambda, psi, eta, x' and y stand in the same places.
typedef struct layout {
  int lambda, psi, eta, x, y, size;
} layout;

static bool is_stabilized(const asi_stepper *s) { return s->def->method == AS_METHOD_INDEX2; }

static layout layout_with(const as_problem *p, int n_eta) {
  layout at;
  at.lambda = p->n;
  at.psi = at.lambda + p->def.n_lambda;
  at.eta = at.psi + p->def.n_psi;
  at.x = at.eta + n_eta;
  at.y = at.x + p->def.n_x;
  at.size = at.y + p->def.n_y;
  return at;
}

static layout layout_of(const asi_stepper *s) {
  return layout_with(s->kin->problem, is_stabilized(s) ? s->kin->problem->def.n_lambda : 0);
}

/// [GA.13] what first-order states and outputs add to the matrix, with kap_x = (1-delta_f)/(1-delta_m):
/// columns of x' and y in the equations of motion, -kap_x theta h f_x and -f_y; rows of x',
///   v': -(phi_v' + kap gamma h phi_v + kap beta h^2 phi_q T),  eta/h: h^2 phi_q T B_n^T,  lambda:
///   -phi_lambda,  psi: -phi_psi,  x': I - kap_x theta h phi_x,  y: -phi_y,
/// and of y alike with chi. The identities are put on the diagonal when the matrix is assembled.
static int list_state_terms(const asi_stepper *s, const layout at, bool with_eta, asi_term *term,
                            int i) {
  const as_problem *p = s->kin->problem;
  const double h = s->h, kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  if (p->def.n_x + p->def.n_y == 0) return i;
  const double kap_x = p->def.n_x > 0 ? (1.0 - s->cx.delta_f) / (1.0 - s->cx.delta_m) : 0.0;
  const double by_v = -kap * s->gamma * h, by_q = -kap * s->c.beta * h * h;
  const double by_x = -kap_x * s->theta * h;
  term[i++] = (asi_term){0, at.x, AS_BLOCK_F_X, false, ASI_CHAIN_IDENTITY, by_x};
  term[i++] = (asi_term){0, at.y, AS_BLOCK_F_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  const struct {
    int row;
    as_block q, v, vdot, lambda, psi, x, y;
  } functions[] = {{at.x, AS_BLOCK_PHI_Q, AS_BLOCK_PHI_V, AS_BLOCK_PHI_VDOT, AS_BLOCK_PHI_LAMBDA,
                    AS_BLOCK_PHI_PSI, AS_BLOCK_PHI_X, AS_BLOCK_PHI_Y},
                   {at.y, AS_BLOCK_CHI_Q, AS_BLOCK_CHI_V, AS_BLOCK_CHI_VDOT, AS_BLOCK_CHI_LAMBDA,
                    AS_BLOCK_CHI_PSI, AS_BLOCK_CHI_X, AS_BLOCK_CHI_Y}};
  for (int f = 0; f < 2; ++f) {
    const int row = functions[f].row;
    term[i++] = (asi_term){row, 0, functions[f].vdot, false, ASI_CHAIN_IDENTITY, -1.0};
    term[i++] = (asi_term){row, 0, functions[f].v, false, ASI_CHAIN_IDENTITY, by_v};
    term[i++] = (asi_term){row, 0, functions[f].q, false, ASI_CHAIN_T, by_q};
    term[i++] = (asi_term){row, at.lambda, functions[f].lambda, false, ASI_CHAIN_IDENTITY, -1.0};
    term[i++] = (asi_term){row, at.psi, functions[f].psi, false, ASI_CHAIN_IDENTITY, -1.0};
    term[i++] = (asi_term){row, at.x, functions[f].x, false, ASI_CHAIN_IDENTITY, by_x};
    term[i++] = (asi_term){row, at.y, functions[f].y, false, ASI_CHAIN_IDENTITY, -1.0};
    if (with_eta) term[i++] = (asi_term){row, at.eta, functions[f].q, false, ASI_CHAIN_T_BT, h * h};
  }
  return i;
}

/// [GA.8] the iteration matrix, with kap = (1 - alpha_f) / (1 - alpha_m), K = D_q (M v' - f):
///
///                v'                                       eta/h                 lambda     psi
///   M v'-f       M + kap (-gamma h f_v + beta h^2 K T)    -h^2 K T B_n^T        -f_lambda  -f_psi
///   g/(beta h^2) kap B T                                  -B T B_n^T / beta
///   g'/(gamma h) kap (B + (beta h/gamma) Z T)             -(h/gamma) Z T B_n^T
///   k/(gamma h)  kap (k_v + (beta h/gamma) k_q T)         -(h/gamma) k_q T B_n^T
///
/// [GA.14] Index-2, large systems: eta/h moves the other equations by h and h^2 only, so to leading order it
/// is found after the other unknowns, from its own, B T B_n^T d(eta/h) = beta (kap B T dv' - residual). The
/// matrix of the others is about that of index-3. `with_eta` false leaves eta out.
static int list_terms(const asi_stepper *s, bool with_eta, asi_term *term) {
  const as_problem *p = s->kin->problem;
  const layout at = layout_with(p, with_eta ? p->def.n_lambda : 0);
  const double h = s->h, gamma = s->gamma, beta = s->c.beta;
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  int i = 0;
  // Columns of v'.
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_V, false, ASI_CHAIN_IDENTITY, -kap * gamma * h};
  term[i++] = (asi_term){0, 0, AS_BLOCK_M, false, ASI_CHAIN_IDENTITY, 1.0};
  term[i++] = (asi_term){0, 0, AS_BLOCK_MA_Q, false, ASI_CHAIN_T, kap * beta * h * h};
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_Q, false, ASI_CHAIN_T, -kap * beta * h * h};
  if (with_eta || !is_stabilized(s))
    term[i++] = (asi_term){with_eta ? at.eta : at.lambda, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_T, kap};
  term[i++] = (asi_term){at.psi, 0, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, kap};
  term[i++] = (asi_term){at.psi, 0, AS_BLOCK_K_Q, false, ASI_CHAIN_T, kap * beta * h / gamma};
  if (is_stabilized(s)) {
    term[i++] = (asi_term){at.lambda, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_IDENTITY, kap};
    term[i++] =
        (asi_term){at.lambda, 0, AS_BLOCK_GDOT_Q, false, ASI_CHAIN_T, kap * beta * h / gamma};
  }
  // Columns of lambda and psi.
  if (p->def.force_kind == AS_FORCE_ADDITIVE) {
    term[i++] = (asi_term){0, at.lambda, AS_BLOCK_G_Q, true, ASI_CHAIN_IDENTITY, 1.0};
    term[i++] = (asi_term){0, at.psi, AS_BLOCK_K_V, true, ASI_CHAIN_IDENTITY, 1.0};
  } else {
    term[i++] = (asi_term){0, at.lambda, AS_BLOCK_F_LAMBDA, false, ASI_CHAIN_IDENTITY, -1.0};
    term[i++] = (asi_term){0, at.psi, AS_BLOCK_F_PSI, false, ASI_CHAIN_IDENTITY, -1.0};
  }
  // Columns of eta/h.
  if (with_eta) {
    term[i++] = (asi_term){0, at.eta, AS_BLOCK_MA_Q, false, ASI_CHAIN_T_BT, -h * h};
    term[i++] = (asi_term){0, at.eta, AS_BLOCK_F_Q, false, ASI_CHAIN_T_BT, h * h};
    term[i++] = (asi_term){at.eta, at.eta, AS_BLOCK_G_Q, false, ASI_CHAIN_T_BT, -1.0 / beta};
    term[i++] = (asi_term){at.lambda, at.eta, AS_BLOCK_GDOT_Q, false, ASI_CHAIN_T_BT, -h / gamma};
    term[i++] = (asi_term){at.psi, at.eta, AS_BLOCK_K_Q, false, ASI_CHAIN_T_BT, -h / gamma};
  }
  return list_state_terms(s, at, with_eta, term, i);
}

static bool has_eta(const asi_stepper *s) {
  return is_stabilized(s) && s->kin->problem->def.n_lambda > 0;
}

/// The matrix of all unknowns.
static as_status make_coupled(asi_stepper *s, as_error *error) {
  asi_term terms[ASI_MAX_TERMS];
  const int n_terms = list_terms(s, has_eta(s), terms);
  return asi_system_init(&s->step, s->kin->problem, &s->kin->tangent,
                         has_eta(s) ? ASI_UNKNOWNS_WITH_ETA : ASI_UNKNOWNS_ONE_STAGE, s->unknowns,
                         terms, n_terms, error);
}

/// The matrix of eta/h, whose factor does not depend on the step.
static asi_term eta_term(const asi_stepper *s) {
  return (asi_term){0, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_T_BT, -1.0 / s->c.beta};
}

static as_status make_decoupled(asi_stepper *s, as_error *error) {
  const as_problem *p = s->kin->problem;
  asi_term terms[ASI_MAX_TERMS];
  const asi_term eta = eta_term(s);
  const int n_terms = list_terms(s, false, terms);
  s->eta_part =
      asi_calloc((size_t)p->def.n_lambda + (size_t)layout_with(p, 0).size, sizeof(double));
  if (s->eta_part == NULL) return asi_fail_memory(error);
  const as_status status = asi_system_init(&s->shared, p, &s->kin->tangent, ASI_UNKNOWNS_ONE_STAGE,
                                           layout_with(p, 0).size, terms, n_terms, error);
  return status ? status
                : asi_system_init(&s->eta, p, &s->kin->tangent, ASI_UNKNOWNS_ETA, p->def.n_lambda,
                                  &eta, 1, error);
}

static as_status collocated_create(asi_stepper *s, as_error *error) {
  s->h = 1.0; // any: only the pattern counts here
  s->gamma = s->c.gamma;
  s->theta = s->cx.theta;
  s->unknowns = layout_of(s).size;
  s->stages = 1;
  const bool decoupled = has_eta(s) && s->unknowns >= ASI_MIN_SPARSE;
  s->active = decoupled ? &s->shared : &s->step;
  return decoupled ? make_decoupled(s, error) : make_coupled(s, error);
}

// ---- the start of a step ------------------------------------------------------------------------

static bool same_step(double h1, double h2) { return fabs(h1 - h2) <= 1e-9 * h1; }

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
  const layout at = layout_of(s);
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
#define REFINING 0.5
// What is left may change v' by one tolerance of Newton's method, or by ten where the factors are so close that a
// refinement leaves no more than this.
#define CLOSE 0.05
#define ENOUGH_IF_CLOSE 10.0

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
  return s->factor_age <= s->history.refining_age && same_step(s->factor_h, s->h)
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
  return change * contraction <= (contraction <= CLOSE ? ENOUGH_IF_CLOSE : 1.0);
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
    if (*done || (i > 0 && !(contraction <= REFINING))) break;
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

static as_status collocated_assemble(asi_stepper *s);
static as_status find_b_n(asi_stepper *s);

/// The matrix of a step, but where eta, which moves positions onto constraints and is nothing of the motion, moves nothing
/// else.
static as_status assemble_start(asi_stepper *s, bool dampers) {
  asi_term terms[ASI_MAX_TERMS];
  const bool with_eta = has_eta(s) && s->active == &s->step;
  const layout at = layout_of(s);
  asi_system *system = s->active;
  asi_system_set_factors(system, terms, list_terms(s, with_eta, terms));
  if (!dampers) asi_system_leave_out(system, AS_BLOCK_F_V);
  as_status status = with_eta ? find_b_n(s) : AS_OK;
  if (status == AS_OK) status = collocated_assemble(s);
  for (int j = at.eta; j < at.x && with_eta && status == AS_OK; ++j)
    for (int k = system->pattern.col_start[j]; k < system->pattern.col_start[j + 1]; ++k)
      if (system->pattern.row[k] < at.eta || system->pattern.row[k] >= at.x) system->value[k] = 0.0;
  return status;
}

/// Sets d0, d1, gamma, v0 and a0 for a step of size h.
static as_status start_of_step(asi_stepper *s, double h) {
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
  const bool changed = !same_step(h, s->last_h);
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

/// The blocks that the equations themselves take at the trial.
static as_block_set equation_blocks(const asi_stepper *s) {
  as_block_set needs =
      asi_eval_needs(s->kin->problem, ASI_FN_MA) | asi_eval_needs(s->kin->problem, ASI_FN_F);
  if (is_stabilized(s)) needs |= asi_eval_needs(s->kin->problem, ASI_FN_GDOT);
  return needs;
}

/// [GA.19] W_i = d_i^2 |M| / |M|_kind, with the largest M_ii d_i^2 of rotations of bodies for these, of all else for all else: eta
/// moves positions and rotations as inertia does, whatever the unit of length is. W = I, as in the literature, where typical sizes
/// are not given.
void asi_index2_metric(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const as_matrix *mass = &s->kin->block[AS_BLOCK_M];
  double largest[2] = {0.0, 0.0};
  for (int i = 0; i < p->n && has_eta(s); ++i) {
    const int k = as_matrix_position(mass, i, i), kind = p->is_rotation[i];
    const double own = k >= 0 ? fabs(mass->value[k]) * p->typical[i] * p->typical[i] : 0.0;
    largest[kind] = fmax(largest[kind], own);
  }
  for (int i = 0; i < p->n && has_eta(s); ++i) {
    const double of_kind = largest[p->is_rotation[i]];
    const bool known = p->def.typical != NULL && of_kind > 0.0; // they were given
    const double own = p->typical[i] * p->typical[i] * (known ? s->kin->mass_size / of_kind : 1.0);
    for (int k = s->b_n.col_start[i]; k < s->b_n.col_start[i + 1]; ++k) s->metric[k] = own;
  }
}

static void copy_b(const asi_stepper *s, double *restrict to) {
  const double *const restrict b = s->kin->block[AS_BLOCK_G_Q].value;
  const double *const restrict metric = s->metric;
  const int nnz = s->b_n.col_start[s->b_n.cols];
  for (int k = 0; k < nnz; ++k) to[k] = b[k] * metric[k];
}

bool asi_index2_keeps_b(const asi_stepper *s) {
  return has_eta(s) && (equation_blocks(s) & AS_BLOCK_BIT(AS_BLOCK_G_Q));
}

/// [GA.17] B_n is taken from the last evaluation of the step before. That is where Newton's method stood before its last
/// increment: B_n is off by what that moves q, which a factor of eta, zero in the exact solution, makes even less.
void asi_index2_keep_b(asi_stepper *s) {
  if (asi_index2_keeps_b(s)) copy_b(s, s->b_trial);
}

void asi_index2_path(asi_stepper *s) {
  memset(s->eta_path, 0, (size_t)s->kin->problem->n * sizeof(double));
  asi_panels_multiply_transposed_add(&s->kin->problem->panels[AS_BLOCK_G_Q], s->b_n.value, 1.0,
                                     s->z + layout_of(s).eta, s->eta_path);
}

/// After a singular position eta may hold anything that B_n^T did not see then. An eta that would move q
/// by more than a hundredth of a step is not believed: it is zero in the exact solution.
static void distrust_eta(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  asi_index2_path(s);
  if (s->h * asi_max_motion(p, s->eta_path) <= 0.01 * asi_max_motion(p, s->v0)) return;
  memset(s->z + layout_of(s).eta, 0, (size_t)p->def.n_lambda * sizeof(double));
  memset(s->eta_path, 0, (size_t)p->n * sizeof(double));
}

/// B_n, where the last step has not left it.
static as_status find_b_n(asi_stepper *s) {
  const as_point point = {.t = s->t, .q = s->now.q};
  const as_status status = asi_blocks(s->kin, &point, AS_BLOCK_BIT(AS_BLOCK_G_Q));
  if (status) return status;
  copy_b(s, s->b_n.value);
  return AS_OK;
}

static as_status collocated_begin(asi_stepper *s, double h) {
  asi_term terms[ASI_MAX_TERMS];
  as_status status = start_of_step(s, h);
  if (status) return status;
  asi_system_set_factors(s->active, terms,
                         list_terms(s, has_eta(s) && s->active == &s->step, terms));
  if (has_eta(s) && (s->first || s->b_lost || !asi_index2_keeps_b(s))) status = find_b_n(s);
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
  asi_rows_clear(s->kin, s->z + layout_of(s).lambda);
  for (int i = 0; i < s->kin->problem->def.n_lambda && has_eta(s) && s->kin->eval.n_left_out > 0;
       ++i)
    if (s->kin->eval.left_out[i]) s->z[layout_of(s).eta + i] = 0.0;
  if (has_eta(s)) distrust_eta(s);
}

// ---- the equations ------------------------------------------------------------------------------

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
  const layout at = layout_of(s);
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
  for (int i = 0; i < p->def.n_lambda && has_eta(s); ++i) next->eta[i] = h * s->z[at.eta + i];
  as_space_move(p->space, now->q, s->xi, next->q);
}

static as_point trial_point(const asi_stepper *s) {
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
static double softness(const asi_stepper *s, int i) {
  const layout at = layout_of(s);
  const asi_redundancy *r = &s->kin->redundancy;
  const double length = s->kin->problem->length;
  return i < at.eta ? s->kin->compliance * r->inverse_d2[i - at.lambda]
                    : s->kin->compliance * r->inverse_D2[i - at.eta] * length * length / s->c.beta;
}

static as_status collocated_evaluate(asi_stepper *s, bool tangents) {
  const as_problem *p = s->kin->problem;
  const layout at = layout_of(s);
  const int m = p->def.n_lambda;
  double *r = s->residual, *f = s->work_n, *g = r + (is_stabilized(s) ? at.eta : at.lambda);
  double *gdot = is_stabilized(s) ? r + at.lambda : NULL;
  as_statistics *log = &s->kin->statistics;
  assert(r != NULL);
  update(s);
  as_status status = asi_see_least_norm(s, s->next.lambda, s->next.psi);
  if (status) return status;
  const as_point point = trial_point(s);
  s->at_trial = equation_blocks(s) | (tangents ? asi_system_blocks(s->active) : 0);
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
    r[i] -= softness(s, i) * s->z[i];
  for (int i = at.x; i < at.size; ++i) r[i] = s->z[i] - r[i];
  return AS_OK;
}

// A matrix without eta that contracts worse than this is given up for the full one,
#define DECOUPLED_CONTRACTION 0.05
// in this step; after ASI_ALWAYS_COUPLED such steps in a row, for good.

static void use_matrix(asi_stepper *s, asi_system *system) {
  s->active = system;
  s->history.fresh_seen = false;
  s->history.fresh_contraction = 0.1;
  s->history.factor_ages_left = 0;
}

/// Goes over to the matrix of all unknowns if the one without eta does not do.
static as_status choose_matrix(asi_stepper *s, bool again) {
  const bool slow = s->history.fresh_seen && s->history.fresh_contraction > DECOUPLED_CONTRACTION;
  if (s->active == &s->step || !(again || slow)) return AS_OK;
  const as_status status = asi_index2_couple(s, s->kin->eval.error);
  if (status == AS_OK) use_matrix(s, &s->step);
  return status;
}

/// Counts steps that took the full matrix, and goes back to the other one before the next.
static void return_to_decoupled(asi_stepper *s) {
  if (s->eta.solver == NULL || s->coupled_steps == ASI_ALWAYS_COUPLED) return;
  s->coupled_steps = s->active == &s->step ? s->coupled_steps + 1 : 0;
  if (s->active == &s->shared || s->coupled_steps == ASI_ALWAYS_COUPLED) return;
  use_matrix(s, &s->shared);
  s->factor_h = (double)NAN;
}

as_status asi_index2_couple(asi_stepper *s, as_error *error) {
  asi_term terms[ASI_MAX_TERMS];
  if (s->step.solver == NULL) {
    const as_status status = make_coupled(s, error);
    if (status) asi_system_free(&s->step);
    return status;
  }
  asi_system_set_factors(&s->step, terms, list_terms(s, true, terms));
  return AS_OK;
}

static as_status factor_eta(asi_stepper *s) {
  const int m = s->kin->problem->def.n_lambda, eta = layout_of(s).eta;
  asi_system_assemble(&s->eta, s->kin->block, &s->kin->tangent);
  for (int i = 0; i < m && s->kin->compliance > 0.0; ++i)
    s->eta.value[s->eta.diagonal[i]] -= softness(s, eta + i);
  return asi_factor(s->kin, &s->eta, s->t1, "a step");
}

/// Assembles the matrix that is in use, at the trial.
static as_status collocated_assemble(asi_stepper *s) {
  asi_system *system = s->active;
  const as_point point = trial_point(s);
  const as_status status = asi_blocks(s->kin, &point, asi_system_blocks(system) & ~s->at_trial);
  if (status) return status;
  asi_tangent_map_update(&s->kin->tangent, s->kin->problem, s->xi, s->b_n.value ? &s->b_n : NULL);
  asi_system_assemble(system, s->kin->block, &s->kin->tangent);
  const bool with_eta = has_eta(s) && system == &s->step;
  const layout at = layout_with(s->kin->problem, with_eta ? s->kin->problem->def.n_lambda : 0);
  for (int i = at.lambda; i < at.x && s->kin->compliance > 0.0; ++i)
    system->value[system->diagonal[i]] -= softness(s, i);
  for (int i = at.x; i < at.size; ++i) system->value[system->diagonal[i]] += 1.0;
  return AS_OK;
}

static as_status collocated_linearize(asi_stepper *s, bool again) {
  as_status status = choose_matrix(s, again);
  if (status == AS_OK) status = collocated_assemble(s);
  if (status == AS_OK) status = asi_factor_shared(s->kin, s->active, s->t1, "a step");
  return status || s->active == &s->step ? status : factor_eta(s);
}

/// out += factor (block) x, if there is such a block.
static void add_product(const asi_stepper *s, as_block block, double factor, const double *x,
                        double *out) {
  if (s->kin->problem->present & AS_BLOCK_BIT(block))
    asi_panels_multiply_add(&s->kin->problem->panels[block], s->kin->block[block].value, factor, x,
                            out);
}

/// What d(eta/h) does to the other equations, by the blocks that the factors were made of.
static void couple_eta(asi_stepper *s, const double *eta, double *out) {
  const layout at = layout_of(s);
  const double h = s->h;
  double *moved = s->work_n; // q, for T B_n^T d(eta/h)
  memset(moved, 0, (size_t)s->kin->problem->n * sizeof(double));
  memset(out, 0, (size_t)s->shared.size * sizeof(double));
  asi_matrix_multiply_add(&s->kin->tangent.t_bt, 1.0, eta, moved);
  add_product(s, AS_BLOCK_MA_Q, -h * h, moved, out);
  add_product(s, AS_BLOCK_F_Q, h * h, moved, out);
  add_product(s, AS_BLOCK_GDOT_Q, -h / s->gamma, moved, out + at.lambda);
  add_product(s, AS_BLOCK_K_Q, -h / s->gamma, moved, out + at.psi);
  add_product(s, AS_BLOCK_PHI_Q, h * h, moved, out + at.eta);
  add_product(s, AS_BLOCK_CHI_Q, h * h, moved, out + at.eta + s->kin->problem->def.n_x);
}

// An increment of eta/h that moves q by less than this, in tolerances, need not be seen by the other equations: it moves
// them by less, if it is stiff springs that it stretches, or by much less.
#define NO_COUPLING 0.05

/// [NW.9] index-2: B_n^T d(eta/h) / beta is to q what an increment of v' is, and is measured like one, with
/// the round-off of positions
static double position_norm(asi_stepper *s, const double *eta) {
  const as_problem *p = s->kin->problem;
  memset(s->eta_change, 0, (size_t)p->n * sizeof(double));
  asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], s->b_n.value, 1.0, eta,
                                     s->eta_change);
  return asi_weighted_norm(s, s->eta_change, s->c.beta, 4e-16 * s->q_size / (s->h * s->h));
}

/// [GA.14] first all but eta/h, then eta/h; and, as long as the blocks are those of the factors, once more the
/// others for what that eta/h does to them
static as_status solve_decoupled(asi_stepper *s, double *b) {
  const as_problem *p = s->kin->problem;
  const layout at = layout_of(s);
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  const size_t n_eta = (size_t)p->def.n_lambda * sizeof(double);
  const size_t states = (size_t)(at.size - at.x) * sizeof(double);
  double *eta = s->eta_part, *again = s->eta_part + p->def.n_lambda;
  memcpy(eta, b + at.eta, n_eta);
  memmove(b + at.eta, b + at.x, states);
  as_status status = asi_solve(s->kin, &s->shared, s->t1, b);
  if (status) return status;
  memset(s->work_n, 0, (size_t)p->n * sizeof(double));
  asi_panels_multiply_add(&s->kin->tangent.t_panels, s->kin->tangent.t.value, 1.0, b, s->work_n);
  asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], s->kin->block[AS_BLOCK_G_Q].value, -kap,
                          s->work_n, eta);
  status = asi_solve(s->kin, &s->eta, s->t1, eta);
  if (status == AS_OK) s->position_norm = position_norm(s, eta);
  if (status == AS_OK && s->factor_age == 0 && !(s->position_norm <= NO_COUPLING)) {
    couple_eta(s, eta, again);
    status = asi_solve(s->kin, &s->shared, s->t1, again);
    for (int i = 0; i < s->shared.size; ++i) b[i] -= again[i];
  }
  memmove(b + at.x, b + at.eta, states);
  memcpy(b + at.eta, eta, n_eta);
  return status;
}

static as_status collocated_solve(asi_stepper *s, double *b) {
  if (s->active == &s->shared) return solve_decoupled(s, b);
  const as_status status = asi_solve(s->kin, &s->step, s->t1, b);
  if (status == AS_OK && has_eta(s)) s->position_norm = position_norm(s, b + layout_of(s).eta);
  return status;
}

// ---- the end of a step --------------------------------------------------------------------------

// With a larger rho_inf parasitic modes grow by themselves, a triple root at -1 like n^2, and where forces depend on multipliers the
// motion sees them.
#define LEAST_DAMPED 0.99

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
                        s->c.alpha_f > LEAST_DAMPED * (1.0 - s->c.alpha_f);
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
  return_to_decoupled(s);
}

static void collocated_solver_info(const asi_stepper *s, asi_solver_info *out) {
  asi_solver_info eta;
  s->active->solver->ops->info(s->active->solver, out);
  if (s->active != &s->shared) return;
  s->eta.solver->ops->info(s->eta.solver, &eta);
  out->solve_operations += eta.solve_operations;
  out->factor_operations += eta.factor_operations;
}

/// Index-2: of eta.
static double eta_norm(asi_stepper *s) {
  if (s->eta_path == NULL) return 0.0;
  for (int i = 0; i < s->kin->problem->n; ++i) s->eta_path[i] -= s->eta_change[i];
  return s->position_norm;
}

/// [NW.14] Eta, zero in the exact solution, is to move q no further than the step does: else the equations were solved, but
/// by something that is none of the motion.
static as_status check_eta(const asi_stepper *s) {
  const int n = s->kin->problem->n;
  if (s->eta_path == NULL) return AS_OK;
  const double *const per = s->kin->problem->per_typical;
  const double v =
      fmax(asi_max_motion(s->kin->problem, s->v0), asi_max_motion(s->kin->problem, s->next.v));
  const double most = s->h * v + 1e-6 * (1.0 + s->q_size);
  const double moved = s->h * s->h * asi_max_motion(s->kin->problem, s->eta_path);
  if (moved <= most) return AS_OK;
  int worst = 0;
  for (int i = 1; i < n; ++i)
    if (fabs(s->eta_path[i]) * per[i] > fabs(s->eta_path[worst]) * per[worst]) worst = i;
  char name[64];
  asi_component_name(s->kin->problem, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(s->kin->eval.error, AS_ERR_CONVERGENCE, s->t1, name,
                  "The step to t = %.9g s is too large: its equations were solved only by moving "
                  "%s by %.3g onto the constraints, the motion itself by %.3g at most.",
                  s->t1, name, moved * s->kin->problem->typical[worst],
                  most * s->kin->problem->typical[worst]);
}

const asi_method asi_method_index3 = {.name = "index-3",
                                      .position_stage = 0,
                                      .shared_is_exact = true,
                                      .create = collocated_create,
                                      .begin = collocated_begin,
                                      .predict = collocated_predict,
                                      .evaluate = collocated_evaluate,
                                      .linearize = collocated_linearize,
                                      .solve = collocated_solve,
                                      .update = update,
                                      .accept = collocated_accept,
                                      .solver_info = collocated_solver_info};
const asi_method asi_method_index2 = {.name = "index-2",
                                      .position_stage = -1,
                                      .shared_is_exact = true,
                                      .residuals_tell = true,
                                      .create = collocated_create,
                                      .begin = collocated_begin,
                                      .predict = collocated_predict,
                                      .evaluate = collocated_evaluate,
                                      .linearize = collocated_linearize,
                                      .solve = collocated_solve,
                                      .update = update,
                                      .accept = collocated_accept,
                                      .solver_info = collocated_solver_info,
                                      .other_norm = eta_norm,
                                      .check = check_eta};
