/// The operations of expressions: values and partial derivatives, each formula once.
#ifndef ALPHASTEP_EXPRESSION_OPERATION_H
#define ALPHASTEP_EXPRESSION_OPERATION_H

#include <math.h>

#include "expression/expression.h"

typedef enum asi_op {
  ASI_OP_CONSTANT, ///< while compiling
  ASI_OP_SLOT,     ///< while compiling
  ASI_OP_ADD,
  ASI_OP_SUBTRACT,
  ASI_OP_MULTIPLY,
  ASI_OP_DIVIDE,
  ASI_OP_POWER,       ///< a^b
  ASI_OP_FIXED_POWER, ///< a^b, b a constant other than 0 and 1
  ASI_OP_LESS,
  ASI_OP_LESS_EQUAL,
  ASI_OP_GREATER,
  ASI_OP_GREATER_EQUAL,
  ASI_OP_EQUAL,
  ASI_OP_UNEQUAL,
  ASI_OP_NEGATE,
  ASI_OP_IF, ///< c != 0 ? a : b
  ASI_OP_MIN,
  ASI_OP_MAX,
  ASI_OP_MOD,
  ASI_OP_ATAN2,
  ASI_OP_RANDOM, ///< number b of the sequence a
  ASI_OP_ABS,
  ASI_OP_SIGN,
  ASI_OP_FLOOR,
  ASI_OP_SIN,
  ASI_OP_COS,
  ASI_OP_TAN,
  ASI_OP_ASIN,
  ASI_OP_ACOS,
  ASI_OP_ATAN,
  ASI_OP_EXP,
  ASI_OP_LOG,
  ASI_OP_LOG10,
  ASI_OP_SQRT,
  ASI_OP_SINH,
  ASI_OP_COSH,
  ASI_OP_TANH,
  ASI_OP_RISE,    ///< from 0 to 1 between 0 and 1
  ASI_OP_STEP,    ///< while compiling: made of others
  ASI_OP_TABLE,   ///< number b of a
  ASI_OP_SURFACE, ///< number c of a and b
  ASI_OPS,
} asi_op;

/// f(a, b) and its derivatives.
typedef struct asi_partials {
  double f, a, b, aa, ab, bb;
} asi_partials;

/// Through which operands a change passes to the result. A comparison lets none through, a choice the chosen one
/// only: what happens in the other must not matter, not even as 0 times infinity.
enum { ASI_PASS_NONE = 0, ASI_PASS_A = 1, ASI_PASS_B = 2, ASI_PASS_BOTH = 3 };

static inline double asi_fixed_power(double x, double n) {
  if (n == 2.0) return x * x;
  if (n == 3.0) return x * x * x;
  if (n == 1.0) return x;
  if (n == 0.0) return 1.0;
  return pow(x, n);
}

static inline double asi_compare(double a, double b, bool holds) {
  return isunordered(a, b) ? (double)NAN : (double)holds;
}

/// a^b where both vary. At a = 0 the derivatives by b are those of the limit, if there is one.
static inline void asi_power(double a, double b, int order, asi_partials *d) {
  d->f = pow(a, b);
  if (order == 0) return;
  const double slope = pow(a, b - 1.0), l = log(a);
  d->a = b * slope;
  d->b = a == 0.0 && b > 0.0 ? 0.0 : d->f * l;
  if (order == 1) return;
  d->aa = b == 1.0 ? 0.0 : b * (b - 1.0) * pow(a, b - 2.0);
  d->ab = a == 0.0 && b > 1.0 ? 0.0 : slope * (1.0 + b * l);
  d->bb = a == 0.0 && b > 0.0 ? 0.0 : d->f * l * l;
}

/// y = a, x = b. With f_y = x/r^2 and f_x = -y/r^2: f_yy = -f_xx = 2 f_y f_x, f_xy = f_x^2 - f_y^2.
static inline void asi_atan2(double y, double x, int order, asi_partials *d) {
  d->f = atan2(y, x);
  if (order == 0) return;
  const double r = hypot(x, y);
  d->a = x / r / r;
  d->b = -y / r / r;
  d->aa = 2.0 * d->a * d->b;
  d->ab = d->b * d->b - d->a * d->a;
  d->bb = -d->aa;
}

/// u^3 (10 - 15 u + 6 u^2): value, slope and curvature are continuous at 0 and 1.
static inline void asi_rise(double u, asi_partials *d) {
  *d = (asi_partials){.f = u >= 1.0 ? 1.0 : 0.0};
  if (u <= 0.0 || u >= 1.0) return;
  const double w = 1.0 - u;
  d->f = u * u * u * (10.0 + u * (6.0 * u - 15.0));
  d->a = 30.0 * u * u * w * w;
  d->aa = 60.0 * u * w * (w - u);
}

/// Number k of the sequence `seed` of independent numbers with mean 0 and variance 1: the sum of twelve that are uniform
/// between 0 and 1, less 6. Integers alone decide, so it is the same on every machine. NAN: not whole, or above 2^53.
double asi_random_normal(double seed, double k);

/// Functions of one argument, order 0: value, 1: also first derivatives, 2: also second ones (those that cost
/// nothing are written before). Returns through what a change passes.
__attribute__((always_inline)) static inline int asi_operate_one(int op, double a, int order,
                                                                 asi_partials *d) {
  switch (op) {
  case ASI_OP_NEGATE:
    d->f = -a;
    d->a = -1.0;
    break;
  case ASI_OP_ABS:
    d->f = fabs(a);
    d->a = (double)((a > 0.0) - (a < 0.0));
    break;
  case ASI_OP_SIGN: d->f = isnan(a) ? a : (double)((a > 0.0) - (a < 0.0)); return ASI_PASS_NONE;
  case ASI_OP_FLOOR: d->f = floor(a); return ASI_PASS_NONE;
  case ASI_OP_SIN:
    d->f = sin(a);
    if (order > 0) d->a = cos(a);
    d->aa = -d->f;
    break;
  case ASI_OP_COS:
    d->f = cos(a);
    if (order > 0) d->a = -sin(a);
    d->aa = -d->f;
    break;
  case ASI_OP_TAN:
    d->f = tan(a);
    d->a = 1.0 + d->f * d->f;
    d->aa = 2.0 * d->f * d->a;
    break;
  case ASI_OP_ASIN:
  case ASI_OP_ACOS:
    d->f = op == ASI_OP_ASIN ? asin(a) : acos(a);
    if (order == 0) break;
    d->a = (op == ASI_OP_ASIN ? 1.0 : -1.0) / sqrt((1.0 - a) * (1.0 + a));
    d->aa = a * d->a / ((1.0 - a) * (1.0 + a));
    break;
  case ASI_OP_ATAN:
    d->f = atan(a);
    d->a = 1.0 / (1.0 + a * a);
    d->aa = -2.0 * a * d->a * d->a;
    break;
  case ASI_OP_EXP: d->f = d->a = d->aa = exp(a); break;
  case ASI_OP_LOG:
  case ASI_OP_LOG10:
    d->f = op == ASI_OP_LOG ? log(a) : log10(a);
    d->a = (op == ASI_OP_LOG ? 1.0 : 0.43429448190325182765) / a; // 1/ln(10)
    d->aa = -d->a / a;
    break;
  case ASI_OP_SQRT:
    d->f = sqrt(a);
    d->a = 0.5 / d->f;
    d->aa = -0.5 * d->a / a;
    break;
  case ASI_OP_SINH:
    d->f = d->aa = sinh(a);
    if (order > 0) d->a = cosh(a);
    break;
  case ASI_OP_COSH:
    d->f = d->aa = cosh(a);
    if (order > 0) d->a = sinh(a);
    break;
  case ASI_OP_TANH:
    d->f = tanh(a);
    if (order == 0) break;
    d->a = 1.0 / cosh(a);
    d->a *= d->a; // 1 - f^2 would lose its digits
    d->aa = -2.0 * d->f * d->a;
    break;
  case ASI_OP_RISE: asi_rise(a, d); break;
  default: d->f = (double)NAN; break;
  }
  return ASI_PASS_A;
}

/// All operations but tables.
__attribute__((always_inline)) static inline int asi_operate(int op, double a, double b, double c,
                                                             int order, asi_partials *d) {
  if (order > 0) *d = (asi_partials){0};
  switch (op) {
  case ASI_OP_ADD:
    d->f = a + b;
    d->a = d->b = 1.0;
    return ASI_PASS_BOTH;
  case ASI_OP_SUBTRACT:
    d->f = a - b;
    d->a = 1.0;
    d->b = -1.0;
    return ASI_PASS_BOTH;
  case ASI_OP_MULTIPLY:
    d->f = a * b;
    d->a = b;
    d->b = a;
    d->ab = 1.0;
    return ASI_PASS_BOTH;
  case ASI_OP_DIVIDE:
    d->f = a / b;
    d->a = 1.0 / b;
    d->b = -d->f / b;
    d->ab = -d->a / b;
    d->bb = -2.0 * d->b / b;
    return ASI_PASS_BOTH;
  case ASI_OP_POWER: asi_power(a, b, order, d); return ASI_PASS_BOTH;
  case ASI_OP_FIXED_POWER:
    d->f = asi_fixed_power(a, b);
    if (order > 0) d->a = b * asi_fixed_power(a, b - 1.0);
    if (order > 1) d->aa = b * (b - 1.0) * asi_fixed_power(a, b - 2.0);
    return ASI_PASS_A;
  case ASI_OP_LESS: d->f = asi_compare(a, b, a < b); return ASI_PASS_NONE;
  case ASI_OP_LESS_EQUAL: d->f = asi_compare(a, b, a <= b); return ASI_PASS_NONE;
  case ASI_OP_GREATER: d->f = asi_compare(a, b, a > b); return ASI_PASS_NONE;
  case ASI_OP_GREATER_EQUAL: d->f = asi_compare(a, b, a >= b); return ASI_PASS_NONE;
  case ASI_OP_EQUAL: d->f = asi_compare(a, b, a == b); return ASI_PASS_NONE;
  case ASI_OP_UNEQUAL: d->f = asi_compare(a, b, a != b); return ASI_PASS_NONE;
  case ASI_OP_IF:
  case ASI_OP_MIN:
  case ASI_OP_MAX: {
    const bool second = op == ASI_OP_IF    ? c == 0.0
                        : op == ASI_OP_MIN ? b < a || isnan(b)
                                           : b > a || isnan(b);
    d->f = second ? b : a;
    if (op == ASI_OP_IF && isnan(c)) d->f = c;
    *(second ? &d->b : &d->a) = 1.0;
    return second ? ASI_PASS_B : ASI_PASS_A;
  }
  case ASI_OP_MOD: {
    const double turns = floor(a / b);
    d->f = a - b * turns;
    d->a = 1.0;
    d->b = -turns;
    return ASI_PASS_BOTH;
  }
  case ASI_OP_RANDOM: d->f = asi_random_normal(a, b); return ASI_PASS_NONE;
  case ASI_OP_ATAN2: asi_atan2(a, b, order, d); return ASI_PASS_BOTH;
  default: return asi_operate_one(op, a, order, d);
  }
}

/// What is known of an operation by its name.
typedef struct asi_operation {
  const char *name;
  int operands;
  bool function; ///< name(a, b), else an operator
} asi_operation;

extern const asi_operation asi_operations[ASI_OPS];

/// The value alone.
double asi_operation_value(int op, double a, double b, double c);
/// Line and column of a slip in its text.
void asi_parse_error_place(asi_parse_error *slip, const char *text);
/// `sqrt(-1)`, `1 / 0`: an operation in words.
void asi_operation_words(int op, double a, double b, char *out, size_t room);

#endif
