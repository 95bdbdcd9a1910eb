#include "problems/examples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/file.h"
#include "alphastep/results.h"

// A vector smaller than this share of the largest of its kind is measured by that.
static const double HALF_TURN = 3.14159265358979; // [rad], the size of a rotation
static const double LEAST_POSITION = 1e-2, LEAST_REACTION = 1e-3;

/// What one run has written down.
typedef struct table {
  int width; ///< channels
  long rows, room;
  double *time;   ///< rows
  double *values; ///< rows of `width`
  as_statistics work;
} table;

static as_status add_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)error;
  table *to = user;
  if (to->rows == to->room) {
    to->room = to->room ? 2 * to->room : 256;
    to->time = realloc(to->time, (size_t)to->room * sizeof(double));
    to->values = realloc(to->values, (size_t)to->room * (size_t)n * sizeof(double));
    if (to->time == NULL || to->values == NULL) abort();
  }
  to->width = n;
  to->time[to->rows] = t;
  memcpy(to->values + to->rows++ * n, row, (size_t)n * sizeof(double));
  return AS_OK;
}

/// One run; its channels are those of `run`, which the caller destroys.
static as_status integrate(const as_machine *machine, as_method method, double rtol, table *to,
                           as_run **run, as_error *error) {
  as_run_def def = as_default_run_def();
  def.t_end = machine->simulation.t_end;
  def.interval = machine->output.interval;
  def.times = machine->output.times;
  def.n_times = machine->output.n_times;
  def.rules = machine->rules;
  def.integrator.method = method;
  def.integrator.tolerance.rtol = rtol;
  as_status status = as_run_create(machine->model, &def, run, error);
  if (status == AS_OK) status = as_run_go(*run, add_row, to, NULL, error);
  if (status == AS_STOPPED) status = AS_OK;
  if (status == AS_OK) status = as_integrator_statistics(as_run_integrator(*run), &to->work, error);
  return status;
}

typedef enum kind { POSITION, ROTATION, FORCE, TORQUE, OTHER, KINDS = OTHER } kind;

/// What a channel belongs to, if it is the first component of a vector.
static kind kind_of(const char *name) {
  const size_t n = strlen(name);
  if (n > 13 && strcmp(name + n - 13, ".quaternion.w") == 0) return ROTATION;
  if (n > 11 && strcmp(name + n - 11, ".position.x") == 0) return POSITION;
  if (n > 8 && strcmp(name + n - 8, ".force.x") == 0) return FORCE;
  return n > 9 && strcmp(name + n - 9, ".torque.x") == 0 ? TORQUE : OTHER;
}

static double length(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

/// Of two vectors; of two quaternions, the angle between them [rad].
static double distance(kind of, const double *a, const double *b) {
  const double d[4] = {a[0] - b[0], a[1] - b[1], a[2] - b[2], of == ROTATION ? a[3] - b[3] : 0.0};
  const double s[4] = {a[0] + b[0], a[1] + b[1], a[2] + b[2], of == ROTATION ? a[3] + b[3] : 0.0};
  if (of != ROTATION) return length(d);
  return 4.0 * asin(0.5 * fmin(1.0, fmin(hypot(length(d), d[3]), hypot(length(s), s[3]))));
}

static double largest(const table *t, int channel) {
  double most = 0.0;
  for (long k = 0; k < t->rows; ++k) most = fmax(most, length(t->values + k * t->width + channel));
  return most;
}

static bool is_in(const example_windows *windows, double t) {
  for (int i = 0; windows && i < windows->count; ++i)
    if (fabs(t - windows->times[i]) <= windows->half) return true;
  return false;
}

static void compare_vector(const table *coarse, const table *fine, int channel, kind of,
                           const example_windows *windows, const char *name, double size,
                           example_worst *worst) {
  for (long k = 0; k < coarse->rows && k < fine->rows; ++k) {
    if (coarse->time[k] != fine->time[k]) continue; // an event has ended a run
    if (of >= FORCE && is_in(windows, fine->time[k])) continue;
    const long at = k * fine->width + channel;
    const double off = distance(of, coarse->values + at, fine->values + at) / size;
    if (off <= worst->off) continue; // NaN goes on
    worst->off = off;
    worst->time = fine->time[k];
    snprintf(worst->name, sizeof worst->name, "%.*s", (int)strlen(name) - 2, name);
  }
}

static void compare_tables(const as_channels *channels, const table *coarse, const table *fine,
                           const example_windows *windows, example_accuracy *out) {
  static const double least[KINDS] = {LEAST_POSITION, 0.0, LEAST_REACTION, LEAST_REACTION};
  double most[KINDS] = {0.0};
  for (int i = 0; i + 2 < fine->width; ++i) {
    const kind of = kind_of(as_channels_get(channels, i).name);
    if (of != OTHER) most[of] = fmax(most[of], largest(fine, i));
  }
  most[TORQUE] = fmax(most[TORQUE], most[FORCE] * most[POSITION]);
  for (int i = 0; i + 2 < fine->width; ++i) {
    const char *name = as_channels_get(channels, i).name;
    const kind of = kind_of(name);
    if (of == OTHER || !(most[of] > 0.0)) continue;
    const double size = of == ROTATION ? HALF_TURN : fmax(largest(fine, i), least[of] * most[of]);
    compare_vector(coarse, fine, i, of, windows, name, size,
                   of < FORCE ? &out->position : &out->reaction);
  }
  for (long k = 0; k < coarse->rows && k < fine->rows; ++k)
    out->rows += coarse->time[k] == fine->time[k];
  out->steps = coarse->work.steps;
  out->newton_iterations = coarse->work.newton_iterations;
}

example_accuracy example_compare(const char *path, as_method method, double rtol, double fine,
                                 const example_windows *windows) {
  example_accuracy out = {.status = AS_OK};
  as_messages messages = {0};
  as_machine *machine = NULL;
  as_error error = {0};
  as_run *runs[2] = {NULL};
  table tables[2] = {{0}};
  out.status = as_machine_load(path, NULL, 0, &machine, &messages);
  if (out.status) snprintf(out.message, sizeof out.message, "%s", messages.message[0].text);
  for (int i = 0; i < 2 && out.status == AS_OK; ++i) {
    out.status = integrate(machine, method, i ? fine : rtol, &tables[i], &runs[i], &error);
    if (out.status) snprintf(out.message, sizeof out.message, "%s", error.message);
  }
  if (out.status == AS_OK)
    compare_tables(as_run_channels(runs[0]), &tables[0], &tables[1], windows, &out);
  for (int i = 0; i < 2; ++i) {
    as_run_destroy(runs[i]);
    free(tables[i].time);
    free(tables[i].values);
  }
  as_machine_destroy(machine);
  return out;
}
