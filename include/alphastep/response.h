/// Responses of a linear system x' = A x + B u, y = C x + D u: in frequency and in time.
#ifndef ALPHASTEP_RESPONSE_H
#define ALPHASTEP_RESPONSE_H

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Matrices by columns.
typedef struct as_linear_system {
  int n, m, p;     ///< states, inputs, outputs
  const double *a; ///< n x n
  const double *b; ///< n x m
  const double *c; ///< p x n
  const double *d; ///< p x m
} as_linear_system;

/// H(i omega) = C (i omega - A)^-1 B + D for `count` circular frequencies [1/s]: for each of them p x m real parts by columns, then as many
/// imaginary ones. Where i omega is an eigenvalue they are infinite.
AS_API as_status as_frequency_response(const as_linear_system *system, const double *omega,
                                       int count, double *out, as_error *error);

typedef enum as_time_input {
  AS_INPUT_STEP,    ///< 0 before t = 0, 1 from then on
  AS_INPUT_IMPULSE, ///< of area 1 at t = 0; what D passes on of it is left out
} as_time_input;

/// Outputs at t = 0, h, 2 h, ... (count - 1) h from rest, for each input by itself: for each time p x m numbers by columns. Exact but for
/// round-off.
AS_API as_status as_time_response(const as_linear_system *system, as_time_input input, double h,
                                  int count, double *out, as_error *error);

/// Transmission zeros: s where inputs exp(s t) exist that no output shows, or fewer than usual; for one input and one output the zeros of the
/// transfer function. Room for n numbers in re and im. They are [LI.13] of all inputs to all outputs, both of each complex pair.
AS_API as_status as_transmission_zeros(const as_linear_system *system, double *re, double *im,
                                       int *count, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
