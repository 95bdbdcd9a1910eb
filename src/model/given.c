/// What of a start is given, what of it may not be changed, and what a start has made of it.
///
/// A joint demands a change where its rows do not hold at what is given (as_start_report). A body that no such joint
/// is on was moved along by others: then all those of its mechanism are named.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "elements/vector.h"
#include "model/model.h"

// A change is told from this part of the size on; below that of the largest of the machine it is round-off.
#define TOLD 1e-6
#define ROUND_OFF 1e-9
// A row contradicts what is given if it is off by this part of the worst.
#define CONTRADICTS 1e-3

// ---- before a start ---------------------------------------------------------------------------------

static unsigned char flags_of(const asi_given *given, bool angular) {
  const unsigned what = angular ? AS_GIVEN_ANGULAR_VELOCITY : AS_GIVEN_VELOCITY;
  unsigned flags = given->what & what ? 0 : AS_START_FREE_VELOCITY;
  if (given->fixed) flags = AS_START_FIXED_POSITION | AS_START_FIXED_VELOCITY;
  return (unsigned char)flags;
}

/// The velocities of a superelement are given together.
static void note_superelement(as_model *m, const asi_superelement *s) {
  for (int i = 0; i < s->n; ++i) m->keep[s->v + i] = s->moving ? 0 : AS_START_FREE_VELOCITY;
}

as_status asi_model_note_given(as_model *m, const as_builder *b, as_error *error) {
  m->assembled = b->assembled;
  m->keep = asi_calloc((size_t)m->n, sizeof *m->keep);
  m->given = asi_calloc((size_t)b->n_bodies, sizeof *m->given);
  if (m->keep == NULL || m->given == NULL) return asi_fail_memory(error);
  for (int i = 0; i < b->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    m->given[i] = b->body[i].given;
    for (int k = 0; k < body->n && !asi_body_is_node(body); ++k)
      m->keep[body->v + k] = flags_of(&m->given[i], k >= 3);
  }
  for (int i = 0; i < m->n_superelements; ++i) note_superelement(m, &m->superelement[i]);
  for (int i = 0; i < m->n_flexibles; ++i)
    for (int k = 0; k < m->flexible[i].data->coordinate_count; ++k)
      m->keep[m->flexible[i].z_v + k] = m->flexible[i].moving ? 0 : AS_START_FREE_VELOCITY;
  m->initial.keep = m->keep;
  return AS_OK;
}

// ---- after it ---------------------------------------------------------------------------------------

/// The joints that demand most, the worst first.
typedef struct blamed {
  int n;
  as_joint_id joint[AS_START_JOINTS];
} blamed;

typedef struct comparison {
  const as_model *m;
  const as_state *state;
  double *demand[2]; ///< of each joint: how much it contradicts positions, velocities
  double worst[2];
  int *mechanism; ///< of each body: those that joints connect have the same number
  blamed *of_body[2], *of_mechanism[2];
  double size[2]; ///< largest position, velocity
  double spin;    ///< largest angular velocity
  as_start_change *change;
  int n;
} comparison;

static double size_of(const double *x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum = hypot(sum, x[i]);
  return sum;
}

static void note_row(comparison *c, int level, int joint, double value) {
  c->demand[level][joint] = fmax(c->demand[level][joint], value);
  c->worst[level] = fmax(c->worst[level], value);
}

static void note_rows(comparison *c, const as_start_report *report) {
  const as_model *m = c->m;
  for (int r = 0; r < m->n_lambda + m->n_psi; ++r) {
    if (!m->active[r]) continue;
    if (report->position_rows && r < m->n_lambda)
      note_row(c, 0, m->row_joint[r], report->position_rows[r]);
    if (report->velocity_rows) note_row(c, 1, m->row_joint[r], report->velocity_rows[r]);
  }
  for (int j = 0; j < m->n_joints; ++j) note_row(c, 1, j, m->joint[j].demand);
}

static int find_root(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/// The nodes of a superelement are one.
static void note_mechanisms(comparison *c) {
  const as_model *m = c->m;
  for (int i = 0; i < m->n_bodies; ++i) {
    c->mechanism[i] = i;
    for (int k = 0; k < i && m->body[i].node; ++k)
      if (m->body[k].node && m->body[k].v == m->body[i].v)
        c->mechanism[i] = find_root(c->mechanism, k);
    if (m->body[i].view) c->mechanism[i] = find_root(c->mechanism, m->body[i].view->body);
  }
  for (int j = 0; j < m->n_joints; ++j) {
    const asi_element *e = &m->element[m->joint[j].element].e;
    int first = -1;
    for (int k = 0; k < e->n_bodies; ++k) {
      if (e->body[k] < 0) continue;
      const int root = find_root(c->mechanism, e->body[k]);
      if (first >= 0) c->mechanism[root] = first;
      first = find_root(c->mechanism, root);
    }
  }
}

static void note_sizes(comparison *c) {
  for (int i = 0; i < c->m->n_bodies; ++i) {
    as_body_motion at;
    asi_model_motion(c->m, i, c->state->q, c->state->v, &at);
    c->size[0] = fmax(c->size[0], fmax(asi_norm(at.x), asi_norm(c->m->given[i].position)));
    c->size[1] = fmax(c->size[1], fmax(asi_norm(at.v), asi_norm(c->m->given[i].velocity)));
    c->spin = fmax(c->spin, fmax(asi_norm(at.omega), asi_norm(c->m->given[i].angular_velocity)));
  }
}

/// Puts a joint among the worst of a body.
static void insert(blamed *to, const double *demand, int joint) {
  int at = to->n;
  for (int k = 0; k < to->n; ++k)
    if (to->joint[k].index == joint) return;
  while (at > 0 && demand[to->joint[at - 1].index] < demand[joint]) --at;
  if (at == AS_START_JOINTS) return;
  if (to->n < AS_START_JOINTS) ++to->n;
  for (int k = to->n - 1; k > at; --k) to->joint[k] = to->joint[k - 1];
  to->joint[at] = (as_joint_id){joint};
}

/// Finds the joints that demand changes: of each body, and of each mechanism by the body that stands for it.
static void note_blame(comparison *c, int level) {
  const as_model *m = c->m;
  for (int j = 0; j < m->n_joints; ++j) {
    const asi_element *e = &m->element[m->joint[j].element].e;
    if (!(c->demand[level][j] > CONTRADICTS * c->worst[level])) continue;
    for (int k = 0; k < e->n_bodies; ++k) {
      if (e->body[k] < 0) continue;
      insert(&c->of_body[level][e->body[k]], c->demand[level], j);
      insert(&c->of_mechanism[level][find_root(c->mechanism, e->body[k])], c->demand[level], j);
    }
  }
}

/// Names the joints that demand a change, the worst first. `body` of a superelement: one of its nodes.
static void name_joints(comparison *c, int level, int body, as_start_change *change) {
  if (body < 0) return;
  const blamed *found = &c->of_body[level][body];
  if (found->n == 0) found = &c->of_mechanism[level][find_root(c->mechanism, body)];
  change->n_joints = found->n;
  memcpy(change->joint, found->joint, sizeof change->joint);
}

/// Compares one quantity. A velocity may have changed because its body was turned: then positions are to blame.
static void compare(comparison *c, as_start_change change, int body, const double *given,
                    const double *taken, double size, double difference) {
  if (!(difference > TOLD * size)) return;
  const bool moved = change.quantity == AS_START_POSITION ||
                     change.quantity == AS_START_QUATERNION ||
                     change.quantity == AS_START_DISPLACEMENT;
  memcpy(change.given, given, (size_t)change.n * sizeof(double));
  memcpy(change.taken, taken, (size_t)change.n * sizeof(double));
  change.assembled = moved && c->m->assembled;
  if (!change.assembled) name_joints(c, moved ? 0 : 1, body, &change);
  if (!change.assembled && change.n_joints == 0) name_joints(c, moved ? 1 : 0, body, &change);
  c->change[c->n++] = change;
}

static void compare_vector(comparison *c, as_start_quantity quantity, int body, const double *given,
                           const double *taken, double largest) {
  double d[3];
  asi_sum(taken, -1.0, given, d);
  const double size = fmax(fmax(asi_norm(given), asi_norm(taken)), ROUND_OFF / TOLD * largest);
  compare(c,
          (as_start_change){
              .quantity = quantity, .body = {body}, .superelement = AS_NO_SUPERELEMENT, .n = 3},
          body, given, taken, size, asi_norm(d));
}

/// q and -q are the same rotation: what is told has the sign of what was given.
static void compare_quaternion(comparison *c, int body, const double *given, const double *taken) {
  double dot = 0.0, same[4], d[4];
  for (int k = 0; k < 4; ++k) dot += given[k] * taken[k];
  for (int k = 0; k < 4; ++k) {
    same[k] = dot < 0.0 ? -taken[k] : taken[k];
    d[k] = same[k] - given[k];
  }
  compare(c,
          (as_start_change){.quantity = AS_START_QUATERNION,
                            .body = {body},
                            .superelement = AS_NO_SUPERELEMENT,
                            .n = 4},
          body, given, same, 1.0, 2.0 * size_of(d, 4));
}

static void compare_body(comparison *c, int i) {
  const asi_body *body = &c->m->body[i];
  const asi_given *given = &c->m->given[i];
  as_body_motion at;
  double arm[3], position[3];
  asi_model_motion(c->m, i, c->state->q, c->state->v, &at);
  asi_rotate(at.R, body->com, arm);
  asi_sum(at.x, -1.0, arm, position);
  if (given->what & AS_GIVEN_POSITION)
    compare_vector(c, AS_START_POSITION, i, given->position, position, c->size[0]);
  if (given->what & AS_GIVEN_QUATERNION && body->n == 6)
    compare_quaternion(c, i, given->quaternion, c->state->q + body->q + 3);
  if (given->what & AS_GIVEN_VELOCITY)
    compare_vector(c, AS_START_VELOCITY, i, given->velocity, at.v, c->size[1]);
  if (given->what & AS_GIVEN_ANGULAR_VELOCITY && body->n == 6)
    compare_vector(c, AS_START_ANGULAR_VELOCITY, i, given->angular_velocity, at.omega, c->spin);
}

/// The coordinate of a superelement that differs most, if something was given; after assembly it is not known what.
static void compare_superelement(comparison *c, int number, as_start_quantity quantity) {
  const asi_superelement *s = &c->m->superelement[number];
  const bool moved = quantity == AS_START_DISPLACEMENT;
  const double *given = moved ? c->m->q0 + s->q : c->m->v0 + s->v;
  const double *taken = moved ? c->state->q + s->q : c->state->v + s->v;
  double size = 0.0;
  int worst = 0, node = ASI_NONE;
  for (int i = 0; i < s->n; ++i) {
    size = fmax(size, fmax(fabs(given[i]), fabs(taken[i])));
    if (fabs(taken[i] - given[i]) > fabs(taken[worst] - given[worst])) worst = i;
  }
  if (!(moved ? s->displaced : s->moving) || c->m->assembled) return;
  for (int i = 0; i < c->m->n_bodies; ++i)
    if (c->m->body[i].node && c->m->body[i].v == s->v) node = i;
  compare(c,
          (as_start_change){.quantity = quantity,
                            .body = AS_NO_BODY,
                            .superelement = {number},
                            .coordinate = worst,
                            .n = 1},
          node, given + worst, taken + worst, size, fabs(taken[worst] - given[worst]));
}

static as_status compare_all(comparison *c, const as_start_report *report, as_error *error) {
  const as_model *m = c->m;
  bool room = true;
  for (int level = 0; level < 2; ++level) {
    c->demand[level] = asi_calloc((size_t)m->n_joints, sizeof(double));
    c->of_body[level] = asi_calloc((size_t)m->n_bodies, sizeof(blamed));
    c->of_mechanism[level] = asi_calloc((size_t)m->n_bodies, sizeof(blamed));
    room = room && c->demand[level] && c->of_body[level] && c->of_mechanism[level];
  }
  c->mechanism = asi_calloc((size_t)m->n_bodies, sizeof(int));
  c->change =
      asi_calloc(4 * (size_t)m->n_bodies + 2 * (size_t)m->n_superelements, sizeof *c->change);
  if (!room || !c->mechanism || !c->change) return asi_fail_memory(error);
  note_rows(c, report);
  note_mechanisms(c);
  note_sizes(c);
  for (int level = 0; level < 2; ++level) note_blame(c, level);
  for (int i = 0; i < m->n_bodies; ++i)
    if (!asi_body_is_node(&m->body[i])) compare_body(c, i);
  for (int i = 0; i < m->n_superelements; ++i) {
    compare_superelement(c, i, AS_START_DISPLACEMENT);
    compare_superelement(c, i, AS_START_RATE);
  }
  return AS_OK;
}

as_status as_model_start_changes(const as_model *m, const as_state *state,
                                 const as_start_report *report, as_start_change **out, int *n,
                                 as_error *error) {
  comparison c = {.m = m, .state = state};
  const as_status status = compare_all(&c, report, error);
  for (int level = 0; level < 2; ++level) {
    free(c.demand[level]);
    free(c.of_body[level]);
    free(c.of_mechanism[level]);
  }
  free(c.mechanism);
  if (status) free(c.change);
  *out = status ? NULL : c.change;
  *n = status ? 0 : c.n;
  return status;
}

void as_start_changes_free(as_start_change *changes) { free(changes); }

// ---- in words ---------------------------------------------------------------------------------------

/// As many digits as it takes to see the difference.
static int digits_of(const as_start_change *change) {
  double d[4] = {0};
  for (int i = 0; i < change->n; ++i) d[i] = change->taken[i] - change->given[i];
  return size_of(d, change->n) > 1e-4 * size_of(change->given, change->n) ? 6 : 9;
}

static void append_numbers(asi_text *text, const double *x, int n, int digits, const char *unit) {
  asi_text_add(text, n > 1 ? "(" : "");
  const double round_off = ROUND_OFF * size_of(x, n);
  for (int i = 0; i < n; ++i)
    asi_text_add(text, "%s%.*g", i > 0 ? ", " : "", digits, fabs(x[i]) > round_off ? x[i] : 0.0);
  asi_text_add(text, "%s%s%s", n > 1 ? ")" : "", unit[0] ? " " : "", unit);
}

void as_start_change_text(const as_model *m, const as_start_change *change, char *out,
                          size_t size) {
  static const struct {
    const char *name, *unit;
  } word[] = {{"position", "m"},    {"quaternion", ""},
              {"velocity", "m/s"},  {"angular velocity", "rad/s"},
              {"displacement", ""}, {"velocity", ""}};
  const char *unit = word[change->quantity].unit;
  asi_text text = asi_text_begin(out, size);
  if (change->body.index >= 0)
    asi_text_add(&text, "Body \"%s\" starts with the %s ", as_model_body_name(m, change->body),
                 word[change->quantity].name);
  else
    asi_text_add(&text, "Coordinate %d of superelement \"%s\" starts with the %s ",
                 change->coordinate,
                 asi_names_get(&m->names[ASI_SORT_SUPERELEMENT], change->superelement.index),
                 word[change->quantity].name);
  append_numbers(&text, change->taken, change->n, digits_of(change), unit);
  asi_text_add(&text, " instead of ");
  append_numbers(&text, change->given, change->n, digits_of(change), unit);
  asi_text_add(&text, " as given");
  for (int i = 0; i < change->n_joints; ++i)
    asi_text_add(&text, "%s \"%s\"",
                 i == 0 ? (change->n_joints > 1 ? ": joints" : ": joint")
                        : (i + 1 < change->n_joints ? "," : " and"),
                 as_model_joint_name(m, change->joint[i]));
  if (change->n_joints > 0)
    asi_text_add(&text, change->n_joints > 1 ? " demand it" : " demands it");
  if (change->assembled) asi_text_add(&text, ": the machine was assembled");
  asi_text_add(&text, ".");
}
