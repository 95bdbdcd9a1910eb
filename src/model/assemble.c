/// The callbacks of a model's problem: one pass over bodies, one over elements, local matrices added to the
/// problem's blocks at positions that are known.
///
/// A body's rotation matrix is made once while the elements that touch it follow each other: the last few
/// are kept on the stack. So a model has no memory that changes, and threads may share it.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "elements/vector.h"
#include "model/blocks.h"
#include "model/flexibles.h"
#include "model/inertia.h"
#include "model/look.h"
#include "model/model.h"
#include "model/strips.h"
#include "model/superelements.h"

// ---- bodies -----------------------------------------------------------------------------------------

enum { KEPT = 16 }; // a power of two, more than the bodies of an element

typedef struct recent {
  int body[KEPT];
  as_body_motion motion[KEPT];
} recent;

static void forget(recent *r) {
  for (int i = 0; i < KEPT; ++i) r->body[i] = -1;
}

void asi_model_motion(const as_model *m, int body, const double *q, const double *v,
                      as_body_motion *out) {
  if (body < 0)
    *out = asi_ground_motion;
  else
    asi_body_motion(&m->body[body], q, v, out);
}

/// The body's motion; places in `held` are not given to another.
static const as_body_motion *look_up(recent *r, const as_model *m, const as_point *at, int body,
                                     unsigned *held) {
  if (body < 0) return &asi_ground_motion;
  unsigned place = (unsigned)body % KEPT;
  while (r->body[place] != body && (*held & (1u << place))) place = (place + 1) % KEPT;
  *held |= 1u << place;
  if (r->body[place] == body) return &r->motion[place];
  r->body[place] = body;
  asi_body_motion(&m->body[body], at->q, at->v, &r->motion[place]);
  return &r->motion[place];
}

static int mass(const as_point *at, as_matrix *out, void *user) {
  const as_model *m = user;
  (void)at;
  memcpy(out->value, m->mass, m->n_mass * sizeof(double));
  return AS_DONE;
}

/// Adds a 3 x 3 matrix, whose rows are `stride` numbers apart, by columns.
static void add_columns(const double *from, int stride, double *x, double *y, double *z) {
  const double *second = from + stride, *third = second + stride;
  x[0] += from[0];
  x[1] += second[0];
  x[2] += third[0];
  y[0] += from[1];
  y[1] += second[1];
  y[2] += third[1];
  z[0] += from[2];
  z[1] += second[2];
  z[2] += third[2];
}

/// Where results go; NULL: not wanted.
typedef struct target {
  double *force, *g, *rate, *acceleration, *k, *k_rate, *state_rate;
  as_matrix *blocks;
  as_block_set block_set;
} target;

static bool wants_block(const target *to, as_block block) {
  return to->block_set & AS_BLOCK_BIT(block);
}

static double *block_values(const target *to, as_block block) {
  return wants_block(to, block) ? to->blocks[block].value : NULL;
}

static asi_body_output body_output(const target *to) {
  return (asi_body_output){to->force, block_values(to, AS_BLOCK_F_Q),
                           block_values(to, AS_BLOCK_F_V)};
}

static bool wants_bodies(const asi_body_output *out) { return out->force || out->f_q || out->f_v; }

/// What the equations of a body have of their own; before elements add to them.
static void evaluate_body(const as_model *m, const as_point *at, int number,
                          const as_body_motion *motion, const asi_body_output *out) {
  const asi_body *body = &m->body[number];
  if (asi_body_is_node(body) || body->flexible) return;
  // The motion has just been written: processors wait if it is read again at once.
  const double *omega = at->v ? at->v + body->v + 3 : motion->omega;
  asi_body_evaluate(body, &m->body_place[number], motion, omega, m->gravity, out);
}

/// Those that no element touches.
static void evaluate_untouched(const as_model *m, const as_point *at, const asi_body_output *out) {
  for (int i = 0; i < m->n_untouched && wants_bodies(out); ++i) {
    as_body_motion motion;
    asi_body_motion(&m->body[m->untouched[i]], at->q, at->v, &motion);
    evaluate_body(m, at, m->untouched[i], &motion, out);
  }
}

// ---- elements ---------------------------------------------------------------------------------------

/// Blocks that states of elements are in.
static const as_block_set state_blocks = AS_BLOCK_BIT(AS_BLOCK_F_X) | AS_BLOCK_BIT(AS_BLOCK_PHI_Q) |
                                         AS_BLOCK_BIT(AS_BLOCK_PHI_V) |
                                         AS_BLOCK_BIT(AS_BLOCK_PHI_X);

static unsigned wants(const as_model *m, const target *to) {
  unsigned wanted = 0;
  if (to->force) wanted |= ASI_WANT_FORCE;
  if (to->force && m->general) wanted |= ASI_WANT_G_Q | ASI_WANT_K_V;
  if (to->g) wanted |= ASI_WANT_G;
  if (to->rate) wanted |= ASI_WANT_RATE;
  if (to->acceleration) wanted |= ASI_WANT_ACCELERATION;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_F_Q)) wanted |= ASI_WANT_F_Q;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_F_V)) wanted |= ASI_WANT_F_V;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_G_Q)) wanted |= ASI_WANT_G_Q;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) wanted |= ASI_WANT_GDOT_Q;
  if (to->k) wanted |= ASI_WANT_K;
  if (to->k_rate) wanted |= ASI_WANT_K_RATE;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_K_Q)) wanted |= ASI_WANT_K_Q;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_K_V)) wanted |= ASI_WANT_K_V;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA)) wanted |= ASI_WANT_F_LAMBDA | ASI_WANT_G_Q;
  if (to->block_set & AS_BLOCK_BIT(AS_BLOCK_F_PSI)) wanted |= ASI_WANT_K_V;
  if (to->state_rate) wanted |= ASI_WANT_STATE_RATE;
  if (to->block_set & state_blocks) wanted |= ASI_WANT_STATE_TANGENTS;
  return wanted;
}

static double *local_block(asi_local *local, int block) {
  double *const all[ASI_LOCAL_BLOCKS] = {local->f_q,      local->f_v, local->g_q,
                                         local->gdot_q,   local->k_q, local->k_v,
                                         local->f_lambda, local->g_q, local->k_v};
  return all[block];
}

/// A block that an element adds to.
typedef struct addition {
  int block;      ///< asi_local_block
  bool subtracts; ///< constraint forces
  double *from;   ///< the element's matrix
  double *to;     ///< the values of the problem's block
} addition;

/// Values of rows that an element writes.
typedef struct row_values {
  bool velocity; ///< velocity rows
  double *from, *to;
} row_values;

enum { ROW_VALUES = 5 }; // kinds of them

/// What is to be done for elements of one shape: elements of a kind follow each other, as a rule.
typedef struct plan {
  int shape; ///< its number, -1: none yet
  unsigned wanted;
  as_element_output out;
  int n_values;
  row_values value[ROW_VALUES];
  int n_additions;
  addition addition[ASI_LOCAL_BLOCKS];
  int n_cleared; ///< matrices that are only needed for others, or may have more than their entries
  struct {
    double *matrix;
    size_t size;
  } cleared[ASI_LOCAL_BLOCKS];
} plan;

static void plan_blocks(const as_model *m, const asi_scatter_map *shape, asi_local *local,
                        const target *to, plan *p) {
  p->n_additions = p->n_cleared = 0;
  for (int k = 0; k < m->n_blocks; ++k) {
    if (!(p->wanted & asi_block_want[k])) continue;
    const as_block block = asi_global_block((asi_local_block)k);
    const bool goes_out = wants_block(to, block), subtracts = k >= ASI_REACTION;
    double *from = local_block(local, k);
    if (goes_out)
      p->addition[p->n_additions++] = (addition){
          .block = k, .subtracts = subtracts, .from = from, .to = to->blocks[block].value};
    if (subtracts || (goes_out && !shape->node && !shape->view && !shape->theirs)) continue;
    p->cleared[p->n_cleared].matrix = from;
    p->cleared[p->n_cleared++].size = shape->bytes[k];
  }
}

static void plan_values(const target *to, plan *p) {
  const row_values all[ROW_VALUES] = {{false, p->out.g, to->g},
                                      {false, p->out.rate, to->rate},
                                      {false, p->out.acceleration, to->acceleration},
                                      {true, p->out.k, to->k},
                                      {true, p->out.k_rate, to->k_rate}};
  p->n_values = 0;
  for (int i = 0; i < ROW_VALUES; ++i)
    if (all[i].from && all[i].to) p->value[p->n_values++] = all[i];
}

static void make_plan(const as_model *m, int number, unsigned wanted, asi_local *local,
                      const target *to, plan *p) {
  const asi_scatter_map *shape = &m->shape[number];
  p->shape = number;
  p->wanted = wanted & shape->offers;
  if (p->wanted && (shape->se3 || shape->node || shape->view))
    p->wanted = asi_se3_needs(shape, p->wanted);
  p->out = (as_element_output){
      .force = p->wanted & ASI_WANT_FORCE ? local->force : NULL,
      .f_q = p->wanted & ASI_WANT_F_Q ? local->f_q : NULL,
      .f_v = p->wanted & ASI_WANT_F_V ? local->f_v : NULL,
      .g = p->wanted & ASI_WANT_G ? local->g : NULL,
      .g_q = p->wanted & ASI_WANT_G_Q ? local->g_q : NULL,
      .rate = p->wanted & ASI_WANT_RATE ? local->rate : NULL,
      .gdot_q = p->wanted & ASI_WANT_GDOT_Q ? local->gdot_q : NULL,
      .acceleration = p->wanted & ASI_WANT_ACCELERATION ? local->acceleration : NULL,
      .k = p->wanted & ASI_WANT_K ? local->k : NULL,
      .k_q = p->wanted & ASI_WANT_K_Q ? local->k_q : NULL,
      .k_v = p->wanted & ASI_WANT_K_V ? local->k_v : NULL,
      .k_rate = p->wanted & ASI_WANT_K_RATE ? local->k_rate : NULL,
      .f_lambda = p->wanted & ASI_WANT_F_LAMBDA ? local->f_lambda : NULL,
  };
  plan_values(to, p);
  plan_blocks(m, shape, local, to, p);
}

static void scatter_force(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                          const double *from, double *force) {
  for (int b = 0; b < shape->n_bodies; ++b) {
    if (e->e.body[b] < 0) continue;
    const asi_body *body = &m->body[e->e.body[b]];
    const int first = body->view ? body->view->z_v : body->v;
    for (int k = 0; k < body->n && !body->node; ++k) force[first + k] += from[6 * b + k];
    for (int k = 0; k < body->n && body->node; ++k)
      if (body->node->at[k] >= 0) force[body->node->at[k]] += from[6 * b + k];
  }
}

/// force -= m^T multipliers, over the entries of g_q or k_v.
static void pull(const asi_scatter_map *shape, int block, const double *matrix,
                 const double *multiplier, double *force) {
  const int columns = 6 * shape->n_bodies;
  for (int i = 0; i < shape->count[block]; ++i) {
    const int entry = shape->local[block][i];
    force[entry % columns] -= matrix[entry] * multiplier[entry / columns];
  }
}

/// Adds three columns, `rows` rows of them, and leaves zeros.
static void take_strip(double *from, int columns, int rows, double *x, double *y, double *z) {
  if (rows == 6 && columns == ASI_PAIR) {
    asi_add_strip(from, ASI_PAIR, x, y, z);
    for (int i = 0; i < 6; ++i) asi_set(0.0, 0.0, 0.0, from + i * ASI_PAIR);
    return;
  }
  if (rows == 3) {
    add_columns(from, columns, x, y, z);
    asi_set(0.0, 0.0, 0.0, from);
    asi_set(0.0, 0.0, 0.0, from + columns);
    asi_set(0.0, 0.0, 0.0, from + 2 * columns);
    return;
  }
  for (int i = 0; i < rows; ++i, from += columns) {
    x[i] += from[0];
    y[i] += from[1];
    z[i] += from[2];
    asi_set(0.0, 0.0, 0.0, from);
  }
}

/// Adds entries where they belong, and leaves zeros.
static void take_entries(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                         const addition *a) {
  const int *position = m->position + e->position[a->block];
  const unsigned short *entry = shape->local[a->block];
  const asi_strip *strip = shape->strip[a->block];
  const int columns = 6 * shape->n_bodies, count = shape->count[a->block];
  double *from = a->from, *to = a->to;
  int i = 0;
  for (const asi_strip *end = strip + shape->n_strips[a->block]; strip < end; ++strip) {
    const int rows = strip->rows, *at = position + i;
    take_strip(from + strip->corner, columns, rows, to + at[0], to + at[rows], to + at[2 * rows]);
    i += 3 * rows;
  }
  for (; i < count; ++i) {
    const double x = from[entry[i]];
    from[entry[i]] = 0.0;
    to[position[i]] += x;
  }
  for (const int end = shape->written[a->block]; i < end; ++i) from[entry[i]] = 0.0;
}

/// Subtracts constraint forces' entries, which others still need.
static void subtract_entries(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                             const addition *a) {
  const int *position = m->position + e->position[a->block];
  for (int i = 0; i < shape->count[a->block]; ++i)
    a->to[position[i]] -= a->from[shape->local[a->block][i]];
}

/// Takes what an element has written to where it belongs, and leaves zeros for the next.
static void scatter(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                    const plan *p, const target *to) {
  if (p->out.force) {
    if (to->force) scatter_force(m, shape, e, p->out.force, to->force);
    memset(p->out.force, 0, 6 * (size_t)shape->n_bodies * sizeof(double));
  }
  for (int k = 0; k < p->n_values; ++k) {
    const row_values *v = &p->value[k];
    const int n = v->velocity ? shape->n_velocity_rows : shape->n_rows;
    double *out = v->to + (v->velocity ? e->velocity_row : e->row);
    for (int i = 0; i < n; ++i) {
      out[i] = v->from[i];
      v->from[i] = 0.0;
    }
  }
  for (int k = p->n_additions - 1; k >= 0; --k) {
    if (p->addition[k].subtracts)
      subtract_entries(m, shape, e, &p->addition[k]);
    else
      take_entries(m, shape, e, &p->addition[k]);
  }
  for (int k = 0; k < p->n_cleared; ++k) memset(p->cleared[k].matrix, 0, p->cleared[k].size);
}

void asi_element_point(const as_point *at, const asi_placed *e, as_element_input *in) {
  in->lambda = at->lambda ? at->lambda + e->row : NULL;
  in->psi = at->psi ? at->psi + e->velocity_row : NULL;
  in->read = at->lambda ? at->lambda + e->read_row : NULL;
}

static asi_ball_output ball_output(const target *to) {
  return (asi_ball_output){.g = to->g,
                           .rate = to->rate,
                           .acceleration = to->acceleration,
                           .g_q = block_values(to, AS_BLOCK_G_Q),
                           .gdot_q = block_values(to, AS_BLOCK_GDOT_Q),
                           .f_q = block_values(to, AS_BLOCK_F_Q)};
}

static bool wants_balls(const asi_ball_output *out) {
  return out->g || out->rate || out->acceleration || out->g_q || out->gdot_q || out->f_q;
}

/// The entries and values of a part alone, of an element that touches other parts, too.
static void scatter_part(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                         const plan *p, const target *to, int part) {
  const int columns = 6 * shape->n_bodies;
  const bool own_rows = asi_part_of_rows(m, e) == part;
  bool owns[AS_ELEMENT_BODIES] = {false};
  for (int b = 0; b < shape->n_bodies; ++b)
    owns[b] = e->e.body[b] >= 0 && m->part_of_body[e->e.body[b]] == part;
  for (int i = 0; i < columns && p->out.force; ++i) {
    const asi_body *body = owns[i / 6] ? &m->body[e->e.body[i / 6]] : NULL;
    if (to->force && body && i % 6 < body->n) to->force[body->v + i % 6] += p->out.force[i];
    p->out.force[i] = 0.0;
  }
  for (int k = 0; k < p->n_values; ++k) {
    const row_values *v = &p->value[k];
    const int n = v->velocity ? shape->n_velocity_rows : shape->n_rows;
    double *out = v->to + (v->velocity ? e->velocity_row : e->row);
    for (int i = 0; i < n; ++i) {
      if (own_rows) out[i] = v->from[i];
      v->from[i] = 0.0;
    }
  }
  for (int k = 0; k < p->n_additions; ++k) {
    const addition *a = &p->addition[k];
    const int *position = m->position + e->position[a->block];
    const bool by_body = a->block == ASI_F_Q || a->block == ASI_F_V;
    for (int i = 0; i < shape->written[a->block]; ++i) {
      const int entry = shape->local[a->block][i];
      const bool own = by_body ? owns[entry / columns / 6] : own_rows;
      if (own && i < shape->count[a->block]) a->to[position[i]] += a->from[entry];
      a->from[entry] = 0.0;
    }
  }
  for (int k = 0; k < p->n_cleared; ++k) memset(p->cleared[k].matrix, 0, p->cleared[k].size);
}

/// Zeros in all that the elements of a model may write.
static void begin_local(const as_model *m, asi_local *local) {
  const size_t columns = 6 * (size_t)m->most_bodies, row = columns * sizeof(double);
  const size_t rows = AS_ELEMENT_ROWS * row;
  memset(local, 0, offsetof(asi_local, g_q));
  memset(local->g_q, 0, rows);
  memset(local->gdot_q, 0, rows);
  memset(local->f_q, 0, columns * row);
  memset(local->f_v, 0, columns * row);
  if (m->n_blocks <= ASI_K_Q) return;
  memset(local->k, 0, sizeof local->k);
  memset(local->k_rate, 0, sizeof local->k_rate);
  memset(local->k_q, 0, rows);
  memset(local->k_v, 0, rows);
  memset(local->f_lambda, 0, rows);
}

/// Where the elements of a model are evaluated, and what is kept from one to the next.
typedef struct walk {
  const as_model *m;
  const as_point *at;
  const target *to;
  asi_body_output own;
  plan plan; ///< for elements that are no ball joints
  as_element_input in;
  double acceleration[2 * 6]; ///< of a beam's bodies
  recent bodies;
  int part;        ///< whose numbers are taken of the element at hand; -1: all
  asi_local local; ///< once there is a plan
} walk;

/// An element that has states.
static int evaluate_with_states(walk *w, const asi_placed *e) {
  const as_model *m = w->m;
  const asi_stateful_place *s = &m->blocks->stateful[e->stateful];
  as_element_output out = w->plan.out;
  asi_state_local local;
  asi_stateful_begin(s, w->plan.wanted, &local, &out);
  w->in.state = asi_element_states(m, e, w->at->x);
  const int code = e->e.type->evaluate(&w->in, &out, e->data);
  w->in.state = NULL;
  if (code == AS_DONE)
    asi_stateful_scatter(m, s, &w->in, w->at, w->plan.wanted, &local, w->to->state_rate,
                         w->to->block_set, w->to->blocks);
  return code;
}

/// An element that is no ball joint; its bodies are known.
static int evaluate_element(walk *w, const asi_placed *e) {
  const as_model *m = w->m;
  const asi_scatter_map *shape = &m->shape[e->shape];
  const plan *p = &w->plan;
  asi_element_point(w->at, e, &w->in);
  const bool joined = e->e.inertia && (w->to->block_set & AS_BLOCKS_JOIN_INERTIA);
  if (joined) asi_inertia_acceleration(m, &e->e, w->at->vdot, w->acceleration);
  w->in.acceleration = joined ? w->acceleration : NULL;
  const int code = shape->n_states > 0 ? evaluate_with_states(w, e)
                                       : e->e.type->evaluate(&w->in, &p->out, e->data);
  if (code) return code;
  if (shape->view)
    asi_view_transform(m, shape, e, &w->in, w->at->q, w->at->v, p->wanted, &w->local);
  if (shape->se3) asi_se3_transform(shape, &w->in, p->wanted, &w->local);
  if (shape->node)
    asi_node_transform(m, shape, e, &w->in, w->at->q, w->at->v, p->wanted, &w->local);
  if (m->general && w->to->force) {
    pull(shape, ASI_G_Q, w->local.g_q, w->in.lambda, w->local.force);
    pull(shape, ASI_K_V, w->local.k_v, w->in.psi, w->local.force);
  }
  if (w->part < 0)
    scatter(m, shape, e, p, w->to);
  else
    scatter_part(m, shape, e, p, w->to, w->part);
  return AS_DONE;
}

/// A body of an element, and its own equations if the element is the `first` that touches it.
static inline const as_body_motion *visit(walk *w, const asi_placed *e, int b, unsigned first,
                                          unsigned *held) {
  const as_body_motion *motion = look_up(&w->bodies, w->m, w->at, e->e.body[b], held);
  if (first & (1u << b)) evaluate_body(w->m, w->at, e->e.body[b], motion, &w->own);
  return motion;
}

static void begin_walk(walk *w, const as_model *m, const as_point *at, const target *to) {
  w->m = m;
  w->at = at;
  w->to = to;
  w->own = body_output(to);
  w->plan.shape = w->part = -1;
  // Bodies, multipliers and what is read are set for each element.
  w->in.t = at->t;
  w->in.u = at->u;
  w->in.x = at->x;
  w->in.y = at->y;
  w->in.why = NULL;
  w->in.acceleration = NULL;
  w->in.state = NULL;
  forget(&w->bodies);
}

/// What is wanted of all elements.
typedef struct wishes {
  unsigned wanted, bodies; ///< bits; all, if equations of bodies are wanted
  asi_ball_output ball;
  bool balls;
} wishes;

static wishes wishes_of(const walk *w) {
  wishes x = {.wanted = wants(w->m, w->to), .bodies = wants_bodies(&w->own) ? ~0u : 0};
  x.ball = ball_output(w->to);
  x.balls = wants_balls(&x.ball);
  return x;
}

/// An element; bits of `first`: it is the first that touches that body of it.
static inline int evaluate_one(walk *w, const wishes *x, int number, unsigned first) {
  const as_model *m = w->m;
  const asi_placed *e = &m->element[number];
  unsigned held = 0;
  if (e->ball) {
    if (!x->balls && first == 0) return AS_DONE;
    const as_body_motion *a = visit(w, e, 0, first, &held), *b = visit(w, e, 1, first, &held);
    if (x->balls) e->ball->evaluate(e->ball, a, b, w->at->lambda, &x->ball);
    return AS_DONE;
  }
  if (w->plan.shape < 0) begin_local(m, &w->local);
  if (e->shape != w->plan.shape) make_plan(m, e->shape, x->wanted, &w->local, w->to, &w->plan);
  if (w->plan.wanted == 0 && first == 0) return AS_DONE;
  for (int b = 0; b < e->e.n_bodies; ++b) w->in.body[b] = visit(w, e, b, first, &held);
  const int code = w->plan.wanted ? evaluate_element(w, e) : AS_DONE;
  return code == AS_DONE ? code : code > 0 ? ASI_BLAMED + number : -(ASI_BLAMED + number);
}

static int evaluate_elements(const as_model *m, const as_point *at, const target *to) {
  walk w;
  begin_walk(&w, m, at, to);
  const wishes x = wishes_of(&w);
  for (int i = 0; i < m->n_elements; ++i) {
    const int code = evaluate_one(&w, &x, i, m->element[i].first & x.bodies);
    if (code) return code;
  }
  return AS_DONE;
}

// ---- parts of a model -------------------------------------------------------------------------------

/// What a ball joint between two parts has for one of them: its rows, and the equations of the body at one end.
static void evaluate_ball_of(walk *w, const wishes *x, const asi_placed *e, const bool owns[2],
                             unsigned first) {
  unsigned held = 0;
  asi_ball one = *e->ball;
  asi_ball_output rows = x->ball;
  const asi_ball_output bodies = {.f_q = x->ball.f_q};
  const as_body_motion *a = visit(w, e, 0, first, &held), *b = visit(w, e, 1, first, &held);
  rows.f_q = NULL;
  if (asi_part_of_rows(w->m, e) == w->part && wants_balls(&rows))
    e->ball->evaluate(e->ball, a, b, w->at->lambda, &rows);
  if (bodies.f_q == NULL) return;
  for (int k = 0; k < 2; ++k) one.end[k].moves = one.end[k].moves && owns[k];
  one.evaluate(&one, a, b, w->at->lambda, &bodies);
}

/// An element that touches bodies of several parts.
static int evaluate_between(walk *w, const wishes *x, int number, int part) {
  const asi_placed *e = &w->m->element[number];
  unsigned first = 0;
  bool owns[AS_ELEMENT_BODIES] = {false};
  for (int b = 0; b < e->e.n_bodies; ++b) {
    owns[b] = e->e.body[b] >= 0 && w->m->part_of_body[e->e.body[b]] == part;
    if (owns[b]) first |= 1u << b;
  }
  first &= e->first & x->bodies;
  int code = AS_DONE;
  w->part = part;
  if (e->ball)
    evaluate_ball_of(w, x, e, owns, first);
  else
    code = evaluate_one(w, x, number, first);
  w->part = -1;
  return code;
}

/// See parts.c.
static int evaluate_part(const as_point *at, const as_evaluation *out, int part, void *user) {
  const as_model *m = user;
  const target to = {.force = out->force,
                     .g = out->constraint,
                     .rate = out->constraint_rate,
                     .k = out->nonholonomic,
                     .blocks = out->blocks,
                     .block_set = out->block_set};
  walk w;
  if (m->gap) return AS_RETRY;
  begin_walk(&w, m, at, &to);
  if (part == 0) evaluate_untouched(m, at, &w.own);
  const wishes x = wishes_of(&w);
  for (size_t k = m->part_start[part]; k < m->part_start[part + 1]; ++k) {
    const int i = m->part_element[k];
    const int code = i >= 0 ? evaluate_one(&w, &x, i, m->element[i].first & x.bodies)
                            : evaluate_between(&w, &x, -1 - i, part);
    if (code) return code;
  }
  return AS_DONE;
}

// ---- callbacks --------------------------------------------------------------------------------------

static int evaluate(const as_model *m, const as_point *at, const target *to) {
  const asi_body_output bodies = body_output(to);
  evaluate_untouched(m, at, &bodies);
  int code = to->force ? asi_superelements_force(m, at, to->force) : AS_DONE;
  if (code == AS_DONE && m->n_flexibles > 0)
    code = asi_flexibles_evaluate(m, at, to->force, to->block_set, to->blocks);
  if (code) return code;
  if (to->block_set) asi_superelements_blocks(m, to->block_set, to->blocks);
  const int failed = evaluate_elements(m, at, to);
  for (int i = 0; i < m->n_lambda && to->g && m->gap; ++i) to->g[i] -= m->gap_factor * m->gap[i];
  return failed;
}

static int evaluate_wanted(const as_point *at, const as_evaluation *out, void *user) {
  const target to = {.force = out->force,
                     .g = out->constraint,
                     .rate = out->constraint_rate,
                     .k = out->nonholonomic,
                     .state_rate = out->state_rate,
                     .blocks = out->blocks,
                     .block_set = out->block_set};
  return evaluate(user, at, &to);
}

static int force(const as_point *at, double *out, void *user) {
  const target to = {.force = out};
  return evaluate(user, at, &to);
}

static int constraint(const as_point *at, double *out, void *user) {
  const target to = {.g = out};
  return evaluate(user, at, &to);
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const target to = {.rate = out};
  return evaluate(user, at, &to);
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const target to = {.acceleration = out};
  return evaluate(user, at, &to);
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  const target to = {.k = out};
  return evaluate(user, at, &to);
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  const target to = {.k_rate = out};
  return evaluate(user, at, &to);
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const target to = {.blocks = blocks, .block_set = wanted};
  return evaluate(user, at, &to);
}

// ---- with blocks ------------------------------------------------------------------------------------

static int evaluate_with_blocks(const as_point *at, const as_evaluation *out, void *user) {
  const int code = evaluate_wanted(at, out, user);
  return code ? code : asi_blocks_evaluate(user, at, out);
}

static int jacobian_with_blocks(const as_point *at, as_block_set wanted, as_matrix *blocks,
                                void *user) {
  const as_evaluation out = {.block_set = wanted, .blocks = blocks};
  return evaluate_with_blocks(at, &out, user);
}

/// Of an element that reads sampled signals: the force, or what it changes by.
static int add_force(walk *w, int number, const asi_held_change *change) {
  const asi_placed *placed = &w->m->element[number];
  asi_placed e = *placed;
  unsigned held = 0;
  if (change) {
    e.e.type = placed->descriptor->change;
    e.data = change;
  }
  if (e.shape != w->plan.shape)
    make_plan(w->m, e.shape, ASI_WANT_FORCE, &w->local, w->to, &w->plan);
  for (int b = 0; b < e.e.n_bodies; ++b) w->in.body[b] = visit(w, &e, b, 0, &held);
  const int code = evaluate_element(w, &e);
  return code == AS_DONE ? code : code > 0 ? ASI_BLAMED + number : -(ASI_BLAMED + number);
}

/// Of actuators and loads by what their formulas change by; of other elements the difference of two forces.
static int force_change(const as_point *at, const double *u_before, double *out, void *user) {
  const as_model *m = user;
  const asi_control *c = m->blocks;
  const target to = {.force = out};
  walk w;
  int code = AS_DONE, n_others = 0;
  memset(out, 0, (size_t)m->n * sizeof(double));
  if (c->n_held_readers == 0) return AS_DONE;
  begin_walk(&w, m, at, &to);
  begin_local(m, &w.local);
  w.in.u = u_before;
  for (int k = 0; k < c->n_held_readers && code == AS_DONE; ++k) {
    if (m->element[c->held_reader[k]].descriptor->change) continue;
    code = add_force(&w, c->held_reader[k], NULL);
    ++n_others;
  }
  w.in.u = at->u;
  for (int i = 0; i < m->n && n_others > 0; ++i) out[i] = -out[i];
  for (int k = 0; k < c->n_held_readers && code == AS_DONE; ++k) {
    const asi_placed *e = &m->element[c->held_reader[k]];
    const asi_held_change change = {e->data, u_before};
    const bool direct = e->descriptor->change != NULL;
    code = add_force(&w, c->held_reader[k], direct ? &change : NULL);
  }
  return code;
}

static int state_rate(const as_point *at, double *out, void *user) {
  const as_model *m = user;
  const target to = {.state_rate = out};
  const int code = m->blocks->n_stateful > 0 ? evaluate(m, at, &to) : AS_DONE;
  return code ? code : asi_blocks_evaluate(m, at, &(as_evaluation){.state_rate = out});
}

static int output(const as_point *at, double *out, void *user) {
  return asi_blocks_evaluate(user, at, &(as_evaluation){.output = out});
}

// ---- with elements that have mass -------------------------------------------------------------------

static int mass_of_all(const as_point *at, as_matrix *out, void *user) {
  mass(at, out, user);
  asi_flexibles_mass(user, at, out->value);
  return asi_inertia_mass(user, at, out->value);
}

static int evaluate_with_mass(const as_point *at, const as_evaluation *out, void *user) {
  const as_model *m = user;
  const int code = m->blocks ? evaluate_with_blocks(at, out, user) : evaluate_wanted(at, out, user);
  if (code || !(out->block_set & AS_BLOCK_BIT(AS_BLOCK_MA_Q))) return code;
  asi_flexibles_mass_rate(m, at, out->blocks[AS_BLOCK_MA_Q].value);
  return asi_inertia_blocks(m, at, out->blocks[AS_BLOCK_MA_Q].value);
}

static int jacobian_with_mass(const as_point *at, as_block_set wanted, as_matrix *blocks,
                              void *user) {
  const as_evaluation out = {.block_set = wanted, .blocks = blocks};
  return evaluate_with_mass(at, &out, user);
}

void asi_model_callbacks(as_problem_def *def, const as_model *m) {
  const bool blocks = m->blocks != NULL;
  def->mass = mass;
  def->force = force;
  def->constraint = constraint;
  def->constraint_rate = constraint_rate;
  def->constraint_acceleration = constraint_acceleration;
  def->nonholonomic = nonholonomic;
  def->nonholonomic_acceleration = nonholonomic_acceleration;
  def->jacobian = jacobian;
  def->evaluate = evaluate_wanted;
  if (m->n_parts > 0) {
    def->evaluate_part = evaluate_part;
    def->n_evaluate_parts = m->n_parts;
  }
  if (blocks) {
    def->state_rate = state_rate;
    def->output = output;
    def->jacobian = jacobian_with_blocks;
    def->evaluate = evaluate_with_blocks;
    def->force_change = force_change;
  }
  if (m->n_massive + m->n_flexibles > 0) {
    def->mass = mass_of_all;
    def->jacobian = jacobian_with_mass;
    def->evaluate = evaluate_with_mass;
  }
  def->describe = asi_model_describe;
  def->explain = asi_model_explain;
  def->describe_redundancy = asi_describe_redundancy;
}
