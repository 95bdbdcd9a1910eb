/// Exported FMUs, driven by a small importer: the same bits as a native run with the same steps; many instances, in threads; states that are
/// saved, taken up, and taken to another instance; inputs and their derivatives; events; calls that are wrong.
///
/// This program has the linear algebra of FMUs, not LAPACK and KLU, so that the native runs can have the same bits.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"
#include "fmus.h"

static const char *const cart =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {mass: 2, stiffness: 30, gain: 5, drag: 0.4, both: mass + 1}\n"
    "bodies:\n"
    "  cart: {mass: mass, inertia: [1, 1, 1]}\n"
    "  bob: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, 0, -1]}\n"
    "joints:\n"
    "  rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0]}\n"
    "  pin: {type: revolute, bodies: [cart, bob], point: [0, 0, 0], axis: [0, 1, 0], start: "
    "{angle: 0.4}}\n"
    "forces:\n"
    "  push: {type: actuator, joint: rail, force: blocks.in*gain - "
    "drag*joints.rail.displacement_rate}\n"
    "  spring: {type: spring, bodies: [ground, cart], point: [-1, 0, 0], second_point: [0, 0, 0], "
    "stiffness: stiffness, length: 1}\n"
    "blocks:\n"
    "  in: {type: input, start: 1, unit: N}\n"
    "  lag: {type: state, rate: (joints.rail.displacement - blocks.lag)*10, unit: m}\n"
    "simulate: {t_end: 2, step: 0.01}\n"
    "output: {channels: [joints.rail.displacement, joints.pin.angle, joints.pin.force, "
    "bodies.bob.acceleration.x]}\n";

enum { OUTPUTS = 7, STEPS = 60 };
static const char *const output[OUTPUTS] = {"joints.rail.displacement",
                                            "joints.pin.angle",
                                            "joints.pin.force.x",
                                            "joints.pin.force.y",
                                            "joints.pin.force.z",
                                            "bodies.bob.acceleration.x",
                                            "blocks.lag"};

// ---- importer ---------------------------------------------------------------------------------------

#define FUNCTIONS2(X)                                                                              \
  X(Instantiate)                                                                                   \
  X(FreeInstance)                                                                                  \
  X(SetupExperiment)                                                                               \
  X(EnterInitializationMode)                                                                       \
  X(ExitInitializationMode)                                                                        \
  X(Terminate)                                                                                     \
  X(Reset)                                                                                         \
  X(GetReal)                                                                                       \
  X(SetReal)                                                                                       \
  X(GetInteger)                                                                                    \
  X(DoStep)                                                                                        \
  X(CancelStep)                                                                                    \
  X(GetFMUstate)                                                                                   \
  X(SetFMUstate)                                                                                   \
  X(FreeFMUstate)                                                                                  \
  X(SerializedFMUstateSize)                                                                        \
  X(SerializeFMUstate)                                                                             \
  X(DeSerializeFMUstate)                                                                           \
  X(SetRealInputDerivatives)                                                                       \
  X(GetRealOutputDerivatives)                                                                      \
  X(GetDirectionalDerivative)                                                                      \
  X(GetBooleanStatus)                                                                              \
  X(GetRealStatus)                                                                                 \
  X(GetDerivatives)                                                                                \
  X(SetDebugLogging)

typedef struct importer2 {
  fmus_unpacked fmu;
  char uri[700];
  unsigned in, gain, mass, out[OUTPUTS];
#define X(name) fmi2##name##TYPE *name;
  FUNCTIONS2(X)
#undef X
} importer2;

static char folder[300], said[2000];

static void hear2(fmi2ComponentEnvironment where, fmi2String name, fmi2Status status,
                  fmi2String category, fmi2String format, ...) {
  (void)where;
  (void)name;
  (void)status;
  (void)category;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(said, sizeof said, format, arguments);
  va_end(arguments);
}
static const fmi2CallbackFunctions callbacks = {.logger = hear2};

/// Writes a model file and exports it; the path of the FMU is static.
static const char *export(const char *text, as_fmu_def def) {
  static char path[400];
  char model[400];
  as_error error;
  as_messages *messages = calloc(1, sizeof *messages);
  snprintf(model, sizeof model, "%s/model.yaml", folder);
  snprintf(path, sizeof path, "%s/test.fmu", folder);
  FILE *file = fopen(model, "w");
  assert_true(file && messages && fputs(text, file) >= 0 && fclose(file) == 0);
  def.model = model;
  if (as_fmu_export(&def, path, NULL, messages, &error)) fail_msg("%s", error.message);
  free(messages);
  return path;
}

static void open2(const char *fmu, importer2 *i) {
  fmus_unpack(fmu, &i->fmu);
  snprintf(i->uri, sizeof i->uri, "file://%s/resources", i->fmu.folder);
#define X(name) fmus_function(&i->fmu, "fmi2" #name, &i->name, sizeof i->name);
  FUNCTIONS2(X)
#undef X
}

/// The cart, with its variables.
static void open_cart(importer2 *i, const char *tunable, bool derivatives) {
  as_fmu_def def = as_default_fmu_def();
  def.tunable = &tunable;
  def.n_tunable = tunable != NULL;
  def.input_derivatives = derivatives;
  open2(export(cart, def), i);
  i->in = fmus_reference(&i->fmu, "blocks.in");
  i->gain = fmus_reference(&i->fmu, "parameters.gain");
  i->mass = fmus_reference(&i->fmu, "parameters.mass");
  for (int k = 0; k < OUTPUTS; ++k) i->out[k] = fmus_reference(&i->fmu, output[k]);
}

static fmi2Component instantiate(const importer2 *i) {
  said[0] = '\0';
  fmi2Component c = i->Instantiate("cart", fmi2CoSimulation, i->fmu.token, i->uri, &callbacks,
                                   fmi2False, fmi2False);
  if (c == NULL) fail_msg("%s", said);
  return c;
}

#define OK(call)                                                                                   \
  do {                                                                                             \
    said[0] = '\0';                                                                                \
    const int status_ = (int)(call);                                                               \
    if (status_ != 0) fail_msg("%s: status %d: %s", #call, status_, said);                         \
  } while (0)

/// The call fails with this status, and says this.
#define FAILS(call, wanted, words)                                                                 \
  do {                                                                                             \
    said[0] = '\0';                                                                                \
    const int status_ = (int)(call);                                                               \
    if (status_ != (int)(wanted) || strstr(said, words) == NULL)                                   \
      fail_msg("%s: status %d: \"%s\", not \"%s\"", #call, status_, said, words);                  \
  } while (0)

static void near(double x, double wanted, double tolerance) {
  if (!(fabs(x - wanted) <= tolerance)) fail_msg("%.17g, not %.17g", x, wanted);
}

static void initialize(const importer2 *i, fmi2Component c) {
  OK(i->SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2True, 2.0));
  OK(i->EnterInitializationMode(c));
  OK(i->ExitInitializationMode(c));
}

/// Inputs that change at every fourth step.
static double input_at(int step) { return 1.0 + 0.5 * (step / 4 % 5); }

/// Steps first ... last - 1 of 0.02 s, with their outputs.
static void drive(const importer2 *i, fmi2Component c, int first, int last,
                  double rows[][OUTPUTS]) {
  for (int k = first; k < last; ++k) {
    const double u = input_at(k);
    OK(i->SetReal(c, &i->in, 1, &u));
    OK(i->DoStep(c, 0.02 * k, 0.02 * (k + 1) - 0.02 * k, fmi2True));
    OK(i->GetReal(c, i->out, OUTPUTS, rows[k]));
  }
}

// ---- the same bits ----------------------------------------------------------------------------------

/// The same by the library.
static void drive_native(const char *const *settings, int n_settings, double rows[][OUTPUTS]) {
  char model[400];
  snprintf(model, sizeof model, "%s/model.yaml", folder);
  as_messages *messages = calloc(1, sizeof *messages);
  as_machine *m;
  as_error error;
  as_integrator *s;
  as_channels *c;
  if (as_machine_load(model, settings, n_settings, &m, messages))
    fail_msg("%s", messages->message[0].text);
  as_integrator_def how = m->simulation.integrator;
  how.tolerance.land = true;
  if (as_integrator_create(as_model_problem(m->model), &how, &s, &error) ||
      as_channels_create(m->model, output, OUTPUTS, &c, &error) ||
      as_integrator_start(s, as_model_initial(m->model), NULL, &error))
    fail_msg("%s", error.message);
  double t = 0.0;
  for (int k = 0; k < STEPS; ++k) {
    const double u = input_at(k);
    if (u != as_integrator_state(s)->u[0] && as_integrator_set_signals(s, &u, &error))
      fail_msg("%s", error.message);
    t = 0.02 * k + (0.02 * (k + 1) - 0.02 * k);
    if (as_integrator_advance(s, t, &error)) fail_msg("%s", error.message);
    const as_view view = {.state = as_integrator_state(s)};
    assert_int_equal(as_channels_follow(c, view.state, &error), AS_OK);
    assert_int_equal(as_channels_evaluate(c, &view, rows[k], &error), AS_OK);
  }
  as_channels_destroy(c);
  as_integrator_destroy(s);
  as_machine_destroy(m);
  free(messages);
}

static void same_bits(void **unused) {
  importer2 i;
  static double rows[STEPS][OUTPUTS], native[STEPS][OUTPUTS];
  (void)unused;
  open_cart(&i, NULL, false);
  fmi2Component c = instantiate(&i);
  initialize(&i, c);
  drive(&i, c, 0, STEPS, rows);
  drive_native(NULL, 0, native);
  assert_memory_equal(rows, native, sizeof rows);
  assert_true(fabs(rows[STEPS - 1][0]) > 0.01); // it has moved
  // Once more after a reset, with another mass, which is built anew.
  OK(i.Reset(c));
  OK(i.SetReal(c, &i.mass, 1, (double[]){3.5}));
  initialize(&i, c);
  drive(&i, c, 0, STEPS, rows);
  assert_memory_not_equal(rows, native, sizeof rows);
  drive_native((const char *[]){"parameters.mass=3.5"}, 1, native);
  assert_memory_equal(rows, native, sizeof rows);
  i.FreeInstance(c);
  fmus_remove(&i.fmu);
}

/// A hundred at a time, advanced in turns, and half of them with another gain.
static void many_instances(void **unused) {
  enum { MANY = 100, FEW = 6 };
  importer2 i;
  static double rows[MANY][STEPS][OUTPUTS];
  static fmi2Component c[MANY];
  (void)unused;
  open_cart(&i, "parameters.gain", false);
  for (int k = 0; k < MANY; ++k) {
    c[k] = instantiate(&i);
    OK(i.SetReal(c[k], &i.gain, 1, (double[]){k % 2 ? 5.0 : 7.0}));
    initialize(&i, c[k]);
  }
  for (int step = 0; step < FEW; ++step)
    for (int k = 0; k < MANY; ++k) drive(&i, c[k], step, step + 1, rows[k]);
  for (int k = 2; k < MANY; ++k) assert_memory_equal(rows[k], rows[k % 2], sizeof rows[0]);
  assert_memory_not_equal(rows[0], rows[1], sizeof rows[0]);
  for (int k = 0; k < MANY; ++k) i.FreeInstance(c[k]);
  fmus_remove(&i.fmu);
}

typedef struct job {
  const importer2 *i;
  double rows[STEPS][OUTPUTS];
} job;

static void *work(void *given) {
  job *j = given;
  fmi2Component c = j->i->Instantiate("cart", fmi2CoSimulation, j->i->fmu.token, j->i->uri,
                                      &(fmi2CallbackFunctions){0}, fmi2False, fmi2False);
  j->i->SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2True, 2.0);
  j->i->EnterInitializationMode(c);
  j->i->ExitInitializationMode(c);
  for (int k = 0; k < STEPS; ++k) {
    const double u = input_at(k);
    j->i->SetReal(c, &j->i->in, 1, &u);
    j->i->DoStep(c, 0.02 * k, 0.02 * (k + 1) - 0.02 * k, fmi2True);
    j->i->GetReal(c, j->i->out, OUTPUTS, j->rows[k]);
  }
  j->i->FreeInstance(c);
  return NULL;
}

static void threads(void **unused) {
  enum { THREADS = 8 };
  static job jobs[THREADS];
  pthread_t thread[THREADS];
  importer2 i;
  (void)unused;
  open_cart(&i, NULL, false);
  for (int k = 0; k < THREADS; ++k) {
    jobs[k].i = &i;
    assert_int_equal(pthread_create(&thread[k], NULL, work, &jobs[k]), 0);
  }
  for (int k = 0; k < THREADS; ++k) assert_int_equal(pthread_join(thread[k], NULL), 0);
  fmi2Component c = instantiate(&i);
  static double rows[STEPS][OUTPUTS];
  initialize(&i, c);
  drive(&i, c, 0, STEPS, rows);
  for (int k = 0; k < THREADS; ++k) assert_memory_equal(jobs[k].rows, rows, sizeof rows);
  i.FreeInstance(c);
  fmus_remove(&i.fmu);
}

// ---- states -----------------------------------------------------------------------------------------

/// Goes on, goes back, goes on: the same. Then the bytes of the state in a new instance that was never started, with another mass.
static void states(void **unused) {
  importer2 i;
  static double once[STEPS][OUTPUTS], again[STEPS][OUTPUTS];
  fmi2FMUstate state = NULL, other = NULL;
  size_t size;
  (void)unused;
  open_cart(&i, "parameters.gain", false);
  fmi2Component c = instantiate(&i);
  OK(i.SetReal(c, &i.mass, 1, (double[]){2.5}));
  initialize(&i, c);
  drive(&i, c, 0, 22, once);
  OK(i.SetReal(c, &i.gain, 1, (double[]){6.0}));
  OK(i.GetFMUstate(c, &state));
  drive(&i, c, 22, STEPS, once);
  OK(i.SetFMUstate(c, state));
  drive(&i, c, 22, STEPS, again);
  assert_memory_equal(once[22], again[22], (STEPS - 22) * sizeof once[0]);

  OK(i.SerializedFMUstateSize(c, state, &size));
  char *bytes = malloc(size);
  OK(i.SerializeFMUstate(c, state, bytes, size));
  fmi2Component d = instantiate(&i);
  memset(again, 0, sizeof again);
  OK(i.DeSerializeFMUstate(d, bytes, size, &other));
  OK(i.SetFMUstate(d, other));
  drive(&i, d, 22, STEPS, again);
  assert_memory_equal(once[22], again[22], (STEPS - 22) * sizeof once[0]);
  // It is not taken up if it is damaged or cut off.
  OK(i.FreeFMUstate(d, &other));
  bytes[size / 2] ^= 4;
  FAILS(i.DeSerializeFMUstate(d, bytes, size, &other), fmi2Error, "damaged");
  FAILS(i.DeSerializeFMUstate(d, bytes, 7, &other), fmi2Error, "no saved state");
  assert_null(other);
  OK(i.FreeFMUstate(c, &state));
  assert_null(state);
  free(bytes);
  i.FreeInstance(c);
  i.FreeInstance(d);
  fmus_remove(&i.fmu);
}

// ---- inputs and derivatives -------------------------------------------------------------------------

/// Where the cart is after a second with the input sin(3 t), given as it is at each communication point, with its derivative or without.
static double with_sine(const importer2 *i, int steps, bool derivative) {
  fmi2Component c = instantiate(i);
  double x;
  initialize(i, c);
  for (int k = 0; k < steps; ++k) {
    const double t = (double)k / steps, u = sin(3.0 * t), slope = 3.0 * cos(3.0 * t);
    OK(i->SetReal(c, &i->in, 1, &u));
    if (derivative) OK(i->SetRealInputDerivatives(c, &i->in, 1, (int[]){1}, &slope));
    OK(i->DoStep(c, t, (double)(k + 1) / steps - t, fmi2True));
  }
  OK(i->GetReal(c, &i->out[0], 1, &x));
  i->FreeInstance(c);
  return x;
}

/// Inputs that are held are off by the first order of the communication step, those with derivatives by the second.
static void derivatives_of_inputs(void **unused) {
  importer2 i;
  (void)unused;
  open_cart(&i, NULL, true);
  const double exact = with_sine(&i, 640, true);
  const double held[] = {fabs(with_sine(&i, 20, false) - exact),
                         fabs(with_sine(&i, 40, false) - exact)};
  const double sloped[] = {fabs(with_sine(&i, 20, true) - exact),
                           fabs(with_sine(&i, 40, true) - exact)};
  assert_true(held[0] / held[1] > 1.8 && held[0] / held[1] < 2.2);
  assert_true(sloped[0] / sloped[1] > 3.4);
  assert_true(sloped[0] < 0.2 * held[0]);
  fmus_remove(&i.fmu);
}

static void derivatives_of_outputs(void **unused) {
  importer2 i;
  double rate, seed = 1.0, sensitivity[2], rows[STEPS][OUTPUTS];
  (void)unused;
  open_cart(&i, "parameters.gain", false);
  const unsigned speed = i.out[0];
  fmi2Component c = instantiate(&i);
  initialize(&i, c);
  FAILS(i.GetRealOutputDerivatives(c, &speed, 1, (int[]){1}, &rate), fmi2Discard, "none has been");
  drive(&i, c, 0, 7, rows);
  OK(i.GetRealOutputDerivatives(c, &speed, 1, (int[]){1}, &rate));
  OK(i.DoStep(c, 0.14, 1e-4, fmi2True));
  double before = rows[6][0], after;
  OK(i.GetReal(c, &speed, 1, &after));
  near(rate, (after - before) / 1e-4, 1e-3 * fabs(rate) + 1e-4);
  // The cart's force is gain * in: by the gain the acceleration changes as by the input, in over gain times.
  const unsigned acceleration[] = {i.out[5], i.out[0]};
  const double u = input_at(6);
  OK(i.GetDirectionalDerivative(c, acceleration, 2, &i.in, 1, &seed, sensitivity));
  const double by_input = sensitivity[0];
  assert_true(fabs(by_input) > 0.1);
  assert_true(sensitivity[1] == 0.0);
  OK(i.GetDirectionalDerivative(c, acceleration, 2, &i.gain, 1, &seed, sensitivity));
  near(sensitivity[0] * 5.0, by_input * u, 1e-8 * fabs(by_input));
  FAILS(i.GetDirectionalDerivative(c, acceleration, 2, &i.mass, 1, &seed, sensitivity), fmi2Error,
        "neither an input nor tunable");
  i.FreeInstance(c);
  fmus_remove(&i.fmu);
}

// ---- what is wrong ----------------------------------------------------------------------------------

static void misuse(void **unused) {
  importer2 i;
  double x = 0.0, nan = (double)NAN;
  const unsigned none = 12345;
  static double rows[STEPS][OUTPUTS], spoiled[STEPS][OUTPUTS];
  (void)unused;
  open_cart(&i, NULL, false);
  said[0] = '\0';
  assert_null(i.Instantiate("x", fmi2CoSimulation, "{wrong}", i.uri, &callbacks, 0, 0));
  assert_non_null(strstr(said, "different FMUs"));
  assert_null(
      i.Instantiate("x", fmi2CoSimulation, i.fmu.token, "file:///nowhere", &callbacks, 0, 0));
  assert_non_null(strstr(said, "cannot be opened"));
  assert_null(i.Instantiate("x", fmi2ModelExchange, i.fmu.token, i.uri, &callbacks, 0, 0));
  assert_non_null(strstr(said, "co-simulation only"));
  fmi2Component c = instantiate(&i), d = instantiate(&i);
  FAILS(i.DoStep(c, 0.0, 0.01, fmi2True), fmi2Error, "fmi2DoStep cannot be called");
  FAILS(i.ExitInitializationMode(c), fmi2Error, "cannot be called");
  FAILS(i.GetReal(c, &i.out[0], 1, &x), fmi2Error, "not known before");
  FAILS(i.SetupExperiment(c, fmi2False, 0, 1.0, fmi2True, 1.0), fmi2Error, "stop after it");
  FAILS(i.SetupExperiment(c, fmi2True, nan, 0.0, fmi2False, 0), fmi2Error, "tolerance");
  initialize(&i, c);
  initialize(&i, d);
  drive(&i, c, 0, 5, rows);
  drive(&i, d, 0, 5, spoiled);
  FAILS(i.SetReal(d, &i.in, 1, &nan), fmi2Discard, "cannot be nan");
  FAILS(i.SetReal(d, &none, 1, &x), fmi2Error, "no variable");
  FAILS(i.GetReal(d, &none, 1, &x), fmi2Error, "no variable");
  FAILS(i.SetReal(d, &i.out[0], 1, &x), fmi2Error, "neither an input");
  FAILS(i.SetReal(d, &i.mass, 1, &x), fmi2Error, "is fixed");
  FAILS(i.GetInteger(d, &i.in, 1, (int[]){0}), fmi2Error, "no variables of type Integer");
  FAILS(i.DoStep(d, 0.3, 0.01, fmi2True), fmi2Error, "restore a state");
  FAILS(i.DoStep(d, 0.1, 0.0, fmi2True), fmi2Error, "is none");
  FAILS(i.DoStep(d, 0.1, nan, fmi2True), fmi2Error, "is none");
  FAILS(i.DoStep(d, nan, 0.1, fmi2True), fmi2Error, "");
  FAILS(i.CancelStep(d), fmi2Error, "nothing to cancel");
  FAILS(i.GetDerivatives(d, &x, 1), fmi2Error, "model exchange");
  FAILS(i.SetRealInputDerivatives(d, &i.in, 1, (int[]){1}, &x), fmi2Error, "--input-derivatives");
  FAILS(i.SetFMUstate(d, NULL), fmi2Error, "no saved state");
  FAILS(i.SetDebugLogging(d, fmi2True, 1, (const char *[]){"weather"}), fmi2Error, "category");
  FAILS(i.EnterInitializationMode(d), fmi2Error, "while the FMU is running");
  // None of this has changed anything.
  drive(&i, c, 5, 20, rows);
  drive(&i, d, 5, 20, spoiled);
  assert_memory_equal(rows, spoiled, 20 * sizeof rows[0]);
  OK(i.Terminate(c));
  FAILS(i.DoStep(c, 0.4, 0.01, fmi2True), fmi2Error, "terminated");
  assert_int_equal(i.DoStep(NULL, 0.0, 1.0, fmi2True), fmi2Error);
  i.FreeInstance(NULL);
  i.FreeInstance(c);
  i.FreeInstance(d);
  fmus_remove(&i.fmu);
}

// ---- FMI 3.0 ----------------------------------------------------------------------------------------

/// A ball that bounces, and a clock that ends the run.
static const char *const ball =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {ball: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 1]}}\n"
    "joints:\n"
    "  way: {type: prismatic, bodies: [ground, ball], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  floor: {type: motion, joint: way, law: -1, active: false}\n"
    "events:\n"
    "  bounce: {when: bodies.ball.position.z, direction: falling, strike: floor, restitution: "
    "0.8}\n"
    "  end: {when: t - 1.5, stop: true}\n"
    "simulate: {t_end: 2, tol: {rtol: 1e-6}}\n"
    "output: {channels: [bodies.ball.position.z, bodies.ball.velocity.z, events.bounce.count]}\n";

#define FUNCTIONS3(X)                                                                              \
  X(InstantiateCoSimulation)                                                                       \
  X(FreeInstance)                                                                                  \
  X(EnterInitializationMode)                                                                       \
  X(ExitInitializationMode)                                                                        \
  X(EnterEventMode)                                                                                \
  X(EnterStepMode)                                                                                 \
  X(UpdateDiscreteStates)                                                                          \
  X(GetFloat64)                                                                                    \
  X(SetFloat64)                                                                                    \
  X(GetClock)                                                                                      \
  X(GetFMUState)                                                                                   \
  X(SetFMUState)                                                                                   \
  X(FreeFMUState)                                                                                  \
  X(DoStep)

typedef struct importer3 {
  fmus_unpacked fmu;
  char path[700];
  unsigned z, v, count;
#define X(name) fmi3##name##TYPE *name;
  FUNCTIONS3(X)
#undef X
  double asked[1000], early; ///< times at which it was asked; when it wants to return
  int n;
} importer3;

static void hear3(fmi3InstanceEnvironment where, fmi3Status status, fmi3String category,
                  fmi3String message) {
  (void)where;
  (void)status;
  (void)category;
  snprintf(said, sizeof said, "%s", message);
}

static void update(fmi3InstanceEnvironment where, fmi3Float64 t, fmi3Boolean set, fmi3Boolean get,
                   fmi3Boolean finished, fmi3Boolean can, fmi3Boolean *wanted, fmi3Float64 *when) {
  importer3 *i = where;
  assert_true(!set && get && finished);
  if (i->n < 1000) i->asked[i->n++] = t;
  *wanted = can && t > i->early;
  *when = t;
}

static void open_ball(importer3 *i) {
  as_fmu_def def = as_default_fmu_def();
  def.version = 3;
  fmus_unpack(export(ball, def), &i->fmu);
  snprintf(i->path, sizeof i->path, "%s/resources/", i->fmu.folder);
#define X(name) fmus_function(&i->fmu, "fmi3" #name, &i->name, sizeof i->name);
  FUNCTIONS3(X)
#undef X
  i->z = fmus_reference(&i->fmu, "bodies.ball.position.z");
  i->v = fmus_reference(&i->fmu, "bodies.ball.velocity.z");
  i->count = fmus_reference(&i->fmu, "events.bounce.count");
  i->early = (double)INFINITY;
  i->n = 0;
}

static fmi3Instance start_ball(importer3 *i, bool events) {
  fmi3Instance c = i->InstantiateCoSimulation("ball", i->fmu.token, i->path, false, false, events,
                                              true, NULL, 0, i, hear3, update);
  if (c == NULL) fail_msg("%s", said);
  OK(i->EnterInitializationMode(c, false, 0.0, 0.0, true, 2.0));
  OK(i->ExitInitializationMode(c));
  if (events) OK(i->EnterStepMode(c));
  return c;
}

static void events(void **unused) {
  const double impact = sqrt(2.0 / 9.81);
  static importer3 i;
  fmi3Boolean event, end, early, again, nominals, values, defined;
  double t, next, z, v;
  (void)unused;
  open_ball(&i);
  fmi3Instance c = start_ball(&i, true);
  OK(i.DoStep(c, 0.0, 1.0, true, &event, &end, &early, &t));
  assert_true(event && early && !end);
  near(t, impact, 1e-6);
  OK(i.EnterEventMode(c));
  OK(i.UpdateDiscreteStates(c, &again, &end, &nominals, &values, &defined, &next));
  assert_true(!again && !end);
  OK(i.EnterStepMode(c));
  OK(i.GetFloat64(c, &i.v, 1, &v, 1));
  near(v, 0.8 * 9.81 * impact, 1e-4);
  OK(i.DoStep(c, t, 1.0 - t, true, &event, &end, &early, &t));
  assert_true(!event && !early && t == 1.0);
  const double fall = 1.0 - impact;
  OK(i.GetFloat64(c, &i.z, 1, &z, 1));
  near(z, 0.8 * 9.81 * impact * fall - 0.5 * 9.81 * fall * fall, 1e-4);
  OK(i.GetFloat64(c, &i.count, 1, &z, 1));
  assert_true(z == 1.0);
  // The stop of the model ends the simulation.
  for (int k = 0; k < 100 && !end; ++k) {
    OK(i.DoStep(c, t, 2.0 - t, true, &event, &end, &early, &t));
    OK(i.EnterEventMode(c));
    OK(i.EnterStepMode(c));
  }
  near(t, 1.5, 1e-9);
  FAILS(i.DoStep(c, t, 0.1, true, &event, &end, &early, &t), fmi3Discard, "ended the simulation");
  assert_true(end);
  FAILS(i.GetClock(c, &i.z, 1, &event), fmi3Error, "type Clock");
  i.FreeInstance(c);
  fmus_remove(&i.fmu);
}

static void early_return(void **unused) {
  static importer3 i;
  fmi3Boolean event, end, early;
  fmi3FMUState state = NULL;
  double t, z, back;
  (void)unused;
  open_ball(&i);
  fmi3Instance c = start_ball(&i, false);
  OK(i.GetFMUState(c, &state));
  i.early = 0.05;
  OK(i.DoStep(c, 0.0, 0.4, true, &event, &end, &early, &t));
  assert_true(early && !event && t > 0.05 && t < 0.4 && t == i.asked[i.n - 1]);
  OK(i.GetFloat64(c, &i.z, 1, &z, 1));
  near(z, 1.0 - 0.5 * 9.81 * t * t, 1e-6);
  // Back to the start, and there in one step.
  const double there = t;
  i.early = (double)INFINITY;
  OK(i.SetFMUState(c, state));
  OK(i.DoStep(c, 0.0, there, true, &event, &end, &early, &t));
  assert_true(!early && t == there);
  OK(i.GetFloat64(c, &i.z, 1, &back, 1));
  near(back, z, 1e-9);
  OK(i.FreeFMUState(c, &state));
  i.FreeInstance(c);
  fmus_remove(&i.fmu);
}

// ---- exports that are refused -----------------------------------------------------------------------

static void refused(const char *text, const char *input, const char *tunable, const char *channel,
                    const char *words) {
  char model[400], path[400];
  as_error error;
  as_messages *messages = calloc(1, sizeof *messages);
  as_fmu_def def = as_default_fmu_def();
  snprintf(model, sizeof model, "%s/model.yaml", folder);
  snprintf(path, sizeof path, "%s/refused.fmu", folder);
  FILE *file = fopen(model, "w");
  assert_true(file && messages && fputs(text, file) >= 0 && fclose(file) == 0);
  def.model = model;
  def.inputs = &input;
  def.n_inputs = input != NULL;
  def.tunable = &tunable;
  def.n_tunable = tunable != NULL;
  def.outputs = &channel;
  def.n_outputs = channel != NULL;
  if (as_fmu_export(&def, path, NULL, messages, &error) == AS_OK || !strstr(error.message, words))
    fail_msg("\"%s\", not \"%s\"", error.message, words);
  assert_int_not_equal(access(path, F_OK), 0);
  free(messages);
}

static void refusals(void **unused) {
  (void)unused;
  refused(cart, "blocks.inn", NULL, NULL, "did you mean \"blocks.in\"");
  refused(cart, "blocks.lag", NULL, NULL, "There is no input");
  refused(cart, NULL, "parameters.gian", NULL, "did you mean \"gain\"");
  refused(cart, NULL, "gain", NULL, "is no parameter");
  refused(cart, NULL, "parameters.both", NULL, "follows from others");
  refused(cart, NULL, "parameters.mass", NULL, "a number like this cannot change");
  refused(cart, "parameters.gain", "parameters.gain", NULL, "named twice");
  refused(cart, NULL, NULL, "energy.balance", "added up along a run");
  refused(cart, NULL, NULL, "joints.nail", "nail");
  refused("alphastep: 2\n", NULL, NULL, NULL, "version 1");
  refused("alphastep: 1\nblocks: {p: {type: plugin, file: p.so}}\n", NULL, NULL, NULL,
          "an FMU cannot have");
}

static int make_folder(void **unused) {
  (void)unused;
  snprintf(folder, sizeof folder, "/tmp/test_fmu_export-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused) {
  char path[400];
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    snprintf(path, sizeof path, "%s/%s", folder, k ? "test.fmu" : "model.yaml");
    remove(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits),
      cmocka_unit_test(many_instances),
      cmocka_unit_test(threads),
      cmocka_unit_test(states),
      cmocka_unit_test(derivatives_of_inputs),
      cmocka_unit_test(derivatives_of_outputs),
      cmocka_unit_test(misuse),
      cmocka_unit_test(events),
      cmocka_unit_test(early_return),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
