/// What the files of the extension module share. It sees the library's public headers alone, and Python's limited interface (3.11), so that
/// one binary serves this and later versions of Python.
#ifndef ALPHASTEP_PYTHON_CORE_H
#define ALPHASTEP_PYTHON_CORE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"

// ---- core.c -----------------------------------------------------------------------------------------

/// Around each call of the library that takes long or calls functions of Python. core_begin() gives up the interpreter's lock; what functions
/// raise in this thread until core_end() is kept for core_fail(). The other two do the same without touching the lock.
PyThreadState *core_begin(void);
void core_end(PyThreadState *state);
void core_arm(void);
void core_disarm(void);
/// Keeps the exception that is set until the library has come back; of a thread of the library's it is dropped. `why` (AS_PLUGIN_WHY
/// characters; may be NULL) receives it as a sentence. Needs the interpreter's lock.
void core_keep(char *why);
/// Takes the exception that is set.
PyObject *core_catch(void);
/// The exception that was kept in this thread, which is the caller's now; NULL: none.
PyObject *core_kept(void);
/// Raises the exception that was kept, otherwise alphastep.Error with what the library says. Returns NULL.
PyObject *core_fail(const as_error *error);
/// Raises alphastep.ModelError. Returns NULL.
PyObject *core_fail_model(const as_messages *messages);
/// Emits what a log has collected as warnings, and clears it. False: a warning has become an exception.
typedef struct core_log {
  char **text;
  int n;
} core_log;
void core_log_hear(as_log_level level, const char *message, void *log);
bool core_log_tell(core_log *log);
void core_log_free(core_log *log);

/// Numbers that belong to an object, seen through the buffer protocol without a copy: a view keeps its object alive.
PyObject *core_view(PyObject *owner, double *at, Py_ssize_t n, bool writable);
extern PyTypeObject *core_view_type;

/// The numbers of a buffer of doubles or of a sequence, to be freed by PyMem_Free; NULL with an exception. `what` names it in the message.
double *core_numbers(PyObject *from, Py_ssize_t *n, const char *what);

/// Asks now and then, while the library works without the interpreter's lock, whether Ctrl-C was pressed or `progress` wants to stop.
typedef struct core_pulse {
  PyObject *progress; ///< called with the time; NULL: none
  bool stopped;       ///< an exception has ended it: core_kept()
  double next;        ///< when to ask again [s]
  double t;           ///< where the simulation is [s]
} core_pulse;
bool core_pulse_stop(void *pulse);

/// What a run or a simulation is asked for besides the model: keys method, step, rtol, rho_inf, max_step, first_step, newton_rtol of a dict.
/// False with an exception.
bool core_read_options(PyObject *options, as_integrator_def *def);
/// A number of a dict; `*out` stays as it is if it is not there or None. False with an exception.
bool core_read_number(PyObject *options, const char *key, double *out);

// ---- one type each ----------------------------------------------------------------------------------

typedef struct core_functions core_functions;

typedef struct machine_object {
  PyObject_HEAD as_machine *machine;
  core_functions *functions; ///< of Python, that it calls; NULL: none
} machine_object;

extern PyTypeObject *machine_type;
bool machine_ready(PyObject *module);
bool run_ready(PyObject *module);
bool simulation_ready(PyObject *module);
bool problem_ready(PyObject *module);

typedef struct problem_object {
  PyObject_HEAD as_problem *problem;
  PyObject *mass, *force, *constraint, *nonholonomic, *state_rate;
  int n, nq, n_lambda, n_psi, n_x;
} problem_object;

extern PyTypeObject *problem_type;

/// functions.c: blocks and forces by functions of Python, as one plugin of the name "python". From a list of tuples, see functions.c; NULL
/// with an exception. To be freed after the machine that uses it.
core_functions *functions_create(PyObject *list);
void functions_destroy(core_functions *functions);
const as_plugin *functions_plugin(const core_functions *functions);
int functions_visit(const core_functions *functions, visitproc visit, void *arg);
void functions_clear(core_functions *functions);

/// What a model file is allowed besides its own: folders of libraries, functions of Python.
typedef struct core_permission {
  as_plugin_policy policy;
  as_linked_plugin linked;
  const char **folders, **fmu_folders;
} core_permission;
/// `trusted`: a pair, of plugins and of FMUs: True, or a list of folders; functions: NULL, or those of `file: python`. False with an
/// exception. To be freed in either case.
bool core_permit(PyObject *trusted, const core_functions *functions, core_permission *out);
void core_permission_free(core_permission *p);

PyObject *analysis_equilibrium(PyObject *self, PyObject *args);
PyObject *analysis_linearize(PyObject *self, PyObject *args);
PyObject *analysis_inverse(PyObject *self, PyObject *args);
PyObject *study_go(PyObject *self, PyObject *args);
PyObject *reduction_go(PyObject *self, PyObject *args);

/// Makes a type and adds it to the module.
bool core_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **out);
/// Appends an object, which it takes, to a list; false with an exception, also where `item` is NULL.
bool core_append(PyObject *list, PyObject *item);
/// (name, t, direction, message)
PyObject *core_event(as_event_record event);
/// (name, unit) of each channel; NULL channels: an empty list.
PyObject *core_channel_list(const as_channels *channels);
/// A list of texts as an array of C strings, which is to be freed by PyMem_Free and lives as long as the list; NULL with an exception.
const char **core_texts(PyObject *list, int *n);

#endif
