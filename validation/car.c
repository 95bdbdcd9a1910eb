// The car of examples/car as it changes lanes. Its files are unpacked into a folder of their own, read as the command reads
// them, and removed again.
#define _DEFAULT_SOURCE // mkdtemp

#include "car.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alphastep/file.h"
#include "alphastep/results.h"
#include "alphastep/version.h"

enum { MOST_RUNS = 8, PATH_ROOM = 4096 };

static const char *const channels[CAR_COLUMNS] = {
    [CAR_X] = "frames.com.position.x",
    [CAR_Y] = "frames.com.position.y",
    [CAR_ROLL] = "frames.com.roll_pitch_yaw.x",
    [CAR_PITCH] = "frames.com.roll_pitch_yaw.y",
    [CAR_YAW] = "frames.com.roll_pitch_yaw.z",
    [CAR_ACCELERATION] = "bodies.chassis.acceleration.y",
    [CAR_CURRENT] = "blocks.current_fl",
    [CAR_CURRENT + 1] = "blocks.current_fr",
    [CAR_CURRENT + 2] = "blocks.current_rl",
    [CAR_CURRENT + 3] = "blocks.current_rr",
    [CAR_REBOUND] = "blocks.damper_rr.rebound",
    [CAR_COMPRESSION] = "blocks.damper_rr.compression",
    [CAR_STROKE] = "blocks.stroke_rr",
    [CAR_RATE] = "forces.strut_rr.length_rate",
};

/// Those that a car with linear dampers has.
static int count_channels(const car_setting *s) {
  return s->dampers == CAR_LINEAR ? CAR_CURRENT : CAR_COLUMNS;
}

// ---- files

/// "" where it does not fit.
static const char *join(char *path, const char *folder, const char *name) {
  if (snprintf(path, PATH_ROOM, "%s/%s", folder, name) >= PATH_ROOM) path[0] = '\0';
  return path;
}

static void remove_files(const char *folder) {
  char path[PATH_ROOM];
  for (size_t i = 0; i < n_car_files; i++) unlink(join(path, folder, car_files[i].name));
  rmdir(join(path, folder, "parts"));
  rmdir(folder);
}

static bool write_file(const char *path, const car_file *file) {
  FILE *out = fopen(path, "wb");
  if (out == NULL) return false;
  const size_t size = (size_t)(file->end - file->begin);
  const bool whole = fwrite(file->begin, 1, size, out) == size;
  return fclose(out) == 0 && whole;
}

/// Writes all files into a new folder, whose path is put into `folder`.
static as_status write_files(char *folder, as_error *error) {
  char path[PATH_ROOM];
  const char *place = getenv("TMPDIR");
  join(folder, place != NULL && place[0] != '\0' ? place : "/tmp", "alphastep-car-XXXXXX");
  bool written = mkdtemp(folder) != NULL;
  if (written) {
    written = mkdir(join(path, folder, "parts"), 0700) == 0;
    for (size_t i = 0; i < n_car_files && written; i++)
      written = write_file(join(path, folder, car_files[i].name), &car_files[i]);
    if (written) return AS_OK;
  }
  *error = (as_error){.status = AS_ERR_FILE, .t = (double)NAN};
  snprintf(error->message, sizeof error->message,
           "The files of the car cannot be written to `%.300s`: %s.", folder, strerror(errno));
  remove_files(folder);
  return AS_ERR_FILE;
}

static as_status load(const car_setting *s, as_machine **out, as_error *error) {
  char folder[PATH_ROOM], path[PATH_ROOM], bushed[40], damper[40], step[60];
  as_status status = write_files(folder, error);
  if (status) return status;
  snprintf(bushed, sizeof bushed, "parameters.bushed=%d", s->bushed);
  snprintf(damper, sizeof damper, "parameters.damper=%d", (int)s->dampers);
  snprintf(step, sizeof step, "simulate.step=%.17g", s->step);
  as_messages *messages = malloc(sizeof *messages);
  status = messages == NULL
               ? AS_ERR_MEMORY
               : as_machine_load(join(path, folder, "lane_change.yaml"),
                                 (const char *const[]){bushed, damper, step}, 3, out, messages);
  remove_files(folder);
  if (status) {
    *error = (as_error){.status = status, .t = (double)NAN};
    snprintf(error->message, sizeof error->message, "%.*s", (int)sizeof error->message - 1,
             messages == NULL ? "Memory ran out." : messages->message[0].text);
  }
  free(messages);
  return status;
}

// ---- runs

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)error;
  car_motion *motion = user;
  if (motion->n == PAPER_POINTS) return AS_OK;
  motion->t[motion->n] = t;
  memcpy(motion->at[motion->n], row, (size_t)n * sizeof *row);
  motion->n++;
  return AS_OK;
}

static as_status make(car_motion *motion, as_error *error) {
  as_machine *machine = NULL;
  as_run *run = NULL;
  as_status status = load(&motion->setting, &machine, error);
  if (status) return status;
  as_run_def def = as_default_run_def();
  def.integrator = machine->simulation.integrator;
  def.t_end = motion->setting.t_end;
  def.interval = CAR_INTERVAL;
  def.channels = channels;
  def.n_channels = count_channels(&motion->setting);
  status = as_run_create(machine->model, &def, &run, error);
  if (status == AS_OK) status = as_run_go(run, keep_row, motion, NULL, error);
  as_run_destroy(run);
  as_machine_destroy(machine);
  return status;
}

static bool is_same(const car_setting *a, const car_setting *b) {
  return a->bushed == b->bushed && a->dampers == b->dampers && a->step == b->step &&
         a->t_end == b->t_end;
}

as_status car_change_lane(const car_setting *setting, const car_motion **out, as_error *error) {
  static car_motion motions[MOST_RUNS];
  static int n;
  for (int i = 0; i < n; i++) {
    if (!is_same(&motions[i].setting, setting)) continue;
    *out = &motions[i];
    return AS_OK;
  }
  if (n == MOST_RUNS) {
    *error = (as_error){.status = AS_ERR_ARGUMENT, .message = "There are more runs than places."};
    return AS_ERR_ARGUMENT;
  }
  motions[n] = (car_motion){.setting = *setting};
  const as_status status = make(&motions[n], error);
  if (status) return status;
  *out = &motions[n++];
  return AS_OK;
}
