/// Measures beams: what a step of an element costs beside a link and its ball joint; elements against rigid segments with bushings.
///
/// usage: beams compare   error against CPU time, and how many segments it takes for the same error
///        beams count chain|hermite|lumped N METHOD STEPS   takes steps, for a tool that counts instructions
///
/// Segments are the usual ones of a multibody program without beams: rigid bodies of the same length, mass and inertia, bushings of the
/// section's stiffness (and damping) over that length between their ends, of half the length at a clamped end.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/alphastep.h"
#include "alphastep/analysis.h"
#include "alphastep/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"

#define PI 3.14159265358979323846

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "soi2"};

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "beams: %s\n", error->message);
  exit(1);
}

static void *take(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (block) return block;
  fprintf(stderr, "beams: out of memory\n");
  exit(1);
}

/// Links of 1 m and 1 kg, 5 cm thick, horizontal and at rest, as in machines.c.
static void add_chain(as_builder *b, int n) {
  as_body_id last = AS_GROUND;
  as_error error;
  for (int i = 0; i < n; ++i) {
    as_body_def link = as_default_body_def();
    link.mass = 1.0;
    link.inertia[0] = 0.00125;
    link.inertia[1] = link.inertia[2] = 0.0839583333333333333;
    link.position[0] = i + 0.5;
    as_joint_def joint = as_default_joint_def();
    joint.kind = AS_JOINT_SPHERICAL;
    joint.point[0] = i;
    joint.body[0] = last;
    stop_if(as_builder_add_body(b, &link, &last, &error), &error);
    joint.body[1] = last;
    stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  }
}

/// A soft rod of the same length and mass, clamped at one end.
static void add_rod(as_builder *b, int n, bool lumped) {
  as_error error;
  as_beam_section section = as_default_beam_section();
  static const double stiffness[6] = {1e4, 5e3, 5e3, 20.0, 30.0, 30.0};
  for (int k = 0; k < 6; ++k) section.stiffness[7 * k] = stiffness[k];
  section.mass = 1.0;
  section.inertia[0] = 2.0 * (section.inertia[1] = section.inertia[2] = 6e-4);
  as_beam_station *station = take((size_t)n + 1, sizeof *station);
  for (int i = 0; i <= n; ++i)
    station[i] = (as_beam_station){{i, 0, 0}, {1, 0, 0, 0}, i ? AS_NO_BODY : AS_GROUND};
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = n + 1;
  def.section = &section;
  def.mass = lumped ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
  def.plain = lumped;
  stop_if(as_builder_add_beam(b, &def, NULL, &error), &error);
  free(station);
}

static int count(const char *kind, int n, const char *method, int steps) {
  as_error error;
  as_builder *b = NULL;
  as_model *m = NULL;
  as_integrator *integrator = NULL;
  as_integrator_def def = as_default_integrator_def();
  int chosen = 0;
  while (chosen < 3 && strcmp(method, method_names[chosen]) != 0) ++chosen;
  const bool chain = strcmp(kind, "chain") == 0, lumped = strcmp(kind, "lumped") == 0;
  if (n < 1 || steps < 0 || chosen == 3 || !(chain || lumped || strcmp(kind, "hermite") == 0))
    return 2;
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error), &error);
  if (chain)
    add_chain(b, n);
  else
    add_rod(b, n, lumped);
  stop_if(as_builder_build(b, &m, &error), &error);
  as_builder_destroy(b);
  def.method = methods[chosen];
  def.newton.rtol = def.newton.atol = 1e-3; // one iteration with new factors in each step
  def.newton.reuse = false;
  stop_if(as_integrator_create(as_model_problem(m), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  for (int i = 0; i < steps; ++i) stop_if(as_integrator_step(integrator, 5e-3, &error), &error);
  as_statistics work;
  stop_if(as_integrator_statistics(integrator, &work, &error), &error);
  printf("%ld\n", work.newton_iterations);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return 0;
}

// ---- elements against segments ----------------------------------------------------------------------

typedef enum subject_kind { BEND, PENDULUM, SPIN_UP, SUBJECTS } subject_kind;

/// A line of a length that turns by an angle about z, and its section: EA, GA2, GA3, GJ, EI2, EI3.
typedef struct subject {
  const char *name;
  double length, angle, stiffness[6], mass, inertia[3], damping, gravity;
  double t, step; ///< at rest: 0
  double reference[3];
  int most; ///< segments
} subject;

static const subject subjects[SUBJECTS] = {
    {"45-degree bend",
     100.0 * PI / 4.0,
     PI / 4.0,
     {1e7, 4166670, 4166670, 833300, 833300, 833300},
     1.0,
     {2.0, 1.0, 1.0},
     0.0,
     0.0,
     0.0,
     0.0,
     {70.71067811865476 - 23.56129678571395, 29.28932188134524 - 13.605023009644047,
      53.47610814028268},
     256},
    {"flexible pendulum",
     1.0,
     0.0,
     {15707.963267948964, 4712.38898038469, 4712.38898038469, 0.2617993877991494,
      0.39269908169872414, 0.39269908169872414},
     0.3455751918948773,
     {1.7278759594743865e-05, 8.639379797371932e-06, 8.639379797371932e-06},
     0.002,
     9.81,
     0.4,
     1e-3,
     {0.217644084722, 0.469506428435, -0.855941609899},
     128},
    {"rotating beam",
     10.0,
     0.0,
     {2.8e7, 1e7, 1e7, 1e4, 1.4e4, 1.4e4},
     1.2,
     {1.2e-3, 6e-4, 6e-4},
     0.0,
     0.0,
     5.0,
     0.01,
     {-0.0126546362459, -0.468476183441, 0.0},
     128},
};

/// Place and direction at an arc length.
static void line_at(const subject *x, double s, double place[3], double along[3]) {
  const double k = x->angle / x->length;
  asi_set(cos(k * s), sin(k * s), 0.0, along);
  if (k > 0.0)
    asi_set(sin(k * s) / k, (1.0 - cos(k * s)) / k, 0.0, place);
  else
    asi_set(s, 0.0, 0.0, place);
}

static void line_axes(const double along[3], double quaternion[4]) {
  const double turn = atan2(along[1], along[0]);
  asi_set(cos(turn / 2.0), 0.0, 0.0, quaternion);
  quaternion[3] = sin(turn / 2.0);
}

static as_body_id add_elements(as_builder *b, const subject *x, int n, as_body_id root) {
  as_error error;
  as_beam_id beam;
  as_beam_section section = as_default_beam_section();
  for (int k = 0; k < 6; ++k) section.stiffness[7 * k] = x->stiffness[k];
  section.mass = x->mass;
  asi_copy(x->inertia, section.inertia);
  as_beam_station *station = take((size_t)n + 1, sizeof *station);
  for (int i = 0; i <= n; ++i) {
    double along[3];
    line_at(x, x->length * i / n, station[i].position, along);
    line_axes(along, station[i].quaternion);
    station[i].body = i == 0 ? root : AS_NO_BODY;
  }
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = n + 1;
  def.section = &section;
  def.damping = x->damping;
  if (x->gravity > 0.0) def.angular_velocity[2] = 2.0;
  stop_if(as_builder_add_beam(b, &def, &beam, &error), &error);
  free(station);
  return as_builder_beam_node(b, beam, n);
}

static void add_bushing(as_builder *b, const subject *x, double s, double length, as_body_id before,
                        as_body_id behind) {
  // Along and about x and y of a bushing are 2 and 3 of the section, z is 1.
  static const int of[6] = {1, 2, 0, 4, 5, 3};
  as_error error;
  as_bushing_def def = as_default_bushing_def();
  def.body[0] = before;
  def.body[1] = behind;
  line_at(x, s, def.point, def.axis);
  asi_set(-def.axis[1], def.axis[0], 0.0, def.second_axis);
  for (int k = 0; k < 6; ++k) {
    def.stiffness[k] = x->stiffness[of[k]] / length;
    def.damping[k] = x->damping * def.stiffness[k];
  }
  stop_if(as_builder_add_bushing(b, &def, NULL, &error), &error);
}

static as_body_id add_segments(as_builder *b, const subject *x, int n, as_body_id root) {
  const double length = x->length / n, mass = x->mass * length;
  as_body_id last = root;
  as_error error;
  for (int i = 0; i < n; ++i) {
    as_body_def def = as_default_body_def();
    double along[3], first[3], second[3];
    line_at(x, (i + 0.5) * length, def.position, along);
    line_axes(along, def.quaternion);
    line_at(x, i * length, first, second);
    line_at(x, (i + 1) * length, second, along);
    for (int k = 0; k < 3; ++k) def.position[k] = (first[k] + second[k]) / 2.0;
    def.mass = mass;
    for (int k = 0; k < 3; ++k)
      def.inertia[k] = x->inertia[k] * length + (k > 0 ? mass * length * length / 12.0 : 0.0);
    if (x->gravity > 0.0) {
      asi_set(0.0, 2.0 * def.position[0], 0.0, def.velocity);
      def.angular_velocity[2] = 2.0;
    }
    const as_body_id before = last;
    stop_if(as_builder_add_body(b, &def, &last, &error), &error);
    if (i > 0 || root.index != AS_NO_BODY.index)
      add_bushing(b, x, i * length, i > 0 ? length : length / 2.0, before, last);
  }
  return last;
}

typedef struct built {
  as_model *model;
  as_body_id tip, hub;
  double beyond; ///< the end of the line from the tip's body, along its x
} built;

static built build(subject_kind kind, bool elements, int n) {
  const subject *x = &subjects[kind];
  static const double origin[3] = {0.0, 0.0, 0.0};
  static const as_curve grows = {.slope = 1.0};
  static const as_curve turns = {.formula = "6/15*(t^2/2 + (15/(2*pi))^2*(cos(2*pi*t/15) - 1))"};
  as_error error;
  as_builder *b = NULL;
  built out = {.hub = AS_GROUND, .beyond = elements ? 0.0 : x->length / n / 2.0};
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -x->gravity}}, &b, &error), &error);
  as_joint_def joint = as_default_joint_def();
  joint.axis[2] = 1.0;
  asi_copy(origin, joint.point);
  if (kind == SPIN_UP) {
    as_body_def hub = as_default_body_def();
    as_joint_id axle;
    hub.mass = hub.inertia[0] = hub.inertia[1] = hub.inertia[2] = 1.0;
    stop_if(as_builder_add_body(b, &hub, &out.hub, &error), &error);
    joint.kind = AS_JOINT_REVOLUTE;
    joint.body[0] = AS_GROUND;
    joint.body[1] = out.hub;
    stop_if(as_builder_add_joint(b, &joint, &axle, &error), &error);
    as_motion_def motion = as_default_motion_def();
    motion.joint = axle;
    motion.law = &turns;
    stop_if(as_builder_add_motion(b, &motion, NULL, &error), &error);
  }
  const as_body_id root = kind == PENDULUM ? AS_NO_BODY : out.hub;
  out.tip = elements ? add_elements(b, x, n, root) : add_segments(b, x, n, root);
  if (kind == PENDULUM) {
    joint.kind = AS_JOINT_SPHERICAL;
    joint.body[0] = AS_GROUND;
    joint.body[1] = (as_body_id){0}; // the first node or segment
    stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  }
  if (kind == BEND) {
    as_load_def load = as_default_load_def();
    as_frame_def frame = as_default_frame_def();
    frame.body = out.tip;
    frame.position[0] = out.beyond;
    stop_if(as_builder_add_frame(b, &frame, &load.frame, &error), &error);
    load.force[2] = 600.0;
    load.factor = &grows;
    stop_if(as_builder_add_load(b, &load, NULL, &error), &error);
  }
  stop_if(as_builder_build(b, &out.model, &error), &error);
  as_builder_destroy(b);
  return out;
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// What is compared: the end of the line, or where it is against the hub.
static void read_tip(subject_kind kind, const built *x, const as_state *state, double out[3]) {
  as_body_motion tip, hub;
  as_model_body_motion(x->model, state, x->tip, &tip);
  const double arm[3] = {x->beyond, 0.0, 0.0};
  double place[3], turned[3];
  asi_rotate(tip.R, arm, turned);
  asi_sum(tip.x, 1.0, turned, place);
  asi_copy(place, out);
  if (kind != SPIN_UP) return;
  as_model_body_motion(x->model, state, x->hub, &hub);
  asi_rotate_back(hub.R, place, out);
  out[0] -= subjects[kind].length;
  out[2] = 0.0;
}

static void rest(const built *x, double out[3]) {
  enum { STEPS = 6 };
  double at[STEPS];
  as_error error;
  as_analysis *a = NULL;
  const as_analysis_def def = as_default_analysis_def();
  as_sweep_def sweep = as_default_sweep_def();
  for (int i = 0; i < STEPS; ++i) at[i] = (i + 1.0) / STEPS;
  sweep.values = at;
  sweep.n_values = STEPS;
  as_initial initial = *as_model_initial(x->model);
  initial.t = at[0];
  stop_if(as_analysis_create(as_model_problem(x->model), &def, &a, &error), &error);
  stop_if(as_analysis_sweep(a, &initial, &sweep, NULL, &error), &error);
  read_tip(BEND, x, as_analysis_state(a), out);
  as_analysis_destroy(a);
}

static void move(subject_kind kind, const built *x, double step, double out[3]) {
  as_error error;
  as_integrator *integrator = NULL;
  as_integrator_def def = as_default_integrator_def();
  def.method = AS_METHOD_INDEX2;
  def.step = step;
  stop_if(as_integrator_create(as_model_problem(x->model), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(x->model), NULL, &error), &error);
  stop_if(as_integrator_advance(integrator, subjects[kind].t, &error), &error);
  read_tip(kind, x, as_integrator_state(integrator), out);
  as_integrator_destroy(integrator);
}

typedef struct outcome {
  double error, seconds;
} outcome;

/// Motions are extrapolated in the step: what is left is the error of elements or segments.
static outcome measure(subject_kind kind, bool elements, int n) {
  const subject *s = &subjects[kind];
  const built x = build(kind, elements, n);
  double coarse[3], fine[3], start = cpu_seconds();
  if (s->t > 0.0) {
    move(kind, &x, s->step, coarse);
    start = cpu_seconds();
    move(kind, &x, s->step / 2.0, fine);
    asi_sum(fine, 1.0 / 3.0, fine, fine);
    asi_add(-1.0 / 3.0, coarse, fine);
  } else {
    rest(&x, fine);
  }
  const outcome out = {.seconds = cpu_seconds() - start};
  asi_add(-1.0, s->reference, fine);
  as_model_destroy(x.model);
  return (outcome){asi_norm(fine), out.seconds};
}

static void compare(subject_kind kind) {
  const subject *s = &subjects[kind];
  enum { MOST = 12 };
  outcome segment[MOST];
  int count = 0;
  printf("%s\n%10s %12s %10s\n", s->name, "segments", "error [m]", "CPU [ms]");
  for (int n = 4; n <= s->most; n *= 2, ++count) {
    segment[count] = measure(kind, false, n);
    printf("%10d %12.2e %10.1f\n", n, segment[count].error, 1e3 * segment[count].seconds);
    fflush(stdout);
  }
  printf("%10s %12s %10s %16s %10s\n", "elements", "error [m]", "CPU [ms]", "as with segments",
         "CPU [ms]");
  for (int n = 1; n <= 8; n *= 2) {
    const outcome e = measure(kind, true, n);
    // Between the two numbers of segments that enclose it, or on from the last two.
    int k = 1;
    while (k < count - 1 && segment[k].error > e.error) ++k;
    const double part =
        log(segment[k - 1].error / e.error) / log(segment[k - 1].error / segment[k].error);
    const double wanted = 4.0 * pow(2.0, k - 1 + part),
                 seconds = segment[k - 1].seconds *
                           pow(segment[k].seconds / segment[k - 1].seconds, part);
    printf("%10d %12.2e %10.1f %16.0f %10.1f\n", n, e.error, 1e3 * e.seconds, wanted,
           1e3 * seconds);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "count") == 0 &&
      count(argv[2], (int)strtol(argv[3], NULL, 10), argv[4], (int)strtol(argv[5], NULL, 10)) == 0)
    return 0;
  if (argc == 2 && strcmp(argv[1], "compare") == 0) {
    for (int k = getenv("FIRST") ? atoi(getenv("FIRST")) : 0; k < SUBJECTS; ++k)
      compare((subject_kind)k);
    return 0;
  }
  fprintf(stderr,
          "usage: beams compare | count chain|hermite|lumped N index-3|index-2|soi2 STEPS\n");
  return 2;
}
