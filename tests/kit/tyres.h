/// Tyres and wheels for tests.
#ifndef TESTS_TYRES_H
#define TESTS_TYRES_H

#include "alphastep/alphastep.h"
#include "alphastep/io.h"

/// A tyre of tests/files/tyres, "car" or "all_terms".
as_tyre tyre_of(const char *name);
/// Rows of a table there, `columns` numbers each, to be freed; its first line is passed over.
double *tyre_table(const char *name, int columns, int *rows);
/// A wheel of 20 kg with its centre at a place, spinning about y.
as_body_def tyre_wheel(const char *name, double x, double y, double z, bool se3);
as_force_id tyre_add(as_builder *b, const as_tyre_def *def);
as_road_id tyre_road(as_builder *b, const as_road_def *def);
/// How it touches, in a state.
as_tyre_contact tyre_look(const as_model *m, const as_state *state, as_force_id force);

#endif
