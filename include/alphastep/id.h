/// Ids: the numbers of a model's things, each kind a type of its own, so that a joint cannot be taken for a body.
///
/// Things of a kind are numbered from 0 in the order in which they are added: `index` is that number, also in arrays that have an
/// entry for each. It is negative where there is no such thing.
///
///     for (int i = 0; i < as_model_bodies(model); ++i) puts(as_model_body_name(model, (as_body_id){i}));
///     if (as_model_find_joint(model, "elbow").index < 0) ... // there is none
#ifndef ALPHASTEP_ID_H
#define ALPHASTEP_ID_H

#include <stdbool.h>

typedef struct as_body_id {
  int index;
} as_body_id;

typedef struct as_frame_id {
  int index;
} as_frame_id;

typedef struct as_joint_id {
  int index;
} as_joint_id;

typedef struct as_force_id {
  int index;
} as_force_id;

typedef struct as_parameter_id {
  int index;
} as_parameter_id;

typedef struct as_signal_id {
  int index;
} as_signal_id;

typedef struct as_superelement_id {
  int index;
} as_superelement_id;

typedef struct as_beam_id {
  int index;
} as_beam_id;

typedef struct as_flexible_id {
  int index;
} as_flexible_id;

typedef struct as_road_id {
  int index;
} as_road_id;

/// An element of one's own is a joint if it has constraint rows, otherwise a force.
typedef struct as_element_id {
  as_joint_id joint; ///< AS_NO_JOINT: it is a force
  as_force_id force; ///< AS_NO_FORCE: it is a joint
} as_element_id;

#ifdef __cplusplus
#define AS_ID(type, index) (type{index})
#else
#define AS_ID(type, index) ((type){index})
#endif

#define AS_GROUND AS_ID(as_body_id, -1) ///< the body that does not move
#define AS_SELF AS_ID(as_joint_id, -3)  ///< of an element: the element itself

// No such thing, or not given.
#define AS_NO_BODY AS_ID(as_body_id, -2)
#define AS_NO_FRAME AS_ID(as_frame_id, -2)
#define AS_NO_JOINT AS_ID(as_joint_id, -2)
#define AS_NO_FORCE AS_ID(as_force_id, -2)
#define AS_NO_PARAMETER AS_ID(as_parameter_id, -2)
#define AS_NO_SIGNAL AS_ID(as_signal_id, -2)
#define AS_NO_SUPERELEMENT AS_ID(as_superelement_id, -2)
#define AS_NO_BEAM AS_ID(as_beam_id, -2)
#define AS_NO_ROAD AS_ID(as_road_id, -2)
#define AS_NO_FLEXIBLE AS_ID(as_flexible_id, -2)

static inline bool as_body_equal(as_body_id a, as_body_id b) { return a.index == b.index; }
static inline bool as_frame_equal(as_frame_id a, as_frame_id b) { return a.index == b.index; }
static inline bool as_joint_equal(as_joint_id a, as_joint_id b) { return a.index == b.index; }
static inline bool as_force_equal(as_force_id a, as_force_id b) { return a.index == b.index; }
static inline bool as_parameter_equal(as_parameter_id a, as_parameter_id b) {
  return a.index == b.index;
}
static inline bool as_signal_equal(as_signal_id a, as_signal_id b) { return a.index == b.index; }
static inline bool as_beam_equal(as_beam_id a, as_beam_id b) { return a.index == b.index; }
static inline bool as_superelement_equal(as_superelement_id a, as_superelement_id b) {
  return a.index == b.index;
}

#endif
