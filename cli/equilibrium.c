// `alphastep equilibrium` and `alphastep inverse`: the analyses of docs/analyses.md on a machine from a file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "rows.h"

static bool refuses_format(const linear_request *r) {
  if (r->format != LINEAR_MAT && r->format != LINEAR_NPZ) return false;
  cli_complain("`%s` writes text, JSON and CSV.", r->command);
  return true;
}

// ---- equilibrium

/// One equilibrium as a row. The place stays: channels need its model for their names.
static cli_exit find_rest(const linear_request *r, rows *t, int i, linear_branch *branch,
                          linear_place *place) {
  as_error error;
  const cli_exit result =
      r->sweep ? linear_branch_find(r, branch, r->value[i], place) : linear_find(r, NULL, place);
  if (result != CLI_DONE) return result;
  as_status status = rows_choose(r, place->machine, &t->channels, &error);
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
  status = rows_read(t, place->machine->model, &rest, r->sweep ? r->value[i] : 0.0, &error);
  return status == AS_OK ? CLI_DONE : linear_fail(r, status, &error);
}

static cli_exit find_rests(const linear_request *r, rows *t, as_equilibrium *found) {
  const int n = r->sweep ? r->n_values : 1;
  cli_exit result = CLI_DONE;
  linear_branch branch = {0};
  t->found = found;
  for (int i = 0; i < n && result == CLI_DONE; i++) {
    linear_place place = {0};
    result = find_rest(r, t, i, &branch, &place);
    found[i] = place.found;
    if (result == CLI_DONE && i + 1 == n) result = rows_write(r, t);
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
      "                             [--follow PATH=FROM:TO [--branch 1|2]]\n"
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
      "--follow PATH=FROM:TO  follows the branch through limit points, until the parameter (or t, "
      "the\n"
      "                  time that load factors depend on) is TO; tells limit and buckling loads\n"
      "--branch 1, 2     at the first branching takes the buckled shape, to one side or the other\n"
      "--json, --csv     instead of text\n"
      "-o FILE           a table (or JSON, with --json) to a file\n"
      "--set PATH=VALUE  replaces a value of the file\n" MACHINE_PLUGIN_HELP
      "--help            this text\n"
      "\n"
      "Exit status: 0 found, stable or not; 2 bad usage or input; 3 there is none; 4 a file could\n"
      "not be read or written.\n",
      stdout);
}

cli_exit equilibrium_command(int argc, char **argv) {
  linear_request *r = calloc(1, sizeof *r);
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "equilibrium", "isf", r);
  if (status == CLI_DONE && r->machine.help) {
    print_equilibrium_help();
  } else if (status == CLI_DONE && (!isnan(r->at) || refuses_format(r))) {
    if (!isnan(r->at)) cli_complain("`equilibrium` is one of t = 0: it takes no `--at`.");
    status = CLI_USAGE;
  } else if (status == CLI_DONE && r->follow) {
    status = follow_branch(r);
  } else if (status == CLI_DONE) {
    r->equilibrium = true;
    rows t = {.request = r, .first = r->sweep, .first_unit = "-"};
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

static cli_exit follow(const linear_request *r, const as_machine *machine, rows *t) {
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  as_error error;
  as_status status = rows_choose(r, machine, &t->channels, &error);
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
      status = rows_read(t, machine->model, as_analysis_state(analysis), time, &error);
  }
  const cli_exit result = status == AS_OK ? rows_write(r, t) : linear_fail(r, status, &error);
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
      "--set PATH=VALUE  replaces a value of the file\n" MACHINE_PLUGIN_HELP
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
  rows t = {.request = r, .first = "time", .first_unit = "s"};
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "inverse", "ir", r);
  if (status == CLI_DONE && r->machine.help) {
    print_inverse_help();
  } else if (status == CLI_DONE && (!isnan(r->at) || r->equilibrium || refuses_format(r))) {
    if (!isnan(r->at) || r->equilibrium)
      cli_complain("`inverse` goes through times: `--range`, not `--at` or `--equilibrium`.");
    status = CLI_USAGE;
  } else if (status == CLI_DONE) {
    status = linear_open(r, NULL, &machine);
    if (status == CLI_DONE) status = complete_times(r, machine);
    if (status == CLI_DONE) status = follow(r, machine, &t);
    as_machine_destroy(machine);
    free(t.value);
  }
  linear_arguments_free(r);
  free(r);
  return status;
}
