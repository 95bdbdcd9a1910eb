/// Blocks and forces of machines by functions of Python: a plugin named "python" that lives in the process.
///
/// A plugin's functions are given numbers alone. So each block and force has one parameter of its own, whose value says which entry of a table
/// of functions it is. What a function raises ends the call that has led there (core_keep).
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { ID }; ///< the parameter

/// What a block or force calls; NULL: nothing.
typedef struct entry {
  PyObject *output, *rate, *sample, *force;
  PyObject *names; ///< that quantities point to the texts of
  int n_inputs, n_states, n_sampled, n_outputs;
  as_plugin_quantity id, *quantity;
  as_plugin_block block;
  as_plugin_force of_force;
} entry;

struct core_functions {
  entry *entry;
  int n;
  const as_plugin_block **blocks;
  const as_plugin_force **forces;
  as_plugin plugin;
};

// ---- the table: under the interpreter's lock -----------------------------------------------------------

static entry **table;
static long room;

static bool enlist(entry *e) {
  long i = 0;
  while (i < room && table[i]) ++i;
  if (i == room) {
    const long more = 2 * room + 16;
    entry **larger = realloc(table, (size_t)more * sizeof(entry *));
    if (larger == NULL) return PyErr_NoMemory() != NULL;
    memset(larger + room, 0, (size_t)(more - room) * sizeof(entry *));
    table = larger;
    room = more;
  }
  table[i] = e;
  e->id = (as_plugin_quantity){.name = "function", .value = (double)i};
  return true;
}

static const entry *find(const double *parameter) {
  const long i = (long)parameter[ID];
  return i >= 0 && i < room ? table[i] : NULL;
}

// ---- calls --------------------------------------------------------------------------------------------

static PyObject *tuple_of(const double *x, int n) {
  PyObject *out = PyTuple_New(n);
  for (int i = 0; i < n && out; ++i) {
    PyObject *one = PyFloat_FromDouble(x[i]);
    if (one == NULL || PyTuple_SetItem(out, i, one)) Py_CLEAR(out); // takes it
  }
  return out;
}

/// The answer as `n` numbers; one may stand alone.
static bool take_answer(PyObject *answer, double *out, int n, const char *what) {
  if (n == 1 && PyFloat_Check(answer)) {
    *out = PyFloat_AsDouble(answer);
    return true;
  }
  if (n == 1 && PyNumber_Check(answer) && !PySequence_Check(answer)) {
    *out = PyFloat_AsDouble(answer);
    return !PyErr_Occurred();
  }
  Py_ssize_t found = 0;
  double *numbers = core_numbers(answer, &found, what);
  if (numbers == NULL) return false;
  if (found == n)
    memcpy(out, numbers, (size_t)n * sizeof *out);
  else
    PyErr_Format(PyExc_ValueError, "%s returned %zd numbers, not %d", what, found, n);
  PyMem_Free(numbers);
  return found == n;
}

/// function(t, inputs, states, sampled), of which those that there are none of are left away.
static bool ask_block(const entry *e, PyObject *function, const as_plugin_point *at, double *out,
                      int n, const char *what) {
  const struct {
    const double *x;
    int n;
  } parts[] = {{at->input, e->n_inputs}, {at->state, e->n_states}, {at->sampled, e->n_sampled}};
  PyObject *args = PyTuple_New(1 + (e->n_inputs > 0) + (e->n_states > 0) + (e->n_sampled > 0));
  Py_ssize_t k = 0;
  bool good = args && PyTuple_SetItem(args, k++, PyFloat_FromDouble(at->t)) == 0;
  for (int i = 0; i < 3 && good; ++i) {
    if (parts[i].n == 0) continue;
    PyObject *part = tuple_of(parts[i].x, parts[i].n);
    good = part && PyTuple_SetItem(args, k++, part) == 0;
  }
  PyObject *answer = good ? PyObject_CallObject(function, args) : NULL;
  good = answer && take_answer(answer, out, n, what);
  Py_XDECREF(answer);
  Py_XDECREF(args);
  return good;
}

static int end(bool good, PyGILState_STATE lock, char *why) {
  if (!good) core_keep(why);
  PyGILState_Release(lock);
  return good ? AS_PLUGIN_DONE : AS_PLUGIN_FAIL;
}

static int evaluate_block(const as_plugin_point *at, double *rate, double *output, char *why) {
  const PyGILState_STATE lock = PyGILState_Ensure();
  const entry *e = find(at->parameter);
  bool good = true;
  if (rate && e->n_states > 0) good = ask_block(e, e->rate, at, rate, e->n_states, "rate");
  if (good && output && e->n_outputs > 0)
    good = ask_block(e, e->output, at, output, e->n_outputs, "output");
  return end(good, lock, why);
}

static int sample_block(const as_plugin_point *at, double *sampled, char *why) {
  const PyGILState_STATE lock = PyGILState_Ensure();
  const entry *e = find(at->parameter);
  return end(ask_block(e, e->sample, at, sampled, e->n_sampled, "sample"), lock, why);
}

static int evaluate_force(const as_plugin_force_point *at, double S[6], char *why) {
  const PyGILState_STATE lock = PyGILState_Ensure();
  const entry *e = find(at->parameter);
  PyObject *t = PyFloat_FromDouble(at->t), *z = tuple_of(at->z, 6), *rate = tuple_of(at->rate, 6);
  PyObject *answer =
      t && z && rate ? PyObject_CallFunctionObjArgs(e->force, t, z, rate, NULL) : NULL;
  const bool good = answer && take_answer(answer, S, 6, "force");
  Py_XDECREF(answer);
  Py_XDECREF(t);
  Py_XDECREF(z);
  Py_XDECREF(rate);
  return end(good, lock, why);
}

// ---- made and freed -------------------------------------------------------------------------------------

static PyObject *hold(PyObject *function) {
  return function == Py_None ? NULL : Py_NewRef(function);
}

/// Names with what they start with: a list of (name, value).
static bool take_quantities(PyObject *list, as_plugin_quantity *out) {
  const Py_ssize_t n = PyList_Size(list);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sd", &out[i].name, &out[i].value)) return false;
  return true;
}

/// From ("block", name, output, rate, sample, inputs, states, sampled, outputs), the last four lists of (name, start), or ("force", name,
/// function).
static bool take_entry(PyObject *from, entry *e) {
  const char *kind, *name;
  e->names = Py_NewRef(from);
  if (PyTuple_Size(from) == 3) {
    PyObject *function;
    if (!PyArg_ParseTuple(from, "ssO", &kind, &name, &function)) return false;
    e->force = hold(function);
    e->of_force = (as_plugin_force){.name = name,
                                    .n_parameters = 1,
                                    .parameter = &e->id,
                                    .reads_time = 1,
                                    .evaluate = evaluate_force};
    return enlist(e);
  }
  PyObject *f[3], *list[4];
  if (!PyArg_ParseTuple(from, "ssOOOO!O!O!O!", &kind, &name, &f[0], &f[1], &f[2], &PyList_Type,
                        &list[0], &PyList_Type, &list[1], &PyList_Type, &list[2], &PyList_Type,
                        &list[3]))
    return false;
  e->output = hold(f[0]);
  e->rate = hold(f[1]);
  e->sample = hold(f[2]);
  int *const n[] = {&e->n_inputs, &e->n_states, &e->n_sampled, &e->n_outputs};
  as_plugin_quantity *part[4];
  int all = 0;
  for (int i = 0; i < 4; ++i) all += *n[i] = (int)PyList_Size(list[i]);
  e->quantity = calloc((size_t)all + 1, sizeof *e->quantity);
  if (e->quantity == NULL) return PyErr_NoMemory() != NULL;
  for (int i = 0, at = 0; i < 4; at += *n[i++]) {
    part[i] = e->quantity + at;
    if (!take_quantities(list[i], part[i])) return false;
  }
  e->block = (as_plugin_block){.name = name,
                               .n_parameters = 1,
                               .parameter = &e->id,
                               .n_inputs = e->n_inputs,
                               .input = part[0],
                               .n_states = e->n_states,
                               .state = part[1],
                               .n_sampled = e->n_sampled,
                               .sampled = part[2],
                               .n_outputs = e->n_outputs,
                               .output = part[3],
                               .reads_time = 1,
                               .evaluate = evaluate_block,
                               .sample = e->n_sampled > 0 ? sample_block : NULL};
  return enlist(e);
}

core_functions *functions_create(PyObject *list) {
  const Py_ssize_t n = PyList_Size(list);
  core_functions *f = calloc(1, sizeof *f);
  if (f) {
    f->entry = calloc((size_t)n + 1, sizeof *f->entry);
    f->blocks = calloc((size_t)n + 1, sizeof *f->blocks);
    f->forces = calloc((size_t)n + 1, sizeof *f->forces);
  }
  if (f == NULL || !f->entry || !f->blocks || !f->forces) {
    PyErr_NoMemory();
    functions_destroy(f);
    return NULL;
  }
  int n_blocks = 0, n_forces = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    entry *e = &f->entry[f->n++];
    if (!take_entry(PyList_GetItem(list, i), e)) {
      functions_destroy(f);
      return NULL;
    }
    if (e->force)
      f->forces[n_forces++] = &e->of_force;
    else
      f->blocks[n_blocks++] = &e->block;
  }
  f->plugin = (as_plugin){.cookie = AS_PLUGIN_COOKIE,
                          .version = AS_PLUGIN_VERSION,
                          .name = "python",
                          .blocks = f->blocks,
                          .forces = f->forces};
  return f;
}

void functions_clear(core_functions *f) {
  for (int i = 0; f && i < f->n; ++i) {
    entry *e = &f->entry[i];
    Py_CLEAR(e->output);
    Py_CLEAR(e->rate);
    Py_CLEAR(e->sample);
    Py_CLEAR(e->force);
  }
}

void functions_destroy(core_functions *f) {
  if (f == NULL) return;
  functions_clear(f);
  for (int i = 0; i < f->n && f->entry; ++i) {
    entry *e = &f->entry[i];
    for (long k = 0; k < room; ++k)
      if (table[k] == e) table[k] = NULL;
    Py_XDECREF(e->names);
    free(e->quantity);
  }
  free(f->entry);
  free((void *)f->blocks);
  free((void *)f->forces);
  free(f);
}

const as_plugin *functions_plugin(const core_functions *f) { return &f->plugin; }

int functions_visit(const core_functions *f, visitproc visit, void *arg) {
  for (int i = 0; f && i < f->n; ++i) {
    const entry *e = &f->entry[i];
    Py_VISIT(e->output);
    Py_VISIT(e->rate);
    Py_VISIT(e->sample);
    Py_VISIT(e->force);
    Py_VISIT(e->names);
  }
  return 0;
}
