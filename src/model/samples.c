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

/// An output of a linear system or of a plugin's block, from what its inputs are now.
static int find_linear_output(const as_model *m, const as_point *at, int y, double *out) {
  const asi_control *blocks = m->blocks;
  double input[AS_PLUGIN_MOST];
  int i = 0;
  while (y < blocks->linear[i].output || blocks->linear[i].sampled ||
         y >= blocks->linear[i].output + blocks->linear[i].system.n_outputs)
    ++i;
  const asi_linear_block *l = &blocks->linear[i];
  const asi_linear *s = &l->system;
  double sum = 0.0;
  int code = AS_DONE;
  for (int j = 0; j < s->n_inputs && l->plugin; ++j) input[j] = at->y[l->input + j];
  for (int k = s->first[ASI_LINEAR_C]; k < s->first[ASI_LINEAR_C + 1]; ++k)
    if (s->entry[k].row == y - l->output && !l->plugin)
      sum += s->entry[k].value * at->x[l->state + s->entry[k].col];
  for (int k = s->first[ASI_LINEAR_D]; k < s->first[ASI_LINEAR_D + 1] && code == AS_DONE; ++k) {
    double w = 0.0;
    if (s->entry[k].row != y - l->output) continue;
    code = asi_blocks_output_at_sample(m, at, l->input + s->entry[k].col, &w);
    if (l->plugin)
      input[s->entry[k].col] = w;
    else
      sum += s->entry[k].value * w;
  }
  *out = sum;
  return code == AS_DONE && l->plugin ? asi_plugin_block_output(l, at, input, y - l->output, out)
                                      : code;
}

int asi_blocks_output_at_sample(const as_model *m, const as_point *at, int y, double *out) {
  const asi_control *blocks = m->blocks;
  if (!blocks->fresh[y]) {
    *out = at->y[y];
    return AS_DONE;
  }
  const int row = blocks->row_of_y[y];
  return row >= 0 ? asi_blocks_value(m, at, blocks->row[row].element, true, out)
                  : find_linear_output(m, at, y, out);
}

/// The value of a slot of a formula.
static int find_slot(const as_model *m, const as_point *at, int slot, const double *measure,
                     bool fresh, double *out) {
  const int y = slot - ASI_SLOT_OUTPUT;
  if (y >= 0 && fresh) return asi_blocks_output_at_sample(m, at, y, out);
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
  if (code == AS_DONE && asi_expression_value(e, x, &tables, out)) code = AS_FATAL;
  const bool blamed = code < AS_FATAL || code > AS_RETRY; // another formula, which this one reads
  return code == AS_DONE || blamed ? code : -(ASI_BLAMED + element);
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
  for (int i = 0; i < s->n_states + s->n_outputs; ++i)
    if (!isfinite(out[i]) && s->n_inputs > 0) return -(ASI_BLAMED + l->element[0]);
  return AS_DONE;
}

/// s+ = sample(t, w, x, s)
static int sample_plugin(const as_model *m, const as_point *at, int number, double *out) {
  const asi_linear_block *l = &m->blocks->linear[number];
  double input[AS_PLUGIN_MOST];
  for (int j = 0; j < l->system.n_inputs; ++j) {
    const int code = asi_blocks_output_at_sample(m, at, l->input + j, &input[j]);
    if (code) return code;
  }
  return asi_plugin_block_sample(m, at, number, input, out);
}

int asi_blocks_sample(const as_point *at, double *out, void *user) {
  const asi_sampler_place *s = user;
  const as_model *m = s->model;
  if (s->signal >= 0) return sample_signal(m, at, &m->blocks->signal[s->signal], out);
  return m->blocks->linear[s->linear].plugin
             ? sample_plugin(m, at, s->linear, out)
             : sample_linear(m, at, &m->blocks->linear[s->linear], out);
}
