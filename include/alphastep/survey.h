/// A survey: what a machine is made of, what a step of it costs, and what looks strange, before it runs.
#ifndef ALPHASTEP_SURVEY_H
#define ALPHASTEP_SURVEY_H

#include "alphastep/integrator.h"
#include "alphastep/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  AS_SURVEY_WARNINGS = 40, ///< the most that are kept
  AS_SURVEY_TEXT = 640,    ///< room for one
};

typedef struct as_survey {
  int bodies, joints, forces;
  int velocities;         ///< degrees of freedom that the bodies would have without joints
  int rows;               ///< of constraints that hold at the start, on positions and on velocities
  int inactive_joints;    ///< joints that do not
  int unknowns;           ///< of a step's equations
  int degrees_of_freedom; ///< by rank
  int n_redundant;        ///< rows that others imply
  as_joint_id *redundant; ///< n_redundant_joints joints that share directions
  int n_redundant_joints;
  int loops; ///< closed ones; motions and elements of three bodies or more do not count

  double mass;              ///< [kg]
  double center_of_mass[3]; ///< at the start [m]
  double size;              ///< the longest side of the box around centres of mass and joints [m]

  double gap;              ///< the largest constraint row as given [m, or sine of an angle]
  double largest_move;     ///< of a centre of mass, onto the constraints [m]
  as_body_id moved_body;   ///< which one; AS_NO_BODY: nothing has moved
  double velocity_change;  ///< sqrt(d^T M d) of the change of the velocities
  as_start_change *change; ///< n_changes: what of the start is not as it was given
  int n_changes;

  const char *solver;       ///< of linear systems
  double entries;           ///< of the matrix of a step
  double fill;              ///< entries of its factors
  double factor_operations; ///< multiplications and additions of a factorization
  double solve_operations;  ///< of a solution

  double fastest_period; ///< of a force's stiffness and its bodies' masses, roughly [s]; NAN: none
  double slowest_period; ///< likewise
  as_force_id fastest_force; ///< which one
  as_force_id slowest_force;
  int n_warnings; ///< sentences, complete or the first of them
  char warning[AS_SURVEY_WARNINGS][AS_SURVEY_TEXT];
} as_survey;

/// Looks at a machine that is to be run so far (t_end may be NAN: not known). AS_OK also if there are warnings.
/// Failures are those of a start.
AS_API as_status as_survey_create(const as_model *model, const as_integrator_def *how, double t_end,
                                  as_survey **out, as_error *error);
AS_API void as_survey_destroy(as_survey *survey);

#ifdef __cplusplus
}
#endif

#endif
