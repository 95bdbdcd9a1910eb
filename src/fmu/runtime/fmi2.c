/// FMI 2.0 for co-simulation: the functions of the standard on an instance. What it does not take at a time is refused with a sentence, and
/// the instance stays as it is.
#include "fmi/fmi2.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/export.h"
#include "base/error.h"
#include "fmu/runtime/instance.h"
#include "fmu/runtime/uri.h"

typedef struct slave {
  asi_exported *f;
  char *name;
  fmi2CallbackFunctions call;
  double reached;   ///< at the end of the last step [s]
  bool has_stepped; ///< a step has been asked for
  fmi2Status last;  ///< of it
  char said[1024];  ///< the last sentence
} slave;

/// Declares a function of the standard and begins its definition.
#define FMI2(result, name, ...)                                                                    \
  ASI_EXPORTED_FUNCTION result name(__VA_ARGS__);                                                  \
  result name(__VA_ARGS__)

static const fmi2Status status_of[ASI_EXPORTED_CATEGORIES] = {fmi2Error, fmi2Discard, fmi2Warning,
                                                              fmi2OK, fmi2OK};

static void hear(asi_exported_category category, const char *sentence, void *user) {
  const slave *s = user;
  if (s->call.logger)
    s->call.logger(s->call.componentEnvironment, s->name, status_of[category],
                   asi_exported_category_name[category], "%s", sentence);
}

/// Tells a sentence and returns its status.
static fmi2Status refuse(slave *s, asi_exported_category category, const char *sentence) {
  snprintf(s->said, sizeof s->said, "%s", sentence);
  asi_exported_tell(s->f, category, "%s", sentence);
  return status_of[category];
}

static fmi2Status answer(slave *s, as_status status, const as_error *error) {
  return status == AS_OK ? fmi2OK : refuse(s, asi_exported_judge(status), error->message);
}

enum { // sets of phases
  BEFORE = 1 << ASI_EXPORTED_INSTANTIATED,
  INITIAL = 1 << ASI_EXPORTED_INITIALIZING,
  STEPS = 1 << ASI_EXPORTED_STEPPING,
  OVER = 1 << ASI_EXPORTED_TERMINATED,
  BROKEN = 1 << ASI_EXPORTED_BROKEN,
  ANY = BEFORE | INITIAL | STEPS | OVER | BROKEN,
};

/// Whether a function may be called now; says so if not.
static bool may(slave *s, unsigned phases, const char *function) {
  static const char *const names[] = {"instantiated", "in initialization mode", "running", "", "",
                                      "terminated",   "broken by an error"};
  if (s == NULL) return false;
  if (phases >> s->f->phase & 1u) return true;
  char text[160];
  snprintf(text, sizeof text, "%s cannot be called while the FMU is %s.", function,
           names[s->f->phase]);
  refuse(s, ASI_EXPORTED_LOG_ERROR, text);
  return false;
}

// ---- life -------------------------------------------------------------------------------------------

FMI2(const char *, fmi2GetTypesPlatform, void) { return fmi2TypesPlatform; }
FMI2(const char *, fmi2GetVersion, void) { return "2.0"; }

FMI2(fmi2Status, fmi2SetDebugLogging, fmi2Component c, fmi2Boolean on, size_t n,
     const fmi2String categories[]) {
  slave *s = c;
  return s && asi_exported_listen(s->f, on, n, categories) ? fmi2OK : fmi2Error;
}

static void *instantiate(const char *name, const char *guid, const char *where,
                         const fmi2CallbackFunctions *call, bool logging) {
  as_error error = {.message = "Out of memory."};
  char *path = where ? asi_exported_path_of_uri(where) : NULL;
  slave *s = calloc(1, sizeof *s);
  if (where == NULL || (path == NULL && *where))
    asi_fail(&error, AS_ERR_FILE, (double)NAN, NULL,
             "The resource location %.200s is no folder of this machine (file:///...).",
             where ? where : "NULL");
  if (s && path) {
    s->name = calloc(strlen(name) + 1, 1);
    s->f = asi_exported_open(path, guid ? guid : "", &error);
  }
  free(path);
  if (s == NULL || s->f == NULL || s->name == NULL) {
    if (call->logger)
      call->logger(call->componentEnvironment, name, fmi2Error,
                   asi_exported_category_name[ASI_EXPORTED_LOG_ERROR], "%s", error.message);
    if (s) {
      asi_exported_close(s->f);
      free(s->name);
    }
    free(s);
    return NULL;
  }
  strcpy(s->name, name);
  s->call = *call;
  asi_exported_listen_first(s->f, hear, s, logging);
  return s;
}

FMI2(fmi2Component, fmi2Instantiate, fmi2String name, fmi2Type type, fmi2String guid,
     fmi2String resources, const fmi2CallbackFunctions *call, fmi2Boolean visible,
     fmi2Boolean logging) {
  (void)visible; // nothing is shown
  if (call == NULL || name == NULL) return NULL;
  if (type != fmi2CoSimulation) {
    if (call->logger)
      call->logger(call->componentEnvironment, name, fmi2Error, "logStatusError", "%s",
                   "This FMU is one for co-simulation only.");
    return NULL;
  }
  return instantiate(name, guid, resources, call, logging != fmi2False);
}

FMI2(void, fmi2FreeInstance, fmi2Component c) {
  slave *s = c;
  if (s == NULL) return;
  asi_exported_close(s->f);
  free(s->name);
  free(s);
}

FMI2(fmi2Status, fmi2SetupExperiment, fmi2Component c, fmi2Boolean has_tolerance,
     fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop, fmi2Real stop) {
  slave *s = c;
  as_error error;
  if (!may(s, BEFORE, "fmi2SetupExperiment")) return fmi2Error;
  return answer(s,
                asi_exported_set_up(s->f, start, asi_exported_given(has_stop, stop),
                                    asi_exported_given(has_tolerance, tolerance), &error),
                &error);
}

FMI2(fmi2Status, fmi2EnterInitializationMode, fmi2Component c) {
  slave *s = c;
  if (!may(s, BEFORE, "fmi2EnterInitializationMode")) return fmi2Error;
  s->f->phase = ASI_EXPORTED_INITIALIZING;
  return fmi2OK;
}

FMI2(fmi2Status, fmi2ExitInitializationMode, fmi2Component c) {
  slave *s = c;
  as_error error;
  if (!may(s, INITIAL, "fmi2ExitInitializationMode")) return fmi2Error;
  const as_status status = asi_exported_ready(s->f, &error);
  s->f->phase = status ? ASI_EXPORTED_BROKEN : ASI_EXPORTED_STEPPING;
  s->has_stepped = false;
  s->reached = s->f->t;
  return status ? refuse(s, ASI_EXPORTED_LOG_ERROR, error.message) : fmi2OK;
}

FMI2(fmi2Status, fmi2Terminate, fmi2Component c) {
  slave *s = c;
  if (!may(s, STEPS, "fmi2Terminate")) return fmi2Error;
  s->f->phase = ASI_EXPORTED_TERMINATED;
  return fmi2OK;
}

FMI2(fmi2Status, fmi2Reset, fmi2Component c) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  asi_exported_reset(s->f);
  return fmi2OK;
}

// ---- values -----------------------------------------------------------------------------------------

FMI2(fmi2Status, fmi2GetReal, fmi2Component c, const fmi2ValueReference vr[], size_t n,
     fmi2Real value[]) {
  slave *s = c;
  as_error error;
  if (!may(s, BEFORE | INITIAL | STEPS | OVER, "fmi2GetReal")) return fmi2Error;
  return answer(s, asi_exported_get(s->f, vr, n, value, &error), &error);
}

FMI2(fmi2Status, fmi2SetReal, fmi2Component c, const fmi2ValueReference vr[], size_t n,
     const fmi2Real value[]) {
  slave *s = c;
  as_error error;
  if (!may(s, BEFORE | INITIAL | STEPS, "fmi2SetReal")) return fmi2Error;
  return answer(s, asi_exported_set(s->f, vr, n, value, &error), &error);
}

/// All variables are of type Real.
static fmi2Status refuse_type(fmi2Component c, size_t n, const char *type) {
  slave *s = c;
  char text[120];
  if (s == NULL) return fmi2Error;
  if (n == 0) return fmi2OK;
  snprintf(text, sizeof text, "This FMU has no variables of type %s: all are of type Real.", type);
  return refuse(s, ASI_EXPORTED_LOG_ERROR, text);
}

#define NO_VALUES(Type)                                                                            \
  FMI2(fmi2Status, fmi2Get##Type, fmi2Component c, const fmi2ValueReference vr[], size_t n,        \
       fmi2##Type value[]) {                                                                       \
    (void)vr;                                                                                      \
    (void)value;                                                                                   \
    return refuse_type(c, n, #Type);                                                               \
  }                                                                                                \
  FMI2(fmi2Status, fmi2Set##Type, fmi2Component c, const fmi2ValueReference vr[], size_t n,        \
       const fmi2##Type value[]) {                                                                 \
    (void)vr;                                                                                      \
    (void)value;                                                                                   \
    return refuse_type(c, n, #Type);                                                               \
  }
NO_VALUES(Integer)
NO_VALUES(Boolean)
NO_VALUES(String)

FMI2(fmi2Status, fmi2SetRealInputDerivatives, fmi2Component c, const fmi2ValueReference vr[],
     size_t n, const fmi2Integer order[], const fmi2Real value[]) {
  slave *s = c;
  as_error error;
  if (!may(s, INITIAL | STEPS, "fmi2SetRealInputDerivatives")) return fmi2Error;
  return answer(s, asi_exported_set_slopes(s->f, vr, n, order, value, &error), &error);
}

FMI2(fmi2Status, fmi2GetRealOutputDerivatives, fmi2Component c, const fmi2ValueReference vr[],
     size_t n, const fmi2Integer order[], fmi2Real value[]) {
  slave *s = c;
  as_error error;
  if (!may(s, STEPS | OVER, "fmi2GetRealOutputDerivatives")) return fmi2Error;
  return answer(s, asi_exported_get_slopes(s->f, vr, n, order, value, &error), &error);
}

FMI2(fmi2Status, fmi2GetDirectionalDerivative, fmi2Component c, const fmi2ValueReference unknown[],
     size_t n, const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
     fmi2Real out[]) {
  slave *s = c;
  as_error error;
  if (!may(s, INITIAL | STEPS, "fmi2GetDirectionalDerivative")) return fmi2Error;
  return answer(s, asi_exported_derivatives(s->f, unknown, n, known, n_known, seed, out, &error),
                &error);
}

// ---- states -----------------------------------------------------------------------------------------

FMI2(fmi2Status, fmi2GetFMUstate, fmi2Component c, fmi2FMUstate *out) {
  slave *s = c;
  as_error error;
  if (!may(s, ANY & ~(unsigned)BROKEN, "fmi2GetFMUstate")) return fmi2Error;
  return answer(s, asi_exported_state_take(s->f, out, &error), &error);
}

FMI2(fmi2Status, fmi2SetFMUstate, fmi2Component c, fmi2FMUstate x) {
  slave *s = c;
  as_error error;
  if (!may(s, ANY, "fmi2SetFMUstate")) return fmi2Error;
  const as_status status = asi_exported_state_use(s->f, x, &error);
  s->reached = s->f->t;
  s->last = fmi2OK;
  return answer(s, status, &error);
}

FMI2(fmi2Status, fmi2FreeFMUstate, fmi2Component c, fmi2FMUstate *x) {
  (void)c;
  asi_exported_state_free(x);
  return fmi2OK;
}

FMI2(fmi2Status, fmi2SerializedFMUstateSize, fmi2Component c, fmi2FMUstate x, size_t *size) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  if (x == NULL) return refuse(s, ASI_EXPORTED_LOG_ERROR, "There is no saved state.");
  *size = ((const asi_exported_state *)x)->size;
  return fmi2OK;
}

FMI2(fmi2Status, fmi2SerializeFMUstate, fmi2Component c, fmi2FMUstate x, fmi2Byte out[],
     size_t size) {
  slave *s = c;
  as_error error;
  if (s == NULL) return fmi2Error;
  return answer(s, asi_exported_state_write(s->f, x, out, size, &error), &error);
}

FMI2(fmi2Status, fmi2DeSerializeFMUstate, fmi2Component c, const fmi2Byte bytes[], size_t size,
     fmi2FMUstate *out) {
  slave *s = c;
  as_error error;
  if (s == NULL) return fmi2Error;
  return answer(s, asi_exported_state_read(s->f, bytes, size, out, &error), &error);
}

// ---- steps ------------------------------------------------------------------------------------------

FMI2(fmi2Status, fmi2DoStep, fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_return) {
  slave *s = c;
  asi_exported_step_end end;
  as_error error;
  (void)no_return; // a state to return to is the importer's to save
  if (!may(s, STEPS, "fmi2DoStep")) return fmi2Error;
  const as_status status = asi_exported_step(s->f, t, h, false, NULL, NULL, &end, &error);
  s->has_stepped = true;
  s->reached = end.t;
  s->last = answer(s, status, &error);
  return s->last;
}

FMI2(fmi2Status, fmi2CancelStep, fmi2Component c) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  return refuse(s, ASI_EXPORTED_LOG_ERROR,
                "fmi2CancelStep: fmi2DoStep ends before it returns, there is nothing to cancel.");
}

static fmi2Status no_status(slave *s) {
  return refuse(s, ASI_EXPORTED_LOG_DISCARD, "There is no such status, or no step has been taken.");
}

FMI2(fmi2Status, fmi2GetStatus, fmi2Component c, const fmi2StatusKind kind, fmi2Status *out) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  if (kind != fmi2DoStepStatus || !s->has_stepped) return no_status(s);
  *out = s->last;
  return fmi2OK;
}

FMI2(fmi2Status, fmi2GetRealStatus, fmi2Component c, const fmi2StatusKind kind, fmi2Real *out) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  if (kind != fmi2LastSuccessfulTime) return no_status(s);
  *out = s->reached;
  return fmi2OK;
}

FMI2(fmi2Status, fmi2GetIntegerStatus, fmi2Component c, const fmi2StatusKind kind,
     fmi2Integer *out) {
  (void)kind;
  (void)out;
  return c ? no_status(c) : fmi2Error;
}

FMI2(fmi2Status, fmi2GetBooleanStatus, fmi2Component c, const fmi2StatusKind kind,
     fmi2Boolean *out) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  if (kind != fmi2Terminated) return no_status(s);
  *out = s->f->stopped ? fmi2True : fmi2False;
  return fmi2OK;
}

FMI2(fmi2Status, fmi2GetStringStatus, fmi2Component c, const fmi2StatusKind kind, fmi2String *out) {
  slave *s = c;
  if (s == NULL) return fmi2Error;
  if (kind != fmi2DoStepStatus && kind != fmi2PendingStatus) return no_status(s);
  *out = s->said;
  return fmi2OK;
}

// ---- model exchange ---------------------------------------------------------------------------------

static fmi2Status no_exchange(fmi2Component c, const char *function) {
  char text[160];
  if (c == NULL) return fmi2Error;
  snprintf(text, sizeof text, "%s is for model exchange: this FMU is one for co-simulation only.",
           function);
  return refuse(c, ASI_EXPORTED_LOG_ERROR, text);
}

FMI2(fmi2Status, fmi2EnterEventMode, fmi2Component c) {
  return no_exchange(c, "fmi2EnterEventMode");
}
FMI2(fmi2Status, fmi2NewDiscreteStates, fmi2Component c, fmi2EventInfo *info) {
  (void)info;
  return no_exchange(c, "fmi2NewDiscreteStates");
}
FMI2(fmi2Status, fmi2EnterContinuousTimeMode, fmi2Component c) {
  return no_exchange(c, "fmi2EnterContinuousTimeMode");
}
FMI2(fmi2Status, fmi2CompletedIntegratorStep, fmi2Component c, fmi2Boolean no_return,
     fmi2Boolean *enter, fmi2Boolean *terminate) {
  (void)no_return;
  (void)enter;
  (void)terminate;
  return no_exchange(c, "fmi2CompletedIntegratorStep");
}
FMI2(fmi2Status, fmi2SetTime, fmi2Component c, fmi2Real t) {
  (void)t;
  return no_exchange(c, "fmi2SetTime");
}
#define NO_STATES(name, type)                                                                      \
  FMI2(fmi2Status, name, fmi2Component c, type x[], size_t n) {                                    \
    (void)x;                                                                                       \
    (void)n;                                                                                       \
    return no_exchange(c, #name);                                                                  \
  }
NO_STATES(fmi2SetContinuousStates, const fmi2Real)
NO_STATES(fmi2GetDerivatives, fmi2Real)
NO_STATES(fmi2GetEventIndicators, fmi2Real)
NO_STATES(fmi2GetContinuousStates, fmi2Real)
NO_STATES(fmi2GetNominalsOfContinuousStates, fmi2Real)
