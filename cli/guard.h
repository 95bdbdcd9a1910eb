/// Commands that read results.h5 do so in a process of their own: where memory is short, the HDF5 library may end it.
#ifndef ALPHASTEP_CLI_GUARD_H
#define ALPHASTEP_CLI_GUARD_H

#include <stdbool.h>

/// Whether the arguments of the program name a run whose results are read.
bool guard_is_needed(int argc, char **argv);
/// Does the work of `main` in another process, hands signals on to it, and returns its exit status. Complains if it was ended by a fault.
int guard_run(int (*work)(int argc, char **argv), int argc, char **argv);

#endif
