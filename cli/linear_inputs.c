// Inputs of linear systems by their names: parameters, forces, motions, blocks.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "linear.h"

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
  if (v == NULL) {
    cli_note_incomplete();
    return false;
  }
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
  if (!good) cli_note_incomplete();
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
    snprintf(extra, sizeof extra, "%s=%.17g", name, value + step[k] * e);
    result = linear_open(r, extra, &machine);
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
  if (v == NULL) {
    cli_note_incomplete();
    return false;
  }
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
  const as_status found = as_channels_create(model, selection, 1, &channels, &error);
  const bool is_motion = found == AS_OK;
  as_channels_destroy(channels);
  if (found == AS_ERR_MEMORY) cli_note_incomplete();
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

/// The held signal of an input or of what switches set: its number; -1: there is none.
static int held_input(const linear_place *place, const char *text) {
  const as_model *model = place->machine->model;
  char name[300];
  for (int i = 0; i < as_model_signals(model); i++) {
    const as_signal_id signal = {i};
    as_model_signal_name(model, signal, name, sizeof name);
    if (strcmp(name, text) == 0 && as_model_signal_kind(model, signal) == AS_SIGNAL_HELD)
      return as_model_signal_place(model, signal);
  }
  return -1;
}

static cli_exit refuse_input(const linear_request *r, const char *text) {
  if (cli_is_incomplete()) return cli_complain_memory();
  cli_complain(
      "%s: There is no input `%s`: inputs are parameters that forces depend on "
      "(`parameters.torque`), forces and torques on bodies (`bodies.arm.force.x`, "
      "`bodies.arm.torque.z`) and along joints (`joints.hinge.drive`), forces that are not "
      "zero (`forces.wind`), laws of motions (`joints.motor.law`), and inputs, signals and states "
      "of blocks (`blocks.demand`).",
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
  input->signal = held_input(place, text);
  if (input->signal >= 0) return CLI_DONE;
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

// Parameters need the whole state, with accelerations.
cli_exit linear_find_inputs(const linear_request *r, const linear_place *place,
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
