/// The car of examples/car as it changes lanes: `alphastep run examples/car/lane_change.yaml` with some settings, from
/// copies of its files that are inside the command.
#ifndef ALPHASTEP_VALIDATION_CAR_H
#define ALPHASTEP_VALIDATION_CAR_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/status.h"
#include "papers.h"

/// A file of examples/car (car_files.c).
typedef struct car_file {
  const char *name; ///< in that folder
  const char *begin, *end;
} car_file;

extern const car_file car_files[];
extern const size_t n_car_files;

typedef enum car_dampers { CAR_LINEAR, CAR_CONSTANT_CURRENT, CAR_CONTROLLED } car_dampers;

typedef struct car_setting {
  bool bushed; ///< with links, rubber and subframes; otherwise one chassis and ideal rods
  car_dampers dampers;
  double step;  ///< [s]
  double t_end; ///< [s]
} car_setting;

/// What is kept of a run, at multiples of CAR_INTERVAL.
enum {
  CAR_X, ///< centre of mass [m]
  CAR_Y,
  CAR_ROLL, ///< [rad]
  CAR_PITCH,
  CAR_YAW,
  CAR_ACCELERATION,              ///< across the road [m/s^2]
  CAR_CURRENT,                   ///< of the valves: front left and right, rear left and right [A]
  CAR_REBOUND = CAR_CURRENT + 4, ///< pressures of the damper at the rear right [Pa]
  CAR_COMPRESSION,
  CAR_STROKE, ///< of it: length less that of the design [m]
  CAR_RATE,   ///< how fast it extends [m/s]
  CAR_COLUMNS,
};
#define CAR_INTERVAL 0.01 ///< [s]

typedef struct car_motion {
  car_setting setting;
  int n; ///< rows
  double t[PAPER_POINTS];
  double at[PAPER_POINTS][CAR_COLUMNS]; ///< zero: the car has no such dampers
} car_motion;

/// Makes the run, once for each setting; the motion stays until the program ends.
as_status car_change_lane(const car_setting *setting, const car_motion **out, as_error *error);

#endif
