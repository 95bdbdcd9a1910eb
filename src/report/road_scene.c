/// Roads of tyres in a machine's scene: a strip from behind the wheels to where they would get in the time of the run at the speed that
/// they start with, as high as the road is along its middle.
#include "report/road_scene.h"

#include <math.h>

#include "elements/road.h"
#include "elements/tyre.h"
#include "elements/vector.h"
#include "model/look.h"

#define BEHIND 5.0   // [m]
#define AHEAD 20.0   // at least [m]
#define FARTHEST 2e3 // [m]
#define BESIDE 3.0   // [m]
#define PIECE 0.05   // at least, so far as there are points for it [m]

/// The tyre that is force `i`; NULL: it is something else.
static const asi_tyre *tyre_of(const as_model *m, int i) {
  const asi_placed *p = &m->element[m->force[i]];
  return p->e.type == &asi_tyre_type ? p->data : NULL;
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

static void add_wheel(track *t, const as_model *m, int force, const asi_tyre *tyre) {
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = look(m, force, body);
  double C[3];
  asi_rotate(in.body[1]->R, tyre->center, C);
  for (int i = 0; i < 2; ++i) {
    t->middle[i] += in.body[1]->x[i] + C[i];
    t->velocity[i] += in.body[1]->v[i];
  }
  ++t->n;
}

static void see_beside(track *t, const as_model *m, int force, const asi_tyre *tyre) {
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = look(m, force, body);
  double C[3];
  asi_rotate(in.body[1]->R, tyre->center, C);
  const double x = in.body[1]->x[0] + C[0] - t->middle[0];
  const double y = in.body[1]->x[1] + C[1] - t->middle[1];
  t->beside = fmax(t->beside, fabs(x * t->way[1] - y * t->way[0]));
}

static track find_track(const as_model *m, const asi_tyre *of) {
  track t = {.n = 0};
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_tyre *tyre = tyre_of(m, i);
    if (tyre && tyre->road.curve == of->road.curve) add_wheel(&t, m, i, tyre);
  }
  for (int i = 0; i < 2; ++i) {
    t.middle[i] /= t.n;
    t.velocity[i] /= t.n;
  }
  const double speed = hypot(t.velocity[0], t.velocity[1]);
  for (int i = 0; i < 2; ++i) t.way[i] = speed > 0.0 ? t.velocity[i] / speed : i == 0;
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_tyre *tyre = tyre_of(m, i);
    if (tyre && tyre->road.curve == of->road.curve) see_beside(&t, m, i, tyre);
  }
  return t;
}

static bool is_drawn(const as_machine *machine, int force, const asi_tyre *tyre) {
  for (int i = 0; i < machine->n_shapes; ++i)
    if (machine->shapes[i].body.index < 0 && machine->shapes[i].kind == AS_SHAPE_STRIP) return true;
  for (int i = 0; i < force; ++i) {
    const asi_tyre *other = tyre_of(machine->model, i);
    if (other && other->road.curve == tyre->road.curve) return true;
  }
  return false;
}

bool asi_road_shape(const as_machine *machine, int force, as_shape *out, double *points) {
  const as_model *m = machine->model;
  const asi_tyre *tyre = tyre_of(m, force);
  if (tyre == NULL || is_drawn(machine, force, tyre)) return false;
  const track t = find_track(m, tyre);
  const double speed = hypot(t.velocity[0], t.velocity[1]), t_end = machine->simulation.t_end;
  const double ahead = fmin(fmax(AHEAD, isnan(t_end) ? 0.0 : speed * t_end), FARTHEST);
  const bool plane = asi_road_is_plane(tyre->road.curve);
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
    if (asi_road_height(tyre->road.curve, &in, point[0], point[1], false, z))
      continue; // none there
    point[2] = z[0];
    ++out->n_points;
  }
  return out->n_points > 1;
}
