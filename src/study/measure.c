/// What is kept of a channel: extremes and the last value of the rows inside the window, means over time of the line through all rows.
///
/// With rows (t_k, x_k), the line through them, and the window from a to b, where the line is cut:
///
/// [SD.1] mean = 1/(b - a) sum (t_{k+1} - t_k) (x_k + x_{k+1})/2
/// [SD.2] rms^2 = 1/(b - a) sum (t_{k+1} - t_k) (x_k^2 + x_{k+1}^2)/2
///
/// The square of the line itself, (x_k^2 + x_k x_{k+1} + x_{k+1}^2)/3, would lose what oscillates from row to row: 3 % at 15 rows a period.
#include <math.h>

#include "study/study.h"

asi_measure asi_measure_begin(const as_study_result *result, double t_end) {
  return (asi_measure){.kind = result->measure,
                       .from = isnan(result->from) ? -(double)INFINITY : result->from,
                       .to = isnan(result->to) ? (double)INFINITY : result->to,
                       .margin = 1e-9 * t_end,
                       .extreme = (double)NAN,
                       .last = (double)NAN};
}

/// A piece of the line, as far as it is inside.
static void add_piece(asi_measure *m, double t, double x) {
  const double a = fmax(m->t, m->from), b = fmin(t, m->to);
  if (!(b > a)) return;
  const double slope = (x - m->x) / (t - m->t);
  const double xa = a > m->t ? m->x + slope * (a - m->t) : m->x;
  const double xb = b < t ? m->x + slope * (b - m->t) : x;
  if (m->kind == AS_STUDY_MEAN)
    m->integral += (b - a) * 0.5 * (xa + xb); // [SD.1]
  else
    m->integral += (b - a) * 0.5 * (xa * xa + xb * xb); // [SD.2]
  m->length += b - a;
}

void asi_measure_add(asi_measure *m, double t, double x) {
  if (m->begun) add_piece(m, t, x);
  m->begun = true;
  m->t = t;
  m->x = x;
  if (!(t >= m->from - m->margin && t <= m->to + m->margin)) return;
  m->last = x;
  // fmax and fmin leave out what is no number, as the time of an event that has not happened yet.
  if (m->kind == AS_STUDY_MIN)
    m->extreme = fmin(m->extreme, x);
  else
    m->extreme = fmax(m->extreme, m->kind == AS_STUDY_MAX_ABS ? fabs(x) : x);
}

double asi_measure_end(const asi_measure *m) {
  switch (m->kind) {
  case AS_STUDY_MEAN: return m->length > 0.0 ? m->integral / m->length : (double)NAN;
  case AS_STUDY_RMS: return m->length > 0.0 ? sqrt(m->integral / m->length) : (double)NAN;
  case AS_STUDY_LAST: return m->last;
  default: return m->extreme;
  }
}
