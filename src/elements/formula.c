/// Formulas in a machine, see formula.h.
#include "elements/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/problem.h"
#include "base/error.h"
#include "elements/curve.h"
#include "elements/gauss.h"
#include "elements/surface.h"

asi_formula *asi_formula_make(const asi_expression *e, const char *text, bool of_time,
                              const char *what, const asi_curve *tables) {
  const size_t length = strlen(text) + 1, size = sizeof(asi_formula) + e->size + length;
  asi_formula *f = asi_calloc(1, size);
  if (f == NULL) return NULL;
  f->tables = tables;
  f->size = size;
  f->of_time = of_time;
  snprintf(f->what, sizeof f->what, "%s", what);
  memcpy(f->store, e, e->size);
  memcpy((char *)f->store + e->size, text, length);
  const int *slot = asi_expression_slots(e);
  for (int k = 0; k < e->n_slots; ++k) {
    f->rates = f->rates || slot[k] == ASI_SLOT_RATE;
    f->varies = f->varies || (!of_time && slot[k] >= ASI_SLOT_TIME);
  }
  return f;
}

asi_formula *asi_formula_copy(const asi_formula *from) {
  asi_formula *f = asi_calloc(1, from->size);
  if (f) memcpy(f, from, from->size);
  return f;
}

// ---- evaluation -------------------------------------------------------------------------------------

int asi_table_look_up(int table, double x, double out[3], void *user) {
  const asi_table_list *list = user;
  return asi_curve_evaluate(&list->table[table], x, out);
}

int asi_table_look_up_two(int table, double x, double y, double out[6], void *user) {
  const asi_table_list *list = user;
  asi_surface_all(list->table[table].surface, x, y, out);
  return AS_DONE;
}

double asi_table_point(int table, double x, bool up, bool *kink, void *user) {
  const asi_table_list *list = user;
  return asi_curve_point(&list->table[table], x, up, kink);
}

static int code_of(as_status status) {
  return status == AS_OK ? AS_DONE : status == AS_ERR_CALLBACK ? AS_FATAL : AS_RETRY;
}

/// `The law of force "x": sqrt(-1) is not a number, at column 5 of its formula`
static void blame(const asi_formula *f, const double *x, const asi_tables *tables, char *text,
                  size_t size) {
  asi_parse_error slip;
  asi_expression_blame(asi_formula_expression(f), asi_formula_text(f), x, tables, &slip);
  snprintf(text, size, "%s: %s, at line %d, column %d of its formula", f->what, slip.sentence,
           slip.line, slip.column);
}

/// The time, or what a block gives that is a function of it: value, first and second derivative.
static int gather_path(const asi_formula *f, double t, double x[][3]) {
  const asi_expression *e = asi_formula_expression(f);
  int code = AS_DONE;
  for (int k = 0; k < e->n_slots && code == AS_DONE; ++k) {
    const int slot = asi_expression_slots(e)[k];
    if (slot == ASI_SLOT_TIME)
      memcpy(x[k], (const double[]){t, 1.0, 0.0}, sizeof x[k]);
    else // a builder does not know yet what blocks are
      code =
          f->of_output ? asi_formula_at(f->of_output[slot - ASI_SLOT_OUTPUT], t, x[k]) : AS_FATAL;
  }
  return code;
}

int asi_formula_at(const asi_formula *f, double t, double out[3]) {
  double x[ASI_FORMULA_SLOTS][3];
  const int code = gather_path(f, t, x);
  if (code) return code;
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  const as_status status =
      asi_expression_along(asi_formula_expression(f), (const double(*)[3])x, &tables, out);
  return status == AS_ERR_NONFINITE ? AS_FATAL : code_of(status);
}

void asi_formula_explain(const asi_formula *f, double t, char *text, size_t size) {
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  double x[ASI_FORMULA_SLOTS][3], value[ASI_FORMULA_SLOTS];
  const int n = asi_formula_expression(f)->n_slots;
  if (gather_path(f, t, x)) {
    snprintf(text, size, "%s: a block that it reads has no value", f->what);
    return;
  }
  for (int k = 0; k < n; ++k) value[k] = x[k][0];
  blame(f, value, &tables, text, size);
}

/// The values of its slots; NAN for signals of blocks that a point does not have.
static void gather(const asi_formula *f, const as_element_input *in,
                   const double own[ASI_OWN_SLOTS], double x[ASI_FORMULA_SLOTS]) {
  const asi_expression *e = asi_formula_expression(f);
  const int *slot = asi_expression_slots(e);
  for (int k = 0; k < e->n_slots; ++k)
    x[k] = slot[k] < ASI_OWN_SLOTS      ? own[slot[k]]
           : slot[k] == ASI_SLOT_TIME   ? in->t
           : slot[k] < ASI_SLOT_STATE   ? in->u[slot[k] - ASI_SLOT_PARAMETER]
           : slot[k] >= ASI_SLOT_OUTPUT ? (in->y ? in->y[slot[k] - ASI_SLOT_OUTPUT] : (double)NAN)
                                        : (in->x ? in->x[slot[k] - ASI_SLOT_STATE] : (double)NAN);
}

int asi_formula_law_by_slot(const asi_formula *f, const as_element_input *in, double value,
                            double rate, double rest, int which, double *out) {
  const asi_expression *e = asi_formula_expression(f);
  const int *slot = asi_expression_slots(e);
  const double own[ASI_OWN_SLOTS] = {value, rate, value - rest};
  double x[ASI_FORMULA_SLOTS], gradient[ASI_FORMULA_SLOTS], ignored;
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  *out = 0.0;
  gather(f, in, own, x);
  const as_status status = asi_expression_gradient(e, x, &tables, &ignored, gradient);
  if (status && status != AS_ERR_NONFINITE) return code_of(status);
  for (int k = 0; k < e->n_slots; ++k)
    if (slot[k] == which) *out = gradient[k];
  return isfinite(*out) ? AS_DONE : AS_RETRY;
}

int asi_formula_law(const asi_formula *f, const as_element_input *in, double value, double rate,
                    double rest, double out[3]) {
  const asi_expression *e = asi_formula_expression(f);
  const int *slot = asi_expression_slots(e);
  const double own[ASI_OWN_SLOTS] = {value, rate, value - rest};
  double x[ASI_FORMULA_SLOTS], gradient[ASI_FORMULA_SLOTS];
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  gather(f, in, own, x);
  const as_status status = asi_expression_gradient(e, x, &tables, &out[0], gradient);
  if (status && status != AS_ERR_NONFINITE) return code_of(status);
  out[1] = out[2] = 0.0;
  for (int k = 0; k < e->n_slots; ++k)
    if (slot[k] < ASI_OWN_SLOTS) out[slot[k] == ASI_SLOT_RATE ? 2 : 1] += gradient[k];
  // A derivative by t or by a parameter does not matter.
  if (isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2])) return AS_DONE;
  if (in->why) blame(f, x, &tables, in->why, AS_ELEMENT_WHY);
  return AS_RETRY;
}

/// Along one direction of the plane.
static int height_along(const asi_formula *f, const double *x, double by_x, double by_y,
                        double out[3]) {
  const asi_expression *e = asi_formula_expression(f);
  const int *slot = asi_expression_slots(e);
  double path[ASI_FORMULA_SLOTS][3];
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  for (int k = 0; k < e->n_slots; ++k) {
    path[k][0] = x[k];
    path[k][1] = slot[k] == ASI_SLOT_VALUE ? by_x : slot[k] == ASI_SLOT_RATE ? by_y : 0.0;
    path[k][2] = 0.0;
  }
  return code_of(asi_expression_along(e, (const double(*)[3])path, &tables, out));
}

int asi_formula_height(const asi_formula *f, const as_element_input *in, double x, double y,
                       bool curved, double out[6]) {
  const double own[ASI_OWN_SLOTS] = {x, y, 0.0};
  double at[ASI_FORMULA_SLOTS], along_x[3], along_y[3] = {0}, both[3];
  bool across = false;
  const asi_expression *e = asi_formula_expression(f);
  for (int k = 0; k < e->n_slots; ++k)
    across = across || asi_expression_slots(e)[k] == ASI_SLOT_RATE;
  gather(f, in, own, at);
  int code = height_along(f, at, 1.0, 0.0, along_x);
  if (code == AS_DONE && across) code = height_along(f, at, 0.0, 1.0, along_y);
  if (code == AS_DONE && across && curved) code = height_along(f, at, 1.0, 1.0, both);
  if (code) {
    asi_table_list list = {f->tables};
    const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
    if (in->why) blame(f, at, &tables, in->why, AS_ELEMENT_WHY);
    return code;
  }
  out[0] = along_x[0];
  out[1] = along_x[1];
  out[2] = along_y[1];
  out[3] = along_x[2];
  out[4] = across && curved ? (both[2] - along_x[2] - along_y[2]) / 2.0 : 0.0;
  out[5] = along_y[2];
  return AS_DONE;
}

int asi_formula_signals(const asi_formula *f, const as_element_input *in, const double *measure,
                        double *value, double *by_slot) {
  const asi_expression *e = asi_formula_expression(f);
  const int *slot = asi_expression_slots(e);
  double x[ASI_FORMULA_SLOTS], gradient[ASI_FORMULA_SLOTS] = {0};
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  for (int k = 0; k < e->n_slots; ++k) {
    // Where a point has no states and outputs, what depends on them cannot be evaluated.
    if ((slot[k] >= ASI_SLOT_OUTPUT && in->y == NULL) ||
        (slot[k] >= ASI_SLOT_STATE && slot[k] < ASI_SLOT_OUTPUT && in->x == NULL))
      return AS_RETRY;
    x[k] = slot[k] >= ASI_SLOT_OUTPUT    ? in->y[slot[k] - ASI_SLOT_OUTPUT]
           : slot[k] >= ASI_SLOT_STATE   ? in->x[slot[k] - ASI_SLOT_STATE]
           : slot[k] >= ASI_SLOT_MEASURE ? measure[slot[k] - ASI_SLOT_MEASURE]
           : slot[k] == ASI_SLOT_TIME    ? in->t
                                         : in->u[slot[k] - ASI_SLOT_PARAMETER];
  }
  const as_status status = by_slot ? asi_expression_gradient(e, x, &tables, value, gradient)
                                   : asi_expression_value(e, x, &tables, value);
  if (status && status != AS_ERR_NONFINITE) return code_of(status);
  bool finite = isfinite(*value);
  for (int k = 0; k < e->n_slots; ++k) {
    if (by_slot) by_slot[k] = gradient[k];
    // A derivative by t or by a parameter does not matter.
    if (slot[k] >= ASI_SLOT_MEASURE) finite = finite && isfinite(gradient[k]);
  }
  if (finite) return AS_DONE;
  if (in->why) blame(f, x, &tables, in->why, AS_ELEMENT_WHY);
  return AS_RETRY;
}

int asi_formula_machine(const asi_formula *f, const as_element_input *in, const double *measure,
                        double *value, double *by_measure) {
  double by_slot[ASI_FORMULA_SLOTS];
  const asi_expression *e = asi_formula_expression(f);
  const int code = asi_formula_signals(f, in, measure, value, by_measure ? by_slot : NULL);
  for (int k = 0; k < e->n_slots && code == AS_DONE && by_measure; ++k) {
    const int slot = asi_expression_slots(e)[k];
    if (slot >= ASI_SLOT_MEASURE && slot < ASI_SLOT_STATE)
      by_measure[slot - ASI_SLOT_MEASURE] = by_slot[k];
  }
  return code;
}

bool asi_formula_reads_blocks(const asi_formula *f) {
  const asi_expression *e = asi_formula_expression(f);
  for (int k = 0; k < e->n_slots; ++k)
    if (asi_expression_slots(e)[k] >= ASI_SLOT_STATE) return true;
  return false;
}

void asi_formula_place(asi_formula *f, const int *place) {
  const asi_expression *e = asi_formula_expression(f);
  // The formula is the model's own copy.
  int *slot =
      (int *)((char *)f->store + ((const char *)asi_expression_slots(e) - (char *)f->store));
  for (int k = 0; k < e->n_slots; ++k)
    if (slot[k] >= ASI_SLOT_SIGNAL) slot[k] = place[slot[k] - ASI_SLOT_SIGNAL];
}

// ---- known times ------------------------------------------------------------------------------------

bool asi_formula_uses_time(const asi_formula *f) {
  const asi_expression *e = asi_formula_expression(f);
  for (int k = 0; k < e->n_slots; ++k)
    if (asi_expression_slots(e)[k] == ASI_SLOT_TIME) return true;
  return false;
}

bool asi_formula_has_times(const asi_formula *f) {
  return asi_expression_has_times(asi_formula_expression(f), ASI_SLOT_TIME, false);
}

asi_known_time asi_formula_next_time(const asi_formula *f, double t, const double *u) {
  const asi_expression *e = asi_formula_expression(f);
  const int *slot = asi_expression_slots(e);
  double x[ASI_FORMULA_SLOTS];
  asi_table_list list = {f->tables};
  asi_known_time next;
  for (int k = 0; k < e->n_slots; ++k) {
    const bool held = slot[k] >= ASI_SLOT_PARAMETER && slot[k] < ASI_SLOT_MEASURE;
    x[k] = held ? u[slot[k] - ASI_SLOT_PARAMETER] : (double)NAN;
  }
  asi_expression_next_time(e, ASI_SLOT_TIME, t, x, asi_table_point, &list, false, &next);
  return next;
}

// ---- energy -----------------------------------------------------------------------------------------

typedef struct integrand {
  const asi_formula *f;
  const as_element_input *in;
  double rest;
} integrand;

static double at_rest(double x, const void *data) {
  const integrand *i = data;
  const double own[ASI_OWN_SLOTS] = {i->rest + x, 0.0, x};
  double slots[ASI_FORMULA_SLOTS], z = (double)NAN;
  asi_table_list list = {i->f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  gather(i->f, i->in, own, slots);
  if (asi_expression_value(asi_formula_expression(i->f), slots, &tables, &z)) return (double)NAN;
  return z;
}

double asi_formula_integral(const asi_formula *f, const as_element_input *in, double rest,
                            double x0, double x1, double first) {
  const integrand it = {f, in, rest};
  return asi_gauss_adaptive(at_rest, &it, x0, x1, first);
}

bool asi_formula_stores(const asi_formula *f, const as_element_input *in, double rest) {
  const integrand it = {f, in, rest};
  return !f->varies && isfinite(at_rest(0.0, &it));
}
