/// Templates of logic, limits, counting and noise (docs/control.md has their equations).
#include "file/template_rows.h"

static const asi_key rate_limit_keys[] = {
    TYPE,
    INPUT,
    NEEDS_POSITIVE(1, "rising", "1/s", "largest rate, positive"),
    NEEDS_POSITIVE(2, "falling", "1/s", "largest rate downwards, positive"),
    TAKES_POSITIVE(3, "tracking", "0.001", "s", "T: time in which a rest of the difference goes"),
    START,
    UNIT};
TEMPLATE(rate_limit, rate_limit_keys, "rate_limit",
         "y' = (input - y)/T between -falling and rising",
         X("", "max(-{falling}, min({rising}, ({input} - {})/{tracking}))", 1))

static const asi_key comparison_keys[] = {TYPE, INPUT, TAKES(1, "above", "0", NULL, "limit"), UNIT};
TEMPLATE(comparison, comparison_keys, "comparison", "1 where input > above, else 0",
         Y("", "{input} > {above}"))

static const asi_key both_keys[] = {TYPE,
                                    NEEDS(0, "input", NULL, "a condition: it holds unless it is 0"),
                                    NEEDS(1, "second", NULL, "another one"), UNIT};
static const asi_key not_keys[] = {
    TYPE, NEEDS(0, "input", NULL, "a condition: it holds unless it is 0"), UNIT};
TEMPLATE(and, both_keys, "and", "1 where both conditions hold, else 0",
         Y("", "({input} != 0)*({second} != 0)"))
TEMPLATE(or, both_keys, "or", "1 where one of two conditions holds, else 0",
         Y("", "max({input} != 0, {second} != 0)"))
TEMPLATE(not, not_keys, "not", "1 where a condition does not hold, else 0", Y("", "{input} == 0"))

static const asi_key latch_keys[] = {
    TYPE,
    NEEDS(0, "set", NULL, "condition that makes it 1"),
    NEEDS(1, "reset", NULL, "condition that makes it 0: the stronger one"),
    PERIOD,
    START,
    UNIT};
TEMPLATE(latch, latch_keys, "latch",
         "at samples 0 where `reset` holds, else 1 where `set` does, else as before",
         U("", "if({reset}, 0, if({set}, 1, {}))", 1, false))

static const asi_key counter_keys[] = {TYPE,
                                       NEEDS(0, "input", NULL, "a condition"),
                                       TAKES(1, "reset", "0", NULL, "condition that makes it 0"),
                                       PERIOD,
                                       START,
                                       UNIT};
TEMPLATE(counter, counter_keys, "counter", "at samples: how often a condition has begun to hold",
         U("", "if({reset}, 0, {} + ({input} != 0)*(1 - {.before}))", 1, false),
         U("before", "{input} != 0", 0, true))

static const asi_key reset_keys[] = {
    TYPE,
    INPUT,
    NEEDS(1, "reset", NULL, "condition"),
    TAKES(2, "to", "0", NULL, "value that it goes to then"),
    TAKES_POSITIVE(3, "tracking", "0.001", "s", "T: time in which it goes there"),
    START,
    UNIT};
TEMPLATE(reset_integrator, reset_keys, "reset_integrator",
         "x' = input; while the condition holds T x' = to - x",
         X("", "if({reset}, ({to} - {})/{tracking}, {input})", 1))

static const asi_key noise_keys[] = {
    TYPE,
    TAKES(0, "seed", "1", NULL, "a whole number: another one, another noise"),
    TAKES(1, "deviation", "1", NULL, "standard deviation"),
    TAKES(2, "mean", "0", NULL, "m"),
    PERIOD,
    START,
    UNIT};
TEMPLATE(noise, noise_keys, "noise",
         "at samples mean + deviation random_normal(seed, sample), held in between",
         U("", "{mean} + {deviation}*random_normal({seed}, floor((t - {offset})/{period} + 0.5))",
           1, false))

static const asi_key filtered_noise_keys[] = {
    TYPE,
    TAKES(0, "seed", "1", NULL, "a whole number: another one, another noise"),
    TAKES(1, "deviation", "1", NULL, "standard deviation of what it is at samples"),
    TAKES(2, "mean", "0", NULL, "m"),
    NEEDS_POSITIVE(3, "frequency", "Hz", "f: where its spectrum falls off"),
    PERIOD,
    START,
    UNIT};
// x at samples is x+ = a x + (1 - a) w, whose variance is (1 - a)/(1 + a) that of w.
#define LEFT "exp(-2*pi*{frequency}*{period})"
TEMPLATE(filtered_noise, filtered_noise_keys, "filtered_noise",
         "x' = 2 pi f (w - x), w held noise of such a deviation that x has the one that is wanted",
         X("", "2*pi*{frequency}*({.held} - {})", 1),
         U("held",
           "{mean} + {deviation}*sqrt((1 + " LEFT ")/(1 - " LEFT "))*random_normal({seed}, "
           "floor((t - {offset})/{period} + 0.5))",
           0, false))

static const asi_key smooth_dead_zone_keys[] = {
    TYPE,
    INPUT,
    NEEDS(1, "lower", NULL, "where it begins"),
    NEEDS(2, "upper", NULL, "where it ends"),
    NEEDS_POSITIVE(3, "width", NULL, "w: of its corners"),
    UNIT};
TEMPLATE(smooth_dead_zone, smooth_dead_zone_keys, "smooth_dead_zone",
         "p(input - upper) - p(lower - input), p(x) = (x + sqrt(x^2 + w^2))/2",
         Y("", "({input} - {upper} + sqrt(({input} - {upper})^2 + {width}^2) - {lower} + {input} - "
               "sqrt(({lower} - {input})^2 + {width}^2))/2"))

static const asi_key smooth_relay_keys[] = {TYPE,
                                            INPUT,
                                            TAKES(1, "off", "-1", NULL, "value below 0"),
                                            TAKES(2, "on", "1", NULL, "value above 0"),
                                            NEEDS_POSITIVE(3, "width", NULL, "w: of the change"),
                                            UNIT};
TEMPLATE(smooth_relay, smooth_relay_keys, "smooth_relay",
         "(on + off)/2 + (on - off)/2 tanh(input/w)",
         Y("", "({on} + {off})/2 + ({on} - {off})/2*tanh({input}/{width})"))

static const asi_key smooth_hysteresis_keys[] = {
    TYPE,
    INPUT,
    NEEDS_POSITIVE(1, "half_width", NULL,
                   "b: it switches where the input passes b upwards and -b downwards"),
    NEEDS_POSITIVE(2, "time_constant", "s", "T: of a change"),
    START,
    UNIT};
// Rests of x' = tanh(c u/b + 1.5 x) - x fold at 1.5 (1 - x^2) = 1, x = -1/sqrt(3): c = 1.5/sqrt(3) - atanh(1/sqrt(3)) puts that at u = b.
TEMPLATE(smooth_hysteresis, smooth_hysteresis_keys, "smooth_hysteresis",
         "T x' = tanh(0.20755 input/b + 1.5 x) - x: -0.86 or 0.86 at input 0, the other one once "
         "it has passed b or -b",
         X("", "(tanh(0.2075464553*{input}/{half_width} + 1.5*{}) - {})/{time_constant}", 1))
