/// Formulas in the place of curves and surfaces, and the tables that formulas use.
///
/// A motion or a factor is a function of t; so that its velocity and its acceleration are known it may use tables and
/// numbers besides, and blocks that are such functions (time_blocks.c), nothing else. A law is a function of the quantities of its own, of t, of parameters and tables.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/surface.h"
#include "expression/operation.h"
#include "model/scope.h"

enum { MOST_TABLES = 10000 };
_Static_assert(ASI_FORMULA_SLOTS == 64, "a sentence below says so");

static bool has_kinks(const asi_curve *tables, const asi_expression *e) {
  const asi_instruction *code = asi_expression_code(e);
  for (int n = 0; n < e->n_code; ++n) {
    if (code[n].op != ASI_OP_TABLE) continue;
    const asi_curve *table = &tables[code[n].b];
    if (table->n > 0 && table->given.interpolation == AS_LINEAR) return true;
  }
  return false;
}

static bool has_surfaces(const asi_expression *e) {
  const asi_instruction *code = asi_expression_code(e);
  for (int n = 0; n < e->n_code; ++n)
    if (code[n].op == ASI_OP_SURFACE) return true;
  return false;
}

const char *asi_rough_formula(const asi_expression *e, const asi_curve *tables) {
  if (has_kinks(tables, e)) return "it uses a table with straight pieces: its velocity would jump";
  if (has_surfaces(e)) return "it uses a table of two variables: its acceleration would jump";
  return NULL;
}

/// A mistake of the formula as a whole.
static as_status refuse(as_builder *b, const char *text, const char *what, const char *sentence,
                        as_error *error) {
  b->slip = (asi_parse_error){.line = 1, .column = 1};
  snprintf(b->slip.sentence, sizeof b->slip.sentence, "%s", sentence);
  b->slip_text = text;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s: %s.", what, sentence);
}

as_status asi_builder_formula(as_builder *b, const char *text, const char *what,
                              const char *const *own, bool smooth, asi_formula **out,
                              as_error *error) {
  const asi_wish wish = {.what = what,
                         .own = own,
                         .time = true,
                         .parameters = own != NULL,
                         .signals = b->law_reads_blocks || own == NULL,
                         .reason = own ? "a law depends on quantities of its own, t and parameters"
                                       : "it must be a function of t alone, whose "
                                         "derivatives are known"};
  const char *rough = NULL;
  asi_expression *e = NULL;
  as_status status = asi_builder_compile(b, text, &wish, &e, error);
  if (status) return status;
  if (e->n_slots > ASI_FORMULA_SLOTS)
    status = refuse(b, text, what, "it depends on more than 64 quantities", error);
  else if (smooth && (rough = asi_rough_formula(e, b->table)) != NULL)
    status = refuse(b, text, what, rough, error);
  else if ((*out = asi_formula_make(e, text, own == NULL, what, b->table)) == NULL)
    status = asi_fail_memory(error);
  else
    (*out)->smooth = smooth;
  free(e);
  return status;
}

// ---- tables -----------------------------------------------------------------------------------------

void asi_curves_set_tables(asi_curve *curve, int n, const asi_curve *tables) {
  for (int i = 0; i < n; ++i)
    if (curve[i].formula) curve[i].formula->tables = tables;
}

static as_status check_table(const as_builder *b, const char *name, bool is_formula,
                             as_error *error) {
  if (name == NULL || !asi_is_parameter_name(name) || strcmp(name, "t") == 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "\"%.60s\" cannot name a table: letters, digits and _, no digit first, neither "
                    "t nor pi nor a function.",
                    name ? name : "");
  if (is_formula)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The table \"%s\" is a formula; it must be made of points.", name);
  if (b->n_tables >= MOST_TABLES)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The table \"%s\" is one more than the %d that there may be.", name,
                    MOST_TABLES);
  return AS_OK;
}

static as_status add_table(as_builder *b, const char *name, const as_curve *curve,
                           const as_surface *surface, as_error *error) {
  char what[96];
  void *array = b->table;
  if (!asi_grow(&array, b->n_tables, &b->room_tables, sizeof *b->table))
    return asi_fail_memory(error);
  b->table = array;
  asi_curves_set_tables(b->curve, b->n_curves, b->table);
  asi_curve *table = &b->table[b->n_tables];
  snprintf(what, sizeof what, "The table \"%.60s\"", name);
  *table = (asi_curve){.surface = NULL};
  as_status status = curve ? asi_curve_init(table, curve, what, error)
                           : asi_surface_make(surface, what, &table->surface, error);
  if (status == AS_OK)
    status = asi_names_add(&b->names[ASI_SORT_TABLE], ASI_SORT_TABLE, name, error);
  if (status)
    asi_curve_free(table);
  else
    ++b->n_tables;
  return status;
}

as_status as_builder_add_table(as_builder *b, const char *name, const as_curve *def,
                               as_error *error) {
  as_status status = check_table(b, name, def->formula != NULL, error);
  return status ? status : add_table(b, name, def, NULL, error);
}

as_status as_builder_add_surface(as_builder *b, const char *name, const as_surface *def,
                                 as_error *error) {
  as_status status = check_table(b, name, def->formula || def->function, error);
  return status ? status : add_table(b, name, NULL, def, error);
}
