/// Beams in files: a line is cut into elements, each station gets its axes, and the builder gets the whole.
#include "file/beams.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "lie/rotation.h"

enum { MOST_ELEMENTS = 1000000 };
#define PI 3.14159265358979323846

typedef struct beam_thing {
  as_beam_def def;
  asi_chosen line, section, end_section;
  int elements;
  asi_rows stations;
  int material;             ///< -1: not given
  double E, nu, G, density; ///< NAN: not given
  double orientation[3];
  const char *twist;
  int first, last;
  asi_numbered inner;
  int mass;
  const char *load[3], *following[3];
} beam_thing;

static const char *const masses[] = {"hermite", "lumped", NULL};
const char *const asi_materials[] = {"steel",  "stainless steel", "aluminium", "titanium", "brass",
                                     "copper", "nylon",           "acrylic",   NULL};

#define AT(field) offsetof(beam_thing, field)
static const asi_key keys[] = {
    {"line", ASI_KEY_CHOSEN, AT(line), .required = true, .section = &asi_beam_lines,
     .mirror = ASI_MIRROR_REFUSED, .text = "where it is at the start, unloaded, in the world"},
    {"elements", ASI_KEY_INTEGER, AT(elements), .required = true, .range = ASI_POSITIVE,
     .text = "how many, of the same length"},
    {"stations", ASI_KEY_NUMBERS, AT(stations), .least = 2, .instead_of = "elements",
     .text = "ends of elements, as fractions of the length from 0 to 1"},
    {"section", ASI_KEY_CHOSEN, AT(section), .required = true, .section = &asi_beam_section_kinds,
     .text = "across the line"},
    {"end_section", ASI_KEY_CHOSEN, AT(end_section), .section = &asi_beam_section_kinds,
     .otherwise = "as `section`",
     .text = "at its end, of the same type: sizes change evenly along the line"},
    {"material", ASI_KEY_CHOICE, AT(material), .choices = asi_materials,
     .text = "for `E`, `nu` and `density`, unless they are given"},
    {"E", ASI_KEY_NUMBER, AT(E), .range = ASI_POSITIVE, .unit = "Pa", .otherwise = "of `material`",
     .text = "Young's modulus"},
    {"nu", ASI_KEY_NUMBER, AT(nu), .otherwise = "of `material`",
     .text = "Poisson's ratio, above -1 and at most 0.5"},
    {"G", ASI_KEY_NUMBER, AT(G), .range = ASI_POSITIVE, .unit = "Pa", .instead_of = "nu",
     .text = "shear modulus"},
    {"density", ASI_KEY_NUMBER, AT(density), .range = ASI_POSITIVE, .unit = "kg/m^3",
     .otherwise = "of `material`", .text = "density"},
    {"orientation", ASI_KEY_VECTOR, AT(orientation), .least = 3, .most = 3,
     .otherwise = "so that z of the section is up, or along the axis of an arc or a helix",
     .text = "a direction that y of the section is near to, across the line"},
    {"twist", ASI_KEY_FORMULA, AT(twist), .unit = "rad", .otherwise = "0",
     .text = "how far the section is turned about the line against that, a formula of the arc "
             "length `s`"},
    {"first", ASI_KEY_NAME, AT(first), .sort = ASI_SORT_BODY, .otherwise = "free",
     .text = "the body that the first station is fixed to; may be `ground`"},
    {"last", ASI_KEY_NAME, AT(last), .sort = ASI_SORT_BODY, .otherwise = "free",
     .text = "likewise of the last station"},
    {"inner", ASI_KEY_NUMBERED, AT(inner), .sort = ASI_SORT_BODY,
     .text = "likewise of stations between them, by their numbers"},
    {"mass", ASI_KEY_CHOICE, AT(mass), .choices = masses, .otherwise = "hermite",
     .text = "hermite: spread along the line; lumped: half of each element at its ends, which is "
             "cheaper, less accurate and goes with bodies on se3"},
    {"plain", ASI_KEY_BOOLEAN, AT(def.plain), .otherwise = "false",
     .text = "elements have the stiffness of their section, not that which makes linear statics "
             "exact"},
    {"damping", ASI_KEY_NUMBER, AT(def.damping), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .otherwise = "0", .text = "of the material: stress = K (strain + damping strain')"},
    {"load", ASI_KEY_FORMULAS, AT(load), .most = 3, .unit = "N/m", .otherwise = "[0, 0, 0]",
     .text = "force per length along world axes; formulas of `s`, `t` and parameters"},
    {"following", ASI_KEY_FORMULAS, AT(following), .most = 3, .unit = "N/m",
     .otherwise = "[0, 0, 0]", .text = "likewise along the section's axes, with which it turns"},
    {"velocity", ASI_KEY_VECTOR, AT(def.velocity), .least = 3, .most = 3, .unit = "m/s",
     .otherwise = "[0, 0, 0]", .text = "of all of it at the start, world axes"},
    {"angular_velocity", ASI_KEY_VECTOR, AT(def.angular_velocity), .least = 3, .most = 3,
     .unit = "rad/s", .otherwise = "[0, 0, 0]", .text = "likewise, about `about`, world axes"},
    {"about", ASI_KEY_VECTOR, AT(def.about), .least = 3, .most = 3, .with = "angular_velocity",
     .unit = "m", .otherwise = "[0, 0, 0]", .text = "a point of the axis that it turns about"},
};
#undef AT
static const asi_table table = {"beam", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) {
  beam_thing *thing = out;
  thing->def = as_default_beam_def();
  thing->material = -1;
  thing->E = thing->nu = thing->G = thing->density = (double)NAN;
  thing->orientation[0] = (double)NAN;
  thing->first = thing->last = ASI_NONE;
}

/// A place in the file where a key of the thing is; the thing itself if it is not there.
static const asi_value *place_of(const asi_value *v, const asi_value *at, const char *key) {
  const asi_value *found = asi_value_get(v, key);
  return found ? found : at;
}

/// A beam while it is read.
typedef struct work {
  asi_reader *r;
  beam_thing *thing;
  const asi_value *v; ///< its mapping
  asi_line_shape line;
  asi_along twist;
  int n; ///< elements
  double length;
  as_beam_station *station;
} work;

static bool refuse(const work *w, const char *key, const char *sentence) {
  const bool there = asi_value_get(w->v, key) != NULL;
  const asi_path path = {key, 0, w->r->path}, *outer = w->r->path;
  if (there) w->r->path = &path;
  asi_complain(w->r, place_of(w->v, w->r->at, key), "%s", sentence);
  w->r->path = outer;
  return false;
}

// ---- material and section ---------------------------------------------------------------------------

static bool take_material(const work *w, as_material *out) {
  const beam_thing *x = w->thing;
  const bool needed = asi_section_has_material(x->section.kind);
  const char *given = x->material >= 0     ? "material"
                      : !isnan(x->E)       ? "E"
                      : !isnan(x->nu)      ? "nu"
                      : !isnan(x->G)       ? "G"
                      : !isnan(x->density) ? "density"
                                           : NULL;
  *out = (as_material){1.0, 1.0, 1.0};
  if (!needed)
    return given == NULL || refuse(w, given, "a section of type \"stiffness\" has no material");
  if (x->material >= 0) (void)as_material_find(asi_materials[x->material], out);
  const bool all = !isnan(x->E) && (!isnan(x->nu) || !isnan(x->G)) && !isnan(x->density);
  if (x->material < 0 && !all)
    return refuse(w, "material", "needs \"material\", or \"E\", \"nu\" (or \"G\") and \"density\"");
  const double nu = !isnan(x->nu) ? x->nu : out->E / (2.0 * out->G) - 1.0;
  if (!isnan(x->nu) && !(x->nu > -1.0 && x->nu <= 0.5))
    return refuse(w, "nu", "Poisson's ratio is above -1 and at most 0.5");
  if (!isnan(x->E)) out->E = x->E;
  out->G = !isnan(x->G) ? x->G : out->E / (2.0 * (1.0 + nu));
  if (!isnan(x->density)) out->density = x->density;
  return true;
}

static bool take_sections(const work *w, asi_section_shape *out) {
  const beam_thing *x = w->thing;
  *out = (asi_section_shape){
      .r = w->r, .first = x->section, .last = x->end_section, .length = w->length};
  if (x->end_section.kind && !asi_section_alike(&x->section, &x->end_section))
    return refuse(w, "end_section", "must be of the same type as \"section\", with the same keys");
  return take_material(w, &out->material) && asi_section_prepare(w->r, &x->section) &&
         (x->end_section.kind == NULL || asi_section_prepare(w->r, &x->end_section));
}

// ---- stations ---------------------------------------------------------------------------------------

/// Fractions of the length.
static bool check_stations(const work *w) {
  const asi_rows *given = &w->thing->stations;
  if (given->n == 0) return true;
  bool good = given->number[0] == 0.0 && given->number[given->n - 1] == 1.0;
  for (int i = 1; i < given->n; ++i) good = good && given->number[i] > given->number[i - 1];
  return good || refuse(w, "stations", "must increase from 0 to 1");
}

/// The part of `y` across the tangent, as a unit vector; false: there is next to none.
static bool across(const double *y, const double *tangent, double *out) {
  const double size = asi_norm(y);
  asi_sum(y, -asi_dot(y, tangent), tangent, out);
  const double length = asi_norm(out);
  for (int k = 0; k < 3; ++k) out[k] /= length;
  return length > 1e-3 * size;
}

/// y of the first section if the file says nothing: z is up.
static void level(const double *up, const double *tangent, double *y) {
  static const double ey[3] = {0.0, 1.0, 0.0};
  double side[3];
  asi_cross(up, tangent, side);
  if (asi_norm(side) > 1e-6 && across(side, tangent, y)) return;
  (void)across(ey, tangent, y);
}

/// Turns y as the tangent turns, by no more than that.
static void carry(const double *from, const double *to, double *y) {
  double sum[3], unused[3];
  asi_sum(from, 1.0, to, sum);
  const double factor = asi_dot(to, y) / (1.0 + asi_dot(from, to));
  asi_add(-factor, sum, y);
  asi_copy(y, unused);
  (void)across(unused, to, y);
}

/// The twist at s, which stands at `last` of the station before: more than half a turn in between would be seen as less.
static bool take_twist(const work *w, int station, double s, double last, double *out) {
  if (!asi_along_value(w->r, &w->twist, s, out)) return false;
  if (station == 0 || fabs(*out - last) < PI) return true;
  return refuse(
      w, "twist",
      "turns by half a turn or more from one station to the next: more elements are needed");
}

static void set_axes(double angle, const double *tangent, const double *y, double *out) {
  double z[3], turned[3], R[9];
  asi_cross(tangent, y, z);
  for (int k = 0; k < 3; ++k) turned[k] = cos(angle) * y[k] + sin(angle) * z[k];
  asi_cross(tangent, turned, z);
  for (int k = 0; k < 3; ++k) {
    R[3 * k] = tangent[k];
    R[3 * k + 1] = turned[k];
    R[3 * k + 2] = z[k];
  }
  asi_so3_from_matrix(R, out);
}

/// y carried along from one station to the next in small steps.
static bool carry_along(const work *w, double from, double to, double *tangent, double *y) {
  enum { STEPS = 64 };
  for (int k = 1; k <= STEPS; ++k) {
    double x[3], next[3];
    if (!asi_line_at(&w->line, from + (to - from) * k / STEPS, x, next)) return false;
    carry(tangent, next, y);
    asi_copy(next, tangent);
  }
  return true;
}

static bool take_stations(work *w) {
  const beam_thing *x = w->thing;
  const double *up = asi_norm(w->line.up) > 0.0 ? w->line.up : (const double[3]){0.0, 0.0, 1.0};
  const bool carried = asi_norm(w->line.up) == 0.0, given = !isnan(x->orientation[0]);
  double y[3] = {0.0}, before[3] = {0.0}, at = 0.0, twist = 0.0;
  for (int i = 0; i <= w->n; ++i) {
    as_beam_station *out = &w->station[i];
    const double part = x->stations.n > 0 ? x->stations.number[i] : (double)i / w->n;
    const double s = part * w->length;
    double tangent[3];
    out->body = AS_NO_BODY;
    if (!asi_line_at(&w->line, s, out->position, tangent))
      return w->r->broken || refuse(w, "line", "the line has no direction at one of its stations");
    if (given && !across(x->orientation, tangent, y))
      return refuse(w, "orientation",
                    "is along the line at a station; it must point across it everywhere");
    if (!given && (i == 0 || !carried)) level(up, tangent, y);
    if (!given && i > 0 && carried && !carry_along(w, at, s, before, y)) return false;
    if (!take_twist(w, i, s, twist, &twist)) return false;
    set_axes(twist, tangent, y, out->quaternion);
    asi_copy(tangent, before);
    at = s;
  }
  return true;
}

/// The bodies that stations are fixed to.
static bool take_bodies(const work *w) {
  const beam_thing *x = w->thing;
  if (x->first != ASI_NONE) w->station[0].body.index = x->first;
  if (x->last != ASI_NONE) w->station[w->n].body.index = x->last;
  for (int i = 0; i < x->inner.n; ++i) {
    const int station = x->inner.number[i];
    if (station <= 0 || station >= w->n) {
      asi_complain(w->r, x->inner.value[i],
                   "there is no station %d between the first, 0, and the last, %d", station, w->n);
      return false;
    }
    w->station[station].body.index = x->inner.id[i];
  }
  return true;
}

// ---- loads ------------------------------------------------------------------------------------------

static void take_loads(asi_reader *r, const char *const *text, const as_curve **out,
                       as_curve *curve) {
  for (int i = 0; i < 3; ++i) {
    asi_parse_error slip;
    double number;
    if (text[i] == NULL) continue;
    const bool known = asi_read_plain(text[i], &number) ||
                       asi_evaluate(r, text[i], strlen(text[i]), &number, &slip);
    curve[i] = (as_curve){.formula = known ? NULL : text[i], .constant = known ? number : 0.0};
    if (!known || number != 0.0) out[i] = &curve[i];
  }
}

// ---- the whole --------------------------------------------------------------------------------------

static bool take_all(work *w, asi_section_shape *section) {
  beam_thing *x = w->thing;
  const asi_value *line = place_of(w->v, w->r->at, "line");
  if (!asi_line_prepare(w->r, line, &x->line, &w->line)) return false;
  w->n = x->stations.n > 0 ? x->stations.n - 1 : x->elements;
  w->length = w->line.s[w->line.n];
  if (w->n > MOST_ELEMENTS) return refuse(w, "elements", "more than 1000000 elements");
  w->station = asi_arena_take(&w->r->scratch, ((size_t)w->n + 1) * sizeof *w->station);
  return w->station && check_stations(w) && asi_along_compile(w->r, x->twist, "s", &w->twist) &&
         take_stations(w) && take_bodies(w) && take_sections(w, section);
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  beam_thing *thing = read;
  as_curve curve[6];
  asi_section_shape section;
  work w = {.r = r, .thing = thing, .v = r->thing};
  (void)kind;
  const bool good = take_all(&w, &section);
  as_status status = AS_OK;
  if (good) {
    thing->def.name = name;
    thing->def.station = w.station;
    thing->def.n_stations = w.n + 1;
    thing->def.section_at = asi_section_evaluate;
    thing->def.user = &section;
    thing->def.mass = thing->mass == 1 ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
    take_loads(r, thing->load, thing->def.load, curve);
    take_loads(r, thing->following, thing->def.following, curve + 3);
    status = as_builder_add_beam(r->builder, &thing->def, NULL, error);
  }
  asi_line_free(&w.line);
  return r->broken && status == AS_ERR_ARGUMENT ? AS_OK : status;
}

static const asi_kind beam_kind = {NULL,
                                   0,
                                   &table,
                                   sizeof(beam_thing),
                                   prepare,
                                   add,
                                   .text = "a slender part that bends, twists and stretches "
                                           "([beams.md](elements/beams.md))"};
static const asi_kind *const kinds[] = {&beam_kind};
const asi_section asi_beam_things = {"beam", ASI_SORT_BEAM, kinds, 1, true};
