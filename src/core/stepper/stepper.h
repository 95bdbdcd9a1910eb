/// A method and one step with it, on top of kinematics: no sizes of steps, no events, no output.
///
/// stepper.c     its memory and coefficients;  constants.c  the table of limits, safety factors and guesses
/// step.c        a step is solved, checked, accepted
/// collocated.c  the index-3 and stabilized index-2 methods: the equations of one step; collocated.h lists their other files
/// soi2.c        the SOI2 method
/// newton.c      solves one step's equations;  damping.c  where full steps diverge;  predictor.c  a first guess of them
/// first_step.c  what first and changed steps begin with
/// jump.c        held signals that change;  coupled_jump.c  where there are states, outputs, forces by multipliers
/// stiff.c       stiff directions: what a step does not resolve
/// rows.c        redundant rows along a run;  parasite.c  modes of index-3 that alternate
#ifndef ALPHASTEP_CORE_STEPPER_STEPPER_H
#define ALPHASTEP_CORE_STEPPER_STEPPER_H

#include "core/kinematics/kinematics.h"
#include "core/stepper/constants.h"
#include "core/stepper/predictor.h"

typedef struct asi_stepper asi_stepper;

/// A method: residual and iteration matrix of one step, nothing else.
typedef struct asi_method {
  const char *name;
  int position_stage;   ///< the stage whose v' meets the position constraints; -1: eta does
  bool shared_is_exact; ///< a step solved with `shared` converges as with `step`
  bool
      residuals_tell; ///< [NW.10] positions meet their constraints to round-off where all else is solved
  /// Makes stepper->step and what else the method needs; called once, by create.
  as_status (*create)(asi_stepper *s, as_error *error);
  /// Sets up a step of size h from the current state.
  as_status (*begin)(asi_stepper *s, double h);
  /// Predicts its unknowns, stepper->z.
  void (*predict)(asi_stepper *s);
  /// Evaluates the step's equations at z into stepper->residual; `tangents`: linearize comes next, and what it
  /// needs may be evaluated with them.
  as_status (*evaluate)(asi_stepper *s, bool tangents);
  /// Assembles and factorizes the iteration matrix at the z that was evaluated last; `again`: not for the
  /// first time in this step.
  as_status (*linearize)(asi_stepper *s, bool again);
  /// Solves with the iteration matrix, in place.
  as_status (*solve)(asi_stepper *s, double *b);
  /// Fills the trial, stepper->next, from z.
  void (*update)(asi_stepper *s);
  /// Makes the trial the new state.
  void (*accept)(asi_stepper *s);
  /// Operations of a factorization and of a solution with the matrix in use.
  void (*solver_info)(const asi_stepper *s, asi_solver_info *out);
  /// Notes the last increment of unknowns besides v', lambda, psi, x' and y, and returns its size in tolerances; NULL: none.
  double (*other_norm)(asi_stepper *s);
  /// Looks at a solution; NULL: there is nothing to look at.
  as_status (*check)(const asi_stepper *s);
} asi_method;

enum { ASI_PATH = 3 }; ///< steps that a path is followed over

/// What was seen of Newton's method in the steps so far: decides on factors and on iterations.
typedef struct asi_newton_history {
  double contraction;         ///< last observed with the factors at hand, when they were
  long contraction_age;       ///< this old; 0: not observed since the step they were made in
  double contraction_per_age; ///< contraction over age, as observed last, for
  double factor_age_norm;     ///< an increment of this size
  int factor_ages_left;       ///< how many more factors are expected to age like that; 0: not known
  double fresh_contraction;   ///< observed with new factors, or
  bool fresh_seen;            ///< if not, assumed
  double fresh_norm;          ///< of the increment that it was observed for
  double first_norm;          ///< of the first increment of the last step
  double refining;            ///< contraction of [ST.6]'s refinements when it was seen last,
  long refining_age;          ///< with factors this old; 0: not yet
} asi_newton_history;

/// What a trial leaves of the equations, in typical sizes: of motion, of positions, of velocities.
typedef struct asi_left {
  double dynamics, position, velocity;
} asi_left;

enum { ASI_PARASITE_STEPS = 6 }; ///< that a parasitic mode is watched for

/// [GA.18] What is known of parasitic modes of index-3.
typedef struct asi_parasite {
  double *past[3]; ///< n_lambda: lambda after the last steps, the latest first
  double *swing;   ///< n_lambda: what alternates in it
  int known;       ///< steps of one size that these come from; no more than 4
  int count;       ///< of them in a row, lambda has alternated; no more than ASI_PARASITE_STEPS
  double least;    ///< the smallest share of lambda that did, meanwhile
} asi_parasite;

enum { ASI_ROWS = 3 }; ///< of the tableau of a step of order 6: see driver/extrapolation.c

enum { ASI_RESPONSES = 4 };

/// Numbers for each unit of force at the last samples where they were solved for, the latest first.
typedef struct asi_track {
  int size;                     ///< how many numbers
  double *value[ASI_RESPONSES]; ///< at
  double t[ASI_RESPONSES];      ///< these times [s]
  int count;                    ///< of them
  double until;                 ///< they serve up to here [s]; -infinity: not at all
  double off[2]; ///< what the extrapolations before missed, over their share; NAN: not known
} asi_track;

/// [SA.6] What a change of force of one direction brings about.
typedef struct asi_response {
  double *direction; ///< n: the last change of force, over its size
  double t, h;       ///< the last sample, and the step before it [s]; NAN: there was none
  double most;       ///< what J may be off by, over J
  asi_track change;  ///< n + n_lambda + n_psi: J; n: the force
  asi_track slope;   ///< W; n: what v jumps by; n_lambda: what eta/h does
} asi_response;

/// Where held signals change: [SA.3] to [SA.6].
typedef struct asi_jump_memory {
  double *kept[2]; ///< B and k_v as the last steps have evaluated them, the latest first
  double t[2];     ///< when these ended [s]
  int count;       ///< of them
  bool stiff; ///< refining does not contract, or has not where something was stiff: [SA.7] serves
  bool calm;  ///< the next step begins with calm_vdot, [SA.9]
  double *shown;  ///< [SA.9] n + n_lambda + n_psi + n_x + n_y: what the state jumps by
  double *change; ///< n + n_lambda + n_psi: what v', lambda and psi jump by; n: what the force does
  double *slope;  ///< likewise, what their rates do, and behind it
  double *velocity;   ///< n: index-3: what v jumps by
  double *eta;        ///< n_lambda: index-2: what eta/h does
  double contraction; ///< of refinements, as observed last
  long factor_age;   ///< with factors this old; 0: not yet. [SA.7]: how many jumps they have served
  long seen_age;     ///< [SA.7]: how many they had when the contraction was observed; 0: not yet
  bool factored;     ///< [SA.7]: there are factors from a jump before
  asi_system system; ///< [SA.7]: of these, and of nothing else
  asi_response response;
  double *force, *turned, *row, *solution, *guess; ///< scratch
} asi_jump_memory;

struct asi_stepper {
  asi_kinematics *kin;
  const as_integrator_def *def;
  as_expert expert; ///< numerical constants
  as_coefficients c;
  double D; ///< alpha_m - alpha_f
  as_state_coefficients cx;
  double Dx; ///< delta_m - delta_f
  const asi_method *method;
  bool first;   ///< no step taken since start
  bool forward; ///< a restart: do not look back
  /// Energies [J] of vibrations in the states that first steps begin from, of the step that is tried and of all taken since the start.
  struct {
    double kinetic[2]; ///< [ST.11] what they begin with beyond what the state has
    double stored[2];  ///< [ST.10] in springs, and not resolved
    double vibration;  ///< [ST.17] of the last step's alone: that its size does not follow
    int shaken;        ///< the component of v that has most of it
  } blow;
  as_block_set at_trial;  ///< those of the blocks that belong to the residual's z
  as_matrix b_n;          ///< index-2: B at the start of the step; its values are in the arena
  double *b_trial;        ///< and those that the step being solved leaves for the next one
  bool b_lost;            ///< rows have changed since: B has to be evaluated again
  asi_system step;        ///< the method's iteration matrix
  asi_system shared;      ///< SOI2: a smaller one that serves both stages; index-2: one without eta
  asi_system eta;         ///< index-2: that of eta alone
  int coupled_steps;      ///< index-2: successive steps that took `step` although there is `shared`
  double *eta_part;       ///< its right side, and another one of `shared`
  double *eta_path;       ///< index-2: B_n^T eta/h of z; NULL: there is none
  double *eta_change;     ///< and of the last increment,
  double *metric;         ///< over the pattern of B: W of its columns [GA.19]
  double position_norm;   ///< [NW.9] its size
  asi_system *active;     ///< the one that is in use
  double base_compliance; ///< e of [RE.3] that a step begins with

  double t;        ///< end of the last step [s]
  double a_offset; ///< now.a ~ v'(t + a_offset) [s]
  double w_offset; ///< now.w ~ x'(t + w_offset) [s]
  asi_values now;  ///< at t
  asi_values next; ///< a trial for the end of the next step; scratch otherwise
  struct {
    bool known;         ///< there is one
    double t0, h;       ///< from t0 to t0 + h [s]
    double a_offset[2]; ///< at its ends
    double w_offset[2];
    asi_values from; ///< the values at t0
    asi_values to;   ///< those at its end, if now has jumped since
    bool jumped;
    double *xi;      ///< q_1 = q_0 o exp(xi)
    double *rate[2]; ///< n: rates of q at its ends
    bool has_middle; ///< it is of order 6, and its middle is known:
    double *
        middle; ///< 2 (2 n + n_x): how far xi, v and x are off the cubics through its ends there, and their rates, [EX.3]
    double *u;  ///< held signals during the step, if they have changed since
    bool *inactive;      ///< n_lambda + n_psi: constraints during the step likewise,
    int n_inactive;      ///< how many of them did not hold,
    bool *implied;       ///< which were left out,
    int n_implied;       ///< how many,
    double *norm_weight; ///< rows: how multipliers of least norm were measured,
    double compliance;   ///< and what it was
    double factor_h;     ///< of the matrix that it was solved with; NAN: there is none
  } last;                ///< the last step
  /// Time derivatives of v', lambda, psi, x' and y at the start, by differences.
  struct {
    double *vdot, *lambda, *psi, *xdot, *y;
  } rate;
  double *calm_vdot; ///< n: v'_0 of a first step without what it does not resolve, [ST.10]
  double *calm_lambda, *calm_psi; ///< those of a first step, behind a blow, [ST.11]
  const double *vdot0;            ///< v'_0 that [GA.2] takes: this one, or that of the state
  double *a_rate;                 ///< of v', seen through a over the last step
  asi_parasite parasite;
  struct {
    double *mean[ASI_PATH]; ///< n: of v over the last steps, by q; the latest first
    double h[ASI_PATH];     ///< their sizes [s]
    int count;              ///< how many there are
    double lag;             ///< what the last one's v_0 lags behind, over v'' [s^2]
    bool stiff;             ///< there may have been something stiff in it, where steps have changed
    bool is_stiff;          ///< the same with this one
    bool excited;           ///< since the start a change of the step would have excited something
    bool excites;           ///< the same with this one
    double *extra;          ///< n: how constraints have moved q in it beyond v and a, over h
    double *change;         ///< n: scratch
    double *extrapolated;   ///< n: xi of this step as extrapolated, [NW.15]
    bool leads;             ///< the path predicts steps better than that
  } path;                   ///< where stiff directions come from, [GA.15]
  asi_predictor predictor;
  asi_method keeping; ///< where there are samplers: the method, which keeps B as well
  asi_jump_memory jump;

  // One step.
  double t1;        ///< end of the step [s]
  double h;         ///< its size [s]
  double gamma;     ///< gamma_n
  double d0;        ///< a_n ~ v'(t_n + d0) [s]
  double d1;        ///< a_{n+1} ~ v'(t_{n+1} + d1) [s]
  double theta;     ///< theta_n
  double dx0;       ///< w_n ~ x'(t_n + dx0) [s]
  double dx1;       ///< w_{n+1} ~ x'(t_{n+1} + dx1) [s]
  double last_h;    ///< of the last accepted step [s]
  bool varying;     ///< index-3, index-2: steps have differed since the start
  bool varies;      ///< the same with this step
  int unknowns;     ///< how many a step has
  int stages;       ///< sets of v', lambda and psi among them
  double *v0;       ///< v_n with its start or step-change correction
  double *w0;       ///< w_n likewise
  double *a0;       ///< a_n likewise
  double *p;        ///< SOI2: M_1 a of the last step
  double *p0;       ///< SOI2: p_n with its step-change correction
  double *a_before; ///< SOI2: a0 and p0 of the last step
  double *p_before;
  double *f0;        ///< SOI2: the force at the start of the step
  double *v_tilde;   ///< SOI2: the velocity of the tilde stage
  double *xi;        ///< q_{n+1} = q_n o exp(xi)
  double *z;         ///< unknowns
  double *residual;  ///< of the step's equations
  double *increment; ///< of z
  struct {
    bool used;        ///< in this step
    bool insists;     ///< although it has constraints, which may be singular
    bool holds;       ///< steps begin from the end of the last one
    double *z;        ///< an iterate,
    double *ordinary; ///< Newton's correction there,
    double *scale; ///< one over what corrections of it are measured by; 0 for what does not count
  } damping;       ///< [NW.17]
  double *is_rotation; ///< n: 1 for rotations of bodies, 0 for all else
  double *weight;      ///< n: the tolerance of each component of v'
  double *work_n;      ///< n
  double *kkt_rhs; ///< n + n_lambda + n_psi + n_x + n_y: right sides of the systems of kinematics

  // Newton.
  double *atol;       ///< n
  double *given_atol; ///< n: NAN where it is not given
  double *allowed;    ///< n + n: automatic steps: what q and v of a step may be off by
  double state_rtol;  ///< likewise, of x, relative to it
  double newton_rtol;
  asi_left left;      ///< as evaluated last
  bool controlled;    ///< the step's error is
  double floor_share; ///< of the bound of round-off: to what automatic steps iterate
  double factor_h;    ///< h, gamma and compliance of the last factorization; NAN: none
  double factor_gamma;
  double factor_compliance;
  long factor_age;        ///< steps since the factors at hand were made; 0: made in this one
  long factor_iterations; ///< iterations with them
  asi_newton_history history;
  double noise;        ///< what round-off may leave of an increment, in tolerances
  double round_off[2]; ///< in v' of a step, by stage, in typical sizes
  double q_size;       ///< of q where the step begins, in typical sizes
};

extern const asi_method asi_method_index3;
extern const asi_method asi_method_index2;
extern const asi_method asi_method_soi2;

// stepper.c ---------------------------------------------------------------------------------------

/// Chooses method and coefficients by def; kin, def and problem are set.
as_status asi_stepper_choose(asi_stepper *s, as_error *error);
/// How many unknowns a step has at the most.
size_t asi_stepper_unknowns(const asi_stepper *s);
/// Lays out the arrays above; a first pass counts.
void asi_stepper_lay_out(asi_stepper *s, asi_layout *layout);
/// Makes what is not in the arena: motion of kinematics, systems, prediction.
as_status asi_stepper_create(asi_stepper *s, as_error *error);
void asi_stepper_free(asi_stepper *s);

// step.c ------------------------------------------------------------------------------------------

/// Solves the equations of a step of size h that ends at t1 (t + h to round-off), with compliance e. Nothing
/// is accepted.
as_status asi_solve_step(asi_stepper *s, double h, double t1, double e);
/// Makes the step that was solved last the current state; the values at its start are those of s->last.
void asi_stepper_accept(asi_stepper *s);
/// The same with a step of order 6 from s->t to s->t1, whose end is the trial, and xi its motion: the next one is a first one.
void asi_stepper_accept_end(asi_stepper *s);
/// Asks the problem whether the step may end at the trial.
as_status asi_check_end(const asi_stepper *s);

// first_step.c ------------------------------------------------------------------------------------

/// The state a step begins from, or the same with another v.
as_point asi_point_at_start(const asi_stepper *s, const double *v);
/// The rates of v', lambda and psi at the current state for a step of size h, by differences over +-reach.
as_status asi_start_rates(asi_stepper *s, double h, double reach);
/// The same where other velocities and what follows from them are in place of the current ones.
as_status asi_start_rates_from(asi_stepper *s, const asi_values *now, double h, double reach);
/// What B dv and k_v dv are to be in that correction, n_lambda + n_psi numbers behind the first n of s->kkt_rhs.
as_status asi_index3_rows(asi_stepper *s, const double *vddot, const double *v);
/// The blocks of that correction.
as_status asi_index3_blocks(asi_stepper *s, const double *v);
/// Corrects v so that the first or a changed index-3 step does not excite oscillations of lambda. With
/// vddot NULL it is only projected.
as_status asi_index3_velocity(asi_stepper *s, const double *vddot, double *v);

// jump.c ------------------------------------------------------------------------------------------

/// Whether there are samplers, and the method is a collocated one.
bool asi_jump_applies(const asi_stepper *s);
/// Whether what jumps is that of [SA.7]: there are x and y, forces that depend on multipliers, or stiff springs.
bool asi_jump_is_coupled(const asi_stepper *s);
/// How many numbers jump: v', lambda, psi, x' and y.
int asi_jump_size(const as_problem *p);
/// Lays out its memory, if so.
void asi_jump_lay_out(asi_stepper *s, asi_layout *layout);
/// How many numbers are kept of a step.
size_t asi_jump_kept(const as_problem *p);
/// Forgets all that is kept: a start, or velocities and constraints that change.
void asi_jump_forget(asi_stepper *s);
/// Keeps B and k_v of the step that was solved last.
void asi_jump_keep(asi_stepper *s);
/// Whether [SA.3] may be solved at the end of the last step, and there are factors for it.
bool asi_jump_is_possible(const asi_stepper *s);
/// Held signals have changed the force by `force`: moves v', a, multipliers and what is remembered of them. *done: that has served;
/// otherwise nothing has changed. `evaluates`: B may have been evaluated elsewhere since the step was solved.
as_status asi_jump(asi_stepper *s, const double *force, double rtol, bool evaluates, bool *done);

/// The same by [SA.7], whatever depends on held signals.
as_status asi_jump_all(asi_stepper *s, double rtol, bool evaluates, bool *done);

// coupled_jump.c ----------------------------------------------------------------------------------

/// [SA.7] Solves for s->jump.change with held signals as they are now, to `tolerance`. *filtered: something is too stiff for it to be
/// what it will be; then this is s->jump.shown, and s->jump.change that of [SA.9]. *done: it has been found.
as_status asi_coupled_change(asi_stepper *s, double tolerance, bool *filtered, bool *done);
/// Its factors are those of another machine, or do not serve.
void asi_coupled_forget(asi_stepper *s);

// response.c --------------------------------------------------------------------------------------

void asi_response_lay_out(asi_stepper *s, asi_layout *layout);
void asi_response_forget(asi_response *r);
/// The size of a change of force, with a sign: what is known serves where the direction is that of the last one or its
/// opposite, and is forgotten otherwise.
double asi_response_size(asi_stepper *s, const double *force);
/// Whether the last step was of the same size as that before the sample before.
bool asi_response_is_of_step(const asi_stepper *s);
/// Whether the change of force is the one that what is known makes of it.
bool asi_response_is_expected(const asi_stepper *s, const double *force, double size);
/// What is known makes s->jump.change, slope, velocity and eta.
void asi_response_guess(asi_stepper *s, double size);
/// s->jump.change was solved for, of which `share` is left.
void asi_response_learn_change(asi_stepper *s, const double *force, double size, double share,
                               double tolerance);
/// The others were.
void asi_response_learn_slope(asi_stepper *s, double size);
/// The sample is over: the next one is compared with its force.
void asi_response_follow(asi_stepper *s, const double *force, double size);

// stiff.c -----------------------------------------------------------------------------------------

/// Forgets the path: a start, or a jump.
void asi_path_forget(asi_stepper *s);
/// Notes the step that has just been solved, before it is accepted.
void asi_path_note(asi_stepper *s);
/// [NW.15] How far behind the means over the last two steps the middle of this one lies, in their distances; and the mean of
/// component i of v over this step that they predict.
double asi_path_reach(const asi_stepper *s);
double asi_path_mean(const asi_stepper *s, double far, int i);
/// [NW.15] Keeps xi of a prediction with a_1 (SOI2: a~) = by_z z + by_vdot v'_0 + by_a a_0.
void asi_path_extrapolate(asi_stepper *s, const double *z, double by_z, double by_vdot,
                          double by_a);
/// [NW.15] a_1 (SOI2: a~) with which a step goes on as the path did.
void asi_path_predict(const asi_stepper *s, double *a);
/// Changes v0 of a step whose size has changed, now or earlier, by what its size adds to velocities where something is stiff, and
/// sets v0 and a0 to what the path says where positions are held, [GA.15].
as_status asi_correct_stiff_modes(asi_stepper *s, bool changed);
/// What springs and dampers have in a change w of v' over a step beside what inertia has, by the matrix of steps and M as it was
/// evaluated last. Spoils s->z.
double asi_stiff_share(asi_stepper *s, const double *w);
/// omega^2 of a change w of v by springs and dampers, by the matrix of steps and M as it was evaluated last; NAN: it knows of none.
double asi_spring_rate(asi_stepper *s, const double *w);
/// Makes the matrix of a step in s->active, perhaps without dampers.
typedef as_status asi_assemble_start(asi_stepper *s, bool dampers);
/// Takes out of v0, of a0, which is v' at a start, and of the rates there what a step of size h does not resolve. The factors of
/// s->active are those of the start afterwards.
as_status asi_calm_start(asi_stepper *s, asi_assemble_start *assemble);

// parasite.c --------------------------------------------------------------------------------------

/// Begins to look for parasitic modes anew, [GA.18].
void asi_parasite_forget(asi_stepper *s);
/// [GA.18] Whether a parasitic mode of index-3 grows, as multipliers show it after each step.
bool asi_parasite_grows(asi_stepper *s);

// rows.c ------------------------------------------------------------------------------------------

/// Unknowns of a step without those that rows that are left out have (on average, where some rows have two): a machine with redundant
/// joints goes like one without.
int asi_unknowns_that_count(const asi_stepper *s);
/// Whether the rows that are left out hold at the end of the step that was solved last.
as_status asi_rows_check(asi_stepper *s, bool *hold);
/// Says that they do not.
as_status asi_rows_fail(asi_stepper *s);
/// Searches again at a point, and leaves other rows out if they are as many, or `fewer` may be.
as_status asi_rows_choose(asi_stepper *s, double t, const double *q, const double *v, bool fewer,
                          bool *changed);
/// Looks after a step whether others should be left out.
void asi_rows_watch(asi_stepper *s);
/// If so, looks closer before the next step, and chooses others.
as_status asi_rows_doubt(asi_stepper *s);
/// If so, replaces those of a trial for the end of a step by these.
as_status asi_see_least_norm(asi_stepper *s, double *lambda, double *psi);

// collocated_matrix.c, collocated_eta.c -----------------------------------------------------------

enum {
  ASI_ALWAYS_COUPLED = 5
}; ///< so many steps in a row with index-2's full matrix, and all others follow

/// Whether a step leaves B for the next one: its equations evaluate it.
bool asi_index2_keeps_b(const asi_stepper *s);
/// Keeps B as it was last evaluated in a step, for the next one.
void asi_index2_keep_b(asi_stepper *s);
/// Finds B_n^T eta/h of z.
void asi_index2_path(asi_stepper *s);
/// [GA.19] what eta moves, at a start.
void asi_index2_metric(asi_stepper *s);
/// Makes index-2's matrix of all unknowns, if there is only that without eta so far.
as_status asi_index2_couple(asi_stepper *s, as_error *error);

// newton.c ----------------------------------------------------------------------------------------

enum { ASI_FACTOR_AGES_BELIEVED = 10 }; ///< of so many factors in a row, [NW.12]

/// Round-off in v' of a step of size h; `stage` counts those of SOI2, otherwise 0.
double asi_round_off(const asi_stepper *s, int stage, double h);
/// [SC.13] Round-off in v' as constraints amplify it, with the matrix of the step, of which there is a
/// factorization; in `of_states`, if it is not NULL, what x' has of it. `w` is scratch for all unknowns. Returns by how much they do; 0:
/// that is not known.
double asi_amplify_round_off(asi_stepper *s, int stage, double *noise, double *of_states,
                             double *w);
/// Where the matrix in use has the equations of motion, and v', once more: those of a second stage. Otherwise its size.
int asi_second_stage(const asi_stepper *s);
/// Whether i belongs to the n equations of motion, or to v', of a stage; the second one begins at `again`.
bool asi_is_motion(int i, int n, int again);
/// The root of the mean square of x over its tolerances, which are factor * weight, not below a floor in typical sizes.
double asi_weighted_norm(const asi_stepper *s, const double *x, double factor, double floor);
/// Predicts z and solves the step's equations.
as_status asi_newton(asi_stepper *s);
/// Factorizes anew at the z that was evaluated last; `again`: not for the first time in this step.
as_status asi_newton_factorize(asi_stepper *s, bool again);
/// Solves for s->increment with the residual at hand, which it takes the place of: that of the increment before is s->residual then.
as_status asi_newton_solve(asi_stepper *s);
/// Takes s->increment off z; its size in tolerances.
double asi_newton_apply(asi_stepper *s);

// damping.c ---------------------------------------------------------------------------------------

/// [NW.17] Damped corrections from z on, until full ones contract: *before and *norm are the last two, in tolerances. *left: iterations
/// that it may take.
as_status asi_damp(asi_stepper *s, int *left, double *before, double *norm);
/// Predicts z: 0: extrapolated, 1: as at the end of the last step, or between these.
void asi_predict(asi_stepper *s, double held);
/// Learns from a step that has just been solved which prediction serves the next one, where damping was needed.
void asi_damping_note(asi_stepper *s);

#endif
