/// Mirror images: what a group with `mirror` makes besides what is written in it.
///
/// A reflection S turns one direction round, S = diag(1, -1, 1) for `mirror: y`; inside another such group it is a product of these. A
/// place x becomes S x, a body's rotation R becomes S R S, which is a rotation again: so all that is given in the axes of a body or
/// frame is reflected as what is given in the world. Vectors of rotations w become |S| S w, inertia tensors S J S. Joints whose
/// axis is such a vector have the same angles where the image moves as an image does, and those with S times their axis the same displacements.
#include <string.h>

#include "file/reader.h"

static bool turned_round(const asi_reader *r, int direction) {
  return (r->mirrored >> direction & 1u) != 0;
}

/// Whether |S| < 0.
static bool changes_hands(const asi_reader *r) {
  return (turned_round(r, 0) + turned_round(r, 1) + turned_round(r, 2)) % 2 != 0;
}

bool asi_mirror_changes_hands(const asi_reader *r) { return changes_hands(r); }

static void negate(double *x, bool really) {
  if (really && *x != 0.0) *x = -*x;
}

static void reflect(const asi_reader *r, bool turn, double x[3]) {
  for (int k = 0; k < 3; ++k) negate(&x[k], turned_round(r, k) != (turn && changes_hands(r)));
}

static bool reflect_formulas(asi_reader *r, bool turn, const char *text[3]) {
  for (int k = 0; k < 3; ++k)
    if (turned_round(r, k) != (turn && changes_hands(r))) {
      text[k] = asi_negative_formula(r, text[k]);
      if (text[k] == NULL) return false;
    }
  return true;
}

/// Products of inertia: xy, xz, yz behind the moments.
static void reflect_products(const asi_reader *r, double inertia[6]) {
  negate(&inertia[3], turned_round(r, 0) != turned_round(r, 1));
  negate(&inertia[4], turned_round(r, 0) != turned_round(r, 2));
  negate(&inertia[5], turned_round(r, 1) != turned_round(r, 2));
}

bool asi_mirror_value(asi_reader *r, const asi_value *v, const asi_key *key, void *value) {
  const bool turn = key->mirror == ASI_MIRROR_TURN;
  switch (key->mirror) {
  case ASI_MIRROR_NOTHING: break;
  case ASI_MIRROR_ARROW:
  case ASI_MIRROR_TURN:
    if (key->type == ASI_KEY_FORMULAS) return reflect_formulas(r, turn, value);
    if (key->type == ASI_KEY_ROWS) {
      const asi_rows *rows = value;
      for (int i = 0; i < rows->n; ++i) reflect(r, turn, rows->number + 3 * (ptrdiff_t)i);
    } else {
      reflect(r, turn, value);
    }
    break;
  case ASI_MIRROR_QUATERNION: reflect(r, true, (double *)value + 1); break;
  case ASI_MIRROR_INERTIA: reflect_products(r, value); break;
  case ASI_MIRROR_NUMBER: negate(value, changes_hands(r)); break;
  case ASI_MIRROR_SIDE:
    if (changes_hands(r)) *(int *)value = 1 - *(int *)value;
    break;
  case ASI_MIRROR_REFUSED:
    asi_complain(r, v, "what has \"%s\" cannot be mirrored: write both outside of the group",
                 key->name);
    return false;
  }
  return true;
}

void asi_mirror_frame(asi_reader *r, as_frame_def *def) {
  for (int k = 0; k < 3; ++k)
    if (turned_round(r, k)) def->shift[k] = asi_negative_curve(r, def->shift[k]);
  if (turned_round(r, (int)def->turn_axis) != changes_hands(r))
    def->turn = asi_negative_curve(r, def->turn);
}

const as_curve *asi_negative_curve(asi_reader *r, const as_curve *curve) {
  as_curve *out = curve ? asi_arena_take(&r->scratch, sizeof *out) : NULL;
  if (out == NULL) return curve;
  *out = *curve;
  out->constant = -curve->constant;
  out->slope = -curve->slope;
  if (curve->formula) {
    out->formula = asi_negative_formula(r, curve->formula);
    if (out->formula == NULL) return curve; // there is no memory, which the reader knows
  }
  double *y = curve->n > 0 ? asi_arena_take(&r->scratch, (size_t)curve->n * sizeof *y) : NULL;
  for (int i = 0; i < curve->n && y; ++i) y[i] = -curve->y[i];
  if (y) out->y = y;
  return out;
}
