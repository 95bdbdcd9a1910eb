#include "plugins.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// ---- wild: everything that a block can have ---------------------------------------------------------

static const as_plugin_quantity wild_parameter[] = {
    {"gain", "1/s", 2.0, 0.0, "of v"}, {"shift", NULL, AS_PLUGIN_REQUIRED, 0, "added"}};
static const as_plugin_quantity wild_input[] = {{"p", "m", 0, 0, NULL}, {"v", "m/s", 0, 0, NULL}};
static const as_plugin_quantity wild_state[] = {{"one", NULL, 0.3, 1, NULL},
                                                {"two", NULL, -0.2, 1, NULL}};
static const as_plugin_quantity wild_sampled[] = {{"s", "m", 0.1, 0, NULL},
                                                  {"count", NULL, 0, 0, NULL}};
static const as_plugin_quantity wild_output[] = {{"", "N", 0, 0, NULL},
                                                 {"second", NULL, 0, 0, NULL}};
static const unsigned char wild_direct[] = {1, 1, 0, 1}, too_narrow[] = {1, 1, 0, 0};

static int wild_prepare(const double *parameter, const as_plugin_start *start, char *why) {
  if (parameter[0] < 0.0) {
    snprintf(why, AS_PLUGIN_WHY, "a gain of %g is negative", parameter[0]);
    return AS_PLUGIN_FAIL;
  }
  start->constant[0] = 2.0 * parameter[0];
  start->state[1] = -parameter[0] / 10.0;
  return AS_PLUGIN_DONE;
}

static int wild(const as_plugin_point *at, double *rate, double *output, char *why) {
  const double *x = at->state, *w = at->input, *s = at->sampled;
  (void)why;
  if (rate) {
    rate[0] = -x[0] + sin(w[0]) * x[1] + at->constant[0] / 2.0 * w[1];
    rate[1] = -2.0 * x[1] + x[0] * w[0] + s[0] + at->parameter[1] * at->t;
  }
  if (output) {
    output[0] = x[0] * x[1] - 3.0 * w[0] - w[1];
    output[1] = s[0] + x[0] * x[0] + w[1] * w[1];
  }
  return AS_PLUGIN_DONE;
}

static int wild_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  const double *x = at->state, *w = at->input;
  (void)why;
  out->rate_by_state[0] = -1.0;
  out->rate_by_state[1] = sin(w[0]);
  out->rate_by_state[2] = w[0];
  out->rate_by_state[3] = -2.0;
  out->rate_by_input[0] = cos(w[0]) * x[1];
  out->rate_by_input[1] = at->parameter[0];
  out->rate_by_input[2] = x[0];
  out->output_by_state[0] = x[1];
  out->output_by_state[1] = x[0];
  out->output_by_state[2] = 2.0 * x[0];
  out->output_by_input[0] = -3.0;
  out->output_by_input[1] = -1.0;
  out->output_by_input[3] = 2.0 * w[1];
  return AS_PLUGIN_DONE;
}

static int wrong_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  const int code = wild_jacobian(at, out, why);
  out->rate_by_input[2] *= 1.001;
  return code;
}

static int wild_sample(const as_plugin_point *at, double *sampled, char *why) {
  (void)why;
  sampled[0] = 0.5 * at->sampled[0] + at->input[0] + at->state[0];
  sampled[1] += 1.0;
  return AS_PLUGIN_DONE;
}

#define WILD(its_name, derivatives, at_once)                                                       \
  {                                                                                                \
    .name = its_name, .n_parameters = 2, .parameter = wild_parameter, .n_constants = 1,            \
    .n_inputs = 2, .input = wild_input, .n_states = 2, .state = wild_state, .n_sampled = 2,        \
    .sampled = wild_sampled, .n_outputs = 2, .output = wild_output, .reads_time = 1,               \
    .direct = at_once, .prepare = wild_prepare, .evaluate = wild, .jacobian = derivatives,         \
    .sample = wild_sample                                                                          \
  }
static const as_plugin_block differenced = WILD("wild", NULL, wild_direct),
                             given = WILD("given", wild_jacobian, wild_direct),
                             wrong = WILD("wrong", wrong_jacobian, wild_direct),
                             narrow = WILD("narrow", wild_jacobian, too_narrow);

// ---- triangle: a level that turns round at 1 and -1 -------------------------------------------------

static const as_plugin_quantity triangle_state[] = {{"level", "m", 0, 0, NULL},
                                                    {"mode", NULL, 1, 0, NULL}};
static const as_plugin_quantity triangle_output[] = {
    {"", "m", 0, 0, NULL}, {"above", NULL, 0, 0, NULL}, {"below", NULL, 0, 0, NULL}};

static int triangle(const as_plugin_point *at, double *rate, double *output, char *why) {
  (void)why;
  if (rate) {
    rate[0] = at->state[1];
    rate[1] = 0.0;
  }
  if (output) {
    output[0] = at->state[0];
    output[1] = at->state[0] - 1.0;
    output[2] = at->state[0] + 1.0;
  }
  return AS_PLUGIN_DONE;
}

static int turn_round(const as_plugin_point *at, int direction, double *state, double *sampled,
                      char *why) {
  (void)at, (void)sampled, (void)why;
  state[1] = -direction;
  return AS_PLUGIN_DONE;
}

static const as_plugin_event triangle_event[] = {{"top", 1, 1, turn_round},
                                                 {"bottom", 2, -1, turn_round}};
static const as_plugin_block triangle_block = {.name = "triangle",
                                               .n_states = 2,
                                               .state = triangle_state,
                                               .n_outputs = 3,
                                               .output = triangle_output,
                                               .n_events = 2,
                                               .event = triangle_event,
                                               .evaluate = triangle};

// ---- failing: what its parameter says, from t = 0.25 on ---------------------------------------------

enum { GIVE_NAN = 1, GIVE_UP, ASK_AGAIN, BAD_DERIVATIVE, BAD_SAMPLE, FAIL_SAMPLE, BAD_EVENT };
static const as_plugin_quantity failing_parameter[] = {{"how", NULL, 0, 0, NULL}};
static const as_plugin_quantity failing_state[] = {{"x", NULL, 0, 0, NULL}};
static const as_plugin_quantity failing_sampled[] = {{"s", NULL, 0, 0, NULL}};
static const as_plugin_quantity failing_output[] = {{"late", NULL, 0, 0, NULL}};

static int failing(const as_plugin_point *at, double *rate, double *output, char *why) {
  const int how = at->t > 0.25 ? (int)at->parameter[0] : 0;
  if (rate) rate[0] = how == GIVE_NAN ? (double)NAN : 1.0;
  if (output) output[0] = at->t - 0.25;
  if (how == GIVE_UP || how == ASK_AGAIN) snprintf(why, AS_PLUGIN_WHY, "the oil\nis gone");
  return how == GIVE_UP ? -7 : how == ASK_AGAIN ? 1 : AS_PLUGIN_DONE;
}

static int failing_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  (void)why;
  if (at->parameter[0] == BAD_DERIVATIVE && at->t > 0.25) out->rate_by_state[0] = (double)INFINITY;
  return AS_PLUGIN_DONE;
}

static int failing_sample(const as_plugin_point *at, double *sampled, char *why) {
  (void)why;
  if (at->parameter[0] == BAD_SAMPLE && at->t > 0.25) sampled[0] = (double)NAN;
  return at->parameter[0] == FAIL_SAMPLE && at->t > 0.25 ? 5 : AS_PLUGIN_DONE;
}

static int failing_act(const as_plugin_point *at, int direction, double *state, double *sampled,
                       char *why) {
  (void)direction, (void)sampled, (void)why;
  if (at->parameter[0] == BAD_EVENT) state[0] = (double)NAN;
  return AS_PLUGIN_DONE;
}

static const as_plugin_event failing_event[] = {{"quarter", 0, 1, failing_act}};
static const as_plugin_block failing_block = {.name = "failing",
                                              .n_parameters = 1,
                                              .parameter = failing_parameter,
                                              .n_states = 1,
                                              .state = failing_state,
                                              .n_sampled = 1,
                                              .sampled = failing_sampled,
                                              .n_outputs = 1,
                                              .output = failing_output,
                                              .n_events = 1,
                                              .event = failing_event,
                                              .reads_time = 1,
                                              .evaluate = failing,
                                              .jacobian = failing_jacobian,
                                              .sample = failing_sample};

// ---- bush: a bushing --------------------------------------------------------------------------------

static const as_plugin_quantity bush_parameter[] = {{"k", "N/m", 40, 0, NULL},
                                                    {"c", "N s/m", 0.5, 0, NULL}};

static int bush(const as_plugin_force_point *at, double S[6], char *why) {
  (void)why;
  for (int i = 0; i < 6; ++i)
    S[i] = (i < 3 ? at->parameter[0] : at->constant[0]) * at->z[i] + at->parameter[1] * at->rate[i];
  S[0] += 4.0 * at->z[1] + 0.3 * at->rate[2]; // not symmetric
  return AS_PLUGIN_DONE;
}

static int plain_bush(const as_plugin_force_point *at, double S[6], char *why) {
  const int code = bush(at, S, why);
  S[0] -= 4.0 * at->z[1] + 0.3 * at->rate[2];
  return code;
}

static int bush_jacobian(const as_plugin_force_point *at, double by_z[36], double by_rate[36],
                         char *why) {
  (void)why;
  for (int i = 0; i < 6; ++i) {
    by_z[7 * i] = i < 3 ? at->parameter[0] : at->constant[0];
    by_rate[7 * i] = at->parameter[1];
  }
  by_z[1] = 4.0;
  by_rate[2] = 0.3;
  return AS_PLUGIN_DONE;
}

static int wrong_bush_jacobian(const as_plugin_force_point *at, double by_z[36], double by_rate[36],
                               char *why) {
  const int code = bush_jacobian(at, by_z, by_rate, why);
  by_rate[2] = -0.3;
  return code;
}

static int bush_prepare(const double *parameter, const as_plugin_start *start, char *why) {
  (void)why;
  start->constant[0] = parameter[0] / 4.0;
  return AS_PLUGIN_DONE;
}

#define BUSH(its_name, values, derivatives)                                                        \
  {                                                                                                \
    .name = its_name, .n_parameters = 2, .n_constants = 1, .parameter = bush_parameter,            \
    .prepare = bush_prepare, .evaluate = values, .jacobian = derivatives                           \
  }
static const as_plugin_force bush_force = BUSH("bush", bush, NULL),
                             given_force = BUSH("bush_given", bush, bush_jacobian),
                             wrong_force = BUSH("bush_wrong", bush, wrong_bush_jacobian),
                             plain_force = BUSH("bush_plain", plain_bush, NULL);

// ---- all of them ------------------------------------------------------------------------------------

static const as_plugin_block *const blocks[] = {
    &differenced, &given, &triangle_block, &wrong, &narrow, &failing_block, NULL};
static const as_plugin_force *const forces[] = {&bush_force, &given_force, &wrong_force,
                                                &plain_force, NULL};
static const as_plugin plugin = {
    AS_PLUGIN_COOKIE, AS_PLUGIN_VERSION, "test_plugin", "1", blocks, forces};

const as_plugin *plugins_of_tests(void) { return &plugin; }

const as_plugin_block *plugins_block(const char *name) {
  for (int i = 0; blocks[i]; ++i)
    if (strcmp(blocks[i]->name, name) == 0) return blocks[i];
  return NULL;
}

const as_plugin_force *plugins_force(const char *name) {
  for (int i = 0; forces[i]; ++i)
    if (strcmp(forces[i]->name, name) == 0) return forces[i];
  return NULL;
}

as_status plugins_load(const char *text, as_machine **machine, as_messages *messages) {
  static const as_linked_plugin linked = {"test_plugin.so", &plugin};
  const as_plugin_policy policy = {.linked = &linked, .n_linked = 1};
  char path[64];
  snprintf(path, sizeof path, "plugins.%ld.yaml", (long)getpid());
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
  const as_status status = as_machine_load_with(path, NULL, 0, &policy, machine, messages);
  remove(path);
  return status;
}

as_machine *plugins_parse(const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (plugins_load(text, &machine, &messages)) fail_msg("%s", messages.message[0].text);
  return machine;
}

const as_messages *plugins_refused(const char *text) {
  static as_messages messages;
  as_machine *machine = NULL;
  assert_int_equal(plugins_load(text, &machine, &messages), AS_ERR_ARGUMENT);
  assert_null(machine);
  return &messages;
}
