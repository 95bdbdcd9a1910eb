/// Shapes in files: what is drawn of a body.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "file/mesh.h"
#include "file/reader.h"
#include "model/builder.h"

typedef struct shape_thing {
  as_shape shape;
  asi_turn turn;
  asi_rows points;
} shape_thing;

#define AT(field) offsetof(shape_thing, field)
static const asi_key shape_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of shape"},
    {"position", ASI_KEY_VECTOR, AT(shape.position), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]", .mirror = ASI_MIRROR_ARROW,
     .text = "of its origin, in the body's frame"},
    {"quaternion", ASI_KEY_VECTOR, AT(shape.quaternion), .least = 4, .most = 4,
     .otherwise = "[1, 0, 0, 0]", .mirror = ASI_MIRROR_QUATERNION,
     .text = "shape to body: w, x, y, z, of length 1"},
    {"rotation", ASI_KEY_OBJECT, AT(turn), .table = &asi_turn_table, .instead_of = "quaternion",
     .text = "the same, by axis and angle"},
    {"color", ASI_KEY_VECTOR, AT(shape.color), .range = ASI_FRACTION, .least = 3, .most = 4,
     .text = "red, green, blue and perhaps opacity"},
};
static const asi_key box_keys[] = {
    {"size", ASI_KEY_VECTOR, AT(shape.size), .required = true, .range = ASI_POSITIVE, .least = 3,
     .most = 3, .unit = "m", .text = "along x, y, z"},
};
static const asi_key sphere_keys[] = {{"radius", ASI_KEY_NUMBER, AT(shape.radius), .required = true,
                                       .range = ASI_POSITIVE, .unit = "m", .text = "radius"}};
static const asi_key rod_keys[] = {
    {"radius", ASI_KEY_NUMBER, AT(shape.radius), .required = true, .range = ASI_POSITIVE,
     .unit = "m", .text = "radius"},
    {"length", ASI_KEY_NUMBER, AT(shape.length), .required = true, .range = ASI_POSITIVE,
     .unit = "m", .text = "along z, from -length/2 to length/2; of a capsule without its caps"},
};
static const asi_key polyline_keys[] = {
    {"points", ASI_KEY_ROWS, AT(points), .required = true, .least = 2, .most = 3, .unit = "m",
     .mirror = ASI_MIRROR_ARROW, .text = "points [x, y, z] that are joined by straight lines"},
    {"radius", ASI_KEY_NUMBER, AT(shape.radius), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "0: a thin line", .text = "of the line"},
};
static const asi_key cone_keys[] = {
    {"radius", ASI_KEY_NUMBER, AT(shape.radius), .required = true, .range = ASI_POSITIVE,
     .unit = "m", .text = "of its foot, at -length/2"},
    {"top", ASI_KEY_NUMBER, AT(shape.top), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "0: a point", .text = "radius of its top, at length/2"},
    {"length", ASI_KEY_NUMBER, AT(shape.length), .required = true, .range = ASI_POSITIVE,
     .unit = "m", .text = "along z, from -length/2 to length/2"},
};
static const asi_key wheel_keys[] = {
    {"radius", ASI_KEY_NUMBER, AT(shape.radius), .required = true, .range = ASI_POSITIVE,
     .unit = "m", .text = "radius"},
    {"width", ASI_KEY_NUMBER, AT(shape.length), .required = true, .range = ASI_POSITIVE,
     .unit = "m", .text = "along z, from -width/2 to width/2"},
};
static const asi_key strip_keys[] = {
    {"points", ASI_KEY_ROWS, AT(points), .required = true, .least = 2, .most = 3, .unit = "m",
     .mirror = ASI_MIRROR_ARROW, .text = "points [x, y, z] along its middle"},
    {"width", ASI_KEY_NUMBER, AT(shape.width), .required = true, .range = ASI_POSITIVE, .unit = "m",
     .text = "across the line and across z"},
    {"dash", ASI_KEY_VECTOR, AT(shape.dash), .range = ASI_POSITIVE, .least = 2, .most = 2,
     .unit = "m", .otherwise = "one piece", .text = "lengths of pieces and of the gaps between"},
};
static const asi_key mesh_keys[] = {
    {"file", ASI_KEY_PATH, AT(shape.file), .required = true, .mirror = ASI_MIRROR_REFUSED,
     .text = "a mesh file (STL or OBJ), relative to this file and below its folder"},
    {"scale", ASI_KEY_NUMBER, AT(shape.scale), .range = ASI_POSITIVE, .unit = "m", .otherwise = "1",
     .text = "length of one unit of the mesh"},
};
#undef AT

static const asi_table shape_table = {"shape", NULL, shape_keys, ASI_COUNT(shape_keys)},
                       box_table = {"box", &shape_table, box_keys, ASI_COUNT(box_keys)},
                       sphere_table = {"sphere", &shape_table, sphere_keys, ASI_COUNT(sphere_keys)},
                       rod_table = {"cylinder or capsule", &shape_table, rod_keys,
                                    ASI_COUNT(rod_keys)},
                       polyline_table = {"polyline", &shape_table, polyline_keys,
                                         ASI_COUNT(polyline_keys)},
                       cone_table = {"cone", &shape_table, cone_keys, ASI_COUNT(cone_keys)},
                       wheel_table = {"wheel", &shape_table, wheel_keys, ASI_COUNT(wheel_keys)},
                       strip_table = {"strip", &shape_table, strip_keys, ASI_COUNT(strip_keys)},
                       mesh_table = {"mesh", &shape_table, mesh_keys, ASI_COUNT(mesh_keys)};

static void prepare(void *out) {
  shape_thing *thing = out;
  thing->turn = asi_default_turn();
  thing->shape.quaternion[0] = 1.0;
  thing->shape.scale = 1.0;
  for (int i = 0; i < 4; ++i) thing->shape.color[i] = (double)NAN;
}

static const asi_known_mesh *find_mesh(const asi_reader *r, const as_shape *shape) {
  const asi_known_mesh *mesh = r->meshes;
  while (mesh && !(mesh->scale == shape->scale && strcmp(mesh->file, shape->file) == 0))
    mesh = mesh->older;
  return mesh;
}

/// Keeps a mesh in metres; NULL if memory runs out.
static const asi_known_mesh *keep_mesh(asi_reader *r, const as_shape *shape, const asi_mesh *read) {
  const size_t n = 9 * (size_t)read->n;
  asi_known_mesh *mesh = asi_arena_take(r->arena, sizeof *mesh);
  float *triangles = asi_arena_take(r->arena, n * sizeof *triangles);
  if (mesh == NULL || triangles == NULL) return NULL;
  for (size_t i = 0; i < n; ++i) triangles[i] = (float)(shape->scale * read->corner[i]);
  *mesh = (asi_known_mesh){shape->file, shape->scale, triangles, read->n, r->meshes};
  r->meshes = mesh;
  r->n_triangles += read->n;
  return mesh;
}

/// Whether every number is one in metres, too.
static bool fits(const as_shape *shape, const asi_mesh *read) {
  bool ok = true;
  for (ptrdiff_t i = 0; i < 9 * (ptrdiff_t)read->n; ++i)
    ok = ok && fabs(shape->scale * read->corner[i]) <= (double)FLT_MAX;
  return ok;
}

static as_status read_mesh(asi_reader *r, as_shape *shape, as_error *error) {
  const asi_known_mesh *mesh = find_mesh(r, shape);
  as_status status = AS_OK;
  if (mesh == NULL) {
    asi_mesh read;
    status = asi_mesh_read(shape->file, &read, error);
    if (status == AS_ERR_FILE) r->unreadable = true;
    if (status == AS_OK) asi_note_file(r, shape->file);
    if (status == AS_OK && r->n_triangles + read.n > ASI_MOST_TRIANGLES)
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "The meshes up to this one have %ld triangles, and %d are allowed.",
                        r->n_triangles + read.n, ASI_MOST_TRIANGLES);
    if (status == AS_OK && !fits(shape, &read))
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "scale",
                        "With the scale %g the mesh %.200s has numbers that are too large.",
                        shape->scale, shape->file);
    if (status == AS_OK) mesh = keep_mesh(r, shape, &read);
    free(read.corner);
  }
  if (status || mesh == NULL) return status ? status : asi_fail_memory(error);
  shape->triangles = mesh->triangles;
  shape->n_triangles = mesh->n;
  return AS_OK;
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  shape_thing *thing = read;
  as_shape *shape = &thing->shape;
  as_machine *m = r->machine;
  (void)name;
  as_status status = asi_turn_apply(&thing->turn, shape->quaternion, error);
  if (status) return status;
  const double *q = shape->quaternion, size = sqrt(asi_dot(q, q) + q[3] * q[3]);
  if (!(fabs(size - 1.0) <= 1e-6))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "quaternion",
                    "The quaternion has the length %.9g instead of 1.", size);
  if (!isnan(shape->color[0]) && isnan(shape->color[3])) shape->color[3] = 1.0;
  shape->kind = (as_shape_kind)kind->code;
  if (shape->kind == AS_SHAPE_CONE && (r->mirrored & 4u)) { // its own z is turned round, too
    const double before[4] = {q[0], q[1], q[2], q[3]};
    shape->quaternion[0] = -before[1];
    shape->quaternion[1] = before[0];
    shape->quaternion[2] = before[3];
    shape->quaternion[3] = -before[2];
  }
  if (shape->kind == AS_SHAPE_MESH) status = read_mesh(r, shape, error);
  if (status) return status;
  shape->body = AS_GROUND;
  shape->points = asi_keep_numbers(r, thing->points.number, 3 * thing->points.n);
  shape->n_points = thing->points.n;
  void *array = m->shapes;
  if (!asi_grow(&array, m->n_shapes, &r->room_shapes, sizeof *shape)) return asi_fail_memory(error);
  m->shapes = array;
  m->shapes[m->n_shapes++] = *shape;
  return AS_OK;
}

#define SHAPE(type, code, table, text)                                                             \
  { type, code, &(table), sizeof(shape_thing), prepare, add, false, text }
static const asi_kind box_kind = SHAPE("box", AS_SHAPE_BOX, box_table, "a box about its origin"),
                      sphere_kind = SHAPE("sphere", AS_SHAPE_SPHERE, sphere_table,
                                          "a sphere about its origin"),
                      cylinder_kind =
                          SHAPE("cylinder", AS_SHAPE_CYLINDER, rod_table, "a cylinder along z"),
                      capsule_kind = SHAPE("capsule", AS_SHAPE_CAPSULE, rod_table,
                                           "a cylinder along z with round caps"),
                      polyline_kind = SHAPE("polyline", AS_SHAPE_POLYLINE, polyline_table,
                                            "a line through points"),
                      mesh_kind = SHAPE("mesh", AS_SHAPE_MESH, mesh_table, "a mesh from a file"),
                      cone_kind = SHAPE("cone", AS_SHAPE_CONE, cone_table,
                                        "a cone along z, perhaps cut off"),
                      wheel_kind = SHAPE("wheel", AS_SHAPE_WHEEL, wheel_table,
                                         "a wheel that turns about z, with a rim and spokes"),
                      strip_kind = SHAPE("strip", AS_SHAPE_STRIP, strip_table,
                                         "a flat strip along a line: a road, a line on it");
static const asi_kind *const kinds[] = {&box_kind,     &sphere_kind,   &cylinder_kind,
                                        &capsule_kind, &polyline_kind, &mesh_kind,
                                        &cone_kind,    &wheel_kind,    &strip_kind};
const asi_section asi_shapes = {"shape", ASI_SORTS, kinds, ASI_COUNT(kinds), false};

void asi_give_shapes(asi_reader *r, int first, as_body_id body, const double center[3]) {
  for (int i = first; i < r->machine->n_shapes; ++i) {
    as_shape *shape = &r->machine->shapes[i];
    shape->body = body;
    asi_add(-1.0, center, shape->position);
  }
}
