/// The scene of a machine: what there is to be seen besides its motion.
///
/// Bodies are numbered as in the model, the ground is -1. Points and axes are in the axes of their body, from its
/// centre of mass, at the start where a frame moves against its body.
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/beam.h"
#include "alphastep/quantities.h"
#include "alphastep/report.h"
#include "base/error.h"
#include "base/json.h"
#include "base/locale.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "model/model.h"
#include "report/array.h"
#include "report/flexible_scene.h"
#include "report/road_scene.h"
#include "results/rules.h"

enum { MOST_STATIONS = 20000 }; // of beams that are drawn

typedef struct scene {
  FILE *out;
  const as_machine *machine;
  const as_model *model;
  bool no_memory;
  double low[3], high[3]; ///< of everything at the start, in the world
} scene;

static void separate(const scene *s, int i) { fputs(i > 0 ? ",\n" : "\n", s->out); }

static void put_member(const scene *s, const char *key, const double *x, int n) {
  fprintf(s->out, ",\"%s\":", key);
  asi_json_numbers(s->out, x, n);
}

/// Lets the bounds hold a ball about a point of a body.
static void include_ball(scene *s, int body, const double *p, double radius) {
  const as_initial *start = as_model_initial(s->model);
  as_body_motion at;
  double x[3];
  asi_model_motion(s->model, body, start->q, NULL, &at);
  asi_rotate(at.R, p, x);
  asi_add(1.0, at.x, x);
  for (int i = 0; i < 3; ++i) {
    s->low[i] = fmin(s->low[i], x[i] - radius);
    s->high[i] = fmax(s->high[i], x[i] + radius);
  }
}

// ---- bodies and shapes ------------------------------------------------------------------------------

static void put_bodies(scene *s) {
  const double centre[3] = {0.0, 0.0, 0.0};
  fputs("\"bodies\":[", s->out);
  for (int i = 0; i < s->model->n_bodies; ++i) {
    const asi_body *body = &s->model->body[i];
    const double *J = body->J, inertia[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
    separate(s, i);
    fputs("{\"name\":", s->out);
    asi_json_text(s->out, as_model_body_name(s->model, (as_body_id){i}));
    fputs(",\"mass\":", s->out);
    asi_json_number(s->out, body->mass);
    put_member(s, "inertia", inertia, 6);
    fprintf(s->out, ",\"point\":%s", body->n == 3 ? "true" : "false");
    fputs(asi_body_is_node(body) ? ",\"node\":true}" : "}", s->out);
    include_ball(s, i, centre, 0.0);
  }
  fputs("]", s->out);
}

/// A point of a shape in its body.
static void shape_point(const as_shape *shape, const double *p, double *out) {
  asi_so3_rotate(shape->quaternion, p, out);
  asi_add(1.0, shape->position, out);
}

static void include_point(scene *s, const as_shape *shape, const double *p) {
  double in_body[3];
  shape_point(shape, p, in_body);
  include_ball(s, shape->body.index, in_body,
               shape->kind == AS_SHAPE_POLYLINE ? shape->radius : 0.5 * shape->width);
}

static bool is_along_z(const as_shape *shape) {
  return shape->kind == AS_SHAPE_CYLINDER || shape->kind == AS_SHAPE_CAPSULE ||
         shape->kind == AS_SHAPE_CONE || shape->kind == AS_SHAPE_WHEEL;
}

static void include_shape(scene *s, const as_shape *shape) {
  for (int i = 0; i < shape->n_points; ++i)
    include_point(s, shape, shape->points + 3 * (ptrdiff_t)i);
  for (int i = 0; i < 3 * shape->n_triangles; ++i) {
    const float *p = shape->triangles + 3 * (ptrdiff_t)i;
    include_point(s, shape, (const double[3]){(double)p[0], (double)p[1], (double)p[2]});
  }
  if (shape->kind == AS_SHAPE_SPHERE)
    include_ball(s, shape->body.index, shape->position, shape->radius);
  if (is_along_z(shape))
    for (int end = -1; end <= 1; end += 2) {
      double p[3];
      shape_point(shape, (const double[3]){0.0, 0.0, 0.5 * end * shape->length}, p);
      include_ball(s, shape->body.index, p, shape->radius);
    }
  if (shape->kind != AS_SHAPE_BOX) return;
  for (int i = 0; i < 8; ++i) {
    const double corner[3] = {(i & 1 ? 0.5 : -0.5) * shape->size[0],
                              (i & 2 ? 0.5 : -0.5) * shape->size[1],
                              (i & 4 ? 0.5 : -0.5) * shape->size[2]};
    include_point(s, shape, corner);
  }
}

/// Least x, y, z and greatest x, y, z of a mesh.
static void put_bounds(const scene *s, const as_shape *shape) {
  double bounds[6];
  for (int k = 0; k < 3; ++k) {
    bounds[k] = bounds[3 + k] = (double)shape->triangles[k];
    for (int i = 1; i < 3 * shape->n_triangles; ++i) {
      const double x = (double)shape->triangles[3 * (ptrdiff_t)i + k];
      bounds[k] = fmin(bounds[k], x);
      bounds[3 + k] = fmax(bounds[3 + k], x);
    }
  }
  put_member(s, "bounds", bounds, 6);
}

static void put_triangles(scene *s, int number) {
  const as_shape *shapes = s->machine->shapes, *shape = &shapes[number];
  put_bounds(s, shape);
  for (int i = 0; i < number; ++i) {
    if (shapes[i].triangles != shape->triangles) continue;
    fprintf(s->out, ",\"triangles_of\":%d", i);
    return;
  }
  const size_t n = 9 * (size_t)shape->n_triangles;
  float *copy = malloc(n * sizeof *copy);
  s->no_memory = s->no_memory || copy == NULL;
  if (copy == NULL) return;
  memcpy(copy, shape->triangles, n * sizeof *copy);
  fputs(",\"triangles\":", s->out);
  asi_array_floats(s->out, copy, n, 3, 9);
  free(copy);
}

static void put_points(const scene *s, const double *points, int n) {
  fputs(",\"points\":[", s->out);
  for (int i = 0; i < n; ++i) {
    if (i > 0) putc(',', s->out);
    asi_json_numbers(s->out, points + 3 * (ptrdiff_t)i, 3);
  }
  putc(']', s->out);
}

/// Triangles are those of the machine's shape `number`.
static void put_shape(scene *s, int number, const as_shape *shape) {
  static const char *const kind[] = {"box",  "sphere", "cylinder", "capsule", "polyline",
                                     "mesh", "cone",   "wheel",    "strip"};
  separate(s, number);
  fprintf(s->out, "{\"body\":%d,\"kind\":\"%s\"", shape->body.index, kind[shape->kind]);
  put_member(s, "position", shape->position, 3);
  put_member(s, "quaternion", shape->quaternion, 4);
  if (shape->kind == AS_SHAPE_BOX) put_member(s, "size", shape->size, 3);
  if (shape->kind != AS_SHAPE_BOX && shape->kind != AS_SHAPE_MESH &&
      shape->kind != AS_SHAPE_STRIP) {
    fputs(",\"radius\":", s->out);
    asi_json_number(s->out, shape->radius);
  }
  if (is_along_z(shape)) {
    fputs(",\"length\":", s->out);
    asi_json_number(s->out, shape->length);
  }
  if (shape->kind == AS_SHAPE_CONE) {
    fputs(",\"top\":", s->out);
    asi_json_number(s->out, shape->top);
  }
  if (shape->kind == AS_SHAPE_STRIP) {
    fputs(",\"width\":", s->out);
    asi_json_number(s->out, shape->width);
    if (shape->dash[0] > 0.0) put_member(s, "dash", shape->dash, 2);
  }
  if (shape->kind == AS_SHAPE_POLYLINE || shape->kind == AS_SHAPE_STRIP)
    put_points(s, shape->points, shape->n_points);
  if (shape->kind == AS_SHAPE_MESH) put_triangles(s, number);
  if (isnan(shape->color[0]))
    fputs(",\"color\":null}", s->out);
  else {
    put_member(s, "color", shape->color, 4);
    putc('}', s->out);
  }
  // A road or a floor says nothing about the size of what moves on it.
  if (shape->body.index >= 0 || s->model->n_bodies == 0) include_shape(s, shape);
}

// ---- beams ------------------------------------------------------------------------------------------

/// Half of each element at a station, from `before` to `after` of its section along the line, as a shape of its body. A section without an
/// outline is drawn as a thin rod.
static as_shape beam_piece(const asi_station *at, double before, double after, double thin) {
  const double *axis = at->frame.axis;
  const bool known = !isnan(at->modulus);
  double R[9];
  as_shape out = {.kind = known && !at->round ? AS_SHAPE_BOX : AS_SHAPE_CYLINDER,
                  .body = {at->body},
                  .radius = known ? at->half[0] : thin,
                  .length = before + after,
                  .color = {0.45, 0.5, 0.58, 1.0}};
  for (int i = 0; i < 3; ++i) { // z of the shape is along the line
    R[3 * i] = axis[3 + i];
    R[3 * i + 1] = axis[6 + i];
    R[3 * i + 2] = axis[i];
  }
  asi_so3_from_matrix(R, out.quaternion);
  asi_sum(at->frame.p, (after - before) / 2.0, axis, out.position);
  asi_set(2.0 * at->half[0], 2.0 * at->half[1], before + after, out.size);
  return out;
}

static double length_of(const as_model *m, const asi_beam_parts *parts) {
  double length = 0.0;
  for (int i = 0; i < parts->n; ++i)
    length += ((const asi_beam *)m->element[parts->element + i].data)->length;
  return length;
}

/// The number of the next shape is returned.
static int put_beams(scene *s) {
  const as_model *m = s->model;
  int number = s->machine->n_shapes;
  for (int b = 0; b < m->n_beams && m->n_stations <= MOST_STATIONS; ++b) {
    const asi_beam_parts *parts = &m->beam[b];
    const double length = length_of(m, parts);
    double before = 0.0;
    for (int i = 0; i <= parts->n; ++i) {
      const asi_beam *next = i < parts->n ? m->element[parts->element + i].data : NULL;
      const double after = next ? next->length / 2.0 : 0.0;
      const as_shape piece =
          beam_piece(&m->station[parts->station + i], before, after, length / 200.0);
      put_shape(s, number++, &piece);
      before = after;
    }
  }
  return number;
}

/// From the axes of a section, one after the other.
static void quaternion_of(const double *axes, double *out) {
  double R[9];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) R[3 * i + k] = axes[3 * k + i];
  asi_so3_from_matrix(R, out);
}

/// Wheels of tyres, from shape `number` on, on bodies that have no shapes of their own. The number of the next shape is returned.
static int put_wheels(scene *s, int number) {
  const as_model *m = s->model;
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_placed *p = &m->element[m->force[i]];
    asi_drawing d = {.n = 0};
    if (p->descriptor->draw) p->descriptor->draw(p->data, &d);
    bool drawn_already = d.wheel.radius == 0.0;
    for (int k = 0; k < s->machine->n_shapes && !drawn_already; ++k)
      drawn_already = s->machine->shapes[k].body.index == p->e.body[d.wheel.body];
    if (drawn_already) continue;
    const double *axis = d.wheel.axis;
    const double any[3] = {fabs(axis[0]) < 0.7, fabs(axis[0]) >= 0.7, 0.0};
    double axes[9];
    asi_cross(any, axis, axes + 3);
    const double size = asi_norm(axes + 3);
    for (int k = 3; k < 6; ++k) axes[k] /= size;
    asi_cross(axes + 3, axis, axes);
    asi_copy(axis, axes + 6);
    as_shape wheel = {.kind = AS_SHAPE_WHEEL,
                      .body = {p->e.body[d.wheel.body]},
                      .radius = d.wheel.radius,
                      .length = d.wheel.width,
                      .color = {(double)NAN, (double)NAN, (double)NAN, (double)NAN}};
    asi_copy(d.wheel.center, wheel.position);
    quaternion_of(axes, wheel.quaternion);
    put_shape(s, number++, &wheel);
  }
  return number;
}

/// Roads of tyres, likewise.
static void put_roads(scene *s, int number) {
  double *points = asi_calloc(3 * (size_t)ASI_ROAD_POINTS, sizeof *points);
  as_shape road;
  s->no_memory = s->no_memory || points == NULL;
  for (int i = 0; i < s->model->n_forces && points; ++i)
    if (asi_road_shape(s->machine, i, &road, points)) put_shape(s, number++, &road);
  free(points);
}

/// A station: its body; place and axes of the section in it; half sizes of the outline; place and axes at rest in the world.
static void put_station(const scene *s, const asi_station *at, double thin) {
  const bool known = !isnan(at->modulus);
  double row[17] = {at->body};
  asi_copy(at->frame.p, row + 1);
  quaternion_of(at->frame.axis, row + 4);
  for (int k = 0; k < 2; ++k) row[8 + k] = known ? at->half[k] : thin;
  asi_copy(at->position, row + 10);
  quaternion_of(at->axes, row + 13);
  for (int i = 0; i < 17; ++i) row[i] += 0.0; // no -0
  asi_json_numbers(s->out, row, 17);
}

/// Their lines, along which the page sweeps the sections instead of the shapes from number `shape` on.
static void put_lines(const scene *s) {
  const as_model *m = s->model;
  int shape = s->machine->n_shapes;
  if (m->n_beams == 0 || m->n_stations > MOST_STATIONS) return;
  fputs(",\n\"beams\":[", s->out);
  for (int b = 0; b < m->n_beams; ++b) {
    separate(s, b);
    fputs("{\"name\":", s->out);
    asi_json_text(s->out, as_model_beam_name(m, (as_beam_id){b}));
    const asi_beam_parts *parts = &m->beam[b];
    const asi_station *first = &m->station[parts->station];
    const double thin = length_of(m, parts) / 200.0;
    fprintf(s->out, ",\"shape\":%d,\"round\":%s,\"stations\":[", shape,
            first->round || isnan(first->modulus) ? "true" : "false");
    for (int i = 0; i <= parts->n; ++i) {
      if (i > 0) fputs(",\n", s->out);
      put_station(s, first + i, thin);
    }
    fputs("]}", s->out);
    shape += parts->n + 1;
  }
  fputs("]", s->out);
}

// ---- flexible bodies --------------------------------------------------------------------------------

/// Their meshes, which move with a frame and with elastic coordinates.
static void put_flexibles(scene *s) {
  const as_model *m = s->model;
  int n = 0;
  for (int i = 0; i < m->n_flexibles; ++i) {
    const as_flexible_data *d = m->flexible[i].data;
    const int frame = m->flexible[i].body;
    if (d->triangle_count == 0 || d->coordinate_count == 0) continue;
    for (int k = 0; k < d->mesh_count; ++k) {
      double p[3];
      asi_sum(d->mesh_positions[k], -1.0, d->interface_positions[0], p);
      include_ball(s, frame, p, 0.0);
    }
    fputs(n == 0 ? ",\n\"flexible\":[" : ",", s->out);
    putc('\n', s->out);
    if (!asi_flexible_scene(s->out, as_model_flexible_name(m, (as_flexible_id){i}), frame, d))
      s->no_memory = true;
    ++n;
  }
  if (n > 0) fputs("]", s->out);
}

// ---- frames, joints, forces -------------------------------------------------------------------------

static void put_frames(scene *s) {
  fputs(",\n\"frames\":[", s->out);
  for (int i = 0; i < s->model->n_frames; ++i) {
    const asi_marker *marker = &s->model->frame[i];
    double quaternion[4];
    quaternion_of(marker->frame.axis, quaternion);
    separate(s, i);
    fputs("{\"name\":", s->out);
    asi_json_text(s->out, as_model_frame_name(s->model, (as_frame_id){i}));
    fprintf(s->out, ",\"body\":%d", marker->body);
    put_member(s, "position", marker->frame.p, 3);
    put_member(s, "quaternion", quaternion, 4);
    putc('}', s->out);
    include_ball(s, marker->body, marker->frame.p, 0.0);
  }
  fputs("]", s->out);
}

/// What a joint or a force is drawn from.
typedef struct drawn {
  const char *kind;
  int n; ///< bodies: 1 or 2
  int body[2];
  const double *point[2], *axis;
  bool anywhere; ///< its points say nothing about where the machine is
  bool at_joint; ///< likewise: it is drawn at a joint of its bodies, if there is one
} drawn;

static void put_drawn(scene *s, const char *name, bool inactive, const drawn *d) {
  fputs("{\"name\":", s->out);
  asi_json_text(s->out, name);
  fprintf(s->out, ",\"kind\":\"%s\",\"bodies\":[%d", d->kind, d->body[0]);
  if (d->n == 2) fprintf(s->out, ",%d", d->body[1]);
  fputs("],\"points\":[", s->out);
  for (int i = 0; i < 2 && i < d->n; ++i) {
    if (i > 0) putc(',', s->out);
    asi_json_numbers(s->out, d->point[i], 3);
    if (!d->anywhere) include_ball(s, d->body[i], d->point[i], 0.0);
  }
  putc(']', s->out);
  if (d->axis) put_member(s, "axis", d->axis, 3);
  fputs(inactive ? ",\"inactive\":true}" : "}", s->out);
}

static const double nowhere[3] = {0.0, 0.0, 0.0};

/// An element whose data are not ours: from centre to centre.
static drawn draw_other(const asi_placed *p) {
  drawn d = {.kind = "other",
             .n = p->e.n_bodies < 2 ? 1 : 2,
             .point = {nowhere, nowhere},
             .anywhere = true};
  for (int i = 0; i < 2; ++i) d.body[i] = i < p->e.n_bodies ? p->e.body[i] : ASI_GROUND;
  return d;
}

/// An element as its kind draws it.
static drawn draw_element(const asi_placed *p) {
  drawn d = draw_other(p);
  if (p->descriptor->draw == NULL) return d;
  asi_drawing x;
  p->descriptor->draw(p->data, &x);
  d = (drawn){
      .kind = x.kind, .n = x.n, .axis = x.axis, .anywhere = x.at_joint, .at_joint = x.at_joint};
  for (int i = 0; i < x.n; ++i) {
    d.body[i] = p->e.body[x.body[i]];
    d.point[i] = x.point[i];
  }
  return d;
}

static drawn draw_joint(const asi_placed *p, const asi_joint_info *info) {
  drawn d = draw_element(p);
  if (d.kind == NULL) d.kind = asi_joint_kind_name(info->kind);
  if (info->kind == AS_JOINT_UNIVERSAL) d.axis = ((const asi_joint *)p->data)->frame[0].axis;
  return d;
}

static drawn draw_force(const as_model *m, int force) {
  drawn d = draw_element(&m->element[m->force[force]]);
  for (int i = 0; i < m->n_joints && d.at_joint; ++i) {
    const as_joint_kind kind = m->joint[i].kind;
    if (kind != AS_JOINT_REVOLUTE && kind != AS_JOINT_CYLINDRICAL && kind != AS_JOINT_SPHERICAL)
      continue;
    const drawn joint = draw_joint(&m->element[m->joint[i].element], &m->joint[i]);
    const bool same = joint.body[0] == d.body[0] && joint.body[1] == d.body[1];
    if (!same && (joint.body[0] != d.body[1] || joint.body[1] != d.body[0])) continue;
    for (int k = 0; k < 2; ++k) d.point[k] = joint.point[same ? k : 1 - k];
    return d;
  }
  return d;
}

/// The joints that events release or activate, by the event's name and the joint's number.
static void put_switches(const scene *s) {
  const as_rules *rules = s->machine->rules;
  int n = 0;
  fputs(",\n\"switches\":[", s->out);
  for (int i = 0; rules && i < rules->n; ++i)
    for (int active = 0; active < 2; ++active) {
      const asi_joint_list *list = active ? &rules->rule[i].activate : &rules->rule[i].release;
      for (int k = 0; k < list->n; ++k) {
        separate(s, n++);
        fputs("{\"event\":", s->out);
        asi_json_text(s->out, as_rules_name(rules, i));
        fprintf(s->out, ",\"joint\":%d,\"active\":%s}", list->joint[k].index,
                active ? "true" : "false");
      }
    }
  fputs("]", s->out);
}

// ---- the whole --------------------------------------------------------------------------------------

static void put_sources(const scene *s) {
  fputs(",\n\"model\":[", s->out);
  for (int i = 0; i < s->machine->n_sources; ++i) {
    separate(s, i);
    fputs("{\"path\":", s->out);
    asi_json_text(s->out, s->machine->sources[i].path);
    fputs(",\"text\":", s->out);
    asi_json_text(s->out, s->machine->sources[i].text);
    putc('}', s->out);
  }
  putc(']', s->out);
}

static double longest_side(const scene *s) {
  double size = 0.0;
  for (int i = 0; i < 3; ++i) size = fmax(size, s->high[i] - s->low[i]);
  return size;
}

static void put_scene(scene *s) {
  const as_model *m = s->model;
  fputs("{\"title\":", s->out);
  asi_json_text(s->out, s->machine->title ? s->machine->title : s->machine->sources[0].path);
  fputs(",\n\"description\":", s->out);
  asi_json_text(s->out, s->machine->description);
  put_sources(s);
  fputs(",\n\"scene\":{", s->out);
  put_bodies(s);
  fputs(",\n\"shapes\":[", s->out);
  for (int i = 0; i < s->machine->n_shapes; ++i) put_shape(s, i, &s->machine->shapes[i]);
  put_roads(s, put_wheels(s, put_beams(s)));
  fputs("]", s->out);
  put_lines(s);
  put_flexibles(s);
  put_frames(s);
  fputs(",\n\"joints\":[", s->out);
  for (int i = 0; i < m->n_joints; ++i) {
    const drawn d = draw_joint(&m->element[m->joint[i].element], &m->joint[i]);
    separate(s, i);
    put_drawn(s, as_model_joint_name(m, (as_joint_id){i}), m->joint[i].released, &d);
  }
  fputs("],\n\"forces\":[", s->out);
  for (int i = 0; i < m->n_forces; ++i) {
    const drawn d = draw_force(m, i);
    separate(s, i);
    put_drawn(s, as_model_force_name(m, (as_force_id){i}), false, &d);
  }
  fputs("]", s->out);
  put_switches(s);
  put_member(s, "gravity", m->gravity, 3);
  fputs(",\"size\":", s->out);
  asi_json_number(s->out, longest_side(s));
  fputs("}}\n", s->out);
}

as_status as_scene_text(const as_machine *machine, char **out, as_error *error) {
  size_t size = 0;
  const double most = (double)INFINITY;
  scene s = {.machine = machine,
             .model = machine->model,
             .low = {most, most, most},
             .high = {-most, -most, -most}};
  *out = NULL;
  asi_locale locale;
  const bool is_plain = asi_locale_set_plain(&locale);
  s.out = is_plain ? open_memstream(out, &size) : NULL;
  if (s.out) {
    put_scene(&s);
    s.no_memory = s.no_memory || ferror(s.out);
    if (fclose(s.out) != 0) s.no_memory = true;
  }
  if (is_plain) asi_locale_restore(&locale);
  if (s.out && !s.no_memory) return AS_OK;
  free(*out);
  *out = NULL;
  return asi_fail_memory(error);
}

void as_scene_free(char *text) { free(text); }
