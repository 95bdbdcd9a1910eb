/// What the files that read results share.
///
/// reader.c           opens and closes a file, finds channels by their names
/// reader_channels.c  lists datasets and channels
/// reader_values.c    their values, and texts
#ifndef ALPHASTEP_RESULTS_RESULTS_READER_H
#define ALPHASTEP_RESULTS_RESULTS_READER_H

#include "alphastep/results_file.h"
#include "base/error.h"
#include "results/channels.h"
#include "results/hdf5.h"

enum {
  ASI_READER_PIECES = 2
}; ///< pieces that are kept: positions and quaternions of bodies are wanted in turn

/// A dataset: its place, and which channels it has.
typedef struct asi_reader_source {
  size_t path; ///< in text
  int rank;
  hsize_t objects, columns;
  bool many; ///< it has a dimension for objects
} asi_reader_source;

/// A channel: a place in a dataset.
typedef struct asi_reader_channel {
  size_t name, unit; ///< in text
  int source;
  int object, column;
} asi_reader_channel;

typedef struct asi_reader_body {
  size_t name;
  int position, quaternion; ///< first channels; quaternion -1: a point mass
} asi_reader_body;

typedef struct asi_reader_text {
  char *name, *text;
} asi_reader_text;

/// A piece of a dataset that is kept: all rows of some objects.
typedef struct asi_reader_piece {
  int source; ///< -1: none
  hsize_t first, objects;
  double *values; ///< [row, object, column]
} asi_reader_piece;

struct as_results_reader {
  char *path;
  hid_t file;
  double most; ///< bytes that a dataset of a file of this size may have
  long rows;
  char *text; ///< names, paths, units
  size_t used, room;
  asi_reader_source *source;
  asi_reader_channel *channel;
  asi_reader_body *body;
  asi_reader_text *held;
  int n_sources, n_channels, n_bodies, n_held;
  int n_values; ///< channels that are not errors: the first ones
  int room_sources, room_channels, room_bodies, room_held;
  int *sorted; ///< channels by name
  char *title, *version;
  asi_reader_piece piece[ASI_READER_PIECES];
  int last; ///< the piece that was read last
};

// reader.c ----------------------------------------------------------------------------------------

/// Says why a file cannot be read.
as_status asi_reader_fail(const as_results_reader *r, const char *why, as_error *error);
/// Appends a text to the reader's; gives its place. SIZE_MAX: memory has run out.
size_t asi_reader_keep_text(as_results_reader *r, const char *text);
/// Parts joined by points, NULL parts left out; to be freed. NULL: memory has run out.
char *asi_reader_join(const char *const part[4]);
/// Whether there is a link that leads to something in the same file, by no detour.
bool asi_reader_is_linked(hid_t group, const char *name);
/// Whether a dataset's data is in the same file.
bool asi_reader_is_inside(hid_t data);
/// Texts of an attribute or dataset, each of `size` bytes with its end; to be freed. NULL: they are not like that.
char *asi_reader_texts(const as_results_reader *r, hid_t from, bool attribute, hsize_t most,
                       hsize_t *n, size_t *size);
/// A text that is an attribute; NULL: it is not there.
char *asi_reader_attribute(const as_results_reader *r, hid_t of, const char *name);

// reader_channels.c -------------------------------------------------------------------------------

/// The dataset of times, which is the first.
as_status asi_reader_add_time(as_results_reader *r, hid_t data, as_error *error);
/// Lists all datasets and channels of the file.
as_status asi_reader_read_groups(as_results_reader *r, as_error *error);

#endif
