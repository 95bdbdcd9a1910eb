/// Where held signals change: accelerations and multipliers jump, and all that steps remember of them moves along.
///
/// At a sample q and v stay, and f jumps by df. With the dots of d/dt along the motion, and all of M, B, k_v at its point,
///
///     [SA.3]  M J + B^T L + k_v^T P = df,   B J = 0,   k_v J = 0
///
/// is what v', lambda and psi jump by. It is solved with the factors of the last step and refined with blocks that are at
/// hand. A step remembers more than v': a_n, which is v' at t_n + d_n, what multipliers and accelerations were before, which
/// the next ones are predicted from, and in index-3 form v, which is off the constraints by a multiple of v''. These need the
/// jump W of v'' in the directions that constraints rule, where nothing else would make it good:
///
///     [SA.4]  M W + B^T L' + k_v^T P' = 0,   B W = -3 (dB/dt) J - B [J,v],   k_v W = -2 (dk_v/dt) J - k_q J
///
/// In others a_n may be off by d_n W = O(h), which moves v by O(h^2), once for each jump. Then
///
///     [SA.5]  v' += J,   a += J + d_n W,   lambda += L,   psi += P,   z(t) += (J, L, P) + (t - t_n) (W, L', P')
///
/// and the method goes on as if it had always been on the new branch: it is linear in what is added, and its damping does
/// not notice. What a force of the same direction has brought about at the last samples is known as a polynomial in time
/// (response.c), which is the first guess, and with steps of one size saves most of the solutions.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"
#include "lie/space.h"

// Refining ends where what is left is below this share of Newton's tolerance for v', and is given up where one refinement leaves more
// than this of the one before: there springs are too stiff to be at once what they will be, [ST.10].
#define OF_TOLERANCE 0.3
#define SLOWEST_REFINING 0.3
enum { MOST_REFINEMENTS = 8 };
// What a refinement left before is expected of the next one with this margin, and never less than this.
#define CAREFUL 3.0
#define LEAST_CONTRACTION 1e-5

// ---- what is kept of a step -----------------------------------------------------------------------

static int entries(const as_problem *p, as_block block) {
  return p->present & AS_BLOCK_BIT(block) ? asi_pattern_nnz(&p->pattern[block]) : 0;
}

bool asi_jump_applies(const asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  return s->def->method != AS_METHOD_SOI2 && p->def.n_samplers > 0;
}

bool asi_jump_is_coupled(const asi_stepper *s) {
  const as_problem_def *def = &s->kin->problem->def;
  return def->force_kind == AS_FORCE_GENERAL || def->n_x + def->n_y > 0 || s->jump.stiff;
}

int asi_jump_size(const as_problem *p) {
  return p->n + p->def.n_lambda + p->def.n_psi + p->def.n_x + p->def.n_y;
}

size_t asi_jump_kept(const as_problem *p) {
  return (size_t)entries(p, AS_BLOCK_G_Q) + (size_t)entries(p, AS_BLOCK_K_V);
}

void asi_jump_lay_out(asi_stepper *s, asi_layout *layout) {
  const as_problem *p = s->kin->problem;
  if (!asi_jump_applies(s)) return;
  const size_t n = (size_t)p->n, stage = n + (size_t)p->def.n_lambda + (size_t)p->def.n_psi;
  const size_t all = (size_t)asi_jump_size(p);
  s->jump.shown = asi_layout_take(layout, all);
  s->jump.change = asi_layout_take(layout, all + n);
  s->jump.slope = asi_layout_take(layout, all + n + (size_t)p->def.n_lambda);
  s->jump.velocity = s->jump.slope ? s->jump.slope + all : NULL;
  s->jump.eta = s->jump.slope ? s->jump.velocity + n : NULL;
  s->jump.turned = asi_layout_take(layout, n);
  s->jump.row = asi_layout_take(layout, 2 * (stage - n));
  s->jump.force = asi_layout_take(layout, n);
  s->jump.guess = asi_layout_take(layout, all + n + (size_t)p->def.n_lambda);
  asi_response_lay_out(s, layout);
  s->jump.solution = asi_layout_take(layout, asi_stepper_unknowns(s));
  for (int i = 0; i < 2; ++i) s->jump.kept[i] = asi_layout_take(layout, asi_jump_kept(p));
}

void asi_jump_forget(asi_stepper *s) {
  s->jump.count = 0;
  s->jump.factor_age = 0;
  s->jump.seen_age = 0;
  s->jump.stiff = s->jump.calm = false;
  asi_coupled_forget(s);
  asi_response_forget(&s->jump.response);
}

static void copy_blocks(const asi_stepper *s, double *to) {
  const as_problem *p = s->kin->problem;
  const size_t b = (size_t)entries(p, AS_BLOCK_G_Q), k_v = (size_t)entries(p, AS_BLOCK_K_V);
  if (b > 0) memcpy(to, s->kin->block[AS_BLOCK_G_Q].value, b * sizeof(double));
  if (k_v > 0) memcpy(to + b, s->kin->block[AS_BLOCK_K_V].value, k_v * sizeof(double));
}

/// Whether the equations of a step take B and k_v: otherwise those at hand are older.
static bool evaluates_rows(const asi_stepper *s) {
  return s->kin->problem->def.force_kind == AS_FORCE_ADDITIVE;
}

void asi_jump_keep(asi_stepper *s) {
  double *const oldest = s->jump.kept[1];
  s->jump.calm = false;
  s->jump.kept[1] = s->jump.kept[0];
  s->jump.kept[0] = oldest;
  s->jump.t[1] = s->jump.t[0];
  s->jump.t[0] = s->t1;
  if (s->jump.count < 2) ++s->jump.count;
  if (evaluates_rows(s)) copy_blocks(s, oldest);
}

// ---- the jump ---------------------------------------------------------------------------------------

/// The factor of B in the rows of constraints.
static double of_rows(const asi_stepper *s) { return (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m); }

/// [GA.18] A triple root on the unit circle remembers what [SA.4] leaves away for ever: restarts end that.
static bool is_undamped(const asi_stepper *s) {
  return s->def->method == AS_METHOD_INDEX3 && s->kin->problem->def.n_lambda > 0 &&
         s->c.alpha_f > s->expert.parasite_rho * (1.0 - s->c.alpha_f);
}

/// Whether there are factors of a step like the next one, and nothing that a jump would have to be seen in besides.
bool asi_jump_is_possible(const asi_stepper *s) {
  return asi_jump_applies(s) && !s->first && !isnan(s->factor_h) && s->factor_compliance == 0.0 &&
         s->kin->compliance == 0.0 && s->jump.count == 2 && s->def->improved_start &&
         s->def->perturbed_start && !asi_forces_see_least_norm(s->kin) && !is_undamped(s);
}

/// out = (first part of the kept blocks) x: B x, then k_v x.
static void multiply_rows(const asi_stepper *s, const double *kept, const double *x, double *out) {
  const as_problem *p = s->kin->problem;
  const int m = p->def.n_lambda, rows = m + p->def.n_psi;
  memset(out, 0, (size_t)rows * sizeof(double));
  if (m > 0) asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], kept, 1.0, x, out);
  if (rows > m)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_K_V], kept + entries(p, AS_BLOCK_G_Q), 1.0, x,
                            out + m);
}

/// Solves with the factors at hand for motion f and rows c of [SA.3], both where they are given; x has room for all unknowns, and
/// v', lambda and psi come first in it.
static as_status solve(asi_stepper *s, const double *f, const double *c, double *x) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, rows = p->def.n_lambda + p->def.n_psi;
  const double by_row = of_rows(s);
  memset(x, 0, (size_t)s->active->size * sizeof(double));
  for (int i = 0; i < n && f; ++i) x[i] = f[i];
  for (int i = 0; i < rows && c; ++i) x[n + i] = by_row * c[i];
  return asi_solve(s->kin, s->active, s->t, x);
}

/// r = df - M J - B^T L - k_v^T P, c = -B J, -k_v J
static void find_rest(asi_stepper *s, const double *force, double *r, double *c) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda;
  const double *J = s->jump.change, *kept = s->jump.kept[0];
  memcpy(r, force, (size_t)n * sizeof(double));
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value, -1.0, J, r);
  if (m > 0) asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], kept, -1.0, J + n, r);
  if (p->def.n_psi > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], kept + entries(p, AS_BLOCK_G_Q),
                                       -1.0, J + n + m, r);
  multiply_rows(s, kept, J, c);
  for (int i = 0; i < m + p->def.n_psi; ++i) c[i] = -c[i];
}

static void add(double *restrict to, double factor, const double *restrict x, int n) {
  for (int i = 0; i < n; ++i) to[i] += factor * x[i];
}

/// What a refinement will leave, if that was seen with factors that were at least as old.
static double expected(const asi_stepper *s) {
  return s->jump.factor_age >= s->factor_age ? CAREFUL * s->jump.contraction : 1.0;
}

/// [SA.3], from a first guess where there is one; *share: what is left of it then. False: factors do not serve.
static bool find_change(asi_stepper *s, const double *force, bool guessed, double tolerance,
                        double *share) {
  const as_problem *p = s->kin->problem;
  const int stage = p->n + p->def.n_lambda + p->def.n_psi;
  double *const J = s->jump.change, *const x = s->jump.solution;
  const double of_state = asi_max_motion(p, s->now.vdot);
  double before = 0.0, contraction = expected(s);
  if (!guessed) memset(J, 0, (size_t)stage * sizeof(double));
  *share = 0.0;
  for (int i = 0; i < MOST_REFINEMENTS; ++i) {
    const bool rest = i > 0 || guessed;
    if (rest) find_rest(s, force, s->work_n, s->jump.row);
    if (solve(s, rest ? s->work_n : force, rest ? s->jump.row : NULL, x)) return false;
    add(J, 1.0, x, stage);
    const double size = asi_max_motion(p, x);
    if (size == 0.0) return true;
    if (i > 0) {
      contraction = size / before;
      s->jump.contraction = fmax(contraction, LEAST_CONTRACTION);
      s->jump.factor_age = s->factor_age;
    }
    if (i > 0 && !(contraction <= SLOWEST_REFINING)) return false;
    const double of_jump = asi_max_motion(p, J);
    *share = size * contraction / of_jump;
    if (size * contraction <= tolerance * fmax(of_state, of_jump)) return true;
    before = size;
  }
  return false;
}

/// The rows of [SA.4] in `c`, and B [v,J] of them.
static as_status find_slope_rows(asi_stepper *s, double *c, double *bracket) {
  const as_problem *p = s->kin->problem;
  const int m = p->def.n_lambda, rows = m + p->def.n_psi;
  const double *J = s->jump.change, per_h = 1.0 / (s->jump.t[0] - s->jump.t[1]);
  multiply_rows(s, s->jump.kept[1], J, c);
  multiply_rows(s, s->jump.kept[0], J, bracket);
  for (int i = 0; i < rows; ++i) c[i] = (i < m ? -3.0 : -2.0) * per_h * (bracket[i] - c[i]);
  as_space_bracket(p->space, s->now.v, J, s->jump.turned);
  multiply_rows(s, s->jump.kept[0], s->jump.turned, bracket);
  for (int i = 0; i < m; ++i) c[i] += bracket[i];
  if (rows == m || !(p->present & AS_BLOCK_BIT(AS_BLOCK_K_Q))) return AS_OK;
  const as_point at = asi_point_at_start(s, s->now.v);
  const as_status status = asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_K_Q));
  if (status == AS_OK)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_K_Q], s->kin->block[AS_BLOCK_K_Q].value, -1.0, J,
                            c + m);
  return status;
}

/// W, and index-2's eta/h, which makes up for the local error l of positions, -B B_n^T eta = B l/h:
/// what it jumps by is what B l/h^2 does.
static as_status solve_slope(asi_stepper *s, const double *c, const double *bracket) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, stage = n + m + p->def.n_psi;
  const double h = s->last_h, twelfth = h * h / 12.0, by_row = of_rows(s);
  const bool coupled = s->active->unknowns == ASI_UNKNOWNS_WITH_ETA;
  double *const x = s->jump.solution, *const e = s->jump.eta;
  for (int i = 0; i < m; ++i) e[i] = (s->path.lag * c[i] + twelfth * bracket[i]) / (s->c.beta * h);
  memset(x, 0, (size_t)s->active->size * sizeof(double));
  for (int i = n; i < stage; ++i) x[i] = by_row * c[i - n];
  for (int i = 0; i < m && coupled; ++i) x[stage + i] = x[n + i] + e[i];
  as_status status = asi_solve(s->kin, s->active, s->t, x);
  if (status) return status;
  memcpy(s->jump.slope, x, (size_t)stage * sizeof(double));
  const int others = asi_jump_size(p) - stage;
  memcpy(s->jump.slope + stage, x + s->active->size - others, (size_t)others * sizeof(double));
  if (coupled) memcpy(e, x + stage, (size_t)m * sizeof(double));
  return s->active == &s->shared && s->eta.solver ? asi_solve(s->kin, &s->eta, s->t, e) : AS_OK;
}

/// [SA.4], and what v jumps by in index-3 form.
static as_status find_slope(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi;
  double *const c = s->jump.row, *const bracket = c + rows, *const x = s->jump.solution;
  const double h = s->last_h, lag = s->path.lag, twelfth = h * h / 12.0;
  memset(s->jump.velocity, 0, (size_t)n * sizeof(double));
  memset(s->jump.eta, 0, (size_t)m * sizeof(double));
  if (rows == 0) memset(s->jump.slope, 0, (size_t)asi_jump_size(p) * sizeof(double));
  if (rows == 0) return AS_OK;
  as_status status = find_slope_rows(s, c, bracket);
  if (status == AS_OK) status = solve_slope(s, c, bracket);
  if (status) return status;
  if (s->def->method != AS_METHOD_INDEX3 || m == 0) return AS_OK;
  // [ST.6] B dv = B l/h
  for (int i = 0; i < rows; ++i) c[i] = i < m ? lag * c[i] + twelfth * bracket[i] : 0.0;
  status = solve(s, NULL, c, x);
  memcpy(s->jump.velocity, x, (size_t)n * sizeof(double));
  return status;
}

// ---- all that is remembered -----------------------------------------------------------------------

/// to += x + e y
static void add_line(double *restrict to, const double *restrict x, double e,
                     const double *restrict y, int n) {
  for (int i = 0; i < n; ++i) to[i] += x[i] + e * y[i];
}

static void move_predictions(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int stage = p->n + p->def.n_lambda + p->def.n_psi, others = asi_jump_size(p) - stage;
  for (int i = 0; i < s->predictor.count; ++i) {
    double *const z = s->predictor.z[i], e = s->predictor.t[i] - s->t;
    add_line(z, s->jump.change, e, s->jump.slope, stage);
    add_line(z + s->unknowns - others, s->jump.change + stage, e, s->jump.slope + stage, others);
    if (s->eta_path) add(z + stage, 1.0, s->jump.eta, p->def.n_lambda);
  }
}

/// What the path and parasitic modes are seen in.
static void move_path(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  double back = 0.0;
  for (int i = 0; i < s->path.count; ++i) {
    add(s->path.mean[i], -(back + 0.5 * s->path.h[i]), s->jump.change, p->n);
    back += s->path.h[i];
  }
  for (int i = 0; i < 3 && s->def->method == AS_METHOD_INDEX3; ++i)
    add(s->parasite.past[i], 1.0, s->jump.change + p->n, p->def.n_lambda);
}

/// [SA.5]; [SA.9] where the state jumps by another `shown`.
static void move_all(asi_stepper *s, const double *shown) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, states = n + m + p->def.n_psi;
  asi_values *now = &s->now;
  s->jump.calm = shown != s->jump.change;
  for (int i = 0; i < n && s->jump.calm; ++i) s->calm_vdot[i] = now->vdot[i] + s->jump.change[i];
  add(now->vdot, 1.0, shown, n);
  add_line(now->a, s->jump.change, s->a_offset, s->jump.slope, n);
  add(now->v, 1.0, s->jump.velocity, n);
  add(now->lambda, 1.0, shown + n, m);
  add(now->psi, 1.0, shown + n + m, p->def.n_psi);
  add(now->xdot, 1.0, shown + states, p->def.n_x);
  add(now->w, 1.0, s->jump.change + states, p->def.n_x);
  add(now->y, 1.0, shown + states + p->def.n_x, p->def.n_y);
  add(s->a_rate, 1.0, s->jump.slope, n);
  move_predictions(s);
  move_path(s);
}

/// Evaluates B and k_v at both ends of the last step: those at hand may be of a point within it.
static as_status evaluate_rows(asi_stepper *s) {
  const as_block_set rows = AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  const as_point from = {.t = s->last.t0, .q = s->last.from.q, .v = s->last.from.v};
  const as_point to = asi_point_at_start(s, s->now.v);
  s->jump.t[0] = s->t;
  s->jump.t[1] = s->last.t0;
  as_status status = asi_blocks(s->kin, &from, rows & s->kin->problem->present);
  if (status == AS_OK) copy_blocks(s, s->jump.kept[1]);
  if (status == AS_OK) status = asi_blocks(s->kin, &to, rows & s->kin->problem->present);
  if (status == AS_OK) copy_blocks(s, s->jump.kept[0]);
  return status;
}

/// J, refined from what responses make of it.
static as_status solve_for_change(asi_stepper *s, const double *force, double size,
                                  double tolerance, bool *done) {
  const as_point at = asi_point_at_start(s, s->now.v);
  const as_status status = asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_M));
  double share;
  *done = status == AS_OK &&
          find_change(s, force, s->jump.response.change.count > 0, tolerance, &share);
  if (*done) asi_response_learn_change(s, force, size, share, tolerance);
  return status;
}

/// W and what goes with it; all of it is zero without constraints.
static as_status solve_for_slope(asi_stepper *s, double size, bool *done) {
  const as_status status = find_slope(s);
  *done = status == AS_OK && isfinite(asi_max_motion(s->kin->problem, s->jump.slope)) &&
          isfinite(asi_max_motion(s->kin->problem, s->jump.velocity));
  if (*done) asi_response_learn_slope(s, size);
  return status;
}

/// `evaluates`: the same as that of asi_jump.
static as_status find_jump(asi_stepper *s, const double *force, double size, double tolerance,
                           bool evaluates, bool *done) {
  const asi_response *r = &s->jump.response;
  as_status status = evaluates ? evaluate_rows(s) : AS_OK;
  if (status) return status;
  asi_response_guess(s, size);
  const bool serves =
      !evaluates && asi_response_is_of_step(s) && asi_response_is_expected(s, force, size);
  const bool has_slope = serves && s->t <= r->slope.until;
  *done = serves && s->t <= r->change.until;
  if (!*done) status = solve_for_change(s, force, size, tolerance, done);
  if (*done && !has_slope) status = solve_for_slope(s, size, done);
  return status;
}

/// W and what goes with it, where v' does not jump.
static void clear_slope(asi_stepper *s) {
  const size_t size =
      (size_t)(asi_jump_size(s->kin->problem) + s->kin->problem->n + s->kin->problem->def.n_lambda);
  memset(s->jump.slope, 0, size * sizeof(double));
}

as_status asi_jump_all(asi_stepper *s, double rtol, bool evaluates, bool *done) {
  const as_problem *p = s->kin->problem;
  const double tolerance = OF_TOLERANCE * rtol;
  as_status status = evaluates || !evaluates_rows(s) ? evaluate_rows(s) : AS_OK;
  bool filtered = false;
  if (status == AS_OK) status = asi_coupled_change(s, tolerance, &filtered, done);
  if (status == AS_OK && *done) {
    if (asi_max_motion(p, s->jump.change) <= tolerance * asi_max_motion(p, s->now.vdot))
      clear_slope(s); // as where only states begin to change
    else
      status = find_slope(s);
  }
  *done = *done && status == AS_OK && isfinite(asi_max_motion(p, s->jump.slope)) &&
          isfinite(asi_max_motion(p, s->jump.velocity));
  s->jump.stiff = filtered;
  if (*done) move_all(s, filtered ? s->jump.shown : s->jump.change);
  return as_status_is_recoverable(status) ? AS_OK : status;
}

as_status asi_jump(asi_stepper *s, const double *force, double rtol, bool evaluates, bool *done) {
  const double size = asi_response_size(s, force);
  const as_status status = find_jump(s, force, size, OF_TOLERANCE * rtol, evaluates, done);
  if (*done) {
    move_all(s, s->jump.change);
    asi_response_follow(s, force, size);
    return AS_OK;
  }
  asi_response_forget(&s->jump.response);
  s->jump.stiff = true;
  return as_status_is_recoverable(status) ? AS_OK : status;
}
