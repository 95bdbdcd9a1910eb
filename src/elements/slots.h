/// What the slots of a machine's formulas are: numbers that its expressions are compiled with.
#ifndef ALPHASTEP_ELEMENTS_SLOTS_H
#define ALPHASTEP_ELEMENTS_SLOTS_H

enum {
  ASI_OWN_SLOTS = 3, ///< quantities of the formula's own come first
  ASI_SLOT_TIME = ASI_OWN_SLOTS,
  ASI_SLOT_PARAMETER,        ///< the model's first parameter; the others follow
  ASI_SLOT_MEASURE = 1 << 28 ///< the first quantity of the machine; the others follow
};

#endif
