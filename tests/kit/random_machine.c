#include "random_machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BODIES = 6, MOST_JOINTS = 24, GROUND = -1, ROOM = 16384 };

static const double pi = 3.14159265358979323846;

/// What a joint leaves free that a motion, a stop or a coupling may use; 0: nothing.
typedef enum use {
  USE_ANGLE = 1,
  USE_DISPLACEMENT = 2,
  USE_RUBS = 4,    ///< dry friction is known
  USE_MOVES = 8,   ///< it has a frame that moves, or is driven
  USE_DAMPING = 16 ///< it has coordinates
} use;

typedef struct kind {
  const char *name;
  int use;
  int n_coordinates;
  int shift[3];      ///< 1: B may be shifted along this axis of A
  char turn;         ///< z: about z; 3: in any way; u: universal; c: across z; 0: not
  bool second_point; ///< the second body may be a point mass
} kind;

static const kind kinds[] = {
    {"fixed", 0, 0, {0, 0, 0}, 0, false},
    {"revolute", USE_ANGLE | USE_RUBS | USE_DAMPING, 1, {0, 0, 0}, 'z', false},
    {"prismatic", USE_DISPLACEMENT | USE_RUBS | USE_DAMPING, 1, {0, 0, 1}, 0, false},
    {"cylindrical",
     USE_ANGLE | USE_DISPLACEMENT | USE_RUBS | USE_DAMPING,
     2,
     {0, 0, 1},
     'z',
     false},
    {"spherical", USE_RUBS | USE_DAMPING, 3, {0, 0, 0}, '3', true},
    {"universal", USE_DAMPING, 2, {0, 0, 0}, 'u', false},
    {"constant_velocity", USE_DAMPING, 3, {0, 0, 0}, 'c', false},
    {"planar", USE_DAMPING, 3, {1, 1, 0}, 'z', false},
    {"point_on_line", USE_DAMPING, 4, {0, 0, 1}, '3', true},
    {"point_on_plane", USE_DAMPING, 5, {1, 1, 0}, '3', true},
    {"screw", USE_DAMPING, 2, {0, 0, 0}, 0, false},
    {"distance", 0, 0, {1, 1, 1}, '3', true},
};
enum {
  FIXED,
  REVOLUTE,
  PRISMATIC,
  CYLINDRICAL,
  SPHERICAL,
  UNIVERSAL,
  CONSTANT_VELOCITY,
  SCREW = 10,
  DISTANCE,
  N_KINDS
};

typedef struct body {
  bool point;
  double at[3]; ///< centre of mass
} body;

typedef struct joint {
  int kind;
  int use;
  int body[2];
  double angle, displacement; ///< where it starts
} joint;

typedef struct maker {
  uint64_t state;
  bool loops; ///< joints close them
  random_machine *out;
  body body[MOST_BODIES];
  int n_bodies;
  joint joint[MOST_JOINTS];
  int n_joints, n_forces, n_frames;
  char bodies[ROOM], frames[ROOM], joints[ROOM], forces[ROOM]; ///< the sections
} maker;

// ---- numbers ----------------------------------------------------------------------------------------

static uint64_t next(maker *m) { // splitmix64
  uint64_t z = m->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double uniform(maker *m, double from, double to) {
  return from + (to - from) * (double)(next(m) >> 11) * 0x1p-53;
}

/// As often between 1 and 10 as between 10 and 100.
static double magnitude(maker *m, double from, double to) {
  return exp(uniform(m, log(from), log(to)));
}

static int below(maker *m, int n) { return (int)(next(m) % (uint64_t)n); }

static bool chance(maker *m, double probability) { return uniform(m, 0.0, 1.0) < probability; }

static void in_box(maker *m, double size, double x[3]) {
  for (int i = 0; i < 3; ++i) x[i] = uniform(m, -size, size);
}

static void direction(maker *m, double x[3]) {
  double length;
  do {
    in_box(m, 1.0, x);
    length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  } while (length > 1.0 || length < 0.1);
  for (int i = 0; i < 3; ++i) x[i] /= length;
}

static void about(const double axis[3], double angle, double q[4]) {
  q[0] = cos(0.5 * angle);
  for (int i = 0; i < 3; ++i) q[1 + i] = sin(0.5 * angle) * axis[i];
}

/// Any rotation; one in four is within 1e-3 of half a turn.
static void rotation(maker *m, double q[4]) {
  double axis[3];
  direction(m, axis);
  about(axis, chance(m, 0.25) ? pi + uniform(m, -1e-3, 1e-3) : uniform(m, -pi, pi), q);
}

static void multiply(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
  out[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}

static void turn(const double q[4], const double x[3], double out[3]) {
  const double p[4] = {0.0, x[0], x[1], x[2]}, back[4] = {q[0], -q[1], -q[2], -q[3]};
  double half[4], whole[4];
  multiply(q, p, half);
  multiply(half, back, whole);
  memcpy(out, whole + 1, 3 * sizeof *out);
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// ---- text -------------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void say(char *section, const char *format, ...) {
  const size_t used = strlen(section), room = ROOM;
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(section + used, room - used, format, arguments);
  va_end(arguments);
  assert_true(n >= 0 && (size_t)n < room - used);
}

static void say_numbers(char *section, const char *key, const double *x, int n) {
  say(section, ", %s: [", key);
  for (int i = 0; i < n; ++i) say(section, "%s%.17g", i ? ", " : "", x[i]);
  say(section, "]");
}

static const char *body_name(int b) {
  static char names[4][32];
  static int at;
  char *name = names[at++ % 4];
  if (b == GROUND) return "ground";
  snprintf(name, 32, "body %d", b);
  return name;
}

/// A motion through `start`, smooth, with a moderate speed.
static void say_law(maker *m, char *section, const char *key, double start, double size) {
  const double t = m->out->t_end;
  if (chance(m, 0.3)) {
    say(section, ", %s: {constant: %.17g, slope: %.17g}", key, start,
        uniform(m, -1.0, 1.0) * size / t);
    return;
  }
  say(section, ", %s: {table: [[0, %.17g]", key, start);
  for (int i = 1; i <= 3; ++i)
    say(section, ", [%.17g, %.17g]", 0.5 * i * t, start + uniform(m, -0.4, 0.4) * size);
  say(section, "]}");
}

// ---- bodies -----------------------------------------------------------------------------------------

/// The tensor of a box of uneven sides, turned in the body.
static void inertia(maker *m, double mass, double J[6]) {
  double side[3], principal[3], q[4], axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; ++i) side[i] = magnitude(m, 0.15, 0.8);
  for (int i = 0; i < 3; ++i) {
    const double a = side[(i + 1) % 3], b = side[(i + 2) % 3];
    principal[i] = mass * (a * a + b * b) / 12.0;
  }
  rotation(m, q);
  for (int i = 0; i < 3; ++i) turn(q, axis[i], axis[i]);
  static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (int k = 0; k < 6; ++k) {
    J[k] = 0.0;
    for (int i = 0; i < 3; ++i) J[k] += principal[i] * axis[i][place[k][0]] * axis[i][place[k][1]];
  }
}

static void add_body(maker *m, const double at[3], bool point) {
  char *section = m->bodies;
  body *b = &m->body[m->n_bodies];
  double mass = magnitude(m, 0.3, 3.0), J[6], q[4], v[3], omega[3], offset[3], position[3];
  b->point = point;
  memcpy(b->at, at, sizeof b->at);
  in_box(m, 1.0, v);
  say(section, "  %s: {%smass: %.17g", body_name(m->n_bodies++), b->point ? "type: point, " : "",
      mass);
  if (b->point) {
    say_numbers(section, "position", at, 3);
    say_numbers(section, "velocity", v, 3);
    say(section, "}\n");
    return;
  }
  inertia(m, mass, J);
  rotation(m, q);
  in_box(m, 2.0, omega);
  in_box(m, chance(m, 0.5) ? 0.2 : 0.0, offset);
  turn(q, offset, position);
  for (int i = 0; i < 3; ++i) position[i] = at[i] - position[i];
  say_numbers(section, "inertia", J, 6);
  say_numbers(section, "center_of_mass", offset, 3);
  say_numbers(section, "position", position, 3);
  say_numbers(section, "quaternion", q, 4);
  say_numbers(section, "velocity", v, 3);
  say_numbers(section, "angular_velocity", omega, 3);
  say(section, ", space: %s}\n", chance(m, 0.5) ? "se3" : "r3xso3");
}

static bool is_point(const maker *m, int b) { return b != GROUND && m->body[b].point; }

/// A place on or near a body.
static void near_body(maker *m, int b, double x[3]) {
  in_box(m, 0.3, x);
  for (int i = 0; i < 3 && b != GROUND; ++i)
    x[i] = m->body[b].at[i] + (m->body[b].point ? 0.0 : x[i]);
}

// ---- joints -----------------------------------------------------------------------------------------

/// Point masses take balls and rods, and may be the second body on a line or a plane.
static bool fits(const maker *m, int k, const int b[2]) {
  if (k == DISTANCE) return true;
  if (is_point(m, b[0])) return k == SPHERICAL && !is_point(m, b[1]);
  return kinds[k].second_point || !is_point(m, b[1]);
}

static joint *new_joint(maker *m, int k, const int b[2]) {
  joint *j = &m->joint[m->n_joints++];
  *j = (joint){.kind = k, .use = k < 0 ? 0 : kinds[k].use, .body = {b[0], b[1]}};
  return j;
}

/// A frame in the world at the start.
static int say_frame(maker *m, int b, const double x[3], const double q[4], bool moves) {
  static const char *const shifts[] = {"shift_x", "shift_y", "shift_z"};
  say(m->frames, "  frame %d: {body: %s, in_world: true", m->n_frames, body_name(b));
  say_numbers(m->frames, "position", x, 3);
  if (!is_point(m, b)) say_numbers(m->frames, "quaternion", q, 4);
  if (moves) {
    say_law(m, m->frames, shifts[below(m, 3)], 0.0, 0.3);
    if (chance(m, 0.5)) {
      say_law(m, m->frames, "turn", 0.0, 0.5);
      say(m->frames, ", turn_axis: %c", "xyz"[below(m, 3)]);
    }
  }
  say(m->frames, "}\n");
  return m->n_frames++;
}

/// How B lies in A: shifted and turned in the ways that the joint leaves free.
static void relative(maker *m, joint *j, double lead, double x[3], double q[4]) {
  static const double along[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const kind *k = &kinds[j->kind];
  double a[4], b[4], axis[3] = {0.0};
  for (int i = 0; i < 3; ++i) x[i] = k->shift[i] * uniform(m, -0.3, 0.3);
  j->angle = chance(m, 0.2) ? pi + uniform(m, -1e-3, 1e-3) : uniform(m, -pi, pi);
  about(along[2], 0.0, q);
  switch (k->turn) {
  case 'z': about(along[2], j->angle, q); break;
  case '3': rotation(m, q); break;
  case 'u':
    about(along[0], uniform(m, -pi, pi), a);
    about(along[1], uniform(m, -1.2, 1.2), b);
    multiply(a, b, q);
    break;
  case 'c':
    axis[0] = cos(j->angle);
    axis[1] = sin(j->angle);
    about(axis, uniform(m, -1.2, 1.2), q);
    break;
  default: break;
  }
  if (lead != 0.0) {
    about(along[2], j->angle, q);
    x[2] = lead * j->angle / (2.0 * pi);
  }
  j->displacement = x[2];
}

/// Where joints make loops, a motion may want what they do not allow.
static bool may_move(const maker *m) { return m->out->sort != RANDOM_FREE || !m->loops; }

/// By two frames, anywhere within what it leaves free.
static void say_joint_by_frames(maker *m, joint *j, const double at[3]) {
  double qa[4], x[3], q[4], qb[4], xb[3], lead = 0.0;
  const bool moves = j->kind != SCREW && may_move(m) && chance(m, 0.15);
  if (j->kind == SCREW) lead = uniform(m, 0.05, 0.3) * (chance(m, 0.5) ? 1.0 : -1.0);
  rotation(m, qa);
  relative(m, j, lead, x, q);
  turn(qa, x, xb);
  multiply(qa, q, qb);
  for (int i = 0; i < 3; ++i) xb[i] += at[i];
  const int fa = say_frame(m, j->body[0], at, qa, moves),
            fb = say_frame(m, j->body[1], xb, qb, false);
  if (moves) j->use = USE_MOVES;
  say(m->joints, ", frames: [frame %d, frame %d]", fa, fb);
  if (lead != 0.0) say(m->joints, ", lead: %.17g", lead);
}

/// By two bodies, a point and axes.
static void say_joint_by_bodies(maker *m, const joint *j, const double at[3]) {
  double axis[3], second[3], q[4], x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
  rotation(m, q);
  turn(q, x, axis);
  turn(q, y, second);
  say(m->joints, ", bodies: [%s, %s]", body_name(j->body[0]), body_name(j->body[1]));
  say_numbers(m->joints, "point", at, 3);
  if (j->kind != DISTANCE) say_numbers(m->joints, "axis", axis, 3);
  if (j->kind == UNIVERSAL || chance(m, 0.3))
    if (j->kind != DISTANCE && j->kind != CONSTANT_VELOCITY)
      say_numbers(m->joints, "second_axis", second, 3);
  if (j->kind == SCREW) say(m->joints, ", lead: %.17g", uniform(m, 0.05, 0.3));
  if (j->kind != DISTANCE) return;
  double away[3], distance2 = 0.0;
  do {
    near_body(m, j->body[1], away);
    distance2 = 0.0;
    for (int i = 0; i < 3; ++i) distance2 += (away[i] - at[i]) * (away[i] - at[i]);
  } while (distance2 < 0.04 && !is_point(m, j->body[1]));
  say_numbers(m->joints, "second_point", away, 3);
  if (may_move(m) && chance(m, 0.3)) say_law(m, m->joints, "length", sqrt(distance2), 0.1);
}

static void add_joint(maker *m, int a, int b) {
  const int bodies[2] = {a, b};
  int k;
  if (m->n_joints == MOST_JOINTS) return;
  do k = below(m, N_KINDS);
  while (!fits(m, k, bodies));
  joint *j = new_joint(m, k, bodies);
  double at[3];
  // A point mass has one place; a rod between two of them has two.
  near_body(m, is_point(m, b) && k != DISTANCE ? b : a, at);
  say(m->joints, "  joint %d: {type: %s", m->n_joints - 1, kinds[k].name);
  if (k != DISTANCE && !is_point(m, a) && !is_point(m, b) && chance(m, 0.5))
    say_joint_by_frames(m, j, at);
  else
    say_joint_by_bodies(m, j, at);
  say(m->joints, "}\n");
}

/// Bodies 0, 1, ... and the ground in a ring of parallel hinges, which is three rows too many.
static void add_ring(maker *m, int n) {
  double axis[3], at[3];
  direction(m, axis);
  for (int i = 0; i <= n; ++i) {
    const int b[2] = {i == 0 ? GROUND : i - 1, i == n ? GROUND : i};
    near_body(m, b[i == n ? 0 : 1], at);
    say(m->joints, "  joint %d: {type: revolute, bodies: [%s, %s]", m->n_joints, body_name(b[0]),
        body_name(b[1]));
    say_numbers(m->joints, "point", at, 3);
    say_numbers(m->joints, "axis", axis, 3);
    say(m->joints, "}\n");
    new_joint(m, REVOLUTE, b);
  }
}

/// A hinge twice, or beside a ball on its axis.
static void add_twin(maker *m, int a, int b) {
  double axis[3], at[3];
  direction(m, axis);
  near_body(m, b, at);
  for (int i = 0; i < 2; ++i) {
    const int k = i == 1 && chance(m, 0.3) ? SPHERICAL : REVOLUTE, bodies[2] = {a, b};
    say(m->joints, "  joint %d: {type: %s, bodies: [%s, %s]", m->n_joints, kinds[k].name,
        body_name(a), body_name(b));
    say_numbers(m->joints, "point", at, 3);
    say_numbers(m->joints, "axis", axis, 3);
    say(m->joints, "}\n");
    new_joint(m, k, bodies);
    for (int c = 0; c < 3; ++c) at[c] += 0.3 * axis[c];
  }
}

/// A disk or a sphere, where it touches, on a plane of another body.
static void add_rolling(maker *m, int a, int b) {
  const int bodies[2] = {a, b};
  const bool disk = chance(m, 0.5);
  double normal[3], axis[3], center[3], at[3], radius = uniform(m, 0.1, 0.4), along;
  do {
    direction(m, normal);
    direction(m, axis);
    along = dot(normal, axis);
  } while (fabs(along) > 0.8);
  near_body(m, b, center);
  for (int i = 0; i < 3; ++i) {
    const double down =
        disk ? (normal[i] - along * axis[i]) / sqrt(1.0 - along * along) : normal[i];
    at[i] = center[i] - radius * down;
  }
  say(m->joints, "  joint %d: {type: rolling, shape: %s, bodies: [%s, %s], radius: %.17g",
      m->n_joints, disk ? "disk" : "sphere", body_name(a), body_name(b), radius);
  say_numbers(m->joints, "point", at, 3);
  say_numbers(m->joints, "normal", normal, 3);
  say_numbers(m->joints, "center", center, 3);
  if (disk) say_numbers(m->joints, "axis", axis, 3);
  say(m->joints, "}\n");
  new_joint(m, -1, bodies);
}

static void add_skate(maker *m, int a, int b) {
  const int bodies[2] = {a, b};
  double q[4], x[3] = {1, 0, 0}, z[3] = {0, 0, 1}, at[3];
  rotation(m, q);
  turn(q, x, x);
  turn(q, z, z);
  near_body(m, b, at);
  say(m->joints, "  joint %d: {type: skate, bodies: [%s, %s]", m->n_joints, body_name(a),
      body_name(b));
  say_numbers(m->joints, "point", at, 3);
  say_numbers(m->joints, "normal", z, 3);
  say_numbers(m->joints, "direction", x, 3);
  say(m->joints, "}\n");
  new_joint(m, -1, bodies);
}

/// Something between a body and one before it.
static void add_connection(maker *m, int a, int b) {
  const bool rigid = !is_point(m, a) && !is_point(m, b);
  if (rigid && chance(m, 0.06)) {
    add_rolling(m, a, b);
  } else if (rigid && chance(m, 0.05)) {
    add_skate(m, a, b);
  } else if (rigid && m->loops && chance(m, 0.1)) {
    add_twin(m, a, b);
  } else {
    add_joint(m, a, b);
  }
}

/// A joint that has this use and is not driven or coupled yet; -1: none.
static int find_joint(maker *m, int wanted) {
  const int from = m->n_joints ? below(m, m->n_joints) : 0;
  for (int i = 0; i < m->n_joints; ++i) {
    const int j = (from + i) % m->n_joints;
    if ((m->joint[j].use & wanted) && !(m->joint[j].use & USE_MOVES)) return j;
  }
  return -1;
}

static void say_coordinate(char *section, const joint *j, bool angle) {
  if (j->kind == CYLINDRICAL) say(section, ", coordinate: %s", angle ? "angle" : "displacement");
}

static void add_motion(maker *m, int number, double gap) {
  joint *j = &m->joint[number];
  const int none[2] = {GROUND, GROUND};
  const bool angle = (j->use & USE_ANGLE) != 0;
  say(m->joints, "  joint %d: {type: motion, joint: joint %d", m->n_joints, number);
  say_coordinate(m->joints, j, angle);
  say_law(m, m->joints, "law", (angle ? j->angle : j->displacement) + gap, angle ? 0.8 : 0.3);
  say(m->joints, "}\n");
  j->use |= USE_MOVES;
  new_joint(m, -1, none);
}

static bool same_bodies(const joint *a, const joint *b) {
  return (a->body[0] == b->body[0] && a->body[1] == b->body[1]) ||
         (a->body[0] == b->body[1] && a->body[1] == b->body[0]);
}

static void add_coupling(maker *m) {
  const int none[2] = {GROUND, GROUND}, a = find_joint(m, USE_ANGLE);
  if (a < 0) return;
  m->joint[a].use |= USE_MOVES;
  const int slide = chance(m, 0.4) ? find_joint(m, USE_DISPLACEMENT) : -1;
  const int b = slide >= 0 ? slide : find_joint(m, USE_ANGLE);
  if (b < 0 || same_bodies(&m->joint[a], &m->joint[b])) return;
  m->joint[b].use |= USE_MOVES;
  if (slide >= 0)
    say(m->joints, "  joint %d: {type: rack, pinion: joint %d, rack: joint %d, radius: %.17g}\n",
        m->n_joints, a, b, uniform(m, 0.05, 0.3));
  else
    say(m->joints, "  joint %d: {type: gear, joints: [joint %d, joint %d], teeth: [%d, %d]%s}\n",
        m->n_joints, a, b, 10 + below(m, 30), 10 + below(m, 30),
        chance(m, 0.3) ? ", internal: true" : "");
  new_joint(m, -1, none);
}

// ---- forces -----------------------------------------------------------------------------------------

static void two_bodies(maker *m, int b[2]) {
  b[1] = below(m, m->n_bodies);
  do b[0] = below(m, m->n_bodies + 1) - 1;
  while (b[0] == b[1]);
}

static void say_force(maker *m, const char *type, const int b[2]) {
  say(m->forces, "  force %d: {type: %s, bodies: [%s, %s]", m->n_forces++, type, body_name(b[0]),
      body_name(b[1]));
}

/// A characteristic that goes through zero and does not fall.
static void say_table(maker *m, const char *key, double reach, double size) {
  say(m->forces, ", %s: {table: [[%.17g, %.17g], [0, 0], [%.17g, %.17g]], interpolation: monotone}",
      key, -reach, -uniform(m, 0.2, 1.0) * size, reach, uniform(m, 0.2, 1.0) * size);
}

static void add_spring(maker *m) {
  int b[2];
  double at[2][3], distance2;
  two_bodies(m, b);
  do {
    distance2 = 0.0;
    for (int i = 0; i < 2; ++i) near_body(m, b[i], at[i]);
    for (int c = 0; c < 3; ++c) distance2 += (at[0][c] - at[1][c]) * (at[0][c] - at[1][c]);
  } while (distance2 < 0.16 && !(is_point(m, b[0]) && is_point(m, b[1]))); // these have one place
  say_force(m, "spring", b);
  say_numbers(m->forces, "point", at[0], 3);
  say_numbers(m->forces, "second_point", at[1], 3);
  say(m->forces, ", stiffness: %.17g, damping: %.17g", magnitude(m, 1.0, 100.0),
      chance(m, 0.5) ? magnitude(m, 0.1, 5.0) : 0.0);
  if (chance(m, 0.5)) say(m->forces, ", length: %.17g", sqrt(distance2) * uniform(m, 0.5, 1.2));
  if (chance(m, 0.2)) say_table(m, "spring", 0.2, 10.0);
  if (chance(m, 0.2)) say_table(m, "damper", 1.0, 2.0);
  say(m->forces, "}\n");
}

static void add_torsion(maker *m) {
  int b[2];
  double axis[3];
  two_bodies(m, b);
  if (is_point(m, b[0]) || is_point(m, b[1])) return;
  direction(m, axis);
  say_force(m, "torsion", b);
  say_numbers(m->forces, "axis", axis, 3);
  say(m->forces, ", stiffness: %.17g, damping: %.17g", magnitude(m, 0.1, 5.0),
      chance(m, 0.5) ? magnitude(m, 0.01, 0.3) : 0.0);
  if (chance(m, 0.3)) say(m->forces, ", angle: %.17g", uniform(m, -0.7, 0.7));
  say(m->forces, "}\n");
}

static void add_bushing(maker *m) {
  int b[2];
  double at[3], axis[3], k[6], d[6];
  two_bodies(m, b);
  if (is_point(m, b[0]) || is_point(m, b[1])) return;
  near_body(m, b[1], at);
  direction(m, axis);
  for (int i = 0; i < 6; ++i) {
    k[i] = i < 3 ? magnitude(m, 1.0, 100.0) : magnitude(m, 0.1, 5.0);
    d[i] = i < 3 ? magnitude(m, 0.1, 3.0) : magnitude(m, 0.01, 0.1);
  }
  say_force(m, "bushing", b);
  say_numbers(m->forces, "point", at, 3);
  say_numbers(m->forces, "axis", axis, 3);
  say_numbers(m->forces, "stiffness", k, 6);
  if (chance(m, 0.7)) say_numbers(m->forces, "damping", d, 6);
  say(m->forces, "}\n");
}

static void add_load(maker *m) {
  const int b = below(m, m->n_bodies);
  double force[3], torque[3];
  in_box(m, 5.0, force);
  in_box(m, 0.5, torque);
  say(m->forces, "  force %d: {type: load, body: %s", m->n_forces++, body_name(b));
  say_numbers(m->forces, "force", force, 3);
  if (!is_point(m, b)) say_numbers(m->forces, "torque", torque, 3);
  if (!is_point(m, b)) say(m->forces, ", follows: %s", chance(m, 0.5) ? "true" : "false");
  if (chance(m, 0.5)) say_law(m, m->forces, "factor", 0.3, 2.0);
  say(m->forces, "}\n");
}

static void add_friction(maker *m) {
  const int number = find_joint(m, USE_DAMPING);
  if (number < 0) return;
  const joint *j = &m->joint[number];
  double d[5];
  // Of a point mass nothing turns that could be damped.
  if (is_point(m, j->body[0]) || is_point(m, j->body[1])) return;
  for (int i = 0; i < 5; ++i) d[i] = magnitude(m, 0.01, 1.0);
  say(m->forces, "  force %d: {type: joint_friction, joint: joint %d", m->n_forces++, number);
  say_numbers(m->forces, "damping", d, kinds[j->kind].n_coordinates);
  if ((j->use & USE_RUBS) && chance(m, 0.6)) {
    m->out->rough = true;
    say(m->forces,
        ", coefficient: %.17g, radius: %.17g, transition_speed: %.17g, small_force: %.17g",
        uniform(m, 0.02, 0.25), uniform(m, 0.01, 0.05), magnitude(m, 0.003, 0.1),
        magnitude(m, 0.01, 1.0));
    if (j->kind != SPHERICAL && chance(m, 0.5))
      say(m->forces, ", length: %.17g", uniform(m, 0.3, 0.8));
  }
  say(m->forces, "}\n");
}

static void say_penalty(maker *m, double stiffness) {
  say(m->forces, ", law: {stiffness: %.17g, exponent: %.17g, damping: %.17g}", stiffness,
      chance(m, 0.5) ? 1.5 : uniform(m, 1.0, 2.5), chance(m, 0.5) ? uniform(m, 0.0, 0.5) : 0.0);
  m->out->rough = true;
}

static void add_stop(maker *m) {
  const bool wanted = chance(m, 0.5);
  const int number = find_joint(m, wanted ? USE_ANGLE : USE_DISPLACEMENT);
  if (number < 0) return;
  const joint *j = &m->joint[number];
  const double from = wanted ? j->angle : j->displacement, size = wanted ? 0.3 : 0.1;
  say(m->forces, "  force %d: {type: stop, joint: joint %d", m->n_forces++, number);
  say_coordinate(m->forces, j, wanted);
  say(m->forces, ", lower: %.17g, upper: %.17g", from - uniform(m, 0.1, 1.0) * size,
      from + uniform(m, 0.1, 1.0) * size);
  say_penalty(m, wanted ? magnitude(m, 1.0, 50.0) : magnitude(m, 50.0, 2000.0));
  say(m->forces, "}\n");
}

static void add_contact(maker *m) {
  int b[2];
  double normal[3], center[3], at[3], radius = uniform(m, 0.0, 0.2);
  two_bodies(m, b);
  if (is_point(m, b[0])) return;
  direction(m, normal);
  near_body(m, b[1], center);
  for (int i = 0; i < 3; ++i) at[i] = center[i] - (radius + uniform(m, 0.0, 0.02)) * normal[i];
  say_force(m, "contact", b);
  say_numbers(m->forces, "point", at, 3);
  say_numbers(m->forces, "normal", normal, 3);
  say_numbers(m->forces, "center", center, 3);
  say(m->forces, ", radius: %.17g", radius);
  say_penalty(m, magnitude(m, 50.0, 2000.0));
  if (chance(m, 0.5))
    say(m->forces, ", friction: %.17g, slip_speed: %.17g", uniform(m, 0.1, 0.6),
        magnitude(m, 0.01, 0.2));
  say(m->forces, "}\n");
}

static void add_force(maker *m) {
  typedef void adder(maker * m);
  static adder *const adders[] = {add_spring,   add_spring,   add_torsion, add_bushing, add_load,
                                  add_friction, add_friction, add_stop,    add_contact};
  adders[below(m, (int)(sizeof adders / sizeof adders[0]))](m);
}

// ---- machines ---------------------------------------------------------------------------------------

/// Something that cannot be: a joint that is driven in two ways, held and driven, or far from where it is driven.
static void contradict(maker *m) {
  const int j = find_joint(m, USE_ANGLE | USE_DISPLACEMENT);
  double at[3], q[4];
  if (j >= 0) {
    switch (below(m, 3)) {
    case 0:
      add_motion(m, j, 0.0);
      add_motion(m, j, 0.0);
      return;
    case 1:
      new_joint(m, FIXED, m->joint[j].body);
      say(m->joints, "  joint %d: {type: fixed, bodies: [%s, %s], point: [0, 0, 0]}\n",
          m->n_joints - 1, body_name(m->joint[j].body[0]), body_name(m->joint[j].body[1]));
      add_motion(m, j, 0.0);
      return;
    default: add_motion(m, j, uniform(m, 0.5, 1.5)); return;
    }
  }
  // Two balls that hold one body at points that do not fit.
  for (int i = 0; i < 2; ++i) {
    const int bodies[2] = {GROUND, 0};
    near_body(m, 0, at);
    rotation(m, q);
    const int a = say_frame(m, GROUND, at, q, false);
    for (int c = 0; c < 3 && i == 1; ++c) at[c] += 0.5;
    const int b = say_frame(m, 0, at, q, false);
    say(m->joints, "  joint %d: {type: spherical, frames: [frame %d, frame %d]}\n", m->n_joints, a,
        b);
    new_joint(m, SPHERICAL, bodies);
  }
}

static void make_bodies(maker *m, int n, int ring) {
  for (int i = 0; i < n; ++i) {
    double at[3];
    in_box(m, 1.0, at);
    for (int c = 0; c < 3 && i > 0; ++c) at[c] += 0.5 * m->body[i - 1].at[c];
    add_body(m, at, i >= ring && chance(m, 0.15));
  }
}

static void make_joints(maker *m, int ring) {
  if (ring > 0) add_ring(m, ring);
  for (int i = ring; i < m->n_bodies; ++i)
    if (chance(m, 0.9)) add_connection(m, below(m, i + 1) - 1, i);
  for (int i = 0; i < 2 && m->loops && m->n_bodies > 1; ++i) {
    int b[2];
    two_bodies(m, b);
    if (chance(m, 0.5)) add_connection(m, b[0], b[1]);
  }
  if (chance(m, 0.3)) add_coupling(m);
  if (m->out->sort == RANDOM_AGAINST) contradict(m);
  for (int i = 0; i < 2 && may_move(m); ++i) {
    const int j = find_joint(m, USE_ANGLE | USE_DISPLACEMENT);
    if (j >= 0 && chance(m, 0.4)) add_motion(m, j, 0.0);
  }
}

static char *join(const maker *m, const double gravity[3]) {
  char *text = malloc(5 * ROOM);
  assert_non_null(text);
  int n = snprintf(text, 5 * ROOM, "alphastep: 1\ngravity: [%.17g, %.17g, %.17g]\nbodies:\n%s",
                   gravity[0], gravity[1], gravity[2], m->bodies);
  if (m->n_frames) n += snprintf(text + n, 5 * ROOM - (size_t)n, "frames:\n%s", m->frames);
  if (m->n_joints) n += snprintf(text + n, 5 * ROOM - (size_t)n, "joints:\n%s", m->joints);
  if (m->n_forces) n += snprintf(text + n, 5 * ROOM - (size_t)n, "forces:\n%s", m->forces);
  snprintf(text + n, 5 * ROOM - (size_t)n, "simulate: {t_end: %.17g}\n", m->out->t_end);
  return text;
}

random_machine random_machine_make(uint64_t seed) {
  random_machine out = {.t_end = 0.25};
  maker *m = calloc(1, sizeof *m);
  assert_non_null(m);
  m->state = seed;
  m->out = &out;
  const double sort = uniform(m, 0.0, 1.0);
  out.sort = sort < 0.7 ? RANDOM_FREE : sort < 0.85 ? RANDOM_DRIVEN : RANDOM_AGAINST;
  m->loops = chance(m, 0.5);
  const int ring = m->loops && chance(m, 0.4) ? 2 + below(m, 3) : 0;
  const int n = ring + (ring ? below(m, 2) : 1 + below(m, 4));
  double gravity[3];
  make_bodies(m, n, ring);
  make_joints(m, ring);
  for (int i = below(m, 5); i > 0; --i) add_force(m);
  in_box(m, chance(m, 0.8) ? 6.0 : 0.0, gravity);
  out.text = join(m, gravity);
  free(m);
  return out;
}

void random_machine_free(random_machine *machine) { free(machine->text); }
