/// Machines with known motions, built with the model interface; and shorthand for building any.
#ifndef TESTS_MACHINES_H
#define TESTS_MACHINES_H

#include "alphastep/alphastep.h"

// Shorthand: each fails the test if the library refuses.

as_builder *machine_builder(double gx, double gy, double gz);
as_body_id machine_body(as_builder *b, const as_body_def *def);
as_body_id machine_point(as_builder *b, const char *name, double mass, const double position[3],
                         const double velocity[3]);
/// A joint of two bodies at a point, with an axis (NULL: none).
as_joint_id machine_joint(as_builder *b, const char *name, as_joint_kind kind, as_body_id first,
                          as_body_id second, const double point[3], const double axis[3]);
/// A distance joint between two points.
as_joint_id machine_rod(as_builder *b, const char *name, as_body_id first, as_body_id second,
                        const double point[3], const double second_point[3]);
/// A body with equal principal moments.
as_body_def machine_round_body(const char *name, double mass, double moment, bool se3);
/// Its frame at (x, y, 0), turned about z.
void machine_place_in_plane(as_body_def *def, double x, double y, double angle);
/// Builds and destroys the builder.
as_model *machine_build(as_builder *b);

enum { READING_SIZE = 10 };

/// What is looked at: positions, velocities, reactions; NAN: not known.
typedef struct reading {
  double position[READING_SIZE];
  double velocity[READING_SIZE];
  double reaction[READING_SIZE];
  int n_position, n_velocity, n_reaction;
} reading;

/// A machine, perhaps modelled in several ways.
typedef struct machine {
  const char *name;
  int n_variants;
  as_model *(*build)(int variant);
  /// Reads a state; position holds the last reading, or the reference at the start.
  void (*read)(const as_model *model, const as_state *state, reading *out);
  void (*reference)(double t, reading *out);
  double h;        ///< the coarser of two steps [s]
  double times[3]; ///< where errors are looked at [s]; NAN: none
} machine;

extern const machine machines_small[], machines_large[];
extern const int n_machines_small, n_machines_large;

// Reading: each appends numbers.

void reading_position(reading *r, const double *x, int n);
void reading_velocity(reading *r, const double *x, int n);
void reading_reaction(reading *r, const double *x, int n);
/// Centre of mass and its velocity, `n` components.
void machine_read_body(const as_model *m, const as_state *s, as_body_id body, int n, reading *r);
/// The angle about z in the world, within half a turn of `near`, and its rate.
void machine_read_angle(const as_model *m, const as_state *s, as_body_id body, double near,
                        reading *r);
/// The first n components of a reaction force.
void machine_read_force(const as_model *m, const as_state *s, const char *joint, int n, reading *r);
/// The force in a rod: positive if it pulls.
void machine_read_tension(const as_model *m, const as_state *s, const char *joint, reading *r);

#endif
