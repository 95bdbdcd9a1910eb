/// Makes and carries out products of sparse matrices, see products.h.
#include "core/kinematics/products.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"

/// Products are named one by one, column by column, and joined to pieces: first rows that follow each other, then such
/// runs with inner numbers that follow each other, and in the end columns.
struct asi_block_product_builder {
  asi_product_plan *products;
  const asi_pattern *target;
  bool two_factors;
  int room;   ///< for so many pieces
  int column; ///< the one at hand,
  int row;    ///< the last row of it,
  int first;  ///< its first piece
  bool no_memory;
};

enum { MOST_PRODUCTS = 1 << 30, LOOK_BACK = 32 };

// Pieces have at most so many of each, and usual shapes of them a loop of their own. A run of rows that are not
// next to each other in the left factor, whose shape has an inner number of 0, ends after three, a body's rotations:
// more would only be so by chance.
enum { MOST_ROWS = 6, MOST_INNER = 3, MOST_COLS = 3, MOST_APART = 3 };
#define SHAPE(rows, inner, cols) ((rows) + (MOST_ROWS + 1) * ((inner) + (MOST_INNER + 1) * (cols)))

static asi_block_product *new_block_product(asi_block_product_builder *b) {
  asi_product_plan *p = b->products;
  if (p->n_pieces == b->room) {
    const int room = b->room > 0 ? 2 * b->room : 64;
    asi_block_product *larger = asi_calloc((size_t)room, sizeof *larger);
    if (larger == NULL) {
      b->no_memory = true;
      return NULL;
    }
    if (p->n_pieces > 0) memcpy(larger, p->piece, (size_t)p->n_pieces * sizeof *larger);
    free(p->piece);
    p->piece = larger;
    b->room = room;
  }
  return &p->piece[p->n_pieces++];
}

/// Joins the last piece to an earlier one of the same column that it continues.
static void join_last_piece(asi_block_product_builder *b) {
  asi_product_plan *p = b->products;
  const int last = p->n_pieces - 1;
  if (!b->two_factors || last <= b->first) return;
  const asi_block_product *run = &p->piece[last];
  for (int i = last - 1; i >= b->first && i >= last - LOOK_BACK; --i) {
    asi_block_product *s = &p->piece[i];
    if (s->dest != run->dest || s->rows != run->rows) continue;
    const int left = run->left - s->left, right = run->right - s->right;
    if (s->inner > 1 && (left != s->inner * s->left_step || right != s->inner * s->right_step))
      continue;
    if (s->inner == 1) {
      s->left_step = left;
      s->right_step = right;
    }
    ++s->inner;
    --p->n_pieces;
    return;
  }
}

/// Appends an entry to the last run of rows if it follows: in the left factor, too, for products; with the same step
/// as from the first to the second for copies. Where the third does not, the second may begin a run with it.
static bool extend_run(asi_block_product_builder *b, asi_block_product *run, int left) {
  const int step = left - run->left - (run->rows - 1) * run->row_step;
  if (b->two_factors ? step != 1 : run->rows > 1 && step != run->row_step) {
    if (b->two_factors || run->rows != 2 || run->row_step == 1) return false;
    const int first_step = run->row_step;
    run->rows = run->row_step = 1;
    const asi_block_product second = {.dest = run->dest + 1,
                                      .left = run->left + first_step,
                                      .rows = 2,
                                      .inner = 1,
                                      .cols = 1,
                                      .count = 1,
                                      .row_step = step,
                                      .shape = run->shape};
    asi_block_product *piece = new_block_product(b);
    if (piece) *piece = second;
    return true;
  }
  if (step != 1 && run->rows == MOST_APART) return false;
  run->row_step = step;
  ++run->rows;
  return true;
}

void asi_end_run(asi_block_product_builder *b) { b->row = -2; }

void asi_add_product(asi_block_product_builder *b, int row, int col, int left, int right) {
  asi_product_plan *p = b->products;
  const as_matrix m = {.rows = b->target->rows,
                       .cols = b->target->cols,
                       .col_start = b->target->col_start,
                       .row = b->target->row};
  if (p->count < 0 || b->no_memory) return;
  p->count = p->count < MOST_PRODUCTS ? p->count + 1 : -1; // -1: too many
  const int dest = as_matrix_position(&m, row, col);
  assert(dest >= 0);
  asi_block_product *last = p->n_pieces > 0 && b->column == col ? &p->piece[p->n_pieces - 1] : NULL;
  const bool follows =
      last && (b->two_factors ? right == last->right
                              : row == b->row + 1 || left == last->left + last->rows);
  b->row = row;
  if (follows && last->inner == 1 && dest == last->dest + last->rows && extend_run(b, last, left))
    return;
  join_last_piece(b);
  if (b->column != col) b->first = p->n_pieces;
  b->column = col;
  asi_block_product *piece = new_block_product(b);
  if (piece == NULL) return;
  *piece = (asi_block_product){.dest = dest,
                               .left = left,
                               .right = right,
                               .rows = 1,
                               .inner = 1,
                               .cols = 1,
                               .count = 1,
                               .row_step = 1,
                               .shape = col};
}

/// Whether a piece is the next column of another one; the second says how far columns are apart. The left factor of
/// a product with several rows and inner numbers is the same. Their columns stand in `shape` so far.
static bool is_next_column(asi_block_product *s, const asi_block_product *next, bool two_factors) {
  if (s->rows != next->rows || s->inner != next->inner || s->row_step != next->row_step ||
      s->left_step != next->left_step || s->right_step != next->right_step ||
      s->cols == MOST_COLS || next->shape != s->shape + s->cols)
    return false;
  const int dest = next->dest - s->dest, left = next->left - s->left,
            right = next->right - s->right;
  if (two_factors && left != 0 && s->inner > 1 && s->rows > 1) return false;
  if (s->cols > 1)
    return dest == s->cols * s->dest_col && left == s->cols * s->left_col &&
           right == s->cols * s->right_col;
  s->dest_col = dest;
  s->left_col = left;
  s->right_col = right;
  return true;
}

/// Joins pieces of neighbouring columns.
static void join_columns(asi_product_plan *p, bool two_factors) {
  int kept = 0;
  for (int i = 0; i < p->n_pieces; ++i) {
    int k = kept > LOOK_BACK ? kept - LOOK_BACK : 0; // the first of the last column first
    while (k < kept && !is_next_column(&p->piece[k], &p->piece[i], two_factors)) ++k;
    if (k < kept)
      ++p->piece[k].cols;
    else
      p->piece[kept++] = p->piece[i];
  }
  p->n_pieces = kept;
}

/// Cuts pieces of many rows or inner numbers to some that have loops of their own.
static void cut_pieces(asi_block_product_builder *b) {
  asi_product_plan *p = b->products;
  for (int i = 0; i < p->n_pieces; ++i) {
    asi_block_product rest = p->piece[i];
    const bool tall = rest.rows > MOST_ROWS;
    if (!tall && rest.inner <= MOST_INNER) continue;
    if (tall) {
      rest.rows -= MOST_ROWS;
      rest.dest += MOST_ROWS;
      rest.left += MOST_ROWS * rest.row_step;
    } else {
      rest.inner -= MOST_INNER;
      rest.left += MOST_INNER * rest.left_step;
      rest.right += MOST_INNER * rest.right_step;
    }
    asi_block_product *piece = new_block_product(b);
    if (piece == NULL) return;
    *piece = rest;
    *(tall ? &p->piece[i].rows : &p->piece[i].inner) = tall ? MOST_ROWS : MOST_INNER;
    if (tall) --i; // it may have many inner numbers, too
  }
}

/// Whether a piece is like another one, and how far from it.
static bool is_alike(const asi_block_product *s, const asi_block_product *other,
                     asi_block_product *distance) {
  distance->dest_next = other->dest - s->dest;
  distance->left_next = other->left - s->left;
  distance->right_next = other->right - s->right;
  return s->rows == other->rows && s->inner == other->inner && s->cols == other->cols &&
         s->row_step == other->row_step && s->left_step == other->left_step &&
         s->right_step == other->right_step && s->dest_col == other->dest_col &&
         s->left_col == other->left_col && s->right_col == other->right_col;
}

/// The next piece behind another one that is like it and as far from it as the first two are from each other; 0: none.
static int find_next(const asi_product_plan *p, int from, const asi_block_product *distance) {
  asi_block_product d;
  for (int i = from + 1; i < p->n_pieces && i <= from + LOOK_BACK; ++i)
    if (p->piece[i].count == 1 && is_alike(&p->piece[from], &p->piece[i], &d) &&
        d.dest_next == distance->dest_next && d.left_next == distance->left_next &&
        d.right_next == distance->right_next)
      return i;
  return 0;
}

/// Joins pieces at equal distances, three or more and not too many: what they share is to stay in the cache. Those that
/// have been joined to an earlier one have a count of 0.
static void join_alike(asi_product_plan *p) {
  enum { LEAST = 3, MOST = 32 };
  for (int i = 0; i < p->n_pieces; ++i) {
    asi_block_product *s = &p->piece[i], best = {.count = LEAST - 1}, d = {0};
    if (s->count == 0) continue;
    for (int j = i + 1; j < p->n_pieces && j <= i + LOOK_BACK && best.count < MOST; ++j) {
      if (p->piece[j].count == 0 || !is_alike(s, &p->piece[j], &d)) continue;
      d.count = 1;
      for (int k = j; k > 0 && d.count < MOST; k = find_next(p, k, &d)) ++d.count;
      if (d.count > best.count) best = d;
    }
    if (best.count < LEAST) continue;
    for (int k = i; s->count < best.count; ++s->count) {
      k = find_next(p, k, &best);
      p->piece[k].count = 0;
    }
    s->dest_next = best.dest_next;
    s->left_next = best.left_next;
    s->right_next = best.right_next;
  }
  int kept = 0;
  for (int i = 0; i < p->n_pieces; ++i)
    if (p->piece[i].count > 0) p->piece[kept++] = p->piece[i];
  p->n_pieces = kept;
}

/// Few pieces are left of the many that were listed. False: out of memory.
static bool give_back_room(asi_product_plan *p) {
  if (p->n_pieces == 0) return true;
  asi_block_product *fitting = realloc(p->piece, (size_t)p->n_pieces * sizeof *fitting);
  if (fitting) p->piece = fitting;
  return fitting != NULL;
}

as_status asi_products_build(asi_product_plan *p, const asi_pattern *target, bool two_factors,
                             asi_visit_products_fn *visit, const void *context, as_error *error) {
  asi_block_product_builder b = {
      .products = p, .target = target, .two_factors = two_factors, .column = -1};
  *p = (asi_product_plan){0};
  visit(&b, context);
  join_last_piece(&b);
  join_columns(p, two_factors);
  cut_pieces(&b);
  join_alike(p);
  for (int i = 0; i < p->n_pieces; ++i) {
    asi_block_product *s = &p->piece[i];
    s->shape = SHAPE(s->rows, s->row_step == 1 ? s->inner : 0, s->cols);
  }
  if (p->count < 0)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, NULL,
        "The iteration matrix would be a sum of too many products: give the blocks sparse "
        "patterns.");
  return b.no_memory || !give_back_room(p) ? asi_fail_memory(error) : AS_OK;
}

void asi_products_free(asi_product_plan *p) {
  free(p->piece);
  *p = (asi_product_plan){0};
}

/// Finds out whether a piece is the first to write its entries; if not, those that it is the first for are to be cleared.
static void find_first_entries(asi_block_product *s, bool *written, asi_zeros *zeros) {
  const int before = zeros->count;
  s->adds = false;
  for (int i = 0; i < s->count; ++i)
    for (int c = 0; c < s->cols; ++c)
      for (int r = 0; r < s->rows; ++r) {
        const int entry = s->dest + i * s->dest_next + c * s->dest_col + r;
        s->adds = s->adds || written[entry];
        if (!written[entry]) zeros->entry[zeros->count++] = entry;
        written[entry] = true;
      }
  if (!s->adds) zeros->count = before;
}

// One entry in so many is cleared alone; for more, all are cleared at once.
enum { FEW_ZEROS = 16 };

as_status asi_zeros_find(asi_zeros *zeros, asi_product_plan *products, int n_products,
                         const asi_pattern *target, as_error *error) {
  const int n = asi_pattern_nnz(target);
  bool *const written = asi_calloc((size_t)n, sizeof(bool));
  zeros->entry = asi_calloc((size_t)n, sizeof(int));
  if (written && zeros->entry) {
    for (int k = 0; k < n_products; ++k)
      for (int i = 0; i < products[k].n_pieces; ++i)
        find_first_entries(&products[k].piece[i], written, zeros);
    for (int i = 0; i < n; ++i)
      if (!written[i]) zeros->entry[zeros->count++] = i;
  }
  free(written);
  if (written == NULL || zeros->entry == NULL) return asi_fail_memory(error);
  if (zeros->count <= n / FEW_ZEROS) return AS_OK;
  free(zeros->entry);
  *zeros = (asi_zeros){.count = n};
  return AS_OK;
}

void asi_zeros_free(asi_zeros *zeros) {
  free(zeros->entry);
  *zeros = (asi_zeros){0};
}

void asi_zeros_clear(const asi_zeros *zeros, double *value) {
  if (zeros->entry == NULL) {
    memset(value, 0, (size_t)zeros->count * sizeof *value);
    return;
  }
  for (int i = 0; i < zeros->count; ++i) value[zeros->entry[i]] = 0.0;
}

/// sum += x, or sum = x where nothing has been written yet
#define ADD_OR_SET(adds, sum, x) ((sum) = (adds) ? (sum) + (x) : (x))
/// Calls a kernel with a constant `adds`.
#define ADD_OR_SET_BY(kernel, s, ...)                                                              \
  do {                                                                                             \
    if ((s)->adds)                                                                                 \
      kernel(s, __VA_ARGS__, true);                                                                \
    else                                                                                           \
      kernel(s, __VA_ARGS__, false);                                                               \
  } while (0)

/// value += factor * a, for constant numbers of rows and columns
ASI_INLINED void copy_small(const asi_block_product *s, double factor, const double *a,
                            double *value, int rows, int row_step, int cols, bool adds) {
  a += s->left;
  value += s->dest;
  for (int i = 0; i < s->count; ++i, a += s->left_next, value += s->dest_next) {
    const double *restrict from = a;
    double *restrict to = value;
#pragma GCC unroll 3
    for (int c = 0; c < cols; ++c, from += s->left_col, to += s->dest_col) {
      const int pairs = row_step == 1 ? rows / 2 : 0;
#pragma GCC unroll 3
      for (int r = 0; r < 2 * pairs; r += 2) {
        const asi_simd2 x = asi_simd_splat(factor) * asi_simd_load(from + r);
        if (adds)
          asi_simd_store(to + r, asi_simd_load(to + r) + x);
        else
          asi_simd_store(to + r, x);
      }
#pragma GCC unroll 6
      for (int r = 2 * pairs; r < rows; ++r) ADD_OR_SET(adds, to[r], factor * from[r * row_step]);
    }
  }
}

static void copy_any(const asi_block_product *s, double factor, const double *a, double *value) {
  for (int i = 0; i < s->count; ++i)
    for (int c = 0; c < s->cols; ++c) {
      const double *from = a + s->left + i * s->left_next + c * s->left_col;
      double *to = value + s->dest + i * s->dest_next + c * s->dest_col;
      for (int r = 0; r < s->rows; ++r, from += s->row_step)
        ADD_OR_SET(s->adds, to[r], factor * *from);
    }
}

ASI_TWICE void asi_products_copy(const asi_product_plan *p, double factor, const double *a,
                                 double *value) {
  if (p->n_pieces == 0) return; // there may be no list
  const asi_block_product *const end = p->piece + p->n_pieces;
  for (const asi_block_product *s = p->piece; s < end; ++s) {
    switch (s->shape) {
    case SHAPE(1, 1, 1): ADD_OR_SET_BY(copy_small, s, factor, a, value, 1, 1, 1); break;
    case SHAPE(3, 1, 1): ADD_OR_SET_BY(copy_small, s, factor, a, value, 3, 1, 1); break;
    case SHAPE(4, 1, 1): ADD_OR_SET_BY(copy_small, s, factor, a, value, 4, 1, 1); break;
    case SHAPE(1, 1, 2): ADD_OR_SET_BY(copy_small, s, factor, a, value, 1, 1, 2); break;
    case SHAPE(3, 1, 2): ADD_OR_SET_BY(copy_small, s, factor, a, value, 3, 1, 2); break;
    case SHAPE(1, 1, 3): ADD_OR_SET_BY(copy_small, s, factor, a, value, 1, 1, 3); break;
    case SHAPE(2, 1, 3): ADD_OR_SET_BY(copy_small, s, factor, a, value, 2, 1, 3); break;
    case SHAPE(3, 1, 3): ADD_OR_SET_BY(copy_small, s, factor, a, value, 3, 1, 3); break;
    case SHAPE(4, 1, 3): ADD_OR_SET_BY(copy_small, s, factor, a, value, 4, 1, 3); break;
    case SHAPE(6, 1, 3): ADD_OR_SET_BY(copy_small, s, factor, a, value, 6, 1, 3); break;
    case SHAPE(3, 0, 2): ADD_OR_SET_BY(copy_small, s, factor, a, value, 3, s->row_step, 2); break;
    case SHAPE(3, 0, 3): ADD_OR_SET_BY(copy_small, s, factor, a, value, 3, s->row_step, 3); break;
    default: copy_any(s, factor, a, value);
    }
  }
}

/// to += factor * left * right, for constant numbers of rows, inner ones and columns. The left factor of all columns
/// is the same: it stays in registers.
ASI_INLINED void multiply_one(const asi_block_product *s, double factor,
                              const double *restrict left, const double *restrict right,
                              double *restrict to, int rows, int inner, int cols, bool adds) {
  asi_simd2 pairs[MOST_INNER][MOST_ROWS / 2];
  double last[MOST_INNER];
#pragma GCC unroll 3
  for (int k = 0; k < inner; ++k, left += s->left_step) {
#pragma GCC unroll 3
    for (int r = 0; r < rows / 2; ++r)
      pairs[k][r] = asi_simd_splat(factor) * asi_simd_load(left + 2 * r);
    last[k] = rows & 1 ? factor * left[rows - 1] : 0.0;
  }
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c, right += s->right_col, to += s->dest_col) {
#pragma GCC unroll 3
    for (int r = 0; r < rows / 2; ++r) {
      asi_simd2 sum = asi_simd_load(to + 2 * r);
#pragma GCC unroll 3
      for (int k = 0; k < inner; ++k)
        ADD_OR_SET(adds || k > 0, sum, asi_simd_splat(right[k * s->right_step]) * pairs[k][r]);
      asi_simd_store(to + 2 * r, sum);
    }
    if ((rows & 1) == 0) continue;
    double sum = to[rows - 1];
#pragma GCC unroll 3
    for (int k = 0; k < inner; ++k)
      ADD_OR_SET(adds || k > 0, sum, right[k * s->right_step] * last[k]);
    to[rows - 1] = sum;
  }
}

ASI_INLINED void multiply_small(const asi_block_product *p, double factor, const double *a,
                                const double *b, double *value, int rows, int inner, int cols,
                                bool adds) {
  const asi_block_product s = *p; // no store changes it
  a += s.left;
  b += s.right;
  value += s.dest;
  for (int i = 0; i < s.count; ++i, a += s.left_next, b += s.right_next, value += s.dest_next)
    multiply_one(&s, factor, a, b, value, rows, inner, cols, adds);
}

/// The same with one inner number; the left factor may be another one in each column.
ASI_INLINED void scale_one(const asi_block_product *s, double factor, const double *restrict left,
                           const double *restrict right, double *restrict to, int rows, int cols,
                           bool adds) {
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c, left += s->left_col, right += s->right_col, to += s->dest_col)
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) ADD_OR_SET(adds, to[r], factor * *right * left[r]);
}

ASI_INLINED void scale_small(const asi_block_product *s, double factor, const double *a,
                             const double *b, double *value, int rows, int cols, bool adds) {
  a += s->left;
  b += s->right;
  value += s->dest;
  for (int i = 0; i < s->count; ++i, a += s->left_next, b += s->right_next, value += s->dest_next)
    scale_one(s, factor, a, b, value, rows, cols, adds);
}

/// The same with one row and two inner numbers.
ASI_INLINED void dot_one(const asi_block_product *s, double factor, const double *restrict left,
                         const double *restrict right, double *restrict to, int cols, bool adds) {
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c, left += s->left_col, right += s->right_col, to += s->dest_col)
    ADD_OR_SET(adds, *to,
               factor * (left[0] * right[0] + left[s->left_step] * right[s->right_step]));
}

ASI_INLINED void dot_small(const asi_block_product *s, double factor, const double *a,
                           const double *b, double *value, int cols, bool adds) {
  a += s->left;
  b += s->right;
  value += s->dest;
  for (int i = 0; i < s->count; ++i, a += s->left_next, b += s->right_next, value += s->dest_next)
    dot_one(s, factor, a, b, value, cols, adds);
}

/// The same for any numbers.
static void multiply_any(const asi_block_product *s, double factor, const double *a,
                         const double *b, double *value) {
  for (int i = 0; i < s->count; ++i)
    for (int c = 0; c < s->cols; ++c) {
      const double *left = a + s->left + i * s->left_next + c * s->left_col;
      const double *right = b + s->right + i * s->right_next + c * s->right_col;
      double *to = value + s->dest + i * s->dest_next + c * s->dest_col;
      for (int r = 0; r < s->rows; ++r) {
        double sum = 0.0;
        for (int k = 0; k < s->inner; ++k)
          sum += right[k * s->right_step] * left[k * s->left_step + r];
        ADD_OR_SET(s->adds, to[r], factor * sum);
      }
    }
}

ASI_TWICE void asi_products_add(const asi_product_plan *p, double factor, const double *a,
                                const double *b, double *value) {
  if (p->n_pieces == 0) return; // there may be no list
  const asi_block_product *const end = p->piece + p->n_pieces;
  for (const asi_block_product *s = p->piece; s < end; ++s) {
    switch (s->shape) {
    case SHAPE(1, 1, 1): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 1, 1); break;
    case SHAPE(1, 1, 2): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 1, 2); break;
    case SHAPE(1, 1, 3): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 1, 3); break;
    case SHAPE(2, 1, 3): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 2, 3); break;
    case SHAPE(6, 1, 3): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 6, 3); break;
    case SHAPE(1, 2, 3): ADD_OR_SET_BY(dot_small, s, factor, a, b, value, 3); break;
    case SHAPE(2, 3, 2): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 2, 3, 2); break;
    case SHAPE(3, 3, 2): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 3, 3, 2); break;
    case SHAPE(4, 3, 2): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 4, 3, 2); break;
    case SHAPE(6, 3, 2): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 6, 3, 2); break;
    case SHAPE(2, 3, 3): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 2, 3, 3); break;
    case SHAPE(3, 3, 3): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 3, 3, 3); break;
    case SHAPE(4, 3, 3): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 4, 3, 3); break;
    case SHAPE(5, 3, 3): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 5, 3, 3); break;
    case SHAPE(6, 3, 3): ADD_OR_SET_BY(multiply_small, s, factor, a, b, value, 6, 3, 3); break;
    default: multiply_any(s, factor, a, b, value);
    }
  }
}
