/// Flexible bodies in machines: sums over moving point masses, tangents, momenta, shifts, rotating blades, statics, orders.
///
/// The bodies are straight beams of finite elements that tests/kit/flexible_part.c reduces. References of rotating blades: rotating
/// Cosserat rods by shooting (74.982, 105.587 rad/s at 50 rad/s); of the linear body lag^2 = lag_0^2 - Omega^2.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "beams.h"
#include "drive.h"
#include "elements/vector.h"
#include "flexible_part.h"
#include "lie/rotation.h"
#include "machines.h"
#include "rig.h"

static const double none[3] = {0.0, 0.0, 0.0}, ez[3] = {0.0, 0.0, 1.0};

/// A soft rod of 0.8 m, first clamped frequency about 20 rad/s.
static part soft_rod(int modes, bool displacements, double damping) {
  part_def def = {.from = {0.1, 0.0, 0.0},
                  .length = 0.8,
                  .elements = 6,
                  .modes = modes,
                  .stiffness = {2e4, 1e4, 1e4, 0.8, 1.0, 1.4},
                  .mass = 1.0,
                  .inertia = {3e-4, 5e-4},
                  .interface_count = 3,
                  .interface = {0, 6, 3},
                  .displacements = displacements,
                  .beta = damping};
  return part_make(&def);
}

/// Numbers between -1 and 1.
static double next(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/// A state off the start: poses and rates of everything.
typedef struct somewhere {
  double q[64], v[64], vdot[64];
  as_state state;
} somewhere;

static void go_somewhere(const as_model *m, as_flexible_id id, unsigned seed, somewhere *x) {
  const as_space *space = as_problem_space(as_model_problem(m));
  const int n = as_space_nv(space);
  assert_true(n <= 64);
  const as_initial *from = as_model_initial(m);
  double xi[64];
  for (int i = 0; i < n; ++i) {
    xi[i] = 0.7 * next(&seed);
    x->v[i] = 2.0 * next(&seed);
    x->vdot[i] = 5.0 * next(&seed);
  }
  const int first = as_model_flexible_v(m, id);
  for (int i = first; i < n; ++i) xi[i] *= 0.1;
  as_space_move(space, from->q, xi, x->q);
  x->state = (as_state){.t = 0.0, .q = x->q, .v = x->v, .vdot = x->vdot, .u = from->u};
}

/// What acts on point masses that move as the field says, against M v' - f of the library; energy and momenta likewise.
static void test_point_masses(void **state) {
  (void)state;
  const double g[3] = {1.0, -3.0, -9.81};
  for (unsigned c = 0; c < 4; ++c) {
    part p = soft_rod(2 + (int)c, c == 2, 0.01);
    const as_flexible_data *d = p.data;
    const size_t n = (size_t)d->coordinate_count;
    as_builder *b = machine_builder(g[0], g[1], g[2]);
    const as_flexible_id rod = part_add(b, "rod", &p, none, none, none);
    as_model *m = machine_build(b);
    somewhere x;
    go_somewhere(m, rod, 17 + c, &x);
    double found[64] = {0}, expected[64] = {0}, size = 0.0, kinetic = 0.0, potential = 0.0;
    as_error error;
    const as_values values = {.unbalanced = found};
    assert_int_equal(as_problem_values(as_model_problem(m), &x.state, &values, &error), AS_OK);
    as_momentum sum = {0}, momentum;
    as_energy energy;
    const int v0 = as_model_body_v(m, as_model_flexible_node(m, rod, 0));
    as_body_motion frame;
    as_model_body_motion(m, &x.state, as_model_flexible_node(m, rod, 0), &frame);
    const double *z = x.q + as_model_flexible_q(m, rod), *z1 = x.v + as_model_flexible_v(m, rod),
                 *z2 = x.vdot + as_model_flexible_v(m, rod), *alpha = x.vdot + v0 + 3;
    for (int i = 0; i < d->mesh_count; ++i) {
      const double *S = d->mesh_shapes + 3 * n * (size_t)i;
      double r[3], r1[3], r2[3], a[3], w[3], turned[3], acceleration[3], force[3], velocity[3],
          place[3];
      for (size_t k = 0; k < 3; ++k) {
        r[k] = d->mesh_positions[i][k] - d->interface_positions[0][k];
        r1[k] = r2[k] = 0.0;
        for (size_t j = 0; j < n; ++j) {
          r[k] += S[k * n + j] * z[j];
          r1[k] += S[k * n + j] * z1[j];
          r2[k] += S[k * n + j] * z2[j];
        }
      }
      asi_cross(frame.omega, r, w);
      asi_copy(r2, a);
      asi_add_cross(1.0, alpha, r, a);
      asi_add_cross(1.0, frame.omega, w, a);
      asi_add_cross(2.0, frame.omega, r1, a);
      asi_rotate(frame.R, a, acceleration);
      asi_add(1.0, x.vdot + v0, acceleration);
      asi_add(-1.0, g, acceleration);
      asi_set(p.mass[i] * acceleration[0], p.mass[i] * acceleration[1], p.mass[i] * acceleration[2],
              force);
      asi_rotate_back(frame.R, force, turned);
      asi_add(-1.0, force, expected + v0);
      asi_add_cross(-1.0, r, turned, expected + v0 + 3);
      for (size_t j = 0; j < n; ++j)
        for (size_t k = 0; k < 3; ++k)
          expected[as_model_flexible_v(m, rod) + (int)j] -= S[k * n + j] * turned[k];
      asi_add(1.0, r1, w);
      asi_rotate(frame.R, w, velocity);
      asi_add(1.0, frame.v, velocity);
      asi_rotate(frame.R, r, place);
      asi_add(1.0, frame.x, place);
      kinetic += p.mass[i] * asi_dot(velocity, velocity) / 2.0;
      potential -= p.mass[i] * asi_dot(g, place);
      asi_add(p.mass[i], velocity, sum.linear);
      asi_add(p.mass[i], place, sum.center_of_mass);
      asi_add_cross(p.mass[i], place, velocity, sum.angular);
      sum.mass += p.mass[i];
      as_flexible_point_state at;
      as_model_flexible_point(m, &x.state, rod, i, &at);
      for (int k = 0; k < 3; ++k) {
        assert_near("place", at.position[k], place[k], 1e-13);
        assert_near("velocity", at.velocity[k], velocity[k], 1e-12);
      }
    }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        expected[as_model_flexible_v(m, rod) + (int)i] -=
            d->K[i * n + j] * z[j] + d->C[i * n + j] * z1[j];
        potential += z[i] * d->K[i * n + j] * z[j] / 2.0;
      }
    for (int i = 0; i < 6 + (int)n; ++i) size = fmax(size, fabs(expected[i]));
    for (int i = 0; i < 6 + (int)n; ++i) assert_near("force", found[i], expected[i], 1e-12 * size);
    as_model_momentum(m, &x.state, &momentum);
    assert_int_equal(as_model_energy(m, &x.state, &energy, &error), AS_OK);
    assert_near("kinetic", energy.kinetic, kinetic, 1e-12 * kinetic);
    assert_near("potential", energy.potential, potential, 1e-12 * fabs(potential));
    assert_near("mass", momentum.mass, sum.mass, 1e-13);
    for (int k = 0; k < 3; ++k) {
      assert_near("linear momentum", momentum.linear[k], sum.linear[k], 1e-12);
      assert_near("angular momentum", momentum.angular[k], sum.angular[k], 1e-12);
      assert_near("centre", momentum.center_of_mass[k], sum.center_of_mass[k] / sum.mass, 1e-13);
    }
    as_power power;
    assert_int_equal(as_model_power(m, &x.state, &power, &error), AS_OK);
    assert_true(power.dissipated > 0.0);
    as_model_destroy(m);
    part_free(&p);
  }
}

/// One force or joint of each sort that reads a body in its own way, on nodes of flexible bodies.
static void furnish(as_builder *b, int which, const as_body_id node[3], as_body_id box) {
  as_error error = {0};
  as_status status = AS_OK;
  const double at[3] = {0.9, 0.0, 0.0};
  switch (which) {
  case 0: machine_joint(b, "hinge", AS_JOINT_REVOLUTE, node[1], box, at, ez); break;
  case 1: machine_joint(b, "ball", AS_JOINT_SPHERICAL, node[1], box, at, NULL); break;
  case 2: machine_joint(b, "weld", AS_JOINT_FIXED, box, node[1], at, NULL); break;
  case 3: machine_joint(b, "slide", AS_JOINT_CYLINDRICAL, node[2], node[1], at, ez); break;
  case 4:
    machine_joint(b, "root", AS_JOINT_REVOLUTE, AS_GROUND, node[0], (double[3]){0.1, 0.0, 0.0}, ez);
    break;
  case 5: machine_rod(b, "rod", node[1], node[2], at, (double[3]){0.5, 0.0, 0.0}); break;
  case 6: {
    as_spring_def def = as_default_spring_def();
    def.body[0] = node[1];
    def.body[1] = box;
    asi_copy(at, def.point[0]);
    asi_set(1.5, 1.0, 0.3, def.point[1]);
    def.stiffness = 50.0;
    def.damping = 2.0;
    status = as_builder_add_spring(b, &def, NULL, &error);
    break;
  }
  case 7: {
    as_joint_def def = as_default_joint_def();
    def.kind = AS_JOINT_REVOLUTE;
    def.name = "sliding";
    def.body[0] = node[1];
    def.body[1] = node[2];
    asi_copy(at, def.point);
    asi_copy(ez, def.axis);
    as_joint_id joint;
    status = as_builder_add_joint(b, &def, &joint, &error);
    as_joint_friction_def friction = as_default_joint_friction_def();
    friction.joint = joint;
    friction.coefficient = 0.3;
    friction.transition_speed = 1.0;
    friction.small_force = 1.0;
    friction.radius = 0.05;
    if (status == AS_OK) status = as_builder_add_joint_friction(b, &friction, NULL, &error);
    break;
  }
  default: {
    as_load_def def = as_default_load_def();
    def.body = node[1];
    asi_copy(at, def.point);
    asi_set(3.0, -2.0, 1.0, def.force);
    asi_set(0.5, 0.2, -0.4, def.torque);
    def.follows = which == 9;
    status = as_builder_add_load(b, &def, NULL, &error);
    break;
  }
  }
  if (status) fail_msg("%s", error.message);
}

static void test_tangents(void **state) {
  (void)state;
  for (int which = 0; which < 10; ++which)
    for (int c = 0; c < 2; ++c) {
      part p = soft_rod(3, c == 1, 0.02);
      as_builder *b = machine_builder(0.5, 1.0, -9.81);
      if (c == 1 && which != 1 && which != 4 && which != 5 && which != 6) {
        as_builder_destroy(b); // on displacements only what acts at the node itself
        part_free(&p);
        continue;
      }
      as_flexible_def def = as_default_flexible_def();
      const as_flexible_load loads[2] = {{.node = 7, .force = {1.0, 2.0, -3.0}},
                                         {.node = 60, .force = {-1.0, 0.5, 2.0}, .follows = true}};
      as_error error = {0};
      as_flexible_id rod;
      def.name = "rod";
      def.data = p.data;
      def.load = loads;
      def.n_loads = 2;
      if (as_builder_add_flexible(b, &def, &rod, &error)) fail_msg("%s", error.message);
      as_body_def body = machine_round_body("box", 1.2, 0.1, which % 2 == 0);
      asi_set(1.3, 0.2, 0.0, body.position);
      const as_body_id box = machine_body(b, &body),
                       node[3] = {as_builder_flexible_node(b, rod, 0),
                                  as_builder_flexible_node(b, rod, 1),
                                  as_builder_flexible_node(b, rod, 2)};
      furnish(b, which, node, box);
      as_model *m = machine_build(b);
      as_check_def check = as_default_check_def();
      as_check_report report;
      check.near.q = as_model_initial(m)->q;
      check.near.u = as_model_initial(m)->u;
      check.tolerance = 1e-5;
      if (as_problem_check(as_model_problem(m), &check, &report, &error))
        fail_msg("case %d, %d: %s", which, c, error.message);
      as_model_destroy(m);
      part_free(&p);
    }
}

/// A free body keeps its momenta: exactly where it accelerates as its equations say.
static as_model *thrown(const part *p, double speed) {
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  part_add(b, "rod", p, none, (double[3]){speed, 0.0, 0.5}, (double[3]){0.3, 0.8, 2.0});
  return machine_build(b);
}

/// With the accelerations that the equations give, neither momentum changes: rows of the frame are their rates, shown to be sums over point masses
/// above.
static void test_momentum_rates(void **state) {
  (void)state;
  part p = soft_rod(3, false, 0.0);
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  const as_flexible_id rod = part_add(b, "rod", &p, none, none, none);
  as_model *m = machine_build(b);
  const int v0 = as_model_body_v(m, as_model_flexible_node(m, rod, 0));
  for (unsigned seed = 1; seed <= 5; ++seed) {
    as_error error;
    somewhere x;
    go_somewhere(m, rod, seed, &x);
    as_integrator *run = NULL;
    as_integrator_def def = as_default_integrator_def();
    if (as_integrator_create(as_model_problem(m), &def, &run, &error))
      fail_msg("%s", error.message);
    const as_initial from = {.t = 0.0, .q = x.q, .v = x.v, .u = x.state.u};
    if (as_integrator_start(run, &from, NULL, &error)) fail_msg("%s", error.message);
    const as_state *now = as_integrator_state(run);
    double rate[64] = {0}, at_rest[64] = {0}, size = 0.0;
    const as_values values = {.unbalanced = rate}, still = {.unbalanced = at_rest};
    as_state without = *now;
    without.vdot = (double[64]){0};
    assert_int_equal(as_problem_values(as_model_problem(m), now, &values, &error), AS_OK);
    assert_int_equal(as_problem_values(as_model_problem(m), &without, &still, &error), AS_OK);
    const int n = as_space_nv(as_problem_space(as_model_problem(m)));
    for (int i = 0; i < n; ++i) size = fmax(size, fabs(at_rest[i]));
    double frame = 0.0;
    for (int i = v0; i < v0 + 6; ++i) frame = fmax(frame, fabs(at_rest[i]));
    assert_true(frame > 1e-6 * size); // what accelerations balance
    for (int i = v0; i < v0 + 6; ++i) assert_near("rate of momentum", rate[i], 0.0, 1e-12 * size);
    as_integrator_destroy(run);
  }
  as_model_destroy(m);
  part_free(&p);
}

static void test_momentum(void **state) {
  (void)state;
  part p = soft_rod(2, false, 0.0);
  as_model *m = thrown(&p, 0.0);
  double drift[2] = {0.0, 0.0};
  for (int c = 0; c < 2; ++c) {
    as_error error;
    as_momentum first, now;
    as_integrator *run = drive_start(m, AS_METHOD_INDEX2, c ? 1e-6 : 1e-3);
    as_model_momentum(m, as_integrator_state(run), &first);
    for (int i = 1; i <= 10; ++i) {
      if (as_integrator_advance(run, (c ? 1e-4 : 0.1) * i, &error)) fail_msg("%s", error.message);
      as_model_momentum(m, as_integrator_state(run), &now);
      for (int k = 0; k < 3; ++k) {
        drift[c] = fmax(drift[c], fabs(now.linear[k] - first.linear[k]));
        drift[c] = fmax(drift[c], fabs(now.angular[k] - first.angular[k]));
      }
    }
    as_integrator_destroy(run);
  }
  printf("momentum: drift %.2e, %.2e\n", drift[0], drift[1]);
  assert_true(drift[0] < 1e-4 && drift[1] < 1e-12);
  as_model_destroy(m);
  part_free(&p);
}

static void test_galilei(void **state) {
  (void)state;
  part p = soft_rod(2, false, 0.0);
  double x[2][3];
  for (int c = 0; c < 2; ++c) {
    as_model *m = thrown(&p, c ? 100.0 : 0.0);
    as_integrator *run;
    as_body_motion tip;
    as_error error;
    as_integrator_def how = as_default_integrator_def();
    how.step = 0.005;
    how.newton.rtol = 1e-13; // so that what is left is round-off
    how.newton.atol = 1e-15;
    if (as_integrator_create(as_model_problem(m), &how, &run, &error) ||
        as_integrator_start(run, as_model_initial(m), NULL, &error) ||
        as_integrator_advance(run, 1.0, &error))
      fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(run);
    as_model_body_motion(m, s, as_model_flexible_node(m, (as_flexible_id){0}, 1), &tip);
    asi_copy(tip.x, x[c]);
    as_integrator_destroy(run);
    as_model_destroy(m);
  }
  x[1][0] -= 100.0;
  for (int k = 0; k < 3; ++k) assert_near("shifted", x[1][k], x[0][k], 1e-11);
  part_free(&p);
}

static double nearest(const double *w, int n, double wanted) {
  double best = 1e9;
  for (int i = 0; i < n; ++i)
    if (fabs(w[i] - wanted) < fabs(best - wanted)) best = w[i];
  return best;
}

/// A blade of `bodies` pieces on a hub that turns; its circular frequencies in axes that turn with it.
static int blade_frequencies(int bodies, int modes, double Omega, bool lower_order, double *w,
                             int most) {
  part p[4];
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_body_def def = machine_round_body("hub", 1.0, 1.0, false);
  def.angular_velocity[2] = Omega;
  as_body_id before = machine_body(b, &def);
  const as_joint_id axle = machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, before, none, ez);
  const as_curve law = {.slope = Omega};
  bench_motion(b, "drive", axle, &law);
  for (int i = 0; i < bodies; ++i) {
    char name[24], weld[24];
    const part_def piece = part_blade((double)i / bodies, 1.0 / bodies, 16 / bodies, modes);
    snprintf(name, sizeof name, "piece %d", i);
    snprintf(weld, sizeof weld, "weld %d", i);
    p[i] = part_make(&piece);
    if (lower_order) p[i].data->J2 = NULL;
    const as_flexible_id id = part_add(b, name, &p[i], none, none, (double[3]){0.0, 0.0, Omega});
    machine_joint(b, weld, AS_JOINT_FIXED, before, as_builder_flexible_node(b, id, 0),
                  (double[3]){(double)i / bodies, 0.0, 0.0}, NULL);
    before = as_builder_flexible_node(b, id, 1);
  }
  as_model *m = machine_build(b);
  // The stretched state: x = sin(k s)/(k cos(k L)).
  const double k = Omega * sqrt(0.54 / 1.4e7);
  as_initial from = *as_model_initial(m);
  double q[256], v[256];
  const as_space *space = as_problem_space(as_model_problem(m));
  assert_true(as_space_nq(space) <= 256);
  memcpy(q, from.q, (size_t)as_space_nq(space) * sizeof *q);
  memcpy(v, from.v, (size_t)as_space_nv(space) * sizeof *v);
  for (int i = 0; i < bodies && Omega > 0.0; ++i) {
    const double a = sin(k * i / bodies) / (k * cos(k)),
                 e = sin(k * (i + 1) / bodies) / (k * cos(k));
    const as_body_id root = as_model_flexible_node(m, (as_flexible_id){i}, 0);
    q[as_model_body_q(m, root)] = a;
    v[as_model_body_v(m, root) + 1] = Omega * a;
    q[as_model_flexible_q(m, (as_flexible_id){i})] = e - a - 1.0 / bodies;
  }
  from.q = q;
  from.v = v;
  as_linearization *l;
  as_modes *found;
  as_error slip;
  as_linearization_def how = as_default_linearization_def();
  how.axes = AS_AXES_TURNING;
  how.turning[2] = Omega;
  if (as_linearize(as_model_problem(m), &from, &how, &l, &slip)) fail_msg("%s", slip.message);
  if (as_modes_create(l, &found, &slip)) fail_msg("%s", slip.message);
  int count = 0;
  for (int i = 0; i < found->n && count < most; ++i) w[count++] = found->mode[i].im;
  as_modes_destroy(found);
  as_linearization_destroy(l);
  as_model_destroy(m);
  for (int i = 0; i < bodies; ++i) part_free(&p[i]);
  return count;
}

static void test_blade(void **state) {
  (void)state;
  static const struct {
    int bodies, modes;
    double Omega, flap, lag, tolerance;
    bool lower_order; // without J_ij lag stays, too
  } cases[] = {{1, 8, 0.0, 51.677, 103.330, 0.01, false},
               {1, 4, 50.0, 51.68, 90.47, 0.03, false},
               {2, 2, 50.0, 73.45, 104.60, 0.03, false},
               {4, 0, 50.0, 74.87, 105.52, 0.03, false},
               {1, 4, 50.0, 51.68, 103.365, 0.03, true}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    double w[200];
    const int n = blade_frequencies(cases[c].bodies, cases[c].modes, cases[c].Omega,
                                    cases[c].lower_order, w, 200);
    printf("blade of %d: %.4f %.4f\n", cases[c].bodies, nearest(w, n, cases[c].flap),
           nearest(w, n, cases[c].lag));
    assert_near("flap", nearest(w, n, cases[c].flap), cases[c].flap, cases[c].tolerance);
    assert_near("lag", nearest(w, n, cases[c].lag), cases[c].lag, cases[c].tolerance);
  }
}

/// A beam on a hub that is driven, cut into pieces: `piece` from x on.
static as_model *driven(const part *piece, int bodies, double length, const as_curve *law,
                        double Omega) {
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_body_def def = machine_round_body("hub", 1.0, 1.0, false);
  def.angular_velocity[2] = Omega;
  as_body_id before = machine_body(b, &def);
  const as_joint_id axle = machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, before, none, ez);
  bench_motion(b, "drive", axle, law);
  for (int i = 0; i < bodies; ++i) {
    char name[24], weld[24];
    const double x = length * i / bodies, place[3] = {x, 0.0, 0.0};
    snprintf(name, sizeof name, "piece %d", i);
    snprintf(weld, sizeof weld, "weld %d", i);
    const as_flexible_id id = part_add(b, name, piece, place, none, (double[3]){0.0, 0.0, Omega});
    machine_joint(b, weld, AS_JOINT_FIXED, before, as_builder_flexible_node(b, id, 0), place, NULL);
    before = as_builder_flexible_node(b, id, 1);
  }
  return machine_build(b);
}

/// Of a beam that turns steadily the end is at tan(k L)/k, k = Omega sqrt(rhoA/EA).
static void test_steady_extension(void **state) {
  (void)state;
  part_def def = part_blade(0.0, 1.0, 16, 4);
  def.beta = 1e-3;
  part p = part_make(&def);
  const as_curve law = {.slope = 50.0};
  as_model *m = driven(&p, 1, 1.0, &law, 50.0);
  as_integrator *run;
  const as_state *s = drive_to(m, AS_METHOD_INDEX2, 1e-3, 1.0, &run);
  assert_near("extension", s->q[as_model_flexible_q(m, (as_flexible_id){0})], 3.214409698726328e-05,
              2e-9);
  as_integrator_destroy(run);
  as_model_destroy(m);
  part_free(&p);
}

/// The spin-up of Kane, Simo and Vu-Quoc: spectral elements, and four bodies; one linear body diverges.
static void test_spin_up(void **state) {
  (void)state;
  static const struct {
    double t, transverse;
  } reference[] = {{2, -0.102380632},  {5, -0.468476183},   {7, -0.571311806},
                   {10, -0.362814516}, {15, 0.00130362628}, {20, 0.000726580819}};
  const as_curve law = {.formula = "if(t < 15, 6/15*(t^2/2 + (15/(2*pi))^2*(cos(2*pi*t/15) - 1)), "
                                   "6*(t - 7.5))"};
  for (int c = 0; c < 2; ++c) {
    const int bodies = c == 0 ? 4 : 1;
    part_def def = {.length = 10.0 / bodies,
                    .elements = 16 / bodies,
                    .modes = 2,
                    .stiffness = {2.8e7, 1e7, 1e7, 1e4, 14000.0, 14000.0},
                    .mass = 1.2,
                    .inertia = {6e-4, 6e-4}};
    part p = part_make(&def);
    as_model *m = driven(&p, bodies, 10.0, &law, 0.0);
    const as_body_id tip = as_model_flexible_node(m, (as_flexible_id){bodies - 1}, 1);
    as_integrator *run = drive_start(m, AS_METHOD_INDEX2, 2e-3);
    double largest = 0.0;
    as_error error;
    for (size_t i = 0; i < sizeof reference / sizeof reference[0]; ++i) {
      as_body_motion hub, end;
      double from[3];
      if (as_integrator_advance(run, reference[i].t, &error)) break;
      as_model_body_motion(m, as_integrator_state(run), (as_body_id){0}, &hub);
      as_model_body_motion(m, as_integrator_state(run), tip, &end);
      asi_rotate_back(hub.R, end.x, from);
      if (c == 0) {
        printf("spin-up at %g s: %.5f, %.5f\n", reference[i].t, from[1], reference[i].transverse);
        assert_near("transverse", from[1], reference[i].transverse, 0.006);
      }
      if (reference[i].t >= 15.0) largest = fmax(largest, fabs(from[1]));
    }
    if (c == 1) assert_true(!(largest < 0.5));
    as_integrator_destroy(run);
    as_model_destroy(m);
    part_free(&p);
  }
}

/// A cantilever under its weight and a tip force: exact at the nodes, as linear statics are.
static void test_equilibrium(void **state) {
  (void)state;
  const part_def def = part_blade(0.0, 1.0, 16, 2);
  part p = part_make(&def);
  as_builder *b = machine_builder(0.0, 0.0, -9.81);
  const as_flexible_id id = part_add(b, "blade", &p, none, none, none);
  machine_joint(b, "clamp", AS_JOINT_FIXED, AS_GROUND, as_builder_flexible_node(b, id, 0), none,
                NULL);
  as_load_def load = as_default_load_def();
  as_error error = {0};
  load.body = as_builder_flexible_node(b, id, 1);
  load.point[0] = 1.0;
  load.force[1] = 2.0;
  if (as_builder_add_load(b, &load, NULL, &error)) fail_msg("%s", error.message);
  bench x = bench_make(b);
  const as_state *s = bench_rest(&x);
  const as_body_motion tip = bench_body(&x, s, "blade.tip");
  const double EI = 116.6666666666667, GA = 4487179.487179487, q = 0.54 * 9.81;
  assert_near("weight", tip.x[2], -q / (8.0 * EI) - q / (2.0 * GA), 3e-4);
  assert_near("force", tip.x[1], 2.0 / (3.0 * 466.6666666666667) + 2.0 / GA, 2e-6);
  const as_reaction clamp = bench_reaction(&x, s, "clamp");
  assert_near("reaction", fabs(clamp.force[2]), q, 1e-9);
  bench_free(&x);
  part_free(&p);
}

/// A slider crank whose rod is flexible, as a modal body.
static as_model *slider_crank(const part *rod) {
  as_builder *b = machine_builder(0.0, -9.81, 0.0);
  as_body_def def = machine_round_body("crank", 1.0, 0.01, false);
  def.position[0] = 0.05;
  asi_set(0.0, 0.0, 10.0, def.angular_velocity);
  asi_set(0.0, 0.5, 0.0, def.velocity);
  const as_body_id crank = machine_body(b, &def);
  const as_flexible_id id = part_add(b, "rod", rod, none, none, none);
  const double pin[3] = {0.1, 0.0, 0.0}, end[3] = {0.9, 0.0, 0.0}, ex[3] = {1.0, 0.0, 0.0};
  def = machine_round_body("slider", 0.5, 0.01, false);
  def.position[0] = 0.9;
  const as_body_id slider = machine_body(b, &def);
  machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, crank, none, ez);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, crank, as_builder_flexible_node(b, id, 0), pin, ez);
  machine_joint(b, "end", AS_JOINT_SPHERICAL, as_builder_flexible_node(b, id, 1), slider, end,
                NULL);
  machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, slider, end, ex);
  as_error error = {0};
  if (as_builder_assemble(b, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_orders(void **state) {
  (void)state;
  part rod = soft_rod(2, false, 0.002);
  as_model *m = slider_crank(&rod);
  for (int i = 0; i < 3; ++i) drive_orders("flexible rod", m, rig_methods[i], 1e-3, 0.1);
  as_meter meter = {0};
  drive_balance(m, AS_METHOD_INDEX2, 5e-4, 0.3, 0.1, &meter);
  as_model_destroy(m);
  part_free(&rod);
}

static void expect(as_builder *b, const as_flexible_def *def, const char *words) {
  as_error error = {0};
  expect_refused(as_builder_add_flexible(b, def, NULL, &error), &error, words);
}

static void test_refused(void **state) {
  (void)state;
  part p = soft_rod(1, false, 0.0);
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_flexible_def def = as_default_flexible_def();
  def.name = "rod";
  expect(b, &def, "has no data");
  def.data = p.data;
  def.quaternion[0] = 2.0;
  expect(b, &def, "length 2");
  def.quaternion[0] = 1.0;
  def.velocity[1] = (double)NAN;
  expect(b, &def, "velocity");
  def.velocity[1] = 0.0;
  const as_flexible_load load = {.node = 100000, .force = {1.0, 0.0, 0.0}};
  def.load = &load;
  def.n_loads = 1;
  expect(b, &def, "load at node 100000");
  def.n_loads = 0;
  as_flexible_data spoiled = *p.data;
  double *K =
      malloc(sizeof *K * (size_t)spoiled.coordinate_count * (size_t)spoiled.coordinate_count);
  assert_non_null(K);
  memcpy(K, spoiled.K,
         sizeof *K * (size_t)spoiled.coordinate_count * (size_t)spoiled.coordinate_count);
  K[0] *= 1e-3;
  spoiled.K = K;
  def.data = &spoiled;
  expect(b, &def, "stiffness matrix of flexible body \"rod\" is not positive definite");
  def.data = p.data;
  as_error error = {0};
  if (as_builder_add_flexible(b, &def, NULL, &error)) fail_msg("%s", error.message);
  expect(b, &def, "two");
  free(K);
  as_builder_destroy(b);
  part_free(&p);
}

/// Half of the mass of a lumped beam's element is its end body's. A node has none of its own, and would lose it; the frame takes it.
static void test_beams_at_nodes(void **state) {
  (void)state;
  static const double stiffness[6] = {1e4, 1e4, 1e4, 10.0, 10.0, 10.0},
                      inertia[3] = {1e-3, 1e-3, 1e-3};
  part p = soft_rod(1, false, 0.0);
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  const as_flexible_id rod = part_add(b, "rod", &p, none, none, none);
  const as_beam_section section = beam_section(stiffness, 1.0, inertia);
  as_beam_station station[2] = {
      {.position = {0.9, 0.0, 0.0}, .quaternion = {1.0, 0.0, 0.0, 0.0}},
      {.position = {0.9, 0.5, 0.0}, .quaternion = {1.0, 0.0, 0.0, 0.0}, .body = AS_NO_BODY}};
  as_beam_def beam = as_default_beam_def();
  as_error error = {0};
  beam_axes((double[]){0.0, 1.0, 0.0}, ez, station[0].quaternion);
  beam_axes((double[]){0.0, 1.0, 0.0}, ez, station[1].quaternion);
  beam.station = station;
  beam.n_stations = 2;
  beam.section = &section;
  for (int mass = AS_BEAM_HERMITE; mass <= AS_BEAM_LUMPED; ++mass) {
    beam.mass = (as_beam_mass)mass;
    station[0].body = as_builder_flexible_node(b, rod, 1);
    expect_refused(as_builder_add_beam(b, &beam, NULL, &error), &error,
                   "a node of a flexible body other than its frame");
    station[0].body = as_builder_flexible_node(b, rod, 0);
    if (as_builder_add_beam(b, &beam, NULL, &error)) fail_msg("%s", error.message);
  }
  as_builder_destroy(b);
  part_free(&p);
}

/// A linear spring to the world on the sum of the displacements of all its bodies.
static int pull_all(const as_element_input *in, const as_element_output *out, const void *data) {
  const int n = *(const int *)data;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int r = 0; r < 3; ++r) {
        if (out->force) out->force[6 * i + r] -= in->body[k]->x[r];
        if (out->f_q) out->f_q[(6 * i + r) * 6 * n + 6 * k + r] -= 1.0;
      }
  return AS_DONE;
}

/// An element on many nodes: frames that are among its bodies, or of nodes before, do not count again.
static void test_many_bodies(void **state) {
  (void)state;
  static const as_element_type type = {.kind = "net", .evaluate = pull_all};
  part p = soft_rod(1, false, 0.0);
  for (int c = 0; c < 2; ++c) {
    as_builder *b = machine_builder(0.0, 0.0, 0.0);
    as_element_def def = as_default_element_def();
    as_error error = {0};
    const int n = 8;
    def.type = &type;
    def.data = &n;
    def.data_size = sizeof n;
    def.n_bodies = n;
    for (int i = 0; i < 3; ++i) {
      const as_flexible_id id =
          part_add(b, (const char *[]){"a", "b", "c"}[i], &p, none, none, none);
      def.body[2 * i] = as_builder_flexible_node(b, id, 1);
      // Two nodes of each body and no frame, or of the last its frame and a body more.
      def.body[2 * i + 1] = as_builder_flexible_node(b, id, 2);
      if (i == 2 && c == 0) def.body[5] = as_builder_flexible_node(b, id, 0);
    }
    const as_body_def box = machine_round_body("box", 1.0, 0.1, false),
                      ball = machine_round_body("ball", 1.0, 0.1, false);
    def.body[6] = machine_body(b, &box);
    def.body[7] = machine_body(b, &ball);
    if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
    as_model *m;
    expect_refused(as_builder_build(b, &m, &error), &error, "count with their frames");
    as_builder_destroy(b);
  }
  // Eight bodies, of which two nodes and a frame belong together: 8 and one frame more, just as many as there may be.
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_element_def def = as_default_element_def();
  as_error error = {0};
  const int n = 8;
  def.type = &type;
  def.data = &n;
  def.data_size = sizeof n;
  def.n_bodies = n;
  const as_flexible_id one = part_add(b, "one", &p, none, none, none),
                       other = part_add(b, "other", &p, none, none, none);
  def.body[0] = as_builder_flexible_node(b, one, 2);
  def.body[1] = as_builder_flexible_node(b, one, 0);
  def.body[2] = as_builder_flexible_node(b, one, 1);
  def.body[3] = as_builder_flexible_node(b, other, 1);
  def.body[4] = as_builder_flexible_node(b, other, 2);
  const as_body_def box = machine_round_body("box", 1.0, 0.1, true),
                    ball = machine_round_body("ball", 1.0, 0.1, false),
                    plate = machine_round_body("plate", 2.0, 0.2, false);
  def.body[5] = machine_body(b, &box);
  def.body[6] = machine_body(b, &ball);
  def.body[7] = machine_body(b, &plate);
  if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_check_def check = as_default_check_def();
  check.near.q = as_model_initial(m)->q;
  check.tolerance = 1e-5;
  if (as_problem_check(as_model_problem(m), &check, NULL, &error)) fail_msg("%s", error.message);
  as_model_destroy(m);
  part_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_point_masses),     cmocka_unit_test(test_tangents),
      cmocka_unit_test(test_momentum),         cmocka_unit_test(test_momentum_rates),
      cmocka_unit_test(test_galilei),          cmocka_unit_test(test_blade),
      cmocka_unit_test(test_equilibrium),      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_steady_extension), cmocka_unit_test(test_spin_up),
      cmocka_unit_test(test_many_bodies),      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_beams_at_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
