// `alphastep equilibrium --follow`: a branch of equilibria by arc length, [AN.8] of docs/analyses.md.
#include "follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { MOST_POINTS = 1000 };

/// A branch that is being followed.
typedef struct branch {
  rows table;
  const as_machine *machine;
  as_equilibrium *found;
  as_continuation_kind *kind;
  as_error error; ///< of a row
  as_status status;
} branch;

static int note(const as_continuation_point *point, void *user) {
  branch *b = user;
  const int i = b->table.rows;
  if (i == MOST_POINTS + 2) return 0;
  b->found[i] = point->found;
  b->kind[i] = point->kind;
  b->status = as_channels_follow(b->table.channels, point->state, &b->error);
  if (b->status == AS_OK)
    b->status = rows_read(&b->table, b->machine->model, point->state, point->value, &b->error);
  return b->status != AS_OK;
}

/// The number of the held signal that is followed; -1: the time. Complains.
static cli_exit find_parameter(const linear_request *r, const as_machine *machine, int *signal) {
  const char *name = r->follow;
  *signal = -1;
  if (strcmp(name, "t") == 0) return CLI_DONE;
  if (strncmp(name, "parameters.", 11) == 0) {
    *signal = as_model_find_parameter(machine->model, name + 11).index;
    if (*signal >= 0) return CLI_DONE;
    for (int i = 0; i < machine->n_parameters; i++) {
      if (strcmp(machine->parameters[i].name, name + 11) != 0) continue;
      cli_complain("%s: `%s` is made into numbers when the file is read. What can be followed is a "
                   "parameter that an event sets, or the time: write `t` in its place and follow "
                   "`t=%g:%g`; or use `--sweep`.",
                   r->machine.model, name, r->from, r->to);
      return CLI_USAGE;
    }
  }
  cli_complain("%s: `%s` cannot be followed: it has to be one of `parameters:`, or `t`.",
               r->machine.model, name);
  return CLI_USAGE;
}

/// In words: where it began and ended, limit points and branchings.
static void print_branch(const linear_request *r, const branch *b) {
  const rows *t = &b->table;
  const int last = t->rows - 1;
  printf("%s from %.9g to %.9g in %d points\n", r->follow, rows_get(t, 0)[0], rows_get(t, last)[0],
         t->rows);
  for (int i = 0; i < t->rows; i++) {
    const as_equilibrium *e = &b->found[i];
    if (b->kind[i] == AS_POINT_REGULAR) continue;
    printf("%-19s %s = %.9g", rows_kind_word(b->kind[i]), r->follow, rows_get(t, i)[0]);
    if (e->softest_component[0]) printf(", mostly %s", e->softest_component);
    putchar('\n');
  }
  printf("at the end          %s\n", rows_stability_word(b->found[last].stability));
  for (int c = 0; c < t->n; c++) {
    const as_channel channel = as_channels_get(t->channels, c);
    printf("%-40s %18.9g %s\n", channel.name, rows_get(t, last)[1 + c], channel.unit);
  }
}

static cli_exit follow_machine(const linear_request *r, branch *b) {
  const as_model *model = b->machine->model;
  const as_analysis_def how = as_default_analysis_def();
  as_continuation_def def = as_default_continuation_def();
  as_analysis *analysis = NULL;
  as_error error;
  const cli_exit named = find_parameter(r, b->machine, &def.signal);
  if (named != CLI_DONE) return named;
  def.from = r->from;
  def.to = r->to;
  def.branch = r->branch;
  def.max_points = MOST_POINTS;
  def.receive = note;
  def.user = b;
  as_status status = rows_choose(r, b->machine, &b->table.channels, &error);
  if (status == AS_OK) {
    b->table.n = as_channels_count(b->table.channels);
    b->table.value =
        calloc((size_t)(MOST_POINTS + 2) * (size_t)(b->table.n + 1), sizeof *b->table.value);
    if (b->table.value == NULL) return cli_complain_memory();
    status = as_analysis_create(as_model_problem(model), &how, &analysis, &error);
  }
  if (status == AS_OK)
    status = as_analysis_continue(analysis, as_model_initial(model), &def, NULL, &error);
  if (status == AS_STOPPED) { // by a row
    status = b->status;
    error = b->error;
  }
  cli_exit result = CLI_DONE;
  if (b->table.rows > 0 && (r->format != LINEAR_TEXT || r->output))
    result = rows_write(r, &b->table);
  else if (b->table.rows > 0)
    print_branch(r, b);
  as_analysis_destroy(analysis);
  return status == AS_OK ? result : linear_fail(r, status, &error);
}

cli_exit follow_branch(const linear_request *r) {
  as_machine *machine = NULL;
  branch b = {.table = {.request = r, .first = r->follow, .first_unit = "-"}};
  if (r->sweep) {
    cli_complain("`--follow` and `--sweep` are two ways through a parameter: give one of them.");
    return CLI_USAGE;
  }
  if (r->machine.resume) {
    cli_complain("`--follow` begins at the start of a model file, not in a run's folder.");
    return CLI_USAGE;
  }
  cli_exit result = linear_open(r, NULL, &machine);
  if (result == CLI_DONE) {
    b.machine = machine;
    b.found = calloc(MOST_POINTS + 2, sizeof *b.found);
    b.kind = calloc(MOST_POINTS + 2, sizeof *b.kind);
    b.table.found = b.found;
    b.table.kind = b.kind;
    result = b.found && b.kind ? follow_machine(r, &b) : cli_complain_memory();
  }
  as_channels_destroy(b.table.channels);
  free(b.table.value);
  free(b.found);
  free(b.kind);
  as_machine_destroy(machine);
  return result;
}
