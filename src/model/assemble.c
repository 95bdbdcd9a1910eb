/// The callbacks of a model's problem: one pass over bodies, one over elements, local matrices added to the
/// problem's blocks at positions that are known.
///
/// A body's rotation matrix is made once while the elements that touch it follow each other: the last few
/// are kept on the stack. So a model has no memory that changes, and threads may share it.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "elements/vector.h"
#include "model/look.h"
#include "model/model.h"
#include "model/superelements.h"

// ---- bodies -----------------------------------------------------------------------------------------

enum { KEPT = AS_ELEMENT_BODIES + 2 }; // at the most

typedef struct recent {
  int n; ///< places in use: more than the bodies of an element of this model
  int body[KEPT];
  int next;
  as_body_motion motion[KEPT];
} recent;

static void forget(recent *r, int most_bodies) {
  r->n = most_bodies > 0 ? most_bodies + 2 : 2;
  for (int i = 0; i < r->n; ++i) r->body[i] = -1;
  r->next = 0;
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
  int place = 0;
  while (place < r->n && r->body[place] != body) ++place;
  if (place == r->n) {
    while (*held & (1u << r->next)) r->next = r->next + 1 < r->n ? r->next + 1 : 0;
    place = r->next;
    r->next = place + 1 < r->n ? place + 1 : 0;
    r->body[place] = body;
    asi_body_motion(&m->body[body], at->q, at->v, &r->motion[place]);
  }
  *held |= 1u << place;
  return &r->motion[place];
}

static int mass(const as_point *at, as_matrix *out, void *user) {
  const as_model *m = user;
  (void)at;
  memcpy(out->value, m->mass, m->n_mass * sizeof(double));
  return AS_DONE;
}

/// Adds a 3 x 3 block of a 6 x 6 matrix by rows at its columns' positions.
static void add_block(double *value, const int position[3], const double *block) {
  for (int j = 0; j < 3 && position[0] >= 0; ++j)
    for (int i = 0; i < 3; ++i) value[position[j] + i] += block[6 * i + j];
}

/// Where results go; NULL: not wanted.
typedef struct target {
  double *force, *g, *rate, *acceleration, *k, *k_rate;
  as_matrix *blocks;
  as_block_set block_set;
} target;

static bool wants_block(const target *to, as_block block) {
  return to->block_set & AS_BLOCK_BIT(block);
}

static void body_blocks(const as_model *m, int number, const as_body_motion *motion,
                        const target *to) {
  const asi_body *body = &m->body[number];
  const asi_body_place *place = &m->body_place[number];
  if (body->n < 6 || (body->round && !body->se3)) return;
  if (wants_block(to, AS_BLOCK_F_V)) {
    double *value = to->blocks[AS_BLOCK_F_V].value, local[36] = {0};
    asi_body_f_v(body, motion, local);
    add_block(value, place->turn_turn, local + 21);
    add_block(value, place->move_move, local);
    add_block(value, place->move_turn, local + 3);
  }
  if (wants_block(to, AS_BLOCK_F_Q) && place->pull[0] >= 0) {
    double pull[36] = {0};
    asi_body_f_q(body, motion, m->gravity, pull);
    add_block(to->blocks[AS_BLOCK_F_Q].value, place->pull, pull + 3);
  }
}

/// What the equations of the bodies have of their own.
static void evaluate_bodies(const as_model *m, const as_point *at, const target *to) {
  if (!to->force && !wants_block(to, AS_BLOCK_F_V) && !wants_block(to, AS_BLOCK_F_Q)) return;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    as_body_motion motion;
    if (body->node) continue;
    asi_body_motion(body, at->q, at->v, &motion);
    if (to->force) asi_body_force(body, &motion, m->gravity, to->force + body->v);
    body_blocks(m, i, &motion, to);
  }
}

// ---- elements ---------------------------------------------------------------------------------------

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
  int block;                   ///< asi_local_block
  int count;                   ///< entries
  const unsigned short *entry; ///< where they stand in the element's matrix
  bool subtracts;              ///< constraint forces
  double *from;                ///< the element's matrix
  size_t size;                 ///< its size
  double *to;                  ///< the values of the problem's block; NULL: only needed for others
} addition;

/// What is to be done for elements of one shape: elements of a kind follow each other, as a rule.
typedef struct plan {
  int shape; ///< its number, -1: none yet
  unsigned wanted;
  as_element_output out;
  int n_additions;
  addition addition[ASI_LOCAL_BLOCKS];
} plan;

static void plan_blocks(const as_model *m, const asi_shape *shape, asi_local *local,
                        const target *to, plan *p) {
  p->n_additions = 0;
  for (int k = 0; k < m->n_blocks; ++k) {
    if (!(p->wanted & asi_block_want[k])) continue;
    const as_block block = asi_global_block((asi_local_block)k);
    const bool goes_out = to->block_set & AS_BLOCK_BIT(block), subtracts = k >= ASI_REACTION;
    if (subtracts && !goes_out) continue;
    p->addition[p->n_additions++] = (addition){.block = k,
                                               .count = shape->count[k],
                                               .entry = shape->local[k],
                                               .subtracts = subtracts,
                                               .from = local_block(local, k),
                                               .size = shape->bytes[k],
                                               .to = goes_out ? to->blocks[block].value : NULL};
  }
}

static void make_plan(const as_model *m, int number, unsigned wanted, asi_local *local,
                      const target *to, plan *p) {
  const asi_shape *shape = &m->shape[number];
  p->shape = number;
  p->wanted = wanted & shape->offers;
  if (p->wanted && (shape->se3 || shape->node)) p->wanted = asi_se3_needs(shape, p->wanted);
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
  plan_blocks(m, shape, local, to, p);
}

/// Zeros: only the entries that are read afterwards, or all that a transformation reads.
static void clear(const asi_shape *shape, const plan *p) {
  if (p->out.force) memset(p->out.force, 0, 6 * (size_t)shape->n_bodies * sizeof(double));
  const size_t rows = (size_t)shape->n_rows * sizeof(double);
  if (p->out.g) memset(p->out.g, 0, rows);
  if (p->out.rate) memset(p->out.rate, 0, rows);
  if (p->out.acceleration) memset(p->out.acceleration, 0, rows);
  const size_t velocity_rows = (size_t)shape->n_velocity_rows * sizeof(double);
  if (p->out.k) memset(p->out.k, 0, velocity_rows);
  if (p->out.k_rate) memset(p->out.k_rate, 0, velocity_rows);
  for (int k = 0; k < p->n_additions; ++k) {
    const addition *a = &p->addition[k];
    if (shape->se3 || shape->node)
      memset(a->from, 0, a->size);
    else
      for (int i = 0; i < a->count; ++i) a->from[a->entry[i]] = 0.0;
  }
}

static void scatter_force(const as_model *m, const asi_placed *e, const double *from,
                          double *force) {
  for (int b = 0; b < e->e.n_bodies; ++b) {
    if (e->e.body[b] < 0) continue;
    const asi_body *body = &m->body[e->e.body[b]];
    for (int k = 0; k < body->n && !body->node; ++k) force[body->v + k] += from[6 * b + k];
    for (int k = 0; k < body->n && body->node; ++k)
      if (body->node->at[k] >= 0) force[body->node->at[k]] += from[6 * b + k];
  }
}

/// force -= m^T multipliers, over the entries of g_q or k_v.
static void pull(const asi_shape *shape, int block, const double *matrix, const double *multiplier,
                 double *force) {
  const int columns = 6 * shape->n_bodies;
  for (int i = 0; i < shape->count[block]; ++i) {
    const int entry = shape->local[block][i];
    force[entry % columns] -= matrix[entry] * multiplier[entry / columns];
  }
}

static void scatter(const as_model *m, const asi_placed *e, const plan *p, const target *to) {
  if (to->force && p->out.force) scatter_force(m, e, p->out.force, to->force);
  const size_t rows = (size_t)e->e.n_rows * sizeof(double);
  if (to->g) memcpy(to->g + e->row, p->out.g, rows);
  if (to->rate) memcpy(to->rate + e->row, p->out.rate, rows);
  if (to->acceleration) memcpy(to->acceleration + e->row, p->out.acceleration, rows);
  const size_t velocity_rows = (size_t)e->e.n_velocity_rows * sizeof(double);
  if (to->k) memcpy(to->k + e->velocity_row, p->out.k, velocity_rows);
  if (to->k_rate) memcpy(to->k_rate + e->velocity_row, p->out.k_rate, velocity_rows);
  for (int k = 0; k < p->n_additions; ++k) {
    const addition *a = &p->addition[k];
    const int *position = m->position + e->position[a->block];
    if (a->subtracts)
      for (int i = 0; i < a->count; ++i) a->to[position[i]] -= a->from[a->entry[i]];
    else
      for (int i = 0; i < a->count && a->to; ++i) a->to[position[i]] += a->from[a->entry[i]];
  }
}

static as_element_input input_at(const as_point *at, const asi_placed *e) {
  return (as_element_input){.t = at->t,
                            .lambda = at->lambda ? at->lambda + e->row : NULL,
                            .psi = at->psi ? at->psi + e->velocity_row : NULL,
                            .u = at->u,
                            .read = at->lambda ? at->lambda + e->read_row : NULL};
}

enum { BLAMED = AS_RETRY + 1 }; // and the number of the element that could not be evaluated

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

static int evaluate_elements(const as_model *m, const as_point *at, const target *to) {
  recent bodies;
  asi_local local;
  plan p = {.shape = -1};
  const unsigned wanted = wants(m, to);
  begin_local(m, &local);
  forget(&bodies, m->most_bodies);
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *e = &m->element[i];
    if (e->shape != p.shape) make_plan(m, e->shape, wanted, &local, to, &p);
    if (p.wanted == 0) continue;
    const asi_shape *shape = &m->shape[e->shape];
    unsigned held = 0;
    as_element_input in = input_at(at, e);
    for (int b = 0; b < e->e.n_bodies; ++b)
      in.body[b] = look_up(&bodies, m, at, e->e.body[b], &held);
    clear(shape, &p);
    const int code = e->e.type->evaluate(&in, &p.out, e->data);
    if (code) return code > 0 ? BLAMED + i : -(BLAMED + i);
    if (shape->se3) asi_se3_transform(shape, &in, p.wanted, &local);
    if (shape->node) asi_node_transform(m, shape, e, &in, at->q, at->v, p.wanted, &local);
    if (m->general && to->force) {
      pull(shape, ASI_G_Q, local.g_q, in.lambda, local.force);
      pull(shape, ASI_K_V, local.k_v, in.psi, local.force);
    }
    scatter(m, e, &p, to);
  }
  return AS_DONE;
}

// ---- callbacks --------------------------------------------------------------------------------------

static int evaluate(const as_model *m, const as_point *at, const target *to) {
  evaluate_bodies(m, at, to);
  const int code = to->force ? asi_superelements_force(m, at, to->force) : AS_DONE;
  if (code) return code > 0 ? AS_RETRY : AS_FATAL;
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

static void describe(as_quantity quantity, int index, char *text, size_t size, void *user) {
  const as_model *m = user;
  if (quantity == AS_QUANTITY_CODE) {
    asi_sort sort;
    const char *name = asi_element_name(m, (index < 0 ? -index : index) - BLAMED, &sort);
    snprintf(text, size, "%s \"%.48s\"", asi_sort_name(sort), name);
    return;
  }
  if (quantity == AS_QUANTITY_LAMBDA || quantity == AS_QUANTITY_PSI) {
    const bool velocity = quantity == AS_QUANTITY_PSI;
    const int joint = m->row_joint[velocity ? m->n_lambda + index : index];
    const asi_placed *p = &m->element[m->joint[joint].element];
    const char *name = asi_names_get(&m->names[ASI_SORT_JOINT], joint);
    if (velocity)
      snprintf(text, size, "joint \"%.40s\", velocity row %d", name, index - p->velocity_row);
    else if (p->e.n_rows > 1)
      snprintf(text, size, "joint \"%.40s\", row %d", name, index - p->row);
    else
      snprintf(text, size, "joint \"%.40s\"", name);
    return;
  }
  if (quantity != AS_QUANTITY_V) return;
  for (int i = 0; i < m->n_superelements; ++i)
    if (index >= m->superelement[i].v && index < m->superelement[i].v + m->superelement[i].n)
      snprintf(text, size, "superelement \"%.32s\", coordinate %d",
               asi_names_get(&m->names[ASI_SORT_SUPERELEMENT], i), index - m->superelement[i].v);
  for (int i = 0; i < m->n_bodies; ++i) {
    const int component = index - m->body[i].v;
    if (m->body[i].node || component < 0 || component >= m->body[i].n) continue;
    snprintf(text, size, "body \"%.32s\", %s %c", asi_names_get(&m->names[ASI_SORT_BODY], i),
             component < 3 ? "velocity" : "rotation", "xyz"[component % 3]);
  }
}

/// A formula of time that is no number, or what the element says that could not be evaluated.
static void explain(const as_point *at, int code, char *text, size_t size, void *user) {
  const as_model *m = user;
  const int number = (code < 0 ? -code : code) - BLAMED;
  double out[3];
  for (int i = 0; i < m->n_curves; ++i) {
    const asi_formula *f = m->curve[i].formula;
    if (f == NULL || !f->of_time || asi_formula_at(f, at->t, out) == AS_DONE) continue;
    asi_formula_explain(f, at->t, text, size);
    return;
  }
  if (number < 0 || number >= m->n_elements) return;
  const asi_placed *e = &m->element[number];
  char why[AS_ELEMENT_WHY] = "";
  double force[AS_ELEMENT_COLUMNS] = {0};
  as_body_motion body[AS_ELEMENT_BODIES];
  as_element_input in = input_at(at, e);
  in.why = why;
  for (int b = 0; b < e->e.n_bodies; ++b) {
    asi_model_motion(m, e->e.body[b], at->q, at->v, &body[b]);
    in.body[b] = &body[b];
  }
  if (at->v) (void)e->e.type->evaluate(&in, &(as_element_output){.force = force}, e->data);
  double f_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS] = {0};
  if (at->v && why[0] == '\0' &&
      e->e.n_rows + e->e.n_velocity_rows == 0) // a derivative may be the reason
    (void)e->e.type->evaluate(&in, &(as_element_output){.f_q = f_q}, e->data);
  snprintf(text, size, "%s", why);
}

void asi_model_callbacks(as_problem_def *def) {
  def->mass = mass;
  def->force = force;
  def->constraint = constraint;
  def->constraint_rate = constraint_rate;
  def->constraint_acceleration = constraint_acceleration;
  def->nonholonomic = nonholonomic;
  def->nonholonomic_acceleration = nonholonomic_acceleration;
  def->jacobian = jacobian;
  def->evaluate = evaluate_wanted;
  def->describe = describe;
  def->explain = explain;
}
