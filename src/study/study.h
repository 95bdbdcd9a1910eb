/// Studies inside.
///
/// create.c      the definition, copied and checked; the model that names are looked up in
/// values.c      grids, ranges and random draws
/// measure.c     what is kept of a channel
/// go.c          one run, and threads that share them out
/// keep.c        runs that are over in a file
/// frames.c      what processes that share a study say to each other
/// host.c        a process that deals out runs
/// guest.c       a process that makes them
/// table.c       what came of it
/// hdf5.c        the same as study.h5
/// study_file.c  study files
#ifndef ALPHASTEP_STUDY_STUDY_H
#define ALPHASTEP_STUDY_STUDY_H

#include <pthread.h>
#include <stdint.h>

#include "alphastep/study.h"
#include "file/arena.h"

enum {
  ASI_STUDY_VALUE = 32,    ///< room for a number as text
  ASI_STUDY_MESSAGE = 512, ///< room for what is kept of a sentence
  ASI_STUDY_HEAD = 64,     ///< bytes of the head of state.bin
  ASI_STUDY_NOBODY = 0,
  ASI_STUDY_HERE = -1,
};

/// A run that is over.
typedef struct asi_study_record {
  as_study_outcome outcome;
  int holder; ///< who makes it: ASI_STUDY_NOBODY, ASI_STUDY_HERE or the number of a guest
  double t;
  char *message; ///< NULL: none
} asi_study_record;

struct as_study {
  as_study_def def; ///< its texts and arrays are in the arena
  asi_arena arena;
  char *folder;          ///< of the model file with its slash; "": none
  const double **number; ///< of each parameter with a list: its values as numbers
  long *count;           ///< of values of each parameter; 0: it is random
  long *stride;          ///< how many runs it keeps a value for
  char **channel;        ///< of each result: the name of its channel
  char **unit;           ///< likewise
  int *column;           ///< likewise: which of the distinct channels
  const char **column_name;
  int n_columns;
  as_file_digest *files; ///< n_files, that the model was read from
  int n_files;
  const char **warnings; ///< n_warnings, about what was read
  int n_warnings;
  long runs;
  asi_study_record *record;
  double *value; ///< runs x n_results
  long count_of[AS_STUDY_FAILED + 1];

  pthread_mutex_t mutex; ///< of all that follows, and of records while threads work
  as_study_host *host;   ///< that deals out runs to other processes; NULL: there is none
  as_study_guest *guest; ///< that runs come from; NULL: they are dealt out here
  long next;             ///< no run before it is waiting for somebody
  bool ending;           ///< no more runs are to be taken
  as_status status;      ///< why; AS_OK: nothing went wrong
  as_error error;
  int file; ///< that runs are kept in; -1: none
  char *file_path;
  bool no_sync;
  double synced; ///< when the file was last forced to the disk [s]
};

/// Reads the model with these settings.
as_status asi_study_load(const as_study *study, const char *const *settings, as_machine **out,
                         as_messages *messages);
/// The values of all parameters in a run, as settings behind those of all runs; memory in the arena. NULL: there is none left.
const char *const *asi_study_settings(const as_study *study, long run, asi_arena *arena);
/// Finds the numbers of values; what is wrong with a parameter is told. Sets runs.
as_status asi_study_count_values(as_study *study, as_messages *messages);

/// A sentence about a part of a study: `what: error: ...`; returns AS_ERR_ARGUMENT.
as_status asi_study_complain(as_messages *messages, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
as_status asi_study_complain_memory(as_messages *messages);

/// Takes over a run that is over. False: there is no memory.
bool asi_study_note(as_study *study, long run, as_study_outcome outcome, double t,
                    const double *value, const char *message);
/// A run that is over as bytes, to be freed; NULL: there is no memory.
unsigned char *asi_study_pack(const as_study *study, long run, size_t *size);
/// Takes over a run that is over, if it is not yet; which one. The bytes it has; 0: they are damaged or cut off. Negative: there is no memory.
long asi_study_unpack(as_study *study, const unsigned char *bytes, size_t size, long *run);
/// Writes it behind those that are kept. The mutex is held.
as_status asi_study_keep_run(as_study *study, long run, as_error *error);
/// Forces what is kept to the disk.
as_status asi_study_sync(as_study *study, as_error *error);
/// What a study is known by. False: there is no memory.
bool asi_study_make_head(const as_study *study, unsigned char head[ASI_STUDY_HEAD]);
/// Why a head is not that of this study, whose own is `mine`; NULL: it is.
const char *asi_study_compare_heads(const unsigned char *mine, const unsigned char *there);

// ---- dealing out: the mutex is held -----------------------------------------------------------------

/// The number of a run that nobody makes, which `holder` does from now on; -1: there is none, or no more are to be taken.
long asi_study_take_run(as_study *study, int holder);
/// A run that has been noted is kept and told.
void asi_study_finish_run(as_study *study, long run);
/// No more runs are to be taken. The first failure is told; an interruption gives way to it.
void asi_study_end(as_study *study, as_status status, const as_error *error);

/// What processes say to each other: see frames.c. A study's host and guests go through these.
as_status asi_study_host_open(as_study_host *host, as_study *study, as_error *error);
void asi_study_host_close(as_study_host *host);
/// Waits a little for runs that may come back from processes which are lost. The study's mutex is held, and given up meanwhile.
void asi_study_host_await(as_study_host *host);
/// The number of a run that the host deals out; -1: there are no more, or `interrupt` asks to end.
long asi_study_guest_take(as_study_guest *guest, as_interrupt_fn *interrupt, void *user);
/// Hands over a run.
void asi_study_guest_hand_over(as_study_guest *guest, const unsigned char *bytes, size_t size);
/// Makes runs for a host with so many threads.
as_status asi_study_work_for(as_study *study, as_study_guest *guest, int threads, as_error *error);
/// Whether there is nothing more to be made.
bool asi_study_guest_is_over(as_study_guest *guest);

// ---- measures ---------------------------------------------------------------------------------------

/// What is kept of a channel while a run goes on.
typedef struct asi_measure {
  as_study_measure kind;
  double from, to; ///< [s]
  double margin;   ///< a row that is outside by less counts [s]
  bool begun;
  double t, x; ///< the last row
  double extreme, last;
  double integral, length;
} asi_measure;

asi_measure asi_measure_begin(const as_study_result *result, double t_end);
void asi_measure_add(asi_measure *m, double t, double x);
/// NAN: no row was inside.
double asi_measure_end(const asi_measure *m);

#endif
