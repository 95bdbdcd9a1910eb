/// Rows of templates: what the files that define some share. `{key}` and the like are those of control/expand.h.
#ifndef ALPHASTEP_FILE_TEMPLATE_ROWS_H
#define ALPHASTEP_FILE_TEMPLATE_ROWS_H

#include "alphastep/model.h"
#include "file/table.h"

enum { MOST_KEYS = 48, MOST_ITEMS = 8 };

/// What is read of a template.
typedef struct template_thing {
  const char *value[MOST_KEYS]; ///< of keys that are formulas; NULL: not given
  const char *table, *unit;
  double start[2], period, offset, delay;
} template_thing;

/// A signal that a template makes, or a switch.
typedef struct item {
  const char *output; ///< "": the block's own
  as_signal_kind kind;
  const char *formula; ///< NULL: there are no more
  int starts;          ///< which start of the block is its own, from 1; 0: it starts at 0
  bool after;          ///< as_signal_def.after
  const char *when;    ///< of a switch: where it sets `output` to `formula`; NULL: it is a signal
  const char *also;    ///< what it sets besides; NULL: nothing
  const char *also_to; ///< to what
} item;

typedef struct template {
  asi_kind kind;
  item item[MOST_ITEMS];
}
template;

// ---- keys -------------------------------------------------------------------------------------------

#define AT(field) offsetof(template_thing, field)
#define TYPE                                                                                       \
  { "type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block" }
#define NEEDS(number, key, units, words)                                                           \
  { key, ASI_KEY_FORMULA, AT(value[number]), .required = true, .unit = units, .text = words }
#define TAKES(number, key, or_else, units, words)                                                  \
  { key, ASI_KEY_FORMULA, AT(value[number]), .otherwise = or_else, .unit = units, .text = words }
/// The same of what must be positive: a plain number is looked at, a formula is not.
#define NEEDS_POSITIVE(number, key, units, words)                                                  \
  {                                                                                                \
    key, ASI_KEY_FORMULA, AT(value[number]), .required = true, .range = ASI_POSITIVE,              \
                                             .unit = units, .text = words                          \
  }
#define TAKES_POSITIVE(number, key, or_else, units, words)                                         \
  {                                                                                                \
    key, ASI_KEY_FORMULA, AT(value[number]), .range = ASI_POSITIVE, .otherwise = or_else,          \
                                             .unit = units, .text = words                          \
  }
#define INPUT NEEDS(0, "input", NULL, "a formula, as that of a signal")
#define START                                                                                      \
  { "start", ASI_KEY_NUMBER, AT(start[0]), .otherwise = "0", .text = "its value at the start" }
#define UNIT                                                                                       \
  { "unit", ASI_KEY_TEXT, AT(unit), .otherwise = "-", .text = "of its channel" }
#define TABLE                                                                                      \
  { "table", ASI_KEY_TEXT, AT(table), .required = true, .text = "one of `tables`" }
#define PERIOD                                                                                     \
  {"period",                                                                                       \
   ASI_KEY_NUMBER,                                                                                 \
   AT(period),                                                                                     \
   .required = true,                                                                               \
   .range = ASI_POSITIVE,                                                                          \
   .unit = "s",                                                                                    \
   .text = "time between samples"},                                                                \
      {"offset",                                                                                   \
       ASI_KEY_NUMBER,                                                                             \
       AT(offset),                                                                                 \
       .range = ASI_NOT_NEGATIVE,                                                                  \
       .unit = "s",                                                                                \
       .otherwise = "0",                                                                           \
       .text = "time of the first sample"},                                                        \
  {                                                                                                \
    "delay", ASI_KEY_NUMBER, AT(delay), .range = ASI_NOT_NEGATIVE, .unit = "s", .otherwise = "0",  \
                                        .text = "from a sample to when it takes effect"            \
  }
#define FRAME                                                                                      \
  {                                                                                                \
    "frame", ASI_KEY_NAME, AT(frame[0]), .required = true, .sort = ASI_SORT_FRAME,                 \
                                         .text = "where it sits"                                   \
  }
#define AXIS                                                                                       \
  {                                                                                                \
    "axis", ASI_KEY_CHOICE, AT(axis), .choices = asi_axis_letters, .otherwise = "x",               \
                                      .text = "of the frame, along or about which it measures"     \
  }
#define BANDWIDTH                                                                                  \
  {                                                                                                \
    "bandwidth", ASI_KEY_NUMBER, AT(bandwidth),                                                    \
        .range = ASI_POSITIVE, .unit = "Hz", .otherwise = "none",                                  \
        .text = "of a first-order lag; its start is `start`"                                       \
  }

extern const char *const asi_axis_letters[]; ///< x, y, z, NULL
void asi_template_prepare(void *out);
asi_add_fn asi_template_add;

#define TEMPLATE(id, rows, type, words, ...)                                                       \
  static const asi_table id##_table = {type " block", NULL, rows, ASI_COUNT(rows)};                \
  const template asi_##id##_template = {{type, 0, &id##_table, sizeof(template_thing),             \
                                         asi_template_prepare, asi_template_add, true,             \
                                         .text = words},                                           \
                                        {__VA_ARGS__}};
#define Y(name, text)                                                                              \
  { name, AS_SIGNAL_OUTPUT, text, 0, false, NULL, NULL, NULL }
#define X(name, text, starts)                                                                      \
  { name, AS_SIGNAL_STATE, text, starts, false, NULL, NULL, NULL }
#define U(name, text, starts, after)                                                               \
  { name, AS_SIGNAL_SAMPLED, text, starts, after, NULL, NULL, NULL }
#define H(name, starts)                                                                            \
  { name, AS_SIGNAL_HELD, "", starts, false, NULL, NULL, NULL }
#define WHEN(condition, name, text)                                                                \
  { name, AS_SIGNAL_HELD, text, 0, false, condition, NULL, NULL }
#define WHEN_BOTH(condition, name, text, second, second_text)                                      \
  { name, AS_SIGNAL_HELD, text, 0, false, condition, second, second_text }

extern const template asi_rate_limit_template, asi_comparison_template, asi_and_template,
    asi_or_template, asi_not_template, asi_latch_template, asi_counter_template,
    asi_reset_integrator_template, asi_noise_template, asi_filtered_noise_template,
    asi_smooth_dead_zone_template, asi_smooth_relay_template,
    asi_smooth_hysteresis_template; // logic_templates.c
extern const template asi_relay_template, asi_hysteresis_template, asi_located_saturation_template,
    asi_located_integrator_template, asi_backlash_template; // switched_templates.c
extern const template asi_force_actuator_template, asi_cylinder_template, asi_damper_template,
    asi_inverse_template; // actuator_templates.c

#endif
