/// Thinning, see thin.h.
///
/// A page of b bodies, c channels, f frames and k pieces has about
///
///     4/3 (f (28 b + 4 c + 8) + 24 k c) + 400 c + 800 b + 1.2e6 bytes
///
/// before compression: poses of seven and values of one number of 4 bytes, extremes with their times (12 bytes, two a
/// piece), in base64; names and limits of the channels; the scene; the page itself.
#include "report/thin.h"

#include <math.h>

enum {
  MOST_FRAMES = 1001,
  MOST_BUCKETS = 500,
};

/// Bytes for arrays, before they are written in base64.
static double budget_of(int bodies, int channels) {
  const double page = fmin(29e6, 4.7e6 + 24.3e3 * fmax(0.0, bodies - 10.0));
  return fmax(5e5, 0.75 * (page - 400.0 * channels - 800.0 * bodies - 1.2e6));
}

asi_thinning asi_thin(long rows, int bodies, int channels) {
  const double frame = 28.0 * bodies + 4.0 * channels + 8.0, bucket = 24.0 * channels;
  const double budget = budget_of(bodies, channels);
  asi_thinning t = {rows, (int)fmin((double)rows, MOST_FRAMES), MOST_BUCKETS};
  if (t.frames * frame + (rows > t.frames ? t.buckets * bucket : 0.0) > budget) {
    t.buckets = (int)fmax(1.0, fmin(MOST_BUCKETS, 0.25 * budget / fmax(bucket, 1.0)));
    t.frames = (int)fmin(t.frames, fmax(2.0, floor((budget - t.buckets * bucket) / frame)));
  }
  if (t.frames >= rows) t.buckets = 0;
  return t;
}

long asi_thin_row(const asi_thinning *t, int frame) {
  if (t->frames <= 1) return 0;
  return (long)((double)frame * (double)(t->rows - 1) / (t->frames - 1) + 0.5);
}

int asi_thin_extremes(const double *x, long rows, int buckets, long *out) {
  int n = 0;
  for (int k = 0; k < buckets; ++k) {
    const long first = (long)((double)rows * k / buckets);
    const long behind = (long)((double)rows * (k + 1) / buckets);
    long low = -1, high = -1;
    for (long i = first; i < behind; ++i) {
      if (!isfinite(x[i])) continue;
      if (low < 0 || x[i] < x[low]) low = i;
      if (high < 0 || x[i] > x[high]) high = i;
    }
    if (low < 0) continue;
    out[n++] = low < high ? low : high;
    if (low != high) out[n++] = low < high ? high : low;
  }
  return n;
}
