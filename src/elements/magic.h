/// The Magic Formula of a tyre, PAC2002 = MF 5.2 without turn slip and pressure, with derivatives; its constants are those of .tir
/// files. See docs/elements/tyre.md for the equations.
#ifndef ALPHASTEP_ELEMENTS_MAGIC_H
#define ALPHASTEP_ELEMENTS_MAGIC_H

#include "alphastep/tyre.h"
#include "elements/dual.h"

/// What a steady tyre gives. The moment about z is c_alpha turning + steady, with the cosine c_alpha of the side slip.
typedef struct asi_magic {
  asi_dual Fx, Fy, Mx;
  asi_dual turning, steady;
  double Fx0, Fy0;
} asi_magic;

/// Derivatives are by kappa, alpha, gamma and Fz, where `derivatives`; Fz <= FZMAX.
void asi_magic_evaluate(const as_tyre *t, double kappa, double alpha, double gamma, double Fz,
                        bool derivatives, asi_magic *out);

/// Slip stiffnesses and relaxation lengths at a load, in the variables of the load `Fz`.
typedef struct asi_magic_lags {
  asi_dual Kx, Ky;                   ///< at the load, Ky at no camber and without its sign
  asi_dual sigma_kappa, sigma_alpha; ///< at the load, at most FZMAX; before they are kept from zero
} asi_magic_lags;

asi_magic_lags asi_magic_lags_at(const as_tyre *t, int n, asi_dual Fz, asi_dual gamma);

/// R_e at a deflection >= 0.
asi_dual asi_magic_rolling_radius(const as_tyre *t, int n, asi_dual deflection);

#endif
