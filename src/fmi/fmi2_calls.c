/// The calls of FMI 2.0 (fmu.h).
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmu.h"

#define CALL(f, name, ...) ((f)->doing = "fmi2" #name, (int)(f)->call.two.name(__VA_ARGS__))

// ---- functions --------------------------------------------------------------------------------------

#define X(name)                                                                                    \
  if (!asi_fmu_symbol(f, "fmi2" #name, &f->call.two.name, why)) return false;
static bool bind(asi_fmu *f, char *why) {
  fmi2GetVersionTYPE *version = NULL;
  if (!asi_fmu_symbol(f, "fmi2GetVersion", &version, why)) return false;
  const char *text = version();
  if (text == NULL || strncmp(text, "2.", 2) != 0) {
    snprintf(why, ASI_FMU_WHY, "its library is of FMI %.20s, its modelDescription.xml of FMI 2.0",
             text ? text : "?");
    return false;
  }
  ASI_FMI2_FUNCTIONS(X)
  if (f->kind->state) {
    ASI_FMI2_STATE(X)
  }
  if (f->kind->state && f->kind->serial) {
    ASI_FMI2_SERIAL(X)
  }
  if (f->kind->derivatives) {
    ASI_FMI2_DIRECTIONAL(X)
  }
  if (f->exchange) {
    ASI_FMI2_EXCHANGE(X)
  }
  if (!f->exchange) {
    ASI_FMI2_SIMULATION(X)
  }
  if (!f->exchange && f->kind->interpolates) {
    ASI_FMI2_INTERPOLATION(X)
  }
  return true;
}
#undef X

// ---- life -------------------------------------------------------------------------------------------

static void take_log(fmi2ComponentEnvironment user, fmi2String name, fmi2Status status,
                     fmi2String category, fmi2String message, ...)
    __attribute__((format(printf, 5, 6)));
static void take_log(fmi2ComponentEnvironment user, fmi2String name, fmi2Status status,
                     fmi2String category, fmi2String message, ...) {
  char text[256];
  va_list arguments;
  (void)name, (void)category;
  if (message == NULL || user == NULL) return;
  va_start(arguments, message);
  vsnprintf(text, sizeof text, message, arguments);
  va_end(arguments);
  asi_fmu_note(user, (int)status, text);
}

static bool instantiate(asi_fmu *f) {
  char place[1200];
  f->callbacks = (fmi2CallbackFunctions){take_log, calloc, free, NULL, f};
  snprintf(place, sizeof place, "file://%s/resources", f->folder);
  f->doing = "fmi2Instantiate";
  f->component =
      f->call.two.Instantiate(f->label, f->exchange ? fmi2ModelExchange : fmi2CoSimulation,
                              f->about.token, place, &f->callbacks, fmi2False, fmi2False);
  return f->component != NULL;
}

static void release(asi_fmu *f) { f->call.two.FreeInstance(f->component); }

static int begin(asi_fmu *f, double t) {
  const int status = CALL(f, SetupExperiment, f->component, fmi2False, 0.0, t, fmi2False, 0.0);
  return status > ASI_FMU_WARNING ? status : CALL(f, EnterInitializationMode, f->component);
}

static int finish(asi_fmu *f) { return CALL(f, ExitInitializationMode, f->component); }
static int terminate(asi_fmu *f) { return CALL(f, Terminate, f->component); }

// ---- values -----------------------------------------------------------------------------------------

static int get(asi_fmu *f, const asi_fmu_variable *v, double *out) {
  const fmi2ValueReference vr = v->reference;
  int whole = 0, status;
  *out = (double)NAN;
  if (v->type == ASI_FMU_FLOAT64) return CALL(f, GetReal, f->component, &vr, 1, out);
  if (v->type == ASI_FMU_BOOLEAN) {
    status = CALL(f, GetBoolean, f->component, &vr, 1, &whole);
    *out = whole != 0 ? 1.0 : 0.0;
  } else {
    status = CALL(f, GetInteger, f->component, &vr, 1, &whole);
    *out = (double)whole;
  }
  return status;
}

static int set(asi_fmu *f, const asi_fmu_variable *v, const double *x) {
  const fmi2ValueReference vr = v->reference;
  if (v->type == ASI_FMU_FLOAT64) return CALL(f, SetReal, f->component, &vr, 1, x);
  const int whole = v->type == ASI_FMU_BOOLEAN
                        ? *x >= 0.5
                        : (int)fmin(fmax(round(*x), -2147483647.0), 2147483647.0);
  return v->type == ASI_FMU_BOOLEAN ? CALL(f, SetBoolean, f->component, &vr, 1, &whole)
                                    : CALL(f, SetInteger, f->component, &vr, 1, &whole);
}

static int set_text(asi_fmu *f, const asi_fmu_variable *v, const char *text) {
  const fmi2ValueReference vr = v->reference;
  return CALL(f, SetString, f->component, &vr, 1, &text);
}

// ---- states -----------------------------------------------------------------------------------------

static int state_get(asi_fmu *f, void **state) { return CALL(f, GetFMUstate, f->component, state); }
static int state_set(asi_fmu *f, void *state) { return CALL(f, SetFMUstate, f->component, state); }
static int state_free(asi_fmu *f, void **state) {
  return CALL(f, FreeFMUstate, f->component, state);
}
static int pack_size(asi_fmu *f, void *state, size_t *size) {
  return CALL(f, SerializedFMUstateSize, f->component, state, size);
}
static int pack(asi_fmu *f, void *state, unsigned char *out, size_t size) {
  return CALL(f, SerializeFMUstate, f->component, state, (fmi2Byte *)out, size);
}
static int unpack(asi_fmu *f, const unsigned char *in, size_t size, void **state) {
  return CALL(f, DeSerializeFMUstate, f->component, (const fmi2Byte *)in, size, state);
}

static int directional(asi_fmu *f, const uint32_t *unknown, int n, uint32_t known, double *out) {
  const double one = 1.0;
  const fmi2ValueReference vr = known;
  return CALL(f, GetDirectionalDerivative, f->component, unknown, (size_t)n, &vr, 1, &one, out);
}

// ---- model exchange ---------------------------------------------------------------------------------

static int enter_event(asi_fmu *f) { return CALL(f, EnterEventMode, f->component); }
static int update(asi_fmu *f, asi_fmu_update *out) {
  fmi2EventInfo info = {0};
  const int status = CALL(f, NewDiscreteStates, f->component, &info);
  *out = (asi_fmu_update){info.newDiscreteStatesNeeded, info.terminateSimulation,
                          info.valuesOfContinuousStatesChanged, info.nextEventTimeDefined,
                          info.nextEventTime};
  return status;
}
static int enter_continuous(asi_fmu *f) { return CALL(f, EnterContinuousTimeMode, f->component); }
static int completed(asi_fmu *f, bool *event, bool *stop) {
  fmi2Boolean enter = fmi2False, end = fmi2False;
  const int status = CALL(f, CompletedIntegratorStep, f->component, fmi2False, &enter, &end);
  *event = enter;
  *stop = end;
  return status;
}
static int set_time(asi_fmu *f, double t) { return CALL(f, SetTime, f->component, t); }
static int set_states(asi_fmu *f, const double *x) {
  return CALL(f, SetContinuousStates, f->component, x, (size_t)f->n_states);
}
static int get_states(asi_fmu *f, double *x) {
  return CALL(f, GetContinuousStates, f->component, x, (size_t)f->n_states);
}
static int rates(asi_fmu *f, double *out) {
  return CALL(f, GetDerivatives, f->component, out, (size_t)f->n_states);
}
static int indicators(asi_fmu *f, double *out) {
  return CALL(f, GetEventIndicators, f->component, out, (size_t)f->about.n_indicators);
}

// ---- co-simulation ----------------------------------------------------------------------------------

static int step(asi_fmu *f, double t, double h, bool *stop) {
  fmi2Boolean ended = fmi2False;
  int status = CALL(f, DoStep, f->component, t, h, f->kind->state ? fmi2False : fmi2True);
  // An FMU that wants the end discards the step, and says so when it is asked.
  if (status == ASI_FMU_DISCARD &&
      f->call.two.GetBooleanStatus(f->component, fmi2Terminated, &ended) == fmi2OK && ended)
    status = ASI_FMU_OK;
  *stop = ended;
  return status;
}

static int slope(asi_fmu *f, const asi_fmu_variable *v, double by_time) {
  const fmi2ValueReference vr = v->reference;
  const fmi2Integer order = 1;
  return CALL(f, SetRealInputDerivatives, f->component, &vr, 1, &order, &by_time);
}

const asi_fmu_calls asi_fmu_calls2 = {bind,
                                      instantiate,
                                      release,
                                      begin,
                                      finish,
                                      terminate,
                                      get,
                                      set,
                                      set_text,
                                      state_get,
                                      state_set,
                                      state_free,
                                      pack_size,
                                      pack,
                                      unpack,
                                      directional,
                                      enter_event,
                                      update,
                                      enter_continuous,
                                      completed,
                                      set_time,
                                      set_states,
                                      get_states,
                                      rates,
                                      indicators,
                                      NULL,
                                      step,
                                      slope};
