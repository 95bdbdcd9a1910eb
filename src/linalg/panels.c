/// Products by panels, see panels.h.
#include "linalg/panels.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/two.h"

// More entries than this are not copied together before they are multiplied.
enum { MOST_ENTRIES = 16 };

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

/// The panel that begins with column j.
static asi_panel panel_from(const asi_pattern *p, int j) {
  const int start = p->col_start[j];
  asi_panel panel = {j, 1, start, p->col_start[j + 1] - start, 0};
  for (int k = j + 1; k < p->cols; ++k, ++panel.cols) {
    if (panel.cols == 1) panel.shift = !continues(p, &panel, 0, k);
    if (!continues(p, &panel, panel.shift, k)) break;
  }
  if (panel.cols == 1) panel.shift = 0;
  return panel;
}

as_status asi_panels_init(asi_panels *p, const asi_pattern *pattern, as_error *error) {
  int count = 0;
  for (int j = 0; j < pattern->cols; ++count) j += panel_from(pattern, j).cols;
  *p = (asi_panels){.pattern = pattern};
  p->panel = asi_calloc((size_t)count, sizeof *p->panel);
  if (p->panel == NULL) return asi_fail_memory(error);
  for (int j = 0; j < pattern->cols; j += p->panel[p->count++].cols)
    p->panel[p->count] = panel_from(pattern, j);
  return AS_OK;
}

void asi_panels_free(asi_panels *p) {
  free(p->panel);
  *p = (asi_panels){0};
}

// ---- products -------------------------------------------------------------------------------------

ASI_INLINED double dot(const double *a, const double *b, int n) {
  asi_two sum = asi_both(0.0);
#pragma GCC unroll 3
  for (int k = 0; k + 1 < n; k += 2) sum += asi_load_two(a + k) * asi_load_two(b + k);
  return sum[0] + sum[1] + (n % 2 ? a[n - 1] * b[n - 1] : 0.0);
}

/// out = (columns of a panel)^T x, for constant numbers of columns and entries
ASI_INLINED void dots(const double *value, const int *row, const double *x, int cols, int entries,
                      double *out) {
  double gathered[MOST_ENTRIES];
#pragma GCC unroll 6
  for (int k = 0; k < entries; ++k) gathered[k] = x[row[k]];
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c) out[c] = dot(value + c * entries, gathered, entries);
}

/// (Column c of a panel)^T x
ASI_INLINED double single_dot(const asi_panel *a, const double *value, const int *row, int c,
                              const double *x) {
  double sum = 0.0;
  for (int k = 0; k < a->entries; ++k) sum += value[c * a->entries + k] * x[row[k] + c * a->shift];
  return sum;
}

/// out = (three columns with two entries each, each a row further)^T x
ASI_INLINED void shifted_dots(const double *value, const int *row, const double *x, double *out) {
  const double *p = x + row[0], *q = x + row[1];
  for (int c = 0; c < 3; ++c) out[c] = value[2 * c] * p[c] + value[2 * c + 1] * q[c];
}

/// out = (columns of a panel)^T x if it is a usual one; false: it is not
ASI_INLINED bool usual_dots(const asi_panel *a, const double *value, const int *row,
                            const double *x, double out[3]) {
  if (a->cols != 3) return false;
  if (a->shift) {
    if (a->entries != 2) return false;
    shifted_dots(value, row, x, out);
    return true;
  }
  switch (a->entries) {
  case 3: dots(value, row, x, 3, 3, out); return true;
  case 5: dots(value, row, x, 3, 5, out); return true;
  case 6: dots(value, row, x, 3, 6, out); return true;
  case 10: dots(value, row, x, 3, 10, out); return true;
  default: return false;
  }
}

void asi_panels_multiply_transposed_add(const asi_panels *p, const double *value, double factor,
                                        const double *x, double *y) {
  const asi_panel *const end = p->panel + p->count;
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    double *to = y + a->col, out[3];
    if (usual_dots(a, value + a->start, row, x, out))
      for (int c = 0; c < 3; ++c) to[c] += factor * out[c];
    else
      for (int c = 0; c < a->cols; ++c)
        to[c] += factor * single_dot(a, value + a->start, row, c, x);
  }
}

/// The largest of some numbers so far; `nothing` becomes NaN if one is not finite.
typedef struct extreme {
  double largest, nothing;
} extreme;

ASI_INLINED void note(extreme *e, double x) {
  const double size = fabs(x);
  e->largest = size > e->largest ? size : e->largest;
  e->nothing += 0.0 * x;
}

void asi_panels_transposed_sizes(const asi_panels *p, const double *value, const double *x,
                                 const double *y, double size[2]) {
  const asi_panel *const end = p->panel + p->count;
  extreme by_x = {0.0, 0.0}, by_y = {0.0, 0.0};
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    const double *v = value + a->start;
    double out[2][3];
    if (usual_dots(a, v, row, x, out[0])) {
      (void)usual_dots(a, v, row, y, out[1]);
      for (int c = 0; c < 3; ++c) note(&by_x, out[0][c]);
      for (int c = 0; c < 3; ++c) note(&by_y, out[1][c]);
      continue;
    }
    for (int c = 0; c < a->cols; ++c) {
      note(&by_x, single_dot(a, v, row, c, x));
      note(&by_y, single_dot(a, v, row, c, y));
    }
  }
  size[0] = by_x.largest + by_x.nothing;
  size[1] = by_y.largest + by_y.nothing;
}

/// y += (columns of a panel) x, for constant numbers of columns and entries
ASI_INLINED void add_columns(const double *value, const int *row, double factor, const double *x,
                             int cols, int entries, double *y) {
  double sum[MOST_ENTRIES] = {0};
#pragma GCC unroll 3
  for (int c = 0; c < cols; ++c) {
    const double one = factor * x[c];
#pragma GCC unroll 6
    for (int k = 0; k < entries; ++k) sum[k] += one * value[c * entries + k];
  }
#pragma GCC unroll 6
  for (int k = 0; k < entries; ++k) y[row[k]] += sum[k];
}

/// y += (three columns with two entries each, each a row further) x
ASI_INLINED void add_shifted(const double *value, const int *row, double factor, const double *x,
                             double *y) {
  for (int c = 0; c < 3; ++c) {
    y[row[0] + c] += factor * x[c] * value[2 * c];
    y[row[1] + c] += factor * x[c] * value[2 * c + 1];
  }
}

/// y += (a diagonal) x
ASI_INLINED void add_diagonal(const double *value, double factor, const double *x, int n,
                              double *y) {
  int c = 0;
  for (; c + 1 < n; c += 2)
    asi_store_two(y + c, asi_load_two(y + c) +
                             asi_both(factor) * asi_load_two(value + c) * asi_load_two(x + c));
  if (c < n) y[c] += factor * value[c] * x[c];
}

void asi_panels_multiply_add(const asi_panels *p, const double *value, double factor,
                             const double *x, double *y) {
  const asi_panel *const end = p->panel + p->count;
  for (const asi_panel *a = p->panel; a < end; ++a) {
    const int *row = p->pattern->row + a->start;
    const double *v = value + a->start, *from = x + a->col;
    if (a->entries == 1 && (a->shift || a->cols == 1))
      add_diagonal(v, factor, from, a->cols, y + row[0]);
    else if (!a->shift && a->cols == 3 && a->entries == 3)
      add_columns(v, row, factor, from, 3, 3, y);
    else if (!a->shift && a->cols == 3 && a->entries == 6)
      add_columns(v, row, factor, from, 3, 6, y);
    else if (a->shift && a->cols == 3 && a->entries == 2)
      add_shifted(v, row, factor, from, y);
    else
      for (int c = 0; c < a->cols; ++c)
        for (int k = 0; k < a->entries; ++k)
          y[row[k] + c * a->shift] += factor * from[c] * v[c * a->entries + k];
  }
}
