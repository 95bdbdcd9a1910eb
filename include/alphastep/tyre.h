/// Tyres: the coefficients of a tyre, roads, and the force between a wheel and a road. See docs/elements/tyre.md.
#ifndef ALPHASTEP_TYRE_H
#define ALPHASTEP_TYRE_H

#include "alphastep/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A tyre by the coefficients of the Magic Formula, PAC2002 = MF 5.2, under the names that they have in .tir files. From
/// as_default_tyre() or as_tyre_read_file(); SI units, angles in radians.
typedef struct as_tyre {
  unsigned cookie;            ///< set by as_default_tyre(): leave it as it is
  double UNLOADED_RADIUS;     ///< > 0 [m], required
  double VERTICAL_STIFFNESS;  ///< > 0 [N/m], required
  double VERTICAL_DAMPING;    ///< [N s/m]
  double BREFF, DREFF, FREFF; ///< effective rolling radius
  double FNOMIN;              ///< nominal load > 0 [N], required
  double FZMAX;  ///< largest load that forces in the road's plane know [N]; infinity: none
  double LONGVL; ///< speed of the measurements [m/s]; 16.6
  double VXLOW;  ///< speed below which the tyre is a spring with friction [m/s]; 1
  double LFZO, LCX, LMUX, LEX, LKX, LHX, LVX, LGAX, LCY, LMUY, LEY, LKY, LHY, LVY, LGAY, LTR, LRES,
      LGAZ, LXAL, LYKA, LVYKA, LS, LSGKP, LSGAL, LMX, LVMX, LMY; ///< scale factors; 1
  double PCX1, PDX1, PDX2, PDX3, PEX1, PEX2, PEX3, PEX4, PKX1, PKX2, PKX3, PHX1, PHX2, PVX1, PVX2;
  double RBX1, RBX2, RCX1, REX1, REX2, RHX1, PTX1, PTX2, PTX3, QSX1, QSX2, QSX3;
  double PCY1, PDY1, PDY2, PDY3, PEY1, PEY2, PEY3, PEY4, PKY1, PKY2, PKY3, PHY1, PHY2, PHY3, PVY1,
      PVY2, PVY3, PVY4;
  double RBY1, RBY2, RBY3, RCY1, REY1, REY2, RHY1, RHY2, RVY1, RVY2, RVY3, RVY4, RVY5, RVY6, PTY1,
      PTY2;
  double QSY1, QSY2, QSY3, QSY4;
  double QBZ1, QBZ2, QBZ3, QBZ4, QBZ5, QBZ9, QBZ10, QCZ1, QDZ1, QDZ2, QDZ3, QDZ4, QDZ6, QDZ7, QDZ8,
      QDZ9, QEZ1, QEZ2, QEZ3, QEZ4, QEZ5, QHZ1, QHZ2, QHZ3, QHZ4, SSZ1, SSZ2, SSZ3, SSZ4;
  bool measured_right; ///< TYRESIDE: measured on the right side of a car
  /// USE_MODE: 0 normal force alone, 1 longitudinal, 2 lateral, 3 both uncombined, 4 combined.
  int mode;
  bool steady; ///< USE_MODE without its ten: steady state
} as_tyre;

AS_API as_tyre as_default_tyre(void);

/// Forces and moments of a tyre in steady state, rolling forwards, on the side that it was measured on.
typedef struct as_tyre_force {
  double Fx, Fy, Mx, My, Mz;       ///< in the W axes [N, N m]
  double Fx0, Fy0;                 ///< of pure slip [N]
  double sigma_kappa, sigma_alpha; ///< relaxation lengths, without what keeps them from zero [m]
} as_tyre_force;

/// At the slip kappa [-], alpha [rad], the camber gamma [rad], the load Fz [N] and the speed V_x [m/s].
AS_API void as_tyre_steady(const as_tyre *tyre, double kappa, double alpha, double gamma, double Fz,
                           double speed, as_tyre_force *out);
/// The effective rolling radius at a deflection [m].
AS_API double as_tyre_rolling_radius(const as_tyre *tyre, double deflection);

// ---- roads ------------------------------------------------------------------------------------------

typedef enum as_road_kind {
  AS_ROAD_PLANE,   ///< through `point`, across `normal`
  AS_ROAD_FORMULA, ///< z = formula of x and y
  AS_ROAD_TABLE,   ///< z over a grid, smooth
  AS_ROAD_ROUGH,   ///< random, by ISO 8608
  AS_ROAD_BUMP     ///< level but for one bump across x: height (1 - cos)/2 over its length
} as_road_kind;

/// A road: its height z over x and y of the world. From as_default_road_def(). Several tyres may roll on one.
typedef struct as_road_def {
  unsigned cookie;  ///< set by as_default_road_def(): leave it as it is
  const char *name; ///< NULL: `road 1`
  as_road_kind kind;
  double point[3], normal[3]; ///< of a plane; otherwise z is counted from point[2]
  const char *formula;        ///< of `x` and `y` [m], of parameters and tables
  const as_surface *table;    ///< of points; no road beyond them
  double roughness;           ///< of a rough road: G_d at 0.1 1/m [m^3]; class C is 256e-6
  double waviness;            ///< exponent w of G_d ~ n^-w; 2
  double track;               ///< distance of the two tracks [m]; 1.6
  unsigned seed;              ///< another one, another road of the same kind; 12345
  double start;               ///< where along x roughness or the bump begins [m]
  double ramp;                ///< over which roughness comes up [m]; 20
  double height, length;      ///< of a bump [m]
} as_road_def;

AS_API as_road_def as_default_road_def(void);

AS_API as_status as_builder_add_road(as_builder *builder, const as_road_def *def, as_road_id *id,
                                     as_error *error);

// ---- tyres ------------------------------------------------------------------------------------------

/// The force of a road, which is on the ground, on a wheel. Its states are the deflections u and v [m] of the tyre's stretched string,
/// along and across. From as_default_tyre_def().
typedef struct as_tyre_def {
  unsigned cookie;     ///< set by as_default_tyre_def(): leave it as it is
  const char *name;    ///< NULL: `force 3`
  const as_tyre *tyre; ///< required; copied
  as_frame_id
      frame; ///< its origin is the centre, its y the spin axis; AS_NO_FRAME: from what follows
  as_body_id body;     ///< the wheel
  double center[3];    ///< in the world at the starting pose [m]; NAN: the body's centre of mass
  double axis[3];      ///< spin axis, towards the left of the car; all zero: y of the world
  int side;            ///< mounted: 1 left, -1 right; 0: where it was measured
  as_road_id road;     ///< AS_NO_ROAD: the plane z = 0
  int steady;          ///< 1: steady state, without states; 0: with states; -1: as the tyre says
  double crown_radius; ///< of its cross-section [m]; 0: a thin disk
} as_tyre_def;

AS_API as_tyre_def as_default_tyre_def(void);

AS_API as_status as_builder_add_tyre(as_builder *builder, const as_tyre_def *def, as_force_id *id,
                                     as_error *error);

/// How a tyre touches its road.
typedef struct as_tyre_contact {
  double kappa, alpha;   ///< slip [-], [rad]
  double camber;         ///< > 0: the top leans to the right [rad]
  double force[3];       ///< along the W axes: Fx, Fy, Fz [N]
  double moment[3];      ///< about them, at the contact point: Mx, My, Mz [N m]
  double deflection;     ///< < 0: above the road [m]
  double point[3];       ///< of contact, world [m]
  double u, v;           ///< states; 0 in steady state [m]
  double rolling_radius; ///< effective [m]
  double speed[2];       ///< V_x and V_y of the contact point [m/s]
  double axes[9];        ///< W axes x, y, z by rows, world
} as_tyre_contact;

/// Of a force that is a tyre.
AS_API as_status as_model_tyre(const as_model *model, const as_state *state, as_force_id force,
                               as_tyre_contact *out, as_error *error);
/// From now on wheels with tyres start rolling: at the speeds that the model starts with their spin is V_x/R_e, so that the contact does not
/// slip along. Only before the model is shared. The number of wheels.
AS_API as_status as_model_start_rolling(as_model *model, int *wheels, as_error *error);
AS_API bool as_model_is_tyre(const as_model *model, as_force_id force);

#ifdef __cplusplus
}
#endif

#endif
