/// Sections of beams in files: of known outline, by their properties, by their stiffness. Each number may be a formula of the arc
/// length s.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/beams.h"

enum {
  WIDTH,
  HEIGHT,
  WALL,
  FLANGE,
  SHEAR_Y,
  SHEAR_Z,
  MASS, ///< of a stiffness, whose diagonal is before it
  INERTIA,
  CENTER = INERTIA + 3,
  SIZES = CENTER + 2,
};
enum { AREA = 0, IY, IZ, TORSION }; // of properties
enum { BY_PROPERTIES = 100, BY_STIFFNESS };

typedef struct section_thing {
  const char *text[SIZES];
  asi_along size[SIZES];
  asi_rows matrix;
} section_thing;

#define AT(field) offsetof(section_thing, field)
#define TYPE                                                                                       \
  { "type", ASI_KEY_KIND, 0, .required = true, .text = "kind of section" }
#define SIZE(number, key, words)                                                                   \
  {                                                                                                \
    key, ASI_KEY_FORMULA, AT(text[number]), .required = true, .range = ASI_POSITIVE, .unit = "m",  \
                                            .text = words                                          \
  }
static const asi_key type_keys[] = {TYPE};
static const asi_table type_table = {"section", NULL, type_keys, 1};
static const asi_key shear_keys[] = {
    TYPE,
    {"shear_y", ASI_KEY_FORMULA, AT(text[SHEAR_Y]), .range = ASI_POSITIVE,
     .otherwise = "by the outline", .text = "factor of the area for shear along y"},
    {"shear_z", ASI_KEY_FORMULA, AT(text[SHEAR_Z]), .range = ASI_POSITIVE,
     .otherwise = "by the outline", .text = "likewise along z"},
};
static const asi_table shear_table = {"outline", NULL, shear_keys, ASI_COUNT(shear_keys)};
static const asi_key rectangle_keys[] = {
    SIZE(WIDTH, "width", "along y; each size may be a formula of the arc length `s`"),
    SIZE(HEIGHT, "height", "along z"),
};
static const asi_key circle_keys[] = {
    SIZE(WIDTH, "diameter", "outside"),
};
static const asi_key tube_keys[] = {
    SIZE(WIDTH, "diameter", "outside"),
    SIZE(WALL, "wall", "thickness of the wall"),
};
static const asi_key box_keys[] = {
    SIZE(WIDTH, "width", "along y; each size may be a formula of the arc length `s`"),
    SIZE(HEIGHT, "height", "along z"),
    SIZE(WALL, "wall", "thickness of the wall"),
};
static const asi_key i_keys[] = {
    SIZE(WIDTH, "width", "along y; each size may be a formula of the arc length `s`"),
    SIZE(HEIGHT, "height", "along z"),
    SIZE(WALL, "web", "thickness of the web, which stands along z"),
    SIZE(FLANGE, "flange", "thickness of each flange"),
};
static const asi_key properties_keys[] = {
    {"area", ASI_KEY_FORMULA, AT(text[AREA]), .range = ASI_POSITIVE, .required = true,
     .unit = "m^2", .text = "area"},
    {"Iy", ASI_KEY_FORMULA, AT(text[IY]), .range = ASI_POSITIVE, .required = true, .unit = "m^4",
     .text = "second moment about y: of z^2 over the area"},
    {"Iz", ASI_KEY_FORMULA, AT(text[IZ]), .range = ASI_POSITIVE, .required = true, .unit = "m^4",
     .text = "likewise of y^2"},
    {"J", ASI_KEY_FORMULA, AT(text[TORSION]), .range = ASI_POSITIVE, .required = true,
     .unit = "m^4", .text = "torsion constant: the torque is G J times the twist"},
    {"shear_y", ASI_KEY_FORMULA, AT(text[SHEAR_Y]), .range = ASI_POSITIVE, .otherwise = "1",
     .text = "factor of the area for shear along y"},
    {"shear_z", ASI_KEY_FORMULA, AT(text[SHEAR_Z]), .range = ASI_POSITIVE, .otherwise = "1",
     .text = "likewise along z"},
};
static const asi_key stiffness_keys[] = {
    {"diagonal", ASI_KEY_FORMULAS, AT(text[0]), .range = ASI_POSITIVE, .most = 6, .required = true,
     .unit = "N, N m^2",
     .text = "stiffness against stretch, shear along y and z, twist, bending about y and z"},
    {"matrix", ASI_KEY_ROWS, AT(matrix), .least = 6, .most = 6, .instead_of = "diagonal",
     .unit = "N, N m, N m^2", .text = "the whole, symmetric, by six rows in the same order"},
    {"mass", ASI_KEY_FORMULA, AT(text[MASS]), .range = ASI_POSITIVE, .required = true,
     .unit = "kg/m", .text = "per length"},
    {"inertia", ASI_KEY_FORMULAS, AT(text[INERTIA]), .range = ASI_POSITIVE, .most = 3,
     .required = true, .unit = "kg m", .text = "per length, about x, y, z of its centre of mass"},
    {"center", ASI_KEY_FORMULAS, AT(text[CENTER]), .most = 2, .unit = "m", .otherwise = "[0, 0]",
     .text = "of mass, along y and z from the line"},
};
#undef AT

static const asi_table rectangle_table = {"rectangle", &shear_table, rectangle_keys,
                                          ASI_COUNT(rectangle_keys)};
static const asi_table circle_table = {"circle", &shear_table, circle_keys, ASI_COUNT(circle_keys)};
static const asi_table tube_table = {"tube", &shear_table, tube_keys, ASI_COUNT(tube_keys)};
static const asi_table box_table = {"box section", &shear_table, box_keys, ASI_COUNT(box_keys)};
static const asi_table i_table = {"I section", &shear_table, i_keys, ASI_COUNT(i_keys)};
static const asi_table properties_table = {"section properties", &type_table, properties_keys,
                                           ASI_COUNT(properties_keys)};
static const asi_table stiffness_table = {"section stiffness", &type_table, stiffness_keys,
                                          ASI_COUNT(stiffness_keys)};

/// A section is part of a beam, which adds it.
static as_status add_nothing(asi_reader *r, const asi_kind *kind, const char *name, void *thing,
                             as_error *error) {
  (void)r, (void)kind, (void)name, (void)thing, (void)error;
  return AS_OK;
}

#define KIND(id, type, kind, words)                                                                \
  static const asi_kind id##_kind = {type, (int)(kind), &id##_table,  sizeof(section_thing),       \
                                     NULL, add_nothing, .text = words};
KIND(rectangle, "rectangle", AS_PROFILE_RECTANGLE, "a full rectangle")
KIND(circle, "circle", AS_PROFILE_CIRCLE, "a full circle")
KIND(tube, "tube", AS_PROFILE_TUBE, "a circle with a round hole")
KIND(box, "box", AS_PROFILE_BOX, "a rectangle with a hole, the walls alike")
KIND(i, "i", AS_PROFILE_I, "an I: a web along z between two flanges along y")
KIND(properties, "properties", BY_PROPERTIES, "of a material, by its area and moments")
KIND(stiffness, "stiffness", BY_STIFFNESS, "by stiffness and mass, without a material")
static const asi_kind *const kinds[] = {&rectangle_kind, &circle_kind, &tube_kind,
                                        &box_kind,       &i_kind,      &properties_kind,
                                        &stiffness_kind};
const asi_section asi_beam_section_kinds = {"section", ASI_SORT_BEAM, kinds, ASI_COUNT(kinds),
                                            false};

bool asi_section_has_material(const asi_kind *kind) { return kind->code != BY_STIFFNESS; }

bool asi_section_prepare(asi_reader *r, const asi_chosen *section) {
  section_thing *thing = section->thing;
  bool good = true;
  for (int i = 0; i < SIZES; ++i)
    good = asi_along_compile(r, thing->text[i], "s", &thing->size[i]) && good;
  return good;
}

bool asi_section_alike(const asi_chosen *first, const asi_chosen *last) {
  const section_thing *a = first->thing, *b = last->thing;
  return first->kind == last->kind && (a->matrix.n > 0) == (b->matrix.n > 0);
}

// ---- evaluation -------------------------------------------------------------------------------------

/// A number must be positive; what is wrong is said where it stands.
static bool check_positive(asi_reader *r, const asi_along *a, double value, double s) {
  if (a->at == NULL || value > 0.0) return true;
  asi_complain(r, a->at->value, "must be greater than 0, but \"%.60s\" is %g at s = %.6g m",
               a->at->text, value, s);
  return false;
}

static bool sizes(asi_reader *r, const section_thing *thing, double s, double out[SIZES]) {
  bool good = true;
  for (int i = 0; i < SIZES; ++i)
    good = good && asi_along_value(r, &thing->size[i], s, &out[i]) &&
           (i >= CENTER || check_positive(r, &thing->size[i], out[i], s));
  return good;
}

static void by_stiffness(const section_thing *first, const section_thing *last, double part,
                         const double *size, as_beam_section *out) {
  *out = as_default_beam_section();
  for (int k = 0; k < 6; ++k) out->stiffness[7 * k] = size[k];
  for (int i = 0; i < 36 && first->matrix.n > 0; ++i) {
    const double from = first->matrix.number[i], to = last ? last->matrix.number[i] : from;
    out->stiffness[i] = from + part * (to - from);
  }
  out->mass = size[MASS];
  memcpy(out->inertia, size + INERTIA, sizeof out->inertia);
  memcpy(out->center, size + CENTER, sizeof out->center);
}

static as_status by_outline(const asi_section_shape *x, const section_thing *thing,
                            const double *size, as_beam_section *out, as_error *error) {
  const as_profile profile = {.kind = (as_profile_kind)x->first.kind->code,
                              .width = size[WIDTH],
                              .height = size[HEIGHT],
                              .wall = size[WALL],
                              .flange = size[FLANGE]};
  as_profile_properties shape;
  as_status status = as_beam_section_of_profile(&profile, &x->material, out, error);
  if (status == AS_OK) status = as_profile_compute(&profile, &shape, error);
  if (status) return status;
  if (thing->text[SHEAR_Y]) out->stiffness[7] = size[SHEAR_Y] * x->material.G * shape.area;
  if (thing->text[SHEAR_Z]) out->stiffness[14] = size[SHEAR_Z] * x->material.G * shape.area;
  return AS_OK;
}

static void by_properties(const asi_section_shape *x, const section_thing *thing,
                          const double *size, as_beam_section *out) {
  const as_profile_properties shape = {.area = size[AREA],
                                       .Iy = size[IY],
                                       .Iz = size[IZ],
                                       .J = size[TORSION],
                                       .shear_y = thing->text[SHEAR_Y] ? size[SHEAR_Y] : 1.0,
                                       .shear_z = thing->text[SHEAR_Z] ? size[SHEAR_Z] : 1.0};
  *out = as_beam_section_of(&shape, &x->material);
}

int asi_section_evaluate(double s, as_beam_section *out, void *user) {
  const asi_section_shape *x = user;
  const section_thing *first = x->first.thing, *last = x->last.kind ? x->last.thing : NULL;
  double size[SIZES], end[SIZES];
  const double part = last ? fmin(fmax(s / x->length, 0.0), 1.0) : 0.0;
  if (!sizes(x->r, first, s, size) || (last && !sizes(x->r, last, s, end))) return 1;
  for (int i = 0; i < SIZES && last; ++i)
    if (last->text[i]) size[i] += part * (end[i] - size[i]);
  if (x->first.kind->code == BY_STIFFNESS) {
    by_stiffness(first, last, part, size, out);
  } else if (x->first.kind->code == BY_PROPERTIES) {
    by_properties(x, first, size, out);
  } else {
    as_error error;
    if (by_outline(x, first, size, out, &error)) {
      asi_complain(x->r, x->r->at, "%s", error.message);
      return 1;
    }
  }
  return 0;
}
