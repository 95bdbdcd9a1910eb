/// The state of an instance as bytes: a head with a checksum, what has been set, and if it runs what channels, conditions and the integrator
/// remember. They are the same on every machine, and those of another process of the same FMU are taken up.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fmu/runtime/instance.h"

enum { HEAD = 3 * 8, FORMAT = 1 };
static const unsigned char magic[8] = {'a', 's', ' ', 'f', 'm', 'u', FORMAT, '\n'};

static uint64_t token_of(const asi_exported *f) {
  return asi_checksum((const unsigned char *)f->face.token, strlen(f->face.token));
}

/// What has been set, and where the instance is.
static void serialize(asi_exported *f, asi_archive *a, bool *runs) {
  int phase = (int)f->phase;
  asi_archive_int(a, &phase, 0, ASI_EXPORTED_BROKEN);
  f->phase = (asi_exported_phase)phase;
  asi_archive_doubles(a, f->value, (size_t)f->face.n);
  asi_archive_doubles(a, f->slope, (size_t)f->face.n);
  double *const numbers[] = {&f->start_time, &f->stop_time, &f->tolerance, &f->since, &f->t};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) asi_archive_double(a, numbers[i]);
  asi_archive_count(a, &f->steps);
  asi_archive_bool(a, &f->stopped);
  asi_archive_bool(a, &f->new_start);
  asi_archive_bool(a, &f->new_signals);
  asi_archive_bool(a, runs);
}

as_status asi_exported_save(asi_exported *f, unsigned char *data, size_t *size, as_error *error) {
  const size_t room = *size;
  bool runs = f->integrator != NULL && !f->new_start;
  size_t inner = 0;
  asi_archive a = {.mode = ASI_ARCHIVE_COUNT};
  serialize(f, &a, &runs);
  if (runs && f->channels) asi_channels_serialize(f->channels, &a);
  if (runs && f->watch) asi_watch_serialize(f->watch, &a);
  as_status status = runs ? as_integrator_save(f->integrator, NULL, &inner, error) : AS_OK;
  if (status) return status;
  *size = HEAD + a.used + inner;
  if (data == NULL) return AS_OK;
  if (room < *size)
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL,
                    "The state takes %zu bytes; there is room for %zu.", *size, room);
  asi_archive body = {.mode = ASI_ARCHIVE_WRITE, .data = data + HEAD, .size = a.used};
  serialize(f, &body, &runs);
  if (runs && f->channels) asi_channels_serialize(f->channels, &body);
  if (runs && f->watch) asi_watch_serialize(f->watch, &body);
  if (runs) status = as_integrator_save(f->integrator, data + HEAD + a.used, &inner, error);
  if (status) return status;
  memcpy(data, magic, sizeof magic);
  uint64_t words[] = {token_of(f), asi_checksum(data + HEAD, *size - HEAD)};
  asi_archive head = {.mode = ASI_ARCHIVE_WRITE, .data = data + sizeof magic, .size = 16};
  asi_archive_word(&head, &words[0]);
  asi_archive_word(&head, &words[1]);
  return AS_OK;
}

/// Whether bytes are a state of this FMU; says why not.
static as_status check(const asi_exported *f, const unsigned char *data, size_t size,
                       as_error *error) {
  uint64_t words[2] = {0};
  unsigned char head[16];
  if (size >= HEAD) {
    memcpy(head, data + sizeof magic, sizeof head);
    asi_archive a = {.mode = ASI_ARCHIVE_READ, .data = head, .size = sizeof head};
    asi_archive_word(&a, &words[0]);
    asi_archive_word(&a, &words[1]);
  }
  if (size < HEAD || memcmp(data, magic, sizeof magic) != 0)
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL, "These %zu bytes are no saved state.",
                    size);
  if (words[0] != token_of(f))
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL, "The saved state is that of another FMU.");
  if (words[1] != asi_checksum(data + HEAD, size - HEAD))
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL, "The saved state is damaged.");
  return AS_OK;
}

as_status asi_exported_load(asi_exported *f, const unsigned char *data, size_t size,
                            as_error *error) {
  as_status status = check(f, data, size, error);
  if (status) return status;
  bool runs = false;
  unsigned char *copy = malloc(size - HEAD + 1);
  if (copy == NULL) return asi_fail_memory(error);
  memcpy(copy, data + HEAD, size - HEAD);
  asi_archive a = {.mode = ASI_ARCHIVE_READ, .data = copy, .size = size - HEAD};
  serialize(f, &a, &runs);
  if (a.damaged)
    status = asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL, "The saved state is damaged.");
  if (status == AS_OK && runs) status = asi_exported_prepare(f, error);
  if (status == AS_OK && runs && f->channels) asi_channels_serialize(f->channels, &a);
  if (status == AS_OK && runs && f->watch) {
    asi_watch_serialize(f->watch, &a);
    f->watch->n_pending = 0;
  }
  if (status == AS_OK && runs)
    status = as_integrator_load(f->integrator, copy + a.used, size - HEAD - a.used, error);
  free(copy);
  f->stale = true;
  f->event = false;
  if (status) f->new_start = true;
  return status;
}

// ---- states of importers ----------------------------------------------------------------------------

void asi_exported_state_free(void **state) {
  asi_exported_state *x = state ? *state : NULL;
  if (x == NULL) return;
  free(x->bytes);
  free(x);
  *state = NULL;
}

/// A state with room; *state is made if it is NULL.
static asi_exported_state *make_room(void **state, size_t size) {
  asi_exported_state *x = *state ? *state : asi_calloc(1, sizeof *x);
  if (x && x->room < size) {
    unsigned char *bytes = malloc(size);
    if (bytes == NULL) {
      if (*state == NULL) free(x);
      return NULL;
    }
    free(x->bytes);
    x->bytes = bytes;
    x->room = size;
  }
  return x;
}

as_status asi_exported_state_take(asi_exported *f, void **state, as_error *error) {
  size_t size = 0;
  as_status status = asi_exported_save(f, NULL, &size, error);
  if (status) return status;
  asi_exported_state *x = make_room(state, size);
  if (x == NULL) return asi_fail_memory(error);
  *state = x;
  x->size = size;
  return asi_exported_save(f, x->bytes, &size, error);
}

as_status asi_exported_state_read(asi_exported *f, const void *bytes, size_t size, void **state,
                                  as_error *error) {
  const as_status status = check(f, bytes, size, error);
  if (status) return status;
  asi_exported_state *x = make_room(state, size);
  if (x == NULL) return asi_fail_memory(error);
  *state = x;
  x->size = size;
  memcpy(x->bytes, bytes, size);
  return AS_OK;
}

static as_status no_state(const asi_exported *f, as_error *error) {
  return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL, "There is no saved state.");
}

as_status asi_exported_state_use(asi_exported *f, const void *state, as_error *error) {
  const asi_exported_state *x = state;
  return x ? asi_exported_load(f, x->bytes, x->size, error) : no_state(f, error);
}

as_status asi_exported_state_write(const asi_exported *f, const void *state, void *bytes,
                                   size_t size, as_error *error) {
  const asi_exported_state *x = state;
  if (x == NULL) return no_state(f, error);
  if (size < x->size)
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL,
                    "The state takes %zu bytes; there is room for %zu.", x->size, size);
  memcpy(bytes, x->bytes, x->size);
  return AS_OK;
}
