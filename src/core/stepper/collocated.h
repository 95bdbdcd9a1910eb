/// What the files of the collocated methods share, beside the stepper.
///
/// collocated.c         the equations of a step, and its end
/// collocated_start.c   where a step begins, and with what
/// collocated_matrix.c  the iteration matrix
/// collocated_eta.c     index-2: what moves positions onto the constraints
#ifndef ALPHASTEP_CORE_STEPPER_COLLOCATED_H
#define ALPHASTEP_CORE_STEPPER_COLLOCATED_H

#include <math.h>

#include "core/stepper/stepper.h"

/// Where each unknown starts in z; the equations of lambda, psi, eta, x' and y stand in the same places.
typedef struct asi_step_layout {
  int lambda, psi, eta, x, y, size;
} asi_step_layout;

static inline bool asi_is_stabilized(const asi_stepper *s) {
  return s->def->method == AS_METHOD_INDEX2;
}

static inline asi_step_layout asi_step_layout_with(const as_problem *p, int n_eta) {
  asi_step_layout at;
  at.lambda = p->n;
  at.psi = at.lambda + p->def.n_lambda;
  at.eta = at.psi + p->def.n_psi;
  at.x = at.eta + n_eta;
  at.y = at.x + p->def.n_x;
  at.size = at.y + p->def.n_y;
  return at;
}

static inline asi_step_layout asi_step_layout_of(const asi_stepper *s) {
  return asi_step_layout_with(s->kin->problem,
                              asi_is_stabilized(s) ? s->kin->problem->def.n_lambda : 0);
}

/// Whether there is an eta.
static inline bool asi_has_eta(const asi_stepper *s) {
  return asi_is_stabilized(s) && s->kin->problem->def.n_lambda > 0;
}

/// Whether two steps are the same, but for round-off.
static inline bool asi_same_step(double h1, double h2) { return fabs(h1 - h2) <= 1e-9 * h1; }

// collocated.c ------------------------------------------------------------------------------------

/// What callbacks are asked for in the trial.
as_point asi_trial_point(const asi_stepper *s);
/// [RE.3] what a multiplier may move the constraint in its place: e/d^2 for lambda and psi,
/// e L^2/(beta D^2) for eta/h
double asi_softness(const asi_stepper *s, int i);
/// The blocks that the equations themselves take at the trial.
as_block_set asi_equation_blocks(const asi_stepper *s);

// collocated_start.c ------------------------------------------------------------------------------

/// Sets d0, d1, gamma, v0 and a0 for a step of size h.
as_status asi_start_of_step(asi_stepper *s, double h);

// collocated_matrix.c -----------------------------------------------------------------------------

as_status asi_collocated_create(asi_stepper *s, as_error *error);
/// The terms of the matrix, [GA.8]; `with_eta` false leaves eta out, [GA.14].
int asi_list_terms(const asi_stepper *s, bool with_eta, asi_term *term);
/// Assembles the matrix that is in use, at the trial.
as_status asi_collocated_assemble(asi_stepper *s);
/// Assembles and factorizes it; `again`: in a step that had factors of its own before.
as_status asi_collocated_linearize(asi_stepper *s, bool again);
/// Counts steps that took the full matrix, and goes back to the other one before the next.
void asi_return_to_decoupled(asi_stepper *s);

// collocated_eta.c --------------------------------------------------------------------------------

/// B_n, where the last step has not left it.
as_status asi_find_b_n(asi_stepper *s);
/// After a singular position eta may hold anything that B_n^T did not see then. An eta that would move q
/// by more than a hundredth of a step is not believed: it is zero in the exact solution.
void asi_distrust_eta(asi_stepper *s);
/// Solves with the factors of the matrix in use.
as_status asi_collocated_solve(asi_stepper *s, double *b);
/// Index-2: of eta.
double asi_eta_norm(asi_stepper *s);
/// [NW.14] Eta, zero in the exact solution, is to move q no further than the step does: else the equations were solved, but
/// by something that is none of the motion.
as_status asi_check_eta(const asi_stepper *s);

#endif
