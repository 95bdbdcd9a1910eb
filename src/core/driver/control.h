/// What control.c, tolerances.c and step_error.c share: automatic steps.
#ifndef ALPHASTEP_CORE_DRIVER_CONTROL_H
#define ALPHASTEP_CORE_DRIVER_CONTROL_H

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/driver/integrator.h"

/// fmax and fmin without a call: b where a is NaN.
static inline double asi_larger(double a, double b) { return a > b ? a : b; }
static inline double asi_lesser(double a, double b) { return a < b ? a : b; }

// tolerances.c ------------------------------------------------------------------------------------

/// Components smaller than this are measured by this, times the typical size of each: a share of the largest of their kind.
double asi_least_size(const as_integrator *s, const double *size, int first, int count);
/// Sizes of q, v and x somewhere, not smaller than `least`.
void asi_measure_sizes(const as_integrator *s, const asi_values *at, const double *least,
                       double *size);
/// [SC.12] what a step may add to the error of a component that is to be exact to `tau` at the end
double asi_step_tolerance(double tau, double size);

/// What the mean of a_i b_i / w_i^2 over components from `first` on is measured by: w_i of [SC.12], where the size is not
/// below a hundredth of the largest one; or tau_i.
typedef enum measured_by { BY_STEP, BY_END } measured_by;
double asi_error_product(const as_integrator *s, const double *a, const double *b,
                         const double *size, int first, int count, measured_by by);
/// [SC.3] sqrt(mean((e_i / w_i)^2)) of s->control.estimate
double asi_error_norm(const as_integrator *s, const double *size, int first, int count);
/// [SC.8] What Newton's method may leave of q, v and x.
void asi_set_allowed(as_integrator *s);

// step_error.c ------------------------------------------------------------------------------------

/// Whether forces depend on multipliers, as friction in joints does.
bool asi_rubs(const as_integrator *s);
/// [SC.4] by how much a step with error e asks for another size
double asi_proposed_factor(const as_integrator *s, double e);
/// The error of the step that was solved last, in tolerances. Where it is too large, and then on for as long as it matters,
/// round-off is looked at more closely; so it is if `closely`, and, close to a singular position, where steps would become smaller.
double asi_estimate_error(as_integrator *s, bool closely, double *amplified);
/// [SC.14] How long windows are to be for round-off of v' to make no more than round_off_least of e_v; 0: it does not by steps. In
/// index-3 form its bound is large enough without what constraints make of it.
double asi_window_length(as_integrator *s);
/// [SC.9] What constraints take up of a change e of velocities, by the matrix of the step; false: there is no telling.
bool asi_find_taken(as_integrator *s, const double *e, double *taken);
/// Adds the mean v' of a step to the window, and begins another where it has become that long; 0: there are none.
void asi_fill_window(as_integrator *s, double length);
/// The means of the step that was accepted last become those of an earlier step.
void asi_remember_means(as_integrator *s);

// control.c ---------------------------------------------------------------------------------------

/// [SC.10] the longest step
double asi_longest_step(const as_integrator *s);
/// [SC.11] A step that was solved with error e: the size with which it is to be taken again, because something happens inside
/// that its ends do not show; 0: nothing does.
double asi_find_input(as_integrator *s, double h, double e);
/// [SC.5] a first step
as_status asi_choose_first_step(as_integrator *s, double stop, double hint, double *h);

// vibration.c -------------------------------------------------------------------------------------

/// [SC.15] Takes vibrations that do not count off s->control.estimate, whose part of v is without what constraints take up; by_v:
/// that part over h^3 v'''. Errors below `least` may stay.
void asi_let_go(as_integrator *s, double by_v, double least);

#endif
