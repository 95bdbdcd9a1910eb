/// Reductions: meshes of finite elements to flexible bodies in files.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { MOST_INTERFACES = 200, MOST_RATIOS = 100 };

/// What is made on the way, to be freed.
typedef struct work {
  as_mesh_files *files;
  as_interface interface[MOST_INTERFACES];
  long *nodes[MOST_INTERFACES];
  double *areas[MOST_INTERFACES], *at[MOST_INTERFACES];
  double *ratios, *rayleigh;
  long *points, *stress_points;
  as_sparse *stress;
  as_flexible_data *body;
} work;

static void free_work(work *w) {
  for (int i = 0; i < MOST_INTERFACES; ++i) {
    PyMem_Free(w->nodes[i]);
    PyMem_Free(w->areas[i]);
    PyMem_Free(w->at[i]);
  }
  PyMem_Free(w->ratios);
  PyMem_Free(w->rayleigh);
  PyMem_Free(w->points);
  PyMem_Free(w->stress_points);
  as_sparse_destroy(w->stress);
  as_mesh_files_destroy(w->files);
  as_flexible_destroy(w->body);
}

/// A value of a dict; NULL: not there, or None.
static PyObject *get(PyObject *dict, const char *key) {
  PyObject *value = PyDict_GetItemString(dict, key);
  return value == Py_None ? NULL : value;
}

static const char *text_of(PyObject *dict, const char *key) {
  PyObject *value = get(dict, key);
  return value ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
}

static bool take_integers(PyObject *list, long **out, int *n) {
  const Py_ssize_t count = PySequence_Size(list);
  *out = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof **out);
  if (count >= 0 && *out == NULL) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && *out && !PyErr_Occurred(); ++i) {
    PyObject *one = PySequence_GetItem(list, i);
    if (one) (*out)[i] = PyLong_AsLong(one);
    Py_XDECREF(one);
  }
  *n = (int)count;
  return *out && !PyErr_Occurred();
}

/// A file, or (name, bytes) instead of one.
typedef struct source {
  const char *path, *text;
  Py_ssize_t size;
} source;

static bool take_source(PyObject *from, source *out) {
  if (PyUnicode_Check(from)) return (out->path = PyUnicode_AsUTF8AndSize(from, NULL)) != NULL;
  return PyArg_ParseTuple(from, "sy#", &out->path, &out->text, &out->size) != 0;
}

static as_status read_matrix(as_mesh_files *f, as_matrix_role role, const source *s,
                             const char *name, as_error *error) {
  return s->text
             ? as_mesh_files_parse_matrix(f, role, s->text, (size_t)s->size, s->path, name, error)
             : as_mesh_files_matrix(f, role, s->path, name, error);
}

/// Reads nodes, unknowns and matrices.
static bool read_files(PyObject *spec, work *w) {
  PyObject *nodes = get(spec, "nodes");
  source k = {0}, m = {0};
  as_error error;
  as_status status = as_mesh_files_create(&w->files, &error);
  for (Py_ssize_t i = 0; i < PyList_Size(nodes) && status == AS_OK; ++i) {
    source s = {0};
    if (!take_source(PyList_GetItem(nodes, i), &s)) return false;
    status = s.text ? as_mesh_files_parse_nodes(w->files, s.text, (size_t)s.size, s.path, &error)
                    : as_mesh_files_nodes(w->files, s.path, &error);
  }
  const char *dofs = text_of(spec, "dofs"), *k_name = text_of(spec, "stiffness_name"),
             *m_name = text_of(spec, "mass_name");
  if (PyErr_Occurred() || !take_source(get(spec, "stiffness"), &k) ||
      !take_source(get(spec, "mass"), &m))
    return false;
  if (status == AS_OK && dofs) status = as_mesh_files_unknowns(w->files, dofs, &error);
  if (status == AS_OK) status = read_matrix(w->files, AS_STIFFNESS, &k, k_name, &error);
  if (status == AS_OK) status = read_matrix(w->files, AS_MASS, &m, m_name, &error);
  if (status == AS_OK) status = as_mesh_files_finish(w->files, &error);
  if (status) core_fail(&error);
  return status == AS_OK;
}

/// (name, attachment, a set's name or a list of nodes, position or None)
static bool take_interface(PyObject *from, work *w, int i) {
  as_interface *out = &w->interface[i];
  PyObject *nodes, *at;
  int attachment;
  if (!PyArg_ParseTuple(from, "siOO", &out->name, &attachment, &nodes, &at)) return false;
  out->attachment = (as_attachment)attachment;
  if (at != Py_None) {
    Py_ssize_t n = 0;
    w->at[i] = core_numbers(at, &n, "at");
    if (w->at[i] && n != 3) PyErr_Format(PyExc_ValueError, "at: 3 numbers are wanted, not %zd", n);
    if (w->at[i] == NULL || n != 3) return false;
    out->position = w->at[i];
  }
  as_error error;
  as_status status;
  if (PyUnicode_Check(nodes)) {
    const char *set = PyUnicode_AsUTF8AndSize(nodes, NULL);
    if (set == NULL) return false;
    status = as_mesh_files_set(w->files, set, &out->nodes, &out->node_count, &out->weights, &error);
  } else {
    if (!take_integers(nodes, &w->nodes[i], &out->node_count)) return false;
    w->areas[i] = PyMem_Calloc((size_t)out->node_count + 1, sizeof(double));
    if (w->areas[i] == NULL) return PyErr_NoMemory() != NULL;
    bool any = false;
    out->nodes = w->nodes[i];
    status = as_mesh_files_areas(w->files, w->nodes[i], out->node_count, w->areas[i], &any, &error);
    if (any) out->weights = w->areas[i];
  }
  if (status) core_fail(&error);
  return status == AS_OK;
}

/// Everything else; false with an exception.
static bool take_options(PyObject *spec, work *w, as_reduction_def *def) {
  PyObject *list;
  Py_ssize_t n = 0;
  double modes = (double)NAN, draw = 5000.0;
  as_error error;
  if (!core_read_number(spec, "modes", &modes) || !core_read_number(spec, "draw", &draw) ||
      !core_read_number(spec, "frequency", &def->frequency) ||
      !core_read_number(spec, "length", &def->length))
    return false;
  def->modes = isfinite(def->frequency) ? -1 : isnan(modes) ? 10 : (int)modes;
  def->most_points = (int)draw;
  list = get(spec, "lower_order");
  def->lower_order = list && PyObject_IsTrue(list) == 1;
  if ((list = get(spec, "damping")) != NULL) {
    if ((w->ratios = core_numbers(list, &n, "damping")) == NULL) return false;
    def->damping_ratios = w->ratios;
    def->damping_count = (int)n;
  }
  if ((list = get(spec, "rayleigh")) != NULL) {
    if ((w->rayleigh = core_numbers(list, &n, "rayleigh")) == NULL) return false;
    if (n != 2) {
      PyErr_SetString(PyExc_ValueError, "rayleigh: two factors are wanted, of M and of K");
      return false;
    }
    def->rayleigh_mass = w->rayleigh[0];
    def->rayleigh_stiffness = w->rayleigh[1];
  }
  if ((list = get(spec, "points")) != NULL) {
    if (!take_integers(list, &w->points, &def->point_count)) return false;
    def->points = w->points;
  }
  if ((list = get(spec, "stress")) == NULL) return true;
  source s = {0};
  PyObject *points = get(spec, "stress_points");
  if (!take_source(list, &s) || !take_integers(points, &w->stress_points, &def->stress_count))
    return false;
  if (s.text ? as_sparse_parse(s.text, (size_t)s.size, s.path, &w->stress, &error)
             : as_sparse_read(s.path, &w->stress, &error))
    return core_fail(&error) != NULL;
  def->stress = w->stress;
  def->stress_ids = w->stress_points;
  return true;
}

static PyObject *list_of(const double *x, Py_ssize_t n) {
  PyObject *list = PyList_New(0);
  for (Py_ssize_t i = 0; i < n && list; ++i)
    if (!core_append(list, PyFloat_FromDouble(x[i]))) Py_CLEAR(list);
  return list;
}

static PyObject *describe(const as_flexible_data *d, const as_reduction_info *info) {
  const size_t n = (size_t)d->coordinate_count;
  double *f = PyMem_Calloc(3 * n + 1, sizeof *f);
  as_error error;
  if (f == NULL) return PyErr_NoMemory();
  as_status status = as_flexible_frequencies(d, false, f, &error);
  if (status == AS_OK) status = as_flexible_frequencies(d, true, f + n, &error);
  for (int i = 0; i < d->mode_count; ++i) {
    const size_t at = n - (size_t)d->mode_count + (size_t)i;
    f[2 * n + (size_t)i] = sqrt(d->K[at * n + at]) / 6.28318530717958647692;
  }
  PyObject *names = PyList_New(0), *out = NULL;
  for (int i = 0; i < d->interface_count && names; ++i)
    if (!core_append(names, Py_BuildValue("(sN)", d->interface_names[i],
                                          list_of(d->interface_positions[i], 3))))
      Py_CLEAR(names);
  if (status)
    core_fail(&error);
  else if (names)
    out = Py_BuildValue("{sisisdsdsNsNsNsisisNsNsN}", "nodes", info->nodes, "unknowns",
                        info->unknowns, "residual", info->residual, "mass", info->mass, "centre",
                        list_of(info->centre, 3), "inertia", list_of(info->inertia[0], 9),
                        "interfaces", Py_NewRef(names), "coordinates", d->coordinate_count, "modes",
                        d->mode_count, "interfaces_held", list_of(f + 2 * n, d->mode_count),
                        "frame_held", list_of(f, (Py_ssize_t)n), "free",
                        list_of(f + n, (Py_ssize_t)n));
  Py_XDECREF(names);
  PyMem_Free(f);
  return out;
}

static PyObject *reduce(PyObject *spec, const char *path, work *w) {
  as_reduction_def def = as_default_reduction_def();
  as_reduction_info info;
  as_error error;
  PyObject *interfaces = get(spec, "interfaces");
  const Py_ssize_t n = PyList_Size(interfaces);
  if (n < 0 || n > MOST_INTERFACES) {
    PyErr_Format(PyExc_ValueError, "interfaces: more than %d", (int)MOST_INTERFACES);
    return NULL;
  }
  if (!read_files(spec, w)) return NULL;
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!take_interface(PyList_GetItem(interfaces, i), w, (int)i)) return NULL;
  if (!take_options(spec, w, &def)) return NULL;
  def.mesh = as_mesh_files_mesh(w->files);
  def.stiffness = as_mesh_files_stiffness(w->files);
  def.mass = as_mesh_files_mass(w->files);
  def.interfaces = w->interface;
  def.interface_count = (int)n;
  PyThreadState *saved = core_begin();
  as_status status = as_reduce(&def, &w->body, &info, &error);
  core_end(saved);
  if (status == AS_OK) status = as_flexible_write(path, w->body, &error);
  return status ? core_fail(&error) : describe(w->body, &info);
}

/// reduce(dict, path) -> dict: writes a flexible body to a file, and tells of it. Matrices and nodes are paths, or (name, bytes) as such a file
/// would have them.
PyObject *reduction_go(PyObject *self, PyObject *args) {
  PyObject *spec;
  const char *path;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!s", &PyDict_Type, &spec, &path)) return NULL;
  work *w = PyMem_Calloc(1, sizeof *w);
  if (w == NULL) return PyErr_NoMemory();
  PyObject *out = reduce(spec, path, w);
  free_work(w);
  PyMem_Free(w);
  return out;
}
