/// Products by panels, see panels.h.
#include "linalg/panels.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/simd.h"

/// Usual shapes of three columns: one row further from column to column, or the same rows, by so many that follow each
/// other as those of a joint do.
enum {
  OTHER,
  RUN,       ///< all rows follow each other, columns by three; for sums of columns only
  SHIFTED_2, ///< translations of a body between two ball joints
  ROWS_3,    ///< rotations of a body with a ball joint
  ROWS_6,    ///< with two
  ROWS_5,    ///< rotations of a body with a hinge
  ROWS_10    ///< with two
};

// ---- finding them ---------------------------------------------------------------------------------

/// Whether column j continues a panel with this shift.
static bool continues(const asi_pattern *p, const asi_panel *panel, int shift, int j) {
  const int start = p->col_start[j];
  if (p->col_start[j + 1] - start != panel->entries) return false;
  const int *first = p->row + panel->start, far = shift * (j - panel->col);
  for (int k = 0; k < panel->entries; ++k)
    if (p->row[start + k] != first[k] + far) return false;
  return true;
}

/// Whether rows come in groups of `run` that follow each other.
static bool in_runs(const int *row, int entries, int run) {
  for (int k = 0; k < entries; ++k)
    if (row[k] != row[k - k % run] + k % run) return false;
  return true;
}

static int shape_of(const asi_panel *a, const int *row) {
  const bool run =
      a->cols % 3 == 0 && a->shift == 0 && a->entries > 0 && in_runs(row, a->entries, a->entries);
  if (a->cols != 3) return run ? RUN : OTHER;
  if (a->shift) return a->entries == 2 ? SHIFTED_2 : OTHER;
  if (a->entries == 3 && in_runs(row, 3, 3)) return ROWS_3;
  if (a->entries == 6 && in_runs(row, 6, 3)) return ROWS_6;
  if (a->entries == 5 && in_runs(row, 5, 5)) return ROWS_5;
  if (a->entries == 10 && in_runs(row, 10, 5)) return ROWS_10;
  return run ? RUN : OTHER;
}

/// The panel that begins with column j.
static asi_panel panel_from(const asi_pattern *p, int j) {
  const int start = p->col_start[j];
  asi_panel panel = {.col = j, .cols = 1, .start = start, .entries = p->col_start[j + 1] - start};
  for (int k = j + 1; k < p->cols; ++k, ++panel.cols) {
    if (panel.cols == 1) panel.shift = !continues(p, &panel, 0, k);
    if (!continues(p, &panel, panel.shift, k)) break;
  }
  if (panel.cols == 1) panel.shift = 0;
  panel.shape = shape_of(&panel, p->row + start);
  return panel;
}

// Fewer panels are not shared by threads; others in so many parts for each of them, and in so many groups that have no rows in common.
enum { LEAST_SHARED = 500, PARTS_PER_THREAD = 3, GROUPS = 64 };

static int first_row(const asi_panels *p, int i) {
  const asi_panel *a = &p->panel[i];
  return a->entries > 0 ? p->pattern->row[a->start] : p->pattern->rows;
}

static int last_row(const asi_panels *p, int i) {
  const asi_panel *a = &p->panel[i];
  if (a->entries == 0) return -1;
  return p->pattern->row[a->start + a->entries - 1] + a->shift * (a->cols - 1);
}

/// Finds groups that have no rows in common. Rows of a column ascend.
static as_status find_apart(asi_panels *p, as_error *error) {
  int *least = asi_calloc((size_t)p->count + 1, sizeof(int)); // of the rows from a panel on
  p->apart = asi_calloc(GROUPS + 1, sizeof(int));
  if (least == NULL || p->apart == NULL) {
    free(least);
    return asi_fail_memory(error);
  }
  least[p->count] = p->pattern->rows;
  for (int i = p->count - 1; i >= 0; --i)
    least[i] = first_row(p, i) < least[i + 1] ? first_row(p, i) : least[i + 1];
  int most = -1;
  for (int i = 0; i < p->count; ++i) {
    const bool due = (double)i * GROUPS >= (double)p->n_apart * p->count;
    if (due && most < least[i] && p->n_apart < GROUPS) p->apart[p->n_apart++] = i;
    most = last_row(p, i) > most ? last_row(p, i) : most;
  }
  p->apart[p->n_apart] = p->count;
  free(least);
  return AS_OK;
}

as_status asi_panels_init(asi_panels *p, const asi_pattern *pattern, as_error *error) {
  int count = 0;
  for (int j = 0; j < pattern->cols; ++count) j += panel_from(pattern, j).cols;
  *p = (asi_panels){.pattern = pattern};
  p->panel = asi_calloc((size_t)count, sizeof *p->panel);
  if (p->panel == NULL) return asi_fail_memory(error);
  for (int j = 0; j < pattern->cols; j += p->panel[p->count++].cols)
    p->panel[p->count] = panel_from(pattern, j);
  return p->count < LEAST_SHARED ? AS_OK : find_apart(p, error);
}

void asi_panels_free(asi_panels *p) {
  free(p->panel);
  free(p->apart);
  *p = (asi_panels){0};
}

// ---- products -------------------------------------------------------------------------------------

/// x in the rows of entries k and k + 1, which are in runs.
ASI_INLINED asi_simd2 two_of(const double *x, const int *row, int k, int run) {
  const double *first = x + row[k - k % run] + k % run;
  if (k % run + 1 < run) return asi_simd_load(first);
  return (asi_simd2){*first, x[row[k + 1]]};
}

/// (Three columns of so many entries)^T x, for constant numbers
ASI_INLINED asi_three dots(const double *value, const int *row, const double *x, int entries,
                           int run) {
  asi_simd2 two = two_of(x, row, 0, run), sum[3];
  for (int c = 0; c < 3; ++c) sum[c] = asi_simd_load(value + c * entries) * two;
#pragma GCC unroll 4
  for (int k = 2; k + 1 < entries; k += 2) {
    two = two_of(x, row, k, run);
    for (int c = 0; c < 3; ++c) sum[c] += asi_simd_load(value + c * entries + k) * two;
  }
  asi_three out = {asi_simd_unpack_low(sum[0], sum[1]) + asi_simd_unpack_high(sum[0], sum[1]),
                   sum[2][0] + sum[2][1]};
  if (entries % 2) {
    const double *last = value + entries - 1, one = x[row[entries - run] + run - 1];
    out.xy += (asi_simd2){last[0], last[entries]} * asi_simd_splat(one);
    out.z += last[2 * entries] * one;
  }
  return out;
}

/// (Three columns with two entries each, each a row further)^T x
ASI_INLINED asi_three shifted_dots(const double *value, const int *row, const double *x) {
  const double *p = x + row[0], *q = x + row[1];
  const asi_simd2 a = asi_simd_load(value), b = asi_simd_load(value + 2);
  return (asi_three){asi_simd_unpack_low(a, b) * asi_simd_load(p) +
                         asi_simd_unpack_high(a, b) * asi_simd_load(q),
                     value[4] * p[2] + value[5] * q[2]};
}

/// (Columns of a panel)^T x, if it has a usual shape
ASI_INLINED asi_three usual_dots(int shape, const double *value, const int *row, const double *x) {
  switch (shape) {
  case SHIFTED_2: return shifted_dots(value, row, x);
  case ROWS_3: return dots(value, row, x, 3, 3);
  case ROWS_6: return dots(value, row, x, 6, 3);
  case ROWS_5: return dots(value, row, x, 5, 5);
  default: return dots(value, row, x, 10, 5);
  }
}

/// (Column c of a panel)^T x
ASI_INLINED double single_dot(const asi_panel *a, const double *value, const int *row, int c,
                              const double *x) {
  double sum = 0.0;
  for (int k = 0; k < a->entries; ++k) sum += value[c * a->entries + k] * x[row[k] + c * a->shift];
  return sum;
}

double asi_panels_multiply_transposed_add_sized(const asi_panels *p, const double *value,
                                                double factor, const double *x, double *y,
                                                const double *unit) {
  const asi_panel *const end = p->panel + p->count;
  asi_simd2 largest = asi_simd_splat(0.0);
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    const double *v = value + a->start;
    double *to = y + a->col;
    if (a->shape <= RUN) {
      for (int c = 0; c < a->cols; ++c) {
        const double dot = single_dot(a, v, row, c, x);
        largest = asi_simd_max(asi_simd_splat(fabs(dot) * unit[a->col + c]), largest);
        to[c] += factor * dot;
      }
      continue;
    }
    const asi_three dot = usual_dots(a->shape, v, row, x);
    const asi_three by = asi_load_three(unit + a->col);
    largest = asi_simd_max(asi_simd_abs(dot.xy) * by.xy,
                           asi_simd_max(asi_simd_splat(fabs(dot.z) * by.z), largest));
    asi_store_three(to, asi_plus_three(asi_load_three(to), asi_times_three(factor, dot)));
  }
  return fmax(largest[0], largest[1]);
}

void asi_panels_multiply_transposed_add(const asi_panels *p, const double *value, double factor,
                                        const double *x, double *y) {
  const asi_panel *const end = p->panel + p->count;
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    const double *v = value + a->start;
    double *to = y + a->col;
    if (a->shape <= RUN) {
      for (int c = 0; c < a->cols; ++c) to[c] += factor * single_dot(a, v, row, c, x);
      continue;
    }
    const asi_three dot = usual_dots(a->shape, v, row, x);
    asi_store_three(to, asi_plus_three(asi_load_three(to), asi_times_three(factor, dot)));
  }
}

double asi_panels_transposed_size(const asi_panels *p, const double *value, const double *x,
                                  const double *unit) {
  const asi_panel *const end = p->panel + p->count;
  asi_simd2 largest = asi_simd_splat(0.0), sum = largest;
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    const double *v = value + a->start;
    if (a->shape <= RUN) {
      for (int c = 0; c < a->cols; ++c) {
        const asi_simd2 size = asi_simd_splat(fabs(single_dot(a, v, row, c, x)) * unit[a->col + c]);
        largest = asi_simd_max(size, largest);
        sum += size;
      }
      continue;
    }
    const asi_three dot = usual_dots(a->shape, v, row, x);
    const asi_three by = asi_load_three(unit + a->col);
    const asi_simd2 size = asi_simd_abs(dot.xy) * by.xy, last = asi_simd_splat(fabs(dot.z) * by.z);
    largest = asi_simd_max(size, asi_simd_max(last, largest));
    sum += size + last;
  }
  return fmax(largest[0], largest[1]) + 0.0 * (sum[0] + sum[1]);
}

/// y += (three columns of so many entries) x, for constant numbers
ASI_INLINED void add_columns(const double *value, const int *row, double factor, const double *x,
                             int entries, int run, double *y) {
  const double one[3] = {factor * x[0], factor * x[1], factor * x[2]};
#pragma GCC unroll 4
  for (int first = 0; first < entries; first += run) {
    double *to = y + row[first];
    const double *v = value + first;
    int k = 0;
#pragma GCC unroll 2
    for (; k + 1 < run; k += 2)
      asi_simd_store(to + k, asi_simd_load(to + k) +
                                 (asi_simd_splat(one[0]) * asi_simd_load(v + k) +
                                  asi_simd_splat(one[1]) * asi_simd_load(v + entries + k) +
                                  asi_simd_splat(one[2]) * asi_simd_load(v + 2 * entries + k)));
    to[k] += one[0] * v[k] + one[1] * v[entries + k] + one[2] * v[2 * entries + k];
  }
}

/// y += (three columns with two entries each, each a row further) x
ASI_INLINED void add_shifted(const double *value, const int *row, double factor, const double *x,
                             double *y) {
  const asi_three one = asi_times_three(factor, asi_load_three(x));
  const asi_simd2 a = asi_simd_load(value), b = asi_simd_load(value + 2);
  const asi_three p = {asi_simd_unpack_low(a, b) * one.xy, value[4] * one.z};
  const asi_three q = {asi_simd_unpack_high(a, b) * one.xy, value[5] * one.z};
  asi_store_three(y + row[0], asi_plus_three(asi_load_three(y + row[0]), p));
  asi_store_three(y + row[1], asi_plus_three(asi_load_three(y + row[1]), q));
}

/// y += (a diagonal) x
ASI_INLINED void add_diagonal(const double *value, double factor, const double *x, int n,
                              double *y) {
  int c = 0;
  for (; c + 1 < n; c += 2)
    asi_simd_store(y + c, asi_simd_load(y + c) + asi_simd_splat(factor) * asi_simd_load(value + c) *
                                                     asi_simd_load(x + c));
  if (c < n) y[c] += factor * value[c] * x[c];
}

/// y += (columns whose rows follow each other) x, one column after the other
static void add_run(const asi_panel *a, const double *value, double factor, const double *x,
                    double *restrict y) {
  const int n = a->entries;
  for (int c = 0; c < a->cols; c += 3, value += 3 * n) {
    const double one = factor * x[c], two = factor * x[c + 1], three = factor * x[c + 2];
    int k = 0;
    for (; k + 1 < n; k += 2)
      asi_simd_store(y + k, asi_simd_load(y + k) + asi_simd_splat(one) * asi_simd_load(value + k) +
                                asi_simd_splat(two) * asi_simd_load(value + n + k) +
                                asi_simd_splat(three) * asi_simd_load(value + 2 * n + k));
    if (k < n) y[k] = y[k] + one * value[k] + two * value[n + k] + three * value[2 * n + k];
  }
}

/// y += (a panel of no usual shape) x
static void add_other(const asi_panel *a, const double *value, const int *row, double factor,
                      const double *x, double *y) {
  if (a->entries == 1 && (a->shift || a->cols == 1)) {
    add_diagonal(value, factor, x, a->cols, y + row[0]);
    return;
  }
  for (int c = 0; c < a->cols; ++c)
    for (int k = 0; k < a->entries; ++k)
      y[row[k] + c * a->shift] += factor * x[c] * value[c * a->entries + k];
}

void asi_panels_multiply_add(const asi_panels *p, const double *value, double factor,
                             const double *x, double *y) {
  const asi_panel *const end = p->panel + p->count;
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    const double *v = value + a->start, *from = x + a->col;
    switch (a->shape) {
    case RUN: add_run(a, v, factor, from, y + row[0]); break;
    case SHIFTED_2: add_shifted(v, row, factor, from, y); break;
    case ROWS_3: add_columns(v, row, factor, from, 3, 3, y); break;
    case ROWS_6: add_columns(v, row, factor, from, 6, 3, y); break;
    case ROWS_5: add_columns(v, row, factor, from, 5, 5, y); break;
    case ROWS_10: add_columns(v, row, factor, from, 10, 5, y); break;
    default: add_other(a, v, row, factor, from, y);
    }
  }
}

// ---- by threads -----------------------------------------------------------------------------------

enum { MOST_PARTS = PARTS_PER_THREAD * ASI_MOST_THREADS };

typedef enum product { PUSH, PULL, PULL_SIZED, SIZE } product;

/// A product in parts.
typedef struct shared_product {
  product what;
  const asi_panels *p;
  const double *value, *x, *unit;
  double factor, *y;
  int n_parts;
  double size[MOST_PARTS];
} shared_product;

static void multiply_part(int part, int thread, void *context) {
  shared_product *w = context;
  const asi_panels *p = w->p;
  const bool apart = w->what == PUSH;
  const int count = apart ? p->n_apart : p->count;
  int from = (int)((double)count * part / w->n_parts),
      end = (int)((double)count * (part + 1) / w->n_parts);
  (void)thread;
  if (apart) {
    from = p->apart[from];
    end = p->apart[end];
  }
  const asi_panels some = {.pattern = p->pattern, .count = end - from, .panel = p->panel + from};
  switch (w->what) {
  case PUSH: asi_panels_multiply_add(&some, w->value, w->factor, w->x, w->y); break;
  case PULL: asi_panels_multiply_transposed_add(&some, w->value, w->factor, w->x, w->y); break;
  case PULL_SIZED:
    w->size[part] =
        asi_panels_multiply_transposed_add_sized(&some, w->value, w->factor, w->x, w->y, w->unit);
    break;
  case SIZE: w->size[part] = asi_panels_transposed_size(&some, w->value, w->x, w->unit); break;
  }
}

/// Whether a product is shared by threads; then it is done.
static bool multiply_by(asi_pool *pool, shared_product *w) {
  const int threads = asi_pool_threads(pool);
  if (threads < 2 || w->p->count < LEAST_SHARED) return false;
  w->n_parts = PARTS_PER_THREAD * threads;
  if (w->what == PUSH && w->p->n_apart < w->n_parts) return false;
  asi_pool_run(pool, w->n_parts, multiply_part, w);
  return true;
}

void asi_panels_multiply_add_by(asi_pool *pool, const asi_panels *p, const double *value,
                                double factor, const double *x, double *y) {
  shared_product w = {.what = PUSH, .p = p, .value = value, .factor = factor, .x = x, .y = y};
  if (!multiply_by(pool, &w)) asi_panels_multiply_add(p, value, factor, x, y);
}

void asi_panels_multiply_transposed_add_by(asi_pool *pool, const asi_panels *p, const double *value,
                                           double factor, const double *x, double *y) {
  shared_product w = {.what = PULL, .p = p, .value = value, .factor = factor, .x = x, .y = y};
  if (!multiply_by(pool, &w)) asi_panels_multiply_transposed_add(p, value, factor, x, y);
}

double asi_panels_multiply_transposed_add_sized_by(asi_pool *pool, const asi_panels *p,
                                                   const double *value, double factor,
                                                   const double *x, double *y, const double *unit) {
  shared_product w = {PULL_SIZED, p, value, x, unit, factor, y, 0, {0.0}};
  if (!multiply_by(pool, &w))
    return asi_panels_multiply_transposed_add_sized(p, value, factor, x, y, unit);
  double size = 0.0;
  for (int i = 0; i < w.n_parts; ++i) size = fmax(w.size[i], size);
  return size;
}

double asi_panels_transposed_size_by(asi_pool *pool, const asi_panels *p, const double *value,
                                     const double *x, const double *unit) {
  shared_product w = {SIZE, p, value, x, unit, 0.0, NULL, 0, {0.0}};
  if (!multiply_by(pool, &w)) return asi_panels_transposed_size(p, value, x, unit);
  double size = 0.0;
  bool known = true;
  for (int i = 0; i < w.n_parts; ++i) {
    known = known && !isnan(w.size[i]);
    size = fmax(w.size[i], size);
  }
  return known ? size : (double)NAN;
}
