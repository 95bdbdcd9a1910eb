/// Simulation: a machine or a problem, step by step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

typedef struct simulation_object {
  PyObject_HEAD PyObject *of; ///< the machine, or the problem
  const as_problem *problem;
  problem_object *posed; ///< NULL: a machine
  as_integrator *integrator;
  as_channels *channels; ///< NULL: none
  as_event_def *events;  ///< of plugins' blocks
  double *row, *v;       ///< of channels; velocities on the constraints
  core_log log;
  core_pulse pulse;
  as_sizes n;
  bool index3, busy;
} simulation_object;

static PyTypeObject *simulation_type;

static void simulation_dealloc(PyObject *self) {
  simulation_object *s = (simulation_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  as_integrator_destroy(s->integrator);
  as_channels_destroy(s->channels);
  PyMem_Free(s->row);
  PyMem_Free(s->v);
  PyMem_Free(s->events);
  core_log_free(&s->log);
  Py_XDECREF(s->of);
  Py_XDECREF(s->pulse.raised);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/// Raises what has gone wrong: in a callback, by Ctrl-C, or in the library.
static PyObject *fail(simulation_object *s, const as_error *error) {
  if (s->pulse.raised) return core_fail(error, &s->pulse.raised);
  return core_fail(error, s->posed ? &s->posed->raised : NULL);
}

static bool enter(simulation_object *s) {
  if (s->integrator && !s->busy) return s->busy = true;
  PyErr_SetString(PyExc_RuntimeError, "this simulation is used by another thread");
  return false;
}

/// Numbers that the caller gives instead of the start's: `key` of the options.
static bool take(PyObject *options, const char *key, int wanted, double **out) {
  PyObject *value = PyDict_GetItemString(options, key);
  if (value == NULL || value == Py_None) return true;
  Py_ssize_t n = 0;
  *out = core_numbers(value, &n, key);
  if (*out == NULL) return false;
  if (n == wanted) return true;
  PyErr_Format(PyExc_ValueError, "%s: %d numbers are wanted, not %zd", key, wanted, n);
  return false;
}

static bool start(simulation_object *s, PyObject *options, as_initial from) {
  double *q = NULL, *v = NULL, *x = NULL, *u = NULL, t = from.t;
  as_error error;
  bool good = take(options, "q", s->n.q, &q) && take(options, "v", s->n.v, &v) &&
              take(options, "x", s->n.x, &x) && take(options, "u", s->n.u, &u) &&
              core_read_number(options, "t", &t);
  from.t = t;
  if (q || v) from.keep = NULL;
  if (q) from.q = q;
  if (v) from.v = v;
  if (x) from.x = x;
  if (u) from.u = u;
  if (good && from.q == NULL) {
    PyErr_SetString(PyExc_ValueError, "q: a problem needs a configuration to start from");
    good = false;
  }
  if (good) {
    PyThreadState *saved = PyEval_SaveThread();
    const as_status status = as_integrator_start(s->integrator, &from, NULL, &error);
    PyEval_RestoreThread(saved);
    good = status == AS_OK && core_log_tell(&s->log);
    if (status) fail(s, &error);
  }
  PyMem_Free(q);
  PyMem_Free(v);
  PyMem_Free(x);
  PyMem_Free(u);
  return good;
}

/// Angles of channels follow each step, so that they never jump by a turn.
static void follow(const as_state *end, void *user) {
  simulation_object *s = user;
  as_error error;
  (void)as_channels_follow(s->channels, end,
                           &error); // what cannot be followed is told when it is read
}

static bool create(simulation_object *s, as_integrator_def *def, const as_model *model) {
  as_error error;
  const int own = model ? as_model_events(model, NULL) : 0;
  if (own > 0) {
    s->events = PyMem_Malloc((size_t)own * sizeof *s->events);
    if (s->events == NULL) {
      PyErr_NoMemory();
      return false;
    }
    def->events = s->events;
    def->n_events = as_model_events(model, s->events);
  }
  def->interrupt = core_pulse_stop;
  def->interrupt_user = &s->pulse;
  def->log = core_log_hear;
  def->log_user = &s->log;
  if (s->channels) def->step_taken = follow;
  def->step_user = s;
  s->index3 = def->method == AS_METHOD_INDEX3;
  if (as_integrator_create(s->problem, def, &s->integrator, &error)) core_fail(&error, NULL);
  s->v = PyMem_Malloc(((size_t)s->n.v + 1) * sizeof *s->v);
  if (s->v == NULL) PyErr_NoMemory();
  return s->integrator && s->v;
}

/// Simulation(machine or problem, options, channels)
static PyObject *simulation_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  PyObject *of, *options, *list;
  (void)words;
  if (!PyArg_ParseTuple(args, "OO!O!", &of, &PyDict_Type, &options, &PyList_Type, &list))
    return NULL;
  const bool machine = PyObject_TypeCheck(of, machine_type);
  if (machine && as_rules_count(((machine_object *)of)->machine->rules) > 0) {
    PyErr_SetString(
        PyExc_NotImplementedError,
        "events of a model file happen in run(), not in start(): leave `events:` away, or test "
        "their conditions between steps");
    return NULL;
  }
  if (!machine && !PyObject_TypeCheck(of, problem_type)) {
    PyErr_SetString(PyExc_TypeError, "a machine or a problem is wanted");
    return NULL;
  }
  simulation_object *s =
      (simulation_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (s == NULL) return NULL;
  const as_machine *m = machine ? ((machine_object *)of)->machine : NULL;
  as_integrator_def def = m ? m->simulation.integrator : as_default_integrator_def();
  as_initial from = m ? *as_model_initial(m->model) : (as_initial){.t = 0.0};
  as_error error;
  s->of = Py_NewRef(of);
  s->posed = m ? NULL : (problem_object *)of;
  s->problem = m ? as_model_problem(m->model) : s->posed->problem;
  s->n = as_problem_sizes(s->problem);
  int n_channels = 0;
  const char **channels = core_texts(list, &n_channels);
  bool good = channels && core_read_options(options, &def);
  if (good && n_channels > 0 && m) {
    good = as_channels_create(m->model, channels, n_channels, &s->channels, &error) == AS_OK;
    if (!good) core_fail(&error, NULL);
  }
  PyMem_Free((void *)channels);
  const int width = s->channels ? as_channels_count(s->channels) : 0;
  if (good) s->row = PyMem_Calloc((size_t)width + 1, sizeof *s->row);
  if (good && s->row == NULL) PyErr_NoMemory();
  good = good && s->row && create(s, &def, m ? m->model : NULL) && start(s, options, from);
  if (good) return (PyObject *)s;
  Py_DECREF(s);
  return NULL;
}

// ---- steps ------------------------------------------------------------------------------------------

/// What a call of the library has ended with: None, True where an event has stopped it, or an exception.
static PyObject *end(simulation_object *s, as_status status, const as_error *error) {
  s->busy = false;
  if (status && status != AS_STOPPED) return fail(s, error);
  if (s->log.n > 0 && !core_log_tell(&s->log)) return NULL;
  return PyBool_FromLong(status == AS_STOPPED);
}

static PyObject *simulation_advance(PyObject *self, PyObject *arg) {
  simulation_object *s = (simulation_object *)self;
  const double t = PyFloat_AsDouble(arg);
  as_error error;
  if ((t == -1.0 && PyErr_Occurred()) || !enter(s)) return NULL;
  PyThreadState *saved = PyEval_SaveThread();
  const as_status status = as_integrator_advance(s->integrator, t, &error);
  PyEval_RestoreThread(saved);
  return end(s, status, &error);
}

static PyObject *simulation_next(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  as_error error;
  (void)none;
  if (!enter(s)) return NULL;
  PyThreadState *saved = PyEval_SaveThread();
  const as_status status = as_integrator_next(s->integrator, &error);
  PyEval_RestoreThread(saved);
  return end(s, status, &error);
}

/// set(u): all held signals.
static PyObject *simulation_set(PyObject *self, PyObject *arg) {
  simulation_object *s = (simulation_object *)self;
  Py_ssize_t n = 0;
  double *u = core_numbers(arg, &n, "signals");
  as_error error;
  if (u == NULL) return NULL;
  if (n != s->n.u) {
    PyErr_Format(PyExc_ValueError, "%d signals are wanted, not %zd", s->n.u, n);
    PyMem_Free(u);
    return NULL;
  }
  if (!enter(s)) {
    PyMem_Free(u);
    return NULL;
  }
  PyThreadState *saved = PyEval_SaveThread();
  const as_status status = as_integrator_set_signals(s->integrator, u, &error);
  PyEval_RestoreThread(saved);
  PyMem_Free(u);
  return end(s, status, &error);
}

// ---- what is read -----------------------------------------------------------------------------------

/// Evaluates the channels into the simulation's own row, which row() is a view of. With the interpreter's lock: it takes microseconds.
static PyObject *simulation_read(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  (void)none;
  if (s->channels == NULL) Py_RETURN_NONE;
  if (!enter(s)) return NULL;
  as_statistics work;
  as_error error;
  as_state state = *as_integrator_state(s->integrator);
  as_status status = as_integrator_statistics(s->integrator, &work, &error);
  if (status == AS_OK && s->index3) {
    status = as_integrator_velocity(s->integrator, s->v, &error);
    state.v = s->v;
  }
  const double none_known = (double)NAN;
  const as_view view = {.state = &state,
                        .dissipated = none_known,
                        .work = none_known,
                        .start_energy = none_known,
                        .h = work.last_step,
                        .newton_iterations = none_known,
                        .error = work.error,
                        .position_drift = none_known,
                        .velocity_drift = none_known};
  if (status == AS_OK) status = as_channels_follow(s->channels, &state, &error);
  if (status == AS_OK) status = as_channels_evaluate(s->channels, &view, s->row, &error);
  s->busy = false;
  if (status) return fail(s, &error);
  Py_RETURN_NONE;
}

static PyObject *simulation_row(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  (void)none;
  return core_view(self, s->row, s->channels ? as_channels_count(s->channels) : 0, false);
}

static PyObject *simulation_channels(PyObject *self, PyObject *none) {
  const as_channels *channels = ((simulation_object *)self)->channels;
  (void)none;
  PyObject *list = PyList_New(0);
  for (int i = 0; channels && i < as_channels_count(channels) && list; ++i) {
    const as_channel c = as_channels_get(channels, i);
    PyObject *one = Py_BuildValue("(ss)", c.name, c.unit);
    if (one == NULL || PyList_Append(list, one)) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}

static PyObject *copy_of(const double *x, int n) {
  return PyBytes_FromStringAndSize((const char *)x, (Py_ssize_t)sizeof(double) * n);
}

/// state(name): bytes of q, v, vdot, lambda, psi, x, y or u.
static PyObject *simulation_state(PyObject *self, PyObject *arg) {
  simulation_object *s = (simulation_object *)self;
  const as_state *x = as_integrator_state(s->integrator);
  const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
  const struct {
    const char *name;
    const double *at;
    int n;
  } parts[] = {{"q", x->q, s->n.q},       {"v", x->v, s->n.v},
               {"vdot", x->vdot, s->n.v}, {"lambda", x->lambda, s->n.lambda},
               {"psi", x->psi, s->n.psi}, {"x", x->x, s->n.x},
               {"y", x->y, s->n.y},       {"u", x->u, s->n.u}};
  if (name == NULL || !enter(s)) return NULL;
  if (strcmp(name, "v") == 0 && s->index3) {
    as_error error;
    const as_status status = as_integrator_velocity(s->integrator, s->v, &error);
    s->busy = false;
    return status ? fail(s, &error) : copy_of(s->v, s->n.v);
  }
  s->busy = false;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (strcmp(name, parts[i].name) == 0) return copy_of(parts[i].at, parts[i].n);
  PyErr_Format(PyExc_KeyError, "%s", name);
  return NULL;
}

static PyObject *simulation_time(PyObject *self, PyObject *none) {
  (void)none;
  return PyFloat_FromDouble(as_integrator_state(((simulation_object *)self)->integrator)->t);
}

static PyObject *simulation_statistics(PyObject *self, PyObject *none) {
  simulation_object *const of = (simulation_object *)self;
  as_statistics s;
  as_error error;
  (void)none;
  if (!enter(of)) return NULL;
  const as_status status = as_integrator_statistics(of->integrator, &s, &error);
  of->busy = false;
  if (status) return core_fail(&error, NULL);
  return Py_BuildValue("{slslslslslsd}", "steps", s.steps, "rejected_steps", s.rejected_steps,
                       "failed_steps", s.failed_steps, "newton_iterations", s.newton_iterations,
                       "factorizations", s.factorizations, "last_step", s.last_step);
}

// ---- saved states -----------------------------------------------------------------------------------

/// A state: the number of bytes that channels remember, eight of them with the lowest first, these bytes, those of the integrator.
enum { HEAD = 8 };

static as_status save(simulation_object *s, char *bytes, size_t *remembered, size_t *size,
                      as_error *error) {
  as_status status = AS_OK;
  if (s->channels)
    status = as_channels_save(s->channels, bytes ? bytes + HEAD : NULL, remembered, error);
  if (status == AS_OK)
    status =
        as_integrator_save(s->integrator, bytes ? bytes + HEAD + *remembered : NULL, size, error);
  for (int i = 0; i < HEAD && bytes; ++i)
    bytes[i] = (char)((unsigned long long)*remembered >> 8 * i);
  return status;
}

static PyObject *simulation_save(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  (void)none;
  as_error error;
  size_t remembered = 0, size = 0;
  if (!enter(s)) return NULL;
  as_status status = save(s, NULL, &remembered, &size, &error);
  PyObject *out = NULL;
  char *bytes = status == AS_OK ? PyMem_Malloc(HEAD + remembered + size) : NULL;
  if (bytes) status = save(s, bytes, &remembered, &size, &error);
  if (bytes && status == AS_OK)
    out = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)(HEAD + remembered + size));
  if (status == AS_OK && bytes == NULL) PyErr_NoMemory();
  PyMem_Free(bytes);
  s->busy = false;
  return status ? fail(s, &error) : out;
}

static PyObject *simulation_load(PyObject *self, PyObject *args) {
  simulation_object *s = (simulation_object *)self;
  const char *bytes;
  Py_ssize_t size;
  as_error error;
  if (!PyArg_ParseTuple(args, "y#", &bytes, &size)) return NULL;
  unsigned long long remembered = 0;
  for (int i = 0; i < HEAD && i < size; ++i)
    remembered |= (unsigned long long)(unsigned char)bytes[i] << 8 * i;
  if (size < HEAD || remembered > (unsigned long long)(size - HEAD)) {
    PyErr_SetString(PyExc_ValueError, "state: these bytes are no saved state");
    return NULL;
  }
  if (!enter(s)) return NULL;
  const char *const rest = bytes + HEAD + remembered;
  as_status status = as_integrator_load(s->integrator, rest, (size_t)(bytes + size - rest), &error);
  if (status == AS_OK && s->channels)
    status = as_channels_load(s->channels, bytes + HEAD, (size_t)remembered, &error);
  return end(s, status, &error);
}

static PyMethodDef simulation_methods[] = {
    {"advance", simulation_advance, METH_O, NULL},
    {"next", simulation_next, METH_NOARGS, NULL},
    {"set", simulation_set, METH_O, NULL},
    {"read", simulation_read, METH_NOARGS, NULL},
    {"row", simulation_row, METH_NOARGS, NULL},
    {"channels", simulation_channels, METH_NOARGS, NULL},
    {"state", simulation_state, METH_O, NULL},
    {"time", simulation_time, METH_NOARGS, NULL},
    {"statistics", simulation_statistics, METH_NOARGS, NULL},
    {"save", simulation_save, METH_NOARGS, NULL},
    {"load", simulation_load, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot simulation_slots[] = {
    {Py_tp_new, (void *)simulation_new},
    {Py_tp_dealloc, (void *)simulation_dealloc},
    {Py_tp_methods, simulation_methods},
    {0, NULL},
};
static PyType_Spec simulation_spec = {.name = "alphastep._core.Simulation",
                                      .basicsize = sizeof(simulation_object),
                                      .flags = Py_TPFLAGS_DEFAULT,
                                      .slots = simulation_slots};

bool simulation_ready(PyObject *module) {
  return core_add_type(module, "Simulation", &simulation_spec, &simulation_type);
}
