/// Rigid bodies, joints and springs, see mechanism.h.
///
/// Along R exp(w~): D(R a) = -R a~ w, D(R^T l) = (R^T l)~ w, and for a cosine
/// D((R_a n) . E) = w . (n x R_a^T E). With P = x + R p:
///
///     rate           x' + R (W x p)
///     acceleration   R (W x (W x p))    at v' = 0
///
/// A force l on P brings (l, p~ R^T l) to its body.
#include "problems/mechanism.h"

#include <string.h>

#include "problems/rotation.h"

/// Position, rotation and velocity of a body or the ground.
typedef struct frame {
  int col; ///< of its velocity, or -1
  double x[3], R[9], v[3], W[3];
} frame;

static frame frame_of(const as_point *at, int body) {
  frame f = {.col = -1, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (body < 0) return f;
  f.col = 6 * body;
  memcpy(f.x, at->q + 7 * body, sizeof f.x);
  mat_from_quaternion(at->q + 7 * body + 3, f.R);
  if (at->v != NULL) {
    memcpy(f.v, at->v + 6 * body, sizeof f.v);
    memcpy(f.W, at->v + 6 * body + 3, sizeof f.W);
  }
  return f;
}

/// A direction that turns with a body, and its derivatives at v' = 0, in world axes.
typedef struct direction {
  double now[3], rate[3], second[3];
} direction;

static direction direction_of(const frame *f, const double *a) {
  direction d = {{0}, {0}, {0}};
  double spin[3], twice[3];
  vec_cross(f->W, a, spin);
  vec_cross(f->W, spin, twice);
  mat_vec(f->R, a, d.now);
  mat_vec(f->R, spin, d.rate);
  mat_vec(f->R, twice, d.second);
  return d;
}

/// The difference P_a - P_b and its derivatives.
static direction difference(const frame *a, const double *pa, const frame *b, const double *pb) {
  const direction da = direction_of(a, pa), db = direction_of(b, pb);
  direction d;
  for (int k = 0; k < 3; ++k) {
    d.now[k] = a->x[k] + da.now[k] - b->x[k] - db.now[k];
    d.rate[k] = a->v[k] + da.rate[k] - b->v[k] - db.rate[k];
    d.second[k] = da.second[k] - db.second[k];
  }
  return d;
}

// ---- functions ----------------------------------------------------------------------------------

static int mass(const as_point *at, as_matrix *m, void *user) {
  const mechanism *c = user;
  (void)at;
  for (int i = 0; i < c->n_bodies; ++i) {
    for (int k = 0; k < 3; ++k) as_matrix_add(m, 6 * i + k, 6 * i + k, c->body[i].m);
    as_matrix_add_block(m, 6 * i + 3, 6 * i + 3, 3, 3, c->body[i].J);
  }
  return AS_DONE;
}

/// Adds the force `s l` on the point p of a body.
static void push(const frame *f, const double *p, double s, const double *l, double *out) {
  double own[3], torque[3];
  if (f->col < 0) return;
  mat_t_vec(f->R, l, own);
  vec_cross(p, own, torque);
  for (int k = 0; k < 3; ++k) {
    out[f->col + k] += s * l[k];
    out[f->col + 3 + k] += s * torque[k];
  }
}

static int force(const as_point *at, double *out, void *user) {
  const mechanism *c = user;
  for (int i = 0; i < c->n_bodies; ++i) {
    for (int k = 0; k < 3; ++k) out[6 * i + k] = c->body[i].m * c->gravity[k];
    gyroscopic_torque(c->body[i].J, at->v + 6 * i + 3, out + 6 * i + 3);
  }
  for (int i = 0; i < c->n_springs; ++i) {
    const mechanism_spring *s = &c->spring[i];
    const frame a = frame_of(at, s->a), b = frame_of(at, s->b);
    const direction d = difference(&a, s->pa, &b, s->pb);
    push(&a, s->pa, -s->k, d.now, out);
    push(&b, s->pb, s->k, d.now, out);
  }
  return AS_DONE;
}

/// g, its rate or its second derivative: `order` 0, 1 or 2.
static int constraint_derivative(const as_point *at, int order, double *out, const mechanism *c) {
  for (int i = 0; i < c->n_joints; ++i) {
    const mechanism_joint *j = &c->joint[i];
    const frame a = frame_of(at, j->a), b = frame_of(at, j->b);
    const direction d = difference(&a, j->pa, &b, j->pb);
    double *g = out + c->first_row[i];
    memcpy(g, order == 0 ? d.now : order == 1 ? d.rate : d.second, sizeof d.now);
    for (int r = 0; r < 2 && j->revolute; ++r) {
      const direction n = direction_of(&a, j->axis), e = direction_of(&b, j->across[r]);
      g[3 + r] = order == 0   ? vec_dot(n.now, e.now)
                 : order == 1 ? vec_dot(n.rate, e.now) + vec_dot(n.now, e.rate)
                              : vec_dot(n.second, e.now) + 2.0 * vec_dot(n.rate, e.rate) +
                                    vec_dot(n.now, e.second);
    }
  }
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  return constraint_derivative(at, 0, out, user);
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  return constraint_derivative(at, 1, out, user);
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  return constraint_derivative(at, 2, out, user);
}

// ---- Jacobian blocks ----------------------------------------------------------------------------

/// Adds s X Y, 3 x 3 matrices.
static void add_product(as_matrix *m, int row, int col, double s, const double *X,
                        const double *Y) {
  double product[9];
  mat_mat(s, X, Y, product);
  as_matrix_add_block(m, row, col, 3, 3, product);
}

/// G_Q of P: s (I, -R p~)
static void add_point_g_q(const frame *f, const double *p, double s, int row, as_matrix *m) {
  double skew[9];
  if (f->col < 0) return;
  for (int k = 0; k < 3; ++k) as_matrix_add(m, row + k, f->col + k, s);
  mat_skew(1.0, p, skew);
  add_product(m, row, f->col + 3, -s, f->R, skew);
}

/// GDOT_Q of P: -s R (W x p)~
static void add_point_gdot_q(const frame *f, const double *p, double s, int row, as_matrix *m) {
  double spin[3], skew[9];
  if (f->col < 0) return;
  vec_cross(f->W, p, spin);
  mat_skew(1.0, spin, skew);
  add_product(m, row, f->col + 3, -s, f->R, skew);
}

/// F_Q of the force s l on P, by the turning of the body alone: s p~ (R^T l)~
static void add_point_f_q(const frame *f, const double *p, double s, const double *l,
                          as_matrix *m) {
  double own[3], left[9], right[9];
  if (f->col < 0) return;
  mat_t_vec(f->R, l, own);
  mat_skew(1.0, p, left);
  mat_skew(1.0, own, right);
  add_product(m, f->col + 3, f->col + 3, s, left, right);
}

/// The rows of the cosine between n, which turns with f, and a direction in world axes:
/// G_Q: n x R^T E;    GDOT_Q: (W x n) x R^T E + n x R^T E'
static void add_cosine_rows(const frame *f, const double *n, const direction *e, int row,
                            as_matrix *g_q, as_matrix *gdot_q) {
  double own[3], own_rate[3], spin[3], turn[3], turn_rate[3];
  if (f->col < 0) return;
  mat_t_vec(f->R, e->now, own);
  mat_t_vec(f->R, e->rate, own_rate);
  vec_cross(f->W, n, spin);
  if (g_q != NULL) {
    vec_cross(n, own, turn);
    as_matrix_add_block(g_q, row, f->col + 3, 1, 3, turn);
  }
  if (gdot_q != NULL) {
    vec_cross(spin, own, turn);
    vec_cross(n, own_rate, turn_rate);
    as_matrix_add_block(gdot_q, row, f->col + 3, 1, 3, turn);
    as_matrix_add_block(gdot_q, row, f->col + 3, 1, 3, turn_rate);
  }
}

/// F_Q of the torque -mu n x R_f^T R_o e on f: by f's turning -mu n~ (R_f^T R_o e)~, by o's mu n~
/// R_f^T R_o e~
static void add_cosine_f_q(const frame *f, const double *n, const frame *o, const double *e,
                           double mu, as_matrix *m) {
  double skew[9], other[9], relative[9], left[9], world[3], own[3];
  if (f->col < 0) return;
  mat_vec(o->R, e, world);
  mat_t_vec(f->R, world, own);
  mat_skew(mu, n, skew);
  mat_skew(1.0, own, other);
  add_product(m, f->col + 3, f->col + 3, -1.0, skew, other);
  if (o->col < 0) return;
  mat_t_mat(f->R, o->R, relative);
  mat_mat(1.0, skew, relative, left);
  mat_skew(1.0, e, other);
  add_product(m, f->col + 3, o->col + 3, 1.0, left, other);
}

/// F_Q of a spring: the force -s k l on P_f with l = P_a - P_b, which moves with both points.
/// By the motion of P_o, with sign s_o in l: -s k (I; p~ R^T) s_o (I, -R_o p_o~).
static void add_spring_f_q(const frame *f, const double *p, double s, const frame *o,
                           const double *po, double so, double k, as_matrix *m) {
  double skew[9], other[9], left[9], right[9], Rt[9];
  if (f->col < 0 || o->col < 0) return;
  const double factor = -s * so * k;
  for (int i = 0; i < 9; ++i) Rt[i] = f->R[3 * (i % 3) + i / 3];
  mat_skew(1.0, p, skew);
  mat_skew(1.0, po, other);
  mat_mat(1.0, skew, Rt, left);
  mat_mat(-1.0, o->R, other, right);
  const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int i = 0; i < 3; ++i) as_matrix_add(m, f->col + i, o->col + i, factor);
  add_product(m, f->col, o->col + 3, factor, identity, right);
  add_product(m, f->col + 3, o->col, factor, left, identity);
  add_product(m, f->col + 3, o->col + 3, factor, left, right);
}

static void joint_blocks(const mechanism_joint *j, const as_point *at, int row, as_block_set wanted,
                         as_matrix *blocks) {
  const frame a = frame_of(at, j->a), b = frame_of(at, j->b);
  as_matrix *g_q = wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q) ? &blocks[AS_BLOCK_G_Q] : NULL;
  as_matrix *gdot_q = wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q) ? &blocks[AS_BLOCK_GDOT_Q] : NULL;
  as_matrix *f_q = wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q) ? &blocks[AS_BLOCK_F_Q] : NULL;
  if (g_q != NULL) {
    add_point_g_q(&a, j->pa, 1.0, row, g_q);
    add_point_g_q(&b, j->pb, -1.0, row, g_q);
  }
  if (gdot_q != NULL) {
    add_point_gdot_q(&a, j->pa, 1.0, row, gdot_q);
    add_point_gdot_q(&b, j->pb, -1.0, row, gdot_q);
  }
  if (f_q != NULL) {
    add_point_f_q(&a, j->pa, -1.0, at->lambda + row, f_q);
    add_point_f_q(&b, j->pb, 1.0, at->lambda + row, f_q);
  }
  for (int r = 0; r < 2 && j->revolute; ++r) {
    const direction n = direction_of(&a, j->axis), e = direction_of(&b, j->across[r]);
    add_cosine_rows(&a, j->axis, &e, row + 3 + r, g_q, gdot_q);
    add_cosine_rows(&b, j->across[r], &n, row + 3 + r, g_q, gdot_q);
    if (f_q == NULL) continue;
    add_cosine_f_q(&a, j->axis, &b, j->across[r], at->lambda[row + 3 + r], f_q);
    add_cosine_f_q(&b, j->across[r], &a, j->axis, at->lambda[row + 3 + r], f_q);
  }
}

static void spring_blocks(const mechanism_spring *s, const as_point *at, as_matrix *f_q) {
  const frame a = frame_of(at, s->a), b = frame_of(at, s->b);
  const direction d = difference(&a, s->pa, &b, s->pb);
  add_point_f_q(&a, s->pa, -s->k, d.now, f_q);
  add_point_f_q(&b, s->pb, s->k, d.now, f_q);
  add_spring_f_q(&a, s->pa, 1.0, &a, s->pa, 1.0, s->k, f_q);
  add_spring_f_q(&a, s->pa, 1.0, &b, s->pb, -1.0, s->k, f_q);
  add_spring_f_q(&b, s->pb, -1.0, &a, s->pa, 1.0, s->k, f_q);
  add_spring_f_q(&b, s->pb, -1.0, &b, s->pb, -1.0, s->k, f_q);
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const mechanism *c = user;
  for (int i = 0; i < c->n_joints; ++i)
    joint_blocks(&c->joint[i], at, c->first_row[i], wanted, blocks);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q))
    for (int i = 0; i < c->n_springs; ++i) spring_blocks(&c->spring[i], at, &blocks[AS_BLOCK_F_Q]);
  for (int i = 0; i < c->n_bodies && (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)); ++i) {
    double tangent[9];
    gyroscopic_tangent(c->body[i].J, at->v + 6 * i + 3, tangent);
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 6 * i + 3, 6 * i + 3, 3, 3, tangent);
  }
  return AS_DONE;
}

// ---- description --------------------------------------------------------------------------------

static double energy(const test_problem *p, const double *q, const double *v) {
  const mechanism *c = p->def.user;
  const as_point at = {.q = q, .v = v};
  double sum = 0.0;
  for (int i = 0; i < c->n_bodies; ++i) {
    const double *vi = v + 6 * i;
    double momentum[3];
    mat_vec(c->body[i].J, vi + 3, momentum);
    sum += 0.5 * c->body[i].m * vec_dot(vi, vi) + 0.5 * vec_dot(vi + 3, momentum);
    sum -= c->body[i].m * vec_dot(c->gravity, q + 7 * i);
  }
  for (int i = 0; i < c->n_springs; ++i) {
    const mechanism_spring *s = &c->spring[i];
    const frame a = frame_of(&at, s->a), b = frame_of(&at, s->b);
    const direction d = difference(&a, s->pa, &b, s->pb);
    sum += 0.5 * s->k * vec_dot(d.now, d.now);
  }
  return sum;
}

test_problem *mechanism_new(const char *name, int n_bodies, int n_joints, int n_springs) {
  test_problem *p = loops_new(name);
  mechanism *c = loops_take(p, 1, sizeof *c);
  *c = (mechanism){.n_bodies = n_bodies, .n_joints = n_joints, .n_springs = n_springs};
  c->body = loops_take(p, (size_t)n_bodies, sizeof *c->body);
  c->joint = loops_take(p, (size_t)n_joints, sizeof *c->joint);
  c->spring = loops_take(p, (size_t)n_springs, sizeof *c->spring);
  c->first_row = loops_take(p, (size_t)n_joints + 1, sizeof *c->first_row);
  p->def.user = c;
  return p;
}

/// A spring's places in F_Q between two of its bodies.
static void add_spring_places(place_list *F_Q, int a, int b) {
  if (a < 0 || b < 0) return;
  for (int k = 0; k < 3; ++k) places_add(F_Q, 6 * a + k, 6 * b + k, 1, 1);
  places_add(F_Q, 6 * a, 6 * b + 3, 3, 3);
  places_add(F_Q, 6 * a + 3, 6 * b, 3, 6);
}

static void give_patterns(test_problem *p) {
  const mechanism *c = p->def.user;
  const int n = 6 * c->n_bodies;
  place_list M = {0}, F_Q = {0}, F_V = {0}, G_Q = {0}, GDOT_Q = {0};
  for (int i = 0; i < c->n_bodies; ++i) {
    for (int k = 0; k < 3; ++k) places_add(&M, 6 * i + k, 6 * i + k, 1, 1);
    places_add(&M, 6 * i + 3, 6 * i + 3, 3, 3);
    places_add(&F_V, 6 * i + 3, 6 * i + 3, 3, 3);
  }
  for (int i = 0; i < c->n_joints; ++i) {
    const int row = c->first_row[i], rows = c->first_row[i + 1] - row;
    const int body[2] = {c->joint[i].a, c->joint[i].b};
    for (int s = 0; s < 2; ++s) {
      if (body[s] < 0) continue;
      for (int k = 0; k < 3; ++k) places_add(&G_Q, row + k, 6 * body[s] + k, 1, 1);
      places_add(&G_Q, row, 6 * body[s] + 3, rows, 3);
      places_add(&GDOT_Q, row, 6 * body[s] + 3, rows, 3);
      places_add(&F_Q, 6 * body[s] + 3, 6 * body[s] + 3, 3, 3);
      if (c->joint[i].revolute && body[1 - s] >= 0)
        places_add(&F_Q, 6 * body[s] + 3, 6 * body[1 - s] + 3, 3, 3);
    }
  }
  for (int i = 0; i < c->n_springs; ++i) {
    const int body[2] = {c->spring[i].a, c->spring[i].b};
    for (int s = 0; s < 4; ++s) add_spring_places(&F_Q, body[s / 2], body[s % 2]);
  }
  places_give(&M, p, AS_BLOCK_M, n);
  places_give(&F_Q, p, AS_BLOCK_F_Q, n);
  places_give(&F_V, p, AS_BLOCK_F_V, n);
  places_give(&G_Q, p, AS_BLOCK_G_Q, n);
  places_give(&GDOT_Q, p, AS_BLOCK_GDOT_Q, n);
}

void mechanism_define(test_problem *p) {
  mechanism *c = p->def.user;
  as_space_part *part = loops_take(p, 1, sizeof *part);
  *part = (as_space_part){AS_SPACE_R3SO3, c->n_bodies};
  for (int i = 0; i < c->n_joints; ++i)
    c->first_row[i + 1] = c->first_row[i] + (c->joint[i].revolute ? 5 : 3);
  as_problem_def *def = &p->def;
  def->cookie = as_default_problem_def().cookie;
  def->parts = part;
  def->n_parts = 1;
  def->n_lambda = c->first_row[c->n_joints];
  int *joint = loops_take(p, (size_t)def->n_lambda, sizeof *joint);
  for (int i = 0; i < c->n_joints; ++i)
    for (int r = c->first_row[i]; r < c->first_row[i + 1]; ++r) joint[r] = i;
  def->joint = joint;
  def->mass_constant = true;
  def->scleronomic = true;
  def->mass = mass;
  def->force = force;
  def->constraint = constraint;
  def->constraint_rate = constraint_rate;
  def->constraint_acceleration = constraint_acceleration;
  def->jacobian = jacobian;
  def->time_scale = 1.0;
  give_patterns(p);
  p->energy = energy;
}
