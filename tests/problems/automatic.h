/// The problems on which automatic steps are judged, all in one form; and a run over one of them.
///
/// They are problems of the other headers here: constrained and not, holonomic and not, on R^n and on a Lie
/// group, with a controller, with slow and fast phases, and with a stiff spring whose vibration is to be
/// damped, not followed. Solutions owe nothing to the integrator.
#ifndef TESTS_PROBLEMS_AUTOMATIC_H
#define TESTS_PROBLEMS_AUTOMATIC_H

#include "alphastep/alphastep.h"

enum {
  AUTOMATIC_MAX = 16,   ///< more than any number of components here
  AUTOMATIC_TIMES = 30, ///< at which solutions are known, evenly over the time
  AUTOMATIC_THIRDS = 3, ///< of these: after a third, two thirds and all of it
};

/// What is compared with the exact solution.
enum {
  AUTOMATIC_Q,
  AUTOMATIC_V,
  AUTOMATIC_LAMBDA,
  AUTOMATIC_PSI,
  AUTOMATIC_X,
  AUTOMATIC_VARIABLES
};

typedef struct automatic_problem {
  const char *name;
  as_problem_def def;
  double t0, t_end; ///< [s]
  const double *q0;
  const double *v0;
  const double *x0;
  bool varies;                    ///< has slow and fast phases: steps should differ
  int count[AUTOMATIC_VARIABLES]; ///< components of each variable
  double size[AUTOMATIC_VARIABLES][AUTOMATIC_MAX]; ///< about the largest of each on the way
  double times[AUTOMATIC_TIMES];                   ///< the last one is t_end [s]
  double exact[AUTOMATIC_TIMES][AUTOMATIC_VARIABLES][AUTOMATIC_MAX]; ///< NAN: not known then
} automatic_problem;

int automatic_count(void);
const char *automatic_name(int index);

/// Makes a problem and solves it exactly, which takes up to a second. Aborts if memory runs out. The caller
/// hands it to automatic_close().
automatic_problem *automatic_open(int index);
void automatic_close(automatic_problem *p);

/// "q", "v", "lambda", "psi", "x"
const char *automatic_variable_name(int variable);

typedef struct automatic_run {
  as_status status;
  as_error error;
  /// Errors over `size`, the root of their mean square over components, as the tolerance is measured, and over times: over
  /// those of the last tenth, over thirds, and over all. At one time alone an error may happen to pass through zero. 0
  /// where there is no such variable; NAN if only thirds were looked at.
  double at_end[AUTOMATIC_VARIABLES];
  double at_thirds[AUTOMATIC_VARIABLES];
  double overall[AUTOMATIC_VARIABLES];
  as_statistics work;
} automatic_run;

/// The errors at times[i], over `size`, of each variable.
void automatic_compare(const automatic_problem *p, const as_space *space, const as_state *s, int i,
                       double *off);

/// Integrates from t0 to t_end as `def` says, with looks at AUTOMATIC_TIMES or at AUTOMATIC_THIRDS: steps of a given size
/// land on these.
automatic_run automatic_integrate(const automatic_problem *p, const as_integrator_def *def,
                                  int looks);

/// The slope of the line through (log x, log y) with the least squares.
double automatic_slope(const double *x, const double *y, int n);

#endif
