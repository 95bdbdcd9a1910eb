/// Blocks and forces of plugins, see plugin.h. What a plugin returns is looked at here, and nowhere else: numbers that are not
/// finite, codes, texts.
///
/// Differences are central, (f(x + h) - f(x - h))/2h with h = eps^(1/3) max(|x|, scale): truncation and rounding are both of the
/// size of eps^(2/3). Where a side cannot be evaluated it is the other one, (f(x + h) - f(x))/h.
#include "control/plugin.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/problem.h"
#include "base/error.h"
#include "base/printable.h"

enum { MOST = AS_PLUGIN_MOST, WORD = 48 };

// ---- descriptions -----------------------------------------------------------------------------------

static as_status refuse(as_error *error, const char *name, const char *what) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The plugin \"%s\" %s.", name, what);
}

/// Letters, digits and _, no digit first; not too long.
static bool is_word(const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (text == NULL || text[0] == '\0' || strchr(letters, text[0]) == NULL) return false;
  size_t n = 0;
  while (n < WORD && text[n] && (strchr(letters, text[n]) || strchr("0123456789", text[n]))) ++n;
  return n < WORD && text[n] == '\0';
}

/// The names of some quantities; each must be new among the `n_known`.
static as_status check_names(const char *name, const as_plugin_quantity *list, int n,
                             bool may_be_empty, const char **known, int *n_known, as_error *error) {
  if (n > 0 && list == NULL) return refuse(error, name, "counts quantities that it does not list");
  for (int i = 0; i < n; ++i) {
    const bool empty = list[i].name && list[i].name[0] == '\0';
    if (!is_word(list[i].name) && !(empty && may_be_empty))
      return refuse(error, name,
                    "has a quantity without a proper name: letters, digits and _, no digit first, "
                    "at most 47");
    for (int k = 0; k < *n_known; ++k)
      if (strcmp(known[k], list[i].name) == 0)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The plugin \"%s\" has two quantities \"%s\".", name, list[i].name);
    known[(*n_known)++] = list[i].name;
  }
  return AS_OK;
}

static bool counts_well(int n, int most) { return n >= 0 && n <= most; }

static as_status check_parameters(const char *name, const as_plugin_quantity *list, int n,
                                  int n_constants, as_error *error) {
  const char *known[AS_PLUGIN_PARAMETERS];
  int n_known = 0;
  if (!counts_well(n, AS_PLUGIN_PARAMETERS) || !counts_well(n_constants, AS_PLUGIN_PARAMETERS))
    return refuse(error, name, "has too many parameters or constants");
  return check_names(name, list, n, false, known, &n_known, error);
}

static as_status check_events(const as_plugin_block *b, as_error *error) {
  if (b->n_events > 0 && b->event == NULL)
    return refuse(error, b->name, "counts events that it does not list");
  for (int i = 0; i < b->n_events; ++i) {
    const as_plugin_event *e = &b->event[i];
    if (!is_word(e->name)) return refuse(error, b->name, "has an event without a proper name");
    if (e->output < 0 || e->output >= b->n_outputs || e->direction < -1 || e->direction > 1)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, b->name,
                      "The event \"%s\" of the plugin \"%s\" is of output %d and direction "
                      "%d: there are %d outputs, and -1, 0 and 1.",
                      e->name, b->name, e->output, e->direction, b->n_outputs);
  }
  return AS_OK;
}

as_status asi_plugin_check_block(const as_plugin_block *b, as_error *error) {
  const char *known[4 * MOST];
  int n_known = 0;
  if (b == NULL || !is_word(b->name))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A plugin's block has no proper name.");
  const int count[] = {b->n_inputs, b->n_states, b->n_sampled, b->n_outputs, b->n_events};
  for (int i = 0; i < 5; ++i)
    if (!counts_well(count[i], MOST))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, b->name,
                      "The plugin \"%s\" counts %d inputs, states, sampled numbers, outputs or "
                      "events: 0 to %d can be.",
                      b->name, count[i], MOST);
  if (b->n_inputs + b->n_states > MOST || b->n_outputs + b->n_states > MOST)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, b->name,
                    "The plugin \"%s\" has %d inputs, %d states and %d outputs: states with "
                    "either must be %d at most.",
                    b->name, b->n_inputs, b->n_states, b->n_outputs, MOST);
  if (b->n_states + b->n_outputs + b->n_sampled == 0)
    return refuse(error, b->name, "has no states, no outputs and nothing that is sampled");
  if (b->n_states + b->n_outputs > 0 && b->evaluate == NULL)
    return refuse(error, b->name, "has states or outputs, but no function `evaluate`");
  if (b->n_sampled > 0 && b->sample == NULL)
    return refuse(error, b->name, "has sampled numbers, but no function `sample`");
  as_status status =
      check_parameters(b->name, b->parameter, b->n_parameters, b->n_constants, error);
  if (status == AS_OK)
    status = check_names(b->name, b->input, b->n_inputs, false, known, &n_known, error);
  if (status == AS_OK)
    status = check_names(b->name, b->state, b->n_states, false, known, &n_known, error);
  if (status == AS_OK)
    status = check_names(b->name, b->sampled, b->n_sampled, false, known, &n_known, error);
  if (status == AS_OK)
    status = check_names(b->name, b->output, b->n_outputs, true, known, &n_known, error);
  return status ? status : check_events(b, error);
}

as_status asi_plugin_check_force(const as_plugin_force *f, as_error *error) {
  if (f == NULL || !is_word(f->name))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A plugin's force has no proper name.");
  if (f->evaluate == NULL) return refuse(error, f->name, "has no function `evaluate`");
  return check_parameters(f->name, f->parameter, f->n_parameters, f->n_constants, error);
}

as_status asi_plugin_check(const as_plugin *p, const char *what, as_error *error) {
  if (p == NULL || p->cookie != AS_PLUGIN_COOKIE)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%.300s: `alphastep_plugin` returns no as_plugin with AS_PLUGIN_COOKIE.", what);
  if (p->version != AS_PLUGIN_VERSION)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%.300s was built for version %u of the plugins' interface; this program has "
                    "version %u: build it again with this program's alphastep/plugin.h.",
                    what, p->version, AS_PLUGIN_VERSION);
  if (!is_word(p->name))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%.300s: The plugin has no proper name.", what);
  as_status status = AS_OK;
  for (int i = 0; p->blocks && p->blocks[i] && status == AS_OK; ++i)
    status = asi_plugin_check_block(p->blocks[i], error);
  for (int i = 0; p->forces && p->forces[i] && status == AS_OK; ++i)
    status = asi_plugin_check_force(p->forces[i], error);
  return status;
}

// ---- what functions return --------------------------------------------------------------------------

/// The code of ours for one of a plugin's.
static int take_code(int code, char *why) {
  if (code == AS_PLUGIN_DONE) return AS_DONE;
  why[AS_PLUGIN_WHY - 1] = '\0';
  asi_make_printable(why);
  if (why[0] == '\0') snprintf(why, AS_PLUGIN_WHY, "the plugin returned %d", code);
  return code > 0 ? AS_RETRY : AS_FATAL;
}

/// AS_RETRY if a number is not finite.
static int check_numbers(const double *x, int n, const char *what,
                         const as_plugin_quantity *quantity, char *why) {
  for (int i = 0; i < n; ++i) {
    if (isfinite(x[i])) continue;
    const char *name = quantity ? quantity[i].name : "";
    snprintf(why, AS_PLUGIN_WHY, "the plugin's %s%s%s is %s", what, name[0] ? " " : "", name,
             isnan(x[i]) ? "no number" : "infinite");
    return AS_RETRY;
  }
  return AS_DONE;
}

static as_status check_prepared(const double *x, int n, const char *what, const char *owner,
                                as_error *error) {
  for (int i = 0; i < n; ++i)
    if (!isfinite(x[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, owner,
                      "The plugin gives %g for %s %d of %s.", x[i], what, i + 1, owner);
  return AS_OK;
}

as_status asi_plugin_prepare(const as_plugin_quantity *parameter, int n_parameters, int n_constants,
                             int (*prepare)(const double *, const as_plugin_start *, char *),
                             const char *owner, const double *given, double *number,
                             as_plugin_start start, as_error *error) {
  char why[AS_PLUGIN_WHY] = "";
  for (int i = 0; i < n_parameters; ++i) {
    number[i] = given && !isnan(given[i]) ? given[i] : parameter[i].value;
    if (isnan(number[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, owner,
                      "The parameter \"%s\" of %s is missing%s%.100s%s.", parameter[i].name, owner,
                      parameter[i].text ? " (" : "", parameter[i].text ? parameter[i].text : "",
                      parameter[i].text ? ")" : "");
    if (!isfinite(number[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, owner,
                      "The parameter \"%s\" of %s is %g: it must be finite.", parameter[i].name,
                      owner, number[i]);
  }
  start.constant = number + n_parameters;
  memset(start.constant, 0, (size_t)n_constants * sizeof(double));
  if (prepare == NULL) return AS_OK;
  if (take_code(prepare(number, &start, why), why))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, owner,
                    "The plugin refuses the parameters of %s: %s.", owner, why);
  return check_prepared(start.constant, n_constants, "constant", owner, error);
}

int asi_plugin_evaluate(const as_plugin_block *b, const as_plugin_point *at, double *rate,
                        double *output, char *why) {
  char own[AS_PLUGIN_WHY];
  if (why == NULL) why = own;
  why[0] = '\0';
  if (b->n_states == 0) rate = NULL;
  if (b->n_outputs == 0) output = NULL;
  if (rate == NULL && output == NULL) return AS_DONE;
  // A number that is not written is not finite.
  for (int i = 0; rate && i < b->n_states; ++i) rate[i] = (double)NAN;
  for (int i = 0; output && i < b->n_outputs; ++i) output[i] = (double)NAN;
  int code = take_code(b->evaluate(at, rate, output, why), why);
  if (code == AS_DONE && rate) code = check_numbers(rate, b->n_states, "rate", b->state, why);
  if (code == AS_DONE && output)
    code = check_numbers(output, b->n_outputs, "output", b->output, why);
  return code;
}

int asi_plugin_sample(const as_plugin_block *b, const as_plugin_point *at, double *sampled,
                      char *why) {
  char own[AS_PLUGIN_WHY];
  if (why == NULL) why = own;
  why[0] = '\0';
  if (b->n_sampled > 0) memcpy(sampled, at->sampled, (size_t)b->n_sampled * sizeof(double));
  const int code = take_code(b->sample(at, sampled, why), why);
  return code ? code : check_numbers(sampled, b->n_sampled, "sample", b->sampled, why);
}

int asi_plugin_act(const as_plugin_block *b, int event, const as_plugin_point *at, int direction,
                   double *state, double *sampled, char *why) {
  why[0] = '\0';
  if (b->n_states > 0) memcpy(state, at->state, (size_t)b->n_states * sizeof(double));
  if (b->n_sampled > 0) memcpy(sampled, at->sampled, (size_t)b->n_sampled * sizeof(double));
  int code = take_code(b->event[event].act(at, direction, state, sampled, why), why);
  if (code == AS_DONE) code = check_numbers(state, b->n_states, "new state", b->state, why);
  if (code == AS_DONE)
    code = check_numbers(sampled, b->n_sampled, "new sampled number", b->sampled, why);
  return code;
}

int asi_plugin_force(const as_plugin_force *f, const as_plugin_force_point *at, double S[6],
                     char *why) {
  char own[AS_PLUGIN_WHY];
  if (why == NULL) why = own;
  why[0] = '\0';
  for (int i = 0; i < 6; ++i) S[i] = (double)NAN;
  const int code = take_code(f->evaluate(at, S, why), why);
  return code ? code : check_numbers(S, 6, "force", NULL, why);
}

// ---- differences ------------------------------------------------------------------------------------

/// A function of `n` numbers with `m` values: AS_DONE or why not.
typedef int function(const void *context, const double *x, double *out, char *why);

static const double RELATIVE = 6.055454452393343e-06; // eps^(1/3)

/// One column: the derivative of all values by x[j], with a step of `factor` times the usual one. `x` is changed and restored;
/// `most[i]` (or NULL) receives the largest rounding error that a derivative can have.
static int find_column(function *f, const void *context, double *x, int j, double scale,
                       double factor, int m, double *out, double *most, char *why) {
  double up[MOST], down[MOST];
  const double old = x[j], h = factor * RELATIVE * fmax(fabs(old), scale);
  const volatile double above = old + h, below = old - h;
  double right = above, left = below;
  x[j] = right;
  int code = f(context, x, up, why);
  if (code > 0) { // the other side alone
    x[j] = right = old;
    code = f(context, x, up, why);
  }
  x[j] = left;
  int other = code ? code : f(context, x, down, why);
  if (other > 0 && right > old) {
    x[j] = left = old;
    other = f(context, x, down, why);
  }
  x[j] = old;
  if (code || other) return code ? code : other;
  for (int i = 0; i < m; ++i) {
    out[i] = (up[i] - down[i]) / (right - left);
    if (most) most[i] = DBL_EPSILON * fmax(fabs(up[i]), fabs(down[i])) / (right - left);
    if (isfinite(out[i])) continue;
    snprintf(why, AS_PLUGIN_WHY, "a difference of the plugin's values is infinite");
    return AS_RETRY;
  }
  return AS_DONE;
}

/// A block as a function of states and inputs behind them.
typedef struct of_block {
  const as_plugin_block *block;
  as_plugin_point at;
} of_block;

static int values_of_block(const void *context, const double *x, double *out, char *why) {
  of_block c = *(const of_block *)context;
  c.at.state = x;
  c.at.input = x + c.block->n_states;
  return asi_plugin_evaluate(c.block, &c.at, out, out + c.block->n_states, why);
}

static double scale_of(const as_plugin_block *b, int j) {
  const double s = j < b->n_states ? b->state[j].scale : b->input[j - b->n_states].scale;
  return s > 0.0 && isfinite(s) ? s : 1.0;
}

/// States and inputs behind them.
static void join(const as_plugin_block *b, const as_plugin_point *at, double *x) {
  if (b->n_states > 0) memcpy(x, at->state, (size_t)b->n_states * sizeof(double));
  if (b->n_inputs > 0) memcpy(x + b->n_states, at->input, (size_t)b->n_inputs * sizeof(double));
}

/// Where entry (row, column) stands among the four matrices one behind another.
static int place_of(const as_plugin_block *b, int row, int column) {
  const int nx = b->n_states, nw = b->n_inputs;
  if (row < nx) return column < nx ? row * nx + column : nx * nx + row * nw + (column - nx);
  const int first = nx * (nx + nw), y = row - nx;
  return column < nx ? first + y * nx + column : first + b->n_outputs * nx + y * nw + (column - nx);
}

static int find_differences(const as_plugin_block *b, const as_plugin_point *at, double *out,
                            char *why) {
  double x[MOST], column[MOST];
  const of_block c = {b, *at};
  const int n = b->n_states + b->n_inputs, m = b->n_states + b->n_outputs;
  join(b, at, x);
  for (int j = 0; j < n; ++j) {
    const int code =
        find_column(values_of_block, &c, x, j, scale_of(b, j), 1.0, m, column, NULL, why);
    if (code) return code;
    for (int i = 0; i < m; ++i) out[place_of(b, i, j)] = column[i];
  }
  return AS_DONE;
}

int asi_plugin_jacobian(const as_plugin_block *b, const as_plugin_point *at, bool differences,
                        double *out, char *why) {
  char own[AS_PLUGIN_WHY];
  if (why == NULL) why = own;
  why[0] = '\0';
  const int nx = b->n_states, nw = b->n_inputs, ny = b->n_outputs, n = (nx + ny) * (nx + nw);
  if (b->jacobian == NULL || differences) return find_differences(b, at, out, why);
  memset(out, 0, (size_t)n * sizeof(double));
  const as_plugin_jacobian to = {.rate_by_state = out,
                                 .rate_by_input = out + nx * nx,
                                 .output_by_state = out + nx * (nx + nw),
                                 .output_by_input = out + nx * (nx + nw) + ny * nx};
  const int code = take_code(b->jacobian(at, &to, why), why);
  return code ? code : check_numbers(out, n, "derivative", NULL, why);
}

/// A force as a function of z and z' behind it.
typedef struct of_force {
  const as_plugin_force *force;
  as_plugin_force_point at;
} of_force;

static int values_of_force(const void *context, const double *x, double *out, char *why) {
  of_force c = *(const of_force *)context;
  memcpy(c.at.z, x, sizeof c.at.z);
  memcpy(c.at.rate, x + 6, sizeof c.at.rate);
  return asi_plugin_force(c.force, &c.at, out, why);
}

static const double Z_SCALE[2] = {1e-2, 1e-1}; // of displacements and angles, and of their rates

int asi_plugin_force_jacobian(const as_plugin_force *f, const as_plugin_force_point *at,
                              bool differences, double by_z[36], double by_rate[36], char *why) {
  char own[AS_PLUGIN_WHY];
  if (why == NULL) why = own;
  why[0] = '\0';
  memset(by_z, 0, 36 * sizeof(double));
  memset(by_rate, 0, 36 * sizeof(double));
  if (f->jacobian && !differences) {
    int code = take_code(f->jacobian(at, by_z, by_rate, why), why);
    if (code == AS_DONE) code = check_numbers(by_z, 36, "derivative", NULL, why);
    return code ? code : check_numbers(by_rate, 36, "derivative", NULL, why);
  }
  const of_force c = {f, *at};
  double x[12], column[MOST];
  memcpy(x, at->z, sizeof at->z);
  memcpy(x + 6, at->rate, sizeof at->rate);
  for (int j = 0; j < 12; ++j) {
    const int code =
        find_column(values_of_force, &c, x, j, Z_SCALE[j / 6], 1.0, 6, column, NULL, why);
    if (code) return code;
    for (int i = 0; i < 6; ++i) (j < 6 ? by_z : by_rate)[6 * i + j % 6] = column[i];
  }
  return AS_DONE;
}

// ---- comparison -------------------------------------------------------------------------------------

enum { POINTS = 4 }; // that are compared: the one given, and some near by

/// A number between -1 and 1, the same every time.
static double spread(int point, int j) {
  const double x = 0.754877666 * (point + 1) + 0.569840291 * (j + 1);
  return point == 0 ? 0.0 : 2.0 * (x - floor(x)) - 1.0;
}

/// Compares one column with what is given. Truncation is told by a step of twice the size.
static int compare_column(function *f, const void *context, double *x, int j, double scale, int m,
                          const double *given, asi_plugin_fault *fault) {
  double found[MOST], twice[MOST], rounding[MOST];
  char why[AS_PLUGIN_WHY];
  int code = find_column(f, context, x, j, scale, 1.0, m, found, rounding, why);
  if (code == AS_DONE) code = find_column(f, context, x, j, scale, 2.0, m, twice, NULL, why);
  for (int i = 0; i < m && code == AS_DONE && fault->row < 0; ++i) {
    const double allowed =
        1e-6 * fabs(found[i]) + 20.0 * fabs(found[i] - twice[i]) + 1e4 * rounding[i];
    if (!(fabs(given[i] - found[i]) <= allowed))
      *fault = (asi_plugin_fault){i, j, given[i], found[i]};
  }
  return code;
}

asi_plugin_fault asi_plugin_compare(const as_plugin_block *b, const as_plugin_point *at) {
  asi_plugin_fault fault = {-1, -1, 0.0, 0.0};
  const int nx = b->n_states, n = nx + b->n_inputs, m = nx + b->n_outputs;
  double x[MOST], given[ASI_PLUGIN_ENTRIES], column[MOST];
  for (int point = 0; point < POINTS && fault.row < 0; ++point) {
    of_block c = {b, *at};
    join(b, at, x);
    for (int j = 0; j < n; ++j) x[j] += 0.02 * spread(point, j) * fmax(fabs(x[j]), scale_of(b, j));
    c.at.state = x;
    c.at.input = x + nx;
    if (asi_plugin_jacobian(b, &c.at, false, given, NULL)) continue;
    for (int j = 0; j < n && fault.row < 0; ++j) {
      for (int i = 0; i < m; ++i) {
        const bool open =
            i >= nx && j >= nx && b->direct && !b->direct[(i - nx) * b->n_inputs + (j - nx)];
        column[i] = open ? 0.0 : given[place_of(b, i, j)];
      }
      (void)compare_column(values_of_block, &c, x, j, scale_of(b, j), m, column, &fault);
    }
  }
  return fault;
}

asi_plugin_fault asi_plugin_force_compare(const as_plugin_force *f,
                                          const as_plugin_force_point *at) {
  asi_plugin_fault fault = {-1, -1, 0.0, 0.0};
  double x[12], by[2][36], column[6];
  for (int point = 0; point < POINTS && fault.row < 0; ++point) {
    of_force c = {f, *at};
    for (int j = 0; j < 12; ++j)
      x[j] = (j < 6 ? at->z[j] : at->rate[j - 6]) + Z_SCALE[j / 6] * spread(point, j);
    memcpy(c.at.z, x, sizeof c.at.z);
    memcpy(c.at.rate, x + 6, sizeof c.at.rate);
    if (asi_plugin_force_jacobian(f, &c.at, false, by[0], by[1], NULL)) continue;
    for (int j = 0; j < 12 && fault.row < 0; ++j) {
      for (int i = 0; i < 6; ++i) column[i] = by[j / 6][6 * i + j % 6];
      (void)compare_column(values_of_force, &c, x, j, Z_SCALE[j / 6], 6, column, &fault);
    }
  }
  return fault;
}
