/// What a model says of the equations in a message: the names of components, which joint or force could not be evaluated, and
/// why; where numbers are not finite, which of the elements gave them and which quantity they are.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "elements/block_row.h"
#include "model/blocks.h"
#include "model/look.h"
#include "model/model.h"
#include "model/superelements.h"

// ---- names ------------------------------------------------------------------------------------------

static void describe_blamed(const as_model *m, int number, char *text, size_t size) {
  asi_entity_kind sort = ASI_SORT_SUPERELEMENT;
  const int flexible = number - m->n_elements - m->n_superelements;
  const int behind = flexible - m->n_flexibles; // blocks of plugins
  if (behind >= 0) {
    snprintf(text, size, "block \"%.44s\"",
             asi_names_get(&m->names[ASI_SORT_BLOCK], m->blocks->linear[behind].block));
    return;
  }
  if (flexible >= 0) {
    snprintf(text, size, "flexible body \"%.44s\"",
             asi_names_get(&m->names[ASI_SORT_FLEXIBLE], flexible));
    return;
  }
  const char *name = number < m->n_elements
                         ? asi_element_name(m, number, &sort)
                         : asi_names_get(&m->names[sort], number - m->n_elements);
  snprintf(text, size, "%s \"%.44s\"", asi_entity_kind_name(sort), name);
}

static void describe_row(const as_model *m, bool velocity, int index, char *text, size_t size) {
  const int joint = m->row_joint[velocity ? m->n_lambda + index : index];
  const asi_placed *p = &m->element[m->joint[joint].element];
  const char *name = asi_names_get(&m->names[ASI_SORT_JOINT], joint);
  if (velocity)
    snprintf(text, size, "joint \"%.40s\", velocity row %d", name,
             index - p->velocity_row + 1); // rows count from 1 in messages
  else if (p->e.n_rows > 1)
    snprintf(text, size, "joint \"%.40s\", row %d", name, index - p->row + 1);
  else
    snprintf(text, size, "joint \"%.40s\"", name);
}

/// The others of an algebraic loop.
static void add_loop(const as_model *m, int signal, asi_text *text) {
  const asi_control *c = m->blocks;
  int n = 0;
  for (int i = 0; i < c->n_signals; ++i) {
    if (i == signal || c->loop[i] < 0 || c->loop[i] != c->loop[signal]) continue;
    const asi_signal *s = &c->signal[i];
    asi_text_add(text, "%s%.40s%s%.16s", n++ == 0 ? " in a loop with " : ", ",
                 asi_names_get(&m->names[ASI_SORT_BLOCK], s->block), s->output[0] ? "." : "",
                 s->output);
  }
}

static void describe_signal(const as_model *m, as_signal_kind kind, int place, char *out,
                            size_t size) {
  for (int i = 0; m->blocks && i < m->blocks->n_signals; ++i) {
    const asi_signal *s = &m->blocks->signal[i];
    if (s->kind != kind || s->place != place) continue;
    asi_text text = asi_text_begin(out, size);
    asi_text_add(&text, "block \"%.40s%s%.16s\"",
                 asi_names_get(&m->names[ASI_SORT_BLOCK], s->block), s->output[0] ? "." : "",
                 s->output);
    if (size >= 128 && kind == AS_SIGNAL_OUTPUT) add_loop(m, i, &text); // where there is room
  }
}

/// A state of an element.
static void describe_state(const as_model *m, int place, char *text, size_t size) {
  for (int i = 0; m->blocks && i < m->blocks->n_stateful; ++i) {
    const asi_stateful_place *s = &m->blocks->stateful[i];
    if (place < s->state || place >= s->state + s->shape.n_states) continue;
    asi_entity_kind sort;
    const char *name = asi_element_name(m, s->element, &sort);
    snprintf(text, size, "%s \"%.40s\", state %d", asi_entity_kind_name(sort), name,
             place - s->state + 1); // states count from 1 in messages
  }
}

void asi_model_describe(as_quantity quantity, int index, char *text, size_t size, void *user) {
  const as_model *m = user;
  if (quantity == AS_QUANTITY_CODE)
    describe_blamed(m, (index < 0 ? -index : index) - ASI_BLAMED, text, size);
  if (quantity == AS_QUANTITY_LAMBDA || quantity == AS_QUANTITY_PSI)
    describe_row(m, quantity == AS_QUANTITY_PSI, index, text, size);
  if (quantity == AS_QUANTITY_X) describe_state(m, index, text, size);
  if (quantity == AS_QUANTITY_X || quantity == AS_QUANTITY_Y)
    describe_signal(m, quantity == AS_QUANTITY_X ? AS_SIGNAL_STATE : AS_SIGNAL_OUTPUT, index, text,
                    size);
  if (quantity != AS_QUANTITY_V) return;
  for (int i = 0; i < m->n_superelements; ++i)
    if (index >= m->superelement[i].v && index < m->superelement[i].v + m->superelement[i].n)
      snprintf(text, size, "superelement \"%.32s\", coordinate %d",
               asi_names_get(&m->names[ASI_SORT_SUPERELEMENT], i), index - m->superelement[i].v);
  for (int i = 0; i < m->n_flexibles; ++i) {
    const int coordinate = index - m->flexible[i].z_v;
    if (coordinate >= 0 && coordinate < m->flexible[i].data->coordinate_count)
      snprintf(text, size, "flexible body \"%.32s\", coordinate %d",
               asi_names_get(&m->names[ASI_SORT_FLEXIBLE], i), coordinate);
  }
  for (int i = 0; i < m->n_bodies; ++i) {
    const int component = index - m->body[i].v;
    if (asi_body_is_node(&m->body[i]) || component < 0 || component >= m->body[i].n) continue;
    snprintf(text, size, "body \"%.32s\", %s %c", asi_names_get(&m->names[ASI_SORT_BODY], i),
             component < 3 ? "velocity" : "rotation", "xyz"[component % 3]);
  }
}

// ---- reasons ----------------------------------------------------------------------------------------

/// All that an element gives.
typedef struct gift {
  double force[AS_ELEMENT_COLUMNS], f_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS],
      f_v[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  double g[AS_ELEMENT_ROWS], rate[AS_ELEMENT_ROWS], acceleration[AS_ELEMENT_ROWS];
  double g_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS], gdot_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  double k[AS_ELEMENT_ROWS], k_rate[AS_ELEMENT_ROWS];
  double k_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS], k_v[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  double f_lambda[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
} gift;

/// Evaluates an element as far as the point tells: `why` receives what it says.
static int look(const as_model *m, const as_point *at, int number, char *why, gift *out) {
  const asi_placed *e = &m->element[number];
  as_body_motion body[AS_ELEMENT_BODIES];
  as_element_input in = {.t = at->t, .u = at->u, .x = at->x, .y = at->y, .why = why};
  const bool rows = e->e.n_rows > 0, velocity_rows = e->e.n_velocity_rows > 0;
  const bool reads = m->shape[e->shape].n_read > 0;
  asi_element_point(at, e, &in);
  in.state = asi_element_states(m, e, at->x);
  for (int b = 0; b < e->e.n_bodies; ++b) {
    asi_model_motion(m, e->e.body[b], at->q, at->v, &body[b]);
    in.body[b] = &body[b];
  }
  // Forces and tangents of constraint forces need velocities, multipliers and held signals, which not every point has.
  const bool signals =
      (at->u || m->n_parameters + m->n_turns == 0) && (at->y || !m->blocks || m->blocks->n_y == 0);
  const bool pulls =
      at->v && signals && (at->lambda || (!rows && !reads)) && (at->psi || !velocity_rows);
  memset(out, 0, sizeof *out);
  if (!pulls && !rows && !(velocity_rows && at->v)) return AS_DONE;
  const as_element_output all = {.force = pulls ? out->force : NULL,
                                 .f_q = pulls ? out->f_q : NULL,
                                 .f_v = pulls ? out->f_v : NULL,
                                 .f_lambda = pulls && reads ? out->f_lambda : NULL,
                                 .g = rows ? out->g : NULL,
                                 .g_q = rows ? out->g_q : NULL,
                                 .rate = rows && at->v ? out->rate : NULL,
                                 .gdot_q = rows && at->v ? out->gdot_q : NULL,
                                 .acceleration = rows && at->v ? out->acceleration : NULL,
                                 .k = velocity_rows && at->v ? out->k : NULL,
                                 .k_q = velocity_rows && at->v ? out->k_q : NULL,
                                 .k_v = velocity_rows && at->v ? out->k_v : NULL,
                                 .k_rate = velocity_rows && at->v ? out->k_rate : NULL};
  return e->e.type->evaluate(&in, &all, e->data);
}

/// The first of some numbers that is not finite, or 0.
static double find_strange(const double *x, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(x[i])) return x[i];
  return 0.0;
}

#define PART(field, words)                                                                         \
  { words, offsetof(gift, field), sizeof((gift *)0)->field / sizeof(double) }
/// Names the first quantity of an element that is not finite.
static bool blame_number(const as_model *m, const as_point *at, int number, char *text,
                         size_t size) {
  static const struct {
    const char *words;
    size_t at, n;
  } parts[] = {PART(force, "the force"),
               PART(g, "the position"),
               PART(rate, "the velocity"),
               PART(k, "the sliding velocity"),
               PART(acceleration, "the acceleration"),
               PART(k_rate, "the sliding acceleration"),
               PART(f_q, "the stiffness"),
               PART(f_v, "the damping"),
               PART(f_lambda, "the force by the joint's reaction"),
               PART(g_q, "the derivatives of the position"),
               PART(gdot_q, "the derivatives of the velocity"),
               PART(k_q, "the derivatives of the sliding velocity by positions"),
               PART(k_v, "the derivatives of the sliding velocity")};
  char why[AS_ELEMENT_WHY] = "";
  gift all;
  if (look(m, at, number, why, &all)) return false;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    const double x =
        find_strange((const double *)(const void *)((char *)&all + parts[i].at), parts[i].n);
    if (x == 0.0) continue;
    asi_entity_kind sort;
    const char *name = asi_element_name(m, number, &sort);
    snprintf(text, size, "%s of %s%s\"%.60s\" is %s", parts[i].words,
             sort == ASI_SORT_FORCE ? "" : asi_entity_kind_name(sort),
             sort == ASI_SORT_FORCE ? "" : " ", name, isnan(x) ? "no number" : "infinite");
    return true;
  }
  return false;
}
#undef PART

/// A formula of time that is no number.
static bool blame_curve(const as_model *m, double t, char *text, size_t size) {
  double out[3];
  for (int i = 0; i < m->n_curves; ++i) {
    const asi_formula *f = m->curve[i].formula;
    if (f == NULL || !f->of_time || asi_formula_at(f, t, out) == AS_DONE) continue;
    asi_formula_explain(f, t, text, size);
    return true;
  }
  return false;
}

void asi_model_explain(const as_point *at, int code, char *text, size_t size, void *user) {
  const as_model *m = user;
  const int number = (code < 0 ? -code : code) - ASI_BLAMED;
  if (code == AS_DONE) {
    for (int i = 0; i < m->n_elements; ++i)
      if (blame_number(m, at, i, text, size)) return;
    return;
  }
  const int behind = number - m->n_elements - m->n_superelements - m->n_flexibles;
  if (behind >= 0) asi_plugin_block_explain(m, at, behind, text, size);
  if (behind >= 0 || blame_curve(m, at->t, text, size) || number < 0 || number >= m->n_elements)
    return;
  char why[AS_ELEMENT_WHY] = "";
  gift ignored;
  if (m->element[number].e.type == &asi_block_row_type)
    asi_blocks_explain(m, at, number, why);
  else
    (void)look(m, at, number, why, &ignored);
  snprintf(text, size, "%s", why);
}
