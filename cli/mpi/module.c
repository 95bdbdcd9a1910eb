// All that `alphastep study` needs of MPI: who this process is among those that mpirun has started, and one line of text from the first of them
// to all. It is a library by itself, which the command opens where mpirun has started it, so that MPI is not part of the command. MPI is over
// when this returns: what ends all processes where one is lost, as MPI does, would be no place to deal out runs.
#include "mpi_module.h"

#include <mpi.h>
#include <stddef.h>

int alphastep_mpi_share(mpi_make_fn *make, void *user, char *text, int size, int *rank, int *n) {
  if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, n);
  if (*rank == 0) make(text, size, user);
  const int failure = MPI_Bcast(text, size, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return failure != MPI_SUCCESS;
}
