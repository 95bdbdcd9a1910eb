/// Formulas in a machine: a compiled expression with its text, and where its quantities come from.
///
/// A formula of time is a motion or a factor: it depends on t, on tables and on blocks that are formulas of time themselves. A law is of quantities of its own, of t,
/// of the model's parameters and of tables.
#ifndef ALPHASTEP_ELEMENTS_FORMULA_H
#define ALPHASTEP_ELEMENTS_FORMULA_H

#include "alphastep/element.h"
#include "base/export.h"
#include "elements/slots.h"
#include "expression/expression.h"

struct asi_curve;

enum { ASI_FORMULA_SLOTS = 64 }; ///< different slots of a formula, at most

/// Const once made, in one piece of memory; free() ends it.
typedef struct asi_formula {
  const struct asi_curve *tables;             ///< of the builder or model that it belongs to
  const struct asi_formula *const *of_output; ///< in a model: those of the outputs that it reads
  size_t size;                                ///< of all
  bool of_time;
  bool smooth;    ///< it is a motion
  bool rates;     ///< it depends on ASI_SLOT_RATE
  bool varies;    ///< it is a law that depends on t or on parameters
  char what[96];  ///< begins the sentence of a failure: `The motion of joint "x"`
  double store[]; ///< the expression, then its text
} asi_formula;

static inline const asi_expression *asi_formula_expression(const asi_formula *f) {
  return (const asi_expression *)(const void *)f->store;
}
static inline const char *asi_formula_text(const asi_formula *f) {
  return (const char *)f->store + asi_formula_expression(f)->size;
}

/// A model's tables, as expressions ask for them: asi_tables {asi_table_look_up, &list, asi_table_look_up_two}.
typedef struct asi_table_list {
  const struct asi_curve *table;
} asi_table_list;
ASI_IO int asi_table_look_up(int table, double x, double out[3], void *user);
ASI_IO int asi_table_look_up_two(int table, double x, double y, double out[6], void *user);
/// The next point of a table, an asi_point_fn.
ASI_IO double asi_table_point(int table, double x, bool up, bool *kink, void *user);

/// Takes a compiled expression over, by copy; NULL if memory runs out.
asi_formula *asi_formula_make(const asi_expression *e, const char *text, bool of_time,
                              const char *what, const struct asi_curve *tables);
asi_formula *asi_formula_copy(const asi_formula *from);

/// Value, first and second derivative of a formula of time: AS_DONE, or AS_FATAL if one is no finite number.
int asi_formula_at(const asi_formula *f, double t, double out[3]);

/// A law at a coordinate, its rate and what it is at rest: value, derivatives by coordinate and by rate. AS_RETRY if
/// one is no finite number; in->why then says why.
int asi_formula_law(const asi_formula *f, const as_element_input *in, double value, double rate,
                    double rest, double out[3]);

/// Its derivative by one slot, a state or output of blocks; 0 if it does not depend on it.
int asi_formula_law_by_slot(const asi_formula *f, const as_element_input *in, double value,
                            double rate, double rest, int slot, double *out);

/// A height over x (ASI_SLOT_VALUE) and y (ASI_SLOT_RATE): z, z_x, z_y and, if `curved`, z_xx, z_xy, z_yy. AS_RETRY likewise.
int asi_formula_height(const asi_formula *f, const as_element_input *in, double x, double y,
                       bool curved, double out[6]);

/// A formula of quantities of the machine, whose values are given in their order; and its derivatives by these, which may
/// be NULL. AS_RETRY if one is no finite number; likewise.
int asi_formula_machine(const asi_formula *f, const as_element_input *in, const double *measure,
                        double *value, double *by_measure);

/// The same with derivatives by all slots of the formula, in their order; in->x and in->y may be needed.
int asi_formula_signals(const asi_formula *f, const as_element_input *in, const double *measure,
                        double *value, double *by_slot);
/// Whether it depends on states or outputs of blocks.
bool asi_formula_reads_blocks(const asi_formula *f);
/// Replaces the builder's numbers of signals by the slots where a model has them.
void asi_formula_place(asi_formula *f, const int *place);

/// The integral of a law without a rate over the deflection, from x0 to x1; `first` as in gauss.h.
double asi_formula_integral(const asi_formula *f, const as_element_input *in, double rest,
                            double x0, double x1, double first);

/// Whether a law has a potential: it depends on nothing but its own quantities, and has a value at no deflection.
bool asi_formula_stores(const asi_formula *f, const as_element_input *in, double rest);

/// Whether a formula depends on t, and whether there are times at which it is known to bend or jump by t.
bool asi_formula_uses_time(const asi_formula *f);
bool asi_formula_has_times(const asi_formula *f);
/// The next of these times behind t, with parameters u.
asi_known_time asi_formula_next_time(const asi_formula *f, double t, const double *u);

/// Why a formula of time failed.
void asi_formula_explain(const asi_formula *f, double t, char *text, size_t size);

#endif
