/// The chain of links with spherical joints, solved by IDA of SUNDIALS.
#ifndef BENCH_IDA_CHAIN_H
#define BENCH_IDA_CHAIN_H

/// What a run gave.
typedef struct ida_result {
  double seconds; ///< CPU time from the first to the last step [s]
  double tip[3];  ///< the free end at t_end [m]
  long steps, jacobians, iterations;
  int status; ///< 0: done
} ida_result;

/// How to run it.
typedef struct ida_options {
  int n_links;
  double t_end;               ///< [s]
  double rtol;                ///< relative and absolute tolerance
  int ordering;               ///< KLU's: 0 AMD, 1 COLAMD, 2 as the unknowns are numbered
  int btf;                    ///< KLU's block triangular form
  const double *acceleration; ///< 6 per link: v' and omega' at the start
  const double *lambda;       ///< 3 per link
} ida_options;

ida_result ida_chain_run(const ida_options *options);

#endif
