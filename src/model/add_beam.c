/// Adds beams to a builder: nodes, which are bodies, and elements between them.
///
/// A node's centre of mass is on the line of the sections' centres of mass, its axes are the section's. It has the mass that a lumped
/// beam would have there, half of each element, and the rotary inertia; what a Hermite beam has besides is the elements'
/// (elements/beam_mass.c).
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/beam.h"
#include "base/definition.h"
#include "base/error.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "model/add_force.h"

// Between the ends of an element at rest; an element takes less than half a turn while it bends.
#define MOST_ANGLE 1.0 // [rad]

as_beam_section as_default_beam_section(void) { return (as_beam_section){.modulus = (double)NAN}; }

as_beam_def as_default_beam_def(void) {
  return (as_beam_def){.cookie = ASI_COOKIE(as_beam_def), .mass = AS_BEAM_HERMITE};
}

// ---- checks -----------------------------------------------------------------------------------------

/// A beam while it is added.
typedef struct work {
  as_builder *b;
  const as_beam_def *def;
  const char *name;
  asi_station *station; ///< n_stations
  as_beam_section *at;  ///< likewise
  double (*rotary)[9];  ///< likewise: inertia that it has, body axes
  double *mass;         ///< likewise
  asi_beam *element;    ///< n_stations - 1
  asi_curve_ref load[6];
  bool loaded;
  double most_spin;
} work;

static as_status check_section(const work *w, double s, const as_beam_section *x, as_error *error) {
  const char *const of = w->name;
  for (int i = 0; i < 36; ++i) {
    const double a = x->stiffness[i], b = x->stiffness[6 * (i % 6) + i / 6];
    if (!isfinite(a) || (i % 7 == 0 && !(a > 0.0)))
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, of,
          "The stiffness of the section of beam \"%s\" has %g in row %d, column %d at s "
          "= %g m.",
          of, a, i / 6 + 1, i % 6 + 1, s);
    if (fabs(a - b) > 1e-9 * fmax(fabs(a), fabs(b)))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, of,
                      "The stiffness of the section of beam \"%s\" is not symmetric: %g in row %d, "
                      "column %d, but %g across the diagonal.",
                      of, a, i / 6 + 1, i % 6 + 1, b);
  }
  if (!(x->mass > 0.0 && isfinite(x->mass)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, of,
                    "The section of beam \"%s\" has the mass %g kg/m at s = %g m; it must be a "
                    "positive number.",
                    of, x->mass, s);
  for (int k = 0; k < 3; ++k)
    if (!(x->inertia[k] > 0.0 && isfinite(x->inertia[k])))
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, of,
          "The section of beam \"%s\" has the inertia %g kg m about its axis %c; it must "
          "be a positive number.",
          of, x->inertia[k], "xyz"[k]);
  return asi_check_finite(x->center, 2, "centre of mass", "beam", of, error);
}

static as_status take_section(const work *w, double s, as_beam_section *out, as_error *error) {
  *out = as_default_beam_section();
  if (w->def->section_at == NULL)
    *out = *w->def->section;
  else if (w->def->section_at(s, out, w->def->user))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, w->name,
                    "The section of beam \"%s\" is not known at s = %g m.", w->name, s);
  return check_section(w, s, out, error);
}

static as_status check_def(const as_builder *b, const as_beam_def *def, const char *name,
                           as_error *error) {
  if (def->n_stations < 2 || def->station == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The beam \"%s\" has %d stations; it needs two or more.", name,
                    def->n_stations);
  if (def->section == NULL && def->section_at == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The beam \"%s\" has no section.",
                    name);
  if (!(def->damping >= 0.0 && isfinite(def->damping)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The damping of beam \"%s\" is %g s; it must not be negative.", name,
                    def->damping);
  as_status status = asi_check_finite(def->velocity, 3, "velocity", "beam", name, error);
  if (status == AS_OK)
    status = asi_check_finite(def->angular_velocity, 3, "angular velocity", "beam", name, error);
  if (status == AS_OK) status = asi_check_finite(def->about, 3, "`about`", "beam", name, error);
  for (int i = 0; i < def->n_stations && status == AS_OK; ++i) {
    const as_beam_station *x = &def->station[i];
    status = asi_check_finite(x->position, 3, "position of a station", "beam", name, error);
    if (status || x->body.index == ASI_NONE) continue;
    status = asi_builder_check_body(b, x->body, ASI_SORT_BEAM, name, error);
    if (status == AS_OK && x->body.index >= 0 && b->body[x->body.index].body.n < 6)
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The beam \"%s\" is fixed to the point mass \"%s\", which does not turn.",
                        name, asi_names_get(&b->names[ASI_SORT_BODY], x->body.index));
    if (status == AS_OK && x->body.index >= 0 && b->body[x->body.index].is_node)
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The beam \"%s\" is fixed to \"%s\", a node of a superelement, whose "
                        "mass is that of the superelement; use a fixed joint.",
                        name, asi_names_get(&b->names[ASI_SORT_BODY], x->body.index));
    const int flexible =
        status == AS_OK && x->body.index >= 0 ? b->body[x->body.index].flexible : 0;
    if (flexible > 0 && b->flexible[flexible - 1].body != x->body.index)
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The beam \"%s\" is fixed to \"%s\", a node of a flexible body other than "
                        "its frame, whose mass is that of the body; use a fixed joint.",
                        name, asi_names_get(&b->names[ASI_SORT_BODY], x->body.index));
  }
  return status;
}

/// An element of a spinning mesh that is too coarse is unstable by itself. Runs look at speeds that come later (beam_spin.c).
static as_status check_spin(work *w, double length, as_error *error) {
  const int n = w->def->n_stations - 1;
  const double spin = asi_norm(w->def->angular_velocity);
  double first = (double)INFINITY;
  for (int i = 0; i <= n; ++i) {
    const double EI = fmin(w->at[i].stiffness[28], w->at[i].stiffness[35]);
    first = fmin(first, 3.516 * sqrt(EI / w->at[i].mass) / (length * length)); // of a cantilever
  }
  w->most_spin = n >= ASI_SPINNING_ELEMENTS ? (double)INFINITY : first;
  if (!(spin > w->most_spin)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, w->name,
                  "The beam \"%s\" turns at %.4g rad/s, faster than its first frequency of about "
                  "%.4g rad/s, and has %d element%s: it needs %d or more.",
                  w->name, spin, first, n, n > 1 ? "s" : "", ASI_SPINNING_ELEMENTS);
}

// ---- stations ---------------------------------------------------------------------------------------

/// How a node starts; what it is fixed to has a pose already.
static void place_node(const work *w, int i, as_body_motion *out) {
  const as_beam_station *x = &w->def->station[i];
  double out_of[3], center[3] = {0.0, w->at[i].center[0], w->at[i].center[1]}, moved[3];
  asi_so3_matrix(x->quaternion, out->R);
  asi_rotate(out->R, center, moved);
  asi_sum(x->position, 1.0, moved, out->x);
  asi_sum(out->x, -1.0, w->def->about, out_of);
  asi_copy(w->def->velocity, out->v);
  asi_add_cross(1.0, w->def->angular_velocity, out_of, out->v);
  asi_rotate_back(out->R, w->def->angular_velocity, out->omega);
}

static as_status take_station(work *w, int i, as_error *error) {
  const as_beam_station *x = &w->def->station[i];
  asi_station *out = &w->station[i];
  double quaternion[4], R[9];
  const as_status status = asi_unit_quaternion(x->quaternion, "beam", w->name, quaternion, error);
  if (status) return status;
  asi_so3_matrix(quaternion, R);
  *out = (asi_station){.beam = w->b->n_beams, .body = x->body.index};
  for (int k = 0; k < 3; ++k) asi_set(R[k], R[3 + k], R[6 + k], out->axes + 3 * k);
  asi_copy(x->position, out->position);
  if (x->body.index == ASI_NONE) {
    asi_set(0.0, -w->at[i].center[0], -w->at[i].center[1], out->frame.p);
    for (int k = 0; k < 3; ++k) out->frame.axis[4 * k] = 1.0;
    return AS_OK;
  }
  asi_marker marker;
  const asi_side_def side = {AS_NO_FRAME, x->body, x->position, out->axes};
  const as_status found = asi_builder_side(w->b, &side, ASI_SORT_BEAM, w->name, &marker, error);
  out->frame = marker.frame;
  return found;
}

/// Strains by forces, and what stresses need.
static bool finish_station(const as_beam_section *x, asi_station *out) {
  out->modulus = x->modulus;
  for (int k = 0; k < 2; ++k) out->half[k] = x->height[k] / 2.0;
  out->round = x->round;
  return asi_beam_invert(x->stiffness, out->compliance);
}

// ---- elements ---------------------------------------------------------------------------------------

static as_status fail_shape(const work *w, int i, as_error *error) {
  const asi_beam *e = &w->element[i];
  const double angle = asi_norm(e->rest + 3);
  if (!(e->length > 0.0) || !isfinite(e->length))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, w->name,
                    "Stations %d and %d of beam \"%s\" are in one place.", i, i + 1, w->name);
  if (!(angle <= MOST_ANGLE))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, w->name,
        "Element %d of beam \"%s\" turns by %.3g rad between its ends, more than %g: it "
        "needs more elements.",
        i + 1, w->name, angle, MOST_ANGLE);
  if (!(e->rest[0] >= 0.7 * e->length))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, w->name,
                    "The x axes of stations %d and %d of beam \"%s\" are not along its line.", i,
                    i + 1, w->name);
  return AS_OK;
}

static void add_rotary(double factor, const double *inertia, const asi_frame *f, double *J) {
  for (int k = 0; k < 3; ++k)
    asi_add_outer(factor * inertia[k], f->axis + 3 * k, f->axis + 3 * k, J, 3);
}

/// Rest shape, stiffness and mass of element i, which begins at s.
static as_status take_element(work *w, int i, double s, as_error *error) {
  asi_beam *e = &w->element[i];
  as_body_motion pose[2];
  const bool rigid[2] = {w->station[i].body != ASI_GROUND, w->station[i + 1].body != ASI_GROUND};
  for (int k = 0; k < 2; ++k) {
    const int body = w->station[i + k].body;
    e->frame[k] = w->station[i + k].frame;
    if (body == ASI_NONE)
      place_node(w, i + k, &pose[k]);
    else
      pose[k] = *asi_builder_pose(w->b, body);
  }
  const bool turned = !asi_beam_shape(e, &pose[0], &pose[1]);
  const as_status bad = fail_shape(w, i, error);
  if (bad) return bad;
  if (turned)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, w->name,
        "Element %d of beam \"%s\" turns by half a turn between its ends: it needs more "
        "elements.",
        i + 1, w->name);
  double K[ASI_BEAM_POINTS][36], density[ASI_BEAM_POINTS];
  as_beam_section x;
  e->start = s;
  for (int p = 0; p < ASI_BEAM_POINTS; ++p) {
    const double at = asi_beam_point[p];
    const as_status status = take_section(w, s + at * e->length, &x, error);
    if (status) return status;
    memcpy(K[p], x.stiffness, sizeof K[p]);
    density[p] = x.mass;
    const double part = e->length * asi_beam_weight[p];
    add_rotary(part * (1.0 - at), x.inertia, &e->frame[0], e->turned[0]);
    add_rotary(part * at, x.inertia, &e->frame[1], e->turned[1]);
  }
  const as_status status = take_section(w, s + e->length / 2.0, &x, error);
  if (status) return status;
  if (!asi_beam_stiffness(e, (const double(*)[36])K, x.stiffness, w->def->plain, w->def->damping))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, w->name,
        "The stiffness of the section of beam \"%s\" is not positive definite at s = %g "
        "m.",
        w->name, s);
  const double center[2][2] = {{w->at[i].center[0], w->at[i].center[1]},
                               {w->at[i + 1].center[0], w->at[i + 1].center[1]}};
  asi_beam_set_mass(e, density, center, rigid, w->def->mass == AS_BEAM_HERMITE, w->b->gravity);
  for (int k = 0; k < 2; ++k) {
    w->mass[i + k] += e->lumped[k];
    for (int j = 0; j < 9; ++j) w->rotary[i + k][j] += e->turned[k][j];
  }
  memcpy(e->load, w->load, sizeof e->load);
  e->loaded = w->loaded;
  return AS_OK;
}

static as_status take_loads(work *w, as_error *error) {
  static const char *const own[ASI_OWN_SLOTS] = {"s"};
  char what[96];
  as_status status = AS_OK;
  snprintf(what, sizeof what, "The load of beam \"%.48s\"", w->name);
  for (int i = 0; i < 6; ++i) {
    const as_curve *given = i < 3 ? w->def->load[i] : w->def->following[i - 3];
    w->load[i] = (asi_curve_ref){-1, NULL};
    if (status == AS_OK) status = asi_builder_curve(w->b, given, what, own, &w->load[i], error);
    w->loaded = w->loaded || w->load[i].index >= 0;
  }
  return status;
}

/// The arc length is known once the element before is: sections at stations come with the elements.
static as_status take_all(work *w, as_error *error) {
  const int n = w->def->n_stations - 1;
  double length = 0.0;
  as_status status = take_section(w, 0.0, &w->at[0], error);
  if (status == AS_OK) status = take_station(w, 0, error);
  for (int i = 0; i < n && status == AS_OK; ++i) {
    // The chord will do for where the next section's centre of mass is.
    double chord[3], center[2];
    asi_sum(w->def->station[i + 1].position, -1.0, w->def->station[i].position, chord);
    status = take_section(w, length + asi_norm(chord), &w->at[i + 1], error);
    if (status == AS_OK) status = take_station(w, i + 1, error);
    if (status == AS_OK) status = take_element(w, i, length, error);
    if (status) break;
    length += w->element[i].length;
    memcpy(center, w->at[i + 1].center, sizeof center);
    status = take_section(w, length, &w->at[i + 1], error);
    memcpy(w->at[i + 1].center, center, sizeof center);
  }
  for (int i = 0; i <= n && status == AS_OK; ++i)
    if (!finish_station(&w->at[i], &w->station[i]))
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, w->name,
                        "The stiffness of the section of beam \"%s\" is not positive definite.",
                        w->name);
  return status ? status : check_spin(w, length, error);
}

// ---- the builder ------------------------------------------------------------------------------------

static as_status append_node(work *w, int i, as_error *error) {
  as_builder *b = w->b;
  asi_body_start start = {0};
  start.body.n = 6;
  start.body.mass = w->mass[i];
  memcpy(start.body.J, w->rotary[i], sizeof start.body.J);
  asi_body_note_inertia(&start.body);
  place_node(w, i, &start.at);
  memcpy(start.quaternion, w->def->station[i].quaternion, sizeof start.quaternion);
  start.given.what = AS_GIVEN_POSITION | AS_GIVEN_QUATERNION;
  if (asi_norm(start.at.v) > 0.0) start.given.what |= AS_GIVEN_VELOCITY;
  if (asi_norm(start.at.omega) > 0.0) start.given.what |= AS_GIVEN_ANGULAR_VELOCITY;
  asi_copy(start.at.x, start.given.position);
  memcpy(start.given.quaternion, start.quaternion, sizeof start.quaternion);
  asi_copy(start.at.v, start.given.velocity);
  asi_copy(start.at.omega, start.given.angular_velocity);
  void *array = b->body;
  if (!asi_grow(&array, b->n_bodies, &b->room_bodies, sizeof *b->body))
    return asi_fail_memory(error);
  b->body = array;
  const as_status status =
      asi_names_add_part(&b->names[ASI_SORT_BODY], ASI_SORT_BODY, w->name, i, error);
  if (status) return status;
  w->station[i].body = b->n_bodies;
  b->body[b->n_bodies++] = start;
  return AS_OK;
}

static as_status append_station(work *w, int i, as_error *error) {
  as_builder *b = w->b;
  as_status status = w->station[i].body == ASI_NONE ? append_node(w, i, error) : AS_OK;
  void *array = b->station;
  if (status == AS_OK && !asi_grow(&array, b->n_stations, &b->room_stations, sizeof *b->station))
    status = asi_fail_memory(error);
  b->station = array;
  if (status == AS_OK)
    status = asi_names_add_part(&b->names[ASI_SORT_STATION], ASI_SORT_STATION, w->name, i, error);
  if (status == AS_OK) b->station[b->n_stations++] = w->station[i];
  return status;
}

/// Entries of M, D_q (M v') and the forces by velocities.
static void set_flags(const asi_beam *e, asi_element_flags *f) {
  f->n_bodies = 2;
  f->force = true;
  asi_flag_pair(f->f_q);
  if (e->damped) asi_flag_pair(f->f_v);
  for (int k = 0; k < ASI_PAIR * ASI_PAIR && e->heavy; ++k) {
    const bool turns = k % 6 >= 3;
    f->M[k] = true; // zeros, too: whole blocks are quicker
    f->Ma_q[k] = turns;
    f->f_v[k] = f->f_v[k] || turns;
  }
}

static as_status append_element(work *w, int i, as_error *error) {
  static const size_t refs[] = {offsetof(asi_beam, load[0]), offsetof(asi_beam, load[1]),
                                offsetof(asi_beam, load[2]), offsetof(asi_beam, load[3]),
                                offsetof(asi_beam, load[4]), offsetof(asi_beam, load[5])};
  const asi_beam *e = &w->element[i];
  const asi_element element = {.type = &asi_beam_type,
                               .n_bodies = 2,
                               .body = {w->station[i].body, w->station[i + 1].body},
                               .inertia = e->heavy ? asi_beam_inertia : NULL};
  asi_element_flags flags = {0};
  set_flags(e, &flags);
  return asi_builder_element(w->b, &element, &flags, e, sizeof *e, refs,
                             sizeof refs / sizeof refs[0], error);
}

/// The inertia that bodies have for it, which were there before.
static void load_bodies(const work *w) {
  for (int i = 0; i < w->def->n_stations; ++i) {
    if (w->def->station[i].body.index < 0) continue;
    asi_body *body = &w->b->body[w->def->station[i].body.index].body;
    body->mass += w->mass[i];
    for (int k = 0; k < 9; ++k) body->J[k] += w->rotary[i][k];
    asi_body_note_inertia(body);
  }
}

static as_status append_all(work *w, as_error *error) {
  as_builder *b = w->b;
  const int bodies = b->n_bodies, stations = b->n_stations;
  void *array = b->beam;
  if (!asi_grow(&array, b->n_beams, &b->room_beams, sizeof *b->beam)) return asi_fail_memory(error);
  b->beam = array;
  const asi_beam_parts parts = {b->n_elements, b->n_stations, w->def->n_stations - 1, w->most_spin};
  as_status status = asi_names_add(&b->names[ASI_SORT_BEAM], ASI_SORT_BEAM, w->def->name, error);
  if (status) return status;
  w->name = asi_names_get(&b->names[ASI_SORT_BEAM], b->n_beams);
  for (int i = 0; i < w->def->n_stations && status == AS_OK; ++i)
    status = append_station(w, i, error);
  for (int i = 0; i < parts.n && status == AS_OK; ++i) status = append_element(w, i, error);
  if (status) {
    b->n_bodies = bodies;
    b->n_stations = stations;
    asi_names_cut(&b->names[ASI_SORT_BODY], bodies);
    asi_names_cut(&b->names[ASI_SORT_STATION], stations);
    asi_names_cut(&b->names[ASI_SORT_BEAM], b->n_beams);
    return status;
  }
  b->beam[b->n_beams++] = parts;
  load_bodies(w);
  return AS_OK;
}

as_status as_builder_add_beam(as_builder *b, const as_beam_def *def, as_beam_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_beam_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_BEAM, def->name, store);
  as_status status = check_def(b, def, name, error);
  if (status) return status;
  const size_t n = (size_t)def->n_stations;
  const asi_mark mark = asi_builder_mark(b);
  work w = {.b = b, .def = def, .name = name};
  w.station = asi_calloc(n, sizeof *w.station);
  w.at = asi_calloc(n, sizeof *w.at);
  w.rotary = asi_calloc(n, sizeof *w.rotary);
  w.mass = asi_calloc(n, sizeof *w.mass);
  w.element = asi_calloc(n - 1, sizeof *w.element);
  const bool room = w.station && w.at && w.rotary && w.mass && w.element;
  status = room ? take_loads(&w, error) : asi_fail_memory(error);
  if (status == AS_OK) status = take_all(&w, error);
  if (status == AS_OK) status = append_all(&w, error);
  if (status) asi_builder_reset(b, mark);
  if (status == AS_OK && id) *id = (as_beam_id){b->n_beams - 1};
  free(w.station);
  free(w.at);
  free(w.rotary);
  free(w.mass);
  free(w.element);
  return status;
}

as_body_id as_builder_beam_node(const as_builder *b, as_beam_id beam, int station) {
  const int i = beam.index;
  if (i < 0 || i >= b->n_beams || station < 0 || station > b->beam[i].n) return AS_NO_BODY;
  return (as_body_id){b->station[b->beam[i].station + station].body};
}
