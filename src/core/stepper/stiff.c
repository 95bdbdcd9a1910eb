/// What a step adds to velocities beyond the motion, and stiff directions.
///
/// Over a step of size h,
///
///     q_1 - q_0 = h v_0 + h^2 [(1/2 - beta) a_0 + beta a_1]
///
/// holds with the exact q if v_0 is its velocity plus l/h, l being the local error of [SC.1]. That is what v becomes in
/// directions in which positions are held, by a stiff spring or a constraint, and what it may be in all others. With
/// another h another v_0 is right; with the old one a spring would vibrate with v' off by O(h), and the error estimate would
/// see nothing else. For constraints this is cured by [ST.6].
///
/// [GA.15] Where h changes, so does v:
///
///     v_0 <- v_0 + (l/h)_new - (l/h)_old - (e_new - e_old)
///
/// with v'' = p''' in l, p being the cubic through the ends of the last three steps, which a vibration hardly moves; e is how
/// much, over h, constraints moved q in the last step beyond v and a (-B^T eta of index-2, beta h (a~ - a_1) of SOI2), scaled
/// to this one. Dampers hold velocities, not positions: where they do, v stays.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"
#include "lie/space.h"

// F, by powers of G: G^4 T_4(5 G/2 - 1) with Chebyshev's T_4, scaled to F(1) = 1. Below 0.03 for x < 4, above 0.98 for x > 1000:
// where positions are not held firmly, p' and p'' of a vibration would feed it.
enum { POWERS = 8 };
static const double filter[POWERS] = {
    0.0, 0.0, 0.0, 2.0 / 47.0, -80.0 / 47.0, 500.0 / 47.0, -1000.0 / 47.0, 625.0 / 47.0};

enum { LAG_POWERS = 8 };

void asi_path_forget(asi_stepper *s) {
  s->path.count = 0;
  s->path.stiff = s->path.is_stiff = s->path.leads = false;
  s->path.excited = s->path.excites = false;
}

/// l/h over v'': h^2 [1/6 - (1/2 - beta) d_n/h - beta (1 + d_{n+1}/h)]
static double lag(const asi_stepper *s) {
  const double h = s->h, beta = s->c.beta;
  return h * h * (1.0 / 6.0 - (0.5 - beta) * s->d0 / h - beta * (1.0 + s->d1 / h));
}

// ---- the path as a prediction ---------------------------------------------------------------------
//
// [NW.15] Accelerations of a vibration that steps jump over alternate: extrapolated, they lead far away from where stiff springs let
// a step end, and Newton's method from there to solutions in which springs have turned over. Positions go on as before.

double asi_path_reach(const asi_stepper *s) {
  const double *h = s->path.h;
  return s->path.count > 1 ? fmin((h[0] + s->h) / (h[0] + h[1]), s->expert.path_farthest) : 0.0;
}

double asi_path_mean(const asi_stepper *s, double far, int i) {
  return s->path.mean[0][i] + far * (s->path.mean[0][i] - s->path.mean[1][i]);
}

void asi_path_extrapolate(asi_stepper *s, const double *z, double by_z, double by_vdot,
                          double by_a) {
  const double h = s->h, beta = s->c.beta;
  for (int i = 0; i < s->kin->problem->n && !s->controlled; ++i) {
    const double a = by_z * z[i] + by_vdot * s->vdot0[i] + by_a * s->a0[i];
    s->path.extrapolated[i] = h * s->v0[i] + h * h * ((0.5 - beta) * s->a0[i] + beta * a);
  }
}

void asi_path_predict(const asi_stepper *s, double *a) {
  const double h = s->h, beta = s->c.beta, far = asi_path_reach(s);
  for (int i = 0; i < s->kin->problem->n; ++i)
    a[i] = (asi_path_mean(s, far, i) - s->v0[i] - h * (0.5 - beta) * s->a0[i]) / (h * beta);
}

/// Whether the path would have predicted the last step better than extrapolation did.
static bool path_leads(const asi_stepper *s) {
  const double far = asi_path_reach(s);
  double by_path = 0.0, by_rates = 0.0;
  if (s->controlled || s->path.count == 0) return false;
  for (int i = 0; i < s->kin->problem->n; ++i) {
    const double per = s->kin->problem->per_typical[i];
    by_path = fmax(by_path, fabs(s->h * asi_path_mean(s, far, i) - s->xi[i]) * per);
    by_rates = fmax(by_rates, fabs(s->path.extrapolated[i] - s->xi[i]) * per);
  }
  return by_path < s->expert.path_better * by_rates;
}

// ---- the path ---------------------------------------------------------------------------------------

/// p', p'' and p''' at the end of the last step.
typedef struct path_rates {
  double first, second, third;
} path_rates;

static path_rates rates_of_path(const asi_stepper *s, int i) {
  const double *h = s->path.h;
  const double d0 = s->path.mean[0][i], d1 = s->path.mean[1][i], d2 = s->path.mean[2][i];
  const double late = (d0 - d1) / (h[0] + h[1]), early = (d1 - d2) / (h[1] + h[2]);
  const double third = (late - early) / (h[0] + h[1] + h[2]);
  return (path_rates){d0 + h[0] * (late + (h[0] + h[1]) * third),
                      2.0 * (late + (2.0 * h[0] + h[1]) * third), 6.0 * third};
}

/// [DO.2] The rates of q at the ends of the step: v, where springs are stiff less what it has beyond the path,
/// (v_0 + v_1)/2 - (mean of v over the step) - h^2 v''/12.
static void find_rates(asi_stepper *s) {
  const double twelfth = s->h * s->h / 12.0;
  const bool known = s->path.excited && s->path.count == ASI_PATH;
  for (int i = 0; i < s->kin->problem->n; ++i) {
    const double v0 = known ? s->v0[i] : s->now.v[i], v1 = s->next.v[i];
    const double beyond =
        known ? 0.5 * (v0 + v1) - s->path.mean[0][i] - twelfth * rates_of_path(s, i).third : 0.0;
    s->last.rate[0][i] = v0 - beyond;
    s->last.rate[1][i] = v1 - beyond;
  }
}

void asi_path_note(asi_stepper *s) {
  const int n = s->kin->problem->n;
  const double h = s->h, beta = s->c.beta;
  double *const mean = s->path.mean[ASI_PATH - 1];
  s->path.leads = path_leads(s);
  for (int k = ASI_PATH - 1; k > 0; --k) {
    s->path.mean[k] = s->path.mean[k - 1];
    s->path.h[k] = s->path.h[k - 1];
  }
  s->path.mean[0] = mean;
  s->path.h[0] = h;
  if (s->path.count < ASI_PATH) ++s->path.count;
  s->path.lag = lag(s);
  s->path.stiff = s->path.is_stiff;
  s->path.excited = s->path.excites;
  // The mean of v over the step, since xi = integral of v + h^3 [v,v']/12.
  as_space_bracket(s->kin->problem->space, s->v0, s->now.vdot, mean);
  const double per_h = 1.0 / h, twelfth = h * h / 12.0;
  const double by_a0 = h * (0.5 - beta), by_a1 = h * beta;
  for (int i = 0; i < n; ++i) {
    const double moved = s->xi[i] * per_h;
    mean[i] = moved - twelfth * mean[i];
    s->path.extra[i] = moved - s->v0[i] - by_a0 * s->a0[i] - by_a1 * s->next.a[i];
  }
  find_rates(s);
}

/// Where the unknowns of a stage begin, and the factor of M in S.
typedef struct stages {
  int stride, last;
  double mass;
} stages;

static stages stages_of(const asi_stepper *s) {
  const as_problem_def *def = &s->kin->problem->def;
  const int stride = s->kin->problem->n + def->n_lambda + def->n_psi;
  const bool soi2 = s->def->method == AS_METHOD_SOI2;
  return (stages){stride, soi2 && def->n_lambda > 0 ? stride : 0, soi2 ? 1.0 - s->c.alpha_m : 1.0};
}

/// r = (S - M) w in the equations of motion of each stage and in those of x' and y; zero in the constraints'. Leaves M w in
/// s->work_n and w, in each stage, in s->increment. Returns the size of r beside that of M w.
static double stiff_force(asi_stepper *s, const double *w, double *r) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, states = s->active->size - p->def.n_x - p->def.n_y;
  const stages stage = stages_of(s);
  double *x = s->increment, *momentum = s->work_n;
  memset(x, 0, (size_t)s->active->size * sizeof(double));
  memset(momentum, 0, (size_t)n * sizeof(double));
  for (int k = 0; k <= stage.last; k += stage.stride) memcpy(x + k, w, (size_t)n * sizeof(double));
  asi_system_multiply(s->active, x, r);
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value, stage.mass, w,
                          momentum);
  for (int i = n; i < states; ++i)
    if (i < stage.last || i >= stage.last + n) r[i] = 0.0;
  for (int k = 0; k <= stage.last; k += stage.stride)
    for (int i = 0; i < n; ++i) r[k + i] -= momentum[i];
  return asi_max_force(p, r) / fmax(asi_max_force(p, momentum), DBL_MIN);
}

/// r += kap gamma h f_v w in each stage: takes what dampers have in S w out of it, with f_v as it was evaluated last.
static void take_dampers_out(const asi_stepper *s, const double *w, double *r) {
  const as_problem *p = s->kin->problem;
  const stages stage = stages_of(s);
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  // At a start S is that of this very step.
  const double reach = isnan(s->factor_h) ? s->gamma * s->h : s->factor_gamma * s->factor_h;
  if (!(p->present & AS_BLOCK_BIT(AS_BLOCK_F_V))) return;
  for (int k = 0; k <= stage.last; k += stage.stride)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_F_V], s->kin->block[AS_BLOCK_F_V].value,
                            stage.mass * kap * reach, w, r + k);
}

/// (S - M + kap gamma h f_v) w in s->residual: what springs have in S w. Leaves M w as stiff_force does, and returns its size beside
/// that of M w.
static double spring_force(asi_stepper *s, const double *w) {
  const as_problem *p = s->kin->problem;
  (void)stiff_force(s, w, s->residual);
  take_dampers_out(s, w, s->residual);
  return asi_max_force(p, s->residual) / fmax(asi_max_force(p, s->work_n), DBL_MIN);
}

double asi_stiff_share(asi_stepper *s, const double *w) { return stiff_force(s, w, s->z); }

/// w . r, r being what stiff_force or spring_force has left in s->residual.
static double work_of(const asi_stepper *s, const double *w) {
  double sum = 0.0;
  for (int i = 0; i < s->kin->problem->n; ++i) sum += w[i] * s->residual[i];
  return sum;
}

/// w . M w, as stiff_force has left M w.
static double size_of(const asi_stepper *s, const double *w) {
  double sum = 0.0;
  for (int i = 0; i < s->kin->problem->n; ++i) sum += w[i] * s->work_n[i];
  return sum;
}

double asi_spring_rate(asi_stepper *s, const double *w) {
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  if ((s->def->method == AS_METHOD_SOI2 && s->active == &s->shared) || isnan(s->factor_h))
    return (double)NAN;
  (void)stiff_force(s, w, s->residual);
  return work_of(s, w) / (kap * s->c.beta * s->factor_h * s->factor_h * size_of(s, w));
}

/// How much e changes with h, over e.
static double change_of_extra(const asi_stepper *s) {
  const double l = lag(s), squares = s->h * s->h / (s->path.h[0] * s->path.h[0]);
  if (s->def->method == AS_METHOD_INDEX3) return 0.0; // there is none
  // Offsets d may have brought the last l close to zero: then h^2 alone tells.
  return (fabs(l) <= 4.0 * squares * fabs(s->path.lag) ? l / s->path.lag : squares) - 1.0;
}

/// (l/h)_new - (l/h)_old - (e_new - e_old)
static void lag_change(const asi_stepper *s, double *w) {
  const double l = lag(s) - s->path.lag, of_e = change_of_extra(s);
  const double twelfth = (s->h * s->h - s->path.h[0] * s->path.h[0]) / 12.0;
  as_space_bracket(s->kin->problem->space, s->now.v, s->now.vdot, w);
  for (int i = 0; i < s->kin->problem->n; ++i)
    w[i] = l * rates_of_path(s, i).third + twelfth * w[i] - of_e * s->path.extra[i];
}

/// v_0 <- v_0 + w - (1 - G)^8 w: w in stiff directions only, with a part 1 - 1/(1 + x)^8. Neither what dampers decide on nor
/// what constraints do not let happen, which round-off of positions is a part of, is in it. w is spoiled.
static as_status add_lag_change(asi_stepper *s, double *w) {
  const int n = s->kin->problem->n;
  for (int power = 0; power < LAG_POWERS; ++power) {
    (void)spring_force(s, w);
    if (s->def->method == AS_METHOD_INDEX3) { // v is off the constraints as it has to be
      asi_system_multiply(s->active, s->increment, s->z); // which is found later
      memcpy(s->residual + n, s->z + n, (size_t)s->kin->redundancy.rows * sizeof(double));
    }
    const as_status status = asi_solve(s->kin, s->active, s->t, s->residual);
    if (status) return status;
    for (int i = 0; i < n; ++i) {
      s->v0[i] += s->residual[i];
      w[i] -= s->residual[i];
    }
  }
  return AS_OK;
}

/// p' + l/h - e - v_0
static void velocity_gap(const asi_stepper *s, double *w) {
  const double l = lag(s), twelfth = s->h * s->h / 12.0, of_e = 1.0 + change_of_extra(s);
  as_space_bracket(s->kin->problem->space, s->now.v, s->now.vdot, w);
  for (int i = 0; i < s->kin->problem->n; ++i) {
    const path_rates p = rates_of_path(s, i);
    w[i] = p.first + l * p.third + twelfth * w[i] - of_e * s->path.extra[i] - s->v0[i];
  }
}

/// p'' + d_n p''' - a_0
static void acceleration_gap(const asi_stepper *s, double *w) {
  for (int i = 0; i < s->kin->problem->n; ++i) {
    const path_rates p = rates_of_path(s, i);
    w[i] = p.second + s->d0 * p.third - s->a0[i];
  }
}

/// spring_force, or stiff_force where S has no dampers.
typedef double force_of(asi_stepper *s, const double *w);

/// F w, for what `force` has left of w; w is spoiled.
static as_status find_held_part(asi_stepper *s, force_of *force, double *w, double *part) {
  const int n = s->kin->problem->n;
  memset(part, 0, (size_t)n * sizeof(double));
  for (int power = 0; power < POWERS; ++power) {
    const as_status status = asi_solve(s->kin, s->active, s->t, s->residual);
    if (status) return status;
    memcpy(w, s->residual, (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) part[i] += filter[power] * w[i];
    (void)force(s, w);
  }
  return AS_OK;
}

/// target += F w; w is spoiled. *held: whether there was anything to add.
static as_status add_held_part(asi_stepper *s, double *w, double *target, bool *held) {
  const int n = s->kin->problem->n;
  const double shrunk = s->h / s->factor_h; // what is stiff has to be so in this step, too
  double *const part = s->kkt_rhs;
  (void)spring_force(s, w);
  const double most = s->expert.stiff_growth * size_of(s, w);
  const as_status status = find_held_part(s, spring_force, w, part);
  if (status) return status;
  const double share = spring_force(s, part) * fmin(1.0, shrunk * shrunk);
  *held = share > s->expert.stiff_held && size_of(s, part) <= most;
  for (int i = 0; i < n && *held; ++i) target[i] += part[i];
  return AS_OK;
}

/// Whether springs have a part in a change w of v, as stiff_force() has left it. Leaves f_v evaluated if they may have.
static as_status look_for_springs(asi_stepper *s, const double *w) {
  const as_point at = asi_point_at_start(s, s->now.v);
  const double least = s->expert.stiff_excited * size_of(s, w);
  if (!s->path.excites && !(work_of(s, w) > least)) return AS_OK;
  const as_status status = asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_F_V));
  if (status) return status;
  take_dampers_out(s, w, s->residual);
  s->path.excites = s->path.excites || work_of(s, w) > least;
  return AS_OK;
}

/// Looks for them in what the velocity is off its path by, in which a vibration shows first, and in what a change of the step
/// asks for where it is automatic, which is w afterwards, with (S - M + kap gamma h f_v) w in s->residual.
static as_status look_at_changes(asi_stepper *s, double *w) {
  const as_point at = asi_point_at_start(s, s->now.v);
  as_status status = asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_M));
  if (status) return status;
  velocity_gap(s, w);
  const double of_gap = stiff_force(s, w, s->residual);
  if (!s->controlled) s->path.is_stiff = s->path.is_stiff && of_gap > s->expert.stiff_share;
  if (!s->controlled) return AS_OK;
  if (!s->path.excites) status = look_for_springs(s, w);
  if (status) return status;
  lag_change(s, w);
  const double of_lag = stiff_force(s, w, s->residual);
  s->path.is_stiff = s->path.is_stiff && fmax(of_gap, of_lag) > s->expert.stiff_share;
  return look_for_springs(s, w);
}

as_status asi_correct_stiff_modes(asi_stepper *s, bool changed) {
  double *w = s->path.change;
  bool held;
  // Where nothing is stiff as the step changes nothing is looked for until it changes again.
  // SOI2's shared matrix knows nothing of stiffness; it is in use as long as there is none.
  const bool is_shared = s->def->method == AS_METHOD_SOI2 && s->active == &s->shared;
  s->path.is_stiff = (changed || s->path.stiff) && !is_shared;
  if (!(s->path.is_stiff || s->path.excited) || s->path.count < ASI_PATH || isnan(s->factor_h))
    return AS_OK;
  const as_point at = asi_point_at_start(s, s->now.v);
  as_status status = look_at_changes(s, w);
  if (status == AS_OK && s->path.excites) status = add_lag_change(s, w);
  if (status || !s->path.is_stiff) return status;
  status = asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_F_V));
  if (status) return status;
  velocity_gap(s, w);
  status = add_held_part(s, w, s->v0, &held);
  if (status || !held) return status;
  acceleration_gap(s, w);
  return add_held_part(s, w, s->a0, &held);
}

// ---- starts ---------------------------------------------------------------------------------------

enum { START_POWERS = 4 };

// [ST.10] G^3, and G^3 (4 - 3 G)
static const double of_acceleration[START_POWERS] = {0.0, 0.0, 1.0, 0.0};
static const double of_rates[START_POWERS] = {0.0, 0.0, 4.0, -3.0};

/// v', and what else changes with it, if it is given.
typedef struct motion_rates {
  double *vdot, *lambda, *psi, *xdot, *y;
} motion_rates;

/// Whether w has anything stiff. Gyroscopic forces do not count: they turn a motion and store nothing. *mass: w . M w. Leaves (S - M) w in s->residual.
static bool is_stiff(asi_stepper *s, const double *w, double *mass) {
  (void)stiff_force(s, w, s->residual);
  *mass = size_of(s, w);
  return work_of(s, w) > s->expert.start_unresolved * *mass;
}

static void subtract(double *from, const double *x, int n) {
  for (int i = 0; i < n; ++i) from[i] -= x[i];
}

/// w <- w - (c_1 G + c_2 G^2 + ...) w. A w that this would make larger stays: there S is not what it has to be (stiffness
/// below zero, say).
static as_status calm(asi_stepper *s, const double coefficient[START_POWERS],
                      const motion_rates *w) {
  const as_problem *p = s->kin->problem;
  const as_problem_def *def = &p->def;
  const int n = p->n, size = s->active->size, states = size - def->n_x - def->n_y;
  double *power = s->path.change, *part = s->z; // z is found later
  double before = 0.0, after = 0.0;
  if (!is_stiff(s, w->vdot, &before)) return AS_OK;
  memset(part, 0, (size_t)size * sizeof(double));
  for (int k = 0; k < START_POWERS; ++k) {
    if (k > 0) (void)stiff_force(s, power, s->residual);
    const as_status status = asi_solve(s->kin, s->active, s->t, s->residual);
    if (status) return status;
    memcpy(power, s->residual, (size_t)n * sizeof(double));
    for (int i = 0; i < size; ++i) part[i] += coefficient[k] * s->residual[i];
  }
  for (int i = 0; i < n; ++i) power[i] = w->vdot[i] - part[i];
  (void)is_stiff(s, power, &after);
  if (!(after <= before)) {
    memset(part, 0, (size_t)n * sizeof(double));
    return AS_OK;
  }
  subtract(w->vdot, part, n);
  if (w->lambda == NULL) return AS_OK;
  subtract(w->lambda, part + n, def->n_lambda);
  subtract(w->psi, part + n + def->n_lambda, def->n_psi);
  subtract(w->xdot, part + states, def->n_x);
  subtract(w->y, part + states + def->n_x, def->n_y);
  return AS_OK;
}

/// [ST.10] The energy that springs have given up if G^3 v' is taken out of v': (kap beta h^2/2) w . M S^-1 M w with this w.
static as_status stored_energy(asi_stepper *s, double *energy) {
  const int n = s->kin->problem->n;
  const stages stage = stages_of(s);
  const double kap = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  double *w = s->path.change, *momentum = s->kkt_rhs;
  for (int i = 0; i < n; ++i) w[i] = s->z[i];
  (void)stiff_force(s, w, s->residual);
  memcpy(momentum, s->work_n, (size_t)n * sizeof(double));
  memset(s->residual, 0, (size_t)s->active->size * sizeof(double));
  for (int k = 0; k <= stage.last; k += stage.stride)
    memcpy(s->residual + k, momentum, (size_t)n * sizeof(double));
  const as_status status = asi_solve(s->kin, s->active, s->t, s->residual);
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += momentum[i] * s->residual[i];
  *energy = kap * s->c.beta * s->h * s->h * sum / (2.0 * stage.mass);
  return status;
}

/// The matrix of the step as if it ended where it begins, with what s->next holds besides q, in s->active; factorized.
static as_status factor_at_start(asi_stepper *s, asi_assemble_start *assemble, bool dampers) {
  const double t1 = s->t1;
  memset(s->xi, 0, (size_t)s->kin->problem->n * sizeof(double));
  s->at_trial = 0;
  s->factor_h = (double)NAN;
  s->t1 = s->t;
  ++s->kin->statistics.jacobian_evaluations;
  const as_status status = assemble(s, dampers);
  s->t1 = t1;
  // Factors that are kept belong to the matrix that is: it is factorized even if nothing is stiff.
  return status ? status : asi_factor(s->kin, s->active, s->t, "a start");
}

/// M and f_v where a step begins, with velocities and what follows from them as s->next has them.
static as_status blocks_at_start(asi_stepper *s) {
  const as_point at = {.t = s->t,
                       .q = s->now.q,
                       .v = s->next.v,
                       .vdot = s->next.vdot,
                       .lambda = s->next.lambda,
                       .psi = s->next.psi,
                       .x = s->now.x,
                       .y = s->now.y};
  return asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_F_V));
}

static double undamped_force(asi_stepper *s, const double *w) {
  return stiff_force(s, w, s->residual);
}

/// w . (S - M) w, and what undamped_force leaves.
static double undamped_work(asi_stepper *s, const double *w) {
  (void)undamped_force(s, w);
  return work_of(s, w);
}

/// [ST.11] v_0 <- v_0 - F v_0; *calmed: whether that was done.
static as_status calm_velocity_once(asi_stepper *s, bool *calmed) {
  const int n = s->kin->problem->n;
  double *w = s->path.change, *part = s->kkt_rhs;
  *calmed = false;
  memcpy(w, s->v0, (size_t)n * sizeof(double));
  if (!(undamped_force(s, w) > s->expert.stiff_share)) return AS_OK;
  const double before = work_of(s, w), energy = size_of(s, w);
  const as_status status = find_held_part(s, undamped_force, w, part);
  if (status) return status;
  if (!(undamped_work(s, part) > s->expert.stiff_held * size_of(s, part))) return AS_OK;
  for (int i = 0; i < n; ++i) w[i] = s->v0[i] - part[i];
  if (!(fabs(undamped_work(s, w)) <= s->expert.start_left * before)) return AS_OK;
  s->blow.kinetic[0] += (size_of(s, w) - energy) / (2.0 * stages_of(s).mass);
  memcpy(s->v0, w, (size_t)n * sizeof(double));
  *calmed = true;
  return AS_OK;
}

/// [ST.17] The kinetic energy of G v_0, in vibrations that steps do not follow.
static as_status note_vibration(asi_stepper *s) {
  const int n = s->kin->problem->n;
  double *w = s->path.change, most = 0.0;
  (void)undamped_force(s, s->v0);
  const as_status status = asi_solve(s->kin, s->active, s->t, s->residual);
  if (status) return status;
  memcpy(w, s->residual, (size_t)n * sizeof(double));
  (void)undamped_force(s, w);
  s->blow.vibration = size_of(s, w) / (2.0 * stages_of(s).mass);
  for (int i = 0; i < n; ++i) {
    const double share = fabs(w[i] * s->work_n[i]);
    if (share > most) s->blow.shaken = i;
    most = fmax(most, share);
  }
  return AS_OK;
}

/// [ST.11] With S at rest and without dampers, whose forces the blow ends: they turn with their bodies, and would make S what it is not
/// behind the blow. Twice: F leaves 13/x of a mode, which is a tenth where a step takes three periods. *remade: S is
/// another one now.
static as_status calm_velocity(asi_stepper *s, asi_assemble_start *assemble, bool *remade,
                               bool *calmed) {
  const as_problem *p = s->kin->problem;
  const size_t n = (size_t)p->n * sizeof(double);
  bool again = false;
  *remade = *calmed = false;
  if (s->controlled) return AS_OK;
  memcpy(s->path.change, s->v0, n);
  const double share = spring_force(s, s->path.change);
  *remade = share > s->expert.start_followed;
  if (!*remade) return AS_OK;
  memset(s->next.v, 0, n);
  memset(s->next.vdot, 0, n);
  memset(s->next.lambda, 0, (size_t)p->def.n_lambda * sizeof(double));
  memset(s->next.psi, 0, (size_t)p->def.n_psi * sizeof(double));
  as_status status = factor_at_start(s, assemble, false);
  if (status == AS_OK) status = blocks_at_start(s);
  if (status == AS_OK) status = note_vibration(s);
  if (status == AS_OK && share > s->expert.stiff_share) status = calm_velocity_once(s, calmed);
  return status || !*calmed ? status : calm_velocity_once(s, &again);
}

/// [ST.5] The time over which rates are looked at: less than a vibration of the stiffest component of v takes, by the diagonals of S and M.
static double resolved_time(const asi_stepper *s) {
  const as_matrix *M = &s->kin->block[AS_BLOCK_M];
  const stages stage = stages_of(s); // SOI2's last one has what positions bring in
  double stiffest = 0.0;
  for (int j = 0; j < s->kin->problem->n; ++j)
    for (int k = M->col_start[j]; k < M->col_start[j + 1]; ++k)
      if (M->row[k] == j && M->value[k] > 0.0)
        stiffest = fmax(stiffest, s->active->value[s->active->diagonal[stage.last + j]] /
                                          (stage.mass * M->value[k]) -
                                      1.0);
  return stiffest > s->expert.start_unresolved ? s->expert.start_radian * s->h / sqrt(stiffest)
                                               : s->h;
}

/// [ST.11] Behind a blow accelerations and multipliers are others: v' in a0, multipliers in s->calm_lambda and s->calm_psi.
static as_status accelerate_behind_blow(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  asi_copy_values(p, &s->now, &s->next);
  memcpy(s->next.v, s->v0, (size_t)p->n * sizeof(double));
  const as_status status = asi_solve_acceleration(s->kin, s->t, &s->next, 0);
  if (status) return status;
  memcpy(s->a0, s->next.vdot, (size_t)p->n * sizeof(double));
  memcpy(s->calm_lambda, s->next.lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(s->calm_psi, s->next.psi, (size_t)p->def.n_psi * sizeof(double));
  return AS_OK;
}

/// v'_0 and rates, with S and its factors at hand.
static as_status calm_rates(asi_stepper *s) {
  const motion_rates acceleration = {.vdot = s->a0};
  const motion_rates rates = {s->rate.vdot, s->rate.lambda, s->rate.psi, s->rate.xdot, s->rate.y};
  double mass = 0.0;
  if (!is_stiff(s, s->a0, &mass) && !is_stiff(s, s->rate.vdot, &mass)) return AS_OK;
  memset(s->z, 0, (size_t)s->kin->problem->n * sizeof(double));
  as_status status = calm(s, of_acceleration, &acceleration);
  if (status == AS_OK) status = stored_energy(s, &s->blow.stored[0]);
  return status ? status : calm(s, of_rates, &rates);
}

/// With S and its factors at hand.
static as_status calm_all(asi_stepper *s, asi_assemble_start *assemble) {
  const as_problem *p = s->kin->problem;
  asi_values start = s->now;
  bool remade = false, calmed = false;
  as_status status = calm_velocity(s, assemble, &remade, &calmed);
  if (status == AS_OK && calmed) {
    status = accelerate_behind_blow(s);
    start.v = s->v0;
    start.vdot = s->a0;
    start.lambda = s->calm_lambda;
    start.psi = s->calm_psi;
  }
  asi_copy_values(p, &start, &s->next);
  if (status == AS_OK && remade) status = factor_at_start(s, assemble, true);
  const double reach = resolved_time(s);
  if (status == AS_OK && (calmed || reach < s->h))
    status = asi_start_rates_from(s, &start, s->h, reach);
  asi_copy_values(p, &start, &s->next);
  if (status == AS_OK) status = blocks_at_start(s);
  return status ? status : calm_rates(s);
}

as_status asi_calm_start(asi_stepper *s, asi_assemble_start *assemble) {
  const as_block_set stiffness = AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V);
  const bool at_hand = fabs(s->factor_h / s->h - 1.0) <= 1e-9;
  as_status status = AS_OK;
  if (!(s->kin->problem->present & stiffness)) return AS_OK;
  asi_copy_values(s->kin->problem, &s->now, &s->next);
  if (at_hand)
    status = blocks_at_start(s);
  else
    status = factor_at_start(s, assemble, true);
  if (status == AS_OK) status = calm_all(s, assemble);
  return as_status_is_recoverable(status) ? AS_OK : status;
}
