/// A problem at a point, without an integrator: functions and blocks, systems for accelerations and projections, rank of the
/// constraints. Starts, steps, analyses and output are made of it.
///
/// problem.c       callbacks, patterns, colourings (const);  detect.c, check.c, probe_points.c  patterns and Jacobians by differences
/// evaluate.c      calls callbacks, checks, differences
/// system.c        matrix = sum of (block, factor, place, T);  products.c, ordering.c  how it is put together and eliminated
/// kinematics.c    its memory; evaluates, factorizes, solves
/// projection.c    positions and velocities onto the constraints
/// acceleration.c  v', lambda, psi, x' and y where t, q, v and x are given
/// redundancy.c    rank;  independent.c  rows that are left out, multipliers of least norm
#ifndef ALPHASTEP_CORE_KINEMATICS_KINEMATICS_H
#define ALPHASTEP_CORE_KINEMATICS_KINEMATICS_H

#include "alphastep/integrator.h"
#include "base/export.h"
#include "core/kinematics/evaluate.h"
#include "core/kinematics/redundancy.h"
#include "core/kinematics/system.h"

/// The variables of a state, or of a trial for the next one.
typedef struct asi_values {
  double *q;
  double *v;
  double *vdot;
  double *a;
  double *lambda;
  double *psi;
  double *eta;
  double *x;
  double *xdot;
  double *w;
  double *y;
} asi_values;

struct asi_kinematics {
  const as_problem *problem;
  asi_pool *pool; ///< its owner's threads; NULL: there is one
  void (*log)(as_log_level level, const char *message, void *user); ///< NULL: nobody listens
  void *log_user;
  as_statistics statistics;
  asi_evaluator eval;
  as_matrix block[AS_BLOCK_COUNT]; ///< at the point that was evaluated last
  bool mass_known;                 ///< a constant mass matrix has been evaluated
  double mass_size;                ///< of M where it was evaluated last, in typical sizes
  asi_tangent_map tangent;
  asi_system kkt;        ///< [M -f_lambda -f_psi; B 0 0; k_v 0 0]
  asi_system consistent; ///< kkt with x' and y, if there are any
  asi_system projection; ///< [M B^T k_v^T; B 0 0; k_v 0 0], if it differs from kkt
  asi_redundancy redundancy;
  double compliance; ///< e of [RE.3] in use; 0: none
  struct {
    const unsigned char *keep; ///< as_initial.keep, while a start projects; NULL: nothing is held
    bool positions;            ///< positions are being projected
    bool keeps_given;          ///< velocities that are given are held, too
    bool weighs;               ///< velocities that are not given weigh little
    double *rows;  ///< 2 n_lambda + n_psi: as_start_report.position_rows, then velocity_rows
    bool noted;    ///< rows are known already
  } given;         ///< what a start does with what it was given [ST.9]
  double *target;  ///< n_lambda + n_psi: what g_t + B v and k are projected to; zero but in impacts
  double *q_given; ///< nq: what start was given, quaternions normalized

  // Scratch of projections and of the search for accelerations.
  double *q_best;     ///< nq: the best position of a projection so far
  double *move;       ///< n: what a projection has changed so far
  double *work;       ///< n
  double *multiplier; ///< n_lambda + n_psi: of the last projection
  double *
      change; ///< n + n_lambda + n_psi + n_x + n_y: of the last iteration; residuals in units of their rows
  double *rhs;   ///< likewise
  double *noted; ///< n_u: held signals that follow
};

// kinematics.c -------------------------------------------------------------------------------------

/// Memory that is handed out in pieces: on a first pass, with no memory yet, pieces are only counted.
typedef struct asi_layout {
  double *memory; ///< NULL: only count
  size_t used;    ///< doubles
} asi_layout;

/// Hands out `count` doubles. There is room for one more where `count` is odd: loops may take two at a time.
double *asi_layout_take(asi_layout *layout, size_t count);
/// Lays out one set of values.
void asi_values_lay_out(asi_values *x, const as_problem *p, asi_layout *layout);
/// Lays out the arrays above; a first pass counts.
void asi_kinematics_lay_out(asi_kinematics *s, asi_layout *layout);
/// Makes what is not in the arena, which has been laid out; `with_bt`: T B_n^T is needed, too.
as_status asi_kinematics_create(asi_kinematics *s, bool with_bt, as_error *error);
/// The systems for accelerations and projections, or another set of them.
as_status asi_kinematics_make_systems(const asi_kinematics *s, asi_system *kkt,
                                      asi_system *projection, asi_system *consistent,
                                      as_error *error);
/// Another one for accelerations and multipliers, with x' and y where there are any.
as_status asi_kinematics_make_start_system(const asi_kinematics *s, asi_system *out,
                                           as_error *error);
void asi_kinematics_free(asi_kinematics *s);
/// Lets the problem note in its held signals where it is. What it cannot tell stays as it was.
void asi_follow(asi_kinematics *s, double t, const asi_values *at);
void asi_copy_values(const as_problem *p, const asi_values *from, const asi_values *to);
/// Tells the log callback, if there is one.
ASI_IO void asi_log(const asi_kinematics *s, as_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// Evaluates blocks into s->block, a constant mass matrix only once.
as_status asi_blocks(asi_kinematics *s, const as_point *at, as_block_set wanted);
/// Evaluates functions at a point, out[function] where it is not NULL, with the blocks that they need and those wanted.
as_status asi_functions(asi_kinematics *s, const as_point *at, double *const out[ASI_FUNCTIONS],
                        as_block_set wanted);
/// Notes the largest of some constraint residuals, from row `first` on, and in typical sizes, and multiplies them.
void asi_finish_rows(const asi_kinematics *s, double *r, int first, int count, double factor,
                     double *largest, double *left);
/// Factorizes an assembled system; `what` says in a message what could not be determined.
as_status asi_factor(asi_kinematics *s, asi_system *system, double t, const char *what);
/// The same of a matrix that knows no units.
as_status asi_factor_as_is(asi_kinematics *s, asi_system *system, double t, const char *what);
as_status asi_solve(asi_kinematics *s, asi_system *system, double t, double *b);
/// The largest |x_i|; NaN if there is one among them.
double asi_max_abs(const double *x, int n);
/// The largest component of a motion, of a configuration, of a force and of a mass matrix, in typical sizes [SZ.1].
double asi_max_motion(const as_problem *p, const double *x);
double asi_max_position(const as_problem *p, const double *q);
double asi_max_force(const as_problem *p, const double *f);
double asi_max_mass(const as_problem *p, const as_matrix *m);
/// The larger of two numbers; NaN if one is.
double asi_max_nan(double a, double b);
/// Refuses a start with numbers that are missing or not finite.
as_status asi_check_initial(const as_problem *p, const as_initial *initial, as_error *error);
/// Says which constraints hold, n_lambda + n_psi flags; NULL: all.
void asi_set_active(asi_kinematics *s, const bool *active);
/// Lists names of constraint rows, up to eight of them.
void asi_name_rows(const as_problem *p, const int *rows, int count, char *text, size_t size);

// projection.c -------------------------------------------------------------------------------------

/// M, B and k_v.
extern const as_block_set asi_projection_blocks;
/// [RE.3] Subtracts e / d^2 from the diagonal of the rows of an assembled matrix with unknowns v',
/// lambda, psi.
void asi_add_compliance(const asi_kinematics *s, asi_system *system, double e);
/// [ST.8] Lists the terms of the system for v', lambda, psi, x' and y; returns how many.
int asi_consistent_terms(const as_problem *p, asi_term *term);
/// The system that projects: kkt, if that is symmetric.
asi_system *asi_projection_system(asi_kinematics *s);
/// Brings q onto g = 0; q0 is where it comes from. Unless it may be moved, only checks it.
as_status asi_project_position(asi_kinematics *s, double t, const double *q0, double *q,
                               bool may_move, as_start_report *report);
/// Brings v onto the constraints at a start, by s->given; `from` is room for n numbers.
as_status asi_project_start_velocity(asi_kinematics *s, double t, const double *q, double *v,
                                     bool may_move, double *from, as_start_report *report);
/// Brings g_t + B v and k to s->target; unless v may be moved, only checks it. At a start the rows are
/// measured anew. Leaves the multipliers of the change in s->residual.
as_status asi_project_velocity(asi_kinematics *s, double t, const double *q, double *v,
                               bool may_move, bool measure, as_start_report *report);
/// The largest |g|, and the largest |g_t + B v| and |k|.
as_status asi_drift(asi_kinematics *s, double t, const double *q, const double *v, double *position,
                    double *velocity);

// acceleration.c -----------------------------------------------------------------------------------

/// How accelerations are found: a set of bits.
enum {
  ASI_TIME_STANDS = 1, ///< the constraints are at rest: their rows say B v' = 0, k_v v' = 0
  ASI_EXACT_ROWS = 2,  ///< [RE.4] compliance acts on the change of lambda and psi only, and fades
};
/// Solves for v', lambda, psi, x' and y where t, q, v and x are as given; takes them as a first guess.
as_status asi_solve_acceleration(asi_kinematics *s, double t, const asi_values *at, unsigned how);
/// out = B^T lambda + k_v^T psi, or minus its counterpart f_lambda lambda + f_psi psi if f is general.
void asi_constraint_force(const asi_kinematics *s, const double *lambda, const double *psi,
                          double *out);

#endif
