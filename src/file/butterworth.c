/// Butterworth filters of any order, as a chain of sections of second and first degree.
///
/// [CT.3] The prototype of degree n has the poles p = -sin(a) + i cos(a), a = (2 k + 1) pi/(2 n), in conjugate pairs, and
/// -1 where n is odd. With w = 2 pi f a pair becomes
///
///     low    w^2/(s^2 + 2 sin(a) w s + w^2)          high   s^2/(s^2 + 2 sin(a) w s + w^2)
///
/// and -1 becomes w/(s + w) and s/(s + w). A band from w1 to w2, with w0^2 = w1 w2 and B = w2 - w1, has for each p the two
/// roots s of s^2 - p B s + w0^2 = 0 (to stop the band: p in the place of 1/p, which is its conjugate), each with its
/// conjugate in a section
///
///     B s/(s^2 - 2 Re(s) s + |s|^2)                  stop: (s^2 + w0^2)/(s^2 - 2 Re(s) s + |s|^2)
///
/// and for -1 the section with s^2 + B s + w0^2. A section (b2 s^2 + b1 s + b0)/(s^2 + a1 s + a0), with w = sqrt(a0), is
///
///     x1' = w x2     x2' = w (u - x1 - a1/w x2)     y = b0/a0 x1 + b1/w x2 + b2 (u - x1 - a1/w x2)
#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/kinds.h"
#include "file/templates.h"

enum { MOST_ORDER = 50 };
enum { LOW, HIGH, BAND, STOP };
static const double pi = 3.14159265358979323846;

typedef struct butterworth_thing {
  const char *input, *unit;
  int order, pass;
  double frequency, upper;
} butterworth_thing;

static const char *const passes[] = {"low", "high", "band", "stop", NULL};

#define AT(field) offsetof(butterworth_thing, field)
static const asi_key keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"input", ASI_KEY_FORMULA, AT(input), .required = true,
     .text = "a formula, as that of a signal"},
    {"order", ASI_KEY_INTEGER, AT(order), .required = true, .range = ASI_POSITIVE,
     .text = "n: 1 to 50; of a band, which has 2 n states, that of each of its edges"},
    {"pass", ASI_KEY_CHOICE, AT(pass), .choices = passes, .otherwise = "low",
     .text = "what it lets through: below or above the frequency, a band, or all but a band"},
    {"frequency", ASI_KEY_NUMBER, AT(frequency), .required = true, .range = ASI_POSITIVE,
     .unit = "Hz", .text = "where its gain is 1/sqrt(2); of a band the lower edge"},
    {"upper", ASI_KEY_NUMBER, AT(upper), .range = ASI_POSITIVE, .with = "pass", .unit = "Hz",
     .otherwise = "not for a band", .text = "the upper edge of a band"},
    {"unit", ASI_KEY_TEXT, AT(unit), .otherwise = "-", .text = "of its channel"},
};
#undef AT
static const asi_table table = {"butterworth block", NULL, keys, ASI_COUNT(keys)};

/// A filter that is being put together: sections in a row.
typedef struct chain {
  int n, most;          ///< states so far, and all
  double *A, *B, *C, D; ///< y = C x + D u of the sections so far
} chain;

/// The input of the next section is the output of those so far; degree 1 or 2, b and a by rising powers, a[degree] = 1.
static void append(chain *c, int degree, const double *b, const double *a) {
  const int first = c->n, last = c->n + degree - 1;
  const double w = degree == 2 ? sqrt(a[0]) : a[0];
  double *row = c->A + (ptrdiff_t)last * c->most; // of the state that the input drives
  for (int j = 0; j < first; ++j) row[j] = w * c->C[j];
  c->B[last] = w * c->D;
  if (degree == 2) {
    c->A[(ptrdiff_t)first * c->most + last] = w;
    row[first] = -w;
  }
  row[last] -= degree == 2 ? a[1] : w;
  // u stays what it was before; the highest power times (u - ...) besides.
  const double direct = b[degree];
  for (int j = 0; j < first; ++j) c->C[j] *= direct;
  c->D *= direct;
  c->C[first] = b[0] / a[0] - direct;
  if (degree == 2) c->C[last] = (b[1] - direct * a[1]) / w;
  c->n += degree;
}

static void append_pair(chain *c, int pass, double a1, double a0, double band, double center) {
  const double b[4][3] = {[LOW] = {a0, 0.0, 0.0},
                          [HIGH] = {0.0, 0.0, 1.0},
                          [BAND] = {0.0, band, 0.0},
                          [STOP] = {center * center, 0.0, 1.0}};
  append(c, 2, b[pass], (double[]){a0, a1, 1.0});
}

static void append_all(chain *c, const butterworth_thing *thing) {
  const double w = 2.0 * pi * thing->frequency, w2 = 2.0 * pi * thing->upper;
  const bool edges = thing->pass >= BAND;
  const double band = edges ? w2 - w : 0.0, center = edges ? sqrt(w * w2) : 0.0;
  for (int k = 0; k < thing->order / 2; ++k) {
    const double angle = (2.0 * k + 1.0) * pi / (2.0 * thing->order);
    if (!edges) {
      append_pair(c, thing->pass, 2.0 * sin(angle) * w, w * w, 0.0, 0.0);
      continue;
    }
    const double complex p = -sin(angle) + (double complex)I * cos(angle), half = p * band / 2.0;
    const double complex root = csqrt(half * half - center * center);
    for (int side = -1; side <= 1; side += 2) {
      const double complex s = half + side * root;
      append_pair(c, thing->pass, -2.0 * creal(s), creal(s * conj(s)), band, center);
    }
  }
  if (thing->order % 2 == 0) return;
  if (edges)
    append_pair(c, thing->pass, band, center * center, band, center);
  else
    append(c, 1, thing->pass == LOW ? (double[]){w, 0.0} : (double[]){0.0, 1.0},
           (double[]){w, 1.0});
}

static as_status check(const butterworth_thing *thing, const char *name, as_error *error) {
  const bool edges = thing->pass >= BAND;
  if (thing->order > MOST_ORDER)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The order of \"%s\" is %d: it must be 1 to %d.", name, thing->order,
                    MOST_ORDER);
  if (edges && !(thing->upper > thing->frequency))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The band of \"%s\" goes from %g to %g Hz: `upper` must be above `frequency`.",
                    name, thing->frequency, thing->upper);
  if (!edges && thing->upper > 0.0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "\"%s\" has an upper edge, but no band to pass or to stop.", name);
  return AS_OK;
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  butterworth_thing *thing = read;
  (void)kind;
  const as_status status = check(thing, name, error);
  if (status) return status;
  const int n = thing->order * (thing->pass >= BAND ? 2 : 1);
  const size_t size = (size_t)n * sizeof(double);
  chain c = {.most = n, .D = 1.0};
  c.A = asi_arena_take(&r->scratch, (size_t)n * size);
  c.B = asi_arena_take(&r->scratch, size);
  c.C = asi_arena_take(&r->scratch, size);
  if (c.A == NULL || c.B == NULL || c.C == NULL) return AS_ERR_MEMORY;
  append_all(&c, thing);
  as_linear_def def = as_default_linear_def();
  def.block = name;
  def.n_states = n;
  def.n_inputs = def.n_outputs = 1;
  def.A = c.A;
  def.B = c.B;
  def.C = c.C;
  def.D = &c.D;
  def.input = &thing->input;
  def.unit = &thing->unit;
  return as_builder_add_linear(r->builder, &def, error);
}

const asi_kind asi_butterworth_kind = {
    "butterworth", 0,   &table, sizeof(butterworth_thing),
    NULL,          add, true,   .text = "a Butterworth filter of any order"};

/// None where the order is an expression: then its states are known once it has been read.
int asi_butterworth_states(const asi_value *v) {
  const asi_value *order = asi_value_get(v, "order"), *pass = asi_value_get(v, "pass");
  if (order == NULL || order->type != ASI_NUMBER) return 0;
  if (!(order->number >= 1.0) || !(order->number <= MOST_ORDER)) return 0;
  const bool edges = pass && pass->type == ASI_TEXT &&
                     (strcmp(pass->text, "band") == 0 || strcmp(pass->text, "stop") == 0);
  return (int)order->number * (edges ? 2 : 1);
}
