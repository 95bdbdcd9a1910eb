/// Kinds of joints and forces that have files of their own, and what they share.
#ifndef ALPHASTEP_FILE_KINDS_H
#define ALPHASTEP_FILE_KINDS_H

#include "file/reader.h"

extern const asi_kind asi_node_kind;                                     // superelements.c
extern const asi_kind asi_gear_kind, asi_rack_kind;                      // couplings.c
extern const asi_kind asi_rolling_kind, asi_skate_kind;                  // rolling.c
extern const asi_kind asi_actuator_kind;                                 // actuators.c
extern const asi_kind asi_joint_friction_kind;                           // friction.c
extern const asi_kind asi_drag_kind;                                     // drag.c
extern const asi_kind asi_tyre_kind;                                     // tyres.c
extern const asi_kind asi_bushing_kind, asi_stop_kind, asi_contact_kind; // contacts.c

extern const asi_kind asi_signal_kind, asi_state_kind, asi_sampled_kind, asi_held_kind,
    asi_input_kind, asi_linear_kind, asi_transfer_kind;             // blocks.c
extern const asi_kind asi_own_template_kind;                        // own_templates.c
extern const asi_kind asi_plugin_block_kind, asi_plugin_force_kind; // plugins.c
extern const asi_kind asi_butterworth_kind;                         // butterworth.c
extern const asi_kind asi_accelerometer_kind, asi_gyro_kind, asi_distance_sensor_kind,
    asi_encoder_kind, asi_force_sensor_kind; // sensors.c

/// Names of displacements and angles, and which of a joint's coordinates a name is; -1: its only one.
extern const char *const asi_coordinate_names[];
as_status asi_choose_coordinate(const asi_reader *r, as_joint_id joint, int name, int *out,
                                as_error *error);

#endif
