/// Index-2 with eta solved after the other unknowns, [GA.14]: the same results as with the matrix of all
/// unknowns, order 2, the change to that matrix where springs are stiff, and what can happen on the way: events,
/// redundant rows, states, factors of KLU, saved states, memory that runs out.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "counting.h"
#include "problems/loops.h"
#include "problems/rope.h"
#include "saved.h"

static as_error error; // of the last call

static void stop_if(as_status status) {
  if (status) fail_msg("%s: %s", as_status_name(status), error.message);
}

typedef struct runner {
  as_problem *problem;
  as_integrator *s;
} runner;

static as_integrator_def how(void) {
  as_integrator_def def = as_default_integrator_def();
  def.newton.rtol = 1e-11;
  return def;
}

static runner make(const as_problem_def *def, const as_integrator_def *with) {
  runner r = {0};
  stop_if(as_problem_create(def, &r.problem, &error));
  stop_if(as_integrator_create(r.problem, with, &r.s, &error));
  assert_non_null(r.s->stepper.eta.solver);
  return r;
}

static runner start(const as_problem_def *def, const as_integrator_def *with, const double *q0,
                    const double *v0) {
  runner r = make(def, with);
  stop_if(as_integrator_start(r.s, &(as_initial){.q = q0, .v = v0}, NULL, &error));
  return r;
}

static void leave(runner *r) {
  as_integrator_destroy(r->s);
  as_problem_destroy(r->problem);
}

/// The matrix of all unknowns from now on.
static void couple(as_integrator *s) {
  stop_if(asi_index2_couple(&s->stepper, &error));
  s->stepper.active = &s->stepper.step;
  s->stepper.coupled_steps = ASI_ALWAYS_COUPLED;
}

/// Makes an integrator believe that the matrix without eta contracts badly.
static void slow_down(as_integrator *s) {
  s->stepper.history.fresh_seen = true;
  s->stepper.history.fresh_contraction = 0.5;
}

static const char *backend_of(const asi_system *system) {
  asi_solver_info info;
  system->solver->ops->info(system->solver, &info);
  return info.backend;
}

/// The largest |a_i - b_i| over the largest |b_i|, or 1 if that is smaller.
static double distance(const double *a, const double *b, int n) {
  double off = 0.0, size = 1.0;
  for (int i = 0; i < n; ++i) {
    off = asi_max_nan(off, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return off / size;
}

/// Of all but lambda, which may be ill determined.
static double state_distance(const as_problem_def *def, const as_state *a, const as_state *b, int n,
                             int nq) {
  double off = fmax(distance(a->q, b->q, nq), distance(a->v, b->v, n));
  off = asi_max_nan(off, distance(a->vdot, b->vdot, n));
  off = asi_max_nan(off, distance(a->psi, b->psi, def->n_psi));
  off = asi_max_nan(off, distance(a->x, b->x, def->n_x));
  return asi_max_nan(off, distance(a->y, b->y, def->n_y));
}

// ---- the same results ------------------------------------------------------------------------------

/// A rope with the given features, its derivatives checked.
static rope *make_rope(rope features) {
  rope *r = malloc(sizeof *r);
  assert_non_null(r);
  *r = features;
  rope_init(r);
  return r;
}

static const rope plain = {.damping = 0.5, .heavy_from = -1.0, .fails_from = 1e9};

static rope *make_stiff(double stiffness) {
  rope features = plain;
  features.stiffness = stiffness;
  return make_rope(features);
}

/// A rope without masses here and there, so that KLU takes its matrices until t.
static rope *make_light(double t) {
  rope features = plain;
  features.heavy_from = t;
  return make_rope(features);
}

static rope *make_equipped(void) {
  rope features = plain;
  features.rolls = features.senses = true;
  return make_rope(features);
}

static void test_rope(void **state) {
  (void)state;
  rope *const all[] = {make_rope(plain), make_stiff(1e4), make_light(0.1), make_equipped()};
  for (int i = 0; i < 4; ++i) {
    as_problem *problem = NULL;
    as_check_def def = as_default_check_def();
    def.near.q = all[i]->q0;
    stop_if(as_problem_create(&all[i]->def, &problem, &error));
    stop_if(as_problem_check(problem, &def, NULL, &error));
    as_problem_destroy(problem);
    free(all[i]);
  }
}

/// What two runs, the second with the full matrix always, have in common.
typedef struct comparison {
  double off;        ///< the largest distance of states, lambda excepted
  double off_lambda; ///< and of lambda
  int coupled;       ///< steps that the first took with the full matrix
  double iterations, iterations_coupled;
} comparison;

static comparison compare_runs(const char *what, const as_problem_def *def,
                               const as_integrator_def *with, const double *q0, const double *v0,
                               double h, int steps) {
  runner a = start(def, with, q0, v0), b = start(def, with, q0, v0);
  comparison c = {0};
  couple(b.s);
  for (int i = 1; i <= steps; ++i) {
    stop_if(as_integrator_step(a.s, h, &error));
    stop_if(as_integrator_step(b.s, h, &error));
    c.coupled += a.s->stepper.coupled_steps > 0;
    const as_state *x = as_integrator_state(a.s), *y = as_integrator_state(b.s);
    c.off = asi_max_nan(c.off, state_distance(def, x, y, a.problem->n, a.problem->nq));
    c.off_lambda = asi_max_nan(c.off_lambda, distance(x->lambda, y->lambda, def->n_lambda));
  }
  assert_ptr_equal(b.s->stepper.active, &b.s->stepper.step);
  c.iterations = (double)a.s->kin.statistics.newton_iterations / steps;
  c.iterations_coupled = (double)b.s->kin.statistics.newton_iterations / steps;
  print_message("%s: off by %.1e, lambda %.1e; %d of %d steps coupled; iterations a step %.2f, "
                "coupled %.2f\n",
                what, c.off, c.off_lambda, c.coupled, steps, c.iterations, c.iterations_coupled);
  leave(&a);
  leave(&b);
  return c;
}

static comparison compare(const char *what, const rope *r, double h, int steps) {
  const as_integrator_def with = how();
  return compare_runs(what, &r->def, &with, r->q0, r->v0, h, steps);
}

static void must_be_close(const char *what, const comparison *c, double off, double off_lambda) {
  if (!(c->off <= off && c->off_lambda <= off_lambda))
    fail_msg("%s: off by %g, lambda by %g", what, c->off, c->off_lambda);
}

static void test_same_results(void **state) {
  (void)state;
  const as_integrator_def with = how();
  rope *const ropes[] = {make_rope(plain), make_light(0.1), make_equipped()};
  const char *const names[] = {"rope", "light rope", "equipped rope"};
  for (int i = 0; i < 3; ++i) {
    const comparison c = compare(names[i], ropes[i], 5e-3, 60);
    must_be_close(names[i], &c, 1e-8, 1e-8);
    if (i < 2) assert_int_equal(c.coupled, 0);
    free(ropes[i]);
  }
  test_problem *const loops[] = {loops_fourbar(), loops_nfourbar(6), loops_lattice(4, true),
                                 loops_tree(12, 2)};
  for (int i = 0; i < 4; ++i) {
    const test_problem *p = loops[i];
    const comparison c = compare_runs(p->name, &p->def, &with, p->q0, p->v0, 2e-3, 40);
    must_be_close(p->name, &c, 1e-9, 1e-8);
    assert_true(c.coupled <= (i == 0 ? 4 : 0)); // the first is in space, and contracts less
    loops_free(loops[i]);
  }
}

/// Where springs are stiff, or steps long, eta moves the other unknowns: where that is felt the full matrix is
/// taken for a step. Newton's method hardly takes more iterations than with that matrix always.
static void test_stiff(void **state) {
  (void)state;
  const struct {
    double stiffness, h;
    bool coupled;
  } cases[] = {{1e2, 5e-3, false}, {1e4, 5e-3, false}, {1e6, 5e-3, false},
               {1e8, 5e-3, false}, {1e2, 0.1, true},   {1e4, 0.1, true}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    char what[64];
    snprintf(what, sizeof what, "k = %g, h = %g", cases[k].stiffness, cases[k].h);
    rope *r = make_stiff(cases[k].stiffness);
    const comparison c = compare(what, r, cases[k].h, 30);
    // Forces of springs are round-off in q times k.
    must_be_close(what, &c, 1e-9, 1e-8);
    assert_int_equal(c.coupled > 0, cases[k].coupled);
    assert_true(c.iterations <= 1.5 * c.iterations_coupled);
    free(r);
  }
}

/// What eta does to all other unknowns: to leading order in h the same as with the full matrix, for each kind of
/// them.
static void test_one_sweep(void **state) {
  (void)state;
  rope features = plain;
  features.rolls = features.senses = true;
  features.stiffness = 1e3;
  rope *r = make_rope(features);
  const as_integrator_def with = how();
  runner both[2];
  double *x[2];
  for (int k = 0; k < 2; ++k) {
    as_integrator *const s = (both[k] = start(&r->def, &with, r->q0, r->v0)).s;
    if (k == 1) couple(s);
    stop_if(as_integrator_step(s, 1e-3, &error));
    x[k] = calloc((size_t)s->stepper.unknowns, sizeof(double));
    assert_non_null(x[k]);
    const int eta = ROPE_N + ROPE_ROWS + 1;
    for (int i = 0; i < ROPE_ROWS; ++i) x[k][eta + i] = sin(1.0 + 3.0 * i);
    s->stepper.factor_age = 0; // as in the step that has made the factors
    stop_if(s->stepper.method->solve(&s->stepper, x[k]));
  }
  const struct {
    const char *name;
    int from, count;
  } parts[] = {{"v'", 0, ROPE_N},
               {"lambda", ROPE_N, ROPE_ROWS},
               {"psi", ROPE_N + ROPE_ROWS, 1},
               {"eta", ROPE_N + ROPE_ROWS + 1, ROPE_ROWS},
               {"x_0'", ROPE_N + 2 * ROPE_ROWS + 1, 1},
               {"x_1'", ROPE_N + 2 * ROPE_ROWS + 2, 1},
               {"y", ROPE_N + 2 * ROPE_ROWS + 3, 1}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    const double size = asi_max_abs(x[1] + parts[i].from, parts[i].count);
    double off = 0.0;
    for (int k = parts[i].from; k < parts[i].from + parts[i].count; ++k)
      off = asi_max_nan(off, fabs(x[0][k] - x[1][k]));
    print_message("%s: %.1e of %.1e\n", parts[i].name, off, size);
    assert_true(size > 0.0 && off <= 2e-3 * size);
  }
  for (int k = 0; k < 2; ++k) {
    free(x[k]);
    leave(&both[k]);
  }
  free(r);
}

// ---- order -------------------------------------------------------------------------------------------

static void test_order(void **state) {
  (void)state;
  test_problem *p = loops_nfourbar(6);
  const int n = 39, m = 38;
  double e[3][4], q[39], v[39], vdot[39], lambda[38];
  for (int k = 0; k < 3; ++k) {
    const int steps = 40 << k;
    const double h = 0.2 / steps;
    const as_integrator_def with = how();
    runner r = start(&p->def, &with, p->q0, p->v0);
    assert_int_equal(r.problem->n, n);
    for (int i = 0; i < 4; ++i) e[k][i] = 0.0;
    for (int i = 1; i <= steps; ++i) {
      stop_if(as_integrator_step(r.s, h, &error));
      assert_ptr_equal(r.s->stepper.active, &r.s->stepper.shared);
      const as_state *x = as_integrator_state(r.s);
      p->exact(p, x->t, q, v, vdot, lambda);
      e[k][0] = fmax(e[k][0], distance(x->q, q, n));
      e[k][1] = fmax(e[k][1], distance(x->v, v, n));
      e[k][2] = fmax(e[k][2], distance(x->vdot, vdot, n));
      e[k][3] = fmax(e[k][3], distance(x->lambda, lambda, m));
    }
    leave(&r);
  }
  for (int i = 0; i < 4; ++i) {
    const double order = log2(e[1][i] / e[2][i]);
    print_message("%s: %.2e %.2e %.2e, order %.2f\n",
                  ((const char *[]){"q", "v", "v'", "lambda"})[i], e[0][i], e[1][i], e[2][i],
                  order);
    assert_true(order > 1.9 && order < 2.2);
  }
  loops_free(p);
}

// ---- events --------------------------------------------------------------------------------------------

static int clock_value(const as_state *at, double *out, void *user) {
  out[0] = at->t - *(const double *)user;
  return AS_DONE;
}

/// The rope is cut: the rod to point 6 does not hold any more.
static int cut(as_event *event, void *user) {
  (void)user;
  event->active[2 * 6 + 1] = false;
  return AS_EVENT_CHANGE;
}

static int mend(as_event *event, void *user) {
  (void)user;
  event->active[2 * 6 + 1] = true;
  return AS_EVENT_CHANGE;
}

/// The part that falls has the acceleration of gravity; both matrices agree before and after the cut.
static void test_released_row(void **state) {
  (void)state;
  static const double when = 0.0825;
  const as_event_def event = {.name = "cut",
                              .value = clock_value,
                              .direction = 1,
                              .act = cut,
                              .user = (void *)(uintptr_t)&when};
  as_integrator_def with = how();
  rope features = plain;
  features.damping = 0.0;
  rope *r = make_rope(features);
  with.events = &event;
  with.n_events = 1;
  const comparison c = compare_runs("cut rope", &r->def, &with, r->q0, r->v0, 5e-3, 50);
  must_be_close("cut rope", &c, 1e-9, 1e-8);
  runner a = start(&r->def, &with, r->q0, r->v0);
  for (int i = 0; i < 40; ++i) stop_if(as_integrator_step(a.s, 5e-3, &error));
  const as_state *x = as_integrator_state(a.s);
  double force[2] = {0.0, 0.0}, total = 0.0;
  for (int i = 6; i < ROPE_POINTS; ++i) {
    const double m = 1.0 + 0.1 * i;
    total += m;
    for (int k = 0; k < 2; ++k) force[k] += m * x->vdot[3 * i + k];
  }
  assert_true(x->lambda[13] == 0.0);
  assert_true(fabs(force[0]) <= 1e-7 && fabs(force[1] + 9.81 * total) <= 1e-7);
  assert_ptr_equal(a.s->stepper.active, &a.s->stepper.shared);
  leave(&a);
  free(r);
}

// ---- saved states ----------------------------------------------------------------------------------------

/// Saves after each step, goes on with an integrator that has loaded it, fresh or with a past, and compares all
/// that both save then. Returns how often `is_special` held for a state that was saved.
static int relay(const rope *r, const as_integrator_def *with, double h, int steps, bool slow,
                 bool (*is_special)(const as_integrator *s)) {
  runner one = start(&r->def, with, r->q0, r->v0), old = start(&r->def, with, r->q0, r->v0);
  int special = 0;
  for (int i = 0; i < steps; ++i) {
    size_t size = 0, sizes[3];
    unsigned char *bytes = saved_bytes(one.s, &size), *after[3];
    special += is_special(one.s);
    runner fresh = make(&r->def, with), *const all[] = {&one, &fresh, &old};
    stop_if(as_integrator_load(fresh.s, bytes, size, &error));
    stop_if(as_integrator_load(old.s, bytes, size, &error));
    for (int k = 0; k < 3; ++k) {
      if (slow) slow_down(all[k]->s);
      stop_if(as_integrator_step(all[k]->s, h, &error));
      after[k] = saved_bytes(all[k]->s, &sizes[k]);
      assert_int_equal(sizes[k], sizes[0]);
      assert_memory_equal(after[k], after[0], sizes[0]);
    }
    stop_if(as_integrator_step(old.s, 3.0 * h, &error)); // on another way
    for (int k = 0; k < 3; ++k) free(after[k]);
    free(bytes);
    leave(&fresh);
  }
  leave(&one);
  leave(&old);
  return special;
}

static bool is_by_klu(const as_integrator *s) {
  return strcmp(backend_of(&s->stepper.shared), "KLU") == 0;
}
static bool is_coupled(const as_integrator *s) { return s->stepper.active == &s->stepper.step; }
static bool is_decoupled(const as_integrator *s) { return s->stepper.active == &s->stepper.shared; }
static bool was_coupled(const as_integrator *s) {
  return s->stepper.coupled_steps > 0 && !is_coupled(s);
}
static bool has_inactive(const as_integrator *s) { return s->kin.eval.n_inactive > 0; }
static bool keeps_factors(const as_integrator *s) {
  return isfinite(s->stepper.factor_h) && s->stepper.factor_age > 1 && !is_coupled(s);
}

static void test_saved(void **state) {
  (void)state;
  static const double when[] = {0.021, 0.041};
  const as_event_def events[] = {{.name = "cut",
                                  .value = clock_value,
                                  .direction = 1,
                                  .act = cut,
                                  .user = (void *)(uintptr_t)&when[0]},
                                 {.name = "mend",
                                  .value = clock_value,
                                  .direction = 1,
                                  .act = mend,
                                  .user = (void *)(uintptr_t)&when[1]}};
  as_integrator_def with = as_default_integrator_def();
  rope *bare = make_rope(plain), *equipped = make_equipped(), *light = make_light(0.043);
  assert_true(relay(bare, &with, 1e-4, 20, false, keeps_factors) > 2);
  assert_true(relay(equipped, &with, 1e-3, 12, false, is_decoupled) == 12);
  const int by_klu = relay(light, &with, 5e-3, 20, false, is_by_klu);
  print_message("KLU's: %d of 20\n", by_klu);
  assert_true(by_klu > 5 && by_klu < 20); // it gave them back
  assert_true(relay(bare, &with, 5e-3, 12, true, is_coupled) == 12 - ASI_ALWAYS_COUPLED);
  assert_true(relay(bare, &with, 5e-3, 12, true, was_coupled) == ASI_ALWAYS_COUPLED - 1);
  assert_true(relay(light, &with, 5e-3, 12, true, is_coupled) == 12 - ASI_ALWAYS_COUPLED);
  with.events = events;
  with.n_events = 2;
  assert_true(relay(bare, &with, 5e-3, 12, false, has_inactive) == 4); // cut and mended
  free(bare);
  free(equipped);
  free(light);
}

/// A state that makes no sense is refused, and what was there goes on as it was.
static void must_be_refused(const runner *r, unsigned char *bytes, size_t size) {
  size_t before = 0, after = 0;
  unsigned char *was = saved_bytes(r->s, &before);
  assert_int_equal(as_integrator_load(r->s, bytes, size, &error), AS_ERR_FILE);
  unsigned char *is = saved_bytes(r->s, &after);
  assert_int_equal(before, after);
  assert_memory_equal(was, is, before);
  free(was);
  free(is);
}

static void test_refused(void **state) {
  (void)state;
  const as_integrator_def with = as_default_integrator_def();
  rope *bare = make_rope(plain);
  runner a = start(&bare->def, &with, bare->q0, bare->v0);
  runner b = start(&bare->def, &with, bare->q0, bare->v0);
  for (int i = 0; i < 8; ++i) {
    slow_down(b.s);
    stop_if(as_integrator_step(a.s, 1e-3, &error));
    stop_if(as_integrator_step(b.s, 1e-3, &error));
  }
  assert_true(a.s->stepper.step.solver == NULL && is_coupled(b.s));
  // The full matrix in use, but not there.
  size_t size = 0;
  a.s->stepper.active = &a.s->stepper.step;
  unsigned char *bytes = saved_bytes(a.s, &size);
  a.s->stepper.active = &a.s->stepper.shared;
  must_be_refused(&a, bytes, size);
  must_be_refused(&b, bytes, size);
  free(bytes);
  leave(&a);
  leave(&b);
  free(bare);
}

static uint64_t word_at(const unsigned char *bytes, size_t at) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | bytes[at + (size_t)i];
  return word;
}

/// Whether a word, or one close to it, is a flag or a count that is not zero.
static bool is_near_count(const unsigned char *bytes, size_t size, size_t at) {
  for (size_t k = at < 64 ? 0 : at - 24; k < at + 32 && k + 8 <= size; k += 8)
    if (word_at(bytes, k) > 0 && word_at(bytes, k) < 2000) return true;
  return false;
}

/// Flags and counts of good states, each replaced by 0, 1 and 2, with the right checksum: whatever is made of
/// them, nothing breaks, and a state that is refused leaves no trace.
static void test_mutations(void **state) {
  (void)state;
  const as_integrator_def with = as_default_integrator_def();
  rope *const ropes[] = {make_rope(plain), make_rope(plain), make_light(1.0)};
  for (int k = 0; k < 3; ++k) {
    runner r = start(&ropes[k]->def, &with, ropes[k]->q0, ropes[k]->v0);
    for (int i = 0; i < 6; ++i) {
      if (k == 1) slow_down(r.s);
      stop_if(as_integrator_step(r.s, 1e-3, &error));
    }
    assert_int_equal(is_coupled(r.s), k == 1);
    assert_int_equal(is_by_klu(r.s), k == 2);
    size_t size = 0;
    unsigned char *const good = saved_bytes(r.s, &size), *const bad = saved_room(size);
    int refused = 0;
    for (size_t at = 40 + 8 * 47; at < size; at += 8) {
      if (!is_near_count(good, size, at)) continue;
      for (unsigned char word = 0; word < 3; ++word) {
        memcpy(bad, good, size);
        memset(bad + at, 0, 8);
        bad[at] = word;
        saved_seal(bad, size);
        if (as_integrator_load(r.s, bad, size, &error) == AS_OK) {
          (void)as_integrator_step(r.s, 1e-3, &error);
          stop_if(as_integrator_load(r.s, good, size, &error));
          continue;
        }
        ++refused;
        size_t now = 0;
        unsigned char *after = saved_bytes(r.s, &now);
        assert_int_equal(now, size);
        assert_memory_equal(after, good, size);
        free(after);
      }
    }
    assert_true(refused > 20);
    free(good);
    free(bad);
    leave(&r);
  }
  for (int k = 0; k < 3; ++k) free(ropes[k]);
}

// ---- memory ------------------------------------------------------------------------------------------------

/// The full matrix is made within a step. If there is no memory for it, the step fails, and it can be taken later.
static void test_no_memory(void **state) {
  (void)state;
  const as_integrator_def with = as_default_integrator_def();
  rope *r = make_rope(plain);
  const long live = memory.live;
  runner a = start(&r->def, &with, r->q0, r->v0), b = start(&r->def, &with, r->q0, r->v0);
  slow_down(a.s);
  stop_if(as_integrator_step(a.s, 5e-3, &error));
  assert_non_null(a.s->stepper.step.solver);
  assert_null(b.s->stepper.step.solver);
  const long held = memory.live;
  for (long n = 1;; n += 1 + n / 8) {
    slow_down(b.s);
    memory.fail_at = n;
    const as_status status = as_integrator_step(b.s, 5e-3, &error);
    memory.fail_at = 0;
    if (status == AS_OK) break;
    assert_int_equal(status, AS_ERR_MEMORY);
    assert_int_equal(memory.live, held);
    assert_null(b.s->stepper.step.solver);
    size_t size = 0;
    unsigned char *bytes = saved_bytes(b.s, &size);
    stop_if(as_integrator_load(b.s, bytes, size, &error));
    free(bytes);
  }
  assert_memory_equal(as_integrator_state(a.s)->q, as_integrator_state(b.s)->q,
                      ROPE_N * sizeof(double));
  leave(&a);
  leave(&b);
  assert_int_equal(memory.live, live);
  free(r);
}

/// A step of which parts could be taken, with the full matrix, which is kept where the rest fails for good.
static void test_failed_step(void **state) {
  (void)state;
  const as_integrator_def with = as_default_integrator_def();
  rope features = plain;
  features.stiffness = 100.0;
  features.fails_from = 0.09;
  rope *r = make_rope(features);
  const long live = memory.live;
  runner a = start(&r->def, &with, r->q0, r->v0);
  slow_down(a.s);
  assert_int_equal(as_integrator_step(a.s, 0.1, &error), AS_ERR_RETRY); // 0.06 s could be taken
  assert_true(as_integrator_state(a.s)->t >= 0.06 && as_integrator_state(a.s)->t <= 0.09);
  assert_non_null(a.s->stepper.step.solver); // otherwise this shows nothing
  assert_int_equal(as_integrator_step(a.s, 0.1, &error), AS_ERR_RETRY);
  assert_non_null(a.s->stepper.step.solver);
  leave(&a);
  assert_int_equal(memory.live, live);
  free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rope),        cmocka_unit_test(test_same_results),
      cmocka_unit_test(test_one_sweep),   cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_order),       cmocka_unit_test(test_released_row),
      cmocka_unit_test(test_saved),       cmocka_unit_test(test_refused),
      cmocka_unit_test(test_mutations),   cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_failed_step),
  };
  return cmocka_run_group_tests_name("decoupled", tests, NULL, NULL);
}
