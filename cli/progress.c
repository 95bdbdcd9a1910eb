// How far a run is: one line on a terminal, written over and over. No colours, no escape sequences.
#define _POSIX_C_SOURCE 200809L // clock_gettime, isatty

#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double PAUSE = 0.1; // [s]

double progress_clock(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0.0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_begin(double t_end, bool wanted) {
  double now = progress_clock();
  return (progress){.shown = wanted && isatty(STDERR_FILENO) == 1,
                    .t_end = t_end,
                    .began = now,
                    .last = now - PAUSE};
}

/// 75 s as 1:15 min, 7300 s as 2:01 h.
static void write_duration(char *text, size_t size, double seconds) {
  if (seconds < 60.0) {
    snprintf(text, size, "%.0f s", ceil(seconds));
  } else if (seconds < 3600.0) {
    snprintf(text, size, "%d:%02d min", (int)seconds / 60, (int)seconds % 60);
  } else {
    snprintf(text, size, "%.0f:%02d h", floor(seconds / 3600.0), (int)fmod(seconds / 60.0, 60.0));
  }
}

static void write_over(progress *p, const char *line) {
  int width = fprintf(stderr, "\r%-*s", p->width, line) - 1;
  if (width > p->width) p->width = width;
  fflush(stderr);
}

void progress_show(progress *p, double t) {
  if (!p->shown) return;
  double now = progress_clock();
  if (now - p->last < PAUSE) return;
  p->last = now;
  double passed = now - p->began;
  char line[160], left[32] = "?";
  if (t > 0.0) write_duration(left, sizeof left, passed * (p->t_end - t) / t);
  snprintf(line, sizeof line, "%3.0f %%  t = %.4g s of %.4g s  %.3g x real time  %s left",
           floor(100.0 * t / p->t_end), t, p->t_end, passed > 0.0 ? t / passed : 0.0, left);
  write_over(p, line);
}

void progress_show_runs(progress *p, long over, long failed, long before) {
  if (!p->shown) return;
  double now = progress_clock();
  if (now - p->last < PAUSE) return;
  p->last = now;
  char line[160], left[32] = "?", bad[40] = "";
  double each = (now - p->began) / (double)(over - before);
  if (over > before) write_duration(left, sizeof left, each * (p->t_end - (double)over));
  if (failed > 0) snprintf(bad, sizeof bad, "%ld failed  ", failed);
  snprintf(line, sizeof line, "%3.0f %%  %ld of %.0f runs  %s%s left",
           floor(100.0 * (double)over / p->t_end), over, p->t_end, bad, left);
  write_over(p, line);
}

void progress_end(progress *p) {
  if (!p->shown || p->width == 0) return;
  write_over(p, "");
  putc('\r', stderr);
  fflush(stderr);
}
