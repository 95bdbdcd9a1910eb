#include "units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/kinematics/problem.h"
#include "lie/space.h"

struct units_problem {
  const as_problem *inner;
  as_problem *problem;
  units by;
  double *q, *v;       ///< per component: units of length of positions and of directions of motion
  double *row, *k_row; ///< per constraint: that of g, and of k times a time
  double *argument[5]; ///< a point in the old units
  double *initial[5];  ///< a start in the new ones
  as_initial start;
};

static double *room(int n) {
  double *x = calloc((size_t)n + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

// ---- units ------------------------------------------------------------------------------------------

static double energy(const units_problem *p) {
  return p->by.mass * p->by.length * p->by.length / (p->by.time * p->by.time);
}

static double of_argument(const units_problem *p, asi_argument a, int i) {
  const double t = p->by.time;
  switch (a) {
  case ASI_ARG_Q: return p->v[i];
  case ASI_ARG_V: return p->v[i] / t;
  case ASI_ARG_VDOT: return p->v[i] / (t * t);
  case ASI_ARG_LAMBDA: return energy(p) / p->row[i];
  case ASI_ARG_PSI: return energy(p) / p->k_row[i];
  default: return 1.0;
  }
}

static double of_function(const units_problem *p, asi_function f, int i) {
  const double t = p->by.time;
  switch (f) {
  case ASI_FN_MA:
  case ASI_FN_F: return energy(p) / p->v[i];
  case ASI_FN_G: return p->row[i];
  case ASI_FN_GDOT: return p->row[i] / t;
  case ASI_FN_K: return p->k_row[i] / t;
  case ASI_FN_PHI: return 1.0 / t;
  default: return 1.0;
  }
}

static const double *back(const double *x, int n, double *to) {
  (void)n;
  return x ? to : NULL;
}

/// A point in the old units.
static as_point inside(const units_problem *p, const as_point *at) {
  const as_problem *in = p->inner;
  const as_problem_def *def = &in->def;
  as_point out = *at;
  out.t = at->t / p->by.time;
  double *const *a = p->argument;
  for (int i = 0; i < in->nq && at->q; ++i) a[0][i] = at->q[i] / p->q[i];
  for (int i = 0; i < in->n && at->v; ++i) a[1][i] = at->v[i] / of_argument(p, ASI_ARG_V, i);
  for (int i = 0; i < in->n && at->vdot; ++i)
    a[2][i] = at->vdot[i] / of_argument(p, ASI_ARG_VDOT, i);
  for (int i = 0; i < def->n_lambda && at->lambda; ++i)
    a[3][i] = at->lambda[i] / of_argument(p, ASI_ARG_LAMBDA, i);
  for (int i = 0; i < def->n_psi && at->psi; ++i)
    a[4][i] = at->psi[i] / of_argument(p, ASI_ARG_PSI, i);
  out.q = back(at->q, in->nq, a[0]);
  out.v = back(at->v, in->n, a[1]);
  out.vdot = back(at->vdot, in->n, a[2]);
  out.lambda = back(at->lambda, def->n_lambda, a[3]);
  out.psi = back(at->psi, def->n_psi, a[4]);
  return out;
}

// ---- callbacks --------------------------------------------------------------------------------------

static int scaled(const units_problem *p, as_vector_fn *fn, asi_function f, double per,
                  const as_point *at, double *out) {
  const as_point point = inside(p, at);
  const int code = fn(&point, out, p->inner->def.user);
  const int n = asi_function_size(p->inner, f);
  for (int i = 0; i < n && code == AS_DONE; ++i) out[i] *= of_function(p, f, i) * per;
  return code;
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  const units_problem *p = user;
  const as_point point = inside(p, at);
  const int code = p->inner->def.mass(&point, m, p->inner->def.user);
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      m->value[k] *= of_function(p, ASI_FN_MA, m->row[k]) / of_argument(p, ASI_ARG_VDOT, j);
  return code;
}

#define WRAP(name, function, per)                                                                  \
  static int name(const as_point *at, double *out, void *user) {                                   \
    const units_problem *p = user;                                                                 \
    return scaled(p, p->inner->def.name, function, per, at, out);                                  \
  }
WRAP(force, ASI_FN_F, 1.0)
WRAP(constraint, ASI_FN_G, 1.0)
WRAP(constraint_rate, ASI_FN_GDOT, 1.0)
WRAP(constraint_acceleration, ASI_FN_GDOT, 1.0 / p->by.time)
WRAP(nonholonomic, ASI_FN_K, 1.0)
WRAP(nonholonomic_acceleration, ASI_FN_K, 1.0 / p->by.time)
WRAP(state_rate, ASI_FN_PHI, 1.0)
WRAP(output, ASI_FN_CHI, 1.0)

static void scale_blocks(const units_problem *p, as_block_set set, as_matrix *blocks) {
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
    if (!(set & AS_BLOCK_BIT(b))) continue;
    const asi_block_info info = asi_block_describe((as_block)b);
    const as_matrix *m = &blocks[b];
    for (int j = 0; j < m->cols; ++j)
      for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
        m->value[k] *= of_function(p, info.function, m->row[k]) / of_argument(p, info.argument, j);
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const units_problem *p = user;
  const as_point point = inside(p, at);
  const int code = p->inner->def.jacobian(&point, wanted, blocks, p->inner->def.user);
  scale_blocks(p, wanted, blocks);
  return code;
}

static void scale_vector(const units_problem *p, asi_function f, double *x) {
  const int n = asi_function_size(p->inner, f);
  for (int i = 0; i < n && x; ++i) x[i] *= of_function(p, f, i);
}

static int evaluate(const as_point *at, const as_evaluation *out, void *user) {
  const units_problem *p = user;
  const as_point point = inside(p, at);
  const int code = p->inner->def.evaluate(&point, out, p->inner->def.user);
  if (code != AS_DONE) return code;
  scale_vector(p, ASI_FN_F, out->force);
  scale_vector(p, ASI_FN_G, out->constraint);
  scale_vector(p, ASI_FN_GDOT, out->constraint_rate);
  scale_vector(p, ASI_FN_K, out->nonholonomic);
  scale_vector(p, ASI_FN_PHI, out->state_rate);
  scale_vector(p, ASI_FN_CHI, out->output);
  scale_blocks(p, out->block_set, out->blocks);
  return code;
}

static int check_step(const as_point *from, const as_point *to, const bool *inactive, int *row,
                      char *text, size_t size, void *user) {
  const units_problem *p = user;
  const as_point here = inside(p, from); // shares its room with the other: copy what is read
  const as_problem *in = p->inner;
  double *q = room(in->nq), *v = room(in->n);
  as_point begin = here;
  if (here.q) memcpy(q, here.q, (size_t)in->nq * sizeof(double));
  if (here.v) memcpy(v, here.v, (size_t)in->n * sizeof(double));
  begin.q = here.q ? q : NULL;
  begin.v = here.v ? v : NULL;
  begin.vdot = begin.lambda = begin.psi = NULL;
  const as_point end = inside(p, to);
  const int code = in->def.check_step(&begin, &end, inactive, row, text, size, in->def.user);
  free(q);
  free(v);
  return code;
}

static int follow(const as_point *at, double *out, void *user) {
  const units_problem *p = user;
  const as_point point = inside(p, at);
  return p->inner->def.follow(&point, out, p->inner->def.user);
}

static void next_time(double t, const double *u, as_known_time *out, void *user) {
  const units_problem *p = user;
  p->inner->def.next_time(t / p->by.time, u, out, p->inner->def.user);
  out->before *= p->by.time;
  out->after *= p->by.time;
}

static void describe(as_quantity quantity, int index, char *text, size_t size, void *user) {
  const units_problem *p = user;
  p->inner->def.describe(quantity, index, text, size, p->inner->def.user);
}

// ---- the problem ------------------------------------------------------------------------------------

/// Positions are lengths, as are directions that do not turn a body; rows that move something.
static void find_units(units_problem *p) {
  const as_problem *in = p->inner;
  const double length = p->by.length;
  for (int i = 0; i < in->n; ++i) p->v[i] = in->is_rotation[i] ? 1.0 : length;
  int q = 0;
  for (int k = 0; k < in->space->n_parts; ++k) {
    const as_space_part part = in->space->parts[k];
    const bool flat = part.kind == AS_SPACE_RN;
    assert_true(flat || part.kind == AS_SPACE_R3SO3 || part.kind == AS_SPACE_SE3);
    for (int c = 0; c < part.count; ++c)
      for (int i = 0; i < (flat ? 1 : 7); ++i) {
        // the order of numbers in q is position, quaternion
        p->q[q++] = flat || i < 3 ? length : 1.0;
      }
  }
  assert_int_equal(q, in->nq);
  for (int i = 0; i < in->def.n_lambda; ++i) {
    p->row[i] = 1.0;
    for (int k = in->g_q_rows.start[i]; k < in->g_q_rows.start[i + 1]; ++k)
      if (!in->is_rotation[in->g_q_rows.col[k]]) p->row[i] = length;
  }
  for (int i = 0; i < in->def.n_psi; ++i) {
    p->k_row[i] = 1.0;
    for (int k = in->k_v_rows.start[i]; k < in->k_v_rows.start[i + 1]; ++k)
      if (!in->is_rotation[in->k_v_rows.col[k]]) p->k_row[i] = length;
  }
}

units_problem *units_make(const as_problem *in, units by) {
  units_problem *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->inner = in;
  p->by = by;
  assert_int_equal(in->def.n_samplers, 0);
  p->q = room(in->nq);
  p->v = room(in->n);
  p->row = room(in->def.n_lambda);
  p->k_row = room(in->def.n_psi);
  const int sizes[5] = {in->nq, in->n, in->n, in->def.n_lambda, in->def.n_psi};
  for (int k = 0; k < 5; ++k) p->argument[k] = room(sizes[k]);
  for (int k = 0; k < 5; ++k) p->initial[k] = room(sizes[k]);
  find_units(p);
  as_problem_def def = in->def;
  double *typical = room(in->n);
  for (int i = 0; i < in->n; ++i) typical[i] = in->typical[i] * p->v[i];
  def.parts = in->space->parts;
  def.n_parts = in->space->n_parts;
  def.typical = typical;
  def.time_scale *= by.time;
  def.body = in->body_of;
  def.joint = in->joint_of;
  def.reaction = in->reaction_of;
  def.vector = in->vector;
  def.user = p;
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
    if (!(in->present & AS_BLOCK_BIT(b))) {
      def.block[b] = (as_block_def){.source = AS_BLOCK_ZERO};
      continue;
    }
    def.block[b].pattern = (as_pattern){in->pattern[b].col_start, in->pattern[b].row};
  }
#define TAKE(name)                                                                                 \
  if (def.name) def.name = name
  TAKE(mass);
  TAKE(force);
  TAKE(constraint);
  TAKE(constraint_rate);
  TAKE(constraint_acceleration);
  TAKE(nonholonomic);
  TAKE(nonholonomic_acceleration);
  TAKE(state_rate);
  TAKE(output);
  TAKE(jacobian);
  TAKE(evaluate);
  TAKE(check_step);
  TAKE(follow);
  TAKE(next_time);
  TAKE(describe);
  def.explain = NULL;
  def.describe_redundancy = NULL;
  as_error error;
  if (as_problem_create(&def, &p->problem, &error)) fail_msg("%s", error.message);
  free(typical);
  return p;
}

void units_free(units_problem *p) {
  as_problem_destroy(p->problem);
  for (int k = 0; k < 5; ++k) free(p->argument[k]);
  for (int k = 0; k < 5; ++k) free(p->initial[k]);
  free(p->q);
  free(p->v);
  free(p->row);
  free(p->k_row);
  free(p);
}

const as_problem *units_of(const units_problem *p) { return p->problem; }

const as_initial *units_initial(units_problem *p, const as_initial *from) {
  const as_problem *in = p->inner;
  double *const *to = p->initial;
  p->start = *from;
  p->start.t *= p->by.time;
  for (int i = 0; i < in->nq; ++i) to[0][i] = from->q[i] * p->q[i];
  for (int i = 0; i < in->n && from->v; ++i) to[1][i] = from->v[i] * of_argument(p, ASI_ARG_V, i);
  p->start.q = to[0];
  if (from->v) p->start.v = to[1];
  p->start.lambda = p->start.psi = NULL;
  return &p->start;
}

as_integrator_def units_integrator(const units_problem *p, as_integrator_def def) {
  as_tolerance *tol = &def.tolerance;
  def.step *= p->by.time;
  tol->first_step *= p->by.time;
  tol->min_step *= p->by.time;
  tol->max_step *= p->by.time;
  tol->span *= p->by.time;
  tol->atol_position *= p->by.length;
  tol->atol_velocity *= p->by.length / p->by.time; // and of rotations: do not give it
  def.events = NULL;
  def.n_events = 0;
  return def;
}

void units_back(const units_problem *p, const as_state *s, double *q, double *v, double *lambda) {
  const as_problem *in = p->inner;
  for (int i = 0; i < in->nq; ++i) q[i] = s->q[i] / p->q[i];
  for (int i = 0; i < in->n; ++i) v[i] = s->v[i] / of_argument(p, ASI_ARG_V, i);
  for (int i = 0; i < in->def.n_lambda; ++i)
    lambda[i] = s->lambda[i] / of_argument(p, ASI_ARG_LAMBDA, i);
}
