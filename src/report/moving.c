/// Which channels change along a run, see moving.h.
#include "report/moving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MOST_UNITS = 64 }; ///< further ones share the last one's place

static const double ROUND_OFF = 1e-8; ///< of the largest value of a unit

/// Largest sizes of values, by unit.
typedef struct scale {
  const char *unit[MOST_UNITS];
  double largest[MOST_UNITS];
  int n;
} scale;

static double *largest_of(scale *s, const char *unit) {
  for (int i = 0; i < s->n; ++i)
    if (strcmp(s->unit[i], unit) == 0) return &s->largest[i];
  if (s->n == MOST_UNITS) return &s->largest[MOST_UNITS - 1];
  s->unit[s->n] = unit;
  s->largest[s->n] = 0.0;
  return &s->largest[s->n++];
}

static as_status find_range(asi_report *r, int channel, double *size, double *range,
                            as_error *error) {
  double low = (double)INFINITY, high = -(double)INFINITY;
  long worst;
  as_status status = as_results_reader_read(r->reader, channel, r->row, error);
  if (status == AS_OK) status = asi_report_errors(r, channel, &worst, error);
  if (status) return status;
  for (long i = 0; i < r->rows; ++i) {
    if (!isfinite(r->row[i])) continue;
    low = fmin(low, r->row[i]);
    high = fmax(high, r->row[i]);
  }
  *size = low <= high ? fmax(fabs(low), fabs(high)) : 0.0;
  *range = low < high ? high - low : 0.0;
  if (worst >= 0 && *range > 0.0 && *range <= 2.0 * r->error[worst]) *range = -*range;
  return AS_OK;
}

as_status asi_find_moving(asi_report *r, asi_moving *out, as_error *error) {
  scale s = {.n = 0};
  double *range = asi_calloc((size_t)r->channels + 1, sizeof *range); // negative: within its error
  as_status status = range ? AS_OK : asi_fail_memory(error);
  for (int i = 0; i < r->channels && status == AS_OK; ++i) {
    double size;
    status = find_range(r, i, &size, &range[i], error);
    if (status) break;
    double *largest = largest_of(&s, as_results_reader_channel(r->reader, i).unit);
    *largest = fmax(*largest, size);
  }
  for (int i = 0; i < r->channels && status == AS_OK; ++i) {
    const double least = ROUND_OFF * *largest_of(&s, as_results_reader_channel(r->reader, i).unit);
    out[i] = range[i] == 0.0 ? ASI_CONSTANT : range[i] > least ? ASI_MOVES : ASI_TREMBLES;
  }
  free(range);
  return status;
}
