/// Friction in joints, see friction.h. With c_j the rates of the joint's coordinates (rates.c), the element pulls with
///
///     f = -sum of c_j,v^T tau_j        tau_j = d_j c_j + mu sum over pads of N l_j y_j/S
///     y_j = l_j c_j,  S = sqrt(|y|^2 + speed^2)         the direction of sliding, smooth where it turns round
///     N = |e|^2/sqrt(|e|^2 + small^2),  e = P load      the normal force, smooth where it vanishes
///     mu a number, or a function of |y|
///
/// d_j is viscous damping; l_j are a pad's levers. Loads are the joint's force F and moment M on the second body in the
/// axes of A, linear in its multipliers; where these are a force in the world, F = A^T lambda turns with A:
/// D F_k = (a_k x R_a^T lambda) . dtheta_a. Pads:
///
///     two ends of a bearing or guide of length L:  e = (F_x/2 +- M_y/L, F_y/2 -+ M_x/L);  L = 0: one, e = (F_x, F_y)
///     shoulder of a pin: e = F_z      a guide that is kept from turning, at half its width r: e = M_z/r
///     ball: e = F
///
/// Tangents, with N_e = e (|e|^2 + 2 small^2)/(|e|^2 + small^2)^(3/2):
///
///     tau_j by c_i: d_j delta_ij + N l_j l_i (mu (delta_ij/S - y_j y_i/S^3) + mu' y_j y_i/(S |y|))
///     by the loads: mu l_j y_j/S N_e P
///     f_q = -c_j,v^T (tau_j,c_i c_i,q + tau_j,q) + D(-c_j,v^T tau_j)   f_v = -c_j,v^T tau_j,c_i c_i,v
#include "elements/friction.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/rates.h"
#include "elements/vector.h"

enum { FX, FY, FZ, MX, MY, MZ };

// ---- pads -------------------------------------------------------------------------------------------

static asi_pad *new_pad(asi_friction *f) { return &f->pad[f->n_pads++]; }

/// The lateral force, and moments over the length.
static void put_bearing(asi_friction *f, double length, const double lever[ASI_FRICTION_RATES]) {
  const int ends = length > 0.0 ? 2 : 1;
  for (int k = 0; k < ends; ++k) {
    asi_pad *pad = new_pad(f);
    pad->press[0][FX] = pad->press[1][FY] = 1.0 / ends;
    if (ends == 2) {
      const double side = k == 0 ? 1.0 : -1.0;
      pad->press[0][MY] = side / length;
      pad->press[1][MX] = -side / length;
    }
    memcpy(pad->lever, lever, sizeof pad->lever);
  }
}

static void set_loads(asi_friction *f, bool in_world, const int *load, int n) {
  f->in_world = in_world;
  f->n_read = n;
  memcpy(f->load, load, (size_t)n * sizeof(int));
}

bool asi_friction_is_known(as_joint_kind kind) {
  return kind == AS_JOINT_REVOLUTE || kind == AS_JOINT_PRISMATIC || kind == AS_JOINT_CYLINDRICAL ||
         kind == AS_JOINT_SPHERICAL;
}

void asi_friction_compose(asi_friction *f, as_joint_kind kind, double radius, double length,
                          double shoulder) {
  static const int point[] = {FX, FY, FZ, MX, MY}, guide[] = {FX, FY, MX, MY, MZ};
  if (kind == AS_JOINT_REVOLUTE) {
    set_loads(f, true, point, 5);
    put_bearing(f, length, (double[]){radius, 0.0, 0.0});
    if (shoulder > 0.0) {
      asi_pad *pad = new_pad(f);
      pad->press[0][FZ] = 1.0;
      pad->lever[0] = shoulder;
    }
  } else if (kind == AS_JOINT_PRISMATIC) {
    set_loads(f, false, guide, 5);
    put_bearing(f, length, (double[]){1.0, 0.0, 0.0});
    if (radius > 0.0) {
      asi_pad *pad = new_pad(f);
      pad->press[0][MZ] = 1.0 / radius;
      pad->lever[0] = 1.0;
    }
  } else if (kind == AS_JOINT_CYLINDRICAL) {
    set_loads(f, false, guide, 4);
    put_bearing(f, length, (double[]){1.0, radius, 0.0});
  } else if (kind == AS_JOINT_SPHERICAL) {
    set_loads(f, true, point, 3);
    asi_pad *pad = new_pad(f);
    for (int k = 0; k < 3; ++k) {
      pad->press[k][k] = 1.0;
      pad->lever[k] = radius;
    }
  }
}

void asi_friction_pattern(const asi_friction *f, bool *f_q, bool *f_v, bool *f_lambda) {
  bool shifts = false;
  for (int j = 0; j < f->n_coordinates; ++j)
    shifts = shifts || f->coordinate[j].kind == ASI_COORDINATE_SHIFT;
  for (int i = 0; i < ASI_PAIR; ++i) { // without shifts there are only turns and torques
    if (!shifts && i % 6 < 3) continue;
    for (int k = 0; k < ASI_PAIR; ++k)
      f_q[i * ASI_PAIR + k] = f_v[i * ASI_PAIR + k] = shifts || k % 6 >= 3;
    for (int r = 0; r < f->n_read; ++r) f_lambda[i * f->n_read + r] = true;
  }
}

// ---- evaluation -------------------------------------------------------------------------------------

/// The joint's loads, by its multipliers and by turning A.
typedef struct loads {
  double value[ASI_LOADS];
  double by_read[ASI_LOADS][AS_ELEMENT_ROWS];
  double by_turn[ASI_LOADS][3];
} loads;

static void find_loads(const asi_friction *f, const as_element_input *in, loads *out) {
  memset(out, 0, sizeof *out);
  for (int r = 0; r < f->n_read; ++r) {
    if (f->in_world && r < 3) continue;
    out->value[f->load[r]] = in->read[r];
    out->by_read[f->load[r]][r] = 1.0;
  }
  if (!f->in_world) return;
  const double *R = in->body[0]->R;
  double force[3]; // in the axes of the first body
  asi_rotate_back(R, in->read, force);
  for (int k = 0; k < 3; ++k) {
    const double *axis = f->frame[0].axis + 3 * k;
    out->value[k] = asi_dot(axis, force);
    asi_rotate(R, axis, out->by_read[k]);
    asi_cross(axis, force, out->by_turn[k]);
  }
}

/// What resists each rate, and its derivatives.
typedef struct resistance {
  double tau[AS_JOINT_COORDINATES];
  double by_rate[AS_JOINT_COORDINATES][AS_JOINT_COORDINATES];
  double by_read[AS_JOINT_COORDINATES][AS_ELEMENT_ROWS];
  double by_turn[AS_JOINT_COORDINATES][3];
} resistance;

/// The normal force of a pad and its gradient by the loads.
static double normal_force(const asi_friction *f, const asi_pad *pad, const loads *load,
                           double gradient[ASI_LOADS]) {
  double e[3] = {0};
  for (int k = 0; k < 3; ++k)
    for (int m = 0; m < ASI_LOADS; ++m) e[k] += pad->press[k][m] * load->value[m];
  const double e2 = asi_dot(e, e), s2 = e2 + f->small * f->small, s = sqrt(s2);
  for (int m = 0; m < ASI_LOADS; ++m) {
    gradient[m] = 0.0;
    for (int k = 0; k < 3; ++k)
      gradient[m] += e[k] * (s2 + f->small * f->small) / (s2 * s) * pad->press[k][m];
  }
  return e2 / s;
}

/// How a pad slides: y_j; returns |y|^2.
static double slide(const asi_friction *f, const asi_pad *pad, const asi_rate *rate,
                    double y[ASI_FRICTION_RATES]) {
  double y2 = 0.0;
  memset(y, 0, ASI_FRICTION_RATES * sizeof(double));
  for (int j = 0; j < f->n_coordinates; ++j) {
    y[j] = pad->lever[j] * rate[j].value;
    y2 += y[j] * y[j];
  }
  return y2;
}

static int add_pad(const asi_friction *f, const asi_pad *pad, const as_element_input *in,
                   const loads *load, const asi_rate *rate, resistance *out) {
  double gradient[ASI_LOADS], y[ASI_FRICTION_RATES], mu[2];
  const int n = f->n_coordinates;
  const double y2 = slide(f, pad, rate, y);
  const int code = asi_coefficient_evaluate(&f->coefficient, in, sqrt(y2), mu);
  if (code) return code;
  const double N = normal_force(f, pad, load, gradient);
  const double S2 = y2 + f->speed * f->speed, S = sqrt(S2);
  const double slope =
      y2 > 0.0 ? mu[1] / sqrt(y2) : 0.0; // where there is no sliding y_j y_i/|y| = 0
  for (int j = 0; j < n; ++j) {
    const double share = pad->lever[j] * y[j] / S;
    out->tau[j] += mu[0] * N * share;
    for (int i = 0; i < n; ++i)
      out->by_rate[j][i] += N * pad->lever[j] * pad->lever[i] *
                            (mu[0] * ((i == j) - y[j] * y[i] / S2) + slope * y[j] * y[i]) / S;
    for (int m = 0; m < ASI_LOADS; ++m) {
      const double weight = mu[0] * share * gradient[m];
      for (int r = 0; r < f->n_read; ++r) out->by_read[j][r] += weight * load->by_read[m][r];
      asi_add(weight, load->by_turn[m], out->by_turn[j]);
    }
  }
  return AS_DONE;
}

static int resist(const asi_friction *f, const as_element_input *in, const asi_pair *pair,
                  asi_rate rate[AS_JOINT_COORDINATES], resistance *out) {
  memset(out, 0, sizeof *out);
  for (int j = 0; j < f->n_coordinates; ++j) {
    asi_rate_evaluate(pair, f->coordinate[j], &rate[j]);
    out->tau[j] = f->damping[j] * rate[j].value;
    out->by_rate[j][j] = f->damping[j];
  }
  if (f->n_pads == 0) return AS_DONE;
  loads load;
  find_loads(f, in, &load);
  int code = AS_DONE;
  for (int k = 0; k < f->n_pads && code == AS_DONE; ++k)
    code = add_pad(f, &f->pad[k], in, &load, rate, out);
  return code;
}

/// -c_j,v^T row, into a matrix of so many columns.
static void add_rows(const asi_rate *rate, const double *row, int columns, double *out) {
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int k = 0; k < columns; ++k) out[i * columns + k] -= rate->by_v[i] * row[k];
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_friction *f = data;
  const asi_pair pair = asi_rate_pair(in, f->frame);
  asi_rate rate[AS_JOINT_COORDINATES];
  resistance r;
  const int code = resist(f, in, &pair, rate, &r);
  if (code) return code;
  for (int j = 0; j < f->n_coordinates; ++j) {
    double by_v[ASI_PAIR] = {0}, by_q[ASI_PAIR] = {0};
    for (int i = 0; i < f->n_coordinates; ++i)
      for (int k = 0; k < ASI_PAIR; ++k) {
        by_v[k] += r.by_rate[j][i] * rate[i].by_v[k];
        by_q[k] += r.by_rate[j][i] * rate[i].by_q[k];
      }
    asi_add(1.0, r.by_turn[j], by_q + ASI_TA);
    if (out->force) add_rows(&rate[j], &r.tau[j], 1, out->force);
    if (out->f_v) add_rows(&rate[j], by_v, ASI_PAIR, out->f_v);
    if (out->f_q) add_rows(&rate[j], by_q, ASI_PAIR, out->f_q);
    if (out->f_q) asi_rate_curvature(&pair, f->coordinate[j], r.tau[j], out->f_q);
    if (out->f_lambda) add_rows(&rate[j], r.by_read[j], f->n_read, out->f_lambda);
  }
  return AS_DONE;
}

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  const asi_friction *f = data;
  const asi_pair pair = asi_rate_pair(in, f->frame);
  asi_rate rate[AS_JOINT_COORDINATES];
  loads load;
  int code = AS_DONE;
  memset(out, 0, (size_t)n * ASI_PAIR * sizeof(double));
  find_loads(f, in, &load);
  for (int j = 0; j < f->n_coordinates; ++j) asi_rate_evaluate(&pair, f->coordinate[j], &rate[j]);
  for (int k = 0; k < n; ++k, out += ASI_PAIR)
    for (int p = 0; p < f->n_pads && code == AS_DONE; ++p) {
      double by_load[ASI_LOADS], y[ASI_FRICTION_RATES], by;
      const double y2 = slide(f, &f->pad[p], rate, y), S = sqrt(y2 + f->speed * f->speed);
      const double N = normal_force(f, &f->pad[p], &load, by_load);
      code = asi_coefficient_by_slot(&f->coefficient, in, sqrt(y2), slot[k], &by);
      for (int j = 0; j < f->n_coordinates && code == AS_DONE; ++j) {
        const double tau = by * N * f->pad[p].lever[j] * y[j] / S;
        add_rows(&rate[j], &tau, 1, out);
      }
    }
  return code;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_friction *f = data;
  const asi_pair pair = asi_rate_pair(in, f->frame);
  asi_rate rate[AS_JOINT_COORDINATES];
  resistance r;
  if (resist(f, in, &pair, rate, &r)) out->dissipated = (double)NAN;
  for (int j = 0; j < f->n_coordinates; ++j) out->dissipated += r.tau[j] * rate[j].value;
}

const as_element_type asi_friction_type = {"joint friction", evaluate, NULL, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("friction", ((const asi_friction *)data)->frame, out);
}

static int formulas(const void *data, const asi_formula **out) {
  return asi_curve_formulas(((const asi_friction *)data)->coefficient.law.curve, out);
}

const asi_descriptor asi_friction_descriptor = {
    .type = &asi_friction_type, .formulas = formulas, .by_slots = by_slots, .draw = draw};
