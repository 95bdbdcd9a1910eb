/// Superelements in a model, for build.c and assemble.c.
#ifndef ALPHASTEP_MODEL_SUPERELEMENTS_H
#define ALPHASTEP_MODEL_SUPERELEMENTS_H

#include "model/model.h"

/// Copies them out of the builder; curves must have been copied.
as_status asi_superelements_copy(as_model *m, const as_builder *b, as_error *error);
/// Numbers their coordinates behind those of the bodies, and tells nodes where theirs are.
as_status asi_superelements_number(as_model *m, const as_builder *b, as_error *error);
/// Their part of q0 and v0.
void asi_superelements_start(const as_model *m);
/// Their entries of F_Q and F_V, and where these stand.
void asi_superelements_record(const as_model *m, as_recorder *f_q, as_recorder *f_v);
as_status asi_superelements_place(as_model *m, const as_matrix *f_q, const as_matrix *f_v,
                                  as_error *error);
/// Their columns of M, behind `count` entries of the bodies.
size_t asi_superelements_mass_entries(const as_model *m);
void asi_superelements_mass(const as_model *m, int count, int *col_start, int *row, double *value);
/// Groups for the order of unknowns, numbered from `next` on, and typical sizes.
void asi_superelements_groups(const as_model *m, int next, double length, int *body,
                              double *typical);

/// Writes f0 of their coordinates; AS_DONE or what a curve returns.
int asi_superelements_force(const as_model *m, const as_point *at, double *out);
void asi_superelements_blocks(const as_model *m, as_block_set wanted, as_matrix *blocks);

#endif
