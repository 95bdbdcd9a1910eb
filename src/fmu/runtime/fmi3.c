/// FMI 3.0 for co-simulation: the functions of the standard on an instance. What it does not take at a time is refused with a sentence, and
/// the instance stays as it is.
#include "fmi/fmi3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/export.h"
#include "base/error.h"
#include "fmu/runtime/instance.h"

typedef struct slave {
  asi_exported *f;
  void *environment;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
  bool events; ///< the importer uses event mode
  bool early;  ///< the importer takes early returns
  bool inside; ///< the importer is being asked, in a step
} slave;

/// Declares a function of the standard and begins its definition.
#define FMI3(result, name, ...)                                                                    \
  ASI_EXPORTED_FUNCTION result name(__VA_ARGS__);                                                  \
  result name(__VA_ARGS__)

static const fmi3Status status_of[ASI_EXPORTED_CATEGORIES] = {fmi3Error, fmi3Discard, fmi3Warning,
                                                              fmi3OK, fmi3OK};

static void hear(asi_exported_category category, const char *sentence, void *user) {
  const slave *s = user;
  if (s->log)
    s->log(s->environment, status_of[category], asi_exported_category_name[category], sentence);
}

/// Tells a sentence and returns its status.
static fmi3Status refuse(slave *s, asi_exported_category category, const char *sentence) {
  asi_exported_tell(s->f, category, "%s", sentence);
  return status_of[category];
}

static fmi3Status answer(slave *s, as_status status, const as_error *error) {
  return status == AS_OK ? fmi3OK : refuse(s, asi_exported_judge(status), error->message);
}

enum { // sets of phases
  BEFORE = 1 << ASI_EXPORTED_INSTANTIATED,
  INITIAL = 1 << ASI_EXPORTED_INITIALIZING,
  STEPS = 1 << ASI_EXPORTED_STEPPING,
  EVENT = 1 << ASI_EXPORTED_IN_EVENT,
  CONFIGURING = 1 << ASI_EXPORTED_RECONFIGURING,
  OVER = 1 << ASI_EXPORTED_TERMINATED,
  BROKEN = 1 << ASI_EXPORTED_BROKEN,
};

static fmi3Status refuse_call(slave *s, const char *function, const char *why) {
  char text[200];
  snprintf(text, sizeof text, "%s cannot be called %s.", function, why);
  return refuse(s, ASI_EXPORTED_LOG_ERROR, text);
}

/// Whether a function may be called now; says so if not. While the importer is being asked in a step it may look only.
static bool may(slave *s, unsigned phases, bool looks, const char *function) {
  static const char *const when[] = {"while the FMU is instantiated",
                                     "in initialization mode",
                                     "in step mode",
                                     "in event mode",
                                     "in configuration mode",
                                     "after the FMU was terminated",
                                     "after an error"};
  if (s == NULL) return false;
  if (s->inside && !looks)
    refuse_call(s, function, "from an intermediate update");
  else if (phases >> s->f->phase & 1u)
    return true;
  else
    refuse_call(s, function, when[s->f->phase]);
  return false;
}

// ---- life -------------------------------------------------------------------------------------------

FMI3(const char *, fmi3GetVersion, void) { return "3.0"; }

FMI3(fmi3Status, fmi3SetDebugLogging, fmi3Instance c, fmi3Boolean on, size_t n,
     const fmi3String categories[]) {
  slave *s = c;
  return s && asi_exported_listen(s->f, on, n, categories) ? fmi3OK : fmi3Error;
}

FMI3(fmi3Instance, fmi3InstantiateCoSimulation, fmi3String name, fmi3String token,
     fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
     fmi3Boolean early, const fmi3ValueReference intermediate[], size_t n_intermediate,
     fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
     fmi3IntermediateUpdateCallback update) {
  as_error error = {.message = "Out of memory."};
  (void)name;
  (void)visible;
  (void)intermediate; // all outputs can be got then
  (void)n_intermediate;
  slave *s = calloc(1, sizeof *s);
  if (s && resources) s->f = asi_exported_open(resources, token ? token : "", &error);
  if (resources == NULL)
    asi_fail(&error, AS_ERR_FILE, (double)NAN, NULL,
             "The FMU is instantiated without a path of its resources.");
  if (s == NULL || s->f == NULL) {
    if (log)
      log(environment, fmi3Error, asi_exported_category_name[ASI_EXPORTED_LOG_ERROR],
          error.message);
    free(s);
    return NULL;
  }
  s->environment = environment;
  s->log = log;
  s->update = update;
  s->events = events;
  s->early = early;
  asi_exported_listen_first(s->f, hear, s, logging);
  return s;
}

static void *refuse_kind(void *environment, fmi3LogMessageCallback log) {
  if (log)
    log(environment, fmi3Error, asi_exported_category_name[ASI_EXPORTED_LOG_ERROR],
        "This FMU is one for co-simulation only.");
  return NULL;
}

FMI3(fmi3Instance, fmi3InstantiateModelExchange, fmi3String name, fmi3String token,
     fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
     fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  (void)name;
  (void)token;
  (void)resources;
  (void)visible;
  (void)logging;
  return refuse_kind(environment, log);
}

FMI3(fmi3Instance, fmi3InstantiateScheduledExecution, fmi3String name, fmi3String token,
     fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
     fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
     fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
  (void)name;
  (void)token;
  (void)resources;
  (void)visible;
  (void)logging;
  (void)clock;
  (void)lock;
  (void)unlock;
  return refuse_kind(environment, log);
}

FMI3(void, fmi3FreeInstance, fmi3Instance c) {
  slave *s = c;
  if (s == NULL) return;
  asi_exported_close(s->f);
  free(s);
}

FMI3(fmi3Status, fmi3EnterInitializationMode, fmi3Instance c, fmi3Boolean has_tolerance,
     fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
  slave *s = c;
  as_error error;
  if (!may(s, BEFORE, false, "fmi3EnterInitializationMode")) return fmi3Error;
  const as_status status =
      asi_exported_set_up(s->f, start, asi_exported_given(has_stop, stop),
                          asi_exported_given(has_tolerance, tolerance), &error);
  if (status == AS_OK) s->f->phase = ASI_EXPORTED_INITIALIZING;
  return answer(s, status, &error);
}

FMI3(fmi3Status, fmi3ExitInitializationMode, fmi3Instance c) {
  slave *s = c;
  as_error error;
  if (!may(s, INITIAL, false, "fmi3ExitInitializationMode")) return fmi3Error;
  const as_status status = asi_exported_ready(s->f, &error);
  s->f->phase = status      ? ASI_EXPORTED_BROKEN
                : s->events ? ASI_EXPORTED_IN_EVENT
                            : ASI_EXPORTED_STEPPING;
  return status ? refuse(s, ASI_EXPORTED_LOG_ERROR, error.message) : fmi3OK;
}

static fmi3Status go(slave *s, unsigned phases, asi_exported_phase to, const char *function) {
  if (!may(s, phases, false, function)) return fmi3Error;
  s->f->phase = to;
  return fmi3OK;
}

FMI3(fmi3Status, fmi3EnterEventMode, fmi3Instance c) {
  slave *s = c;
  if (s && !s->events)
    return refuse(s, ASI_EXPORTED_LOG_ERROR,
                  "fmi3EnterEventMode: the FMU was instantiated without event mode.");
  return go(s, STEPS, ASI_EXPORTED_IN_EVENT, "fmi3EnterEventMode");
}

FMI3(fmi3Status, fmi3EnterStepMode, fmi3Instance c) {
  return go(c, EVENT, ASI_EXPORTED_STEPPING, "fmi3EnterStepMode");
}

FMI3(fmi3Status, fmi3Terminate, fmi3Instance c) {
  return go(c, STEPS | EVENT, ASI_EXPORTED_TERMINATED, "fmi3Terminate");
}

FMI3(fmi3Status, fmi3Reset, fmi3Instance c) {
  slave *s = c;
  if (!may(s, ~0u, false, "fmi3Reset")) return fmi3Error;
  asi_exported_reset(s->f);
  return fmi3OK;
}

FMI3(fmi3Status, fmi3EnterConfigurationMode, fmi3Instance c) {
  return go(c, BEFORE, ASI_EXPORTED_RECONFIGURING, "fmi3EnterConfigurationMode");
}

FMI3(fmi3Status, fmi3ExitConfigurationMode, fmi3Instance c) {
  return go(c, CONFIGURING, ASI_EXPORTED_INSTANTIATED, "fmi3ExitConfigurationMode");
}

// ---- values -----------------------------------------------------------------------------------------

enum { LIVES = BEFORE | INITIAL | STEPS | EVENT };

/// As many values as references: no variable is an array.
static bool fits(slave *s, size_t n, size_t values, const char *function) {
  if (n == values) return true;
  refuse_call(s, function, "with another number of values than of references");
  return false;
}

FMI3(fmi3Status, fmi3GetFloat64, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     fmi3Float64 value[], size_t n_values) {
  slave *s = c;
  as_error error;
  if (!may(s, LIVES | OVER, true, "fmi3GetFloat64") || !fits(s, n, n_values, "fmi3GetFloat64"))
    return fmi3Error;
  return answer(s, asi_exported_get(s->f, vr, n, value, &error), &error);
}

FMI3(fmi3Status, fmi3SetFloat64, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     const fmi3Float64 value[], size_t n_values) {
  slave *s = c;
  as_error error;
  if (!may(s, LIVES, false, "fmi3SetFloat64") || !fits(s, n, n_values, "fmi3SetFloat64"))
    return fmi3Error;
  return answer(s, asi_exported_set(s->f, vr, n, value, &error), &error);
}

/// All variables are of type Float64.
static fmi3Status refuse_type(fmi3Instance c, size_t n, const char *type) {
  slave *s = c;
  char text[120];
  if (s == NULL) return fmi3Error;
  if (n == 0) return fmi3OK;
  snprintf(text, sizeof text, "This FMU has no variables of type %s: all are of type Float64.",
           type);
  return refuse(s, ASI_EXPORTED_LOG_ERROR, text);
}

#define NO_VALUES(Type)                                                                            \
  FMI3(fmi3Status, fmi3Get##Type, fmi3Instance c, const fmi3ValueReference vr[], size_t n,         \
       fmi3##Type value[], size_t n_values) {                                                      \
    (void)vr;                                                                                      \
    (void)value;                                                                                   \
    (void)n_values;                                                                                \
    return refuse_type(c, n, #Type);                                                               \
  }                                                                                                \
  FMI3(fmi3Status, fmi3Set##Type, fmi3Instance c, const fmi3ValueReference vr[], size_t n,         \
       const fmi3##Type value[], size_t n_values) {                                                \
    (void)vr;                                                                                      \
    (void)value;                                                                                   \
    (void)n_values;                                                                                \
    return refuse_type(c, n, #Type);                                                               \
  }
NO_VALUES(Float32)
NO_VALUES(Int8)
NO_VALUES(UInt8)
NO_VALUES(Int16)
NO_VALUES(UInt16)
NO_VALUES(Int32)
NO_VALUES(UInt32)
NO_VALUES(Int64)
NO_VALUES(UInt64)
NO_VALUES(Boolean)
NO_VALUES(String)

FMI3(fmi3Status, fmi3GetBinary, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     size_t sizes[], fmi3Binary value[], size_t n_values) {
  (void)vr;
  (void)sizes;
  (void)value;
  (void)n_values;
  return refuse_type(c, n, "Binary");
}
FMI3(fmi3Status, fmi3SetBinary, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     const size_t sizes[], const fmi3Binary value[], size_t n_values) {
  (void)vr;
  (void)sizes;
  (void)value;
  (void)n_values;
  return refuse_type(c, n, "Binary");
}
FMI3(fmi3Status, fmi3GetClock, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     fmi3Clock value[]) {
  (void)vr;
  (void)value;
  return refuse_type(c, n, "Clock");
}
FMI3(fmi3Status, fmi3SetClock, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     const fmi3Clock value[]) {
  (void)vr;
  (void)value;
  return refuse_type(c, n, "Clock");
}

// ---- derivatives ------------------------------------------------------------------------------------

FMI3(fmi3Status, fmi3GetOutputDerivatives, fmi3Instance c, const fmi3ValueReference vr[], size_t n,
     const fmi3Int32 order[], fmi3Float64 value[], size_t n_values) {
  slave *s = c;
  as_error error;
  if (!may(s, STEPS | EVENT | OVER, false, "fmi3GetOutputDerivatives") ||
      !fits(s, n, n_values, "fmi3GetOutputDerivatives"))
    return fmi3Error;
  return answer(s, asi_exported_get_slopes(s->f, vr, n, order, value, &error), &error);
}

FMI3(fmi3Status, fmi3GetDirectionalDerivative, fmi3Instance c, const fmi3ValueReference unknown[],
     size_t n, const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[],
     size_t n_seed, fmi3Float64 out[], size_t n_out) {
  slave *s = c;
  as_error error;
  if (!may(s, INITIAL | STEPS | EVENT, false, "fmi3GetDirectionalDerivative") ||
      !fits(s, n, n_out, "fmi3GetDirectionalDerivative") ||
      !fits(s, n_known, n_seed, "fmi3GetDirectionalDerivative"))
    return fmi3Error;
  return answer(s, asi_exported_derivatives(s->f, unknown, n, known, n_known, seed, out, &error),
                &error);
}

FMI3(fmi3Status, fmi3GetAdjointDerivative, fmi3Instance c, const fmi3ValueReference unknown[],
     size_t n, const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[],
     size_t n_seed, fmi3Float64 out[], size_t n_out) {
  slave *s = c;
  as_error error;
  if (!may(s, INITIAL | STEPS | EVENT, false, "fmi3GetAdjointDerivative") ||
      !fits(s, n_known, n_out, "fmi3GetAdjointDerivative") ||
      !fits(s, n, n_seed, "fmi3GetAdjointDerivative"))
    return fmi3Error;
  double *row = asi_calloc(n, sizeof *row);
  as_status status = row ? AS_OK : asi_fail_memory(&error);
  for (size_t k = 0; k < n_known && status == AS_OK; ++k) {
    status = asi_exported_derivatives(s->f, unknown, n, &known[k], 1, (double[]){1.0}, row, &error);
    out[k] = 0.0;
    for (size_t i = 0; i < n && status == AS_OK; ++i) out[k] += seed[i] * row[i];
  }
  free(row);
  return answer(s, status, &error);
}

static fmi3Status no_elements(fmi3Instance c) {
  slave *s = c;
  return s ? refuse(s, ASI_EXPORTED_LOG_ERROR,
                    "Dependencies of elements are not known: those of variables are in "
                    "modelDescription.xml.")
           : fmi3Error;
}

FMI3(fmi3Status, fmi3GetNumberOfVariableDependencies, fmi3Instance c, fmi3ValueReference vr,
     size_t *n) {
  (void)vr;
  (void)n;
  return no_elements(c);
}

FMI3(fmi3Status, fmi3GetVariableDependencies, fmi3Instance c, fmi3ValueReference vr,
     size_t elements[], fmi3ValueReference independents[], size_t of_independents[],
     fmi3DependencyKind kinds[], size_t n) {
  (void)vr;
  (void)elements;
  (void)independents;
  (void)of_independents;
  (void)kinds;
  (void)n;
  return no_elements(c);
}

// ---- states -----------------------------------------------------------------------------------------

FMI3(fmi3Status, fmi3GetFMUState, fmi3Instance c, fmi3FMUState *out) {
  slave *s = c;
  as_error error;
  if (!may(s, ~(unsigned)BROKEN, false, "fmi3GetFMUState")) return fmi3Error;
  return answer(s, asi_exported_state_take(s->f, out, &error), &error);
}

FMI3(fmi3Status, fmi3SetFMUState, fmi3Instance c, fmi3FMUState x) {
  slave *s = c;
  as_error error;
  if (!may(s, ~0u, false, "fmi3SetFMUState")) return fmi3Error;
  const as_status status = asi_exported_state_use(s->f, x, &error);
  return answer(s, status, &error);
}

FMI3(fmi3Status, fmi3FreeFMUState, fmi3Instance c, fmi3FMUState *x) {
  (void)c;
  asi_exported_state_free(x);
  return fmi3OK;
}

FMI3(fmi3Status, fmi3SerializedFMUStateSize, fmi3Instance c, fmi3FMUState x, size_t *size) {
  slave *s = c;
  if (s == NULL) return fmi3Error;
  if (x == NULL) return refuse(s, ASI_EXPORTED_LOG_ERROR, "There is no saved state.");
  *size = ((const asi_exported_state *)x)->size;
  return fmi3OK;
}

FMI3(fmi3Status, fmi3SerializeFMUState, fmi3Instance c, fmi3FMUState x, fmi3Byte out[],
     size_t size) {
  slave *s = c;
  as_error error;
  if (s == NULL) return fmi3Error;
  return answer(s, asi_exported_state_write(s->f, x, out, size, &error), &error);
}

FMI3(fmi3Status, fmi3DeserializeFMUState, fmi3Instance c, const fmi3Byte bytes[], size_t size,
     fmi3FMUState *out) {
  slave *s = c;
  as_error error;
  if (s == NULL) return fmi3Error;
  return answer(s, asi_exported_state_read(s->f, bytes, size, out, &error), &error);
}

// ---- steps ------------------------------------------------------------------------------------------

/// Lets the importer look at an inner step.
static bool ask(double now, double *t, void *user) {
  slave *s = user;
  fmi3Boolean wanted = fmi3False;
  fmi3Float64 when = now;
  s->inside = true;
  s->update(s->environment, now, fmi3False, fmi3True, fmi3True, s->early, &wanted, &when);
  s->inside = false;
  if (!wanted || !s->early) return false;
  *t = when;
  return true;
}

FMI3(fmi3Status, fmi3DoStep, fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_return,
     fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached) {
  slave *s = c;
  asi_exported_step_end end;
  as_error error;
  (void)no_return; // a state to return to is the importer's to save
  if (!may(s, STEPS, false, "fmi3DoStep")) return fmi3Error;
  const bool at_events = s->events && s->early;
  const as_status status =
      asi_exported_step(s->f, t, h, at_events, s->update ? ask : NULL, s, &end, &error);
  *event = s->events && end.event;
  *terminate = end.stopped;
  *early = status <= AS_OK && end.t < t + h;
  *reached = end.t;
  if (status == AS_STOPPED && end.t > t) { // it has come so far, and ends there
    asi_exported_tell(s->f, ASI_EXPORTED_LOG_EVENT, "%s", error.message);
    return fmi3OK;
  }
  return answer(s, status, &error);
}

FMI3(fmi3Status, fmi3UpdateDiscreteStates, fmi3Instance c, fmi3Boolean *again,
     fmi3Boolean *terminate, fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *has_next,
     fmi3Float64 *next) {
  slave *s = c;
  as_error error;
  if (!may(s, EVENT, false, "fmi3UpdateDiscreteStates")) return fmi3Error;
  const as_status status = asi_exported_apply(s->f, &error);
  *again = *nominals = *values = *has_next = fmi3False;
  *terminate = s->f->stopped;
  *next = 0.0;
  return answer(s, status, &error);
}

FMI3(fmi3Status, fmi3EvaluateDiscreteStates, fmi3Instance c) {
  slave *s = c;
  return may(s, INITIAL | EVENT, false, "fmi3EvaluateDiscreteStates") ? fmi3OK : fmi3Error;
}

// ---- what this FMU has not --------------------------------------------------------------------------

static fmi3Status no_clocks(fmi3Instance c) {
  return c ? refuse(c, ASI_EXPORTED_LOG_ERROR, "This FMU has no clocks.") : fmi3Error;
}

#define NO_CLOCKS(name, ...)                                                                       \
  FMI3(fmi3Status, name, fmi3Instance c, const fmi3ValueReference vr[], size_t n, __VA_ARGS__)
NO_CLOCKS(fmi3GetIntervalDecimal, fmi3Float64 x[], fmi3IntervalQualifier y[]) {
  (void)vr, (void)n, (void)x, (void)y;
  return no_clocks(c);
}
NO_CLOCKS(fmi3GetIntervalFraction, fmi3UInt64 x[], fmi3UInt64 y[], fmi3IntervalQualifier z[]) {
  (void)vr, (void)n, (void)x, (void)y, (void)z;
  return no_clocks(c);
}
NO_CLOCKS(fmi3GetShiftDecimal, fmi3Float64 x[]) {
  (void)vr, (void)n, (void)x;
  return no_clocks(c);
}
NO_CLOCKS(fmi3GetShiftFraction, fmi3UInt64 x[], fmi3UInt64 y[]) {
  (void)vr, (void)n, (void)x, (void)y;
  return no_clocks(c);
}
NO_CLOCKS(fmi3SetIntervalDecimal, const fmi3Float64 x[]) {
  (void)vr, (void)n, (void)x;
  return no_clocks(c);
}
NO_CLOCKS(fmi3SetIntervalFraction, const fmi3UInt64 x[], const fmi3UInt64 y[]) {
  (void)vr, (void)n, (void)x, (void)y;
  return no_clocks(c);
}
NO_CLOCKS(fmi3SetShiftDecimal, const fmi3Float64 x[]) {
  (void)vr, (void)n, (void)x;
  return no_clocks(c);
}
NO_CLOCKS(fmi3SetShiftFraction, const fmi3UInt64 x[], const fmi3UInt64 y[]) {
  (void)vr, (void)n, (void)x, (void)y;
  return no_clocks(c);
}
FMI3(fmi3Status, fmi3ActivateModelPartition, fmi3Instance c, fmi3ValueReference clock,
     fmi3Float64 t) {
  (void)clock, (void)t;
  return no_clocks(c);
}

static fmi3Status no_exchange(fmi3Instance c, const char *function) {
  char text[160];
  if (c == NULL) return fmi3Error;
  snprintf(text, sizeof text, "%s is for model exchange: this FMU is one for co-simulation only.",
           function);
  return refuse(c, ASI_EXPORTED_LOG_ERROR, text);
}

FMI3(fmi3Status, fmi3EnterContinuousTimeMode, fmi3Instance c) {
  return no_exchange(c, "fmi3EnterContinuousTimeMode");
}
FMI3(fmi3Status, fmi3CompletedIntegratorStep, fmi3Instance c, fmi3Boolean no_return,
     fmi3Boolean *enter, fmi3Boolean *terminate) {
  (void)no_return, (void)enter, (void)terminate;
  return no_exchange(c, "fmi3CompletedIntegratorStep");
}
FMI3(fmi3Status, fmi3SetTime, fmi3Instance c, fmi3Float64 t) {
  (void)t;
  return no_exchange(c, "fmi3SetTime");
}
#define NO_STATES(name, type)                                                                      \
  FMI3(fmi3Status, name, fmi3Instance c, type x[], size_t n) {                                     \
    (void)x, (void)n;                                                                              \
    return no_exchange(c, #name);                                                                  \
  }
NO_STATES(fmi3SetContinuousStates, const fmi3Float64)
NO_STATES(fmi3GetContinuousStateDerivatives, fmi3Float64)
NO_STATES(fmi3GetEventIndicators, fmi3Float64)
NO_STATES(fmi3GetContinuousStates, fmi3Float64)
NO_STATES(fmi3GetNominalsOfContinuousStates, fmi3Float64)
#define NO_NUMBER(name)                                                                            \
  FMI3(fmi3Status, name, fmi3Instance c, size_t *n) {                                              \
    (void)n;                                                                                       \
    return no_exchange(c, #name);                                                                  \
  }
NO_NUMBER(fmi3GetNumberOfEventIndicators)
NO_NUMBER(fmi3GetNumberOfContinuousStates)
