/// Sparse LU by blocks (multifrontal): bodies and joints are eliminated as small dense matrices.
///
/// Pivots are searched within a front's own rows only. That is enough as long as a joint comes after a body
/// that it holds: bodies have their mass, a joint then has B S^-1 B^T. Where it is not enough (redundant
/// constraints, singular positions, masses next to nothing) nothing is left of what a pivot was made of; then KLU, or
/// dense LU if it is small, factorizes the matrix.
///
/// Three pivots, those of a ball joint or of a body's rotation, are eliminated at once by the inverse of their matrix, if
/// its rows are far from lying in one plane.
///
/// [LS.1] Solutions are as good as the multipliers are small (Wilkinson): as long as no pivot is below 1e-5 of its row, of its
/// column and of the largest value that its diagonal had on the way, they belong to a matrix that differs by some 1e5
/// roundings. Where one is, each solution is put into its equations,
///
///     |b - A x|_i <= w (|A| |x| + |b|)_i + 1e-15 max_j |a_ij| max |x|     (Oettli and Prager; Arioli, Demmel and Duff)
///
/// If they do not hold it is refined once, and if they do not hold then the other solver takes over for this solution. The
/// second term is round-off: rows of unknowns that are next to nothing beside others, as what a plane mechanism does across its
/// plane, cannot hold better. Nothing here depends on other matrices, or on other right sides.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/front_tasks.h"
#include "linalg/fronts.h"
#include "linalg/kernels.h"
#include "linalg/residual.h"
#include "linalg/solver.h"
#include "linalg/tiles.h"

// [LS.1] w, and [LS.2] the fraction of what a pivot was made of below which none is used. They are stricter for small
// matrices: dense LU, which is more accurate, costs little there.
#define BAD_SOLUTION 1e-10
#define BAD_SMALL_SOLUTION 1e-12
#define SMALLEST_PIVOT 1e-12
#define SMALLEST_SMALL_PIVOT 1e-6
#define ROUND_OFF 1e-15
// The largest diagonal over a pivot from which on rows are looked at, and [LS.2] a row over a pivot that is nothing but
// round-off.
#define SUSPICIOUS 1e8
#define LOST_ROW 1e14
// KLU is faster if fronts have fewer pivots than this on average, or a block is larger than that.
#define FEWEST_PIVOTS 2.5
// What an operation takes, in those of KLU; measured on a chain of 1000 links.
#define FACTOR_COST 0.2
#define SOLVE_COST 0.35
enum { LARGEST_BLOCK = 24 };
// Fronts of so many pivots and so many rows are worked on by tiles.
enum { LEAST_PIVOTS = 4, LEAST_LARGE = 12 };

typedef struct frontal_solver frontal_solver;

/// What is done with a front of w pivots and r others, the first `split` of them in the parent's P.
typedef struct kernel {
  int w, r, split; ///< 0: any
  bool (*factor)(frontal_solver *s, int front);
  void (*forward)(const frontal_solver *s, int front);
  void (*backward)(const frontal_solver *s, int front);
} kernel;

struct frontal_solver {
  asi_solver base;
  bool borrows; ///< fronts, kernel and diagonal are another solver's
  asi_fronts fronts;
  const kernel **kernel; ///< of each front
  const int *col_start, *row;
  double least;    ///< the fraction of what a pivot was made of below which it is not used
  double bad;      ///< w in [LS.1]
  double *value;   ///< of the last factorization
  double *store;   ///< P and L of all fronts
  double *inverse; ///< n: 1 / pivot
  double *stack;   ///< what fronts leave for their parents
  int *swap;       ///< n: the row of its front that was exchanged with that of pivot k
  double *y;       ///< n: a solution in the order of elimination
  bool *searched;  ///< for each front: pivots were searched, swap is known
  bool *inverted;  ///< for each front: its three pivots were eliminated at once
  double *others;  ///< of one front: their part of a solution
  int *diagonal;   ///< n, in the order of elimination: where the diagonal is among the values
  double *size;    ///< n, in that order: the largest that a diagonal has been on the way
  double largest;  ///< diagonal
  bool doubtful;   ///< a pivot was small: solutions are looked at
  double *row_scale, *right_side, *residual, *magnitude; ///< n, for that
  asi_solver *
      other; ///< without blocks: dense LU if the matrix is small, else KLU; NULL: not needed so far
  bool by_other;          ///< the fronts cannot factorize the matrix at hand
  bool has_other;         ///< the other solver has factorized it
  long count;             ///< factorizations that it made
  bool known;             ///< there are factors
  asi_front_tasks *tasks; ///< what threads do; NULL: there is one
  asi_pool *pool;         ///< threads that share rows of the front at work; NULL: there is one
};

// ---- elimination ------------------------------------------------------------------------------------

ASI_INLINED remains remains_of(const frontal_solver *s, const asi_front *f, int split) {
  return (remains){.S = (f->direct ? s->store : s->stack) + f->work,
                   .below = s->store + f->below,
                   .beyond = s->store + f->beyond,
                   .stride = f->stride,
                   .below_stride = f->below_stride,
                   .beyond_stride = f->beyond_stride,
                   .split = split};
}

// Threads share rows of a front if there are so many operations. In so many parts for each of them.
#define LEAST_SHARED 5e5
enum { PARTS_OF_ROWS = 3, MOST_PARTS_OF_ROWS = PARTS_OF_ROWS * ASI_MOST_THREADS };

/// Rows of a front, or of one that it gets something from, in parts.
typedef struct front_rows {
  const frontal_solver *s;
  const asi_front *f, *child;
  int rows, n_parts;
  double largest[MOST_PARTS_OF_ROWS]; ///< multiplier of each part
} front_rows;

/// The first row of a part.
static int row_of(const front_rows *rows, int part) {
  const int rest = rows->rows % rows->n_parts;
  return rows->rows / rows->n_parts * part + (part < rest ? part : rest);
}

/// Adds some rows of what a child has left to its parent's front.
static void extend_add_rows(const frontal_solver *s, const asi_front *f, const asi_front *child,
                            int from, int end) {
  const int w = f->w, r = child->r, inside = child->inside, split = f->split;
  const int *place = s->fronts.place + child->rest;
  const double *left = s->stack + child->left + from * child->stride;
  double *const P = s->store + f->store, *const L = P + w * f->length;
  const remains to = remains_of(s, f, split);
  for (int i = from; i < end; ++i, left += child->stride) {
    const int row = place[i] - w, last = row - split;
    double *pivots = row < 0 ? P + place[i] * f->length : L + row * f->width;
    for (int j = 0; j < inside; ++j) pivots[place[j]] += left[j];
    double *near = row < 0 ? pivots + w : to.S + row * to.stride,
           *far = near; // split columns, and those after them
    if (row >= split) {
      near = to.below + last * to.below_stride;
      far = to.beyond + last * to.beyond_stride - split;
    }
    for (int j = inside; j < r; ++j) (place[j] - w < split ? near : far)[place[j] - w] += left[j];
  }
}

/// Whether so many operations for each of some rows are to be shared; then in how many parts.
static bool are_shared(const frontal_solver *s, int rows, double operations, front_rows *out) {
  if (s->pool == NULL || rows * operations < LEAST_SHARED) return false;
  const int most = PARTS_OF_ROWS * asi_pool_threads(s->pool);
  out->s = s;
  out->rows = rows;
  out->n_parts = rows < most ? rows : most;
  return true;
}

static void extend_add_part(int part, int thread, void *context) {
  const front_rows *rows = context;
  (void)thread;
  extend_add_rows(rows->s, rows->f, rows->child, row_of(rows, part), row_of(rows, part + 1));
}

/// Adds what a child has left to its parent's front.
static void extend_add(const frontal_solver *s, const asi_front *f, const asi_front *child) {
  front_rows rows;
  if (are_shared(s, child->r, 4.0 * child->r, &rows)) {
    rows.f = f;
    rows.child = child;
    asi_pool_run(s->pool, rows.n_parts, extend_add_part, &rows);
    return;
  }
  extend_add_rows(s, f, child, 0, child->r);
}

/// What the children of a front have left, and room for what it leaves, unless the parent has that.
static void begin_front(const frontal_solver *s, const asi_front *f) {
  const asi_fronts *fronts = &s->fronts;
  if (!f->direct) memset(s->stack + f->work, 0, (size_t)(f->r * f->stride) * sizeof(double));
  for (int k = 0; k < f->n_children; ++k)
    extend_add(s, f, &fronts->front[fronts->child[f->child + (size_t)k]]);
}

static asi_task_fn tiled_rows, wide_rows;

/// The rows of a large front below its pivots; returns the largest multiplier.
ASI_INLINED double eliminate_rows_of(const frontal_solver *s, const asi_front *f, int from, int end,
                                     int quads) {
  const remains to = remains_of(s, f, f->split);
  double *const P = s->store + f->store;
  return eliminate_large_rows(P, P + f->w * f->length, &to, f->w, f->r, from, end,
                              s->inverse + f->first, s->fronts.rest + f->rest, s->size, quads);
}

/// Eliminates a large front by tiles that have so many quads.
ASI_INLINED bool eliminate_large(frontal_solver *s, int front, int quads) {
  const asi_front *f = &s->fronts.front[front];
  front_rows rows;
  double largest = 0.0;
  if (!eliminate_large_pivots(s->store + f->store, f->w, f->r, s->least, s->size + f->first,
                              s->swap + f->first, &s->searched[front], &s->doubtful,
                              s->inverse + f->first, quads))
    return false;
  if (are_shared(s, f->r, (double)f->w * (f->w + 2 * f->r), &rows)) {
    rows.f = f;
    asi_pool_run(s->pool, rows.n_parts, quads > 1 ? wide_rows : tiled_rows, &rows);
    for (int k = 0; k < rows.n_parts; ++k) largest = larger(rows.largest[k], largest);
  } else {
    largest = eliminate_rows_of(s, f, 0, f->r, quads);
  }
  if (!(largest * SMALL_PIVOT < 1.0)) s->doubtful = true;
  return true;
}

/// One pivot after the other, or by tiles that have so many quads. w, r and split are those of the front; constants where they are usual
/// ones.
ASI_INLINED bool eliminate(frontal_solver *s, int front, int w, int r, int split, int quads) {
  const asi_front *f = &s->fronts.front[front];
  const remains to = remains_of(s, f, split);
  double *const P = s->store + f->store, *const size = s->size + f->first,
                *const inverse = s->inverse + f->first;
  int *const swap = s->swap + f->first;
  const int *const rest = s->fronts.rest + f->rest;
  if (quads > 0) return eliminate_large(s, front, quads);
  return eliminate_front(P, &to, w, r, s->least, size, swap, &s->searched[front], &s->doubtful,
                         inverse, rest, s->size);
}

static bool eliminate_any(frontal_solver *s, int front) {
  const asi_front *f = &s->fronts.front[front];
  return eliminate(s, front, f->w, f->r, f->split, 0);
}

/// Three pivots at once, or one by one where that would not be accurate.
ASI_INLINED bool eliminate_at_once(frontal_solver *s, int front, int r, int split) {
  const asi_front *f = &s->fronts.front[front];
  const remains to = remains_of(s, f, split);
  s->inverted[front] = eliminate_three(s->store + f->store, &to, r, s->inverse + f->first,
                                       &s->doubtful, s->fronts.rest + f->rest, s->size);
  return s->inverted[front] || eliminate_any(s, front);
}

ASI_INLINED bool factor_front(frontal_solver *s, int front, int w, int r, int split, int quads) {
  const asi_front *f = &s->fronts.front[front];
  if (!f->direct || f->n_children > 0) begin_front(s, f);
  const bool done =
      w == 3 ? eliminate_at_once(s, front, r, split) : eliminate(s, front, w, r, split, quads);
  if (!f->direct && f->left != f->work)
    memmove(s->stack + f->left, s->stack + f->work, (size_t)(r * f->stride) * sizeof(double));
  return done;
}

/// Exchanges rows of a right side as those of a front were.
static void swap_rows(const int *swap, int w, double *p) {
  for (int k = 0; k < w; ++k) {
    const double kept = p[swap[k]];
    p[swap[k]] = p[k];
    p[k] = kept;
  }
}

/// The others of a front in a row.
static double *collect(const frontal_solver *s, const asi_front *f) {
  for (int k = 0; k < f->r; ++k) s->others[k] = s->y[s->fronts.rest[f->rest + (size_t)k]];
  return s->others;
}

ASI_INLINED void forward(const frontal_solver *s, int front, int w, int r, int split, int quads) {
  const asi_front *f = &s->fronts.front[front];
  const int *rest = s->fronts.rest + f->rest;
  double *const p = s->y + f->first, *const q = f->direct ? s->y + rest[0] : collect(s, f);
  double *const more = split < r ? s->y + rest[split] : NULL;
  if (w == 3 && s->inverted[front]) {
    forward_three(s->store + f->store, r, split, p, q, more);
  } else {
    if (s->searched[front]) swap_rows(s->swap + f->first, w, p);
    (quads > 0 ? forward_large : forward_front)(s->store + f->store, w, r, split, p, q, more);
  }
  for (int k = 0; k < r && !f->direct; ++k) s->y[rest[k]] = q[k];
}

ASI_INLINED void backward(const frontal_solver *s, int front, int w, int r, int split, int quads) {
  const asi_front *f = &s->fronts.front[front];
  const int *rest = s->fronts.rest + f->rest;
  const double *const q = f->direct ? s->y + rest[0] : collect(s, f);
  const double *const more = split < r ? s->y + rest[split] : NULL;
  if (w == 3 && s->inverted[front])
    backward_three(s->store + f->store, r, split, s->y + f->first, q, more);
  else
    (quads > 0 ? backward_large : backward_front)(s->store + f->store, s->inverse + f->first, w, r,
                                                  split, s->y + f->first, q, more);
}

#define DEFINE_KERNEL(name, target, w, r, split, quads)                                            \
  target static bool factor_##name(frontal_solver *s, int i) {                                     \
    return factor_front(s, i, w, r, split, quads);                                                 \
  }                                                                                                \
  target static void forward_##name(const frontal_solver *s, int i) {                              \
    forward(s, i, w, r, split, quads);                                                             \
  }                                                                                                \
  target static void backward_##name(const frontal_solver *s, int i) {                             \
    backward(s, i, w, r, split, quads);                                                            \
  }
#define DEFINE_SMALL(w, r, split) DEFINE_KERNEL(w##_##r##_##split, , w, r, split, 0)
#define DEFINE_ANY(name, target, quads)                                                            \
  DEFINE_KERNEL(name, target, s->fronts.front[i].w, s->fronts.front[i].r,                          \
                s->fronts.front[i].split, quads)

#define DEFINE_ROWS(name, target, quads)                                                           \
  target static void name(int part, int thread, void *context) {                                   \
    front_rows *rows = context;                                                                    \
    (void)thread;                                                                                  \
    rows->largest[part] =                                                                          \
        eliminate_rows_of(rows->s, rows->f, row_of(rows, part), row_of(rows, part + 1), quads);    \
  }

DEFINE_ANY(any, , 0)
DEFINE_ANY(tiled, , 1)
DEFINE_ROWS(tiled_rows, , 1)
DEFINE_SMALL(6, 3, 3) // a body before a ball joint, and the joint after it
DEFINE_SMALL(3, 6, 6)
DEFINE_SMALL(3, 6, 3) // rotation of a body between two ball joints
DEFINE_SMALL(6, 5, 5) // a hinge
DEFINE_SMALL(5, 6, 6)
DEFINE_SMALL(11, 6, 6) // both, where forces of the joint couple its bodies
DEFINE_SMALL(3, 3, 3)  // joints alone
DEFINE_SMALL(5, 5, 5)
DEFINE_SMALL(9, 6, 6)
DEFINE_SMALL(3, 12, 12)

#define KERNEL(w, r, split)                                                                        \
  {                                                                                                \
    w, r, split, factor_##w##_##r##_##split, forward_##w##_##r##_##split,                          \
        backward_##w##_##r##_##split                                                               \
  }
static const kernel kernels[] = {
    KERNEL(6, 3, 3),  KERNEL(3, 6, 6), KERNEL(3, 6, 3), KERNEL(6, 5, 5), KERNEL(5, 6, 6),
    KERNEL(11, 6, 6), KERNEL(3, 3, 3), KERNEL(5, 5, 5), KERNEL(9, 6, 6), KERNEL(3, 12, 12)};
static const kernel any = {0, 0, 0, factor_any, forward_any, backward_any};
static const kernel tiled = {0, 0, 0, factor_tiled, forward_tiled, backward_tiled};

// Two bodies that act on each other, as nodes of a beam.
DEFINE_KERNEL(6_6_6, , 6, 6, 6, 0)
static const kernel couple = KERNEL(6, 6, 6);

#if defined __x86_64__ && defined __GNUC__ &&                                                      \
    !defined _WIN32 // gcc misplaces vectors of 32 bytes on Windows' stack
#define AVX2 __attribute__((target("avx2")))
DEFINE_ANY(wide, AVX2, 2)
DEFINE_ROWS(wide_rows, AVX2, 2)
DEFINE_KERNEL(wide_couple, AVX2, 6, 6, 6, 0)
static const kernel wide = {0, 0, 0, factor_wide, forward_wide, backward_wide};
static const kernel wide_couple = {
    6, 6, 6, factor_wide_couple, forward_wide_couple, backward_wide_couple};
static bool is_wide(void) { return __builtin_cpu_supports("avx2"); }
static const kernel *large_kernel(void) { return is_wide() ? &wide : &tiled; }
static const kernel *couple_kernel(void) { return is_wide() ? &wide_couple : &couple; }
#else
DEFINE_ROWS(wide_rows, , 1) // not used
static const kernel *large_kernel(void) { return &tiled; }
static const kernel *couple_kernel(void) { return &couple; }
#endif

static const kernel *kernel_of(const asi_front *f) {
  if (f->w == 6 && f->r == 6 && f->split == 6) return couple_kernel();
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; ++k)
    if (kernels[k].w == f->w && kernels[k].r == f->r && kernels[k].split == f->split)
      return &kernels[k];
  return f->w >= LEAST_PIVOTS && f->w + f->r >= LEAST_LARGE ? large_kernel() : &any;
}

/// Eliminates a single with n_l entries below and n_u beside its diagonal; constants where these are usual.
ASI_INLINED bool factor_single(frontal_solver *s, const asi_single *single, int n_l, int n_u) {
  double *const store = s->store, *const l = store + single->store + 1, *const u = l + n_l;
  const int *const to = s->fronts.product + single->product;
  const double d = l[-1], inverse = 1.0 / d;
  double largest = 0.0;
#pragma GCC unroll 2
  for (int b = 0; b < n_u; ++b) {
    u[b] *= inverse;
    largest = larger(fabs(u[b]), largest);
  }
#pragma GCC unroll 2
  for (int a = 0; a < n_l; ++a)
#pragma GCC unroll 2
    for (int b = 0; b < n_u; ++b) store[to[a * n_u + b]] -= l[a] * u[b];
  l[-1] = inverse;
  for (int a = 0; a < n_l; ++a) largest = larger(fabs(l[a] * inverse), largest);
  if (!(largest * SMALL_PIVOT < 1.0)) s->doubtful = true;
  return fabs(inverse) < (double)INFINITY;
}

ASI_INLINED void forward_single(const frontal_solver *s, const asi_single *single, int n_l) {
  const double *const l = s->store + single->store + 1;
  const int *const other = s->fronts.other + single->other;
  const double y = s->y[single->place] * l[-1];
  s->y[single->place] = y;
#pragma GCC unroll 2
  for (int a = 0; a < n_l; ++a) s->y[other[a]] -= l[a] * y;
}

ASI_INLINED void backward_single(const frontal_solver *s, const asi_single *single, int n_l,
                                 int n_u) {
  const double *const u = s->store + single->store + 1 + n_l;
  const int *const other = s->fronts.other + single->other + n_l;
  double y = s->y[single->place];
#pragma GCC unroll 2
  for (int b = 0; b < n_u; ++b) y -= u[b] * s->y[other[b]];
  s->y[single->place] = y;
}

/// Does something for each single i; for the usual ones with constants n_l and n_u.
#define FOR_SINGLES(do_double, do_simple, do_any)                                                  \
  const asi_single *i = s->fronts.single, *const end = i + s->fronts.n_singles;                    \
  for (const asi_single *last = i + s->fronts.n_double; i < last; ++i) (do_double);                \
  for (const asi_single *last = i + s->fronts.n_simple; i < last; ++i) (do_simple);                \
  for (; i < end; ++i) (do_any);

static bool factor_singles(frontal_solver *s) {
  bool ok = true;
  FOR_SINGLES(ok &= factor_single(s, i, 2, 2), ok &= factor_single(s, i, 1, 1),
              ok &= factor_single(s, i, i->n_l, i->n_u))
  return ok;
}

static void forward_singles(const frontal_solver *s) {
  FOR_SINGLES(forward_single(s, i, 2), forward_single(s, i, 1), forward_single(s, i, i->n_l))
}

static void backward_singles(const frontal_solver *s) {
  FOR_SINGLES(backward_single(s, i, 2, 2), backward_single(s, i, 1, 1),
              backward_single(s, i, i->n_l, i->n_u))
}

// ---- with threads -----------------------------------------------------------------------------------
// See front_tasks.h.

// So many parts of what is done number by number for each thread; below so many numbers there is one.
enum { PARTS_PER_THREAD = 2, LEAST_NUMBERS = 4096 };

/// Work on numbers of which each is done alone.
typedef struct numbers {
  frontal_solver *s;
  double *b;
  int n_parts;
} numbers;

static int parts_of(const frontal_solver *s, size_t count) {
  if (s->tasks == NULL || count < LEAST_NUMBERS) return 1;
  return PARTS_PER_THREAD * s->tasks->n_threads;
}

static asi_pool *pool_of(const frontal_solver *s) { return s->tasks ? s->tasks->pool : NULL; }

/// Where part i of so many numbers begins, at an even place.
static size_t part_begins(size_t count, int i, int n_parts) {
  return i == n_parts ? count : count / (size_t)n_parts * (size_t)i & ~(size_t)1;
}

static void clear_part(int part, int thread, void *context) {
  const numbers *w = context;
  const size_t from = part_begins(w->s->fronts.n_store, part, w->n_parts);
  (void)thread;
  memset(w->s->store + from, 0,
         (part_begins(w->s->fronts.n_store, part + 1, w->n_parts) - from) * sizeof(double));
}

static void place_part(int part, int thread, void *context) {
  const numbers *w = context;
  frontal_solver *s = w->s;
  const size_t nnz = (size_t)s->col_start[s->fronts.n];
  const int end = (int)part_begins(nnz, part + 1, w->n_parts);
  (void)thread;
#pragma GCC unroll 8
  for (int k = (int)part_begins(nnz, part, w->n_parts); k < end; ++k)
    s->store[s->fronts.target[k]] = s->value[k];
}

/// Sizes of the diagonals from one place in the order to another; returns the larger of the largest and `largest`.
static double begin_sizes(const frontal_solver *s, double *size, int from, int to, double largest) {
  for (int k = from; k < to; ++k) {
    size[k] = fabs(s->value[s->diagonal[k]]);
    largest = larger(size[k], largest);
  }
  return largest;
}

/// A solver of a thread's own for a task, over the same factors.
static frontal_solver solver_of(const frontal_solver *s, int thread) {
  frontal_solver own = *s;
  own.stack = s->tasks->scratch[thread].stack;
  own.size = s->tasks->scratch[thread].size;
  own.others = s->tasks->scratch[thread].others;
  own.doubtful = false;
  own.pool = NULL;
  return own;
}

static void factor_task(int part, int thread, void *context) {
  const frontal_solver *whole = context;
  asi_front_tasks *tasks = whole->tasks;
  asi_front_task *task = &tasks->task[tasks->turn[part]];
  frontal_solver s = solver_of(whole, thread);
  const asi_front *root = &s.fronts.front[task->last - 1];
  const int *rest = s.fronts.rest + root->rest;
  task->largest = begin_sizes(&s, s.size, task->from, task->to, 0.0);
  for (int k = 0; k < root->r; ++k) s.size[rest[k]] = 0.0;
  bool ok = true;
  for (int i = task->first; i < task->last && ok; ++i) ok = s.kernel[i]->factor(&s, i);
  task->failed = !ok;
  task->doubtful = s.doubtful;
  for (int k = 0; k < root->r; ++k) tasks->sizes[task->sizes + (size_t)k] = s.size[rest[k]];
  if (!root->direct && ok)
    memcpy(tasks->left + task->left, s.stack + root->left,
           (size_t)(root->r * root->stride) * sizeof(double));
}

/// Takes over what a task has done for the fronts above it.
static bool take_over(frontal_solver *s, const asi_front_task *task) {
  const asi_front *root = &s->fronts.front[task->last - 1];
  const int *rest = s->fronts.rest + root->rest;
  if (task->failed) return false;
  s->doubtful = s->doubtful || task->doubtful;
  for (int k = 0; k < root->r; ++k)
    s->size[rest[k]] = larger(s->tasks->sizes[task->sizes + (size_t)k], s->size[rest[k]]);
  if (!root->direct)
    memcpy(s->stack + root->left, s->tasks->left + task->left,
           (size_t)(root->r * root->stride) * sizeof(double));
  return true;
}

static bool factor_tasks(frontal_solver *s) {
  const asi_front_tasks *tasks = s->tasks;
  const asi_front_task *task = tasks->task, *const end = task + tasks->n_tasks;
  asi_pool_run(tasks->pool, tasks->n_tasks, factor_task, s);
  int place = 0;
  for (const asi_front_task *t = task; t < end; ++t) {
    s->largest = begin_sizes(s, s->size, place, t->from, larger(t->largest, s->largest));
    place = t->to;
  }
  s->largest = begin_sizes(s, s->size, place, s->fronts.n, s->largest);
  s->pool = tasks->pool;
  for (int i = 0; i < s->fronts.n_fronts; ++i) {
    if (task < end && i == task->first) {
      if (!take_over(s, task)) return false;
      i = task++->last - 1;
    } else if (!s->kernel[i]->factor(s, i)) {
      return false;
    }
  }
  return true;
}

/// Forward substitution in a front with others outside its task: what is subtracted from these is kept.
static void forward_border(const frontal_solver *s, int front, double *outside) {
  const asi_front *f = &s->fronts.front[front];
  const int *rest = s->fronts.rest + f->rest, inside = s->tasks->inside[front];
  const double *const P = s->store + f->store;
  double *const p = s->y + f->first, *const q = s->others;
  for (int k = 0; k < inside; ++k) q[k] = s->y[rest[k]];
  for (int k = inside; k < f->r; ++k) q[k] = -0.0; // -0 - x is -x, of every x
  if (f->w == 3 && s->inverted[front]) {
    forward_three(P, f->r, f->r, p, q, q + f->r); // no rows beyond
  } else {
    if (s->searched[front]) swap_rows(s->swap + f->first, f->w, p);
    forward_front(P, f->w, f->r, f->r, p, q, NULL);
  }
  for (int k = 0; k < inside; ++k) s->y[rest[k]] = q[k];
  memcpy(outside, q + inside, (size_t)(f->r - inside) * sizeof(double));
}

static void forward_task(int part, int thread, void *context) {
  const frontal_solver *whole = context;
  const asi_front_tasks *tasks = whole->tasks;
  const asi_front_task *task = &tasks->task[tasks->turn[part]];
  const frontal_solver s = solver_of(whole, thread);
  double *outside = tasks->outside + task->outside;
  for (int i = task->first; i < task->last; ++i) {
    if (tasks->inside[i] == s.fronts.front[i].r) {
      s.kernel[i]->forward(&s, i);
    } else {
      forward_border(&s, i, outside);
      outside += s.fronts.front[i].r - tasks->inside[i];
    }
  }
}

/// Subtracts what a task has kept, in the order of its fronts.
static void subtract_kept(const frontal_solver *s, const asi_front_task *task) {
  const double *outside = s->tasks->outside + task->outside;
  for (int j = task->border; j < task->border + task->n_border; ++j) {
    const int i = s->tasks->border[j];
    const asi_front *f = &s->fronts.front[i];
    const int *rest = s->fronts.rest + f->rest;
    for (int k = s->tasks->inside[i]; k < f->r; ++k) s->y[rest[k]] += *outside++;
  }
}

static void backward_task(int part, int thread, void *context) {
  const frontal_solver *whole = context;
  const asi_front_task *task = &whole->tasks->task[whole->tasks->turn[part]];
  const frontal_solver s = solver_of(whole, thread);
  for (int i = task->last - 1; i >= task->first; --i) s.kernel[i]->backward(&s, i);
}

static void solve_tasks(frontal_solver *s) {
  const asi_front_tasks *tasks = s->tasks;
  int next = 0;
  asi_pool_run(tasks->pool, tasks->n_tasks, forward_task, s);
  for (int i = 0; i < s->fronts.n_fronts; ++i) {
    if (next < tasks->n_tasks && i == tasks->task[next].first) {
      subtract_kept(s, &tasks->task[next]);
      i = tasks->task[next++].last - 1;
    } else {
      s->kernel[i]->forward(s, i);
    }
  }
  for (int i = s->fronts.n_fronts - 1; i >= 0; --i) {
    if (next > 0 && i == tasks->task[next - 1].last - 1)
      i = tasks->task[--next].first;
    else
      s->kernel[i]->backward(s, i);
  }
  asi_pool_run(tasks->pool, tasks->n_tasks, backward_task, s);
}

// ---- all of them ------------------------------------------------------------------------------------

static bool factor_fronts(frontal_solver *s) {
  const asi_fronts *fronts = &s->fronts;
  numbers w = {.s = s, .n_parts = parts_of(s, fronts->n_store)};
  s->doubtful = false;
  asi_pool_run(pool_of(s), w.n_parts, clear_part, &w);
  asi_pool_run(pool_of(s), w.n_parts, place_part, &w);
  s->largest = 0.0;
  if (!factor_singles(s)) return false;
  if (s->tasks) return factor_tasks(s);
  s->largest = begin_sizes(s, s->size, 0, fronts->n, 0.0);
  for (int i = 0; i < fronts->n_fronts; ++i)
    if (!s->kernel[i]->factor(s, i)) return false;
  return true;
}

static void take_part(int part, int thread, void *context) {
  const numbers *w = context;
  const int *order = w->s->fronts.order;
  const size_t n = (size_t)w->s->fronts.n;
  const int end = (int)part_begins(n, part + 1, w->n_parts);
  (void)thread;
#pragma GCC unroll 4
  for (int k = (int)part_begins(n, part, w->n_parts); k < end; ++k) w->s->y[k] = w->b[order[k]];
}

static void give_part(int part, int thread, void *context) {
  const numbers *w = context;
  const int *order = w->s->fronts.order;
  const size_t n = (size_t)w->s->fronts.n;
  const int end = (int)part_begins(n, part + 1, w->n_parts);
  (void)thread;
#pragma GCC unroll 4
  for (int k = (int)part_begins(n, part, w->n_parts); k < end; ++k) w->b[order[k]] = w->s->y[k];
}

static void solve_fronts(frontal_solver *s, double *b) {
  const asi_fronts *fronts = &s->fronts;
  numbers w = {.s = s, .b = b, .n_parts = parts_of(s, (size_t)fronts->n)};
  asi_pool_run(pool_of(s), w.n_parts, take_part, &w);
  forward_singles(s);
  if (s->tasks) {
    solve_tasks(s);
  } else {
    for (int i = 0; i < fronts->n_fronts; ++i) s->kernel[i]->forward(s, i);
    for (int i = fronts->n_fronts - 1; i >= 0; --i) s->kernel[i]->backward(s, i);
  }
  backward_singles(s);
  asi_pool_run(pool_of(s), w.n_parts, give_part, &w);
}

// ---- the solver -------------------------------------------------------------------------------------

static bool is_small(const frontal_solver *s) { return s->fronts.n < ASI_MIN_SPARSE; }

/// A new one each time where it is KLU, which would remember other matrices.
static as_status make_other(frontal_solver *s) {
  const asi_fronts *f = &s->fronts;
  as_error error;
  if (is_small(s)) return asi_dense_create(f->n, s->col_start, s->row, &s->other, &error);
  if (s->other) s->other->ops->destroy(s->other);
  s->other = NULL;
  return asi_sparse_lu_create(f->n, s->col_start, s->row, f->order, ASI_ORDER_GIVEN, &s->other,
                              &error);
}

static as_status factor_other(frontal_solver *s, int *culprit) {
  const as_status status = is_small(s) ? AS_OK : make_other(s);
  *culprit = 0;
  s->known = s->has_other = status == AS_OK;
  if (!s->known) // nor are there others: the fronts are half done
    return status == AS_ERR_UNSUPPORTED ? AS_ERR_SINGULAR : AS_ERR_MEMORY;
  ++s->count;
  return s->other->ops->factor(s->other, s->value, culprit);
}

static void measure_rows(frontal_solver *s) {
  const int n = s->fronts.n, nnz = s->col_start[n];
  memset(s->row_scale, 0, (size_t)n * sizeof(double));
  for (int k = 0; k < nnz; ++k)
    s->row_scale[s->row[k]] = larger(fabs(s->value[k]), s->row_scale[s->row[k]]);
}

/// Whether all that is left of a row is round-off, its pivot too: two rows of a singular matrix may have made nothing of each
/// other though none of their diagonals was ever large. Rows are looked at only where a pivot is small beside the diagonals.
static bool has_lost_a_row(frontal_solver *s) {
  const int n = s->fronts.n;
  double largest = 0.0;
#pragma GCC unroll 4
  for (int k = 0; k < n; ++k) largest = larger(fabs(s->inverse[k]), largest);
  if (largest * s->largest < SUSPICIOUS) return false;
  measure_rows(s);
  for (int k = 0; k < n; ++k)
    if (fabs(s->inverse[k]) * s->row_scale[s->fronts.order[k]] > LOST_ROW) return true;
  return false;
}

static as_status frontal_factor(asi_solver *solver, double *value, int *culprit) {
  frontal_solver *s = (frontal_solver *)solver;
  *culprit = 0;
  s->value = value;
  s->known = true;
  s->has_other = false;
  s->by_other = !factor_fronts(s) || has_lost_a_row(s);
  if (s->by_other) return factor_other(s, culprit);
  if (s->doubtful) measure_rows(s);
  return AS_OK;
}

/// [LS.1] |b - A x|_i <= w (|A| |x| + |b|)_i + 1e-15 max_j |a_ij| max |x|; the residual is kept
static bool holds(frontal_solver *s, const double *x) {
  const asi_equations e = {s->fronts.n, s->col_start, s->row,
                           s->value,    s->row_scale, s->right_side};
  return asi_satisfies(&e, x, s->bad, ROUND_OFF, s->residual, s->magnitude);
}

static as_status frontal_solve(asi_solver *solver, double *b) {
  frontal_solver *s = (frontal_solver *)solver;
  const size_t n = (size_t)s->fronts.n;
  if (s->by_other) return s->other->ops->solve(s->other, b);
  if (!s->doubtful) {
    solve_fronts(s, b);
    return AS_OK;
  }
  memcpy(s->right_side, b, n * sizeof(double));
  solve_fronts(s, b);
  if (holds(s, b)) return AS_OK;
  solve_fronts(s, s->residual);
  for (size_t i = 0; i < n; ++i) b[i] += s->residual[i];
  if (holds(s, b)) return AS_OK;
  int culprit = 0;
  const as_status status = s->has_other ? AS_OK : factor_other(s, &culprit);
  if (status) {
    s->has_other = false;
    return status;
  }
  memcpy(b, s->right_side, n * sizeof(double));
  return s->other->ops->solve(s->other, b);
}

static void frontal_info(const asi_solver *solver, asi_solver_info *out) {
  const frontal_solver *s = (const frontal_solver *)solver;
  if (s->by_other && s->has_other)
    s->other->ops->info(s->other, out);
  else
    *out = (asi_solver_info){.backend = "blocks",
                             .order = "bodies and joints",
                             .fill = s->fronts.entries,
                             .factor_operations = FACTOR_COST * s->fronts.operations,
                             .solve_operations = SOLVE_COST * 2.0 * s->fronts.entries};
  out->full_factorizations = s->known ? s->count + 1 : 0;
}

/// Factors follow from the matrix alone: they are made again.
static void frontal_serialize(asi_solver *solver, double *value, asi_archive *a) {
  frontal_solver *s = (frontal_solver *)solver;
  asi_archive_bool(a, &s->known);
  asi_archive_count(a, &s->count);
  if (a->mode != ASI_ARCHIVE_READ) return;
  const long count = s->count;
  int culprit = 0;
  s->by_other = s->has_other = false;
  s->known = s->known && !a->damaged;
  if (s->known && frontal_factor(solver, value, &culprit) == AS_ERR_MEMORY) {
    a->no_memory = a->damaged = true;
    s->by_other = false;
  }
  s->count = count;
}

static void frontal_forget(asi_solver *solver) {
  frontal_solver *s = (frontal_solver *)solver;
  s->known = s->by_other = s->has_other = false;
  s->count = 0;
}

static void frontal_destroy(asi_solver *solver) {
  frontal_solver *s = (frontal_solver *)solver;
  if (s->other) s->other->ops->destroy(s->other);
  if (!s->borrows) {
    asi_front_tasks_destroy(s->tasks);
    asi_fronts_free(&s->fronts);
    free(s->kernel);
    free(s->diagonal);
  }
  free(s->store);
  free(s->inverse);
  free(s->stack);
  free(s->swap);
  free(s->y);
  free(s->searched);
  free(s->inverted);
  free(s->others);
  free(s->size);
  free(s->row_scale);
  free(s->right_side);
  free(s->residual);
  free(s->magnitude);
  free(s);
}

/// Takes all memory that factors and solutions need.
static as_status take_memory(frontal_solver *s, as_error *error) {
  const size_t n = (size_t)s->fronts.n, n_fronts = (size_t)s->fronts.n_fronts;
  s->store = asi_calloc(s->fronts.n_store + 1, sizeof(double)); // a pair may reach beyond its end
  s->inverse = asi_calloc(n, sizeof(double));
  s->stack = asi_calloc(s->fronts.n_stack, sizeof(double));
  s->swap = asi_calloc(n, sizeof(int));
  s->y = asi_calloc(n, sizeof(double));
  s->searched = asi_calloc(n_fronts, sizeof(bool));
  s->inverted = asi_calloc(n_fronts, sizeof(bool));
  s->others = asi_calloc((size_t)s->fronts.largest, sizeof(double));
  s->size = asi_calloc(n, sizeof(double));
  s->row_scale = asi_calloc(n, sizeof(double));
  s->right_side = asi_calloc(n, sizeof(double));
  s->residual = asi_calloc(n, sizeof(double));
  s->magnitude = asi_calloc(n, sizeof(double));
  if (!s->store || !s->inverse || !s->stack || !s->swap || !s->y || !s->searched || !s->inverted ||
      !s->others || !s->size || !s->row_scale || !s->right_side || !s->residual || !s->magnitude)
    return asi_fail_memory(error);
  s->bad = is_small(s) ? BAD_SMALL_SOLUTION : BAD_SOLUTION;
  s->least = is_small(s) ? SMALLEST_SMALL_PIVOT : SMALLEST_PIVOT;
  if (is_small(s) && make_other(s)) return asi_fail_memory(error); // rather than in a step
  return AS_OK;
}

static as_status frontal_twin(const asi_solver *solver, asi_solver **out, as_error *error) {
  const frontal_solver *first = (const frontal_solver *)solver;
  *out = NULL;
  frontal_solver *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  *s = (frontal_solver){.base = first->base,
                        .borrows = true,
                        .fronts = first->fronts,
                        .kernel = first->kernel,
                        .diagonal = first->diagonal,
                        .tasks = first->tasks,
                        .col_start = first->col_start,
                        .row = first->row};
  const as_status status = take_memory(s, error);
  if (status)
    frontal_destroy(&s->base);
  else
    *out = &s->base;
  return status;
}

static as_status frontal_use_threads(asi_solver *solver, asi_pool *pool, as_error *error) {
  frontal_solver *s = (frontal_solver *)solver;
  return s->borrows ? AS_OK : asi_front_tasks_create(&s->fronts, pool, &s->tasks, error);
}

static const asi_solver_ops frontal_ops = {
    .factor = frontal_factor,
    .solve = frontal_solve,
    .forget = frontal_forget,
    .info = frontal_info,
    .serialize = frontal_serialize,
    .destroy = frontal_destroy,
    .twin = frontal_twin,
    .use_threads = frontal_use_threads,
};

static bool is_worth_while(const asi_fronts *f, const asi_elimination *e) {
  for (int i = 0; i < e->n_blocks; ++i)
    if (e->first[i + 1] - e->first[i] > LARGEST_BLOCK) return false;
  return f->n >= FEWEST_PIVOTS * f->n_fronts && f->largest <= ASI_LARGEST_FRONT &&
         f->n_store < INT_MAX;
}

as_status asi_frontal_create(int n, const int *col_start, const int *row,
                             const asi_elimination *elimination, asi_solver **out,
                             as_error *error) {
  *out = NULL;
  frontal_solver *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  *s = (frontal_solver){.base = {&frontal_ops}, .col_start = col_start, .row = row};
  as_status status = asi_fronts_init(&s->fronts, n, col_start, row, elimination, error);
  if (status || !is_worth_while(&s->fronts, elimination)) {
    frontal_destroy(&s->base);
    return status;
  }
  s->kernel = asi_calloc((size_t)s->fronts.n_fronts, sizeof(void *));
  s->diagonal = asi_calloc((size_t)n, sizeof(int));
  status = s->kernel && s->diagonal ? take_memory(s, error) : asi_fail_memory(error);
  if (status) {
    frontal_destroy(&s->base);
    return status;
  }
  for (int i = 0; i < s->fronts.n_fronts; ++i) s->kernel[i] = kernel_of(&s->fronts.front[i]);
  for (int k = 0; k < n; ++k) {
    const int j = s->fronts.order[k];
    for (int i = col_start[j]; i < col_start[j + 1]; ++i)
      if (row[i] == j) s->diagonal[k] = i;
  }
  *out = &s->base;
  return AS_OK;
}
