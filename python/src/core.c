/// The extension module alphastep._core: errors, buffers, and what its types share.
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

PyTypeObject *core_view_type;
static PyObject *error_class, *model_error_class, *warning_class;

// ---- errors -----------------------------------------------------------------------------------------

// What functions of Python raise goes through the library as a status. It is kept for the thread whose call has led there: several may use one
// machine at a time.
static _Thread_local PyObject *kept;
static _Thread_local int calls; ///< of the library that this thread is in

void core_arm(void) {
  if (calls++ == 0) Py_CLEAR(kept);
}

void core_disarm(void) { --calls; }

PyThreadState *core_begin(void) {
  core_arm();
  return PyEval_SaveThread();
}

void core_end(PyThreadState *state) {
  PyEval_RestoreThread(state);
  core_disarm();
}

/// "LookupError: no data", without a period at its end.
static void explain(PyObject *value, char *why) {
  PyObject *name = PyType_GetName(Py_TYPE(value));
  PyObject *text = name ? PyUnicode_FromFormat("%U: %S", name, value) : NULL;
  const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  snprintf(why, AS_PLUGIN_WHY, "%s", bytes ? bytes : "an exception");
  for (size_t n = strlen(why); n > 0 && (why[n - 1] == '.' || why[n - 1] == '\n'); --n)
    why[n - 1] = '\0';
  Py_XDECREF(name);
  Py_XDECREF(text);
  PyErr_Clear();
}

PyObject *core_catch(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

void core_keep(char *why) {
  PyObject *value = core_catch();
  if (why) explain(value, why);
  if (calls > 0 && kept == NULL) kept = Py_NewRef(value);
  Py_XDECREF(value);
}

PyObject *core_kept(void) {
  PyObject *out = kept;
  kept = NULL;
  return out;
}

PyObject *core_fail(const as_error *error) {
  PyObject *raised = core_kept();
  if (raised) {
    PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    Py_DECREF(raised);
    return NULL;
  }
  if (error->status == AS_ERR_MEMORY) return PyErr_NoMemory();
  PyObject *e = PyObject_CallFunction(error_class, "ssds", error->message,
                                      as_status_name(error->status), error->t, error->component);
  if (e) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  Py_XDECREF(e);
  return NULL;
}

PyObject *core_fail_model(const as_messages *messages) {
  PyObject *list = PyList_New(0);
  for (int i = 0; i < messages->n && list; ++i) {
    const as_message *m = &messages->message[i];
    if (!core_append(list, Py_BuildValue("(sii)", m->text, m->line, m->column))) Py_CLEAR(list);
  }
  PyObject *e = list ? PyObject_CallFunction(model_error_class, "O", list) : NULL;
  Py_XDECREF(list);
  if (e) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  Py_XDECREF(e);
  return NULL;
}

// ---- remarks ----------------------------------------------------------------------------------------

void core_log_hear(as_log_level level, const char *message, void *user) {
  core_log *log = user;
  if (level != AS_LOG_WARNING || log->n >= 100) return;
  char **more = realloc(log->text, (size_t)(log->n + 1) * sizeof *more);
  if (more == NULL) return;
  log->text = more;
  log->text[log->n] = strdup(message);
  if (log->text[log->n]) ++log->n;
}

bool core_log_tell(core_log *log) {
  bool good = true;
  for (int i = 0; i < log->n; ++i) {
    if (good) good = PyErr_WarnEx(warning_class, log->text[i], 2) == 0;
    free(log->text[i]);
  }
  log->n = 0;
  return good;
}

void core_log_free(core_log *log) {
  for (int i = 0; i < log->n; ++i) free(log->text[i]);
  free(log->text);
  *log = (core_log){0};
}

// ---- views ------------------------------------------------------------------------------------------

typedef struct view_object {
  PyObject_HEAD PyObject *owner;
  double *at;
  Py_ssize_t n, stride;
  bool writable;
} view_object;

PyObject *core_view(PyObject *owner, double *at, Py_ssize_t n, bool writable) {
  allocfunc make = (allocfunc)PyType_GetSlot(core_view_type, Py_tp_alloc);
  view_object *v = (view_object *)make(core_view_type, 0);
  if (v == NULL) return NULL;
  Py_INCREF(owner);
  v->owner = owner;
  v->at = at;
  v->n = n;
  v->stride = (Py_ssize_t)sizeof(double);
  v->writable = writable;
  return (PyObject *)v;
}

static void free_object(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static int view_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((view_object *)self)->owner);
  return 0;
}

static void view_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(((view_object *)self)->owner);
  free_object(self);
}

static int view_get(PyObject *self, Py_buffer *out, int flags) {
  static char format[] = "d";
  static double none;
  view_object *v = (view_object *)self;
  if ((flags & PyBUF_WRITABLE) && !v->writable) {
    PyErr_SetString(PyExc_BufferError, "these numbers are not to be written");
    out->obj = NULL;
    return -1;
  }
  *out = (Py_buffer){.buf = v->at ? v->at : &none,
                     .len = v->n * (Py_ssize_t)sizeof(double),
                     .itemsize = (Py_ssize_t)sizeof(double),
                     .readonly = !v->writable,
                     .ndim = 1,
                     .format = flags & PyBUF_FORMAT ? format : NULL,
                     .shape = flags & PyBUF_ND ? &v->n : NULL,
                     .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &v->stride : NULL};
  Py_INCREF(self);
  out->obj = self;
  return 0;
}

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, (void *)view_dealloc},
    {Py_tp_traverse, (void *)view_traverse},
    {Py_bf_getbuffer, (void *)view_get},
    {Py_tp_doc, (void *)"Numbers of another object, by the buffer protocol."},
    {0, NULL},
};
static PyType_Spec view_spec = {.name = "alphastep._core.View",
                                .basicsize = sizeof(view_object),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                         Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = view_slots};

double *core_numbers(PyObject *from, Py_ssize_t *n, const char *what) {
  Py_buffer b;
  double *out = NULL;
  if (PyObject_CheckBuffer(from) && PyObject_GetBuffer(from, &b, PyBUF_FORMAT | PyBUF_ND) == 0) {
    const bool doubles = b.format && strcmp(b.format, "d") == 0;
    if (doubles) {
      *n = b.len / (Py_ssize_t)sizeof(double);
      out = PyMem_Malloc((size_t)b.len + sizeof(double));
      if (out) memcpy(out, b.buf, (size_t)b.len);
      if (out == NULL) PyErr_NoMemory();
    }
    PyBuffer_Release(&b);
    if (doubles) return out;
  }
  PyErr_Clear();
  *n = PySequence_Size(from);
  if (*n < 0) {
    PyErr_Format(PyExc_TypeError, "%s: an array or a list of numbers is wanted", what);
    return NULL;
  }
  out = PyMem_Malloc((size_t)(*n + 1) * sizeof *out);
  if (out == NULL) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < *n && out; ++i) {
    PyObject *item = PySequence_GetItem(from, i);
    out[i] = item ? PyFloat_AsDouble(item) : -1.0;
    Py_XDECREF(item);
    if (!PyErr_Occurred()) continue;
    PyMem_Free(out);
    PyErr_Format(PyExc_TypeError, "%s: entry %zd is not a number", what, i);
    return NULL;
  }
  return out;
}

// ---- interrupts -------------------------------------------------------------------------------------

static const double PULSE = 0.05; // between two looks at signals [s]

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool core_pulse_stop(void *user) {
  core_pulse *p = user;
  const double now = seconds();
  if (p->stopped) return true;
  if (now < p->next) return false;
  const PyGILState_STATE lock = PyGILState_Ensure();
  bool good = PyErr_CheckSignals() == 0;
  if (good && p->progress) {
    PyObject *answer = PyObject_CallFunction(p->progress, "d", p->t);
    good = answer != NULL;
    Py_XDECREF(answer);
  }
  if (!good) core_keep(NULL);
  PyGILState_Release(lock);
  p->stopped = !good;
  p->next = seconds() + PULSE;
  return !good;
}

// ---- options ----------------------------------------------------------------------------------------

bool core_read_number(PyObject *options, const char *key, double *out) {
  PyObject *value = PyDict_GetItemString(options, key); // borrowed
  if (value == NULL || value == Py_None) return true;
  const double x = PyFloat_AsDouble(value);
  if (x == -1.0 && PyErr_Occurred()) {
    PyErr_Format(PyExc_TypeError, "%s: a number is wanted", key);
    return false;
  }
  if (isnan(x)) {
    PyErr_Format(PyExc_ValueError, "%s: nan is no number", key);
    return false;
  }
  *out = x;
  return true;
}

static bool read_method(PyObject *options, as_method *out) {
  static const char *const names[] = {"index2", "index3", "soi2"};
  PyObject *value = PyDict_GetItemString(options, "method");
  if (value == NULL || value == Py_None) return true;
  for (int i = 0; i < 3 && PyUnicode_Check(value); ++i)
    if (PyUnicode_CompareWithASCIIString(value, names[i]) == 0) {
      *out = (as_method)i;
      return true;
    }
  PyErr_Format(PyExc_ValueError, "method: %R is not one of 'index2', 'index3', 'soi2'", value);
  return false;
}

bool core_read_options(PyObject *options, as_integrator_def *def) {
  double rtol = (double)NAN, order = def->order;
  if (!read_method(options, &def->method) || !core_read_number(options, "step", &def->step) ||
      !core_read_number(options, "rtol", &rtol) ||
      !core_read_number(options, "rho_inf", &def->rho_inf) ||
      !core_read_number(options, "max_step", &def->tolerance.max_step) ||
      !core_read_number(options, "first_step", &def->tolerance.first_step) ||
      !core_read_number(options, "newton_rtol", &def->newton.rtol) ||
      !core_read_number(options, "order", &order))
    return false;
  if (order != 2.0 && order != 6.0) {
    PyErr_Format(PyExc_ValueError, "order: %R is neither 2 nor 6",
                 PyDict_GetItemString(options, "order"));
    return false;
  }
  def->order = (int)order;
  if (rtol == rtol) {
    PyObject *step = PyDict_GetItemString(options, "step");
    if (step && step != Py_None) {
      PyErr_SetString(PyExc_ValueError, "step and rtol: steps are given or automatic, not both");
      return false;
    }
    def->tolerance.rtol = rtol;
    def->step = (double)NAN;
  }
  return true;
}

const char **core_texts(PyObject *list, int *n) {
  const Py_ssize_t count = PyList_Size(list);
  const char **out = count < 0 ? NULL : PyMem_Malloc((size_t)(count + 1) * sizeof *out);
  if (count >= 0 && out == NULL) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && out; ++i) {
    PyObject *item = PyList_GetItem(list, i);
    out[i] = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
    if (out[i]) continue;
    if (item && !PyUnicode_Check(item)) PyErr_Format(PyExc_TypeError, "%R is not a text", item);
    PyMem_Free((void *)out);
    return NULL;
  }
  *n = (int)count;
  return out;
}

bool core_append(PyObject *list, PyObject *item) {
  const bool good = item && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return good;
}

PyObject *core_event(as_event_record e) {
  return Py_BuildValue("(sdiz)", e.name, e.t, e.direction, e.message);
}

PyObject *core_channel_list(const as_channels *channels) {
  PyObject *list = PyList_New(0);
  for (int i = 0; channels && i < as_channels_count(channels) && list; ++i) {
    const as_channel c = as_channels_get(channels, i);
    if (!core_append(list, Py_BuildValue("(ss)", c.name, c.unit))) Py_CLEAR(list);
  }
  return list;
}

// ---- the module -------------------------------------------------------------------------------------

static PyObject *schema(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  const size_t length = as_file_schema(NULL, 0);
  char *text = PyMem_Malloc(length + 1);
  if (text == NULL) return PyErr_NoMemory();
  as_file_schema(text, length + 1);
  PyObject *out = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
  PyMem_Free(text);
  return out;
}

bool core_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **out) {
  *out = (PyTypeObject *)PyType_FromSpec(spec);
  return *out && PyModule_AddObjectRef(module, name, (PyObject *)*out) == 0;
}

static PyMethodDef methods[] = {
    {"schema", schema, METH_NOARGS, "The JSON Schema of model files."},
    {"equilibrium", analysis_equilibrium, METH_VARARGS, NULL},
    {"linearize", analysis_linearize, METH_VARARGS, NULL},
    {"inverse", analysis_inverse, METH_VARARGS, NULL},
    {"study", study_go, METH_VARARGS, NULL},
    {"reduce", reduction_go, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "alphastep._core",
                                        .m_doc = "The library, as the package alphastep uses it.",
                                        .m_size = -1, .m_methods = methods};

static bool take_classes(void) {
  PyObject *errors = PyImport_ImportModule("alphastep._errors");
  if (errors == NULL) return false;
  error_class = PyObject_GetAttrString(errors, "Error");
  model_error_class = PyObject_GetAttrString(errors, "ModelError");
  warning_class = PyObject_GetAttrString(errors, "Warning");
  Py_DECREF(errors);
  return error_class && model_error_class && warning_class;
}

PyMODINIT_FUNC PyInit__core(void); // NOLINT: Python's name for it

PyMODINIT_FUNC PyInit__core(void) {
  PyObject *m = PyModule_Create(&definition);
  if (m == NULL) return NULL;
  if (!take_classes() || !core_add_type(m, "View", &view_spec, &core_view_type) ||
      !machine_ready(m) || !run_ready(m) || !simulation_ready(m) || !problem_ready(m) ||
      PyModule_AddStringConstant(m, "version", AS_VERSION)) {
    Py_DECREF(m);
    return NULL;
  }
  return m;
}
