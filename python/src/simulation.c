/// Simulation: a machine or a problem, step by step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

typedef struct simulation_object {
  PyObject_HEAD PyObject *of; ///< the machine, or the problem
  as_instance *instance;      ///< of a machine; NULL: a problem
  as_integrator *integrator;  ///< the instance's, or of its own
  PyObject *row_owner;        ///< holds the row, so that views of it do not hold the simulation
  double *row, *v, *u;        ///< of channels; velocities on the constraints; signals that are set
  int *input;                 ///< places in u of the n_inputs that set() takes
  int n_inputs;
  core_log log;
  core_pulse pulse;
  as_sizes n;
  bool index3, busy;
} simulation_object;

static PyTypeObject *simulation_type;

static int simulation_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((simulation_object *)self)->of);
  return 0;
}

static void simulation_dealloc(PyObject *self) {
  simulation_object *s = (simulation_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (s->instance)
    as_instance_destroy(s->instance);
  else
    as_integrator_destroy(s->integrator);
  Py_XDECREF(s->row_owner);
  PyMem_Free(s->v);
  PyMem_Free(s->u);
  PyMem_Free(s->input);
  core_log_free(&s->log);
  Py_XDECREF(s->of);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/// Before a call of the library: false with an exception.
static bool enter(simulation_object *s) {
  if (s->integrator == NULL || s->busy) {
    PyErr_SetString(PyExc_RuntimeError,
                    "this simulation is at work: in another thread, or for the function that asks");
    return false;
  }
  s->busy = true;
  s->pulse.stopped = false;
  core_arm();
  return true;
}

/// What a call has ended with: whether an event has stopped it, or an exception.
static PyObject *leave(simulation_object *s, as_status status, const as_error *error) {
  core_disarm();
  s->busy = false;
  if (status && status != AS_STOPPED) return core_fail(error);
  if (s->log.n > 0 && !core_log_tell(&s->log)) return NULL;
  return PyBool_FromLong(status == AS_STOPPED);
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
    PyThreadState *saved = core_begin();
    const as_status status = s->instance ? as_instance_start(s->instance, &from, &error)
                                         : as_integrator_start(s->integrator, &from, NULL, &error);
    core_end(saved);
    good = status == AS_OK && core_log_tell(&s->log);
    if (status) core_fail(&error);
  }
  PyMem_Free(q);
  PyMem_Free(v);
  PyMem_Free(x);
  PyMem_Free(u);
  return good;
}

/// The places of inputs among the signals.
static bool take_inputs(simulation_object *s, PyObject *list) {
  const Py_ssize_t n = PyList_Size(list);
  s->input = PyMem_Calloc((size_t)n + 1, sizeof *s->input);
  if (s->input == NULL) return PyErr_NoMemory() != NULL;
  s->n_inputs = (int)n;
  for (Py_ssize_t i = 0; i < n; ++i) s->input[i] = (int)PyLong_AsLong(PyList_GetItem(list, i));
  return !PyErr_Occurred();
}

static bool create(simulation_object *s, as_integrator_def *how, const char **channels,
                   int n_channels) {
  as_status status;
  as_error error;
  how->interrupt = core_pulse_stop;
  how->interrupt_user = &s->pulse;
  how->log = core_log_hear;
  how->log_user = &s->log;
  s->index3 = how->method == AS_METHOD_INDEX3;
  const as_problem *problem;
  core_arm();
  if (PyObject_TypeCheck(s->of, machine_type)) {
    const as_machine *m = ((machine_object *)s->of)->machine;
    as_instance_def def = as_default_instance_def();
    def.integrator = *how;
    def.rules = m->rules;
    def.channels = channels;
    def.n_channels = n_channels;
    problem = as_model_problem(m->model);
    status = as_instance_create(m->model, &def, &s->instance, &error);
    if (status == AS_OK) s->integrator = as_instance_integrator(s->instance);
  } else {
    problem = ((problem_object *)s->of)->problem;
    status = as_integrator_create(problem, how, &s->integrator, &error);
  }
  core_disarm();
  s->n = as_problem_sizes(problem);
  if (status) return core_fail(&error) != NULL;
  const int width = s->instance ? as_instance_width(s->instance) : 0;
  s->row_owner =
      PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)sizeof(double) * (width > 0 ? width : 1));
  if (s->row_owner) s->row = (double *)(void *)PyByteArray_AsString(s->row_owner);
  s->v = PyMem_Calloc((size_t)s->n.v + 1, sizeof *s->v);
  s->u = PyMem_Calloc((size_t)s->n.u + 1, sizeof *s->u);
  if (!s->row || !s->v || !s->u) return PyErr_NoMemory() != NULL;
  return true;
}

/// Simulation(machine or problem, options, channels, inputs)
static PyObject *simulation_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  PyObject *of, *options, *list, *inputs;
  (void)words;
  if (!PyArg_ParseTuple(args, "OO!O!O!", &of, &PyDict_Type, &options, &PyList_Type, &list,
                        &PyList_Type, &inputs))
    return NULL;
  const bool machine = PyObject_TypeCheck(of, machine_type);
  if (!machine && !PyObject_TypeCheck(of, problem_type)) {
    PyErr_SetString(PyExc_TypeError, "a machine or a problem is wanted");
    return NULL;
  }
  simulation_object *s =
      (simulation_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (s == NULL) return NULL;
  const as_machine *m = machine ? ((machine_object *)of)->machine : NULL;
  as_integrator_def how = m ? m->simulation.integrator : as_default_integrator_def();
  s->of = Py_NewRef(of);
  int n_channels = 0;
  const char **channels = core_texts(list, &n_channels);
  bool good = channels && take_inputs(s, inputs) && core_read_options(options, &how) &&
              create(s, &how, channels, n_channels);
  PyMem_Free((void *)channels);
  good = good && start(s, options, m ? *as_model_initial(m->model) : (as_initial){.t = 0.0});
  if (good) return (PyObject *)s;
  Py_DECREF(s);
  return NULL;
}

// ---- steps ------------------------------------------------------------------------------------------

/// Channels into the simulation's own row, which row() is a view of.
static as_status read_row(simulation_object *s, as_error *error) {
  return s->instance ? as_instance_read(s->instance, s->row, error) : AS_OK;
}

/// What is left after a call: the row. The lock has been given up.
static PyObject *finish(simulation_object *s, PyThreadState *saved, as_status status,
                        as_error *error) {
  if (status == AS_OK || status == AS_STOPPED) {
    const as_status read = read_row(s, error);
    if (read) status = read;
  }
  PyEval_RestoreThread(saved);
  return leave(s, status, error);
}

/// Numbers of a buffer of doubles or of a sequence, straight into `out`.
static bool fill(PyObject *from, double *out, int n, const char *what) {
  Py_ssize_t count = 0;
  double *numbers = core_numbers(from, &count, what);
  if (numbers == NULL) return false;
  if (count == n)
    memcpy(out, numbers, (size_t)n * sizeof *out);
  else
    PyErr_Format(PyExc_ValueError, "%d %s are wanted, not %zd", n, what, count);
  PyMem_Free(numbers);
  return count == n;
}

/// Signals with the inputs among them, into s->u. False with an exception; *news: whether they differ from what they were.
static bool take_signals(simulation_object *s, PyObject *inputs, bool *news) {
  const double *now = as_integrator_state(s->integrator)->u;
  double few[16], *value = s->n_inputs <= 16 ? few : PyMem_Malloc((size_t)s->n_inputs * 8);
  if (value == NULL) return PyErr_NoMemory() != NULL;
  const bool good = fill(inputs, value, s->n_inputs, "inputs");
  if (good) {
    memcpy(s->u, now, (size_t)s->n.u * sizeof *s->u);
    for (int i = 0; i < s->n_inputs; ++i) s->u[s->input[i]] = value[i];
    *news = memcmp(s->u, now, (size_t)s->n.u * sizeof *s->u) != 0;
  }
  if (value != few) PyMem_Free(value);
  return good;
}

/// advance(t, inputs=None): sets the inputs, unless they are what they were, goes to t and reads the channels.
static PyObject *simulation_advance(PyObject *self, PyObject *const *args, Py_ssize_t n) {
  simulation_object *s = (simulation_object *)self;
  if (n < 1 || n > 2) {
    PyErr_SetString(PyExc_TypeError, "advance() takes a time, and may be inputs");
    return NULL;
  }
  const double t = PyFloat_AsDouble(args[0]);
  as_error error;
  bool news = false;
  if (t == -1.0 && PyErr_Occurred()) return NULL;
  if (!enter(s)) return NULL;
  if (n == 2 && args[1] != Py_None && !take_signals(s, args[1], &news)) {
    core_disarm();
    s->busy = false;
    return NULL;
  }
  PyThreadState *saved = PyEval_SaveThread();
  as_status status = AS_OK;
  if (news) status = as_instance_set(s->instance, s->u, &error);
  if (status == AS_OK)
    status = s->instance ? as_instance_advance(s->instance, t, &error)
                         : as_integrator_advance(s->integrator, t, &error);
  return finish(s, saved, status, &error);
}

static PyObject *simulation_next(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  as_error error;
  (void)none;
  if (!enter(s)) return NULL;
  PyThreadState *saved = PyEval_SaveThread();
  const as_status status = s->instance ? as_instance_next(s->instance, &error)
                                       : as_integrator_next(s->integrator, &error);
  return finish(s, saved, status, &error);
}

/// set(inputs): all of them.
static PyObject *simulation_set(PyObject *self, PyObject *inputs) {
  simulation_object *s = (simulation_object *)self;
  as_error error;
  bool news;
  if (!enter(s)) return NULL;
  if (!take_signals(s, inputs, &news)) {
    core_disarm();
    s->busy = false;
    return NULL;
  }
  PyThreadState *saved = PyEval_SaveThread();
  const as_status status = news ? as_instance_set(s->instance, s->u, &error) : AS_OK;
  return finish(s, saved, status, &error);
}

// ---- what is read -----------------------------------------------------------------------------------

/// inputs() -> what they are now, as bytes.
static PyObject *simulation_inputs(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  (void)none;
  PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizeof(double) * s->n_inputs);
  const double *u = as_integrator_state(s->integrator)->u;
  for (int i = 0; i < s->n_inputs && out; ++i)
    memcpy(PyBytes_AsString(out) + sizeof(double) * (size_t)i, &u[s->input[i]], sizeof(double));
  return out;
}

/// read(): the row anew.
static PyObject *simulation_read(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  as_error error;
  (void)none;
  if (!enter(s)) return NULL;
  const as_status status = read_row(s, &error);
  return leave(s, status, &error);
}

static PyObject *simulation_row(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  (void)none;
  return core_view(s->row_owner, s->row, s->instance ? as_instance_width(s->instance) : 0, false);
}

static PyObject *simulation_channels(PyObject *self, PyObject *none) {
  (void)none;
  const simulation_object *s = (simulation_object *)self;
  return core_channel_list(s->instance ? as_instance_channels(s->instance) : NULL);
}

static PyObject *copy_of(const double *x, int n) {
  return PyBytes_FromStringAndSize((const char *)x, (Py_ssize_t)sizeof(double) * n);
}

/// state(name): bytes of q, v, vdot, lambda, psi, x, y or u.
static PyObject *simulation_state(PyObject *self, PyObject *arg) {
  simulation_object *s = (simulation_object *)self;
  const as_state *x = as_integrator_state(s->integrator);
  const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
  struct {
    const char *name;
    const double *at;
    int n;
  } parts[] = {{"q", x->q, s->n.q},       {"v", x->v, s->n.v},
               {"vdot", x->vdot, s->n.v}, {"lambda", x->lambda, s->n.lambda},
               {"psi", x->psi, s->n.psi}, {"x", x->x, s->n.x},
               {"y", x->y, s->n.y},       {"u", x->u, s->n.u}};
  if (name == NULL || !enter(s)) return NULL;
  as_status status = AS_OK;
  as_error error;
  if (strcmp(name, "v") == 0 && s->index3) {
    status = as_integrator_velocity(s->integrator, s->v, &error);
    parts[1].at = s->v;
  }
  PyObject *left = leave(s, status, &error);
  if (left == NULL) return NULL;
  Py_DECREF(left);
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
  if (as_integrator_statistics(of->integrator, &s, &error)) return core_fail(&error);
  return Py_BuildValue("{slslslslslsd}", "steps", s.steps, "rejected_steps", s.rejected_steps,
                       "failed_steps", s.failed_steps, "newton_iterations", s.newton_iterations,
                       "factorizations", s.factorizations, "last_step", s.last_step);
}

/// events() -> (name, t, direction, message) of each.
static PyObject *simulation_events(PyObject *self, PyObject *none) {
  const as_instance *i = ((simulation_object *)self)->instance;
  const long n = i ? as_instance_events(i) : 0;
  (void)none;
  PyObject *list = PyList_New(0);
  for (long k = 0; k < n && k < AS_RUN_EVENTS && list; ++k)
    if (!core_append(list, core_event(as_instance_event(i, k)))) Py_CLEAR(list);
  return list;
}

// ---- saved states -----------------------------------------------------------------------------------

static as_status save(simulation_object *s, char *bytes, size_t *size, as_error *error) {
  return s->instance ? as_instance_save(s->instance, bytes, size, error)
                     : as_integrator_save(s->integrator, bytes, size, error);
}

static PyObject *simulation_save(PyObject *self, PyObject *none) {
  simulation_object *s = (simulation_object *)self;
  (void)none;
  as_error error;
  size_t size = 0;
  if (!enter(s)) return NULL;
  as_status status = save(s, NULL, &size, &error);
  PyObject *out = NULL;
  if (status == AS_OK) out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (out) status = save(s, PyBytes_AsString(out), &size, &error);
  PyObject *left = leave(s, status, &error);
  if (left == NULL) Py_CLEAR(out);
  Py_XDECREF(left);
  return out;
}

static PyObject *simulation_load(PyObject *self, PyObject *args) {
  simulation_object *s = (simulation_object *)self;
  const char *bytes;
  Py_ssize_t size;
  as_error error;
  if (!PyArg_ParseTuple(args, "y#", &bytes, &size) || !enter(s)) return NULL;
  as_status status = s->instance ? as_instance_load(s->instance, bytes, (size_t)size, &error)
                                 : as_integrator_load(s->integrator, bytes, (size_t)size, &error);
  if (status == AS_OK) status = read_row(s, &error);
  return leave(s, status, &error);
}

static PyMethodDef simulation_methods[] = {
    {"advance", (PyCFunction)(void (*)(void))simulation_advance, METH_FASTCALL, NULL},
    {"next", simulation_next, METH_NOARGS, NULL},
    {"set", simulation_set, METH_O, NULL},
    {"read", simulation_read, METH_NOARGS, NULL},
    {"inputs", simulation_inputs, METH_NOARGS, NULL},
    {"events", simulation_events, METH_NOARGS, NULL},
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
    {Py_tp_traverse, (void *)simulation_traverse},
    {Py_tp_methods, simulation_methods},
    {0, NULL},
};
static PyType_Spec simulation_spec = {.name = "alphastep._core.Simulation",
                                      .basicsize = sizeof(simulation_object),
                                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                      .slots = simulation_slots};

bool simulation_ready(PyObject *module) {
  return core_add_type(module, "Simulation", &simulation_spec, &simulation_type);
}
