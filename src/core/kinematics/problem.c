/// Checks a problem's description, copies it, and prepares patterns and colourings.
#include "core/kinematics/problem.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/pool.h"
#include "lie/space.h"

static const asi_block_info block_info[AS_BLOCK_COUNT] = {
    [AS_BLOCK_M] = {"M", ASI_FN_MA, ASI_ARG_VDOT},
    [AS_BLOCK_MA_Q] = {"MA_Q", ASI_FN_MA, ASI_ARG_Q},
    [AS_BLOCK_F_Q] = {"F_Q", ASI_FN_F, ASI_ARG_Q},
    [AS_BLOCK_F_V] = {"F_V", ASI_FN_F, ASI_ARG_V},
    [AS_BLOCK_F_LAMBDA] = {"F_LAMBDA", ASI_FN_F, ASI_ARG_LAMBDA},
    [AS_BLOCK_F_PSI] = {"F_PSI", ASI_FN_F, ASI_ARG_PSI},
    [AS_BLOCK_F_X] = {"F_X", ASI_FN_F, ASI_ARG_X},
    [AS_BLOCK_F_Y] = {"F_Y", ASI_FN_F, ASI_ARG_Y},
    [AS_BLOCK_G_Q] = {"G_Q", ASI_FN_G, ASI_ARG_Q},
    [AS_BLOCK_GDOT_Q] = {"GDOT_Q", ASI_FN_GDOT, ASI_ARG_Q},
    [AS_BLOCK_K_Q] = {"K_Q", ASI_FN_K, ASI_ARG_Q},
    [AS_BLOCK_K_V] = {"K_V", ASI_FN_K, ASI_ARG_V},
    [AS_BLOCK_PHI_Q] = {"PHI_Q", ASI_FN_PHI, ASI_ARG_Q},
    [AS_BLOCK_PHI_V] = {"PHI_V", ASI_FN_PHI, ASI_ARG_V},
    [AS_BLOCK_PHI_VDOT] = {"PHI_VDOT", ASI_FN_PHI, ASI_ARG_VDOT},
    [AS_BLOCK_PHI_LAMBDA] = {"PHI_LAMBDA", ASI_FN_PHI, ASI_ARG_LAMBDA},
    [AS_BLOCK_PHI_PSI] = {"PHI_PSI", ASI_FN_PHI, ASI_ARG_PSI},
    [AS_BLOCK_PHI_X] = {"PHI_X", ASI_FN_PHI, ASI_ARG_X},
    [AS_BLOCK_PHI_Y] = {"PHI_Y", ASI_FN_PHI, ASI_ARG_Y},
    [AS_BLOCK_CHI_Q] = {"CHI_Q", ASI_FN_CHI, ASI_ARG_Q},
    [AS_BLOCK_CHI_V] = {"CHI_V", ASI_FN_CHI, ASI_ARG_V},
    [AS_BLOCK_CHI_VDOT] = {"CHI_VDOT", ASI_FN_CHI, ASI_ARG_VDOT},
    [AS_BLOCK_CHI_LAMBDA] = {"CHI_LAMBDA", ASI_FN_CHI, ASI_ARG_LAMBDA},
    [AS_BLOCK_CHI_PSI] = {"CHI_PSI", ASI_FN_CHI, ASI_ARG_PSI},
    [AS_BLOCK_CHI_X] = {"CHI_X", ASI_FN_CHI, ASI_ARG_X},
    [AS_BLOCK_CHI_Y] = {"CHI_Y", ASI_FN_CHI, ASI_ARG_Y},
};

asi_block_info asi_block_describe(as_block block) { return block_info[block]; }

int asi_function_size(const as_problem *p, asi_function function) {
  switch (function) {
  case ASI_FN_MA:
  case ASI_FN_F: return p->n;
  case ASI_FN_G:
  case ASI_FN_GDOT: return p->def.n_lambda;
  case ASI_FN_K: return p->def.n_psi;
  case ASI_FN_PHI: return p->def.n_x;
  case ASI_FN_CHI: return p->def.n_y;
  }
  return 0;
}

int asi_argument_size(const as_problem *p, asi_argument argument) {
  switch (argument) {
  case ASI_ARG_Q:
  case ASI_ARG_V:
  case ASI_ARG_VDOT: return p->n;
  case ASI_ARG_LAMBDA: return p->def.n_lambda;
  case ASI_ARG_PSI: return p->def.n_psi;
  case ASI_ARG_X: return p->def.n_x;
  case ASI_ARG_Y: return p->def.n_y;
  }
  return 0;
}

void asi_component_name(const as_problem *p, as_quantity quantity, int index, char *text,
                        size_t size) {
  static const char *const prefix[] = {"v", "lambda", "psi", "x", "y"};
  text[0] = '\0';
  if (p->def.describe != NULL) p->def.describe(quantity, index, text, size, p->def.user);
  if (text[0] == '\0') snprintf(text, size, "%s[%d]", prefix[quantity], index);
}

as_problem_def as_default_problem_def(void) {
  return (as_problem_def){.cookie = ASI_COOKIE(as_problem_def), .time_scale = (double)NAN};
}

static as_status missing(as_error *error, const char *name, const char *why) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The problem has no %s callback, which %s needs.", name, why);
}

static as_status check_counts_and_callbacks(const as_problem_def *d, as_error *error) {
  const struct {
    const char *name;
    int value;
  } counts[] = {{"n_lambda", d->n_lambda},
                {"n_psi", d->n_psi},
                {"n_x", d->n_x},
                {"n_y", d->n_y},
                {"n_events", d->n_events}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
    if (counts[i].value < 0)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, counts[i].name, "%s = %d is negative.",
                      counts[i].name, counts[i].value);
  if (d->force_kind != AS_FORCE_ADDITIVE && d->force_kind != AS_FORCE_GENERAL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "force_kind", "There is no force_kind %d.",
                    (int)d->force_kind);
  if (d->mass == NULL) return missing(error, "mass", "every problem");
  if (d->force == NULL) return missing(error, "force", "every problem");
  if (d->n_lambda > 0 && d->constraint == NULL) return missing(error, "constraint", "n_lambda > 0");
  if (d->n_psi > 0 && d->nonholonomic == NULL) return missing(error, "nonholonomic", "n_psi > 0");
  if (d->n_x > 0 && d->state_rate == NULL) return missing(error, "state_rate", "n_x > 0");
  if (d->n_y > 0 && d->output == NULL) return missing(error, "output", "n_y > 0");
  if (d->n_samplers > 0 && d->samplers == NULL) return missing(error, "samplers", "n_samplers > 0");
  if (d->n_events > 0 && d->events == NULL) return missing(error, "events", "n_events > 0");
  if (d->evaluate_part && d->evaluate == NULL) return missing(error, "evaluate", "evaluate_part");
  if (d->evaluate_part && (d->n_evaluate_parts < 1 || d->n_evaluate_parts > ASI_MOST_PARTS))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, "n_evaluate_parts",
        "n_evaluate_parts = %d is not a number from 1 to %d, which evaluate_part needs.",
        d->n_evaluate_parts, (int)ASI_MOST_PARTS);
  if (!(isnan(d->time_scale) || (d->time_scale > 0.0 && isfinite(d->time_scale))))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "time_scale",
                    "time_scale = %g is neither positive nor NAN.", d->time_scale);
  return AS_OK;
}

/// Greedy colouring of the columns: a column gets the first colour that no column with a common row
/// has.
static as_status colour(asi_colouring *c, const asi_pattern *p, as_error *error) {
  asi_row_view rows = {0};
  int *colour_of = asi_calloc((size_t)p->cols, sizeof(int));
  int *taken_by = asi_calloc((size_t)p->cols + 1, sizeof(int)); // colour -> last column it barred
  c->start = asi_calloc((size_t)p->cols + 2, sizeof(int));
  c->column = asi_calloc((size_t)p->cols, sizeof(int));
  as_status status = asi_row_view_init(&rows, p, error);
  if (status == AS_OK && (!colour_of || !taken_by || !c->start || !c->column))
    status = asi_fail_memory(error);
  if (status == AS_OK) {
    for (int j = 0; j < p->cols; ++j) taken_by[j] = -1;
    for (int j = 0; j < p->cols; ++j) {
      for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k)
        for (int s = rows.start[p->row[k]]; s < rows.start[p->row[k] + 1]; ++s)
          if (rows.col[s] < j) taken_by[colour_of[rows.col[s]]] = j;
      int free_colour = 0;
      while (taken_by[free_colour] == j) ++free_colour;
      colour_of[j] = free_colour;
      if (free_colour >= c->n_colours) c->n_colours = free_colour + 1;
    }
    // The same counting sort as asi_row_view_init.
    for (int j = 0; j < p->cols; ++j) ++c->start[colour_of[j] + 1];
    for (int k = 0; k < c->n_colours; ++k) c->start[k + 1] += c->start[k];
    for (int j = p->cols - 1; j >= 0; --j) c->column[--c->start[colour_of[j] + 1]] = j;
    for (int k = 0; k < c->n_colours; ++k) c->start[k] = c->start[k + 1];
    c->start[c->n_colours] = p->cols;
  }
  asi_row_view_free(&rows);
  free(colour_of);
  free(taken_by);
  return status;
}

/// Which blocks exist, and where they come from.
static as_block_source block_source(const as_problem *p, as_block block) {
  const asi_block_info info = block_info[block];
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  if (asi_function_size(p, info.function) == 0 || asi_argument_size(p, info.argument) == 0)
    return AS_BLOCK_ZERO;
  if (block == AS_BLOCK_M) return AS_BLOCK_GIVEN;
  if (block == AS_BLOCK_MA_Q && p->def.mass_constant) return AS_BLOCK_ZERO;
  if ((block == AS_BLOCK_F_LAMBDA || block == AS_BLOCK_F_PSI) && additive) return AS_BLOCK_ZERO;
  return p->def.block[block].source;
}

static as_status prepare_block(as_problem *p, as_block block, as_error *error) {
  const asi_block_info info = block_info[block];
  const as_block_source source = block_source(p, block);
  const bool constrains =
      (block == AS_BLOCK_G_Q && p->def.n_lambda > 0) || (block == AS_BLOCK_K_V && p->def.n_psi > 0);
  if (source == AS_BLOCK_ZERO && constrains)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, info.name,
                    "Block %s is declared zero: such constraints constrain nothing.", info.name);
  if (source == AS_BLOCK_ZERO) return AS_OK;
  if (source != AS_BLOCK_GIVEN && source != AS_BLOCK_DIFFERENCED)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, info.name,
                    "Block %s has the unknown source %d.", info.name, (int)source);
  const bool given = source == AS_BLOCK_GIVEN && block != AS_BLOCK_M;
  if (given && p->def.jacobian == NULL) return missing(error, "jacobian", info.name);
  as_status status = asi_pattern_init(&p->pattern[block], asi_function_size(p, info.function),
                                      asi_argument_size(p, info.argument),
                                      p->def.block[block].pattern, info.name, error);
  if (status) return status;
  p->present |= AS_BLOCK_BIT(block);
  if (given) p->given |= AS_BLOCK_BIT(block);
  status = asi_panels_init(&p->panels[block], &p->pattern[block], error);
  if (status == AS_OK && source == AS_BLOCK_DIFFERENCED)
    status = colour(&p->colouring[block], &p->pattern[block], error);
  if (status == AS_OK && block == AS_BLOCK_G_Q)
    status = asi_row_view_init(&p->g_q_rows, &p->pattern[block], error);
  if (status == AS_OK && block == AS_BLOCK_K_V)
    status = asi_row_view_init(&p->k_v_rows, &p->pattern[block], error);
  return status;
}

/// Takes over given numbers of bodies or joints: from 0 on, each below `limit`.
static as_status copy_groups(const int *given, int n, int *out, int *count, const char *name,
                             as_error *error) {
  *count = 0;
  for (int i = 0; i < n; ++i) {
    if (given[i] < 0 || given[i] >= n)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "%s[%d] = %d is not a number from 0 to %d.", name, i, given[i], n - 1);
    out[i] = given[i];
    if (given[i] >= *count) *count = given[i] + 1;
  }
  return AS_OK;
}

/// One body per factor of the space, one per dimension of R^n; which components turn a body that can
/// also be moved.
static void default_bodies(as_problem *p, const as_problem_def *def) {
  int component = 0;
  p->n_bodies = 0;
  for (int part = 0; part < def->n_parts; ++part) {
    const as_space_kind kind = def->parts[part].kind;
    const int size = kind == AS_SPACE_RN ? 1 : kind == AS_SPACE_SO3 ? 3 : 6;
    for (int copy = 0; copy < def->parts[part].count; ++copy, ++p->n_bodies)
      for (int i = 0; i < size; ++i, ++component) {
        p->body_of[component] = p->n_bodies;
        p->is_rotation[component] = i >= 3;
      }
  }
}

/// Whether two rows of B touch the same bodies.
static bool same_bodies(const as_problem *p, int row1, int row2) {
  const asi_row_view *b = &p->g_q_rows;
  int s1 = b->start[row1], s2 = b->start[row2];
  const int end1 = b->start[row1 + 1], end2 = b->start[row2 + 1];
  while (s1 < end1 && s2 < end2) {
    const int body = p->body_of[b->col[s1]];
    if (p->body_of[b->col[s2]] != body) return false;
    while (s1 < end1 && p->body_of[b->col[s1]] == body) ++s1;
    while (s2 < end2 && p->body_of[b->col[s2]] == body) ++s2;
  }
  return s1 == end1 && s2 == end2;
}

/// Which directions of R^n begin a vector.
static as_status take_vectors(as_problem *p, const as_problem_def *def, as_error *error) {
  int component = 0;
  for (int part = 0; part < def->n_parts && def->vector; ++part) {
    const as_space_kind kind = def->parts[part].kind;
    const int each = kind == AS_SPACE_RN ? 1 : kind == AS_SPACE_SO3 ? 3 : 6;
    const int end = component + each * def->parts[part].count;
    for (int free_from = component; component < end; ++component) {
      if (!def->vector[component]) continue;
      if (kind != AS_SPACE_RN || component < free_from || component + 3 > end)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "vector",
                        "vector[%d] begins no three directions of R^n.", component);
      p->vector[component] = true;
      free_from = component + 3;
    }
  }
  return AS_OK;
}

/// The tree that a node belongs to, by its root.
static int root_of(int *parent, int node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

/// The two bodies that a joint acts on, the second or both of them the ground, which is n_bodies; false: there are more.
static bool add_bodies_of_row(const as_problem *p, int row, int pair[2]) {
  const asi_row_view *b = &p->g_q_rows;
  for (int k = b->start[row]; k < b->start[row + 1]; ++k) {
    const int body = p->body_of[b->col[k]];
    if (body == pair[0] || body == pair[1]) continue;
    if (pair[1] != p->n_bodies) return false;
    pair[pair[0] != p->n_bodies] = body;
  }
  return true;
}

/// Whether joints make no loops, with the ground as one of the bodies. It has to be known which rows are a joint.
static as_status find_loops(as_problem *p, const as_problem_def *def, as_error *error) {
  if (def->joint == NULL || def->n_psi > 0) return AS_OK;
  int *parent = asi_calloc((size_t)p->n_bodies + 1, sizeof(int));
  int(*pair)[2] = asi_calloc((size_t)p->n_joints, sizeof *pair);
  bool forest = parent && pair;
  for (int i = 0; i <= p->n_bodies && forest; ++i) parent[i] = i;
  for (int i = 0; i < p->n_joints && forest; ++i) pair[i][0] = pair[i][1] = p->n_bodies;
  for (int i = 0; i < def->n_lambda && forest; ++i)
    forest = add_bodies_of_row(p, i, pair[p->joint_of[i]]);
  for (int i = 0; i < p->n_joints && forest; ++i) {
    const int a = root_of(parent, pair[i][0]), b = root_of(parent, pair[i][1]);
    forest = a != b;
    parent[a] = b;
  }
  const bool failed = !parent || !pair;
  p->is_forest = forest;
  free(parent);
  free(pair);
  return failed ? asi_fail_memory(error) : AS_OK;
}

static as_status prepare_groups(as_problem *p, const as_problem_def *def, as_error *error) {
  as_status status = AS_OK;
  p->body_of = asi_calloc((size_t)p->n, sizeof(int));
  p->is_rotation = asi_calloc((size_t)p->n, sizeof(bool));
  p->joint_of = asi_calloc((size_t)def->n_lambda, sizeof(int));
  p->reaction_of = asi_calloc((size_t)def->n_lambda, sizeof(int));
  p->vector = asi_calloc((size_t)p->n, sizeof(bool));
  if (p->body_of == NULL || p->is_rotation == NULL || !p->joint_of || !p->reaction_of || !p->vector)
    return asi_fail_memory(error);
  p->def.vector = p->vector; // the caller's may go
  default_bodies(p, def);
  status = take_vectors(p, def, error);
  if (status == AS_OK && def->body)
    status = copy_groups(def->body, p->n, p->body_of, &p->n_bodies, "body", error);
  if (status || def->n_lambda == 0) return status;
  for (int i = 1; i < def->n_lambda; ++i)
    p->joint_of[i] = p->joint_of[i - 1] + !same_bodies(p, i - 1, i);
  p->n_joints = p->joint_of[def->n_lambda - 1] + 1;
  if (def->joint)
    status = copy_groups(def->joint, def->n_lambda, p->joint_of, &p->n_joints, "joint", error);
  if (status) return status;
  const int *reaction = def->reaction ? def->reaction : p->joint_of; // any numbers will do
  memcpy(p->reaction_of, reaction, (size_t)def->n_lambda * sizeof(int));
  return find_loops(p, def, error);
}

enum { EVENT_NAME = 64 };

bool asi_is_clock(double offset, double period) {
  // Times are met to a thousandth of the period at worst, as [SA.1] is checked.
  return period > 0.0 && isfinite(period) && fabs(offset) * DBL_EPSILON <= 1e-3 * period;
}

static as_status prepare_samplers(as_problem *p, const as_problem_def *def, as_error *error) {
  p->sampler = asi_calloc((size_t)def->n_samplers, sizeof *p->sampler);
  if (p->sampler == NULL) return asi_fail_memory(error);
  for (int i = 0; i < def->n_samplers; ++i) {
    const as_sampler_def *one = &def->samplers[i];
    p->sampler[i] = *one;
    if (!asi_is_clock(one->offset, one->period))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "period",
                      "Sampler %d has the period %g s and the offset %g s: the period must be a "
                      "positive number that is not lost in the digits of the offset.",
                      i, one->period, one->offset);
    if (!(one->delay >= 0.0 && one->delay < one->period))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "delay",
                      "Sampler %d has a delay of %g s, which is not between 0 and its period %g s.",
                      i, one->delay, one->period);
    if (one->first < 0 || one->count < 0 || one->first > def->n_u - one->count)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "u",
                      "Sampler %d sets u[%d] to u[%d], but there are %d held signals.", i,
                      one->first, one->first + one->count - 1, def->n_u);
    if (one->sample == NULL) return missing(error, "sample", "each sampler");
  }
  return AS_OK;
}

/// What is wrong with an event is told where an integrator takes it.
static as_status prepare_events(as_problem *p, const as_problem_def *def, as_error *error) {
  const size_t n = (size_t)def->n_events;
  p->event = asi_calloc(n, sizeof *p->event + EVENT_NAME);
  if (p->event == NULL) return asi_fail_memory(error);
  char *name = (char *)(p->event + n);
  for (size_t i = 0; i < n; ++i, name += EVENT_NAME) {
    p->event[i] = def->events[i];
    if (def->events[i].name) snprintf(name, EVENT_NAME, "%s", def->events[i].name);
    if (def->events[i].name) p->event[i].name = name;
    if (def->events[i].user == NULL) p->event[i].user = def->user;
  }
  return AS_OK;
}

/// Typical sizes as they are needed where things of different units are compared.
static as_status prepare_sizes(as_problem *p, as_error *error) {
  p->per_typical = asi_calloc((size_t)p->n + 1, sizeof(double));
  p->per_typical_q = asi_calloc((size_t)p->nq, sizeof(double));
  if (p->per_typical == NULL || p->per_typical_q == NULL) return asi_fail_memory(error);
  for (int i = 0; i < p->n; ++i) {
    p->per_typical[i] = 1.0 / p->typical[i];
    if (!p->is_rotation[i]) p->length = fmax(p->length, p->typical[i]);
  }
  if (p->length == 0.0) p->length = 1.0;
  asi_space_each_number(p->space, p->per_typical, p->per_typical_q);
  return AS_OK;
}

static as_status prepare(as_problem *p, const as_problem_def *def, as_error *error) {
  as_status status = as_space_create(def->parts, def->n_parts, &p->space, error);
  if (status) return status;
  p->n = as_space_nv(p->space);
  p->nq = as_space_nq(p->space);
  if ((double)p->n + 2.0 * (double)def->n_lambda + (double)def->n_psi + (double)def->n_x +
          (double)def->n_y >
      (double)INT_MAX)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The problem has too many unknowns.");
  p->typical = asi_calloc((size_t)p->n + 1, sizeof(double)); // loops may take two at a time
  if (p->typical == NULL) return asi_fail_memory(error);
  for (int i = 0; i < p->n; ++i) {
    p->typical[i] = def->typical ? def->typical[i] : 1.0;
    if (!(p->typical[i] > 0.0 && isfinite(p->typical[i])))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "typical",
                      "typical[%d] = %g is not a positive number.", i, p->typical[i]);
  }
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    status = prepare_block(p, (as_block)block, error);
  const as_block_set joined = AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_MA_Q);
  p->joins_inertia = def->joins_inertia && (p->given & joined) == joined;
  if (status == AS_OK) status = prepare_groups(p, def, error);
  if (status == AS_OK) status = prepare_sizes(p, error);
  if (status == AS_OK) status = prepare_samplers(p, def, error);
  return status ? status : prepare_events(p, def, error);
}

as_status as_problem_create(const as_problem_def *def, as_problem **out, as_error *error) {
  if (out == NULL || def == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_create needs a description and a place for the problem.");
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_problem_def, def, error);
  if (status == AS_OK) status = check_counts_and_callbacks(def, error);
  if (status) return status;
  as_problem *p = asi_calloc(1, sizeof *p);
  if (p == NULL) return asi_fail_memory(error);
  p->def = *def;
  status = prepare(p, def, error);
  if (status) {
    as_problem_destroy(p);
    return status;
  }
  *out = p;
  return AS_OK;
}

void as_problem_destroy(as_problem *p) {
  if (p == NULL) return;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    asi_pattern_free(&p->pattern[block]);
    asi_panels_free(&p->panels[block]);
    free(p->colouring[block].start);
    free(p->colouring[block].column);
  }
  asi_row_view_free(&p->g_q_rows);
  asi_row_view_free(&p->k_v_rows);
  free(p->typical);
  free(p->per_typical);
  free(p->per_typical_q);
  free(p->sampler);
  free(p->event);
  free(p->body_of);
  free(p->vector);
  free(p->is_rotation);
  free(p->joint_of);
  free(p->reaction_of);
  as_space_destroy(p->space);
  free(p);
}

const as_space *as_problem_space(const as_problem *p) { return p->space; }
