// The state that the commands about linear systems look at: of a file, of a run's folder, at rest, at a moment, along a branch.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "linear.h"
#include "resume.h"

/// Copies numbers to `to`; returns where the next ones go.
static double *keep(double *to, const double *from, int n, const double **place) {
  *place = from ? to : NULL;
  if (from) memcpy(to, from, (size_t)n * sizeof *to);
  return to + n;
}

/// Keeps a state as a start.
static bool keep_state(linear_place *place, const as_state *s, const bool *active) {
  const as_problem *p = as_model_problem(place->machine->model);
  const as_sizes n = as_problem_sizes(p);
  free(place->kept);
  free(place->active);
  place->kept =
      calloc((size_t)(n.q + n.v + n.x + n.lambda + n.psi + n.y + n.u) + 1, sizeof *place->kept);
  place->active = calloc((size_t)(n.lambda + n.psi) + 1, sizeof *place->active);
  if (place->kept == NULL || place->active == NULL) return false;
  as_initial *i = &place->initial;
  *i = (as_initial){.t = s->t};
  double *to = keep(place->kept, s->q, n.q, &i->q);
  to = keep(to, s->v, n.v, &i->v);
  to = keep(to, s->x, n.x, &i->x);
  to = keep(to, s->lambda, n.lambda, &i->lambda);
  to = keep(to, s->psi, n.psi, &i->psi);
  to = keep(to, s->y, n.y, &i->y);
  keep(to, s->u, n.u, &i->u);
  for (int k = 0; k < n.lambda + n.psi; k++) place->active[k] = active == NULL || active[k];
  i->active = place->active;
  return true;
}

/// Keeps an equilibrium.
static bool keep_rest(linear_place *place, const as_analysis *analysis, const bool *active) {
  const as_sizes n = as_problem_sizes(as_model_problem(place->machine->model));
  place->is_rest = true;
  place->zero = calloc((size_t)(n.v + n.x) + 1, sizeof *place->zero);
  return place->zero != NULL && keep_state(place, as_analysis_state(analysis), active);
}

/// Where it comes to rest from a start.
static cli_exit find_rest(const linear_request *r, const as_initial *from, linear_place *place) {
  const as_model *model = place->machine->model;
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  as_error error;
  as_status status = as_analysis_create(as_model_problem(model), &def, &analysis, &error);
  if (status == AS_OK) status = as_analysis_equilibrium(analysis, from, &place->found, &error);
  cli_exit result = CLI_DONE;
  if (status != AS_OK) {
    result = linear_fail(r, status, &error);
  } else if (!keep_rest(place, analysis, from->active)) {
    result = cli_complain_memory();
  }
  as_analysis_destroy(analysis);
  return result;
}

static as_status no_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)user, (void)error;
  return AS_OK;
}

static cli_exit keep_integrator(linear_place *place, const as_integrator *integrator) {
  const as_sizes n = as_problem_sizes(as_model_problem(place->machine->model));
  bool *active = calloc((size_t)(n.lambda + n.psi) + 1, sizeof *active);
  if (active) as_integrator_active(integrator, active);
  const bool good = active && keep_state(place, as_integrator_state(integrator), active);
  free(active);
  return good ? CLI_DONE : cli_complain_memory();
}

/// Runs as the file says up to a time.
static cli_exit find_moment(const linear_request *r, linear_place *place) {
  const as_machine *machine = place->machine;
  static const char *const few[] = {"energy.kinetic"};
  as_run_def def = as_default_run_def();
  as_run *run = NULL;
  as_error error;
  def.integrator = machine->simulation.integrator;
  def.integrator.tolerance.land = true;
  def.max_steps = machine->simulation.max_steps;
  def.t_end = r->at;
  def.channels = few;
  def.n_channels = 1;
  def.times = &r->at;
  def.n_times = 1;
  def.rules = machine->rules;
  as_status status = as_run_create(machine->model, &def, &run, &error);
  if (status == AS_OK) status = as_run_go(run, no_row, NULL, NULL, &error);
  cli_exit result = CLI_DONE;
  if (status == AS_STOPPED) {
    cli_complain("%s: An event ends the run at t = %.9g s, before --at %.9g.", r->machine.model,
                 as_integrator_state(as_run_integrator(run))->t, r->at);
    result = CLI_SIMULATION;
  } else if (status != AS_OK) {
    result = linear_fail(r, status, &error);
  } else {
    result = keep_integrator(place, as_run_integrator(run));
  }
  as_run_destroy(run);
  return result;
}

/// The last state of a run's folder, or one that it goes on to; before that the run is repeated.
static cli_exit find_saved(const linear_request *r, linear_place *place) {
  const as_machine *machine = place->machine;
  as_run_def def = as_default_run_def();
  as_run *run = NULL;
  as_error error;
  def.integrator = machine->simulation.integrator;
  def.t_end = fmax(machine->simulation.t_end, isnan(r->at) ? 0.0 : r->at);
  def.max_steps = machine->simulation.max_steps;
  def.channels = machine->output.channels;
  def.n_channels = machine->output.n_channels;
  def.interval = machine->output.interval;
  def.times = machine->output.times;
  def.n_times = machine->output.n_times;
  def.accuracy = machine->simulation.accuracy;
  def.poses = true;
  def.rules = machine->rules;
  const cli_exit same = resume_look(&r->machine, machine, &def.tag);
  if (same != CLI_DONE) return same;
  char *path = folder_path(r->machine.resume, "state.bin");
  if (path == NULL) return cli_complain_memory();
  as_status status = as_run_create(machine->model, &def, &run, &error);
  if (status == AS_OK) status = as_run_load_file(run, path, &error);
  free(path);
  cli_exit result = CLI_DONE;
  const double last = status == AS_OK ? as_integrator_state(as_run_integrator(run))->t : 0.0;
  if (status != AS_OK)
    result = linear_fail(r, status, &error);
  else if (isnan(r->at) || r->at == last)
    result = keep_integrator(place, as_run_integrator(run));
  as_run_destroy(run);
  if (status != AS_OK || isnan(r->at) || r->at == last) return result;
  return find_moment(r, place);
}

/// Refuses to write over what the machine is read from, or over files of the run that is looked at.
static cli_exit spare(const linear_request *r, const as_machine *machine, const char *output) {
  cli_exit status = machine_spare(machine, output);
  if (status == CLI_DONE && r->machine.resume)
    status = folder_spare(r->machine.resume, output, NULL);
  return status;
}

cli_exit linear_open(const linear_request *r, const char *extra, as_machine **machine) {
  machine_request request = r->machine;
  if (extra) request.settings[request.n_settings++] = extra; // there is room
  cli_exit status = machine_open(&request, machine);
  if (status != CLI_DONE || r->output == NULL) return status;
  if (r->names == NULL) status = spare(r, *machine, r->output);
  for (int i = 0; status == CLI_DONE && r->names && r->names[i]; i++) {
    char *path = folder_path(r->output, r->names[i]);
    status = path ? spare(r, *machine, path) : cli_complain_memory();
    free(path);
  }
  if (status == CLI_DONE) return status;
  as_machine_destroy(*machine);
  *machine = NULL;
  return status;
}

cli_exit linear_find(const linear_request *r, const char *extra, linear_place *place) {
  *place = (linear_place){0};
  cli_exit status = linear_open(r, extra, &place->machine);
  if (status != CLI_DONE) return status;
  place->initial = *as_model_initial(place->machine->model);
  if (r->machine.resume && !(r->at == 0.0))
    status = find_saved(r, place);
  else if (!isnan(r->at) && r->at > 0.0)
    status = find_moment(r, place);
  if (status != CLI_DONE || !r->equilibrium) return status;
  // Rest is looked for with time held where it is.
  linear_place from = *place;
  place->kept = NULL;
  place->active = NULL;
  status = find_rest(r, &from.initial, place);
  free(from.kept);
  free(from.active);
  return status;
}

void linear_place_free(linear_place *place) {
  free(place->kept);
  free(place->zero);
  free(place->active);
  as_machine_destroy(place->machine);
  *place = (linear_place){0};
}

// ---- along a branch

/// Keeps an equilibrium as the last of the branch.
static bool keep_last(linear_branch *b, const linear_place *place, double value) {
  const as_problem *p = as_model_problem(place->machine->model);
  const as_sizes n = as_problem_sizes(p);
  const size_t size = (size_t)(n.q + n.x + n.y + n.u) + 1, u = (size_t)n.u + 1;
  double *last = calloc(size + (size_t)n.q + u + (size_t)n.v, sizeof *last);
  if (last == NULL) return false;
  const as_initial *i = &place->initial;
  memcpy(last, i->q, (size_t)n.q * sizeof *last);
  if (i->x) memcpy(last + n.q, i->x, (size_t)n.x * sizeof *last);
  if (i->y) memcpy(last + n.q + n.x, i->y, (size_t)n.y * sizeof *last);
  if (i->u) memcpy(last + n.q + n.x + n.y, i->u, (size_t)n.u * sizeof *last);
  const as_initial *start = as_model_initial(place->machine->model);
  double *file_u = last + size + n.q;
  if (start->u) memcpy(file_u, start->u, (size_t)n.u * sizeof *last);
  b->has_before = b->last != NULL;
  if (b->has_before) memcpy(last + size, b->last, (size_t)n.q * sizeof *last); // the one before
  free(b->last);
  b->last = last;
  b->before_value = b->value;
  b->value = value;
  b->sizes = n;
  b->neutral = place->found.n_neutral > 0;
  return true;
}

/// The last equilibrium as a start of another machine, or, with `lead`, where the last two lead.
static as_initial start_of(linear_branch *b, const as_machine *machine, double value, bool lead,
                           double *store) {
  const as_space *space = as_problem_space(as_model_problem(machine->model));
  const as_sizes n = b->sizes;
  const double *last = b->last, *before = last + n.q + n.x + n.y + n.u + 1;
  const double *file_u = before + n.q;
  double *q = store, *u = q + n.q, *step = u + n.u + 1;
  as_initial from = *as_model_initial(machine->model);
  memcpy(q, last, (size_t)n.q * sizeof *q);
  if (lead) {
    const double factor = (value - b->value) / (b->value - b->before_value);
    as_space_difference(space, before, last, step);
    for (int i = 0; i < n.v; i++) step[i] *= factor;
    as_space_move(space, last, step, q);
  }
  // Held signals stay as they are but for those that the file has set otherwise.
  for (int i = 0; i < n.u; i++) {
    const double now = from.u ? from.u[i] : 0.0;
    u[i] = now == file_u[i] ? last[n.q + n.x + n.y + i] : now;
  }
  from.q = q;
  from.v = NULL;
  from.x = last + n.q;
  from.y = last + n.q + n.x;
  from.u = u;
  return from;
}

/// The equilibrium at a value next to the last one. AS_OK in *found, or why there is none.
static cli_exit follow_one(const linear_request *r, linear_branch *b, double value, bool jump,
                           linear_place *place, as_status *found, as_error *error) {
  char extra[512];
  *place = (linear_place){0};
  *found = AS_OK;
  snprintf(extra, sizeof extra, "%s=%.17g", r->sweep, value);
  cli_exit result = linear_open(r, extra, &place->machine);
  if (result != CLI_DONE) return result;
  const as_problem *p = as_model_problem(place->machine->model);
  const as_sizes n = as_problem_sizes(p);
  if (memcmp(&n, &b->sizes, sizeof n) != 0) { // another machine: from its own start
    free(b->last);
    b->last = NULL;
    return find_rest(r, as_model_initial(place->machine->model), place);
  }
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  double *store = calloc((size_t)(n.q + n.u + n.v) + 2, sizeof *store);
  if (store == NULL) return cli_complain_memory();
  *found = as_analysis_create(p, &def, &analysis, error);
  as_initial from = start_of(b, place->machine, value, false, store);
  if (*found == AS_OK && jump)
    *found = as_analysis_equilibrium(analysis, &from, &place->found, error);
  for (int lead = b->has_before ? 1 : 0; lead >= 0 && !jump && analysis; lead--) {
    from = start_of(b, place->machine, value, lead, store);
    *found = as_analysis_follow_equilibrium(analysis, &from, lead ? b->last : NULL, b->neutral,
                                            &place->found, error);
    if (*found == AS_OK) break;
  }
  place->found.jumped = jump;
  if (*found == AS_OK && !keep_rest(place, analysis, from.active)) result = cli_complain_memory();
  as_analysis_destroy(analysis);
  free(store);
  return result;
}

cli_exit linear_branch_find(const linear_request *r, linear_branch *b, double value,
                            linear_place *place) {
  as_error error;
  if (b->last == NULL) {
    char extra[512];
    snprintf(extra, sizeof extra, "%s=%.17g", r->sweep, value);
    const cli_exit first = linear_find(r, extra, place);
    if (first == CLI_DONE && !keep_last(b, place, value)) return cli_complain_memory();
    return first;
  }
  const double shortest = fabs(value - b->value) / 1024.0;
  double h = value - b->value;
  while (b->value != value) {
    const double next = fabs(h) >= fabs(value - b->value) ? value : b->value + h;
    as_status found;
    cli_exit result = follow_one(r, b, next, false, place, &found, &error);
    if (result == CLI_DONE && found != AS_OK && !as_status_is_recoverable(found) &&
        found != AS_ERR_INCONSISTENT)
      result = linear_fail(r, found, &error);
    if (result == CLI_DONE && found != AS_OK) {
      linear_place_free(place);
      h = 0.5 * (next - b->value);
      if (fabs(h) >= shortest) continue;
      cli_complain("%s: The equilibrium cannot be followed beyond %s = %.9g: at %.9g there is none "
                   "nearby. From there on it is another one.",
                   r->machine.model, r->sweep, b->value, next);
      result = follow_one(r, b, value, true, place, &found, &error);
      if (result == CLI_DONE && found != AS_OK) result = linear_fail(r, found, &error);
      if (result == CLI_DONE && !keep_last(b, place, value)) result = cli_complain_memory();
      b->has_before = false;
      return result;
    }
    if (result == CLI_DONE && !keep_last(b, place, next)) result = cli_complain_memory();
    if (result != CLI_DONE || next == value) return result;
    linear_place_free(place);
    h *= 2.0;
  }
  return CLI_DONE;
}

void linear_branch_free(linear_branch *b) { free(b->last); }
