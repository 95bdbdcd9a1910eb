/// Estimated errors of a run, see accuracy.h.
///
/// Steps of the finer run are bounded by the largest of the last RECENT steps of the run, not by the last alone, which may have been
/// cut short by an event or a sample.
///
/// Rows are compared number by number, with these exceptions. A quaternion and its negative are the same rotation, and so are
/// two rotation vectors that differ by a turn about their axis, and angles that differ by a turn: the nearer one is taken. Where
/// an event has happened in one run and not yet in the other, a row would compare what is before it with what is
/// behind it: nothing is known there, the rows are counted, and the error of the event's time is given instead. Channels that
/// are themselves about errors and steps (solver, drift, the balance of energy) have none.
#include "results/accuracy.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/results_file.h"
#include "base/error.h"
#include "core/driver/integrator.h"
#include "results/channels.h"

static const double RATIO = 4.0;   ///< of the errors of the two runs
static const double TIGHTER = 4.0; ///< tolerances, which errors are in proportion to
static const double AHEAD = 4.0;   ///< steps that the finer run may take longer to be stopped
static const double LEAST = 1e-6;  ///< of a size, where a machine hardly moves
enum {
  RECENT = 3,        ///< steps of the run: the largest bounds those of the finer one
  PATIENCE = 100,    ///< steps of the finer run that an interrupt waits for
  MOST_STEPS = 20000 ///< of the finer run while the other takes one
};

/// Channels of one group and unit: errors are seen against the largest of them.
typedef struct family {
  const char *name; ///< of a channel in it
  const char *unit;
  double size;
} family;

typedef struct record {
  double largest, t; ///< absolute error, and when [s]
  double sum;        ///< of squares
  long rows;
} record;

struct asi_accuracy {
  const as_model *model;
  const as_channels *channels;
  as_run *finer;
  double t_end;
  double mass, length;             ///< of the machine [kg], and the largest radius of gyration [m]
  int n, n_poses, n_events, width; ///< of a line: time, channels, poses, counts of events
  double goal;                     ///< how far the finer run may go [s]
  long steps_at_goal;              ///< that it had taken when the goal was set
  double recent[RECENT];           ///< steps of the run [s]
  double *line;                    ///< a ring of `room` lines, `waiting` from `first` on
  long room, first, waiting;
  int *body;   ///< of each channel: whose quaternion it is a part of, -1: of none
  bool *turns; ///< of each channel: it is the first of the three of a rotation vector
  bool *wraps; ///< of each channel: it is an angle that jumps by a turn
  int *kin;    ///< of each channel: its family, -1: it has no error
  family *families;
  int n_families;
  record *of;                 ///< of each channel
  double *error;              ///< of a row
  as_interrupt_fn *interrupt; ///< of the run; may be NULL
  void *interrupt_user;
  bool interrupted; ///< by it
  bool failed, stopped;
  char message[sizeof((as_error *)0)->message]; ///< why
  double until;                                 ///< the last row that was compared [s]; NAN: none
  double apart; ///< since when the two differ in their events [s]; NAN: they do not
  long rows, between;
};

// ---- create -----------------------------------------------------------------------------------------

/// [AC.1]
static as_run_def refine(const as_run_def *def) {
  as_run_def finer = *def;
  as_integrator_def *how = &finer.integrator;
  as_tolerance *tol = &how->tolerance;
  how->step = 0.5 * how->step; // NAN stays NAN
  tol->rtol /= TIGHTER;
  double *const absolute[] = {&tol->atol_position, &tol->atol_rotation, &tol->atol_velocity,
                              &tol->atol_state};
  for (size_t i = 0; i < sizeof absolute / sizeof absolute[0]; ++i) *absolute[i] /= TIGHTER;
  tol->first_step *= 0.5;
  tol->max_step *= 0.5;
  tol->min_step /= TIGHTER;
  how->newton.rtol /= RATIO;
  how->log = NULL;
  finer.max_steps = 0;
  finer.accuracy = false;
  finer.progress = NULL;
  finer.happened = NULL;
  return finer;
}

/// Asked by the finer run before each step. It is so near its goal that an interrupt can wait, unless it takes very many.
static bool is_far_enough(void *user) {
  asi_accuracy *a = user;
  const as_integrator *s = as_run_integrator(a->finer);
  const long steps = s->kin.statistics.steps - a->steps_at_goal;
  a->interrupted = steps > PATIENCE && a->interrupt && a->interrupt(a->interrupt_user);
  return s->stepper.t >= a->goal || steps > MOST_STEPS || a->interrupted;
}

/// Channels that measure errors and steps have no error of their own.
static bool has_error(const char *name) {
  const size_t length = strlen(name);
  if (strncmp(name, "events.", 7) == 0)
    return length < 6 || strcmp(name + length - 6, ".count") != 0;
  return strncmp(name, "solver.", 7) != 0 && strncmp(name, "drift.", 6) != 0 &&
         strcmp(name, "energy.balance") != 0;
}

static int find_family(asi_accuracy *a, as_channel c) {
  const size_t group = strcspn(c.name, ".");
  for (int i = 0; i < a->n_families; ++i) {
    const family *f = &a->families[i];
    if (strcspn(f->name, ".") == group && strncmp(f->name, c.name, group) == 0 &&
        strcmp(f->unit, c.unit) == 0)
      return i;
  }
  a->families[a->n_families] = (family){.name = c.name, .unit = c.unit};
  return a->n_families++;
}

/// The source of a channel, and which of its numbers it is.
static const asi_source *find_source(const as_channels *c, int channel, int *number) {
  const int place = c->pick[channel];
  int low = 0, high = c->n_sources - 1;
  while (low < high) { // sources are in the order of their values
    const int middle = (low + high + 1) / 2;
    if (c->source[middle].first <= place)
      low = middle;
    else
      high = middle - 1;
  }
  *number = place - c->source[low].first;
  return &c->source[low];
}

/// The body whose quaternion a channel is a part of; -1: of none.
static int find_quaternion(const as_channels *c, int channel) {
  int number;
  const asi_source *s = find_source(c, channel, &number);
  return s->kind == ASI_SOURCE_BODY && number >= 3 && number < 7 ? s->object : -1;
}

/// Roll, pitch, yaw and Euler angles, which come first, lie between -pi and pi.
static bool is_wrapped(const as_channels *c, int channel) {
  int number;
  const asi_source *s = find_source(c, channel, &number);
  return (s->kind == ASI_SOURCE_TURN || s->kind == ASI_SOURCE_FRAME_TURN) && number < 6;
}

/// Whether the channel and the next two are x, y, z of a rotation vector.
static bool is_rotation_vector(const as_channels *c, int channel) {
  static const char end[] = ".rotation.x";
  if (channel + 2 >= c->n) return false;
  const size_t length = strlen(as_channels_get(c, channel).name), tail = sizeof end - 1;
  return length > tail && strcmp(as_channels_get(c, channel).name + length - tail, end) == 0 &&
         c->pick[channel + 1] == c->pick[channel] + 1 &&
         c->pick[channel + 2] == c->pick[channel] + 2;
}

static bool take_memory(asi_accuracy *a) {
  const size_t n = (size_t)a->n;
  a->room = 16;
  a->line = asi_calloc((size_t)a->room * (size_t)a->width, sizeof *a->line);
  a->body = asi_calloc(n, sizeof *a->body);
  a->turns = asi_calloc(n, sizeof *a->turns);
  a->wraps = asi_calloc(n, sizeof *a->wraps);
  a->kin = asi_calloc(n, sizeof *a->kin);
  a->families = asi_calloc(n, sizeof *a->families);
  a->of = asi_calloc(n, sizeof *a->of);
  a->error = asi_calloc(n + (size_t)a->n_poses, sizeof *a->error);
  return a->line && a->body && a->turns && a->wraps && a->kin && a->families && a->of && a->error;
}

as_status asi_accuracy_create(const as_model *model, const as_run_def *def,
                              const as_channels *channels, asi_accuracy **out, as_error *error) {
  *out = NULL;
  asi_accuracy *a = asi_calloc(1, sizeof *a);
  if (a == NULL) return asi_fail_memory(error);
  a->model = model;
  a->channels = channels;
  a->t_end = def->t_end;
  a->n = channels->n;
  a->n_poses = def->poses ? AS_POSE * model->n_bodies : 0;
  a->n_events = as_rules_count(def->rules);
  a->width = 1 + a->n + a->n_poses + a->n_events;
  a->until = a->apart = (double)NAN;
  for (int i = 0; i < model->n_bodies; ++i) {
    const asi_body *b = &model->body[i];
    a->mass += b->mass;
    if (b->n == 6 && b->mass > 0.0)
      a->length = fmax(a->length, sqrt(fmax(b->J[0], fmax(b->J[4], b->J[8])) / b->mass));
  }
  for (int i = 0; i < model->n_flexibles; ++i) {
    a->mass += model->flexible[i].data->mass;
    a->length = fmax(a->length, model->flexible[i].range.size);
  }
  as_run_def finer = refine(def);
  a->interrupt = def->integrator.interrupt;
  a->interrupt_user = def->integrator.interrupt_user;
  finer.integrator.interrupt = is_far_enough;
  finer.integrator.interrupt_user = a;
  as_status status = as_run_create(model, &finer, &a->finer, error);
  if (status == AS_OK && !take_memory(a)) status = asi_fail_memory(error);
  if (status) {
    asi_accuracy_destroy(a);
    return status;
  }
  for (int i = 0; i < a->n; ++i) {
    const as_channel c = as_channels_get(channels, i);
    a->kin[i] = has_error(c.name) ? find_family(a, c) : -1;
    a->body[i] = find_quaternion(channels, i);
    a->turns[i] = is_rotation_vector(channels, i);
    a->wraps[i] = is_wrapped(channels, i);
  }
  *out = a;
  return AS_OK;
}

void asi_accuracy_destroy(asi_accuracy *a) {
  if (a == NULL) return;
  as_run_destroy(a->finer);
  free(a->line);
  free(a->body);
  free(a->turns);
  free(a->wraps);
  free(a->kin);
  free(a->families);
  free(a->of);
  free(a->error);
  free(a);
}

as_run *asi_accuracy_finer(const asi_accuracy *a) { return a->finer; }

// ---- the queue --------------------------------------------------------------------------------------

static double *line_at(const asi_accuracy *a, long i) {
  return a->line + (size_t)((a->first + i) % a->room) * (size_t)a->width;
}

/// Twice the room; false: there is none.
static bool grow(asi_accuracy *a) {
  const size_t width = (size_t)a->width;
  double *grown = asi_calloc(2 * (size_t)a->room * width, sizeof *grown);
  if (grown == NULL) return false;
  for (long i = 0; i < a->waiting; ++i)
    memcpy(grown + (size_t)i * width, line_at(a, i), width * sizeof *grown);
  free(a->line);
  a->line = grown;
  a->first = 0;
  a->room *= 2;
  return true;
}

/// Takes a row of the finer run.
static as_status take_row(double t, const double *row, int n, void *user, as_error *error) {
  asi_accuracy *a = user;
  if (a->waiting == a->room && !grow(a)) return asi_fail_memory(error);
  double *line = line_at(a, a->waiting++);
  *line++ = t;
  memcpy(line, row, (size_t)n * sizeof *line);
  line += n;
  if (a->n_poses > 0) memcpy(line, as_run_poses(a->finer), (size_t)a->n_poses * sizeof *line);
  line += a->n_poses;
  const double *events = asi_run_shown_events(a->finer);
  for (int i = 0; i < a->n_events; ++i) line[i] = events ? events[2 * i] : 0.0;
  return AS_OK;
}

static void drop(asi_accuracy *a) {
  a->first = (a->first + 1) % a->room;
  --a->waiting;
}

/// The finer run's line of time t; NULL: it has none.
static double *find_line(asi_accuracy *a, double t) {
  while (a->waiting > 0 && *line_at(a, 0) < t) drop(a);
  return a->waiting > 0 && *line_at(a, 0) == t ? line_at(a, 0) : NULL;
}

// ---- going alongside --------------------------------------------------------------------------------

static void go(asi_accuracy *a, double goal) {
  if (a->failed || a->stopped) return;
  as_integrator *s = as_run_integrator(a->finer);
  as_error error;
  a->goal = goal;
  a->steps_at_goal = s->kin.statistics.steps;
  double bound = 0.0;
  for (int i = 0; i < RECENT; ++i) bound = fmax(bound, a->recent[i]);
  const double given = s->def.tolerance.max_step;
  if (bound > 0.0)
    s->def.tolerance.max_step = fmax(fmin(given, 0.5 * bound), s->def.tolerance.min_step);
  const as_status status = as_run_go(a->finer, take_row, a, NULL, &error);
  s->def.tolerance.max_step = given;
  a->stopped = status == AS_STOPPED;
  const bool crawls = status == AS_INTERRUPTED && s->stepper.t < goal && !a->interrupted;
  a->failed = crawls || (status != AS_OK && status != AS_INTERRUPTED && status != AS_STOPPED);
  if (crawls)
    snprintf(a->message, sizeof a->message,
             "it takes more than %d steps within one of this run at t = %.6g s.", MOST_STEPS,
             s->stepper.t);
  else if (a->failed)
    snprintf(a->message, sizeof a->message, "%s", error.message);
}

void asi_accuracy_follow(asi_accuracy *a, double t, double h) {
  for (int i = RECENT - 1; i > 0; --i) a->recent[i] = a->recent[i - 1];
  a->recent[0] = h;
  go(a, t);
}

void asi_accuracy_stop(asi_accuracy *a, double t) {
  double h = 0.0;
  for (int i = 0; i < RECENT; ++i) h = fmax(h, a->recent[i]);
  go(a, fmin(t + AHEAD * h, a->t_end));
  a->stopped = false; // it may go on when the run does
}

// ---- comparing --------------------------------------------------------------------------------------

double asi_accuracy_estimate(double value, double finer) {
  return (value - finer) * (RATIO / (RATIO - 1.0)); // [AC.1]
}

/// Whether a quaternion is nearer to another one's negative.
static bool is_opposite(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0;
}

static void note(asi_accuracy *a, int channel, double t) {
  record *r = &a->of[channel];
  const double size = fabs(a->error[channel]);
  if (!isfinite(size)) return;
  if (size > r->largest || r->rows == 0) r->largest = size, r->t = t;
  r->sum += size * size;
  ++r->rows;
}

/// Takes a rotation vector of the finer run a turn further if that is nearer.
static void take_turn(const double *own, double *finer) {
  const double angle = sqrt(finer[0] * finer[0] + finer[1] * finer[1] + finer[2] * finer[2]);
  const double factor = 1.0 - 2.0 * acos(-1.0) / angle;
  double here = 0.0, there = 0.0;
  for (int k = 0; k < 3; ++k) {
    here += (own[k] - finer[k]) * (own[k] - finer[k]);
    there += (own[k] - factor * finer[k]) * (own[k] - factor * finer[k]);
  }
  for (int k = 0; k < 3 && there < here; ++k) finer[k] *= factor;
}

/// Chooses, of numbers that mean the same rotation, those that are near the run's.
static void align(const asi_accuracy *a, const double *row, const double *poses, double *line) {
  const double turn = 2.0 * acos(-1.0);
  double *finer = line + 1, *finer_poses = finer + a->n;
  for (int i = 0; i < a->n; ++i) {
    if (a->turns[i]) take_turn(row + i, finer + i);
    if (a->wraps[i]) finer[i] += turn * round((row[i] - finer[i]) / turn);
    if (a->body[i] < 0 || a->n_poses == 0) continue;
    const ptrdiff_t at = (ptrdiff_t)AS_POSE * a->body[i] + 3;
    if (is_opposite(poses + at, finer_poses + at)) finer[i] = -finer[i];
  }
  for (ptrdiff_t at = 3; at < a->n_poses; at += AS_POSE) // after the channels, which look here
    if (is_opposite(poses + at, finer_poses + at))
      for (int k = 0; k < 4; ++k) finer_poses[at + k] = -finer_poses[at + k];
}

static void compare(asi_accuracy *a, double t, const double *row, const double *poses,
                    double *line) {
  align(a, row, poses, line);
  const double *finer = line + 1, *finer_poses = finer + a->n;
  for (int i = 0; i < a->n; ++i) {
    if (a->kin[i] < 0) continue;
    a->error[i] = asi_accuracy_estimate(row[i], finer[i]);
    note(a, i, t);
  }
  for (int i = 0; i < a->n_poses; ++i)
    a->error[a->n + i] = asi_accuracy_estimate(poses[i], finer_poses[i]);
}

static bool differ_in_events(const asi_accuracy *a, const double *events, const double *line) {
  const double *counts = line + 1 + a->n + a->n_poses;
  for (int i = 0; i < a->n_events; ++i)
    if (counts[i] != (events ? events[2 * i] : 0.0)) return true;
  return false;
}

void asi_accuracy_row(asi_accuracy *a, double t, const double *row, const double *poses,
                      const double *events) {
  for (int i = 0; i < a->n + a->n_poses; ++i) a->error[i] = (double)NAN;
  for (int i = 0; i < a->n; ++i)
    if (a->kin[i] >= 0 && isfinite(row[i]))
      a->families[a->kin[i]].size = fmax(a->families[a->kin[i]].size, fabs(row[i]));
  double *line = find_line(a, t);
  if (line == NULL) return;
  if (differ_in_events(a, events, line)) {
    if (isnan(a->apart)) a->apart = t;
    ++a->between;
    return;
  }
  a->apart = (double)NAN;
  a->until = t;
  ++a->rows;
  compare(a, t, row, poses, line);
}

// ---- what is known ----------------------------------------------------------------------------------

const double *asi_accuracy_errors(const asi_accuracy *a) { return a->error; }

static double size_of_unit(const asi_accuracy *a, const char *unit) {
  double size = 0.0;
  for (int i = 0; i < a->n_families; ++i)
    if (strcmp(a->families[i].unit, unit) == 0) size = fmax(size, a->families[i].size);
  return size;
}

/// A size that is natural for a unit in this machine, made of its length, mass, time and largest force: where all
/// channels of a sort are round-off, errors are not seen against that.
static double natural_size(const asi_accuracy *a, const char *unit) {
  const double L = fmax(a->length, size_of_unit(a, "m")), T = a->t_end, M = a->mass;
  const double torque = size_of_unit(a, "N m");
  double F = fmax(size_of_unit(a, "N"), M * L / (T * T));
  if (L > 0.0) F = fmax(F, torque / L);
  const struct {
    const char *unit;
    double size;
  } natural[] = {{"m", L},
                 {"m/s", L / T},
                 {"m/s^2", L / (T * T)},
                 {"rad", 1.0},
                 {"rad/s", 1.0 / T},
                 {"rad/s^2", 1.0 / (T * T)},
                 {"-", 1.0},
                 {"s", T},
                 {"N", F},
                 {"N m", F * L},
                 {"J", F * L},
                 {"W", F * L / T},
                 {"kg m/s", M * L / T},
                 {"kg m^2/s", M * L * L / T}};
  for (size_t i = 0; i < sizeof natural / sizeof natural[0]; ++i)
    if (strcmp(natural[i].unit, unit) == 0) return natural[i].size;
  return 0.0;
}

as_channel_error asi_accuracy_channel(const asi_accuracy *a, int i) {
  const double nothing = (double)NAN;
  as_channel_error out = {nothing, nothing, nothing, nothing, nothing};
  if (i < 0 || i >= a->n || a->kin[i] < 0 || a->of[i].rows == 0) return out;
  const family *f = &a->families[a->kin[i]];
  const record *r = &a->of[i];
  out.largest = r->largest;
  out.t = r->t;
  out.rms = sqrt(r->sum / (double)r->rows);
  out.size = fmax(f->size, LEAST * natural_size(a, f->unit));
  out.relative = out.size > 0.0 ? out.largest / out.size : 0.0;
  return out;
}

as_accuracy asi_accuracy_report(const asi_accuracy *a, double t) {
  const as_integrator *finer = as_run_integrator(a->finer);
  const as_integrator_def *how = &finer->def;
  as_accuracy out = {.rows = a->rows, .rows_between_events = a->between, .until = a->until};
  out.steps = finer->kin.statistics.steps;
  out.step = how->step;
  out.rtol = how->tolerance.rtol;
  const bool left = a->stopped && t > finer->state.t;
  if (a->failed)
    snprintf(out.message, sizeof out.message,
             "There are no errors behind t = %.6g s: the finer run failed, %.300s",
             isnan(a->until) ? 0.0 : a->until, a->message);
  else if (left)
    snprintf(out.message, sizeof out.message,
             "There are no errors behind t = %.6g s: the finer run was stopped by an event at t = "
             "%.6g s, this one was not.",
             isnan(a->until) ? 0.0 : a->until, finer->state.t);
  else if (!isnan(a->apart))
    snprintf(out.message, sizeof out.message,
             "There are no errors from t = %.6g s on: events have happened in one run and not in "
             "the other.",
             a->apart);
  return out;
}

// ---- saving -----------------------------------------------------------------------------------------

static void serialize_lines(asi_accuracy *a, asi_archive *archive) {
  asi_archive_count(archive, &a->waiting);
  if (archive->mode == ASI_ARCHIVE_READ) {
    const size_t most = (archive->size - archive->used) / sizeof(double) / (size_t)a->width;
    if (archive->damaged || (size_t)a->waiting > most) {
      archive->damaged = true;
      a->waiting = 0;
      return;
    }
    const long wanted = a->waiting;
    a->first = a->waiting = 0;
    while (a->room < wanted && !archive->no_memory) archive->no_memory = !grow(a);
    if (archive->no_memory) archive->damaged = true;
    if (archive->damaged) return;
    a->waiting = wanted;
  }
  for (long i = 0; i < a->waiting; ++i)
    asi_archive_doubles(archive, line_at(a, i), (size_t)a->width);
}

void asi_accuracy_serialize(asi_accuracy *a, asi_archive *archive) {
  asi_archive_doubles(archive, a->recent, RECENT);
  asi_archive_double(archive, &a->until);
  asi_archive_double(archive, &a->apart);
  asi_archive_count(archive, &a->rows);
  asi_archive_count(archive, &a->between);
  asi_archive_bool(archive, &a->failed);
  asi_archive_bool(archive, &a->stopped);
  for (size_t i = 0; i < sizeof a->message; ++i) {
    int c = (unsigned char)a->message[i];
    asi_archive_int(archive, &c, 0, UCHAR_MAX);
    a->message[i] = i + 1 < sizeof a->message ? (char)c : '\0';
  }
  for (int i = 0; i < a->n_families; ++i) asi_archive_double(archive, &a->families[i].size);
  for (int i = 0; i < a->n; ++i) {
    record *r = &a->of[i];
    asi_archive_double(archive, &r->largest);
    asi_archive_double(archive, &r->t);
    asi_archive_double(archive, &r->sum);
    asi_archive_count(archive, &r->rows);
  }
  serialize_lines(a, archive);
}
