/// A small importer of co-simulation FMUs that runs on Linux and on Windows: what it prints on one is compared with the other.
///
///   windows_importer VERSION LIBRARY RESOURCES TOKEN H STEPS write|read STATE INPUTS... / OUTPUTS...
///
/// VERSION 2 or 3, RESOURCES as fmi2Instantiate or fmi3InstantiateCoSimulation takes it, variables by their references. Two instances go on side
/// by side, of which the outputs of one are printed after each step. Half way the state is serialized and written to the file STATE; at
/// the end it is taken up again by the second instance, which must come to the same bits. `read` begins with the state of the file instead.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi2.h"
#include "fmi/fmi3.h"

#ifdef _WIN32
#include <windows.h>
static void *open_library(const char *path) {
  wchar_t wide[1024];
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 1024);
  return (void *)LoadLibraryW(wide);
}
static void find(void *library, const char *name, void *out) {
  FARPROC f = GetProcAddress(library, name);
  memcpy(out, &f, sizeof f);
}
#else
#include <dlfcn.h>
static void *open_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void find(void *library, const char *name, void *out) {
  void *f = dlsym(library, name);
  memcpy(out, &f, sizeof f);
}
#endif

enum { MOST = 64 };

typedef struct slave {
  void *library, *c;
  int version;
  double t;
} slave;

static void stop(const char *what) {
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static void hear2(fmi2ComponentEnvironment where, fmi2String name, fmi2Status status,
                  fmi2String category, fmi2String format, ...) {
  va_list arguments;
  (void)where;
  fprintf(stderr, "%s: %d %s: ", name, (int)status, category);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

static void hear3(fmi3InstanceEnvironment where, fmi3Status status, fmi3String category,
                  fmi3String message) {
  (void)where;
  fprintf(stderr, "%d %s: %s\n", (int)status, category, message);
}

static const fmi2CallbackFunctions callbacks = {.logger = hear2};

// fmiN##name of the library, of its type.
#define FMI2(s, name)                                                                              \
  fmi2##name##TYPE *name;                                                                          \
  find((s)->library, "fmi2" #name, &name)
#define FMI3(s, name)                                                                              \
  fmi3##name##TYPE *name;                                                                          \
  find((s)->library, "fmi3" #name, &name)
#define BOTH(s, name, arguments2, arguments3)                                                      \
  do {                                                                                             \
    if ((s)->version == 2) {                                                                       \
      FMI2(s, name);                                                                               \
      if (name == NULL || name arguments2 != fmi2OK) stop(#name);                                  \
    } else {                                                                                       \
      FMI3(s, name);                                                                               \
      if (name == NULL || name arguments3 != fmi3OK) stop(#name);                                  \
    }                                                                                              \
  } while (0)

static void begin(slave *s, const char *resources, const char *token) {
  if (s->version == 2) {
    FMI2(s, Instantiate);
    FMI2(s, SetupExperiment);
    if (Instantiate == NULL || SetupExperiment == NULL) stop("GetProcAddress");
    s->c = Instantiate("x", fmi2CoSimulation, token, resources, &callbacks, 0, 0);
    if (s->c == NULL || SetupExperiment(s->c, 0, 0.0, 0.0, 0, 0.0) != fmi2OK) stop("Instantiate");
  } else {
    FMI3(s, InstantiateCoSimulation);
    if (InstantiateCoSimulation == NULL) stop("GetProcAddress");
    s->c = InstantiateCoSimulation("x", token, resources, false, false, false, false, NULL, 0, NULL,
                                   hear3, NULL);
    if (s->c == NULL) stop("InstantiateCoSimulation");
  }
  BOTH(s, EnterInitializationMode, (s->c), (s->c, false, 0.0, 0.0, false, 0.0));
  BOTH(s, ExitInitializationMode, (s->c), (s->c));
}

static void end(slave *s) {
  if (s->version == 2) {
    FMI2(s, FreeInstance);
    FreeInstance(s->c);
  } else {
    FMI3(s, FreeInstance);
    FreeInstance(s->c);
  }
}

static void set(slave *s, const unsigned *vr, size_t n, const double *value) {
  if (s->version == 2) {
    FMI2(s, SetReal);
    if (SetReal(s->c, vr, n, value) != fmi2OK) stop("SetReal");
  } else {
    FMI3(s, SetFloat64);
    if (SetFloat64(s->c, vr, n, value, n) != fmi3OK) stop("SetFloat64");
  }
}

static void get(slave *s, const unsigned *vr, size_t n, double *value) {
  if (s->version == 2) {
    FMI2(s, GetReal);
    if (GetReal(s->c, vr, n, value) != fmi2OK) stop("GetReal");
  } else {
    FMI3(s, GetFloat64);
    if (GetFloat64(s->c, vr, n, value, n) != fmi3OK) stop("GetFloat64");
  }
}

static void step(slave *s, double t, double h) {
  fmi3Boolean event, terminate, early;
  double last;
  BOTH(s, DoStep, (s->c, t, h, 0), (s->c, t, h, false, &event, &terminate, &early, &last));
  s->t = t + h;
}

static char *serialize(slave *s, size_t *size) {
  void *state = NULL;
  char *bytes;
  if (s->version == 2) {
    FMI2(s, GetFMUstate);
    FMI2(s, FreeFMUstate);
    FMI2(s, SerializedFMUstateSize);
    FMI2(s, SerializeFMUstate);
    if (GetFMUstate(s->c, &state) || SerializedFMUstateSize(s->c, state, size)) stop("GetFMUstate");
    bytes = malloc(*size);
    if (bytes == NULL || SerializeFMUstate(s->c, state, bytes, *size)) stop("SerializeFMUstate");
    FreeFMUstate(s->c, &state);
  } else {
    FMI3(s, GetFMUState);
    FMI3(s, FreeFMUState);
    FMI3(s, SerializedFMUStateSize);
    FMI3(s, SerializeFMUState);
    if (GetFMUState(s->c, &state) || SerializedFMUStateSize(s->c, state, size)) stop("GetFMUState");
    bytes = malloc(*size);
    if (bytes == NULL || SerializeFMUState(s->c, state, (fmi3Byte *)bytes, *size))
      stop("SerializeFMUState");
    FreeFMUState(s->c, &state);
  }
  return bytes;
}

static void take_up(slave *s, const char *bytes, size_t size) {
  void *state = NULL;
  if (s->version == 2) {
    FMI2(s, SetFMUstate);
    FMI2(s, FreeFMUstate);
    FMI2(s, DeSerializeFMUstate);
    if (DeSerializeFMUstate(s->c, bytes, size, &state) || SetFMUstate(s->c, state))
      stop("SetFMUstate");
    FreeFMUstate(s->c, &state);
  } else {
    FMI3(s, SetFMUState);
    FMI3(s, FreeFMUState);
    FMI3(s, DeserializeFMUState);
    if (DeserializeFMUState(s->c, (const fmi3Byte *)bytes, size, &state) ||
        SetFMUState(s->c, state))
      stop("SetFMUState");
    FreeFMUState(s->c, &state);
  }
}

/// Steps `from` to `to`; the last outputs are left in `out`.
static void run(slave *s, int from, int to, double h, const unsigned *in, int n_in,
                const unsigned *vr, int n, double *out, int prints) {
  for (int k = from; k < to; ++k) {
    double value[MOST];
    for (int i = 0; i < n_in; ++i) value[i] = sin(0.05 * k + i);
    if (n_in > 0) set(s, in, (size_t)n_in, value);
    step(s, k * h, h);
    get(s, vr, (size_t)n, out);
    for (int i = 0; i < n && prints; ++i) printf(i + 1 < n ? "%.17g " : "%.17g\n", out[i]);
  }
}

static int go(int n_arguments, char **a) {
  unsigned in[MOST], vr[MOST];
  double out[MOST], again[MOST];
  int n_in = 0, n = 0, outputs = 0;
  if (n_arguments < 10) stop("usage");
  for (int i = 9; i < n_arguments; ++i) {
    if (strcmp(a[i], "/") == 0)
      outputs = 1;
    else if (outputs)
      vr[n++] = (unsigned)atoi(a[i]);
    else
      in[n_in++] = (unsigned)atoi(a[i]);
  }
  const double h = atof(a[5]);
  const int steps = atoi(a[6]), half = steps / 2, reads = strcmp(a[7], "read") == 0;
  slave s[2];
  for (int k = 0; k < 2; ++k) {
    s[k] = (slave){.library = open_library(a[2]), .version = atoi(a[1])};
    if (s[k].library == NULL) stop(a[2]);
    begin(&s[k], a[3], a[4]);
  }
  size_t size = 0;
  char *bytes;
  FILE *file = fopen(a[8], reads ? "rb" : "wb");
  if (file == NULL) stop(a[8]);
  if (reads) {
    bytes = malloc(1 << 24);
    if (bytes) size = fread(bytes, 1, 1 << 24, file);
    take_up(&s[0], bytes, size);
  } else {
    run(&s[0], 0, half, h, in, n_in, vr, n, out, 1);
    run(&s[1], 0, half + 1, h, in, n_in, vr, n, again, 0);
    bytes = serialize(&s[0], &size);
    if (fwrite(bytes, 1, size, file) != size) stop(a[8]);
  }
  if (fclose(file)) stop(a[8]);
  run(&s[0], half, steps, h, in, n_in, vr, n, out, 1);
  take_up(&s[1], bytes, size);
  run(&s[1], half, steps, h, in, n_in, vr, n, again, 0);
  free(bytes);
  for (int k = 0; k < 2; ++k) end(&s[k]);
  if (memcmp(out, again, (size_t)n * sizeof *out) != 0) stop("a state that is taken up again");
  return 0;
}

#ifdef _WIN32
int wmain(int n, wchar_t **wide) {
  static char text[128][1024];
  char *a[128];
  for (int i = 0; i < n && i < 128; ++i) {
    WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, text[i], sizeof text[i], NULL, NULL);
    a[i] = text[i];
  }
  return n <= 128 ? go(n, a) : 1;
}
#else
int main(int n, char **a) { return go(n, a); }
#endif
