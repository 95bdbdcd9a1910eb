/// Fronts: small dense matrices that a block multifrontal factorization works on, found once from a pattern.
///
/// Unknowns come in blocks (a body, the multipliers of a joint) with an order of elimination. Eliminating
/// a block couples all that it touches; so the blocks form a tree, each one's parent being the first of those
/// it is then coupled to. A front is one block, or several in a row that touch the same: w pivots and the
/// r unknowns that they are coupled to and that come later,
///
///     [ P  ]   w rows of w + r     becomes  L11 \ U11, U12
///     [ L  S ] r rows of w, of r   becomes  L21, and what is left, S - L21 U12, for the parent
///
/// P and L hold entries of the matrix and are kept. Where the others follow each other among the pivots of the
/// parent, as with one joint after a body, S is that part of the parent's P. Where they go on among the parent's
/// others, as with a body between two joints, its rows and columns from there on are parts of the parent's L and S.
/// Else it is a matrix of its own that collects what the children leave, and is added to the parent's front.
///
/// A block that comes before all that it touches may fall apart: a body's position and its rotation have no entries
/// in common. Its parts become blocks of their own, and those of one unknown need no front: for an unknown with the
/// diagonal d, entries l_i below it and u_j beside it, l_i u_j / d is subtracted where it belongs, entry by entry. These
/// singles come before all fronts.
#ifndef ALPHASTEP_LINALG_FRONTS_H
#define ALPHASTEP_LINALG_FRONTS_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/status.h"
#include "linalg/solver.h"

typedef struct asi_front {
  int first;   ///< its pivots are first ... first + w - 1 in the order of elimination
  int w, r;    ///< pivots, others
  bool direct; ///< S is a part of the parent's front
  int stride;  ///< of the rows of S: the length of the parent's, or r made even
  int split;   ///< rows of S, and columns of the rows after them, that are in the parent's P and L
  int width;   ///< of the rows of L: w, made even
  int length;  ///< of the rows of P: width + stride
  int inside;  ///< how many of its others are pivots of the parent's front
  int n_children; ///< those that are not direct
  size_t child;   ///< where the list of them begins
  size_t rest;  ///< where the list of its others begins, and of their places in the parent's front
  size_t store; ///< where P begins, then L
  size_t work; ///< where S is while the front is at work: in the store if direct, else on the stack
  size_t left; ///< where on the stack what it leaves goes, if not direct
  size_t
      below; ///< from the row `split` on: where the columns before `split` are, in the parent's L
  size_t beyond; ///< and where those after it are, in the parent's S
  int below_stride, beyond_stride;
} asi_front;

/// An unknown that is eliminated alone.
typedef struct asi_single {
  int place;    ///< in the order of elimination
  int front;    ///< the first that it touches
  int n_l, n_u; ///< entries below and beside the diagonal
  int store;    ///< where these are: diagonal, l, u
  int other;    ///< where the list of their rows, then columns, begins
  int product;  ///< where the list of n_l n_u places that l u goes to begins, row by row
} asi_single;

typedef struct asi_fronts {
  int n, n_fronts, n_singles;
  int n_double,
      n_simple; ///< of the singles: first those with two entries below and beside the diagonal, then with one
  int *order;         ///< n: the k-th unknown to eliminate
  asi_front *front;   ///< n_fronts
  asi_single *single; ///< n_singles
  int *other;         ///< what they touch, by place in the order
  int *product;       ///< places in the store
  int n_products;
  int *child; ///< children of fronts
  int *rest;  ///< others, by their place in the order; each list begins at an even place
  int *place; ///< and where they stand in the parent's front
  int *
      target; ///< where in the store each entry of the matrix goes, if that is not too long for ints
  size_t n_store, n_rest;
  size_t n_stack;    ///< the most that matrices left take, S of the front at work included
  int largest;       ///< w + r of the largest front
  double operations; ///< of a factorization: multiplications and additions
  double entries;    ///< of L and U
} asi_fronts;

/// The largest front that is worked on: places in it are counted by ints.
enum { ASI_LARGEST_FRONT = 30000 };

/// Finds the fronts of a pattern. If one is larger than that, only `largest` is of use.
as_status asi_fronts_init(asi_fronts *f, int n, const int *col_start, const int *row,
                          const asi_elimination *elimination, as_error *error);
void asi_fronts_free(asi_fronts *f);

#endif
