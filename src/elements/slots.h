/// What the slots of a machine's formulas are: numbers that its expressions are compiled with.
#ifndef ALPHASTEP_ELEMENTS_SLOTS_H
#define ALPHASTEP_ELEMENTS_SLOTS_H

enum {
  // Quantities of the formula's own come first:
  ASI_SLOT_VALUE,      ///< of a law's coordinate: a length, an angle, a depth, a speed
  ASI_SLOT_RATE,       ///< its rate
  ASI_SLOT_DEFLECTION, ///< the coordinate less what it is at rest
  ASI_OWN_SLOTS,
  ASI_SLOT_TIME = ASI_OWN_SLOTS,
  ASI_SLOT_PARAMETER,         ///< the model's first parameter; the others follow
  ASI_SLOT_MEASURE = 1 << 28, ///< the first quantity of the machine; the others follow
  ASI_SLOT_STATE = 2 << 28,   ///< the first state x of the model's blocks; the others follow
  ASI_SLOT_OUTPUT = 3 << 28,  ///< the first output y of them; the others follow
  /// In a builder, where their places are not known yet: the first signal of its blocks; the others follow.
  ASI_SLOT_SIGNAL = 4 << 28
};

#endif
