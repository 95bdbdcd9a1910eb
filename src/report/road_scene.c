/// Roads of tyres in a machine's scene: a strip from behind the wheels to where they would get in the time of the run at the speed that
/// they start with, as high as the road is along its middle.
#include "report/road_scene.h"

#include <math.h>

#include "elements/road.h"
#include "elements/vector.h"
#include "model/look.h"

#define BEHIND 5.0   // [m]
#define AHEAD 20.0   // at least [m]
#define FARTHEST 2e3 // [m]
#define BESIDE 3.0   // [m]
#define PIECE 0.05   // at least, so far as there are points for it [m]

/// The wheel of force `i`; whether it has one on a road.
static bool find_wheel(const as_model *m, int i, asi_wheel *out) {
  const asi_placed *p = &m->element[m->force[i]];
  asi_drawing d = {.n = 0};
  if (p->descriptor->draw) p->descriptor->draw(p->data, &d);
  *out = d.wheel;
  return out->on_road;
}

static as_element_input look(const as_model *m, int force, as_body_motion body[AS_ELEMENT_BODIES]) {
  const as_initial *start = as_model_initial(m);
  const as_state state = {
      .t = start->t, .q = start->q, .v = start->v, .x = start->x, .y = start->y};
  return asi_look(m, &state, &m->element[m->force[force]], body);
}

/// Where the tyres of a road are at the start, and where they go.
typedef struct track {
  int n;
  double middle[2], velocity[2];
  double way[2]; ///< direction
  double beside; ///< how far the outermost is from the middle
} track;

static void add_wheel(track *t, const as_model *m, int force, const asi_wheel *wheel) {
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = look(m, force, body);
  double C[3];
  asi_rotate(in.body[wheel->body]->R, wheel->center, C);
  for (int i = 0; i < 2; ++i) {
    t->middle[i] += in.body[wheel->body]->x[i] + C[i];
    t->velocity[i] += in.body[wheel->body]->v[i];
  }
  ++t->n;
}

static void see_beside(track *t, const as_model *m, int force, const asi_wheel *wheel) {
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = look(m, force, body);
  double C[3];
  asi_rotate(in.body[wheel->body]->R, wheel->center, C);
  const double x = in.body[wheel->body]->x[0] + C[0] - t->middle[0];
  const double y = in.body[wheel->body]->x[1] + C[1] - t->middle[1];
  t->beside = fmax(t->beside, fabs(x * t->way[1] - y * t->way[0]));
}

static track find_track(const as_model *m, const asi_wheel *of) {
  track t = {.n = 0};
  for (int i = 0; i < m->n_forces; ++i) {
    asi_wheel wheel;
    if (find_wheel(m, i, &wheel) && wheel.road == of->road) add_wheel(&t, m, i, &wheel);
  }
  for (int i = 0; i < 2; ++i) {
    t.middle[i] /= t.n;
    t.velocity[i] /= t.n;
  }
  const double speed = hypot(t.velocity[0], t.velocity[1]);
  for (int i = 0; i < 2; ++i) t.way[i] = speed > 0.0 ? t.velocity[i] / speed : i == 0;
  for (int i = 0; i < m->n_forces; ++i) {
    asi_wheel wheel;
    if (find_wheel(m, i, &wheel) && wheel.road == of->road) see_beside(&t, m, i, &wheel);
  }
  return t;
}

static bool is_drawn(const as_machine *machine, int force, const asi_wheel *wheel) {
  for (int i = 0; i < machine->n_shapes; ++i)
    if (machine->shapes[i].body.index < 0 && machine->shapes[i].kind == AS_SHAPE_STRIP) return true;
  for (int i = 0; i < force; ++i) {
    asi_wheel other;
    if (find_wheel(machine->model, i, &other) && other.road == wheel->road) return true;
  }
  return false;
}

bool asi_road_shape(const as_machine *machine, int force, as_shape *out, double *points) {
  const as_model *m = machine->model;
  asi_wheel wheel;
  if (!find_wheel(m, force, &wheel) || is_drawn(machine, force, &wheel)) return false;
  const track t = find_track(m, &wheel);
  const double speed = hypot(t.velocity[0], t.velocity[1]), t_end = machine->simulation.t_end;
  const double ahead = fmin(fmax(AHEAD, isnan(t_end) ? 0.0 : speed * t_end), FARTHEST);
  const bool plane = asi_road_is_plane(wheel.road);
  const int pieces = plane ? 1 : (int)fmin(ASI_ROAD_POINTS - 1, ceil((BEHIND + ahead) / PIECE));
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = look(m, force, body);
  *out = (as_shape){.kind = AS_SHAPE_STRIP,
                    .body = AS_GROUND,
                    .quaternion = {1.0, 0.0, 0.0, 0.0},
                    .width = 2.0 * (t.beside + BESIDE),
                    .points = points,
                    .color = {0.45, 0.46, 0.48, 1.0}};
  for (int i = 0; i <= pieces; ++i) {
    const double s = -BEHIND + (BEHIND + ahead) * i / pieces;
    double z[6], *point = points + 3 * (ptrdiff_t)out->n_points;
    for (int k = 0; k < 2; ++k) point[k] = t.middle[k] + s * t.way[k];
    if (asi_road_height(wheel.road, &in, point[0], point[1], false, z)) continue; // none there
    point[2] = z[0];
    ++out->n_points;
  }
  return out->n_points > 1;
}
