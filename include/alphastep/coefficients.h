/// The coefficients of a generalized-alpha method.
///
/// Convention: alpha_m and alpha_f weight the OLD value, as Chung and Hulbert have it (PETSc's are
/// one minus ours). D = alpha_m - alpha_f.
#ifndef ALPHASTEP_COEFFICIENTS_H
#define ALPHASTEP_COEFFICIENTS_H

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct as_coefficients {
  double alpha_m;
  double alpha_f;
  double beta;
  double gamma;
} as_coefficients;

/// Chung and Hulbert's optimal set for a spectral radius rho_inf in [0, 1] at infinite frequency:
/// 1 keeps everything, 0 annihilates what the step does not resolve.
AS_API as_status as_coefficients_chung_hulbert(double rho_inf, as_coefficients *out,
                                               as_error *error);
/// Hilber, Hughes and Taylor's set for alpha in [-1/3, 0].
AS_API as_status as_coefficients_hht(double alpha, as_coefficients *out, as_error *error);
/// Newmark's methods: beta = 1/4, gamma = 1/2 is the trapezoidal rule; beta = 0, gamma = 1/2 is
/// Stoermer's explicit method, for problems without holonomic constraints.
AS_API as_status as_coefficients_newmark(double beta, double gamma, as_coefficients *out,
                                         as_error *error);

/// The coefficients for first-order states x: delta_m and delta_f weight the OLD value too.
typedef struct as_state_coefficients {
  double delta_m;
  double delta_f;
  double theta;
} as_state_coefficients;

/// Jansen, Whiting and Hulbert's optimal set for a spectral radius rho_inf in [0, 1].
AS_API as_status as_coefficients_jansen(double rho_inf, as_state_coefficients *out,
                                        as_error *error);
/// Refuses coefficients that are not second order (theta = 1/2 - delta_m + delta_f) or not stable
/// (delta_m <= delta_f <= 1/2).
AS_API as_status as_state_coefficients_check(const as_state_coefficients *c, as_error *error);

/// Refuses coefficients that are not second order (gamma = 1/2 - D) or not unconditionally stable
/// (alpha_m <= alpha_f <= 1/2, beta >= 1/4 - D/2; beta = 0 is admitted) and says which condition
/// fails and by how much.
AS_API as_status as_coefficients_check(const as_coefficients *c, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
