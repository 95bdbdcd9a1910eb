/// The Magic Formula. With df = (F_z - F_z0')/F_z0', F_z0' = LFZO FNOMIN, and
///
///     MF(B, C, E, x) = C atan(B x - E (B x - atan B x))
///
/// forces of pure slip are D sin MF + S_V, combined ones are those times cos MF ratios; the names are those of the literature.
/// Derivatives by kappa, alpha, gamma and F_z come with dual numbers. Signs jump with third powers behind them, |gamma| and
/// min(E, 1) have kinks: there they have the derivative of one side.
#include "elements/magic.h"

#include "base/definition.h"
#include "elements/vector.h"

as_tyre as_default_tyre(void) {
  as_tyre t = {.cookie = ASI_COOKIE(as_tyre), .LONGVL = 16.6, .VXLOW = 1.0, .mode = 4};
  double *const required[] = {&t.UNLOADED_RADIUS,
                              &t.VERTICAL_STIFFNESS,
                              &t.FNOMIN,
                              &t.PCX1,
                              &t.PDX1,
                              &t.PKX1,
                              &t.PCY1,
                              &t.PDY1,
                              &t.PKY1,
                              &t.PKY2,
                              &t.PTX1,
                              &t.PTY1,
                              &t.PTY2};
  for (size_t i = 0; i < sizeof required / sizeof required[0]; ++i) *required[i] = (double)NAN;
  double *const scale[] = {&t.LFZO, &t.LCX,   &t.LMUX,  &t.LEX,  &t.LKX,  &t.LHX,  &t.LVX,
                           &t.LGAX, &t.LCY,   &t.LMUY,  &t.LEY,  &t.LKY,  &t.LHY,  &t.LVY,
                           &t.LGAY, &t.LTR,   &t.LRES,  &t.LGAZ, &t.LXAL, &t.LYKA, &t.LVYKA,
                           &t.LS,   &t.LSGKP, &t.LSGAL, &t.LMX,  &t.LVMX, &t.LMY};
  for (size_t i = 0; i < sizeof scale / sizeof scale[0]; ++i) *scale[i] = 1.0;
  t.FZMAX = (double)INFINITY;
  return t;
}

static double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }

/// Short names for sums and products of dual numbers; n is that of the function.
#define ADD(a, b) asi_dual_add(n, a, b)
#define TIMES(a, b) asi_dual_multiply(n, a, b)
#define OVER(a, b) asi_dual_divide(n, a, b)
#define LINE(c, f, a) asi_dual_line(n, c, f, a)
#define SCALE(f, a) asi_dual_scale(n, f, a)
#define SQUARE(a) asi_dual_square(n, a)

/// MF for an E and a C that depend on nothing but constants or duals.
ASI_INLINED asi_dual magic(const int n, asi_dual B, double C, asi_dual E, asi_dual x) {
  const asi_dual Bx = TIMES(B, x), bend = asi_dual_subtract(n, Bx, asi_dual_atan(n, Bx));
  return SCALE(C, asi_dual_atan(n, asi_dual_subtract(n, Bx, TIMES(E, bend))));
}

/// a + b df + c df^2
ASI_INLINED asi_dual by_load(const int n, double a, double b, double c, asi_dual df) {
  return asi_dual_chain(n, a + (b + c * df.x) * df.x, b + 2.0 * c * df.x, df);
}

/// cos(atan(x))
ASI_INLINED asi_dual cos_atan(const int n, asi_dual x) {
  const double c = 1.0 / sqrt(1.0 + x.x * x.x);
  return asi_dual_chain(n, c, -x.x * c * c * c, x);
}

/// What all parts of the formula share.
typedef struct common {
  asi_dual kappa, alpha, gamma, Fz, df;
  double Fz0;
} common;

/// Pure longitudinal slip; *Kx is the slip stiffness.
ASI_INLINED asi_dual longitudinal(const int n, const as_tyre *t, const common *c, asi_dual *Kx) {
  const asi_dual df = c->df, Fz = c->Fz, camber = SCALE(t->LGAX, c->gamma);
  const asi_dual SH = by_load(n, t->PHX1 * t->LHX, t->PHX2 * t->LHX, 0.0, df);
  const double shift = t->LVX * t->LMUX, C = t->PCX1 * t->LCX;
  const asi_dual SV = TIMES(Fz, by_load(n, t->PVX1 * shift, t->PVX2 * shift, 0.0, df));
  const asi_dual kappa = ADD(c->kappa, SH);
  const asi_dual mu = TIMES(by_load(n, t->PDX1 * t->LMUX, t->PDX2 * t->LMUX, 0.0, df),
                            LINE(1.0, -t->PDX3, SQUARE(camber)));
  const asi_dual D = TIMES(mu, Fz);
  *Kx = TIMES(TIMES(Fz, by_load(n, t->PKX1 * t->LKX, t->PKX2 * t->LKX, 0.0, df)),
              asi_dual_exp(n, SCALE(t->PKX3, df)));
  const asi_dual B = OVER(*Kx, SCALE(C, D));
  const double bent = (1.0 - t->PEX4 * sign(kappa.x)) * t->LEX;
  const asi_dual E = asi_dual_most(SCALE(bent, by_load(n, t->PEX1, t->PEX2, t->PEX3, df)), 1.0);
  return ADD(TIMES(D, asi_dual_sin(n, magic(n, B, C, E, kappa))), SV);
}

/// Pure side slip.
typedef struct side_slip {
  asi_dual Fy, Ky, By, SH, SV, D; ///< D = mu F_z
  double C;
} side_slip;

ASI_INLINED side_slip lateral(const int n, const as_tyre *t, const common *c) {
  const asi_dual df = c->df, Fz = c->Fz, camber = SCALE(t->LGAY, c->gamma);
  side_slip s = {.C = t->PCY1 * t->LCY};
  s.SH = ADD(by_load(n, t->PHY1 * t->LHY, t->PHY2 * t->LHY, 0.0, df), SCALE(t->PHY3, camber));
  const asi_dual shift = ADD(by_load(n, t->PVY1 * t->LVY, t->PVY2 * t->LVY, 0.0, df),
                             TIMES(by_load(n, t->PVY3, t->PVY4, 0.0, df), camber));
  s.SV = SCALE(t->LMUY, TIMES(Fz, shift));
  const asi_dual alpha = ADD(c->alpha, s.SH);
  const asi_dual mu = TIMES(by_load(n, t->PDY1 * t->LMUY, t->PDY2 * t->LMUY, 0.0, df),
                            LINE(1.0, -t->PDY3, SQUARE(camber)));
  s.D = TIMES(mu, Fz);
  const asi_dual load = SCALE(1.0 / (t->PKY2 * c->Fz0), Fz);
  const asi_dual rise = asi_dual_sin(n, SCALE(2.0, asi_dual_atan(n, load)));
  s.Ky =
      TIMES(SCALE(t->PKY1 * c->Fz0 * t->LKY, rise), LINE(1.0, -t->PKY3, asi_dual_abs(n, camber)));
  s.By = OVER(s.Ky, SCALE(s.C, s.D));
  const double side = sign(alpha.x);
  const asi_dual bent = LINE(1.0 - t->PEY3 * side, -t->PEY4 * side, camber);
  const asi_dual E =
      asi_dual_most(SCALE(t->LEY, TIMES(by_load(n, t->PEY1, t->PEY2, 0.0, df), bent)), 1.0);
  s.Fy = ADD(TIMES(s.D, asi_dual_sin(n, magic(n, s.By, s.C, E, alpha))), s.SV);
  return s;
}

/// cos MF(B, C, E, x + shift)/cos MF(B, C, E, shift)
ASI_INLINED asi_dual weight(const int n, asi_dual B, double C, asi_dual E, asi_dual x,
                            asi_dual shift) {
  return OVER(asi_dual_cos(n, magic(n, B, C, E, ADD(x, shift))),
              asi_dual_cos(n, magic(n, B, C, E, shift)));
}

ASI_INLINED asi_dual combined_longitudinal(const int n, const as_tyre *t, const common *c,
                                           asi_dual Fx0) {
  const asi_dual B = SCALE(t->RBX1 * t->LXAL, cos_atan(n, SCALE(t->RBX2, c->kappa)));
  const asi_dual E = asi_dual_most(by_load(n, t->REX1, t->REX2, 0.0, c->df), 1.0);
  return TIMES(Fx0, weight(n, B, t->RCX1, E, c->alpha, asi_dual_constant(t->RHX1)));
}

/// Without the part that kappa induces, which goes to *induced.
ASI_INLINED asi_dual combined_lateral(const int n, const as_tyre *t, const common *c,
                                      const side_slip *s, asi_dual *induced) {
  const asi_dual SH = by_load(n, t->RHY1, t->RHY2, 0.0, c->df);
  const asi_dual B =
      SCALE(t->RBY1 * t->LYKA, cos_atan(n, LINE(-t->RBY2 * t->RBY3, t->RBY2, c->alpha)));
  const asi_dual E = asi_dual_most(by_load(n, t->REY1, t->REY2, 0.0, c->df), 1.0);
  const asi_dual D =
      TIMES(TIMES(s->D, ADD(by_load(n, t->RVY1, t->RVY2, 0.0, c->df), SCALE(t->RVY3, c->gamma))),
            cos_atan(n, SCALE(t->RVY4, c->alpha)));
  const asi_dual wave = asi_dual_sin(n, SCALE(t->RVY5, asi_dual_atan(n, SCALE(t->RVY6, c->kappa))));
  *induced = SCALE(t->LVYKA, TIMES(D, wave));
  return TIMES(s->Fy, weight(n, B, t->RCY1, E, c->kappa, SH));
}

/// atan sqrt(tan^2 alpha + more^2), for even functions: at zero it has no slope.
ASI_INLINED asi_dual equivalent(const int n, asi_dual alpha, asi_dual more) {
  const asi_dual w = ADD(SQUARE(asi_dual_tan(n, alpha)), SQUARE(more));
  return w.x > 0.0 ? asi_dual_atan(n, asi_dual_sqrt(n, w)) : asi_dual_constant(0.0);
}

/// The aligning moment: `Fy` without, `sideways` with what kappa induces; `Fx` zero and `slip` (K_x kappa/K_y) zero where slips
/// are not combined.
ASI_INLINED void aligning(const int n, const as_tyre *t, const common *c, const side_slip *s,
                          asi_dual slip, asi_dual Fx, asi_dual Fy, asi_dual sideways,
                          asi_magic *out) {
  const asi_dual df = c->df, camber = SCALE(t->LGAZ, c->gamma);
  const double R0 = t->UNLOADED_RADIUS, stiff = t->LKY / t->LMUY;
  const asi_dual at = ADD(c->alpha, ADD(by_load(n, t->QHZ1, t->QHZ2, 0.0, df),
                                        TIMES(by_load(n, t->QHZ3, t->QHZ4, 0.0, df), camber)));
  const asi_dual ar = ADD(c->alpha, ADD(s->SH, OVER(s->SV, s->Ky)));
  const asi_dual leaned = ADD(LINE(1.0, t->QBZ4, camber), SCALE(t->QBZ5, asi_dual_abs(n, camber)));
  const asi_dual Bt =
      TIMES(by_load(n, t->QBZ1 * stiff, t->QBZ2 * stiff, t->QBZ3 * stiff, df), leaned);
  const double Ct = t->QCZ1, arm = R0 / c->Fz0 * t->LTR;
  const asi_dual curved = by_load(n, 1.0, t->QDZ3, t->QDZ4, camber);
  const asi_dual Dt =
      TIMES(TIMES(c->Fz, by_load(n, t->QDZ1 * arm, t->QDZ2 * arm, 0.0, df)), curved);
  const asi_dual turned = asi_dual_atan(n, SCALE(Ct, TIMES(Bt, at)));
  const asi_dual skew =
      TIMES(LINE(t->QEZ4, t->QEZ5, camber), SCALE(2.0 / 3.14159265358979323846, turned));
  const asi_dual Et =
      asi_dual_most(TIMES(by_load(n, t->QEZ1, t->QEZ2, t->QEZ3, df), LINE(1.0, 1.0, skew)), 1.0);
  const asi_dual Br = LINE(t->QBZ9 * stiff, t->QBZ10 * s->C, s->By);
  const asi_dual offset = ADD(by_load(n, t->QDZ6 * t->LRES, t->QDZ7 * t->LRES, 0.0, df),
                              TIMES(by_load(n, t->QDZ8, t->QDZ9, 0.0, df), camber));
  const asi_dual Dr = SCALE(R0 * t->LMUY, TIMES(c->Fz, offset));
  const asi_dual ate = equivalent(n, at, slip), are = equivalent(n, ar, slip);
  const asi_dual pneumatic = TIMES(Dt, asi_dual_cos(n, magic(n, Bt, Ct, Et, ate)));
  const asi_dual residual = TIMES(Dr, asi_dual_cos(n, asi_dual_atan(n, TIMES(Br, are))));
  out->turning = asi_dual_subtract(n, residual, TIMES(pneumatic, Fy));
  const asi_dual lever = ADD(LINE(t->SSZ1, t->SSZ2 / c->Fz0, sideways),
                             TIMES(by_load(n, t->SSZ3, t->SSZ4, 0.0, df), c->gamma));
  out->steady = SCALE(R0 * t->LS, TIMES(lever, Fx));
}

ASI_INLINED void evaluate(const int n, const as_tyre *t, double kappa, double alpha, double gamma,
                          double Fz, asi_magic *out) {
  common c = {.kappa = asi_dual_variable(kappa, 0),
              .alpha = asi_dual_variable(alpha, 1),
              .gamma = asi_dual_variable(gamma, 2),
              .Fz = asi_dual_variable(Fz, 3),
              .Fz0 = t->LFZO * t->FNOMIN};
  const bool both = t->mode == 4;
  c.df = LINE(-1.0, 1.0 / c.Fz0, c.Fz);
  *out = (asi_magic){.Fx0 = 0.0};
  asi_dual Kx = asi_dual_constant(0.0), slip = Kx;
  if (t->mode == 1 || t->mode >= 3) {
    const asi_dual Fx0 = longitudinal(n, t, &c, &Kx);
    out->Fx0 = Fx0.x;
    out->Fx = both ? combined_longitudinal(n, t, &c, Fx0) : Fx0;
  }
  if (t->mode < 2) return;
  const side_slip s = lateral(n, t, &c);
  asi_dual induced = asi_dual_constant(0.0), Fy = s.Fy;
  if (both) {
    Fy = combined_lateral(n, t, &c, &s, &induced);
    slip = OVER(TIMES(Kx, c.kappa), s.Ky);
  }
  out->Fy0 = s.Fy.x;
  out->Fy = ADD(Fy, induced);
  aligning(n, t, &c, &s, slip, both ? out->Fx : asi_dual_constant(0.0), Fy, out->Fy, out);
  const double R0 = t->UNLOADED_RADIUS;
  const asi_dual over =
      ADD(LINE(t->QSX1 * t->LVMX, -t->QSX2, c.gamma), SCALE(t->QSX3 / c.Fz0, out->Fy));
  out->Mx = SCALE(R0 * t->LMX, TIMES(c.Fz, over));
}

void asi_magic_evaluate(const as_tyre *t, double kappa, double alpha, double gamma, double Fz,
                        bool derivatives, asi_magic *out) {
  if (derivatives)
    evaluate(4, t, kappa, alpha, gamma, Fz, out);
  else
    evaluate(0, t, kappa, alpha, gamma, Fz, out);
}

ASI_INLINED asi_magic_lags lags_at(const int n, const as_tyre *t, asi_dual Fz, asi_dual gamma) {
  const double Fz0 = t->LFZO * t->FNOMIN, R0 = t->UNLOADED_RADIUS;
  const asi_dual df = LINE(-1.0, 1.0 / Fz0, Fz), clipped = asi_dual_most(Fz, t->FZMAX);
  const asi_dual df_clipped = LINE(-1.0, 1.0 / Fz0, clipped);
  asi_magic_lags out;
  out.Kx = TIMES(TIMES(Fz, by_load(n, t->PKX1 * t->LKX, t->PKX2 * t->LKX, 0.0, df)),
                 asi_dual_exp(n, SCALE(t->PKX3, df)));
  const asi_dual load = asi_dual_atan(n, SCALE(1.0 / (t->PKY2 * Fz0), Fz));
  out.Ky = asi_dual_abs(n, SCALE(t->PKY1 * Fz0 * t->LKY, asi_dual_sin(n, SCALE(2.0, load))));
  const double long_scale = R0 / t->FNOMIN * t->LSGKP;
  out.sigma_kappa =
      TIMES(TIMES(clipped, by_load(n, t->PTX1 * long_scale, t->PTX2 * long_scale, 0.0, df_clipped)),
            asi_dual_exp(n, SCALE(-t->PTX3, df_clipped)));
  const double side_scale = t->PTY1 * R0 * t->LFZO * t->LSGAL;
  const asi_dual relaxed = asi_dual_atan(n, SCALE(1.0 / (t->PTY2 * Fz0), clipped));
  out.sigma_alpha = TIMES(SCALE(side_scale, asi_dual_sin(n, SCALE(2.0, relaxed))),
                          LINE(1.0, -t->PKY3, asi_dual_abs(n, gamma)));
  return out;
}

asi_magic_lags asi_magic_lags_at(const as_tyre *t, int n, asi_dual Fz, asi_dual gamma) {
  return n > 0 ? lags_at(ASI_DUALS, t, Fz, gamma) : lags_at(0, t, Fz, gamma);
}

asi_dual asi_magic_rolling_radius(const as_tyre *t, int n, asi_dual deflection) {
  const double rest = t->LFZO * t->FNOMIN / t->VERTICAL_STIFFNESS;
  const double x = deflection.x / rest, b = t->BREFF * x;
  return asi_dual_chain(n, t->UNLOADED_RADIUS - rest * (t->DREFF * atan(b) + t->FREFF * x),
                        -(t->DREFF * t->BREFF / (1.0 + b * b) + t->FREFF), deflection);
}

void as_tyre_steady(const as_tyre *t, double kappa, double alpha, double gamma, double Fz,
                    double speed, as_tyre_force *out) {
  asi_magic m;
  const double load = fmin(Fz, t->FZMAX), Fz0 = t->LFZO * t->FNOMIN, v = speed / t->LONGVL;
  asi_magic_evaluate(t, kappa, alpha, gamma, load, false, &m);
  const asi_magic_lags lags =
      asi_magic_lags_at(t, 0, asi_dual_constant(Fz), asi_dual_constant(gamma));
  const bool rolls = t->mode == 1 || t->mode >= 3;
  const double resistance =
      t->QSY1 + t->QSY2 * m.Fx.x / Fz0 + t->QSY3 * fabs(v) + t->QSY4 * v * v * v * v;
  *out = (as_tyre_force){
      .Fx = m.Fx.x,
      .Fy = m.Fy.x,
      .Mx = m.Mx.x,
      .My = rolls ? -t->UNLOADED_RADIUS * load * t->LMY * resistance * tanh(speed / 0.1) : 0.0,
      .Mz = cos(alpha) * m.turning.x + m.steady.x,
      .Fx0 = m.Fx0,
      .Fy0 = m.Fy0,
      .sigma_kappa = lags.sigma_kappa.x,
      .sigma_alpha = lags.sigma_alpha.x};
}

double as_tyre_rolling_radius(const as_tyre *t, double deflection) {
  return asi_magic_rolling_radius(t, 0, asi_dual_constant(deflection)).x;
}
