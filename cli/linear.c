// What the commands about linear systems share, see linear.h.
#define _POSIX_C_SOURCE 200809L // strdup

#include "linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/json.h"

// Beyond this a state neither rests nor moves steadily: |v'| in typical sizes of the machine, and what A changes by.
static const double UNSTEADY = 1e-4;

// ---- arguments

/// Splits `a,b,c` into a list. False: too many, or memory has run out.
static bool take_list(linear_request *r, const char *text, const char **list, int *n) {
  char *copy = strdup(text);
  if (copy == NULL || r->n_copied == 2 * MOST_SIGNALS) return false;
  r->copied[r->n_copied++] = copy;
  for (char *word = strtok(copy, ","); word != NULL; word = strtok(NULL, ",")) {
    if (*n == MOST_SIGNALS) return false;
    list[(*n)++] = word;
  }
  return true;
}

static bool take_numbers(const char *text, double *x, int n, char separator) {
  for (int i = 0; i < n; i++) {
    char *end;
    x[i] = strtod(text, &end);
    if (end == text || !isfinite(x[i]) || *end != (i + 1 < n ? separator : '\0')) return false;
    text = end + 1;
  }
  return true;
}

/// `parameters.v=4:8:0.1`
static bool take_sweep(linear_request *r, const char *text) {
  const char *equal = strchr(text, '=');
  double x[3];
  if (equal == NULL || equal == text || !take_numbers(equal + 1, x, 3, ':')) return false;
  const double steps = (x[1] - x[0]) / x[2];
  if (!(steps >= 0.0 && steps < MOST_SWEEP - 1)) return false;
  char *path = strdup(text);
  if (path == NULL || r->n_copied == 2 * MOST_SIGNALS) return false;
  path[equal - text] = '\0';
  r->copied[r->n_copied++] = path;
  r->sweep = path;
  r->n_values = (int)floor(steps + 1e-9) + 1;
  for (int i = 0; i < r->n_values; i++) r->value[i] = x[0] + i * x[2];
  return true;
}

static bool take_axes(linear_request *r, const char *text) {
  if (strcmp(text, "own") == 0)
    r->axes = AS_AXES_OWN;
  else if (strcmp(text, "world") == 0)
    r->axes = AS_AXES_TURNING;
  else if (strncmp(text, "turning=", 8) == 0 && take_numbers(text + 8, r->turning, 3, ','))
    r->axes = AS_AXES_TURNING;
  else
    return false;
  return true;
}

static bool take_format(linear_request *r, const char *text) {
  static const char *const names[] = {"text", "json", "csv", "mat", "npz"};
  for (int i = 0; i < 5; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    r->format = (linear_format)i;
    r->machine.json = r->format == LINEAR_JSON;
    return true;
  }
  return false;
}

static cli_exit refuse_value(const char *option, const char *value, const char *like) {
  cli_complain("`%s %s` is not like %s.", option, value, like);
  return CLI_USAGE;
}

/// Takes an option with a value; CLI_FELL_SHORT: it is none of these.
static cli_exit take_valued(int argc, char **argv, int *i, const char *options, linear_request *r) {
  const char *value = NULL, *like = NULL, *name = argv[*i];
  bool good = true;
  char *end = NULL;
  if (cli_option(argc, argv, i, "--set", &value)) {
    good = value == NULL || (strchr(value, '=') != NULL && value[0] != '=');
    like = "`--set path.to.value=1.5`";
    if (value != NULL) r->machine.settings[r->machine.n_settings++] = value;
  } else if (cli_option(argc, argv, i, "--at", &value)) {
    r->at = value ? strtod(value, &end) : 0.0;
    good = value == NULL || (end != value && *end == '\0' && r->at >= 0.0 && isfinite(r->at));
    like = "`--at 1.5`";
  } else if (cli_option(argc, argv, i, "--axes", &value)) {
    good = value == NULL || take_axes(r, value);
    like = "`own`, `world` or `turning=0,0,1.5`";
  } else if (cli_option(argc, argv, i, "--format", &value)) {
    good = value == NULL || take_format(r, value);
    like = "`text`, `json`, `csv`, `mat` or `npz`";
  } else if (cli_option(argc, argv, i, "-o", &value) ||
             cli_option(argc, argv, i, "--output", &value)) {
    r->output = value;
  } else if (cli_option(argc, argv, i, "--count", &value)) {
    r->count = value ? (int)strtol(value, &end, 10) : 0;
    good = value == NULL || (end != value && *end == '\0' && r->count > 0 && r->count <= 200);
    like = "`--count 20`";
  } else if (strchr(options, 'i') && cli_option(argc, argv, i, "--inputs", &value)) {
    good = value == NULL || take_list(r, value, r->inputs, &r->n_inputs);
    like = "`parameters.torque,bodies.arm.force.x`";
  } else if (strchr(options, 'i') && cli_option(argc, argv, i, "--outputs", &value)) {
    good = value == NULL || take_list(r, value, r->outputs, &r->n_outputs);
    like = "`bodies.arm.position,joints.hinge.force.x`";
  } else if (strchr(options, 's') && cli_option(argc, argv, i, "--sweep", &value)) {
    good = value == NULL || take_sweep(r, value);
    like = "`parameters.v=4:8:0.1`, with 2000 values at the most";
  } else if (strchr(options, 'r') && cli_option(argc, argv, i, "--kind", &value)) {
    r->kind = value;
    good = value == NULL || strcmp(value, "bode") == 0 || strcmp(value, "nyquist") == 0 ||
           strcmp(value, "step") == 0 || strcmp(value, "impulse") == 0;
    like = "`bode`, `nyquist`, `step` or `impulse`";
  } else if (strchr(options, 'r') && cli_option(argc, argv, i, "--range", &value)) {
    double x[2] = {0.0, 0.0};
    good = value == NULL || (take_numbers(value, x, 2, ':') && x[0] >= 0.0 && x[1] > x[0]);
    r->from = x[0];
    r->to = x[1];
    like = "`0.1:100`";
  } else if (strchr(options, 'r') && cli_option(argc, argv, i, "--points", &value)) {
    r->points = value ? (int)strtol(value, &end, 10) : 0;
    good = value == NULL || (end != value && *end == '\0' && r->points >= 2 && r->points <= 100000);
    like = "`--points 400`";
  } else {
    return CLI_FELL_SHORT;
  }
  if (value == NULL) return CLI_USAGE; // cli_option has complained
  return good ? CLI_DONE : refuse_value(name, value, like);
}

static cli_exit take_option(int argc, char **argv, int *i, const char *options, linear_request *r) {
  const char *word = argv[*i];
  const cli_exit plugin = machine_plugin_option(argc, argv, i, &r->machine);
  if (plugin != CLI_FELL_SHORT) return plugin;
  const cli_exit valued = take_valued(argc, argv, i, options, r);
  if (valued != CLI_FELL_SHORT) return valued;
  if (strcmp(word, "--equilibrium") == 0)
    r->equilibrium = true;
  else if (strcmp(word, "--json") == 0)
    take_format(r, "json");
  else if (strcmp(word, "--csv") == 0)
    take_format(r, "csv");
  else if (strchr(options, 'd') && strcmp(word, "--descriptor") == 0)
    r->descriptor = true;
  else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    r->machine.help = true;
  else {
    cli_complain("Unknown option `%s`; see `alphastep help %s`.", word, r->command);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

cli_exit linear_arguments(int argc, char **argv, const char *command, const char *options,
                          linear_request *r) {
  *r = (linear_request){.command = command,
                        .at = (double)NAN,
                        .from = (double)NAN,
                        .to = (double)NAN,
                        .points = 0,
                        .kind = "bode"};
  r->machine.settings = calloc((size_t)argc + 3, sizeof *r->machine.settings);
  if (r->machine.settings == NULL || machine_plugin_folders(argc, &r->machine) != CLI_DONE)
    return cli_complain_memory();
  for (int i = 0; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] != '\0') {
      const cli_exit status = take_option(argc, argv, &i, options, r);
      if (status != CLI_DONE) return status;
    } else if (r->machine.model != NULL) {
      cli_complain("One model file at a time: `%s` follows `%s`.", argv[i], r->machine.model);
      return CLI_USAGE;
    } else {
      r->machine.model = argv[i];
    }
  }
  if (r->equilibrium && !isnan(r->at)) {
    cli_complain("`--equilibrium` and `--at` are two different states: give one of them.");
    return CLI_USAGE;
  }
  if (r->machine.model != NULL || r->machine.help) return CLI_DONE;
  cli_complain("Which model file? See `alphastep help %s`.", command);
  return CLI_USAGE;
}

void linear_arguments_free(linear_request *r) {
  machine_arguments_free(&r->machine);
  for (int i = 0; i < r->n_copied; i++) free(r->copied[i]);
}

// ---- the state

cli_exit linear_fail(const linear_request *r, as_status status, const as_error *error) {
  cli_complain("%s: %s", r->machine.model, error->message);
  machine_refuse(&r->machine);
  return cli_judge(status);
}

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

static cli_exit find_rest(const linear_request *r, linear_place *place) {
  const as_model *model = place->machine->model;
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  as_error error;
  as_status status = as_analysis_create(as_model_problem(model), &def, &analysis, &error);
  if (status == AS_OK)
    status = as_analysis_equilibrium(analysis, as_model_initial(model), &place->found, &error);
  cli_exit result = CLI_DONE;
  if (status != AS_OK) {
    result = linear_fail(r, status, &error);
  } else if (!keep_state(place, as_analysis_state(analysis), as_model_initial(model)->active)) {
    result = cli_complain_memory();
  }
  place->is_rest = status == AS_OK;
  as_analysis_destroy(analysis);
  const as_sizes n = as_problem_sizes(as_model_problem(model));
  place->zero = calloc((size_t)(n.v + n.x) + 1, sizeof *place->zero);
  if (place->zero == NULL) return cli_complain_memory();
  return result;
}

static as_status no_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)user, (void)error;
  return AS_OK;
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
    const as_sizes n = as_problem_sizes(as_model_problem(machine->model));
    bool *active = calloc((size_t)(n.lambda + n.psi) + 1, sizeof *active);
    if (active) as_integrator_active(as_run_integrator(run), active);
    if (active == NULL || !keep_state(place, as_integrator_state(as_run_integrator(run)), active))
      result = cli_complain_memory();
    free(active);
  }
  as_run_destroy(run);
  return result;
}

cli_exit linear_find(const linear_request *r, const char *extra, linear_place *place) {
  machine_request request = r->machine;
  *place = (linear_place){0};
  if (extra) request.settings[request.n_settings++] = extra; // there is room
  cli_exit status = machine_open(&request, &place->machine);
  if (status != CLI_DONE) return status;
  if (r->equilibrium) return find_rest(r, place);
  if (!isnan(r->at) && r->at > 0.0) return find_moment(r, place);
  place->initial = *as_model_initial(place->machine->model);
  return CLI_DONE;
}

void linear_place_free(linear_place *place) {
  free(place->kept);
  free(place->zero);
  free(place->active);
  as_machine_destroy(place->machine);
  *place = (linear_place){0};
}

// ---- inputs

/// Splits `kind.NAME.rest`, where NAME may have no dot.
static bool split(const char *text, const char *kind, char *name, size_t size, const char **rest) {
  const size_t n = strlen(kind);
  if (strncmp(text, kind, n) != 0 || text[n] != '.') return false;
  const char *from = text + n + 1, *dot = strchr(from, '.');
  const size_t length = dot ? (size_t)(dot - from) : strlen(from);
  if (length == 0 || length >= size) return false;
  memcpy(name, from, length);
  name[length] = '\0';
  *rest = dot ? dot + 1 : "";
  return true;
}

/// A unit force or torque on a body in world axes, as a generalized force: the power of each component of v.
static bool body_input(const linear_place *place, const char *name, const char *rest, double *f) {
  const as_model *model = place->machine->model;
  const as_body_id body = as_model_find_body(model, name);
  const bool torque = strncmp(rest, "torque.", 7) == 0, force = strncmp(rest, "force.", 6) == 0;
  const char *axis = rest + (torque ? 7 : 6);
  if (body.index < 0 || (!torque && !force) || strlen(axis) != 1 || strchr("xyz", *axis) == NULL)
    return false;
  const as_sizes n = as_problem_sizes(as_model_problem(model));
  double *v = calloc((size_t)n.v + 1, sizeof *v);
  if (v == NULL) return false;
  as_state state = {.q = place->initial.q, .v = v, .x = place->initial.x, .u = place->initial.u};
  for (int i = 0; i < n.v; i++) {
    as_body_motion motion;
    v[i] = 1.0;
    as_model_body_motion(model, &state, body, &motion);
    v[i] = 0.0;
    const int k = *axis - 'x';
    double spin = 0.0;
    for (int j = 0; j < 3; j++) spin += motion.R[3 * k + j] * motion.omega[j];
    f[i] = torque ? spin : motion.v[k];
  }
  free(v);
  return true;
}

/// A unit force or torque along the first coordinate of a joint: the power of its rate.
static bool joint_input(const linear_place *place, const char *name, const char *rest, double *f) {
  const as_model *model = place->machine->model;
  const as_joint_id joint = as_model_find_joint(model, name);
  enum { MOST = 6 };
  if (joint.index < 0 || strcmp(rest, "drive") != 0) return false;
  const int n_coordinates = as_model_joint_coordinates(model, joint);
  if (n_coordinates < 1 || n_coordinates > MOST) return false;
  const as_sizes n = as_problem_sizes(as_model_problem(model));
  double *v = calloc((size_t)n.v + 1, sizeof *v), at[MOST], rates[MOST];
  as_state state = {.t = place->initial.t, .q = place->initial.q, .v = v, .u = place->initial.u};
  bool good = v != NULL;
  double still = 0.0;
  as_error error;
  for (int i = -1; i < n.v && good; i++) {
    if (i >= 0) v[i] = 1.0;
    good = as_model_coordinates(model, &state, joint, NULL, at, rates, &error) == AS_OK;
    if (i >= 0) v[i] = 0.0;
    if (i < 0) still = rates[0];
    if (i >= 0) f[i] = rates[0] - still;
  }
  free(v);
  return good;
}

/// What a machine's functions are at a state: f - M v', phi, chi, and then constraints.
static as_status evaluate(const as_machine *machine, const as_state *state, double *out,
                          as_error *error) {
  const as_problem *p = as_model_problem(machine->model);
  const as_sizes n = as_problem_sizes(p);
  double *x = out + n.v, *y = x + n.x, *g = y + n.y, *rate = g + n.lambda;
  const as_values values = {.unbalanced = out,
                            .constraint = g,
                            .constraint_rate = rate,
                            .nonholonomic = rate + n.lambda,
                            .state_rate = x,
                            .output = y};
  return as_problem_values(p, state, &values, error);
}

/// What one unit of a parameter adds to the functions: the machine is read again with other values of it, and its functions are
/// evaluated at the same state. Complains.
static cli_exit parameter_input(const linear_request *r, const linear_place *place,
                                const as_state *state, const char *name, double value, double *f) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double step[] = {2.0, -2.0, 1.0, -1.0};
  const as_sizes n = as_problem_sizes(as_model_problem(place->machine->model));
  const int forces = n.v + n.x + n.y, all = forces + 2 * n.lambda + n.psi;
  const double e = 1e-3 * fmax(1.0, fabs(value));
  double *out = calloc((size_t)all + 1, sizeof *out),
         *moved = calloc((size_t)all + 1, sizeof *moved);
  cli_exit result = out && moved ? CLI_DONE : cli_complain_memory();
  for (int k = 0; k < 4 && result == CLI_DONE; k++) {
    char extra[400];
    as_machine *machine = NULL;
    as_error error;
    machine_request request = r->machine;
    snprintf(extra, sizeof extra, "%s=%.17g", name, value + step[k] * e);
    request.settings[request.n_settings++] = extra;
    result = machine_open(&request, &machine);
    if (result != CLI_DONE) break;
    const as_sizes m = as_problem_sizes(as_model_problem(machine->model));
    const bool same = memcmp(&m, &n, sizeof m) == 0;
    const as_status status = same ? evaluate(machine, state, out, &error) : AS_OK;
    if (status != AS_OK) result = linear_fail(r, status, &error);
    for (int i = 0; i < all && same; i++) {
      if (i < forces)
        f[i] += weight[k] / e * out[i];
      else
        moved[i] = fmax(moved[i], fabs(out[i]));
    }
    as_machine_destroy(machine);
  }
  double largest = 0.0, still = 0.0;
  as_error error;
  if (result == CLI_DONE && evaluate(place->machine, state, out, &error) == AS_OK)
    for (int i = forces; i < all; i++) {
      largest = fmax(largest, moved[i]);
      still = fmax(still, fabs(out[i]));
    }
  if (result == CLI_DONE && largest > 2.0 * still + 1e-9) {
    cli_complain("%s: The input `%s` moves joints: only what forces depend on can be an input.",
                 r->machine.model, name);
    machine_refuse(&r->machine);
    result = CLI_USAGE;
  }
  free(out);
  free(moved);
  return result;
}

/// A force as it is at the state, once more.
static bool force_input(const linear_place *place, const as_state *state, const char *name,
                        double *f) {
  const as_model *model = place->machine->model;
  const as_force_id force = as_model_find_force(model, name);
  as_body_id body[AS_ELEMENT_BODIES];
  const int bodies = as_model_force_bodies(model, force, body, AS_ELEMENT_BODIES);
  const as_sizes n = as_problem_sizes(as_model_problem(model));
  double *v = calloc((size_t)n.v + 1, sizeof *v), largest = 0.0;
  as_state moved = *state;
  as_error error;
  if (v == NULL) return false;
  moved.v = v;
  for (int b = 0; b < bodies; b++) {
    as_wrench w;
    if (body[b].index < 0 || as_model_force(model, state, force, b, &w, &error) != AS_OK) continue;
    for (int i = 0; i < n.v; i++) {
      as_body_motion motion;
      v[i] = 1.0;
      as_model_body_motion(model, &moved, body[b], &motion);
      v[i] = 0.0;
      for (int k = 0; k < 3; k++) {
        double spin = 0.0;
        for (int j = 0; j < 3; j++) spin += motion.R[3 * k + j] * motion.omega[j];
        f[i] += w.force[k] * motion.v[k] + w.torque[k] * spin;
      }
      largest = fmax(largest, fabs(f[i]));
    }
  }
  free(v);
  return largest > 0.0;
}

/// The law of a prescribed motion.
static bool motion_input(const linear_place *place, const char *name, const char *rest,
                         double *moves) {
  const as_model *model = place->machine->model;
  const as_joint_id joint = as_model_find_joint(model, name);
  as_channels *channels = NULL;
  as_error error;
  char drive[300];
  if (joint.index < 0 || strcmp(rest, "law") != 0) return false;
  snprintf(drive, sizeof drive, "joints.%s.drive", name);
  const char *const selection[] = {drive};
  const bool is_motion = as_channels_create(model, selection, 1, &channels, &error) == AS_OK;
  as_channels_destroy(channels);
  if (!is_motion || as_model_joint_rows(model, joint) != 1) return false;
  moves[as_model_joint_row(model, joint)] = 1.0;
  return true;
}

/// Added to the formula of a signal, or to the rate of a state: `blocks.NAME`.
static bool block_input(const linear_place *place, const char *text, double *rate, double *output) {
  const as_problem *problem = as_model_problem(place->machine->model);
  const as_sizes n = as_problem_sizes(problem);
  char wanted[300], name[300];
  if (strncmp(text, "blocks.", 7) != 0) return false;
  snprintf(wanted, sizeof wanted, "block \"%s\"", text + 7);
  for (int i = 0; i < n.x + n.y; i++) {
    const bool is_state = i < n.x;
    as_problem_describe(problem, is_state ? AS_QUANTITY_X : AS_QUANTITY_Y, is_state ? i : i - n.x,
                        name, sizeof name);
    if (strcmp(name, wanted) != 0) continue;
    *(is_state ? rate + i : output + i - n.x) = 1.0;
    return true;
  }
  return false;
}

static cli_exit refuse_input(const linear_request *r, const char *text) {
  cli_complain(
      "%s: There is no input `%s`: inputs are parameters that forces depend on "
      "(`parameters.torque`), forces and torques on bodies (`bodies.arm.force.x`, "
      "`bodies.arm.torque.z`) and along joints (`joints.hinge.drive`), forces that are not "
      "zero (`forces.wind`), laws of motions (`joints.motor.law`), and signals and states of "
      "blocks (`blocks.demand`).",
      r->machine.model, text);
  machine_refuse(&r->machine);
  return CLI_USAGE;
}

/// Finds an input by its name. Complains. The arrays of f are what it adds to f, phi and chi.
static cli_exit find_input(const linear_request *r, const linear_place *place,
                           const as_state *state, const char *text, as_linear_input *input,
                           double *f) {
  const as_machine *machine = place->machine;
  const as_sizes n = as_problem_sizes(as_model_problem(machine->model));
  char name[256];
  const char *rest;
  *input = (as_linear_input){.signal = -1};
  if (split(text, "parameters", name, sizeof name, &rest) && *rest == '\0') {
    input->signal = as_model_find_parameter(machine->model, name).index;
    if (input->signal >= 0) return CLI_DONE;
    input->signal = -1;
    input->force = f;
    input->rate = f + n.v;
    input->output = f + n.v + n.x;
    for (int i = 0; i < machine->n_parameters; i++)
      if (strcmp(machine->parameters[i].name, name) == 0)
        return parameter_input(r, place, state, text, machine->parameters[i].value, f);
    return refuse_input(r, text);
  }
  input->force = f;
  if (split(text, "bodies", name, sizeof name, &rest) && body_input(place, name, rest, f))
    return CLI_DONE;
  if (split(text, "joints", name, sizeof name, &rest) && joint_input(place, name, rest, f))
    return CLI_DONE;
  if (split(text, "forces", name, sizeof name, &rest) && *rest == '\0' &&
      force_input(place, state, name, f))
    return CLI_DONE;
  input->force = NULL;
  input->rate = f + n.v;
  input->output = f + n.v + n.x;
  if (block_input(place, text, f + n.v, f + n.v + n.x)) return CLI_DONE;
  input->rate = input->output = NULL;
  input->moves = f + n.v + n.x + n.y;
  if (split(text, "joints", name, sizeof name, &rest) &&
      motion_input(place, name, rest, f + n.v + n.x + n.y))
    return CLI_DONE;
  return refuse_input(r, text);
}

/// All inputs; parameters need the whole state, with accelerations.
static cli_exit find_inputs(const linear_request *r, const linear_place *place,
                            as_linear_input *input, double *f, size_t height) {
  as_linearization_def def = as_default_linearization_def();
  as_linearization *plain = NULL;
  as_error error;
  def.axes = AS_AXES_OWN;
  const as_status status =
      as_linearize(as_model_problem(place->machine->model), &place->initial, &def, &plain, &error);
  if (status != AS_OK) return linear_fail(r, status, &error);
  cli_exit result = CLI_DONE;
  for (int i = 0; i < r->n_inputs && result == CLI_DONE; i++)
    result = find_input(r, place, as_linearization_state(plain), r->inputs[i], &input[i],
                        f + (size_t)i * height);
  as_linearization_destroy(plain);
  return result;
}

const char *linear_input_unit(const linear_request *r, const linear_place *place, int input) {
  const char *text = r->inputs[input], *rest;
  char name[256];
  (void)place;
  const size_t length = strlen(text);
  if (strncmp(text, "parameters.", 11) == 0) return "-";
  if (strncmp(text, "forces.", 7) == 0 || strncmp(text, "blocks.", 7) == 0) return "-";
  if (length > 4 && strcmp(text + length - 4, ".law") == 0) return "m/s^2, rad/s^2";
  if (split(text, "bodies", name, sizeof name, &rest))
    return strncmp(rest, "torque", 6) == 0 ? "N m" : "N";
  return "N, N m";
}

// ---- the linear system

static const char *component(const as_linearization *l, int i, char *text, size_t size) {
  const as_sizes n = as_problem_sizes(l->problem);
  as_problem_describe(l->problem, i < n.v ? AS_QUANTITY_V : AS_QUANTITY_X, i < n.v ? i : i - n.v,
                      text, size);
  return text;
}

/// Whether something speeds up at the state, and A is not that of a steady motion either.
static bool speeds_up(const as_linearization *l) {
  const as_state *s = as_linearization_state(l);
  const as_sizes n = as_problem_sizes(l->problem);
  double speed = 0.0;
  for (int i = 0; i < n.v; i++) speed = fmax(speed, fabs(s->v[i]));
  if (l->acceleration <= 1e-6 * fmax(1.0, speed * speed)) return false;
  return speed == 0.0 || l->unsteady > UNSTEADY;
}

cli_exit linear_make(const linear_request *r, const linear_place *place, as_linearization **out) {
  const as_problem *p = as_model_problem(place->machine->model);
  const as_sizes n = as_problem_sizes(p);
  const size_t height = (size_t)(n.v + n.x + n.y + n.lambda);
  as_linear_input input[MOST_SIGNALS];
  double *f = calloc(height * (size_t)r->n_inputs + 1, sizeof *f);
  if (f == NULL) return cli_complain_memory();
  as_linearization_def def = as_default_linearization_def();
  as_error error;
  if (r->n_inputs > 0) {
    const cli_exit found = find_inputs(r, place, input, f, height);
    if (found != CLI_DONE) {
      free(f);
      return found;
    }
  }
  def.axes = r->axes;
  memcpy(def.turning, r->turning, sizeof def.turning);
  def.inputs = input;
  def.n_inputs = r->n_inputs;
  const as_status status = as_linearize(p, &place->initial, &def, out, &error);
  free(f);
  if (status != AS_OK) return linear_fail(r, status, &error);
  char name[128];
  if (isnan(r->at) && speeds_up(*out)) {
    cli_complain("%s: This is no equilibrium and no steady motion: at t = %.9g s %s accelerates by "
                 "%.6g. `--equilibrium` looks for one, `--at %.9g` takes this moment as it is.",
                 r->machine.model, place->initial.t,
                 component(*out, (*out)->accelerated, name, sizeof name), (*out)->acceleration,
                 place->initial.t);
    machine_refuse(&r->machine);
    as_linearization_destroy(*out);
    *out = NULL;
    return CLI_SIMULATION;
  }
  return CLI_DONE;
}

void linear_describe(const linear_request *r, const as_linearization *l, char *text, size_t size) {
  const as_state *s = as_linearization_state(l);
  const double *w = l->turning;
  char axes[160] = "own axes of the bodies";
  if (l->axes == AS_AXES_TURNING && w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0)
    snprintf(axes, sizeof axes, "world axes");
  else if (l->axes == AS_AXES_TURNING)
    snprintf(axes, sizeof axes, "axes that turn with (%.6g, %.6g, %.6g) rad/s", w[0], w[1], w[2]);
  char steady[160] = "";
  if (l->unsteady > UNSTEADY)
    snprintf(steady, sizeof steady,
             "; A changes along the motion: eigenvalues are those of this moment only");
  snprintf(text, size, "%s at t = %.9g s, in %s%s", r->equilibrium ? "equilibrium" : "state", s->t,
           axes, steady);
}

void linear_json_matrix(FILE *out, const double *m, int rows, int columns) {
  putc('[', out);
  for (int i = 0; i < rows; i++) {
    fputs(i > 0 ? ",\n    [" : "\n    [", out);
    for (int j = 0; j < columns; j++) {
      if (j > 0) fputs(", ", out);
      asi_json_number(out, m[(size_t)j * (size_t)rows + (size_t)i]);
    }
    putc(']', out);
  }
  putc(']', out);
}
