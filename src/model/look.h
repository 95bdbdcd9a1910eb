/// Looking at one element of a model in a given state.
#ifndef ALPHASTEP_MODEL_LOOK_H
#define ALPHASTEP_MODEL_LOOK_H

#include "alphastep/quantities.h"
#include "base/export.h"
#include "elements/spring.h"
#include "model/model.h"

/// The element's bodies as they move; `body` holds them.
ASI_IO as_element_input asi_look(const as_model *m, const as_state *state, const asi_placed *p,
                                 as_body_motion body[AS_ELEMENT_BODIES]);

/// The same written to `in`, whose bodies beyond those of the element stay as they are.
void asi_look_at(const as_model *m, const as_state *state, const asi_placed *p,
                 as_body_motion body[AS_ELEMENT_BODIES], as_element_input *in);

/// The name of the joint or force that an element is.
const char *asi_element_name(const as_model *m, int element, asi_entity_kind *sort);

/// AS_ERR_RETRY with a sentence that names the element.
ASI_IO as_status asi_fail_element(const as_model *m, int element, const as_state *state,
                                  as_error *error);

/// as_model_energy() to round-off, cheaply where it is asked for again and again along a motion: `kept` remembers potentials of springs
/// whose laws are formulas, asi_model_kept_potentials() of them, to begin with at NAN. What comes out depends on the state alone.
ASI_IO as_status asi_model_energy_near(const as_model *m, const as_state *state,
                                       asi_kept_potential *kept, as_energy *out, as_error *error);
ASI_IO int asi_model_kept_potentials(const as_model *m);

as_status asi_check_joint(const as_model *m, as_joint_id joint, as_error *error);

#endif
