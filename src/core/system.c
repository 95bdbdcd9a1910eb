/// Sums Jacobian blocks into a matrix over a fixed pattern, see system.h.
#include "core/system.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/two.h"
#include "core/ordering.h"
#include "lie/space.h"

// ---- patterns -----------------------------------------------------------------------------------

/// The rows that may be nonzero in one column: each is stamped with the column and appended once.
typedef struct row_list {
  int *stamp; ///< per row: 1 + the last column that had it
  int *row;
  int count;
} row_list;

static void list_row(row_list *list, int row, int column) {
  if (list->stamp[row] == column + 1) return;
  list->stamp[row] = column + 1;
  list->row[list->count++] = row;
}

static int compare_int(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// Lists the rows of column j.
typedef void list_column_fn(row_list *list, int j, const void *context);

/// Builds a pattern from its columns: one pass to count, one to write.
static as_status build_pattern(asi_pattern *p, int rows, int cols, list_column_fn *list_column,
                               const void *context, as_error *error) {
  row_list list = {0};
  *p = (asi_pattern){.rows = rows, .cols = cols};
  list.stamp = asi_calloc((size_t)rows, sizeof(int));
  list.row = asi_calloc((size_t)rows, sizeof(int));
  p->col_start = asi_calloc((size_t)cols + 1, sizeof(int));
  bool ok = list.stamp && list.row && p->col_start;
  for (int pass = 0; pass < 2 && ok; ++pass) {
    memset(list.stamp, 0, (size_t)rows * sizeof(int));
    for (int j = 0; j < cols; ++j) {
      list.count = 0;
      list_column(&list, j, context);
      p->col_start[j + 1] = p->col_start[j] + list.count;
      if (pass == 0) continue;
      qsort(list.row, (size_t)list.count, sizeof(int), compare_int);
      memcpy(p->row + p->col_start[j], list.row, (size_t)list.count * sizeof(int));
    }
    if (pass == 0) {
      p->row = asi_calloc((size_t)p->col_start[cols], sizeof(int));
      ok = p->row != NULL;
    }
  }
  free(list.stamp);
  free(list.row);
  return ok ? AS_OK : asi_fail_memory(error);
}

// ---- products -----------------------------------------------------------------------------------

/// Products are named one by one, column by column, and joined to pieces: first rows that follow each other, then such
/// runs with inner numbers that follow each other, and in the end columns.
typedef struct piece_builder {
  asi_products *products;
  const asi_pattern *target;
  bool two_factors;
  int room;   ///< for so many pieces
  int column; ///< the one at hand,
  int row;    ///< the last row of it,
  int first;  ///< its first piece
  bool no_memory;
} piece_builder;

enum { MOST_PRODUCTS = 1 << 30, LOOK_BACK = 32 };

// Pieces have at most so many of each, and usual shapes of them a loop of their own. A run of rows that are not
// next to each other in the left factor, whose shape has an inner number of 0, ends after three, a body's rotations:
// more would only be so by chance.
enum { MOST_ROWS = 6, MOST_INNER = 3, MOST_COLS = 3, MOST_APART = 3 };
#define SHAPE(rows, inner, cols) ((rows) + (MOST_ROWS + 1) * ((inner) + (MOST_INNER + 1) * (cols)))

static asi_piece *new_piece(piece_builder *b) {
  asi_products *p = b->products;
  if (p->n_pieces == b->room) {
    const int room = b->room > 0 ? 2 * b->room : 64;
    asi_piece *larger = asi_calloc((size_t)room, sizeof *larger);
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
static void join_last_piece(piece_builder *b) {
  asi_products *p = b->products;
  const int last = p->n_pieces - 1;
  if (!b->two_factors || last <= b->first) return;
  const asi_piece *run = &p->piece[last];
  for (int i = last - 1; i >= b->first && i >= last - LOOK_BACK; --i) {
    asi_piece *s = &p->piece[i];
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
static bool extend_run(piece_builder *b, asi_piece *run, int left) {
  const int step = left - run->left - (run->rows - 1) * run->row_step;
  if (b->two_factors ? step != 1 : run->rows > 1 && step != run->row_step) {
    if (b->two_factors || run->rows != 2 || run->row_step == 1) return false;
    const int first_step = run->row_step;
    run->rows = run->row_step = 1;
    const asi_piece second = {.dest = run->dest + 1,
                              .left = run->left + first_step,
                              .rows = 2,
                              .inner = 1,
                              .cols = 1,
                              .count = 1,
                              .row_step = step,
                              .shape = run->shape};
    asi_piece *piece = new_piece(b);
    if (piece) *piece = second;
    return true;
  }
  if (step != 1 && run->rows == MOST_APART) return false;
  run->row_step = step;
  ++run->rows;
  return true;
}

/// Names a product: an entry `left` of one matrix, times an entry `right` of the other if there is one, goes to an
/// entry of the target.
static void add_product(piece_builder *b, int row, int col, int left, int right) {
  asi_products *p = b->products;
  const as_matrix m = {.rows = b->target->rows,
                       .cols = b->target->cols,
                       .col_start = b->target->col_start,
                       .row = b->target->row};
  if (p->count < 0 || b->no_memory) return;
  p->count = p->count < MOST_PRODUCTS ? p->count + 1 : -1; // -1: too many
  const int dest = as_matrix_position(&m, row, col);
  assert(dest >= 0);
  asi_piece *last = p->n_pieces > 0 && b->column == col ? &p->piece[p->n_pieces - 1] : NULL;
  const bool follows =
      last && (b->two_factors ? right == last->right
                              : row == b->row + 1 || left == last->left + last->rows);
  b->row = row;
  if (follows && last->inner == 1 && dest == last->dest + last->rows && extend_run(b, last, left))
    return;
  join_last_piece(b);
  if (b->column != col) b->first = p->n_pieces;
  b->column = col;
  asi_piece *piece = new_piece(b);
  if (piece == NULL) return;
  *piece = (asi_piece){.dest = dest,
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
static bool is_next_column(asi_piece *s, const asi_piece *next, bool two_factors) {
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
static void join_columns(asi_products *p, bool two_factors) {
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
static void cut_pieces(piece_builder *b) {
  asi_products *p = b->products;
  for (int i = 0; i < p->n_pieces; ++i) {
    asi_piece rest = p->piece[i];
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
    asi_piece *piece = new_piece(b);
    if (piece == NULL) return;
    *piece = rest;
    *(tall ? &p->piece[i].rows : &p->piece[i].inner) = tall ? MOST_ROWS : MOST_INNER;
    if (tall) --i; // it may have many inner numbers, too
  }
}

/// Whether a piece is like another one, and how far from it.
static bool is_alike(const asi_piece *s, const asi_piece *other, asi_piece *distance) {
  distance->dest_next = other->dest - s->dest;
  distance->left_next = other->left - s->left;
  distance->right_next = other->right - s->right;
  return s->rows == other->rows && s->inner == other->inner && s->cols == other->cols &&
         s->row_step == other->row_step && s->left_step == other->left_step &&
         s->right_step == other->right_step && s->dest_col == other->dest_col &&
         s->left_col == other->left_col && s->right_col == other->right_col;
}

/// The next piece behind another one that is like it and as far from it as the first two are from each other; 0: none.
static int find_next(const asi_products *p, int from, const asi_piece *distance) {
  asi_piece d;
  for (int i = from + 1; i < p->n_pieces && i <= from + LOOK_BACK; ++i)
    if (p->piece[i].count == 1 && is_alike(&p->piece[from], &p->piece[i], &d) &&
        d.dest_next == distance->dest_next && d.left_next == distance->left_next &&
        d.right_next == distance->right_next)
      return i;
  return 0;
}

/// Joins pieces at equal distances, three or more and not too many: what they share is to stay in the cache. Those that
/// have been joined to an earlier one have a count of 0.
static void join_alike(asi_products *p) {
  enum { LEAST = 3, MOST = 32 };
  for (int i = 0; i < p->n_pieces; ++i) {
    asi_piece *s = &p->piece[i], best = {.count = LEAST - 1}, d = {0};
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

/// Visits the products of a matrix product in a fixed order: column by column, in a column by inner number and row.
typedef void visit_products_fn(piece_builder *b, const void *context);

static as_status build_products(asi_products *p, const asi_pattern *target, bool two_factors,
                                visit_products_fn *visit, const void *context, as_error *error) {
  piece_builder b = {.products = p, .target = target, .two_factors = two_factors, .column = -1};
  *p = (asi_products){0};
  visit(&b, context);
  join_last_piece(&b);
  join_columns(p, two_factors);
  cut_pieces(&b);
  join_alike(p);
  for (int i = 0; i < p->n_pieces; ++i) {
    asi_piece *s = &p->piece[i];
    s->shape = SHAPE(s->rows, s->row_step == 1 ? s->inner : 0, s->cols);
  }
  if (p->count < 0)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, NULL,
        "The iteration matrix would be a sum of too many products: give the blocks sparse "
        "patterns.");
  return b.no_memory ? asi_fail_memory(error) : AS_OK;
}

static void free_products(asi_products *p) {
  free(p->piece);
  *p = (asi_products){0};
}

/// Finds out whether a piece is the first to write its entries; if not, those that it is the first for are to be cleared.
static void find_first_entries(asi_piece *s, bool *written, asi_zeros *zeros) {
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

/// Finds which pieces of some products, carried out in this order, are the first ones, and which entries are to be cleared.
static as_status find_zeros(asi_zeros *zeros, asi_products *products, int n_products,
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

static void free_zeros(asi_zeros *zeros) {
  free(zeros->entry);
  *zeros = (asi_zeros){0};
}

static void clear_zeros(const asi_zeros *zeros, double *value) {
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
ASI_INLINED void copy_small(const asi_piece *s, double factor, const double *a, double *value,
                            int rows, int row_step, int cols, bool adds) {
  a += s->left;
  value += s->dest;
  for (int i = 0; i < s->count; ++i, a += s->left_next, value += s->dest_next) {
    const double *restrict from = a;
    double *restrict to = value;
#pragma GCC unroll 3
    for (int c = 0; c < cols; ++c, from += s->left_col, to += s->dest_col)
#pragma GCC unroll 6
      for (int r = 0; r < rows; ++r) ADD_OR_SET(adds, to[r], factor * from[r * row_step]);
  }
}

static void copy_any(const asi_piece *s, double factor, const double *a, double *value) {
  for (int i = 0; i < s->count; ++i)
    for (int c = 0; c < s->cols; ++c) {
      const double *from = a + s->left + i * s->left_next + c * s->left_col;
      double *to = value + s->dest + i * s->dest_next + c * s->dest_col;
      for (int r = 0; r < s->rows; ++r, from += s->row_step)
        ADD_OR_SET(s->adds, to[r], factor * *from);
    }
}

/// value += factor * a
static void add_copies(const asi_products *p, double factor, const double *a, double *value) {
  if (p->n_pieces == 0) return; // there may be no list
  const asi_piece *const end = p->piece + p->n_pieces;
  for (const asi_piece *s = p->piece; s < end; ++s) {
    switch (s->shape) {
    case SHAPE(1, 1, 1): ADD_OR_SET_BY(copy_small, s, factor, a, value, 1, 1, 1); break;
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
ASI_INLINED void multiply_one(const asi_piece *s, double factor, const double *restrict left,
                              const double *restrict right, double *restrict to, int rows,
                              int inner, int cols, bool adds) {
  asi_two pairs[MOST_INNER][MOST_ROWS / 2];
  double last[MOST_INNER];
#pragma GCC unroll 3
  for (int k = 0; k < inner; ++k, left += s->left_step) {
#pragma GCC unroll 3
    for (int r = 0; r < rows / 2; ++r) pairs[k][r] = asi_both(factor) * asi_load_two(left + 2 * r);
    last[k] = rows & 1 ? factor * left[rows - 1] : 0.0;
  }
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c, right += s->right_col, to += s->dest_col) {
#pragma GCC unroll 3
    for (int r = 0; r < rows / 2; ++r) {
      asi_two sum = asi_load_two(to + 2 * r);
#pragma GCC unroll 3
      for (int k = 0; k < inner; ++k)
        ADD_OR_SET(adds || k > 0, sum, asi_both(right[k * s->right_step]) * pairs[k][r]);
      asi_store_two(to + 2 * r, sum);
    }
    if ((rows & 1) == 0) continue;
    double sum = to[rows - 1];
#pragma GCC unroll 3
    for (int k = 0; k < inner; ++k)
      ADD_OR_SET(adds || k > 0, sum, right[k * s->right_step] * last[k]);
    to[rows - 1] = sum;
  }
}

ASI_INLINED void multiply_small(const asi_piece *p, double factor, const double *a, const double *b,
                                double *value, int rows, int inner, int cols, bool adds) {
  const asi_piece s = *p; // no store changes it
  a += s.left;
  b += s.right;
  value += s.dest;
  for (int i = 0; i < s.count; ++i, a += s.left_next, b += s.right_next, value += s.dest_next)
    multiply_one(&s, factor, a, b, value, rows, inner, cols, adds);
}

/// The same with one inner number; the left factor may be another one in each column.
ASI_INLINED void scale_one(const asi_piece *s, double factor, const double *restrict left,
                           const double *restrict right, double *restrict to, int rows, int cols,
                           bool adds) {
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c, left += s->left_col, right += s->right_col, to += s->dest_col)
#pragma GCC unroll 2
    for (int r = 0; r < rows; ++r) ADD_OR_SET(adds, to[r], factor * *right * left[r]);
}

ASI_INLINED void scale_small(const asi_piece *s, double factor, const double *a, const double *b,
                             double *value, int rows, int cols, bool adds) {
  a += s->left;
  b += s->right;
  value += s->dest;
  for (int i = 0; i < s->count; ++i, a += s->left_next, b += s->right_next, value += s->dest_next)
    scale_one(s, factor, a, b, value, rows, cols, adds);
}

/// The same with one row and two inner numbers.
ASI_INLINED void dot_one(const asi_piece *s, double factor, const double *restrict left,
                         const double *restrict right, double *restrict to, int cols, bool adds) {
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c, left += s->left_col, right += s->right_col, to += s->dest_col)
    ADD_OR_SET(adds, *to,
               factor * (left[0] * right[0] + left[s->left_step] * right[s->right_step]));
}

ASI_INLINED void dot_small(const asi_piece *s, double factor, const double *a, const double *b,
                           double *value, int cols, bool adds) {
  a += s->left;
  b += s->right;
  value += s->dest;
  for (int i = 0; i < s->count; ++i, a += s->left_next, b += s->right_next, value += s->dest_next)
    dot_one(s, factor, a, b, value, cols, adds);
}

/// The same for any numbers.
static void multiply_any(const asi_piece *s, double factor, const double *a, const double *b,
                         double *value) {
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

/// value += factor * a * b
static void add_products(const asi_products *p, double factor, const double *a, const double *b,
                         double *value) {
  if (p->n_pieces == 0) return; // there may be no list
  const asi_piece *const end = p->piece + p->n_pieces;
  for (const asi_piece *s = p->piece; s < end; ++s) {
    switch (s->shape) {
    case SHAPE(1, 1, 1): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 1, 1); break;
    case SHAPE(1, 1, 2): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 1, 2); break;
    case SHAPE(1, 1, 3): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 1, 3); break;
    case SHAPE(2, 1, 3): ADD_OR_SET_BY(scale_small, s, factor, a, b, value, 2, 3); break;
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

// ---- T and T B_n^T ------------------------------------------------------------------------------

typedef struct t_bt_context {
  const as_problem *problem;
  const asi_motion *motion;
} t_bt_context;

/// Column i of T B^T is a sum of the T columns that row i of B names.
static void list_t_bt_column(row_list *list, int i, const void *context) {
  const t_bt_context *c = context;
  const asi_row_view *b = &c->problem->g_q_rows;
  const asi_pattern *t = &c->motion->t_pattern;
  for (int s = b->start[i]; s < b->start[i + 1]; ++s)
    for (int k = t->col_start[b->col[s]]; k < t->col_start[b->col[s] + 1]; ++k)
      list_row(list, t->row[k], i);
}

static void visit_t_bt(piece_builder *p, const void *context) {
  const t_bt_context *c = context;
  const asi_row_view *b = &c->problem->g_q_rows;
  const asi_pattern *t = &c->motion->t_pattern;
  for (int i = 0; i < c->problem->def.n_lambda; ++i)
    for (int s = b->start[i]; s < b->start[i + 1]; ++s)
      for (int k = t->col_start[b->col[s]]; k < t->col_start[b->col[s] + 1]; ++k)
        add_product(p, t->row[k], i, k, b->position[s]);
}

as_status asi_motion_init(asi_motion *m, const as_problem *p, bool with_bt, as_error *error) {
  const int nnz = asi_space_tangent_nnz(p->space);
  m->t_pattern = (asi_pattern){.rows = p->n, .cols = p->n};
  m->t_pattern.col_start = asi_calloc((size_t)p->n + 1, sizeof(int));
  m->t_pattern.row = asi_calloc((size_t)nnz, sizeof(int));
  if (m->t_pattern.col_start == NULL || m->t_pattern.row == NULL) return asi_fail_memory(error);
  asi_space_tangent_pattern(p->space, m->t_pattern.col_start, m->t_pattern.row);
  as_status status = asi_matrix_init(&m->t, &m->t_pattern, error);
  if (status == AS_OK) status = asi_panels_init(&m->t_panels, &m->t_pattern, error);
  if (status || !with_bt) return status;
  const t_bt_context context = {p, m};
  status =
      build_pattern(&m->t_bt_pattern, p->n, p->def.n_lambda, list_t_bt_column, &context, error);
  if (status == AS_OK) status = asi_matrix_init(&m->t_bt, &m->t_bt_pattern, error);
  if (status == AS_OK)
    status = build_products(&m->t_times_bt, &m->t_bt_pattern, true, visit_t_bt, &context, error);
  if (status == AS_OK)
    status = find_zeros(&m->t_bt_zeros, &m->t_times_bt, 1, &m->t_bt_pattern, error);
  return status;
}

void asi_motion_free(asi_motion *m) {
  free_products(&m->t_times_bt);
  free_zeros(&m->t_bt_zeros);
  asi_matrix_free(&m->t);
  asi_panels_free(&m->t_panels);
  asi_matrix_free(&m->t_bt);
  asi_pattern_free(&m->t_pattern);
  asi_pattern_free(&m->t_bt_pattern);
}

void asi_motion_update(asi_motion *m, const as_problem *p, const double *xi, const as_matrix *b_n) {
  asi_space_tangent_fill(p->space, xi, m->t.value);
  if (b_n == NULL) return;
  clear_zeros(&m->t_bt_zeros, m->t_bt.value);
  add_products(&m->t_times_bt, 1.0, m->t.value, b_n->value, m->t_bt.value);
}

// ---- the system ---------------------------------------------------------------------------------

static const as_matrix *via_matrix(const asi_motion *motion, asi_via via) {
  if (via == ASI_VIA_T) return &motion->t;
  if (via == ASI_VIA_T_BT) return &motion->t_bt;
  return NULL;
}

static int term_columns(const as_problem *p, const asi_term *term) {
  const asi_pattern *block = &p->pattern[term->block];
  if (term->via == ASI_VIA_T_BT) return p->def.n_lambda;
  return term->transposed ? block->rows : block->cols;
}

void asi_system_assemble(asi_system *s, const as_matrix *blocks, const asi_motion *motion) {
  bool complete = true;
  for (int i = 0; i < s->n_terms; ++i) complete = complete && s->term[i].factor != 0.0;
  if (complete)
    clear_zeros(&s->zeros, s->value);
  else
    memset(s->value, 0, (size_t)asi_pattern_nnz(&s->pattern) * sizeof(double));
  for (int i = 0; i < s->n_terms; ++i) {
    const asi_term *term = &s->term[i];
    const as_matrix *via = via_matrix(motion, term->via);
    if (term->factor == 0.0) continue;
    const double *block = blocks[term->block].value;
    if (via)
      add_products(&s->products[i], term->factor, block, via->value, s->value);
    else
      add_copies(&s->products[i], term->factor, block, s->value);
  }
}

static void list_block_column(row_list *list, const as_problem *p, const asi_term *term, int j,
                              int column) {
  const asi_pattern *block = &p->pattern[term->block];
  if (term->transposed) {
    const asi_row_view *view = term->block == AS_BLOCK_G_Q ? &p->g_q_rows : &p->k_v_rows;
    for (int s = view->start[j]; s < view->start[j + 1]; ++s)
      list_row(list, term->row + view->col[s], column);
  } else {
    for (int k = block->col_start[j]; k < block->col_start[j + 1]; ++k)
      list_row(list, term->row + block->row[k], column);
  }
}

typedef struct system_context {
  const asi_system *system;
  const asi_motion *motion;
} system_context;

/// The structural rows of column j; the diagonal is always among them.
static void list_system_column(row_list *list, int j, const void *context) {
  const system_context *c = context;
  const asi_system *s = c->system;
  list_row(list, j, j);
  for (int i = 0; i < s->n_terms; ++i) {
    const asi_term *term = &s->term[i];
    const int local = j - term->col;
    if (local < 0 || local >= term_columns(s->problem, term)) continue;
    const as_matrix *via = via_matrix(c->motion, term->via);
    if (via == NULL) {
      list_block_column(list, s->problem, term, local, j);
    } else {
      for (int k = via->col_start[local]; k < via->col_start[local + 1]; ++k)
        list_block_column(list, s->problem, term, via->row[k], j);
    }
  }
}

typedef struct term_context {
  const asi_system *system;
  const asi_term *term;
  const as_matrix *via;
} term_context;

static int length_of(const asi_pattern *p, int j) { return p->col_start[j + 1] - p->col_start[j]; }

/// The products of column `col` of the system: (column j of the term's block) times entry `right` of via.
static void visit_block_column(piece_builder *p, const term_context *c, int j, int col, int right) {
  const as_problem *problem = c->system->problem;
  const asi_pattern *block = &problem->pattern[c->term->block];
  if (c->term->transposed) {
    const asi_row_view *view =
        c->term->block == AS_BLOCK_G_Q ? &problem->g_q_rows : &problem->k_v_rows;
    for (int s = view->start[j]; s < view->start[j + 1]; ++s) {
      // Rows of a run come from columns of the same length; others would only be equally far apart by chance.
      if (s > view->start[j] &&
          length_of(block, view->col[s]) != length_of(block, view->col[s - 1]))
        p->row = -2;
      add_product(p, c->term->row + view->col[s], col, view->position[s], right);
    }
  } else {
    for (int k = block->col_start[j]; k < block->col_start[j + 1]; ++k)
      add_product(p, c->term->row + block->row[k], col, k, right);
  }
}

static void visit_term(piece_builder *p, const void *context) {
  const term_context *c = context;
  const int cols = term_columns(c->system->problem, c->term);
  for (int j = 0; j < cols; ++j) {
    const int col = c->term->col + j;
    if (c->via == NULL) {
      visit_block_column(p, c, j, col, 0);
    } else {
      for (int k = c->via->col_start[j]; k < c->via->col_start[j + 1]; ++k)
        visit_block_column(p, c, c->via->row[k], col, k);
    }
  }
}

/// What it takes to factorize and to solve once.
static double work_of(const asi_solver *solver) {
  asi_solver_info info;
  solver->ops->info(solver, &info);
  return info.factor_operations + info.solve_operations;
}

/// Replaces a solver by blocks by one with bodies first, if that is less work.
static as_status try_bodies_first(asi_system *s, as_error *error) {
  asi_elimination graph = {0};
  asi_solver *other = NULL;
  as_status status = asi_order_bodies_first(s->problem, s->size, &graph, error);
  if (status == AS_OK && graph.order)
    status =
        asi_frontal_create(s->size, s->pattern.col_start, s->pattern.row, &graph, &other, error);
  asi_elimination_free(&graph);
  if (other == NULL) return status;
  asi_solver *worse = other;
  if (work_of(other) < work_of(s->solver)) {
    worse = s->solver;
    s->solver = other;
  }
  worse->ops->destroy(worse);
  return AS_OK;
}

/// Blocks where they are worth while, else dense LU for small or full matrices and KLU for the others.
static as_status make_solver(asi_system *s, as_error *error) {
  const int n = s->size;
  const int *col_start = s->pattern.col_start, *row = s->pattern.row;
  const bool small = n < ASI_MIN_SPARSE;
  const bool full = !small && (double)col_start[n] > 0.5 * (double)n * (double)n;
  asi_elimination graph = {0};
  as_status status = full ? AS_OK : asi_order_by_graph(s->problem, n, &graph, error);
  if (status == AS_OK && graph.order)
    status = asi_frontal_create(n, col_start, row, &graph, &s->solver, error);
  if (status == AS_OK && s->solver)
    status = try_bodies_first(s, error);
  else if (status == AS_OK && (small || full))
    status = asi_dense_create(n, col_start, row, &s->solver, error);
  else if (status == AS_OK)
    status = asi_klu_create(n, col_start, row, graph.order,
                            ASI_ORDER_GIVEN | ASI_ORDER_NATURAL | ASI_ORDER_AMD | ASI_ORDER_COLAMD,
                            &s->solver, error);
  asi_elimination_free(&graph);
  return status;
}

as_status asi_system_init(asi_system *s, const as_problem *p, const asi_motion *motion, int size,
                          const asi_term *terms, int n_terms, as_error *error) {
  assert(n_terms <= ASI_MAX_TERMS);
  *s = (asi_system){.problem = p, .size = size};
  for (int i = 0; i < n_terms; ++i) {
    if (!(p->present & AS_BLOCK_BIT(terms[i].block))) continue;
    asi_term *term = &s->term[s->n_terms++];
    *term = terms[i];
    if (term->via == ASI_VIA_T && asi_space_is_linear(p->space)) term->via = ASI_VIA_IDENTITY;
  }
  const system_context context = {s, motion};
  as_status status = build_pattern(&s->pattern, size, size, list_system_column, &context, error);
  if (status) return status;
  s->value = asi_calloc((size_t)asi_pattern_nnz(&s->pattern), sizeof(double));
  s->diagonal = asi_calloc((size_t)size, sizeof(int));
  if (s->value == NULL || s->diagonal == NULL) return asi_fail_memory(error);
  const as_matrix matrix = {
      .rows = size, .cols = size, .col_start = s->pattern.col_start, .row = s->pattern.row};
  for (int j = 0; j < size; ++j) s->diagonal[j] = as_matrix_position(&matrix, j, j);
  for (int i = 0; i < s->n_terms && status == AS_OK; ++i) {
    const term_context one = {s, &s->term[i], via_matrix(motion, s->term[i].via)};
    status = build_products(&s->products[i], &s->pattern, one.via != NULL, visit_term, &one, error);
  }
  if (status == AS_OK) status = find_zeros(&s->zeros, s->products, s->n_terms, &s->pattern, error);
  return status ? status : make_solver(s, error);
}

void asi_system_free(asi_system *s) {
  if (s->solver) s->solver->ops->destroy(s->solver);
  for (int i = 0; i < s->n_terms; ++i) free_products(&s->products[i]);
  free_zeros(&s->zeros);
  asi_pattern_free(&s->pattern);
  free(s->value);
  free(s->diagonal);
  *s = (asi_system){0};
}

void asi_system_set_factors(asi_system *s, const asi_term *terms, int n_terms) {
  int kept = 0;
  for (int i = 0; i < n_terms; ++i)
    if (s->problem->present & AS_BLOCK_BIT(terms[i].block))
      s->term[kept++].factor = terms[i].factor;
  assert(kept == s->n_terms);
}

void asi_system_forget(asi_system *s) {
  if (s->solver && s->solver->ops->forget) s->solver->ops->forget(s->solver);
}

void asi_system_visit(asi_system *s, asi_archive *a) {
  if (s->solver == NULL) return;
  asi_archive_doubles(a, s->value, (size_t)asi_pattern_nnz(&s->pattern));
  if (!a->damaged) s->solver->ops->visit(s->solver, s->value, a);
}

as_block_set asi_system_blocks(const asi_system *s) {
  as_block_set set = 0;
  for (int i = 0; i < s->n_terms; ++i)
    if (s->term[i].factor != 0.0) set |= AS_BLOCK_BIT(s->term[i].block);
  return set;
}
