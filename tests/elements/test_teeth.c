/// Tooth forces: statics by hand, the balance of every body in motion, momentum, the same motion as with torques, friction in
/// bearings that carry them, what gives way, order, and what is refused.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "rig.h"

static const double origin[3] = {0, 0, 0};
static const double z_axis[3] = {0, 0, 1};
static const double degree = 0.017453292519943295;

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

// ---- vectors ------------------------------------------------------------------------------------------

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void cross(const double *a, const double *b, double *out) {
  const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}
static void add(double factor, const double *a, double *out) {
  for (int k = 0; k < 3; ++k) out[k] += factor * a[k];
}
static double distance(const double *a, const double *b) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}
static void to_world(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = dot(R + 3 * i, a);
}

/// Axes that machines are built in, so that no axis is that of the world.
static const double tilted[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};

static void tilt(double x, double y, double z, double *out) {
  to_world(tilted, (double[]){x, y, z}, out);
}

// ---- shorthand ----------------------------------------------------------------------------------------

/// A body with moments of inertia in the axes of the machine.
static as_body_id add_body(as_builder *b, const char *name, double mass, double x, double y,
                           double z) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = mass;
  def.inertia[0] = 0.011 * mass;
  def.inertia[1] = 0.012 * mass;
  def.inertia[2] = 0.014 * mass;
  tilt(x, y, z, def.position);
  def.center_of_mass[0] = 0.01;
  return machine_body(b, &def);
}

static as_joint_id join(as_builder *b, const char *name, as_joint_kind kind, as_body_id first,
                        as_body_id second, const double point[3], const double axis[3]) {
  double p[3], a[3];
  to_world(tilted, point, p);
  to_world(tilted, axis, a);
  return machine_joint(b, name, kind, first, second, p, a);
}

static void load(as_builder *b, as_body_id body, const double force[3], const double torque[3]) {
  as_error error;
  as_load_def def = as_default_load_def();
  def.body = body;
  to_world(tilted, force, def.force);
  to_world(tilted, torque, def.torque);
  must(as_builder_add_load(b, &def, NULL, &error), &error);
}

static as_integrator *start(const as_model *m, as_method method, double h) {
  as_integrator *integrator = NULL;
  as_error error;
  const as_integrator_def how = rig_how(method, h, NULL, 0);
  must(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
  must(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  return integrator;
}

static as_reaction reaction(const as_model *m, const as_state *s, const char *joint) {
  as_error error;
  as_reaction r;
  must(as_model_reaction(m, s, as_model_find_joint(m, joint), &r, &error), &error);
  return r;
}

// ---- statics by hand ----------------------------------------------------------------------------------

/// Two wheels in bearings, a torque on the first that the second is held against. The oracle knows the textbook only:
/// F_t = T/r, F_r = F_t tan(alpha)/cos(beta) apart, F_a = F_t tan(beta) along the axis.
typedef struct layout {
  int teeth[2];
  bool internal, opposite, turned[2];
  double torque, helix, plane;
} layout;

static void check_pair(const layout *l) {
  const double alpha = 25.0 * degree, place[3] = {0.35, 0.12, 0.0}, apart = hypot(0.35, 0.12);
  const double down[3] = {0, 0, l->opposite ? -1.0 : 1.0}, gravity[3] = {0.4, -9.0, 3.0};
  as_error error;
  double g[3];
  to_world(tilted, gravity, g);
  as_builder *b = machine_builder(g[0], g[1], g[2]);
  const as_body_id first = add_body(b, "first", 2.0, 0, 0, 0);
  const as_body_id second = add_body(b, "second", 3.0, place[0], place[1], 0);
  as_gear_def gear = as_default_gear_def();
  gear.name = "mesh";
  gear.joint[0] = join(b, "one", AS_JOINT_REVOLUTE, l->turned[0] ? first : AS_GROUND,
                       l->turned[0] ? AS_GROUND : first, origin, z_axis);
  gear.joint[1] = join(b, "two", AS_JOINT_REVOLUTE, l->turned[1] ? second : AS_GROUND,
                       l->turned[1] ? AS_GROUND : second, place, down);
  memcpy(gear.teeth, l->teeth, sizeof gear.teeth);
  gear.internal = l->internal != l->opposite;
  gear.tooth.pressure_angle = alpha;
  gear.tooth.helix_angle = l->helix;
  const double sum = l->internal ? l->teeth[1] - l->teeth[0] : l->teeth[0] + l->teeth[1];
  const double r1 = apart * l->teeth[0] / fabs(sum);
  const double way = l->internal ? -l->teeth[0] / sum : l->teeth[0] / sum; // from O_1 to O_2
  const double P[3] = {way * place[0], way * place[1], l->plane};
  to_world(tilted, P, gear.tooth.point);
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
  as_motion_def hold = as_default_motion_def();
  const as_curve still = {.constant = 0.0};
  hold.joint = gear.joint[1];
  hold.law = &still;
  must(as_builder_add_motion(b, &hold, NULL, &error), &error);
  load(b, first, origin, (double[]){0, 0, l->torque});
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.01);
  const as_state *s = as_integrator_state(integrator);

  // The first wheel is at rest: T and its weight's moment about the axis are held by the teeth.
  as_body_motion at;
  as_model_body_motion(m, s, first, &at);
  double arm[3], weight[3], moment[3], axis[3];
  memcpy(arm, at.x, sizeof arm);
  for (int k = 0; k < 3; ++k) weight[k] = 2.0 * g[k];
  cross(arm, weight, moment);
  to_world(tilted, z_axis, axis);
  const double T = l->torque + dot(moment, axis);
  // Force on the first wheel: z x e F r_1 = -T z with e from O_1 to P.
  const double side = way < 0.0 ? -1.0 : 1.0, Ft = -T / r1;
  const double e[3] = {side * place[0] / apart, side * place[1] / apart, 0};
  double t[3], F[3] = {0}, on_first[3], pitch[3];
  cross(z_axis, e, t);
  add(Ft, t, F);
  const double Fr = fabs(Ft) * tan(alpha) / cos(l->helix);
  // Teeth press the wheel away from them; a ring, whose teeth look inwards, outwards.
  const bool ring = l->internal && l->teeth[0] > l->teeth[1];
  add(ring ? Fr : -Fr, e, F);
  // Right-handed teeth: the normal of the flank leans against z as much as along t.
  add(-Ft * tan(l->helix), z_axis, F);
  to_world(tilted, F, on_first);
  to_world(tilted, P, pitch);
  const as_reaction mesh = reaction(m, s, "mesh");
  for (int k = 0; k < 3; ++k) {
    assert_near("pitch point", mesh.point[k], pitch[k], 1e-12);
    assert_near("tooth force", mesh.force[k], -on_first[k], 1e-6);
    assert_near("no torque", mesh.torque[k], 0.0, 1e-9);
  }
  assert_near("tangential", fabs(mesh.force_in_joint[0]), fabs(Ft), 1e-8);
  assert_near("radial", mesh.force_in_joint[1], Fr, 1e-6);
  assert_near("axial", fabs(mesh.force_in_joint[2]), fabs(Ft * tan(l->helix)), 1e-8);
  // Bearings: what keeps each wheel from moving and tipping.
  for (int w = 0; w < 2; ++w) {
    const as_reaction bearing = reaction(m, s, w ? "two" : "one");
    const double on_wheel = l->turned[w] ? -1.0 : 1.0, tooth = w ? -1.0 : 1.0;
    const double mass = w ? 3.0 : 2.0;
    double force[3] = {0}, torque[3], lever[3];
    add(on_wheel, bearing.force, force);
    add(mass, g, force);
    add(tooth, on_first, force);
    for (int k = 0; k < 3; ++k) assert_near("forces on a wheel", force[k], 0.0, 1e-6);
    as_model_body_motion(m, s, w ? second : first, &at);
    for (int k = 0; k < 3; ++k) lever[k] = pitch[k] - bearing.point[k];
    cross(lever, on_first, torque);
    for (int k = 0; k < 3; ++k) torque[k] *= tooth;
    for (int k = 0; k < 3; ++k) lever[k] = at.x[k] - bearing.point[k];
    for (int k = 0; k < 3; ++k) weight[k] = mass * g[k];
    cross(lever, weight, moment);
    add(1.0, moment, torque);
    add(on_wheel, bearing.torque, torque);
    add(-dot(torque, axis), axis, torque); // about the axis the motor holds it
    for (int k = 0; k < 3; ++k) assert_near("torques on a wheel", torque[k], 0.0, 1e-6);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_statics(void **state) {
  (void)state;
  for (int i = 0; i < 256; ++i) {
    layout l = {.teeth = {17, 40}, .torque = i & 1 ? 7.0 : -7.0};
    l.opposite = i & 2;
    l.internal = i & 4;
    l.turned[0] = i & 8;
    l.turned[1] = i & 16;
    l.helix = i & 32 ? (i & 64 ? -0.35 : 0.3) : 0.0;
    l.plane = i & 64 ? 0.15 : 0.0;
    if (i & 128) {
      l.teeth[0] = 40;
      l.teeth[1] = 17;
    }
    check_pair(&l);
  }
}

/// Bevel wheels. Textbooks: with the cone angles delta_1, delta_2, F_t = T/r_1 and straight teeth, both wheels are pressed
/// towards their axes by F_t tan(alpha) cos(delta) and away from the apex by F_t tan(alpha) sin(delta). Spiral teeth lean by
/// beta: their force has no part along them.
static void check_bevel(int variant) {
  const double alpha = 0.4, beta = variant & 8 ? 0.5 : 0.0, T = variant & 1 ? 6.0 : -6.0;
  const double shaft = variant & 16 ? 1.9 : variant & 32 ? 1.2 : 1.5707963267948966, reach = 0.3;
  const double sign[2] = {variant & 2 ? -1.0 : 1.0, variant & 4 ? -1.0 : 1.0};
  const int teeth[2] = {variant & 64 ? 31 : 14, 23};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  // Out of the apex, towards the wheels.
  const double out[2][3] = {{0, 0, 1}, {sin(shaft), 0, cos(shaft)}};
  const double delta1 = atan2(sin(shaft), (double)teeth[1] / teeth[0] + cos(shaft));
  const double delta[2] = {delta1, shaft - delta1};
  const double line[3] = {sin(delta1), 0, cos(delta1)};
  const double apex[3] = {0.1, 0.2, -0.3};
  as_gear_def gear = as_default_gear_def();
  for (int w = 0; w < 2; ++w) {
    const double place[3] = {apex[0] + 0.2 * out[w][0], apex[1], apex[2] + 0.2 * out[w][2]};
    const double axis[3] = {sign[w] * out[w][0], 0, sign[w] * out[w][2]};
    const as_body_id wheel =
        add_body(b, w ? "second" : "first", 1.0 + w, place[0], place[1], place[2]);
    gear.joint[w] = join(b, w ? "two" : "one", AS_JOINT_REVOLUTE, AS_GROUND, wheel, place, axis);
  }
  double P[3] = {apex[0], apex[1], apex[2]};
  add(reach, line, P);
  gear.name = "mesh";
  memcpy(gear.teeth, teeth, sizeof teeth);
  gear.internal = sign[0] != sign[1];
  gear.tooth.pressure_angle = alpha;
  gear.tooth.helix_angle = beta;
  to_world(tilted, P, gear.tooth.point);
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
  as_motion_def hold = as_default_motion_def();
  const as_curve still = {.constant = 0.0};
  hold.joint = gear.joint[1];
  hold.law = &still;
  must(as_builder_add_motion(b, &hold, NULL, &error), &error);
  load(b, (as_body_id){0}, origin, (double[]){0, 0, T});
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.01);
  const as_state *s = as_integrator_state(integrator);
  const as_reaction mesh = reaction(m, s, "mesh");
  double pitch[3];
  to_world(tilted, P, pitch);
  for (int k = 0; k < 3; ++k) {
    assert_near("pitch point of bevel wheels", mesh.point[k], pitch[k], 1e-12);
    assert_near("no torque there", mesh.torque[k], 0.0, 1e-8);
  }
  const double r1 = reach * sin(delta1), Ft = fabs(T) / r1;
  const double press = Ft * tan(alpha) / cos(beta);
  double t[3], goes[3], trace[3] = {0}, world[3];
  cross(out[0], line, t); // how the first wheel turns about its outward axis
  const double length = sqrt(dot(t, t));
  for (int k = 0; k < 3; ++k) t[k] /= length;
  to_world(tilted, t, goes);
  assert_near("tangential, bevel", dot(mesh.force, goes), T / r1, 1e-8);
  assert_near("named", fabs(mesh.force_in_joint[0]), Ft, 1e-8);
  assert_near("pressed apart", mesh.force_in_joint[1], press, 1e-6);
  // Right-handed about z of the first joint, seen from either end.
  add(1.0, line, trace);
  add(tan(beta), t, trace);
  to_world(tilted, trace, world);
  assert_near("nothing along the teeth", dot(mesh.force, world), 0.0, 1e-6);
  for (int w = 0; w < 2 && beta == 0.0; ++w) {
    double radial[3] = {0}, axial[3], on[3];
    add(1.0, line, radial);
    add(-dot(line, out[w]), out[w], radial);
    const double size = sqrt(dot(radial, radial));
    for (int k = 0; k < 3; ++k) radial[k] /= size;
    to_world(tilted, radial, world);
    to_world(tilted, out[w], axial);
    for (int k = 0; k < 3; ++k) on[k] = w ? mesh.force[k] : -mesh.force[k];
    assert_near("towards the axis", dot(on, world), -press * cos(delta[w]), 1e-6);
    assert_near("out of the apex", dot(on, axial), press * sin(delta[w]), 1e-6);
  }
  for (int w = 0; w < 2; ++w) {
    const as_reaction bearing = reaction(m, s, w ? "two" : "one");
    double arm[3], torque[3], axis[3];
    for (int k = 0; k < 3; ++k) {
      assert_near("bearing of a bevel wheel", bearing.force[k], w ? -mesh.force[k] : mesh.force[k],
                  1e-8);
      arm[k] = pitch[k] - bearing.point[k];
    }
    cross(arm, mesh.force, torque);
    for (int k = 0; k < 3; ++k) torque[k] = bearing.torque[k] + (w ? torque[k] : -torque[k]);
    to_world(tilted, out[w], axis);
    add(-dot(torque, axis), axis, torque);
    for (int k = 0; k < 3; ++k) assert_near("its moment", torque[k], 0.0, 1e-8);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_bevel(void **state) {
  (void)state;
  for (int variant = 0; variant < 128; ++variant) check_bevel(variant);
}

/// A pinion of 1 kg whose bearing carries the tooth force: (F_t, F_r) on top of the weight.
static void test_pinion_bearing(void **state) {
  (void)state;
  const double T = 1.0, r = 0.1;
  as_builder *b = machine_builder(0, -9.81, 0);
  as_error error;
  as_body_def def = machine_round_body("pinion", 1.0, 0.01, false);
  const as_body_id pinion = machine_body(b, &def);
  def = machine_round_body("rack", 2.0, 0.01, true);
  def.position[1] = -r;
  const as_body_id bar = machine_body(b, &def);
  as_rack_def rack = as_default_rack_def();
  rack.name = "mesh";
  rack.pinion = machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, pinion, origin, z_axis);
  rack.rack = machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, bar, def.position,
                            (double[]){1, 0, 0});
  rack.radius = r;
  must(as_builder_add_rack(b, &rack, NULL, &error), &error);
  as_load_def push = as_default_load_def();
  push.body = pinion;
  push.torque[2] = T;
  must(as_builder_add_load(b, &push, NULL, &error), &error);
  push = as_default_load_def();
  push.body = bar;
  push.point[1] = -r;
  push.force[0] = -T / r;
  must(as_builder_add_load(b, &push, NULL, &error), &error);
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.01);
  must(as_integrator_advance(integrator, 0.1, &error), &error);
  const as_state *s = as_integrator_state(integrator);
  const double Ft = T / r, Fr = Ft * tan(20.0 * degree);
  const as_reaction bearing = reaction(m, s, "bearing"), guide = reaction(m, s, "guide");
  assert_near("along", bearing.force[0], Ft, 1e-9);
  assert_near("up", bearing.force[1], 9.81 - Fr, 1e-6);
  assert_near("guide", guide.force[1], 2.0 * 9.81 + Fr, 1e-6);
  assert_near("in all", hypot(bearing.force[0], bearing.force[1]), hypot(Ft, 9.81 - Fr), 1e-6);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

// ---- the balance of every body ------------------------------------------------------------------------

/// Newton and Euler: what joints, teeth and gravity do to a body is what its motion takes. Loads are told.
typedef struct balance {
  const as_model *m;
  int bodies, joints;
  int joint_body[16][2]; ///< first and second body of each, AS_GROUND, or of a coupling its wheels
  double gravity[3];
  double inertia[8][3], mass[8];
  double (*drive)(double t); ///< the torque about z of body 2, that acts back on body 0
} balance;

static double worst_balance(const balance *b, const as_state *s) {
  double worst = 0.0;
  as_error error;
  for (int i = 0; i < b->bodies; ++i) {
    as_body_motion at;
    as_model_body_motion(b->m, s, (as_body_id){i}, &at);
    const double *vdot = s->vdot + as_model_body_v(b->m, (as_body_id){i});
    double force[3] = {0}, torque[3] = {0};
    add(b->mass[i], b->gravity, force);
    if (b->drive && (i == 2 || i == 0)) {
      as_body_motion driven;
      as_model_body_motion(b->m, s, (as_body_id){2}, &driven);
      const double axis[3] = {driven.R[2], driven.R[5], driven.R[8]};
      add(i == 2 ? b->drive(s->t) : -b->drive(s->t), axis, torque);
    }
    for (int j = 0; j < b->joints; ++j)
      for (int side = 0; side < 2; ++side) {
        if (b->joint_body[j][side] != i) continue;
        as_reaction r;
        must(as_model_reaction(b->m, s, (as_joint_id){j}, &r, &error), &error);
        const double sign = side ? 1.0 : -1.0;
        double arm[3], moment[3];
        for (int k = 0; k < 3; ++k) arm[k] = r.point[k] - at.x[k];
        cross(arm, r.force, moment);
        add(sign, r.force, force);
        add(sign, moment, torque);
        add(sign, r.torque, torque);
      }
    double spin[3], gyro[3], change[3], world[3];
    for (int k = 0; k < 3; ++k) spin[k] = b->inertia[i][k] * at.omega[k];
    cross(at.omega, spin, gyro);
    for (int k = 0; k < 3; ++k) change[k] = b->inertia[i][k] * vdot[3 + k] + gyro[k];
    to_world(at.R, change, world);
    add(-b->mass[i], vdot, force);
    add(-1.0, world, torque);
    worst = fmax(worst, fmax(sqrt(dot(force, force)), sqrt(dot(torque, torque))));
  }
  return worst;
}

static double motor_torque(double t) { return 6.0 * cos(7.0 * t); }

/// A planetary gear on an arm that swings: the arm carries a sun and planets, the ring is the arm's frame's; everything falls
/// under gravity, the sun is driven. `torque`: the twin without tooth forces.
enum { ARM, CARRIER, SUN, PLANET };

typedef struct planetary {
  as_model *model;
  balance b;
} planetary;

static planetary build_planetary(int planets, bool torque, double helix, bool floating) {
  const double g[3] = {0.5, -9.0, 2.0};
  planetary p = {.b = {.bodies = 3 + planets, .drive = motor_torque}};
  as_error error;
  as_builder *b = floating ? machine_builder(0, 0, 0) : machine_builder(g[0], g[1], g[2]);
  if (!floating) memcpy(p.b.gravity, g, sizeof g);
  static const double mass[6] = {5.0, 2.0, 1.0, 0.5, 0.6, 0.7};
  static const char *const name[6] = {"arm", "carrier", "sun", "p0", "p1", "p2"};
  as_joint_id joint[16];
  int n = 0;
  double place[6][3] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  for (int i = 0; i < planets; ++i) {
    place[3 + i][0] = 1.0 + 0.21 * cos(2.0 + 2.0943951023931953 * i);
    place[3 + i][1] = 0.21 * sin(2.0 + 2.0943951023931953 * i);
  }
  for (int i = 0; i < p.b.bodies; ++i) {
    as_body_def def = as_default_body_def();
    def.name = name[i];
    def.mass = p.b.mass[i] = mass[i];
    memcpy(def.position, place[i], sizeof def.position);
    const double J[3] = {0.02 * mass[i], 0.024 * mass[i], 0.03 * mass[i]};
    memcpy(def.inertia, J, sizeof J);
    memcpy(p.b.inertia[i], J, sizeof J);
    machine_body(b, &def);
  }
#define JOIN(text, kind, first, second, at)                                                        \
  (p.b.joint_body[n][0] = first, p.b.joint_body[n][1] = second,                                    \
   joint[n] = machine_joint(b, text, kind, (as_body_id){first}, (as_body_id){second}, at, z_axis), \
   joint[n++])
  // Nothing stays in a plane.
  if (!floating) JOIN("shoulder", AS_JOINT_SPHERICAL, AS_GROUND.index, ARM, origin);
  const as_joint_id main = JOIN("main", AS_JOINT_REVOLUTE, ARM, CARRIER, place[0]);
  const as_joint_id shaft = JOIN("shaft", AS_JOINT_REVOLUTE, CARRIER, SUN, place[0]);
  for (int i = 0; i < planets; ++i) {
    const as_joint_id pin = JOIN(name[3 + i], AS_JOINT_REVOLUTE, CARRIER, PLANET + i, place[3 + i]);
    for (int outer = 0; outer < 2; ++outer) {
      as_gear_def gear = as_default_gear_def();
      gear.joint[0] = outer ? pin : shaft;
      gear.joint[1] = outer ? main : pin;
      gear.teeth[0] = outer ? 18 : 24;
      gear.teeth[1] = outer ? 60 : 18;
      gear.internal = outer;
      gear.tooth.kind = torque ? AS_TOOTH_TORQUE : AS_TOOTH_FORCE;
      gear.tooth.helix_angle = torque ? 0.0 : outer ? -helix : helix;
      must(as_builder_add_gear(b, &gear, NULL, &error), &error);
      p.b.joint_body[n][0] = outer ? PLANET + i : SUN;
      p.b.joint_body[n++][1] = outer ? ARM : PLANET + i;
    }
  }
#undef JOIN
  p.b.joints = n;
  // A motor between arm and sun: it changes its direction.
  as_load_def motor = as_default_load_def();
  const as_curve law = {.formula = "cos(7*t)"};
  motor.body = (as_body_id){SUN};
  motor.reaction = (as_body_id){ARM};
  motor.torque[2] = 6.0;
  motor.follows = true;
  motor.factor = &law;
  must(as_builder_add_load(b, &motor, NULL, &error), &error);
  p.model = machine_build(b);
  p.b.m = p.model;
  return p;
}

/// A pinion and a rack on a frame that swings about an axis across theirs.
static planetary build_steering(bool torque, double helix, double radius) {
  planetary p = {.b = {.bodies = 3,
                       .joints = 4,
                       .joint_body = {{AS_GROUND.index, 0}, {0, 1}, {0, 2}, {2, 1}},
                       .gravity = {1.0, -9.0, 3.0},
                       .mass = {4.0, 3.0, 1.0},
                       .drive = motor_torque}};
  as_error error;
  as_builder *b = machine_builder(1.0, -9.0, 3.0);
  static const double place[3][3] = {{0.3, 0, 0}, {0.5, -0.1, 0.05}, {0.4, 0.02, 0}};
  static const char *const name[3] = {"frame", "rack", "pinion"};
  for (int i = 0; i < 3; ++i) {
    as_body_def def = as_default_body_def();
    def.name = name[i];
    def.mass = p.b.mass[i];
    memcpy(def.position, place[i], sizeof def.position);
    for (int k = 0; k < 3; ++k) def.inertia[k] = p.b.inertia[i][k] = (0.02 + 0.004 * k) * def.mass;
    machine_body(b, &def);
  }
  as_rack_def rack = as_default_rack_def();
  machine_joint(b, "swing", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){0}, origin,
                (double[]){0.6, 0.8, 0});
  rack.rack = machine_joint(b, "guide", AS_JOINT_PRISMATIC, (as_body_id){0}, (as_body_id){1},
                            place[1], (double[]){1, 0, 0});
  rack.pinion = machine_joint(b, "bearing", AS_JOINT_REVOLUTE, (as_body_id){0}, (as_body_id){2},
                              place[2], z_axis);
  rack.name = "mesh";
  rack.radius = radius;
  rack.tooth.kind = torque ? AS_TOOTH_TORQUE : AS_TOOTH_FORCE;
  rack.tooth.helix_angle = helix;
  must(as_builder_add_rack(b, &rack, NULL, &error), &error);
  as_load_def motor = as_default_load_def();
  const as_curve law = {.formula = "cos(7*t)"};
  motor.body = (as_body_id){2};
  motor.reaction = (as_body_id){0};
  motor.torque[2] = 6.0;
  motor.follows = true;
  motor.factor = &law;
  must(as_builder_add_load(b, &motor, NULL, &error), &error);
  p.model = machine_build(b);
  p.b.m = p.model;
  return p;
}

/// A differential, its case driven by what acts between it and the left wheel; the wheels have different masses.
static planetary build_differential(bool torque, double helix) {
  planetary p = {.b = {.bodies = 4,
                       .joints = 6,
                       .joint_body = {{AS_GROUND.index, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}},
                       .gravity = {1.0, -9.0, 3.0},
                       .mass = {4.0, 0.5, 2.0, 5.0},
                       .drive = motor_torque}};
  as_error error;
  as_builder *b = machine_builder(1.0, -9.0, 3.0);
  static const double place[4][3] = {{0.1, 0, 0}, {0.06, 0, 0}, {0, 0, 0.4}, {0, 0, -0.4}};
  static const double x_axis[3] = {1, 0, 0};
  static const char *const name[4] = {"case", "spider", "left", "right"};
  as_joint_id joint[4];
  for (int i = 0; i < 4; ++i) {
    as_body_def def = as_default_body_def();
    def.name = name[i];
    def.mass = p.b.mass[i];
    memcpy(def.position, place[i], sizeof def.position);
    for (int k = 0; k < 3; ++k) def.inertia[k] = p.b.inertia[i][k] = (0.02 + 0.004 * k) * def.mass;
    machine_body(b, &def);
  }
  for (int i = 0; i < 4; ++i)
    joint[i] =
        machine_joint(b, name[i], AS_JOINT_REVOLUTE, i == 0 ? AS_GROUND : AS_ID(as_body_id, 0),
                      (as_body_id){i}, place[i], i == 1 ? x_axis : z_axis);
  for (int i = 0; i < 2; ++i) {
    as_gear_def gear = as_default_gear_def();
    gear.joint[0] = joint[1];
    gear.joint[1] = joint[2 + i];
    gear.teeth[0] = 10;
    gear.teeth[1] = 16;
    gear.internal = i;
    gear.tooth.kind = torque ? AS_TOOTH_TORQUE : AS_TOOTH_FORCE;
    gear.tooth.helix_angle = i ? -helix : helix;
    gear.tooth.point[0] = 0.08;
    gear.tooth.point[1] = 0.0;
    gear.tooth.point[2] = i ? -0.05 : 0.05;
    must(as_builder_add_gear(b, &gear, NULL, &error), &error);
  }
  as_load_def motor = as_default_load_def();
  const as_curve law = {.formula = "cos(7*t)"};
  motor.body = (as_body_id){2};
  motor.reaction = (as_body_id){0};
  motor.torque[2] = 6.0;
  motor.follows = true;
  motor.factor = &law;
  must(as_builder_add_load(b, &motor, NULL, &error), &error);
  p.model = machine_build(b);
  p.b.m = p.model;
  return p;
}

/// Whichever method: forces on every body, in rows and at steps.
static void test_balance(void **state) {
  (void)state;
  for (int i = 0; i < 24; ++i) {
    const int method = i % 3;
    const double helix = i & 4 ? 0.4 : 0.0;
    const planetary p = i < 12   ? build_planetary(1 + i / 6, false, helix, i & 1)
                        : i < 18 ? build_steering(false, helix, i & 1 ? -0.08 : 0.07)
                                 : build_differential(false, helix);
    const char *const bearing = i < 12 ? "p0" : i < 18 ? "guide" : "spider";
    as_integrator *integrator = start(p.model, rig_methods[method], 1e-3);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    double worst = worst_balance(&p.b, s), largest = 0.0;
    for (int k = 1; k <= 40; ++k) {
      must(as_integrator_advance(integrator, 0.025 * k, &error), &error);
      worst = fmax(worst, worst_balance(&p.b, s));
      largest = fmax(largest, fabs(reaction(p.model, s, bearing).force[1]));
    }
    print_message("  method %d: bodies off balance by %.1e of %.3g N\n", method, worst, largest);
    // SOI2 does not solve the equations at the end of a step: there they hold to second order.
    const double accuracy = rig_methods[method] == AS_METHOD_SOI2 ? 1e-3 : 1e-6;
    assert_true(largest > 2.0 && worst < accuracy * largest);
    as_integrator_destroy(integrator);
    as_model_destroy(p.model);
  }
}

/// The same machine with torques only moves the same way, though its bearings carry something else.
static void test_same_motion(void **state) {
  (void)state;
  for (int i = 0; i < 18; ++i) {
    const double helix = i >= 6 && i < 12 ? 0.3 : 0.0;
    const planetary tooth = i < 9    ? build_planetary(1 + i / 3 % 2, false, helix, false)
                            : i < 15 ? build_steering(false, helix, 0.07)
                                     : build_differential(false, 0.3),
                    torque = i < 9    ? build_planetary(1 + i / 3 % 2, true, 0.0, false)
                             : i < 15 ? build_steering(true, 0.0, 0.07)
                                      : build_differential(true, 0.0);
    const char *const bearing = i < 9 ? "p0" : i < 15 ? "bearing" : "left";
    as_integrator *a = start(tooth.model, rig_methods[i % 3], 2e-3),
                  *b = start(torque.model, rig_methods[i % 3], 2e-3);
    const as_state *s = as_integrator_state(a), *t = as_integrator_state(b);
    as_error error;
    double off = 0.0, apart = 0.0;
    for (int k = 1; k <= 20; ++k) {
      must(as_integrator_advance(a, 0.05 * k, &error), &error);
      must(as_integrator_advance(b, 0.05 * k, &error), &error);
      for (int body = 0; body < tooth.b.bodies; ++body) {
        as_body_motion x, y;
        as_model_body_motion(tooth.model, s, (as_body_id){body}, &x);
        as_model_body_motion(torque.model, t, (as_body_id){body}, &y);
        off = fmax(off, distance(x.x, y.x) + distance(x.v, y.v) + distance(x.omega, y.omega));
        for (int r = 0; r < 9; ++r) off = fmax(off, fabs(x.R[r] - y.R[r]));
      }
      apart = fmax(apart, distance(reaction(tooth.model, s, bearing).force,
                                   reaction(torque.model, t, bearing).force));
    }
    print_message("  method %d, helix %g: off by %.1e, bearings by %.3g N\n", i % 3, helix, off,
                  apart);
    assert_true(off < 1e-6 && apart > 10.0);
    as_integrator_destroy(a);
    as_integrator_destroy(b);
    as_model_destroy(tooth.model);
    as_model_destroy(torque.model);
  }
}

/// A gearbox that floats, with its motor inside, keeps its momentum.
static void test_momentum(void **state) {
  (void)state;
  for (int i = 0; i < 6; ++i) {
    const planetary p = build_planetary(1, false, i & 1 ? 0.4 : 0.0, true);
    double worst[2];
    for (int half = 0; half < 2; ++half) {
      as_integrator *integrator = start(p.model, rig_methods[i / 2], half ? 1e-3 : 2e-3);
      const as_state *s = as_integrator_state(integrator);
      as_error error;
      as_momentum at;
      worst[half] = 0.0;
      for (int k = 1; k <= 20; ++k) {
        must(as_integrator_advance(integrator, 0.05 * k, &error), &error);
        as_model_momentum(p.model, s, &at);
        worst[half] =
            fmax(worst[half], sqrt(dot(at.linear, at.linear)) + sqrt(dot(at.angular, at.angular)));
      }
      as_integrator_destroy(integrator);
    }
    print_message("  method %d: momentum off by %.1e, with half the step %.1e\n", i / 2, worst[0],
                  worst[1]);
    assert_true(worst[1] < 1e-3 && (worst[1] < 0.35 * worst[0] || worst[1] < 1e-8));
    as_model_destroy(p.model);
  }
}

/// Forces of bearings are of second order, though teeth change flanks three times.
static void test_order(void **state) {
  (void)state;
  for (int i = 0; i < 6; ++i) {
    const planetary p =
        i < 3 ? build_planetary(1, false, 0.2, false) : build_steering(false, 0.2, 0.07);
    double force[4][3], error_of[3];
    static const double step[4] = {8e-3, 4e-3, 2e-3, 2.5e-4};
    for (int k = 0; k < 4; ++k) {
      as_integrator *integrator = start(p.model, rig_methods[i % 3], step[k]);
      as_error error;
      must(as_integrator_advance(integrator, 0.8, &error), &error);
      const as_reaction r =
          reaction(p.model, as_integrator_state(integrator), i < 3 ? "p0" : "bearing");
      memcpy(force[k], r.force, sizeof force[k]);
      as_integrator_destroy(integrator);
    }
    for (int k = 0; k < 3; ++k) error_of[k] = distance(force[k], force[3]);
    print_message("  method %d: bearing off by %.1e, %.1e, %.1e N\n", i % 3, error_of[0],
                  error_of[1], error_of[2]);
    assert_true(error_of[1] < 0.35 * error_of[0] && error_of[2] < 0.35 * error_of[1]);
    as_model_destroy(p.model);
  }
}

/// Friction in bearings grows with what the teeth press: the motor turns T r_1/r_2 + mu r (F + F r_1/r_2), F = T/(r_2
/// cos(alpha)).
static void test_friction(void **state) {
  (void)state;
  const double T = 5.0, mu = 0.1, pin = 0.02, a = 0.3, r1 = 0.1, r2 = 0.2;
  for (int i = 0; i < 6; ++i) {
    as_builder *b = machine_builder(0, 0, 0);
    as_error error;
    as_gear_def gear = as_default_gear_def();
    for (int w = 0; w < 2; ++w) {
      as_body_def def = machine_round_body(w ? "large" : "small", 1.0, 0.01, w);
      def.position[0] = a * w;
      const as_body_id wheel = machine_body(b, &def);
      gear.joint[w] = machine_joint(b, w ? "two" : "one", AS_JOINT_REVOLUTE, AS_GROUND, wheel,
                                    def.position, z_axis);
      as_joint_friction_def friction = as_default_joint_friction_def();
      friction.joint = gear.joint[w];
      friction.coefficient = mu;
      friction.radius = pin;
      must(as_builder_add_joint_friction(b, &friction, NULL, &error), &error);
    }
    gear.name = "mesh";
    gear.teeth[0] = 20;
    gear.teeth[1] = 40;
    must(as_builder_add_gear(b, &gear, NULL, &error), &error);
    as_motion_def motor = as_default_motion_def();
    const as_curve law = {.slope = 30.0};
    motor.name = "motor";
    motor.joint = gear.joint[0];
    motor.law = &law;
    must(as_builder_add_motion(b, &motor, NULL, &error), &error);
    as_load_def brake = as_default_load_def();
    brake.body = (as_body_id){1};
    brake.torque[2] = i & 1 ? T : -T; // it drives, or brakes
    must(as_builder_add_load(b, &brake, NULL, &error), &error);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[i / 2], 0.01);
    must(as_integrator_advance(integrator, 0.2, &error), &error);
    const as_state *s = as_integrator_state(integrator);
    // The second turns backwards: T there drives against the first.
    const double sign = i & 1 ? 1.0 : -1.0;
    const double t = s->lambda[as_model_joint_row(m, (as_joint_id){2})]; // on the second wheel
    const double F = fabs(t) / r2 / cos(20.0 * degree), rub = mu * pin * F;
    assert_near("on the second wheel", t, -sign * T - rub, 1e-4);
    assert_near("motor", reaction(m, s, "motor").torque[2], -t * r1 / r2 + rub, 1e-4);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// The second wheel on a block that gives way along the line of centres.
static as_model *build_block(as_tooth_kind kind) {
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_gear_def gear = as_default_gear_def();
  as_body_def def = machine_round_body("small", 1.0, 0.01, false);
  machine_body(b, &def);
  def = machine_round_body("large", 2.0, 0.03, true);
  def.position[0] = 0.3;
  machine_body(b, &def);
  def = machine_round_body("block", 1.0, 0.01, false);
  def.position[0] = 0.3;
  machine_body(b, &def);
  machine_joint(b, "slide", AS_JOINT_PRISMATIC, AS_GROUND, (as_body_id){2}, def.position,
                (double[]){1, 0, 0});
  gear.joint[0] =
      machine_joint(b, "one", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){0}, origin, z_axis);
  gear.joint[1] = machine_joint(b, "two", AS_JOINT_REVOLUTE, (as_body_id){2}, (as_body_id){1},
                                def.position, z_axis);
  gear.name = "mesh";
  gear.teeth[0] = 20;
  gear.teeth[1] = 40;
  gear.tooth.kind = kind;
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = AS_GROUND;
  spring.body[1] = (as_body_id){2};
  spring.point[0][0] = 1.3;
  spring.point[1][0] = 0.3;
  spring.stiffness = 1e5;
  spring.damping = 100.0;
  spring.length = 1.0;
  must(as_builder_add_spring(b, &spring, NULL, &error), &error);
  as_load_def push = as_default_load_def();
  push.body = (as_body_id){0};
  push.torque[2] = 5.0;
  must(as_builder_add_load(b, &push, NULL, &error), &error);
  return machine_build(b);
}

/// The spring is pressed by the radial force, and energy is kept, with the work of the teeth. Without a word there are
/// torques only, since the wheels are on different bodies.
static void test_elastic_bearing(void **state) {
  (void)state;
  as_model *plain = build_block(AS_TOOTH_AUTOMATIC);
  char text[400];
  assert_true(as_model_joint_remark(plain, as_model_find_joint(plain, "mesh"), text, sizeof text));
  assert_non_null(strstr(text, "no body in common"));
  as_model_destroy(plain);
  for (int i = 0; i < 3; ++i) {
    as_error error;
    as_model *m = build_block(AS_TOOTH_FORCE);
    double worst[2];
    for (int half = 0; half < 2; ++half) {
      as_integrator *integrator = start(m, rig_methods[i], half ? 2.5e-4 : 5e-4);
      const as_state *s = as_integrator_state(integrator);
      as_meter meter = {0};
      as_energy energy;
      worst[half] = 0.0;
      must(as_meter_update(&meter, m, s, &error), &error);
      while (s->t < 0.5) {
        must(as_integrator_next(integrator, &error), &error);
        must(as_meter_update(&meter, m, s, &error), &error);
        must(as_model_energy(m, s, &energy, &error), &error);
        const double off =
            energy.kinetic + energy.potential + meter.dissipated - meter.forces - meter.motions;
        worst[half] = fmax(worst[half], fabs(off));
      }
      // J_1 phi'' + J_2/4 phi'' = T, so that the second takes J_2/2 phi''; the block has come to rest.
      const double on_second = 0.03 / 2.0 * 5.0 / (0.01 + 0.03 / 4.0);
      as_wrench on_block;
      must(as_model_force(m, s, (as_force_id){0}, 1, &on_block, &error), &error);
      assert_near("spring", -on_block.force[0], on_second / 0.2 * tan(20.0 * degree), 0.01);
      as_integrator_destroy(integrator);
    }
    print_message("  method %d: energy off by %.1e, with half the step %.1e J\n", i, worst[0],
                  worst[1]);
    assert_true(worst[1] < 0.35 * worst[0] && worst[1] < 0.05);
    as_model_destroy(m);
  }
}

/// A helical wheel that slides along its axis against a spring: it is pressed by the axial force, and the other wheel
/// turns by tan(beta)/r_1 for each metre.
static void test_thrust(void **state) {
  (void)state;
  const double beta = 0.4, T = 5.0, r1 = 0.1, k = 500.0;
  for (int i = 0; i < 8; ++i) {
    const int first = i < 6 ? 0 : 1; // the wheel that the gear names first
    as_builder *b = machine_builder(0, 0, 0);
    as_error error;
    as_gear_def gear = as_default_gear_def();
    as_body_def def = machine_round_body("small", 1.0, 0.01, false);
    machine_body(b, &def);
    def = machine_round_body("large", 2.0, 0.03, true);
    def.position[0] = 0.3;
    machine_body(b, &def);
    gear.joint[first] =
        machine_joint(b, "one", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){0}, origin, z_axis);
    gear.joint[1 - first] = machine_joint(b, "two", AS_JOINT_CYLINDRICAL, AS_GROUND,
                                          (as_body_id){1}, def.position, z_axis);
    gear.name = "mesh";
    gear.teeth[first] = 20;
    gear.teeth[1 - first] = 40;
    gear.tooth.helix_angle =
        (i & 1) == first ? beta : -beta; // wheels that mesh lean to opposite sides
    must(as_builder_add_gear(b, &gear, NULL, &error), &error);
    as_motion_def hold = as_default_motion_def();
    const as_curve still = {.constant = 0.0};
    hold.joint = gear.joint[1 - first];
    hold.coordinate = 1;
    hold.law = &still;
    must(as_builder_add_motion(b, &hold, NULL, &error), &error);
    as_spring_def spring = as_default_spring_def();
    spring.body[0] = AS_GROUND;
    spring.body[1] = (as_body_id){1};
    spring.point[0][0] = spring.point[1][0] = 0.3;
    spring.point[0][2] = -1.0;
    spring.stiffness = k;
    spring.damping = 40.0;
    spring.length = 1.0;
    must(as_builder_add_spring(b, &spring, NULL, &error), &error);
    as_load_def push = as_default_load_def();
    push.body = (as_body_id){0};
    push.torque[2] = T;
    must(as_builder_add_load(b, &push, NULL, &error), &error);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[i / 2 % 3], 0.002);
    const as_state *s = as_integrator_state(integrator);
    must(as_integrator_advance(integrator, 3.0, &error), &error);
    // T turns the first wheel forward: its right-handed teeth press it along z, and the second back.
    const double sign = i & 1 ? -1.0 : 1.0, thrust = -sign * T / r1 * tan(beta);
    const double way = thrust / k;
    double at[2][AS_JOINT_COORDINATES];
    for (int w = 0; w < 2; ++w)
      must(as_model_coordinates(m, s, (as_joint_id){w}, NULL, at[w], NULL, &error), &error);
    assert_near("way", at[1][0], way, 1e-4);
    assert_near("turned by it", at[0][0], -sign * way * tan(beta) / r1, 1e-4);
    assert_near("thrust", reaction(m, s, "mesh").force[2], first == 0 ? thrust : -thrust, 1e-2);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- what is refused ------------------------------------------------------------------------------------

static void expect(as_status status, const as_error *error, const char *text) {
  if (status == AS_OK) fail_msg("accepted, though \"%s\"", text);
  if (strstr(error->message, text) == NULL) fail_msg("\"%s\", not \"%s\"", error->message, text);
}

static void test_refused(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  static const double place[5][3] = {{0, 0, 0}, {0.3, 0, 0}, {0, 0, 0.5}, {0.3, 0, 0.2}, {0, 1, 0}};
  static const double x_axis[3] = {1, 0, 0};
  as_joint_id joint[5];
  for (int i = 0; i < 5; ++i) {
    char name[8];
    snprintf(name, sizeof name, "%d", i);
    as_body_def def = machine_round_body(name, 1.0, 0.01, false);
    memcpy(def.position, place[i], sizeof def.position);
    const as_body_id body = machine_body(b, &def);
    const as_joint_kind kind = i == 4   ? AS_JOINT_PRISMATIC
                               : i == 3 ? AS_JOINT_CYLINDRICAL
                                        : AS_JOINT_REVOLUTE;
    joint[i] = machine_joint(b, name, kind, AS_GROUND, body, place[i], i == 4 ? x_axis : z_axis);
  }
  const as_joint_id across =
      machine_joint(b, "across", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){4}, place[4], x_axis);
  const as_joint_id planar =
      machine_joint(b, "planar", AS_JOINT_PLANAR, AS_GROUND, (as_body_id){1}, place[1], z_axis);
  const as_joint_id along =
      machine_joint(b, "along", AS_JOINT_PRISMATIC, AS_GROUND, (as_body_id){4}, place[4], z_axis);
  as_gear_def gear = as_default_gear_def();
  gear.joint[0] = joint[0];
  gear.joint[1] = across;
  gear.teeth[0] = gear.teeth[1] = 20;
  gear.tooth.kind = AS_TOOTH_FORCE;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "no `point` says where");
  gear.tooth.point[0] = gear.tooth.point[1] = 0.0;
  gear.tooth.point[2] = 0.5;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "neither are parallel nor meet");
  gear.joint[1] =
      machine_joint(b, "meets", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){4}, z_axis, x_axis);
  gear.tooth.point[0] = 0.2;
  gear.tooth.point[2] = 1.1;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error,
         "could meet at (0.15, 0, 1.15) m, 0.0707 m away from its point");
  gear.tooth = as_default_gear_def().tooth;
  gear.tooth.kind = AS_TOOTH_FORCE;
  gear.joint[1] = joint[2];
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "about the same axis");
  gear.joint[1] = planar;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "lets the axis of a wheel move");
  gear.joint[1] = joint[1];
  gear.internal = true;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "fewer teeth than the ring");
  gear.internal = false;
  gear.tooth.pressure_angle = 1.6;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "pressure angle of 1.6 rad");
  gear.tooth.pressure_angle = (double)NAN;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "pressure angle of");
  gear.tooth.pressure_angle = 0.3;
  gear.tooth.helix_angle = -1.6;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "helix angle of -1.6 rad");
  gear.tooth.helix_angle = 0.0;
  gear.tooth.small_force = 0.0;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "small force");
  gear.tooth.small_force = 1e-3;
  gear.tooth.point[0] = 0.2;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "must be three numbers");
  gear.tooth.point[1] = gear.tooth.point[2] = 0.0;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error,
         "could meet at (0.15, 0, 0) m, 0.05 m away from its point");
  as_rack_def rack = as_default_rack_def();
  rack.tooth.kind = AS_TOOTH_FORCE;
  rack.radius = 0.1;
  rack.pinion = joint[0];
  rack.rack = along;
  expect(as_builder_add_rack(b, &rack, NULL, &error), &error, "does not move across the axis");
  rack.pinion = joint[3];
  rack.rack = joint[4];
  rack.tooth.helix_angle = 0.1;
  expect(as_builder_add_rack(b, &rack, NULL, &error), &error, "must be on a revolute joint");
  // What is not said is told.
  static const struct {
    as_joint_id second;
    const char *text;
  } silent[] = {
      {{5}, "are not parallel"}, {{2}, "about the same axis"}, {{3}, "taken midway"}, {{1}, NULL}};
  for (int i = 0; i < 4; ++i) {
    gear = as_default_gear_def();
    gear.joint[0] = joint[0];
    gear.joint[1] = silent[i].second.index == 5 ? across : joint[silent[i].second.index];
    gear.teeth[0] = gear.teeth[1] = 20;
    as_joint_id id = AS_NO_JOINT;
    must(as_builder_add_gear(b, &gear, &id, &error), &error);
    as_model *m = NULL;
    char text[400];
    must(as_builder_build(b, &m, &error), &error);
    const bool told = as_model_joint_remark(m, id, text, sizeof text);
    assert_int_equal(told, silent[i].text != NULL);
    if (told && strstr(text, silent[i].text) == NULL) fail_msg("%s", text);
    assert_false(as_model_joint_remark(m, (as_joint_id){0}, text, sizeof text));
    assert_false(as_model_joint_remark(m, (as_joint_id){-1}, text, sizeof text));
    as_model_destroy(m);
  }
  as_builder_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statics),         cmocka_unit_test(test_bevel),
      cmocka_unit_test(test_pinion_bearing),  cmocka_unit_test(test_balance),
      cmocka_unit_test(test_same_motion),     cmocka_unit_test(test_momentum),
      cmocka_unit_test(test_order),           cmocka_unit_test(test_friction),
      cmocka_unit_test(test_elastic_bearing), cmocka_unit_test(test_thrust),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
