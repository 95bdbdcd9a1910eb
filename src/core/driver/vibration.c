/// [SC.15] Vibrations of stiff springs that automatic steps let go.
///
/// The error e of v in a step that resolves a vibration of frequency omega is by_v (h omega)^3 of its velocity V, however small that
/// is, and that of q by_q h (h omega)^2 V, a quarter of a period apart. Errors of a vibration do not add up as those of a motion do, since springs lead back to it: they make no more of it than it
/// is. So a vibration that counts neither in positions nor in velocities is not followed: its part is taken off e.
///
/// What is fast is told by the matrix S = M + kap beta H^2 K over a time H that is long for it, whatever h is: with P = S^-1 M
/// between constraints a mode of frequency omega has P = 1/(1 + x), x = kap beta (H omega)^2, so that P^3 e is the slow part of e,
/// and, where x is large,
///
///     (P - P^3) e kap beta H^2    (P^2 - P^3) e (kap beta H^2)^2
///
/// are e/omega^2 and e/omega^4 of all fast modes in common, without any knowledge of their frequencies.
#include <float.h>

#include "core/driver/control.h"

// H grows to what is slower as often as that in a step, by this factor at least.
enum { MOST_REACHES = 4 };
#define LONGER 2.0

static as_point point_of(double t, const asi_values *v) {
  return (as_point){.t = t,
                    .q = v->q,
                    .v = v->v,
                    .vdot = v->vdot,
                    .lambda = v->lambda,
                    .psi = v->psi,
                    .x = v->x,
                    .y = v->y};
}

static void find_momentum(const as_integrator *s, const double *w, double *out) {
  memset(out, 0, (size_t)s->output.stiff.size * sizeof(double));
  asi_panels_multiply_add(&s->kin.problem->panels[AS_BLOCK_M], s->kin.block[AS_BLOCK_M].value, 1.0,
                          w, out);
}

/// to = P from, with the S that was factorized last.
static as_status pass(as_integrator *s, const double *from, double *to) {
  double *r = s->scratch.unknowns;
  find_momentum(s, from, r);
  const as_status status = asi_solve(&s->kin, &s->output.stiff, s->stepper.t, r);
  memcpy(to, r, (size_t)s->kin.problem->n * sizeof(double));
  return status;
}

/// S of the step's end, for H; counts as work.
static as_status factor(as_integrator *s, double by_q) {
  const as_point at = point_of(s->stepper.t1, &s->stepper.next);
  ++s->kin.statistics.jacobian_evaluations;
  return asi_spring_matrix(s, &at, by_q);
}

/// kap beta, so that q moves by that times h^2 v'.
static double reach_of(const as_integrator *s) {
  return (1.0 - s->stepper.c.alpha_f) / (1.0 - s->stepper.c.alpha_m) * s->stepper.c.beta;
}

/// omega^2 of w by the S that was factorized last, with by_q: w . (S - M) w/(by_q w . M w)
static double rate_by_springs(as_integrator *s, const double *w, double by_q) {
  const int n = s->kin.problem->n;
  double *all = s->scratch.unknowns, *r = s->output.rest, *momentum = s->scratch.rhs;
  memset(all, 0, (size_t)s->output.stiff.size * sizeof(double));
  memcpy(all, w, (size_t)n * sizeof(double));
  asi_system_multiply(&s->output.stiff, all, r);
  find_momentum(s, w, momentum);
  double springs = 0.0, mass = 0.0;
  for (int i = 0; i < n; ++i) {
    springs += w[i] * (r[i] - momentum[i]);
    mass += w[i] * momentum[i];
  }
  return springs / (by_q * mass);
}

/// The same by the matrix of the step, which is at hand, or, where that knows nothing of springs, by S over the step.
static double rate_of_error(as_integrator *s, const double *e) {
  const double rate = asi_spring_rate(&s->stepper, e);
  const double by_q = reach_of(s) * s->stepper.h * s->stepper.h;
  if (!isnan(rate)) return rate;
  return factor(s, by_q) ? 0.0 : rate_by_springs(s, e, by_q);
}

/// The speed of a vibration that has e; over typical sizes.
static double speed_of(const as_integrator *s, const double *e, double by_v, double omega) {
  const double turn = asi_lesser(s->stepper.h * omega, 1.0);
  return asi_max_motion(s->kin.problem, e) / (by_v * turn * turn * turn);
}

// Springs that are this much softer where the step begins have only just been struck.
#define STRUCK 0.25

/// - e . f_q e at a point
static double stretch_of(as_integrator *s, double t, const asi_values *values, const double *e) {
  const as_problem *p = s->kin.problem;
  const as_point at = point_of(t, values);
  double *force = s->control.vibrating[0], sum = 0.0;
  if (asi_blocks(&s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_F_Q)) != AS_OK) return 0.0;
  memset(force, 0, (size_t)p->n * sizeof(double));
  asi_panels_multiply_add(&p->panels[AS_BLOCK_F_Q], s->kin.block[AS_BLOCK_F_Q].value, -1.0, e,
                          force);
  for (int i = 0; i < p->n; ++i) sum += e[i] * force[i];
  return sum;
}

/// Whether the springs of e are there all the step: those of a contact do not lead back once it is over.
static bool springs_stay(as_integrator *s, const double *e) {
  const double at_start = stretch_of(s, s->stepper.t, &s->stepper.now, e);
  return at_start >= STRUCK * stretch_of(s, s->stepper.t1, &s->stepper.next, e);
}

/// What an error loses to powers of P, over typical sizes: the largest of (P - P^3) e, (P^2 - P^3) e and (1 - P^3) e.
typedef struct losses {
  double once, twice, all;
} losses;

/// Puts P^3 e into `slow`.
static as_status find_losses(as_integrator *s, const double *e, double *slow, losses *found) {
  const as_problem *p = s->kin.problem;
  double *const once = s->control.vibrating[0], *const twice = s->control.vibrating[1];
  as_status status = pass(s, e, once);
  if (status == AS_OK) status = pass(s, once, twice);
  if (status == AS_OK) status = pass(s, twice, slow);
  if (status) return status;
  for (int i = 0; i < p->n; ++i) {
    once[i] -= slow[i];
    twice[i] -= slow[i];
  }
  found->once = asi_max_motion(p, once);
  found->twice = asi_max_motion(p, twice);
  for (int i = 0; i < p->n; ++i) once[i] = e[i] - slow[i];
  found->all = asi_max_motion(p, once);
  return AS_OK;
}

/// e_q without what constraints hold, which counts in any case.
static void find_free_place(as_integrator *s, double *out) {
  const int n = s->kin.problem->n;
  const double *const e = s->control.estimate;
  memcpy(out, e, (size_t)n * sizeof(double));
  if (s->kin.redundancy.rows > 0 && asi_find_taken(s, e, out))
    for (int i = 0; i < n; ++i) out[i] = e[i] - out[i];
}

/// Takes what does not count of the vibrations that the S for `by_q` shows off both errors; false: they do, or there is no telling.
static bool take_off(as_integrator *s, double by_v, double by_q, double most) {
  const as_problem *p = s->kin.problem;
  const int n = p->n;
  const double h = s->stepper.h, of_v = by_v * h * h * h;
  const double of_q = fabs(1.0 / 6.0 - s->stepper.c.beta - 0.5 * s->stepper.D) * h * h * h;
  double *const e_q = s->control.estimate, *const e_v = e_q + n;
  double *const slow_v = s->control.vibrating[2], *const slow_q = s->control.vibrating[3],
                *const free_q = s->control.vibrating[4];
  losses v, q;
  if (!(of_q > 0.0) || !springs_stay(s, e_v)) return false;
  find_free_place(s, free_q);
  if (factor(s, by_q) || find_losses(s, e_v, slow_v, &v) || find_losses(s, free_q, slow_q, &q))
    return false;
  const double root = sqrt(by_q), cube = by_q * root;
  // Of what steps do not resolve e_v is by_v V, and e_q by_q h V at least.
  const double speed = fmax(fmax(cube / of_v * sqrt(v.once * v.twice), v.all / by_v),
                            fmax(by_q / of_q * q.once, h * h / of_q * q.all));
  const double place = fmax(fmax(by_q * by_q / of_v * v.twice, h * h * h / of_q * q.all),
                            cube / of_q * sqrt(q.once * q.twice));
  if (!(speed < most)) return false;
  memcpy(e_v, slow_v, (size_t)n * sizeof(double));
  if (place < s->stepper.expert.vibration_place * s->def.tolerance.rtol *
                  asi_max_motion(p, s->control.new_size))
    for (int i = 0; i < n; ++i) e_q[i] -= free_q[i] - slow_q[i];
  return true;
}

/// Looks at what is slower as long as there are vibrations that do not count in what is left.
static void let_go(as_integrator *s, double by_v, double rate, double least) {
  const int n = s->kin.problem->n;
  const double kap_beta = reach_of(s), *size = s->control.new_size;
  const double most = s->stepper.expert.vibration_motion *
                      fmax(asi_max_motion(s->kin.problem, size + n), s->control.expected);
  const double *const e = s->control.estimate + n;
  double before = 0.0;
  for (int i = 0; i < MOST_REACHES && rate > 0.0; ++i) {
    const double reach = s->stepper.expert.vibration_reach / sqrt(rate),
                 by_q = kap_beta * reach * reach;
    if (!(speed_of(s, e, by_v, sqrt(rate)) < most && reach > LONGER * before)) return;
    if (!take_off(s, by_v, by_q, most)) return;
    before = reach;
    if (!(fmax(asi_error_norm(s, size, n, n), asi_error_norm(s, size, 0, n)) > least)) return;
    rate = rate_by_springs(s, e, by_q);
  }
}

void asi_let_go(as_integrator *s, double by_v, double least) {
  if (!(s->kin.problem->present & AS_BLOCK_BIT(AS_BLOCK_F_Q))) return;
  asi_keep_blocks(s, false);
  let_go(s, by_v, rate_of_error(s, s->control.estimate + s->kin.problem->n), least);
  asi_keep_blocks(s, true);
  asi_error_clear(s->kin.eval.error);
}

as_status asi_expect_speed(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const as_point at = point_of(s->stepper.t, &s->stepper.now);
  const double time = 1.0 / s->kin.eval.rate, span = s->def.tolerance.span;
  double *const once = s->control.vibrating[0], *const twice = s->control.vibrating[1];
  s->control.expected = 0.0;
  if (!isnan(s->def.step) || !(p->present & AS_BLOCK_BIT(AS_BLOCK_F_Q))) return AS_OK;
  asi_keep_blocks(s, false);
  as_status status = asi_spring_matrix(s, &at, time * time);
  if (status == AS_OK) status = pass(s, s->stepper.now.vdot, once);
  if (status == AS_OK) status = pass(s, once, twice);
  if (status == AS_OK) status = pass(s, twice, once);
  asi_keep_blocks(s, true);
  if (status == AS_ERR_SINGULAR) return asi_error_clear(s->kin.eval.error);
  if (status) return status;
  const double slow = asi_max_motion(p, once);
  const double speed = isnan(span) ? sqrt(slow) : fmin(sqrt(slow), slow * span);
  if (isfinite(speed)) s->control.expected = speed;
  return AS_OK;
}
