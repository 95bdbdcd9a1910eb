/// Reference solutions of ordinary differential equations, near round-off.
#ifndef TESTS_PROBLEMS_REFERENCE_ODE_H
#define TESTS_PROBLEMS_REFERENCE_ODE_H

enum { REFERENCE_MAX = 16 }; ///< the largest system

/// Writes y' at (t, y).
typedef void reference_rhs(double t, const double *y, double *dy, const void *context);

/// Takes y from t0 to t1 in equal steps of at most max_step, by extrapolation of order 16. Choose
/// max_step about one radian of the fastest motion over 2, then the error is of round-off size.
void reference_ode(reference_rhs *rhs, const void *context, int n, double t0, double t1,
                   double max_step, double *y);

/// Solves A x = b, A stored by rows, by elimination with row exchanges. Overwrites A; x is in b.
void reference_solve(int n, double *a, double *b);

/// Copies n numbers unless `to` is NULL.
void reference_put(double *to, const double *from, int n);

#endif
