/// Newton's method for one step.
///
/// Factors of the iteration matrix are kept, over steps too, while that costs less than new ones.
/// Convergence is judged on the increments of v' and on those of the constraint forces, never on lambda
/// itself: it may be undetermined, and its units differ from row to row. All decisions follow from
/// numbers of the run, never from a clock: runs are repeatable.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"
#include "core/stepper/stepper.h"

// ---- norms ----------------------------------------------------------------------------------------

static const double *stage_of(const asi_stepper *s, const double *z, int stage) {
  return z +
         stage * (s->kin->problem->n + s->kin->problem->def.n_lambda + s->kin->problem->def.n_psi);
}

static double position_round_off(const asi_stepper *s, double h) {
  return 4e-16 * s->q_size / (s->c.beta * h * h);
}

/// Round-off in v', in typical sizes, from the constraints: 4e-16 |q| / (beta h^2) where positions are constrained by v',
/// 4e-16 |v| / (gamma h) where velocities are; 4e-11 |v| / (gamma h) where B v is made with a differenced B.
double asi_round_off(const asi_stepper *s, int stage, double h) {
  const as_problem *p = s->kin->problem;
  const as_block_set b = AS_BLOCK_BIT(AS_BLOCK_G_Q);
  if (p->def.n_lambda + p->def.n_psi == 0) return 0.0;
  if (p->def.n_lambda > 0 && stage == s->method->position_stage) return position_round_off(s, h);
  const bool noisy = p->def.constraint_rate == NULL && (p->present & ~p->given & b);
  const double rate = (noisy ? 4e-11 : 4e-16) * asi_max_motion(p, s->now.v) / (s->gamma * h);
  // Round-off in q reaches v' through the forces, which turn with it.
  return fmax(rate, 4e-16 * s->q_size * asi_max_motion(p, s->now.vdot));
}

static double lesser(double a, double b) { return a < b ? a : b; }

/// [SC.8] Newton's tolerance for v' in automatic steps: not more than a tenth of what q and v are allowed.
static void limit_weights(asi_stepper *s) {
  const int n = s->kin->problem->n;
  const double by_q = s->expert.newton_share / (fmax(s->c.beta, DBL_MIN) * s->h * s->h);
  const double by_v = s->expert.newton_share / (s->gamma * s->h);
  for (int i = 0; i < n; ++i)
    s->weight[i] = lesser(s->weight[i], lesser(by_q * s->allowed[i], by_v * s->allowed[n + i]));
}

/// [NW.1] w_i = rtol max(|v'_i|, 0.01 max |v'|) + atol_i, not below round-off; the largest v' is that of the
/// rotations of bodies for these, of all else for all else, in typical sizes
static void set_weights(asi_stepper *s) {
  const int n = s->kin->problem->n;
  const double *const z = s->z, *const turns = s->is_rotation, *const atol = s->atol;
  const double *const typical = s->kin->problem->typical, *const per = s->kin->problem->per_typical;
  double *const weight = s->weight;
  s->q_size = asi_max_position(s->kin->problem, s->now.q);
  for (int stage = 0; stage < s->stages; ++stage)
    s->round_off[stage] = asi_round_off(s, stage, s->h);
  const double floor = s->round_off[s->stages - 1];
  asi_simd2 turning = asi_simd_splat(0.0), other = turning, widest = turning;
  for (int i = 0; i < n; i += 2) {
    const asi_simd2 size = asi_simd_abs(asi_simd_load(z + i)) * asi_simd_load(per + i);
    const asi_simd2 of_turn = size * asi_simd_load(turns + i);
    turning = asi_simd_max(of_turn, turning);
    other = asi_simd_max(size - of_turn, other);
  }
  const asi_simd2 least_turn =
      asi_simd_splat(s->expert.newton_least_size * fmax(turning[0], turning[1]));
  const asi_simd2 least_other =
      asi_simd_splat(s->expert.newton_least_size * fmax(other[0], other[1]));
  for (int i = 0; i < n; i += 2) {
    const asi_simd2 turn = asi_simd_load(turns + i), unit = asi_simd_load(typical + i);
    const asi_simd2 least = turn * least_turn + (asi_simd_splat(1.0) - turn) * least_other;
    const asi_simd2 size = asi_simd_max(least * unit, asi_simd_abs(asi_simd_load(z + i)));
    const asi_simd2 wanted = asi_simd_splat(s->newton_rtol) * size + asi_simd_load(atol + i);
    asi_simd_store(weight + i, asi_simd_max(wanted, asi_simd_splat(floor) * unit));
    widest = asi_simd_max(wanted * asi_simd_load(per + i), widest);
  }
  // Where round-off is the tolerance, increments of half of it are nothing but that.
  s->noise = floor > 0.1 * fmax(widest[0], widest[1]) ? 0.5 : 0.0;
  if (!s->controlled) return;
  limit_weights(s);
  for (int i = 0; i < n; ++i) weight[i] = fmax(weight[i], s->floor_share * floor * typical[i]);
}

/// The root of the mean square of x over its tolerances, which are factor * weight, not below a floor in typical sizes.
double asi_weighted_norm(const asi_stepper *s, const double *x, double factor, double floor) {
  const int n = s->kin->problem->n;
  asi_simd2 sum = asi_simd_splat(0.0);
  for (int i = 0; i + 1 < n; i += 2) {
    const asi_simd2 tolerance = asi_simd_splat(factor) * asi_simd_load(s->weight + i);
    const asi_simd2 least = asi_simd_splat(floor) * asi_simd_load(s->kin->problem->typical + i);
    const asi_simd2 e = asi_simd_load(x + i) / asi_simd_max(tolerance, least);
    sum += e * e;
  }
  const double least = n % 2 ? floor * s->kin->problem->typical[n - 1] : 0.0;
  const double last = n % 2 ? x[n - 1] / fmax(factor * s->weight[n - 1], least) : 0.0;
  return sqrt((sum[0] + sum[1] + last * last) / n);
}

static double acceleration_norm(const asi_stepper *s, int stage) {
  return asi_weighted_norm(s, stage_of(s, s->increment, stage), 1.0, 0.0);
}

/// The size of the constraint forces of a set of multipliers, in typical sizes.
static double force_size(asi_stepper *s, const double *z) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, psi = n + p->def.n_lambda;
  if (p->def.force_kind == AS_FORCE_ADDITIVE && p->def.n_psi == 0)
    return asi_panels_transposed_size_by(s->kin->pool, &p->panels[AS_BLOCK_G_Q],
                                         s->kin->block[AS_BLOCK_G_Q].value, z + n, p->typical);
  asi_constraint_force(s->kin, z + n, z + psi, s->work_n);
  return asi_max_force(p, s->work_n);
}

/// [NW.7] max |B^T dlambda| / (rtol max |B^T lambda| + max |M| w): the same tolerance for the forces. B^T lambda is that of
/// the equations, if they have made it: before the increment, which has hardly changed it if it passes.
static double force_norm(asi_stepper *s, int stage) {
  const as_problem *p = s->kin->problem;
  if (p->def.n_lambda + p->def.n_psi == 0) return 0.0;
  const bool made = p->def.force_kind == AS_FORCE_ADDITIVE && p->def.n_psi == 0 && stage == 0;
  const double change = force_size(s, stage_of(s, s->increment, stage));
  const double size =
      made ? fmax(s->kin->eval.constraint_force, change) : force_size(s, stage_of(s, s->z, stage));
  const double least = 4.0 * s->round_off[stage] + s->atol[0] * p->per_typical[0];
  return change / (s->newton_rtol * size + least * s->kin->mass_size + DBL_MIN);
}

/// [NW.8] max |dx'_i| h / (rtol (|x_i| + h |x'_i|) + atol h) and max |dy_i| / (rtol (|y_i| + 1e-3 |y|) + atol)
static double state_norm(const asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int nx = p->def.n_x, ny = p->def.n_y, x = s->unknowns - nx - ny, y = x + nx;
  const double rtol = s->newton_rtol, h = s->h;
  const double given = s->def->newton.atol, atol = isnan(given) ? 1e-12 : given;
  const double atol_x = isnan(given) ? 1e-12 * s->kin->eval.rate : given;
  const double rtol_x = s->controlled ? fmin(rtol, s->expert.newton_share * s->state_rtol) : rtol;
  const double largest = asi_max_abs(s->z + y, ny);
  double norm = 0.0;
  for (int i = 0; i < nx; ++i) {
    const double size = fabs(s->next.x[i]) + h * fabs(s->z[x + i]);
    norm = asi_max_nan(norm, h * fabs(s->increment[x + i]) / (rtol_x * size + atol_x * h));
  }
  for (int i = 0; i < ny; ++i)
    norm = fmax(norm,
                fabs(s->increment[y + i]) / (rtol * (fabs(s->z[y + i]) + 1e-3 * largest) + atol));
  return norm;
}

/// The output that an increment changes most.
static int worst_output(const asi_stepper *s) {
  const double *dy = s->increment + s->unknowns - s->kin->problem->def.n_y;
  int worst = 0;
  for (int i = 1; i < s->kin->problem->def.n_y; ++i)
    if (!(fabs(dy[i]) <= fabs(dy[worst]))) worst = i;
  return worst;
}

static as_status fail_to_converge(asi_stepper *s, int iterations) {
  const as_problem *p = s->kin->problem;
  if (p->def.n_y > 0 && state_norm(s) > acceleration_norm(s, 0)) {
    const int output = worst_output(s);
    const double change = s->increment[s->unknowns - p->def.n_y + output];
    char of[ASI_LOOP_NAME];
    asi_component_name(p, AS_QUANTITY_Y, output, of, sizeof of);
    if (!(fabs(change) <= s->newton_rtol * fabs(s->z[s->unknowns - p->def.n_y + output])))
      return asi_fail(
          s->kin->eval.error, AS_ERR_CONVERGENCE, s->t1, of,
          "Newton's method did not converge in the step to t = %.9g s: %s still changes "
          "by %.3g after %d iterations, with a relative tolerance of %.3g.",
          s->t1, of, fabs(change), iterations, s->newton_rtol);
  }
  int worst = 0;
  for (int i = 1; i < s->kin->problem->n; ++i)
    if (!(fabs(s->increment[i]) / s->weight[i] <= fabs(s->increment[worst]) / s->weight[worst]))
      worst = i;
  char name[64];
  asi_component_name(s->kin->problem, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(
      s->kin->eval.error, AS_ERR_CONVERGENCE, s->t1, name,
      "Newton's method did not converge in the step to t = %.9g s: the acceleration of "
      "%s still changes by %.3g after %d iterations, with a relative tolerance of %.3g.",
      s->t1, name, fabs(s->increment[worst]), iterations, s->newton_rtol);
}

// ---- old factors or new ones ----------------------------------------------------------------------

/// [NW.4] iterations that bring an increment of size `norm` to convergence with contraction r
static double iterations_to_go(const asi_stepper *s, double norm, double r) {
  if (norm <= DBL_EPSILON) return 1.0; // converged, however slowly
  if (!(r < s->expert.newton_slowest)) return (double)INFINITY;
  const double target = s->expert.newton_accuracy * (1.0 - r) / r;
  return norm <= target ? 1.0 : 1.0 + ceil(log(target / norm) / log(r));
}

/// Whether the factors at hand were made for such a step.
static bool is_same_step(const asi_stepper *s) {
  return fabs(s->factor_h / s->h - 1.0) <= 1e-9 &&
         fabs(s->factor_gamma - s->gamma) <= s->expert.reuse_gamma;
}

typedef struct costs {
  double iteration, refactorization;
} costs;

/// Counted in operations of a solve (two per entry of the factors); the weights of the other kinds of work were
/// measured once: 1.7 for a flop of a factorization, 40 per unknown and a call for an evaluation of the equations, 2
/// for an entry of a given block, which is evaluated along with them, 1 for a product of assembly.
static costs count_costs(const asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  asi_solver_info info;
  s->method->solver_info(s, &info);
  const int count = asi_unknowns_that_count(s);
  const double evaluation = 40.0 * count + 300.0, share = (double)count / (double)s->unknowns;
  costs c = {.iteration = share * share * info.solve_operations + evaluation,
             .refactorization = 1.7 * share * share * share * info.factor_operations};
  as_block_set seen = 0;
  for (int i = 0; i < s->active->n_terms; ++i) {
    const as_block block = s->active->term[i].block;
    c.refactorization += share * share * s->active->products[i].count;
    if (seen & AS_BLOCK_BIT(block)) continue;
    seen |= AS_BLOCK_BIT(block);
    c.refactorization += p->colouring[block].n_colours > 0
                             ? 2.0 * p->colouring[block].n_colours * evaluation
                             : 2.0 * share * asi_pattern_nnz(&p->pattern[block]);
  }
  return c;
}

/// [NW.5] whether new factors, and the fewer iterations they need for an increment of size `norm`, cost less than going
/// on with the old ones, whose contraction is r
static bool refactor_is_cheaper(const asi_stepper *s, const costs *c, double norm, double r) {
  const double fresh = fmax(s->history.fresh_contraction, s->expert.newton_plan);
  return c->refactorization + iterations_to_go(s, norm, fresh) * c->iteration <
         iterations_to_go(s, norm, r) * c->iteration;
}

/// [NW.12] whether factors age alike: in given steps of the size they were made for, where nothing is stiff and the motion
/// does not change suddenly
static bool ages_predictably(const asi_stepper *s) {
  return !s->controlled && !s->path.is_stiff && is_same_step(s) &&
         s->history.first_norm <= s->expert.newton_sudden;
}

/// [NW.12] what factors do of which nothing was seen yet, if they age as those before did; 1: not known
static double contraction_by_factor_age(const asi_stepper *s) {
  if (s->history.factor_ages_left == 0 || !ages_predictably(s)) return 1.0;
  return fmin(fmax(s->history.contraction_per_age, s->expert.newton_guess) * (double)s->factor_age,
              s->expert.newton_slowest);
}

/// What the factors at hand, made some steps ago, will do in this step; not better than `floor`.
static double expected_contraction(const asi_stepper *s, double floor) {
  if (s->history.contraction_age == 0) {
    const double by_age = contraction_by_factor_age(s);
    if (iterations_to_go(s, s->history.first_norm, by_age) <= 1.0) return by_age;
    const double unseen = s->expert.newton_unseen * (double)s->factor_age;
    return fmin(fmax(s->history.fresh_contraction, unseen), s->expert.newton_slowest);
  }
  const double growth = (double)s->factor_age / (double)s->history.contraction_age;
  return fmin(fmax(s->history.contraction, floor) * growth, s->expert.newton_slowest);
}

/// [NW.11] whether this step is expected to cost more with the old factors than the steps since they were made have cost
/// on average, their making included; only if the last step has shown what they do
static bool refactor_amortises(const asi_stepper *s, const costs *c) {
  if (s->history.contraction_age == 0 || s->history.contraction_age < s->factor_age - 1)
    return false;
  const double r = expected_contraction(s, s->expert.newton_plan);
  const double spent = c->refactorization + (double)s->factor_iterations * c->iteration;
  return spent / (double)s->factor_age <
         iterations_to_go(s, s->history.first_norm, r) * c->iteration;
}

as_status asi_newton_factorize(asi_stepper *s, bool again) {
  ++s->kin->statistics.jacobian_evaluations;
  const bool likewise = is_same_step(s);
  s->factor_h = (double)NAN;
  const as_status status = s->method->linearize(s, again);
  if (status) return status;
  s->factor_h = s->h;
  s->factor_gamma = s->gamma;
  s->factor_compliance = s->kin->compliance;
  s->factor_age = 0;
  s->factor_iterations = 0;
  s->history.contraction_age = 0;
  if (!likewise)
    s->history.factor_ages_left = 0; // after a restart, too
  else if (s->history.factor_ages_left > 0)
    --s->history.factor_ages_left;
  return AS_OK;
}

/// What new factors will do for an increment of size `norm`: convergence is quadratic, so larger increments than
/// those that were observed contract less. With factors of a simpler matrix it may be linear.
static double fresh_contraction(const asi_stepper *s, double norm) {
  const bool quadratic =
      s->history.fresh_seen && (s->active == &s->step || s->method->shared_is_exact);
  const double growth = quadratic ? fmax(1.0, norm / s->history.fresh_norm) : 1.0;
  // A contraction much better than that, seen several times, is believed a little more.
  const double floor =
      fmin(fmax(100.0 * s->history.fresh_contraction, 1e-6), s->expert.newton_fresh_guess);
  return fmin(
      fmax(s->history.fresh_contraction * growth, quadratic ? floor : s->expert.newton_guess),
      s->expert.newton_slowest);
}

/// Remembers a ratio of two increments, the first of size `norm`, made with factors of this step or an earlier
/// one.
static void observe_contraction(asi_stepper *s, double norm, double r) {
  if (s->factor_age == 0) {
    const double faded = s->history.fresh_seen ? 0.3 * s->history.fresh_contraction : 0.0;
    if (r >= faded) s->history.fresh_norm = norm;
    s->history.fresh_contraction = fmax(faded, r);
    s->history.fresh_seen = true;
  } else {
    s->history.contraction =
        s->history.contraction_age > 0 ? fmax(0.3 * s->history.contraction, r) : r;
    s->history.contraction_age = s->factor_age;
    if (!ages_predictably(s)) return;
    const double faded =
        s->history.factor_ages_left > 0 ? 0.5 * s->history.contraction_per_age : 0.0;
    s->history.contraction_per_age = fmax(faded, r / (double)s->factor_age);
    s->history.factor_age_norm = norm;
    s->history.factor_ages_left = ASI_FACTOR_AGES_BELIEVED;
  }
}

// ---- the iteration --------------------------------------------------------------------------------

as_status asi_newton_solve(asi_stepper *s) {
  ++s->kin->statistics.newton_iterations;
  ++s->factor_iterations;
  double *const solution = s->residual; // it is solved for in place
  s->residual = s->increment;
  s->increment = solution;
  return s->method->solve(s, s->increment);
}

double asi_newton_apply(asi_stepper *s) {
  for (int i = 0; i < s->unknowns; ++i) s->z[i] -= s->increment[i];
  double norm = state_norm(s);
  for (int stage = 0; stage < s->stages; ++stage)
    norm = asi_max_nan(norm, asi_max_nan(acceleration_norm(s, stage), force_norm(s, stage)));
  if (s->method->other_norm) norm = asi_max_nan(norm, s->method->other_norm(s));
  return norm;
}

/// One iteration with the factors at hand, or new ones; the size of the increment in tolerances.
static as_status iterate(asi_stepper *s, bool refactor, bool again, double *norm) {
  as_status status = s->method->evaluate(s, refactor);
  if (status == AS_OK && refactor) status = asi_newton_factorize(s, again);
  if (status == AS_OK) status = asi_newton_solve(s);
  if (status == AS_OK) *norm = asi_newton_apply(s);
  return status;
}

/// Where the matrix in use has the equations of motion, and v', once more: those of a second stage. Otherwise its size.
int asi_second_stage(const asi_stepper *s) {
  const asi_system *a = s->active;
  return a->unknowns == ASI_UNKNOWNS_TWO_STAGES ? a->size / 2 : a->size;
}

/// Whether i belongs to the n equations of motion, or to v', of a stage; the second one begins at `again`.
bool asi_is_motion(int i, int n, int again) { return i < n || (i >= again && i < again + n); }

/// [SC.13] A w = r with r_i = r_0 s_i sum_j |A_ij| d_j over the columns j that move, in the rows of constraints, and numbers s_i
/// between -1 and 1, other ones in each probe. r_0 is the round-off of [NW.1]. Factors of an earlier step will do.
static as_status solve_round_off(asi_stepper *s, double r0, double probe, double *w) {
  const asi_system *a = s->active;
  const as_problem_def *def = &s->kin->problem->def;
  const int n = s->kin->problem->n, states = a->size - def->n_x - def->n_y,
            again = asi_second_stage(s);
  const double *const typical = s->kin->problem->typical;
  const double least = s->expert.moving_share * asi_max_motion(s->kin->problem, s->next.v);
  memset(w, 0, (size_t)a->size * sizeof(double));
  for (int j = 0; j < a->size; ++j) {
    if (!asi_is_motion(j, n, again)) continue;
    const int i_v = j < n ? j : j - again;
    if (!(fabs(s->next.v[i_v]) > least * typical[i_v])) continue;
    for (int k = a->pattern.col_start[j]; k < a->pattern.col_start[j + 1]; ++k) {
      const int i = a->pattern.row[k];
      if (!asi_is_motion(i, n, again) && i < states) w[i] += fabs(a->value[k]) * typical[i_v];
    }
  }
  for (int i = n; i < states; ++i) w[i] *= r0 * sin(probe * (1.0 + i));
  return asi_solve(s->kin, s->active, s->t1, w);
}

double asi_amplify_round_off(asi_stepper *s, int stage, double *noise, double *of_states,
                             double *w) {
  static const double probes[] = {1.0, 2.3, 3.9};
  const as_problem_def *def = &s->kin->problem->def;
  const int n = s->kin->problem->n, again = asi_second_stage(s);
  const int nx = of_states ? def->n_x : 0, states = s->active->size - def->n_x - def->n_y;
  const bool two = again < s->active->size;
  const double r0 = asi_round_off(s, stage, s->h);
  double amplified = 0.0;
  memset(noise, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < nx; ++i) of_states[i] = 0.0;
  for (int k = 0; k < 3 && r0 > 0.0; ++k) {
    if (solve_round_off(s, r0, probes[k], w) != AS_OK) break;
    for (int i = 0; i < n; ++i)
      noise[i] = fmax(noise[i], fmax(fabs(w[i]), two ? fabs(w[again + i]) : 0.0));
    for (int i = 0; i < nx; ++i) of_states[i] = fmax(of_states[i], fabs(w[states + i]));
    amplified = asi_max_motion(s->kin->problem, noise) / r0;
  }
  const as_problem *p = s->kin->problem;
  // Velocities that meet g' = 0 follow from B at positions that are as uncertain as v' is: what is amplified is so twice, and,
  // where that is much, not less than what positions themselves have.
  double factor = 1.0;
  if (stage != s->method->position_stage && r0 > 0.0) {
    const double length = s->kin->redundancy.length;
    factor = amplified * (length > 0.0 ? fmax(s->q_size * p->length / length, 1.0) : 1.0);
    if (amplified > s->expert.round_off_amplified && p->def.n_lambda > 0)
      factor = fmax(factor, position_round_off(s, s->h) / r0);
  }
  factor *= s->expert.round_off_margin;
  for (int i = 0; i < n; ++i) noise[i] = fmax(factor * noise[i], r0 * p->typical[i]);
  for (int i = 0; i < nx; ++i) of_states[i] *= factor;
  return amplified;
}

/// [NW.2] what is left is round-off: with new factors the increments do not shrink, and they move neither
/// q (beta h^2 |dv'| < 1e-11 (1 + |q|)) nor v (gamma h |dv'| < 1e-7 (rate + |v|)) visibly, in typical sizes; close to a singular
/// position, where constraints amplify round-off, up to a hundred times as much if they make that of it [SC.13]
static bool is_round_off(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  double dvdot = 0.0;
  for (int stage = 0; stage < s->stages; ++stage)
    dvdot = asi_max_nan(dvdot, asi_max_motion(p, stage_of(s, s->increment, stage)));
  const double of_q = s->c.beta * s->h * s->h * dvdot / (1.0 + asi_max_position(p, s->next.q));
  const double of_v = s->gamma * s->h * dvdot / (s->kin->eval.rate + asi_max_motion(p, s->next.v));
  if (of_q < 1e-11 && of_v < 1e-7) return true;
  if (!(of_q < 1e-9 && of_v < 1e-5)) return false;
  return asi_amplify_round_off(s, s->stages - 1, s->work_n, NULL, s->residual) > 0.0 &&
         dvdot < asi_max_motion(p, s->work_n);
}

/// [NW.10] Before this increment the positions met their constraints to round-off, |g| <= 4e-16 |q| in typical sizes, and the
/// other equations were solved far better than needed: |g'|, |k| <= 1e-3 rtol gamma h |v'| and
/// |M v' - f| <= 1e-3 rtol (|B^T lambda| + |M| |v'|). Then an increment below the tolerance is round-off, and
/// says nothing about contraction.
static bool only_round_off_is_left(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const asi_left *left = &s->left;
  const double little = 1e-3 * s->newton_rtol, vdot = asi_max_motion(p, s->next.vdot);
  if (!s->method->residuals_tell || p->def.n_lambda == 0 || p->def.n_x + p->def.n_y > 0)
    return false;
  if (!(left->position <= 4e-16 * asi_max_position(p, s->next.q) &&
        left->velocity <= little * s->gamma * s->h * vdot))
    return false;
  asi_constraint_force(s->kin, s->next.lambda, s->next.psi, s->work_n);
  const double inertia = s->kin->mass_size * vdot;
  return left->dynamics <= little * (asi_max_force(p, s->work_n) + inertia);
}

/// Whether the step is to begin with new factors. Those for another h are used, too, where nothing is stiff: to leading
/// order no block of the matrix depends on it. Those of a step that was taken back are not.
static bool begins_with_new_factors(const asi_stepper *s) {
  const double ratio = s->factor_h / s->h;
  const bool same = is_same_step(s);
  const bool similar =
      ratio < s->expert.reuse_ratio && ratio > 1.0 / s->expert.reuse_ratio && !s->path.is_stiff;
  if (!(s->def->newton.reuse && (same || similar) && s->factor_compliance == s->kin->compliance &&
        s->factor_age > 0))
    return true;
  const costs c = count_costs(s);
  return refactor_is_cheaper(s, &c, s->history.first_norm,
                             expected_contraction(s, s->expert.newton_guess)) ||
         refactor_amortises(s, &c);
}

enum { STARTS = 4 };
static const double held[STARTS] = {1.0, 0.0, 0.5, 0.75}; ///< [NW.17] where they are

/// How a step is damped.
typedef struct damped {
  int starts;       ///< how often it has begun
  int left;         ///< iterations that the last start may still take
  as_status status; ///< with which it would have failed without,
  as_error told;    ///< and what would have been said
} damped;

/// [NW.17] Machines with constraints and neither states nor outputs pass singular positions by [RE.5] first: their steps are damped where
/// that has not helped.
static bool may_be_damped(const asi_stepper *s) {
  const as_problem_def *def = &s->kin->problem->def;
  return s->kin->redundancy.rows == 0 || def->n_x + def->n_y > 0 || s->damping.insists;
}

static as_status give_up(asi_stepper *s, const damped *d) {
  if (s->kin->eval.error) *s->kin->eval.error = d->told;
  return d->status;
}

/// [NW.17] An iteration that has failed with `status`, or diverges (AS_OK), goes on with damping: from one start and another, and behind
/// these from where z was before it was led astray. *before, *norm: the last two corrections, in tolerances.
static as_status damp(asi_stepper *s, damped *d, as_status status, int iteration, double *before,
                      double *norm) {
  s->damping.used = true;
  if (d->starts == 0) {
    d->status = status ? status : fail_to_converge(s, iteration);
    if (s->kin->eval.error) d->told = *s->kin->eval.error;
    status = d->status;
  } else {
    for (int i = 0; i < s->unknowns; ++i) s->z[i] += s->increment[i];
    if (s->eta_path) asi_index2_path(s);
    status = asi_damp(s, &d->left, before, norm);
  }
  while (as_status_is_recoverable(status) && d->starts < STARTS) {
    asi_predict(s, held[d->starts++]);
    d->left = (int)s->expert.damping_iterations;
    status = asi_damp(s, &d->left, before, norm);
  }
  return as_status_is_recoverable(status) ? give_up(s, d) : status;
}

as_status asi_newton(asi_stepper *s) {
  asi_predict(s, s->damping.holds ? 1.0 : 0.0);
  set_weights(s);
  bool refactor = begins_with_new_factors(s);
  bool refactorized = false, exhausted = false, moved = false; // the last: z, from the prediction
  bool from_prediction = refactor; // with factors of where the step is predicted to end
  double previous = 0.0;           // size of the increment before; 0: none
  damped d;
  d.starts = 0;
  s->damping.used = false;
  for (int iteration = 1; iteration <= s->def->newton.max_iterations; ++iteration) {
    bool fresh = refactor; // factors of this very iterate
    double norm = 0.0;
    as_status status = iterate(s, refactor, refactorized, &norm);
    if (refactor) refactorized = true;
    refactor = false;
    // Old factors, or those of a simpler matrix, may lead astray: begin again with better ones before damping, and before
    // giving up. They would not help where the prediction itself cannot be evaluated.
    const bool outside = status == AS_ERR_RETRY || status == AS_ERR_NONFINITE;
    // An increment that has grown where nothing but round-off is left has not been led anywhere.
    const bool astray =
        status == AS_OK && (isnan(norm) || (previous > 1.0 && norm > previous && !is_round_off(s)));
    const bool approximate = s->active == &s->shared;
    if ((as_status_is_recoverable(status) || astray) && (!refactorized || approximate) &&
        !(outside && !moved)) {
      asi_predict(s, s->damping.holds ? 1.0 : 0.0);
      moved = false;
      refactor = from_prediction = true;
      previous = 0.0;
      continue;
    }
    if ((outside || astray) && may_be_damped(s)) {
      status = damp(s, &d, status, iteration, &previous, &norm);
      refactorized = true;
      fresh = false;
    }
    if (status) return status;
    moved = true;
    if (!isfinite(norm)) return fail_to_converge(s, iteration);
    if (iteration == 1) s->history.first_norm = norm;
    if (iteration == 1 && norm > s->expert.newton_sudden) s->history.factor_ages_left = 0;
    // [NW.3] error after this increment ~ norm r / (1 - r), with the ratio r of two increments. Before
    // there are two of them in this step, r is what was seen in earlier ones, if anything was.
    const bool noise = norm <= 1.0 && previous > 0.0 && only_round_off_is_left(s);
    double r = 1.0;
    if (previous > 0.0 && !fresh) {
      r = norm / previous;
      s->kin->statistics.contraction = r;
      observe_contraction(s, previous, noise ? 0.0 : fmax(norm - s->noise, 0.0) / previous);
    } else if (fresh) {
      r = fresh_contraction(s, norm);
    } else if (s->history.contraction_age > 0) {
      r = expected_contraction(s, s->expert.newton_guess);
    } else {
      // An increment much larger than those it was seen for may contract less.
      r = fmin(contraction_by_factor_age(s) * fmax(1.0, norm / (2.0 * s->history.factor_age_norm)),
               1.0);
    }
    const bool converged = noise || (r < 1.0 && norm * r / (1.0 - r) <= s->expert.newton_accuracy);
    const bool stuck = fresh && previous > 0.0 && norm > 0.2 * previous;
    if (converged || norm <= DBL_EPSILON || (stuck && is_round_off(s)))
      return s->method->check ? s->method->check(s) : AS_OK;
    if (previous > 0.0) {
      const costs c = count_costs(s);
      // Factors of a far prediction contract badly, new ones of where the iteration has come to do not.
      const bool late = iteration == (s->def->newton.max_iterations + 1) / 2 && !approximate;
      refactor = late || r > 0.5 || refactor_is_cheaper(s, &c, norm * r, r);
    }
    previous = norm;
    if (iteration < s->def->newton.max_iterations) continue;
    // So many iterations with better factors, too, and with damping.
    if (!exhausted && (!from_prediction || approximate)) {
      asi_predict(s, s->damping.holds ? 1.0 : 0.0);
      moved = false;
      refactor = exhausted = from_prediction = true;
      previous = 0.0;
    } else if (d.starts < STARTS && may_be_damped(s)) {
      status = damp(s, &d, AS_OK, iteration, &previous, &norm);
      if (status) return status;
      previous = norm;
      refactor = exhausted = true;
    } else {
      break;
    }
    iteration = 0;
  }
  return d.starts > 0 ? give_up(s, &d) : fail_to_converge(s, s->def->newton.max_iterations);
}
