/// Elements that have mass: their part of M(q) and of D_q (M v').
#ifndef ALPHASTEP_MODEL_INERTIA_H
#define ALPHASTEP_MODEL_INERTIA_H

#include "alphastep/quantities.h"
#include "model/model.h"

/// Lists them, adds their entries to the pattern of M, whose values m->mass go along, and finds the pattern of D_q (M v').
as_status asi_inertia_place(as_model *m, const as_builder *b, asi_pattern *mass,
                            asi_pattern *mass_q, as_error *error);

/// Add their part to the values of M, and of D_q (M v'); AS_DONE, or which element could not be evaluated.
int asi_inertia_mass(const as_model *m, const as_point *at, double *value);
/// v' and omega' of an element's bodies; what cannot move has none.
void asi_inertia_acceleration(const as_model *m, const asi_element *e, const double *vdot,
                              double *a);
int asi_inertia_blocks(const as_model *m, const as_point *at, double *value);

/// Add their part to energy and momenta; the centre of mass times the mass. False: element *failed could not be evaluated.
bool asi_inertia_energy(const as_model *m, const as_state *state, as_energy *out, int *failed);
void asi_inertia_momentum(const as_model *m, const as_state *state, as_momentum *out);

#endif
