/// Descriptors: what the rest of the program has to know of a kind of element besides its equations, as plain data and
/// functions. Each stands next to the equations and is a line of the table ASI_DESCRIPTORS; who draws, records or
/// reads elements asks it and knows no kinds.
#ifndef ALPHASTEP_ELEMENTS_DESCRIPTOR_H
#define ALPHASTEP_ELEMENTS_DESCRIPTOR_H

#include "alphastep/element.h"
#include "elements/rows.h"

struct asi_curve;
struct asi_ends;
struct asi_formula;
struct asi_kept_potential;
struct asi_law;

/// A wheel about an axis of a body, for bodies without shapes of their own.
typedef struct asi_wheel {
  int body; ///< which of the element's
  const double *center, *axis;
  double radius, width;         ///< [m]; 0: there is none
  bool on_road;                 ///< which is drawn, too:
  const struct asi_curve *road; ///< NULL: the plane z = 0
} asi_wheel;

/// What an element is drawn as: up to two points on its bodies.
typedef struct asi_drawing {
  const char *kind; ///< as the page calls it; of a joint NULL: that of its rows
  int n;            ///< points: 1 or 2
  int body[2];      ///< which of the element's bodies they are on
  const double *point[2];
  const double *axis; ///< on the body of the first; NULL: none
  bool at_joint; ///< it acts at no point: it is drawn at a joint of its bodies, if there is one
  asi_wheel wheel;
} asi_drawing;

enum { ASI_ELEMENT_FORMULAS = 6 }; ///< the most of an element that may read signals

enum { ASI_ELEMENT_QUANTITIES = 10 }; ///< the most that it shows

/// A quantity that an element shows besides forces, energy and power.
typedef struct asi_element_quantity {
  const char *name, *unit;
  const char *axes; ///< names of its components, one letter each; "": it is one number
  int first;        ///< among the numbers that look() gives
} asi_element_quantity;

/// What a quantity depends on.
enum {
  ASI_READS_PLACES = 1,
  ASI_READS_VELOCITIES = 2,
  ASI_READS_STATES = 4, ///< of the element
  ASI_READS_LAW = 8     ///< formulas of its law
};

typedef struct asi_descriptor {
  const as_element_type *type; ///< its equations

  // ---- what is shown of a force
  bool on_first;                          ///< its force on the first body; otherwise on the second
  const asi_element_quantity *quantities; ///< its own, up to one without a name; NULL: none
  /// Where data say which these are: they are asked first.
  const asi_element_quantity *(*find_quantities)(const void *data);
  int n_values;                                                           ///< that look() gives
  int (*look)(const void *data, const as_element_input *in, double *out); ///< AS_DONE or why not

  // ---- what formulas read of a force: the numbers that look() gives
  unsigned (*reads)(
      int number); ///< what one depends on: ASI_READS_...; 0: it is not read. NULL: none of them is
  /// One of them, with derivatives by the moves and velocities of its first two bodies, ASI_PAIR numbers each, and by its states; all
  /// are zero on entry. AS_DONE or why not.
  int (*read)(const void *data, const as_element_input *in, int number, double *value, double *by_q,
              double *by_v, double by_x[AS_ELEMENT_STATES]);

  // ---- its formulas, which may read blocks
  /// Those that it has, at most ASI_ELEMENT_FORMULAS; returns how many. NULL: it cannot have any.
  int (*formulas)(const void *data, const struct asi_formula **out);
  /// Derivatives of the forces on its first two bodies by some slots, states or outputs of blocks: ASI_PAIR numbers each.
  int (*by_slots)(const void *data, const as_element_input *in, const int *slot, int n,
                  double *out);

  /// Where held signals have changed, what its force changes by, as the equations of an asi_held_change; NULL: the difference of two
  /// evaluations.
  const as_element_type *change;
  /// Its formulas read angles: `first` is the first held signal that remembers one.
  void (*set_turns)(void *data, int first);

  // ---- a force by a law of one coordinate
  const struct asi_law *(*law)(const void *data);
  /// Its potential by asi_law_potential_near().
  double (*potential_near)(const void *data, const as_element_input *in,
                           struct asi_kept_potential *kept);

  // ---- steps that it cannot follow, [EL.1]
  const struct asi_ends *(*line)(
      const void *data); ///< it acts along the line between these; NULL: none
  /// Whether it is another force behind a step than the one that it has followed; and that in words, before and behind its name.
  bool (*jumps)(const void *data, const as_element_input *from, const as_element_input *to);
  const char *jump[2];

  // ---- what is drawn
  void (*draw)(const void *data, asi_drawing *out); ///< NULL: a line from centre to centre
} asi_descriptor;

/// Data of an element's `change`.
typedef struct asi_held_change {
  const void *data;       ///< the element's
  const double *u_before; ///< held signals that were
} asi_held_change;

/// A rotation from its rest as vectors [rad]: whether it has gone on by more than half a turn.
bool asi_turns_round(const double from[3], const double to[3]);
#define ASI_TURNS_ROUND                                                                            \
  { "the force", "turns by more than half a turn from its rest, where its torque jumps" }

/// Between the origins of two frames on the first two bodies, with z of the first.
void asi_draw_between(const char *kind, const asi_frame frame[2], asi_drawing *out);

/// The descriptor of a type; of a type of the user's one without anything. Never NULL.
const asi_descriptor *asi_descriptor_of(const as_element_type *type);

/// The table of all kinds: X(name) stands for asi_name_descriptor.
// clang-format off
#define ASI_DESCRIPTORS(X) \
  X(actuator) \
  X(bushing) \
  X(contact) \
  X(coupling) \
  X(drag) \
  X(formula_load) \
  X(friction) \
  X(joint) \
  X(load) \
  X(moving_joint) \
  X(plugin_force) \
  X(rolling_disk) \
  X(rolling_sphere) \
  X(skate) \
  X(spring) \
  X(stop) \
  X(torsion) \
  X(tyre)
// clang-format on

#define ASI_DECLARE(name) extern const asi_descriptor asi_##name##_descriptor;
ASI_DESCRIPTORS(ASI_DECLARE)
#undef ASI_DECLARE

#endif
