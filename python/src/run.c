/// Run: one simulation to its end, all rows of its channels in memory.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

/// Numbers that grow by rows. The library appends to it without the interpreter's lock.
typedef struct table {
  double *at;
  size_t n, room;
} table;

static bool append(table *t, const double *numbers, size_t n) {
  if (t->n + n > t->room) {
    const size_t room = 2 * t->room + n + 1000;
    double *more = realloc(t->at, room * sizeof *more);
    if (more == NULL) return false;
    t->at = more;
    t->room = room;
  }
  if (numbers)
    memcpy(t->at + t->n, numbers, n * sizeof *numbers);
  else
    for (size_t i = 0; i < n; ++i) t->at[t->n + i] = (double)NAN;
  t->n += n;
  return true;
}

typedef struct run_object {
  PyObject_HEAD PyObject *machine;
  as_run *run;
  table time, rows, poses, errors, pose_errors;
  core_log log;
  core_pulse pulse;
  bool accuracy, busy;
} run_object;

static PyTypeObject *run_type;

static const as_machine *machine_of(const run_object *r) {
  return ((machine_object *)r->machine)->machine;
}

static int run_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((run_object *)self)->machine);
  Py_VISIT(((run_object *)self)->pulse.progress);
  return 0;
}

static void run_dealloc(PyObject *self) {
  run_object *r = (run_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  as_run_destroy(r->run);
  table *const all[] = {&r->time, &r->rows, &r->poses, &r->errors, &r->pose_errors};
  for (int i = 0; i < 5; ++i) free(all[i]->at);
  core_log_free(&r->log);
  Py_XDECREF(r->machine);
  Py_XDECREF(r->pulse.progress);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static void note_progress(double t, void *user) { ((run_object *)user)->pulse.t = t; }

/// Fills a description by what the file says, then by what was asked for. `times` is to be freed by PyMem_Free.
static bool describe(run_object *r, PyObject *options, as_run_def *def, double **times,
                     const char ***channels) {
  const as_machine *m = machine_of(r);
  double steps = 0.0;
  def->integrator = m->simulation.integrator;
  def->t_end = m->simulation.t_end;
  def->max_steps = m->simulation.max_steps;
  def->channels = m->output.channels;
  def->n_channels = m->output.n_channels;
  def->interval = m->output.interval;
  def->times = m->output.times;
  def->n_times = m->output.n_times;
  def->accuracy = m->simulation.accuracy;
  def->poses = true;
  def->rules = m->rules;
  def->integrator.interrupt = core_pulse_stop;
  def->integrator.interrupt_user = &r->pulse;
  def->integrator.log = core_log_hear;
  def->integrator.log_user = &r->log;
  def->progress = note_progress;
  def->progress_user = r;
  if (!core_read_options(options, &def->integrator) ||
      !core_read_number(options, "t_end", &def->t_end) ||
      !core_read_number(options, "max_steps", &steps))
    return false;
  if (steps > 0.0) def->max_steps = (long)steps;
  PyObject *interval = PyDict_GetItemString(options, "interval");
  if (interval && interval != Py_None) {
    def->times = NULL;
    def->n_times = 0;
    if (!core_read_number(options, "interval", &def->interval)) return false;
  }
  PyObject *wanted = PyDict_GetItemString(options, "times");
  if (wanted && wanted != Py_None) {
    Py_ssize_t n = 0;
    *times = core_numbers(wanted, &n, "times");
    if (*times == NULL) return false;
    if (n == 0) {
      PyErr_SetString(PyExc_ValueError, "times: one at least is wanted");
      return false;
    }
    def->times = *times;
    def->n_times = (int)n;
    def->interval = (double)NAN;
  }
  PyObject *list = PyDict_GetItemString(options, "channels");
  if (list && list != Py_None) {
    *channels = core_texts(list, &def->n_channels);
    if (*channels == NULL) return false;
    def->channels = *channels;
  }
  PyObject *accuracy = PyDict_GetItemString(options, "accuracy");
  if (accuracy && accuracy != Py_None) def->accuracy = PyObject_IsTrue(accuracy) == 1;
  r->accuracy = def->accuracy;
  if (isnan(def->t_end)) {
    PyErr_SetString(
        PyExc_ValueError,
        "t_end: the model file has no `simulate:` with a `t_end`, so it has to be given");
    return false;
  }
  return true;
}

/// Run(machine, options)
static PyObject *run_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  PyObject *machine, *options, *progress;
  (void)words;
  if (!PyArg_ParseTuple(args, "O!O!O", machine_type, &machine, &PyDict_Type, &options, &progress))
    return NULL;
  run_object *r = (run_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (r == NULL) return NULL;
  r->machine = Py_NewRef(machine);
  if (progress != Py_None) r->pulse.progress = Py_NewRef(progress);
  as_run_def def = as_default_run_def();
  double *times = NULL;
  const char **channels = NULL;
  as_error error;
  const bool good = describe(r, options, &def, &times, &channels);
  if (good && as_run_create(machine_of(r)->model, &def, &r->run, &error)) core_fail(&error);
  PyMem_Free(times);
  PyMem_Free((void *)channels);
  if (r->run) return (PyObject *)r;
  Py_DECREF(r);
  return NULL;
}

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  run_object *r = user;
  const size_t poses = AS_POSE * (size_t)as_model_bodies(machine_of(r)->model);
  const bool good = append(&r->time, &t, 1) && append(&r->rows, row, (size_t)n) &&
                    append(&r->poses, as_run_poses(r->run), poses) &&
                    (!r->accuracy || (append(&r->errors, as_run_errors(r->run), (size_t)n) &&
                                      append(&r->pose_errors, as_run_pose_errors(r->run), poses)));
  if (good) return AS_OK;
  error->status = AS_ERR_MEMORY;
  strcpy(error->message, "There is no memory for more rows.");
  return AS_ERR_MEMORY;
}

/// go() -> (status, message, t, component, what has ended it). Failures of the simulation are not raised: rows up to there are kept.
static PyObject *run_go(PyObject *self, PyObject *none) {
  run_object *r = (run_object *)self;
  (void)none;
  if (r->busy) {
    PyErr_SetString(PyExc_RuntimeError, "this run is going on in another thread");
    return NULL;
  }
  as_error error = {.message = "", .component = ""};
  r->busy = true;
  PyThreadState *saved = core_begin();
  const as_status status = as_run_go(r->run, keep_row, r, NULL, &error);
  core_end(saved);
  r->busy = false;
  r->pulse.stopped = false;
  PyObject *raised = core_kept();
  if (status == AS_ERR_MEMORY || !core_log_tell(&r->log)) {
    Py_XDECREF(raised);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  if (raised == NULL || status == AS_OK || status == AS_STOPPED) {
    Py_XDECREF(raised);
    raised = Py_NewRef(Py_None);
  }
  const bool failed = as_status_is_failure(status) && !isnan(error.t);
  return Py_BuildValue("(ssdsN)", as_status_name(status), status ? error.message : "",
                       failed ? error.t : as_integrator_state(as_run_integrator(r->run))->t,
                       status ? error.component : "", raised);
}

static PyObject *view_of(run_object *r, table *t) {
  return core_view((PyObject *)r, t->at, (Py_ssize_t)t->n, false);
}

/// numbers() -> (time, rows, poses, errors), views; errors is None without accuracy.
static PyObject *run_numbers(PyObject *self, PyObject *none) {
  run_object *r = (run_object *)self;
  (void)none;
  if (r->busy) {
    PyErr_SetString(PyExc_RuntimeError, "this run is going on in another thread");
    return NULL;
  }
  PyObject *errors = r->accuracy ? view_of(r, &r->errors) : Py_NewRef(Py_None);
  return errors ? Py_BuildValue("(NNNN)", view_of(r, &r->time), view_of(r, &r->rows),
                                view_of(r, &r->poses), errors)
                : NULL;
}

static PyObject *run_channels(PyObject *self, PyObject *none) {
  (void)none;
  return core_channel_list(as_run_channels(((run_object *)self)->run));
}

static PyObject *run_events(PyObject *self, PyObject *none) {
  const as_run *run = ((run_object *)self)->run;
  (void)none;
  const long all = as_run_events(run), n = all < AS_RUN_EVENTS ? all : AS_RUN_EVENTS;
  PyObject *list = PyList_New(0);
  for (long i = 0; i < n && list; ++i) {
    if (!core_append(list, core_event(as_run_event(run, i)))) Py_CLEAR(list);
  }
  return list;
}

/// channel_errors() -> (largest, t, rms, size, relative) of each channel.
static PyObject *run_channel_errors(PyObject *self, PyObject *none) {
  const as_run *run = ((run_object *)self)->run;
  (void)none;
  PyObject *list = PyList_New(0);
  for (int i = 0; i < as_channels_count(as_run_channels(run)) && list; ++i) {
    const as_channel_error e = as_run_channel_error(run, i);
    if (!core_append(list, Py_BuildValue("(ddddd)", e.largest, e.t, e.rms, e.size, e.relative)))
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *run_statistics(PyObject *self, PyObject *none) {
  as_statistics s;
  as_error error;
  (void)none;
  if (as_integrator_statistics(as_run_integrator(((run_object *)self)->run), &s, &error))
    return core_fail(&error);
  return Py_BuildValue("{slslslslsl}", "steps", s.steps, "rejected_steps", s.rejected_steps,
                       "failed_steps", s.failed_steps, "newton_iterations", s.newton_iterations,
                       "factorizations", s.factorizations);
}

static as_status write_rows(run_object *r, as_results_writer *writer, as_error *error) {
  const int n = as_channels_count(as_run_channels(r->run));
  const size_t poses = AS_POSE * (size_t)as_model_bodies(machine_of(r)->model);
  as_status status = AS_OK;
  for (size_t i = 0; i < r->time.n && status == AS_OK; ++i)
    status = as_results_writer_row_errors(
        writer, r->time.at[i], r->rows.at + i * (size_t)n, n, r->poses.at + i * poses,
        r->accuracy ? r->errors.at + i * (size_t)n : NULL,
        r->accuracy ? r->pose_errors.at + i * poses : NULL, error);
  return status;
}

/// write(path): results.h5, with the scene for reports. With the interpreter's lock: HDF5 serves one thread at a time.
static PyObject *run_write(PyObject *self, PyObject *args) {
  run_object *r = (run_object *)self;
  const as_machine *m = machine_of(r);
  const char *path;
  as_error error;
  char *scene = NULL;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  as_status status = as_scene_text(m, &scene, &error);
  const as_named_text texts[] = {{"scene", scene},
                                 {"model", m->n_sources > 0 ? m->sources[0].text : ""}};
  as_results_writer_def def = as_default_results_writer_def();
  def.model = m->model;
  def.channels = as_run_channels(r->run);
  def.title = m->title;
  def.texts = texts;
  def.n_texts = 2;
  def.errors = r->accuracy;
  def.no_sync = true;
  as_results_writer *writer = NULL;
  if (status == AS_OK) status = as_results_writer_create(path, &def, &writer, &error);
  if (status == AS_OK) status = write_rows(r, writer, &error);
  const as_status closed = as_results_writer_close(writer, status ? NULL : &error);
  as_scene_free(scene);
  if (status || closed) return core_fail(&error);
  Py_RETURN_NONE;
}

/// report(results, output): the page from a file that write() has made.
static PyObject *run_report(PyObject *self, PyObject *args) {
  as_report_def def = as_default_report_def();
  as_error error;
  (void)self;
  if (!PyArg_ParseTuple(args, "ss", &def.results, &def.output)) return NULL;
  def.no_sync = true;
  if (as_report_write(&def, &error)) return core_fail(&error);
  Py_RETURN_NONE;
}

static PyMethodDef run_methods[] = {
    {"go", run_go, METH_NOARGS, NULL},
    {"numbers", run_numbers, METH_NOARGS, NULL},
    {"channels", run_channels, METH_NOARGS, NULL},
    {"events", run_events, METH_NOARGS, NULL},
    {"channel_errors", run_channel_errors, METH_NOARGS, NULL},
    {"statistics", run_statistics, METH_NOARGS, NULL},
    {"write", run_write, METH_VARARGS, NULL},
    {"report", run_report, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot run_slots[] = {
    {Py_tp_new, (void *)run_new},
    {Py_tp_dealloc, (void *)run_dealloc},
    {Py_tp_traverse, (void *)run_traverse},
    {Py_tp_methods, run_methods},
    {0, NULL},
};
static PyType_Spec run_spec = {.name = "alphastep._core.Run",
                               .basicsize = sizeof(run_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               .slots = run_slots};

bool run_ready(PyObject *module) { return core_add_type(module, "Run", &run_spec, &run_type); }
