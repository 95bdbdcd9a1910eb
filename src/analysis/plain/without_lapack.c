/// What a library that was built without LAPACK says to those who ask for eigenvalues: one sentence. Equilibria are found, but their
/// stability is not known.
#include <math.h>
#include <stddef.h>

#include "alphastep/linearization.h"
#include "alphastep/response.h"
#include "analysis/analysis.h"
#include "base/error.h"

static as_status fail_without_lapack(const char *what, as_error *error) {
  return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
                  "%s needs LAPACK, and this library was built without it.", what);
}

as_status asi_stability(as_analysis *a, double t, as_equilibrium *found) {
  (void)a;
  (void)t;
  found->stability = AS_STABILITY_UNKNOWN;
  found->n_negative = found->n_neutral = -1;
  found->softest = a->kappa = (double)NAN;
  found->softest_component[0] = '\0';
  return AS_OK;
}

as_linearization_def as_default_linearization_def(void) {
  return (as_linearization_def){.inputs = NULL};
}

as_status as_linearize(const as_problem *problem, const as_initial *initial,
                       const as_linearization_def *def, as_linearization **out, as_error *error) {
  (void)problem;
  (void)initial;
  (void)def;
  *out = NULL;
  return fail_without_lapack("A linearization", error);
}

// There is no linearization that these could be called with.

void as_linearization_destroy(as_linearization *linearization) { (void)linearization; }

const as_state *as_linearization_state(const as_linearization *linearization) {
  (void)linearization;
  return NULL;
}

as_status as_linearization_moved(as_linearization *linearization, int column, double amount,
                                 const as_state **out, as_error *error) {
  (void)linearization;
  (void)column;
  (void)amount;
  *out = NULL;
  return fail_without_lapack("A linearization", error);
}

double as_linearization_reach(const as_linearization *linearization, int column) {
  (void)linearization;
  (void)column;
  return (double)NAN;
}

void as_linearization_expand(const as_linearization *linearization, const double *states,
                             double *position, double *velocity) {
  (void)linearization;
  (void)states;
  (void)position;
  (void)velocity;
}

as_status as_modes_create(const as_linearization *linearization, as_modes **out, as_error *error) {
  (void)linearization;
  *out = NULL;
  return fail_without_lapack("Finding modes", error);
}

void as_modes_destroy(as_modes *modes) { (void)modes; }

as_status as_modes_slowest(const as_problem *problem, const as_initial *initial,
                           const as_linearization_def *def, int count, as_modes **out,
                           as_error *error) {
  (void)problem;
  (void)initial;
  (void)def;
  (void)count;
  *out = NULL;
  return fail_without_lapack("Finding modes", error);
}

as_status as_frequency_response(const as_linear_system *system, const double *omega, int count,
                                double *out, as_error *error) {
  (void)system;
  (void)omega;
  (void)count;
  (void)out;
  return fail_without_lapack("A frequency response", error);
}

as_status as_time_response(const as_linear_system *system, as_time_input input, double h, int count,
                           double *out, as_error *error) {
  (void)system;
  (void)input;
  (void)h;
  (void)count;
  (void)out;
  return fail_without_lapack("A time response", error);
}

as_status as_descriptor_create(as_linearization *linearization, as_descriptor **out,
                               as_error *error) {
  (void)linearization;
  *out = NULL;
  return fail_without_lapack("A descriptor form", error);
}

void as_descriptor_destroy(as_descriptor *descriptor) { (void)descriptor; }

as_status as_transmission_zeros(const as_linear_system *system, double *re, double *im, int *count,
                                as_error *error) {
  (void)system;
  (void)re;
  (void)im;
  (void)count;
  return fail_without_lapack("Finding transmission zeros", error);
}
