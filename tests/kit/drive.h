/// Runs a machine and measures what the tests of forces look at: orders, energy balances.
#ifndef TESTS_DRIVE_H
#define TESTS_DRIVE_H

#include "alphastep/alphastep.h"

/// Each fails the test if the library does.

as_integrator *drive_start(const as_model *m, as_method method, double step);
/// One machine run from its start to t; the state is that of `out`, which is to be destroyed.
const as_state *drive_to(const as_model *m, as_method method, double step, double t,
                         as_integrator **out);

/// The largest change of kinetic + potential + dissipated - forces - motions on the way to `duration`.
double drive_imbalance(const as_model *m, as_method method, double step, double duration,
                       as_meter *meter);
/// The same with `step` and half of it must fall by the second order, from `limit` at most [J].
void drive_balance(const as_model *m, as_method method, double step, double duration, double limit,
                   as_meter *meter);

/// Observed orders at t of q, v, v' and lambda, from runs with step, step/2 and step/4: each must lie in 1.8 ... 2.3,
/// or the differences must be round-off.
void drive_orders(const char *what, const as_model *m, as_method method, double step, double t);

/// Force number `force` on its second body.
as_wrench drive_force(const as_model *m, const as_state *s, as_force_id force);

/// The call must have been refused with a sentence that has `part` in it.
void expect_refused(as_status status, const as_error *error, const char *part);

#endif
