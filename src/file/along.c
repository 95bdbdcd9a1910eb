/// Formulas of one variable that are known while the file is read, such as the width of a beam against its arc length.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/reader.h"

typedef struct looking {
  asi_reader *r;
  const char *variable;
} looking;

static asi_meaning find(const char *name, asi_named *named, void *user) {
  const looking *at = user;
  if (strcmp(name, at->variable) == 0 && !named->called) {
    named->index = 0;
    return ASI_MEANS_SLOT;
  }
  if (strcmp(name, "t") == 0 || strchr(name, '.')) {
    snprintf(named->sentence, ASI_SENTENCE_LENGTH,
             "%.60s cannot be used here: this is known before anything moves", name);
    return ASI_MEANS_MISTAKE;
  }
  return asi_find_fixed(name, named, at->r);
}

bool asi_along_compile(asi_reader *r, const char *text, const char *variable, asi_along *out) {
  looking at = {r, variable};
  const asi_tables tables = {asi_evaluate_table, r, asi_evaluate_grid};
  const asi_scope scope = {.find = find, .user = &at, .depth = r->depth, .tables = &tables};
  asi_parse_error slip;
  asi_expression *e;
  *out = (asi_along){NULL, NULL};
  if (text == NULL) return true;
  for (int i = 0; i < r->n_formulas && out->at == NULL; ++i)
    if (r->formula[i].text == text) out->at = &r->formula[i];
  const as_status status = asi_expression_compile(text, strlen(text), &scope, &e, &slip);
  if (status == AS_ERR_MEMORY) r->no_memory = true;
  if (status == AS_OK) {
    asi_expression *kept = asi_arena_take(&r->scratch, e->size);
    if (kept) memcpy(kept, e, e->size);
    out->expression = kept;
    free(e);
    return kept != NULL;
  }
  r->broken = true;
  if (status == AS_ERR_ARGUMENT && out->at) asi_report_parse_error(r, out->at, &slip);
  return false;
}

bool asi_along_slope(asi_reader *r, const asi_along *a, double x, double out[2]) {
  const double path[1][3] = {{x, 1.0, 0.0}};
  const asi_tables tables = {asi_evaluate_table, r, asi_evaluate_grid};
  double values[3] = {0.0, 0.0, 0.0};
  as_status status = AS_OK;
  if (a->expression) status = asi_expression_along(a->expression, path, &tables, values);
  out[0] = values[0];
  out[1] = values[1];
  if (status == AS_OK && isfinite(values[0]) && isfinite(values[1])) return true;
  r->broken = true;
  if (a->at)
    asi_complain(r, a->at->value, "\"%.60s\" or its slope is no finite number at %.6g", a->at->text,
                 x);
  return false;
}

bool asi_along_value(asi_reader *r, const asi_along *a, double x, double *out) {
  const asi_tables tables = {asi_evaluate_table, r, asi_evaluate_grid};
  as_status status = AS_OK;
  *out = 0.0;
  if (a->expression) status = asi_expression_value(a->expression, &x, &tables, out);
  if (status == AS_OK && isfinite(*out)) return true;
  r->broken = true;
  if (a->at) asi_complain(r, a->at->value, "\"%.60s\" is no finite number at %.6g", a->at->text, x);
  return false;
}
