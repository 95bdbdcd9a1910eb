/// Problem: M v' = f with constraints, posed by functions of Python. All derivatives are differences.
#include <math.h>
#include <string.h>

#include "core.h"

PyTypeObject *problem_type;

static int problem_traverse(PyObject *self, visitproc visit, void *arg) {
  const problem_object *p = (problem_object *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(p->mass);
  Py_VISIT(p->force);
  Py_VISIT(p->constraint);
  Py_VISIT(p->nonholonomic);
  Py_VISIT(p->state_rate);
  return 0;
}

/// Of a problem that nobody has any more: its functions may hold what holds it.
static int problem_clear(PyObject *self) {
  problem_object *p = (problem_object *)self;
  Py_CLEAR(p->mass);
  Py_CLEAR(p->force);
  Py_CLEAR(p->constraint);
  Py_CLEAR(p->nonholonomic);
  Py_CLEAR(p->state_rate);
  return 0;
}

static void problem_dealloc(PyObject *self) {
  problem_object *p = (problem_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  as_problem_destroy(p->problem);
  (void)problem_clear(self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject *copy_of(const double *x, int n) {
  if (x == NULL) return Py_NewRef(Py_None);
  return PyBytes_FromStringAndSize((const char *)x, (Py_ssize_t)sizeof(double) * n);
}

/// function(t, q, v, x), each as bytes, has to return `n` numbers. Needs the interpreter's lock.
static double *ask(problem_object *p, PyObject *function, const as_point *at, Py_ssize_t n,
                   const char *what) {
  PyObject *answer = NULL, *t = PyFloat_FromDouble(at->t), *q = copy_of(at->q, p->nq),
           *v = copy_of(at->v, p->n), *x = copy_of(at->x, p->n_x);
  if (t && q && v && x) answer = PyObject_CallFunctionObjArgs(function, t, q, v, x, NULL);
  Py_XDECREF(t);
  Py_XDECREF(q);
  Py_XDECREF(v);
  Py_XDECREF(x);
  Py_ssize_t found = 0;
  double *out = answer ? core_numbers(answer, &found, what) : NULL;
  Py_XDECREF(answer);
  if (out && found != n) {
    PyErr_Format(PyExc_ValueError, "%s returned %zd numbers, not %zd", what, found, n);
    PyMem_Free(out);
    return NULL;
  }
  return out;
}

static int call(problem_object *p, PyObject *function, const as_point *at, int n, double *out,
                const char *what) {
  const PyGILState_STATE lock = PyGILState_Ensure();
  double *numbers = ask(p, function, at, n, what);
  const int status = numbers ? AS_DONE : AS_FATAL;
  if (numbers == NULL) core_keep(NULL);
  if (numbers) memcpy(out, numbers, (size_t)n * sizeof *out);
  PyMem_Free(numbers);
  PyGILState_Release(lock);
  return status;
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  problem_object *p = user;
  const PyGILState_STATE lock = PyGILState_Ensure();
  double *numbers = ask(p, p->mass, at, (Py_ssize_t)p->n * p->n, "mass");
  const int status = numbers ? AS_DONE : AS_FATAL;
  if (numbers == NULL) core_keep(NULL);
  if (numbers) as_matrix_add_block(m, 0, 0, p->n, p->n, numbers);
  PyMem_Free(numbers);
  PyGILState_Release(lock);
  return status;
}

static int force(const as_point *at, double *out, void *user) {
  problem_object *p = user;
  return call(p, p->force, at, p->n, out, "force");
}
static int constraint(const as_point *at, double *out, void *user) {
  problem_object *p = user;
  return call(p, p->constraint, at, p->n_lambda, out, "constraint");
}
static int nonholonomic(const as_point *at, double *out, void *user) {
  problem_object *p = user;
  return call(p, p->nonholonomic, at, p->n_psi, out, "nonholonomic");
}
static int state_rate(const as_point *at, double *out, void *user) {
  problem_object *p = user;
  return call(p, p->state_rate, at, p->n_x, out, "rate");
}

/// The parts of the space: a list of (kind, count).
static bool read_parts(PyObject *list, as_space_part *parts, int most, int *n) {
  static const char *const kinds[] = {"R", "SO3", "R3xSO3", "SE3"};
  *n = (int)PyList_Size(list);
  if (*n < 1 || *n > most) {
    PyErr_Format(PyExc_ValueError, "space: 1 to %d parts are wanted", most);
    return false;
  }
  for (int i = 0; i < *n; ++i) {
    const char *kind;
    int count, which = 0;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "si", &kind, &count)) return false;
    while (which < 4 && strcmp(kind, kinds[which]) != 0) ++which;
    if (which == 4) {
      PyErr_Format(PyExc_ValueError, "space: '%s' is not one of 'R', 'SO3', 'R3xSO3', 'SE3'", kind);
      return false;
    }
    parts[i] = (as_space_part){.kind = (as_space_kind)which, .count = count};
  }
  return true;
}

static PyObject *hold(PyObject *function) {
  return function == Py_None ? NULL : Py_NewRef(function);
}

/// Problem(parts, n_lambda, n_psi, n_x, mass, mass_constant, force, constraint, nonholonomic, state_rate)
static PyObject *problem_new(PyTypeObject *type, PyObject *args, PyObject *words) {
  enum { PARTS = 100 };
  PyObject *list, *f[5];
  int n_lambda, n_psi, n_x, constant;
  as_space_part parts[PARTS];
  as_problem_def def = as_default_problem_def();
  (void)words;
  if (!PyArg_ParseTuple(args, "O!iiiOpOOOO", &PyList_Type, &list, &n_lambda, &n_psi, &n_x, &f[0],
                        &constant, &f[1], &f[2], &f[3], &f[4]) ||
      !read_parts(list, parts, PARTS, &def.n_parts))
    return NULL;
  problem_object *p = (problem_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (p == NULL) return NULL;
  p->mass = hold(f[0]);
  p->force = hold(f[1]);
  p->constraint = hold(f[2]);
  p->nonholonomic = hold(f[3]);
  p->state_rate = hold(f[4]);
  p->n_lambda = n_lambda;
  p->n_psi = n_psi;
  p->n_x = n_x;
  def.parts = parts;
  def.n_lambda = n_lambda;
  def.n_psi = n_psi;
  def.n_x = n_x;
  def.mass_constant = constant;
  def.mass = mass;
  def.force = force;
  def.constraint = p->constraint ? constraint : NULL;
  def.nonholonomic = p->nonholonomic ? nonholonomic : NULL;
  def.state_rate = p->state_rate ? state_rate : NULL;
  def.user = p;
  as_error error;
  PyThreadState *saved = core_begin();
  const as_status status = as_problem_create(&def, &p->problem, &error);
  core_end(saved);
  if (status) {
    core_fail(&error);
    Py_DECREF(p);
    return NULL;
  }
  const as_sizes n = as_problem_sizes(p->problem);
  p->n = n.v;
  p->nq = n.q;
  return (PyObject *)p;
}

static PyObject *problem_sizes(PyObject *self, PyObject *none) {
  const problem_object *p = (problem_object *)self;
  (void)none;
  return Py_BuildValue("(ii)", p->nq, p->n);
}

static PyMethodDef problem_methods[] = {
    {"sizes", problem_sizes, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot problem_slots[] = {
    {Py_tp_new, (void *)problem_new},           {Py_tp_dealloc, (void *)problem_dealloc},
    {Py_tp_traverse, (void *)problem_traverse}, {Py_tp_clear, (void *)problem_clear},
    {Py_tp_methods, problem_methods},           {0, NULL},
};
static PyType_Spec problem_spec = {.name = "alphastep._core.Problem",
                                   .basicsize = sizeof(problem_object),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                   .slots = problem_slots};

bool problem_ready(PyObject *module) {
  return core_add_type(module, "Problem", &problem_spec, &problem_type);
}
