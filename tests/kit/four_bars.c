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

/// The crank i and the coupler from the one before.
static as_status add_four_bar(as_builder *b, int i, double psi, double rate, as_body_id *left,
                              as_error *error) {
  const double s = sin(psi), c = cos(psi);
  const rod across = {"coupler", i, true, i - 0.5 + s, c, rate * c, -rate * s, 0.0, 0.0};
  as_body_id right = AS_NONE, coupler = AS_NONE;
  as_status status = add_crank(b, i, psi, rate, &right, error);
  if (status == AS_OK) status = add_rod(b, &across, &coupler, error);
  if (status == AS_OK)
    status = add_pin(b, "left", i, (as_body_id[]){*left, coupler}, i - 1 + s, c, error);
  if (status == AS_OK)
    status = add_pin(b, "right", i, (as_body_id[]){coupler, right}, i + s, c, error);
  *left = right;
  return status;
}

as_model *four_bars_build(int N, double psi, double rate, as_error *error) {
  as_builder *b = NULL;
  as_model *model = NULL;
  as_body_id left = AS_NONE;
  if (as_builder_create(&(as_model_def){.gravity = {0, -gravity, 0}}, &b, error)) return NULL;
  as_status status = add_crank(b, 0, psi, rate, &left, error);
  for (int i = 1; i <= N && status == AS_OK; ++i)
    status = add_four_bar(b, i, psi, rate, &left, error);
  if (status == AS_OK) status = as_builder_build(b, &model, error);
  as_builder_destroy(b);
  return status ? NULL : model;
}

void four_bars_move(int N, double t, double *psi, double *rate) {
  const double k = gravity * (0.5 * (N + 1) + N) / ((N + 1) / 3.0 + N);
  const int steps = 100 + (int)(20000.0 * t);
  const double h = t / steps;
  double p = *psi, w = *rate;
  for (int i = 0; i < steps; ++i) {
    const double a1 = k * sin(p), w2 = w + 0.5 * h * a1, a2 = k * sin(p + 0.5 * h * w);
    const double w3 = w + 0.5 * h * a2, a3 = k * sin(p + 0.5 * h * w2);
    const double w4 = w + h * a3, a4 = k * sin(p + h * w3);
    p += h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4);
    w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  *psi = p;
  *rate = w;
}

double four_bars_error(const as_model *model, const as_state *state, double psi, double rate) {
  const double s = sin(psi), c = cos(psi);
  double largest = 0.0;
  for (int i = 0; i < as_model_bodies(model); ++i) {
    as_body_motion motion;
    if (strncmp(as_model_body_name(model, i), "crank", 5) != 0) continue;
    const int number = atoi(as_model_body_name(model, i) + 6);
    as_model_body_motion(model, state, i, &motion);
    largest = fmax(largest, fabs(motion.x[0] - number - 0.5 * s));
    largest = fmax(largest, fabs(motion.x[1] - 0.5 * c));
    largest = fmax(largest, fabs(motion.v[0] - 0.5 * rate * c) / 3.5);
    largest = fmax(largest, fabs(motion.v[1] + 0.5 * rate * s) / 3.5);
  }
  return largest;
}
