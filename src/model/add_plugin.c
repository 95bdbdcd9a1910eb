/// Adds blocks of plugins. One is kept as a linear system is: inputs are signals by formula, and the entries of its system say which
/// derivatives there are; their values come from the plugin.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "model/add_block.h"

as_plugin_block_def as_default_plugin_block_def(void) {
  return (as_plugin_block_def){.cookie = ASI_COOKIE(as_plugin_block_def), .period = (double)NAN};
}

/// All derivatives that there can be.
static bool make_entries(const as_plugin_block *p, asi_linear *out) {
  double ones[ASI_PLUGIN_ENTRIES], direct[ASI_PLUGIN_ENTRIES];
  for (int i = 0; i < ASI_PLUGIN_ENTRIES; ++i) ones[i] = direct[i] = 1.0;
  for (int i = 0; p->direct && i < p->n_outputs * p->n_inputs; ++i)
    direct[i] = p->direct[i] ? 1.0 : 0.0;
  const double *const matrix[4] = {ones, ones, ones, direct};
  return asi_linear_init(out, p->n_states, p->n_inputs, p->n_outputs, matrix);
}

static as_status check(const as_plugin_block_def *def, as_error *error) {
  const char *block = def->block ? def->block : "";
  if (def->plugin == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block, "The block \"%s\" has no plugin.",
                    block);
  const as_plugin_block *p = def->plugin;
  const as_status status = asi_plugin_check_block(p, error);
  if (status) return status;
  for (int i = 0; i < p->n_inputs; ++i)
    if (def->input == NULL || def->input[i] == NULL)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                      "Input \"%s\" of block \"%s\" is left open.", p->input[i].name, block);
  if (p->n_sampled == 0)
    return isnan(def->period)
               ? AS_OK
               : asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                          "Block \"%s\" has a period, but nothing of the plugin \"%s\" is sampled.",
                          block, p->name);
  if (isnan(def->period))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "Block \"%s\" needs a period: the plugin \"%s\" has sampled numbers.", block,
                    p->name);
  const as_status sampling = asi_check_sampling(block, def->period, def->offset, def->delay, error);
  if (sampling || def->delay < def->period) return sampling;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                  "The delay of block \"%s\" is %g s: that of a plugin must be less than its "
                  "period.",
                  block, def->delay);
}

/// What states and sampled numbers start with: given, by the plugin's `prepare`, or as it says.
typedef struct start {
  double state[AS_PLUGIN_MOST], sampled[AS_PLUGIN_MOST];
} start;

static void begin(const as_plugin_quantity *list, int n, double *out) {
  for (int i = 0; i < n; ++i) out[i] = list[i].value;
}

static void take_given(const double *given, int n, double *out) {
  for (int i = 0; i < n && given; ++i)
    if (!isnan(given[i])) out[i] = given[i];
}

static as_status prepare(const as_plugin_block_def *def, double *number, start *out,
                         as_error *error) {
  const as_plugin_block *p = def->plugin;
  char owner[80];
  snprintf(owner, sizeof owner, "block \"%.60s\"", def->block);
  begin(p->state, p->n_states, out->state);
  begin(p->sampled, p->n_sampled, out->sampled);
  const as_plugin_start to = {NULL, out->state, out->sampled};
  as_status status = asi_plugin_prepare(p->parameter, p->n_parameters, p->n_constants, p->prepare,
                                        owner, def->parameter, number, to, error);
  take_given(def->start, p->n_states, out->state);
  take_given(def->sampled_start, p->n_sampled, out->sampled);
  for (int i = 0; i < p->n_states && status == AS_OK; ++i)
    status = asi_check_start(def->block, out->state[i], error);
  for (int i = 0; i < p->n_sampled && status == AS_OK; ++i)
    status = asi_check_start(def->block, out->sampled[i], error);
  return status;
}

/// Makes the signals of one role: x, u, s or y.
static as_status add_signals(as_builder *b, const as_plugin_block_def *def, asi_linear_block *l,
                             char role, const start *from, as_error *error) {
  const as_plugin_block *p = def->plugin;
  const as_plugin_quantity *list = role == 'x'   ? p->state
                                   : role == 'u' ? p->input
                                   : role == 's' ? p->sampled
                                                 : p->output;
  const int n = role == 'x'   ? p->n_states
                : role == 'u' ? p->n_inputs
                : role == 's' ? p->n_sampled
                              : p->n_outputs;
  as_status status = AS_OK;
  for (int i = 0; i < n && status == AS_OK; ++i) {
    int number, element = -1;
    status = asi_builder_new_signal(b, def->block, list[i].name, &number, error);
    if (status == AS_OK)
      status = asi_signal_set_unit(&b->signal[number], def->block,
                                   list[i].unit ? list[i].unit : "-", error);
    if (status == AS_OK && role == 'u') {
      char what[128];
      snprintf(what, sizeof what, "Input \"%s\" of block \"%.40s\"", list[i].name, def->block);
      status = asi_builder_block_formula(b, def->input[i], what, number, false, &element, error);
      l->element[i] = element;
    }
    if (status) break;
    asi_signal *s = &b->signal[number];
    s->declared = false;
    s->kind = role == 'x' ? AS_SIGNAL_STATE : role == 's' ? AS_SIGNAL_SAMPLED : AS_SIGNAL_OUTPUT;
    s->linear = b->n_linear;
    s->role = role;
    s->index = i;
    s->element = element;
    s->start = role == 'x' ? from->state[i] : role == 's' ? from->sampled[i] : 0.0;
  }
  return status;
}

as_status as_builder_add_plugin_block(as_builder *b, const as_plugin_block_def *def,
                                      as_error *error) {
  return asi_builder_add_plugin_block(b, def, NULL, error);
}

as_status asi_builder_add_plugin_block(as_builder *b, const as_plugin_block_def *def,
                                       const asi_plugin_memory *memory, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_plugin_block_def, def, error);
  if (made) return made;
  as_status status = check(def, error);
  if (status) return status;
  const as_plugin_block *p = def->plugin;
  void *array = b->linear;
  if (!asi_grow(&array, b->n_linear, &b->room_linear, sizeof *b->linear))
    return asi_fail_memory(error);
  b->linear = array;
  asi_linear_block l = {.plugin = p,
                        .memory = memory,
                        .period = def->period,
                        .offset = def->offset,
                        .delay = def->delay};
  status = asi_builder_block(b, def->block, &l.block, error);
  if (status) return status;
  const asi_mark mark = asi_builder_mark(b);
  const int n_signals = b->n_signals;
  start from;
  l.element = asi_calloc((size_t)p->n_inputs, sizeof(int));
  l.number = asi_calloc((size_t)p->n_parameters + (size_t)p->n_constants, sizeof(double));
  if (!make_entries(p, &l.system) || l.element == NULL || l.number == NULL)
    status = asi_fail_memory(error);
  if (status == AS_OK) status = prepare(def, l.number, &from, error);
  for (const char *role = "uxsy"; *role && status == AS_OK; ++role)
    status = add_signals(b, def, &l, *role, &from, error);
  if (status) {
    asi_builder_reset(b, mark);
    asi_builder_take_back(b, n_signals);
    asi_linear_free(&l.system);
    free(l.element);
    free(l.number);
    return status;
  }
  b->linear[b->n_linear++] = l;
  return AS_OK;
}
