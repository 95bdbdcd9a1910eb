/// Processes that mpirun has started together.
#ifndef ALPHASTEP_CLI_PROCESSES_H
#define ALPHASTEP_CLI_PROCESSES_H

#include "cli.h"
#include "mpi_module.h"

/// How many processes mpirun has started, by the environment of this one; 1: it has not.
int processes_started(void);
/// The first process makes a text, and all get it. Says which of them this is. Complains.
cli_exit processes_share(mpi_make_fn *make, void *user, char *text, int size, int *rank);
/// Whether mpirun ends the others when a process is lost.
bool processes_end_together(void);

#endif
