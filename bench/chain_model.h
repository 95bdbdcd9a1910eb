/// The chain of links with which alphastep is compared: 1 m and 1 kg each, 5 cm thick, horizontal and at rest.
#ifndef BENCH_CHAIN_MODEL_H
#define BENCH_CHAIN_MODEL_H

#include "alphastep/alphastep.h"

as_model *chain_model(int n_links, as_joint_kind kind, as_space_kind space);
/// The free end.
void chain_tip(const as_model *m, const as_state *state, double tip[3]);
/// How far the tip is after a second from where an independent program has it; NAN: not known.
double chain_tip_error(int n_links, const double tip[3]);

#endif
