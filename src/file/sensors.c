/// Sensors: accelerometer, gyro, distance, encoder, force sensor. What one measures is a quantity m of the machine; then
/// come, as far as they are asked for (docs/control.md),
///
///     bandwidth f     l' = 2 pi f (m - l), l in the place of m
///     delay T         by Pade's approximation of second order, as block `delay`
///     period          at samples z = m + noise random_normal(seed, number of the sample), rounded to whole steps of the
///                     resolution, held in between; `delay` is then that of the samples
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "elements/coordinate.h"
#include "file/blocks.h"
#include "file/kinds.h"
#include "file/template_rows.h"
#include "file/templates.h"

typedef struct sensor_thing {
  const char *unit;
  int frame[2], joint, coordinate, axis, measures;
  double bandwidth;               ///< [Hz]; NAN: none
  double period, offset;          ///< [s]; NAN: it is continuous
  double noise, seed, resolution; ///< of a sampled one; resolution 0: none
  double delay, start[1];
} sensor_thing;

static void prepare(void *out) {
  sensor_thing *thing = out;
  *thing = (sensor_thing){.frame = {ASI_NONE, ASI_NONE},
                          .joint = ASI_NONE,
                          .coordinate = -1,
                          .seed = 1.0,
                          .bandwidth = (double)NAN,
                          .period = (double)NAN};
}

// ---- keys -------------------------------------------------------------------------------------------

#undef AT
#define AT(field) offsetof(sensor_thing, field)
#define JOINT                                                                                      \
  {                                                                                                \
    "joint", ASI_KEY_NAME, AT(joint), .required = true, .sort = ASI_SORT_JOINT,                    \
                                      .text = "which it sits in"                                   \
  }
#define BEHIND                                                                                     \
  BANDWIDTH,                                                                                       \
      {"period",                                                                                   \
       ASI_KEY_NUMBER,                                                                             \
       AT(period),                                                                                 \
       .range = ASI_POSITIVE,                                                                      \
       .unit = "s",                                                                                \
       .otherwise = "it is continuous",                                                            \
       .text = "time between samples"},                                                            \
      {"offset",    ASI_KEY_NUMBER,   AT(offset),       .range = ASI_NOT_NEGATIVE,                 \
       .unit = "s", .with = "period", .otherwise = "0", .text = "time of the first sample"},       \
      {"noise",                                                                                    \
       ASI_KEY_NUMBER,                                                                             \
       AT(noise),                                                                                  \
       .range = ASI_NOT_NEGATIVE,                                                                  \
       .with = "period",                                                                           \
       .otherwise = "0",                                                                           \
       .text = "standard deviation of what is added to each sample"},                              \
      {"seed",          ASI_KEY_NUMBER,   AT(seed),                                                \
       .with = "noise", .otherwise = "1", .text = "a whole number: another one, another noise"},   \
      {"resolution",                                                                               \
       ASI_KEY_NUMBER,                                                                             \
       AT(resolution),                                                                             \
       .range = ASI_POSITIVE,                                                                      \
       .with = "period",                                                                           \
       .otherwise = "none",                                                                        \
       .text = "samples are rounded to whole steps of it"},                                        \
      {"delay",                                                                                    \
       ASI_KEY_NUMBER,                                                                             \
       AT(delay),                                                                                  \
       .range = ASI_POSITIVE,                                                                      \
       .unit = "s",                                                                                \
       .otherwise = "none",                                                                        \
       .text = "from a sample to when it takes effect; without `period` Pade's approximation"},    \
      START, UNIT

static const char *const kinds_of_reaction[] = {"force", "torque", NULL};
static const asi_key frame_keys[] = {TYPE, FRAME, AXIS, BEHIND};
static const asi_key distance_keys[] = {TYPE,
                                        FRAME,
                                        {"other", ASI_KEY_NAME, AT(frame[1]), .required = true,
                                         .sort = ASI_SORT_FRAME, .text = "what it looks at"},
                                        BEHIND};
static const asi_key encoder_keys[] = {
    TYPE,
    JOINT,
    {"coordinate", ASI_KEY_CHOICE, AT(coordinate), .choices = asi_coordinate_names,
     .otherwise = "its only one", .text = "which of its coordinates"},
    BEHIND};
static const asi_key force_keys[] = {
    TYPE,
    JOINT,
    AXIS,
    {"measures", ASI_KEY_CHOICE, AT(measures), .choices = kinds_of_reaction, .otherwise = "force",
     .text = "the force or the torque on the second body, along the axes of the joint"},
    BEHIND};

// ---- what is measured -------------------------------------------------------------------------------

enum { TEXT = 512 };

/// The quantity of the machine, quoted.
static as_status find_quantity(const asi_reader *r, const char *type, const sensor_thing *thing,
                               char out[TEXT], as_error *error) {
  const asi_names *frames = &r->builder->names[ASI_SORT_FRAME];
  const char *axis = asi_axis_letters[thing->axis];
  const char *frame = thing->frame[0] >= 0 ? asi_names_get(frames, thing->frame[0]) : "";
  const char *joint =
      thing->joint >= 0 ? asi_names_get(&r->builder->names[ASI_SORT_JOINT], thing->joint) : "";
  if (strcmp(type, "accelerometer") == 0) {
    snprintf(out, TEXT, "'frames.%.200s.specific_force.%s'", frame, axis);
  } else if (strcmp(type, "gyro") == 0) {
    snprintf(out, TEXT, "'frames.%.200s.angular_velocity_in_frame.%s'", frame, axis);
  } else if (strcmp(type, "distance") == 0) {
    snprintf(out, TEXT, "'frames.%.200s.distance.%.200s'", frame,
             asi_names_get(frames, thing->frame[1]));
  } else if (strcmp(type, "force_sensor") == 0) {
    snprintf(out, TEXT, "'joints.%.200s.%s_in_joint.%s'", joint, kinds_of_reaction[thing->measures],
             axis);
  } else {
    asi_coordinate all[AS_JOINT_COORDINATES];
    int which = 0;
    const as_status status =
        asi_choose_coordinate(r, (as_joint_id){thing->joint}, thing->coordinate, &which, error);
    if (status) return status;
    const int n = asi_joint_coordinates(r->builder->joint[thing->joint].kind, all);
    const char letter[3] = {'.', asi_coordinate_letter(all, n, which), '\0'};
    snprintf(out, TEXT, "'joints.%.200s.%s%s'", joint, asi_coordinate_family(all[which].kind).name,
             letter[1] ? letter : "");
  }
  return AS_OK;
}

// ---- what it is made of -----------------------------------------------------------------------------

static as_status add_signal(asi_reader *r, const char *name, const char *output,
                            as_signal_kind kind, const sensor_thing *thing, const char *formula,
                            as_error *error) {
  as_signal_def def = as_default_signal_def();
  def.block = name;
  def.output = output;
  def.kind = kind;
  def.formula = formula;
  def.unit = output ? NULL : thing->unit;
  def.start = output == NULL || strcmp(output, "lag") == 0 ? thing->start[0] : 0.0;
  if (kind == AS_SIGNAL_SAMPLED) {
    def.period = thing->period;
    def.offset = thing->offset;
    def.delay = thing->delay;
  }
  return as_builder_add_signal(r->builder, &def, NULL, error);
}

/// z, from m.
static as_status add_samples(asi_reader *r, const char *name, const sensor_thing *thing,
                             const char *m, as_error *error) {
  char z[2 * TEXT], formula[3 * TEXT];
  if (thing->noise > 0.0)
    snprintf(z, sizeof z, "(%s + %.17g*random_normal(%.17g, floor((t - %.17g)/%.17g + 0.5)))", m,
             thing->noise, thing->seed, thing->offset, thing->period);
  else
    snprintf(z, sizeof z, "%s", m);
  if (thing->resolution > 0.0)
    snprintf(formula, sizeof formula, "%.17g*floor(%s/%.17g + 0.5)", thing->resolution, z,
             thing->resolution);
  else
    snprintf(formula, sizeof formula, "%s", z);
  return add_signal(r, name, NULL, AS_SIGNAL_SAMPLED, thing, formula, error);
}

/// y = m - 12/T r, s' = r, r' = m - 6/T r - 12/T^2 s
static as_status add_delay(asi_reader *r, const char *name, const sensor_thing *thing,
                           const char *m, as_error *error) {
  const double T = thing->delay;
  char formula[3 * TEXT];
  snprintf(formula, sizeof formula, "%s - %.17g*'blocks.%.200s.rate'", m, 12.0 / T, name);
  as_status status = add_signal(r, name, NULL, AS_SIGNAL_OUTPUT, thing, formula, error);
  snprintf(formula, sizeof formula, "'blocks.%.200s.rate'", name);
  if (status == AS_OK)
    status = add_signal(r, name, "state", AS_SIGNAL_STATE, thing, formula, error);
  snprintf(formula, sizeof formula, "%s - %.17g*'blocks.%.200s.rate' - %.17g*'blocks.%.200s.state'",
           m, 6.0 / T, name, 12.0 / (T * T), name);
  return status ? status : add_signal(r, name, "rate", AS_SIGNAL_STATE, thing, formula, error);
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  const sensor_thing *thing = read;
  const bool lags = !isnan(thing->bandwidth), samples = !isnan(thing->period);
  const bool delays = !samples && thing->delay > 0.0;
  char m[TEXT], formula[3 * TEXT];
  if (thing->seed != floor(thing->seed))
    asi_complain(r, asi_value_get(r->thing, "seed"), "must be a whole number, but is %g",
                 thing->seed);
  asi_check_period(r, thing->period);
  if (r->broken) return AS_OK;
  as_status status = find_quantity(r, kind->type, thing, m, error);
  if (status) return status;
  if (lags) {
    const char *output = samples || delays ? "lag" : NULL;
    char own[TEXT];
    snprintf(own, sizeof own, "'blocks.%.200s%s'", name, output ? ".lag" : "");
    snprintf(formula, sizeof formula, "2*pi*%.17g*(%s - %s)", thing->bandwidth, m, own);
    status = add_signal(r, name, output, AS_SIGNAL_STATE, thing, formula, error);
    if (status || output == NULL) return status;
    memcpy(m, own, sizeof m);
  }
  if (samples) return add_samples(r, name, thing, m, error);
  if (delays) return add_delay(r, name, thing, m, error);
  return add_signal(r, name, NULL, AS_SIGNAL_OUTPUT, thing, m, error);
}

#define SENSOR(id, rows, type, words)                                                              \
  static const asi_table id##_table = {type " block", NULL, rows, ASI_COUNT(rows)};                \
  const asi_kind asi_##id##_kind = {type,    0,   &id##_table, sizeof(sensor_thing),               \
                                    prepare, add, true,        .text = words};
SENSOR(accelerometer, frame_keys, "accelerometer",
       "acceleration less gravity of a frame, along one of its axes")
SENSOR(gyro, frame_keys, "gyro", "angular velocity of a frame about one of its axes")
SENSOR(distance_sensor, distance_keys, "distance", "distance of two frames")
SENSOR(encoder, encoder_keys, "encoder", "an angle or a displacement of a joint")
SENSOR(force_sensor, force_keys, "force_sensor", "a reaction of a joint, along one of its axes")

const char *asi_sensor_output(const asi_kind *kind, const asi_value *v, int i) {
  if (kind->add != add) return NULL;
  const bool lags = asi_value_get(v, "bandwidth"), samples = asi_value_get(v, "period");
  const bool delays = !samples && asi_value_get(v, "delay");
  const char *const all[] = {"", delays ? "state" : NULL, delays ? "rate" : NULL,
                             lags && (samples || delays) ? "lag" : NULL};
  for (int k = 0; k < ASI_COUNT(all); ++k)
    if (all[k] && i-- == 0) return all[k];
  return NULL;
}
