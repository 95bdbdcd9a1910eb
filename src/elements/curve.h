/// Functions of one variable, as motions and characteristics use them.
#ifndef ALPHASTEP_ELEMENTS_CURVE_H
#define ALPHASTEP_ELEMENTS_CURVE_H

#include "alphastep/model.h"
#include "base/export.h"
#include "elements/formula.h"

struct asi_surface;
struct asi_road;

/// A curve of our own: const once made. It may be a formula, a function of two variables or a road instead: whatever keeps
/// curves keeps these too.
typedef struct asi_curve {
  as_curve given;   ///< constant, slope, function, user; x and y are not to be used
  bool of_time;     ///< its variable is t; of a formula that says itself what it depends on
  int n;            ///< points of the table
  double *x;        ///< n
  double *y;        ///< n
  double *slope;    ///< n: derivative at each point
  double *integral; ///< n: integral from x[0] to each point
  struct asi_surface *surface; ///< NULL: a curve
  struct asi_road *road;       ///< likewise
  asi_formula *formula;        ///< NULL: none; given.formula is not to be used
} asi_curve;

/// Copies and checks; `what` begins the sentence of a failure.
ASI_IO as_status asi_curve_init(asi_curve *c, const as_curve *def, const char *what,
                                as_error *error);
as_status asi_curve_copy(asi_curve *c, const asi_curve *from, as_error *error);
ASI_IO void asi_curve_free(asi_curve *c);
/// Copies an array; false if memory runs out: the first *n_out are there.
bool asi_curves_copy(const asi_curve *from, int n, asi_curve **out, int *n_out);

/// Value, first and second derivative; of a formula, which must be one of time, or of a curve. AS_DONE or what the
/// formula or the C function returns.
ASI_IO int asi_curve_evaluate(const asi_curve *c, double x, double out[3]);
/// The next point of its table behind x, upwards or downwards; infinity: there is none. *kink: its slope jumps there.
double asi_curve_point(const asi_curve *c, double x, bool up, bool *kink);
/// The integral from 0 to x; not of formulas.
double asi_curve_integral(const asi_curve *c, double x);

/// The place of `at` in a table: x[i] <= at <= x[i + 1], on the right of a point; at lies between the ends.
int asi_find_piece(const double *x, int n, double at);
/// The slope of a monotone table between pieces of the widths h0, h1 and difference quotients d0, d1.
double asi_monotone_slope(double h0, double d0, double h1, double d1);

/// A curve in an element's data: which one, and where it is in the model.
typedef struct asi_curve_ref {
  int index; ///< in the builder, -1: none
  const asi_curve *curve;
} asi_curve_ref;

/// Its formula, if it is one, to `out`; returns how many. The curve may be NULL.
int asi_curve_formulas(const asi_curve *curve, const struct asi_formula **out);

#endif
