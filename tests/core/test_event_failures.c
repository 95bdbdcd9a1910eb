/// What events may not do, and what is said then; interrupts and the log.
#define _POSIX_C_SOURCE 200809L // dup, fileno
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "problems/problems.h"
#include "rig.h"
#include "saved.h"

// ---- actions that do wrong -----------------------------------------------------------------------------------

/// A body on R^3 x SO(3) that falls towards two floors; what its event does is chosen.
typedef enum misdeed {
  RESTITUTION_HIGH,
  RESTITUTION_NEGATIVE,
  OFF_GROUP,
  NAN_PLACE,
  IMPOSSIBLE
} misdeed;

typedef struct body {
  misdeed misdeed;
  bool behaves;
  int calls;
} body;

static int body_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 6; ++i) as_matrix_add(m, i, i, i < 3 ? 1.0 : 0.1);
  return AS_DONE;
}

static int body_force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 6; ++i) f[i] = i == 2 ? -9.81 : 0.0;
  return AS_DONE;
}

/// Two floors that cannot both be reached: z = 0 and z = 1.
static int body_floors(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[2];
  g[1] = at->q[2] - 1.0;
  return AS_DONE;
}

static int body_height(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[2] - 0.5;
  return AS_DONE;
}

static int body_act(as_event *event, void *user) {
  body *b = user;
  ++b->calls;
  if (b->behaves) return AS_EVENT_CONTINUE;
  switch (b->misdeed) {
  case RESTITUTION_HIGH: event->restitution[0] = 1.1; break;
  case RESTITUTION_NEGATIVE: event->restitution[1] = -0.1; break;
  case OFF_GROUP: event->q[3] = 2.0; break;
  case NAN_PLACE: event->q[0] = (double)NAN; break;
  case IMPOSSIBLE: event->active[0] = event->active[1] = true; break;
  }
  return AS_EVENT_CHANGE;
}

static void test_misdeeds(void **state) {
  (void)state;
  static const as_space_part space = {AS_SPACE_R3SO3, 1};
  static const bool none[2] = {false};
  static const char *const messages[] = {
      "restitution of row 0 to 1.1", "restitution of row 1 to -0.1", "length", "nan", "contradict"};
  static const double q0[] = {0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 5; ++k) {
      body b = {.misdeed = (misdeed)k};
      const as_event_def event = {
          .name = "half", .value = body_height, .act = body_act, .user = &b};
      const as_integrator_def how = rig_how(rig_methods[m], 0.01, &event, 1);
      as_problem_def def = as_default_problem_def();
      def.parts = &space;
      def.n_parts = 1;
      def.n_lambda = 2;
      def.mass_constant = def.scleronomic = true;
      def.mass = body_mass;
      def.force = body_force;
      def.constraint = body_floors;
      rig r = rig_make(&def, &how, &(as_initial){.q = q0, .active = none});
      const as_status status = as_integrator_advance(r.integrator, 0.5, &r.error);
      assert_true(status != AS_OK && r.error.status == status);
      if (strstr(r.error.message, messages[k]) == NULL) fail_msg("%s", r.error.message);
      assert_true(r.error.message[strlen(r.error.message) - 1] == '.');
      // It goes on once the action behaves: free fall, with nothing active.
      b.behaves = true;
      const as_state *s = rig_advance(&r, 0.4);
      assert_int_equal(b.calls, 2);
      assert_near("height", s->q[2], 1.0 - 0.5 * 9.81 * 0.16, 1e-10);
      assert_near("speed", s->v[2], -9.81 * 0.4, 1e-10);
      assert_true(s->lambda[0] == 0.0 && s->lambda[1] == 0.0);
      rig_free(&r);
    }
}

typedef struct failing {
  double from; ///< fails behind this time [s]
  bool nan;
} failing;

static int failing_value(const as_state *at, double *out, void *user) {
  const failing *f = user;
  *out = f->nan && at->t >= f->from ? (double)NAN : -1.0;
  return f->nan || at->t < f->from ? AS_DONE : AS_FATAL;
}

static void test_failing_function(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    failing f = {0.5, k == 1};
    const test_problem *p = problem_pendulum();
    const as_event_def event = {.name = "odd", .value = failing_value, .user = &f};
    const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.01, &event, 1);
    rig r = rig_make(&p->def, &how, &(as_initial){.q = p->q0, .v = p->v0});
    rig_advance_to(&r, 1.0, AS_ERR_CALLBACK);
    assert_non_null(strstr(r.error.message, "The function of event \"odd\""));
    assert_near("time", r.error.t, 0.5, 0.011);
    f.from = 10.0;
    const as_state *s = rig_advance(&r, 1.0);
    double q[2];
    p->exact(p, 1.0, q, NULL, NULL, NULL);
    assert_near("x", s->q[0], q[0], 1e-3);
    rig_free(&r);
  }
}

/// A force that cannot be evaluated behind a time, and a held signal that follows the motion.
static int wall_force(const as_point *at, double *f, void *user) {
  f[0] = -at->q[0];
  return at->t > *(const double *)user ? AS_RETRY : AS_DONE;
}

static int wall_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int wall_follow(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = 10.0 + at->t;
  return AS_DONE;
}

/// A step fails, its first part is taken, which is a step like any other: where the function of an event fails in it, that is what is
/// told. With no event the part is there, held signals included, and what fails is the next.
static void test_failed_rescue(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  for (int m = 0; m < 3; ++m) {
    double wall = 0.18;
    failing f = {0.15, false};
    const as_event_def event = {.name = "odd", .value = failing_value, .user = &f};
    const as_integrator_def how = rig_how(rig_methods[m], 0.1, &event, 1);
    const double q0 = 1.0, u0 = 10.0;
    as_problem_def def = as_default_problem_def();
    def.parts = &line;
    def.n_parts = 1;
    def.n_u = 1;
    def.mass_constant = true;
    def.mass = wall_mass;
    def.force = wall_force;
    def.follow = wall_follow;
    def.user = &wall;
    rig r = rig_make(&def, &how, &(as_initial){.q = &q0, .u = &u0});
    const as_state *s = rig_advance(&r, 0.1);
    assert_near("held signal", s->u[0], 10.1, 1e-12);
    s = rig_advance_to(&r, 0.2, AS_ERR_CALLBACK);
    assert_non_null(strstr(r.error.message, "The function of event \"odd\""));
    assert_near("time", s->t, 0.16, 1e-12);
    assert_near("motion", s->q[0], cos(0.16), 1e-3);
    assert_near("held signal", s->u[0], 10.16, 1e-12);
    f.from = 10.0;
    s = rig_advance_to(&r, 0.2, AS_ERR_RETRY);
    assert_true(s->t > 0.16 && s->t <= 0.18);
    assert_near("motion", s->q[0], cos(s->t), 1e-3);
    assert_near("held signal", s->u[0], 10.0 + s->t, 1e-12);
    wall = 10.0;
    s = rig_advance(&r, 0.2);
    assert_near("it goes on", s->q[0], cos(0.2), 1e-3);
    rig_free(&r);
  }
}

static int count_only(as_event *event, void *user) {
  (void)event;
  ++*(int *)user;
  return AS_EVENT_CONTINUE;
}

/// Says no where the pendulum starts on the left.
static int refuses_left(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[1];
  return at->q[0] < 0.0 ? AS_FATAL : AS_DONE;
}

/// A start whose event function fails is taken back: the run goes on as if it had not been tried.
static void test_failing_start(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  const as_event_def event = {.value = refuses_left, .act = count_only, .user = &(int){0}};
  const double left[] = {-p->q0[0], p->q0[1]};
  for (int m = 0; m < 3; ++m) {
    const as_integrator_def how = rig_how(rig_methods[m], 0.005, &event, 1);
    double q[2][2];
    for (int with = 0; with < 2; ++with) {
      rig r = rig_make(&p->def, &how, &(as_initial){.q = p->q0, .v = p->v0});
      rig_advance(&r, 0.02);
      if (with)
        assert_int_equal(
            as_integrator_start(r.integrator, &(as_initial){.t = 7.0, .q = left}, NULL, &r.error),
            AS_ERR_CALLBACK);
      memcpy(q[with], rig_advance(&r, 0.04)->q, sizeof q[with]);
      rig_free(&r);
    }
    assert_near("x", q[1][0], q[0][0], 1e-9); // a failed start loses kept factors
    assert_near("y", q[1][1], q[0][1], 1e-9);
  }
}

static int falls_below(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0] - 0.1;
  return AS_DONE;
}

static int remember(as_event *event, void *user) {
  double *seen = user;
  seen[0] += 1.0;
  seen[1] = event->state->q[0];
  return AS_EVENT_CONTINUE;
}

/// Another event of such a start has been looked at already: its sign is what it was.
static void test_signs_after_failing_start(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  double seen[2] = {0.0, 0.0};
  const as_event_def events[] = {{.value = falls_below, .act = remember, .user = seen},
                                 {.value = refuses_left, .act = count_only, .user = &(int){0}}};
  const double right[] = {0.6, -0.8}, left[] = {-0.6, -0.8};
  const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.005, events, 2);
  rig r = rig_make(&p->def, &how, &(as_initial){.q = right});
  rig_advance(&r, 0.02);
  assert_int_equal(as_integrator_start(r.integrator, &(as_initial){.q = left}, NULL, &r.error),
                   AS_ERR_CALLBACK);
  assert_true(rig_advance(&r, 0.5)->q[0] < 0.1);
  assert_true(seen[0] == 1.0);
  assert_near("where", seen[1], 0.1, 1e-6);
  rig_free(&r);
}

/// It leaves the factors of that run: what is saved after that goes on as it does itself, to the last bit.
static void test_saved_after_failing_start(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  const as_event_def event = {.value = refuses_left, .act = count_only, .user = &(int){0}};
  const double left[] = {-p->q0[0], p->q0[1]};
  for (int m = 0; m < 3; ++m) {
    const as_integrator_def how = rig_how(rig_methods[m], 0.005, &event, 1);
    const as_initial initial = {.q = p->q0, .v = p->v0};
    rig r = rig_make(&p->def, &how, &initial), other = rig_make(&p->def, &how, &initial);
    rig_advance(&r, 0.02);
    size_t size = 0;
    assert_int_equal(
        as_integrator_start(r.integrator, &(as_initial){.t = 7.0, .q = left}, NULL, &r.error),
        AS_ERR_CALLBACK);
    unsigned char *bytes = saved_bytes(r.integrator, &size);
    assert_int_equal(as_integrator_load(other.integrator, bytes, size, &other.error), AS_OK);
    const double *x = rig_advance(&r, 0.04)->q, *y = rig_advance(&other, 0.04)->q;
    assert_memory_equal(x, y, 2 * sizeof *x);
    free(bytes);
    rig_free(&other);
    rig_free(&r);
  }
}

static void test_refused(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  const as_event_def good = {.value = failing_value}, silent = {.direction = 1},
                     bad = {.value = failing_value, .direction = 2},
                     worse = {.value = failing_value, .direction = -2};
  const as_event_def second[] = {good, silent};
  const struct {
    const as_event_def *events;
    int n;
    double tolerance;
    const char *message;
  } cases[] = {{&silent, 1, (double)NAN, "Event 0 has no function."},
               {second, 2, (double)NAN, "Event 1 has no function."},
               {&bad, 1, (double)NAN, "The direction of event 0 is 2"},
               {&worse, 1, (double)NAN, "The direction of event 0 is -2"},
               {NULL, 1, (double)NAN, "n_events = 1"},
               {&good, -1, (double)NAN, "n_events = -1"},
               {&good, 1, 0.0, "event_tolerance = 0"},
               {&good, 1, -1.0, "event_tolerance = -1"}};
  as_problem *problem = NULL;
  assert_int_equal(as_problem_create(&p->def, &problem, NULL), AS_OK);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.01, cases[i].events, cases[i].n);
    as_integrator *integrator = NULL;
    as_error error;
    how.event_tolerance = cases[i].tolerance;
    assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_ERR_ARGUMENT);
    assert_null(integrator);
    if (strstr(error.message, cases[i].message) == NULL) fail_msg("%s", error.message);
  }
  as_problem_destroy(problem);
}

// ---- interrupts and the log -----------------------------------------------------------------------------------

static int roaming(const as_state *at, double *out, void *user) {
  (void)user;
  *out = sin(60.0 * at->q[0]) + 0.3 * at->v[0] + 0.01 * at->lambda[0] + 1e-3 * at->vdot[0];
  return AS_DONE;
}

typedef struct patience {
  int asked;
  int every; ///< says stop each time it has been asked so often; 0: never
} patience;

static bool impatient(void *user) {
  patience *p = user;
  ++p->asked;
  return p->every > 0 && p->asked % p->every == 0;
}

/// Asked once a step; ends after whole steps; what follows is the run that it would have been, to the bit.
static void test_interrupt(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  static const double steps[] = {0.0078125, 0.01, (double)NAN};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) {
      double q[2][2], lambda[2];
      for (int with = 0; with < 2; ++with) {
        patience how_patient = {.every = with ? 7 : 0};
        int events = 0, interrupts = 0;
        const as_event_def event = {.value = roaming, .act = count_only, .user = &events};
        as_integrator_def how = rig_how(rig_methods[m], steps[k], &event, 1);
        how.interrupt = impatient;
        how.interrupt_user = &how_patient;
        rig r = rig_make(&p->def, &how, &(as_initial){.q = p->q0, .v = p->v0});
        as_statistics work;
        for (;;) {
          const as_status status = as_integrator_advance(r.integrator, 1.0, &r.error);
          if (status == AS_OK) break;
          assert_int_equal(status, AS_INTERRUPTED);
          as_integrator_statistics(r.integrator, &work, NULL);
          assert_int_equal(work.steps, how_patient.asked - ++interrupts);
          const as_state *s = as_integrator_state(r.integrator);
          assert_true(r.error.status == AS_INTERRUPTED && r.error.t == s->t);
          assert_non_null(strstr(r.error.message, "interrupted"));
        }
        as_integrator_statistics(r.integrator, &work, NULL);
        assert_int_equal(how_patient.asked, work.steps + interrupts);
        assert_int_equal(interrupts, with ? how_patient.asked / 7 : 0);
        const as_state *s = as_integrator_state(r.integrator);
        assert_true(s->t == 1.0);
        memcpy(q[with], s->q, sizeof q[with]);
        lambda[with] = s->lambda[0];
        rig_free(&r);
      }
      assert_memory_equal(q[0], q[1], sizeof q[0]);
      assert_true(lambda[0] == lambda[1]);
    }
}

typedef struct logbook {
  int warnings, others;
  char last[512];
} logbook;

static void keep(as_log_level level, const char *message, void *user) {
  logbook *book = user;
  ++*(level == AS_LOG_WARNING ? &book->warnings : &book->others);
  snprintf(book->last, sizeof book->last, "%s", message);
}

static int pendulum_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

/// g_1 repeats g_0, but does not hold at first.
static int twice(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
  g[1] = 3.0 * g[0];
  return AS_DONE;
}

static int bare_force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = 0.0;
  f[1] = -9.81;
  return AS_DONE;
}

static int half_time(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->t - 0.5;
  return AS_DONE;
}

static int switch_second_on(as_event *event, void *user) {
  (void)user;
  event->active[1] = true;
  return AS_EVENT_CHANGE;
}

/// A constraint that becomes active and is implied by another is warned of then, and borne. Nothing is printed.
static void test_log(void **state) {
  (void)state;
  static const as_space_part plane = {AS_SPACE_RN, 2};
  static const double q0[] = {0.8, -0.6};
  static const bool first[] = {true, false};
  fflush(stdout);
  FILE *printed = tmpfile();
  assert_non_null(printed);
  const int file = fileno(printed), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  assert_true(out >= 0 && err >= 0);
  for (int m = 0; m < 3; ++m) {
    logbook book = {0};
    const as_event_def event = {.value = half_time, .act = switch_second_on};
    as_integrator_def how = rig_how(rig_methods[m], 0.01, &event, 1);
    how.log = keep;
    how.log_user = &book;
    as_problem_def def = as_default_problem_def();
    def.parts = &plane;
    def.n_parts = 1;
    def.n_lambda = 2;
    def.mass_constant = def.scleronomic = true;
    def.mass = pendulum_mass;
    def.force = bare_force;
    def.constraint = twice;
    rig r = rig_make(&def, &how, &(as_initial){.q = q0, .active = first});
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    const as_status before = as_integrator_advance(r.integrator, 0.49, &r.error);
    const int quiet = book.warnings + book.others;
    const double pull = as_integrator_state(r.integrator)->lambda[0];
    const as_status after = as_integrator_advance(r.integrator, 0.51, &r.error);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (before || after) fail_msg("%s", r.error.message);
    assert_int_equal(quiet, 0);
    assert_int_equal(book.warnings, 1);
    assert_int_equal(book.others, 0);
    assert_non_null(strstr(book.last, "1 of 2 constraint rows is redundant"));
    const as_state *s = as_integrator_state(r.integrator);
    assert_near("pull", s->lambda[0] + 3.0 * s->lambda[1], pull, 0.5);
    assert_near("rod", hypot(s->q[0], s->q[1]), 1.0, 1e-6);
    rig_free(&r);
  }
  assert_true(lseek(file, 0, SEEK_END) == 0);
  fclose(printed);
  close(out);
  close(err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_misdeeds),
      cmocka_unit_test(test_failing_function),
      cmocka_unit_test(test_failed_rescue),
      cmocka_unit_test(test_failing_start),
      cmocka_unit_test(test_signs_after_failing_start),
      cmocka_unit_test(test_saved_after_failing_start),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
