/// Random points, see sample.h.
#include "core/kinematics/probe_points.h"

#include <math.h>
#include <stdlib.h>

#include "base/definition.h"
#include "base/error.h"

as_check_def as_default_check_def(void) {
  return (as_check_def){.cookie = ASI_COOKIE(as_check_def),
                        .spread = 0.1,
                        .n_points = 3,
                        .seed = 1,
                        .increment = 1e-3,
                        .tolerance = 1e-6};
}

/// splitmix64. No number is nearly zero: what depends on one shows.
double asi_draw(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  const double size = 0.5 + (double)(z >> 12) * 0x1p-53;
  return (z & 1) ? size : -size;
}

static as_status check_numbers(const double *x, int n, const char *name, as_error *error) {
  for (int i = 0; x && i < n; ++i)
    if (!isfinite(x[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "near.%s[%d] = %g is not finite.",
                      name, i, x[i]);
  return AS_OK;
}

static as_status check_check_def(const as_problem *p, const as_check_def *d, as_error *error) {
  if (d->near.q == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "q", "near.q is NULL.");
  if (!isfinite(d->near.t))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "t", "near.t = %g is not finite.",
                    d->near.t);
  if (!(d->spread > 0.0 && isfinite(d->spread)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "spread",
                    "spread = %g is not a positive number.", d->spread);
  if (d->n_points <= 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "n_points",
                    "n_points = %d is not positive.", d->n_points);
  if (!(d->increment > 0.0 && isfinite(d->increment)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "increment",
                    "increment = %g is not a positive number.", d->increment);
  if (!(d->tolerance > 0.0 && d->tolerance < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "tolerance",
                    "tolerance = %g is not between 0 and 1.", d->tolerance);
  const struct {
    const char *name;
    const double *value;
    int n;
  } given[] = {{"v", d->near.v, p->n},
               {"vdot", d->near.vdot, p->n},
               {"lambda", d->near.lambda, p->def.n_lambda},
               {"psi", d->near.psi, p->def.n_psi},
               {"x", d->near.x, p->def.n_x},
               {"y", d->near.y, p->def.n_y}};
  as_status status = as_space_check(p->space, d->near.q, error);
  for (size_t i = 0; i < sizeof given / sizeof given[0] && status == AS_OK; ++i)
    status = check_numbers(given[i].value, given[i].n, given[i].name, error);
  return status;
}

as_status asi_sampler_init(asi_sampler *s, const as_problem *p, const as_check_def *def,
                           as_error *error) {
  *s = (asi_sampler){.problem = p, .def = def};
  const as_status status = check_check_def(p, def, error);
  if (status) return status;
  const as_problem_def *d = &p->def;
  s->memory = asi_calloc((size_t)p->nq + 3 * (size_t)p->n + (size_t)d->n_lambda + (size_t)d->n_psi +
                             (size_t)d->n_x + (size_t)d->n_y,
                         sizeof(double));
  if (s->memory == NULL) return asi_fail_memory(error);
  s->q = s->memory;
  s->v = s->q + p->nq;
  s->vdot = s->v + p->n;
  s->move = s->vdot + p->n;
  s->lambda = s->move + p->n;
  s->psi = s->lambda + d->n_lambda;
  s->x = s->psi + d->n_psi;
  s->y = s->x + d->n_x;
  return AS_OK;
}

void asi_sampler_free(asi_sampler *s) { free(s->memory); }

static void draw_vector(asi_sampler *s, const double *near, const double *typical, int n,
                        double *out) {
  for (int i = 0; i < n; ++i) {
    const double x = near ? near[i] : 0.0;
    out[i] = x + s->def->spread * fmax(fabs(x), typical ? typical[i] : 1.0) * asi_draw(&s->state);
  }
}

as_point asi_sampler_point(asi_sampler *s, int index) {
  const as_problem *p = s->problem;
  const as_point *near = &s->def->near;
  const double time = isnan(p->def.time_scale) ? 1.0 : p->def.time_scale;
  s->state = ((uint64_t)s->def->seed << 32) + (uint64_t)index;
  asi_draw(&s->state); // neighbouring states differ from here on
  for (int i = 0; i < p->n; ++i) s->move[i] = s->def->spread * p->typical[i] * asi_draw(&s->state);
  as_space_move(p->space, near->q, s->move, s->q);
  draw_vector(s, near->v, p->typical, p->n, s->v);
  draw_vector(s, near->vdot, p->typical, p->n, s->vdot);
  draw_vector(s, near->lambda, NULL, p->def.n_lambda, s->lambda);
  draw_vector(s, near->psi, NULL, p->def.n_psi, s->psi);
  draw_vector(s, near->x, NULL, p->def.n_x, s->x);
  draw_vector(s, near->y, NULL, p->def.n_y, s->y);
  return (as_point){.t = near->t + s->def->spread * time * fabs(asi_draw(&s->state)),
                    .q = s->q,
                    .v = s->v,
                    .vdot = s->vdot,
                    .lambda = s->lambda,
                    .psi = s->psi,
                    .x = s->x,
                    .y = s->y};
}
