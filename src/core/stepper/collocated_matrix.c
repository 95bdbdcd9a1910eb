/// The iteration matrix of the collocated methods: its terms, with eta/h or apart from it.
#include "base/error.h"
#include "core/stepper/collocated.h"

/// [GA.13] what first-order states and outputs add to the matrix, with kap_x = (1-delta_f)/(1-delta_m):
/// columns of x' and y in the equations of motion, -kap_x theta h f_x and -f_y; rows of x',
///   v': -(phi_v' + kap gamma h phi_v + kap beta h^2 phi_q T),  eta/h: h^2 phi_q T B_n^T,  lambda:
///   -phi_lambda,  psi: -phi_psi,  x': I - kap_x theta h phi_x,  y: -phi_y,
/// and of y alike with chi. The identities are put on the diagonal when the matrix is assembled.
static int list_state_terms(const asi_stepper *s, const asi_step_layout at, bool with_eta,
                            asi_term *term, int i) {
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
///
/// K is one block, -F_Q, where a problem joins its inertia to that.
int asi_list_terms(const asi_stepper *s, bool with_eta, asi_term *term) {
  const as_problem *p = s->kin->problem;
  const asi_step_layout at = asi_step_layout_with(p, with_eta ? p->def.n_lambda : 0);
  const double h = s->h, gamma = s->gamma, beta = s->c.beta;
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  int i = 0;
  // Columns of v'.
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_V, false, ASI_CHAIN_IDENTITY, -kap * gamma * h};
  term[i++] = (asi_term){0, 0, AS_BLOCK_M, false, ASI_CHAIN_IDENTITY, 1.0};
  if (!p->joins_inertia)
    term[i++] = (asi_term){0, 0, AS_BLOCK_MA_Q, false, ASI_CHAIN_T, kap * beta * h * h};
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_Q, false, ASI_CHAIN_T, -kap * beta * h * h};
  if (with_eta || !asi_is_stabilized(s))
    term[i++] = (asi_term){with_eta ? at.eta : at.lambda, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_T, kap};
  term[i++] = (asi_term){at.psi, 0, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, kap};
  term[i++] = (asi_term){at.psi, 0, AS_BLOCK_K_Q, false, ASI_CHAIN_T, kap * beta * h / gamma};
  if (asi_is_stabilized(s)) {
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
    if (!p->joins_inertia)
      term[i++] = (asi_term){0, at.eta, AS_BLOCK_MA_Q, false, ASI_CHAIN_T_BT, -h * h};
    term[i++] = (asi_term){0, at.eta, AS_BLOCK_F_Q, false, ASI_CHAIN_T_BT, h * h};
    term[i++] = (asi_term){at.eta, at.eta, AS_BLOCK_G_Q, false, ASI_CHAIN_T_BT, -1.0 / beta};
    term[i++] = (asi_term){at.lambda, at.eta, AS_BLOCK_GDOT_Q, false, ASI_CHAIN_T_BT, -h / gamma};
    term[i++] = (asi_term){at.psi, at.eta, AS_BLOCK_K_Q, false, ASI_CHAIN_T_BT, -h / gamma};
  }
  return list_state_terms(s, at, with_eta, term, i);
}

/// The matrix of all unknowns.
static as_status make_coupled(asi_stepper *s, as_error *error) {
  asi_term terms[ASI_MAX_TERMS];
  const int n_terms = asi_list_terms(s, asi_has_eta(s), terms);
  const as_status status =
      asi_system_init(&s->step, s->kin->problem, &s->kin->tangent,
                      asi_has_eta(s) ? ASI_UNKNOWNS_WITH_ETA : ASI_UNKNOWNS_ONE_STAGE, s->unknowns,
                      terms, n_terms, &s->kin->kkt, error);
  s->step.joins_inertia = s->kin->problem->joins_inertia;
  return status;
}

/// The matrix of eta/h, whose factor does not depend on the step.
static asi_term eta_term(const asi_stepper *s) {
  return (asi_term){0, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_T_BT, -1.0 / s->c.beta};
}

static as_status make_decoupled(asi_stepper *s, as_error *error) {
  const as_problem *p = s->kin->problem;
  asi_term terms[ASI_MAX_TERMS];
  const asi_term eta = eta_term(s);
  const int n_terms = asi_list_terms(s, false, terms);
  s->eta_part =
      asi_calloc((size_t)p->def.n_lambda + (size_t)asi_step_layout_with(p, 0).size, sizeof(double));
  if (s->eta_part == NULL) return asi_fail_memory(error);
  const as_status status =
      asi_system_init(&s->shared, p, &s->kin->tangent, ASI_UNKNOWNS_ONE_STAGE,
                      asi_step_layout_with(p, 0).size, terms, n_terms, &s->kin->kkt, error);
  s->shared.joins_inertia = p->joins_inertia;
  return status ? status
                : asi_system_init(&s->eta, p, &s->kin->tangent, ASI_UNKNOWNS_ETA, p->def.n_lambda,
                                  &eta, 1, NULL, error);
}

as_status asi_collocated_create(asi_stepper *s, as_error *error) {
  s->h = 1.0; // any: only the pattern counts here
  s->gamma = s->c.gamma;
  s->theta = s->cx.theta;
  s->unknowns = asi_step_layout_of(s).size;
  s->stages = 1;
  const bool decoupled = asi_has_eta(s) && s->unknowns >= ASI_MIN_SPARSE;
  s->active = decoupled ? &s->shared : &s->step;
  return decoupled ? make_decoupled(s, error) : make_coupled(s, error);
}

// A matrix without eta that contracts worse than decoupled_contraction is given up for the full one in this step; after ASI_ALWAYS_COUPLED such
// steps in a row, for good.

static void use_matrix(asi_stepper *s, asi_system *system) {
  s->active = system;
  s->history.fresh_seen = false;
  s->history.fresh_contraction = 0.1;
  s->history.factor_ages_left = 0;
}

/// Whether a system is large enough for eta to be solved for apart.
static bool is_large(const asi_stepper *s) { return asi_unknowns_that_count(s) >= ASI_MIN_SPARSE; }

/// Goes over to the matrix of all unknowns if the one without eta does not do.
static as_status choose_matrix(asi_stepper *s, bool again) {
  const bool slow =
      s->history.fresh_seen && s->history.fresh_contraction > s->expert.decoupled_contraction;
  if (s->active == &s->step || (is_large(s) && !(again || slow))) return AS_OK;
  const as_status status = asi_index2_couple(s, s->kin->eval.error);
  if (status == AS_OK) use_matrix(s, &s->step);
  return status;
}

/// Counts steps that took the full matrix, and goes back to the other one before the next.
void asi_return_to_decoupled(asi_stepper *s) {
  if (s->eta.solver == NULL || s->coupled_steps == ASI_ALWAYS_COUPLED) return;
  s->coupled_steps = s->active == &s->step ? s->coupled_steps + 1 : 0;
  if (s->active == &s->shared || s->coupled_steps == ASI_ALWAYS_COUPLED || !is_large(s)) return;
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
  asi_system_set_factors(&s->step, terms, asi_list_terms(s, true, terms));
  return AS_OK;
}

static as_status factor_eta(asi_stepper *s) {
  const int m = s->kin->problem->def.n_lambda, eta = asi_step_layout_of(s).eta;
  asi_system_assemble(&s->eta, s->kin->block, &s->kin->tangent);
  for (int i = 0; i < m && s->kin->compliance > 0.0; ++i)
    s->eta.value[s->eta.diagonal[i]] -= asi_softness(s, eta + i);
  return asi_factor(s->kin, &s->eta, s->t1, "a step");
}

/// Assembles the matrix that is in use, at the trial.
as_status asi_collocated_assemble(asi_stepper *s) {
  asi_system *system = s->active;
  const as_point point = asi_trial_point(s);
  const as_status status = asi_blocks(s->kin, &point, asi_system_blocks(system) & ~s->at_trial);
  if (status) return status;
  asi_tangent_map_update(&s->kin->tangent, s->kin->problem, s->xi, s->b_n.value ? &s->b_n : NULL);
  asi_system_assemble(system, s->kin->block, &s->kin->tangent);
  const bool with_eta = asi_has_eta(s) && system == &s->step;
  const asi_step_layout at =
      asi_step_layout_with(s->kin->problem, with_eta ? s->kin->problem->def.n_lambda : 0);
  for (int i = at.lambda; i < at.x && s->kin->compliance > 0.0; ++i)
    system->value[system->diagonal[i]] -= asi_softness(s, i);
  for (int i = at.x; i < at.size; ++i) system->value[system->diagonal[i]] += 1.0;
  return AS_OK;
}

as_status asi_collocated_linearize(asi_stepper *s, bool again) {
  as_status status = choose_matrix(s, again);
  if (status == AS_OK) status = asi_collocated_assemble(s);
  if (status == AS_OK) status = asi_factor_shared(s->kin, s->active, s->t1, "a step");
  return status || s->active == &s->step ? status : factor_eta(s);
}
