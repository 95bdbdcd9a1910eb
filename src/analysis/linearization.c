/// The linear system about a state, [LI.1] to [LI.7].
///
/// A borrowed integrator starts at the state: it brings q and v onto the constraints and finds v', lambda, psi, x' and y. Around that
/// the increments xi of q, dv of v and dx of x obey
///
///     [LI.1] xi' = dv - [v, xi]
///     [LI.2] M dv' = (f_q - (M v')_q) xi + f_v dv + f_lambda dlambda + f_psi dpsi + f_x dx + f_y dy,   dx' = ...,   dy = ...
///     [LI.3] C dv' = -(c_q' xi + c_q xi' + C' dv),     C = [B; k_v],  c_q = [D_q (g_t + B v); k_q],  ' along the motion
///     [LI.4] B xi = 0,   C dv = -c_q xi: some components are free, the others follow
///
/// Each free component, and each input, gives a column: the rest follows by [LI.4], then [LI.2] and [LI.3] are solved for dv',
/// dlambda, dpsi and dy.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"
#include "lie/rotation.h"
#include "lie/space.h"

// Derivatives along the motion: differences of four points, this many times asi_time_increment() apart.
#define ALONG 1.0
// How far the motion goes on to see whether A changes: this many times asi_time_increment().
#define ONWARD 0.3
// Beyond this relative change A counts as one of a moment.
#define UNSTEADY 1e-4
// Rotations are rather free than positions, spinning bodies rather dependent: weights of components.
#define POSITION_WEIGHT 4.0
#define SPIN_WEIGHT 16.0
// Components of v that follow in positions should follow in velocities, too.
#define FOLLOWS_WEIGHT 100.0
// Entries of A below this many times their round-off are zero.
#define NOISE 4.0
// Rows that others imply here, but not close by.
#define SINGULAR_LIMIT 1e-6

/// Three components that turn with the axes: seen = r x, and seen' has w x seen in it.
typedef struct triple {
  int at;
  double r[9];
  double w[3];
} triple;

/// Dense matrices of all constraint rows, by columns.
typedef struct rows_at {
  double *c;       ///< rows x n: [B; k_v]
  double *c_q;     ///< rows x n
  double *c_dot;   ///< its derivatives along the motion
  double *c_q_dot; ///< likewise
} rows_at;

typedef struct asi_linear asi_linear;
struct asi_linear {
  as_linearization out; ///< first
  as_integrator *s;
  int n, rows, nx, ny, height, columns;
  as_linear_state *state;
  double *a, *b;
  double
      *full; ///< height x columns: xi, dv, dv', dlambda, dpsi, dx, dx', dy of each state and input
  double *input; ///< (n + nx + ny) x n_inputs: what they add to f, phi and chi
  int *signal;   ///< n_inputs: held signal, or -1
  double *moves; ///< n_lambda x n_inputs: what they add to g
  bool *driving; ///< n_inputs: whether they do
  int n_driving;
  triple *turned;
  int n_turned;
  double turned_by[4]; ///< S of [LI.6], a quaternion: 1, but for a look at a later time
  asi_tangent position, velocity;
  asi_values moved; ///< of as_linearization_moved()
  double *moved_u;
  as_state moved_state;
  double *arena;
};

as_linearization_def as_default_linearization_def(void) {
  return (as_linearization_def){.axes = AS_AXES_AUTOMATIC, .limit = 1500};
}

void as_problem_describe(const as_problem *problem, as_quantity quantity, int index, char *text,
                         size_t size) {
  asi_component_name(problem, quantity, index, text, size);
}

int asi_most_accelerated(const as_problem *p, const double *vdot, const double *xdot,
                         double *most) {
  int which = -1;
  double worst = 0.0;
  *most = 0.0;
  for (int i = 0; i < p->n; ++i)
    if (fabs(vdot[i]) / p->typical[i] > worst) {
      worst = fabs(vdot[i]) / p->typical[i];
      *most = fabs(vdot[i]);
      which = i;
    }
  for (int i = 0; i < p->def.n_x; ++i)
    if (fabs(xdot[i]) > worst) {
      worst = *most = fabs(xdot[i]);
      which = p->n + i;
    }
  return which;
}

static as_point point_of(const as_integrator *s) {
  const asi_values *at = &s->stepper.now;
  return (as_point){.t = s->stepper.t,
                    .q = at->q,
                    .v = at->v,
                    .vdot = at->vdot,
                    .lambda = at->lambda,
                    .psi = at->psi,
                    .x = at->x,
                    .y = at->y};
}

// ---- axes -----------------------------------------------------------------------------------------

/// [LI.6] seen = S^T R x for body axes, S^T x for world axes; S = 1 now and turns with w.
static void add_triple(asi_linear *l, int at, const double *quaternion, const double *omega) {
  triple *t = &l->turned[l->n_turned++];
  double back[4], all[4], world[3] = {0.0, 0.0, 0.0};
  asi_so3_inverse(l->turned_by, back);
  memcpy(all, back, sizeof all);
  if (quaternion) asi_so3_compose(back, quaternion, all);
  if (quaternion) asi_so3_rotate(quaternion, omega, world);
  for (int i = 0; i < 3; ++i) world[i] -= l->out.turning[i];
  t->at = at;
  asi_so3_matrix(all, t->r);
  asi_so3_rotate(back, world, t->w);
}

static void find_triples(asi_linear *l) {
  const as_space *space = l->s->kin.problem->space;
  const double *q = l->s->stepper.now.q, *v = l->s->stepper.now.v;
  l->n_turned = 0;
  if (l->out.axes != AS_AXES_TURNING) return;
  int at = 0, at_q = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    if (kind == AS_SPACE_RN) {
      at += space->parts[part].count;
      at_q += space->parts[part].count;
      continue;
    }
    for (int i = 0; i < space->parts[part].count; ++i) {
      const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
      const double *quaternion = q + at_q + ahead, *omega = v + at + ahead;
      if (kind == AS_SPACE_R3SO3) add_triple(l, at, NULL, NULL);
      if (kind == AS_SPACE_SE3) add_triple(l, at, quaternion, omega);
      add_triple(l, at + ahead, quaternion, omega);
      at += ahead + 3;
      at_q += ahead + 4;
    }
  }
}

static void to_axes(const asi_linear *l, double *x) {
  for (int k = 0; k < l->n_turned; ++k) {
    const triple *t = &l->turned[k];
    double *y = x + t->at;
    const double z[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i)
      y[i] = t->r[3 * i] * z[0] + t->r[3 * i + 1] * z[1] + t->r[3 * i + 2] * z[2];
  }
}

static void from_axes(const asi_linear *l, double *x) {
  for (int k = 0; k < l->n_turned; ++k) {
    const triple *t = &l->turned[k];
    double *y = x + t->at;
    const double z[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i) y[i] = t->r[i] * z[0] + t->r[3 + i] * z[1] + t->r[6 + i] * z[2];
  }
}

/// rate += w x seen
static void add_turning(const asi_linear *l, const double *seen, double *rate) {
  for (int k = 0; k < l->n_turned; ++k) {
    double product[3];
    asi_cross3(l->turned[k].w, seen + l->turned[k].at, product);
    for (int i = 0; i < 3; ++i) rate[l->turned[k].at + i] += product[i];
  }
}

// ---- constraint rows ------------------------------------------------------------------------------

static void add_dense(const as_matrix *m, double factor, double *out, int rows, int first) {
  for (int j = 0; m->value && j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      out[(size_t)j * (size_t)rows + (size_t)(first + m->row[k])] += factor * m->value[k];
}

static const as_block_set row_blocks =
    1u << AS_BLOCK_G_Q | 1u << AS_BLOCK_GDOT_Q | 1u << AS_BLOCK_K_Q | 1u << AS_BLOCK_K_V;

static void add_rows(const asi_linear *l, double factor, double *c, double *c_q) {
  const as_matrix *block = l->s->kin.block;
  const int psi = l->s->kin.problem->def.n_lambda;
  if (c) add_dense(&block[AS_BLOCK_G_Q], factor, c, l->rows, 0);
  if (c) add_dense(&block[AS_BLOCK_K_V], factor, c, l->rows, psi);
  add_dense(&block[AS_BLOCK_GDOT_Q], factor, c_q, l->rows, 0);
  add_dense(&block[AS_BLOCK_K_Q], factor, c_q, l->rows, psi);
}

static bool is_zero(const double *x, int n) {
  for (int i = 0; i < n; ++i)
    if (x[i] != 0.0) return false;
  return true;
}

/// [LI.3] The rows' derivatives along the motion, over q o exp(e v + e^2 v' / 2), v + e v', t + e.
static as_status differentiate_rows(asi_linear *l, rows_at *r) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double place[] = {2.0, -2.0, 1.0, -1.0};
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const double *v = s->stepper.now.v, *vdot = s->stepper.now.vdot;
  if (p->def.scleronomic && is_zero(v, l->n) && is_zero(vdot, l->n)) return AS_OK;
  const double e = ALONG * asi_time_increment(&s->kin.eval, v);
  as_point point = point_of(s);
  point.q = l->moved.q;
  point.v = l->moved.v;
  for (int k = 0; k < 4; ++k) {
    const double h = place[k] * e;
    for (int i = 0; i < l->n; ++i) l->moved.a[i] = h * v[i] + 0.5 * h * h * vdot[i];
    as_space_move(p->space, s->stepper.now.q, l->moved.a, l->moved.q);
    for (int i = 0; i < l->n; ++i) l->moved.v[i] = v[i] + h * vdot[i];
    point.t = s->stepper.t + h;
    const as_status status = asi_blocks(&s->kin, &point, row_blocks);
    if (status) return status;
    add_rows(l, weight[k] / e, r->c_dot, r->c_q_dot);
  }
  return AS_OK;
}

/// What components weigh where some are chosen to follow.
static void weigh(const asi_linear *l, double *weight) {
  const as_problem *p = l->s->kin.problem;
  const as_space *space = p->space;
  for (int i = 0; i < l->n; ++i) weight[i] = p->typical[i];
  int at = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
    for (int i = 0; i < space->parts[part].count; ++i) {
      if (kind == AS_SPACE_RN) {
        ++at;
        continue;
      }
      const bool spins = !is_zero(l->s->stepper.now.v + at + ahead, 3);
      for (int k = 0; k < ahead; ++k) weight[at + k] *= POSITION_WEIGHT;
      for (int k = ahead; k < ahead + 3; ++k) weight[at + k] *= spins ? SPIN_WEIGHT : 1.0;
      at += ahead + 3;
    }
  }
}

/// Rows by columns in the axes that are wanted: c T^T, row by row.
static void rows_in_axes(const asi_linear *l, const double *c, double *out) {
  memcpy(out, c, (size_t)l->rows * (size_t)l->n * sizeof *out);
  for (int i = 0; l->n_turned > 0 && i < l->rows; ++i) {
    double *row = l->moved.a;
    for (int j = 0; j < l->n; ++j) row[j] = c[(size_t)j * (size_t)l->rows + (size_t)i];
    to_axes(l, row);
    for (int j = 0; j < l->n; ++j) out[(size_t)j * (size_t)l->rows + (size_t)i] = row[j];
  }
}

/// The tangent spaces of positions and velocities, chosen anew or as `like` has chosen.
static as_status find_tangents(asi_linear *l, const double *c, const asi_linear *like) {
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const size_t size = (size_t)l->rows * (size_t)l->n;
  const int m = p->def.n_lambda;
  double *seen = asi_calloc(size + 1, sizeof *seen), *upper = asi_calloc(size + 1, sizeof *upper);
  double *weight = asi_calloc((size_t)l->n + 1, sizeof *weight);
  as_status status = seen && upper && weight ? AS_OK : asi_fail_memory(s->kin.eval.error);
  if (status == AS_OK) {
    rows_in_axes(l, c, seen);
    for (int j = 0; j < l->n; ++j)
      memcpy(upper + (size_t)j * (size_t)m, seen + (size_t)j * (size_t)l->rows,
             (size_t)m * sizeof *upper);
  }
  if (status == AS_OK && like) {
    if (asi_tangent_copy(&l->position, &like->position) ||
        asi_tangent_copy(&l->velocity, &like->velocity))
      status = asi_fail_memory(s->kin.eval.error);
    if (status == AS_OK) status = asi_tangent_update(&l->position, upper, m);
    if (status == AS_OK) status = asi_tangent_update(&l->velocity, seen, l->rows);
  } else if (status == AS_OK) {
    const int rank = l->rows - s->kin.eval.n_inactive - s->kin.redundancy.n_redundant;
    const double limit = fmax(s->kin.redundancy.limit, ASI_REDUNDANT);
    weigh(l, weight);
    status = asi_tangent_init(&l->position, upper, m, l->n, weight, limit,
                              p->def.n_psi == 0 && m > 0 ? rank : -1, s->kin.eval.error);
    for (int k = 0; status == AS_OK && k < l->position.rank; ++k)
      weight[l->position.order[k]] *= FOLLOWS_WEIGHT;
    if (status == AS_OK)
      status = asi_tangent_init(&l->velocity, seen, l->rows, l->n, weight, limit,
                                l->rows > 0 ? rank : -1, s->kin.eval.error);
  }
  free(seen);
  free(upper);
  free(weight);
  return status;
}

// ---- singular positions -----------------------------------------------------------------------------

static double tangent_entry(const double *c, int rows, int row, int component) {
  return c[(size_t)component * (size_t)rows + (size_t)row];
}

/// [LI.5] A row that the kept ones imply, C_r = s^T C, must do so close by: s^T D_q (C w) z = D_q (C_r w) z for tangent w and z.
static as_status check_implied(asi_linear *l, const double *c, double *bend, double *factor,
                               double *z) {
  as_integrator *s = l->s;
  const asi_tangent *t = &l->velocity;
  const int r = t->rank;
  const int one = 1;
  int info = 0;
  for (int row = 0; row < l->rows; ++row) {
    bool kept = s->kin.eval.inactive[row];
    for (int k = 0; k < r; ++k) kept = kept || t->row[k] == row;
    if (kept) continue;
    double *seen = l->moved.a, *share = factor;
    for (int j = 0; j < l->n; ++j) seen[j] = tangent_entry(c, l->rows, row, j);
    to_axes(l, seen);
    for (int k = 0; k < r; ++k) share[k] = seen[t->order[k]];
    if (r > 0) dgetrs_("T", &r, &one, t->factor, &r, t->pivot, share, &r, &info, 1);
    for (int column = 0; column < 2; ++column) { // two tangent directions that differ everywhere
      double sum = 0.0, size = 0.0;
      for (int j = 0; j < l->n; ++j) z[j] = 0.0;
      for (int j = r; j < l->n; ++j)
        z[t->order[j]] = s->kin.problem->typical[t->order[j]] * cos(1.7 * j + column);
      asi_tangent_complete(t, NULL, z, l->moved.v);
      from_axes(l, z);
      for (int j = 0; j < l->n; ++j) // what the row itself makes of typical sizes
        size += fabs(tangent_entry(c, l->rows, row, j)) * s->kin.problem->typical[j];
      for (int k = -1; k < r; ++k) {
        const int at = k < 0 ? row : t->row[k];
        const double factor_k = k < 0 ? -1.0 : share[k];
        for (int j = 0; j < l->n; ++j) {
          const double product = factor_k * tangent_entry(bend, l->rows, at, j) * z[j];
          sum += product;
          size += fabs(product);
        }
      }
      if (fabs(sum) <= SINGULAR_LIMIT * size) continue;
      char name[64];
      const int m = s->kin.problem->def.n_lambda;
      asi_component_name(s->kin.problem, row < m ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                         row < m ? row : row - m, name, sizeof name);
      return asi_fail(s->kin.eval.error, AS_ERR_SINGULAR, s->stepper.t, name,
                      "The position at t = %.9g s is singular: here %s is implied by other "
                      "constraints, but not close by, so there is no linear motion about it.",
                      s->stepper.t, name);
    }
  }
  return AS_OK;
}

/// Looks at rows that are implied: D_q (C w) for one tangent w.
static as_status check_singular(asi_linear *l, const double *c) {
  as_integrator *s = l->s;
  const asi_tangent *t = &l->velocity;
  if (t->rank + s->kin.eval.n_inactive >= l->rows || t->rank == l->n) return AS_OK;
  const size_t n = (size_t)l->n, rows = (size_t)l->rows;
  double *bend = asi_calloc(rows * n, sizeof *bend), *factor = asi_calloc(rows + n, sizeof *factor);
  double *z = asi_calloc(n, sizeof *z);
  as_status status = bend && factor && z ? AS_OK : asi_fail_memory(s->kin.eval.error);
  as_point point = point_of(s);
  for (int k = 0; k < 2 && status == AS_OK; ++k) {
    double *w = factor; // scratch here
    memset(w, 0, n * sizeof *w);
    for (int j = t->rank; j < l->n && k == 0; ++j)
      w[t->order[j]] = s->kin.problem->typical[t->order[j]] * sin(2.3 * j + 1.0);
    if (k == 0) asi_tangent_complete(t, NULL, w, l->moved.v);
    if (k == 0) from_axes(l, w);
    point.v = w;
    status = asi_blocks(&s->kin, &point, row_blocks);
    if (status == AS_OK) add_rows(l, k == 0 ? 1.0 : -1.0, NULL, bend);
  }
  if (status == AS_OK) status = check_implied(l, c, bend, factor, z);
  free(bend);
  free(factor);
  free(z);
  return status;
}

// ---- inputs ---------------------------------------------------------------------------------------

/// What one unit of a held signal adds to f, phi and chi, by differences. It may not move constraints.
static as_status differentiate_signal(asi_linear *l, int signal, double *out) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double place[] = {2.0, -2.0, 1.0, -1.0};
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const int n = l->n, m = p->def.n_lambda;
  const as_point point = point_of(s);
  const double was = s->kin.eval.u[signal], e = 1e-3 * fmax(1.0, fabs(was));
  double *f = l->moved.a, *g = asi_calloc(3 * (size_t)l->rows + 1, sizeof *g);
  double *moved = asi_calloc(3 * (size_t)l->rows + 1, sizeof *moved);
  as_status status = g && moved ? AS_OK : asi_fail_memory(s->kin.eval.error);
  for (int k = 0; k < 4 && status == AS_OK; ++k) {
    double *value[ASI_FUNCTIONS] = {0};
    value[ASI_FN_F] = f;
    if (m > 0) value[ASI_FN_G] = g;
    if (m > 0) value[ASI_FN_GDOT] = g + m;
    if (p->def.n_psi > 0) value[ASI_FN_K] = g + 2 * (size_t)m;
    if (l->nx > 0) value[ASI_FN_PHI] = l->moved.xdot;
    if (l->ny > 0) value[ASI_FN_CHI] = l->moved.y;
    s->kin.eval.u[signal] = was + place[k] * e;
    status = asi_functions(&s->kin, &point, value, 0);
    for (int i = 0; i < n && status == AS_OK; ++i) out[i] += weight[k] / e * f[i];
    for (int i = 0; i < l->nx && status == AS_OK; ++i)
      out[n + i] += weight[k] / e * l->moved.xdot[i];
    for (int i = 0; i < l->ny && status == AS_OK; ++i)
      out[n + l->nx + i] += weight[k] / e * l->moved.y[i];
    for (int i = 0; i < 2 * m + p->def.n_psi; ++i) moved[i] += place[k] > 0 ? g[i] : -g[i];
  }
  s->kin.eval.u[signal] = was;
  if (status == AS_OK && !is_zero(moved, 2 * m + p->def.n_psi))
    status = asi_fail(s->kin.eval.error, AS_ERR_UNSUPPORTED, s->stepper.t, NULL,
                      "Held signal %d moves a constraint: only what forces, states and outputs "
                      "depend on can be an input.",
                      signal);
  free(g);
  free(moved);
  return status;
}

static as_status find_inputs(asi_linear *l, const as_linearization_def *def) {
  const size_t height = (size_t)(l->n + l->nx + l->ny);
  for (int k = 0; k < l->out.n_inputs; ++k) {
    const as_linear_input *input = &def->inputs[k];
    double *column = l->input + (size_t)k * height;
    l->signal[k] = input->signal;
    double *moves = l->moves + (size_t)k * (size_t)l->s->kin.problem->def.n_lambda;
    for (int i = 0; input->moves && i < l->s->kin.problem->def.n_lambda; ++i)
      moves[i] = input->moves[i];
    l->driving[k] = input->moves != NULL;
    l->n_driving += l->driving[k];
    for (int i = 0; input->force && i < l->n; ++i) column[i] += input->force[i];
    for (int i = 0; input->rate && i < l->nx; ++i) column[l->n + i] += input->rate[i];
    for (int i = 0; input->output && i < l->ny; ++i) column[l->n + l->nx + i] += input->output[i];
    if (input->signal < 0) continue;
    if (input->signal >= l->s->kin.problem->def.n_u)
      return asi_fail(l->s->kin.eval.error, AS_ERR_ARGUMENT, l->s->stepper.t, NULL,
                      "There is no held signal %d: the problem has %d.", input->signal,
                      l->s->kin.problem->def.n_u);
    const as_status status = differentiate_signal(l, input->signal, column);
    if (status) return status;
  }
  return AS_OK;
}

// ---- columns --------------------------------------------------------------------------------------

/// Where the parts of a column begin.
typedef struct column {
  double *xi, *dv, *dvdot, *multiplier, *dx, *dxdot, *dy;
} column;

static column column_of(const asi_linear *l, int j) {
  double *at = l->full + (size_t)j * (size_t)l->height;
  return (column){.xi = at,
                  .dv = at + l->n,
                  .dvdot = at + 2 * l->n,
                  .multiplier = at + 3 * l->n,
                  .dx = at + 3 * l->n + l->rows,
                  .dxdot = at + 3 * l->n + l->rows + l->nx,
                  .dy = at + 3 * l->n + l->rows + 2 * l->nx};
}

static void multiply_dense(const double *c, int rows, int cols, double factor, const double *x,
                           double *out) {
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows && x[j] != 0.0; ++i)
      out[i] += factor * c[(size_t)j * (size_t)rows + (size_t)i] * x[j];
}

static void multiply(const asi_linear *l, as_block block, double factor, const double *x,
                     double *out) {
  const as_matrix *m = &l->s->kin.block[block];
  if (m->value && m->cols > 0) asi_matrix_multiply_add(m, factor, x, out);
}

/// [LI.4] xi, dv and dx of a state.
static void complete(const asi_linear *l, const rows_at *r, int j, double *work) {
  const column to = column_of(l, j);
  const as_linear_state state = l->state[j];
  const int m = l->s->kin.problem->def.n_lambda;
  double *rate = work + l->rows;
  if (state.kind == AS_LINEAR_STATE) {
    to.dx[state.index] = 1.0;
    return;
  }
  memset(rate, 0, (size_t)l->rows * sizeof *rate);
  if (state.kind == AS_LINEAR_INPUT || state.kind == AS_LINEAR_RATE)
    for (int i = 0; i < m; ++i) rate[i] = -l->moves[(size_t)state.index * (size_t)m + (size_t)i];
  if (state.kind == AS_LINEAR_POSITION) to.xi[state.index] = 1.0;
  if (state.kind == AS_LINEAR_VELOCITY) to.dv[state.index] = 1.0;
  if (state.kind == AS_LINEAR_POSITION || state.kind == AS_LINEAR_INPUT) {
    asi_tangent_complete(&l->position, rate, to.xi, work);
    from_axes(l, to.xi);
    memset(rate, 0, (size_t)l->rows * sizeof *rate);
  }
  multiply_dense(r->c_q, l->rows, l->n, -1.0, to.xi, rate);
  asi_tangent_complete(&l->velocity, rate, to.dv, work);
  from_axes(l, to.dv);
}

/// [LI.1]
static void position_rate(const asi_linear *l, const column *of, double *out) {
  as_space_bracket(l->s->kin.problem->space, l->s->stepper.now.v, of->xi, out);
  for (int i = 0; i < l->n; ++i) out[i] = of->dv[i] - out[i];
}

/// Right sides of [LI.2] and [LI.3] for dv', multipliers of the rows kept, dy.
static void right_side(const asi_linear *l, const rows_at *r, int j, double *out, double *work) {
  const column of = column_of(l, j);
  const int n = l->n, rank = l->velocity.rank;
  double *rate = work, *rows = work + n, *y = out + n + rank;
  multiply(l, AS_BLOCK_F_Q, 1.0, of.xi, out);
  multiply(l, AS_BLOCK_MA_Q, -1.0, of.xi, out);
  multiply(l, AS_BLOCK_F_V, 1.0, of.dv, out);
  multiply(l, AS_BLOCK_F_X, 1.0, of.dx, out);
  multiply(l, AS_BLOCK_CHI_Q, 1.0, of.xi, y);
  multiply(l, AS_BLOCK_CHI_V, 1.0, of.dv, y);
  multiply(l, AS_BLOCK_CHI_X, 1.0, of.dx, y);
  position_rate(l, &of, rate);
  memset(rows, 0, (size_t)l->rows * sizeof *rows);
  multiply_dense(r->c_q_dot, l->rows, n, -1.0, of.xi, rows);
  multiply_dense(r->c_q, l->rows, n, -1.0, rate, rows);
  multiply_dense(r->c_dot, l->rows, n, -1.0, of.dv, rows);
  const int input = j - l->out.n_states, m = l->s->kin.problem->def.n_lambda;
  for (int i = 0; i < m && input >= 0; ++i)
    rows[i] -= l->moves[(size_t)input * (size_t)m + (size_t)i];
  for (int k = 0; k < rank; ++k) out[n + k] = rows[l->velocity.row[k]];
  if (input < 0) return;
  const double *from = l->input + (size_t)input * (size_t)(n + l->nx + l->ny);
  for (int i = 0; i < n; ++i) out[i] += from[i];
  for (int i = 0; i < l->ny; ++i) y[i] += from[n + l->nx + i];
}

/// The matrix of [LI.2] and [LI.3].
static void fill_matrix(const asi_linear *l, const rows_at *r, double *k, int size) {
  const as_problem *p = l->s->kin.problem;
  const as_matrix *block = l->s->kin.block;
  const int n = l->n, rank = l->velocity.rank, m = p->def.n_lambda, y = n + rank;
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  const size_t high = (size_t)size;
  add_dense(&block[AS_BLOCK_M], 1.0, k, size, 0);
  for (int i = 0; i < rank; ++i) {
    const int row = l->velocity.row[i];
    const as_matrix *by = &block[row < m ? AS_BLOCK_F_LAMBDA : AS_BLOCK_F_PSI];
    const int at = row < m ? row : row - m;
    for (int j = 0; j < n; ++j) {
      const double x = tangent_entry(r->c, l->rows, row, j);
      k[(size_t)j * high + (size_t)(n + i)] = x;
      if (additive) k[(size_t)(n + i) * high + (size_t)j] = x;
    }
    for (int e = additive || !by->value ? 0 : by->col_start[at];
         !additive && by->value && e < by->col_start[at + 1]; ++e)
      k[(size_t)(n + i) * high + (size_t)by->row[e]] -= by->value[e];
    const as_matrix *chi = &block[row < m ? AS_BLOCK_CHI_LAMBDA : AS_BLOCK_CHI_PSI];
    for (int e = chi->value ? chi->col_start[at] : 0; chi->value && e < chi->col_start[at + 1]; ++e)
      k[(size_t)(n + i) * high + (size_t)(y + chi->row[e])] -= chi->value[e];
  }
  if (l->ny == 0) return;
  add_dense(&block[AS_BLOCK_F_Y], -1.0, k + (size_t)y * high, size, 0);
  add_dense(&block[AS_BLOCK_CHI_VDOT], -1.0, k, size, y);
  add_dense(&block[AS_BLOCK_CHI_Y], -1.0, k + (size_t)y * high, size, y);
  for (int i = 0; i < l->ny; ++i) k[(size_t)(y + i) * high + (size_t)(y + i)] += 1.0;
}

static void state_rate(const asi_linear *l, int j) {
  const column of = column_of(l, j);
  const int m = l->s->kin.problem->def.n_lambda;
  multiply(l, AS_BLOCK_PHI_Q, 1.0, of.xi, of.dxdot);
  multiply(l, AS_BLOCK_PHI_V, 1.0, of.dv, of.dxdot);
  multiply(l, AS_BLOCK_PHI_VDOT, 1.0, of.dvdot, of.dxdot);
  multiply(l, AS_BLOCK_PHI_LAMBDA, 1.0, of.multiplier, of.dxdot);
  multiply(l, AS_BLOCK_PHI_PSI, 1.0, of.multiplier + m, of.dxdot);
  multiply(l, AS_BLOCK_PHI_X, 1.0, of.dx, of.dxdot);
  multiply(l, AS_BLOCK_PHI_Y, 1.0, of.dy, of.dxdot);
  const int input = j - l->out.n_states;
  if (input < 0) return;
  const double *from = l->input + (size_t)input * (size_t)(l->n + l->nx + l->ny) + l->n;
  for (int i = 0; i < l->nx; ++i) of.dxdot[i] += from[i];
}

/// [LI.6] The rates of the states that a column makes.
static void read_rates(const asi_linear *l, int j, double *out, double *work) {
  const column of = column_of(l, j);
  double *rate = work, *acceleration = work + l->n, *seen = work + 2 * l->n;
  position_rate(l, &of, rate);
  memcpy(acceleration, of.dvdot, (size_t)l->n * sizeof *acceleration);
  to_axes(l, rate);
  to_axes(l, acceleration);
  memcpy(seen, of.xi, (size_t)l->n * sizeof *seen);
  to_axes(l, seen);
  add_turning(l, seen, rate);
  memcpy(seen, of.dv, (size_t)l->n * sizeof *seen);
  to_axes(l, seen);
  add_turning(l, seen, acceleration);
  const int input = j - l->out.n_states;
  for (int i = 0; i < l->out.n_states; ++i) {
    const as_linear_state state = l->state[i];
    switch (state.kind) {
    case AS_LINEAR_POSITION: out[i] = rate[state.index]; break;
    case AS_LINEAR_VELOCITY: out[i] = acceleration[state.index]; break;
    case AS_LINEAR_STATE: out[i] = of.dxdot[state.index]; break;
    case AS_LINEAR_INPUT:
      out[i] = input < 0 && l->state[j].kind == AS_LINEAR_RATE && l->state[j].index == state.index;
      break;
    case AS_LINEAR_RATE: out[i] = input == state.index; break;
    }
  }
}

/// What round-off makes of a row of forces along a column: all its entries, as if they had the same sign.
static void row_sizes(const asi_linear *l, as_block block, const double *x, double *out) {
  const as_matrix *m = &l->s->kin.block[block];
  const double *typical = l->s->kin.problem->typical;
  double most = 0.0;
  for (int j = 0; j < l->n; ++j) most = fmax(most, fabs(x[j]) / typical[j]);
  for (int j = 0; m->value && j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      out[m->row[k]] += fabs(m->value[k]) * typical[j] * most;
}

/// Entries of A that are round-off become zero: what is free stays free. `k`: the factors, y: room for `size` numbers, twice.
static void clear_noise(const asi_linear *l, const double *k, const int *pivot, int size,
                        double *y) {
  const int n = l->n, states = l->out.n_states, one = 1;
  double *forces = y + size;
  int info = 0;
  if (l->n_turned > 0) return; // rows are mixed by the axes
  for (int i = 0; i < states; ++i) {
    if (l->state[i].kind != AS_LINEAR_VELOCITY) continue;
    memset(y, 0, (size_t)size * sizeof *y);
    y[l->state[i].index] = 1.0;
    dgetrs_("T", &size, &one, k, &size, pivot, y, &size, &info, 1);
    for (int j = 0; j < states; ++j) {
      const column of = column_of(l, j);
      double noise = 0.0, *entry = l->a + (size_t)j * (size_t)states + (size_t)i;
      memset(forces, 0, (size_t)n * sizeof *forces);
      row_sizes(l, AS_BLOCK_F_Q, of.xi, forces);
      row_sizes(l, AS_BLOCK_MA_Q, of.xi, forces);
      row_sizes(l, AS_BLOCK_F_V, of.dv, forces);
      for (int m = 0; m < n; ++m) noise += fabs(y[m]) * forces[m];
      if (fabs(*entry) <= NOISE * DBL_EPSILON * noise) *entry = 0.0;
    }
  }
}

static as_status solve_columns(asi_linear *l, const rows_at *r, double *work) {
  as_integrator *s = l->s;
  const int size = l->n + l->velocity.rank + l->ny;
  const size_t high = (size_t)size;
  double *k = asi_calloc(high * high + 1, sizeof *k);
  double *b = asi_calloc(high * (size_t)l->columns + 1, sizeof *b);
  int *pivot = asi_calloc(high + 1, sizeof *pivot), info = 0;
  as_status status = k && b && pivot ? AS_OK : asi_fail_memory(s->kin.eval.error);
  if (status == AS_OK) {
    fill_matrix(l, r, k, size);
    for (int j = 0; j < l->columns; ++j) right_side(l, r, j, b + (size_t)j * high, work);
    dgetrf_(&size, &size, k, &size, pivot, &info);
    if (info == 0) dgetrs_("N", &size, &l->columns, k, &size, pivot, b, &size, &info, 1);
    if (info != 0)
      status = asi_fail(s->kin.eval.error, AS_ERR_SINGULAR, s->stepper.t, NULL,
                        "The linear motion at t = %.9g s is not determined: the matrix of "
                        "accelerations and multipliers is singular.",
                        s->stepper.t);
  }
  for (int j = 0; status == AS_OK && j < l->columns; ++j) {
    const column to = column_of(l, j);
    const double *x = b + (size_t)j * high;
    memcpy(to.dvdot, x, (size_t)l->n * sizeof *x);
    for (int i = 0; i < l->velocity.rank; ++i) to.multiplier[l->velocity.row[i]] = x[l->n + i];
    memcpy(to.dy, x + l->n + l->velocity.rank, (size_t)l->ny * sizeof *x);
    state_rate(l, j);
    double *out = j < l->out.n_states
                      ? l->a + (size_t)j * (size_t)l->out.n_states
                      : l->b + (size_t)(j - l->out.n_states) * (size_t)l->out.n_states;
    read_rates(l, j, out, work);
  }
  if (status == AS_OK && l->columns > 0 && size > 0) {
    double *y = asi_calloc(2 * high, sizeof *y);
    if (y) clear_noise(l, k, pivot, size, y);
    if (!y) status = asi_fail_memory(s->kin.eval.error);
    free(y);
  }
  free(k);
  free(b);
  free(pivot);
  return status;
}

static bool take_columns(asi_linear *l) {
  const size_t states =
      (size_t)(2 * l->n - l->position.rank - l->velocity.rank + l->nx + 2 * l->n_driving);
  const size_t all = states + (size_t)l->out.n_inputs;
  l->out.n_states = (int)states;
  l->columns = (int)all;
  l->state = asi_calloc(states + 1, sizeof *l->state);
  l->a = asi_calloc(states * states + 1, sizeof *l->a);
  l->b = asi_calloc(states * (size_t)l->out.n_inputs + 1, sizeof *l->b);
  l->full = asi_calloc((size_t)l->height * all + 1, sizeof *l->full);
  if (!l->state || !l->a || !l->b || !l->full) return false;
  int at = 0;
  for (int j = l->position.rank; j < l->n; ++j)
    l->state[at++] = (as_linear_state){AS_LINEAR_POSITION, l->position.order[j]};
  for (int j = l->velocity.rank; j < l->n; ++j)
    l->state[at++] = (as_linear_state){AS_LINEAR_VELOCITY, l->velocity.order[j]};
  for (int j = 0; j < l->nx; ++j) l->state[at++] = (as_linear_state){AS_LINEAR_STATE, j};
  for (int j = 0; j < l->out.n_inputs; ++j) {
    if (!l->driving[j]) continue;
    l->state[at++] = (as_linear_state){AS_LINEAR_INPUT, j};
    l->state[at++] = (as_linear_state){AS_LINEAR_RATE, j};
  }
  return true;
}

/// All blocks at the state, the constraint rows dense, then the columns.
static as_status find_columns(asi_linear *l, const as_linearization_def *def,
                              const asi_linear *like) {
  as_integrator *s = l->s;
  const size_t size = (size_t)l->rows * (size_t)l->n, n = (size_t)l->n;
  double *store = asi_calloc(4 * size + 4 * n + 2 * (size_t)l->rows + 1, sizeof *store);
  if (store == NULL) return asi_fail_memory(s->kin.eval.error);
  rows_at r = {store, store + size, store + 2 * size, store + 3 * size};
  double *work = store + 4 * size;
  const as_point point = point_of(s);
  asi_rows_update(&s->kin, true);
  as_status status = differentiate_rows(l, &r);
  if (status == AS_OK) status = asi_blocks(&s->kin, &point, row_blocks);
  if (status == AS_OK) add_rows(l, 1.0, r.c, r.c_q);
  if (status == AS_OK) status = find_tangents(l, r.c, like);
  if (status == AS_OK && !like) status = check_singular(l, r.c);
  if (status == AS_OK) status = find_inputs(l, def);
  if (status == AS_OK) status = asi_blocks(&s->kin, &point, s->kin.problem->present);
  if (status == AS_OK && !take_columns(l)) status = asi_fail_memory(s->kin.eval.error);
  for (int j = 0; j < l->out.n_states && status == AS_OK; ++j) complete(l, &r, j, work);
  if (status == AS_OK) status = solve_columns(l, &r, work);
  asi_rows_update(&s->kin, false);
  free(store);
  return status;
}

// ---- create ---------------------------------------------------------------------------------------

static bool take_memory(asi_linear *l) {
  const as_problem *p = l->s->kin.problem;
  const size_t n = (size_t)l->n, nq = (size_t)p->nq, inputs = (size_t)l->out.n_inputs;
  const size_t size[] = {nq,
                         n,
                         n,
                         n + (size_t)p->nq,
                         (size_t)p->def.n_lambda,
                         (size_t)p->def.n_psi,
                         (size_t)l->nx,
                         (size_t)l->nx,
                         (size_t)l->ny,
                         (size_t)p->def.n_u};
  double **const place[] = {&l->moved.q,      &l->moved.v,   &l->moved.vdot, &l->moved.a,
                            &l->moved.lambda, &l->moved.psi, &l->moved.x,    &l->moved.xdot,
                            &l->moved.y,      &l->moved_u};
  enum { ARRAYS = sizeof size / sizeof size[0] };
  size_t all = 1;
  for (int i = 0; i < ARRAYS; ++i) all += size[i];
  all += (size_t)l->rows; // moved.v is scratch of as many rows, too
  l->arena = asi_calloc(all, sizeof *l->arena);
  l->turned = asi_calloc(n + 1, sizeof *l->turned);
  l->input = asi_calloc((n + (size_t)l->nx + (size_t)l->ny) * inputs + 1, sizeof *l->input);
  l->signal = asi_calloc(inputs + 1, sizeof *l->signal);
  l->moves = asi_calloc((size_t)p->def.n_lambda * inputs + 1, sizeof *l->moves);
  l->driving = asi_calloc(inputs + 1, sizeof *l->driving);
  if (!l->arena || !l->turned || !l->input || !l->signal || !l->moves || !l->driving) return false;
  double *next = l->arena;
  for (int i = 0; i < ARRAYS; next += size[i++]) {
    *place[i] = next;
    if (i == 1) next += l->rows;
  }
  return true;
}

static void free_linear(asi_linear *l) {
  if (l == NULL) return;
  as_integrator_destroy(l->s);
  free(l->state);
  free(l->a);
  free(l->b);
  free(l->full);
  free(l->input);
  free(l->signal);
  free(l->moves);
  free(l->driving);
  free(l->turned);
  free(l->arena);
  asi_tangent_free(&l->position);
  asi_tangent_free(&l->velocity);
  free(l);
}

static as_status start(asi_linear *l, const as_problem *p, const as_initial *initial,
                       const as_linearization_def *def, as_error *error) {
  as_integrator_def how = as_default_integrator_def();
  as_start_report report = {0};
  how.method = AS_METHOD_INDEX3; // the smallest
  as_status status = as_integrator_create(p, &how, &l->s, error);
  if (status == AS_OK) status = as_integrator_start(l->s, initial, &report, error);
  if (status) return status;
  l->s->kin.eval.error = error;
  l->n = p->n;
  l->rows = l->s->kin.redundancy.rows;
  l->nx = p->def.n_x;
  l->ny = p->def.n_y;
  l->height = 3 * l->n + l->rows + 2 * l->nx + l->ny;
  l->out.problem = p;
  l->out.n_inputs = def->n_inputs;
  l->out.n_redundant = report.n_redundant;
  l->out.degrees_of_freedom = report.degrees_of_freedom;
  if (asi_forces_see_least_norm(&l->s->kin))
    return asi_fail(error, AS_ERR_UNSUPPORTED, initial->t, NULL,
                    "Forces that depend on multipliers of redundant constraints cannot be "
                    "linearized yet.");
  return take_memory(l) ? AS_OK : asi_fail_memory(error);
}

static void publish(asi_linear *l) {
  const asi_values *now = &l->s->stepper.now;
  l->out.state = l->state;
  l->out.a = l->a;
  l->out.b = l->b;
  l->out.inside = l;
  l->out.accelerated =
      asi_most_accelerated(l->s->kin.problem, now->vdot, now->xdot, &l->out.acceleration);
}

/// `later` than that by so much time are axes that turn.
static as_status make(const as_problem *p, const as_initial *initial,
                      const as_linearization_def *def, as_axes axes, const asi_linear *like,
                      double later, asi_linear **out, as_error *error) {
  asi_linear *l = asi_calloc(1, sizeof *l);
  if (l == NULL) return asi_fail_memory(error);
  as_status status = start(l, p, initial, def, error);
  l->out.axes = axes;
  memcpy(l->out.turning, def->turning, sizeof l->out.turning);
  const double turn[3] = {later * def->turning[0], later * def->turning[1],
                          later * def->turning[2]};
  asi_so3_exp(turn, l->turned_by);
  if (status == AS_OK) find_triples(l);
  if (status == AS_OK) status = find_columns(l, def, like);
  if (status == AS_OK) publish(l);
  if (status) {
    free_linear(l);
    return status;
  }
  *out = l;
  return AS_OK;
}

/// The size of a state: typical ones, and those moved in the time that they are moved in.
static double unit_of(const asi_linear *l, int i) {
  const as_linear_state state = l->state[i];
  const double *typical = l->s->kin.problem->typical;
  return state.kind == AS_LINEAR_POSITION   ? typical[state.index]
         : state.kind == AS_LINEAR_VELOCITY ? typical[state.index] * l->s->kin.eval.rate
                                            : 1.0;
}

/// How A changes along the motion: it is found once more, a little later.
static as_status find_unsteady(asi_linear *l, const as_problem *p, const as_initial *initial,
                               const as_linearization_def *def, as_error *error) {
  as_integrator *s = l->s;
  const asi_values *now = &s->stepper.now;
  if (is_zero(now->v, l->n)) return AS_OK;
  const double scale = 1e3 * asi_time_increment(&s->kin.eval, now->v), h = 1e-3 * ONWARD * scale;
  as_initial later = *initial;
  for (int i = 0; i < l->n; ++i) l->moved.a[i] = h * now->v[i] + 0.5 * h * h * now->vdot[i];
  as_space_move(p->space, now->q, l->moved.a, l->moved.q);
  for (int i = 0; i < l->n; ++i) l->moved.v[i] = now->v[i] + h * now->vdot[i];
  for (int i = 0; i < l->nx; ++i) l->moved.x[i] = now->x[i] + h * now->xdot[i];
  later.t = s->stepper.t + h;
  later.q = l->moved.q;
  later.v = l->moved.v;
  later.x = l->moved.x;
  later.lambda = now->lambda;
  later.psi = now->psi;
  later.y = now->y;
  later.u = s->kin.eval.u;
  later.keep = NULL;
  asi_linear *next = NULL;
  const as_status status = make(p, &later, def, l->out.axes, l, h, &next, error);
  if (status) return status == AS_ERR_MEMORY ? status : asi_error_clear(error);
  const int n = l->out.n_states;
  double change = 0.0, size = 0.0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const size_t at = (size_t)j * (size_t)n + (size_t)i;
      const double unit = unit_of(l, j) / unit_of(l, i);
      change = fmax(change, fabs(next->a[at] - l->a[at]) * unit);
      size = fmax(size, fabs(l->a[at]) * unit);
    }
  l->out.unsteady = size > 0.0 ? change / size * (scale / h) : 0.0;
  free_linear(next);
  return AS_OK;
}

static as_status make_steady(const as_problem *p, const as_initial *initial,
                             const as_linearization_def *def, as_axes axes, asi_linear **out,
                             as_error *error) {
  as_status status = make(p, initial, def, axes, NULL, 0.0, out, error);
  if (status) return status;
  status = find_unsteady(*out, p, initial, def, error);
  if (status) {
    free_linear(*out);
    *out = NULL;
  }
  return status;
}

/// Whether a body turns.
static bool turns(const asi_linear *l) {
  const as_space *space = l->s->kin.problem->space;
  const double *v = l->s->stepper.now.v;
  for (int part = 0; part < space->n_parts; ++part)
    for (int i = 0; i < space->parts[part].count; ++i) {
      const as_space_kind kind = space->parts[part].kind;
      const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
      if (kind != AS_SPACE_RN && !is_zero(v + ahead, 3)) return true;
      v += kind == AS_SPACE_RN ? 1 : ahead + 3;
    }
  return false;
}

static as_status check(const as_problem *p, const as_linearization_def *def, as_error *error) {
  if (p->n > def->limit)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
                    "The problem has %d velocity components; dense matrices are made for up to "
                    "%d. as_modes_slowest() finds modes of large problems at rest.",
                    p->n, def->limit);
  if (def->n_inputs < 0 || (def->n_inputs > 0 && def->inputs == NULL))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "n_inputs = %d, but inputs %s.",
                    def->n_inputs, def->inputs ? "are given" : "is NULL");
  for (int i = 0; i < 3; ++i)
    if (!isfinite(def->turning[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "turning[%d] = %g.", i,
                      def->turning[i]);
  return AS_OK;
}

as_status as_linearize(const as_problem *problem, const as_initial *initial,
                       const as_linearization_def *def, as_linearization **out, as_error *error) {
  if (problem == NULL || def == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_linearize needs a problem, a description and a place for the result.");
  *out = NULL;
  as_status status = check(problem, def, error);
  if (status) return status;
  asi_linear *l = NULL, *world = NULL;
  const bool automatic = def->axes == AS_AXES_AUTOMATIC;
  status = make_steady(problem, initial, def, automatic ? AS_AXES_OWN : def->axes, &l, error);
  if (status) return status;
  if (automatic && turns(l)) {
    as_linearization_def in_world = *def;
    memset(in_world.turning, 0, sizeof in_world.turning);
    status = make_steady(problem, initial, &in_world, AS_AXES_TURNING, &world, error);
    const bool better = status == AS_OK && (world->out.unsteady <= UNSTEADY ||
                                            world->out.unsteady < 0.01 * l->out.unsteady);
    if (better) {
      asi_linear *old = l;
      l = world;
      world = old;
    }
    free_linear(world);
    if (status == AS_ERR_MEMORY) {
      free_linear(l);
      return status;
    }
  }
  l->s->kin.eval.error = NULL;
  *out = &l->out;
  return asi_error_clear(error);
}

void as_integrator_active(const as_integrator *integrator, bool *active) {
  for (int i = 0; i < integrator->kin.redundancy.rows; ++i)
    active[i] = !integrator->kin.eval.inactive[i];
}

void as_linearization_destroy(as_linearization *linearization) {
  if (linearization) free_linear(linearization->inside);
}

// ---- states close by --------------------------------------------------------------------------------

const as_state *as_linearization_state(const as_linearization *l) { return &l->inside->s->state; }

as_status as_linearization_moved(as_linearization *linearization, int index, double amount,
                                 const as_state **out, as_error *error) {
  asi_linear *l = linearization->inside;
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const asi_values *now = &s->stepper.now, *to = &l->moved;
  if (index < 0 || index >= l->columns)
    return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, NULL, "There is no column %d of %d.",
                    index, l->columns);
  const column by = column_of(l, index);
  const int m = p->def.n_lambda;
  for (int i = 0; i < l->n; ++i) {
    to->a[i] = amount * by.xi[i];
    to->v[i] = now->v[i] + amount * by.dv[i];
    to->vdot[i] = now->vdot[i] + amount * by.dvdot[i];
  }
  as_space_move(p->space, now->q, to->a, to->q);
  for (int i = 0; i < m; ++i) to->lambda[i] = now->lambda[i] + amount * by.multiplier[i];
  for (int i = 0; i < p->def.n_psi; ++i) to->psi[i] = now->psi[i] + amount * by.multiplier[m + i];
  for (int i = 0; i < l->nx; ++i) to->x[i] = now->x[i] + amount * by.dx[i];
  for (int i = 0; i < l->nx; ++i) to->xdot[i] = now->xdot[i] + amount * by.dxdot[i];
  for (int i = 0; i < l->ny; ++i) to->y[i] = now->y[i] + amount * by.dy[i];
  for (int i = 0; i < p->def.n_u; ++i) l->moved_u[i] = s->kin.eval.u[i];
  const int input = index - l->out.n_states;
  if (input >= 0 && l->signal[input] >= 0) l->moved_u[l->signal[input]] += amount;
  s->kin.eval.error = error;
  if (l->out.n_redundant > 0) {
    const as_status status =
        asi_least_norm_at(&s->kin, s->stepper.t, to->q, to->v, to->lambda, to->psi);
    if (status) return status;
  }
  l->moved_state = s->state;
  l->moved_state.q = to->q;
  l->moved_state.v = to->v;
  l->moved_state.vdot = l->moved_state.a = to->vdot;
  l->moved_state.lambda = to->lambda;
  l->moved_state.psi = to->psi;
  l->moved_state.x = to->x;
  l->moved_state.xdot = l->moved_state.w = to->xdot;
  l->moved_state.y = to->y;
  l->moved_state.u = l->moved_u;
  *out = &l->moved_state;
  return AS_OK;
}

double as_linearization_reach(const as_linearization *linearization, int index) {
  const asi_linear *l = linearization->inside;
  const double rate = l->s->kin.eval.rate, *typical = l->s->kin.problem->typical;
  const column by = column_of(l, index);
  double most = 0.0;
  for (int i = 0; i < l->n; ++i)
    most = fmax(most, (fabs(by.xi[i]) + fabs(by.dv[i]) / rate) / typical[i]);
  for (int i = 0; i < l->nx; ++i)
    most = fmax(most, fabs(by.dx[i]) / fmax(1.0, fabs(l->s->stepper.now.x[i])));
  if (most > 0.0) return 1e-3 / most;
  for (int i = 0; i < l->n; ++i) most = fmax(most, fabs(by.dvdot[i]) / (rate * rate) / typical[i]);
  return most > 0.0 ? 1.0 / most : 1.0;
}

void as_linearization_expand(const as_linearization *linearization, const double *states,
                             double *position, double *velocity) {
  const asi_linear *l = linearization->inside;
  if (position) memset(position, 0, (size_t)l->n * sizeof *position);
  if (velocity) memset(velocity, 0, (size_t)l->n * sizeof *velocity);
  for (int j = 0; j < l->out.n_states; ++j) {
    const column by = column_of(l, j);
    for (int i = 0; i < l->n && position; ++i) position[i] += states[j] * by.xi[i];
    for (int i = 0; i < l->n && velocity; ++i) velocity[i] += states[j] * by.dv[i];
  }
}

// ---- blocks ---------------------------------------------------------------------------------------

as_sizes as_problem_sizes(const as_problem *problem) {
  const as_problem_def *def = &problem->def;
  return (as_sizes){.q = problem->nq,
                    .v = problem->n,
                    .lambda = def->n_lambda,
                    .psi = def->n_psi,
                    .x = def->n_x,
                    .y = def->n_y,
                    .u = def->n_u};
}

as_status as_problem_blocks(const as_problem *problem, const as_state *at, as_block_set wanted,
                            as_matrix blocks[AS_BLOCK_COUNT], as_error *error) {
  if (problem == NULL || at == NULL || blocks == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_blocks needs a problem, a state and a place for the blocks.");
  memset(blocks, 0, AS_BLOCK_COUNT * sizeof *blocks);
  as_statistics count = {0};
  asi_evaluator e;
  as_status status = asi_evaluator_init(&e, problem, &count, error);
  wanted &= problem->present;
  for (int b = 0; b < AS_BLOCK_COUNT && status == AS_OK; ++b)
    if (wanted & AS_BLOCK_BIT(b)) status = asi_matrix_init(&blocks[b], &problem->pattern[b], error);
  for (int i = 0; e.u && i < problem->def.n_u; ++i) e.u[i] = at->u ? at->u[i] : 0.0;
  const as_point point = {.t = at->t,
                          .q = at->q,
                          .v = at->v,
                          .vdot = at->vdot,
                          .lambda = at->lambda,
                          .psi = at->psi,
                          .x = at->x,
                          .y = at->y,
                          .u = e.u};
  if (status == AS_OK) status = asi_eval_blocks(&e, &point, wanted, blocks);
  asi_evaluator_free(&e);
  if (status) as_blocks_free(blocks);
  return status;
}

static as_status value_of(asi_evaluator *e, asi_function function, const as_point *point,
                          as_matrix *blocks, double *out) {
  if (out == NULL || asi_function_size(e->problem, function) == 0) return AS_OK;
  const as_status status = asi_eval_blocks(e, point, asi_eval_needs(e->problem, function), blocks);
  return status ? status : asi_eval_function(e, function, point, blocks, out);
}

as_status as_problem_values(const as_problem *problem, const as_state *at, const as_values *out,
                            as_error *error) {
  if (problem == NULL || at == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_values needs a problem, a state and a place for the values.");
  as_matrix blocks[AS_BLOCK_COUNT];
  const as_block_set needed =
      AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  as_status status = as_problem_blocks(problem, at, needed, blocks, error);
  if (status) return status;
  as_statistics count = {0};
  asi_evaluator e;
  double *inertia = asi_calloc((size_t)problem->n, sizeof *inertia);
  status = asi_evaluator_init(&e, problem, &count, error);
  if (inertia == NULL && status == AS_OK) status = asi_fail_memory(error);
  for (int i = 0; e.u && i < problem->def.n_u; ++i) e.u[i] = at->u ? at->u[i] : 0.0;
  const as_point point = {.t = at->t,
                          .q = at->q,
                          .v = at->v,
                          .vdot = at->vdot,
                          .lambda = at->lambda,
                          .psi = at->psi,
                          .x = at->x,
                          .y = at->y,
                          .u = e.u};
  double *const value[ASI_FUNCTIONS] = {out->unbalanced ? inertia : NULL,
                                        out->unbalanced,
                                        out->constraint,
                                        out->constraint_rate,
                                        out->nonholonomic,
                                        out->state_rate,
                                        out->output};
  for (int f = 0; f < ASI_FUNCTIONS && status == AS_OK; ++f)
    status = value_of(&e, (asi_function)f, &point, blocks, value[f]);
  for (int i = 0; i < problem->n && out->unbalanced && status == AS_OK; ++i)
    out->unbalanced[i] -= inertia[i];
  asi_evaluator_free(&e);
  as_blocks_free(blocks);
  free(inertia);
  return status;
}

void as_blocks_free(as_matrix blocks[AS_BLOCK_COUNT]) {
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) asi_matrix_free(&blocks[b]);
}
