/// Flexible bodies in files: each names the HDF5 file that `alphastep reduce` has made of its matrices.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/flexible_body.h"
#include "alphastep/flexible_file.h"
#include "base/error.h"
#include "base/file.h"
#include "file/kinds.h"

enum { LOAD_NUMBERS = 4 }; ///< of a row of `loads`

typedef struct flexible_thing {
  as_flexible_def def;
  const char *file;
  asi_turn turn;
  int inertia;
  asi_rows loads, following, points, start, rate;
  const as_curve *factor;
} flexible_thing;

static const char *const inertias[] = {"exact", "lower order", NULL};

#define AT(field) offsetof(flexible_thing, field)
static const asi_key keys[] = {
    {"file", ASI_KEY_PATH, AT(file), .required = true, .mirror = ASI_MIRROR_REFUSED,
     .text = "an HDF5 file that `alphastep reduce` has made, relative to this file and below its "
             "folder; its interface nodes are bodies, NAME.NODE"},
    {"position", ASI_KEY_VECTOR, AT(def.position), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]",
     .text = "where the origin of the mesh's coordinates is in the world at the start"},
    {"quaternion", ASI_KEY_VECTOR, AT(def.quaternion), .least = 4, .most = 4,
     .otherwise = "[1, 0, 0, 0]", .text = "mesh to world at the start: w, x, y, z, of length 1"},
    {"rotation", ASI_KEY_OBJECT, AT(turn), .table = &asi_turn_table, .instead_of = "quaternion",
     .text = "the same, by axis and angle"},
    {"velocity", ASI_KEY_VECTOR, AT(def.velocity), .least = 3, .most = 3, .unit = "m/s",
     .otherwise = "[0, 0, 0], or what joints demand",
     .text = "of its frame, the first interface node, at the start, world axes"},
    {"angular_velocity", ASI_KEY_VECTOR, AT(def.angular_velocity), .least = 3, .most = 3,
     .unit = "rad/s", .otherwise = "[0, 0, 0], or what joints demand",
     .text = "of its frame at the start, in its axes"},
    {"fixed", ASI_KEY_BOOLEAN, AT(def.fixed), .otherwise = "false",
     .text = "the frame starts exactly as described here"},
    {"inertia", ASI_KEY_CHOICE, AT(inertia), .choices = inertias, .otherwise = "exact",
     .text = "whether centrifugal forces know of the deformation"},
    {"loads", ASI_KEY_ROWS, AT(loads), .least = 1, .most = LOAD_NUMBERS, .unit = "N",
     .text = "forces on points of the mesh: of each the point's number, then x, y, z in the world"},
    {"following_loads", ASI_KEY_ROWS, AT(following), .least = 1, .most = LOAD_NUMBERS, .unit = "N",
     .text = "likewise along the axes of its frame, with which they turn"},
    {"factor", ASI_KEY_CURVE, AT(factor), .otherwise = "1",
     .text = "of both sorts of loads, a function of time"},
    {"points", ASI_KEY_NUMBERS, AT(points), .least = 1,
     .text = "numbers of points of the mesh whose motion, deflection and stress are channels, "
             "flexible.NAME.NUMBER"},
    {"start", ASI_KEY_NUMBERS, AT(start), .least = 1, .unit = "m, rad", .otherwise = "zeros",
     .text = "elastic coordinates at the start"},
    {"rate", ASI_KEY_NUMBERS, AT(rate), .least = 1, .unit = "m/s, rad/s", .otherwise = "zeros",
     .text = "of the elastic coordinates at the start"},
};
#undef AT
static const asi_table table = {"flexible body", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) {
  flexible_thing *thing = out;
  as_flexible_def *def = &thing->def;
  *def = as_default_flexible_def();
  // Until they are read: what is written counts as given, also where it is zero.
  def->position[0] = def->velocity[0] = def->angular_velocity[0] = def->quaternion[0] = (double)NAN;
  thing->turn = asi_default_turn();
}

/// A number that was not written gets its default.
static void settle(double *first, double otherwise, unsigned what, unsigned *given) {
  if (isnan(*first))
    *first = otherwise;
  else
    *given |= what;
}

/// A number of a point, as it stands in a file.
static as_status take_number(double x, const char *name, long *out, as_error *error) {
  if (!(fabs(x) <= 9e15) || x != floor(x))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Flexible body \"%s\" is asked for point %.9g of its mesh, which is no number "
                    "of a point.",
                    name, x);
  *out = (long)x;
  return AS_OK;
}

static as_status take_loads(asi_reader *r, flexible_thing *thing, as_error *error) {
  as_flexible_def *def = &thing->def;
  const asi_rows *const both[2] = {&thing->loads, &thing->following};
  const int n = both[0]->n + both[1]->n;
  as_flexible_load *load = asi_arena_take(&r->scratch, (size_t)n * sizeof *load);
  if (load == NULL) return AS_ERR_MEMORY;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < both[k]->n; ++i) {
      const double *row = both[k]->number + (ptrdiff_t)i * LOAD_NUMBERS;
      as_flexible_load *to = &load[def->n_loads++];
      *to = (as_flexible_load){.follows = k == 1, .factor = thing->factor};
      memcpy(to->force, row + 1, sizeof to->force);
      const as_status status = take_number(row[0], def->name, &to->node, error);
      if (status) return status;
    }
  def->load = load;
  return AS_OK;
}

static as_status take_points(asi_reader *r, flexible_thing *thing, as_error *error) {
  const asi_rows *points = &thing->points;
  long *point = asi_arena_take(&r->scratch, (size_t)points->n * sizeof *point);
  if (point == NULL) return AS_ERR_MEMORY;
  for (int i = 0; i < points->n; ++i) {
    const as_status status = take_number(points->number[i], thing->def.name, &point[i], error);
    if (status) return status;
  }
  thing->def.point = point;
  thing->def.n_points = points->n;
  return AS_OK;
}

/// The numbers of the start; NULL: none.
static as_status take_start(const asi_rows *rows, const as_flexible_def *def, const char *what,
                            const double **out, as_error *error) {
  const int n = def->data->coordinate_count;
  if (rows->n > 0 && rows->n != n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, def->name,
                    "Flexible body \"%s\" has %d elastic coordinates, but its %s has %d numbers.",
                    def->name, n, what, rows->n);
  *out = rows->number;
  return AS_OK;
}

static as_status add_read(asi_reader *r, flexible_thing *thing, as_error *error) {
  as_flexible_def *def = &thing->def;
  def->lower_order = thing->inertia == 1;
  as_status status = asi_turn_apply(&thing->turn, def->quaternion, error);
  settle(def->position, 0.0, AS_GIVEN_POSITION, &def->given);
  settle(def->velocity, 0.0, AS_GIVEN_VELOCITY, &def->given);
  settle(def->angular_velocity, 0.0, AS_GIVEN_ANGULAR_VELOCITY, &def->given);
  settle(def->quaternion, 1.0, AS_GIVEN_QUATERNION, &def->given);
  if (status == AS_OK) status = take_loads(r, thing, error);
  if (status == AS_OK) status = take_points(r, thing, error);
  if (status == AS_OK) status = take_start(&thing->start, def, "start", &def->z, error);
  if (status == AS_OK) status = take_start(&thing->rate, def, "rate", &def->rate, error);
  return status ? status : as_builder_add_flexible(r->builder, def, NULL, error);
}

/// A file that is there has been read wrongly because of what is in it.
static bool is_there(const char *path) {
  const char *why;
  FILE *file = asi_file_open(path, &why);
  if (file) fclose(file);
  return file != NULL;
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  flexible_thing *thing = read;
  as_flexible_data *data = NULL;
  (void)kind;
  thing->def.name = name;
  as_status status = as_flexible_read(thing->file, &data, error);
  if (status == AS_OK) asi_note_file(r, thing->file);
  if (status == AS_ERR_FILE) r->unreadable = r->unreadable || !is_there(thing->file);
  thing->def.data = data;
  if (status == AS_OK) status = add_read(r, thing, error);
  as_flexible_destroy(data);
  return status;
}

static const asi_kind kind = {NULL,
                              0,
                              &table,
                              sizeof(flexible_thing),
                              prepare,
                              add,
                              .text = "a part from finite elements that travels, turns and deforms "
                                      "a little ([flexible.md](elements/flexible.md))"};
static const asi_kind *const kinds[] = {&kind};
const asi_section asi_flexible_things = {"flexible body", ASI_SORT_FLEXIBLE, kinds, 1, true};
