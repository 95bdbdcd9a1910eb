/// Redundant constraints.
///
/// Planar loops in space and overconstrained mechanisms have constraint rows that the others imply. The
/// motion does not mind, but the multipliers are not determined and a plain LU factorization fails. They
/// are found at the start by the rank of the scaled constraint matrix G = D [B; k_v] c, which knows
/// neither units nor masses, and made unique by a compliance (see [RE.3]).
#include "core/kinematics/redundancy.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/kinematics/kinematics.h"
#include "linalg/dense_lu.h"

// sigma / sigma_1 up to which a row is nearly redundant.
#define NEAR 1e-3
// Levers are no shorter than this part of a body's radius of gyration.
#define SHORTEST_LEVER 0.02
// e of the filter that redundant rows pass and nearly redundant ones do not.
#define SHARP 1e-12
// A random vector may happen to miss the last direction, one in 25 does: the rank is known after six of them. (Three missed one in
// several thousand machines.)
enum { MOST_MISSES = 6 };

as_status asi_redundancy_init(asi_kinematics *s, as_error *error) {
  const size_t rows = (size_t)s->redundancy.rows;
  asi_redundancy *r = &s->redundancy;
  r->limit = ASI_REDUNDANT;
  r->redundant = asi_calloc(3 * rows, sizeof(int));
  r->found = r->redundant ? r->redundant + rows : NULL;
  r->group = r->found ? r->found + rows : NULL;
  r->implied = asi_calloc(3 * rows, sizeof(bool));
  r->was_implied = r->implied ? r->implied + rows : NULL;
  r->old_implied = r->implied ? r->was_implied + rows : NULL;
  for (size_t i = 0; i < rows; ++i) r->per_row[i] = 1.0 / s->problem->length;
  return r->redundant && r->implied ? AS_OK : asi_fail_memory(error);
}

void asi_redundancy_free(asi_redundancy *r) {
  free(r->redundant);
  free(r->implied);
  asi_system_free(&r->least);
}

// ---- scaling --------------------------------------------------------------------------------------

/// A run over the entries of one row of [B; k_v].
typedef struct row_entries {
  const asi_row_view *view;
  const double *value;
  int begin, end;
} row_entries;

static row_entries entries_of(const asi_kinematics *s, int row) {
  const as_problem *p = s->problem;
  const bool holonomic = row < p->def.n_lambda;
  const asi_row_view *view = holonomic ? &p->g_q_rows : &p->k_v_rows;
  const int local = holonomic ? row : row - p->def.n_lambda;
  return (row_entries){view, s->block[holonomic ? AS_BLOCK_G_Q : AS_BLOCK_K_V].value,
                       view->start[local], view->start[local + 1]};
}

/// The radius of gyration of the body whose columns begin at `first`; `end`: behind them.
static double gyration(const asi_kinematics *s, int first, int *end) {
  const as_problem *p = s->problem;
  const as_matrix *m = &s->block[AS_BLOCK_M];
  double turn = 0.0, move = 0.0;
  for (*end = first; *end < p->n && p->body_of[*end] == p->body_of[first]; ++*end) {
    const int k = as_matrix_position(m, *end, *end);
    double *largest = p->is_rotation[*end] ? &turn : &move;
    if (k >= 0) *largest = fmax(*largest, fabs(m->value[k]));
  }
  return move > 0.0 ? sqrt(turn / move) : 0.0;
}

/// [RE.1] c = 1 for translations, 1 / l_b for rotations, l_b the largest lever arm at which a row takes
/// hold of body b: |rotation part| / |translation part|; if there is none, the machine's length. Levers of a body that is held
/// at its centre, but for some round-off, count as a fiftieth of its radius of gyration.
static void scale_columns(asi_kinematics *s, double *lever) {
  const as_problem *p = s->problem;
  for (int b = 0; b < p->n_bodies; ++b) lever[b] = 0.0;
  for (int row = 0; row < s->redundancy.rows; ++row) {
    const row_entries e = entries_of(s, row);
    for (int k = e.begin; k < e.end;) { // columns of one body follow each other
      const int body = p->body_of[e.view->col[k]];
      double turn = 0.0, move = 0.0;
      for (; k < e.end && p->body_of[e.view->col[k]] == body; ++k) {
        const double x = e.value[e.view->position[k]];
        *(p->is_rotation[e.view->col[k]] ? &turn : &move) += x * x;
      }
      if (move > 0.0) lever[body] = fmax(lever[body], sqrt(turn / move));
    }
  }
  for (int first = 0, end; first < p->n; first = end) {
    const double least = SHORTEST_LEVER * gyration(s, first, &end);
    double l = lever[p->body_of[first]];
    l = l > 0.0 ? fmax(l, least) : p->length;
    for (int k = first; k < end; ++k)
      s->redundancy.column_scale[k] = p->is_rotation[k] ? 1.0 / l : 1.0;
  }
}

/// The scaled mass of each body: the largest M_kk c_k^2.
static void body_masses(const asi_kinematics *s, double *mass) {
  const as_problem *p = s->problem;
  const as_matrix *m = &s->block[AS_BLOCK_M];
  double heaviest = 0.0;
  for (int b = 0; b < p->n_bodies; ++b) mass[b] = 0.0;
  for (int j = 0; j < p->n; ++j) {
    const int k = as_matrix_position(m, j, j);
    const double c = s->redundancy.column_scale[j];
    if (k >= 0) mass[p->body_of[j]] = fmax(mass[p->body_of[j]], fabs(m->value[k]) * c * c);
    heaviest = fmax(heaviest, mass[p->body_of[j]]);
  }
  if (heaviest == 0.0) heaviest = 1.0;
  for (int b = 0; b < p->n_bodies; ++b) mass[b] = fmax(mass[b], 1e-6 * heaviest);
}

/// A scaled row: its square, the mass of the heavier of the bodies that it joins, whether it moves or only turns them.
typedef struct scaled_row {
  double square, mass;
  bool moves;
} scaled_row;

static scaled_row measure_row(const asi_kinematics *s, int row, const double *mass) {
  const as_problem *p = s->problem;
  const row_entries e = entries_of(s, row);
  scaled_row out = {0};
  for (int k = e.begin; k < e.end; ++k) {
    const int col = e.view->col[k], body = p->body_of[col];
    const double x = e.value[e.view->position[k]] * s->redundancy.column_scale[col];
    if (x == 0.0) continue;
    out.square += x * x;
    out.moves = out.moves || !p->is_rotation[col];
    if (mass[body] > out.mass) out.mass = mass[body];
  }
  return out;
}

/// [RE.2] D = 1 / (root mean square of the scaled rows of a joint that do, or do not, move bodies);
/// d = D sqrt(m), m the mass of the heavier of the bodies that the row joins
void asi_redundancy_scale(asi_kinematics *s) {
  const as_problem *p = s->problem;
  asi_redundancy *r = &s->redundancy;
  // n + rows numbers are room for as many bodies: each has at least one component.
  double *per_body = r->probe;
  scale_columns(s, per_body);
  body_masses(s, per_body);
  for (int first = 0, end; first < r->rows; first = end) {
    double sum[2] = {0.0, 0.0};
    int count[2] = {0, 0};
    end = first + 1;
    while (end < p->def.n_lambda && p->joint_of[end] == p->joint_of[first]) ++end;
    for (int i = first; i < end; ++i) {
      const scaled_row row = measure_row(s, i, per_body);
      sum[row.moves] += row.square;
      ++count[row.moves];
      r->inverse_D2[i] = row.moves; // until the sums are known
      r->inverse_d2[i] = row.mass;
    }
    for (int i = first; i < end; ++i) {
      const int kind = r->inverse_D2[i] > 0.0;
      const double mass = r->inverse_d2[i];
      // a row that does not hold is empty; so is one that nothing can move
      r->inverse_D2[i] = sum[kind] > 0.0 ? fmax(sum[kind] / count[kind], DBL_MIN) : 1.0;
      r->inverse_d2[i] = mass > 0.0 ? r->inverse_D2[i] / mass : 1.0;
      r->per_row[i] = 1.0 / (sqrt(r->inverse_D2[i]) * p->length);
    }
  }
}

// ---- which rows to leave out first --------------------------------------------------------------------

// A row of k is left out rather than one of g, which holds positions too, if its part in what they imply together is at
// least a tenth. So is, before these, one whose multiplier makes other forces than its gradient: the forces of teeth
// load bearings, and may leave a bearing that stands in for them without any.
#define FAVOUR_K 10.0
#define FAVOUR_FORCES 100.0
// Forces differ by this share of those that the gradient makes. Friction in a joint makes less, teeth make more.
#define OTHER_FORCES 0.5

/// Whether the forces f_lambda of a row differ much from its gradient, in units of columns.
static bool makes_other_forces(const asi_kinematics *s, int row) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const bool holonomic = row < p->def.n_lambda;
  const as_matrix *f = &s->block[holonomic ? AS_BLOCK_F_LAMBDA : AS_BLOCK_F_PSI];
  const int column = holonomic ? row : row - p->def.n_lambda;
  const row_entries e = entries_of(s, row);
  double *const rest = r->force;
  double own = 0.0, other = 0.0;
  memset(rest, 0, (size_t)p->n * sizeof(double));
  for (int k = e.begin; k < e.end; ++k) {
    const double x = r->column_scale[e.view->col[k]] * e.value[e.view->position[k]];
    rest[e.view->col[k]] += x;
    own += x * x;
  }
  for (int k = f->col_start[column]; k < f->col_start[column + 1]; ++k)
    rest[f->row[k]] += r->column_scale[f->row[k]] * f->value[k];
  for (int j = 0; j < p->n; ++j) other += rest[j] * rest[j];
  return other > OTHER_FORCES * OTHER_FORCES * own;
}

void asi_redundancy_favour(asi_kinematics *s) {
  const as_problem *p = s->problem;
  asi_redundancy *r = &s->redundancy;
  const as_block_set known = p->def.force_kind == AS_FORCE_GENERAL ? p->present : 0;
  for (int i = 0; i < r->rows; ++i) {
    const bool holonomic = i < p->def.n_lambda;
    const as_block block = holonomic ? AS_BLOCK_F_LAMBDA : AS_BLOCK_F_PSI;
    const bool other = (known & AS_BLOCK_BIT(block)) && makes_other_forces(s, i);
    r->favour[i] = other ? FAVOUR_FORCES : holonomic ? 1.0 : FAVOUR_K;
  }
}

// ---- the norm of multipliers ------------------------------------------------------------------------

/// The sums of squares of what a row, or all rows of a joint, turn and move of one body.
typedef struct hold {
  double turn, move;
} hold;

/// Adds the entries of a row that belong to the body of entry *k, and goes on to the next body.
static int add_hold(const asi_kinematics *s, const row_entries *e, int *k, hold *sum) {
  const as_problem *p = s->problem;
  const int body = p->body_of[e->view->col[*k]];
  for (; *k < e->end && p->body_of[e->view->col[*k]] == body; ++*k) {
    const double x = e->value[e->view->position[*k]];
    *(p->is_rotation[e->view->col[*k]] ? &sum->turn : &sum->move) += x * x;
  }
  return body;
}

static int end_of_reaction(const asi_kinematics *s, int first) {
  const as_problem *p = s->problem;
  int end = first + 1;
  while (end < p->def.n_lambda && p->reaction_of[end] == p->reaction_of[first]) ++end;
  return end;
}

/// L_b^2, the square of the largest distance from the centre of body b to a point that a joint holds: 3/2 of what the joint's
/// rows turn over what they move, which is the distance's square for all three rows of a point, whatever their axes.
static void find_levers(asi_kinematics *s, double *square) {
  const as_problem *p = s->problem;
  double *turn = s->redundancy.force, *move = s->redundancy.image; // of each body by one joint
  for (int b = 0; b < p->n_bodies; ++b) turn[b] = move[b] = square[b] = 0.0;
  for (int first = 0, end; first < s->redundancy.rows; first = end) {
    end = end_of_reaction(s, first);
    for (int pass = 0; pass < 2; ++pass) // adds up, then takes the largest and clears
      for (int row = first; row < end; ++row) {
        const row_entries e = entries_of(s, row);
        for (int k = e.begin; k < e.end;) {
          hold one = {0};
          const int b = add_hold(s, &e, &k, &one);
          if (pass == 1 && move[b] > 0.0) square[b] = fmax(square[b], 1.5 * turn[b] / move[b]);
          if (pass == 0 && !(one.move > 0.0)) continue; // it has no lever arm
          turn[b] = pass == 0 ? turn[b] + one.turn : 0.0;
          move[b] = pass == 0 ? move[b] + one.move : 0.0;
        }
      }
  }
}

/// What a row does to the body that it holds most, and the larger L^2 of its bodies.
static hold measure_hold(const asi_kinematics *s, int row, const double *square, double *length2) {
  const row_entries e = entries_of(s, row);
  hold most = {0};
  *length2 = 0.0;
  for (int k = e.begin; k < e.end;) {
    hold one = {0};
    const int body = add_hold(s, &e, &k, &one);
    most.turn = fmax(most.turn, one.turn);
    most.move = fmax(most.move, one.move);
    *length2 = fmax(*length2, square[body]);
  }
  return most;
}

/// [RE.7] w = the mean square of what the rows of a joint that move bodies move them by; of those that only turn them, what
/// they turn them by, over L^2, L the larger L_b of the bodies
static void measure_norm(asi_kinematics *s) {
  asi_redundancy *r = &s->redundancy;
  double *square = r->probe; // there are not more bodies than velocities
  find_levers(s, square);
  r->length = 0.0;
  for (int b = 0; b < s->problem->n_bodies; ++b) r->length = fmax(r->length, sqrt(square[b]));
  for (int first = 0, end; first < r->rows; first = end) {
    double sum[2] = {0.0, 0.0};
    int count[2] = {0, 0};
    end = end_of_reaction(s, first);
    for (int pass = 0; pass < 2; ++pass)
      for (int i = first; i < end; ++i) {
        double length2;
        const hold row = measure_hold(s, i, square, &length2);
        const int moves = row.move > 0.0;
        const double turn2 =
            row.turn / (length2 > 0.0 ? length2 : s->problem->length * s->problem->length);
        if (pass == 0) {
          sum[moves] += moves ? row.move : turn2;
          ++count[moves];
        } else {
          r->norm_weight[i] = sum[moves] > 0.0 ? fmax(sum[moves] / count[moves], DBL_MIN) : 1.0;
        }
      }
  }
  r->norm_known = true;
}

// ---- rank -----------------------------------------------------------------------------------------

/// Scales the blocks to G.
static void scale_blocks(asi_kinematics *s) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  for (int row = 0; row < r->rows; ++row) {
    const bool holonomic = row < p->def.n_lambda;
    const row_entries x = entries_of(s, row);
    double *value = s->block[holonomic ? AS_BLOCK_G_Q : AS_BLOCK_K_V].value;
    for (int k = x.begin; k < x.end; ++k)
      value[x.view->position[k]] *= r->column_scale[x.view->col[k]] / sqrt(r->inverse_D2[row]);
  }
}

/// Puts I, G and G^T into the projection matrix, with -e on the diagonal of the rows.
static as_status factor_scaled(asi_kinematics *s, double e, double t) {
  const as_problem *p = s->problem;
  asi_system *system = asi_projection_system(s);
  asi_system_assemble(system, s->block, &s->tangent);
  for (int j = 0; j < p->n; ++j) // I in place of M
    for (int k = system->pattern.col_start[j]; k < system->pattern.col_start[j + 1]; ++k)
      if (system->pattern.row[k] < p->n) system->value[k] = system->pattern.row[k] == j ? 1.0 : 0.0;
  for (int j = p->n; j < system->size; ++j) system->value[system->diagonal[j]] -= e;
  return asi_factor_as_is(s, system, t, "the rank of the constraints");
}

void asi_rows_force(const asi_kinematics *s, const double *y, double *out) {
  const as_problem *p = s->problem;
  if (p->def.n_lambda > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_G_Q], s->block[AS_BLOCK_G_Q].value, 1.0,
                                       y, out);
  if (p->def.n_psi > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], s->block[AS_BLOCK_K_V].value, 1.0,
                                       y + p->def.n_lambda, out);
}

static double norm2(const double *x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

/// Takes the components along the found vectors out of y.
static void orthogonalize(double *y, const double *basis, int count, int rows) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int b = 0; b < count; ++b) {
      const double *v = basis + (size_t)b * (size_t)rows;
      double product = 0.0;
      for (int i = 0; i < rows; ++i) product += v[i] * y[i];
      for (int i = 0; i < rows; ++i) y[i] -= product * v[i];
    }
  }
}

/// A repeatable number in [-1, 1].
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/// r->probe <- e (G G^T + e)^-1 y, without what lies along the found vectors.
static as_status filter(asi_kinematics *s, double e, double t, const double *basis, int count) {
  const as_problem *p = s->problem;
  asi_redundancy *r = &s->redundancy;
  double *x = r->probe, *y = r->probe + p->n;
  memset(x, 0, (size_t)p->n * sizeof(double));
  const as_status status = asi_solve(s, asi_projection_system(s), t, x);
  if (status) return status;
  for (int i = 0; i < r->rows; ++i) y[i] *= -e;
  orthogonalize(y, basis, count, r->rows);
  return AS_OK;
}

/// Finds the next unit vector y with |G^T y| < about sqrt(e), orthogonal to those found: a random vector,
/// twice through the filter. False if it had nothing left.
static as_status next_null_vector(asi_kinematics *s, double e, double t, const double *basis,
                                  int count, uint64_t *seed, bool *found) {
  asi_redundancy *r = &s->redundancy;
  double *y = r->probe + s->problem->n;
  for (int i = 0; i < r->rows; ++i) y[i] = random_number(seed);
  orthogonalize(y, basis, count, r->rows);
  const double before = norm2(y, r->rows);
  // What remains of a random vector if one direction in all these rows is kept.
  const double least = 0.05 * before / sqrt((double)r->rows);
  double after = before;
  for (int pass = 0; pass < 2 && after > least; ++pass) { // none makes it larger
    const as_status status = filter(s, e, t, basis, count);
    if (status) return status;
    after = norm2(y, r->rows);
  }
  *found = after > least && count < r->rows;
  for (int i = 0; i < r->rows && *found; ++i) y[i] /= after;
  return AS_OK;
}

/// Sends the vectors found through the filter with e once more, from the first.
static as_status sharpen_by(asi_kinematics *s, double e, double t, double *basis, int count) {
  asi_redundancy *r = &s->redundancy;
  const size_t size = (size_t)r->rows * sizeof(double);
  double *y = r->probe + s->problem->n;
  as_status status = factor_scaled(s, e, t);
  for (int b = 0; b < count && status == AS_OK; ++b) {
    double *vector = basis + (size_t)b * (size_t)r->rows;
    memcpy(y, vector, size);
    status = filter(s, e, t, basis, b);
    const double norm = norm2(y, r->rows);
    if (status || !(norm > 0.0)) continue;
    for (int i = 0; i < r->rows; ++i) y[i] /= norm;
    orthogonalize(y, basis, b, r->rows);
    memcpy(vector, y, size);
  }
  return status;
}

/// Near a singular position the vectors found hold a little of its direction, and would not look redundant any
/// more: a sharper filter takes it out, as sharp as can be solved with; `e` was.
static as_status sharpen(asi_kinematics *s, double e, double t, double *basis, int count) {
  as_status status = AS_ERR_SINGULAR;
  for (double sharp = SHARP; sharp < e && status == AS_ERR_SINGULAR; sharp *= 10.0)
    status = sharpen_by(s, sharp, t, basis, count);
  return status == AS_ERR_SINGULAR ? sharpen_by(s, e, t, basis, count) : status;
}

/// Names rows for vectors in the null space: one row for each, by elimination with complete pivoting, where each row counts
/// as much as `favour` says. The vectors become those of one such row each: what it and the other rows have in common.
static void choose_rows(double *basis, int count, int rows, const double *favour, int *chosen) {
  for (int b = 0; b < count; ++b) {
    int best = 0;
    int column = b;
    double largest = -1.0;
    for (int c = b; c < count; ++c)
      for (int i = 0; i < rows; ++i) {
        const double x = favour[i] * fabs(basis[(size_t)c * (size_t)rows + (size_t)i]);
        if (x >= largest * (1.0 - 1e-6)) { // among equals the last
          largest = fmax(x, largest);
          best = i;
          column = c;
        }
      }
    double *pivot = basis + (size_t)b * (size_t)rows,
           *other = basis + (size_t)column * (size_t)rows;
    for (int i = 0; i < rows && column != b; ++i) {
      const double swap = pivot[i];
      pivot[i] = other[i];
      other[i] = swap;
    }
    chosen[b] = best;
    for (int c = 0; c < count; ++c) {
      if (c == b) continue;
      double *v = basis + (size_t)c * (size_t)rows;
      const double factor = v[best] / pivot[best];
      for (int i = 0; i < rows; ++i) v[i] -= factor * pivot[i];
    }
  }
}

static int compare_rows(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

// Rows with less than this in a null vector, against its largest, have no part in it. A vector that is one by sigma only has some of
// that everywhere; three times of it counts, up to a tenth.
#define PART 1e-6

static double least_part(double sigma) { return fmin(fmax(PART, 3.0 * sigma), 0.1); }

static int root_of(const int *parent, int row) {
  while (parent[row] != row) row = parent[row];
  return row;
}

/// Makes groups of the rows that null vectors have in common: they imply each other. `least`: what counts in each vector.
static void group_rows(const double *basis, int count, int rows, const double *least, int *group) {
  for (int i = 0; i < rows; ++i) group[i] = i;
  for (int b = 0; b < count; ++b) {
    const double *v = basis + (size_t)b * (size_t)rows;
    int first = -1;
    for (int i = 0; i < rows; ++i) {
      if (!(fabs(v[i]) > least[b])) continue;
      if (first < 0) first = root_of(group, i);
      group[root_of(group, i)] = first;
    }
  }
  for (int i = 0; i < rows; ++i) group[i] = root_of(group, i);
  for (int i = 0; i < rows; ++i) { // a row that is in no vector
    bool alone = true;
    for (int b = 0; b < count && alone; ++b)
      alone = !(fabs(basis[(size_t)b * (size_t)rows + (size_t)i]) > least[b]);
    if (alone) group[i] = -1;
  }
}

/// Turns the basis of the suspicious space into singular vectors of G, smallest singular value first, and
/// counts how many are redundant.
static as_status classify(asi_kinematics *s, double t, double *basis, int count) {
  const int n = s->problem->n, rows = s->redundancy.rows;
  asi_redundancy *r = &s->redundancy;
  const int work_size = asi_svd_work(n, count);
  double *image = asi_calloc((size_t)n * (size_t)count, sizeof(double));
  double *sigma = asi_calloc((size_t)count, sizeof(double));
  double *vt = asi_calloc((size_t)count * (size_t)count, sizeof(double));
  double *work = asi_calloc((size_t)work_size, sizeof(double));
  double *turned = asi_calloc((size_t)rows * (size_t)count, sizeof(double));
  as_status status = AS_OK;
  if (!image || !sigma || !vt || !work || !turned) {
    status = asi_fail_memory(s->eval.error);
  } else {
    for (int b = 0; b < count; ++b)
      asi_rows_force(s, basis + (size_t)b * (size_t)rows, image + (size_t)b * (size_t)n);
    if (asi_svd_right(n, count, image, sigma, vt, work, work_size) != 0)
      status = asi_fail(
          s->eval.error, AS_ERR_SINGULAR, t, NULL,
          "The rank of the constraints could not be found: singular values did not converge.");
    const int known = n < count ? n : count; // the rest of sigma is zero
    r->n_redundant = r->n_nearly = 0;
    r->found_rounded = r->found_apart = 0.0;
    double redundant = 0.0, nearly = 0.0; // the largest sigma of each sort
    for (int b = 0; b < count; ++b) {
      double *const vector = turned + (size_t)b * (size_t)rows;
      const int from = count - 1 - b; // they come in falling order
      const double value = from < known ? sigma[from] : 0.0;
      ++*(value < r->limit ? &r->n_redundant : &r->n_nearly);
      *(value < r->limit ? &redundant : &nearly) = value; // they come in order
      for (int c = 0; c < count; ++c)
        for (int i = 0; i < rows; ++i)
          vector[i] += vt[(size_t)c * (size_t)count + (size_t)from] *
                       basis[(size_t)c * (size_t)rows + (size_t)i];
      // a row that counts one in it is off by so much
      double *const apart = value < r->limit ? &r->found_rounded : &r->found_apart;
      if (value >= ASI_REDUNDANT) *apart = fmax(*apart, value / asi_max_abs(vector, rows));
    }
    choose_rows(turned, r->n_redundant, rows, r->favour, r->found);
    choose_rows(turned + (size_t)r->n_redundant * (size_t)rows, r->n_nearly, rows, r->favour,
                r->found + r->n_redundant);
    // Sigma is no longer that of one vector, but at most that of the last of its sort.
    for (int b = 0; b < count; ++b)
      work[b] = least_part(b < r->n_redundant ? redundant : nearly) *
                asi_max_abs(turned + (size_t)b * (size_t)rows, rows);
    group_rows(turned, count, rows, work, r->group);
    qsort(r->found, (size_t)r->n_redundant, sizeof(int), compare_rows);
    qsort(r->found + r->n_redundant, (size_t)r->n_nearly, sizeof(int), compare_rows);
  }
  free(image);
  free(sigma);
  free(vt);
  free(work);
  free(turned);
  return status;
}

double asi_redundancy_near(const asi_kinematics *s) {
  // A long chain has singular values of the order 1 / length without being near anything.
  return fmin(NEAR, 1e-2 / s->redundancy.rows);
}

// [RE.10] sigma/sigma_1 of rows that are given with so many digits, at the most and at the least.
#define ROUNDED 1e-5
#define ROUNDED_LEAST 1e-7
// What is known to be rounded may come to this many times as much along the way.
#define ROUNDED_ALONG 10.0

double asi_redundancy_rounded(const asi_kinematics *s) {
  const double at_first = fmin(ROUNDED, fmax(ROUNDED_LEAST, 0.1 * asi_redundancy_near(s)));
  return fmax(at_first, ROUNDED_ALONG * s->redundancy.rounded);
}

as_status asi_redundancy_find(asi_kinematics *s, double t, double near, int most) {
  asi_redundancy *r = &s->redundancy;
  const int rows = r->rows;
  const double e = fmax(1e-10, near * near);
  uint64_t seed = 20071;
  double *basis = NULL; // taken only if something is found
  int count = 0, capacity = 0;
  r->n_redundant = r->n_nearly = 0;
  r->found_rounded = r->found_apart = 0.0;
  for (int i = 0; i < rows; ++i) r->group[i] = -1;
  if (!r->norm_known) measure_norm(s);
  scale_blocks(s);
  as_status status = factor_scaled(s, e, t);
  for (int misses = 0; status == AS_OK && count < most && misses < MOST_MISSES;) {
    bool found = false;
    status = next_null_vector(s, e, t, basis, count, &seed, &found);
    misses = found ? 0 : misses + 1;
    if (status || !found) continue;
    if (count == capacity) {
      capacity = 2 * capacity + 8;
      double *grown = realloc(basis, (size_t)capacity * (size_t)rows * sizeof(double));
      if (grown == NULL) {
        status = asi_fail_memory(s->eval.error);
        break;
      }
      basis = grown;
    }
    memcpy(basis + (size_t)count * (size_t)rows, r->probe + s->problem->n,
           (size_t)rows * sizeof(double));
    ++count;
  }
  if (status == AS_OK && count > 0) status = sharpen(s, e, t, basis, count);
  if (status == AS_OK && count > 0) status = classify(s, t, basis, count);
  free(basis);
  return status;
}

/// Finds rows that others imply, or nearly, at a point.
as_status asi_find_redundancy(asi_kinematics *s, const as_point *where, double near, int most) {
  const as_problem_def *def = &s->problem->def;
  double *const multiplier = s->redundancy.seen; // any: what matters is where forces act
  as_point at = *where;
  at.lambda = multiplier;
  at.psi = multiplier + def->n_lambda;
  as_block_set wanted =
      AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  if (def->force_kind == AS_FORCE_GENERAL)
    wanted |= AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA) | AS_BLOCK_BIT(AS_BLOCK_F_PSI);
  for (int i = 0; i < s->redundancy.rows; ++i) multiplier[i] = 1.0;
  asi_rows_update(s, true);
  as_status status = asi_blocks(s, &at, wanted);
  if (status == AS_OK) asi_redundancy_scale(s);
  if (status == AS_OK) asi_redundancy_favour(s);
  if (status == AS_OK) status = asi_redundancy_find(s, at.t, near, most);
  asi_rows_update(s, false);
  return status;
}
