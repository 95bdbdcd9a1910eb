/// Blocks that motions and factors read. A motion or factor is a function of the time, whose first two derivatives are asked for; so
/// each block that it reads must be a formula of the time, of tables and of other such blocks. It is evaluated with the motion
/// (elements/formula.c), not taken from y: what it gives holds at any time that somebody asks for, and has derivatives.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "elements/block_row.h"
#include "model/blocks.h"
#include "model/scope.h"

enum { MOST_FORMULAS = 100 }; ///< of blocks, that a motion or factor evaluates

/// A formula of time as what it reads is looked at.
typedef struct search {
  const as_model *m;
  bool smooth;
  int count; ///< formulas of blocks so far, each as often as it is evaluated
  char why[160];
} search;

static const char *signal_name(const as_model *m, int slot, const char **output) {
  const asi_control *c = m->blocks;
  for (int i = 0; i < c->n_signals; ++i) {
    const asi_signal *s = &c->signal[i];
    const int first = s->kind == AS_SIGNAL_OUTPUT  ? ASI_SLOT_OUTPUT
                      : s->kind == AS_SIGNAL_STATE ? ASI_SLOT_STATE
                                                   : ASI_SLOT_PARAMETER;
    if (first + s->place != slot) continue;
    *output = s->output;
    return asi_names_get(&m->names[ASI_SORT_BLOCK], s->block);
  }
  *output = "";
  return "";
}

/// Says of a slot what keeps a formula from being one of the time.
static void explain(search *s, int slot) {
  const as_model *m = s->m;
  const char *output;
  if (slot >= ASI_SLOT_MEASURE && slot < ASI_SLOT_STATE)
    snprintf(s->why, sizeof s->why, "reads the machine");
  else if (slot >= ASI_SLOT_PARAMETER && slot < ASI_SLOT_PARAMETER + m->n_parameters)
    snprintf(s->why, sizeof s->why, "depends on the parameter \"%.60s\", which an event may set",
             asi_names_get(&m->names[ASI_SORT_PARAMETER], slot - ASI_SLOT_PARAMETER));
  else {
    const char *name = signal_name(m, slot, &output);
    snprintf(s->why, sizeof s->why,
             "is or reads blocks.%.60s%s%.60s, which is no formula of its own", name,
             output[0] ? "." : "", output);
  }
}

/// Whether a formula, and what it reads, are functions of the time.
static bool is_of_time(search *s, const asi_formula *f) {
  const asi_expression *e = asi_formula_expression(f);
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k], y = slot - ASI_SLOT_OUTPUT;
    if (slot == ASI_SLOT_TIME) continue;
    const asi_formula *of = y >= 0 ? s->m->blocks->formula_of_y[y] : NULL;
    if (of == NULL) {
      explain(s, slot);
      return false;
    }
    if (++s->count > MOST_FORMULAS) {
      snprintf(s->why, sizeof s->why, "depends on itself, or on more than %d formulas",
               MOST_FORMULAS);
      return false;
    }
    const char *rough =
        s->smooth ? asi_rough_formula(asi_formula_expression(of), s->m->table) : NULL;
    if (rough) {
      snprintf(s->why, sizeof s->why, "cannot be part of a motion: %s", rough);
      return false;
    }
    if (!is_of_time(s, of)) return false;
  }
  return true;
}

/// The first block that a formula of time may not read, and why.
static as_status check(const as_model *m, const asi_formula *f, as_error *error) {
  const asi_expression *e = asi_formula_expression(f);
  search s = {.m = m, .smooth = f->smooth};
  if (is_of_time(&s, f)) return AS_OK;
  const char *name = "", *output = "";
  for (int k = 0; k < e->n_slots; ++k)
    if (asi_expression_slots(e)[k] != ASI_SLOT_TIME) {
      name = signal_name(m, asi_expression_slots(e)[k], &output);
      break;
    }
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "%s may read formulas of the time alone: the block \"%.60s\" %s.", f->what, name,
                  s.why);
}

as_status asi_time_blocks_link(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  c->formula_of_y = asi_calloc((size_t)c->n_y, sizeof *c->formula_of_y);
  if (c->formula_of_y == NULL) return asi_fail_memory(error);
  for (int y = 0; y < c->n_y; ++y) {
    if (c->row_of_y[y] < 0) continue;
    const asi_block_row *data = m->element[c->row[c->row_of_y[y]].element].data;
    c->formula_of_y[y] = data->formula.curve->formula;
  }
  for (int i = 0; i < m->n_curves; ++i) {
    asi_formula *f = m->curve[i].formula;
    if (f == NULL) continue;
    f->of_output = c->formula_of_y;
    const as_status status = f->of_time ? check(m, f, error) : AS_OK;
    if (status) return status;
  }
  return AS_OK;
}
