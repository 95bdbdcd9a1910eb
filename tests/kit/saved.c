#include "saved.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "core/kinematics/problem.h"

// ---- problems -------------------------------------------------------------------------------------

static const as_space_part line = {AS_SPACE_RN, 1}, plane = {AS_SPACE_RN, 2};

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < m->rows; ++i) as_matrix_add(m, i, i, 1.0);
  return AS_DONE;
}

static as_problem_def bare(const as_space_part *part) {
  as_problem_def def = as_default_problem_def();
  def.parts = part;
  def.n_parts = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = unit_mass;
  return def;
}

// A mass on a spring with a force from two controllers and a sum that the first one keeps.

static int spring_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = -4.0 * at->q[0] + at->u[0] + at->u[1];
  return AS_DONE;
}

static int fast_sample(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = -3.0 * at->q[0] - 0.8 * at->v[0] - 0.5 * at->u[2];
  return AS_DONE;
}

static int sum_sample(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] += 0.1 * at->q[0];
  return AS_DONE;
}

static int slow_sample(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = 0.2 * at->vdot[0];
  return AS_DONE;
}

saved_subject saved_samplers(void) {
  static const as_sampler_def samplers[] = {
      {.period = 0.1, .delay = 0.04, .first = 0, .count = 1, .sample = fast_sample},
      {.period = 0.1, .first = 2, .count = 1, .sample = sum_sample},
      {.period = 0.25,
       .offset = 0.011,
       .delay = 0.12,
       .first = 1,
       .count = 1,
       .sample = slow_sample},
  };
  static const double q0[] = {1.0}, u0[] = {0.1, 0.2, 0.3};
  saved_subject s = {.name = "samplers", .def = bare(&line), .h = 0.013, .actions = 25};
  s.def.force = spring_force;
  s.def.n_u = 3;
  s.def.samplers = samplers;
  s.def.n_samplers = 3;
  s.initial = (as_initial){.q = q0, .u = u0};
  return s;
}

// Pendulums, x^2 + y^2 = 1.

static int rod(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0) / 2.0;
  return AS_DONE;
}

static int weight(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = at->u ? at->u[0] : 0.0;
  f[1] = -9.81;
  return AS_DONE;
}

static int push(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = -0.05 * at->lambda[0] * at->q[0] - 0.3 * at->v[0];
  return AS_DONE;
}

static int sideways(const as_state *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0];
  return AS_DONE;
}

static int go_on(as_event *event, void *user) {
  (void)event, (void)user;
  return AS_EVENT_CONTINUE;
}

static const double pendulum_q0[] = {0.6, -0.8};

saved_subject saved_sampled_pendulum(void) {
  static const as_sampler_def sampler = {
      .period = 0.05, .delay = 0.02, .first = 0, .count = 1, .sample = push};
  static const as_event_def event = {.name = "through", .value = sideways, .act = go_on};
  saved_subject s = {.name = "sampled pendulum", .def = bare(&plane), .h = 0.02, .actions = 20};
  s.def.n_lambda = 1;
  s.def.force = weight;
  s.def.constraint = rod;
  s.def.n_u = 1;
  s.def.samplers = &sampler;
  s.def.n_samplers = 1;
  s.initial = (as_initial){.q = pendulum_q0};
  s.events = &event;
  s.n_events = 1;
  return s;
}

static int below_left(const as_state *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] + 0.3;
  return AS_DONE;
}

static int turn_around(as_event *event, void *user) {
  (void)user;
  for (int i = 0; i < 2; ++i) event->v[i] *= -0.9;
  return AS_EVENT_CHANGE;
}

static int turn_and_stop(as_event *event, void *user) {
  return turn_around(event, user) | AS_EVENT_STOP;
}

static int later(const as_state *at, double *out, void *user) {
  (void)user;
  out[0] = at->t - 0.55;
  return AS_DONE;
}

saved_subject saved_stops(void) {
  static const as_event_def events[] = {
      {.name = "through", .value = sideways, .direction = 0},
      {.value = below_left, .direction = -1, .act = turn_around},
      {.name = "later", .value = later, .direction = 1, .act = turn_and_stop},
  };
  saved_subject s = {.name = "stops", .def = bare(&plane), .h = 0.02, .actions = 24};
  s.def.n_lambda = 1;
  s.def.force = weight;
  s.def.constraint = rod;
  s.initial = (as_initial){.q = pendulum_q0};
  s.events = events;
  s.n_events = 3;
  return s;
}

// A ball over a floor, which is a constraint that does not hold at first.

static int height(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[1];
  return AS_DONE;
}

static int height_of(const as_state *at, double *out, void *user) {
  const as_point point = as_state_point(at);
  return height(&point, out, user);
}

static int bounce(as_event *event, void *user) {
  (void)user;
  const bool rests = fabs(event->state->v[1]) < 0.6;
  event->restitution[0] = rests ? 0.0 : 0.5;
  event->active[0] = rests;
  return AS_EVENT_CHANGE;
}

static int bounce_forever(as_event *event, void *user) {
  (void)user;
  event->restitution[0] = 0.2;
  return AS_EVENT_CHANGE;
}

static saved_subject ball(const char *name, const as_event_def *event) {
  static const double q0[] = {0.0, 0.2}, v0[] = {1.0, 0.0};
  static const bool active[] = {false};
  saved_subject s = {.name = name, .def = bare(&plane), .h = 0.02, .actions = 24};
  s.def.n_lambda = 1;
  s.def.force = weight;
  s.def.constraint = height;
  s.initial = (as_initial){.q = q0, .v = v0, .active = active};
  s.events = event;
  s.n_events = 1;
  return s;
}

saved_subject saved_ball(void) {
  static const as_event_def event = {.value = height_of, .direction = -1, .act = bounce};
  return ball("ball", &event);
}

saved_subject saved_zeno(void) {
  static const as_event_def event = {
      .name = "floor", .value = height_of, .direction = -1, .act = bounce_forever};
  saved_subject s = ball("zeno", &event);
  s.actions = 60;
  return s;
}

// Two free points on a line, one hardly moving.

static int no_force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = f[1] = 0.0;
  return AS_DONE;
}

static int somewhere(const as_state *at, double *out, void *user) {
  (void)user;
  const double phase = at->q[0] / 0.037;
  out[0] = sin(phase);
  return AS_DONE;
}

saved_subject saved_tiny(void) {
  static const as_event_def event = {.name = "here", .value = somewhere};
  static const double q0[] = {0.01, 0.0}, v0[] = {1.0, 3e-308};
  saved_subject s = {.name = "tiny", .def = bare(&plane), .h = 0.02, .actions = 20};
  s.def.force = no_force;
  s.initial = (as_initial){.q = q0, .v = v0};
  s.events = &event;
  s.n_events = 1;
  return s;
}

static int tick(const as_state *at, double *out, void *user) {
  (void)user;
  out[0] = sin(at->t / 2e-11);
  return AS_DONE;
}

static int shake(as_event *event, void *user) {
  (void)user;
  event->v[1] = -event->v[1];
  return AS_EVENT_CHANGE;
}

saved_subject saved_ticks(void) {
  static const as_event_def event = {.name = "tick", .value = tick, .act = shake};
  static const double q0[] = {0.01, 0.0}, v0[] = {1.0, 1.0};
  saved_subject s = {.name = "ticks", .def = bare(&plane), .h = 2e-11, .actions = 16};
  s.def.force = no_force;
  s.initial = (as_initial){.q = q0, .v = v0};
  s.events = &event;
  s.n_events = 1;
  return s;
}

static int blocked_weight(const as_point *at, double *f, void *user) {
  return at->t > 0.25 ? *(const int *)user : weight(at, f, user);
}

saved_subject saved_wall(int code) {
  static int codes[] = {AS_RETRY, AS_FATAL};
  saved_subject s = {.name = "wall", .def = bare(&plane), .h = 0.02, .actions = 16};
  s.def.n_lambda = 1;
  s.def.force = blocked_weight;
  s.def.constraint = rod;
  s.def.user = &codes[code != AS_RETRY];
  s.initial = (as_initial){.q = pendulum_q0};
  return s;
}

// ---- views ----------------------------------------------------------------------------------------

static void add(saved_view *view, const void *data, size_t size) {
  if (view->size + size > view->room) {
    view->room = 2 * view->room + size + 1024;
    view->data = realloc(view->data, view->room);
    if (view->data == NULL) abort();
  }
  if (size > 0) memcpy(view->data + view->size, data, size);
  view->size += size;
}

void saved_note(saved_view *view, const double *x, int n) {
  const bool is_null = x == NULL;
  add(view, &is_null, sizeof is_null);
  if (!is_null) add(view, x, (size_t)n * sizeof *x);
}

void saved_glance(saved_view *view, const as_problem *p, const as_integrator *integrator) {
  const as_state *s = as_integrator_state(integrator);
  const as_event_report event = as_integrator_event(integrator);
  const int m = p->def.n_lambda, k = p->def.n_psi, nx = p->def.n_x;
  add(view, &s->t, sizeof s->t);
  saved_note(view, s->q, p->nq);
  saved_note(view, s->v, p->n);
  saved_note(view, s->vdot, p->n);
  saved_note(view, s->a, p->n);
  add(view, &s->a_offset, sizeof s->a_offset);
  saved_note(view, s->lambda, m);
  saved_note(view, s->psi, k);
  saved_note(view, s->eta, m);
  saved_note(view, s->x, nx);
  saved_note(view, s->xdot, nx);
  saved_note(view, s->w, nx);
  add(view, &s->w_offset, sizeof s->w_offset);
  saved_note(view, s->y, p->def.n_y);
  saved_note(view, s->u, p->def.n_u);
  add(view, &event.index, sizeof event.index);
  add(view, &event.direction, sizeof event.direction);
  add(view, &event.t, sizeof event.t);
  add(view, &event.count, sizeof event.count);
  saved_note(view, event.impulse, m + k);
}

void saved_look(saved_view *view, const as_problem *p, as_integrator *integrator, as_status status,
                as_error *error) {
  as_statistics statistics;
  add(view, &status, sizeof status);
  if (status) add(view, error->message, strlen(error->message));
  const as_status counted = as_integrator_statistics(integrator, &statistics, error);
  saved_glance(view, p, integrator);
  add(view, &counted, sizeof counted);
  add(view, &statistics, sizeof statistics);
}

bool saved_same(const saved_view *a, const saved_view *b) {
  return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

void saved_view_free(saved_view *view) {
  free(view->data);
  *view = (saved_view){0};
}

unsigned char *saved_room(size_t size) {
  unsigned char *room = calloc(size > 0 ? size : 1, 1);
  if (room == NULL) abort();
  return room;
}

unsigned char *saved_bytes(as_integrator *integrator, size_t *size) {
  if (as_integrator_save(integrator, NULL, size, NULL)) abort();
  unsigned char *data = saved_room(*size);
  if (as_integrator_save(integrator, data, size, NULL)) abort();
  return data;
}

void saved_seal(unsigned char *data, size_t size) {
  enum { HEAD = 40, SUM = 32 };
  if (size < HEAD) return;
  const uint64_t sum = asi_checksum(data + HEAD, size - HEAD);
  for (int i = 0; i < 8; ++i) data[SUM + i] = (unsigned char)(sum >> (8 * i));
}
