/// Templates of blocks that switch where it is located: modes are held signals (docs/control.md has their equations).
#include "file/template_rows.h"

static const asi_key relay_keys[] = {TYPE,
                                     INPUT,
                                     TAKES(1, "above", "0", NULL, "limit"),
                                     TAKES(2, "off", "-1", NULL, "value below the limit"),
                                     TAKES(3, "on", "1", NULL, "value above it"),
                                     UNIT};
TEMPLATE(relay, relay_keys, "relay", "on where input > above, else off",
         Y("", "if({.side}, {on}, {off})"), H("side", 0), WHEN("{input} > {above}", "side", "1"),
         WHEN("{input} < {above}", "side", "0"))

static const asi_key hysteresis_keys[] = {
    TYPE,
    INPUT,
    NEEDS(1, "lower", NULL, "below it: off"),
    NEEDS(2, "upper", NULL, "above it: on"),
    TAKES(3, "off", "0", NULL, "value from a passage below `lower` on"),
    TAKES(4, "on", "1", NULL, "value from a passage above `upper` on"),
    {"start", ASI_KEY_NUMBER, AT(start[0]), .otherwise = "0",
     .text = "1: it is on at the start, if the input is between the limits"},
    UNIT};
TEMPLATE(hysteresis, hysteresis_keys, "hysteresis",
         "on from where input > upper, off from where input < lower",
         Y("", "if({.side}, {on}, {off})"), H("side", 1), WHEN("{input} > {upper}", "side", "1"),
         WHEN("{input} < {lower}", "side", "0"))

static const asi_key located_saturation_keys[] = {TYPE, INPUT,
                                                  NEEDS(1, "lower", NULL, "lower limit"),
                                                  NEEDS(2, "upper", NULL, "upper limit"), UNIT};
TEMPLATE(located_saturation, located_saturation_keys, "located_saturation",
         "y = input between its limits; steps end at its kinks",
         Y("", "if({.side} > 0.5, {upper}, if({.side} < -0.5, {lower}, {input}))"), H("side", 0),
         WHEN("{input} > {upper}", "side", "1"), WHEN("{input} < {lower}", "side", "-1"),
         WHEN("({input} <= {upper})*({input} >= {lower})", "side", "0"))

static const asi_key located_integrator_keys[] = {
    TYPE,
    INPUT,
    TAKES(1, "gain", "1", NULL, "factor"),
    TAKES(2, "lower", "-1e300", NULL, "lower limit, constant"),
    TAKES(3, "upper", "1e300", NULL, "upper limit, constant"),
    TAKES(4, "reset", "0", NULL, "condition: where it begins to hold, x = to"),
    TAKES(5, "to", "0", NULL, "value after a reset"),
    START,
    UNIT};
TEMPLATE(located_integrator, located_integrator_keys, "located_integrator",
         "x' = gain input, stays at a limit until gain input turns; x = to where `reset` begins",
         X("", "if({.side}*{gain}*{input} > 0, 0, {gain}*{input})", 1), H("side", 0),
         WHEN_BOTH("{reset}", "", "{to}", "side", "0"),
         WHEN_BOTH("({.side} < 0.5)*({} > {upper})", "", "{upper}", "side", "1"),
         WHEN_BOTH("({.side} > -0.5)*({} < {lower})", "", "{lower}", "side", "-1"),
         WHEN("({.side}*{gain}*{input} < 0)", "side", "0"))

static const asi_key backlash_keys[] = {
    TYPE,
    INPUT,
    NEEDS(1, "rate", "1/s", "the input's derivative by the time, which tells where it turns"),
    NEEDS(2, "width", NULL, "w: of the play"),
    START,
    UNIT};
// A side is taken a rounding error beyond the play, so that the one that is left is not taken again.
TEMPLATE(backlash, backlash_keys, "backlash",
         "y = input - w/2 while it is pushed up, input + w/2 while down, and stays in between",
         Y("", "if({.side} > 0.5, {input} - {width}/2, if({.side} < -0.5, {input} + {width}/2, "
               "max({input} - {width}/2, min({input} + {width}/2, {.rest}))))"),
         H("side", 0), H("rest", 1),
         WHEN("({.side} == 0)*({input} - {width}/2 > {.rest} + 1e-10*{width})*({rate} > 0)", "side",
              "1"),
         WHEN("({.side} == 0)*({input} + {width}/2 < {.rest} - 1e-10*{width})*({rate} < 0)", "side",
              "-1"),
         WHEN_BOTH("({.side} > 0.5)*({rate} < 0)", "rest", "{input} - {width}/2", "side", "0"),
         WHEN_BOTH("({.side} < -0.5)*({rate} > 0)", "rest", "{input} + {width}/2", "side", "0"))
