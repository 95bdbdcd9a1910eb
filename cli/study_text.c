// What `alphastep study` says: the table on a terminal, and summary.json.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/version.h"
#include "json.h"
#include "study.h"

enum {
  MOST_ROWS = 40, // that are printed
  MOST_COLUMNS = 12,
  CELL = 160,
};

// ---- cells

/// A parameter's name as a title: of `parameters.k` k.
static const char *short_path(const char *path) {
  return strncmp(path, "parameters.", 11) == 0 ? path + 11 : path;
}

static void title(const study_job *j, int column, char text[CELL]) {
  const int parameters = as_study_parameters(j->study), k = column - 1 - parameters;
  if (column == 0)
    snprintf(text, CELL, "run");
  else if (k < 0)
    snprintf(text, CELL, "%s", short_path(as_study_parameter_get(j->study, column - 1).path));
  else if (k < as_study_results(j->study))
    snprintf(text, CELL, "%s [%s]", as_study_result_get(j->study, k).name,
             as_study_result_unit(j->study, k));
  else
    snprintf(text, CELL, "status");
}

static void cell(const study_job *j, long run, int column, char text[CELL]) {
  const int parameters = as_study_parameters(j->study), k = column - 1 - parameters;
  const as_study_run r = as_study_run_get(j->study, run);
  if (column == 0) {
    snprintf(text, CELL, "%ld", run + 1);
  } else if (k < 0) {
    const double x = as_study_number(j->study, run, column - 1);
    if (isnan(x))
      (void)as_study_setting(j->study, run, column - 1, text, CELL);
    else
      snprintf(text, CELL, "%.6g", x);
  } else if (k < as_study_results(j->study)) {
    if (isnan(r.value[k]))
      snprintf(text, CELL, "-");
    else
      snprintf(text, CELL, "%.6g", r.value[k]);
  } else {
    snprintf(text, CELL, "%s", as_study_outcome_name(r.outcome));
  }
}

// ---- the table

static void print_table(const study_job *j, long rows) {
  char text[CELL];
  // The status stands there if a run is not simply done.
  const long runs = as_study_runs(j->study);
  const bool plain = as_study_count(j->study, AS_STUDY_DONE) == runs;
  int n = 1 + as_study_parameters(j->study) + as_study_results(j->study) + !plain;
  const bool cut = n > MOST_COLUMNS;
  if (cut) n = MOST_COLUMNS;
  int width[MOST_COLUMNS] = {0};
  for (int c = 0; c < n; c++)
    for (long i = -1; i < rows; i++) {
      if (i < 0)
        title(j, c, text);
      else
        cell(j, i, c, text);
      const int length = (int)strlen(text);
      if (length > width[c]) width[c] = length;
    }
  for (long i = -1; i < rows; i++) {
    for (int c = 0; c < n; c++) {
      if (i < 0)
        title(j, c, text);
      else
        cell(j, i, c, text);
      printf("%s%*s", c > 0 ? "  " : "", width[c], text);
    }
    fputs(cut ? "  ...\n" : "\n", stdout);
  }
  if (rows < runs) printf("... and %ld more\n", runs - rows);
}

static void print_results(const study_job *j) {
  for (int i = 0; i < as_study_results(j->study); i++) {
    const as_study_summary s = as_study_summarize(j->study, i);
    if (s.runs == 0) continue;
    printf("%s: %.6g (run %ld) to %.6g (run %ld) %s, mean %.6g",
           as_study_result_get(j->study, i).name, s.least, s.least_run + 1, s.largest,
           s.largest_run + 1, as_study_result_unit(j->study, i), s.mean);
    if (!isnan(s.deviation)) printf(", standard deviation %.3g", s.deviation);
    putchar('\n');
  }
}

void study_print(const study_job *j) {
  const long runs = as_study_runs(j->study), now = runs - j->before;
  print_table(j, runs > MOST_ROWS ? MOST_ROWS / 2 : runs);
  if (runs > 1) print_results(j);
  printf("%s: %ld run%s in %.3g s by %d %s%s", j->file, now, now == 1 ? "" : "s", j->seconds,
         j->processes > 1 ? j->processes : j->threads, j->processes > 1 ? "process" : "thread",
         j->processes > 1  ? "es"
         : j->threads == 1 ? ""
                           : "s");
  if (j->before > 0) printf(", and %ld from before", j->before);
  printf(".\nThe table is %s.\n", j->table);
  if (!j->request->machine.no_report) printf("The report is %s.\n", j->page);
}

// ---- summary.json

static void write_result(FILE *out, const study_job *j, int i) {
  const as_study_result r = as_study_result_get(j->study, i);
  const as_study_summary s = as_study_summarize(j->study, i);
  json_object o = json_begin(out, 4);
  json_add_string(&o, "name", r.name);
  json_add_string(&o, "unit", as_study_result_unit(j->study, i));
  json_add_string(&o, "measure", as_study_measure_name(r.measure));
  json_add_string(&o, "channel", r.channel);
  if (!isnan(r.from)) json_add_number(&o, "from", r.from);
  if (!isnan(r.to)) json_add_number(&o, "to", r.to);
  json_add_number(&o, "runs", (double)s.runs);
  if (s.runs > 0) {
    json_add_number(&o, "least", s.least);
    json_add_number(&o, "least_run", (double)(s.least_run + 1));
    json_add_number(&o, "largest", s.largest);
    json_add_number(&o, "largest_run", (double)(s.largest_run + 1));
    json_add_number(&o, "mean", s.mean);
    json_add_number(&o, "deviation", s.deviation);
  }
  json_end(&o);
}

void study_write_summary(FILE *out, const void *user) {
  const study_job *j = user;
  const as_study *s = j->study;
  json_object o = json_begin(out, 0);
  json_add_string(&o, "status", j->status);
  json_add_string(&o, "message", j->message);
  json_add_string(&o, "version", as_version());
  json_add_string(&o, "study", j->file);
  json_add_string(&o, "model", as_study_model(s));
  json_add_string(&o, "table", j->table);
  json_add_number(&o, "runs", (double)as_study_runs(s));
  for (int k = AS_STUDY_WAITING; k <= AS_STUDY_FAILED; k++)
    json_add_number(&o, as_study_outcome_name((as_study_outcome)k),
                    (double)as_study_count(s, (as_study_outcome)k));
  int n_warnings;
  const char *const *warning = as_study_warnings(s, &n_warnings);
  json_key(&o, "warnings");
  putc('[', out);
  for (int i = 0; i < n_warnings; i++) {
    if (i > 0) fputs(", ", out);
    asi_json_text(out, warning[i]);
  }
  putc(']', out);
  json_key(&o, "parameters");
  putc('[', out);
  for (int i = 0; i < as_study_parameters(s); i++) {
    if (i > 0) fputs(", ", out);
    asi_json_text(out, as_study_parameter_get(s, i).path);
  }
  putc(']', out);
  json_key(&o, "results");
  putc('[', out);
  for (int i = 0; i < as_study_results(s); i++) {
    fputs(i > 0 ? ",\n    " : "\n    ", out);
    write_result(out, j, i);
  }
  fputs("\n  ]", out);
  json_add_number(&o, "threads", j->threads);
  json_add_number(&o, "processes", j->processes);
  json_add_number(&o, "lost", j->lost);
  json_add_number(&o, "seconds", j->seconds);
  json_end(&o);
  putc('\n', out);
}
