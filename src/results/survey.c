/// A survey of a machine, see survey.h: counts, loops, start, cost, and what looks strange.
///
/// The period of a force: with K = -f_q of its element and M of its bodies, 2 pi / sqrt(rho), where rho is the
/// spectral radius of M^-1 K, by power iteration. Joints may forbid that motion or slow it down: a rough number,
/// meant for orders of magnitude.
#include "alphastep/survey.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/error.h"
#include "base/text.h"
#include "core/driver/integrator.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/look.h"
#include "results/channels.h"
#include "results/flexible_range.h"

static const double two_pi = 6.283185307179586477;

typedef struct survey {
  as_survey *out;
  const as_model *model;
  const as_integrator_def *how;
  double t_end;
  as_integrator *integrator;
  double *reach; ///< of each body: how far its joints are from its centre of mass at most [m]
  bool *touched; ///< of each body: a joint or a force is on it
} survey;

static void warn(survey *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void warn(survey *s, const char *format, ...) {
  if (s->out->n_warnings == AS_SURVEY_WARNINGS) return;
  va_list arguments;
  va_start(arguments, format);
  asi_format(s->out->warning[s->out->n_warnings++], sizeof s->out->warning[0], format, arguments);
  va_end(arguments);
}

static void hear(as_log_level level, const char *message, void *user) {
  if (level == AS_LOG_WARNING) warn(user, "%s", message);
}

// ---- the graph --------------------------------------------------------------------------------------

static int find_root(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/// Each joint that joins what is joined already closes a loop; one that only velocities know does not.
static as_status count_loops(survey *s, as_error *error) {
  const as_model *m = s->model;
  int *parent = asi_calloc((size_t)m->n_bodies + 1, sizeof(int)); // the last one is the ground
  if (parent == NULL) return asi_fail_memory(error);
  for (int i = 0; i <= m->n_bodies; ++i) // nodes of a flexible body are one
    parent[i] = i < m->n_bodies && m->body[i].view ? m->body[i].view->body : i;
  for (int j = 0; j < m->n_joints; ++j) {
    const asi_element *e = &m->element[m->joint[j].element].e;
    const as_joint_kind kind = m->joint[j].kind;
    if (e->n_bodies != 2 || e->n_rows == 0) continue;
    if (kind == AS_JOINT_MOTION || kind == AS_JOINT_COUPLING) continue;
    if (m->joint[j].released) continue;
    const int first = find_root(parent, e->body[0] < 0 ? m->n_bodies : e->body[0]);
    const int second = find_root(parent, e->body[1] < 0 ? m->n_bodies : e->body[1]);
    s->out->loops += first == second;
    parent[first] = second;
  }
  free(parent);
  return AS_OK;
}

// ---- start and cost ---------------------------------------------------------------------------------

static as_status look_at_start(survey *s, as_error *error) {
  as_survey *out = s->out;
  const as_model *m = s->model;
  as_start_report report;
  const as_status status = as_integrator_start(s->integrator, as_model_initial(m), &report, error);
  if (status) return status;
  const as_state *state = as_integrator_state(s->integrator);
  if (as_model_start_changes(m, state, &report, &out->change, &out->n_changes, error))
    return AS_ERR_MEMORY;
  asi_tell_start_changes(m, out->change, out->n_changes, hear, s);
  out->degrees_of_freedom = report.degrees_of_freedom;
  out->n_redundant = report.n_redundant;
  out->gap = report.position_residual;
  out->velocity_change = report.velocity_change;
  out->redundant = asi_calloc((size_t)m->n_joints, sizeof *out->redundant);
  bool *known = asi_calloc((size_t)m->n_joints, sizeof *known);
  if (out->redundant == NULL || known == NULL) {
    free(known);
    return asi_fail_memory(error);
  }
  for (int row = 0; row < m->n_lambda + m->n_psi && report.n_redundant > 0; ++row) {
    const as_joint_id joint = as_model_row_joint(m, row);
    if (report.redundancy_group[row] < 0 || joint.index < 0 || known[joint.index]) continue;
    known[joint.index] = true;
    out->redundant[out->n_redundant_joints++] = joint;
  }
  free(known);
  for (int i = 0; i < m->n_bodies; ++i) {
    double move[3];
    as_body_motion given, at;
    asi_model_motion(m, i, m->q0, NULL, &given);
    as_model_body_motion(m, state, (as_body_id){i}, &at);
    asi_sum(at.x, -1.0, given.x, move);
    if (!(asi_norm(move) > out->largest_move)) continue;
    out->largest_move = asi_norm(move);
    out->moved_body = (as_body_id){i};
  }
  as_momentum momentum;
  as_model_momentum(m, state, &momentum);
  out->mass = momentum.mass;
  asi_copy(momentum.center_of_mass, out->center_of_mass);
  return AS_OK;
}

/// Takes one step: it shows what the matrix and its factors are like.
static void look_at_step(survey *s) {
  as_survey *out = s->out;
  as_integrator *integrator = s->integrator;
  as_error error;
  out->unknowns = integrator->stepper.unknowns;
  const as_status status = as_integrator_next(integrator, &error);
  if (status && status != AS_STOPPED) {
    warn(s, "The first step fails: %s", error.message);
    return;
  }
  const asi_system *system =
      integrator->stepper.active ? integrator->stepper.active : &integrator->stepper.step;
  asi_solver_info info;
  system->solver->ops->info(system->solver, &info);
  out->solver = info.backend;
  out->entries = (double)system->pattern.col_start[system->size];
  out->fill = info.fill;
  out->factor_operations = info.factor_operations;
  out->solve_operations = info.solve_operations;
}

// ---- sizes ------------------------------------------------------------------------------------------

static void stretch_box(double low[3], double high[3], const double *x) {
  for (int k = 0; k < 3; ++k) {
    low[k] = fmin(low[k], x[k]);
    high[k] = fmax(high[k], x[k]);
  }
}

static as_status look_at_sizes(survey *s, as_error *error) {
  const as_model *m = s->model;
  const as_state *state = as_integrator_state(s->integrator);
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) low[k] = (double)INFINITY, high[k] = -(double)INFINITY;
  as_body_motion body;
  for (int i = 0; i < m->n_bodies; ++i) {
    as_model_body_motion(m, state, (as_body_id){i}, &body);
    stretch_box(low, high, body.x);
  }
  for (int j = 0; j < m->n_joints; ++j) {
    if (!m->joint[j].ours) continue; // who knows where it is
    as_reaction at;
    const as_status status = as_model_reaction(m, state, (as_joint_id){j}, &at, error);
    if (status) return status;
    stretch_box(low, high, at.point);
    const asi_element *e = &m->element[m->joint[j].element].e;
    for (int b = 0; b < e->n_bodies; ++b) {
      if (e->body[b] < 0) continue;
      double from[3];
      as_model_body_motion(m, state, (as_body_id){e->body[b]}, &body);
      asi_sum(at.point, -1.0, body.x, from);
      s->reach[e->body[b]] = fmax(s->reach[e->body[b]], asi_norm(from));
    }
  }
  for (int k = 0; k < 3; ++k) s->out->size = fmax(s->out->size, high[k] - low[k]);
  for (int i = 0; i < m->n_elements; ++i)
    for (int b = 0; b < m->element[i].e.n_bodies; ++b)
      if (m->element[i].e.body[b] >= 0) s->touched[m->element[i].e.body[b]] = true;
  return AS_OK;
}

/// What no body of this world is like: most likely grams, millimetres or tonnes.
static void check_body(survey *s, int i, double heaviest) {
  const double densest = 1e7; // [kg/m^3] with the radius of gyration: osmium has 4e5
  const asi_body *body = &s->model->body[i];
  const char *name = as_model_body_name(s->model, (as_body_id){i});
  const double largest = fmax(body->J[0], fmax(body->J[4], body->J[8]));
  const double radius = body->n == 6 ? sqrt(largest / body->mass) : 0.0;
  const double reach = fmax(s->reach[i], radius);
  if (body->mass < 1e-6 * heaviest)
    warn(s,
         "The mass of body \"%s\", %.3g kg, is less than a millionth of the heaviest, %.3g kg: "
         "accelerations will be inaccurate.",
         name, body->mass, heaviest);
  if (reach > 0.0 && body->mass / (reach * reach * reach) > densest)
    warn(s,
         "Body \"%s\" has %.3g kg within about %.3g m, more than any material: is its mass in "
         "kg, are lengths in m?",
         name, body->mass, reach);
  // Levers much shorter than that are round-off: a hub.
  if (body->n == 6 && radius > 100.0 * s->reach[i] && radius < 1e5 * s->reach[i])
    warn(s,
         "The inertia of body \"%s\" is that of a size of %.3g m, but its joints are within "
         "%.3g m: is it in kg m^2?",
         name, radius, s->reach[i]);
  if (body->n == 6 && radius < 1e-3 * s->reach[i])
    warn(s,
         "The inertia of body \"%s\" is that of a size of %.3g m, but its joints are %.3g m "
         "away: is it in kg m^2?",
         name, radius, s->reach[i]);
  if (!s->touched[i] && s->model->n_bodies > 1)
    warn(s, "Nothing is attached to body \"%s\".", name);
}

/// What was assumed of joints.
static void check_joints(survey *s) {
  for (int j = 0; j < s->model->n_joints; ++j) {
    char text[sizeof s->out->warning[0]];
    if (as_model_joint_remark(s->model, (as_joint_id){j}, text, sizeof text)) warn(s, "%s", text);
  }
}

static void check_units(survey *s) {
  const as_model *m = s->model;
  const double g = asi_norm(m->gravity);
  double heaviest = 0.0, farthest = 0.0;
  for (int i = 0; i < m->n_bodies; ++i) {
    heaviest = fmax(heaviest, m->body[i].mass);
    farthest = fmax(farthest, s->reach[i]);
  }
  if (g > 1000.0)
    warn(s, "Gravity is %.4g m/s^2: that looks like millimetres, but lengths are in metres.", g);
  if (g > 0.0 && g < 0.1) warn(s, "Gravity is %.4g m/s^2: a hundredth of the earth's or less.", g);
  if (farthest > 100.0 && g <= 1000.0)
    warn(s, "A joint is %.4g m away from the centre of mass of its body: are lengths in metres?",
         farthest);
  for (int i = 0; i < m->n_bodies; ++i)
    if (!asi_body_is_node(&m->body[i]) && !m->body[i].flexible)
      check_body(s, i, heaviest); // a node has no mass of its own
}

// ---- time scales ------------------------------------------------------------------------------------

/// x -> M^-1 x for the bodies of an element.
static void divide_by_mass(const as_model *m, const asi_element *e, double *x) {
  for (int b = 0; b < e->n_bodies; ++b, x += 6) {
    const asi_body *body = e->body[b] >= 0 ? &m->body[e->body[b]] : NULL;
    for (int k = 0; k < 3; ++k) {
      const double J = body && body->n == 6 ? body->J[4 * k] : (double)INFINITY;
      x[k] = body ? x[k] / body->mass : 0.0;
      x[3 + k] /= J; // principal axes will do
    }
  }
}

/// Spectral radius of M^-1 K, K = -f_q of the element.
static double stiffness_over_mass(const as_model *m, const asi_placed *p,
                                  const as_element_input *in) {
  const int n = 6 * p->e.n_bodies;
  double f_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS] = {0}, x[AS_ELEMENT_COLUMNS];
  const as_element_output want = {.f_q = f_q};
  if (p->e.type->evaluate(in, &want, p->data)) return 0.0;
  double rho = 0.0;
  for (int i = 0; i < n; ++i) x[i] = cos(1.0 + i); // any
  for (int round = 0; round < 40; ++round) {
    double y[AS_ELEMENT_COLUMNS] = {0}, size = 0.0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) y[i] -= f_q[i * n + j] * x[j];
    divide_by_mass(m, &p->e, y);
    for (int i = 0; i < n; ++i) size += y[i] * y[i];
    rho = sqrt(size);
    if (!(rho > 0.0 && isfinite(rho))) return 0.0;
    for (int i = 0; i < n; ++i) x[i] = y[i] / rho;
  }
  return rho;
}

static void look_at_periods(survey *s) {
  const as_model *m = s->model;
  const as_state *state = as_integrator_state(s->integrator);
  as_survey *out = s->out;
  out->fastest_period = out->slowest_period = (double)NAN;
  out->fastest_force = out->slowest_force = AS_NO_FORCE;
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_placed *p = &m->element[m->force[i]];
    if (p->e.type->potential == NULL) continue;
    as_body_motion body[AS_ELEMENT_BODIES];
    const double zero[AS_ELEMENT_ROWS] = {0};
    as_element_input in = asi_look(m, state, p, body);
    in.lambda = zero;
    const double period = two_pi / sqrt(stiffness_over_mass(m, p, &in));
    if (!isfinite(period)) continue;
    if (!(period >= out->fastest_period)) {
      out->fastest_period = period;
      out->fastest_force = (as_force_id){i};
    }
    if (!(period <= out->slowest_period)) {
      out->slowest_period = period;
      out->slowest_force = (as_force_id){i};
    }
  }
}

static void check_periods(survey *s) {
  const as_survey *out = s->out;
  if (out->fastest_force.index == ASI_NONE) return;
  const char *fastest = as_model_force_name(s->model, out->fastest_force);
  const double fast = out->fastest_period;
  if (out->slowest_period > 1e4 * fast)
    warn(s,
         "Time scales are very different: periods of about %.2g s with force \"%s\" and of %.2g "
         "s with \"%s\".",
         fast, fastest, out->slowest_period, as_model_force_name(s->model, out->slowest_force));
  if (s->t_end > 1e5 * fast)
    warn(s,
         "The run of %.3g s has %.2g periods of about %.2g s with force \"%s\": following them "
         "takes many steps.",
         s->t_end, s->t_end / fast, fast, fastest);
  if (s->how->step > fast / 8.0)
    warn(s,
         "Steps of %.3g s do not resolve the period of about %.2g s with force \"%s\": such "
         "vibrations are damped, not followed.",
         s->how->step, fast, fastest);
}

/// Flexible bodies that leave their range at once.
static void check_flexibles(survey *s) {
  char text[sizeof s->out->warning[0]];
  for (int i = 0; i < s->model->n_flexibles; ++i)
    if (asi_flexible_range_text(s->model, as_integrator_state(s->integrator), (as_flexible_id){i},
                                text, sizeof text))
      warn(s, "%s", text);
}

// ---- the whole --------------------------------------------------------------------------------------

/// Derivatives that plugins give, at the start and near by.
static void check_plugins(survey *s) {
  const asi_control *blocks = s->model->blocks;
  const as_state *x = as_integrator_state(s->integrator);
  const as_point at = {.t = x->t, .q = x->q, .v = x->v, .x = x->x, .y = x->y, .u = x->u};
  char text[sizeof s->out->warning[0]];
  for (int i = 0; blocks && i < blocks->n_linear; ++i)
    if (!asi_plugin_block_check(s->model, &at, i, text, sizeof text)) warn(s, "%s", text);
  for (int i = 0; i < s->model->n_forces; ++i)
    if (!asi_plugin_force_check(s->model, x, i, text, sizeof text)) warn(s, "%s", text);
}

static as_status look(survey *s, as_error *error) {
  as_survey *out = s->out;
  const as_model *m = s->model;
  out->bodies = m->n_bodies;
  out->joints = m->n_joints;
  out->forces = m->n_forces;
  out->velocities = m->n;
  for (int i = 0; i < m->n_lambda + m->n_psi; ++i) out->rows += m->active[i];
  for (int j = 0; j < m->n_joints; ++j) out->inactive_joints += m->joint[j].released;
  out->moved_body = AS_NO_BODY;
  s->reach = asi_calloc((size_t)m->n_bodies, sizeof *s->reach);
  s->touched = asi_calloc((size_t)m->n_bodies, sizeof *s->touched);
  if (s->reach == NULL || s->touched == NULL) return asi_fail_memory(error);
  as_integrator_def how = *s->how;
  how.log = hear;
  how.log_user = s;
  how.interrupt = NULL;
  as_status status = as_integrator_create(as_model_problem(m), &how, &s->integrator, error);
  if (status == AS_OK) status = count_loops(s, error);
  if (status == AS_OK) status = look_at_start(s, error);
  if (status == AS_OK) status = look_at_sizes(s, error);
  if (status) return status;
  look_at_periods(s);
  check_units(s);
  check_joints(s);
  check_plugins(s);
  check_flexibles(s);
  check_periods(s);
  look_at_step(s);
  return AS_OK;
}

as_status as_survey_create(const as_model *model, const as_integrator_def *how, double t_end,
                           as_survey **out, as_error *error) {
  *out = NULL;
  survey s = {.model = model, .how = how, .t_end = t_end};
  s.out = asi_calloc(1, sizeof *s.out);
  if (s.out == NULL) return asi_fail_memory(error);
  const as_status status = look(&s, error);
  as_integrator_destroy(s.integrator);
  free(s.reach);
  free(s.touched);
  if (status) {
    as_survey_destroy(s.out);
    return status;
  }
  *out = s.out;
  return AS_OK;
}

void as_survey_destroy(as_survey *s) {
  if (s == NULL) return;
  free(s->redundant);
  as_start_changes_free(s->change);
  free(s);
}
