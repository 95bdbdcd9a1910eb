/// The table of numerical constants: name, default, label, why, how it was measured. docs/constants.md shows it, and a test compares both.
#include "core/stepper/constants.h"

#include <math.h>
#include <stddef.h>

#include "base/definition.h"
#include "base/error.h"

#define ROW(name, value, label, why, measured)                                                     \
  { #name, offsetof(as_expert, name), value, label, why, measured }

static const asi_constant constants[] = {
    ROW(newton_accuracy, 0.1, "NW.4",
        "an estimated error below this share of the tolerance ends the iteration: it is added up "
        "over steps",
        "not apart"),
    ROW(newton_slowest, 0.9, "NW.4", "a contraction worse than this is no convergence",
        "not apart"),
    ROW(newton_guess, 1e-2, "NW.4",
        "no better contraction of old factors is believed before it is seen", "not apart"),
    ROW(newton_fresh_guess, 1e-5, "NW.4", "the same of new factors", "not apart"),
    ROW(newton_plan, 1e-3, "NW.5", "the same where it is decided whether new factors pay",
        "not apart"),
    ROW(reuse_ratio, 2.0, "NW.4",
        "factors of steps larger or smaller by more than this are not tried: to leading order no "
        "block depends on h",
        "not apart"),
    ROW(reuse_gamma, 0.1, "NW.4",
        "nor those of a stiff system if gamma_n differs by more than this", "not apart"),
    ROW(newton_unseen, 0.1, "NW.12",
        "contraction over age of factors of which nothing was seen yet",
        "[NW.12] as a whole: 28 examples, 0.6 % of all instructions, pendulum 5.7 %, "
        "motor-four-bar 4.5 %"),
    ROW(newton_sudden, 100.0, "NW.12",
        "a first increment of more tolerances: the motion has changed suddenly, and factors with "
        "it",
        "as the one before"),
    ROW(damping_iterations, 60.0, "NW.17",
        "a step whose full corrections diverge gets so many damped ones from each start",
        "not apart"),
    ROW(damping_least, 0.03, "NW.17", "smaller shares of a correction lead nowhere",
        "quarter cars with check valves, 40 runs: 26 of 28000 steps fail with two starts, 32 with "
        "0.01, 58 with 0.003"),
    ROW(damping_jump, 0.2, "NW.17", "then corrections are taken by this share, whatever is behind",
        "as the one before, with 0.01: 41 with 0.1, 39 with 0.3"),
    ROW(damping_over, 0.25, "NW.17", "full corrections that contract by this are damped no more",
        "as the one before: 31 to 32 with 0.1 to 0.5"),
    ROW(round_off_margin, 4.0, "SC.13",
        "what constraints make of round-off may be so many times what is solved for", "not apart"),
    ROW(round_off_amplified, 100.0, "SC.13",
        "constraints that amplify round-off more than this are looked at more closely",
        "not apart"),
    ROW(moving_share, 1e-10, "NW.1",
        "components of v below this share of the largest do not move: they have no round-off",
        "not apart"),
    ROW(newton_least_size, 0.01, "NW.1",
        "a component of v' below this share of its like need not be relatively as exact",
        "not apart"),
    ROW(newton_share, 0.1, "SC.8",
        "what Newton's method may leave of what q, v and x of an automatic step may be off by",
        "test_newton: 1 is seen in the error"),
    ROW(most_give, 1e-5, "RE.5",
        "constraints may give way by this while compliance carries a step over a singular "
        "position, in typical sizes",
        "four-bars pass flat positions with it, and cranks beyond their reach do not"),
    ROW(most_turn, 0.5, "NW.16",
        "a step may turn a body by so much otherwise than its start and its path say [rad]",
        "test_stiff_twins 40001 2000: with 1 a rocker flips, and twice as many runs end"),
    ROW(rows_hold, 1e-7, "RE.6",
        "rows that are left out may be off by this share of the machine's lengths or speeds",
        "not apart"),
    ROW(rows_hold_like, 1e3, "RE.6", "or by so many times what the others are off by", "not apart"),
    ROW(rows_implied, 1e-6, "RE.10",
        "sigma/sigma_1 of implied rows in a choice that may leave out fewer, 1e-4 of the lengths "
        "later or more",
        "not apart"),
    ROW(rows_implied_along, 1e-5, "RE.10", "the same in other choices", "not apart"),
    ROW(rows_response, 3.0, "RE.6",
        "the response of the rows that are kept has grown by this: others may be better",
        "not apart"),
    ROW(parasite_opposite, -0.9, "GA.18",
        "cosine between successive third differences of lambda that alternate",
        "a chain of 1000 links shows -1.000 where its reactions are off by 2 %"),
    ROW(parasite_least, 0.02, "GA.18", "least share of lambda that alternates",
        "as the one before"),
    ROW(parasite_grown, 1.5, "GA.18", "growth over six steps by which a parasitic mode is told",
        "as the one before"),
    ROW(parasite_most, 0.1, "GA.18", "or its share of lambda", "as the one before"),
    ROW(parasite_rho, 0.99, "GA.18",
        "with a larger rho_inf parasitic modes grow by themselves, like n^2, and are not looked "
        "for",
        "a triple root at -1"),
    ROW(decoupled_contraction, 0.05, "GA.14",
        "a matrix without eta that contracts worse than this is given up for the full one",
        "not apart"),
    ROW(eta_unseen, 0.05, "GA.14",
        "an increment of eta/h that moves q by less, in tolerances, is not seen by the other "
        "equations",
        "not apart"),
    ROW(refining_slowest, 0.5, "GA.16",
        "a refinement of [ST.6] that leaves more than this of the one before is given up",
        "index-3 with automatic steps, 17 examples: without [GA.16] 280584 solutions instead of "
        "134442"),
    ROW(refining_close, 0.05, "GA.16", "factors that leave no more than this are close",
        "as the one before"),
    ROW(refining_enough, 10.0, "GA.16",
        "then v' may change by so many tolerances, otherwise by one", "as the one before"),
    ROW(soi2_ratio, 4.0, "SO.8", "up to this ratio of successive steps a and p are extrapolated",
        "not apart"),
    ROW(soi2_contraction, 0.2, "SO.7",
        "a shared matrix that contracts worse than this is given up for the full one", "not apart"),
    ROW(step_safety, 0.85, "SC.4", "h <- 0.85 h e^(-1/4) (e_old/e)^0.1",
        "accuracy set, docs/automatic-steps.md"),
    ROW(share_steady, 0.05, "SC.18",
        "errors and shares of them that change by no more than this serve again",
        "0.02 to 0.05: 1.6 to 1.7 solutions a step of 100 links in index-2 form, same errors"),
    ROW(step_hold_from, 0.95, "SC.4", "no change of the size from here", "not apart"),
    ROW(step_hold_to, 1.1, "SC.4", "to here: factors serve on", "not apart"),
    ROW(step_least_factor, 0.3, "SC.4", "least change of the size", "not apart"),
    ROW(step_most_factor, 1.5, "SC.4", "largest change of the size", "not apart"),
    ROW(step_least_calm, 0.9, "GA.15", "least change where changes excite a stiff spring",
        "not apart"),
    ROW(step_most_calm, 1.1, "GA.15", "largest change there", "not apart"),
    ROW(step_after_rejection, 0.2, "SC.4", "h <- h max(0.2, 0.85 e^(-1/3)) after a rejection",
        "not apart"),
    ROW(step_after_failure, 0.25, "SC.4",
        "h becomes this share after a step that could not be solved", "not apart"),
    ROW(step_least_error, 1e-2, "SC.4", "errors below this are as good as this", "not apart"),
    ROW(usual_amplification, 100.0, "SC.13", "by how much constraints amplify round-off as a rule",
        "5 to 100 times on the examples"),
    ROW(first_share, 0.01, "SC.5", "a first step is looked for within this share of the whole run",
        "not apart"),
    ROW(first_at_rest, 1e3, "SC.5",
        "a machine that would move by its tolerance in no less than so many times the run is at "
        "rest",
        "not apart"),
    ROW(longest_share, 0.02, "SC.10",
        "where functions may depend on the time, no step is longer than this share of the run: "
        "three of them are seen",
        "test_inputs, 240 machines"),
    ROW(look_share, 0.0025, "SC.11",
        "steps longer than this share of the run are looked into for inputs", "test_inputs"),
    ROW(singular_close, 5.0, "SC.13",
        "a step that ends where round-off is amplified so many times as much as before it ends too "
        "close to a singular position",
        "ten four-bars with SOI2, rtol 1e-6: 15 of 40 passages ended without it, none with it"),
    ROW(singular_share, 0.6, "SC.13", "its next size; a half would meet the same position again",
        "as the one before"),
    ROW(jammed_step, 1e-5, "RE.11",
        "steps of this share of the longest so far are those of a machine that jams, if",
        "rubbing cranks end at 1e-5 and 1e6"),
    ROW(jammed_amplification, 1e5, "RE.11", "constraints amplify round-off so much where they end",
        "elsewhere 5 to 100, and 1000 within a step of a flat position"),
    ROW(newton_rtol, 0.01, "NW.1", "Newton's relative tolerance over rtol", "not apart"),
    ROW(newton_rtol_most, 1e-4, "NW.1", "at the most", "not apart"),
    ROW(newton_rtol_least, 1e-10, "NW.1", "at the least", "not apart"),
    ROW(newton_floor, 0.1, "NW.1",
        "automatic steps iterate to this share of the bound of round-off", "not apart"),
    ROW(projected_share, 0.03, "SC.9",
        "what counts of an error of v that constraints and stiff springs take up", "accuracy set"),
    ROW(vibration_motion, 0.03, "SC.15", "vibrations faster than this share of v are motion",
        "0.01 to 0.1: six undamped machines, docs/automatic-steps.md"),
    ROW(vibration_place, 1.0, "SC.15",
        "those that move nothing by more than this share of the tolerance of q do not count there",
        "as vibration_motion"),
    ROW(vibration_reach, 30.0, "SC.15", "they are looked for over so many of their radians [rad]",
        "not apart"),
    ROW(round_off_most, 1e-5, "SC.13",
        "round-off may be taken off the error of a step up to this share of the largest component",
        "0.1 rtol^(1/2) let cranks that rub pass where they jam"),
    ROW(round_off_least, 0.1, "SC.13",
        "it is followed while it is more than this share of the tolerance", "not apart"),
    ROW(stiff_held, 30.0, "GA.15",
        "what the filter leaves counts if there is so much more of (S - M) w in it than of M w",
        "not apart"),
    ROW(stiff_growth, 4.0, "GA.15",
        "the filter makes nothing larger than this, by w . M w, unless S is far from what it has "
        "to be: then it is not believed",
        "not apart"),
    ROW(stiff_excited, 0.05, "GA.15",
        "a change of v excites something if springs have more than this share of w . M w in w . (S "
        "- M) w",
        "not apart"),
    ROW(stiff_share, 0.5, "GA.15",
        "something is stiff with more of (S - M) w than this share of M w", "not apart"),
    ROW(path_farthest, 2.0, "NW.15",
        "a step is predicted from means over shorter ones no farther than this", "not apart"),
    ROW(path_better, 0.25, "NW.15",
        "and in this way if the last one would have been off by no more than this share of what it "
        "was",
        "not apart"),
    ROW(start_unresolved, 0.25, "ST.10",
        "a start has something that the step does not resolve where w . (S - M) w is more than "
        "this share of w . M w",
        "not apart"),
    ROW(start_radian, 0.1, "ST.5",
        "rates are looked at over so much of the time in which the stiffest component vibrates by "
        "a radian",
        "not apart"),
    ROW(start_followed, 0.1, "ST.17",
        "vibrations with less of (S - M) v_0 than this share of M v_0 are followed: 10 steps and "
        "more a period",
        "not apart"),
    ROW(start_left, 0.1, "ST.11",
        "what the filter leaves of w . (S - M) w where S is what it has to be, at the most",
        "not apart"),
    ROW(least_threaded, 4000.0, "LS.3",
        "smaller machines, by velocities and rows of constraints, stay on one thread",
        "trees, lattices and chains, bench/threads"),
};

const asi_constant *asi_constants(int *count) {
  *count = (int)(sizeof constants / sizeof constants[0]);
  return constants;
}

/// A field of the struct, by its row.
static double *field_of(as_expert *expert, const asi_constant *row) {
  return (double *)(void *)((char *)expert + row->offset);
}

as_expert as_default_expert(void) {
  as_expert expert = {.cookie = ASI_COOKIE(as_expert)};
  int count = 0;
  const asi_constant *row = asi_constants(&count);
  for (int i = 0; i < count; ++i) *field_of(&expert, &row[i]) = row[i].value;
  return expert;
}

as_status asi_constants_take(as_expert *to, const as_expert *from, as_error *error) {
  *to = as_default_expert();
  if (from == NULL) return AS_OK;
  const as_status status = ASI_CHECK_DEFINITION(as_expert, from, error);
  if (status) return status;
  *to = *from;
  int count = 0;
  const asi_constant *row = asi_constants(&count);
  for (int i = 0; i < count; ++i) {
    const double x = *field_of(to, &row[i]);
    if (!(isfinite(x) && x * row[i].value > 0.0))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, row[i].name,
                      "expert.%s = %g is not a number of the sign of its default, %g.", row[i].name,
                      x, row[i].value);
  }
  return AS_OK;
}
