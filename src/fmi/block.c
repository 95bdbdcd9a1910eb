/// Makes a block of an FMU (block.h): names, ports, the description that the kernel of plugins' blocks takes, the start.
#define _POSIX_C_SOURCE 200809L
#include "fmi/block.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "fmi/memory.h"

#define REFUSE(...) (snprintf(why, ASI_FMU_WHY, __VA_ARGS__), false)

// ---- names ------------------------------------------------------------------------------------------

/// The FMU's name of an element: of an array by its numbers from 1, `x[2,1]`.
static void full_name(const asi_fmu_variable *v, int element, char *out, size_t size) {
  size_t used = (size_t)snprintf(out, size, "%s", v->name);
  int rest = element, below = v->n;
  for (int k = 0; k < v->n_dimensions && used < size; ++k) {
    below /= v->dimension[k].size;
    used += (size_t)snprintf(out + used, size - used, "%s%d%s", k == 0 ? "[" : ",",
                             rest / below + 1, k + 1 == v->n_dimensions ? "]" : "");
    rest %= below;
  }
}

static void word_of(const char *full, char out[48]) {
  size_t n = 0;
  if (isdigit((unsigned char)full[0])) out[n++] = '_';
  for (const char *c = full; *c && n < 47; ++c) {
    const bool letter = isalnum((unsigned char)*c) && (unsigned char)*c < 128;
    out[n++] = letter ? *c : '_';
  }
  while (n > 1 && out[n - 1] == '_' && full[strlen(full) - 1] != '_') --n;
  out[n] = '\0';
}

void asi_fmu_port_name(const asi_fmu_variable *v, int element, char out[48]) {
  char full[1024];
  full_name(v, element, full, sizeof full);
  word_of(full, out);
}

int asi_fmu_lookup(const asi_fmu_description *d, const char *name, int *element) {
  char text[1024];
  const int whole = asi_fmu_find(d, name);
  *element = -1;
  if (whole >= 0) {
    *element = d->variable[whole].n_dimensions == 0 ? 0 : -1;
    return whole;
  }
  for (int ours = 0; ours < 2; ++ours)
    for (int i = 0; i < d->n_variables; ++i)
      for (int k = 0; k < d->variable[i].n; ++k) {
        if (ours)
          asi_fmu_port_name(&d->variable[i], k, text);
        else
          full_name(&d->variable[i], k, text, sizeof text);
        if (strcmp(text, name) != 0) continue;
        *element = k;
        return i;
      }
  return -1;
}

// ---- ports ------------------------------------------------------------------------------------------

/// A unit that channels can have.
static const char *unit_of(const asi_fmu_variable *v) {
  size_t length = 0;
  if (v->unit == NULL || strlen(v->unit) > 20) return "-";
  for (const char *c = v->unit; *c; c += length)
    if (!asi_printable(c, &length)) return "-";
  return v->unit[0] ? v->unit : "-";
}

static bool taken(const asi_fmu_ports *ports, const char *name) {
  for (int i = 0; i < ports->n; ++i)
    if (strcmp(ports->port[i].name, name) == 0) return true;
  return false;
}

static bool is_taken(const asi_fmu_block *b, const char *name) {
  return taken(&b->input, name) || taken(&b->state, name) || taken(&b->output, name) ||
         strcmp(name, "memory") == 0;
}

static bool add_port(asi_fmu_block *b, asi_fmu_ports *to, const asi_fmu_variable *v, int element,
                     const char *name, char *why) {
  char own[48];
  asi_fmu_port_name(v, element, own);
  if (name == NULL) name = own;
  if (to->n >= AS_PLUGIN_MOST)
    return REFUSE("it has more than %d inputs, states or outputs: choose some by `outputs:`",
                  AS_PLUGIN_MOST);
  if (to == &b->state && is_taken(b, name)) {
    snprintf(own, sizeof own, "state_%d", to->n + 1);
    name = own;
  }
  if (is_taken(b, name) && to == &b->output)
    return REFUSE(
        "\"%.60s\" would have the name \"%s\" of another one: give it a name by `outputs: "
        "{NAME: \"%.60s\"}`",
        v->name, name, v->name);
  if (is_taken(b, name)) return REFUSE("the input \"%s\" stands there twice", name);
  asi_fmu_port *p = &to->port[to->n++];
  *p = (asi_fmu_port){.variable = v, .element = element};
  snprintf(p->name, sizeof p->name, "%s", name);
  return true;
}

bool asi_fmu_block_add_input(asi_fmu_block *b, const char *variable, char why[ASI_FMU_WHY]) {
  const asi_fmu_description *d = &b->fmu->about;
  int element;
  const int k = asi_fmu_lookup(d, variable, &element);
  if (k < 0) return REFUSE("it has no input \"%.80s\"", variable);
  const asi_fmu_variable *v = &d->variable[k];
  if (v->causality != ASI_FMU_INPUT) return REFUSE("its variable \"%.80s\" is no input", variable);
  if (!asi_fmu_is_number(v->type))
    return REFUSE("its input \"%.80s\" is %s: only numbers and booleans can be inputs", variable,
                  v->type == ASI_FMU_CLOCK ? "a clock" : "no number");
  if (b->fmu->exchange && v->discrete)
    return REFUSE("its input \"%.80s\" is discrete: formulas change at every time, so of model "
                  "exchange only continuous ones can be inputs (export it for co-simulation)",
                  variable);
  for (int i = 0; i < b->input.n; ++i)
    if (b->input.port[i].variable == v)
      return element >= 0 && v->n > 1 ? true
                                      : REFUSE("the input \"%.80s\" stands there twice", variable);
  for (int i = 0; i < v->n; ++i)
    if (!add_port(b, &b->input, v, i, NULL, why)) return false;
  return true;
}

/// Adds a number; one that is a state is one already.
static bool add_output(asi_fmu_block *b, const asi_fmu_variable *v, int element, const char *name,
                       char *why) {
  for (int i = 0; i < b->state.n && name == NULL; ++i)
    if (b->state.port[i].variable == v && b->state.port[i].element == element) return true;
  return add_port(b, &b->output, v, element, name, why);
}

bool asi_fmu_block_add_output(asi_fmu_block *b, const char *name, const char *variable,
                              char why[ASI_FMU_WHY]) {
  int element;
  const int k = asi_fmu_lookup(&b->fmu->about, variable, &element);
  if (k < 0) return REFUSE("it has no variable \"%.80s\"", variable);
  const asi_fmu_variable *v = &b->fmu->about.variable[k];
  if (!asi_fmu_is_number(v->type)) return REFUSE("its variable \"%.80s\" is no number", variable);
  if (element < 0)
    return REFUSE("its variable \"%.80s\" is an array: name an element, as \"%.60s[1]\"", variable,
                  variable);
  return add_output(b, v, element, name, why);
}

bool asi_fmu_block_add_outputs(asi_fmu_block *b, char why[ASI_FMU_WHY]) {
  const asi_fmu_description *d = &b->fmu->about;
  for (int i = 0; i < d->n_variables; ++i) {
    const asi_fmu_variable *v = &d->variable[i];
    if (v->causality != ASI_FMU_OUTPUT || !asi_fmu_is_number(v->type)) continue;
    for (int k = 0; k < v->n; ++k)
      if (!add_output(b, v, k, NULL, why)) return false;
  }
  return true;
}

// ---- the description --------------------------------------------------------------------------------

asi_fmu_block *asi_fmu_block_create(asi_fmu *f, bool exchange, double period,
                                    asi_fmu_coupling coupling) {
  asi_fmu_block *b = calloc(1, sizeof *b);
  if (b == NULL) {
    asi_fmu_close(f);
    return NULL;
  }
  f->exchange = exchange;
  f->kind = exchange ? &f->about.exchange : &f->about.simulation;
  *b = (asi_fmu_block){.fmu = f, .period = exchange ? (double)NAN : period, .coupling = coupling};
  asi_fmu_ports *const all[] = {&b->input, &b->state, &b->output};
  for (int i = 0; i < 3; ++i) {
    all[i]->port = calloc(AS_PLUGIN_MOST, sizeof *all[i]->port);
    all[i]->quantity = calloc(AS_PLUGIN_MOST, sizeof *all[i]->quantity);
  }
  for (int i = 0; i < 3; ++i)
    if (all[i]->port == NULL || all[i]->quantity == NULL) {
      asi_fmu_block_destroy(b);
      return NULL;
    }
  return b;
}

void asi_fmu_block_destroy(asi_fmu_block *b) {
  if (b == NULL) return;
  asi_fmu_slots_free(b);
  asi_fmu_ports *const all[] = {&b->input, &b->state, &b->output};
  for (int i = 0; i < 3; ++i) {
    free(all[i]->port);
    free(all[i]->quantity);
  }
  free(b->direct);
  free(b->event);
  free(b->event_names);
  free(b->unknown);
  free(b->known);
  free(b->room);
  free(b->z);
  asi_fmu_close(b->fmu);
  free(b);
}

/// The variable of the k-th listed derivative; the description has checked it.
static const asi_fmu_variable *rate_of(const asi_fmu_description *d, int k) {
  return &d->variable[d->version == 2 ? (int)d->rate[k] - 1
                                      : asi_fmu_find_reference(d, d->rate[k])];
}

static const asi_fmu_variable *state_of(const asi_fmu_description *d,
                                        const asi_fmu_variable *rate) {
  return &d->variable[d->version == 2 ? (int)rate->derivative - 1
                                      : asi_fmu_find_reference(d, rate->derivative)];
}

static bool add_states(asi_fmu_block *b, char *why) {
  const asi_fmu_description *d = &b->fmu->about;
  for (int i = 0; i < d->n_rates && b->fmu->exchange; ++i) {
    const asi_fmu_variable *v = state_of(d, rate_of(d, i));
    for (int k = 0; k < v->n; ++k)
      if (!add_port(b, &b->state, v, k, NULL, why)) return false;
  }
  return true;
}

static void make_quantities(asi_fmu_ports *ports) {
  for (int i = 0; i < ports->n; ++i)
    ports->quantity[i] =
        (as_plugin_quantity){.name = ports->port[i].name, .unit = unit_of(ports->port[i].variable)};
}

/// References for directional derivatives; without them where something is an array or of another precision. What is no real number has none: its
/// derivatives are zero.
static void list_references(asi_fmu_block *b) {
  const asi_fmu_description *d = &b->fmu->about;
  b->directional = b->fmu->exchange && b->fmu->kind->derivatives;
  const asi_fmu_ports *const all[] = {&b->input, &b->state, &b->output};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < all[i]->n; ++k) {
      const asi_fmu_variable *v = all[i]->port[k].variable;
      if (asi_fmu_is_real(v->type) && (v->n_dimensions > 0 || v->type != ASI_FMU_FLOAT64))
        b->directional = false;
    }
  for (int i = 0; i < b->state.n && b->directional; ++i) {
    b->known[i] = b->state.port[i].variable->reference;
    b->unknown[b->n_unknown] = rate_of(d, i)->reference;
    b->row[b->n_unknown++] = i;
  }
  for (int i = 0; i < b->output.n && b->directional; ++i) {
    const asi_fmu_variable *v = b->output.port[i].variable;
    if (!asi_fmu_is_real(v->type) || v->discrete) continue;
    b->unknown[b->n_unknown] = v->reference;
    b->row[b->n_unknown++] = b->state.n + i;
  }
  for (int i = 0; i < b->input.n; ++i)
    b->known[b->state.n + i] = b->input.port[i].variable->reference;
}

static bool name_events(asi_fmu_block *b) {
  const int n = b->fmu->exchange ? b->fmu->about.n_indicators + 1 : 1;
  b->event = calloc((size_t)n, sizeof *b->event);
  b->event_names = calloc((size_t)n, 24);
  b->z = calloc((size_t)n, sizeof *b->z);
  if (b->event == NULL || b->event_names == NULL || b->z == NULL) return false;
  for (int i = 0; i < n; ++i) {
    char *name = b->event_names + 24 * (size_t)i;
    if (i + 1 < n)
      snprintf(name, 24, "indicator_%d", i + 1);
    else
      snprintf(name, 24, b->fmu->exchange ? "time_event" : "end");
    b->event[i] = name;
  }
  return true;
}

/// Numbers of all slots: inputs, outputs, slopes, states.
static bool make_slots(asi_fmu_block *b) {
  const size_t nw = (size_t)b->input.n, ny = (size_t)b->output.n, nx = (size_t)b->state.n;
  const size_t last = b->fmu->exchange && !b->fmu->kind->state ? 2 * nx + nw + ny : 0;
  const size_t each = nw + 2 * ny + nx + last;
  b->room = calloc(ASI_FMU_SLOTS * each + 1, sizeof *b->room);
  for (size_t i = 0; b->room && i < ASI_FMU_SLOTS; ++i) {
    double *at = b->room + i * each;
    b->slot[i] = (asi_fmu_slot){.w = at,
                                .y = at + nw,
                                .slope = at + nw + ny,
                                .x = at + nw + 2 * ny,
                                .last = at + nw + 2 * ny + nx};
  }
  return b->room != NULL;
}

bool asi_fmu_block_describe(asi_fmu_block *b, char why[ASI_FMU_WHY]) {
  const bool exchange = b->fmu->exchange, iterates = !exchange && b->coupling == ASI_FMU_ITERATE;
  if (iterates && !(b->fmu->kind->state && b->fmu->kind->any_step))
    return REFUSE("`coupling: iterate` takes communication steps back and makes them anew, also "
                  "shorter ones; it cannot %s",
                  b->fmu->kind->state
                      ? "take steps of any size (canHandleVariableCommunicationStepSize)"
                      : "get and set its state (canGetAndSetFMUState)");
  for (int i = 0; i < b->fmu->about.n_variables; ++i) {
    const asi_fmu_variable *v = &b->fmu->about.variable[i];
    if (v->type == ASI_FMU_CLOCK && v->causality == ASI_FMU_INPUT)
      return REFUSE("its input clock \"%.80s\" would never tick: clocks are not offered; export "
                    "it without",
                    v->name);
  }
  if (!add_states(b, why)) return false;
  if (b->output.n == 0 && !asi_fmu_block_add_outputs(b, why)) return false;
  if (b->input.n + b->state.n > AS_PLUGIN_MOST || b->output.n + b->state.n > AS_PLUGIN_MOST)
    return REFUSE(
        "it has %d inputs, %d states and %d outputs: states with either must be %d at most; "
        "choose outputs by `outputs:`",
        b->input.n, b->state.n, b->output.n, AS_PLUGIN_MOST);
  b->unknown = calloc(AS_PLUGIN_MOST + 1, sizeof *b->unknown);
  b->known = calloc(AS_PLUGIN_MOST + 1, sizeof *b->known);
  b->direct = calloc((size_t)b->output.n * (size_t)b->input.n + 1, 1);
  if (!b->unknown || !b->known || !b->direct || !name_events(b) || !make_slots(b))
    return REFUSE(ASI_FMU_NO_MEMORY);
  make_quantities(&b->input);
  make_quantities(&b->state);
  make_quantities(&b->output);
  list_references(b);
  b->sampled = (as_plugin_quantity){.name = "memory"};
  b->plugin = (as_plugin_block){.name = "fmu",
                                .n_inputs = b->input.n,
                                .n_states = b->state.n,
                                .n_sampled = 1,
                                .n_outputs = b->output.n,
                                .input = b->input.quantity,
                                .state = b->state.quantity,
                                .sampled = &b->sampled,
                                .output = b->output.quantity,
                                .reads_time = 1,
                                .direct = exchange || iterates ? NULL : b->direct,
                                .evaluate = exchange   ? asi_fmu_evaluate
                                            : iterates ? asi_fmu_iterate
                                                       : asi_fmu_hold,
                                .jacobian = b->directional ? asi_fmu_jacobian
                                            : iterates     ? asi_fmu_iterate_jacobian
                                                           : NULL,
                                .sample = exchange ? asi_fmu_sample : asi_fmu_step};
  b->memory = (asi_plugin_memory){.user = b,
                                  .event = b->event,
                                  .n_events = exchange ? b->fmu->about.n_indicators + 1 : 1,
                                  .conditions = !exchange,
                                  .event_value = exchange ? asi_fmu_event_value : asi_fmu_end_value,
                                  .event_act = exchange ? asi_fmu_event_act : asi_fmu_end_act,
                                  .event_time = exchange ? asi_fmu_event_time : NULL,
                                  .serialize = asi_fmu_serialize};
  return true;
}

bool asi_fmu_block_load(asi_fmu_block *b, const char *path, char why[ASI_FMU_WHY]) {
  return asi_fmu_load(b->fmu, path, b->fmu->exchange, why);
}

// ---- the start --------------------------------------------------------------------------------------

bool asi_fmu_block_is_text(const asi_fmu_block *b, const char *variable) {
  int element;
  const int k = asi_fmu_lookup(&b->fmu->about, variable, &element);
  return k >= 0 && b->fmu->about.variable[k].type == ASI_FMU_STRING;
}

bool asi_fmu_block_set(asi_fmu_block *b, const char *variable, const char *text, double value,
                       char why[ASI_FMU_WHY]) {
  asi_fmu *f = b->fmu;
  int element, status = ASI_FMU_OK;
  const int k = asi_fmu_lookup(&f->about, variable, &element);
  if (k < 0) return REFUSE("it has no parameter \"%.80s\"", variable);
  const asi_fmu_variable *v = &f->about.variable[k];
  if (v->causality == ASI_FMU_STRUCTURAL)
    return REFUSE("\"%.80s\" is a structural parameter: sizes stay as they are", variable);
  if (v->constant || v->calculated || v->causality == ASI_FMU_CALCULATED ||
      v->causality == ASI_FMU_INDEPENDENT)
    return REFUSE("\"%.80s\" cannot be set: it is calculated or constant", variable);
  if (!asi_fmu_is_number(v->type) && v->type != ASI_FMU_STRING)
    return REFUSE("\"%.80s\" is neither a number nor a text", variable);
  if (v->type == ASI_FMU_STRING && v->n_dimensions == 0) {
    status = f->calls->set_text(f, v, text);
  } else if (element < 0 || v->type == ASI_FMU_STRING) {
    return REFUSE("\"%.80s\" is an array: give its elements, as \"%.60s[1]\"", variable, variable);
  } else {
    const bool real = asi_fmu_is_real(v->type);
    if (!real && value != round(value))
      return REFUSE("\"%.80s\" is a whole number or boolean, not %g", variable, value);
    if (v->n > 1) status = f->calls->get(f, v, f->elements);
    f->elements[element] = value;
    if (status <= ASI_FMU_WARNING) status = f->calls->set(f, v, f->elements);
  }
  if (status <= ASI_FMU_WARNING) return true;
  asi_fmu_explain(f, status, why);
  const size_t used = strlen(why);
  snprintf(why + used, ASI_FMU_WHY - used, " for \"%.80s\"", variable);
  return false;
}

/// Whether the library has as many states and indicators as its description says; of FMI 2.0 it cannot be asked.
static bool check_counts(asi_fmu *f, char *why) {
  size_t states = 0, indicators = 0;
  if (!f->exchange || f->calls->count == NULL) return true;
  const int status = f->calls->count(f, &states, &indicators);
  if (status > ASI_FMU_WARNING) {
    asi_fmu_explain(f, status, why);
    return false;
  }
  if (states == (size_t)f->n_states && indicators == (size_t)f->about.n_indicators) return true;
  return REFUSE("its library has %zu continuous states and %zu event indicators, its "
                "modelDescription.xml %d and %d",
                states, indicators, f->n_states, f->about.n_indicators);
}

/// Event mode after initialization, which ends in continuous time.
static bool first_events(asi_fmu *f, double *next, char *why) {
  asi_fmu_update u = {.again = true};
  int status = ASI_FMU_OK;
  for (int i = 0; i < 100 && u.again && status <= ASI_FMU_WARNING; ++i)
    status = f->calls->update(f, &u);
  if (status <= ASI_FMU_WARNING && u.again)
    return REFUSE("its event iteration at the start does not end");
  if (status <= ASI_FMU_WARNING) status = f->calls->enter_continuous(f);
  *next = u.has_next ? u.next : (double)INFINITY;
  if (status <= ASI_FMU_WARNING) return true;
  asi_fmu_explain(f, status, why);
  return false;
}

bool asi_fmu_block_begin(asi_fmu_block *b, double *state, double *sampled, char why[ASI_FMU_WHY]) {
  asi_fmu *f = b->fmu;
  double next = (double)INFINITY;
  char slip[AS_PLUGIN_WHY] = "";
  int status = f->calls->begin(f, 0.0);
  if (status <= ASI_FMU_WARNING && !check_counts(f, why)) return false;
  if (status <= ASI_FMU_WARNING) status = f->calls->finish(f);
  if (status > ASI_FMU_WARNING) {
    asi_fmu_explain(f, status, why);
    return false;
  }
  f->begun = true;
  if (f->exchange && !first_events(f, &next, why)) return false;
  if (f->exchange && f->n_states > 0) status = f->calls->get_states(f, state);
  if (status > ASI_FMU_WARNING) {
    asi_fmu_explain(f, status, why);
    return false;
  }
  for (int i = 0; i < f->n_states; ++i)
    if (!isfinite(state[i]))
      return REFUSE("%s gives %g for its state \"%.60s\"", f->doing, state[i],
                    b->state.port[i].variable->name);
  if (!asi_fmu_get(f, &b->output, b->y, slip)) return REFUSE("%s", slip);
  asi_fmu_slot *s = asi_fmu_slot_new(b, 0.0, 0.0, 0.0, slip);
  if (s == NULL) return REFUSE("%s", slip);
  s->fixed = true;
  s->next = next;
  if (b->output.n > 0) memcpy(s->y, b->y, (size_t)b->output.n * sizeof *s->y);
  // Inputs that were not told yet are as the FMU has them.
  if (!asi_fmu_get(f, &b->input, s->w, slip)) return REFUSE("%s", slip);
  *sampled = 0.0;
  return true;
}

const as_plugin_block *asi_fmu_block_plugin(const asi_fmu_block *b) { return &b->plugin; }
const asi_plugin_memory *asi_fmu_block_memory(const asi_fmu_block *b) { return &b->memory; }
const asi_fmu *asi_fmu_block_fmu(const asi_fmu_block *b) { return b->fmu; }
const char *asi_fmu_block_input(const asi_fmu_block *b, int i) { return b->input.port[i].name; }
