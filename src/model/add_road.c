/// Adds roads to a builder. A road is kept as a curve, so that elements refer to it and builders and models copy it as they do
/// curves.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/road.h"
#include "elements/surface.h"
#include "elements/vector.h"
#include "expression/operation.h"
#include "model/scope.h"

as_road_def as_default_road_def(void) {
  return (as_road_def){.cookie = ASI_COOKIE(as_road_def),
                       .normal = {0.0, 0.0, 1.0},
                       .roughness = (double)NAN,
                       .waviness = 2.0,
                       .track = 1.6,
                       .seed = 12345,
                       .ramp = 20.0,
                       .height = (double)NAN,
                       .length = (double)NAN};
}

static as_status fail_number(const char *what, double x, const char *must, const char *name,
                             as_error *error) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The %s of the road \"%s\" is %g; it must be %s.", what, name, x, must);
}

static as_status check_rough(const as_road_def *def, const char *name, as_error *error) {
  if (!(def->roughness > 0.0 && isfinite(def->roughness)))
    return fail_number("roughness", def->roughness, "a positive number of m^3", name, error);
  if (!(def->waviness > 0.0 && def->waviness < 10.0))
    return fail_number("waviness", def->waviness, "between 0 and 10", name, error);
  if (!(def->track > 0.0 && isfinite(def->track)))
    return fail_number("track", def->track, "a positive number of m", name, error);
  if (!(def->ramp >= 0.0 && isfinite(def->ramp)))
    return fail_number("ramp", def->ramp, "zero or a positive number of m", name, error);
  return AS_OK;
}

static as_status check(const as_road_def *def, const char *name, as_error *error) {
  const double start[4] = {def->point[0], def->point[1], def->point[2], def->start};
  as_status status = asi_check_finite(start, 4, "place", "road", name, error);
  if (status) return status;
  switch (def->kind) {
  case AS_ROAD_PLANE:
    if (!(def->normal[2] > 1e-3 * asi_norm(def->normal) && isfinite(asi_norm(def->normal))))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The normal of the road \"%s\" is (%g, %g, %g): it must point upwards, "
                      "along z.",
                      name, def->normal[0], def->normal[1], def->normal[2]);
    return AS_OK;
  case AS_ROAD_FORMULA:
    if (def->formula == NULL)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The road \"%s\" has no formula.",
                      name);
    return AS_OK;
  case AS_ROAD_TABLE:
    if (def->table == NULL || def->table->function || def->table->formula)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The road \"%s\" needs a table of points.", name);
    if (def->table->interpolation == AS_LINEAR)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The road \"%s\" has a table with straight pieces: its slope would jump.",
                      name);
    return AS_OK;
  case AS_ROAD_ROUGH: return check_rough(def, name, error);
  case AS_ROAD_BUMP:
    if (!isfinite(def->height))
      return fail_number("height", def->height, "a number of m", name, error);
    if (!(def->length > 0.0 && isfinite(def->length)))
      return fail_number("length", def->length, "a positive number of m", name, error);
    return AS_OK;
  }
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The road \"%s\" is of the unknown kind %d.", name, (int)def->kind);
}

/// A table of one or two variables that bends at its points.
static bool uses_straight_table(const as_builder *b, const asi_expression *e) {
  const asi_instruction *code = asi_expression_code(e);
  for (int n = 0; n < e->n_code; ++n) {
    if (code[n].op != ASI_OP_TABLE && code[n].op != ASI_OP_SURFACE) continue;
    const asi_curve *table = &b->table[code[n].op == ASI_OP_TABLE ? code[n].b : code[n].c];
    if (table->surface ? table->surface->given.interpolation == AS_LINEAR
                       : table->n > 0 && table->given.interpolation == AS_LINEAR)
      return true;
  }
  return false;
}

static as_status make_formula(as_builder *b, const char *text, const char *what, asi_formula **out,
                              as_error *error) {
  static const char *const own[ASI_OWN_SLOTS] = {[ASI_SLOT_VALUE] = "x", [ASI_SLOT_RATE] = "y"};
  const asi_wish wish = {.what = what,
                         .own = own,
                         .parameters = true,
                         .reason = "a road is a function of x and y, of parameters and tables"};
  asi_expression *e = NULL;
  as_status status = asi_builder_compile(b, text, &wish, &e, error);
  if (status) return status;
  if (uses_straight_table(b, e))
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "%s uses a table with straight pieces: its slope would jump.", what);
  else if (e->n_slots > ASI_FORMULA_SLOTS)
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "%s depends on more than %d quantities.", what, (int)ASI_FORMULA_SLOTS);
  else if ((*out = asi_formula_make(e, text, false, what, b->table)) == NULL)
    status = asi_fail_memory(error);
  free(e);
  return status;
}

as_status as_builder_add_road(as_builder *b, const as_road_def *def, as_road_id *id,
                              as_error *error) {
  as_status status = ASI_CHECK_DEFINITION(as_road_def, def, error);
  if (status) return status;
  char store[32], what[96];
  const char *name = asi_builder_name(b, ASI_SORT_ROAD, def->name, store);
  status = check(def, name, error);
  if (status) return status;
  snprintf(what, sizeof what, "The height of road \"%.60s\"", name);
  const asi_mark mark = asi_builder_mark(b);
  asi_curve curve = {.formula = NULL};
  void *array = b->curve;
  if (!asi_grow(&array, b->n_curves, &b->room_curves, sizeof *b->curve))
    return asi_fail_memory(error);
  b->curve = array;
  array = b->road;
  if (!asi_grow(&array, b->n_roads, &b->room_roads, sizeof *b->road)) return asi_fail_memory(error);
  b->road = array;
  if (def->kind == AS_ROAD_FORMULA)
    status = make_formula(b, def->formula, what, &curve.formula, error);
  else if (def->kind == AS_ROAD_TABLE)
    status = asi_surface_make(def->table, what, &curve.surface, error);
  else if ((curve.road = asi_road_make(def)) == NULL)
    status = asi_fail_memory(error);
  if (status) return status;
  b->curve[b->n_curves++] = curve;
  status = asi_names_add(&b->names[ASI_SORT_ROAD], ASI_SORT_ROAD, def->name, error);
  if (status) {
    asi_builder_reset(b, mark);
    return status;
  }
  b->road[b->n_roads] = b->n_curves - 1;
  if (id) *id = (as_road_id){b->n_roads};
  ++b->n_roads;
  return AS_OK;
}
