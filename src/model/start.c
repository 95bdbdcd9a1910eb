/// Assembly: starting poses and velocities on the constraints, with wanted joint coordinates.
///
/// The work is the integrator's: as_integrator_start() projects with the least mass-weighted change. Wanted
/// coordinates are prescribed motions in a copy of the machine, whose values go from what they are to what
/// they are to be in small steps; before that, the gaps that joints have as drawn are closed in small steps.
/// Then the wanted rates are prescribed, and velocities projected.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/definition.h"
#include "base/error.h"
#include "core/kinematics/problem.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/flexibles.h"
#include "model/model.h"

as_coordinate_def as_default_coordinate_def(void) {
  return (as_coordinate_def){.cookie = ASI_COOKIE(as_coordinate_def),
                             .joint = AS_NO_JOINT,
                             .value = (double)NAN,
                             .rate = (double)NAN};
}

as_status as_builder_set_coordinate(as_builder *b, const as_coordinate_def *def, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_coordinate_def, def, error);
  if (made) return made;
  if (def->joint.index < 0 || def->joint.index >= b->n_joints || !b->joint[def->joint.index].ours)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A start is given for joint %d, which is not there.", def->joint.index);
  const char *name = asi_names_get(&b->names[ASI_SORT_JOINT], def->joint.index);
  asi_coordinate c[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(b->joint[def->joint.index].kind, c);
  if (def->coordinate < 0 || def->coordinate >= n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "A start is given for coordinate %d of joint \"%s\", which has %d.",
                    def->coordinate, name, n);
  if (c[def->coordinate].kind == ASI_COORDINATE_ROTATION || b->joint[def->joint.index].moving)
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, name,
        "The start of joint \"%s\" cannot be given by coordinate %d, which is a rotation vector "
        "or between frames that move: place its bodies instead.",
        name, def->coordinate);
  if (isinf(def->value) || isinf(def->rate))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The start of joint \"%s\" is %g, its rate %g.", name, def->value, def->rate);
  void *array = b->wanted;
  if (!asi_grow(&array, b->n_wanted, &b->room_wanted, sizeof *b->wanted))
    return asi_fail_memory(error);
  b->wanted = array;
  b->wanted[b->n_wanted++] = *def;
  return AS_OK;
}

/// A machine being assembled: the model with what drives its coordinates, and where it stands.
typedef struct assembly {
  const as_builder *b;
  as_model *model;
  as_integrator *integrator;
  double *q, *v;   ///< as they are now
  double *given_v; ///< velocities as given
  double *rows;    ///< g at the poses given
  double *from;    ///< of each wanted coordinate, where it is drawn
  int *curve;      ///< of each wanted coordinate, -1: it is not driven
  double *demand;  ///< of each joint: how much it contradicts the velocities given
  as_start_report last;
} assembly;

static void close_model(assembly *a) {
  as_integrator_destroy(a->integrator);
  as_model_destroy(a->model);
  a->integrator = NULL;
  a->model = NULL;
}

/// What motions a copy of the machine gets.
typedef enum drive { DRIVE_NOTHING, DRIVE_VALUES, DRIVE_RATES } drive;

static bool is_driven(const as_coordinate_def *wanted, drive what) {
  return what != DRIVE_NOTHING && !isnan(what == DRIVE_RATES ? wanted->rate : wanted->value);
}

static const char *coordinate_of(const assembly *a, const as_coordinate_def *wanted) {
  return asi_joint_coordinate_name(a->b->joint[wanted->joint.index].kind, wanted->coordinate);
}

/// Makes the model, with motions of wanted coordinates.
static as_status open_model(assembly *a, drive what, as_error *error) {
  const as_curve still = {0};
  close_model(a);
  as_builder *copy = asi_builder_copy(a->b);
  if (copy == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  for (int i = 0; i < a->b->n_wanted && status == AS_OK; ++i) {
    const as_coordinate_def *wanted = &a->b->wanted[i];
    a->curve[i] = -1;
    if (!is_driven(wanted, what)) continue;
    char name[96];
    as_motion_def motion = as_default_motion_def();
    snprintf(name, sizeof name, "%.60s, start of %s%s",
             asi_names_get(&a->b->names[ASI_SORT_JOINT], wanted->joint.index),
             coordinate_of(a, wanted), what == DRIVE_RATES ? "_rate" : "");
    motion.name = name;
    motion.joint = wanted->joint;
    motion.coordinate = wanted->coordinate;
    motion.law = &still;
    a->curve[i] = copy->n_curves;
    status = as_builder_add_motion(copy, &motion, NULL, error);
  }
  if (status == AS_OK) status = as_builder_build(copy, &a->model, error);
  as_builder_destroy(copy);
  // Poses and velocities do not depend on forces; and an actuator on a coordinate that is held is not determined.
  if (status == AS_OK) asi_blocks_hold(a->model);
  const as_integrator_def how = as_default_integrator_def();
  if (status == AS_OK)
    status = as_integrator_create(as_model_problem(a->model), &how, &a->integrator, error);
  return status;
}

/// What a wanted coordinate is now.
static as_status measure(const assembly *a, int i, double *value, as_error *error) {
  const as_coordinate_def *wanted = &a->b->wanted[i];
  const as_state state = {.q = a->q, .v = a->v};
  double near[AS_JOINT_COORDINATES] = {0}, c[AS_JOINT_COORDINATES];
  if (!isnan(wanted->value)) near[wanted->coordinate] = wanted->value;
  const as_status status =
      as_model_coordinates(a->model, &state, wanted->joint, near, c, NULL, error);
  if (status == AS_OK) *value = c[wanted->coordinate];
  return status;
}

/// Projects q and v and takes them over.
static as_status project(assembly *a, as_error *error) {
  const as_initial initial = {.q = a->q,
                              .v = a->v,
                              .x = a->model->initial.x,
                              .y = a->model->initial.y,
                              .u = a->model->u0,
                              .active = a->model->initial.active,
                              .keep = a->model->initial.keep};
  const as_status status = as_integrator_start(a->integrator, &initial, &a->last, error);
  if (status) return status;
  const as_state *s = as_integrator_state(a->integrator);
  memcpy(a->q, s->q, (size_t)a->model->nq * sizeof(double));
  memcpy(a->v, s->v, (size_t)a->model->n * sizeof(double));
  return AS_OK;
}

/// Sets what is prescribed on a part of the way, 0 to 1.
typedef void set_fn(assembly *a, double part);

static void close_gaps(assembly *a, double part) { a->model->gap_factor = 1.0 - part; }

static void lead_coordinates(assembly *a, double part) {
  for (int i = 0; i < a->b->n_wanted; ++i)
    if (a->curve[i] >= 0)
      a->model->curve[a->curve[i]].given.constant =
          a->from[i] + (a->b->wanted[i].value - a->from[i]) * part;
}

/// Goes all the way in steps that the projection can follow; `step` is the first. Only positions are moved.
/// Returns how far it came.
static double follow(assembly *a, set_fn *set, double step, as_status *status, as_error *error) {
  const double shortest = 1e-4;
  double part = 0.0;
  *status = AS_OK;
  while (part < 1.0 && step >= shortest) {
    const double next = fmin(part + step, 1.0);
    set(a, next);
    *status = project(a, error);
    memcpy(a->v, a->given_v, (size_t)a->model->n * sizeof(double));
    if (*status == AS_OK)
      part = next;
    else if (*status != AS_ERR_INCONSISTENT && !as_status_is_recoverable(*status))
      break;
    step *= *status == AS_OK ? 1.5 : 0.5;
  }
  return part;
}

/// The joint with the largest gap where the bodies are now.
static as_status find_gap(const assembly *a, double *gap, as_joint_id *joint, as_error *error) {
  const as_state state = {.q = a->q, .v = a->v};
  *gap = 0.0;
  *joint = AS_NO_JOINT;
  for (int j = 0; j < a->b->n_joints; ++j) {
    as_gap now;
    if (a->b->joint[j].released) continue;
    const as_status status = as_model_gap(a->model, &state, (as_joint_id){j}, &now, error);
    if (status) return status;
    if (!(now.position > *gap) && joint->index != ASI_NONE) continue;
    *gap = now.position;
    *joint = (as_joint_id){j};
  }
  return AS_OK;
}

static as_status fail_assembly(const assembly *a, as_status status, as_error *error) {
  double gap;
  as_joint_id joint;
  if (find_gap(a, &gap, &joint, error) || joint.index == ASI_NONE) return status;
  if (!(gap > 1e-8)) return status; // closed: what went wrong is said already
  const char *name = asi_names_get(&a->b->names[ASI_SORT_JOINT], joint.index);
  return asi_fail(
      error, status, 0.0, name,
      "The machine cannot be assembled: joint \"%s\" keeps a gap of %.3g, the largest of all.",
      name, gap);
}

/// Says which wanted coordinate is furthest from its value.
static as_status fail_coordinate(const assembly *a, as_status status, as_error *error) {
  double worst = -1.0, value = 0.0;
  int culprit = 0;
  for (int i = 0; i < a->b->n_wanted; ++i) {
    double now;
    if (a->curve[i] < 0 || measure(a, i, &now, NULL)) continue;
    if (!(fabs(a->b->wanted[i].value - now) > worst)) continue;
    worst = fabs(a->b->wanted[i].value - now);
    value = now;
    culprit = i;
  }
  const as_coordinate_def *wanted = &a->b->wanted[culprit];
  const char *name = asi_names_get(&a->b->names[ASI_SORT_JOINT], wanted->joint.index);
  return asi_fail(
      error, status, 0.0, name,
      "The machine cannot be assembled with the %s of joint \"%s\" at %g: it comes as far as "
      "%.6g.",
      coordinate_of(a, wanted), name, wanted->value, value);
}

/// Closes the gaps that the machine has as it is drawn.
static as_status close_all(assembly *a, as_error *error) {
  const as_problem_def *def = &a->model->problem->def;
  const as_point at = {.q = a->q};
  const int rows = a->model->n_lambda;
  double widest = 0.0;
  as_status status = AS_OK;
  if (rows > 0 && def->constraint(&at, a->rows, def->user))
    return fail_assembly(a, AS_ERR_RETRY, error);
  for (int i = 0; i < rows; ++i)
    if (a->model->active[i]) widest = fmax(widest, fabs(a->rows[i]));
  a->model->gap = a->rows;
  const double part = follow(a, close_gaps, 0.1 / fmax(widest, 0.1), &status, error);
  a->model->gap = NULL;
  return part < 1.0 ? fail_assembly(a, status, error) : AS_OK;
}

/// Leads the wanted coordinates to their values.
static as_status lead_all(assembly *a, as_error *error) {
  double longest = 0.0;
  as_status status = open_model(a, DRIVE_VALUES, error);
  for (int i = 0; i < a->b->n_wanted && status == AS_OK; ++i) {
    if (a->curve[i] < 0) continue;
    status = measure(a, i, &a->from[i], error);
    longest = fmax(longest, fabs(a->b->wanted[i].value - a->from[i]));
  }
  if (status || longest == 0.0) return status;
  const double part = follow(a, lead_coordinates, 0.2 / fmax(longest, 0.2), &status, error);
  return part < 1.0 ? fail_coordinate(a, status, error) : AS_OK;
}

/// Notes which joints contradict given velocities; a wanted rate counts as its joint's.
static void note_demands(const assembly *a, double *demand) {
  const as_model *m = a->model;
  for (int r = 0; r < m->n_lambda + m->n_psi && a->last.velocity_rows; ++r) {
    int joint = as_model_row_joint(m, r).index, driven = joint - a->b->n_joints;
    for (int i = 0; i < a->b->n_wanted && joint >= a->b->n_joints; ++i)
      if (a->curve[i] >= 0 && driven-- == 0) joint = a->b->wanted[i].joint.index;
    if (m->active[r]) demand[joint] = fmax(demand[joint], a->last.velocity_rows[r]);
  }
}

/// Prescribes the wanted rates where the coordinates are now.
static as_status set_rates(assembly *a, as_error *error) {
  as_status status = open_model(a, DRIVE_RATES, error);
  for (int i = 0; i < a->b->n_wanted && status == AS_OK; ++i) {
    if (a->curve[i] < 0) continue;
    as_curve *law = &a->model->curve[a->curve[i]].given;
    law->slope = a->b->wanted[i].rate;
    status = measure(a, i, &law->constant, error);
  }
  if (status == AS_OK) status = project(a, error);
  if (status == AS_OK) note_demands(a, a->demand);
  return status;
}

/// The machine alone, without what drove it: its rank, and the joints that are too much.
static as_status look_at_rank(assembly *a, as_assembly_report *report, as_error *error) {
  close_model(a);
  const as_integrator_def how = as_default_integrator_def();
  as_status status = as_builder_build(a->b, &a->model, error);
  if (status == AS_OK)
    status = as_integrator_create(as_model_problem(a->model), &how, &a->integrator, error);
  if (status == AS_OK) status = project(a, error);
  if (status) return status;
  report->degrees_of_freedom = a->last.degrees_of_freedom;
  report->n_redundant = a->last.n_redundant;
  for (int i = 0; i < a->last.n_redundant; ++i) {
    const as_joint_id joint = as_model_row_joint(a->model, a->last.redundant[i]);
    bool known = false;
    for (int k = 0; k < report->n_redundant_joints; ++k)
      known = known || as_joint_equal(report->redundant_joint[k], joint);
    if (!known && report->n_redundant_joints < AS_REDUNDANT_JOINTS)
      report->redundant_joint[report->n_redundant_joints++] = joint;
  }
  return AS_OK;
}

/// The part of superelements in what follows.
static double superelement_change(const as_model *m, const double *v, const double *old) {
  double sum = 0.0;
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    const double *x = v + s->v, *y = old + s->v;
    for (int j = 0; j < s->n; ++j)
      for (int k = s->M->col_start[j]; k < s->M->col_start[j + 1]; ++k)
        sum += (x[j] - y[j]) * s->M->value[k] * (x[s->M->row[k]] - y[s->M->row[k]]);
  }
  return sum;
}

/// sqrt(d^T M d) of the difference of two velocities.
static double velocity_change(const as_model *m, const double *v, const double *old) {
  double sum = superelement_change(m, v, old) + asi_flexibles_change(m, v, old);
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    double d[6] = {0}, momentum[3];
    for (int k = 0; k < body->n && !asi_body_is_node(body); ++k)
      d[k] = v[body->v + k] - old[body->v + k];
    asi_rotate(body->J, d + 3, momentum);
    sum += body->mass * asi_dot(d, d) + asi_dot(momentum, d + 3);
  }
  return sqrt(sum);
}

static void take_over(as_builder *b, const assembly *a, as_assembly_report *report) {
  for (int i = 0; i < b->n_wanted; ++i) {
    const as_coordinate_def *wanted = &b->wanted[i];
    if (!isnan(wanted->value))
      b->joint[wanted->joint.index].start[wanted->coordinate] = wanted->value;
  }
  for (int j = 0; j < b->n_joints; ++j) b->joint[j].demand = a->demand[j];
  b->assembled = true;
  report->velocity_change = velocity_change(a->model, a->v, a->model->v0);
  report->moved_body = AS_NO_BODY;
  for (int i = 0; i < b->n_bodies; ++i) {
    const asi_body *body = &a->model->body[i];
    as_body_motion now;
    double d[3];
    asi_body_motion(body, a->q, a->v, &now);
    asi_sum(now.x, -1.0, b->body[i].at.x, d);
    if (asi_norm(d) > report->largest_move || report->moved_body.index == ASI_NONE) {
      report->largest_move = asi_norm(d);
      report->moved_body = (as_body_id){i};
    }
    b->body[i].at = now;
    if (body->n == 6 && !asi_body_is_node(body))
      memcpy(b->body[i].quaternion, a->q + body->q + 3, sizeof b->body[i].quaternion);
  }
  for (int i = 0; i < b->n_superelements; ++i) {
    const asi_superelement *s = &a->model->superelement[i];
    memcpy(b->superelement[i].u0, a->q + s->q, (size_t)s->n * sizeof(double));
    memcpy(b->superelement[i].v0, a->v + s->v, (size_t)s->n * sizeof(double));
  }
  for (int i = 0; i < b->n_flexibles; ++i) {
    const asi_flexible *f = &a->model->flexible[i];
    const size_t size = (size_t)f->data->coordinate_count * sizeof(double);
    memcpy(b->flexible[i].z0, a->q + f->z_q, size);
    memcpy(b->flexible[i].z1, a->v + f->z_v, size);
  }
}

static as_status assemble(assembly *a, as_assembly_report *report, as_error *error) {
  as_status status = open_model(a, DRIVE_NOTHING, error);
  if (status) return status;
  const as_model *m = a->model;
  a->q = asi_calloc((size_t)m->nq, sizeof(double));
  a->v = asi_calloc((size_t)m->n, sizeof(double));
  a->given_v = asi_calloc((size_t)m->n, sizeof(double));
  a->rows = asi_calloc((size_t)m->n_lambda, sizeof(double));
  a->from = asi_calloc((size_t)a->b->n_wanted, sizeof(double));
  a->demand = asi_calloc((size_t)a->b->n_joints, sizeof(double));
  if (!a->q || !a->v || !a->given_v || !a->rows || !a->from || !a->demand)
    return asi_fail_memory(error);
  memcpy(a->q, m->q0, (size_t)m->nq * sizeof(double));
  memcpy(a->v, m->v0, (size_t)m->n * sizeof(double));
  memcpy(a->given_v, m->v0, (size_t)m->n * sizeof(double));
  status = find_gap(a, &report->gap, &report->gap_joint, error);
  if (status == AS_OK) status = close_all(a, error);
  if (status == AS_OK) status = lead_all(a, error);
  if (status == AS_OK) status = set_rates(a, error);
  return status ? status : look_at_rank(a, report, error);
}

as_status as_builder_assemble(as_builder *b, as_assembly_report *report, as_error *error) {
  as_assembly_report own = {0};
  assembly a = {.b = b, .curve = asi_calloc((size_t)b->n_wanted, sizeof(int))};
  as_status status = a.curve ? assemble(&a, &own, error) : asi_fail_memory(error);
  if (status == AS_OK) take_over(b, &a, &own);
  if (status == AS_OK && report) *report = own;
  close_model(&a);
  free(a.q);
  free(a.v);
  free(a.given_v);
  free(a.rows);
  free(a.from);
  free(a.demand);
  free(a.curve);
  return status;
}
