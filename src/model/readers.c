/// Forces whose formulas may read signals: which formulas these are, and what the forces are by signals.
#include "elements/actuator.h"
#include "elements/bushing.h"
#include "elements/contact.h"
#include "elements/friction.h"
#include "elements/stop.h"
#include "model/blocks.h"

_Static_assert((int)ASI_READER_FORMULAS >= (int)ASI_EFFORTS &&
                   (int)ASI_READER_FORMULAS >= (int)ASI_BUSHING,
               "that many formulas");

static int add_law(const asi_law *law, const asi_formula **out) {
  const asi_curve *const part[] = {law->spring.curve, law->damper.curve, law->both.curve};
  int n = 0;
  for (int k = 0; k < 3; ++k)
    if (part[k] && part[k]->formula) out[n++] = part[k]->formula;
  return n;
}

static int add_curve(const asi_curve *c, const asi_formula **out) {
  if (c == NULL || c->formula == NULL) return 0;
  *out = c->formula;
  return 1;
}

static int add_penalty(const asi_penalty *law, const asi_formula **out) {
  const int n = add_curve(law->curve.curve, out);
  return n + add_curve(law->both.curve, out + n);
}

int asi_reader_formulas(const asi_placed *e, const asi_formula **out) {
  const as_element_type *type = e->e.type;
  int n = 0;
  if (type == &asi_actuator_type || type == &asi_formula_load_type) {
    const asi_actuator *a = e->data;
    for (int k = 0; k < a->n_efforts; ++k) n += add_curve(a->effort[k].curve, out + n);
  } else if (type == &asi_spring_type) {
    n = add_law(&((const asi_spring *)e->data)->law, out);
  } else if (type == &asi_torsion_type) {
    n = add_law(&((const asi_torsion *)e->data)->law, out);
  } else if (type == &asi_bushing_type) {
    const asi_bushing *b = e->data;
    for (int i = 0; i < ASI_BUSHING; ++i) n += add_curve(b->law[i].both.curve, out + n);
  } else if (type == &asi_stop_type) {
    n = add_penalty(&((const asi_stop *)e->data)->law, out);
  } else if (type == &asi_contact_type) {
    const asi_contact *c = e->data;
    n = add_penalty(&c->law, out);
    n += add_curve(c->friction.law.curve, out + n);
  } else if (type == &asi_friction_type) {
    n = add_curve(((const asi_friction *)e->data)->coefficient.law.curve, out);
  }
  return n;
}

int asi_reader_by_slots(const asi_placed *e, const as_element_input *in, const int *slot, int n,
                        double *out) {
  const as_element_type *type = e->e.type;
  if (type == &asi_spring_type || type == &asi_torsion_type)
    return asi_spring_by_slots(e->data, type == &asi_torsion_type, in, slot, n, out);
  if (type == &asi_bushing_type) return asi_bushing_by_slots(e->data, in, slot, n, out);
  if (type == &asi_stop_type) return asi_stop_by_slots(e->data, in, slot, n, out);
  if (type == &asi_contact_type) return asi_contact_by_slots(e->data, in, slot, n, out);
  if (type == &asi_friction_type) return asi_friction_by_slots(e->data, in, slot, n, out);
  return asi_actuator_by_slots(e->data, type, in, slot, n, out);
}
