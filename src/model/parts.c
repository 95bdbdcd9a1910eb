/// Parts of a model that threads evaluate at the same time: groups of bodies that are close to each other, with the elements that touch them.
///
/// A part adds to the equations of its own bodies, and writes the rows of elements whose first body is its own. An element between two parts is
/// evaluated by both, each of which takes its own numbers. Elements of a part are visited in their order, so each number is made of the
/// same terms in the same order as without parts.
#include <stdlib.h>

#include "base/error.h"
#include "elements/plugin_force.h"
#include "model/model.h"

// So many elements in a part at least, on average, and so many parts at most.
enum { LEAST_ELEMENTS = 30, MOST_PARTS = 16 };

/// Whether all elements are those of the library, between rigid bodies or points, and nothing else is evaluated.
static bool has_parts(const as_model *m) {
  if (m->general || m->blocks || m->n_superelements + m->n_flexibles + m->n_massive > 0)
    return false;
  for (int i = 0; i < m->n_bodies; ++i)
    if (m->body[i].node || m->body[i].view || m->body[i].flexible) return false;
  for (int i = 0; i < m->n_elements; ++i)
    if (m->element[i].e.type == &asi_plugin_force_type) return false;
  return true;
}

int asi_part_of_rows(const as_model *m, const asi_placed *e) {
  for (int b = 0; b < e->e.n_bodies; ++b)
    if (e->e.body[b] >= 0) return m->part_of_body[e->e.body[b]];
  return 0;
}

/// Elements that touch each body.
typedef struct touching {
  size_t *start;
  int *element;
} touching;

static bool find_touching(const as_model *m, touching *t) {
  size_t *next = asi_calloc((size_t)m->n_bodies + 1, sizeof *next);
  t->start = asi_calloc((size_t)m->n_bodies + 2, sizeof *t->start);
  t->element = asi_calloc((size_t)m->n_elements * (size_t)(m->most_bodies > 0 ? m->most_bodies : 1),
                          sizeof(int));
  const bool ok = next && t->start && t->element;
  for (int pass = 0; pass < 2 && ok; ++pass) {
    for (int i = 0; i < m->n_elements; ++i)
      for (int b = 0; b < m->element[i].e.n_bodies; ++b) {
        const int body = m->element[i].e.body[b];
        if (body < 0) continue;
        if (pass == 0)
          ++t->start[body + 1];
        else
          t->element[next[body]++] = i;
      }
    for (int i = 0; i < m->n_bodies && pass == 0; ++i) {
      t->start[i + 1] += t->start[i];
      next[i] = t->start[i];
    }
  }
  free(next);
  return ok;
}

/// Numbers bodies as they are met on the way through the machine, away from those that came before: bodies that follow each other are close. The
/// last two are scratch, zero.
static void divide(as_model *m, const touching *t, int *stack, bool *met) {
  int count = 0;
  for (int first = 0; first < m->n_bodies; ++first) {
    int top = 0;
    if (met[first]) continue;
    met[first] = true;
    stack[top++] = first;
    while (top > 0) {
      const int body = stack[--top];
      m->part_of_body[body] = (int)((double)count++ * m->n_parts / m->n_bodies);
      for (size_t k = t->start[body]; k < t->start[body + 1]; ++k) {
        const asi_placed *e = &m->element[t->element[k]];
        for (int b = 0; b < e->e.n_bodies; ++b) {
          const int other = e->e.body[b];
          if (other < 0 || met[other]) continue;
          met[other] = true;
          stack[top++] = other;
        }
      }
    }
  }
}

/// The parts that an element touches: a set of bits.
static unsigned parts_of(const as_model *m, const asi_placed *e) {
  unsigned parts = 1u << asi_part_of_rows(m, e);
  for (int b = 0; b < e->e.n_bodies; ++b)
    if (e->e.body[b] >= 0) parts |= 1u << m->part_of_body[e->e.body[b]];
  return parts;
}

static as_status list_elements(as_model *m, as_error *error) {
  m->part_start = asi_calloc((size_t)m->n_parts + 1, sizeof *m->part_start);
  if (m->part_start == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_elements; ++i) {
    const unsigned parts = parts_of(m, &m->element[i]);
    for (int p = 0; p < m->n_parts; ++p) m->part_start[p + 1] += parts >> p & 1;
  }
  for (int p = 0; p < m->n_parts; ++p) m->part_start[p + 1] += m->part_start[p];
  m->part_element = asi_calloc(m->part_start[m->n_parts], sizeof(int));
  if (m->part_element == NULL) return asi_fail_memory(error);
  size_t next[MOST_PARTS];
  for (int p = 0; p < m->n_parts; ++p) next[p] = m->part_start[p];
  for (int i = 0; i < m->n_elements; ++i) {
    const unsigned parts = parts_of(m, &m->element[i]);
    const bool between = (parts & (parts - 1)) != 0;
    for (int p = 0; p < m->n_parts; ++p)
      if (parts >> p & 1) m->part_element[next[p]++] = between ? -1 - i : i;
  }
  return AS_OK;
}

as_status asi_build_parts(as_model *m, as_error *error) {
  const int most = m->n_elements / LEAST_ELEMENTS;
  if (most < 2 || !has_parts(m)) return AS_OK;
  m->n_parts = most < MOST_PARTS ? most : MOST_PARTS;
  m->part_of_body = asi_calloc((size_t)m->n_bodies, sizeof(int));
  int *stack = asi_calloc((size_t)m->n_bodies, sizeof(int));
  bool *met = asi_calloc((size_t)m->n_bodies, sizeof(bool));
  touching t = {NULL, NULL};
  const bool ok = m->part_of_body && stack && met && find_touching(m, &t);
  if (ok) divide(m, &t, stack, met);
  free(t.start);
  free(t.element);
  free(stack);
  free(met);
  return ok ? list_elements(m, error) : asi_fail_memory(error);
}
