/// Orders the unknowns of a system by the graph of bodies and joints.
#ifndef ALPHASTEP_CORE_ORDERING_H
#define ALPHASTEP_CORE_ORDERING_H

#include "core/kinematics/problem.h"
#include "linalg/solver.h"

/// Makes an order for a system with unknowns v', lambda, psi and, if size is larger by n_lambda, eta, or, if
/// it is twice as large, a second set of the same, and after these x' and y; or, if size is n_lambda, of these
/// alone:
/// order[k] is the k-th unknown to eliminate. Where neither constraints nor forces nor masses couple bodies there is no order. Blocks are the unknowns of
/// one kind of a body or joint.
as_status asi_order_by_graph(const as_problem *p, int size, asi_elimination *out, as_error *error);

/// The same, but bodies that are not coupled directly come before all else, also those of chains and trees. No order
/// of multipliers alone.
as_status asi_order_bodies_first(const as_problem *p, int size, asi_elimination *out,
                                 as_error *error);

#endif
