/// See ldl.h.
///
/// The tree of elimination has a column's parent in the first row below its diagonal (Liu). A column that is its parent's only child
/// and has the same rows below belongs to the same front; fronts with few zeros between them become one (relaxed supernodes). Then,
/// children first, a front collects its entries of the matrix and what its children leave,
///
///     [ P  .  ]   w columns      P = L1 D L1^T
///     [ R  S  ]   r rows         L2 = R L1^-T D^-1,  S - L2 D L2^T is left to the parent
#include "reduction/ldl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/minimum_degree.h"
#include "reduction/dense.h"

enum { PANEL = 64 };
// A pivot below this fraction of the largest that its diagonal was is round-off.
#define LEAST_PIVOT 1e-13

// ---- the tree of columns ----------------------------------------------------------------------------

/// Parents by Liu's algorithm, for the order at hand.
static void find_tree(const asi_ldl *f, const as_sparse *a, int *parent, int *ancestor) {
  for (int j = 0; j < f->n; ++j) {
    const int column = f->order[j];
    parent[j] = ancestor[j] = -1;
    for (int k = a->col_start[column]; k < a->col_start[column + 1]; ++k)
      for (int i = f->place[a->row[k]]; i >= 0 && i < j;) {
        const int next = ancestor[i];
        ancestor[i] = j;
        if (next < 0) parent[i] = j;
        i = next;
      }
  }
}

/// Puts children right before their parents; `parent` follows.
static void sort_by_tree(asi_ldl *f, int *parent, int *child, int *sibling, int *turn) {
  const int n = f->n;
  int count = 0;
  for (int i = 0; i <= n; ++i) child[i] = -1;
  for (int i = n - 1; i >= 0; --i) {
    const int p = parent[i] < 0 ? n : parent[i];
    sibling[i] = child[p];
    child[p] = i;
  }
  for (int at = child[n]; at >= 0;) {
    while (child[at] >= 0) { // down to a leaf, each edge once
      const int down = child[at];
      child[at] = -1;
      at = down;
    }
    turn[at] = count++;
    at = sibling[at] >= 0 ? sibling[at] : parent[at];
  }
  for (int i = 0; i < n; ++i) sibling[turn[i]] = parent[i] < 0 ? -1 : turn[parent[i]];
  memcpy(parent, sibling, (size_t)n * sizeof *parent);
  for (int i = 0; i < n; ++i) child[turn[i]] = f->order[i];
  memcpy(f->order, child, (size_t)n * sizeof *child);
  for (int i = 0; i < n; ++i) f->place[f->order[i]] = i;
}

// ---- fronts -----------------------------------------------------------------------------------------

/// Fronts while they are being found: lists of rows, and of children.
typedef struct finder {
  asi_ldl *f;
  const as_sparse *a;
  int *parent, *children; ///< of columns
  int **rows;             ///< of the front that a column ends so far, to be freed
  int *length;
  int *front_of; ///< of a column
  int *first_child, *sibling;
  int *mark;
} finder;

static int compare_int(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// Rows below the diagonal of a column: the matrix's, and those of its children.
static bool merge_rows(finder *s, int j) {
  const int column = s->f->order[j];
  size_t most = (size_t)(s->a->col_start[column + 1] - s->a->col_start[column]);
  for (int c = s->first_child[j]; c >= 0; c = s->sibling[c]) most += (size_t)s->length[c];
  int *list = malloc((most + 1) * sizeof *list), n = 0;
  if (list == NULL) return false;
  for (int k = s->a->col_start[column]; k < s->a->col_start[column + 1]; ++k) {
    const int i = s->f->place[s->a->row[k]];
    if (i <= j || s->mark[i] == j + 1) continue;
    s->mark[i] = j + 1;
    list[n++] = i;
  }
  for (int c = s->first_child[j]; c >= 0; c = s->sibling[c])
    for (int k = 0; k < s->length[c]; ++k) {
      const int i = s->rows[c][k];
      if (i == j || s->mark[i] == j + 1) continue;
      s->mark[i] = j + 1;
      list[n++] = i;
    }
  int *fitted = realloc(list, ((size_t)n + 1) * sizeof *list);
  s->rows[j] = fitted ? fitted : list;
  s->length[j] = n;
  return true;
}

/// Whether a column belongs to the front of the one before it: its only child, with the same rows.
static bool joins(const finder *s, int j) {
  return s->children[j] == 1 && s->first_child[j] == j - 1 && s->length[j - 1] == s->length[j] + 1;
}

static bool find_fronts(finder *s) {
  asi_ldl *f = s->f;
  for (int j = 0; j < f->n; ++j) s->first_child[j] = -1;
  for (int j = 0; j < f->n; ++j) {
    if (!merge_rows(s, j)) return false;
    const bool more = joins(s, j);
    if (!more) f->front[f->n_fronts++] = (asi_ldl_front){.first = j, .parent = -1};
    asi_ldl_front *front = &f->front[f->n_fronts - 1];
    ++front->w;
    front->r = s->length[j];
    s->front_of[j] = f->n_fronts - 1;
    if (more) { // the last column of a front keeps its rows
      free(s->rows[j - 1]);
      s->rows[j - 1] = NULL;
    }
    if (s->parent[j] < 0) continue;
    s->sibling[j] = s->first_child[s->parent[j]];
    s->first_child[s->parent[j]] = j;
    ++s->children[s->parent[j]];
  }
  return true;
}

/// Whether a front may be put into its parent: how many zeros that makes, of all entries.
static bool is_cheap(const asi_ldl_front *child, const asi_ldl_front *parent, double *zeros,
                     double more) {
  const double w = child->w + parent->w, r = parent->r;
  const double all = w * (w + 1.0) / 2.0 + w * r;
  const double own = child->w * (double)(parent->w + parent->r - child->r);
  const double sum = *zeros + more + own;
  const double limit = w <= 4.0 ? 1.0 : w <= 16.0 ? 0.5 : w <= 48.0 ? 0.1 : 0.05;
  if (!(sum < limit * all)) return false;
  *zeros = sum;
  return true;
}

/// Joins fronts with those right before them that are their children, and gives all their rows.
static as_status join_fronts(finder *s, as_error *error) {
  asi_ldl *f = s->f;
  double *zeros = asi_calloc((size_t)f->n_fronts, sizeof *zeros);
  if (zeros == NULL) return asi_fail_memory(error);
  int kept = 0;
  for (int i = 0; i < f->n_fronts; ++i) {
    asi_ldl_front now = f->front[i];
    double wasted = 0.0;
    while (kept > 0) {
      const asi_ldl_front *before = &f->front[kept - 1];
      const int last = before->first + before->w - 1, up = s->parent[last];
      if (up < now.first || up >= now.first + now.w) break;
      if (!is_cheap(before, &now, &wasted, zeros[kept - 1])) break;
      now.first = before->first;
      now.w += before->w;
      --kept;
    }
    zeros[kept] = wasted;
    f->front[kept++] = now;
  }
  free(zeros);
  f->n_fronts = kept;
  size_t rows = 0;
  for (int i = 0; i < kept; ++i) rows += (size_t)f->front[i].r;
  f->rows = asi_calloc(rows, sizeof *f->rows);
  if (f->rows == NULL) return asi_fail_memory(error);
  rows = 0;
  for (int i = 0; i < kept; ++i) {
    asi_ldl_front *front = &f->front[i];
    const int last = front->first + front->w - 1;
    front->rows = rows;
    front->store = f->entries;
    if (front->r > 0) memcpy(f->rows + rows, s->rows[last], (size_t)front->r * sizeof(int));
    qsort(f->rows + rows, (size_t)front->r, sizeof(int), compare_int);
    for (int k = 0; k < front->w; ++k) s->front_of[front->first + k] = i;
    rows += (size_t)front->r;
    const double w = front->w, m = front->w + front->r;
    f->entries += (size_t)front->w * (size_t)(front->w + front->r);
    f->operations += w * m * m - w * w * m + w * w * w / 3.0;
    if (front->w + front->r > f->largest) f->largest = front->w + front->r;
  }
  for (int i = 0; i < kept; ++i)
    f->front[i].parent = f->front[i].r > 0 ? s->front_of[f->rows[f->front[i].rows]] : -1;
  return AS_OK;
}

static as_status find_all(finder *s, as_error *error) {
  const size_t n = (size_t)s->f->n;
  s->f->front = asi_calloc(n, sizeof *s->f->front);
  s->parent = asi_calloc(n, sizeof(int));
  s->children = asi_calloc(n, sizeof(int));
  s->rows = asi_calloc(n, sizeof(int *));
  s->length = asi_calloc(n, sizeof(int));
  s->front_of = asi_calloc(n, sizeof(int));
  s->first_child = asi_calloc(n + 1, sizeof(int));
  s->sibling = asi_calloc(n + 1, sizeof(int));
  s->mark = asi_calloc(n, sizeof(int));
  if (!s->f->front || !s->parent || !s->children || !s->rows || !s->length || !s->front_of ||
      !s->first_child || !s->sibling || !s->mark)
    return asi_fail_memory(error);
  find_tree(s->f, s->a, s->parent, s->mark);
  sort_by_tree(s->f, s->parent, s->first_child, s->sibling, s->length);
  memset(s->mark, 0, n * sizeof(int));
  return find_fronts(s) ? join_fronts(s, error) : asi_fail_memory(error);
}

static void finder_free(finder *s) {
  for (int j = 0; j < s->f->n && s->rows; ++j) free(s->rows[j]);
  int *const all[] = {s->parent,      s->children, s->length, s->front_of,
                      s->first_child, s->sibling,  s->mark};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
  free(s->rows);
}

as_status asi_ldl_analyse(asi_ldl *f, const as_sparse *a, as_error *error) {
  *f = (asi_ldl){.n = a->cols};
  const size_t n = (size_t)f->n;
  f->order = asi_calloc(n, sizeof(int));
  f->place = asi_calloc(n, sizeof(int));
  f->d = asi_calloc(n, sizeof(double));
  f->inverse = asi_calloc(n, sizeof(double));
  if (!f->order || !f->place || !f->d || !f->inverse ||
      !asi_minimum_degree(f->n, a->col_start, a->row, f->order)) {
    asi_ldl_free(f);
    return asi_fail_memory(error);
  }
  for (int i = 0; i < f->n; ++i) f->place[f->order[i]] = i;
  finder s = {.f = f, .a = a};
  as_status status = find_all(&s, error);
  finder_free(&s);
  if (status == AS_OK && (f->l = asi_calloc(f->entries, sizeof(double))) == NULL)
    status = asi_fail(error, AS_ERR_MEMORY, (double)NAN, NULL,
                      "Out of memory: the factors of a matrix with %d unknowns need %.3g GB.", f->n,
                      8e-9 * (double)f->entries);
  if (status) asi_ldl_free(f);
  return status;
}

void asi_ldl_free(asi_ldl *f) {
  free(f->order);
  free(f->place);
  free(f->front);
  free(f->rows);
  free(f->l);
  free(f->d);
  free(f->inverse);
  *f = (asi_ldl){0};
}

// ---- factorization ----------------------------------------------------------------------------------

/// What one factorization needs: what fronts have left, and places in the front at work.
typedef struct worker {
  asi_ldl *f;
  const as_sparse *a;
  double **left;              ///< r x r of each front, its lower triangle
  int *first_child, *sibling; ///< of fronts
  int *where;                 ///< of a place in the order: its row in the front at work
  double *size;               ///< the largest that a diagonal was on the way
  double *scaled;             ///< largest x PANEL: L D of a panel
} worker;

static double *column_of(const worker *s, const asi_ldl_front *front, int k) {
  return s->f->l + front->store + (size_t)k * (size_t)(front->w + front->r);
}

/// The entries of the matrix in its columns, on and below the diagonal.
static void collect_entries(const worker *s, const asi_ldl_front *front) {
  const asi_ldl *f = s->f;
  memset(column_of(s, front, 0), 0,
         (size_t)front->w * (size_t)(front->w + front->r) * sizeof(double));
  for (int k = 0; k < front->w; ++k) {
    const int column = f->order[front->first + k];
    double *to = column_of(s, front, k);
    for (int i = s->a->col_start[column]; i < s->a->col_start[column + 1]; ++i) {
      const int at = f->place[s->a->row[i]];
      if (at < front->first + k) continue;
      to[s->where[at]] += s->a->value[i];
      if (at == front->first + k) s->size[at] = fmax(s->size[at], fabs(s->a->value[i]));
    }
  }
}

/// Adds what a child has left to the columns of a front, and to what it leaves itself.
static void extend_add(const worker *s, const asi_ldl_front *front, double *own, int child) {
  const asi_ldl_front *from = &s->f->front[child];
  const int *rows = s->f->rows + from->rows;
  const double *left = s->left[child];
  for (int j = 0; j < from->r; ++j, left += from->r) {
    const int column = s->where[rows[j]];
    double *to = column < front->w ? column_of(s, front, column)
                                   : own + (ptrdiff_t)(column - front->w) * front->r - front->w;
    for (int i = j; i < from->r; ++i) to[s->where[rows[i]]] += left[i];
  }
}

/// Eliminates columns from ... to - 1 of a front, one after the other, within these columns and for all rows.
static bool eliminate_panel(const worker *s, const asi_ldl_front *front, int from, int to) {
  asi_ldl *f = s->f;
  const int m = front->w + front->r;
  for (int k = from; k < to; ++k) {
    double *l = column_of(s, front, k);
    const int at = front->first + k;
    const double d = l[k];
    s->size[at] = fmax(s->size[at], fabs(d));
    if (!(fabs(d) > LEAST_PIVOT * s->size[at]) || !isfinite(d)) {
      f->culprit = f->order[at];
      return false;
    }
    f->d[at] = d;
    f->inverse[at] = 1.0 / d;
    f->negative += d < 0.0;
    for (int j = k + 1; j < to; ++j) {
      double *c = column_of(s, front, j);
      const double factor = l[j] / d;
      if (factor == 0.0) continue;
      for (int i = j; i < m; ++i) c[i] -= factor * l[i];
    }
    for (int i = k + 1; i < m; ++i) l[i] /= d;
    l[k] = 1.0;
  }
  return true;
}

/// Subtracts L D L^T of columns from ... to - 1 from the lower triangle behind them: columns of the front, then what it leaves.
static void update_behind(const worker *s, const asi_ldl_front *front, int from, int to,
                          double *own) {
  const asi_ldl *f = s->f;
  const int m = front->w + front->r, wide = to - from;
  for (int k = from; k < to; ++k) {
    const double *l = column_of(s, front, k), d = f->d[front->first + k];
    double *scaled = s->scaled + (ptrdiff_t)(k - from) * m;
    for (int i = to; i < m; ++i) scaled[i] = d * l[i];
  }
  const double *l = column_of(s, front, from);
  for (int j = to, next; j < m; j = next) {
    next = j + 2 * PANEL < m ? j + 2 * PANEL : m;
    if (j < front->w && next > front->w) next = front->w;
    double *c = j < front->w ? column_of(s, front, j) + j
                             : own + (ptrdiff_t)(j - front->w) * (front->r + 1);
    asi_dense_multiply(false, true, m - j, next - j, wide, -1.0, l + j, m, s->scaled + j, m, c,
                       j < front->w ? m : front->r);
  }
}

static as_status factor_front(worker *s, int i, as_error *error) {
  asi_ldl *f = s->f;
  const asi_ldl_front *front = &f->front[i];
  for (int k = 0; k < front->w; ++k) s->where[front->first + k] = k;
  for (int k = 0; k < front->r; ++k) s->where[f->rows[front->rows + (size_t)k]] = front->w + k;
  double *own = asi_calloc((size_t)front->r * (size_t)front->r, sizeof *own);
  if (own == NULL) return asi_fail_memory(error);
  s->left[i] = own;
  collect_entries(s, front);
  for (int c = s->first_child[i]; c >= 0; c = s->sibling[c]) {
    extend_add(s, front, own, c);
    free(s->left[c]);
    s->left[c] = NULL;
  }
  for (int from = 0, to; from < front->w; from = to) {
    to = from + PANEL < front->w ? from + PANEL : front->w;
    if (!eliminate_panel(s, front, from, to))
      return asi_fail(error, AS_ERR_SINGULAR, (double)NAN, NULL, "A matrix is singular.");
    update_behind(s, front, from, to, own);
  }
  if (front->parent >= 0) {
    s->sibling[i] = s->first_child[front->parent];
    s->first_child[front->parent] = i;
  }
  return AS_OK;
}

as_status asi_ldl_factor(asi_ldl *f, const as_sparse *a, as_error *error) {
  const size_t n = (size_t)f->n, fronts = (size_t)f->n_fronts;
  worker s = {.f = f, .a = a};
  s.left = asi_calloc(fronts, sizeof(double *));
  s.first_child = asi_calloc(fronts, sizeof(int));
  s.sibling = asi_calloc(fronts, sizeof(int));
  s.where = asi_calloc(n, sizeof(int));
  s.size = asi_calloc(n, sizeof(double));
  s.scaled = asi_calloc((size_t)f->largest * PANEL, sizeof(double));
  as_status status = s.left && s.first_child && s.sibling && s.where && s.size && s.scaled
                         ? AS_OK
                         : asi_fail_memory(error);
  for (int i = 0; i < f->n_fronts && status == AS_OK; ++i) s.first_child[i] = -1;
  f->negative = 0;
  for (int i = 0; i < f->n_fronts && status == AS_OK; ++i) status = factor_front(&s, i, error);
  for (int i = 0; i < f->n_fronts && s.left; ++i) free(s.left[i]);
  free(s.left);
  free(s.first_child);
  free(s.sibling);
  free(s.where);
  free(s.size);
  free(s.scaled);
  return status;
}

// ---- solutions --------------------------------------------------------------------------------------

as_status asi_ldl_solve(const asi_ldl *f, double *x, int count) {
  const size_t n = (size_t)f->n;
  double *y = asi_calloc(n * (size_t)count, sizeof *y);
  double *others = asi_calloc((size_t)f->largest * (size_t)count, sizeof *others);
  if (y == NULL || others == NULL) {
    free(y);
    free(others);
    return AS_ERR_MEMORY;
  }
  for (size_t c = 0; c < (size_t)count; ++c)
    for (size_t k = 0; k < n; ++k) y[c * n + k] = x[c * n + (size_t)f->order[k]];
  for (int i = 0; i < f->n_fronts; ++i) {
    const asi_ldl_front *front = &f->front[i];
    const int m = front->w + front->r, r = front->r;
    const double *l = f->l + front->store;
    const int *rows = f->rows + front->rows;
    asi_dense_left_solve(false, front->w, count, l, m, y + front->first, f->n);
    memset(others, 0, (size_t)r * (size_t)count * sizeof *others);
    asi_dense_multiply(false, false, r, count, front->w, 1.0, l + front->w, m, y + front->first,
                       f->n, others, r > 0 ? r : 1);
    for (size_t c = 0; c < (size_t)count; ++c)
      for (int k = 0; k < r; ++k) y[c * n + (size_t)rows[k]] -= others[c * (size_t)r + (size_t)k];
  }
  for (size_t c = 0; c < (size_t)count; ++c)
    for (size_t k = 0; k < n; ++k) y[c * n + k] *= f->inverse[k];
  for (int i = f->n_fronts - 1; i >= 0; --i) {
    const asi_ldl_front *front = &f->front[i];
    const int m = front->w + front->r, r = front->r;
    const double *l = f->l + front->store;
    const int *rows = f->rows + front->rows;
    for (size_t c = 0; c < (size_t)count; ++c)
      for (int k = 0; k < r; ++k) others[c * (size_t)r + (size_t)k] = y[c * n + (size_t)rows[k]];
    asi_dense_multiply(true, false, front->w, count, r, -1.0, l + front->w, m, others,
                       r > 0 ? r : 1, y + front->first, f->n);
    asi_dense_left_solve(true, front->w, count, l, m, y + front->first, f->n);
  }
  for (size_t c = 0; c < (size_t)count; ++c)
    for (size_t k = 0; k < n; ++k) x[c * n + (size_t)f->order[k]] = y[c * n + k];
  free(y);
  free(others);
  return AS_OK;
}
