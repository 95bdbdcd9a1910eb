/// Saved states that cannot be used are refused with a sentence, and nothing has changed; files; another process;
/// the layout of the bytes.
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "core/kinematics/problem.h"
#include "problems/loops.h"
#include "problems/mechatronic.h"
#include "problems/problems.h"
#include "rig.h"
#include "saved.h"
#include "share.h"

enum { HEAD = 40, FACTS = 22 + AS_BLOCK_COUNT };

static const char *program; // for the other process

// ---- an integrator on its way ---------------------------------------------------------------------

typedef struct traveller {
  const saved_subject *subject;
  as_integrator_def how;
  as_problem *problem;
  as_integrator *integrator;
  long asked;  ///< how often it has asked whether to go on, in this call
  bool stands; ///< many steps have led nowhere
} traveller;

static as_error error;

static bool count_steps(void *user) {
  traveller *x = user;
  return ++x->asked > 5000;
}

static void make(traveller *x, const saved_subject *subject, as_method method, bool automatic) {
  *x = (traveller){.subject = subject, .how = as_default_integrator_def()};
  x->how.method = method;
  if (!automatic) x->how.step = subject->h;
  x->how.events = subject->events;
  x->how.n_events = subject->n_events;
  x->how.interrupt = count_steps;
  x->how.interrupt_user = x;
  if (as_problem_create(&subject->def, &x->problem, &error)) fail_msg("%s", error.message);
  if (as_integrator_create(x->problem, &x->how, &x->integrator, &error))
    fail_msg("%s", error.message);
}

static void start(traveller *x) {
  if (as_integrator_start(x->integrator, &x->subject->initial, NULL, &error))
    fail_msg("%s", error.message);
}

static void leave(traveller *x) {
  as_integrator_destroy(x->integrator);
  as_problem_destroy(x->problem);
}

/// A few calls of different kinds; events and failures are welcome.
static void travel(traveller *x, int calls, saved_view *view) {
  for (int i = 0; i < calls; ++i) {
    const double t = as_integrator_state(x->integrator)->t, h = x->subject->h;
    x->asked = 0;
    as_status status = AS_OK;
    switch (i % 3) {
    case 0: status = as_integrator_advance(x->integrator, t + 1.7 * h, &error); break;
    case 1: status = as_integrator_step(x->integrator, 0.8 * h, &error); break;
    default: status = as_integrator_next(x->integrator, &error); break;
    }
    x->stands = x->stands || (x->asked > 5000 && as_integrator_state(x->integrator)->t <= t);
    if (view) saved_look(view, x->problem, x->integrator, status, &error);
  }
}

static void must_be_refused(traveller *x, const void *data, size_t size, const char *words) {
  const as_state before = *as_integrator_state(x->integrator);
  error = (as_error){0};
  const as_status status = as_integrator_load(x->integrator, data, size, &error);
  const as_state *after = as_integrator_state(x->integrator);
  assert_true(after->t == before.t && after->q == before.q && after->u == before.u);
  if (status != AS_ERR_FILE) fail_msg("\"%s\" is expected, but the state is taken", words);
  assert_int_equal(error.status, AS_ERR_FILE);
  const size_t length = strlen(error.message);
  assert_true(length > 0 && error.message[length - 1] == '.');
  if (strstr(error.message, words) == NULL) fail_msg("\"%s\": %s", words, error.message);
}

static void must_save_the_same(traveller *x, const unsigned char *bytes, size_t size) {
  size_t now = 0;
  unsigned char *again = saved_bytes(x->integrator, &now);
  assert_int_equal(now, size);
  assert_memory_equal(again, bytes, size);
  free(again);
}

// ---- arguments ------------------------------------------------------------------------------------

static void test_arguments(void **state) {
  (void)state;
  const saved_subject subject = saved_sampled_pendulum();
  traveller x;
  size_t size = 7;
  unsigned char byte = 0;
  make(&x, &subject, AS_METHOD_INDEX2, false);
  assert_int_equal(as_integrator_save(NULL, &byte, &size, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_save(x.integrator, &byte, &size, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "started"));
  assert_int_equal(as_integrator_save_file(x.integrator, "nowhere", &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_load(x.integrator, NULL, 7, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_load(NULL, &byte, 1, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_load_file(NULL, "nowhere", &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_load_file(x.integrator, NULL, &error), AS_ERR_ARGUMENT);
  start(&x);
  travel(&x, 4, NULL);
  assert_int_equal(as_integrator_save(x.integrator, &byte, NULL, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_save_file(x.integrator, NULL, &error), AS_ERR_ARGUMENT);
  // What it takes; too little room, by one byte; more than enough.
  size = 0;
  assert_int_equal(as_integrator_save(x.integrator, NULL, &size, &error), AS_OK);
  const size_t needed = size;
  unsigned char *room = saved_room(needed + 8);
  size = needed - 1;
  assert_int_equal(as_integrator_save(x.integrator, room, &size, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "bytes"));
  assert_int_equal(size, needed);
  for (size_t i = 0; i < needed; ++i) assert_int_equal(room[i], 0);
  size = needed + 8;
  assert_int_equal(as_integrator_save(x.integrator, room, &size, &error), AS_OK);
  assert_int_equal(size, needed);
  for (size_t i = needed; i < needed + 8; ++i) assert_int_equal(room[i], 0);
  // A reader that does not care why.
  assert_int_equal(as_integrator_load(x.integrator, room, needed, NULL), AS_OK);
  assert_int_equal(as_integrator_load(x.integrator, room, needed - 1, NULL), AS_ERR_FILE);
  free(room);
  leave(&x);
}

// ---- the layout -----------------------------------------------------------------------------------

static uint64_t word_at(const unsigned char *bytes, size_t at) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | bytes[at + (size_t)i];
  return word;
}

/// The head, the first facts and the time, byte by byte.
static void test_layout(void **state) {
  (void)state;
  const saved_subject subject = saved_sampled_pendulum();
  traveller x;
  make(&x, &subject, AS_METHOD_INDEX2, false);
  start(&x);
  if (as_integrator_step(x.integrator, 0.03125, &error)) fail_msg("%s", error.message);
  assert_true(as_integrator_state(x.integrator)->t == 0.03125);
  size_t size = 0;
  unsigned char *bytes = saved_bytes(x.integrator, &size);
  assert_memory_equal(bytes, "alphastep state\n", 16);
  const unsigned char format[8] = {21};
  assert_memory_equal(bytes + 16, format, 8);
  assert_true(word_at(bytes, 24) == size - HEAD);
  assert_int_equal(size, 2880); // another length: another format
  uint64_t sum = UINT64_C(14695981039346656037);
  for (size_t i = HEAD; i < size; ++i) sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
  assert_true(word_at(bytes, 32) == sum);
  // Method 0, order 2, two velocities, two numbers in q.
  const unsigned char zero[8] = {0}, two[8] = {[7] = 0x40};
  assert_memory_equal(bytes + HEAD, zero, 8);
  assert_memory_equal(bytes + HEAD + 8, two, 8);
  assert_memory_equal(bytes + HEAD + 16, two, 8);
  assert_memory_equal(bytes + HEAD + 24, two, 8);
  // The end of the last step and the time that is shown: 2^-5 s, twice.
  const unsigned char time[8] = {0, 0, 0, 0, 0, 0, 0xa0, 0x3f};
  assert_memory_equal(bytes + HEAD + 8 * FACTS, time, 8);
  assert_memory_equal(bytes + HEAD + 8 * FACTS + 8, time, 8);
  free(bytes);
  leave(&x);
}

// ---- refusals -------------------------------------------------------------------------------------

/// Cut off anywhere, one byte changed anywhere, something behind the end, something else altogether.
static void test_damaged(void **state) {
  (void)state;
  const saved_subject subjects[] = {saved_sampled_pendulum(), saved_stops()};
  for (int k = 0; k < 2; ++k) {
    traveller x, y;
    saved_view view = {0}, undisturbed = {0};
    size_t size = 0;
    make(&x, &subjects[k], AS_METHOD_INDEX2, true);
    make(&y, &subjects[k], AS_METHOD_INDEX2, true);
    start(&x);
    start(&y);
    travel(&x, 7, NULL);
    travel(&y, 7, NULL);
    unsigned char *bytes = saved_bytes(x.integrator, &size);
    unsigned char *copy = saved_room(size + 1);
    memcpy(copy, bytes, size);
    for (size_t length = 0; length < size; ++length)
      must_be_refused(&x, copy, length, length < 16 ? "not a state of alphastep" : "it is cut off");
    must_be_refused(&x, copy, size + 1, "something behind its end");
    for (size_t i = 0; i < size; ++i) {
      copy[i] ^= (unsigned char)(1u << (i % 8));
      must_be_refused(&x, copy, size,
                      i < 16   ? "not a state of alphastep"
                      : i < 24 ? "its format is"
                      : i < 32 ? ""
                               : "the checksum is wrong");
      copy[i] = bytes[i];
    }
    static const char foreign[] = "PK\3\4 this is something else, and long enough for a head";
    must_be_refused(&x, foreign, sizeof foreign, "not a state of alphastep");
    must_be_refused(&x, foreign, 0, "not a state of alphastep");
    copy[16] = 22; // a later format
    must_be_refused(&x, copy, size, "its format is 22, this library reads 21");
    copy[16] = bytes[16];
    // The length and the checksum fit, but the contents are too short or too long.
    for (size_t length = HEAD; length < size; ++length) {
      memcpy(copy, bytes, length);
      for (int i = 0; i < 8; ++i)
        copy[24 + i] = (unsigned char)((uint64_t)(length - HEAD) >> (8 * i));
      saved_seal(copy, length);
      must_be_refused(&x, copy, length,
                      length < HEAD + 8 * FACTS ? "it is cut off" : "its contents make no sense");
    }
    memcpy(copy, bytes, size);
    for (int i = 0; i < 8; ++i)
      copy[24 + i] = (unsigned char)((uint64_t)(size + 1 - HEAD) >> (8 * i));
    copy[size] = 0;
    saved_seal(copy, size + 1);
    must_be_refused(&x, copy, size + 1, "its contents make no sense");
    must_save_the_same(&x, bytes, size);
    travel(&x, 9, &view);
    travel(&y, 9, &undisturbed);
    assert_true(saved_same(&view, &undisturbed));
    saved_view_free(&view);
    saved_view_free(&undisturbed);
    free(bytes);
    free(copy);
    leave(&x);
    leave(&y);
  }
}

/// Loads the state of one traveller into an integrator of another kind, started or not.
static void must_not_fit(const saved_subject *from, as_integrator_def *from_how,
                         const saved_subject *to, as_integrator_def *to_how, const char *words) {
  for (int started = 0; started < 2; ++started) {
    traveller x, y;
    size_t size = 0, own_size = 0;
    make(&x, from, from_how->method, true);
    make(&y, to, to_how->method, true);
    // The descriptions themselves, with all that make() does not know of.
    as_integrator_destroy(x.integrator);
    as_integrator_destroy(y.integrator);
    if (as_integrator_create(x.problem, from_how, &x.integrator, &error) ||
        as_integrator_create(y.problem, to_how, &y.integrator, &error))
      fail_msg("%s", error.message);
    start(&x);
    if (started) start(&y);
    unsigned char *bytes = saved_bytes(x.integrator, &size),
                  *own = started ? saved_bytes(y.integrator, &own_size) : NULL;
    must_be_refused(&y, bytes, size, words);
    if (started) must_save_the_same(&y, own, own_size);
    if (!started)
      assert_int_equal(as_integrator_step(y.integrator, to->h, &error), AS_ERR_ARGUMENT);
    free(bytes);
    free(own);
    leave(&x);
    leave(&y);
  }
}

static as_integrator_def how_of(const saved_subject *s) {
  as_integrator_def how = as_default_integrator_def();
  how.events = s->events;
  how.n_events = s->n_events;
  return how;
}

static saved_subject of_problem(const test_problem *p) {
  return (saved_subject){.name = p->name,
                         .def = p->def,
                         .initial = {.t = p->t0, .q = p->q0, .v = p->v0},
                         .h = 0.005 * (p->t_end - p->t0),
                         .actions = 10};
}

static void test_mismatched(void **state) {
  (void)state;
  const saved_subject base = saved_sampled_pendulum();
  as_integrator_def how = how_of(&base), other = how;
  other.method = AS_METHOD_INDEX3;
  must_not_fit(&base, &how, &base, &other, "the number of the method was 0 there and is 1 here");
  other = how;
  other.rho_inf = 0.7;
  must_not_fit(&base, &how, &base, &other, "alpha_m was ");
  other = how;
  other.events = NULL;
  other.n_events = 0;
  must_not_fit(&base, &how, &base, &other, "the number of events was 1 there and is 0 here");

  saved_subject changed = base;
  changed.def.samplers = NULL;
  changed.def.n_samplers = 0;
  other = how_of(&changed);
  must_not_fit(&base, &how, &changed, &other, "the number of samplers was 1 there and is 0 here");
  as_sampler_def sampler = base.def.samplers[0];
  sampler.period *= 1.5;
  changed = base;
  changed.def.samplers = &sampler;
  must_not_fit(&base, &how, &changed, &how, "the times or signals of the samplers there");
  changed = base;
  changed.def.n_u = 2;
  must_not_fit(&base, &how, &changed, &how, "the number of held signals u was 1 there and is 2");
  changed = base;
  changed.def.mass_constant = false;
  must_not_fit(&base, &how, &changed, &how, "mass_constant was 1 there and is 0 here");
  changed = base;
  changed.def.n_lambda = 0;
  changed.def.constraint = NULL;
  changed.def.samplers = NULL;
  changed.def.n_samplers = 0;
  other = how_of(&changed);
  must_not_fit(&base, &how, &changed, &other, "the number of holonomic constraints was 1");

  // The same numbers, but other places: a pattern with as many entries.
  static const int start_a[] = {0, 1, 2}, rows_a[] = {0, 1}, rows_b[] = {1, 0};
  saved_subject a = base, b = base;
  a.def.block[AS_BLOCK_F_V].pattern = (as_pattern){start_a, rows_a};
  b.def.block[AS_BLOCK_F_V].pattern = (as_pattern){start_a, rows_b};
  must_not_fit(&a, &how, &b, &how, "the pattern of block F_V there");
  b.def.block[AS_BLOCK_F_V] = (as_block_def){.source = AS_BLOCK_ZERO};
  must_not_fit(&a, &how, &b, &how, "the pattern of block F_V there");

  // The same numbers of numbers on another group.
  const saved_subject free_body = of_problem(problem_heavy_top_slow()),
                      se3 = of_problem(problem_heavy_top_slow_se3()),
                      wire = of_problem(problem_friction_wire()),
                      oscillator = of_problem(problem_oscillator());
  other = how_of(&free_body);
  must_not_fit(&free_body, &other, &se3, &other, "the configuration space there");
  must_not_fit(&free_body, &other, &oscillator, &other, "the number of velocities was 6");
  changed = wire;
  changed.def.force_kind = AS_FORCE_ADDITIVE;
  must_not_fit(&wire, &other, &changed, &other, "the kind of the force was 1 there and is 0 here");

  const mechatronic_problem *spring = mechatronic_spring();
  const saved_subject states = {.name = spring->name,
                                .def = spring->def,
                                .initial = {.q = spring->q0, .v = spring->v0, .x = spring->x0},
                                .h = 0.01};
  as_integrator_def faster = other;
  faster.state_rho_inf = 0.3;
  must_not_fit(&states, &other, &states, &faster, "delta_m was ");
}

/// What was refused leaves an integrator that was never started as it was made, its factors too.
static void test_refused_before_start(void **state) {
  (void)state;
  test_problem *p = loops_nfourbar(6);
  const saved_subject subject = of_problem(p);
  for (int m = 0; m < 3; ++m) {
    traveller x, y;
    saved_view view = {0}, undisturbed = {0};
    size_t size = 0;
    make(&x, &subject, rig_methods[m], true);
    start(&x);
    for (int i = 0; i < 4; ++i) travel(&x, 9, NULL);
    unsigned char *bytes = saved_bytes(x.integrator, &size);
    leave(&x);
    // The last number decides whether factors can be made; before it everything has been read.
    for (int i = 0; i < 8; ++i) bytes[size - 8 + (size_t)i] = 0xff;
    saved_seal(bytes, size);
    make(&x, &subject, rig_methods[m], true);
    make(&y, &subject, rig_methods[m], true);
    must_be_refused(&x, bytes, size, "its contents make no sense");
    assert_int_equal(as_integrator_step(x.integrator, subject.h, &error), AS_ERR_ARGUMENT);
    start(&x);
    start(&y);
    travel(&x, 12, &view);
    travel(&y, 12, &undisturbed);
    assert_true(saved_same(&view, &undisturbed));
    // And once more on its way.
    must_be_refused(&x, bytes, size, "its contents make no sense");
    travel(&x, 12, &view);
    travel(&y, 12, &undisturbed);
    assert_true(saved_same(&view, &undisturbed));
    saved_view_free(&view);
    saved_view_free(&undisturbed);
    free(bytes);
    leave(&x);
    leave(&y);
  }
  loops_free(p);
}

// ---- contents that are damaged where no checksum tells ----------------------------------------------

/// Makes one number of an integrator senseless; false if there are no more.
static bool spoil(as_integrator *s, int index) {
  const double nan = (double)NAN;
  double *const values[] = {s->stepper.now.q, s->stepper.now.v,      s->stepper.now.vdot,
                            s->stepper.now.a, s->stepper.now.lambda, s->stepper.now.psi,
                            s->stepper.now.x, s->stepper.now.xdot,   s->stepper.now.w,
                            s->stepper.now.y};
  if (index < 10) {
    values[index][0] = index % 2 ? nan : (double)INFINITY;
    return true;
  }
  switch (index) {
  case 10: s->stepper.t = s->state.t = (double)INFINITY; return true;
  case 11: s->stepper.t = nan; return true;
  case 12: s->stepper.last.t0 = s->stepper.t + 1.0; return true;
  case 13: s->stepper.last.h = 0.0; return true;
  case 14: s->stepper.last.h = nan; return true;
  case 15: s->state.t = s->stepper.last.t0 - 1.0; return true;
  case 16: s->state.t = s->stepper.t + 1.0; return true;
  case 17: s->control.h = 0.0; return true;
  case 18: s->control.h = -1.0; return true;
  case 19: s->control.h = (double)INFINITY; return true;
  case 20: s->control.error = 0.0; return true;
  case 21: s->control.error = 2.0; return true;
  case 22: s->control.error = nan; return true;
  case 23: s->control.patience = -1; return true;
  case 24: s->control.patience = 1 << 30; return true;
  case 25: s->stepper.predictor.count = 0; return true;
  case 26: s->stepper.predictor.points = 0; return true;
  case 27: s->stepper.predictor.points = ASI_MOST_POINTS + 1; return true;
  case 28: s->kin.redundancy.n_redundant = s->kin.redundancy.rows + 1; return true;
  case 29: s->stepper.factor_age = -1; return true;
  case 30: s->stepper.history.contraction_age = LONG_MAX; return true;
  case 31: s->kin.statistics.steps = LONG_MAX; return true;
  case 32: s->kin.statistics.solves = LONG_MIN; return true;
  case 33: s->report.index = s->def.n_events; return true;
  case 34: s->report.direction = 2; return true;
  case 35: s->report.count = -1; return true;
  case 36: s->stepper.active = &s->stepper.shared; return true;
  case 37: s->stepper.history.refining_age = LONG_MAX; return true;
  case 38: s->stepper.b_n.value[0] = nan; return true;
  case 39: s->stepper.history.factor_ages_left = ASI_FACTOR_AGES_BELIEVED + 1; return true;
  case 40: s->stepper.path.h[0] = 0.0; return true;
  case 41: s->stepper.path.mean[0][0] = nan; return true;
  case 42: s->stepper.path.lag = (double)INFINITY; return true;
  case 43: s->stepper.path.extra[0] = nan; return true;
  case 44: s->control.amplified = -1.0; return true;
  case 45: s->control.amplified = nan; return true;
  case 46: s->stepper.blow.kinetic[1] = nan; return true;
  case 47: s->stepper.blow.stored[1] = nan; return true;
  case 48: s->control.expected = -1.0; return true;
  case 49: s->control.expected = nan; return true;
  default: return false;
  }
}

/// A joint, a blade, a state and an output: one of each.
static int bead_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = 1.0 - at->x[0];
  f[1] = at->y[0];
  f[2] = -9.81;
  return AS_DONE;
}

static int bead_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, 1.0);
  return AS_DONE;
}

static int bead_plane(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[2] - 0.1 * at->q[0];
  return AS_DONE;
}

static int bead_blade(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = at->v[1] - 0.2 * at->q[0] * at->v[0];
  return AS_DONE;
}

static int bead_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[0] - at->x[0];
  return AS_DONE;
}

static int bead_output(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -0.3 * at->v[1];
  return AS_DONE;
}

static int bead_far(const as_state *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] - 0.01;
  return AS_DONE;
}

static int bead_go_on(as_event *event, void *user) {
  (void)event, (void)user;
  return AS_EVENT_CONTINUE;
}

static saved_subject saved_bead(void) {
  static const as_space_part space = {AS_SPACE_RN, 3};
  static const double q0[] = {0.0, 0.0, 0.0}, v0[] = {0.3, 0.0, 0.03};
  static const as_event_def event = {.value = bead_far, .act = bead_go_on};
  saved_subject s = {.name = "bead", .def = as_default_problem_def(), .h = 0.02};
  s.def.parts = &space;
  s.def.n_parts = s.def.n_lambda = s.def.n_psi = s.def.n_x = s.def.n_y = 1;
  s.def.mass_constant = s.def.scleronomic = true;
  s.def.mass = bead_mass;
  s.def.force = bead_force;
  s.def.constraint = bead_plane;
  s.def.nonholonomic = bead_blade;
  s.def.state_rate = bead_rate;
  s.def.output = bead_output;
  s.initial = (as_initial){.q = q0, .v = v0};
  s.events = &event;
  s.n_events = 1;
  return s;
}

/// Each number that a run could stumble over is refused by itself.
static void test_senseless(void **state) {
  (void)state;
  const saved_subject subject = saved_bead();
  traveller x;
  size_t size = 0;
  make(&x, &subject, AS_METHOD_INDEX2, true);
  start(&x);
  travel(&x, 6, NULL);
  unsigned char *good = saved_bytes(x.integrator, &size);
  for (int index = 0;; ++index) {
    traveller y;
    size_t spoiled = 0;
    make(&y, &subject, AS_METHOD_INDEX2, true);
    if (as_integrator_load(y.integrator, good, size, &error)) fail_msg("%s", error.message);
    const bool more = spoil(y.integrator, index);
    unsigned char *bytes = saved_bytes(y.integrator, &spoiled);
    if (more) {
      print_message("%d ", index);
      must_be_refused(&x, bytes, spoiled, "its contents make no sense");
    }
    free(bytes);
    leave(&y);
    if (!more) break;
  }
  print_message("\n");
  must_save_the_same(&x, good, size);
  free(good);
  leave(&x);
  // Factors that are said to be there, before any were made.
  make(&x, &subject, AS_METHOD_INDEX2, true);
  start(&x);
  x.integrator->stepper.factor_h = subject.h;
  good = saved_bytes(x.integrator, &size);
  must_be_refused(&x, good, size, "its contents make no sense");
  free(good);
  leave(&x);
  // Samples that are long overdue.
  saved_subject sampled = saved_samplers();
  sampled.def.samplers += 1; // without delay: no result waits
  sampled.def.n_samplers = 1;
  make(&x, &sampled, AS_METHOD_INDEX2, true);
  start(&x);
  travel(&x, 6, NULL);
  x.integrator->stepper.t = x.integrator->state.t = 10.0;
  good = saved_bytes(x.integrator, &size);
  must_be_refused(&x, good, size, "its contents make no sense");
  free(good);
  leave(&x);
}

static unsigned next_random(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static const double odd_numbers[] = {0.0,     -1.0, 1.0,    1e300,  -1e300,  1e-300, 5e-324,
                                     -5e-324, 1e-9, 0x1p53, 0x1p63, -0x1p63, 3.0};
static const uint64_t odd_words[] = {0,
                                     1,
                                     2,
                                     3,
                                     UINT64_C(0xffffffffffffffff),
                                     UINT64_C(0x7fffffffffffffff),
                                     UINT64_C(0x8000000000000000),
                                     UINT64_C(0x7fffffff),
                                     UINT64_C(0x100000000),
                                     UINT64_C(0x7ff0000000000000),  // infinity
                                     UINT64_C(0xfff8000000000001)}; // not a number

static void put_word(unsigned char *bytes, size_t at, uint64_t word) {
  for (int i = 0; i < 8; ++i) bytes[at + (size_t)i] = (unsigned char)(word >> (8 * i));
}

/// Takes what can be taken and goes on from there; no call may crash, or run on forever.
static void must_survive(traveller *x, const unsigned char *good, unsigned char *bytes, size_t size,
                         long *taken) {
  saved_seal(bytes, size);
  if (as_integrator_load(x->integrator, bytes, size, &error)) {
    assert_int_equal(error.status, AS_ERR_FILE);
    must_save_the_same(x, good, size);
    return;
  }
  ++*taken;
  travel(x, 3, NULL);
  if (x->stands) {
    size_t at = HEAD;
    while (good[at] == bytes[at]) ++at;
    fail_msg("%s: %zu bytes, damaged at %zu: it runs on and on.", x->subject->name, size, at);
  }
  if (as_integrator_load(x->integrator, good, size, &error)) fail_msg("%s", error.message);
}

/// `share` of all places get each of the odd numbers; between them single bits are flipped.
static void mutate(const saved_subject *subject, as_method method, bool automatic, int calls,
                   unsigned share) {
  traveller x;
  size_t size = 0;
  long taken = 0, tried = 0, place = 0;
  unsigned seed = 7;
  make(&x, subject, method, automatic);
  start(&x);
  travel(&x, calls, NULL);
  unsigned char *good = saved_bytes(x.integrator, &size), *bytes = saved_room(size);
  for (size_t at = HEAD + 8 * FACTS; at < size; at += 8) {
    if (next_random(&seed) % share != 0) continue;
    if (share < 10 && !share_has(place++)) continue;
    const int n_words = (int)(sizeof odd_words / sizeof odd_words[0]),
              n_numbers = (int)(sizeof odd_numbers / sizeof odd_numbers[0]);
    for (int i = 0; i < n_words + n_numbers + 2; ++i) {
      uint64_t word = word_at(good, at);
      if (i < n_words)
        word = odd_words[i];
      else if (i < n_words + n_numbers)
        memcpy(&word, &odd_numbers[i - n_words], sizeof word);
      else
        word ^= UINT64_C(1) << next_random(&seed) % 64;
      memcpy(bytes, good, size);
      put_word(bytes, at, word);
      ++tried;
      must_survive(&x, good, bytes, size, &taken);
    }
  }
  printf("%s, method %d: %zu bytes, %ld mutations, %ld taken\n", subject->name, (int)method, size,
         tried, taken);
  assert_true(tried > 100 && taken > 10 && taken < tried);
  free(good);
  free(bytes);
  leave(&x);
}

static void test_mutations(void **state) {
  (void)state;
  const saved_subject samplers = saved_samplers(), sampled = saved_sampled_pendulum(),
                      stops = saved_stops(), ball = saved_ball();
  mutate(&samplers, AS_METHOD_INDEX3, false, 5, 1);
  mutate(&samplers, AS_METHOD_INDEX2, true, 4, 1);
  mutate(&sampled, AS_METHOD_INDEX2, true, 8, 1);
  mutate(&stops, AS_METHOD_SOI2, true, 7, 2);
  mutate(&stops, AS_METHOD_INDEX3, false, 7, 2);
  mutate(&ball, AS_METHOD_INDEX2, true, 12, 2);
  test_problem *p = loops_nfourbar(6);
  const saved_subject sparse = of_problem(p);
  for (int m = 0; m < 3; ++m) mutate(&sparse, rig_methods[m], true, 20, 100);
  loops_free(p);
}

// ---- files ----------------------------------------------------------------------------------------

static char folder[] = "alphastep-XXXXXX";

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static bool exists(const char *path) {
  struct stat about;
  return stat(path, &about) == 0;
}

static void must_fail_with(as_status status, const char *words) {
  assert_int_equal(status, AS_ERR_FILE);
  if (strstr(error.message, words) == NULL) fail_msg("\"%s\": %s", words, error.message);
  assert_non_null(strrchr(error.message, '.'));
}

static void test_files(void **state) {
  (void)state;
  const saved_subject subject = saved_stops();
  traveller x, y;
  size_t size = 0;
  char path[256], beside[260];
  make(&x, &subject, AS_METHOD_INDEX2, true);
  make(&y, &subject, AS_METHOD_INDEX2, true);
  snprintf(path, sizeof path, "%s", path_of("state"));
  snprintf(beside, sizeof beside, "%s.new", path);
  must_fail_with(as_integrator_load_file(x.integrator, path, &error), "cannot be opened");
  start(&x);
  start(&y);
  // Replaced by a later state.
  for (int i = 0; i < 3; ++i) {
    travel(&x, 3, NULL);
    if (as_integrator_save_file(x.integrator, path, &error)) fail_msg("%s", error.message);
    assert_false(exists(beside));
    if (as_integrator_load_file(y.integrator, path, &error)) fail_msg("%s", error.message);
    unsigned char *bytes = saved_bytes(x.integrator, &size);
    must_save_the_same(&y, bytes, size);
    free(bytes);
  }
  unsigned char *bytes = saved_bytes(x.integrator, &size);
  travel(&x, 3, NULL);
  // A disk that is full: the old file stays, and nothing beside it.
  const struct rlimit small = {100, 100000000};
  struct rlimit usual;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
  struct rlimit limit = usual;
  limit.rlim_cur = small.rlim_cur;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const as_status full = as_integrator_save_file(x.integrator, path, &error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
  must_fail_with(full, "cannot be written");
  assert_false(exists(beside));
  // Something stands in the way of the new file.
  assert_int_equal(mkdir(beside, 0700), 0);
  must_fail_with(as_integrator_save_file(x.integrator, path, &error), "cannot be written");
  assert_int_equal(rmdir(beside), 0);
  if (as_integrator_load_file(y.integrator, path, &error)) fail_msg("%s", error.message);
  must_save_the_same(&y, bytes, size);
  // A folder that is not there; a folder in the place of the file.
  must_fail_with(as_integrator_save_file(x.integrator, path_of("no/state"), &error),
                 "cannot be written");
  assert_int_equal(mkdir(path_of("folder"), 0700), 0);
  must_fail_with(as_integrator_save_file(x.integrator, path_of("folder"), &error),
                 "cannot be written");
  assert_false(exists(path_of("folder.new")));
  must_fail_with(as_integrator_load_file(y.integrator, path_of("folder"), &error), "is no file");
  // Empty, short, foreign and huge files.
  write_file(path, "", 0);
  must_fail_with(as_integrator_load_file(y.integrator, path, &error), "not a state of alphastep");
  write_file(path, bytes, 30);
  must_fail_with(as_integrator_load_file(y.integrator, path, &error), "it is cut off");
  write_file(path, bytes, size - 1);
  must_fail_with(as_integrator_load_file(y.integrator, path, &error), "it is cut off");
  write_file(path, bytes, size);
  assert_int_equal(truncate(path, (off_t)size + 1), 0);
  must_fail_with(as_integrator_load_file(y.integrator, path, &error), "something behind its end");
  if (truncate(path, (off_t)1 << 40) == 0) // not every file system can
    must_fail_with(as_integrator_load_file(y.integrator, path, &error), "something behind its end");
  write_file(path, "something else", 14);
  if (truncate(path, (off_t)1 << 40) == 0)
    must_fail_with(as_integrator_load_file(y.integrator, path, &error), "not a state of alphastep");
  must_fail_with(as_integrator_load_file(y.integrator, "/dev/zero", &error), "is no file");
  must_save_the_same(&y, bytes, size);
  remove(path);
  rmdir(path_of("folder"));
  free(bytes);
  leave(&x);
  leave(&y);
}

// ---- another process --------------------------------------------------------------------------------

enum { CALLS = 14, N_CASES = 6 };

/// The cases that go on in another process; the problem of the last ones is to be freed.
static void make_case(traveller *x, saved_subject *subject, int index, test_problem **p) {
  *p = NULL;
  *subject = saved_stops();
  if (index == 1) *subject = saved_samplers();
  if (index == 2) *subject = of_problem(problem_heavy_top_slow_se3());
  if (index >= 3) *subject = of_problem(*p = loops_nfourbar(6));
  make(x, subject, rig_methods[index % 3], index != 2);
}

static void leave_case(traveller *x, test_problem *p) {
  leave(x);
  if (p) loops_free(p);
}

/// What the other process does: takes up the state and writes what it sees.
static int go_on(int index, const char *from, const char *to) {
  traveller x;
  saved_subject subject;
  test_problem *p = NULL;
  saved_view view = {0};
  make_case(&x, &subject, index, &p);
  if (as_integrator_load_file(x.integrator, from, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  travel(&x, CALLS, &view);
  FILE *file = fopen(to, "wb");
  if (file == NULL) return 1;
  const bool written = fwrite(view.data, 1, view.size, file) == view.size;
  saved_view_free(&view);
  leave_case(&x, p);
  return fclose(file) == 0 && written ? 0 : 1;
}

static void test_another_process(void **state) {
  (void)state;
  char from[256], to[256];
  snprintf(from, sizeof from, "%s", path_of("from"));
  snprintf(to, sizeof to, "%s", path_of("to"));
  for (int index = 0; index < N_CASES; ++index) {
    traveller x;
    saved_subject subject;
    test_problem *p = NULL;
    saved_view view = {0};
    make_case(&x, &subject, index, &p);
    start(&x);
    travel(&x, CALLS, NULL);
    if (as_integrator_save_file(x.integrator, from, &error)) fail_msg("%s", error.message);
    travel(&x, CALLS, &view);
    char number[12];
    snprintf(number, sizeof number, "%d", index);
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      execl(program, program, "go-on", number, from, to, (char *)NULL);
      _exit(127);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    FILE *file = fopen(to, "rb");
    assert_non_null(file);
    unsigned char *seen = saved_room(view.size + 1);
    assert_int_equal(fread(seen, 1, view.size + 1, file), view.size);
    fclose(file);
    assert_memory_equal(seen, view.data, view.size);
    free(seen);
    saved_view_free(&view);
    leave_case(&x, p);
  }
  remove(from);
  remove(to);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 5 && strcmp(argv[1], "go-on") == 0)
    return go_on((int)strtol(argv[2], NULL, 10), argv[3], argv[4]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_layout),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_mismatched),
      cmocka_unit_test(test_refused_before_start),
      cmocka_unit_test(test_senseless),
      cmocka_unit_test(test_mutations),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_another_process),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
