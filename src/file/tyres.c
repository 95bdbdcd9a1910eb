/// Tyres and roads in files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/tyre_file.h"
#include "base/error.h"
#include "elements/vector.h"
#include "file/kinds.h"

// ---- roads ------------------------------------------------------------------------------------------

#define AT(field) offsetof(as_road_def, field)
static const asi_key plane_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of road"},
    {"point", ASI_KEY_VECTOR, AT(point), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]", .text = "a point of it"},
    {"normal", ASI_KEY_VECTOR, AT(normal), .least = 3, .most = 3, .otherwise = "[0, 0, 1]",
     .text = "upwards out of it"},
};
static const asi_key formula_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of road"},
    {"height", ASI_KEY_FORMULA, AT(formula), .required = true, .unit = "m",
     .text = "z, a function of `x` and `y` [m], of parameters and tables"},
};
static const asi_key table_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of road"},
    {"height", ASI_KEY_SURFACE, AT(table), .required = true, .unit = "m",
     .text = "z over x and y; always smooth, and there is no road beyond the table"},
};
typedef struct rough_thing {
  as_road_def def;
  int class_, seed;
} rough_thing;
#undef AT
#define AT(field) offsetof(rough_thing, field)
static const char *const classes[] = {"A", "B", "C", "D", "E", "F", "G", "H", NULL};
static const asi_key rough_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of road"},
    {"class", ASI_KEY_CHOICE, AT(class_), .required = true, .choices = classes,
     .text = "of ISO 8608: A (very good) to H, the geometric mean of the class"},
    {"roughness", ASI_KEY_NUMBER, AT(def.roughness), .range = ASI_POSITIVE, .unit = "m^3",
     .instead_of = "class", .text = "G_d, the spectral density at 0.1 waves a metre"},
    {"waviness", ASI_KEY_NUMBER, AT(def.waviness), .range = ASI_POSITIVE, .otherwise = "2",
     .text = "w: the spectral density goes with n^-w"},
    {"track", ASI_KEY_NUMBER, AT(def.track), .range = ASI_POSITIVE, .unit = "m", .otherwise = "1.6",
     .text = "distance of its two tracks"},
    {"seed", ASI_KEY_INTEGER, AT(seed), .otherwise = "12345",
     .text = "another seed, another road of the same kind"},
    {"start", ASI_KEY_NUMBER, AT(def.start), .unit = "m", .otherwise = "0",
     .text = "x where it begins to be rough"},
    {"ramp", ASI_KEY_NUMBER, AT(def.ramp), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "20", .text = "over which the roughness comes up"},
    {"level", ASI_KEY_NUMBER, AT(def.point[2]), .unit = "m", .otherwise = "0",
     .text = "height that this is counted from"},
};
#undef AT
#define AT(field) offsetof(as_road_def, field)
static const asi_key bump_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of road"},
    {"height", ASI_KEY_NUMBER, AT(height), .required = true, .unit = "m", .text = "of its middle"},
    {"length", ASI_KEY_NUMBER, AT(length), .required = true, .range = ASI_POSITIVE, .unit = "m",
     .text = "along x, over which it rises and falls as a cosine"},
    {"start", ASI_KEY_NUMBER, AT(start), .unit = "m", .otherwise = "0",
     .text = "x where it begins"},
    {"level", ASI_KEY_NUMBER, AT(point[2]), .unit = "m", .otherwise = "0",
     .text = "height that this is counted from"},
};
#undef AT
static const asi_table plane_table = {"plane road", NULL, plane_keys, ASI_COUNT(plane_keys)},
                       formula_table = {"road by formula", NULL, formula_keys,
                                        ASI_COUNT(formula_keys)},
                       height_table = {"road by table", NULL, table_keys, ASI_COUNT(table_keys)},
                       rough_table = {"rough road", NULL, rough_keys, ASI_COUNT(rough_keys)},
                       bump_table = {"bump", NULL, bump_keys, ASI_COUNT(bump_keys)};

static void prepare_road(void *out) { *(as_road_def *)out = as_default_road_def(); }

static void prepare_rough(void *out) {
  rough_thing *thing = out;
  thing->def = as_default_road_def();
  thing->class_ = -1;
  thing->seed = (int)thing->def.seed;
}

static as_status add_road(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  as_road_def *def = read;
  def->name = name;
  def->kind = (as_road_kind)kind->code;
  as_surface smooth;
  if (def->table) {
    smooth = *def->table;
    if (smooth.formula == NULL) smooth.interpolation = AS_MONOTONE;
    def->table = &smooth;
  }
  return as_builder_add_road(r->builder, def, NULL, error);
}

static as_status add_rough(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  rough_thing *thing = read;
  // Class A is 16e-6 m^3; each of the others is four times the one before.
  if (thing->class_ >= 0) thing->def.roughness = ldexp(16e-6, 2 * thing->class_);
  thing->def.seed = (unsigned)thing->seed;
  return add_road(r, kind, name, &thing->def, error);
}

static const asi_kind plane_kind = {"plane",
                                    AS_ROAD_PLANE,
                                    &plane_table,
                                    sizeof(as_road_def),
                                    prepare_road,
                                    add_road,
                                    .text = "level, or inclined"},
                      formula_kind = {"formula",
                                      AS_ROAD_FORMULA,
                                      &formula_table,
                                      sizeof(as_road_def),
                                      prepare_road,
                                      add_road,
                                      .text = "its height is a formula of x and y"},
                      height_kind = {"table",
                                     AS_ROAD_TABLE,
                                     &height_table,
                                     sizeof(as_road_def),
                                     prepare_road,
                                     add_road,
                                     .text = "its height is given over a grid"},
                      rough_kind = {"rough",
                                    AS_ROAD_ROUGH,
                                    &rough_table,
                                    sizeof(rough_thing),
                                    prepare_rough,
                                    add_rough,
                                    .text = "two random tracks by ISO 8608"},
                      bump_kind = {"bump",
                                   AS_ROAD_BUMP,
                                   &bump_table,
                                   sizeof(as_road_def),
                                   prepare_road,
                                   add_road,
                                   .text = "level but for one bump across it"};
static const asi_kind *const road_kinds[] = {&plane_kind, &formula_kind, &height_kind, &rough_kind,
                                             &bump_kind};
const asi_section asi_roads = {"road", ASI_SORT_ROAD, road_kinds, ASI_COUNT(road_kinds), false};

// ---- tyres ------------------------------------------------------------------------------------------

typedef struct tyre_thing {
  as_tyre_def def;
  const char *file;
  int side; ///< of the choice; -1: not given
  int steady;
} tyre_thing;

static const char *const sides[] = {"left", "right", NULL};
static const char *const slips[] = {"transient", "steady", NULL};

#define AT(field) offsetof(tyre_thing, field)
static const asi_key tyre_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of force"},
    {"wheel", ASI_KEY_NAME, AT(def.body), .required = true, .sort = ASI_SORT_BODY,
     .text = "the body that it is on"},
    {"frame", ASI_KEY_NAME, AT(def.frame), .sort = ASI_SORT_FRAME, .instead_of = "wheel",
     .text = "a frame on it: its origin is the centre, its y the spin axis"},
    {"center", ASI_KEY_VECTOR, AT(def.center), .least = 3, .most = 3, .with = "wheel", .unit = "m",
     .otherwise = "the centre of mass", .mirror = ASI_MIRROR_ARROW,
     .text = "centre of the wheel, in the world at the start"},
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .least = 3, .most = 3, .with = "wheel",
     .otherwise = "[0, 1, 0]", .mirror = ASI_MIRROR_TURN,
     .text = "its spin axis, towards the left: about it the wheel turns forwards"},
    {"file", ASI_KEY_PATH, AT(file), .required = true,
     .text = "a .tir file of PAC2002 or MF 5.2, relative to this file and below its folder"},
    {"side", ASI_KEY_CHOICE, AT(side), .choices = sides, .mirror = ASI_MIRROR_SIDE,
     .otherwise = "TYRESIDE of the file", .text = "of the car that it is mounted on"},
    {"slip", ASI_KEY_CHOICE, AT(steady), .choices = slips, .otherwise = "USE_MODE of the file",
     .text = "transient: with two states, down to standstill; steady: without, at speed only"},
    {"road", ASI_KEY_NAME, AT(def.road), .sort = ASI_SORT_ROAD, .otherwise = "the plane z = 0",
     .text = "one of `roads`"},
    {"crown_radius", ASI_KEY_NUMBER, AT(def.crown_radius), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "0: a thin disk", .text = "of its cross-section"},
};
#undef AT
static const asi_table tyre_table = {"tyre", NULL, tyre_keys, ASI_COUNT(tyre_keys)};

static void prepare_tyre(void *out) {
  tyre_thing *thing = out;
  thing->def = as_default_tyre_def();
  thing->side = thing->steady = -1;
}

static void note_warning(const char *sentence, void *user) { asi_warn(user, sentence); }

static as_status add_tyre(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  tyre_thing *thing = read;
  as_tyre_def *def = &thing->def;
  asi_file file = {.path = thing->file};
  const char *why = NULL;
  as_tyre tyre;
  size_t size = 0;
  (void)kind;
  char *text = asi_read_whole(r, &file, &size, &why);
  if (text == NULL) {
    r->unreadable = true;
    return asi_fail(error, AS_ERR_FILE, (double)NAN, name, "%.200s cannot be read: %s.",
                    thing->file, why);
  }
  asi_note_bytes(r, thing->file, text, size);
  as_status status = as_tyre_parse(text, size, thing->file, note_warning, r, &tyre, error);
  free(text);
  if (status) return status;
  const bool mirrored = asi_mirror_changes_hands(r);
  // A side that is not given is that of the file, and the other one in a mirror image.
  const int measured = tyre.measured_right ? -1 : 1;
  def->side = thing->side >= 0 ? (thing->side == 0 ? 1 : -1) : mirrored ? -measured : measured;
  def->steady = thing->steady;
  def->name = name;
  def->tyre = &tyre;
  return as_builder_add_tyre(r->builder, def, NULL, error);
}

const asi_kind asi_tyre_kind = {
    "tyre",
    0,
    &tyre_table,
    sizeof(tyre_thing),
    prepare_tyre,
    add_tyre,
    .text = "a tyre on a road, by the Magic Formula ([tyre.md](elements/tyre.md))"};
