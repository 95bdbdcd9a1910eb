/// A block on a belt: it sticks, it slips. A constraint that events switch on and off.
///
///     stick: q' = u, a nonholonomic constraint; its multiplier is the friction, until that exceeds F_s
///     slip:  m q'' = F_k - k q, until the block is as fast as the belt again
///
/// With w = sqrt(k/m) and A = (F_s - F_k)/k the block slips for (2 pi - 2 atan(A w/u))/w and sticks for 2 A/u.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double m = 1.0;       // [kg]
static const double spring = 50.0; // [N/m]
static const double F_s = 8.0;     // static friction at most [N]
static const double F_k = 5.0;     // kinetic friction [N]

typedef struct block {
  double belt; // u [m/s]
  bool sticks;
  int count;      // how often it has begun to stick
  double t[2];    // when it did, the last two times [s]
  double slipped; // when it began to slip [s]
} block;

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  as_matrix_add(out, 0, 0, m);
  return AS_DONE;
}

// The mode decides which friction acts, not the sign of the speed: a force must not jump inside a step.
static int force(const as_point *at, double *f, void *user) {
  const block *b = user;
  f[0] = -spring * at->q[0] + (b->sticks ? 0.0 : F_k);
  return AS_DONE;
}

static int stick(const as_point *at, double *k, void *user) {
  const block *b = user;
  k[0] = at->v[0] - b->belt;
  return AS_DONE;
}

// What is left of static friction. While the block slips there is nothing to watch: any constant does.
static int reserve(const as_state *at, double *out, void *user) {
  const block *b = user;
  *out = b->sticks ? F_s - fabs(at->psi[0]) : 1.0;
  return AS_DONE;
}

static int begin_to_slip(as_event *event, void *user) {
  block *b = user;
  b->sticks = event->active[0] = false;
  b->slipped = event->state->t;
  return AS_EVENT_CHANGE;
}

static int relative_speed(const as_state *at, double *out, void *user) {
  const block *b = user;
  *out = b->sticks ? -1.0 : at->v[0] - b->belt;
  return AS_DONE;
}

static int begin_to_stick(as_event *event, void *user) {
  block *b = user;
  b->sticks = event->active[0] = true;
  b->t[0] = b->t[1];
  b->t[1] = event->state->t;
  ++b->count;
  return b->count < 10 ? AS_EVENT_CHANGE : AS_EVENT_CHANGE | AS_EVENT_STOP;
}

/// Ten times round; leaves the last period in `b`.
static as_status run(block *b, double *sticking, double *period, as_error *error) {
  const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def description = as_default_problem_def();
  description.parts = &line;
  description.n_parts = 1;
  description.n_psi = 1;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.nonholonomic = stick;
  description.user = b;
  const as_event_def events[] = {
      {.name = "slip", .value = reserve, .direction = -1, .act = begin_to_slip, .user = b},
      {.name = "stick", .value = relative_speed, .direction = 1, .act = begin_to_stick, .user = b}};
  as_integrator_def how = as_default_integrator_def();
  how.step = 0.001; // [s]
  how.events = events;
  how.n_events = 2;
  const double q0 = 0.0;
  const as_initial initial = {.t = 0.0, .q = &q0, .v = &b->belt};
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_status status = as_problem_create(&description, &problem, error);
  if (status == AS_OK) status = as_integrator_create(problem, &how, &integrator, error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, error);
  if (status == AS_OK) status = as_integrator_advance(integrator, 1e3, error);
  if (status == AS_STOPPED) status = AS_OK; // after the tenth
  *period = b->t[1] - b->t[0];
  *sticking = (b->slipped - b->t[0]) / *period;
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status;
}

int main(void) {
  const double speeds[] = {0.05, 0.1, 0.2, 0.4, 0.8};
  as_error error;
  as_status status = AS_OK;
  printf("belt [m/s]  period [s]   expected  difference   sticks   expected\n");
  for (int i = 0; i < 5 && status == AS_OK; ++i) {
    block b = {.belt = speeds[i], .sticks = true};
    double sticking = 0.0, period = 0.0;
    status = run(&b, &sticking, &period, &error);
    const double w = sqrt(spring / m), A = (F_s - F_k) / spring;
    const double slips = (2.0 * acos(-1.0) - 2.0 * atan(A * w / b.belt)) / w,
                 sticks = 2.0 * A / b.belt;
    if (status == AS_OK)
      printf("%10.2f %11.6f %10.6f %11.1e %8.4f %10.4f\n", b.belt, period, slips + sticks,
             fabs(period - slips - sticks), sticking, sticks / (slips + sticks));
  }
  if (status) fprintf(stderr, "%s\n", error.message);
  return status ? 1 : 0;
}
