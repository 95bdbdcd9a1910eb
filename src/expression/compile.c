/// Compiles expressions, by precedence:
///
///     == != < <= > >=     once: a < b < c is refused
///     + -                 from the left
///     * /                 from the left
///     + - before one      so -2^2 = -4
///     ^                   from the right: 2^3^2 = 512, and 2^-1 = 0.5
///
/// Each operation becomes a node, behind those of its operands. Operations on numbers are done at once and leave no
/// node; one that is there already is used again. What the result needs is then copied, in the same order, into one
/// block.
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/problem.h"
#include "base/hint.h"
#include "base/number.h"
#include "base/text.h"
#include "expression/operation.h"

enum { COMPARISON = 1, SUM, PRODUCT, POWER }; // precedence

enum { MOST_ARGUMENTS = 5 };

/// A constant, a slot, an operation.
typedef struct node {
  int op;
  int a, b, c;   ///< nodes; a: which slot; b: which table
  double number; ///< of a constant
  size_t at;
} node;

/// The result of a part of the text.
typedef struct operand {
  int node;      ///< -1: a number
  double number; ///< finite
} operand;

typedef struct compiler {
  const char *text; ///< all of it
  size_t at, length;
  int depth;
  const asi_scope *scope;
  asi_parse_error *slip;
  node *node;
  int n_nodes, room;
  bool no_memory;
} compiler;

// ---- mistakes ---------------------------------------------------------------------------------------

void asi_parse_error_place(asi_parse_error *slip, const char *text) {
  slip->line = slip->column = 1;
  for (size_t i = 0; i < slip->at; ++i) {
    if (text[i] == '\n') {
      ++slip->line;
      slip->column = 1;
    } else if (((unsigned char)text[i] & 0xc0) != 0x80) { // not inside a character
      ++slip->column;
    }
  }
}

__attribute__((format(printf, 3, 4))) static bool slip(compiler *s, size_t at, const char *format,
                                                       ...) {
  va_list arguments;
  s->slip->at = at;
  va_start(arguments, format);
  asi_format(s->slip->sentence, sizeof s->slip->sentence, format, arguments);
  va_end(arguments);
  return false;
}

/// The next character that is no blank; 0 at the end.
static char peek(compiler *s) {
  while (s->at < s->length && s->text[s->at] && strchr(" \t\r\n", s->text[s->at])) ++s->at;
  return s->at < s->length ? s->text[s->at] : '\0';
}

/// What other languages write otherwise.
static const char *advice(const compiler *s) {
  const char *at = s->text + s->at;
  const size_t n = s->length - s->at;
  if (*at == '*' && s->at > 0 && at[-1] == '*') return "; a power is a^b";
  if (*at == '=') return "; equal is ==";
  if (*at == '?') return "; write if(c, a, b)";
  if (*at == '&' || (n > 3 && memcmp(at, "and ", 4) == 0)) return "; for \"and\" write (a)*(b)";
  if (*at == '|' || (n > 2 && memcmp(at, "or ", 3) == 0)) return "; for \"or\" write max(a, b)";
  return "";
}

static bool unexpected(compiler *s, const char *wanted) {
  const char c = peek(s);
  if (s->at >= s->length)
    return slip(s, s->at, "the expression ends where %s should follow", wanted);
  if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7f)
    return slip(s, s->at, "a character that is no arithmetic where %s should be", wanted);
  return slip(s, s->at, "'%c' where %s should be%s", c, wanted, advice(s));
}

// ---- nodes ------------------------------------------------------------------------------------------

static bool same(const node *a, const node *b) {
  return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c && a->number == b->number &&
         !signbit(a->number) == !signbit(b->number);
}

/// Finds or adds a node.
static bool add(compiler *s, node new, operand *out) {
  for (int i = s->n_nodes - 1; i >= 0; --i)
    if (same(&s->node[i], &new)) {
      *out = (operand){.node = i};
      return true;
    }
  if (s->n_nodes >= ASI_EXPRESSION_VALUES)
    return slip(s, new.at, "the expression has more than %d parts", ASI_EXPRESSION_VALUES);
  if (s->n_nodes == s->room) {
    const int room = s->room > 0 ? 2 * s->room : 16;
    node *grown = realloc(s->node, (size_t)room * sizeof *grown);
    if (grown == NULL) {
      s->no_memory = true;
      return false;
    }
    s->node = grown;
    s->room = room;
  }
  s->node[s->n_nodes] = new;
  *out = (operand){.node = s->n_nodes++};
  return true;
}

static bool is_number(const operand *o) { return o->node < 0; }
static bool is(const operand *o, double number) { return is_number(o) && o->number == number; }

/// The node of an operand, for a number a new one.
static bool settle(compiler *s, operand *o, size_t at) {
  return !is_number(o) || add(s, (node){.op = ASI_OP_CONSTANT, .number = o->number, .at = at}, o);
}

/// An operation that gives one of its operands.
static const operand *shortcut(int op, const operand *a, const operand *b) {
  switch (op) {
  case ASI_OP_ADD: return is(b, 0.0) ? a : is(a, 0.0) ? b : NULL;
  case ASI_OP_SUBTRACT: return is(b, 0.0) ? a : NULL;
  case ASI_OP_MULTIPLY: return is(b, 1.0) ? a : is(a, 1.0) ? b : NULL;
  case ASI_OP_DIVIDE:
  case ASI_OP_POWER: return is(b, 1.0) ? a : NULL;
  default: return NULL;
  }
}

/// An operation on one or two operands; `out` may be one of these.
static bool operate(compiler *s, int op, operand a, operand b, size_t at, operand *out) {
  const bool one = asi_operations[op].operands == 1;
  if (is_number(&a) && (one || is_number(&b))) {
    const double number = asi_operation_value(op, a.number, b.number, 0.0);
    char words[96];
    *out = (operand){.node = -1, .number = number};
    if (isfinite(number)) return true;
    asi_operation_words(op, a.number, b.number, words, sizeof words);
    return slip(s, at, "%s is not a number", words);
  }
  const operand *given = shortcut(op, &a, &b);
  if (given || (op == ASI_OP_POWER && is(&b, 0.0))) {
    *out = given ? *given : (operand){.node = -1, .number = 1.0};
    return true;
  }
  if (op == ASI_OP_POWER && is_number(&b)) op = ASI_OP_FIXED_POWER;
  if (one) b = a;
  return settle(s, &a, at) && settle(s, &b, at) &&
         add(s, (node){.op = op, .a = a.node, .b = one ? 0 : b.node, .at = at}, out);
}

static bool choose(compiler *s, operand c, operand a, operand b, size_t at, operand *out) {
  if (is_number(&c)) {
    *out = c.number != 0.0 ? a : b;
    return true;
  }
  return settle(s, &a, at) && settle(s, &b, at) &&
         add(s, (node){.op = ASI_OP_IF, .a = a.node, .b = b.node, .c = c.node, .at = at}, out);
}

/// y0 + (y1 - y0) rise((x - x0)/(x1 - x0)), for the arguments x, x0, y0, x1, y1.
static bool smooth_step(compiler *s, const operand *argument, size_t at, operand *out) {
  const operand x = argument[0], x0 = argument[1], y0 = argument[2], x1 = argument[3],
                y1 = argument[4];
  operand u = {.node = -1}, width = u, height = u;
  if (is_number(&x0) && is(&x1, x0.number))
    return slip(s, at, "the step begins and ends at %g", x0.number);
  return operate(s, ASI_OP_SUBTRACT, x, x0, at, &u) &&
         operate(s, ASI_OP_SUBTRACT, x1, x0, at, &width) &&
         operate(s, ASI_OP_DIVIDE, u, width, at, &u) && operate(s, ASI_OP_RISE, u, u, at, &u) &&
         operate(s, ASI_OP_SUBTRACT, y1, y0, at, &height) &&
         operate(s, ASI_OP_MULTIPLY, height, u, at, &u) && operate(s, ASI_OP_ADD, y0, u, at, out);
}

// ---- numbers and names ------------------------------------------------------------------------------

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The operation of a function; -1: there is none.
static int find_function(const char *name) {
  for (int op = 0; op < ASI_OPS; ++op)
    if (asi_operations[op].function && strcmp(asi_operations[op].name, name) == 0) return op;
  return -1;
}

bool asi_is_parameter_name(const char *text) {
  if (!is_letter(text[0]) || strlen(text) >= ASI_NAME_LENGTH) return false;
  for (const char *c = text; *c; ++c)
    if (!is_letter(*c) && !is_digit(*c)) return false;
  return find_function(text) < 0 && strcmp(text, "pi") != 0;
}

static bool number(compiler *s, operand *out) {
  const char *text = s->text + s->at;
  *out = (operand){.node = -1};
  const size_t n = asi_scan_number(text, &out->number);
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X' || text[1] == 'b' || text[1] == 'o'))
    return slip(s, s->at, "numbers are decimal; 0%c... is not", text[1]);
  if (n == 0 && text[0] == '0')
    return slip(s, s->at, "a number with a leading 0 could be meant as octal; leave the 0 out");
  if (n == 0) return unexpected(s, "a number");
  if (text[n] == '_') return slip(s, s->at, "write numbers without _");
  if (is_letter(text[n]) || text[n] == '.')
    return slip(s, s->at, "'%.*s' is no number", (int)n + 1, text);
  if (isinf(out->number)) return slip(s, s->at, "the number %.*s is too large", (int)n, text);
  s->at += n;
  return true;
}

static bool is_inside_name(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

/// A letter or _, then letters, digits, _ and points; or anything between quotes of one kind.
static bool word(compiler *s, char out[ASI_EXPRESSION_NAME]) {
  const size_t start = s->at;
  const char quote = s->text[start];
  size_t from = start, n = 0;
  if (quote == '\'' || quote == '"') {
    ++from;
    while (from + n < s->length && s->text[from + n] != quote) ++n;
    if (from + n >= s->length) return slip(s, start, "a quote that is not closed");
    s->at = from + n + 1;
  } else {
    while (from + n < s->length && is_inside_name(s->text[from + n])) ++n;
    s->at = from + n;
  }
  if (n >= ASI_EXPRESSION_NAME)
    return slip(s, start, "a name of more than %d letters", ASI_EXPRESSION_NAME - 1);
  memcpy(out, s->text + from, n);
  out[n] = '\0';
  return true;
}

static bool knows_time(const asi_scope *scope) {
  char sentence[ASI_SENTENCE_LENGTH];
  asi_named named = {.sentence = sentence};
  return scope->find("t", &named, scope->user) == ASI_MEANS_SLOT;
}

static bool unknown(compiler *s, size_t at, const char *name, bool called) {
  const asi_scope *scope = s->scope;
  if (!called && strcmp(name, "time") == 0 && knows_time(scope))
    return slip(s, at, "there is no quantity \"time\"; the time is t");
  if (called && strcmp(name, "ln") == 0)
    return slip(s, at, "there is no function ln; the natural logarithm is log");
  if (called && strcmp(name, "pow") == 0)
    return slip(s, at, "there is no function pow; a power is a^b");
  asi_hint hint = {.word = name};
  for (int op = 0; op < ASI_OPS && called; ++op)
    if (asi_operations[op].function) asi_hint_try(&hint, asi_operations[op].name);
  if (!called) asi_hint_try(&hint, "pi");
  const char *candidate = NULL;
  for (int i = 0; scope->candidate && (candidate = scope->candidate(i, scope->user)); ++i) {
    if (called && strcmp(candidate, name) == 0)
      return slip(s, at, "\"%.60s\" is no function", name);
    asi_hint_try(&hint, candidate);
  }
  if (called) return slip(s, at, "there is no function %.40s%s", name, asi_hint_text(&hint));
  return slip(s, at, "there is no quantity \"%.40s\"%s", name, asi_hint_text(&hint));
}

// ---- operators --------------------------------------------------------------------------------------

static bool climb(compiler *s, int least, operand *out);

/// `(x, y)` behind a function's name: as many as it wants.
static bool arguments(compiler *s, const char *name, int wanted, operand *out) {
  for (int i = 0; i < wanted; ++i) {
    ++s->at; // the parenthesis or the comma
    if (!climb(s, COMPARISON, &out[i])) return false;
    const char next = peek(s);
    if (next != (i + 1 < wanted ? ',' : ')')) {
      if (next == ',' || next == ')')
        return slip(s, s->at, "the function %.40s takes %d number%s", name, wanted,
                    wanted > 1 ? "s" : "");
      return unexpected(s, i + 1 < wanted ? ", (inside [ ] and { } it needs quotes)" : ")");
    }
  }
  ++s->at;
  return true;
}

static bool call(compiler *s, int op, size_t at, operand *out) {
  const char *name = asi_operations[op].name;
  operand argument[MOST_ARGUMENTS] = {{.node = -1}};
  if (peek(s) != '(') return slip(s, at, "the function %s needs ( ) behind it", name);
  if (!arguments(s, name, asi_operations[op].operands, argument)) return false;
  if (op == ASI_OP_IF) return choose(s, argument[0], argument[1], argument[2], at, out);
  if (op == ASI_OP_STEP) return smooth_step(s, argument, at, out);
  return operate(s, op, argument[0], argument[1], at, out);
}

/// A table of a number.
static bool look_up(compiler *s, const asi_named *named, double x, double y, size_t at,
                    operand *out) {
  const asi_tables *tables = s->scope->tables;
  double value[6] = {0};
  const bool two = named->arguments == 2;
  const int code = two ? tables->evaluate_two(named->index, x, y, value, tables->user)
                       : tables->evaluate(named->index, x, value, tables->user);
  *out = (operand){.node = -1, .number = value[0]};
  if (code == AS_DONE && isfinite(value[0])) return true;
  return two ? slip(s, at, "the table has no value at %g, %g", x, y)
             : slip(s, at, "the table has no value at %g", x);
}

/// The name of a table stands before s->at.
static bool table(compiler *s, const asi_named *named, size_t at, operand *out) {
  operand argument[2] = {{.node = -1}, {.node = -1}};
  const int index = named->index;
  assert(index >= 0 && index <= UINT16_MAX);
  if (peek(s) != '(') return slip(s, at, "the table needs ( ) behind its name");
  if (!arguments(s, "of a table", named->arguments, argument)) return false;
  const bool one = named->arguments == 1;
  if (is_number(&argument[0]) && (one || is_number(&argument[1])) && s->scope->tables)
    return look_up(s, named, argument[0].number, argument[1].number, at, out);
  if (!settle(s, &argument[0], at) || (!one && !settle(s, &argument[1], at))) return false;
  node n = {.op = one ? ASI_OP_TABLE : ASI_OP_SURFACE, .a = argument[0].node, .at = at};
  n.b = one ? index : argument[1].node;
  n.c = one ? 0 : index;
  return add(s, n, out);
}

/// What the scope knows of a name; built-in ones are not asked for.
static asi_meaning find(compiler *s, size_t at, bool quoted, int *op, asi_named *named) {
  char name[ASI_EXPRESSION_NAME];
  *op = -1;
  if (!word(s, name)) return ASI_MEANS_MISTAKE;
  if (!quoted && (*op = find_function(name)) >= 0) return ASI_MEANS_NOTHING;
  if (!quoted && strcmp(name, "pi") == 0) {
    named->number = 3.14159265358979323846;
    return ASI_MEANS_CONSTANT;
  }
  const bool called = named->called = peek(s) == '(';
  named->depth = s->scope->depth + s->depth;
  named->arguments = 1;
  s->slip->at = at;
  const asi_meaning meaning = s->scope->find(name, named, s->scope->user);
  if (meaning == ASI_MEANS_NOTHING)
    unknown(s, at, name, called);
  else if (called && meaning != ASI_MEANS_TABLE && meaning != ASI_MEANS_MISTAKE)
    slip(s, at, "\"%.60s\" is no function", name);
  else
    return meaning;
  return ASI_MEANS_MISTAKE;
}

static bool name(compiler *s, operand *out) {
  const size_t at = s->at;
  const bool quoted = !is_letter(s->text[at]);
  asi_named named = {.sentence = s->slip->sentence};
  int op;
  switch (find(s, at, quoted, &op, &named)) {
  case ASI_MEANS_NOTHING: return call(s, op, at, out);
  case ASI_MEANS_CONSTANT: *out = (operand){.node = -1, .number = named.number}; return true;
  case ASI_MEANS_SLOT: return add(s, (node){.op = ASI_OP_SLOT, .a = named.index, .at = at}, out);
  case ASI_MEANS_TABLE: return table(s, &named, at, out);
  default: return false;
  }
}

/// A number, a name, something in parentheses, each with signs before it.
static bool atom(compiler *s, operand *out) {
  const size_t at = s->at;
  const char c = peek(s);
  if (is_digit(c) || c == '.') return number(s, out);
  if (is_letter(c) || c == '\'' || c == '"') return name(s, out);
  if (c == '+' || c == '-') {
    ++s->at;
    if (!climb(s, POWER, out)) return false;
    return c == '+' || operate(s, ASI_OP_NEGATE, *out, *out, at, out);
  }
  if (c != '(') return unexpected(s, "a number or a name");
  ++s->at;
  if (!climb(s, COMPARISON, out)) return false;
  if (peek(s) != ')') return unexpected(s, ")");
  ++s->at;
  return true;
}

/// The operator that follows, its precedence and length; -1: there is none.
static int operator_at(compiler *s, int *precedence, size_t *length) {
  const char c = peek(s);
  const bool equal = s->at + 1 < s->length && s->text[s->at + 1] == '=';
  *precedence = COMPARISON;
  *length = equal ? 2 : 1;
  switch (c) {
  case '<': return equal ? ASI_OP_LESS_EQUAL : ASI_OP_LESS;
  case '>': return equal ? ASI_OP_GREATER_EQUAL : ASI_OP_GREATER;
  case '=': return equal ? ASI_OP_EQUAL : -1;
  case '!': return equal ? ASI_OP_UNEQUAL : -1;
  default: break;
  }
  *length = 1;
  *precedence = c == '^' ? POWER : c == '*' || c == '/' ? PRODUCT : SUM;
  switch (c) {
  case '+': return ASI_OP_ADD;
  case '-': return ASI_OP_SUBTRACT;
  case '*': return ASI_OP_MULTIPLY;
  case '/': return ASI_OP_DIVIDE;
  case '^': return ASI_OP_POWER;
  default: return -1;
  }
}

/// An atom and all operators behind it that bind as strongly as `least` or more. Whatever nests passes here.
static bool climb(compiler *s, int least, operand *out) {
  (void)peek(s);
  if (s->depth >= ASI_EXPRESSION_DEPTH || s->scope->depth + s->depth >= ASI_EXPRESSION_WAITING)
    return slip(s, s->at, "the expression is nested too deeply");
  ++s->depth;
  bool good = atom(s, out), compared = false;
  while (good) {
    int precedence = 0;
    size_t length = 0;
    const int op = operator_at(s, &precedence, &length);
    const size_t at = s->at;
    operand right = {.node = -1};
    if (op < 0 || precedence < least) break;
    if (precedence == COMPARISON && compared) {
      good = slip(s, at, "a comparison of a comparison: write (a < b)*(b < c), or parentheses");
      break;
    }
    compared = precedence == COMPARISON;
    s->at += length;
    good = climb(s, precedence == POWER ? POWER : precedence + 1, &right) &&
           operate(s, op, *out, right, at, out);
  }
  --s->depth;
  return good;
}

// ---- the block --------------------------------------------------------------------------------------

/// Marks in `place` the nodes that the result needs, then gives each its number: constants, slots, operations.
static void number_nodes(const compiler *s, int root, int *place, asi_expression *e) {
  for (int i = 0; i <= root; ++i) place[i] = i == root;
  for (int i = root; i >= 0; --i) {
    const node *n = &s->node[i];
    const int operands = asi_operations[n->op].operands;
    if (!place[i]) continue;
    if (operands > 0) place[n->a] = 1;
    if (operands > 1) place[n->b] = 1;
    if (operands > 2) place[n->c] = 1;
  }
  for (int i = 0; i <= root; ++i) {
    const int op = s->node[i].op;
    if (place[i])
      ++*(op == ASI_OP_CONSTANT ? &e->n_constants : op == ASI_OP_SLOT ? &e->n_slots : &e->n_code);
  }
  int next[3] = {0, e->n_constants, e->n_constants + e->n_slots};
  for (int i = 0; i <= root; ++i) {
    const int op = s->node[i].op;
    place[i] = place[i] ? next[op == ASI_OP_CONSTANT ? 0 : op == ASI_OP_SLOT ? 1 : 2]++ : -1;
  }
  e->result = place[root];
}

static asi_expression *pack(const compiler *s, int root) {
  int place[ASI_EXPRESSION_VALUES];
  asi_expression head = {0};
  number_nodes(s, root, place, &head);
  head.size = sizeof head + (size_t)head.n_constants * sizeof(double) +
              (size_t)head.n_slots * sizeof(int) + (size_t)head.n_code * sizeof(asi_instruction);
  asi_expression *e = malloc(head.size);
  if (e == NULL) return NULL;
  *e = head;
  int *slot = (int *)(void *)(e->constant + e->n_constants);
  asi_instruction *code = (asi_instruction *)(void *)(slot + e->n_slots);
  for (int i = 0; i <= root; ++i) {
    const node *n = &s->node[i];
    const int operands = asi_operations[n->op].operands;
    if (place[i] < 0) continue;
    if (n->op == ASI_OP_CONSTANT)
      e->constant[place[i]] = n->number;
    else if (n->op == ASI_OP_SLOT)
      *slot++ = n->a;
    else
      *code++ = (asi_instruction){.op = (uint16_t)n->op,
                                  .a = (uint16_t)place[n->a],
                                  .b = (uint16_t)(operands > 1            ? place[n->b]
                                                  : n->op == ASI_OP_TABLE ? n->b
                                                                          : 0),
                                  .c = (uint16_t)(operands > 2              ? place[n->c]
                                                  : n->op == ASI_OP_SURFACE ? n->c
                                                                            : 0),
                                  .at = (uint16_t)n->at};
  }
  return e;
}

// ---- the whole --------------------------------------------------------------------------------------

/// Compiles into nodes; `out` is the result.
static as_status compile(compiler *s, operand *out) {
  *s->slip = (asi_parse_error){0};
  bool good = s->length <= ASI_EXPRESSION_LENGTH ||
              slip(s, 0, "an expression of more than %d characters", ASI_EXPRESSION_LENGTH);
  good = good && climb(s, COMPARISON, out);
  (void)peek(s);
  if (good && s->at < s->length) good = unexpected(s, "an operator");
  if (good) return AS_OK;
  asi_parse_error_place(s->slip, s->text);
  return s->no_memory ? AS_ERR_MEMORY : AS_ERR_ARGUMENT;
}

as_status asi_expression_compile(const char *text, size_t length, const asi_scope *scope,
                                 asi_expression **out, asi_parse_error *slip_out) {
  compiler s = {.text = text, .length = length, .scope = scope, .slip = slip_out};
  operand root = {.node = -1};
  *out = NULL;
  as_status status = compile(&s, &root);
  if (status == AS_OK && !settle(&s, &root, 0))
    status = s.no_memory ? AS_ERR_MEMORY : AS_ERR_ARGUMENT;
  if (status == AS_OK) {
    *out = pack(&s, root.node);
    if (*out == NULL) status = AS_ERR_MEMORY;
  }
  free(s.node);
  return status;
}

as_status asi_expression_number(const char *text, size_t length, const asi_scope *scope,
                                double *out, asi_parse_error *slip_out) {
  compiler s = {.text = text, .length = length, .scope = scope, .slip = slip_out};
  operand root = {.node = -1};
  *out = 0.0;
  as_status status = compile(&s, &root);
  if (status == AS_OK && !is_number(&root)) {
    slip(&s, 0, "the expression is not constant");
    asi_parse_error_place(slip_out, text);
    status = AS_ERR_ARGUMENT;
  }
  if (status == AS_OK) *out = root.number;
  free(s.node);
  return status;
}
