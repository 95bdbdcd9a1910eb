/// Adds tyres to a builder, and says how a tyre of a model touches its road.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/tyre.h"
#include "elements/vector.h"
#include "model/add_force.h"
#include "model/look.h"

as_tyre_def as_default_tyre_def(void) {
  const double none = (double)NAN;
  return (as_tyre_def){.cookie = ASI_COOKIE(as_tyre_def),
                       .frame = AS_NO_FRAME,
                       .body = AS_NO_BODY,
                       .center = {none, none, none},
                       .road = AS_NO_ROAD,
                       .steady = -1};
}

// ---- what is wrong with a tyre ----------------------------------------------------------------------

static as_status fail_number(const char *key, double x, const char *must, const char *name,
                             as_error *error) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "%s of the tyre \"%s\" is %g; it must be %s.", key, name, x, must);
}

static as_status check_tyre(const as_tyre *t, bool steady, const char *name, as_error *error) {
  const struct {
    const char *key;
    double x;
  } positive[] = {{"UNLOADED_RADIUS", t->UNLOADED_RADIUS},
                  {"VERTICAL_STIFFNESS", t->VERTICAL_STIFFNESS},
                  {"FNOMIN", t->FNOMIN},
                  {"LFZO", t->LFZO},
                  {"LONGVL", t->LONGVL},
                  {"VXLOW", t->VXLOW}},
    other[] = {{"PCX1", t->PCX1}, {"PDX1", t->PDX1}, {"PKX1", t->PKX1}, {"PCY1", t->PCY1},
               {"PDY1", t->PDY1}, {"PKY1", t->PKY1}, {"PKY2", t->PKY2}};
  for (size_t i = 0; i < sizeof positive / sizeof positive[0]; ++i)
    if (!(positive[i].x > 0.0 && isfinite(positive[i].x)))
      return fail_number(positive[i].key, positive[i].x, "a positive number", name, error);
  for (size_t i = 0; i < sizeof other / sizeof other[0]; ++i)
    if (!(other[i].x != 0.0 && isfinite(other[i].x)))
      return fail_number(other[i].key, other[i].x, "a number that is not zero", name, error);
  if (!(t->FZMAX > 0.0)) return fail_number("FZMAX", t->FZMAX, "positive", name, error);
  if (!(t->VERTICAL_DAMPING >= 0.0))
    return fail_number("VERTICAL_DAMPING", t->VERTICAL_DAMPING, "zero or positive", name, error);
  const double lag[3] = {t->PTX1, t->PTY1, t->PTY2};
  for (int i = 0; i < 3 && !steady; ++i)
    if (!isfinite(lag[i]) || (i == 2 && lag[i] == 0.0))
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, name,
          "The tyre \"%s\" needs its relaxation lengths, PTX1, PTY1 and PTY2, unless it "
          "is in steady state (\"slip: steady\").",
          name);
  if (!(t->mode >= 0 && t->mode <= 4))
    return fail_number("USE_MODE", t->mode, "0 to 4", name, error);
  return AS_OK;
}

// ---- where it is ------------------------------------------------------------------------------------

/// The wheel, the centre and the spin axis in it.
static as_status find_wheel(const as_builder *b, const as_tyre_def *def, const char *name,
                            asi_tyre *data, int *body, as_error *error) {
  double axes[9], axis[3], center[3];
  const double any[3] = {0};
  asi_copy(def->axis, axis);
  asi_copy(def->center, center);
  const bool given = def->frame.index != ASI_NONE;
  if (!given && def->body.index == ASI_NONE)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The tyre \"%s\" has no wheel.",
                    name);
  if (!asi_triad(axis, 1, any, 0, axes) && !given)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The axis of the tyre \"%s\" is not finite.", name);
  const as_status there =
      given ? AS_OK : asi_builder_check_body(b, def->body, ASI_SORT_FORCE, name, error);
  if (there) return there;
  if (isnan(center[0]) && isnan(center[1]) && isnan(center[2]) && !given)
    asi_copy(asi_builder_pose(b, def->body.index)->x, center);
  const asi_side_def side = {def->frame, def->body, center, axes};
  asi_marker wheel;
  const as_status status = asi_builder_side(b, &side, ASI_SORT_FORCE, name, &wheel, error);
  if (status) return status;
  *body = wheel.body;
  if (wheel.body < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The wheel of the tyre \"%s\" is the ground: it must be a body that turns.",
                    name);
  if (wheel.moving)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, name,
                    "The tyre \"%s\" is on a frame that moves against its body; fix a body to that "
                    "frame.",
                    name);
  asi_copy(wheel.frame.p, data->center);
  asi_copy(wheel.frame.axis + 3, data->axis);
  return asi_check_axes(b, wheel.body, name, error);
}

static as_status find_road(const as_builder *b, const as_tyre_def *def, const char *name,
                           asi_tyre *data, as_error *error) {
  data->road = (asi_curve_ref){-1, NULL};
  if (def->road.index == ASI_NONE) return AS_OK;
  if (def->road.index < 0 || def->road.index >= b->n_roads)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The tyre \"%s\" is on road %d, which is not there.", name, def->road.index);
  data->road.index = b->road[def->road.index];
  return AS_OK;
}

static as_status take(const as_builder *b, const as_tyre_def *def, const char *name, asi_tyre *data,
                      int *body, as_error *error) {
  if (def->tyre == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The tyre \"%s\" has no coefficients.", name);
  as_status status = ASI_CHECK_DEFINITION(as_tyre, def->tyre, error);
  if (status) return status;
  data->tyre = *def->tyre;
  data->crown = def->crown_radius;
  data->steady = def->steady < 0 ? def->tyre->steady : def->steady != 0;
  const int measured = def->tyre->measured_right ? -1 : 1;
  data->side = def->side == 0 || def->side == measured ? 1.0 : -1.0;
  status = check_tyre(def->tyre, data->steady, name, error);
  if (status) return status;
  if (!(def->side >= -1 && def->side <= 1))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The side of the tyre \"%s\" is %d; it must be 1 (left), -1 (right) or 0.",
                    name, def->side);
  if (!(def->crown_radius >= 0.0 && def->crown_radius < def->tyre->UNLOADED_RADIUS))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The crown radius of the tyre \"%s\" is %g m; it must be less than its radius "
                    "of %g m.",
                    name, def->crown_radius, def->tyre->UNLOADED_RADIUS);
  status = find_wheel(b, def, name, data, body, error);
  return status ? status : find_road(b, def, name, data, error);
}

as_status as_builder_add_tyre(as_builder *b, const as_tyre_def *def, as_force_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_tyre_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_tyre, road)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_tyre data = {.steady = false};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_tyre_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = 1,
                         .mark = asi_builder_mark(b)};
  const as_status status = take(b, def, name, &data, &force.element.body[1], error);
  if (status) return status;
  force.element.body[0] = ASI_GROUND;
  force.element.n_states = force.flags.n_states = data.steady ? 0 : ASI_TYRE_STATES;
  for (int i = 6; i < ASI_PAIR; ++i)
    for (int j = 6; j < ASI_PAIR; ++j)
      force.flags.f_q[ASI_PAIR * i + j] = force.flags.f_v[ASI_PAIR * i + j] = true;
  return asi_builder_force(b, &force, id, error);
}

// ---- how it touches ---------------------------------------------------------------------------------

bool as_model_is_tyre(const as_model *m, as_force_id force) {
  return force.index >= 0 && force.index < m->n_forces &&
         m->element[m->force[force.index]].e.type == &asi_tyre_type;
}

as_status as_model_tyre(const as_model *m, const as_state *state, as_force_id force,
                        as_tyre_contact *out, as_error *error) {
  if (!as_model_is_tyre(m, force))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "Force %d is no tyre.", force.index);
  const int element = m->force[force.index];
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = asi_look(m, state, &m->element[element], body);
  if (asi_tyre_look(m->element[element].data, &in, out))
    return asi_fail_element(m, element, state, error);
  return AS_OK;
}
