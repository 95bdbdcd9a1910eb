/// Expressions: `-k*(s - s0) - if(s < 0, c, 2*c)*v`, compiled once, evaluated with exact derivatives.
///
/// What a name means is told by the caller: a number that will not change, a slot (a quantity whose value is given at
/// each evaluation) or a table (a function of one argument). An expression knows nothing of machines.
///
/// A compiled expression is one block of memory without pointers: it is const, may be shared between threads, copied
/// with memcpy() and freed with free(). No evaluation allocates or recurses.
#ifndef ALPHASTEP_EXPRESSION_EXPRESSION_H
#define ALPHASTEP_EXPRESSION_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alphastep/status.h"
#include "base/export.h"

enum {
  ASI_NAME_LENGTH = 64,          ///< of a parameter, with the zero behind it
  ASI_EXPRESSION_NAME = 256,     ///< of any name, with the zero behind it
  ASI_EXPRESSION_LENGTH = 10000, ///< characters of a text
  ASI_EXPRESSION_DEPTH = 128,    ///< parentheses, signs and operands inside one another
  ASI_EXPRESSION_WAITING = 1000, ///< the same of all expressions that wait for one another
  ASI_EXPRESSION_VALUES = 1000,  ///< constants, slots and operations
  ASI_SENTENCE_LENGTH = 160,     ///< with the zero behind it
};

/// What is wrong with an expression, and where.
typedef struct asi_parse_error {
  size_t at;        ///< bytes from the start of the text
  int line, column; ///< the same place, from 1, in characters
  char sentence[ASI_SENTENCE_LENGTH];
} asi_parse_error;

// ---- names ------------------------------------------------------------------------------------------

typedef enum asi_meaning {
  ASI_MEANS_NOTHING,  ///< there is no such name
  ASI_MEANS_MISTAKE,  ///< `sentence` says why it may not be used; empty: that has been told already
  ASI_MEANS_CONSTANT, ///< `number`
  ASI_MEANS_SLOT,     ///< `index`
  ASI_MEANS_TABLE,    ///< `index`; name(x), or name(x, y)
} asi_meaning;

/// What stands behind a name.
typedef struct asi_named {
  double number;
  int depth;      ///< given: how deep the expression is here, with those that wait for it
  bool called;    ///< given: a parenthesis follows
  int index;      ///< of a slot or of a table, as the caller counts them; not negative
  int arguments;  ///< of a table: 1 (given) or 2
  char *sentence; ///< room for ASI_SENTENCE_LENGTH
} asi_named;

struct asi_tables;

/// The names that an expression may use.
typedef struct asi_scope {
  asi_meaning (*find)(const char *name, asi_named *named, void *user);
  /// The i-th name, NULL behind the last: to choose a "did you mean" from; may itself be NULL.
  const char *(*candidate)(int i, void *user);
  void *user;
  int depth; ///< of expressions that wait for this one: `find` may compile others
  const struct asi_tables *tables; ///< to look numbers up while compiling; NULL: that waits
} asi_scope;

// ---- compiling --------------------------------------------------------------------------------------

typedef struct asi_instruction {
  uint16_t op;
  uint16_t a, b,
      c; ///< values: constants, slots, results of the operations before; b of a table, c of a surface: which
  uint16_t at; ///< place in the text
} asi_instruction;

/// Constants, then slots, then instructions; values are numbered in this order.
typedef struct asi_expression {
  size_t size; ///< bytes of all
  int n_constants, n_slots, n_code;
  int result; ///< which value
  double constant[];
} asi_expression;

/// The slots that the value depends on, each once; x and gradients are in this order.
static inline const int *asi_expression_slots(const asi_expression *e) {
  return (const int *)(const void *)(e->constant + e->n_constants);
}

static inline const asi_instruction *asi_expression_code(const asi_expression *e) {
  return (const asi_instruction *)(const void *)(asi_expression_slots(e) + e->n_slots);
}

/// Compiles the first `length` characters of a text that is ended by a zero there or later; the character behind them
/// continues no number. AS_ERR_ARGUMENT: `slip` says why; AS_ERR_MEMORY. Needs the C locale. Free with free().
ASI_IO as_status asi_expression_compile(const char *text, size_t length, const asi_scope *scope,
                                        asi_expression **out, asi_parse_error *slip);

/// The same of an expression that must be a number, which is finite. Takes no memory as long as all names are
/// constants.
ASI_IO as_status asi_expression_number(const char *text, size_t length, const asi_scope *scope,
                                       double *out, asi_parse_error *slip);

/// Is the value 0 or 1 wherever it is: a comparison, or a product or choice of such? It crosses zero nowhere.
ASI_IO bool asi_expression_is_truth(const asi_expression *e);

/// Turns what is true into what is positive where that is true: a > b into a - b, a product into the smaller factor. So it
/// crosses zero where it begins to hold. == and != stay 0 or 1, and so does what is no truth.
void asi_expression_margin(asi_expression *e);

/// Is it a letter or _, then letters, digits, _, and no name of a function or pi?
ASI_IO bool asi_is_parameter_name(const char *text);

// ---- evaluating -------------------------------------------------------------------------------------

/// Writes value, first and second derivative of a table: AS_DONE, AS_RETRY or AS_FATAL.
typedef int asi_table_fn(int table, double x, double out[3], void *user);

/// The same of a table of two variables: z, z_x, z_y, z_xx, z_xy, z_yy.
typedef int asi_surface_fn(int table, double x, double y, double out[6], void *user);

/// What an evaluation is given besides the values of the slots.
typedef struct asi_tables {
  asi_table_fn *evaluate; ///< NULL: the expression has none
  void *user;
  asi_surface_fn *evaluate_two; ///< likewise
} asi_tables;

/// The value at x[n_slots]. AS_ERR_NONFINITE: it is no finite number; AS_ERR_RETRY, AS_ERR_CALLBACK: by a table.
ASI_IO as_status asi_expression_value(const asi_expression *e, const double *x,
                                      const asi_tables *tables, double *value);

/// Also the derivatives by each slot; AS_ERR_NONFINITE also if one of these is not finite.
as_status asi_expression_gradient(const asi_expression *e, const double *x,
                                  const asi_tables *tables, double *value, double *gradient);

/// Value, first and second derivative along a path on which slot k has the value, the first and the second derivative
/// x[k]. For an expression of the time alone x[0] = {t, 1, 0}.
ASI_IO as_status asi_expression_along(const asi_expression *e, const double (*x)[3],
                                      const asi_tables *tables, double out[3]);

// ---- known times ------------------------------------------------------------------------------------

/// A time at which an expression changes its form smoothly (before == after), or at which it or its slope may jump: that is
/// somewhere between the two.
typedef struct asi_known_time {
  double before, after; ///< [s]; infinity: there is none
  bool bends;           ///< it does not jump, its slope may
} asi_known_time;

/// Takes the earlier one; where both are, it jumps if one of them does.
void asi_known_time_join(asi_known_time *first, const asi_known_time *other);

/// The next point of a table behind x, upwards or downwards; not finite: there is none. *kink: its slope jumps there.
typedef double asi_point_fn(int table, double x, bool up, bool *kink, void *user);

/// The first such time behind t, by switches, tables and smooth steps whose argument is a t + b while the slots other than
/// `time` stay as they are; x is NAN for those of which that is not known. A bracket that holds t is found again. A smooth
/// step also bends at its quarters; with `waves`, sines do so at theirs. See times.c.
ASI_IO void asi_expression_next_time(const asi_expression *e, int time, double t, const double *x,
                                     asi_point_fn *point, void *tables, bool waves,
                                     asi_known_time *out);
/// Whether there can be any.
ASI_IO bool asi_expression_has_times(const asi_expression *e, int time, bool waves);

/// Why one of these gave AS_ERR_NONFINITE: `sqrt(-1) is not a number`, at its place; `text` is the one
/// that was compiled.
ASI_IO void asi_expression_blame(const asi_expression *e, const char *text, const double *x,
                                 const asi_tables *tables, asi_parse_error *slip);

#endif
