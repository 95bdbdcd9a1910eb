/// Templates: blocks that are made of signals, states and samples (docs/control.md has their equations). Each is a list of keys
/// and what it expands to, texts in which {key} stands for what was given, {} for the block's own signal and {.x} for another
/// of its signals (control/expand.h). What `otherwise` says of a key that is a formula holds if it is not given.
#include "file/templates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "control/expand.h"
#include "file/blocks.h"
#include "file/kinds.h"
#include "file/template_rows.h"
#include "model/scope.h"

const char *const asi_axis_letters[] = {"x", "y", "z", NULL};

static const asi_key gain_keys[] = {TYPE, INPUT, NEEDS(1, "gain", NULL, "factor"), UNIT};
static const asi_key sum_keys[] = {TYPE,
                                   INPUT,
                                   TAKES(1, "second", "0", NULL, "another one"),
                                   TAKES(2, "third", "0", NULL, "another one"),
                                   TAKES(3, "minus", "0", NULL, "one that is subtracted"),
                                   UNIT};
static const asi_key product_keys[] = {TYPE,
                                       INPUT,
                                       TAKES(1, "second", "1", NULL, "another one"),
                                       TAKES(2, "third", "1", NULL, "another one"),
                                       TAKES(3, "over", "1", NULL, "one that it is divided by"),
                                       UNIT};
static const asi_key integrator_keys[] = {TYPE, INPUT, TAKES(1, "gain", "1", NULL, "factor"), START,
                                          UNIT};
static const asi_key limited_keys[] = {
    TYPE,
    INPUT,
    TAKES(1, "gain", "1", NULL, "factor"),
    NEEDS(2, "lower", NULL, "lower limit"),
    NEEDS(3, "upper", NULL, "upper limit"),
    TAKES_POSITIVE(4, "tracking", "0.01", "s", "time in which the state comes back to a limit"),
    START,
    UNIT};
static const asi_key lowpass_keys[] = {TYPE, INPUT, NEEDS_POSITIVE(1, "time_constant", "s", "T"),
                                       START, UNIT};
static const asi_key derivative_keys[] = {TYPE, INPUT, NEEDS_POSITIVE(1, "time_constant", "s", "T"),
                                          START, UNIT};
static const asi_key second_order_keys[] = {TYPE,
                                            INPUT,
                                            NEEDS_POSITIVE(1, "frequency", "Hz", "f"),
                                            TAKES(2, "damping", "0.7", NULL, "damping ratio d"),
                                            START,
                                            UNIT};
static const asi_key notch_keys[] = {TYPE,
                                     INPUT,
                                     NEEDS_POSITIVE(1, "frequency", "Hz", "f"),
                                     TAKES(2, "damping", "0.7", NULL, "damping ratio d: its width"),
                                     TAKES(3, "depth", "0", NULL, "gain at f: 0 to 1"),
                                     UNIT};
static const asi_key lead_lag_keys[] = {
    TYPE,
    INPUT,
    TAKES(1, "gain", "1", NULL, "K"),
    NEEDS(2, "lead", "s", "time constant of the numerator"),
    NEEDS_POSITIVE(3, "lag", "s", "time constant of the denominator"),
    START,
    UNIT};
static const asi_key pid_keys[] = {
    TYPE,
    NEEDS(0, "setpoint", NULL, "r: what is wanted"),
    NEEDS(1, "measured", NULL, "z: what is there"),
    NEEDS(2, "kp", NULL, "proportional gain"),
    TAKES(3, "ki", "0", NULL, "integral gain"),
    TAKES(4, "kd", "0", NULL, "derivative gain"),
    TAKES_POSITIVE(5, "filter", "0.01", "s", "time constant of the derivative"),
    TAKES(6, "setpoint_weight", "1", NULL, "b: of the set point in the proportional part"),
    TAKES(7, "derivative_weight", "0", NULL, "c: of the set point in the derivative"),
    TAKES(8, "lower", "-1e300", NULL, "lower limit"),
    TAKES(9, "upper", "1e300", NULL, "upper limit"),
    TAKES_POSITIVE(10, "tracking", "0.1", "s", "time in which the integral follows the limits"),
    START,
    UNIT};
static const asi_key saturation_keys[] = {TYPE, INPUT, NEEDS(1, "lower", NULL, "lower limit"),
                                          NEEDS(2, "upper", NULL, "upper limit"), UNIT};
static const asi_key dead_zone_keys[] = {TYPE, INPUT, NEEDS(1, "lower", NULL, "where it begins"),
                                         NEEDS(2, "upper", NULL, "where it ends"), UNIT};
static const asi_key lookup_keys[] = {TYPE, INPUT, TABLE, UNIT};
static const asi_key lookup_two_keys[] = {
    TYPE, NEEDS(0, "x", NULL, "the first variable, a formula as that of a signal"),
    NEEDS(1, "y", NULL, "the second variable"), TABLE, UNIT};
static const asi_key switch_keys[] = {TYPE, NEEDS(0, "condition", NULL, "e.g. `t > 1`"),
                                      NEEDS(1, "input", NULL, "where it holds"),
                                      NEEDS(2, "otherwise", NULL, "where it does not"), UNIT};
static const asi_key delay_keys[] = {TYPE, INPUT, NEEDS_POSITIVE(1, "time", "s", "T"), UNIT};
static const asi_key step_keys[] = {TYPE, TAKES(0, "time", "0", "s", "when"),
                                    TAKES(1, "before", "0", NULL, "value before it"),
                                    TAKES(2, "after", "1", NULL, "value from it on"), UNIT};
static const asi_key ramp_keys[] = {TYPE,
                                    TAKES(0, "time", "0", "s", "when it begins"),
                                    NEEDS(1, "slope", "1/s", "per second"),
                                    TAKES(2, "until", "1e300", "s", "when it ends"),
                                    TAKES(3, "before", "0", NULL, "value before it"),
                                    UNIT};
static const asi_key sine_keys[] = {TYPE,
                                    TAKES(0, "amplitude", "1", NULL, "A"),
                                    NEEDS(1, "frequency", "Hz", "f"),
                                    TAKES(2, "phase", "0", "rad", "p"),
                                    TAKES(3, "mean", "0", NULL, "m"),
                                    UNIT};
static const asi_key chirp_keys[] = {TYPE,
                                     TAKES(0, "amplitude", "1", NULL, "A"),
                                     NEEDS(1, "from", "Hz", "frequency at t = 0"),
                                     NEEDS(2, "to", "Hz", "frequency at t = `time`"),
                                     NEEDS_POSITIVE(3, "time", "s", "T"),
                                     UNIT};
static const asi_key pulse_keys[] = {TYPE,
                                     TAKES(0, "amplitude", "1", NULL, "height"),
                                     NEEDS_POSITIVE(1, "every", "s", "time from one to the next"),
                                     TAKES(2, "width", "0.5", NULL, "part of that time: 0 to 1"),
                                     TAKES(3, "time", "0", "s", "when the first one begins"),
                                     UNIT};
static const asi_key table_keys[] = {TYPE, TABLE, UNIT};
static const asi_key hold_keys[] = {TYPE, INPUT, PERIOD, START, UNIT};
static const asi_key quantiser_keys[] = {
    TYPE, INPUT, NEEDS_POSITIVE(1, "resolution", NULL, "step"), PERIOD, START, UNIT};
static const asi_key discrete_pid_keys[] = {TYPE,
                                            NEEDS(0, "setpoint", NULL, "r: what is wanted"),
                                            NEEDS(1, "measured", NULL, "z: what is there"),
                                            NEEDS(2, "kp", NULL, "proportional gain"),
                                            TAKES(3, "ki", "0", NULL, "integral gain"),
                                            TAKES(4, "kd", "0", NULL, "derivative gain"),
                                            TAKES(5, "lower", "-1e300", NULL, "lower limit"),
                                            TAKES(6, "upper", "1e300", NULL, "upper limit"),
                                            PERIOD,
                                            START,
                                            UNIT};
static const asi_key motor_keys[] = {
    TYPE,
    NEEDS(0, "voltage", "V", "V"),
    NEEDS(1, "speed", "rad/s", "w of what it drives, e.g. `joints.NAME.angle_rate` of a hinge"),
    NEEDS_POSITIVE(2, "resistance", "ohm", "R"),
    NEEDS_POSITIVE(3, "inductance", "H", "L"),
    NEEDS(4, "constant", "N m/A", "k: torque by current, and voltage by speed"),
    TAKES(5, "gear", "1", NULL, "n: turns of the motor for one of what it drives"),
    {"inertia", ASI_KEY_FORMULA, AT(value[6]), .otherwise = "0", .with = "acceleration",
     .unit = "kg m^2", .text = "J: of the rotor; it acts as n^2 J on what is driven"},
    TAKES(7, "acceleration", "0", "rad/s^2",
          "w', e.g. `joints.NAME.angle_acceleration` of a hinge"),
    START,
    UNIT};

// ---- what they are ----------------------------------------------------------------------------------

void asi_template_prepare(void *out) {
  template_thing *thing = out;
  thing->period = (double)NAN;
}

TEMPLATE(gain, gain_keys, "gain", "y = gain input", Y("", "{gain}*{input}"))
TEMPLATE(sum, sum_keys, "sum", "y = input + second + third - minus",
         Y("", "{input} + {second} + {third} - {minus}"))
TEMPLATE(product, product_keys, "product", "y = input second third/over",
         Y("", "{input}*{second}*{third}/{over}"))
TEMPLATE(integrator, integrator_keys, "integrator", "x' = gain input", X("", "{gain}*{input}", 1))
TEMPLATE(limited, limited_keys, "limited_integrator",
         "x' = gain input - (x - y)/tracking, y = x between its limits",
         Y("", "max({lower}, min({upper}, {.state}))"),
         X("state", "{gain}*{input} - ({.state} - {})/{tracking}", 1))
TEMPLATE(lowpass, lowpass_keys, "lowpass", "T x' = input - x",
         X("", "({input} - {})/{time_constant}", 1))
TEMPLATE(derivative, derivative_keys, "derivative",
         "y = (input - x)/T, T x' = input - x: s/(1 + T s)",
         Y("", "({input} - {.state})/{time_constant}"),
         X("state", "({input} - {.state})/{time_constant}", 1))
TEMPLATE(second_order, second_order_keys, "second_order",
         "x'' = w^2 (input - x) - 2 d w x', w = 2 pi f", X("", "{.rate}", 1),
         X("rate", "(2*pi*{frequency})^2*({input} - {}) - 4*pi*{damping}*{frequency}*{.rate}",
           false))
TEMPLATE(notch, notch_keys, "notch",
         "(s^2 + 2 depth d w s + w^2)/(s^2 + 2 d w s + w^2), w = 2 pi f",
         Y("", "{input} - 4*pi*{damping}*{frequency}*(1 - {depth})*{.rate}"),
         X("state", "{.rate}", false),
         X("rate", "{input} - (2*pi*{frequency})^2*{.state} - 4*pi*{damping}*{frequency}*{.rate}",
           false))
TEMPLATE(lead_lag, lead_lag_keys, "lead_lag", "gain (1 + lead s)/(1 + lag s)",
         Y("", "{gain}*({.state} + {lead}*({input} - {.state})/{lag})"),
         X("state", "({input} - {.state})/{lag}", 1))
TEMPLATE(pid, pid_keys, "pid",
         "kp (b r - z) + I + kd (c r - z)' within its limits, I' = ki (r - z) + (y - raw)/tracking",
         Y("", "max({lower}, min({upper}, {.raw}))"),
         Y("raw", "{kp}*({setpoint_weight}*{setpoint} - {measured}) + {.integral} + "
                  "{kd}*({derivative_weight}*{setpoint} - {measured} - {.filtered})/{filter}"),
         X("integral", "{ki}*({setpoint} - {measured}) + ({} - {.raw})/{tracking}", 1),
         X("filtered", "({derivative_weight}*{setpoint} - {measured} - {.filtered})/{filter}",
           false))
TEMPLATE(saturation, saturation_keys, "saturation", "y = input between its limits, with kinks",
         Y("", "max({lower}, min({upper}, {input}))"))
TEMPLATE(smooth, saturation_keys, "smooth_saturation",
         "y = m + a tanh((input - m)/a), m the middle of the limits, a half their distance",
         Y("", "({lower} + {upper})/2 + ({upper} - {lower})/2*tanh((2*{input} - {lower} - "
               "{upper})/({upper} - {lower}))"))
TEMPLATE(dead_zone, dead_zone_keys, "dead_zone", "y = input beyond lower and upper, 0 in between",
         Y("", "{input} - max({lower}, min({upper}, {input}))"))
TEMPLATE(lookup, lookup_keys, "lookup", "y = table(input)", Y("", "{!table}({input})"))
TEMPLATE(lookup_two, lookup_two_keys, "lookup_two", "y = table(x, y), a table of a grid",
         Y("", "{!table}({x}, {y})"))
TEMPLATE(switch, switch_keys, "switch", "y = input where the condition holds, otherwise the other",
         Y("", "if({condition}, {input}, {otherwise})"))
TEMPLATE(delay, delay_keys, "delay", "a delay by Pade's approximation of second order",
         Y("", "{input} - 12/{time}*{.rate}"), X("state", "{.rate}", false),
         X("rate", "{input} - 6/{time}*{.rate} - 12/({time}*{time})*{.state}", false))
TEMPLATE(step, step_keys, "step", "a step", Y("", "if(t >= {time}, {after}, {before})"))
TEMPLATE(ramp, ramp_keys, "ramp", "a ramp",
         Y("", "{before} + {slope}*max(0, min(t, {until}) - {time})"))
TEMPLATE(sine, sine_keys, "sine", "m + A sin(2 pi f t + p)",
         Y("", "{mean} + {amplitude}*sin(2*pi*{frequency}*t + {phase})"))
TEMPLATE(chirp, chirp_keys, "chirp", "A sin(2 pi (from t + (to - from) t^2/(2 T)))",
         Y("", "{amplitude}*sin(2*pi*({from}*t + ({to} - {from})*t*t/(2*{time})))"))
TEMPLATE(pulse, pulse_keys, "pulse", "pulses: the amplitude for a part of the time",
         Y("", "if((t >= {time})*(mod(t - {time}, {every}) < {width}*{every}), {amplitude}, 0)"))
TEMPLATE(table, table_keys, "table", "a table over the time", Y("", "{!table}(t)"))
TEMPLATE(hold, hold_keys, "sample_and_hold", "its input at samples, held in between",
         U("", "{input}", 1, false))
TEMPLATE(quantiser, quantiser_keys, "quantiser", "its input at samples, rounded to whole steps",
         U("", "{resolution}*floor({input}/{resolution} + 0.5)", 1, false))
TEMPLATE(discrete_pid, discrete_pid_keys, "discrete_pid",
         "at samples, e = r - z: kp e + I + ki period e + kd (e - e_before)/period within its "
         "limits; I grows by ki period e as far as the limits allow",
         U("", "max({lower}, min({upper}, {.raw}))", false, false),
         U("raw",
           "{kp}*({setpoint} - {measured}) + {.integral} + {ki}*{period}*({setpoint} - "
           "{measured}) + {kd}*({setpoint} - {measured} - {.before})/{period}",
           false, false),
         U("integral",
           "{.integral} + {ki}*{period}*({setpoint} - {measured}) + max({lower}, min({upper}, "
           "{.raw})) - {.raw}",
           1, true),
         U("before", "{setpoint} - {measured}", false, true))
TEMPLATE(motor, motor_keys, "dc_motor", "y = n k i - n^2 J w', L i' = V - R i - n k w",
         Y("", "{gear}*{constant}*{.current} - {gear}^2*{inertia}*{acceleration}"),
         X("current",
           "({voltage} - {resistance}*{.current} - {gear}*{constant}*{speed})/{inductance}", 1))

static const asi_kind *const kinds[] = {
    &asi_signal_kind,
    &asi_state_kind,
    &asi_sampled_kind,
    &asi_held_kind,
    &asi_input_kind,
    &asi_linear_kind,
    &asi_transfer_kind,
    &asi_own_template_kind,
    &asi_plugin_block_kind,
    &asi_butterworth_kind,
    &asi_accelerometer_kind,
    &asi_gyro_kind,
    &asi_distance_sensor_kind,
    &asi_encoder_kind,
    &asi_force_sensor_kind,
    &asi_gain_template.kind,
    &asi_sum_template.kind,
    &asi_product_template.kind,
    &asi_integrator_template.kind,
    &asi_limited_template.kind,
    &asi_lowpass_template.kind,
    &asi_second_order_template.kind,
    &asi_derivative_template.kind,
    &asi_notch_template.kind,
    &asi_lead_lag_template.kind,
    &asi_pid_template.kind,
    &asi_saturation_template.kind,
    &asi_smooth_template.kind,
    &asi_dead_zone_template.kind,
    &asi_lookup_template.kind,
    &asi_lookup_two_template.kind,
    &asi_switch_template.kind,
    &asi_delay_template.kind,
    &asi_step_template.kind,
    &asi_ramp_template.kind,
    &asi_sine_template.kind,
    &asi_chirp_template.kind,
    &asi_pulse_template.kind,
    &asi_table_template.kind,
    &asi_hold_template.kind,
    &asi_quantiser_template.kind,
    &asi_discrete_pid_template.kind,
    &asi_motor_template.kind,
    &asi_rate_limit_template.kind,
    &asi_comparison_template.kind,
    &asi_and_template.kind,
    &asi_or_template.kind,
    &asi_not_template.kind,
    &asi_latch_template.kind,
    &asi_counter_template.kind,
    &asi_reset_integrator_template.kind,
    &asi_noise_template.kind,
    &asi_filtered_noise_template.kind,
    &asi_smooth_dead_zone_template.kind,
    &asi_smooth_relay_template.kind,
    &asi_smooth_hysteresis_template.kind,
    &asi_relay_template.kind,
    &asi_hysteresis_template.kind,
    &asi_located_saturation_template.kind,
    &asi_located_integrator_template.kind,
    &asi_backlash_template.kind,
    &asi_force_actuator_template.kind,
    &asi_cylinder_template.kind,
    &asi_damper_template.kind,
    &asi_inverse_template.kind,
};
const asi_section asi_block_section = {"block", ASI_SORT_BLOCK, kinds, ASI_COUNT(kinds), false};

const char *asi_template_output(const asi_kind *kind, int i) {
  if (kind->add != asi_template_add || i >= MOST_ITEMS) return NULL;
  const template *of = (const template *)(const void *)kind;
  return of->item[i].formula ? of->item[i].output : NULL;
}

// ---- adding -----------------------------------------------------------------------------------------

/// What keys stand for in a template's texts.
typedef struct filling {
  asi_reader *r;
  const asi_table *table;
  const template_thing *thing;
  char number[32];
} filling;

static const char *look_up(const char *key, void *user) {
  filling *f = user;
  const template_thing *thing = f->thing;
  if (strcmp(key, "table") == 0) return thing->table;
  if (strcmp(key, "period") == 0 || strcmp(key, "offset") == 0) {
    snprintf(f->number, sizeof f->number, "%.17g", key[0] == 'p' ? thing->period : thing->offset);
    return f->number;
  }
  const asi_key *row = asi_table_find(f->table, key);
  if (row == NULL || row->type != ASI_KEY_FORMULA) return NULL;
  const char *const *given = (const char *const *)(const void *)((const char *)thing + row->offset);
  return *given ? *given : row->otherwise;
}

/// The text of an item, in the scratch arena; NULL: memory has run out, or it is a fault of the template.
static const char *fill(filling *f, const char *name, const char *text) {
  const int length = asi_expand(text, name, look_up, f, NULL, 0, NULL);
  char *out = length < 0 ? NULL : asi_arena_take(&f->r->scratch, (size_t)length + 1);
  if (out) asi_expand(text, name, look_up, f, out, (size_t)length + 1, NULL);
  return out;
}

/// Formulas that were given are compiled by themselves first, so that what is wrong with one is told at its place.
static as_status check_given(asi_reader *r, const char *name, as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < r->n_formulas && status == AS_OK; ++i)
    status = asi_builder_check_block_formula(r->builder, name, r->formula[i].text, error);
  return status;
}

/// Tables that are not there, limits the wrong way round, more samples than can be.
static void check_keys(filling *f) {
  asi_reader *r = f->r;
  const template_thing *thing = f->thing;
  const asi_value *table = asi_value_get(r->thing, "table");
  const asi_names *all = &r->builder->names[ASI_SORT_TABLE];
  if (thing->table && asi_names_find(all, thing->table) < 0) {
    asi_hint hint = {.word = thing->table};
    for (int i = 0; i < r->table_names.count; ++i)
      asi_hint_try(&hint, asi_names_get(&r->table_names, i));
    if (asi_names_find(&r->table_names, thing->table) < 0)
      asi_complain(r, table, "there is no table \"%.60s\"%s", thing->table, asi_hint_text(&hint));
    r->broken = true; // of one that is there, it has been said what is wrong
  }
  const char *lower = look_up("lower", f), *upper = look_up("upper", f);
  char *end[2] = {NULL, NULL};
  const double from = lower ? strtod(lower, &end[0]) : 0.0, to = upper ? strtod(upper, &end[1]) : 0;
  if (end[0] && end[1] && *end[0] == '\0' && *end[1] == '\0' && !(from < to)) {
    const asi_value *at = asi_value_get(r->thing, "upper");
    asi_complain(r, at ? at : r->thing, "the upper limit must be above the lower one, %g", from);
  }
  asi_check_period(r, thing->period);
}

static const char *name_of(const char *output) { return output[0] ? output : NULL; }

static as_status add_switch(filling *f, const char *name, const item *x, as_error *error) {
  as_switch_def def = as_default_switch_def();
  as_setting set[2] = {{name_of(x->output), fill(f, name, x->formula)}};
  def.block = name;
  def.when = fill(f, name, x->when);
  def.set = set;
  def.n_set = x->also ? 2 : 1;
  if (x->also) set[1] = (as_setting){name_of(x->also), fill(f, name, x->also_to)};
  if (def.when == NULL || set[0].formula == NULL || (x->also && set[1].formula == NULL))
    return AS_ERR_MEMORY;
  return as_builder_add_switch(f->r->builder, &def, error);
}

as_status asi_template_add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  const template *of = (const template *)(const void *)kind;
  const template_thing *thing = read;
  filling f = {.r = r, .table = kind->table, .thing = thing};
  check_keys(&f);
  if (r->broken) return AS_OK;
  as_status status = check_given(r, name, error);
  for (int i = 0; i < MOST_ITEMS && of->item[i].formula && status == AS_OK; ++i) {
    const item *x = &of->item[i];
    as_signal_def def = as_default_signal_def();
    if (x->when) {
      status = add_switch(&f, name, x, error);
      continue;
    }
    def.block = name;
    def.output = name_of(x->output);
    def.kind = x->kind;
    def.formula = x->kind == AS_SIGNAL_HELD ? NULL : fill(&f, name, x->formula);
    def.unit = x->output[0] ? NULL : thing->unit;
    def.start = x->starts > 0 ? thing->start[x->starts - 1] : 0.0;
    if (x->kind == AS_SIGNAL_SAMPLED) {
      def.period = thing->period;
      def.offset = thing->offset;
      def.delay = x->output[0] ? 0.0 : thing->delay;
      def.after = x->after;
    }
    if (def.formula == NULL && x->kind != AS_SIGNAL_HELD) return AS_ERR_MEMORY;
    status = as_builder_add_signal(r->builder, &def, NULL, error);
  }
  return status;
}
