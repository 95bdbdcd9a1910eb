/// Lines of beams in files: straight or a spline through points, an arc, a helix, a curve by formulas.
///
/// Each is x(u) with a known tangent x'(u). Its arc length is summed by eight points of Gauss on each of its pieces, and turned
/// around by Newton's method.
#include <math.h>
#include <string.h>

#include "elements/vector.h"
#include "file/beams.h"

#define PI 3.14159265358979323846

enum { POINTS, ARC, HELIX, CURVE };
enum { PIECES = 64, PIECES_OF_SPLINE = 8 }; // of a line, between two points of a spline

typedef struct line_thing {
  asi_rows points;
  const char *file;
  double columns[3];
  double center[3], axis[3], start[3], pitch;
  double angle, angle_deg, turns; ///< NAN: not given
  const char *text[3];
  asi_along position[3];
  double from, to;
  // Of an arc and a helix: unit axis, the foot of the start on it, and what turns.
  double foot[3], radial[3], across[3], sweep;
} line_thing;

#define AT(field) offsetof(line_thing, field)
static const asi_key points_keys[] = {
    {"type", ASI_KEY_KIND, 0, .text = "kind of line"},
    {"points", ASI_KEY_ROWS, AT(points), .least = 2, .most = 3, .required = true, .unit = "m",
     .text = "[x, y, z] in the world: two are joined by a straight line, more by a smooth one "
             "(a cubic spline)"},
    {"file", ASI_KEY_PATH, AT(file), .instead_of = "points",
     .text = "a file of comma-separated values, a row for each point"},
    {"columns", ASI_KEY_VECTOR, AT(columns), .range = ASI_POSITIVE, .least = 3, .most = 3,
     .with = "file", .otherwise = "[1, 2, 3]", .text = "which columns x, y and z are, from 1"},
};
static const asi_key turn_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of line"},
    {"center", ASI_KEY_VECTOR, AT(center), .least = 3, .most = 3, .required = true, .unit = "m",
     .text = "a point of its axis"},
    {"axis", ASI_KEY_VECTOR, AT(axis), .least = 3, .most = 3, .required = true,
     .text = "of any length; it turns about it as a right-hand screw"},
    {"start", ASI_KEY_VECTOR, AT(start), .least = 3, .most = 3, .required = true, .unit = "m",
     .text = "where it begins"},
    {"angle", ASI_KEY_NUMBER, AT(angle), .range = ASI_POSITIVE, .required = true, .unit = "rad",
     .text = "that it turns through"},
    {"angle_deg", ASI_KEY_NUMBER, AT(angle_deg), .range = ASI_POSITIVE, .unit = "degrees",
     .instead_of = "angle", .text = "the same in degrees"},
    {"turns", ASI_KEY_NUMBER, AT(turns), .range = ASI_POSITIVE, .instead_of = "angle",
     .text = "the same in turns"},
};
static const asi_key helix_keys[] = {
    {"pitch", ASI_KEY_NUMBER, AT(pitch), .required = true, .unit = "m",
     .text = "way along the axis on each turn"},
};
static const asi_key curve_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of line"},
    {"position", ASI_KEY_FORMULAS, AT(text), .most = 3, .required = true, .unit = "m",
     .text = "x, y and z as formulas of `u`"},
    {"from", ASI_KEY_NUMBER, AT(from), .otherwise = "0", .text = "u where it begins"},
    {"to", ASI_KEY_NUMBER, AT(to), .otherwise = "1", .text = "u where it ends"},
};
#undef AT
static const asi_table points_table = {"points", NULL, points_keys, ASI_COUNT(points_keys)};
static const asi_table arc_table = {"arc", NULL, turn_keys, ASI_COUNT(turn_keys)};
static const asi_table helix_table = {"helix", &arc_table, helix_keys, ASI_COUNT(helix_keys)};
static const asi_table curve_table = {"curve", NULL, curve_keys, ASI_COUNT(curve_keys)};

static void prepare(void *out) {
  line_thing *thing = out;
  thing->angle = thing->angle_deg = thing->turns = (double)NAN;
  thing->to = 1.0;
  asi_set(1.0, 2.0, 3.0, thing->columns);
}

static as_status add_nothing(asi_reader *r, const asi_kind *kind, const char *name, void *thing,
                             as_error *error) {
  (void)r, (void)kind, (void)name, (void)thing, (void)error;
  return AS_OK;
}

#define KIND(id, code, words)                                                                      \
  static const asi_kind id##_kind = {#id,     code,        &id##_table,  sizeof(line_thing),       \
                                     prepare, add_nothing, .text = words};
KIND(points, POINTS, "straight between two points, a smooth curve through more")
KIND(arc, ARC, "a piece of a circle")
KIND(helix, HELIX, "a coil")
KIND(curve, CURVE, "by formulas")
static const asi_kind *const kinds[] = {&points_kind, &arc_kind, &helix_kind, &curve_kind};
const asi_section asi_beam_lines = {"line", ASI_SORT_BEAM, kinds, ASI_COUNT(kinds), true};

// ---- each kind --------------------------------------------------------------------------------------

static bool refuse(asi_reader *r, const asi_value *at, const char *sentence) {
  asi_complain(r, at, "%s", sentence);
  return false;
}

/// Knots are the sums of the distances.
static bool prepare_points(asi_line_shape *x, const asi_value *at, line_thing *thing) {
  asi_reader *r = x->r;
  int column[3];
  if (thing->file &&
      (!asi_check_columns(r, at, thing->columns, 3, column) ||
       !asi_read_csv(r, asi_value_get(at, "file"), thing->file, column, 3, &thing->points))) {
    r->broken = true;
    return false;
  }
  const int n = thing->points.n;
  const double *p = thing->points.number;
  double *u = asi_arena_take(&r->scratch, 4 * (size_t)n * sizeof(double));
  if (u == NULL) return false;
  for (int i = 0; i < n; ++i) {
    double chord[3] = {0.0, 0.0, 0.0};
    if (i > 0) asi_sum(p + 3 * (ptrdiff_t)i, -1.0, p + 3 * (ptrdiff_t)i - 3, chord);
    u[i] = i > 0 ? u[i - 1] + asi_norm(chord) : 0.0;
    if (i > 0 && !(u[i] > u[i - 1])) {
      asi_complain(r, at, "points %d and %d of the line are in one place", i, i + 1);
      return false;
    }
    for (int k = 0; k < 3; ++k) u[(k + 1) * n + i] = p[3 * (ptrdiff_t)i + k];
  }
  for (int k = 0; k < 3; ++k) {
    as_error error;
    const as_curve def = {.x = u, .y = u + (k + 1) * n, .n = n, .interpolation = AS_SPLINE};
    if (asi_curve_init(&x->spline[k], &def, "The line", &error))
      return refuse(r, at, error.message);
  }
  const int each = n == 2 ? 1 : PIECES_OF_SPLINE;
  x->n = (n - 1) * each;
  x->u = asi_arena_take(&r->scratch, 2 * ((size_t)x->n + 1) * sizeof(double));
  for (int i = 0; i <= x->n && x->u; ++i) {
    const int k = i / each, j = i % each;
    x->u[i] = j == 0 ? u[k] : u[k] + (u[k + 1] - u[k]) * j / each;
  }
  return x->u != NULL;
}

static bool prepare_turn(asi_line_shape *x, const asi_value *at, line_thing *thing) {
  double to_start[3];
  const double length = asi_norm(thing->axis);
  thing->sweep = !isnan(thing->angle_deg) ? thing->angle_deg * (PI / 180.0)
                 : !isnan(thing->turns)   ? thing->turns * (2.0 * PI)
                                          : thing->angle;
  if (!(length > 0.0)) return refuse(x->r, at, "the axis of the line has no length");
  for (int k = 0; k < 3; ++k) thing->axis[k] /= length;
  asi_sum(thing->start, -1.0, thing->center, to_start);
  asi_sum(thing->center, asi_dot(thing->axis, to_start), thing->axis, thing->foot);
  asi_sum(thing->start, -1.0, thing->foot, thing->radial);
  asi_cross(thing->axis, thing->radial, thing->across);
  const double size = asi_norm(to_start);
  if (!(asi_norm(thing->radial) > 1e-9 * size))
    return refuse(x->r, at, "the line begins on its axis");
  asi_copy(thing->axis, x->up);
  return true;
}

static bool prepare_curve(asi_line_shape *x, const asi_value *at, line_thing *thing) {
  bool good = true;
  for (int k = 0; k < 3; ++k)
    good = asi_along_compile(x->r, thing->text[k], "u", &thing->position[k]) && good;
  if (good && !(thing->to > thing->from))
    return refuse(x->r, at, "the line must end at a larger u than it begins at");
  return good;
}

/// x and x' at u.
static bool evaluate(const asi_line_shape *x, double u, double at[3], double slope[3]) {
  const line_thing *thing = x->thing;
  double value[3];
  switch (x->kind->code) {
  case POINTS:
    for (int k = 0; k < 3; ++k) {
      if (asi_curve_evaluate(&x->spline[k], u, value)) return false;
      at[k] = value[0];
      slope[k] = value[1];
    }
    return true;
  case CURVE:
    for (int k = 0; k < 3; ++k) {
      if (!asi_along_slope(x->r, &thing->position[k], u, value)) return false;
      at[k] = value[0];
      slope[k] = value[1];
    }
    return true;
  default: {
    const double rise = x->kind->code == HELIX ? thing->pitch / (2.0 * PI) : 0.0;
    asi_sum(thing->foot, cos(u), thing->radial, at);
    asi_add(sin(u), thing->across, at);
    asi_add(rise * u, thing->axis, at);
    asi_set(0.0, 0.0, 0.0, slope);
    asi_add(-sin(u), thing->radial, slope);
    asi_add(cos(u), thing->across, slope);
    asi_add(rise, thing->axis, slope);
    return true;
  }
  }
}

// ---- arc length -------------------------------------------------------------------------------------

/// The length between two parameters, which are in one piece.
static bool measure(const asi_line_shape *x, double from, double to, double *out) {
  static const double point[ASI_LINE_GAUSS / 2] = {0.18343464249564981, 0.52553240991632899,
                                                   0.79666647741362674, 0.96028985649753623};
  static const double weight[ASI_LINE_GAUSS / 2] = {0.36268378337836198, 0.31370664587788729,
                                                    0.22238103445337447, 0.10122853629037626};
  const double middle = (from + to) / 2.0, half = (to - from) / 2.0;
  *out = 0.0;
  for (int i = 0; i < ASI_LINE_GAUSS; ++i) {
    double at[3], slope[3];
    if (!evaluate(x, middle + (i % 2 ? half : -half) * point[i / 2], at, slope)) return false;
    *out += half * weight[i / 2] * asi_norm(slope);
  }
  return true;
}

bool asi_line_prepare(asi_reader *r, const asi_value *at, const asi_chosen *line,
                      asi_line_shape *out) {
  line_thing *thing = line->thing;
  *out = (asi_line_shape){.r = r, .kind = line->kind, .thing = thing, .n = PIECES};
  const int code = line->kind->code;
  const bool good = code == POINTS  ? prepare_points(out, at, thing)
                    : code == CURVE ? prepare_curve(out, at, thing)
                                    : prepare_turn(out, at, thing);
  if (!good) return false;
  if (code != POINTS) {
    const double from = code == CURVE ? thing->from : 0.0;
    const double to = code == CURVE ? thing->to : thing->sweep;
    const int n = code == CURVE ? PIECES : PIECES + (int)fmin(16.0 * fabs(thing->sweep), 1e5);
    out->n = n;
    out->u = asi_arena_take(&r->scratch, 2 * ((size_t)n + 1) * sizeof(double));
    for (int i = 0; i <= n && out->u; ++i) out->u[i] = from + (to - from) * i / n;
  }
  if (out->u == NULL) return false;
  out->s = out->u + out->n + 1;
  for (int i = 0; i < out->n; ++i) {
    double piece;
    if (!measure(out, out->u[i], out->u[i + 1], &piece)) return false;
    out->s[i + 1] = out->s[i] + piece;
  }
  if (!(out->s[out->n] > 0.0) || !isfinite(out->s[out->n]))
    return refuse(r, at, "the line has no length");
  return true;
}

void asi_line_free(asi_line_shape *line) {
  for (int k = 0; k < 3; ++k) asi_curve_free(&line->spline[k]);
}

bool asi_line_at(const asi_line_shape *line, double s, double x[3], double tangent[3]) {
  int i = 0, end = line->n;
  while (end - i > 1) {
    const int middle = (i + end) / 2;
    if (s >= line->s[middle])
      i = middle;
    else
      end = middle;
  }
  const double piece = line->s[i + 1] - line->s[i];
  const double size = line->u[i + 1] - line->u[i];
  double u = line->u[i] + (piece > 0.0 ? size * (s - line->s[i]) / piece : 0.0);
  double slope[3];
  for (int k = 0; k < 20; ++k) {
    double length;
    if (!evaluate(line, u, x, slope) || !measure(line, line->u[i], u, &length)) return false;
    const double speed = asi_norm(slope);
    const double step = speed > 0.0 ? (s - line->s[i] - length) / speed : 0.0;
    u = fmin(fmax(u + step, line->u[i]), line->u[i + 1]);
    if (fabs(step) <= 1e-15 * fabs(size)) break;
  }
  if (!evaluate(line, u, x, slope)) return false;
  const double speed = asi_norm(slope);
  for (int k = 0; k < 3; ++k) tangent[k] = slope[k] / speed;
  return speed > 0.0 && isfinite(speed);
}
