/// Andrews' squeezer mechanism, Test Set for IVP Solvers: 7 planar bodies, 6 loop conditions, M(q).
///
/// q = (beta, Theta, gamma, phi, delta, Omega, epsilon). The bodies' absolute angles are sums
/// of these,
///
///     theta = (beta, beta + Theta, gamma, phi + delta, delta, Omega + epsilon, epsilon) = S q
///
/// and every point is a fixed one plus bars c_i that turn with them, p = p0 + sum_i R_i c_i.
/// With e_i = R_i c_i and n_i = e_i turned by 90 degrees, p' = sum n_i w_i and
/// p'' = sum n_i w_i' - e_i w_i^2. Summed over the centres of mass (with mass m, inertia I):
///
///     M_ij = I_i d_ij + sum m e_i . e_j        f_i = sum m n_i . sum_j e_j w_j^2 + torque_i
///
/// in theta; S^T M S and S^T f in q. The torques are `mom` on K1 and that of the spring C-D on K3.
/// The point E of K2 is also that of K3, K4 and K6: these are the constraints, in this order.
///
/// exact() is a table from an extrapolation in 128 bits: t = 0, 0.01, 0.02, 0.03 only.
#include <math.h>
#include <stddef.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

enum { N = 7, N_LAMBDA = 6, MAX_BARS = 2 };
enum { K1, K2, K3, K4, K5, K6, K7 };

/// A bar: the vector c, fixed to body `body`.
typedef struct bar {
  int body;
  double c[2]; ///< [m]
} bar;

/// A point p0 + sum of bars.
typedef struct place {
  int n_bars;
  bar bars[MAX_BARS];
  double p0[2]; ///< [m]
} place;

typedef struct andrews {
  double m[N];      ///< [kg]
  double I[N];      ///< about the centre of mass [kg m^2]
  place centre[N];  ///< the centres of mass
  place E[4];       ///< the point E as seen from K2, K3, K4, K6
  place D;          ///< where the spring ends
  double C[2];      ///< where it begins [m]
  double stiffness; ///< c0 [N/m]
  double rest;      ///< l0 [m]
  double torque;    ///< mom [N m]
} andrews;

// theta = S q: body k turns with q[k] and, for these, with q[TURNS_WITH[k]].
static const int TURNS_WITH[N] = {-1, 0, -1, 4, -1, 6, -1};

static void to_absolute(const double *x, double *out) {
  for (int k = 0; k < N; k++) {
    out[k] = x[k] + (TURNS_WITH[k] >= 0 ? x[TURNS_WITH[k]] : 0.0);
  }
}

/// Adds x at absolute angle k of a row to the columns of q.
static void add_column(as_matrix *m, int row, int k, double x) {
  as_matrix_add(m, row, k, x);
  if (TURNS_WITH[k] >= 0) {
    as_matrix_add(m, row, TURNS_WITH[k], x);
  }
}

/// Adds x at absolute angles (i, k): S^T ... S.
static void add_both(as_matrix *m, int i, int k, double x) {
  add_column(m, i, k, x);
  if (TURNS_WITH[i] >= 0) {
    add_column(m, TURNS_WITH[i], k, x);
  }
}

/// f = S^T torque
static void from_absolute(const double *torque, double *out) {
  for (int k = 0; k < N; k++) {
    out[k] = 0.0;
  }
  for (int k = 0; k < N; k++) {
    out[k] += torque[k];
    if (TURNS_WITH[k] >= 0) {
      out[TURNS_WITH[k]] += torque[k];
    }
  }
}

typedef struct vec2 {
  double x, y;
} vec2;

static double dot(vec2 a, vec2 b) { return a.x * b.x + a.y * b.y; }

/// a + s b
static vec2 plus(vec2 a, double s, vec2 b) { return (vec2){a.x + s * b.x, a.y + s * b.y}; }

/// e = R c
static vec2 bar_e(const bar *b, const double *theta) {
  double s = sin(theta[b->body]), c = cos(theta[b->body]);
  return (vec2){c * b->c[0] - s * b->c[1], s * b->c[0] + c * b->c[1]};
}

/// n = dR/dtheta c
static vec2 bar_n(const bar *b, const double *theta) {
  vec2 e = bar_e(b, theta);
  return (vec2){-e.y, e.x};
}

static vec2 place_at(const place *p, const double *theta) {
  vec2 sum = {p->p0[0], p->p0[1]};
  for (int i = 0; i < p->n_bars; i++) {
    sum = plus(sum, 1.0, bar_e(&p->bars[i], theta));
  }
  return sum;
}

/// sum n_i w_i
static vec2 place_rate(const place *p, const double *theta, const double *w) {
  vec2 sum = {0.0, 0.0};
  for (int i = 0; i < p->n_bars; i++) {
    sum = plus(sum, w[p->bars[i].body], bar_n(&p->bars[i], theta));
  }
  return sum;
}

/// sum e_i w_i^2, minus the point's acceleration at w' = 0
static vec2 place_inward(const place *p, const double *theta, const double *w) {
  vec2 sum = {0.0, 0.0};
  for (int i = 0; i < p->n_bars; i++) {
    double rate = w[p->bars[i].body];
    sum = plus(sum, rate * rate, bar_e(&p->bars[i], theta));
  }
  return sum;
}

/// The spring's force on D.
static vec2 spring_force(const andrews *a, const double *theta) {
  vec2 D = place_at(&a->D, theta);
  vec2 d = {D.x - a->C[0], D.y - a->C[1]};
  double s = a->stiffness * (a->rest / hypot(d.x, d.y) - 1.0);
  return (vec2){s * d.x, s * d.y};
}

// Callbacks.

static int mass(const as_point *at, as_matrix *m, void *user) {
  const andrews *a = user;
  double theta[N];
  to_absolute(at->q, theta);
  for (int k = 0; k < N; k++) {
    const place *p = &a->centre[k];
    add_both(m, k, k, a->I[k]);
    for (int i = 0; i < p->n_bars; i++) {
      for (int j = 0; j < p->n_bars; j++) {
        double x = dot(bar_e(&p->bars[i], theta), bar_e(&p->bars[j], theta));
        add_both(m, p->bars[i].body, p->bars[j].body, a->m[k] * x);
      }
    }
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const andrews *a = user;
  double theta[N], w[N], torque[N] = {0};
  to_absolute(at->q, theta);
  to_absolute(at->v, w);
  for (int k = 0; k < N; k++) {
    const place *p = &a->centre[k];
    vec2 inward = place_inward(p, theta, w);
    for (int i = 0; i < p->n_bars; i++) {
      torque[p->bars[i].body] += a->m[k] * dot(bar_n(&p->bars[i], theta), inward);
    }
  }
  torque[K1] += a->torque;
  torque[K3] += dot(spring_force(a, theta), bar_n(&a->D.bars[0], theta));
  from_absolute(torque, out);
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const andrews *a = user;
  double theta[N];
  to_absolute(at->q, theta);
  for (int k = 0; k < 3; k++) {
    vec2 gap = plus(place_at(&a->E[0], theta), -1.0, place_at(&a->E[k + 1], theta));
    out[2 * k] = gap.x;
    out[2 * k + 1] = gap.y;
  }
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const andrews *a = user;
  double theta[N], w[N];
  to_absolute(at->q, theta);
  to_absolute(at->v, w);
  for (int k = 0; k < 3; k++) {
    vec2 gap = plus(place_rate(&a->E[0], theta, w), -1.0, place_rate(&a->E[k + 1], theta, w));
    out[2 * k] = gap.x;
    out[2 * k + 1] = gap.y;
  }
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const andrews *a = user;
  double theta[N], w[N];
  to_absolute(at->q, theta);
  to_absolute(at->v, w);
  for (int k = 0; k < 3; k++) {
    vec2 gap = plus(place_inward(&a->E[k + 1], theta, w), -1.0, place_inward(&a->E[0], theta, w));
    out[2 * k] = gap.x;
    out[2 * k + 1] = gap.y;
  }
  return AS_DONE;
}

/// Adds a point's part in the rows of constraint k, where it counts with the sign s.
static void add_place(const place *p, const double *theta, const double *w, const double *lambda,
                      as_block_set wanted, as_matrix *blocks, int k, double s) {
  for (int i = 0; i < p->n_bars; i++) {
    int body = p->bars[i].body;
    vec2 e = bar_e(&p->bars[i], theta), n = bar_n(&p->bars[i], theta);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
      add_column(&blocks[AS_BLOCK_G_Q], 2 * k, body, s * n.x);
      add_column(&blocks[AS_BLOCK_G_Q], 2 * k + 1, body, s * n.y);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
      add_column(&blocks[AS_BLOCK_GDOT_Q], 2 * k, body, -s * w[body] * e.x);
      add_column(&blocks[AS_BLOCK_GDOT_Q], 2 * k + 1, body, -s * w[body] * e.y);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) { // of -s n . lambda
      vec2 l = {lambda[2 * k], lambda[2 * k + 1]};
      add_both(&blocks[AS_BLOCK_F_Q], body, body, s * dot(e, l));
    }
  }
}

/// D_q (M v'), D_q f0, D_v f0 of the centre of mass k.
static void add_centre(const place *p, double m, const double *theta, const double *w,
                       const double *alpha, as_block_set wanted, as_matrix *blocks) {
  vec2 inward = place_inward(p, theta, w);
  for (int i = 0; i < p->n_bars; i++) {
    int row = p->bars[i].body;
    vec2 e = bar_e(&p->bars[i], theta), n = bar_n(&p->bars[i], theta);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
      add_both(&blocks[AS_BLOCK_MA_Q], row, row, -m * dot(e, place_rate(p, theta, alpha)));
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
      add_both(&blocks[AS_BLOCK_F_Q], row, row, -m * dot(e, inward));
    }
    for (int j = 0; j < p->n_bars; j++) {
      int col = p->bars[j].body;
      vec2 ej = bar_e(&p->bars[j], theta), nj = bar_n(&p->bars[j], theta);
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
        add_both(&blocks[AS_BLOCK_MA_Q], row, col, -m * dot(n, ej) * alpha[col]);
      }
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
        add_both(&blocks[AS_BLOCK_F_Q], row, col, m * dot(n, nj) * w[col] * w[col]);
      }
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
        add_both(&blocks[AS_BLOCK_F_V], row, col, 2.0 * m * dot(n, ej) * w[col]);
      }
    }
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const andrews *a = user;
  double theta[N], w[N] = {0}, alpha[N] = {0};
  to_absolute(at->q, theta);
  if (at->v != NULL) {
    to_absolute(at->v, w);
  }
  if (at->vdot != NULL) {
    to_absolute(at->vdot, alpha);
  }
  for (int k = 0; k < N; k++) {
    add_centre(&a->centre[k], a->m[k], theta, w, alpha, wanted, blocks);
  }
  for (int k = 0; k < 3; k++) {
    add_place(&a->E[0], theta, w, at->lambda, wanted, blocks, k, 1.0);
    add_place(&a->E[k + 1], theta, w, at->lambda, wanted, blocks, k, -1.0);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    // F . n with F = c0 (l0/l - 1) d: c0 (l0/l - 1)|n|^2 - c0 l0/l^3 (d . n)^2 - F . e
    vec2 D = place_at(&a->D, theta), F = spring_force(a, theta);
    vec2 d = {D.x - a->C[0], D.y - a->C[1]};
    vec2 e = bar_e(&a->D.bars[0], theta), n = bar_n(&a->D.bars[0], theta);
    double l = hypot(d.x, d.y);
    double slope = a->stiffness * ((a->rest / l - 1.0) * dot(n, n) -
                                   a->rest * dot(d, n) * dot(d, n) / (l * l * l));
    add_both(&blocks[AS_BLOCK_F_Q], K3, K3, slope - dot(F, e));
  }
  return AS_DONE;
}

// The table.

typedef struct row {
  double t, q[N], v[N], vdot[N], lambda[N_LAMBDA];
} row;

static const row table[] = {
    {.t = 0.0,
     .q = {-0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256,
           -0.22266839016588588, 1.2305474445498212},
     .v = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
     .vdot = {14222.443919954114, -10666.832939965585, 0.0, 0.0, 0.0, 0.0, 0.0},
     .lambda = {98.56687039624109, -6.122688344255662, 0.0, 0.0, 0.0, 0.0}},
    {.t = 0.01,
     .q = {2.1601131315315265, -1.8833642311070444, 0.1585167580012267, -0.3286410751746703,
           0.5251547747977294, 0.3286410751746703, 1.068427204632401},
     .v = {711.923152831104, -786.7700808599398, -136.4381913781197, -240.29302926786454,
           4.791548225371054, 240.29302926786454, -41.14056696161049},
     .vdot = {209058.27853254118, -369745.60017161345, -6373.773935841842, -5657.410330994548,
              -11869.750534558465, 5657.410330994548, 34721.437501431545},
     .lambda = {57.02529043750258, 2.9679042462494833, 3.218860385008939, -18.179269867940356,
                5.159502718032351, 34.24011729160661}},
    {.t = 0.02,
     .q = {8.184905889661676, -7.890505363730449, 0.20953691338469757, -0.23832559659585126,
           0.5225369171559964, 0.23832559659585126, 1.0862751085998732},
     .v = {726.5583426091277, -748.6324206323291, -145.73923758440472, -259.50079947677506,
           9.79050185516307, 259.50079947677506, -57.75747174274601},
     .vdot = {177724.3327445665, -341202.04527245124, -33195.92383628786, -49292.534678413256,
              -10758.941706723468, 49292.534678413256, 24149.460195221083},
     .lambda = {48.493256981749425, 9.30037734573436, 2.3032331312870657, -15.773889807968303,
                2.94225325451755, 22.988032419227928}},
    {.t = 0.03,
     .q = {15.810771195153707, -15.756371058411839, 0.0408222401196458, -0.5347301163420796,
           0.524409965879954, 0.5347301163420796, 1.048080741041938},
     .v = {1139.9203022591062, -1424.3792951775401, 11.032911910618594, 19.29337410503204,
           0.5735699148295025, -19.29337410503204, 0.3231791492491309},
     .vdot = {-24631.763122874636, 51850.31963646423, 324102.6007075786, 566749.4220009954,
              16743.635418345446, -566749.4220009954, 9826.507801544163},
     .lambda = {199.17534810453864, -29.755309974971762, 23.06654361162215, 31.452725275771137,
                22.64249478639438, 11.617392352611256}},
};

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  (void)p;
  row r;
  r.t = t;
  for (int i = 0; i < N; i++) {
    r.q[i] = r.v[i] = r.vdot[i] = (double)NAN;
  }
  for (int i = 0; i < N_LAMBDA; i++) {
    r.lambda[i] = (double)NAN;
  }
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (fabs(t - table[i].t) < 1e-12) {
      r = table[i];
    }
  }
  reference_put(q, r.q, N);
  reference_put(v, r.v, N);
  reference_put(vdot, r.vdot, N);
  reference_put(lambda, r.lambda, N_LAMBDA);
}

/// Kinetic and spring energy less the work of the driving torque.
static double energy(const test_problem *p, const double *q, const double *v) {
  const andrews *a = p->def.user;
  double theta[N], w[N];
  to_absolute(q, theta);
  to_absolute(v, w);
  double sum = 0.0;
  for (int k = 0; k < N; k++) {
    vec2 rate = place_rate(&a->centre[k], theta, w);
    sum += 0.5 * a->m[k] * dot(rate, rate) + 0.5 * a->I[k] * w[k] * w[k];
  }
  vec2 D = place_at(&a->D, theta);
  double stretch = hypot(D.x - a->C[0], D.y - a->C[1]) - a->rest;
  return sum + 0.5 * a->stiffness * stretch * stretch - a->torque * q[0];
}

// Where the bodies are pinned.
#define A_PIN                                                                                      \
  { -0.06934, -0.00227 }
#define B_PIN                                                                                      \
  { -0.03635, 0.03273 }

const test_problem *problem_andrews(void) {
  static andrews parameters = {
      .m = {0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498},
      .I = {2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5},
      .centre = {[K1] = {1, {{K1, {0.00092, 0.0}}}, {0.0, 0.0}},
                 [K2] = {2, {{K1, {0.007, 0.0}}, {K2, {-0.0115, 0.0}}}, {0.0, 0.0}},
                 [K3] = {1, {{K3, {0.01043, -0.01874}}}, B_PIN},
                 [K4] = {2, {{K5, {0.04, 0.0}}, {K4, {0.0, -0.00579}}}, A_PIN},
                 [K5] = {1, {{K5, {0.02308, 0.00916}}}, A_PIN},
                 [K6] = {2, {{K7, {0.0, -0.04}}, {K6, {0.00579, 0.0}}}, A_PIN},
                 [K7] = {1, {{K7, {-0.00449, -0.01228}}}, A_PIN}},
      .E = {{2, {{K1, {0.007, 0.0}}, {K2, {-0.028, 0.0}}}, {0.0, 0.0}},
            {1, {{K3, {0.0, -0.035}}}, B_PIN},
            {2, {{K5, {0.04, 0.0}}, {K4, {0.0, -0.02}}}, A_PIN},
            {2, {{K7, {0.0, -0.04}}, {K6, {0.02, 0.0}}}, A_PIN}},
      .D = {1, {{K3, {0.02, -0.018}}}, B_PIN},
      .C = {0.014, 0.072},
      .stiffness = 4530.0,
      .rest = 0.07785,
      .torque = 0.033,
  };
  static const as_space_part space[] = {{AS_SPACE_RN, N}};
  static test_problem problem = {
      .name = "andrews",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = N_LAMBDA,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_MA_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 0.001,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 0.03,
      .q0 = table[0].q,
      .v0 = table[0].v,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
