/// Saved states: all that an integrator knows, so that it goes on bit for bit, in another process too.
///
/// A file is a head (magic, format, length, checksum), a description of the problem and the method, which has
/// to fit the integrator that reads it, and the state; docs/saved-states.md has the layout. Factors are part of
/// it: their rounding errors are those of the pivots that were chosen, perhaps many steps ago, so each solver
/// saves what it needs to make the same factors again. What is computed before it is used is left out.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/denormals.h"
#include "base/error.h"
#include "base/file.h"
#include "core/driver/integrator.h"
#include "lie/space.h"

static const char magic[16] = "alphastep state\n";
enum { FORMAT = 21, HEAD = 16 + 3 * 8 };

// ---- what makes sense ------------------------------------------------------------------------------

static bool all_finite(const double *x, int n) {
  for (int i = 0; i < n; ++i)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool has_factors(const asi_system *system) {
  asi_solver_info info;
  system->solver->ops->info(system->solver, &info);
  return info.full_factorizations > 0;
}

static bool path_makes_sense(const as_integrator *s) {
  for (int i = 0; i < s->stepper.path.count; ++i)
    if (!(s->stepper.path.h[i] > 0.0) || !all_finite(s->stepper.path.mean[i], s->kin.problem->n))
      return false;
  return s->stepper.path.count == 0 ||
         (isfinite(s->stepper.path.lag) && all_finite(s->stepper.path.extra, s->kin.problem->n));
}

static bool b_makes_sense(const as_integrator *s) {
  return s->stepper.first || !asi_index2_keeps_b(&s->stepper) ||
         all_finite(s->stepper.b_n.value, s->stepper.b_n.col_start[s->stepper.b_n.cols]);
}

static bool track_makes_sense(const asi_track *x) {
  bool sense = x->until == -(double)INFINITY || (isfinite(x->until) && x->count == ASI_RESPONSES);
  for (int i = 0; i < x->count && sense; ++i)
    sense =
        all_finite(x->value[i], x->size) && isfinite(x->t[i]) && (i == 0 || x->t[i - 1] > x->t[i]);
  return sense;
}

static bool jump_makes_sense(const as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const asi_jump_memory *jump = &s->stepper.jump;
  if (!asi_jump_applies(&s->stepper)) return true;
  for (int i = 0; i < jump->count; ++i)
    if (!all_finite(jump->kept[i], (int)asi_jump_kept(p))) return false;
  return (jump->count < 2 || jump->t[0] > jump->t[1]) && jump->contraction >= 0.0 &&
         (isnan(jump->response.t) || all_finite(jump->response.direction, p->n)) &&
         track_makes_sense(&jump->response.change) && track_makes_sense(&jump->response.slope);
}

static bool high_makes_sense(const as_integrator *s) {
  const int n = s->kin.problem->n, nx = s->kin.problem->def.n_x;
  if (s->def.order == 2) return true;
  return (!s->stepper.last.has_middle || all_finite(s->stepper.last.middle, 2 * (2 * n + nx))) &&
         (isnan(s->high.h) || (s->high.h > 0.0 && isfinite(s->high.h))) &&
         s->high.vdot_size >= 0.0 && isfinite(s->high.t) && isfinite(s->high.work) &&
         s->high.cost >= 0.0 && s->high.cost_of_method >= 0.0;
}

static bool windows_make_sense(const as_integrator *s) {
  bool sense = all_finite(s->control.third, s->kin.problem->n);
  for (int i = 0; i < 3; ++i)
    sense = sense && s->control.slow_h[i] >= 0.0 && isfinite(s->control.slow_h[i]) &&
            all_finite(s->control.slow[i], s->kin.problem->n);
  return sense;
}

/// Whether a state that was read can be gone on from: a step must neither break nor run on forever.
static bool makes_sense(const as_integrator *s) {
  const as_problem *p = s->kin.problem;
  const asi_values *now = &s->stepper.now;
  const int n = p->n, m = p->def.n_lambda, nx = p->def.n_x;
  const double t0 = s->stepper.last.known ? s->stepper.last.t0 : s->stepper.t, h = s->control.h;
  const bool decoupled =
      s->stepper.eta.solver != NULL && s->stepper.active == &s->stepper.shared; // [GA.14]
  return isfinite(s->stepper.t) &&
         isfinite(s->stepper.blow.kinetic[1] + s->stepper.blow.stored[1]) &&
         (!s->stepper.last.known || s->stepper.last.h > 0.0) && s->state.t >= t0 &&
         s->state.t <= s->stepper.t && as_space_check(p->space, now->q, NULL) == AS_OK &&
         all_finite(now->v, n) && all_finite(now->vdot, n) && all_finite(now->a, n) &&
         all_finite(now->lambda, m) && all_finite(now->psi, p->def.n_psi) &&
         all_finite(now->x, nx) && all_finite(now->xdot, nx) && all_finite(now->w, nx) &&
         all_finite(now->y, p->def.n_y) && (isnan(h) || (h > 0.0 && isfinite(h))) &&
         s->control.error > 0.0 && s->control.error <= 1.0 && s->control.expected >= 0.0 &&
         isfinite(s->control.expected) && s->control.amplified >= 0.0 &&
         s->control.longest >= 0.0 && s->control.share >= 0.0 && isfinite(s->control.share) &&
         s->control.slow_share >= 0.0 && isfinite(s->control.slow_share) &&
         s->control.share_h >= 0.0 && high_makes_sense(s) && windows_make_sense(s) &&
         s->kin.eval.rate > 0.0 && isfinite(s->kin.eval.rate) && path_makes_sense(s) &&
         b_makes_sense(s) && jump_makes_sense(s) &&
         (s->stepper.first || s->stepper.predictor.count > 0) &&
         (isnan(s->stepper.factor_h) ||
          (has_factors(s->stepper.active) && (!decoupled || has_factors(&s->stepper.eta))));
}

// ---- what it has to fit ---------------------------------------------------------------------------

/// Something that has to be the same where a state is saved and where it is loaded.
typedef struct fact {
  const char *name;
  double value;
  bool is_digest; ///< of many numbers
} fact;

enum { MAX_FACTS = 32 + AS_BLOCK_COUNT };

/// A digest of 53 bits, which a double holds.
typedef struct digest {
  uint64_t hash;
} digest;

static void take_in(digest *d, double x) {
  unsigned char bytes[16] = {0};
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = bytes, .size = sizeof bytes};
  asi_archive_word(&a, &d->hash);
  asi_archive_double(&a, &x);
  d->hash = asi_checksum(bytes, sizeof bytes);
}

static double value_of(const digest *d) { return (double)(d->hash >> 11); }

static double digest_space(const as_space *space) {
  digest d = {0};
  for (int i = 0; i < space->n_parts; ++i) {
    take_in(&d, space->parts[i].kind);
    take_in(&d, space->parts[i].count);
  }
  return value_of(&d);
}

static double digest_samplers(const as_problem *p) {
  digest d = {0};
  for (int i = 0; i < p->def.n_samplers; ++i) {
    const as_sampler_def *x = &p->sampler[i];
    const double numbers[] = {x->period, x->offset, x->delay, x->first, x->count};
    for (int k = 0; k < 5; ++k) take_in(&d, numbers[k]);
  }
  return value_of(&d);
}

static double digest_pattern(const asi_pattern *pattern) {
  digest d = {0};
  for (int j = 0; j < pattern->cols; ++j) {
    take_in(&d, pattern->col_start[j + 1]);
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      take_in(&d, pattern->row[k]);
  }
  return value_of(&d);
}

static int list_facts(const as_integrator *s, fact *list) {
  const as_problem *p = s->kin.problem;
  const as_problem_def *def = &p->def;
  const fact facts[] = {
      {"the number of the method", (double)s->def.method, false},
      {"the order", (double)s->def.order, false},
      {"the number of velocities", p->n, false},
      {"the number of numbers in q", p->nq, false},
      {"the configuration space", digest_space(p->space), true},
      {"the number of holonomic constraints", def->n_lambda, false},
      {"the number of nonholonomic constraints", def->n_psi, false},
      {"the number of states x", def->n_x, false},
      {"the number of outputs y", def->n_y, false},
      {"the number of held signals u", def->n_u, false},
      {"the number of samplers", def->n_samplers, false},
      {"the times or signals of the samplers", digest_samplers(p), true},
      {"the number of events", s->def.n_events, false},
      {"the kind of the force", (double)def->force_kind, false},
      {"mass_constant", def->mass_constant, false},
      {"alpha_m", s->stepper.c.alpha_m, false},
      {"alpha_f", s->stepper.c.alpha_f, false},
      {"beta", s->stepper.c.beta, false},
      {"gamma", s->stepper.c.gamma, false},
      {"delta_m", s->stepper.cx.delta_m, false},
      {"delta_f", s->stepper.cx.delta_f, false},
      {"theta", s->stepper.cx.theta, false},
  };
  int n = (int)(sizeof facts / sizeof facts[0]);
  memcpy(list, facts, sizeof facts);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (p->present & AS_BLOCK_BIT(block))
      list[n++] = (fact){asi_block_describe((as_block)block).name,
                         digest_pattern(&p->pattern[block]), true};
    else
      list[n++] = (fact){asi_block_describe((as_block)block).name, 0.0, true};
  return n;
}

/// Compares, or writes, the facts.
static as_status serialize_facts(const as_integrator *s, asi_archive *a, as_error *error) {
  fact list[MAX_FACTS];
  const int n = list_facts(s, list);
  for (int i = 0; i < n; ++i) {
    const double mine = list[i].value;
    const char *name = list[i].name;
    double value = mine;
    asi_archive_double(a, &value);
    if (a->mode != ASI_ARCHIVE_READ || a->damaged || value == mine) continue;
    if (!list[i].is_digest)
      return asi_fail(error, AS_ERR_FILE, (double)NAN, name,
                      "The saved state does not fit: %s was %.12g there and is %.12g here.", name,
                      value, mine);
    return asi_fail(error, AS_ERR_FILE, (double)NAN, name,
                    "The saved state does not fit: %s%s there differed from that here.",
                    i < n - AS_BLOCK_COUNT ? "" : "the pattern of block ", name);
  }
  return AS_OK;
}

// ---- in memory ------------------------------------------------------------------------------------

static as_status fail_file(as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "The saved state cannot be used: %s.",
                  why);
}

as_status as_integrator_save(as_integrator *s, void *data, size_t *size, as_error *error) {
  const as_status status = asi_check_started(s, error);
  if (status) return status;
  if (size == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, "size",
                    "as_integrator_save needs a place for the size.");
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  (void)serialize_facts(s, &count, NULL); // only reading may fail
  asi_state_serialize(s, &count);
  const size_t room = *size, needed = HEAD + count.used;
  *size = needed;
  if (data == NULL) return AS_OK;
  if (room < needed)
    return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, "size",
                    "The state takes %zu bytes, but there is room for %zu.", needed, room);
  unsigned char *const bytes = data;
  asi_archive body = {.mode = ASI_ARCHIVE_WRITE, .data = bytes + HEAD, .size = count.used};
  (void)serialize_facts(s, &body, NULL);
  asi_state_serialize(s, &body);
  memcpy(bytes, magic, sizeof magic);
  asi_archive head = {.mode = ASI_ARCHIVE_WRITE, .data = bytes + 16, .size = HEAD - 16};
  uint64_t format = FORMAT, length = count.used, sum = asi_checksum(bytes + HEAD, count.used);
  asi_archive_word(&head, &format);
  asi_archive_word(&head, &length);
  asi_archive_word(&head, &sum);
  return AS_OK;
}

/// Checks the head, of which there are `size` bytes, and reads the length and the checksum of the body.
static as_status read_head(unsigned char *bytes, size_t size, uint64_t *length, uint64_t *sum,
                           as_error *error) {
  if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
    return fail_file(error, "it is not a state of alphastep");
  if (size < HEAD) return fail_file(error, "it is cut off");
  asi_archive head = {.mode = ASI_ARCHIVE_READ, .data = bytes + 16, .size = HEAD - 16};
  uint64_t format = 0;
  asi_archive_word(&head, &format);
  asi_archive_word(&head, length);
  asi_archive_word(&head, sum);
  if (format == FORMAT) return AS_OK;
  char why[80];
  snprintf(why, sizeof why, "its format is %llu, this library reads %d", (unsigned long long)format,
           FORMAT);
  return fail_file(error, why);
}

/// Checks head, length and checksum and leaves the body in `a`.
static as_status open_body(unsigned char *bytes, size_t size, asi_archive *a, as_error *error) {
  uint64_t length = 0, sum = 0;
  const as_status status = read_head(bytes, size, &length, &sum, error);
  if (status) return status;
  if (length > size - HEAD) return fail_file(error, "it is cut off");
  if (length < size - HEAD) return fail_file(error, "there is something behind its end");
  if (asi_checksum(bytes + HEAD, (size_t)length) != sum)
    return fail_file(error, "it is damaged (the checksum is wrong)");
  *a = (asi_archive){.mode = ASI_ARCHIVE_READ, .data = bytes + HEAD, .size = (size_t)length};
  return AS_OK;
}

/// Reads the state; what does not make sense is damage.
static as_status read_state(as_integrator *s, asi_archive *a, as_error *error) {
  asi_state_serialize(s, a);
  if (a->no_memory) return asi_fail_memory(error);
  if (a->damaged || a->used != a->size || !makes_sense(s))
    return fail_file(error, "it is damaged (its contents make no sense)");
  s->started = true;
  return AS_OK;
}

/// Reads the state, or leaves everything as it was: a copy is kept of what is there now, started or not.
static as_status replace_state(as_integrator *s, asi_archive *a, as_error *error) {
  const bool started = s->started;
  const as_state state = s->state;
  asi_archive own = {.mode = ASI_ARCHIVE_COUNT};
  asi_state_serialize(s, &own);
  const size_t size = own.used;
  unsigned char *const copy = malloc(size);
  if (copy == NULL) return asi_fail_memory(error);
  own = (asi_archive){.mode = ASI_ARCHIVE_WRITE, .data = copy, .size = size};
  asi_state_serialize(s, &own);
  const as_status status = read_state(s, a, error);
  if (status) {
    own = (asi_archive){.mode = ASI_ARCHIVE_READ, .data = copy, .size = size, .trusted = true};
    asi_state_serialize(s, &own);
    s->state = state;
    s->started = started && !own.damaged; // memory may have run out
  }
  free(copy);
  return status;
}

as_status as_integrator_load(as_integrator *s, const void *data, size_t size, as_error *error) {
  if (s == NULL || data == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_integrator_load needs an integrator and a saved state.");
  // Reading goes through a pointer that can write as well; it does not.
  unsigned char *bytes = NULL;
  memcpy(&bytes, &data, sizeof bytes);
  asi_archive body;
  as_status status = open_body(bytes, size, &body, error);
  if (status == AS_OK) status = serialize_facts(s, &body, error);
  if (status == AS_OK && body.damaged) status = fail_file(error, "it is cut off");
  if (status) return status;
  // Factors are made again as steps make them.
  const asi_float_mode mode = asi_flush_denormals();
  status = replace_state(s, &body, error);
  asi_restore_denormals(mode);
  return status ? status : asi_error_clear(error);
}

// ---- in files -------------------------------------------------------------------------------------

static as_status fail_io(as_error *error, const char *path, const char *what) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%s cannot be %s.", path, what);
}

as_status as_integrator_save_file(as_integrator *s, const char *path, as_error *error) {
  if (path == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "path", "The path is NULL.");
  size_t size = 0;
  as_status status = as_integrator_save(s, NULL, &size, error);
  if (status) return status;
  unsigned char *data = malloc(size);
  if (data == NULL) return asi_fail_memory(error);
  status = as_integrator_save(s, data, &size, error);
  asi_draft output = {.file = NULL};
  if (status == AS_OK) status = asi_draft_open(&output, path, error);
  if (status == AS_OK) {
    (void)fwrite(data, 1, size, output.file); // seen when it is closed
    status = asi_draft_close(&output, AS_OK, true, error);
  }
  free(data);
  return status;
}

as_status as_integrator_load_file(as_integrator *s, const char *path, as_error *error) {
  if (s == NULL || path == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "path",
                    "as_integrator_load_file needs an integrator and a path.");
  const char *why = NULL;
  FILE *file = asi_file_open(path, &why);
  if (file == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (file == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be opened: %s.", path,
                    why);
  unsigned char head[HEAD];
  unsigned char *data = NULL;
  uint64_t length = 0, sum = 0;
  size_t size = fread(head, 1, HEAD, file), room = 0;
  as_status status = ferror(file) ? fail_io(error, path, "read") : AS_OK;
  // Something else, however long, is not read any further; nor is what stands behind the end.
  if (status == AS_OK) status = read_head(head, size, &length, &sum, error);
  for (bool more = true; status == AS_OK && more;) {
    if (size >= room) {
      room = 2 * room + 65536;
      unsigned char *grown = realloc(data, room);
      if (grown == NULL) {
        status = asi_fail_memory(error);
        break;
      }
      if (data == NULL) memcpy(grown, head, HEAD);
      data = grown;
    }
    const size_t got = fread(data + size, 1, room - size, file);
    size += got;
    more = got > 0 && size - HEAD <= length;
  }
  if (status == AS_OK && ferror(file)) status = fail_io(error, path, "read");
  fclose(file);
  if (status == AS_OK) status = as_integrator_load(s, data, size, error);
  free(data);
  return status;
}
