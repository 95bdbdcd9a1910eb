/// What an eigenvalue makes of increments along a steady motion.
///
/// [LI.9] In the axes of [LI.6] rates are s times what is seen, so that in the components of the space
///
///     xi' = s xi - W xi,    dv' = s dv - W dv,    dv = xi' + [v, xi]
///
/// where W turns each triple by the angular velocity that its own axes have against those. With T = 1 + ([v, .] - W) / s and
/// U = 1 - W / s these are dv = s T xi and dv' = s U dv = s^2 U T xi: matrices of one small block for each body.
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"
#include "lie/space.h"

enum { WIDEST = 6 };

/// The width of the block of each component.
static void list_widths(const as_problem *p, int *first, int *width) {
  const as_space *space = p->space;
  int at = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    for (int i = 0; i < space->parts[part].count; ++i) {
      const int parts = kind == AS_SPACE_R3SO3 ? 2 : 1;
      const bool single = kind == AS_SPACE_RN && !p->vector[at];
      const int each = single ? 1 : kind == AS_SPACE_SE3 ? 6 : 3;
      if (kind == AS_SPACE_RN && !single) i += 2;
      for (int k = 0; k < parts; ++k)
        for (int from = at, j = 0; j < each; ++j, ++at) {
          first[at] = from;
          width[at] = each;
        }
    }
  }
}

as_status asi_steady_map_init(asi_steady_map *m, const as_problem *p, as_error *error) {
  const size_t n = (size_t)p->n;
  m->problem = p;
  asi_pattern *pattern = &m->chain.t_pattern;
  *pattern = (asi_pattern){.rows = p->n, .cols = p->n};
  pattern->col_start = asi_calloc(n + 1, sizeof *pattern->col_start);
  pattern->row = asi_calloc(WIDEST * n + 1, sizeof *pattern->row);
  m->work = asi_calloc(6 * n + 1, sizeof *m->work);
  m->axes.turned = asi_calloc(n + 1, sizeof *m->axes.turned);
  int *first = asi_calloc(2 * n + 1, sizeof *first);
  const bool good = pattern->col_start && pattern->row && m->work && m->axes.turned && first;
  if (good) {
    int *width = first + n, count = 0;
    list_widths(p, first, width);
    for (int j = 0; j < p->n; ++j) {
      for (int i = 0; i < width[j]; ++i) pattern->row[count++] = first[j] + i;
      pattern->col_start[j + 1] = count;
    }
  }
  free(first);
  as_status status = good ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = asi_matrix_init(&m->chain.t, pattern, error);
  if (status == AS_OK) status = asi_matrix_init(&m->chain.second, pattern, error);
  return status;
}

void asi_steady_map_free(asi_steady_map *m) {
  asi_tangent_map_free(&m->chain);
  free(m->axes.turned);
  free(m->work);
}

/// out = W x
static void turn(const asi_steady_map *m, const double *x, double *out) {
  const size_t n = (size_t)m->problem->n;
  double *seen = m->work + 2 * n;
  memcpy(seen, x, n * sizeof *seen);
  asi_axes_to(&m->axes, seen);
  memset(out, 0, n * sizeof *out);
  asi_axes_add_turning(&m->axes, seen, out);
  asi_axes_from(&m->axes, out);
}

void asi_steady_map_position(const asi_steady_map *m, const double *x, double *out) {
  const int n = m->problem->n;
  double *turned = m->work, *bracket = m->work + n;
  turn(m, x, turned);
  as_space_bracket(m->problem->space, m->v, x, bracket);
  for (int i = 0; i < n; ++i) out[i] = m->s * x[i] + bracket[i] - turned[i];
}

void asi_steady_map_velocity(const asi_steady_map *m, const double *x, double *out) {
  const int n = m->problem->n;
  double *turned = m->work;
  turn(m, x, turned);
  for (int i = 0; i < n; ++i) out[i] = m->s * x[i] - turned[i];
}

void asi_steady_map_update(asi_steady_map *m, double s, const double *v) {
  const as_matrix *t = &m->chain.t;
  const int n = m->problem->n;
  double *x = m->work + 3 * n, *once = x + n, *twice = once + n;
  m->s = s;
  m->v = v;
  for (int place = 0; place < WIDEST; ++place) { // the same column of all blocks at once
    for (int j = 0; j < n; ++j) x[j] = j - t->row[t->col_start[j]] == place;
    asi_steady_map_position(m, x, once);
    asi_steady_map_velocity(m, once, twice);
    for (int j = 0; j < n; ++j)
      for (int k = t->col_start[j]; x[j] != 0.0 && k < t->col_start[j + 1]; ++k) {
        t->value[k] = once[t->row[k]] / s;
        m->chain.second.value[k] = twice[t->row[k]] / (s * s);
      }
  }
}
