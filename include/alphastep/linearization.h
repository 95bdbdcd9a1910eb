/// Linearization: how a problem moves close to a state, x' = A x + B u, and its modes.
///
///     as_linearization *l;
///     as_linearization_def def = as_default_linearization_def();
///     as_linearize(problem, &initial, &def, &l, &error);          // any problem, or as_model_problem(model)
///     for (int j = 0; j < l->n_states; ++j) ... l->a[i + j * l->n_states] ...
///     as_modes *m;
///     as_modes_create(l, &m, &error);                             // eigenvalues, damping, shapes
///
/// The states are increments of chosen components of q (along the group, in the axes of the space), of v, and of x: as many as
/// the constraints leave free, so that A has neither infinite eigenvalues nor ones that belong to the constraints. Constraint
/// forces, redundant rows, nonholonomic rows, states x and outputs y are all in it. Equations: docs/theory.md, [LI.1] on.
#ifndef ALPHASTEP_LINEARIZATION_H
#define ALPHASTEP_LINEARIZATION_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/export.h"
#include "alphastep/integrator.h"
#include "alphastep/problem.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the blocks of a problem ------------------------------------------------------------------------

/// How many numbers of each sort a problem has.
typedef struct as_sizes {
  int q, v, lambda, psi, x, y, u;
} as_sizes;

AS_API as_sizes as_problem_sizes(const as_problem *problem);

/// Evaluates Jacobian blocks at a state, given or by differences: blocks[b] for each b of `wanted` that is not identically zero,
/// over its own pattern; the others have no values. Free them by as_blocks_free().
AS_API as_status as_problem_blocks(const as_problem *problem, const as_state *at,
                                   as_block_set wanted, as_matrix blocks[AS_BLOCK_COUNT],
                                   as_error *error);
AS_API void as_blocks_free(as_matrix blocks[AS_BLOCK_COUNT]);

/// Where the functions of a problem go; NULL: not wanted.
typedef struct as_values {
  double *unbalanced;      ///< n: f - M v', constraint forces included
  double *constraint;      ///< n_lambda: g
  double *constraint_rate; ///< n_lambda: g_t + B v
  double *nonholonomic;    ///< n_psi: k
  double *state_rate;      ///< n_x: phi
  double *output;          ///< n_y: chi
} as_values;

/// Evaluates a problem's functions at a state, as it is.
AS_API as_status as_problem_values(const as_problem *problem, const as_state *at,
                                   const as_values *out, as_error *error);

// ---- linearization ----------------------------------------------------------------------------------

/// The axes that increments of positions and rotations are seen in.
typedef enum as_axes {
  /// World axes where bodies turn and A is constant in these along the motion; else the own axes of the space.
  AS_AXES_AUTOMATIC,
  AS_AXES_OWN, ///< those of the space: rotations in body axes, positions in world axes (SE(3): in body axes)
  /// Those of the world at this moment, which turn with def.turning: a spinning rotor with turning = 0, a steady turn with its
  /// yaw rate, a top with its precession.
  AS_AXES_TURNING,
} as_axes;

/// Something that pushes: a held signal, or what one unit of it adds to the functions of the problem; NULL: nothing.
typedef struct as_linear_input {
  int signal;           ///< number of a held signal u; -1: none
  const double *force;  ///< n: to f
  const double *rate;   ///< n_x: to phi
  const double *output; ///< n_y: to chi
  /// n_lambda: to g, as a prescribed motion does. Then the input is its second derivative, and two states more are what it is and
  /// its rate; g may depend on it by this sum only.
  const double *moves;
} as_linear_input;

/// Start from as_default_linearization_def().
typedef struct as_linearization_def {
  unsigned cookie; ///< set by as_default_linearization_def(): leave it as it is
  as_axes axes;
  double turning[3];             ///< world axes [rad/s]
  const as_linear_input *inputs; ///< n_inputs of them
  int n_inputs;
  int limit; ///< dense matrices are made for up to so many velocity components
} as_linearization_def;

AS_API as_linearization_def as_default_linearization_def(void);

typedef enum as_linear_kind {
  AS_LINEAR_POSITION, ///< increment of q along component `index`
  AS_LINEAR_VELOCITY, ///< of v
  AS_LINEAR_STATE,    ///< of x
  AS_LINEAR_INPUT,    ///< what input `index` moves constraints by
  AS_LINEAR_RATE,     ///< its rate
  // Only in descriptor form:
  AS_LINEAR_LAMBDA, ///< of a multiplier of a holonomic constraint
  AS_LINEAR_PSI,    ///< of a nonholonomic one
  AS_LINEAR_OUTPUT, ///< of y
} as_linear_kind;

/// What a state of the linear system is.
typedef struct as_linear_state {
  as_linear_kind kind;
  int index;
} as_linear_state;

/// The linear system about a state. Read it; matrices are stored by columns.
typedef struct as_linearization {
  const as_problem *problem;
  int n_states;
  int n_inputs;
  const as_linear_state *state; ///< n_states
  const double *a;              ///< n_states x n_states
  const double *b;              ///< n_states x n_inputs
  as_axes axes;                 ///< AS_AXES_OWN or AS_AXES_TURNING
  double turning[3];            ///< of these [rad/s]
  int degrees_of_freedom;       ///< of velocities
  int n_redundant;              ///< constraint rows that others imply
  /// What keeps the state from being an equilibrium or a steady motion: the largest |v'_i| or |x'_i|, where, and how much A
  /// changes along the motion, relative to A, in the time that typical sizes are moved in. Where that is not small, A and its
  /// eigenvalues are those of this moment only.
  double acceleration;
  int accelerated; ///< component of v; n + component of x; -1: nothing accelerates
  double unsteady; ///< 0: nothing moves
  int n_samplers; ///< sampled controllers: their signals stay as they are, so that what they control is seen uncontrolled
  struct asi_linear *inside;
} as_linearization;

/// Linearizes about a state: t, q, v, x and u are taken from `initial` and brought onto the constraints as at a start.
AS_API as_status as_linearize(const as_problem *problem, const as_initial *initial,
                              const as_linearization_def *def, as_linearization **out,
                              as_error *error);
AS_API void as_linearization_destroy(as_linearization *linearization);

/// The state that it is about.
AS_API const as_state *as_linearization_state(const as_linearization *linearization);

/// The state moved by `amount` along one state (or input, numbered behind the states) with all that belongs to it: v', lambda, psi, x'
/// and y. For derivatives of whatever can be read from a state. Belongs to the linearization, until the next call.
AS_API as_status as_linearization_moved(as_linearization *linearization, int column, double amount,
                                        const as_state **out, as_error *error);
/// How much a column may be moved so that nothing moves by more than a thousandth of its typical size.
AS_API double as_linearization_reach(const as_linearization *linearization, int column);

/// Increments of q (n numbers) and v along a vector of states; either may be NULL.
AS_API void as_linearization_expand(const as_linearization *linearization, const double *states,
                                    double *position, double *velocity);

// ---- descriptor form --------------------------------------------------------------------------------

/// The same motion with all components of q and v, multipliers and outputs y as unknowns z: E z' = A z + B u, by columns. At rest that is
/// the usual form, with the mass matrix in E and the constraints' positions (of nonholonomic ones velocities) in rows where E is zero; rows
/// that others imply are left out. In motion, terms for the change of the constraint rows are added [LI.12], so that finite
/// eigenvalues of the pencil are those of the linearization's A, and its states, which are some of the unknowns, move as that says.
typedef struct as_descriptor {
  int n; ///< unknowns
  int n_inputs;
  int n_multipliers;              ///< constraint rows kept, and their multipliers
  const as_linear_state *unknown; ///< n
  const int *place;               ///< which unknown each state of the linearization is
  const double *e;                ///< n x n
  const double *a;                ///< n x n
  const double *b;                ///< n x n_inputs
} as_descriptor;

AS_API as_status as_descriptor_create(as_linearization *linearization, as_descriptor **out,
                                      as_error *error);
AS_API void as_descriptor_destroy(as_descriptor *descriptor);

/// The problem's own name for a component, as in `body "arm", rotation z`.
AS_API void as_problem_describe(const as_problem *problem, as_quantity quantity, int index,
                                char *text, size_t size);

// ---- modes ------------------------------------------------------------------------------------------

typedef struct as_mode {
  double re, im;    ///< eigenvalue [1/s]; im >= 0: a pair counts once
  double frequency; ///< of the oscillation, im / 2 pi [Hz]
  double damping;   ///< ratio, -re / |eigenvalue|; NAN: it is zero
  double time;      ///< in which it grows or decays by e, 1 / |re| [s]; infinite: neither
  bool free;        ///< a motion without stiffness: zero to round-off
  const double
      *shape; ///< n real parts, then n imaginary ones: increments of q; largest 1 in typical sizes
  const double *
      vector; ///< n_states real parts, then as many imaginary ones, to the same scale; NULL: large problems
} as_mode;

/// Modes, the slowest first.
typedef struct as_modes {
  int n;          ///< a pair counts once
  int n_states;   ///< eigenvalues, both of each pair
  int n_unstable; ///< eigenvalues that grow
  int n_free;     ///< eigenvalues that are zero
  const as_mode *mode;
  as_axes axes;      ///< that they are seen in: AS_AXES_OWN or AS_AXES_TURNING
  double turning[3]; ///< of these [rad/s]
  int n_samplers;    ///< sampled controllers, which hold still
  double *store;
} as_modes;

AS_API as_status as_modes_create(const as_linearization *linearization, as_modes **out,
                                 as_error *error);
AS_API void as_modes_destroy(as_modes *modes);

/// The `count` slowest modes of a large problem at rest or in steady motion, without forming A: Arnoldi's method for the inverse of a
/// sparse matrix. Of `def` the axes count; AS_AXES_AUTOMATIC are the world's if something moves. AS_ERR_INCONSISTENT if the state is no
/// equilibrium (with what accelerates), or the motion is not steady in these axes. There may be fewer than `count` (as_modes.n): those that have converged
/// before the first that has not, so that none is passed over.
AS_API as_status as_modes_slowest(const as_problem *problem, const as_initial *initial,
                                  const as_linearization_def *def, int count, as_modes **out,
                                  as_error *error);

#ifdef __cplusplus
}
#endif

#endif
