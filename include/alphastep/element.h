/// Elements: what acts between the bodies of a model. The interface that our own joints and springs use.
///
/// An element touches up to AS_ELEMENT_BODIES bodies. Whatever space a body lives on, an element sees it
/// the same way and writes the same way, six numbers per body:
///
///     moves     dx: displacement of the centre of mass, world axes     dtheta: rotation, body axes
///     velocity  v = x' in world axes                                   omega in body axes
///     force     in world axes                                          torque about the centre of mass, body axes
///
/// with R -> R exp(dtheta~). The model takes these to the body's own space: on SE(3) translations are
/// seen from the body, a point mass and the ground have no rotation to move.
///
/// Signs: the element's constraint rows g act with f = f0 - g_q^T lambda, its velocity rows k(t, q, v), which
/// need not be the rate of anything, with -k_v^T psi. Rows are written "first less second", so that a multiplier
/// is what the first body does to the second.
///
/// An element may read the model's held signals u: parameters (as_builder_add_parameter()) that events may set.
///
/// An element may have states x, numbers with x' = state_rate(t, q, v, x) that its force depends on: part of the problem's x.
///
/// A force may depend on the multipliers of a joint, `read`: friction does. The problem of a model that has such
/// an element is AS_FORCE_GENERAL.
#ifndef ALPHASTEP_ELEMENT_H
#define ALPHASTEP_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  AS_ELEMENT_BODIES = 9, ///< the most bodies of an element: eight and the ground
  AS_ELEMENT_ROWS = 6,   ///< the most constraint rows of an element, and the most velocity rows
  AS_ELEMENT_COLUMNS = 6 * AS_ELEMENT_BODIES,
  AS_ELEMENT_STATES = 4, ///< the most states of an element
  AS_ELEMENT_WHY = 320,  ///< characters of as_element_input.why
};

/// A body as elements see it. The ground is at the origin, at rest.
typedef struct as_body_motion {
  double x[3];     ///< centre of mass, world [m]
  double R[9];     ///< body to world, by rows
  double v[3];     ///< velocity of the centre of mass, world [m/s]; 0 where only q is known
  double omega[3]; ///< angular velocity, body axes [rad/s]; likewise
} as_body_motion;

/// Where an element is evaluated.
typedef struct as_element_input {
  double t;                                      ///< [s]
  const as_body_motion *body[AS_ELEMENT_BODIES]; ///< n_bodies of them
  const double *lambda;                          ///< multipliers of its rows where f_q is wanted
  const double *psi;                             ///< of its velocity rows, likewise
  const double
      *u; ///< held signals of the model; a parameter stands at the index of its as_parameter_id
  const double *x; ///< states of the model's blocks
  const double *y; ///< outputs of them
  const double *
      read; ///< of g's rows of the joint that it reads, where force, f_q, f_v, f_lambda or power is
  /// NULL, or room for AS_ELEMENT_WHY characters: an element that cannot be evaluated may write why, in one sentence
  /// without its end.
  char *why;
  const double *state; ///< its own states; NULL: it has none, or they are not known
  /// For beams alone: v' and omega' of its bodies, if f_q is to have -D_q (M v') in it; otherwise NULL
  const double *acceleration;
} as_element_input;

/// Where it writes: NULL is not wanted. Everything is zero on entry. Matrices are stored by rows, with
/// 6 n_bodies columns: dx and dtheta (or v and omega) of each body.
typedef struct as_element_output {
  double *force;        ///< 6 n_bodies
  double *f_q;          ///< 6 n_bodies rows: D_q of force, of -g_q^T lambda and of -k_v^T psi
  double *f_v;          ///< 6 n_bodies rows; with -D_v(k_v^T psi) if k is not linear in v
  double *f_lambda;     ///< 6 n_bodies rows, a column for each number of `read`: of force alone
  double *g;            ///< n_rows
  double *g_q;          ///< n_rows rows
  double *rate;         ///< g_t + g_q v
  double *gdot_q;       ///< n_rows rows: D_q of rate at fixed v
  double *acceleration; ///< d/dt rate at v' = 0
  double *k;            ///< n_velocity_rows
  double *k_q;          ///< n_velocity_rows rows: D_q of k at fixed v
  double *k_v;          ///< n_velocity_rows rows
  double *k_rate;       ///< d/dt k at v' = 0
  double *state_rate;   ///< n_states: x' of its own states
  double *state_q;      ///< n_states rows: D_q of that
  double *state_v;      ///< n_states rows: D_v of that
  double *state_x;      ///< n_states rows, a column for each of them: D_x of that
  double *f_x;          ///< 6 n_bodies rows, a column for each of its states: D_x of force
} as_element_output;

/// Energy that flows through an element, all per second [W].
typedef struct as_element_power {
  double dissipated; ///< turned into heat, >= 0 for a damper
  double supplied;   ///< brought in from outside by applied forces
} as_element_power;

/// What an element is: functions, shared by all elements of a kind. Pure: no allocation, no memory.
typedef struct as_element_type {
  const char *kind; ///< for messages: `spring`
  /// Returns AS_DONE, AS_RETRY or AS_FATAL as a problem's callbacks do.
  int (*evaluate)(const as_element_input *in, const as_element_output *out, const void *data);
  double (*potential)(const as_element_input *in, const void *data); ///< [J]; NULL: none
  void (*power)(const as_element_input *in, as_element_power *out,
                const void *data); ///< NULL: none
} as_element_type;

/// Where an element with mass writes; NULL is not wanted, everything is zero on entry. By rows, 6 n_bodies columns.
typedef struct as_element_inertia {
  double *M;    ///< 6 n_bodies rows: its mass matrix, symmetric
  double *Ma_q; ///< 6 n_bodies rows: D_q (M a) at fixed a
} as_element_inertia;

/// The inertia of an element that has mass besides that of its bodies (as_element_def.inertia): its kinetic energy is
/// w^T M(q) w / 2, where w are v and omega of its bodies. `a` are v' in world axes and omega' in body axes, 6 n_bodies
/// numbers; NULL where Ma_q is not wanted. The rest of its equations is part of what `evaluate` writes: the force
/// -(d/dt (M w) - M w' - D_q(kinetic energy)) that is quadratic in velocities, and its weight. M may be indefinite by itself,
/// if the sum over the machine is not. The element may be on bodies on R^3 x SO(3), point masses and the ground. Returns
/// what `evaluate` returns.
typedef int as_element_inertia_fn(const as_element_input *in, const double *a,
                                  const as_element_inertia *out, const void *data);

/// Which entries of an element's matrices can be nonzero: flags by rows; NULL: all of them.
typedef struct as_element_pattern {
  const bool *f_q;
  const bool *f_v;
  const bool *g_q;
  const bool *gdot_q;
  const bool *k_q;
  const bool *k_v;
  const bool *f_lambda;
  const bool *M;
  const bool *Ma_q;
} as_element_pattern;

#ifdef __cplusplus
}
#endif

#endif
