/// What came of a study: the table, results over all runs, and the study itself as a file.
#define _XOPEN_SOURCE 700 // realpath
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/json.h"
#include "study/study.h"

// ---- the table --------------------------------------------------------------------------------------

static void put_number(FILE *out, double x) {
  char text[ASI_DECIMAL + 1];
  text[asi_decimal(text, x)] = '\0';
  fputs(text, out);
}

/// In quotes if it has commas, quotes or ends of lines.
static void put_text(FILE *out, const char *text) {
  const bool quoted = strpbrk(text, ",\"\n\r") != NULL;
  if (quoted) putc('"', out);
  for (const char *c = text; *c; ++c) {
    if (*c == '"') putc('"', out);
    putc(*c, out);
  }
  if (quoted) putc('"', out);
}

static void put_title(FILE *out, const char *name, const char *unit) {
  const bool quoted = strpbrk(name, ",\"") != NULL;
  putc(',', out);
  if (quoted) putc('"', out);
  for (const char *c = name; *c; ++c) {
    if (*c == '"') putc('"', out);
    putc(*c, out);
  }
  fprintf(out, " [%s]%s", unit, quoted ? "\"" : "");
}

static void put_run(FILE *out, const as_study *s, long run) {
  const as_study_run r = as_study_run_get(s, run);
  fprintf(out, "%ld", run + 1);
  for (int i = 0; i < s->def.n_parameters; ++i) {
    putc(',', out);
    char text[ASI_STUDY_VALUE];
    const as_study_parameter *p = &s->def.parameters[i];
    if (p->spread == AS_STUDY_LIST) {
      put_text(out, p->list[run / s->stride[i] % s->count[i]]);
    } else {
      (void)as_study_setting(s, run, i, text, sizeof text);
      fputs(text, out);
    }
  }
  for (int i = 0; i < s->def.n_results; ++i) {
    putc(',', out);
    put_number(out, r.value[i]);
  }
  fprintf(out, ",%s,", as_study_outcome_name(r.outcome));
  put_number(out, r.t);
  putc(',', out);
  put_text(out, r.message);
  putc('\n', out);
}

void as_study_write_table(FILE *out, const as_study *s) {
  fputs("run", out);
  for (int i = 0; i < s->def.n_parameters; ++i) {
    putc(',', out);
    put_text(out, s->def.parameters[i].path);
  }
  for (int i = 0; i < s->def.n_results; ++i) put_title(out, s->def.results[i].name, s->unit[i]);
  fputs(",status,t [s],message\n", out);
  for (long i = 0; i < s->runs; ++i)
    if (s->record[i].outcome != AS_STUDY_WAITING) put_run(out, s, i);
}

// ---- over all runs ----------------------------------------------------------------------------------

as_study_summary as_study_summarize(const as_study *s, int result) {
  const double nothing = (double)NAN;
  as_study_summary out = {.least = nothing,
                          .largest = nothing,
                          .mean = nothing,
                          .deviation = nothing,
                          .least_run = -1,
                          .largest_run = -1};
  double mean = 0.0, squares = 0.0; // Welford's, which loses no digits
  for (long i = 0; i < s->runs; ++i) {
    const double x = s->value[i * s->def.n_results + result];
    if (isnan(x)) continue;
    const double before = x - mean;
    ++out.runs;
    mean += before / (double)out.runs;
    squares += before * (x - mean);
    if (!(x >= out.least)) out.least = x, out.least_run = i;
    if (!(x <= out.largest)) out.largest = x, out.largest_run = i;
  }
  if (out.runs > 0) out.mean = mean;
  if (out.runs > 1) out.deviation = sqrt(squares / (double)(out.runs - 1));
  return out;
}

// ---- the study --------------------------------------------------------------------------------------

static void put_member(FILE *out, const char *key, double x, const char *behind) {
  fprintf(out, "\"%s\": ", key);
  put_number(out, x);
  fputs(behind, out);
}

/// A value as it was given: a number, or a text of YAML.
static void put_value(FILE *out, const char *text, double number) {
  char decimal[ASI_DECIMAL + 1];
  decimal[asi_decimal(decimal, number)] = '\0';
  if (isfinite(number) && strcmp(decimal, text) == 0)
    fputs(text, out);
  else
    asi_json_text(out, text);
}

static void put_parameter(FILE *out, const as_study *s, int i) {
  const as_study_parameter *p = &s->def.parameters[i];
  asi_json_text(out, p->path);
  fputs(p->spread == AS_STUDY_LIST ? ": [" : ": {", out);
  switch (p->spread) {
  case AS_STUDY_LIST:
    for (int k = 0; k < p->count; ++k) {
      if (k > 0) fputs(", ", out);
      put_value(out, p->list[k], s->number[i][k]);
    }
    break;
  case AS_STUDY_COUNT:
    put_member(out, "from", p->from, ", ");
    put_member(out, "to", p->to, ", ");
    fprintf(out, "\"count\": %d%s", p->count, p->logarithmic ? ", \"scale\": \"log\"" : "");
    break;
  case AS_STUDY_STEP:
    put_member(out, "from", p->from, ", ");
    put_member(out, "to", p->to, ", ");
    put_member(out, "step", p->step, "");
    break;
  case AS_STUDY_UNIFORM:
  case AS_STUDY_NORMAL: {
    const bool normal = p->spread == AS_STUDY_NORMAL;
    fprintf(out, "\"%s\": [", normal ? "normal" : "uniform");
    put_number(out, normal ? p->mean : p->from);
    fputs(", ", out);
    put_number(out, normal ? p->deviation : p->to);
    putc(']', out);
  } break;
  }
  putc(p->spread == AS_STUDY_LIST ? ']' : '}', out);
}

static void put_result(FILE *out, const as_study_result *r) {
  asi_json_text(out, r->name);
  fprintf(out, ": {\"%s\": ", as_study_measure_name(r->measure));
  asi_json_text(out, r->channel);
  if (!isnan(r->from)) {
    fputs(", ", out);
    put_member(out, "from", r->from, "");
  }
  if (!isnan(r->to)) {
    fputs(", ", out);
    put_member(out, "to", r->to, "");
  }
  putc('}', out);
}

void as_study_write_definition(FILE *out, const as_study *s) {
  char *path = realpath(s->def.model, NULL);
  fputs("{\n  \"alphastep-study\": 1,\n", out);
  if (s->def.title) {
    fputs("  \"title\": ", out);
    asi_json_text(out, s->def.title);
    fputs(",\n", out);
  }
  fputs("  \"model\": ", out);
  asi_json_text(out, path ? path : s->def.model);
  free(path);
  fputs(",\n  \"set\": [", out);
  for (int i = 0; i < s->def.n_settings; ++i) {
    if (i > 0) fputs(", ", out);
    asi_json_text(out, s->def.settings[i]);
  }
  fputs("],\n  \"parameters\": {", out);
  for (int i = 0; i < s->def.n_parameters; ++i) {
    fputs(i > 0 ? ",\n    " : "\n    ", out);
    put_parameter(out, s, i);
  }
  fputs("\n  },\n", out);
  if (s->def.draws > 0)
    fprintf(out, "  \"random\": {\"runs\": %d, \"seed\": %llu},\n", s->def.draws, s->def.seed);
  if (!isnan(s->def.interval)) {
    fputs("  ", out);
    put_member(out, "interval", s->def.interval, ",\n");
  }
  fputs("  \"results\": {", out);
  for (int i = 0; i < s->def.n_results; ++i) {
    fputs(i > 0 ? ",\n    " : "\n    ", out);
    put_result(out, &s->def.results[i]);
  }
  fputs("\n  }\n}\n", out);
}
