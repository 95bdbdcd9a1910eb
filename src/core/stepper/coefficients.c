/// The coefficients of the generalized-alpha family and their order and stability conditions.
///
/// alpha_m and alpha_f weight the OLD value (Chung and Hulbert's convention); D = alpha_m - alpha_f.
#include "alphastep/coefficients.h"

#include <math.h>

#include "base/error.h"

/// [CO.1] gamma = 1/2 - D, beta = (1 - D)^2 / 4: second order, largest damping of high frequencies
static as_coefficients optimal(double alpha_m, double alpha_f) {
  const double D = alpha_m - alpha_f;
  return (as_coefficients){alpha_m, alpha_f, 0.25 * (1.0 - D) * (1.0 - D), 0.5 - D};
}

as_status as_coefficients_chung_hulbert(double rho_inf, as_coefficients *out, as_error *error) {
  if (!(rho_inf >= 0.0 && rho_inf <= 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "rho_inf",
                    "rho_inf = %g is not between 0 and 1.", rho_inf);
  // [CO.2] alpha_m = (2 rho - 1) / (rho + 1), alpha_f = rho / (rho + 1)
  *out = optimal((2.0 * rho_inf - 1.0) / (rho_inf + 1.0), rho_inf / (rho_inf + 1.0));
  return AS_OK;
}

as_status as_coefficients_hht(double alpha, as_coefficients *out, as_error *error) {
  if (!(alpha >= -1.0 / 3.0 && alpha <= 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "alpha",
                    "HHT's alpha = %g is not between -1/3 and 0.", alpha);
  // [CO.3] alpha_m = 0, alpha_f = -alpha
  *out = optimal(0.0, -alpha);
  return AS_OK;
}

as_status as_coefficients_newmark(double beta, double gamma, as_coefficients *out,
                                  as_error *error) {
  if (!(isfinite(beta) && beta >= 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "beta",
                    "Newmark's beta = %g is not a number >= 0.", beta);
  if (!(isfinite(gamma) && gamma > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "gamma",
                    "Newmark's gamma = %g is not a number > 0.", gamma);
  *out = (as_coefficients){0.0, 0.0, beta, gamma};
  return AS_OK;
}

as_status as_coefficients_check(const as_coefficients *c, as_error *error) {
  const double round_off = 1e-12;
  const double D = c->alpha_m - c->alpha_f;
  if (!isfinite(c->alpha_m) || !isfinite(c->alpha_f) || !isfinite(c->beta) || !isfinite(c->gamma))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "coefficients",
                    "A coefficient is not a number: alpha_m = %g, alpha_f = %g, beta = %g, "
                    "gamma = %g.",
                    c->alpha_m, c->alpha_f, c->beta, c->gamma);
  // [CO.4] order 2 if and only if gamma = 1/2 - D
  if (!(fabs(c->gamma - (0.5 - D)) <= round_off))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "gamma",
                    "gamma = %.15g is not 1/2 - alpha_m + alpha_f = %.15g: the method would be "
                    "first order only.",
                    c->gamma, 0.5 - D);
  // [CO.5] unconditional stability: alpha_m <= alpha_f <= 1/2 and beta >= 1/4 - D/2
  if (!(D <= round_off))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "alpha_m",
                    "alpha_m = %g is larger than alpha_f = %g: the method would be unstable.",
                    c->alpha_m, c->alpha_f);
  if (!(c->alpha_f <= 0.5 + round_off))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "alpha_f",
                    "alpha_f = %g is larger than 1/2: the method would be unstable.", c->alpha_f);
  if (c->beta != 0.0 && !(c->beta >= 0.25 - 0.5 * D - round_off))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "beta",
                    "beta = %.15g is smaller than 1/4 + (alpha_f - alpha_m)/2 = %.15g: the method "
                    "would be only conditionally stable.",
                    c->beta, 0.25 - 0.5 * D);
  return AS_OK;
}

as_status as_coefficients_jansen(double rho_inf, as_state_coefficients *out, as_error *error) {
  if (!(rho_inf >= 0.0 && rho_inf <= 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "rho_inf",
                    "rho_inf = %g is not between 0 and 1.", rho_inf);
  // [CO.6] delta_m = (3 rho - 1) / (2 (rho + 1)), delta_f = rho / (rho + 1), theta = 1/2 + delta_f - delta_m
  const double delta_m = (3.0 * rho_inf - 1.0) / (2.0 * (rho_inf + 1.0));
  const double delta_f = rho_inf / (rho_inf + 1.0);
  *out = (as_state_coefficients){delta_m, delta_f, 0.5 + delta_f - delta_m};
  return AS_OK;
}

as_status as_state_coefficients_check(const as_state_coefficients *c, as_error *error) {
  const double round_off = 1e-12, D = c->delta_m - c->delta_f;
  if (!isfinite(c->delta_m) || !isfinite(c->delta_f) || !isfinite(c->theta))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "state_coefficients",
                    "A coefficient is not a number: delta_m = %g, delta_f = %g, theta = %g.",
                    c->delta_m, c->delta_f, c->theta);
  if (!(fabs(c->theta - (0.5 - D)) <= round_off))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "theta",
                    "theta = %.15g is not 1/2 - delta_m + delta_f = %.15g: states would be first "
                    "order only.",
                    c->theta, 0.5 - D);
  if (!(D <= round_off) || !(c->delta_f <= 0.5 + round_off))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "delta_m",
                    "delta_m = %g, delta_f = %g: the method for states would be unstable unless "
                    "delta_m <= delta_f <= 1/2.",
                    c->delta_m, c->delta_f);
  return AS_OK;
}
