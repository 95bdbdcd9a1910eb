/// Evaluates compiled expressions: a list of operations without jumps, each on values that stand before its own.
///
/// Gradients run the list forwards for values and partial derivatives, then backwards for the sums of their products:
/// the cost does not grow with the number of slots. Derivatives along a path take the chain rule forwards,
///
///     f'  = f_a a' + f_b b'
///     f'' = f_a a'' + f_b b'' + f_aa a'^2 + 2 f_ab a' b' + f_bb b'^2
///
/// All branches of if() are evaluated; what is wrong in one that is not taken does not matter.
#include <stdio.h>
#include <string.h>

#include "alphastep/problem.h"
#include "expression/operation.h"

enum { MOST = ASI_EXPRESSION_VALUES };

const asi_operation asi_operations[ASI_OPS] = {
    [ASI_OP_CONSTANT] = {"", 0, false},     [ASI_OP_SLOT] = {"", 0, false},
    [ASI_OP_ADD] = {"+", 2, false},         [ASI_OP_SUBTRACT] = {"-", 2, false},
    [ASI_OP_MULTIPLY] = {"*", 2, false},    [ASI_OP_DIVIDE] = {"/", 2, false},
    [ASI_OP_POWER] = {"^", 2, false},       [ASI_OP_FIXED_POWER] = {"^", 2, false},
    [ASI_OP_LESS] = {"<", 2, false},        [ASI_OP_LESS_EQUAL] = {"<=", 2, false},
    [ASI_OP_GREATER] = {">", 2, false},     [ASI_OP_GREATER_EQUAL] = {">=", 2, false},
    [ASI_OP_EQUAL] = {"==", 2, false},      [ASI_OP_UNEQUAL] = {"!=", 2, false},
    [ASI_OP_NEGATE] = {"-", 1, false},      [ASI_OP_IF] = {"if", 3, true},
    [ASI_OP_MIN] = {"min", 2, true},        [ASI_OP_MAX] = {"max", 2, true},
    [ASI_OP_MOD] = {"mod", 2, true},        [ASI_OP_ATAN2] = {"atan2", 2, true},
    [ASI_OP_ABS] = {"abs", 1, true},        [ASI_OP_SIGN] = {"sign", 1, true},
    [ASI_OP_FLOOR] = {"floor", 1, true},    [ASI_OP_SIN] = {"sin", 1, true},
    [ASI_OP_COS] = {"cos", 1, true},        [ASI_OP_TAN] = {"tan", 1, true},
    [ASI_OP_ASIN] = {"asin", 1, true},      [ASI_OP_ACOS] = {"acos", 1, true},
    [ASI_OP_ATAN] = {"atan", 1, true},      [ASI_OP_EXP] = {"exp", 1, true},
    [ASI_OP_LOG] = {"log", 1, true},        [ASI_OP_LOG10] = {"log10", 1, true},
    [ASI_OP_SQRT] = {"sqrt", 1, true},      [ASI_OP_SINH] = {"sinh", 1, true},
    [ASI_OP_COSH] = {"cosh", 1, true},      [ASI_OP_TANH] = {"tanh", 1, true},
    [ASI_OP_RISE] = {"step", 1, false},     [ASI_OP_STEP] = {"step", 5, true},
    [ASI_OP_TABLE] = {"table", 1, false},   [ASI_OP_RANDOM] = {"random_normal", 2, true},
    [ASI_OP_SURFACE] = {"table", 2, false},
};

/// The finalizer of splitmix64: every bit of the result depends on every bit of z.
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

double asi_random_normal(double seed, double k) {
  const double most = 9007199254740992.0; // 2^53
  if (!(fabs(seed) <= most && fabs(k) <= most && seed == floor(seed) && k == floor(k)))
    return (double)NAN;
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  const uint64_t start = mix(mix((uint64_t)(int64_t)seed + golden) + (uint64_t)(int64_t)k);
  uint64_t sum = 0; // of twelve numbers below 2^32
  for (uint64_t i = 1; i <= 6; ++i) {
    const uint64_t z = mix(start + i * golden);
    sum += (z >> 32) + (z & UINT64_C(0xffffffff));
  }
  return ((double)sum + 6.0) / 4294967296.0 - 6.0;
}

double asi_operation_value(int op, double a, double b, double c) {
  asi_partials d;
  asi_operate(op, a, b, c, 0, &d);
  return d.f;
}

void asi_operation_words(int op, double a, double b, char *out, size_t room) {
  const asi_operation *o = &asi_operations[op];
  const char *blank = o->name[0] == '^' ? "" : " ";
  if (o->operands == 1 || op == ASI_OP_IF)
    snprintf(out, room, "%s(%g)", o->name, a);
  else if (o->function)
    snprintf(out, room, "%s(%g, %g)", o->name, a, b);
  else
    snprintf(out, room, "%g%s%s%s%g", a, blank, o->name, blank, b);
}

static as_status by_code(int code) {
  return code == AS_DONE ? AS_OK : code > 0 ? AS_ERR_RETRY : AS_ERR_CALLBACK;
}

/// Its second operand, or the first: what else stands there is no value.
static int second(const asi_instruction *i) { return i->op == ASI_OP_TABLE ? i->a : i->b; }

static bool is_table(int op) { return op == ASI_OP_TABLE || op == ASI_OP_SURFACE; }

static as_status look_up_two(const asi_tables *tables, const asi_instruction *i, double a, double b,
                             asi_partials *d) {
  const double none = (double)NAN;
  double out[6];
  *d = (asi_partials){none, none, none, none, none, none};
  if (!isfinite(a) || !isfinite(b)) return AS_OK;
  const as_status status = by_code(tables->evaluate_two(i->c, a, b, out, tables->user));
  if (status == AS_OK) *d = (asi_partials){out[0], out[1], out[2], out[3], out[4], out[5]};
  return status;
}

static as_status look_up(const asi_tables *tables, const asi_instruction *i, double a,
                         const double *b, asi_partials *d) {
  double out[3];
  if (i->op == ASI_OP_SURFACE) return look_up_two(tables, i, a, *b, d);
  *d = (asi_partials){.f = (double)NAN, .a = (double)NAN, .aa = (double)NAN};
  if (!isfinite(a)) return AS_OK; // no table is asked for this
  const as_status status = by_code(tables->evaluate(i->b, a, out, tables->user));
  if (status == AS_OK) *d = (asi_partials){.f = out[0], .a = out[1], .aa = out[2]};
  return status;
}

// ---- value ------------------------------------------------------------------------------------------

/// Constants and slots before the results.
static double *begin(const asi_expression *e, const double *x, double *value) {
  memcpy(value, e->constant, (size_t)e->n_constants * sizeof *value);
  for (int k = 0; k < e->n_slots; ++k) value[e->n_constants + k] = x[k];
  return value + e->n_constants + e->n_slots;
}

as_status asi_expression_value(const asi_expression *e, const double *x, const asi_tables *tables,
                               double *out) {
  double value[MOST];
  double *result = begin(e, x, value);
  const asi_instruction *i = asi_expression_code(e), *end = i + e->n_code;
  for (; i < end; ++i, ++result) {
    asi_partials d;
    if (is_table(i->op)) {
      const as_status status = look_up(tables, i, value[i->a], &value[second(i)], &d);
      if (status) return status;
    } else {
      asi_operate(i->op, value[i->a], value[i->b], value[i->c], 0, &d);
    }
    *result = d.f;
  }
  *out = value[e->result];
  return isfinite(*out) ? AS_OK : AS_ERR_NONFINITE;
}

// ---- truth values -----------------------------------------------------------------------------------

static bool is_comparison(int op) { return op >= ASI_OP_LESS && op <= ASI_OP_UNEQUAL; }

static bool chooses(int op) {
  return op == ASI_OP_MULTIPLY || op == ASI_OP_MIN || op == ASI_OP_MAX || op == ASI_OP_IF;
}

/// Which values are 0 or 1 wherever they are.
static void find_truths(const asi_expression *e, bool truth[MOST]) {
  const asi_instruction *i = asi_expression_code(e);
  int n = 0;
  for (; n < e->n_constants; ++n) truth[n] = e->constant[n] == 0.0 || e->constant[n] == 1.0;
  for (int k = 0; k < e->n_slots; ++k) truth[n++] = false;
  for (int k = 0; k < e->n_code; ++k, ++i)
    truth[n++] = is_comparison(i->op) || (chooses(i->op) && truth[i->a] && truth[i->b]);
}

bool asi_expression_is_truth(const asi_expression *e) {
  bool truth[MOST];
  find_truths(e, truth);
  return e->n_code > 0 && truth[e->result];
}

void asi_expression_margin(asi_expression *e) {
  bool truth[MOST], wanted[MOST] = {false};
  const int first = e->n_constants + e->n_slots;
  asi_instruction *code =
      (asi_instruction *)(void *)((int *)(void *)(e->constant + e->n_constants) + e->n_slots);
  find_truths(e, truth);
  wanted[e->result] = truth[e->result];
  for (int n = e->n_code - 1; n >= 0; --n) {
    asi_instruction *i = &code[n];
    if (!wanted[first + n]) continue;
    if (i->op == ASI_OP_LESS || i->op == ASI_OP_LESS_EQUAL) {
      const uint16_t a = i->a;
      i->a = i->b;
      i->b = a;
      i->op = ASI_OP_SUBTRACT;
    } else if (i->op == ASI_OP_GREATER || i->op == ASI_OP_GREATER_EQUAL) {
      i->op = ASI_OP_SUBTRACT;
    } else if (chooses(i->op)) {
      wanted[i->a] = wanted[i->b] = true;
      if (i->op == ASI_OP_MULTIPLY) i->op = ASI_OP_MIN;
    }
  }
}

// ---- gradient ---------------------------------------------------------------------------------------

/// What a pass forwards leaves for the way back. `a`, `b` and `pass` are those of instructions.
typedef struct trace {
  double value[MOST];
  double a[MOST], b[MOST];
  unsigned char pass[MOST];
} trace;

static as_status forwards(const asi_expression *e, const double *x, const asi_tables *tables,
                          trace *t) {
  double *result = begin(e, x, t->value);
  const asi_instruction *code = asi_expression_code(e);
  for (int n = 0; n < e->n_code; ++n) {
    const asi_instruction *i = &code[n];
    asi_partials d;
    t->pass[n] = i->op == ASI_OP_SURFACE ? ASI_PASS_BOTH : ASI_PASS_A;
    if (is_table(i->op)) {
      const as_status status = look_up(tables, i, t->value[i->a], &t->value[second(i)], &d);
      if (status) return status;
    } else {
      t->pass[n] =
          (unsigned char)asi_operate(i->op, t->value[i->a], t->value[i->b], t->value[i->c], 1, &d);
    }
    result[n] = d.f;
    t->a[n] = d.a;
    t->b[n] = d.b;
  }
  return AS_OK;
}

/// weight[v]: the derivative of the result by value v, where active[v]: where a change of v reaches the result.
static void backwards(const asi_expression *e, const trace *t, double *weight, bool *active) {
  const int first = e->n_constants + e->n_slots;
  const asi_instruction *code = asi_expression_code(e);
  memset(weight, 0, (size_t)(first + e->n_code) * sizeof *weight);
  memset(active, 0, (size_t)(first + e->n_code) * sizeof *active);
  weight[e->result] = 1.0;
  active[e->result] = true;
  for (int n = e->n_code - 1; n >= 0; --n) {
    const double w = weight[first + n];
    if (!active[first + n]) continue;
    if (t->pass[n] & ASI_PASS_A) {
      weight[code[n].a] += w * t->a[n];
      active[code[n].a] = true;
    }
    if (t->pass[n] & ASI_PASS_B) {
      weight[code[n].b] += w * t->b[n];
      active[code[n].b] = true;
    }
  }
}

as_status asi_expression_gradient(const asi_expression *e, const double *x,
                                  const asi_tables *tables, double *out, double *gradient) {
  trace t;
  double weight[MOST];
  bool active[MOST];
  const as_status status = forwards(e, x, tables, &t);
  if (status) return status;
  backwards(e, &t, weight, active);
  *out = t.value[e->result];
  bool good = isfinite(*out);
  for (int k = 0; k < e->n_slots; ++k) {
    gradient[k] = weight[e->n_constants + k];
    good = good && isfinite(gradient[k]);
  }
  return good ? AS_OK : AS_ERR_NONFINITE;
}

// ---- along a path -----------------------------------------------------------------------------------

static void chain(const asi_partials *d, int pass, const double *a, const double *b, double *out) {
  out[0] = d->f;
  out[1] = out[2] = 0.0;
  if (pass & ASI_PASS_A) {
    out[1] += d->a * a[1];
    out[2] += d->a * a[2] + d->aa * a[1] * a[1];
  }
  if (pass & ASI_PASS_B) {
    out[1] += d->b * b[1];
    out[2] += d->b * b[2] + d->bb * b[1] * b[1];
  }
  if (pass == ASI_PASS_BOTH) out[2] += 2.0 * d->ab * a[1] * b[1];
}

as_status asi_expression_along(const asi_expression *e, const double (*x)[3],
                               const asi_tables *tables, double out[3]) {
  double value[MOST][3];
  const int first = e->n_constants + e->n_slots;
  const asi_instruction *code = asi_expression_code(e);
  for (int k = 0; k < e->n_constants; ++k) {
    value[k][0] = e->constant[k];
    value[k][1] = value[k][2] = 0.0;
  }
  for (int k = 0; k < e->n_slots; ++k) memcpy(value[e->n_constants + k], x[k], sizeof value[0]);
  for (int n = 0; n < e->n_code; ++n) {
    const asi_instruction *i = &code[n];
    asi_partials d;
    int pass = i->op == ASI_OP_SURFACE ? ASI_PASS_BOTH : ASI_PASS_A;
    if (is_table(i->op)) {
      const as_status status = look_up(tables, i, value[i->a][0], &value[second(i)][0], &d);
      if (status) return status;
      chain(&d, pass, value[i->a], value[second(i)], value[first + n]);
    } else {
      pass = asi_operate(i->op, value[i->a][0], value[i->b][0], value[i->c][0], 2, &d);
      chain(&d, pass, value[i->a], value[i->b], value[first + n]);
    }
  }
  memcpy(out, value[e->result], sizeof value[0]);
  return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]) ? AS_OK : AS_ERR_NONFINITE;
}

// ---- blame ------------------------------------------------------------------------------------------

/// The operand that makes a value what it is: one that is not finite, or -1.
static int culprit(const asi_instruction *i, const double *value) {
  const int operands = asi_operations[i->op].operands;
  if (i->op == ASI_OP_IF) {
    if (!isfinite(value[i->c])) return i->c;
    return value[i->c] != 0.0 ? i->a : i->b;
  }
  if (!isfinite(value[i->a])) return i->a;
  return operands > 1 && !isfinite(value[i->b]) ? i->b : -1;
}

/// Goes back from the result as long as an operand is not finite.
static void blame_value(const asi_expression *e, const double *value, asi_parse_error *slip) {
  const int first = e->n_constants + e->n_slots;
  const asi_instruction *code = asi_expression_code(e);
  int v = e->result;
  slip->at = 0;
  while (v >= first) {
    const asi_instruction *i = &code[v - first];
    slip->at = i->at;
    const int next = culprit(i, value);
    if (next < 0) {
      char words[96];
      asi_operation_words(i->op, value[i->a], value[second(i)], words, sizeof words);
      snprintf(slip->sentence, sizeof slip->sentence, "%s is not a number", words);
      return;
    }
    v = next;
  }
  snprintf(slip->sentence, sizeof slip->sentence, "a quantity has the value %g", value[v]);
}

/// The first operation that lets an infinite derivative through.
static void blame_derivative(const asi_expression *e, const trace *t, const bool *active,
                             asi_parse_error *slip) {
  const int first = e->n_constants + e->n_slots;
  const asi_instruction *code = asi_expression_code(e);
  for (int n = 0; n < e->n_code; ++n) {
    const bool bad = (t->pass[n] & ASI_PASS_A && !isfinite(t->a[n])) ||
                     (t->pass[n] & ASI_PASS_B && !isfinite(t->b[n]));
    if (!bad || !active[first + n]) continue;
    char words[96];
    asi_operation_words(code[n].op, t->value[code[n].a], t->value[second(&code[n])], words,
                        sizeof words);
    slip->at = code[n].at;
    snprintf(slip->sentence, sizeof slip->sentence, "the derivative of %s is not finite", words);
    return;
  }
  slip->at = 0;
  snprintf(slip->sentence, sizeof slip->sentence, "a derivative of the expression is not finite");
}

void asi_expression_blame(const asi_expression *e, const char *text, const double *x,
                          const asi_tables *tables, asi_parse_error *slip) {
  trace t;
  double weight[MOST];
  bool active[MOST];
  *slip = (asi_parse_error){0};
  if (forwards(e, x, tables, &t)) {
    snprintf(slip->sentence, sizeof slip->sentence, "a table cannot be evaluated");
  } else if (!isfinite(t.value[e->result])) {
    blame_value(e, t.value, slip);
  } else {
    backwards(e, &t, weight, active);
    blame_derivative(e, &t, active, slip);
  }
  asi_parse_error_place(slip, text);
}
