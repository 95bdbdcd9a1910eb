// The papers, and how a row of theirs is measured and judged.
//
// The observed order of a row is log2(e(2h) / e(h)); the run with twice the step is made for it
// even if its own row is not chosen, so that a row reads the same alone and among others.
#include "papers.h"

#include <math.h>
#include <string.h>

const paper *const all_papers[N_PAPERS] = {&paper_abc, &paper_jn,  &paper_j,
                                           &paper_ba,  &paper_car, &paper_ch};

bool paper_names(const char *name, const char *id) {
  size_t n = strlen(name);
  return strncmp(name, id, n) == 0 && (id[n] == '\0' || id[n] == '-');
}

const run_result *paper_make_run(const paper *source, int run, run_result *results) {
  run_result *result = &results[run];
  if (result->made) return result;
  result->made = true;
  result->error = (as_error){.message = ""};
  result->status =
      source->runs[run].measure(source->runs[run].setting, result->out, &result->error);
  return result;
}

paper_entry paper_measure(const paper *source, const paper_row *row, run_result *results) {
  paper_entry e = {.source = source, .row = row, .measured = (double)NAN, .order = (double)NAN};
  const run_result *fine = paper_make_run(source, row->run, results);
  if (fine->status != AS_OK) return e;
  e.measured = fine->out[row->output];

  int twice = source->runs[row->run].twice;
  if (twice != PAPER_NONE && row->judge != PAPER_NUMBER) {
    const run_result *coarse = paper_make_run(source, twice, results);
    if (coarse->status == AS_OK) e.order = log2(coarse->out[row->output] / e.measured);
  }

  // Comparisons with NAN fail.
  double off = fabs(e.measured - row->expected), size = fabs(row->expected);
  switch (row->judge) {
  case PAPER_WITHIN:
  case PAPER_NUMBER: e.ok = off <= PAPER_WITHIN_SHARE * size; break;
  case PAPER_VALUE: e.ok = off <= PAPER_VALUE_SHARE * size; break;
  case PAPER_SECOND_ORDER:
    e.ok = off <= PAPER_WITHIN_SHARE * size && e.order >= PAPER_LEAST_ORDER;
    break;
  case PAPER_ORDER: e.ok = e.order >= PAPER_LEAST_ORDER; break;
  case PAPER_AT_MOST: e.ok = e.measured <= row->expected; break;
  case PAPER_SHOWN: e.ok = isfinite(e.measured); break;
  }
  return e;
}
