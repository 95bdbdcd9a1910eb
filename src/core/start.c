/// Starting values: projection onto the constraints, consistent accelerations and multipliers, and
/// the corrections that make index-3 multipliers second order from the first step on.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/integrator.h"

enum { MAX_PROJECTIONS = 100, MAX_ACCELERATION_ITERATIONS = 20, MAX_FADING_ITERATIONS = 200 };

// A constraint residual, in units of its row of B and of typical sizes, beyond which starting values are inconsistent.
#define INCONSISTENT 1e-8

/// [ST.1] [M -f_lambda -f_psi; B 0 0; k_v 0 0], or with `orthogonal` B^T and k_v^T instead
static int kkt_terms(const as_problem *p, bool orthogonal, asi_term *term) {
  const int n = p->n, l = p->n + p->def.n_lambda;
  int i = 0;
  term[i++] = (asi_term){0, 0, AS_BLOCK_M, false, ASI_VIA_IDENTITY, 1.0};
  if (orthogonal || p->def.force_kind == AS_FORCE_ADDITIVE) {
    term[i++] = (asi_term){0, n, AS_BLOCK_G_Q, true, ASI_VIA_IDENTITY, 1.0};
    term[i++] = (asi_term){0, l, AS_BLOCK_K_V, true, ASI_VIA_IDENTITY, 1.0};
  } else {
    term[i++] = (asi_term){0, n, AS_BLOCK_F_LAMBDA, false, ASI_VIA_IDENTITY, -1.0};
    term[i++] = (asi_term){0, l, AS_BLOCK_F_PSI, false, ASI_VIA_IDENTITY, -1.0};
  }
  term[i++] = (asi_term){n, 0, AS_BLOCK_G_Q, false, ASI_VIA_IDENTITY, 1.0};
  term[i++] = (asi_term){l, 0, AS_BLOCK_K_V, false, ASI_VIA_IDENTITY, 1.0};
  return i;
}

/// [ST.8] the same with x' and y: rows x' - phi and y - chi at fixed x; their identity is put on the
/// diagonal when the matrix is assembled
int asi_consistent_terms(const as_problem *p, asi_term *term) {
  const int n = p->n, l = n + p->def.n_lambda, x = l + p->def.n_psi, y = x + p->def.n_x;
  int i = kkt_terms(p, false, term);
  term[i++] = (asi_term){0, y, AS_BLOCK_F_Y, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){x, 0, AS_BLOCK_PHI_VDOT, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){x, n, AS_BLOCK_PHI_LAMBDA, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){x, l, AS_BLOCK_PHI_PSI, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){x, y, AS_BLOCK_PHI_Y, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){y, 0, AS_BLOCK_CHI_VDOT, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){y, n, AS_BLOCK_CHI_LAMBDA, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){y, l, AS_BLOCK_CHI_PSI, false, ASI_VIA_IDENTITY, -1.0};
  term[i++] = (asi_term){y, y, AS_BLOCK_CHI_Y, false, ASI_VIA_IDENTITY, -1.0};
  return i;
}

static as_status make_systems(as_integrator *s, asi_system *kkt, asi_system *projection,
                              asi_system *consistent, as_error *error) {
  const as_problem *p = s->problem;
  const int size = p->n + p->def.n_lambda + p->def.n_psi;
  asi_term terms[ASI_MAX_TERMS];
  int n_terms = kkt_terms(p, false, terms);
  as_status status = asi_system_init(kkt, p, &s->motion, size, terms, n_terms, error);
  if (status == AS_OK && p->def.force_kind == AS_FORCE_GENERAL) {
    n_terms = kkt_terms(p, true, terms);
    status = asi_system_init(projection, p, &s->motion, size, terms, n_terms, error);
  }
  if (status == AS_OK && p->def.n_x + p->def.n_y > 0) {
    n_terms = asi_consistent_terms(p, terms);
    status = asi_system_init(consistent, p, &s->motion, size + p->def.n_x + p->def.n_y, terms,
                             n_terms, error);
  }
  return status;
}

as_status asi_start_create(as_integrator *s, as_error *error) {
  const as_status status = make_systems(s, &s->kkt, &s->projection, &s->consistent, error);
  return status
             ? status
             : make_systems(s, &s->output.kkt, &s->output.projection, &s->output.consistent, error);
}

asi_system *asi_projection_system(as_integrator *s) {
  return s->problem->def.force_kind == AS_FORCE_GENERAL ? &s->projection : &s->kkt;
}

void asi_add_compliance(const as_integrator *s, asi_system *system, double e) {
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

static const as_block_set projection_blocks =
    AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);

/// sqrt(d^T M d) with the last evaluated mass matrix; the sign of an indefinite M is ignored.
static double mass_norm(as_integrator *s, const double *d) {
  memset(s->work_n, 0, (size_t)s->problem->n * sizeof(double));
  asi_panels_multiply_add(&s->problem->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, 1.0, d,
                          s->work_n);
  double sum = 0.0;
  for (int i = 0; i < s->problem->n; ++i) sum += d[i] * s->work_n[i];
  return sqrt(fabs(sum));
}

/// Residuals in units of their rows of a Jacobian and of typical sizes into `scaled`; returns the largest.
static double scale_residual(const as_integrator *s, as_block block, const double *residual,
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
static bool is_held(const as_integrator *s, int i) {
  const unsigned keep = s->given.keep ? s->given.keep[i] : AS_START_FREE_VELOCITY;
  if (s->given.positions) return keep & AS_START_FIXED_POSITION;
  return (keep & AS_START_FIXED_VELOCITY) ||
         (s->given.keeps_given && !(keep & AS_START_FREE_VELOCITY));
}

static bool is_fixed(const as_integrator *s) {
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
static double weight_of(const as_integrator *s, int i) {
  return s->given.weighs && (s->given.keep[i] & AS_START_FREE_VELOCITY) ? sqrt(FREE_WEIGHT) : 1.0;
}

/// Weighs the mass matrix of an assembled projection, and lets components that are held stay where they are.
static void keep_given(const as_integrator *s, asi_system *system, double *rhs) {
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
static as_status fail_inconsistent(as_integrator *s, double t, const char *what, double worst,
                                   const double *scaled, int first_row, int rows) {
  const as_problem *p = s->problem;
  char names[320], name[64] = "";
  asi_text list = asi_text_begin(names, sizeof names);
  int named = 0;
  for (int i = 0; i < rows && named < 4; ++i) {
    if (!(scaled[i] >= 0.1 * worst)) continue;
    const int row = first_row + i;
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
                  !s->def.project_start ? "and projection is switched off"
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
static as_status solve_projection(as_integrator *s, double t, double e, bool with_k, double *rhs,
                                  double *multiplier, const char *what) {
  const as_problem *p = s->problem;
  const int n = p->n, rows = s->redundancy.rows;
  asi_system *system = asi_projection_system(s);
  asi_system_assemble(system, s->block, &s->motion);
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

/// [ST.2] minimise d^T M d / 2 with q = q_0 o exp(d), g(q) = 0: the Newton step x solves
/// [M B^T; B 0] (x, mu) = (-M d, -g), q <- q o exp(x). A step that makes g larger is taken back and
/// repeated with more compliance, as Levenberg and Marquardt do.
as_status asi_project_position(as_integrator *s, double t, const double *q0, double *q,
                               bool may_move, as_start_report *report) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda;
  double *rhs = s->kkt_rhs, *g = rhs + n, *multiplier = s->residual, *scaled = s->increment;
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
    as_space_difference(p->space, q0, q, s->xi);
    if (!may_move || at_round_off || exhausted) {
      report->position_drift = asi_max_abs(g, m);
      if (!(worst <= INCONSISTENT))
        return fail_inconsistent(s, t, "starting position", worst, scaled, 0, m);
      report->position_change = mass_norm(s, s->xi);
      return AS_OK;
    }
    memset(s->work_n, 0, (size_t)n * sizeof(double));
    asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, -1.0, s->xi,
                            s->work_n);
    memcpy(rhs, s->work_n, (size_t)n * sizeof(double));
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
static as_status add_position_error(as_integrator *s, const as_point *at, double *limit) {
  const as_problem *p = s->problem;
  double *g = s->kkt_rhs;
  if (p->def.n_lambda == 0) return AS_OK;
  const as_status status = asi_eval_function(&s->eval, ASI_FN_G, at, s->block, g);
  if (status == AS_OK) *limit += scale_residual(s, AS_BLOCK_G_Q, g, g);
  return status;
}

/// B and k_v, g_t + B v and k less what they are to be into `rate`, in units of their rows into `scaled`; *worst of these.
static as_status measure_rates(as_integrator *s, const as_point *at, double *rate, double *scaled,
                               double *worst) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda;
  as_status status = asi_blocks(s, at, projection_blocks);
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
static as_status measure_all_rates(as_integrator *s, const as_point *at, double *rate,
                                   double *scaled, double *worst) {
  asi_rows_update(s, true);
  const as_status status = measure_rates(s, at, rate, scaled, worst);
  asi_rows_update(s, false);
  return status;
}

/// [ST.3] M dv + B^T mu + k_v^T nu = 0, B dv = -(g_t + B v), k_v dv = -k, until both hold
as_status asi_project_velocity(as_integrator *s, double t, const double *q, double *v,
                               bool may_move, bool measure, as_start_report *report) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = s->redundancy.rows;
  double *rhs = s->kkt_rhs, *gdot = rhs + n;
  double *multiplier = s->residual, *scaled = s->increment;
  double best = (double)INFINITY, step = (double)INFINITY;
  int tries = 0;
  memset(multiplier, 0, (size_t)rows * sizeof(double));
  memset(s->xi, 0, (size_t)n * sizeof(double)); // the change so far
  for (int iteration = 0;; ++iteration) {
    const as_point at = {.t = t, .q = q, .v = v};
    double worst;
    as_status status = AS_OK;
    if (iteration == 0 && measure) { // what is told of the start is told of all rows
      status = measure_all_rates(s, &at, gdot, scaled, &worst);
      if (status) return status;
      asi_redundancy_scale(s);
      report->velocity_residual = asi_max_abs(gdot, rows);
      if (!s->given.noted) memcpy(s->given.rows + m, scaled, (size_t)rows * sizeof(double));
    }
    status = measure_rates(s, &at, gdot, scaled, &worst);
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
        return fail_inconsistent(s, t, measure ? "starting velocity" : "velocity", worst, scaled, 0,
                                 rows);
      report->velocity_change = mass_norm(s, s->xi);
      return AS_OK;
    }
    best = fmin(best, worst);
    for (int i = 0; s->given.weighs && i < n; ++i)
      if (s->given.keep[i] & AS_START_FREE_VELOCITY) s->xi[i] = 0.0; // only given ones resist
    memset(rhs, 0, (size_t)n * sizeof(double));
    asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, -1.0, s->xi, rhs);
    for (int i = 0; i < rows; ++i) gdot[i] = -gdot[i];
    const double e = measure && s->redundancy.close ? NO_COMPLIANCE : LEAST_COMPLIANCE;
    status =
        solve_projection(s, t, e, true, rhs, multiplier, "the projection of the starting velocity");
    if (status) return status;
    step = 0.0;
    for (int i = 0; i < n; ++i) {
      s->xi[i] += rhs[i];
      v[i] += rhs[i];
      if (s->given.weighs && !(s->given.keep[i] & AS_START_FREE_VELOCITY))
        step = fmax(step, fabs(rhs[i]) * p->per_typical[i]);
    }
  }
}

/// sqrt(d^T M d) of a change of the velocity.
static double velocity_change(as_integrator *s, const double *from, const double *to) {
  for (int i = 0; i < s->problem->n; ++i) s->xi[i] = to[i] - from[i];
  return mass_norm(s, s->xi);
}

/// Whether some velocities are given and others are not.
static bool is_partly_given(const as_integrator *s) {
  bool given = false, free = false;
  for (int i = 0; s->given.keep && i < s->problem->n; ++i) {
    given = given || !(s->given.keep[i] & AS_START_FREE_VELOCITY);
    free = free || (s->given.keep[i] & AS_START_FREE_VELOCITY);
  }
  return given && free;
}

/// [ST.9] velocities that are given stay, if the others can be found to fit; if not, they change as little as can be
as_status asi_project_start_velocity(as_integrator *s, double t, const double *q, double *v,
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
    memcpy(s->given.rows + p->def.n_lambda, s->increment, (size_t)rows * sizeof(double));
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

/// The residual of [ST.4] at a guess, negative: what the increments have to bring. `acceleration` holds the
/// acceleration-level terms of the constraints without v', `give` the compliance that lambda and psi act on.
/// Returns the size of the force, in typical sizes.
static as_status acceleration_residual(as_integrator *s, const as_point *point,
                                       const double *acceleration, double give, double *r,
                                       double *force) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi, x = n + rows,
            y = x + p->def.n_x;
  as_status status = asi_eval_function(&s->eval, ASI_FN_F, point, s->block, r);
  if (status == AS_OK && p->def.n_x > 0)
    status = asi_eval_function(&s->eval, ASI_FN_PHI, point, s->block, r + x);
  if (status == AS_OK && p->def.n_y > 0)
    status = asi_eval_function(&s->eval, ASI_FN_CHI, point, s->block, r + y);
  if (status) return status;
  *force = asi_max_force(p, r);
  for (int i = 0; i < rows; ++i) r[n + i] = -acceleration[i];
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, -1.0, point->vdot, r);
  if (m > 0)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], s->block[AS_BLOCK_G_Q].value, -1.0,
                            point->vdot, r + n);
  if (p->def.n_psi > 0)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_K_V], s->block[AS_BLOCK_K_V].value, -1.0,
                            point->vdot, r + n + m);
  for (int i = 0; i < rows && give > 0.0; ++i)
    r[n + i] += give * s->redundancy.inverse_d2[i] * (i < m ? point->lambda[i] : point->psi[i - m]);
  return AS_OK;
}

/// The accelerations did not settle: if outputs run away, a loop of gain one is at fault, singular but for the
/// errors of differences; otherwise Newton's method.
static as_status fail_unsettled(as_integrator *s, double t, const double *dy, int iterations,
                                double change) {
  const as_problem *p = s->problem;
  int worst = 0;
  for (int i = 1; i < p->def.n_y; ++i)
    if (!(fabs(dy[i]) <= fabs(dy[worst]))) worst = i;
  if (p->def.n_y > 0 && !(fabs(dy[worst]) <= 1e3)) {
    char name[64];
    asi_component_name(p, AS_QUANTITY_Y, worst, name, sizeof name);
    return asi_fail(
        s->eval.error, AS_ERR_SINGULAR, t, name,
        "The outputs are not determined at t = %.9g s: %s still changes by %.3g after %d "
        "iterations (an algebraic loop of gain one?).",
        t, name, dy[worst], iterations);
  }
  return asi_fail(s->eval.error, AS_ERR_CONVERGENCE, t, NULL,
                  "The accelerations and multipliers could not be found at t = %.9g s: they still "
                  "change by %.3g (relative) after %d iterations.",
                  t, change, iterations);
}

/// How much an increment of size `step` has changed some values, relative to them before or after, whichever is
/// more: at most about 1, also where they have become zero.
static double relative_change(double step, double size) {
  return step / fmax(fmax(size, step), DBL_MIN);
}

/// The largest of some multipliers, in typical sizes of the forces that they make.
static double multiplier_size(const as_integrator *s, const double *x, int first, int count) {
  double largest = 0.0;
  for (int i = 0; i < count; ++i)
    largest = asi_worse(largest, fabs(x[i]) / s->redundancy.per_row[first + i]);
  return largest;
}

/// The terms of [ST.4] in the rows that do not depend on v'.
static as_status acceleration_terms(as_integrator *s, const as_point *point, unsigned how,
                                    double *out) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda;
  as_status status = AS_OK;
  if (how & ASI_TIME_STANDS) {
    memset(out, 0, (size_t)s->redundancy.rows * sizeof(double));
    return AS_OK;
  }
  if (m > 0) status = asi_eval_constraint_acceleration(&s->eval, point, out);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_nonholonomic_acceleration(&s->eval, point, out + m);
  return status;
}

/// The accelerations that constraint forces of this size give to the heaviest, in typical sizes: near an equilibrium v' itself is
/// nothing but their round-off.
static double held_acceleration(const as_integrator *s, const asi_values *at) {
  asi_constraint_force(s, at->lambda, at->psi, s->work_n);
  return asi_max_force(s->problem, s->work_n) / fmax(s->mass_size, DBL_MIN);
}

/// The multipliers that forces are given for those of a guess.
static as_status see_guess(as_integrator *s, const asi_values *at) {
  const as_problem *p = s->problem;
  double *const lambda = s->redundancy.seen, *const psi = lambda + p->def.n_lambda;
  memcpy(lambda, at->lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(psi, at->psi, (size_t)p->def.n_psi * sizeof(double));
  return asi_least_norm(s, lambda, psi);
}

/// [ST.4] M v' = f(t,q,v,lambda,psi,x,y), B v' + (g_t + B v)' = 0, k_v v' + k' = 0, where the primes on
/// the right are total time derivatives at v' = 0; x' = phi, y = chi. One linear solve and one refinement
/// if f is additive and there are no x and y, Newton's method if not, or if compliance is to fade.
as_status asi_solve_acceleration(as_integrator *s, double t, const asi_values *at, unsigned how) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi, nx = p->def.n_x,
            ny = p->def.n_y;
  const int size = n + rows + nx + ny;
  asi_system *system = nx + ny > 0 ? &s->consistent : &s->kkt;
  const bool linear = p->def.force_kind == AS_FORCE_ADDITIVE && nx + ny == 0;
  const bool sees = asi_forces_see_least_norm(s);
  double *const lambda = sees ? s->redundancy.seen : at->lambda;
  double *const psi = sees ? lambda + m : at->psi;
  const as_point point = {.t = t,
                          .q = at->q,
                          .v = at->v,
                          .vdot = at->vdot,
                          .lambda = lambda,
                          .psi = psi,
                          .x = at->x,
                          .y = at->y};
  const bool exact = how & ASI_EXACT_ROWS, fades = exact && s->compliance > 0.0;
  const double give = exact ? 0.0 : s->compliance;
  const int most = fades && linear ? MAX_FADING_ITERATIONS : MAX_ACCELERATION_ITERATIONS;
  const as_block_set fixed = projection_blocks;
  double *r = s->kkt_rhs, *acceleration = s->residual;
  as_status status = sees ? asi_least_norm_prepare(s, t, at->q, at->v) : AS_OK;
  if (status == AS_OK && sees) status = see_guess(s, at);
  if (status == AS_OK) status = asi_blocks(s, &point, asi_system_blocks(system));
  if (status == AS_OK) status = acceleration_terms(s, &point, how, acceleration);
  double change = (double)INFINITY;
  for (int iteration = 0; status == AS_OK; ++iteration) {
    double force = 0.0;
    if (!linear && iteration > 0)
      status = asi_blocks(s, &point, asi_system_blocks(system) & ~fixed);
    if (status == AS_OK) status = acceleration_residual(s, &point, acceleration, give, r, &force);
    for (int i = 0; i < nx; ++i) r[n + rows + i] -= at->xdot[i];
    for (int i = 0; i < ny; ++i) r[n + rows + nx + i] -= at->y[i];
    if (status == AS_OK && (!linear || iteration == 0)) {
      asi_system_assemble(system, s->block, &s->motion);
      asi_add_compliance(s, system, s->compliance);
      for (int i = n + rows; i < size; ++i) system->value[system->diagonal[i]] += 1.0;
      status = asi_factor_shared(s, system, t, "the accelerations and multipliers");
    }
    if (status == AS_OK) status = asi_solve(s, system, t, r);
    if (status) break;
    for (int i = 0; i < n; ++i) at->vdot[i] += r[i];
    for (int i = 0; i < m; ++i) at->lambda[i] += r[n + i];
    for (int i = 0; i < p->def.n_psi; ++i) at->psi[i] += r[n + m + i];
    for (int i = 0; i < nx; ++i) at->xdot[i] += r[n + rows + i];
    for (int i = 0; i < ny; ++i) at->y[i] += r[n + rows + nx + i];
    memcpy(s->increment, r, (size_t)size * sizeof(double));
    r = s->increment; // kkt_rhs is taken by what follows
    if (sees) status = see_guess(s, at);
    const double previous = change;
    const double multipliers =
        fmax(multiplier_size(s, at->lambda, 0, m), multiplier_size(s, at->psi, m, p->def.n_psi));
    const double *dx = r + n + rows, *dy = dx + nx;
    change = relative_change(asi_max_motion(p, r),
                             fmax(asi_max_motion(p, at->vdot), held_acceleration(s, at)));
    change =
        asi_worse(change, relative_change(multiplier_size(s, r + n, 0, rows), multipliers + force));
    change = asi_worse(change, relative_change(asi_max_abs(dx, nx), asi_max_abs(at->xdot, nx)));
    change = asi_worse(change, relative_change(asi_max_abs(dy, ny), asi_max_abs(at->y, ny)));
    if (linear && !fades && iteration == 1 && isfinite(change)) break;
    // Quadratic convergence: the step after this one would be below round-off, or already is.
    if ((!linear || fades) && isfinite(change) &&
        (change <= 1e-9 || (change <= 1e-6 && change > 0.1 * previous)))
      break;
    if (iteration == most || !isfinite(change))
      status = fail_unsettled(s, t, dy, iteration + 1, change);
    r = s->kkt_rhs;
  }
  if (status || !sees) return status;
  memcpy(at->lambda, lambda, (size_t)m * sizeof(double));
  memcpy(at->psi, psi, (size_t)p->def.n_psi * sizeof(double));
  return AS_OK;
}

static void add_difference(double *rate, double factor, const double *next, const double *now,
                           int n) {
  for (int i = 0; i < n; ++i) rate[i] += factor * (next[i] - now[i]);
}

/// v', lambda, psi, x' and y where the motion is at t + e, to second order: q o exp(e v + e^2 v'/2),
/// v + e v', x + e x'. Adds factor times the result to the rates.
static as_status add_neighbour(as_integrator *s, const asi_values *now, double e, double factor) {
  const as_problem *p = s->problem;
  const asi_values *next = &s->next;
  for (int i = 0; i < p->n; ++i) {
    s->xi[i] = e * now->v[i] + 0.5 * e * e * now->vdot[i];
    next->v[i] = now->v[i] + e * now->vdot[i];
  }
  for (int i = 0; i < p->def.n_x; ++i) next->x[i] = now->x[i] + e * now->xdot[i];
  as_space_move(p->space, now->q, s->xi, next->q);
  memcpy(next->vdot, now->vdot, (size_t)p->n * sizeof(double));
  memcpy(next->lambda, now->lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(next->psi, now->psi, (size_t)p->def.n_psi * sizeof(double));
  memcpy(next->xdot, now->xdot, (size_t)p->def.n_x * sizeof(double));
  memcpy(next->y, now->y, (size_t)p->def.n_y * sizeof(double));
  const as_status status = asi_solve_acceleration(s, s->t + e, next, 0);
  if (status) return status;
  add_difference(s->rate.vdot, factor, next->vdot, now->vdot, p->n);
  add_difference(s->rate.lambda, factor, next->lambda, now->lambda, p->def.n_lambda);
  add_difference(s->rate.psi, factor, next->psi, now->psi, p->def.n_psi);
  add_difference(s->rate.xdot, factor, next->xdot, now->xdot, p->def.n_x);
  add_difference(s->rate.y, factor, next->y, now->y, p->def.n_y);
  return AS_OK;
}

static void clear_rates(as_integrator *s) {
  const as_problem *p = s->problem;
  memset(s->rate.vdot, 0, (size_t)p->n * sizeof(double));
  memset(s->rate.lambda, 0, (size_t)p->def.n_lambda * sizeof(double));
  memset(s->rate.psi, 0, (size_t)p->def.n_psi * sizeof(double));
  memset(s->rate.xdot, 0, (size_t)p->def.n_x * sizeof(double));
  memset(s->rate.y, 0, (size_t)p->def.n_y * sizeof(double));
}

/// How far from the start v' is looked at: h, or, if accelerations are so large that h does not resolve
/// the motion, the time in which they move something by a hundredth of its typical size.
static double neighbour_distance(const as_problem *p, const asi_values *now, double h) {
  double e = h;
  for (int i = 0; i < p->n; ++i) e = fmin(e, sqrt(0.02 * p->typical[i] / fabs(now->vdot[i])));
  return e;
}

/// Whether a step of h resolves the states: h times the row sums of |phi_x| does not exceed one. If not, x'' is
/// that of a transient which the step jumps over, and so may v'' be.
static as_status resolves_states(as_integrator *s, const asi_values *now, double h, bool *yes) {
  const as_problem *p = s->problem;
  *yes = true;
  if (!(p->present & AS_BLOCK_BIT(AS_BLOCK_PHI_X))) return AS_OK;
  const as_point at = {.t = s->t,
                       .q = now->q,
                       .v = now->v,
                       .vdot = now->vdot,
                       .lambda = now->lambda,
                       .psi = now->psi,
                       .x = now->x,
                       .y = now->y};
  const as_status status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_PHI_X));
  if (status) return status;
  const as_matrix *m = &s->block[AS_BLOCK_PHI_X];
  memset(s->rate.xdot, 0, (size_t)p->def.n_x * sizeof(double)); // row sums, for a moment
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      s->rate.xdot[m->row[k]] += fabs(m->value[k]);
  *yes = h * asi_max_abs(s->rate.xdot, p->def.n_x) <= 1.0;
  return AS_OK;
}

/// [ST.5] v'' = (v'(t + e) - v'(t - e)) / (2 e); where t - e cannot be evaluated,
/// (v'(t + 0.01 e) - v'(t)) / (0.01 e)
as_status asi_start_rates_from(as_integrator *s, const asi_values *now, double h, double reach) {
  clear_rates(s);
  bool resolved = true;
  const as_status checked = resolves_states(s, now, h, &resolved);
  clear_rates(s);
  if (checked || !resolved) return checked;
  if (!s->def.improved_start && !s->def.perturbed_start) return AS_OK;
  const double e = neighbour_distance(s->problem, now, reach);
  as_status status = AS_ERR_RETRY;
  if (!s->forward) {
    status = add_neighbour(s, now, e, 0.5 / e);
    if (status == AS_OK) status = add_neighbour(s, now, -e, -0.5 / e);
  }
  if (!as_status_is_recoverable(status)) return status;
  clear_rates(s);
  return add_neighbour(s, now, 0.01 * e, 100.0 / e);
}

as_status asi_start_rates(as_integrator *s, double h, double reach) {
  return asi_start_rates_from(s, &s->now, h, reach);
}

as_point asi_point_at_start(const as_integrator *s, const double *v) {
  return (as_point){.t = s->t,
                    .q = s->now.q,
                    .v = v,
                    .vdot = s->now.vdot,
                    .lambda = s->now.lambda,
                    .psi = s->now.psi,
                    .x = s->now.x,
                    .y = s->now.y};
}

/// [ST.6] B dv = -(g_t + B (v - l/h)), k_v dv = -k: the right sides;
/// l/h = h^2 {[1/6 - (1/2 - beta) d_n/h - beta (1 + d_{n+1}/h)] v'' + [v,v']/12}
as_status asi_index3_rows(as_integrator *s, const double *vddot, const double *v) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda;
  const double h = s->h, beta = s->c.beta;
  const double factor = 1.0 / 6.0 - (0.5 - beta) * s->d0 / h - beta * (1.0 + s->d1 / h);
  double *gdot = s->kkt_rhs + n, *k = gdot + m, *less = s->xi;
  as_space_bracket(p->space, v, s->now.vdot, less);
  for (int i = 0; i < n; ++i)
    less[i] = vddot ? v[i] - h * h * (factor * vddot[i] + less[i] / 12.0) : v[i];
  const as_point at = asi_point_at_start(s, v), late = asi_point_at_start(s, less);
  as_status status =
      asi_blocks(s, &at, asi_eval_needs(p, ASI_FN_GDOT) | asi_eval_needs(p, ASI_FN_K));
  if (status == AS_OK) status = asi_eval_function(&s->eval, ASI_FN_GDOT, &late, s->block, gdot);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_function(&s->eval, ASI_FN_K, &at, s->block, k);
  for (int i = 0; i < m + p->def.n_psi; ++i) gdot[i] = -gdot[i];
  return status;
}

as_status asi_index3_blocks(as_integrator *s, const double *v) {
  const as_point at = asi_point_at_start(s, v);
  return asi_blocks(
      s, &at, projection_blocks | AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA) | AS_BLOCK_BIT(AS_BLOCK_F_PSI));
}

// A step may begin at a singular position: then the correction is found with so much compliance, [RE.5].
#define SINGULAR_COMPLIANCE 1e-8

/// [ST.6] M dv - f_lambda mu - f_psi nu = 0, with these rows
as_status asi_index3_velocity(as_integrator *s, const double *vddot, double *v) {
  const int n = s->problem->n;
  double *rhs = s->kkt_rhs;
  const bool sees = asi_forces_see_least_norm(s);
  as_status status = sees ? asi_least_norm_prepare(s, s->t, s->now.q, v) : AS_OK;
  if (status == AS_OK) status = asi_index3_rows(s, vddot, v);
  if (status == AS_OK) status = asi_index3_blocks(s, v);
  if (status) return status;
  memset(rhs, 0, (size_t)n * sizeof(double));
  for (int tries = 0; tries < 2; ++tries) {
    asi_system_assemble(&s->kkt, s->block, &s->motion);
    asi_add_compliance(s, &s->kkt,
                       tries == 0 ? s->compliance : fmax(s->compliance, SINGULAR_COMPLIANCE));
    status = asi_factor_shared(s, &s->kkt, s->t, "the corrected velocity");
    if (status != AS_ERR_SINGULAR) break;
  }
  if (status) return status;
  status = asi_solve(s, &s->kkt, s->t, rhs);
  if (status) return status;
  for (int i = 0; i < n; ++i) v[i] += rhs[i];
  return AS_OK;
}

void asi_constraint_force(const as_integrator *s, const double *lambda, const double *psi,
                          double *out) {
  const as_problem *p = s->problem;
  const bool general = p->def.force_kind == AS_FORCE_GENERAL;
  const as_block_set present = p->present;
  memset(out, 0, (size_t)p->n * sizeof(double));
  if (!general && p->def.n_lambda > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], s->block[AS_BLOCK_G_Q].value, 1.0,
                                       lambda, out);
  if (!general && p->def.n_psi > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], s->block[AS_BLOCK_K_V].value, 1.0,
                                       psi, out);
  if (general && (present & AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA)))
    asi_panels_multiply_add(&p->panels[AS_BLOCK_F_LAMBDA], s->block[AS_BLOCK_F_LAMBDA].value, -1.0,
                            lambda, out);
  if (general && (present & AS_BLOCK_BIT(AS_BLOCK_F_PSI)))
    asi_panels_multiply_add(&p->panels[AS_BLOCK_F_PSI], s->block[AS_BLOCK_F_PSI].value, -1.0, psi,
                            out);
}

as_status asi_drift(as_integrator *s, double t, const double *q, const double *v, double *position,
                    double *velocity) {
  const as_problem *p = s->problem;
  const as_point at = {.t = t, .q = q, .v = v};
  double *value = s->kkt_rhs;
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
