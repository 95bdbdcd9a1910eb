/// The chain of links, see chain_model.h.
#include "chain_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "chain: %s\n", error->message);
  exit(1);
}

as_model *chain_model(int n_links, as_joint_kind kind, as_space_kind space) {
  as_error error;
  as_builder *b = NULL;
  as_model *model = NULL;
  as_body_id last = AS_GROUND;
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error), &error);
  for (int i = 0; i < n_links; ++i) {
    as_body_def link = as_default_body_def();
    link.mass = 1.0;
    link.inertia[0] = 0.00125;
    link.inertia[1] = link.inertia[2] = 0.0839583333333333333;
    link.position[0] = i + 0.5;
    link.space = space;
    as_joint_def joint = as_default_joint_def();
    joint.kind = kind;
    joint.axis[1] = 1.0;
    joint.point[0] = i;
    joint.body[0] = last;
    stop_if(as_builder_add_body(b, &link, &last, &error), &error);
    joint.body[1] = last;
    stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  }
  stop_if(as_builder_build(b, &model, &error), &error);
  as_builder_destroy(b);
  return model;
}

void chain_tip(const as_model *m, const as_state *state, double tip[3]) {
  as_body_motion end;
  as_model_body_motion(m, state, (as_body_id){as_model_bodies(m) - 1}, &end);
  for (int k = 0; k < 3; ++k) tip[k] = end.x[k] + 0.5 * end.R[3 * k];
}

double chain_tip_error(int n_links, const double tip[3]) {
  static const struct {
    int n_links;
    double x, z;
  } known[] = {{10, 7.527507986527, -4.906153396808},
               {100, 99.037539198921, -4.905},
               {1000, 999.564837964703, -4.905}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
    if (known[i].n_links == n_links) return hypot(tip[0] - known[i].x, tip[2] - known[i].z);
  return (double)NAN;
}
