/// Force elements: springs and dampers, along a line and about an axis, and applied loads.
#ifndef ALPHASTEP_ELEMENTS_SPRING_H
#define ALPHASTEP_ELEMENTS_SPRING_H

#include "alphastep/element.h"
#include "elements/curve.h"
#include "elements/descriptor.h"
#include "elements/ends.h"

/// Spring and damper of one coordinate c at rest at `rest`:
///     stiffness (c - rest) + damping c' + spring(c - rest) + damper(c') + both(c - rest, c')
/// Each of these functions may be a formula, of t and of parameters besides.
typedef struct asi_law {
  double stiffness, damping, rest;
  asi_curve_ref spring, damper;
  asi_curve_ref both; ///< a surface or a formula
} asi_law;

/// Its value, and derivatives by c and by c'.
int asi_law_evaluate(const asi_law *law, const as_element_input *in, double extension, double rate,
                     double out[3]);
/// Its derivative by a slot of its formulas: a state or output of blocks.
int asi_law_by_slot(const asi_law *law, const as_element_input *in, double extension, double rate,
                    int slot, double *out);
/// Its formulas; returns how many.
int asi_law_formulas(const asi_law *law, const struct asi_formula **out);
double asi_law_potential(const asi_law *law, const as_element_input *in, double extension);
/// The potential at one place.
typedef struct asi_kept_potential {
  double at; ///< NAN: nowhere yet
  double energy;
} asi_kept_potential;

/// Whether its potential is an integral of a formula.
bool asi_law_stores_by_formula(const asi_law *law);
/// The same to round-off, cheaply where extensions are near each other: from a place nearby, which depends on the extension alone and
/// whose potential is kept.
double asi_law_potential_near(const asi_law *law, const as_element_input *in, double extension,
                              asi_kept_potential *kept);
/// What the damping part takes, all that differs from the law at rest; and what formulas bring in that depend on t or
/// on parameters.
as_element_power asi_law_power(const asi_law *law, const as_element_input *in, double extension,
                               double rate);

typedef struct asi_spring {
  asi_law law;
  asi_ends ends;
} asi_spring;

typedef struct asi_torsion {
  asi_law law;
  asi_ends ends;
} asi_torsion;

typedef struct asi_load {
  asi_frame frame;
  asi_frame_motion motion;
  double force[3], torque[3];
  bool follows;
  asi_curve_ref factor;
} asi_load;

extern const as_element_type asi_spring_type;
extern const as_element_type asi_torsion_type;
extern const as_element_type asi_load_type;

/// As a load at its frame's origin.
void asi_draw_load(const asi_load *load, asi_drawing *out);

/// A spring's coordinate, its rate and its law (value, derivatives by both), with gradients.
typedef struct asi_law_view {
  double value, rate, law[3];
  double q[ASI_PAIR], rate_q[ASI_PAIR];
} asi_law_view;

/// One of coordinate, rate and value of the law, as descriptors read them; and what it depends on.
void asi_law_read(const asi_law_view *view, int number, double *value, double *by_q, double *by_v);
unsigned asi_law_reads(int number);

/// Derivatives of the forces on the two bodies by some slots of the law, ASI_PAIR numbers each.
int asi_law_by_slots(const asi_law *law, const as_element_input *in, const asi_law_view *view,
                     const int *slot, int n, double *out);

/// Angle of B against A about z, within half a turn of `near`.
double asi_twist(const as_body_motion *a, const as_body_motion *b, const asi_frame_now *A,
                 const asi_frame_now *B, double near);

#endif
