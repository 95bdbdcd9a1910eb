/// Stiff directions where steps change.
///
/// A stiff spring holds positions nearly as a constraint of index-3 does: q moves along its path, and v and a follow
/// from q. Over a step of size h,
///
///     q_1 - q_0 = h v_0 + h^2 [(1/2 - beta) a_0 + beta a_1]
///
/// holds with the exact q if v_0 is the velocity plus l/h, l being the local error of [SC.1]. With another h another
/// v_0 is right; with the old one the spring would ring with v' off by O(h), and the error estimate would see nothing
/// else. For constraints this is cured by [ST.6]. Here v_0 and a_0 are set to what the last positions say, in stiff
/// directions only.
///
/// [GA.15] q is a cubic p through the ends of the last three steps, and
///
///     v_0 <- v_0 + F (p' + l/h - e - v_0),    a_0 <- a_0 + F (p'' + d_n p''' - a_0)
///
/// F, a polynomial of G w = S^-1 (S - M + kap gamma h f_v) w, takes the part of w that S = M + kap (-gamma h f_v + beta
/// h^2 K T) calls stiff: a mode of frequency omega has G = x/(1 + x), x = kap beta h^2 omega^2. S is the matrix of a step,
/// its factors are at hand, and its constraint rows keep w on the constraints. Dampers hold velocities, not positions:
/// they are left out. e is how much, over h, constraints moved q in the last step beyond v and a (-B^T eta of index-2,
/// beta h (a~ - a_1) of SOI2), scaled to this one.
///
/// Where positions are not held firmly, p' and p'' of a vibration feed it: a mode with x of 1 to 5 would grow by some
/// percent a step. With given steps F is therefore sharp, G^4 T_4(5 G/2 - 1) with Chebyshev's T_4, scaled to F(1) = 1:
/// below 0.03 for x < 4, above 0.98 for x > 1000. Automatic steps see a vibration grow, and become shorter: F = 21 G^5 -
/// 35 G^6 + 15 G^7 helps them through the range where a spring begins to be stiff.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/integrator.h"
#include "lie/space.h"

// With less of (S - M) w than this share of M w there is nothing to look for.
#define LEAST_SHARE 0.5
// F makes nothing larger, by w . M w, unless S is far from what it has to be (stiffness below zero, dampers that have
// come or gone since it was made): then it is not believed.
#define MAX_GROWTH 4.0

enum { MAX_POWER = 8 };

/// F, by powers of G, and how much more than M w there has to be of (S - M) w in what F leaves.
typedef struct filter {
  double coefficient[MAX_POWER];
  int power;
  double least;
} filter;

static const filter given = {
    {0.0, 0.0, 0.0, 2.0 / 47.0, -80.0 / 47.0, 500.0 / 47.0, -1000.0 / 47.0, 625.0 / 47.0}, 8, 30.0};
static const filter automatic = {{0.0, 0.0, 0.0, 0.0, 21.0, -35.0, 15.0}, 7, 4.0};

void asi_path_forget(as_integrator *s) {
  s->path.count = 0;
  s->path.stiff = s->path.stiffens = s->path.leads = false;
}

/// l/h over v'': h^2 [1/6 - (1/2 - beta) d_n/h - beta (1 + d_{n+1}/h)]
static double lag(const as_integrator *s) {
  const double h = s->h, beta = s->c.beta;
  return h * h * (1.0 / 6.0 - (0.5 - beta) * s->d0 / h - beta * (1.0 + s->d1 / h));
}

// ---- the path as a prediction ---------------------------------------------------------------------
//
// [NW.15] Accelerations of a vibration that steps jump over alternate: extrapolated, they lead far away from where stiff springs let
// a step end, and Newton's method from there to solutions in which springs have turned over. Positions go on as before.

// A step is foretold from means over shorter ones no farther than this, and in this way if the last one would have been, so much
// better.
#define FARTHEST 2.0
#define BETTER 0.25

double asi_path_reach(const as_integrator *s) {
  const double *h = s->path.h;
  return s->path.count > 1 ? fmin((h[0] + s->h) / (h[0] + h[1]), FARTHEST) : 0.0;
}

double asi_path_mean(const as_integrator *s, double far, int i) {
  return s->path.mean[0][i] + far * (s->path.mean[0][i] - s->path.mean[1][i]);
}

void asi_path_foretell(as_integrator *s, const double *z, double by_z, double by_vdot,
                       double by_a) {
  const double h = s->h, beta = s->c.beta;
  for (int i = 0; i < s->problem->n && !s->controlled; ++i) {
    const double a = by_z * z[i] + by_vdot * s->vdot0[i] + by_a * s->a0[i];
    s->path.foretold[i] = h * s->v0[i] + h * h * ((0.5 - beta) * s->a0[i] + beta * a);
  }
}

void asi_path_predict(const as_integrator *s, double *a) {
  const double h = s->h, beta = s->c.beta, far = asi_path_reach(s);
  for (int i = 0; i < s->problem->n; ++i)
    a[i] = (asi_path_mean(s, far, i) - s->v0[i] - h * (0.5 - beta) * s->a0[i]) / (h * beta);
}

/// Whether the path would have foretold the step that has been taken better than extrapolation has.
static bool path_leads(const as_integrator *s) {
  const double far = asi_path_reach(s);
  double by_path = 0.0, by_rates = 0.0;
  if (s->controlled || s->path.count == 0) return false;
  for (int i = 0; i < s->problem->n; ++i) {
    by_path = fmax(by_path, fabs(s->h * asi_path_mean(s, far, i) - s->xi[i]));
    by_rates = fmax(by_rates, fabs(s->path.foretold[i] - s->xi[i]));
  }
  return by_path < BETTER * by_rates;
}

// ---- the path ---------------------------------------------------------------------------------------

void asi_path_note(as_integrator *s) {
  const int n = s->problem->n;
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
  s->path.stiff = s->path.stiffens;
  // The mean of v over the step, since xi = integral of v + h^3 [v,v']/12.
  as_space_bracket(s->problem->space, s->v0, s->now.vdot, mean);
  const double per_h = 1.0 / h, twelfth = h * h / 12.0;
  const double by_a0 = h * (0.5 - beta), by_a1 = h * beta;
  for (int i = 0; i < n; ++i) {
    const double moved = s->xi[i] * per_h;
    mean[i] = moved - twelfth * mean[i];
    s->path.extra[i] = moved - s->v0[i] - by_a0 * s->a0[i] - by_a1 * s->next.a[i];
  }
}

/// p', p'' and p''' at the end of the last step.
static void follow_path(const as_integrator *s, int i, double out[3]) {
  const double *h = s->path.h;
  const double d0 = s->path.mean[0][i], d1 = s->path.mean[1][i], d2 = s->path.mean[2][i];
  const double late = (d0 - d1) / (h[0] + h[1]), early = (d1 - d2) / (h[1] + h[2]);
  const double third = (late - early) / (h[0] + h[1] + h[2]);
  out[0] = d0 + h[0] * (late + (h[0] + h[1]) * third);
  out[1] = 2.0 * (late + (2.0 * h[0] + h[1]) * third);
  out[2] = 6.0 * third;
}

/// Where the unknowns of a stage begin.
typedef struct stages {
  int stride, last;
} stages;

static stages stages_of(const as_integrator *s) {
  const as_problem_def *def = &s->problem->def;
  const int stride = s->problem->n + def->n_lambda + def->n_psi;
  return (stages){stride, s->def.method == AS_METHOD_SOI2 && def->n_lambda > 0 ? stride : 0};
}

/// r = (S - M) w in the equations of motion of each stage, with or without what dampers have in it, and in those of x'
/// and y; zero in the constraints'. Leaves M w in s->work_n. Returns the size of r beside that of M w.
static double stiff_force(as_integrator *s, const double *w, bool with_dampers, double *r) {
  const as_problem *p = s->problem;
  const int n = p->n, states = s->active->size - p->def.n_x - p->def.n_y;
  const bool soi2 = s->def.method == AS_METHOD_SOI2;
  const stages stage = stages_of(s);
  const double mass = soi2 ? 1.0 - s->c.alpha_m : 1.0;
  // At a start S is that of this very step.
  const double reach = isnan(s->factor_h) ? s->gamma * s->h : s->factor_gamma * s->factor_h;
  const double damping = mass * (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m) * reach;
  double *x = s->increment, *momentum = s->work_n;
  memset(x, 0, (size_t)s->active->size * sizeof(double));
  memset(momentum, 0, (size_t)n * sizeof(double));
  for (int k = 0; k <= stage.last; k += stage.stride) memcpy(x + k, w, (size_t)n * sizeof(double));
  asi_system_multiply(s->active, x, r);
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->block[AS_BLOCK_M].value, mass, w, momentum);
  for (int i = n; i < states; ++i)
    if (i < stage.last || i >= stage.last + n) r[i] = 0.0;
  for (int k = 0; k <= stage.last; k += stage.stride) {
    for (int i = 0; i < n; ++i) r[k + i] -= momentum[i];
    if (!with_dampers && (p->present & AS_BLOCK_BIT(AS_BLOCK_F_V)))
      asi_panels_multiply_add(&p->panels[AS_BLOCK_F_V], s->block[AS_BLOCK_F_V].value, damping, w,
                              r + k);
  }
  return asi_max_abs(r, n) / fmax(asi_max_abs(momentum, n), DBL_MIN);
}

double asi_stiff_share(as_integrator *s, const double *w) { return stiff_force(s, w, true, s->z); }

/// w . M w, as stiff_force has left M w.
static double size_of(const as_integrator *s, const double *w) {
  double sum = 0.0;
  for (int i = 0; i < s->problem->n; ++i) sum += w[i] * s->work_n[i];
  return sum;
}

/// F w, for the (S - M) w in s->residual; w is spoiled.
static as_status find_stiff_part(as_integrator *s, const filter *f, double *w, double *part) {
  const int n = s->problem->n;
  memset(part, 0, (size_t)n * sizeof(double));
  for (int power = 0; power < f->power; ++power) {
    const as_status status = asi_solve(s, s->active, s->t, s->residual);
    if (status) return status;
    memcpy(w, s->residual, (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) part[i] += f->coefficient[power] * w[i];
    (void)stiff_force(s, w, false, s->residual);
  }
  return AS_OK;
}

/// target += F w; w is spoiled. *stiff: whether there was anything to add.
static as_status add_stiff_part(as_integrator *s, double *w, double *target, bool *stiff) {
  const int n = s->problem->n;
  const double shrunk = s->h / s->factor_h; // what is stiff has to be so in this step, too
  const filter *f = s->controlled ? &automatic : &given;
  double *const part = s->kkt_rhs;
  *stiff = stiff_force(s, w, false, s->residual) > LEAST_SHARE;
  if (!*stiff) return AS_OK;
  const double most = MAX_GROWTH * size_of(s, w);
  const as_status status = find_stiff_part(s, f, w, part);
  if (status) return status;
  const double share = stiff_force(s, part, false, s->residual) * fmin(1.0, shrunk * shrunk);
  *stiff = share > f->least && size_of(s, part) <= most;
  for (int i = 0; i < n && *stiff; ++i) target[i] += part[i];
  return AS_OK;
}

/// p' + l/h - e - v_0
static void velocity_gap(const as_integrator *s, bool with_lag, double *w) {
  const double l = with_lag ? lag(s) : 0.0, twelfth = s->h * s->h / 12.0;
  // Offsets d may have brought the last l close to zero: then h^2 alone tells how e changes.
  const double squares = s->h * s->h / (s->path.h[0] * s->path.h[0]), ratio = l / s->path.lag;
  const double scale = !with_lag ? 0.0 : fabs(ratio) <= 4.0 * squares ? ratio : squares;
  double path[3];
  as_space_bracket(s->problem->space, s->now.v, s->now.vdot, w);
  for (int i = 0; i < s->problem->n; ++i) {
    follow_path(s, i, path);
    const double bracket = with_lag ? twelfth * w[i] : 0.0;
    w[i] = path[0] + l * path[2] + bracket - scale * s->path.extra[i] - s->v0[i];
  }
}

/// p'' + d_n p''' - a_0
static void acceleration_gap(const as_integrator *s, double *w) {
  double path[3];
  for (int i = 0; i < s->problem->n; ++i) {
    follow_path(s, i, path);
    w[i] = path[1] + s->d0 * path[2] - s->a0[i];
  }
}

as_status asi_follow_stiff(as_integrator *s, bool changed, bool with_lag) {
  const as_point at = asi_point_at_start(s, s->now.v);
  double *w = s->path.change;
  bool stiff;
  // Where nothing is stiff as the step changes nothing is looked for until it changes again.
  // SOI2's shared matrix knows nothing of stiffness; it is in use as long as there is none.
  const bool is_shared = s->def.method == AS_METHOD_SOI2 && s->active == &s->shared;
  s->path.stiffens = (changed || s->path.stiff) && !is_shared;
  if (!s->path.stiffens || s->path.count < ASI_PATH || isnan(s->factor_h)) return AS_OK;
  as_status status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_M));
  if (status) return status;
  velocity_gap(s, with_lag, w);
  s->path.stiffens = stiff_force(s, w, true, s->residual) > LEAST_SHARE;
  if (!s->path.stiffens) return AS_OK;
  status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_F_V));
  if (status == AS_OK) status = add_stiff_part(s, w, s->v0, &stiff);
  if (status || !stiff) return status;
  acceleration_gap(s, w);
  return add_stiff_part(s, w, s->a0, &stiff);
}

// ---- starts ---------------------------------------------------------------------------------------

// A start has something that the step does not resolve where w . (S - M) w is more than this share of w . M w. Gyroscopic
// forces do not count: they turn a motion and store nothing.
#define LEAST_START_SHARE 0.25

enum { START_POWERS = 4 };

// [ST.10] G^3, and G^3 (4 - 3 G)
static const double of_acceleration[START_POWERS] = {0.0, 0.0, 1.0, 0.0};
static const double of_rates[START_POWERS] = {0.0, 0.0, 4.0, -3.0};

/// v', and what else changes with it, if it is given.
typedef struct motion_rates {
  double *vdot, *lambda, *psi, *xdot, *y;
} motion_rates;

/// Whether w has anything stiff; *mass: w . M w. Leaves (S - M) w in s->residual.
static bool is_stiff(as_integrator *s, const double *w, double *mass) {
  (void)stiff_force(s, w, true, s->residual);
  double work = 0.0;
  for (int i = 0; i < s->problem->n; ++i) work += w[i] * s->residual[i];
  *mass = size_of(s, w);
  return work > LEAST_START_SHARE * *mass;
}

static void subtract(double *from, const double *x, int n) {
  for (int i = 0; i < n; ++i) from[i] -= x[i];
}

/// w <- w - (c_1 G + c_2 G^2 + ...) w. A w that this would make larger stays: there S is not what it has to be (stiffness
/// below zero, say).
static as_status calm(as_integrator *s, const double coefficient[START_POWERS],
                      const motion_rates *w) {
  const as_problem *p = s->problem;
  const as_problem_def *def = &p->def;
  const int n = p->n, size = s->active->size, states = size - def->n_x - def->n_y;
  double *power = s->path.change, *part = s->z; // z is found later
  double before = 0.0, after = 0.0;
  if (!is_stiff(s, w->vdot, &before)) return AS_OK;
  memset(part, 0, (size_t)size * sizeof(double));
  for (int k = 0; k < START_POWERS; ++k) {
    if (k > 0) (void)stiff_force(s, power, true, s->residual);
    const as_status status = asi_solve(s, s->active, s->t, s->residual);
    if (status) return status;
    memcpy(power, s->residual, (size_t)n * sizeof(double));
    for (int i = 0; i < size; ++i) part[i] += coefficient[k] * s->residual[i];
  }
  for (int i = 0; i < n; ++i) power[i] = w->vdot[i] - part[i];
  (void)is_stiff(s, power, &after);
  if (!(after <= before)) return AS_OK;
  subtract(w->vdot, part, n);
  if (w->lambda == NULL) return AS_OK;
  subtract(w->lambda, part + n, def->n_lambda);
  subtract(w->psi, part + n + def->n_lambda, def->n_psi);
  subtract(w->xdot, part + states, def->n_x);
  subtract(w->y, part + states + def->n_x, def->n_y);
  return AS_OK;
}

/// The matrix of the step at its start, in s->active.
static as_status assemble_at_start(as_integrator *s, as_status (*assemble)(as_integrator *)) {
  const double t1 = s->t1;
  asi_copy_values(s->problem, &s->now, &s->next);
  memset(s->xi, 0, (size_t)s->problem->n * sizeof(double));
  s->at_trial = 0;
  s->factor_h = (double)NAN;
  s->t1 = s->t;
  ++s->statistics.jacobian_evaluations;
  const as_status status = assemble(s);
  s->t1 = t1;
  return status;
}

// [ST.11] What F leaves of w . (S - M) w where S is what it has to be, at the most.
#define LEFT_OVER 0.1

/// w . (S - M) w; leaves (S - M) w in s->residual.
static double stiff_work(as_integrator *s, const double *w) {
  double work = 0.0;
  (void)stiff_force(s, w, false, s->residual);
  for (int i = 0; i < s->problem->n; ++i) work += w[i] * s->residual[i];
  return work;
}

/// [ST.11] v_0 <- v_0 - F v_0
static as_status calm_velocity(as_integrator *s) {
  const int n = s->problem->n;
  double *w = s->path.change, *part = s->kkt_rhs;
  if (s->controlled) return AS_OK;
  memcpy(w, s->v0, (size_t)n * sizeof(double));
  if (!(stiff_force(s, w, false, s->residual) > LEAST_SHARE)) return AS_OK;
  const double before = stiff_work(s, w);
  const as_status status = find_stiff_part(s, &given, w, part);
  if (status) return status;
  if (!(stiff_work(s, part) > given.least * size_of(s, part))) return AS_OK;
  for (int i = 0; i < n; ++i) w[i] = s->v0[i] - part[i];
  if (fabs(stiff_work(s, w)) <= LEFT_OVER * before) memcpy(s->v0, w, (size_t)n * sizeof(double));
  return AS_OK;
}

as_status asi_calm_start(as_integrator *s, as_status (*assemble)(as_integrator *)) {
  const motion_rates acceleration = {.vdot = s->a0};
  const motion_rates rates = {s->rate.vdot, s->rate.lambda, s->rate.psi, s->rate.xdot, s->rate.y};
  const as_point at = asi_point_at_start(s, s->now.v);
  const as_block_set stiffness = AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V);
  const bool at_hand = fabs(s->factor_h / s->h - 1.0) <= 1e-9;
  double mass = 0.0;
  if (!(s->problem->present & stiffness)) return AS_OK;
  as_status status =
      at_hand ? asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_M)) : assemble_at_start(s, assemble);
  // Factors that are kept belong to the matrix that is: it is factorized even if nothing is stiff.
  if (status == AS_OK && !at_hand) status = asi_factor(s, s->active, s->t, "a start");
  const bool stiff =
      status == AS_OK && (is_stiff(s, s->a0, &mass) || is_stiff(s, s->rate.vdot, &mass));
  if (status == AS_OK && stiff) status = calm(s, of_acceleration, &acceleration);
  if (status == AS_OK && stiff) status = calm(s, of_rates, &rates);
  if (status == AS_OK) status = calm_velocity(s);
  return as_status_is_recoverable(status) ? AS_OK : status;
}
