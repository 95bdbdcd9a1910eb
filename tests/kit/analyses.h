/// A model and its analysis: what the tests of analyses share.
#ifndef TESTS_ANALYSES_H
#define TESTS_ANALYSES_H

#include "alphastep/alphastep.h"

typedef struct bench {
  as_model *model;
  as_analysis *analysis;
  as_equilibrium found;
  as_error error;
} bench;

/// Builds the model, destroys the builder. Fails the test if the library does, as do those below.
bench bench_make(as_builder *b);
void bench_free(bench *x);
/// Finds the equilibrium from the model's start.
const as_state *bench_rest(bench *x);
/// The angle of a body about z in the world.
double bench_angle(const bench *x, const as_state *s, const char *body);
as_body_motion bench_body(const bench *x, const as_state *s, const char *body);
as_reaction bench_reaction(const bench *x, const as_state *s, const char *joint);
/// The first multiplier of a joint.
double bench_lambda(const bench *x, const as_state *s, const char *joint);

/// A link of length l, its centre in the middle, one end at (x, y), turned by angle about z; a rod's moment.
as_body_id bench_link(as_builder *b, const char *name, double mass, double l, double x, double y,
                      double angle, bool se3);
void bench_torsion(as_builder *b, const char *name, as_body_id first, as_body_id second,
                   double stiffness);
/// A force on a body at a point of the world.
void bench_load(as_builder *b, const char *name, as_body_id body, const double point[3],
                const double force[3], const as_curve *factor);
void bench_motion(as_builder *b, const char *name, as_joint_id joint, const as_curve *law);
/// A force along a joint's first coordinate, by formula.
void bench_actuator(as_builder *b, as_joint_id joint, const char *force);

/// The root of a function between two places where its sign differs, to the last bit.
double bench_root(double (*f)(double x, const void *user), const void *user, double a, double b);

#endif
