/// Newton's method for one step.
///
/// The iteration matrix is kept, over steps too, while that costs less than a new one. Convergence is
/// judged on
/// the increments of v' alone, in a weighted root-mean-square norm with the tolerance as unit; never
/// on lambda, whose round-off grows like 1/h^2. All decisions follow from numbers of the run itself,
/// never from a clock: runs are repeatable.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/integrator.h"

// The estimated error of v' must fall below this fraction of the tolerance.
#define SAFETY 0.1
// A contraction worse than this is no convergence.
#define SLOWEST 0.9
// No contraction better than these is believed before it is seen, with old and with new factors.
#define GUESS_FLOOR 1e-2
#define FRESH_GUESS_FLOOR 1e-3

/// [NW.1] w_i = rtol |v'_i| + atol_i, not below what round-off in the constraints allows:
/// 4e-16 |q| / (beta h^2) in index-3, 4e-16 |v| / (gamma h) in index-2
static void set_weights(as_integrator *s) {
  const as_problem *p = s->problem;
  const double h = s->h;
  double floor = 0.0;
  if (p->def.n_lambda > 0 && s->def.method == AS_METHOD_INDEX3)
    floor = 4e-16 * asi_max_abs(s->now.q, p->nq) / (s->c.beta * h * h);
  else if (p->def.n_lambda + p->def.n_psi > 0)
    floor = 4e-16 * asi_max_abs(s->now.v, p->n) / (s->gamma * h);
  for (int i = 0; i < p->n; ++i)
    s->weight[i] = fmax(s->def.newton.rtol * fabs(s->z[i]) + s->atol[i], floor);
}

static double weighted_norm(const as_integrator *s) {
  double sum = 0.0;
  for (int i = 0; i < s->problem->n; ++i) {
    const double e = s->increment[i] / s->weight[i];
    sum += e * e;
  }
  return sqrt(sum / s->problem->n);
}

/// [NW.2] what is left is round-off: the increments no longer shrink, and they move neither q
/// (beta h^2 |dv'| < 1e-11 (1 + |q|)) nor v (gamma h |dv'| < 1e-7 (1 + |v|)) visibly
static bool is_stagnant(const as_integrator *s, int iteration, double contraction) {
  const as_problem *p = s->problem;
  const double dvdot = asi_max_abs(s->increment, p->n);
  return iteration >= 4 && contraction > 0.2 &&
         s->c.beta * s->h * s->h * dvdot < 1e-11 * (1.0 + asi_max_abs(s->next.q, p->nq)) &&
         s->gamma * s->h * dvdot < 1e-7 * (1.0 + asi_max_abs(s->next.v, p->n));
}

static as_status fail_to_converge(as_integrator *s, int iterations) {
  int worst = 0;
  for (int i = 1; i < s->problem->n; ++i)
    if (!(fabs(s->increment[i]) / s->weight[i] <=
          fabs(s->increment[worst]) / s->weight[worst]))
      worst = i;
  char name[64];
  asi_component_name(s->problem, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(s->eval.error, AS_ERR_CONVERGENCE, s->t1, name,
                  "Newton's method did not converge in the step to t = %.9g s: the acceleration of "
                  "%s still changes by %.3g (tolerance %.3g) after %d iterations.",
                  s->t1, name, fabs(s->increment[worst]), s->weight[worst], iterations);
}

static as_status factorize(as_integrator *s) {
  ++s->statistics.jacobian_evaluations;
  s->factor_h = (double)NAN;
  as_status status = s->method->linearize(s);
  if (status == AS_OK) status = asi_factor(s, &s->step, s->t1, "a step");
  if (status) return status;
  s->factor_h = s->h;
  s->factor_gamma = s->gamma;
  s->contraction = s->fresh_contraction;
  s->uncertain = 0;
  return AS_OK;
}

/// One Newton iteration with the factors at hand, or new ones: `norm` of the increment.
static as_status iterate(as_integrator *s, bool renew, double *norm) {
  as_status status = s->method->evaluate(s);
  if (status == AS_OK && renew) status = factorize(s);
  if (status) return status;
  ++s->statistics.newton_iterations;
  memcpy(s->increment, s->residual, (size_t)s->step.size * sizeof(double));
  status = asi_solve(s, &s->step, s->t1, s->increment);
  if (status) return status;
  for (int i = 0; i < s->step.size; ++i) s->z[i] -= s->increment[i];
  *norm = weighted_norm(s);
  return AS_OK;
}

/// [NW.4] iterations that bring an increment of size `norm` to convergence with contraction r
static double iterations_to_go(double norm, double r) {
  if (!(r < SLOWEST)) return (double)INFINITY;
  const double target = SAFETY * (1.0 - r) / r;
  return norm <= target ? 1.0 : 1.0 + ceil(log(target / norm) / log(r));
}

/// [NW.5] whether new factors, and the fewer iterations they need, cost less than going on with the old
/// ones; in operations, a Newton iteration being a solve and an evaluation of about the same size.
static bool renewal_pays(const as_integrator *s, double norm, double r) {
  const double old_iterations = iterations_to_go(norm, r);
  const double new_iterations = iterations_to_go(norm, fmax(s->fresh_contraction, 1e-12));
  asi_solver_info info;
  s->step.solver->ops->info(s->step.solver, &info);
  double assembly = 0.0;
  for (int i = 0; i < s->step.n_terms; ++i) assembly += 4.0 * s->step.products[i].count;
  const double iteration = 2.0 * info.solve_operations;
  return info.factor_operations + assembly + new_iterations * iteration <
         old_iterations * iteration;
}

as_status asi_newton(as_integrator *s) {
  const size_t size = (size_t)s->step.size * sizeof(double);
  memcpy(s->predicted, s->z, size);
  set_weights(s);
  const bool usable = s->def.newton.reuse && s->factor_h == s->h && s->factor_gamma == s->gamma;
  double guess = fmin(fmax(s->contraction, GUESS_FLOOR) * (double)(1 + s->uncertain), SLOWEST);
  bool renew = !usable || renewal_pays(s, s->first_norm, guess);
  bool renewed = false, after_new = false;
  double previous = 0.0; // norm of the increment before; 0: none
  for (int iteration = 1; iteration <= s->def.newton.max_iterations; ++iteration) {
    double norm = 0.0;
    const as_status status = iterate(s, renew, &norm);
    const bool first_of_new = renew;
    renewed = renewed || renew;
    renew = false;
    // Old factors may lead astray: begin again with new ones before giving up.
    const bool astray = status == AS_OK && (!isfinite(norm) || (previous > 0.0 && norm > previous));
    if ((as_status_is_recoverable(status) || astray) && !renewed) {
      memcpy(s->z, s->predicted, size);
      renew = true;
      previous = 0.0;
      continue;
    }
    if (status) return status;
    if (!isfinite(norm)) return fail_to_converge(s, iteration);
    if (iteration == 1) s->first_norm = norm;
    // [NW.3] error after this increment ~ norm * r / (1 - r), with the ratio r of two increments; before
    // there are two, r is guessed from those seen in earlier steps, the longer ago the more cautiously.
    double r = guess;
    if (first_of_new) r = fmax(s->fresh_contraction, FRESH_GUESS_FLOOR);
    if (previous > 0.0 && !first_of_new) {
      r = norm / previous;
      s->statistics.contraction = r;
      s->contraction = fmax(0.3 * s->contraction, r);
      s->uncertain = 0;
      if (after_new) s->fresh_contraction = fmax(0.3 * s->fresh_contraction, r);
    }
    after_new = first_of_new;
    const bool converged = r < 1.0 && norm * r / (1.0 - r) <= SAFETY;
    if (converged || norm <= DBL_EPSILON || is_stagnant(s, iteration, r)) {
      ++s->uncertain;
      return AS_OK;
    }
    if (previous > 0.0 && !first_of_new) renew = r > SLOWEST || renewal_pays(s, norm * r, r);
    previous = norm;
  }
  return fail_to_converge(s, s->def.newton.max_iterations);
}
