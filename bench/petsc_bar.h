/// A bar of linear elements, solved by TSALPHA2 of PETSc, whose matrix is factorized once.
#ifndef BENCH_PETSC_BAR_H
#define BENCH_PETSC_BAR_H

/// M and K are tridiagonal, rows `diagonal` and `beside`, the last diagonal half as large.
typedef struct petsc_bar {
  int n;
  double mass[2], stiffness[2]; ///< on the diagonal, beside it
  const double *q;              ///< at the start, at rest
  double h, rho_inf;
  int steps;
} petsc_bar;

/// Makes all steps; the displacements at the end, and the processor time of the steps behind the first ones. Not 0: it failed.
int petsc_bar_run(const petsc_bar *bar, double *q, double *seconds, int *timed_steps);

#endif
