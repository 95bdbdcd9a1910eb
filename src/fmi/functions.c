/// What the block of an FMU does (block.h): [FM.1] and [FM.2]. Each function brings the FMU to the memory that it is asked about, tells it where it is, and asks.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/event.h"
#include "alphastep/problem.h"
#include "fmi/memory.h"

enum { SAMPLE = 1000000, STEP, ITERATIONS = 100 };

static int ask(asi_fmu *f, int status, char *why) {
  if (status <= ASI_FMU_WARNING) return AS_DONE;
  (void)asi_fmu_fail(f, status, why);
  return status == ASI_FMU_DISCARD ? AS_PLUGIN_RETRY : AS_PLUGIN_FAIL;
}

/// Once more, unless it has failed for good.
static int soft(const asi_fmu *f) { return f->failed[0] ? AS_PLUGIN_FAIL : AS_PLUGIN_RETRY; }

static bool all_finite(asi_fmu *f, const asi_fmu_ports *ports, const double *x, char *why) {
  for (int i = 0; i < ports->n; ++i)
    if (!isfinite(x[i])) {
      snprintf(why, AS_PLUGIN_WHY, "the FMU \"%.40s\": %s gives %s for \"%.60s\"", f->label,
               f->doing, isnan(x[i]) ? "no number (NaN)" : "infinity",
               ports->port[i].variable->name);
      return false;
    }
  return true;
}

// ---- model exchange ---------------------------------------------------------------------------------

/// Tells the FMU where it is, in continuous time.
static int place(asi_fmu_block *b, double t, const double *x, const double *w, char *why) {
  asi_fmu *f = b->fmu;
  int code = ask(f, f->calls->set_time(f, t), why);
  if (code == AS_DONE && b->state.n > 0) code = ask(f, f->calls->set_states(f, x), why);
  if (code == AS_DONE && !asi_fmu_set(f, &b->input, w, true, why)) code = soft(f);
  return code;
}

/// Brings it to a memory and a place. AS_DONE; the lock is taken in any case.
static int come(asi_fmu_block *b, const as_plugin_point *at, asi_fmu_slot **slot, char *why) {
  (void)pthread_mutex_lock(&b->fmu->lock);
  *slot = asi_fmu_slot_find(b, *at->sampled);
  if (!asi_fmu_slot_enter(b, *slot, why)) return AS_PLUGIN_FAIL;
  return place(b, at->t, at->state, at->input, why);
}

static int leave(asi_fmu_block *b, int code) {
  (void)pthread_mutex_unlock(&b->fmu->lock);
  return code;
}

static bool same(const double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i)
    if (!(fabs(a[i] - b[i]) <= 1e-11 * fmax(1.0, fabs(a[i])))) return false;
  return true;
}

/// Notes what an FMU that cannot be brought back says where an event leaves a memory: results show the state before an event, too.
static bool note_left(asi_fmu_block *b, asi_fmu_slot *s, const as_plugin_point *at, char *why) {
  asi_fmu *f = b->fmu;
  const int nx = b->state.n, nw = b->input.n;
  if (f->kind->state) return true;
  s->left = false;
  if (nx > 0) memcpy(s->last, at->state, (size_t)nx * sizeof(double));
  if (nw > 0) memcpy(s->last + nx, at->input, (size_t)nw * sizeof(double));
  if (nx > 0 && ask(f, f->calls->rates(f, s->last + nx + nw), why)) return false;
  if (!asi_fmu_get(f, &b->output, s->last + 2 * nx + nw, why)) return false;
  s->left_t = at->t;
  s->left = true;
  return true;
}

/// What was noted there; false: it is another place.
static bool take_left(asi_fmu_block *b, const as_plugin_point *at, double *rate, double *output) {
  const int nx = b->state.n, nw = b->input.n;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *s = b->fmu->kind->state ? NULL : asi_fmu_slot_find(b, *at->sampled);
  const bool good = s && s->left && s->version != b->version && same(&s->left_t, &at->t, 1) &&
                    same(s->last, at->state, nx) && same(s->last + nx, at->input, nw);
  if (good && rate && nx > 0) memcpy(rate, s->last + nx + nw, (size_t)nx * sizeof *rate);
  if (good && output && b->output.n > 0)
    memcpy(output, s->last + 2 * nx + nw, (size_t)b->output.n * sizeof *output);
  (void)pthread_mutex_unlock(&b->fmu->lock);
  return good;
}

int asi_fmu_evaluate(const as_plugin_point *at, double *rate, double *output, char *why) {
  asi_fmu_block *b = at->user;
  asi_fmu *f = b->fmu;
  asi_fmu_slot *slot;
  if (!f->kind->state && take_left(b, at, rate, output)) return AS_DONE;
  int code = come(b, at, &slot, why);
  if (code == AS_DONE && rate && b->state.n > 0) {
    code = ask(f, f->calls->rates(f, rate), why);
    if (code == AS_DONE && !all_finite(f, &b->state, rate, why)) code = AS_PLUGIN_RETRY;
  }
  if (code == AS_DONE && output && !asi_fmu_get(f, &b->output, output, why)) code = soft(f);
  return leave(b, code);
}

int asi_fmu_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  asi_fmu_block *b = at->user;
  asi_fmu *f = b->fmu;
  asi_fmu_slot *slot;
  const int nx = b->state.n, nw = b->input.n;
  double column[AS_PLUGIN_MOST];
  int code = come(b, at, &slot, why);
  for (int j = 0; j < nx + nw && code == AS_DONE; ++j) {
    code = ask(f, f->calls->directional(f, b->unknown, b->n_unknown, b->known[j], column), why);
    for (int k = 0; k < b->n_unknown && code == AS_DONE; ++k) {
      const int i = b->row[k];
      if (i < nx)
        *(j < nx ? &out->rate_by_state[i * nx + j] : &out->rate_by_input[i * nw + j - nx]) =
            column[k];
      else
        *(j < nx ? &out->output_by_state[(i - nx) * nx + j]
                 : &out->output_by_input[(i - nx) * nw + j - nx]) = column[k];
    }
  }
  return leave(b, code);
}

// ---- events -----------------------------------------------------------------------------------------

double asi_fmu_event_time(const as_plugin_point *at, int event) {
  asi_fmu_block *b = at->user;
  double next = (double)INFINITY;
  if (event < b->fmu->about.n_indicators) return next;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *s = asi_fmu_slot_find(b, *at->sampled);
  if (s) next = s->next;
  (void)pthread_mutex_unlock(&b->fmu->lock);
  return next;
}

int asi_fmu_event_value(const as_plugin_point *at, int event, double *value, char *why) {
  asi_fmu_block *b = at->user;
  asi_fmu *f = b->fmu;
  asi_fmu_slot *slot;
  if (event >= f->about.n_indicators) {
    const double next = asi_fmu_event_time(at, event);
    *value = isfinite(next) ? at->t - next : -1.0;
    return AS_DONE;
  }
  int code = come(b, at, &slot, why);
  if (code == AS_DONE) code = ask(f, f->calls->indicators(f, b->z), why);
  *value = b->z[event];
  if (code == AS_DONE && !isfinite(*value)) {
    snprintf(why, AS_PLUGIN_WHY, "the FMU \"%.40s\": its event indicator %d is %g", f->label,
             event + 1, *value);
    code = AS_PLUGIN_RETRY;
  }
  return leave(b, code);
}

/// An indicator at a place; NAN: it failed.
static double indicator(asi_fmu_block *b, int event, double t, const double *x, const double *w,
                        char *why) {
  if (place(b, t, x, w, why) || ask(b->fmu, b->fmu->calls->indicators(b->fmu, b->z), why))
    return (double)NAN;
  return b->z[event];
}

/// An event is located to round-off, on either side. An FMU's event mode looks at relations, so it must stand behind the crossing: the place is
/// moved along the motion, and inputs along the indicator, by as little as does it.
static void cross(asi_fmu_block *b, const as_plugin_point *at, int event, int direction,
                  char *why) {
  double rate[AS_PLUGIN_MOST], x[AS_PLUGIN_MOST], w[AS_PLUGIN_MOST], sign[AS_PLUGIN_MOST];
  const double size = fmax(1.0, fabs(at->t));
  const double here = indicator(b, event, at->t, at->state, at->input, why);
  if (!(here * direction <= 0.0)) return;
  if (b->state.n > 0 && ask(b->fmu, b->fmu->calls->rates(b->fmu, rate), why)) return;
  for (int j = 0; j < b->input.n; ++j) {
    memcpy(w, at->input, (size_t)b->input.n * sizeof *w);
    w[j] += 1e-6 * fmax(1.0, fabs(w[j]));
    const double there = indicator(b, event, at->t, at->state, w, why);
    sign[j] = there > here ? direction : there < here ? -direction : 0.0;
  }
  for (double d = 1e-15; d < 1e-7; d *= 10.0) {
    for (int i = 0; i < b->state.n; ++i) x[i] = at->state[i] + d * size * rate[i];
    for (int j = 0; j < b->input.n; ++j)
      w[j] = at->input[j] + sign[j] * d * fmax(1.0, fabs(at->input[j]));
    if (indicator(b, event, at->t + d * size, x, w, why) * direction > 0.0) return;
  }
  (void)place(b, at->t, at->state, at->input, why);
}

/// Event mode, as often as it asks for it, and back to continuous time.
static int update(asi_fmu_block *b, const as_plugin_point *at, asi_fmu_update *u, double *x,
                  char *why) {
  asi_fmu *f = b->fmu;
  bool enter, stop = false, changed = false;
  int code = ask(f, f->calls->completed(f, &enter, &stop), why);
  if (code == AS_DONE) code = ask(f, f->calls->enter_event(f), why);
  if (b->state.n > 0) memcpy(x, at->state, (size_t)b->state.n * sizeof *x);
  u->again = true;
  for (int i = 0; i < ITERATIONS && u->again && !stop && code == AS_DONE; ++i) {
    code = ask(f, f->calls->update(f, u), why);
    stop = stop || u->stop;
    changed = changed || u->states_changed;
  }
  if (code == AS_DONE && u->again && !stop) {
    snprintf(why, AS_PLUGIN_WHY, "the FMU \"%.40s\": its event iteration does not end", f->label);
    code = AS_PLUGIN_FAIL;
  }
  u->stop = stop;
  if (code || stop) return code;
  code = ask(f, f->calls->enter_continuous(f), why);
  if (code == AS_DONE && changed && b->state.n > 0) {
    code = ask(f, f->calls->get_states(f, x), why);
    if (code == AS_DONE && !all_finite(f, &b->state, x, why)) code = AS_PLUGIN_FAIL;
  }
  return code;
}

/// Event mode at a point: the memory after it, which the FMU is in then. `what` is the event's number. NULL: `why`.
static asi_fmu_slot *happen(asi_fmu_block *b, const as_plugin_point *at, int what, int direction,
                            char *why) {
  asi_fmu *f = b->fmu;
  const double token = asi_fmu_digest(*at->sampled, 2 * what + (direction > 0), at->t, at->state,
                                      b->state.n, at->input, b->input.n);
  asi_fmu_slot *before = asi_fmu_slot_find(b, *at->sampled), *slot = asi_fmu_slot_find(b, token);
  if (slot) return slot;
  if (!asi_fmu_slot_enter(b, before, why)) return NULL;
  double t = at->t;
  // At its own time the FMU must be told exactly this.
  if (what == f->about.n_indicators && fabs(t - before->next) <= 1e-9 * fmax(1.0, fabs(t)))
    t = before->next;
  if (place(b, t, at->state, at->input, why) || !note_left(b, before, at, why)) return NULL;
  if (what < f->about.n_indicators) cross(b, at, what, direction, why);
  if (f->failed[0]) return NULL;
  asi_fmu_update u = {0};
  double x[AS_PLUGIN_MOST];
  b->version = (double)NAN; // until it is known
  if (update(b, at, &u, x, why)) return NULL;
  slot = asi_fmu_slot_new(b, token, token, at->t, why);
  if (slot == NULL) return NULL;
  b->version = token;
  slot->next = u.has_next ? u.next : (double)INFINITY;
  slot->stop = u.stop;
  if (b->state.n > 0) memcpy(slot->x, x, (size_t)b->state.n * sizeof *x);
  return slot;
}

int asi_fmu_event_act(const as_plugin_point *at, int event, int direction, double *state,
                      double *sampled, char *why) {
  asi_fmu_block *b = at->user;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *slot = happen(b, at, event, direction, why);
  if (slot == NULL) return leave(b, AS_PLUGIN_FAIL);
  if (b->state.n > 0) memcpy(state, slot->x, (size_t)b->state.n * sizeof *state);
  *sampled = slot->token;
  return leave(b, slot->stop ? AS_EVENT_STOP : AS_DONE);
}

/// At the start the FMU sees its inputs as they are then: relations of them are decided once more.
int asi_fmu_sample(const as_plugin_point *at, double *sampled, char *why) {
  asi_fmu_block *b = at->user;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *slot = happen(b, at, SAMPLE, 0, why);
  if (slot == NULL) return leave(b, AS_PLUGIN_FAIL);
  if (slot->stop ||
      (b->state.n > 0 && memcmp(slot->x, at->state, (size_t)b->state.n * sizeof(double)) != 0)) {
    snprintf(
        why, AS_PLUGIN_WHY,
        "the FMU \"%.40s\" %s at the start when it sees its inputs; give them by `parameters:`, "
        "too, so that it is initialized with them",
        b->fmu->label, slot->stop ? "asks for the end" : "changes its states");
    return leave(b, AS_PLUGIN_FAIL);
  }
  *sampled = slot->token;
  return leave(b, AS_DONE);
}

// ---- co-simulation ----------------------------------------------------------------------------------

/// [FM.2] y_k, or y_k + (y_k - y_(k-1)) (t - t_k)/H
int asi_fmu_hold(const as_plugin_point *at, double *rate, double *output, char *why) {
  asi_fmu_block *b = at->user;
  (void)rate;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *s = asi_fmu_slot_find(b, *at->sampled);
  if (s == NULL) {
    (void)asi_fmu_slot_enter(b, NULL, why);
    return leave(b, AS_PLUGIN_FAIL);
  }
  for (int i = 0; i < b->output.n && output; ++i) {
    const bool real = asi_fmu_is_real(b->output.port[i].variable->type);
    output[i] =
        s->y[i] + (b->coupling == ASI_FMU_LINEAR && real ? s->slope[i] * (at->t - s->t) : 0.0);
  }
  return leave(b, AS_DONE);
}

/// Inputs for the step to t: those at its beginning, or what lies between them and those at its end.
static int give_inputs(asi_fmu_block *b, const asi_fmu_slot *s, const as_plugin_point *at, double h,
                       char *why) {
  asi_fmu *f = b->fmu;
  const bool lines = b->coupling != ASI_FMU_HOLD;
  const bool slopes = lines && f->calls->slope && f->kind->interpolates;
  for (int i = 0; i < b->input.n; ++i) {
    const bool real = asi_fmu_is_real(b->input.port[i].variable->type);
    b->w[i] = lines && !slopes && real ? 0.5 * (s->w[i] + at->input[i]) : s->w[i];
  }
  if (!asi_fmu_set(f, &b->input, b->w, false, why)) return AS_PLUGIN_FAIL;
  for (int i = 0; i < b->input.n && slopes; ++i) {
    const asi_fmu_variable *v = b->input.port[i].variable;
    if (!asi_fmu_is_real(v->type)) continue;
    const int code = ask(f, f->calls->slope(f, v, (at->input[i] - s->w[i]) / h), why);
    if (code) return AS_PLUGIN_FAIL;
  }
  return AS_DONE;
}

/// The FMU's step from the last sample to this one, or to a time before it.
static int go(asi_fmu_block *b, const asi_fmu_slot *s, const as_plugin_point *at, bool *stop,
              char *why) {
  asi_fmu *f = b->fmu;
  const double h = at->t - s->t;
  int code = give_inputs(b, s, at, h, why);
  if (code) return code;
  b->version = (double)NAN; // until it is known
  const int status = f->calls->step(f, s->t, h, stop);
  if (status > ASI_FMU_WARNING) {
    (void)asi_fmu_fail(f, status, why);
    const size_t used = strlen(why);
    snprintf(why + used, AS_PLUGIN_WHY - used, " for the step from %.9g s to %.9g s", s->t, at->t);
    return AS_PLUGIN_FAIL;
  }
  return AS_DONE;
}

/// [FM.3] from w_k at t_k to w at t; at t_k itself what passes through at once
static int try_step(asi_fmu_block *b, const as_plugin_point *at, double *output, char *why) {
  asi_fmu *f = b->fmu;
  const asi_fmu_slot *s = asi_fmu_slot_find(b, *at->sampled);
  bool stop = false;
  if (!asi_fmu_slot_enter(b, s, why)) return AS_PLUGIN_FAIL;
  b->version = (double)NAN; // it is taken back each time
  const bool moves = at->t - s->t > 1e-12 * fmax(1.0, fabs(s->t)) && !s->stop;
  if (moves && go(b, s, at, &stop, why)) return soft(f);
  const bool good = (stop || s->stop || asi_fmu_set(f, &b->input, at->input, false, why)) &&
                    asi_fmu_get(f, &b->output, output, why);
  return good ? AS_DONE : soft(f);
}

int asi_fmu_iterate(const as_plugin_point *at, double *rate, double *output, char *why) {
  asi_fmu_block *b = at->user;
  double unwanted[AS_PLUGIN_MOST];
  (void)rate;
  (void)pthread_mutex_lock(&b->fmu->lock);
  return leave(b, try_step(b, at, output ? output : unwanted, why));
}

// Of central differences: an FMU's own steps may be as noisy as its tolerance, and Newton's method needs no more than two digits.
#define MOVE 1e-4

int asi_fmu_iterate_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  asi_fmu_block *b = at->user;
  const int nw = b->input.n, ny = b->output.n;
  double w[AS_PLUGIN_MOST], up[AS_PLUGIN_MOST], down[AS_PLUGIN_MOST];
  as_plugin_point near = *at;
  int code = AS_DONE;
  near.input = w;
  if (nw > 0) memcpy(w, at->input, (size_t)nw * sizeof *w);
  (void)pthread_mutex_lock(&b->fmu->lock);
  for (int j = 0; j < nw && code == AS_DONE; ++j) {
    const double h = MOVE * fmax(1.0, fabs(w[j]));
    w[j] = at->input[j] + h;
    code = try_step(b, &near, up, why);
    w[j] = at->input[j] - h;
    if (code == AS_DONE) code = try_step(b, &near, down, why);
    w[j] = at->input[j];
    for (int i = 0; i < ny && code == AS_DONE; ++i)
      out->output_by_input[i * nw + j] = (up[i] - down[i]) / (2.0 * h);
  }
  return leave(b, code);
}

/// The memory after a sample.
static asi_fmu_slot *step(asi_fmu_block *b, const as_plugin_point *at, char *why) {
  asi_fmu *f = b->fmu;
  const asi_fmu_slot *before = asi_fmu_slot_find(b, *at->sampled);
  const double token = asi_fmu_digest(*at->sampled, STEP, at->t, NULL, 0, at->input, b->input.n);
  asi_fmu_slot *slot = asi_fmu_slot_find(b, token);
  if (slot) return slot;
  if (!asi_fmu_slot_enter(b, before, why)) return NULL;
  const bool moves = at->t > before->t && !before->stop;
  bool stop = before->stop;
  if (moves && go(b, before, at, &stop, why)) return NULL;
  // What passes through at once is seen by outputs that are asked for now.
  if (!stop && !asi_fmu_set(f, &b->input, at->input, false, why)) return NULL;
  if (!asi_fmu_get(f, &b->output, b->y, why)) return NULL;
  const bool keeps = !moves && b->coupling != ASI_FMU_ITERATE; // inputs are given before each step
  const double version = keeps ? before->version : token, h = at->t - before->t;
  double slope[AS_PLUGIN_MOST];
  for (int i = 0; i < b->output.n; ++i) slope[i] = moves ? (b->y[i] - before->y[i]) / h : 0.0;
  b->version = version;
  slot = asi_fmu_slot_new(b, token, version, at->t, why);
  if (slot == NULL) return NULL;
  slot->stop = stop;
  if (b->input.n > 0) memcpy(slot->w, at->input, (size_t)b->input.n * sizeof(double));
  if (b->output.n > 0) {
    memcpy(slot->y, b->y, (size_t)b->output.n * sizeof(double));
    memcpy(slot->slope, slope, (size_t)b->output.n * sizeof(double));
  }
  return slot;
}

int asi_fmu_step(const as_plugin_point *at, double *sampled, char *why) {
  asi_fmu_block *b = at->user;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *slot = step(b, at, why);
  if (slot == NULL && isnan(b->version) && b->fmu->failed[0] == '\0') // there is no way on
    snprintf(b->fmu->failed, sizeof b->fmu->failed, "%s", why);
  if (slot) *sampled = slot->token;
  return leave(b, slot ? AS_DONE : AS_PLUGIN_FAIL);
}

/// The run ends where the FMU asks for it.
int asi_fmu_end_value(const as_plugin_point *at, int event, double *value, char *why) {
  asi_fmu_block *b = at->user;
  (void)event, (void)why;
  (void)pthread_mutex_lock(&b->fmu->lock);
  const asi_fmu_slot *s = asi_fmu_slot_find(b, *at->sampled);
  *value = s && s->stop ? 1.0 : -1.0;
  return leave(b, AS_DONE);
}

int asi_fmu_end_act(const as_plugin_point *at, int event, int direction, double *state,
                    double *sampled, char *why) {
  (void)event, (void)direction, (void)why, (void)state;
  *sampled = *at->sampled;
  return AS_EVENT_STOP;
}
