/// Arithmetic by recursive descent:
///
///     sum     = product { (+|-) product }
///     product = signed { (*|/) signed }
///     signed  = (+|-) signed | power
///     power   = atom [ ^ signed ]                 so -2^2 = -4 and 2^3^2 = 512
///     atom    = number | name | name ( sum {, sum} ) | ( sum )
#include "file/arithmetic.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "file/value.h"

enum { MOST_DEPTH = 64 };

typedef struct scan {
  const char *text; ///< all of it
  size_t at, length;
  int depth;
  asi_lookup_fn *lookup;
  void *user;
  asi_slip *slip;
} scan;

typedef struct function {
  const char *name;
  double (*one)(double);
  double (*two)(double, double);
} function;

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }
/// Never negative, as an index in a ring.
static double remainder_of(double a, double b) { return a - b * floor(a / b); }

static const function functions[] = {
    {"sin", sin, NULL},     {"cos", cos, NULL},    {"tan", tan, NULL},
    {"asin", asin, NULL},   {"acos", acos, NULL},  {"atan", atan, NULL},
    {"atan2", NULL, atan2}, {"sqrt", sqrt, NULL},  {"abs", fabs, NULL},
    {"exp", exp, NULL},     {"log", log, NULL},    {"floor", floor, NULL},
    {"min", NULL, smaller}, {"max", NULL, larger}, {"mod", NULL, remainder_of},
};

static const function *find_function(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i)
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  return NULL;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool asi_is_parameter_name(const char *text) {
  if (!is_letter(text[0]) || strlen(text) >= ASI_NAME_LENGTH) return false;
  for (const char *c = text; *c; ++c)
    if (!is_letter(*c) && !is_digit(*c)) return false;
  return find_function(text) == NULL && strcmp(text, "pi") != 0;
}

__attribute__((format(printf, 3, 4))) static bool slip(scan *s, size_t at, const char *format,
                                                       ...) {
  va_list arguments;
  s->slip->at = at;
  va_start(arguments, format);
  vsnprintf(s->slip->sentence, sizeof s->slip->sentence, format, arguments);
  va_end(arguments);
  return false;
}

/// The next character that is no blank; 0 at the end.
static char peek(scan *s) {
  while (s->at < s->length && strchr(" \t\r\n", s->text[s->at])) ++s->at;
  return s->at < s->length ? s->text[s->at] : '\0';
}

static bool unexpected(scan *s, const char *wanted) {
  const char c = peek(s);
  if (c == '\0') return slip(s, s->at, "the expression ends where %s should follow", wanted);
  if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7f)
    return slip(s, s->at, "a character that is no arithmetic where %s should be", wanted);
  return slip(s, s->at, "'%c' where %s should be", c, wanted);
}

static bool sum(scan *s, double *out);

static bool number(scan *s, double *out) {
  const char *text = s->text + s->at;
  const size_t n = asi_scan_number(text, out);
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X' || text[1] == 'b' || text[1] == 'o'))
    return slip(s, s->at, "numbers are decimal; 0%c... is not", text[1]);
  if (n == 0 && text[0] == '0')
    return slip(s, s->at, "a number with a leading 0 could be meant as octal; leave the 0 out");
  if (n == 0) return unexpected(s, "a number");
  if (text[n] == '_') return slip(s, s->at, "write numbers without _");
  if (is_letter(text[n]) || text[n] == '.')
    return slip(s, s->at, "'%.*s' is no number", (int)n + 1, text);
  if (isinf(*out)) return slip(s, s->at, "the number %.*s is too large", (int)n, text);
  s->at += n;
  return true;
}

static bool call(scan *s, const function *f, size_t start, double *out) {
  const int wanted = f->two ? 2 : 1;
  double argument[2] = {0};
  if (peek(s) != '(') return slip(s, start, "the function %s needs ( ) behind it", f->name);
  for (int i = 0; i < wanted; ++i) {
    ++s->at; // the parenthesis or the comma
    if (!sum(s, &argument[i])) return false;
    const char next = peek(s);
    if (next != (i + 1 < wanted ? ',' : ')')) {
      if (next == ',' || next == ')')
        return slip(s, s->at, "the function %s takes %d number%s", f->name, wanted,
                    wanted > 1 ? "s" : "");
      return unexpected(s, i + 1 < wanted ? "," : ")");
    }
  }
  ++s->at;
  *out = f->two ? f->two(argument[0], argument[1]) : f->one(argument[0]);
  if (isfinite(*out)) return true;
  if (f->one) return slip(s, start, "%s(%g) is not a number", f->name, argument[0]);
  return slip(s, start, "%s(%g, %g) is not a number", f->name, argument[0], argument[1]);
}

static bool name(scan *s, double *out) {
  char word[ASI_NAME_LENGTH];
  const size_t start = s->at;
  while (s->at < s->length && (is_letter(s->text[s->at]) || is_digit(s->text[s->at]))) ++s->at;
  const size_t n = s->at - start;
  if (n >= sizeof word) return slip(s, start, "a name of more than %zu letters", sizeof word - 1);
  memcpy(word, s->text + start, n);
  word[n] = '\0';
  const function *f = find_function(word);
  if (f) return call(s, f, start, out);
  if (strcmp(word, "pi") == 0) {
    *out = 3.14159265358979323846;
    return true;
  }
  if (peek(s) == '(') return slip(s, start, "there is no function %s", word);
  s->slip->at = start;
  return s->lookup(word, out, s->slip->sentence, s->user);
}

static bool atom(scan *s, double *out) {
  const char c = peek(s);
  if (is_digit(c) || c == '.') return number(s, out);
  if (is_letter(c)) return name(s, out);
  if (c != '(') return unexpected(s, "a number or a name");
  ++s->at;
  if (!sum(s, out)) return false;
  if (peek(s) != ')') return unexpected(s, ")");
  ++s->at;
  return true;
}

/// Whatever nests passes here.
static bool signed_power(scan *s, double *out) {
  const char c = peek(s);
  if (s->depth >= MOST_DEPTH) return slip(s, s->at, "the expression is nested too deeply");
  ++s->depth;
  bool good;
  if (c == '+' || c == '-') {
    ++s->at;
    good = signed_power(s, out);
    if (good && c == '-') *out = -*out;
  } else {
    good = atom(s, out);
    if (good && peek(s) == '^') {
      double exponent = 0.0;
      const size_t at = s->at++;
      good = signed_power(s, &exponent);
      if (good) {
        const double base = *out;
        *out = pow(base, exponent);
        if (!isfinite(*out)) good = slip(s, at, "%g^%g is not a number", base, exponent);
      }
    }
  }
  --s->depth;
  return good;
}

static bool product(scan *s, double *out) {
  if (!signed_power(s, out)) return false;
  for (char c = peek(s); c == '*' || c == '/'; c = peek(s)) {
    double factor = 0.0;
    const size_t at = s->at++;
    if (!signed_power(s, &factor)) return false;
    const double left = *out;
    *out = c == '*' ? left * factor : left / factor;
    if (!isfinite(*out)) return slip(s, at, "%g %c %g is not a number", left, c, factor);
  }
  return true;
}

static bool sum(scan *s, double *out) {
  if (!product(s, out)) return false;
  for (char c = peek(s); c == '+' || c == '-'; c = peek(s)) {
    double term = 0.0;
    const size_t at = s->at++;
    if (!product(s, &term)) return false;
    const double left = *out;
    *out = c == '+' ? left + term : left - term;
    if (!isfinite(*out)) return slip(s, at, "%g %c %g is not a number", left, c, term);
  }
  return true;
}

bool asi_arithmetic(const char *text, size_t length, asi_lookup_fn *lookup, void *user,
                    double *result, asi_slip *out) {
  *result = 0.0;
  scan s = {.text = text, .length = length, .lookup = lookup, .user = user, .slip = out};
  *out = (asi_slip){0};
  if (!sum(&s, result)) return false;
  if (peek(&s) != '\0') return unexpected(&s, "an operator");
  return true;
}
