/// The tree of blocks that are eliminated one after another: what fronts (fronts.c) are made from.
///
/// An unknown of a block that touches nothing before it may be a block of its own. A block's parent is the first of those that it is
/// coupled to when it is eliminated; children have their turns before their parents.
#ifndef ALPHASTEP_LINALG_BLOCK_TREE_H
#define ALPHASTEP_LINALG_BLOCK_TREE_H

#include "linalg/fronts.h"

/// The graph of blocks, numbered as they are eliminated, and what elimination makes of it.
typedef struct asi_block_tree {
  int n;
  int *order;    ///< unknowns as they are eliminated
  int *first;    ///< n + 1: their unknowns, by place in the order
  bool *single;  ///< whether it is an unknown without a front
  int *of;       ///< the block of each unknown
  size_t *start; ///< n + 1: neighbours, without doubles
  int *neighbour;
  int *parent; ///< the tree; -1: a root
  int *rank;   ///< when a block's turn comes after the tree is walked through
  int *turn;   ///< the block whose turn it is
} asi_block_tree;

/// For each block in its turn: the blocks that it is coupled to then and that come later, by their turns.
typedef struct asi_block_coupling {
  size_t *start; ///< n + 1
  int *later;
  size_t room;
} asi_block_coupling;

/// Makes both, from the pattern of a matrix of n columns.
as_status asi_block_tree_init(asi_block_tree *b, asi_block_coupling *c, int n, const int *col_start,
                              const int *row, const asi_elimination *e, as_error *error);
void asi_block_tree_free(asi_block_tree *b, asi_block_coupling *c);
/// Whether the block whose turn it is has a front.
bool asi_block_has_front(const asi_block_tree *b, int turn);
/// How many unknowns it has, and how many it is coupled to and that come later.
int asi_block_width(const asi_block_tree *b, int turn);
int asi_block_others(const asi_block_tree *b, const asi_block_coupling *c, int turn);
/// Whether a block can join the front of the one before it: it is the parent, and touches all the same.
bool asi_block_joins(const asi_block_tree *b, const asi_block_coupling *c, int turn);

#endif
