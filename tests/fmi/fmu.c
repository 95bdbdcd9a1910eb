/// The library of the FMUs that tests/cli/fmus.py makes: -DFMI=2 or 3. Which model an instance is stands in its token.
///
///     ball     model exchange: h' = v, v' = -9.81; where h falls to zero v = -e v, and at v < 0.01 it rests
///     vdp      both: x0' = x1, x1' = mu (1 - x0^2) x1 - x0 + u; y = x0 x1 + u, with directional derivatives
///     stairs   model exchange: y counts the times 0.1, 0.2, ...; at `most` it asks for the end
///     relay    model exchange: y = 1 where u > 0.5, decided in event mode
///     control  co-simulation: s+ = s + ki H u, y = kp u + s
///     mass     co-simulation: m z'' = -f, f = k (z - u0) + c (z' - u1) : the force is y; fourth-order steps inside
///
/// References: 0.. parameters, 10.. inputs, 20.. states, 30.. their rates, 40.. outputs, 50 a whole number, 51 a boolean, 60 a text, 61 its length.
/// The parameter `fault` (9) makes it fail behind t = 0.1: 1 NaN, 2 an error, 3 discard, 4 fatal; 5: at its initialization; 6: it logs a warning.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi2.h"
#include "fmi/fmi3.h"

#define EXPORT __attribute__((visibility("default")))
typedef int status; // of either version
#if FMI == 2
#define F(name) fmi2##name
typedef fmi2ValueReference reference;
#else
#define F(name) fmi3##name
typedef fmi3ValueReference reference;
#endif
enum { OK, WARNING, DISCARD, ERROR, FATAL };

/// All that changes; a copy of it is a state.
typedef struct inside {
  double t, p[10], u[4], slope[4], x[4], d[4];
  int whole, boolean, length;
} inside;

typedef struct instance {
  inside in;
  char model[16];
  int nx;
  void *user;
#if FMI == 2
  fmi2CallbackLogger log;
#else
  fmi3LogMessageCallback log;
#endif
} instance;

static int is(const instance *m, const char *name) { return strcmp(m->model, name) == 0; }

static status say(instance *m, int code, const char *text) {
  if (m->log && FMI == 2)
    ((fmi2CallbackLogger)(void (*)(void))m->log)(m->user, "test", (fmi2Status)code, "log", "%s",
                                                 text);
  if (m->log && FMI == 3)
    ((fmi3LogMessageCallback)(void (*)(void))m->log)(m->user, (fmi3Status)code, "log", text);
  return (status)code;
}

/// What the parameter `fault` asks for.
static status fault(instance *m) {
  const int kind = (int)m->in.p[9];
  if (kind < 2 || kind > 4 || m->in.t < 0.1) return OK;
  return say(m, kind == 2 ? ERROR : kind == 3 ? DISCARD : FATAL, "as the test wants it.");
}

// ---- models -----------------------------------------------------------------------------------------

static void prepare(instance *m) {
  inside *in = &m->in;
  if (is(m, "ball")) in->p[0] = 0.8, in->x[0] = 1.0;
  if (is(m, "vdp")) in->p[0] = 1.0, in->x[0] = 2.0;
  if (is(m, "stairs")) in->p[0] = 1e9;
  if (is(m, "control")) in->p[0] = 2.0, in->p[1] = 3.0;
  if (is(m, "mass")) in->p[0] = 1.0, in->p[1] = 40.0, in->p[2] = 0.5;
  m->nx = is(m, "ball") || is(m, "vdp") ? 2 : 0;
}

static double force(const inside *in, double z, double v, double u, double w) {
  return in->p[1] * (z - u) + in->p[2] * (v - w);
}

static void rates(const instance *m, double *out) {
  const inside *in = &m->in;
  const double *x = in->x;
  if (is(m, "ball")) out[0] = x[1], out[1] = in->d[0] > 0.0 ? 0.0 : -9.81;
  if (is(m, "vdp")) out[0] = x[1], out[1] = in->p[0] * (1.0 - x[0] * x[0]) * x[1] - x[0] + in->u[0];
  if (in->p[9] == 1.0 && in->t > 0.1) out[0] = NAN;
}

static double output(const instance *m) {
  const inside *in = &m->in;
  if (in->p[9] == 1.0 && in->t > 0.1) return NAN;
  if (is(m, "vdp")) return in->x[0] * in->x[1] + in->u[0];
  if (is(m, "control")) return in->p[0] * in->u[0] + in->x[0];
  if (is(m, "mass")) return force(in, in->x[0], in->x[1], in->u[0], in->u[1]);
  return in->d[0];
}

static int advance(instance *m, double h) {
  inside *in = &m->in;
  if (is(m, "control")) in->x[0] += in->p[1] * h * in->u[0];
  const double u0 = in->u[0], u1 = in->u[1];
  enum { PARTS = 64 };
  for (int i = 0; i < PARTS && (is(m, "mass") || is(m, "vdp")); ++i) {
    double k[4][2], y[2] = {in->x[0], in->x[1]};
    const double part = h / PARTS;
    static const double at[4] = {0.0, 0.5, 0.5, 1.0};
    for (int j = 0; j < 4; ++j) {
      const double s = part * (i + at[j]), u = u0 + s * in->slope[0], w = u1 + s * in->slope[1];
      for (int n = 0; n < 2; ++n) in->x[n] = y[n] + (j ? at[j] * part * k[j - 1][n] : 0.0);
      if (is(m, "mass"))
        k[j][0] = in->x[1], k[j][1] = -force(in, in->x[0], in->x[1], u, w) / in->p[0];
      else
        in->u[0] = u, rates(m, k[j]);
    }
    for (int n = 0; n < 2; ++n)
      in->x[n] = y[n] + part / 6.0 * (k[0][n] + 2.0 * k[1][n] + 2.0 * k[2][n] + k[3][n]);
  }
  in->u[0] = u0 + h * in->slope[0];
  in->u[1] = u1 + h * in->slope[1];
  memset(in->slope, 0, sizeof in->slope);
  in->t += h;
  return is(m, "control") && in->p[8] > 0.0 && in->t >= in->p[8] - 1e-9; // the end
}

/// Event mode: whether states change, whether it wants the end, and the next time.
static void happen(instance *m, bool *changed, bool *end, bool *timed, double *next) {
  inside *in = &m->in;
  *changed = *end = *timed = false;
  *next = 0.0;
  if (is(m, "ball") && in->x[0] <= 0.0 && in->x[1] < 0.0) {
    in->x[0] = 0.0;
    in->x[1] *= -in->p[0];
    if (in->x[1] < 0.01) in->x[1] = 0.0, in->d[0] = 1.0;
    *changed = true;
  }
  if (is(m, "relay")) in->d[0] = in->u[0] > 0.5;
  if (is(m, "stairs")) {
    if (in->t >= 0.1 * (in->d[0] + 1.0)) in->d[0] += 1.0;
    *end = in->d[0] >= in->p[0];
    *timed = true;
    *next = 0.1 * (in->d[0] + 1.0);
  }
}

// ---- values -----------------------------------------------------------------------------------------

static double *number(instance *m, unsigned r) {
  inside *in = &m->in;
  return r < 10 ? &in->p[r] : r < 14 ? &in->u[r - 10] : r >= 20 && r < 24 ? &in->x[r - 20] : NULL;
}

static status get_real(instance *m, const reference *vr, size_t n, double *out) {
  double rate[4];
  rates(m, rate);
  for (size_t i = 0; i < n; ++i) {
    const double *x = number(m, vr[i]);
    if (x)
      out[i] = *x;
    else if (vr[i] >= 30 && vr[i] < 34)
      out[i] = rate[vr[i] - 30];
    else if (vr[i] == 40)
      out[i] = output(m);
    else
      return say(m, ERROR, "there is no such variable");
  }
  return OK;
}

static status set_real(instance *m, const reference *vr, size_t n, const double *x) {
  for (size_t i = 0; i < n; ++i) {
    double *to = number(m, vr[i]);
    if (to == NULL) return say(m, ERROR, "this cannot be set");
    *to = x[i];
  }
  return OK;
}

/// d(rate, output)/d(state, input)
static double slope(const instance *m, unsigned of, unsigned by) {
  const double *x = m->in.x, mu = m->in.p[0];
  if (of == 30) return by == 21;
  if (!is(m, "vdp")) return 0.0;
  if (of == 31)
    return by == 20 ? -2.0 * mu * x[0] * x[1] - 1.0 : by == 21 ? mu * (1.0 - x[0] * x[0]) : 1.0;
  return by == 20 ? x[1] : by == 21 ? x[0] : 1.0;
}

static instance *create(const char *token, void *user) {
  static const char *const known[] = {"ball", "vdp", "stairs", "relay", "control", "mass"};
  for (int i = 0; i < 6; ++i)
    if (strcmp(token, known[i]) == 0) {
      instance *m = calloc(1, sizeof *m);
      if (m == NULL) return NULL;
      strcpy(m->model, token);
      m->user = user;
      prepare(m);
      return m;
    }
  return NULL;
}

static status start(instance *m) {
  if (m->in.p[9] == 6.0) (void)say(m, WARNING, "a warning of the test.");
  return m->in.p[9] == 5.0 ? say(m, ERROR, "it does not start") : OK;
}

// ---- functions of both versions ---------------------------------------------------------------------

EXPORT const char *F(GetVersion)(void);
EXPORT const char *F(GetVersion)(void) { return FMI == 2 ? "2.0" : "3.0"; }
EXPORT void F(FreeInstance)(void *c);
EXPORT void F(FreeInstance)(void *c) { free(c); }
EXPORT status F(ExitInitializationMode)(void *c);
EXPORT status F(ExitInitializationMode)(void *c) { return c ? OK : ERROR; }
EXPORT status F(Terminate)(void *c);
EXPORT status F(Terminate)(void *c) { return c ? OK : ERROR; }
EXPORT status F(EnterEventMode)(void *c);
EXPORT status F(EnterEventMode)(void *c) { return fault(c); }
EXPORT status F(EnterContinuousTimeMode)(void *c);
EXPORT status F(EnterContinuousTimeMode)(void *c) { return c ? OK : ERROR; }
EXPORT status F(SetTime)(void *c, double t);
EXPORT status F(SetTime)(void *c, double t) {
  ((instance *)c)->in.t = t;
  return fault(c);
}
EXPORT status F(SetContinuousStates)(void *c, const double *x, size_t n);
EXPORT status F(SetContinuousStates)(void *c, const double *x, size_t n) {
  memcpy(((instance *)c)->in.x, x, n * sizeof *x);
  return OK;
}
EXPORT status F(GetContinuousStates)(void *c, double *x, size_t n);
EXPORT status F(GetContinuousStates)(void *c, double *x, size_t n) {
  memcpy(x, ((instance *)c)->in.x, n * sizeof *x);
  return OK;
}
static status get_rates(instance *m, double *out, size_t n) {
  if ((int)n != m->nx) return say(m, ERROR, "another number of states");
  rates(m, out);
  return OK;
}
EXPORT status F(GetEventIndicators)(void *c, double *z, size_t n);
EXPORT status F(GetEventIndicators)(void *c, double *z, size_t n) {
  const instance *m = c;
  if (n > 0) z[0] = is(m, "ball") ? m->in.x[0] : is(m, "relay") ? m->in.u[0] - 0.5 : 1.0;
  return OK;
}

#if FMI == 2
#define FMU_STATE FMUstate
#else
#define FMU_STATE FMUState
#endif
static status state_get(instance *m, void **s) {
  if (*s == NULL) *s = malloc(sizeof m->in);
  if (*s) memcpy(*s, &m->in, sizeof m->in);
  return *s ? OK : ERROR;
}

#if FMI ==                                                                                         \
    2 // ------------------------------------------------------------------------------------------

EXPORT fmi2InstantiateTYPE fmi2Instantiate;
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String place,
                              const fmi2CallbackFunctions *call, fmi2Boolean visible,
                              fmi2Boolean on) {
  (void)name, (void)type, (void)visible, (void)on;
  instance *m = create(token, call->componentEnvironment);
  if (m) m->log = call->logger;
  return strncmp(place, "file:///", 8) == 0 ? m : NULL;
}
EXPORT fmi2SetupExperimentTYPE fmi2SetupExperiment;
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean given, fmi2Real tolerance, fmi2Real t,
                               fmi2Boolean ends, fmi2Real end) {
  (void)given, (void)tolerance, (void)ends, (void)end;
  ((instance *)c)->in.t = t;
  return fmi2OK;
}
EXPORT fmi2EnterInitializationModeTYPE fmi2EnterInitializationMode;
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return start(c); }
EXPORT fmi2GetRealTYPE fmi2GetReal;
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference *vr, size_t n, fmi2Real *out) {
  return get_real(c, vr, n, out);
}
EXPORT fmi2SetRealTYPE fmi2SetReal;
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference *vr, size_t n, const fmi2Real *x) {
  return set_real(c, vr, n, x);
}
EXPORT fmi2GetIntegerTYPE fmi2GetInteger;
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference *vr, size_t n, int *out) {
  for (size_t i = 0; i < n; ++i)
    out[i] = vr[i] == 61 ? ((instance *)c)->in.length : ((instance *)c)->in.whole;
  return fmi2OK;
}
EXPORT fmi2SetIntegerTYPE fmi2SetInteger;
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference *vr, size_t n, const int *x) {
  (void)vr;
  for (size_t i = 0; i < n; ++i) ((instance *)c)->in.whole = x[i];
  return fmi2OK;
}
EXPORT fmi2GetBooleanTYPE fmi2GetBoolean;
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference *vr, size_t n, int *out) {
  (void)vr;
  for (size_t i = 0; i < n; ++i) out[i] = ((instance *)c)->in.boolean;
  return fmi2OK;
}
EXPORT fmi2SetBooleanTYPE fmi2SetBoolean;
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference *vr, size_t n, const int *x) {
  (void)vr;
  for (size_t i = 0; i < n; ++i) ((instance *)c)->in.boolean = x[i];
  return fmi2OK;
}
EXPORT fmi2SetStringTYPE fmi2SetString;
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                         const fmi2String *x) {
  (void)vr;
  if (n > 0) ((instance *)c)->in.length = (int)strlen(x[0]);
  return fmi2OK;
}
EXPORT fmi2GetDerivativesTYPE fmi2GetDerivatives;
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real *out, size_t n) {
  return get_rates(c, out, n);
}
EXPORT fmi2NewDiscreteStatesTYPE fmi2NewDiscreteStates;
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
  bool changed, end, timed;
  happen(c, &changed, &end, &timed, &info->nextEventTime);
  info->newDiscreteStatesNeeded = fmi2False;
  info->valuesOfContinuousStatesChanged = changed;
  info->terminateSimulation = end;
  info->nextEventTimeDefined = timed;
  return fmi2OK;
}
EXPORT fmi2CompletedIntegratorStepTYPE fmi2CompletedIntegratorStep;
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean prior, fmi2Boolean *enter,
                                       fmi2Boolean *end) {
  (void)c, (void)prior;
  *enter = *end = fmi2False;
  return fmi2OK;
}
EXPORT fmi2GetDirectionalDerivativeTYPE fmi2GetDirectionalDerivative;
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference *of, size_t n,
                                        const fmi2ValueReference *by, size_t nk, const double *seed,
                                        double *out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = 0.0;
    for (size_t k = 0; k < nk; ++k) out[i] += slope(c, of[i], by[k]) * seed[k];
  }
  return fmi2OK;
}
EXPORT fmi2DoStepTYPE fmi2DoStep;
fmi2Status fmi2DoStep(fmi2Component c, double t, double h, fmi2Boolean prior) {
  instance *m = c;
  (void)prior;
  if (fabs(t - m->in.t) > 1e-9) return say(m, ERROR, "a step from another time");
  const status s = fault(m);
  if (s) return s;
  m->in.d[3] = advance(m, h);
  return m->in.d[3] > 0.0 ? fmi2Discard : fmi2OK;
}
EXPORT fmi2GetBooleanStatusTYPE fmi2GetBooleanStatus;
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *out) {
  *out = kind == fmi2Terminated && ((instance *)c)->in.d[3] > 0.0;
  return fmi2OK;
}
EXPORT fmi2SetRealInputDerivativesTYPE fmi2SetRealInputDerivatives;
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                       const fmi2Integer *order, const double *x) {
  for (size_t i = 0; i < n; ++i) {
    if (order[i] != 1 || vr[i] < 10 || vr[i] > 13) return fmi2Error;
    ((instance *)c)->in.slope[vr[i] - 10] = x[i];
  }
  return fmi2OK;
}

#else // -------------------------------------------------------------------------------------------------

static fmi3Instance make(fmi3String token, fmi3String place, void *user,
                         fmi3LogMessageCallback log) {
  instance *m = create(token, user);
  if (m) m->log = log;
  return place[0] == '/' && place[strlen(place) - 1] == '/' ? m : NULL;
}
EXPORT fmi3InstantiateModelExchangeTYPE fmi3InstantiateModelExchange;
fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String place,
                                          fmi3Boolean visible, fmi3Boolean on, void *user,
                                          fmi3LogMessageCallback log) {
  (void)name, (void)visible, (void)on;
  return make(token, place, user, log);
}
EXPORT fmi3InstantiateCoSimulationTYPE fmi3InstantiateCoSimulation;
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String place,
                                         fmi3Boolean visible, fmi3Boolean on, fmi3Boolean events,
                                         fmi3Boolean early, const fmi3ValueReference *vr, size_t n,
                                         void *user, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback between) {
  (void)name, (void)visible, (void)on, (void)events, (void)early, (void)vr, (void)n, (void)between;
  return make(token, place, user, log);
}
EXPORT fmi3EnterInitializationModeTYPE fmi3EnterInitializationMode;
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean given, double tolerance,
                                       double t, fmi3Boolean ends, double end) {
  (void)given, (void)tolerance, (void)ends, (void)end;
  ((instance *)c)->in.t = t;
  return start(c);
}
// Inputs u[1], u[2] are an array: its reference is 10, and it has as many elements as values are handed over.
EXPORT fmi3GetFloat64TYPE fmi3GetFloat64;
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference *vr, size_t n, double *out,
                          size_t values) {
  if (n == 1 && values > 1 && vr[0] == 10) {
    memcpy(out, ((instance *)c)->in.u, values * sizeof *out);
    return fmi3OK;
  }
  return get_real(c, vr, n, out);
}
EXPORT fmi3SetFloat64TYPE fmi3SetFloat64;
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference *vr, size_t n, const double *x,
                          size_t values) {
  if (n == 1 && values > 1 && vr[0] == 10) {
    memcpy(((instance *)c)->in.u, x, values * sizeof *x);
    return fmi3OK;
  }
  return set_real(c, vr, n, x);
}
#define OF_TYPE(Type, from)                                                                        \
  EXPORT fmi3Get##Type##TYPE fmi3Get##Type;                                                        \
  fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference *vr, size_t n,                 \
                           fmi3##Type *out, size_t values) {                                       \
    (void)values;                                                                                  \
    for (size_t i = 0; i < n; ++i)                                                                 \
      out[i] = (fmi3##Type)(vr[i] == 61 ? ((instance *)c)->in.length : ((instance *)c)->in.from);  \
    return fmi3OK;                                                                                 \
  }                                                                                                \
  EXPORT fmi3Set##Type##TYPE fmi3Set##Type;                                                        \
  fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference *vr, size_t n,                 \
                           const fmi3##Type *x, size_t values) {                                   \
    (void)values, (void)vr;                                                                        \
    if (n > 0) ((instance *)c)->in.from = (int)x[0];                                               \
    return fmi3OK;                                                                                 \
  }
OF_TYPE(Float32, whole)
OF_TYPE(Int8, whole)
OF_TYPE(UInt8, whole)
OF_TYPE(Int16, whole)
OF_TYPE(UInt16, whole)
OF_TYPE(Int32, whole)
OF_TYPE(UInt32, whole)
OF_TYPE(Int64, whole)
OF_TYPE(UInt64, whole)
OF_TYPE(Boolean, boolean)
EXPORT fmi3SetStringTYPE fmi3SetString;
fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference *vr, size_t n,
                         const fmi3String *x, size_t values) {
  (void)vr, (void)values;
  if (n > 0) ((instance *)c)->in.length = (int)strlen(x[0]);
  return fmi3OK;
}
EXPORT fmi3GetContinuousStateDerivativesTYPE fmi3GetContinuousStateDerivatives;
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, double *out, size_t n) {
  return get_rates(c, out, n);
}
EXPORT fmi3GetNumberOfContinuousStatesTYPE fmi3GetNumberOfContinuousStates;
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n) {
  *n = (size_t)((instance *)c)->nx;
  return fmi3OK;
}
EXPORT fmi3GetNumberOfEventIndicatorsTYPE fmi3GetNumberOfEventIndicators;
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n) {
  *n = is(c, "ball") || is(c, "relay");
  return fmi3OK;
}
EXPORT fmi3UpdateDiscreteStatesTYPE fmi3UpdateDiscreteStates;
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *end,
                                    fmi3Boolean *nominals, fmi3Boolean *changed, fmi3Boolean *timed,
                                    double *next) {
  *again = *nominals = false;
  happen(c, changed, end, timed, next);
  return fmi3OK;
}
EXPORT fmi3CompletedIntegratorStepTYPE fmi3CompletedIntegratorStep;
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean prior, fmi3Boolean *enter,
                                       fmi3Boolean *end) {
  (void)c, (void)prior;
  *enter = *end = false;
  return fmi3OK;
}
EXPORT fmi3GetDirectionalDerivativeTYPE fmi3GetDirectionalDerivative;
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference *of, size_t n,
                                        const fmi3ValueReference *by, size_t nk, const double *seed,
                                        size_t ns, double *out, size_t no) {
  (void)ns, (void)no;
  for (size_t i = 0; i < n; ++i) {
    out[i] = 0.0;
    for (size_t k = 0; k < nk; ++k) out[i] += slope(c, of[i], by[k]) * seed[k];
  }
  return fmi3OK;
}
EXPORT fmi3DoStepTYPE fmi3DoStep;
fmi3Status fmi3DoStep(fmi3Instance c, double t, double h, fmi3Boolean prior, fmi3Boolean *event,
                      fmi3Boolean *end, fmi3Boolean *early, double *last) {
  instance *m = c;
  (void)prior;
  *event = *early = false;
  *last = t;
  if (fabs(t - m->in.t) > 1e-9) return say(m, ERROR, "a step from another time");
  const status s = fault(m);
  if (s) return s;
  *end = advance(m, h);
  *last = t + h;
  return fmi3OK;
}
#endif

// ---- states -----------------------------------------------------------------------------------------

#define PASTE(a, b, c) a##b##c
#define NAME(a, b, c) PASTE(a, b, c)
#if FMI == 2
#define PREFIX fmi2
#define DESERIALIZE fmi2DeSerializeFMUstate
typedef char byte;
#else
#define PREFIX fmi3
#define DESERIALIZE fmi3DeserializeFMUState
typedef unsigned char byte;
#endif
#define GET_STATE NAME(PREFIX, Get, FMU_STATE)
#define SET_STATE NAME(PREFIX, Set, FMU_STATE)
#define FREE_STATE NAME(PREFIX, Free, FMU_STATE)
#define PACK_STATE NAME(PREFIX, Serialize, FMU_STATE)
#if FMI == 2
#define PACK_SIZE fmi2SerializedFMUstateSize
#else
#define PACK_SIZE fmi3SerializedFMUStateSize
#endif
EXPORT status GET_STATE(void *c, void **s);
EXPORT status GET_STATE(void *c, void **s) { return state_get(c, s); }
EXPORT status SET_STATE(void *c, void *s);
EXPORT status SET_STATE(void *c, void *s) {
  memcpy(&((instance *)c)->in, s, sizeof(inside));
  return OK;
}
EXPORT status FREE_STATE(void *c, void **s);
EXPORT status FREE_STATE(void *c, void **s) {
  (void)c;
  free(*s);
  *s = NULL;
  return OK;
}
EXPORT status PACK_SIZE(void *c, void *s, size_t *size);
EXPORT status PACK_SIZE(void *c, void *s, size_t *size) {
  (void)c, (void)s;
  *size = sizeof(inside);
  return OK;
}
EXPORT status PACK_STATE(void *c, void *s, byte *out, size_t size);
EXPORT status PACK_STATE(void *c, void *s, byte *out, size_t size) {
  (void)c;
  memcpy(out, s, size);
  return OK;
}
EXPORT status DESERIALIZE(void *c, const byte *in, size_t size, void **s);
EXPORT status DESERIALIZE(void *c, const byte *in, size_t size, void **s) {
  if (size != sizeof(inside)) return say(c, ERROR, "bytes of another FMU");
  *s = malloc(size);
  if (*s) memcpy(*s, in, size);
  return *s ? OK : ERROR;
}
