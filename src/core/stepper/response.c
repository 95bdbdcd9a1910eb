/// What a change of force brings about, as the last samples have shown it.
///
/// [SA.3] and [SA.4] are linear in df: what jumps is s R(t), s the size of df and R the response to a unit of force in its direction.
/// A controller pushes in the same direction at all its samples, in axes that move with the machine, and R changes as smoothly
/// as the machine moves:
///
///     [SA.6]  R(t) = sum w_i(t) R_i,   R_i where they were solved for, the last four
///
/// With steps of one size that is enough, as long as J is off by less than a tenth of what [SA.5] leaves away, (h |dR/dt|/|R|)^2,
/// and h W by as much of J. How far a polynomial is off is seen whenever its next R_i is solved for, and tells when that has to be;
/// and a force that points where it was not expected, as of several controllers that act together, is solved for at once.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

// The direction is the same where its cosine is above this.
#define SAME_DIRECTION 0.99
// A response is one if it has been solved for to this share.
#define WELL_SOLVED 1e-6
// How far responses may be off, of what [SA.5] leaves away; never more than the second.
#define OF_LEFT_AWAY 1.0
#define MOST_OFF 1e-4
// What extrapolation leaves is expected with this margin.
#define MARGIN 2.0
// Samples that a polynomial serves for at the most.
enum { MOST_SAMPLES = 8 };
// Steps and periods are the same to round-off.
#define SAME_STEP 1e-6

static void lay_out_track(asi_track *x, size_t size, asi_layout *layout) {
  x->size = (int)size;
  for (int i = 0; i < ASI_RESPONSES; ++i) x->value[i] = asi_layout_take(layout, size);
}

void asi_response_lay_out(asi_stepper *s, asi_layout *layout) {
  const as_problem *p = s->kin->problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda;
  const size_t stage = (size_t)asi_jump_size(p);
  asi_response *r = &s->jump.response;
  r->direction = asi_layout_take(layout, n);
  lay_out_track(&r->change, stage + n, layout);
  lay_out_track(&r->slope, stage + n + m, layout);
}

static int stage_of(const asi_stepper *s) { return asi_jump_size(s->kin->problem); }

static void forget(asi_track *x) {
  x->count = 0;
  x->until = -(double)INFINITY;
  x->off[0] = x->off[1] = (double)NAN;
}

void asi_response_forget(asi_response *r) {
  forget(&r->change);
  forget(&r->slope);
  r->t = r->h = (double)NAN;
  r->most = 0.0;
}

double asi_response_size(asi_stepper *s, const double *force) {
  asi_response *r = &s->jump.response;
  const double *const typical = s->kin->problem->typical;
  double own = 0.0, along = 0.0;
  for (int i = 0; i < s->kin->problem->n; ++i) {
    const double x = force[i] * typical[i];
    own += x * x;
    along += x * r->direction[i] * typical[i];
  }
  own = sqrt(own);
  if (isnan(r->t)) return own;
  if (fabs(along) >= SAME_DIRECTION * own) return copysign(own, along);
  asi_response_forget(r);
  return own;
}

static bool is_about(double x, double y) { return fabs(x - y) <= SAME_STEP * y; }

bool asi_response_is_of_step(const asi_stepper *s) {
  return is_about(s->last_h, s->jump.response.h);
}

/// [NW.6]
static void weights(const asi_track *x, double t, double *w) {
  for (int i = 0; i < x->count; ++i) {
    w[i] = 1.0;
    for (int j = 0; j < x->count; ++j)
      if (j != i) w[i] *= (t - x->t[j]) / (x->t[i] - x->t[j]);
  }
}

/// Their derivatives.
static void rate_weights(const asi_track *x, double t, double *w) {
  for (int i = 0; i < x->count; ++i) {
    w[i] = 0.0;
    for (int k = 0; k < x->count; ++k) {
      double part = 1.0;
      for (int j = 0; j < x->count && k != i; ++j)
        if (j != i) part *= (j == k ? 1.0 : t - x->t[j]) / (x->t[i] - x->t[j]);
      if (k != i) w[i] += part;
    }
  }
}

/// out = factor sum w_i R_i, of the first n; there are zeros where there is no R_i.
static void add_up(const asi_track *x, double factor, const double *w, int n,
                   double *restrict out) {
  double by[ASI_RESPONSES] = {0.0};
  const double *const a = x->value[0], *const b = x->value[1], *const c = x->value[2],
                      *const d = x->value[3];
  for (int i = 0; i < x->count; ++i) by[i] = factor * w[i];
  for (int k = 0; k < n; ++k) out[k] = by[0] * a[k] + by[1] * b[k] + by[2] * c[k] + by[3] * d[k];
}

static void guess(const asi_stepper *s, const asi_track *x, double size, double *out) {
  double w[ASI_RESPONSES];
  weights(x, s->t, w);
  add_up(x, size, w, x->size, out);
}

void asi_response_guess(asi_stepper *s, double size) {
  guess(s, &s->jump.response.change, size, s->jump.change);
  guess(s, &s->jump.response.slope, size, s->jump.slope);
}

bool asi_response_is_expected(const asi_stepper *s, const double *force, double size) {
  const as_problem *p = s->kin->problem;
  const asi_response *r = &s->jump.response;
  const double *const expected = s->jump.change + stage_of(s);
  double off = 0.0;
  for (int i = 0; i < p->n; ++i) {
    const double x = (force[i] - expected[i]) * p->typical[i];
    off += x * x;
  }
  return sqrt(off) <= r->most * fabs(size);
}

/// What the error of extrapolation grows with.
static double reach(const asi_track *x, double t) {
  double product = 1.0;
  for (int i = 0; i < x->count; ++i) product *= t - x->t[i];
  return product;
}

/// Takes what has been solved for. The largest of what the last three extrapolations missed counts, since the polynomial's next term passes
/// through zero now and then; by it the track serves for as long as less than `most` is left, at most MOST_SAMPLES periods.
static void learn(asi_stepper *s, asi_track *x, const double *value, double size, double most) {
  const as_problem *p = s->kin->problem;
  const asi_response *r = &s->jump.response;
  double *const oldest = x->value[ASI_RESPONSES - 1], *const off = s->jump.guess;
  const double reached = x->count == ASI_RESPONSES ? reach(x, s->t) : 0.0;
  guess(s, x, size, off);
  for (int i = 0; i < p->n; ++i) off[i] -= value[i];
  for (int i = ASI_RESPONSES - 1; i > 0; --i) {
    x->value[i] = x->value[i - 1];
    x->t[i] = x->t[i - 1];
  }
  x->value[0] = oldest;
  x->t[0] = s->t;
  for (int i = 0; i < x->size; ++i) oldest[i] = value[i] / size;
  x->until = -(double)INFINITY;
  if (x->count < ASI_RESPONSES) ++x->count;
  if (reached == 0.0) return;
  const double last = asi_max_motion(p, off) / (most * reached), period = s->t - r->t;
  const double worst = MARGIN * asi_max_nan(last, asi_max_nan(x->off[0], x->off[1]));
  x->off[1] = x->off[0];
  x->off[0] = last;
  int samples = 0;
  while (samples < MOST_SAMPLES && worst * reach(x, s->t + (samples + 1) * period) <= 1.0)
    ++samples;
  if (samples > 0) x->until = s->t + (samples + SAME_STEP) * period;
}

/// How much R changes in a step, over R.
static double drift(asi_stepper *s) {
  const asi_track *x = &s->jump.response.change;
  const as_problem *p = s->kin->problem;
  double w[ASI_RESPONSES], *const rate = s->jump.guess;
  if (x->count == 0) return 0.0;
  rate_weights(x, s->t, w);
  add_up(x, 1.0, w, p->n, rate);
  return s->last_h * asi_max_motion(p, rate) / asi_max_motion(p, x->value[0]);
}

/// What J may be off by, of J.
static double most_off(asi_stepper *s) {
  const double part = drift(s);
  return fmin(OF_LEFT_AWAY * part * part, MOST_OFF);
}

void asi_response_learn_change(asi_stepper *s, const double *force, double size, double share,
                               double tolerance) {
  const as_problem *p = s->kin->problem;
  asi_response *r = &s->jump.response;
  if (!(share <= WELL_SOLVED) || size == 0.0) {
    asi_response_forget(r);
    return;
  }
  const double of_state = asi_max_motion(p, s->now.vdot), J = asi_max_motion(p, s->jump.change);
  r->most = fmax(most_off(s), tolerance * of_state / J);
  memcpy(s->jump.change + stage_of(s), force, (size_t)p->n * sizeof(double));
  learn(s, &r->change, s->jump.change, size, r->most * J);
}

void asi_response_learn_slope(asi_stepper *s, double size) {
  asi_response *r = &s->jump.response;
  const double J = asi_max_motion(s->kin->problem, s->jump.change);
  if (r->change.count > 0) learn(s, &r->slope, s->jump.slope, size, most_off(s) * J / s->last_h);
}

void asi_response_follow(asi_stepper *s, const double *force, double size) {
  asi_response *r = &s->jump.response;
  if (size == 0.0) { // so small that squares vanish: no direction
    asi_response_forget(r);
    return;
  }
  for (int i = 0; i < s->kin->problem->n; ++i) r->direction[i] = force[i] / size;
  r->t = s->t;
  r->h = s->last_h;
}
