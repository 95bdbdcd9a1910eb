/// A shallow truss that snaps through and a column that buckles, with their closed forms.
#ifndef TESTS_SNAPPING_H
#define TESTS_SNAPPING_H

#include "analyses.h"

/// Two springs of the stiffness k that lean against each other: half the span a, height h, length at rest L0. A load P
/// on the apex: P = 2 k y (L0 / L - 1), L^2 = a^2 + y^2, largest where L^3 = L0 a^2.
extern const double truss_a, truss_h, truss_k;
double truss_load(double y);
/// The largest load, and where.
double truss_limit(double *y);
/// The load is the time; or a spring of the stiffness 20 above the apex, whose upper end, 1 m higher, goes down by the time.
bench truss_make(bool pushed);

/// Two links, foot and head guided, with a torsional spring between, that lean by `rest` when it is slack; the load on the head is
/// *load: P_critical = 2 k/l = 16, beyond it 2 k a = P l sin a.
bench column_make(double rest, double *load);

#endif
