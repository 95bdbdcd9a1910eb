/// Random expressions: values, gradients against complex steps, derivatives along paths against differences.
///
/// A tree is made at random, written as a text with as few parentheses as it needs, compiled, and evaluated beside the
/// tree itself in complex numbers: f(x + i h)/h has the imaginary part f'(x), to the last digits.
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/problem.h"
#include "expression/expression.h"

enum { SLOTS = 4, MOST_NODES = 400, TRIALS = 20000 };

// ---- random numbers ---------------------------------------------------------------------------------

static uint64_t seed;

static uint64_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}
static int below(int n) { return (int)(draw() % (uint64_t)n); }
static double between(double a, double b) { return a + (b - a) * (double)(draw() >> 11) * 0x1p-53; }

// ---- trees ------------------------------------------------------------------------------------------

typedef enum kind {
  NUMBER,
  SLOT,
  NEGATE,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  POWER,
  WHOLE,
  LESS,
  GREATER_EQUAL, // operators
  SIN,
  COS,
  TAN,
  ASIN,
  ACOS,
  ATAN,
  EXP,
  LOG,
  LOG10,
  SQRT,
  SINH,
  COSH,
  TANH,
  ABS,
  TABLE,
  ATAN2,
  IF,
  MIN,
  MAX,
  MOD,
  STEP,
  SIGN,
  FLOOR,
  KINDS
} kind;

static const char *const names[KINDS] = {
    [SIN] = "sin",     [COS] = "cos",   [TAN] = "tan",    [ASIN] = "asin",   [ACOS] = "acos",
    [ATAN] = "atan",   [EXP] = "exp",   [LOG] = "log",    [LOG10] = "log10", [SQRT] = "sqrt",
    [SINH] = "sinh",   [COSH] = "cosh", [TANH] = "tanh",  [ABS] = "abs",     [TABLE] = "wave",
    [ATAN2] = "atan2", [IF] = "if",     [MIN] = "min",    [MAX] = "max",     [MOD] = "mod",
    [STEP] = "step",   [SIGN] = "sign", [FLOOR] = "floor"};

typedef struct tree {
  kind kind;
  int child[5];
  double number;
  int slot;
} tree;

static tree nodes[MOST_NODES];
static int n_nodes;
static bool kinked; ///< something in the tree is not smooth

static int children(kind k) {
  if (k <= SLOT) return 0;
  if (k == IF) return 3;
  if (k == STEP) return 5;
  const bool two = (k >= ADD && k <= GREATER_EQUAL && k != WHOLE) || k == ATAN2 || k == MIN ||
                   k == MAX || k == MOD;
  return two ? 2 : 1;
}

static int grow(int depth) {
  const int n = n_nodes++;
  tree *t = &nodes[n];
  *t = (tree){.kind = below(2) ? SLOT : NUMBER, .slot = below(SLOTS)};
  t->number = (double)below(400) / 100.0;
  if (depth > 0 && n < MOST_NODES - 50) {
    do t->kind = (kind)(NEGATE + below(KINDS - NEGATE));
    while (t->kind > STEP && below(4) > 0);
  }
  if (t->kind == WHOLE) t->number = (double)(below(9) - 3);
  if (t->kind == LESS || t->kind == GREATER_EQUAL || t->kind == ABS || t->kind >= IF) kinked = true;
  const int count = children(t->kind);
  for (int i = 0; i < count; ++i) t->child[i] = grow(depth - 1 - below(2));
  return n;
}

// ---- as a text --------------------------------------------------------------------------------------

static char text[ASI_EXPRESSION_LENGTH];
static size_t used;

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (used < sizeof text)
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
  va_end(arguments);
}

static int strength(kind k) {
  switch (k) {
  case LESS:
  case GREATER_EQUAL: return 1;
  case ADD:
  case SUBTRACT: return 2;
  case MULTIPLY:
  case DIVIDE: return 3;
  case NEGATE: return 4;
  case POWER:
  case WHOLE: return 5;
  default: return 6;
  }
}

/// In parentheses where something stronger is wanted; numbers are not negative.
static void write(int n, int least) {
  static const char *const sign[KINDS] = {
      [ADD] = " + ", [SUBTRACT] = " - ", [MULTIPLY] = "*",        [DIVIDE] = "/",
      [POWER] = "^", [LESS] = " < ",     [GREATER_EQUAL] = " >= "};
  const tree *t = &nodes[n];
  const int mine = strength(t->kind);
  const bool open = mine < least || below(20) == 0;
  if (open) print("(");
  if (t->kind == NUMBER) {
    print("%.17g", t->number);
  } else if (t->kind == SLOT) {
    print("s.x%d", t->slot);
  } else if (t->kind == NEGATE) {
    print("-");
    write(t->child[0], 4);
  } else if (t->kind == WHOLE) {
    write(t->child[0], 6);
    print("^%g", t->number);
  } else if (sign[t->kind]) {
    write(t->child[0], mine == 5 || mine == 1 ? mine + 1 : mine);
    print("%s", sign[t->kind]);
    write(t->child[1], mine == 5 ? 4 : mine + 1);
  } else {
    for (int i = 0; i < children(t->kind); ++i) {
      print("%s", i == 0 ? names[t->kind] : ", ");
      if (i == 0) print("(");
      write(t->child[i], 0);
    }
    print(")");
  }
  if (open) print(")");
}

// ---- in complex numbers -----------------------------------------------------------------------------

typedef double complex number;

static const number i_unit = (number)I;

static double largest; ///< of all values on the way
static bool edge;      ///< a choice that rounding may turn over

static number whole_power(number x, int n) {
  number product = 1.0;
  for (int i = 0; i < abs(n); ++i) product *= x;
  return n < 0 ? 1.0 / product : product;
}

static double difference(number a, number b) {
  const double d = creal(a) - creal(b);
  if (fabs(d) < 1e-9) edge = true;
  return d;
}

static number whole(number x) {
  const double down = floor(creal(x));
  if (fabs(creal(x) - round(creal(x))) < 1e-9) edge = true;
  return down;
}

static number step(const number *c) {
  const number u = (c[0] - c[1]) / (c[3] - c[1]);
  (void)difference(c[3], c[1]);
  const double r = creal(u);
  const number s = r <= 0.0 ? 0.0 : r >= 1.0 ? 1.0 : u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
  return c[2] + (c[4] - c[2]) * s;
}

static number apply(const tree *t, const number *c) {
  const number a = c[0], b = c[1];
  switch (t->kind) {
  case NEGATE: return -a;
  case ADD: return a + b;
  case SUBTRACT: return a - b;
  case MULTIPLY: return a * b;
  case DIVIDE: return a / b;
  case POWER: return creal(a) > 0.0 ? cexp(b * clog(a)) : (number)NAN;
  case WHOLE: return whole_power(a, (int)t->number);
  case LESS: return difference(a, b) < 0.0;
  case GREATER_EQUAL: return difference(a, b) >= 0.0;
  case SIN: return csin(a);
  case COS: return ccos(a);
  case TAN: return csin(a) / ccos(a);
  case ASIN: return fabs(creal(a)) < 1.0 ? casin(a) : (number)NAN;
  case ACOS: return fabs(creal(a)) < 1.0 ? cacos(a) : (number)NAN;
  case ATAN: return catan(a);
  case EXP: return cexp(a);
  case LOG: return creal(a) > 0.0 ? clog(a) : (number)NAN;
  case LOG10: return creal(a) > 0.0 ? clog(a) / log(10.0) : (number)NAN;
  case SQRT: return creal(a) > 0.0 ? csqrt(a) : (number)NAN;
  case SINH: return csinh(a);
  case COSH: return ccosh(a);
  case TANH: return ctanh(a);
  case ABS: return difference(a, 0.0) < 0.0 ? -a : a;
  case TABLE: return csin(a) + a * a;
  case ATAN2: // the imaginary part by the quotient, the real part in the right quadrant
    return atan2(creal(a), creal(b)) +
           i_unit * cimag(fabs(creal(b)) > fabs(creal(a)) ? catan(a / b) : -catan(b / a));
  case IF: return difference(a, 0.0) != 0.0 ? b : c[2];
  case MIN: return difference(a, b) < 0.0 ? a : b;
  case MAX: return difference(a, b) > 0.0 ? a : b;
  case MOD: return a - b * whole(a / b);
  case STEP: return step(c);
  case SIGN: return (difference(a, 0.0) > 0.0) - (creal(a) < 0.0);
  case FLOOR: return whole(a);
  default: return (number)NAN;
  }
}

static number evaluate(int n, const number *x) {
  const tree *t = &nodes[n];
  number c[5] = {0};
  for (int i = 0; i < children(t->kind); ++i) c[i] = evaluate(t->child[i], x);
  const number out = t->kind == NUMBER ? t->number : t->kind == SLOT ? x[t->slot] : apply(t, c);
  const double size = fabs(creal(out)) + (creal(out) != 0.0 ? 1.0 / fabs(creal(out)) : 0.0);
  if (!isfinite(size)) largest = (double)INFINITY;
  if (size > largest) largest = size;
  return out;
}

// ---- compiled ---------------------------------------------------------------------------------------

static asi_meaning find(const char *name, asi_named *named, void *user) {
  (void)user;
  if (strcmp(name, "wave") == 0) return ASI_MEANS_TABLE;
  if (strncmp(name, "s.x", 3) != 0) return ASI_MEANS_NOTHING;
  named->index = name[3] - '0';
  return ASI_MEANS_SLOT;
}

static int wave(int table, double x, double out[3], void *user) {
  (void)table, (void)user;
  out[0] = sin(x) + x * x;
  out[1] = cos(x) + 2.0 * x;
  out[2] = 2.0 - sin(x);
  return AS_DONE;
}

static const asi_tables tables = {wave, NULL, NULL};

/// A new tree and its expression; NULL: something constant in it is no number.
static asi_expression *make(int depth) {
  const asi_scope scope = {.find = find};
  asi_expression *e;
  asi_parse_error slip;
  n_nodes = 0;
  used = 0;
  kinked = false;
  grow(depth);
  write(0, 0);
  const as_status status = asi_expression_compile(text, strlen(text), &scope, &e, &slip);
  if (status && !strstr(slip.sentence, "is not a number") &&
      !strstr(slip.sentence, "begins and ends"))
    fail_msg("%s\n%d: %s", text, slip.column, slip.sentence);
  return e;
}

static bool near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * (1.0 + fabs(b));
}

/// The tree at a point, with a small imaginary part in one slot.
static number at(const double *x, int slot, double h) {
  number z[SLOTS];
  for (int k = 0; k < SLOTS; ++k) z[k] = x[k];
  if (slot >= 0) z[slot] += i_unit * h;
  return evaluate(0, z);
}

static void gather(const asi_expression *e, const double *x, double *in) {
  for (int k = 0; k < e->n_slots; ++k) in[k] = x[asi_expression_slots(e)[k]];
}

/// Compares value and gradient at a point; false: the point says nothing.
static bool check_gradient(const asi_expression *e, const double *x) {
  const double h = 1e-40;
  double in[SLOTS], value = 0.0, again = 0.0, gradient[SLOTS];
  largest = 0.0;
  edge = false;
  const double wanted = creal(at(x, -1, 0.0));
  if (!(largest < 1e4) || edge) return false;
  gather(e, x, in);
  const as_status status = asi_expression_gradient(e, in, &tables, &value, gradient);
  if (status) fail_msg("%s: %s", text, as_status_name(status));
  assert_int_equal(asi_expression_value(e, in, &tables, &again), AS_OK);
  assert_true(value == again);
  if (!near(value, wanted, 1e-9)) fail_msg("%s: %.17g, not %.17g", text, value, wanted);
  for (int k = 0; k < e->n_slots; ++k) {
    const double slope = cimag(at(x, asi_expression_slots(e)[k], h)) / h;
    if (fabs(slope) < 1e6 && !near(gradient[k], slope, 1e-9))
      fail_msg("%s, slot %d: %.17g, not %.17g", text, asi_expression_slots(e)[k], gradient[k],
               slope);
  }
  for (int slot = 0; slot < SLOTS; ++slot) { // one that is not in the list does not matter
    bool listed = false;
    for (int k = 0; k < e->n_slots; ++k) listed = listed || asi_expression_slots(e)[k] == slot;
    if (!listed) assert_true(cimag(at(x, slot, h)) == 0.0);
  }
  return true;
}

static void test_gradients(void **state) {
  (void)state;
  long checked = 0, operations = 0;
  seed = 20240607;
  for (int trial = 0; trial < TRIALS; ++trial) {
    double x[SLOTS];
    asi_expression *e = make(1 + trial % 9);
    for (int k = 0; k < SLOTS; ++k) x[k] = between(-2.0, 2.0);
    if (e && check_gradient(e, x)) {
      ++checked;
      operations += e->n_code;
    }
    free(e);
  }
  print_message("%ld of %d trees, %ld operations\n", checked, TRIALS, operations);
  assert_true(checked > TRIALS / 4 && operations > TRIALS);
}

/// The gradient along x(s) = x0 + v s + a s^2/2, which has been proved right.
static double slope_at(const asi_expression *e, const double *x0, const double *v, const double *a,
                       double s) {
  double x[SLOTS], in[SLOTS], value, gradient[SLOTS], sum = 0.0;
  for (int k = 0; k < SLOTS; ++k) x[k] = x0[k] + s * (v[k] + s * a[k] / 2.0);
  gather(e, x, in);
  if (asi_expression_gradient(e, in, &tables, &value, gradient)) return (double)NAN;
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k];
    sum += gradient[k] * (v[slot] + s * a[slot]);
  }
  return sum;
}

/// By differences of the first derivative, of fourth order, with two widths: their difference tells how good they are.
/// False: not good enough to say anything.
static bool check_path(const asi_expression *e, const double *x0, const double *v,
                       const double *a) {
  double x[SLOTS][3], out[3], second[2];
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k];
    x[k][0] = x0[slot];
    x[k][1] = v[slot];
    x[k][2] = a[slot];
  }
  for (int i = 0; i < 2; ++i) {
    const double h = i ? 1e-3 : 5e-4;
    second[i] = (8.0 * (slope_at(e, x0, v, a, h) - slope_at(e, x0, v, a, -h)) -
                 (slope_at(e, x0, v, a, 2.0 * h) - slope_at(e, x0, v, a, -2.0 * h))) /
                (12.0 * h);
  }
  if (!(fabs(second[0]) < 1e4) || !near(second[0], second[1], 1e-8)) return false;
  const as_status status = asi_expression_along(e, (const double(*)[3])x, &tables, out);
  if (status) fail_msg("%s: %s", text, as_status_name(status));
  if (!near(out[1], slope_at(e, x0, v, a, 0.0), 1e-10)) fail_msg("%s: first %.17g", text, out[1]);
  if (!near(out[2], second[0], 1e-6))
    fail_msg("%s: second %.17g, not %.17g", text, out[2], second[0]);
  return true;
}

static bool is_tame(const double *x) {
  largest = 0.0;
  edge = false;
  (void)at(x, -1, 0.0);
  return largest < 100.0 && !edge;
}

static void test_along_paths(void **state) {
  (void)state;
  long checked = 0, smooth = 0, seen[KINDS] = {0};
  seed = 4711;
  for (int trial = 0; trial < TRIALS; ++trial) {
    double x[SLOTS], v[SLOTS], a[SLOTS];
    asi_expression *e = make(1 + trial % 6);
    for (int k = 0; k < SLOTS; ++k) {
      x[k] = between(-2.0, 2.0);
      v[k] = between(-1.0, 1.0);
      a[k] = between(-1.0, 1.0);
    }
    if (e && is_tame(x) && check_path(e, x, v, a)) {
      ++checked;
      smooth += !kinked;
      for (int n = 0; n < n_nodes; ++n) ++seen[nodes[n].kind];
    }
    free(e);
  }
  print_message("%ld of %d trees, %ld of them smooth\n", checked, TRIALS, smooth);
  assert_true(checked > TRIALS / 5);
  for (int k = 0; k < KINDS; ++k) assert_true(seen[k] > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_along_paths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
