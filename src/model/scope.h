/// Formulas of a builder: what their names mean, and what is said if they are wrong.
#ifndef ALPHASTEP_MODEL_SCOPE_H
#define ALPHASTEP_MODEL_SCOPE_H

#include "elements/slots.h"
#include "expression/expression.h"
#include "model/builder.h"

/// What a formula may use. Its own quantities hide parameters, which hide nothing.
typedef struct asi_wish {
  const char *what;       ///< begins the sentence of a failure: `The force of actuator "x"`
  const char *const *own; ///< names of ASI_OWN_SLOTS slots, NULL where there is none; NULL: none
  bool time;              ///< t: ASI_SLOT_TIME
  bool parameters;        ///< of the model: ASI_SLOT_PARAMETER and so on
  struct asi_measures
      *measures;      ///< where quantities of the machine are noted; NULL: none may be used
  bool signals;       ///< of blocks: ASI_SLOT_SIGNAL and so on
  const char *reason; ///< why other names that exist are refused: `a motion is given by t alone`
} asi_wish;

/// Compiles a formula. Names are tables, its own, t, those of b->outer, then the builder's. A failure is noted in b->slip
/// besides. Free the result with free().
as_status asi_builder_compile(as_builder *b, const char *text, const asi_wish *wish,
                              asi_expression **out, as_error *error);

/// Why a motion may not be this formula: what it says of a table that bends or jumps; NULL: it may.
const char *asi_rough_formula(const asi_expression *e, const struct asi_curve *tables);

/// Whether a formula of a block can be compiled; a failure as above.
ASI_IO as_status asi_builder_check_block_formula(as_builder *b, const char *block, const char *text,
                                                 as_error *error);

#endif
