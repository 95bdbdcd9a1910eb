/// Expressions of any bytes: they are compiled or there is a sentence at a place inside them; what is compiled can be
/// evaluated anywhere, with the same value each way, and finite where the status says so.
///
/// `fuzz_expression --seeds=FOLDER` writes texts to begin with.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/problem.h"
#include "expression/expression.h"
#include "fuzz/seeds.h"

static const char *const seeds[] = {
    "-k*(x - 0.5) - if(x.y < 0, c, 2*c)*x.y",
    "step(t, 0, 0, 1, 2*pi) + 1e-3*sin(2*pi*50*t)",
    "min(max(x, -1), 1)^3 >= atan2(x, y) - lift(t)*'bodies.link 1.x'",
    "sqrt(abs(x))*sign(x) + mod(t, 2) - floor(y) + x^-2 + x^y",
    "asin(x)+acos(x)+atan(x)+exp(x)+log(x)+log10(x)+sinh(x)+cosh(x)+tanh(x)+tan(x)",
    "((((1 + 2)*3)/4 != 5) == (6 <= 7) > .5",
};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  exit(0);
}

/// A name of one letter is a slot, one that begins with k or c a number, one that begins with l a table.
static asi_meaning find(const char *name, asi_named *named, void *user) {
  (void)user;
  named->number = (double)strlen(name);
  named->index = (unsigned char)name[0];
  if (name[0] == 'k' || name[0] == 'c') return ASI_MEANS_CONSTANT;
  if (name[0] == 'l') return ASI_MEANS_TABLE;
  if (name[0] == 'q') return ASI_MEANS_NOTHING;
  return ASI_MEANS_SLOT;
}

static const char *candidate(int i, void *user) {
  (void)user;
  return i == 0 ? "quantity" : NULL;
}

static int table(int number, double x, double out[3], void *user) {
  (void)user;
  must(number == 'l' && isfinite(x), "a table that is not there, or not at a number");
  out[0] = x * x;
  out[1] = 2.0 * x;
  out[2] = 2.0;
  return x > 1e6 ? AS_RETRY : AS_DONE;
}

static const asi_tables tables = {table, NULL, NULL};

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void evaluate(const asi_expression *e, const char *text, size_t length, double at) {
  static double x[ASI_EXPRESSION_VALUES], gradient[ASI_EXPRESSION_VALUES];
  static double path[ASI_EXPRESSION_VALUES][3];
  double value = 0.0, again = 0.0, along[3] = {0};
  asi_parse_error slip;
  for (int k = 0; k < e->n_slots; ++k) {
    x[k] = path[k][0] = at / (double)(k + 1);
    path[k][1] = 1.0;
    path[k][2] = -0.5;
  }
  const as_status first = asi_expression_value(e, x, &tables, &value);
  const as_status second = asi_expression_gradient(e, x, &tables, &again, gradient);
  const as_status third = asi_expression_along(e, (const double(*)[3])path, &tables, along);
  must((first == AS_ERR_RETRY) == (second == AS_ERR_RETRY), "the ways disagree");
  if (first == AS_ERR_RETRY) return;
  must(same(value, again) && same(value, along[0]), "the values disagree");
  must((first == AS_OK) == isfinite(value), "a status that is not true");
  for (int k = 0; k < e->n_slots && second == AS_OK; ++k)
    must(isfinite(gradient[k]), "a derivative that is no number");
  must(third != AS_OK || (isfinite(along[1]) && isfinite(along[2])), "a rate that is no number");
  if (second == AS_OK) return;
  asi_expression_blame(e, text, x, &tables, &slip);
  must(slip.sentence[0] && slip.at <= length, "nothing is to blame");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const double points[] = {0.0, -1.0, 0.37, 1e3, 1e300, (double)INFINITY, (double)NAN};
  const asi_scope scope = {.find = find, .candidate = candidate};
  asi_expression *e = NULL;
  asi_parse_error slip;
  char *text = malloc(size + 1);
  must(text != NULL, "there is no memory");
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  const as_status status = asi_expression_compile(text, size, &scope, &e, &slip);
  must((status == AS_OK) == (e != NULL), "neither an expression nor a failure");
  if (status)
    must(slip.sentence[0] && slip.at <= size && slip.line > 0, "a failure without its place");
  for (size_t i = 0; i < sizeof points / sizeof points[0] && e; ++i)
    evaluate(e, text, size, points[i]);
  free(e);
  free(text);
  return 0;
}
