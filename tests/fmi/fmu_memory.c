/// An FMU of ours in a program of its own, so that its memory can be made to fail: each allocation in turn (every third), that one alone or all from it on.
///
///   fmu_memory VERSION RESOURCES TOKEN INPUTS... / OUTPUTS...
///
/// Every session is the same: instance, start, steps with inputs, a state that is taken, serialized, read and used, derivatives, steps, the end. Whatever
/// fails has to have a status and a sentence; nothing may leak; and if every status was good, the outputs have to be those of the first session.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"

fmi2InstantiateTYPE fmi2Instantiate;
fmi2FreeInstanceTYPE fmi2FreeInstance;
fmi2SetupExperimentTYPE fmi2SetupExperiment;
fmi2EnterInitializationModeTYPE fmi2EnterInitializationMode;
fmi2ExitInitializationModeTYPE fmi2ExitInitializationMode;
fmi2SetRealTYPE fmi2SetReal;
fmi2GetRealTYPE fmi2GetReal;
fmi2DoStepTYPE fmi2DoStep;
fmi2GetFMUstateTYPE fmi2GetFMUstate;
fmi2SetFMUstateTYPE fmi2SetFMUstate;
fmi2FreeFMUstateTYPE fmi2FreeFMUstate;
fmi2SerializedFMUstateSizeTYPE fmi2SerializedFMUstateSize;
fmi2SerializeFMUstateTYPE fmi2SerializeFMUstate;
fmi2DeSerializeFMUstateTYPE fmi2DeSerializeFMUstate;
fmi2GetDirectionalDerivativeTYPE fmi2GetDirectionalDerivative;
fmi3InstantiateCoSimulationTYPE fmi3InstantiateCoSimulation;
fmi3FreeInstanceTYPE fmi3FreeInstance;
fmi3EnterInitializationModeTYPE fmi3EnterInitializationMode;
fmi3ExitInitializationModeTYPE fmi3ExitInitializationMode;
fmi3SetFloat64TYPE fmi3SetFloat64;
fmi3GetFloat64TYPE fmi3GetFloat64;
fmi3DoStepTYPE fmi3DoStep;
fmi3GetFMUStateTYPE fmi3GetFMUState;
fmi3SetFMUStateTYPE fmi3SetFMUState;
fmi3FreeFMUStateTYPE fmi3FreeFMUState;
fmi3SerializedFMUStateSizeTYPE fmi3SerializedFMUStateSize;
fmi3SerializeFMUStateTYPE fmi3SerializeFMUState;
fmi3DeserializeFMUStateTYPE fmi3DeserializeFMUState;
fmi3GetDirectionalDerivativeTYPE fmi3GetDirectionalDerivative;

enum { MOST = 64, ROOM = 1 << 22 };
static unsigned in[MOST], vr[MOST];
static size_t n_in, n;
static unsigned char bytes[ROOM]; // so that the importer itself needs no memory
static int sentences;

static void hear2(fmi2ComponentEnvironment where, fmi2String name, fmi2Status status,
                  fmi2String category, fmi2String format, ...) {
  (void)where, (void)name, (void)status, (void)category, (void)format;
  ++sentences;
}
static void hear3(fmi3InstanceEnvironment where, fmi3Status status, fmi3String category,
                  fmi3String message) {
  (void)where, (void)status, (void)category, (void)message;
  ++sentences;
}

// The first call that is not good ends the session.
#define DO(call)                                                                                   \
  if ((call) != 0) break

static void steps2(void *c, int from, double *out, int *done) {
  const double h = 0.01;
  for (int k = from; k < from + 3; ++k) {
    double w[MOST];
    for (size_t i = 0; i < n_in; ++i) w[i] = 0.1 * k + (double)i;
    DO(fmi2SetReal(c, in, n_in, w));
    DO(fmi2DoStep(c, k * h, h, 0));
    DO(fmi2GetReal(c, vr, n, out));
    ++*done;
  }
}

static int session2(const char *resources, const char *token, double *out) {
  static const fmi2CallbackFunctions callbacks = {.logger = hear2};
  void *c = fmi2Instantiate("x", fmi2CoSimulation, token, resources, &callbacks, 0, 0);
  void *state = NULL;
  int done = 0;
  for (int once = 0; once < 1 && c; ++once) {
    size_t size = 0;
    double seed[MOST], slope[MOST];
    for (size_t i = 0; i < n_in; ++i) seed[i] = 1.0;
    DO(fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0));
    DO(fmi2EnterInitializationMode(c));
    DO(fmi2ExitInitializationMode(c));
    steps2(c, 0, out, &done);
    if (done != 3) break;
    DO(fmi2GetFMUstate(c, &state));
    DO(fmi2SerializedFMUstateSize(c, state, &size));
    if (size > ROOM) break;
    DO(fmi2SerializeFMUstate(c, state, (fmi2Byte *)bytes, size));
    DO(fmi2FreeFMUstate(c, &state));
    if (n_in > 0) DO(fmi2GetDirectionalDerivative(c, vr, n, in, n_in, seed, slope));
    DO(fmi2DeSerializeFMUstate(c, (const fmi2Byte *)bytes, size, &state));
    DO(fmi2SetFMUstate(c, state));
    steps2(c, 3, out, &done);
  }
  if (state) fmi2FreeFMUstate(c, &state);
  fmi2FreeInstance(c);
  return done == 6;
}

static void steps3(void *c, int from, double *out, int *done) {
  const double h = 0.01;
  for (int k = from; k < from + 3; ++k) {
    double w[MOST], last;
    bool event, terminate, early;
    for (size_t i = 0; i < n_in; ++i) w[i] = 0.1 * k + (double)i;
    DO(fmi3SetFloat64(c, in, n_in, w, n_in));
    DO(fmi3DoStep(c, k * h, h, false, &event, &terminate, &early, &last));
    DO(fmi3GetFloat64(c, vr, n, out, n));
    ++*done;
  }
}

static int session3(const char *resources, const char *token, double *out) {
  void *c = fmi3InstantiateCoSimulation("x", token, resources, false, false, false, false, NULL, 0,
                                        NULL, hear3, NULL);
  void *state = NULL;
  int done = 0;
  for (int once = 0; once < 1 && c; ++once) {
    size_t size = 0;
    double seed[MOST], slope[MOST];
    for (size_t i = 0; i < n_in; ++i) seed[i] = 1.0;
    DO(fmi3EnterInitializationMode(c, false, 0.0, 0.0, false, 0.0));
    DO(fmi3ExitInitializationMode(c));
    steps3(c, 0, out, &done);
    if (done != 3) break;
    DO(fmi3GetFMUState(c, &state));
    DO(fmi3SerializedFMUStateSize(c, state, &size));
    if (size > ROOM) break;
    DO(fmi3SerializeFMUState(c, state, bytes, size));
    DO(fmi3FreeFMUState(c, &state));
    if (n_in > 0) DO(fmi3GetDirectionalDerivative(c, vr, n, in, n_in, seed, n_in, slope, n));
    DO(fmi3DeserializeFMUState(c, bytes, size, &state));
    DO(fmi3SetFMUState(c, state));
    steps3(c, 3, out, &done);
  }
  if (state) fmi3FreeFMUState(c, &state);
  fmi3FreeInstance(c);
  return done == 6;
}

static int session(char **a, double *out) {
  memset(out, 0, MOST * sizeof *out);
  return a[1][0] == '2' ? session2(a[2], a[3], out) : session3(a[2], a[3], out);
}

static int fault(long k, const char *what) {
  fprintf(stderr, "allocation %ld: %s\n", k, what);
  return 1;
}

int main(int n_arguments, char **a) {
  double first[MOST], out[MOST];
  int outputs = 0;
  for (int i = 4; i < n_arguments; ++i) {
    if (strcmp(a[i], "/") == 0)
      outputs = 1;
    else if (outputs)
      vr[n++] = (unsigned)atoi(a[i]);
    else
      in[n_in++] = (unsigned)atoi(a[i]);
  }
  if (n == 0 || !session(a, first)) return fault(0, "the session fails without a reason");
  const long live = memory.live;
  long taken = memory.taken;
  if (!session(a, out) || memory.live != live) return fault(0, "a second session leaks");
  taken = memory.taken - taken;
  long good = 0;
  for (int all = 0; all < 2; ++all)
    for (long k = 1; k <= taken; k += all ? 11 : 3) {
      memory.fail_on = all;
      memory.fail_at = k;
      memory.failed = 0;
      sentences = 0;
      const int fine = session(a, out);
      memory.fail_at = 0;
      if (memory.failed == 0) return fault(k, "it is not asked for");
      if (memory.live != live) return fault(k, "something leaks");
      if (!fine && sentences == 0) return fault(k, "it fails without a sentence");
      if (fine && memcmp(out, first, n * sizeof *out) != 0)
        return fault(k, "all is good, but the outputs differ");
      good += fine;
    }
  printf("%ld allocations, %ld sessions did without\n", taken, good);
  return 0;
}
