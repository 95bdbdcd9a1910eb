/// Expressions: what they mean, how they are compiled, what is said of wrong ones, where memory may run out.
///
/// The linker sends every malloc, calloc, realloc and free through the functions here (-Wl,--wrap).
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
#include "counting.h"
#include "expression/expression.h"

// ---- names ------------------------------------------------------------------------------------------

enum { T = 7, X = 11, Y = 12, ANGLE = 40, LINK = 41 }; // slots: numbers of no order

static const struct {
  const char *name;
  asi_meaning meaning;
  double number;
  int index;
} known[] = {
    {"t", ASI_MEANS_SLOT, 0.0, T},
    {"x", ASI_MEANS_SLOT, 0.0, X},
    {"y", ASI_MEANS_SLOT, 0.0, Y},
    {"joints.crank.angle", ASI_MEANS_SLOT, 0.0, ANGLE},
    {"bodies.link 1.position.x", ASI_MEANS_SLOT, 0.0, LINK},
    {"k", ASI_MEANS_CONSTANT, 100.0, 0},
    {"one", ASI_MEANS_CONSTANT, 1.0, 0},
    {"lift", ASI_MEANS_TABLE, 0.0, 3},
    {"joints.crank.force", ASI_MEANS_MISTAKE, 0.0, 0},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static asi_meaning find(const char *name, asi_named *named, void *user) {
  (void)user;
  for (int i = 0; i < KNOWN; ++i) {
    if (strcmp(known[i].name, name) != 0) continue;
    named->number = known[i].number;
    named->index = known[i].index;
    if (known[i].meaning == ASI_MEANS_MISTAKE)
      snprintf(named->sentence, ASI_SENTENCE_LENGTH, "%s is a reaction", name);
    return known[i].meaning;
  }
  return ASI_MEANS_NOTHING;
}

static const char *candidate(int i, void *user) {
  (void)user;
  return i < KNOWN ? known[i].name : NULL;
}

static const asi_scope scope = {.find = find, .candidate = candidate};

/// x^3 on table 3; it has no value from 10 on and fails from 20 on.
static int cube(int table, double x, double out[3], void *user) {
  (void)user;
  assert_int_equal(table, 3);
  out[0] = x * x * x;
  out[1] = 3.0 * x * x;
  out[2] = 6.0 * x;
  return x < 10.0 ? AS_DONE : x < 20.0 ? AS_RETRY : AS_FATAL;
}

static const asi_tables tables = {cube, NULL, NULL};

static asi_expression *compile(const char *text) {
  asi_expression *e;
  asi_parse_error slip;
  if (asi_expression_compile(text, strlen(text), &scope, &e, &slip))
    fail_msg("%s: %s", text, slip.sentence);
  return e;
}

/// Values of the slots by their numbers.
static void put(const asi_expression *e, double t, double x, double y, double *out) {
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k];
    out[k] = slot == T ? t : slot == X ? x : slot == Y ? y : slot == ANGLE ? 0.5 : 0.25;
  }
}

static double value(const char *text, double t, double x, double y) {
  double in[8], out = 0.0;
  asi_expression *e = compile(text);
  put(e, t, x, y, in);
  const as_status status = asi_expression_value(e, in, &tables, &out);
  if (status) fail_msg("%s: %s", text, as_status_name(status));
  free(e);
  return out;
}

/// The gradient by one slot.
static double slope(const char *text, int slot, double x, double y) {
  double in[8], out = 0.0, gradient[8], found = (double)NAN;
  asi_expression *e = compile(text);
  put(e, 0.0, x, y, in);
  const as_status status = asi_expression_gradient(e, in, &tables, &out, gradient);
  if (status) fail_msg("%s: %s", text, as_status_name(status));
  for (int k = 0; k < e->n_slots; ++k)
    if (asi_expression_slots(e)[k] == slot) found = gradient[k];
  free(e);
  return found;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-14 * (1.0 + fabs(b)); }

// ---- meaning ----------------------------------------------------------------------------------------

static void test_precedence(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } row[] = {
      {"1 + 2*3", 7},
      {"(1 + 2)*3", 9},
      {"2 - 3 - 4", -5},
      {"2 - (3 - 4)", 3},
      {"64/4/2", 8},
      {"64/(4/2)", 32},
      {"2*3/4*5", 7.5},
      {"2^3^2", 512},
      {"(2^3)^2", 64},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2^-2^2", 0.0625},
      {"--3", 3},
      {"-+-3", 3},
      {"2--3", 5},
      {"2*-3", -6},
      {"-2*3", -6},
      {"-2*-3^2", 18},
      {"+4", 4},
      {"1 + 2 < 4", 1},
      {"1 < 2 + 3*4", 1},
      {"(1 < 2) + 1", 2},
      {"3 > 2", 1},
      {"2 >= 2", 1},
      {"2 <= 1", 0},
      {"2 == 2.0", 1},
      {"2 != 2", 0},
      {"-1 < -2", 0},
      {"(1 < 2) == 1", 1},
      {"2*pi", 6.2831853071795862},
      {"if(1 < 2, 3, 4)", 3},
      {"if(0, 3, 4)", 4},
      {"if(-0.5, 3, 4)", 3},
      {"mod(-1, 4)", 3},
      {"mod(7, 4)", 3},
      {"mod(-7, -4)", -3},
      {"floor(-0.5)", -1},
      {"sign(-3)", -1},
      {"sign(0)", 0},
      {"min(2, -1)", -1},
      {"max(2, -1)", 2},
      {"step(0, 1, 5, 2, 9)", 5},
      {"step(3, 1, 5, 2, 9)", 9},
      {"step(1.5, 1, 5, 2, 9)", 7},
      {"step(0, 2, 5, 1, 9)", 9},
      {"step(3, 2, 5, 1, 9)", 5},
      {" 1e3 +\t.5\n- 5. ", 995.5},
      {"0^0", 1},
      {"(0-8)^3", -512},
      {"2^0.5^2", 1.189207115002721},
      {"k^one", 100},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
    asi_parse_error slip;
    double number;
    if (asi_expression_number(row[i].text, strlen(row[i].text), &scope, &number, &slip))
      fail_msg("%s: %s", row[i].text, slip.sentence);
    if (!near(number, row[i].value)) fail_msg("%s gives %.17g", row[i].text, number);
  }
}

/// The same with slots in place of numbers, so that nothing is computed while compiling.
static void test_precedence_of_slots(void **state) {
  (void)state;
  const double t = 2.0, x = 3.0, y = -0.5;
  assert_true(value("t + x*y", t, x, y) == t + x * y);
  assert_true(value("t - x - y", t, x, y) == t - x - y);
  assert_true(value("t/x/y", t, x, y) == t / x / y);
  assert_true(value("-x^t", t, x, y) == -9.0);
  assert_true(near(value("t^x^t", t, x, y), 512.0));
  assert_true(near(value("t^-x", t, x, y), 0.125));
  assert_true(value("t < x", t, x, y) == 1.0);
  assert_true(value("t*x == 6", t, x, y) == 1.0);
  assert_true(value("x - x*(t > x)", t, x, y) == 3.0);
  assert_true(value("joints.crank.angle*2", t, x, y) == 1.0);
  assert_true(value("'bodies.link 1.position.x' + x", t, x, y) == 3.25);
  assert_true(value("\"bodies.link 1.position.x\"", t, x, y) == 0.25);
  assert_true(value("lift(t) + lift(2*x)", t, x, y) == 8.0 + 216.0);
}

static double identity(double x) { return x; }

static void test_functions_as_in_c(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double (*function)(double);
  } row[] = {
      {"sin(x)", sin},     {"cos(x)", cos},   {"tan(x)", tan},     {"asin(x)", asin},
      {"acos(x)", acos},   {"atan(x)", atan}, {"exp(x)", exp},     {"log(x)", log},
      {"log10(x)", log10}, {"sqrt(x)", sqrt}, {"sinh(x)", sinh},   {"cosh(x)", cosh},
      {"tanh(x)", tanh},   {"abs(x)", fabs},  {"floor(x)", floor}, {"--x", identity},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i)
    for (int k = 0; k < 18; ++k) {
      const double x = -3.1 + 0.37 * k;
      double out = 0.0;
      const double wanted = row[i].function(x);
      asi_expression *e = compile(row[i].text);
      const as_status status = asi_expression_value(e, &x, NULL, &out);
      free(e);
      assert_int_equal(status, isfinite(wanted) ? AS_OK : AS_ERR_NONFINITE);
      if (isfinite(wanted)) assert_true(out == wanted);
    }
  assert_true(near(value("atan2(x, y)", 0.0, -1.0, -2.0), atan2(-1.0, -2.0)));
  assert_true(near(value("x^y", 0.0, 1.7, -2.3), pow(1.7, -2.3)));
  assert_true(fabs(slope("log10(x)", X, 2.0, 0.0) * 2.0 * log(10.0) - 1.0) < 1e-15);
}

/// Whole powers have exact derivatives at 0 and for negative bases, too.
static void test_whole_powers(void **state) {
  (void)state;
  assert_true(value("x^0", 0.0, 0.0, 0.0) == 1.0);
  assert_true(slope("x^1", X, 0.0, 0.0) == 1.0);
  assert_true(slope("x^2", X, 0.0, 0.0) == 0.0);
  assert_true(slope("x^2", X, -3.0, 0.0) == -6.0);
  assert_true(slope("x^3", X, -3.0, 0.0) == 27.0);
  assert_true(slope("x^-1", X, -2.0, 0.0) == -0.25);
  assert_true(slope("x^7", X, -2.0, 0.0) == 448.0);
  assert_true(slope("x^y", Y, 0.0, 2.0) == 0.0);
  assert_true(slope("x^1.5", X, 0.0, 2.0) == 0.0);
  double out[3];
  asi_expression *e = compile("t^2");
  assert_int_equal(asi_expression_along(e, (const double[][3]){{0.0, 1.0, 0.0}}, NULL, out), AS_OK);
  assert_true(out[0] == 0.0 && out[1] == 0.0 && out[2] == 2.0);
  free(e);
}

/// What happens in a branch that is not taken does not matter, nor does what only a comparison sees.
static void test_choices(void **state) {
  (void)state;
  static const char *const safe = "if(x > 0, sqrt(x), x^2)";
  assert_true(value(safe, 0.0, -1.0, 0.0) == 1.0);
  assert_true(slope(safe, X, -1.0, 0.0) == -2.0);
  assert_true(slope(safe, X, 0.0, 0.0) == 0.0); // the slope of sqrt(0) is infinite
  assert_true(slope(safe, X, 4.0, 0.0) == 0.25);
  static const char *const compared[] = {"<", "<=", ">", ">=", "==", "!="};
  for (size_t i = 0; i < sizeof compared / sizeof compared[0]; ++i) {
    char text[64];
    snprintf(text, sizeof text, "x + (sqrt(x) %s 1)", compared[i]);
    assert_true(slope(text, X, 0.0, 0.0) == 1.0);
  }
  assert_true(value("if(x < 0, t, y) - if(x > 0, t, y)", 5.0, 1.0, 2.0) == -3.0);
  assert_true(slope("max(x, 2*y)", X, 3.0, 1.0) == 1.0);
  assert_true(slope("max(x, 2*y)", Y, 3.0, 1.0) == 0.0);
  assert_true(slope("min(x, 2*y)", Y, 3.0, 1.0) == 2.0);
  assert_true(slope("max(x, 3)", X, 3.0, 0.0) == 1.0); // of two that are equal the first counts
  assert_true(slope("abs(x)", X, 0.0, 0.0) == 0.0);
  assert_true(slope("sign(x)*x", X, -2.0, 0.0) == -1.0);
  assert_true(slope("x - floor(x)", X, 2.5, 0.0) == 1.0);
  asi_expression *e = compile(safe);
  double out[3];
  assert_int_equal(asi_expression_along(e, (const double[][3]){{0.0, 2.0, 3.0}}, NULL, out), AS_OK);
  assert_true(out[0] == 0.0 && out[1] == 0.0 && out[2] == 8.0);
  free(e);
}

/// What is 0 or 1 wherever it is.
static void test_truth(void **state) {
  (void)state;
  static const char *const truth[] = {"x > 1", "(x > 1)*(y < 2)", "max(x == 1, y != 2)",
                                      "if(x, y > 1, 0)", "1 - 0 < x"};
  static const char *const none[] = {"x",
                                     "x - 1",
                                     "(x > 1) - 0.5",
                                     "x*(y > 1)",
                                     "-(x > 1)",
                                     "1",
                                     "if(x > 1, 1, -1)",
                                     "sign(x)",
                                     "if(x > 1, x, y)"};
  for (size_t i = 0; i < sizeof truth / sizeof truth[0]; ++i) {
    asi_expression *e = compile(truth[i]);
    if (!asi_expression_is_truth(e)) fail_msg("%s", truth[i]);
    free(e);
  }
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i) {
    asi_expression *e = compile(none[i]);
    if (asi_expression_is_truth(e)) fail_msg("%s", none[i]);
    free(e);
  }
}

/// Value, slope and curvature of the step are continuous, and it rises between its ends.
static void test_smooth_step(void **state) {
  (void)state;
  asi_expression *e = compile("step(t, 1, 4, 3, -2)");
  const double small = 1e-6;
  double before = 5.0;
  for (int end = 0; end < 2; ++end) {
    double left[3], right[3];
    const double t = end ? 3.0 : 1.0;
    asi_expression_along(e, (const double[][3]){{t - small, 1.0, 0.0}}, NULL, left);
    asi_expression_along(e, (const double[][3]){{t + small, 1.0, 0.0}}, NULL, right);
    for (int k = 0; k < 3; ++k) assert_true(fabs(left[k] - right[k]) < 1e-4);
  }
  for (int i = 1; i < 40; ++i) {
    const double t = 1.0 + 0.05 * i;
    double out;
    assert_int_equal(asi_expression_value(e, &t, NULL, &out), AS_OK);
    assert_true(out < before);
    before = out;
  }
  free(e);
}

// ---- compiling --------------------------------------------------------------------------------------

static void check_size(const char *text, int constants, int slots, int operations) {
  asi_expression *e = compile(text);
  if (e->n_constants != constants || e->n_slots != slots || e->n_code != operations)
    fail_msg("%s: %d constants, %d slots, %d operations", text, e->n_constants, e->n_slots,
             e->n_code);
  free(e);
}

static void test_what_is_left_to_do(void **state) {
  (void)state;
  check_size("2*pi*k", 1, 0, 0);
  check_size("t", 0, 1, 0);
  check_size("2*pi*k*t", 1, 1, 1);
  check_size("sin(2*pi*k)*t + 0", 1, 1, 1);
  check_size("x*x + x*x", 0, 1, 2); // each product once
  check_size("t*2 + x*2", 1, 2, 3); // each constant once
  check_size("if(one, t, sin(x)*y)", 0, 1, 0);
  check_size("if(x < 0, 1, 2)*0^0", 3, 1, 2);
  check_size("x^1 + 0*one", 0, 1, 0);
  check_size("step(t, 0, 0, 1, 1)", 0, 1, 1);
  check_size("step(t, 0, 1, 2, 3)", 2, 1, 4);
  check_size("lift(2)", 1, 0, 1);
}

/// The block may be moved.
static void test_copies(void **state) {
  (void)state;
  asi_expression *e = compile("k*x*sin(y) - lift(y)");
  asi_expression *copy = malloc(e->size);
  const double in[] = {2.0, 0.5};
  double a = 0.0, b = 1.0;
  memcpy(copy, e, e->size);
  assert_int_equal(asi_expression_value(e, in, &tables, &a), AS_OK);
  memset(e, 0xff, e->size);
  free(e);
  assert_int_equal(asi_expression_value(copy, in, &tables, &b), AS_OK);
  assert_true(a == b && near(a, 100.0 * 2.0 * sin(0.5) - 0.125));
  free(copy);
}

static void test_memory(void **state) {
  (void)state;
  static const char text[] = "t + x*y + 2*sin(t) + 3*cos(x) + 4*tan(y) + 5*exp(t) + 6*t*x*y + 7/x";
  asi_parse_error slip;
  asi_expression *e;
  const long live = memory.live;
  long failures = 0;
  for (as_status status = AS_ERR_MEMORY; status != AS_OK; ++failures) {
    memory.fail_on = true;
    memory.fail_at = failures + 1;
    status = asi_expression_compile(text, strlen(text), &scope, &e, &slip);
    memory.fail_at = 0;
    assert_true(status == AS_OK || (status == AS_ERR_MEMORY && e == NULL && memory.live == live));
  }
  assert_true(failures > 2);
  double in[3][3] = {{1.0, 1.0, 0.0}, {2.0, 0.0, 0.0}, {3.0, 0.0, 0.0}}, out[3], gradient[3];
  memory.taken = 0;
  assert_int_equal(asi_expression_value(e, in[0], NULL, out), AS_OK);
  assert_int_equal(asi_expression_gradient(e, in[0], NULL, out, gradient), AS_OK);
  assert_int_equal(asi_expression_along(e, (const double(*)[3])in, NULL, out), AS_OK);
  assert_int_equal(asi_expression_number("2*(k + 3)^2", 11, &scope, out, &slip), AS_OK);
  assert_true(memory.taken == 0);
  free(e);
  assert_true(memory.live == live);
}

// ---- mistakes ---------------------------------------------------------------------------------------

static void check_mistake(const char *text, int line, int column, const char *sentence) {
  asi_expression *e;
  asi_parse_error slip;
  assert_int_equal(asi_expression_compile(text, strlen(text), &scope, &e, &slip), AS_ERR_ARGUMENT);
  assert_null(e);
  if (slip.line != line || slip.column != column || strcmp(slip.sentence, sentence) != 0)
    fail_msg("%s: %d:%d (%zu): %s", text, slip.line, slip.column, slip.at, slip.sentence);
}

static void test_mistakes(void **state) {
  (void)state;
  check_mistake("", 1, 1, "the expression ends where a number or a name should follow");
  check_mistake("  ", 1, 3, "the expression ends where a number or a name should follow");
  check_mistake("1 +", 1, 4, "the expression ends where a number or a name should follow");
  check_mistake("1 +\n  * 2", 2, 3, "'*' where a number or a name should be");
  check_mistake("(t", 1, 3, "the expression ends where ) should follow");
  check_mistake("t)", 1, 2, "')' where an operator should be");
  check_mistake("t x", 1, 3, "'x' where an operator should be");
  check_mistake("2t", 1, 1, "'2t' is no number");
  check_mistake("t = 2", 1, 3, "'=' where an operator should be; equal is ==");
  check_mistake("t**2", 1, 3, "'*' where a number or a name should be; a power is a^b");
  check_mistake("t > 1 ? 2 : 3", 1, 7, "'?' where an operator should be; write if(c, a, b)");
  check_mistake("t && x", 1, 3, "'&' where an operator should be; for \"and\" write (a)*(b)");
  check_mistake("t or x", 1, 3, "'o' where an operator should be; for \"or\" write max(a, b)");
  check_mistake("t o", 1, 3, "'o' where an operator should be");
  check_mistake("ln(t)", 1, 1, "there is no function ln; the natural logarithm is log");
  check_mistake("pow(t, 2)", 1, 1, "there is no function pow; a power is a^b");
  check_mistake("2*time", 1, 3, "there is no quantity \"time\"; the time is t");
  check_mistake("Sin(t)", 1, 1, "there is no function Sin; did you mean \"sin\"?");
  check_mistake("2*PI", 1, 3, "there is no quantity \"PI\"; did you mean \"pi\"?");
  check_mistake("0 < t < 1", 1, 7,
                "a comparison of a comparison: write (a < b)*(b < c), or parentheses");
  check_mistake("max(t)", 1, 6, "the function max takes 2 numbers");
  check_mistake("sin(t, x)", 1, 6, "the function sin takes 1 number");
  check_mistake("if(t, x)", 1, 8, "the function if takes 3 numbers");
  check_mistake("1 + sin", 1, 5, "the function sin needs ( ) behind it");
  check_mistake("lift + 1", 1, 1, "the table needs ( ) behind its name");
  check_mistake("lift(1, 2)", 1, 7, "the function of a table takes 1 number");
  check_mistake("x(2)", 1, 1, "\"x\" is no function");
  check_mistake("2*snh(t)", 1, 3, "there is no function snh; did you mean \"sinh\"?");
  check_mistake("lfit(t)", 1, 1, "there is no function lfit; did you mean \"lift\"?");
  check_mistake("t +\n2*joints.crnk.angle", 2, 3,
                "there is no quantity \"joints.crnk.angle\"; did you mean \"joints.crank.angle\"?");
  check_mistake("nothing_like_it", 1, 1, "there is no quantity \"nothing_like_it\"");
  check_mistake("2*joints.crank.force", 1, 3, "joints.crank.force is a reaction");
  check_mistake("2 + 'bodies.link", 1, 5, "a quote that is not closed");
  check_mistake("\"t\xc3\xa4\" + t", 1, 1, "there is no quantity \"t\xc3\xa4\"");
  check_mistake("'t' + '\xc3\xa4\xc3\xb6'*+", 1, 7, "there is no quantity \"\xc3\xa4\xc3\xb6\"");
  check_mistake("t*\xc3\xa4", 1, 3,
                "a character that is no arithmetic where a number or a name should be");
  check_mistake("t + 1/(k - 100)", 1, 6, "1 / 0 is not a number");
  check_mistake("t*log(-2)", 1, 3, "log(-2) is not a number");
  check_mistake("t + (0 - 8)^0.5", 1, 12, "-8^0.5 is not a number");
  check_mistake("x + 1e999", 1, 5, "the number 1e999 is too large");
  check_mistake("x + 0x10", 1, 5, "numbers are decimal; 0x... is not");
  check_mistake("step(t, 2, 0, 2, 1)", 1, 1, "the step begins and ends at 2");
}

static void test_ends_and_zeros(void **state) {
  (void)state;
  asi_parse_error slip;
  double number;
  assert_int_equal(asi_expression_number("1 + 2}", 5, &scope, &number, &slip), AS_OK);
  assert_true(number == 3.0);
  assert_int_equal(asi_expression_number("1\0+ 2", 5, &scope, &number, &slip), AS_ERR_ARGUMENT);
  assert_int_equal(slip.at, 1);
  assert_int_equal(asi_expression_number("t*0 + 1", 7, &scope, &number, &slip), AS_ERR_ARGUMENT);
  assert_string_equal(slip.sentence, "the expression is not constant");
}

/// `before` n times, then `middle`, then `after` n times.
static as_status compile_repeated(const char *before, const char *middle, const char *after, int n,
                                  asi_parse_error *slip) {
  static char text[100000];
  char *end = text;
  asi_expression *e;
  for (int i = 0; i < n; ++i) end += sprintf(end, "%s", before);
  end += sprintf(end, "%s", middle);
  for (int i = 0; i < n; ++i) end += sprintf(end, "%s", after);
  const as_status status = asi_expression_compile(text, (size_t)(end - text), &scope, &e, slip);
  free(e);
  return status;
}

static void test_limits(void **state) {
  (void)state;
  asi_parse_error slip;
  static const char *const deep[][3] = {
      {"(", "t", ")"}, {"-", "t", ""}, {"t^", "t", ""}, {"sin(", "t", ")"}, {"if(t,1,", "t", ")"}};
  for (size_t i = 0; i < sizeof deep / sizeof deep[0]; ++i) {
    const char *const *d = deep[i];
    assert_int_equal(compile_repeated(d[0], d[1], d[2], ASI_EXPRESSION_DEPTH - 1, &slip), AS_OK);
    assert_int_equal(compile_repeated(d[0], d[1], d[2], 1000, &slip), AS_ERR_ARGUMENT);
    assert_string_equal(slip.sentence, "the expression is nested too deeply");
    // Where the first level too many begins: inside the first argument of if().
    const size_t levels = ASI_EXPRESSION_DEPTH - (d[0][0] == 'i');
    assert_int_equal(slip.at, levels * strlen(d[0]) + (d[0][0] == 'i' ? 3 : 0));
  }
  assert_int_equal(compile_repeated("1+", "t", "", 4999, &slip), AS_OK);
  assert_int_equal(compile_repeated("1+", "t", "", 5000, &slip), AS_ERR_ARGUMENT);
  assert_string_equal(slip.sentence, "an expression of more than 10000 characters");
  assert_int_equal(compile_repeated("", "t", "+t", 998, &slip), AS_OK);
  assert_int_equal(compile_repeated("", "t", "+t", 1100, &slip), AS_ERR_ARGUMENT);
  assert_string_equal(slip.sentence, "the expression has more than 1000 parts");
  assert_int_equal(compile_repeated("", "t + ", "n", 255, &slip), AS_ERR_ARGUMENT);
  assert_int_equal(slip.at, 4);
  assert_int_equal(compile_repeated("", "t + ", "n", 256, &slip), AS_ERR_ARGUMENT);
  assert_string_equal(slip.sentence, "a name of more than 255 letters");
}

/// An expression that others wait for has the less room the deeper these are.
static void test_depth_of_all(void **state) {
  (void)state;
  const asi_scope deep = {
      .find = find, .candidate = candidate, .depth = ASI_EXPRESSION_WAITING - 2};
  asi_parse_error slip;
  double number;
  assert_int_equal(asi_expression_number("(1)", 3, &deep, &number, &slip), AS_OK);
  assert_int_equal(asi_expression_number("((1))", 5, &deep, &number, &slip), AS_ERR_ARGUMENT);
  assert_string_equal(slip.sentence, "the expression is nested too deeply");
  assert_int_equal(slip.at, 2);
}

static void test_names_of_parameters(void **state) {
  (void)state;
  assert_true(asi_is_parameter_name("k"));
  assert_true(asi_is_parameter_name("_k2_"));
  assert_false(asi_is_parameter_name("2k"));
  assert_false(asi_is_parameter_name("a.b"));
  assert_false(asi_is_parameter_name("pi"));
  assert_false(asi_is_parameter_name("if"));
  assert_false(asi_is_parameter_name("step"));
}

// ---- what is not finite -----------------------------------------------------------------------------

static void check_blame(const char *text, double x, size_t at, const char *sentence) {
  asi_expression *e = compile(text);
  asi_parse_error slip;
  double in[8], out, gradient[8];
  put(e, 0.0, x, 0.0, in);
  assert_int_equal(asi_expression_gradient(e, in, &tables, &out, gradient), AS_ERR_NONFINITE);
  asi_expression_blame(e, text, in, &tables, &slip);
  if (slip.at != at || slip.column != (int)at + 1 || strcmp(slip.sentence, sentence) != 0)
    fail_msg("%s: %zu: %s", text, slip.at, slip.sentence);
  free(e);
}

static void test_blame(void **state) {
  (void)state;
  check_blame("2 + sqrt(x - 1)", 0.0, 4, "sqrt(-1) is not a number");
  check_blame("2/x", 0.0, 1, "2 / 0 is not a number");
  check_blame("1 - exp(sinh(3*x))", 10.0, 4, "exp(5.34324e+12) is not a number");
  check_blame("if(x < 0, log(x), 1 - log(x))", -2.0, 10, "log(-2) is not a number");
  check_blame("if(log(x) < 0, 1, 2)", -2.0, 3, "log(-2) is not a number");
  check_blame("lift(asin(x)) + lift(acos(x))", 2.0, 5, "asin(2) is not a number");
  check_blame("x*x", (double)INFINITY, 1, "a quantity has the value inf");
  check_blame("x", (double)NAN, 0, "a quantity has the value nan");
  check_blame("1 + sqrt(x)", 0.0, 4, "the derivative of sqrt(0) is not finite");
  check_blame("if(x < 1, acos(1 + x) + 1, sqrt(x))", 0.0, 10,
              "the derivative of acos(1) is not finite");
}

static void test_not_finite(void **state) {
  (void)state;
  double out, gradient[2], along[3];
  asi_expression *e = compile("sqrt(x)");
  assert_int_equal(asi_expression_value(e, (double[]){-1.0}, NULL, &out), AS_ERR_NONFINITE);
  assert_int_equal(asi_expression_value(e, (double[]){0.0}, NULL, &out), AS_OK);
  assert_int_equal(asi_expression_gradient(e, (double[]){0.0}, NULL, &out, gradient),
                   AS_ERR_NONFINITE);
  assert_int_equal(asi_expression_along(e, (const double[][3]){{0.0, 1.0, 0.0}}, NULL, along),
                   AS_ERR_NONFINITE);
  free(e);
  // A number that is none is no truth either.
  static const char *const hidden[] = {
      "if(sqrt(x) > 0, 1, 2)",     "min(sqrt(x), 1)", "min(1, sqrt(x))",
      "max(sqrt(x), 1)",           "max(1, sqrt(x))", "sign(sqrt(x))",
      "step(sqrt(x), 0, 0, 1, 1)", "sqrt(x)^2 == 1",  "floor(log(x))"};
  for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; ++i) {
    e = compile(hidden[i]);
    if (asi_expression_value(e, (double[]){-1.0}, NULL, &out) != AS_ERR_NONFINITE)
      fail_msg("%s is %g", hidden[i], out);
    free(e);
  }
}

static void test_tables(void **state) {
  (void)state;
  double out, gradient[1], along[3];
  asi_expression *e = compile("2*lift(x)");
  assert_int_equal(asi_expression_gradient(e, (double[]){3.0}, &tables, &out, gradient), AS_OK);
  assert_true(out == 54.0 && gradient[0] == 54.0);
  assert_int_equal(asi_expression_along(e, (const double[][3]){{3.0, 2.0, 5.0}}, &tables, along),
                   AS_OK);
  assert_true(along[1] == 108.0 && along[2] == 2.0 * (18.0 * 4.0 + 27.0 * 5.0));
  for (int fatal = 0; fatal < 2; ++fatal) {
    const double x = fatal ? 20.0 : 10.0;
    const as_status wanted = fatal ? AS_ERR_CALLBACK : AS_ERR_RETRY;
    assert_int_equal(asi_expression_value(e, &x, &tables, &out), wanted);
    assert_int_equal(asi_expression_gradient(e, &x, &tables, &out, gradient), wanted);
    assert_int_equal(asi_expression_along(e, (const double[][3]){{x, 1.0, 0.0}}, &tables, along),
                     wanted);
  }
  free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_precedence),
      cmocka_unit_test(test_precedence_of_slots),
      cmocka_unit_test(test_functions_as_in_c),
      cmocka_unit_test(test_whole_powers),
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_truth),
      cmocka_unit_test(test_smooth_step),
      cmocka_unit_test(test_what_is_left_to_do),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_ends_and_zeros),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_depth_of_all),
      cmocka_unit_test(test_names_of_parameters),
      cmocka_unit_test(test_blame),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
