/// Analyses of machines: equilibria, linearizations, prescribed motions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

static PyObject *bytes_of(const double *x, size_t n) {
  return PyBytes_FromStringAndSize((const char *)x, (Py_ssize_t)(n * sizeof *x));
}

static const char *stability_name(as_stability s) {
  static const char *const names[] = {"unknown", "stable", "neutral", "unstable"};
  return names[s];
}

static as_status read_channels(as_channels *channels, const as_state *state, double *row,
                               as_error *error) {
  const double unknown = (double)NAN;
  const as_view view = {.state = state,
                        .dissipated = unknown,
                        .work = unknown,
                        .start_energy = unknown,
                        .h = unknown,
                        .newton_iterations = unknown,
                        .error = unknown,
                        .position_drift = unknown,
                        .velocity_drift = unknown};
  return as_channels_evaluate(channels, &view, row, error);
}

/// The values of channels at a state, as bytes; `names` gets (name, unit) of each.
static PyObject *channel_values(as_channels *channels, const as_state *state, PyObject **names,
                                as_error *error) {
  const int n = as_channels_count(channels);
  double *row = PyMem_Malloc(((size_t)n + 1) * sizeof *row);
  PyObject *out = NULL;
  error->status = AS_OK;
  if (row == NULL) return PyErr_NoMemory();
  if (read_channels(channels, state, row, error) == AS_OK) out = bytes_of(row, (size_t)n);
  PyMem_Free(row);
  *names = out ? core_channel_list(channels) : NULL;
  return out;
}

static as_status follow_motion(const as_machine *m, const double *times, Py_ssize_t n,
                               as_channels *channels, double *rows, core_pulse *pulse,
                               as_error *error) {
  const int width = as_channels_count(channels);
  as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  def.interrupt = core_pulse_stop;
  def.interrupt_user = pulse;
  as_initial from = *as_model_initial(m->model);
  as_status status = as_analysis_create(as_model_problem(m->model), &def, &analysis, error);
  if (status == AS_OK) status = as_analysis_begin_motion(analysis, &from, NULL, error);
  for (Py_ssize_t i = 0; i < n && status == AS_OK; ++i) {
    if (times[i] != as_analysis_state(analysis)->t)
      status = as_analysis_follow_motion(analysis, times[i], NULL, error);
    const as_state *state = as_analysis_state(analysis);
    if (status == AS_OK) status = as_channels_follow(channels, state, error);
    if (status == AS_OK) status = read_channels(channels, state, rows + i * width, error);
  }
  as_analysis_destroy(analysis);
  return status;
}

/// inverse(machine, times, channels) -> (names, rows as bytes): a machine whose freedom is all prescribed.
PyObject *analysis_inverse(PyObject *self, PyObject *args) {
  PyObject *machine, *given, *list, *out = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!OO!", machine_type, &machine, &given, &PyList_Type, &list))
    return NULL;
  const as_machine *m = ((machine_object *)machine)->machine;
  Py_ssize_t n = 0;
  double *times = core_numbers(given, &n, "times");
  int n_channels = 0;
  const char **text = times ? core_texts(list, &n_channels) : NULL;
  as_channels *channels = NULL;
  core_pulse pulse = {0};
  as_error error;
  if (text == NULL) {
    PyMem_Free(times);
    return NULL;
  }
  as_status status = as_channels_create(m->model, text, n_channels, &channels, &error);
  const size_t width = status ? 0 : (size_t)as_channels_count(channels);
  double *rows = PyMem_Malloc(((size_t)n * width + 1) * sizeof *rows);
  PyThreadState *saved = core_begin();
  if (status == AS_OK && rows) status = follow_motion(m, times, n, channels, rows, &pulse, &error);
  core_end(saved);
  if (rows == NULL)
    PyErr_NoMemory();
  else if (status)
    core_fail(&error);
  else
    out = Py_BuildValue("(NN)", core_channel_list(channels), bytes_of(rows, (size_t)n * width));
  PyMem_Free(rows);
  PyMem_Free(times);
  PyMem_Free((void *)text);
  as_channels_destroy(channels);
  return out;
}

/// equilibrium(machine, channels) -> dict
PyObject *analysis_equilibrium(PyObject *self, PyObject *args) {
  PyObject *machine, *list, *out = NULL, *names = NULL, *values = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!O!", machine_type, &machine, &PyList_Type, &list)) return NULL;
  const as_machine *m = ((machine_object *)machine)->machine;
  const as_problem *problem = as_model_problem(m->model);
  const as_sizes n = as_problem_sizes(problem);
  int n_channels = 0;
  const char **text = core_texts(list, &n_channels);
  if (text == NULL) return NULL;
  as_analysis *analysis = NULL;
  as_channels *channels = NULL;
  as_equilibrium found;
  as_analysis_def def = as_default_analysis_def();
  core_pulse pulse = {0};
  as_error error;
  def.interrupt = core_pulse_stop;
  def.interrupt_user = &pulse;
  PyThreadState *saved = core_begin();
  as_status status = as_channels_create(m->model, text, n_channels, &channels, &error);
  if (status == AS_OK) status = as_analysis_create(problem, &def, &analysis, &error);
  if (status == AS_OK)
    status = as_analysis_equilibrium(analysis, as_model_initial(m->model), &found, &error);
  core_end(saved);
  PyMem_Free((void *)text);
  if (status == AS_OK) {
    const as_state *s = as_analysis_state(analysis);
    values = channel_values(channels, s, &names, &error);
    if (values && names)
      out = Py_BuildValue("{sNsNsNsNsNsssisdsisNsN}", "q", bytes_of(s->q, (size_t)n.q), "x",
                          bytes_of(s->x, (size_t)n.x), "y", bytes_of(s->y, (size_t)n.y), "u",
                          bytes_of(s->u, (size_t)n.u), "lambda",
                          bytes_of(s->lambda, (size_t)n.lambda), "stability",
                          stability_name(found.stability), "degrees_of_freedom",
                          found.degrees_of_freedom, "unbalanced", found.unbalanced, "iterations",
                          found.iterations, "values", values, "channels", names);
    else if (!PyErr_Occurred())
      core_fail(&error);
  } else {
    core_fail(&error);
  }
  as_analysis_destroy(analysis);
  as_channels_destroy(channels);
  return out;
}

/// (re, im, frequency, damping, is free, shape as bytes: n_v real parts and n_v imaginary ones) of each mode.
static PyObject *modes_of(const as_linearization *l, int n_v, as_error *error) {
  as_modes *modes = NULL;
  error->status = AS_OK;
  if (as_modes_create(l, &modes, error)) return NULL;
  PyObject *list = PyList_New(0);
  for (int i = 0; i < modes->n && list; ++i) {
    const as_mode *m = &modes->mode[i];
    if (!core_append(list,
                     Py_BuildValue("(ddddNN)", m->re, m->im, m->frequency, m->damping,
                                   PyBool_FromLong(m->free), bytes_of(m->shape, 2 * (size_t)n_v))))
      Py_CLEAR(list);
  }
  as_modes_destroy(modes);
  return list;
}

/// (name, unit) of each state.
static PyObject *states_of(const as_model *model, const as_linearization *l) {
  PyObject *list = PyList_New(0);
  for (int i = 0; i < l->n_states && list; ++i) {
    char text[400];
    as_linear_state_name(model, l, i, text, sizeof text);
    if (!core_append(list, Py_BuildValue("(ss)", text, as_linear_state_unit(model, l, i))))
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *describe(const as_machine *m, const as_linearization *l, as_channels *channels,
                          const double *c, const double *d, as_error *error) {
  const size_t n = (size_t)l->n_states, inputs = (size_t)l->n_inputs,
               rows = (size_t)as_channels_count(channels);
  PyObject *names = core_channel_list(channels);
  PyObject *modes = names ? modes_of(l, as_problem_sizes(l->problem).v, error) : NULL;
  PyObject *states = modes ? states_of(m->model, l) : NULL;
  if (states == NULL) {
    Py_XDECREF(names);
    Py_XDECREF(modes);
    return NULL;
  }
  return Py_BuildValue("{sNsNsNsNsNsNsNsisdsi}", "a", bytes_of(l->a, n * n), "b",
                       bytes_of(l->b, n * inputs), "c", bytes_of(c, rows * n), "d",
                       bytes_of(d, rows * inputs), "states", states, "modes", modes, "channels",
                       names, "degrees_of_freedom", l->degrees_of_freedom, "acceleration",
                       l->acceleration, "samplers", l->n_samplers);
}

/// Where to linearize: at the start, or at the equilibrium that is found from there.
static as_status find_place(const as_machine *m, bool rest, as_analysis **analysis,
                            as_initial *from, core_pulse *pulse, as_error *error) {
  *from = *as_model_initial(m->model);
  if (!rest) return AS_OK;
  as_analysis_def def = as_default_analysis_def();
  def.interrupt = core_pulse_stop;
  def.interrupt_user = pulse;
  as_status status = as_analysis_create(as_model_problem(m->model), &def, analysis, error);
  if (status == AS_OK) status = as_analysis_equilibrium(*analysis, from, NULL, error);
  if (status) return status;
  const as_state *s = as_analysis_state(*analysis);
  from->q = s->q;
  from->v = s->v;
  from->x = s->x;
  from->y = s->y;
  from->u = s->u;
  from->lambda = s->lambda;
  from->psi = s->psi;
  from->keep = NULL;
  return AS_OK;
}

/// linearize(machine, at the equilibrium?, list of held signals, list of channels) -> dict; matrices by columns.
PyObject *analysis_linearize(PyObject *self, PyObject *args) {
  PyObject *machine, *signals, *list, *out = NULL;
  int rest;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!pO!O!", machine_type, &machine, &rest, &PyList_Type, &signals,
                        &PyList_Type, &list))
    return NULL;
  const as_machine *m = ((machine_object *)machine)->machine;
  const int n_inputs = (int)PyList_Size(signals);
  as_linear_input *input = PyMem_Calloc((size_t)n_inputs + 1, sizeof *input);
  if (input == NULL) return PyErr_NoMemory();
  for (int i = 0; i < n_inputs; ++i)
    input[i].signal = (int)PyLong_AsLong(PyList_GetItem(signals, i));
  int n_channels = 0;
  const char **text = PyErr_Occurred() ? NULL : core_texts(list, &n_channels);
  if (text == NULL) {
    PyMem_Free(input);
    return NULL;
  }
  as_linearization_def def = as_default_linearization_def();
  as_linearization *l = NULL;
  as_analysis *analysis = NULL;
  as_channels *channels = NULL;
  as_initial from;
  core_pulse pulse = {0};
  as_error error;
  double *c = NULL, *d = NULL;
  def.inputs = input;
  def.n_inputs = n_inputs;
  PyThreadState *saved = core_begin();
  as_status status = as_channels_create(m->model, text, n_channels, &channels, &error);
  if (status == AS_OK) status = find_place(m, rest, &analysis, &from, &pulse, &error);
  if (status == AS_OK) status = as_linearize(as_model_problem(m->model), &from, &def, &l, &error);
  if (status == AS_OK) {
    const size_t rows = (size_t)as_channels_count(channels);
    c = calloc(rows * (size_t)l->n_states + 1, sizeof *c);
    d = calloc(rows * (size_t)n_inputs + 1, sizeof *d);
    if (c && d && n_channels > 0) status = as_channels_linearize(channels, l, c, d, &error);
  }
  core_end(saved);
  PyMem_Free((void *)text);
  PyMem_Free(input);
  if (status)
    core_fail(&error);
  else if (c == NULL || d == NULL)
    PyErr_NoMemory();
  else if ((out = describe(m, l, channels, c, d, &error)) == NULL && !PyErr_Occurred())
    core_fail(&error);
  free(c);
  free(d);
  as_linearization_destroy(l);
  as_analysis_destroy(analysis);
  as_channels_destroy(channels);
  return out;
}
