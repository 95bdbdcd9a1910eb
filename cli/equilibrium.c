// `alphastep equilibrium` and `alphastep inverse`: the analyses of docs/analyses.md on a machine from a file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "folder.h"
#include "json.h"
#include "linear.h"

/// Rows of channels.
typedef struct table {
  const linear_request *request;
  const char *first; ///< what the first column is; NULL: there is none
  const char *first_unit;
  as_channels *channels;
  int n;
  int rows;
  double *value; ///< rows x (1 + n)
  const as_equilibrium *found;
} table;

static double *row_of(const table *t, int row) {
  return t->value + (size_t)row * (size_t)(t->n + 1);
}

/// The channels asked for: on the command line, in the file, or the default set.
static as_status choose(const linear_request *r, const as_machine *machine, as_channels **out,
                        as_error *error) {
  if (r->n_outputs > 0)
    return as_channels_create(machine->model, r->outputs, r->n_outputs, out, error);
  return as_channels_create_with(machine->model, machine->rules, machine->output.channels,
                                 machine->output.n_channels, out, error);
}

static as_status read_row(table *t, const as_model *model, const as_state *state, double first,
                          as_error *error) {
  as_view view = {.state = state};
  as_energy energy;
  double *row = row_of(t, t->rows);
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
  const table *t = user;
  if (t->first) write_title(out, t->first, t->first_unit);
  for (int c = 0; c < t->n; c++) {
    const as_channel channel = as_channels_get(t->channels, c);
    if (c > 0 || t->first) putc(',', out);
    write_title(out, channel.name, channel.unit);
  }
  putc('\n', out);
  for (int i = 0; i < t->rows; i++) {
    const double *row = row_of(t, i);
    if (t->first) fprintf(out, "%.17g", row[0]);
    for (int c = 0; c < t->n; c++) fprintf(out, c > 0 || t->first ? ",%.17g" : "%.17g", row[1 + c]);
    putc('\n', out);
  }
}

static const char *const stability_words[] = {"unknown", "stable", "neutral", "unstable"};

static void add_found(json_object *o, const as_equilibrium *e) {
  json_add_string(o, "stability", stability_words[e->stability]);
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
  const table *t = user;
  json_object o = json_begin(out, 0);
  json_add_string(&o, "model", t->request->machine.model);
  if (t->first) json_add_string(&o, "first", t->first);
  json_key(&o, "rows");
  putc('[', out);
  for (int i = 0; i < t->rows; i++) {
    const double *row = row_of(t, i);
    if (i > 0) fputs(", ", out);
    json_object inner = json_begin(out, o.indent);
    if (t->first) json_add_number(&inner, t->first, row[0]);
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

static void print_rest(const table *t) {
  const as_equilibrium *e = &t->found[0];
  printf("equilibrium         %s%s\n", stability_words[e->stability],
         e->pushed ? ", after an unstable one was left" : "");
  printf("degrees of freedom  %d\n", e->degrees_of_freedom);
  if (e->n_redundant > 0) printf("redundant rows      %d\n", e->n_redundant);
  if (isfinite(e->softest))
    printf("softest direction   %.9g 1/s^2, mostly %s\n", e->softest, e->softest_component);
  printf("left unbalanced     %.3g N or N m, after %d iterations\n", e->unbalanced, e->iterations);
  for (int c = 0; c < t->n; c++) {
    const as_channel channel = as_channels_get(t->channels, c);
    printf("%-40s %18.9g %s\n", channel.name, row_of(t, 0)[1 + c], channel.unit);
  }
}

static cli_exit write_table(const linear_request *r, const table *t) {
  void (*const write)(FILE *, const void *) = r->format == LINEAR_JSON ? write_json : write_csv;
  if (r->output != NULL) return folder_write(r->output, write, t);
  if (r->format == LINEAR_TEXT && t->found && t->first == NULL)
    print_rest(t);
  else
    write(stdout, t);
  return CLI_DONE;
}

static bool refuses_format(const linear_request *r) {
  if (r->format != LINEAR_MAT && r->format != LINEAR_NPZ) return false;
  cli_complain("`%s` writes text, JSON and CSV.", r->command);
  return true;
}

// ---- equilibrium

/// One equilibrium as a row. The place stays: channels need its model for their names.
static cli_exit find_rest(const linear_request *r, table *t, int i, linear_branch *branch,
                          linear_place *place) {
  as_error error;
  const cli_exit result =
      r->sweep ? linear_branch_find(r, branch, r->value[i], place) : linear_find(r, NULL, place);
  if (result != CLI_DONE) return result;
  as_status status = choose(r, place->machine, &t->channels, &error);
  if (status != AS_OK) return linear_fail(r, status, &error);
  const int n = as_channels_count(t->channels);
  if (t->value == NULL) {
    t->n = n;
    t->value = calloc((size_t)(r->n_values + 1) * (size_t)(n + 1), sizeof *t->value);
    if (t->value == NULL) return cli_complain_memory();
  }
  if (n != t->n) {
    cli_complain("%s: The channels change with `%s`: choose some by --outputs.", r->machine.model,
                 r->sweep);
    return CLI_USAGE;
  }
  const as_initial *at = &place->initial;
  const as_state rest = {.t = at->t,
                         .q = at->q,
                         .v = at->v,
                         .vdot = place->zero,
                         .lambda = at->lambda,
                         .psi = at->psi,
                         .x = at->x,
                         .xdot = place->zero,
                         .y = at->y,
                         .u = at->u};
  status = read_row(t, place->machine->model, &rest, r->sweep ? r->value[i] : 0.0, &error);
  return status == AS_OK ? CLI_DONE : linear_fail(r, status, &error);
}

static cli_exit find_rests(const linear_request *r, table *t, as_equilibrium *found) {
  const int n = r->sweep ? r->n_values : 1;
  cli_exit result = CLI_DONE;
  linear_branch branch = {0};
  t->found = found;
  for (int i = 0; i < n && result == CLI_DONE; i++) {
    linear_place place = {0};
    result = find_rest(r, t, i, &branch, &place);
    found[i] = place.found;
    if (result == CLI_DONE && i + 1 == n) result = write_table(r, t);
    as_channels_destroy(t->channels);
    t->channels = NULL;
    linear_place_free(&place);
  }
  linear_branch_free(&branch);
  return result;
}

static void print_equilibrium_help(void) {
  fputs(
      "Usage: alphastep equilibrium MODEL|DIR [--outputs CHANNELS] [--sweep PATH=FROM:TO:STEP]\n"
      "                             [--set PATH=VALUE]... [--json | --csv] [-o FILE]\n"
      "\n"
      "Finds where the machine comes to rest from its start, and whether it stays there: see\n"
      "docs/analyses.md. Prescribed motions stand still where they are at t = 0.\n"
      "\n"
      "--outputs CHANNELS  what is told of it, with commas between; default: `output:` of the "
      "file\n"
      "--sweep PATH=FROM:TO:STEP  a row for each value: the first from the file's start, the "
      "others\n"
      "                  followed, stable or not\n"
      "--json, --csv     instead of text\n"
      "-o FILE           a table (or JSON, with --json) to a file\n"
      "--set PATH=VALUE  replaces a value of the file\n"
      "--allow-plugins   lets the file use plugins, code in shared libraries (docs/plugins.md)\n"
      "--plugins-from DIR  the same, of those in this folder and below\n"
      "--help            this text\n"
      "\n"
      "Exit status: 0 found, stable or not; 2 bad usage or input; 3 there is none; 4 a file could\n"
      "not be read or written.\n",
      stdout);
}

cli_exit equilibrium_command(int argc, char **argv) {
  linear_request *r = calloc(1, sizeof *r);
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "equilibrium", "is", r);
  if (status == CLI_DONE && r->machine.help) {
    print_equilibrium_help();
  } else if (status == CLI_DONE && (!isnan(r->at) || refuses_format(r))) {
    if (!isnan(r->at)) cli_complain("`equilibrium` is one of t = 0: it takes no `--at`.");
    status = CLI_USAGE;
  } else if (status == CLI_DONE) {
    r->equilibrium = true;
    table t = {.request = r, .first = r->sweep, .first_unit = "-"};
    as_equilibrium *found = calloc((size_t)r->n_values + 1, sizeof *found);
    status = found ? find_rests(r, &t, found) : cli_complain_memory();
    free(found);
    free(t.value);
  }
  linear_arguments_free(r);
  free(r);
  return status;
}

// ---- inverse

static cli_exit follow(const linear_request *r, const as_machine *machine, table *t) {
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  as_error error;
  as_status status = choose(r, machine, &t->channels, &error);
  if (status == AS_OK) {
    t->n = as_channels_count(t->channels);
    t->value = calloc((size_t)r->points * (size_t)(t->n + 1) + 1, sizeof *t->value);
    if (t->value == NULL) return cli_complain_memory();
    status = as_analysis_create(as_model_problem(machine->model), &def, &analysis, &error);
  }
  if (status == AS_OK)
    status = as_analysis_begin_motion(analysis, as_model_initial(machine->model), NULL, &error);
  for (int i = 0; i < r->points && status == AS_OK; i++) {
    const double time =
        i + 1 < r->points ? r->from + (r->to - r->from) * i / (r->points - 1) : r->to;
    if (time != as_analysis_state(analysis)->t)
      status = as_analysis_follow_motion(analysis, time, NULL, &error);
    if (status == AS_OK)
      status = as_channels_follow(t->channels, as_analysis_state(analysis), &error);
    if (status == AS_OK)
      status = read_row(t, machine->model, as_analysis_state(analysis), time, &error);
  }
  const cli_exit result = status == AS_OK ? write_table(r, t) : linear_fail(r, status, &error);
  as_channels_destroy(t->channels);
  as_analysis_destroy(analysis);
  return result;
}

/// Times that are not given: those of the file.
static cli_exit complete_times(linear_request *r, const as_machine *machine) {
  const double t_end = machine->simulation.t_end, interval = machine->output.interval;
  if (isnan(r->to)) {
    r->from = 0.0;
    r->to = t_end;
    if (r->points == 0 && interval > 0.0 && t_end / interval < 1e6)
      r->points = (int)floor(t_end / interval + 1e-9) + 1;
  }
  if (r->points == 0) r->points = 501;
  if (r->to > r->from) return CLI_DONE;
  cli_complain("%s: The file has no `simulate:`; say which times, as in `--range 0:2`.",
               r->machine.model);
  return CLI_USAGE;
}

static void print_inverse_help(void) {
  fputs(
      "Usage: alphastep inverse MODEL [--outputs CHANNELS] [--range FROM:TO] [--points N]\n"
      "                         [--set PATH=VALUE]... [--json] [-o FILE]\n"
      "\n"
      "Kinematics and inverse dynamics of a machine whose freedom is all prescribed by motions: a\n"
      "table of positions, velocities, accelerations, driving forces (joints.NAME.drive) and\n"
      "reactions over time, without integration; see docs/analyses.md.\n"
      "\n"
      "--outputs CHANNELS  with commas between; default: `output:` of the file\n"
      "--range FROM:TO   times [s]; default: 0 to the file's t_end\n"
      "--points N        rows; default: the file's output interval, or 501\n"
      "--json            instead of CSV\n"
      "-o FILE           where to; default: standard output\n"
      "--set PATH=VALUE  replaces a value of the file\n"
      "--allow-plugins   lets the file use plugins, code in shared libraries (docs/plugins.md)\n"
      "--plugins-from DIR  the same, of those in this folder and below\n"
      "--help            this text\n"
      "\n"
      "Exit status: 0 done; 2 bad usage or input; 3 there is freedom left, or the motion cannot "
      "go\n"
      "on; 4 a file could not be read or written.\n",
      stdout);
}

cli_exit inverse_command(int argc, char **argv) {
  linear_request *r = calloc(1, sizeof *r);
  as_machine *machine = NULL;
  table t = {.request = r, .first = "time", .first_unit = "s"};
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "inverse", "ir", r);
  if (status == CLI_DONE && r->machine.help) {
    print_inverse_help();
  } else if (status == CLI_DONE && (!isnan(r->at) || r->equilibrium || refuses_format(r))) {
    if (!isnan(r->at) || r->equilibrium)
      cli_complain("`inverse` goes through times: `--range`, not `--at` or `--equilibrium`.");
    status = CLI_USAGE;
  } else if (status == CLI_DONE) {
    status = machine_open(&r->machine, &machine);
    if (status == CLI_DONE) status = complete_times(r, machine);
    if (status == CLI_DONE) status = follow(r, machine, &t);
    as_machine_destroy(machine);
    free(t.value);
  }
  linear_arguments_free(r);
  free(r);
  return status;
}
