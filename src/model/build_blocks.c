/// Numbers blocks: places of signals in y, x and u, patterns of the blocks' Jacobians and each entry's place in them, the
/// order of samplers, algebraic loops.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "control/order.h"
#include "elements/block_row.h"
#include "elements/probe.h"
#include "model/blocks.h"

static const char *block_name(const as_model *m, int block) {
  return asi_names_get(&m->names[ASI_SORT_BLOCK], block);
}

// ---- places -----------------------------------------------------------------------------------------

static as_status check_declared(const as_model *m, const as_builder *b, as_error *error) {
  for (int i = 0; i < b->n_signals; ++i) {
    const asi_signal *s = &b->signal[i];
    const char *name = block_name(m, s->block);
    if (s->declared)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The block \"%s\"%s%s is declared, but it has not been added.", name,
                      s->output[0] ? ", output " : "", s->output);
  }
  return AS_OK;
}

static bool is_held(as_signal_kind kind) {
  return kind == AS_SIGNAL_SAMPLED || kind == AS_SIGNAL_HELD;
}

int asi_blocks_held(const as_builder *b) {
  double n = 0.0;
  for (int i = 0; i < b->n_signals; ++i)
    if (is_held(b->signal[i].kind)) n += 1.0 + b->signal[i].wait;
  return n < INT_MAX / 16 ? (int)n : -1;
}

/// Those of linear systems stand together.
static void place_linear(asi_control *c, int *u) {
  for (int i = 0; i < c->n_linear; ++i) {
    asi_linear_block *l = &c->linear[i];
    const asi_linear *s = &l->system;
    if (l->sampled) {
      l->state = *u;
      l->output = *u + s->n_states;
      *u += s->n_states + s->n_outputs;
      continue;
    }
    l->state = c->n_x;
    l->input = c->n_y;
    l->output = c->n_y + s->n_inputs;
    c->n_x += s->n_states;
    c->n_y += s->n_inputs + s->n_outputs;
    l->held = *u;
    if (l->plugin) *u += l->plugin->n_sampled;
  }
}

static void place_signals(asi_control *c, int u) {
  place_linear(c, &u);
  for (int i = 0; i < c->n_signals; ++i) {
    asi_signal *s = &c->signal[i];
    if (s->linear >= 0) {
      const asi_linear_block *l = &c->linear[s->linear];
      s->place = s->index + (s->role == 'x'   ? l->state
                             : s->role == 'u' ? l->input
                             : s->role == 's' ? l->held
                                              : l->output);
      continue;
    }
    switch (s->kind) {
    case AS_SIGNAL_OUTPUT: s->place = c->n_y++; break;
    case AS_SIGNAL_STATE: s->place = c->n_x++; break;
    case AS_SIGNAL_SAMPLED:
    case AS_SIGNAL_HELD: s->place = u + s->wait; u += s->wait + 1;
    }
  }
}

/// Tells all formulas where the signals are that they read.
static as_status place_formulas(as_model *m, as_error *error) {
  const asi_control *c = m->blocks;
  int *slot = asi_calloc((size_t)c->n_signals, sizeof(int));
  if (slot == NULL) return asi_fail_memory(error);
  for (int i = 0; i < c->n_signals; ++i) {
    const asi_signal *s = &c->signal[i];
    const int first = s->kind == AS_SIGNAL_OUTPUT  ? ASI_SLOT_OUTPUT
                      : s->kind == AS_SIGNAL_STATE ? ASI_SLOT_STATE
                                                   : ASI_SLOT_PARAMETER;
    slot[i] = first + s->place;
  }
  for (int i = 0; i < m->n_curves; ++i)
    if (m->curve[i].formula) asi_formula_place(m->curve[i].formula, slot);
  free(slot);
  return AS_OK;
}

static const asi_formula *formula_of(const as_model *m, int element) {
  const asi_block_row *data = m->element[element].data;
  return data->formula.curve->formula;
}

/// Formulas of blocks among the elements.
static as_status list_rows(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  int n = 0;
  for (int i = 0; i < m->n_elements; ++i) n += m->element[i].e.type == &asi_block_row_type;
  c->row = asi_calloc((size_t)n, sizeof *c->row);
  c->row_of_y = asi_calloc((size_t)c->n_y, sizeof(int));
  if (c->row == NULL || c->row_of_y == NULL) return asi_fail_memory(error);
  for (int i = 0; i < c->n_y; ++i) c->row_of_y[i] = -1;
  for (int i = 0; i < m->n_elements; ++i) {
    if (m->element[i].e.type != &asi_block_row_type) continue;
    const asi_block_row *data = m->element[i].data;
    asi_row_place *row = &c->row[c->n_rows];
    const asi_signal *s = data->signal >= 0 ? &c->signal[data->signal] : NULL;
    *row = (asi_row_place){.element = i, .kind = s ? s->kind : AS_SIGNAL_SAMPLED, .row = -1};
    if (s) row->row = s->place;
    if (row->kind == AS_SIGNAL_OUTPUT) c->row_of_y[row->row] = c->n_rows;
    for (int k = 0; k < data->n_gauges; ++k) {
      const asi_gauge *g = &asi_block_row_gauges(data)[k];
      row->rates = row->rates || asi_gauge_is_rate(g);
      row->accelerates = row->accelerates || asi_gauge_reads_acceleration(g);
      row->reacts = row->reacts || asi_gauge_reads_reaction(g);
      row->stateful =
          row->stateful || (g->kind == ASI_GAUGE_ELEMENT && m->element[g->joint].e.n_states > 0);
    }
    ++c->n_rows;
  }
  return AS_OK;
}

// ---- algebraic loops --------------------------------------------------------------------------------

/// A graph that is being made.
typedef struct graph {
  int n;
  int *start, *edge;
  int n_edges, room;
  bool failed;
} graph;

static void add_edge(graph *g, int to) {
  void *array = g->edge;
  g->failed = g->failed || !asi_grow(&array, g->n_edges, &g->room, sizeof *g->edge);
  g->edge = array;
  if (!g->failed) g->edge[g->n_edges++] = to;
}

static graph begin_graph(int n) {
  graph g = {.n = n, .start = asi_calloc((size_t)n + 1, sizeof(int))};
  g.failed = g.start == NULL;
  return g;
}

static void end_graph(graph *g) {
  free(g->start);
  free(g->edge);
}

/// The linear system that an output belongs to as its y; NULL: none.
static const asi_linear_block *linear_of(const asi_control *c, int y) {
  for (int i = 0; i < c->n_linear; ++i) {
    const asi_linear_block *l = &c->linear[i];
    if (!l->sampled && y >= l->output && y < l->output + l->system.n_outputs) return l;
  }
  return NULL;
}

static void add_direct(graph *g, const asi_linear_block *l, int y) {
  const asi_linear *s = &l->system;
  for (int k = s->first[ASI_LINEAR_D]; k < s->first[ASI_LINEAR_D + 1]; ++k)
    if (s->entry[k].row == y - l->output) add_edge(g, l->input + s->entry[k].col);
}

/// Outputs that depend on each other: components[y], and whether it is a loop in loop[y].
static as_status find_loops(as_model *m, int *component, bool *in_loop, as_error *error) {
  const asi_control *c = m->blocks;
  graph g = begin_graph(c->n_y);
  for (int y = 0; y < c->n_y && !g.failed; ++y) {
    const int row = c->row_of_y[y];
    const asi_expression *e =
        row >= 0 ? asi_formula_expression(formula_of(m, c->row[row].element)) : NULL;
    const asi_linear_block *l = row < 0 ? linear_of(c, y) : NULL;
    for (int k = 0; e && k < e->n_slots; ++k) {
      const int to = asi_expression_slots(e)[k] - ASI_SLOT_OUTPUT;
      if (to >= 0) add_edge(&g, to);
      in_loop[y] = in_loop[y] || to == y;
    }
    if (l) add_direct(&g, l, y);
    g.start[y + 1] = g.n_edges;
  }
  const int n = g.failed ? -1 : asi_components(c->n_y, g.start, g.edge, component);
  end_graph(&g);
  int *size = n < 0 ? NULL : asi_calloc((size_t)n, sizeof(int));
  if (size == NULL) return asi_fail_memory(error);
  for (int y = 0; y < c->n_y; ++y) ++size[component[y]];
  for (int y = 0; y < c->n_y; ++y) in_loop[y] = in_loop[y] || size[component[y]] > 1;
  free(size);
  return AS_OK;
}

/// By components, which read only those of smaller numbers.
static as_status order_outputs(asi_control *c, const int *component, as_error *error) {
  int *next = asi_calloc((size_t)c->n_y + 1, sizeof(int));
  c->order = asi_calloc((size_t)c->n_y, sizeof(int));
  if (next && c->order) {
    for (int y = 0; y < c->n_y; ++y) ++next[component[y] + 1];
    for (int k = 0; k < c->n_y; ++k) next[k + 1] += next[k];
    for (int y = 0; y < c->n_y; ++y) c->order[next[component[y]]++] = y;
  }
  free(next);
  return next && c->order ? AS_OK : asi_fail_memory(error);
}

/// Whether an output of a linear system or of a plugin's block depends on what is sampled; its inputs have been looked at.
static bool depends_on_samples(const asi_control *c, int y) {
  const asi_linear_block *l = linear_of(c, y);
  if (l == NULL) return false;
  const asi_linear *s = &l->system;
  bool depends = l->plugin && l->plugin->n_sampled > 0;
  for (int k = s->first[ASI_LINEAR_D]; k < s->first[ASI_LINEAR_D + 1]; ++k)
    if (s->entry[k].row == y - l->output && c->fresh[l->input + s->entry[k].col]) depends = true;
  return depends;
}

/// Numbers loops from 0 on, for signals; and finds the outputs that are found anew at samples.
static as_status note_loops(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  int *component = asi_calloc(2 * (size_t)c->n_y, sizeof(int));
  int *number = component ? component + c->n_y : NULL;
  bool *in_loop = asi_calloc((size_t)c->n_y, sizeof(bool));
  c->loop = asi_calloc((size_t)c->n_signals, sizeof(int));
  c->fresh = asi_calloc((size_t)c->n_y, sizeof(bool));
  as_status status = component && in_loop && c->loop && c->fresh ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = find_loops(m, component, in_loop, error);
  if (status == AS_OK) status = order_outputs(c, component, error);
  const int held = m->n_parameters + m->n_turns;
  int n_loops = 0;
  for (int y = 0; y < c->n_y && status == AS_OK; ++y) number[y] = -1;
  for (int i = 0; i < c->n_signals && status == AS_OK; ++i) {
    const asi_signal *s = &c->signal[i];
    const bool loops = s->kind == AS_SIGNAL_OUTPUT && in_loop[s->place];
    int *of = loops ? &number[component[s->place]] : NULL;
    if (of && *of < 0) *of = n_loops++;
    c->loop[i] = of ? *of : -1;
  }
  for (int i = 0; i < c->n_y && status == AS_OK; ++i) {
    const int y = c->order[i];
    if (in_loop[y]) continue;
    if (c->row_of_y[y] < 0) {
      c->fresh[y] = depends_on_samples(c, y);
      continue;
    }
    const asi_expression *e = asi_formula_expression(formula_of(m, c->row[c->row_of_y[y]].element));
    for (int k = 0; k < e->n_slots; ++k) {
      const int slot = asi_expression_slots(e)[k];
      const bool sampled = slot >= ASI_SLOT_PARAMETER + held && slot < ASI_SLOT_MEASURE;
      if (sampled || (slot >= ASI_SLOT_OUTPUT && c->fresh[slot - ASI_SLOT_OUTPUT]))
        c->fresh[y] = true;
    }
  }
  free(component);
  free(in_loop);
  return status;
}

// ---- samplers ---------------------------------------------------------------------------------------

/// A sampler as its order is found.
typedef struct clock {
  double period, offset;
  bool at_once; ///< it takes effect without a delay
  int first, count;
  int signal, linear;
} clock;

/// Whether two samplers can sample at the same time: to round-off, as the integrator decides, in the first 10000 samples of
/// the slower one.
static bool coincide(const clock *a, const clock *b) {
  const clock *slow = a->period >= b->period ? a : b, *fast = slow == a ? b : a;
  for (int k = 0; k < 10000; ++k) {
    const double t = slow->offset + k * slow->period, n = round((t - fast->offset) / fast->period);
    if (n >= 0.0 && fabs(fast->offset + n * fast->period - t) <= 1e-9 * fast->period) return true;
    if (k > 0 && slow->period == fast->period && slow->offset >= fast->offset) break;
  }
  return false;
}

static void add_reads(const as_model *m, const clock *all, int n, int self, int element,
                      bool *visited, graph *g);

static void add_range(const clock *all, int n, int self, int u, graph *g) {
  for (int i = 0; i < n; ++i)
    if (i != self && u >= all[i].first && u < all[i].first + all[i].count && all[i].at_once &&
        coincide(&all[i], &all[self]))
      add_edge(g, i);
}

/// Adds what an output that is found anew reads of samplers.
static void add_output_reads(const as_model *m, const clock *all, int n, int self, int y,
                             bool *visited, graph *g) {
  const asi_control *c = m->blocks;
  if (!c->fresh[y] || visited[y]) return;
  visited[y] = true;
  if (c->row_of_y[y] >= 0) {
    add_reads(m, all, n, self, c->row[c->row_of_y[y]].element, visited, g);
    return;
  }
  const asi_linear_block *l = linear_of(c, y);
  const asi_linear *s = &l->system;
  if (l->plugin && l->plugin->n_sampled > 0) add_range(all, n, self, l->held, g);
  for (int k = s->first[ASI_LINEAR_D]; k < s->first[ASI_LINEAR_D + 1]; ++k)
    if (s->entry[k].row == y - l->output)
      add_output_reads(m, all, n, self, l->input + s->entry[k].col, visited, g);
}

/// Adds what a formula reads of samplers, also by way of outputs that are found anew.
static void add_reads(const as_model *m, const clock *all, int n, int self, int element,
                      bool *visited, graph *g) {
  const asi_expression *e = asi_formula_expression(formula_of(m, element));
  for (int k = 0; k < e->n_slots && !g->failed; ++k) {
    const int slot = asi_expression_slots(e)[k], y = slot - ASI_SLOT_OUTPUT;
    if (y >= 0) add_output_reads(m, all, n, self, y, visited, g);
    if (slot < ASI_SLOT_PARAMETER || slot >= ASI_SLOT_MEASURE) continue;
    add_range(all, n, self, slot - ASI_SLOT_PARAMETER, g);
  }
}

static int list_clocks(const as_model *m, clock *out) {
  const asi_control *c = m->blocks;
  int n = 0;
  for (int i = 0; i < c->n_signals; ++i) {
    const asi_signal *s = &c->signal[i];
    if (s->kind != AS_SIGNAL_SAMPLED || s->linear >= 0) continue;
    out[n++] = (clock){.period = s->period,
                       .offset = s->offset,
                       .at_once = s->delay == 0.0 && s->wait == 0 && !s->after,
                       .first = s->place - s->wait,
                       .count = s->wait + 1,
                       .signal = i,
                       .linear = -1};
  }
  for (int i = 0; i < c->n_linear; ++i) {
    const asi_linear_block *l = &c->linear[i];
    const int sampled = l->plugin ? l->plugin->n_sampled : 0;
    if (sampled > 0)
      out[n++] = (clock){.period = l->period,
                         .offset = l->offset,
                         .at_once = l->delay == 0.0,
                         .first = l->held,
                         .count = sampled,
                         .signal = -1,
                         .linear = i};
    if (!l->sampled) continue;
    out[n++] = (clock){.period = l->period,
                       .offset = l->offset,
                       .at_once = l->delay == 0.0,
                       .first = l->state,
                       .count = l->system.n_states + l->system.n_outputs,
                       .signal = -1,
                       .linear = i};
  }
  return n;
}

static const char *clock_name(const as_model *m, const clock *x) {
  const asi_control *c = m->blocks;
  return block_name(m, x->signal >= 0 ? c->signal[x->signal].block : c->linear[x->linear].block);
}

static as_status fail_sample_loop(const as_model *m, const clock *all, const int *component, int n,
                                  int one, as_error *error) {
  char names[160] = "";
  for (int i = 0; i < n; ++i) {
    const size_t used = strlen(names);
    if (component[i] == component[one] && used + 80 < sizeof names)
      snprintf(names + used, sizeof names - used, "%s\"%.60s\"", used ? ", " : "",
               clock_name(m, &all[i]));
  }
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, clock_name(m, &all[one]),
                  "The samples of the blocks %s depend on each other at the same instant: give one "
                  "of them a delay.",
                  names);
}

/// [SA.2] Samplers in an order in which each comes behind those that it reads at the same time.
static as_status order_samplers(as_model *m, const clock *all, int n, int *order, as_error *error) {
  const asi_control *c = m->blocks;
  graph g = begin_graph(n);
  int *component = asi_calloc((size_t)n, sizeof(int));
  bool *visited = asi_calloc((size_t)c->n_y, sizeof(bool));
  g.failed = g.failed || component == NULL || visited == NULL;
  for (int i = 0; i < n && !g.failed; ++i) {
    if (c->n_y > 0) memset(visited, 0, (size_t)c->n_y * sizeof(bool));
    const asi_linear_block *l = all[i].linear >= 0 ? &c->linear[all[i].linear] : NULL;
    if (l == NULL) add_reads(m, all, n, i, c->signal[all[i].signal].element, visited, &g);
    for (int j = 0; l && j < l->system.n_inputs; ++j)
      add_reads(m, all, n, i, l->element[j], visited, &g);
    g.start[i + 1] = g.n_edges;
  }
  const int count = g.failed ? -1 : asi_components(n, g.start, g.edge, component);
  as_status status = count < 0 ? asi_fail_memory(error) : AS_OK;
  for (int i = 0; i < n && status == AS_OK; ++i) order[i] = -1;
  for (int i = 0; i < n && status == AS_OK; ++i) {
    if (order[component[i]] >= 0) status = fail_sample_loop(m, all, component, n, i, error);
    order[component[i]] = i;
  }
  end_graph(&g);
  free(component);
  free(visited);
  return status;
}

/// Whether the formula of a signal does.
static bool reads_reaction(const as_model *m, int signal) {
  const asi_control *c = m->blocks;
  for (int i = 0; i < c->n_rows; ++i) {
    const asi_block_row *data = m->element[c->row[i].element].data;
    if (data->signal == signal && c->row[i].reacts) return true;
  }
  return false;
}

static as_status make_samplers(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  const size_t most = (size_t)c->n_signals + (size_t)c->n_linear;
  clock *all = asi_calloc(most, sizeof *all);
  int *order = asi_calloc(most, sizeof(int));
  as_status status = all && order ? AS_OK : asi_fail_memory(error);
  const int n = all ? list_clocks(m, all) : 0;
  if (status == AS_OK) status = order_samplers(m, all, n, order, error);
  c->sampler = asi_calloc((size_t)n, sizeof *c->sampler);
  c->sampler_def = asi_calloc((size_t)n, sizeof *c->sampler_def);
  if (status == AS_OK && (c->sampler == NULL || c->sampler_def == NULL))
    status = asi_fail_memory(error);
  for (int i = 0; i < n && status == AS_OK; ++i) {
    const clock *x = &all[order[i]];
    c->sampler[i] = (asi_sampler_place){m, x->signal, x->linear};
    c->sampler_def[i] = (as_sampler_def){
        .period = x->period,
        .offset = x->offset,
        .delay = x->signal >= 0 ? c->signal[x->signal].delay : c->linear[x->linear].delay,
        .first = x->first,
        .count = x->count,
        .sample = asi_blocks_sample,
        .user = &c->sampler[i],
        .hidden = !x->at_once,
        .without_reactions = x->signal >= 0 && !reads_reaction(m, x->signal)};
    c->n_samplers = i + 1;
  }
  free(all);
  free(order);
  return status;
}

// ---- all of them ------------------------------------------------------------------------------------

static void *copy_array(const void *from, int count, size_t size) {
  void *to = asi_calloc((size_t)count, size);
  if (to && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

static bool has_states(const as_builder *b) {
  for (int i = 0; i < b->n_elements; ++i)
    if (b->element[i].n_states > 0) return true;
  return false;
}

as_status asi_blocks_number(as_model *m, const as_builder *b, as_error *error) {
  if (b->n_signals == 0 && !has_states(b)) return AS_OK;
  as_status status = check_declared(m, b, error);
  if (status) return status;
  asi_control *c = m->blocks = asi_calloc(1, sizeof *c);
  if (c == NULL) return asi_fail_memory(error);
  c->n_signals = b->n_signals;
  c->n_blocks = b->n_blocks;
  c->n_held = asi_blocks_held(b);
  c->signal = copy_array(b->signal, b->n_signals, sizeof *c->signal);
  c->block = copy_array(b->block, b->n_blocks, sizeof *c->block);
  const bool copied = asi_linear_blocks_copy(b->linear, b->n_linear, &c->linear, &c->n_linear);
  if (c->signal == NULL || c->block == NULL || !copied) return asi_fail_memory(error);
  place_signals(c, m->n_parameters + m->n_turns);
  status = asi_stateful_list(m, error);
  if (status) return status;
  c->x0 = asi_calloc((size_t)c->n_x, sizeof(double));
  if (c->x0 == NULL) return asi_fail_memory(error);
  for (int i = 0; i < c->n_signals; ++i) {
    const asi_signal *s = &c->signal[i];
    if (s->kind == AS_SIGNAL_STATE) c->x0[s->place] = s->start;
    for (int k = 0; is_held(s->kind) && k <= s->wait; ++k) m->u0[s->place - k] = s->start;
  }
  m->initial.x = c->x0;
  status = asi_plugin_events_list(m, error);
  if (status == AS_OK) status = place_formulas(m, error);
  if (status == AS_OK) status = list_rows(m, error);
  if (status == AS_OK) status = asi_time_blocks_link(m, error);
  if (status == AS_OK) status = note_loops(m, error);
  if (status == AS_OK) status = make_samplers(m, error);
  return status ? status : asi_switches_make(m, b, error);
}

void asi_blocks_free(asi_control *c) {
  if (c == NULL) return;
  asi_linear_blocks_free(c->linear, c->n_linear);
  free(c->signal);
  free(c->block);
  free(c->loop);
  free(c->row);
  free(c->row_of_y);
  free(c->formula_of_y);
  free(c->fresh);
  free(c->reader);
  free(c->held_reader);
  free(c->stateful);
  free(c->sampler);
  free(c->sampler_def);
  free(c->switch_);
  free(c->switch_def);
  free(c->list);
  free(c->linear_position);
  free(c->x0);
  free(c->y0);
  free(c->order);
  free(c->event);
  free(c);
}

// ---- patterns ---------------------------------------------------------------------------------------

/// Entries are recorded first, then their positions are found in the patterns: the same walk.
typedef struct walk {
  const as_model *m;
  as_recorder *recorder; ///< of each block; NULL: positions are found
  const asi_pattern *pattern;
  int *list;
  size_t n;
} walk;

/// An entry; row or column -1: none, which has no position either.
static void visit(walk *w, as_block block, int row, int col) {
  const bool there = row >= 0 && col >= 0;
  if (w->recorder) {
    if (there) asi_recorder_add(&w->recorder[block], row, col);
    ++w->n;
    return;
  }
  const asi_pattern *p = &w->pattern[block];
  const as_matrix m = {.rows = p->rows, .cols = p->cols, .col_start = p->col_start, .row = p->row};
  w->list[w->n++] = there ? as_matrix_position(&m, row, col) : -1;
}

static as_block block_of(as_signal_kind kind, as_block of_phi) {
  return kind == AS_SIGNAL_STATE ? of_phi : (as_block)(of_phi - AS_BLOCK_PHI_Q + AS_BLOCK_CHI_Q);
}

/// Where column `k` of an element stands in v; -1: nowhere.
static int column_of(const as_model *m, const asi_placed *e, int k) {
  const int body = e->e.body[k / 6];
  if (body < 0 || k % 6 >= m->body[body].n) return -1;
  return asi_body_place_of(&m->body[body], k % 6);
}

static void visit_columns(walk *w, const asi_row_place *row, as_block block, bool there) {
  const asi_placed *e = &w->m->element[row->element];
  for (int k = 0; k < 6 * row->shape.n_bodies; ++k)
    visit(w, block_of(row->kind, block), there ? row->row : -1, column_of(w->m, e, k));
}

/// State number r of the element that a gauge reads; -1: there is none.
static int state_of(const as_model *m, const asi_gauge *g, int r) {
  if (g->kind != ASI_GAUGE_ELEMENT || r >= m->element[g->joint].e.n_states) return -1;
  return m->blocks->stateful[m->element[g->joint].stateful].state + r;
}

static void visit_row(walk *w, const asi_row_place *row) {
  const asi_block_row *data = w->m->element[row->element].data;
  const asi_expression *e = asi_formula_expression(formula_of(w->m, row->element));
  visit_columns(w, row, AS_BLOCK_PHI_Q, data->n_gauges > 0);
  visit_columns(w, row, AS_BLOCK_PHI_V, row->rates);
  visit_columns(w, row, AS_BLOCK_PHI_VDOT, row->accelerates);
  for (int k = 0; k < e->n_slots; ++k) {
    const int slot = asi_expression_slots(e)[k];
    const bool y = slot >= ASI_SLOT_OUTPUT;
    visit(w, block_of(row->kind, y ? AS_BLOCK_PHI_Y : AS_BLOCK_PHI_X), row->row,
          y                        ? slot - ASI_SLOT_OUTPUT
          : slot >= ASI_SLOT_STATE ? slot - ASI_SLOT_STATE
                                   : -1);
  }
  for (int i = 0; i < data->n_gauges && row->reacts; ++i) {
    const asi_gauge *g = &asi_block_row_gauges(data)[i];
    const bool reads = asi_gauge_reads_reaction(g);
    const int n = !reads ? 0 : g->kind == ASI_GAUGE_DRIVE ? 1 : g->n_rows;
    const int first = reads ? w->m->element[w->m->joint[g->joint].element].row : 0;
    for (int r = 0; r < AS_ELEMENT_ROWS; ++r)
      visit(w, block_of(row->kind, AS_BLOCK_PHI_LAMBDA), row->row, r < n ? first + r : -1);
  }
  for (int i = 0; i < data->n_gauges && row->stateful; ++i)
    for (int r = 0; r < AS_ELEMENT_STATES; ++r)
      visit(w, block_of(row->kind, AS_BLOCK_PHI_X), row->row,
            state_of(w->m, &asi_block_row_gauges(data)[i], r));
}

static void visit_linear(walk *w, const asi_linear_block *l) {
  static const as_block target[4] = {AS_BLOCK_PHI_X, AS_BLOCK_PHI_Y, AS_BLOCK_CHI_X,
                                     AS_BLOCK_CHI_Y};
  const asi_linear *s = &l->system;
  for (int k = 0; k < 4; ++k)
    for (int i = s->first[k]; i < s->first[k + 1]; ++i)
      visit(w, target[k], s->entry[i].row + (k < 2 ? l->state : l->output),
            s->entry[i].col + (k % 2 == 0 ? l->state : l->input));
}

static void visit_reader(walk *w, const asi_reader_place *reader, const int *slot) {
  const asi_placed *e = &w->m->element[reader->element];
  for (int i = 0; i < reader->n; ++i)
    for (int k = 0; k < asi_reader_columns(&w->m->shape[e->shape]); ++k) {
      const bool y = slot[i] >= ASI_SLOT_OUTPUT;
      visit(w, y ? AS_BLOCK_F_Y : AS_BLOCK_F_X, column_of(w->m, e, k),
            slot[i] - (y ? ASI_SLOT_OUTPUT : ASI_SLOT_STATE));
    }
}

static void visit_stateful(walk *w, const asi_stateful_place *s) {
  const asi_placed *e = &w->m->element[s->element];
  const int n = s->shape.n_states, columns = 6 * s->shape.n_bodies;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < columns; ++k) visit(w, AS_BLOCK_PHI_Q, s->state + i, column_of(w->m, e, k));
    for (int k = 0; k < columns; ++k) visit(w, AS_BLOCK_PHI_V, s->state + i, column_of(w->m, e, k));
    for (int k = 0; k < n; ++k) visit(w, AS_BLOCK_PHI_X, s->state + i, s->state + k);
  }
  for (int k = 0; k < columns; ++k)
    for (int i = 0; i < n; ++i) visit(w, AS_BLOCK_F_X, column_of(w->m, e, k), s->state + i);
}

static void visit_all(walk *w) {
  asi_control *c = w->m->blocks;
  for (int i = 0; i < c->n_rows; ++i) {
    if (c->row[i].kind == AS_SIGNAL_SAMPLED) continue;
    c->row[i].position = w->n;
    visit_row(w, &c->row[i]);
  }
  for (int i = 0; i < c->n_linear; ++i) {
    c->linear_position[i] = w->n;
    if (!c->linear[i].sampled) visit_linear(w, &c->linear[i]);
  }
  for (int i = 0; i < c->n_stateful; ++i) {
    c->stateful[i].position = w->n;
    visit_stateful(w, &c->stateful[i]);
  }
  for (int i = 0; i < c->n_readers; ++i) {
    c->reader[i].position = w->n;
    visit_reader(w, &c->reader[i], c->list + c->reader[i].slot);
  }
}

// ---- who reads --------------------------------------------------------------------------------------

/// Lists the states and outputs that an element reads, each once; returns how many.
static int list_slots(const asi_placed *e, int *out) {
  const asi_formula *formula[ASI_ELEMENT_FORMULAS];
  const int n_formulas = e->descriptor->formulas ? e->descriptor->formulas(e->data, formula) : 0;
  int n = 0;
  for (int k = 0; k < n_formulas; ++k) {
    const asi_expression *x = asi_formula_expression(formula[k]);
    for (int i = 0; i < x->n_slots; ++i) {
      const int slot = asi_expression_slots(x)[i];
      bool known = slot < ASI_SLOT_STATE;
      for (int j = 0; j < n && !known; ++j) known = out[j] == slot;
      if (!known) out[n++] = slot;
    }
  }
  return n;
}

static as_status find_readers(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  int found[ASI_READER_SLOTS];
  size_t n_slots = 0;
  int n = 0;
  for (int i = 0; i < m->n_elements; ++i) {
    const int slots = list_slots(&m->element[i], found);
    n_slots += (size_t)slots;
    n += slots > 0;
  }
  c->reader = asi_calloc((size_t)n, sizeof *c->reader);
  c->list = asi_calloc(n_slots, sizeof(int));
  if (c->reader == NULL || c->list == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_elements; ++i) {
    const int slots = list_slots(&m->element[i], found);
    if (slots == 0) continue;
    c->reader[c->n_readers++] = (asi_reader_place){.element = i, .n = slots, .slot = c->n_list};
    memcpy(c->list + c->n_list, found, (size_t)slots * sizeof(int));
    c->n_list += (size_t)slots;
  }
  return AS_OK;
}

/// Whether an element reads a sampled signal.
static bool reads_held(const as_model *m, const asi_placed *e) {
  const asi_formula *formula[ASI_ELEMENT_FORMULAS];
  const int n_formulas = e->descriptor->formulas ? e->descriptor->formulas(e->data, formula) : 0;
  const int first = ASI_SLOT_PARAMETER + m->n_parameters + m->n_turns;
  for (int k = 0; k < n_formulas; ++k) {
    const asi_expression *x = asi_formula_expression(formula[k]);
    for (int i = 0; i < x->n_slots; ++i) {
      const int slot = asi_expression_slots(x)[i];
      if (slot >= first && slot < ASI_SLOT_MEASURE) return true;
    }
  }
  return false;
}

static as_status find_held_readers(as_model *m, as_error *error) {
  asi_control *c = m->blocks;
  c->held_reader = asi_calloc((size_t)m->n_elements, sizeof(int));
  if (c->held_reader == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_elements; ++i)
    if (reads_held(m, &m->element[i])) c->held_reader[c->n_held_readers++] = i;
  return AS_OK;
}

static as_status find_patterns(as_model *m, const as_problem_def *def,
                               asi_pattern pattern[AS_BLOCK_COUNT], size_t *count,
                               as_error *error) {
  as_recorder record[AS_BLOCK_COUNT] = {{0}};
  const int cols[] = {m->n, m->n, m->n, m->n_lambda, m->n_psi, def->n_x, def->n_y};
  as_status status = AS_OK;
  record[AS_BLOCK_F_X] = (as_recorder){.rows = m->n, .cols = def->n_x};
  record[AS_BLOCK_F_Y] = (as_recorder){.rows = m->n, .cols = def->n_y};
  for (int k = 0; k < 7; ++k) {
    record[AS_BLOCK_PHI_Q + k] = (as_recorder){.rows = def->n_x, .cols = cols[k]};
    record[AS_BLOCK_CHI_Q + k] = (as_recorder){.rows = def->n_y, .cols = cols[k]};
  }
  walk w = {.m = m, .recorder = record};
  visit_all(&w);
  *count = w.n;
  for (int k = 0; k < AS_BLOCK_COUNT; ++k) {
    if (status == AS_OK && record[k].rows > 0 && record[k].cols > 0)
      status = asi_recorder_pattern(&record[k], &pattern[k], error);
    asi_recorder_free(&record[k]);
  }
  return status;
}

/// Positions behind the slots that are there.
static as_status find_positions(as_model *m, const asi_pattern pattern[AS_BLOCK_COUNT],
                                size_t count, as_error *error) {
  asi_control *c = m->blocks;
  int *list = asi_calloc(c->n_list + count, sizeof(int));
  if (list == NULL) return asi_fail_memory(error);
  if (c->n_list > 0) memcpy(list, c->list, c->n_list * sizeof(int));
  free(c->list);
  c->list = list;
  walk w = {.m = m, .pattern = pattern, .list = list, .n = c->n_list};
  visit_all(&w);
  c->n_list = w.n;
  return AS_OK;
}

as_status asi_blocks_describe(as_model *m, as_problem_def *def, asi_pattern pattern[AS_BLOCK_COUNT],
                              as_error *error) {
  asi_control *c = m->blocks;
  size_t count = 0;
  if (c == NULL) return AS_OK;
  def->n_x = c->n_x;
  def->n_y = c->n_y;
  def->n_u += c->n_held;
  def->samplers = c->sampler_def;
  def->n_samplers = c->n_samplers;
  def->events = c->switch_def;
  def->n_events = c->n_switches;
  for (int i = 0; i < c->n_rows; ++i) {
    asi_row_place *row = &c->row[i];
    row->shape = m->shape[m->element[row->element].shape];
    row->shape.n_velocity_rows = 1;
  }
  asi_stateful_shape(m);
  c->linear_position = asi_calloc((size_t)c->n_linear, sizeof *c->linear_position);
  if (c->linear_position == NULL) return asi_fail_memory(error);
  as_status status = find_readers(m, error);
  if (status == AS_OK) status = find_held_readers(m, error);
  if (status == AS_OK) status = find_patterns(m, def, pattern, &count, error);
  if (status == AS_OK) status = find_positions(m, pattern, count, error);
  return status;
}
