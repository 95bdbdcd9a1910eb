/// The results of a run in one file, results.h5 (HDF5): a writer while the run goes, a reader afterwards.
///
///     as_results_writer_def def = as_default_results_writer_def();
///     def.model = model;
///     def.channels = as_run_channels(run);
///     as_results_writer_create("results.h5", &def, &writer, &error);
///     ... as_results_writer_row(writer, t, row, n, as_run_poses(run), &error) for each row ...
///     as_results_writer_close(writer, &error);
///
///     as_results_reader_open("results.h5", &reader, &error);
///     double *time = malloc(as_results_reader_rows(reader) * sizeof *time);
///     as_results_reader_time(reader, time, &error);
///     int angle = as_results_reader_find(reader, "joints.crank.angle");
///     as_results_reader_read(reader, angle, out, &error);
///
/// docs/results.md has the layout of the file. Whatever happens to the process or its machine, results.h5 is whole: rows go to a
/// second file beside it, PATH.new, a copy of which replaces it when it is flushed.
///
/// The library behind it, HDF5, has one lock for all: use the writers and readers of a process in one thread at a time.
#ifndef ALPHASTEP_RESULTS_FILE_H
#define ALPHASTEP_RESULTS_FILE_H

#include "alphastep/export.h"
#include "alphastep/results.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  AS_POSE = 7
}; ///< numbers of a pose: position x y z, world [m]; quaternion w x y z, body to world

/// A text that is kept with results, such as the model file.
typedef struct as_named_text {
  const char *name; ///< printable, no `/`, not `.`
  const char *text;
} as_named_text;

// ---- writing ----------------------------------------------------------------------------------------

/// What is written. From as_default_results_writer_def().
typedef struct as_results_writer_def {
  unsigned cookie;             ///< set by as_default_results_writer_def(): leave it as it is
  const as_model *model;       ///< required
  const as_channels *channels; ///< required: those of the rows
  const char *title;           ///< NULL: none
  const as_named_text *texts;  ///< n_texts; copied
  int n_texts;
  bool errors;  ///< keep estimated errors, too: `errors.NAME` of each channel
  bool no_sync; ///< do not force files to the disk: they may be lost with the power
} as_results_writer_def;

AS_API as_results_writer_def as_default_results_writer_def(void);

/// What writes the file. Model and channels have to outlive it.
typedef struct as_results_writer as_results_writer;

/// Makes the file; one that is there is replaced.
AS_API as_status as_results_writer_create(const char *path, const as_results_writer_def *def,
                                          as_results_writer **out, as_error *error);
/// Goes on with a file behind its first `rows` rows, as if the others had never been. It has to hold the same
/// channels of the same bodies; texts and title of `def` are not looked at.
AS_API as_status as_results_writer_continue(const char *path, const as_results_writer_def *def,
                                            long rows, as_results_writer **out, as_error *error);
/// Takes a row: the n numbers of the channels and the AS_POSE numbers of each body.
AS_API as_status as_results_writer_row(as_results_writer *writer, double t, const double *row,
                                       int n, const double *poses, as_error *error);
/// The same with estimated errors, see as_run_errors(); each may be NULL: not known.
AS_API as_status as_results_writer_row_errors(as_results_writer *writer, double t,
                                              const double *row, int n, const double *poses,
                                              const double *errors, const double *pose_errors,
                                              as_error *error);
/// Brings all rows into the file. It happens by itself when many are waiting, and four times as many as there are in the file.
AS_API as_status as_results_writer_flush(as_results_writer *writer, as_error *error);
/// Rows that are in the file.
AS_API long as_results_writer_rows(const as_results_writer *writer);
/// Flushes, closes and frees; NULL is fine.
AS_API as_status as_results_writer_close(as_results_writer *writer, as_error *error);

// ---- reading ----------------------------------------------------------------------------------------

typedef struct as_results_reader as_results_reader;

/// Opens a file for reading. AS_ERR_FILE with a sentence if it is damaged or none of ours.
AS_API as_status as_results_reader_open(const char *path, as_results_reader **out, as_error *error);
AS_API void as_results_reader_close(as_results_reader *reader); ///< NULL is fine

AS_API long as_results_reader_rows(const as_results_reader *reader);
/// The times of all rows [s].
AS_API as_status as_results_reader_time(as_results_reader *reader, double *out, as_error *error);

/// Channels: positions and quaternions of all bodies, and what was chosen. Estimated errors, if there are any, follow behind
/// them as channels `errors.NAME`. Names belong to the reader.
AS_API int as_results_reader_count(const as_results_reader *reader);
AS_API as_channel as_results_reader_channel(const as_results_reader *reader, int channel);
/// Of these, how many are not errors.
AS_API int as_results_reader_values(const as_results_reader *reader);
/// The number of a channel; -1: it is not there.
AS_API int as_results_reader_find(const as_results_reader *reader, const char *name);
/// The number of the channel of its estimated errors; -1: there are none.
AS_API int as_results_reader_error(const as_results_reader *reader, int channel);
/// Marks what a selection (`bodies.*.position`) chooses: chosen[channel] = true, others stay as they are.
AS_API as_status as_results_reader_select(const as_results_reader *reader, const char *selection,
                                          bool *chosen, as_error *error);
/// All rows of a channel.
AS_API as_status as_results_reader_read(as_results_reader *reader, int channel, double *out,
                                        as_error *error);
/// Reads all of it: AS_ERR_FILE with a sentence if something is damaged.
AS_API as_status as_results_reader_check(as_results_reader *reader, as_error *error);

/// Bodies, in the order of the model.
AS_API int as_results_reader_bodies(const as_results_reader *reader);
AS_API const char *as_results_reader_body_name(const as_results_reader *reader, int body);
/// AS_POSE numbers of a body in each row; a point mass has the quaternion 1 0 0 0.
AS_API as_status as_results_reader_poses(as_results_reader *reader, int body, double *out,
                                         as_error *error);

/// A text by name, such as `model`; NULL: it is not there, or, if errno is ENOMEM then, memory has run out. It belongs to the reader.
AS_API const char *as_results_reader_text(as_results_reader *reader, const char *name);
AS_API const char *as_results_reader_title(const as_results_reader *reader); ///< NULL: none
AS_API const char *
as_results_reader_version(const as_results_reader *reader); ///< of the library that wrote it

#ifdef __cplusplus
}
#endif

#endif
