/// Elements that have states: places of these in the problem's x, and what the elements write of them taken to the problem.
///
/// A state's rate depends on q and v as a velocity row does, and the force on the state as on a multiplier: so derivatives go to the
/// spaces of the bodies as those do (se3_local.c, node_local.c, view_local.c).
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/blocks.h"

as_status asi_stateful_list(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  int n = 0;
  for (int i = 0; i < m->n_elements; ++i) n += m->element[i].e.n_states > 0;
  c->stateful = asi_calloc((size_t)n, sizeof *c->stateful);
  if (c->stateful == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_elements; ++i) {
    if (m->element[i].e.n_states == 0) continue;
    m->element[i].stateful = c->n_stateful;
    c->stateful[c->n_stateful++] = (asi_stateful_place){.element = i, .state = c->n_x};
    c->n_x += m->element[i].e.n_states;
  }
  return AS_OK;
}

void asi_stateful_shape(as_model *m) {
  asi_control *c = m->blocks;
  for (int i = 0; i < c->n_stateful; ++i) {
    asi_scatter_map *shape = &c->stateful[i].shape;
    *shape = m->shape[m->element[c->stateful[i].element].shape];
    shape->n_rows = 0;
    shape->n_velocity_rows = shape->n_read = shape->n_states;
  }
}

const double *asi_element_states(const as_model *m, const asi_placed *e, const double *x) {
  return x && e->e.n_states > 0 ? x + m->blocks->stateful[e->stateful].state : NULL;
}

void asi_stateful_begin(const asi_stateful_place *s, unsigned wanted, asi_state_local *local,
                        as_element_output *out) {
  const size_t n = (size_t)s->shape.n_states, columns = 6 * (size_t)s->shape.n_bodies;
  if (wanted & ASI_WANT_STATE_RATE) {
    memset(local->rate, 0, sizeof local->rate);
    out->state_rate = local->rate;
  }
  if (!(wanted & ASI_WANT_STATE_TANGENTS)) return;
  memset(local->x, 0, sizeof local->x);
  memset(local->local.k_q, 0, n * columns * sizeof(double));
  memset(local->local.k_v, 0, n * columns * sizeof(double));
  memset(local->local.f_lambda, 0, n * columns * sizeof(double));
  out->state_q = local->local.k_q;
  out->state_v = local->local.k_v;
  out->state_x = local->x;
  out->f_x = local->local.f_lambda;
}

static const int *add_list(as_block_set set, as_matrix *blocks, as_block block, const int *position,
                           const double *from, int n) {
  if (set & AS_BLOCK_BIT(block))
    for (int i = 0; i < n; ++i)
      if (position[i] >= 0) blocks[block].value[position[i]] += from[i];
  return position + n;
}

void asi_stateful_scatter(const as_model *m, const asi_stateful_place *s,
                          const as_element_input *in, const as_point *at, unsigned wanted,
                          asi_state_local *local, double *rate, as_block_set set,
                          as_matrix *blocks) {
  const asi_scatter_map *shape = &s->shape;
  const asi_placed *e = &m->element[s->element];
  const int n = shape->n_states, columns = 6 * shape->n_bodies;
  if (rate) memcpy(rate + s->state, local->rate, (size_t)n * sizeof(double));
  if (!(wanted & ASI_WANT_STATE_TANGENTS)) return;
  const unsigned what = ASI_WANT_K_Q | ASI_WANT_K_V | ASI_WANT_F_LAMBDA;
  asi_local *l = &local->local;
  if (shape->view) asi_view_transform(m, shape, e, in, at->q, at->v, what, l);
  if (shape->se3) asi_se3_transform(shape, in, what, l);
  if (shape->node) asi_node_transform(m, shape, e, in, at->q, at->v, what, l);
  const int *position = m->blocks->list + s->position;
  // States that are held have no rates.
  const as_block_set rates = m->blocks->held ? 0 : set;
  for (int i = 0; i < n; ++i) {
    position = add_list(rates, blocks, AS_BLOCK_PHI_Q, position, l->k_q + i * columns, columns);
    position = add_list(rates, blocks, AS_BLOCK_PHI_V, position, l->k_v + i * columns, columns);
    position = add_list(rates, blocks, AS_BLOCK_PHI_X, position, local->x + i * n, n);
  }
  add_list(set, blocks, AS_BLOCK_F_X, position, l->f_lambda, columns * n);
}
