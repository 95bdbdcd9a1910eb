/// Instances: an integrator with channels and rules, moved on by the caller.
///
/// With rules each step is taken by itself: what has happened in it counts before the next one begins, as in a run. Many steps towards a
/// time end with the same bits as one call that goes there.
#include "alphastep/instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/definition.h"
#include "base/error.h"
#include "core/driver/integrator.h"
#include "results/channels.h"
#include "results/rules.h"

struct as_instance {
  const as_model *model;
  as_integrator *integrator;
  as_channels *channels; ///< NULL: none
  asi_watch *watch;      ///< NULL: neither rules nor blocks that switch
  as_step_taken_fn *step_taken;
  void *step_user;
  double *v; ///< index-3: velocities on the constraints
};

as_instance_def as_default_instance_def(void) {
  return (as_instance_def){.cookie = ASI_COOKIE(as_instance_def),
                           .integrator = as_default_integrator_def()};
}

/// Angles follow each step, so that they never jump by a turn. What cannot be followed is told when it is read.
static void follow(const as_state *end, void *user) {
  as_instance *s = user;
  as_error ignored;
  if (s->channels) (void)as_channels_follow(s->channels, end, &ignored);
  if (s->step_taken) s->step_taken(end, s->step_user);
}

static as_status create_parts(as_instance *s, const as_instance_def *def, as_error *error) {
  as_integrator_def how = def->integrator;
  as_status status = AS_OK;
  s->step_taken = how.step_taken;
  s->step_user = how.step_user;
  if (def->n_channels > 0)
    status = as_channels_create_with(s->model, def->rules, def->channels, def->n_channels,
                                     &s->channels, error);
  if (s->channels) {
    how.step_taken = follow;
    how.step_user = s;
  }
  if (status == AS_OK)
    status = asi_watched_integrator(s->model, def->rules, &how, &s->watch, &s->integrator, error);
  s->v = asi_calloc((size_t)as_model_problem(s->model)->n, sizeof *s->v);
  return status == AS_OK && s->v == NULL ? asi_fail_memory(error) : status;
}

as_status as_instance_create(const as_model *model, const as_instance_def *def, as_instance **out,
                             as_error *error) {
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_instance_def, def, error);
  if (status) return status;
  as_instance *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  s->model = model;
  status = create_parts(s, def, error);
  if (status)
    as_instance_destroy(s);
  else
    *out = s;
  return status;
}

void as_instance_destroy(as_instance *s) {
  if (s == NULL) return;
  as_integrator_destroy(s->integrator);
  as_channels_destroy(s->channels);
  asi_watch_destroy(s->watch);
  free(s->v);
  free(s);
}

as_integrator *as_instance_integrator(as_instance *s) { return s->integrator; }
const as_channels *as_instance_channels(const as_instance *s) { return s->channels; }
int as_instance_width(const as_instance *s) {
  return s->channels ? as_channels_count(s->channels) : 0;
}
long as_instance_events(const as_instance *s) { return s->watch ? s->watch->n_happened : 0; }
as_event_record as_instance_event(const as_instance *s, long number) {
  const bool kept = number >= 0 && number < as_instance_events(s) && number < AS_RUN_EVENTS;
  return kept ? s->watch->list[number] : (as_event_record){0};
}

// ---- steps ------------------------------------------------------------------------------------------

/// What follows a call of the integrator.
static as_status settle(as_instance *s, as_status status, as_error *error) {
  if (s->watch == NULL) return status;
  if (as_status_is_failure(status)) {
    asi_watch_fail(s->watch, status, error);
  } else if (status != AS_INTERRUPTED) {
    // In between two ends of steps conditions are as they were: a later look into the step begins there.
    const bool whole = s->integrator->state.t == s->integrator->stepper.t;
    as_error why;
    const as_status followed =
        whole ? asi_watch_follow(s->watch, &s->integrator->state, &why) : AS_OK;
    if (followed) {
      if (error) *error = why;
      status = followed;
    }
  }
  asi_watch_commit(s->watch, NULL, NULL);
  return status;
}

as_status as_instance_start(as_instance *s, const as_initial *initial, as_error *error) {
  as_status status = as_integrator_start(
      s->integrator, initial ? initial : as_model_initial(s->model), NULL, error);
  if (status) return status;
  if (s->watch) {
    asi_watch_forget(s->watch);
    status = asi_watch_follow(s->watch, &s->integrator->state, error);
  }
  if (s->channels == NULL || status) return status;
  s->channels->followed = false; // turns are counted from here
  return as_channels_follow(s->channels, &s->integrator->state, error);
}

as_status as_instance_advance(as_instance *s, double t, as_error *error) {
  if (s->watch == NULL) return as_integrator_advance(s->integrator, t, error);
  as_error own;
  if (error == NULL) error = &own;
  as_status status;
  do {
    status = as_integrator_step_towards(s->integrator, t, error);
    status = settle(s, status, error);
  } while (status == AS_OK && s->integrator->state.t < t);
  return status;
}

as_status as_instance_next(as_instance *s, as_error *error) {
  as_error own;
  if (error == NULL) error = &own;
  return settle(s, as_integrator_next(s->integrator, error), error);
}

as_status as_instance_set(as_instance *s, const double *u, as_error *error) {
  as_error own;
  if (error == NULL) error = &own;
  return settle(s, as_integrator_set_signals(s->integrator, u, error), error);
}

as_status as_instance_read(as_instance *s, double *row, as_error *error) {
  if (s->channels == NULL) return asi_error_clear(error);
  const as_integrator *i = s->integrator;
  as_state state = i->state;
  as_status status = asi_check_started(i, error);
  if (status == AS_OK && i->def.method == AS_METHOD_INDEX3) {
    status = as_integrator_velocity(s->integrator, s->v, error);
    state.v = s->v;
  }
  const double none = (double)NAN;
  const as_view view = {.state = &state,
                        .dissipated = none,
                        .work = none,
                        .start_energy = none,
                        .h = i->kin.statistics.last_step,
                        .newton_iterations = none,
                        .error = isnan(i->def.step) ? i->kin.statistics.error : 0.0,
                        .position_drift = none,
                        .velocity_drift = none,
                        .events = s->watch ? asi_watch_show(s->watch, state.t) : NULL};
  if (status == AS_OK) status = as_channels_follow(s->channels, &state, error);
  return status ? status : as_channels_evaluate(s->channels, &view, row, error);
}

// ---- saved states -----------------------------------------------------------------------------------

/// What it remembers besides its integrator.
static void serialize(as_instance *s, asi_archive *a) {
  if (s->channels) asi_channels_serialize(s->channels, a);
  if (s->watch) asi_watch_serialize(s->watch, a);
}

enum { WORDS = 3 }; ///< before it: what it was, its bytes, their checksum

static uint64_t identity(const as_instance *s) {
  uint64_t out = 0x696e7374616e6365u;
  if (s->channels)
    out ^= asi_checksum((const unsigned char *)s->channels->text, s->channels->text_used);
  if (s->watch)
    out ^= 31 * asi_checksum((const unsigned char *)s->watch->rules->names.text,
                             s->watch->rules->names.used);
  return out;
}

as_status as_instance_save(as_instance *s, void *data, size_t *size, as_error *error) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  size_t core = 0;
  serialize(s, &count);
  const as_status status = as_integrator_save(s->integrator, NULL, &core, error);
  if (status) return status;
  const size_t room = *size, head = WORDS * sizeof(uint64_t);
  *size = head + count.used + core;
  if (data == NULL) return asi_error_clear(error);
  if (room < *size)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A saved state takes %zu bytes; there is room for %zu.", *size, room);
  unsigned char *bytes = data;
  asi_archive body = {.mode = ASI_ARCHIVE_WRITE, .data = bytes + head, .size = count.used};
  serialize(s, &body);
  uint64_t word[WORDS] = {identity(s), count.used, asi_checksum(bytes + head, count.used)};
  asi_archive front = {.mode = ASI_ARCHIVE_WRITE, .data = bytes, .size = head};
  for (int i = 0; i < WORDS; ++i) asi_archive_word(&front, &word[i]);
  return as_integrator_save(s->integrator, bytes + head + count.used, &core, error);
}

static as_status fail_load(as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "The saved state cannot be used: %s.",
                  why);
}

as_status as_instance_load(as_instance *s, const void *data, size_t size, as_error *error) {
  const size_t head = WORDS * sizeof(uint64_t);
  uint64_t word[WORDS] = {0};
  unsigned char *copy = asi_calloc(size + 1, 1);
  if (copy == NULL) return asi_fail_memory(error);
  memcpy(copy, data, size);
  asi_archive front = {.mode = ASI_ARCHIVE_READ, .data = copy, .size = size};
  for (int i = 0; i < WORDS; ++i) asi_archive_word(&front, &word[i]);
  as_status status = AS_OK;
  if (front.damaged || word[1] > size - head ||
      asi_checksum(copy + head, (size_t)word[1]) != word[2])
    status = fail_load(error, "it is damaged, or no saved state");
  else if (word[0] != identity(s))
    status = fail_load(error, "it is of other channels or events");
  const size_t own = status ? 0 : (size_t)word[1];
  if (status == AS_OK)
    status = as_integrator_load(s->integrator, copy + head + own, size - head - own, error);
  asi_archive body = {.mode = ASI_ARCHIVE_READ, .data = copy + head, .size = own, .trusted = true};
  if (status == AS_OK) {
    if (s->watch) asi_watch_forget(s->watch);
    serialize(s, &body);
  }
  free(copy);
  return status ? status : asi_error_clear(error);
}
