/// Between steps: v', lambda, psi, x' and y from the equations of motion.
///
/// Dense output gives q, v and x anywhere in a step (interpolation.c). Step control keeps them within the tolerance; it does
/// not look at lambda, which may do anything while nothing moves. So what follows from q, v and x at a time is solved
/// for at that time, [ST.4], as at a start; straight lines between the ends are the first guess, and what is left where
/// there is no solution.
///
/// Steps must not notice: rows have linear systems of their own, and all else that such a solution changes is put back.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/denormals.h"
#include "base/error.h"
#include "core/driver/integrator.h"

// ---- what steps must not notice -------------------------------------------------------------------

static void swap(asi_system *a, asi_system *b) {
  const asi_system c = *a;
  *a = *b;
  *b = c;
}

static void swap_systems(as_integrator *s) {
  swap(&s->kin.kkt, &s->output.kkt);
  swap(&s->kin.consistent, &s->output.consistent);
  swap(&s->kin.projection, &s->output.projection);
}

static void forget_systems(as_integrator *s) {
  asi_system_forget(&s->kin.kkt);
  asi_system_forget(&s->kin.consistent);
  asi_system_forget(&s->kin.projection);
}

/// Blocks that steps do not evaluate anew before they use them: M, if it is constant, and what [NW.7] reads.
static const as_block kept[] = {AS_BLOCK_M, AS_BLOCK_F_LAMBDA, AS_BLOCK_F_PSI};

void asi_keep_blocks(as_integrator *s, bool back) {
  double *place = s->output.block;
  for (int i = 0; i < 3; ++i) {
    if (!(s->kin.problem->present & AS_BLOCK_BIT(kept[i]))) continue;
    const as_matrix *m = &s->kin.block[kept[i]];
    const size_t size = (size_t)m->col_start[m->cols];
    memcpy(back ? m->value : place, back ? place : m->value, size * sizeof(double));
    place += size;
  }
}

size_t asi_output_block_size(const as_problem *p) {
  size_t size = 0;
  for (int i = 0; i < 3; ++i)
    if (p->present & AS_BLOCK_BIT(kept[i])) size += (size_t)asi_pattern_nnz(&p->pattern[kept[i]]);
  return size;
}

void asi_output_begin(as_integrator *s, bool of_a_row, asi_output *was) {
  *was = (asi_output){.of_a_row = of_a_row,
                      .statistics = s->kin.statistics,
                      .mass_size = s->kin.mass_size,
                      .mass_known = s->kin.mass_known,
                      .compliance = s->kin.compliance,
                      .u = s->kin.eval.u,
                      .inactive = s->kin.eval.inactive,
                      .implied = s->kin.redundancy.implied,
                      .n_implied = s->kin.redundancy.n_implied,
                      .norm_weight = s->kin.redundancy.norm_weight,
                      .n_inactive = s->kin.eval.n_inactive,
                      .mode = asi_flush_denormals()};
  asi_keep_blocks(s, false);
  if (of_a_row) swap_systems(s);
  forget_systems(s); // one time does not depend on the others
  const bool is_left = s->stepper.last.known && s->stepper.last.jumped && s->state.t < s->stepper.t;
  if (!is_left) return;
  // Left of a jump constraints and parameters are those of the step.
  if (s->kin.problem->def.n_u > 0) s->kin.eval.u = s->stepper.last.u; // else there is none: NULL
  s->kin.eval.inactive = s->stepper.last.inactive;
  s->kin.eval.n_inactive = s->stepper.last.n_inactive;
  s->kin.redundancy.implied = s->stepper.last.implied;
  s->kin.redundancy.n_implied = s->stepper.last.n_implied;
  s->kin.redundancy.norm_weight = s->stepper.last.norm_weight;
  asi_rows_update(&s->kin, false);
  s->kin.compliance = s->stepper.last.compliance;
  s->kin.mass_known = false;
}

void asi_output_end(as_integrator *s, const asi_output *was) {
  forget_systems(s);
  if (was->of_a_row) swap_systems(s);
  asi_keep_blocks(s, true);
  s->kin.statistics = was->statistics; // output is not the integrator's work
  s->kin.mass_size = was->mass_size;
  s->kin.mass_known = was->mass_known;
  s->kin.compliance = was->compliance;
  s->kin.eval.u = was->u;
  s->kin.eval.inactive = was->inactive;
  s->kin.eval.n_inactive = was->n_inactive;
  s->kin.redundancy.implied = was->implied;
  s->kin.redundancy.n_implied = was->n_implied;
  s->kin.redundancy.norm_weight = was->norm_weight;
  asi_rows_update(&s->kin, false);
  asi_restore_denormals(was->mode);
}

// ---- the state between steps ----------------------------------------------------------------------

/// Copies what is solved for, and what may be moved before.
static void copy_shown(const as_problem *p, const asi_values *from, const asi_values *to) {
  const size_t nx = (size_t)p->def.n_x * sizeof(double);
  memcpy(to->q, from->q, (size_t)p->nq * sizeof(double));
  memcpy(to->v, from->v, (size_t)p->n * sizeof(double));
  memcpy(to->x, from->x, nx);
  memcpy(to->vdot, from->vdot, (size_t)p->n * sizeof(double));
  memcpy(to->lambda, from->lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(to->psi, from->psi, (size_t)p->def.n_psi * sizeof(double));
  memcpy(to->xdot, from->xdot, nx);
  memcpy(to->y, from->y, (size_t)p->def.n_y * sizeof(double));
}

// ---- constraints ----------------------------------------------------------------------------------

// [RE.4] What redundant rows need, and how often q and v are corrected with the same factors.
#define COMPLIANCE 1e-8
enum { MAX_CORRECTIONS = 5 };

/// What round-off may leave of constraints, in typical sizes.
static double round_off(double size) { return 64.0 * DBL_EPSILON * size; }

static double position_size(const as_integrator *s) {
  return fmax(1.0, asi_max_position(s->kin.problem, s->shown.q));
}

static double residual_size(const as_integrator *s, const double *r) {
  double largest = 0.0;
  for (int i = 0; i < s->kin.redundancy.rows; ++i)
    largest = asi_max_nan(largest, fabs(r[i]) * s->kin.redundancy.per_row[i]);
  return largest;
}

/// g, or g_t + B v and k, where q and v are shown; v may stand elsewhere.
static as_status look_at_rows(as_integrator *s, const double *v, bool of_v, double *out) {
  const as_problem *p = s->kin.problem;
  const as_point at = {.t = s->state.t, .q = s->shown.q, .v = v};
  const int m = p->def.n_lambda;
  as_block_set needs = 0;
  as_status status = AS_OK;
  memset(out, 0, (size_t)s->kin.redundancy.rows * sizeof(double));
  if (m > 0) needs |= asi_eval_needs(p, of_v ? ASI_FN_GDOT : ASI_FN_G);
  if (of_v && p->def.n_psi > 0) needs |= asi_eval_needs(p, ASI_FN_K);
  status = asi_blocks(&s->kin, &at, needs);
  if (status == AS_OK && m > 0)
    status = asi_eval_function(&s->kin.eval, of_v ? ASI_FN_GDOT : ASI_FN_G, &at, s->kin.block, out);
  if (status == AS_OK && of_v && p->def.n_psi > 0)
    status = asi_eval_function(&s->kin.eval, ASI_FN_K, &at, s->kin.block, out + m);
  return status;
}

static as_status factor_projection(as_integrator *s) {
  const as_point at = {.t = s->state.t, .q = s->shown.q, .v = s->shown.v};
  asi_system *system = asi_projection_system(&s->kin);
  const as_status status = asi_blocks(&s->kin, &at, asi_system_blocks(system));
  if (status) return status;
  asi_system_assemble(system, s->kin.block, &s->kin.tangent);
  asi_add_compliance(&s->kin, system, COMPLIANCE);
  return asi_factor(&s->kin, system, s->state.t, "a state between steps");
}

/// [DO.4] M d + B^T mu + k_v^T nu = 0, B d = -g, k_v d = 0; then B d = -(g_t + B v), k_v d = -k: onto the constraints, with the
/// least mass-weighted change. Corrections go on while they help, with the factors of the first.
static as_status correct(as_integrator *s, double *v, bool of_v, bool *factored) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, rows = s->kin.redundancy.rows;
  double *rhs = s->scratch.rhs, before = (double)INFINITY;
  for (int i = 0; i <= MAX_CORRECTIONS; ++i) {
    as_status status = look_at_rows(s, v, of_v, rhs + n);
    const double left = residual_size(s, rhs + n);
    const double speed = fmax(s->kin.eval.rate, asi_max_motion(p, v));
    const double least = round_off(of_v ? speed : position_size(s));
    if (status || left <= least || i == MAX_CORRECTIONS || !(left < 0.5 * before)) return status;
    if (!*factored) status = factor_projection(s);
    *factored = true;
    memset(rhs, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < rows; ++k) rhs[n + k] = -rhs[n + k];
    if (status == AS_OK)
      status = asi_solve(&s->kin, asi_projection_system(&s->kin), s->state.t, rhs);
    if (status) return status;
    for (int k = 0; k < n && of_v; ++k) v[k] += rhs[k];
    if (!of_v) as_space_move(p->space, s->shown.q, rhs, s->shown.q);
    before = left;
  }
  return AS_OK;
}

// In index-3 form dampers also see what brings v onto the constraints: what is stiff begins with this share of inertia.
#define STIFF_INDEX3 0.5

/// Whether springs and dampers have a part in a change of v to what it is here, by the matrix of the last step.
static bool dampers_see(as_integrator *s, const double *v) {
  double *d = s->scratch.unknowns;
  if (isnan(s->stepper.last.factor_h) || !(s->kin.problem->present & AS_BLOCK_BIT(AS_BLOCK_F_V)))
    return false;
  for (int i = 0; i < s->kin.problem->n; ++i) d[i] = v[i] - s->shown.v[i];
  return asi_stiff_share(&s->stepper, d) > STIFF_INDEX3;
}

/// [DO.4] Index-3: v is off its constraints by O(h^2), and the damper of a stiff spring would make much of the least change of
/// mass that brings it there: S d + B^T mu + k_v^T nu = 0 comes first, with the factors of the last step.
static as_status lead_velocity(as_integrator *s, double *v) {
  const as_problem *p = s->kin.problem;
  const double kap = (1.0 - s->stepper.c.alpha_f) / (1.0 - s->stepper.c.alpha_m);
  double *r = s->scratch.unknowns;
  memcpy(v, s->shown.v, (size_t)p->n * sizeof(double));
  memset(r, 0, (size_t)s->stepper.active->size * sizeof(double));
  as_status status = look_at_rows(s, v, true, r + p->n);
  for (int k = 0; k < s->kin.redundancy.rows; ++k) r[p->n + k] *= -kap;
  if (status == AS_OK) status = asi_solve(&s->kin, s->stepper.active, s->state.t, r);
  for (int i = 0; i < p->n && status == AS_OK; ++i) v[i] += r[i];
  return status;
}

/// Brings q and v onto the constraints; v may stand elsewhere, where it comes from what is shown.
static as_status project(as_integrator *s, double *v) {
  bool factored = false;
  as_status status = AS_OK;
  if (v != s->shown.v) memcpy(v, s->shown.v, (size_t)s->kin.problem->n * sizeof(double));
  if (s->kin.problem->def.n_lambda > 0) status = correct(s, v, false, &factored);
  if (status == AS_OK && s->kin.redundancy.rows > 0) status = correct(s, v, true, &factored);
  if (status || s->def.method != AS_METHOD_INDEX3 || !factored || !dampers_see(s, v)) return status;
  status = lead_velocity(s, v);
  return status ? status : correct(s, v, true, &factored);
}

// ---- stiff directions -----------------------------------------------------------------------------
//
// A spring that no step resolves makes of an interpolation error of q, small as it is, a force without meaning. Its force
// is right at the ends of steps, and in between where the straight lines of v', lambda and psi say. So q is led back to where
// it has that force, in stiff directions only, before anything is solved for.

// Springs and dampers that have more than STIFF times what inertia has in what is left are stiff: with about 14 times as much
// the cubic's error makes a larger error of v' than a straight line does. They are no longer where they have less than LEFT;
// each return divides their part by one plus what they have. What is left beside them stays, but must not grow.
#define STIFF 4.0
// A step that is about as long as a period: kap beta (2 pi)^2 is 10 and more.
#define PERIOD 8.0
#define LEFT 0.1
enum { MAX_RETURNS = 6, MAX_HALVINGS = 6 };

/// By how much q, v and x of a step move with v', v' and x'.
typedef struct reach {
  double q, v, x;
} reach;

static reach reach_of(const as_integrator *s) {
  const double h = s->stepper.last.h,
               kap = (1.0 - s->stepper.c.alpha_f) / (1.0 - s->stepper.c.alpha_m);
  const double kap_x =
      s->kin.problem->def.n_x > 0
          ? (1.0 - s->stepper.cx.delta_f) / (1.0 - s->stepper.cx.delta_m) * s->stepper.cx.theta
          : 0.0;
  return (reach){kap * s->stepper.c.beta * h * h, kap * s->stepper.c.gamma * h, kap_x * h};
}

/// [DO.3] S: [ST.8], the matrix of [ST.4], with what q, v and x bring in
static int stiff_terms(const as_problem *p, reach by, asi_term *term) {
  const int x = p->n + p->def.n_lambda + p->def.n_psi, y = x + p->def.n_x;
  int i = asi_consistent_terms(p, term);
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_V, false, ASI_CHAIN_IDENTITY, -by.v};
  term[i++] = (asi_term){0, 0, AS_BLOCK_MA_Q, false, ASI_CHAIN_IDENTITY, by.q};
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_Q, false, ASI_CHAIN_IDENTITY, -by.q};
  term[i++] = (asi_term){0, x, AS_BLOCK_F_X, false, ASI_CHAIN_IDENTITY, -by.x};
  term[i++] = (asi_term){x, 0, AS_BLOCK_PHI_Q, false, ASI_CHAIN_IDENTITY, -by.q};
  term[i++] = (asi_term){x, 0, AS_BLOCK_PHI_V, false, ASI_CHAIN_IDENTITY, -by.v};
  term[i++] = (asi_term){x, x, AS_BLOCK_PHI_X, false, ASI_CHAIN_IDENTITY, -by.x};
  term[i++] = (asi_term){y, 0, AS_BLOCK_CHI_Q, false, ASI_CHAIN_IDENTITY, -by.q};
  term[i++] = (asi_term){y, 0, AS_BLOCK_CHI_V, false, ASI_CHAIN_IDENTITY, -by.v};
  term[i++] = (asi_term){y, x, AS_BLOCK_CHI_X, false, ASI_CHAIN_IDENTITY, -by.x};
  return i;
}

/// Where v', lambda, psi, x' and y are straight lines, at the q and x that are shown and at v.
static as_point point_on_lines(const as_integrator *s, const double *v) {
  const asi_values *at = &s->shown, *lines = &s->output.lines;
  return (as_point){.t = s->state.t,
                    .q = at->q,
                    .v = v,
                    .vdot = lines->vdot,
                    .lambda = lines->lambda,
                    .psi = lines->psi,
                    .x = at->x,
                    .y = lines->y};
}

/// What the lines leave of the equations of motion, phi - x' and chi - y, in a matrix of some rows whose last ones are those
/// of x' and y; zero in those of constraints.
static as_status residual_on_lines(as_integrator *s, const double *v, int rows, as_block_set wanted,
                                   double *r) {
  const as_problem *p = s->kin.problem;
  const asi_values *lines = &s->output.lines;
  const int nx = p->def.n_x, ny = p->def.n_y, states = rows - nx - ny;
  const as_point at = point_on_lines(s, v);
  memset(r, 0, (size_t)rows * sizeof(double));
  as_status status = asi_blocks(&s->kin, &at, wanted);
  if (status == AS_OK) status = asi_eval_function(&s->kin.eval, ASI_FN_F, &at, s->kin.block, r);
  if (status == AS_OK && nx > 0)
    status = asi_eval_function(&s->kin.eval, ASI_FN_PHI, &at, s->kin.block, r + states);
  if (status == AS_OK && ny > 0)
    status = asi_eval_function(&s->kin.eval, ASI_FN_CHI, &at, s->kin.block, r + states + nx);
  if (status) return status;
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin.block[AS_BLOCK_M].value, -1.0, lines->vdot,
                          r);
  for (int i = 0; i < nx; ++i) r[states + i] -= lines->xdot[i];
  for (int i = 0; i < ny; ++i) r[states + nx + i] -= lines->y[i];
  return AS_OK;
}

/// The size of (A - unit) w in `count` rows and columns of a system from `first` on, beside that of unit w.
static double share_of(const asi_system *a, int first, int count, const double *w, double *unit_w) {
  const double size = asi_max_abs(unit_w, count);
  for (int j = first; j < first + count; ++j)
    for (int k = a->pattern.col_start[j]; k < a->pattern.col_start[j + 1]; ++k) {
      const int i = a->pattern.row[k] - first;
      if (i >= 0 && i < count) unit_w[i] -= a->value[k] * w[j];
    }
  return asi_max_abs(unit_w, count) / fmax(size, DBL_MIN);
}

/// Whether springs, dampers or the states' own rates are what decides on a change w of all unknowns.
static bool is_stiff(as_integrator *s, const double *w, double than) {
  const as_problem_def *def = &s->kin.problem->def;
  const int states = s->stepper.active->size - def->n_x - def->n_y;
  double *unit_w = s->stepper.z; // which is found anew in each step
  if (asi_stiff_share(&s->stepper, w) > than) return true;
  memcpy(unit_w, w + states, (size_t)def->n_x * sizeof(double));
  return share_of(s->stepper.active, states, def->n_x, w, unit_w) > than;
}

/// Whether a change w moves anything by more than round-off.
static bool moves(const as_integrator *s, const double *w) {
  const as_problem *p = s->kin.problem;
  return p->def.n_x > 0 || reach_of(s).q * asi_max_motion(p, w) > round_off(position_size(s));
}

/// Whether there may be anything stiff, by the factors of the last step, which are at hand: it is looked for with them.
static as_status look_for_stiffness(as_integrator *s, const double *v, bool *found) {
  const as_problem_def *def = &s->kin.problem->def;
  const bool soi2 = s->def.method == AS_METHOD_SOI2, index3 = s->def.method == AS_METHOD_INDEX3;
  const asi_system *simple = def->n_x + def->n_y > 0 ? &s->kin.consistent : &s->kin.kkt;
  double *w = s->scratch.unknowns;
  *found = false;
  // SOI2's shared matrix knows nothing of stiffness; it is in use as long as there is none.
  if (isnan(s->stepper.last.factor_h) || (soi2 && s->stepper.active == &s->stepper.shared))
    return AS_OK;
  as_status status = residual_on_lines(s, v, s->stepper.active->size, asi_system_blocks(simple), w);
  if (soi2 && def->n_lambda > 0) // its second stage
    memcpy(w + s->stepper.active->size / 2, w, (size_t)s->kin.problem->n * sizeof(double));
  if (status == AS_OK) status = asi_solve(&s->kin, s->stepper.active, s->state.t, w);
  if (status == AS_OK && moves(s, w)) *found = is_stiff(s, w, index3 ? STIFF_INDEX3 : STIFF);
  return status;
}

as_status asi_output_create(as_integrator *s, as_error *error) {
  const as_problem *p = s->kin.problem;
  const int size = p->n + p->def.n_lambda + p->def.n_psi + p->def.n_x + p->def.n_y;
  asi_term terms[ASI_MAX_TERMS];
  const int n_terms = stiff_terms(p, (reach){1.0, 1.0, 1.0}, terms); // only the pattern counts here
  as_status status = asi_kinematics_make_systems(&s->kin, &s->output.kkt, &s->output.projection,
                                                 &s->output.consistent, error);
  if (status == AS_OK)
    status = asi_system_init(&s->output.stiff, p, &s->kin.tangent, ASI_UNKNOWNS_ONE_STAGE, size,
                             terms, n_terms, s->stepper.active, error);
  return status;
}

/// Evaluates nothing: blocks are at hand.
static as_status factor_stiff(as_integrator *s, reach by) {
  asi_system *system = &s->output.stiff;
  asi_term terms[ASI_MAX_TERMS];
  const int states = system->size - s->kin.problem->def.n_x - s->kin.problem->def.n_y;
  asi_system_set_factors(system, terms, stiff_terms(s->kin.problem, by, terms));
  asi_system_forget(system);
  asi_system_assemble(system, s->kin.block, &s->kin.tangent);
  asi_add_compliance(&s->kin, system, s->kin.compliance);
  for (int i = states; i < system->size; ++i) system->value[system->diagonal[i]] += 1.0;
  return asi_factor(&s->kin, system, s->state.t, "a state between steps");
}

as_status asi_spring_matrix(as_integrator *s, const as_point *at, double by_q) {
  const reach by = {by_q, 0.0, 0.0};
  asi_term terms[ASI_MAX_TERMS];
  asi_system_set_factors(&s->output.stiff, terms, stiff_terms(s->kin.problem, by, terms));
  const as_status status = asi_blocks(&s->kin, at, asi_system_blocks(&s->output.stiff));
  return status ? status : factor_stiff(s, by);
}

/// The size of what the lines leave of the equations of motion at the q that is shown and at v.
static double left_on_lines(as_integrator *s, const double *v) {
  const as_status status = residual_on_lines(
      s, v, s->output.stiff.size, asi_eval_needs(s->kin.problem, ASI_FN_F), s->output.rest);
  return status ? (double)INFINITY : asi_max_force(s->kin.problem, s->output.rest);
}

/// Moves q, x and v as v' and x' would that change by `share` of w.
static void move_shown(as_integrator *s, reach by, double share, const double *w, double *v) {
  const as_problem *p = s->kin.problem;
  const asi_values *at = &s->shown;
  const int x = p->n + p->def.n_lambda + p->def.n_psi;
  for (int i = 0; i < p->n; ++i) {
    s->scratch.move[i] = share * by.q * w[i];
    v[i] += share * by.v * w[i];
    if (v != at->v) at->v[i] += share * by.v * w[i];
  }
  as_space_move(p->space, at->q, s->scratch.move, at->q);
  for (int i = 0; i < p->def.n_x; ++i) at->x[i] += share * by.x * w[x + i];
}

/// What springs, dampers and the states' own rates have in what the lines leave.
typedef struct stiff_part {
  double force; ///< of the equations of motion
  double share; ///< of those and of x', beside inertia and x' themselves
} stiff_part;

/// r = (S - M) w with S w = f - M v' on the lines, at the q and x that are shown and at v, in s->output.rest, without what
/// constraints take up; in their rows B w = -g/(kap beta h^2). S and M are those that have been factorized and evaluated last. w
/// is spoiled.
static as_status find_stiff_part(as_integrator *s, reach by, const double *v, double *w,
                                 stiff_part *found) {
  const as_problem *p = s->kin.problem;
  asi_system *system = &s->output.stiff;
  const int n = p->n, nx = p->def.n_x, states = system->size - nx - p->def.n_y;
  double *r = s->output.rest, *momentum = s->scratch.work;
  as_status status = residual_on_lines(s, v, system->size, asi_eval_needs(p, ASI_FN_F), w);
  if (status == AS_OK) status = look_at_rows(s, v, false, w + n);
  for (int k = 0; k < s->kin.redundancy.rows; ++k) w[n + k] /= -by.q;
  if (status == AS_OK) status = asi_solve(&s->kin, system, s->state.t, w);
  if (status) return status;
  memset(w + n, 0, (size_t)s->kin.redundancy.rows * sizeof(double));
  asi_system_multiply(system, w, r);
  memset(momentum, 0, (size_t)n * sizeof(double));
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin.block[AS_BLOCK_M].value, 1.0, w, momentum);
  for (int i = 0; i < n; ++i) r[i] -= momentum[i];
  for (int i = states; i < states + nx; ++i) r[i] -= w[i];
  found->force = asi_max_force(p, r);
  found->share = fmax(found->force / fmax(asi_max_force(p, momentum), DBL_MIN),
                      asi_max_abs(r + states, nx) / fmax(asi_max_abs(w + states, nx), DBL_MIN));
  return AS_OK;
}

/// Moves by the largest of w, w/2, w/4 ... with which less of the stiff force is left than before; false: by nothing.
static bool move_closer(as_integrator *s, reach by, double before, const double *w, double *v) {
  double share = 1.0;
  stiff_part left;
  move_shown(s, by, share, w, v);
  for (int i = 0; i < MAX_HALVINGS; ++i) {
    if (find_stiff_part(s, by, v, s->scratch.rhs, &left) == AS_OK && left.force < before)
      return true;
    share *= 0.5;
    move_shown(s, by, -share, w, v);
  }
  move_shown(s, by, -share, w, v);
  return false;
}

/// [DO.3] q <- q o exp(kap beta h^2 w), v <- v + kap gamma h w, x <- x + kap_x theta h w_x, S w = (S - M) S^-1 (f - M v') on the
/// lines, until what springs and dampers have of that is small beside what they leave, with B kap beta h^2 w = -g.
static as_status lead_back(as_integrator *s, double *v) {
  asi_system *system = &s->output.stiff;
  const reach by = reach_of(s);
  double *w = s->scratch.unknowns;
  for (int i = 0; i < MAX_RETURNS; ++i) {
    const as_point at = point_on_lines(s, v);
    stiff_part found;
    as_status status = asi_blocks(&s->kin, &at, asi_system_blocks(system));
    if (status == AS_OK) status = factor_stiff(s, by);
    if (status == AS_OK) status = find_stiff_part(s, by, v, w, &found);
    if (status || found.share <= LEFT) return status;
    memcpy(w, s->output.rest, (size_t)system->size * sizeof(double));
    status = asi_solve(&s->kin, system, s->state.t, w);
    if (status || !moves(s, w) || !move_closer(s, by, found.force, w, v)) return status;
  }
  return AS_OK;
}

bool asi_jumps_over(as_integrator *s, double t, const double *q, const double *from,
                    const double *to) {
  const as_point at = {.t = t, .q = q};
  const bool shared = s->def.method == AS_METHOD_SOI2 && s->stepper.active == &s->stepper.shared;
  double *w = s->scratch.unknowns;
  if (isnan(s->stepper.last.factor_h) || shared) return false;
  if (asi_blocks(&s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_M)) != AS_OK) return false;
  memset(w, 0, (size_t)s->stepper.active->size * sizeof(double));
  for (int i = 0; i < s->kin.problem->n; ++i) w[i] = to[i] - from[i];
  return asi_stiff_share(&s->stepper, w) > PERIOD;
}

/// [DO.3] xi(theta) of the polynomial through the ends of this step and of those before it, up to three.
static void follow_path(as_integrator *s, double theta, double *xi) {
  const double *h = s->stepper.path.h, *const *mean = (const double *const *)s->stepper.path.mean;
  const double at = theta * s->stepper.last.h, end = at - s->stepper.last.h;
  const double second = s->stepper.path.count > 1 ? at * end / (h[0] + h[1]) : 0.0;
  const double third =
      s->stepper.path.count > 2 ? at * end * (at + h[1]) / (h[0] + h[1] + h[2]) : 0.0;
  for (int i = 0; i < s->kin.problem->n; ++i) {
    const double late = mean[0][i] - mean[1][i], early = mean[1][i] - mean[2][i];
    xi[i] = theta * s->stepper.last.xi[i] + second * late +
            third * (late / (h[0] + h[1]) - early / (h[1] + h[2]));
  }
}

/// [DO.3] Cubics through the velocities of a vibration that the step jumps over lead away from both ends: a straight line of v
/// does not, nor does a path through the ends of steps. That one is taken if it stretches springs less.
static void straighten(as_integrator *s) {
  const asi_values *from = &s->stepper.last.from,
                   *to = s->stepper.last.jumped ? &s->stepper.last.to : &s->stepper.now;
  const double theta = (s->state.t - s->stepper.last.t0) / s->stepper.last.h;
  const double *q = s->output.lines.q;
  if (theta < 0.0 || !asi_jumps_over(s, s->state.t, s->shown.q, from->vdot, to->vdot)) return;
  for (int i = 0; i < s->kin.problem->n; ++i)
    s->shown.v[i] = from->v[i] + theta * (to->v[i] - from->v[i]);
  copy_shown(s->kin.problem, &s->shown, &s->output.lines);
  const double by_cubic = left_on_lines(s, s->shown.v);
  follow_path(s, theta, s->scratch.move);
  as_space_move(s->kin.problem->space, from->q, s->scratch.move, s->shown.q);
  if (!(left_on_lines(s, s->shown.v) < by_cubic))
    memcpy(s->shown.q, q, (size_t)s->kin.problem->nq * sizeof(double));
}

static bool is_inside(const as_integrator *s) {
  return s->state.q == s->shown.q && s->stepper.last.known && s->state.t != s->stepper.last.t0;
}

/// [ST.4], and the reactions of redundant joints that are shown, [RE.7].
static as_status solve(as_integrator *s, const asi_values *at) {
  const int m = s->kin.problem->def.n_lambda;
  for (int i = 0; i < s->kin.redundancy.rows && s->kin.eval.n_left_out > 0; ++i)
    if (s->kin.eval.left_out[i]) *(i < m ? at->lambda + i : at->psi + i - m) = 0.0;
  const as_status status = asi_solve_acceleration(&s->kin, s->state.t, at, 0);
  return status ? status : asi_show_reactions(s);
}

as_status asi_interpolation_complete(as_integrator *s, bool of_a_row, bool with_rates) {
  const as_problem *p = s->kin.problem;
  const asi_values *at = &s->shown, *lines = &s->output.lines;
  bool stiff = false;
  if (!is_inside(s) || s->def.straight_lines) return AS_OK;
  asi_output steps;
  asi_output_begin(s, of_a_row, &steps);
  straighten(s);
  copy_shown(p, at, lines);
  // Index-3 velocities are shown as they are integrated.
  asi_values moved = *at;
  if (s->def.method == AS_METHOD_INDEX3) moved.v = s->output.velocity;
  as_status status = project(s, moved.v);
  if (status == AS_OK) status = look_for_stiffness(s, moved.v, &stiff);
  if (status == AS_OK && stiff) {
    status = lead_back(s, moved.v);
    if (status == AS_OK) status = project(s, moved.v);
  }
  if (status == AS_OK && with_rates) status = solve(s, &moved);
  asi_output_end(s, &steps);
  if (status) copy_shown(p, lines, at);
  return as_status_is_recoverable(status) ? asi_error_clear(s->kin.eval.error) : status;
}

as_status asi_show_reactions(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  double *const lambda = s->kin.redundancy.shown, *const psi = lambda + p->def.n_lambda;
  if (s->kin.redundancy.n_implied == 0 || s->state.lambda == lambda) return AS_OK;
  memcpy(lambda, s->state.lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(psi, s->state.psi, (size_t)p->def.n_psi * sizeof(double));
  const as_status status =
      asi_least_norm_at(&s->kin, s->state.t, s->state.q, s->state.v, lambda, psi);
  if (status) return status;
  s->state.lambda = lambda;
  s->state.psi = psi;
  return AS_OK;
}
