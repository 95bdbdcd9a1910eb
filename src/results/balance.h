/// The balance of energies of a run, and what it is compared with.
#ifndef ALPHASTEP_RESULTS_BALANCE_H
#define ALPHASTEP_RESULTS_BALANCE_H

#include <stdbool.h>

#include "alphastep/integrator.h"
#include "alphastep/quantities.h"
#include "elements/spring.h"

/// What has flowed through a machine since its start.
typedef struct asi_flow {
  double least, most; ///< potential energy [J]
  double kinetic;     ///< at the start [J]
  double size;        ///< the largest energy so far: round-off is relative to it [J]
  double turned_over; ///< the powers of dampers, forces and motions, all positive, over time [J]
  as_power power;     ///< when last looked at [W]
  double t;           ///< when that was [s]
  double start;       ///< [s]
  double since;       ///< the balance is off by a share of all that since then [s]; NAN: it is not
  long steps;         ///< since then
  double blow;        ///< what first steps have begun with, [ST.11] [J]
  double
      vibration; ///< [ST.17] in vibrations, of a start that is to be judged; INFINITY: told of one [J]
  double shaken_at; ///< when that start was [s]
  int shaken;       ///< the component of v that has most of it
  double unresolved
      [2];   ///< [EN.2] dampers may have taken so much less, <= 0, and more than the meter says [J]
  bool told; ///< that it is off
} asi_flow;

/// At the start, where the meter has been read once.
asi_flow asi_flow_begin(const as_energy *energy, const as_meter *meter);
/// After a step, `last` if it is the last one: [EN.1] says once, by the integrator's log, that the balance is off by more than what
/// has flowed, or for long by much of it. `room`: nq + n numbers; `kept`: potentials of asi_model_energy_near().
as_status asi_flow_watch(asi_flow *flow, const as_integrator *s, const as_model *model,
                         const as_meter *meter, const as_state *state, double start_energy,
                         bool last, double *room, asi_kept_potential *kept, as_error *error);

#endif
