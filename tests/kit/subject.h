/// Test problems of every kind under one description, runs of them, and states as plain numbers: what the
/// tests of dense output and of automatic steps share.
#ifndef TESTS_SUBJECT_H
#define TESTS_SUBJECT_H

#include <stdbool.h>

#include "alphastep/alphastep.h"
#include "problems/manufactured.h"
#include "problems/mechatronic.h"
#include "problems/nonholonomic.h"
#include "problems/problems.h"

/// The most entries that any variable of a subject has.
enum { SUBJECT_MAX = 64 };

/// A problem, its starting values, and whose exact solution it has.
typedef struct subject {
  const char *name;
  as_problem_def def;
  double t0, t_end; ///< [s]
  double q0[SUBJECT_MAX], v0[SUBJECT_MAX], x0[SUBJECT_MAX];
  const test_problem *plain;
  const nonholonomic_problem *rolling;
  const mechatronic_problem *mechatronic;
  const manufactured *made;
} subject;

subject subject_plain(const test_problem *p);
subject subject_rolling(const nonholonomic_problem *p);
subject subject_mechatronic(const mechatronic_problem *p);
/// `m` must outlive the subject.
subject subject_made(const char *name, manufactured *m);

as_initial subject_initial(const subject *s);

// ---- errors ---------------------------------------------------------------------------------------

/// What is compared with the exact solution: q on the group, a and w at t + a_offset and t + w_offset.
enum subject_variable {
  SUBJECT_Q,
  SUBJECT_V,
  SUBJECT_VDOT,
  SUBJECT_A,
  SUBJECT_LAMBDA,
  SUBJECT_PSI,
  SUBJECT_X,
  SUBJECT_XDOT,
  SUBJECT_W,
  SUBJECT_Y,
  SUBJECT_VARIABLES,
};

extern const char *const subject_variable_names[SUBJECT_VARIABLES];

bool subject_has(const subject *s, int variable);

/// Adds the squares of the errors of a state to SUBJECT_VARIABLES sums.
void subject_add_errors(const subject *s, const as_space *space, const as_state *state,
                        double *sums);

// ---- runs -----------------------------------------------------------------------------------------

typedef struct run {
  as_problem *problem;
  as_integrator *integrator;
} run;

/// Creates and starts; fails the test if that fails.
run run_start(const subject *s, const as_integrator_def *how);
void run_close(run *r);

/// Fails the test with the error's sentence.
void must(as_status status, const as_error *error);

// ---- states as numbers ----------------------------------------------------------------------------

enum { SNAPSHOT_MAX = 1024 };

/// All that as_state holds.
typedef struct snapshot {
  int count;
  double number[SNAPSHOT_MAX];
} snapshot;

snapshot snapshot_take(const subject *s, const run *r);

/// Whether two have the same bits.
bool snapshot_same(const snapshot *a, const snapshot *b);

/// The largest |a_i - b_i| / (1 + |b_i|).
double snapshot_distance(const snapshot *a, const snapshot *b);

#endif
