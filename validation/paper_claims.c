// What the papers claim, in our words, and what is found when it is measured: the text of `alphastep papers
// --report`. A claim names the rows that decide about it and the figures that show it; numbers in a finding are
// filled in from the run.
#include <stddef.h>

#include "papers.h"

// ---- Arnold, Bruels, Cardona

const paper_claim abc_claims[N_ABC_CLAIMS] = {
    {
        .id = "abc-claim-oscillation",
        .title = "The multiplier oscillates after an exact start, with an amplitude of first order",
        .where = "example 1, figure 1",
        .says = "Index 3 with *\u03c1*_{\u221e} = 0.9 and exact starting values: away from the "
                "equilibrium the error of the "
                "pendulum's *\u03bb* swings up to 0.248 with *h* = 0.02 and half of it with half "
                "the step; after some 100 "
                "steps that is gone. From *x*_{0} = 0 there is no such thing: errors stay below "
                "3.95\u00b710^{\u22123} and "
                "9.85\u00b710^{\u22124}.",
        .verdict = PAPER_HOLDS,
        .finding = "From *x*_{0} = 0.2 the largest errors are [abc-pendulum-plain-h2e-2] and "
                   "[abc-pendulum-plain-h1e-2], "
                   "order [abc-pendulum-plain-h1e-2:order]; after 100 steps "
                   "[abc-pendulum-later-h1e-2] is left. From the "
                   "equilibrium they are [abc-pendulum-equilibrium-plain-h2e-2] and "
                   "[abc-pendulum-equilibrium-plain-h1e-2], order "
                   "[abc-pendulum-equilibrium-plain-h1e-2:order].",
        .rows = {"abc-pendulum-plain", "abc-pendulum-later", "abc-pendulum-equilibrium-plain"},
        .figures = {"abc-pendulum-plain"},
    },
    {
        .id = "abc-claim-growth",
        .title = "Errors are carried on by a matrix whose powers grow before they decay",
        .where = "(46), section 4.1",
        .says =
            "The matrix of the recursion has one Jordan block of size three with the eigenvalue "
            "\u2212*\u03c1*_{\u221e}. The largest 2-norms of its powers are 34.3 at *n* = 14 for "
            "*\u03c1*_{\u221e} = 0.9 and 7.4 "
            "at *n* = 3 for 0.6; the block's largest entry is 2.2, 28.5 and 2.7\u00b710^{3} for "
            "0.6, 0.9 and 0.99.",
        .verdict = PAPER_HOLDS,
        .finding =
            "[abc-amplification-rho0.9] at *n* = [abc-amplification-step-rho0.9], "
            "[abc-amplification-rho0.6] at "
            "*n* = [abc-amplification-step-rho0.6]; with *\u03c1*_{\u221e} = 0.99 it would be "
            "[abc-amplification-rho0.99].",
        .rows = {"abc-amplification", "abc-jordan"},
        .figures = {"abc-amplification"},
    },
    {
        .id = "abc-claim-fit",
        .title = "A short formula for the growth",
        .where = "section 4.1",
        .says = "The largest norm is 0.9/(1 \u2212 *\u03c1*_{\u221e}^{1/4}) to within 3 % for "
                "*\u03c1*_{\u221e} between 0.3 and 0.99.",
        .verdict = PAPER_CORRECTED,
        .finding = "The formula is off by a fraction of up to [abc-fit], at *\u03c1*_{\u221e} = "
                   "0.528 (a scan by 10^{\u22124} finds 0.0335): 3 % is exceeded by a "
                   "little where the largest norm moves from one *n* to the next.",
        .rows = {"abc-fit"},
        .figures = {"abc-fit"},
    },
    {
        .id = "abc-claim-peak",
        .title = "The largest error comes at step 15, or at step 4",
        .where = "sections 4.1 and 5",
        .says = "The largest error of *\u03bb* is that of step 15 for *\u03c1*_{\u221e} = 0.9, "
                "pendulum and heavy top alike, and "
                "that of step 4 for 0.6 (heavy top), one step after the largest norm.",
        .verdict = PAPER_CORRECTED,
        .finding = "Roughly so; the neighbours are all but equal (the recursion has 31.93 at 15 "
                   "and 31.91 at 16), and which "
                   "one is the largest depends on the problem. Pendulum: step "
                   "[abc-pendulum-peak-h2e-2] at both step sizes of "
                   "the paper, step [abc-pendulum-peak-h5e-3] for *h* = 0.005. Heavy top: step "
                   "[abc-top-peak-rho0.9] for 0.9 and "
                   "[abc-top-peak-rho0.6] for 0.6 by the norm of the error, steps 12 and 4 by its "
                   "third component.",
        .rows = {"abc-pendulum-peak", "abc-top-peak"},
    },
    {
        .id = "abc-claim-rowmax",
        .title = "What starting errors do to *\u03bb*",
        .where = "end of section 4.2",
        .says = "For *\u03c1*_{\u221e} = 0.9 the largest entries of the row that gives *\u03bb* "
                "are (31.91, 0.81, 0.31): the local error "
                "of *q* matters more than a hundred times as much as an error of *a*_{0}.",
        .verdict = PAPER_CORRECTED,
        .finding = "They are ([abc-rowmax-r], [abc-rowmax-lambda], [abc-rowmax-a]). The printed "
                   "ones are the largest of the "
                   "even powers: 31.91 at *n* = 16 and 0.81 at *n* = 2, while 31.93 is at 15 and "
                   "0.9 at 1. The conclusion "
                   "stands: the ratio is above 100.",
        .rows = {"abc-rowmax"},
    },
    {
        .id = "abc-claim-cubic",
        .title = "Without freedom the recursion is exact",
        .where = "example 2",
        .says = "If the constraint *q* = *t*^{3} leaves no freedom, the error of *\u03bb* is "
                "nothing but the recursion applied to "
                "the first local error: exact starting values lose an order.",
        .verdict = PAPER_HOLDS,
        .finding = "Over 60 steps the two differ by at most [abc-cubic], which is round-off.",
        .rows = {"abc-cubic"},
        .figures = {"abc-cubic"},
    },
    {
        .id = "abc-claim-shifted",
        .title = "A better *a*_{0} alone does not help",
        .where = "sections 2.3 and 4.2",
        .says = "Starting *a* where it belongs, at *t*_{0} + *\u0394*_{\u03b1}*h*, changes nothing "
                "that can be seen in figure 1.",
        .verdict = PAPER_HOLDS,
        .finding = "[abc-pendulum-shifted-h2e-2] and [abc-pendulum-shifted-h1e-2], beside "
                   "[abc-pendulum-plain-h2e-2] and "
                   "[abc-pendulum-plain-h1e-2] without.",
        .rows = {"abc-pendulum-shifted"},
    },
    {
        .id = "abc-claim-perturbed",
        .title = "Perturbed starting velocities bring second order from the first step",
        .where = "(56), (57), section 4.2",
        .says = "A change of the starting velocity of the size *h*^{2} reduces the pendulum's "
                "largest errors from 0.248 to "
                "3.99\u00b710^{\u22123} and from 0.123 to 9.96\u00b710^{\u22124}. From the "
                "equilibrium nothing changes.",
        .verdict = PAPER_HOLDS,
        .finding = "[abc-pendulum-perturbed-h2e-2] and [abc-pendulum-perturbed-h1e-2], order "
                   "[abc-pendulum-perturbed-h1e-2:order]. From the equilibrium the errors agree "
                   "with those of the plain "
                   "start to half a percent, not digit by digit.",
        .rows = {"abc-pendulum-perturbed", "abc-pendulum-equilibrium-perturbed"},
        .figures = {"abc-pendulum", "abc-pendulum-perturbed"},
    },
    {
        .id = "abc-claim-top-transient",
        .title = "The same on a Lie group: the heavy top",
        .where = "section 5, figure 4",
        .says = "With the plain start *\u03bb*_{3} oscillates wildly for *\u03c1*_{\u221e} = 0.9 "
                "and less, and for a shorter time, for "
                "0.6; with the perturbed start it lies on the reference.",
        .verdict = PAPER_HOLDS,
        .finding =
            "Largest error in the first 60 steps: [abc-top-transient-index3-plain-rho0.9] and "
            "[abc-top-transient-index3-plain-rho0.6] N from the plain start, "
            "[abc-top-transient-index3-perturbed-rho0.9] and "
            "[abc-top-transient-index3-perturbed-rho0.6] N from the "
            "perturbed one.",
        .rows = {"abc-top-transient-index3-plain", "abc-top-transient-index3-perturbed"},
        .figures = {"abc-top-transient"},
    },
    {
        .id = "abc-claim-index2",
        .title = "The stabilized index-2 form does not amplify, and *\u03b7* is of second order",
        .where = "section 4.3, figure 5",
        .says = "All eigenvalues of the index-2 recursion differ; the largest is max(|2*\u03c1* "
                "\u2212 1|/(2 \u2212 *\u03c1*), "
                "|3*\u03c1* \u2212 1|/(3 \u2212 *\u03c1*), *\u03c1*). Starting errors do not grow, "
                "*\u03bb* starts smoothly, and the auxiliary "
                "multipliers *\u03b7* vanish with *h*^{2}.",
        .verdict = PAPER_HOLDS,
        .finding = "The norm of a power is never above [abc-index2-growth-rho0.9]. Heavy top: the "
                   "error of *\u03bb* in the first 60 "
                   "steps is [abc-top-transient-index2-rho0.9] N, the largest |*\u03b7*| "
                   "[abc-top-eta-h1e-3] and with half the "
                   "step [abc-top-eta-h5e-4], order [abc-top-eta-h5e-4:order].",
        .rows = {"abc-index2", "abc-top-transient-index2", "abc-top-eta"},
        .figures = {"abc-top-eta"},
    },
    {
        .id = "abc-claim-order",
        .title = "Beyond the transient phase everything is of second order",
        .where = "theorems 1 and 2, figure 6",
        .says = "Heavy top, *t* > 0.1: *q* and *\u03bb* converge with second order, whatever the "
                "start and the index.",
        .verdict = PAPER_HOLDS,
        .finding = "Orders of *q* and *\u03bb* between the two smallest steps: "
                   "[abc-top-index3-plain-q-h2.5e-4:order] and "
                   "[abc-top-index3-plain-lambda-h2.5e-4:order] (index 3, plain), "
                   "[abc-top-index3-perturbed-q-h2.5e-4:order] and "
                   "[abc-top-index3-perturbed-lambda-h2.5e-4:order] "
                   "(perturbed), [abc-top-index2-q-h2.5e-4:order] and "
                   "[abc-top-index2-lambda-h2.5e-4:order] (index 2). "
                   "With *h* = 0.002 and the plain start the oscillation is not over at *t* = 0.1, "
                   "after 50 steps: "
                   "[abc-top-index3-plain-lambda-h2e-3] N.",
        .rows = {"abc-top-index3-plain", "abc-top-index3-perturbed", "abc-top-index2"},
        .figures = {"abc-top"},
    },
    {
        .id = "abc-claim-energy",
        .title = "Energy is not preserved in the long run",
        .where = "section 2.2",
        .says = "In long simulations of conservative systems methods of this kind lack the "
                "stability of variational and "
                "energy-preserving ones.",
        .verdict = PAPER_HOLDS,
        .finding = "The pendulum loses energy steadily, the more the smaller *\u03c1*_{\u221e}: "
                   "for 0.6 and *h* = 0.02, "
                   "[abc-energy-h2e-2] J of the 0.5 J that it swings with in 100 s. It is little "
                   "and of third order in the step "
                   "([abc-energy-h1e-2:order]), since the method damps what it resolves so weakly.",
        .rows = {"abc-energy"},
        .figures = {"abc-energy"},
    },
    {
        .id = "abc-claim-tolerance",
        .title = "Coarser Newton tolerances spoil *\u03bb* for small steps",
        .where = "end of section 5",
        .says = "With tolerances a hundred times as large (10^{\u221210} and 10^{\u22126}) the "
                "errors of *\u03bb* of the index-3 method are "
                "about eight times as large for *h* < 2\u00b710^{\u22124}.",
        .verdict = PAPER_UNCHECKED,
        .finding = "The factor is no property of the method. What Newton's last correction leaves "
                   "is divided by *h*^{2}, while the error itself shrinks with *h*^{2}; but how "
                   "much it leaves depends on the norm that is tested, on the prediction, on when "
                   "factors are made anew, and a correction that is accepted is often far better "
                   "than asked for. Here the factor is [abc-tolerance-h1e-4] at *h* = "
                   "10^{\u22124} and [abc-tolerance-h5e-5] at half of that. These two numbers are "
                   "shown, not judged.",
        .rows = {"abc-tolerance"},
    },
    {
        .id = "abc-claim-reference",
        .title = "The motion of the heavy top",
        .where = "section 5, figure 3",
        .says = "The reference: *x*_{3} and *\u03bb* over time, by the index-2 form with *h* = "
                "2.5\u00b710^{\u22125}.",
        .verdict = PAPER_HOLDS,
        .finding =
            "With that method and step *x*_{3}(1) = [abc-top-reference-x3] m and *\u03bb*(1) "
            "= ([abc-top-reference-lambda1], [abc-top-reference-lambda2], "
            "[abc-top-reference-lambda3]) N, as a solution in minimal coordinates in "
            "quadruple precision has them, which no generalized-alpha method took part in.",
        .rows = {"abc-top-reference"},
        .figures = {"abc-top-reference"},
    },
};

// ---- Jay, Negrut

const paper_claim jn_claims[N_JN_CLAIMS] = {
    {
        .id = "jn-claim-order",
        .title = "With the corrections for changing steps all variables are of second order",
        .where = "section 8, figure 1",
        .says = "Steps alternating between *H*/3 and 2*H*/3, *\u03c1*_{\u221e} = 0.2: *y*, *z*, "
                "*a*, *\u03bb* and *\u03c8* converge with order "
                "2 if *a* and *M a* are extrapolated by (15) and (16).",
        .verdict = PAPER_HOLDS,
        .finding =
            "Orders [jn-soi2-with-y:order], [jn-soi2-with-z:order], [jn-soi2-with-a:order], "
            "[jn-soi2-with-lambda:order], [jn-soi2-with-psi:order]. The paper does not print the "
            "exact solution; it is "
            "*y* = (exp *t*, exp(\u22122*t*)), *\u03bb* = exp(\u2212*t*), *\u03c8* = exp *t*.",
        .rows = {"jn-soi2-with"},
        .figures = {"jn-soi2"},
    },
    {
        .id = "jn-claim-without",
        .title = "Without them *a*, *\u03bb* and *\u03c8* fall to first order",
        .where = "section 8, figure 2",
        .says = "The same steps without (15) and (16): order 1 for *a*, *\u03bb* and *\u03c8*, "
                "while *y* and *z* keep order 2.",
        .verdict = PAPER_HOLDS,
        .finding = "On this problem it is so: [jn-soi2-without-a:order], "
                   "[jn-soi2-without-lambda:order] and "
                   "[jn-soi2-without-psi:order], but [jn-soi2-without-y:order] and "
                   "[jn-soi2-without-z:order]. Its constraints "
                   "leave the velocity no freedom, which matters for the next claim.",
        .rows = {"jn-soi2-without"},
        .figures = {"jn-soi2"},
    },
    {
        .id = "jn-claim-unnecessary",
        .title = "*y* and *z* do not need the corrections",
        .where = "section 7",
        .says = "The corrections are not necessary to keep second order in *y* and *z*.",
        .verdict = PAPER_FAILS,
        .finding = "As soon as the velocity has a freedom, *y* and *z* fall to first order too: on "
                   "problem (7.1) of Jay 2011 "
                   "with the same steps the orders are [jn-free-without-y:order] and "
                   "[jn-free-without-z:order] without the "
                   "corrections, [jn-free-with-y:order] and [jn-free-with-z:order] with them, and "
                   "the error of *y* is "
                   "[jn-free-without-y] instead of [jn-free-with-y].",
        .rows = {"jn-free"},
        .figures = {"jn-free"},
    },
    {
        .id = "jn-claim-offset",
        .title = "*a* belongs to *t* + *\u03b1h*, not to *t*",
        .where = "section 2",
        .says = "As an approximation of the acceleration at *t*_{n} + *\u03b1h*, *\u03b1* = "
                "*\u03b1*_{m} \u2212 *\u03b1*_{f}, *a* is of second "
                "order; at *t*_{n} it is of first order only.",
        .verdict = PAPER_HOLDS,
        .finding = "Order [jn-soi2-with-a:order] against the acceleration at *t*_{n} + *\u03b1h*, "
                   "[jn-offset-a:order] against that at "
                   "*t*_{n}, where the error is [jn-offset-a] instead of [jn-soi2-with-a].",
        .rows = {"jn-offset", "jn-soi2-with-a"},
        .figures = {"jn-offset"},
    },
    {
        .id = "jn-claim-mass",
        .title = "The old mass matrix may be kept or evaluated again",
        .where = "sections 3 and 6",
        .says = "For *M*_{\u03b1} the matrix of the last step serves as well as a new one at *t* + "
                "*\u03b1h*.",
        .verdict = PAPER_HOLDS,
        .finding = "Evaluated again, orders [jn-mass-y:order], [jn-mass-z:order], "
                   "[jn-mass-a:order], [jn-mass-lambda:order], "
                   "[jn-mass-psi:order]; the rows of the other claims keep it.",
        .rows = {"jn-mass"},
    },
    {
        .id = "jn-claim-start",
        .title = "The first *a*: *a*_{0} costs an order at the beginning, (10) does not",
        .where = "section 2.1, theorem 1",
        .says =
            "With *a*_{0} as the first *a*, the errors of *a*, *\u03bb* and *\u03c8* begin with "
            "first order; with a first *a* "
            "that is right to *h*^{2}, as by (10), they are of second order from the first step.",
        .verdict = PAPER_HOLDS,
        .finding = "Orders of the largest errors of *a*, *\u03bb*, *\u03c8* over all steps: "
                   "[jn-start-plain-a:order], "
                   "[jn-start-plain-lambda:order], [jn-start-plain-psi:order] from *a*_{0}; "
                   "[jn-start-implicit-a:order], "
                   "[jn-start-implicit-lambda:order], [jn-start-implicit-psi:order] by (10).",
        .rows = {"jn-start-plain", "jn-start-implicit"},
        .figures = {"jn-start"},
    },
    {
        .id = "jn-claim-alpha-m",
        .title = "With *\u03b1*_{m} = 0 the start *a*_{0} does no harm",
        .where = "theorem 1, last part",
        .says = "If *\u03b1*_{m} = 0, as for HHT, then *a*, *\u03bb* and *\u03c8* are of second "
                "order at every step even from *a*_{0}.",
        .verdict = PAPER_FAILS,
        .finding = "True without constraints. With them the part of *a* that they determine "
                   "forgets its start only with the "
                   "factor (1 \u2212 *\u03b3*)/*\u03b3*, and *\u03bb* and *\u03c8* with "
                   "*\u03b1*_{f}/(1 \u2212 *\u03b1*_{f}), which *\u03b1*_{m} = 0 does not "
                   "make zero: the largest errors of *a*, *\u03bb*, *\u03c8* have the orders "
                   "[jn-start-hht-a:order], "
                   "[jn-start-hht-lambda:order], [jn-start-hht-psi:order]. A start by (10) is "
                   "needed here too.",
        .rows = {"jn-start-hht"},
    },
    {
        .id = "jn-claim-forget",
        .title = "How fast an error of the first *a* is forgotten",
        .where = "theorem 1",
        .says = "The first-order part decays like *r*^{n}, *r* = |*\u03b1*_{m}/(1 \u2212 "
                "*\u03b1*_{m})|, in *a*, *\u03bb* and *\u03c8*.",
        .verdict = PAPER_CORRECTED,
        .finding = "*r* must be the largest of |*\u03b1*_{m}/(1 \u2212 *\u03b1*_{m})|, |(1 \u2212 "
                   "*\u03b3*)/*\u03b3*| and "
                   "|*\u03b1*_{f}/(1 \u2212 *\u03b1*_{f})|, for Chung and Hulbert's set "
                   "*\u03c1*_{\u221e} if that is above 0.27. With "
                   "*\u03c1*_{\u221e} = 0.9 the theorem would have 0.727 per step; *\u03bb* does "
                   "[jn-forget-lambda-rho0.9].",
        .rows = {"jn-forget"},
        .figures = {"jn-forget"},
    },
};

// ---- Jay

const paper_claim j_claims[N_J_CLAIMS] = {
    {
        .id = "j-claim-order",
        .title = "Second order in all variables on the test problem (7.1)",
        .where = "theorem 6.1, figure 7.1",
        .says = "Constant steps, *\u03c1*_{\u221e} = 0.2: *y*, *z*, *a* and *\u03c8* converge with "
                "order 2 although the force is not linear "
                "in *\u03c8* and the mass matrix not symmetric.",
        .verdict = PAPER_HOLDS,
        .finding = "Orders [j-71-y:order], [j-71-z:order], [j-71-a:order], [j-71-psi:order].",
        .rows = {"j-71"},
        .figures = {"j-71"},
    },
    {
        .id = "j-claim-disk",
        .title = "Second order on the rolling disk",
        .where = "figure 7.2",
        .says = "*y*, *z* and *\u03c8* converge with order 2 at *t* = 10.",
        .verdict = PAPER_CORRECTED,
        .finding = "It does, but only for small steps: between the steps shown here the observed "
                   "orders are still above 2, "
                   "[j-disk-y-h0.003125:order], [j-disk-z-h0.003125:order] and "
                   "[j-disk-psi-h0.003125:order]; the figure goes on "
                   "to where they approach it. The forces must be completed as in the next claim.",
        .rows = {"j-disk-y", "j-disk-z", "j-disk-psi"},
        .figures = {"j-disk"},
    },
    {
        .id = "j-claim-force",
        .title = "The equations of the rolling disk",
        .where = "(7.2)",
        .says = "The printed forces follow from the printed Lagrangian.",
        .verdict = PAPER_CORRECTED,
        .finding =
            "The fourth lacks the term \u2212*I*_{2}*z*_{5}*z*_{3} cos *y*_{3}. As printed, "
            "the energy, which rolling "
            "preserves, changes by [j-disk-printed-energy] until *t* = 10; completed, by "
            "[j-disk-energy], which is the method's error and goes with the square of the step "
            "(order [j-disk-energy:order]).",
        .rows = {"j-disk-printed", "j-disk-energy"},
        .figures = {"j-disk-printed"},
    },
    {
        .id = "j-claim-start",
        .title = "Second order from the first step if the first *a* is right",
        .where = "theorem 6.1",
        .says = "If the first *a* is wrong by *\u03b4*_{0}, *a* and *\u03c8* are wrong by "
                "something of that size at first; if *\u03b4*_{0} is "
                "of second order, so are they at every step.",
        .verdict = PAPER_HOLDS,
        .finding = "Orders of the largest errors of *a* and *\u03c8* in the first ten steps: "
                   "[j-start-plain-a:order] and "
                   "[j-start-plain-psi:order] from *a*_{0}, [j-start-shifted-a:order] and "
                   "[j-start-shifted-psi:order] from "
                   "*a*_{0} + *\u03b1h* *a*\u2032_{0}.",
        .rows = {"j-start"},
    },
    {
        .id = "j-claim-forget",
        .title = "How fast *a* forgets its start",
        .where = "theorem 6.1",
        .says = "In *a* the error of the start decays like *r*_{\u03b3}^{n}, *r*_{\u03b3} = "
                "|(*\u03b3* \u2212 1)/*\u03b3*|, which is 1/7 for "
                "*\u03c1*_{\u221e} = 0.2.",
        .verdict = PAPER_CORRECTED,
        .finding = "That holds for the part of *a* that the constraints determine. The part along "
                   "the freedoms that are left "
                   "decays like |*\u03b1*_{m}/(1 \u2212 *\u03b1*_{m})|^{n}, here 3^{\u2212n}; the "
                   "proof has it in its recursion and loses it in the "
                   "powers of the matrix. Measured on (7.1): [j-forget-a] per step.",
        .rows = {"j-forget"},
        .figures = {"j-forget"},
    },
};

// ---- Bruels, Arnold

const paper_claim ba_claims[N_BA_CLAIMS] = {
    {
        .id = "ba-claim-motion",
        .title = "A machine and its controller in one system",
        .where = "figures 3 and 4",
        .says = "Spring and mass with an acceleration feedback through a filter and an actuator "
                "that saturates, *h* = 0.1: the "
                "saturation rules the first ten seconds, then the oscillation is damped linearly.",
        .verdict = PAPER_HOLDS,
        .finding = "The actuator's force stays at its limit of 1 N, then follows the desired one. "
                   "*q*, *q*\u2032 and *x* agree with a "
                   "second implementation in nine digits.",
        .rows = {"ba-spring"},
        .figures = {"ba-spring"},
    },
    {
        .id = "ba-claim-order",
        .title = "Second order with constant steps, accelerations included",
        .where = "theorem, figure 5",
        .says = "The errors of *q* and *x* at *t* = 5 decrease with *h*^{2}. Since equilibrium is "
                "enforced at each step, the "
                "accelerations are of second order too, unlike those of weighted residuals.",
        .verdict = PAPER_HOLDS,
        .finding = "Orders [ba-constant-q:order] (*q*), [ba-constant-x:order] (*x*), "
                   "[ba-constant-qddot:order] (*q*\u2033).",
        .rows = {"ba-constant"},
        .figures = {"ba-constant"},
    },
    {
        .id = "ba-claim-varstep",
        .title = "Changing steps need an update of *\u03b3* and *\u03b8*",
        .where = "(28), (29), figure 6",
        .says = "Steps alternating between 0.3*H* and 0.7*H*: with *\u03b3*_{n} and *\u03b8*_{n} "
                "updated by (29) order 2, with the nominal "
                "values order 1.",
        .verdict = PAPER_HOLDS,
        .finding = "With the update orders [ba-varstep-with-q:order] and "
                   "[ba-varstep-with-x:order], without "
                   "[ba-varstep-without-q:order] and [ba-varstep-without-x:order].",
        .rows = {"ba-varstep"},
        .figures = {"ba-varstep"},
    },
    {
        .id = "ba-claim-gamma",
        .title = "The sequence *\u03b3*_{n} is attracted by a useful value, unless steps shrink "
                 "too fast",
        .where = "(29), (30)",
        .says = "For a constant ratio *s* of steps *\u03b3*_{n} tends to a value near the nominal "
                "one if "
                "*s* > *s*_{min} = |*\u03b1*_{m}/(1 \u2212 *\u03b1*_{m})|, and otherwise to the "
                "degenerate 1 \u2212 *\u03b1*_{m}, which is of first order.",
        .verdict = PAPER_HOLDS,
        .finding = "*\u03c1*_{\u221e} = 0.8, *s*_{min} = 0.5: [ba-gamma-growing] for *s* = 1.2, "
                   "[ba-gamma-shrinking] for 0.8, but "
                   "[ba-gamma-below] = 1 \u2212 *\u03b1*_{m} for 0.4. (29) is 0/0 for "
                   "*\u03c1*_{\u221e} = 1; the library keeps the offset of *a* "
                   "instead, which gives the same *\u03b3*_{n}, and starts afresh where it would "
                   "run wild.",
        .rows = {"ba-gamma"},
        .figures = {"ba-gamma"},
    },
    {
        .id = "ba-claim-mixed",
        .title = "Machine and controller may have different coefficients",
        .where = "conclusions",
        .says = "Different sets for the motion and for the controller's states do not reduce the "
                "order.",
        .verdict = PAPER_HOLDS,
        .finding = "*\u03c1*_{\u221e} = 0.8 for the motion and 0.2 for *x*: orders "
                   "[ba-mixed-q:order] and [ba-mixed-x:order].",
        .rows = {"ba-mixed"},
    },
    {
        .id = "ba-claim-unfiltered",
        .title = "Without the filter the feedback is one of velocity",
        .where = "first application",
        .says = "For *\u03c3* \u2192 0 the desired force becomes a direct velocity feedback, "
                "printed as \u2212*b* *q*\u2033.",
        .verdict = PAPER_CORRECTED,
        .finding = "It becomes \u2212*b* *q*\u2032: with *\u03c3* = 0, *x* + *b* *q*\u2032 stays "
                   "below [ba-unfiltered-rate], of second order "
                   "([ba-unfiltered-rate:order]), while *x* + *b* *q*\u2033 reaches "
                   "[ba-unfiltered-acceleration].",
        .rows = {"ba-unfiltered"},
    },
    {
        .id = "ba-claim-multistep",
        .title = "The method is a multistep formula",
        .where = "(21) to (24), (37), (38)",
        .says =
            "With *a* and *w* eliminated, two steps give formulas in *q*, *q*\u2032, *q*\u2033, "
            "*x* and *x*\u2032 alone, also when steps differ; with equal steps three of them "
            "give one in *q* and *q*\u2033.",
        .verdict = PAPER_HOLDS,
        .finding = "Put into the formulas, a run with steps 0.03 and 0.07 leaves at most "
                   "[ba-multistep-q] (21), [ba-multistep-qdot] (22) and [ba-multistep-x] (24), one "
                   "with equal steps [ba-multistep-three] (37): round-off.",
        .rows = {"ba-multistep"},
    },
    {
        .id = "ba-claim-finite-elements",
        .title = "The mechanical part by finite elements",
        .where = "introduction, figure 1",
        .says = "The machine is a flexible multibody system of nonlinear finite elements.",
        .verdict = PAPER_OWN,
        .finding =
            "Beams that bend by any amount and linear flexible bodies that travel stand in the "
            "same equations as rigid bodies, of second order in every variable; "
            "elements of other sorts can be added in C. docs/elements/beams.md and "
            "docs/elements/flexible.md have the comparisons.",
    },
    {
        .id = "ba-claim-block-diagrams",
        .title = "The control part by block diagrams",
        .where = "introduction, figure 1",
        .says =
            "The controller is a diagram of blocks; a block's outputs are other blocks' inputs, "
            "which makes the output equation implicit.",
        .verdict = PAPER_OWN,
        .finding =
            "Blocks of a model file are outputs and states of the one system, in any order and "
            "in loops; the controlled spring of the claims above, written as blocks, has "
            "the same numbers to 1e-10. docs/control.md has the list.",
    },
};

// ---- Bruels, Arnold: the car

const paper_claim car_claims[N_CAR_CLAIMS] = {
    {
        .id = "ba-car-claim-system",
        .title = "A car with semi-active dampers changes lane",
        .where = "second application, figures 7 to 11",
        .says = "A car with 600 coordinates, four controlled dampers with pressures as states and "
                "contact with the road is simulated in one system with *h* = 0.01 s and "
                "*\u03c1*_{\u221e} = 0.9, in a few minutes.",
        .verdict = PAPER_OWN,
        .finding =
            "Our car (examples/car) has 53 bodies and 506 unknowns in index-3 form, besides 26 "
            "states and 16 outputs; method, *h* and *\u03c1*_{\u221e} are the paper's. It runs "
            "faster than real time (docs/performance.md). Steps are longer than the periods of its "
            "rubber and hundreds of times longer than the time constants of the check valves: "
            "these are damped, not followed. Without rubber it is the lean car, known from a "
            "program in minimal coordinates.",
    },
    {
        .id = "ba-car-claim-path",
        .title = "The path drifts to the side",
        .where = "figure 12",
        .says = "Wheels slide sideways and the driver is blind: the path has a lateral drift.",
        .verdict = PAPER_OWN,
        .finding = "Steering that is the same to both sides leaves a yaw of "
                   "[ba-car-path-bushed-yaw] mrad and the car [ba-car-path-bushed-y] m to the "
                   "side, going on sideways; the lean car [ba-car-path-yaw] mrad and "
                   "[ba-car-path-y] m, as the other program has it.",
        .rows = {"ba-car-path"},
        .figures = {"ba-car-path"},
    },
    {
        .id = "ba-car-claim-angles",
        .title = "Pitch and roll of the body",
        .where = "figure 13",
        .says = "The body rolls to both sides and pitches a little.",
        .verdict = PAPER_OWN,
        .finding =
            "Roll up to [ba-car-angles-bushed-roll] and pitch up to [ba-car-angles-bushed-pitch] "
            "degrees; the lean car [ba-car-angles-roll] and [ba-car-angles-pitch]. The driver's "
            "seat is at the left: the bushed car begins with a roll to that side.",
        .rows = {"ba-car-angles"},
        .figures = {"ba-car-angles"},
    },
    {
        .id = "ba-car-claim-currents",
        .title = "Currents are dominated by saturation",
        .where = "figure 14",
        .says = "Saturation dominates the variations of the currents in the valves.",
        .verdict = PAPER_OWN,
        .finding = "They go from [ba-car-currents-bushed-least] to "
                   "[ba-car-currents-bushed-largest] A, of 0 to 1.6; for all but "
                   "[ba-car-currents-bushed-between] of the six seconds they are at one of these "
                   "limits: each valve is shut once, and open wherever the damper can only push "
                   "the wrong way.",
        .rows = {"ba-car-currents"},
        .figures = {"ba-car-currents"},
    },
    {
        .id = "ba-car-claim-pressures",
        .title = "Pressures in the chambers of a damper",
        .where = "figure 15",
        .says = "The pressure in the compression chamber is very low while the damper extends, and "
                "close to that in the rebound chamber while it is compressed.",
        .verdict = PAPER_OWN,
        .finding = "Rear right, while it extends: at most [ba-car-pressures-bushed-extending] "
                   "times the pressure of the gas. While it is compressed the two differ by at "
                   "most [ba-car-pressures-bushed-compressing] bar. In the lean car at most "
                   "[ba-car-pressures-extending] bar, beside up to [ba-car-pressures-rebound] bar "
                   "in the other chamber, and [ba-car-pressures-compressing] bar.",
        .rows = {"ba-car-pressures"},
        .figures = {"ba-car-pressures"},
    },
    {
        .id = "ba-car-claim-order",
        .title = "Second order at the level of accelerations",
        .where = "semi-active suspension",
        .says = "Since the controller reads accelerometers, accelerations have to be of second "
                "order; the method's are.",
        .verdict = PAPER_OWN,
        .finding = "Against the trajectory of the program in minimal coordinates: orders "
                   "[ba-car-order-y:order], [ba-car-order-yaw:order] and "
                   "[ba-car-order-roll:order] of *y*, yaw and roll, and "
                   "[ba-car-order-acceleration:order] of the acceleration.",
        .rows = {"ba-car-order"},
        .figures = {"ba-car-order"},
    },
};

// ---- Chung, Hulbert

const paper_claim ch_claims[N_CH_CLAIMS] = {
    {
        .id = "ch-claim-infinity",
        .title = "Stable for every step, with a damping at infinity that is chosen",
        .where = "the coefficients",
        .says = "With the optimal coefficients the spectral radius falls from 1 to "
                "*\u03c1*_{\u221e}, which may be chosen between 0 and 1, "
                "as the step grows, and is never above 1.",
        .verdict = PAPER_HOLDS,
        .finding = "With *h\u03c9* = 3000 it is [ch-infinity-rho0.2], [ch-infinity-rho0.5], "
                   "[ch-infinity-rho0.8] and "
                   "[ch-infinity-rho0.9] for *\u03c1*_{\u221e} = 0.2, 0.5, 0.8 and 0.9: three "
                   "roots meet there, which they do slowly, with "
                   "(*h\u03c9*)^{\u22122/3}. The largest of all is [ch-stability].",
        .rows = {"ch-infinity", "ch-stability"},
        .figures = {"ch-infinity"},
    },
    {
        .id = "ch-claim-low",
        .title = "Little damping of what the step resolves",
        .where = "the comparisons",
        .says = "For the same damping at infinity, slow oscillations are damped less than by "
                "earlier methods, as that of Hilber, "
                "Hughes and Taylor.",
        .verdict = PAPER_HOLDS,
        .finding = "With *h\u03c9* = 0.5 and 0.8 at infinity the damping ratio is "
                   "[ch-low-damping-rho0.8], with HHT "
                   "[ch-low-damping-hht]; the period is closer too. (For 0.5 the two methods are "
                   "the same.)",
        .rows = {"ch-low"},
        .figures = {"ch-low"},
    },
    {
        .id = "ch-claim-order",
        .title = "Second order",
        .where = "the coefficients",
        .says = "*\u03b3* = 1/2 \u2212 *\u03b1*_{m} + *\u03b1*_{f} makes the method second-order "
                "accurate.",
        .verdict = PAPER_HOLDS,
        .finding = "Orders [ch-order-q:order] (*q*) and [ch-order-v:order] (*q*\u2032).",
        .rows = {"ch-order"},
        .figures = {"ch-order"},
    },
};

// ---- beyond

const char *const papers_beyond[N_BEYOND] = {
    "Steps that change in the index-3 form, with multipliers of second order; the papers call it "
    "further research. A projection before each step takes away what a change of *h* excites. "
    "Measured over 780 combinations of method, space, constraints, mass, force and steps "
    "(docs/method-matrix.md), of which the lowest order is 1.936.",
    "SOI2 on Lie groups, with *M*_{1} at *q*_{0} exp(*h*(1 + *D*)*v*_{0}): second order in all "
    "variables, in the same 780 combinations.",
    "The rates with which errors of the start die out, corrected: the claims jn-claim-forget and "
    "j-claim-forget above.",
    "Error control, dense output and events on top of all three methods, with multipliers as "
    "accurate as positions (docs/automatic-steps.md).",
};
