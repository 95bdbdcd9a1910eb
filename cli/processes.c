// Processes that mpirun has started together, see processes.h. MPI itself is in a module of its own (mpi/module.c), beside the command or below the
// folder of libraries.
#define _GNU_SOURCE // readlink

#include "processes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ALPHASTEP_MODULES
#define ALPHASTEP_MODULES "../lib/alphastep" // from the folder of the command
#endif
#define MODULE "alphastep-mpi.so"

int processes_started(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE",
                                      "PMI_SIZE"}; // Open MPI; MPICH and its kin
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    const long n = text ? strtol(text, NULL, 10) : 0;
    if (n > 1 && n < 1000000) return (int)n;
  }
  return 1;
}

bool processes_end_together(void) {
  const char *recovery = getenv("OMPI_MCA_orte_enable_recovery");
  return getenv("OMPI_COMM_WORLD_SIZE") != NULL &&
         (recovery == NULL || (strcmp(recovery, "1") != 0 && strcmp(recovery, "true") != 0));
}

/// Opens the module; NULL: it is not there, or needs what is not there.
static void *open_module(void) {
  static const char *const folders[] = {".", ALPHASTEP_MODULES};
  char self[2048], path[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n < 0) return NULL;
  self[n] = '\0';
  char *slash = strrchr(self, '/');
  if (slash != NULL) *slash = '\0';
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    snprintf(path, sizeof path, "%s/%s/%s", self, folders[i], MODULE);
    // Parts of MPI that it loads itself look for its symbols.
    if (access(path, F_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  }
  return NULL;
}

cli_exit processes_share(mpi_make_fn *make, void *user, char *text, int size, int *rank) {
  void *module = open_module();
  void *symbol = module ? dlsym(module, "alphastep_mpi_share") : NULL;
  mpi_share_fn *share = NULL;
  memcpy(&share, &symbol, sizeof share);
  if (share == NULL) {
    const char *why = dlerror();
    cli_complain("mpirun has started this process, but " MODULE " is not beside the command%s%s: "
                 "build alphastep where MPI is installed, or use `--no-mpi`.",
                 why ? ": " : "", why ? why : "");
    return CLI_USAGE;
  }
  int n = 0;
  if (share(make, user, text, size, rank, &n) == 0 && n == processes_started()) return CLI_DONE;
  cli_complain(
      "mpirun has started %d processes, but MPI knows of %d: it is another MPI than that which "
      "alphastep was built with. Use its own mpirun, or `--no-mpi`.",
      processes_started(), n);
  return CLI_USAGE;
}
