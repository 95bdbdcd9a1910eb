/// Rules: events of a machine by formulas. When a formula crosses zero, something is done.
///
///     const as_joint_id hook = as_model_find_joint(model, "hook");
///     as_rule_def drop = as_default_rule_def();
///     drop.name = "drop";
///     drop.when = "joints.boom.angle - pi/3";
///     drop.direction = +1;
///     drop.release = &hook;
///     drop.n_release = 1;
///     as_rules_create(model, &(as_rules_def){.rule = &drop, .n = 1}, &rules, &error);
///     run_def.rules = rules; // of an as_run_def, see alphastep/results.h
///
/// Formulas are those of docs/expressions.md. They may use `t`, the constants given, the model's parameters, which
/// rules may set, and channels that are functions of the complete state: coordinates, rates, positions, velocities,
/// accelerations, reactions, forces, energies of now, momentum. They may not use what is summed up along a run
/// (energy.dissipated, energy.work, energy.balance), solver, drift, and other events.
///
/// What crossings are noticed, and what happens to velocities at an event, is said in alphastep/event.h.
#ifndef ALPHASTEP_RULE_H
#define ALPHASTEP_RULE_H

#include <stdbool.h>

#include "alphastep/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// parameter := value, or a block's state or sampled signal. All values of a rule are found before any is set.
typedef struct as_rule_setting {
  as_parameter_id parameter; ///< AS_NO_PARAMETER: a signal
  const char *value;         ///< a formula
  as_signal_id signal;       ///< where there is no parameter
} as_rule_setting;

/// An impulse on a body: its velocity jumps, and the joints that hold pass on their share. From
/// as_default_rule_impulse().
typedef struct as_rule_impulse {
  unsigned cookie;   ///< set by as_default_rule_impulse(): leave it as it is
  as_frame_id frame; ///< acts at its origin; AS_NO_FRAME: from what follows
  as_body_id body;
  double point[3];       ///< in the world at the starting pose [m]; NAN: the centre of mass
  bool follows;          ///< components are in the frame's (or the body's) axes, not the world's
  const char *force[3];  ///< formulas [N s]; NULL: 0
  const char *torque[3]; ///< formulas [N m s]; NULL: 0
} as_rule_impulse;

AS_API as_rule_impulse as_default_rule_impulse(void);

/// A rule. Start from as_default_rule_def(). Everything is copied. Where it has only joints to release or to activate
/// which are so already, nothing happens.
typedef struct as_rule_def {
  unsigned cookie;  ///< set by as_default_rule_def(): leave it as it is
  const char *name; ///< unique, printable, without . and /; required
  const char *when; ///< a formula: the event is where it crosses zero; or it is NULL, and
  double
      every; ///< the event is at t = offset + k every, k = 0, 1, ..., behind the start [s]; 0: see `when`
  double offset;       ///< [s]
  int direction;       ///< of `when`: +1: rising only, -1: falling only, 0: both
  const char *only_if; ///< a formula: where it is zero nothing happens; NULL: always
  int times;           ///< how often at most; 0: no limit

  bool stop;           ///< the run ends here, with AS_STOPPED
  const char *message; ///< told when it happens; NULL: nothing

  const as_rule_setting *set; ///< n_set of them
  int n_set;
  const as_joint_id *release; ///< joints (motions, gears too) that hold no more from here on
  int n_release;
  /// Joints that hold from here on: velocities jump by their impulses, as when something locks.
  const as_joint_id *activate;
  int n_activate;
  /// The largest gap of a joint that may be activated [m, or sine of an angle]: the bodies are moved to close it. A
  /// larger one ends the run with a sentence.
  double gap;
  /// Joints that are struck: the rate of each of their rows is then -restitution times what it was. It makes them neither
  /// active nor inactive.
  const as_joint_id *strike;
  int n_strike;
  double restitution; ///< 0 to 1 [-]
  const as_rule_impulse *impulse;
  int n_impulse;
} as_rule_def;

AS_API as_rule_def as_default_rule_def(void);

/// A number that formulas may use by its name.
typedef struct as_rule_constant {
  const char *name;
  double value;
} as_rule_constant;

typedef struct as_rules_def {
  const as_rule_def *rule;
  int n;
  const as_rule_constant *constant;
  int n_constants;
} as_rules_def;

/// Compiled and checked; const: may be shared between runs and threads.
typedef struct as_rules as_rules;

/// AS_ERR_ARGUMENT, with a sentence that names the rule: a formula that is none, a joint that is not there, ...
/// The model has to outlive the rules.
AS_API as_status as_rules_create(const as_model *model, const as_rules_def *def, as_rules **out,
                                 as_error *error);
AS_API void as_rules_destroy(as_rules *rules);
AS_API int as_rules_count(const as_rules *rules);
/// "" if there is no such rule.
AS_API const char *as_rules_name(const as_rules *rules, int rule);
AS_API const char *as_rules_message(const as_rules *rules, int rule); ///< NULL: none

#ifdef __cplusplus
}
#endif

#endif
