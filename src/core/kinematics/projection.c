/// Positions and velocities are brought onto the constraints.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/kinematics/kinematics.h"

enum { MAX_PROJECTIONS = 100 };

// A constraint residual, in units of its row of B and of typical sizes, beyond which starting values are inconsistent.
#define INCONSISTENT 1e-8

/// [ST.1] [M -f_lambda -f_psi; B 0 0; k_v 0 0], or with `orthogonal` B^T and k_v^T instead
static int kkt_terms(const as_problem *p, bool orthogonal, asi_term *term) {
  const int n = p->n, l = p->n + p->def.n_lambda;
  int i = 0;
  term[i++] = (asi_term){0, 0, AS_BLOCK_M, false, ASI_CHAIN_IDENTITY, 1.0};
  if (orthogonal || p->def.force_kind == AS_FORCE_ADDITIVE) {
    term[i++] = (asi_term){0, n, AS_BLOCK_G_Q, true, ASI_CHAIN_IDENTITY, 1.0};
    term[i++] = (asi_term){0, l, AS_BLOCK_K_V, true, ASI_CHAIN_IDENTITY, 1.0};
  } else {
    term[i++] = (asi_term){0, n, AS_BLOCK_F_LAMBDA, false, ASI_CHAIN_IDENTITY, -1.0};
    term[i++] = (asi_term){0, l, AS_BLOCK_F_PSI, false, ASI_CHAIN_IDENTITY, -1.0};
  }
  term[i++] = (asi_term){n, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_IDENTITY, 1.0};
  term[i++] = (asi_term){l, 0, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, 1.0};
  return i;
}

/// [ST.8] the same with x' and y: rows x' - phi and y - chi at fixed x; their identity is put on the
/// diagonal when the matrix is assembled
int asi_consistent_terms(const as_problem *p, asi_term *term) {
  const int n = p->n, l = n + p->def.n_lambda, x = l + p->def.n_psi, y = x + p->def.n_x;
  int i = kkt_terms(p, false, term);
  term[i++] = (asi_term){0, y, AS_BLOCK_F_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, 0, AS_BLOCK_PHI_VDOT, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, n, AS_BLOCK_PHI_LAMBDA, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, l, AS_BLOCK_PHI_PSI, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, y, AS_BLOCK_PHI_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, 0, AS_BLOCK_CHI_VDOT, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, n, AS_BLOCK_CHI_LAMBDA, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, l, AS_BLOCK_CHI_PSI, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, y, AS_BLOCK_CHI_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  return i;
}

static as_status make_kkt(const asi_kinematics *s, asi_system *out, as_error *error) {
  const as_problem *p = s->problem;
  asi_term terms[ASI_MAX_TERMS];
  const int n_terms = kkt_terms(p, false, terms);
  return asi_system_init(out, p, &s->tangent, ASI_UNKNOWNS_ONE_STAGE,
                         p->n + p->def.n_lambda + p->def.n_psi, terms, n_terms,
                         out != &s->kkt ? &s->kkt : NULL, error);
}

static as_status make_consistent(const asi_kinematics *s, asi_system *out, as_error *error) {
  const as_problem *p = s->problem;
  const int size = p->n + p->def.n_lambda + p->def.n_psi + p->def.n_x + p->def.n_y;
  asi_term terms[ASI_MAX_TERMS];
  const int n_terms = asi_consistent_terms(p, terms);
  return asi_system_init(out, p, &s->tangent, ASI_UNKNOWNS_ONE_STAGE, size, terms, n_terms,
                         out != &s->consistent ? &s->consistent : NULL, error);
}

as_status asi_kinematics_make_start_system(const asi_kinematics *s, asi_system *out,
                                           as_error *error) {
  const as_problem_def *def = &s->problem->def;
  return def->n_x + def->n_y > 0 ? make_consistent(s, out, error) : make_kkt(s, out, error);
}

as_status asi_kinematics_make_systems(const asi_kinematics *s, asi_system *kkt,
                                      asi_system *projection, asi_system *consistent,
                                      as_error *error) {
  const as_problem *p = s->problem;
  const bool again = kkt != &s->kkt;
  as_status status = make_kkt(s, kkt, error);
  if (status == AS_OK && p->def.force_kind == AS_FORCE_GENERAL) {
    asi_term terms[ASI_MAX_TERMS];
    const int n_terms = kkt_terms(p, true, terms);
    status = asi_system_init(projection, p, &s->tangent, ASI_UNKNOWNS_ONE_STAGE,
                             p->n + p->def.n_lambda + p->def.n_psi, terms, n_terms,
                             again ? &s->projection : kkt, error);
  }
  if (status == AS_OK && p->def.n_x + p->def.n_y > 0)
    status = make_consistent(s, consistent, error);
  return status;
}

asi_system *asi_projection_system(asi_kinematics *s) {
  return s->problem->def.force_kind == AS_FORCE_GENERAL ? &s->projection : &s->kkt;
}

void asi_add_compliance(const asi_kinematics *s, asi_system *system, double e) {
  const int n = s->problem->n;
  if (e == 0.0) return;
  for (int i = 0; i < s->redundancy.rows; ++i)
    system->value[system->diagonal[n + i]] -= e * s->redundancy.inverse_d2[i];
}

/// Takes the k rows and their multipliers out of an assembled projection matrix: positions are free
/// to move against nonholonomic constraints.
static void drop_nonholonomic(asi_system *system, const as_problem *p) {
  const int first = p->n + p->def.n_lambda;
  for (int j = 0; j < system->size; ++j)
    for (int k = system->pattern.col_start[j]; k < system->pattern.col_start[j + 1]; ++k)
      if (j >= first || system->pattern.row[k] >= first)
        system->value[k] = system->pattern.row[k] == j ? 1.0 : 0.0;
}

const as_block_set asi_projection_blocks =
    AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);

/// sqrt(d^T M d) with the last evaluated mass matrix; the sign of an indefinite M is ignored.
static double mass_norm(asi_kinematics *s, const double *d) {
  memset(s->work, 0, (size_t)s->problem->n * sizeof(double));
  asi_panels_multiply_add(&s->problem->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, 1.0, d,
                          s->work);
  double sum = 0.0;
  for (int i = 0; i < s->problem->n; ++i) sum += d[i] * s->work[i];
  return sqrt(fabs(sum));
}

/// Residuals in units of their rows of a Jacobian and of typical sizes into `scaled`; returns the largest.
static double scale_residual(const asi_kinematics *s, as_block block, const double *residual,
                             double *scaled) {
  const as_matrix *jacobian = &s->block[block];
  const asi_row_view *rows = block == AS_BLOCK_G_Q ? &s->problem->g_q_rows : &s->problem->k_v_rows;
  const double *const typical = s->problem->typical;
  double largest = 0.0;
  for (int i = 0; i < jacobian->rows; ++i) {
    double norm = 0.0;
    for (int k = rows->start[i]; k < rows->start[i + 1]; ++k)
      norm = hypot(norm, jacobian->value[rows->position[k]] * typical[rows->col[k]]);
    scaled[i] = fabs(residual[i]) / fmax(norm, DBL_MIN);
    largest = fmax(largest, scaled[i]);
  }
  return largest;
}

/// [ST.9] Whether a component keeps its value in the projection that is going on.
static bool is_held(const asi_kinematics *s, int i) {
  const unsigned keep = s->given.keep ? s->given.keep[i] : AS_START_FREE_VELOCITY;
  if (s->given.positions) return keep & AS_START_FIXED_POSITION;
  return (keep & AS_START_FIXED_VELOCITY) ||
         (s->given.keeps_given && !(keep & AS_START_FREE_VELOCITY));
}

static bool is_fixed(const asi_kinematics *s) {
  for (int i = 0; s->given.keep && i < s->problem->n; ++i)
    if (is_held(s, i)) return true;
  return false;
}

// [ST.9] The weight of velocities that are not given, against those that are. Small, so that given ones hardly
// change for their sake; what is left of it fades as the iteration goes on, by this factor each time.
#define FREE_WEIGHT 1e-4
// Given velocities have found their values when they change by less than this, relative to the largest.
#define SETTLED 1e-10

/// The square root of a component's weight in the projection that is going on.
static double weight_of(const asi_kinematics *s, int i) {
  return s->given.weighs && (s->given.keep[i] & AS_START_FREE_VELOCITY) ? sqrt(FREE_WEIGHT) : 1.0;
}

/// Weighs the mass matrix of an assembled projection, and lets components that are held stay where they are.
static void keep_given(const asi_kinematics *s, asi_system *system, double *rhs) {
  const int n = s->problem->n;
  if (s->given.keep == NULL) return;
  for (int j = 0; j < system->size; ++j)
    for (int k = system->pattern.col_start[j]; k < system->pattern.col_start[j + 1]; ++k) {
      const int i = system->pattern.row[k];
      if ((i < n && is_held(s, i)) || (j < n && is_held(s, j)))
        system->value[k] = i == j ? 1.0 : 0.0;
      else if (i < n && j < n)
        system->value[k] *= weight_of(s, i) * weight_of(s, j);
    }
  for (int i = 0; i < n; ++i) rhs[i] = is_held(s, i) ? 0.0 : rhs[i] * weight_of(s, i);
}

/// Names the rows whose residual is at least a tenth of the worst one's, up to four of them.
static as_status fail_inconsistent(asi_kinematics *s, double t, const char *what, double worst,
                                   const double *scaled, int rows, bool may_move) {
  const as_problem *p = s->problem;
  char names[320], name[64] = "";
  asi_text list = asi_text_begin(names, sizeof names);
  int named = 0;
  for (int i = 0; i < rows && named < 4; ++i) {
    if (!(scaled[i] >= 0.1 * worst)) continue;
    const int row = i;
    const bool holonomic = row < p->def.n_lambda;
    asi_component_name(p, holonomic ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                       holonomic ? row : row - p->def.n_lambda, name, sizeof name);
    asi_text_add(&list, "%s%s", named > 0 ? ", " : "", name);
    ++named;
  }
  return asi_fail(s->eval.error, AS_ERR_INCONSISTENT, t, name,
                  "The %s cannot be used at t = %.9g s: %s off by %.3g in units of the "
                  "gradient, more than %.0e, %s.",
                  what, t, names, worst, INCONSISTENT,
                  !may_move     ? "and projection is switched off"
                  : is_fixed(s) ? "and what is fixed does not let projection bring it closer"
                                : "and projection does not bring it closer (these constraints "
                                  "contradict each other or cannot be reached)");
}

// [RE.4] Compliance while projecting: enough to bear redundant rows; more where a step would lead away.
#define LEAST_COMPLIANCE 1e-8
// Where redundant rows are left out and others are nearly so: little beside the square of 1e-5, the least sigma of these.
#define NO_COMPLIANCE 1e-13
#define FIRST_DAMPING 1e-3
#define MOST_DAMPING 1e6

/// Solves M x + B^T mu + k_v^T nu = rhs_n, B x - e/d^2 (mu - mu_old) = ..., in place; `multiplier` holds
/// mu_old, nu_old and receives the new ones, so that the compliance fades as the iteration converges.
static as_status solve_projection(asi_kinematics *s, double t, double e, bool with_k, double *rhs,
                                  double *multiplier, const char *what) {
  const as_problem *p = s->problem;
  const int n = p->n, rows = s->redundancy.rows;
  asi_system *system = asi_projection_system(s);
  asi_system_assemble(system, s->block, &s->tangent);
  asi_add_compliance(s, system, e);
  if (!with_k) drop_nonholonomic(system, p);
  keep_given(s, system, rhs);
  for (int i = 0; i < (with_k ? rows : p->def.n_lambda); ++i)
    rhs[n + i] -= e * s->redundancy.inverse_d2[i] * multiplier[i];
  as_status status = asi_factor(s, system, t, what);
  if (status == AS_OK) status = asi_solve(s, system, t, rhs);
  if (status == AS_OK) memcpy(multiplier, rhs + n, (size_t)rows * sizeof(double));
  return status;
}

/// The same with the factors of the last time, where nothing in the system has changed and nothing is given.
static as_status solve_again(asi_kinematics *s, double t, double e, double *rhs,
                             double *multiplier) {
  const int n = s->problem->n, rows = s->redundancy.rows;
  for (int i = 0; i < rows; ++i) rhs[n + i] -= e * s->redundancy.inverse_d2[i] * multiplier[i];
  const as_status status = asi_solve(s, asi_projection_system(s), t, rhs);
  if (status == AS_OK) memcpy(multiplier, rhs + n, (size_t)rows * sizeof(double));
  return status;
}

/// [ST.2] minimise d^T M d / 2 with q = q_0 o exp(d), g(q) = 0: the Newton step x solves
/// [M B^T; B 0] (x, mu) = (-M d, -g), q <- q o exp(x). A step that makes g larger is taken back and
/// repeated with more compliance, as Levenberg and Marquardt do.
as_status asi_project_position(asi_kinematics *s, double t, const double *q0, double *q,
                               bool may_move, as_start_report *report) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda;
  double *rhs = s->rhs, *g = rhs + n, *multiplier = s->multiplier, *scaled = s->change;
  double best = (double)INFINITY, compliance = LEAST_COMPLIANCE;
  int idle = 0; // steps in a row that gained little
  memset(multiplier, 0, (size_t)s->redundancy.rows * sizeof(double));
  memcpy(q, q0, (size_t)p->nq * sizeof(double));
  for (int iteration = 0;; ++iteration) {
    const as_point at = {.t = t, .q = q};
    as_status status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q));
    if (status == AS_OK) status = asi_eval_function(&s->eval, ASI_FN_G, &at, s->block, g);
    if (status) return status;
    if (iteration == 0) asi_redundancy_scale(s);
    double worst = scale_residual(s, AS_BLOCK_G_Q, g, scaled);
    if (iteration == 0) report->position_residual = asi_max_abs(g, m);
    if (iteration == 0) memcpy(s->given.rows, scaled, (size_t)m * sizeof(double));
    report->position_iterations = iteration;
    idle = worst > 0.5 * best ? idle + 1 : 0;
    const bool away = worst > best && worst > INCONSISTENT;
    const bool at_round_off = worst <= 64.0 * DBL_EPSILON * fmax(1.0, asi_max_position(p, q));
    const bool exhausted = iteration >= MAX_PROJECTIONS || compliance > MOST_DAMPING ||
                           (idle > 3 && (worst <= INCONSISTENT || idle > 12));
    if (away) { // back to the best position, and more carefully from there
      memcpy(q, s->q_best, (size_t)p->nq * sizeof(double));
      memset(multiplier, 0, (size_t)s->redundancy.rows * sizeof(double));
      compliance = fmax(FIRST_DAMPING, 10.0 * compliance);
      status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q));
      if (status == AS_OK) status = asi_eval_function(&s->eval, ASI_FN_G, &at, s->block, g);
      if (status) return status;
      worst = scale_residual(s, AS_BLOCK_G_Q, g, scaled);
    } else {
      memcpy(s->q_best, q, (size_t)p->nq * sizeof(double));
      compliance = fmax(LEAST_COMPLIANCE, 0.1 * compliance);
      best = worst;
    }
    as_space_difference(p->space, q0, q, s->move);
    if (!may_move || at_round_off || exhausted) {
      report->position_drift = asi_max_abs(g, m);
      if (!(worst <= INCONSISTENT))
        return fail_inconsistent(s, t, "starting position", worst, scaled, m, may_move);
      report->position_change = mass_norm(s, s->move);
      return AS_OK;
    }
    memset(s->work, 0, (size_t)n * sizeof(double));
    asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, -1.0, s->move,
                            s->work);
    memcpy(rhs, s->work, (size_t)n * sizeof(double));
    for (int i = 0; i < m; ++i) g[i] = -g[i];
    memset(rhs + n + m, 0, (size_t)p->def.n_psi * sizeof(double));
    status = solve_projection(s, t, compliance, false, rhs, multiplier,
                              "the projection of the starting position");
    if (status) return status;
    as_space_move(p->space, q, rhs, q);
  }
}

/// Along a run q is off the constraints by what compliance [RE.3] and Newton's method leave. Redundant rows then
/// contradict each other by as much for each unit of speed: no velocity does better.
static as_status add_position_error(asi_kinematics *s, const as_point *at, double *limit) {
  const as_problem *p = s->problem;
  double *g = s->rhs;
  if (p->def.n_lambda == 0) return AS_OK;
  const as_status status = asi_eval_function(&s->eval, ASI_FN_G, at, s->block, g);
  if (status == AS_OK) *limit += scale_residual(s, AS_BLOCK_G_Q, g, g);
  return status;
}

/// B and k_v, unless they are known, g_t + B v and k less what they are to be into `rate`, in units of their rows into `scaled`;
/// *worst of these.
static as_status measure_rates(asi_kinematics *s, const as_point *at, bool known, double *rate,
                               double *scaled, double *worst) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda;
  as_status status = known ? AS_OK : asi_blocks(s, at, asi_projection_blocks);
  if (status == AS_OK && m > 0)
    status = asi_eval_function(&s->eval, ASI_FN_GDOT, at, s->block, rate);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_function(&s->eval, ASI_FN_K, at, s->block, rate + m);
  if (status) return status;
  for (int i = 0; i < s->redundancy.rows; ++i) rate[i] -= s->target[i];
  *worst = 0.0;
  if (m > 0) *worst = scale_residual(s, AS_BLOCK_G_Q, rate, scaled);
  if (p->def.n_psi > 0)
    *worst = fmax(*worst, scale_residual(s, AS_BLOCK_K_V, rate + m, scaled + m));
  return AS_OK;
}

/// The same of all rows, also of those that are left out.
static as_status measure_all_rates(asi_kinematics *s, const as_point *at, double *rate,
                                   double *scaled, double *worst) {
  asi_rows_update(s, true);
  const as_status status = measure_rates(s, at, false, rate, scaled, worst);
  asi_rows_update(s, false);
  return status;
}

/// [ST.3] M dv + B^T mu + k_v^T nu = 0, B dv = -(g_t + B v), k_v dv = -k, until both hold
as_status asi_project_velocity(asi_kinematics *s, double t, const double *q, double *v,
                               bool may_move, bool measure, as_start_report *report) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = s->redundancy.rows;
  double *rhs = s->rhs, *gdot = rhs + n;
  double *multiplier = s->multiplier, *scaled = s->change;
  double best = (double)INFINITY, step = (double)INFINITY;
  int tries = 0;
  memset(multiplier, 0, (size_t)rows * sizeof(double));
  memset(s->move, 0, (size_t)n * sizeof(double)); // the change so far
  for (int iteration = 0;; ++iteration) {
    const as_point at = {.t = t, .q = q, .v = v};
    const bool same = iteration > 0 && !measure && p->def.n_psi == 0 && s->given.keep == NULL;
    double worst;
    as_status status = AS_OK;
    if (iteration == 0 && measure) { // what is told of the start is told of all rows
      status = measure_all_rates(s, &at, gdot, scaled, &worst);
      if (status) return status;
      asi_redundancy_scale(s);
      report->velocity_residual = asi_max_abs(gdot, rows);
      if (!s->given.noted) memcpy(s->given.rows + m, scaled, (size_t)rows * sizeof(double));
    }
    status = measure_rates(s, &at, same, gdot, scaled, &worst);
    if (status) return status;
    const double largest = asi_max_abs(gdot, rows);
    const double speed = fmax(s->eval.rate, asi_max_motion(p, v));
    report->velocity_drift = largest;
    report->velocity_iterations = iteration;
    const bool at_round_off = worst <= 64.0 * DBL_EPSILON * speed;
    const bool settled = !s->given.weighs || step <= SETTLED * speed;
    tries = worst > 0.5 * best ? tries + 1 : 0;
    if (!may_move || iteration == MAX_PROJECTIONS || ((at_round_off || tries > 3) && settled)) {
      double limit = INCONSISTENT;
      if (!measure) {
        status = add_position_error(s, &at, &limit);
      } else if (s->redundancy.n_implied > 0 &&
                 worst <= limit * speed) { // the others have to hold, too
        limit += asi_rows_slack(s);
        status = measure_all_rates(s, &at, gdot, scaled, &worst);
      }
      if (status) return status;
      if (!(worst <= limit * speed))
        return fail_inconsistent(s, t, measure ? "starting velocity" : "velocity", worst, scaled,
                                 rows, may_move);
      report->velocity_change = mass_norm(s, s->move);
      return AS_OK;
    }
    best = fmin(best, worst);
    for (int i = 0; s->given.weighs && i < n; ++i)
      if (s->given.keep[i] & AS_START_FREE_VELOCITY) s->move[i] = 0.0; // only given ones resist
    memset(rhs, 0, (size_t)n * sizeof(double));
    asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, -1.0, s->move, rhs);
    for (int i = 0; i < rows; ++i) gdot[i] = -gdot[i];
    const double e = measure && s->redundancy.close ? NO_COMPLIANCE : LEAST_COMPLIANCE;
    status = same ? solve_again(s, t, e, rhs, multiplier)
                  : solve_projection(s, t, e, true, rhs, multiplier,
                                     "the projection of the starting velocity");
    if (status) return status;
    step = 0.0;
    for (int i = 0; i < n; ++i) {
      s->move[i] += rhs[i];
      v[i] += rhs[i];
      if (s->given.weighs && !(s->given.keep[i] & AS_START_FREE_VELOCITY))
        step = fmax(step, fabs(rhs[i]) * p->per_typical[i]);
    }
  }
}

/// sqrt(d^T M d) of a change of the velocity.
static double velocity_change(asi_kinematics *s, const double *from, const double *to) {
  for (int i = 0; i < s->problem->n; ++i) s->move[i] = to[i] - from[i];
  return mass_norm(s, s->move);
}

/// Whether some velocities are given and others are not.
static bool is_partly_given(const asi_kinematics *s) {
  bool given = false, free = false;
  for (int i = 0; s->given.keep && i < s->problem->n; ++i) {
    given = given || !(s->given.keep[i] & AS_START_FREE_VELOCITY);
    free = free || (s->given.keep[i] & AS_START_FREE_VELOCITY);
  }
  return given && free;
}

/// [ST.9] velocities that are given stay, if the others can be found to fit; if not, they change as little as can be
as_status asi_project_start_velocity(asi_kinematics *s, double t, const double *q, double *v,
                                     bool may_move, double *from, as_start_report *report) {
  const as_problem *p = s->problem;
  const int rows = s->redundancy.rows;
  as_status status = AS_OK;
  if (!may_move || !is_partly_given(s))
    return asi_project_velocity(s, t, q, v, may_move, true, report);
  memcpy(from, v, (size_t)p->n * sizeof(double));
  s->given.keeps_given = true;
  status = asi_project_velocity(s, t, q, v, true, true, report);
  s->given.keeps_given = false;
  if (status && status != AS_ERR_INCONSISTENT && status != AS_ERR_SINGULAR) return status;
  const double residual = report->velocity_residual;
  if (status == AS_ERR_INCONSISTENT) { // these rows contradict what is given
    memcpy(s->given.rows + p->def.n_lambda, s->change, (size_t)rows * sizeof(double));
    s->given.noted = true;
  }
  s->given.weighs = status != AS_OK;
  if (status) memcpy(v, from, (size_t)p->n * sizeof(double));
  status = asi_project_velocity(s, t, q, v, true, true, report);
  s->given.noted = s->given.weighs = false;
  report->velocity_residual = residual;
  if (status == AS_OK) report->velocity_change = velocity_change(s, from, v);
  return status;
}

as_status asi_drift(asi_kinematics *s, double t, const double *q, const double *v, double *position,
                    double *velocity) {
  const as_problem *p = s->problem;
  const as_point at = {.t = t, .q = q, .v = v};
  double *value = s->rhs;
  as_status status = AS_OK;
  *position = *velocity = 0.0;
  asi_rows_update(s, true); // those that are left out have to hold, too
  if (p->def.n_lambda > 0) {
    status = asi_blocks(s, &at, asi_eval_needs(p, ASI_FN_GDOT));
    if (status == AS_OK) status = asi_eval_function(&s->eval, ASI_FN_G, &at, s->block, value);
    *position = asi_max_abs(value, p->def.n_lambda);
    if (status == AS_OK) status = asi_eval_function(&s->eval, ASI_FN_GDOT, &at, s->block, value);
    *velocity = asi_max_abs(value, p->def.n_lambda);
  }
  if (p->def.n_psi > 0 && status == AS_OK) {
    status = asi_eval_function(&s->eval, ASI_FN_K, &at, s->block, value);
    *velocity = fmax(*velocity, asi_max_abs(value, p->def.n_psi));
  }
  asi_rows_update(s, false);
  return status;
}
