/// Channels about a state: their derivatives along the states and inputs of a linear system, and the names of these states.
///
/// [LI.7] C and D are differences of channels along the columns of the linear system, where v', lambda, psi, x' and y go with the rest: so D of an
/// acceleration or a reaction is what an input does at once.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/results.h"
#include "base/error.h"

// Derivatives below this many times their round-off are zero.
#define NOISE 16.0

static as_status read(as_channels *channels, const as_state *state, double *out, as_error *error) {
  const as_view view = {.state = state};
  return as_channels_evaluate(channels, &view, out, error);
}

as_status as_channels_linearize(as_channels *channels, as_linearization *l, double *c, double *d,
                                as_error *error) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double place[] = {2.0, -2.0, 1.0, -1.0};
  const size_t n = (size_t)as_channels_count(channels);
  double *value = asi_calloc(2 * n + 1, sizeof *value), *largest = value ? value + n : NULL;
  if (value == NULL) return asi_fail_memory(error);
  as_status status = as_channels_follow(channels, as_linearization_state(l), error);
  for (int j = 0; j < l->n_states + l->n_inputs && status == AS_OK; ++j) {
    double *out = j < l->n_states ? c + (size_t)j * n : d + (size_t)(j - l->n_states) * n;
    const double e = as_linearization_reach(l, j);
    memset(out, 0, n * sizeof *out);
    memset(largest, 0, n * sizeof *largest);
    for (int k = 0; k < 4 && status == AS_OK; ++k) {
      const as_state *moved = NULL;
      status = as_linearization_moved(l, j, place[k] * e, &moved, error);
      if (status == AS_OK) status = read(channels, moved, value, error);
      for (size_t i = 0; i < n && status == AS_OK; ++i) {
        out[i] += weight[k] / e * value[i];
        largest[i] = fmax(largest[i], fabs(value[i]));
      }
    }
    for (size_t i = 0; i < n && status == AS_OK; ++i)
      if (fabs(out[i]) <= NOISE * DBL_EPSILON * largest[i] / e) out[i] = 0.0;
  }
  free(value);
  return status;
}

/// The body that a component of v belongs to; -1: none.
static int body_of(const as_model *model, const as_linearization *l, int component, int *offset) {
  char text[128] = "";
  int best = -1;
  as_problem_describe(l->problem, AS_QUANTITY_V, component, text, sizeof text);
  if (strncmp(text, "body ", 5) != 0) return -1;
  for (int b = 0; b < as_model_bodies(model); ++b) {
    const int v = as_model_body_v(model, (as_body_id){b});
    if (v < 0 || v > component || (best >= 0 && v <= as_model_body_v(model, (as_body_id){best})))
      continue;
    best = b;
  }
  if (best >= 0) *offset = component - as_model_body_v(model, (as_body_id){best});
  return best;
}

/// The name of a component that is no motion of a body.
static void other_name(const as_linearization *l, as_linear_state s, char *text, size_t size) {
  static const as_quantity quantity[] = {[AS_LINEAR_STATE] = AS_QUANTITY_X,
                                         [AS_LINEAR_LAMBDA] = AS_QUANTITY_LAMBDA,
                                         [AS_LINEAR_PSI] = AS_QUANTITY_PSI,
                                         [AS_LINEAR_OUTPUT] = AS_QUANTITY_Y};
  char name[160] = "";
  as_problem_describe(l->problem, quantity[s.kind], s.index, name, sizeof name);
  const size_t length = strlen(name);
  if (strncmp(name, "block \"", 7) == 0 && name[length - 1] == '"') // as its channel
    snprintf(text, size, "blocks.%.*s", (int)length - 8, name + 7);
  else
    snprintf(text, size, "%s%s", name,
             s.kind == AS_LINEAR_LAMBDA || s.kind == AS_LINEAR_PSI ? ", multiplier" : "");
}

void as_linear_name(const as_model *model, const as_linearization *l, as_linear_state s, char *text,
                    size_t size) {
  static const char *const words[2][2] = {{"position", "rotation"},
                                          {"velocity", "angular_velocity"}};
  int offset = 0;
  if (s.kind == AS_LINEAR_INPUT || s.kind == AS_LINEAR_RATE) {
    snprintf(text, size, "inputs.%d.%s", s.index + 1, s.kind == AS_LINEAR_INPUT ? "value" : "rate");
    return;
  }
  if (s.kind != AS_LINEAR_POSITION && s.kind != AS_LINEAR_VELOCITY) {
    other_name(l, s, text, size);
    return;
  }
  const int body = body_of(model, l, s.index, &offset), rate = s.kind == AS_LINEAR_VELOCITY;
  if (body >= 0) {
    snprintf(text, size, "bodies.%s.%s.%c", as_model_body_name(model, (as_body_id){body}),
             words[rate][offset >= 3], "xyz"[offset % 3]);
    return;
  }
  char name[128] = "";
  as_problem_describe(l->problem, AS_QUANTITY_V, s.index, name, sizeof name);
  snprintf(text, size, "%s%s", name, rate ? ", rate" : "");
}

void as_linear_state_name(const as_model *model, const as_linearization *l, int state, char *text,
                          size_t size) {
  as_linear_name(model, l, l->state[state], text, size);
}

const char *as_linear_unit(const as_model *model, const as_linearization *l, as_linear_state s) {
  static const char *const units[2][2] = {{"m", "rad"}, {"m/s", "rad/s"}};
  int offset = 0;
  if (s.kind == AS_LINEAR_STATE || s.kind == AS_LINEAR_OUTPUT) return "-";
  if (s.kind == AS_LINEAR_LAMBDA || s.kind == AS_LINEAR_PSI) return "N, N m";
  if (s.kind == AS_LINEAR_INPUT) return "m, rad";
  if (s.kind == AS_LINEAR_RATE) return "m/s, rad/s";
  if (body_of(model, l, s.index, &offset) < 0) return s.kind == AS_LINEAR_VELOCITY ? "1/s" : "-";
  return units[s.kind == AS_LINEAR_VELOCITY][offset >= 3];
}

const char *as_linear_state_unit(const as_model *model, const as_linearization *l, int state) {
  return as_linear_unit(model, l, l->state[state]);
}
