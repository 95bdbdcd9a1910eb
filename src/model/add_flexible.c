/// Adds flexible bodies to a builder: checks, the frame and the other nodes as bodies, the range of one linear body.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/flexible_body.h"
#include "base/definition.h"
#include "base/error.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "model/builder.h"

as_flexible_def as_default_flexible_def(void) {
  return (as_flexible_def){.cookie = ASI_COOKIE(as_flexible_def),
                           .quaternion = {1.0, 0.0, 0.0, 0.0}};
}

static const char sort[] = "flexible body";

// ---- the range of one linear body -------------------------------------------------------------------

/// L of A = L L^T in place of the lower half; false: A is not positive definite.
static bool factorize(double *A, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < j; ++k) A[j * n + j] -= A[j * n + k] * A[j * n + k];
    if (!(A[j * n + j] > 0.0)) return false;
    A[j * n + j] = sqrt(A[j * n + j]);
    for (size_t i = j + 1; i < n; ++i) {
      double sum = A[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = sum / A[j * n + j];
    }
  }
  return true;
}

static void solve(const double *L, size_t n, double *x) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
}

static double product(const double *x, const double *y, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// The lowest frequency of K x = omega^2 M x by inverse iteration, with L of K; `x` and `y` have room for n.
static double lowest_frequency(const double *L, const double *M, size_t n, double *x, double *y) {
  double square = 0.0;
  for (size_t i = 0; i < n; ++i) x[i] = 1.0 + (double)(i * 7 % 11) / 11.0;
  for (int pass = 0; pass < 200; ++pass) {
    for (size_t i = 0; i < n; ++i) y[i] = product(M + i * n, x, n);
    const double size = sqrt(product(x, y, n)), before = square;
    for (size_t i = 0; i < n; ++i) x[i] = y[i] = y[i] / size; // M x with x^T M x = 1
    solve(L, n, x);
    square = 1.0 / product(x, y, n); // Rayleigh's quotient of K^-1 M, to second order
    if (fabs(square - before) <= 1e-9 * square) break;
  }
  return sqrt(square);
}

static double extent(const as_flexible_data *d) {
  double size = 0.0;
  const double *origin = d->interface_positions[0];
  for (int i = 1; i < d->interface_count; ++i) {
    double r[3];
    asi_sum(d->interface_positions[i], -1.0, origin, r);
    size = fmax(size, asi_norm(r));
  }
  for (int i = 0; i < d->mesh_count; ++i) {
    double r[3];
    asi_sum(d->mesh_positions[i], -1.0, origin, r);
    size = fmax(size, asi_norm(r));
  }
  return size;
}

static as_status find_range(const as_flexible_data *d, const char *name, as_flexible_range *out,
                            as_error *error) {
  const size_t n = (size_t)d->coordinate_count;
  *out = (as_flexible_range){.frequency = (double)INFINITY, .size = extent(d)};
  out->buckling = (double)INFINITY;
  if (n == 0) return AS_OK;
  double *work = asi_calloc(n * n + 2 * n, sizeof *work);
  if (work == NULL) return asi_fail_memory(error);
  const double *const both[2] = {d->M, d->K};
  as_status status = AS_OK;
  for (int i = 0; i < 2 && status == AS_OK; ++i) {
    memcpy(work, both[i], n * n * sizeof *work);
    if (!factorize(work, n))
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The %s matrix of flexible body \"%s\" is not positive definite.",
                        i ? "stiffness" : "mass", name);
  }
  if (status == AS_OK) {
    out->frequency = lowest_frequency(work, d->M, n, work + n * n, work + n * n + n);
    out->buckling = 0.2 * out->frequency * out->frequency * d->mass * out->size;
  }
  free(work);
  return status;
}

// ---- the builder ------------------------------------------------------------------------------------

static as_status check_points(const as_flexible_def *def, const char *name, as_error *error) {
  for (int i = 0; i < def->n_loads; ++i) {
    const as_status status = asi_check_finite(def->load[i].force, 3, "load", sort, name, error);
    if (status) return status;
    if (as_flexible_point(def->data, def->load[i].node) < 0)
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, name,
          "Flexible body \"%s\" has a load at node %ld, which is not among the %d points "
          "of its mesh that were kept.",
          name, def->load[i].node, def->data->mesh_count);
  }
  for (int i = 0; i < def->n_points; ++i)
    if (as_flexible_point(def->data, def->point[i]) < 0)
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, name,
          "Flexible body \"%s\" is to show node %ld, which is not among the %d points of "
          "its mesh that were kept.",
          name, def->point[i], def->data->mesh_count);
  return AS_OK;
}

static as_status check_def(const as_flexible_def *def, const char *name, double quaternion[4],
                           as_error *error) {
  if (def->data == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "Flexible body \"%s\" has no data.",
                    name);
  as_status status = as_flexible_check(def->data, error);
  const int n = status ? 0 : def->data->coordinate_count;
  if (status == AS_OK) status = asi_check_finite(def->position, 3, "position", sort, name, error);
  if (status == AS_OK) status = asi_check_finite(def->velocity, 3, "velocity", sort, name, error);
  if (status == AS_OK)
    status = asi_check_finite(def->angular_velocity, 3, "angular velocity", sort, name, error);
  if (status == AS_OK && def->z) status = asi_check_finite(def->z, n, "start", sort, name, error);
  if (status == AS_OK && def->rate)
    status = asi_check_finite(def->rate, n, "starting rate", sort, name, error);
  if (status == AS_OK) status = check_points(def, name, error);
  return status ? status : asi_unit_quaternion(def->quaternion, sort, name, quaternion, error);
}

static bool is_zero(const double *x) { return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0; }

/// The frame with its start.
static asi_body_start make_frame(const as_flexible_def *def, const double quaternion[4]) {
  asi_body_start start = {.given = {.what = def->given, .fixed = def->fixed}};
  start.body.n = 6;
  asi_body_note_inertia(&start.body);
  asi_so3_matrix(quaternion, start.at.R);
  asi_rotate(start.at.R, def->data->interface_positions[0], start.at.x);
  asi_add(1.0, def->position, start.at.x);
  asi_copy(def->velocity, start.at.v);
  asi_copy(def->angular_velocity, start.at.omega);
  memcpy(start.quaternion, quaternion, sizeof start.quaternion);
  if (!is_zero(def->position)) start.given.what |= AS_GIVEN_POSITION;
  if (!is_zero(quaternion + 1)) start.given.what |= AS_GIVEN_QUATERNION;
  if (!is_zero(def->velocity)) start.given.what |= AS_GIVEN_VELOCITY;
  if (!is_zero(def->angular_velocity)) start.given.what |= AS_GIVEN_ANGULAR_VELOCITY;
  asi_copy(start.at.x, start.given.position);
  memcpy(start.given.quaternion, quaternion, sizeof start.given.quaternion);
  asi_copy(def->velocity, start.given.velocity);
  asi_copy(def->angular_velocity, start.given.angular_velocity);
  return start;
}

/// Another node: its motion by q and v of the frame, which stand before those of z here.
static asi_body_start make_node(const asi_flexible *f, const asi_body_start *frame, int node,
                                const double *q, const double *v) {
  asi_body_start start = {.quaternion = {1.0, 0.0, 0.0, 0.0}, .flexible = frame->flexible};
  const asi_view view = asi_flexible_view(f, node);
  start.body.n = view.rotates ? 6 : 3;
  start.body.round = true;
  asi_view_motion(&view, q, v, &start.at);
  return start;
}

static as_status append_body(as_builder *b, const char *whole, const char *node,
                             const asi_body_start *start, as_error *error) {
  void *array = b->body;
  if (!asi_grow(&array, b->n_bodies, &b->room_bodies, sizeof *b->body))
    return asi_fail_memory(error);
  b->body = array;
  const as_status status =
      asi_names_add_member(&b->names[ASI_SORT_BODY], ASI_SORT_BODY, whole, node, error);
  if (status == AS_OK) b->body[b->n_bodies++] = *start;
  return status;
}

static as_status append_nodes(as_builder *b, const asi_flexible *f, asi_body_start frame,
                              as_error *error) {
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  const char *name = asi_names_get(&b->names[ASI_SORT_FLEXIBLE], b->n_flexibles);
  double *q = asi_calloc(13 + 2 * n, sizeof *q), *v = q ? q + 7 + n : NULL;
  if (q == NULL) return asi_fail_memory(error);
  asi_copy(frame.at.x, q);
  memcpy(q + 3, frame.quaternion, sizeof frame.quaternion);
  asi_copy(frame.at.v, v);
  asi_copy(frame.at.omega, v + 3);
  for (size_t k = 0; k < n; ++k) {
    q[7 + k] = f->z0[k];
    v[6 + k] = f->z1[k];
  }
  frame.flexible = b->n_flexibles + 1;
  as_status status = append_body(b, name, d->interface_names[0], &frame, error);
  for (int i = 1; i < d->interface_count && status == AS_OK; ++i) {
    const asi_body_start node = make_node(f, &frame, i, q, v);
    status = append_body(b, name, d->interface_names[i], &node, error);
  }
  free(q);
  return status;
}

static as_status append_part(as_builder *b, const char *whole, const char *name,
                             asi_flexible_part part, as_error *error) {
  void *array = b->flexible_part;
  if (!asi_grow(&array, b->n_flexible_parts, &b->room_flexible_parts, sizeof *b->flexible_part))
    return asi_fail_memory(error);
  b->flexible_part = array;
  const as_status status = asi_names_add_member(&b->names[ASI_SORT_FLEXIBLE_PART],
                                                ASI_SORT_FLEXIBLE_PART, whole, name, error);
  if (status == AS_OK) b->flexible_part[b->n_flexible_parts++] = part;
  return status;
}

/// Coordinates z1, z2, ... and the points that are shown, by their numbers.
static as_status append_parts(as_builder *b, const as_flexible_def *def, as_error *error) {
  const char *whole = asi_names_get(&b->names[ASI_SORT_FLEXIBLE], b->n_flexibles);
  char name[32];
  as_status status = AS_OK;
  for (int i = 0; i < def->data->coordinate_count && status == AS_OK; ++i) {
    snprintf(name, sizeof name, "z%d", i + 1);
    status = append_part(b, whole, name, (asi_flexible_part){b->n_flexibles, i, -1, -1}, error);
  }
  for (int i = 0; i < def->n_points && status == AS_OK; ++i) {
    const asi_flexible_part part = {b->n_flexibles, -1, as_flexible_point(def->data, def->point[i]),
                                    as_flexible_stress_point(def->data, def->point[i])};
    snprintf(name, sizeof name, "%ld", def->point[i]);
    status = append_part(b, whole, name, part, error);
  }
  return status;
}

static as_status take_loads(as_builder *b, const as_flexible_def *def, const char *name,
                            asi_flexible *f, as_error *error) {
  char what[112];
  f->load = asi_calloc((size_t)def->n_loads, sizeof *f->load);
  if (f->load == NULL) return asi_fail_memory(error);
  for (int i = 0; i < def->n_loads; ++i) {
    const as_flexible_load *load = &def->load[i];
    asi_flexible_load *to = &f->load[f->n_loads++];
    *to = (asi_flexible_load){.point = as_flexible_point(def->data, load->node),
                              .follows = load->follows,
                              .factor = {-1, NULL}};
    asi_copy(load->force, to->force);
    snprintf(what, sizeof what, "The factor of a load of flexible body \"%.48s\"", name);
    const as_status status = asi_builder_curve(b, load->factor, what, NULL, &to->factor, error);
    if (status) return status;
  }
  return AS_OK;
}

static as_status make(as_builder *b, const as_flexible_def *def, const char *name, asi_flexible *f,
                      as_error *error) {
  as_flexible_data slim = *def->data;
  const size_t n = (size_t)slim.coordinate_count;
  if (def->lower_order) slim.J2 = NULL;
  *f = (asi_flexible){.body = b->n_bodies, .z_q = 7, .z_v = 6, .moving = def->rate != NULL};
  as_status status = as_flexible_copy(&slim, &f->data, error);
  if (status == AS_OK) status = find_range(&slim, name, &f->range, error);
  if (status) return status;
  f->z0 = asi_calloc(n, sizeof *f->z0);
  f->z1 = asi_calloc(n, sizeof *f->z1);
  if (f->z0 == NULL || f->z1 == NULL) return asi_fail_memory(error);
  if (def->z && n > 0) memcpy(f->z0, def->z, n * sizeof *f->z0);
  if (def->rate && n > 0) memcpy(f->z1, def->rate, n * sizeof *f->z1);
  return take_loads(b, def, name, f, error);
}

as_status as_builder_add_flexible(as_builder *b, const as_flexible_def *def, as_flexible_id *id,
                                  as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_flexible_def, def, error);
  if (made) return made;
  char store[32];
  double quaternion[4];
  const char *name = asi_builder_name(b, ASI_SORT_FLEXIBLE, def->name, store);
  const asi_mark mark = asi_builder_mark(b);
  const int bodies = b->n_bodies, parts = b->n_flexible_parts;
  as_status status = check_def(def, name, quaternion, error);
  if (status) return status;
  void *array = b->flexible;
  if (!asi_grow(&array, b->n_flexibles, &b->room_flexibles, sizeof *b->flexible))
    return asi_fail_memory(error);
  b->flexible = array;
  asi_flexible *f = &b->flexible[b->n_flexibles];
  status = make(b, def, name, f, error);
  if (status == AS_OK)
    status = asi_names_add(&b->names[ASI_SORT_FLEXIBLE], ASI_SORT_FLEXIBLE, def->name, error);
  if (status == AS_OK) status = append_nodes(b, f, make_frame(def, quaternion), error);
  if (status == AS_OK) status = append_parts(b, def, error);
  if (status) {
    asi_flexible_free(f);
    b->n_bodies = bodies;
    b->n_flexible_parts = parts;
    asi_names_cut(&b->names[ASI_SORT_BODY], bodies);
    asi_names_cut(&b->names[ASI_SORT_FLEXIBLE_PART], parts);
    asi_names_cut(&b->names[ASI_SORT_FLEXIBLE], b->n_flexibles);
    asi_builder_reset(b, mark);
    return status;
  }
  if (id) *id = (as_flexible_id){b->n_flexibles};
  ++b->n_flexibles;
  return AS_OK;
}

as_body_id as_builder_flexible_node(const as_builder *b, as_flexible_id id, int node) {
  const int i = id.index;
  if (i < 0 || i >= b->n_flexibles || node < 0 || node >= b->flexible[i].data->interface_count)
    return AS_NO_BODY;
  return (as_body_id){b->flexible[i].body + node};
}
