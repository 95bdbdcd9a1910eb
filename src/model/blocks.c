/// Evaluates blocks. A formula F(t, u, m, x, y) of quantities m_i of the machine (gauges and probes) has the rows
///
///     F_q = sum F_i m_i,q      F_v = sum F_i m_i,v      F_v' = sum F_i m_i,v'      F_lambda = sum F_i m_i,lambda
///
/// in world axes, which are taken to the bodies' spaces as velocity rows are (se3_local.c, node_local.c). What depends on
/// accelerations besides, with a = R (u' + omega x u) on SE(3), w = R^T F_a and c = u' + omega x u:
///
///     F_u' = w      F_u += w x omega      F_omega += u x w      F_theta += c x w
#include "model/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/actuator.h"
#include "elements/block_row.h"
#include "elements/probe.h"
#include "elements/vector.h"

/// A formula that is looked at.
typedef struct look {
  const as_model *m;
  const as_point *at;
  const asi_placed *e;
  const asi_block_row *data;
  as_element_input in;
  as_body_motion body[AS_ELEMENT_BODIES];
  asi_body_acceleration acceleration[AS_ELEMENT_BODIES];
  asi_probe_reading reading[ASI_GAUGES];
  double value[ASI_GAUGES];
} look;

// ---- quantities of the machine ----------------------------------------------------------------------

/// On SE(3), v = R u: v' = R (u' + omega x u).
static void find_acceleration(const as_model *m, const as_point *at, int body,
                              const as_body_motion *motion, asi_body_acceleration *out) {
  *out = (asi_body_acceleration){{0}, {0}};
  if (body < 0 || at->vdot == NULL) return;
  const asi_body *b = &m->body[body];
  if (asi_body_is_node(b)) return; // those are not read
  const double *v = at->v + b->v, *vdot = at->vdot + b->v;
  if (b->n == 6) asi_copy(vdot + 3, out->alpha);
  if (!b->se3) {
    asi_copy(vdot, out->a);
    return;
  }
  double local[3];
  asi_copy(vdot, local);
  asi_add_cross(1.0, v + 3, v, local);
  asi_rotate(motion->R, local, out->a);
}

/// Reads all that a formula's element depends on.
static int read_all(const as_model *m, const as_point *at, int element, char *why, bool derivatives,
                    look *x) {
  const asi_placed *e = &m->element[element];
  x->m = m;
  x->at = at;
  x->e = e;
  x->data = e->data;
  x->in = (as_element_input){.t = at->t, .u = at->u, .x = at->x, .y = at->y, .why = why};
  for (int b = 0; b < e->e.n_bodies; ++b) {
    asi_model_motion(m, e->e.body[b], at->q, at->v, &x->body[b]);
    x->in.body[b] = &x->body[b];
    find_acceleration(m, at, e->e.body[b], &x->body[b], &x->acceleration[b]);
  }
  const double *turns = at->u ? at->u + m->n_parameters : NULL;
  asi_probe_input more = {x->acceleration, m->gravity, NULL};
  for (int i = 0; i < x->data->n_gauges; ++i) {
    const asi_gauge *g = &asi_block_row_gauges(x->data)[i];
    if (!derivatives && g->kind == ASI_GAUGE_COORDINATE) {
      const int code = asi_gauge_value(g, &x->in, x->data, turns, &x->value[i]);
      if (code) return code;
      continue;
    }
    if (g->kind == ASI_GAUGE_ELEMENT)
      x->in.state = asi_element_states(m, &m->element[g->joint], at->x);
    if (asi_gauge_reads_reaction(g))
      more.lambda = at->lambda + m->element[m->joint[g->joint].element].row;
    const int code = asi_probe_read(g, &x->in, &more, x->data, turns, &x->reading[i]);
    if (code) return code;
    x->value[i] = x->reading[i].at.value;
  }
  return AS_DONE;
}

int asi_blocks_measure(const as_model *m, const as_point *at, int element, double *out) {
  look x;
  const int code = read_all(m, at, element, NULL, false, &x);
  if (code == AS_DONE) memcpy(out, x.value, (size_t)x.data->n_gauges * sizeof(double));
  return code;
}

/// What a failure returns: who is to blame.
static int blame(int code, int element) {
  return code > 0 ? ASI_BLAMED + element : -(ASI_BLAMED + element);
}

// ---- derivatives of formulas ------------------------------------------------------------------------

/// The rows of a formula by q, v and v', 6 n_bodies each.
typedef struct rows {
  asi_local local; ///< k_q and k_v
  double a[AS_ELEMENT_COLUMNS];
} rows;

/// On SE(3), after k_q and k_v have been turned.
static void turn_acceleration(const look *x, const asi_row_place *row, rows *r) {
  for (int b = 0; b < row->shape.n_bodies; ++b) {
    if (row->shape.role[b] != ASI_ROLE_SE3) continue;
    const as_body_motion *body = &x->body[b];
    double *q = r->local.k_q + 6 * b, *v = r->local.k_v + 6 * b, *a = r->a + 6 * b;
    double w[3], u[3], c[3];
    asi_rotate_back(body->R, a, w);
    asi_rotate_back(body->R, body->v, u);
    asi_rotate_back(body->R, x->acceleration[b].a, c);
    asi_add_cross(1.0, w, body->omega, v);
    asi_add_cross(1.0, u, w, v + 3);
    asi_add_cross(1.0, c, w, q + 3);
    asi_copy(w, a);
  }
}

static void find_rows(const look *x, const asi_row_place *row, const double *by_slot, rows *r) {
  const asi_expression *e = asi_formula_expression(x->data->formula.curve->formula);
  const size_t size = 6 * (size_t)row->shape.n_bodies * sizeof(double);
  memset(r->local.k_q, 0, size);
  memset(r->local.k_v, 0, size);
  memset(r->a, 0, size);
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k];
    if (slot < ASI_SLOT_MEASURE || slot >= ASI_SLOT_MEASURE + ASI_GAUGES) continue;
    const asi_gauge *g = &asi_block_row_gauges(x->data)[slot - ASI_SLOT_MEASURE];
    const asi_probe_reading *reading = &x->reading[slot - ASI_SLOT_MEASURE];
    for (int j = 0; j < ASI_PAIR; ++j) {
      const int column = 6 * g->body[j / 6] + j % 6;
      r->local.k_q[column] += by_slot[k] * reading->at.q[j];
      r->local.k_v[column] += by_slot[k] * reading->at.v[j];
      r->a[column] += by_slot[k] * reading->a[j];
    }
  }
  const unsigned wanted = ASI_WANT_K_Q | ASI_WANT_K_V;
  if (row->shape.view)
    asi_view_transform(x->m, &row->shape, x->e, &x->in, x->at->q, x->at->v, wanted, &r->local);
  if (row->shape.se3) asi_se3_transform(&row->shape, &x->in, wanted, &r->local);
  if (row->shape.node)
    asi_node_transform(x->m, &row->shape, x->e, &x->in, x->at->q, x->at->v, wanted, &r->local);
  if (row->accelerates) turn_acceleration(x, row, r);
}

static void add_list(const as_evaluation *out, as_block block, const int *position,
                     const double *from, int n) {
  if (!(out->block_set & AS_BLOCK_BIT(block))) return;
  double *to = out->blocks[block].value;
  for (int i = 0; i < n; ++i)
    if (position[i] >= 0) to[position[i]] += from[i];
}

/// The blocks of phi begin with PHI_Q, those of chi with CHI_Q, both in the same order.
static as_block block_of(as_signal_kind kind, as_block of_phi) {
  return kind == AS_SIGNAL_STATE ? of_phi : (as_block)(of_phi - AS_BLOCK_PHI_Q + AS_BLOCK_CHI_Q);
}

static void add_derivatives(const look *x, const asi_row_place *row, const double *by_slot,
                            const as_evaluation *out) {
  const asi_expression *e = asi_formula_expression(x->data->formula.curve->formula);
  const int n = 6 * row->shape.n_bodies;
  const int *position = x->m->blocks->list + row->position;
  const as_signal_kind kind = row->kind;
  if (x->data->n_gauges > 0) {
    rows r;
    find_rows(x, row, by_slot, &r);
    add_list(out, block_of(kind, AS_BLOCK_PHI_Q), position, r.local.k_q, n);
    if (row->rates) add_list(out, block_of(kind, AS_BLOCK_PHI_V), position + n, r.local.k_v, n);
    if (row->accelerates)
      add_list(out, block_of(kind, AS_BLOCK_PHI_VDOT), position + 2 * n, r.a, n);
  }
  position += 3 * n;
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k];
    if (slot >= ASI_SLOT_STATE)
      add_list(out, block_of(kind, slot >= ASI_SLOT_OUTPUT ? AS_BLOCK_PHI_Y : AS_BLOCK_PHI_X),
               position + k, by_slot + k, 1);
  }
  position += e->n_slots;
  for (int k = 0; k < e->n_slots && row->reacts; ++k) {
    const int slot = asi_expression_slots(e)[k], i = slot - ASI_SLOT_MEASURE;
    if (i < 0 || i >= ASI_GAUGES) continue; // no quantity of the machine
    double by[AS_ELEMENT_ROWS];
    for (int j = 0; j < AS_ELEMENT_ROWS; ++j) by[j] = by_slot[k] * x->reading[i].lambda[j];
    add_list(out, block_of(kind, AS_BLOCK_PHI_LAMBDA), position + AS_ELEMENT_ROWS * i, by,
             AS_ELEMENT_ROWS);
  }
  if (row->reacts) position += (ptrdiff_t)AS_ELEMENT_ROWS * x->data->n_gauges;
  for (int k = 0; k < e->n_slots && row->stateful; ++k) {
    const int slot = asi_expression_slots(e)[k], i = slot - ASI_SLOT_MEASURE;
    if (i < 0 || i >= ASI_GAUGES) continue;
    double by[AS_ELEMENT_STATES];
    for (int j = 0; j < AS_ELEMENT_STATES; ++j) by[j] = by_slot[k] * x->reading[i].x[j];
    add_list(out, block_of(kind, AS_BLOCK_PHI_X), position + (ptrdiff_t)AS_ELEMENT_STATES * i, by,
             AS_ELEMENT_STATES);
  }
}

static int evaluate_row(const as_model *m, const as_point *at, const asi_row_place *row,
                        const as_evaluation *out, bool derivatives) {
  look x;
  double value, by_slot[ASI_FORMULA_SLOTS];
  double *to = row->kind == AS_SIGNAL_STATE ? out->state_rate : out->output;
  int code = read_all(m, at, row->element, NULL, derivatives, &x);
  if (code == AS_DONE)
    code = asi_formula_signals(x.data->formula.curve->formula, &x.in, x.value, &value,
                               derivatives ? by_slot : NULL);
  if (code) return blame(code, row->element);
  if (to) to[row->row] = value;
  if (derivatives) add_derivatives(&x, row, by_slot, out);
  return AS_DONE;
}

// ---- linear systems ---------------------------------------------------------------------------------

static void evaluate_linear(const asi_control *blocks, const as_point *at, int number,
                            const as_evaluation *out) {
  static const as_block target[4] = {AS_BLOCK_PHI_X, AS_BLOCK_PHI_Y, AS_BLOCK_CHI_X,
                                     AS_BLOCK_CHI_Y};
  const asi_linear_block *l = &blocks->linear[number];
  const asi_linear *s = &l->system;
  if (l->sampled) return;
  if (out->state_rate) {
    double *rate = out->state_rate + l->state;
    memset(rate, 0, (size_t)s->n_states * sizeof(double));
    asi_linear_add(s, ASI_LINEAR_A, at->x + l->state, rate);
    asi_linear_add(s, ASI_LINEAR_B, at->y + l->input, rate);
  }
  if (out->output) {
    double *y = out->output + l->output;
    memset(y, 0, (size_t)s->n_outputs * sizeof(double));
    asi_linear_add(s, ASI_LINEAR_C, at->x + l->state, y);
    asi_linear_add(s, ASI_LINEAR_D, at->y + l->input, y);
  }
  const int *position = blocks->list + blocks->linear_position[number];
  for (int k = 0; k < 4; ++k) {
    if (!(out->block_set & AS_BLOCK_BIT(target[k]))) continue;
    double *to = out->blocks[target[k]].value;
    for (int i = s->first[k]; i < s->first[k + 1]; ++i) to[position[i]] += s->entry[i].value;
  }
}

// ---- forces by states and outputs -------------------------------------------------------------------

static int evaluate_reader(const as_model *m, const as_point *at, const asi_reader_place *reader,
                           const as_evaluation *out) {
  const asi_control *blocks = m->blocks;
  const asi_placed *e = &m->element[reader->element];
  const asi_scatter_map *shape = &m->shape[e->shape];
  const int *slot = blocks->list + reader->slot, *position = blocks->list + reader->position;
  as_body_motion body[AS_ELEMENT_BODIES];
  double by[ASI_READER_SLOTS * ASI_PAIR];
  asi_local local;
  as_element_input in = {.t = at->t, .u = at->u, .x = at->x, .y = at->y};
  for (int b = 0; b < e->e.n_bodies; ++b) {
    asi_model_motion(m, e->e.body[b], at->q, at->v, &body[b]);
    in.body[b] = &body[b];
  }
  asi_element_point(at, e, &in);
  const int code = e->descriptor->by_slots(e->data, &in, slot, reader->n, by);
  if (code) return blame(code, reader->element);
  const int n = asi_reader_columns(shape);
  for (int i = 0; i < reader->n; ++i, position += n) {
    memset(local.force, 0, (size_t)n * sizeof(double));
    memcpy(local.force, by + ASI_PAIR * i, ASI_PAIR * sizeof(double));
    if (shape->view) asi_view_transform(m, shape, e, &in, at->q, at->v, ASI_WANT_FORCE, &local);
    if (shape->se3) asi_se3_transform(shape, &in, ASI_WANT_FORCE, &local);
    if (shape->node) asi_node_transform(m, shape, e, &in, at->q, at->v, ASI_WANT_FORCE, &local);
    add_list(out, slot[i] >= ASI_SLOT_OUTPUT ? AS_BLOCK_F_Y : AS_BLOCK_F_X, position, local.force,
             n);
  }
  return AS_DONE;
}

// ---- all of them ------------------------------------------------------------------------------------

/// The blocks from `first` to `last`.
static as_block_set between(as_block first, as_block last) {
  return (AS_BLOCK_BIT(last + 1) - 1u) & ~(AS_BLOCK_BIT(first) - 1u);
}

/// Outputs that stay what they are at the start as it is given, and states.
static void evaluate_held(const asi_control *blocks, const as_evaluation *out) {
  if (out->state_rate) memset(out->state_rate, 0, (size_t)blocks->n_x * sizeof(double));
  if (out->output && blocks->n_y > 0)
    memcpy(out->output, blocks->y0, (size_t)blocks->n_y * sizeof(double));
}

void asi_blocks_hold(as_model *m) {
  if (m->blocks) m->blocks->held = true;
}

int asi_blocks_evaluate(const as_model *m, const as_point *at, const as_evaluation *out) {
  const asi_control *blocks = m->blocks;
  const bool phi = out->block_set & between(AS_BLOCK_PHI_Q, AS_BLOCK_PHI_Y);
  const bool chi = out->block_set & between(AS_BLOCK_CHI_Q, AS_BLOCK_CHI_Y);
  const bool f = out->block_set & between(AS_BLOCK_F_X, AS_BLOCK_F_Y);
  int code = AS_DONE;
  if (blocks->held) evaluate_held(blocks, out);
  for (int i = 0; i < blocks->n_rows && code == AS_DONE && !blocks->held; ++i) {
    const asi_row_place *row = &blocks->row[i];
    const bool state = row->kind == AS_SIGNAL_STATE, derivatives = state ? phi : chi;
    if (row->kind == AS_SIGNAL_SAMPLED) continue;
    if (derivatives || (state ? out->state_rate : out->output))
      code = evaluate_row(m, at, row, out, derivatives);
  }
  for (int i = 0; i < blocks->n_linear && !blocks->held && code == AS_DONE; ++i) {
    if (blocks->linear[i].plugin)
      code = asi_plugin_block_evaluate(m, at, i, out);
    else
      evaluate_linear(blocks, at, i, out);
  }
  for (int i = 0; i < blocks->n_readers && f && code == AS_DONE; ++i)
    code = evaluate_reader(m, at, &blocks->reader[i], out);
  return code;
}

// ---- first guesses ----------------------------------------------------------------------------------

/// One output alone, if it can be evaluated.
static void guess_output(const as_model *m, const as_point *at, int y, double *out) {
  const asi_control *c = m->blocks;
  const int number = c->row_of_y[y];
  if (number >= 0) {
    look x;
    double value;
    const int element = c->row[number].element;
    if (read_all(m, at, element, NULL, false, &x) == AS_DONE &&
        asi_formula_signals(x.data->formula.curve->formula, &x.in, x.value, &value, NULL) ==
            AS_DONE)
      out[y] = value;
    return;
  }
  for (int i = 0; i < c->n_linear; ++i) {
    const asi_linear_block *l = &c->linear[i];
    const asi_linear *s = &l->system;
    if (l->sampled || y < l->output || y >= l->output + s->n_outputs) continue;
    if (l->plugin) {
      (void)asi_plugin_block_output(l, at, out + l->input, y - l->output, &out[y]);
      return;
    }
    double sum = 0.0;
    for (int k = s->first[ASI_LINEAR_C]; k < s->first[ASI_LINEAR_D + 1]; ++k)
      if (s->entry[k].row == y - l->output)
        sum += s->entry[k].value * (k < s->first[ASI_LINEAR_D] ? at->x[l->state + s->entry[k].col]
                                                               : out[l->input + s->entry[k].col]);
    out[y] = sum;
  }
}

/// At the start as it is given, with no accelerations and reactions. Where an output has no value it stays zero.
as_status asi_blocks_guess(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  if (c == NULL) return AS_OK;
  c->y0 = asi_calloc((size_t)c->n_y, sizeof(double));
  double *zero = asi_calloc((size_t)m->n + (size_t)m->n_lambda, sizeof(double));
  const as_status status = c->y0 && zero ? AS_OK : asi_fail_memory(error);
  const as_point at = {.t = 0.0,
                       .q = m->q0,
                       .v = m->v0,
                       .vdot = zero,
                       .lambda = zero ? zero + m->n : NULL,
                       .x = c->x0,
                       .y = c->y0,
                       .u = m->u0};
  for (int i = 0; i < c->n_y && status == AS_OK; ++i) guess_output(m, &at, c->order[i], c->y0);
  m->initial.y = c->y0;
  free(zero);
  return status;
}

void asi_blocks_explain(const as_model *m, const as_point *at, int element, char *why) {
  look x;
  double value, by_slot[ASI_FORMULA_SLOTS];
  const bool complete = at->v && at->vdot && at->y && (at->x || m->blocks->n_x == 0) &&
                        (at->lambda || m->n_lambda == 0);
  if (complete && read_all(m, at, element, why, true, &x) == AS_DONE)
    (void)asi_formula_signals(x.data->formula.curve->formula, &x.in, x.value, &value, by_slot);
}
