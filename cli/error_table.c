// Estimated errors of a run, see error_table.h. Sorts are channels of one group and unit, such as all forces of joints: an
// error says something against the largest of them.
#include "error_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum {
  MOST_LISTED = 10000, // channels in a summary: a report has to read it
  MOST_SORTS = 64,
  MOST_PRINTED = 8,
};

static const double ROUND_OFF = 1e-9; // relative errors that are not worth a line

double error_table_rounded(double x) {
  char text[32];
  snprintf(text, sizeof text, "%.3e", x);
  return isfinite(x) ? strtod(text, NULL) : x;
}

// ---- summary.json

static void write_channel(FILE *out, as_channel channel, const as_channel_error *e) {
  fputs("\n      {\"name\": ", out);
  asi_json_text(out, channel.name);
  fputs(", \"unit\": ", out);
  asi_json_text(out, channel.unit);
  fputs(", \"error\": ", out);
  asi_json_number(out, error_table_rounded(e->largest));
  fputs(", \"t\": ", out);
  asi_json_number(out, e->t);
  fputs(", \"rms\": ", out);
  asi_json_number(out, error_table_rounded(e->rms));
  fputs(", \"relative\": ", out);
  asi_json_number(out, error_table_rounded(e->relative));
  putc('}', out);
}

static int write_channels(FILE *out, const as_run *run) {
  const as_channels *channels = as_run_channels(run);
  int listed = 0, left = 0;
  putc('[', out);
  for (int i = 0; i < as_channels_count(channels); i++) {
    as_channel_error e = as_run_channel_error(run, i);
    if (isnan(e.largest)) continue;
    if (listed == MOST_LISTED) {
      left++;
      continue;
    }
    if (listed++ > 0) putc(',', out);
    write_channel(out, as_channels_get(channels, i), &e);
  }
  putc(']', out);
  return left;
}

void error_table_write(FILE *out, const job *j) {
  as_accuracy a = as_run_accuracy(j->run);
  json_object o = json_begin(out, 2);
  json_add_string(&o, "message", a.message);
  json_add_number(&o, "until", a.until);
  json_add_number(&o, "rows", (double)a.rows);
  json_add_number(&o, "rows_between_events", (double)a.rows_between_events);
  json_add_number(&o, "step", a.step);
  if (isnan(a.step)) json_add_number(&o, "rtol", a.rtol);
  json_add_number(&o, "steps", (double)a.steps);
  json_key(&o, "channels");
  int left = write_channels(out, j->run);
  if (left > 0) json_add_number(&o, "channels_left_out", left);
  json_end(&o);
}

// ---- the last lines

typedef struct sort {
  as_channel worst;
  as_channel_error e;
} sort;

static bool are_alike(as_channel a, as_channel b) {
  size_t group = strcspn(a.name, ".");
  return strcspn(b.name, ".") == group && strncmp(a.name, b.name, group) == 0 &&
         strcmp(a.unit, b.unit) == 0;
}

static int find_sorts(const as_run *run, sort out[MOST_SORTS]) {
  const as_channels *channels = as_run_channels(run);
  int n = 0;
  for (int i = 0; i < as_channels_count(channels); i++) {
    as_channel channel = as_channels_get(channels, i);
    as_channel_error e = as_run_channel_error(run, i);
    if (isnan(e.largest) || strncmp(channel.name, "events.", 7) == 0) continue;
    int k = 0;
    while (k < n && !are_alike(out[k].worst, channel)) k++;
    if (k == MOST_SORTS) continue;
    if (k == n || e.largest > out[k].e.largest) out[k] = (sort){channel, e};
    if (k == n) n++;
  }
  return n;
}

static int compare(const void *left, const void *right) {
  const sort *a = left, *b = right;
  return (a->e.relative < b->e.relative) - (a->e.relative > b->e.relative);
}

static void print_events(const as_run *run) {
  long n = as_run_events(run) < AS_RUN_EVENTS ? as_run_events(run) : AS_RUN_EVENTS;
  long worst = -1;
  double largest = 0.0;
  for (long i = 0; i < n; i++) {
    double e = fabs(as_run_event_error(run, i));
    if (!(e > largest)) continue;
    largest = e;
    worst = i;
  }
  if (worst < 0) return;
  as_event_record event = as_run_event(run, worst);
  printf("  %8.2g s                     times of events: %s at t = %.6g s\n", largest, event.name,
         event.t);
}

void error_table_print(const job *j) {
  as_accuracy a = as_run_accuracy(j->run);
  sort sorts[MOST_SORTS];
  int n = find_sorts(j->run, sorts);
  qsort(sorts, (size_t)n, sizeof *sorts, compare);
  printf("Estimated errors, by a second run ");
  if (isnan(a.step)) {
    printf("with a tolerance of %.3g", a.rtol);
  } else {
    printf("with steps of %.6g s", a.step);
  }
  printf(" (%ld steps); the largest of each sort of channels:\n", a.steps);
  printf("  %8s %18s  channel\n", "error", "of its size");
  while (n > 1 && sorts[n - 1].e.relative < ROUND_OFF) n--;
  for (int i = 0; i < n && i < MOST_PRINTED; i++) {
    const sort *s = &sorts[i];
    char error[64];
    snprintf(error, sizeof error, "%8.2g %s", s->e.largest,
             strcmp(s->worst.unit, "-") == 0 ? "" : s->worst.unit);
    printf("  %-16s %11.2g  %s at t = %.6g s\n", error, s->e.relative, s->worst.name, s->e.t);
  }
  if (n > MOST_PRINTED) printf("  and %d more sorts, with smaller ones\n", n - MOST_PRINTED);
  print_events(j->run);
  if (a.rows_between_events > 0) {
    printf("%ld row%s between an event of one run and the same of the other: not compared.\n",
           a.rows_between_events, a.rows_between_events == 1 ? " is" : "s are");
  }
  if (a.message[0] != '\0') printf("%s\n", a.message);
}
