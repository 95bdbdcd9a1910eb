/// Superelements: bars and beams by their matrices, alone and joined to bodies.
///
/// - A bar of linear elements has the frequencies of the closed form; it stands still under a load at its
///   static displacement.
/// - Against the exact modal solution of a bar, damped and driven: order 2 in q, v, v' and, where a joint
///   holds its end, in the multiplier; energy balances to order 2.
/// - A bar with its mass at the nodes moves as point masses between springs do.
/// - A beam carries a load with the reactions of a cantilever, falls as a whole, has its mass and momentum;
///   with a rigid body on its end everything converges with order 2 and energy is kept.
/// - A coordinate without mass moves with a body, or is named; a start off the joints is assembled.
/// - A bar of 10000 coordinates that holds a body is factorized almost without fill.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "core/kinematics/ordering.h"
#include "linalg/solver.h"
#include "observe.h"
#include "rig.h"
#include "structures.h"

static const double pi = 3.14159265358979323846;

static void stop_if(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static as_builder *open_builder(double g) {
  as_builder *b = NULL;
  as_error error;
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -g}}, &b, &error), &error);
  return b;
}

static as_superelement_id add_superelement(as_builder *b, const as_superelement_def *def) {
  as_error error;
  as_superelement_id id = AS_NO_SUPERELEMENT;
  stop_if(as_builder_add_superelement(b, def, &id, &error), &error);
  return id;
}

static as_body_id add_node(as_builder *b, const char *name, as_superelement_id s, int node) {
  as_error error;
  as_body_id id = AS_NO_BODY;
  stop_if(as_builder_add_node(b, &(as_node_def){name, s, node}, &id, &error), &error);
  return id;
}

static as_joint_id add_joint(as_builder *b, as_joint_kind kind, as_body_id first, as_body_id second,
                             const double *point, const double *axis) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def def = as_default_joint_def();
  def.kind = kind;
  def.body[0] = first;
  def.body[1] = second;
  memcpy(def.point, point, sizeof def.point);
  memcpy(def.axis, axis, sizeof def.axis);
  stop_if(as_builder_add_joint(b, &def, &id, &error), &error);
  return id;
}

/// Builds, closes the builder.
static as_model *build(as_builder *b) {
  as_error error;
  as_model *m = NULL;
  stop_if(as_builder_build(b, &m, &error), &error);
  as_builder_destroy(b);
  return m;
}

static as_integrator *start(const as_model *m, as_method method, double rho) {
  as_error error;
  as_integrator *integrator = NULL;
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.rho_inf = rho;
  how.newton.rtol = 1e-10;
  stop_if(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  return integrator;
}

static void step(as_integrator *integrator, double h) {
  as_error error;
  stop_if(as_integrator_step(integrator, h, &error), &error);
}

// ---- a bar ------------------------------------------------------------------------------------------

enum { BAR = 8 };
static const double bar_length = 2.0, bar_EA = 50.0, bar_mass = 3.0;

/// Eigenvector j = 0, 1, ... of the bar that is held at its first node: sin(theta_j i), and omega^2 =
/// 6 EA / (mass h^2) (1 - cos theta) / (2 + cos theta), theta_j = (2 j + 1) pi / (2 n).
static double bar_mode(int j, double *mode) {
  const double theta = (2 * j + 1) * pi / (2.0 * BAR), h = bar_length / BAR;
  for (int i = 0; i < BAR; ++i) mode[i] = sin(theta * (i + 1));
  return sqrt(6.0 * bar_EA / (bar_mass * h * h) * (1.0 - cos(theta)) / (2.0 + cos(theta)));
}

static void test_frequencies(void **state) {
  (void)state;
  structure bar = structure_bar(BAR, bar_length, bar_EA, bar_mass, false, true);
  for (int j = 0; j < BAR; ++j) {
    double mode[BAR];
    const double omega = bar_mode(j, mode);
    as_superelement_def def = structure_def(&bar);
    def.displacement = mode;
    as_builder *b = open_builder(0.0);
    add_superelement(b, &def);
    as_model *m = build(b);
    as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.8);
    const double *vdot = as_integrator_state(integrator)->vdot;
    for (int i = 0; i < BAR; ++i)
      assert_near("acceleration in a mode", vdot[i], -omega * omega * mode[i],
                  1e-11 * omega * omega);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
  structure_free(&bar);
}

/// Under a force P at its end: u = P x / EA.
static void test_bar_at_rest(void **state) {
  (void)state;
  const double P = 7.0;
  structure bar = structure_bar(BAR, bar_length, bar_EA, bar_mass, false, true);
  double u[BAR], p[BAR] = {[BAR - 1] = P};
  for (int i = 0; i < BAR; ++i) u[i] = P * bar_length * (i + 1) / BAR / bar_EA;
  as_superelement_def def = structure_def(&bar);
  as_sparse *load = sparse_column(p, BAR);
  def.displacement = u;
  def.load = load;
  as_builder *b = open_builder(9.81); // across the bar, which does not move that way
  add_superelement(b, &def);
  as_model *m = build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.8);
  for (int i = 0; i < 100; ++i) step(integrator, 0.01);
  const as_state *s = as_integrator_state(integrator);
  for (int i = 0; i < BAR; ++i) assert_near("displacement at rest", s->q[i], u[i], 1e-13);
  as_energy energy;
  assert_int_equal(as_model_energy(m, s, &energy, NULL), AS_OK);
  assert_near("strain energy", energy.potential, P * P * bar_length / bar_EA / 2.0, 1e-13);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  as_sparse_destroy(load);
  structure_free(&bar);
}

/// Writes the lower triangle of a symmetric matrix to a file and reads it again.
static as_sparse *through_file(const as_sparse *m, const char *name) {
  as_error error;
  as_sparse *read = NULL;
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real symmetric\n%% a bar\n%d %d %d\n", m->rows,
          m->cols, (m->col_start[m->cols] + m->cols) / 2);
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      if (m->row[k] >= j) fprintf(file, "%d %d %.17g\n", m->row[k] + 1, j + 1, m->value[k]);
  assert_int_equal(fclose(file), 0);
  const as_status status = as_sparse_read(name, &read, &error);
  remove(name);
  stop_if(status, &error);
  return read;
}

/// A bar by files moves as the bar itself, to the last bit.
static void test_files(void **state) {
  (void)state;
  structure bar = structure_bar(BAR, bar_length, bar_EA, bar_mass, false, true);
  as_sparse *mass = through_file(bar.mass, "test_superelement_M.mtx");
  as_sparse *stiffness = through_file(bar.stiffness, "test_superelement_K.mtx");
  double mode[BAR], q[2][BAR];
  bar_mode(0, mode);
  for (int by_file = 0; by_file < 2; ++by_file) {
    as_superelement_def def = structure_def(&bar);
    def.displacement = mode;
    if (by_file) {
      def.mass = mass;
      def.stiffness = stiffness;
    }
    as_builder *b = open_builder(0.0);
    add_superelement(b, &def);
    as_model *m = build(b);
    as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.8);
    for (int i = 0; i < 20; ++i) step(integrator, 0.01);
    memcpy(q[by_file], as_integrator_state(integrator)->q, sizeof q[0]);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
  for (int i = 0; i < BAR; ++i) assert_true(q[0][i] == q[1][i]);
  as_sparse_destroy(mass);
  as_sparse_destroy(stiffness);
  structure_free(&bar);
}

// ---- against the exact modal solution -----------------------------------------------------------------

/// Mode 0 is driven so that it is sin(W t), mode 2 dies out from 1; C = a M + b K.
typedef struct modal {
  double mode[2][BAR], omega[2], W, a, b, amplitude, phase;
} modal;

static modal make_modal(void) {
  modal x = {.W = 3.0, .a = 0.2, .b = 0.004};
  x.omega[0] = bar_mode(0, x.mode[0]);
  x.omega[1] = bar_mode(2, x.mode[1]);
  const double w2 = x.omega[0] * x.omega[0], c = x.a + x.b * w2;
  x.amplitude = hypot(w2 - x.W * x.W, c * x.W);
  x.phase = atan2(c * x.W, w2 - x.W * x.W);
  return x;
}

/// u, u', u'' at t; `first` zeros come before them.
static void modal_exact(const modal *x, double t, int first, double *u, double *v, double *a) {
  const double c = x->a + x->b * x->omega[1] * x->omega[1];
  const double d = c / 2.0, w = sqrt(x->omega[1] * x->omega[1] - d * d), e = exp(-d * t);
  const double z = e * (cos(w * t) + d / w * sin(w * t));
  const double z1 = -e * (w + d * d / w) * sin(w * t);
  const double z2 = -c * z1 - x->omega[1] * x->omega[1] * z;
  for (int i = 0; i < BAR; ++i) {
    u[first + i] = sin(x->W * t) * x->mode[0][i] + z * x->mode[1][i];
    v[first + i] = x->W * cos(x->W * t) * x->mode[0][i] + z1 * x->mode[1][i];
    a[first + i] = -x->W * x->W * sin(x->W * t) * x->mode[0][i] + z2 * x->mode[1][i];
  }
  if (first) u[0] = v[0] = a[0] = 0.0;
}

static int modal_factor(double t, double out[3], void *user) {
  const modal *x = user;
  const double angle = x->W * t + x->phase;
  out[0] = sin(angle);
  out[1] = x->W * cos(angle);
  out[2] = -x->W * x->W * sin(angle);
  return AS_DONE;
}

typedef struct modal_errors {
  double q, v, vdot, lambda, energy;
} modal_errors;

static double distance(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

/// The bar with its end held by a joint, or by leaving its coordinate out.
typedef struct held_bar {
  modal exact;
  structure bar;
  as_sparse *damping, *load;
  as_model *model;
  int first; ///< 1: held by a joint
} held_bar;

static void open_held_bar(held_bar *h, bool by_joint) {
  h->exact = make_modal();
  h->first = by_joint;
  h->bar = structure_bar(BAR, bar_length, bar_EA, bar_mass, false, !by_joint);
  const int n = h->bar.n;
  double p[BAR + 1] = {0}, shape[BAR + 1] = {0}, u[BAR + 1], v[BAR + 1], a[BAR + 1];
  memcpy(shape + h->first, h->exact.mode[0], sizeof h->exact.mode[0]);
  sparse_multiply_add(h->bar.mass, h->exact.amplitude, shape, p);
  h->damping = sparse_sum(h->exact.a, h->bar.mass, h->exact.b, h->bar.stiffness);
  h->load = sparse_column(p, n);
  modal_exact(&h->exact, 0.0, h->first, u, v, a);
  const as_curve factor = {.function = modal_factor, .user = &h->exact};
  as_superelement_def def = structure_def(&h->bar);
  def.damping = h->damping;
  def.load = h->load;
  def.factor = &factor;
  def.displacement = u;
  def.velocity = v;
  as_builder *b = open_builder(0.0);
  const as_superelement_id id = add_superelement(b, &def);
  if (by_joint)
    add_joint(b, AS_JOINT_POINT_ON_PLANE, AS_GROUND, add_node(b, "end", id, 0),
              (const double[3]){0, 0, 0}, (const double[3]){1, 0, 0});
  h->model = build(b);
}

static void close_held_bar(held_bar *h) {
  as_model_destroy(h->model);
  as_sparse_destroy(h->damping);
  as_sparse_destroy(h->load);
  structure_free(&h->bar);
}

/// The force along x that the ground exerts on the end: what is left of its equation.
static double exact_reaction(const held_bar *h, double t, const double *u, const double *v,
                             const double *a) {
  double r[BAR + 1] = {0}, factor[3];
  modal_factor(t, factor, (void *)(uintptr_t)&h->exact);
  sparse_multiply_add(h->bar.mass, 1.0, a, r);
  sparse_multiply_add(h->damping, 1.0, v, r);
  sparse_multiply_add(h->bar.stiffness, 1.0, u, r);
  const double one[1] = {factor[0]};
  sparse_multiply_add(h->load, -1.0, one, r);
  return r[0];
}

/// Keeps the largest errors.
static void compare(const held_bar *h, const as_state *s, modal_errors *e) {
  as_error error;
  const int n = h->bar.n;
  double u[BAR + 1], v[BAR + 1], a[BAR + 1];
  modal_exact(&h->exact, s->t, h->first, u, v, a);
  e->q = fmax(e->q, distance(s->q, u, n));
  e->v = fmax(e->v, distance(s->v, v, n));
  e->vdot = fmax(e->vdot, distance(s->vdot, a, n));
  if (!h->first) return;
  as_reaction r;
  stop_if(as_model_reaction(h->model, s, (as_joint_id){0}, &r, &error), &error);
  e->lambda = fmax(e->lambda, fabs(r.force[0] - exact_reaction(h, s->t, u, v, a)));
  assert_near("the multiplier is the reaction", s->lambda[0], r.force[0], 1e-12);
}

static modal_errors run_held_bar(const held_bar *h, as_method method, double step_size) {
  modal_errors e = {0};
  as_error error;
  as_integrator *integrator = start(h->model, method, 0.8);
  as_meter meter = {0};
  as_energy energy;
  double start_energy = 0.0;
  for (double t = 0.0;; t = as_integrator_state(integrator)->t) {
    const as_state *s = as_integrator_state(integrator);
    double v[BAR + 1];
    as_state now = *s;
    stop_if(as_integrator_velocity(integrator, v, &error), &error);
    now.v = v;
    stop_if(as_meter_update(&meter, h->model, &now, &error), &error);
    stop_if(as_model_energy(h->model, &now, &energy, &error), &error);
    const double total = energy.kinetic + energy.potential + meter.dissipated - meter.forces;
    if (t == 0.0) start_energy = total;
    e.energy = fmax(e.energy, fabs(total - start_energy));
    compare(h, s, &e);
    if (t > 1.5) break;
    step(integrator, step_size);
  }
  as_integrator_destroy(integrator);
  return e;
}

static void assert_second_order(const char *what, double coarse, double fine) {
  const double order = observed_order(coarse, fine);
  if (!(order > 1.9 && order < 2.2) && !(fine < 1e-12))
    fail_msg("%s: order %.3f, errors %.3g and %.3g", what, order, coarse, fine);
}

static void test_modal_solution(void **state) {
  (void)state;
  for (int by_joint = 0; by_joint < 2; ++by_joint) {
    held_bar h;
    open_held_bar(&h, by_joint);
    for (int k = 0; k < 3; ++k) {
      const modal_errors coarse = run_held_bar(&h, rig_methods[k], 1.0 / 256),
                         fine = run_held_bar(&h, rig_methods[k], 1.0 / 512);
      print_message("  method %d: errors q %.2g v %.2g v' %.2g lambda %.2g energy %.2g\n", k,
                    fine.q, fine.v, fine.vdot, fine.lambda, fine.energy);
      assert_second_order("q", coarse.q, fine.q);
      assert_second_order("v", coarse.v, fine.v);
      assert_second_order("v'", coarse.vdot, fine.vdot);
      assert_second_order("energy", coarse.energy, fine.energy);
      if (by_joint) assert_second_order("lambda", coarse.lambda, fine.lambda);
    }
    close_held_bar(&h);
  }
}

/// Pinned to the ground, its end has two rows that nothing can move: redundant, and without effect.
static void test_empty_rows(void **state) {
  (void)state;
  const double P = 7.0;
  structure bar = structure_bar(BAR, bar_length, bar_EA, bar_mass, false, false);
  double u[BAR + 1], p[BAR + 1] = {[BAR] = P};
  for (int i = 0; i <= BAR; ++i) u[i] = P * bar_length * i / BAR / bar_EA;
  as_sparse *load = sparse_column(p, BAR + 1);
  as_superelement_def def = structure_def(&bar);
  def.displacement = u;
  def.load = load;
  as_builder *b = open_builder(0.0);
  const as_body_id end = add_node(b, "end", add_superelement(b, &def), 0);
  const as_joint_id pin =
      add_joint(b, AS_JOINT_SPHERICAL, AS_GROUND, end, (const double[3]){0}, (const double[3]){0});
  as_model *m = build(b);
  for (int k = 0; k < 3; ++k) {
    as_error error;
    as_start_report report;
    as_reaction r;
    as_integrator *integrator = start(m, rig_methods[k], 0.8);
    stop_if(as_integrator_start(integrator, as_model_initial(m), &report, &error), &error);
    assert_int_equal(report.n_redundant, 2);
    for (int i = 0; i < 20; ++i) step(integrator, 0.01);
    const as_state *s = as_integrator_state(integrator);
    stop_if(as_model_reaction(m, s, pin, &r, &error), &error);
    const double force[3] = {-P, 0.0, 0.0};
    const double e = rig_methods[k] == AS_METHOD_INDEX2 ? 1e-8 : 1e-6; // compliance, [RE.3]
    for (int i = 0; i < 3; ++i) assert_near("force of the pin", r.force[i], force[i], 10.0 * e * P);
    for (int i = 0; i <= BAR; ++i) assert_near("displacement", s->q[i], u[i], 0.002 * e);
    as_integrator_destroy(integrator);
  }
  as_model_destroy(m);
  as_sparse_destroy(load);
  structure_free(&bar);
}

// ---- point masses and springs ---------------------------------------------------------------------------

/// The same bar of masses at the nodes and springs between them; the first is the ground.
static as_model *chain_of_masses(const double *u, const double *v) {
  as_error error;
  as_builder *b = open_builder(0.0);
  const double h = bar_length / BAR;
  for (int i = 0; i < BAR; ++i) {
    as_body_def body = as_default_body_def();
    body.kind = AS_BODY_POINT;
    body.mass = bar_mass * h * (i < BAR - 1 ? 1.0 : 0.5);
    body.position[0] = h * (i + 1) + u[i];
    body.velocity[0] = v[i];
    stop_if(as_builder_add_body(b, &body, NULL, &error), &error);
    as_spring_def spring = as_default_spring_def();
    spring.body[0] = i > 0 ? AS_ID(as_body_id, i - 1) : AS_GROUND;
    spring.body[1] = (as_body_id){i};
    spring.point[0][0] = i > 0 ? h * i + u[i - 1] : 0.0;
    spring.point[1][0] = body.position[0];
    spring.stiffness = bar_EA / h;
    spring.length = h;
    stop_if(as_builder_add_spring(b, &spring, NULL, &error), &error);
  }
  return build(b);
}

static void test_masses_and_springs(void **state) {
  (void)state;
  double u[BAR], v[BAR], mode[BAR];
  bar_mode(1, mode);
  for (int i = 0; i < BAR; ++i) u[i] = 0.02 * mode[i];
  bar_mode(0, mode);
  for (int i = 0; i < BAR; ++i) v[i] = 0.1 * mode[i];
  structure bar = structure_bar(BAR, bar_length, bar_EA, bar_mass, true, true);
  as_superelement_def def = structure_def(&bar);
  def.displacement = u;
  def.velocity = v;
  as_builder *b = open_builder(0.0);
  add_superelement(b, &def);
  as_model *m = build(b), *chain = chain_of_masses(u, v);
  as_integrator *one = start(m, AS_METHOD_INDEX2, 0.8), *two = start(chain, AS_METHOD_INDEX2, 0.8);
  for (int i = 0; i < 300; ++i) {
    step(one, 0.005);
    step(two, 0.005);
  }
  const as_state *s = as_integrator_state(one), *other = as_integrator_state(two);
  as_energy energy[2];
  as_momentum momentum[2];
  assert_int_equal(as_model_energy(m, s, &energy[0], NULL), AS_OK);
  assert_int_equal(as_model_energy(chain, other, &energy[1], NULL), AS_OK);
  as_model_momentum(m, s, &momentum[0]);
  as_model_momentum(chain, other, &momentum[1]);
  for (int i = 0; i < BAR; ++i) {
    assert_near("displacement", s->q[i], other->q[3 * i] - bar_length * (i + 1) / BAR, 1e-12);
    assert_near("velocity", s->v[i], other->v[3 * i], 1e-11);
    assert_near("acceleration", s->vdot[i], other->vdot[3 * i], 1e-9);
  }
  assert_near("kinetic energy", energy[0].kinetic, energy[1].kinetic, 1e-12);
  assert_near("potential energy", energy[0].potential, energy[1].potential, 1e-12);
  assert_near("momentum", momentum[0].linear[0], momentum[1].linear[0], 1e-12);
  as_integrator_destroy(one);
  as_integrator_destroy(two);
  as_model_destroy(m);
  as_model_destroy(chain);
  structure_free(&bar);
}

// ---- a beam -----------------------------------------------------------------------------------------

enum { BEAM = 4 };
static const double beam_length = 1.5;
static const beam_section section = {
    .EA = 2000.0, .GJ = 2.0, .EIy = 3.0, .EIz = 4.5, .mass = 2.0, .polar = 0.01};

/// A cantilever, turned so that its axis is y of the world and its z is x, with forces on its tip.
static void test_cantilever(void **state) {
  (void)state;
  const double L = beam_length, P = 0.05, T = 0.03; // along the beam's z, about its x
  as_error error;
  structure beam = structure_beam(BEAM, L, &section);
  double u[6 * (BEAM + 1)] = {0};
  for (int i = 0; i <= BEAM; ++i) {
    const double x = L * i / BEAM;
    u[6 * i + 2] = P * x * x * (3.0 * L - x) / (6.0 * section.EIy);
    u[6 * i + 4] = -P * x * (2.0 * L - x) / (2.0 * section.EIy);
    u[6 * i + 3] = T * x / section.GJ;
  }
  as_superelement_def def = structure_def(&beam);
  def.name = "arm";
  def.displacement = u;
  // x -> y, y -> z, z -> x: a third of a turn about (1, 1, 1)
  for (int k = 0; k < 4; ++k) def.quaternion[k] = 0.5;
  def.position[2] = 0.4;
  as_builder *b = open_builder(0.0);
  const as_superelement_id id = add_superelement(b, &def);
  const as_body_id root = add_node(b, "root", id, 0), tip = add_node(b, "tip", id, BEAM);
  const double z[3] = {0, 0, 1}, base[3] = {0, 0, 0.4};
  const as_joint_id clamp = add_joint(b, AS_JOINT_FIXED, AS_GROUND, root, base, z);
  as_load_def load = as_default_load_def();
  load.body = tip;
  load.force[0] = P;
  as_body_motion at;
  load.point[0] = u[6 * BEAM + 2]; // where the tip is
  load.point[1] = L;
  load.point[2] = 0.4;
  stop_if(as_builder_add_load(b, &load, NULL, &error), &error);
  as_model *m = build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.8);
  const as_state *s = as_integrator_state(integrator);
  as_model_body_motion(m, s, tip, &at);
  assert_near("tip x", at.x[0], P * L * L * L / (3.0 * section.EIy), 1e-12);
  assert_near("tip y", at.x[1], L, 1e-12);
  as_integrator_destroy(integrator);
  as_model_destroy(m);

  // The torque is a couple in the coordinate itself: a torque on the body would turn with theta.
  double p[6 * (BEAM + 1)] = {[6 * BEAM + 2] = P, [6 * BEAM + 3] = T};
  as_sparse *column = sparse_column(p, beam.n);
  def.load = column;
  b = open_builder(0.0);
  const as_superelement_id again = add_superelement(b, &def);
  add_joint(b, AS_JOINT_FIXED, AS_GROUND, add_node(b, "root", again, 0), base, z);
  m = build(b);
  integrator = start(m, AS_METHOD_INDEX2, 0.8);
  for (int i = 0; i < 10; ++i) step(integrator, 0.01);
  s = as_integrator_state(integrator);
  for (int i = 0; i < beam.n; ++i) {
    assert_near("coordinate at rest", s->q[i], u[i], 1e-12);
    assert_near("acceleration at rest", s->vdot[i], 0.0, 1e-7);
  }
  as_reaction r;
  stop_if(as_model_reaction(m, s, clamp, &r, &error), &error);
  // On the beam: against the force, along -x; against the couple about its axis y; and P L about its own -y, -z.
  const double force[3] = {-P, 0, 0}, torque[3] = {0, -T, P * L};
  for (int k = 0; k < 3; ++k) {
    assert_near("force of the clamp", r.force[k], force[k], 1e-9);
    assert_near("torque of the clamp", r.torque[k], torque[k], 1e-9);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  as_sparse_destroy(column);
  structure_free(&beam);
}

/// Free, it falls as a whole; mass, centre and momentum are those of a rod.
static void test_free_fall(void **state) {
  (void)state;
  structure beam = structure_beam(BEAM, beam_length, &section);
  as_superelement_def def = structure_def(&beam);
  double v[6 * (BEAM + 1)] = {0};
  for (int i = 0; i <= BEAM; ++i) { // turning about its first end with 0.2 rad/s, and moving
    v[6 * i + 1] = 0.2 * beam_length * i / BEAM;
    v[6 * i + 5] = 0.2;
    v[6 * i] = 0.5;
  }
  def.velocity = v;
  for (int k = 0; k < 4; ++k) def.quaternion[k] = 0.5; // its axis is the world's y
  def.position[0] = 3.0;
  def.position[2] = 0.7;
  as_builder *b = open_builder(9.81);
  const as_body_id end = add_node(b, "end", add_superelement(b, &def), BEAM);
  as_model *m = build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.8);
  const as_state *s = as_integrator_state(integrator);
  const double M = section.mass * beam_length, L = beam_length;
  as_momentum p;
  as_energy energy;
  as_model_momentum(m, s, &p);
  assert_near("mass", p.mass, M, 1e-12);
  assert_near("centre x", p.center_of_mass[0], 3.0, 1e-12);
  assert_near("centre y", p.center_of_mass[1], L / 2.0, 1e-12);
  assert_near("momentum along the axis", p.linear[1], 0.5 * M, 1e-12);
  assert_near("momentum across", p.linear[2], 0.2 * M * L / 2.0, 1e-12);
  // About the origin, at x = 3 and z = 0.7: y v_z - z v_y, -x v_z, x v_y summed up.
  assert_near("angular momentum x", p.angular[0], 0.2 * M * L * L / 3.0 - 0.7 * 0.5 * M, 1e-12);
  assert_near("angular momentum y", p.angular[1], -3.0 * 0.2 * M * L / 2.0, 1e-12);
  assert_near("angular momentum z", p.angular[2], 3.0 * 0.5 * M, 1e-12);
  stop_if(as_model_energy(m, s, &energy, NULL), &(as_error){0});
  assert_near("kinetic energy", energy.kinetic, 0.5 * M * 0.25 + 0.5 * 0.04 * M * L * L / 3.0,
              1e-12);
  assert_near("potential energy", energy.potential, M * 9.81 * 0.7, 1e-12);
  as_body_motion at;
  as_model_body_motion(m, s, end, &at);
  const double x[3] = {3.0, L, 0.7}, speed[3] = {0.0, 0.5, 0.2 * L}, omega[3] = {0.0, 0.0, 0.2};
  for (int k = 0; k < 3; ++k) {
    assert_near("place of the end", at.x[k], x[k], 1e-12);
    assert_near("speed of the end", at.v[k], speed[k], 1e-12);
    assert_near("spin of the end, its own axes", at.omega[k], omega[k], 1e-12);
  }
  for (int i = 0; i < beam.n; ++i) // the world's z is the beam's y
    assert_near("acceleration", s->vdot[i], i % 6 == 1 ? -9.81 : 0.0, 1e-8);
  for (int i = 0; i < 50; ++i) step(integrator, 0.01);
  as_model_momentum(m, as_integrator_state(integrator), &p);
  assert_near("centre y later", p.center_of_mass[1], L / 2.0 + 0.5 * 0.5, 1e-10);
  assert_near("centre z later", p.center_of_mass[2], 0.7 + 0.2 * L / 2.0 * 0.5 - 0.5 * 9.81 * 0.25,
              1e-10);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  structure_free(&beam);
}

/// A rigid body on the beam's tip, everything in motion; the other end is clamped or free.
typedef struct loaded_beam {
  structure beam;
  as_model *model;
  as_body_id body;
} loaded_beam;

static loaded_beam open_loaded_beam(bool clamped, as_space_kind space, double size) {
  as_error error;
  loaded_beam x = {.beam = structure_beam(BEAM, beam_length, &section)};
  as_superelement_def def = structure_def(&x.beam);
  as_builder *b = open_builder(clamped ? 1.0 : 0.0);
  double v[6 * (BEAM + 1)] = {0};
  for (int i = 0; i <= BEAM; ++i) {
    const double s = (double)i / BEAM;
    v[6 * i + 1] = size * s * s;
    v[6 * i + 5] = size * 2.0 * s / beam_length;
    v[6 * i + 2] = -0.7 * size * s * s;
    v[6 * i + 4] = 0.7 * size * 2.0 * s / beam_length;
    v[6 * i + 3] = 0.5 * size * s;
  }
  def.velocity = v;
  const as_superelement_id id = add_superelement(b, &def);
  const as_body_id tip = add_node(b, "tip", id, BEAM);
  as_body_def body = as_default_body_def();
  body.space = space;
  body.mass = 0.5;
  const double inertia[6] = {0.02, 0.03, 0.04, 0.002, 0, -0.003};
  memcpy(body.inertia, inertia, sizeof inertia);
  body.position[0] = beam_length + 0.2;
  body.position[1] = 0.1;
  stop_if(as_builder_add_body(b, &body, &x.body, &error), &error);
  const double z[3] = {0, 0, 1}, end[3] = {beam_length, 0, 0}, origin[3] = {0};
  add_joint(b, AS_JOINT_FIXED, tip, x.body, end, z);
  if (clamped) add_joint(b, AS_JOINT_FIXED, AS_GROUND, add_node(b, "root", id, 0), origin, z);
  x.model = build(b);
  return x;
}

static void close_loaded_beam(loaded_beam *x) {
  as_model_destroy(x->model);
  structure_free(&x->beam);
}

enum { NUMBERS = 7 + 6 * (BEAM + 1), ROWS = 12 };

typedef struct snapshot {
  double q[NUMBERS], v[NUMBERS], vdot[NUMBERS], lambda[ROWS];
} snapshot;

static snapshot run_loaded_beam(const loaded_beam *x, as_method method, int steps) {
  snapshot out = {{0}, {0}, {0}, {0}};
  as_integrator *integrator = start(x->model, method, 0.8);
  for (int i = 0; i < steps; ++i) step(integrator, 0.2 / steps);
  const as_state *s = as_integrator_state(integrator);
  memcpy(out.q, s->q, NUMBERS * sizeof(double));
  memcpy(out.v, s->v, (NUMBERS - 1) * sizeof(double));
  memcpy(out.vdot, s->vdot, (NUMBERS - 1) * sizeof(double));
  memcpy(out.lambda, s->lambda, ROWS * sizeof(double));
  as_integrator_destroy(integrator);
  return out;
}

static void test_loaded_beam_order(void **state) {
  (void)state;
  for (int space = 0; space < 2; ++space) {
    loaded_beam x = open_loaded_beam(true, space ? AS_SPACE_SE3 : AS_SPACE_R3SO3, 0.5);
    for (int k = 0; k < 3; ++k) {
      const int coarsest = 800;
      const snapshot a = run_loaded_beam(&x, rig_methods[k], coarsest),
                     b = run_loaded_beam(&x, rig_methods[k], 2 * coarsest),
                     c = run_loaded_beam(&x, rig_methods[k], 4 * coarsest);
      print_message("  space %d, method %d: changes q %.2g v %.2g v' %.2g lambda %.2g\n", space, k,
                    distance(b.q, c.q, NUMBERS), distance(b.v, c.v, NUMBERS),
                    distance(b.vdot, c.vdot, NUMBERS), distance(b.lambda, c.lambda, ROWS));
      assert_second_order("q", distance(a.q, b.q, NUMBERS), distance(b.q, c.q, NUMBERS));
      assert_second_order("v", distance(a.v, b.v, NUMBERS), distance(b.v, c.v, NUMBERS));
      assert_second_order("v'", distance(a.vdot, b.vdot, NUMBERS),
                          distance(b.vdot, c.vdot, NUMBERS));
      assert_second_order("lambda", distance(a.lambda, b.lambda, ROWS),
                          distance(b.lambda, c.lambda, ROWS));
    }
    close_loaded_beam(&x);
  }
}

typedef struct drift {
  double energy, linear, angular;
} drift;

/// The largest changes of energy and momenta.
static drift drift_of(const loaded_beam *x, double h, double t_end) {
  as_error error;
  drift d = {0};
  as_integrator *integrator = start(x->model, AS_METHOD_INDEX2, 1.0);
  double energy0 = 0.0;
  as_momentum p0 = {0};
  for (int i = 0;; ++i) {
    const as_state *s = as_integrator_state(integrator);
    as_energy energy;
    as_momentum p;
    stop_if(as_model_energy(x->model, s, &energy, &error), &error);
    as_model_momentum(x->model, s, &p);
    const double total = energy.kinetic + energy.potential;
    if (i == 0) energy0 = total, p0 = p;
    d.energy = fmax(d.energy, fabs(total - energy0));
    d.linear = fmax(d.linear, distance(p.linear, p0.linear, 3));
    d.angular = fmax(d.angular, distance(p.angular, p0.angular, 3));
    if (s->t > t_end) break;
    step(integrator, h);
  }
  as_integrator_destroy(integrator);
  return d;
}

static void test_loaded_beam_energy(void **state) {
  (void)state;
  loaded_beam x = open_loaded_beam(true, AS_SPACE_R3SO3, 0.5);
  const drift coarse = drift_of(&x, 5e-4, 0.2), fine = drift_of(&x, 2.5e-4, 0.2);
  print_message("  energy drifts by %.2g and %.2g J\n", coarse.energy, fine.energy);
  assert_second_order("energy", coarse.energy, fine.energy);
  close_loaded_beam(&x);
}

/// Free in space: linear momentum stays as it is; angular momentum does to first order in the motion, since the
/// structure is linear: what it changes by goes with the square.
static void test_loaded_beam_momentum(void **state) {
  (void)state;
  drift d[2];
  for (int i = 0; i < 2; ++i) {
    loaded_beam x = open_loaded_beam(false, AS_SPACE_R3SO3, i ? 0.05 : 0.1);
    d[i] = drift_of(&x, 5e-4, 0.3);
    close_loaded_beam(&x);
  }
  print_message("  momentum drifts by %.2g, angular momentum by %.2g and %.2g\n", d[0].linear,
                d[0].angular, d[1].angular);
  for (int i = 0; i < 2; ++i) assert_true(d[i].linear < 1e-11);
  assert_second_order("angular momentum", d[0].angular, d[1].angular);
}

// ---- without mass, and assembled ----------------------------------------------------------------------

/// Three coordinates in a row; the last has a mass of its own, or is held to a point mass, or has none.
typedef enum last { OWN_MASS, HELD, MASSLESS } last;

static as_model *make_row(last kind) {
  as_error error;
  const as_entry mass[] = {{0, 0, 1.0}, {1, 1, 2.0}, {2, 2, 3.0}};
  const as_entry stiffness[] = {{0, 0, 100}, {0, 1, -50}, {1, 0, -50}, {1, 1, 100},
                                {1, 2, -50}, {2, 1, -50}, {2, 2, 60}};
  const double u[3] = {0.1, 0.0, 0.0};
  const as_superelement_node node = {{0}, {2, -1, -1, -1, -1, -1}};
  structure s = {.n = 3, .n_nodes = 1};
  stop_if(as_sparse_create(3, 3, mass, kind == OWN_MASS ? 3 : 2, &s.mass, &error), &error);
  stop_if(as_sparse_create(3, 3, stiffness, 7, &s.stiffness, &error), &error);
  as_superelement_def def = structure_def(&s);
  def.name = "row";
  def.node = &node;
  def.displacement = u;
  as_builder *b = open_builder(0.0);
  as_body_id end = AS_NO_BODY, body = AS_NO_BODY;
  if (kind == HELD) {
    as_body_def point = as_default_body_def();
    point.kind = AS_BODY_POINT;
    point.mass = 3.0;
    stop_if(as_builder_add_body(b, &point, &body, &error), &error);
  }
  end = add_node(b, "end", add_superelement(b, &def), 0);
  if (kind == HELD)
    add_joint(b, AS_JOINT_SPHERICAL, body, end, (const double[3]){0}, (const double[3]){0});
  structure_free(&s);
  return build(b);
}

/// A coordinate without mass moves with the body that it is held to; otherwise the start says which it is.
static void test_without_mass(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    as_model *own = make_row(OWN_MASS), *held = make_row(HELD);
    as_integrator *one = start(own, rig_methods[k], 0.8), *two = start(held, rig_methods[k], 0.8);
    for (int i = 0; i < 100; ++i) {
      step(one, 0.01);
      step(two, 0.01);
    }
    const as_state *s = as_integrator_state(one), *t = as_integrator_state(two);
    for (int i = 0; i < 3; ++i) {
      assert_near("displacement", t->q[3 + i], s->q[i], 1e-10);
      assert_near("acceleration", t->vdot[3 + i], s->vdot[i], 1e-7);
    }
    as_integrator_destroy(one);
    as_integrator_destroy(two);
    as_model_destroy(own);
    as_model_destroy(held);
  }
  as_error error;
  as_integrator *integrator = NULL;
  const as_integrator_def how = as_default_integrator_def();
  as_model *loose = make_row(MASSLESS);
  stop_if(as_integrator_create(as_model_problem(loose), &how, &integrator, &error), &error);
  assert_int_equal(as_integrator_start(integrator, as_model_initial(loose), NULL, &error),
                   AS_ERR_SINGULAR);
  assert_non_null(strstr(error.message, "superelement \"row\", coordinate 2"));
  as_integrator_destroy(integrator);
  as_model_destroy(loose);
}

/// A body drawn off the node it is to be pinned to: both are moved, by their masses, and the builder knows.
static void test_assembly(void **state) {
  (void)state;
  as_error error;
  structure bar = structure_bar(1, 1.0, 1.0, 6.0, false, false); // M = [2 1; 1 2]
  as_superelement_def def = structure_def(&bar);
  const double moving[2] = {0.3, 0.3};
  def.velocity = moving; // given, so that both sides give way
  as_builder *b = open_builder(0.0);
  const as_body_id end = add_node(b, "end", add_superelement(b, &def), 1);
  as_body_def point = as_default_body_def();
  as_body_id body;
  point.kind = AS_BODY_POINT;
  point.mass = 1.5; // as much as the end of the bar: det M / m_00
  point.position[0] = 1.2;
  point.velocity[0] = 0.7;
  stop_if(as_builder_add_body(b, &point, &body, &error), &error);
  as_frame_def frame = as_default_frame_def();
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_SPHERICAL;
  for (int i = 0; i < 2; ++i) {
    frame.body = i ? body : end;
    stop_if(as_builder_add_frame(b, &frame, &joint.frame[i], &error), &error);
  }
  stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  as_assembly_report report;
  stop_if(as_builder_assemble(b, &report, &error), &error);
  assert_near("gap", report.gap, 0.2, 1e-12);
  assert_near("largest move", report.largest_move, 0.1, 1e-12);
  // d = (-0.1, 0.2) of the bar and -0.2 of the point: 2 (0.01 - 0.02 + 0.04) + 1.5 0.04
  assert_near("change of velocity", report.velocity_change, sqrt(0.12), 1e-12);
  as_model *m = build(b);
  const as_initial *initial = as_model_initial(m);
  const double q[] = {1.1, 0, 0, -0.05, 0.1}, v[] = {0.5, 0, 0, 0.2, 0.5};
  for (int i = 0; i < 5; ++i) {
    assert_near("q", initial->q[i], q[i], 1e-12);
    assert_near("v", initial->v[i], v[i], 1e-12);
  }
  as_model_destroy(m);
  structure_free(&bar);
}

/// A start that changes given velocities of a superelement says so, and by which joint.
static void test_start_changes(void **state) {
  (void)state;
  as_error error;
  structure bar = structure_bar(1, 1.0, 1.0, 6.0, false, false); // M = [2 1; 1 2]
  const double rest[2] = {0.0, 0.0};
  for (int k = 0; k < 2; ++k) {
    as_superelement_def def = structure_def(&bar);
    def.name = "bar";
    def.velocity = k ? rest : NULL;
    as_builder *b = open_builder(0.0);
    as_joint_def joint = as_default_joint_def();
    as_body_def point = as_default_body_def();
    joint.body[0] = add_node(b, "end", add_superelement(b, &def), 1);
    point.name = "point";
    point.kind = AS_BODY_POINT;
    point.mass = 1.5;
    point.position[0] = joint.point[0] = 1.0;
    point.velocity[0] = 0.4;
    stop_if(as_builder_add_body(b, &point, &joint.body[1], &error), &error);
    joint.name = "hook";
    joint.kind = AS_JOINT_SPHERICAL;
    stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
    as_model *m = build(b);
    as_integrator *integrator;
    as_start_report report;
    as_start_change *change;
    int n;
    const as_integrator_def how = as_default_integrator_def();
    stop_if(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
    stop_if(as_integrator_start(integrator, as_model_initial(m), &report, &error), &error);
    const as_state *at = as_integrator_state(integrator);
    stop_if(as_model_start_changes(m, at, &report, &change, &n, &error), &error);
    assert_int_equal(n, k ? 2 : 0);
    assert_near("v", at->v[0], k ? 0.2 : 0.4, 1e-12);
    if (k) {
      char text[256];
      as_start_change_text(m, &change[1], text, sizeof text);
      assert_non_null(strstr(text, "Coordinate 1 of superelement \"bar\" starts with the velocity "
                                   "0.2 instead of 0 as given: joint \"hook\" demands it."));
    }
    as_start_changes_free(change);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
  structure_free(&bar);
}

// ---- large --------------------------------------------------------------------------------------------

static void test_fill(void **state) {
  (void)state;
  enum { LARGE = 10000 };
  as_error error = {0};
  structure bar = structure_bar(LARGE, 10.0, 1e6, 3.0, false, false);
  as_superelement_def def = structure_def(&bar);
  as_builder *b = open_builder(0.0);
  const as_superelement_id id = add_superelement(b, &def);
  as_body_def mass = as_default_body_def();
  as_body_id body;
  mass.mass = 2.0;
  mass.inertia[0] = mass.inertia[1] = mass.inertia[2] = 0.1;
  mass.position[0] = 10.0;
  mass.velocity[0] = 1.0;
  stop_if(as_builder_add_body(b, &mass, &body, &error), &error);
  const double x[3] = {1, 0, 0}, origin[3] = {0}, end[3] = {10.0, 0, 0};
  add_joint(b, AS_JOINT_POINT_ON_PLANE, AS_GROUND, add_node(b, "root", id, 0), origin, x);
  add_joint(b, AS_JOINT_PRISMATIC, AS_GROUND, body, end, x);
  add_joint(b, AS_JOINT_SPHERICAL, body, add_node(b, "end", id, LARGE), end, x);
  as_model *m = build(b);
  for (int k = 0; k < 3; ++k) {
    as_integrator *integrator = start(m, rig_methods[k], 0.8);
    for (int i = 0; i < 3; ++i) step(integrator, 1e-3);
    const asi_system *system = integrator->stepper.active;
    asi_elimination graph = {0};
    asi_solver *solver = NULL;
    asi_solver_info info;
    int culprit;
    stop_if(asi_order_by_graph(as_model_problem(m), system->size, &graph, &error), &error);
    stop_if(asi_sparse_lu_create(system->size, system->pattern.col_start, system->pattern.row,
                                 graph.order, ASI_ORDER_GIVEN, &solver, &error),
            &error);
    assert_int_equal(solver->ops->factor(solver, system->value, &culprit), AS_OK);
    solver->ops->info(solver, &info);
    const int entries = system->pattern.col_start[system->size];
    print_message("  method %d: %d unknowns, %d entries, %.0f in the factors\n", k, system->size,
                  entries, info.fill);
    assert_true(info.fill <= 1.5 * entries);
    solver->ops->destroy(solver);
    asi_elimination_free(&graph);
    as_integrator_destroy(integrator);
  }
  as_model_destroy(m);
  structure_free(&bar);
}

/// A node that turns about one axis only, by any coordinate, also the first one, can be held by a hinge.
static void test_turning_nodes(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k)
    for (int first = 0; first < 2; ++first) {
      as_error error;
      as_entry entries[4];
      as_sparse *unit = NULL;
      for (int i = 0; i < 4; ++i) entries[i] = (as_entry){i, i, 1.0};
      stop_if(as_sparse_create(4, 4, entries, 4, &unit, &error), &error);
      as_superelement_node node = {{0}, {1, 2, 3, -1, -1, -1}};
      node.coordinate[3 + k] = 0;
      if (!first) { // or the last one
        for (int i = 0; i < 3; ++i) node.coordinate[i] = i;
        node.coordinate[3 + k] = 3;
      }
      as_superelement_def def = as_default_superelement_def();
      def.mass = def.stiffness = unit;
      def.node = &node;
      def.n_nodes = 1;
      as_builder *b = open_builder(0.0);
      const as_body_id end = add_node(b, "end", add_superelement(b, &def), 0);
      const double origin[3] = {0}, axis[3] = {k == 0, k == 1, k == 2};
      const as_joint_id hinge = add_joint(b, AS_JOINT_REVOLUTE, AS_GROUND, end, origin, axis);
      as_model *m = build(b);
      const double rate = 0.7;
      double v[4] = {0}, value[AS_JOINT_COORDINATES], rates[AS_JOINT_COORDINATES];
      v[first ? 0 : 3] = rate;
      const as_state at = {.q = as_model_initial(m)->q, .v = v};
      stop_if(as_model_coordinates(m, &at, hinge, NULL, value, rates, &error), &error);
      assert_near("rate", rates[0], rate, 1e-12);
      as_model_destroy(m);
      as_sparse_destroy(unit);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_turning_nodes),      cmocka_unit_test(test_frequencies),
      cmocka_unit_test(test_bar_at_rest),        cmocka_unit_test(test_files),
      cmocka_unit_test(test_modal_solution),     cmocka_unit_test(test_empty_rows),
      cmocka_unit_test(test_masses_and_springs), cmocka_unit_test(test_cantilever),
      cmocka_unit_test(test_free_fall),          cmocka_unit_test(test_loaded_beam_order),
      cmocka_unit_test(test_loaded_beam_energy), cmocka_unit_test(test_loaded_beam_momentum),
      cmocka_unit_test(test_without_mass),       cmocka_unit_test(test_assembly),
      cmocka_unit_test(test_start_changes),      cmocka_unit_test(test_fill)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
