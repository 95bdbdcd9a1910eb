/// Communication steps: inner steps up to the next communication point, which ends one of them or, without inputs, is looked up inside.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/driver/integrator.h"
#include "fmu/runtime/instance.h"

// Communication points closer to each other than this share of a step are the same: importers add up steps.
#define SAME_POINT 1e-6

static void happened(const as_event_record *event, void *user) {
  asi_exported *f = user;
  f->event = true;
  asi_exported_tell(f, ASI_EXPORTED_LOG_EVENT, "Event \"%s\" at t = %.9g s%s%s", event->name,
                    event->t, event->message ? ": " : ".", event->message ? event->message : "");
}

static as_status check_step(const asi_exported *f, double t, double h, as_error *error) {
  if (!(h > 0.0 && isfinite(h) && t + h > t))
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, "communicationStepSize",
                    "A communication step of %g s from t = %g s is none.", h, t);
  if (!(fabs(t - f->t) <= SAME_POINT * h))
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, "currentCommunicationPoint",
                    "The step is to begin at t = %.17g s, but the FMU is at %.17g s: to go back, "
                    "restore a state.",
                    t, f->t);
  if (f->stopped)
    return asi_fail(error, AS_STOPPED, f->t, NULL,
                    "An event has ended the simulation at t = %.9g s.", f->t);
  const long most = f->machine->simulation.max_steps;
  if (most > 0 && f->steps >= most)
    return asi_fail(error, AS_ERR_TOLERANCE, f->t, "max_steps",
                    "%ld steps were taken up to t = %.9g s, as many as `max_steps` of the model "
                    "allows.",
                    f->steps, f->t);
  return AS_OK;
}

/// One inner step towards `until`.
static as_status step_once(asi_exported *f, double until, as_error *error) {
  as_integrator *s = f->integrator;
  f->event = false;
  f->stale = true;
  as_status status = as_integrator_step_towards(s, until, error);
  if (as_status_is_failure(status)) {
    if (f->watch) {
      asi_watch_fail(f->watch, status, error);
      asi_watch_commit(f->watch, happened, f);
    }
    f->t = as_integrator_state(s)->t;
    return status;
  }
  const as_state *state = as_integrator_state(s);
  const bool whole = state->t >= s->stepper.t;
  f->t = state->t;
  if (whole) ++f->steps;
  as_error own;
  as_status followed = AS_OK;
  if (whole && f->channels) followed = as_channels_follow(f->channels, state, &own);
  if (whole && f->watch && followed == AS_OK) followed = asi_watch_follow(f->watch, state, &own);
  if (f->watch) asi_watch_commit(f->watch, happened, f);
  f->stopped = status == AS_STOPPED;
  if (followed == AS_OK) return status;
  if (error) *error = own;
  return followed;
}

as_status asi_exported_step(asi_exported *f, double t, double h, bool at_events,
                            asi_exported_inner_fn *inner, void *user, asi_exported_step_end *end,
                            as_error *error) {
  double until = t + h;
  *end = (asi_exported_step_end){.t = f->t, .stopped = f->stopped};
  as_status status = check_step(f, t, h, error);
  if (status == AS_OK) {
    asi_exported_settle(f);
    status = asi_exported_apply(f, error);
  }
  const long most = f->machine->simulation.max_steps;
  while (status == AS_OK && f->t < until && !(end->event && at_events)) {
    status = step_once(f, until, error);
    end->event = end->event || f->event;
    if (status || !(f->t < until) || (end->event && at_events)) break;
    double early = until;
    if (inner && inner(f->t, &early, user)) {
      end->early = true;
      until = early > f->t ? fmin(until, early) : f->t;
    }
    if (most > 0 && f->steps >= most && f->t < until)
      status = asi_fail(error, AS_ERR_TOLERANCE, f->t, "max_steps",
                        "%ld steps were taken up to t = %.9g s, as many as `max_steps` of the "
                        "model allows.",
                        f->steps, f->t);
  }
  end->t = f->t;
  end->stopped = f->stopped;
  return status;
}
