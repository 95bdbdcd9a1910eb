/// Threads: the results of a run are the same for any number of them, to the last bit, saved states included; what fails, fails alike. Machines
/// are put on several threads however small they are, so that their parts are few and all kinds of borders between them occur.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "files.h"
#include "machines.h"
#include "problems/loops.h"
#include "saved.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const int numbers[] = {1, 2, 3, 4, 7};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static as_error error;

/// What is stepped, and how.
typedef struct subject {
  const char *name;
  const as_problem *problem;
  as_initial initial;
  as_method method;
  double h; ///< NAN: automatic
  int steps;
  const as_event_def *events;
  int n_events;
} subject;

static as_integrator *make(const subject *s, int threads) {
  as_integrator_def def = as_default_integrator_def();
  as_expert expert = as_default_expert();
  as_integrator *integrator = NULL;
  expert.least_threaded = 1.0;
  def.expert = &expert;
  def.method = s->method;
  def.step = s->h;
  def.events = s->events;
  def.n_events = s->n_events;
  def.threads = threads;
  if (as_integrator_create(s->problem, &def, &integrator, &error)) fail_msg("%s", error.message);
  return integrator;
}

/// A saved state after a number of steps, or after the one that failed, and what was said of it.
typedef struct ending {
  unsigned char *bytes;
  size_t size;
  as_status status;
  char message[sizeof error.message];
} ending;

static ending take_steps(as_integrator *integrator, int steps) {
  ending e = {.status = AS_OK};
  for (int i = 0; i < steps && e.status == AS_OK; ++i)
    e.status = as_integrator_next(integrator, &error);
  if (e.status) memcpy(e.message, error.message, sizeof e.message);
  e.bytes = saved_bytes(integrator, &e.size);
  return e;
}

static void check_same(const subject *s, int threads, const char *what, const ending *a,
                       const ending *b) {
  if (a->status != b->status || strcmp(a->message, b->message) != 0)
    fail_msg("%s, %s, %d threads, %s: \"%s\" instead of \"%s\".", s->name, method_names[s->method],
             threads, what, b->message, a->message);
  if (a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0)
    fail_msg("%s, %s, %d threads, %s: other bits.", s->name, method_names[s->method], threads,
             what);
}

/// Runs with each number of threads, and half with one and half with another.
static void run(const subject *s) {
  ending first = {0}, middle = {0};
  for (int k = 0; k < NUMBERS; ++k) {
    as_integrator *integrator = make(s, numbers[k]);
    if (as_integrator_start(integrator, &s->initial, NULL, &error)) fail_msg("%s", error.message);
    ending half = take_steps(integrator, s->steps), end = take_steps(integrator, s->steps);
    if (k == 0) {
      middle = half;
      first = end;
    } else {
      check_same(s, numbers[k], "half", &middle, &half);
      check_same(s, numbers[k], "end", &first, &end);
      as_integrator *other = make(s, numbers[NUMBERS - k]);
      if (as_integrator_load(other, half.bytes, half.size, &error)) fail_msg("%s", error.message);
      ending resumed = take_steps(other, s->steps);
      check_same(s, numbers[k], "resumed", &first, &resumed);
      as_integrator_destroy(other);
      free(resumed.bytes);
      free(half.bytes);
      free(end.bytes);
    }
    as_integrator_destroy(integrator);
  }
  free(first.bytes);
  free(middle.bytes);
}

// ---- problems -------------------------------------------------------------------------------------------

static void run_problem(const char *name, test_problem *p, double h, int steps) {
  as_problem *problem = NULL;
  if (as_problem_create(&p->def, &problem, &error)) fail_msg("%s", error.message);
  for (int method = 0; method < 3; ++method) {
    subject s = {.name = name,
                 .problem = problem,
                 .initial = {.q = p->q0, .v = p->v0},
                 .method = methods[method],
                 .h = h,
                 .steps = steps};
    run(&s);
    s.h = (double)NAN;
    run(&s);
  }
  as_problem_destroy(problem);
  loops_free(p);
}

static void test_trees(void **state) {
  (void)state;
  run_problem("chain of 40", loops_tree(40, 1), 5e-3, 6);
  run_problem("tree of 100", loops_tree(100, 2), 5e-3, 6);
  run_problem("tree of 121, of three branches", loops_tree(121, 3), 5e-3, 4);
}

static void test_lattices(void **state) {
  (void)state;
  run_problem("lattice 9 x 9", loops_lattice(9, false), 5e-3, 4);
  run_problem("lattice 6 x 6 with springs", loops_lattice(6, true), 5e-3, 4);
}

static void test_redundant(void **state) {
  (void)state;
  run_problem("four-bar", loops_fourbar(), 5e-3, 10);
  run_problem("eight four-bars, through flat positions", loops_nfourbar(8), 1e-2, 60);
}

// ---- machines -------------------------------------------------------------------------------------------

/// What examples/machines have: contacts, blocks, samplers, events, beams, tyres, redundant joints.
static void test_machines(void **state) {
  static const char *const names[] = {"andrews",
                                      "bicycle",
                                      "chain",
                                      "con-rod-engine",
                                      "elastic-arm",
                                      "fishing-rod",
                                      "flexible-satellite",
                                      "gearbox",
                                      "governor",
                                      "landing-gear",
                                      "motor-four-bar",
                                      "n-four-bar",
                                      "rolling-disk",
                                      "robot-arm",
                                      "rotor",
                                      "semi-active",
                                      "stabilised-platform",
                                      "stewart",
                                      "trebuchet"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char path[128];
    snprintf(path, sizeof path, "examples/machines/%s/model.yaml", names[i]);
    as_machine *m = files_load(path, NULL, 0);
    const subject s = {.name = names[i],
                       .problem = as_model_problem(m->model),
                       .initial = *as_model_initial(m->model),
                       .method = AS_METHOD_INDEX2,
                       .h = (double)NAN,
                       .steps = 25};
    run(&s);
    as_machine_destroy(m);
  }
}

/// Bodies that hang on each other in a tree by balls and hinges, on both spaces, with springs, dampers, joints to the ground, and a body
/// that nothing touches. `loops`: neighbours on the same level are joined by bushings.
static as_model *build_tree(int n_bodies, as_space_kind space, bool loops) {
  as_builder *b = machine_builder(0.5, 0.0, -9.81);
  as_body_id body[200];
  double x[200];
  assert_in_range(n_bodies, 1, 200);
  for (int i = 0; i < n_bodies; ++i) {
    const int parent = (i - 1) / 2, level = (int)floor(log2(i + 1.0) + 1e-9);
    as_body_def def = as_default_body_def();
    x[i] = i == 0 ? 0.0 : x[parent] + 0.4 * sin(3.0 * i);
    def.mass = 1.0 + 0.1 * (i % 5);
    memcpy(def.inertia, (double[]){0.08, 0.1, 0.12, 0.01, -0.02, 0.015}, sizeof def.inertia);
    def.position[0] = x[i];
    def.position[1] = 0.1 * cos(5.0 * i);
    def.position[2] = -0.7 * level;
    def.space = space;
    body[i] = machine_body(b, &def);
    const double above = i == 0 ? 0.0 : x[parent];
    const double point[] = {0.5 * (above + x[i]), 0.05 * sin(7.0 * i), 0.35 - 0.7 * level};
    const double axis[] = {0.3, 1.0, 0.2 * sin(1.0 * i)};
    char name[32];
    snprintf(name, sizeof name, "joint %d", i);
    machine_joint(b, name, i % 3 == 1 ? AS_JOINT_REVOLUTE : AS_JOINT_SPHERICAL,
                  i == 0 ? AS_GROUND : body[parent], body[i], point, axis);
    if (i % 4 == 2) {
      as_spring_def spring = as_default_spring_def();
      spring.body[0] = i % 8 == 2 ? AS_GROUND : body[i / 3];
      spring.body[1] = body[i];
      memcpy(spring.point[0], (double[]){x[i] + 0.3, 0.2, -0.7 * level - 1.0},
             sizeof spring.point[0]);
      memcpy(spring.point[1], def.position, sizeof def.position);
      spring.stiffness = 200.0;
      spring.damping = 3.0;
      if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
    }
    if (loops && i > 0 && i % 2 == 0) {
      as_bushing_def bushing = as_default_bushing_def();
      bushing.body[0] = body[i - 1];
      bushing.body[1] = body[i];
      memcpy(bushing.point, point, sizeof point);
      for (int k = 0; k < 3; ++k) {
        bushing.stiffness[k] = 300.0;
        bushing.damping[k] = 4.0;
      }
      if (as_builder_add_bushing(b, &bushing, NULL, &error)) fail_msg("%s", error.message);
    }
  }
  as_body_def loose = as_default_body_def();
  loose.mass = loose.inertia[0] = loose.inertia[1] = loose.inertia[2] = 1.0;
  loose.inertia[2] = 1.5;
  loose.angular_velocity[0] = loose.angular_velocity[2] = 1.0;
  machine_body(b, &loose);
  return machine_build(b);
}

static void run_model(const char *name, as_model *m, double h, int steps) {
  for (int method = 0; method < 3; ++method) {
    subject s = {.name = name,
                 .problem = as_model_problem(m),
                 .initial = *as_model_initial(m),
                 .method = methods[method],
                 .h = h,
                 .steps = steps};
    run(&s);
  }
  as_model_destroy(m);
}

/// Evaluation in parts, with joints and forces between these.
static void test_parts(void **state) {
  (void)state;
  run_model("tree of 150", build_tree(150, AS_SPACE_R3SO3, false), 5e-3, 5);
  run_model("tree of 100 on SE(3)", build_tree(100, AS_SPACE_SE3, false), 5e-3, 5);
  run_model("tree of 120 with bushings", build_tree(120, AS_SPACE_R3SO3, true), 5e-3, 5);
  run_model("tree of 120 with bushings on SE(3)", build_tree(120, AS_SPACE_SE3, true), (double)NAN,
            5);
  static const char *const settings[] = {"parameters.n=100"};
  as_machine *chain = files_load("examples/machines/chain/model.yaml", settings, 1);
  const subject s = {.name = "chain of 100",
                     .problem = as_model_problem(chain->model),
                     .initial = *as_model_initial(chain->model),
                     .method = AS_METHOD_INDEX2,
                     .h = (double)NAN,
                     .steps = 10};
  run(&s);
  as_machine_destroy(chain);
}

// ---- one chain that is large ----------------------------------------------------------------------------

/// Large enough for all that is shared out, by default, too.
static void test_large(void **state) {
  (void)state;
  test_problem *p = loops_tree(700, 2);
  as_problem *problem = NULL;
  if (as_problem_create(&p->def, &problem, &error)) fail_msg("%s", error.message);
  const subject s = {.name = "tree of 700",
                     .problem = problem,
                     .initial = {.q = p->q0, .v = p->v0},
                     .method = AS_METHOD_INDEX2,
                     .h = 2e-3,
                     .steps = 3};
  run(&s);
  as_problem_destroy(problem);
  loops_free(p);
}

static void test_refused(void **state) {
  static const int bad[] = {0, -1, 65};
  (void)state;
  test_problem *p = loops_tree(3, 1);
  as_problem *problem = NULL;
  if (as_problem_create(&p->def, &problem, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < 3; ++i) {
    as_integrator_def def = as_default_integrator_def();
    as_integrator *integrator = NULL;
    assert_int_equal(def.threads, 1);
    def.threads = bad[i];
    assert_int_equal(as_integrator_create(problem, &def, &integrator, &error), AS_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "is not a number from 1 to 64"));
    assert_null(integrator);
  }
  as_problem_destroy(problem);
  loops_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_trees),
      cmocka_unit_test(test_lattices), cmocka_unit_test(test_redundant),
      cmocka_unit_test(test_machines), cmocka_unit_test(test_parts),
      cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
