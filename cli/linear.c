// What the commands about linear systems share, see linear.h.
#define _POSIX_C_SOURCE 200809L // strdup, stat

#include "linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/// `parameters.load=0:10`
static bool take_follow(linear_request *r, const char *text) {
  const char *equal = strchr(text, '=');
  double x[2];
  if (equal == NULL || equal == text || !take_numbers(equal + 1, x, 2, ':') || x[0] == x[1])
    return false;
  char *path = strdup(text);
  if (path == NULL || r->n_copied == 2 * MOST_SIGNALS) return false;
  path[equal - text] = '\0';
  r->copied[r->n_copied++] = path;
  r->follow = path;
  r->from = x[0];
  r->to = x[1];
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
  } else if (strchr(options, 'f') && cli_option(argc, argv, i, "--follow", &value)) {
    good = value == NULL || take_follow(r, value);
    like = "`parameters.load=0:10`, or `t=0:1`";
  } else if (strchr(options, 'f') && cli_option(argc, argv, i, "--branch", &value)) {
    good = value == NULL || strcmp(value, "1") == 0 || strcmp(value, "2") == 0;
    r->branch = good && value ? (value[0] == '2' ? -1 : 1) : 0;
    like = "`1` or `2`";
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

/// Where the model is a run's folder: takes the model file and the settings of that run.
static cli_exit look_at_folder(linear_request *r) {
  struct stat about;
  if (stat(r->machine.model, &about) != 0 || !S_ISDIR(about.st_mode)) return CLI_DONE;
  if (r->sweep) {
    cli_complain("`--sweep`: a run's folder is one run; sweep its model file.");
    return CLI_USAGE;
  }
  r->machine.resume = r->machine.model;
  r->machine.model = NULL;
  r->machine.looks = true;
  return resume_find(&r->machine, &r->run);
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
  if (r->machine.model != NULL && !r->machine.help) return look_at_folder(r);
  if (r->machine.help) return CLI_DONE;
  cli_complain("Which model file, or which run's folder? See `alphastep help %s`.", command);
  return CLI_USAGE;
}

void linear_arguments_free(linear_request *r) {
  machine_arguments_free(&r->machine);
  resume_free(&r->run);
  for (int i = 0; i < r->n_copied; i++) free(r->copied[i]);
}

// ---- the state

cli_exit linear_fail(const linear_request *r, as_status status, const as_error *error) {
  cli_complain("%s: %s", r->machine.model, error->message);
  machine_refuse(&r->machine);
  return cli_judge(status);
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
  as_linearization_def def = linear_def(r);
  as_error error;
  if (r->n_inputs > 0) {
    const cli_exit found = linear_find_inputs(r, place, input, f, height);
    if (found != CLI_DONE) {
      free(f);
      return found;
    }
  }
  def.inputs = input;
  def.n_inputs = r->n_inputs;
  const as_status status = as_linearize(p, &place->initial, &def, out, &error);
  free(f);
  if (status != AS_OK) return linear_fail(r, status, &error);
  char name[128];
  if (isnan(r->at) && (r->equilibrium || !r->machine.resume) && speeds_up(*out)) {
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

as_linearization_def linear_def(const linear_request *r) {
  as_linearization_def def = as_default_linearization_def();
  def.axes = r->axes;
  memcpy(def.turning, r->turning, sizeof def.turning);
  return def;
}

void linear_describe_axes(as_axes axes, const double *w, char *text, size_t size) {
  if (axes != AS_AXES_TURNING)
    snprintf(text, size, "own axes of the bodies");
  else if (w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0)
    snprintf(text, size, "world axes");
  else
    snprintf(text, size, "axes that turn with (%.6g, %.6g, %.6g) rad/s", w[0], w[1], w[2]);
}

void linear_describe(const linear_request *r, const as_linearization *l, char *text, size_t size) {
  const as_state *s = as_linearization_state(l);
  char axes[160];
  linear_describe_axes(l->axes, l->turning, axes, sizeof axes);
  char steady[160] = "";
  if (l->unsteady > UNSTEADY)
    snprintf(steady, sizeof steady,
             "; A changes along the motion: eigenvalues are those of this moment only");
  snprintf(text, size, "%s at t = %.9g s, in %s%s%s", r->equilibrium ? "equilibrium" : "state",
           s->t, axes, steady, linear_held(l->n_samplers));
}

const char *linear_held(int n_samplers) {
  return n_samplers > 0 ? "; signals of sampled controllers are held as they are" : "";
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
