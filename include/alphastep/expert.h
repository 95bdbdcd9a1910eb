/// Numbers of the numerics that are not part of a method: limits, safety factors, guesses. Each has a reason; docs/constants.md is the table.
/// The defaults serve; who changes one should know why.
#ifndef ALPHASTEP_EXPERT_H
#define ALPHASTEP_EXPERT_H

#include "alphastep/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from as_default_expert().
typedef struct as_expert {
  unsigned cookie; ///< set by as_default_expert(): leave it as it is
  double
      newton_accuracy; ///< [NW.4] an estimated error below this share of the tolerance ends the iteration: it is added up over steps
  double newton_slowest; ///< [NW.4] a contraction worse than this is no convergence
  double
      newton_guess; ///< [NW.4] no better contraction of old factors is believed before it is seen
  double newton_fresh_guess; ///< [NW.4] the same of new factors
  double newton_plan;        ///< [NW.5] the same where it is decided whether new factors pay
  double
      reuse_ratio; ///< [NW.4] factors of steps larger or smaller by more than this are not tried: to leading order no block depends on h
  double reuse_gamma;   ///< [NW.4] nor those of a stiff system if gamma_n differs by more than this
  double newton_unseen; ///< [NW.12] contraction over age of factors of which nothing was seen yet
  double
      newton_sudden; ///< [NW.12] a first increment of more tolerances: the motion has changed suddenly, and factors with it
  double
      damping_iterations; ///< [NW.17] a step whose full corrections diverge gets so many damped ones from each start
  double damping_least; ///< [NW.17] smaller shares of a correction lead nowhere
  double damping_jump;  ///< [NW.17] then corrections are taken by this share, whatever is behind
  double damping_over;  ///< [NW.17] full corrections that contract by this are damped no more
  double
      round_off_margin; ///< [SC.13] what constraints make of round-off may be so many times what is solved for
  double
      round_off_amplified; ///< [SC.13] constraints that amplify round-off more than this are looked at more closely
  double
      moving_share; ///< [NW.1] components of v below this share of the largest do not move: they have no round-off
  double
      newton_least_size; ///< [NW.1] a component of v' below this share of its like need not be relatively as exact
  double
      newton_share; ///< [SC.8] what Newton's method may leave of what q, v and x of an automatic step may be off by
  double
      most_give; ///< [RE.5] constraints may give way by this while compliance carries a step over a singular position, in typical sizes
  double
      most_turn; ///< [NW.16] a step may turn a body by so much otherwise than its start and its path say [rad]
  double
      rows_hold; ///< [RE.6] rows that are left out may be off by this share of the machine's lengths or speeds
  double rows_hold_like; ///< [RE.6] or by so many times what the others are off by
  double
      rows_implied; ///< [RE.10] sigma/sigma_1 of implied rows in a choice that may leave out fewer, 1e-4 of the lengths later or more
  double rows_implied_along; ///< [RE.10] the same in other choices
  double
      rows_response; ///< [RE.6] the response of the rows that are kept has grown by this: others may be better
  double
      parasite_opposite; ///< [GA.18] cosine between successive third differences of lambda that alternate
  double parasite_least; ///< [GA.18] least share of lambda that alternates
  double parasite_grown; ///< [GA.18] growth over six steps by which a parasitic mode is told
  double parasite_most;  ///< [GA.18] or its share of lambda
  double
      parasite_rho; ///< [GA.18] with a larger rho_inf parasitic modes grow by themselves, like n^2, and are not looked for
  double
      decoupled_contraction; ///< [GA.14] a matrix without eta that contracts worse than this is given up for the full one
  double
      eta_unseen; ///< [GA.14] an increment of eta/h that moves q by less, in tolerances, is not seen by the other equations
  double
      refining_slowest; ///< [GA.16] a refinement of [ST.6] that leaves more than this of the one before is given up
  double refining_close;  ///< [GA.16] factors that leave no more than this are close
  double refining_enough; ///< [GA.16] then v' may change by so many tolerances, otherwise by one
  double soi2_ratio;      ///< [SO.8] up to this ratio of successive steps a and p are extrapolated
  double
      soi2_contraction; ///< [SO.7] a shared matrix that contracts worse than this is given up for the full one
  double step_safety;          ///< [SC.4] h <- 0.85 h e^(-1/4) (e_old/e)^0.1
  double share_steady;         ///< [SC.18] errors and their shares serve again up to this change
  double step_hold_from;       ///< [SC.4] no change of the size from here
  double step_hold_to;         ///< [SC.4] to here: factors serve on
  double step_least_factor;    ///< [SC.4] least change of the size
  double step_most_factor;     ///< [SC.4] largest change of the size
  double step_least_calm;      ///< [GA.15] least change where changes excite a stiff spring
  double step_most_calm;       ///< [GA.15] largest change there
  double step_after_rejection; ///< [SC.4] h <- h max(0.2, 0.85 e^(-1/3)) after a rejection
  double step_after_failure;  ///< [SC.4] h becomes this share after a step that could not be solved
  double step_least_error;    ///< [SC.4] errors below this are as good as this
  double usual_amplification; ///< [SC.13] by how much constraints amplify round-off as a rule
  double first_share; ///< [SC.5] a first step is looked for within this share of the whole run
  double
      first_at_rest; ///< [SC.5] a machine that would move by its tolerance in no less than so many times the run is at rest
  double
      longest_share; ///< [SC.10] where functions may depend on the time, no step is longer than this share of the run: three of them are seen
  double look_share; ///< [SC.11] steps longer than this share of the run are looked into for inputs
  double
      singular_close; ///< [SC.13] a step that ends where round-off is amplified so many times as much as before it ends too close to a singular position
  double singular_share; ///< [SC.13] its next size; a half would meet the same position again
  double
      jammed_step; ///< [RE.11] steps of this share of the longest so far are those of a machine that jams, if
  double jammed_amplification; ///< [RE.11] constraints amplify round-off so much where they end
  double newton_rtol;          ///< [NW.1] Newton's relative tolerance over rtol
  double newton_rtol_most;     ///< [NW.1] at the most
  double newton_rtol_least;    ///< [NW.1] at the least
  double newton_floor; ///< [NW.1] automatic steps iterate to this share of the bound of round-off
  double
      projected_share; ///< [SC.9] what counts of an error of v that constraints and stiff springs take up
  double vibration_motion; ///< [SC.15] vibrations faster than this share of v are motion
  double
      vibration_place; ///< [SC.15] those that move nothing by more than this share of the tolerance of q do not count there
  double vibration_reach; ///< [SC.15] they are looked for over so many of their radians [rad]
  double
      round_off_most; ///< [SC.13] round-off may be taken off the error of a step up to this share of the largest component
  double
      round_off_least; ///< [SC.13] it is followed while it is more than this share of the tolerance
  double
      stiff_held; ///< [GA.15] what the filter leaves counts if there is so much more of (S - M) w in it than of M w
  double
      stiff_growth; ///< [GA.15] the filter makes nothing larger than this, by w . M w, unless S is far from what it has to be: then it is not believed
  double
      stiff_excited; ///< [GA.15] a change of v excites something if springs have more than this share of w . M w in w . (S - M) w
  double stiff_share; ///< [GA.15] something is stiff with more of (S - M) w than this share of M w
  double
      path_farthest; ///< [NW.15] a step is predicted from means over shorter ones no farther than this
  double
      path_better; ///< [NW.15] and in this way if the last one would have been off by no more than this share of what it was
  double
      start_unresolved; ///< [ST.10] a start has something that the step does not resolve where w . (S - M) w is more than this share of w . M w
  double
      start_radian; ///< [ST.5] rates are looked at over so much of the time in which the stiffest component vibrates by a radian
  double
      start_followed; ///< [ST.17] vibrations with less of (S - M) v_0 than this share of M v_0 are followed: 10 steps and more a period
  double
      start_left; ///< [ST.11] what the filter leaves of w . (S - M) w where S is what it has to be, at the most
  double
      least_threaded; ///< [LS.3] smaller machines, by velocities and rows of constraints, stay on one thread
} as_expert;

AS_API as_expert as_default_expert(void);

#ifdef __cplusplus
}
#endif

#endif
