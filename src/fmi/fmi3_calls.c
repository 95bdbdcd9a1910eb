/// The calls of FMI 3.0 (fmu.h).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fmi/fmu.h"

#define CALL(f, name, ...) ((f)->doing = "fmi3" #name, (int)(f)->call.three.name(__VA_ARGS__))

// ---- functions --------------------------------------------------------------------------------------

#define X(name)                                                                                    \
  if (!asi_fmu_symbol(f, "fmi3" #name, &f->call.three.name, why)) return false;
static bool bind(asi_fmu *f, char *why) {
  fmi3GetVersionTYPE *version = NULL;
  if (!asi_fmu_symbol(f, "fmi3GetVersion", &version, why)) return false;
  const char *text = version();
  if (text == NULL || strncmp(text, "3.", 2) != 0) {
    snprintf(why, ASI_FMU_WHY, "its library is of FMI %.20s, its modelDescription.xml of FMI 3.0",
             text ? text : "?");
    return false;
  }
  ASI_FMI3_FUNCTIONS(X)
  if (f->kind->state) {
    ASI_FMI3_STATE(X)
  }
  if (f->kind->state && f->kind->serial) {
    ASI_FMI3_SERIAL(X)
  }
  if (f->kind->derivatives) {
    ASI_FMI3_DIRECTIONAL(X)
  }
  if (f->exchange) {
    ASI_FMI3_EXCHANGE(X)
  }
  if (!f->exchange) {
    ASI_FMI3_SIMULATION(X)
  }
  return true;
}
#undef X

// ---- life -------------------------------------------------------------------------------------------

static void take_log(fmi3InstanceEnvironment user, fmi3Status status, fmi3String category,
                     fmi3String message) {
  (void)category;
  if (user && message) asi_fmu_note(user, (int)status, message);
}

static bool instantiate(asi_fmu *f) {
  char place[1200];
  snprintf(place, sizeof place, "%s/resources/", f->folder);
  if (f->exchange) {
    f->doing = "fmi3InstantiateModelExchange";
    f->component = f->call.three.InstantiateModelExchange(f->label, f->about.token, place,
                                                          fmi3False, fmi3False, f, take_log);
  } else {
    f->doing = "fmi3InstantiateCoSimulation";
    f->component =
        f->call.three.InstantiateCoSimulation(f->label, f->about.token, place, fmi3False, fmi3False,
                                              fmi3False, fmi3False, NULL, 0, f, take_log, NULL);
  }
  return f->component != NULL;
}

static void release(asi_fmu *f) { f->call.three.FreeInstance(f->component); }
static int begin(asi_fmu *f, double t) {
  return CALL(f, EnterInitializationMode, f->component, fmi3False, 0.0, t, fmi3False, 0.0);
}
static int finish(asi_fmu *f) { return CALL(f, ExitInitializationMode, f->component); }
static int terminate(asi_fmu *f) { return CALL(f, Terminate, f->component); }

// ---- values -----------------------------------------------------------------------------------------

// One type: its values in f->typed, and as numbers.
#define GET(Type)                                                                                  \
  {                                                                                                \
    fmi3##Type *value = f->typed;                                                                  \
    status = CALL(f, Get##Type, f->component, &vr, 1, value, n);                                   \
    for (size_t i = 0; i < n && status <= ASI_FMU_WARNING; ++i) out[i] = (double)value[i];         \
    return status;                                                                                 \
  }
#define SET(Type, least, most)                                                                     \
  {                                                                                                \
    fmi3##Type *value = f->typed;                                                                  \
    for (size_t i = 0; i < n; ++i) value[i] = (fmi3##Type)fmin(fmax(round(x[i]), least), most);    \
    return CALL(f, Set##Type, f->component, &vr, 1, value, n);                                     \
  }

static int get(asi_fmu *f, const asi_fmu_variable *v, double *out) {
  const fmi3ValueReference vr = v->reference;
  const size_t n = (size_t)v->n;
  int status;
  for (size_t i = 0; i < n; ++i) out[i] = (double)NAN;
  memset(f->typed, 0, n * sizeof(double));
  switch (v->type) {
  case ASI_FMU_FLOAT32: GET(Float32)
  case ASI_FMU_FLOAT64: return CALL(f, GetFloat64, f->component, &vr, 1, out, n);
  case ASI_FMU_INT8: GET(Int8)
  case ASI_FMU_UINT8: GET(UInt8)
  case ASI_FMU_INT16: GET(Int16)
  case ASI_FMU_UINT16: GET(UInt16)
  case ASI_FMU_INT32: GET(Int32)
  case ASI_FMU_UINT32: GET(UInt32)
  case ASI_FMU_INT64: GET(Int64)
  case ASI_FMU_UINT64: GET(UInt64)
  case ASI_FMU_BOOLEAN: GET(Boolean)
  default: return ASI_FMU_ERROR;
  }
}

static int set(asi_fmu *f, const asi_fmu_variable *v, const double *x) {
  const fmi3ValueReference vr = v->reference;
  const size_t n = (size_t)v->n;
  switch (v->type) {
  case ASI_FMU_FLOAT32: {
    fmi3Float32 *value = f->typed;
    for (size_t i = 0; i < n; ++i) value[i] = (fmi3Float32)x[i];
    return CALL(f, SetFloat32, f->component, &vr, 1, value, n);
  }
  case ASI_FMU_FLOAT64: return CALL(f, SetFloat64, f->component, &vr, 1, x, n);
  case ASI_FMU_INT8: SET(Int8, -128.0, 127.0)
  case ASI_FMU_UINT8: SET(UInt8, 0.0, 255.0)
  case ASI_FMU_INT16: SET(Int16, -32768.0, 32767.0)
  case ASI_FMU_UINT16: SET(UInt16, 0.0, 65535.0)
  case ASI_FMU_INT32: SET(Int32, -2147483648.0, 2147483647.0)
  case ASI_FMU_UINT32: SET(UInt32, 0.0, 4294967295.0)
  case ASI_FMU_INT64: SET(Int64, -9007199254740992.0, 9007199254740992.0)
  case ASI_FMU_UINT64: SET(UInt64, 0.0, 9007199254740992.0)
  case ASI_FMU_BOOLEAN: {
    fmi3Boolean *value = f->typed;
    for (size_t i = 0; i < n; ++i) value[i] = x[i] >= 0.5;
    return CALL(f, SetBoolean, f->component, &vr, 1, value, n);
  }
  default: return ASI_FMU_ERROR;
  }
}

static int set_text(asi_fmu *f, const asi_fmu_variable *v, const char *text) {
  const fmi3ValueReference vr = v->reference;
  return CALL(f, SetString, f->component, &vr, 1, &text, 1);
}

// ---- states -----------------------------------------------------------------------------------------

static int state_get(asi_fmu *f, void **state) { return CALL(f, GetFMUState, f->component, state); }
static int state_set(asi_fmu *f, void *state) { return CALL(f, SetFMUState, f->component, state); }
static int state_free(asi_fmu *f, void **state) {
  return CALL(f, FreeFMUState, f->component, state);
}
static int pack_size(asi_fmu *f, void *state, size_t *size) {
  return CALL(f, SerializedFMUStateSize, f->component, state, size);
}
static int pack(asi_fmu *f, void *state, unsigned char *out, size_t size) {
  return CALL(f, SerializeFMUState, f->component, state, out, size);
}
static int unpack(asi_fmu *f, const unsigned char *in, size_t size, void **state) {
  return CALL(f, DeserializeFMUState, f->component, in, size, state);
}
static int directional(asi_fmu *f, const uint32_t *unknown, int n, uint32_t known, double *out) {
  const double one = 1.0;
  return CALL(f, GetDirectionalDerivative, f->component, unknown, (size_t)n, &known, 1, &one, 1,
              out, (size_t)n);
}

// ---- model exchange ---------------------------------------------------------------------------------

static int enter_event(asi_fmu *f) { return CALL(f, EnterEventMode, f->component); }
static int update(asi_fmu *f, asi_fmu_update *out) {
  bool nominals = false;
  *out = (asi_fmu_update){0};
  return CALL(f, UpdateDiscreteStates, f->component, &out->again, &out->stop, &nominals,
              &out->states_changed, &out->has_next, &out->next);
}
static int enter_continuous(asi_fmu *f) { return CALL(f, EnterContinuousTimeMode, f->component); }
static int completed(asi_fmu *f, bool *event, bool *stop) {
  return CALL(f, CompletedIntegratorStep, f->component, fmi3False, event, stop);
}
static int set_time(asi_fmu *f, double t) { return CALL(f, SetTime, f->component, t); }
static int set_states(asi_fmu *f, const double *x) {
  return CALL(f, SetContinuousStates, f->component, x, (size_t)f->n_states);
}
static int get_states(asi_fmu *f, double *x) {
  return CALL(f, GetContinuousStates, f->component, x, (size_t)f->n_states);
}
static int rates(asi_fmu *f, double *out) {
  return CALL(f, GetContinuousStateDerivatives, f->component, out, (size_t)f->n_states);
}
static int indicators(asi_fmu *f, double *out) {
  return CALL(f, GetEventIndicators, f->component, out, (size_t)f->about.n_indicators);
}
static int count(asi_fmu *f, size_t *states, size_t *n_indicators) {
  const int status = CALL(f, GetNumberOfContinuousStates, f->component, states);
  return status > ASI_FMU_WARNING ? status
                                  : CALL(f, GetNumberOfEventIndicators, f->component, n_indicators);
}

// ---- co-simulation ----------------------------------------------------------------------------------

static int step(asi_fmu *f, double t, double h, bool *stop) {
  bool event = false, early = false;
  double last = t;
  *stop = false;
  const int status = CALL(f, DoStep, f->component, t, h, f->kind->state ? fmi3False : fmi3True,
                          &event, stop, &early, &last);
  return status <= ASI_FMU_WARNING && early && !*stop ? ASI_FMU_DISCARD : status;
}

const asi_fmu_calls asi_fmu_calls3 = {bind,
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
                                      count,
                                      step,
                                      NULL};
