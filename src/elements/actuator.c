/// Forces by formula. With F_k(t, u, m) functions of the time, of parameters and of quantities m_i of the machine
/// (gauge.c), and w_k(q) the forces that F_k = 1 stands for,
///
///     f = sum F_k w_k      f_q = sum w_k (sum F_k,i m_i,q) + F_k D_q w_k      f_v = sum w_k (sum F_k,i m_i,v)
///
/// Of an actuator w = c_q^T, c the distance or coordinate that it acts along: F > 0 makes it grow, and the power is F c'
/// (less what frames that move in a given way take). Of a load w_k is a unit of force or torque (load.c), times the
/// load's factor. All of the power counts as supplied: whether a formula stores or dissipates is not known.
#include "elements/actuator.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/vector.h"
#include "elements/why.h"

_Static_assert((int)ASI_EFFORTS <= (int)ASI_ELEMENT_FORMULAS, "that many formulas");

/// What all formulas of an element see.
typedef struct readings {
  asi_reading of[ASI_GAUGES];
  double value[ASI_GAUGES];
} readings;

static const double *turns_of(const asi_actuator *a, const as_element_input *in) {
  return in->u ? in->u + a->first_turn : NULL;
}

static int read_all(const asi_actuator *a, const as_element_input *in, readings *r) {
  for (int i = 0; i < a->n_gauges; ++i) {
    const int code = asi_gauge_read(&asi_actuator_gauges(a)[i], in, a, turns_of(a, in), &r->of[i]);
    if (code) return code;
    r->value[i] = r->of[i].value;
  }
  return AS_DONE;
}

/// A formula: its value, and where they are wanted its gradients by all moves and velocities.
typedef struct effort {
  double F, q[AS_ELEMENT_COLUMNS], v[AS_ELEMENT_COLUMNS];
} effort;

static int find_effort(const asi_actuator *a, int k, const as_element_input *in, const readings *r,
                       bool gradients, effort *x) {
  double by[ASI_GAUGES] = {0};
  const asi_gauge *gauge = asi_actuator_gauges(a);
  const asi_formula *f = a->effort[k].curve->formula;
  const int code = asi_formula_machine(f, in, r->value, &x->F, gradients ? by : NULL);
  if (code || !gradients) return code;
  memset(x->q, 0, 6 * (size_t)a->n_bodies * sizeof(double));
  memset(x->v, 0, 6 * (size_t)a->n_bodies * sizeof(double));
  for (int i = 0; i < a->n_gauges; ++i)
    for (int j = 0; j < ASI_PAIR; ++j) {
      const int column = 6 * gauge[i].body[j / 6] + j % 6;
      x->q[column] += by[i] * r->of[i].q[j];
      x->v[column] += by[i] * r->of[i].v[j];
    }
  return AS_DONE;
}

/// Adds F w and its derivatives, but for D_q w.
static void act(const effort *x, const double *w, int columns, const as_element_output *out) {
  for (int i = 0; i < ASI_PAIR; ++i) {
    if (out->force) out->force[i] += x->F * w[i];
    for (int j = 0; j < columns && out->f_q; ++j) out->f_q[i * columns + j] += w[i] * x->q[j];
    for (int j = 0; j < columns && out->f_v; ++j) out->f_v[i * columns + j] += w[i] * x->v[j];
  }
}

/// Adds a matrix of the first two bodies.
static void add_pair(const double *m, int columns, double *f_q) {
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j) f_q[i * columns + j] += m[i * ASI_PAIR + j];
}

/// The derivative of formula k by a slot; 0 if it does not depend on it.
static double take_slot(const asi_actuator *a, int k, const double *by_slot, int slot) {
  const asi_expression *e = asi_formula_expression(a->effort[k].curve->formula);
  for (int i = 0; i < e->n_slots; ++i)
    if (asi_expression_slots(e)[i] == slot) return by_slot[i];
  return 0.0;
}

// ---- actuators --------------------------------------------------------------------------------------

/// Adds F D_q c_q^T.
static int add_curvature(const asi_actuator *a, const as_element_input *in, double F, double *m) {
  const double zero[3] = {0}, back = -F;
  asi_ends_now ends;
  const int code = asi_ends_move(&a->line.ends, in->t, &ends);
  if (code) return code;
  if (a->line.kind == ASI_GAUGE_COORDINATE) {
    asi_measure x;
    if (!asi_measure_place(&x, a->line.of, in, &ends.A, &ends.B, 0.0))
      return asi_retry(in, ASI_WHY_ANGLE);
    asi_measure_curvature(&x, back, m);
    return AS_DONE;
  }
  const as_element_output line = {.f_q = m};
  as_element_input with = *in;
  asi_pair pair;
  with.lambda = &back;
  asi_pair_init(&pair, in, &line, &ends.A, &ends.B, ASI_NEED_ALWAYS);
  return asi_distance_row(&pair, zero, &with, &line, 0);
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_actuator *a = data;
  const int columns = 6 * a->n_bodies;
  readings r;
  asi_reading line;
  effort x;
  int code = asi_gauge_read(&a->line, in, data, NULL, &line);
  if (code == AS_DONE) code = read_all(a, in, &r);
  if (code == AS_DONE) code = find_effort(a, 0, in, &r, out->f_q || out->f_v, &x);
  if (code) return code;
  act(&x, line.q, columns, out);
  if (out->f_q == NULL) return AS_DONE;
  double m[ASI_PAIR * ASI_PAIR] = {0};
  code = add_curvature(a, in, x.F, m);
  add_pair(m, columns, out->f_q);
  return code;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  double f[AS_ELEMENT_COLUMNS] = {0};
  const as_element_output force = {.force = f};
  out->supplied = evaluate(in, &force, data) ? (double)NAN : asi_pair_power(in, f);
}

/// Its distance or coordinate, the rate of it, the force or torque along it.
static int look(const void *data, const as_element_input *in, double *out) {
  const asi_actuator *a = data;
  readings r;
  asi_reading value, rate;
  effort x;
  asi_gauge of_rate = a->line;
  of_rate.rate = true;
  int code = asi_gauge_read(&a->line, in, a, turns_of(a, in), &value);
  if (code == AS_DONE) code = asi_gauge_read(&of_rate, in, a, NULL, &rate);
  if (code == AS_DONE) code = read_all(a, in, &r);
  if (code == AS_DONE) code = find_effort(a, 0, in, &r, false, &x);
  if (code) return code;
  out[0] = value.value;
  out[1] = rate.value;
  out[2] = x.F;
  return AS_DONE;
}

const as_element_type asi_actuator_type = {"actuator", evaluate, NULL, power};

// ---- loads ------------------------------------------------------------------------------------------

/// The load with all components as they are now, or one of them alone.
static void set_components(asi_load *load, const double component[6]) {
  asi_copy(component, load->force);
  asi_copy(component + 3, load->torque);
}

static int evaluate_load(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const asi_actuator *a = data;
  const int columns = 6 * a->n_bodies;
  const bool tangents = out->f_q || out->f_v;
  asi_load load = a->load;
  double all[6], m[ASI_PAIR * ASI_PAIR] = {0};
  readings r;
  asi_copy(load.force, all);
  asi_copy(load.torque, all + 3);
  int code = read_all(a, in, &r);
  for (int k = 0; k < a->n_efforts && code == AS_DONE; ++k) {
    effort x;
    double unit[6] = {0}, w[ASI_PAIR] = {0};
    code = find_effort(a, k, in, &r, tangents, &x);
    if (code) break;
    all[a->part[k]] = x.F;
    if (!tangents) continue;
    unit[a->part[k]] = 1.0;
    set_components(&load, unit);
    code = asi_load_type.evaluate(in, &(as_element_output){.force = w}, &load);
    if (code == AS_DONE)
      act(&x, w, columns, &(as_element_output){.f_q = out->f_q, .f_v = out->f_v});
  }
  if (code) return code;
  set_components(&load, all);
  const as_element_output together = {.force = out->force, .f_q = out->f_q ? m : NULL};
  code = asi_load_type.evaluate(in, &together, &load);
  if (out->f_q) add_pair(m, columns, out->f_q);
  return code;
}

static void load_power(const as_element_input *in, as_element_power *out, const void *data) {
  double f[AS_ELEMENT_COLUMNS] = {0};
  const as_element_output force = {.force = f};
  out->supplied = evaluate_load(in, &force, data) ? (double)NAN : asi_pair_power(in, f);
}

const as_element_type asi_formula_load_type = {"load", evaluate_load, NULL, load_power};

// ---- held signals that change -----------------------------------------------------------------------

/// What each formula changes by: quantities of the machine are the same.
static int find_changes(const asi_held_change *c, const as_element_input *in, double *out) {
  const asi_actuator *a = c->data;
  as_element_input before = *in;
  readings r;
  int code = AS_DONE;
  before.u = c->u_before;
  for (int i = 0; i < a->n_gauges && code == AS_DONE; ++i)
    code = asi_gauge_value(&asi_actuator_gauges(a)[i], in, a, turns_of(a, in), &r.value[i]);
  for (int k = 0; k < a->n_efforts && code == AS_DONE; ++k) {
    effort now, then;
    code = find_effort(a, k, in, &r, false, &now);
    if (code == AS_DONE) code = find_effort(a, k, &before, &r, false, &then);
    if (code == AS_DONE) out[k] = now.F - then.F;
  }
  return code;
}

static int change_along(const as_element_input *in, const as_element_output *out,
                        const void *data) {
  const asi_held_change *c = data;
  const asi_actuator *a = c->data;
  double change[ASI_EFFORTS];
  asi_reading line;
  int code = find_changes(c, in, change);
  if (code == AS_DONE) code = asi_gauge_read(&a->line, in, a, NULL, &line);
  for (int i = 0; i < ASI_PAIR && code == AS_DONE; ++i) out->force[i] += change[0] * line.q[i];
  return code;
}

/// A load is linear in its components.
static int change_load(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_held_change *c = data;
  const asi_actuator *a = c->data;
  double change[ASI_EFFORTS], component[6] = {0};
  asi_load load = a->load;
  const int code = find_changes(c, in, change);
  if (code) return code;
  for (int k = 0; k < a->n_efforts; ++k) component[a->part[k]] = change[k];
  set_components(&load, component);
  return asi_load_type.evaluate(in, &(as_element_output){.force = out->force}, &load);
}

// ---- blocks -----------------------------------------------------------------------------------------

static int force_by_slots(const asi_actuator *a, bool along, const as_element_input *in,
                          const int *slot, int n, double *out) {
  double by_slot[ASI_EFFORTS][ASI_FORMULA_SLOTS], F;
  readings r;
  asi_reading line = {0};
  int code = read_all(a, in, &r);
  for (int k = 0; k < a->n_efforts && code == AS_DONE; ++k)
    code = asi_formula_signals(a->effort[k].curve->formula, in, r.value, &F, by_slot[k]);
  if (code == AS_DONE && along) code = asi_gauge_read(&a->line, in, a, NULL, &line);
  for (int i = 0; i < n && code == AS_DONE; ++i, out += ASI_PAIR) {
    memset(out, 0, ASI_PAIR * sizeof(double));
    if (along) {
      for (int j = 0; j < ASI_PAIR; ++j) out[j] = take_slot(a, 0, by_slot[0], slot[i]) * line.q[j];
      continue;
    }
    // A load is linear in its components.
    asi_load load = a->load;
    double component[6] = {0};
    for (int k = 0; k < a->n_efforts; ++k)
      component[a->part[k]] = take_slot(a, k, by_slot[k], slot[i]);
    set_components(&load, component);
    code = asi_load_type.evaluate(in, &(as_element_output){.force = out}, &load);
  }
  return code;
}

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  return force_by_slots(data, true, in, slot, n, out);
}

static int load_by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                         double *out) {
  return force_by_slots(data, false, in, slot, n, out);
}

static int formulas(const void *data, const asi_formula **out) {
  const asi_actuator *a = data;
  int n = 0;
  for (int k = 0; k < a->n_efforts; ++k) n += asi_curve_formulas(a->effort[k].curve, out + n);
  return n;
}

// ---- what the program knows of them -----------------------------------------------------------------

static const as_element_type change_type = {"actuator", change_along, NULL, NULL},
                             load_change_type = {"load", change_load, NULL, NULL};

static void set_turns(void *data, int first) { ((asi_actuator *)data)->first_turn = first; }

/// Along a line or a displacement it is a rod that pushes, about an axis a motor.
static void draw(const void *data, asi_drawing *out) {
  const asi_gauge *line = &((const asi_actuator *)data)->line;
  const bool pushes = line->kind == ASI_GAUGE_DISTANCE || line->of.kind == ASI_COORDINATE_SHIFT;
  asi_draw_between(pushes ? "actuator" : "motor", line->ends.frame, out);
}

static const asi_ends *find_line(const void *data) {
  const asi_gauge *line = &((const asi_actuator *)data)->line;
  return line->kind == ASI_GAUGE_DISTANCE ? &line->ends : NULL;
}

static const asi_element_quantity *find_quantities(const void *data) {
  static const asi_element_quantity of_line[] = {{"length", "m", "", 0},
                                                 {"length_rate", "m/s", "", 1},
                                                 {"drive", "N", "", 2},
                                                 {.name = NULL}},
                                    along[] = {{"drive", "N", "", 2}, {.name = NULL}},
                                    about[] = {{"drive", "N m", "", 2}, {.name = NULL}};
  const asi_gauge *line = &((const asi_actuator *)data)->line;
  if (line->kind == ASI_GAUGE_DISTANCE) return of_line;
  return line->of.kind == ASI_COORDINATE_SHIFT ? along : about;
}

const asi_descriptor asi_actuator_descriptor = {.type = &asi_actuator_type,
                                                .find_quantities = find_quantities,
                                                .n_values = 3,
                                                .look = look,
                                                .formulas = formulas,
                                                .by_slots = by_slots,
                                                .change = &change_type,
                                                .set_turns = set_turns,
                                                .line = find_line,
                                                .draw = draw};

static void draw_load(const void *data, asi_drawing *out) {
  asi_draw_load(&((const asi_actuator *)data)->load, out);
}

const asi_descriptor asi_formula_load_descriptor = {.type = &asi_formula_load_type,
                                                    .on_first = true,
                                                    .formulas = formulas,
                                                    .by_slots = load_by_slots,
                                                    .change = &load_change_type,
                                                    .set_turns = set_turns,
                                                    .draw = draw_load};
