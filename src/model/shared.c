/// Redundant rows in words: which joints hold the same direction of a body.
///
/// A search for the rank of the constraints gives rows, one for each direction that is held more than once, and groups of
/// rows that imply each other. A row's direction is that of its reaction.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/error.h"
#include "elements/vector.h"
#include "model/model.h"

enum { MOST_JOINTS = 6, MOST_GROUPS = 3 };
// The sine of the angle up to which a direction is not told beside others.
#define NEARLY_THE_SAME 0.1

/// A text that grows as long as there is room.
typedef struct phrase {
  char *text;
  size_t size;
} phrase;

static void say(phrase *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(phrase *p, const char *format, ...) {
  va_list arguments;
  const size_t used = strlen(p->text);
  va_start(arguments, format);
  vsnprintf(p->text + used, p->size - used, format, arguments);
  va_end(arguments);
}

/// What stands between the items of a list.
static const char *separator(int i, int n) { return i == 0 ? "" : i == n - 1 ? " and " : ", "; }

/// Directions of one kind, none of which lies close to the plane or line of those before.
typedef struct directions {
  double axis[3][3];   ///< as they were given
  double normal[3][3]; ///< the same, made orthogonal
  int count;
} directions;

static void add_direction(directions *d, const double *vector) {
  const double size = asi_norm(vector);
  double rest[3];
  for (int k = 0; k < 3; ++k) rest[k] = vector[k] / size;
  for (int i = 0; i < d->count; ++i) {
    const double along = asi_dot(d->normal[i], rest);
    for (int k = 0; k < 3; ++k) rest[k] -= along * d->normal[i][k];
  }
  const double left = asi_norm(rest);
  if (d->count == 3 || !(left > NEARLY_THE_SAME)) return;
  for (int k = 0; k < 3; ++k) {
    d->axis[d->count][k] = vector[k] / size;
    d->normal[d->count][k] = rest[k] / left;
  }
  ++d->count;
}

/// Zero for what is not seen beside one.
static double rounded(double x) { return fabs(x) < 1e-3 ? 0.0 : x; }

/// Along x, y or z, to what is seen: 0, 1, 2; 3: none of them.
static int axis_of(const double *a) {
  for (int k = 0; k < 3; ++k)
    if (fabs(a[k]) > 1.0 - 1e-6) return k;
  return 3;
}

/// x, y, z first.
static void say_directions(phrase *p, const directions *d) {
  int said = 0;
  for (int axis = 0; axis <= 3; ++axis)
    for (int i = 0; i < d->count; ++i) {
      const double *a = d->axis[i];
      if (axis_of(a) != axis) continue;
      say(p, "%s", separator(said++, d->count));
      if (axis < 3)
        say(p, "%c", "xyz"[axis]);
      else
        say(p, "(%.2g, %.2g, %.2g)", rounded(a[0]), rounded(a[1]), rounded(a[2]));
    }
}

/// The joints of a group, and whether they all join the same two bodies.
typedef struct sharers {
  int joint[MOST_JOINTS];
  int count; ///< of all
  bool same_bodies;
} sharers;

static bool join_the_same(const as_model *m, int joint, int other) {
  const asi_element *a = &m->element[m->joint[joint].element].e;
  const asi_element *b = &m->element[m->joint[other].element].e;
  if (a->n_bodies != 2 || b->n_bodies != 2) return false;
  return (a->body[0] == b->body[0] && a->body[1] == b->body[1]) ||
         (a->body[0] == b->body[1] && a->body[1] == b->body[0]);
}

static sharers find_sharers(const as_model *m, const int *group, int number) {
  sharers s = {.same_bodies = true};
  int last = -1; // rows of a joint follow each other
  for (int row = 0; row < m->n_lambda + m->n_psi; ++row) {
    const int joint = m->row_joint[row];
    bool known = joint == last;
    if (group[row] != number) continue;
    for (int i = 0; i < s.count && i < MOST_JOINTS; ++i) known = known || s.joint[i] == joint;
    last = joint;
    if (known) continue;
    if (s.count < MOST_JOINTS) s.joint[s.count] = joint;
    if (s.count > 0) s.same_bodies = s.same_bodies && join_the_same(m, s.joint[0], joint);
    ++s.count;
  }
  return s;
}

static bool are_the_same(const sharers *a, const sharers *b) {
  bool same = a->count == b->count;
  for (int i = 0; i < a->count && i < MOST_JOINTS && same; ++i) same = a->joint[i] == b->joint[i];
  return same;
}

static void say_sharers(phrase *p, const as_model *m, const sharers *s) {
  const int named = s->count < MOST_JOINTS ? s->count : MOST_JOINTS, more = s->count - named;
  say(p, "joint%s ", s->count == 1 ? "" : "s");
  for (int i = 0; i < named; ++i)
    say(p, "%s\"%.40s\"", separator(i, more > 0 ? named + 1 : named),
        asi_names_get(&m->names[ASI_SORT_JOINT], s->joint[i]));
  if (more > 0) say(p, " and %d other%s", more, more == 1 ? "" : "s");
}

/// The direction of a row's reaction: a force, or a torque where there is none.
static as_status add_row(const as_model *m, as_state *state, double *multiplier, int row,
                         directions *along, directions *about) {
  as_reaction reaction;
  multiplier[row] = 1.0;
  const as_status status =
      as_model_reaction(m, state, (as_joint_id){m->row_joint[row]}, &reaction, NULL);
  multiplier[row] = 0.0;
  if (status) return status;
  if (asi_norm(reaction.force) > 0.0)
    add_direction(along, reaction.force);
  else if (asi_norm(reaction.torque) > 0.0)
    add_direction(about, reaction.torque);
  return AS_OK;
}

static void say_group(phrase *p, const as_model *m, const sharers *s, const directions *along,
                      const directions *about) {
  const asi_element *e = &m->element[m->joint[s->joint[0]].element].e;
  const int body = e->n_bodies > 1 && e->body[1] >= 0 ? e->body[1] : e->body[0];
  say_sharers(p, m, s);
  if (s->count == 1)
    say(p, " holds what others leave no freedom");
  else if (s->same_bodies)
    say(p, " %s hold \"%.40s\"", s->count == 2 ? "both" : "all",
        asi_names_get(&m->names[ASI_SORT_BODY], body));
  else
    say(p, " make loops that are held twice");
  if (along->count > 0) say(p, " along ");
  say_directions(p, along);
  if (about->count > 0) say(p, "%s against turning about ", along->count > 0 ? " and" : "");
  say_directions(p, about);
}

void asi_describe_redundancy(const as_point *at, const int *redundant, int count, const int *group,
                             char *text, size_t size, void *user) {
  const as_model *m = user;
  phrase p = {text, size};
  int said = 0, groups = 0;
  double *multiplier = asi_calloc((size_t)m->n_lambda + (size_t)m->n_psi, sizeof(double));
  as_state state = {.t = at->t,
                    .q = at->q,
                    .v = at->v,
                    .u = at->u,
                    .lambda = multiplier,
                    .psi = multiplier ? multiplier + m->n_lambda : NULL};
  text[0] = '\0';
  sharers *const joints = asi_calloc((size_t)count, sizeof *joints);
  for (int i = 0; i < count && joints; ++i) joints[i] = find_sharers(m, group, group[redundant[i]]);
  for (int i = 0; i < count && multiplier && joints; ++i) {
    directions along = {.count = 0}, about = {.count = 0};
    bool first = true;
    for (int k = 0; k < i; ++k) first = first && !are_the_same(&joints[k], &joints[i]);
    if (!first) continue;
    if (++groups > MOST_GROUPS) continue;
    for (int k = i; k < count; ++k)
      if (are_the_same(&joints[k], &joints[i]) &&
          add_row(m, &state, multiplier, redundant[k], &along, &about))
        break;
    say(&p, "%s", said++ > 0 ? "; " : "");
    say_group(&p, m, &joints[i], &along, &about);
  }
  if (groups > MOST_GROUPS) say(&p, "; and %d more such groups of joints", groups - MOST_GROUPS);
  free(joints);
  free(multiplier);
}
