/// [NW.17] Newton's method with damping, where full corrections diverge: the natural monotonicity test.
///
/// A correction d = J^-1 F(z) is taken by a share c so small that the simplified correction behind it, e = J^-1 F(z - c d) with the
/// same factors, is smaller. Corrections are in the units of what is looked for: a residual may grow by orders of magnitude on the best
/// way (a check valve that opens), or fall where it leads nowhere.
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

static double *states_of(const asi_stepper *s, double *z) {
  return z + s->unknowns - s->kin->problem->def.n_x - s->kin->problem->def.n_y;
}

/// One over the tolerances of corrections, those of each kind over their number: [NW.1] and [NW.8], at z. Multipliers follow from the
/// others and do not count.
static void set_scale(asi_stepper *s) {
  const as_problem_def *def = &s->kin->problem->def;
  const int n = s->kin->problem->n, nx = def->n_x, ny = def->n_y;
  const int stride = n + def->n_lambda + def->n_psi;
  double *const scale = s->damping.scale, *const x = states_of(s, scale), *const y = x + nx;
  const double *const xdot = states_of(s, s->z), *const out = xdot + nx;
  const double h = s->h, rtol = s->newton_rtol, given = s->def->newton.atol;
  const double atol = isnan(given) ? 1e-12 : given;
  const double atol_x = isnan(given) ? 1e-12 * s->kin->eval.rate : given;
  const double largest = asi_max_abs(out, ny);
  memset(scale, 0, (size_t)s->unknowns * sizeof(double));
  for (int stage = 0; stage < s->stages; ++stage)
    for (int i = 0; i < n; ++i) scale[stage * stride + i] = 1.0 / (sqrt(n) * s->weight[i]);
  for (int i = 0; i < nx; ++i) {
    const double size = fmax(fabs(s->now.x[i]), fabs(s->next.x[i])) + h * fabs(xdot[i]);
    x[i] = h / (sqrt(nx) * (rtol * size + atol_x * h));
  }
  for (int i = 0; i < ny; ++i)
    y[i] = 1.0 / (sqrt(ny) * (rtol * (fabs(out[i]) + 1e-3 * largest) + atol));
}

/// The size of e - share d.
static double size_of(const asi_stepper *s, const double *e, double share, const double *d) {
  double sum = 0.0;
  for (int i = 0; i < s->unknowns; ++i) {
    const double off = s->damping.scale[i] * (e[i] - share * d[i]);
    sum += off * off;
  }
  return sqrt(sum);
}

/// Evaluates, factorizes and solves at z; s->increment is kept as d, z as where it belongs.
static as_status find_ordinary(asi_stepper *s) {
  as_status status = s->method->evaluate(s, true);
  if (status == AS_OK) status = asi_newton_factorize(s, true);
  if (status == AS_OK) status = asi_newton_solve(s);
  if (status) return status;
  set_scale(s);
  return AS_OK;
}

static void keep_ordinary(asi_stepper *s) {
  memcpy(s->damping.z, s->z, (size_t)s->unknowns * sizeof(double));
  memcpy(s->damping.ordinary, s->increment, (size_t)s->unknowns * sizeof(double));
}

/// The simplified correction behind a share of the ordinary one.
static as_status find_simplified(asi_stepper *s, double share) {
  for (int i = 0; i < s->unknowns; ++i) s->z[i] = s->damping.z[i] - share * s->damping.ordinary[i];
  if (s->eta_path) asi_index2_path(s);
  const as_status status = s->method->evaluate(s, false);
  return status ? status : asi_newton_solve(s);
}

/// What is known of a share of d: the sizes of e and of e - (1 - c) d, which would be zero if the equations were linear.
typedef struct trial {
  double simplified, curved;
} trial;

static as_status try_share(asi_stepper *s, double share, trial *out) {
  const as_status status = find_simplified(s, share);
  *out = (trial){(double)INFINITY, (double)INFINITY};
  if (status == AS_ERR_RETRY || status == AS_ERR_NONFINITE) return AS_OK; // it is too far
  if (status) return status;
  out->simplified = size_of(s, s->increment, 0.0, s->increment);
  out->curved = size_of(s, s->increment, 1.0 - share, s->damping.ordinary);
  return AS_OK;
}

/// Not a number where both are zero, or nothing is known: then it is all of it.
static double limit(double share) { return share < 1.0 ? share : 1.0; }

/// A share with which the simplified correction is smaller than d, of size `size`; smaller ones are tried from *share on. Where less than
/// damping_least would do, the way has come to a singular matrix or a kink: it goes on beyond, by damping_jump.
static as_status find_share(asi_stepper *s, double size, int *left, double *share, trial *found) {
  for (bool reduced = false;;) {
    if (--*left < 0) return AS_ERR_CONVERGENCE;
    as_status status = try_share(s, *share, found);
    if (status) return status;
    const double best = limit(0.5 * size * *share * *share / found->curved);
    if (!(found->simplified < size)) {
      *share = fmin(0.5 * *share, fmax(best, 0.1 * *share));
      reduced = true;
      if (*share >= s->expert.damping_least) continue;
      *share = s->expert.damping_jump;
      status = try_share(s, *share, found);
      return status == AS_OK && isinf(found->simplified) ? AS_ERR_CONVERGENCE : status;
    }
    if (reduced || best < 4.0 * *share) return AS_OK;
    *share = best;
  }
}

as_status asi_damp(asi_stepper *s, int *left, double *before, double *norm) {
  double share = 1.0;
  trial found;
  as_status status = find_ordinary(s);
  if (status) return status;
  for (;;) {
    const double size = size_of(s, s->increment, 0.0, s->increment);
    keep_ordinary(s);
    status = find_share(s, size, left, &share, &found);
    if (status) return status;
    if (share == 1.0 && found.simplified <= s->expert.damping_over * size) {
      *norm = asi_newton_apply(s);
      *before = *norm * size / found.simplified;
      return AS_OK;
    }
    // The next d would be e if the matrix were the same; how much it differs tells what share of it will do.
    if (--*left < 0) return AS_ERR_CONVERGENCE;
    memcpy(s->damping.ordinary, s->increment, (size_t)s->unknowns * sizeof(double));
    status = find_ordinary(s);
    if (status) return status;
    const double off = size_of(s, s->damping.ordinary, 1.0, s->increment);
    const double e = size_of(s, s->damping.ordinary, 0.0, s->damping.ordinary);
    const double d = size_of(s, s->increment, 0.0, s->increment);
    share = fmax(limit(size * e / (off * d) * share), s->expert.damping_least);
  }
}

// ---- where it begins --------------------------------------------------------------------------------

/// x' of states that stay where they are: x_1 = x_0 in [GA.11].
static double resting_rate(const asi_stepper *s, int i) {
  const double w = -(1.0 - s->theta) * s->w0[i] / s->theta;
  return ((1.0 - s->cx.delta_m) * w + s->cx.delta_m * s->w0[i] - s->cx.delta_f * s->now.xdot[i]) /
         (1.0 - s->cx.delta_f);
}

/// z as at the end of the last step, states where they were.
static void hold(asi_stepper *s, double *z) {
  const as_problem_def *def = &s->kin->problem->def;
  const int n = s->kin->problem->n, stride = n + def->n_lambda + def->n_psi;
  double *const x = states_of(s, z);
  memcpy(z, s->predictor.z[0], (size_t)(s->stages * stride) * sizeof(double));
  memcpy(x + def->n_x, states_of(s, s->predictor.z[0]) + def->n_x,
         (size_t)def->n_y * sizeof(double));
  for (int stage = 0; stage < s->stages; ++stage) asi_rows_clear(s->kin, z + stage * stride + n);
  for (int i = 0; i < def->n_x; ++i) x[i] = resting_rate(s, i);
}

void asi_predict(asi_stepper *s, double held) {
  double *const z = s->damping.z;
  s->method->predict(s);
  if (held == 0.0) return;
  memcpy(z, s->z, (size_t)s->unknowns * sizeof(double));
  hold(s, z);
  for (int i = 0; i < s->unknowns; ++i) s->z[i] += held * (z[i] - s->z[i]);
}

/// Which of the two would have been closer to the step that has just been solved.
void asi_damping_note(asi_stepper *s) {
  if (!s->damping.holds && !s->damping.used) return;
  double *const held = s->damping.z, *const extrapolated = s->damping.ordinary;
  double *const solved = s->z;
  set_scale(s);
  s->z = extrapolated;
  s->method->predict(s);
  memcpy(held, extrapolated, (size_t)s->unknowns * sizeof(double));
  hold(s, held);
  s->z = solved;
  if (s->eta_path) asi_index2_path(s);
  s->damping.holds = size_of(s, held, 1.0, solved) < size_of(s, extrapolated, 1.0, solved);
}
