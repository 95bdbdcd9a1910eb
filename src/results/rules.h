/// Rules inside: compiled formulas and what to do; and what a run remembers of them.
///
/// A formula's slots are numbers that mean the same for all formulas of a rule: 0 is t, then come the parameters of the
/// model, then the channels that the rule looks at.
#ifndef ALPHASTEP_RESULTS_RULES_H
#define ALPHASTEP_RESULTS_RULES_H

#include <float.h>
#include <math.h>

#include "alphastep/results.h"
#include "base/archive.h"
#include "expression/expression.h"
#include "model/names.h"

// ---- rules ------------------------------------------------------------------------------------------

typedef struct asi_clause {
  const char *text; ///< as it was given; NULL: there is none
  const char *what; ///< which one of its rule, for messages: `when`
  asi_expression *code;
} asi_clause;

typedef struct asi_rule_impulse {
  as_frame_id frame; ///< AS_NO_FRAME: body and point
  as_body_id body;
  double point[3]; ///< from the centre of mass, body axes
  bool follows;
  asi_clause part[6]; ///< force, torque
} asi_rule_impulse;

typedef struct asi_joint_list {
  as_joint_id *joint;
  int n;
} asi_joint_list;

typedef struct asi_rule {
  asi_clause when, only_if;
  double every, offset; ///< every > 0: instead of `when`
  bool timed;           ///< `when` has known times
  int direction, times;
  bool stop;
  const char *message;
  as_parameter_id *parameter; ///< n_set that are set, each to its value; AS_NO_PARAMETER:
  as_signal_id *signal;       ///< a state or sampled signal instead
  asi_clause *value;
  int n_set;
  asi_joint_list release, activate, strike;
  double gap, restitution;
  asi_rule_impulse *impulse;
  int n_impulse;
  const char **channel; ///< names of those that its formulas use, by slot
  int n_channels, room_channels;
} asi_rule;

typedef struct asi_block {
  struct asi_block *next;
} asi_block;

struct as_rules {
  const as_model *model;
  asi_names names;
  asi_rule *rule;
  int n;
  asi_block *block; ///< all memory but that of names and codes
};

/// Hears of the mistakes of all rules: `text` is the formula's as given in the description, NULL if it is not a
/// formula that is wrong.
typedef struct asi_rule_listener {
  void (*tell)(int rule, const char *text, const asi_parse_error *slip, const as_error *error,
               void *user);
  void *user;
} asi_rule_listener;

/// as_rules_create() with further names, constants of a file, and a listener; each may be NULL.
as_status asi_rules_create(const as_model *model, const as_rules_def *def, const asi_scope *more,
                           const asi_rule_listener *listener, as_rules **out, as_error *error);

// ---- what a run remembers (watch.c) -----------------------------------------------------------------

typedef struct asi_watch asi_watch;

/// How one rule stands in a run.
typedef struct asi_rule_state {
  asi_watch *watch;
  int index;
  as_channels *channels; ///< that its formulas use
  double *value;         ///< of these
  double *memory;        ///< what they remember, while they look into a step
  long count;
  double time; ///< of the last one; NAN: none yet
} asi_rule_state;

struct asi_watch {
  const as_rules *rules; ///< n = 0: there are none
  const as_model *model;
  int first_of_blocks, n_of_blocks; ///< events of the integrator that are those of blocks
  asi_rule_state *state;
  as_event_record *list; ///< AS_RUN_EVENTS
  long n_happened;
  as_event_record *pending; ///< of the step that has just been taken, room_pending
  int n_pending, room_pending;
  double *shown;   ///< count and time of each rule when a row is due
  double *scratch; ///< values that parameters are set to
  double acting;   ///< when an action was last asked for [s]
  as_error
      trouble; ///< why a formula or an action could not be carried out; status AS_OK: there is nothing
};

/// rules: NULL if there are none.
as_status asi_watch_create(const as_rules *rules, asi_watch **out, as_error *error);
/// Hears of the events of blocks: those of an integrator from `first` on.
void asi_watch_blocks(asi_watch *watch, const as_model *model, as_integrator *integrator,
                      int first);
/// The name and message of an event by its rule, also of a block.
void asi_watch_name(const asi_watch *watch, as_event_record *event);
void asi_watch_destroy(asi_watch *watch);
/// Fills as many descriptions as there are rules.
void asi_watch_events(asi_watch *watch, as_event_def *out);
/// Lets the formulas' angles follow, at the start and at the end of each step.
as_status asi_watch_follow(asi_watch *watch, const as_state *state, as_error *error);
/// Counts and times as they are at t, in the step that has just been taken.
const double *asi_watch_show(asi_watch *watch, double t);
/// What has happened in the step counts; `happened` (may be NULL) hears of it.
void asi_watch_commit(asi_watch *watch, as_event_record_fn *happened, void *user);
/// A step or a start has failed at error->t: what was to happen there has not. Puts the reason into the error.
void asi_watch_fail(asi_watch *watch, as_status status, as_error *error);

/// Nothing has happened yet.
void asi_watch_forget(asi_watch *watch);
/// What has happened, and what conditions remember.
void asi_watch_serialize(asi_watch *watch, asi_archive *archive);
/// An integrator with the events of `how`, those of the rules (NULL: none) behind them, and those of blocks. *watch is NULL where there are
/// neither rules nor blocks that switch.
as_status asi_watched_integrator(const as_model *model, const as_rules *rules,
                                 const as_integrator_def *how, asi_watch **watch,
                                 as_integrator **out, as_error *error);

/// Whether an event has happened at t. Its time and that of a row differ by rounding errors even where they are meant
/// to be the same.
static inline bool asi_is_reached(double event, double t) {
  return t >= event - 8.0 * DBL_EPSILON * fabs(event);
}

#endif
