/// Sparse LU by blocks (multifrontal): bodies and joints are eliminated as small dense matrices.
///
/// Pivots are searched within a front's own rows only. That is enough as long as a joint comes after a body
/// that it holds: bodies have their mass, a joint then has B S^-1 B^T. Where it is not enough (redundant
/// constraints, singular positions, masses next to nothing) a pivot is much smaller than expected, or entries
/// grow and the first solution does not satisfy its equations; then KLU, or dense LU if it is small, factorizes the
/// matrix, and some of those after it.
///
/// Three pivots, those of a ball joint or of a body's rotation, are eliminated at once by the inverse of their matrix, if
/// its rows are far from lying in one plane.
///
/// Growth. An entry that becomes a - sum l u on its way has an error of a few roundings of the largest value that
/// it takes (Wilkinson): the factors are those of a matrix that differs by so much. So solutions are as good as
/// those of a factorization before as long as entries grow no more. What is looked at are the pivots p_k and
/// what a front leaves in the rows that its parent eliminates, s_ij, in the units of the pivots e_k that are
/// expected,
///
///     growth = sum (p_k / e_k)^2 + sum (s_ij)^2 / (e_i e_j)
///
/// for each front; of three pivots at once, the entries of their matrix; of singles, what they leave. A solution is put into its equations only if a front's growth is above what it was when one
/// satisfied them well, by more than the square of the digits that may be lost since. The right side at hand may leave
/// out parts of the machine that are at rest; so one that leaves out nothing is solved for, too. Large growth as
/// such is no sign of trouble: a body carries all bodies that it holds; at the end of 1000 hinges their inertia
/// is 10^9 times its own.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/fronts.h"
#include "linalg/kernels.h"
#include "linalg/residual.h"
#include "linalg/solver.h"

// A diagonal entry below this fraction of its column counts as zero.
#define ZERO_DIAGONAL 1e-5
// Componentwise backward error above which a solution is not believed, and the fraction of what is expected below which
// no pivot is used. They are stricter for small matrices: dense LU, which is more accurate, costs little there.
#define BAD_SOLUTION 1e-10
#define BAD_SMALL_SOLUTION 1e-12
#define SMALLEST_PIVOT 1e-12
#define SMALLEST_SMALL_PIVOT 1e-6
// A solution that is better than a bad one by this is good: as long as entries grow by no more than what is left to
// it, none is looked at.
#define GOOD_SOLUTION 0.3
#define HUGE_GROWTH 1e100
// What is expected is raised to pivots that are larger by this.
#define FAR_LARGER 1e3
#define MORE_GROWTH 100.0
// KLU is faster if fronts have fewer pivots than this on average, or a block is larger than that.
#define FEWEST_PIVOTS 2.5
// What an operation takes, in those of KLU; measured on a chain of 1000 links.
#define FACTOR_COST 0.2
#define SOLVE_COST 0.35
enum { LARGEST_BLOCK = 24, LONGEST_BACKOFF = 1024 };

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
  asi_fronts fronts;
  const kernel **kernel; ///< of each front
  const int *col_start, *row;
  double smallest, bad;   ///< pivots and solutions that are not used
  double *value;          ///< of the last factorization
  double *store;          ///< P and L of all fronts
  double *inverse;        ///< n: 1 / pivot
  double *stack;          ///< what fronts leave for their parents
  int *swap;              ///< n: the row of its front that was exchanged with that of pivot k
  double *y;              ///< n: a solution in the order of elimination
  bool *searched;         ///< for each front: pivots were searched, swap is known
  bool *inverted;         ///< for each front: its three pivots were eliminated at once
  double *others;         ///< of one front: their part of a solution
  double *expected;       ///< n: size of each pivot, in the order of elimination
  double *enough;         ///< a pivot above this is taken as it comes
  double *scale;          ///< 1 / expected
  double *weight;         ///< of the others of fronts, as fronts.rest: 1 / sqrt(expected)
  double *product_weight; ///< of the products of singles: 1 / (expected expected)
  double *growth;         ///< of each front
  double *limit;          ///< of growth: above it a solution is looked at
  double *row_scale, *right_side, *residual, *magnitude; ///< n, for checking solutions
  double *probe;                                         ///< n: a solution made up for that
  bool measured;                                         ///< expected and row_scale are known
  bool unchecked; ///< entries have grown, and no solution has been looked at yet
  bool proven; ///< the fronts at hand gave a very good solution: the next ones may have such pivots
  asi_solver *
      fallback; ///< solver without blocks: dense LU if the matrix is small, else KLU; NULL: not needed so far
  bool by_fallback; ///< the factors at hand are its
  int retry_in;     ///< so many factorizations are its before the fronts are tried again
  int backoff;      ///< how many it was the last time
  long by_other;    ///< factorizations that it made
  bool known;       ///< there are factors
};

// ---- elimination ------------------------------------------------------------------------------------

ASI_INLINED remains remains_of(const frontal_solver *s, const asi_front *f, int r, int split) {
  return (remains){.S = (f->direct ? s->store : s->stack) + f->work,
                   .below = s->store + f->below,
                   .beyond = s->store + f->beyond,
                   .stride = f->stride,
                   .below_stride = f->below_stride,
                   .beyond_stride = f->beyond_stride,
                   .split = split,
                   .inside = split < r ? split : f->inside};
}

/// Adds what a child has left to its parent's front.
static void extend_add(const frontal_solver *s, const asi_front *f, const asi_front *child) {
  const int w = f->w, r = child->r, inside = child->inside, split = f->split;
  const int *place = s->fronts.place + child->rest;
  const double *left = s->stack + child->left;
  double *const P = s->store + f->store, *const L = P + w * f->length;
  const remains to = remains_of(s, f, f->r, split);
  for (int i = 0; i < r; ++i, left += child->stride) {
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

/// What the children of a front have left, and room for what it leaves, unless the parent has that.
static void begin_front(const frontal_solver *s, const asi_front *f) {
  const asi_fronts *fronts = &s->fronts;
  if (!f->direct) memset(s->stack + f->work, 0, (size_t)(f->r * f->stride) * sizeof(double));
  for (int k = 0; k < f->n_children; ++k)
    extend_add(s, f, &fronts->front[fronts->child[f->child + (size_t)k]]);
}

/// One pivot after the other. w, r and split are those of the front; constants where they are usual ones.
ASI_INLINED bool eliminate(frontal_solver *s, int front, int w, int r, int split) {
  const asi_front *f = &s->fronts.front[front];
  const remains to = remains_of(s, f, r, split);
  return eliminate_front(s->store + f->store, &to, w, r, s->enough + f->first, s->scale + f->first,
                         s->smallest, s->weight + f->rest, s->swap + f->first, &s->searched[front],
                         s->inverse + f->first, &s->growth[front]);
}

static bool eliminate_any(frontal_solver *s, int front) {
  const asi_front *f = &s->fronts.front[front];
  return eliminate(s, front, f->w, f->r, f->split);
}

/// Three pivots at once, or one by one where that would not be accurate.
ASI_INLINED bool eliminate_at_once(frontal_solver *s, int front, int r, int split) {
  const asi_front *f = &s->fronts.front[front];
  const remains to = remains_of(s, f, r, split);
  s->inverted[front] = eliminate_three(s->store + f->store, &to, r, s->enough + f->first,
                                       s->scale + f->first, s->weight + f->rest, &s->growth[front]);
  return s->inverted[front] || eliminate_any(s, front);
}

ASI_INLINED bool factor_front(frontal_solver *s, int front, int w, int r, int split) {
  const asi_front *f = &s->fronts.front[front];
  if (!f->direct || f->n_children > 0) begin_front(s, f);
  const bool done =
      w == 3 ? eliminate_at_once(s, front, r, split) : eliminate(s, front, w, r, split);
  if (!(s->growth[front] <= s->limit[front])) s->unchecked = true;
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

ASI_INLINED void forward(const frontal_solver *s, int front, int w, int r, int split) {
  const asi_front *f = &s->fronts.front[front];
  const int *rest = s->fronts.rest + f->rest;
  double *const p = s->y + f->first, *const q = f->direct ? s->y + rest[0] : collect(s, f);
  double *const more = split < r ? s->y + rest[split] : NULL;
  if (w == 3 && s->inverted[front]) {
    forward_three(s->store + f->store, r, split, p, q, more);
  } else {
    if (s->searched[front]) swap_rows(s->swap + f->first, w, p);
    forward_front(s->store + f->store, w, r, split, p, q, more);
  }
  for (int k = 0; k < r && !f->direct; ++k) s->y[rest[k]] = q[k];
}

ASI_INLINED void backward(const frontal_solver *s, int front, int w, int r, int split) {
  const asi_front *f = &s->fronts.front[front];
  const int *rest = s->fronts.rest + f->rest;
  const double *const q = f->direct ? s->y + rest[0] : collect(s, f);
  const double *const more = split < r ? s->y + rest[split] : NULL;
  if (w == 3 && s->inverted[front])
    backward_three(s->store + f->store, r, split, s->y + f->first, q, more);
  else
    backward_front(s->store + f->store, s->inverse + f->first, w, r, split, s->y + f->first, q,
                   more);
}

#define DEFINE_KERNEL(name, w, r, split)                                                           \
  static bool factor_##name(frontal_solver *s, int i) { return factor_front(s, i, w, r, split); }  \
  static void forward_##name(const frontal_solver *s, int i) { forward(s, i, w, r, split); }       \
  static void backward_##name(const frontal_solver *s, int i) { backward(s, i, w, r, split); }

DEFINE_KERNEL(any, s->fronts.front[i].w, s->fronts.front[i].r, s->fronts.front[i].split)
DEFINE_KERNEL(6_3_3, 6, 3, 3) // a body before a ball joint, and the joint after it
DEFINE_KERNEL(3_6_6, 3, 6, 6)
DEFINE_KERNEL(3_6_3, 3, 6, 3) // rotation of a body between two ball joints
DEFINE_KERNEL(6_5_5, 6, 5, 5) // a hinge
DEFINE_KERNEL(5_6_6, 5, 6, 6)
DEFINE_KERNEL(11_6_6, 11, 6, 6) // both, where forces of the joint couple its bodies
DEFINE_KERNEL(3_3_3, 3, 3, 3)   // joints alone
DEFINE_KERNEL(5_5_5, 5, 5, 5)
DEFINE_KERNEL(6_6_6, 6, 6, 6)
DEFINE_KERNEL(9_6_6, 9, 6, 6)
DEFINE_KERNEL(3_12_12, 3, 12, 12)

#define KERNEL(w, r, split)                                                                        \
  {                                                                                                \
    w, r, split, factor_##w##_##r##_##split, forward_##w##_##r##_##split,                          \
        backward_##w##_##r##_##split                                                               \
  }
static const kernel kernels[] = {{0, 0, 0, factor_any, forward_any, backward_any},
                                 KERNEL(6, 3, 3),
                                 KERNEL(3, 6, 6),
                                 KERNEL(3, 6, 3),
                                 KERNEL(6, 5, 5),
                                 KERNEL(5, 6, 6),
                                 KERNEL(11, 6, 6),
                                 KERNEL(3, 3, 3),
                                 KERNEL(5, 5, 5),
                                 KERNEL(6, 6, 6),
                                 KERNEL(9, 6, 6),
                                 KERNEL(3, 12, 12)};

static const kernel *kernel_of(const asi_front *f) {
  for (size_t k = 1; k < sizeof kernels / sizeof kernels[0]; ++k)
    if (kernels[k].w == f->w && kernels[k].r == f->r && kernels[k].split == f->split)
      return &kernels[k];
  return &kernels[0];
}

/// Eliminates a single with n_l entries below and n_u beside its diagonal; constants where these are usual. Growth is
/// that of the products, for the first front that it touches.
ASI_INLINED bool factor_single(frontal_solver *s, const asi_single *single, int n_l, int n_u) {
  double *const store = s->store, *const l = store + single->store + 1, *const u = l + n_l;
  const int *const to = s->fronts.product + single->product;
  const double *const weight = s->product_weight + single->product;
  const double d = l[-1], inverse = 1.0 / d;
  double sum = 0.0;
#pragma GCC unroll 2
  for (int b = 0; b < n_u; ++b) u[b] *= inverse;
#pragma GCC unroll 2
  for (int a = 0; a < n_l; ++a)
#pragma GCC unroll 2
    for (int b = 0; b < n_u; ++b) {
      const double product = l[a] * u[b];
      store[to[a * n_u + b]] -= product;
      sum += product * product * weight[a * n_u + b];
    }
  l[-1] = inverse;
  s->growth[single->front] += sum;
  return fabs(d * s->scale[single->place]) > s->smallest;
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

static bool factor_fronts(frontal_solver *s) {
  const asi_fronts *fronts = &s->fronts;
  s->unchecked = false;
  memset(s->store, 0, fronts->n_store * sizeof(double));
  memset(s->growth, 0, (size_t)fronts->n_fronts * sizeof(double));
  const int nnz = s->col_start[fronts->n];
#pragma GCC unroll 8
  for (int k = 0; k < nnz; ++k) s->store[fronts->target[k]] = s->value[k];
  if (!factor_singles(s)) return false;
  for (int i = 0; i < fronts->n_fronts; ++i)
    if (!s->kernel[i]->factor(s, i)) return false;
  return true;
}

static void solve_fronts(const frontal_solver *s, double *b) {
  const asi_fronts *fronts = &s->fronts;
#pragma GCC unroll 4
  for (int k = 0; k < fronts->n; ++k) s->y[k] = b[fronts->order[k]];
  forward_singles(s);
  for (int i = 0; i < fronts->n_fronts; ++i) s->kernel[i]->forward(s, i);
  for (int i = fronts->n_fronts - 1; i >= 0; --i) s->kernel[i]->backward(s, i);
  backward_singles(s);
#pragma GCC unroll 4
  for (int k = 0; k < fronts->n; ++k) b[fronts->order[k]] = s->y[k];
}

// ---- what to expect ---------------------------------------------------------------------------------

/// Units of pivots and of what fronts leave, from what is expected. The numbers between lists stay zero.
static void set_units(frontal_solver *s) {
  for (int k = 0; k < s->fronts.n; ++k) s->scale[k] = 1.0 / s->expected[k];
  for (int i = 0; i < s->fronts.n_fronts; ++i) {
    const asi_front *f = &s->fronts.front[i];
    for (size_t k = f->rest; k < f->rest + (size_t)f->r; ++k)
      s->weight[k] = sqrt(s->scale[s->fronts.rest[k]]);
  }
  for (int i = 0; i < s->fronts.n_singles; ++i) {
    const asi_single *single = &s->fronts.single[i];
    const int *l = s->fronts.other + single->other, *u = l + single->n_l;
    double *weight = s->product_weight + single->product;
    for (int a = 0; a < single->n_l; ++a)
      for (int b = 0; b < single->n_u; ++b) *weight++ = s->scale[l[a]] * s->scale[u[b]];
  }
}

/// Measures the rows, and how large pivots should be, in the order of elimination: the diagonal where there is
/// one; where it is next to nothing in its column, what those eliminated before make of it, sum |a_ki a_ik / p_i|
/// with their pivots p_i, if that is more. A test of magnitudes, so it is not done for every matrix.
static void measure(frontal_solver *s) {
  const int n = s->fronts.n;
  double *pivot = s->magnitude; // of each unknown; 0: its turn has not come yet
  for (int j = 0; j < n; ++j) pivot[j] = s->row_scale[j] = 0.0;
  for (int k = 0; k < n; ++k) {
    const int j = s->fronts.order[k];
    double diagonal = 0.0, largest = 0.0, sum = 0.0;
    for (int i = s->col_start[j]; i < s->col_start[j + 1]; ++i) {
      const int row = s->row[i];
      const double size = fabs(s->value[i]);
      if (row == j) diagonal = size;
      // a_ki a_ik as a_ik^2: constraint rows and constraint forces are alike.
      if (pivot[row] > 0.0) sum += size * size / pivot[row];
      largest = fmax(largest, size);
      s->row_scale[row] = fmax(s->row_scale[row], size);
    }
    s->expected[k] = pivot[j] = diagonal > ZERO_DIAGONAL * largest ? diagonal : fmax(diagonal, sum);
  }
  set_units(s);
  for (int k = 0; k < n; ++k) s->enough[k] = GOOD_PIVOT * s->expected[k];
  for (int i = 0; i < s->fronts.n_fronts; ++i) s->limit[i] = 0.0;
  s->measured = true;
}

static double pivot_of(const frontal_solver *s, int front, int k) {
  const asi_front *f = &s->fronts.front[front];
  const double entry = fabs(s->store[f->store + (size_t)(k * (f->length + 1))]);
  return s->inverted[front] ? 1.0 / entry : entry;
}

/// Pivots like those at hand need no search, though they are smaller than expected: what a joint holds carries
/// others, and is harder to move than it is itself.
static void expect_such_pivots(frontal_solver *s) {
  for (int i = 0; i < s->fronts.n_fronts; ++i) {
    const asi_front *f = &s->fronts.front[i];
    for (int k = 0; k < f->w && !s->inverted[i]; ++k) {
      const double size = s->expected[f->first + k], pivot = pivot_of(s, i, k);
      s->enough[f->first + k] = fmax(GOOD_PIVOT * fmin(size, pivot), s->smallest * size);
    }
  }
}

/// Expects pivots as large as those at hand, where these are far larger: the position was such that little was to be
/// expected, but others were found. Else that growth would hide all other. True: the units have changed.
static bool raise_expected(frontal_solver *s) {
  bool raised = false;
  for (int i = 0; i < s->fronts.n_fronts; ++i) {
    const asi_front *f = &s->fronts.front[i];
    for (int k = f->first; k < f->first + f->w; ++k) {
      const double pivot = pivot_of(s, i, k - f->first);
      if (!(pivot > FAR_LARGER * s->expected[k] && pivot < HUGE_GROWTH)) continue;
      s->expected[k] = pivot;
      s->enough[k] = GOOD_PIVOT * pivot;
      raised = true;
    }
  }
  if (raised) set_units(s);
  return raised;
}

static bool factor_anew(frontal_solver *s) {
  measure(s);
  return factor_fronts(s) && (!raise_expected(s) || factor_fronts(s));
}

// ---- the solver -------------------------------------------------------------------------------------

static bool is_small(const frontal_solver *s) { return s->fronts.n < ASI_MIN_SPARSE; }

static as_status need_whole(frontal_solver *s) {
  if (s->fallback) return AS_OK;
  as_error error;
  if (is_small(s)) return asi_dense_create(s->fronts.n, s->col_start, s->row, &s->fallback, &error);
  return asi_sparse_lu_create(
      s->fronts.n, s->col_start, s->row, s->fronts.order,
      ASI_ORDER_GIVEN | ASI_ORDER_NATURAL | ASI_ORDER_AMD | ASI_ORDER_COLAMD, &s->fallback, &error);
}

static as_status factor_whole(frontal_solver *s, int *culprit) {
  const as_status status = need_whole(s);
  s->known = s->by_fallback = status == AS_OK;
  *culprit = 0;
  if (!s->known) // nor are there others: the fronts are half done
    return status == AS_ERR_UNSUPPORTED ? AS_ERR_SINGULAR : AS_ERR_MEMORY;
  ++s->by_other;
  return s->fallback->ops->factor(s->fallback, s->value, culprit);
}

/// The fronts failed: the other solver is to take this matrix and the next ones, twice as many as the last time.
static void step_back(frontal_solver *s) {
  s->measured = false;
  s->retry_in = s->backoff;
  if (s->backoff < LONGEST_BACKOFF) s->backoff *= 2;
}

/// Whether a solution was good since sizes were measured: fronts have grown since then.
static bool has_limits(const frontal_solver *s) {
  bool some = false;
  for (int i = 0; i < s->fronts.n_fronts; ++i) some = some || s->limit[i] > 0.0;
  return some;
}

static as_status frontal_factor(asi_solver *solver, double *value, int *culprit) {
  frontal_solver *s = (frontal_solver *)solver;
  if (s->proven) expect_such_pivots(s);
  s->proven = false;
  *culprit = 0;
  s->value = value;
  s->known = true;
  if (s->retry_in > 0) {
    --s->retry_in;
    return factor_whole(s, culprit);
  }
  const bool stale = s->measured;
  bool ok = stale ? factor_fronts(s) : factor_anew(s);
  // Sizes may be those of a position that was left long ago.
  if (stale && (!ok || (s->unchecked && has_limits(s)))) ok = factor_anew(s);
  if (!ok) {
    step_back(s);
    return factor_whole(s, culprit);
  }
  if (s->fallback && !is_small(s)) {
    s->fallback->ops->destroy(s->fallback);
    s->fallback = NULL;
  }
  s->by_fallback = false;
  if (!s->unchecked) s->backoff = 1;
  return AS_OK;
}

static double error_of(frontal_solver *s, const double *x) {
  const asi_equations e = {s->fronts.n, s->col_start, s->row,
                           s->value,    s->row_scale, s->right_side};
  return asi_backward_error(&e, x, s->residual, s->magnitude);
}

/// The error of a solution that all fronts have a part in, whatever the right side at hand is: b = A u with u of
/// either sign, about 1 in the units of the pivots.
static double error_of_probe(frontal_solver *s) {
  const int n = s->fronts.n;
  double *const b = s->right_side, *const u = s->probe;
  unsigned random = 1;
  for (int k = 0; k < n; ++k) {
    random = 1664525u * random + 1013904223u;
    const double size = 0.5 + (random >> 9) * 0x1p-23;
    u[s->fronts.order[k]] = (random >> 8 & 1 ? size : -size) * sqrt(s->scale[k]);
  }
  memset(b, 0, (size_t)n * sizeof(double));
  for (int j = 0; j < n; ++j)
    for (int i = s->col_start[j]; i < s->col_start[j + 1]; ++i) b[s->row[i]] += s->value[i] * u[j];
  memcpy(u, b, (size_t)n * sizeof(double));
  solve_fronts(s, u);
  return error_of(s, u);
}

/// Looks at a solution. If it is good with a margin, and so is one that all fronts have a part in, they may grow as
/// they did for these, and more by as much as these are better than that.
static bool is_good(frontal_solver *s, const double *x) {
  double error = error_of(s, x);
  const double good = GOOD_SOLUTION * s->bad;
  if (!(error <= good)) return error <= s->bad;
  error = fmax(error, error_of_probe(s));
  if (error > good) return true;
  const double more = fmin(good / error, MORE_GROWTH);
  for (int i = 0; i < s->fronts.n_fronts; ++i)
    s->limit[i] = s->growth[i] < HUGE_GROWTH ? more * more * s->growth[i] : 0.0;
  s->proven = true;
  return true;
}

static bool is_zero(const double *b, int n) {
  int i = 0;
  while (i < n && b[i] == 0.0) ++i;
  return i == n;
}

static as_status frontal_solve(asi_solver *solver, double *b) {
  frontal_solver *s = (frontal_solver *)solver;
  const size_t n = (size_t)s->fronts.n;
  if (s->by_fallback) return s->fallback->ops->solve(s->fallback, b);
  if (!s->unchecked || is_zero(b, s->fronts.n)) { // zeros tell nothing
    solve_fronts(s, b);
    return AS_OK;
  }
  s->unchecked = false;
  memcpy(s->right_side, b, n * sizeof(double));
  solve_fronts(s, b);
  if (is_good(s, b)) {
    s->backoff = 1;
    return AS_OK;
  }
  step_back(s);
  int culprit = 0;
  const as_status status = factor_whole(s, &culprit);
  if (status) return status;
  memcpy(b, s->right_side, n * sizeof(double));
  return s->fallback->ops->solve(s->fallback, b);
}

static void frontal_info(const asi_solver *solver, asi_solver_info *out) {
  const frontal_solver *s = (const frontal_solver *)solver;
  if (s->by_fallback && s->fallback)
    s->fallback->ops->info(s->fallback, out);
  else
    *out = (asi_solver_info){.backend = "blocks",
                             .order = "bodies and joints",
                             .fill = s->fronts.entries,
                             .factor_operations = FACTOR_COST * s->fronts.operations,
                             .solve_operations = SOLVE_COST * 2.0 * s->fronts.entries};
  out->full_factorizations = s->known ? s->by_other + 1 : 0;
}

static bool are_sizes(const double *x, size_t n) {
  bool ok = true;
  for (size_t i = 0; i < n; ++i) ok = ok && isfinite(x[i]) && x[i] >= 0.0;
  return ok;
}

static void frontal_visit(asi_solver *solver, double *value, asi_archive *a) {
  frontal_solver *s = (frontal_solver *)solver;
  const size_t n = (size_t)s->fronts.n, n_fronts = (size_t)s->fronts.n_fronts;
  asi_archive_bool(a, &s->known);
  asi_archive_bool(a, &s->measured);
  asi_archive_bool(a, &s->by_fallback);
  asi_archive_bool(a, &s->unchecked);
  asi_archive_bool(a, &s->proven);
  asi_archive_int(a, &s->retry_in, 0, LONGEST_BACKOFF);
  asi_archive_int(a, &s->backoff, 1, LONGEST_BACKOFF);
  asi_archive_count(a, &s->by_other);
  if (a->mode == ASI_ARCHIVE_READ && s->fallback && !is_small(s)) {
    s->fallback->ops->destroy(s->fallback);
    s->fallback = NULL;
  }
  if (s->by_fallback && !s->known) a->damaged = true;
  if (a->damaged || !s->known) {
    s->known = s->by_fallback = false;
    return;
  }
  if (s->measured) {
    asi_archive_doubles(a, s->expected, n);
    asi_archive_doubles(a, s->enough, n);
    asi_archive_doubles(a, s->row_scale, n);
    asi_archive_doubles(a, s->limit, n_fronts);
    if (a->mode == ASI_ARCHIVE_READ) {
      if (!are_sizes(s->expected, n) || !are_sizes(s->enough, n) || !are_sizes(s->row_scale, n) ||
          !are_sizes(s->limit, n_fronts))
        a->damaged = true;
      set_units(s);
    }
  }
  if (a->mode == ASI_ARCHIVE_READ && s->by_fallback && need_whole(s)) {
    a->no_memory = a->damaged = true;
    s->known = s->by_fallback = false;
    return;
  }
  if (s->fallback && (s->by_fallback || is_small(s)))
    s->fallback->ops->visit(s->fallback, value, a);
  if (!s->by_fallback && a->mode == ASI_ARCHIVE_READ && !a->damaged) {
    const bool unchecked = s->unchecked;
    s->value = value;
    if (!factor_fronts(s)) a->damaged = true;
    s->unchecked = unchecked;
  }
}

static void frontal_forget(asi_solver *solver) {
  frontal_solver *s = (frontal_solver *)solver;
  s->measured = s->unchecked = s->proven = s->known = s->by_fallback = false;
  s->retry_in = 0;
  s->backoff = 1;
  s->by_other = 0;
  if (s->fallback && s->fallback->ops->forget) {
    s->fallback->ops->forget(s->fallback);
  } else if (s->fallback) {
    s->fallback->ops->destroy(s->fallback);
    s->fallback = NULL;
  }
}

static void frontal_destroy(asi_solver *solver) {
  frontal_solver *s = (frontal_solver *)solver;
  if (s->fallback) s->fallback->ops->destroy(s->fallback);
  asi_fronts_free(&s->fronts);
  free(s->kernel);
  free(s->store);
  free(s->inverse);
  free(s->stack);
  free(s->swap);
  free(s->y);
  free(s->searched);
  free(s->inverted);
  free(s->others);
  free(s->expected);
  free(s->enough);
  free(s->scale);
  free(s->weight);
  free(s->product_weight);
  free(s->growth);
  free(s->limit);
  free(s->row_scale);
  free(s->right_side);
  free(s->residual);
  free(s->magnitude);
  free(s->probe);
  free(s);
}

static const asi_solver_ops frontal_ops = {frontal_factor, frontal_solve, frontal_forget,
                                           frontal_info,   frontal_visit, frontal_destroy};

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
  *s = (frontal_solver){.base = {&frontal_ops}, .col_start = col_start, .row = row, .backoff = 1};
  as_status status = asi_fronts_init(&s->fronts, n, col_start, row, elimination, error);
  if (status || !is_worth_while(&s->fronts, elimination)) {
    frontal_destroy(&s->base);
    return status;
  }
  const size_t count = (size_t)n;
  s->kernel = asi_calloc((size_t)s->fronts.n_fronts, sizeof(void *));
  s->store = asi_calloc(s->fronts.n_store + 1, sizeof(double)); // a pair may reach beyond its end
  s->inverse = asi_calloc(count, sizeof(double));
  s->stack = asi_calloc(s->fronts.n_stack, sizeof(double));
  s->swap = asi_calloc(count, sizeof(int));
  s->y = asi_calloc(count, sizeof(double));
  s->searched = asi_calloc((size_t)s->fronts.n_fronts, sizeof(bool));
  s->inverted = asi_calloc((size_t)s->fronts.n_fronts, sizeof(bool));
  s->others = asi_calloc((size_t)s->fronts.largest, sizeof(double));
  s->expected = asi_calloc(count, sizeof(double));
  s->enough = asi_calloc(count, sizeof(double));
  s->scale = asi_calloc(count, sizeof(double));
  s->weight = asi_calloc(s->fronts.n_rest, sizeof(double));
  s->product_weight = asi_calloc((size_t)s->fronts.n_products, sizeof(double));
  s->growth = asi_calloc((size_t)s->fronts.n_fronts, sizeof(double));
  s->limit = asi_calloc((size_t)s->fronts.n_fronts, sizeof(double));
  s->row_scale = asi_calloc(count, sizeof(double));
  s->right_side = asi_calloc(count, sizeof(double));
  s->residual = asi_calloc(count, sizeof(double));
  s->probe = asi_calloc(count, sizeof(double));
  s->magnitude = asi_calloc(count, sizeof(double));
  if (!s->kernel || !s->store || !s->inverse || !s->stack || !s->swap || !s->y || !s->searched ||
      !s->inverted || !s->others || !s->expected || !s->enough || !s->scale || !s->weight ||
      !s->growth || !s->limit || !s->row_scale || !s->right_side || !s->residual || !s->magnitude ||
      !s->probe || !s->product_weight) {
    frontal_destroy(&s->base);
    return asi_fail_memory(error);
  }
  for (int i = 0; i < s->fronts.n_fronts; ++i) s->kernel[i] = kernel_of(&s->fronts.front[i]);
  s->smallest = is_small(s) ? SMALLEST_SMALL_PIVOT : SMALLEST_PIVOT;
  s->bad = is_small(s) ? BAD_SMALL_SOLUTION : BAD_SOLUTION;
  if (is_small(s)) status = need_whole(s); // rather than in a step
  if (status) {
    frontal_destroy(&s->base);
    return asi_fail_memory(error);
  }
  *out = &s->base;
  return AS_OK;
}
