/// The problem: a constrained mechanical system given by C functions.
///
///     M(t,q) v' = f(t,q,v,lambda,psi,x,y)    q in a Lie group (alphastep/space.h), q' = q o v~
///     0 = g(t,q)                             holonomic, multipliers lambda
///     0 = k(t,q,v)                           nonholonomic, multipliers psi
///     x' = phi(t,q,v,v',lambda,psi,x,y)      first-order (controller, actuator) states
///     y  = chi(t,q,v,v',lambda,psi,x,y)      outputs, implicit in y
///
/// Sign: the common, additive case is f = f0(t,q,v,x,y) - B^T lambda - k_v^T psi with B = D_q g.
/// D_q is the derivative along q o exp(eps w): n columns, one per velocity component.
///
/// Fill an as_problem_def from as_default_problem_def(), give the functions you have and create a
/// problem. What is not given by formula is differenced. A problem is const once created and may be
/// shared between threads if its callbacks may.
#ifndef ALPHASTEP_PROBLEM_H
#define ALPHASTEP_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/export.h"
#include "alphastep/matrix.h"
#include "alphastep/space.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a callback is to be evaluated. What a function may not depend on is NULL.
typedef struct as_point {
  double t;             ///< time [s]
  const double *q;      ///< configuration, as_space_nq() numbers
  const double *v;      ///< velocity, n numbers
  const double *vdot;   ///< acceleration v', n numbers
  const double *lambda; ///< multipliers of g
  const double *psi;    ///< multipliers of k
  const double *x;      ///< first-order states
  const double *y;      ///< outputs
  const double *u;      ///< held signals of sampled controllers, constant between samples
} as_point;

/// The state at t, the end of the last step or a time inside it. The arrays belong to the integrator and change with each step.
typedef struct as_state {
  double t;             ///< [s]
  const double *q;      ///< configuration
  const double *v;      ///< velocity; index-3: raw, see as_integrator_velocity()
  const double *vdot;   ///< acceleration at t
  const double *a;      ///< auxiliary acceleration, ~ v'(t + a_offset)
  double a_offset;      ///< [s]; D h for a constant step
  const double *lambda; ///< multipliers of g
  const double *psi;    ///< multipliers of k
  const double *eta;    ///< index-2: auxiliary multipliers of the last step, ~ 0; otherwise NULL
  const double *x;      ///< first-order states
  const double *xdot;   ///< x' at t
  const double *w;      ///< auxiliary rate of x, ~ x'(t + w_offset)
  double w_offset;      ///< [s]
  const double *y;      ///< outputs
  const double *u;      ///< held signals
} as_state;

/// The same for functions that take points.
static inline as_point as_state_point(const as_state *state) {
  as_point at;
  at.t = state->t;
  at.q = state->q;
  at.v = state->v;
  at.vdot = state->vdot;
  at.lambda = state->lambda;
  at.psi = state->psi;
  at.x = state->x;
  at.y = state->y;
  at.u = state->u;
  return at;
}

/// What a callback returns. Any positive number means AS_RETRY, any negative one AS_FATAL.
enum {
  AS_DONE = 0,
  AS_RETRY = 1,  ///< cannot be evaluated here; a smaller step may avoid the point
  AS_FATAL = -1, ///< stop
};

/// The Jacobian blocks: ROW_COLUMN, the derivative of a function by an argument.
typedef enum as_block {
  AS_BLOCK_M,        ///< n x n: M(t,q); filled by the mass callback
  AS_BLOCK_MA_Q,     ///< n x n: D_q (M(t,q) v') at fixed v'; zero if the mass is constant
  AS_BLOCK_F_Q,      ///< n x n: D_q f, with -B^T lambda - k_v^T psi in it also in the additive case
  AS_BLOCK_F_V,      ///< n x n: as above by v
  AS_BLOCK_F_LAMBDA, ///< n x n_lambda: of a general force; an additive one is -B^T by itself
  AS_BLOCK_F_PSI,    ///< n x n_psi: likewise
  AS_BLOCK_F_X,      ///< n x n_x
  AS_BLOCK_F_Y,      ///< n x n_y
  AS_BLOCK_G_Q,      ///< n_lambda x n: B = D_q g
  AS_BLOCK_GDOT_Q,   ///< n_lambda x n: D_q (g_t + B v) at fixed v
  AS_BLOCK_K_Q,      ///< n_psi x n
  AS_BLOCK_K_V,      ///< n_psi x n
  AS_BLOCK_PHI_Q,    ///< n_x x n
  AS_BLOCK_PHI_V,    ///< n_x x n
  AS_BLOCK_PHI_VDOT, ///< n_x x n
  AS_BLOCK_PHI_LAMBDA,
  AS_BLOCK_PHI_PSI,
  AS_BLOCK_PHI_X,
  AS_BLOCK_PHI_Y,
  AS_BLOCK_CHI_Q, ///< n_y x n
  AS_BLOCK_CHI_V,
  AS_BLOCK_CHI_VDOT,
  AS_BLOCK_CHI_LAMBDA,
  AS_BLOCK_CHI_PSI,
  AS_BLOCK_CHI_X,
  AS_BLOCK_CHI_Y,
  AS_BLOCK_COUNT,
} as_block;

/// A set of blocks: bit `1u << block` for each.
typedef unsigned as_block_set;
#define AS_BLOCK_BIT(block) (1u << (unsigned)(block))
/// Asked for together with F_Q, of problems that say joins_inertia: F_Q is to be D_q (f - M(t,q) v').
#define AS_BLOCKS_JOIN_INERTIA (1u << 31)

/// Where a block comes from.
typedef enum as_block_source {
  AS_BLOCK_DIFFERENCED, ///< by central differences of the function, over the pattern
  AS_BLOCK_GIVEN,       ///< by the jacobian callback
  AS_BLOCK_ZERO,        ///< identically zero
} as_block_source;

typedef struct as_block_def {
  as_block_source source;
  as_pattern pattern; ///< empty: dense; copied by create
} as_block_def;

/// Is the constraint force part of what the force callback returns?
typedef enum as_force_kind {
  AS_FORCE_ADDITIVE, ///< the callback returns f0; the library subtracts B^T lambda + k_v^T psi
  AS_FORCE_GENERAL,  ///< the callback returns f(t,q,v,lambda,psi,x,y) itself
} as_force_kind;

/// What a component is, for as_describe_fn.
typedef enum as_quantity {
  AS_QUANTITY_V,      ///< a velocity component, and its equation of motion
  AS_QUANTITY_LAMBDA, ///< a holonomic constraint row, and its multiplier
  AS_QUANTITY_PSI,    ///< a nonholonomic constraint row, and its multiplier
  AS_QUANTITY_X,
  AS_QUANTITY_Y,
  /// Not a component: a number beyond AS_RETRY or AS_FATAL that a callback has returned, for who could not be
  /// evaluated.
  AS_QUANTITY_CODE,
} as_quantity;

/// Writes a vector-valued function's value to `out`, every component.
typedef int as_vector_fn(const as_point *at, double *out, void *user);
/// Adds the entries of M to `m`.
typedef int as_matrix_fn(const as_point *at, as_matrix *m, void *user);
/// Adds the entries of each block in `wanted` to blocks[block].
typedef int as_jacobian_fn(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user);

/// What as_evaluate_fn is to write: as the callbacks of these names do; NULL, or not in the set, is not wanted.
typedef struct as_evaluation {
  double *force;
  double *constraint;
  double *constraint_rate;
  double *nonholonomic;
  double *state_rate;
  double *output;
  as_block_set block_set; ///< blocks whose source is AS_BLOCK_GIVEN; never M
  as_matrix *blocks;      ///< all of them; those wanted are filled with zeros, and are added to
} as_evaluation;
/// Writes all that is wanted at a point. The point has everything; a function uses of it what its own callback is given.
typedef int as_evaluate_fn(const as_point *at, const as_evaluation *out, void *user);
/// Writes what one part of the problem has of that. Parts write to different numbers; each number is made of the same terms in the same order as
/// by as_evaluate_fn. If one of them fails, all is evaluated again without parts.
typedef int as_evaluate_part_fn(const as_point *at, const as_evaluation *out, int part, void *user);

/// Writes a name for a component, e.g. `joint "crank", row 2`, for messages.
typedef void as_describe_fn(as_quantity quantity, int index, char *text, size_t size, void *user);

/// Writes why a callback has returned `code` at a point, in one sentence without its end; nothing if it does not know. With
/// AS_DONE: which part of the problem gave a number that is not finite, as in `the force of spring 3 is nan`.
typedef void as_explain_fn(const as_point *at, int code, char *text, size_t size, void *user);

/// Writes which constraints say the same, in words and without an end of sentence: `count` redundant rows (of g, then of k) at a
/// point, and for each of all rows the number of the group of rows that imply each other, -1: none.
typedef void as_redundancy_fn(const as_point *at, const int *redundant, int count, const int *group,
                              char *text, size_t size, void *user);

/// Whether a step may end where it does: AS_DONE, or AS_RETRY if it is too long, with the row of g that says so
/// (or -1) in *row, or with why in `text`, in words and without an end of sentence. Rows of g, then of k, that are `inactive`
/// do not hold now (as_event.active).
typedef int as_step_fn(const as_point *from, const as_point *to, const bool *inactive, int *row,
                       char *text, size_t size, void *user);

/// A time at which functions of a problem change by themselves, whatever the motion does.
typedef struct as_known_time {
  double before; ///< a step ends here [s]
  double
      after; ///< the same if they only bend; later: they may jump in between, and the next step begins here [s]
  bool
      bends; ///< they do not jump, their slopes may: given steps, unlike automatic ones, need not end there
} as_known_time;

/// Writes the first known time with `after` behind t, for held signals u that stay as they are; infinity in both: there
/// is none.
typedef void as_time_fn(double t, const double *u, as_known_time *out, void *user);

/// A sampled controller: at t = offset + k period, k = 0, 1, ..., reads the state and sets some of the held
/// signals u, which then stay as they are until its next sample.
typedef struct as_sampler_def {
  double period; ///< > 0 [s]
  double offset; ///< time of the first sample [s]
  double delay;  ///< from a sample to when its result takes effect, 0 <= delay < period [s]
  int first;     ///< its signals are u[first] ... u[first + count - 1]
  int count;
  /// Writes the new signals, `count` numbers that hold the old ones on entry. The point is the state just
  /// before the sample, with v', lambda, psi, x, y and all of u; in u are the new signals of samplers that stand before this
  /// one and sample at the same time, unless they have a delay or are hidden.
  as_vector_fn *sample;
  void *user;  ///< passed to it; NULL: that of the problem
  bool hidden; ///< samplers behind it are shown its old signals, too
  bool
      without_reactions; ///< `sample` reads no lambda and psi: those of redundant joints need not be found for it
} as_sampler_def;

/// Writes f - f_before, n numbers: by how much the force at a point differs from that with held signals u_before, all else
/// being the same.
typedef int as_force_change_fn(const as_point *at, const double *u_before, double *change,
                               void *user);

struct as_event_def; // alphastep/event.h

/// The description of a problem. Start from as_default_problem_def(). Copied by create, arrays too.
typedef struct as_problem_def {
  unsigned cookie;            ///< set by as_default_problem_def(): leave it as it is
  const as_space_part *parts; ///< the configuration space, a product of parts
  int n_parts;
  int n_lambda; ///< holonomic constraints
  int n_psi;    ///< nonholonomic constraints
  int n_x;      ///< first-order states
  int n_y;      ///< outputs
  int n_u;      ///< held signals

  bool mass_constant; ///< M depends neither on t nor on q
  /// jacobian and evaluate know AS_BLOCKS_JOIN_INERTIA; the pattern of F_Q has that of MA_Q in it
  bool joins_inertia;
  bool scleronomic; ///< g and k do not depend on t explicitly; saves differences
  bool autonomous;  ///< nothing depends on t explicitly: no input can be passed over by long steps
  as_force_kind force_kind;

  as_matrix_fn *mass;       ///< M(t,q)
  as_vector_fn *force;      ///< f0(t,q,v,x,y) or f(t,q,v,lambda,psi,x,y), see force_kind
  as_vector_fn *constraint; ///< g(t,q)
  /// g_t + B v as a function of (t,q,v); NULL: from B, and g_t by differences
  as_vector_fn *constraint_rate;
  /// d/dt (g_t + B v) at v' = 0, a function of (t,q,v); NULL: differenced
  as_vector_fn *constraint_acceleration;
  as_vector_fn *nonholonomic; ///< k(t,q,v)
  /// d/dt k at v' = 0, a function of (t,q,v); NULL: differenced
  as_vector_fn *nonholonomic_acceleration;
  as_vector_fn *state_rate;       ///< phi
  as_vector_fn *output;           ///< chi
  const as_sampler_def *samplers; ///< n_samplers of them
  int n_samplers;
  /// The force of what reads held signals that samplers set, less what it was before; NULL: from two evaluations of the force
  as_force_change_fn *force_change;
  /// Events of the problem itself, as of modes of what it describes; numbered behind those of an integrator. Copied, names too;
  /// a `user` that is NULL is that of the problem.
  const struct as_event_def *events;
  int n_events;
  as_jacobian_fn *jacobian; ///< the blocks whose source is AS_BLOCK_GIVEN
  /// All of the above but M and the accelerations, at once: where several are wanted at a point, what they share need
  /// be found only once. Asked for nothing that the description does not give by itself, and to be the same in every
  /// bit; where it does not return AS_DONE, or numbers that are not finite, the single callbacks are asked instead.
  /// May be NULL.
  as_evaluate_fn *evaluate;
  /// The same in n_evaluate_parts parts, if several may be evaluated at the same time, by several threads: as_integrator_def.threads. May be NULL.
  as_evaluate_part_fn *evaluate_part;
  int n_evaluate_parts; ///< at most 4096
  /// Looks at t, q and v at the ends of each step before it counts; for constraints that hold in several
  /// places close to each other, as the teeth of gears do: a long step might end in the wrong one. May be NULL.
  as_step_fn *check_step;

  /// Sets held signals at the end of a step, n_u numbers that hold the old ones on entry; for what is to be remembered,
  /// as which turn an angle is in. No function may change by it at this point: nothing is solved anew. Analyses call it
  /// where they have come to. May be NULL.
  as_vector_fn *follow;

  /// Known times: steps end there, and begin anew where functions may jump; given steps only where they may. A short input that
  /// is not known is looked for by automatic steps, see docs/automatic-steps.md. May be NULL.
  as_time_fn *next_time;

  as_block_def block[AS_BLOCK_COUNT]; ///< default: dense and differenced

  /// Which body each of the n velocity components belongs to, numbers from 0 on; NULL: one body per
  /// factor of the space, one per dimension of R^n. Large problems are ordered by bodies and joints.
  const int *body;
  /// Which joint each of the n_lambda rows of g belongs to, numbers from 0 on; NULL: successive rows that
  /// touch the same bodies make a joint.
  const int *joint;
  /// Which reaction each of the n_lambda rows of g belongs to, any numbers: successive rows with the same one make a force and a
  /// torque, which count where reactions are not determined and the smallest are shown; NULL: as `joint`.
  const int *reaction;

  /// Which of the n directions of motion is the first of three of R^n that are a vector in world axes, as the position of a point mass
  /// is; linearizations in axes that turn need to know that. NULL: none.
  const bool *vector;

  /// Typical size of each of the n directions of motion: what counts as small or as the same is measured by it, and difference
  /// increments are; NULL: all 1.
  const double *typical;
  double
      time_scale; ///< a time over which the motion changes, for differences in t [s]; NAN: from v

  as_describe_fn *describe;              ///< may be NULL
  as_explain_fn *explain;                ///< may be NULL
  as_redundancy_fn *describe_redundancy; ///< may be NULL: rows are named
  void *user;                            ///< passed to every callback
} as_problem_def;

typedef struct as_problem as_problem;

AS_API as_problem_def as_default_problem_def(void);

/// Checks the description and makes a problem.
AS_API as_status as_problem_create(const as_problem_def *def, as_problem **out, as_error *error);
AS_API void as_problem_destroy(as_problem *problem);

AS_API const as_space *as_problem_space(const as_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
