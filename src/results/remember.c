/// What channels and conditions remember of the past, as bytes: how often joints have turned, which events have happened.
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/error.h"
#include "results/channels.h"
#include "results/rules.h"

void asi_channels_serialize(as_channels *c, asi_archive *a) {
  asi_archive_double(a, &c->t);
  asi_archive_bool(a, &c->followed);
  for (int i = 0; i < c->n_sources; ++i)
    if (c->source[i].kind == ASI_SOURCE_COORDINATES)
      asi_archive_doubles(a, c->values + c->source[i].first, 2 * (size_t)AS_JOINT_COORDINATES);
}

as_status as_channels_save(as_channels *c, void *data, size_t *size, as_error *error) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  asi_channels_serialize(c, &count);
  const size_t room = *size;
  *size = count.used;
  if (data == NULL) return asi_error_clear(error);
  if (room < count.used)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "What channels remember takes %zu bytes; there is room for %zu.", count.used,
                    room);
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = data, .size = room};
  asi_channels_serialize(c, &a);
  return asi_error_clear(error);
}

as_status as_channels_load(as_channels *c, const void *data, size_t size, as_error *error) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  asi_channels_serialize(c, &count);
  if (size != count.used)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                    "What channels remembered is that of other channels: %zu bytes instead of %zu.",
                    size, count.used);
  unsigned char *copy = asi_calloc(size + 1, 1);
  if (copy == NULL) return asi_fail_memory(error);
  memcpy(copy, data, size);
  asi_archive a = {.mode = ASI_ARCHIVE_READ, .data = copy, .size = size, .trusted = true};
  asi_channels_serialize(c, &a);
  free(copy);
  return asi_error_clear(error);
}

void asi_watch_serialize(asi_watch *w, asi_archive *a) {
  for (int i = 0; i < w->rules->n; ++i) {
    asi_rule_state *s = &w->state[i];
    asi_archive_count(a, &s->count);
    asi_archive_double(a, &s->time);
    if (s->channels) asi_channels_serialize(s->channels, a);
  }
  asi_archive_count(a, &w->n_happened);
  for (long i = 0; i < w->n_happened && i < AS_RUN_EVENTS && !a->damaged; ++i) {
    as_event_record *event = &w->list[i];
    asi_archive_int(a, &event->rule, -w->n_of_blocks, w->rules->n - 1);
    asi_archive_int(a, &event->direction, -1, 1);
    asi_archive_double(a, &event->t);
    if (!a->damaged) asi_watch_name(w, event);
  }
}
