/// A geometrically exact beam element between frames of two bodies, see beam.c.
#ifndef ALPHASTEP_ELEMENTS_BEAM_H
#define ALPHASTEP_ELEMENTS_BEAM_H

#include <stdbool.h>

#include "elements/curve.h"
#include "elements/rows.h"

enum {
  ASI_BEAM = 6,        ///< strains: axial, shear 2, shear 3, torsion, bending about 2, about 3
  ASI_BEAM_POINTS = 6, ///< of Gauss, for what is summed along the element when it is built
  ASI_LOAD_POINTS = 3, ///< of Gauss, for loads
  ASI_DIRECTORS = 4,   ///< vectors that the line between the nodes is made of
};

typedef struct asi_beam {
  asi_frame frame[2];    ///< of the end sections; axis 0 is along the reference line
  double length;         ///< of the reference line [m]
  double rest[ASI_BEAM]; ///< d of the unloaded shape
  bool plain;            ///< K is the stiffness; otherwise K*(d), by these, see beam_stiffness.c
  double K[ASI_BEAM * ASI_BEAM]; ///< of the section at mid-length
  double F0[ASI_BEAM * ASI_BEAM], F1[ASI_BEAM * ASI_BEAM], F2[ASI_BEAM * ASI_BEAM];
  bool tapered, coupled; ///< F1 is not zero; F2 is not diagonal
  double part[2];        ///< k_2 and k_3
  double phi;            ///< 12 EI/(GA L^2), the smaller of both; 0: plain
  double tau;            ///< [s], of damping
  bool damped;
  bool tilted[2]; ///< the frame has other axes than its body
  bool centered;  ///< frames are at the centres of their bodies
  // Inertia, see beam_mass.c.
  bool heavy;                 ///< it has mass besides that of its bodies
  bool off[ASI_DIRECTORS];    ///< c is not zero
  double c[ASI_DIRECTORS][3]; ///< directors in their bodies
  double T[ASI_DIRECTORS][ASI_DIRECTORS];
  double h[ASI_DIRECTORS][2][3];  ///< sums of T_kl c_l over the directors of a body
  double gravity[3];              ///< [m/s^2]
  double lumped[2], turned[2][9]; ///< mass and inertia that its bodies have for it
  // Loads along it, see beam_load.c.
  bool loaded;
  double start;          ///< arc length of the first end [m]
  asi_curve_ref load[6]; ///< against the arc length: along world axes, along those of the section
  double load_axes[2][ASI_LOAD_POINTS][9]; ///< of sections inside, from an end's, unloaded
  double arm[ASI_DIRECTORS][3];            ///< directors of the reference line in their bodies
} asi_beam;

extern const as_element_type asi_beam_type;

/// Points and weights of Gauss in 0 ... 1.
extern const double asi_beam_point[ASI_BEAM_POINTS], asi_beam_weight[ASI_BEAM_POINTS];

/// Rest shape and stiffness from `frame`, the bodies' unloaded poses and the section's stiffness; C = tau K. False: the frames
/// are in one place or half a turn apart, or the section's stiffness is not positive definite.
bool asi_beam_init(asi_beam *beam, const as_body_motion *a, const as_body_motion *b,
                   const double *section, bool plain, double tau);
/// The inverse of a symmetric positive definite 6 x 6 matrix; false: it is not.
bool asi_beam_invert(const double *from, double *out);
/// The rest shape alone; false: the frames are in one place or half a turn apart.
bool asi_beam_shape(asi_beam *beam, const as_body_motion *a, const as_body_motion *b);
/// The stiffness of a section that varies: at each point of Gauss, and `middle` at mid-length. False: one is not positive
/// definite.
bool asi_beam_stiffness(asi_beam *beam, const double section[ASI_BEAM_POINTS][36],
                        const double *middle, bool plain, double tau);

/// [BE.2]-[BE.4]: g(s), dg/ds, d2g/ds2; S(d) with these at s = |w|^2.
void asi_beam_coefficients(double s, double g[3]);
void asi_beam_set_S(const double *d, const double *g, double *out);

// ---- elasticity (beam_stiffness.c) ------------------------------------------------------------------

/// What d means for the forces, [BE.12], [BE.14].
typedef struct asi_beam_strain {
  double strain[ASI_BEAM], stress[ASI_BEAM]; ///< e, N with damping
  double y[ASI_BEAM];                        ///< K*(d) e
  double r[ASI_BEAM], s[ASI_BEAM];           ///< rates, if it is damped: G d', and K* times it
  // Not if it is plain:
  double d[ASI_BEAM], z[ASI_BEAM];               ///< d~, C y
  double p[ASI_BEAM], q[ASI_BEAM], Cs[ASI_BEAM]; ///< D d', F_2 B(y) p, C s
  double t[3], factor[ASI_BEAM * ASI_BEAM], inverse[ASI_BEAM];
} asi_beam_strain;

/// `rate` is d', NULL if it is not damped. False: it is strained so far that it has no stiffness.
bool asi_beam_stress(const asi_beam *beam, const double *d, const double *rate,
                     asi_beam_strain *out);
/// D_d of the stress at fixed d', and, if it is damped, by d'.
void asi_beam_stress_tangents(const asi_beam *beam, const asi_beam_strain *at, double *by_d,
                              double *by_rate);

/// The sections at its ends: force and moment in the axes of the sections, without what acts between the nodes; strains
/// likewise. AS_DONE or AS_RETRY.
int asi_beam_ends(const asi_beam *beam, const as_element_input *in, double end[2][ASI_BEAM],
                  double strain[ASI_BEAM]);

// ---- inertia (beam_mass.c) --------------------------------------------------------------------------

/// Mass per length [kg/m] at each point of Gauss, and where the centres of mass are at the ends, along 2 and 3. What `rigid`
/// bodies have at their centres of mass goes to `lumped`, the rest to the element.
void asi_beam_set_mass(asi_beam *beam, const double density[ASI_BEAM_POINTS],
                       const double center[2][2], const bool rigid[2], bool hermite,
                       const double *gravity);
as_element_inertia_fn asi_beam_inertia;
/// Weight and forces that are quadratic in velocities; -D_q (M v') in f_q where v' is given.
void asi_beam_add_inertia(const asi_beam *beam, const as_element_input *in,
                          const as_element_output *out);
double asi_beam_weight_potential(const asi_beam *beam, const as_element_input *in);

// ---- loads (beam_load.c) ----------------------------------------------------------------------------

/// Cubic lines of Hermite at s.
static inline void asi_beam_hermite(double s, double H[ASI_DIRECTORS]) {
  H[0] = 1.0 + s * s * (2.0 * s - 3.0);
  H[1] = s * (1.0 + s * (s - 2.0));
  H[2] = s * s * (3.0 - 2.0 * s);
  H[3] = s * s * (s - 1.0);
}

void asi_beam_set_load_axes(asi_beam *beam);
int asi_beam_add_load(const asi_beam *beam, const as_element_input *in,
                      const as_element_output *out);
/// What loads bring in; NAN if they could not be evaluated.
double asi_beam_load_power(const asi_beam *beam, const as_element_input *in);

#endif
