/// Adds blocks: signals by formula and linear systems. A formula is kept as an element that acts on nothing, so that bodies,
/// frames that move and data are found and copied as those of forces are.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/printable.h"
#include "elements/actuator.h"
#include "elements/block_row.h"
#include "model/add_block.h"
#include "model/measures.h"
#include "model/scope.h"

as_signal_def as_default_signal_def(void) {
  return (as_signal_def){.cookie = ASI_COOKIE(as_signal_def), .period = (double)NAN};
}
as_linear_def as_default_linear_def(void) {
  return (as_linear_def){.cookie = ASI_COOKIE(as_linear_def), .period = (double)NAN};
}

// ---- names ------------------------------------------------------------------------------------------

int asi_builder_find_signal(const as_builder *b, int block, const char *output) {
  for (int i = b->block[block].first; i >= 0; i = b->signal[i].next)
    if (strcmp(b->signal[i].output, output) == 0) return i;
  return -ASI_SLOT_SIGNAL;
}

as_status asi_builder_block(as_builder *b, const char *name, int *out, as_error *error) {
  if (name == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "A block has no name.");
  *out = asi_names_find(&b->names[ASI_SORT_BLOCK], name);
  if (*out >= 0) return AS_OK;
  void *array = b->block;
  if (!asi_grow(&array, b->n_blocks, &b->room_blocks, sizeof *b->block))
    return asi_fail_memory(error);
  b->block = array;
  const as_status status = asi_names_add(&b->names[ASI_SORT_BLOCK], ASI_SORT_BLOCK, name, error);
  if (status) return status;
  b->block[b->n_blocks] = (asi_block_signals){-1, -1};
  *out = b->n_blocks++;
  return AS_OK;
}

static as_status check_output(const char *block, const char *output, as_error *error) {
  // `value` is what results.h5 calls the block's own signal.
  const bool good = asi_is_parameter_name(output) && strcmp(output, "value") != 0;
  if (output[0] == '\0' || (good && strlen(output) < ASI_NAME_LENGTH)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                  "The block \"%s\" cannot have an output \"%.60s\": letters, digits and _, no "
                  "digit first, at most %d, and not `value`.",
                  block, output, ASI_NAME_LENGTH - 1);
}

/// The signal of a name, a new one if it is not there.
static as_status find_signal(as_builder *b, const char *name, const char *output, int *out,
                             as_error *error) {
  int block;
  if (output == NULL) output = "";
  as_status status = check_output(name ? name : "", output, error);
  if (status == AS_OK) status = asi_builder_block(b, name, &block, error);
  if (status) return status;
  *out = asi_builder_find_signal(b, block, output);
  if (*out >= 0) return AS_OK;
  void *array = b->signal;
  if (!asi_grow(&array, b->n_signals, &b->room_signals, sizeof *b->signal))
    return asi_fail_memory(error);
  b->signal = array;
  asi_signal *s = &b->signal[b->n_signals];
  *s = (asi_signal){.declared = true, .block = block, .next = -1, .element = -1, .linear = -1};
  snprintf(s->output, sizeof s->output, "%s", output);
  snprintf(s->unit, sizeof s->unit, "-");
  if (b->block[block].last >= 0)
    b->signal[b->block[block].last].next = b->n_signals;
  else
    b->block[block].first = b->n_signals;
  b->block[block].last = b->n_signals;
  *out = b->n_signals++;
  return AS_OK;
}

as_status as_builder_declare_signal(as_builder *b, const char *block, const char *output,
                                    as_error *error) {
  int number;
  return find_signal(b, block, output, &number, error);
}

/// The same, of one that has not been added yet.
as_status asi_builder_new_signal(as_builder *b, const char *block, const char *output, int *out,
                                 as_error *error) {
  const as_status status = find_signal(b, block, output, out, error);
  if (status || b->signal[*out].declared) return status;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                  "Two blocks write \"%s%s%s\": names must differ.", block,
                  output && output[0] ? "." : "", output ? output : "");
}

/// Takes back what a failure has left of signals: the first `n` were there, and those of a linear system that is not.
void asi_builder_take_back(as_builder *b, int n) {
  for (int i = 0; i < b->n_blocks; ++i) b->block[i] = (asi_block_signals){-1, -1};
  b->n_signals = n;
  for (int i = 0; i < n; ++i) {
    asi_signal *s = &b->signal[i];
    asi_block_signals *of = &b->block[s->block];
    s->next = -1;
    if (of->last >= 0)
      b->signal[of->last].next = i;
    else
      of->first = i;
    of->last = i;
    if (s->linear != b->n_linear) continue;
    s->declared = true;
    s->linear = s->element = -1;
  }
}

// ---- formulas ---------------------------------------------------------------------------------------

/// Offsets of all curve references; returns how many.
static int list_refs(int n_gauges, size_t *refs) {
  static const size_t of_motion[] = {
      offsetof(asi_frame_motion, shift[0]), offsetof(asi_frame_motion, shift[1]),
      offsetof(asi_frame_motion, shift[2]), offsetof(asi_frame_motion, turn)};
  int n = 0;
  refs[n++] = offsetof(asi_block_row, formula);
  for (size_t g = 0; g < (size_t)n_gauges; ++g)
    for (size_t e = 0; e < 2; ++e)
      for (int k = 0; k < 4; ++k)
        refs[n++] = sizeof(asi_block_row) + g * sizeof(asi_gauge) +
                    offsetof(asi_gauge, ends.motion) + e * sizeof(asi_frame_motion) + of_motion[k];
  return n;
}

static as_status append(as_builder *b, const asi_measures *all, asi_curve_ref formula, int signal,
                        as_error *error) {
  size_t refs[1 + 8 * ASI_GAUGES];
  const size_t size = sizeof(asi_block_row) + (size_t)all->n * sizeof(asi_gauge);
  asi_block_row *data = asi_calloc(1, size);
  if (data == NULL) return asi_fail_memory(error);
  *data = (asi_block_row){.formula = formula, .signal = signal, .n_gauges = all->n};
  memcpy(data + 1, all->gauge, (size_t)all->n * sizeof(asi_gauge));
  asi_element e = {.type = &asi_block_row_type, .n_bodies = all->n_bodies, .reads = ASI_NONE};
  memcpy(e.body, all->body, sizeof all->body);
  for (int i = all->n_bodies; i < AS_ELEMENT_BODIES; ++i) e.body[i] = ASI_GROUND;
  const asi_element_flags flags = {.n_bodies = all->n_bodies};
  const as_status status =
      asi_builder_element(b, &e, &flags, data, size, refs, list_refs(all->n, refs), error);
  free(data);
  return status;
}

/// Compiles a formula and appends its element.
static as_status compile(as_builder *b, asi_measures *all, const char *text, const char *what,
                         int signal, bool margin, as_error *error) {
  const asi_wish wish = {
      .what = what, .time = true, .parameters = true, .measures = all, .signals = true};
  asi_expression *e = NULL;
  void *array = b->curve;
  if (!asi_grow(&array, b->n_curves, &b->room_curves, sizeof *b->curve))
    return asi_fail_memory(error);
  b->curve = array;
  as_status status = asi_builder_compile(b, text, &wish, &e, error);
  if (status) return status;
  if (margin) asi_expression_margin(e);
  const bool fits = e->n_slots <= ASI_FORMULA_SLOTS;
  asi_formula *formula = fits ? asi_formula_make(e, text, false, what, b->table) : NULL;
  free(e);
  if (!fits)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s depends on more than %d quantities and parameters.", what,
                    ASI_FORMULA_SLOTS);
  if (formula == NULL) return asi_fail_memory(error);
  b->curve[b->n_curves] = (asi_curve){.formula = formula};
  const asi_curve_ref ref = {b->n_curves++, NULL};
  return append(b, all, ref, signal, error);
}

/// The element of a formula; what a failure leaves is taken back.
as_status asi_builder_block_formula(as_builder *b, const char *text, const char *what, int signal,
                                    bool margin, int *element, as_error *error) {
  const asi_mark mark = asi_builder_mark(b);
  asi_measures *all = asi_calloc(1, sizeof *all);
  if (all == NULL) return asi_fail_memory(error);
  all->data = asi_builder_next_data(b);
  all->of_block = true;
  all->n_bodies = 1;
  all->body[0] = ASI_GROUND;
  const as_status status = compile(b, all, text, what, signal, margin, error);
  free(all);
  if (status) asi_builder_reset(b, mark);
  *element = status ? -1 : b->n_elements - 1;
  return status;
}

as_status asi_builder_check_block_formula(as_builder *b, const char *block, const char *text,
                                          as_error *error) {
  const asi_mark mark = asi_builder_mark(b);
  char what[96];
  int element;
  snprintf(what, sizeof what, "A formula of block \"%.48s\"", block);
  const as_status status = asi_builder_block_formula(b, text, what, -1, false, &element, error);
  asi_builder_reset(b, mark);
  return status;
}

// ---- samples ----------------------------------------------------------------------------------------

as_status asi_check_sampling(const char *block, double period, double offset, double delay,
                             as_error *error) {
  if (!(period > 0.0) || !isfinite(period))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "The period of block \"%s\" is %g s: it must be positive.", block, period);
  if (!isfinite(offset) || !(offset >= 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "The offset of block \"%s\" is %g s: it must not be negative.", block, offset);
  if (!(delay >= 0.0) || !(delay <= 1e6 * period))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "The delay of block \"%s\" is %g s: it must be 0 to a million periods.", block,
                    delay);
  return AS_OK;
}

/// A delay is whole periods and a rest; one that is a period to round-off is none.
static double split_delay(double period, double delay, int *wait) {
  double whole = floor(delay / period);
  double rest = delay - whole * period;
  if (rest >= period * (1.0 - 1e-9)) {
    whole += 1.0;
    rest = 0.0;
  }
  if (rest <= 1e-9 * period) rest = 0.0;
  *wait = (int)whole;
  return rest;
}

// ---- signals ----------------------------------------------------------------------------------------

as_status asi_check_start(const char *block, double start, as_error *error) {
  if (isfinite(start)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                  "The start of block \"%s\" is %g: it must be finite.", block, start);
}

as_status asi_signal_set_unit(asi_signal *s, const char *block, const char *unit, as_error *error) {
  size_t length = 0;
  bool good = unit == NULL || strlen(unit) < sizeof s->unit;
  for (const char *c = unit ? unit : ""; *c && good; c += length) good = asi_printable(c, &length);
  if (!good)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "The unit of block \"%s\" is too long or cannot be printed.", block);
  if (unit) snprintf(s->unit, sizeof s->unit, "%s", unit);
  return AS_OK;
}

as_status as_builder_add_signal(as_builder *b, const as_signal_def *def, as_signal_id *id,
                                as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_signal_def, def, error);
  if (made) return made;
  int number, element = -1;
  char what[96];
  const char *block = def->block ? def->block : "";
  const int n_signals = b->n_signals;
  if ((def->formula == NULL) != (def->kind == AS_SIGNAL_HELD))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block, "The block \"%s\" %s.", block,
                    def->formula ? "is held: switches set it, it has no formula"
                                 : "has no formula");
  as_status status = AS_OK;
  if (def->kind == AS_SIGNAL_SAMPLED)
    status = asi_check_sampling(block, def->period, def->offset, def->delay, error);
  if (status == AS_OK) status = asi_check_start(block, def->start, error);
  if (status == AS_OK) status = asi_builder_new_signal(b, def->block, def->output, &number, error);
  if (status) return status;
  snprintf(what, sizeof what, "The formula of block \"%.48s\"", block);
  status = asi_signal_set_unit(&b->signal[number], block, def->unit, error);
  if (status == AS_OK && def->formula)
    status = asi_builder_block_formula(b, def->formula, what, number, false, &element, error);
  if (status) {
    asi_builder_take_back(b, n_signals);
    return status;
  }
  asi_signal *s = &b->signal[number];
  s->declared = false;
  s->kind = def->kind;
  s->start = def->start;
  s->element = element;
  if (def->kind == AS_SIGNAL_SAMPLED) {
    s->period = def->period;
    s->offset = def->offset;
    s->after = def->after;
    s->delay = split_delay(def->period, def->delay, &s->wait);
  }
  if (id) *id = (as_signal_id){number};
  return AS_OK;
}

// ---- linear systems ---------------------------------------------------------------------------------

static as_status check_linear(const as_linear_def *def, as_error *error) {
  const char *block = def->block ? def->block : "";
  const double *const matrix[4] = {def->A, def->B, def->C, def->D};
  const int rows[4] = {def->n_states, def->n_states, def->n_outputs, def->n_outputs};
  const int cols[4] = {def->n_states, def->n_inputs, def->n_states, def->n_inputs};
  if (def->n_states < 0 || def->n_inputs < 0 || def->n_outputs < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                    "The block \"%s\" has %d states, %d inputs and %d outputs.", block,
                    def->n_states, def->n_inputs, def->n_outputs);
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < rows[k] && matrix[k]; ++i)
      for (int j = 0; j < cols[k]; ++j)
        if (!isfinite(matrix[k][(size_t)i * (size_t)cols[k] + (size_t)j]))
          return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                          "Row %d, column %d of the matrix %c of block \"%s\" is not finite.",
                          i + 1, j + 1, "ABCD"[k], block);
  for (int j = 0; j < def->n_inputs; ++j)
    if (def->input == NULL || def->input[j] == NULL)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                      "Input %d of block \"%s\" is left open.", j + 1, block);
  as_status status = AS_OK;
  for (int i = 0; i < def->n_states && def->start && status == AS_OK; ++i)
    status = asi_check_start(block, def->start[i], error);
  if (status == AS_OK && !isnan(def->period))
    status = asi_check_sampling(block, def->period, def->offset, def->delay, error);
  if (status == AS_OK && !isnan(def->period) && !(def->delay < def->period))
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, block,
                      "The delay of block \"%s\" is %g s: that of a linear system must be less "
                      "than its period.",
                      block, def->delay);
  return status;
}

/// Makes the states or outputs.
static as_status add_signals(as_builder *b, const as_linear_def *def, char letter, int n,
                             as_signal_kind kind, as_error *error) {
  const bool named = letter == 'y' && def->output;
  as_status status = AS_OK;
  for (int i = 0; i < n && status == AS_OK; ++i) {
    char store[16];
    int number;
    snprintf(store, sizeof store, "%c%d", letter, i + 1);
    const char *output = named ? def->output[i] : letter == 'y' && n == 1 ? "" : store;
    status = asi_builder_new_signal(b, def->block, output, &number, error);
    if (status == AS_OK && letter == 'y' && def->unit)
      status = asi_signal_set_unit(&b->signal[number], def->block, def->unit[i], error);
    if (status) break;
    asi_signal *s = &b->signal[number];
    s->kind = kind;
    s->declared = false;
    s->linear = b->n_linear;
    s->role = letter;
    s->index = i;
    s->start = letter == 'x' && def->start ? def->start[i] : 0.0;
  }
  return status;
}

static as_status add_inputs(as_builder *b, const as_linear_def *def, asi_linear_block *l,
                            as_error *error) {
  as_status status = AS_OK;
  for (int j = 0; j < def->n_inputs && status == AS_OK; ++j) {
    char what[96];
    int element, signal = -1;
    snprintf(what, sizeof what, "Input %d of block \"%.40s\"", j + 1, def->block);
    if (!l->sampled) {
      char output[16];
      snprintf(output, sizeof output, "u%d", j + 1);
      status = asi_builder_new_signal(b, def->block, output, &signal, error);
    }
    if (status == AS_OK)
      status = asi_builder_block_formula(b, def->input[j], what, signal, false, &element, error);
    if (status) break;
    l->element[j] = element;
    if (l->sampled) continue;
    asi_signal *s = &b->signal[signal];
    s->element = element;
    s->declared = false;
    s->kind = AS_SIGNAL_OUTPUT;
    s->linear = b->n_linear;
    s->role = 'u';
    s->index = j;
  }
  return status;
}

as_status as_builder_add_linear(as_builder *b, const as_linear_def *def, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_linear_def, def, error);
  if (made) return made;
  as_status status = check_linear(def, error);
  if (status) return status;
  const double *const matrix[4] = {def->A, def->B, def->C, def->D};
  void *array = b->linear;
  if (!asi_grow(&array, b->n_linear, &b->room_linear, sizeof *b->linear))
    return asi_fail_memory(error);
  b->linear = array;
  asi_linear_block l = {.sampled = !isnan(def->period),
                        .period = def->period,
                        .offset = def->offset,
                        .delay = def->delay};
  status = asi_builder_block(b, def->block, &l.block, error);
  if (status) return status;
  const asi_mark mark = asi_builder_mark(b);
  const int n_signals = b->n_signals;
  l.element = asi_calloc((size_t)def->n_inputs, sizeof(int));
  if (!asi_linear_init(&l.system, def->n_states, def->n_inputs, def->n_outputs, matrix) ||
      l.element == NULL)
    status = asi_fail_memory(error);
  const as_signal_kind states = l.sampled ? AS_SIGNAL_SAMPLED : AS_SIGNAL_STATE;
  const as_signal_kind outputs = l.sampled ? AS_SIGNAL_SAMPLED : AS_SIGNAL_OUTPUT;
  if (status == AS_OK) status = add_inputs(b, def, &l, error);
  if (status == AS_OK) status = add_signals(b, def, 'x', def->n_states, states, error);
  if (status == AS_OK) status = add_signals(b, def, 'y', def->n_outputs, outputs, error);
  if (status) {
    asi_builder_reset(b, mark);
    asi_builder_take_back(b, n_signals);
    asi_linear_free(&l.system);
    free(l.element);
    return status;
  }
  b->linear[b->n_linear++] = l;
  return AS_OK;
}

// ---- copies -----------------------------------------------------------------------------------------

bool asi_linear_blocks_copy(const asi_linear_block *from, int n, asi_linear_block **out,
                            int *n_out) {
  *n_out = 0;
  *out = asi_calloc((size_t)n, sizeof **out);
  for (int i = 0; i < n && *out; ++i) {
    asi_linear_block *to = &(*out)[i];
    const size_t inputs = (size_t)from[i].system.n_inputs;
    *to = from[i];
    const as_plugin_block *p = from[i].plugin;
    const size_t numbers = p ? (size_t)p->n_parameters + (size_t)p->n_constants : 0;
    to->element = asi_calloc(inputs, sizeof(int));
    to->number = asi_calloc(numbers, sizeof(double));
    const bool copied = asi_linear_copy(&to->system, &from[i].system);
    *n_out = i + 1;
    if (!copied || to->element == NULL || to->number == NULL) return false;
    if (inputs > 0) memcpy(to->element, from[i].element, inputs * sizeof(int));
    if (numbers > 0) memcpy(to->number, from[i].number, numbers * sizeof(double));
  }
  return *out != NULL;
}

void asi_linear_blocks_free(asi_linear_block *linear, int n) {
  for (int i = 0; i < n; ++i) {
    asi_linear_free(&linear[i].system);
    free(linear[i].element);
    free(linear[i].number);
  }
  free(linear);
}
