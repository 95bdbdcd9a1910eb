/// Machine: what a model file says, read and built.
#include <math.h>
#include <string.h>

#include "core.h"

PyTypeObject *machine_type;

static int machine_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return functions_visit(((machine_object *)self)->functions, visit, arg);
}

/// Of a machine that nobody has any more: its functions may hold what holds it.
static int machine_clear(PyObject *self) {
  functions_clear(((machine_object *)self)->functions);
  return 0;
}

static void machine_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  as_machine_destroy(((machine_object *)self)->machine);
  functions_destroy(((machine_object *)self)->functions);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/// Warns of what was read with a remark, and of what had to be assumed of joints.
static bool tell(const as_machine *m) {
  core_log log = {0};
  char text[400];
  for (int i = 0; i < m->n_warnings; ++i) core_log_hear(AS_LOG_WARNING, m->warnings[i], &log);
  for (int i = 0; i < as_model_joints(m->model); ++i)
    if (as_model_joint_remark(m->model, (as_joint_id){i}, text, sizeof text))
      core_log_hear(AS_LOG_WARNING, text, &log);
  const bool good = core_log_tell(&log);
  core_log_free(&log);
  return good;
}

/// True, or a list of folders.
static bool permit(PyObject *which, bool *all, const char ***folders, int *n) {
  *all = which == Py_True;
  if (!PyList_Check(which)) return true;
  *folders = core_texts(which, n);
  return *folders != NULL;
}

bool core_permit(PyObject *trusted, const core_functions *functions, core_permission *out) {
  as_plugin_policy *policy = &out->policy;
  PyObject *plugins, *fmus;
  *out = (core_permission){.folders = NULL};
  if (!PyArg_ParseTuple(trusted, "OO", &plugins, &fmus) ||
      !permit(plugins, &policy->all, &out->folders, &policy->n_folders) ||
      !permit(fmus, &policy->fmus, &out->fmu_folders, &policy->n_fmu_folders))
    return false;
  policy->folders = out->folders;
  policy->fmu_folders = out->fmu_folders;
  if (functions == NULL) return true;
  out->linked = (as_linked_plugin){"python", functions_plugin(functions)};
  policy->linked = &out->linked;
  policy->n_linked = 1;
  return true;
}

void core_permission_free(core_permission *p) {
  PyMem_Free((void *)p->folders);
  PyMem_Free((void *)p->fmu_folders);
}

/// Reads the model into `out`; false with an exception. With the interpreter's lock: HDF5, which flexible bodies are read by, serves one
/// thread at a time.
static bool read_model(machine_object *out, const char *path, const char *text, Py_ssize_t size,
                       PyObject *settings, PyObject *trusted) {
  core_permission p = {.folders = NULL};
  int n = 0;
  const char **setting = core_texts(settings, &n);
  if (setting == NULL) return false;
  as_messages *messages = PyMem_Malloc(sizeof *messages);
  if (messages == NULL || !core_permit(trusted, out->functions, &p)) {
    if (messages == NULL) PyErr_NoMemory();
    core_permission_free(&p);
    PyMem_Free(messages);
    PyMem_Free((void *)setting);
    return false;
  }
  core_arm();
  const as_status status =
      text ? as_machine_parse_with(text, (size_t)size, path, setting, n, &p.policy, &out->machine,
                                   messages)
           : as_machine_load_with(path, setting, n, &p.policy, &out->machine, messages);
  core_disarm();
  PyMem_Free((void *)setting);
  core_permission_free(&p);
  PyObject *raised = core_kept();
  if (status && raised)
    PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
  else if (status == AS_ERR_MEMORY)
    PyErr_NoMemory();
  else if (status)
    core_fail_model(messages);
  Py_XDECREF(raised);
  PyMem_Free(messages);
  return status == AS_OK && tell(out->machine);
}

/// Machine(path, text, settings, trusted, functions): `text` (bytes) instead of the file, then `path` is what messages call it. trusted: see
/// core_permit(); functions: see functions.c.
static PyObject *machine_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  const char *path, *text = NULL;
  Py_ssize_t size = 0;
  PyObject *settings, *trusted, *functions;
  if (words && PyDict_Size(words) > 0) {
    PyErr_SetString(PyExc_TypeError, "Machine() takes no keywords");
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "sz#O!OO!", &path, &text, &size, &PyList_Type, &settings, &trusted,
                        &PyList_Type, &functions))
    return NULL;
  machine_object *out = (machine_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (out == NULL) return NULL;
  bool good = true;
  if (PyList_Size(functions) > 0) good = (out->functions = functions_create(functions)) != NULL;
  if (good && read_model(out, path, text, size, settings, trusted)) return (PyObject *)out;
  Py_DECREF(out);
  return NULL;
}

/// Adds `value`, which it takes, to a dict.
static bool put(PyObject *dict, const char *key, PyObject *value) {
  const bool good = value && PyDict_SetItemString(dict, key, value) == 0;
  Py_XDECREF(value);
  return good;
}

typedef const char *name_fn(const as_model *model, int i);
static const char *body_name(const as_model *m, int i) {
  return as_model_body_name(m, (as_body_id){i});
}
static const char *joint_name(const as_model *m, int i) {
  return as_model_joint_name(m, (as_joint_id){i});
}
static const char *force_name(const as_model *m, int i) {
  return as_model_force_name(m, (as_force_id){i});
}
static const char *frame_name(const as_model *m, int i) {
  return as_model_frame_name(m, (as_frame_id){i});
}

static PyObject *names(const as_model *model, int n, name_fn *name) {
  PyObject *list = PyList_New(0);
  for (int i = 0; i < n && list; ++i) {
    const char *text = name(model, i);
    if (!core_append(list, PyUnicode_FromString(text ? text : ""))) Py_CLEAR(list);
  }
  return list;
}

/// (name, kind, unit, place) of each signal.
static PyObject *signals(const as_model *model) {
  static const char *const kinds[] = {"output", "state", "sampled", "held"};
  PyObject *list = PyList_New(0);
  for (int i = 0; i < as_model_signals(model) && list; ++i) {
    char text[400];
    const as_signal_id id = {i};
    as_model_signal_name(model, id, text, sizeof text);
    if (!core_append(list, Py_BuildValue("(sssi)", text, kinds[as_model_signal_kind(model, id)],
                                         as_model_signal_unit(model, id),
                                         as_model_signal_place(model, id))))
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *parameters(const as_machine *machine) {
  PyObject *dict = PyDict_New();
  for (int i = 0; i < machine->n_parameters && dict; ++i)
    if (!put(dict, machine->parameters[i].name, PyFloat_FromDouble(machine->parameters[i].value)))
      Py_CLEAR(dict);
  return dict;
}

/// Held parameters, as (name, place in u).
static PyObject *held_parameters(const as_model *model) {
  PyObject *dict = PyDict_New();
  for (int i = 0; i < as_model_parameters(model) && dict; ++i) {
    const as_parameter_id id = {i};
    if (!put(dict, as_model_parameter_name(model, id), PyLong_FromLong(i))) Py_CLEAR(dict);
  }
  return dict;
}

/// How many rows `output:` asks for by an interval; 0: it does not.
static long rows_of(const as_machine *m) {
  const double n = m->simulation.t_end / m->output.interval;
  return n > 0.0 && n < 1e6 ? (long)floor(n + 1e-9) + 1 : 0;
}

static PyObject *machine_info(PyObject *self, PyObject *none) {
  (void)none;
  const as_machine *m = ((machine_object *)self)->machine;
  const as_sizes n = as_problem_sizes(as_model_problem(m->model));
  PyObject *out = PyDict_New(), *channels = PyList_New(0);
  for (int i = 0; i < m->output.n_channels && channels; ++i) {
    if (!core_append(channels, PyUnicode_FromString(m->output.channels[i]))) Py_CLEAR(channels);
  }
  const bool good =
      out && put(out, "channels", channels) &&
      put(out, "title", m->title ? PyUnicode_FromString(m->title) : Py_NewRef(Py_None)) &&
      put(out, "description",
          m->description ? PyUnicode_FromString(m->description) : Py_NewRef(Py_None)) &&
      put(out, "t_end", PyFloat_FromDouble(m->simulation.t_end)) &&
      put(out, "rows", PyLong_FromLong(rows_of(m))) && put(out, "parameters", parameters(m)) &&
      put(out, "held", held_parameters(m->model)) &&
      put(out, "bodies", names(m->model, as_model_bodies(m->model), body_name)) &&
      put(out, "joints", names(m->model, as_model_joints(m->model), joint_name)) &&
      put(out, "forces", names(m->model, as_model_forces(m->model), force_name)) &&
      put(out, "frames", names(m->model, as_model_frames(m->model), frame_name)) &&
      put(out, "signals", signals(m->model)) &&
      put(out, "sizes",
          Py_BuildValue("{sisisisisisisi}", "q", n.q, "v", n.v, "lambda", n.lambda, "psi", n.psi,
                        "x", n.x, "y", n.y, "u", n.u));
  if (good) return out;
  Py_XDECREF(out);
  return NULL;
}

static PyObject *warnings_of(const as_machine *m, const as_survey *s) {
  PyObject *list = PyList_New(0);
  for (int i = 0; i < m->n_warnings + s->n_warnings && list; ++i) {
    if (!core_append(list, PyUnicode_FromString(i < m->n_warnings ? m->warnings[i]
                                                                  : s->warning[i - m->n_warnings])))
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *machine_check(PyObject *self, PyObject *none) {
  (void)none;
  const as_machine *m = ((machine_object *)self)->machine;
  as_survey *s = NULL;
  as_error error;
  PyThreadState *saved = core_begin();
  const as_status status =
      as_survey_create(m->model, &m->simulation.integrator, m->simulation.t_end, &s, &error);
  core_end(saved);
  if (status) return core_fail(&error);
  PyObject *out = Py_BuildValue("{sisisisisisisisisdsd}", "bodies", s->bodies, "joints", s->joints,
                                "forces", s->forces, "rows", s->rows, "unknowns", s->unknowns,
                                "degrees_of_freedom", s->degrees_of_freedom, "redundant",
                                s->n_redundant, "loops", s->loops, "mass", s->mass, "gap", s->gap);
  if (out && !put(out, "warnings", warnings_of(m, s))) Py_CLEAR(out);
  as_survey_destroy(s);
  return out;
}

static PyMethodDef machine_methods[] = {
    {"info", machine_info, METH_NOARGS, "Names and numbers of the machine, as a dict."},
    {"check", machine_check, METH_NOARGS, "What it is made of and what looks strange, as a dict."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot machine_slots[] = {
    {Py_tp_new, (void *)machine_new},           {Py_tp_dealloc, (void *)machine_dealloc},
    {Py_tp_traverse, (void *)machine_traverse}, {Py_tp_clear, (void *)machine_clear},
    {Py_tp_methods, machine_methods},           {0, NULL},
};
static PyType_Spec machine_spec = {.name = "alphastep._core.Machine",
                                   .basicsize = sizeof(machine_object),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                   .slots = machine_slots};

bool machine_ready(PyObject *module) {
  return core_add_type(module, "Machine", &machine_spec, &machine_type);
}
