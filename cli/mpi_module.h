/// What the command and its module for MPI have in common.
#ifndef ALPHASTEP_CLI_MPI_MODULE_H
#define ALPHASTEP_CLI_MPI_MODULE_H

/// Writes the text that all processes get; by the first of them.
typedef void mpi_make_fn(char *text, int size, void *user);
/// Begins MPI, hands the text round, ends MPI. Says which of n processes this is. Not 0: MPI could not.
typedef int mpi_share_fn(mpi_make_fn *make, void *user, char *text, int size, int *rank, int *n);

mpi_share_fn alphastep_mpi_share;

#endif
