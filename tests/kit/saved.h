/// What the tests of saved states share: problems in which everything happens, and all that can be seen of an
/// integrator, to the last bit.
#ifndef TESTS_SAVED_H
#define TESTS_SAVED_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/alphastep.h"

/// A problem, where it starts, and how it is stepped.
typedef struct saved_subject {
  const char *name;
  as_problem_def def;
  as_initial initial;
  double h;    ///< a step that suits it [s]
  int actions; ///< how many make everything happen
  const as_event_def *events;
  int n_events;
  double rtol;        ///< of automatic steps; 0: the default
  int max_iterations; ///< of Newton's method; 0: the default
} saved_subject;

/// Problems with samplers and events; the arrays belong to this file.
saved_subject saved_samplers(void); ///< three rates, offsets, results that wait
saved_subject
saved_sampled_pendulum(void);    ///< a constraint, a sampler, an event that changes nothing
saved_subject saved_ball(void);  ///< bounces and comes to rest on a constraint
saved_subject saved_zeno(void);  ///< bounces forever: ends in AS_ERR_ZENO
saved_subject saved_ticks(void); ///< an event that comes again too soon: AS_ERR_ZENO
saved_subject saved_stops(void); ///< a pendulum with events that stop it and turn it around
saved_subject saved_tiny(void);  ///< stops where numbers below the normal ones show
/// A pendulum whose forces cannot be evaluated from some time on: what they return then.
saved_subject saved_wall(int code);

/// Everything that can be seen of an integrator after a call that returned `status`.
typedef struct saved_view {
  unsigned char *data;
  size_t size;
  size_t room;
} saved_view;

void saved_look(saved_view *view, const as_problem *problem, as_integrator *integrator,
                as_status status, as_error *error);
/// Without statistics, whose evaluations might hide something that is missing.
void saved_glance(saved_view *view, const as_problem *problem, const as_integrator *integrator);
/// Adds n numbers.
void saved_note(saved_view *view, const double *x, int n);
bool saved_same(const saved_view *a, const saved_view *b);
void saved_view_free(saved_view *view);

/// Memory, or no test at all.
unsigned char *saved_room(size_t size);
/// A saved state in memory of its own; size receives its length. Aborts if it cannot be saved.
unsigned char *saved_bytes(as_integrator *integrator, size_t *size);
/// Makes the checksum in the head right again.
void saved_seal(unsigned char *data, size_t size);

#endif
