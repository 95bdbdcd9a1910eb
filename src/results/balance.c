/// The balance of energies of a run, see balance.h.
#include "results/balance.h"

#include <math.h>

#include "core/integrator.h"

// [EN.1] What round-off may take of the balance of energies, of the largest of them.
#define ROUND_OFF 1e-9

/// What flows through a machine, whichever way [W].
static double turn_over(const as_power *p) {
  return fabs(p->dissipated) + fabs(p->forces) + fabs(p->motions);
}

asi_flow asi_flow_begin(const as_energy *energy, const as_meter *meter) {
  return (asi_flow){.least = energy->potential,
                    .most = energy->potential,
                    .kinetic = energy->kinetic,
                    .power = meter->power,
                    .t = meter->t};
}

/// [EN.1] A balance that is off by more than all that can have moved: the kinetic energy at the start, the range of the potential
/// one and all work and losses so far. Says so once.
as_status asi_flow_watch(asi_flow *flow, const as_integrator *s, const as_model *model,
                         const as_meter *meter, const as_state *state, double start_energy,
                         as_error *error) {
  as_energy now;
  if (flow->told) return AS_OK;
  const as_status status = as_model_energy(model, state, &now, error);
  if (status) return status;
  // The last power of a step that ended with an event is that behind it.
  flow->turned_over +=
      (meter->t - flow->t) / 2.0 * (turn_over(&flow->power) + turn_over(&meter->power));
  flow->power = meter->power;
  flow->t = meter->t;
  flow->least = fmin(flow->least, now.potential);
  flow->most = fmax(flow->most, now.potential);
  flow->size = fmax(flow->size, fmax(fabs(now.kinetic), fabs(now.potential)) + flow->turned_over);
  const double work = meter->forces + meter->motions;
  const double off = now.kinetic + now.potential + meter->dissipated - work - start_energy;
  const double most = flow->kinetic + flow->most - flow->least + flow->turned_over;
  if (fabs(off) <= most + ROUND_OFF * flow->size) return AS_OK; // not if it is NAN
  flow->told = true;
  asi_log(s, AS_LOG_WARNING,
          "From t = %.6g s on the balance of energies is off by %.3g J, more than the %.3g J that "
          "have flowed through the machine: the steps do not follow its motion; take smaller "
          "ones.",
          state->t, isnan(off) ? fabs(off) : off, most); // NAN's sign depends on the processor
  return AS_OK;
}
