/// Flexible bodies in a model, for build.c and assemble.c.
#ifndef ALPHASTEP_MODEL_FLEXIBLES_H
#define ALPHASTEP_MODEL_FLEXIBLES_H

#include "alphastep/quantities.h"
#include "model/build.h"
#include "model/model.h"

/// Tells loads where their curves are, which must have been copied.
void asi_flexibles_set_curves(as_model *m);
/// Numbers elastic coordinates behind those of superelements, and tells nodes where theirs are.
as_status asi_flexibles_number(as_model *m, const as_builder *b, as_error *error);
/// Their part of q0 and v0.
void asi_flexibles_start(const as_model *m);
/// Entries of columns `first` ... 5 of the frame and of z, all rows.
void asi_flexibles_record(const as_model *m, int first, as_recorder *r);
/// Where their columns stand in F_Q, F_V, M and D_q (M v').
as_status asi_flexibles_place(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                              const asi_pattern *mass, const asi_pattern *mass_q, as_error *error);
/// Coordinates go with their frame when unknowns are ordered; typical sizes.
void asi_flexibles_groups(const as_model *m, double length, int *body, double *typical);

/// Writes f0 of the frames and of z; adds to blocks. AS_DONE or what a curve returns. NULL: not wanted.
int asi_flexibles_evaluate(const as_model *m, const as_point *at, double *force,
                           as_block_set wanted, as_matrix *blocks);
void asi_flexibles_mass(const as_model *m, const as_point *at, double *value);
void asi_flexibles_mass_rate(const as_model *m, const as_point *at, double *value);

void asi_flexibles_energy(const as_model *m, const as_state *state, as_energy *out);
void asi_flexibles_momentum(const as_model *m, const as_state *state, as_momentum *out);
as_status asi_flexibles_power(const as_model *m, const as_state *state, as_power *out,
                              as_error *error);
/// Twice the kinetic energy of the difference of two velocities, at the start.
double asi_flexibles_change(const as_model *m, const double *v, const double *old);

#endif
