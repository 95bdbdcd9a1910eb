/// What the files of a linearization share.
///
/// linearization.c   the linear system about a state: starts, axes, how steady it is
/// linear_axes.c     axes that increments are seen in
/// linear_rows.c     constraint rows, tangent spaces, singular positions
/// linear_inputs.c   what inputs add to the functions of the problem
/// linear_sharing.c  forces that depend on multipliers of redundant rows
/// linear_columns.c  A and B, column by column
/// linear_nearby.c   states close by, for outputs
/// descriptor.c      E, A and B with all components and multipliers
/// tangent.c         which components are free, and how the others follow from them
/// modes.c           eigenvalues of the dense matrix A
/// slowest.c         eigenvalues of large problems
/// steady_map.c      what steady motion adds to these
#ifndef ALPHASTEP_ANALYSIS_LINEARIZATION_H
#define ALPHASTEP_ANALYSIS_LINEARIZATION_H

#include "alphastep/linearization.h"
#include "core/driver/integrator.h"

// tangent.c -------------------------------------------------------------------------------------------

/// Rows C z = r, of which some imply the others; the components of z are dependent ones, which follow, and free ones.
typedef struct asi_tangent {
  int n, rank;
  int *order; ///< n components: `rank` dependent ones, then the free ones, each in increasing order
  int *row;   ///< rank rows that imply the others
  double *factor; ///< rank x rank: LU of these rows in the dependent components
  int *pivot;     ///< rank
  double *rest;   ///< rank x (n - rank): these rows in the free components
} asi_tangent;

/// Chooses rows and components of the rows x n matrix c (by columns). Components of large weight are rather dependent; rows whose
/// singular value is below `limit` of the largest are implied by others. rank >= 0: it is known.
as_status asi_tangent_init(asi_tangent *t, const double *c, int rows, int n, const double *weight,
                           double limit, int rank, as_error *error);
/// The same rows and components with other numbers. AS_ERR_SINGULAR: they do not serve here.
as_status asi_tangent_update(asi_tangent *t, const double *c, int rows);
as_status asi_tangent_copy(asi_tangent *t, const asi_tangent *from);
void asi_tangent_free(asi_tangent *t);
/// Completes z, whose free components are given, so that C z = r in the rows kept; r may be NULL: zero. `work`: rank numbers.
void asi_tangent_complete(const asi_tangent *t, const double *r, double *z, double *work);

// linearization.c -------------------------------------------------------------------------------------

// How far the motion goes on to see whether A changes: this many times asi_time_increment().
#define ASI_ONWARD 0.1
// Beyond this relative change A counts as one of a moment.
#define ASI_UNSTEADY 1e-4

/// Three components that turn with the axes: seen = r x, and seen' has w x seen in it.
typedef struct asi_linear_triple {
  int at;
  double r[9];
  double w[3];
} asi_linear_triple;

/// Axes that increments are seen in [LI.6].
typedef struct asi_axes {
  asi_linear_triple *turned; ///< room for n of them; none: own axes
  int n_turned;
} asi_axes;

/// Dense matrices of all constraint rows, by columns.
typedef struct asi_linear_rows {
  double *c;       ///< rows x n: [B; k_v]
  double *c_q;     ///< rows x n
  double *c_dot;   ///< its derivatives along the motion
  double *c_q_dot; ///< likewise
} asi_linear_rows;

typedef struct asi_linear asi_linear;
struct asi_linear {
  as_linearization out; ///< first
  as_integrator *s;
  int n, rows, nx, ny, height, columns;
  as_linear_state *state;
  double *a, *b;
  double
      *full; ///< height x columns: xi, dv, dv', dlambda, dpsi, dx, dx', dy of each state and input
  double *input; ///< (n + nx + ny) x n_inputs: what they add to f, phi and chi
  int *signal;   ///< n_inputs: held signal, or -1
  double *moves; ///< n_lambda x n_inputs: what they add to g
  bool *driving; ///< n_inputs: whether they do
  int n_driving;
  asi_axes axes;
  asi_tangent position, velocity;
  bool sees; ///< forces depend on multipliers that rows alone do not determine [LI.11]
  const double *lambda, *psi; ///< of the state: of least norm if so
  int *
      multiplier; ///< n_multipliers rows whose multipliers are unknowns: those kept, then the others of [LI.11]
  int n_multipliers;
  double *null;     ///< (n_multipliers - rank) x rows, row by row: N^T w of [LI.11]
  double *null_q;   ///< as many x n, row by row: N^T D_q (C z)
  asi_values moved; ///< of as_linearization_moved()
  double *moved_u;
  as_state moved_state;
  double *arena;
};

/// The state.
as_point asi_linear_point(const asi_linear *l);

as_status asi_linear_check_turning(const as_linearization_def *def, as_error *error);

/// Names the component that accelerates most, from values that were started: its size in *most. -1: none.
int asi_most_accelerated(const as_problem *p, const double *vdot, const double *xdot, double *most);

// linear_axes.c ---------------------------------------------------------------------------------------

/// The axes at q and v; `later`: how long they have turned since they were the world's (AS_AXES_TURNING) [s].
void asi_axes_find(asi_axes *a, const as_problem *p, as_axes axes, const double *turning,
                   double later, const double *q, const double *v);
/// The angular velocity of axes in which all velocities would stand still. False: there is none but zero.
bool asi_axes_guess(const as_problem *p, const double *q, const double *v, const double *vdot,
                    double turning[3]);
void asi_axes_to(const asi_axes *a, double *x);
void asi_axes_from(const asi_axes *a, double *x);
/// rate += w x seen
void asi_axes_add_turning(const asi_axes *a, const double *seen, double *rate);

// steady_map.c ----------------------------------------------------------------------------------------

/// What an eigenvalue s makes of xi along a steady motion [LI.9]: dv = s T xi, and dv' = s U dv.
typedef struct asi_steady_map {
  const as_problem *problem;
  const double *v;
  asi_axes axes;
  double s;
  asi_tangent_map chain; ///< T, and U T
  double *work;          ///< 6 n
} asi_steady_map;

as_status asi_steady_map_init(asi_steady_map *m, const as_problem *p, as_error *error);
/// v must stay where it is.
void asi_steady_map_update(asi_steady_map *m, double s, const double *v);
/// out = s T x, or s U x.
void asi_steady_map_position(const asi_steady_map *m, const double *x, double *out);
void asi_steady_map_velocity(const asi_steady_map *m, const double *x, double *out);
void asi_steady_map_free(asi_steady_map *m);

// linear_rows.c ---------------------------------------------------------------------------------------

bool asi_linear_is_zero(const double *x, int n);
/// Adds a block to a dense matrix with so many rows, from row `first` on.
void asi_linear_add_dense(const as_matrix *m, double factor, double *out, int rows, int first);
double asi_linear_entry(const double *c, int rows, int row, int component);
/// The constraint rows at the state and their derivatives along the motion. r has room.
as_status asi_linear_fill_rows(asi_linear *l, asi_linear_rows *r);
/// The tangent spaces of positions and velocities, chosen anew or as `like` has chosen.
as_status asi_linear_find_tangents(asi_linear *l, const double *c, const asi_linear *like);
/// The shares of the rows kept in a row that they imply.
void asi_linear_share(const asi_linear *l, const double *c, int row, double *share);
/// bend += D_q (C w), rows x n by columns.
as_status asi_linear_bend(asi_linear *l, const double *w, double *bend);
/// Looks at rows that are implied: D_q (C w) for one tangent w.
as_status asi_linear_check_singular(asi_linear *l, const double *c);

// linear_inputs.c -------------------------------------------------------------------------------------

as_status asi_linear_find_inputs(asi_linear *l, const as_linearization_def *def);

// linear_sharing.c ------------------------------------------------------------------------------------

/// Which multipliers are unknowns, and what determines those that rows do not.
as_status asi_linear_find_sharing(asi_linear *l, const double *c);

// linear_columns.c ------------------------------------------------------------------------------------

/// Where the parts of a column begin.
typedef struct asi_linear_column {
  double *xi, *dv, *dvdot, *multiplier, *dx, *dxdot, *dy;
} asi_linear_column;

asi_linear_column asi_linear_column_at(const asi_linear *l, int j);
/// All blocks at the state, the constraint rows dense, then the columns.
as_status asi_linear_find_columns(asi_linear *l, const as_linearization_def *def,
                                  const asi_linear *like);

// LAPACK
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *ipiv, double *b, const int *ldb, int *info, size_t trans_length);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t jobvl_length, size_t jobvr_length);

#endif
