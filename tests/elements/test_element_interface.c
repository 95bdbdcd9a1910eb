/// Elements of the user's own that have velocity rows, and forces that depend on multipliers: tangents, motions
/// known by hand, quantities, assembly, refusals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/kinematics/problem.h"
#include "machines.h"
#include "rig.h"

static void rotate(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static void rotate_back(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

static void cross(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; ++i)
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// ---- a body that does not move along e at p, and one that keeps its speed --------------------------------

/// Two bodies, the second is held. With u = R^T v of it,
///     k_0 = -e . (u + omega x p) + drift t       k_1 = (speed^2 - v . v)/2
typedef struct edge {
  double e[3], p[3], drift, speed;
  int rows;
} edge;

static void edge_speed(const as_element_input *in, const as_element_output *out, const edge *x) {
  const double *v = in->body[1]->v;
  if (out->k) out->k[1] = (x->speed * x->speed - dot(v, v)) / 2.0;
  for (int i = 0; i < 3; ++i) {
    if (out->k_v) out->k_v[12 + 6 + i] = -v[i];
    if (out->f_v) out->f_v[(6 + i) * 12 + 6 + i] += in->psi[1]; // -D_v(k_v^T psi)
  }
}

static int edge_evaluate(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const edge *x = data;
  const as_body_motion *b = in->body[1];
  double u[3], swing[3], lever[3], turn[3], back[3], e_world[3];
  rotate_back(b->R, b->v, u);
  rotate(b->R, x->e, e_world);
  cross(b->omega, x->p, swing);
  cross(x->p, x->e, lever);
  cross(x->e, u, turn);
  cross(b->omega, u, back);
  if (out->k) out->k[0] = -dot(x->e, u) - dot(x->e, swing) + x->drift * in->t;
  if (out->k_rate) out->k_rate[0] = dot(x->e, back) + x->drift;
  for (int i = 0; i < 3; ++i) {
    if (out->k_v) out->k_v[6 + i] = -e_world[i];
    if (out->k_v) out->k_v[9 + i] = -lever[i];
    if (out->k_q) out->k_q[9 + i] = -turn[i];
    // The force psi R e turns with the body: D = -psi R e~.
    for (int j = 0; j < 3 && out->f_q; ++j) {
      const double unit[3] = {j == 0, j == 1, j == 2};
      double across[3], moved[3];
      cross(unit, x->e, across);
      rotate(b->R, across, moved);
      out->f_q[(6 + i) * 12 + 9 + j] += in->psi[0] * moved[i];
    }
  }
  if (x->rows == 2) edge_speed(in, out, x);
  return AS_DONE;
}

static const as_element_type edge_type = {"edge", edge_evaluate, NULL, NULL};

static as_joint_id add_edge(as_builder *b, const edge *data, as_body_id body) {
  static bool f_v[144];
  f_v[6 * 12 + 6] = f_v[7 * 12 + 7] = f_v[8 * 12 + 8] = true;
  as_element_def def = as_default_element_def();
  as_error error;
  as_element_id id;
  def.name = "edge";
  def.type = &edge_type;
  def.n_bodies = 2;
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.n_velocity_rows = data->rows;
  def.data = data;
  def.data_size = sizeof *data;
  def.rheonomic = data->drift != 0.0;
  def.forceless = true;
  def.pattern.f_v = data->rows == 2 ? f_v : NULL;
  if (as_builder_add_element(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id.joint;
}

// ---- drag that grows with what a joint carries ---------------------------------------------------------------

/// On the second body: f = -c N v, torque -c N omega, N = sqrt(1 + |read|^2).
typedef struct drag {
  double c;
  int n_read;
} drag;

static double load_of(const double *read, int n) {
  double sum = 1.0;
  for (int i = 0; i < n; ++i) sum += read[i] * read[i];
  return sqrt(sum);
}

static int drag_evaluate(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const drag *d = data;
  const double N = load_of(in->read, d->n_read);
  for (int i = 0; i < 6; ++i) {
    const double speed = i < 3 ? in->body[1]->v[i] : in->body[1]->omega[i - 3];
    if (out->force) out->force[6 + i] = -d->c * N * speed;
    if (out->f_v) out->f_v[(6 + i) * 12 + 6 + i] = -d->c * N;
    for (int r = 0; r < d->n_read && out->f_lambda; ++r)
      out->f_lambda[(6 + i) * d->n_read + r] = -d->c * speed * in->read[r] / N;
  }
  return AS_DONE;
}

static void drag_power(const as_element_input *in, as_element_power *out, const void *data) {
  const drag *d = data;
  const as_body_motion *b = in->body[1];
  out->dissipated =
      d->c * load_of(in->read, d->n_read) * (dot(b->v, b->v) + dot(b->omega, b->omega));
}

static const as_element_type drag_type = {"drag", drag_evaluate, NULL, drag_power};

static as_force_id add_drag(as_builder *b, double c, as_body_id body, as_joint_id reads,
                            int n_read) {
  const drag data = {c, n_read};
  as_element_def def = as_default_element_def();
  as_error error;
  as_element_id id;
  def.name = "drag";
  def.type = &drag_type;
  def.n_bodies = 2;
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.data = &data;
  def.data_size = sizeof data;
  def.reads = reads;
  if (as_builder_add_element(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id.force;
}

// ---- a table that holds a mass up, with friction by its own multiplier -----------------------------------------

/// g = -z: lambda is the force upwards. f = -mu lambda v/sqrt(v^2 + small^2) in the plane.
typedef struct table {
  double mu, small;
} table;

static int table_evaluate(const as_element_input *in, const as_element_output *out,
                          const void *data) {
  const table *x = data;
  const as_body_motion *b = in->body[0];
  const double s = sqrt(b->v[0] * b->v[0] + b->v[1] * b->v[1] + x->small * x->small);
  if (out->g) out->g[0] = -b->x[2];
  if (out->g_q) out->g_q[2] = -1.0;
  if (out->rate) out->rate[0] = -b->v[2];
  for (int i = 0; i < 2; ++i) {
    if (out->force) out->force[i] = -x->mu * in->read[0] * b->v[i] / s;
    if (out->f_lambda) out->f_lambda[i] = -x->mu * b->v[i] / s;
    for (int j = 0; j < 2 && out->f_v; ++j)
      out->f_v[6 * i + j] =
          -x->mu * in->read[0] * ((i == j ? 1.0 / s : 0.0) - b->v[i] * b->v[j] / (s * s * s));
  }
  return AS_DONE;
}

static void table_power(const as_element_input *in, as_element_power *out, const void *data) {
  const table *x = data;
  const double *v = in->body[0]->v, speed2 = v[0] * v[0] + v[1] * v[1];
  out->dissipated = x->mu * in->read[0] * speed2 / sqrt(speed2 + x->small * x->small);
}

static const as_element_type table_type = {"table", table_evaluate, NULL, table_power};

// ---- tangents ------------------------------------------------------------------------------------------------

static as_body_id add_tilted_body(as_builder *b, const char *name, bool se3, double angle) {
  as_body_def def = machine_round_body(name, 1.7, 0.8, se3);
  def.inertia[1] = 1.1;
  def.inertia[3] = 0.07;
  const double axis[3] = {0.48, -0.6, 0.64};
  def.quaternion[0] = cos(angle / 2.0);
  for (int i = 0; i < 3; ++i) {
    def.position[i] = 0.4 * i - 0.3;
    def.center_of_mass[i] = 0.1 * i;
    def.quaternion[1 + i] = sin(angle / 2.0) * axis[i];
  }
  return machine_body(b, &def);
}

static void check_tangents(as_model *m) {
  double v[12], lambda[6], psi[2] = {1.3, -0.8};
  for (int i = 0; i < 12; ++i) v[i] = sin(1.0 + 3.0 * i);
  for (int i = 0; i < 6; ++i) lambda[i] = 2.0 * cos(2.0 * i);
  as_check_def def = as_default_check_def();
  as_error error;
  as_check_report report;
  def.near =
      (as_point){.t = 0.3, .q = as_model_initial(m)->q, .v = v, .lambda = lambda, .psi = psi};
  def.spread = 0.3;
  if (as_problem_check(as_model_problem(m), &def, &report, &error)) fail_msg("%s", error.message);
  assert_true(report.block[AS_BLOCK_K_Q] < 1e-6 && report.block[AS_BLOCK_K_V] < 1e-6);
}

static void test_tangents(void **state) {
  (void)state;
  const edge data = {{0.6, 0.8, 0.0}, {0.3, -0.4, 0.5}, 0.7, 1.5, 2};
  for (int se3 = 0; se3 < 4; ++se3)
    for (int reads = 0; reads < 2; ++reads) {
      as_builder *b = machine_builder(0.3, -1.0, -9.81);
      const double angle = se3 % 2 ? 3.1412 : 1.1;
      const as_body_id first = add_tilted_body(b, "first", se3 & 1, angle);
      const as_body_id second = add_tilted_body(b, "second", se3 & 2, -angle);
      const as_joint_id hinge = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, first, second,
                                              (double[]){0.1, 0.5, -0.2}, (double[]){1, 2, 3});
      add_edge(b, &data, second);
      if (reads) add_drag(b, 0.4, second, hinge, 5);
      as_model *m = machine_build(b);
      check_tangents(m);
      as_model_destroy(m);
    }
}

// ---- a skate in circles --------------------------------------------------------------------------------------

static const double mass = 2.0, speed = 1.5, spin = 0.7;

/// On a level plane, with the edge below the centre of mass: it goes round at constant speed, on a circle of
/// speed/spin, and the edge pushes to the left with mass speed spin.
static as_model *build_skate(bool se3, bool dragged, bool assemble, as_assembly_report *report) {
  const edge data = {.e = {0, 1, 0}, .rows = 1};
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def body = machine_round_body("skate", mass, 0.3, se3);
  body.velocity[0] = speed;
  if (assemble) body.velocity[1] = 0.4; // must go
  body.angular_velocity[2] = spin;
  const as_body_id id = machine_body(b, &body);
  const as_joint_id ice = machine_joint(b, "ice", AS_JOINT_PLANAR, AS_GROUND, id,
                                        (double[]){0, 0, 0}, (double[]){0, 0, 1});
  add_edge(b, &data, id);
  if (dragged) add_drag(b, 0.05, id, ice, 3);
  as_error error;
  if (assemble && as_builder_assemble(b, report, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static as_integrator *start(const as_model *m, as_method method, double h) {
  const as_integrator_def def = rig_how(method, h, NULL, 0);
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

/// Errors of place, velocity, acceleration and psi after 2 s.
static void circle_errors(bool se3, as_method method, double h, double out[4]) {
  as_model *m = build_skate(se3, false, false, NULL);
  as_integrator *integrator = start(m, method, h);
  as_error error;
  const double t = 2.0, r = speed / spin, c = cos(spin * t), s = sin(spin * t);
  if (as_integrator_advance(integrator, t, &error)) fail_msg("%s", error.message);
  const as_state *now = as_integrator_state(integrator);
  as_body_motion at;
  as_model_body_motion(m, now, (as_body_id){0}, &at);
  double vdot[3];
  // On SE(3) v' is of u = R^T v, which does not change.
  const double exact[2] = {se3 ? 0.0 : -speed * spin * s, se3 ? 0.0 : speed * spin * c};
  memcpy(vdot, now->vdot, sizeof vdot);
  out[0] = hypot(at.x[0] - r * s, at.x[1] - r * (1.0 - c));
  out[1] = hypot(at.v[0] - speed * c, at.v[1] - speed * s);
  out[2] = hypot(vdot[0] - exact[0], vdot[1] - exact[1]);
  out[3] = fabs(now->psi[0] - mass * speed * spin);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_circle(void **state) {
  (void)state;
  static const char *const what[4] = {"place", "velocity", "acceleration", "psi"};
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      double coarse[4], fine[4];
      circle_errors(se3, rig_methods[k], 0.02, coarse);
      circle_errors(se3, rig_methods[k], 0.01, fine);
      for (int i = 0; i < 4; ++i) {
        if (coarse[i] < 1e-11) continue; // SE(3) is exact here
        const double order = log2(coarse[i] / fine[i]);
        printf("  space %d method %d %-12s %.2e %.2e order %.2f\n", se3, k, what[i], coarse[i],
               fine[i], order);
        assert_true(order > 1.9);
      }
    }
}

/// A skate whose edge is switched off goes straight on while it turns; then it is set down again, which takes the
/// speed across the blade away.
static void test_lifted(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      as_model *m = build_skate(se3, true, false, NULL);
      as_integrator *integrator = start(m, rig_methods[k], 1e-2);
      as_error error;
      as_initial initial = *as_model_initial(m);
      bool active[4] = {true, true, true, true};
      active[3 + as_model_joint_velocity_row(m, as_model_find_joint(m, "edge"))] = false;
      initial.active = active;
      if (as_integrator_start(integrator, &initial, NULL, &error) ||
          as_integrator_advance(integrator, 0.5, &error))
        fail_msg("%s", error.message);
      const as_state *s = as_integrator_state(integrator);
      as_body_motion at;
      as_model_body_motion(m, s, (as_body_id){0}, &at);
      assert_near("v_y", at.v[1], 0.0, se3 ? 1e-4 : 1e-9); // on SE(3) not exact
      assert_near("psi", s->psi[0], 0.0, 1e-12);
      assert_true(at.R[3] > 0.05); // it has turned
      const double along = at.R[0] * at.v[0] + at.R[3] * at.v[1];
      double q[7], v[6];
      memcpy(q, s->q, sizeof q);
      memcpy(v, s->v, sizeof v);
      initial = (as_initial){.q = q, .v = v};
      if (as_integrator_start(integrator, &initial, NULL, &error)) fail_msg("%s", error.message);
      as_model_body_motion(m, s, (as_body_id){0}, &at);
      assert_near("speed", hypot(at.v[0], at.v[1]), along, 1e-9);
      as_integrator_destroy(integrator);
      as_model_destroy(m);
    }
}

static void test_quantities(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_assembly_report report;
    as_model *m = build_skate(se3, false, true, &report);
    assert_int_equal(report.degrees_of_freedom, 2);
    assert_near("velocity change", report.velocity_change, 0.4 * sqrt(mass), 1e-12);
    const as_joint_id id = as_model_find_joint(m, "edge");
    assert_int_equal(as_model_joint_rows(m, id), 0);
    assert_int_equal(as_model_joint_velocity_row(m, id), 0);
    assert_int_equal(as_model_joint_velocity_rows(m, id), 1);
    assert_int_equal(as_model_joint_velocity_rows(m, as_model_find_joint(m, "ice")), 0);
    assert_int_equal(as_model_row_joint(m, 3).index, id.index); // after the three rows of the ice
    assert_int_equal(as_model_row_joint(m, 4).index, AS_NO_JOINT.index);
    as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-2);
    as_error error;
    as_reaction r;
    as_gap gap;
    as_power power;
    if (as_integrator_advance(integrator, 1.0, &error)) fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    assert_int_equal(as_model_reaction(m, s, id, &r, &error), AS_OK);
    assert_near("push, x", r.force[0], -mass * speed * spin * sin(spin), 1e-4);
    assert_near("push, y", r.force[1], mass * speed * spin * cos(spin), 1e-4);
    assert_int_equal(as_model_gap(m, s, id, &gap, &error), AS_OK);
    assert_true(gap.position == 0.0 && gap.velocity < 1e-9);
    assert_int_equal(as_model_power(m, s, &power, &error), AS_OK);
    assert_near("power", power.motions, 0.0, 1e-9);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// An edge that is pushed along: v = drift t, the motion brings in m drift^2 t.
static void test_pushed(void **state) {
  (void)state;
  const edge data = {.e = {0.6, 0.8, 0}, .drift = 0.7, .rows = 1};
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def body = machine_round_body("body", mass, 0.3, se3);
    add_edge(b, &data, machine_body(b, &body));
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-2);
    as_error error;
    as_power power;
    if (as_integrator_advance(integrator, 1.0, &error)) fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    as_body_motion at;
    as_model_body_motion(m, s, (as_body_id){0}, &at);
    assert_near("v_x", at.v[0], 0.42, 1e-9);
    assert_near("psi", s->psi[0], mass * 0.7, 1e-9);
    assert_int_equal(as_model_power(m, s, &power, &error), AS_OK);
    assert_near("power", power.motions, mass * 0.49, 1e-8);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// Drag by the load: m v' = -c N v, J spin' = -c N spin, N = sqrt(1 + (m g)^2): both decay exponentially.
static void test_drag(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      as_model *m = build_skate(se3, true, false, NULL);
      as_integrator *integrator = start(m, rig_methods[k], 2e-3);
      as_error error;
      as_meter meter = {0};
      for (int i = 0; i <= 250; ++i) {
        if (i > 0 && as_integrator_step(integrator, 2e-3, &error)) fail_msg("%s", error.message);
        if (as_meter_update(&meter, m, as_integrator_state(integrator), &error))
          fail_msg("%s", error.message);
      }
      const as_state *s = as_integrator_state(integrator);
      as_body_motion at;
      as_model_body_motion(m, s, (as_body_id){0}, &at);
      const double N = sqrt(1.0 + mass * mass * 9.81 * 9.81), rate = 0.05 * N / mass;
      const double v = speed * exp(-rate * 0.5), w = spin * exp(-0.05 * N / 0.3 * 0.5);
      assert_near("speed", hypot(at.v[0], at.v[1]), v, 1e-5);
      assert_near("spin", at.omega[2], w, 1e-5);
      assert_near("heat", meter.dissipated,
                  mass / 2.0 * (speed * speed - v * v) + 0.15 * (spin * spin - w * w), 1e-4);
      assert_near("lambda", s->lambda[0], mass * 9.81, 1e-7);
      as_integrator_destroy(integrator);
      as_model_destroy(m);
    }
}

/// A mass slides over a table and slows down by mu g; with the regularisation s = sqrt(v^2 + small^2) the time
/// from v0 to v is (s0 - s + small (artanh..))/(mu g), close to (v0 - v)/(mu g).
static void test_table(void **state) {
  (void)state;
  const table data = {0.3, 1e-5};
  for (int k = 0; k < 3; ++k) {
    as_builder *b = machine_builder(0, 0, -9.81);
    as_element_def def = as_default_element_def();
    as_error error;
    as_element_id id;
    def.name = "table";
    def.type = &table_type;
    def.n_bodies = 1;
    def.body[0] = machine_point(b, "mass", mass, (double[]){0, 0, 0}, (double[]){2.4, 1.8, 0});
    def.n_rows = 1;
    def.data = &data;
    def.data_size = sizeof data;
    def.reads = AS_SELF;
    if (as_builder_add_element(b, &def, &id, &error)) fail_msg("%s", error.message);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[k], 1e-2);
    if (as_integrator_advance(integrator, 0.5, &error)) fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    assert_int_equal(as_model_problem(m)->def.force_kind, AS_FORCE_GENERAL);
    const double slowed = 3.0 - 0.3 * 9.81 * 0.5;
    assert_near("v_x", s->v[0], 0.8 * slowed, 1e-8);
    assert_near("v_y", s->v[1], 0.6 * slowed, 1e-8);
    assert_near("lambda", s->lambda[as_model_joint_row(m, id.joint)], mass * 9.81, 1e-8);
    as_power power;
    assert_int_equal(as_model_power(m, s, &power, &error), AS_OK);
    assert_near("heat", power.dissipated, 0.3 * mass * 9.81 * slowed, 1e-6);
    // Without the table it falls, and nothing slows it down.
    as_initial free_fall = *as_model_initial(m);
    free_fall.active = (bool[]){false};
    if (as_integrator_start(integrator, &free_fall, NULL, &error) ||
        as_integrator_advance(integrator, 0.5, &error))
      fail_msg("%s", error.message);
    assert_near("v_x, falling", s->v[0], 2.4, 1e-10);
    assert_near("v_z, falling", s->v[2], -9.81 * 0.5, 1e-10);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A saved state goes on as if nothing had happened, with psi and a general force in it.
static void test_saved(void **state) {
  (void)state;
  as_model *m = build_skate(true, true, false, NULL);
  as_integrator *first = start(m, AS_METHOD_INDEX2, 1e-2),
                *second = start(m, AS_METHOD_INDEX2, 1e-2);
  static unsigned char data[1 << 16];
  size_t size = sizeof data;
  as_error error;
  if (as_integrator_advance(first, 0.5, &error) || as_integrator_save(first, data, &size, &error) ||
      as_integrator_load(second, data, size, &error) || as_integrator_advance(first, 1.0, &error) ||
      as_integrator_advance(second, 1.0, &error))
    fail_msg("%s", error.message);
  const as_state *a = as_integrator_state(first), *b = as_integrator_state(second);
  assert_memory_equal(a->q, b->q, 7 * sizeof(double));
  assert_memory_equal(a->psi, b->psi, sizeof(double));
  as_integrator_destroy(first);
  as_integrator_destroy(second);
  as_model_destroy(m);
}

/// The problem stays additive unless a force reads multipliers.
static void test_additive(void **state) {
  (void)state;
  as_model *m = build_skate(false, false, false, NULL);
  assert_int_equal(as_model_problem(m)->def.force_kind, AS_FORCE_ADDITIVE);
  as_model_destroy(m);
}

// ---- names and refusals -----------------------------------------------------------------------------------------

/// A wrong tangent is named by joint and velocity row.
static int wrong_evaluate(const as_element_input *in, const as_element_output *out,
                          const void *data) {
  edge_evaluate(in, out, data);
  if (out->k_q) out->k_q[9] += 0.1;
  return AS_DONE;
}

static const as_element_type wrong_type = {"edge", wrong_evaluate, NULL, NULL};

static void test_names(void **state) {
  (void)state;
  const edge data = {{0.6, 0.8, 0.0}, {0.3, -0.4, 0.5}, 0.0, 0.0, 1};
  as_builder *b = machine_builder(0, 0, 0);
  as_element_def def = as_default_element_def();
  as_error error = {0};
  def.name = "blade";
  def.type = &wrong_type;
  def.n_bodies = 2;
  def.body[0] = AS_GROUND;
  def.body[1] = add_tilted_body(b, "body", false, 0.4);
  def.n_velocity_rows = 1;
  def.data = &data;
  def.data_size = sizeof data;
  assert_int_equal(as_builder_add_element(b, &def, NULL, &error), AS_OK);
  as_model *m = machine_build(b);
  as_check_def check = as_default_check_def();
  check.near.q = as_model_initial(m)->q;
  assert_int_not_equal(as_problem_check(as_model_problem(m), &check, NULL, &error), AS_OK);
  assert_non_null(strstr(error.message, "joint \"blade\", velocity row 1"));
  as_model_destroy(m);
}

/// A spring along x of the second body, which writes more than its pattern has.
static int sloppy_evaluate(const as_element_input *in, const as_element_output *out,
                           const void *data) {
  (void)data;
  if (out->force) out->force[6] = -3.0 * in->body[1]->x[0];
  for (int i = 0; i < 144 && out->f_q; ++i) out->f_q[i] = 5.0;
  if (out->f_q) out->f_q[6 * 12 + 6] = -3.0;
  for (int i = 0; i < 144 && out->f_v; ++i) out->f_v[i] = 7.0;
  return AS_DONE;
}

static const as_element_type sloppy_type = {"sloppy", sloppy_evaluate, NULL, NULL};

/// What is outside a pattern does not count, nor does it disturb others.
static void test_outside(void **state) {
  (void)state;
  static bool f_q[144], f_v[144];
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0.3, -1.0, -9.81);
    const as_body_id first = add_tilted_body(b, "first", se3, 0.3);
    const as_body_id second = add_tilted_body(b, "second", false, -0.7);
    as_element_def def = as_default_element_def();
    as_error error;
    f_q[6 * 12 + 6] = true;
    def.type = &sloppy_type;
    def.n_bodies = 2;
    def.body[0] = AS_GROUND;
    def.body[1] = second;
    def.pattern.f_q = f_q;
    def.pattern.f_v = f_v;
    for (int i = 0; i < 3; ++i) {
      char name[16];
      snprintf(name, sizeof name, "sloppy %d", i);
      def.name = name;
      if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
      if (i == 0)
        machine_joint(b, "hinge", AS_JOINT_REVOLUTE, first, second, (double[]){0.1, 0.5, -0.2},
                      (double[]){1, 2, 3});
      if (i == 1) add_edge(b, &(edge){{0.6, 0.8, 0.0}, {0.3, -0.4, 0.5}, 0.7, 1.5, 2}, first);
    }
    as_model *m = machine_build(b);
    check_tangents(m);
    as_model_destroy(m);
  }
}

static void refuse(as_builder *b, const as_element_def *def, const char *part) {
  as_error error = {0};
  as_element_id id = {{77}, {78}};
  assert_int_equal(as_builder_add_element(b, def, &id, &error), AS_ERR_ARGUMENT);
  if (strstr(error.message, part) == NULL) fail_msg("\"%s\" is not in: %s", part, error.message);
  assert_true(id.joint.index == 77 && id.force.index == 78);
}

static void test_refusals(void **state) {
  (void)state;
  const drag data = {0.1, 3};
  as_builder *b = machine_builder(0, 0, 0);
  as_element_def def = as_default_element_def();
  const as_body_id body = add_tilted_body(b, "body", false, 0.4);
  def.name = "drag";
  def.type = &drag_type;
  def.n_bodies = 2;
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.data = &data;
  def.data_size = sizeof data;
  def.reads = (as_joint_id){0};
  refuse(b, &def, "\"drag\" reads the multipliers of joint 0, which is not there");
  def.reads = AS_SELF;
  refuse(b, &def, "\"drag\" reads the multipliers of itself, which has no rows");
  def.reads = AS_NO_JOINT;
  def.n_velocity_rows = AS_ELEMENT_ROWS + 1;
  refuse(b, &def, "\"drag\" has 7 velocity rows (0 to 6)");
  def.n_velocity_rows = 0;
  add_edge(b, &(edge){.e = {1, 0, 0}, .rows = 1}, body);
  def.reads = (as_joint_id){0};
  refuse(b, &def, "\"drag\" reads the multipliers of joint \"edge\", which has no rows");
  def.forceless = true;
  refuse(b, &def, "\"drag\" has no force");
  as_model *m = machine_build(b);
  assert_int_equal(as_model_joints(m), 1);
  assert_int_equal(as_model_forces(m), 0);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tangents),   cmocka_unit_test(test_circle),
      cmocka_unit_test(test_quantities), cmocka_unit_test(test_drag),
      cmocka_unit_test(test_table),      cmocka_unit_test(test_pushed),
      cmocka_unit_test(test_additive),   cmocka_unit_test(test_saved),
      cmocka_unit_test(test_lifted),     cmocka_unit_test(test_names),
      cmocka_unit_test(test_outside),    cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
