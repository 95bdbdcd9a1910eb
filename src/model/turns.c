/// Whether steps of a model keep screws and gears in mesh, see elements/coupling.c, angles that formulas read in
/// sight, see angles.c, lines from turning over and forces from turning round, [EL.1].
#include <math.h>
#include <stdio.h>

#include "alphastep/problem.h"
#include "elements/coupling.h"
#include "elements/line.h"
#include "elements/spring.h"
#include "model/look.h"

static bool is_meshed(as_joint_kind kind) {
  return kind == AS_JOINT_SCREW || kind == AS_JOINT_COUPLING;
}

/// An element at both ends of a step.
typedef struct span {
  const asi_placed *p;
  double h;
  as_body_motion before[AS_ELEMENT_BODIES], after[AS_ELEMENT_BODIES];
  as_element_input from, to;
} span;

static void look_at(const as_model *m, const as_state at[2], const asi_placed *p, span *x) {
  x->p = p;
  x->h = at[1].t - at[0].t;
  asi_look_at(m, &at[0], p, x->before, &x->from);
  asi_look_at(m, &at[1], p, x->after, &x->to);
}

// ---- lines ------------------------------------------------------------------------------------------

// [EL.1] The energy that the bodies have to pass may be this much larger than that of their motion: they may belong to larger
// ones. It is found by the force in so many places.
#define BARRIER 4.0
enum { PLACES = 16 };

/// The mass that the ends of an element have against each other.
static double reduced_mass(const as_model *m, const asi_placed *p) {
  double inverse = 0.0;
  for (int k = 0; k < 2; ++k)
    if (p->e.body[k] != ASI_GROUND) inverse += 1.0 / m->body[p->e.body[k]].mass;
  return 1.0 / inverse;
}

static const asi_ends *line_of(const asi_placed *p) {
  return p->descriptor->line ? p->descriptor->line(p->data) : NULL;
}

/// Whether the line between two ends turns over; how far it goes.
static bool line_turns_over(const span *x, const asi_ends *ends, double *way) {
  asi_ends_now now;
  double D[2][3];
  for (int k = 0; k < 2; ++k) {
    const as_element_input *in = k == 0 ? &x->from : &x->to;
    if (asi_ends_move(ends, in->t, &now)) return false;
    asi_line_find(in, now.A.p, now.B.p, D[k]);
  }
  *way = 0.0;
  for (int i = 0; i < 3; ++i) *way = hypot(*way, D[1][i] - D[0][i]);
  return asi_line_turns_over(&x->from, D[0], &x->to, D[1]);
}

/// What the force of an element lets nothing pass without, from one end of the step to the other, beyond the larger energy of
/// both ends [J]. Bodies go straight ahead, and turn halfway.
static double barrier_of(const span *x) {
  double energy = 0.0, most = 0.0;
  for (int k = 0; k < PLACES; ++k) {
    const double theta = (k + 0.5) / PLACES;
    as_body_motion body[AS_ELEMENT_BODIES];
    double f[AS_ELEMENT_COLUMNS] = {0};
    as_element_input in = x->to;
    for (int b = 0; b < x->p->e.n_bodies; ++b) {
      const as_body_motion *from = x->from.body[b], *to = x->to.body[b];
      body[b] = theta < 0.5 ? *from : *to;
      for (int i = 0; i < 3; ++i) {
        body[b].x[i] = from->x[i] + theta * (to->x[i] - from->x[i]);
        body[b].v[i] = body[b].omega[i] = 0.0;
      }
      in.body[b] = &body[b];
    }
    if (x->p->e.type->evaluate(&in, &(as_element_output){.force = f}, x->p->data)) continue;
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 3; ++i)
        energy -= f[6 * b + i] * (x->to.body[b]->x[i] - x->from.body[b]->x[i]) / PLACES;
    most = fmax(most, energy);
  }
  return most - fmax(energy, 0.0);
}

/// [EL.1] Whether a force along a line has turned over. The stiffness at rest tells cheaply which springs a step follows.
static bool force_turns_over(const as_model *m, const as_state at[2], const asi_placed *p) {
  const asi_ends *ends = line_of(p);
  if (ends == NULL) return false;
  const double mass = reduced_mass(m, p), h = at[1].t - at[0].t;
  if (p->descriptor->law) {
    const asi_law *law = p->descriptor->law(p->data);
    const bool linear = law->spring.curve == NULL && law->both.curve == NULL;
    if (law->rest == 0.0 || (linear && law->stiffness * h * h < mass)) return false;
  }
  span x;
  double way;
  look_at(m, at, p, &x);
  return line_turns_over(&x, ends, &way) &&
         barrier_of(&x) > BARRIER * mass * way * way / (2.0 * h * h);
}

static bool joint_turns_over(const as_model *m, const as_state at[2], const asi_placed *p) {
  const asi_joint *joint = p->data;
  asi_ends ends = {.frame = {joint->frame[0], joint->frame[1]}};
  for (int k = 0; k < 2 && p->e.type == &asi_moving_joint_type; ++k)
    ends.motion[k] = ((const asi_moving_joint *)p->data)->motion[k];
  span x;
  double way;
  look_at(m, at, p, &x);
  return line_turns_over(&x, &ends, &way);
}

// ---- all of them ------------------------------------------------------------------------------------

static bool is_watched(const asi_placed *p) { return line_of(p) || p->descriptor->jumps; }

static bool force_jumps(const as_model *m, const as_state at[2], const asi_placed *p) {
  if (p->descriptor->jumps == NULL) return false;
  span x;
  look_at(m, at, p, &x);
  return p->descriptor->jumps(p->data, &x.from, &x.to);
}

/// Whether a force is not where the step found it.
static bool forces_jump(const as_model *m, const as_state at[2], char *text, size_t size) {
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_placed *p = &m->element[m->force[i]];
    const char *name = asi_names_get(&m->names[ASI_SORT_FORCE], i);
    const char *const *words = p->descriptor->jump;
    if (force_turns_over(m, at, p))
      snprintf(text, size, "the force \"%s\" turns over: its ends change places", name);
    else if (force_jumps(m, at, p))
      snprintf(text, size, "%s \"%s\" %s", words[0], name, words[1]);
    else
      continue;
    return true;
  }
  return false;
}

/// Whether screws and gears slip by a tooth.
static bool slips(const as_model *m, const as_state at[2], int i) {
  const asi_placed *p = &m->element[m->joint[i].element];
  span x;
  look_at(m, at, p, &x);
  const asi_coupling coupling = m->joint[i].kind == AS_JOINT_SCREW ? asi_coupling_of_screw(p->data)
                                                                   : *(const asi_coupling *)p->data;
  return asi_coupling_slips(&coupling, &x.from, &x.to);
}

static int check_step(const as_point *from, const as_point *to, const bool *inactive, int *row,
                      char *text, size_t size, void *user) {
  const as_model *m = user;
  *row = -1;
  const int joint = asi_model_turns_too_far(m, from, to);
  if (joint >= 0) {
    snprintf(text, size, "the joint \"%s\" turns by half a turn or more in it",
             asi_names_get(&m->names[ASI_SORT_JOINT], joint));
    return AS_RETRY;
  }
  const as_state at[2] = {
      {.t = from->t, .q = from->q, .v = from->v, .x = from->x, .y = from->y, .u = from->u},
      {.t = to->t, .q = to->q, .v = to->v, .x = to->x, .y = to->y, .u = to->u}};
  if (forces_jump(m, at, text, size)) return AS_RETRY;
  for (int i = 0; i < m->n_joints; ++i) {
    const as_joint_kind kind = m->joint[i].kind;
    const bool line = kind == AS_JOINT_DISTANCE;
    if (!line && !is_meshed(kind)) continue;
    const asi_placed *p = &m->element[m->joint[i].element];
    const int last = p->row + p->e.n_rows - 1;
    if (inactive[last] || !(line ? joint_turns_over(m, at, p) : slips(m, at, i))) continue;
    *row = last;
    return AS_RETRY;
  }
  return AS_DONE;
}

as_step_fn *asi_model_check_step(const as_model *m) {
  for (int i = 0; i < m->n_joints; ++i)
    if (is_meshed(m->joint[i].kind) || m->joint[i].kind == AS_JOINT_DISTANCE) return check_step;
  for (int i = 0; i < m->n_forces; ++i)
    if (is_watched(&m->element[m->force[i]])) return check_step;
  return m->n_turns > 0 ? check_step : NULL;
}
