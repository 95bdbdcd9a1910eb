#include "estimates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200 };
static const double NOISE = 1e-7; ///< ten times what Newton's method leaves
static const double FACTOR = 3.0;

/// All rows of a run.
typedef struct table {
  as_run *run;
  int n;
  long rows;
  double t[ROWS + 2];
  double *value, *error; ///< n each
} table;

static as_status take(double t, const double *row, int n, void *user, as_error *error) {
  (void)error;
  table *to = user;
  if (to->rows >= ROWS + 2) return AS_OK;
  to->t[to->rows] = t;
  const size_t size = (size_t)n * sizeof *row;
  memcpy(to->value + to->rows * n, row, size);
  const double *errors = as_run_errors(to->run);
  if (errors) memcpy(to->error + to->rows * n, errors, size);
  ++to->rows;
  return AS_OK;
}

static as_status run_table(const as_machine *machine, const as_run_def *def, table *out,
                           as_error *error) {
  as_status status = as_run_create(machine->model, def, &out->run, error);
  if (status) return status;
  out->n = as_channels_count(as_run_channels(out->run));
  out->value = calloc((size_t)(ROWS + 2) * (size_t)out->n, sizeof *out->value);
  out->error = calloc((size_t)(ROWS + 2) * (size_t)out->n, sizeof *out->error);
  if (out->value == NULL || out->error == NULL) return AS_ERR_MEMORY;
  status = as_run_go(out->run, take, out, NULL, error);
  return status == AS_STOPPED ? AS_OK : status;
}

static void free_table(table *t) {
  as_run_destroy(t->run);
  free(t->value);
  free(t->error);
}

static void put_name(char to[ESTIMATES_NAME], const char *name) {
  snprintf(to, ESTIMATES_NAME, "%.*s", ESTIMATES_NAME - 1, name);
}

/// Takes quaternions and rotation vectors of b that mean the same as others to the nearer one.
static void align(const table *a, table *b, int c) {
  const char *name = as_channels_get(as_run_channels(a->run), c).name;
  const bool turn = strstr(name, ".rotation.x") != NULL;
  const int n = strstr(name, ".quaternion.w") ? 4 : turn ? 3 : 0;
  for (long i = 0; i < a->rows && i < b->rows && n > 0; ++i) {
    const double *own = a->value + i * a->n + c;
    double *other = b->value + i * a->n + c, angle = 0.0, here = 0.0, there = 0.0;
    for (int k = 0; k < n; ++k) angle = hypot(angle, other[k]);
    const double factor = turn ? 1.0 - 2.0 * acos(-1.0) / angle : -1.0;
    for (int k = 0; k < n; ++k) {
      here = hypot(here, own[k] - other[k]);
      there = hypot(there, own[k] - factor * other[k]);
    }
    for (int k = 0; k < n && there < here; ++k) other[k] *= factor;
  }
}

static void judge(const table *a, const table *b, int c, estimates *out) {
  const as_channel_error known = as_run_channel_error(a->run, c);
  const char *name = as_channels_get(as_run_channels(a->run), c).name;
  double off = 0.0, guess = 0.0;
  if (isnan(known.largest)) return;
  for (long i = 0; i < a->rows && i < b->rows; ++i) {
    const double e = a->error[i * a->n + c];
    if (isnan(e) || a->t[i] != b->t[i]) continue;
    off = fmax(off, fabs(a->value[i * a->n + c] - b->value[i * a->n + c]));
    guess = fmax(guess, fabs(e));
  }
  if (off <= NOISE * known.size && guess <= NOISE * known.size) return;
  const double ratio = guess / off;
  ++out->channels;

  out->good += ratio >= 1.0 / FACTOR && ratio <= FACTOR;
  out->relative = fmax(out->relative, off / known.size);
  if (!(ratio >= out->lowest)) out->lowest = ratio, put_name(out->lowest_name, name);
  if (!(ratio <= out->highest)) out->highest = ratio, put_name(out->highest_name, name);
}

as_status estimates_measure(const as_machine *machine, const as_integrator_def *how, double t_end,
                            estimates *out, as_error *error) {
  as_run_def def = as_default_run_def();
  *out = (estimates){.lowest = (double)NAN, .highest = (double)NAN};
  def.integrator = *how;
  def.t_end = t_end;
  def.interval = t_end / ROWS;
  def.rules = machine->rules;
  def.poses = true;
  def.accuracy = true;
  table a = {.run = NULL}, b = {.run = NULL};
  as_status status = run_table(machine, &def, &a, error);
  def.accuracy = false;
  def.integrator.step /= 16.0;
  def.integrator.tolerance.rtol /= 100.0; // what is compared is good to a hundredth
  def.integrator.tolerance.max_step = t_end / 2000.0;
  def.integrator.newton.rtol = 1e-11;
  if (status == AS_OK) status = run_table(machine, &def, &b, error);
  if (status == AS_OK) {
    out->accuracy = as_run_accuracy(a.run);
    for (int c = 0; c < a.n; ++c) align(&a, &b, c);
    for (int c = 0; c < a.n; ++c) judge(&a, &b, c, out);
  }
  free_table(&a);
  free_table(&b);
  return status;
}
