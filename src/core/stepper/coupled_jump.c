/// What held signals make jump where there are states x, outputs y, or forces that depend on multipliers.
///
/// q, v and x stay. With Z = (v', lambda, psi, x', y) before and behind the sample, u the held signals behind it,
///
///     [SA.7]  M v' = f(Z, u),   B (v' - v'_before) = 0,   k_v (v' - v'_before) = 0,   x' = phi(Z, u),   y = chi(Z, u)
///
/// Rows of constraints are those of the jump, not of accelerations: what the discrete solution has there beside the exact one stays, as
/// in [SA.3]. The equations may be of any kind in Z, so they are evaluated; the matrix is that of the start, [ST.8], which knows
/// nothing of h: a filter that is fast for the step does not slow this down. Its factors are kept from sample to sample as long as
/// they contract, in a system of its own, which starts and events do not touch.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

// Factors that contract worse than this are made anew before the next jump, since another iteration costs as much (of 1e-3, 5e-3 and 2e-2 the
// first was cheapest in four of five machines by up to 15 %, and as cheap in the other); worse than the second, at once.
#define SLOW 1e-3
#define TOO_SLOW 0.3
// `tolerance` is this share of Newton's: what is below Newton's is no jump.
#define OF_TOLERANCE 0.3
// What is left may be this share of what jumps; a hundredth of what [SA.6] may be off by.
#define OF_JUMP 1e-6
// A remainder below this that does not become smaller is round-off.
#define ROUND_OFF 1e-6
// What was seen to be left is expected again with this margin, and never less than the second.
#define CAREFUL 3.0
#define LEAST_CONTRACTION 1e-7
// Springs (and what dampers do in a step) that are more than this beside inertia do not let v' be at once what it will be, [ST.10].
#define STIFF 0.4
enum { MOST_ITERATIONS = 10, FILTER = 2 };

/// What [SA.7] leaves at s->next; `tangents`: factors come next.
static as_status evaluate(asi_stepper *s, bool tangents, double *r) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, rows = m + p->def.n_psi, nx = p->def.n_x;
  const asi_values *at = &s->next, *from = &s->now;
  double *const change = s->work_n;
  const as_point point = {.t = s->t,
                          .q = from->q,
                          .v = from->v,
                          .vdot = at->vdot,
                          .lambda = at->lambda,
                          .psi = at->psi,
                          .x = from->x,
                          .y = at->y};
  double *const out[ASI_FUNCTIONS] = {[ASI_FN_F] = r,
                                      [ASI_FN_PHI] = nx > 0 ? r + n + rows : NULL,
                                      [ASI_FN_CHI] = p->def.n_y > 0 ? r + n + rows + nx : NULL};
  const as_block_set wanted = asi_projection_blocks & p->present;
  const as_status status = asi_functions(
      s->kin, &point, out, tangents ? wanted | asi_system_blocks(&s->jump.system) : wanted);
  if (status) return status;
  for (int i = 0; i < n; ++i) change[i] = from->vdot[i] - at->vdot[i];
  asi_panels_multiply_add(&p->panels[AS_BLOCK_M], s->kin->block[AS_BLOCK_M].value, -1.0, at->vdot,
                          r);
  memset(r + n, 0, (size_t)rows * sizeof(double));
  if (m > 0)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], s->kin->block[AS_BLOCK_G_Q].value, 1.0,
                            change, r + n);
  if (rows > m)
    asi_panels_multiply_add(&p->panels[AS_BLOCK_K_V], s->kin->block[AS_BLOCK_K_V].value, 1.0,
                            change, r + n + m);
  for (int i = 0; i < nx; ++i) r[n + rows + i] -= at->xdot[i];
  for (int i = 0; i < p->def.n_y; ++i) r[n + rows + nx + i] -= at->y[i];
  return AS_OK;
}

void asi_coupled_forget(asi_stepper *s) {
  s->jump.factored = false;
  asi_system_forget(&s->jump.system);
}

static as_status factorize(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  asi_system *system = &s->jump.system;
  asi_system_assemble(system, s->kin->block, &s->kin->tangent);
  for (int i = p->n + s->kin->redundancy.rows; i < system->size; ++i)
    system->value[system->diagonal[i]] += 1.0;
  const as_status status =
      asi_factor_shared(s->kin, system, s->t, "the accelerations and multipliers");
  s->jump.factored = status == AS_OK;
  s->jump.factor_age = s->jump.seen_age = 0;
  return status;
}

static void add(double *restrict to, const double *restrict x, int n) {
  for (int i = 0; i < n; ++i) to[i] += x[i];
}

/// |d| over the larger of |x| and itself.
static double share(double d, double x) { return d / asi_max_nan(asi_max_nan(d, x), DBL_MIN); }

static double multiplier_size(const asi_kinematics *s, const double *x, int first, int count) {
  double largest = 0.0;
  for (int i = 0; i < count; ++i)
    largest = asi_max_nan(largest, fabs(x[i]) / s->redundancy.per_row[first + i]);
  return largest;
}

/// s->next += d; how large d is beside it, the largest of all kinds.
static double apply(asi_stepper *s, const double *d) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda, k = p->def.n_psi, nx = p->def.n_x, ny = p->def.n_y;
  const asi_values *at = &s->next;
  add(at->vdot, d, n);
  add(at->lambda, d + n, m);
  add(at->psi, d + n + m, k);
  add(at->xdot, d + n + m + k, nx);
  add(at->y, d + n + m + k + nx, ny);
  double size = share(asi_max_motion(p, d), asi_max_motion(p, at->vdot));
  size = asi_max_nan(size, share(asi_max_abs(d + n + m + k, nx), asi_max_abs(at->xdot, nx)));
  size = asi_max_nan(size, share(asi_max_abs(d + n + m + k + nx, ny), asi_max_abs(at->y, ny)));
  if (p->def.force_kind == AS_FORCE_ADDITIVE) return size; // what lambda does is seen in v'
  const double multipliers =
      fmax(multiplier_size(s->kin, at->lambda, 0, m), multiplier_size(s->kin, at->psi, m, k));
  return asi_max_nan(size, share(multiplier_size(s->kin, d + n, 0, m + k), multipliers));
}

/// What a correction leaves of one of size 1, as factors of this age were seen to do, and they age with time; 1: not known.
static double expected(const asi_stepper *s) {
  const asi_jump_memory *jump = &s->jump;
  if (jump->seen_age == 0) return 1.0;
  const double growth = fmax((double)jump->factor_age / (double)jump->seen_age, 1.0);
  return fmin(CAREFUL * growth * jump->contraction, 1.0);
}

/// Whether `size` was the last correction; notes the contraction.
static bool is_last(asi_stepper *s, int iteration, double size, double before, double tolerance) {
  double contraction = expected(s);
  if (iteration > 0 && before > ROUND_OFF) {
    contraction = size / before;
    s->jump.contraction = fmax(contraction, LEAST_CONTRACTION);
    s->jump.seen_age = s->jump.factor_age;
  }
  if (size * contraction <= tolerance) return true;
  return iteration > 0 && size <= ROUND_OFF && !(size <= 0.1 * before);
}

/// Solves [SA.7] in s->next; `tolerance` is of Z.
static as_status find(asi_stepper *s, double tolerance, bool *done) {
  double *const r = s->jump.solution, before = (double)INFINITY;
  bool tangents = !s->jump.factored || (s->jump.seen_age > 0 && !(s->jump.contraction <= SLOW));
  as_status status = AS_OK;
  ++s->jump.factor_age;
  for (int i = 0; i < MOST_ITERATIONS && status == AS_OK; ++i) {
    status = evaluate(s, tangents, r);
    if (status == AS_OK && tangents) status = factorize(s);
    if (status == AS_OK) status = asi_solve(s->kin, &s->jump.system, s->t, r);
    if (status) break;
    const double size = apply(s, r);
    if (!isfinite(size)) break;
    if (i == 0 && size * OF_TOLERANCE <= tolerance) { // nothing depends on what has changed
      asi_copy_values(s->kin->problem, &s->now, &s->next);
      *done = true;
      break;
    }
    if (i == 0) tolerance = fmax(tolerance, OF_JUMP * size);
    *done = is_last(s, i, size, before, tolerance);
    if (*done) break;
    tangents = i > 0 && !(size <= TOO_SLOW * before);
    before = size;
  }
  return status;
}

/// [SA.9] in s->next.
static as_status filter(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int stage = p->n + p->def.n_lambda + p->def.n_psi, others = asi_jump_size(p) - stage;
  const double by_row = (1.0 - s->c.alpha_f) / (1.0 - s->c.alpha_m);
  double *const r = s->jump.solution, *const behind = r + s->active->size - others;
  as_status status = AS_OK;
  asi_copy_values(p, &s->now, &s->next);
  for (int i = 0; i < FILTER && status == AS_OK; ++i) {
    status = evaluate(s, false, r);
    if (status) break;
    memmove(behind, r + stage, (size_t)others * sizeof(double));
    for (int k = p->n; k < stage; ++k) r[k] *= by_row;
    for (int k = stage; k < s->active->size - others; ++k) r[k] = r[k - stage + p->n]; // eta
    status = asi_solve(s->kin, s->active, s->t, r);
    memmove(r + stage, behind, (size_t)others * sizeof(double));
    if (status == AS_OK) (void)apply(s, r);
  }
  return status;
}

/// s->next less s->now.
static void take_change(const asi_stepper *s, double *out) {
  const as_problem *p = s->kin->problem;
  const asi_values *now = &s->now, *next = &s->next;
  const double *const from[] = {now->vdot, now->lambda, now->psi, now->xdot, now->y};
  const double *const to[] = {next->vdot, next->lambda, next->psi, next->xdot, next->y};
  const int n[] = {p->n, p->def.n_lambda, p->def.n_psi, p->def.n_x, p->def.n_y};
  for (int k = 0; k < 5; ++k)
    for (int i = 0; i < n[k]; ++i) *out++ = to[k][i] - from[k][i];
}

as_status asi_coupled_change(asi_stepper *s, double tolerance, bool *filtered, bool *done) {
  const as_problem *p = s->kin->problem;
  *done = false;
  asi_copy_values(p, &s->now, &s->next);
  as_status status = find(s, tolerance, done);
  if (!*done) asi_coupled_forget(s);
  if (status || !*done) return status;
  take_change(s, s->jump.shown);
  const size_t size = (size_t)asi_jump_size(p) * sizeof(double);
  memcpy(s->jump.change, s->jump.shown, size);
  if (asi_max_motion(p, s->jump.change) == 0.0) return AS_OK;
  if (asi_stiff_share(s, s->jump.change) > STIFF) {
    *filtered = true;
    status = filter(s);
    take_change(s, s->jump.change);
  }
  *done = status == AS_OK && isfinite(asi_max_motion(p, s->jump.change));
  return status;
}
