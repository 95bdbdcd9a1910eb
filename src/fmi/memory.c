/// Memories of an FMU's block (block.h): found, made, entered, saved.
#include "fmi/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/problem.h"
#include "base/error.h"

// ---- calls ------------------------------------------------------------------------------------------

bool asi_fmu_fail(asi_fmu *f, int status, char *why) {
  char text[ASI_FMU_WHY];
  asi_fmu_explain(f, status, text);
  snprintf(why, AS_PLUGIN_WHY, "%.*s", AS_PLUGIN_WHY - 1, text);
  if (status != ASI_FMU_DISCARD) memcpy(f->failed, text, sizeof text);
  return false;
}

bool asi_fmu_get(asi_fmu *f, const asi_fmu_ports *ports, double *out, char *why) {
  const asi_fmu_variable *last = NULL;
  for (int i = 0; i < ports->n; ++i) {
    const asi_fmu_port *p = &ports->port[i];
    const int status =
        p->variable == last ? ASI_FMU_OK : f->calls->get(f, p->variable, f->elements);
    if (status > ASI_FMU_WARNING) {
      (void)asi_fmu_fail(f, status, why);
      const size_t used = strlen(why);
      snprintf(why + used, AS_PLUGIN_WHY - used, " for \"%.40s\"", p->variable->name);
      return false;
    }
    last = p->variable;
    out[i] = f->elements[p->element];
    if (isfinite(out[i])) continue;
    snprintf(why, AS_PLUGIN_WHY, "the FMU \"%.40s\": %s gives %s for \"%.60s\"", f->label, f->doing,
             isnan(out[i]) ? "no number (NaN)" : "infinity", p->variable->name);
    return false;
  }
  return true;
}

bool asi_fmu_set(asi_fmu *f, const asi_fmu_ports *ports, const double *x, bool continuous,
                 char *why) {
  for (int i = 0; i < ports->n;) {
    const asi_fmu_variable *v = ports->port[i].variable;
    int status = ASI_FMU_OK;
    if (!continuous || !v->discrete) status = f->calls->set(f, v, x + i); // all its elements
    if (status > ASI_FMU_WARNING) {
      (void)asi_fmu_fail(f, status, why);
      const size_t used = strlen(why);
      snprintf(why + used, AS_PLUGIN_WHY - used, " for \"%.40s\"", v->name);
      return false;
    }
    i += v->n;
  }
  return true;
}

// ---- slots ------------------------------------------------------------------------------------------

static uint64_t add_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *byte = data;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ byte[i]) * 1099511628211u;
  return hash;
}

double asi_fmu_digest(double token, int what, double t, const double *x, int nx, const double *w,
                      int nw) {
  uint64_t hash = 14695981039346656037u;
  hash = add_bytes(hash, &token, sizeof token);
  hash = add_bytes(hash, &what, sizeof what);
  hash = add_bytes(hash, &t, sizeof t);
  if (nx > 0) hash = add_bytes(hash, x, (size_t)nx * sizeof *x);
  if (nw > 0) hash = add_bytes(hash, w, (size_t)nw * sizeof *w);
  return (double)(hash >> 12) + 1.0; // a whole number that a double has room for; 0 is the start
}

asi_fmu_slot *asi_fmu_slot_find(asi_fmu_block *b, double token) {
  for (int i = 0; i < ASI_FMU_SLOTS; ++i)
    if (b->slot[i].used && b->slot[i].token == token) {
      b->slot[i].age = ++b->age;
      return &b->slot[i];
    }
  return NULL;
}

static void forget(asi_fmu_slot *s) {
  free(s->packed);
  s->packed = NULL;
  s->packed_size = 0;
}

/// The oldest of those that are not fixed.
static asi_fmu_slot *oldest(asi_fmu_block *b) {
  asi_fmu_slot *out = NULL;
  for (int i = 0; i < ASI_FMU_SLOTS; ++i) {
    asi_fmu_slot *s = &b->slot[i];
    if (!s->used) return s;
    if (!s->fixed && (out == NULL || s->age < out->age)) out = s;
  }
  return out;
}

static asi_fmu_slot *take_slot(asi_fmu_block *b, double token, double version, double t) {
  asi_fmu_slot *s = oldest(b);
  forget(s);
  s->token = token;
  s->used = true;
  s->fixed = s->stop = s->left = false;
  s->version = version;
  s->t = t;
  s->next = (double)INFINITY;
  s->age = ++b->age;
  return s;
}

asi_fmu_slot *asi_fmu_slot_new(asi_fmu_block *b, double token, double version, double t,
                               char *why) {
  asi_fmu *f = b->fmu;
  asi_fmu_slot *s = take_slot(b, token, version, t);
  if (!f->kind->state) return s;
  const int status = f->calls->state_get(f, &s->state); // into the old one's room, if there is one
  if (status <= ASI_FMU_WARNING) return s;
  s->used = false;
  (void)asi_fmu_fail(f, status, why);
  return NULL;
}

bool asi_fmu_slot_enter(asi_fmu_block *b, const asi_fmu_slot *s, char *why) {
  asi_fmu *f = b->fmu;
  if (f->failed[0]) {
    snprintf(why, AS_PLUGIN_WHY, "%.*s", AS_PLUGIN_WHY - 1, f->failed);
    return false;
  }
  if (s == NULL) {
    snprintf(why, AS_PLUGIN_WHY,
             "the FMU \"%.40s\" is asked for a state that is not kept: a run with it begins at its "
             "start, or goes on by `run --resume`",
             f->label);
    return false;
  }
  if (s->version == b->version) return true;
  if (s->state == NULL) {
    snprintf(why, AS_PLUGIN_WHY,
             "the FMU \"%.40s\" has gone on to another time and cannot be brought back "
             "(canGetAndSetFMUState): it serves one run at a time, from its start on",
             f->label);
    return false;
  }
  const int status = f->calls->state_set(f, s->state);
  if (status > ASI_FMU_WARNING) return asi_fmu_fail(f, status, why);
  b->version = s->version;
  return true;
}

void asi_fmu_slots_free(asi_fmu_block *b) {
  asi_fmu *f = b->fmu;
  for (int i = 0; i < ASI_FMU_SLOTS; ++i) {
    forget(&b->slot[i]);
    if (b->slot[i].state && f->component && !f->fatal)
      (void)f->calls->state_free(f, &b->slot[i].state);
  }
}

// ---- saving -----------------------------------------------------------------------------------------

/// Serializes what a slot has, once. Without the means to, or where that fails, there is nothing.
static void pack(asi_fmu_block *b, asi_fmu_slot *s) {
  asi_fmu *f = b->fmu;
  size_t size = 0;
  if (s->packed || s->state == NULL || !f->kind->serial || f->failed[0]) return;
  if (f->calls->pack_size(f, s->state, &size) > ASI_FMU_WARNING || size > (size_t)1 << 30) return;
  unsigned char *out = malloc(size + 1);
  if (out && f->calls->pack(f, s->state, out, size) <= ASI_FMU_WARNING) {
    s->packed = out;
    s->packed_size = size;
  } else {
    free(out);
  }
}

static void archive_bytes(asi_archive *a, unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    const size_t n = size - i < 8 ? size - i : 8;
    for (size_t k = 0; k < n; ++k) word |= (uint64_t)bytes[i + k] << (8 * k);
    asi_archive_word(a, &word);
    for (size_t k = 0; k < n; ++k) bytes[i + k] = (unsigned char)(word >> (8 * k));
  }
}

static void archive_slot(asi_fmu_block *b, asi_fmu_slot *s, asi_archive *a) {
  asi_archive_double(a, &s->token);
  asi_archive_double(a, &s->version);
  asi_archive_double(a, &s->t);
  bool timed = isfinite(s->next);
  double next = timed ? s->next : 0.0;
  asi_archive_bool(a, &timed);
  asi_archive_double(a, &next);
  s->next = timed ? next : (double)INFINITY;
  asi_archive_bool(a, &s->stop);
  asi_archive_doubles(a, s->w, (size_t)b->input.n);
  asi_archive_doubles(a, s->y, (size_t)b->output.n);
  asi_archive_doubles(a, s->slope, (size_t)b->output.n);
  asi_archive_doubles(a, s->x, (size_t)b->state.n);
  archive_bytes(a, s->packed, s->packed_size);
}

static as_status take_back(asi_fmu_block *b, asi_archive *a, size_t size, as_error *error) {
  asi_fmu *f = b->fmu;
  if (size > a->size - a->used) {
    a->damaged = true;
    return AS_OK;
  }
  asi_fmu_slot *s = take_slot(b, -1.0, 0.0, 0.0);
  s->packed = malloc(size + 1);
  s->packed_size = size;
  if (s->packed == NULL) {
    s->used = false;
    return asi_fail_memory(error);
  }
  archive_slot(b, s, a);
  if (a->damaged || f->failed[0]) {
    s->used = false;
    return AS_OK;
  }
  if (s->state) (void)f->calls->state_free(f, &s->state);
  s->state = NULL;
  const int status = f->calls->unpack(f, s->packed, size, &s->state);
  if (status <= ASI_FMU_WARNING) return AS_OK;
  char why[AS_PLUGIN_WHY];
  s->used = false;
  (void)asi_fmu_fail(f, status, why);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, f->label, "The saved run cannot be used: %s.",
                  why);
}

as_status asi_fmu_serialize(void *user, const double *sampled, asi_archive *a, as_error *error) {
  asi_fmu_block *b = user;
  as_status status = asi_error_clear(error);
  (void)pthread_mutex_lock(&b->fmu->lock);
  asi_fmu_slot *s = sampled ? asi_fmu_slot_find(b, *sampled) : NULL;
  if (s) pack(b, s);
  uint64_t size = s && s->packed ? s->packed_size + 1 : 0;
  asi_archive_word(a, &size);
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged && size == 0)
    status =
        asi_fail(error, AS_ERR_FILE, (double)NAN, b->fmu->label,
                 "The saved run cannot be gone on with: the FMU \"%s\" could not save its state "
                 "(canSerializeFMUState is not true, or it had failed). Start the run anew.",
                 b->fmu->label);
  else if (a->mode == ASI_ARCHIVE_READ && !a->damaged)
    status = take_back(b, a, (size_t)size - 1, error);
  else if (size > 0 && !a->damaged)
    archive_slot(b, s, a);
  (void)pthread_mutex_unlock(&b->fmu->lock);
  return status;
}
