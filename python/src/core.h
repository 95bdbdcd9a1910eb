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

/// Raises alphastep.Error with what the library says, or the exception that a callback of the caller's has left in `kept`. Returns NULL.
PyObject *core_fail(const as_error *error, PyObject **kept);
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
  PyObject *raised;   ///< the exception that has ended it; NULL: none
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

typedef struct machine_object {
  PyObject_HEAD as_machine *machine;
} machine_object;

extern PyTypeObject *machine_type;
bool machine_ready(PyObject *module);
bool run_ready(PyObject *module);
bool simulation_ready(PyObject *module);
bool problem_ready(PyObject *module);

typedef struct problem_object {
  PyObject_HEAD as_problem *problem;
  PyObject *mass, *force, *constraint, *nonholonomic, *state_rate;
  PyObject *raised; ///< by a callback; NULL: nothing
  int n, nq, n_lambda, n_psi, n_x;
} problem_object;

extern PyTypeObject *problem_type;

/// linear.c
PyObject *linear_equilibrium(PyObject *self, PyObject *args);
PyObject *linear_linearize(PyObject *self, PyObject *args);

/// Makes a type and adds it to the module.
bool core_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **out);
/// A list of texts as an array of C strings, which is to be freed by PyMem_Free and lives as long as the list; NULL with an exception.
const char **core_texts(PyObject *list, int *n);

#endif
