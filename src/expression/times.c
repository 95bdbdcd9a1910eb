/// Known times of an expression: where it bends or jumps as a function of the time, whatever else its slots do.
///
/// Right behind t each value is a + s (tau - t), or it is not known. A comparison of two such values changes where they
/// are equal, a table of one bends at its points, and so on; the first of these times is what is asked for, so that it
/// does not matter what the values are behind it. What cannot change the result (the branch of if() that is not taken,
/// what is multiplied by 0) is left out.
#include <float.h>
#include <math.h>

#include "expression/operation.h"

enum { MOST = ASI_EXPRESSION_VALUES };

// What rounding may do to a value, in terms of the largest number that has entered it.
#define ROUND_OFF (4.0 * DBL_EPSILON)
// A smooth step and a quarter of a wave are not crossed at once: known times of them are these many parts of it.
#define RISE_PARTS 4.0

// A switch at t = 0 has two sides, too [s].
#define LEAST_TIME 1e-300

/// A value right behind t.
typedef struct germ {
  bool known;
  double at, slope;
  double size; ///< of the largest number in it, for its round-off
} germ;

typedef struct search {
  const asi_expression *e;
  asi_point_fn *point;
  void *tables;
  double t;
  bool waves;
  germ value[MOST];
  asi_known_time next;
} search;

void asi_known_time_join(asi_known_time *first, const asi_known_time *other) {
  const bool overlap = other->before <= first->after && first->before <= other->after;
  const bool bends = first->bends && other->bends;
  if (other->before < first->before) *first = *other;
  if (overlap) first->bends = bends;
}

static germ constant(double x) { return (germ){true, x, 0.0, fabs(x)}; }
static bool is_constant(const germ *g) { return g->known && g->slope == 0.0; }
static bool moves(const germ *g) { return g->known && g->slope != 0.0; }

static germ sum(const germ *a, const germ *b, double sign) {
  return (germ){a->known && b->known, a->at + sign * b->at, a->slope + sign * b->slope,
                a->size + b->size};
}

static germ times(const germ *a, double factor) {
  return (germ){a->known, factor * a->at, factor * a->slope, fabs(factor) * a->size};
}

/// What rounding may do to a germ.
static double slack(const search *s, const germ *g) {
  return ROUND_OFF * (g->size + fabs(g->slope * s->t));
}

/// The sign of g - level right behind t.
static int sign_behind(const search *s, const germ *g, double level) {
  const double d = g->at - level;
  const double x = fabs(d) <= slack(s, g) && g->slope != 0.0 ? g->slope : d;
  return (x > 0.0) - (x < 0.0);
}

/// What happens where g reaches a level.
typedef enum change { IS_SMOOTH, BENDS, JUMPS } change;

/// Notes the time at which g reaches a level, if that lies ahead. A jump, or a kink, is bracketed, and is not over before t
/// has left the bracket; of two brackets that overlap the first counts, and it jumps if one of them does.
static void meet(search *s, const germ *g, double level, change what) {
  if (!moves(g)) return;
  const double t = s->t + (level - g->at) / g->slope;
  const double off =
      slack(s, g) / fabs(g->slope) + ROUND_OFF * (fabs(t) + fabs(level / g->slope)) + LEAST_TIME;
  if (!(what != IS_SMOOTH ? t > s->t - off : t > s->t + off)) return;
  const double wide = what == IS_SMOOTH ? 0.0 : 2.0 * off;
  asi_known_time found = {t - wide, t + wide, what != JUMPS};
  asi_known_time_join(&s->next, &found);
}

/// The whole number that g reaches next, or has just reached; *below: floor(g) right behind t.
static double next_whole(const search *s, const germ *g, double *below) {
  const double nearest = round(g->at);
  const bool there = fabs(g->at - nearest) <= 2.0 * slack(s, g);
  *below = there ? nearest - (g->slope < 0.0 ? 1.0 : 0.0) : floor(g->at);
  if (there && fabs(g->at - nearest) <= slack(s, g)) return nearest;
  return g->slope > 0.0 ? *below + 1.0 : *below;
}

static germ compare(const search *s, int op, const germ *a, const germ *b) {
  const germ d = sum(a, b, -1.0);
  if (!d.known) return d;
  const int sign = sign_behind(s, &d, 0.0);
  const bool less = op == ASI_OP_LESS || op == ASI_OP_LESS_EQUAL;
  const bool greater = op == ASI_OP_GREATER || op == ASI_OP_GREATER_EQUAL;
  const bool equal = d.at == 0.0 && d.slope == 0.0;
  if (equal) return constant(asi_operation_value(op, 0.0, 0.0, 0.0));
  return constant(less ? sign < 0 : greater ? sign > 0 : op == ASI_OP_UNEQUAL);
}

static germ rise(const search *s, const germ *u) {
  if (u->known && sign_behind(s, u, 0.0) <= 0) return constant(0.0);
  if (u->known && sign_behind(s, u, 1.0) >= 0) return constant(1.0);
  return (germ){false, 0.0, 0.0, 0.0};
}

static germ remainder_of(const search *s, const germ *a, const germ *b) {
  if (!is_constant(b) || !a->known || b->at == 0.0) return (germ){false, 0.0, 0.0, 0.0};
  const germ turns = times(a, 1.0 / b->at);
  double below = floor(turns.at);
  if (moves(&turns)) (void)next_whole(s, &turns, &below);
  const germ whole = constant(b->at * below);
  return sum(a, &whole, -1.0);
}

/// What an operation gives right behind t.
static germ operate(const search *s, const asi_instruction *i) {
  const germ *a = &s->value[i->a], *b = &s->value[i->op == ASI_OP_TABLE ? 0 : i->b];
  const germ *c = &s->value[i->op == ASI_OP_SURFACE ? 0 : i->c];
  const germ unknown = {false, 0.0, 0.0, 0.0};
  double below = 0.0;
  switch (i->op) {
  case ASI_OP_ADD: return sum(a, b, 1.0);
  case ASI_OP_SUBTRACT: return sum(a, b, -1.0);
  case ASI_OP_NEGATE: return times(a, -1.0);
  case ASI_OP_MULTIPLY:
    if (is_constant(a) && (b->known || a->at == 0.0))
      return a->at == 0.0 ? constant(0.0) : times(b, a->at);
    if (is_constant(b) && (a->known || b->at == 0.0))
      return b->at == 0.0 ? constant(0.0) : times(a, b->at);
    return unknown;
  case ASI_OP_DIVIDE: return is_constant(b) && b->at != 0.0 ? times(a, 1.0 / b->at) : unknown;
  case ASI_OP_LESS:
  case ASI_OP_LESS_EQUAL:
  case ASI_OP_GREATER:
  case ASI_OP_GREATER_EQUAL:
  case ASI_OP_EQUAL:
  case ASI_OP_UNEQUAL: return compare(s, i->op, a, b);
  case ASI_OP_IF: return !c->known ? unknown : c->at != 0.0 || moves(c) ? *a : *b;
  case ASI_OP_MIN:
  case ASI_OP_MAX: {
    const germ d = sum(a, b, -1.0);
    if (!d.known) return unknown;
    return (sign_behind(s, &d, 0.0) > 0) == (i->op == ASI_OP_MAX) ? *a : *b;
  }
  case ASI_OP_ABS: return !a->known ? unknown : times(a, sign_behind(s, a, 0.0) < 0 ? -1.0 : 1.0);
  case ASI_OP_SIGN: return !a->known ? unknown : constant(sign_behind(s, a, 0.0));
  case ASI_OP_FLOOR:
    if (moves(a)) (void)next_whole(s, a, &below);
    return !a->known ? unknown : constant(moves(a) ? below : floor(a->at));
  case ASI_OP_MOD: return remainder_of(s, a, b);
  case ASI_OP_RISE: return rise(s, a);
  default: break;
  }
  // The functions of one number, of one that stands still.
  if (i->op == ASI_OP_TABLE || asi_operations[i->op].operands != 1 || !is_constant(a))
    return unknown;
  return constant(asi_operation_value(i->op, a->at, a->at, a->at));
}

static void meet_table(search *s, const germ *a, int table) {
  if (!moves(a)) return;
  const bool up = a->slope > 0.0;
  bool kink = false;
  const double beyond = a->at + (up ? slack(s, a) : -slack(s, a));
  const double x = s->point(table, beyond, up, &kink, s->tables);
  if (isfinite(x)) meet(s, a, x, kink ? BENDS : IS_SMOOTH);
}

/// Notes when an operation whose result matters changes.
static void note(search *s, const asi_instruction *i) {
  const germ *a = &s->value[i->a], *b = &s->value[i->op == ASI_OP_TABLE ? 0 : i->b];
  double below = 0.0;
  switch (i->op) {
  case ASI_OP_LESS:
  case ASI_OP_LESS_EQUAL:
  case ASI_OP_GREATER:
  case ASI_OP_GREATER_EQUAL:
  case ASI_OP_MIN:
  case ASI_OP_MAX: {
    const germ d = sum(a, b, -1.0);
    meet(s, &d, 0.0, i->op == ASI_OP_MIN || i->op == ASI_OP_MAX ? BENDS : JUMPS);
    break;
  }
  case ASI_OP_ABS: meet(s, a, 0.0, BENDS); break;
  case ASI_OP_SIGN: meet(s, a, 0.0, JUMPS); break;
  case ASI_OP_FLOOR:
    if (moves(a)) meet(s, a, next_whole(s, a, &below), JUMPS);
    break;
  case ASI_OP_MOD:
    if (moves(a) && is_constant(b) && b->at != 0.0) {
      const germ turns = times(a, 1.0 / b->at);
      meet(s, &turns, next_whole(s, &turns, &below), JUMPS);
    }
    break;
  case ASI_OP_RISE:
    for (double k = 0.0; k <= RISE_PARTS; k += 1.0) meet(s, a, k / RISE_PARTS, IS_SMOOTH);
    break;
  case ASI_OP_SIN:
  case ASI_OP_COS:
    if (s->waves && moves(a)) {
      const double quarter = 1.57079632679489661923; // pi/2
      const germ quarters = times(a, 1.0 / quarter);
      const double near = round(quarters.at), way = quarters.slope > 0.0 ? 1.0 : -1.0;
      for (double k = -1.0; k <= 1.0; k += 1.0) meet(s, &quarters, near + way * k, IS_SMOOTH);
    }
    break;
  case ASI_OP_TABLE: meet_table(s, a, i->b); break;
  default: break;
  }
}

/// Which operands of an operation matter to its result.
static void need(const search *s, const asi_instruction *i, bool *needed) {
  const int operands = asi_operations[i->op].operands;
  const germ *a = &s->value[i->a], *b = operands > 1 ? &s->value[i->b] : a;
  bool first = true, second = operands > 1;
  if (i->op == ASI_OP_MULTIPLY && is_constant(a) && a->at == 0.0)
    second = false;
  else if (i->op == ASI_OP_MULTIPLY && is_constant(b) && b->at == 0.0)
    first = false;
  if (i->op == ASI_OP_IF) {
    const germ *c = &s->value[i->c];
    needed[i->c] = true;
    first = !is_constant(c) || c->at != 0.0;
    second = !is_constant(c) || c->at == 0.0;
  }
  if (first) needed[i->a] = true;
  if (second) needed[i->b] = true;
}

void asi_expression_next_time(const asi_expression *e, int time, double t, const double *x,
                              asi_point_fn *point, void *tables, bool waves, asi_known_time *out) {
  search s;
  bool needed[MOST] = {false};
  s.e = e;
  s.point = point;
  s.tables = tables;
  s.t = t;
  s.waves = waves;
  s.next = (asi_known_time){(double)INFINITY, (double)INFINITY, true};
  const int *slot = asi_expression_slots(e);
  const asi_instruction *code = asi_expression_code(e);
  for (int k = 0; k < e->n_constants; ++k) s.value[k] = constant(e->constant[k]);
  for (int k = 0; k < e->n_slots; ++k) {
    germ *g = &s.value[e->n_constants + k];
    *g = slot[k] == time ? (germ){true, t, 1.0, fabs(t)} : constant(x[k]);
    g->known = slot[k] == time || isfinite(x[k]);
  }
  const int first = e->n_constants + e->n_slots;
  for (int n = 0; n < e->n_code; ++n) s.value[first + n] = operate(&s, &code[n]);
  needed[e->result] = true;
  for (int n = e->n_code - 1; n >= 0; --n) {
    if (!needed[first + n]) continue;
    note(&s, &code[n]);
    need(&s, &code[n], needed);
  }
  *out = s.next;
}

bool asi_expression_has_times(const asi_expression *e, int time, bool waves) {
  static const int ops[] = {ASI_OP_LESS,  ASI_OP_LESS_EQUAL, ASI_OP_GREATER, ASI_OP_GREATER_EQUAL,
                            ASI_OP_MIN,   ASI_OP_MAX,        ASI_OP_ABS,     ASI_OP_SIGN,
                            ASI_OP_FLOOR, ASI_OP_MOD,        ASI_OP_RISE,    ASI_OP_TABLE};
  const int *slot = asi_expression_slots(e);
  const asi_instruction *code = asi_expression_code(e);
  bool timed = false;
  for (int k = 0; k < e->n_slots; ++k) timed = timed || slot[k] == time;
  for (int n = 0; n < e->n_code && timed; ++n) {
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i)
      if (code[n].op == ops[i]) return true;
    if (waves && (code[n].op == ASI_OP_SIN || code[n].op == ASI_OP_COS)) return true;
  }
  return false;
}
