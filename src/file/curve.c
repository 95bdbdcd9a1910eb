/// Functions in files. Of one variable: a number, a formula, a straight line or a table; of two: a formula or a table.
#include "file/reader.h"

typedef struct curve_thing {
  double constant, slope;
  asi_rows table;
  int interpolation;
} curve_thing;

const char *const asi_interpolations[] = {
    [AS_SPLINE] = "spline", [AS_MONOTONE] = "monotone", [AS_LINEAR] = "linear", NULL};

#define AT(field) offsetof(curve_thing, field)
static const asi_key keys[] = {
    {"constant", ASI_KEY_NUMBER, AT(constant), .otherwise = "0", .text = "value at 0"},
    {"slope", ASI_KEY_NUMBER, AT(slope), .instead_of = "table", .otherwise = "0",
     .text = "slope of a straight line"},
    {"table", ASI_KEY_ROWS, AT(table), .least = 2, .most = 2, .instead_of = "constant",
     .text = "pairs [x, y] with increasing x; beyond its ends the function goes on straight"},
    {"interpolation", ASI_KEY_CHOICE, AT(interpolation), .choices = asi_interpolations,
     .with = "table", .otherwise = "spline",
     .text = "between the pairs: spline is cubic with two continuous derivatives (for motions), "
             "monotone is cubic without overshoot, linear is straight (both for characteristics)"},
};
#undef AT

const asi_table asi_curve_table = {"function", NULL, keys, ASI_COUNT(keys)};

static bool increases(asi_reader *r, const asi_value *v, const asi_rows *table) {
  const asi_value *rows = asi_value_get(v, "table");
  for (int i = 1; i < table->n; ++i)
    if (!(table->number[2 * i] > table->number[2 * i - 2])) {
      asi_complain(r, rows->item[i], "x must increase, but %g follows %g", table->number[2 * i],
                   table->number[2 * i - 2]);
      return false;
    }
  return true;
}

bool asi_read_curve(asi_reader *r, const asi_value *v, const as_curve **out) {
  as_curve *curve = asi_arena_take(&r->scratch, sizeof *curve);
  if (curve == NULL) return false;
  *out = curve;
  if (v->type == ASI_TEXT) return asi_read_formula(r, v, &curve->formula);
  if (v->type != ASI_MAP) return asi_read_number(r, v, &curve->constant);
  const bool broken = r->broken;
  curve_thing thing = {0};
  r->broken = false;
  asi_read_object(r, v, v, &asi_curve_table, &thing);
  if (!r->broken) r->broken = !increases(r, v, &thing.table);
  const bool good = !r->broken;
  r->broken = r->broken || broken;
  *curve = (as_curve){.constant = thing.constant, .slope = thing.slope};
  if (!good || thing.table.n == 0) return good;
  const int n = thing.table.n;
  double *x = asi_arena_take(&r->scratch, 2 * (size_t)n * sizeof(double));
  if (x == NULL) return false;
  for (int i = 0; i < n; ++i) {
    x[i] = thing.table.number[2 * i];
    x[n + i] = thing.table.number[2 * i + 1];
  }
  curve->n = n;
  curve->x = x;
  curve->y = x + n;
  curve->interpolation = (as_interpolation)thing.interpolation;
  return true;
}

// ---- of two variables -------------------------------------------------------------------------------

typedef struct surface_thing {
  asi_rows x, y, z;
  int interpolation; ///< number of the choice
} surface_thing;

static const char *const surface_choices[] = {"linear", "monotone", NULL};
static const as_interpolation surface_interpolations[] = {AS_LINEAR, AS_MONOTONE};

#define AT(field) offsetof(surface_thing, field)
static const asi_key surface_keys[] = {
    {"x", ASI_KEY_NUMBERS, AT(x), .required = true, .least = 2,
     .text = "increasing numbers of the first variable"},
    {"y", ASI_KEY_NUMBERS, AT(y), .required = true, .least = 2,
     .text = "increasing numbers of the second variable"},
    {"z", ASI_KEY_ROWS, AT(z), .required = true, .least = 2,
     .text = "a row for each x, with a value for each y"},
    {"interpolation", ASI_KEY_CHOICE, AT(interpolation), .choices = surface_choices,
     .otherwise = "linear",
     .text = "between them: linear has kinks, monotone is smooth without overshoot"},
};
#undef AT
const asi_table asi_surface_table = {"function of two variables", NULL, surface_keys,
                                     ASI_COUNT(surface_keys)};

bool asi_read_surface(asi_reader *r, const asi_value *v, const as_surface **out) {
  as_surface *surface = asi_arena_take(&r->scratch, sizeof *surface);
  if (surface == NULL) return false;
  *out = surface;
  if (v->type != ASI_MAP) return asi_read_formula(r, v, &surface->formula);
  const bool broken = r->broken;
  surface_thing thing = {0};
  r->broken = false;
  asi_read_object(r, v, v, &asi_surface_table, &thing);
  if (!r->broken && (thing.z.n != thing.x.n || thing.z.columns != thing.y.n))
    asi_complain(r, v, "there are %d x and %d y, but z has %d rows of %d numbers", thing.x.n,
                 thing.y.n, thing.z.n, thing.z.columns);
  const bool good = !r->broken;
  r->broken = r->broken || broken;
  *surface = (as_surface){.x = thing.x.number,
                          .y = thing.y.number,
                          .z = thing.z.number,
                          .nx = thing.x.n,
                          .ny = thing.y.n,
                          .interpolation = surface_interpolations[thing.interpolation]};
  return good;
}
