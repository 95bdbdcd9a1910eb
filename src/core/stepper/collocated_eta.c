/// Index-2: eta, which moves positions onto the constraints, its metric and B_n; and solutions where it is apart from the other
/// unknowns, [GA.14].
#include <string.h>

#include "base/error.h"
#include "core/stepper/collocated.h"

/// [GA.19] W_i = d_i^2 |M| / |M|_kind, with the largest M_ii d_i^2 of rotations of bodies for these, of all else for all else: eta
/// moves positions and rotations as inertia does, whatever the unit of length is. W = I, as in the literature, where typical sizes
/// are not given.
void asi_index2_metric(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const as_matrix *mass = &s->kin->block[AS_BLOCK_M];
  double largest[2] = {0.0, 0.0};
  for (int i = 0; i < p->n && asi_has_eta(s); ++i) {
    const int k = as_matrix_position(mass, i, i), kind = p->is_rotation[i];
    const double own = k >= 0 ? fabs(mass->value[k]) * p->typical[i] * p->typical[i] : 0.0;
    largest[kind] = fmax(largest[kind], own);
  }
  for (int i = 0; i < p->n && asi_has_eta(s); ++i) {
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
  return asi_has_eta(s) && (asi_equation_blocks(s) & AS_BLOCK_BIT(AS_BLOCK_G_Q));
}

/// [GA.17] B_n is taken from the last evaluation of the step before. That is where Newton's method stood before its last
/// increment: B_n is off by what that moves q, which a factor of eta, zero in the exact solution, makes even less.
void asi_index2_keep_b(asi_stepper *s) {
  if (asi_index2_keeps_b(s)) copy_b(s, s->b_trial);
}

void asi_index2_path(asi_stepper *s) {
  memset(s->eta_path, 0, (size_t)s->kin->problem->n * sizeof(double));
  asi_panels_multiply_transposed_add_by(s->kin->pool, &s->kin->problem->panels[AS_BLOCK_G_Q],
                                        s->b_n.value, 1.0, s->z + asi_step_layout_of(s).eta,
                                        s->eta_path);
}

/// After a singular position eta may hold anything that B_n^T did not see then. An eta that would move q
/// by more than a hundredth of a step is not believed: it is zero in the exact solution.
void asi_distrust_eta(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  asi_index2_path(s);
  if (s->h * asi_max_motion(p, s->eta_path) <= 0.01 * asi_max_motion(p, s->v0)) return;
  memset(s->z + asi_step_layout_of(s).eta, 0, (size_t)p->def.n_lambda * sizeof(double));
  memset(s->eta_path, 0, (size_t)p->n * sizeof(double));
}

/// B_n, where the last step has not left it.
as_status asi_find_b_n(asi_stepper *s) {
  const as_point point = {.t = s->t, .q = s->now.q};
  const as_status status = asi_blocks(s->kin, &point, AS_BLOCK_BIT(AS_BLOCK_G_Q));
  if (status) return status;
  copy_b(s, s->b_n.value);
  return AS_OK;
}

/// out += factor (block) x, if there is such a block.
static void add_product(const asi_stepper *s, as_block block, double factor, const double *x,
                        double *out) {
  if (s->kin->problem->present & AS_BLOCK_BIT(block))
    asi_panels_multiply_add_by(s->kin->pool, &s->kin->problem->panels[block],
                               s->kin->block[block].value, factor, x, out);
}

/// What d(eta/h) does to the other equations, by the blocks that the factors were made of.
static void couple_eta(asi_stepper *s, const double *eta, double *out) {
  const asi_step_layout at = asi_step_layout_of(s);
  const double h = s->h;
  double *moved = s->work_n; // q, for T B_n^T d(eta/h)
  memset(moved, 0, (size_t)s->kin->problem->n * sizeof(double));
  memset(out, 0, (size_t)s->shared.size * sizeof(double));
  asi_matrix_multiply_add(&s->kin->tangent.t_bt, 1.0, eta, moved);
  if (!s->shared.joins_inertia) add_product(s, AS_BLOCK_MA_Q, -h * h, moved, out);
  add_product(s, AS_BLOCK_F_Q, h * h, moved, out);
  add_product(s, AS_BLOCK_GDOT_Q, -h / s->gamma, moved, out + at.lambda);
  add_product(s, AS_BLOCK_K_Q, -h / s->gamma, moved, out + at.psi);
  add_product(s, AS_BLOCK_PHI_Q, h * h, moved, out + at.eta);
  add_product(s, AS_BLOCK_CHI_Q, h * h, moved, out + at.eta + s->kin->problem->def.n_x);
}

/// [NW.9] index-2: B_n^T d(eta/h) / beta is to q what an increment of v' is, and is measured like one, with
/// the round-off of positions
static double position_norm(asi_stepper *s, const double *eta) {
  const as_problem *p = s->kin->problem;
  memset(s->eta_change, 0, (size_t)p->n * sizeof(double));
  asi_panels_multiply_transposed_add_by(s->kin->pool, &p->panels[AS_BLOCK_G_Q], s->b_n.value, 1.0,
                                        eta, s->eta_change);
  return asi_weighted_norm(s, s->eta_change, s->c.beta, 4e-16 * s->q_size / (s->h * s->h));
}

/// [GA.14] first all but eta/h, then eta/h; and, as long as the blocks are those of the factors, once more the
/// others for what that eta/h does to them
static as_status solve_decoupled(asi_stepper *s, double *b) {
  const as_problem *p = s->kin->problem;
  const asi_step_layout at = asi_step_layout_of(s);
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  const size_t n_eta = (size_t)p->def.n_lambda * sizeof(double);
  const size_t states = (size_t)(at.size - at.x) * sizeof(double);
  double *eta = s->eta_part, *again = s->eta_part + p->def.n_lambda;
  memcpy(eta, b + at.eta, n_eta);
  memmove(b + at.eta, b + at.x, states);
  as_status status = asi_solve(s->kin, &s->shared, s->t1, b);
  if (status) return status;
  memset(s->work_n, 0, (size_t)p->n * sizeof(double));
  asi_panels_multiply_add_by(s->kin->pool, &s->kin->tangent.t_panels, s->kin->tangent.t.value, 1.0,
                             b, s->work_n);
  asi_panels_multiply_add_by(s->kin->pool, &p->panels[AS_BLOCK_G_Q],
                             s->kin->block[AS_BLOCK_G_Q].value, -kap, s->work_n, eta);
  status = asi_solve(s->kin, &s->eta, s->t1, eta);
  if (status == AS_OK) s->position_norm = position_norm(s, eta);
  if (status == AS_OK && s->factor_age == 0 && !(s->position_norm <= s->expert.eta_unseen)) {
    couple_eta(s, eta, again);
    status = asi_solve(s->kin, &s->shared, s->t1, again);
    for (int i = 0; i < s->shared.size; ++i) b[i] -= again[i];
  }
  memmove(b + at.x, b + at.eta, states);
  memcpy(b + at.eta, eta, n_eta);
  return status;
}

as_status asi_collocated_solve(asi_stepper *s, double *b) {
  if (s->active == &s->shared) return solve_decoupled(s, b);
  const as_status status = asi_solve(s->kin, &s->step, s->t1, b);
  if (status == AS_OK && asi_has_eta(s))
    s->position_norm = position_norm(s, b + asi_step_layout_of(s).eta);
  return status;
}

/// Index-2: of eta.
double asi_eta_norm(asi_stepper *s) {
  if (s->eta_path == NULL) return 0.0;
  for (int i = 0; i < s->kin->problem->n; ++i) s->eta_path[i] -= s->eta_change[i];
  return s->position_norm;
}

/// [NW.14] Eta, zero in the exact solution, is to move q no further than the step does: else the equations were solved, but
/// by something that is none of the motion.
as_status asi_check_eta(const asi_stepper *s) {
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
