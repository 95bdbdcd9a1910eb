/// Craig and Bampton's reduction (alphastep/reduction.h).
///
/// Unknowns u of the mesh are those that follow interfaces, u_b = G q, and those inside, for which K_ii is factorized (held.h):
///
///     static modes     K_ii u_i = -K_ib G q, C u_i = q for averages: one for each coordinate of an interface but the frame
///     dynamic modes    K_ii phi = lambda M_ii phi with all interfaces held (lanczos.h)
///
/// The frame's own columns are rigid motions with the others moved along: they are left out. Columns of rotations are taken to log
/// coordinates: with p = X_i - X_0 a node at exp((p, 0) + z) has moved by z_u - p x z_theta / 2 and turned by z_theta.
#include "alphastep/reduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "linalg/sparse.h"
#include "reduction/dense.h"
#include "reduction/drawing.h"
#include "reduction/held.h"
#include "reduction/inertia.h"
#include "reduction/interfaces.h"
#include "reduction/lanczos.h"
#include "reduction/mesh_index.h"

#define PI 3.14159265358979323846
enum { MOST_MODES = 4000, MOST_COORDINATES = 4000 };

/// A reduction that is going on.
typedef struct work {
  const as_reduction_def *def;
  asi_mesh_index x;
  asi_interfaces t;
  as_sparse *K_ii, *M_ii;
  asi_held held;
  asi_eigen modes;
  int constraint_count; ///< static modes
  int n;                ///< coordinates
  double *rigid;        ///< unknowns x 6
  double *psi;          ///< unknowns x n
  asi_inertia inertia;
  double *K, *C; ///< n x n
  asi_drawing drawing;
} work;

as_reduction_def as_default_reduction_def(void) {
  return (as_reduction_def){.cookie = ASI_COOKIE(as_reduction_def),
                            .modes = -1,
                            .frequency = (double)NAN,
                            .length = 1.0,
                            .force = 1.0,
                            .most_points = 5000};
}

static as_status refuse(as_error *error, const char *sentence) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s", sentence);
}

static as_status check_damping(const as_reduction_def *d, as_error *error) {
  if (d->damping_count > 0 && d->damping_ratios == NULL)
    return refuse(error, "The damping ratios are missing.");
  for (int i = 0; i < d->damping_count; ++i)
    if (!(d->damping_ratios[i] >= 0.0 && d->damping_ratios[i] < 1e3))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The damping ratio of mode %d is %.9g; it must be 0 or more.", i + 1,
                      d->damping_ratios[i]);
  if (!(d->rayleigh_mass >= 0.0) || !(d->rayleigh_stiffness >= 0.0) ||
      !isfinite(d->rayleigh_mass + d->rayleigh_stiffness))
    return refuse(error, "Rayleigh's factors of M and K must be 0 or more.");
  if (d->damping_count > 0 && d->rayleigh_mass + d->rayleigh_stiffness > 0.0)
    return refuse(error,
                  "Damping is given by ratios of modes or by Rayleigh's factors, not by both.");
  return AS_OK;
}

static as_status check_def(const as_reduction_def *d, as_error *error) {
  const bool by_frequency = !isnan(d->frequency);
  if (by_frequency && !(d->frequency > 0.0 && isfinite(d->frequency)))
    return refuse(error, "The frequency up to which modes are kept must be above 0.");
  if (by_frequency && d->modes >= 0)
    return refuse(error, "Modes are kept by number or up to a frequency, not by both.");
  if (!by_frequency && (d->modes < 0 || d->modes > MOST_MODES))
    return refuse(error, "How many modes are to be kept: a number from 0 to 4000, or a frequency.");
  if (!(d->length > 0.0 && isfinite(d->length)) || !(d->force > 0.0 && isfinite(d->force)))
    return refuse(error, "Units of length and force must be above 0.");
  if (d->stress && (d->stress_ids == NULL || d->stress->rows != 6 * d->stress_count ||
                    (d->stiffness && d->stress->cols != d->stiffness->cols)))
    return refuse(error,
                  "The stress matrix must have six rows for each of its points and a column for "
                  "each unknown.");
  for (int i = 1; d->stress && i < d->stress_count; ++i)
    if (d->stress_ids[i] <= d->stress_ids[i - 1])
      return refuse(error, "The numbers of points with stresses must increase.");
  return check_damping(d, error);
}

// ---- the inside -------------------------------------------------------------------------------------

/// AS_ERR_SINGULAR in words: what is loose, though all interfaces are held.
static as_status name_loose(const work *w, int culprit, as_error *error) {
  if (culprit < 0)
    return asi_fail(error, AS_ERR_SINGULAR, (double)NAN, NULL,
                    "The interfaces do not hold the mesh: with all of them held K_ii is singular.");
  for (int u = 0; u < w->x.n; ++u)
    if (w->t.inside[u] == culprit)
      return asi_fail(
          error, AS_ERR_SINGULAR, (double)NAN, NULL,
          "With all interfaces held K_ii is singular: node %ld moves freely, as does what "
          "hangs on it. Is a part of the mesh not joined to the others?",
          w->x.mesh->ids[w->x.node[u]]);
  return AS_ERR_SINGULAR;
}

/// Factorizes for a frequency, shifted a little if it meets one of the mesh.
static as_status factor(work *w, double shift, as_error *error) {
  int culprit = -1;
  as_status status = asi_held_factor(&w->held, shift, &culprit, error);
  for (int i = 1; status == AS_ERR_SINGULAR && shift > 0.0 && i < 4; ++i)
    status = asi_held_factor(&w->held, shift * (1.0 - 1e-7 * i), &culprit, error);
  return status == AS_ERR_SINGULAR ? name_loose(w, culprit, error) : status;
}

/// How many modes are kept; leaves the factors of K_ii.
static as_status count_modes(work *w, int *count, as_error *error) {
  const as_reduction_def *d = w->def;
  *count = d->modes;
  as_status status = factor(w, 0.0, error);
  if (status == AS_OK && w->held.below > 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "K",
                    "K is indefinite: with all interfaces held it has %d negative eigenvalues.",
                    w->held.below);
  if (status || isnan(d->frequency)) return status;
  const double omega = 2.0 * PI * d->frequency;
  status = factor(w, omega * omega, error);
  *count = w->held.below;
  if (status == AS_OK && *count > MOST_MODES)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "Below %.9g Hz the held mesh has %d modes, more than %d.", d->frequency, *count,
                    (int)MOST_MODES);
  return status ? status : factor(w, 0.0, error);
}

/// Static modes: unit displacements and rotations of one interface after the other, the others held.
static as_status find_static(work *w, as_error *error) {
  const asi_interfaces *t = &w->t;
  const size_t rows = (size_t)w->x.n, inside = (size_t)t->n_inside;
  const int six = 6 * t->averages;
  double *force = asi_calloc(rows * (size_t)w->constraint_count, sizeof *force);
  double *u = asi_calloc(inside * (size_t)w->constraint_count, sizeof *u);
  double *g = asi_calloc((size_t)six * (size_t)w->constraint_count, sizeof *g);
  as_status status = force && u && g ? AS_OK : asi_fail_memory(error);
  const int from = t->column[1];
  for (int i = 1, which = t->given[0].attachment == AS_ATTACH_AVERAGE;
       i < t->count && status == AS_OK; ++i) {
    const bool average = t->given[i].attachment == AS_ATTACH_AVERAGE;
    for (int d = 0; d < t->column[i + 1] - t->column[i]; ++d) {
      const size_t column = (size_t)t->column[i] - (size_t)from + (size_t)d;
      if (average) g[column * (size_t)six + (size_t)(6 * which + d)] = 1.0;
      for (int r = 0; r < w->x.n; ++r)
        if (t->owner[r] == i)
          w->psi[column * rows + (size_t)r] = asi_interface_follow(t, &w->x, r, d);
    }
    which += average;
  }
  if (status == AS_OK) {
    asi_sparse_multiply(w->x.K, w->psi, force, w->constraint_count);
    for (size_t c = 0; c < (size_t)w->constraint_count; ++c)
      for (size_t r = 0; r < rows; ++r)
        if (t->inside[r] >= 0) u[c * inside + (size_t)t->inside[r]] = -force[c * rows + r];
    if (w->constraint_count > 0 && asi_held_solve(&w->held, u, w->constraint_count, g))
      status = asi_fail_memory(error);
  }
  for (size_t c = 0; c < (size_t)w->constraint_count && status == AS_OK; ++c)
    for (size_t r = 0; r < rows; ++r)
      if (t->inside[r] >= 0) w->psi[c * rows + r] = u[c * inside + (size_t)t->inside[r]];
  free(force);
  free(u);
  free(g);
  return status;
}

/// Takes columns of rotations to log coordinates.
static void take_logs(work *w) {
  const asi_interfaces *t = &w->t;
  const size_t rows = (size_t)w->x.n;
  for (int i = 1; i < t->count; ++i) {
    if (!t->rotations[i]) continue;
    double *column = w->psi + (size_t)(t->column[i] - t->column[1]) * rows;
    double p[3];
    for (int c = 0; c < 3; ++c) p[c] = t->position[i][c] - t->position[0][c];
    for (int axis = 0; axis < 3; ++axis) {
      // -p x e / 2: by p_(axis+1) along axis + 2, against axis + 1 by p_(axis+2)
      const int next = (axis + 1) % 3, last = (axis + 2) % 3;
      double *turn = column + (size_t)(3 + axis) * rows;
      for (size_t r = 0; r < rows; ++r)
        turn[r] += 0.5 * (p[next] * column[(size_t)last * rows + r] -
                          p[last] * column[(size_t)next * rows + r]);
    }
  }
}

static void take_modes(work *w) {
  const size_t rows = (size_t)w->x.n, inside = (size_t)w->t.n_inside;
  for (size_t c = 0; c < (size_t)w->modes.count; ++c) {
    double *to = w->psi + ((size_t)w->constraint_count + c) * rows;
    for (size_t r = 0; r < rows; ++r)
      if (w->t.inside[r] >= 0) to[r] = w->modes.vector[c * inside + (size_t)w->t.inside[r]];
  }
}

static as_status find_shapes(work *w, as_error *error) {
  const asi_interfaces *t = &w->t;
  int count = 0;
  as_status status = AS_OK;
  w->constraint_count = t->column[t->count] - t->column[1];
  if (t->n_inside > 0) {
    w->K_ii = asi_sparse_part(w->x.K, t->inside, t->n_inside);
    w->M_ii = asi_sparse_part(w->x.M, t->inside, t->n_inside);
    if (w->K_ii == NULL || w->M_ii == NULL) return asi_fail_memory(error);
    status = asi_held_init(&w->held, w->K_ii, w->M_ii, 6 * t->averages, t->C, t->springs, t->spring,
                           error);
    if (status == AS_OK) status = count_modes(w, &count, error);
    if (status) return status;
  }
  const int modes = count < t->n_inside ? count : t->n_inside;
  const size_t most = (size_t)w->constraint_count + (size_t)count;
  if (w->constraint_count + modes > MOST_COORDINATES)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A flexible body may have %d coordinates; its interfaces and modes make %d.",
                    (int)MOST_COORDINATES, w->constraint_count + modes);
  w->psi = asi_calloc((size_t)w->x.n * most, sizeof *w->psi);
  if (w->psi == NULL) return asi_fail_memory(error);
  status = find_static(w, error);
  if (status == AS_OK) status = asi_lanczos(&w->held, count, &w->modes, error);
  if (status) return status;
  take_logs(w);
  take_modes(w);
  w->n = w->constraint_count + w->modes.count;
  return AS_OK;
}

// ---- small matrices ---------------------------------------------------------------------------------

/// K_r = Psi^T K Psi: static and dynamic modes do no work on each other, and dynamic modes none but on themselves.
static as_status make_stiffness(work *w, as_error *error) {
  const int n = w->n, s = w->constraint_count;
  const size_t rows = (size_t)w->x.n;
  double *force = asi_calloc(rows * (size_t)s, sizeof *force);
  double *by = asi_calloc((size_t)s * (size_t)s, sizeof *by);
  w->K = asi_calloc((size_t)n * (size_t)n, sizeof *w->K);
  const bool ok = force && by && w->K;
  if (ok) {
    asi_sparse_multiply(w->x.K, w->psi, force, s);
    asi_dense_multiply(true, false, s, s, w->x.n, 1.0, w->psi, w->x.n, force, w->x.n, by,
                       s > 0 ? s : 1);
    for (int i = 0; i < s; ++i)
      for (int j = 0; j < s; ++j)
        w->K[(ptrdiff_t)i * n + j] = 0.5 * (by[(ptrdiff_t)i * s + j] + by[(ptrdiff_t)j * s + i]);
    for (int i = s; i < n; ++i) w->K[(ptrdiff_t)i * (n + 1)] = w->modes.lambda[i - s];
  }
  free(force);
  free(by);
  return ok ? AS_OK : asi_fail_memory(error);
}

/// C = M Phi diag(2 zeta omega) Phi^T M, with Phi the modes of the body whose frame is held; or Rayleigh's.
static as_status make_damping(work *w, as_error *error) {
  const as_reduction_def *d = w->def;
  const int n = w->n;
  const size_t size = (size_t)n * (size_t)n;
  if (n == 0 || (d->damping_count == 0 && !(d->rayleigh_mass + d->rayleigh_stiffness > 0.0)))
    return AS_OK;
  w->C = asi_calloc(size, sizeof *w->C);
  if (w->C == NULL) return asi_fail_memory(error);
  for (size_t i = 0; i < size; ++i)
    w->C[i] = d->rayleigh_mass * w->inertia.M[i] + d->rayleigh_stiffness * w->K[i];
  if (d->damping_count == 0) return AS_OK;
  double *a = asi_calloc(size, sizeof *a), *b = asi_calloc(size, sizeof *b);
  double *lambda = asi_calloc((size_t)n, sizeof *lambda);
  int defect = 0;
  bool ok = a && b && lambda;
  if (ok) {
    memcpy(a, w->K, size * sizeof *a);
    memcpy(b, w->inertia.M, size * sizeof *b);
    ok = asi_dense_eigen_pair(n, a, b, lambda, &defect);
  }
  if (ok) {
    memset(b, 0, size * sizeof *b); // M Phi, scaled
    asi_dense_multiply(false, false, n, n, n, 1.0, w->inertia.M, n, a, n, b, n);
    for (int k = 0; k < n; ++k) {
      const int last = k < d->damping_count ? k : d->damping_count - 1;
      const double c = 2.0 * d->damping_ratios[last] * sqrt(fmax(0.0, lambda[k]));
      for (int i = 0; i < n; ++i) b[(ptrdiff_t)k * n + i] *= sqrt(c);
    }
    asi_dense_multiply(false, true, n, n, n, 1.0, b, n, b, n, w->C, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) w->C[(ptrdiff_t)i * n + j] = w->C[(ptrdiff_t)j * n + i];
  }
  free(a);
  free(b);
  free(lambda);
  return ok ? AS_OK : asi_fail_memory(error);
}

/// M_r has to be positive definite, or an M that is not has shown.
static as_status check_mass(const work *w, as_error *error) {
  const int n = w->n;
  const size_t size = (size_t)n * (size_t)n;
  double *M = asi_calloc(size, sizeof *M), *lambda = asi_calloc((size_t)n, sizeof *lambda);
  as_status status = M && lambda ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK && n > 0) {
    for (int i = 0; i < n; ++i) // units do not matter
      for (int j = 0; j < n; ++j)
        M[(ptrdiff_t)i * n + j] =
            w->inertia.M[(ptrdiff_t)i * n + j] /
            sqrt(fabs(w->inertia.M[(ptrdiff_t)i * (n + 1)] * w->inertia.M[(ptrdiff_t)j * (n + 1)]));
    if (!asi_dense_eigen(n, M, lambda)) status = asi_fail_memory(error);
    if (status == AS_OK && !(lambda[0] > 0.0))
      status =
          asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "M",
                   "M is indefinite, or what an interface moves has no mass: the reduced mass is "
                   "not positive definite.");
  }
  free(M);
  free(lambda);
  return status;
}

// ---- the whole --------------------------------------------------------------------------------------

/// Arrays that the result points to until it is copied.
typedef struct parts {
  const char **names;
  long *mesh_ids;
  double (*mesh_positions)[3];
  double *shapes, *stress;
} parts;

static void parts_free(parts *p) {
  free(p->names);
  free(p->mesh_ids);
  free(p->mesh_positions);
  free(p->shapes);
  free(p->stress);
}

/// Displacements of the points that are kept, point by point.
static void fill_points(const work *w, parts *p) {
  const size_t n = (size_t)w->n, rows = (size_t)w->x.n;
  for (size_t k = 0; k < (size_t)w->drawing.count; ++k) {
    const int node = w->drawing.node[k];
    p->mesh_ids[k] = w->x.mesh->ids[node];
    memcpy(p->mesh_positions[k], w->x.position[node], 3 * sizeof(double));
    for (size_t c = 0; c < 3; ++c) {
      const int u = w->x.mesh->unknowns[node][c];
      for (size_t j = 0; j < n && u >= 0; ++j)
        p->shapes[(3 * k + c) * n + j] = w->psi[j * rows + (size_t)u];
    }
  }
}

/// Stresses are per force and square length: for displacements in lengths.
static as_status fill_stress(const work *w, parts *p, as_error *error) {
  const as_reduction_def *d = w->def;
  const size_t n = (size_t)w->n;
  if (d->stress == NULL) return AS_OK;
  as_sparse *by = asi_sparse_copy(d->stress);
  const size_t rows = (size_t)d->stress->rows;
  double *out = asi_calloc(rows * n, sizeof *out);
  if (by && out) {
    const double unit = d->force / (d->length * d->length);
    for (int j = 0; j < by->cols; ++j)
      for (int k = by->col_start[j]; k < by->col_start[j + 1]; ++k)
        by->value[k] *= unit / (w->x.direction[j] < 3 ? d->length : 1.0);
    asi_sparse_multiply(by, w->psi, out, w->n);
    for (size_t r = 0; r < rows; ++r)
      for (size_t j = 0; j < n; ++j) p->stress[r * n + j] = out[j * rows + r];
  }
  const bool ok = by && out;
  as_sparse_destroy(by);
  free(out);
  return ok ? AS_OK : asi_fail_memory(error);
}

static as_status deliver(const work *w, const as_reduction_info *info, as_flexible_data **out,
                         as_error *error) {
  const asi_inertia *a = &w->inertia;
  const size_t n = (size_t)w->n, points = (size_t)w->drawing.count, count = (size_t)w->t.count;
  parts p = {0};
  p.names = asi_calloc(count, sizeof *p.names);
  p.mesh_ids = asi_calloc(points, sizeof *p.mesh_ids);
  p.mesh_positions = asi_calloc(points, sizeof *p.mesh_positions);
  p.shapes = asi_calloc(3 * points * n, sizeof *p.shapes);
  p.stress = asi_calloc(6 * (size_t)w->def->stress_count * n, sizeof *p.stress);
  as_status status = p.names && p.mesh_ids && p.mesh_positions && p.shapes && p.stress
                         ? AS_OK
                         : asi_fail_memory(error);
  if (status == AS_OK) {
    for (size_t i = 0; i < count; ++i) p.names[i] = w->t.given[i].name;
    fill_points(w, &p);
    status = fill_stress(w, &p, error);
  }
  if (status == AS_OK) {
    const bool stressed = w->def->stress != NULL;
    const as_flexible_data data = {.interface_count = w->t.count,
                                   .interface_names = p.names,
                                   .interface_positions = (const double(*)[3])w->t.position,
                                   .interface_rotations = w->t.rotations,
                                   .mode_count = w->modes.count,
                                   .coordinate_count = w->n,
                                   .mass = info->mass,
                                   .P = a->P,
                                   .A0 = a->A0,
                                   .A = a->A,
                                   .H0 = a->H0,
                                   .H = a->H,
                                   .J0 = a->J0,
                                   .J1 = a->J1,
                                   .J2 = a->J2,
                                   .M = a->M,
                                   .K = w->K,
                                   .C = w->C,
                                   .mesh_count = w->drawing.count,
                                   .mesh_ids = p.mesh_ids,
                                   .mesh_positions = (const double(*)[3])p.mesh_positions,
                                   .mesh_shapes = p.shapes,
                                   .triangle_count = w->drawing.triangle_count,
                                   .triangles = (const int(*)[3])w->drawing.triangles,
                                   .stress_count = stressed ? w->def->stress_count : 0,
                                   .stress_ids = w->def->stress_ids,
                                   .stress_matrices = p.stress};
    status = as_flexible_copy(&data, out, error);
  }
  parts_free(&p);
  return status;
}

static void work_free(work *w) {
  asi_drawing_free(&w->drawing);
  asi_inertia_free(&w->inertia);
  asi_eigen_free(&w->modes);
  asi_held_free(&w->held);
  as_sparse_destroy(w->K_ii);
  as_sparse_destroy(w->M_ii);
  asi_interfaces_free(&w->t);
  asi_mesh_index_free(&w->x);
  free(w->rigid);
  free(w->psi);
  free(w->K);
  free(w->C);
}

/// Rigid motions about the frame, and what the mesh makes of them.
static as_status check_rigid(work *w, as_reduction_info *info, as_error *error) {
  double inertia[36];
  const double *frame = w->t.position[0];
  w->rigid = asi_calloc(6 * (size_t)w->x.n, sizeof *w->rigid);
  if (w->rigid == NULL) return asi_fail_memory(error);
  asi_mesh_rigid(&w->x, frame, w->rigid);
  return asi_mesh_check_rigid(&w->x, frame, w->rigid, inertia, info, error);
}

as_status as_reduce(const as_reduction_def *def, as_flexible_data **out, as_reduction_info *info,
                    as_error *error) {
  as_reduction_info found = {0};
  work w = {.def = def};
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_reduction_def, def, error);
  if (status == AS_OK) status = check_def(def, error);
  if (status == AS_OK) status = asi_mesh_index_init(&w.x, def, error);
  if (status == AS_OK) status = asi_interfaces_init(&w.t, &w.x, def, error);
  if (status == AS_OK) status = check_rigid(&w, &found, error);
  if (status == AS_OK) status = asi_drawing_init(&w.drawing, &w.x, def, error);
  if (status == AS_OK) status = find_shapes(&w, error);
  if (status == AS_OK)
    status = asi_inertia_init(&w.inertia, &w.x, w.rigid, w.psi, w.n, !def->lower_order, error);
  if (status == AS_OK) status = check_mass(&w, error);
  if (status == AS_OK) status = make_stiffness(&w, error);
  if (status == AS_OK) status = make_damping(&w, error);
  if (status == AS_OK) status = deliver(&w, &found, out, error);
  found.nodes = status == AS_OK ? def->mesh->node_count : 0;
  found.unknowns = w.x.n;
  found.modes = w.modes.count;
  work_free(&w);
  if (info) *info = found;
  return status;
}
