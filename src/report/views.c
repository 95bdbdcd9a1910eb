/// Drawings, see views.h.
///
/// A shape becomes the convex outline of its projected points: corners of a box, rims of a cylinder, corners of the
/// box around a mesh; that of a flexible body moves with its frame. Those farther away are drawn first. A body without
/// shapes is a dot at its centre of mass, with lines to its joints.
#include "report/views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "lie/rotation.h"

enum {
  SIZE = 232,   ///< longest side of a drawing, in pixels
  MARGIN = 12,  ///< around it
  RIM = 16,     ///< points of a circle
  LARGEST = 96, ///< points of an outline that is not a mesh's
};

/// Which world axes point right, up and towards the eye: sign and number from 1.
static const struct {
  const char *name;
  int right, up, near;
} views[ASI_VIEWS] = {{"the front (x to the right, z up)", 1, 3, -2},
                      {"the side (y to the right, z up)", 2, 3, 1},
                      {"above (x to the right, y up)", 1, 2, 3}};

struct asi_drawing {
  const asi_value *bodies, *shapes, *flexible, *joints, *forces;
  const asi_snapshot *snapshots;
  int n, n_bodies;
  double low[3], high[3]; ///< of everything that is drawn
  double (*origin)[3];    ///< of each snapshot: the point that comes where the world's origin would
  bool *has_shape;        ///< of each body
};

const char *asi_view_name(int view) { return views[view].name; }

// ---- numbers of the scene ---------------------------------------------------------------------------

static double number_of(const asi_value *v) { return v && v->type == ASI_NUMBER ? v->number : 0.0; }

static void numbers_of(const asi_value *list, int n, double *out) {
  for (int i = 0; i < n; ++i)
    out[i] = list && list->type == ASI_LIST && i < list->count ? number_of(list->item[i]) : 0.0;
}

static int body_of(const asi_drawing *d, const asi_value *v) {
  const double number = v ? number_of(v) : -1.0;
  return number >= 0.0 && number < d->n_bodies ? (int)number : -1;
}

static int count_of(const asi_value *list) {
  return list && list->type == ASI_LIST ? list->count : 0;
}

/// Shapes, and behind them flexible bodies.
static int shape_count(const asi_drawing *d) { return count_of(d->shapes) + count_of(d->flexible); }

static const asi_value *shape_of(const asi_drawing *d, int i) {
  const int n = count_of(d->shapes);
  return i < n ? d->shapes->item[i] : d->flexible->item[i - n];
}

// ---- points in the world ----------------------------------------------------------------------------

static void to_world(const asi_drawing *d, int snapshot, int body, const double *p, double *out) {
  if (body < 0) {
    memcpy(out, p, 3 * sizeof(double));
    return;
  }
  const double *pose = d->snapshots[snapshot].poses + 7 * (ptrdiff_t)body;
  asi_so3_rotate(pose + 3, p, out);
  asi_add(1.0, pose, out);
}

/// A joint's or a force's point number i in the world; false if it has none.
static bool point_of(const asi_drawing *d, int snapshot, const asi_value *thing, int i,
                     double *out) {
  const asi_value *points = asi_value_get(thing, "points"),
                  *bodies = asi_value_get(thing, "bodies");
  double p[3];
  if (i >= count_of(points) || i >= count_of(bodies)) return false;
  numbers_of(points->item[i], 3, p);
  to_world(d, snapshot, body_of(d, bodies->item[i]), p, out);
  return true;
}

/// The points of a shape that its outline goes around, in the shape's frame.
typedef struct cloud {
  int n;
  double p[LARGEST][3];
} cloud;

static void add_point(cloud *c, double x, double y, double z) {
  if (c->n < LARGEST) asi_set(x, y, z, c->p[c->n++]);
}

static void add_rim(cloud *c, double radius, double z) {
  for (int i = 0; i < RIM; ++i) {
    const double angle = 2.0 * acos(-1.0) * i / RIM;
    add_point(c, radius * cos(angle), radius * sin(angle), z);
  }
}

/// Rims on a half ball, from its equator up; `side` is 1 or -1.
static void add_cap(cloud *c, double radius, double z, int side) {
  add_rim(c, radius, z);
  add_rim(c, 0.7 * radius, z + 0.714 * side * radius);
  add_point(c, 0.0, 0.0, z + side * radius);
}

static void add_box(cloud *c, const double *size) {
  for (int i = 0; i < 8; ++i)
    add_point(c, (i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
              (i & 4 ? 0.5 : -0.5) * size[2]);
}

static cloud cloud_of(const asi_value *shape) {
  cloud c = {.n = 0};
  const asi_value *kind = asi_value_get(shape, "kind");
  const char *name = kind && kind->type == ASI_TEXT ? kind->text : "";
  const double radius = number_of(asi_value_get(shape, "radius"));
  const double half = 0.5 * number_of(asi_value_get(shape, "length"));
  double size[3];
  numbers_of(asi_value_get(shape, "size"), 3, size);
  if (strcmp(name, "box") == 0) add_box(&c, size);
  if (strcmp(name, "cylinder") == 0 || strcmp(name, "wheel") == 0 || strcmp(name, "cone") == 0) {
    add_rim(&c, radius, -half);
    add_rim(&c, name[1] == 'o' ? number_of(asi_value_get(shape, "top")) : radius, half);
  }
  if (strcmp(name, "sphere") == 0 || strcmp(name, "capsule") == 0) {
    add_cap(&c, radius, -half, -1);
    add_cap(&c, radius, half, 1);
  }
  const asi_value *bounds = asi_value_get(shape, "bounds"); // of a mesh
  if (bounds) {
    double box[6];
    numbers_of(bounds, 6, box);
    for (int i = 0; i < 8; ++i)
      add_point(&c, box[i & 1 ? 3 : 0], box[i & 2 ? 4 : 1], box[i & 4 ? 5 : 2]);
  }
  return c;
}

static void place_point(const asi_drawing *d, int snapshot, const asi_value *shape, const double *p,
                        double *out) {
  double position[3], quaternion[4], in_body[3];
  numbers_of(asi_value_get(shape, "position"), 3, position);
  numbers_of(asi_value_get(shape, "quaternion"), 4,
             quaternion); // of a flexible body: 0, turns nothing
  asi_so3_rotate(quaternion, p, in_body);
  asi_add(1.0, position, in_body);
  to_world(d, snapshot, body_of(d, asi_value_get(shape, "body")), in_body, out);
}

// ---- bounds -----------------------------------------------------------------------------------------

static void include_point(asi_drawing *d, const double *x) {
  if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) return; // it has left
  for (int i = 0; i < 3; ++i) {
    d->low[i] = fmin(d->low[i], x[i]);
    d->high[i] = fmax(d->high[i], x[i]);
  }
}

static bool is_kind(const asi_value *thing, const char *name) {
  const asi_value *kind = asi_value_get(thing, "kind");
  return kind && kind->type == ASI_TEXT && strcmp(kind->text, name) == 0;
}

static void include_things(asi_drawing *d, int snapshot, const asi_value *things) {
  double x[3];
  for (int i = 0; i < count_of(things); ++i) {
    const asi_value *thing = things->item[i];
    if (is_kind(thing, "torsion") || is_kind(thing, "other")) continue; // these are anywhere
    for (int k = 0; k < 2; ++k)
      if (point_of(d, snapshot, thing, k, x)) include_point(d, x);
  }
}

/// A floor or a road is drawn as far as it goes into the picture.
static bool is_ground(const asi_drawing *d, const asi_value *shape) {
  return d->n_bodies > 0 && body_of(d, asi_value_get(shape, "body")) < 0;
}

static void include_shape(asi_drawing *d, int snapshot, const asi_value *shape) {
  const asi_value *points = asi_value_get(shape, "points");
  const cloud c = cloud_of(shape);
  double p[3], x[3];
  for (int i = 0; i < c.n; ++i) {
    place_point(d, snapshot, shape, c.p[i], x);
    include_point(d, x);
  }
  for (int i = 0; i < count_of(points); ++i) {
    numbers_of(points->item[i], 3, p);
    place_point(d, snapshot, shape, p, x);
    include_point(d, x);
  }
}

static void include_snapshot(asi_drawing *d, int s, bool bodies_only) {
  for (int b = 0; b < d->n_bodies; ++b) include_point(d, d->snapshots[s].poses + 7 * (ptrdiff_t)b);
  for (int i = 0; i < shape_count(d); ++i)
    if (!is_ground(d, shape_of(d, i))) include_shape(d, s, shape_of(d, i));
  if (bodies_only) return;
  include_things(d, s, d->joints);
  include_things(d, s, d->forces);
}

static void begin_bounds(asi_drawing *d) {
  for (int i = 0; i < 3; ++i) {
    d->low[i] = (double)INFINITY;
    d->high[i] = -(double)INFINITY;
  }
}

static double longest_side(const asi_drawing *d) {
  double longest = 0.0;
  for (int i = 0; i < 3; ++i)
    if (d->low[i] <= d->high[i]) longest = fmax(longest, d->high[i] - d->low[i]);
  return longest;
}

/// Bounds of what is drawn. A machine that goes far is drawn where it is in each snapshot, all of one size.
static void find_bounds(asi_drawing *d) {
  double longest = 0.0, half[3] = {0.0, 0.0, 0.0}, middle[3];
  bool known = d->n > 0;
  for (int s = 0; s < d->n; ++s) {
    begin_bounds(d);
    include_snapshot(d, s, true);
    longest = fmax(longest, longest_side(d));
    for (int i = 0; i < 3; ++i) {
      known = known && d->low[i] <= d->high[i];
      d->origin[s][i] = 0.5 * d->low[i] + 0.5 * d->high[i];
      half[i] = fmax(half[i], 0.6 * (d->high[i] - d->low[i]));
    }
  }
  begin_bounds(d);
  for (int s = 0; s < d->n; ++s) include_snapshot(d, s, false);
  if (known && longest_side(d) > 3.0 * longest) {
    for (int i = 0; i < 3; ++i) {
      middle[i] = fmax(half[i], 0.15 * longest);
      d->low[i] = -middle[i];
      d->high[i] = middle[i];
    }
    return;
  }
  memset(d->origin, 0, (size_t)d->n * sizeof *d->origin);
  // The ground where it is not far larger than the machine: a base, but not a road.
  const asi_drawing before = *d;
  for (int i = 0; i < shape_count(d); ++i)
    if (is_ground(d, shape_of(d, i))) include_shape(d, 0, shape_of(d, i));
  if (longest_side(d) > 3.0 * longest_side(&before)) *d = before;
  for (int i = 0; i < 3; ++i)
    if (!(d->low[i] <= d->high[i])) d->low[i] = d->high[i] = 0.0;
}

asi_drawing *asi_drawing_create(const asi_value *scene, const asi_snapshot *snapshots, int n,
                                int bodies) {
  asi_drawing *d = asi_calloc(1, sizeof *d);
  bool *has_shape = asi_calloc((size_t)bodies, sizeof *has_shape);
  double(*origin)[3] = asi_calloc((size_t)n + 1, sizeof *origin);
  if (d == NULL || has_shape == NULL || origin == NULL) {
    free(d);
    free(has_shape);
    free(origin);
    return NULL;
  }
  *d = (asi_drawing){.bodies = asi_value_get(scene, "bodies"),
                     .shapes = asi_value_get(scene, "shapes"),
                     .flexible = asi_value_get(scene, "flexible"),
                     .joints = asi_value_get(scene, "joints"),
                     .forces = asi_value_get(scene, "forces"),
                     .snapshots = snapshots,
                     .n = n,
                     .n_bodies = bodies,
                     .origin = origin,
                     .has_shape = has_shape};
  for (int i = 0; i < shape_count(d); ++i) {
    const int body = body_of(d, asi_value_get(shape_of(d, i), "body"));
    if (body >= 0) has_shape[body] = true;
  }
  find_bounds(d);
  return d;
}

void asi_drawing_destroy(asi_drawing *drawing) {
  if (drawing) {
    free(drawing->has_shape);
    free(drawing->origin);
  }
  free(drawing);
}

// ---- drawing ----------------------------------------------------------------------------------------

/// One drawing: its view and scale.
typedef struct sheet {
  const asi_drawing *d;
  FILE *out;
  int snapshot, view;
  double scale; ///< pixels per metre
} sheet;

static double along(int axis, const double *x) { return axis > 0 ? x[axis - 1] : -x[-axis - 1]; }

/// Where a point of the world is on the sheet; false: nowhere.
static bool project(const sheet *s, const double *x, double out[2]) {
  const int right = views[s->view].right - 1, up = views[s->view].up - 1;
  const double *origin = s->d->origin[s->snapshot];
  out[0] = MARGIN + s->scale * (x[right] - origin[right] - s->d->low[right]);
  out[1] = MARGIN + s->scale * (s->d->high[up] - (x[up] - origin[up]));
  return isfinite(out[0]) && isfinite(out[1]);
}

static int by_place(const void *a, const void *b) {
  const double *p = a, *q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

static double turn(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Andrew's monotone chain: sorts the points, writes the convex outline to `hull` (room for 2 n), returns its length.
static int outline(double (*p)[2], int n, double (*hull)[2]) {
  int size = 0;
  qsort(p, (size_t)n, sizeof *p, by_place);
  for (int pass = 0; pass < 2; ++pass) {
    const int first = size;
    for (int k = 0; k < n; ++k) {
      const double *at = p[pass == 0 ? k : n - 1 - k];
      while (size - first >= 2 && turn(hull[size - 2], hull[size - 1], at) <= 0.0) --size;
      memcpy(hull[size++], at, sizeof *hull);
    }
    --size; // the last point begins the other half
  }
  return size;
}

/// The colour and the dashes of a strip.
static void put_stroke(const sheet *s, const asi_value *shape) {
  const asi_value *color = asi_value_get(shape, "color"), *dash = asi_value_get(shape, "dash");
  double c[3] = {0.63, 0.64, 0.67}, pieces[2];
  if (count_of(color) >= 3) numbers_of(color, 3, c);
  fprintf(s->out, " stroke=\"#%02x%02x%02x\"", (unsigned)lrint(255.0 * fmin(fmax(c[0], 0.0), 1.0)),
          (unsigned)lrint(255.0 * fmin(fmax(c[1], 0.0), 1.0)),
          (unsigned)lrint(255.0 * fmin(fmax(c[2], 0.0), 1.0)));
  numbers_of(dash, 2, pieces);
  if (count_of(dash) == 2)
    fprintf(s->out, " stroke-dasharray=\"%.2f %.2f\"", s->scale * pieces[0], s->scale * pieces[1]);
}

static void put_color(const sheet *s, const asi_value *shape, int body) {
  static const char *const colors[] = {"#6c8ebf", "#d79b4e", "#7aa874", "#b07aa1",
                                       "#c26a66", "#5fa8a8", "#a08c5b", "#8f93a2"};
  const asi_value *color = asi_value_get(shape, "color");
  if (count_of(color) >= 3) {
    double c[3];
    numbers_of(color, 3, c);
    fprintf(s->out, " fill=\"#%02x%02x%02x\"", (unsigned)lrint(255.0 * fmin(fmax(c[0], 0.0), 1.0)),
            (unsigned)lrint(255.0 * fmin(fmax(c[1], 0.0), 1.0)),
            (unsigned)lrint(255.0 * fmin(fmax(c[2], 0.0), 1.0)));
  } else {
    fprintf(s->out, " fill=\"%s\"", body < 0 ? "#a0a4ab" : colors[body % 8]);
  }
}

static void put_outline(const sheet *s, const asi_value *shape, const cloud *c) {
  double flat[LARGEST][2], hull[2 * LARGEST][2], x[3];
  for (int i = 0; i < c->n; ++i) {
    place_point(s->d, s->snapshot, shape, c->p[i], x);
    if (!project(s, x, flat[i])) return;
  }
  const int n = outline(flat, c->n, hull);
  fputs("<path class=\"shape\"", s->out);
  put_color(s, shape, body_of(s->d, asi_value_get(shape, "body")));
  fputs(" d=\"", s->out);
  for (int i = 0; i < n; ++i)
    fprintf(s->out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', hull[i][0], hull[i][1]);
  fputs("Z\"/>\n", s->out);
}

/// A flat strip is as wide as it is where it is seen from above, its z up.
static double width_of(const sheet *s, const asi_value *shape) {
  const double origin[3] = {0.0, 0.0, 0.0}, z[3] = {0.0, 0.0, 1.0};
  double at[3], up[3];
  place_point(s->d, s->snapshot, shape, origin, at);
  place_point(s->d, s->snapshot, shape, z, up);
  asi_add(-1.0, at, up);
  return number_of(asi_value_get(shape, "width")) * fabs(along(views[s->view].near, up));
}

static void put_polyline(const sheet *s, const asi_value *shape) {
  const asi_value *points = asi_value_get(shape, "points");
  const bool strip = is_kind(shape, "strip");
  const double thick = strip ? width_of(s, shape) : 2.0 * number_of(asi_value_get(shape, "radius"));
  if (count_of(points) < 2) return;
  fprintf(s->out, "<path class=\"%s\" stroke-width=\"%.1f\"", strip ? "strip" : "line",
          fmax(s->scale * thick, 1.2));
  if (strip) put_stroke(s, shape);
  fputs(" d=\"", s->out);
  for (int i = 0; i < points->count; ++i) {
    double p[3], x[3], at[2];
    numbers_of(points->item[i], 3, p);
    place_point(s->d, s->snapshot, shape, p, x);
    if (project(s, x, at)) fprintf(s->out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', at[0], at[1]);
  }
  fputs("\"/>\n", s->out);
}

/// A shape and how near it is.
typedef struct layer {
  double near;
  int number; ///< a later one lies on an earlier one at the same height
  const asi_value *shape;
} layer;

static int by_nearness(const void *a, const void *b) {
  const layer *p = a, *q = b;
  if (p->near == q->near) return (p->number > q->number) - (p->number < q->number);
  return p->near < q->near ? -1 : 1;
}

static void put_shapes(const sheet *s) {
  const int n = shape_count(s->d);
  const double origin[3] = {0.0, 0.0, 0.0};
  layer *layers = asi_calloc((size_t)n, sizeof *layers);
  if (layers == NULL) return;
  for (int i = 0; i < n; ++i) {
    double x[3];
    layers[i].shape = shape_of(s->d, i);
    layers[i].number = i;
    place_point(s->d, s->snapshot, layers[i].shape, origin, x);
    layers[i].near = along(views[s->view].near, x);
  }
  qsort(layers, (size_t)n, sizeof *layers, by_nearness);
  for (int i = 0; i < n; ++i) {
    const cloud c = cloud_of(layers[i].shape);
    if (c.n > 0)
      put_outline(s, layers[i].shape, &c);
    else
      put_polyline(s, layers[i].shape);
  }
  free(layers);
}

static void put_line(const sheet *s, const char *class, const double *from, const double *to) {
  double a[2], b[2];
  if (!project(s, from, a) || !project(s, to, b)) return;
  fprintf(s->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, a[0], a[1], b[0],
          b[1]);
}

static void put_dot(const sheet *s, const char *class, const double *x, double radius) {
  double at[2];
  if (!project(s, x, at)) return;
  fprintf(s->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", class, at[0],
          at[1], radius);
}

/// Lines from the centres of bodies without shapes to their joints.
static void put_sticks(const sheet *s) {
  for (int i = 0; i < count_of(s->d->joints); ++i) {
    const asi_value *joint = s->d->joints->item[i], *bodies = asi_value_get(joint, "bodies");
    for (int k = 0; k < count_of(bodies); ++k) {
      const int body = body_of(s->d, bodies->item[k]);
      double x[3];
      if (body < 0 || s->d->has_shape[body] || !point_of(s->d, s->snapshot, joint, k, x)) continue;
      put_line(s, "stick", s->d->snapshots[s->snapshot].poses + 7 * (ptrdiff_t)body, x);
    }
  }
  for (int b = 0; b < s->d->n_bodies; ++b)
    if (!s->d->has_shape[b])
      put_dot(s, "center", s->d->snapshots[s->snapshot].poses + 7 * (ptrdiff_t)b, 3.5);
}

static void put_joints_and_springs(const sheet *s) {
  double a[3], b[3];
  for (int i = 0; i < count_of(s->d->forces); ++i) {
    const asi_value *force = s->d->forces->item[i];
    if (!is_kind(force, "spring") && !is_kind(force, "actuator")) continue;
    if (point_of(s->d, s->snapshot, force, 0, a) && point_of(s->d, s->snapshot, force, 1, b))
      put_line(s, "spring", a, b);
  }
  for (int i = 0; i < count_of(s->d->joints); ++i)
    if (point_of(s->d, s->snapshot, s->d->joints->item[i], 1, b)) put_dot(s, "joint", b, 2.2);
}

void asi_drawing_write(const asi_drawing *d, FILE *out, int snapshot, int view) {
  double longest = 1e-9;
  for (int i = 0; i < 3; ++i) longest = fmax(longest, d->high[i] - d->low[i]);
  const sheet s = {d, out, snapshot, view, SIZE / longest};
  const int right = views[view].right - 1, up = views[view].up - 1;
  const double width = 2 * MARGIN + s.scale * (d->high[right] - d->low[right]);
  const double height = 2 * MARGIN + s.scale * (d->high[up] - d->low[up]);
  fprintf(out,
          "<svg class=\"view\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
          "role=\"img\" aria-label=\"the machine, view from %s, t = %.6g s\">\n",
          width, height, width, height, views[view].name, d->snapshots[snapshot].t);
  put_shapes(&s);
  put_sticks(&s);
  put_joints_and_springs(&s);
  fputs("</svg>", out);
}
