/// What the pages of a report are made from.
#ifndef ALPHASTEP_REPORT_REPORT_H
#define ALPHASTEP_REPORT_REPORT_H

#include <stdio.h>

#include "alphastep/report.h"
#include "alphastep/results_file.h"
#include "file/value.h"
#include "report/thin.h"

typedef struct asi_report {
  as_results_reader *reader;
  const char *scene; ///< JSON of as_scene_text()
  char *made_scene;  ///< the same, of a results that has none; NULL: it has one
  char *summary;     ///< JSON
  asi_arena arena;
  const asi_value *summary_tree;
  long rows;
  int bodies, channels;
  double *time;  ///< rows
  double *row;   ///< rows: room for one channel
  double *error; ///< rows: room for its errors
  long *where;   ///< rows: room for places of extremes
  FILE *out;
} asi_report;

/// JSON as a tree, in the report's arena.
const asi_value *asi_report_tree(asi_report *r, const char *json);
/// A text of the summary, "" if there is none; a number, NAN if there is none.
const char *asi_summary_text(const asi_value *map, const char *key);
double asi_summary_number(const asi_value *map, const char *key);
/// What an event of the summary says: its message, else its direction.
const char *asi_event_text(const asi_value *event);
/// Reads the sizes of the estimated errors of a channel into r->error, NAN where they are not known; `worst` is the row of the
/// largest, -1: nothing is known.
as_status asi_report_errors(asi_report *r, int channel, long *worst, as_error *error);
/// Whether the run came to its end.
bool asi_report_is_complete(const asi_report *r);

/// Each writes a whole page; whether it could be written is for the caller to ask r->out.
as_status asi_page_write(asi_report *r, as_error *error);
as_status asi_plain_write(asi_report *r, as_error *error);

/// The page that web/ builds, `size` bytes; NULL: it is not built in.
const char *asi_template(size_t *size);

#endif
