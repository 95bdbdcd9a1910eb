/// The papers' test problems, each with its exact solution or with a reference solution that does
/// not depend on the library: Runge and Kutta's method with small steps in minimal coordinates.
#ifndef ALPHASTEP_VALIDATION_PAPER_PROBLEMS_H
#define ALPHASTEP_VALIDATION_PAPER_PROBLEMS_H

#include "alphastep/problem.h"
#include "alphastep/status.h"

/// Makes a problem; as_problem_destroy() it.
typedef as_status paper_problem_fn(as_problem **out, as_error *error);

// The pendulum in Cartesian coordinates (paper_pendulum.c).

/// The motion in minimal coordinates.
typedef struct pendulum_motion {
  double angle; ///< from the lowest position, anticlockwise [rad]
  double rate;  ///< [rad/s]
} pendulum_motion;

paper_problem_fn pendulum_problem;
/// At x = x0, moving to the right with the energy m/2 - m g l.
pendulum_motion pendulum_start(double x0);
void pendulum_advance(pendulum_motion *motion, double h); ///< by the time h [s]
void pendulum_coordinates(const pendulum_motion *motion, double *q, double *v);
double pendulum_multiplier(const pendulum_motion *motion);

// A coordinate that is bound to q = t^3 (paper_cubic.c).

paper_problem_fn cubic_problem;
double cubic_multiplier(double t); ///< exact

// The heavy top on R^3 x SO(3) (paper_top.c).

/// The motion as a body that turns about its pivot.
typedef struct top_motion {
  double quaternion[4]; ///< w x y z, body to world
  double omega[3];      ///< angular velocity, body frame [rad/s]
} top_motion;

paper_problem_fn top_problem;
top_motion top_start(void);
void top_advance(top_motion *motion, double h); ///< by the time h [s]
void top_coordinates(const top_motion *motion, double *q, double *v);
void top_multipliers(const top_motion *motion, double *lambda);
/// sqrt(|x - x_ref|^2 + |log(R^T R_ref)|^2) between a configuration q and the motion.
double top_distance(const double *q, const top_motion *motion);

// Two problems with the motion q = (exp(t), exp(-2t)) (paper_exponential.c).

paper_problem_fn exponential_problem;              ///< lambda = exp(-t), psi = exp(t)
paper_problem_fn exponential_nonholonomic_problem; ///< psi = exp(-t); no lambda
void exponential_coordinates(double t, double *q, double *v, double *a); ///< exact

// A rolling disk (paper_disk.c).

/// The motion with the speed over ground eliminated.
typedef struct disk_motion {
  double q[5];    ///< position x, y, and the angles lean, heading, spin
  double rate[3]; ///< of the angles
} disk_motion;

paper_problem_fn disk_problem;
paper_problem_fn disk_printed_problem; ///< with the fourth force as the paper prints it
disk_motion disk_start(void);
void disk_advance(disk_motion *motion, double h); ///< by the time h
void disk_coordinates(const disk_motion *motion, double *q, double *v);
void disk_multipliers(const disk_motion *motion, double *psi);
double disk_energy(const double *q, const double *v); ///< kinetic and potential

// A spring-mass system with a controller (paper_spring.c).

/// The motion with the acceleration and the outputs eliminated.
typedef struct spring_motion {
  double q; ///< position [m]
  double v; ///< velocity [m/s]
  double x; ///< state of the controller [N]
} spring_motion;

#define SPRING_GAIN 1.4 ///< b, of the acceleration feedback [N s/m]

paper_problem_fn spring_problem;
paper_problem_fn spring_unfiltered_problem; ///< with sigma = 0
spring_motion spring_start(void);
void spring_advance(spring_motion *motion, double h); ///< by the time h [s]

#endif
