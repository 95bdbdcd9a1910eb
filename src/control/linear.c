/// Linear systems, see linear.h.
#include "control/linear.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool asi_linear_init(asi_linear *s, int n_states, int n_inputs, int n_outputs,
                     const double *const matrix[4]) {
  const int rows[4] = {n_states, n_states, n_outputs, n_outputs};
  const int cols[4] = {n_states, n_inputs, n_states, n_inputs};
  size_t count = 0;
  *s = (asi_linear){.n_states = n_states, .n_inputs = n_inputs, .n_outputs = n_outputs};
  for (int k = 0; k < 4; ++k)
    for (size_t i = 0; matrix[k] && i < (size_t)rows[k] * (size_t)cols[k]; ++i)
      count += matrix[k][i] != 0.0;
  s->entry = asi_calloc(count, sizeof *s->entry);
  if (s->entry == NULL) return false;
  int n = 0;
  for (int k = 0; k < 4; ++k) {
    s->first[k] = n;
    for (int j = 0; j < cols[k] && matrix[k]; ++j)
      for (int i = 0; i < rows[k]; ++i) {
        const double x = matrix[k][(size_t)i * (size_t)cols[k] + (size_t)j];
        if (x != 0.0) s->entry[n++] = (asi_linear_entry){i, j, x};
      }
  }
  s->first[4] = n;
  return true;
}

bool asi_linear_copy(asi_linear *s, const asi_linear *from) {
  const size_t n = (size_t)from->first[4];
  *s = *from;
  s->entry = asi_calloc(n, sizeof *s->entry);
  if (s->entry && n > 0) memcpy(s->entry, from->entry, n * sizeof *s->entry);
  return s->entry != NULL;
}

void asi_linear_free(asi_linear *s) {
  free(s->entry);
  s->entry = NULL;
}

void asi_linear_add(const asi_linear *s, asi_linear_matrix which, const double *in, double *out) {
  const asi_linear_entry *e = s->entry + s->first[which], *end = s->entry + s->first[which + 1];
  for (; e < end; ++e) out[e->row] += e->value * in[e->col];
}
