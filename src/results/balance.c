/// The balance of energies of a run, see balance.h.
#include "results/balance.h"

#include <math.h>

#include "core/driver/integrator.h"
#include "elements/vector.h"
#include "model/look.h"

// [EN.1] What round-off may take of the balance of energies, of the largest of them, and of what it takes to turn the machine by a
// radian in the time that has passed: at rest there are no energies, and velocities are what round-off and Newton's method leave.
#define ROUND_OFF 1e-9
// [EN.1] The balance may be off by this share of what has flowed: sums over a motion that is followed are.
#define MOST_OFF 0.1
// [EN.2] It is looked at closely what dampers take in a step if that is more than this share of the largest energy.
#define MUCH_TAKEN 1e-3
// [ST.17] Vibrations that are not followed may have this share of what has flowed: a tenth of velocities.
#define MOST_VIBRATING 0.01
// For so many steps at least, unless it is off by all of it: sums over the first few say little.
#define LEAST_STEPS 10

/// What flows through a machine, whichever way [W].
static double turn_over(const as_power *p) {
  return fabs(p->dissipated) + fabs(p->forces) + fabs(p->motions);
}

asi_flow asi_flow_begin(const as_energy *energy, const as_meter *meter) {
  return (asi_flow){.least = energy->potential,
                    .most = energy->potential,
                    .kinetic = energy->kinetic,
                    .power = meter->power,
                    .start = meter->t,
                    .since = (double)NAN,
                    .t = meter->t};
}

/// [EN.1] all that can have moved: the kinetic energy at the start, the range of the potential one and all work and losses so far
static double add_flow(asi_flow *flow, const as_energy *now, const as_meter *meter, double blow) {
  // The last power of a step that ended with an event is that behind it.
  flow->turned_over +=
      (meter->t - flow->t) / 2.0 * (turn_over(&flow->power) + turn_over(&meter->power));
  flow->turned_over += fabs(blow - flow->blow);
  flow->blow = blow;
  flow->power = meter->power;
  flow->t = meter->t;
  flow->least = fmin(flow->least, now->potential);
  flow->most = fmax(flow->most, now->potential);
  flow->size = fmax(flow->size, fmax(fabs(now->kinetic), fabs(now->potential)) + flow->turned_over);
  return flow->kinetic + flow->most - flow->least + flow->turned_over;
}

/// [EN.2] What dampers have taken in the last step by the mean of its velocities, h P(q_0 o exp(xi/2), mean of v), less what the
/// meter says: one that no step resolves has taken something in between. `room`: nq + n numbers.
static void note_unresolved(asi_flow *flow, const as_integrator *s, const as_model *model,
                            const as_state *state, const as_meter *meter, double *room) {
  const as_problem *p = s->kin.problem;
  const double h = meter->t - flow->t;
  const double taken = h / 2.0 * (flow->power.dissipated + meter->power.dissipated);
  double *const xi = room + p->nq;
  as_state middle = *state;
  as_power power;
  as_error ignored;
  if (!(taken > MUCH_TAKEN * flow->size) || s->stepper.last.jumped || flow->t != s->stepper.last.t0)
    return;
  for (int i = 0; i < p->n; ++i) xi[i] = 0.5 * s->stepper.last.xi[i];
  as_space_move(p->space, s->stepper.last.from.q, xi, room);
  middle.t = s->stepper.last.t0 + h / 2.0;
  middle.q = room;
  middle.v = s->stepper.path.mean[0];
  if (as_model_power(model, &middle, &power, &ignored)) return;
  const double more = h * power.dissipated - taken;
  flow->unresolved[more > 0.0] += more;
}

/// 1/2 I/t^2 with the moment of inertia about the origin [J]
static double slow_turn(const as_model *m, const as_state *state, double t) {
  double inertia = 0.0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *b = &m->body[i];
    as_body_motion at;
    asi_model_motion(m, i, state->q, state->v, &at);
    inertia += b->mass * asi_dot(at.x, at.x);
    if (b->n == 6) inertia += b->J[0] + b->J[4] + b->J[8];
  }
  return inertia / (2.0 * t * t);
}

/// [ST.17] Says once of a start, when some steps have been taken, that much of its energy is in vibrations that steps do not follow.
static void tell_vibration(asi_flow *flow, const as_integrator *s, double all, double noise,
                           bool last) {
  const asi_stepper *stepper = &s->stepper;
  char name[128];
  if (stepper->blow.vibration > flow->vibration) {
    flow->vibration = stepper->blow.vibration;
    flow->shaken = stepper->blow.shaken;
    flow->shaken_at = stepper->last.t0;
  }
  if (!(flow->vibration > 0.0) || isinf(flow->vibration)) return;
  if (!last && flow->t < flow->shaken_at + (LEAST_STEPS - 0.5) * stepper->last.h) return;
  const double energy = flow->vibration;
  flow->vibration = 0.0;
  if (!(energy > MOST_VIBRATING * all + noise)) return;
  flow->vibration = (double)INFINITY;
  asi_component_name(s->kin.problem, AS_QUANTITY_V, flow->shaken, name, sizeof name);
  asi_log(&s->kin, AS_LOG_WARNING,
          "From t = %.6g s on %.3g J of the %.3g J that have flowed through the machine are in "
          "vibrations of stiff springs, mostly of %s, which the steps do not follow: take smaller "
          "ones, or velocities that stretch no springs.",
          flow->shaken_at, energy, all, name);
}

as_status asi_flow_watch(asi_flow *flow, const as_integrator *s, const as_model *model,
                         const as_meter *meter, const as_state *state, double start_energy,
                         bool last, double *room, asi_kept_potential *kept, as_error *error) {
  as_energy now;
  if (flow->told) return AS_OK;
  const as_status status = asi_model_energy_near(model, state, kept, &now, error);
  if (status) return status;
  note_unresolved(flow, s, model, state, meter, room);
  const double all = add_flow(flow, &now, meter, s->stepper.blow.kinetic[1]) + flow->unresolved[0],
               work = meter->forces + meter->motions;
  const double off = now.kinetic + now.potential + meter->dissipated - work - start_energy -
                     s->stepper.blow.kinetic[1];
  // What springs had stored that no step resolves is damped on purpose.
  const double gain = off + flow->unresolved[0], loss = -off - flow->unresolved[1];
  const double most = fmax(gain, loss - s->stepper.blow.stored[1]), t = state->t;
  double noise = ROUND_OFF * flow->size;
  tell_vibration(flow, s, all, noise, last);
  if (!(most <= MOST_OFF * all + noise))
    noise = fmax(noise, ROUND_OFF * slow_turn(model, state, t - flow->start));
  if (most <= MOST_OFF * all + noise) { // not if it is NAN
    flow->since = (double)NAN;
    flow->steps = 0;
    return AS_OK;
  }
  if (isnan(flow->since)) flow->since = t;
  // While little has flowed the balance of a machine that begins to move may be off by much of it.
  ++flow->steps;
  const bool lasts =
      last || (flow->steps >= LEAST_STEPS && t - flow->since >= flow->since - flow->start);
  flow->told = !(most <= all + noise) || lasts;
  if (flow->told)
    asi_log(&s->kin, AS_LOG_WARNING,
            "From t = %.6g s on the balance of energies is off by %.3g J of the %.3g J that have "
            "flowed through the machine: the steps do not follow its motion; take smaller ones.",
            flow->since,
            isnan(off)    ? fabs(off)
            : gain > loss ? gain
                          : -loss,
            all); // NAN's sign depends on the processor
  return AS_OK;
}
