/// Linear systems x' = A x + B w, y = C x + D w, or x+ = A x + B w of sampled ones. Only entries that are not zero are kept:
/// an evaluation costs as much as there are of them.
#ifndef ALPHASTEP_CONTROL_LINEAR_H
#define ALPHASTEP_CONTROL_LINEAR_H

#include <stdbool.h>

typedef enum asi_linear_matrix {
  ASI_LINEAR_A,
  ASI_LINEAR_B,
  ASI_LINEAR_C,
  ASI_LINEAR_D
} asi_linear_matrix;

typedef struct asi_linear_entry {
  int row, col;
  double value;
} asi_linear_entry;

typedef struct asi_linear {
  int n_states, n_inputs, n_outputs;
  int first
      [5]; ///< entries of A begin at first[0], of B at first[1], ...; first[4]: how many there are
  asi_linear_entry *entry; ///< of each matrix by columns
} asi_linear;

/// Takes matrices by rows over, by copy; NULL: zeros. False: memory has run out.
bool asi_linear_init(asi_linear *system, int n_states, int n_inputs, int n_outputs,
                     const double *const matrix[4]);
bool asi_linear_copy(asi_linear *system, const asi_linear *from);
void asi_linear_free(asi_linear *system);

/// out += matrix in
void asi_linear_add(const asi_linear *system, asi_linear_matrix which, const double *in,
                    double *out);

#endif
