/// A linear system put together from Jacobian blocks.
///
/// The matrix is a sum of terms: a block, or its transpose, times a factor, placed at a row and a
/// column offset, and taken "via" a matrix that says how the block's argument moves with the unknown:
///
///     A[row.., col..] += factor * block * via,     via = I, T or T B_n^T
///
/// T is the space's tangent operator at the current increment xi, B_n the constraint Jacobian at the
/// start of the step; where modes of steady motions are looked for, T and another matrix are those of [LI.9]. A method's iteration matrix is a list of such terms that reads like its formula.
/// The pattern is fixed when the system is made, and so is the place that each product goes to: assembly
/// writes straight into the values that are factorized.
#ifndef ALPHASTEP_CORE_SYSTEM_H
#define ALPHASTEP_CORE_SYSTEM_H

#include "base/archive.h"
#include "core/kinematics/problem.h"
#include "core/kinematics/product_parts.h"
#include "core/kinematics/products.h"
#include "linalg/low_rank.h"
#include "linalg/solver.h"

typedef enum asi_chain_factor {
  ASI_CHAIN_IDENTITY,
  ASI_CHAIN_T,
  ASI_CHAIN_T_BT,
  ASI_CHAIN_SECOND,
  ASI_CHAIN_COUNT
} asi_chain_factor;

typedef struct asi_term {
  int row; ///< offset of the block's first row
  int col; ///< offset of its first column
  as_block block;
  bool transposed; ///< only AS_BLOCK_G_Q and AS_BLOCK_K_V
  asi_chain_factor via;
  double factor;
} asi_term;

/// How the configuration moves with v' and with eta: matrices with values over fixed patterns.
typedef struct asi_tangent_map {
  asi_pool *
      pool; ///< threads of whoever it belongs to, which work on systems over it, too; NULL: there is one
  asi_pattern t_pattern; ///< n x n
  asi_panels t_panels;
  as_matrix t;
  as_matrix second;         ///< over the pattern of t; only [LI.9]
  asi_pattern t_bt_pattern; ///< n x n_lambda; only if asked for
  as_matrix t_bt;
  asi_product_plan t_times_bt;
  asi_product_parts t_bt_parts;
  asi_zeros t_bt_zeros;
} asi_tangent_map;

/// Which unknowns a system has, in this order.
typedef enum asi_unknowns {
  ASI_UNKNOWNS_ONE_STAGE,  ///< v', lambda, psi, then x' and y if there is room
  ASI_UNKNOWNS_WITH_ETA,   ///< index-2: v', lambda, psi, eta, then x' and y
  ASI_UNKNOWNS_TWO_STAGES, ///< SOI2: v', lambda, psi of each
  ASI_UNKNOWNS_ETA,        ///< eta alone
  ASI_UNKNOWNS_LEAST_NORM, ///< as one stage, with lengths in the place of M [RE.8]
} asi_unknowns;

enum { ASI_MAX_TERMS = 40 };

typedef struct asi_system {
  const as_problem *problem;
  asi_unknowns unknowns;
  int size;
  int n_terms;
  bool borrows_pattern;  ///< pattern and diagonal are another system's,
  bool borrows_products; ///< products and zeros, too
  bool joins_inertia;    ///< F_Q is to have -MA_Q in it, which is no term then
  asi_term term[ASI_MAX_TERMS];
  asi_product_plan products[ASI_MAX_TERMS]; ///< of each term, into value
  asi_zeros zeros;                          ///< of value
  asi_product_parts parts;                  ///< of all products, for threads
  asi_pool *pool;                           ///< NULL: there is one
  asi_pattern pattern;
  double *value;       ///< over the pattern
  double *row_unit;    ///< size: powers of two that rows and
  double *column_unit; ///< size: columns were multiplied with where it was factorized
  double *unit;        ///< over the pattern: their products
  double *scaled;      ///< over the pattern: what was factorized
  double *unit_rows;   ///< rows of constraints: what the units were made from,
  double unit_mass;    ///< and the mass; NAN: they have to be made
  int *diagonal;       ///< size: where the diagonal stands in value
  asi_solver *solver;
  asi_low_rank
      *sharing; ///< [RE.9], for what was factorized last; NULL: forces do not depend on multipliers
} asi_system;

as_status asi_tangent_map_init(asi_tangent_map *m, const as_problem *p, bool with_bt,
                               as_error *error);
void asi_tangent_map_free(asi_tangent_map *m);
/// Evaluates T(xi) and, if b_n is not NULL, T B_n^T.
void asi_tangent_map_update(asi_tangent_map *m, const as_problem *p, const double *xi,
                            const as_matrix *b_n);

/// Drops terms whose block is zero, finds the pattern and makes a solver for it: by blocks of bodies and joints where
/// that is faster, else dense LAPACK for small systems and KLU for large ones. What another system with the same pattern has found
/// is borrowed from it: `like`, which must outlive this one. NULL: there is none.
as_status asi_system_init(asi_system *s, const as_problem *p, const asi_tangent_map *motion,
                          asi_unknowns unknowns, int size, const asi_term *terms, int n_terms,
                          const asi_system *like, as_error *error);
void asi_system_free(asi_system *s);

/// Takes over the factors of a list with the same terms in the same order.
void asi_system_set_factors(asi_system *s, const asi_term *terms, int n_terms);
/// Until factors are set again, terms of this block are zero.
void asi_system_leave_out(asi_system *s, as_block block);

/// Blocks of forces, rates of states and outputs that depend on multipliers.
extern const as_block_set asi_multiplier_blocks;

/// The blocks of all terms whose factor is not zero.
as_block_set asi_system_blocks(const asi_system *s);

/// The factors are lost, and with them what the solver knows of earlier matrices. A system that was not made has none.
void asi_system_forget(asi_system *s);

/// Saves or loads values and factors; a system that was not made has none.
void asi_system_serialize(asi_system *s, asi_archive *a);

/// out = A x with the values that were assembled last.
void asi_system_multiply(const asi_system *s, const double *x, double *out);

/// Makes the products of units that are new.
void asi_system_set_units(asi_system *s);
/// Multiplies rows and columns of `value` with their units into `scaled`, and factorizes that.
as_status asi_system_factor(asi_system *s, int *culprit);
/// Solves with it, in place.
as_status asi_system_solve(asi_system *s, double *b);

/// Sums the terms into `value`.
void asi_system_assemble(asi_system *s, const as_matrix *blocks, const asi_tangent_map *motion);

#endif
