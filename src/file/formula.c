/// Formulas in files: texts that the builder compiles. What it does not know, the file does: parameters that do not
/// change and indices of `repeat` are constants.
///
/// A parameter that an event sets (asi_definition.set_by) is live: it is one of the model, and formulas read its present
/// value.
#include <string.h>

#include "file/reader.h"
#include "model/scope.h"

static asi_meaning find_constant(const char *name, asi_named *named, void *user) {
  asi_reader *r = user;
  if (named
          ->called) // a table that is there the builder has; of one that is not, that has been said
    return asi_find_table(r, name, named) == ASI_MEANS_MISTAKE ? ASI_MEANS_MISTAKE
                                                               : ASI_MEANS_NOTHING;
  const int parameter = asi_names_find(&r->parameter_names, name);
  if (parameter >= 0 && r->parameters[parameter].set_by) {
    r->parameters[parameter].used = true;
    return ASI_MEANS_NOTHING; // the builder has it
  }
  return asi_find_number(r, name, named);
}

static const char *candidate(int i, void *user) {
  const asi_reader *r = user;
  for (const asi_index *k = r->index; k; k = k->outer)
    if (i-- == 0) return k->name;
  return i < r->n_parameters ? asi_names_get(&r->parameter_names, i) : NULL;
}

as_status asi_begin_formulas(asi_reader *r, as_error *error) {
  r->constants = (asi_scope){.find = find_constant, .candidate = candidate, .user = r};
  r->builder->outer = &r->constants;
  for (int i = 0; i < r->n_parameters; ++i) {
    const asi_definition *p = &r->parameters[i];
    if (p->set_by == NULL || p->progress != ASI_READY) continue;
    const as_status status = as_builder_add_parameter(
        r->builder, asi_names_get(&r->parameter_names, i), p->number, NULL, error);
    if (status) return status;
  }
  return asi_give_tables(r, error);
}

bool asi_read_formula(asi_reader *r, const asi_value *v, const char **out) {
  if (v->type != ASI_NUMBER && v->type != ASI_TEXT) {
    asi_complain(r, v, "must be a number or a formula, not %s",
                 v->text && v->type != ASI_NULL ? v->text : asi_value_what(v));
    return false;
  }
  *out = asi_read_key(r, v);
  if (*out == NULL) return false;
  if (r->n_formulas < ASI_MOST_FORMULAS)
    r->formula[r->n_formulas++] = (asi_formula_value){v, *out, 0};
  return true;
}

const char *asi_negative_formula(asi_reader *r, const char *text) {
  const size_t n = strlen(text);
  char *out = asi_arena_take(&r->scratch, n + 4);
  if (out == NULL) return NULL;
  memcpy(out, "-(", 2);
  memcpy(out + 2, text, n);
  memcpy(out + 2 + n, ")", 2);
  for (int i = 0; i < r->n_formulas; ++i)
    if (r->formula[i].text == text) {
      r->formula[i].text = out;
      r->formula[i].before += 2;
    }
  return out;
}

/// A byte of a formula in the text as it is written, where ${...} may stand for numbers: exact before the first of these
/// and behind the last; between them that of the first.
static size_t byte_as_written(const asi_formula_value *f, size_t byte) {
  const char *written = f->value->text;
  const char *first = strstr(written, "${"), *last = strrchr(written, '}');
  if (first == NULL || last == NULL || byte < (size_t)(first - written)) return byte;
  const size_t behind = strlen(f->text + f->before) - byte;
  return behind < strlen(last) ? strlen(written) - behind : (size_t)(first - written);
}

void asi_report_parse_error(asi_reader *r, const asi_formula_value *f,
                            const asi_parse_error *slip) {
  const size_t at = slip->at > f->before ? slip->at - f->before : 0;
  if (slip->sentence[0]) asi_complain_at(r, f->value, byte_as_written(f, at), "%s", slip->sentence);
}

bool asi_complain_formula(asi_reader *r) {
  const as_builder *b = r->builder;
  for (int i = 0; i < r->n_formulas && b->slip_text; ++i) {
    const asi_formula_value *f = &r->formula[i];
    if (f->text != b->slip_text) continue;
    r->broken = true; // also if it has been said before
    asi_report_parse_error(r, f, &b->slip);
    return true;
  }
  return false;
}
