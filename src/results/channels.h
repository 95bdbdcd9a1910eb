/// Channels inside: groups hold objects, objects have quantities, quantities are read from sources.
///
/// A source is one evaluation of the model that gives several numbers, such as the reaction of a joint; a channel
/// is one of these numbers. catalog.c says what there is, select.c finds names in it once, and evaluate.c
/// knows only sources and places.
#ifndef ALPHASTEP_RESULTS_CHANNELS_H
#define ALPHASTEP_RESULTS_CHANNELS_H

#include <stdint.h>

#include "alphastep/results.h"
#include "base/archive.h"
#include "model/model.h"

/// The first part of a channel's name.
typedef enum asi_group {
  ASI_GROUP_BODIES,
  ASI_GROUP_FRAMES,
  ASI_GROUP_JOINTS,
  ASI_GROUP_FORCES,
  ASI_GROUP_BEAMS,    ///< their stations
  ASI_GROUP_FLEXIBLE, ///< coordinates and points of flexible bodies
  ASI_GROUP_BLOCKS,
  ASI_GROUP_EVENTS,
  ASI_GROUP_ENERGY,
  ASI_GROUP_MOMENTUM,
  ASI_GROUP_SOLVER,
  ASI_GROUP_DRIFT,
  ASI_GROUPS
} asi_group;

typedef enum asi_source_kind {
  ASI_SOURCE_BODY,         ///< position 3, quaternion 4, velocity 3, angular velocity 3
  ASI_SOURCE_ACCELERATION, ///< of the centre of mass 3, angular 3
  ASI_SOURCE_FRAME,        ///< position 3, velocity 3, angular velocity 3
  ASI_SOURCE_DISTANCE,     ///< of two frames, and its rate
  ASI_SOURCE_REACTION, ///< force 3, torque 3, both in the joint's axes 3 + 3, of a tooth again 3, and |force|
  ASI_SOURCE_COORDINATES, ///< 5, rates 5
  ASI_SOURCE_DRIVE,       ///< 1
  ASI_SOURCE_ACTION,      ///< force 3, torque 3
  ASI_SOURCE_OWN,         ///< of a force: what its descriptor lists
  ASI_SOURCE_FLOW,        ///< potential, dissipated, supplied
  ASI_SOURCE_ENERGY,      ///< kinetic, potential, dissipated, work, balance
  ASI_SOURCE_MOMENTUM,    ///< linear 3, angular 3, centre of mass 3
  ASI_SOURCE_SOLVER,      ///< h, iterations, error
  ASI_SOURCE_DRIFT,       ///< position, velocity
  ASI_SOURCE_EVENT,       ///< count, time
  ASI_SOURCE_SIGNAL,      ///< of a block: 1
  ASI_SOURCE_TURN,       ///< of a body: roll, pitch, yaw; Euler angles 3; angular velocity, world 3
  ASI_SOURCE_TURN_RATE,  ///< of a body: angular acceleration, world 3
  ASI_SOURCE_FRAME_TURN, ///< roll, pitch, yaw; Euler angles 3; angular velocity, its axes 3
  ASI_SOURCE_MAGNITUDE,  ///< of three numbers of another source: 1
  /// Of a beam's station: position, force, moment, strain, bend, deflection, 3 each; stress 5.
  ASI_SOURCE_SECTION,
  ASI_SOURCE_ELASTIC, ///< an elastic coordinate and its rate
  ASI_SOURCE_POINT,   ///< of a flexible body's mesh: position, velocity, deflection, 3 each
  ASI_SOURCE_STRESS,  ///< there: 6, and that of von Mises
  ASI_SOURCES
} asi_source_kind;

typedef struct asi_source {
  asi_source_kind kind;
  int object;
  int first; ///< where its numbers begin in values
  int other; ///< of a distance: the other frame; of a magnitude: where its three numbers begin
} asi_source;

/// How many numbers a source gives.
int asi_source_size(const as_model *model, asi_source source);
/// Whether it reads v', lambda or psi of a state.
bool asi_source_reads_rates(const as_model *model, asi_source source);

/// One or several numbers with a name.
typedef struct asi_channel_quantity {
  const char *name;
  const char *unit;
  asi_source_kind source;
  int first;    ///< among the source's numbers
  char axes[5]; ///< names of the components, one letter each; "": one number, no component
  bool by_name; ///< patterns do not select it
} asi_channel_quantity;

enum { ASI_QUANTITIES = 16 }; ///< the most that an object has

const char *asi_group_name(asi_group group);
/// Whether the names of its objects may be `BEAM.3`.
bool asi_group_has_stations(asi_group group);
/// Whether names of objects stand between group and quantity.
bool asi_group_has_objects(asi_group group);
/// Names of its objects; none if it has quantities itself. `events` may be NULL.
const asi_names *asi_group_names(const as_model *model, const asi_names *events, asi_group group);
int asi_group_objects(const as_model *model, const asi_names *events, asi_group group);
/// What an object has (`object` 0 of a group without objects); returns how many.
int asi_quantities(const as_model *model, asi_group group, int object,
                   asi_channel_quantity out[ASI_QUANTITIES]);

struct as_channels {
  const as_model *model;
  const asi_names *events; ///< NULL: there are none
  asi_source *source;
  int n_sources, room_sources;
  int *pick;         ///< of each channel: where it is in values
  size_t *name;      ///< of each channel: where its name begins in text
  const char **unit; ///< of each channel
  int n, room[3];    ///< channels; room in pick, name, unit
  char *text;
  size_t text_used, text_room;
  double *values; ///< of all sources; coordinates of joints are remembered here
  int n_values;
  double t;      ///< when coordinates were last looked at [s]
  bool followed; ///< they have been
};

/// What channels remember of how often joints have turned.
void asi_channels_serialize(as_channels *channels, asi_archive *archive);

/// Position and quaternion of a body, AS_POSE numbers.
void asi_body_pose(const as_model *model, const as_state *state, int body, double *out);

/// Whether a text is what a pattern says, where * stands for any text.
bool asi_matches(const char *pattern, const char *text);

/// as_channels_create_with(); `events` has to outlive the channels.
as_status asi_channels_create(const as_model *model, const asi_names *events,
                              const char *const *selections, int n, as_channels **out,
                              as_error *error);

// ---- starts -----------------------------------------------------------------------------------------

enum {
  ASI_CHANGE_TEXT = 512, ///< room for a sentence
  ASI_MOST_CHANGES = 12, ///< sentences that are told; then their number
};

/// Tells as warnings what a start has changed of what was given, but not where assembly was asked for.
void asi_tell_start_changes(const as_model *m, const as_start_change *change, int n, as_log_fn *log,
                            void *user);

#endif
