#include "four_bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81;

/// A rod of 1 m and 1 kg at (x, y, 0), along y or x before it is turned about z by -psi.
typedef struct rod {
  const char *kind;
  int number;
  bool along_x;
  double x, y, vx, vy, psi, rate;
} rod;

static as_status add_rod(as_builder *b, const rod *r, as_body_id *id, as_error *error) {
  as_body_def def = as_default_body_def();
  char name[32];
  snprintf(name, sizeof name, "%s %d", r->kind, r->number);
  def.name = name;
  def.mass = 1.0;
  for (int k = 0; k < 3; ++k) def.inertia[k] = 1.0 / 12.0;
  def.inertia[r->along_x ? 0 : 1] = 1e-4;
  def.position[0] = r->x;
  def.position[1] = r->y;
  def.quaternion[0] = cos(0.5 * r->psi);
  def.quaternion[3] = -sin(0.5 * r->psi);
  def.velocity[0] = r->vx;
  def.velocity[1] = r->vy;
  def.angular_velocity[2] = -r->rate;
  return as_builder_add_body(b, &def, id, error);
}

static as_status add_pin(as_builder *b, const char *kind, int number, const as_body_id body[2],
                         double x, double y, as_error *error) {
  as_joint_def def = as_default_joint_def();
  char name[32];
  snprintf(name, sizeof name, "%s %d", kind, number);
  def.name = name;
  def.kind = AS_JOINT_REVOLUTE;
  memcpy(def.body, body, sizeof def.body);
  def.point[0] = x;
  def.point[1] = y;
  memcpy(def.axis, (double[]){0, 0, 1}, sizeof def.axis);
  return as_builder_add_joint(b, &def, NULL, error);
}

/// The crank i and its pin.
static as_status add_crank(as_builder *b, int i, double psi, double rate, as_body_id *id,
                           as_error *error) {
  const double s = sin(psi), c = cos(psi);
  const rod crank = {"crank",         i,   false, i + 0.5 * s, 0.5 * c, 0.5 * rate * c,
                     -0.5 * rate * s, psi, rate};
  const as_status status = add_rod(b, &crank, id, error);
  return status ? status : add_pin(b, "pin", i, (as_body_id[]){AS_GROUND, *id}, i, 0.0, error);
}

/// The crank i and the coupler from the one before, at arms of this angle.
static as_status add_four_bar(as_builder *b, int i, double psi, double rate, double arm,
                              as_body_id *left, as_error *error) {
  const double s = sin(arm), c = cos(arm);
  const rod across = {"coupler", i, true, i - 0.5 + s, c, rate * c, -rate * s, 0.0, 0.0};
  as_body_id right = AS_NO_BODY, coupler = AS_NO_BODY;
  as_status status = add_crank(b, i, psi, rate, &right, error);
  if (status == AS_OK) status = add_rod(b, &across, &coupler, error);
  if (status == AS_OK)
    status = add_pin(b, "left", i, (as_body_id[]){*left, coupler}, i - 1 + s, c, error);
  if (status == AS_OK)
    status = add_pin(b, "right", i, (as_body_id[]){coupler, right}, i + s, c, error);
  *left = right;
  return status;
}

static as_status add_spring(as_builder *b, as_body_id crank, double stiffness, double damping,
                            as_error *error) {
  as_torsion_def def = as_default_torsion_def();
  def.name = "spring";
  def.body[0] = AS_GROUND;
  def.body[1] = crank;
  memcpy(def.axis, (double[]){0, 0, 1}, sizeof def.axis);
  def.stiffness = stiffness;
  def.damping = damping;
  return stiffness > 0.0 || damping > 0.0 ? as_builder_add_torsion(b, &def, NULL, error) : AS_OK;
}

static as_builder *make_builder(as_error *error) {
  as_builder *b = NULL;
  as_builder_create(&(as_model_def){.gravity = {0, -gravity, 0}}, &b, error);
  return b;
}

static as_model *finish(as_builder *b, as_status status, as_error *error) {
  as_model *model = NULL;
  if (status == AS_OK) status = as_builder_build(b, &model, error);
  as_builder_destroy(b);
  return status ? NULL : model;
}

as_model *four_bars_build(const four_bars *f, double psi, double rate, as_error *error) {
  as_builder *b = make_builder(error);
  as_body_id left = AS_NO_BODY;
  if (b == NULL) return NULL;
  as_status status = add_crank(b, 0, psi, rate, &left, error);
  if (status == AS_OK) status = add_spring(b, left, f->stiffness, f->damping, error);
  for (int i = 1; i <= f->N && status == AS_OK; ++i)
    status = add_four_bar(b, i, psi, rate, psi + (i - 1) * f->bend, &left, error);
  return finish(b, status, error);
}

/// Of all together: the moment of inertia [kg m^2], and where which mass is, times its distance [kg m].
typedef struct reduced {
  double inertia, upright, aside;
} reduced;

static reduced reduce(const four_bars *f) {
  reduced r = {(f->N + 1) / 3.0 + f->N, 0.5 * (f->N + 1), 0.0};
  for (int i = 0; i < f->N; ++i) {
    r.upright += cos(i * f->bend);
    r.aside += sin(i * f->bend);
  }
  return r;
}

as_model *four_bars_build_twin(const four_bars *f, double psi, double rate, double *ahead,
                               as_error *error) {
  const reduced r = reduce(f);
  const double inertia = 0.5 * r.inertia / hypot(r.upright, r.aside), share = inertia / r.inertia;
  as_body_def def = as_default_body_def();
  as_body_id crank = AS_NO_BODY;
  as_builder *b = make_builder(error);
  if (b == NULL) return NULL;
  *ahead = atan2(r.aside, r.upright);
  const double angle = psi + *ahead, s = sin(angle), c = cos(angle);
  def.name = "crank 0";
  def.mass = 1.0;
  for (int k = 0; k < 3; ++k) def.inertia[k] = inertia - 0.25;
  memcpy(def.position, (double[]){0.5 * s, 0.5 * c, 0}, sizeof def.position);
  memcpy(def.velocity, (double[]){0.5 * rate * c, -0.5 * rate * s, 0}, sizeof def.velocity);
  def.quaternion[0] = cos(0.5 * angle);
  def.quaternion[3] = -sin(0.5 * angle);
  def.angular_velocity[2] = -rate;
  as_status status = as_builder_add_body(b, &def, &crank, error);
  if (status == AS_OK)
    status = add_pin(b, "pin", 0, (as_body_id[]){AS_GROUND, crank}, 0.0, 0.0, error);
  if (status == AS_OK)
    status = add_spring(b, crank, share * f->stiffness, share * f->damping, error);
  return finish(b, status, error);
}

void four_bars_move(const four_bars *f, double t, double *psi, double *rate) {
  const reduced r = reduce(f);
  const double up = gravity * r.upright / r.inertia, aside = gravity * r.aside / r.inertia;
  const double spring = f->stiffness / r.inertia, damper = f->damping / r.inertia, start = *psi;
  const int steps = 100 + (int)(20000.0 * t);
  const double h = t / steps;
  double p = *psi, w = *rate;
  for (int i = 0; i < steps; ++i) {
    double a[4] = {0}, v[4] = {0};
    for (int k = 0; k < 4; ++k) {
      const double ahead = k == 0 ? 0.0 : k == 3 ? h : 0.5 * h;
      const double at = k == 0 ? p : p + ahead * v[k - 1];
      v[k] = k == 0 ? w : w + ahead * a[k - 1];
      a[k] = up * sin(at) + aside * cos(at) - spring * (at - start) - damper * v[k];
    }
    p += h / 6.0 * (v[0] + 2.0 * v[1] + 2.0 * v[2] + v[3]);
    w += h / 6.0 * (a[0] + 2.0 * a[1] + 2.0 * a[2] + a[3]);
  }
  *psi = p;
  *rate = w;
}

double four_bars_angle_error(const as_model *model, const as_state *state, double psi,
                             double rate) {
  as_body_motion motion;
  as_model_body_motion(model, state, (as_body_id){0}, &motion);
  const double x = sin(psi), y = cos(psi);
  const double angle = atan2(motion.x[0] * y - motion.x[1] * x, motion.x[0] * x + motion.x[1] * y);
  return fmax(fabs(angle), fabs(-motion.omega[2] - rate) / 6.0);
}

double four_bars_error(const as_model *model, const as_state *state, double psi, double rate) {
  const double s = sin(psi), c = cos(psi);
  double largest = 0.0;
  for (int i = 0; i < as_model_bodies(model); ++i) {
    as_body_motion motion;
    if (strncmp(as_model_body_name(model, (as_body_id){i}), "crank", 5) != 0) continue;
    const int number = atoi(as_model_body_name(model, (as_body_id){i}) + 6);
    as_model_body_motion(model, state, (as_body_id){i}, &motion);
    largest = fmax(largest, fabs(motion.x[0] - number - 0.5 * s));
    largest = fmax(largest, fabs(motion.x[1] - 0.5 * c));
    largest = fmax(largest, fabs(motion.v[0] - 0.5 * rate * c) / 3.5);
    largest = fmax(largest, fabs(motion.v[1] + 0.5 * rate * s) / 3.5);
  }
  return largest;
}
