/// Studies: many runs in the library's own threads.
#include <pthread.h>
#include <stdatomic.h>

#include "core.h"

typedef struct watch {
  core_pulse pulse;
  pthread_t caller; ///< the thread that hears of Ctrl-C
  atomic_bool stopped;
  PyObject *progress; ///< called with (over, runs); NULL: none
  PyObject *raised;   ///< by it
} watch;

static bool is_stopped(void *user) {
  watch *w = user;
  if (!atomic_load(&w->stopped) && pthread_equal(pthread_self(), w->caller) &&
      core_pulse_stop(&w->pulse))
    atomic_store(&w->stopped, true);
  return atomic_load(&w->stopped);
}

/// By any thread of the library's, one at a time. An exception ends the study.
static void note_progress(long over, long runs, void *user) {
  watch *w = user;
  if (w->progress == NULL || atomic_load(&w->stopped)) return;
  const PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *answer = PyObject_CallFunction(w->progress, "ll", over, runs);
  if (answer == NULL) {
    w->raised = core_catch();
    atomic_store(&w->stopped, true);
  }
  Py_XDECREF(answer);
  PyGILState_Release(lock);
}

static PyObject *table_of(const as_study *study) {
  const int parameters = as_study_parameters(study), results = as_study_results(study);
  PyObject *names = PyList_New(0), *kept = PyList_New(0), *runs = PyList_New(0);
  bool good = names && kept && runs;
  for (int i = 0; i < parameters && good; ++i)
    good = core_append(names, PyUnicode_FromString(as_study_parameter_get(study, i).path));
  for (int i = 0; i < results && good; ++i)
    good = core_append(kept, Py_BuildValue("(ss)", as_study_result_get(study, i).name,
                                           as_study_result_unit(study, i)));
  for (long k = 0; k < as_study_runs(study) && good; ++k) {
    const as_study_run run = as_study_run_get(study, k);
    PyObject *values = PyList_New(0);
    good = values != NULL;
    for (int i = 0; i < parameters && good; ++i) {
      char text[400];
      const double x = as_study_number(study, k, i);
      (void)as_study_setting(study, k, i, text, sizeof text);
      good = core_append(values, x == x ? PyFloat_FromDouble(x) : PyUnicode_FromString(text));
    }
    PyObject *of = PyBytes_FromStringAndSize((const char *)run.value,
                                             run.value ? (Py_ssize_t)sizeof(double) * results : 0);
    good = good && of;
    PyObject *one = good ? Py_BuildValue("(sdsNN)", as_study_outcome_name(run.outcome), run.t,
                                         run.message ? run.message : "", values, of)
                         : NULL;
    if (!good) {
      Py_XDECREF(values);
      Py_XDECREF(of);
    }
    good = core_append(runs, one);
  }
  if (good) return Py_BuildValue("(NNN)", names, kept, runs);
  Py_XDECREF(names);
  Py_XDECREF(kept);
  Py_XDECREF(runs);
  return NULL;
}

/// Makes the runs; the table, with whether Ctrl-C or an exception of `progress` has ended it.
static PyObject *go(const as_study_def *def, int threads, watch *w) {
  as_study *study = NULL;
  as_messages *messages = PyMem_Malloc(sizeof *messages);
  if (messages == NULL) return PyErr_NoMemory();
  as_error error;
  PyThreadState *saved = core_begin();
  as_status status = as_study_create(def, &study, messages);
  const bool created = status == AS_OK;
  if (created) status = as_study_go(study, threads, &error);
  core_end(saved);
  PyObject *out = NULL, *raised = w->raised ? w->raised : core_kept();
  if (status == AS_ERR_MEMORY)
    PyErr_NoMemory();
  else if (!created)
    core_fail_model(messages);
  else if (as_status_is_failure(status))
    core_fail(&error);
  else
    out = table_of(study);
  if (out) {
    const bool ended = status == AS_INTERRUPTED || atomic_load(&w->stopped);
    out = Py_BuildValue("(NNN)", out, PyBool_FromLong(ended),
                        raised && ended ? Py_NewRef(raised) : Py_NewRef(Py_None));
  }
  Py_XDECREF(raised);
  as_study_destroy(study);
  PyMem_Free(messages);
  return out;
}

/// study(definition, model, text, trusted, functions, settings, threads, progress) -> ((parameters, results, runs), ended, exception). definition:
/// path of a study file; model and text (bytes) take the place of its model; settings come behind its own.
PyObject *study_go(PyObject *self, PyObject *args) {
  const char *path, *model, *text;
  Py_ssize_t size = 0;
  PyObject *trusted, *functions, *settings, *progress, *out = NULL;
  int threads;
  (void)self;
  if (!PyArg_ParseTuple(args, "szz#OO!O!iO", &path, &model, &text, &size, &trusted, &PyList_Type,
                        &functions, &PyList_Type, &settings, &threads, &progress))
    return NULL;
  as_study_file *file = NULL;
  core_functions *called = NULL;
  core_permission p = {.folders = NULL};
  as_messages *messages = PyMem_Malloc(sizeof *messages);
  if (messages == NULL) return PyErr_NoMemory();
  const as_status status = as_study_file_load(path, &file, messages);
  if (status) core_fail_model(messages);
  PyMem_Free(messages);
  if (status) return NULL;
  as_study_def def = as_study_file_def(file);
  bool good = PyList_Size(functions) == 0 || (called = functions_create(functions)) != NULL;
  good = good && core_permit(trusted, called, &p);
  if (model) def.model = model;
  def.text = text;
  def.text_size = (size_t)size;
  int more = 0;
  const char **setting = good ? core_texts(settings, &more) : NULL;
  const char **all =
      setting ? PyMem_Malloc((size_t)(more + def.n_settings + 1) * sizeof *all) : NULL;
  if (setting && all == NULL) PyErr_NoMemory();
  if (all) {
    for (int i = 0; i < def.n_settings; ++i) all[i] = def.settings[i];
    for (int i = 0; i < more; ++i) all[def.n_settings + i] = setting[i];
    def.settings = all;
    def.n_settings += more;
    watch w = {.caller = pthread_self(), .progress = progress == Py_None ? NULL : progress};
    def.plugins = &p.policy;
    def.progress = note_progress;
    def.progress_user = &w;
    def.interrupt = is_stopped;
    def.interrupt_user = &w;
    out = go(&def, threads, &w);
  }
  PyMem_Free((void *)all);
  PyMem_Free((void *)setting);
  core_permission_free(&p);
  functions_destroy(called);
  as_study_file_destroy(file);
  return out;
}
