/// A tyre on a road z(x, y): where it touches, how it slips, the Magic Formula, the stretched string.
///
/// C centre of the wheel, s its spin axis, R0 and r_c the radii of tread and cross-section. With the road's normal n at (X, Y)
///
///     e_x = s x n/|s x n|     r = s x e_x     d = (C - (X, Y, z)) . n     c = |s x n| = cos gamma
///
/// first at (X, Y) below C, then at C + (d/c) r of the first pass. The deflection is rho = (R0 - r_c) c + r_c - d, the contact point
/// S = C + (R0 - r_c) r - r_c n + rho n, on the tangent plane. W axes are e_x, e_y = n x e_x, n. With V = v_C + w_n x (S - C),
/// w_n = w - (w . s) s:
///
///     F_z = sp(k rho+ + c rho+/(rho+ + 1 mm) rho', 10 N)     rho+ = sp(rho, 0.1 mm)     V_sx = V_x - (w . s) R_e(rho+)
///
/// and with the states u, v, |a|_s = a^2/sqrt(a^2 + (0.01 m/s)^2) and W = exp(-(V_x/VXLOW)^2)
///
///     u' = -V_sx - |V_x|_s u/sigma_k - W |V_sx|_s u/u_m     kappa = u/sigma_k - W k_low V_sx/K_x
///     v' =  V_y  - |V_x|_s v/sigma_a - W |V_y|_s  v/v_m     alpha = atan(v/sigma_a + W k_low V_y/|K_y|)
///
/// On the wheel act F_x e_x + F_y e_y + F_z n and M_x e_x + M_y e_y + M_z n at S, on the ground the opposite. Derivatives go in three
/// stages: of the eight numbers gamma, rho, rho', V_x, V_y, w . s, u, v the forces are by dual numbers (slip and string), these by C
/// and s (contact, dual numbers of six) and by v_C and w, for which
///
///     V_i by v_C: e_i     V_i by w: P ((S - C) x e_i),  P = I - s s^T     w . s by w: s
///
/// and at last those rows g by C, s, v_C, w are taken to the moves of the body, with p and a centre and axis in it:
///
///     by x: g_C     by theta: p x R^T g_C + a x R^T g_s + (omega x p) x R^T g_v + omega x R^T g_w
///     by v: g_v     by omega: p x R^T g_v + R^T g_w
#include "elements/tyre.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/ends.h"
#include "elements/vector.h"
#include "elements/why.h"

/// Lengths, forces and speeds that make corners smooth, and the damping of a tyre at rest.
static const double touch = 1e-4, press = 10.0, damp = 1e-3, crawl = 0.01, least_lag = 0.05,
                    low_damping = 2000.0, rest_speed = 0.1;

// ---- contact ----------------------------------------------------------------------------------------

enum { PLACE = 6 }; // derivatives by C, then by s

typedef struct vector {
  asi_dual x[3];
} vector;

/// What is behind the inputs of a stage.
enum { GAMMA, RHO, RHO1, VX, VY, SPIN, U, V, INPUTS };
enum { LINES = SPIN + 1, COLUMNS = 12 };
enum { WHEEL = 6 }; // columns of the ground come first

/// Where a tyre touches its road.
typedef struct contact {
  double C[3], s[3], vC[3], w[3]; ///< of the wheel, world axes
  vector ex, ey, n, lever;        ///< W axes; S - C
  double value[LINES];            ///< GAMMA ... SPIN
  double by[LINES][COLUMNS];      ///< by C, s, v_C and w
} contact;

ASI_INLINED vector cross(const int n, const vector *a, const vector *b) {
  vector out;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out.x[i] = asi_dual_subtract(n, asi_dual_multiply(n, a->x[j], b->x[k]),
                                 asi_dual_multiply(n, a->x[k], b->x[j]));
  }
  return out;
}

ASI_INLINED asi_dual dot(const int n, const vector *a, const vector *b) {
  asi_dual out = asi_dual_multiply(n, a->x[0], b->x[0]);
  for (int i = 1; i < 3; ++i) out = asi_dual_add(n, out, asi_dual_multiply(n, a->x[i], b->x[i]));
  return out;
}

ASI_INLINED vector scale(const int n, asi_dual f, const vector *a) {
  vector out;
  for (int i = 0; i < 3; ++i) out.x[i] = asi_dual_multiply(n, f, a->x[i]);
  return out;
}

ASI_INLINED vector add(const int n, const vector *a, asi_dual f, const vector *b) {
  vector out;
  for (int i = 0; i < 3; ++i) out.x[i] = asi_dual_add(n, a->x[i], asi_dual_multiply(n, f, b->x[i]));
  return out;
}

/// [TY.1] One pass at (X, Y): `d` and `c`, axes, r.
typedef struct pass {
  asi_dual d, c;
  vector ex, n, r;
} pass;

ASI_INLINED int look_at(const int n, const asi_tyre *t, const as_element_input *in, const vector *C,
                        const vector *s, asi_dual X, asi_dual Y, pass *out) {
  double z[6];
  const int code = asi_road_height(t->road.curve, in, X.x, Y.x, n > 0, z);
  if (code) return code;
  const asi_dual slope_x = asi_dual_chain_two(n, z[1], z[3], X, z[4], Y),
                 slope_y = asi_dual_chain_two(n, z[2], z[4], X, z[5], Y),
                 height = asi_dual_chain_two(n, z[0], z[1], X, z[2], Y);
  const asi_dual one = asi_dual_constant(1.0);
  const asi_dual steep = asi_dual_sqrt(
      n, asi_dual_add(n, one,
                      asi_dual_add(n, asi_dual_square(n, slope_x), asi_dual_square(n, slope_y))));
  const asi_dual up = asi_dual_divide(n, one, steep);
  out->n.x[0] = asi_dual_scale(n, -1.0, asi_dual_multiply(n, slope_x, up));
  out->n.x[1] = asi_dual_scale(n, -1.0, asi_dual_multiply(n, slope_y, up));
  out->n.x[2] = up;
  const vector along = cross(n, s, &out->n);
  const asi_dual square = dot(n, &along, &along);
  if (!(square.x > 1e-12)) return asi_retry(in, "its spin axis stands straight on the road");
  out->c = asi_dual_sqrt(n, square);
  out->ex = scale(n, asi_dual_divide(n, one, out->c), &along);
  out->r = cross(n, s, &out->ex);
  const vector from = {{asi_dual_subtract(n, C->x[0], X), asi_dual_subtract(n, C->x[1], Y),
                        asi_dual_subtract(n, C->x[2], height)}};
  out->d = dot(n, &from, &out->n);
  return AS_DONE;
}

/// [TY.2] The rows by v_C and by w of the velocity along a W axis, times `factor`.
static void put_velocity(const contact *c, const vector *axis, double factor, double *by) {
  const double e[3] = {factor * axis->x[0].x, factor * axis->x[1].x, factor * axis->x[2].x};
  const double lever[3] = {c->lever.x[0].x, c->lever.x[1].x, c->lever.x[2].x};
  double turned[3];
  asi_cross(lever, e, turned);
  asi_add(-asi_dot(turned, c->s), c->s, turned);
  asi_copy(e, by + 6);
  asi_copy(turned, by + 9);
}

static void put(contact *c, int which, double factor, const asi_dual *from) {
  c->value[which] = factor * from->x;
  for (int i = 0; i < PLACE; ++i) c->by[which][i] = factor * from->d[i];
}

ASI_INLINED int touch_road(const int n, const asi_tyre *t, const as_element_input *in, contact *c) {
  vector C, s, w, v;
  for (int i = 0; i < 3; ++i) {
    C.x[i] = asi_dual_variable(c->C[i], i);
    s.x[i] = asi_dual_variable(c->s[i], 3 + i);
    w.x[i] = asi_dual_constant(c->w[i]);
    v.x[i] = asi_dual_constant(c->vC[i]);
  }
  pass p;
  int code = look_at(n, t, in, &C, &s, C.x[0], C.x[1], &p);
  if (code == AS_DONE && !asi_road_is_plane(t->road.curve)) {
    const asi_dual down = asi_dual_divide(n, p.d, p.c);
    const vector below = add(n, &C, down, &p.r);
    code = look_at(n, t, in, &C, &s, below.x[0], below.x[1], &p);
  }
  if (code) return code;
  const double rim = t->tyre.UNLOADED_RADIUS - t->crown;
  const asi_dual lean = dot(n, &s, &p.n);
  const asi_dual rho = asi_dual_subtract(n, asi_dual_line(n, t->crown, rim, p.c), p.d);
  // gamma = atan(s.n/c), with (s.n)^2 + c^2 = 1
  const asi_dual gamma = asi_dual_chain_two(n, atan2(lean.x, p.c.x), p.c.x, lean, -lean.x, p.c);
  c->ex = p.ex;
  c->n = p.n;
  c->ey = cross(n, &p.n, &p.ex);
  vector lever = scale(n, asi_dual_constant(rim), &p.r);
  c->lever = add(n, &lever, asi_dual_line(n, -t->crown, 1.0, rho), &p.n);
  const asi_dual spin = dot(n, &w, &s);
  const vector across = add(n, &w, asi_dual_scale(n, -1.0, spin), &s);
  const vector moved = cross(n, &across, &c->lever);
  const vector speed = add(n, &v, asi_dual_constant(1.0), &moved);
  const asi_dual along = dot(n, &speed, &c->ex), sideways = dot(n, &speed, &c->ey),
                 upwards = dot(n, &speed, &c->n);
  put(c, GAMMA, 1.0, &gamma);
  put(c, RHO, 1.0, &rho);
  put(c, RHO1, -1.0, &upwards);
  put(c, VX, 1.0, &along);
  put(c, VY, 1.0, &sideways);
  put(c, SPIN, 1.0, &spin);
  if (n == 0) return AS_DONE;
  for (int k = 0; k < 2; ++k) memset(c->by[k] + PLACE, 0, 6 * sizeof(double));
  put_velocity(c, &c->n, -1.0, c->by[RHO1]);
  put_velocity(c, &c->ex, 1.0, c->by[VX]);
  put_velocity(c, &c->ey, 1.0, c->by[VY]);
  asi_set(0.0, 0.0, 0.0, c->by[SPIN] + 6);
  asi_copy(c->s, c->by[SPIN] + 9);
  return AS_DONE;
}

static int find_contact(const asi_tyre *t, const as_element_input *in, bool derivatives,
                        contact *c) {
  const as_body_motion *body = in->body[1];
  double arm[3], moved[3];
  asi_rotate(body->R, t->center, arm);
  asi_sum(body->x, 1.0, arm, c->C);
  asi_rotate(body->R, t->axis, c->s);
  asi_rotate(body->R, body->omega, c->w);
  asi_cross(c->w, arm, moved);
  asi_sum(body->v, 1.0, moved, c->vC);
  return derivatives ? touch_road(PLACE, t, in, c) : touch_road(0, t, in, c);
}

// ---- slip and string --------------------------------------------------------------------------------

/// Forces by the eight inputs.
typedef struct slip {
  asi_dual kappa, alpha, Fz, radius;
  asi_dual force[6]; ///< Fx, Fy, Fz, Mx, My, Mz
  asi_dual rate[ASI_TYRE_STATES];
} slip;

#define ADD(a, b) asi_dual_add(n, a, b)
#define MINUS(a, b) asi_dual_subtract(n, a, b)
#define TIMES(a, b) asi_dual_multiply(n, a, b)
#define OVER(a, b) asi_dual_divide(n, a, b)
#define LINE(c, f, a) asi_dual_line(n, c, f, a)
#define SCALE(f, a) asi_dual_scale(n, f, a)
#define SQUARE(a) asi_dual_square(n, a)

/// A sum of the derivatives of a stage times those of its inputs.
ASI_INLINED asi_dual compose(const int n, const asi_dual *f, const asi_dual *const by[4]) {
  asi_dual out = asi_dual_constant(f->x);
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < n; ++i) out.d[i] += f->d[k] * by[k]->d[i];
  return out;
}

/// Inputs as variables, with what follows from them.
typedef struct motion {
  asi_dual in[INPUTS];
  asi_dual Vsx;
} motion;

ASI_INLINED asi_dual lag(const int n, asi_dual sigma) {
  return asi_dual_sqrt(n, LINE(least_lag * least_lag, 1.0, SQUARE(sigma)));
}

/// [TY.4], [TY.5] The string: kappa and tan alpha, and the rates of u and v.
ASI_INLINED void string(const int n, const asi_tyre *t, const motion *m, slip *out,
                        asi_dual *tangent) {
  const asi_magic_lags l = asi_magic_lags_at(&t->tyre, n, out->Fz, m->in[GAMMA]);
  const asi_dual sk = lag(n, l.sigma_kappa), sa = lag(n, l.sigma_alpha);
  const asi_dual ratio = SCALE(1.0 / t->tyre.VXLOW, m->in[VX]);
  const asi_dual low = asi_dual_exp(n, SCALE(-1.0, SQUARE(ratio)));
  const asi_dual most_u = OVER(SCALE(3.0 * t->tyre.PDX1, TIMES(out->Fz, sk)), l.Kx);
  const asi_dual most_v = OVER(SCALE(3.0 * fabs(t->tyre.PDY1), TIMES(out->Fz, sa)), l.Ky);
  const asi_dual rolled = asi_dual_speed(n, m->in[VX], crawl);
  const asi_dual u = m->in[U], v = m->in[V], Vsx = m->Vsx, Vy = m->in[VY];
  const asi_dual slid_x = TIMES(low, asi_dual_speed(n, Vsx, crawl)),
                 slid_y = TIMES(low, asi_dual_speed(n, Vy, crawl));
  const asi_dual fade_u = ADD(OVER(rolled, sk), OVER(slid_x, most_u));
  const asi_dual fade_v = ADD(OVER(rolled, sa), OVER(slid_y, most_v));
  out->rate[0] = SCALE(-1.0, ADD(Vsx, TIMES(fade_u, u)));
  out->rate[1] = MINUS(Vy, TIMES(fade_v, v));
  const asi_dual damping = SCALE(low_damping, low);
  out->kappa = MINUS(OVER(u, sk), OVER(TIMES(damping, Vsx), l.Kx));
  *tangent = ADD(OVER(v, sa), OVER(TIMES(damping, Vy), l.Ky));
}

static int no_speed(const as_element_input *in, double speed) {
  if (in->why)
    snprintf(in->why, AS_ELEMENT_WHY,
             "it is in steady state, which needs speed, and rolls at %.3g m/s: give it states "
             "(\"slip: transient\")",
             speed);
  return AS_RETRY;
}

ASI_INLINED int roll(const int n, const asi_tyre *t, const as_element_input *in,
                     const double value[LINES], const double *state, slip *out) {
  const as_tyre *tyre = &t->tyre;
  motion m;
  for (int i = 0; i < LINES; ++i) m.in[i] = asi_dual_variable(value[i], i);
  for (int i = 0; i < ASI_TYRE_STATES; ++i)
    m.in[U + i] = asi_dual_variable(state ? state[i] : 0.0, U + i);
  // [TY.3]
  const asi_dual pressed = asi_dual_positive(n, m.in[RHO], touch);
  const asi_dual part = OVER(pressed, LINE(damp, 1.0, pressed));
  const asi_dual F = ADD(SCALE(tyre->VERTICAL_STIFFNESS, pressed),
                         SCALE(tyre->VERTICAL_DAMPING, TIMES(part, m.in[RHO1])));
  out->Fz = asi_dual_positive(n, F, press);
  out->radius = asi_magic_rolling_radius(tyre, n, pressed);
  const asi_dual Vx = m.in[VX], Vy = m.in[VY];
  m.Vsx = MINUS(Vx, TIMES(m.in[SPIN], out->radius));
  asi_dual tangent;
  if (t->steady) {
    const asi_dual speed = asi_dual_abs(n, Vx);
    if (!(speed.x >= crawl)) return no_speed(in, speed.x);
    out->kappa = SCALE(-1.0, OVER(m.Vsx, speed));
    tangent = OVER(Vy, speed);
  } else {
    string(n, t, &m, out, &tangent);
  }
  out->alpha = asi_dual_atan(n, tangent);
  // The formula, on the side that it was measured on.
  asi_magic f;
  const asi_dual load = asi_dual_most(out->Fz, tyre->FZMAX);
  const asi_dual alpha = SCALE(t->side, out->alpha), gamma = SCALE(t->side, m.in[GAMMA]);
  asi_magic_evaluate(tyre, out->kappa.x, alpha.x, gamma.x, load.x, n > 0, &f);
  const asi_dual *const by[4] = {&out->kappa, &alpha, &gamma, &load};
  const asi_dual Fx = compose(n, &f.Fx, by);
  const asi_dual over = asi_dual_sqrt(n, LINE(crawl * crawl, 1.0, ADD(SQUARE(Vx), SQUARE(Vy))));
  const double Fz0 = tyre->LFZO * tyre->FNOMIN;
  const asi_dual v = asi_dual_abs(n, SCALE(1.0 / tyre->LONGVL, Vx)), v2 = SQUARE(v);
  const asi_dual resistance = ADD(LINE(tyre->QSY1, tyre->QSY2 / Fz0, Fx),
                                  ADD(SCALE(tyre->QSY3, v), SCALE(tyre->QSY4, SQUARE(v2))));
  const bool rolls = tyre->mode == 1 || tyre->mode >= 3;
  out->force[0] = Fx;
  out->force[1] = SCALE(t->side, compose(n, &f.Fy, by));
  out->force[2] = out->Fz;
  out->force[3] = SCALE(t->side, compose(n, &f.Mx, by));
  out->force[4] =
      SCALE(rolls ? -tyre->UNLOADED_RADIUS * tyre->LMY : 0.0,
            TIMES(TIMES(load, resistance), asi_dual_tanh(n, SCALE(1.0 / rest_speed, Vx))));
  out->force[5] = SCALE(
      t->side, ADD(TIMES(OVER(Vx, over), compose(n, &f.turning, by)), compose(n, &f.steady, by)));
  return AS_DONE;
}

static int find_slip(const asi_tyre *t, const as_element_input *in, const double value[LINES],
                     bool derivatives, slip *out) {
  return derivatives ? roll(INPUTS, t, in, value, in->state, out)
                     : roll(0, t, in, value, in->state, out);
}

// ---- forces -----------------------------------------------------------------------------------------

/// Rows by C, s, v_C, w of a vector that stands in the W axes: sum f_i e_i.
static void put_rows(const contact *c, const asi_dual f[3], double rows[3][COLUMNS],
                     double by_state[3][ASI_TYRE_STATES]) {
  const vector *const axis[3] = {&c->ex, &c->ey, &c->n};
  for (int k = 0; k < 3; ++k) {
    double *row = rows[k];
    memset(row, 0, COLUMNS * sizeof *row);
    for (int i = 0; i < INPUTS; ++i) {
      const double x =
          f[0].d[i] * c->ex.x[k].x + f[1].d[i] * c->ey.x[k].x + f[2].d[i] * c->n.x[k].x;
      if (i >= U) {
        by_state[k][i - U] = x;
        continue;
      }
      for (int j = 0; j < COLUMNS; ++j) row[j] += x * c->by[i][j];
    }
    for (int a = 0; a < 3; ++a)
      for (int j = 0; j < PLACE; ++j) row[j] += f[a].x * axis[a]->x[k].d[j];
  }
}

static void sum_axes(const contact *c, const asi_dual f[3], double out[3]) {
  for (int k = 0; k < 3; ++k)
    out[k] = f[0].x * c->ex.x[k].x + f[1].x * c->ey.x[k].x + f[2].x * c->n.x[k].x;
}

/// A row by C, s, v_C, w as one by the moves of the body, and by its velocities.
static void to_body(const asi_tyre *t, const as_body_motion *body, const double *row, double *by_q,
                    double *by_v) {
  double local[4][3], swung[3];
  for (int i = 0; i < 4; ++i) asi_rotate_back(body->R, row + 3 * i, local[i]);
  asi_cross(body->omega, t->center, swung);
  asi_copy(row, by_q);
  asi_cross(t->center, local[0], by_q + 3);
  asi_add_cross(1.0, t->axis, local[1], by_q + 3);
  asi_add_cross(1.0, swung, local[2], by_q + 3);
  asi_add_cross(1.0, body->omega, local[3], by_q + 3);
  asi_copy(row + 6, by_v);
  asi_cross(t->center, local[2], by_v + 3);
  asi_add(1.0, local[3], by_v + 3);
}

/// Three rows in world axes become those of the vector in body axes, R^T a, whose value is given.
static void turn_rows(const as_body_motion *body, const double now[3], double by_q[3][6],
                      double by_v[3][6]) {
  for (int j = 0; j < 6; ++j) {
    const double q[3] = {by_q[0][j], by_q[1][j], by_q[2][j]},
                 v[3] = {by_v[0][j], by_v[1][j], by_v[2][j]};
    double out[3];
    asi_rotate_back(body->R, q, out);
    for (int k = 0; k < 3; ++k) by_q[k][j] = out[k];
    asi_rotate_back(body->R, v, out);
    for (int k = 0; k < 3; ++k) by_v[k][j] = out[k];
  }
  asi_add_skew(1.0, now, &by_q[0][3], 6); // D(R^T) a = (R^T a)~ dtheta
}

/// The rows of p x F are added to those of a moment, both in body axes.
static void add_arm(const double *p, double force[3][6], double moment[3][6]) {
  for (int j = 0; j < 6; ++j) {
    const double f[3] = {force[0][j], force[1][j], force[2][j]};
    double turned[3];
    asi_cross(p, f, turned);
    for (int k = 0; k < 3; ++k) moment[k][j] += turned[k];
  }
}

/// [TY.6] Force and moment about C in world axes, with rows by C, s, v_C, w and by the states.
typedef struct wrench {
  double F[3], M[3];
  double by_F[3][COLUMNS], by_M[3][COLUMNS];
  double state_F[3][ASI_TYRE_STATES], state_M[3][ASI_TYRE_STATES];
} wrench;

static void find_wrench(const contact *c, const slip *s, bool derivatives, wrench *w) {
  const double lever[3] = {c->lever.x[0].x, c->lever.x[1].x, c->lever.x[2].x};
  sum_axes(c, s->force, w->F);
  sum_axes(c, s->force + 3, w->M);
  asi_add_cross(1.0, lever, w->F, w->M);
  if (!derivatives) return;
  put_rows(c, s->force, w->by_F, w->state_F);
  put_rows(c, s->force + 3, w->by_M, w->state_M);
  for (int j = 0; j < COLUMNS + ASI_TYRE_STATES; ++j) {
    const int k = j - COLUMNS;
    double f[3], turned[3] = {0};
    for (int i = 0; i < 3; ++i) f[i] = k < 0 ? w->by_F[i][j] : w->state_F[i][k];
    asi_add_cross(1.0, lever, f, turned);
    if (j < PLACE) {
      const double moved[3] = {c->lever.x[0].d[j], c->lever.x[1].d[j], c->lever.x[2].d[j]};
      asi_add_cross(1.0, moved, w->F, turned);
    }
    for (int i = 0; i < 3; ++i) *(k < 0 ? &w->by_M[i][j] : &w->state_M[i][k]) += turned[i];
  }
}

static void put_force(const asi_tyre *t, const as_body_motion *body, const contact *c,
                      const wrench *w, double *out) {
  double F[3], about[3];
  asi_cross(c->C, w->F, about);
  for (int k = 0; k < 3; ++k) { // on the ground, about the origin
    out[k] = -w->F[k];
    out[3 + k] = -(w->M[k] + about[k]);
  }
  asi_copy(w->F, out + WHEEL);
  asi_rotate_back(body->R, w->F, F);
  asi_rotate_back(body->R, w->M, out + WHEEL + 3);
  asi_add_cross(1.0, t->center, F, out + WHEEL + 3);
}

static void put_tangents(const asi_tyre *t, const as_body_motion *body, const wrench *w,
                         const as_element_output *out) {
  double Fq[3][6], Fv[3][6], Mq[3][6], Mv[3][6], Fb_q[3][6], Fb_v[3][6], F[3], M[3];
  for (int k = 0; k < 3; ++k) {
    to_body(t, body, w->by_F[k], Fq[k], Fv[k]);
    to_body(t, body, w->by_M[k], Mq[k], Mv[k]);
  }
  asi_rotate_back(body->R, w->F, F);
  asi_rotate_back(body->R, w->M, M);
  memcpy(Fb_q, Fq, sizeof Fq);
  memcpy(Fb_v, Fv, sizeof Fv);
  turn_rows(body, F, Fb_q, Fb_v);
  turn_rows(body, M, Mq, Mv);
  add_arm(t->center, Fb_q, Mq);
  add_arm(t->center, Fb_v, Mv);
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 6; ++j) {
      const int F_at = (WHEEL + k) * ASI_PAIR + WHEEL + j, M_at = F_at + 3 * ASI_PAIR;
      if (out->f_q) {
        out->f_q[F_at] += Fq[k][j];
        out->f_q[M_at] += Mq[k][j];
      }
      if (out->f_v) {
        out->f_v[F_at] += Fv[k][j];
        out->f_v[M_at] += Mv[k][j];
      }
    }
}

/// What depends on the states, and what they depend on.
static void put_states(const asi_tyre *t, const as_body_motion *body, const contact *c,
                       const slip *s, const wrench *w, const as_element_output *out) {
  for (int i = 0; i < ASI_TYRE_STATES; ++i) {
    const double f[3] = {w->state_F[0][i], w->state_F[1][i], w->state_F[2][i]},
                 m[3] = {w->state_M[0][i], w->state_M[1][i], w->state_M[2][i]};
    double local[3], turned[3], row[COLUMNS] = {0};
    asi_rotate_back(body->R, f, local);
    asi_rotate_back(body->R, m, turned);
    asi_add_cross(1.0, t->center, local, turned);
    for (int k = 0; k < 3 && out->f_x; ++k) {
      out->f_x[ASI_TYRE_STATES * (WHEEL + k) + i] += f[k];
      out->f_x[ASI_TYRE_STATES * (WHEEL + 3 + k) + i] += turned[k];
    }
    for (int k = 0; k < LINES; ++k)
      for (int j = 0; j < COLUMNS; ++j) row[j] += s->rate[i].d[k] * c->by[k][j];
    double by_q[6], by_v[6];
    to_body(t, body, row, by_q, by_v);
    for (int j = 0; j < 6; ++j) {
      if (out->state_q) out->state_q[ASI_PAIR * i + WHEEL + j] += by_q[j];
      if (out->state_v) out->state_v[ASI_PAIR * i + WHEEL + j] += by_v[j];
    }
    for (int k = 0; k < ASI_TYRE_STATES && out->state_x; ++k)
      out->state_x[ASI_TYRE_STATES * i + k] += s->rate[i].d[U + k];
  }
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_tyre *t = data;
  const as_body_motion *body = in->body[1];
  const bool by_states = out->f_x || out->state_q || out->state_v || out->state_x;
  const bool derivatives = out->f_q || out->f_v || by_states;
  contact c;
  slip s;
  wrench w;
  int code = find_contact(t, in, derivatives, &c);
  if (code == AS_DONE) code = find_slip(t, in, c.value, derivatives, &s);
  if (code) return code;
  find_wrench(&c, &s, derivatives, &w);
  if (out->force) put_force(t, body, &c, &w, out->force);
  for (int i = 0; i < ASI_TYRE_STATES && out->state_rate; ++i) out->state_rate[i] = s.rate[i].x;
  if (out->f_q || out->f_v) put_tangents(t, body, &w, out);
  if (by_states) put_states(t, body, &c, &s, &w, out);
  return AS_DONE;
}

/// All of it counts as brought in: the string and the rubber store and lose what is not told apart.
static void power(const as_element_input *in, as_element_power *out, const void *data) {
  double f[ASI_PAIR] = {0};
  const as_element_output to = {.force = f};
  out->dissipated = 0.0;
  out->supplied = evaluate(in, &to, data) ? (double)NAN : asi_pair_power(in, f);
}

const as_element_type asi_tyre_type = {"tyre", evaluate, NULL, power};

/// A load on the wheel, at its centre. Of its width a file does not tell.
static void draw(const void *data, asi_drawing *out) {
  const asi_tyre *t = data;
  const double R0 = t->tyre.UNLOADED_RADIUS;
  *out = (asi_drawing){.kind = "load",
                       .n = 1,
                       .body = {1},
                       .point = {t->center},
                       .wheel = {1, t->center, t->axis, R0, 0.7 * R0, true, t->road.curve}};
}

// ---- what it shows ----------------------------------------------------------------------------------

int asi_tyre_look(const asi_tyre *t, const as_element_input *in, as_tyre_contact *out) {
  contact c;
  slip s;
  int code = find_contact(t, in, false, &c);
  if (code == AS_DONE) code = find_slip(t, in, c.value, false, &s);
  if (code) return code;
  *out = (as_tyre_contact){.kappa = s.kappa.x,
                           .alpha = s.alpha.x,
                           .camber = c.value[GAMMA],
                           .deflection = c.value[RHO],
                           .u = in->state && !t->steady ? in->state[0] : 0.0,
                           .v = in->state && !t->steady ? in->state[1] : 0.0,
                           .rolling_radius = s.radius.x,
                           .speed = {c.value[VX], c.value[VY]}};
  for (int k = 0; k < 3; ++k) {
    out->force[k] = s.force[k].x;
    out->moment[k] = s.force[3 + k].x;
    out->point[k] = c.C[k] + c.lever.x[k].x;
    out->axes[k] = c.ex.x[k].x;
    out->axes[3 + k] = c.ey.x[k].x;
    out->axes[6 + k] = c.n.x[k].x;
  }
  return AS_DONE;
}

// ---- what the program knows of it -------------------------------------------------------------------

/// The numbers that it shows.
enum {
  KAPPA,
  ALPHA,
  CAMBER,
  FX,
  FZ = FX + 2,
  MX,
  DEFLECTION = MX + 3,
  POINT,
  STATE = POINT + 3,
  RADIUS = STATE + ASI_TYRE_STATES,
  SPEED,
  SHOWN = SPEED + 2
};

static int look(const void *data, const as_element_input *in, double *out) {
  as_tyre_contact c;
  const int code = asi_tyre_look(data, in, &c);
  if (code) return code;
  out[KAPPA] = c.kappa;
  out[ALPHA] = c.alpha;
  out[CAMBER] = c.camber;
  asi_copy(c.force, out + FX);
  asi_copy(c.moment, out + MX);
  out[DEFLECTION] = c.deflection;
  asi_copy(c.point, out + POINT);
  out[STATE] = c.u;
  out[STATE + 1] = c.v;
  out[RADIUS] = c.rolling_radius;
  out[SPEED] = c.speed[0];
  out[SPEED + 1] = c.speed[1];
  return AS_DONE;
}

static const asi_element_quantity quantities[] = {{"slip", "-", "", KAPPA},
                                                  {"slip_angle", "rad", "", ALPHA},
                                                  {"camber", "rad", "", CAMBER},
                                                  {"contact_force", "N", "xyz", FX},
                                                  {"contact_moment", "N m", "xyz", MX},
                                                  {"deflection", "m", "", DEFLECTION},
                                                  {"contact_point", "m", "xyz", POINT},
                                                  {"string", "m", "xy", STATE},
                                                  {"rolling_radius", "m", "", RADIUS},
                                                  {"contact_velocity", "m/s", "xy", SPEED},
                                                  {.name = NULL}};

/// All but the point of contact.
static unsigned reads(int number) {
  if (number >= POINT && number < STATE) return 0;
  const bool of_contact =
      number == CAMBER || number == FZ || number == DEFLECTION || number >= RADIUS;
  return ASI_READS_PLACES | ASI_READS_VELOCITIES | (of_contact ? 0u : ASI_READS_STATES);
}

/// A number by the eight inputs.
static asi_dual number_of(const slip *s, const double value[LINES], int number) {
  switch (number) {
  case KAPPA: return s->kappa;
  case ALPHA: return s->alpha;
  case CAMBER: return asi_dual_variable(value[GAMMA], GAMMA);
  case DEFLECTION: return asi_dual_variable(value[RHO], RHO);
  case RADIUS: return s->radius;
  case SPEED: return asi_dual_variable(value[VX], VX);
  case SPEED + 1: return asi_dual_variable(value[VY], VY);
  default: return s->force[number - FX];
  }
}

static int read(const void *data, const as_element_input *in, int number, double *value,
                double *by_q, double *by_v, double by_x[AS_ELEMENT_STATES]) {
  const asi_tyre *t = data;
  contact c;
  slip s;
  if (number >= STATE && number < RADIUS) {
    const bool there = in->state && !t->steady;
    *value = there ? in->state[number - STATE] : 0.0;
    by_x[number - STATE] = there ? 1.0 : 0.0;
    return AS_DONE;
  }
  int code = find_contact(t, in, true, &c);
  if (code == AS_DONE) code = find_slip(t, in, c.value, true, &s);
  if (code) return code;
  const asi_dual x = number_of(&s, c.value, number);
  double row[COLUMNS] = {0};
  for (int k = 0; k < LINES; ++k)
    for (int j = 0; j < COLUMNS; ++j) row[j] += x.d[k] * c.by[k][j];
  to_body(t, in->body[1], row, by_q + WHEEL, by_v + WHEEL);
  *value = x.x;
  for (int i = 0; i < ASI_TYRE_STATES && !t->steady; ++i) by_x[i] = x.d[U + i];
  return AS_DONE;
}

const asi_descriptor asi_tyre_descriptor = {.type = &asi_tyre_type,
                                            .quantities = quantities,
                                            .n_values = SHOWN,
                                            .look = look,
                                            .reads = reads,
                                            .read = read,
                                            .draw = draw};
