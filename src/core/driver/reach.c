/// [RE.12] The end of a machine's reach: the time from which on no position satisfies constraints that depend on time.
///
/// Steps of a given size stumble over it. Automatic ones become shorter and shorter before it: positions go like the root of the
/// time that is left, and each step takes the same share of that. So where steps have become short it is looked for ahead.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/driver/integrator.h"

/// Puts positions at t1 into s->next.q. AS_ERR_INCONSISTENT: there are none.
static as_status project(as_integrator *s, double t1) {
  as_start_report report;
  const unsigned char *const keep = s->kin.given.keep;
  s->kin.given.keep = NULL;
  const as_status status =
      asi_project_position(&s->kin, t1, s->stepper.now.q, s->stepper.next.q, true, &report);
  s->kin.given.keep = keep;
  return status;
}

bool asi_is_out_of_reach(as_integrator *s, double t1) {
  return s->kin.problem->def.n_lambda > 0 && project(s, t1) == AS_ERR_INCONSISTENT;
}

enum { PARTS = 32 };

/// Follows positions from *t0 to *t1 in parts; false: all of them were reached. True: *t0 and *t1 are the part that was not, and s->now.q is the
/// position at its start.
static bool follow(as_integrator *s, double *t0, double *t1) {
  const double begin = *t0, part = (*t1 - begin) / PARTS;
  for (int i = 1; i <= PARTS; ++i) {
    const double t = i < PARTS ? begin + i * part : *t1;
    const as_status status = project(s, t);
    if (status == AS_ERR_INCONSISTENT) {
      *t1 = t;
      return true;
    }
    if (status) return false;
    memcpy(s->stepper.now.q, s->stepper.next.q, (size_t)s->kin.problem->nq * sizeof(double));
    *t0 = t;
  }
  return false;
}

/// Whether positions cannot be followed up to *t1; then *t1 is where they cannot any more, to a millionth of the way. A projection that
/// comes to nothing only because it is a long one is so found out; one close to the end, where rows are all but dependent, may come to nothing a
/// little before it: so the last part says nothing. Moves s->now.q.
static bool find_end(as_integrator *s, double *t1) {
  const double until = *t1;
  double t0 = s->stepper.t;
  if (!(asi_is_out_of_reach(s, *t1) && follow(s, &t0, t1) && *t1 < until && follow(s, &t0, t1)))
    return false;
  for (int i = 0; i < 2 && follow(s, &t0, t1);) ++i;
  return true;
}

// Steps are short below this share of the longest so far: few machines that go on come there, none by more than a projection or two. What is
// looked at is as far ahead as that; with events, which may change the machine before, this share of it.
#define SHORT (1.0 / 16.0)
#define BEFORE_EVENTS 1e-3

as_status asi_reach_look(as_integrator *s, double until) {
  const as_problem *p = s->kin.problem;
  const double longest = s->control.longest, h = s->control.h;
  if (p->def.scleronomic || p->def.n_lambda == 0 || s->stepper.first || !(h < SHORT * longest) ||
      ilogb(h / longest) >=
          ilogb(s->stepper.last_h / longest)) // each time that steps are half as long
    return AS_OK;
  const double ahead = s->def.n_events > 0 ? BEFORE_EVENTS * longest : longest;
  double t1 = fmin(s->stepper.t + ahead, until);
  if (!(t1 > s->stepper.t + h)) return AS_OK;
  as_error *const error = s->kin.eval.error, ignored;
  s->kin.eval.error = &ignored;
  asi_snapshot_take(s);
  const bool ends = find_end(s, &t1);
  const as_statistics statistics = s->kin.statistics; // work was done
  asi_snapshot_restore(s);
  s->kin.statistics = statistics;
  s->kin.eval.error = error;
  if (!ends) return AS_OK;
  s->stepper.t1 = t1;
  return asi_fail(error, AS_ERR_SINGULAR, s->stepper.t, NULL,
                  "No position satisfies all constraints at t = %.9g s.", t1);
}
