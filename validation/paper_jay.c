// What is measured for the papers about the SOI2 method,
//
// - Jay, Negrut, "A second order extension of the generalized-alpha method for constrained systems in mechanics", 2008;
// - Jay, "Convergence of the generalized-alpha method for constrained systems in mechanics with nonholonomic
//   constraints", 2011;
//
// how, is in paper_jay_runs.c.
#include <math.h>

#include "paper_jay.h"
#include "paper_problems.h"
#include "papers.h"

#define NO_NUMBER ((double)NAN)

// ---- Jay and Negrut

enum {
  WITH_01,
  WITH_005,
  WITH_0025,
  WITH_00125,
  WITH_000625,
  WITHOUT_01,
  WITHOUT_005,
  WITHOUT_0025,
  WITHOUT_00125,
  WITHOUT_000625,
  FREE_WITH_01,
  FREE_WITH_005,
  FREE_WITH_0025,
  FREE_WITH_00125,
  FREE_WITH_000625,
  FREE_WITHOUT_01,
  FREE_WITHOUT_005,
  FREE_WITHOUT_0025,
  FREE_WITHOUT_00125,
  FREE_WITHOUT_000625,
  MASS_00125,
  MASS_000625,
  PLAIN_0025,
  PLAIN_00125,
  PLAIN_000625,
  IMPLICIT_0025,
  IMPLICIT_00125,
  IMPLICIT_000625,
  HHT_0025,
  HHT_00125,
  HHT_000625,
  FORGET_09,
  N_JN_RUNS,
};

// clang-format off
#define ALTERNATING_ON(make, length, correct) \
  jay_errors, \
  &(const jay_setting){.problem = (make), .step = (length), .alternating = true, \
                   .corrections = (correct)}
#define ALTERNATING(length, correct) ALTERNATING_ON(exponential_problem, length, correct)
#define FREE(length, correct) \
  ALTERNATING_ON(exponential_nonholonomic_problem, length, correct)
#define LARGEST(h, start, alpha) \
  jay_largest, \
  &(const jay_setting){.problem = exponential_problem, .step = (h), .corrections = true, \
                   .first = (start), .hht = (alpha)}
#define MASS(h) \
  jay_errors, \
  &(const jay_setting){.problem = exponential_problem, .step = (h), .corrections = true, \
                   .reevaluate = true}
// clang-format on

static const paper_run jn_runs[N_JN_RUNS] = {
    [WITH_01] = {ALTERNATING(0.1, true), PAPER_NONE},
    [WITH_005] = {ALTERNATING(0.05, true), WITH_01},
    [WITH_0025] = {ALTERNATING(0.025, true), WITH_005},
    [WITH_00125] = {ALTERNATING(0.0125, true), WITH_0025},
    [WITH_000625] = {ALTERNATING(0.00625, true), WITH_00125},
    [WITHOUT_01] = {ALTERNATING(0.1, false), PAPER_NONE},
    [WITHOUT_005] = {ALTERNATING(0.05, false), WITHOUT_01},
    [WITHOUT_0025] = {ALTERNATING(0.025, false), WITHOUT_005},
    [WITHOUT_00125] = {ALTERNATING(0.0125, false), WITHOUT_0025},
    [WITHOUT_000625] = {ALTERNATING(0.00625, false), WITHOUT_00125},
    [FREE_WITH_01] = {FREE(0.1, true), PAPER_NONE},
    [FREE_WITH_005] = {FREE(0.05, true), FREE_WITH_01},
    [FREE_WITH_0025] = {FREE(0.025, true), FREE_WITH_005},
    [FREE_WITH_00125] = {FREE(0.0125, true), FREE_WITH_0025},
    [FREE_WITH_000625] = {FREE(0.00625, true), FREE_WITH_00125},
    [FREE_WITHOUT_01] = {FREE(0.1, false), PAPER_NONE},
    [FREE_WITHOUT_005] = {FREE(0.05, false), FREE_WITHOUT_01},
    [FREE_WITHOUT_0025] = {FREE(0.025, false), FREE_WITHOUT_005},
    [FREE_WITHOUT_00125] = {FREE(0.0125, false), FREE_WITHOUT_0025},
    [FREE_WITHOUT_000625] = {FREE(0.00625, false), FREE_WITHOUT_00125},
    [MASS_00125] = {MASS(0.0125), PAPER_NONE},
    [MASS_000625] = {MASS(0.00625), MASS_00125},
    [PLAIN_0025] = {LARGEST(0.025, FROM_V_DOT, 0.0), PAPER_NONE},
    [PLAIN_00125] = {LARGEST(0.0125, FROM_V_DOT, 0.0), PLAIN_0025},
    [PLAIN_000625] = {LARGEST(0.00625, FROM_V_DOT, 0.0), PLAIN_00125},
    [IMPLICIT_0025] = {LARGEST(0.025, IMPLICIT, 0.0), PAPER_NONE},
    [IMPLICIT_00125] = {LARGEST(0.0125, IMPLICIT, 0.0), IMPLICIT_0025},
    [IMPLICIT_000625] = {LARGEST(0.00625, IMPLICIT, 0.0), IMPLICIT_00125},
    [HHT_0025] = {LARGEST(0.025, FROM_V_DOT, -1.0 / 3.0), PAPER_NONE},
    [HHT_00125] = {LARGEST(0.0125, FROM_V_DOT, -1.0 / 3.0), HHT_0025},
    [HHT_000625] = {LARGEST(0.00625, FROM_V_DOT, -1.0 / 3.0), HHT_00125},
    [FORGET_09] = {jay_forgetting,
                   &(const jay_setting){.problem = exponential_problem,
                                        .step = 1e-4,
                                        .corrections = true,
                                        .rho_inf = 0.9,
                                        .from = 40,
                                        .to = 60,
                                        .output = LAMBDA},
                   PAPER_NONE},
};

// clang-format off
static const paper_row jn_rows[] = {
    // id, what, run, output, published, expected, judge
    {"jn-soi2-with-y",
     "section 8, H 0.00625, with (15) and (16): error of y",
     WITH_000625, Y, NO_NUMBER, 1.734e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-with-z",
     "section 8, H 0.00625, with (15) and (16): error of z",
     WITH_000625, Z, NO_NUMBER, 1.759e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-with-a",
     "section 8, H 0.00625, with (15) and (16): error of a",
     WITH_000625, A, NO_NUMBER, 4.507e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-with-lambda",
     "section 8, H 0.00625, with (15) and (16): error of lambda",
     WITH_000625, LAMBDA, NO_NUMBER, 4.844e-6, PAPER_SECOND_ORDER},
    {"jn-soi2-with-psi",
     "section 8, H 0.00625, with (15) and (16): error of psi",
     WITH_000625, PSI, NO_NUMBER, 1.054e-6, PAPER_SECOND_ORDER},
    {"jn-soi2-without-y",
     "section 8, H 0.00625, without (15) and (16): error of y",
     WITHOUT_000625, Y, NO_NUMBER, 1.568e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-without-z",
     "section 8, H 0.00625, without (15) and (16): error of z",
     WITHOUT_000625, Z, NO_NUMBER, 1.591e-5, PAPER_SECOND_ORDER},
    {"jn-soi2-without-a",
     "section 8, H 0.00625, without (15) and (16): error of a",
     WITHOUT_000625, A, NO_NUMBER, 5.42e-4, PAPER_WITHIN},
    {"jn-soi2-without-lambda",
     "section 8, H 0.00625, without (15) and (16): error of lambda",
     WITHOUT_000625, LAMBDA, NO_NUMBER, 5.72e-4, PAPER_WITHIN},
    {"jn-soi2-without-psi",
     "section 8, H 0.00625, without (15) and (16): error of psi",
     WITHOUT_000625, PSI, NO_NUMBER, 2.08e-5, PAPER_WITHIN},
    {"jn-free-with-y",
     "[J] (7.1), H 0.00625, with (15) and (16): error of y",
     FREE_WITH_000625, Y, NO_NUMBER, 4.5377e-5, PAPER_SECOND_ORDER},
    {"jn-free-with-z",
     "[J] (7.1), H 0.00625, with (15) and (16): error of z",
     FREE_WITH_000625, Z, NO_NUMBER, 3.8937e-4, PAPER_SECOND_ORDER},
    {"jn-free-with-a",
     "[J] (7.1), H 0.00625, with (15) and (16): error of a",
     FREE_WITH_000625, A, NO_NUMBER, 3.7636e-3, PAPER_SECOND_ORDER},
    {"jn-free-with-psi",
     "[J] (7.1), H 0.00625, with (15) and (16): error of psi",
     FREE_WITH_000625, PSI, NO_NUMBER, 5.5137e-4, PAPER_SECOND_ORDER},
    {"jn-free-without-y",
     "[J] (7.1), H 0.00625, without (15) and (16): error of y",
     FREE_WITHOUT_000625, Y, NO_NUMBER, 1.2219e-3, PAPER_WITHIN},
    {"jn-free-without-z",
     "[J] (7.1), H 0.00625, without (15) and (16): error of z",
     FREE_WITHOUT_000625, Z, NO_NUMBER, 9.3677e-3, PAPER_WITHIN},
    {"jn-free-without-a",
     "[J] (7.1), H 0.00625, without (15) and (16): error of a",
     FREE_WITHOUT_000625, A, NO_NUMBER, 9.7304e-2, PAPER_WITHIN},
    {"jn-free-without-psi",
     "[J] (7.1), H 0.00625, without (15) and (16): error of psi",
     FREE_WITHOUT_000625, PSI, NO_NUMBER, 1.3749e-2, PAPER_WITHIN},
    {"jn-offset-a",
     "section 8, H 0.00625, with (15) and (16): error of a against the acceleration at t_n",
     WITH_000625, A_AT_T, NO_NUMBER, 8.080e-3, PAPER_WITHIN},
    {"jn-mass-y",
     "section 8, h 0.00625, M_alpha evaluated again: error of y",
     MASS_000625, Y, NO_NUMBER, 5.2071e-5, PAPER_SECOND_ORDER},
    {"jn-mass-z",
     "section 8, h 0.00625, M_alpha evaluated again: error of z",
     MASS_000625, Z, NO_NUMBER, 5.2832e-5, PAPER_SECOND_ORDER},
    {"jn-mass-a",
     "section 8, h 0.00625, M_alpha evaluated again: error of a",
     MASS_000625, A, NO_NUMBER, 1.1778e-4, PAPER_SECOND_ORDER},
    {"jn-mass-lambda",
     "section 8, h 0.00625, M_alpha evaluated again: error of lambda",
     MASS_000625, LAMBDA, NO_NUMBER, 7.0005e-6, PAPER_SECOND_ORDER},
    {"jn-mass-psi",
     "section 8, h 0.00625, M_alpha evaluated again: error of psi",
     MASS_000625, PSI, NO_NUMBER, 5.4968e-6, PAPER_SECOND_ORDER},
    {"jn-start-plain-a",
     "section 8, h 0.00625, first a = a_0: largest error of a",
     PLAIN_000625, A, NO_NUMBER, 4.7038e-3, PAPER_WITHIN},
    {"jn-start-plain-lambda",
     "section 8, h 0.00625, first a = a_0: largest error of lambda",
     PLAIN_000625, LAMBDA, NO_NUMBER, 2.5280e-3, PAPER_WITHIN},
    {"jn-start-plain-psi",
     "section 8, h 0.00625, first a = a_0: largest error of psi",
     PLAIN_000625, PSI, NO_NUMBER, 2.0232e-3, PAPER_WITHIN},
    {"jn-start-implicit-a",
     "section 8, h 0.00625, first a from (10): largest error of a",
     IMPLICIT_000625, A, NO_NUMBER, 1.5721e-4, PAPER_SECOND_ORDER},
    {"jn-start-implicit-lambda",
     "section 8, h 0.00625, first a from (10): largest error of lambda",
     IMPLICIT_000625, LAMBDA, NO_NUMBER, 1.8293e-4, PAPER_SECOND_ORDER},
    {"jn-start-implicit-psi",
     "section 8, h 0.00625, first a from (10): largest error of psi",
     IMPLICIT_000625, PSI, NO_NUMBER, 5.5879e-5, PAPER_SECOND_ORDER},
    {"jn-start-hht-a",
     "section 8, h 0.00625, HHT -1/3 (alpha_m 0), first a = a_0: largest error of a",
     HHT_000625, A, NO_NUMBER, 3.3902e-3, PAPER_WITHIN},
    {"jn-start-hht-lambda",
     "section 8, h 0.00625, HHT -1/3 (alpha_m 0), first a = a_0: largest error of lambda",
     HHT_000625, LAMBDA, NO_NUMBER, 9.1712e-4, PAPER_WITHIN},
    {"jn-start-hht-psi",
     "section 8, h 0.00625, HHT -1/3 (alpha_m 0), first a = a_0: largest error of psi",
     HHT_000625, PSI, NO_NUMBER, 9.0113e-4, PAPER_WITHIN},
    {"jn-forget-lambda-rho0.9",
     "section 8, rho_inf 0.9: factor per step of what the first a adds to lambda",
     FORGET_09, 0, NO_NUMBER, 0.90047, PAPER_WITHIN},
};
// clang-format on

static const paper_figure jn_figures[] = {
    {
        .name = "jn-soi2",
        .title = "SOI2 with steps that alternate between *H*/3 and 2*H*/3",
        .note = "After Jay, Negrut 2008, figures 1 and 2: errors at *t* = 1, "
                "*\u03c1*_{\u221e} = 0.2",
        .x_label = "length *H* of two steps",
        .step = 0.00625,
        .same_scale = true,
        .n_curves = 5,
        .label = {"*y*", "*z*", "*a*", "*\u03bb*", "*\u03c8*"},
        .n_panels = 2,
        .panel =
            {
                {"With the corrections (15) and (16)",
                 "error",
                 {{WITH_000625, Y},
                  {WITH_000625, Z},
                  {WITH_000625, A},
                  {WITH_000625, LAMBDA},
                  {WITH_000625, PSI}}},
                {"Without them",
                 "error",
                 {{WITHOUT_000625, Y},
                  {WITHOUT_000625, Z},
                  {WITHOUT_000625, A},
                  {WITHOUT_000625, LAMBDA},
                  {WITHOUT_000625, PSI}}},
            },
    },
    {
        .name = "jn-free",
        .title = "The same steps where the velocity has a freedom",
        .note = "Not in Jay, Negrut 2008: their method on problem (7.1) of Jay 2011, *H*/3 and "
                "2*H*/3; errors at "
                "*t* = 1, *\u03c1*_{\u221e} = 0.2",
        .x_label = "length *H* of two steps",
        .step = 0.00625,
        .same_scale = true,
        .n_curves = 4,
        .label = {"*y*", "*z*", "*a*", "*\u03c8*"},
        .n_panels = 2,
        .panel =
            {
                {"With the corrections (15) and (16)",
                 "error",
                 {{FREE_WITH_000625, Y},
                  {FREE_WITH_000625, Z},
                  {FREE_WITH_000625, A},
                  {FREE_WITH_000625, PSI}}},
                {"Without them",
                 "error",
                 {{FREE_WITHOUT_000625, Y},
                  {FREE_WITHOUT_000625, Z},
                  {FREE_WITHOUT_000625, A},
                  {FREE_WITHOUT_000625, PSI}}},
            },
    },
    {
        .name = "jn-offset",
        .title = "What *a* approximates",
        .note =
            "After Jay, Negrut 2008, section 2, with the problem of section 8: errors at *t* = 1",
        .x_label = "length *H* of two steps",
        .step = 0.00625,
        .n_curves = 2,
        .label = {"against *y*\u2033(*t*_{n} + *\u03b1h*)", "against *y*\u2033(*t*_{n})"},
        .n_panels = 1,
        .panel = {{"Error of *a*", "error of *a*", {{WITH_000625, A}, {WITH_000625, A_AT_T}}}},
    },
    {
        .name = "jn-start",
        .title = "The first *a*: largest errors over all steps",
        .note = "After Jay, Negrut 2008, section 2.1 and theorem 1, with the problem of section 8, "
                "constant steps",
        .x_label = "step *h*",
        .step = 0.00625,
        .same_scale = true,
        .n_curves = 3,
        .label = {"*a*_{0}, *\u03c1*_{\u221e} = 0.2", "from (10), *\u03c1*_{\u221e} = 0.2",
                  "*a*_{0}, HHT (*\u03b1*_{m} = 0)"},
        .n_panels = 2,
        .panel =
            {
                {"Acceleration",
                 "largest error of *a*",
                 {{PLAIN_000625, A}, {IMPLICIT_000625, A}, {HHT_000625, A}}},
                {"Multiplier *\u03bb*",
                 "largest error of *\u03bb*",
                 {{PLAIN_000625, LAMBDA}, {IMPLICIT_000625, LAMBDA}, {HHT_000625, LAMBDA}}},
            },
    },
    {
        .name = "jn-forget",
        .title = "How fast *\u03bb* forgets an error of the first *a*",
        .note =
            "To Jay, Negrut 2008, theorem 1, with the problem of section 8: *\u03c1*_{\u221e} = "
            "0.9, *h* = 10^{\u22124}",
        .x_label = "step *n*",
        .trace = jay_trace_forgetting,
        .smooth = true,
        .n_curves = 3,
        .label = {"difference of two runs",
                  "*r*^{n}, *r* = |*\u03b1*_{m}/(1 \u2212 *\u03b1*_{m})| = 0.727",
                  "*\u03c1*_{\u221e}^{n}"},
        .n_panels = 1,
        .panel = {{"Difference of *\u03bb* over its first value",
                   "decades",
                   {{FORGET_09, MEASURED}, {FORGET_09, BY_ALPHA_M}, {FORGET_09, BY_ALPHA_F}}}},
    },
};

const paper paper_jn = {
    .name = "jn",
    .subject = "The SOI2 method: generalized-alpha for a mass that depends on time and position, "
               "holonomic and "
               "nonholonomic constraints, forces that depend on the multipliers in any way, and "
               "steps that change. The paper shows figures and prints no numbers.",
    .claims = jn_claims,
    .n_claims = N_JN_CLAIMS,
    .citation = "Jay, Negrut 2008",
    .title = "A second order extension of the generalized-alpha method for constrained systems in "
             "mechanics",
    .rows = jn_rows,
    .n_rows = sizeof jn_rows / sizeof jn_rows[0],
    .runs = jn_runs,
    .n_runs = N_JN_RUNS,
    .figures = jn_figures,
    .n_figures = sizeof jn_figures / sizeof jn_figures[0],
};

// ---- Jay

enum {
  J71_01,
  J71_005,
  J71_0025,
  J71_00125,
  J71_000625,
  DISK_00125,
  DISK_000625,
  DISK_0003125,
  DISK_00015625,
  DISK_000078125,
  DISK_PRINTED,
  FIRST_PLAIN_00125,
  FIRST_PLAIN_000625,
  FIRST_SHIFTED_00125,
  FIRST_SHIFTED_000625,
  FORGET_02,
  N_J_RUNS,
};

// clang-format off
#define CONSTANT(measure, make, h) \
  measure, &(const jay_setting){.problem = (make), .step = (h), .corrections = true}
#define J71(h) CONSTANT(jay_errors, exponential_nonholonomic_problem, h)
#define FIRST_TEN(h, start) \
  jay_largest, \
  &(const jay_setting){.problem = exponential_nonholonomic_problem, .step = (h), .corrections = true, \
                   .first = (start), .t_end = 10.0 * (h)}
#define DISK(h) CONSTANT(jay_disk, disk_problem, h)
// clang-format on

static const paper_run j_runs[N_J_RUNS] = {
    [J71_01] = {J71(0.1), PAPER_NONE},
    [J71_005] = {J71(0.05), J71_01},
    [J71_0025] = {J71(0.025), J71_005},
    [J71_00125] = {J71(0.0125), J71_0025},
    [J71_000625] = {J71(0.00625), J71_00125},
    [DISK_00125] = {DISK(0.0125), PAPER_NONE},
    [DISK_000625] = {DISK(0.00625), DISK_00125},
    [DISK_0003125] = {DISK(0.003125), DISK_000625},
    [DISK_00015625] = {DISK(0.0015625), DISK_0003125},
    [DISK_000078125] = {DISK(0.00078125), DISK_00015625},
    [DISK_PRINTED] = {CONSTANT(jay_disk, disk_printed_problem, 0.003125), PAPER_NONE},
    [FIRST_PLAIN_00125] = {FIRST_TEN(0.0125, FROM_V_DOT), PAPER_NONE},
    [FIRST_PLAIN_000625] = {FIRST_TEN(0.00625, FROM_V_DOT), FIRST_PLAIN_00125},
    [FIRST_SHIFTED_00125] = {FIRST_TEN(0.0125, SHIFTED), PAPER_NONE},
    [FIRST_SHIFTED_000625] = {FIRST_TEN(0.00625, SHIFTED), FIRST_SHIFTED_00125},
    [FORGET_02] = {jay_forgetting,
                   &(const jay_setting){.problem = exponential_nonholonomic_problem,
                                        .step = 1e-5,
                                        .corrections = true,
                                        .from = 2,
                                        .to = 5,
                                        .output = A},
                   PAPER_NONE},
};

// clang-format off
static const paper_row j_rows[] = {
    // id, what, run, output, published, expected, judge
    {"j-71-y",
     "(7.1), h 0.00625: error of y",
     J71_000625, Y, NO_NUMBER, 1.488e-4, PAPER_SECOND_ORDER},
    {"j-71-z",
     "(7.1), h 0.00625: error of z",
     J71_000625, Z, NO_NUMBER, 1.281e-3, PAPER_SECOND_ORDER},
    {"j-71-a",
     "(7.1), h 0.00625: error of a",
     J71_000625, A, NO_NUMBER, 1.19e-2, PAPER_SECOND_ORDER},
    {"j-71-psi",
     "(7.1), h 0.00625: error of psi",
     J71_000625, PSI, NO_NUMBER, 1.719e-3, PAPER_SECOND_ORDER},
    {"j-disk-y-h0.0125",
     "rolling disk, h 0.0125: error of y",
     DISK_00125, Y, NO_NUMBER, 5.64e-3, PAPER_WITHIN},
    {"j-disk-y-h0.00625",
     "rolling disk, h 0.00625: error of y",
     DISK_000625, Y, NO_NUMBER, 8.27e-4, PAPER_SECOND_ORDER},
    {"j-disk-y-h0.003125",
     "rolling disk, h 0.003125: error of y",
     DISK_0003125, Y, NO_NUMBER, 1.342e-4, PAPER_SECOND_ORDER},
    {"j-disk-z-h0.0125",
     "rolling disk, h 0.0125: error of z",
     DISK_00125, Z, NO_NUMBER, 7.2201e-3, PAPER_WITHIN},
    {"j-disk-z-h0.00625",
     "rolling disk, h 0.00625: error of z",
     DISK_000625, Z, NO_NUMBER, 1.010e-3, PAPER_SECOND_ORDER},
    {"j-disk-z-h0.003125",
     "rolling disk, h 0.003125: error of z",
     DISK_0003125, Z, NO_NUMBER, 1.5252e-4, PAPER_SECOND_ORDER},
    {"j-disk-psi-h0.0125",
     "rolling disk, h 0.0125: error of psi",
     DISK_00125, PSI, NO_NUMBER, 0.11081, PAPER_WITHIN},
    {"j-disk-psi-h0.00625",
     "rolling disk, h 0.00625: error of psi",
     DISK_000625, PSI, NO_NUMBER, 1.6037e-2, PAPER_SECOND_ORDER},
    {"j-disk-psi-h0.003125",
     "rolling disk, h 0.003125: error of psi",
     DISK_0003125, PSI, NO_NUMBER, 2.5451e-3, PAPER_SECOND_ORDER},
    {"j-disk-energy",
     "rolling disk, h 0.003125: change of energy",
     DISK_0003125, ENERGY, NO_NUMBER, 4.1579e-4, PAPER_WITHIN},
    {"j-disk-printed-energy",
     "rolling disk as printed, h 0.003125: change of energy",
     DISK_PRINTED, ENERGY, NO_NUMBER, 4.434e-3, PAPER_WITHIN},
    {"j-start-plain-a",
     "(7.1), h 0.00625, first ten steps, first a = a_0: largest error of a",
     FIRST_PLAIN_000625, A, NO_NUMBER, 8.8464e-3, PAPER_WITHIN},
    {"j-start-plain-psi",
     "(7.1), h 0.00625, first ten steps, first a = a_0: largest error of psi",
     FIRST_PLAIN_000625, PSI, NO_NUMBER, 2.1371e-3, PAPER_WITHIN},
    {"j-start-shifted-a",
     "(7.1), h 0.00625, first ten steps, first a = a_0 + D h a_0': largest error of a",
     FIRST_SHIFTED_000625, A, NO_NUMBER, 4.0429e-4, PAPER_SECOND_ORDER},
    {"j-start-shifted-psi",
     "(7.1), h 0.00625, first ten steps, first a = a_0 + D h a_0': largest error of psi",
     FIRST_SHIFTED_000625, PSI, NO_NUMBER, 1.4059e-4, PAPER_SECOND_ORDER},
    {"j-forget-a",
     "(7.1): factor per step of what the first a adds to a",
     FORGET_02, 0, NO_NUMBER, 0.32617, PAPER_WITHIN},
};
// clang-format on

static const paper_figure j_figures[] = {
    {
        .name = "j-71",
        .title = "A nonholonomic constraint: test problem (7.1)",
        .note = "After Jay 2011, figure 7.1: *\u03c1*_{\u221e} = 0.2",
        .x_label = "step *h*",
        .step = 0.00625,
        .n_curves = 4,
        .label = {"*y*", "*z*", "*a*", "*\u03c8*"},
        .n_panels = 1,
        .panel = {{"Errors at *t* = 1",
                   "error",
                   {{J71_000625, Y}, {J71_000625, Z}, {J71_000625, A}, {J71_000625, PSI}}}},
    },
    {
        .name = "j-disk",
        .title = "Two nonholonomic constraints: rolling disk",
        .note = "After Jay 2011, figure 7.2, fourth force completed: "
                "*\u03c1*_{\u221e} = 0.2",
        .x_label = "step *h*",
        .step = 0.00078125,
        .n_curves = 3,
        .label = {"*y*", "*z*", "*\u03c8*"},
        .n_panels = 1,
        .panel = {{"Errors at *t* = 10",
                   "error",
                   {{DISK_000078125, Y}, {DISK_000078125, Z}, {DISK_000078125, PSI}}}},
    },
    {
        .name = "j-disk-printed",
        .title = "Rolling disk: energy with the fourth force as printed and completed",
        .note = "To Jay 2011, equations (7.2): *h* = 0.003125, *\u03c1*_{\u221e} = 0.2",
        .x_label = "time *t*",
        .trace = jay_trace_energy,
        .smooth = true,
        .n_curves = 2,
        .label = {"as printed", "completed"},
        .n_panels = 1,
        .panel = {{"Energy less its first value",
                   "change of energy",
                   {{DISK_PRINTED, 0}, {DISK_0003125, 0}}}},
    },
    {
        .name = "j-forget",
        .title = "How fast *a* forgets an error of its first value",
        .note = "To Jay 2011, theorem 6.1, with problem (7.1): *\u03c1*_{\u221e} = 0.2, *h* = "
                "10^{\u22125}",
        .x_label = "step *n*",
        .trace = jay_trace_forgetting,
        .smooth = true,
        .n_curves = 3,
        .label = {"difference of two runs", "*r*_{\u03b3}^{n}, *r*_{\u03b3} = 1/7",
                  "|*\u03b1*_{m}/(1 \u2212 *\u03b1*_{m})|^{n} = 3^{\u2212n}"},
        .n_panels = 1,
        .panel = {{"Difference of *a* over its first value",
                   "decades",
                   {{FORGET_02, MEASURED}, {FORGET_02, BY_GAMMA}, {FORGET_02, BY_ALPHA_M}}}},
    },
};

const paper paper_j = {
    .name = "j",
    .subject = "Proof that the method of Jay and Negrut converges with second order for "
               "nonholonomic constraints, "
               "and how it forgets an inaccurate first *a*. The paper shows figures and prints no "
               "numbers.",
    .claims = j_claims,
    .n_claims = N_J_CLAIMS,
    .citation = "Jay 2011",
    .title =
        "Convergence of the generalized-alpha method for constrained systems in mechanics with "
        "nonholonomic constraints",
    .rows = j_rows,
    .n_rows = sizeof j_rows / sizeof j_rows[0],
    .runs = j_runs,
    .n_runs = N_J_RUNS,
    .figures = j_figures,
    .n_figures = sizeof j_figures / sizeof j_figures[0],
};
