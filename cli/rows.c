// Rows of channels, see rows.h.
#include "rows.h"

#include <math.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "folder.h"
#include "json.h"

double *rows_get(const rows *t, int row) { return t->value + (size_t)row * (size_t)(t->n + 1); }

as_status rows_choose(const linear_request *r, const as_machine *machine, as_channels **out,
                      as_error *error) {
  if (r->n_outputs > 0)
    return as_channels_create(machine->model, r->outputs, r->n_outputs, out, error);
  return as_channels_create_with(machine->model, machine->rules, machine->output.channels,
                                 machine->output.n_channels, out, error);
}

as_status rows_read(rows *t, const as_model *model, const as_state *state, double first,
                    as_error *error) {
  as_view view = {.state = state};
  as_energy energy;
  double *row = rows_get(t, t->rows);
  as_status status = as_model_energy(model, state, &energy, error);
  if (status != AS_OK) return status;
  view.start_energy = energy.kinetic + energy.potential; // nothing has been done
  status = as_channels_evaluate(t->channels, &view, row + 1, error);
  row[0] = first;
  if (status == AS_OK) ++t->rows;
  return status;
}

// ---- written

static void write_title(FILE *out, const char *name, const char *unit) {
  const bool quoted = strpbrk(name, ",\"") != NULL;
  if (quoted) putc('"', out);
  for (; *name != '\0'; name++) {
    if (*name == '"') putc('"', out);
    putc(*name, out);
  }
  fprintf(out, " [%s]", unit);
  if (quoted) putc('"', out);
}

static void write_csv(FILE *out, const void *user) {
  const rows *t = user;
  if (t->first) write_title(out, t->first, t->first_unit);
  if (t->kind) fputs(",point,unstable directions", out);
  for (int c = 0; c < t->n; c++) {
    const as_channel channel = as_channels_get(t->channels, c);
    if (c > 0 || t->first) putc(',', out);
    write_title(out, channel.name, channel.unit);
  }
  putc('\n', out);
  for (int i = 0; i < t->rows; i++) {
    const double *row = rows_get(t, i);
    if (t->first) fprintf(out, "%.17g", row[0]);
    if (t->kind) fprintf(out, ",%s,%d", rows_kind_word(t->kind[i]), t->found[i].n_negative);
    for (int c = 0; c < t->n; c++) fprintf(out, c > 0 || t->first ? ",%.17g" : "%.17g", row[1 + c]);
    putc('\n', out);
  }
}

const char *rows_stability_word(as_stability stability) {
  static const char *const words[] = {"unknown", "stable", "neutral", "unstable"};
  return words[stability];
}

const char *rows_kind_word(as_continuation_kind kind) {
  static const char *const words[] = {"regular", "limit", "branching", "flutter"};
  return words[kind];
}

static void add_found(json_object *o, const as_equilibrium *e) {
  json_add_string(o, "stability", rows_stability_word(e->stability));
  json_add_number(o, "degrees_of_freedom", e->degrees_of_freedom);
  json_add_number(o, "redundant_rows", e->n_redundant);
  json_add_number(o, "negative", e->n_negative);
  json_add_number(o, "neutral", e->n_neutral);
  json_add_number(o, "softest", e->softest);
  json_add_string(o, "softest_component", e->softest_component);
  json_add_number(o, "unbalanced", e->unbalanced);
  json_add_number(o, "moved", e->moved);
  json_add_number(o, "iterations", e->iterations);
  json_key(o, "pushed");
  fputs(e->pushed ? "true" : "false", o->out);
  json_key(o, "jumped");
  fputs(e->jumped ? "true" : "false", o->out);
}

static void write_json(FILE *out, const void *user) {
  const rows *t = user;
  json_object o = json_begin(out, 0);
  json_add_string(&o, "model", t->request->machine.model);
  if (t->first) json_add_string(&o, "first", t->first);
  json_key(&o, "rows");
  putc('[', out);
  for (int i = 0; i < t->rows; i++) {
    const double *row = rows_get(t, i);
    if (i > 0) fputs(", ", out);
    json_object inner = json_begin(out, o.indent);
    if (t->first) json_add_number(&inner, t->first, row[0]);
    if (t->kind) json_add_string(&inner, "point", rows_kind_word(t->kind[i]));
    if (t->found) add_found(&inner, &t->found[i]);
    json_key(&inner, "channels");
    json_object channels = json_begin(out, inner.indent);
    for (int c = 0; c < t->n; c++)
      json_add_number(&channels, as_channels_get(t->channels, c).name, row[1 + c]);
    json_end(&channels);
    json_end(&inner);
  }
  putc(']', out);
  json_end(&o);
  putc('\n', out);
}

static void print_rest(const rows *t) {
  const as_equilibrium *e = &t->found[0];
  printf("equilibrium         %s%s\n", rows_stability_word(e->stability),
         e->pushed ? ", after an unstable one was left" : "");
  printf("degrees of freedom  %d\n", e->degrees_of_freedom);
  if (e->n_redundant > 0) printf("redundant rows      %d\n", e->n_redundant);
  if (isfinite(e->softest))
    printf("softest direction   %.9g 1/s^2, mostly %s\n", e->softest, e->softest_component);
  printf("left unbalanced     %.3g N or N m, after %d iterations\n", e->unbalanced, e->iterations);
  for (int c = 0; c < t->n; c++) {
    const as_channel channel = as_channels_get(t->channels, c);
    printf("%-40s %18.9g %s\n", channel.name, rows_get(t, 0)[1 + c], channel.unit);
  }
}

cli_exit rows_write(const linear_request *r, const rows *t) {
  void (*const write)(FILE *, const void *) = r->format == LINEAR_JSON ? write_json : write_csv;
  if (r->output != NULL) return folder_write(r->output, write, t);
  if (r->format == LINEAR_TEXT && t->found && t->first == NULL)
    print_rest(t);
  else
    write(stdout, t);
  return CLI_DONE;
}
