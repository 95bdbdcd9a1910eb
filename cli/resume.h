/// What a run's folder keeps so that the run can be known again and gone on with.
#ifndef ALPHASTEP_CLI_RESUME_H
#define ALPHASTEP_CLI_RESUME_H

#include "job.h"

/// Texts of a request that goes on with a run.
typedef struct kept {
  char **text;
  int n;
  const char **settings; ///< those that were given
} kept;

/// `--resume`: finds the model file and the settings of the run in that folder and completes the request. Complains.
cli_exit resume_find(machine_request *r, kept *k);
void resume_free(kept *k);

/// Makes results.h5 with the model file and how it is run. Complains.
cli_exit resume_create(job *j);
/// For a request that looks at a folder: sees that its files are what they were, and says the tag of its saved state. Complains.
cli_exit resume_look(const machine_request *r, const as_machine *machine, unsigned long long *tag);
/// Takes up the run that is in the folder: its state, and its files behind the rows that the state has given. Complains.
cli_exit resume_run(job *j);

/// A number that changes with the model file, its includes and its settings.
unsigned long long resume_tag(const job *j);

/// Refuses to write to `output` what is made of the run in a folder, if that is a file that the run was read from. Complains.
cli_exit resume_spare(const char *folder, const char *output);

#endif
