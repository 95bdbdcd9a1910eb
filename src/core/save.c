/// Saved states: all that an integrator knows, so that it goes on bit for bit, in another process too.
///
/// A file is a head (magic, format, length, checksum), a description of the problem and the method, which has
/// to fit the integrator that reads it, and the state. Factors are part of it: their rounding errors are those
/// of the pivots that were chosen, perhaps many steps ago, so each solver saves what it needs to make the same
/// factors again.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/error.h"
#include "core/integrator.h"

static const char magic[16] = "alphastep state\n";
enum { FORMAT = 1, HEAD = 16 + 3 * 8 };

// ---- what belongs to a state ----------------------------------------------------------------------

static void visit_values(as_integrator *s, const asi_values *x, asi_archive *a) {
  const as_problem *p = s->problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, nx = (size_t)p->def.n_x;
  asi_archive_doubles(a, x->q, (size_t)p->nq);
  asi_archive_doubles(a, x->v, n);
  asi_archive_doubles(a, x->vdot, n);
  asi_archive_doubles(a, x->a, n);
  asi_archive_doubles(a, x->lambda, m);
  asi_archive_doubles(a, x->psi, (size_t)p->def.n_psi);
  asi_archive_doubles(a, x->eta, m);
  asi_archive_doubles(a, x->x, nx);
  asi_archive_doubles(a, x->xdot, nx);
  asi_archive_doubles(a, x->w, nx);
  asi_archive_doubles(a, x->y, (size_t)p->def.n_y);
}

static void visit_statistics(as_statistics *x, asi_archive *a) {
  long *const counts[] = {&x->steps,
                          &x->failed_steps,
                          &x->rejected_steps,
                          &x->newton_iterations,
                          &x->factorizations,
                          &x->solves,
                          &x->mass_evaluations,
                          &x->force_evaluations,
                          &x->constraint_evaluations,
                          &x->jacobian_evaluations};
  double *const sizes[] = {&x->last_step,         &x->error,
                           &x->dynamics_residual, &x->position_residual,
                           &x->velocity_residual, &x->contraction};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) asi_archive_count(a, counts[i]);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) asi_archive_double(a, sizes[i]);
}

static void visit_last_step(as_integrator *s, asi_archive *a) {
  asi_archive_bool(a, &s->last.known);
  asi_archive_bool(a, &s->last.jumped);
  asi_archive_double(a, &s->last.t0);
  asi_archive_double(a, &s->last.h);
  asi_archive_doubles(a, s->last.a_offset, 2);
  asi_archive_doubles(a, s->last.w_offset, 2);
  visit_values(s, &s->last.from, a);
  visit_values(s, &s->last.to, a);
  asi_archive_doubles(a, s->last.xi, (size_t)s->problem->n);
  asi_archive_doubles(a, s->last.u, (size_t)s->problem->def.n_u);
}

static void visit_history(as_integrator *s, asi_archive *a) {
  const size_t n = (size_t)s->problem->n, nx = (size_t)s->problem->def.n_x;
  const size_t soi2 = s->def.method == AS_METHOD_SOI2 ? n : 0;
  asi_predictor *past = &s->predictor;
  asi_archive_int(a, &past->count, 0, ASI_HISTORY);
  asi_archive_int(a, &past->points, 1, ASI_HISTORY);
  asi_archive_doubles(a, past->t, ASI_HISTORY);
  for (int i = 0; i < ASI_HISTORY; ++i) asi_archive_doubles(a, past->z[i], (size_t)past->size);
  asi_archive_doubles(a, s->a_rate, n);
  asi_archive_doubles(a, s->p, soi2);
  asi_archive_doubles(a, s->a_before, soi2);
  asi_archive_doubles(a, s->p_before, soi2);
  asi_archive_double(a, &s->last_h);
  asi_archive_bool(a, &s->varying);
  asi_archive_bool(a, &s->first);
  asi_archive_bool(a, &s->forward);
  asi_archive_double(a, &s->control.h);
  asi_archive_double(a, &s->control.error);
  asi_archive_int(a, &s->control.patience, 0, INT_MAX);
  asi_archive_doubles(a, s->control.size, 2 * n + nx);
  for (int i = 0; i < 3; ++i) asi_archive_doubles(a, s->control.mean[i], n + nx);
  asi_archive_doubles(a, s->control.mean_h, 3);
}

static void visit_constraints(as_integrator *s, asi_archive *a) {
  asi_redundancy *r = &s->redundancy;
  const size_t rows = (size_t)r->rows;
  const int last = r->rows > 0 ? r->rows - 1 : 0;
  asi_archive_double(a, &s->compliance);
  asi_archive_double(a, &s->base_compliance);
  asi_archive_doubles(a, r->column_scale, (size_t)s->problem->n);
  asi_archive_doubles(a, r->inverse_D2, rows);
  asi_archive_doubles(a, r->inverse_d2, rows);
  asi_archive_int(a, &r->n_redundant, 0, r->rows);
  asi_archive_int(a, &r->n_nearly, 0, r->rows);
  if (r->n_redundant + r->n_nearly > r->rows) a->damaged = true;
  for (size_t i = 0; i < rows; ++i) asi_archive_int(a, &r->redundant[i], 0, last);
  s->eval.n_inactive = 0;
  for (size_t i = 0; i < rows; ++i) {
    asi_archive_bool(a, &s->eval.inactive[i]);
    s->eval.n_inactive += s->eval.inactive[i];
  }
}

static void visit_newton(as_integrator *s, asi_archive *a) {
  const as_problem *p = s->problem;
  bool shared = s->active == &s->shared;
  asi_archive_bool(a, &shared);
  if (a->mode == ASI_ARCHIVE_READ && shared && s->shared.size == 0) a->damaged = true;
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged) s->active = shared ? &s->shared : &s->step;
  asi_archive_double(a, &s->factor_h);
  asi_archive_double(a, &s->factor_gamma);
  asi_archive_double(a, &s->factor_compliance);
  asi_archive_count(a, &s->factor_age);
  asi_archive_double(a, &s->contraction);
  asi_archive_count(a, &s->contraction_age);
  asi_archive_double(a, &s->fresh_contraction);
  asi_archive_bool(a, &s->fresh_seen);
  asi_archive_double(a, &s->first_norm);
  asi_archive_bool(a, &s->mass_known);
  // Blocks that are not evaluated anew before they are used: M, if constant, and what [NW.7] reads.
  static const as_block kept[] = {AS_BLOCK_M, AS_BLOCK_F_LAMBDA, AS_BLOCK_F_PSI};
  for (int i = 0; i < 3; ++i) {
    const as_matrix *m = &s->block[kept[i]];
    if (p->present & AS_BLOCK_BIT(kept[i]))
      asi_archive_doubles(a, m->value, (size_t)m->col_start[m->cols]);
  }
}

static void visit_state(as_integrator *s, asi_archive *a) {
  const as_problem_def *def = &s->problem->def;
  double shown = s->state.t;
  asi_archive_double(a, &s->t);
  asi_archive_double(a, &shown);
  asi_archive_double(a, &s->a_offset);
  asi_archive_double(a, &s->w_offset);
  visit_values(s, &s->now, a);
  visit_last_step(s, a);
  visit_history(s, a);
  visit_constraints(s, a);
  visit_newton(s, a);
  asi_archive_doubles(a, s->eval.u, (size_t)def->n_u);
  asi_sampling_visit(s, a);
  asi_events_visit(s, a);
  visit_statistics(&s->statistics, a);
  asi_system *const systems[] = {&s->step, &s->shared, &s->kkt, &s->projection, &s->consistent};
  for (int i = 0; i < 5 && !a->damaged; ++i) asi_system_visit(systems[i], a);
  if (a->mode != ASI_ARCHIVE_READ || a->damaged) return;
  asi_solver_info info;
  s->active->solver->ops->info(s->active->solver, &info);
  if (info.full_factorizations == 0) s->factor_h = (double)NAN;
  if (!s->first && s->predictor.count == 0) a->damaged = true;
  s->started = true;
  const double t0 = s->last.known ? s->last.t0 : s->t;
  if (shown >= t0 && shown <= s->t)
    asi_dense_show(s, shown);
  else
    a->damaged = true;
}

/// Numbers that have to be the same where a state is saved and where it is loaded.
typedef struct fact {
  const char *name;
  double value;
} fact;

enum { MAX_FACTS = 32 + AS_BLOCK_COUNT };

static int list_facts(const as_integrator *s, fact *list) {
  const as_problem *p = s->problem;
  const as_problem_def *def = &p->def;
  int n = 0;
  list[n++] = (fact){"the method's number", (double)s->def.method};
  list[n++] = (fact){"the number of velocities", p->n};
  list[n++] = (fact){"the number of numbers in q", p->nq};
  list[n++] = (fact){"the number of holonomic constraints", def->n_lambda};
  list[n++] = (fact){"the number of nonholonomic constraints", def->n_psi};
  list[n++] = (fact){"the number of states x", def->n_x};
  list[n++] = (fact){"the number of outputs y", def->n_y};
  list[n++] = (fact){"the number of held signals u", def->n_u};
  list[n++] = (fact){"the number of samplers", def->n_samplers};
  list[n++] = (fact){"the number of events", s->def.n_events};
  list[n++] = (fact){"alpha_m", s->c.alpha_m};
  list[n++] = (fact){"alpha_f", s->c.alpha_f};
  list[n++] = (fact){"beta", s->c.beta};
  list[n++] = (fact){"gamma", s->c.gamma};
  list[n++] = (fact){"delta_m", s->cx.delta_m};
  list[n++] = (fact){"delta_f", s->cx.delta_f};
  list[n++] = (fact){"theta", s->cx.theta};
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    list[n++] = (fact){
        asi_block_describe((as_block)block).name,
        p->present & AS_BLOCK_BIT(block) ? (double)asi_pattern_nnz(&p->pattern[block]) : 0.0};
  return n;
}

/// Compares, or writes, the facts.
static as_status visit_facts(const as_integrator *s, asi_archive *a, as_error *error) {
  fact list[MAX_FACTS];
  const int n = list_facts(s, list);
  for (int i = 0; i < n; ++i) {
    const double mine = list[i].value;
    double value = mine;
    asi_archive_double(a, &value);
    if (a->mode != ASI_ARCHIVE_READ || a->damaged || value == mine) continue;
    return asi_fail(error, AS_ERR_FILE, (double)NAN, list[i].name,
                    i < n - AS_BLOCK_COUNT
                        ? "The saved state does not fit: %s was %g there and is %g here."
                        : "The saved state does not fit: block %s had %g entries there and has %g "
                          "here.",
                    list[i].name, value, mine);
  }
  return AS_OK;
}

// ---- in memory ------------------------------------------------------------------------------------

static as_status write_all(as_integrator *s, asi_archive *a, as_error *error) {
  const as_status status = visit_facts(s, a, error);
  if (status == AS_OK) visit_state(s, a);
  return status;
}

as_status as_integrator_save(as_integrator *s, void *data, size_t *size, as_error *error) {
  as_status status = asi_check_started(s, error);
  if (status) return status;
  if (size == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, s->t, "size",
                    "as_integrator_save needs a place for the size.");
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  status = write_all(s, &count, error);
  const size_t room = *size, needed = HEAD + count.used;
  *size = needed;
  if (data == NULL || status) return status;
  if (room < needed)
    return asi_fail(error, AS_ERR_ARGUMENT, s->t, "size",
                    "The state takes %zu bytes, but there is room for %zu.", needed, room);
  unsigned char *const bytes = data;
  asi_archive body = {.mode = ASI_ARCHIVE_WRITE, .data = bytes + HEAD, .size = count.used};
  status = write_all(s, &body, error);
  memcpy(bytes, magic, sizeof magic);
  asi_archive head = {.mode = ASI_ARCHIVE_WRITE, .data = bytes + 16, .size = HEAD - 16};
  uint64_t format = FORMAT, length = count.used, sum = asi_checksum(bytes + HEAD, count.used);
  asi_archive_word(&head, &format);
  asi_archive_word(&head, &length);
  asi_archive_word(&head, &sum);
  return status;
}

static as_status fail_file(as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "The saved state cannot be used: %s.",
                  why);
}

/// Checks the head and leaves the body in `a`.
static as_status open_body(unsigned char *bytes, size_t size, asi_archive *a, as_error *error) {
  if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
    return fail_file(error, "it is not a state of alphastep");
  if (size < HEAD) return fail_file(error, "it is cut off");
  asi_archive head = {.mode = ASI_ARCHIVE_READ, .data = bytes + 16, .size = HEAD - 16};
  uint64_t format = 0, length = 0, sum = 0;
  asi_archive_word(&head, &format);
  asi_archive_word(&head, &length);
  asi_archive_word(&head, &sum);
  if (format != FORMAT) {
    char why[80];
    snprintf(why, sizeof why, "its format is %llu, this library reads %d",
             (unsigned long long)format, FORMAT);
    return fail_file(error, why);
  }
  if (length > size - HEAD) return fail_file(error, "it is cut off");
  if (length < size - HEAD) return fail_file(error, "there is something behind its end");
  if (asi_checksum(bytes + HEAD, (size_t)length) != sum)
    return fail_file(error, "it is damaged (the checksum is wrong)");
  *a = (asi_archive){.mode = ASI_ARCHIVE_READ, .data = bytes + HEAD, .size = (size_t)length};
  return AS_OK;
}

/// Reads the state; what does not make sense is damage.
static as_status read_state(as_integrator *s, asi_archive *a, as_error *error) {
  visit_state(s, a);
  if (a->damaged || a->used != a->size)
    return fail_file(error, "it is damaged (its contents make no sense)");
  return as_space_check(s->problem->space, s->now.q, error);
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
  if (status == AS_OK) status = visit_facts(s, &body, error);
  if (status == AS_OK && body.damaged) status = fail_file(error, "it is cut off");
  if (status) return status;
  // To be able to go back: a copy of what is there now.
  size_t own_size = 0;
  unsigned char *own = NULL;
  if (s->started) {
    status = as_integrator_save(s, NULL, &own_size, error);
    own = status ? NULL : malloc(own_size);
    if (own == NULL) return asi_fail_memory(error);
    status = as_integrator_save(s, own, &own_size, error);
  }
  const bool started = s->started;
  s->eval.error = error;
  if (status == AS_OK) status = read_state(s, &body, error);
  if (status) {
    s->started = false;
    asi_archive back;
    as_error ignored;
    if (started && open_body(own, own_size, &back, &ignored) == AS_OK &&
        visit_facts(s, &back, &ignored) == AS_OK)
      visit_state(s, &back);
  }
  free(own);
  return status ? status : asi_succeed(error);
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
  char *temporary = malloc(strlen(path) + 5);
  if (data == NULL || temporary == NULL) {
    status = asi_fail_memory(error);
  } else {
    // Written beside it and renamed: whatever happens, there is a whole file.
    sprintf(temporary, "%s.new", path);
    status = as_integrator_save(s, data, &size, error);
    FILE *file = status == AS_OK ? fopen(temporary, "wb") : NULL;
    bool written = file != NULL && fwrite(data, 1, size, file) == size;
    if (file != NULL && fclose(file) != 0) written = false;
    if (status == AS_OK && (!written || rename(temporary, path) != 0)) {
      if (file != NULL) remove(temporary);
      status = fail_io(error, path, "written");
    }
  }
  free(temporary);
  free(data);
  return status;
}

as_status as_integrator_load_file(as_integrator *s, const char *path, as_error *error) {
  if (s == NULL || path == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "path",
                    "as_integrator_load_file needs an integrator and a path.");
  FILE *file = fopen(path, "rb");
  if (file == NULL) return fail_io(error, path, "opened");
  as_status status = AS_OK;
  size_t size = 0, room = 0;
  unsigned char *data = NULL;
  for (;;) {
    if (size == room) {
      room = 2 * room + 65536;
      unsigned char *grown = realloc(data, room);
      if (grown == NULL) {
        status = asi_fail_memory(error);
        break;
      }
      data = grown;
    }
    const size_t got = fread(data + size, 1, room - size, file);
    size += got;
    if (got == 0) break;
  }
  if (status == AS_OK && ferror(file)) status = fail_io(error, path, "read");
  fclose(file);
  if (status == AS_OK) status = as_integrator_load(s, data, size, error);
  free(data);
  return status;
}
