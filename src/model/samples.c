/// Samples of a model's blocks: what formulas and linear systems are at a point, by values alone.
///
/// The point is the state just before the sample, with held signals as samplers before this one have set them. An output that
/// depends on such a signal is found anew, from the formulas.
#include <math.h>
#include <string.h>

#include "elements/actuator.h"
#include "elements/block_row.h"
#include "elements/probe.h"
#include "model/blocks.h"

/// The value of a slot of a formula.
static int find_slot(const as_model *m, const as_point *at, int slot, const double *measure,
                     bool fresh, double *out) {
  const asi_control *blocks = m->blocks;
  const int y = slot - ASI_SLOT_OUTPUT;
  if (y >= 0 && fresh && blocks->fresh[y])
    return asi_blocks_value(m, at, blocks->row[blocks->row_of_y[y]].element, true, out);
  *out = y >= 0                       ? at->y[y]
         : slot >= ASI_SLOT_STATE     ? at->x[slot - ASI_SLOT_STATE]
         : slot >= ASI_SLOT_MEASURE   ? measure[slot - ASI_SLOT_MEASURE]
         : slot >= ASI_SLOT_PARAMETER ? at->u[slot - ASI_SLOT_PARAMETER]
                                      : at->t;
  return AS_DONE;
}

int asi_blocks_value(const as_model *m, const as_point *at, int element, bool fresh, double *out) {
  const asi_block_row *data = m->element[element].data;
  const asi_formula *f = data->formula.curve->formula;
  const asi_expression *e = asi_formula_expression(f);
  double measure[ASI_GAUGES], x[ASI_FORMULA_SLOTS];
  asi_table_list list = {f->tables};
  const asi_tables tables = {asi_table_look_up, &list, asi_table_look_up_two};
  int code = asi_blocks_measure(m, at, element, measure);
  for (int k = 0; k < e->n_slots && code == AS_DONE; ++k)
    code = find_slot(m, at, asi_expression_slots(e)[k], measure, fresh, &x[k]);
  if (code) return code;
  return asi_expression_value(e, x, &tables, out) == AS_OK ? AS_DONE : AS_FATAL;
}

/// What a delay is longer than a period by: values wait behind each other, the last one takes effect.
static int sample_signal(const as_model *m, const as_point *at, const asi_signal *s, double *out) {
  double value;
  const int code = asi_blocks_value(m, at, s->element, true, &value);
  if (code) return code;
  memmove(out + 1, out, (size_t)s->wait * sizeof(double));
  out[0] = value;
  return AS_DONE;
}

/// x+ = A x + B w, y = C x + D w; states come before outputs.
static int sample_linear(const as_model *m, const as_point *at, const asi_linear_block *l,
                         double *out) {
  const asi_linear *s = &l->system;
  const double *x = at->u + l->state;
  memset(out, 0, (size_t)(s->n_states + s->n_outputs) * sizeof(double));
  asi_linear_add(s, ASI_LINEAR_A, x, out);
  asi_linear_add(s, ASI_LINEAR_C, x, out + s->n_states);
  // Entries of B and D stand by columns: each input is found once.
  int b = s->first[ASI_LINEAR_B], d = s->first[ASI_LINEAR_D];
  for (int j = 0; j < s->n_inputs; ++j) {
    double w;
    const int code = asi_blocks_value(m, at, l->element[j], true, &w);
    if (code) return code;
    for (; b < s->first[ASI_LINEAR_B + 1] && s->entry[b].col == j; ++b)
      out[s->entry[b].row] += s->entry[b].value * w;
    for (; d < s->first[ASI_LINEAR_D + 1] && s->entry[d].col == j; ++d)
      out[s->n_states + s->entry[d].row] += s->entry[d].value * w;
  }
  return AS_DONE;
}

int asi_blocks_sample(const as_point *at, double *out, void *user) {
  const asi_sampler_place *s = user;
  const as_model *m = s->model;
  return s->signal >= 0 ? sample_signal(m, at, &m->blocks->signal[s->signal], out)
                        : sample_linear(m, at, &m->blocks->linear[s->linear], out);
}
